/* drift.c - do boots drift in the order in which they were taken?
 * SPDX-License-Identifier: BSD-3-Clause */
#include <tickgauge/gate.h>

#include <math.h>
#include <string.h>

#include "board.h"

#define LISTED 20000   /* orders that are listed */
#define DRAWN 10000    /* orders that are drawn, the observed one among them */
#define STEPS 30000000 /* additions that drawing may take: very many boots get fewer draws */
#define LEAST_DRAWN 500
#define SAME (1 - 1e-9)
#define NOUGHT 1e-12   /* a statistic of nothing but rounding: every order has at least as much */

/* Ranks of all keys and boots, and the places of the boots, both standardised inside each side. */
typedef struct drift {
  size_t keys, boots[2];
  double *rank;  /* keys x boots, key after key; 0 = not read */
  double *gram;  /* boots x boots, sum of products of ranks; NULL where keys are fewer */
  double *place; /* [boots] */
  size_t *order[2];
} drift;

typedef struct ranked {
  int64_t value;
  uint32_t boot;
} ranked;
#define TG_SORT_NAME sort_ranked
#define TG_SORT_ITEM ranked
#define TG_SORT_BEFORE(a, b) \
  ((a)->value < (b)->value || ((a)->value == (b)->value && (a)->boot < (b)->boot))
#include "base/sort.h"

/* Mid-ranks of one side of a key, mean 0 and variance 1; all 0 where the side is constant. */
static void rank_side(const tg_quantity *q, int side, ranked *v, double *to) {
  size_t n = q->units[side];
  for (size_t i = 0; i < n; i++) v[i] = (ranked){q->value[side][i], q->boot[side][i]};
  sort_ranked(v, n);
  double mean = ((double)n - 1) / 2, squares = 0;
  for (size_t i = 0, end; i < n; i = end) {
    for (end = i; end < n && v[end].value == v[i].value; end++) {
    }
    double rank = ((double)i + (double)end - 1) / 2 - mean;
    for (size_t k = i; k < end; k++) to[v[k].boot] = rank;
    squares += rank * rank * (double)(end - i);
  }
  double sd = sqrt(squares / (double)n);
  for (size_t i = 0; i < n; i++) to[v[i].boot] = sd > 0 ? to[v[i].boot] / sd : 0;
}

/* Places 0 .. n-1, mean 0, divided by the root of their sum of squares. */
static void fill_places(double *to, size_t n) {
  double mean = ((double)n - 1) / 2, squares = 0;
  for (size_t i = 0; i < n; i++) squares += ((double)i - mean) * ((double)i - mean);
  for (size_t i = 0; i < n; i++) to[i] = squares > 0 ? ((double)i - mean) / sqrt(squares) : 0;
}

/* The statistic of the orders at hand. */
static double statistic(const drift *d) {
  size_t n = d->boots[0] + d->boots[1];
  double sum = 0;
  double *at = d->place + n; /* the place of each boot */
  for (int side = 0; side < 2; side++)
    for (size_t i = 0; i < d->boots[side]; i++)
      at[(side ? d->boots[0] : 0) + i] =
          d->place[(side ? d->boots[0] : 0) + d->order[side][i]];
  for (size_t k = 0; k < (d->gram != NULL ? n : d->keys); k++) {
    const double *row = d->gram != NULL ? d->gram + k * n : d->rank + k * n;
    double u = 0;
    for (size_t i = 0; i < n; i++) u += row[i] * at[i];
    sum += d->gram != NULL ? u * at[k] : u * u;
  }
  return sum;
}

/* The next order in the lexicographic sense; false after the last, which becomes the first. */
static bool next_order(size_t *v, size_t n) {
  size_t i = n > 0 ? n - 1 : 0;
  while (i > 0 && v[i - 1] >= v[i]) i--;
  bool more = i > 0;
  if (more) {
    size_t j = n - 1;
    while (v[j] <= v[i - 1]) j--;
    size_t held = v[j];
    v[j] = v[i - 1];
    v[i - 1] = held;
  }
  for (size_t low = i, high = n; low + 1 < high; low++) {
    size_t held = v[low];
    v[low] = v[--high];
    v[high] = held;
  }
  return more;
}

static void shuffle(tg_rng *rng, size_t *v, size_t n) {
  for (size_t i = 0; i + 1 < n; i++) {
    size_t j = i + (size_t)tg_rng_below(rng, n - i), held = v[j];
    v[j] = v[i];
    v[i] = held;
  }
}

/* Share of orders inside the sides whose statistic is as large. */
static tg_status share(drift *d, const tg_stop *stop, uint64_t seed, double seen, double *p) {
  double orders = 1;
  for (int side = 0; side < 2; side++)
    for (size_t i = 2; i <= d->boots[side] && orders <= LISTED; i++) orders *= (double)i;
  size_t n = d->boots[0] + d->boots[1], cost = n * (d->gram != NULL ? n : d->keys) + n;
  bool listed = orders <= LISTED;
  size_t rounds = listed ? (size_t)orders : STEPS / cost;
  if (!listed && rounds > DRAWN) rounds = DRAWN;
  if (!listed && rounds < LEAST_DRAWN) rounds = LEAST_DRAWN;
  size_t far = 0;
  tg_rng rng;
  tg_rng_seed(&rng, seed);
  for (size_t i = 0; i < rounds; i++) {
    if (tg_stop_at(stop, i, cost)) return TG_EINTERRUPTED;
    far += statistic(d) >= seen * SAME - NOUGHT;
    if (listed) {
      if (!next_order(d->order[1], d->boots[1])) next_order(d->order[0], d->boots[0]);
    } else {
      for (int side = 0; side < 2; side++) shuffle(&rng, d->order[side], d->boots[side]);
    }
  }
  *p = (double)far / (double)rounds;
  return TG_OK;
}

/* Ranks of the medians of all keys. */
static void fill_ranks(drift *d, const tg_quantities *q, ranked *work) {
  size_t n = d->boots[0] + d->boots[1];
  memset(d->rank, 0, d->keys * n * sizeof *d->rank);
  for (size_t k = 0; k < d->keys; k++)
    for (int side = 0; side < 2; side++)
      rank_side(&q->v[k], side, work, d->rank + k * n + (side ? d->boots[0] : 0));
  for (size_t i = 0; d->gram != NULL && i < n; i++)
    for (size_t j = 0; j < n; j++) {
      double sum = 0;
      for (size_t k = 0; k < d->keys; k++) sum += d->rank[k * n + i] * d->rank[k * n + j];
      d->gram[i * n + j] = sum;
    }
}

static tg_status test(const tg_alloc *a, const tg_stop *stop, drift *d, const tg_quantities *q,
                      uint64_t seed, double *statistic_of, double *p) {
  size_t n = d->boots[0] + d->boots[1];
  if (d->keys > 0 && n > SIZE_MAX / 64 / d->keys) return TG_ENOMEM;
  bool square = n < d->keys;
  d->rank = tg_array(a, d->keys * n, sizeof *d->rank);
  d->gram = square ? tg_array(a, n * n, sizeof *d->gram) : NULL;
  d->place = tg_array(a, 2 * n, sizeof *d->place);
  d->order[0] = tg_array(a, n, sizeof *d->order[0]);
  ranked *work = tg_array(a, n, sizeof *work);
  bool all = d->rank != NULL && (d->gram != NULL || !square) && d->place != NULL &&
             d->order[0] != NULL && work != NULL;
  tg_status status = all ? TG_OK : TG_ENOMEM;
  if (all) {
    d->order[1] = d->order[0] + d->boots[0];
    for (int side = 0; side < 2; side++) {
      fill_places(d->place + (side ? d->boots[0] : 0), d->boots[side]);
      for (size_t i = 0; i < d->boots[side]; i++) d->order[side][i] = i;
    }
    fill_ranks(d, q, work);
    *statistic_of = statistic(d);
    status = share(d, stop, seed, *statistic_of, p);
  }
  tg_free(a, d->rank);
  tg_free(a, d->gram);
  tg_free(a, d->place);
  tg_free(a, d->order[0]);
  tg_free(a, work);
  return status;
}

tg_status tg_drift(const tg_alloc *a, const tg_stop *stop, const tg_samples *a_old,
                   const tg_samples *a_new, uint64_t seed, double *statistic_out, double *p) {
  if (a_old->n_keys != a_new->n_keys) return TG_EINVAL;
  const tg_samples *const side[TG_SIDES] = {a_old, a_new, NULL};
  tg_quantities q;
  drift d = {.keys = a_old->n_keys};
  double seen = 0, share_of = 1;
  tg_status status = tg_medians_make(a, stop, side, &q);
  for (size_t k = 0; status == TG_OK && k < d.keys; k++)
    for (int i = 0; i < 2; i++)
      for (size_t u = 0; u < q.v[k].units[i]; u++)
        if (q.v[k].boot[i][u] >= d.boots[i]) d.boots[i] = (size_t)q.v[k].boot[i][u] + 1;
  if (status == TG_OK && d.keys > 0 && d.boots[0] + d.boots[1] > 0)
    status = test(a, stop, &d, &q, seed, &seen, &share_of);
  tg_quantities_free(a, &q);
  if (status != TG_OK) return status;
  *statistic_out = seen;
  *p = share_of;
  return TG_OK;
}

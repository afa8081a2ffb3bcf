/* places.c - whether odd releases lie together by chance. SPDX-License-Identifier: BSD-3-Clause */
#include "places.h"

#include <math.h>
#include <string.h>

#include "base/try.h"
#include "rng.h"

#define ORDERS 999       /* random orders of the releases beside the observed one */
#define ORDERS_FEW 199   /* where all patterns together take too long */
#define WORK_MOST 2e8    /* releases * patterns * orders */
#define TWO_LEVELS 0.25  /* two levels leave at most this part of the cost of one */
#define ABSENT 2         /* a release without a value */

/* Distinct patterns of ordinary (0) and odd (1) releases; keys that moved together share one. */
typedef struct patterns {
  const tg_levels *v;
  uint8_t *odd;      /* (steps + keys) * releases */
  uint64_t *hash;    /* [steps + keys] */
  double *sorted;    /* [releases] values of one key */
  size_t *of;        /* [steps] pattern of each */
  uint8_t *work;     /* [releases] */
  size_t *deck;      /* [releases] */
  uint32_t *change;  /* n * (orders + 1): twice the change of each order, the observed one first */
  double *share;     /* [releases + 1] of orders that reach a change */
  double *smallest;  /* [orders + 1] over the patterns */
  size_t n, orders;
} patterns;

/* Odd are the values nearer to the fresh level than to the old one, or the others: the first value
 * counts as ordinary, as a pattern and its complement have the same change. */
static void write_pattern(const patterns *t, const tg_step_at *f, uint8_t *row) {
  const tg_series *s = t->v->s;
  const double *level = t->v->level + (s->start[f->key] - s->start[0]);
  const uint32_t *release = s->release + s->start[f->key];
  const size_t n = (size_t)(s->start[f->key + 1] - s->start[f->key]);
  memset(row, ABSENT, t->v->releases);
  const bool flip = fabs(level[0] - f->fresh) < fabs(level[0] - f->old);
  for (size_t i = 0; i < n; i++) {
    const bool near = fabs(level[i] - f->fresh) < fabs(level[i] - f->old);
    row[release[i]] = near != flip;
  }
}

static uint64_t hash_of(const uint8_t *row, size_t n) {
  uint64_t h = 14695981039346656037u; /* FNV-1a */
  for (size_t i = 0; i < n; i++) h = (h ^ row[i]) * 1099511628211u;
  return h;
}

/* The number of the pattern of a step, which is new or has been there. */
static size_t pattern_of(patterns *t, const tg_step_at *step) {
  const size_t wide = t->v->releases;
  uint8_t *row = t->odd + t->n * wide;
  write_pattern(t, step, row);
  const uint64_t h = hash_of(row, wide);
  size_t at = 0;
  while (at < t->n && (t->hash[at] != h || memcmp(t->odd + at * wide, row, wide) != 0)) at++;
  if (at == t->n) t->hash[t->n++] = h;
  return at;
}

/* Sum of the differences of sorted v[0..n) from their middle. */
static double cost_of(const double *v, size_t n) {
  double sum = 0;
  for (size_t i = 0; i < n / 2; i++) sum += v[n - 1 - i] - v[i];
  return sum;
}

/* Whether the values of a key lie at two levels, in whatever order, that a step beyond the margin
 * would part: the levels. Nothing that depends on the order may decide it. */
static bool two_levels(patterns *t, size_t key, double *low, double *high) {
  const size_t n = (size_t)(t->v->s->start[key + 1] - t->v->s->start[key]);
  double *v = t->sorted;
  if (n < TG_TREND_LEAST) return false;
  memcpy(v, t->v->level + (t->v->s->start[key] - t->v->s->start[0]), n * sizeof *v);
  tg_sort_f64(v, n);
  size_t cut = 1;
  for (size_t i = 2; i < n; i++)
    if (v[i] - v[i - 1] > v[cut] - v[cut - 1]) cut = i;
  *low = (v[(cut - 1) / 2] + v[cut / 2]) / 2;
  *high = (v[cut + (n - cut - 1) / 2] + v[cut + (n - cut) / 2]) / 2;
  if (t->v->logs[key] && !(*high - *low > log1p(t->v->o->margin))) return false;
  const double rest = cost_of(v, cut) + cost_of(v + cut, n - cut);
  return *high - *low > t->v->least[key] && rest <= TWO_LEVELS * cost_of(v, n);
}

/* The pattern of every step and of every key at two levels, each distinct one once. */
static void find_patterns(patterns *t, const tg_step_at *step, size_t n) {
  for (size_t i = 0; i < n; i++) t->of[i] = pattern_of(t, &step[i]);
  for (size_t k = 0; k < t->v->s->n_keys; k++) {
    tg_step_at f = {.key = k};
    if (two_levels(t, k, &f.old, &f.fresh)) pattern_of(t, &f);
  }
}

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

/* Twice the largest penalty at which the pattern still has a step: as tg_segment_change finds it,
 * for values of 0 and 1, in one pass. */
static uint32_t change_of(const uint8_t *z, size_t n) {
  size_t ones = 0, left = 0;
  for (size_t i = 0; i < n; i++) ones += z[i];
  const size_t zeros = n - ones, whole = smaller(ones, zeros);
  size_t one = whole;
  /* two steps around an inner part of two values or more: the part's gain over the outer level */
  int64_t gain = 0, low = 0, high = 0, best_ones = 0, best_zeros = 0, before = 0;
  for (size_t i = 1; i < n; i++) {
    const int64_t turn = z[i - 1] != 0 ? 1 : -1;
    left += z[i - 1];
    gain += turn;
    const size_t right = ones - left;
    one = smaller(one, smaller(left, i - left) + smaller(right, n - i - right));
    if (i >= 3) { /* inner parts that end here begin at 1 to i - 2 */
      if (i == 3 || before < low) low = before;
      if (i == 3 || before > high) high = before;
      if (gain - low > best_ones) best_ones = gain - low;
      if (high - gain > best_zeros) best_zeros = high - gain;
    }
    before = gain - turn; /* of the first i - 1 values */
  }
  const size_t two_ones = ones - (size_t)best_ones, two_zeros = zeros - (size_t)best_zeros;
  const size_t two = smaller(two_ones, two_zeros), by_one = 2 * (whole - one);
  const size_t by_two = whole - smaller(two, whole);
  return (uint32_t)(by_one > by_two ? by_one : by_two);
}

/* The change of pattern u with its releases in the order of the deck. */
static uint32_t arranged(const patterns *t, size_t u) {
  const uint8_t *row = t->odd + u * t->v->releases;
  size_t n = 0;
  for (size_t i = 0; i < t->v->releases; i++)
    if (row[t->deck[i]] != ABSENT) t->work[n++] = row[t->deck[i]];
  return change_of(t->work, n);
}

/* The changes of all patterns in the observed order and in random ones. */
static tg_status draw_orders(patterns *t) {
  tg_rng rng;
  tg_rng_seed(&rng, t->v->o->seed);
  const size_t wide = t->v->releases;
  for (size_t i = 0; i < wide; i++) t->deck[i] = i;
  for (size_t r = 0; r <= t->orders; r++) {
    if (tg_stop_at(t->v->o->stop, r, wide * t->n)) return TG_EINTERRUPTED;
    for (size_t i = 0; r > 0 && i + 1 < wide; i++) {
      const size_t j = i + (size_t)tg_rng_below(&rng, wide - i), held = t->deck[j];
      t->deck[j] = t->deck[i];
      t->deck[i] = held;
    }
    for (size_t u = 0; u < t->n; u++) t->change[u * (t->orders + 1) + r] = arranged(t, u);
  }
  return TG_OK;
}

/* The share of orders in which pattern u changes as much, by twice the change. */
static void find_shares(patterns *t, size_t u) {
  const uint32_t *change = t->change + u * (t->orders + 1);
  const size_t most = t->v->releases;
  for (size_t c = 0; c <= most; c++) t->share[c] = 0;
  for (size_t r = 0; r <= t->orders; r++) t->share[change[r]] += 1;
  for (size_t c = most; c-- > 0;) t->share[c] += t->share[c + 1];
  for (size_t c = 0; c <= most; c++) t->share[c] /= (double)(t->orders + 1);
}

/* 2 in the number of places of the odd releases. */
static double least_of(const patterns *t, size_t u) {
  const uint8_t *row = t->odd + u * t->v->releases;
  size_t n = 0, ones = 0;
  for (size_t i = 0; i < t->v->releases; i++) {
    n += row[i] != ABSENT;
    ones += row[i] == 1;
  }
  return fmin(1, 2 / tg_choose(n, ones));
}

/* The smallest share of the patterns in each order, and each p against them (Westfall and
 * Young). */
static void adjust(patterns *t, tg_step_at *step, size_t n) {
  for (size_t r = 0; r <= t->orders; r++) t->smallest[r] = 1;
  for (size_t u = 0; u < t->n; u++) {
    find_shares(t, u);
    const uint32_t *change = t->change + u * (t->orders + 1);
    for (size_t r = 0; r <= t->orders; r++)
      t->smallest[r] = fmin(t->smallest[r], t->share[change[r]]);
  }
  size_t done = t->n; /* the pattern whose p is at hand */
  double p = 1;
  for (size_t i = 0; i < n; i++) {
    const size_t u = t->of[i];
    if (u != done) {
      find_shares(t, u);
      const double own = t->share[t->change[u * (t->orders + 1)]];
      size_t far = 0;
      for (size_t r = 0; r <= t->orders; r++) far += t->smallest[r] <= own * (1 + 1e-12);
      p = fmax((double)far / (double)(t->orders + 1), least_of(t, u));
      done = u;
    }
    step[i].p = fmax(step[i].p, p);
  }
}

static tg_status make_room(const tg_alloc *a, patterns *t, size_t n) {
  const size_t wide = t->v->releases, most = n + t->v->s->n_keys + 1; /* one to be written */
  if (most < n || most > SIZE_MAX / 64 / (wide + 1)) return TG_ENOMEM;
  t->odd = tg_array(a, most * wide, sizeof *t->odd);
  t->hash = tg_array(a, most, sizeof *t->hash);
  t->sorted = tg_array(a, wide, sizeof *t->sorted);
  t->of = tg_array(a, n, sizeof *t->of);
  t->work = tg_array(a, wide, sizeof *t->work);
  t->deck = tg_array(a, wide, sizeof *t->deck);
  t->share = tg_array(a, wide + 1, sizeof *t->share);
  t->smallest = tg_array(a, ORDERS + 1, sizeof *t->smallest);
  const bool all = t->odd != NULL && t->hash != NULL && t->of != NULL && t->work != NULL &&
                   t->deck != NULL && t->share != NULL && t->smallest != NULL && t->sorted != NULL;
  return all ? TG_OK : TG_ENOMEM;
}

static tg_status place_all(const tg_alloc *a, patterns *t, tg_step_at *step, size_t n) {
  TG_TRY(make_room(a, t, n));
  find_patterns(t, step, n);
  const double work = (double)t->n * (double)t->v->releases * ORDERS;
  t->orders = work > WORK_MOST ? ORDERS_FEW : ORDERS;
  t->change = tg_array(a, t->n * (t->orders + 1), sizeof *t->change);
  if (t->change == NULL) return TG_ENOMEM;
  TG_TRY(draw_orders(t));
  adjust(t, step, n);
  return TG_OK;
}

tg_status tg_place_steps(const tg_alloc *a, const tg_levels *v, tg_step_at *step, size_t n) {
  if (n == 0) return TG_OK;
  patterns t = {.v = v};
  const tg_status status = place_all(a, &t, step, n);
  void *const array[] = {t.odd,  t.hash,   t.of,    t.work,    t.deck,
                         t.change, t.share, t.smallest, t.sorted};
  for (size_t i = 0; i < sizeof array / sizeof *array; i++) tg_free(a, array[i]);
  return status;
}

/* energy.c - the largest step by the energy statistic. SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <string.h>

#include "base/try.h"
#include "internal.h"

#define ORDERS_LISTED 8 /* values up to which all orders are counted */

/* Q(t) as an exact fraction num / (N (n-1) (m-1)), n = t, m = N - t, from pair sums: with
 * n * m / N * (2 Sxy / nm - 2 Sxx / n(n-1) - 2 Syy / m(m-1)). */
typedef struct quotient {
  tg_i128 num;
  uint64_t den; /* (n-1)(m-1); N is common to all */
} quotient;

static bool less(quotient p, quotient q) {
  return p.num * (tg_i128)q.den < q.num * (tg_i128)p.den;
}

/* A series and its orders: an order is a rank for each place, equal values of one rank. */
typedef struct series {
  const int64_t *value; /* [n] sorted */
  uint32_t *rank;       /* [n] of the order at hand: the last of the equal values in `value` */
  tg_i128 *apart;       /* [n] sum of |value - x| over all x, the same in every order */
  tg_i128 *sum;         /* [n + 1] of the values to the left, a binary indexed tree by rank */
  uint32_t *count;      /* [n + 1] how many they are */
  tg_i128 pairs;        /* sum of |x - x'| over all pairs */
  size_t n;
} series;

static void add_left(series *s, uint32_t rank) {
  for (size_t i = (size_t)rank + 1; i <= s->n; i += i & (~i + 1)) {
    s->sum[i] += s->value[rank];
    s->count[i]++;
  }
}

/* The sum of |x - x'| over the values x' to the left; `count` of them with the sum `sum`. */
static tg_i128 apart_left(const series *s, uint32_t rank, size_t count, tg_i128 sum) {
  tg_i128 below = 0, x = s->value[rank];
  size_t n = 0;
  for (size_t i = (size_t)rank + 1; i > 0; i &= i - 1) {
    below += s->sum[i];
    n += s->count[i];
  }
  return x * (tg_i128)n - below + (sum - below) - x * (tg_i128)(count - n);
}

/* The largest Q(t) over 2 <= t <= N - 2 of the order at hand, and its first t. */
static quotient largest_step(series *s, size_t *at) {
  const size_t total = s->n;
  quotient best = {0, 0};
  tg_i128 left = 0, right = s->pairs, cross = 0, sum = 0; /* pair sums of |x - x'| */
  memset(s->sum, 0, (total + 1) * sizeof *s->sum);
  memset(s->count, 0, (total + 1) * sizeof *s->count);
  for (size_t t = 1; t + 2 <= total; t++) { /* x[t-1] moves from the right to the left */
    const uint32_t rank = s->rank[t - 1];
    const tg_i128 to_left = apart_left(s, rank, t - 1, sum), to_right = s->apart[rank] - to_left;
    add_left(s, rank);
    sum += s->value[rank];
    left += to_left;
    right -= to_right;
    cross += to_right - to_left;
    if (t < 2) continue;
    tg_i128 n = (tg_i128)t, m = (tg_i128)(total - t);
    quotient q = {2 * cross * (n - 1) * (m - 1) - 2 * left * m * (m - 1) - 2 * right * n * (n - 1),
                  (uint64_t)((n - 1) * (m - 1))};
    if (best.den == 0 || less(best, q)) {
      best = q;
      *at = t;
    }
  }
  return best;
}

/* The next distinct order of v; false after the last (from the sorted order all are visited). */
static bool next_order(uint32_t *v, size_t n) {
  size_t i = n - 1;
  while (i > 0 && v[i - 1] >= v[i]) i--;
  if (i == 0) return false;
  size_t j = n - 1;
  while (v[j] <= v[i - 1]) j--;
  uint32_t x = v[i - 1];
  v[i - 1] = v[j];
  v[j] = x;
  for (size_t lo = i, hi = n - 1; lo < hi; lo++, hi--) {
    x = v[lo];
    v[lo] = v[hi];
    v[hi] = x;
  }
  return true;
}

static void shuffle(tg_rng *rng, uint32_t *v, size_t n) {
  for (size_t i = 0; i + 1 < n; i++) {
    const size_t j = i + (size_t)tg_rng_below(rng, n - i);
    const uint32_t held = v[j];
    v[j] = v[i];
    v[i] = held;
  }
}

/* The rank of a value: the last place that has it. */
static uint32_t rank_of(const series *s, int64_t x) {
  size_t low = 0, high = s->n; /* the first place beyond x */
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (s->value[middle] <= x)
      low = middle + 1;
    else
      high = middle;
  }
  return (uint32_t)low - 1;
}

/* Sums over all values. */
static void fill_sums(series *s) {
  const size_t n = s->n;
  tg_i128 all = 0, below = 0;
  for (size_t i = 0; i < n; i++) all += s->value[i];
  for (size_t i = 0; i < n; i++) {
    const tg_i128 x = s->value[i];
    s->apart[i] = x * (tg_i128)i - below + (all - below) - x * (tg_i128)(n - i);
    s->pairs += x * (tg_i128)i - below;
    below += x;
  }
}

/* Counts the orders, all of them or drawn ones, and those with a step as large as `seen`. */
static tg_status count_orders(series *s, const tg_stop *stop, uint64_t seed, quotient seen,
                              uint64_t *all, uint64_t *far) {
  const uint64_t draws = 999; /* p decides nothing: to half a per cent is enough */
  const bool listed = s->n <= ORDERS_LISTED;
  size_t other = 0;
  tg_rng rng;
  tg_rng_seed(&rng, seed);
  *all = *far = listed ? 0 : 1; /* the order seen is one of those drawn */
  for (uint64_t turn = 0; listed || turn < draws; turn++) {
    if (tg_stop_at(stop, turn, s->n * s->n)) return TG_EINTERRUPTED;
    if (!listed) shuffle(&rng, s->rank, s->n);
    ++*all;
    *far += !less(largest_step(s, &other), seen);
    if (listed && !next_order(s->rank, s->n)) break;
  }
  return TG_OK;
}

static tg_status step_of(series *s, const tg_stop *stop, const int64_t *x, int64_t *sorted,
                         uint64_t seed, tg_energy *out) {
  size_t at = 0;
  uint64_t all, far;
  memcpy(sorted, x, s->n * sizeof *sorted);
  tg_sort_i64(sorted, s->n);
  fill_sums(s);
  for (size_t i = 0; i < s->n; i++) s->rank[i] = rank_of(s, x[i]);
  const quotient seen = largest_step(s, &at);
  for (size_t i = 0; i < s->n; i++) s->rank[i] = rank_of(s, sorted[i]);
  TG_TRY(count_orders(s, stop, seed, seen, &all, &far));
  const double p_min = 2 / tg_choose(s->n, at);
  *out = (tg_energy){(double)seen.num / ((double)s->n * (double)seen.den),
                     (double)far / (double)all, p_min < 1 ? p_min : 1, at,
                     s->n <= ORDERS_LISTED};
  return TG_OK;
}

tg_status tg_energy_step(const tg_alloc *a, const tg_stop *stop, const int64_t *x, size_t n,
                         uint64_t seed, tg_energy *out) {
  if (n < 4) return TG_ENODATA;
  if (n > 1024) return TG_ELIMIT;
  for (size_t i = 0; i < n; i++) /* products of sums with n^2 and den^2 stay below 2^127 */
    if (x[i] > (INT64_C(1) << 54) || x[i] < -(INT64_C(1) << 54)) return TG_EOVERFLOW;
  int64_t *sorted = tg_array(a, n, sizeof *sorted);
  series s = {.value = sorted,
              .rank = tg_array(a, n, sizeof *s.rank),
              .apart = tg_array(a, n, sizeof *s.apart),
              .sum = tg_array(a, n + 1, sizeof *s.sum),
              .count = tg_array(a, n + 1, sizeof *s.count),
              .n = n};
  const bool all = sorted != NULL && s.rank != NULL && s.apart != NULL && s.sum != NULL &&
                   s.count != NULL;
  const tg_status status = all ? step_of(&s, stop, x, sorted, seed, out) : TG_ENOMEM;
  tg_free(a, sorted);
  tg_free(a, s.rank);
  tg_free(a, s.apart);
  tg_free(a, s.sum);
  tg_free(a, s.count);
  return status;
}

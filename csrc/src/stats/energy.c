/* energy.c - the largest step by the energy statistic. SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <string.h>

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

/* The largest Q(t) over 2 <= t <= N - 2 of x in the order given, and its first t. */
static quotient largest_step(const int64_t *x, size_t total, size_t *at) {
  quotient best = {0, 0};
  tg_i128 left = 0, right = 0, cross = 0; /* pair sums of |x - x'| */
  for (size_t i = 0; i < total; i++)
    for (size_t j = i + 1; j < total; j++)
      right += x[i] < x[j] ? (tg_i128)x[j] - x[i] : (tg_i128)x[i] - x[j];
  for (size_t t = 1; t + 2 <= total; t++) { /* x[t-1] moves from the right to the left */
    tg_i128 to_left = 0, to_right = 0;
    for (size_t i = 0; i < total; i++) {
      tg_i128 d = (tg_i128)x[i] - x[t - 1];
      if (i < t - 1)
        to_left += d < 0 ? -d : d;
      else
        to_right += d < 0 ? -d : d;
    }
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
static bool next_order(int64_t *v, size_t n) {
  size_t i = n - 1;
  while (i > 0 && v[i - 1] >= v[i]) i--;
  if (i == 0) return false;
  size_t j = n - 1;
  while (v[j] <= v[i - 1]) j--;
  int64_t x = v[i - 1];
  v[i - 1] = v[j];
  v[j] = x;
  for (size_t lo = i, hi = n - 1; lo < hi; lo++, hi--) {
    x = v[lo];
    v[lo] = v[hi];
    v[hi] = x;
  }
  return true;
}

tg_status tg_energy_step(const tg_alloc *a, const tg_stop *stop, const int64_t *x, size_t n,
                         uint64_t seed, tg_energy *out) {
  if (n < 4) return TG_ENODATA;
  if (n > 1024) return TG_ELIMIT;
  for (size_t i = 0; i < n; i++) /* products of sums with n^2 and den^2 stay below 2^127 */
    if (x[i] > (INT64_C(1) << 54) || x[i] < -(INT64_C(1) << 54)) return TG_EOVERFLOW;
  int64_t *v = tg_array(a, n, sizeof *v);
  if (v == NULL) return TG_ENOMEM;
  size_t at = 0, other = 0;
  quotient seen = largest_step(x, n, &at);
  uint64_t all = 0, far = 0;
  tg_status status = TG_OK;
  memcpy(v, x, n * sizeof *v);
  tg_sort_i64(v, n);
  bool exact = n <= ORDERS_LISTED;
  if (exact) {
    do {
      if (tg_stop_at(stop, all, n * n)) {
        status = TG_EINTERRUPTED;
        break;
      }
      all++;
      far += !less(largest_step(v, n, &other), seen);
    } while (next_order(v, n));
  } else {
    tg_rng rng;
    tg_rng_seed(&rng, seed);
    far = 1;
    const uint64_t draws = 999; /* p decides nothing: to half a per cent is enough */
    for (all = 1; all <= draws; all++) {
      if (tg_stop_at(stop, all - 1, n * n)) {
        status = TG_EINTERRUPTED;
        break;
      }
      for (size_t i = 0; i + 1 < n; i++) {
        size_t j = i + (size_t)tg_rng_below(&rng, n - i);
        int64_t swap = v[j];
        v[j] = v[i];
        v[i] = swap;
      }
      far += !less(largest_step(v, n, &other), seen);
    }
  }
  double p_min = 2 / tg_choose(n, at);
  if (status == TG_OK)
    *out = (tg_energy){(double)seen.num / ((double)n * (double)seen.den),
                       (double)far / (double)all, p_min < 1 ? p_min : 1, at, exact};
  tg_free(a, v);
  return status;
}

/* internal.h - shared by the files of stats/ (private). SPDX-License-Identifier: BSD-3-Clause */
#ifndef TG_STATS_INTERNAL_H
#define TG_STATS_INTERNAL_H

#include <tickgauge/compare.h>
#include <tickgauge/stats.h>
#include <tickgauge/summary.h>
#include <tickgauge/trend.h>

#include "base/stop.h"
#include "base/wide.h"
#include "rng.h"

/* Room for `n` items of `size` bytes; NULL also where n * size does not fit. n 0 gives room
 * for one. Ends with tg_free. */
void *tg_array(const tg_alloc *a, size_t n, size_t size);
void tg_free(const tg_alloc *a, void *p);

/* Sorts in place: exact, in O(n log n) at worst, without an allocation. */
void tg_sort_i64(int64_t *v, size_t n);
void tg_sort_f64(double *v, size_t n); /* no NaN */

/* The value of rank k, 0 <= k < n, counted from 0; v changes its order. O(n) steps, and O(n log n)
 * where the pivots are bad. */
int64_t tg_select_i64(int64_t *v, size_t n, size_t k);

/* TG_EOVERFLOW where a value lies beyond TG_STATS_LIMIT. */
tg_status tg_check_values(const int64_t *v, size_t n);

uint64_t tg_gcd(uint64_t a, uint64_t b); /* gcd(0, b) = b */

/* z with P(Z > z) = upper. */
double tg_normal_quantile(double upper);

/* Binomial coefficient as a double (exact while below 2^53; may be inf). */
double tg_choose(size_t n, size_t k);

/* A sorted series with its cumulative weights: cum[i] = weight of v[0..i]. */
typedef struct tg_sorted {
  const int64_t *v;
  const uint64_t *cum; /* NULL = every value once */
  size_t n;
} tg_sorted;
uint64_t tg_sorted_total(const tg_sorted *s);
/* The value of 1-based rank k, 1 <= k <= total. */
int64_t tg_sorted_at(const tg_sorted *s, uint64_t k);
/* ceil(total * num / den), at least 1: the rank of a quantile by the inverted CDF; and its
 * value. */
uint64_t tg_sorted_rank(const tg_sorted *s, uint64_t num, uint64_t den);
int64_t tg_sorted_quantile(const tg_sorted *s, uint64_t num, uint64_t den);
/* Median by the inverted CDF: rank ceil(total / 2). */
int64_t tg_sorted_median(const tg_sorted *s);

/* The k-th smallest (1-based) of all differences y - x, and the median of them. */
int64_t tg_difference_at(const tg_sorted *x, const tg_sorted *y, tg_u128 k);
double tg_difference_median(const tg_sorted *x, const tg_sorted *y);

/* Null distributions of U, kept between keys that have the same numbers of units. */
#define TG_NULL_SLOTS 32
typedef struct tg_null_u {
  double *cdf; /* P(U <= u), u = 0 .. m*n/2 */
  size_t m, n, len;
} tg_null_u;
typedef struct tg_null_cache {
  const tg_alloc *a;
  tg_null_u slot[TG_NULL_SLOTS];
  size_t used;
} tg_null_cache;
void tg_null_init(tg_null_cache *c, const tg_alloc *a);
void tg_null_free(tg_null_cache *c);
/* NULL distribution of m against n; *out NULL where m*n is too large to count (then normal). */
tg_status tg_null_get(tg_null_cache *c, size_t m, size_t n, const tg_null_u **out);

/* The rank qu of the order statistics d(qu), d(mn+1-qu) at 1 - alpha, and the level reached. */
tg_status tg_hl_rank(tg_null_cache *c, uint64_t m, uint64_t n, double alpha, tg_u128 *qu,
                     double *level);
/* Shift and interval of two sorted series. */
tg_status tg_hl_sorted(tg_null_cache *c, const tg_sorted *x, const tg_sorted *y, double alpha,
                       tg_interval *out);

/* tg_u_test of two sides that are sorted. */
tg_status tg_u_sorted(const tg_alloc *a, const tg_stop *stop, const int64_t *x, size_t m,
                      const int64_t *y, size_t n, uint64_t seed, tg_test *out);

/* The critical U: c = the largest integer with 2 P(U <= c - 1) <= alpha, 0 where there is none,
 * and the level 1 - 2 P(U <= c - 1) of the interval between the ranks c and m * n + 1 - c. */
tg_status tg_critical_u(tg_null_cache *cache, size_t m, size_t n, double alpha, tg_u128 *c,
                        double *level);

/* Permutation test of a sum: which share of the C(n, m) choices of m of the n weights (sorted,
 * ascending) have a sum as low, as high as `observed`. */
tg_status tg_sum_test(const tg_alloc *a, const tg_stop *stop, const int64_t *weight, size_t n,
                      size_t m, tg_i128 observed, uint64_t seed, tg_test *out);

#endif

/* stats.h - exact tests, shifts and intervals on integer readings.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TICKGAUGE_STATS_H
#define TICKGAUGE_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "alloc.h"
#include "export.h"
#include "status.h"
#include "stop.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Readings are integers (ticks, or the mantissa of a decimal) of magnitude at most 2^61; beyond
 * it functions return TG_EOVERFLOW. Doubles are results only. Where chance is used the generator
 * is xoshiro256** seeded through splitmix64, so results are the same bytes everywhere. What takes
 * a `stop` may also return TG_EINTERRUPTED, an array it was to fill is then filled in part. */
#define TG_STATS_LIMIT (INT64_C(1) << 61)
#define TG_RESAMPLES 9999 /* of a Monte Carlo p, which is (k + 1) / (TG_RESAMPLES + 1) */

/* A two-sided test. `p` = 2 * the smaller tail, at most 1; `p_min` the smallest p that this many
 * units can give; `exact` false: p was drawn, not counted. `statistic` is named by the function. */
typedef struct tg_test {
  double statistic, p, p_min;
  bool exact;
} tg_test;

/* An interval with the level it reaches. */
typedef struct tg_interval {
  double lo, hi, level;
} tg_interval;

/* Mann-Whitney U of x against y with mid-ranks; statistic = pairs in which x exceeds y, ties
 * counting one half. Counted by dynamic programming over doubled mid-rank sums.
 * TG_OK, TG_ENODATA (a side is empty), TG_ENOMEM, TG_EOVERFLOW. */
TG_API tg_status tg_u_test(const tg_alloc *a, const tg_stop *stop, const int64_t *x, size_t m,
                           const int64_t *y, size_t n, uint64_t seed, tg_test *out);

/* Permutation test of the difference of means, mean(y) - mean(x) = statistic. Codes as above. */
TG_API tg_status tg_mean_test(const tg_alloc *a, const tg_stop *stop, const int64_t *x, size_t m,
                              const int64_t *y, size_t n, uint64_t seed, tg_test *out);

/* Sign-flip test of paired differences; statistic = their mean. Codes as above. */
TG_API tg_status tg_signflip_test(const tg_alloc *a, const tg_stop *stop, const int64_t *d,
                                  size_t n, uint64_t seed, tg_test *out);

/* Hodges-Lehmann shift: the median of all m*n differences y - x, and its interval from their
 * order statistics at the smallest level reachable not below 1 - alpha, or the full range where
 * none is. Takes O((m + n) log range), not m*n. Either output may be NULL. Codes as above, and
 * TG_EINVAL for alpha outside (0, 1). */
TG_API tg_status tg_hl_shift(const tg_alloc *a, const int64_t *x, size_t m, const int64_t *y,
                             size_t n, double alpha, double *shift, tg_interval *interval);

/* The same for paired differences: median of the Walsh averages, interval of the signed-rank
 * distribution. n at most 2000, else TG_ELIMIT. */
TG_API tg_status tg_hl_paired(const tg_alloc *a, const int64_t *d, size_t n, double alpha,
                              double *shift, tg_interval *interval);

/* The interval of the median from order statistics: the innermost pair that reaches 1 - alpha,
 * or the full range. */
TG_API tg_status tg_median_interval(const tg_alloc *a, const int64_t *x, size_t n, double alpha,
                                    int64_t *median, tg_interval *interval);

/* Half-width in resolution steps of the room that m equal readings leave: the true value lies
 * within k +- tg_tick_halfwidth(m, miss) but for a probability of `miss`; 1 - miss^(1/m). 1 for m
 * 0. */
TG_API double tg_tick_halfwidth(size_t m, double miss);

/* Smallest two-sided p of m against n units, 2 / C(m + n, m), at most 1. */
TG_API double tg_min_p(size_t m, size_t n);

/* The difference that the exact U test of m against n units finds with 80 % power, in standard
 * deviations of a unit (normal shift), at the two-sided level `*level`: alpha's largest attainable
 * one, or where alpha cannot be reached the smallest there is (then *level > alpha). NaN for an
 * empty side. */
TG_API double tg_detectable_sd(size_t m, size_t n, double alpha, double *level);

/* Upper tail quantile and two-sided p of Student's t; df 1 or more, else NaN. */
TG_API double tg_t_quantile(double upper, uint64_t df); /* P(T > q) = upper, 0 < upper < 1 */
TG_API double tg_t_two_sided(double t, uint64_t df);

/* Where one further value should lie given x: mean +- t(n-1) * s * sqrt(1 + 1/n), the variance
 * never below step^2 / 6. `*mean` and `*s` may be NULL. TG_ENODATA below 2 values. */
TG_API tg_status tg_prediction(const int64_t *x, size_t n, double step, double alpha, double *mean,
                               double *s, tg_interval *out);

/* Benjamini-Hochberg adjusted p; NaN stays NaN and does not count. `out` may be `p`. */
TG_API tg_status tg_bh(const tg_alloc *a, const double *p, size_t n, double *out);

/* Geometric mean of the positive finite ratios; `*used` says how many. TG_ENODATA for none. */
TG_API tg_status tg_geometric_mean(const double *ratio, size_t n, double *out, size_t *used);

/* Common factors: within each group (equal `group`, sorted or not) the largest set of at least
 * `least` ratios that all lie within `tolerance` of their geometric mean; then the next among the
 * rest. factor[i] gets the geometric mean of the set that i belongs to, NaN for none; set[i] its
 * 0-based number, UINT32_MAX for none. Ratios that are not positive belong to none. */
TG_API tg_status tg_common_factor(const tg_alloc *a, const tg_stop *stop, const double *ratio,
                                  const uint32_t *group, size_t n, size_t least, double tolerance,
                                  double *factor, uint32_t *set);

#ifdef __cplusplus
}
#endif
#endif

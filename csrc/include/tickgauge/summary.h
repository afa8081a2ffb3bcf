/* summary.h - the distribution of one key: spread, quantiles, modes, between and within boots.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TICKGAUGE_SUMMARY_H
#define TICKGAUGE_SUMMARY_H

#include "stats.h"
#include "table.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Readings of many keys, unit (boot) after unit, key after key; borrowed. */
typedef struct tg_samples {
  const int64_t *value;       /* [unit_start[n_units]] stored integers */
  const uint64_t *weight;     /* how often each occurred; NULL = once */
  const uint64_t *unit_start; /* [n_units + 1] first reading of a unit */
  const uint64_t *key_start;  /* [n_keys + 1] first unit of a key */
  const uint64_t *num, *den;  /* [n_keys] one stored integer = num/den of the unit shown (ns) */
  const uint64_t *resolution; /* [n_keys] step of the stored integer, at least 1 */
  size_t n_keys;
  const uint32_t *boot;       /* [n_units] which boot of its side a unit is, rising within a key;
                                 NULL = unit i of every key is boot i */
} tg_samples;

/* One value per unit: the median of its readings by the inverted CDF (a value that occurred).
 * `out` has an item for each unit from key_start[0] to key_start[n_keys]. TG_ENODATA where a unit
 * is empty, TG_ENOMEM, TG_EINVAL (starts that fall). */
TG_API tg_status tg_collapse(const tg_alloc *a, const tg_stop *stop, const tg_samples *s,
                             int64_t *out);

/* Columns of tg_summarize, one row per key, in the unit shown unless said otherwise. */
enum {
  TG_SUM_N = 0,      /* readings, U64 */
  TG_SUM_UNITS,      /* boots, U32 */
  TG_SUM_DISTINCT,   /* distinct values, U64 */
  TG_SUM_MIN,        /* stored integer, I64 */
  TG_SUM_MAX,        /* stored integer, I64 */
  TG_SUM_MEAN,       /* F64 from here on */
  TG_SUM_SD,         /* n - 1 */
  TG_SUM_MAD,        /* median of |value - median|, not scaled */
  TG_SUM_P50,        /* inverted CDF; a quantile X is given from 1/(1-X) readings on */
  TG_SUM_P90,
  TG_SUM_P95,
  TG_SUM_P99,
  TG_SUM_P999,
  TG_SUM_MEDIAN,     /* of the units */
  TG_SUM_MEDIAN_LO,  /* order-statistic interval of the median of the units */
  TG_SUM_MEDIAN_HI,
  TG_SUM_LEVEL,      /* level it reaches */
  TG_SUM_ICC,        /* between units; missing where units have one reading */
  TG_SUM_STEP,       /* resolution in the unit shown */
  TG_SUM_MODES,      /* modes with two readings or more, U32 */
  TG_SUM_OUTLIERS,   /* readings beyond 3 * max(1.4826 MAD, step / sqrt 6), flagged, U64 */
  TG_SUM_COLUMNS
};
TG_API tg_status tg_summarize(const tg_alloc *a, const tg_stop *stop, const tg_samples *s,
                              tg_table **out);

/* Modes of one series: values split where neighbours lie more than 3 resolutions apart; each part
 * gives its most frequent value (the lowest of equals). Columns value I64, n U64 (of the part),
 * peak U64 (readings at the value), lo I64, hi I64 (of the part). `weight` may be NULL. */
TG_API tg_status tg_modes(const tg_alloc *a, const int64_t *value, const uint64_t *weight, size_t n,
                          uint64_t resolution, tg_table **out);

/* Whether the values fall into two groups of at least two, the gap wider than both groups together
 * and than 3 resolutions. */
TG_API tg_status tg_bimodal(const tg_alloc *a, const int64_t *value, size_t n, uint64_t resolution,
                            bool *out);

/* Histogram on the tick grid: bins are multiples of `resolution` wide, at most `max_bins` of
 * them, edges at multiples of the bin. Columns lo I64, hi I64 (exclusive), n U64, below U64
 * (readings under hi: the ECDF). Empty input gives no rows. TG_OK, TG_ENOMEM, TG_EOVERFLOW,
 * TG_EINVAL for a resolution of 0 and for 0 or more than 2^20 bins. */
TG_API tg_status tg_histogram(const tg_alloc *a, const int64_t *value, const uint64_t *weight,
                              size_t n, uint64_t resolution, size_t max_bins, tg_table **out);

/* One-way analysis of variance of units with one or more readings each. */
typedef struct tg_anova {
  double ms_between, ms_within, var_between, icc, design_effect, se; /* se of the mean, by units */
  size_t units;
} tg_anova;
/* unit_start has n_units + 1 items. TG_ENODATA below two units or without a unit of two. */
TG_API tg_status tg_anova_units(const int64_t *value, const uint64_t *unit_start, size_t n_units,
                                tg_anova *out);

/* Mean, standard deviation (n - 1) and lag-1 autocorrelation in the order given, exact sums.
 * TG_ENODATA below 2 values. */
TG_API tg_status tg_series_stats(const int64_t *x, size_t n, double *mean, double *sd, double *r1);

#ifdef __cplusplus
}
#endif
#endif

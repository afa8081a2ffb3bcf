/* summary.c - moments, quantiles and modes of one key after the other.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <string.h>

#include "samples.h"

static const tg_column_def summary_columns[TG_SUM_COLUMNS] = {
    {"n", TG_U64, 0},          {"units", TG_U32, 0},     {"distinct", TG_U64, 0},
    {"min", TG_I64, 0},        {"max", TG_I64, 0},       {"mean", TG_F64, 0},
    {"sd", TG_F64, 0},         {"mad", TG_F64, 0},       {"p50", TG_F64, 0},
    {"p90", TG_F64, 0},        {"p95", TG_F64, 0},       {"p99", TG_F64, 0},
    {"p99.9", TG_F64, 0},      {"median", TG_F64, 0},    {"median_lo", TG_F64, 0},
    {"median_hi", TG_F64, 0},  {"level", TG_F64, 0},     {"icc", TG_F64, 0},
    {"step", TG_F64, 0},       {"modes", TG_U32, 0},     {"outliers", TG_U64, 0},
};

/* Median of |value - median|, inverted CDF, by merging the two sides of the median outwards. */
static double mad_of(const tg_sorted *s, int64_t median) {
  uint64_t total = tg_sorted_total(s), need = total / 2 + total % 2, seen = 0;
  size_t up = 0;
  while (up < s->n && s->v[up] < median) up++;
  size_t down = up;
  int64_t at = 0;
  while (seen < need) {
    bool take_up =
        down == 0 || (up < s->n && s->v[up] - median <= median - s->v[down - 1]);
    size_t i = take_up ? up++ : --down;
    at = take_up ? s->v[i] - median : median - s->v[i];
    seen += tg_weight_at(s, i);
  }
  return (double)at;
}

/* Readings farther from the median than three robust deviations, never less than three times
 * the scatter of the tick alone. */
static uint64_t outliers_of(const tg_sorted *s, int64_t median, double mad, double step) {
  double scale = 1.4826 * mad, least = step / sqrt(6.0);
  double limit = 3 * (scale > least ? scale : least);
  uint64_t n = 0;
  for (size_t i = 0; i < s->n; i++)
    if (fabs((double)((tg_i128)s->v[i] - median)) > limit) n += tg_weight_at(s, i);
  return n;
}

/* Number of modes that hold two readings or more. */
static uint32_t mode_count(const tg_sorted *s, uint64_t resolution) {
  uint32_t modes = 0;
  uint64_t part = 0;
  for (size_t i = 0; i < s->n; i++) {
    if (i > 0 && (uint64_t)s->v[i] - (uint64_t)s->v[i - 1] > 3 * resolution) {
      modes += part >= 2;
      part = 0;
    }
    part += tg_weight_at(s, i);
  }
  return modes + (part >= 2);
}

/* The quantiles that n readings can support: X from 1/(1-X) on. */
static void put_quantiles(tg_table *t, size_t row, const tg_sorted *s, double scale) {
  static const struct {
    uint64_t num, den, least;
    size_t col;
  } q[] = {{1, 2, 1, TG_SUM_P50},
           {9, 10, 10, TG_SUM_P90},
           {19, 20, 20, TG_SUM_P95},
           {99, 100, 100, TG_SUM_P99},
           {999, 1000, 1000, TG_SUM_P999}};
  for (size_t i = 0; i < sizeof q / sizeof *q; i++)
    if (tg_sorted_total(s) >= q[i].least)
      tg_put(t, row, q[i].col, (double)tg_sorted_quantile(s, q[i].num, q[i].den) * scale);
}

/* The columns that come from all readings of a key together. */
static void put_readings(tg_table *t, size_t row, const tg_sorted *s, uint64_t resolution,
                         double scale) {
  uint64_t n = tg_sorted_total(s);
  int64_t median = tg_sorted_median(s);
  double sum = 0, m2 = 0;
  tg_i128 exact = 0;
  for (size_t i = 0; i < s->n; i++)
    exact += ((tg_i128)s->v[i] - s->v[0]) * (tg_i128)tg_weight_at(s, i);
  sum = (double)exact / (double)n;
  for (size_t i = 0; i < s->n; i++) {
    double d = (double)((tg_i128)s->v[i] - s->v[0]) - sum;
    m2 += d * d * (double)tg_weight_at(s, i);
  }
  double mad = mad_of(s, median);
  tg_table_set_u64(t, row, TG_SUM_N, n);
  tg_table_set_u64(t, row, TG_SUM_DISTINCT, s->n);
  tg_table_set_i64(t, row, TG_SUM_MIN, s->v[0]);
  tg_table_set_i64(t, row, TG_SUM_MAX, s->v[s->n - 1]);
  tg_put(t, row, TG_SUM_MEAN, ((double)s->v[0] + sum) * scale);
  if (n > 1) tg_put(t, row, TG_SUM_SD, sqrt(m2 / (double)(n - 1)) * scale);
  tg_put(t, row, TG_SUM_MAD, mad * scale);
  put_quantiles(t, row, s, scale);
  tg_table_set_u32(t, row, TG_SUM_MODES, mode_count(s, resolution));
  tg_table_set_u64(t, row, TG_SUM_OUTLIERS, outliers_of(s, median, mad, (double)resolution));
}

/* The columns that come from one value per unit. */
static tg_status put_units(const tg_alloc *a, tg_table *t, size_t row, const int64_t *unit,
                           size_t units, double scale) {
  int64_t median;
  tg_interval ci;
  tg_status status = tg_median_interval(a, unit, units, 0.05, &median, &ci);
  if (status != TG_OK) return status;
  tg_put(t, row, TG_SUM_MEDIAN, (double)median * scale);
  if (units < 2) return TG_OK;
  tg_put(t, row, TG_SUM_MEDIAN_LO, ci.lo * scale);
  tg_put(t, row, TG_SUM_MEDIAN_HI, ci.hi * scale);
  tg_put(t, row, TG_SUM_LEVEL, ci.level);
  return TG_OK;
}

static tg_status summarize_key(const tg_alloc *a, const tg_samples *s, size_t key,
                               const int64_t *unit, tg_scratch *scratch, tg_table *t) {
  size_t row, first = (size_t)s->key_start[key], last = (size_t)s->key_start[key + 1];
  tg_status status = tg_table_append(t, &row);
  if (status != TG_OK) return status;
  double scale = (double)s->num[key] / (double)s->den[key];
  tg_table_set_u32(t, row, TG_SUM_UNITS, (uint32_t)(last - first));
  tg_put(t, row, TG_SUM_STEP, (double)s->resolution[key] * scale);
  if (first == last) return TG_OK;
  tg_sorted sorted;
  status = tg_scratch_sort(a, scratch, s, first, last, &sorted);
  if (status != TG_OK) return status;
  put_readings(t, row, &sorted, s->resolution[key], scale);
  tg_anova anova;
  if (tg_anova_weighted(s, first, last, &anova) == TG_OK) tg_put(t, row, TG_SUM_ICC, anova.icc);
  return put_units(a, t, row, unit + (first - (size_t)s->key_start[0]), last - first, scale);
}

/* TG_EOVERFLOW for a reading or a resolution beyond TG_STATS_LIMIT. */
static tg_status check_readings(const tg_samples *s) {
  size_t first = (size_t)s->unit_start[s->key_start[0]];
  size_t last = (size_t)s->unit_start[s->key_start[s->n_keys]];
  for (size_t k = 0; k < s->n_keys; k++)
    if (s->resolution[k] > (uint64_t)TG_STATS_LIMIT) return TG_EOVERFLOW;
  return tg_check_values(s->value + first, last - first);
}

tg_status tg_summarize(const tg_alloc *a, const tg_stop *stop, const tg_samples *s,
                       tg_table **out) {
  tg_table *t = NULL;
  int64_t *unit = NULL;
  tg_scratch scratch = {0};
  tg_status status = tg_samples_check(s);
  if (status == TG_OK) status = check_readings(s);
  if (status != TG_OK) return status;
  unit = tg_array(a, (size_t)(s->key_start[s->n_keys] - s->key_start[0]), sizeof *unit);
  if (unit == NULL) return TG_ENOMEM;
  status = tg_collapse(a, stop, s, unit);
  if (status != TG_OK) goto done;
  status = tg_table_new(a, summary_columns, TG_SUM_COLUMNS, &t);
  for (size_t key = 0; status == TG_OK && key < s->n_keys; key++)
    status = tg_stop_at(stop, key, TG_STOP_EVERY) ? TG_EINTERRUPTED
                                              : summarize_key(a, s, key, unit, &scratch, t);
done:
  tg_scratch_free(a, &scratch);
  tg_free(a, unit);
  if (status == TG_OK)
    *out = t;
  else
    tg_table_free(t);
  return status;
}

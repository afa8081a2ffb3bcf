/* check_stats_summary.c - moments, quantiles, ICC, modes, histograms.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "support/fail_alloc.h"
#include "support/stats_near.h"
#include "tickgauge/summary.h"

START_TEST(t1_runs_of_cores) {
  static const int64_t v[] = {24, 24, 25, 25, 26, 26, 27, 27, 24, 25, 25, 26};
  static const uint64_t start[] = {0, 4, 8, 12};
  tg_anova r;
  ck_assert_int_eq(tg_anova_units(v, start, 3, &r), TG_OK);
  NEAR(r.ms_between, 13.0 / 3, 1e-12);
  NEAR(r.ms_within, 4.0 / 9, 1e-12);
  NEAR(r.var_between, 0.972222, 5e-7);
  NEAR(r.icc, 0.686275, 5e-7);
  NEAR(r.design_effect, 3.058824, 5e-7);
  NEAR(r.se, 0.600925, 5e-7);
  ck_assert_int_eq(tg_anova_units(v, start, 1, &r), TG_ENODATA);
}
END_TEST

/* The NIST univariate data sets, made by their rule: a first value, then `low` and `high` in
 * turn. */
static void numacc(int64_t *x, size_t n, int64_t first, int64_t low, int64_t high) {
  x[0] = first;
  for (size_t i = 1; i < n; i++) x[i] = i % 2 ? low : high;
}

START_TEST(numacc_1_to_4) {
  int64_t x[1001] = {10000001, 10000003, 10000002};
  double mean, sd, r1;
  ck_assert_int_eq(tg_series_stats(x, 3, &mean, &sd, &r1), TG_OK);
  NEAR(mean, 10000002, 0);
  NEAR(sd, 1, 0);
  NEAR(r1, -0.5, 0);
  static const int64_t sets[][3] = {
      {12, 11, 13}, {10000002, 10000001, 10000003}, {100000002, 100000001, 100000003}};
  for (size_t i = 0; i < LEN(sets); i++) { /* tenths: 1.2 ..., 1000000.2 ..., 10000000.2 ... */
    numacc(x, 1001, sets[i][0], sets[i][1], sets[i][2]);
    ck_assert_int_eq(tg_series_stats(x, 1001, &mean, &sd, &r1), TG_OK);
    NEAR(mean, (double)sets[i][0], 0);
    NEAR(sd / 10, 0.1, 1e-16);
    NEAR(r1, -0.999, 1e-15);
  }
  ck_assert_int_eq(tg_series_stats(x, 1, &mean, &sd, &r1), TG_ENODATA);
}
END_TEST

/* One key of `units` units with `each` readings. */
typedef struct one_key {
  uint64_t unit_start[64], key_start[2], num[1], den[1], resolution[1];
} one_key;
static tg_samples samples(one_key *k, const int64_t *v, size_t units, size_t each) {
  for (size_t i = 0; i <= units; i++) k->unit_start[i] = i * each;
  k->key_start[0] = 0;
  k->key_start[1] = units;
  k->num[0] = k->den[0] = k->resolution[0] = 1;
  return (tg_samples){v, NULL, k->unit_start, k->key_start, k->num, k->den, k->resolution, 1, NULL};
}
static double cell(const tg_table *t, size_t row, size_t col) {
  double v = (double)NAN;
  tg_table_f64(t, row, col, &v);
  return v;
}

START_TEST(a_summary_row) {
  static const int64_t v[] = {15, 20, 35, 40, 50, 50, 50, 49, 48, 900};
  one_key k;
  tg_samples s = samples(&k, v, 2, 5);
  k.num[0] = 125; /* 24 MHz: a tick is 125/3 ns */
  k.den[0] = 3;
  tg_table *t = NULL;
  ck_assert_int_eq(tg_summarize(NULL, NULL, &s, &t), TG_OK);
  const double q = 125.0 / 3;
  uint64_t n;
  uint32_t units;
  int64_t low;
  ck_assert(tg_table_u64(t, 0, TG_SUM_N, &n) && n == 10);
  ck_assert(tg_table_u32(t, 0, TG_SUM_UNITS, &units) && units == 2);
  ck_assert(tg_table_i64(t, 0, TG_SUM_MIN, &low) && low == 15);
  NEAR(cell(t, 0, TG_SUM_MEAN), 125.7 * q, 1e-9);
  NEAR(cell(t, 0, TG_SUM_SD), 272.3661954877008 * q, 1e-8);
  NEAR(cell(t, 0, TG_SUM_P50), 48 * q, 1e-9); /* the fifth of ten: it occurred */
  NEAR(cell(t, 0, TG_SUM_P90), 50 * q, 1e-9);
  ck_assert(isnan(cell(t, 0, TG_SUM_P95))); /* 20 readings carry a p95 */
  NEAR(cell(t, 0, TG_SUM_MAD), 2 * q, 1e-9); /* 0 1 2 2 2 8 13 28 33 852: the fifth */
  NEAR(cell(t, 0, TG_SUM_STEP), q, 1e-12);
  NEAR(cell(t, 0, TG_SUM_MEDIAN), 35 * q, 1e-9); /* of the units' medians 35 and 50 */
  ck_assert(tg_table_u64(t, 0, TG_SUM_OUTLIERS, &n) && n == 4); /* 15, 20, 35, 900: beyond 8.9 */
  tg_table_free(t);
}
END_TEST

START_TEST(counts_and_their_readings_summarize_alike) {
  static const int64_t v[] = {7, 7, 7, 9, 9, 7, 7, 7, 9, 12}, pairs[] = {7, 9, 7, 9, 12};
  static const uint64_t weight[] = {3, 2, 3, 1, 1};
  one_key k, c;
  tg_samples s = samples(&k, v, 2, 5), w = samples(&c, pairs, 2, 2);
  c.unit_start[1] = 2;
  c.unit_start[2] = 5;
  w.weight = weight;
  tg_table *t = NULL, *u = NULL;
  ck_assert_int_eq(tg_summarize(NULL, NULL, &s, &t), TG_OK);
  ck_assert_int_eq(tg_summarize(NULL, NULL, &w, &u), TG_OK);
  for (size_t col = TG_SUM_MEAN; col <= TG_SUM_STEP; col++) {
    double x = cell(t, 0, col), y = cell(u, 0, col);
    ck_assert((isnan(x) && isnan(y)) || fabs(x - y) < 1e-12);
  }
  tg_table_free(t);
  tg_table_free(u);
}
END_TEST

START_TEST(collapse_takes_the_lower_median) {
  static const int64_t v[] = {4, 1, 3, 2, 9, 9, 1, 1};
  one_key k;
  tg_samples s = samples(&k, v, 2, 4);
  int64_t unit[2];
  ck_assert_int_eq(tg_collapse(NULL, NULL, &s, unit), TG_OK);
  ck_assert_int_eq(unit[0], 2);
  ck_assert_int_eq(unit[1], 1);
  k.unit_start[1] = 0; /* an empty unit */
  ck_assert_int_eq(tg_collapse(NULL, NULL, &s, unit), TG_ENODATA);
  k.unit_start[1] = 9; /* starts that fall */
  ck_assert_int_eq(tg_collapse(NULL, NULL, &s, unit), TG_EINVAL);
}
END_TEST

START_TEST(modes_are_split_by_gaps_wider_than_three_ticks) {
  static const int64_t v[] = {24, 25, 25, 26, 29, 100, 101, 101, 400};
  tg_table *t = NULL;
  ck_assert_int_eq(tg_modes(NULL, v, NULL, LEN(v), 1, &t), TG_OK);
  static const int64_t want[][5] = {
      {25, 5, 2, 24, 29}, {101, 3, 2, 100, 101}, {400, 1, 1, 400, 400}};
  ck_assert_uint_eq(tg_table_rows(t), 3);
  for (size_t i = 0; i < 3; i++) {
    int64_t value, lo, hi;
    uint64_t n, peak;
    ck_assert(tg_table_i64(t, i, 0, &value) && tg_table_u64(t, i, 1, &n) &&
              tg_table_u64(t, i, 2, &peak) && tg_table_i64(t, i, 3, &lo) &&
              tg_table_i64(t, i, 4, &hi));
    ck_assert(value == want[i][0] && (int64_t)n == want[i][1] && (int64_t)peak == want[i][2] &&
              lo == want[i][3] && hi == want[i][4]);
  }
  tg_table_free(t);
  ck_assert_int_eq(tg_modes(NULL, v, NULL, 0, 1, &t), TG_OK);
  ck_assert_uint_eq(tg_table_rows(t), 0);
  tg_table_free(t);
}
END_TEST

START_TEST(two_humps_and_one_stray) {
  static const int64_t two[] = {23, 98, 24, 99}, stray[] = {23, 24, 24, 98},
                       one[] = {20, 24, 28, 33};
  bool b;
  ck_assert(tg_bimodal(NULL, two, 4, 1, &b) == TG_OK && b);
  ck_assert(tg_bimodal(NULL, stray, 4, 1, &b) == TG_OK && !b);
  ck_assert(tg_bimodal(NULL, one, 4, 1, &b) == TG_OK && !b);
  ck_assert(tg_bimodal(NULL, two, 4, 30, &b) == TG_OK && !b); /* 74 apart: under three steps */
  ck_assert(tg_bimodal(NULL, two, 0, 1, &b) == TG_OK && !b);
}
END_TEST

START_TEST(histogram_bins_lie_on_the_tick_grid) {
  static const int64_t v[] = {-5, 0, 4, 20, 20, 39};
  tg_table *t = NULL;
  ck_assert_int_eq(tg_histogram(NULL, v, NULL, 6, 20, 100, &t), TG_OK);
  static const int64_t want[][4] = {{-20, 0, 1, 1}, {0, 20, 2, 3}, {20, 40, 3, 6}};
  ck_assert_uint_eq(tg_table_rows(t), 3);
  for (size_t i = 0; i < 3; i++) {
    int64_t lo, hi;
    uint64_t n, below;
    ck_assert(tg_table_i64(t, i, 0, &lo) && tg_table_i64(t, i, 1, &hi) &&
              tg_table_u64(t, i, 2, &n) && tg_table_u64(t, i, 3, &below));
    ck_assert(lo == want[i][0] && hi == want[i][1] && (int64_t)n == want[i][2] &&
              (int64_t)below == want[i][3]);
  }
  tg_table_free(t);
  ck_assert_int_eq(tg_histogram(NULL, v, NULL, 6, 1, 7, &t), TG_OK);
  ck_assert_uint_le(tg_table_rows(t), 7);
  tg_table_free(t);
  ck_assert_int_eq(tg_histogram(NULL, v, NULL, 6, 1, SIZE_MAX, &t), TG_EINVAL);
  ck_assert_int_eq(tg_histogram(NULL, v, NULL, 0, 1, 7, &t), TG_OK);
  ck_assert_uint_eq(tg_table_rows(t), 0);
  tg_table_free(t);
}
END_TEST

START_TEST(units_without_readings_have_no_variance) {
  static const uint64_t start[] = {0, 0, 0};
  tg_anova a;
  ck_assert_int_eq(tg_anova_units(NULL, start, 2, &a), TG_ENODATA);
}
END_TEST

static tg_status run_all(const tg_alloc *a) {
  static const int64_t v[] = {4, 1, 3, 2, 9, 9, 1, 1};
  one_key k;
  tg_samples s = samples(&k, v, 2, 4);
  tg_table *t = NULL;
  bool b;
  tg_status st = tg_summarize(a, NULL, &s, &t);
  tg_table_free(t);
  t = NULL;
  if (st == TG_OK) st = tg_modes(a, v, NULL, 8, 1, &t);
  tg_table_free(t);
  t = NULL;
  if (st == TG_OK) st = tg_histogram(a, v, NULL, 8, 1, 100, &t);
  tg_table_free(t);
  return st == TG_OK ? tg_bimodal(a, v, 8, 1, &b) : st;
}
START_TEST(every_refused_allocation_comes_back_as_enomem) { fail_every_allocation(run_all); }
END_TEST

int main(void) {
  const TTest *const tests[] = {
      t1_runs_of_cores,
      numacc_1_to_4,
      a_summary_row,
      counts_and_their_readings_summarize_alike,
      collapse_takes_the_lower_median,
      modes_are_split_by_gaps_wider_than_three_ticks,
      two_humps_and_one_stray,
      histogram_bins_lie_on_the_tick_grid,
      units_without_readings_have_no_variance,
      every_refused_allocation_comes_back_as_enomem,
  };
  return run_suite("stats_summary", tests, LEN(tests));
}

/* check_stats_trend.c - steps over releases. SPDX-License-Identifier: BSD-3-Clause */
#include "support/fail_alloc.h"
#include "support/stats_near.h"
#include "tickgauge/trend.h"

START_TEST(t9_energy_steps) {
  static const struct {
    size_t n;
    int64_t x[8];
    double q, p;
    size_t at;
  } rows[] = {
      {6, {10, 10, 10, 12, 12, 12}, 6, 1.0 / 10, 3},
      {6, {10, 11, 10, 13, 12, 13}, 5, 1.0 / 10, 3},
      {8, {10, 11, 10, 11, 13, 12, 13, 12}, 16.0 / 3, 1.0 / 35, 4},
      {8, {10, 10, 10, 10, 10, 10, 12, 12}, 6, 1.0 / 14, 6},
  };
  for (size_t i = 0; i < LEN(rows); i++) {
    tg_energy e;
    ck_assert_int_eq(tg_energy_step(NULL, NULL, rows[i].x, rows[i].n, 1, &e), TG_OK);
    NEAR(e.q, rows[i].q, 1e-12);
    NEAR(e.p, rows[i].p, 1e-12);
    ck_assert_uint_eq(e.at, rows[i].at);
    ck_assert(e.exact);
  }
}
END_TEST

START_TEST(the_step_up_and_back_has_p_two_fifths) {
  static const int64_t x[] = {44, 44, 44, 769, 769, 44};
  tg_energy e;
  ck_assert_int_eq(tg_energy_step(NULL, NULL, x, 6, 1, &e), TG_OK);
  NEAR(e.p, 0.4, 1e-12);
  static const int64_t ten[] = {1, 2, 1, 2, 1, 50, 51, 50, 51, 50};
  ck_assert_int_eq(tg_energy_step(NULL, NULL, ten, 10, 1, &e), TG_OK);
  ck_assert(!e.exact && e.at == 5);
  NEAR(e.p_min, 2.0 / 252, 1e-12);
  NEAR(e.p, 2.0 / 252, 0.005); /* drawn */
  ck_assert_int_eq(tg_energy_step(NULL, NULL, ten, 3, 1, &e), TG_ENODATA);
}
END_TEST

START_TEST(a_step_in_the_last_release_is_seen) {
  static const int64_t x[] = {44, 44, 44, 769, 769, 44}, flat[] = {44, 45, 44, 46, 44, 45};
  size_t start[6], k;
  ck_assert_int_eq(tg_segment(NULL, NULL, x, 6, 2 * 4.4, start, &k), TG_OK);
  ck_assert_uint_eq(k, 3);
  ck_assert(start[0] == 0 && start[1] == 3 && start[2] == 5);
  ck_assert_int_eq(tg_segment(NULL, NULL, flat, 6, 2 * 4.4, start, &k), TG_OK);
  ck_assert_uint_eq(k, 1);
  ck_assert_int_eq(tg_segment(NULL, NULL, x, 0, 1, start, &k), TG_OK);
  ck_assert_uint_eq(k, 0);
  ck_assert_int_eq(tg_segment(NULL, NULL, x, 6, 0, start, &k), TG_EINVAL);
}
END_TEST

/* Least cost over all 2^(n-1) segmentations, written for reading. */
static double least_cost(const int64_t *x, size_t n, double penalty) {
  double best = INFINITY;
  for (unsigned cut = 0; cut < 1u << (n - 1); cut++) {
    double cost = 0;
    for (size_t i = 0; i < n;) {
      size_t j = i + 1;
      while (j < n && !(cut >> (j - 1) & 1)) j++;
      double segment = INFINITY; /* the best level is one of the values */
      for (size_t m = i; m < j; m++) {
        double c = 0;
        for (size_t k = i; k < j; k++) c += fabs((double)(x[k] - x[m]));
        if (c < segment) segment = c;
      }
      cost += segment + (i > 0 ? penalty : 0);
      i = j;
    }
    if (cost < best) best = cost;
  }
  return best;
}

START_TEST(segmentation_costs_no_more_than_any_other) {
  uint64_t state = 12345;
  for (int round = 0; round < 300; round++) {
    int64_t x[9];
    size_t n = 1 + (size_t)round % 9, start[9], k;
    for (size_t i = 0; i < n; i++) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      x[i] = (int64_t)(state >> 60) + (state >> 55 & 1 ? 20 : 0);
    }
    double penalty = 1 + round % 7, cost = 0;
    ck_assert_int_eq(tg_segment(NULL, NULL, x, n, penalty, start, &k), TG_OK);
    for (size_t s = 0; s < k; s++) {
      size_t end = s + 1 < k ? start[s + 1] : n;
      cost += least_cost(x + start[s], end - start[s], 1e9) + (s > 0 ? penalty : 0);
    }
    NEAR(cost, least_cost(x, n, penalty), 1e-9);
  }
}
END_TEST

/* y as given: the best one step saves G1, the best two G2. */
START_TEST(j6_the_largest_penalty_at_which_there_is_a_change) {
  static const struct {
    int64_t x[6];
    double change;
  } rows[] = {{{44, 44, 44, 769, 769, 44}, 725},
              {{10, 11, 10, 13, 12, 13}, 5},
              {{10, 10, 50, 10, 10, 10}, 0}, /* one release up and back is no step */
              {{10, 10, 10, 10, 10, 30}, 20}};
  for (size_t i = 0; i < LEN(rows); i++) {
    double change = -1;
    ck_assert_int_eq(tg_change(NULL, rows[i].x, 6, &change), TG_OK);
    NEAR(change, rows[i].change, 1e-12);
  }
}
END_TEST

/* The cost of x[from .. to): the least of all levels, one of which is a value. */
static double cost_of(const int64_t *x, size_t from, size_t to) {
  double best = from < to ? INFINITY : 0;
  for (size_t m = from; m < to; m++) {
    double c = 0;
    for (size_t k = from; k < to; k++) c += fabs((double)(x[k] - x[m]));
    if (c < best) best = c;
  }
  return best;
}

START_TEST(the_change_is_that_of_the_best_one_or_two_steps) {
  uint64_t state = 99;
  for (int round = 0; round < 600; round++) {
    int64_t x[23];
    const size_t n = (size_t)round % LEN(x);
    for (size_t i = 0; i < n; i++) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      x[i] = (int64_t)(state >> (60 - round % 3 * 8)) + (state >> 34 & 7 ? 0 : 20 << round % 3 * 8);
    }
    const double whole = cost_of(x, 0, n);
    double most = 0, change = -1;
    for (size_t i = 1; i < n; i++) {
      most = fmax(most, whole - cost_of(x, 0, i) - cost_of(x, i, n));
      for (size_t j = i + 2; j < n; j++)
        most = fmax(most, (whole - cost_of(x, 0, i) - cost_of(x, i, j) - cost_of(x, j, n)) / 2);
    }
    ck_assert_int_eq(tg_change(NULL, x, n, &change), TG_OK);
    ck_assert_double_eq(change, most); /* sums of integers: exact */
  }
}
END_TEST

static uint32_t number(const tg_table *t, size_t row, size_t col) {
  uint32_t v = UINT32_MAX;
  return tg_table_u32(t, row, col, &v) ? v : UINT32_MAX;
}
static double real(const tg_table *t, size_t row, size_t col) {
  double v = (double)NAN;
  tg_table_f64(t, row, col, &v);
  return v;
}

/* A step of the first key at release 4, of which the second has no value; the third is quiet. */
START_TEST(the_table_names_releases_and_skips_gaps) {
  static const int64_t v[] = {220, 221, 220, 222, 3845, 3850, 3844, 3846,
                              100, 101, 100, 102, 101, 100, 101, 102, 101, 100, 102};
  static const uint32_t release[] = {0, 1, 2, 3, 5, 6, 7, 8, 0, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  static const uint64_t start[] = {0, 8, 19}, num[] = {20, 20}, den[] = {1, 1}, res[] = {1, 1};
  tg_series s = {v, release, start, num, den, res, 2};
  tg_trend_options o = {.margin = 0.1, .seed = 1};
  tg_table *series = NULL, *steps = NULL;
  ck_assert_int_eq(tg_trend(NULL, &s, &o, &series, &steps), TG_OK);
  ck_assert_uint_eq(number(series, 0, TG_TREND_STEPS), 1);
  ck_assert_uint_eq(number(series, 1, TG_TREND_STEPS), 0);
  ck_assert_uint_eq(tg_table_rows(steps), 1);
  ck_assert_uint_eq(number(steps, 0, TG_STEP_BEFORE), 3);
  ck_assert_uint_eq(number(steps, 0, TG_STEP_AT), 5);
  ck_assert_uint_eq(number(steps, 0, TG_STEP_LAST), 8);
  ck_assert_uint_eq(number(steps, 0, TG_STEP_KIND), TG_STEP_PLAIN);
  NEAR(real(steps, 0, TG_STEP_OLD), 20 * sqrt(220.0 * 221.0), 1e-6);
  NEAR(real(steps, 0, TG_STEP_NEW), 20 * sqrt(3845.0 * 3846.0), 1e-6);
  /* 4 of 8 releases: 2 of 70 orders lay them at one end, drawn 999 times */
  ck_assert(real(steps, 0, TG_STEP_P) >= 2.0 / 70 && real(steps, 0, TG_STEP_P) < 0.05);
  ck_assert(real(series, 0, TG_TREND_SCATTER) < 2);
  tg_table_free(series);
  tg_table_free(steps);
}
END_TEST

START_TEST(the_newest_release_alone_is_marked) {
  static const int64_t last[] = {1050, 1120, 1190};
  for (size_t i = 0; i < LEN(last); i++) {
    int64_t v[12];
    uint32_t release[12];
    for (uint32_t r = 0; r < 12; r++) {
      v[r] = r < 11 ? 1000 : last[i];
      release[r] = r;
    }
    static const uint64_t start[] = {0, 12}, one[] = {1};
    tg_series s = {v, release, start, one, one, one, 1};
    tg_trend_options o = {.margin = 0.1, .seed = 1};
    tg_table *series = NULL, *steps = NULL;
    ck_assert_int_eq(tg_trend(NULL, &s, &o, &series, &steps), TG_OK);
    ck_assert_uint_eq(tg_table_rows(steps), i > 0); /* +5 % is within the margin */
    if (i > 0) ck_assert_uint_eq(number(steps, 0, TG_STEP_KIND), TG_STEP_ALONE);
    tg_table_free(series);
    tg_table_free(steps);
  }
}
END_TEST

/* Two odd releases of ten in every of 45 orders: they are a step at most in the 2 in which they lie
 * together at one end, and there with the p that 2 of 45 carry. */
START_TEST(two_odd_releases_are_a_step_at_an_end_only) {
  size_t confirmed = 0, told = 0;
  for (size_t i = 0; i < 10; i++)
    for (size_t j = i + 1; j < 10; j++) {
      int64_t v[10];
      uint32_t release[10];
      for (size_t r = 0; r < 10; r++) {
        v[r] = r == i || r == j ? 1500 : 1000;
        release[r] = (uint32_t)r;
      }
      static const uint64_t start[] = {0, 10}, one[] = {1};
      tg_series s = {v, release, start, one, one, one, 1};
      tg_trend_options o = {.margin = 0.1, .seed = 1};
      tg_table *series = NULL, *steps = NULL;
      ck_assert_int_eq(tg_trend(NULL, &s, &o, &series, &steps), TG_OK);
      bool plain = false;
      for (size_t row = 0; row < tg_table_rows(steps); row++) {
        ck_assert(real(steps, row, TG_STEP_P) >= 2.0 / 45);
        plain = plain || number(steps, row, TG_STEP_KIND) == TG_STEP_PLAIN;
      }
      told += tg_table_rows(steps) > 0;
      confirmed += plain;
      if (plain) ck_assert(j == 1 || i == 8);
      tg_table_free(series);
      tg_table_free(steps);
    }
  ck_assert(confirmed <= 2 && told > 2);
}
END_TEST

/* Seven of eight keys of a metric are odd in release 2 of five; the eighth, and a key of another
 * metric, in other ones. */
START_TEST(one_release_up_and_back_is_told_where_keys_share_it) {
  static const size_t odd[] = {2, 2, 2, 2, 2, 2, 2, 1, 3};
  int64_t v[45];
  uint32_t release[45], group[] = {0, 0, 0, 0, 0, 0, 0, 0, 1};
  uint64_t start[10], one[9];
  for (size_t k = 0; k < 9; k++) {
    one[k] = 1;
    for (size_t r = 0; r < 5; r++) {
      v[5 * k + r] = (r == odd[k] ? 9000 : 1000) + (int64_t)((k + r) % 3);
      release[5 * k + r] = (uint32_t)r;
    }
  }
  for (size_t k = 0; k < 10; k++) start[k] = 5 * k;
  tg_series s = {v, release, start, one, one, one, 9};
  tg_trend_options o = {.margin = 0.1, .group = group, .seed = 1};
  tg_table *series = NULL, *steps = NULL;
  ck_assert_int_eq(tg_trend(NULL, &s, &o, &series, &steps), TG_OK);
  ck_assert_uint_eq(tg_table_rows(steps), 14);
  for (size_t row = 0; row < 14; row++) {
    ck_assert_uint_eq(number(steps, row, TG_STEP_KIND), TG_STEP_ONCE);
    ck_assert_uint_eq(number(steps, row, TG_STEP_KEY), row / 2);
    ck_assert_uint_eq(number(steps, row, TG_STEP_AT), 2 + row % 2);
    ck_assert_uint_eq(number(steps, row, TG_STEP_BEFORE), 1 + row % 2);
    /* 3 inner releases, 2 metrics, 7 or 8 of 8 keys in one of 3 releases */
    NEAR(real(steps, row, TG_STEP_P), 6 * 17.0 / 6561, 1e-12);
  }
  tg_table_free(series);
  tg_table_free(steps);
  s.n_keys = 4; /* 4 of 4 keys of one metric carry 3 / 81 */
  ck_assert_int_eq(tg_trend(NULL, &s, &o, &series, &steps), TG_OK);
  ck_assert_uint_eq(tg_table_rows(steps), 8);
  NEAR(real(steps, 0, TG_STEP_P), 3.0 / 81, 1e-12);
  tg_table_free(series);
  tg_table_free(steps);
  s.n_keys = 3; /* 3 of 3: 3 / 27 */
  ck_assert_int_eq(tg_trend(NULL, &s, &o, &series, &steps), TG_OK);
  ck_assert_uint_eq(tg_table_rows(steps), 0);
  tg_table_free(series);
  tg_table_free(steps);
}
END_TEST

START_TEST(below_five_releases_there_are_no_steps_and_no_scatter) {
  static const int64_t v[] = {10, 10, 900, 900};
  static const uint32_t release[] = {0, 1, 2, 3};
  static const uint64_t start[] = {0, 4}, one[] = {1};
  tg_series s = {v, release, start, one, one, one, 1};
  tg_trend_options o = {.margin = 0.1, .seed = 1};
  tg_table *series = NULL, *steps = NULL;
  ck_assert_int_eq(tg_trend(NULL, &s, &o, &series, &steps), TG_OK);
  ck_assert_uint_eq(tg_table_rows(steps), 0);
  ck_assert(isnan(real(series, 0, TG_TREND_SCATTER)));
  tg_table_free(series);
  tg_table_free(steps);
  static const uint32_t back[] = {0, 2, 1, 3};
  s.release = back;
  ck_assert_int_eq(tg_trend(NULL, &s, &o, &series, &steps), TG_EINVAL);
  s.release = release;
  o.margin = NAN;
  ck_assert_int_eq(tg_trend(NULL, &s, &o, &series, &steps), TG_EINVAL);
}
END_TEST

static tg_status run_all(const tg_alloc *a) {
  static const int64_t v[] = {1, 1, 1, 1, 1, 90, 90, 90};
  static const uint32_t release[] = {0, 1, 2, 3, 4, 5, 6, 7};
  static const uint64_t start[] = {0, 8}, one[] = {1};
  tg_series s = {v, release, start, one, one, one, 1};
  tg_trend_options o = {.margin = 0.1, .seed = 1};
  tg_table *series = NULL, *steps = NULL;
  tg_status status = tg_trend(a, &s, &o, &series, &steps);
  tg_table_free(series);
  tg_table_free(steps);
  return status;
}
START_TEST(every_refused_allocation_comes_back_as_enomem) { fail_every_allocation(run_all); }
END_TEST

int main(void) {
  const TTest *const tests[] = {
      t9_energy_steps,
      the_step_up_and_back_has_p_two_fifths,
      a_step_in_the_last_release_is_seen,
      segmentation_costs_no_more_than_any_other,
      the_change_is_that_of_the_best_one_or_two_steps,
      j6_the_largest_penalty_at_which_there_is_a_change,
      the_table_names_releases_and_skips_gaps,
      the_newest_release_alone_is_marked,
      two_odd_releases_are_a_step_at_an_end_only,
      one_release_up_and_back_is_told_where_keys_share_it,
      below_five_releases_there_are_no_steps_and_no_scatter,
      every_refused_allocation_comes_back_as_enomem,
  };
  return run_suite("stats_trend", tests, LEN(tests));
}

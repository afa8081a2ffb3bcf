/* check_stats_tests.c - exact tests, shifts, intervals, t, power, BH against published values.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "support/fail_alloc.h"
#include "support/stats_near.h"
#include "tickgauge/compare.h"
#include "tickgauge/stats.h"

/* Hollander and Wolfe, permeability of the human chorioamnion, in hundredths. */
static const int64_t hw_x[] = {80, 83, 189, 104, 145, 138, 191, 164, 73, 146};
static const int64_t hw_y[] = {115, 88, 90, 74, 121};
static const int64_t t2_old[] = {48, 48, 49, 48, 49}, t2_new[] = {50, 50, 49, 50, 51};
static const int64_t t4_x[] = {24, 24, 25, 25}, t4_y[] = {25, 26, 26, 27};

START_TEST(hollander_wolfe_data_give_the_published_u_shift_and_interval) {
  tg_test t;
  ck_assert_int_eq(tg_u_test(NULL, NULL, hw_x, 10, hw_y, 5, 1, &t), TG_OK);
  NEAR(t.statistic, 35, 0);
  NEAR(t.p, 0.2544, 0.00005); /* one-sided .1272 */
  ck_assert(t.exact);
  double shift;
  tg_interval ci;
  ck_assert_int_eq(tg_hl_shift(NULL, hw_y, 5, hw_x, 10, 0.05, &shift, &ci), TG_OK);
  NEAR(shift, 30.5, 0);
  NEAR(ci.lo, -15, 0);
  NEAR(ci.hi, 76, 0);
  NEAR(ci.level, 0.96004, 0.000005);
}
END_TEST

START_TEST(t2_two_ticks_slower_with_ties) {
  tg_test u, mean;
  double shift;
  tg_interval ci;
  ck_assert_int_eq(tg_u_test(NULL, NULL, t2_old, 5, t2_new, 5, 1, &u), TG_OK);
  ck_assert_int_eq(tg_mean_test(NULL, NULL, t2_old, 5, t2_new, 5, 1, &mean), TG_OK);
  ck_assert_int_eq(tg_hl_shift(NULL, t2_old, 5, t2_new, 5, 0.05, &shift, &ci), TG_OK);
  NEAR(u.p, 1.0 / 42, 1e-15);
  NEAR(mean.p, 1.0 / 42, 1e-15);
  NEAR(shift, 2, 0);
  NEAR(ci.lo, 1, 0);
  NEAR(ci.hi, 3, 0);
  NEAR(ci.level, 1 - 8.0 / 252, 1e-12); /* 96.825 %: qu = 3 */
}
END_TEST

START_TEST(t4_is_3_in_35_for_u_and_for_means) {
  tg_test u, mean;
  ck_assert_int_eq(tg_u_test(NULL, NULL, t4_x, 4, t4_y, 4, 1, &u), TG_OK);
  ck_assert_int_eq(tg_mean_test(NULL, NULL, t4_x, 4, t4_y, 4, 1, &mean), TG_OK);
  NEAR(u.statistic, 1, 0);
  NEAR(u.p, 3.0 / 35, 1e-15);
  NEAR(u.p_min, 1.0 / 35, 1e-15);
  NEAR(mean.p, 3.0 / 35, 1e-15);
  NEAR(mean.statistic, 1.5, 0);
}
END_TEST

START_TEST(two_values_only_is_fishers_exact_test) {
  int64_t x[25], y[25];
  for (int i = 0; i < 25; i++) {
    x[i] = i < 15 ? 24 : 25;
    y[i] = i < 5 ? 24 : 25;
  }
  tg_test t;
  ck_assert_int_eq(tg_u_test(NULL, NULL, x, 25, y, 25, 1, &t), TG_OK);
  NEAR(t.p, 0.00858, 0.000005);
  ck_assert(t.exact);
  double shift;
  tg_interval ci;
  ck_assert_int_eq(tg_hl_shift(NULL, x, 25, y, 25, 0.05, &shift, &ci), TG_OK);
  NEAR(shift, 0, 0);
  NEAR(ci.lo, 0, 0);
  NEAR(ci.hi, 1, 0);
}
END_TEST

START_TEST(smallest_p_of_n_against_n) {
  static const double one_in[] = {3, 10, 35, 126, 462, 1716, 6435, 24310};
  for (size_t n = 2; n <= 9; n++) NEAR(tg_min_p(n, n), 1 / one_in[n - 2], 1e-15);
  NEAR(tg_min_p(1, 39), 0.05, 1e-15);
  NEAR(tg_min_p(1, 1), 1, 0);
  NEAR(tg_min_p(0, 5), 1, 0);
}
END_TEST

START_TEST(full_range_levels) {
  static const double level[] = {0.90, 0.9714, 0.9921, 0.9978};
  for (size_t n = 3; n <= 6; n++) { /* at a level nobody reaches, the full range is given */
    int64_t x[6], y[6];
    for (size_t i = 0; i < n; i++) {
      x[i] = (int64_t)(i * i);
      y[i] = (int64_t)(100 + 3 * i);
    }
    tg_interval ci;
    ck_assert_int_eq(tg_hl_shift(NULL, x, n, y, n, 1e-9, NULL, &ci), TG_OK);
    NEAR(ci.level, level[n - 3], 0.00005);
    NEAR(ci.lo, (double)(y[0] - x[n - 1]), 0);
    NEAR(ci.hi, (double)(y[n - 1] - x[0]), 0);
  }
}
END_TEST

START_TEST(median_intervals_reach_the_textbook_levels) {
  static const struct {
    size_t n, lo, hi;
    double level;
  } rows[] = {{3, 1, 3, .75},    {4, 1, 4, .875},   {5, 1, 5, .9375},
              {6, 1, 6, .96875}, {7, 1, 7, .984375}, {8, 1, 8, .9921875}, {10, 2, 9, .978516}};
  int64_t x[10];
  for (int i = 0; i < 10; i++) x[i] = i + 1;
  for (size_t i = 0; i < LEN(rows); i++) {
    int64_t median;
    tg_interval ci;
    ck_assert_int_eq(tg_median_interval(NULL, x, rows[i].n, 0.05, &median, &ci), TG_OK);
    NEAR(ci.lo, (double)rows[i].lo, 0);
    NEAR(ci.hi, (double)rows[i].hi, 0);
    NEAR(ci.level, rows[i].level, 0.000005);
    ck_assert_int_eq(median, (int64_t)((rows[i].n + 1) / 2));
  }
}
END_TEST

START_TEST(t5_a_zero_difference_doubles_p) {
  static const int64_t d[] = {1, 2, 0, 1, 1, 2}, all[] = {3, 1, 2, 5, 4, 6};
  tg_test t;
  ck_assert_int_eq(tg_signflip_test(NULL, NULL, d, 6, 1, &t), TG_OK);
  NEAR(t.p, 1.0 / 16, 1e-15);
  NEAR(t.p_min, 0.03125, 1e-15);
  ck_assert_int_eq(tg_signflip_test(NULL, NULL, all, 6, 1, &t), TG_OK);
  NEAR(t.p, 0.03125, 1e-15);
}
END_TEST

START_TEST(paired_shift_of_the_depression_data) {
  /* Hamilton scores of R's wilcox.test, hundredths, after - before: two-sided p .0390625 of the
   * signed ranks, pseudo-median -.46, interval (-.786, -.010) at 96.09 %. */
  static const int64_t before[] = {183, 50, 162, 248, 168, 188, 155, 306, 130};
  static const int64_t after[] = {88, 65, 60, 205, 106, 129, 106, 314, 129};
  int64_t d[9];
  for (int i = 0; i < 9; i++) d[i] = after[i] - before[i];
  double shift;
  tg_interval ci;
  ck_assert_int_eq(tg_hl_paired(NULL, d, 9, 0.05, &shift, &ci), TG_OK);
  NEAR(shift, -46, 1e-12);
  NEAR(ci.level, 1 - 20.0 / 512, 1e-12);
}
END_TEST

START_TEST(t6_prediction_interval) {
  static const int64_t x[] = {1520, 1530, 1510, 1540, 1500};
  double mean, s;
  tg_interval pi;
  ck_assert_int_eq(tg_prediction(x, 5, 1, 0.05, &mean, &s, &pi), TG_OK);
  NEAR(mean, 1520, 0);
  NEAR(s, 15.8114, 0.00005);
  NEAR(pi.lo, 1471.9106, 0.00005);
  NEAR(pi.hi, 1568.0894, 0.00005);
  static const double factor[][2] = {{3, 4.968}, {5, 3.041}, {8, 2.508}, {10, 2.373}};
  for (size_t i = 0; i < LEN(factor); i++)
    NEAR(tg_t_quantile(0.025, (uint64_t)factor[i][0] - 1) * sqrt(1 + 1 / factor[i][0]),
         factor[i][1], 0.0005);
  ck_assert_int_eq(tg_prediction(x, 1, 1, 0.05, NULL, NULL, &pi), TG_ENODATA);
}
END_TEST

START_TEST(t_quantiles_and_tails) {
  /* Tables of the t distribution. */
  NEAR(tg_t_quantile(0.025, 1), 12.7062047361747, 1e-11);
  NEAR(tg_t_quantile(0.025, 4), 2.77644510519779, 1e-12);
  NEAR(tg_t_quantile(0.005, 10), 3.16927267261695, 1e-12);
  NEAR(tg_t_quantile(0.025, 1000000000), 1.959963986, 1e-8);
  NEAR(tg_t_quantile(0.5, 3), 0, 0);
  NEAR(tg_t_quantile(0.975, 4), -2.77644510519779, 1e-12);
  NEAR(tg_t_two_sided(1, 1), 0.5, 1e-15);
  NEAR(tg_t_two_sided(sqrt(2.0), 2), 1 - sqrt(0.5), 1e-15); /* P(|T| > t) = 1 - t / sqrt(2 + t^2) */
  NEAR(tg_t_two_sided(1e8, 2) / 1e-16, 1, 1e-6);
  NEAR(tg_t_two_sided(0, 7), 1, 0);
  ck_assert(isnan(tg_t_quantile(0, 3)) && isnan(tg_t_quantile(0.1, 0)));
}
END_TEST

START_TEST(equal_readings_leave_a_tick_open) {
  static const double u[][2] = {{1, .975}, {2, .842}, {3, .708},  {4, .602},
                                {8, .369}, {16, .206}, {32, .109}, {64, .056}};
  for (size_t i = 0; i < LEN(u); i++)
    NEAR(tg_tick_halfwidth((size_t)u[i][0], 0.025), u[i][1], 5e-4);
  NEAR(1 - 2 * tg_tick_halfwidth(1, 0.0125), -0.975, 5e-4);
  NEAR(1 - 2 * tg_tick_halfwidth(8, 0.0125), 0.157, 1e-3);
  NEAR(1 - 2 * tg_tick_halfwidth(32, 0.0125), 0.744, 1e-3);
  ck_assert(1 - 2 * tg_tick_halfwidth(6, 0.0125) < 0 && 1 - 2 * tg_tick_halfwidth(7, 0.0125) > 0);
}
END_TEST

START_TEST(detectable_difference_of_the_rule_in_use) {
  double level;
  NEAR(tg_detectable_sd(4, 4, 0.05, &level), 2.9, 0.05);
  NEAR(level, 1.0 / 35, 1e-12);
  NEAR(tg_detectable_sd(5, 5, 0.05, &level), 2.3, 0.05);
  NEAR(level, 0.0317, 0.00005);
  NEAR(tg_detectable_sd(6, 6, 0.05, &level), 1.9, 0.05);
  NEAR(level, 0.0411, 0.00005);
  NEAR(tg_detectable_sd(3, 3, 0.05, &level), 2.6, 0.05); /* at the 10 % it can reach */
  NEAR(level, 0.1, 1e-12);
  NEAR(tg_detectable_sd(12, 10, 0.05, &level), tg_detectable_sd(10, 12, 0.05, NULL), 0);
  ck_assert(isnan(tg_detectable_sd(1, 9, 0.05, &level)));
  double inside = tg_detectable_sd(12, 12, 0.05, NULL),
         outside = tg_detectable_sd(13, 13, 0.05, NULL);
  ck_assert(outside < inside &&
            outside > 0.9 * inside); /* the formula goes on where the table ends */
}
END_TEST

START_TEST(benjamini_hochberg) {
  static const double p[] = {.01, .04, .03, .005}, want[] = {.02, .04, .04, .02};
  double q[4];
  ck_assert_int_eq(tg_bh(NULL, p, 4, q), TG_OK);
  for (int i = 0; i < 4; i++) NEAR(q[i], want[i], 1e-15);
  static const double list[] = {.0001, .0004, .0019, .0095, .0201, .0278, .0298, .0344,
                                .0459, .3240, .4262, .5719, .6528, .7590, 1};
  static const double adjusted[] = {.0015, .003, .0095,   .035625, .0603,   .063857, .063857, .0645,
                                    .0765, .486, .581182, .714875, .753231, .813214, 1};
  double r[16];
  memcpy(r, list, sizeof list);
  r[15] = (double)NAN; /* untestable: stays out of the family */
  ck_assert_int_eq(tg_bh(NULL, r, 16, r), TG_OK);
  for (int i = 0; i < 15; i++) NEAR(r[i], adjusted[i], 5e-7);
  ck_assert(isnan(r[15]));
}
END_TEST

START_TEST(geometric_mean_skips_what_has_no_logarithm) {
  static const double r[] = {2, 8, 0, -1, (double)NAN, (double)INFINITY};
  double g;
  size_t used;
  ck_assert_int_eq(tg_geometric_mean(r, LEN(r), &g, &used), TG_OK);
  NEAR(g, 4, 1e-15);
  ck_assert_uint_eq(used, 2);
  ck_assert_int_eq(tg_geometric_mean(r + 2, 4, &g, &used), TG_ENODATA);
}
END_TEST

START_TEST(common_factors_are_found_per_group) {
  static const double r[] = {1.22, 1.225, 0.9, 1.215, 1.22, 1.0, 1.001, 0.999, 1.22};
  static const uint32_t group[] = {4, 4, 4, 4, 7, 7, 7, 7, 7};
  double f[LEN(r)];
  uint32_t set[LEN(r)];
  ck_assert_int_eq(tg_common_factor(NULL, NULL, r, group, LEN(r), 3, 0.01, f, set), TG_OK);
  NEAR(f[0], cbrt(1.22 * 1.225 * 1.215), 1e-12);
  ck_assert(set[0] == set[1] && set[0] == set[3] && set[2] == UINT32_MAX && isnan(f[2]));
  ck_assert(set[5] == set[6] && set[6] == set[7] && set[5] != set[0]);
  ck_assert(set[4] == UINT32_MAX && set[8] == UINT32_MAX); /* two of a kind are no factor */
}
END_TEST

/* Many groups, and many equal ratios in one: neither may take time quadratic in the number. */
static void factors_of_many_keys(bool one_group) {
  enum { MANY = 200000 };
  double *r = malloc(MANY * sizeof *r), *f = malloc(MANY * sizeof *f);
  uint32_t *group = malloc(MANY * sizeof *group), *set = malloc(MANY * sizeof *set);
  ck_assert(r != NULL && f != NULL && group != NULL && set != NULL);
  for (uint32_t i = 0; i < MANY; i++) {
    r[i] = 1.25;
    group[i] = one_group ? 7 : MANY - i;
  }
  ck_assert_int_eq(
      tg_common_factor(NULL, NULL, r, group, MANY, one_group ? 3 : 1, 0.01, f, set), TG_OK);
  for (uint32_t i = 0; i < MANY; i++) {
    ck_assert_uint_eq(set[i], one_group ? 0 : i);
    NEAR(f[i], 1.25, 1e-9);
  }
  free(r);
  free(f);
  free(group);
  free(set);
}
START_TEST(many_keys_of_one_factor) { factors_of_many_keys(true); }
END_TEST
START_TEST(many_groups_of_one_key) { factors_of_many_keys(false); }
END_TEST

START_TEST(levels_and_numbers_at_their_ends) {
  int64_t x[1024], median;
  double y[2] = {0, 0};
  tg_interval ci;
  tg_line line;
  for (int i = 0; i < 1024; i++) x[i] = i;
  ck_assert_int_eq(tg_median_interval(NULL, x, 1024, 1e-300, &median, &ci), TG_OK);
  NEAR(ci.lo, 0, 0);
  NEAR(ci.hi, 1023, 0);
  NEAR(ci.level, 1, 1e-15);
  ck_assert(tg_min_p(SIZE_MAX / 4, SIZE_MAX / 4) > 0); /* never 0 */
  ck_assert_int_eq(tg_ladder(NULL, y, TG_LADDER_MOST + 1, &line, &line), TG_ELIMIT);
}
END_TEST

START_TEST(large_samples_are_approximated_and_say_so) {
  int64_t x[300], y[300];
  for (int i = 0; i < 300; i++) {
    x[i] = 1000003LL * (i * 7 % 300);
    y[i] = 1000003LL * (i * 11 % 300) + 17;
  }
  tg_test t, again;
  ck_assert_int_eq(tg_u_test(NULL, NULL, x, 300, y, 300, 5, &t), TG_OK);
  ck_assert_int_eq(tg_u_test(NULL, NULL, x, 300, y, 300, 5, &again), TG_OK);
  ck_assert(!t.exact && t.p > 0.5);
  NEAR(t.p, again.p, 0);
  for (int i = 0; i < 300; i++) y[i] += INT64_C(1) << 40;
  ck_assert_int_eq(tg_u_test(NULL, NULL, x, 300, y, 300, 5, &t), TG_OK);
  ck_assert(t.p > 0 && t.p < 1e-90); /* z = 21.2 */
  int64_t few[20]; /* a smaller side of fewer than 30 is drawn */
  for (int i = 0; i < 20; i++) few[i] = 1000003LL * (i * 13 % 300) + 17 + (INT64_C(1) << 40);
  ck_assert_int_eq(tg_u_test(NULL, NULL, x, 300, few, 20, 5, &t), TG_OK);
  NEAR(t.p, 2.0 / (TG_RESAMPLES + 1), 1e-15); /* (0 + 1) / (R + 1), doubled: never 0 */
}
END_TEST

START_TEST(empty_sides_and_huge_values_are_refused) {
  static const int64_t one[] = {1}, huge[] = {INT64_MAX};
  tg_test t = {7, 7, 7, false};
  double shift = 7;
  ck_assert_int_eq(tg_u_test(NULL, NULL, one, 0, one, 1, 1, &t), TG_ENODATA);
  ck_assert_int_eq(tg_mean_test(NULL, NULL, one, 1, huge, 1, 1, &t), TG_EOVERFLOW);
  ck_assert_int_eq(tg_signflip_test(NULL, NULL, huge, 1, 1, &t), TG_EOVERFLOW);
  ck_assert_int_eq(tg_hl_shift(NULL, one, 1, huge, 1, 0.05, &shift, NULL), TG_EOVERFLOW);
  ck_assert_int_eq(tg_hl_shift(NULL, one, 1, one, 1, 0, &shift, NULL), TG_EINVAL);
  ck_assert_int_eq(tg_hl_paired(NULL, one, 0, 0.05, &shift, NULL), TG_ENODATA);
  NEAR(t.p, 7, 0);
  NEAR(shift, 7, 0);
}
END_TEST

static tg_status run_all(const tg_alloc *a) {
  tg_test t;
  double shift;
  tg_interval ci;
  int64_t median;
  uint32_t group[4] = {0}, set[4];
  double p[4] = {.1, .2, .3, .4}, f[4];
  tg_status s = tg_u_test(a, NULL, hw_x, 10, hw_y, 5, 1, &t);
  if (s == TG_OK) s = tg_mean_test(a, NULL, hw_x, 10, hw_y, 5, 1, &t);
  if (s == TG_OK) s = tg_hl_shift(a, hw_x, 10, hw_y, 5, 0.05, &shift, &ci);
  if (s == TG_OK) s = tg_hl_paired(a, hw_x, 10, 0.05, &shift, &ci);
  if (s == TG_OK) s = tg_median_interval(a, hw_x, 10, 0.05, &median, &ci);
  if (s == TG_OK) s = tg_bh(a, p, 4, f);
  if (s == TG_OK) s = tg_common_factor(a, NULL, p, group, 4, 3, 0.01, f, set);
  return s;
}
START_TEST(every_refused_allocation_comes_back_as_enomem) { fail_every_allocation(run_all); }
END_TEST

int main(void) {
  const TTest *const tests[] = {
      hollander_wolfe_data_give_the_published_u_shift_and_interval,
      t2_two_ticks_slower_with_ties,
      t4_is_3_in_35_for_u_and_for_means,
      two_values_only_is_fishers_exact_test,
      smallest_p_of_n_against_n,
      full_range_levels,
      median_intervals_reach_the_textbook_levels,
      t5_a_zero_difference_doubles_p,
      paired_shift_of_the_depression_data,
      t6_prediction_interval,
      t_quantiles_and_tails,
      equal_readings_leave_a_tick_open,
      detectable_difference_of_the_rule_in_use,
      benjamini_hochberg,
      geometric_mean_skips_what_has_no_logarithm,
      common_factors_are_found_per_group,
      many_keys_of_one_factor,
      many_groups_of_one_key,
      levels_and_numbers_at_their_ends,
      large_samples_are_approximated_and_say_so,
      empty_sides_and_huge_values_are_refused,
      every_refused_allocation_comes_back_as_enomem,
  };
  return run_suite("stats_tests", tests, LEN(tests));
}

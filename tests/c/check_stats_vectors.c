/* check_stats_vectors.c - interchangeable cpus: sorted vectors, ladders, labels.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "support/fail_alloc.h"
#include "support/stats_side.h"

static tg_table *vectors(const int64_t *x, uint64_t m, const int64_t *y, uint64_t n,
                         uint64_t cores) {
  static const uint64_t one[] = {1};
  tg_vectors a = {x, &m, &cores, one, one, one, 1}, b = {y, &n, &cores, one, one, one, 1};
  tg_table *t = NULL;
  ck_assert_int_eq(tg_compare_vectors(NULL, NULL, &a, &b, 1, &t), TG_OK);
  return t;
}

START_TEST(t10_the_same_set_in_another_order_is_identical) {
  static const int64_t x[] = {10, 20, 30, 40}, y[] = {40, 30, 20, 10};
  tg_table *t = vectors(x, 1, y, 1, 4);
  NEAR(cell(t, TG_VEC_W1), 0, 0);
  NEAR(cell(t, TG_VEC_CORE_LOW), -75, 1e-12);
  NEAR(cell(t, TG_VEC_CORE_HIGH), 300, 1e-12);
  NEAR(cell(t, TG_VEC_RANK_LOW), 0, 0);
  NEAR(cell(t, TG_VEC_RANK_HIGH), 0, 0);
  ck_assert(isnan(cell(t, TG_VEC_EXCHANGE_P))); /* one unit a side: labels cannot be tested */
  tg_table_free(t);
}
END_TEST

START_TEST(t11_ladders) {
  static const int64_t x[] = {24, 36, 48, 60}, y[] = {72, 28, 42, 57};
  tg_table *t = vectors(x, 1, y, 1, 4);
  NEAR(cell(t, TG_VEC_W1), 7.75, 1e-12);
  NEAR(cell(t, TG_VEC_OLS_A_OLD), 24, 1e-12);
  NEAR(cell(t, TG_VEC_OLS_B_OLD), 12, 1e-12);
  NEAR(cell(t, TG_VEC_OLS_A_NEW), 27.7, 1e-12);
  NEAR(cell(t, TG_VEC_OLS_B_NEW), 14.7, 1e-12);
  NEAR(cell(t, TG_VEC_TS_A_NEW), 27.25, 1e-12);
  NEAR(cell(t, TG_VEC_TS_B_NEW), 14.833, 5e-4);
  NEAR(cell(t, TG_VEC_SPAN_NEW), 44, 1e-12);
  tg_table_free(t);
}
END_TEST

START_TEST(vectors_without_a_scale_or_step_are_refused) {
  static const int64_t x[] = {24, 36, 48, 60};
  static const uint64_t two[] = {2}, one[] = {1}, none[] = {0};
  for (int wrong = 0; wrong < 3; wrong++) {
    const uint64_t *num = wrong == 0 ? none : one, *den = wrong == 1 ? none : one;
    const tg_vectors v = {x, two, two, num, den, wrong == 2 ? none : one, 1};
    tg_table *t = NULL;
    ck_assert_int_eq(tg_compare_vectors(NULL, NULL, &v, &v, 1, &t), TG_EINVAL);
    ck_assert_ptr_null(t);
  }
}
END_TEST

/* By hand: lines of the units 24 + 12 i, 24 + 12 i, and of 24 37 48 60 24.3 + 11.9 i, so base
 * 24.1 +- t(2) .1 and step 11.9667 +- t(2) .0333, but for the tick floor: sum |w| / sqrt 6 with
 * w = .7 .4 .1 -.2 for the base and .3 .1 .1 .3 for the step. t(2; .975) = 4.302653. */
START_TEST(ladders_have_intervals_from_unit_to_unit) {
  static const int64_t x[] = {24, 36, 48, 60, 36, 24, 60, 48, 48, 60, 24, 37};
  static const int64_t y[] = {0, 100, 200, 300, 30, 130, 230, 330, 60, 160, 260, 360};
  tg_table *t = vectors(x, 3, y, 3, 4);
  double a = 4.302653 * (1.4 / sqrt(6)) / sqrt(3), b = 4.302653 * (0.8 / sqrt(6)) / sqrt(3);
  NEAR(cell(t, TG_VEC_OLS_A_OLD_LO), cell(t, TG_VEC_OLS_A_OLD) - a, 1e-5);
  NEAR(cell(t, TG_VEC_OLS_A_OLD_HI), cell(t, TG_VEC_OLS_A_OLD) + a, 1e-5);
  NEAR(cell(t, TG_VEC_OLS_B_OLD_LO), cell(t, TG_VEC_OLS_B_OLD) - b, 1e-5);
  NEAR(cell(t, TG_VEC_OLS_B_OLD_HI), cell(t, TG_VEC_OLS_B_OLD) + b, 1e-5);
  NEAR(cell(t, TG_VEC_OLS_A_NEW_LO), 30 - 4.302653 * 30 / sqrt(3), 1e-4); /* s = 30 */
  NEAR(cell(t, TG_VEC_OLS_B_NEW_HI), 100 + b, 1e-5);
  tg_table_free(t);
  t = vectors(x, 1, y, 3, 4); /* one unit tells nothing of scatter */
  ck_assert(isnan(cell(t, TG_VEC_OLS_A_OLD_LO)) && isnan(cell(t, TG_VEC_OLS_B_SHIFT_HI)));
  ck_assert(!isnan(cell(t, TG_VEC_OLS_A_NEW_LO)));
  tg_table_free(t);
}
END_TEST

START_TEST(t12_shuffled_labels) {
  static const int64_t x[] = {24, 36, 48, 60, 36, 24, 60, 48, 48, 60, 24, 37};
  static const int64_t y[] = {60, 48, 37, 25, 26, 38, 49, 62, 38, 26, 61, 50};
  tg_table *t = vectors(x, 3, y, 3, 4);
  NEAR(cell(t, TG_VEC_W1), 1.25, 1e-12);
  NEAR(cell(t, TG_VEC_W1_P), 0.1, 1e-12);
  NEAR(cell(t, TG_VEC_W1_P_MIN), 0.1, 1e-12);
  NEAR(cell(t, TG_VEC_MAX_NEW) - cell(t, TG_VEC_MAX_OLD), 1, 1e-12);
  ck_assert(cell(t, TG_VEC_EXCHANGE_P) > 0.2); /* labels carry nothing here */
  tg_table_free(t);
  static const int64_t max_x[] = {60, 60, 60}, max_y[] = {60, 62, 61};
  tg_test u;
  ck_assert_int_eq(tg_u_test(NULL, NULL, max_x, 3, max_y, 3, 1, &u), TG_OK);
  NEAR(u.p, 0.4, 1e-12);
}
END_TEST

START_TEST(labels_that_matter_are_found) {
  int64_t x[10 * 4], y[10 * 4];
  for (int r = 0; r < 10; r++)
    for (int c = 0; c < 4; c++) {
      x[r * 4 + c] = 100 * c + r;
      y[r * 4 + c] = 100 * c + 2 * r;
    }
  tg_table *t = vectors(x, 10, y, 10, 4);
  ck_assert(cell(t, TG_VEC_EXCHANGE_P) < 0.001);
  tg_table_free(t);
}
END_TEST

START_TEST(the_order_of_units_changes_nothing_that_is_drawn) {
  int64_t x[12 * 3], y[12 * 3], shuffled_x[12 * 3];
  for (int i = 0; i < 36; i++) {
    x[i] = i * 7 % 31;
    y[i] = i * 11 % 29 + 3;
  }
  for (int r = 0; r < 12; r++)
    for (int c = 0; c < 3; c++) shuffled_x[(r * 5 % 12) * 3 + c] = x[r * 3 + c];
  tg_table *t = vectors(x, 12, y, 12, 3), *u = vectors(shuffled_x, 12, y, 12, 3);
  for (size_t col = TG_VEC_W1; col < TG_VEC_COLUMNS; col++) NEAR(cell(t, col), cell(u, col), 0);
  tg_table_free(t);
  tg_table_free(u);
}
END_TEST

static tg_status run_all(const tg_alloc *a) {
  static const int64_t x[] = {24, 36, 48, 60, 36, 24, 60, 48},
                       y[] = {60, 48, 37, 25, 26, 38, 49, 62};
  static const uint64_t one[] = {1}, m[] = {2}, cores[] = {4};
  tg_table *t = NULL;
  tg_vectors v = {x, m, cores, one, one, one, 1}, w = {y, m, cores, one, one, one, 1};
  tg_status status = tg_compare_vectors(a, NULL, &v, &w, 1, &t);
  tg_table_free(t);
  return status;
}
START_TEST(every_refused_allocation_comes_back_as_enomem) { fail_every_allocation(run_all); }
END_TEST

int main(void) {
  const TTest *const tests[] = {
      t10_the_same_set_in_another_order_is_identical,
      t11_ladders,
      vectors_without_a_scale_or_step_are_refused,
      ladders_have_intervals_from_unit_to_unit,
      t12_shuffled_labels,
      labels_that_matter_are_found,
      the_order_of_units_changes_nothing_that_is_drawn,
      every_refused_allocation_comes_back_as_enomem,
  };
  return run_suite("stats_vectors", tests, LEN(tests));
}

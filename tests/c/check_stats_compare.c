/* check_stats_compare.c - verdicts: the table of constant and tied series, margins, one new boot,
 * noise models, sides of different steps, sorted vectors. SPDX-License-Identifier: BSD-3-Clause */
#include "support/fail_alloc.h"
#include "support/stats_near.h"
#include "tickgauge/compare.h"

/* One key, one reading per unit, in ticks of 1. */
typedef struct side {
  uint64_t unit_start[64], key_start[2], num[1], den[1], resolution[1];
  tg_samples s;
} side;
static const tg_samples *units(side *k, const int64_t *v, size_t n) {
  for (size_t i = 0; i <= n; i++) k->unit_start[i] = i;
  k->key_start[0] = 0;
  k->key_start[1] = n;
  k->num[0] = k->den[0] = k->resolution[0] = 1;
  k->s = (tg_samples){v, NULL, k->unit_start, k->key_start, k->num, k->den, k->resolution, 1};
  return &k->s;
}
static double cell(const tg_table *t, size_t col) {
  double v = (double)NAN;
  tg_table_f64(t, 0, col, &v);
  return v;
}
static uint32_t flags(const tg_table *t) {
  uint32_t f = 0;
  ck_assert(tg_table_u32(t, 0, TG_CMP_FLAGS, &f));
  return f;
}
static void says(const tg_table *t, size_t col, const char *want) {
  tg_str got;
  ck_assert(tg_table_text(t, 0, col, &got));
  ck_assert_msg(got.n == strlen(want) && memcmp(got.p, want, got.n) == 0, "says %.*s, not %s",
                (int)got.n, (const char *)got.p, want);
}
static tg_table *compare(const int64_t *x, size_t m, const int64_t *y, size_t n, double margin) {
  static side old, fresh;
  tg_compare_options o = {.margin = margin, .seed = 1};
  tg_table *t = NULL;
  ck_assert_int_eq(tg_compare(NULL, units(&old, x, m), units(&fresh, y, n), &o, &t), TG_OK);
  return t;
}

START_TEST(constant_and_tied_series_get_the_expected_words) {
  int64_t a[25], b[25];
  for (int i = 0; i < 25; i++) {
    a[i] = i < 15 ? 24 : 25;
    b[i] = i < 5 ? 24 : 25;
  }
  static const int64_t k41[] = {41, 41, 41, 41, 41, 41, 41, 41}, one42[] = {42}, one83[] = {83};
  static const int64_t x4[] = {24, 24, 25, 25}, y4[] = {25, 26, 26, 27};
  const struct {
    const int64_t *x, *y;
    size_t m, n;
    const char *verdict, *method;
    uint32_t flags;
    double lo, hi, level;
  } rows[] = {
      {k41, k41, 4, 4, "equivalent", "exact", TG_CMP_CONSTANT | TG_CMP_BELOW_STEP, -1.33, 1.33, .9714},
      {k41, k41, 5, 5, "equivalent", "exact", TG_CMP_CONSTANT | TG_CMP_BELOW_STEP, -1.17, 1.17, .968},
      {k41, k41, 6, 6, "equivalent", "exact", TG_CMP_CONSTANT | TG_CMP_BELOW_STEP, -1.04, 1.04, .959},
      {k41, k41, 7, 7, "equivalent", "exact", TG_CMP_CONSTANT | TG_CMP_BELOW_STEP, -.93, .93, .962},
      {k41, k41, 1, 1, "unreplicated", "none", TG_CMP_BELOW_STEP, NAN, NAN, NAN},
      {k41, k41, 3, 4, "equivalent", "exact", TG_CMP_CONSTANT | TG_CMP_BELOW_STEP, -1.43, 1.43, .943},
      {k41, one42, 5, 1, "inconclusive", "prediction", TG_CMP_INSIDE | TG_CMP_BELOW_STEP, -.24, 2.24, .95},
      {k41, one83, 4, 1, "regressed", "prediction", 0, 42 - 1.45, 42 + 1.45, .95},
      {x4, y4, 4, 4, "inconclusive", "exact", 0, 0, 3, .9714},
      {a, b, 25, 25, "equivalent", "exact", 0, 0, 1, .95},
  };
  for (size_t i = 0; i < LEN(rows); i++) {
    tg_table *t = compare(rows[i].x, rows[i].m, rows[i].y, rows[i].n, 0.05);
    says(t, TG_CMP_VERDICT, rows[i].verdict);
    says(t, TG_CMP_METHOD, rows[i].method);
    ck_assert_msg(flags(t) == rows[i].flags, "row %zu: flags %u", i, flags(t));
    if (isnan(rows[i].lo)) {
      ck_assert(isnan(cell(t, TG_CMP_LO)));
    } else {
      NEAR(cell(t, TG_CMP_LO), rows[i].lo, 0.005);
      NEAR(cell(t, TG_CMP_HI), rows[i].hi, 0.005);
      NEAR(cell(t, TG_CMP_LEVEL), rows[i].level, 0.003);
    }
    tg_table_free(t);
  }
  tg_table *t = compare(a, 25, b, 25, 0.05);
  NEAR(cell(t, TG_CMP_P), 0.00858, 5e-6); /* said beside the word, never the word */
  NEAR(cell(t, TG_CMP_SHIFT), 0, 0);
  tg_table_free(t);
}
END_TEST

START_TEST(t2b_the_margin_decides_the_word) {
  static const int64_t x[] = {48, 48, 49, 48, 49}, y[] = {50, 50, 49, 50, 51};
  static const struct {
    double margin, delta;
    const char *verdict;
    uint32_t flags;
  } rows[] = {{.01, 1, "changed", 0},
              {.05, 2.4, "changed", 0},
              {.10, 4.8, "equivalent", TG_CMP_NEGLIGIBLE},
              {.02, 1, "changed", 0}};
  for (size_t i = 0; i < LEN(rows); i++) {
    tg_table *t = compare(x, 5, y, 5, rows[i].margin);
    says(t, TG_CMP_VERDICT, rows[i].verdict);
    NEAR(cell(t, TG_CMP_DELTA), rows[i].delta, 1e-12);
    ck_assert_uint_eq(flags(t), rows[i].flags);
    NEAR(cell(t, TG_CMP_PERCENT), 4.1666667, 1e-6);
    tg_table_free(t);
  }
  static const int64_t far[] = {60, 61, 60, 62, 60}, near[] = {38, 38, 39, 37, 38};
  tg_table *t = compare(x, 5, far, 5, 0.05);
  says(t, TG_CMP_VERDICT, "regressed");
  tg_table_free(t);
  t = compare(x, 5, near, 5, 0.05);
  says(t, TG_CMP_VERDICT, "improved");
  tg_table_free(t);
}
END_TEST

START_TEST(higher_may_be_better_and_none_is_never_judged) {
  static const int64_t x[] = {48, 48, 49, 48, 49}, far[] = {60, 61, 60, 62, 60};
  static const uint8_t better[] = {TG_BETTER_HIGHER, TG_BETTER_NONE};
  static const char *const want[] = {"improved", "changed"};
  side a, b;
  for (size_t i = 0; i < 2; i++) {
    tg_compare_options o = {.margin = 0.05, .better = &better[i]};
    tg_table *t = NULL;
    ck_assert_int_eq(tg_compare(NULL, units(&a, x, 5), units(&b, far, 5), &o, &t), TG_OK);
    says(t, TG_CMP_VERDICT, want[i]);
    tg_table_free(t);
  }
}
END_TEST

START_TEST(three_against_three_never_claims_a_change) {
  static const int64_t x[] = {100, 101, 102}, y[] = {200, 201, 202};
  tg_table *t = compare(x, 3, y, 3, 0.05);
  says(t, TG_CMP_VERDICT, "inconclusive");
  NEAR(cell(t, TG_CMP_P), 0.1, 1e-15);
  NEAR(cell(t, TG_CMP_P_MIN), 0.1, 1e-15);
  NEAR(cell(t, TG_CMP_LEVEL), 0.9, 1e-12);
  NEAR(cell(t, TG_CMP_DETECTABLE_LEVEL), 0.1, 1e-12);
  NEAR(cell(t, TG_CMP_DETECTABLE), 2.6, 0.05); /* sd 1 */
  uint32_t needed;
  ck_assert(tg_table_u32(t, 0, TG_CMP_NEEDED, &needed) && needed == 4);
  tg_table_free(t);
}
END_TEST

START_TEST(a_side_without_values_is_missing) {
  static const int64_t x[] = {1, 2};
  tg_table *t = compare(x, 2, x, 0, 0.05);
  says(t, TG_CMP_VERDICT, "missing");
  tg_table_free(t);
}
END_TEST

START_TEST(noise_model_of_one_boot_against_one) {
  static const int64_t x[] = {1000}, y[] = {1100}, noise[] = {990, 1010, 1000, 1000};
  static const int64_t two[] = {990, 991, 1400, 1401};
  side a, b, z;
  tg_compare_options o = {.margin = 0.05, .noise = units(&z, noise, 4)};
  tg_table *t = NULL;
  ck_assert_int_eq(tg_compare(NULL, units(&a, x, 1), units(&b, y, 1), &o, &t), TG_OK);
  double half = 3.18244630528 * sqrt(200.0 / 3) * sqrt(2.0); /* t(3) * s * sqrt 2 */
  says(t, TG_CMP_METHOD, "noise");
  NEAR(cell(t, TG_CMP_LO), 100 - half, 1e-6);
  NEAR(cell(t, TG_CMP_HI), 100 + half, 1e-6);
  says(t, TG_CMP_VERDICT, "regressed"); /* 63.3 is beyond 50 */
  tg_table_free(t);
  o.noise = units(&z, two, 4);
  ck_assert_int_eq(tg_compare(NULL, units(&a, x, 1), units(&b, y, 1), &o, &t), TG_OK);
  says(t, TG_CMP_VERDICT, "unreplicated");
  ck_assert_uint_eq(flags(t), TG_CMP_BIMODAL);
  tg_table_free(t);
  o.noise = units(&z, noise, 3);
  ck_assert_int_eq(tg_compare(NULL, units(&a, x, 1), units(&b, y, 1), &o, &t), TG_OK);
  ck_assert_uint_eq(flags(t), TG_CMP_FEW_NOISE);
  tg_table_free(t);
}
END_TEST

START_TEST(sides_of_different_steps_meet_on_the_coarser_one) {
  static const int64_t ticks[] = {2200, 2201, 2200, 2202}, us[] = {44, 44, 45, 44};
  side a, b;
  units(&a, ticks, 4);
  units(&b, us, 4);
  a.num[0] = 20;   /* a 50 MHz counter */
  b.num[0] = 1000; /* whole us */
  tg_compare_options o = {.margin = 0.01};
  tg_table *t = NULL;
  ck_assert_int_eq(tg_compare(NULL, &a.s, &b.s, &o, &t), TG_OK);
  NEAR(cell(t, TG_CMP_STEP), 1000, 1e-9);
  NEAR(cell(t, TG_CMP_DELTA), 1000, 1e-9); /* not 440: nothing finer can be told */
  NEAR(cell(t, TG_CMP_OLD), 44000, 1e-9);
  NEAR(cell(t, TG_CMP_SHIFT), 0, 1e-9); /* of 16 differences six are 0, six below */
  NEAR(cell(t, TG_CMP_LO), -40, 1e-9);
  NEAR(cell(t, TG_CMP_HI), 1000, 1e-9);
  ck_assert(flags(t) & TG_CMP_STEPS);
  tg_table_free(t);
  a.num[0] = UINT64_MAX / 2;
  b.den[0] = UINT64_MAX / 3;
  ck_assert_int_eq(tg_compare(NULL, &a.s, &b.s, &o, &t), TG_EOVERFLOW);
}
END_TEST

START_TEST(paired_boots) {
  static const int64_t x[] = {100, 200, 300, 400, 500, 600}, y[] = {110, 211, 312, 411, 510, 612};
  side a, b;
  tg_compare_options o = {.margin = 0.02, .paired = true};
  tg_table *t = NULL;
  ck_assert_int_eq(tg_compare(NULL, units(&a, x, 6), units(&b, y, 6), &o, &t), TG_OK);
  says(t, TG_CMP_METHOD, "paired");
  NEAR(cell(t, TG_CMP_SHIFT), 11, 0);
  NEAR(cell(t, TG_CMP_LO), 10, 0);
  NEAR(cell(t, TG_CMP_P), 0.03125, 1e-15);
  says(t, TG_CMP_VERDICT, "regressed");
  tg_table_free(t);
}
END_TEST

START_TEST(within_one_boot_is_shown_and_not_judged) {
  static const int64_t x[] = {10, 11, 10, 12, 10}, y[] = {20, 21, 20, 22, 20};
  side a, b;
  units(&a, x, 1);
  units(&b, y, 1);
  a.unit_start[1] = b.unit_start[1] = 5;
  tg_compare_options o = {.margin = 0.05};
  tg_table *t = NULL;
  ck_assert_int_eq(tg_compare(NULL, &a.s, &b.s, &o, &t), TG_OK);
  says(t, TG_CMP_VERDICT, "unreplicated");
  NEAR(cell(t, TG_CMP_WITHIN), 10, 0);
  ck_assert(cell(t, TG_CMP_WITHIN_LO) >= 8 && cell(t, TG_CMP_WITHIN_HI) <= 12);
  tg_table_free(t);
}
END_TEST

/* ---- interchangeable cpus ---------------------------------------------------------------- */

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
  static const int64_t x[] = {24, 36, 48, 60, 36, 24, 60, 48}, y[] = {60, 48, 37, 25, 26, 38, 49, 62};
  static const uint64_t one[] = {1}, m[] = {2}, cores[] = {4};
  static side old, fresh, z;
  tg_compare_options o = {.margin = 0.05, .noise = units(&z, x, 4)};
  tg_table *t = NULL;
  tg_status s = tg_compare(a, units(&old, x, 8), units(&fresh, y, 8), &o, &t);
  tg_table_free(t);
  if (s != TG_OK) return s;
  t = NULL;
  s = tg_compare(a, units(&old, x, 1), units(&fresh, y, 1), &o, &t);
  tg_table_free(t);
  if (s != TG_OK) return s;
  t = NULL;
  tg_vectors v = {x, m, cores, one, one, one, 1}, w = {y, m, cores, one, one, one, 1};
  s = tg_compare_vectors(a, NULL, &v, &w, 1, &t);
  tg_table_free(t);
  return s;
}
START_TEST(every_refused_allocation_comes_back_as_enomem) { fail_every_allocation(run_all); }
END_TEST

int main(void) {
  const TTest *const tests[] = {
      constant_and_tied_series_get_the_expected_words,
      t2b_the_margin_decides_the_word,
      higher_may_be_better_and_none_is_never_judged,
      three_against_three_never_claims_a_change,
      a_side_without_values_is_missing,
      noise_model_of_one_boot_against_one,
      sides_of_different_steps_meet_on_the_coarser_one,
      paired_boots,
      within_one_boot_is_shown_and_not_judged,
      t10_the_same_set_in_another_order_is_identical,
      t11_ladders,
      vectors_without_a_scale_or_step_are_refused,
      ladders_have_intervals_from_unit_to_unit,
      t12_shuffled_labels,
      labels_that_matter_are_found,
      the_order_of_units_changes_nothing_that_is_drawn,
      every_refused_allocation_comes_back_as_enomem,
  };
  return run_suite("stats_compare", tests, LEN(tests));
}

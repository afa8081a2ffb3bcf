/* check_stats_compare.c - the judgement of keys: the exact vectors of ratios and their widened
 * intervals, words and margins, single boots, one key that is out of range. The vectors were
 * computed by brute force (fractions, complete enumeration) outside of this code.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "support/fail_alloc.h"
#include "support/stats_side.h"

static tg_table *compare(const int64_t *x, size_t m, const int64_t *y, size_t n, double margin) {
  static side old, fresh;
  tg_compare_options o = {.margin = margin, .seed = 1};
  tg_table *t = NULL;
  ck_assert_int_eq(tg_compare(NULL, units(&old, x, m), units(&fresh, y, n), &o, &t), TG_OK);
  return t;
}

static double percent(double ratio) { return 100 * (ratio - 1); }

START_TEST(j1_ratios_and_widened_intervals) {
  static const struct {
    size_t m, n;
    int64_t x[6], y[6];
    double ratio, lo, hi, shift, shift_lo, shift_hi, level;
  } rows[] = {
      {5, 5, {48, 48, 49, 48, 49}, {50, 50, 49, 50, 51}, 51.0 / 49, 199.0 / 197, 205.0 / 191, 2,
       .5, 3.5, 61.0 / 63},
      {6, 6, {10, 10, 10, 900, 900, 900}, {8, 8, 8, 9, 9, 9}, .08944271909999159, 31.0 / 3601,
       37.0 / 39, -446.5, -892.5, -.5, 443.0 / 462},
      {6, 6, {100, 104, 98, 101, 99, 103}, {130, 128, 131, 127, 140, 126}, 1.2842704735960606,
       73.0 / 59, 561.0 / 415, 28, 24.5, 36.5, 443.0 / 462},
      {5, 5, {3, 4, 3, 3, 4}, {6, 7, 6, 6, 6}, 2, 23.0 / 17, 29.0 / 11, 3, 1.5, 4.5, 61.0 / 63},
  };
  for (size_t i = 0; i < LEN(rows); i++) {
    tg_table *t = compare(rows[i].x, rows[i].m, rows[i].y, rows[i].n, 0.05);
    NEAR(cell(t, TG_CMP_PERCENT), percent(rows[i].ratio), 1e-9);
    NEAR(cell(t, TG_CMP_PERCENT_LO), percent(rows[i].lo), 1e-10);
    NEAR(cell(t, TG_CMP_PERCENT_HI), percent(rows[i].hi), 1e-10);
    NEAR(cell(t, TG_CMP_SHIFT), rows[i].shift, 0);
    NEAR(cell(t, TG_CMP_LO), rows[i].shift_lo, 0);
    NEAR(cell(t, TG_CMP_HI), rows[i].shift_hi, 0);
    NEAR(cell(t, TG_CMP_LEVEL), rows[i].level, 1e-14);
    tg_table_free(t);
  }
  static const int64_t ten[] = {10, 20, 30}, twenty[] = {20, 40, 60};
  tg_table *t = compare(ten, 3, twenty, 3, 0.05); /* 1/20: no interval at 5 % */
  NEAR(cell(t, TG_CMP_PERCENT), 100, 0);
  NEAR(cell(t, TG_CMP_SHIFT), 20, 0);
  ck_assert(isnan(cell(t, TG_CMP_LO)) && isnan(cell(t, TG_CMP_PERCENT_HI)));
  ck_assert(isnan(cell(t, TG_CMP_LEVEL)) && isnan(cell(t, TG_CMP_VISIBLE)));
  tg_table_free(t);
}
END_TEST

START_TEST(j1_constant_sides_keep_what_the_tick_leaves_open) {
  static const int64_t hundred[] = {100, 100, 100, 100, 100, 100, 100, 100};
  static const double steps[] = {1.33126, 1.16743, 1.03651, 1, 1};
  for (size_t n = 4; n <= 8; n++) {
    tg_table *t = compare(hundred, n, hundred, n, 0.05);
    double half = steps[n - 4];
    NEAR(cell(t, TG_CMP_LO), -half, 2e-5);
    NEAR(cell(t, TG_CMP_HI), half, 2e-5);
    NEAR(cell(t, TG_CMP_PERCENT_LO), percent((100 - half / 2) / (100 + half / 2)), 3e-5);
    NEAR(cell(t, TG_CMP_PERCENT_HI), percent((100 + half / 2) / (100 - half / 2)), 3e-5);
    says(t, TG_CMP_VERDICT, "equivalent");
    tg_table_free(t);
  }
}
END_TEST

START_TEST(j1_words_by_margin) {
  static const int64_t x[] = {48, 48, 49, 48, 49}, y[] = {50, 50, 49, 50, 51};
  static const int64_t far[] = {60, 61, 60, 62, 60}, near[] = {38, 38, 39, 37, 38};
  static const int64_t small[] = {3, 4, 3, 3, 4}, twice[] = {6, 7, 6, 6, 6};
  static const struct {
    const int64_t *x, *y;
    double margin;
    const char *verdict;
    uint32_t flags;
  } rows[] = {
      /* 1 %: the ratio is beyond, the shift of half a step is not */
      {x, y, .01, "changed", TG_CMP_COARSE},
      {x, y, .05, "changed", 0},
      {x, y, .10, "equivalent", TG_CMP_NEGLIGIBLE},
      {x, far, .05, "regressed", TG_CMP_SLOWER_TAIL},
      {x, near, .05, "improved", TG_CMP_FASTER_TAIL},
      {small, twice, .05, "regressed", TG_CMP_COARSE | TG_CMP_SLOWER_TAIL},
  };
  for (size_t i = 0; i < LEN(rows); i++) {
    tg_table *t = compare(rows[i].x, 5, rows[i].y, 5, rows[i].margin);
    says(t, TG_CMP_VERDICT, rows[i].verdict);
    ck_assert_msg(flags(t) == rows[i].flags, "row %zu: flags %u", i, flags(t));
    tg_table_free(t);
  }
  tg_table *t = compare(small, 5, twice, 5, .05); /* one step of 3 */
  NEAR(cell(t, TG_CMP_MARGIN), 100.0 / 3, 1e-12);
  NEAR(cell(t, TG_CMP_DELTA), 1, 1e-12);
  tg_table_free(t);
}
END_TEST

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
    const char *verdict;
    uint32_t flags;
  } rows[] = {
      {k41, k41, 4, 4, "equivalent", TG_CMP_CONSTANT | TG_CMP_BELOW_STEP},
      {k41, k41, 1, 1, "unreplicated", TG_CMP_BELOW_STEP},
      {k41, one42, 5, 1, "unreplicated", TG_CMP_BELOW_STEP}, /* 5 boot-keys, 39 are needed */
      {k41, one83, 4, 1, "unreplicated", 0},
      {x4, y4, 4, 4, "inconclusive", 0},
      {a, b, 25, 25, "inconclusive", 0},
  };
  for (size_t i = 0; i < LEN(rows); i++) {
    tg_table *t = compare(rows[i].x, rows[i].m, rows[i].y, rows[i].n, 0.05);
    says(t, TG_CMP_VERDICT, rows[i].verdict);
    ck_assert_msg(flags(t) == rows[i].flags, "row %zu: flags %u", i, flags(t));
    tg_table_free(t);
  }
  tg_table *t = compare(a, 25, b, 25, 0.05);
  NEAR(cell(t, TG_CMP_P), 0.00858, 5e-6); /* said beside the word, never the word */
  NEAR(cell(t, TG_CMP_LO), -.5, 0);
  NEAR(cell(t, TG_CMP_HI), 1.5, 0);
  NEAR(cell(t, TG_CMP_PERCENT_LO), percent(99.0 / 101), 1e-10); /* 25 on 25 */
  NEAR(cell(t, TG_CMP_PERCENT_HI), percent(101.0 / 95), 1e-10);
  tg_table_free(t);
}
END_TEST

START_TEST(j3_what_could_have_been_seen) {
  static const int64_t x[] = {100, 104, 98, 101, 99, 103}, y[] = {130, 128, 131, 127, 140, 126};
  tg_table *t = compare(x, 6, y, 6, 0.05);
  double half = (0.301442 - 0.212922) / 2, seen = exp((1.48 + 0.7 / 6) * half);
  NEAR(cell(t, TG_CMP_VISIBLE), percent(seen), 1e-3);
  NEAR(cell(t, TG_CMP_VISIBLE), 7.32, 5e-3);
  NEAR(cell(t, TG_CMP_JUDGED_FROM), 12.69, 5e-3);
  ck_assert_uint_gt(count_at(t, 0, TG_CMP_NEEDED), 6);
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

START_TEST(a_value_of_zero_leaves_the_shift_only) {
  static const int64_t x[] = {-100, 0, 100, 50, 20}, y[] = {900, 1000, 1100, 950, 980};
  tg_table *t = compare(x, 5, y, 5, 0.05);
  ck_assert(isnan(cell(t, TG_CMP_PERCENT)) && isnan(cell(t, TG_CMP_PERCENT_LO)));
  ck_assert(flags(t) & TG_CMP_ADDITIVE);
  says(t, TG_CMP_VERDICT, "regressed"); /* beyond one step */
  NEAR(cell(t, TG_CMP_OLD), 20, 0);
  tg_table_free(t);
}
END_TEST

START_TEST(three_against_three_never_claims_a_change) {
  static const int64_t x[] = {100, 101, 102}, y[] = {200, 201, 202};
  tg_table *t = compare(x, 3, y, 3, 0.05);
  says(t, TG_CMP_VERDICT, "inconclusive");
  NEAR(cell(t, TG_CMP_P), 0.1, 1e-15);
  NEAR(cell(t, TG_CMP_P_MIN), 0.1, 1e-15);
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

START_TEST(a_key_out_of_range_is_refused_and_the_others_are_judged) {
  static const int64_t v[] = {1000, 1001, 1000, 1002, 0, INT64_C(1) << 62, 0, 5};
  static const uint64_t unit_start[] = {0, 1, 2, 3, 4, 5, 6, 7, 8}, key_start[] = {0, 4, 8};
  static const uint64_t ones[] = {1, 1};
  const tg_samples s = {v, NULL, unit_start, key_start, ones, ones, ones, 2, NULL};
  tg_compare_options o = {.margin = 0.05};
  tg_table *t = NULL;
  ck_assert_int_eq(tg_compare(NULL, &s, &s, &o, &t), TG_OK);
  says_at(t, 0, TG_CMP_VERDICT, "equivalent");
  says_at(t, 1, TG_CMP_VERDICT, "refused");
  ck_assert(isnan(cell_at(t, 1, TG_CMP_OLD)) && isnan(cell_at(t, 1, TG_CMP_P)));
  tg_table_free(t);
}
END_TEST

START_TEST(options_that_are_no_numbers_are_refused) {
  static const int64_t x[] = {1, 2, 3, 4};
  static const double bad[] = {-1, INFINITY, NAN};
  side a, b;
  for (size_t i = 0; i < LEN(bad); i++) {
    tg_compare_options o = {.margin = bad[i]};
    tg_table *t = NULL;
    ck_assert_int_eq(tg_compare(NULL, units(&a, x, 4), units(&b, x, 4), &o, &t), TG_EINVAL);
    o = (tg_compare_options){.margin = 0.05, .margin_abs = &bad[i]};
    ck_assert_int_eq(tg_compare(NULL, &a.s, &b.s, &o, &t), TG_EINVAL);
    ck_assert_ptr_null(t);
  }
}
END_TEST

/* Scores 13.000912, -.171893, .814253 of the three keys; among 12 residuals of the four old boots
 * 0, 6 and 3 lie as high, so p is 2/13, 14/13 and 8/13; 39 boot-keys would be needed. Forty boots
 * of one key are as many. */
START_TEST(j4_one_boot_against_several) {
  static const int64_t old[] = {100, 200, 50, 104, 190, 55, 98, 210, 52, 101, 205, 49};
  static const int64_t fresh[] = {150, 201, 53};
  static board a, b;
  tg_compare_options o = {.margin = 0.05};
  tg_table *t = NULL;
  ck_assert_int_eq(tg_compare(NULL, boots(&a, old, 4, 3), boots(&b, fresh, 1, 3), &o, &t), TG_OK);
  for (size_t k = 0; k < 3; k++) {
    says_at(t, k, TG_CMP_VERDICT, "unreplicated");
    ck_assert_uint_eq(count_at(t, k, TG_CMP_REFERENCE), 12);
  }
  tg_table_free(t);
  o.alpha = 0.2; /* 2/13 is within it */
  ck_assert_int_eq(tg_compare(NULL, &a.s, &b.s, &o, &t), TG_OK);
  says_at(t, 0, TG_CMP_VERDICT, "regressed");
  says_at(t, 0, TG_CMP_METHOD, "pooled residuals");
  NEAR(cell_at(t, 0, TG_CMP_P), 2.0 / 13, 1e-12);
  NEAR(cell_at(t, 1, TG_CMP_P), 1, 1e-12);
  NEAR(cell_at(t, 2, TG_CMP_P), 8.0 / 13, 1e-12);
  says_at(t, 1, TG_CMP_VERDICT, "inconclusive");
  tg_table_free(t);
  o.alpha = 0.2; /* the mirror image: one old boot */
  ck_assert_int_eq(tg_compare(NULL, &b.s, &a.s, &o, &t), TG_OK);
  says_at(t, 0, TG_CMP_VERDICT, "improved");
  NEAR(cell_at(t, 0, TG_CMP_P), 2.0 / 13, 1e-12);
  tg_table_free(t);
}
END_TEST

START_TEST(boots_of_one_firmware_serve_one_against_one) {
  static const int64_t x[] = {1000}, y[] = {1100}, two[] = {990, 991, 1400, 1401};
  int64_t noise[9];
  for (int i = 0; i < 9; i++) noise[i] = 996 + i; /* 72 ordered pairs */
  side a, b, z;
  tg_compare_options o = {.margin = 0.05, .noise = units(&z, noise, 9)};
  tg_table *t = NULL;
  ck_assert_int_eq(tg_compare(NULL, units(&a, x, 1), units(&b, y, 1), &o, &t), TG_OK);
  says(t, TG_CMP_METHOD, "noise set");
  says(t, TG_CMP_VERDICT, "regressed");
  NEAR(cell(t, TG_CMP_P), 2.0 / 73, 1e-12);
  ck_assert(cell(t, TG_CMP_PERCENT_LO) > 5 && cell(t, TG_CMP_PERCENT_LO) < 10);
  tg_table_free(t);
  o.noise = units(&z, noise, 4); /* 12 pairs are too few */
  ck_assert_int_eq(tg_compare(NULL, &a.s, &b.s, &o, &t), TG_OK);
  says(t, TG_CMP_VERDICT, "unreplicated");
  ck_assert_uint_eq(count_at(t, 0, TG_CMP_REFERENCE), 12);
  tg_table_free(t);
  o.noise = units(&z, two, 4);
  ck_assert_int_eq(tg_compare(NULL, &a.s, &b.s, &o, &t), TG_OK);
  says(t, TG_CMP_VERDICT, "unreplicated");
  ck_assert_uint_eq(flags(t), TG_CMP_BIMODAL);
  tg_table_free(t);
  o.noise = units(&z, noise, 3);
  ck_assert_int_eq(tg_compare(NULL, &a.s, &b.s, &o, &t), TG_OK);
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
  NEAR(cell(t, TG_CMP_SHIFT), 0, 1e-9);    /* of 16 differences six are 0, six below */
  NEAR(cell(t, TG_CMP_LO), -540, 1e-9);    /* -40 and 1000, and half a step */
  NEAR(cell(t, TG_CMP_HI), 1500, 1e-9);
  ck_assert(flags(t) & TG_CMP_STEPS);
  tg_table_free(t);
  a.num[0] = UINT64_MAX / 2;
  b.den[0] = UINT64_MAX / 3;
  ck_assert_int_eq(tg_compare(NULL, &a.s, &b.s, &o, &t), TG_OK);
  says(t, TG_CMP_VERDICT, "refused");
  tg_table_free(t);
}
END_TEST

START_TEST(paired_boots) {
  static const int64_t x[] = {100, 200, 300, 400, 500, 600}, y[] = {120, 233, 352, 461, 579, 702};
  side a, b;
  tg_compare_options o = {.margin = 0.05, .paired = true};
  tg_table *t = NULL;
  ck_assert_int_eq(tg_compare(NULL, units(&a, x, 6), units(&b, y, 6), &o, &t), TG_OK);
  says(t, TG_CMP_METHOD, "paired");
  NEAR(cell(t, TG_CMP_P), 0.03125, 1e-15);
  says(t, TG_CMP_VERDICT, "regressed");
  ck_assert(cell(t, TG_CMP_PERCENT_LO) > 14 && cell(t, TG_CMP_PERCENT_HI) < 22);
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

/* Ten boots of 20 readings, every tenth of them slow in the new ones: the median stays. */
START_TEST(the_p90_of_boots_is_a_row_of_its_own) {
  static int64_t x[200], y[200];
  static uint64_t unit_start[11];
  static const uint64_t key_start[] = {0, 10}, one[] = {1};
  for (int i = 0; i < 200; i++) {
    x[i] = 1000 + i % 10;
    y[i] = i % 20 < 3 ? 3000 + i / 20 : 1000 + i % 10;
  }
  for (size_t i = 0; i < LEN(unit_start); i++) unit_start[i] = 20 * i;
  const tg_samples a = {x, NULL, unit_start, key_start, one, one, one, 1, NULL};
  const tg_samples b = {y, NULL, unit_start, key_start, one, one, one, 1, NULL};
  tg_compare_options o = {.margin = 0.05};
  tg_table *t = NULL;
  ck_assert_int_eq(tg_compare(NULL, &a, &b, &o, &t), TG_OK);
  ck_assert_uint_eq(tg_table_rows(t), 2);
  says_at(t, 0, TG_CMP_VERDICT, "equivalent");
  ck_assert_uint_eq(count_at(t, 1, TG_CMP_QUANTILE), 90);
  NEAR(cell_at(t, 1, TG_CMP_OLD), 1008, 1e-9);
  says_at(t, 1, TG_CMP_VERDICT, "regressed");
  tg_table_free(t);
  unit_start[10] = 199; /* one boot lacks a reading */
  ck_assert_int_eq(tg_compare(NULL, &a, &b, &o, &t), TG_OK);
  ck_assert_uint_eq(tg_table_rows(t), 1);
  ck_assert_uint_eq(count_at(t, 0, TG_CMP_LACKING_90), 2);
  tg_table_free(t);
}
END_TEST

static tg_status run_all(const tg_alloc *a) {
  static const int64_t x[] = {24, 36, 48, 60, 36, 24, 60, 48},
                       y[] = {60, 48, 37, 25, 26, 38, 49, 62};
  static int64_t many_x[100], many_y[100];
  static uint64_t start[101];
  static const uint64_t key_start[] = {0, 100}, one[] = {1};
  static side old, fresh, z;
  for (int i = 0; i < 100; i++) {
    many_x[i] = 1000 + i * 37 % 101;
    many_y[i] = 1003 + i * 53 % 103;
    start[i + 1] = (uint64_t)i + 1;
  }
  const tg_samples large_x = {many_x, NULL, start, key_start, one, one, one, 1, NULL};
  const tg_samples large_y = {many_y, NULL, start, key_start, one, one, one, 1, NULL};
  tg_compare_options o = {.margin = 0.05, .noise = units(&z, x, 4)};
  tg_table *t = NULL;
  tg_status status = tg_compare(a, units(&old, x, 8), units(&fresh, y, 8), &o, &t);
  tg_table_free(t);
  t = NULL;
  if (status == TG_OK) status = tg_compare(a, units(&old, x, 1), units(&fresh, y, 1), &o, &t);
  tg_table_free(t);
  t = NULL;
  o.noise = NULL;
  if (status == TG_OK) status = tg_compare(a, &large_x, &large_y, &o, &t);
  tg_table_free(t);
  return status;
}
START_TEST(every_refused_allocation_comes_back_as_enomem) { fail_every_allocation(run_all); }
END_TEST

int main(void) {
  const TTest *const tests[] = {
      j1_ratios_and_widened_intervals,
      j1_constant_sides_keep_what_the_tick_leaves_open,
      j1_words_by_margin,
      constant_and_tied_series_get_the_expected_words,
      j3_what_could_have_been_seen,
      higher_may_be_better_and_none_is_never_judged,
      a_value_of_zero_leaves_the_shift_only,
      three_against_three_never_claims_a_change,
      a_side_without_values_is_missing,
      a_key_out_of_range_is_refused_and_the_others_are_judged,
      options_that_are_no_numbers_are_refused,
      j4_one_boot_against_several,
      boots_of_one_firmware_serve_one_against_one,
      sides_of_different_steps_meet_on_the_coarser_one,
      paired_boots,
      within_one_boot_is_shown_and_not_judged,
      the_p90_of_boots_is_a_row_of_its_own,
      every_refused_allocation_comes_back_as_enomem,
  };
  return run_suite("stats_compare", tests, LEN(tests));
}

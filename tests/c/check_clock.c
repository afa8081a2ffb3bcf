/* check_clock.c - ticks and nanoseconds against exact integers.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <check.h>
#include <stdlib.h>

#include "tickgauge/clock.h"

__extension__ typedef __int128 i128;

/* Oracle: round-half-even(v * num / den), by trying the three candidates around the quotient. */
static i128 oracle_muldiv(i128 v, i128 num, i128 den) {
  const i128 product = v * num;
  i128 best = product / den - 1;
  for (i128 k = product / den; k <= product / den + 1; k++) {
    i128 old = product - best * den, now = product - k * den;
    if (old < 0) old = -old;
    if (now < 0) now = -now;
    if (now < old || (now == old && k % 2 == 0)) best = k;
  }
  return best;
}

static void expect_muldiv(int64_t v, uint64_t num, uint64_t den) {
  int64_t got = 77;
  const i128 want = oracle_muldiv(v, num, den);
  const tg_status status = tg_muldiv(v, num, den, &got);
  if (want < INT64_MIN || want > INT64_MAX) {
    ck_assert_int_eq(status, TG_EOVERFLOW);
    ck_assert_int_eq(got, 77);
  } else {
    ck_assert_int_eq(status, TG_OK);
    ck_assert_msg((i128)got == want, "%lld * %llu / %llu", (long long)v, (unsigned long long)num,
                  (unsigned long long)den);
  }
}

START_TEST(muldiv_equals_the_oracle_around_powers_of_two) {
  static const uint64_t factors[] = {
      1, 2, 3, 10, 999999999, 1000000000, 24000000, 62500000, UINT64_C(1) << 40};
  for (int k = 0; k < 64; k++) {
    for (int d = -2; d <= 2; d++) {
      const int64_t v = (int64_t)((UINT64_C(1) << k) + (uint64_t)(int64_t)d);
      for (size_t i = 0; i < sizeof factors / sizeof factors[0]; i++)
        for (size_t j = 0; j < sizeof factors / sizeof factors[0]; j++)
          expect_muldiv(v, factors[i], factors[j]);
    }
  }
}
END_TEST

START_TEST(muldiv_equals_the_oracle_at_random) {
  uint64_t x = 88172645463325252u;
  for (int i = 0; i < 100000; i++) {
    uint64_t r[3];
    for (int k = 0; k < 3; k++) {
      x ^= x << 13;
      x ^= x >> 7;
      x ^= x << 17;
      r[k] = x >> (x & 63);
    }
    expect_muldiv((int64_t)r[0] >> (i & 1), r[1] >> 2, r[2] | 1);
  }
}
END_TEST

START_TEST(halves_go_to_the_even_neighbour) {
  static const struct {
    int64_t v, want;
  } rows[] = {{1, 0}, {3, 2}, {5, 2}, {7, 4}, {-1, 0}, {-3, -2}, {-5, -2}, {-7, -4}, {0, 0}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    int64_t got = 77;
    ck_assert_int_eq(tg_muldiv(rows[i].v, 1, 2, &got), TG_OK);
    ck_assert_int_eq(got, rows[i].want);
  }
}
END_TEST

START_TEST(denominators_of_zero_are_refused) {
  int64_t got = 77;
  bool grid = true;
  ck_assert_int_eq(tg_muldiv(1, 1, 0, &got), TG_EINVAL);
  ck_assert_int_eq(tg_ticks_to_ns(1, 0, &got), TG_EINVAL);
  ck_assert_int_eq(tg_ns_to_ticks(1, 0, &got, &grid), TG_EINVAL);
  ck_assert_int_eq(got, 77);
  ck_assert(grid);
}
END_TEST

/* T3 of the statistics notes: what a 24 MHz clock prints as truncated nanoseconds. */
START_TEST(truncated_ns_of_24_mhz_are_one_to_eight_ticks) {
  static const int64_t printed[] = {41, 83, 125, 166, 208, 250, 291, 333};
  for (int64_t k = 1; k <= 8; k++) {
    int64_t ticks = 0;
    bool grid = false;
    ck_assert_int_eq(tg_ns_to_ticks(printed[k - 1], 24000000, &ticks, &grid), TG_OK);
    ck_assert_int_eq(ticks, k);
    ck_assert(grid);
  }
}
END_TEST

/* Every tick count printed as floor and as rounded ns comes back, below half a GHz. */
START_TEST(printed_ns_give_their_ticks_back) {
  static const uint64_t clocks[] = {1,        32768,    1000000,   1920000,   13000000,
                                    19200000, 24000000, 25000000,  38400000,  50000000,
                                    54000000, 62500000, 100000000, 333333343, 499999999};
  for (size_t i = 0; i < sizeof clocks / sizeof clocks[0]; i++) {
    for (int64_t k = -3000; k <= 3000; k++) {
      const int64_t ticks = k * (1 + (k & 7) * 1013);
      const int64_t truncated = (int64_t)((i128)ticks * 1000000000 / (i128)clocks[i]);
      int64_t rounded = 0, got = 0;
      bool grid = false;
      ck_assert_int_eq(tg_ns_to_ticks(truncated, clocks[i], &got, &grid), TG_OK);
      ck_assert_int_eq(got, ticks);
      ck_assert(grid);
      ck_assert_int_eq(tg_ticks_to_ns(ticks, clocks[i], &rounded), TG_OK);
      ck_assert_int_eq(tg_ns_to_ticks(rounded, clocks[i], &got, &grid), TG_OK);
      ck_assert_int_eq(got, ticks);
      ck_assert(grid);
    }
  }
}
END_TEST

START_TEST(ns_between_ticks_are_off_the_grid) {
  int64_t ticks = 0;
  bool grid = true;
  ck_assert_int_eq(tg_ns_to_ticks(60, 24000000, &ticks, &grid), TG_OK);
  ck_assert_int_eq(ticks, 1);
  ck_assert(!grid);
  ck_assert_int_eq(tg_ns_to_ticks(60, 24000000, &ticks, NULL), TG_OK);
}
END_TEST

START_TEST(differences_are_signed_and_checked) {
  static const struct {
    uint64_t later, earlier;
    int64_t want;
    tg_status status;
  } rows[] = {
      {5, 3, 2, TG_OK},
      {3, 5, -2, TG_OK},
      {0, 0, 0, TG_OK},
      {UINT64_MAX, UINT64_MAX - 1, 1, TG_OK},
      {INT64_MAX, 0, INT64_MAX, TG_OK},
      {UINT64_C(1) << 63, 0, 0, TG_EOVERFLOW},
      {0, UINT64_C(1) << 63, INT64_MIN, TG_OK},
      {0, (UINT64_C(1) << 63) + 1, 0, TG_EOVERFLOW},
      {0, UINT64_MAX, 0, TG_EOVERFLOW},
      {UINT64_MAX, 0, 0, TG_EOVERFLOW},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    int64_t got = 77;
    ck_assert_int_eq(tg_ticks_diff(rows[i].later, rows[i].earlier, &got), rows[i].status);
    ck_assert_int_eq(got, rows[i].status == TG_OK ? rows[i].want : 77);
  }
}
END_TEST

int main(void) {
  TCase *tc = tcase_create("clock");
  tcase_add_test(tc, muldiv_equals_the_oracle_around_powers_of_two);
  tcase_add_test(tc, muldiv_equals_the_oracle_at_random);
  tcase_add_test(tc, halves_go_to_the_even_neighbour);
  tcase_add_test(tc, denominators_of_zero_are_refused);
  tcase_add_test(tc, truncated_ns_of_24_mhz_are_one_to_eight_ticks);
  tcase_add_test(tc, printed_ns_give_their_ticks_back);
  tcase_add_test(tc, ns_between_ticks_are_off_the_grid);
  tcase_add_test(tc, differences_are_signed_and_checked);
  Suite *s = suite_create("clock");
  suite_add_tcase(s, tc);
  SRunner *runner = srunner_create(s);
  srunner_run_all(runner, CK_ENV);
  const int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

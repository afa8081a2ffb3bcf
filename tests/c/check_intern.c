/* check_intern.c - distinct strings, dense codes, the arena beyond the limit.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/fail_alloc.h"
#include "tickgauge/intern.h"

static tg_status put(tg_intern *t, const char *s, uint32_t *code) {
  return tg_intern_put(t, (const uint8_t *)s, strlen(s), code);
}

static void expect_string(const tg_intern *t, uint32_t code, const void *p, size_t n) {
  const tg_str s = tg_intern_get(t, code);
  ck_assert_uint_eq(s.n, n);
  ck_assert_ptr_nonnull(s.p);
  if (n > 0) ck_assert_mem_eq(s.p, p, n);
}

START_TEST(codes_count_in_order_of_first_use) {
  static const char *const words[] = {"open", "invoke", "open", "", "close", "invoke", ""};
  static const uint32_t want[] = {0, 1, 0, 2, 3, 1, 2};
  tg_intern *t = NULL;
  ck_assert_int_eq(tg_intern_new(NULL, 0, &t), TG_OK);
  ck_assert_uint_eq(tg_intern_count(t), 0);
  for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
    uint32_t code = 77;
    ck_assert_int_eq(put(t, words[i], &code), TG_OK);
    ck_assert_uint_eq(code, want[i]);
    expect_string(t, code, words[i], strlen(words[i]));
  }
  ck_assert_uint_eq(tg_intern_count(t), 4);
  tg_intern_free(t);
}
END_TEST

START_TEST(nul_bytes_and_lengths_tell_strings_apart) {
  static const uint8_t zeros[40] = {0};
  tg_intern *t = NULL;
  ck_assert_int_eq(tg_intern_new(NULL, 0, &t), TG_OK);
  for (int pass = 0; pass < 2; pass++) {
    for (uint32_t n = 0; n < 40; n++) {
      uint32_t code = 77;
      ck_assert_int_eq(tg_intern_put(t, zeros, n, &code), TG_OK);
      ck_assert_uint_eq(code, n);
    }
  }
  tg_intern_free(t);
}
END_TEST

/* Words whose differences cancel in a hash that multiplies eight bytes by a known number and folds
 * the halves with a shift, whatever it starts with: 2^15 of them are told apart in linear time. */
START_TEST(words_made_to_collide_do_not) {
  enum { PAIRS = 15 };
  tg_intern *t = NULL;
  ck_assert_int_eq(tg_intern_new(NULL, 0, &t), TG_OK);
  for (uint32_t i = 0; i < 1u << PAIRS; i++) {
    uint64_t words[2 * PAIRS] = {0};
    uint32_t code = 0;
    for (unsigned k = 0; k < PAIRS; k++) {
      if ((i >> k & 1) == 0) continue;
      words[2 * k] = UINT64_C(1) << 63;
      words[2 * k + 1] = UINT64_C(1) << 63 | UINT64_C(1) << 31;
    }
    ck_assert_int_eq(tg_intern_put(t, (const uint8_t *)words, sizeof words, &code), TG_OK);
    ck_assert_uint_eq(code, i);
  }
  tg_intern_free(t);
}
END_TEST

/* 50,000 strings of all lengths, put twice; codes, bytes and finds are right after all growth. */
START_TEST(many_strings_survive_growth) {
  enum { MANY = 50000 };
  tg_intern *t = NULL;
  char text[64];
  uint32_t code = 0;
  ck_assert_int_eq(tg_intern_new(NULL, 0, &t), TG_OK);
  for (int pass = 0; pass < 2; pass++) {
    for (uint32_t i = 0; i < MANY; i++) {
      const int n = snprintf(text, sizeof text, "%0*u", (int)(i % 40) + 6, i);
      ck_assert_int_eq(tg_intern_put(t, (uint8_t *)text, (size_t)n, &code), TG_OK);
      ck_assert_uint_eq(code, i);
    }
  }
  for (uint32_t i = 0; i < MANY; i++) {
    const int n = snprintf(text, sizeof text, "%0*u", (int)(i % 40) + 6, i);
    expect_string(t, i, text, (size_t)n);
    code = 77;
    ck_assert_int_eq(tg_intern_find(t, (uint8_t *)text, (size_t)n, &code), TG_OK);
    ck_assert_uint_eq(code, i);
  }
  ck_assert_uint_eq(tg_intern_count(t), MANY);
  tg_intern_free(t);
}
END_TEST

START_TEST(what_is_not_there_is_not_found) {
  tg_intern *t = NULL;
  uint32_t code = 77;
  ck_assert_int_eq(tg_intern_new(NULL, 0, &t), TG_OK);
  ck_assert_int_eq(tg_intern_find(t, (const uint8_t *)"a", 1, &code), TG_ENOTFOUND);
  ck_assert_int_eq(put(t, "b", &code), TG_OK);
  code = 77;
  ck_assert_int_eq(tg_intern_find(t, (const uint8_t *)"a", 1, &code), TG_ENOTFOUND);
  ck_assert_uint_eq(code, 77);
  ck_assert_ptr_null(tg_intern_get(t, 1).p);
  ck_assert_uint_eq(tg_intern_get(t, 1).n, 0);
  ck_assert_ptr_null(tg_intern_get(t, UINT32_MAX).p);
  tg_intern_free(t);
}
END_TEST

START_TEST(beyond_the_limit_strings_are_kept_as_they_come) {
  static const char *const words[] = {"a", "b", "a", "c", "c", "a"};
  static const uint32_t want[] = {0, 1, 0, 2, 3, 4}; /* from three distinct on, no more looking */
  tg_intern *t = NULL;
  uint32_t code = 77;
  ck_assert_int_eq(tg_intern_new(NULL, 3, &t), TG_OK);
  for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
    ck_assert_int_eq(put(t, words[i], &code), TG_OK);
    ck_assert_uint_eq(code, want[i]);
    expect_string(t, code, words[i], 1);
  }
  ck_assert_int_eq(put(t, "d", &code), TG_OK);
  ck_assert_int_eq(tg_intern_find(t, (const uint8_t *)"d", 1, &code), TG_OK);
  expect_string(t, code, "d", 1);
  tg_intern_free(t);
}
END_TEST

static tg_status fill(const tg_alloc *a) {
  tg_intern *t = NULL;
  tg_status status = tg_intern_new(a, 60, &t);
  for (uint32_t i = 0; i < 100 && status == TG_OK; i++) {
    char text[8];
    uint32_t code = 77;
    snprintf(text, sizeof text, "s%u", i);
    status = put(t, text, &code);
    ck_assert_uint_eq(code, status == TG_OK ? i : 77);
    ck_assert_uint_eq(tg_intern_count(t), status == TG_OK ? i + 1 : i);
    if (status != TG_OK) { /* the string is not there, the table still works */
      uint32_t found = 77;
      ck_assert_int_eq(tg_intern_find(t, (uint8_t *)text, strlen(text), &found), TG_ENOTFOUND);
      if (put(t, text, &code) == TG_OK) ck_assert_uint_eq(code, i);
    }
  }
  tg_intern_free(t);
  return status;
}

START_TEST(every_allocation_may_fail) { fail_every_allocation(fill); }
END_TEST

int main(void) {
  TCase *tc = tcase_create("intern");
  tcase_add_test(tc, codes_count_in_order_of_first_use);
  tcase_add_test(tc, nul_bytes_and_lengths_tell_strings_apart);
  tcase_add_test(tc, many_strings_survive_growth);
  tcase_add_test(tc, words_made_to_collide_do_not);
  tcase_add_test(tc, what_is_not_there_is_not_found);
  tcase_add_test(tc, beyond_the_limit_strings_are_kept_as_they_come);
  tcase_add_test(tc, every_allocation_may_fail);
  Suite *s = suite_create("intern");
  suite_add_tcase(s, tc);
  SRunner *runner = srunner_create(s);
  srunner_run_all(runner, CK_ENV);
  const int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

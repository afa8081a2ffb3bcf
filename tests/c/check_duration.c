/* check_duration.c - durations of several units, against sums worked out by hand.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/duration.h"

static const struct {
  const char *text;
  int64_t us;
} whole[] = {
    {"0us", 0},
    {"12us", 12},
    {"498ms", 498000},
    {"2.345ms", 2345},
    {"17.626s", 17626000},
    {"7.000008s", 7000008},
    {"7.0000080000s", 7000008},
    {"2min", 120000000},
    {"1min 200ms", 60200000},
    {"1h 3min 2.500s", 3782500000},
    {"1h 5.100s", 3605100000},
    {"1w 1d", 691200000000},
    {"1month", 2629800000000},
    {"1y 2month 3w 4d 5h 6min 7s 8ms 9us", 38995567008009},
    {"292000y", INT64_C(9214819200000000000)},
};

START_TEST(a_duration_is_the_sum_of_its_parts) {
  const uint8_t *p = (const uint8_t *)whole[_i].text;
  const size_t n = strlen(whole[_i].text);
  int64_t us = -1;
  ck_assert_uint_eq(tg_duration_length(p, n), n);
  ck_assert_int_eq(tg_parse_duration(p, p + n, &us), TG_OK);
  ck_assert_int_eq(us, whole[_i].us);
}
END_TEST

static const struct {
  const char *text;
  size_t length; /* of the duration at its start */
  tg_status status;
} others[] = {
    {"", 0, TG_ESYNTAX},
    {"s", 0, TG_ESYNTAX},
    {"5", 0, TG_ESYNTAX},
    {"5 s", 0, TG_ESYNTAX},
    {"5.s", 0, TG_ESYNTAX},
    {".5s", 0, TG_ESYNTAX},
    {"5sec", 0, TG_ESYNTAX},
    {"5seconds", 0, TG_ESYNTAX},
    {"1min2s", 4, TG_ESYNTAX}, /* the matcher refuses what touches a digit */
    {"5s 1min", 2, TG_ESYNTAX},
    {"5s 5s", 2, TG_ESYNTAX},
    {"1.5min 2s", 6, TG_ESYNTAX},
    {"1min  2s", 4, TG_ESYNTAX},
    {"1min 2", 4, TG_ESYNTAX},
    {"1min ", 4, TG_ESYNTAX},
    {"123456789012345678901s", 0, TG_ESYNTAX},
    {"293000y", 7, TG_EOVERFLOW},
    {"99999999999999999999us", 22, TG_EOVERFLOW},
    {"292271y 99999999w", 17, TG_EOVERFLOW},
    {"0.5us", 5, TG_ERANGE},
    {"1.0005ms", 8, TG_ERANGE},
};

START_TEST(another_text_is_none) {
  const uint8_t *p = (const uint8_t *)others[_i].text;
  const size_t n = strlen(others[_i].text);
  int64_t us = 77;
  ck_assert_uint_eq(tg_duration_length(p, n), others[_i].length);
  ck_assert_int_eq(tg_parse_duration(p, p + n, &us), others[_i].status);
  ck_assert_int_eq(us, 77);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("duration");
  TCase *tc = tcase_create("duration");
  tcase_add_loop_test(tc, a_duration_is_the_sum_of_its_parts, 0, sizeof whole / sizeof *whole);
  tcase_add_loop_test(tc, another_text_is_none, 0, sizeof others / sizeof *others);
  suite_add_tcase(suite, tc);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_ENV);
  const int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

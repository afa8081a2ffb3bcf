/* stats_near.h - comparing doubles, and the usual main of a suite.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TESTS_STATS_NEAR_H
#define TESTS_STATS_NEAR_H

#include <check.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define LEN(a) (sizeof(a) / sizeof *(a))

/* |got - want| <= tolerance, both named in the message. */
#define NEAR(got, want, tolerance)                                                           \
  do {                                                                                       \
    double got_ = (got), want_ = (want);                                                     \
    ck_assert_msg(fabs(got_ - want_) <= (tolerance), "%s is %.17g, not %.17g", #got, got_, want_); \
  } while (0)

static inline int run_suite(const char *name, const TTest *const *tests, size_t n) {
  TCase *tc = tcase_create(name);
  tcase_set_timeout(tc, 60);
  for (size_t i = 0; i < n; i++) tcase_add_test(tc, tests[i]);
  Suite *s = suite_create(name);
  suite_add_tcase(s, tc);
  SRunner *runner = srunner_create(s);
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

#endif

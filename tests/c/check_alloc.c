/* check_alloc.c - growth of arrays, and the error record.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <check.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "support/fail_alloc.h"
#include "tickgauge/alloc.h"

START_TEST(arrays_at_least_double_and_keep_their_items) {
  uint32_t *items = NULL;
  void *data = NULL;
  size_t cap = 0, grown = 0;
  for (uint32_t n = 0; n < 100000; n++) {
    const size_t before = cap;
    ck_assert_int_eq(tg_grow(NULL, &data, &cap, n + 1, sizeof *items), TG_OK);
    ck_assert_uint_ge(cap, n + 1);
    if (cap != before) {
      ck_assert_uint_ge(cap, 2 * before);
      grown++;
    }
    items = data;
    items[n] = n * 7;
  }
  ck_assert_uint_lt(grown, 20);
  for (uint32_t n = 0; n < 100000; n++) ck_assert_uint_eq(items[n], n * 7);
  free(data);
}
END_TEST

START_TEST(sizes_that_do_not_fit_are_an_overflow) {
  static const struct {
    size_t need, item;
  } rows[] = {{SIZE_MAX, 1}, {SIZE_MAX / 2 + 1, 1}, {SIZE_MAX / 8 + 1, 8},
              {1, SIZE_MAX}, {2, SIZE_MAX / 2},     {(size_t)PTRDIFF_MAX / 24 + 1, 24}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    void *data = NULL;
    size_t cap = 0;
    ck_assert_int_eq(tg_grow(NULL, &data, &cap, rows[i].need, rows[i].item), TG_EOVERFLOW);
    ck_assert_ptr_null(data);
    ck_assert_uint_eq(cap, 0);
  }
  void *data = NULL;
  size_t cap = 0;
  ck_assert_int_eq(tg_grow(NULL, &data, &cap, 1, 0), TG_EINVAL);
}
END_TEST

START_TEST(a_refused_growth_changes_nothing) {
  fail_alloc f;
  const tg_alloc *a = fail_alloc_suite(&f, 1, false);
  void *data = NULL;
  size_t cap = 0;
  ck_assert_int_eq(tg_grow(a, &data, &cap, 10, 4), TG_OK);
  memset(data, 0x5a, cap * 4);
  void *const kept = data;
  const size_t kept_cap = cap;
  ck_assert_int_eq(tg_grow(a, &data, &cap, cap + 1, 4), TG_ENOMEM);
  ck_assert_ptr_eq(data, kept);
  ck_assert_uint_eq(cap, kept_cap);
  ck_assert_uint_eq(((uint8_t *)data)[cap * 4 - 1], 0x5a);
  ck_assert_int_eq(tg_grow(a, &data, &cap, cap, 4), TG_OK); /* fits: asks for nothing */
  a->release(a->ctx, data);
  ck_assert_int_eq(f.live, 0);
}
END_TEST

START_TEST(the_default_suite_allocates_and_releases) {
  const tg_alloc *a = tg_alloc_default();
  uint8_t *p = a->resize(a->ctx, NULL, 10);
  ck_assert_ptr_nonnull(p);
  memset(p, 3, 10);
  p = a->resize(a->ctx, p, 1000);
  ck_assert_ptr_nonnull(p);
  ck_assert_uint_eq(p[9], 3);
  a->release(a->ctx, p);
  a->release(a->ctx, NULL);
}
END_TEST

START_TEST(every_status_has_its_own_text) {
  for (int i = 0; i < TG_STATUS_COUNT; i++) {
    const char *text = tg_status_text((tg_status)i);
    ck_assert_ptr_nonnull(text);
    ck_assert_uint_gt(strlen(text), 0);
    ck_assert_str_ne(text, tg_status_text((tg_status)TG_STATUS_COUNT));
    for (int j = 0; j < i; j++) ck_assert_str_ne(text, tg_status_text((tg_status)j));
  }
  ck_assert_str_eq(tg_status_text((tg_status)-1), tg_status_text(TG_STATUS_COUNT));
}
END_TEST

START_TEST(an_error_says_what_and_where) {
  tg_error err;
  char longer[2 * TG_ERROR_TEXT];
  ck_assert_int_eq(tg_fail(&err, TG_ESYNTAX, 12, 3, "expected %s, got %d", "a", 5), TG_ESYNTAX);
  ck_assert_str_eq(err.message, "expected a, got 5");
  ck_assert_uint_eq(err.offset, 12);
  ck_assert_uint_eq(err.line, 3);
  ck_assert_int_eq(err.status, TG_ESYNTAX);
  memset(longer, 'x', sizeof longer - 1);
  longer[sizeof longer - 1] = '\0';
  ck_assert_int_eq(tg_fail(&err, TG_EINVAL, 0, 0, "%s", longer), TG_EINVAL);
  ck_assert_uint_eq(strlen(err.message), TG_ERROR_TEXT - 1);
  ck_assert_int_eq(tg_fail(NULL, TG_ENOMEM, 0, 0, "nobody asks"), TG_ENOMEM);
}
END_TEST

int main(void) {
  TCase *tc = tcase_create("alloc");
  tcase_add_test(tc, arrays_at_least_double_and_keep_their_items);
  tcase_add_test(tc, sizes_that_do_not_fit_are_an_overflow);
  tcase_add_test(tc, a_refused_growth_changes_nothing);
  tcase_add_test(tc, the_default_suite_allocates_and_releases);
  tcase_add_test(tc, every_status_has_its_own_text);
  tcase_add_test(tc, an_error_says_what_and_where);
  Suite *s = suite_create("alloc");
  suite_add_tcase(s, tc);
  SRunner *runner = srunner_create(s);
  srunner_run_all(runner, CK_ENV);
  const int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

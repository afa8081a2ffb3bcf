/* check_result.c - named tables, keys that are equal only once, readings, problems.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "support/fail_alloc.h"
#include "tickgauge/reader.h"
#include "tickgauge/result.h"

static tg_str str(const char *s) { return (tg_str){(const uint8_t *)s, strlen(s)}; }

static tg_key some_key(void) {
  tg_key key;
  tg_key_init(&key);
  key.format = str("tfa");
  key.test = str("rt_instr_susp_deep_serial");
  key.metric = str("wakeup");
  key.unit = str("ns");
  key.cluster = 1;
  key.core = 3;
  key.cpu = TG_NONE;
  key.resolution = 20;
  return key;
}

static void expect_text(const tg_result *r, const char *table, size_t row, const char *column,
                        const char *want) {
  const tg_table *t = tg_result_get(r, table);
  size_t col = 0;
  tg_str got = {NULL, 0};
  ck_assert_ptr_nonnull(t);
  ck_assert_int_eq(tg_table_find(t, column, &col), TG_OK);
  if (want == NULL) {
    ck_assert(!tg_table_text(t, row, col, &got));
  } else {
    ck_assert(tg_table_text(t, row, col, &got));
    ck_assert_uint_eq(got.n, strlen(want));
    ck_assert_mem_eq(got.p, want, got.n);
  }
}

/* A key as a reducer begins with it: no cpu, no clock, and it is accepted as it is. */
START_TEST(a_new_key_has_no_place) {
  tg_key key;
  tg_result *r = NULL;
  uint32_t id = 7;
  tg_key_init(&key);
  ck_assert_uint_eq(key.cluster, TG_NONE);
  ck_assert_uint_eq(key.core, TG_NONE);
  ck_assert_uint_eq(key.cpu, TG_NONE);
  ck_assert_uint_eq(key.resolution, 1);
  ck_assert_uint_eq(key.clock_hz, 0);
  ck_assert_int_eq(tg_result_new(NULL, &r), TG_OK);
  ck_assert_int_eq(tg_result_key(r, &key, &id), TG_OK);
  ck_assert_uint_eq(id, 0);
  ck_assert_uint_eq(tg_table_valid(tg_result_get(r, "keys"))[0],
                    UINT64_C(1) << 11 | UINT64_C(1) << 14 | UINT64_C(1) << 15 | UINT64_C(1) << 16);
  tg_result_free(r);
}
END_TEST

/* Keys of another observation are other keys. */
START_TEST(a_key_says_its_observation) {
  tg_key key;
  tg_result *r = NULL;
  uint32_t run = 7, boot = 7;
  tg_key_init(&key);
  ck_assert_int_eq(tg_result_new(NULL, &r), TG_OK);
  ck_assert_int_eq(tg_result_key(r, &key, &run), TG_OK);
  tg_result_observe(r, TG_OBSERVATION_BOOT);
  ck_assert_int_eq(tg_result_key(r, &key, &boot), TG_OK);
  expect_text(r, "keys", run, "observation", "run");
  expect_text(r, "keys", boot, "observation", "boot");
  ck_assert_uint_ne(run, boot);
  tg_result_free(r);
}
END_TEST

START_TEST(a_table_is_made_once_and_keeps_its_shape) {
  static const tg_column_def defs[] = {{"a", TG_U64, 0}, {"b", TG_TEXT, 0}};
  static const tg_column_def renamed[] = {{"a", TG_U64, 0}, {"c", TG_TEXT, 0}};
  static const tg_column_def retyped[] = {{"a", TG_I64, 0}, {"b", TG_TEXT, 0}};
  static const tg_column_def scaled[] = {{"a", TG_U64, -3}, {"b", TG_TEXT, 0}};
  tg_result *r = NULL;
  tg_table *first = NULL, *again = NULL;
  ck_assert_int_eq(tg_result_new(NULL, &r), TG_OK);
  ck_assert_ptr_null(tg_result_get(r, "calls"));
  ck_assert_int_eq(tg_result_table(r, "calls", defs, 2, &first), TG_OK);
  ck_assert_int_eq(tg_result_table(r, "calls", defs, 2, &again), TG_OK);
  ck_assert_ptr_eq(first, again);
  ck_assert_ptr_eq(tg_result_get(r, "calls"), first);
  again = NULL;
  ck_assert_int_eq(tg_result_table(r, "calls", renamed, 2, &again), TG_EINVAL);
  ck_assert_int_eq(tg_result_table(r, "calls", retyped, 2, &again), TG_EINVAL);
  ck_assert_int_eq(tg_result_table(r, "calls", scaled, 2, &again), TG_EINVAL);
  ck_assert_int_eq(tg_result_table(r, "calls", defs, 1, &again), TG_EINVAL);
  ck_assert_int_eq(tg_result_table(r, "", defs, 2, &again), TG_EINVAL);
  ck_assert_int_eq(tg_result_table(r, "other", defs, 0, &again), TG_EINVAL);
  ck_assert_ptr_null(again);
  ck_assert_int_eq(tg_result_table(r, "tests", renamed, 2, &again), TG_OK);
  ck_assert_uint_eq(tg_result_count(r), 2);
  ck_assert_str_eq(tg_result_name(r, 0), "calls");
  ck_assert_str_eq(tg_result_name(r, 1), "tests");
  ck_assert_ptr_null(tg_result_name(r, 2));
  tg_result_free(r);
}
END_TEST

/* Changes one member of the key after the other; each change must be a key of its own. */
START_TEST(keys_differ_in_every_member) {
  enum { MEMBERS = 17 };
  tg_result *r = NULL;
  ck_assert_int_eq(tg_result_new(NULL, &r), TG_OK);
  for (int pass = 0; pass < 2; pass++) {
    for (uint32_t member = 0; member < MEMBERS; member++) {
      tg_key key = some_key();
      tg_str *const strings[] = {&key.format, &key.test,   &key.metric, &key.operation,
                                 &key.place,  &key.labels, &key.unit,   &key.exchange};
      if (member >= 1 && member <= 8) *strings[member - 1] = str("x");
      if (member == 9) key.cluster = TG_NONE;
      if (member == 10) key.core = 4;
      if (member == 11) key.cpu = 4;
      if (member == 12) key.exp10 = -3;
      if (member == 13) key.clock_hz = 24000000;
      if (member == 14) key.origin = TG_CLOCK_OPTION;
      if (member == 15) key.resolution = 1;
      if (member == 16) key.better = TG_BETTER_HIGHER;
      uint32_t id = 77;
      ck_assert_int_eq(tg_result_key(r, &key, &id), TG_OK);
      ck_assert_uint_eq(id, member);
    }
  }
  ck_assert_uint_eq(tg_table_rows(tg_result_get(r, "keys")), MEMBERS);
  tg_result_free(r);
}
END_TEST

/* Bytes that move from one string to its neighbour make another key. */
START_TEST(strings_of_a_key_do_not_run_together) {
  tg_result *r = NULL;
  tg_key one = some_key(), two = some_key();
  uint32_t a = 0, b = 0;
  one.metric = str("ab");
  one.operation = str("c");
  two.metric = str("a");
  two.operation = str("bc");
  ck_assert_int_eq(tg_result_new(NULL, &r), TG_OK);
  ck_assert_int_eq(tg_result_key(r, &one, &a), TG_OK);
  ck_assert_int_eq(tg_result_key(r, &two, &b), TG_OK);
  ck_assert_uint_ne(a, b);
  tg_result_free(r);
}
END_TEST

START_TEST(a_key_is_shown_as_columns) {
  tg_result *r = NULL;
  uint32_t id = 0, cluster = 0, cpu = 77;
  uint64_t clock_hz = 77, resolution = 0;
  size_t col = 0;
  tg_key key = some_key();
  ck_assert_int_eq(tg_result_new(NULL, &r), TG_OK);
  ck_assert_int_eq(tg_result_key(r, &key, &id), TG_OK);
  const tg_table *t = tg_result_get(r, "keys");
  expect_text(r, "keys", id, "test", "rt_instr_susp_deep_serial");
  expect_text(r, "keys", id, "metric", "wakeup");
  expect_text(r, "keys", id, "operation", NULL);
  expect_text(r, "keys", id, "origin", NULL);
  expect_text(r, "keys", id, "better", "lower");
  ck_assert_int_eq(tg_table_find(t, "cluster", &col), TG_OK);
  ck_assert(tg_table_u32(t, id, col, &cluster));
  ck_assert_uint_eq(cluster, 1);
  ck_assert_int_eq(tg_table_find(t, "cpu", &col), TG_OK);
  ck_assert(!tg_table_u32(t, id, col, &cpu));
  ck_assert_int_eq(tg_table_find(t, "clock_hz", &col), TG_OK);
  ck_assert(!tg_table_u64(t, id, col, &clock_hz));
  ck_assert_int_eq(tg_table_find(t, "resolution", &col), TG_OK);
  ck_assert(tg_table_u64(t, id, col, &resolution));
  ck_assert_uint_eq(resolution, 20);
  key.origin = TG_CLOCK_PLATFORM;
  key.better = TG_BETTER_NONE;
  ck_assert_int_eq(tg_result_key(r, &key, &id), TG_OK);
  expect_text(r, "keys", id, "origin", "platform");
  expect_text(r, "keys", id, "better", "none");
  tg_result_free(r);
}
END_TEST

START_TEST(a_key_without_resolution_is_refused) {
  tg_result *r = NULL;
  tg_key key = some_key();
  uint32_t id = 77;
  key.resolution = 0;
  ck_assert_int_eq(tg_result_new(NULL, &r), TG_OK);
  ck_assert_int_eq(tg_result_key(r, &key, &id), TG_EINVAL);
  key = some_key();
  key.better = (tg_better)3;
  ck_assert_int_eq(tg_result_key(r, &key, &id), TG_EINVAL);
  key = some_key();
  key.origin = (tg_clock_origin)4;
  ck_assert_int_eq(tg_result_key(r, &key, &id), TG_EINVAL);
  ck_assert_uint_eq(id, 77);
  ck_assert_ptr_null(tg_result_get(r, "keys"));
  tg_result_free(r);
}
END_TEST

START_TEST(a_counted_result_keeps_how_many_and_how_wide) {
  const tg_reading rows[] = {{.value = 8, .line = 1, .count = 500, .width = 4},
                             {.value = 9, .line = 2}};
  tg_result *r = NULL;
  uint64_t count = 0;
  int64_t width = -1;
  ck_assert_int_eq(tg_result_new(NULL, &r), TG_OK);
  tg_result_counted(r);
  for (size_t i = 0; i < 2; i++) ck_assert_int_eq(tg_result_reading(r, &rows[i]), TG_OK);
  const tg_table *t = tg_result_get(r, "readings");
  ck_assert(tg_table_u64(t, 0, 8, &count) && count == 500);
  ck_assert(tg_table_i64(t, 0, 9, &width) && width == 4);
  ck_assert(tg_table_u64(t, 1, 8, &count) && count == 1);
  ck_assert(tg_table_i64(t, 1, 9, &width) && width == 0);
  tg_result_free(r);
}
END_TEST

START_TEST(readings_keep_their_place_and_missing_ids) {
  tg_result *r = NULL;
  const tg_reading one = {-5, 12, 345, 0, 1, 2, 3, 4, 0, 0},
                   two = {7, 13, 400, 0, 1, TG_NONE, 0, 0, 0, 0};
  int64_t value = 0;
  uint64_t offset = 0;
  uint32_t boot = 77;
  size_t col = 0;
  ck_assert_int_eq(tg_result_new(NULL, &r), TG_OK);
  ck_assert_int_eq(tg_result_reading(r, &one), TG_OK);
  ck_assert_int_eq(tg_result_reading(r, &two), TG_OK);
  const tg_table *t = tg_result_get(r, "readings");
  ck_assert_uint_eq(tg_table_rows(t), 2);
  ck_assert_int_eq(tg_table_find(t, "value", &col), TG_OK);
  ck_assert(tg_table_i64(t, 0, col, &value));
  ck_assert_int_eq(value, -5);
  ck_assert_int_eq(tg_table_find(t, "offset", &col), TG_OK);
  ck_assert(tg_table_u64(t, 0, col, &offset));
  ck_assert_uint_eq(offset, 345);
  ck_assert_int_eq(tg_table_find(t, "boot", &col), TG_OK);
  ck_assert(tg_table_u32(t, 0, col, &boot));
  ck_assert_uint_eq(boot, 2);
  ck_assert(!tg_table_u32(t, 1, col, &boot));
  tg_result_free(r);
}
END_TEST

START_TEST(problems_say_where_and_why) {
  tg_result *r = NULL;
  uint64_t line = 0;
  uint32_t source = 0;
  ck_assert_int_eq(tg_result_new(NULL, &r), TG_OK);
  ck_assert_int_eq(tg_result_problem(r, 2, 40, 999, "optee.open", "torn", "%d of %s", 3, "four"),
                   TG_OK);
  ck_assert_int_eq(tg_result_problem(r, TG_NONE, 0, 0, NULL, "shape", "no place"), TG_OK);
  const tg_table *t = tg_result_get(r, "problems");
  ck_assert(tg_table_u32(t, 0, 0, &source));
  ck_assert_uint_eq(source, 2);
  ck_assert(tg_table_u64(t, 0, 1 + TG_PROBLEM_LINE, &line));
  ck_assert_uint_eq(line, 40);
  expect_text(r, "problems", 0, "detail", "3 of four");
  expect_text(r, "problems", 0, "rule", "optee.open");
  expect_text(r, "problems", 0, "excerpt", NULL);
  ck_assert(!tg_table_u32(t, 1, 0, &source));
  ck_assert(!tg_table_u64(t, 1, 1 + TG_PROBLEM_LINE, &line));
  expect_text(r, "problems", 1, "rule", NULL);
  expect_text(r, "problems", 1, "reason", "shape");
  tg_result_free(r);
}
END_TEST

/* Rows of a table, 0 where it was not made. */
static size_t rows(const tg_result *r, const char *name) {
  const tg_table *t = tg_result_get(r, name);
  return t == NULL ? 0 : tg_table_rows(t);
}

static tg_status fill(const tg_alloc *a) {
  tg_result *r = NULL;
  tg_status status = tg_result_new(a, &r);
  if (status != TG_OK) return status;
  for (uint32_t i = 0; i < 40 && status == TG_OK; i++) {
    const size_t keys = rows(r, "keys"), readings = rows(r, "readings"),
                 problems = rows(r, "problems");
    tg_key key = some_key();
    tg_reading reading = {0};
    uint32_t id = 77;
    key.core = i;
    if ((status = tg_result_key(r, &key, &id)) == TG_OK) ck_assert_uint_eq(id, i);
    if (status != TG_OK) ck_assert_uint_eq(rows(r, "keys"), keys);
    if (status != TG_OK) ck_assert_uint_eq(id, 77);
    if (status != TG_OK) break;
    if ((status = tg_result_reading(r, &reading)) != TG_OK)
      ck_assert_uint_eq(rows(r, "readings"), readings);
    if (status != TG_OK) break;
    if ((status = tg_result_problem(r, 0, 1, 1, "r", "torn", "%u", i)) != TG_OK)
      ck_assert_uint_eq(rows(r, "problems"), problems);
  }
  tg_result_free(r);
  return status;
}

START_TEST(every_allocation_may_fail) { fail_every_allocation(fill); }
END_TEST

int main(void) {
  TCase *tc = tcase_create("result");
  tcase_add_test(tc, a_new_key_has_no_place);
  tcase_add_test(tc, a_key_says_its_observation);
  tcase_add_test(tc, a_table_is_made_once_and_keeps_its_shape);
  tcase_add_test(tc, keys_differ_in_every_member);
  tcase_add_test(tc, strings_of_a_key_do_not_run_together);
  tcase_add_test(tc, a_key_is_shown_as_columns);
  tcase_add_test(tc, a_key_without_resolution_is_refused);
  tcase_add_test(tc, a_counted_result_keeps_how_many_and_how_wide);
  tcase_add_test(tc, readings_keep_their_place_and_missing_ids);
  tcase_add_test(tc, problems_say_where_and_why);
  tcase_add_test(tc, every_allocation_may_fail);
  Suite *s = suite_create("result");
  suite_add_tcase(s, tc);
  SRunner *runner = srunner_create(s);
  srunner_run_all(runner, CK_ENV);
  const int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

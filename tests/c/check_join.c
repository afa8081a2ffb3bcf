/* check_join.c - two parts of a source, read apart and put together, against one reader.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "support/fail_alloc.h"
#include "tickgauge/tickgauge.h"

static const char *const rows[] = {"row={name:word} ~{n:uint}", NULL};
static const tg_rule_def rules[] = {
    {.name = "t.value", .pattern = "value: {name:word} {n:uint}$", .all = true},
    {.name = "t.short", .pattern = "value: {n:uint}$", .all = true},
    {.name = "t.text", .pattern = "text: {t:text}"},
    {.name = "t.table", .pattern = "table {id:uint} begins", .end = "table ends", .rows = rows},
};
enum { RULES = sizeof rules / sizeof rules[0] };

/* Records, misses, a table of rows with a line that is none, CRLF, colour, no last line end. */
static const char text[] =
    "value: a 1\nnothing\nvalue: b x\nvalue: 7\ntext: one\ntable 1 begins\nr 5\nc 6\nodd\n"
    "table ends\nvalue: c 2\r\nvalue: \x1b[1mb\x1b[0m 3\nvalue: 99999999999999999999\n\n"
    "text: two\nvalue: a 4\ntable 2 begins\nd 1\ntable ends\nvalue: torn\nvalue: a\nvalue: b 5 6\n"
    "text: one\nvalue: d 9";

typedef struct source {
  tg_ruleset *set;
  tg_records *records;
} source;

static tg_status read_part(const tg_alloc *a, const char *p, size_t n, uint64_t max_problems,
                           source *out) {
  const tg_reader_options options = {.keep_near = TG_KEEP_ALL, .max_problems = max_problems};
  tg_reader *reader = NULL;
  *out = (source){NULL, NULL};
  tg_status status = tg_ruleset_new(a, rules, RULES, &out->set, NULL);
  if (status == TG_OK) status = tg_reader_new(a, out->set, &options, &reader, NULL);
  if (status == TG_OK) status = tg_reader_feed(reader, (const uint8_t *)p, n, NULL);
  if (status == TG_OK) status = tg_reader_finish(reader, &out->records, NULL);
  tg_reader_free(reader);
  return status;
}

static void drop(source *s) {
  tg_records_free(s->records);
  tg_ruleset_free(s->set);
}

static void expect_same_table(const tg_table *want, const tg_table *got) {
  ck_assert_uint_eq(tg_table_rows(want), tg_table_rows(got));
  const size_t n = tg_table_rows(want);
  if (n == 0) return;
  ck_assert_mem_eq(tg_table_valid(want), tg_table_valid(got), n * sizeof(uint64_t));
  for (size_t col = 0; col < tg_table_cols(want); col++) {
    tg_column_view a, b;
    ck_assert_int_eq(tg_table_view(want, col, &a), TG_OK);
    ck_assert_int_eq(tg_table_view(got, col, &b), TG_OK);
    ck_assert_str_eq(a.name, b.name);
    ck_assert_mem_eq(a.data, b.data, n * a.item);
    if (a.dict == NULL) continue;
    ck_assert_uint_eq(tg_intern_count(a.dict), tg_intern_count(b.dict));
    for (uint32_t k = 0; k < tg_intern_count(a.dict); k++) {
      const tg_str x = tg_intern_get(a.dict, k), y = tg_intern_get(b.dict, k);
      ck_assert_uint_eq(x.n, y.n);
      ck_assert_mem_eq(x.p, y.p, x.n);
    }
  }
}

static void expect_same_near(const tg_table *want, const tg_table *got) {
  ck_assert_uint_eq(tg_table_rows(want), tg_table_rows(got));
  for (size_t row = 0; row < tg_table_rows(want); row++) {
    uint64_t a = 0, b = 1;
    tg_str x, y;
    ck_assert(tg_table_u64(want, row, TG_NEAR_OFFSET, &a));
    ck_assert(tg_table_u64(got, row, TG_NEAR_OFFSET, &b));
    ck_assert_uint_eq(a, b);
    ck_assert(tg_table_u64(want, row, TG_NEAR_LINE, &a));
    ck_assert(tg_table_u64(got, row, TG_NEAR_LINE, &b));
    ck_assert_uint_eq(a, b);
    ck_assert(tg_table_text(want, row, TG_NEAR_EXCERPT, &x));
    ck_assert(tg_table_text(got, row, TG_NEAR_EXCERPT, &y));
    ck_assert_uint_eq(x.n, y.n);
    ck_assert_mem_eq(x.p, y.p, x.n);
  }
}

static void expect_same(const tg_records *want, const tg_records *got) {
  const tg_source_totals a = tg_records_totals(want), b = tg_records_totals(got);
  ck_assert_mem_eq(&a, &b, sizeof a);
  ck_assert_uint_eq(tg_records_count(want), tg_records_count(got));
  for (size_t i = 0; i < tg_records_count(want); i++) {
    const tg_record x = tg_records_at(want, i), y = tg_records_at(got, i);
    ck_assert_mem_eq(&x, &y, sizeof x);
  }
  for (size_t rule = 0; tg_records_table(want, rule) != NULL; rule++)
    expect_same_table(tg_records_table(want, rule), tg_records_table(got, rule));
  expect_same_table(tg_records_problems(want), tg_records_problems(got));
  expect_same_near(tg_records_near(want), tg_records_near(got));
  for (size_t i = 0; i < tg_records_ledger_count(want); i++) {
    tg_ledger x, y;
    ck_assert_int_eq(tg_records_ledger(want, i, &x), TG_OK);
    ck_assert_int_eq(tg_records_ledger(got, i, &y), TG_OK);
    ck_assert_uint_eq(x.occurrences, y.occurrences);
    ck_assert_uint_eq(x.used, y.used);
    ck_assert_uint_eq(x.problems, y.problems);
    ck_assert_uint_eq(x.further, y.further);
  }
}

/* True where the text up to `cut` ends inside a table. */
static bool inside_table(size_t cut) {
  const char *first = strstr(text, "table 1"), *second = strstr(text, "table 2");
  const char *at = text + cut;
  return (at > first && at < strstr(first, "table ends") + 11) ||
         (at > second && at < strstr(second, "table ends") + 11);
}

START_TEST(parts_cut_at_any_place_join_or_say_that_they_cannot) {
  static const uint64_t limits[] = {0, 2};
  const size_t n = sizeof text - 1;
  size_t joined = 0;
  for (size_t l = 0; l < 2; l++) {
    source whole;
    ck_assert_int_eq(read_part(NULL, text, n, limits[l], &whole), TG_OK);
    ck_assert_uint_gt(tg_records_totals(whole.records).problems, 3);
    for (size_t cut = 1; cut < n; cut++) {
      source a, b;
      const bool has_line = memchr(text + cut, '\n', n - cut) != NULL;
      const bool fits = text[cut - 1] == '\n' && has_line && !inside_table(cut);
      ck_assert_int_eq(read_part(NULL, text, cut, limits[l], &a), TG_OK);
      ck_assert_int_eq(read_part(NULL, text + cut, n - cut, limits[l], &b), TG_OK);
      ck_assert_int_eq(tg_records_append(a.records, b.records), fits ? TG_OK : TG_ECONFLICT);
      if (fits) expect_same(whole.records, a.records);
      joined += fits;
      drop(&a);
      drop(&b);
    }
    drop(&whole);
  }
  ck_assert_uint_gt(joined, 20);
}
END_TEST

START_TEST(three_parts_join_one_after_the_other) {
  const size_t n = sizeof text - 1;
  const size_t one = (size_t)(strstr(text, "value: c 2") - text);
  const size_t two = (size_t)(strstr(text, "value: torn") - text);
  source whole, a, b, c;
  ck_assert_int_eq(read_part(NULL, text, n, 0, &whole), TG_OK);
  ck_assert_int_eq(read_part(NULL, text, one, 0, &a), TG_OK);
  ck_assert_int_eq(read_part(NULL, text + one, two - one, 0, &b), TG_OK);
  ck_assert_int_eq(read_part(NULL, text + two, n - two, 0, &c), TG_OK);
  ck_assert_int_eq(tg_records_append(a.records, b.records), TG_OK);
  ck_assert_int_eq(tg_records_append(a.records, c.records), TG_OK);
  expect_same(whole.records, a.records);
  ck_assert_int_eq(tg_records_append(a.records, a.records), TG_EINVAL);
  drop(&whole);
  drop(&a);
  drop(&b);
  drop(&c);
}
END_TEST

START_TEST(parts_read_with_other_rules_are_refused) {
  static const tg_rule_def other[] = {{.name = "t.value", .pattern = "value: {n:uint}"}};
  source a, b = {NULL, NULL};
  tg_reader *reader = NULL;
  ck_assert_int_eq(read_part(NULL, text, 11, 0, &a), TG_OK);
  ck_assert_int_eq(tg_ruleset_new(NULL, other, 1, &b.set, NULL), TG_OK);
  ck_assert_int_eq(tg_reader_new(NULL, b.set, NULL, &reader, NULL), TG_OK);
  ck_assert_int_eq(tg_reader_finish(reader, &b.records, NULL), TG_OK);
  ck_assert_int_eq(tg_records_append(a.records, b.records), TG_EINVAL);
  tg_reader_free(reader);
  drop(&a);
  drop(&b);
}
END_TEST

static source later;

static tg_status join_parts(const tg_alloc *a) {
  const size_t cut = (size_t)(strstr(text, "value: c 2") - text);
  source first;
  tg_status status = read_part(a, text, cut, 0, &first);
  if (status == TG_OK) {
    const size_t records = tg_records_count(first.records);
    status = tg_records_append(first.records, later.records);
    if (status != TG_OK) {
      size_t found = 0;
      ck_assert_uint_eq(tg_records_count(first.records), records);
      for (size_t r = 0; tg_records_table(first.records, r) != NULL; r++)
        found += tg_table_rows(tg_records_table(first.records, r));
      ck_assert_uint_eq(found, records);
    }
  }
  drop(&first);
  return status;
}

START_TEST(every_allocation_may_fail) {
  const size_t cut = (size_t)(strstr(text, "value: c 2") - text);
  ck_assert_int_eq(read_part(NULL, text + cut, sizeof text - 1 - cut, 0, &later), TG_OK);
  fail_every_allocation(join_parts);
  drop(&later);
}
END_TEST

int main(void) {
  TCase *tc = tcase_create("join");
  tcase_set_timeout(tc, 120);
  tcase_add_test(tc, parts_cut_at_any_place_join_or_say_that_they_cannot);
  tcase_add_test(tc, three_parts_join_one_after_the_other);
  tcase_add_test(tc, parts_read_with_other_rules_are_refused);
  tcase_add_test(tc, every_allocation_may_fail);
  Suite *suite = suite_create("join");
  suite_add_tcase(suite, tc);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_ENV);
  const int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

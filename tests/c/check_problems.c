/* check_problems.c - what a problem and a near miss say: place, reason, excerpt.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "support/text_read.h"

static const tg_rule_def pmf = {.name = "pmf",
                                .pattern = "PMF:cpu {cpu:uint} ~tid {tid:uint} ~ts {ts:uint}"};

START_TEST(a_problem_tells_what_and_where) {
  tg_ruleset *set = tr_rules(&pmf, 1);
  tr_text t = {NULL, 0, 0};
  for (int i = 0; i < 100; i++) tr_add(&t, "x");
  tr_add(&t, "PMF:cpu 0\ttid \x01" "7\tts 1 ");
  for (int i = 0; i < 100; i++) tr_add(&t, "y");
  tr_add(&t, "\n");
  tg_records *r = tr_read(set, (const uint8_t *)t.p, t.n, 0, NULL);
  const tg_table *p = tg_records_problems(r);
  tg_str s = {NULL, 0};
  uint64_t offset = 0;
  ck_assert_uint_eq(tg_table_rows(p), 1);
  ck_assert(tg_table_u64(p, 0, TG_PROBLEM_OFFSET, &offset));
  ck_assert_uint_eq(offset, 114);
  ck_assert(tg_table_text(p, 0, TG_PROBLEM_DETAIL, &s));
  ck_assert_uint_eq(s.n, strlen("expected a digit, found byte 0x01"));
  ck_assert_int_eq(memcmp(s.p, "expected a digit, found byte 0x01", s.n), 0);
  ck_assert(tg_table_text(p, 0, TG_PROBLEM_EXCERPT, &s));
  ck_assert_uint_eq(s.n, 120);
  ck_assert_int_eq(memcmp(s.p, t.p + 54, 120), 0);
  tg_records_free(r);
  free(t.p);
  tg_ruleset_free(set);
}
END_TEST

START_TEST(a_problem_names_the_literal_that_is_missing) {
  tg_ruleset *set = tr_rules(&pmf, 1);
  const char *text = "PMF:cpu 0\ttod 0\tts 1\n";
  tg_records *r = tr_read(set, (const uint8_t *)text, strlen(text), 0, NULL);
  tg_str s = {NULL, 0};
  ck_assert(tg_table_text(tg_records_problems(r), 0, TG_PROBLEM_DETAIL, &s));
  ck_assert_uint_eq(s.n, strlen("expected 'tid', found 'o'"));
  ck_assert_int_eq(memcmp(s.p, "expected 'tid', found 'o'", s.n), 0);
  tg_records_free(r);
  tg_ruleset_free(set);
}
END_TEST

/* For --why: what came near every rule. */
static char *near_text(const tg_rule_def *defs, size_t n, const char *text, bool keep) {
  tg_ruleset *set = tr_rules(defs, n);
  tg_reader_options options = {.keep_near = keep ? TG_KEEP_ALL : TG_KEEP_NONE};
  tg_records *r = tr_read(set, (const uint8_t *)text, strlen(text), 0, &options);
  tr_text t = {NULL, 0, 0};
  tr_add(&t, "%s", "");
  const tg_table *near = tg_records_near(r);
  ck_assert_uint_eq(tg_table_cols(near), TG_NEAR_COLUMNS);
  for (size_t i = 0; i < tg_table_rows(near); i++) {
    tr_row(&t, near, i, 0);
    tr_add(&t, "\n");
  }
  tg_records_free(r);
  tg_ruleset_free(set);
  return t.p;
}

START_TEST(near_misses_are_kept) {
  static const char *const rows[] = {"count=Tests {what:word} ~: {n:uint}",
                                       "total=Total tests~: {n:uint}", NULL};
  static const tg_rule_def defs[] = {
      {.name = "a", .pattern = "fft {n:uint} points: {t:dec} us"},
      {.name = "b", .pattern = "fft {n:uint} {w:word}"},
      {.name = "s", .pattern = "* Summary *", .tag = "Summary", .rows = rows, .end = "^==="},
  };
  const char *text = "fft 5 points\nfft x\nfft 6 points: 7.5 ms\n* Summary *\nTests x\n===\n";
  char *got = near_text(defs, 3, text, true);
  ck_assert_str_eq(got,
                   " rule='a' line=2 offset=17 column=4 reached=4 expected='a digit' "
                   "excerpt='fft x'\n"
                   " rule='a' line=3 offset=37 column=29 reached=18 expected=''us'' taken='b' "
                   "excerpt='fft 6 points: 7.5 ms'\n"
                   " rule='a' line=1 offset=12 column=13 reached=12 expected=''points:'' "
                   "taken='b' excerpt='fft 5 points'\n"
                   " rule='b' line=2 offset=17 column=4 reached=4 expected='a digit' "
                   "excerpt='fft x'\n"
                   " rule='s.count' line=5 offset=59 column=17 reached=7 expected='a blank' "
                   "excerpt='Tests x'\n"
                   " rule='s.total' line=5 offset=53 reached=1 expected=''Total'' "
                   "excerpt='Tests x'\n");
  free(got);
  got = near_text(defs, 3, text, false);
  ck_assert_str_eq(got, "");
  free(got);
}
END_TEST

START_TEST(only_the_nearest_are_kept) {
  static const tg_rule_def def = {.name = "a", .pattern = "fft {n:uint} points"};
  char *got =
      near_text(&def, 1, "fft x\nfft 1\nfft 12\nfft 123\nfft 12345\nfft 1234\nfft y\n", true);
  tr_text want = {NULL, 0, 0};
  static const struct {
    int line, offset, reach;
    const char *text;
  } rows[] = {{5, 36, 9, "12345"}, {6, 45, 8, "1234"}, {4, 26, 7, "123"}, {3, 18, 6, "12"},
              {2, 11, 5, "1"}};
  for (int i = 0; i < 5; i++)
    tr_add(&want, " rule='a' line=%d offset=%d column=12 reached=%d expected='a blank' "
                  "excerpt='fft %s'\n",
           rows[i].line, rows[i].offset, rows[i].reach, rows[i].text);
  ck_assert_str_eq(got, want.p);
  free(want.p);
  free(got);
}
END_TEST

int main(void) {
  TCase *tc = tcase_create("problems");
  tcase_set_timeout(tc, 120);
  tcase_add_test(tc, a_problem_tells_what_and_where);
  tcase_add_test(tc, a_problem_names_the_literal_that_is_missing);
  tcase_add_test(tc, near_misses_are_kept);
  tcase_add_test(tc, only_the_nearest_are_kept);
  Suite *s = suite_create("problems");
  suite_add_tcase(s, tc);
  SRunner *runner = srunner_create(s);
  srunner_run_all(runner, CK_ENV);
  const int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

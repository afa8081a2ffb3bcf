/* check_plain.c - rules whose readings hang together with other lines: head lines, spans, counts.
 * The right values are those of the programs that print such lines, worked out by hand.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "support/reduce_text.h"

static out_text out;

typedef struct outcome {
  tg_ruleset *rules;
  tg_records *records;
  tg_result *result;
} outcome;

static outcome reduce_with(const tg_rule_def *defs, size_t n, const char *text) {
  outcome r = {NULL, NULL, NULL};
  ck_assert_int_eq(tg_formats_ruleset(NULL, defs, n, &r.rules, NULL), TG_OK);
  ck_assert_int_eq(read_text(NULL, r.rules, text, strlen(text), &r.records), TG_OK);
  const tg_records *const sources[] = {r.records};
  const tg_reduce_in in = {.sources = sources, .n_sources = 1};
  ck_assert_int_eq(tg_reduce(NULL, &in, &r.result, NULL), TG_OK);
  return r;
}

static void outcome_free(outcome *r) {
  tg_result_free(r->result);
  tg_records_free(r->records);
  tg_ruleset_free(r->rules);
}

#define EXPECT(r, table, columns, rows) \
  ck_assert_str_eq(rows_of((r).result, table, columns, &out), rows)

/* --- context ---------------------------------------------------------------------------------- */

static const char *const freeze_rows[] = {
    "phase=power: {step:text} of devices complete after {t:dec} msecs", NULL};
static const tg_rule_def section[] = {{.name = "freeze.all",
                                       .pattern = "power: entry ({mode:word})",
                                       .rows = freeze_rows,
                                       .end = "power: exit",
                                       .values = "t",
                                       .unit = "ms"}};

START_TEST(fields_of_the_begin_line_are_labels_of_the_rows) {
  outcome r = reduce_with(section, 1,
                          "power: entry (deep)\n"
                          "power: resume of devices complete after 300.000 msecs\n"
                          "power: exit\n"
                          "power: entry (s2idle)\n"
                          "power: resume of devices complete after 20.000 msecs\n"
                          "power: exit\n");
  EXPECT(r, "keys", "labels unit", "mode=deep step=resume ms\nmode=s2idle step=resume ms\n");
  EXPECT(r, "readings", "key value line", "0 300000000000 2\n1 20000000000 5\n");
  outcome_free(&r);
}
END_TEST

static const tg_rule_def heads[] = {
    {.name = "cb.mode", .pattern = "mode {mode:word} begins"},
    {.name = "cb.phase", .pattern = "phase {phase:text} took {_:dec} msecs", .tag = "phase"},
    {.name = "cb.call",
     .pattern = "call {dev:word}+ took {t:uint} usecs",
     .context = "mode",
     .before = "phase",
     .values = "t",
     .unit = "us"}};

START_TEST(the_line_before_and_the_line_behind_label_a_line) {
  outcome r = reduce_with(heads, 3,
                          "call early+ took 9 usecs\n"
                          "mode deep begins\n"
                          "call a+ took 10 usecs\nphase suspend took 1.5 msecs\n"
                          "call a+ took 20 usecs\nphase noirq suspend took 2.5 msecs\n"
                          "mode disk begins\n"
                          "call a+ took 30 usecs\n");
  EXPECT(r, "keys", "operation labels",
         "call dev=early phase=suspend\n"
         "call dev=a mode=deep phase=suspend\n"
         "call dev=a mode=deep phase=\"noirq suspend\"\n"
         "call dev=a mode=disk\n");
  EXPECT(r, "readings", "key value line", "0 9 1\n1 10 3\n2 20 5\n3 30 8\n");
  outcome_free(&r);
}
END_TEST

static const tg_rule_def sizes[] = {
    {.name = "sort.size", .pattern = "{program:word} ~: size ~: {size:uint}", .tag = "size"},
    {.name = "sort.time",
     .pattern = "{program:word} ~: time ~: ~{t:dec} [[msec]]",
     .tag = "[msec]",
     .context = "size",
     .values = "t",
     .unit = "ms"}};

START_TEST(a_head_line_must_agree_in_the_fields_that_both_have) {
  outcome r = reduce_with(sizes, 2,
                          "gen : size : 1000\nsort : size : 50\n"
                          "gen : time : 900.0 [msec]\nsort : time : 1.0 [msec]\n"
                          "gen : size : 2000\n"
                          "sort : time : 2.0 [msec]\ngen : time : 9.5 [msec]\n");
  EXPECT(r, "keys", "labels",
         "program=gen size=1000\nprogram=sort size=50\nprogram=gen size=2000\n");
  EXPECT(r, "readings", "key value", "0 900000000000\n1 1000000000\n1 2000000000\n2 9500000000\n");
  outcome_free(&r);
}
END_TEST

static const tg_rule_def nested[] = {
    {.name = "n.file", .pattern = "file {file:word}"},
    {.name = "n.part", .pattern = "part {part:word}"},
    {.name = "n.t", .pattern = "took {t:uint}", .context = "file,part", .values = "t"}};

START_TEST(an_outer_head_line_ends_the_inner_ones) {
  outcome r = reduce_with(nested, 3, "file a\npart x\ntook 1\nfile b\ntook 2\npart y\ntook 3\n");
  EXPECT(r, "keys", "labels", "file=a part=x\nfile=b\nfile=b part=y\n");
  outcome_free(&r);
}
END_TEST

/* --- spans ------------------------------------------------------------------------------------ */

static const tg_rule_def spans[] = {
    {.name = "io.op",
     .pattern = "[[{t:dec}]] begin {dev:word}, {how:word}",
     .tag = "begin",
     .until = "[[{t:dec}]] ends {dev:word} err={err:int}",
     .exponents = "t=-6",
     .values = "duration=t",
     .unit = "s"},
    {.name = "io.count",
     .pattern = "in cnt={c:uint} id={id:uint}",
     .until = "out cnt={c:uint} id={id:uint}",
     .values = "c",
     .unit = "tick"}};

START_TEST(a_span_goes_from_one_line_to_the_other_with_equal_fields) {
  outcome r = reduce_with(spans, 2,
                          "[1.000000] begin a, fast\n[1.000100] begin b, slow\n"
                          "[1.000250] ends b err=0\n[1.000500] ends a err=-5\n"
                          "in cnt=18446744073709551610 id=1\nout cnt=18446744073709551615 id=1\n");
  EXPECT(r, "keys", "operation metric labels unit",
         "op duration dev=b err=0 how=slow s\nop duration dev=a err=-5 how=fast s\n"
         "count c id=1 tick\n");
  EXPECT(r, "readings", "key value line", "0 150 3\n1 500 4\n2 5 6\n");
  EXPECT(r, "problems", "line", "");
  outcome_free(&r);
}
END_TEST

START_TEST(a_span_without_an_end_or_a_begin_is_told) {
  outcome r = reduce_with(spans, 2,
                          "[1.000000] ends a err=0\n[1.000001] begin a, x\n[1.000002] begin a, x\n"
                          "[1.000001] ends a err=0\n[2.000000] begin c, x\n");
  EXPECT(r, "problems", "line rule reason",
         "1 io.op.until no-start\n2 io.op no-end\n4 io.op time-back\n5 io.op no-end\n");
  ck_assert_ptr_null(tg_result_get(r.result, "readings"));
  outcome_free(&r);
}
END_TEST

START_TEST(decimals_keep_their_digits_and_state_their_resolution) {
  static const tg_rule_def defs[] = {
      {.name = "a.ms", .pattern = "took {t:dec} ms", .values = "t"},
      {.name = "a.s", .pattern = "lasted {m:uint}m{s:dec}s", .values = "t=60*m+s"},
      {.name = "a.fixed", .pattern = "rate= {r:dec} MB", .values = "r", .exponents = "r=-3"}};
  outcome r = reduce_with(defs, 3,
                          "took 12.5 ms\ntook 300.00 ms\ntook 7 ms\nlasted 1m2s\n"
                          "rate= 1.5 MB\nrate= 1.0625 MB\n");
  EXPECT(r, "keys", "operation exp10 resolution", "ms -9 10000000\ns -9 1000000000\nfixed -3 1\n");
  EXPECT(r, "readings", "value", "12500000000\n300000000000\n7000000000\n62000000000\n1500\n");
  const tg_table *problems = tg_records_problems(r.records);
  tg_str detail = {NULL, 0};
  ck_assert_uint_eq(tg_table_rows(problems), 1);
  ck_assert(tg_table_text(problems, 0, TG_PROBLEM_DETAIL, &detail));
  ck_assert_ptr_nonnull(strstr((const char *)detail.p, "(exponents, rounded)"));
  outcome_free(&r);
}
END_TEST

START_TEST(lines_that_match_without_their_value_are_told) {
  const tg_rule_def def = {
      .name = "x.y", .pattern = "[~{t:dec}] Run {init:word} as", .values = "t"};
  outcome r = reduce_with(&def, 1, "[    1.200000] Run /sbin/init as\n[    1.3] Run /bin/sh as\n");
  EXPECT(r, "problems", "line rule reason detail",
         "1 x.y no-value 2 lines match, and none has its value: the field is missing or nan "
         "([ begins an optional part, [[ is the character)\n");
  outcome_free(&r);
}
END_TEST

START_TEST(a_value_must_be_a_field_of_both_ends) {
  const tg_rule_def bad = {.name = "x.y", .pattern = "begin {t:uint}", .until = "ends {u:uint}",
                           .values = "t"};
  tg_ruleset *rules = NULL;
  tg_error err;
  ck_assert_int_eq(tg_ruleset_new(NULL, &bad, 1, &rules, &err), TG_ESYNTAX);
  ck_assert_str_eq(err.message, "rule 'x.y', until: the end line has no such field 't'");
}
END_TEST

/* --- counts ----------------------------------------------------------------------------------- */

static const char *const hist_rows[] = {"bucket=^{us:uint} {n:text}", "total=^# Total: {sum:text}",
                                        "over=^# Histogram Overflows: {n:text}",
                                        "rest=^# {_:word} Latencies: {_:text}", NULL};
static const tg_rule_def hist[] = {{.name = "hist.run",
                                    .pattern = "# Histogram$",
                                    .tag = "Histogram",
                                    .rows = hist_rows,
                                    .end = "# Histogram Overflow at",
                                    .values = "latency=us",
                                    .count = "n",
                                    .total = "sum",
                                    .columns = "{thread}",
                                    .unit = "us"}};

START_TEST(a_table_of_counts_has_a_reading_for_each_bucket_and_column) {
  outcome r = reduce_with(hist, 1,
                          "# Histogram\n000008 000100\t000000\n000010 004500\t003000\n"
                          "# Total: 000004600 000003001\n# Min Latencies: 00008 00010\n"
                          "# Histogram Overflows: 00002 00000\n# Histogram Overflow at cycle\n");
  EXPECT(r, "keys", "metric labels unit", "latency thread=0 us\nlatency thread=1 us\n");
  EXPECT(r, "readings", "key value count width line",
         "0 8 100 0 2\n0 10 4500 0 3\n1 10 3000 0 3\n0 11 2 9223372036854775807 6\n");
  EXPECT(r, "problems", "line reason detail",
         "4 total column 1 has 3000 readings in the table, its own total says 3001\n");
  outcome_free(&r);
}
END_TEST

static const char *const named_rows[] = {"unit=^# Time unit is {_:word} ({u:word})",
                                         "head=^Index ~{columns:text}", "over=^over: ~{n:text}",
                                         "bucket=^{lo:uint} ~{n:text}", NULL};
static const tg_rule_def named[] = {{.name = "named.run",
                                     .pattern = "# timerlat histogram",
                                     .rows = named_rows,
                                     .end = "^count:",
                                     .values = "lo",
                                     .count = "n",
                                     .columns = "{metric}-{cpu}",
                                     .unit = "{u}"}};

START_TEST(columns_may_have_names_and_the_table_its_unit) {
  outcome r =
      reduce_with(named, 1,
                  "# timerlat histogram\n# Time unit is microseconds (us)\n"
                  "Index   IRQ-000   Thr-011\n0   90   0\n7   9  80\nover:  1  0\ncount:\n");
  EXPECT(r, "keys", "metric cpu labels unit", "IRQ 0 - us\nThr 11 - us\n");
  EXPECT(r, "readings", "key value count", "0 0 90\n0 7 9\n1 7 80\n0 8 1\n");
  outcome_free(&r);
}
END_TEST

static const char *const range_rows[] = {"one=^[[{us:size}]] ~{n:uint} ~|",
                                         "range=^[[{us:size}, {hi:word}) ~{n:uint} ~|", NULL};
static const tg_rule_def ranges[] = {{.name = "bpf.hist",
                                      .pattern = "^@{map:word}:~$",
                                      .tag = "@",
                                      .soft = true,
                                      .rows = range_rows,
                                      .end = "",
                                      .values = "us",
                                      .below = "hi",
                                      .count = "n",
                                      .unit = "us"}};

START_TEST(ranges_of_values_have_a_width) {
  outcome r = reduce_with(ranges, 1,
                          "@usecs:\n[1]  3 |@ |\n[4, 8)  12 |@@ |\n[1K, 2K)  1 | |\n"
                          "[2K, ...)  5 |@ |\n\n");
  EXPECT(r, "keys", "metric labels", "us map=usecs\n");
  EXPECT(r, "readings", "value count width",
         "1 3 0\n4 12 4\n1024 1 1024\n2048 5 9223372036854775807\n");
  outcome_free(&r);
}
END_TEST

/* --- states printed again and again ----------------------------------------------------------- */

static const tg_rule_def state[] = {{.name = "state.line",
                                     .pattern = "T: {thread:uint} C: {c:uint} Max: {max:uint}",
                                     .values = "max",
                                     .grows = "c",
                                     .unit = "us"}};

START_TEST(only_the_last_state_of_each_run_counts) {
  outcome r = reduce_with(state, 1,
                          "T: 0 C: 10 Max: 5\nT: 1 C: 10 Max: 7\nT: 0 C: 20 Max: 6\n"
                          "T: 0 C: 3 Max: 9\nT: 0 C: 30 Max: 11\nT: 1 C: 20 Max: 8\n");
  EXPECT(r, "readings", "key value run line", "0 6 0 3\n0 11 1 5\n1 8 0 6\n");
  outcome_free(&r);
}
END_TEST

/* --- all of them ------------------------------------------------------------------------------ */

START_TEST(a_key_that_names_nothing_is_an_error) {
  static const struct {
    tg_rule_def def;
    const char *message;
  } bad[] = {
      {{.name = "a.b", .pattern = "x {n:uint} foo", .count = "m"},
       "rule 'a.b', count: no field of the template is named 'm'"},
      {{.name = "a.b", .pattern = "x {n:word} foo", .grows = "n"},
       "rule 'a.b', grows: field 'n' is no whole number"},
      {{.name = "a.b", .pattern = "x {n:uint} foo", .before = "c"},
       "rule 'a.b', before: there is no rule 'c'"},
      {{.name = "a.b", .pattern = "x {n:uint} foo", .columns = "{a}{b}"},
       "rule 'a.b', columns: expected names in braces with text between them"},
      {{.name = "a.b", .pattern = "foo", .rows = range_rows, .count = "m"},
       "rule 'a.b', count: no row has this field"},
      {{.name = "a.b", .pattern = "foo", .rows = range_rows, .until = "bar"},
       "rule 'a.b' is a span (until) and a section (rows)"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    tg_ruleset *rules = NULL;
    tg_error err;
    ck_assert_int_ne(tg_ruleset_new(NULL, &bad[i].def, 1, &rules, &err), TG_OK);
    ck_assert_str_eq(err.message, bad[i].message);
  }
}
END_TEST

static tg_records *again;

static tg_status reduce_records_again(const tg_alloc *a) {
  tg_result *r = NULL;
  const tg_records *const sources[] = {again};
  const tg_reduce_in in = {.sources = sources, .n_sources = 1};
  const tg_status status = tg_reduce(a, &in, &r, NULL);
  tg_result_free(r);
  return status;
}

static tg_status compile_again(const tg_alloc *a) {
  tg_rule_def defs[] = {heads[0], heads[1], heads[2], spans[0], hist[0], ranges[0], state[0]};
  tg_ruleset *rules = NULL;
  const tg_status status = tg_ruleset_new(a, defs, 7, &rules, NULL);
  tg_ruleset_free(rules);
  return status;
}

START_TEST(every_allocation_may_fail) {
  const tg_rule_def defs[] = {heads[0], heads[1], heads[2], spans[0], hist[0], ranges[0], state[0]};
  static const char text[] =
      "mode deep begins\ncall a+ took 10 usecs\nphase suspend took 1.5 msecs\n"
      "[1.000000] begin a, fast\n[1.000500] ends a err=-5\n[2.000000] begin a, fast\n"
      "# Histogram\n000008 000100\t000000\n# Total: 1 2\n# Histogram Overflow at\n"
      "@usecs:\n[4, 8)  12 |@@ |\n\nT: 0 C: 10 Max: 5\nT: 0 C: 3 Max: 9\n";
  tg_ruleset *rules = NULL;
  fail_every_allocation(compile_again);
  ck_assert_int_eq(tg_ruleset_new(NULL, defs, 7, &rules, NULL), TG_OK);
  ck_assert_int_eq(read_text(NULL, rules, text, sizeof text - 1, &again), TG_OK);
  fail_every_allocation(reduce_records_again);
  tg_records_free(again);
  tg_ruleset_free(rules);
}
END_TEST

int main(void) {
  Suite *s = suite_create("plain");
  TCase *t = tcase_create("plain");
  tcase_set_timeout(t, 120);
  tcase_add_test(t, fields_of_the_begin_line_are_labels_of_the_rows);
  tcase_add_test(t, the_line_before_and_the_line_behind_label_a_line);
  tcase_add_test(t, a_head_line_must_agree_in_the_fields_that_both_have);
  tcase_add_test(t, an_outer_head_line_ends_the_inner_ones);
  tcase_add_test(t, a_span_goes_from_one_line_to_the_other_with_equal_fields);
  tcase_add_test(t, a_span_without_an_end_or_a_begin_is_told);
  tcase_add_test(t, decimals_keep_their_digits_and_state_their_resolution);
  tcase_add_test(t, lines_that_match_without_their_value_are_told);
  tcase_add_test(t, a_value_must_be_a_field_of_both_ends);
  tcase_add_test(t, a_table_of_counts_has_a_reading_for_each_bucket_and_column);
  tcase_add_test(t, columns_may_have_names_and_the_table_its_unit);
  tcase_add_test(t, ranges_of_values_have_a_width);
  tcase_add_test(t, only_the_last_state_of_each_run_counts);
  tcase_add_test(t, a_key_that_names_nothing_is_an_error);
  tcase_add_test(t, every_allocation_may_fail);
  suite_add_tcase(s, t);
  SRunner *runner = srunner_create(s);
  srunner_run_all(runner, CK_NORMAL);
  const int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? 0 : 1;
}

/* check_template.c - the grammar of line templates: every production, every error and its column.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/fail_alloc.h"
#include "tickgauge/rule.h"

/* Templates that compile, with the tag they get and how many fields they keep. */
static const struct {
  const char *pattern, *tag, *want;
  size_t fields;
} good[] = {
    {"abc", NULL, "abc", 0},
    {"abcdef {n:uint}", NULL, "abcdef", 1},
    {"ab cd efg {n:uint}", NULL, "efg", 1},
    {"ab {n:uint}", "ab", "ab", 1},
    {"[long optional ]tag {n:uint}", NULL, "tag", 1},
    {"{n:uint} bytes copied", "copied", "copied", 1},
    {"a {n:uint}, cntvct=0x{t:hex}", "cntvct=0x", "cntvct=0x", 2},
    {"a {n:uint}, cntvct=0x{t:hex}", "vct", "vct", 2},
    {"NOTICE:  BL1: v{v:text}", "NOTICE:  BL1: v", "NOTICE:  BL1: v", 1},
    {"^abc$", NULL, "abc", 0},
    {"a^b$c", NULL, "a^b$c", 0},
    {"{{{n:uint}}}abc", NULL, "}abc", 1},
    {"[[{c:uint}]] abc", NULL, "abc", 1},
    {"abc~~d", NULL, "abc~d", 0},
    {"LOST[ {k:uint}] EVENTS]]", NULL, "LOST", 1},
    {"abc{_:uint} {_:word}", NULL, "abc", 0},
    {"abc{a:uint} {b:int} {c:hex} {d:HEX} {e:dec} {f:exp} {g:grouped} {h:digit}", NULL, "abc", 8},
    {"abc{a:word} {b:quoted} {c:text} {d:x|yy|zzz}", NULL, "abc", 4},
    {"abc{a:grouped11}{b:grouped11}", NULL, "abc", 2},
    {"abc {n:uint} \xc2\xb5s", NULL, "abc", 1},
};

START_TEST(good_templates_compile) {
  tg_rule_def def = {.name = "r", .pattern = good[_i].pattern, .tag = good[_i].tag};
  tg_ruleset *set = NULL;
  tg_error err = {0};
  tg_status status = tg_ruleset_new(NULL, &def, 1, &set, &err);
  ck_assert_msg(status == TG_OK, "%s: %s", def.pattern, err.message);
  tg_str tag = tg_ruleset_tag(set, 0);
  ck_assert_msg(tag.n == strlen(good[_i].want) && memcmp(tag.p, good[_i].want, tag.n) == 0,
                "%s: tag '%.*s'", def.pattern, (int)tag.n, (const char *)tag.p);
  ck_assert_uint_eq(tg_ruleset_fields(set, 0), good[_i].fields);
  tg_ruleset_free(set);
}
END_TEST

/* Templates that do not: the column of the error and a word of its message. */
static const struct {
  const char *pattern;
  size_t column;
  const char *message;
} bad[] = {
    {"", 0, "empty"},
    {"^", 1, "empty"},
    {"^$", 1, "empty"},
    {"abc{", 3, "not closed"},
    {"abc{n", 3, "not closed"},
    {"abc{n:uint", 3, "not closed"},
    {"abc{:uint}", 4, "name"},
    {"abc{3:uint}", 4, "name"},
    {"abc{n}", 5, "':'"},
    {"abc{n uint}", 5, "':'"},
    {"abc{n:}", 6, "unknown type"},
    {"abc{n:float}", 6, "unknown type"},
    {"abc{n:uints}", 6, "unknown type"},
    {"abc{n:grouped0}", 6, "unknown type"},
    {"abc{n:grouped123}", 6, "unknown type"},
    {"abc{n:a|}", 8, "alternative"},
    {"abc{n:|a}", 6, "alternative"},
    {"abc{n:a||b}", 8, "alternative"},
    {"abc}", 3, "no '{'"},
    {"abc]", 3, "no '['"},
    {"abc[", 3, "not closed"},
    {"abc[ x", 3, "not closed"},
    {"abc[]", 4, "empty"},
    {"abc[a[b]]", 5, "nest"},
    {"abc{n:uint} {n:uint}", 13, "taken"},
    {"abc{line:uint}", 4, "column of every record"},
    {"abc{offset:uint}", 4, "column of every record"},
    {"abc{channel:word}", 4, "column of every record"},
    {"abc{flags:word}", 4, "column of every record"},
    {"abc{section:word}", 4, "column of every record"},
    {"ab {n:uint}", 0, "name a tag"},
    {"{n:uint}", 0, "name a tag"},
    {"[abc]{n:uint}", 0, "name a tag"},
};

START_TEST(bad_templates_name_the_column) {
  tg_rule_def def = {.name = "the.rule", .pattern = bad[_i].pattern};
  tg_ruleset *set = NULL;
  tg_error err = {0};
  ck_assert_int_eq(tg_ruleset_new(NULL, &def, 1, &set, &err), TG_ESYNTAX);
  ck_assert_ptr_null(set);
  ck_assert_msg(err.offset == bad[_i].column, "%s: column %u, %s", bad[_i].pattern,
                (unsigned)err.offset, err.message);
  ck_assert_msg(strstr(err.message, bad[_i].message) != NULL, "%s: %s", bad[_i].pattern,
                err.message);
  ck_assert_msg(strstr(err.message, "the.rule") != NULL, "%s", err.message);
  ck_assert_int_eq(tg_ruleset_new(NULL, &def, 1, &set, NULL), TG_ESYNTAX);
}
END_TEST

/* Rule sets that do not compile for another reason than their template. */
static const char *const row_without_name[] = {"{n:uint}", NULL};
static const char *const row_bad[] = {"r={n:uint", NULL};
static const char *const row_good[] = {"r={n:uint} {w:word}", NULL};
static const struct {
  tg_rule_def def;
  tg_status status;
  const char *message;
} wrong[] = {
    {{.pattern = "abc"}, TG_EINVAL, "no name"},
    {{.name = "", .pattern = "abc"}, TG_EINVAL, "no name"},
    {{.name = "r"}, TG_EINVAL, "no template"},
    {{.name = "r", .pattern = "abc", .tag = "abd"}, TG_ESYNTAX, "the tag 'abd'"},
    {{.name = "r", .pattern = "abc", .tag = ""}, TG_ESYNTAX, "the tag"},
    {{.name = "r", .pattern = "abc[def]", .tag = "def"}, TG_ESYNTAX, "optional"},
    {{.name = "r", .pattern = "abc", .better = (tg_better)7}, TG_EINVAL, "direction"},
    {{.name = "r", .pattern = "abc{n:uint}", .values = "m"}, TG_ESYNTAX, "no field"},
    {{.name = "r", .pattern = "abc{n:uint}", .values = "x=m"}, TG_ESYNTAX, "no field"},
    {{.name = "r", .pattern = "abc{n:uint}", .values = "x="}, TG_ESYNTAX, "expected a field"},
    {{.name = "r", .pattern = "abc{n:uint}", .values = "n n"}, TG_ESYNTAX, "',' or '+'"},
    {{.name = "r", .pattern = "abc{n:uint}", .values = "3*"}, TG_ESYNTAX, "expected a field"},
    {{.name = "r", .pattern = "abc{n:uint}", .values = "3 n"}, TG_ESYNTAX, "'*'"},
    {{.name = "r", .pattern = "abc{n:uint}", .values = "9223372036854775808*n"},
     TG_ESYNTAX,
     "63 bits"},
    {{.name = "r", .pattern = "abc{w:word}", .values = "w"}, TG_ESYNTAX, "no number"},
    {{.name = "r", .pattern = "abc{n:uint}", .unit = "{u}"}, TG_ESYNTAX, "no field"},
    {{.name = "r", .pattern = "abc{n:uint}", .unit = "{n}"}, TG_ESYNTAX, "a number"},
    {{.name = "r", .pattern = "abc{n:uint}", .exponents = "n=-3"}, TG_ESYNTAX, "only dec"},
    {{.name = "r", .pattern = "abc{n:dec}", .exponents = "m=-3"}, TG_ESYNTAX, "no field"},
    {{.name = "r", .pattern = "abc{n:dec}", .exponents = "n"}, TG_ESYNTAX, "'='"},
    {{.name = "r", .pattern = "abc{n:dec}", .exponents = "n=x"}, TG_ESYNTAX, "power of ten"},
    {{.name = "r", .pattern = "abc{n:dec}", .exponents = "n=19"}, TG_ESYNTAX, "power of ten"},
    {{.name = "r", .pattern = "abc{n:dec}", .exponents = "n=1 n=2"}, TG_ESYNTAX, "','"},
    {{.name = "r", .pattern = "abc{a:dec} {b:dec}", .exponents = "a=18,b=-18", .values = "9*a+b"},
     TG_ESYNTAX,
     "too far apart"},
    {{.name = "r", .pattern = "abc", .rows = row_without_name}, TG_EINVAL, "a row"},
    {{.name = "r", .pattern = "abc", .rows = row_bad}, TG_ESYNTAX, "column 0"},
    {{.name = "r", .pattern = "abc", .rows = row_good, .end = "]"}, TG_ESYNTAX, "column 0"},
    {{.name = "r", .pattern = "abc", .rows = row_good, .values = "m"}, TG_ESYNTAX, "no row"},
    {{.name = "r", .pattern = "abc", .rows = row_good, .unit = "{m}"}, TG_ESYNTAX, "no row"},
};

START_TEST(wrong_rules_say_why) {
  tg_ruleset *set = NULL;
  tg_error err = {0};
  tg_status status = tg_ruleset_new(NULL, &wrong[_i].def, 1, &set, &err);
  ck_assert_msg(status == wrong[_i].status, "%d: status %d, %s", _i, (int)status, err.message);
  ck_assert_ptr_null(set);
  ck_assert_msg(strstr(err.message, wrong[_i].message) != NULL, "%d: %s", _i, err.message);
}
END_TEST

START_TEST(limits_are_errors) {
  char *text = malloc(4098);
  ck_assert_ptr_nonnull(text);
  memset(text, 'x', 4097);
  text[4096] = '\0';
  tg_rule_def def = {.name = "r", .pattern = text};
  tg_ruleset *set = NULL;
  tg_error err = {0};
  ck_assert_int_eq(tg_ruleset_new(NULL, &def, 1, &set, &err), TG_OK);
  ck_assert_uint_eq(tg_ruleset_tag(set, 0).n, 4096);
  tg_ruleset_free(set);
  set = NULL;
  text[4096] = 'x';
  text[4097] = '\0';
  ck_assert_int_eq(tg_ruleset_new(NULL, &def, 1, &set, &err), TG_ELIMIT);
  ck_assert_ptr_null(set);
  strcpy(text, "abc");
  for (int i = 0; i < 57; i++) {
    char item[24];
    snprintf(item, sizeof item, " {f%d:uint}", i);
    strcat(text, item);
  }
  ck_assert_int_eq(tg_ruleset_new(NULL, &def, 1, &set, &err), TG_ELIMIT);
  *strstr(text, " {f56:") = '\0';
  ck_assert_int_eq(tg_ruleset_new(NULL, &def, 1, &set, &err), TG_OK);
  ck_assert_uint_eq(tg_ruleset_fields(set, 0), 56);
  tg_ruleset_free(set);
  free(text);
}
END_TEST

START_TEST(too_many_rules_are_an_error) {
  enum { N = 4097 };
  tg_rule_def *defs = calloc(N, sizeof *defs);
  char(*names)[8] = calloc(N, sizeof *names);
  tg_ruleset *set = NULL;
  ck_assert(defs != NULL && names != NULL);
  for (int i = 0; i < N; i++) {
    snprintf(names[i], sizeof names[i], "r%d", i);
    defs[i] = (tg_rule_def){.name = names[i], .pattern = "abc"};
  }
  ck_assert_int_eq(tg_ruleset_new(NULL, defs, N, &set, NULL), TG_ELIMIT);
  ck_assert_int_eq(tg_ruleset_new(NULL, defs, N - 1, &set, NULL), TG_OK);
  ck_assert_uint_eq(tg_ruleset_count(set), N - 1);
  tg_ruleset_free(set);
  free(names);
  free(defs);
}
END_TEST

START_TEST(names_are_unique_and_found) {
  tg_rule_def defs[] = {{.name = "a", .pattern = "abc"}, {.name = "b", .pattern = "abc"}};
  tg_ruleset *set = NULL;
  size_t rule = 9;
  tg_error err = {0};
  ck_assert_int_eq(tg_ruleset_new(NULL, defs, 2, &set, &err), TG_OK);
  ck_assert_int_eq(tg_ruleset_find(set, "b", &rule), TG_OK);
  ck_assert_uint_eq(rule, 1);
  ck_assert_int_eq(tg_ruleset_find(set, "c", &rule), TG_ENOTFOUND);
  ck_assert_str_eq(tg_ruleset_name(set, 0), "a");
  ck_assert_ptr_null(tg_ruleset_name(set, 2));
  tg_ruleset_free(set);
  defs[1].name = "a";
  set = NULL;
  ck_assert_int_eq(tg_ruleset_new(NULL, defs, 2, &set, &err), TG_EINVAL);
  ck_assert_ptr_nonnull(strstr(err.message, "two rules"));
}
END_TEST

START_TEST(an_empty_set_is_a_set) {
  tg_ruleset *set = NULL;
  ck_assert_int_eq(tg_ruleset_new(NULL, NULL, 0, &set, NULL), TG_OK);
  ck_assert_uint_eq(tg_ruleset_count(set), 0);
  tg_ruleset_free(set);
  ck_assert_int_eq(tg_ruleset_new(NULL, NULL, 1, &set, NULL), TG_EINVAL);
  ck_assert_int_eq(tg_ruleset_new(NULL, NULL, 0, NULL, NULL), TG_EINVAL);
}
END_TEST

START_TEST(values_are_sums_at_one_power_of_ten) {
  tg_rule_def def = {.name = "r",
                     .pattern = "took {m:uint} min {s:dec} s {x:dec} of {u:word}",
                     .values = "total = 60*m + s, x",
                     .unit = "{u}",
                     .exponents = "s=-6, x=2",
                     .better = TG_BETTER_HIGHER};
  tg_ruleset *set = NULL;
  tg_value_info v;
  tg_field_info f;
  size_t field = 0;
  ck_assert_int_eq(tg_ruleset_new(NULL, &def, 1, &set, NULL), TG_OK);
  ck_assert_uint_eq(tg_ruleset_values(set, 0), 2);
  ck_assert_int_eq(tg_ruleset_value(set, 0, 0, &v), TG_OK);
  ck_assert_str_eq(v.metric, "total");
  ck_assert_uint_eq(v.n_terms, 2);
  ck_assert_int_eq(v.exp10, -6);
  ck_assert_int_eq(v.terms[0].factor, 60000000); /* 60 s in 10^-6 s */
  ck_assert_uint_eq(v.terms[0].field, 0);
  ck_assert_int_eq(v.terms[1].factor, 1);
  ck_assert_uint_eq(v.terms[1].field, 1);
  ck_assert_int_eq(tg_ruleset_value(set, 0, 1, &v), TG_OK);
  ck_assert_str_eq(v.metric, "x");
  ck_assert_int_eq(v.exp10, 2);
  ck_assert_int_eq(tg_ruleset_value(set, 0, 2, &v), TG_ENOTFOUND);
  ck_assert_ptr_null(tg_ruleset_unit(set, 0, &field));
  ck_assert_uint_eq(field, 3);
  ck_assert_int_eq(tg_ruleset_better(set, 0), TG_BETTER_HIGHER);
  ck_assert_int_eq(tg_ruleset_field(set, 0, 1, &f), TG_OK);
  ck_assert_str_eq(f.name, "s");
  ck_assert_int_eq(f.type, TG_FIELD_DEC);
  ck_assert_int_eq(f.exp10, -6);
  ck_assert_int_eq(tg_ruleset_field(set, 0, 4, &f), TG_ENOTFOUND);
  tg_ruleset_free(set);
}
END_TEST

START_TEST(rows_are_rules_of_their_own) {
  static const char *const rows[] = {"a={x:uint} A", "b={x:uint} {y:uint} B", NULL};
  tg_rule_def def = {
      .name = "s", .pattern = "table {t:word}", .rows = rows, .end = "", .values = "x,y"};
  tg_ruleset *set = NULL;
  ck_assert_int_eq(tg_ruleset_new(NULL, &def, 1, &set, NULL), TG_OK);
  ck_assert_uint_eq(tg_ruleset_count(set), 3);
  ck_assert_str_eq(tg_ruleset_name(set, 1), "s.a");
  ck_assert_str_eq(tg_ruleset_name(set, 2), "s.b");
  ck_assert_ptr_null(tg_ruleset_tag(set, 1).p);
  ck_assert_uint_eq(tg_ruleset_values(set, 0), 0);
  ck_assert_uint_eq(tg_ruleset_values(set, 1), 1);
  ck_assert_uint_eq(tg_ruleset_values(set, 2), 2);
  tg_ruleset_free(set);
}
END_TEST

static tg_status compile_all(const tg_alloc *a) {
  static const char *const rows[] = {"a={x:uint} A", "b={w:word}, {y:a|\xc2\xb5|c} B", NULL};
  tg_rule_def defs[] = {
      {.name = "s", .pattern = "table {t:word}", .rows = rows, .end = "--$", .values = "x"},
      {.name = "p",
       .pattern = "^abc {m:uint} min[ {s:dec} s] {q:quoted}~{u:text} end{{",
       .tag = "abc",
       .values = "v=60*m+s",
       .unit = "{u}",
       .exponents = "s=-6"},
      {.name = "q", .pattern = "abc {m:uint}", .unit = "us"},
  };
  tg_ruleset *set = NULL;
  tg_status status = tg_ruleset_new(a, defs, 3, &set, NULL);
  if (status != TG_OK) ck_assert_ptr_null(set);
  tg_ruleset_free(set);
  return status;
}

START_TEST(every_allocation_may_fail) { fail_every_allocation(compile_all); }
END_TEST

#define LENGTH(a) ((int)(sizeof(a) / sizeof((a)[0])))

int main(void) {
  TCase *tc = tcase_create("template");
  tcase_add_loop_test(tc, good_templates_compile, 0, LENGTH(good));
  tcase_add_loop_test(tc, bad_templates_name_the_column, 0, LENGTH(bad));
  tcase_add_loop_test(tc, wrong_rules_say_why, 0, LENGTH(wrong));
  tcase_add_test(tc, limits_are_errors);
  tcase_add_test(tc, too_many_rules_are_an_error);
  tcase_add_test(tc, names_are_unique_and_found);
  tcase_add_test(tc, an_empty_set_is_a_set);
  tcase_add_test(tc, values_are_sums_at_one_power_of_ten);
  tcase_add_test(tc, rows_are_rules_of_their_own);
  tcase_add_test(tc, every_allocation_may_fail);
  Suite *s = suite_create("template");
  suite_add_tcase(s, tc);
  SRunner *runner = srunner_create(s);
  srunner_run_all(runner, CK_ENV);
  const int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

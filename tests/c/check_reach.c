/* check_reach.c - each built-in rule takes a line that is made of its own template: none stands in
 * the
 * shadow of another one. SPDX-License-Identifier: BSD-3-Clause */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text/ruleset.h"
#include "tickgauge/format.h"
#include "tickgauge/reader.h"
#include "tickgauge/table.h"

enum { MOST = 8192 };

typedef struct line {
  char p[MOST];
  size_t n;
} line;

static void put(line *to, const char *text, size_t n) {
  ck_assert_uint_lt(to->n + n, MOST);
  memcpy(to->p + to->n, text, n);
  to->n += n;
}

static void put_text(line *to, const char *text) { put(to, text, strlen(text)); }

/* A number as its type is printed, at the right end of its column. */
static void put_number(line *to, const tg_inst *in) {
  static const char *const text[] = {
      [TG_FIELD_UINT] = "7",        [TG_FIELD_INT] = "-3",       [TG_FIELD_HEX] = "1f",
      [TG_FIELD_HEXANY] = "1F",     [TG_FIELD_DEC] = "1.500000", [TG_FIELD_EXP] = "1.5",
      [TG_FIELD_GROUPED] = "1,234", [TG_FIELD_SIZE] = "5K",      [TG_FIELD_DURATION] = "1min 2.5s",
      [TG_FIELD_DIGIT] = "7",
  };
  const size_t n = strlen(text[in->type]);
  for (size_t i = n; i < in->width; i++) put_text(to, " ");
  put_text(to, text[in->type]);
}

static void put_class(line *to, const tg_bytes *set) {
  for (unsigned c = 'a'; c < 256; c++) {
    if (!tg_bytes_has(set, (uint8_t)c)) continue;
    to->p[to->n++] = (char)c;
    return;
  }
  for (unsigned c = 0; c < 'a'; c++) {
    if (!tg_bytes_has(set, (uint8_t)c)) continue;
    to->p[to->n++] = (char)c;
    return;
  }
}

/* A line that the template describes, with its optional parts or without them. */
static void make_line(line *to, const tg_template *t, bool options) {
  for (const tg_inst *in = t->inst; in->op != TG_OP_MATCH; in++) {
    switch (in->op) {
      case TG_OP_LITERAL:
      case TG_OP_CHOICE:
        put(to, (const char *)t->pool + t->alts[in->alt].at, t->alts[in->alt].n);
        break;
      case TG_OP_BLANK:
        put_text(to, " ");
        break;
      case TG_OP_NUMBER:
        put_number(to, in);
        break;
      case TG_OP_WORD:
        put_text(to, "word");
        break;
      case TG_OP_TEXT:
        put_text(to, "some text");
        break;
      case TG_OP_QUOTED:
        put_text(to, "\"said\"");
        break;
      case TG_OP_CLASS:
        put_class(to, &t->sets[in->set]);
        break;
      case TG_OP_OPTION:
        if (!options) in = t->inst + in->skip - 1;
        break;
      default: /* blanks that may be missing, and the end */
        break;
    }
  }
  put_text(to, "\n");
}

/* Whether the rule has a record of the line; a row stands behind the line that begins its section.
 */
static bool is_read(tg_ruleset *set, size_t rule, bool options) {
  static line text;
  const tg_rule *it = &set->rules[rule];
  tg_reader *reader = NULL;
  tg_records *records = NULL;
  text.n = 0;
  if (it->tag == TG_NOT) {
    make_line(&text, set->rules[set->sections[it->section].begin].t, false);
    put_text(&text, it->t->begin ? "" : " "); /* as tables print rows */
  }
  make_line(&text, it->t, options);
  ck_assert_int_eq(tg_reader_new(NULL, set, NULL, &reader, NULL), TG_OK);
  ck_assert_int_eq(tg_reader_feed(reader, (const uint8_t *)text.p, text.n, NULL), TG_OK);
  ck_assert_int_eq(tg_reader_finish(reader, &records, NULL), TG_OK);
  const bool found = tg_table_rows(tg_records_table(records, rule)) > 0;
  if (!found) printf("%s: not read: %.*s", it->name, (int)text.n, text.p);
  tg_records_free(records);
  tg_reader_free(reader);
  return found;
}

START_TEST(each_rule_reads_its_own_line) {
  tg_ruleset *set = NULL;
  size_t missed = 0;
  ck_assert_int_eq(tg_formats_ruleset(NULL, NULL, 0, &set, NULL), TG_OK);
  for (size_t i = 0; i < set->n_rules; i++)
    missed += !is_read(set, i, false) && !is_read(set, i, true);
  tg_ruleset_free(set);
  ck_assert_uint_eq(missed, 0);
}
END_TEST

int main(void) {
  Suite *s = suite_create("reach");
  TCase *c = tcase_create("reach");
  tcase_add_test(c, each_rule_reads_its_own_line);
  suite_add_tcase(s, c);
  SRunner *r = srunner_create(s);
  srunner_run_all(r, CK_NORMAL);
  const int failed = srunner_ntests_failed(r);
  srunner_free(r);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

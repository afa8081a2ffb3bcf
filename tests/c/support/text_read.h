/* text_read.h - for tests of the text engine: reads bytes with rules and writes the result down as
 * text, one line per record, problem and tag. SPDX-License-Identifier: BSD-3-Clause */
#ifndef TESTS_TEXT_READ_H
#define TESTS_TEXT_READ_H

#include <check.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tickgauge/reader.h"

typedef struct tr_text {
  char *p;
  size_t n, cap;
} tr_text;

__attribute__((format(printf, 2, 3))) static inline void tr_add(tr_text *t, const char *format,
                                                                ...) {
  va_list args;
  va_start(args, format);
  int need = vsnprintf(NULL, 0, format, args);
  va_end(args);
  ck_assert_int_ge(need, 0);
  if (t->n + (size_t)need + 1 > t->cap) {
    t->cap = 2 * (t->n + (size_t)need + 1);
    t->p = realloc(t->p, t->cap);
    ck_assert_ptr_nonnull(t->p);
  }
  va_start(args, format);
  vsnprintf(t->p + t->n, t->cap - t->n, format, args);
  va_end(args);
  t->n += (size_t)need;
}

/* Bytes that are no plain ASCII as \xNN. */
static inline void tr_bytes(tr_text *t, tg_str s) {
  for (size_t i = 0; i < s.n; i++) {
    bool plain = s.p[i] >= 0x20 && s.p[i] < 0x7f && s.p[i] != '\\';
    if (plain) tr_add(t, "%c", s.p[i]);
    if (!plain) tr_add(t, "\\x%02x", (unsigned)s.p[i]);
  }
}

/* " name=value" of every value the row has, from column `from` on. */
static inline void tr_row(tr_text *t, const tg_table *table, size_t row, size_t from) {
  for (size_t c = from; c < tg_table_cols(table); c++) {
    tg_column_view view;
    uint64_t u;
    int64_t i;
    uint32_t w;
    tg_str s;
    ck_assert_int_eq(tg_table_view(table, c, &view), TG_OK);
    if (tg_table_u64(table, row, c, &u)) tr_add(t, " %s=%" PRIu64, view.name, u);
    if (tg_table_i64(table, row, c, &i)) tr_add(t, " %s=%" PRId64, view.name, i);
    if (tg_table_i64(table, row, c, &i) && view.exp10 != 0) tr_add(t, "e%d", view.exp10);
    if (tg_table_u32(table, row, c, &w) && w > 0) tr_add(t, " %s=%" PRIu32, view.name, w);
    if (!tg_table_text(table, row, c, &s)) continue;
    tr_add(t, " %s='", view.name);
    tr_bytes(t, s);
    tr_add(t, "'");
  }
}

/* "name LINE@OFFSET field=value ..." */
static inline void tr_records(tr_text *t, const tg_records *r) {
  for (size_t i = 0; i < tg_records_count(r); i++) {
    tg_record at = tg_records_at(r, i);
    tr_add(t, "%s %" PRIu64 "@%" PRIu64, tg_ruleset_name(tg_records_rules(r), at.rule), at.line,
           at.offset);
    tr_row(t, tg_records_table(r, at.rule), at.row, TG_REC_CHANNEL);
    tr_add(t, "\n");
  }
}

/* "! LINE@OFFSET rule reason" */
static inline void tr_problems(tr_text *t, const tg_records *r) {
  const tg_table *p = tg_records_problems(r);
  for (size_t i = 0; i < tg_table_rows(p); i++) {
    uint64_t line = 0;
    uint64_t offset = 0;
    tg_str rule = {(const uint8_t *)"-", 1};
    tg_str reason = {NULL, 0};
    ck_assert(tg_table_u64(p, i, TG_PROBLEM_LINE, &line));
    ck_assert(tg_table_u64(p, i, TG_PROBLEM_OFFSET, &offset));
    ck_assert(tg_table_text(p, i, TG_PROBLEM_REASON, &reason));
    (void)tg_table_text(p, i, TG_PROBLEM_RULE, &rule);
    tr_add(t, "! %" PRIu64 "@%" PRIu64 " %.*s %.*s\n", line, offset, (int)rule.n,
           (const char *)rule.p, (int)reason.n, (const char *)reason.p);
  }
}

/* "# tag occurrences = used + problems + further", tags without occurrence left out. */
static inline void tr_ledger(tr_text *t, const tg_records *r) {
  for (size_t i = 0; i < tg_records_ledger_count(r); i++) {
    tg_ledger l;
    ck_assert_int_eq(tg_records_ledger(r, i, &l), TG_OK);
    ck_assert_uint_eq(l.occurrences, l.used + l.problems + l.further);
    if (l.occurrences == 0) continue;
    tr_add(t, "# %.*s %" PRIu64 " = %" PRIu64 " + %" PRIu64 " + %" PRIu64 "\n", (int)l.tag.n,
           (const char *)l.tag.p, l.occurrences, l.used, l.problems, l.further);
  }
}

static inline tg_ruleset *tr_rules(const tg_rule_def *defs, size_t n) {
  tg_error err = {0};
  tg_ruleset *set = NULL;
  tg_status status = tg_ruleset_new(NULL, defs, n, &set, &err);
  ck_assert_msg(status == TG_OK, "%s", err.message);
  return set;
}

/* Reads the bytes, `step` at a time (0: all at once). */
static inline tg_records *tr_read(tg_ruleset *set, const uint8_t *p, size_t n, size_t step,
                                  const tg_reader_options *options) {
  tg_reader *reader = NULL;
  tg_records *records = NULL;
  ck_assert_int_eq(tg_reader_new(NULL, set, options, &reader, NULL), TG_OK);
  if (step == 0) step = n > 0 ? n : 1;
  for (size_t at = 0; at < n; at += step) {
    /* A copy of its own, so that a sanitizer sees a step beyond the bytes that were handed over. */
    size_t part = n - at < step ? n - at : step;
    uint8_t *copy = malloc(part);
    ck_assert_ptr_nonnull(copy);
    memcpy(copy, p + at, part);
    ck_assert_int_eq(tg_reader_feed(reader, copy, part, NULL), TG_OK);
    free(copy);
  }
  ck_assert_int_eq(tg_reader_finish(reader, &records, NULL), TG_OK);
  tg_reader_free(reader);
  return records;
}

/* The whole result as text; the caller frees it. */
static inline char *tr_all(tg_ruleset *set, const uint8_t *p, size_t n, size_t step,
                           const tg_reader_options *options) {
  tg_records *records = tr_read(set, p, n, step, options);
  tr_text t = {NULL, 0, 0};
  tr_add(&t, "%s", "");
  tr_records(&t, records);
  tr_problems(&t, records);
  tr_ledger(&t, records);
  tg_source_totals totals = tg_records_totals(records);
  ck_assert_uint_eq(totals.bytes, n);
  ck_assert_uint_eq(totals.records, tg_records_count(records));
  tg_records_free(records);
  return t.p;
}

/* Records and problems as text, the same however the bytes are cut; the caller frees it. */
static inline char *tr_cut(tg_ruleset *set, const uint8_t *p, size_t n,
                           const tg_reader_options *options) {
  static const size_t steps[] = {1, 2, 3, 5, 64};
  char *whole = tr_all(set, p, n, 0, options);
  for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
    char *cut = tr_all(set, p, n, steps[i], options);
    ck_assert_msg(strcmp(whole, cut) == 0, "cut at %zu:\n%s--- whole:\n%s", steps[i], cut, whole);
    free(cut);
  }
  return whole;
}

#endif

/* reduce_text.h - text in, result out: what the tests of formats share.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TESTS_REDUCE_TEXT_H
#define TESTS_REDUCE_TEXT_H

#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "support/fail_alloc.h"
#include "tickgauge/tickgauge.h"

/* Reads one text with a rule set. */
static inline tg_status read_text(const tg_alloc *a, tg_ruleset *rules, const char *text, size_t n,
                                  tg_records **out) {
  tg_reader *reader = NULL;
  tg_status st = tg_reader_new(a, rules, NULL, &reader, NULL);
  if (st == TG_OK) st = tg_reader_feed(reader, (const uint8_t *)text, n, NULL);
  if (st == TG_OK) st = tg_reader_finish(reader, out, NULL);
  tg_reader_free(reader);
  return st;
}

/* Up to four texts, read with the built-in rules. */
typedef struct parsed {
  tg_ruleset *rules;
  tg_records *records[4];
  size_t n;
} parsed;

static inline void parsed_free(parsed *p) {
  for (size_t i = 0; i < p->n; i++) tg_records_free(p->records[i]);
  tg_ruleset_free(p->rules);
}

/* `texts` ends with NULL. Nothing to free after a failure. */
static inline tg_status parse_texts(const tg_alloc *a, const char *const *texts, parsed *p) {
  memset(p, 0, sizeof *p);
  tg_status st = tg_formats_ruleset(a, NULL, 0, &p->rules, NULL);
  while (st == TG_OK && p->n < 4 && texts[p->n] != NULL) {
    st = read_text(a, p->rules, texts[p->n], strlen(texts[p->n]), &p->records[p->n]);
    if (st == TG_OK) p->n++;
  }
  if (st != TG_OK) parsed_free(p);
  return st;
}

/* Reduces what was read; several texts are consoles of the same boots. */
static inline tg_status reduce_parsed(const tg_alloc *a, const parsed *p,
                                      const tg_reduce_options *options, tg_result **out) {
  const tg_records *sources[4] = {NULL, NULL, NULL, NULL};
  tg_reduce_options o = {0};
  for (size_t i = 0; i < p->n; i++) sources[i] = p->records[i];
  if (options != NULL) o = *options;
  o.together = p->n > 1;
  const tg_reduce_in in = {.sources = sources, .n_sources = p->n, .options = &o};
  return tg_reduce(a, &in, out, NULL);
}

static parsed reduced_again; /* what fail_every_reduction() reduces, again and again */

static inline tg_status reduce_again(const tg_alloc *a) {
  tg_result *r = NULL;
  const tg_status st = reduce_parsed(a, &reduced_again, NULL, &r);
  tg_result_free(r);
  return st;
}

/* Every allocation of the reduction of `texts` refused, for good and once. */
static inline void fail_every_reduction(const char *const *texts) {
  ck_assert_int_eq(parse_texts(NULL, texts, &reduced_again), TG_OK);
  fail_every_allocation(reduce_again);
  parsed_free(&reduced_again);
}

/* Both steps at once. */
static inline tg_status reduce_texts(const tg_alloc *a, const char *const *texts,
                                     const tg_reduce_options *options, tg_result **out) {
  parsed p;
  tg_status st = parse_texts(a, texts, &p);
  if (st != TG_OK) return st;
  st = reduce_parsed(a, &p, options, out);
  parsed_free(&p);
  return st;
}

/* The result of one text that must reduce without an error. */
static inline tg_result *reduced(const char *text, const tg_reduce_options *options) {
  const char *const texts[] = {text, NULL};
  tg_result *r = NULL;
  ck_assert_int_eq(reduce_texts(NULL, texts, options, &r), TG_OK);
  return r;
}

/* Text that grows as by printf, cut at its end. */
typedef struct out_text {
  char p[16384];
  size_t n;
} out_text;

__attribute__((format(printf, 2, 3))) static inline void put(out_text *t, const char *format, ...) {
  va_list args;
  va_start(args, format);
  int n = vsnprintf(t->p + t->n, sizeof t->p - t->n, format, args);
  va_end(args);
  ck_assert_int_ge(n, 0);
  t->n += (size_t)n;
  ck_assert_uint_lt(t->n, sizeof t->p);
}

/* Appends one cell; "-" for a missing value. */
static inline void put_cell(out_text *out, const tg_table *t, size_t row, const char *column) {
  size_t col = 0;
  uint64_t u64 = 0;
  int64_t i64 = 0;
  uint32_t u32 = 0;
  bool b = false;
  tg_str s;
  ck_assert_msg(tg_table_find(t, column, &col) == TG_OK, "no column %s", column);
  if (tg_table_u64(t, row, col, &u64)) {
    put(out, "%llu", (unsigned long long)u64);
  } else if (tg_table_i64(t, row, col, &i64)) {
    put(out, "%lld", (long long)i64);
  } else if (tg_table_u32(t, row, col, &u32)) {
    put(out, "%u", u32);
  } else if (tg_table_bool(t, row, col, &b)) {
    put(out, "%s", b ? "yes" : "no");
  } else if (tg_table_text(t, row, col, &s)) {
    put(out, "%.*s", (int)s.n, (const char *)s.p);
  } else {
    put(out, "-");
  }
}

/* The rows of a table, columns given as "a b c", cells with a blank, rows with a line end
 * between. A table that nobody made has no rows. */
static inline const char *rows_of(const tg_result *r, const char *table, const char *columns,
                                  out_text *out) {
  const tg_table *t = tg_result_get(r, table);
  out->n = 0;
  out->p[0] = '\0';
  for (size_t row = 0; t != NULL && row < tg_table_rows(t); row++) {
    const char *c = columns;
    while (*c != '\0') {
      char name[64];
      size_t n = strcspn(c, " ");
      ck_assert_uint_lt(n, sizeof name);
      memcpy(name, c, n);
      name[n] = '\0';
      if (c != columns) put(out, " ");
      put_cell(out, t, row, name);
      c += n + (c[n] == ' ');
    }
    put(out, "\n");
  }
  return out->p;
}

#endif

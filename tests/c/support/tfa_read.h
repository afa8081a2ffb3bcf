/* tfa_read.h - console bytes to a result, and its TF-A tables as short text for comparisons.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TESTS_TFA_READ_H
#define TESTS_TFA_READ_H

#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tickgauge/tickgauge.h"

/* Three boards: Juno, N1SDP with the labels TFTF printed before b54b524f, and one of which only
 * the clock is known. */
static inline const tg_topology *test_boards(void) {
  static const tg_place juno[] = {{0, 0}, {0, 1}, {1, 0}, {1, 1}, {1, 2}, {1, 3}};
  static const tg_place juno_linear[] = {{1, 0}, {1, 1}, {1, 2}, {1, 3}, {0, 0}, {0, 1}};
  static const tg_place n1_printed[] = {{0, 0}, {1, 0}, {0, 0}, {1, 0}};
  static const tg_place n1[] = {{0, 0}, {0, 1}, {1, 0}, {1, 1}};
  static const tg_label_map n1_maps[] = {{n1_printed, n1, 4}};
  static const char *const virt_names[] = {"virt", "qemu_virt"};
  static const tg_platform platforms[] = {
      {.name = "juno", .cpus = juno, .n_cpus = 6, .linear = juno_linear, .n_linear = 6,
       .clock_hz = 50000000},
      {.name = "n1sdp", .cpus = n1, .n_cpus = 4, .maps = n1_maps, .n_maps = 1,
       .clock_hz = 50000000},
      {.name = "emulated", .names = virt_names, .n_names = 2, .clock_hz = 62500000},
  };
  static const tg_topology topology = {platforms, 3};
  return &topology;
}

/* What one source gave. Freed with test_log_free. */
typedef struct test_log {
  tg_ruleset *rules;
  tg_records *records;
  tg_result *result;
} test_log;

static inline void test_log_free(test_log *log) {
  tg_result_free(log->result);
  tg_records_free(log->records);
  tg_ruleset_free(log->rules);
  memset(log, 0, sizeof *log);
}

/* Reads and reduces `n` bytes fed in pieces of `piece` (0: at once). */
static inline tg_status test_read(const tg_alloc *a, const void *bytes, size_t n, size_t piece,
                                  const tg_reduce_options *options, test_log *log) {
  const uint8_t *p = bytes;
  tg_reader *reader = NULL;
  tg_reduce_options o = {0};
  if (options != NULL) o = *options;
  if (o.topology == NULL) o.topology = test_boards();
  memset(log, 0, sizeof *log);
  tg_status st = tg_formats_ruleset(NULL, NULL, 0, &log->rules, NULL);
  if (st == TG_OK) st = tg_reader_new(NULL, log->rules, NULL, &reader, NULL);
  for (size_t at = 0; at < n && st == TG_OK;) {
    size_t k = piece == 0 || piece > n - at ? n - at : piece;
    st = tg_reader_feed(reader, p + at, k, NULL);
    at += k;
  }
  if (st == TG_OK) st = tg_reader_finish(reader, &log->records, NULL);
  tg_reader_free(reader);
  const tg_records *const sources[] = {log->records};
  const tg_reduce_in in = {.sources = sources, .n_sources = 1, .options = &o};
  if (st == TG_OK) st = tg_reduce(a, &in, &log->result, NULL);
  if (st != TG_OK) test_log_free(log);
  return st;
}

/* Text that grows as by printf. */
typedef struct test_text {
  char *p;
  size_t n, cap;
} test_text;

__attribute__((format(printf, 2, 3))) static inline void put(test_text *t, const char *format,
                                                             ...) {
  char line[512];
  va_list args;
  va_start(args, format);
  int k = vsnprintf(line, sizeof line, format, args);
  va_end(args);
  ck_assert(k >= 0 && (size_t)k < sizeof line);
  if (t->n + (size_t)k + 1 > t->cap) {
    t->cap = 2 * (t->n + (size_t)k + 1);
    t->p = realloc(t->p, t->cap);
    ck_assert_ptr_nonnull(t->p);
  }
  memcpy(t->p + t->n, line, (size_t)k + 1);
  t->n += (size_t)k;
}

static inline size_t column(const tg_table *t, const char *name) {
  size_t col = 0;
  ck_assert_msg(tg_table_find(t, name, &col) == TG_OK, "no column %s", name);
  return col;
}

/* A cell of any integer or text column; "-" where it is missing. */
static inline void put_cell(test_text *out, const tg_table *t, size_t row, const char *name) {
  size_t col = column(t, name);
  uint64_t u = 0;
  int64_t i = 0;
  uint32_t w = 0;
  bool b = false;
  tg_str s = {NULL, 0};
  if (tg_table_u64(t, row, col, &u)) {
    put(out, "%llu", (unsigned long long)u);
  } else if (tg_table_i64(t, row, col, &i)) {
    put(out, "%lld", (long long)i);
  } else if (tg_table_u32(t, row, col, &w)) {
    put(out, "%u", (unsigned)w);
  } else if (tg_table_bool(t, row, col, &b)) {
    put(out, "%s", b ? "yes" : "no");
  } else if (tg_table_text(t, row, col, &s)) {
    put(out, "%.*s", (int)s.n, (const char *)s.p);
  } else {
    put(out, "-");
  }
}

/* The rows of a table, the named columns ('|' between), one row a line. */
static inline char *rows_of(const tg_table *t, const char *const *names) {
  test_text out = {0};
  put(&out, "%s", "");
  for (size_t r = 0; t != NULL && r < tg_table_rows(t); r++) {
    for (size_t k = 0; names[k] != NULL; k++) {
      if (k > 0) put(&out, "|");
      put_cell(&out, t, r, names[k]);
    }
    put(&out, "\n");
  }
  return out.p;
}

/* The readings of the format "tftf" in ns, one record a line:
 * "boot test cluster,core values @line"; "#n" for the n-th cpu of a block. */
static inline char *readings_of(const tg_result *r) {
  const tg_table *t = tg_result_get(r, "readings");
  const tg_table *keys = tg_result_get(r, "keys");
  test_text out = {0};
  uint64_t last = UINT64_MAX;
  put(&out, "%s", "");
  for (size_t row = 0; t != NULL && row < tg_table_rows(t); row++) {
    uint32_t key = 0;
    uint32_t place = 0;
    uint64_t offset = 0;
    uint64_t hz = 0;
    int64_t value = 0;
    tg_str format = {NULL, 0};
    ck_assert(tg_table_u32(t, row, column(t, "key"), &key));
    ck_assert(tg_table_u64(t, row, column(t, "offset"), &offset));
    ck_assert(tg_table_i64(t, row, column(t, "value"), &value));
    (void)tg_table_text(keys, key, column(keys, "format"), &format);
    if (format.n != 4 || memcmp(format.p, "tftf", 4) != 0) continue;
    if (offset != last) {
      if (last != UINT64_MAX) put(&out, "\n");
      put_cell(&out, t, row, "boot");
      put(&out, " ");
      put_cell(&out, keys, key, "test");
      if (tg_table_u32(keys, key, column(keys, "cluster"), &place)) {
        put(&out, " %u,", (unsigned)place);
        put_cell(&out, keys, key, "core");
      } else {
        put(&out, " #");
        put_cell(&out, keys, key, "cpu");
      }
      put(&out, " @");
      put_cell(&out, t, row, "line");
      last = offset;
    }
    if (tg_table_u64(keys, key, column(keys, "clock_hz"), &hz) && hz > 0) {
      ck_assert_int_eq(tg_ticks_to_ns(value, hz, &value), TG_OK);
    }
    put(&out, " %lld", (long long)value);
  }
  if (last != UINT64_MAX) put(&out, "\n");
  return out.p;
}

/* The problems of reader and reducers: "line rule reason". */
static inline char *problems_of(const test_log *log) {
  test_text out = {0};
  const tg_table *tables[] = {tg_records_problems(log->records),
                              tg_result_get(log->result, "problems")};
  put(&out, "%s", "");
  for (size_t i = 0; i < 2; i++) {
    for (size_t r = 0; tables[i] != NULL && r < tg_table_rows(tables[i]); r++) {
      put_cell(&out, tables[i], r, "line");
      put(&out, " ");
      put_cell(&out, tables[i], r, "rule");
      put(&out, " ");
      put_cell(&out, tables[i], r, "reason");
      put(&out, "\n");
    }
  }
  return out.p;
}

static inline void expect_text(char *got, const char *want, const char *what) {
  ck_assert_msg(strcmp(got, want) == 0, "%s: got\n%swanted\n%s", what, got, want);
  free(got);
}

/* Every occurrence of a tag is accounted for. */
static inline void expect_ledger(const test_log *log) {
  for (size_t i = 0; i < tg_records_ledger_count(log->records); i++) {
    tg_ledger l;
    ck_assert_int_eq(tg_records_ledger(log->records, i, &l), TG_OK);
    ck_assert_uint_eq(l.occurrences, l.used + l.problems + l.further);
  }
}

#endif

/* fuzz.h - what the fuzz targets share. Each target is a function of bytes that aborts when a
 * promise is broken; libFuzzer calls it with what it finds (fuzz_main.c), check_fuzz with the
 * seeds,
 * the kept finds and simple changes of them. SPDX-License-Identifier: BSD-3-Clause */
#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/formats.h"
#include "tickgauge/reader.h"
#include "tickgauge/table.h"

/* Every target: NAME is the function fuzz_NAME. Each registered format is one. */
#define FUZZ_TARGETS(X)                                                                        \
  TG_FORMATS(X)                                                                                \
  X(template) X(scanner) X(reader) X(transport) X(formats) X(quick) X(csv) X(vcd) X(dump)      \
  X(legacy)

#define FUZZ_DECLARE(name) int fuzz_##name(const uint8_t *p, size_t n);
FUZZ_TARGETS(FUZZ_DECLARE)

#define FUZZ_CHECK(cond)                                                        \
  do {                                                                          \
    if (!(cond)) {                                                              \
      fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__, #cond);        \
      abort();                                                                  \
    }                                                                           \
  } while (0)

/* An input to start from. */
typedef struct fuzz_seed {
  const char *target;
  const char *bytes;
  size_t n;
} fuzz_seed;
extern const fuzz_seed fuzz_seeds[];
extern const size_t fuzz_n_seeds;

/* Both tables hold the same, texts compared as texts. */
static inline void fuzz_same_table(const tg_table *a, const tg_table *b) {
  FUZZ_CHECK((a == NULL) == (b == NULL));
  if (a == NULL) return;
  const size_t rows = tg_table_rows(a);
  FUZZ_CHECK(rows == tg_table_rows(b) && tg_table_cols(a) == tg_table_cols(b));
  if (rows > 0)
    FUZZ_CHECK(memcmp(tg_table_valid(a), tg_table_valid(b), rows * sizeof(uint64_t)) == 0);
  for (size_t c = 0; c < tg_table_cols(a); c++) {
    tg_column_view x;
    tg_column_view y;
    FUZZ_CHECK(tg_table_view(a, c, &x) == TG_OK && tg_table_view(b, c, &y) == TG_OK);
    FUZZ_CHECK(x.type == y.type && x.item == y.item);
    if (x.type != TG_TEXT) {
      FUZZ_CHECK(rows == 0 || memcmp(x.data, y.data, rows * x.item) == 0);
      continue;
    }
    for (size_t i = 0; i < rows; i++) {
      tg_str s = {NULL, 0};
      tg_str t = {NULL, 0};
      (void)tg_table_text(a, i, c, &s);
      (void)tg_table_text(b, i, c, &t);
      FUZZ_CHECK(s.n == t.n && (s.n == 0 || memcmp(s.p, t.p, s.n) == 0));
    }
  }
}

static inline void fuzz_same_records(const tg_records *a, const tg_records *b) {
  const size_t n = tg_records_count(a);
  FUZZ_CHECK(n == tg_records_count(b));
  for (size_t i = 0; i < n; i++) {
    const tg_record x = tg_records_at(a, i);
    const tg_record y = tg_records_at(b, i);
    FUZZ_CHECK(x.line == y.line && x.offset == y.offset && x.rule == y.rule && x.row == y.row);
  }
  const size_t rules = tg_ruleset_count(tg_records_rules(a));
  for (size_t i = 0; i < rules; i++)
    fuzz_same_table(tg_records_table(a, i), tg_records_table(b, i));
  fuzz_same_table(tg_records_problems(a), tg_records_problems(b));
  fuzz_same_table(tg_records_near(a), tg_records_near(b));
  for (size_t i = 0; i < tg_records_ledger_count(a); i++) {
    tg_ledger x;
    tg_ledger y;
    FUZZ_CHECK(tg_records_ledger(a, i, &x) == TG_OK && tg_records_ledger(b, i, &y) == TG_OK);
    FUZZ_CHECK(x.occurrences == y.occurrences && x.used == y.used && x.problems == y.problems);
    FUZZ_CHECK(x.used + x.problems <= x.occurrences && x.unread == y.unread);
    FUZZ_CHECK(x.further == x.occurrences - x.used - x.problems);
  }
  const tg_source_totals s = tg_records_totals(a);
  const tg_source_totals t = tg_records_totals(b);
  FUZZ_CHECK(s.bytes == t.bytes && s.lines == t.lines);
  FUZZ_CHECK(s.records == n && t.records == n && s.problems == t.problems);
}

/* Line ends before `at`, counted a second time: line feeds, or runs of carriage returns in a source
 * without one. */
static inline uint64_t fuzz_lines_before(const uint8_t *p, size_t n, uint64_t at) {
  const bool feeds = n > 0 && memchr(p, '\n', n) != NULL;
  uint64_t lines = 0;
  for (uint64_t i = 0; i < at; i++)
    lines += feeds ? p[i] == '\n' : p[i] == '\r' && (i + 1 == n || p[i + 1] != '\r');
  return lines;
}

/* Every record and every problem lies where it says: its line is the one its offset is in. */
static inline void fuzz_places(const tg_records *r, const uint8_t *p, size_t n) {
  for (size_t i = 0; i < tg_records_count(r); i++) {
    const tg_record x = tg_records_at(r, i);
    FUZZ_CHECK(x.offset < n && x.line == 1 + fuzz_lines_before(p, n, x.offset));
  }
  const tg_table *problems = tg_records_problems(r);
  for (size_t i = 0; i < tg_table_rows(problems); i++) {
    uint64_t line = 0;
    uint64_t offset = 0;
    if (!tg_table_u64(problems, i, TG_PROBLEM_LINE, &line)) continue;
    if (!tg_table_u64(problems, i, TG_PROBLEM_OFFSET, &offset)) continue;
    FUZZ_CHECK(offset <= n && line == 1 + fuzz_lines_before(p, n, offset));
  }
  const bool open = n > 0 && p[n - 1] != '\n' && (p[n - 1] != '\r' || memchr(p, '\n', n) != NULL);
  FUZZ_CHECK(tg_records_totals(r).lines == fuzz_lines_before(p, n, n) + open);
  FUZZ_CHECK(tg_records_totals(r).bytes == n);
}

/* Reads the bytes in pieces of `step` bytes (0: whole), each in a block of its own. */
static inline tg_records *fuzz_read(tg_ruleset *set, const uint8_t *p, size_t n, size_t step,
                                    const tg_reader_options *options) {
  tg_reader *reader = NULL;
  tg_records *records = NULL;
  FUZZ_CHECK(tg_reader_new(NULL, set, options, &reader, NULL) == TG_OK);
  if (step == 0) step = n > 0 ? n : 1;
  for (size_t at = 0; at < n; at += step) {
    const size_t part = n - at < step ? n - at : step;
    uint8_t *copy = malloc(part);
    FUZZ_CHECK(copy != NULL);
    memcpy(copy, p + at, part);
    FUZZ_CHECK(tg_reader_feed(reader, copy, part, NULL) == TG_OK);
    free(copy);
  }
  FUZZ_CHECK(tg_reader_finish(reader, &records, NULL) == TG_OK);
  tg_reader_free(reader);
  return records;
}

#endif

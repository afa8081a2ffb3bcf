/* records.h - the tables, problems and counts of a source. SPDX-License-Identifier: BSD-3-Clause */
#ifndef TICKGAUGE_TEXT_RECORDS_H
#define TICKGAUGE_TEXT_RECORDS_H

#include "ruleset.h"
#include "tickgauge/reader.h"
#include "transport.h"

/* The reasons of problems: stable words, explained in CONTRIBUTING.md. */
#define TG_REASON_CUT "cut"             /* the line ends before the template does */
#define TG_REASON_MISMATCH "mismatch"   /* other text stands where a literal or field must be */
#define TG_REASON_NUMBER "number"       /* a number was expected */
#define TG_REASON_EDGE "edge"           /* a number touches a letter, a digit, '_' or '.' */
#define TG_REASON_OVERFLOW "overflow"   /* a number does not fit its column */
#define TG_REASON_PRECISION "precision" /* a fraction has more digits than its column keeps */
#define TG_REASON_LABEL "label"         /* a text of a record beyond the bound */
#define TG_REASON_LONG "long"           /* a line beyond the bound: read in pieces */
#define TG_REASON_ROW "row"             /* a line of a section that is none of its rows */
#define TG_REASON_OPEN "open"           /* a section without its end */
#define TG_REASON_MIXED "mixed"         /* a shared UART's line that could not be put together */

typedef struct tg_place {
  uint32_t rule, row;
} tg_place;

typedef struct tg_tally {
  uint64_t occurrences, used, problems, unread;
} tg_tally;

struct tg_records {
  tg_alloc alloc;
  const tg_ruleset *rules;
  tg_table **tables; /* one per rule */
  size_t n_tables;
  tg_table *problems;
  tg_table *near;
  tg_place *order;
  size_t n_order, cap_order;
  tg_tally *tally; /* one per tag */
  size_t n_tally;
  uint8_t *digits; /* TG_TEMPLATE_FIELDS a rule: the most digits behind a point that a field had */
  uint64_t max_records, max_problems, max_label;
  tg_source_totals totals;
  uint32_t sections;  /* that were opened */
  uint64_t lines_with_hits, quick_lines; /* that the reader looked at; that took the quick way */
  bool ends_plainly;  /* behind an LF, outside sections: a later part may follow */
  bool has_lines;     /* there was an LF */
  tg_copy folded; /* a text whose micro signs were made one */
};

tg_status tg_records_new(const tg_alloc *a, const tg_ruleset *rules,
                         const tg_reader_options *options, tg_records **out);

/* A match of a rule on a line. */
typedef struct tg_found {
  const tg_line *line;
  const tg_span *fields;
  size_t rule, start, end, tag_pos;
  uint32_t section; /* 0 = none */
  uint64_t known; /* bit i: field i was read already, its u64 or i64 is numbers[i]; no span is */
  const uint64_t *numbers;
} tg_found;

/* Adds the record, or, where a value does not fit, a problem. TG_OK (`*added` tells which),
 * TG_ENOMEM, TG_ELIMIT. */
tg_status tg_records_add(tg_records *r, const tg_found *f, bool *added);

/* Adds a problem; `tag` or `rule` TG_NOT: none. Beyond the limit it is only counted.
 * TG_OK, TG_ENOMEM. */
typedef struct tg_trouble {
  const tg_line *line;
  size_t at; /* in the line */
  size_t rule, tag;
  const char *reason, *expected;
  uint32_t item; /* of the rule's template, for "the literal" */
} tg_trouble;
tg_status tg_records_problem(tg_records *r, const tg_trouble *t);

/* Puts the entries of one line, from entry `from` on, in the order of the source. TG_OK,
 * TG_ENOMEM. */
tg_status tg_records_sort(tg_records *r, size_t from);

/* All records so far lie in line 1: the source has no line end but lone CRs until here. */
void tg_records_first_line(tg_records *r);

#endif

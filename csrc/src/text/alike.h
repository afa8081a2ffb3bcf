/* alike.h - lines that differ from an earlier one in their digits only: their tags stand where its
 * tags stood, so that no search is needed. SPDX-License-Identifier: BSD-3-Clause */
#ifndef TICKGAUGE_TEXT_ALIKE_H
#define TICKGAUGE_TEXT_ALIKE_H

#include "ruleset.h"
#include "scanner.h"

enum {
  TG_ALIKE_PATTERNS = 8,
  TG_ALIKE_TEXT = 256, /* the longest line of a pattern, with its line end */
  TG_ALIKE_PARTS = 20,
  TG_ALIKE_HITS = 8,
  TG_ALIKE_FIELDS = 12
};

/* A place in a line of the pattern: so many bytes behind the begin of a part. */
typedef struct tg_alike_place {
  uint8_t part, at;
} tg_alike_place;

typedef enum tg_alike_kind {
  TG_ALIKE_SPAN,    /* a text, from `from` to `to` */
  TG_ALIKE_RUN,     /* the run behind part `from.part` */
  TG_ALIKE_HEX,     /* the same, of decimal digits that are read as hexadecimal ones */
  TG_ALIKE_DECIMAL, /* the same, or two with a point between them, in 10^-`kept` */
  TG_ALIKE_NOTHING  /* lies in an optional part that is not there */
} tg_alike_kind;

/* A kept field of the rule. */
typedef struct tg_alike_field {
  uint8_t kind; /* tg_alike_kind */
  uint8_t kept; /* digits behind the point */
  bool point;
  tg_alike_place from, to;
} tg_alike_field;

/* A line without its digits. Runs of decimal digits are cut out, and runs of hexadecimal digits
 * behind "0x" or in long words; the text between them is a part. */
typedef struct tg_pattern {
  uint8_t text[TG_ALIKE_TEXT];  /* the parts one after the other, the line end included */
  uint16_t end[TG_ALIKE_PARTS]; /* of each part in `text` */
  uint32_t hex;                 /* bit i: the run behind part i is hexadecimal */
  uint32_t needle[TG_ALIKE_HITS];
  tg_alike_place hits[TG_ALIKE_HITS]; /* where the tags begin */
  uint8_t n_parts, n_hits, n_fields;  /* n_parts 0: no pattern */
  uint8_t next;                       /* the pattern that came after this one last time */
  bool direct;                        /* its record is known from the runs alone: */
  uint32_t rule;
  tg_alike_field fields[TG_ALIKE_FIELDS];
  tg_alike_place start, stop; /* of the match */
} tg_pattern;

typedef struct tg_alike {
  tg_pattern patterns[TG_ALIKE_PATTERNS];
  uint8_t last, oldest; /* the pattern of the last line; the one to be replaced */
  int credit;           /* is spent on learning and earned by lines that are found */
  uint32_t lines;       /* that were searched */
  unsigned live;        /* windows that stay small because lines were found */
} tg_alike;

/* The record of a line that was searched; rule TG_NOT: none. */
typedef struct tg_alike_record {
  size_t rule, start, end;
  const tg_span *fields; /* those of its texts */
} tg_alike_record;

/* A line that was found by its pattern. */
typedef struct tg_alike_line {
  const tg_pattern *pattern;
  size_t size;                     /* with its LF */
  size_t starts[TG_ALIKE_PARTS];   /* of its parts */
  uint64_t values[TG_ALIKE_PARTS]; /* of the runs behind them */
  bool fits;                       /* all values fit, and no hexadecimal digit is a capital */
} tg_alike_line;

static inline size_t tg_alike_at(const tg_alike_line *line, tg_alike_place place) {
  return line->starts[place.part] + place.at;
}

void tg_alike_init(tg_alike *a);

/* A line with its LF, [p, p+n), that was searched: `hits` are all its tags, `record` came of it.
 * Its pattern is kept if tags can stand nowhere else in a line like it. */
void tg_alike_learn(tg_alike *a, const tg_ruleset *set, const uint8_t *p, size_t n,
                    const tg_hit *hits, size_t n_hits, const tg_alike_record *record);

/* Whether [p, p+n) begins with a line like one before. */
bool tg_alike_find(tg_alike *a, const uint8_t *p, size_t n, tg_alike_line *line);

/* The values of a line whose pattern is `direct`: a span for each text, a number for each bit of
 * `known`. False where one does not fit. */
bool tg_alike_values(const tg_alike_line *line, tg_span *spans, uint64_t *numbers, uint64_t *known);

static inline bool tg_is_hex(uint8_t c) {
  return tg_is_digit(c) || (uint8_t)((c | 0x20) - 'a') <= 'f' - 'a';
}

/* alike_bind.c */

/* The place of byte `at` of the line; false where it lies in a run of digits. */
bool tg_alike_place_of(const tg_pattern *a, const size_t *starts, size_t at, tg_alike_place *place);

/* True if `word` can lie over a byte of a hexadecimal run, whose digits are letters as well. */
bool tg_alike_overlaps(const tg_pattern *a, tg_str word);

/* Finds out whether the record of a line of this pattern is known without a match: it has one tag,
 * and neither the rule that took it nor one that is asked before it looks at digits. */
void tg_alike_bind(tg_pattern *a, const tg_ruleset *set, const size_t *starts, const uint8_t *p,
                   size_t n, const tg_alike_record *record);

/* True where the witness of the rules stands in [p, p+n) without its tag before it (witness.c). */
bool tg_has_bare_witness(const tg_ruleset *set, const uint8_t *p, size_t n);

#endif

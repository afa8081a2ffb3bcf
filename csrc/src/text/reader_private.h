/* reader_private.h - the parts of the reader. SPDX-License-Identifier: BSD-3-Clause */
#ifndef TICKGAUGE_TEXT_READER_PRIVATE_H
#define TICKGAUGE_TEXT_READER_PRIVATE_H

#include "near.h"
#include "records.h"

/* The nearest miss of a tag on the line at hand. */
typedef struct tg_miss_of_tag {
  uint64_t serial; /* of the line; another one: not seen on this line */
  uint64_t group;  /* of the line on which its rules of policy all were tried */
  size_t at, reach, rule;
  const char *reason, *expected;
  uint32_t item;
  bool have;
} tg_miss_of_tag;

struct tg_reader {
  tg_alloc alloc;
  tg_ruleset *rules;
  tg_reader_options options;
  tg_records *out;
  tg_status failed;
  bool finished;

  /* line assembly */
  uint8_t *carry; /* the line that the last feed left open */
  size_t n_carry, cap_carry;
  uint64_t offset;   /* of the first byte not yet processed */
  uint64_t lines;    /* LFs before it */
  uint64_t returns;  /* lone CRs before it, counted while there was no LF */
  bool after_return; /* the window before ended with a CR */
  bool ended;        /* the last byte was an LF or a CR */
  bool ended_lf;     /* ... an LF */
  bool at_end;       /* the source has ended: what is read now is its last line */
  bool long_told;    /* the line at hand was already reported as too long */
  tg_hits hits;

  /* one line */
  tg_line usual;    /* the quick way's: all but its bytes, place and number is as for plain text */
  tg_hits own_hits; /* of a text that a transport made */
  tg_copy unwrapped, plain;
  uint64_t serial;
  tg_miss_of_tag *misses; /* one per tag */
  uint32_t *cand;         /* rules to try, ascending */
  size_t n_cand, cap_cand;
  size_t *places; /* of one tag on the line */
  size_t n_places, cap_places;
  tg_trouble *missed; /* occurrences without a record, policy all */
  size_t n_missed, cap_missed;
  tg_span *taken; /* what records of policy all used of the line, ascending */
  size_t n_taken, cap_taken;
  tg_span *fresh; /* the same of the tag at hand */
  size_t n_fresh, cap_fresh;
  tg_match *match; /* one per rule of a tag */
  tg_span *spans;  /* TG_TEMPLATE_FIELDS per match */

  tg_near_store *near; /* NULL without keep_near */
  bool noting;         /* what misses now is to be kept */

  /* section */
  size_t section; /* TG_NOT: outside */
  uint32_t section_number, sections_seen;
  uint32_t misfits; /* lines in a row that fit nothing */
  tg_copy section_channel;
  bool section_has_channel;

  /* shared UART */
  struct tg_uart *uart;
};

/* The line that the next byte is in: LFs, or lone CRs while there was no LF. */
static inline uint64_t tg_line_at_hand(const tg_reader *r) {
  return (r->lines > 0 ? r->lines : r->returns) + 1;
}

/* [p, p+n) are whole lines; the last one may lack its LF where the source ends. */
tg_status tg_reader_block(tg_reader *r, const uint8_t *p, size_t n);

/* A piece [p, p+n) of a line beyond the bound; `ended`: a lone CR ends it. */
tg_status tg_reader_long(tg_reader *r, const uint8_t *p, size_t n, uint64_t offset, bool ended);

/* Where a line that is longer than the bound is cut: behind its last lone CR, which is a line end
 * (`*ended`), else behind a blank or a NUL near the bound, else at the bound. */
size_t tg_long_cut(const uint8_t *p, size_t bound, bool *ended);

/* One line [p, p+n) without its LF; hits are places in it. */
tg_status tg_reader_line(tg_reader *r, const uint8_t *p, size_t n, uint64_t offset, bool ended,
                         const tg_hit *hits, size_t n_hits);

/* The usual case of it: a line that ends, with one hit, outside sections, no shared UART,
 * straight rules, no miss worth to be kept. Not `*done`: it is another case, and nothing happened. */
tg_status tg_reader_quick(tg_reader *r, const uint8_t *p, size_t n, uint64_t offset,
                          const tg_hit *hit, bool *done);

/* One text of a transport. `hits` NULL: scanned here. */
tg_status tg_reader_text(tg_reader *r, tg_line line, const tg_hit *hits, size_t n_hits);

/* What the rules made, or would make, of a text. */
typedef struct tg_outcome {
  size_t records, misses;
} tg_outcome;
/* Finds the records of a line; with `commit` adds them, and if there are none the problems.
 * TG_OK, TG_ENOMEM, TG_ELIMIT. */
tg_status tg_reader_try(tg_reader *r, const tg_line *line, const tg_hit *hits, size_t n_hits,
                        bool commit, tg_outcome *out);
/* Adds a problem for every tag of the line (which gave no record). */
tg_status tg_reader_misses(tg_reader *r, const tg_line *line, const tg_hit *hits, size_t n_hits);

/* The line inside a section. `*done`: nothing is left to do with it. */
tg_status tg_section_line(tg_reader *r, const tg_line *line, const tg_hit *hits, size_t n_hits,
                          bool *done);
/* A record of the begin line was added. */
tg_status tg_section_open(tg_reader *r, const tg_line *line, size_t section);
/* The source ends. */
tg_status tg_section_finish(tg_reader *r);
/* True where the section at hand looks at lines of this channel. */
bool tg_section_wants(const tg_reader *r, const tg_line *line);

/* Where a miss of the matcher becomes a reason. */
const char *tg_reason_of(const tg_match *m);

#endif

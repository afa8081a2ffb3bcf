/* state.h - the state of a reader, and its steps. SPDX-License-Identifier: BSD-3-Clause */
#ifndef TICKGAUGE_TEXT_STATE_H
#define TICKGAUGE_TEXT_STATE_H

#include "alike.h"
#include "near.h"
#include "records.h"

/* The nearest miss of a tag on the line at hand. */
typedef struct tg_miss_of_tag {
  uint64_t serial; /* of the line; another one: not seen on this line */
  uint64_t group;  /* of the line on which its rules of policy all were tried */
  uint64_t unread; /* of the line that was last counted as unread */
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
  bool at_end;       /* the source has ended: the line at hand is its last */
  size_t witness_seen;   /* records that were looked at for that */
  bool witnessing;       /* the witness's format was seen: its first record */
  uint64_t witness_from; /* begins here */
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
  tg_span *taken; /* spans of the line that records of policy all used, ascending */
  size_t n_taken, cap_taken;
  tg_span *fresh; /* the same of the tag at hand */
  size_t n_fresh, cap_fresh;
  tg_match *match; /* one per rule of a tag */
  tg_span *spans;  /* TG_TEMPLATE_FIELDS per match */
  tg_span quick_spans[2][TG_TEMPLATE_FIELDS]; /* of two matches of the quick way */
  tg_alike alike;
  bool full_only; /* no line takes the quick way: for tests, which compare the two */

  tg_near_store *near; /* NULL: no miss is kept */
  bool noting;         /* misses are kept */
  size_t taker;        /* the first rule that matched the line, TG_NOT: none */

  /* section */
  size_t section; /* TG_NOT: outside */
  uint32_t section_number, sections_seen;
  uint32_t misfits; /* lines in a row that fit nothing */
  tg_copy section_channel;
  bool section_has_channel;

  /* shared UART */
  const char *prefix; /* form of the prefix that most lines have; NULL: none */
  char prefix_form[TG_PREFIX_FORM];
  struct tg_uart *uart;
};

/* The line that the next byte is in: LFs, or lone CRs while there was no LF. */
static inline uint64_t tg_line_at_hand(const tg_reader *r) {
  return (r->lines > 0 ? r->lines : r->returns) + 1;
}

/* The places of all tags in [p, p+n), in place of those that `hits` held. TG_OK, TG_ENOMEM. */
static inline tg_status tg_find_hits(const tg_reader *r, const uint8_t *p, size_t n,
                                     tg_hits *hits) {
  const tg_scanner *s = r->rules->scanner;
  hits->n = 0;
  return s->scan(s, p, n, hits);
}

/* state.c */

/* Where a line that is longer than the bound is cut: behind its last lone CR, which is a line end
 * (`*ended`), else behind a blank or a NUL near the bound, else at the bound. */
size_t tg_long_cut(const uint8_t *p, size_t bound, bool *ended);

/* A record of the begin line of `section` was added: its rows follow. TG_OK, TG_ENOMEM. */
tg_status tg_section_open(tg_reader *r, const tg_line *line, size_t section);
/* True where the section at hand looks at lines of this channel. */
bool tg_section_wants(const tg_reader *r, const tg_line *line);

/* witness.c */

/* Adds a problem for every line of [p, p+n), which begins at `offset` behind `lines` line ends,
 * that holds the witness of the set without its tag. TG_OK, TG_ENOMEM. */
tg_status tg_reader_witness(tg_reader *r, const uint8_t *p, size_t n, uint64_t offset,
                            uint64_t lines);

/* Where tg_reader_witness may find something next in [p, p+n), from `from` on; `n`: nowhere. */
size_t tg_reader_next_bare(const tg_reader *r, const uint8_t *p, size_t n, size_t from);

/* window.c: bytes to lines */

/* Reads [p, p+n): whole lines; the last one may lack its LF where the source ends.
 * TG_OK, TG_ENOMEM, TG_ELIMIT; so do all that read lines below. */
tg_status tg_reader_block(tg_reader *r, const uint8_t *p, size_t n);

/* Reads a piece [p, p+n) of a line beyond the bound; `ended`: a lone CR ends it. */
tg_status tg_reader_long(tg_reader *r, const uint8_t *p, size_t n, uint64_t offset, bool ended);

/* quick.c */

/* Reads the usual kind of line: one that ends, with a few hits, each of another tag, outside
 * sections, no shared UART, rules with a straight way, at most one record, no torn one, no miss
 * worth to be kept. Not `*done`: it is another kind, and nothing happened. `*record` is what came
 * of it. */
tg_status tg_reader_quick(tg_reader *r, const uint8_t *p, size_t n, uint64_t offset,
                          const tg_hit *hits, size_t n_hits, bool *done, tg_alike_record *record);
/* Adds the record of the line at `p`, whose pattern is direct; `*done` false: a value does not fit. */
tg_status tg_reader_alike(tg_reader *r, const uint8_t *p, uint64_t offset,
                          const tg_alike_line *line, bool *done);

/* text_line.c */

/* Reads one text of a transport. `hits` NULL: they are looked for here. */
tg_status tg_reader_text(tg_reader *r, tg_line line, const tg_hit *hits, size_t n_hits);

/* section.c */

/* Reads a line inside a section. `*done`: nothing is left to do with it. */
tg_status tg_section_line(tg_reader *r, const tg_line *line, const tg_hit *hits, size_t n_hits,
                          bool *done);
/* The source ends. TG_OK, TG_ENOMEM. */
tg_status tg_section_finish(tg_reader *r);

/* try.c: the rules on one line */

/* How many records the rules made, or would make, of a text, and how many tags they missed. */
typedef struct tg_outcome {
  size_t records, misses;
  size_t rule; /* the first in order that gave a record, TG_NOT: none */
} tg_outcome;
/* Finds the records of a line; with `commit` adds them, and if there are none the problems. */
tg_status tg_reader_try(tg_reader *r, const tg_line *line, const tg_hit *hits, size_t n_hits,
                        bool commit, tg_outcome *out);
/* Adds a problem for every tag of the line (which gave no record). */
tg_status tg_reader_misses(tg_reader *r, const tg_line *line, const tg_hit *hits, size_t n_hits);

/* A record begins at `start` of the line: counts it where that is behind the given prefix. */
static inline void tg_note_prefixed(tg_reader *r, const tg_line *line, size_t start) {
  if (r->prefix == NULL || start == 0) return;
  const size_t own = tg_prefix_length(r->prefix, line->p, line->n);
  if (start >= own && own > tg_prefix_length(NULL, line->p, line->n)) r->out->totals.prefixed++;
}

#endif

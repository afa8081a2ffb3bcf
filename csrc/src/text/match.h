/* match.h - runs a compiled template on one line. SPDX-License-Identifier: BSD-3-Clause */
#ifndef TICKGAUGE_TEXT_MATCH_H
#define TICKGAUGE_TEXT_MATCH_H

#include "template.h"
#include "tickgauge/stop.h"

typedef struct tg_job {
  size_t pos, aux;
  uint32_t pc;
  uint8_t kind;
  bool edge;
} tg_job;

/* Buffers of the matcher, reused from line to line; one per rule set. */
typedef struct tg_scratch {
  tg_alloc alloc;
  uint64_t *bits; /* memo planes, twice each: behind a number or not */
  size_t cap_bits;
  tg_span *runs; /* run caches */
  size_t cap_runs;
  tg_job *jobs;
  size_t n_jobs, cap_jobs;
  const tg_stop *stop; /* asked inside a line that takes many steps; NULL: never */
  uint64_t asked;      /* the work when it was asked last */
  uint64_t work; /* instructions run and bytes looked at in runs: the tests bound it */
} tg_scratch;

void tg_scratch_init(tg_scratch *s, const tg_alloc *a);
void tg_match_scratch_free(tg_scratch *s);

/* One template on one line. The memo lives from tg_match_begin on, so that all tries on the line
 * together stay linear in its length. */
typedef struct tg_match {
  const tg_template *t;
  tg_scratch *s;
  const uint8_t *p;
  size_t n;
  size_t line_at;  /* where '^' also stands: behind a prefix; 0 = nowhere else */
  size_t tag_at;   /* the tag must fall here; SIZE_MAX: anywhere */
  tg_span *fields; /* spans of the kept fields */
  size_t start, end, tag_pos; /* of a match */
  tg_near near;
  size_t reach;   /* of the nearest miss: bytes from its start */
  bool roams;     /* any place may be the start */
  bool near_edge; /* the nearest miss is a number that touches something */
  tg_status failed; /* TG_ENOMEM, TG_EINTERRUPTED: the tries are over */
} tg_match;

/* Prepares the tries of `t` on [p, p+n); `fields` has room for the kept fields.
 * TG_OK, TG_ENOMEM. */
tg_status tg_match_begin(tg_match *m, const tg_template *t, tg_scratch *s, const uint8_t *p,
                         size_t n, tg_span *fields);

/* Tries the template from `start` on. True: start, end, tag_pos and fields are set. False: not
 * here, or `failed`. */
bool tg_match_at(tg_match *m, size_t start);

/* The first match with its tag on `tag_at` and its start not before `from`. */
bool tg_match_tag(tg_match *m, size_t from, size_t tag_at);

/* The leftmost match of the line; `tags` are the places of the tag, ascending. */
bool tg_match_line(tg_match *m, const size_t *tags, size_t n_tags);

/* A row of a section: from the first byte, else from the first non-blank one, else the same
 * behind `line_at`. */
bool tg_match_row(tg_match *m);

/* True where the byte at `pos` < n, behind a number, belongs to it or to another writer's text. */
bool tg_number_torn(const uint8_t *p, size_t n, size_t pos);

/* Where the number of this type that begins at `pos` ends, SIZE_MAX: none begins there. */
size_t tg_number_end(tg_match *m, const tg_inst *in, size_t pos);

/* The end of the run of a class of bytes that begins at `pos`, remembered in cache slot `slot`
 * (TG_NO_PLANE: not). */
typedef enum tg_class { TG_CLASS_DIGIT, TG_CLASS_HEX, TG_CLASS_HEXANY, TG_CLASS_BLANK,
                        TG_CLASS_WORD } tg_class;
size_t tg_run_end(tg_match *m, uint32_t slot, tg_class c, size_t pos);

#endif

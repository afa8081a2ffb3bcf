/* transport.h - from the bytes of a source to a console's text.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TICKGAUGE_TEXT_TRANSPORT_H
#define TICKGAUGE_TEXT_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tickgauge/alloc.h"
#include "tickgauge/intern.h"
#include "tickgauge/status.h"

/* From byte `at` of a text on, bytes come from `offset` of the source on, one for one. */
typedef struct tg_origin {
  size_t at;
  uint64_t offset;
} tg_origin;

/* A growing text of which every byte knows its place in the source. */
typedef struct tg_copy {
  tg_alloc alloc;
  uint8_t *p;
  size_t n, cap;
  tg_origin *map;
  size_t n_map, cap_map;
} tg_copy;

/* Where a piece of a joined line begins in the source, and the number of the line it was in. */
typedef struct tg_piece {
  uint64_t offset, number;
} tg_piece;

/* A line as the rules see it. */
typedef struct tg_line {
  const uint8_t *p;
  size_t n;
  const tg_origin *map; /* NULL: byte i comes from offset + i */
  size_t n_map;
  uint64_t offset;
  uint64_t number; /* 1-based */
  const tg_piece *pieces; /* of a joined line, in order; none where it is one of the source */
  size_t n_pieces;
  tg_str channel;  /* p == NULL: none */
  tg_str raw;      /* the bytes of the source it was taken from, and where they begin */
  uint64_t raw_offset;
  uint32_t flags; /* TG_FLAG_* of records found in it */
  bool tail;      /* it ends with the source, no line end behind it */
} tg_line;

void tg_copy_init(tg_copy *c, const tg_alloc *a);
void tg_copy_free(tg_copy *c);
void tg_copy_clear(tg_copy *c);
/* Appends [p, p+n), which comes from `offset` on. TG_OK, TG_ENOMEM. */
tg_status tg_copy_put(tg_copy *c, const uint8_t *p, size_t n, uint64_t offset);

/* The offset in the source of byte `pos` (pos == n: behind the last byte). */
uint64_t tg_line_offset(const tg_line *line, size_t pos);
/* The number of the line in which byte `pos` stands. */
uint64_t tg_line_number(const tg_line *line, size_t pos);
/* The part [from, to) of a line. */
tg_line tg_line_part(const tg_line *line, size_t from, size_t to);

/* The length of the prefix that a terminal program, a time stamper, a kernel or a mail quote put
 * before the text: "[2026-05-18 09:31:02.104] ", "2026-05-18T09:31:02 ", "[    3.141593] ",
 * "[cpu 0x0100] ", "> ", "|uart1| " and the like, several in a row; before these a prefix of the
 * form `own` (NULL: none), which the caller found in front of most lines. 0 = none. */
size_t tg_prefix_length(const char *own, const uint8_t *p, size_t n);

/* When the line arrived, in ns, if a stamp stands in front of it: of a terminal program, `ts`,
 * grabserial, a log of dates, LAVA's "dt". Of a date without a year the year is 1970, of a time
 * without a date the day begins at 0, a time zone is left out: only differences mean anything. The
 * kernel's own stamp, "[   12.345678] ", is none. */
bool tg_arrival(const tg_line *line, int64_t *ns);

#define TG_PREFIX_FORM 256 /* bytes of such a form, its NUL among them */

/* True where the line may hold a colour sequence, with its ESC or without. */
bool tg_has_colour(const uint8_t *p, size_t n);
/* True where a colour sequence that lost its ESC ends the line: "v2.14.0[0m". */
bool tg_ends_in_colour(const uint8_t *p, size_t n);
/* Copies the line without control sequences: CSI, OSC and the other strings, character sets, and
 * colour that lost its ESC. TG_OK, TG_ENOMEM. */
tg_status tg_strip_colour(const tg_line *line, tg_copy *out);

/* A message of LAVA's raw log, and how far it was taken apart. */
typedef struct tg_lava {
  bool console;   /* its level is target or feedback: the text of a console */
  bool escaped;   /* the text copied last was quoted with escapes */
  tg_str channel; /* the name space of a feedback line */
  tg_str message; /* the quoted string or the list, as it stands in the line */
  tg_str element; /* of it, being taken apart; p == NULL: none yet */
  size_t at;      /* where in the element to go on */
} tg_lava;

/* True where the line is a whole entry of LAVA's raw YAML:
 * `- {"dt": ..., "lvl": ..., "msg": ...}`. */
bool tg_lava_parse(const uint8_t *p, size_t n, tg_lava *out);
/* Copies the next text of the message: an element of a list, a line of a text. False where there
 * is no more, or no memory (`*status`). `message` begins at `offset` of the source. */
bool tg_lava_next(tg_lava *lava, uint64_t offset, tg_copy *out, tg_status *status);

#endif

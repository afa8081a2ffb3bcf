/* straight.h - templates with one way through a line, matched without a stack or a memo.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TICKGAUGE_TEXT_STRAIGHT_H
#define TICKGAUGE_TEXT_STRAIGHT_H

#include "template.h"

/* True where every item can end in one place only: literals, blanks, numbers, words up to a
 * blank, a last text; no optional parts, no choice, not tied to the begin of the line; and a
 * search can start at its first literal or at a fixed distance before its tag. */
bool tg_template_straight(const tg_template *t);

/* Marks the places of a straight template that are followed in one step: blanks, then a number. */
void tg_template_mark_gaps(tg_template *t);

/* A match of a straight template. */
typedef struct tg_straight {
  const tg_template *t;
  const uint8_t *p; /* the line */
  size_t n;
  tg_span *fields;   /* room for the kept fields; not written where the bit of `known` is set */
  uint64_t *numbers; /* room for the kept fields */
  uint64_t known;    /* bit i: numbers[i] holds the value of field i, as a u64 or i64 */
  size_t start, end;
  size_t reach; /* of a miss: bytes from its start, no less than the full matcher would say */
  bool gave_up; /* too many places to start from: the line is for the full matcher */
} tg_straight;

/* The leftmost match with the tag on `tag_at`, where the tag is known to stand: the same as
 * tg_match_tag from 0 on, but a miss leaves no trace. */
bool tg_straight_match(tg_straight *m, size_t tag_at);

#endif

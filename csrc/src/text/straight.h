/* straight.h - templates with one way through a line, matched without a stack or a memo.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TICKGAUGE_TEXT_STRAIGHT_H
#define TICKGAUGE_TEXT_STRAIGHT_H

#include "template.h"

/* An item is straight where it can end in one place only: literals, blanks, numbers, words up to a
 * blank, alternatives none of which begins another, one of a class, a last text, an optional part
 * whose first byte decides. A template has a straight way where its first item is straight and a
 * search can start at its first literal or at a fixed distance before its tag, or where it begins
 * with a text and only straight items lie between that text and the tag (plan.c finds out). */
enum { TG_HEAD_RUNS = 6 }; /* the most of tg_template.head_runs */
enum {
  TG_STEP_CROOKED = TG_OP_MATCH + 1, /* values of tg_inst.step beside those of tg_op */
  TG_STEP_GAP_NUMBER                 /* BLANK, BLANKS and a kept UINT at once */
};

/* A match on the straight way. */
typedef struct tg_straight {
  const tg_template *t; /* with a straight way */
  const uint8_t *p;     /* the line */
  size_t n;
  tg_span *fields;   /* room for the kept fields; not written where the bit of `known` is set */
  uint64_t *numbers; /* room for the kept fields */
  bool anywhere;     /* the tag need not fall on `tag_at`: policy first */
  uint64_t known;    /* bit i: numbers[i] holds the value of field i, as a u64 or i64 */
  size_t start, end;
  bool noted;   /* a miss is worth a note: some place began the template */
  size_t reach; /* of a noted miss: bytes from its start, as the full matcher says */
  bool gave_up; /* the template is not straight up to here: the line is for the full matcher */
} tg_straight;

/* The leftmost match where the tag stands on `tag_at` and nowhere else: the same as tg_match_tag
 * and, with `anywhere`, tg_match_line. False: no match, or `gave_up`. */
bool tg_straight_match(tg_straight *m, size_t tag_at);

#endif

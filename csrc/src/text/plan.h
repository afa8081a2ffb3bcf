/* plan.h - the bytes an item can begin with, and which templates have a straight way.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TICKGAUGE_TEXT_PLAN_H
#define TICKGAUGE_TEXT_PLAN_H

#include "template.h"

/* The instructions from `k` on, up to `end`, taken together. */
typedef struct tg_first {
  tg_bytes bytes; /* the byte they can begin with */
  bool empty;     /* they can match nothing at all */
} tg_first;

/* `end` = t->n_inst: to the end of the template. A '$' begins with no byte and is not empty. */
tg_first tg_first_of(const tg_template *t, size_t k, size_t end);

/* True where one of the bytes is a blank. */
static inline bool tg_first_blank(const tg_first *f) {
  return (f->bytes.bits[0] & (UINT64_C(1) << ' ' | UINT64_C(0x1f) << '\t')) != 0;
}

/* Plans the straight way: see straight.h. TG_OK, TG_ENOMEM. */
tg_status tg_straight_plan(tg_template *t);

#endif

/* tftf_memo.h - the keys that a console asks for again and again, found without packing them.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TICKGAUGE_FORMATS_TFTF_MEMO_H
#define TICKGAUGE_FORMATS_TFTF_MEMO_H

#include "tickgauge/intern.h"
#include "tickgauge/topology.h"

/* The keys of one cpu in one test: of its metrics, TG_NONE where none was asked for yet. A cpu that
 * goes by its place in the block (`ordinal`) has its label and `place` as names. Words are kept
 * once, so a name at one place is one name; two at different places only cost a look-up more. */
typedef struct tg_tftf_keys {
  tg_str test;
  tg_place name;
  uint32_t place;
  uint32_t ids[3];
  bool latency, linear, ordinal;
} tg_tftf_keys;

/* A table by a hash of test and cpu; `n` is a power of two, or 0. */
typedef struct tg_tftf_memo {
  tg_tftf_keys *v;
  size_t n;
} tg_tftf_memo;

/* Makes room for the keys of blocks of so many rows; those known are forgotten where it grows.
 * TG_OK, TG_ENOMEM. */
tg_status tg_tftf_memo_room(tg_tftf_memo *memo, const tg_alloc *a, size_t rows);
void tg_tftf_memo_forget(tg_tftf_memo *memo);
void tg_tftf_memo_free(tg_tftf_memo *memo, const tg_alloc *a);

/* Where the ids of these keys are kept; there must be room. */
uint32_t *tg_tftf_memo_ids(tg_tftf_memo *memo, const tg_tftf_keys *wanted);

#endif

/* board.h - all quantities of all boots as one matrix, for tests that permute boots (private).
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TG_STATS_BOARD_H
#define TG_STATS_BOARD_H

#include <tickgauge/gate.h>

#include "quantity.h"

/* Boot-major: value[boot * keys + key]; the old boots first. NaN = not read. Larger is worse. */
typedef struct tg_board {
  size_t keys, boots, n_old, n_new;
  double *value;
  double *least; /* [keys] scatter that the steps alone leave */
  bool *logs;    /* [keys] logarithms, else steps */
  size_t *quantity; /* [keys] which of the quantities */
} tg_board;

/* The gated quantities of two sides, old values moved by the margins of `o`; as they are where its
 * relative margin is negative. Freed by tg_board_free in any case. TG_OK, TG_ENOMEM. */
tg_status tg_board_make(const tg_alloc *a, const tg_samples *const side[TG_SIDES],
                        const tg_quantities *q, const tg_gate_options *o, tg_board *out);
void tg_board_free(const tg_alloc *a, tg_board *b);

/* Clips v[0..n) to its median +- 3 robust deviations, which are at least `least`. `work` has room
 * for n. */
void tg_board_clip(double *v, size_t n, double least, double *work);

/* One more arrangement of n_new of the boots: `chosen` gets one byte a boot. */
typedef struct tg_arranger {
  size_t boots, n_new;
  bool listed;
  tg_rng rng;
  size_t *deck; /* [boots] */
} tg_arranger;
/* Starts at the observed arrangement (the last boots are new); for listed ones at the first. */
void tg_arranger_start(tg_arranger *r, bool *chosen);
void tg_arranger_next(tg_arranger *r, bool *chosen);

#endif

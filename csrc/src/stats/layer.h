/* layer.h - the permutation test behind the gate (private).
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TG_STATS_LAYER_H
#define TG_STATS_LAYER_H

#include "board.h"

/* The step-down maximum of Westfall and Young over arrangements of the boots of a board with at
 * least one key. `t` and `p` (room for the keys) get the statistics and the adjusted p, `*critical`
 * the largest statistic that chance alone exceeds in s->alpha_shift of the runs. guard[j] is raised
 * to the smallest change, in percent, that would be red in most runs if key j alone made it, or
 * NaN. TG_OK, TG_ENOMEM, TG_EINTERRUPTED. */
tg_status tg_layer_test(const tg_alloc *a, const tg_board *board, const tg_gate_options *o,
                        const tg_gate_summary *s, double *t, double *p, double *guard,
                        double *critical);

#endif

/* ladder.h - scatter of lock ladders from unit to unit (private).
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TG_STATS_LADDER_H
#define TG_STATS_LADDER_H

#include "internal.h"

#define TG_LADDER_ALPHA 0.05 /* two-sided */

/* Mean of the least-squares lines of a side's units, and its standard error, in the unit shown.
 *
 * Ranks of one block are correlated, so units are the only replicates. The line is linear in the
 * values: leaving out each unit in turn (jackknife) gives the scatter of the units' own lines. A
 * line never scatters less than the tick allows: per cpu step^2 / 6, all cpus alike. */
typedef struct tg_scatter {
  tg_line mean, error;
  size_t units; /* 0 = none can be told: fewer than two units or cpus */
} tg_scatter;

/* `rows`: units x cores, each row sorted; `step`: their resolution in stored units. */
void tg_ladder_scatter(const int64_t *rows, size_t units, size_t cores, double scale, uint64_t step,
                       tg_scatter *out);

/* Half of the 95 % interval of a side's line (Student's t); false where there is none. */
bool tg_ladder_interval(const tg_scatter *s, tg_line *half);

/* new - old and half of its 95 % interval (Welch); false where a side has none. */
bool tg_ladder_shift(const tg_scatter *x, const tg_scatter *y, tg_line *shift, tg_line *half);

#endif

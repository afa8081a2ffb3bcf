/* segment.h - costs of the segments of a series, and the cheapest ones (private).
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TG_STATS_SEGMENT_H
#define TG_STATS_SEGMENT_H

#include "internal.h"

/* cost[i * n + j] = sum of |x - median| over x[i..j], i <= j < n. `work` has room for n + 3 values.
 * TG_OK, TG_EINTERRUPTED. */
tg_status tg_segment_costs(const tg_stop *stop, const int64_t *x, size_t n, int64_t *work,
                           double *cost);

/* The cheapest segments at `penalty` for each after the first, from the costs of a series: those
 * between the first and the last have two values or more. Fewer segments win a tie, then the earlier. `start` has room
 * for n, `work` for 2 (n + 1) doubles; returns how many segments there are (n > 0). */
size_t tg_segment_fit(const double *cost, size_t n, double penalty, size_t *start, double *work);

/* The largest penalty at which the series still has a change: the most that one step saves, or half
 * of what two steps save. 0 below three values. */
double tg_segment_change(const double *cost, size_t n);

#endif

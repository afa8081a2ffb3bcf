/* segment.h - costs of the segments of a series, and the cheapest ones (private).
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TG_STATS_SEGMENT_H
#define TG_STATS_SEGMENT_H

#include "internal.h"

/* |a - b| of values within TG_STATS_LIMIT. */
static inline int64_t tg_apart(int64_t a, int64_t b) { return a < b ? b - a : a - b; }

/* The places of x in the order of their values. TG_OK, TG_ENOMEM. */
tg_status tg_by_value(const tg_alloc *a, const int64_t *x, size_t n, uint32_t *by_value);

#define TG_SEGMENT_ROOM(n) (5 * ((n) + 1)) /* numbers of `room` for a series of n */

/* cost[i * n + j] = sum of |x - median| over x[i..j], i <= j < n, in O(n^2): places are taken out
 * of the order of values one by one. TG_OK, TG_EINTERRUPTED. */
tg_status tg_segment_costs(const tg_stop *stop, const int64_t *x, size_t n,
                           const uint32_t *by_value, uint32_t *room, double *cost);

/* ahead[i] = the cost of x[0 .. i - 1], behind[i] = that of x[i .. n - 1], each for 0 <= i <= n. */
void tg_end_costs(const int64_t *x, size_t n, const uint32_t *by_value, uint32_t *room,
                  double *ahead, double *behind);

/* The cheapest segments at `penalty` for each after the first, from the costs of a series: those
 * between the first and the last have two values or more. Fewer segments win a tie, then the
 * earlier. `start` has room for n, `work` for 2 (n + 1) doubles; returns how many segments there
 * are (n > 0). */
size_t tg_segment_fit(const double *cost, size_t n, double penalty, size_t *start, double *work);

/* The largest penalty at which the series still has a change: the most that one step saves, or half
 * of what two steps save, but at least `floor`. 0 below two values. O(n log n) and n for each
 * range of levels that may hold a step above that, few where nothing but chance moves x; n^2 at
 * worst. `work` has room for TG_CHANGE_WORK(n). */
#define TG_CHANGE_WORK(n) (3 * ((n) + 1))
double tg_segment_change(const int64_t *x, size_t n, const uint32_t *by_value, double floor,
                         uint32_t *room, double *work);

#endif

/* single.h - single boots, judged by how the boots of all keys of a metric scatter (private).
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TG_STATS_SINGLE_H
#define TG_STATS_SINGLE_H

#include "key.h"
#include "quantity.h"

#define TG_SINGLE_LEAST 3 /* boots that a single one is compared with */
#define TG_NOISE_LEAST 4  /* boots of one firmware that serve one or two a side */

/* Judges the quantities that have one unit against three or more, or one or two a side where there
 * are boots of one firmware: r[i] of q->v[i] gets p, interval and word. `group` says which keys
 * scatter alike (NULL = all), reference[i] how many boot-keys the answer rests on. TG_OK,
 * TG_ENOMEM, TG_EINTERRUPTED. */
tg_status tg_judge_single(const tg_key_context *c, const tg_samples *const side[TG_SIDES],
                          const tg_quantities *q, const tg_compare_options *o, tg_key_result *r,
                          uint32_t *reference);

/* The scatter that the steps of readings alone leave in logarithms: step and median in one unit. */
double tg_log_floor(double step, double median);

/* Median of v[0..n), n > 0, which gets sorted; of an even number the middle of two. */
double tg_median_f64(double *v, size_t n);

#endif

/* samples.h - packed readings: checks, sorting, one value per unit (private).
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TG_STATS_SAMPLES_H
#define TG_STATS_SAMPLES_H

#include "internal.h"

/* Room to sort the readings of a key in; reused from key to key, starts zeroed. */
typedef struct tg_scratch {
  int64_t *value;
  uint64_t *weight;
  size_t value_cap, weight_cap;
} tg_scratch;
void tg_scratch_free(const tg_alloc *a, tg_scratch *s);

/* TG_EINVAL where a start falls, a scale or a resolution is 0. */
tg_status tg_samples_check(const tg_samples *s);

/* The distinct values of the units [first, last) of a key with their cumulative weights, sorted;
 * valid until the scratch is used again. TG_ENODATA without readings. */
tg_status tg_scratch_sort(const tg_alloc *a, tg_scratch *scratch, const tg_samples *s,
                          size_t first, size_t last, tg_sorted *out);

/* The quantile num / den of a unit by the inverted CDF: a value that occurred. TG_ENODATA without
 * readings, TG_EOVERFLOW, TG_ENOMEM. */
tg_status tg_unit_quantile(const tg_alloc *a, tg_scratch *scratch, const tg_samples *s, size_t unit,
                           uint64_t num, uint64_t den, int64_t *out);

/* Weight of item i. */
uint64_t tg_weight_at(const tg_sorted *s, size_t i);

/* Stores a double unless it is NaN. */
void tg_put(tg_table *t, size_t row, size_t col, double v);

/* tg_anova_units over the units [first, last) of weighted samples. */
tg_status tg_anova_weighted(const tg_samples *s, size_t first, size_t last, tg_anova *out);

#endif

/* quantity.h - the figures of a comparison: one value per boot, key and quantile (private).
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TG_STATS_QUANTITY_H
#define TG_STATS_QUANTITY_H

#include "samples.h"

#define TG_SIDES 3 /* old, new, and boots of one firmware (noise) */

/* One value per unit of a key: its median, or where every unit of old and new has readings enough
 * (20, 200) its 90 % or 99 % quantile, by the inverted CDF. */
typedef struct tg_quantity {
  size_t key;
  uint32_t percent;               /* 50, 90 or 99 */
  const int64_t *value[TG_SIDES]; /* stored integers */
  const uint32_t *boot[TG_SIDES]; /* which boot each unit is */
  size_t units[TG_SIDES];
} tg_quantity;

/* The medians of all keys in their order, then the other quantiles key by key. */
typedef struct tg_quantities {
  tg_quantity *v;
  size_t n;
  uint32_t *lacking; /* [2 n_keys] units below 20 and below 200 readings, where one has as many */
  int64_t *pool[TG_SIDES];
  uint32_t *number;  /* 0, 1, 2 ... for sides that do not say which boot a unit is */
} tg_quantities;

/* side[2] may be NULL. TG_OK, TG_ENOMEM, TG_EINVAL (starts that fall), TG_EINTERRUPTED. What was
 * made is freed by tg_quantities_free in any case. */
tg_status tg_quantities_make(const tg_alloc *a, const tg_stop *stop,
                             const tg_samples *const side[TG_SIDES], tg_quantities *out);
/* The same with the medians alone; `lacking` is NULL. */
tg_status tg_medians_make(const tg_alloc *a, const tg_stop *stop,
                          const tg_samples *const side[TG_SIDES], tg_quantities *out);
void tg_quantities_free(const tg_alloc *a, tg_quantities *q);

/* Old and new on one grid of integers: an old integer is fx grid units, a new one fy, a grid unit
 * is `unit` of the unit shown, and the coarser resolution is `step` grid units. */
typedef struct tg_grid {
  int64_t fx, fy;
  uint64_t step;
  double unit;
  bool steps_differ;
} tg_grid;
/* TG_OK, TG_EOVERFLOW. */
tg_status tg_grid_of(const tg_samples *x, const tg_samples *y, size_t key, tg_grid *out);

/* value * factor for n values; TG_EOVERFLOW beyond TG_STATS_LIMIT. */
tg_status tg_grid_scale(int64_t *to, const int64_t *from, size_t n, int64_t factor);

#endif

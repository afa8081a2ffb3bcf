/* places.h - the part that chance has in the places of odd releases (private).
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TG_STATS_PLACES_H
#define TG_STATS_PLACES_H

#include <tickgauge/trend.h>

#include "internal.h"

/* A step of a key between two segments of its values. */
typedef struct tg_step_at {
  size_t key;
  size_t before, from, to; /* the segments begin at `before` and `from`; the second ends at `to` */
  double old, fresh;       /* levels of the segments, on the scale of `level` */
  double p;
  uint32_t kind;
} tg_step_at;

/* The series of a trend as its parts look at them; borrowed. */
typedef struct tg_levels {
  const tg_series *s;
  const tg_trend_options *o;
  const double *level;  /* [values] logarithms, or steps, one key after the other */
  const bool *logs;     /* [n_keys] */
  const double *least;  /* [n_keys] the scatter that the steps of the readings leave */
  size_t releases;
} tg_levels;

/* Raises the p of each step to what the places of its odd releases can carry: the share of orders
 * of the releases, the same for all keys, in which odd releases of some key lie as much like a step
 * as they do here; never below 2 in the number of places that so many odd ones have. Keys whose
 * releases lie at two levels take part whether or not they lie like a step. TG_OK, TG_ENOMEM,
 * TG_EINTERRUPTED. */
tg_status tg_place_steps(const tg_alloc *a, const tg_levels *v, tg_step_at *step, size_t n);

/* Changes that one release alone shows, up and back: of the keys of a metric that have an odd
 * release between two of one level, so many share it that keys which are odd by themselves would
 * not. Appends two steps of kind TG_STEP_ONCE for each such key, up and back, to step[*n], which
 * has room for two more of each key; keys that step there anyway are left out. TG_OK, TG_ENOMEM,
 * TG_EINTERRUPTED. */
tg_status tg_find_onces(const tg_alloc *a, const tg_levels *v, tg_step_at *step, size_t *n);

#endif

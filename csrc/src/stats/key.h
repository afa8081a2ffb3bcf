/* key.h - the judgement of one key (private). SPDX-License-Identifier: BSD-3-Clause */
#ifndef TG_STATS_KEY_H
#define TG_STATS_KEY_H

#include "samples.h"

/* What does not change from key to key. */
typedef struct tg_key_context {
  const tg_alloc *a;
  const tg_stop *stop;
  tg_null_cache null;
  double margin, alpha;
  uint64_t seed;
  bool paired;
  struct { /* the last t quantile and the last power, asked again for most keys */
    uint64_t df;
    double t;
    size_t m, n;
    double sd, level;
  } kept;
} tg_key_context;
void tg_key_context_init(tg_key_context *c, const tg_alloc *a, const tg_compare_options *o,
                         double alpha);

/* One value per unit, all on one integer grid (z on its own, z_unit grid units each). The arrays
 * may be reordered. */
typedef struct tg_key_input {
  int64_t *x, *y, *z; /* old, new, A/A units; y and z have room for m + n and k more */
  size_t m, n, k;
  double step;        /* resolution in grid units */
  double margin_abs;  /* in grid units */
  double z_unit;
  uint64_t z_step;    /* resolution of z in its own units */
  tg_better better;
  bool noise;         /* there are A/A sources, whether or not they have this key */
} tg_key_input;

/* NaN where there is nothing to say; lengths in grid units. */
typedef struct tg_key_result {
  double base, fresh, shift, p, p_min, detectable, detectable_level, delta, sd, within_shift;
  tg_interval ci, within;
  uint32_t needed, flags;
  bool needed_known;
  tg_method method;
  tg_verdict verdict;
} tg_key_result;
tg_status tg_judge_key(tg_key_context *c, tg_key_input *in, tg_key_result *out);

#endif

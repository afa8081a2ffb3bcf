/* key.h - the judgement of one key from its boots alone (private).
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TG_STATS_KEY_H
#define TG_STATS_KEY_H

#include <tickgauge/tail.h>

#include "samples.h"

#define TG_TAIL_SAID 0.01  /* p of a tail from which on the row names it */
#define TG_TAIL_QUIET 0.10 /* p of a tail that "equivalent" must exceed */

/* The same for all keys. */
typedef struct tg_key_context {
  const tg_alloc *a;
  const tg_stop *stop;
  tg_null_cache null;
  double margin, alpha;
  uint64_t seed;
  bool paired;
} tg_key_context;
void tg_key_context_init(tg_key_context *c, const tg_alloc *a, const tg_compare_options *o,
                         double alpha);

/* One value per unit, old and new on one integer grid; sorted by tg_judge_key unless paired.
 * `work` has room for 2 (m + n) values. */
typedef struct tg_key_input {
  int64_t *x, *y;
  uint64_t *work;
  size_t m, n;
  uint64_t step;     /* resolution in grid units */
  double margin_abs; /* in grid units */
  tg_better better;
} tg_key_input;

/* NaN where there is nothing to say; lengths in grid units, ratios as new / old. */
typedef struct tg_key_result {
  double base, fresh, ratio, ratio_lo, ratio_hi, shift, lo, hi, level, p, p_min;
  double visible, judged_from, delta, least, margin, scatter, within_shift;
  /* delta = the change that counts, at the old median; least = what it is in any case */
  tg_interval within;
  tg_tail tail;
  uint32_t needed, flags; /* needed 0 = not known, or more than 1000 */
  tg_method method;
  tg_verdict verdict;
} tg_key_result;
void tg_key_clear(tg_key_result *r);
tg_status tg_judge_key(tg_key_context *c, tg_key_input *in, tg_key_result *out);

/* Units a side from which on the exact test can reach alpha at all. */
uint32_t tg_least_units(double alpha);

/* The sign of a change that is "regressed" rather than "improved". */
static inline tg_verdict tg_word_of_change(tg_better better, bool up) {
  if (better == TG_BETTER_NONE) return TG_VERDICT_CHANGED;
  return up == (better == TG_BETTER_LOWER) ? TG_VERDICT_REGRESSED : TG_VERDICT_IMPROVED;
}

/* An interval of ratio and shift at one level, widened by the steps of the readings. */
typedef struct tg_bounds {
  bool known;
  bool beyond, short_of; /* the ratio exceeds 1 + M, falls short of 1 / (1 + M), by its interval */
  bool within;           /* the ratio lies between these two */
  bool off_zero;         /* the interval that is not widened excludes "no change" */
  double ratio_lo, ratio_hi, lo, hi, level;
} tg_bounds;

/* interval.c: effect and intervals of unpaired and of paired units. `positive`: all values are
 * above 0 and ratios have a sense; else only the shift is told. */
tg_status tg_effect_exact(tg_key_context *c, const tg_key_input *in, bool positive,
                          tg_key_result *r);
tg_status tg_bounds_exact(tg_key_context *c, const tg_key_input *in, bool positive, double alpha,
                        tg_bounds *out);
tg_status tg_effect_paired(tg_key_context *c, const tg_key_input *in, bool positive,
                           tg_key_result *r);
tg_status tg_bounds_paired(tg_key_context *c, const tg_key_input *in, bool positive, double alpha,
                         tg_bounds *out);
bool tg_constant(const int64_t *v, size_t n);

#endif

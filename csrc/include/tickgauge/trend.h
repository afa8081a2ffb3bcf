/* trend.h - steps over releases.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TICKGAUGE_TREND_H
#define TICKGAUGE_TREND_H

#include "stats.h"
#include "table.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Least-cost segmentation (optimal partitioning) of x: cost of a segment = sum of |x - median|,
 * plus `penalty` for every segment after the first; of equal costs the fewest segments, then the
 * latest starts. start[i] (room for n) gets the first index of segment i, `*k` their number.
 * Takes O(n^2) and 8 n^2 bytes. n 0 gives 0 segments. TG_OK, TG_ENOMEM, TG_EINVAL (penalty
 * not positive), TG_EOVERFLOW, TG_ELIMIT (n beyond TG_SEGMENT_MOST). */
#define TG_SEGMENT_MOST 4096
TG_API tg_status tg_segment(const tg_alloc *a, const tg_stop *stop, const int64_t *x, size_t n,
                            double penalty, size_t *start, size_t *k);

/* Largest step by the energy statistic Q(t) = nm/(n+m) (2 mean|x-y| - mean|x-x'| - mean|y-y'|)
 * in its unbiased form, segments of at least 2, and its p over all distinct orders of x (counted
 * up to 8 values, else 999 are drawn). p_min: the smallest p that a step at this place can have,
 * 2 / C(n, t). TG_OK, TG_ENOMEM, TG_ENODATA below 4 values, TG_ELIMIT beyond 1024, TG_EOVERFLOW
 * for values beyond 2^54. */
typedef struct tg_energy {
  double q, p, p_min;
  size_t at; /* first index after the step */
  bool exact;
} tg_energy;
TG_API tg_status tg_energy_step(const tg_alloc *a, const tg_stop *stop, const int64_t *x, size_t n,
                                uint64_t seed, tg_energy *out);

/* Series of many keys over releases; borrowed. A release without a value is simply absent. */
typedef struct tg_series {
  const int64_t *value;       /* [start[n_keys]] */
  const uint32_t *release;    /* [start[n_keys]] rising within a key */
  const uint64_t *start;      /* [n_keys + 1] */
  const uint64_t *num, *den;  /* [n_keys] scale to the unit shown */
  const uint64_t *resolution; /* [n_keys] */
  size_t n_keys;
} tg_series;

typedef struct tg_trend_options {
  double margin;            /* relative: a step exceeds it; finite, 0 or more */
  const double *margin_abs; /* [n_keys] in the unit shown: a step exceeds it, too; NULL = 0 */
  const uint32_t *group;    /* [n_keys] keys of one metric scatter alike; NULL = all do */
  uint64_t seed;
  const tg_stop *stop;      /* NULL = never asked */
} tg_trend_options;

#define TG_TREND_LEAST 5    /* releases of a key from which on steps are looked for */
#define TG_TREND_ORDERS 199 /* random orders of the releases: the part of chance */

/* Columns of the two tables of tg_trend. */
enum {
  TG_TREND_RELEASES = 0, /* with a value, U32 */
  TG_TREND_STEPS,        /* U32 */
  TG_TREND_MEDIAN,       /* F64 from here on, unit shown */
  TG_TREND_SCATTER, /* of a release about its level, percent (steps where a value is 0 or less);
                       missing below TG_TREND_LEAST releases */
  TG_TREND_P,       /* energy p, from 8 releases on; decides nothing */
  TG_TREND_P_MIN,
  TG_TREND_COLUMNS
};
enum {
  TG_STEP_KEY = 0, /* U32 */
  TG_STEP_BEFORE,  /* last release before, U32 */
  TG_STEP_AT,      /* first release after, U32 */
  TG_STEP_LAST,    /* last release of the new level, U32 */
  TG_STEP_OLD,     /* median of the level before, F64 from here on */
  TG_STEP_NEW,
  TG_STEP_PERCENT, /* missing where a level is 0 or below */
  TG_STEP_P,       /* over all keys and places; missing for a key that only moved along */
  TG_STEP_KIND,    /* TG_STEP_*, U32 */
  TG_STEP_COLUMNS
};
#define TG_STEP_PLAIN 0u
#define TG_STEP_ALONE 1u /* one release alone at an end: not confirmed */
#define TG_STEP_ALONG 2u /* moved in a release in which another key stepped */
#define TG_STEP_OPEN 3u  /* not confirmed: chance lays such releases together in more than 5 % */
#define TG_STEP_ONCE 4u  /* one release up and back, shared by keys of a metric */

/* Steps of every series, with one error of 5 % over all keys and places. Least-cost segments of the
 * logarithms (those between the first and the last of two releases or more: one release up and back
 * is no step); the penalty is what orders of the releases, the same for all keys, exceed in 5 % of
 * the cases with the residuals of a first fit. A step exceeds the margin, too. With a value of 0 or
 * below a key is taken in steps.
 *
 * The p of a step is also at least what the places of its releases can carry: with k odd releases
 * among n, the share of orders of the releases, the same for all keys, in which odd ones lie as
 * much like a step; never below 2 / C(n, k). Above 5 % a step is TG_STEP_OPEN.
 *
 * One release up and back is told (TG_STEP_ONCE, two rows) where it is the odd one of so many keys
 * of a group that keys which are odd by themselves share a release in at most 5 % of the cases,
 * over all groups, releases and directions. Odd is 5 times as far from its neighbours as these are
 * from each other, and 20 times as far as neighbours usually are. Keys of one boot hang together:
 * with one boot a release the boot may be the odd one.
 *
 * No keys give no rows. The caller frees both tables. TG_OK, TG_ENOMEM, TG_EINVAL, TG_EOVERFLOW (a
 * value beyond 2^61), TG_ELIMIT (more than TG_SEGMENT_MOST releases of a key), TG_EINTERRUPTED; the
 * outputs are set with TG_OK only. */
TG_API tg_status tg_trend(const tg_alloc *a, const tg_series *s, const tg_trend_options *options,
                          tg_table **series, tg_table **steps);

/* The largest penalty at which x still has a step: the most that one step saves, or half of what
 * two save. What tg_trend takes of every order of releases. TG_OK, TG_ENOMEM, TG_EOVERFLOW,
 * TG_ELIMIT. */
TG_API tg_status tg_change(const tg_alloc *a, const int64_t *x, size_t n, double *out);

#ifdef __cplusplus
}
#endif
#endif

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
 * Takes O(n^2 log n) and 8 n^2 bytes. n 0 gives 0 segments. TG_OK, TG_ENOMEM, TG_EINVAL (penalty
 * not positive), TG_EOVERFLOW, TG_ELIMIT (n beyond TG_SEGMENT_MOST). */
#define TG_SEGMENT_MOST 4096
TG_API tg_status tg_segment(const tg_alloc *a, const tg_stop *stop, const int64_t *x, size_t n,
                            double penalty, size_t *start, size_t *k);

/* Largest step by the energy statistic Q(t) = nm/(n+m) (2 mean|x-y| - mean|x-x'| - mean|y-y'|)
 * in its unbiased form, segments of at least 2, and its p over all distinct orders of x (counted
 * up to 8 values, else drawn). p_min: the smallest p that a step at this place can have,
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

/* Columns of the two tables of tg_trend. */
enum {
  TG_TREND_RELEASES = 0, /* with a value, U32 */
  TG_TREND_STEPS,        /* U32 */
  TG_TREND_MEDIAN,       /* F64 from here on, unit shown */
  TG_TREND_PENALTY,      /* 2 * max(margin * median, margin_abs, resolution) */
  TG_TREND_P,            /* energy p, from 8 releases on */
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
  TG_STEP_PERCENT,
  TG_STEP_COLUMNS
};
/* Segments every series. Steps smaller than one resolution are not reported. TG_OK, TG_ENOMEM,
 * TG_EINVAL, TG_EOVERFLOW, TG_ELIMIT (more than TG_SEGMENT_MOST releases of a key). */
TG_API tg_status tg_trend(const tg_alloc *a, const tg_stop *stop, const tg_series *s, double margin,
                          double margin_abs, uint64_t seed, tg_table **series, tg_table **steps);

#ifdef __cplusplus
}
#endif
#endif

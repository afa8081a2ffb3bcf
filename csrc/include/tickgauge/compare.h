/* compare.h - two sides, all keys in one call: effect, interval, test, verdict.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TICKGAUGE_COMPARE_H
#define TICKGAUGE_COMPARE_H

#include "rule.h"
#include "summary.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a comparison says of a key. Append only. */
typedef enum tg_verdict {
  TG_VERDICT_MISSING = 0,      /* one side has no value */
  TG_VERDICT_REGRESSED = 1,    /* the interval lies beyond the margin, in the worse direction */
  TG_VERDICT_IMPROVED = 2,     /* ... in the better direction */
  TG_VERDICT_EQUIVALENT = 3,   /* the interval (of 1 - 2 alpha where it contains 0) is inside it */
  TG_VERDICT_CHANGED = 4,      /* the interval excludes 0, not the margin */
  TG_VERDICT_INCONCLUSIVE = 5, /* the interval contains 0 and reaches beyond the margin */
  TG_VERDICT_UNREPLICATED = 6, /* one unit a side, nothing says how units scatter */
  TG_VERDICT_COUNT
} tg_verdict;
TG_API const char *tg_verdict_text(tg_verdict v);

/* How the interval was made. Append only. */
typedef enum tg_method {
  TG_METHOD_NONE = 0,
  TG_METHOD_EXACT = 1,      /* U test, Hodges-Lehmann interval */
  TG_METHOD_PAIRED = 2,     /* sign-flip test, signed-rank interval */
  TG_METHOD_PREDICTION = 3, /* one unit against three or more */
  TG_METHOD_NOISE = 4       /* one against one, scatter from A/A boots */
} tg_method;
TG_API const char *tg_method_text(tg_method m);

/* Bits of TG_CMP_FLAGS. */
#define TG_CMP_NEGLIGIBLE 1u   /* equivalent, and the interval excludes 0 */
#define TG_CMP_BELOW_STEP 2u   /* the shift is within what the steps of the readings leave open */
#define TG_CMP_CONSTANT 4u     /* a side is constant: the interval is widened by the tick model */
#define TG_CMP_INSIDE 8u       /* the new unit lies inside the prediction interval */
#define TG_CMP_BIMODAL 16u     /* the A/A readings are bimodal: no noise model */
#define TG_CMP_FEW_NOISE 32u   /* fewer than 4 A/A units */
#define TG_CMP_DRAWN 64u       /* p is Monte Carlo */
#define TG_CMP_STEPS 128u      /* the sides have different resolutions; the coarser counts */

/* Columns of tg_compare, one row per key; lengths in the unit shown (num/den, ns). */
enum {
  TG_CMP_N_OLD = 0,       /* units, U32 */
  TG_CMP_N_NEW,           /* U32 */
  TG_CMP_OLD,             /* median of the units (inverted CDF), F64 from here on */
  TG_CMP_NEW,
  TG_CMP_SHIFT,           /* Hodges-Lehmann shift */
  TG_CMP_SHIFT_STEPS,     /* the same in resolution steps */
  TG_CMP_PERCENT,         /* the same relative to TG_CMP_OLD */
  TG_CMP_LO,              /* interval of the shift */
  TG_CMP_HI,
  TG_CMP_LEVEL,           /* level it reaches; missing with the interval */
  TG_CMP_P,
  TG_CMP_P_MIN,
  TG_CMP_P_BH,
  TG_CMP_DETECTABLE,      /* shift found with 80 % power, at TG_CMP_DETECTABLE_LEVEL */
  TG_CMP_DETECTABLE_LEVEL,/* two-sided level; above alpha: alpha cannot be reached */
  TG_CMP_DELTA,           /* what counts as a change: max(margin, margin_abs, one step) */
  TG_CMP_STEP,            /* the coarser resolution */
  TG_CMP_SD,              /* of a unit, pooled, with the tick floor; from 8 units a side on not
                             above 1.4826 * the median distance from the side's median */
  TG_CMP_WITHIN,          /* shift between the readings of single units */
  TG_CMP_WITHIN_LO,
  TG_CMP_WITHIN_HI,
  TG_CMP_NEEDED,          /* units a side that would find a change of delta, U32; 0 = over 1000 */
  TG_CMP_METHOD,          /* TEXT */
  TG_CMP_VERDICT,         /* TEXT */
  TG_CMP_FLAGS,           /* U32 */
  TG_CMP_COLUMNS
};

typedef struct tg_compare_options {
  double margin;           /* relative to the old median, .05 = 5 % */
  double margin_abs;       /* in the unit shown */
  double alpha;            /* 0 = .05 */
  const uint8_t *better;   /* [n_keys] tg_better; NULL = lower */
  const tg_samples *noise; /* A/A units of the same keys, or NULL */
  uint64_t seed;
  const tg_stop *stop;     /* asked between keys and draws; NULL = never */
  bool paired;             /* unit i of old belongs to unit i of new */
} tg_compare_options;

/* Compares key i of `a_old` with key i of `a_new` for all i. Sides may differ in scale and
 * resolution: values are brought to one integer grid exactly. TG_OK, TG_ENOMEM, TG_EINVAL
 * (options, or sides with different numbers of keys), TG_EOVERFLOW (a value leaves 2^61),
 * TG_EINTERRUPTED. */
TG_API tg_status tg_compare(const tg_alloc *a, const tg_samples *a_old, const tg_samples *a_new,
                            const tg_compare_options *options, tg_table **out);

/* Interchangeable cpus: per group and side a matrix of units x cores, row after row. */
typedef struct tg_vectors {
  const int64_t *value;        /* group after group */
  const uint64_t *units;       /* [n_groups] rows of the group's matrix */
  const uint64_t *cores;       /* [n_groups] columns */
  const uint64_t *num, *den;   /* [n_groups] scale to the unit shown */
  const uint64_t *step;        /* [n_groups] resolution in stored units, at least 1 */
  size_t n_groups;
} tg_vectors;

/* Columns of tg_compare_vectors, one row per group. Ladders: T(i) = a + b * i of the mean sorted
 * vector, i from 0. */
enum {
  TG_VEC_CORES = 0,     /* U32 */
  TG_VEC_N_OLD,         /* U32 */
  TG_VEC_N_NEW,         /* U32 */
  TG_VEC_W1,            /* mean |x(i) - y(i)| of the mean sorted vectors, F64 from here on */
  TG_VEC_W1_P,          /* permuting whole units */
  TG_VEC_W1_P_MIN,
  TG_VEC_MAX_OLD,       /* mean of the slowest */
  TG_VEC_MAX_NEW,
  TG_VEC_SPAN_OLD,      /* slowest - fastest of the mean sorted vector */
  TG_VEC_SPAN_NEW,
  TG_VEC_CORE_LOW,      /* smallest and largest change of a core's mean, percent */
  TG_VEC_CORE_HIGH,
  TG_VEC_RANK_LOW,      /* smallest and largest change of a rank's mean, percent */
  TG_VEC_RANK_HIGH,
  TG_VEC_OLS_A_OLD,
  TG_VEC_OLS_B_OLD,
  TG_VEC_OLS_A_NEW,
  TG_VEC_OLS_B_NEW,
  TG_VEC_TS_A_OLD,      /* Theil-Sen */
  TG_VEC_TS_B_OLD,
  TG_VEC_TS_A_NEW,
  TG_VEC_TS_B_NEW,
  TG_VEC_EXCHANGE_P,    /* labels permuted within units, both sides; small = labels matter */
  TG_VEC_OLS_A_OLD_LO,  /* 95 % intervals of the least-squares lines from unit to unit: mean +-  */
  TG_VEC_OLS_A_OLD_HI,  /* t(n-1) s / sqrt(n) over the units' own lines, which is the jackknife  */
  TG_VEC_OLS_B_OLD_LO,  /* for what is linear in the values; s at least what a tick leaves open. */
  TG_VEC_OLS_B_OLD_HI,  /* Missing below two units. */
  TG_VEC_OLS_A_NEW_LO,
  TG_VEC_OLS_A_NEW_HI,
  TG_VEC_OLS_B_NEW_LO,
  TG_VEC_OLS_B_NEW_HI,
  TG_VEC_OLS_A_SHIFT_LO,/* of new - old (Welch); missing where one side has a single unit */
  TG_VEC_OLS_A_SHIFT_HI,
  TG_VEC_OLS_B_SHIFT_LO,
  TG_VEC_OLS_B_SHIFT_HI,
  TG_VEC_COLUMNS
};
/* TG_OK, TG_ENOMEM, TG_EINVAL (other numbers of groups or cpus, another scale, a scale or
 * step of 0), TG_EOVERFLOW, TG_EINTERRUPTED. */
TG_API tg_status tg_compare_vectors(const tg_alloc *a, const tg_stop *stop, const tg_vectors *v_old,
                                    const tg_vectors *v_new, uint64_t seed, tg_table **out);

/* Least squares and Theil-Sen line through (i, y[i]), i from 0; the Theil-Sen intercept is
 * median(y) - slope * median(i). Takes 4 n^2 bytes. TG_OK, TG_ENOMEM, TG_ENODATA below 2 points,
 * TG_ELIMIT beyond TG_LADDER_MOST. */
#define TG_LADDER_MOST 4096
typedef struct tg_line {
  double a, b;
} tg_line;
TG_API tg_status tg_ladder(const tg_alloc *a, const double *y, size_t n, tg_line *ols,
                           tg_line *theil_sen);

#ifdef __cplusplus
}
#endif
#endif

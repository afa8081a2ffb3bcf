/* compare.h - two sides, all keys in one call: effect, interval, test, verdict.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TICKGAUGE_COMPARE_H
#define TICKGAUGE_COMPARE_H

#include "rule.h"
#include "summary.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The word for a key. Append only. */
typedef enum tg_verdict {
  TG_VERDICT_MISSING = 0,    /* one side has no value */
  TG_VERDICT_REGRESSED = 1,  /* ratio and shift lie beyond their margins, in the worse direction */
  TG_VERDICT_IMPROVED = 2,   /* ... in the better direction */
  TG_VERDICT_EQUIVALENT = 3, /* the interval lies inside a margin, and the tail is quiet */
  TG_VERDICT_CHANGED = 4,    /* the interval excludes "no change", not the margin */
  TG_VERDICT_INCONCLUSIVE = 5, /* the interval contains "no change" and reaches beyond the margin */
  TG_VERDICT_UNREPLICATED = 6, /* too few units, and nothing says how units scatter */
  TG_VERDICT_REFUSED = 7,      /* a value or a scale is out of range: the other keys are judged */
  TG_VERDICT_COUNT
} tg_verdict;
/* A static string; "unknown" for no verdict. */
TG_API const char *tg_verdict_text(tg_verdict v);

/* How p and interval were made. Append only. */
typedef enum tg_method {
  TG_METHOD_NONE = 0,
  TG_METHOD_EXACT = 1,     /* U test, order statistics of all ratios and differences */
  TG_METHOD_PAIRED = 2,    /* sign-flip test, signed-rank interval */
  TG_METHOD_RESIDUALS = 3, /* one unit against three or more: residuals of the metric's keys */
  TG_METHOD_NOISE = 4      /* one or two a side: differences of boots of one firmware */
} tg_method;
/* A static string; "unknown" for no method. */
TG_API const char *tg_method_text(tg_method m);

/* Bits of TG_CMP_FLAGS. */
#define TG_CMP_NEGLIGIBLE 1u     /* equivalent, and "no change" is excluded */
#define TG_CMP_BELOW_STEP 2u     /* the shift is within the room that the steps leave */
#define TG_CMP_CONSTANT 4u       /* a side is constant: the interval is widened by the tick model */
#define TG_CMP_INSIDE 8u         /* the single boot lies among the boots it is compared with */
#define TG_CMP_BIMODAL 16u       /* the boots of one firmware are bimodal: no answer from them */
#define TG_CMP_FEW_NOISE 32u     /* fewer than 4 boots of one firmware */
#define TG_CMP_DRAWN 64u         /* p is drawn or approximated, not counted */
#define TG_CMP_STEPS 128u        /* the sides have different resolutions; the coarser counts */
#define TG_CMP_ADDITIVE 256u     /* a value is 0 or below: no ratio, only a shift */
#define TG_CMP_MODES 512u        /* the boots fall into two modes that both sides share */
#define TG_CMP_TAIL_OPEN 1024u   /* the middle is equivalent, the tail is not quiet */
#define TG_CMP_CONTRARY 2048u    /* medians, ratio and shift point to different sides */
#define TG_CMP_SLOWER_TAIL 4096u /* more slow boots than before (p at most .01) */
#define TG_CMP_FASTER_TAIL 8192u /* fewer slow boots than before (p at most .01) */
#define TG_CMP_COARSE 16384u     /* one step, or the absolute margin, exceeds the relative margin */
#define TG_CMP_MODEL 32768u      /* rests on: the keys of one metric scatter alike */

/* Columns of tg_compare: a row for the median of every key, in their order, then the rows of other
 * quantiles. Lengths in the unit shown (num/den, ns); ratios as percent, 100 (new / old - 1). */
enum {
  TG_CMP_KEY = 0,         /* which key, U32 */
  TG_CMP_QUANTILE,        /* of the readings of a unit: 50, 90 or 99, U32 */
  TG_CMP_N_OLD,           /* units, U32 */
  TG_CMP_N_NEW,           /* U32 */
  TG_CMP_OLD,             /* median of the units, F64 from here on; of an even number of values
                             the geometric mean of the middle two (their mean where additive) */
  TG_CMP_NEW,
  TG_CMP_PERCENT,         /* median of all ratios new / old; missing where additive */
  TG_CMP_PERCENT_LO,      /* its interval; LO is missing where the steps reach 0, HI where they */
  TG_CMP_PERCENT_HI,      /* leave it unbounded */
  TG_CMP_SHIFT,           /* median of all differences new - old */
  TG_CMP_SHIFT_STEPS,     /* the same in resolution steps */
  TG_CMP_LO,              /* interval of the shift */
  TG_CMP_HI,
  TG_CMP_LEVEL,           /* level of both intervals; missing with them */
  TG_CMP_P,
  TG_CMP_P_MIN,           /* the smallest p that so many units can give */
  TG_CMP_P_BH,
  TG_CMP_VISIBLE,         /* change found in 4 of 5 repetitions, percent (additive: a length) */
  TG_CMP_JUDGED_FROM,     /* change called regressed in 4 of 5, percent (additive: a length) */
  TG_CMP_MARGIN,          /* margin in force, percent: at least one step (additive: a length) */
  TG_CMP_DELTA,           /* the same as a length at the old median */
  TG_CMP_STEP,            /* the coarser resolution */
  TG_CMP_SCATTER,         /* largest over smallest unit of the side that scatters more */
  TG_CMP_TAIL_P_SLOWER,   /* p of a longer tail of the new units */
  TG_CMP_TAIL_P_FASTER,   /* p of a shorter one */
  TG_CMP_TAIL_ABOVE,      /* units above this value, for the smaller p of the two: */
  TG_CMP_TAIL_OLD,        /* of the old side, U32 */
  TG_CMP_TAIL_NEW,        /* U32 */
  TG_CMP_WITHIN,          /* shift between the readings of single units, F64 */
  TG_CMP_WITHIN_LO,
  TG_CMP_WITHIN_HI,
  TG_CMP_NEEDED,          /* units a side that would find twice the margin, U32; missing where
                             unknown or more than 1000 */
  TG_CMP_REFERENCE,       /* boot-keys behind a single boot's answer, U32 */
  TG_CMP_LACKING_90,      /* units with fewer readings than p90 and p99 need (20, 200), where */
  TG_CMP_LACKING_99,      /* another has as many; 0 = none, U32 */
  TG_CMP_METHOD,          /* TEXT */
  TG_CMP_VERDICT,         /* TEXT */
  TG_CMP_FLAGS,           /* U32 */
  TG_CMP_COLUMNS
};

typedef struct tg_compare_options {
  double margin;           /* relative, .05 = 5 %; finite, 0 or more */
  double alpha;            /* 0 = .05 */
  const uint8_t *better;   /* [n_keys] tg_better; NULL = lower */
  const double *margin_abs; /* [n_keys] in the unit shown, finite, 0 or more; NULL = 0 */
  const uint32_t *group;   /* [n_keys] keys of one metric have one number; NULL = all alike */
  const tg_samples *noise; /* units of one firmware, of the same keys, or NULL */
  uint64_t seed;
  const tg_stop *stop;     /* asked between keys and draws; NULL = never */
  bool paired;             /* unit i of old belongs to unit i of new */
} tg_compare_options;

/* Compares key i of `a_old` with key i of `a_new` for all i, by their medians and, where every
 * unit has readings enough, by further quantiles. Sides may differ in scale and resolution: values
 * are brought to one integer grid exactly. A key that leaves the range (values beyond 2^61 on that
 * grid) is refused in its row, the others are judged. No keys give no rows. The caller frees
 * `*out`. TG_OK, TG_ENOMEM, TG_EINVAL (options, or sides with different numbers of keys),
 * TG_EINTERRUPTED; `*out` is set with TG_OK only. */
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
  TG_VEC_OLS_B_OLD_LO,  /* for figures linear in the values; s at least the room of a tick. */
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

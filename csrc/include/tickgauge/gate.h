/* gate.h - may the new firmware pass? One decision over all keys with one error.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TICKGAUGE_GATE_H
#define TICKGAUGE_GATE_H

#include "compare.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Arrangements of boots that are listed one by one; above it so many are drawn. */
#define TG_GATE_LISTED 20000
#define TG_GATE_DRAWN 10000 /* the observed one among them */

typedef struct tg_gate_options {
  double margin;            /* relative, finite, 0 or more */
  const double *margin_abs; /* [n_keys] in the unit shown, or NULL */
  double alpha;             /* family error of the run; 0 = .05 */
  const uint8_t *better;    /* [n_keys] tg_better; NULL = lower. TG_BETTER_NONE is not gated */
  uint32_t confirm_from;    /* new boots from this number on confirm the others; 0 = none do */
  uint64_t seed;
  const tg_stop *stop;      /* asked between arrangements; NULL = never */
} tg_gate_options;

/* The run as a whole. */
typedef struct tg_gate_summary {
  size_t gated;         /* quantities in the family */
  size_t boots_old, boots_new;
  double arrangements;  /* of the boots; more than TG_GATE_LISTED are drawn */
  bool listed;
  bool reached;         /* alpha_shift can be reached at all by so many boots */
  double alpha_shift, alpha_tail; /* the family error, split between shifts and tails */
  double critical;      /* the largest T that chance alone exceeds in alpha_shift of the runs */
} tg_gate_summary;

/* Columns of tg_gate: a row for each quantity in the order of tg_compare. */
enum {
  TG_GATE_KEY = 0,   /* U32 */
  TG_GATE_QUANTILE,  /* 50, 90, 99, U32 */
  TG_GATE_GATED,     /* 0 or 1, U32; the next ones are missing where 0 */
  TG_GATE_T,         /* statistic of the shift beyond the margin, F64 */
  TG_GATE_P,         /* adjusted p of the shift */
  TG_GATE_P_TAIL,    /* adjusted p of a longer tail (Holm) */
  TG_GATE_GUARD,     /* smallest change of 5, 10, 20, 50, 100, 200, 500, 1000 % that would be red in
                        most runs, percent; missing where none of them would */
  TG_GATE_REGRESSED, /* 0, 1 = by its shift, 2 = by its tail, 3 = by both, U32 */
  TG_GATE_COLUMNS
};

/* Decides over all keys at once. Boots carry all their keys along (tg_samples.boot), so that keys
 * of one boot hang together. The shift is the step-down maximum of Westfall and Young over
 * arrangements of the boots: T = difference of means of clipped logarithms, the old ones moved by
 * the margin, over a scale drawn towards that of all keys. Tails are those of tg_tail_test, Holm
 * over the keys; they have a share of the error where so many boots can reach it. Keys with a value
 * of 0 or below are taken in steps. A quantity that has no value on a side, or is out of range, is
 * not gated.
 *
 * No keys give no rows. The caller frees `*out`. TG_OK, TG_ENOMEM, TG_EINVAL, TG_EINTERRUPTED;
 * outputs are set with TG_OK only. */
TG_API tg_status tg_gate(const tg_alloc *a, const tg_samples *a_old, const tg_samples *a_new,
                         const tg_gate_options *options, tg_gate_summary *summary, tg_table **out);

/* Whether boots drift in the order in which they were taken: the p of S = sum over keys of the
 * squared sum over sides of the correlation of ranks with places, over orders of boots inside the
 * sides (all up to 20,000, else 9,999 drawn). Boot numbers are places. `*p` is 1 where neither side
 * has two boots. TG_OK, TG_ENOMEM, TG_EINVAL, TG_EINTERRUPTED. */
TG_API tg_status tg_drift(const tg_alloc *a, const tg_stop *stop, const tg_samples *a_old,
                          const tg_samples *a_new, uint64_t seed, double *statistic, double *p);

#ifdef __cplusplus
}
#endif
#endif

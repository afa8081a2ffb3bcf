/* counts.h - exact counts: sorted pairs (value, n), merged by adding.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TICKGAUGE_COUNTS_H
#define TICKGAUGE_COUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "alloc.h"
#include "export.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tg_counts tg_counts;

typedef struct tg_count {
  int64_t value;
  uint64_t n;
} tg_count;

/* How a quantile is taken. Names as in numpy.quantile(method=...). */
typedef enum tg_quantile_method {
  TG_QUANTILE_INVERTED_CDF = 1, /* type 1: a value that occurred */
  TG_QUANTILE_LINEAR = 7        /* type 7: between two neighbours */
} tg_quantile_method;

/* `max_distinct` 0 means 65,536. Beyond it values fold onto a log grid of relative width at most
 * 2^-fold_bits (fold_bits 0 means 7, at most 20) and tg_counts_folded turns true; with
 * `refuse_fold` the add is TG_ELIMIT instead. TG_OK, TG_ENOMEM, TG_EINVAL. */
typedef struct tg_counts_options {
  uint32_t max_distinct;
  uint32_t fold_bits;
  bool refuse_fold;
} tg_counts_options;

TG_API tg_status tg_counts_new(const tg_alloc *a, const tg_counts_options *options,
                               tg_counts **out);
TG_API void tg_counts_free(tg_counts *c);
/* Adds `n` values. TG_OK, TG_ENOMEM, TG_EOVERFLOW (n beyond 2^63), TG_ELIMIT. */
TG_API tg_status tg_counts_add(tg_counts *c, const int64_t *values, size_t n);
/* Adds a value `n` times. */
TG_API tg_status tg_counts_add_n(tg_counts *c, int64_t value, uint64_t n);
/* Adds all of `other`; the result does not depend on order or grouping of merges. TG_EINVAL where
 * limit or fold_bits of the two differ; else as tg_counts_add, and untouched on failure. */
TG_API tg_status tg_counts_merge(tg_counts *c, const tg_counts *other);
/* The sorted pairs; valid until the next change. Sorts pending values, so it may fail. */
TG_API tg_status tg_counts_pairs(tg_counts *c, const tg_count **pairs, size_t *n);
TG_API uint64_t tg_counts_total(const tg_counts *c);
TG_API bool tg_counts_folded(const tg_counts *c);

/* Moments of the values: sums exact (128 bits, squares 256, centred on the minimum), then one
 * rounding. `variance` divides by n-1 (missing as NaN for n < 2). TG_ENODATA when empty. */
typedef struct tg_moments {
  uint64_t n;
  int64_t min, max;
  double mean, variance;
} tg_moments;
TG_API tg_status tg_counts_moments(tg_counts *c, tg_moments *out);
/* The p-quantile, 0 <= num/den <= 1 given exactly, of the values. TG_ENODATA when empty. */
TG_API tg_status tg_counts_quantile(tg_counts *c, uint64_t num, uint64_t den,
                                    tg_quantile_method method, double *out);

#ifdef __cplusplus
}
#endif
#endif

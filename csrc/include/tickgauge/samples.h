/* samples.h - readings grouped once: rows numbered, ordered by key and unit, counted exactly.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TICKGAUGE_SAMPLES_H
#define TICKGAUGE_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "alloc.h"
#include "export.h"
#include "status.h"
#include "stop.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A column of ids. `ids` holds uint32_t, of which UINT32_MAX is "missing", or int64_t where `wide`,
 * of which -1 is "missing". Missing comes before all other ids. Borrowed. */
typedef struct tg_id_column {
  const void *ids;
  bool wide;
} tg_id_column;

/* Numbers the distinct rows of `n_columns` >= 1 columns of `n` < 2^32 rows in the order of the
 * rows: row i gets `code[i]`; equal rows get equal codes, a smaller row a smaller code. `*first`
 * gets an array of `*n_codes` row numbers, the first row of each code; the caller returns it to
 * `a`. Empty input gives no code and `*first` NULL. Rows that rise already take one pass; others
 * take a look-up each and a sort of the distinct rows.
 * TG_OK, TG_ENOMEM, TG_EINVAL (no column, or too many rows), TG_EINTERRUPTED. */
TG_API tg_status tg_codes(const tg_alloc *a, const tg_stop *stop, const tg_id_column *columns,
                          size_t n_columns, size_t n, uint32_t *code, uint32_t **first,
                          size_t *n_codes);

/* Readings to be grouped; all arrays have `n` < 2^32 items and are borrowed. */
typedef struct tg_ungrouped {
  const uint32_t *key;    /* below n_keys, or UINT32_MAX: the reading is left out */
  const uint32_t *unit;   /* below n_units: the boot or run it belongs to; NULL: each is a unit */
  const int64_t *value;   /* in any unit; copied only */
  const uint64_t *weight; /* how often it occurred; NULL: once */
  size_t n, n_keys, n_units;
} tg_ungrouped;

/* The groups of readings that have one key and one unit: key k has the groups key_start[k] to
 * key_start[k + 1], in the order of their units; group g has the readings start[g] to start[g + 1],
 * in the order in which they were given, and the unit unit[g]. */
typedef struct tg_groups {
  uint64_t *start; /* n + 1 items; owned */
  uint32_t *unit;  /* n items; owned; the row of the group's reading where no units were given */
  size_t n;
} tg_groups;

/* Orders readings by key, then unit, in linear time. `value` and `row` (and `weight` where there
 * are weights, else NULL) have room for n items and get the values and the row each came from;
 * `key_start` has room for n_keys + 1 items. Only key_start[n_keys] groups, and start[n] readings,
 * are written. The caller frees `groups` with tg_groups_free, on success only.
 * TG_OK, TG_ENOMEM, TG_EINVAL (a key or a unit out of range), TG_EINTERRUPTED; the arrays hold
 * anything after a failure. */
TG_API tg_status tg_group(const tg_alloc *a, const tg_stop *stop, const tg_ungrouped *in,
                          int64_t *value, uint64_t *weight, uint32_t *row, uint64_t *key_start,
                          tg_groups *groups);
TG_API void tg_groups_free(const tg_alloc *a, tg_groups *groups);

/* A value and how often it occurred. */
typedef struct tg_count {
  int64_t value;
  uint64_t n;
} tg_count;

/* Exact counts of each group: `pairs` has room for start[n] items and gets the distinct values of
 * group g, rising, with how often each occurred, at pair_start[g] to pair_start[g + 1] (n + 1
 * items). A group with more than `most` distinct values (0 = 65,536) is folded onto a log grid, and
 * folded[g] is 1, else 0: each value moves to the middle of its cell, by less than 1/128 of itself,
 * those below 256 and INT64_MIN stay. `weight` may be NULL. TG_OK, TG_EOVERFLOW (occurrences beyond
 * 2^63), TG_EINTERRUPTED. */
TG_API tg_status tg_count_groups(const tg_stop *stop, const int64_t *value, const uint64_t *weight,
                                 const uint64_t *start, size_t n, uint32_t most, tg_count *pairs,
                                 uint64_t *pair_start, uint8_t *folded);

#ifdef __cplusplus
}
#endif
#endif

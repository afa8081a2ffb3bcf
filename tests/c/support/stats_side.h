/* stats_side.h - sides of one key for tests, and looking into the rows of an answer.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TESTS_STATS_SIDE_H
#define TESTS_STATS_SIDE_H

#include "stats_near.h"
#include "tickgauge/compare.h"

/* One key, one reading per unit, in ticks of 1. */
typedef struct side {
  uint64_t unit_start[64], key_start[2], num[1], den[1], resolution[1];
  tg_samples s;
} side;
static inline const tg_samples *units(side *k, const int64_t *v, size_t n) {
  for (size_t i = 0; i <= n; i++) k->unit_start[i] = i;
  k->key_start[0] = 0;
  k->key_start[1] = n;
  k->num[0] = k->den[0] = k->resolution[0] = 1;
  k->s = (tg_samples){v, NULL, k->unit_start, k->key_start, k->num, k->den, k->resolution, 1, NULL};
  return &k->s;
}

/* Several keys of the same boots, boot after boot in `v` as it is read: v[boot][key]. */
typedef struct board {
  int64_t value[256];
  uint64_t unit_start[257], key_start[17], ones[16];
  tg_samples s;
} board;
static inline const tg_samples *boots(board *b, const int64_t *v, size_t n_boots, size_t n_keys) {
  for (size_t k = 0; k < n_keys; k++) {
    for (size_t i = 0; i < n_boots; i++) b->value[k * n_boots + i] = v[i * n_keys + k];
    b->key_start[k] = k * n_boots;
    b->ones[k] = 1;
  }
  b->key_start[n_keys] = n_keys * n_boots;
  for (size_t i = 0; i <= n_keys * n_boots; i++) b->unit_start[i] = i;
  b->s = (tg_samples){b->value, NULL, b->unit_start, b->key_start, b->ones, b->ones, b->ones,
                      n_keys, NULL};
  return &b->s;
}

static inline double cell_at(const tg_table *t, size_t row, size_t col) {
  double v = (double)NAN;
  tg_table_f64(t, row, col, &v);
  return v;
}
static inline double cell(const tg_table *t, size_t col) { return cell_at(t, 0, col); }
static inline uint32_t count_at(const tg_table *t, size_t row, size_t col) {
  uint32_t v = UINT32_MAX;
  return tg_table_u32(t, row, col, &v) ? v : UINT32_MAX;
}
static inline uint32_t flags(const tg_table *t) { return count_at(t, 0, TG_CMP_FLAGS); }
static inline void says_at(const tg_table *t, size_t row, size_t col, const char *want) {
  tg_str got;
  ck_assert(tg_table_text(t, row, col, &got));
  ck_assert_msg(got.n == strlen(want) && memcmp(got.p, want, got.n) == 0, "says %.*s, not %s",
                (int)got.n, (const char *)got.p, want);
}
static inline void says(const tg_table *t, size_t col, const char *want) {
  says_at(t, 0, col, want);
}

#endif

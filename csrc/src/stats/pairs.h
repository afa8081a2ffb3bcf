/* pairs.h - exact order statistics of all ratios, or all differences, of two sorted sides
 * (private).
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TG_STATS_PAIRS_H
#define TG_STATS_PAIRS_H

#include "internal.h"

/* One pair: y of the new side over, or minus, x of the old side. */
typedef struct tg_pair {
  uint64_t x, y;
} tg_pair;

typedef enum tg_pair_order { TG_PAIR_RATIO, TG_PAIR_DIFFERENCE } tg_pair_order;

/* The pair of rank k (1-based, 1 <= k <= m * n) among all pairs of x[0..m) and y[0..n), both
 * ascending. Ratios are ordered by products of 128 bits; x 0 counts as an infinite ratio, and no
 * pair may be 0 / 0. Differences need values up to 2^62. The pairs are never listed beyond
 * O(m + n) of them; expected time O((m + n) log(m n)). TG_OK, TG_ENOMEM. */
tg_status tg_pair_at(const tg_alloc *a, tg_pair_order order, const uint64_t *x, size_t m,
                     const uint64_t *y, size_t n, tg_u128 k, tg_pair *out);

/* The pair of rank k + 1, from that of rank k < m * n. */
tg_pair tg_pair_behind(tg_pair_order order, const uint64_t *x, size_t m, const uint64_t *y,
                       size_t n, tg_u128 k, tg_pair p);

/* y / x as a double: infinite for x 0. */
double tg_pair_ratio(tg_pair p);

/* Whether y / x > (10^9 + parts) / 10^9, exactly. */
bool tg_pair_exceeds(tg_pair p, uint64_t parts);
/* Whether y / x < 10^9 / (10^9 + parts), exactly. */
bool tg_pair_falls_short(tg_pair p, uint64_t parts);

/* A relative margin in parts of 10^9, rounded; at most 10^6 times the whole. */
#define TG_MARGIN_WHOLE UINT64_C(1000000000)
uint64_t tg_margin_parts(double margin);

#endif

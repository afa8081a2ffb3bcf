/* optee_shift.c - one constant shift between the counters of the two worlds.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "optee_pairs.h"

#include "base/mem.h"

#define SHIFT_PAIRS 4096 /* so many pairs decide */
#define SHIFT_LAG 16     /* so many lines may be missing at the start of one side */

/* One end of an interval of shifts. */
typedef struct edge {
  int64_t at;
  int32_t step; /* +1 where it begins, -1 behind its end */
} edge;

static bool edge_before(const edge *a, const edge *b) {
  return a->at != b->at ? a->at < b->at : a->step > b->step;
}

#define TG_SORT_NAME sort_edges
#define TG_SORT_ITEM edge
#define TG_SORT_BEFORE(a, b) edge_before(a, b)
#include "base/sort.h"

/* The whole pairs of a side, at most SHIFT_PAIRS: indices into `p`. */
static size_t whole_pairs(const tg_pairs *p, uint32_t *index) {
  size_t n = 0;
  for (size_t i = 0; i < p->n && n < SHIFT_PAIRS; i++) {
    if (tg_pair_whole(&p->at[i]) && !p->at[i].overlap) index[n++] = (uint32_t)i;
  }
  return n;
}

/* The shifts that put `small` into `big`. False where none does. */
static bool shift_window(const tg_pair *big, const tg_pair *small, int64_t *lo, int64_t *hi) {
  if (big->cmd != small->cmd) return false;
  uint64_t low = big->start.ticks - small->start.ticks;
  uint64_t high = big->finish.ticks - small->finish.ticks;
  *lo = (int64_t)low;
  *hi = (int64_t)high;
  return *lo <= *hi;
}

tg_status tg_pairs_shift(const tg_alloc *a, const tg_pairs *outer, const tg_pairs *inner,
                         bool *found, int64_t *lowest, int64_t *highest) {
  uint32_t *index = NULL;
  edge *edges = NULL;
  size_t index_cap = 0;
  size_t edge_cap = 0;
  size_t n = 0;
  *found = false;
  tg_status status = tg_reserve(a, &index, &index_cap, 2 * SHIFT_PAIRS, sizeof *index);
  if (status != TG_OK) goto fail;
  size_t n_out = whole_pairs(outer, index);
  size_t n_in = whole_pairs(inner, index + SHIFT_PAIRS);
  size_t need = n_in < n_out ? n_in : n_out;
  for (size_t i = 0; i < n_in; i++) {
    size_t from = i > SHIFT_LAG ? i - SHIFT_LAG : 0;
    for (size_t o = from; o < n_out && o <= i + SHIFT_LAG; o++) {
      int64_t lo = 0;
      int64_t hi = 0;
      if (!shift_window(&outer->at[index[o]], &inner->at[index[SHIFT_PAIRS + i]], &lo, &hi)) {
        continue;
      }
      status = tg_reserve(a, &edges, &edge_cap, n + 2, sizeof *edges);
      if (status != TG_OK) goto fail;
      edges[n++] = (edge){lo, 1};
      edges[n++] = (edge){hi, -1};
    }
  }
  sort_edges(edges, n);
  int64_t depth = 0;
  int64_t best = 0;
  for (size_t k = 0; k < n; k++) {
    depth += edges[k].step;
    if (depth > best) {
      best = depth;
      *lowest = edges[k].at;
      *highest = k + 1 < n ? edges[k + 1].at : edges[k].at;
    }
  }
  *found = need > 0 && (uint64_t)best * 10 >= (uint64_t)need * 9;
fail:
  tg_release(a, edges);
  tg_release(a, index);
  return status;
}

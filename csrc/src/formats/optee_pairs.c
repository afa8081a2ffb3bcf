/* optee_pairs.c - SMC stamps become pairs, pairs nest in pairs.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "optee_pairs.h"

#include <string.h>

/* True if `a` comes after `b`. */
static bool smc_after(const tg_smc *a, const tg_smc *b) {
  if (a->at.boot != b->at.boot) return a->at.boot > b->at.boot;
  return a->at.ticks > b->at.ticks;
}

/* A stable merge sort from the bottom up: qsort may allocate and is not stable. */
tg_status tg_smc_sort(const tg_alloc *a, tg_smc *lines, size_t n) {
  tg_smc *spare = NULL;
  size_t cap = 0;
  bool sorted = true;
  for (size_t i = 1; i < n && sorted; i++) sorted = !smc_after(&lines[i - 1], &lines[i]);
  if (sorted) return TG_OK;
  tg_status st = tg_grow(a, (void **)&spare, &cap, n, sizeof *spare);
  if (st != TG_OK) return st;
  for (size_t width = 1; width < n; width = width > n / 2 ? n : width * 2) {
    for (size_t from = 0; from < n;) {
      size_t mid = n - from > width ? from + width : n;
      size_t end = n - mid > width ? mid + width : n;
      size_t i = from;
      size_t j = mid;
      for (size_t k = from; k < end; k++) {
        bool right = i == mid || (j < end && smc_after(&lines[i], &lines[j]));
        spare[k] = right ? lines[j++] : lines[i++];
      }
      from = end;
    }
    memcpy(lines, spare, n * sizeof *lines);
  }
  a->release(a->ctx, spare);
  return TG_OK;
}

/* --- pairing ------------------------------------------------------------------------------- */

/* The starts that wait for their finish, oldest first; indices of pairs. */
typedef struct waiting {
  uint32_t pair[TG_OPEN_PAIRS];
  size_t n;
} waiting;

static void forget_waiting(waiting *w, size_t i) {
  memmove(w->pair + i, w->pair + i + 1, (w->n - i - 1) * sizeof w->pair[0]);
  w->n--;
}

static tg_status add_pair(const tg_alloc *a, tg_pairs *out, const tg_smc *line) {
  if (out->n >= TG_UNCLAIMED) return TG_EOVERFLOW;
  tg_status st = tg_grow(a, (void **)&out->at, &out->cap, out->n + 1, sizeof *out->at);
  if (st != TG_OK) return st;
  tg_pair *p = &out->at[out->n++];
  memset(p, 0, sizeof *p);
  p->cmd = line->cmd;
  p->inner = p->outer = TG_UNCLAIMED;
  p->repaired = line->repaired;
  if (line->opens) {
    p->start = line->at;
    p->have_start = true;
  } else {
    p->finish = line->at;
    p->have_finish = true;
  }
  return TG_OK;
}

/* Gives a finish to the latest open start of its command; marks the others that were open. */
static bool close_pair(tg_pairs *out, waiting *open, const tg_smc *line) {
  size_t at = open->n;
  size_t same = 0;
  for (size_t i = open->n; i > 0; i--) {
    if (out->at[open->pair[i - 1]].cmd != line->cmd) continue;
    if (same++ == 0) at = i - 1;
  }
  if (same == 0) return false;
  if (same > 1) {
    for (size_t i = 0; i < open->n; i++) {
      if (out->at[open->pair[i]].cmd == line->cmd) out->at[open->pair[i]].overlap = true;
    }
  }
  tg_pair *p = &out->at[open->pair[at]];
  p->finish = line->at;
  p->have_finish = true;
  p->repaired = p->repaired || line->repaired;
  forget_waiting(open, at);
  return true;
}

tg_status tg_pairs_make(const tg_alloc *a, const tg_smc *lines, size_t n, tg_pairs *out) {
  waiting open = {.n = 0};
  out->n = 0;
  for (size_t i = 0; i < n; i++) {
    if (!lines[i].opens && close_pair(out, &open, &lines[i])) continue;
    tg_status st = add_pair(a, out, &lines[i]);
    if (st != TG_OK) return st;
    if (!lines[i].opens) continue;
    if (open.n == TG_OPEN_PAIRS) forget_waiting(&open, 0);
    open.pair[open.n++] = (uint32_t)(out->n - 1);
  }
  return TG_OK;
}

/* --- nesting ------------------------------------------------------------------------------- */

static void claim(tg_pairs *outer, uint32_t o, tg_pairs *inner, uint32_t i) {
  tg_pair *big = &outer->at[o];
  tg_pair *small = &inner->at[i];
  if (big->holds++ == 0) big->inner = i;
  if (small->places++ == 0) small->outer = o;
}

tg_status tg_pairs_nest(const tg_alloc *a, tg_pairs *outer, tg_pairs *inner) {
  uint32_t *active = NULL;
  size_t cap = 0;
  size_t n = 0;
  size_t next = 0;
  tg_status st = tg_grow(a, (void **)&active, &cap, TG_OPEN_PAIRS, sizeof *active);
  if (st != TG_OK) return st;
  for (size_t i = 0; i < inner->n; i++) {
    const tg_pair *p = &inner->at[i];
    if (!tg_pair_whole(p)) continue;
    for (; next < outer->n; next++) {
      const tg_pair *o = &outer->at[next];
      if (!tg_pair_whole(o)) continue;
      if (o->start.ticks > p->start.ticks) break;
      if (n == TG_OPEN_PAIRS) memmove(active, active + 1, --n * sizeof *active);
      active[n++] = (uint32_t)next;
    }
    size_t kept = 0;
    for (size_t k = 0; k < n; k++) {
      const tg_pair *o = &outer->at[active[k]];
      if (o->finish.ticks < p->start.ticks) continue;
      if (o->cmd == p->cmd && o->finish.ticks >= p->finish.ticks) {
        claim(outer, active[k], inner, (uint32_t)i);
      }
      active[kept++] = active[k];
    }
    n = kept;
  }
  a->release(a->ctx, active);
  return TG_OK;
}

/* --- a constant shift ---------------------------------------------------------------------- */

#define SHIFT_PAIRS 4096 /* so many pairs decide */
#define SHIFT_LAG 16     /* so many lines may be missing at the start of one side */

/* One end of an interval of shifts. */
typedef struct edge {
  int64_t at;
  int32_t step; /* +1 where it begins, -1 behind its end */
} edge;

static bool edge_after(const edge *a, const edge *b) {
  return a->at != b->at ? a->at > b->at : a->step < b->step;
}

static void sift_down(edge *e, size_t root, size_t n) {
  for (;;) {
    size_t child = 2 * root + 1;
    if (child >= n) return;
    if (child + 1 < n && edge_after(&e[child + 1], &e[child])) child++;
    if (!edge_after(&e[child], &e[root])) return;
    edge t = e[root];
    e[root] = e[child];
    e[child] = t;
    root = child;
  }
}

static void edge_sort(edge *e, size_t n) {
  for (size_t i = n / 2; i > 0; i--) sift_down(e, i - 1, n);
  for (size_t i = n; i > 1; i--) {
    edge t = e[0];
    e[0] = e[i - 1];
    e[i - 1] = t;
    sift_down(e, 0, i - 1);
  }
}

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
  tg_status st = tg_grow(a, (void **)&index, &index_cap, 2 * SHIFT_PAIRS, sizeof *index);
  if (st != TG_OK) goto fail;
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
      st = tg_grow(a, (void **)&edges, &edge_cap, n + 2, sizeof *edges);
      if (st != TG_OK) goto fail;
      edges[n++] = (edge){lo, 1};
      edges[n++] = (edge){hi, -1};
    }
  }
  edge_sort(edges, n);
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
  a->release(a->ctx, edges);
  a->release(a->ctx, index);
  return st;
}

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
  for (size_t width = 1; width<n; width = width> n / 2 ? n : width * 2) {
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
    if (lines[i].bad) continue;
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
      bool pinned = !o->have_pin || (p->start.ticks <= o->pin && o->pin <= p->finish.ticks);
      if (pinned && o->cmd == p->cmd && o->finish.ticks >= p->finish.ticks) {
        claim(outer, active[k], inner, (uint32_t)i);
      }
      active[kept++] = active[k];
    }
    n = kept;
  }
  a->release(a->ctx, active);
  return TG_OK;
}

/* --- single stamps ------------------------------------------------------------------------- */

static bool point_after(const tg_point *a, const tg_point *b) {
  return a->cmd != b->cmd ? a->cmd > b->cmd : a->ticks > b->ticks;
}

static void point_sift(tg_point *p, size_t root, size_t n) {
  for (;;) {
    size_t child = 2 * root + 1;
    if (child >= n) return;
    if (child + 1 < n && point_after(&p[child + 1], &p[child])) child++;
    if (!point_after(&p[child], &p[root])) return;
    tg_point t = p[root];
    p[root] = p[child];
    p[child] = t;
    root = child;
  }
}

tg_status tg_points_make(const tg_alloc *a, const tg_pairs *pairs, bool starts, bool lone,
                         tg_points *out) {
  out->n = 0;
  for (size_t i = 0; i < pairs->n; i++) {
    const tg_pair *p = &pairs->at[i];
    bool single = !tg_pair_whole(p) || p->overlap;
    if (lone ? single || p->places > 0 : !single) continue;
    if (starts ? !p->have_start : !p->have_finish) continue;
    tg_status st = tg_grow(a, (void **)&out->at, &out->cap, out->n + 1, sizeof *out->at);
    if (st != TG_OK) return st;
    out->at[out->n++] = (tg_point){
        .cmd = p->cmd, .ticks = starts ? p->start.ticks : p->finish.ticks, .pair = (uint32_t)i};
  }
  for (size_t i = out->n / 2; i > 0; i--) point_sift(out->at, i - 1, out->n);
  for (size_t i = out->n; i > 1; i--) {
    tg_point t = out->at[0];
    out->at[0] = out->at[i - 1];
    out->at[i - 1] = t;
    point_sift(out->at, 0, i - 1);
  }
  return TG_OK;
}

/* The index of the first point of that command at or after `from`. */
static size_t first_point(const tg_points *p, uint64_t cmd, uint64_t from) {
  tg_point key = {.cmd = cmd, .ticks = from};
  size_t low = 0;
  size_t high = p->n;
  while (low < high) {
    size_t mid = low + (high - low) / 2;
    if (point_after(&key, &p->at[mid])) {
      low = mid + 1;
    } else {
      high = mid;
    }
  }
  return low;
}

bool tg_points_suspect(const tg_points *p, uint64_t cmd, uint64_t from, uint64_t to,
                       tg_pairs *pairs) {
  bool any = false;
  for (size_t i = first_point(p, cmd, from);
       i < p->n && p->at[i].cmd == cmd && p->at[i].ticks <= to; i++) {
    pairs->at[p->at[i].pair].suspect = any = true;
  }
  return any;
}

tg_point *tg_points_only(const tg_points *p, uint64_t cmd, uint64_t from, uint64_t to, bool *many) {
  size_t low = first_point(p, cmd, from);
  *many = false;
  tg_point *only = NULL;
  size_t seen = 0;
  for (; low < p->n && p->at[low].cmd == cmd && p->at[low].ticks <= to; low++) {
    *many = ++seen > TG_OPEN_PAIRS || (only != NULL && !p->at[low].taken);
    if (*many) return NULL;
    if (!p->at[low].taken) only = &p->at[low];
  }
  return only;
}

/* --- stamps that cannot be right ----------------------------------------------------------- */

/* True if the stamps rise but for small delays, so that nothing is wrong. */
static bool rises(const tg_smc *lines, size_t n, uint64_t tolerance) {
  uint64_t highest = 0;
  for (size_t i = 0; i < n; i++) {
    uint64_t t = lines[i].at.ticks;
    if (t > highest) highest = t;
    if (highest - t > tolerance) return false;
  }
  return true;
}

/* Marks in `keep` one longest non-decreasing subsequence: `tail[k]` is the line that ends the
 * best one of length k + 1, `before[i]` the line before line i in it. */
static void longest_rise(const tg_smc *lines, size_t n, uint32_t *tail, uint32_t *before,
                         uint8_t *keep) {
  size_t length = 0;
  for (size_t i = 0; i < n; i++) {
    size_t low = 0;
    size_t high = length;
    while (low < high) {
      size_t mid = low + (high - low) / 2;
      if (lines[tail[mid]].at.ticks <= lines[i].at.ticks) {
        low = mid + 1;
      } else {
        high = mid;
      }
    }
    before[i] = low > 0 ? tail[low - 1] : UINT32_MAX;
    tail[low] = (uint32_t)i;
    if (low == length) length++;
  }
  memset(keep, 0, n);
  for (uint32_t i = length > 0 ? tail[length - 1] : UINT32_MAX; i != UINT32_MAX; i = before[i]) {
    keep[i] = 1;
  }
}

/* a - b, not below 0; a + b, not above the range. */
static uint64_t below(uint64_t a, uint64_t b) { return a > b ? a - b : 0; }
static uint64_t above(uint64_t a, uint64_t b) { return a > UINT64_MAX - b ? UINT64_MAX : a + b; }

/* At the ends one neighbour is missing: a first stamp that lost a digit, a last one that gained
 * one. */
static void check_ends(tg_smc *lines, size_t n, uint64_t tolerance) {
  const uint64_t first = lines[0].at.ticks;
  const uint64_t second = lines[1].at.ticks;
  const uint64_t third = lines[2].at.ticks;
  lines[0].bad = lines[0].opens && first < second / 16 && second - first > tolerance &&
                 third >= second && third - second <= tolerance;
  lines[n - 1].bad = !lines[n - 1].opens && lines[n - 1].at.ticks / 16 > lines[n - 2].at.ticks &&
                     lines[n - 1].at.ticks - lines[n - 2].at.ticks > tolerance;
}

tg_status tg_smc_check(const tg_alloc *a, tg_smc *lines, size_t n, uint64_t tolerance) {
  uint32_t *work = NULL;
  size_t cap = 0;
  if (n < 3) return TG_OK;
  check_ends(lines, n, tolerance);
  if (rises(lines, n, tolerance)) return TG_OK;
  if (n >= UINT32_MAX / 3) return TG_EOVERFLOW;
  tg_status st = tg_grow(a, (void **)&work, &cap, 3 * n, sizeof *work);
  if (st != TG_OK) return st;
  uint8_t *keep = (uint8_t *)(work + 2 * n);
  longest_rise(lines, n, work, work + n, keep);
  uint64_t previous = 0;
  size_t next = 0;
  for (size_t i = 0; i < n; i++) {
    if (keep[i]) {
      previous = lines[i].at.ticks;
      continue;
    }
    if (next < i) next = i;
    while (next < n && !keep[next]) next++;
    uint64_t low = below(previous, tolerance);
    uint64_t high = next < n ? above(lines[next].at.ticks, tolerance) : UINT64_MAX;
    if (lines[i].at.ticks < low || lines[i].at.ticks > high) lines[i].bad = true;
  }
  a->release(a->ctx, work);
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

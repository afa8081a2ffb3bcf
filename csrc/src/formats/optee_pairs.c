/* optee_pairs.c - SMC stamps become pairs, pairs nest in pairs.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "optee_pairs.h"

#include <string.h>

#include "base/mem.h"
#include "base/try.h"

static bool smc_before(const tg_smc *a, const tg_smc *b) {
  if (a->at.boot != b->at.boot) return a->at.boot < b->at.boot;
  if (a->at.ticks != b->at.ticks) return a->at.ticks < b->at.ticks;
  return a->order < b->order;
}

#define TG_SORT_NAME sort_lines
#define TG_SORT_ITEM tg_smc
#define TG_SORT_BEFORE(a, b) smc_before(a, b)
#include "base/sort.h"

void tg_smc_sort(tg_smc *lines, size_t n) {
  for (size_t i = 0; i < n; i++) lines[i].order = (uint32_t)i;
  sort_lines(lines, n);
}

/* --- pairing ------------------------------------------------------------------------------- */

/* The starts that wait for their finish, oldest first: indices of pairs, and how many later pairs
 * of their command were closed since. */
typedef struct waiting {
  uint32_t pair[TG_OPEN_PAIRS];
  uint32_t passed[TG_OPEN_PAIRS];
  size_t n;
} waiting;

static void forget_waiting(waiting *w, size_t i) {
  memmove(w->pair + i, w->pair + i + 1, (w->n - i - 1) * sizeof w->pair[0]);
  memmove(w->passed + i, w->passed + i + 1, (w->n - i - 1) * sizeof w->passed[0]);
  w->n--;
}

static tg_status add_pair(const tg_alloc *a, tg_pairs *out, const tg_smc *line) {
  if (out->n >= TG_UNCLAIMED) return TG_EOVERFLOW;
  tg_status status = tg_reserve(a, &out->at, &out->cap, out->n + 1, sizeof *out->at);
  if (status != TG_OK) return status;
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

/* Another pair of this command was closed before the open ones: they overlap it, or their
 * finishes are lost. */
static void pass_by(tg_pairs *out, waiting *open, waiting *given_up, uint64_t cmd) {
  for (size_t i = open->n; i > 0; i--) {
    uint32_t pair = open->pair[i - 1];
    if (out->at[pair].cmd != cmd) continue;
    out->at[pair].overlap = true;
    if (++open->passed[i - 1] < TG_PASSED_BY) continue;
    forget_waiting(open, i - 1);
    if (given_up->n == TG_OPEN_PAIRS) forget_waiting(given_up, 0);
    given_up->pair[given_up->n++] = pair;
  }
}

/* Puts all pairs of a command from pair `from` on in doubt. */
static void doubt_since(tg_pairs *out, uint32_t from, uint64_t cmd) {
  for (size_t i = from; i < out->n; i++) {
    if (out->at[i].cmd == cmd && out->at[i].owner == 0) out->at[i].overlap = true;
  }
}

/* A finish without a start: it belongs to the latest start that was given up, if there is one;
 * otherwise the pair that was closed last may have its start. True if a pair took it. */
static bool place_orphan(tg_pairs *out, waiting *given_up, const tg_smc *line) {
  for (size_t i = given_up->n; i > 0; i--) {
    uint32_t pair = given_up->pair[i - 1];
    tg_pair *p = &out->at[pair];
    if (p->cmd != line->cmd) continue;
    p->finish = line->at;
    p->have_finish = true;
    p->repaired = p->repaired || line->repaired;
    forget_waiting(given_up, i - 1);
    doubt_since(out, pair, line->cmd);
    return true;
  }
  for (size_t i = out->n; i > 0 && out->n - i < TG_OPEN_PAIRS; i--) {
    tg_pair *p = &out->at[i - 1];
    if (p->cmd != line->cmd || p->owner != 0 || !tg_pair_whole(p)) continue;
    p->overlap = true;
    break;
  }
  return false;
}

/* A line of this printer was torn: which of the open calls it would have closed is not known. */
static void forget_open(waiting *open) { open->n = 0; }

/* Puts a stamp to its owner's other one, if that came before. Few pairs begin
 * between the two, so the last ones are looked at. */
static tg_status place_owned(const tg_alloc *a, tg_pairs *out, const tg_smc *line) {
  for (size_t i = out->n; i > 0 && out->n - i < TG_OPEN_PAIRS && !line->opens; i--) {
    tg_pair *p = &out->at[i - 1];
    if (p->owner != line->owner) continue;
    p->finish = line->at;
    p->have_finish = true;
    p->repaired = p->repaired || line->repaired;
    return TG_OK;
  }
  TG_TRY(add_pair(a, out, line));
  out->at[out->n - 1].owner = line->owner;
  return TG_OK;
}

/* At the end of a boot: where a call is still open, calls may have overlapped since a start was
 * given up. */
static void doubt_open(tg_pairs *out, const waiting *open, const waiting *given_up) {
  for (size_t g = 0; g < given_up->n; g++) {
    uint64_t cmd = out->at[given_up->pair[g]].cmd;
    for (size_t i = 0; i < open->n; i++) {
      if (out->at[open->pair[i]].cmd != cmd) continue;
      doubt_since(out, given_up->pair[g], cmd);
      break;
    }
  }
}

/* Gives a finish to the latest open start of its command. False where there is none. */
static bool close_pair(tg_pairs *out, waiting *open, waiting *given_up, const tg_smc *line) {
  size_t at = open->n;
  size_t same = 0;
  for (size_t i = open->n; i > 0; i--) {
    if (out->at[open->pair[i - 1]].cmd != line->cmd) continue;
    if (same++ == 0) at = i - 1;
  }
  if (same == 0) return false;
  tg_pair *p = &out->at[open->pair[at]];
  p->overlap = p->overlap || same > 1;
  p->finish = line->at;
  p->have_finish = true;
  p->repaired = p->repaired || line->repaired;
  forget_waiting(open, at);
  pass_by(out, open, given_up, line->cmd);
  return true;
}

/* Marks the pairs in which another call lies: opens, invokes, closes and cancels of one client
 * follow each other, the other commands may lie in them. */
static void mark_busy(tg_pairs *out) {
  uint32_t active[TG_OPEN_PAIRS];
  size_t n = 0;
  for (size_t i = 0; i < out->n; i++) {
    const tg_pair *p = &out->at[i];
    if (!tg_pair_whole(p) || p->cmd > 3) continue;
    size_t kept = 0;
    for (size_t k = 0; k < n; k++) {
      tg_pair *o = &out->at[active[k]];
      if (o->finish.ticks < p->start.ticks) continue;
      if (o->finish.ticks >= p->finish.ticks) o->busy = true;
      active[kept++] = active[k];
    }
    n = kept;
    if (n == TG_OPEN_PAIRS) memmove(active, active + 1, --n * sizeof active[0]);
    active[n++] = (uint32_t)i;
  }
}

tg_status tg_pairs_make(const tg_alloc *a, const tg_stop *stop, const tg_smc *lines, size_t n,
                        tg_pairs *out) {
  waiting open = {.n = 0};
  waiting given_up = {.n = 0};
  out->n = 0;
  TG_TRY(tg_reserve(a, &out->at, &out->cap, n / 2, sizeof *out->at));
  for (size_t i = 0; i < n; i++) {
    if (tg_stop_at(stop, i, 1)) return TG_EINTERRUPTED;
    if (lines[i].gap) forget_open(&open);
    if (lines[i].bad) continue;
    if (lines[i].owner != 0) {
      TG_TRY(place_owned(a, out, &lines[i]));
      continue;
    }
    if (!lines[i].opens &&
        (close_pair(out, &open, &given_up, &lines[i]) || place_orphan(out, &given_up, &lines[i]))) {
      continue;
    }
    tg_status status = add_pair(a, out, &lines[i]);
    if (status != TG_OK) return status;
    if (!lines[i].opens) continue;
    if (open.n == TG_OPEN_PAIRS) forget_waiting(&open, 0);
    open.pair[open.n] = (uint32_t)(out->n - 1);
    open.passed[open.n++] = 0;
  }
  doubt_open(out, &open, &given_up);
  mark_busy(out);
  return TG_OK;
}

/* --- nesting ------------------------------------------------------------------------------- */

static void claim(tg_pairs *outer, uint32_t o, tg_pairs *inner, uint32_t i) {
  tg_pair *big = &outer->at[o];
  tg_pair *small = &inner->at[i];
  if (big->holds++ == 0) big->inner = i;
  if (small->places++ == 0) small->outer = o;
}

tg_status tg_pairs_nest(const tg_alloc *a, const tg_stop *stop, tg_pairs *outer, tg_pairs *inner) {
  uint32_t *active = NULL;
  size_t cap = 0;
  size_t n = 0;
  size_t next = 0;
  tg_status status = tg_reserve(a, &active, &cap, TG_OPEN_PAIRS, sizeof *active);
  if (status != TG_OK) return status;
  for (size_t i = 0; i < inner->n; i++) {
    const tg_pair *p = &inner->at[i];
    if (tg_stop_at(stop, i, TG_OPEN_PAIRS)) {
      status = TG_EINTERRUPTED;
      break;
    }
    if (!tg_pair_whole(p) || p->owner != 0) continue;
    for (; next < outer->n; next++) {
      const tg_pair *o = &outer->at[next];
      if (!tg_pair_whole(o) || o->owner != 0) continue;
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
  tg_release(a, active);
  return status;
}

/* --- single stamps ------------------------------------------------------------------------- */

static bool point_before(const tg_point *a, const tg_point *b) {
  if (a->cmd != b->cmd) return a->cmd < b->cmd;
  return a->ticks != b->ticks ? a->ticks < b->ticks : a->pair < b->pair;
}

#define TG_SORT_NAME sort_points
#define TG_SORT_ITEM tg_point
#define TG_SORT_BEFORE(a, b) point_before(a, b)
#include "base/sort.h"

/* True if a pair is one of those. */
static bool pair_is(const tg_pair *p, tg_points_of which) {
  bool single = !tg_pair_whole(p) || p->overlap;
  if (which == TG_POINTS_ALL) return true;
  return which == TG_POINTS_LONE ? !single && p->places == 0 : single;
}

tg_status tg_points_make(const tg_alloc *a, const tg_pairs *pairs, bool starts, tg_points_of which,
                         tg_points *out) {
  out->n = 0;
  for (size_t i = 0; i < pairs->n; i++) {
    const tg_pair *p = &pairs->at[i];
    if (p->owner != 0 || !pair_is(p, which)) continue;
    if (starts ? !p->have_start : !p->have_finish) continue;
    tg_status status = tg_reserve(a, &out->at, &out->cap, out->n + 1, sizeof *out->at);
    if (status != TG_OK) return status;
    out->at[out->n++] = (tg_point){
        .cmd = p->cmd, .ticks = starts ? p->start.ticks : p->finish.ticks, .pair = (uint32_t)i};
  }
  sort_points(out->at, out->n);
  return TG_OK;
}

/* The index of the first point of that command at or after `from`. */
static size_t first_point(const tg_points *p, uint64_t cmd, uint64_t from) {
  size_t low = 0;
  size_t high = p->n;
  while (low < high) {
    size_t mid = low + (high - low) / 2;
    if (p->at[mid].cmd < cmd || (p->at[mid].cmd == cmd && p->at[mid].ticks < from)) {
      low = mid + 1;
    } else {
      high = mid;
    }
  }
  return low;
}

void tg_points_range(const tg_points *p, uint64_t cmd, uint64_t from, uint64_t to, size_t *first,
                     size_t *last) {
  *first = first_point(p, cmd, from);
  *last = to == UINT64_MAX ? first_point(p, cmd + 1, 0) : first_point(p, cmd, to + 1);
  if (*last < *first) *last = *first;
}

/* The first point from `i` on that was not marked yet. Ways are shortened as they are gone, so that
 * any number of intervals over the same points takes nearly linear time. */
static size_t unmarked(const tg_points *p, size_t i) {
  while (i < p->n && p->at[i].wanted > 0) {
    const size_t next = i + p->at[i].wanted;
    if (next < p->n) p->at[i].wanted += p->at[next].wanted;
    i = next;
  }
  return i;
}

static bool point_within(const tg_points *p, size_t i, uint64_t cmd, uint64_t to) {
  return i < p->n && p->at[i].cmd == cmd && p->at[i].ticks <= to;
}

bool tg_points_suspect(const tg_points *p, uint64_t cmd, uint64_t from, uint64_t to,
                       tg_pairs *pairs) {
  const size_t first = first_point(p, cmd, from);
  for (size_t i = unmarked(p, first); point_within(p, i, cmd, to); i = unmarked(p, i)) {
    pairs->at[p->at[i].pair].suspect = true;
    p->at[i].wanted = 1;
  }
  return point_within(p, first, cmd, to);
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
  tg_status status = tg_reserve(a, &work, &cap, 3 * n, sizeof *work);
  if (status != TG_OK) return status;
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
  tg_release(a, work);
  return TG_OK;
}

/* samples.c - readings ordered by key and unit, and counted.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tickgauge/samples.h"

#include <string.h>

#include "mem.h"
#include "stop.h"
#include "try.h"
#include "wide.h"

enum { DEFAULT_DISTINCT = 1 << 16, FOLD_BITS = 7 };

/* Arrays at work; `next` has room for a counter of each key, or each unit. */
typedef struct work {
  const tg_alloc *alloc;
  const tg_stop *stop;
  const tg_ungrouped *in;
  uint64_t *next;
  uint32_t *by_unit; /* rows by unit, or NULL where each key meets its units in order */
} work;

/* Checks the codes, counts the readings of each key into next[k + 1]; `*in_order`: the units of
 * each key rise from row to row. */
static tg_status count_keys(work *w, uint32_t *last, bool *in_order) {
  const tg_ungrouped *in = w->in;
  *in_order = true;
  for (size_t i = 0; i < in->n; i++) {
    const uint32_t key = in->key[i];
    if (tg_stop_at(w->stop, i, 1)) return TG_EINTERRUPTED;
    if (key == UINT32_MAX) continue;
    if (key >= in->n_keys) return TG_EINVAL;
    w->next[key + 1]++;
    if (in->unit == NULL) continue;
    if (in->unit[i] >= in->n_units) return TG_EINVAL;
    if (in->unit[i] < last[key]) *in_order = false;
    last[key] = in->unit[i];
  }
  return TG_OK;
}

static void running_sum(uint64_t *v, size_t n) {
  for (size_t i = 1; i < n; i++) v[i] += v[i - 1];
}

/* Fills `by_unit`: the rows in the order of their units. */
static tg_status order_units(work *w) {
  const tg_ungrouped *in = w->in;
  uint64_t *next = tg_zalloc(w->alloc, in->n_units + 1, sizeof *next);
  w->by_unit = tg_take(w->alloc, in->n, sizeof *w->by_unit);
  if (next == NULL || w->by_unit == NULL) {
    tg_release(w->alloc, next);
    return TG_ENOMEM;
  }
  for (size_t i = 0; i < in->n; i++)
    if (in->key[i] != UINT32_MAX) next[in->unit[i] + 1]++;
  running_sum(next, in->n_units + 1);
  for (size_t i = 0; i < in->n; i++)
    if (in->key[i] != UINT32_MAX) w->by_unit[next[in->unit[i]]++] = (uint32_t)i;
  tg_release(w->alloc, next);
  return TG_OK;
}

/* Writes the readings of each key behind each other; `next` holds where each key begins, and then
 * where it ends. */
static tg_status place(work *w, size_t kept, int64_t *value, uint64_t *weight, uint32_t *row) {
  const tg_ungrouped *in = w->in;
  const size_t n = w->by_unit != NULL ? kept : in->n;
  for (size_t i = 0; i < n; i++) {
    const size_t from = w->by_unit != NULL ? w->by_unit[i] : i;
    if (tg_stop_at(w->stop, i, 1)) return TG_EINTERRUPTED;
    if (in->key[from] == UINT32_MAX) continue;
    const uint64_t to = w->next[in->key[from]]++;
    value[to] = in->value[from];
    row[to] = (uint32_t)from;
    if (weight != NULL) weight[to] = in->weight[from];
  }
  return TG_OK;
}

/* Whether reading `i` of the ordered ones, of the same key as the one before, begins a group. */
static bool new_unit(const tg_ungrouped *in, const uint32_t *row, uint64_t i) {
  return in->unit == NULL || in->unit[row[i]] != in->unit[row[i - 1]];
}

/* Calls of `begins` are twice: to count the groups, then to write them. `end` holds the end of each
 * key. */
static size_t find_groups(const tg_ungrouped *in, const uint64_t *end, const uint32_t *row,
                          uint64_t *key_start, tg_groups *out) {
  size_t n = 0;
  uint64_t from = 0;
  for (size_t k = 0; k < in->n_keys; k++) {
    key_start[k] = n;
    for (uint64_t i = from; i < end[k]; i++) {
      if (i > from && !new_unit(in, row, i)) continue;
      if (out != NULL) {
        out->start[n] = i;
        out->unit[n] = in->unit != NULL ? in->unit[row[i]] : row[i];
      }
      n++;
    }
    from = end[k];
  }
  key_start[in->n_keys] = n;
  if (out != NULL) out->start[n] = from;
  return n;
}

static tg_status make_groups(const work *w, const uint32_t *row, uint64_t *key_start,
                             tg_groups *out) {
  tg_groups groups = {.n = find_groups(w->in, w->next, row, key_start, NULL)};
  groups.start = tg_take(w->alloc, groups.n + 1, sizeof *groups.start);
  groups.unit = tg_take(w->alloc, groups.n + 1, sizeof *groups.unit);
  if (groups.start == NULL || groups.unit == NULL) {
    tg_groups_free(w->alloc, &groups);
    return TG_ENOMEM;
  }
  find_groups(w->in, w->next, row, key_start, &groups);
  *out = groups;
  return TG_OK;
}

static tg_status group(work *w, int64_t *value, uint64_t *weight, uint32_t *row,
                       uint64_t *key_start, tg_groups *groups) {
  bool in_order = true;
  uint32_t *last = tg_zalloc(w->alloc, w->in->n_keys + 1, sizeof *last);
  w->next = tg_zalloc(w->alloc, w->in->n_keys + 1, sizeof *w->next);
  tg_status status = last == NULL || w->next == NULL ? TG_ENOMEM : count_keys(w, last, &in_order);
  tg_release(w->alloc, last);
  if (status != TG_OK) return status;
  running_sum(w->next, w->in->n_keys + 1);
  const size_t kept = (size_t)w->next[w->in->n_keys];
  if (!in_order) TG_TRY(order_units(w));
  TG_TRY(place(w, kept, value, weight, row));
  return make_groups(w, row, key_start, groups);
}

tg_status tg_group(const tg_alloc *a, const tg_stop *stop, const tg_ungrouped *in, int64_t *value,
                   uint64_t *weight, uint32_t *row, uint64_t *key_start, tg_groups *groups) {
  work w = {.alloc = tg_alloc_or_default(a), .stop = stop, .in = in};
  if (in->n >= UINT32_MAX || in->n_keys >= UINT32_MAX) return TG_EINVAL;
  const tg_status status =
      group(&w, value, in->weight != NULL ? weight : NULL, row, key_start, groups);
  tg_release(w.alloc, w.next);
  tg_release(w.alloc, w.by_unit);
  return status;
}

void tg_groups_free(const tg_alloc *a, tg_groups *groups) {
  a = tg_alloc_or_default(a);
  tg_release(a, groups->start);
  tg_release(a, groups->unit);
  *groups = (tg_groups){NULL, NULL, 0};
}

#define TG_SORT_NAME sort_pairs
#define TG_SORT_ITEM tg_count
#define TG_SORT_BEFORE(a, b) ((a)->value < (b)->value)
#include "sort.h"

/* Makes equal neighbours one pair; how many are left, and the sum of all. */
static size_t join_equal(tg_count *pairs, size_t n, uint64_t *total, bool *overflow) {
  size_t kept = 0;
  for (size_t i = 0; i < n; i++) {
    if (pairs[i].n == 0) continue;
    if (__builtin_add_overflow(*total, pairs[i].n, total) || *total > INT64_MAX) *overflow = true;
    if (kept > 0 && pairs[kept - 1].value == pairs[i].value) {
      pairs[kept - 1].n += pairs[i].n;
    } else {
      pairs[kept++] = pairs[i];
    }
  }
  return kept;
}

/* The middle of the value's cell on the log grid: cells [m 2^s, (m+1) 2^s) with 128 <= m < 256, so
 * at most 1/128 wide relative to any value in them. Folding a folded value changes nothing, and the
 * order of values stays. */
static int64_t fold(int64_t value) {
  const uint64_t magnitude = tg_magnitude(value);
  if (magnitude >> (FOLD_BITS + 1) == 0 || value == INT64_MIN) return value;
  const unsigned shift = 63u - (unsigned)__builtin_clzll(magnitude) - FOLD_BITS;
  const uint64_t width = UINT64_C(1) << shift;
  const int64_t middle = (int64_t)((magnitude & ~(width - 1)) + ((width - 1) >> 1));
  return value < 0 ? -middle : middle;
}

tg_status tg_count_groups(const tg_stop *stop, const int64_t *value, const uint64_t *weight,
                          const uint64_t *start, size_t n, uint32_t most, tg_count *pairs,
                          uint64_t *pair_start, uint8_t *folded) {
  uint64_t at = 0, done = 0;
  if (most == 0) most = DEFAULT_DISTINCT;
  for (size_t g = 0; g < n; g++) {
    const size_t size = (size_t)(start[g + 1] - start[g]);
    tg_count *own = pairs + at;
    uint64_t total = 0;
    bool overflow = false;
    if (tg_stop_after(stop, &done, size + 1)) return TG_EINTERRUPTED;
    for (size_t i = 0; i < size; i++)
      own[i] = (tg_count){value[start[g] + i], weight != NULL ? weight[start[g] + i] : 1};
    sort_pairs(own, size);
    size_t distinct = join_equal(own, size, &total, &overflow);
    if (overflow) return TG_EOVERFLOW;
    folded[g] = distinct > most;
    if (folded[g] != 0) {
      for (size_t i = 0; i < distinct; i++) own[i].value = fold(own[i].value);
      total = 0;
      distinct = join_equal(own, distinct, &total, &overflow);
    }
    pair_start[g] = at;
    at += distinct;
  }
  pair_start[n] = at;
  return TG_OK;
}

/* segment.c - least-cost segments of a series. SPDX-License-Identifier: BSD-3-Clause */
#include "segment.h"

#include <math.h>
#include <string.h>

typedef struct ranked {
  int64_t value;
  uint32_t at;
} ranked;
#define TG_SORT_NAME sort_ranked
#define TG_SORT_ITEM ranked
#define TG_SORT_BEFORE(a, b) \
  ((a)->value < (b)->value || ((a)->value == (b)->value && (a)->at < (b)->at))
#include "base/sort.h"

tg_status tg_by_value(const tg_alloc *a, const int64_t *x, size_t n, uint32_t *by_value) {
  ranked *v = tg_array(a, n, sizeof *v);
  if (v == NULL) return TG_ENOMEM;
  for (size_t i = 0; i < n; i++) v[i] = (ranked){x[i], (uint32_t)i};
  sort_ranked(v, n);
  for (size_t i = 0; i < n; i++) by_value[i] = v[i].at;
  tg_free(a, v);
  return TG_OK;
}

/* Places of a series in the order of their values, as a ring through the item `n`, without those
 * that were taken out; their lower median, and the sum of |x - median|. */
typedef struct ring {
  const int64_t *x;
  const uint32_t *rank; /* of each place in the order of values */
  uint32_t *next, *before;
  size_t n, left;
  uint32_t median;
  tg_i128 cost;
} ring;

static void ring_fill(ring *r, const uint32_t *by_value) {
  uint32_t last = (uint32_t)r->n;
  for (size_t i = 0; i < r->n; i++) {
    r->before[by_value[i]] = last;
    r->next[last] = by_value[i];
    last = by_value[i];
  }
  r->next[last] = (uint32_t)r->n;
  r->before[r->n] = last;
  r->left = r->n;
  r->median = r->n > 0 ? by_value[(r->n - 1) / 2] : 0;
  r->cost = 0;
  for (size_t i = 0; i < r->n; i++) r->cost += tg_apart(r->x[i], r->x[r->median]);
}

/* Takes a place out. The lower median of an odd number gives way to the one before it unless the
 * place is below; that of an even number to the next unless the place is above. */
static void ring_take(ring *r, uint32_t place) {
  const uint32_t median = r->median;
  if (r->left % 2 == 0) {
    if (r->rank[place] <= r->rank[median]) r->median = r->next[median];
    r->cost -= tg_apart(r->x[place], r->x[r->median]);
  } else {
    r->cost -= tg_apart(r->x[place], r->x[median]);
    if (r->rank[place] >= r->rank[median]) r->median = r->before[median];
  }
  r->next[r->before[place]] = r->next[place];
  r->before[r->next[place]] = r->before[place];
  r->left--;
}

/* `room` has 3 (n + 1) numbers. */
static ring ring_of(const int64_t *x, size_t n, const uint32_t *by_value, uint32_t *room) {
  ring r = {.x = x, .rank = room, .next = room + n + 1, .before = room + 2 * (n + 1), .n = n};
  for (size_t i = 0; i < n; i++) room[by_value[i]] = (uint32_t)i;
  ring_fill(&r, by_value);
  return r;
}

void tg_end_costs(const int64_t *x, size_t n, const uint32_t *by_value, uint32_t *room,
                  double *ahead, double *behind) {
  ring r = ring_of(x, n, by_value, room);
  for (size_t i = n; i > 0; i--) {
    ahead[i] = (double)r.cost;
    ring_take(&r, (uint32_t)i - 1);
  }
  ahead[0] = behind[n] = 0;
  ring_fill(&r, by_value);
  for (size_t i = 0; i < n; i++) {
    behind[i] = (double)r.cost;
    ring_take(&r, (uint32_t)i);
  }
}

tg_status tg_segment_costs(const tg_stop *stop, const int64_t *x, size_t n,
                           const uint32_t *by_value, uint32_t *room, double *cost) {
  ring whole = ring_of(x, n, by_value, room);
  for (size_t i = 0; i < n; i++) {
    if (tg_stop_at(stop, i, n)) return TG_EINTERRUPTED;
    ring r = whole;
    r.next = room + 3 * (n + 1);
    r.before = r.next + n + 1;
    memcpy(r.next, whole.next, 2 * (n + 1) * sizeof *r.next); /* `before` is behind it */
    for (size_t j = n; j-- > i;) {
      cost[i * n + j] = (double)r.cost;
      ring_take(&r, (uint32_t)j);
    }
    ring_take(&whole, (uint32_t)i);
  }
  return TG_OK;
}

size_t tg_segment_fit(const double *cost, size_t n, double penalty, size_t *start, double *work) {
  double *best = work, *parts = work + n + 1; /* of the first j values; parts as a double */
  best[0] = parts[0] = 0;
  for (size_t j = 1; j <= n; j++) {
    best[j] = cost[j - 1];
    parts[j] = 1;
    start[j - 1] = 0; /* where the last segment of the first j values begins */
    for (size_t i = 1; i < j; i++) {
      if (i + 1 == j && j < n) continue; /* an inner segment of one */
      double c = best[i] + cost[i * n + j - 1] + penalty, slack = 1e-9 * (1 + fabs(c));
      if (c > best[j] - slack && (c > best[j] + slack || parts[i] + 1 >= parts[j])) continue;
      best[j] = c;
      parts[j] = parts[i] + 1;
      start[j - 1] = i;
    }
  }
  size_t k = (size_t)parts[n], at = k;
  for (size_t j = n; j > 0;) { /* the begins, from the last one on, kept behind the chain's reach */
    size_t from = start[j - 1];
    work[--at] = (double)from;
    j = from;
  }
  for (size_t i = 0; i < k; i++) start[i] = (size_t)work[i];
  return k;
}

/* Optimal partitioning (Jackson et al. 2005): best[j] = min over i of best[i] + cost(i..j-1) +
 * penalty. */
tg_status tg_segment(const tg_alloc *a, const tg_stop *stop, const int64_t *x, size_t n,
                     double penalty, size_t *start, size_t *k) {
  if (!(penalty > 0)) return TG_EINVAL;
  if (n > TG_SEGMENT_MOST) return TG_ELIMIT;
  tg_status status = tg_check_values(x, n);
  if (status != TG_OK) return status;
  if (n == 0) {
    *k = 0;
    return TG_OK;
  }
  double *cost = tg_array(a, n * n + n + 1, sizeof *cost);
  uint32_t *by_value = tg_array(a, n, sizeof *by_value);
  uint32_t *room = tg_array(a, TG_SEGMENT_ROOM(n), sizeof *room);
  size_t *from = tg_array(a, 2 * (n + 1), sizeof *from);
  if (cost == NULL || by_value == NULL || room == NULL || from == NULL) {
    status = TG_ENOMEM;
    goto done;
  }
  double *best = cost + n * n;
  size_t *parts = from + n + 1;
  status = tg_by_value(a, x, n, by_value);
  if (status == TG_OK) status = tg_segment_costs(stop, x, n, by_value, room, cost);
  if (status != TG_OK) goto done;
  best[0] = 0;
  parts[0] = 0;
  for (size_t j = 1; j <= n; j++) {
    if (tg_stop_at(stop, j - 1, n)) {
      status = TG_EINTERRUPTED;
      goto done;
    }
    from[j] = 0;
    best[j] = cost[j - 1];
    parts[j] = 1;
    for (size_t i = 1; i < j; i++) {
      double c = best[i] + cost[i * n + j - 1] + penalty;
      if (c > best[j] || (!(c < best[j]) && parts[i] + 1 > parts[j])) continue;
      best[j] = c;
      from[j] = i;
      parts[j] = parts[i] + 1;
    }
  }
  *k = parts[n];
  for (size_t j = n, at = *k; j > 0; j = from[j]) start[--at] = from[j];
done:
  tg_free(a, cost);
  tg_free(a, by_value);
  tg_free(a, room);
  tg_free(a, from);
  return status;
}

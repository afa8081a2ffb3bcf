/* segment.c - least-cost segments of a series. SPDX-License-Identifier: BSD-3-Clause */
#include "segment.h"

#include <math.h>

#include "samples.h"

/* A heap with its largest value on top. */
static void heap_push(int64_t *heap, size_t n, int64_t v) {
  size_t at = n;
  for (; at > 0 && heap[(at - 1) / 2] < v; at = (at - 1) / 2) heap[at] = heap[(at - 1) / 2];
  heap[at] = v;
}

static int64_t heap_pop(int64_t *heap, size_t n) {
  const int64_t top = heap[0], v = heap[n - 1];
  size_t at = 0;
  for (size_t child; (child = 2 * at + 1) < n - 1; at = child) {
    if (child + 1 < n - 1 && heap[child] < heap[child + 1]) child++;
    if (heap[child] <= v) break;
    heap[at] = heap[child];
  }
  heap[at] = v;
  return top;
}

/* The values of a segment: the lower half, with the median, and the upper half, negated so that
 * its smallest is on top. */
typedef struct halves {
  int64_t *low, *high;
  size_t n_low, n_high;
  tg_i128 low_sum, high_sum;
} halves;

static void halves_add(halves *h, int64_t v) {
  if (h->n_low == 0 || v <= h->low[0]) {
    heap_push(h->low, h->n_low++, v);
    h->low_sum += v;
  } else {
    heap_push(h->high, h->n_high++, -v);
    h->high_sum += v;
  }
  if (h->n_low > h->n_high + 1) {
    const int64_t moved = heap_pop(h->low, h->n_low--);
    heap_push(h->high, h->n_high++, -moved);
    h->low_sum -= moved;
    h->high_sum += moved;
  } else if (h->n_high > h->n_low) {
    const int64_t moved = -heap_pop(h->high, h->n_high--);
    heap_push(h->low, h->n_low++, moved);
    h->high_sum -= moved;
    h->low_sum += moved;
  }
}

/* Sum of |v - median|; a median of its own adds nothing. */
static double halves_cost(const halves *h) {
  const tg_i128 own = h->n_low > h->n_high ? h->low[0] : 0;
  return (double)(h->high_sum - (h->low_sum - own));
}

/* cost[i][j] of x[i..j]; `work` has room for n + 3 values. TG_OK, TG_EINTERRUPTED. */
tg_status tg_segment_costs(const tg_stop *stop, const int64_t *x, size_t n, int64_t *work,
                               double *cost) {
  for (size_t i = 0; i < n; i++) {
    if (tg_stop_at(stop, i, n)) return TG_EINTERRUPTED;
    halves h = {.low = work, .high = work + n / 2 + 2};
    for (size_t j = i; j < n; j++) {
      halves_add(&h, x[j]);
      cost[i * n + j] = halves_cost(&h);
    }
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

double tg_segment_change(const double *cost, size_t n) {
  double whole = n > 0 ? cost[n - 1] : 0, one = 0, two = 0;
  for (size_t i = 1; i < n; i++) {
    double saved = whole - cost[i - 1] - cost[i * n + n - 1];
    if (saved > one) one = saved;
    for (size_t j = i + 2; j < n; j++) {
      double more = whole - cost[i - 1] - cost[i * n + j - 1] - cost[j * n + n - 1];
      if (more > two) two = more;
    }
  }
  return one > two / 2 ? one : two / 2;
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
  int64_t *work = tg_array(a, n + 3, sizeof *work);
  size_t *from = tg_array(a, 2 * (n + 1), sizeof *from);
  if (cost == NULL || work == NULL || from == NULL) {
    status = TG_ENOMEM;
    goto done;
  }
  double *best = cost + n * n;
  size_t *parts = from + n + 1;
  status = tg_segment_costs(stop, x, n, work, cost);
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
  tg_free(a, work);
  tg_free(a, from);
  return status;
}

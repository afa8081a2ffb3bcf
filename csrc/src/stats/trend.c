/* trend.c - steps over releases: least-cost segments, energy statistic.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <string.h>

#include "samples.h"

#define ORDERS_LISTED 8 /* values up to which all orders are counted */

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
static tg_status segment_costs(const tg_stop *stop, const int64_t *x, size_t n, int64_t *work,
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

/* Optimal partitioning (Jackson et al. 2005): best[j] = min over i of best[i] + cost(i..j-1) +
 * penalty. */
tg_status tg_segment(const tg_alloc *a, const tg_stop *stop, const int64_t *x, size_t n,
                     double penalty, size_t *start, size_t *k) {
  if (!(penalty > 0)) return TG_EINVAL;
  if (n > TG_SEGMENT_MOST) return TG_ELIMIT;
  tg_status s = tg_check_values(x, n);
  if (s != TG_OK) return s;
  if (n == 0) {
    *k = 0;
    return TG_OK;
  }
  double *cost = tg_array(a, n * n + n + 1, sizeof *cost);
  int64_t *work = tg_array(a, n + 3, sizeof *work);
  size_t *from = tg_array(a, 2 * (n + 1), sizeof *from);
  if (cost == NULL || work == NULL || from == NULL) {
    s = TG_ENOMEM;
    goto done;
  }
  double *best = cost + n * n;
  size_t *parts = from + n + 1;
  s = segment_costs(stop, x, n, work, cost);
  if (s != TG_OK) goto done;
  best[0] = 0;
  parts[0] = 0;
  for (size_t j = 1; j <= n; j++) {
    if (tg_stop_at(stop, j - 1, n)) {
      s = TG_EINTERRUPTED;
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
  return s;
}

/* Q(t) as an exact fraction num / (N (n-1) (m-1)), n = t, m = N - t, from pair sums: with
 * n * m / N * (2 Sxy / nm - 2 Sxx / n(n-1) - 2 Syy / m(m-1)). */
typedef struct quotient {
  tg_i128 num;
  uint64_t den; /* (n-1)(m-1); N is common to all */
} quotient;

static bool less(quotient p, quotient q) {
  return p.num * (tg_i128)q.den < q.num * (tg_i128)p.den;
}

/* The largest Q(t) over 2 <= t <= N - 2 of x in the order given, and its first t. */
static quotient largest_step(const int64_t *x, size_t total, size_t *at) {
  quotient best = {0, 0};
  tg_i128 left = 0, right = 0, cross = 0; /* pair sums of |x - x'| */
  for (size_t i = 0; i < total; i++)
    for (size_t j = i + 1; j < total; j++)
      right += x[i] < x[j] ? (tg_i128)x[j] - x[i] : (tg_i128)x[i] - x[j];
  for (size_t t = 1; t + 2 <= total; t++) { /* x[t-1] moves from the right to the left */
    tg_i128 to_left = 0, to_right = 0;
    for (size_t i = 0; i < total; i++) {
      tg_i128 d = (tg_i128)x[i] - x[t - 1];
      if (i < t - 1)
        to_left += d < 0 ? -d : d;
      else
        to_right += d < 0 ? -d : d;
    }
    left += to_left;
    right -= to_right;
    cross += to_right - to_left;
    if (t < 2) continue;
    tg_i128 n = (tg_i128)t, m = (tg_i128)(total - t);
    quotient q = {2 * cross * (n - 1) * (m - 1) - 2 * left * m * (m - 1) - 2 * right * n * (n - 1),
                  (uint64_t)((n - 1) * (m - 1))};
    if (best.den == 0 || less(best, q)) {
      best = q;
      *at = t;
    }
  }
  return best;
}

/* The next distinct order of v; false after the last (from the sorted order all are visited). */
static bool next_order(int64_t *v, size_t n) {
  size_t i = n - 1;
  while (i > 0 && v[i - 1] >= v[i]) i--;
  if (i == 0) return false;
  size_t j = n - 1;
  while (v[j] <= v[i - 1]) j--;
  int64_t x = v[i - 1];
  v[i - 1] = v[j];
  v[j] = x;
  for (size_t lo = i, hi = n - 1; lo < hi; lo++, hi--) {
    x = v[lo];
    v[lo] = v[hi];
    v[hi] = x;
  }
  return true;
}

tg_status tg_energy_step(const tg_alloc *a, const tg_stop *stop, const int64_t *x, size_t n,
                         uint64_t seed, tg_energy *out) {
  if (n < 4) return TG_ENODATA;
  if (n > 1024) return TG_ELIMIT;
  for (size_t i = 0; i < n; i++) /* products of sums with n^2 and den^2 stay below 2^127 */
    if (x[i] > (INT64_C(1) << 54) || x[i] < -(INT64_C(1) << 54)) return TG_EOVERFLOW;
  int64_t *v = tg_array(a, n, sizeof *v);
  if (v == NULL) return TG_ENOMEM;
  size_t at = 0, other = 0;
  quotient seen = largest_step(x, n, &at);
  uint64_t all = 0, far = 0;
  tg_status s = TG_OK;
  memcpy(v, x, n * sizeof *v);
  tg_sort_i64(v, n);
  bool exact = n <= ORDERS_LISTED;
  if (exact) {
    do {
      if (tg_stop_at(stop, all, n * n)) {
        s = TG_EINTERRUPTED;
        break;
      }
      all++;
      far += !less(largest_step(v, n, &other), seen);
    } while (next_order(v, n));
  } else {
    tg_rng rng;
    tg_rng_seed(&rng, seed);
    far = 1;
    uint64_t draws = n <= 64 ? TG_RESAMPLES : 999;
    for (all = 1; all <= draws; all++) {
      if (tg_stop_at(stop, all - 1, n * n)) {
        s = TG_EINTERRUPTED;
        break;
      }
      for (size_t i = 0; i + 1 < n; i++) {
        size_t j = i + (size_t)tg_rng_below(&rng, n - i);
        int64_t swap = v[j];
        v[j] = v[i];
        v[i] = swap;
      }
      far += !less(largest_step(v, n, &other), seen);
    }
  }
  double p_min = 2 / tg_choose(n, at);
  if (s == TG_OK)
    *out = (tg_energy){(double)seen.num / ((double)n * (double)seen.den),
                       (double)far / (double)all, p_min < 1 ? p_min : 1, at, exact};
  tg_free(a, v);
  return s;
}

static const tg_column_def series_columns[TG_TREND_COLUMNS] = {
    {"releases", TG_U32, 0}, {"steps", TG_U32, 0}, {"median", TG_F64, 0},
    {"penalty", TG_F64, 0},  {"p", TG_F64, 0},     {"p_min", TG_F64, 0}};
static const tg_column_def step_columns[TG_STEP_COLUMNS] = {
    {"key", TG_U32, 0}, {"before", TG_U32, 0}, {"at", TG_U32, 0},     {"last", TG_U32, 0},
    {"old", TG_F64, 0}, {"new", TG_F64, 0},    {"percent", TG_F64, 0}};

/* Lower median of v[0..n), which gets sorted into `work`. */
static int64_t median_of(int64_t *work, const int64_t *v, size_t n) {
  memcpy(work, v, n * sizeof *v);
  tg_sort_i64(work, n);
  return work[(n - 1) / 2];
}

/* One row per segment after the first whose level differs by a resolution or more. */
static tg_status put_steps(const tg_series *s, size_t key, const size_t *start, size_t k,
                           int64_t *work, tg_table *steps, uint32_t *found) {
  size_t base = (size_t)s->start[key], n = (size_t)s->start[key + 1] - base;
  const int64_t *v = s->value + base;
  const uint32_t *release = s->release + base;
  double scale = (double)s->num[key] / (double)s->den[key];
  *found = 0;
  for (size_t i = 1; i < k; i++) {
    size_t end = i + 1 < k ? start[i + 1] : n, row;
    int64_t before = median_of(work, v + start[i - 1], start[i] - start[i - 1]);
    int64_t after = median_of(work, v + start[i], end - start[i]);
    uint64_t size = after > before ? (uint64_t)(after - before) : (uint64_t)(before - after);
    if (size < s->resolution[key]) continue;
    tg_status st = tg_table_append(steps, &row);
    if (st != TG_OK) return st;
    ++*found;
    tg_table_set_u32(steps, row, TG_STEP_KEY, (uint32_t)key);
    tg_table_set_u32(steps, row, TG_STEP_BEFORE, release[start[i] - 1]);
    tg_table_set_u32(steps, row, TG_STEP_AT, release[start[i]]);
    tg_table_set_u32(steps, row, TG_STEP_LAST, release[end - 1]);
    tg_put(steps, row, TG_STEP_OLD, (double)before * scale);
    tg_put(steps, row, TG_STEP_NEW, (double)after * scale);
    if (before != 0)
      tg_put(steps, row, TG_STEP_PERCENT,
             100 * (double)(after - before) / fabs((double)before));
  }
  return TG_OK;
}

/* Segments one series; `start` and `work` have room for its releases. */
static tg_status trend_key(const tg_alloc *a, const tg_stop *stop, const tg_series *s, size_t key,
                           double margin, double margin_abs, uint64_t seed, size_t *start,
                           int64_t *work, tg_table *series, tg_table *steps) {
  size_t base = (size_t)s->start[key], n = (size_t)s->start[key + 1] - base, row, k = 0;
  const int64_t *v = s->value + base;
  double scale = (double)s->num[key] / (double)s->den[key];
  tg_status st = tg_table_append(series, &row);
  if (st != TG_OK) return st;
  tg_table_set_u32(series, row, TG_TREND_RELEASES, (uint32_t)n);
  if (n == 0) return tg_table_set_u32(series, row, TG_TREND_STEPS, 0);
  int64_t median = median_of(work, v, n);
  double unit = margin * fabs((double)median), least = (double)s->resolution[key];
  if (margin_abs / scale > unit) unit = margin_abs / scale;
  double penalty = 2 * (unit > least ? unit : least);
  uint32_t found = 0;
  st = tg_segment(a, stop, v, n, penalty, start, &k);
  if (st == TG_OK) st = put_steps(s, key, start, k, work, steps, &found);
  if (st != TG_OK) return st;
  tg_table_set_u32(series, row, TG_TREND_STEPS, found);
  tg_put(series, row, TG_TREND_MEDIAN, (double)median * scale);
  tg_put(series, row, TG_TREND_PENALTY, penalty * scale);
  tg_energy e;
  if (n < 8) return TG_OK;
  st = tg_energy_step(a, stop, v, n, seed, &e);
  if (st == TG_ELIMIT || st == TG_EOVERFLOW) return TG_OK;
  if (st != TG_OK) return st;
  tg_put(series, row, TG_TREND_P, e.p);
  tg_put(series, row, TG_TREND_P_MIN, e.p_min);
  return TG_OK;
}

tg_status tg_trend(const tg_alloc *a, const tg_stop *stop, const tg_series *s, double margin,
                   double margin_abs, uint64_t seed, tg_table **series, tg_table **steps) {
  if (!(margin >= 0) || !(margin_abs >= 0)) return TG_EINVAL;
  size_t most = 0;
  for (size_t k = 0; k < s->n_keys; k++) {
    if (s->start[k + 1] < s->start[k] || s->num[k] == 0 || s->den[k] == 0 || s->resolution[k] == 0)
      return TG_EINVAL;
    size_t n = (size_t)(s->start[k + 1] - s->start[k]);
    if (n > most) most = n;
  }
  tg_table *a_series = NULL, *a_steps = NULL;
  size_t *start = tg_array(a, most, sizeof *start);
  int64_t *work = tg_array(a, most, sizeof *work);
  tg_status st = start != NULL && work != NULL ? TG_OK : TG_ENOMEM;
  if (st == TG_OK) st = tg_table_new(a, series_columns, TG_TREND_COLUMNS, &a_series);
  if (st == TG_OK) st = tg_table_new(a, step_columns, TG_STEP_COLUMNS, &a_steps);
  for (size_t k = 0; st == TG_OK && k < s->n_keys; k++)
    st = trend_key(a, stop, s, k, margin, margin_abs, seed, start, work, a_series, a_steps);
  tg_free(a, start);
  tg_free(a, work);
  if (st == TG_OK) {
    *series = a_series;
    *steps = a_steps;
  } else {
    tg_table_free(a_series);
    tg_table_free(a_steps);
  }
  return st;
}

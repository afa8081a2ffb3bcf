/* util.c - arrays, sorting, sorted series. SPDX-License-Identifier: BSD-3-Clause */
#include <float.h>

#include "internal.h"

void *tg_array(const tg_alloc *a, size_t n, size_t size) {
  if (a == NULL) a = tg_alloc_default();
  if (n == 0) n = 1;
  if (n > SIZE_MAX / size) return NULL;
  return a->resize(a->ctx, NULL, n * size);
}

void tg_free(const tg_alloc *a, void *p) {
  if (a == NULL) a = tg_alloc_default();
  if (p != NULL) a->release(a->ctx, p);
}

#define TG_SORT_NAME sort_i64
#define TG_SORT_ITEM int64_t
#define TG_SORT_BEFORE(a, b) (*(a) < *(b))
#include "base/sort.h"

#define TG_SORT_NAME sort_f64
#define TG_SORT_ITEM double
#define TG_SORT_BEFORE(a, b) (*(a) < *(b))
#include "base/sort.h"

void tg_sort_i64(int64_t *v, size_t n) { sort_i64(v, n); }

void tg_sort_f64(double *v, size_t n) { sort_f64(v, n); }

/* Puts the values below `limit` (or, with `equal`, those that are it) in front; how many they are.
 * Without a branch, as each value takes a place at random. */
static size_t split_below(int64_t *v, size_t n, int64_t limit, bool equal) {
  size_t front = 0;
  for (size_t i = 0; i < n; i++) {
    const int64_t held = v[i];
    v[i] = v[front];
    v[front] = held;
    front += equal ? held == limit : held < limit;
  }
  return front;
}

static int64_t median_of_three(int64_t a, int64_t b, int64_t c) {
  const int64_t low = a < b ? a : b, high = a < b ? b : a;
  return c < low ? low : c > high ? high : c;
}

int64_t tg_select_i64(int64_t *v, size_t n, size_t k) {
  for (unsigned turns = 64; n > TG_SORT_SHORT && turns > 0; turns--) {
    const int64_t pivot = median_of_three(v[0], v[n / 2], v[n - 1]);
    const size_t below = split_below(v, n, pivot, false);
    if (k < below) {
      n = below;
      continue;
    }
    v += below;
    n -= below;
    k -= below;
    const size_t same = split_below(v, n, pivot, true);
    if (k < same) return pivot;
    v += same;
    n -= same;
    k -= same;
  }
  tg_sort_i64(v, n);
  return v[k];
}

tg_status tg_check_values(const int64_t *v, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (v[i] > TG_STATS_LIMIT || v[i] < -TG_STATS_LIMIT) return TG_EOVERFLOW;
  return TG_OK;
}

uint64_t tg_gcd(uint64_t a, uint64_t b) {
  while (a != 0) {
    uint64_t r = b % a;
    b = a;
    a = r;
  }
  return b;
}

double tg_choose(size_t n, size_t k) {
  if (k > n) return 0;
  if (k > n - k) k = n - k;
  double c = 1;
  for (size_t i = 1; i <= k && c <= DBL_MAX; i++) c = c * (double)(n - k + i) / (double)i;
  return c;
}

uint64_t tg_sorted_total(const tg_sorted *s) {
  if (s->n == 0) return 0;
  return s->cum != NULL ? s->cum[s->n - 1] : s->n;
}

int64_t tg_sorted_at(const tg_sorted *s, uint64_t k) {
  if (s->cum == NULL) return s->v[k - 1];
  size_t lo = 0, hi = s->n - 1; /* the first index whose cumulative weight reaches k */
  while (lo < hi) {
    size_t mid = lo + (hi - lo) / 2;
    if (s->cum[mid] < k)
      lo = mid + 1;
    else
      hi = mid;
  }
  return s->v[lo];
}

uint64_t tg_sorted_rank(const tg_sorted *s, uint64_t num, uint64_t den) {
  tg_u128 k = ((tg_u128)tg_sorted_total(s) * num + den - 1) / den;
  return k == 0 ? 1 : (uint64_t)k;
}

int64_t tg_sorted_quantile(const tg_sorted *s, uint64_t num, uint64_t den) {
  return tg_sorted_at(s, tg_sorted_rank(s, num, den));
}

int64_t tg_sorted_median(const tg_sorted *s) {
  uint64_t total = tg_sorted_total(s);
  return tg_sorted_at(s, total / 2 + total % 2);
}

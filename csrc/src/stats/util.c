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

/* Insertion for the usual handful of boots, a heap above. */
#define INSERTION 24

static void sift_i64(int64_t *v, size_t root, size_t n) {
  int64_t top = v[root];
  for (size_t child; (child = 2 * root + 1) < n; root = child) {
    if (child + 1 < n && v[child] < v[child + 1]) child++;
    if (!(top < v[child])) break;
    v[root] = v[child];
  }
  v[root] = top;
}

void tg_sort_i64(int64_t *v, size_t n) {
  if (n <= INSERTION) {
    for (size_t i = 1; i < n; i++) {
      int64_t x = v[i];
      size_t j = i;
      for (; j > 0 && x < v[j - 1]; j--) v[j] = v[j - 1];
      v[j] = x;
    }
    return;
  }
  for (size_t i = n / 2; i-- > 0;) sift_i64(v, i, n);
  for (size_t end = n - 1; end > 0; end--) {
    int64_t top = v[0];
    v[0] = v[end];
    v[end] = top;
    sift_i64(v, 0, end);
  }
}

static void sift_f64(double *v, size_t root, size_t n) {
  double top = v[root];
  for (size_t child; (child = 2 * root + 1) < n; root = child) {
    if (child + 1 < n && v[child] < v[child + 1]) child++;
    if (!(top < v[child])) break;
    v[root] = v[child];
  }
  v[root] = top;
}

void tg_sort_f64(double *v, size_t n) {
  if (n <= INSERTION) {
    for (size_t i = 1; i < n; i++) {
      double x = v[i];
      size_t j = i;
      for (; j > 0 && x < v[j - 1]; j--) v[j] = v[j - 1];
      v[j] = x;
    }
    return;
  }
  for (size_t i = n / 2; i-- > 0;) sift_f64(v, i, n);
  for (size_t end = n - 1; end > 0; end--) {
    double top = v[0];
    v[0] = v[end];
    v[end] = top;
    sift_f64(v, 0, end);
  }
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

int64_t tg_sorted_median(const tg_sorted *s) {
  uint64_t total = tg_sorted_total(s);
  return tg_sorted_at(s, total / 2 + total % 2);
}

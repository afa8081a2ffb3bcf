/* family.c - over many keys: adjusted p, geometric mean, common factors.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "internal.h"

/* An item with its place, to be sorted by value. */
typedef struct placed {
  double value;
  size_t at;
} placed;

/* Heap sort by value, then place: no callback, no allocation, one order only. */
static bool before(const placed *x, const placed *y) {
  return x->value < y->value || (!(y->value < x->value) && x->at < y->at);
}
static void sift(placed *v, size_t root, size_t n) {
  placed top = v[root];
  for (size_t child; (child = 2 * root + 1) < n; root = child) {
    if (child + 1 < n && before(&v[child], &v[child + 1])) child++;
    if (!before(&top, &v[child])) break;
    v[root] = v[child];
  }
  v[root] = top;
}
static void sort_placed(placed *v, size_t n) {
  for (size_t i = n / 2; i-- > 0;) sift(v, i, n);
  for (size_t end = n; end-- > 1;) {
    placed top = v[0];
    v[0] = v[end];
    v[end] = top;
    sift(v, 0, end);
  }
}

/* Benjamini and Hochberg (1995): adjusted p of rank i is min over j >= i of p(j) * n / j. */
tg_status tg_bh(const tg_alloc *a, const double *p, size_t n, double *out) {
  placed *v = tg_array(a, n, sizeof *v);
  if (v == NULL) return TG_ENOMEM;
  size_t k = 0;
  for (size_t i = 0; i < n; i++) {
    if (isnan(p[i]))
      out[i] = p[i];
    else
      v[k++] = (placed){p[i], i};
  }
  sort_placed(v, k);
  double least = 1;
  for (size_t i = k; i-- > 0;) {
    double q = v[i].value * (double)k / (double)(i + 1);
    if (q < least) least = q;
    out[v[i].at] = least;
  }
  tg_free(a, v);
  return TG_OK;
}

tg_status tg_geometric_mean(const double *ratio, size_t n, double *out, size_t *used) {
  double sum = 0;
  size_t k = 0;
  for (size_t i = 0; i < n; i++) {
    if (!(ratio[i] > 0) || isinf(ratio[i])) continue;
    sum += log(ratio[i]);
    k++;
  }
  if (used != NULL) *used = k;
  if (k == 0) return TG_ENODATA;
  *out = exp(sum / (double)k);
  return TG_OK;
}

/* In the sorted logs v[0..n): the longest window whose ends lie within `width` of its mean; of
 * equals the tightest, then the lowest. Returns its length, 0 below `least`. */
static size_t best_window(const placed *v, size_t n, size_t least, double low, double high,
                          size_t *start) {
  size_t best = 0;
  double best_span = 0;
  for (size_t i = 0; i < n; i++) {
    double sum = 0;
    for (size_t j = i; j < n; j++) {
      sum += v[j].value;
      double mean = sum / (double)(j - i + 1), span = v[j].value - v[i].value;
      if (v[i].value - mean < low || v[j].value - mean > high) {
        if (span > 2 * (high - low)) break;
        continue;
      }
      size_t len = j - i + 1;
      if (len < least || len < best || (len == best && span >= best_span)) continue;
      best = len;
      best_span = span;
      *start = i;
    }
  }
  return best;
}

tg_status tg_common_factor(const tg_alloc *a, const double *ratio, const uint32_t *group, size_t n,
                           size_t least, double tolerance, double *factor, uint32_t *set) {
  if (!(tolerance > 0 && tolerance < 1) || least == 0) return TG_EINVAL;
  placed *v = tg_array(a, n, sizeof *v);
  bool *done = tg_array(a, n, sizeof *done);
  tg_status s = v != NULL && done != NULL ? TG_OK : TG_ENOMEM;
  uint32_t sets = 0;
  for (size_t i = 0; s == TG_OK && i < n; i++) {
    factor[i] = (double)NAN;
    set[i] = UINT32_MAX;
    done[i] = !(ratio[i] > 0) || isinf(ratio[i]);
  }
  for (size_t g = 0; s == TG_OK && g < n; g++) {
    if (done[g]) continue;
    size_t k = 0, start = 0, len;
    for (size_t i = g; i < n; i++)
      if (!done[i] && group[i] == group[g]) {
        v[k++] = (placed){log(ratio[i]), i};
        done[i] = true;
      }
    sort_placed(v, k);
    while ((len = best_window(v, k, least, log(1 - tolerance), log(1 + tolerance), &start)) > 0) {
      double sum = 0;
      for (size_t i = start; i < start + len; i++) sum += v[i].value;
      for (size_t i = start; i < start + len; i++) {
        factor[v[i].at] = exp(sum / (double)len);
        set[v[i].at] = sets;
      }
      sets++;
      for (size_t i = start + len; i < k; i++) v[i - len] = v[i];
      k -= len;
    }
  }
  tg_free(a, v);
  tg_free(a, done);
  return s;
}

/* family.c - over many keys: adjusted p, geometric mean, common factors.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "internal.h"

/* An item with its place, to be sorted by value. */
typedef struct placed {
  double value;
  size_t at;
} placed;

#define TG_SORT_NAME sort_placed
#define TG_SORT_ITEM placed
#define TG_SORT_BEFORE(a, b) \
  ((a)->value < (b)->value || (!((b)->value < (a)->value) && (a)->at < (b)->at))
#include "base/sort.h"

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

/* In the sorted logs v[0..n): the longest window whose ends lie within low .. high of its mean; of
 * equals the tightest, then the lowest. `sum` has room for n + 1. Returns its length, 0 below
 * `least`. Longer windows come first, so that ratios that agree are looked at once. */
static size_t best_window(const placed *v, size_t n, size_t least, double low, double high,
                          double *sum, size_t *start) {
  size_t best = 0, reach = 0;
  double best_span = 0;
  sum[0] = 0;
  for (size_t i = 0; i < n; i++) sum[i + 1] = sum[i] + v[i].value;
  for (size_t i = 0; i < n; i++) {
    const size_t shortest = best > least ? best : least;
    while (reach < n && v[reach].value - v[i].value <= 2 * (high - low)) reach++;
    for (size_t end = reach; end >= i + shortest; end--) {
      const double mean = (sum[end] - sum[i]) / (double)(end - i);
      const double span = v[end - 1].value - v[i].value;
      if (v[i].value - mean < low || v[end - 1].value - mean > high) continue;
      if (end - i == best && span >= best_span) break;
      best = end - i;
      best_span = span;
      *start = i;
      break;
    }
  }
  return best;
}

/* The sets of one group, whose sorted logs are v[0..n). TG_OK, TG_EINTERRUPTED. */
static tg_status find_sets(placed *v, size_t n, const tg_stop *stop, size_t least, double tolerance,
                           double *sum, double *factor, uint32_t *set, uint32_t *sets) {
  const double low = log(1 - tolerance), high = log(1 + tolerance);
  size_t start = 0, len;
  for (uint64_t turn = 0; (len = best_window(v, n, least, low, high, sum, &start)) > 0; turn++) {
    double total = 0;
    if (tg_stop_at(stop, turn, n)) return TG_EINTERRUPTED;
    for (size_t i = start; i < start + len; i++) total += v[i].value;
    for (size_t i = start; i < start + len; i++) {
      factor[v[i].at] = exp(total / (double)len);
      set[v[i].at] = *sets;
    }
    ++*sets;
    for (size_t i = start + len; i < n; i++) v[i - len] = v[i];
    n -= len;
  }
  return TG_OK;
}

tg_status tg_common_factor(const tg_alloc *a, const tg_stop *stop, const double *ratio,
                           const uint32_t *group, size_t n, size_t least, double tolerance,
                           double *factor, uint32_t *set) {
  if (!(tolerance > 0 && tolerance < 1) || least == 0) return TG_EINVAL;
  if (n > SIZE_MAX / 3) return TG_ENOMEM;
  placed *member = tg_array(a, 3 * n, sizeof *member); /* items by group, then by place */
  double *sum = tg_array(a, n + 1, sizeof *sum);
  tg_status status = member != NULL && sum != NULL ? TG_OK : TG_ENOMEM;
  placed *head = member + n, *v = head + n; /* groups by their first item; logs of one group */
  size_t k = 0, heads = 0;
  uint32_t sets = 0;
  for (size_t i = 0; status == TG_OK && i < n; i++) {
    factor[i] = (double)NAN;
    set[i] = UINT32_MAX;
    if (ratio[i] > 0 && !isinf(ratio[i])) member[k++] = (placed){group[i], i};
  }
  sort_placed(member, k);
  for (size_t i = 0; i < k; i++)
    if (i == 0 || group[member[i].at] != group[member[i - 1].at])
      head[heads++] = (placed){(double)member[i].at, i};
  sort_placed(head, heads);
  for (size_t g = 0; status == TG_OK && g < heads; g++) {
    const size_t from = head[g].at;
    size_t m = 0;
    for (size_t i = from; i < k && group[member[i].at] == group[member[from].at]; i++)
      v[m++] = (placed){log(ratio[member[i].at]), member[i].at};
    sort_placed(v, m);
    status = find_sets(v, m, stop, least, tolerance, sum, factor, set, &sets);
  }
  tg_free(a, member);
  tg_free(a, sum);
  return status;
}

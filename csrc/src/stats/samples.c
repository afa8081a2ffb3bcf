/* samples.c - packed readings: checks, sorting, one value per unit, analysis of variance.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "samples.h"

#include <math.h>
#include <string.h>

#include "base/try.h"

void tg_scratch_free(const tg_alloc *a, tg_scratch *s) {
  tg_free(a, s->value);
  tg_free(a, s->weight);
  memset(s, 0, sizeof *s);
}

tg_status tg_samples_check(const tg_samples *s) {
  for (size_t k = 0; k < s->n_keys; k++) {
    if (s->key_start[k + 1] < s->key_start[k] || s->num[k] == 0 || s->den[k] == 0 ||
        s->resolution[k] == 0)
      return TG_EINVAL;
  }
  for (uint64_t u = s->key_start[0]; u < s->key_start[s->n_keys]; u++)
    if (s->unit_start[u + 1] < s->unit_start[u]) return TG_EINVAL;
  size_t first = (size_t)s->unit_start[s->key_start[0]];
  size_t last = (size_t)s->unit_start[s->key_start[s->n_keys]];
  return last < first ? TG_EINVAL : TG_OK;
}

/* Whether readings [from, to) are strictly rising: counts of a snapshot are, no sort needed. */
static bool rising(const int64_t *v, size_t n) {
  for (size_t i = 1; i < n; i++)
    if (v[i] <= v[i - 1]) return false;
  return true;
}

/* Sorts (value, weight) pairs by value: heap sort over two arrays. */
static void sift_pairs(int64_t *v, uint64_t *w, size_t root, size_t n) {
  int64_t top = v[root];
  uint64_t weight = w[root];
  for (size_t child; (child = 2 * root + 1) < n; root = child) {
    if (child + 1 < n && v[child] < v[child + 1]) child++;
    if (top >= v[child]) break;
    v[root] = v[child];
    w[root] = w[child];
  }
  v[root] = top;
  w[root] = weight;
}
static void sort_pairs(int64_t *v, uint64_t *w, size_t n) {
  for (size_t i = n / 2; i-- > 0;) sift_pairs(v, w, i, n);
  for (size_t end = n; end-- > 1;) {
    int64_t top = v[0];
    uint64_t weight = w[0];
    v[0] = v[end];
    w[0] = w[end];
    v[end] = top;
    w[end] = weight;
    sift_pairs(v, w, 0, end);
  }
}

tg_status tg_scratch_sort(const tg_alloc *a, tg_scratch *scratch, const tg_samples *s,
                          size_t first, size_t last, tg_sorted *out) {
  if (a == NULL) a = tg_alloc_default();
  size_t from = (size_t)s->unit_start[first], n = (size_t)s->unit_start[last] - from;
  if (n == 0) return TG_ENODATA;
  void *value = scratch->value, *weight = scratch->weight;
  tg_status status = tg_grow(a, &value, &scratch->value_cap, n, sizeof *scratch->value);
  if (status == TG_OK)
    status = tg_grow(a, &weight, &scratch->weight_cap, n, sizeof *scratch->weight);
  scratch->value = value;
  scratch->weight = weight;
  if (status != TG_OK) return status;
  int64_t *v = scratch->value;
  uint64_t *w = scratch->weight;
  memcpy(v, s->value + from, n * sizeof *v);
  for (size_t i = 0; i < n; i++) w[i] = s->weight != NULL ? s->weight[from + i] : 1;
  if (!rising(v, n)) {
    if (s->weight == NULL)
      tg_sort_i64(v, n);
    else
      sort_pairs(v, w, n);
  }
  size_t k = 0;
  uint64_t sum = 0;
  for (size_t i = 0; i < n; i++) {
    if (w[i] > (uint64_t)INT64_MAX - sum) return TG_EOVERFLOW;
    sum += w[i];
    if (w[i] == 0) continue;
    if (k > 0 && v[k - 1] == v[i])
      w[k - 1] = sum;
    else {
      v[k] = v[i];
      w[k++] = sum;
    }
  }
  if (k == 0) return TG_ENODATA;
  *out = (tg_sorted){v, w, k};
  return TG_OK;
}

tg_status tg_unit_quantile(const tg_alloc *a, tg_scratch *scratch, const tg_samples *s, size_t unit,
                           uint64_t num, uint64_t den, int64_t *out) {
  if (s->weight != NULL) {
    tg_sorted sorted;
    TG_TRY(tg_scratch_sort(a, scratch, s, unit, unit + 1, &sorted));
    *out = tg_sorted_quantile(&sorted, num, den);
    return TG_OK;
  }
  const size_t from = (size_t)s->unit_start[unit], n = (size_t)s->unit_start[unit + 1] - from;
  if (n == 0) return TG_ENODATA;
  void *value = scratch->value;
  const tg_status status = tg_grow(a != NULL ? a : tg_alloc_default(), &value, &scratch->value_cap,
                                   n, sizeof *scratch->value);
  scratch->value = value;
  if (status != TG_OK) return status;
  memcpy(value, s->value + from, n * sizeof *scratch->value);
  const tg_sorted every = {scratch->value, NULL, n};
  const uint64_t rank = tg_sorted_rank(&every, num, den);
  *out = tg_select_i64(scratch->value, n, (size_t)rank - 1);
  return TG_OK;
}

uint64_t tg_weight_at(const tg_sorted *s, size_t i) {
  if (s->cum == NULL) return 1;
  return i == 0 ? s->cum[0] : s->cum[i] - s->cum[i - 1];
}

void tg_put(tg_table *t, size_t row, size_t col, double v) {
  if (!isnan(v)) tg_table_set_f64(t, row, col, v);
}

tg_status tg_collapse(const tg_alloc *a, const tg_stop *stop, const tg_samples *s, int64_t *out) {
  tg_scratch scratch = {0};
  tg_status status = tg_samples_check(s);
  size_t base = status == TG_OK ? (size_t)s->key_start[0] : 0;
  size_t end = status == TG_OK ? (size_t)s->key_start[s->n_keys] : 0;
  uint64_t done = 0;
  for (size_t u = base; status == TG_OK && u < end; u++) {
    size_t from = (size_t)s->unit_start[u], n = (size_t)s->unit_start[u + 1] - from;
    if (tg_stop_after(stop, &done, n)) {
      status = TG_EINTERRUPTED;
      break;
    }
    if (n == 1 && (s->weight == NULL || s->weight[from] > 0)) {
      out[u - base] = s->value[from];
      continue;
    }
    status = tg_unit_quantile(a, &scratch, s, u, 1, 2, &out[u - base]);
  }
  tg_scratch_free(a, &scratch);
  return status;
}

/* One-way layout of k units: MSB = sum n_i (mean_i - mean)^2 / (k - 1), MSW the rest over N - k;
 * var_between = max(0, (MSB - MSW) / n0), n0 = (N - sum n_i^2 / N) / (k - 1) (Searle 1971). The
 * values are centred on the first reading, unit sums exact. */
tg_status tg_anova_weighted(const tg_samples *s, size_t first, size_t last, tg_anova *out) {
  size_t units = last - first;
  if (units < 2 || s->unit_start[first] == s->unit_start[last]) return TG_ENODATA;
  int64_t zero = s->value[s->unit_start[first]];
  double total = 0, squares = 0, sum = 0, ss_within = 0, ss_units = 0, mean_sum = 0, mean_sq = 0;
  for (size_t u = first; u < last; u++) {
    tg_i128 exact = 0;
    uint64_t n = 0;
    for (size_t i = (size_t)s->unit_start[u]; i < (size_t)s->unit_start[u + 1]; i++) {
      uint64_t w = s->weight != NULL ? s->weight[i] : 1;
      exact += ((tg_i128)s->value[i] - zero) * (tg_i128)w;
      n += w;
    }
    if (n == 0) return TG_ENODATA;
    double mean = (double)exact / (double)n;
    for (size_t i = (size_t)s->unit_start[u]; i < (size_t)s->unit_start[u + 1]; i++) {
      double d = (double)((tg_i128)s->value[i] - zero) - mean;
      ss_within += d * d * (double)(s->weight != NULL ? s->weight[i] : 1);
    }
    total += (double)n;
    squares += (double)n * (double)n;
    sum += (double)exact;
    ss_units += (double)exact * mean;
    mean_sum += mean;
    mean_sq += mean * mean;
  }
  if (total <= (double)units) return TG_ENODATA;
  double k = (double)units, n0 = (total - squares / total) / (k - 1);
  tg_anova r = {0, 0, 0, 0, 0, 0, units};
  r.ms_between = (ss_units - sum * sum / total) / (k - 1);
  r.ms_within = ss_within / (total - k);
  if (r.ms_between < 0) r.ms_between = 0;
  double var = (r.ms_between - r.ms_within) / n0;
  r.var_between = var > 0 ? var : 0;
  double all = r.var_between + r.ms_within;
  r.icc = all > 0 ? r.var_between / all : 0;
  r.design_effect = 1 + (n0 - 1) * r.icc;
  double spread = mean_sq - mean_sum * mean_sum / k;
  r.se = sqrt((spread > 0 ? spread : 0) / (k - 1) / k);
  *out = r;
  return TG_OK;
}

tg_status tg_anova_units(const int64_t *value, const uint64_t *unit_start, size_t n_units,
                         tg_anova *out) {
  const uint64_t key_start[2] = {0, n_units};
  tg_samples s = {value, NULL, unit_start, key_start, NULL, NULL, NULL, 1, NULL};
  return tg_anova_weighted(&s, 0, n_units, out);
}

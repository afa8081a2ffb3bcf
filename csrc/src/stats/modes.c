/* modes.c - modes, two-humped series, histograms on the tick grid.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "samples.h"

#define MOST_BINS ((size_t)1 << 20)

/* Sorts one series into scratch as distinct values with cumulative weights. */
static tg_status sort_series(const tg_alloc *a, tg_scratch *scratch, const int64_t *value,
                             const uint64_t *weight, size_t n, tg_sorted *out) {
  const uint64_t unit_start[2] = {0, n};
  tg_samples s = {value, weight, unit_start, NULL, NULL, NULL, NULL, 0, NULL};
  tg_status status = tg_check_values(value, n);
  return status == TG_OK ? tg_scratch_sort(a, scratch, &s, 0, 1, out) : status;
}

static tg_status put_mode(tg_table *t, const tg_sorted *s, size_t from, size_t to) {
  size_t row, peak = from;
  uint64_t n = 0;
  for (size_t i = from; i < to; i++) {
    n += tg_weight_at(s, i);
    if (tg_weight_at(s, i) > tg_weight_at(s, peak)) peak = i;
  }
  tg_status status = tg_table_append(t, &row);
  if (status != TG_OK) return status;
  tg_table_set_i64(t, row, 0, s->v[peak]);
  tg_table_set_u64(t, row, 1, n);
  tg_table_set_u64(t, row, 2, tg_weight_at(s, peak));
  tg_table_set_i64(t, row, 3, s->v[from]);
  tg_table_set_i64(t, row, 4, s->v[to - 1]);
  return TG_OK;
}

tg_status tg_modes(const tg_alloc *a, const int64_t *value, const uint64_t *weight, size_t n,
                   uint64_t resolution, tg_table **out) {
  static const tg_column_def columns[] = {{"value", TG_I64, 0},
                                          {"n", TG_U64, 0},
                                          {"peak", TG_U64, 0},
                                          {"lo", TG_I64, 0},
                                          {"hi", TG_I64, 0}};
  if (resolution == 0 || resolution > (uint64_t)TG_STATS_LIMIT) return TG_EINVAL;
  tg_table *t = NULL;
  tg_scratch scratch = {0};
  tg_sorted s = {NULL, NULL, 0};
  tg_status status = tg_table_new(a, columns, 5, &t);
  if (status == TG_OK) status = sort_series(a, &scratch, value, weight, n, &s);
  if (status == TG_ENODATA) status = TG_OK; /* no readings, no modes */
  for (size_t from = 0, i = 1; status == TG_OK && from < s.n; i++)
    if (i == s.n || (uint64_t)s.v[i] - (uint64_t)s.v[i - 1] > 3 * resolution) {
      status = put_mode(t, &s, from, i);
      from = i;
    }
  tg_scratch_free(a, &scratch);
  if (status == TG_OK)
    *out = t;
  else
    tg_table_free(t);
  return status;
}

tg_status tg_bimodal(const tg_alloc *a, const int64_t *value, size_t n, uint64_t resolution,
                     bool *out) {
  if (resolution == 0 || resolution > (uint64_t)TG_STATS_LIMIT) return TG_EINVAL;
  tg_status status = tg_check_values(value, n);
  if (status != TG_OK) return status;
  int64_t *v = tg_array(a, n, sizeof *v);
  if (v == NULL) return TG_ENOMEM;
  if (n > 0) memcpy(v, value, n * sizeof *v);
  tg_sort_i64(v, n);
  bool two = false;
  for (size_t i = 2; i + 2 <= n; i++) {
    int64_t gap = v[i] - v[i - 1], widths = (v[i - 1] - v[0]) + (v[n - 1] - v[i]);
    two = two || (gap > widths && gap > (int64_t)(3 * resolution));
  }
  *out = two;
  tg_free(a, v);
  return TG_OK;
}

/* Floor of v / bin. */
static int64_t bin_of(int64_t v, int64_t bin) { return v / bin - (v % bin < 0); }

tg_status tg_histogram(const tg_alloc *a, const int64_t *value, const uint64_t *weight, size_t n,
                       uint64_t resolution, size_t max_bins, tg_table **out) {
  static const tg_column_def columns[] = {
      {"lo", TG_I64, 0}, {"hi", TG_I64, 0}, {"n", TG_U64, 0}, {"below", TG_U64, 0}};
  if (resolution == 0 || resolution > (uint64_t)TG_STATS_LIMIT || max_bins == 0 ||
      max_bins > MOST_BINS)
    return TG_EINVAL;
  tg_table *t = NULL;
  tg_scratch scratch = {0};
  tg_sorted s = {NULL, NULL, 0};
  tg_status status = tg_table_new(a, columns, 4, &t);
  if (status == TG_OK) status = sort_series(a, &scratch, value, weight, n, &s);
  if (status == TG_ENODATA) {
    tg_scratch_free(a, &scratch);
    *out = t;
    return TG_OK;
  }
  int64_t bin = 0, first = 0, last = -1;
  if (status == TG_OK) { /* the narrowest multiple of the tick with few enough bins */
    uint64_t steps = ((uint64_t)s.v[s.n - 1] - (uint64_t)s.v[0]) / resolution / max_bins + 1;
    if (steps > (uint64_t)INT64_MAX / resolution) status = TG_EOVERFLOW;
    bin = status == TG_OK ? (int64_t)(steps * resolution) : 1;
    first = bin_of(s.v[0], bin);
    last = bin_of(s.v[s.n - 1], bin);
    if ((uint64_t)(last - first) + 1 > max_bins && status == TG_OK) {
      if (bin > INT64_MAX - (int64_t)resolution) status = TG_EOVERFLOW;
      bin += status == TG_OK ? (int64_t)resolution : 0;
      first = bin_of(s.v[0], bin);
      last = bin_of(s.v[s.n - 1], bin);
    }
  }
  uint64_t below = 0;
  size_t at = 0, row;
  for (int64_t b = first; status == TG_OK && b <= last; b++) {
    uint64_t k = 0;
    for (; at < s.n && bin_of(s.v[at], bin) == b; at++) k += tg_weight_at(&s, at);
    below += k;
    status = tg_table_append(t, &row);
    if (status != TG_OK) break;
    tg_table_set_i64(t, row, 0, b * bin);
    tg_table_set_i64(t, row, 1, (b + 1) * bin);
    tg_table_set_u64(t, row, 2, k);
    tg_table_set_u64(t, row, 3, below);
  }
  tg_scratch_free(a, &scratch);
  if (status == TG_OK)
    *out = t;
  else
    tg_table_free(t);
  return status;
}

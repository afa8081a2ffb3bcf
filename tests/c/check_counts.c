/* check_counts.c - counts, moments and quantiles against brute force and published figures.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/fail_alloc.h"
#include "tickgauge/counts.h"

static uint64_t random_state = 88172645463325252u;

static uint64_t random_u64(void) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return random_state * UINT64_C(2685821657736338717);
}

static tg_counts *counts_of(const int64_t *values, size_t n, const tg_counts_options *options) {
  tg_counts *c = NULL;
  ck_assert_int_eq(tg_counts_new(NULL, options, &c), TG_OK);
  ck_assert_int_eq(tg_counts_add(c, values, n), TG_OK);
  return c;
}

static int by_size(const void *a, const void *b) {
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

/* The pairs of `c` written out must be `values` sorted. */
static void expect_values(tg_counts *c, int64_t *values, size_t n) {
  const tg_count *pairs = NULL;
  size_t n_pairs = 0, at = 0;
  qsort(values, n, sizeof *values, by_size);
  ck_assert_int_eq(tg_counts_pairs(c, &pairs, &n_pairs), TG_OK);
  for (size_t i = 0; i < n_pairs; i++) {
    ck_assert(i == 0 || pairs[i - 1].value < pairs[i].value);
    for (uint64_t k = 0; k < pairs[i].n; k++, at++) {
      ck_assert_uint_lt(at, n);
      ck_assert_int_eq(pairs[i].value, values[at]);
    }
  }
  ck_assert_uint_eq(at, n);
  ck_assert_uint_eq(tg_counts_total(c), n);
}

/* Values of the shapes that tick data has: few, dense, scattered, signed, wide. */
static int64_t shaped(int shape) {
  const uint64_t r = random_u64();
  switch (shape) {
    case 0:
      return (int64_t)(r % 3);
    case 1:
      return (int64_t)(r % 1000) - 500;
    case 2:
      return (int64_t)(r % 200 * (r % 200) * 65537);
    case 3:
      return (int64_t)r >> (r & 63);
    default:
      return r % 2 == 0 ? INT64_MIN + (int64_t)(r % 7) : INT64_MAX - (int64_t)(r % 5);
  }
}

enum { SHAPES = 5, N = 20000 };

/* Values that a multiplication by the golden ratio sends to one place: 2^15 of them are counted in
 * linear time. */
START_TEST(values_made_to_collide_do_not) {
  const uint64_t golden = UINT64_C(0x9e3779b97f4a7c15);
  uint64_t inverse = golden; /* modulo 2^64, by Newton */
  for (int i = 0; i < 6; i++) inverse *= 2 - golden * inverse;
  ck_assert_uint_eq(golden * inverse, 1);
  tg_counts *c = NULL;
  const tg_count *pairs = NULL;
  size_t n = 0;
  ck_assert_int_eq(tg_counts_new(NULL, NULL, &c), TG_OK);
  for (uint64_t i = 0; i < 1u << 15; i++) {
    const int64_t v = (int64_t)(i * inverse);
    ck_assert_int_eq(tg_counts_add(c, &v, 1), TG_OK);
  }
  ck_assert_int_eq(tg_counts_pairs(c, &pairs, &n), TG_OK);
  ck_assert_uint_eq(n, 1u << 15);
  tg_counts_free(c);
}
END_TEST

START_TEST(counts_equal_sorting) {
  static int64_t values[N];
  for (int shape = 0; shape < SHAPES; shape++) {
    tg_counts *c = NULL;
    size_t n = 0;
    ck_assert_int_eq(tg_counts_new(NULL, NULL, &c), TG_OK);
    for (size_t batch = 0; n + batch < N; batch = batch * 3 + 1) {
      for (size_t i = 0; i < batch; i++) values[n + i] = shaped(shape);
      ck_assert_int_eq(tg_counts_add(c, values + n, batch), TG_OK);
      n += batch;
      int64_t *copy = malloc((n + 1) * sizeof *copy);
      ck_assert_ptr_nonnull(copy);
      memcpy(copy, values, n * sizeof *copy);
      expect_values(c, copy, n);
      free(copy);
    }
    ck_assert(!tg_counts_folded(c));
    tg_counts_free(c);
  }
}
END_TEST

static void expect_same(tg_counts *a, tg_counts *b) {
  const tg_count *x = NULL, *y = NULL;
  size_t nx = 0, ny = 0;
  ck_assert_int_eq(tg_counts_pairs(a, &x, &nx), TG_OK);
  ck_assert_int_eq(tg_counts_pairs(b, &y, &ny), TG_OK);
  ck_assert_uint_eq(nx, ny);
  ck_assert_mem_eq(x, y, nx * sizeof *x);
  ck_assert_int_eq(tg_counts_folded(a), tg_counts_folded(b));
  ck_assert_uint_eq(tg_counts_total(a), tg_counts_total(b));
}

/* Parts merged left to right, right to left, as a tree, and value by value are the same bytes,
 * with room for all values and with a limit that folds them somewhere on the way. */
START_TEST(merging_in_any_order_gives_the_same_bytes) {
  enum { PARTS = 16, PART = 300 };
  static int64_t values[PARTS * PART];
  static const uint32_t limits[] = {0, 10, 290, 1000, 4000};
  for (size_t l = 0; l < sizeof limits / sizeof limits[0]; l++) {
    for (int shape = 0; shape < SHAPES; shape++) {
      const tg_counts_options options = {limits[l], 3, false};
      tg_counts *parts[PARTS], *right = NULL, *single = NULL;
      for (size_t i = 0; i < PARTS * PART; i++) values[i] = shaped(shape);
      tg_counts *whole = counts_of(values, PARTS * PART, &options);
      tg_counts *left = counts_of(NULL, 0, &options);
      ck_assert_int_eq(tg_counts_new(NULL, &options, &right), TG_OK);
      ck_assert_int_eq(tg_counts_new(NULL, &options, &single), TG_OK);
      for (size_t i = 0; i < PARTS; i++) parts[i] = counts_of(values + i * PART, PART, &options);
      for (size_t i = 0; i < PARTS; i++) {
        ck_assert_int_eq(tg_counts_merge(left, parts[i]), TG_OK);
        ck_assert_int_eq(tg_counts_merge(right, parts[PARTS - 1 - i]), TG_OK);
      }
      for (size_t i = 0; i < PARTS * PART; i++)
        ck_assert_int_eq(tg_counts_add_n(single, values[i], 1), TG_OK);
      for (size_t step = 1; step < PARTS; step *= 2)
        for (size_t i = 0; i + step < PARTS; i += 2 * step)
          ck_assert_int_eq(tg_counts_merge(parts[i], parts[i + step]), TG_OK);
      expect_same(whole, left);
      expect_same(whole, right);
      expect_same(whole, single);
      expect_same(whole, parts[0]);
      for (size_t i = 0; i < PARTS; i++) tg_counts_free(parts[i]);
      tg_counts_free(whole);
      tg_counts_free(left);
      tg_counts_free(right);
      tg_counts_free(single);
    }
  }
}
END_TEST

START_TEST(merging_with_itself_doubles) {
  int64_t values[] = {3, 1, 1, 3, 1, 1};
  tg_counts *c = counts_of(values, 3, NULL);
  ck_assert_int_eq(tg_counts_merge(c, c), TG_OK);
  expect_values(c, values, 6);
  tg_counts_free(c);
}
END_TEST

/* A folded value lies within 2^-bits of the original; order and total are kept; small values
 * are exact. */
START_TEST(a_fold_stays_within_its_width) {
  for (uint32_t bits = 1; bits <= 20; bits++) {
    const tg_counts_options options = {1, bits, false};
    for (int k = 0; k < 64; k++) {
      for (int d = -1; d <= 1; d++) {
        for (int sign = 0; sign < 2; sign++) {
          const uint64_t magnitude = (UINT64_C(1) << k) + (uint64_t)(int64_t)d;
          const int64_t v = (int64_t)(sign == 0 ? magnitude : UINT64_C(0) - magnitude);
          const int64_t both[] = {v, v == 5 ? 6 : 5};
          const tg_count *pairs = NULL;
          size_t n = 0;
          tg_counts *c = counts_of(both, 2, &options);
          ck_assert(tg_counts_folded(c));
          ck_assert_int_eq(tg_counts_pairs(c, &pairs, &n), TG_OK);
          ck_assert_uint_eq(tg_counts_total(c), 2);
          double error = INFINITY;
          for (size_t i = 0; i < n; i++)
            error = fmin(error, fabs((double)pairs[i].value - (double)v));
          ck_assert_double_le(error, fabs((double)v) / (double)(UINT64_C(1) << bits));
          if (llabs(v >> 1) < (INT64_C(1) << bits) / 2) ck_assert_double_eq(error, 0.0);
          tg_counts_free(c);
        }
      }
    }
  }
}
END_TEST

START_TEST(a_limit_folds_or_refuses) {
  const int64_t values[] = {1000000, 2000000, 3000000, 3000000, 1000001};
  const tg_counts_options fold = {3, 7, false}, refuse = {3, 7, true};
  tg_counts *c = counts_of(values, 4, &fold);
  const tg_count *before = NULL, *after = NULL;
  size_t n_before = 0, n_after = 0;
  ck_assert(!tg_counts_folded(c));
  ck_assert_int_eq(tg_counts_add(c, values, 5), TG_OK);
  ck_assert(tg_counts_folded(c));
  ck_assert_uint_eq(tg_counts_total(c), 9);
  tg_counts_free(c);
  c = counts_of(values, 4, &refuse);
  ck_assert_int_eq(tg_counts_pairs(c, &before, &n_before), TG_OK);
  tg_count *copy = malloc(n_before * sizeof *copy);
  ck_assert_ptr_nonnull(copy);
  memcpy(copy, before, n_before * sizeof *copy);
  ck_assert_int_eq(tg_counts_add(c, values, 5), TG_ELIMIT);
  ck_assert_int_eq(tg_counts_add_n(c, 7, 5), TG_ELIMIT);
  ck_assert_int_eq(tg_counts_pairs(c, &after, &n_after), TG_OK);
  ck_assert_uint_eq(n_after, n_before);
  ck_assert_mem_eq(after, copy, n_before * sizeof *copy);
  ck_assert_uint_eq(tg_counts_total(c), 4);
  ck_assert_int_eq(tg_counts_add_n(c, 3000000, 5), TG_OK);
  free(copy);
  tg_counts_free(c);
}
END_TEST

START_TEST(what_was_folded_cannot_enter_where_folding_is_refused) {
  const int64_t values[] = {1000000, 2000000, 3000000, 4000000};
  const tg_counts_options fold = {3, 7, false}, refuse = {3, 7, true}, other = {3, 6, false};
  tg_counts *folded = counts_of(values, 4, &fold), *exact = counts_of(values, 1, &refuse);
  tg_counts *wider = counts_of(values, 1, &other);
  ck_assert_int_eq(tg_counts_merge(exact, folded), TG_ELIMIT);
  ck_assert_uint_eq(tg_counts_total(exact), 1);
  ck_assert(!tg_counts_folded(exact));
  ck_assert_int_eq(tg_counts_merge(wider, folded), TG_EINVAL);
  tg_counts_free(folded);
  tg_counts_free(exact);
  tg_counts_free(wider);
}
END_TEST

START_TEST(totals_end_at_two_to_the_63) {
  tg_counts *c = counts_of(NULL, 0, NULL), *d = counts_of(NULL, 0, NULL);
  const int64_t one = 1;
  ck_assert_int_eq(tg_counts_add_n(c, 1, UINT64_MAX), TG_EOVERFLOW);
  ck_assert_int_eq(tg_counts_add_n(c, 1, INT64_MAX), TG_OK);
  ck_assert_int_eq(tg_counts_add_n(c, 2, 1), TG_EOVERFLOW);
  ck_assert_int_eq(tg_counts_add(c, &one, 1), TG_EOVERFLOW);
  ck_assert_int_eq(tg_counts_add_n(c, 2, 0), TG_OK);
  ck_assert_int_eq(tg_counts_add_n(d, 2, 1), TG_OK);
  ck_assert_int_eq(tg_counts_merge(c, d), TG_EOVERFLOW);
  ck_assert_uint_eq(tg_counts_total(c), INT64_MAX);
  tg_counts_free(c);
  tg_counts_free(d);
}
END_TEST

static void expect_moments(const int64_t *values, size_t n, double mean, double variance) {
  tg_moments m;
  tg_counts *c = counts_of(values, n, NULL);
  ck_assert_int_eq(tg_counts_moments(c, &m), TG_OK);
  ck_assert_uint_eq(m.n, n);
  ck_assert_double_eq(m.mean, mean);
  ck_assert_double_eq(m.variance, variance);
  tg_counts_free(c);
}

/* NIST StRD NumAcc1 to 4 by their rule, in units of .1: the certified mean and a standard
 * deviation of .1 (1 for NumAcc1), here exactly. */
START_TEST(numacc_is_exact) {
  enum { PAIRS = 500 };
  static const int64_t first[] = {12, 10000002, 100000002};
  const int64_t numacc1[] = {10000001, 10000003, 10000002};
  static int64_t values[2 * PAIRS + 1];
  expect_moments(numacc1, 3, 10000002.0, 1.0);
  for (size_t k = 0; k < 3; k++) {
    values[0] = first[k];
    for (size_t i = 0; i < PAIRS; i++) {
      values[1 + 2 * i] = first[k] - 1;
      values[2 + 2 * i] = first[k] + 1;
    }
    expect_moments(values, 2 * PAIRS + 1, (double)first[k], 1.0);
  }
}
END_TEST

/* The largest spread there is: half the values at each end. Mean -1/2; the variance is
 * (2^64-1)^2 / 4 * n / (n-1). */
START_TEST(moments_hold_at_the_ends_of_64_bits) {
  const int64_t ends[] = {INT64_MIN, INT64_MAX};
  tg_moments m;
  expect_moments(ends, 2, -0.5, 0x1p127);
  tg_counts *c = counts_of(NULL, 0, NULL);
  ck_assert_int_eq(tg_counts_add_n(c, INT64_MIN, UINT64_C(1) << 61), TG_OK);
  ck_assert_int_eq(tg_counts_add_n(c, INT64_MAX, UINT64_C(1) << 61), TG_OK);
  ck_assert_int_eq(tg_counts_moments(c, &m), TG_OK);
  ck_assert_double_eq(m.mean, -0.5);
  ck_assert_double_eq(m.variance, 0x1p126);
  ck_assert_int_eq(m.min, INT64_MIN);
  ck_assert_int_eq(m.max, INT64_MAX);
  tg_counts_free(c);
}
END_TEST

START_TEST(moments_need_values) {
  const int64_t one = -7;
  tg_moments m = {77, 0, 0, 0, 0};
  double q = 77;
  tg_counts *c = counts_of(NULL, 0, NULL);
  ck_assert_int_eq(tg_counts_moments(c, &m), TG_ENODATA);
  ck_assert_int_eq(tg_counts_quantile(c, 1, 2, TG_QUANTILE_LINEAR, &q), TG_ENODATA);
  ck_assert_uint_eq(m.n, 77);
  ck_assert_double_eq(q, 77);
  ck_assert_int_eq(tg_counts_add(c, &one, 1), TG_OK);
  ck_assert_int_eq(tg_counts_moments(c, &m), TG_OK);
  ck_assert_double_eq(m.mean, -7);
  ck_assert(isnan(m.variance));
  tg_counts_free(c);
}
END_TEST

/* Moments of moderate random values against long double sums of small integers (exact there). */
START_TEST(moments_equal_plain_sums) {
  static int64_t values[997];
  for (int round = 0; round < 50; round++) {
    int64_t sum = 0, squares = 0;
    for (size_t i = 0; i < 997; i++) {
      values[i] = (int64_t)(random_u64() % 4001) - 1000;
      sum += values[i];
      squares += values[i] * values[i];
    }
    /* both quotients are of integers below 2^53, so one double division rounds once */
    expect_moments(values, 997, (double)sum / 997.0,
                   (double)(997 * squares - sum * sum) / (997.0 * 996.0));
  }
}
END_TEST

static double quantile(tg_counts *c, uint64_t num, uint64_t den, tg_quantile_method method) {
  double q = NAN;
  ck_assert_int_eq(tg_counts_quantile(c, num, den, method, &q), TG_OK);
  return q;
}

/* Hyndman and Fan types 1 and 7 as numpy gives them for 15, 20, 35, 40, 50. */
START_TEST(quantiles_equal_the_published_ones) {
  const int64_t values[] = {35, 50, 15, 40, 20};
  tg_counts *c = counts_of(values, 5, NULL);
  ck_assert_double_eq(quantile(c, 1, 4, TG_QUANTILE_INVERTED_CDF), 20);
  ck_assert_double_eq(quantile(c, 2, 5, TG_QUANTILE_INVERTED_CDF), 20);
  ck_assert_double_eq(quantile(c, 1, 4, TG_QUANTILE_LINEAR), 20);
  ck_assert_double_eq(quantile(c, 40, 100, TG_QUANTILE_LINEAR), 29);
  ck_assert_double_eq(quantile(c, 9, 10, TG_QUANTILE_LINEAR), 46);
  ck_assert_double_eq(quantile(c, 0, 1, TG_QUANTILE_INVERTED_CDF), 15);
  ck_assert_double_eq(quantile(c, 1, 1, TG_QUANTILE_INVERTED_CDF), 50);
  ck_assert_double_eq(quantile(c, 0, 1, TG_QUANTILE_LINEAR), 15);
  ck_assert_double_eq(quantile(c, 7, 7, TG_QUANTILE_LINEAR), 50);
  tg_counts_free(c);
}
END_TEST

/* HdrHistogram's published percentiles: 20e6, 30e6, 100e6 and 10000 x 1000 + 1 x 1e8. */
START_TEST(quantiles_equal_those_of_hdrhistogram) {
  const int64_t three[] = {100000000, 20000000, 30000000};
  tg_counts *c = counts_of(three, 3, NULL);
  ck_assert_double_eq(quantile(c, 3333, 10000, TG_QUANTILE_INVERTED_CDF), 20e6);
  ck_assert_double_eq(quantile(c, 2, 3, TG_QUANTILE_INVERTED_CDF), 30e6);
  ck_assert_double_eq(quantile(c, 99, 100, TG_QUANTILE_INVERTED_CDF), 100e6);
  tg_counts_free(c);
  c = counts_of(NULL, 0, NULL);
  ck_assert_int_eq(tg_counts_add_n(c, 1000, 10000), TG_OK);
  ck_assert_int_eq(tg_counts_add_n(c, 100000000, 1), TG_OK);
  ck_assert_double_eq(quantile(c, 9999, 10000, TG_QUANTILE_INVERTED_CDF), 1000);
  ck_assert_double_eq(quantile(c, 99999, 100000, TG_QUANTILE_INVERTED_CDF), 1e8);
  tg_counts_free(c);
}
END_TEST

START_TEST(quantiles_equal_a_sorted_list) {
  static int64_t values[101];
  for (int round = 0; round < 20; round++) {
    const size_t n = 1 + (size_t)(random_u64() % 100);
    for (size_t i = 0; i < n; i++) values[i] = shaped(1);
    tg_counts *c = counts_of(values, n, NULL);
    qsort(values, n, sizeof *values, by_size);
    for (uint64_t p = 0; p <= 64; p++) {
      size_t rank = 0; /* the first value at or below which a share p/64 lies */
      while ((rank + 1) * 64 < n * p) rank++;
      ck_assert_double_eq(quantile(c, p, 64, TG_QUANTILE_INVERTED_CDF), (double)values[rank]);
      const size_t low = (n - 1) * p / 64, high = low + ((n - 1) * p % 64 != 0);
      const double share = (double)((n - 1) * p % 64) / 64.0; /* a power of two: exact */
      ck_assert_double_eq(quantile(c, p, 64, TG_QUANTILE_LINEAR),
                          (double)values[low] + (double)(values[high] - values[low]) * share);
    }
    tg_counts_free(c);
  }
}
END_TEST

START_TEST(quantiles_hold_at_the_ends_of_64_bits) {
  const int64_t ends[] = {INT64_MIN, INT64_MAX};
  tg_counts *c = counts_of(ends, 2, NULL);
  ck_assert_double_eq(quantile(c, 1, 2, TG_QUANTILE_LINEAR), -0.5);
  ck_assert_double_eq(quantile(c, UINT64_MAX, UINT64_MAX, TG_QUANTILE_LINEAR), 0x1p63);
  ck_assert_double_eq(quantile(c, UINT64_MAX - 1, UINT64_MAX, TG_QUANTILE_LINEAR), 0x1p63);
  ck_assert_double_eq(quantile(c, 1, UINT64_MAX, TG_QUANTILE_LINEAR), -0x1p63);
  ck_assert_double_eq(quantile(c, 1, UINT64_MAX, TG_QUANTILE_INVERTED_CDF), -0x1p63);
  tg_counts_free(c);
}
END_TEST

START_TEST(wrong_arguments_are_refused) {
  const int64_t values[] = {1, 2};
  const tg_counts_options fine = {0, 21, false};
  double q = 77;
  tg_counts *c = counts_of(values, 2, NULL), *none = NULL;
  ck_assert_int_eq(tg_counts_new(NULL, &fine, &none), TG_EINVAL);
  ck_assert_ptr_null(none);
  ck_assert_int_eq(tg_counts_quantile(c, 1, 0, TG_QUANTILE_LINEAR, &q), TG_EINVAL);
  ck_assert_int_eq(tg_counts_quantile(c, 3, 2, TG_QUANTILE_LINEAR, &q), TG_EINVAL);
  ck_assert_int_eq(tg_counts_quantile(c, 1, 2, (tg_quantile_method)3, &q), TG_EINVAL);
  ck_assert_double_eq(q, 77);
  tg_counts_free(c);
}
END_TEST

/* Adds, folds and merges; after a refused request the counts must be what they were. */
static tg_status fill(const tg_alloc *a, bool folding) {
  const tg_counts_options options = {folding ? 40 : 0, 4, false};
  int64_t values[100];
  tg_counts *c = NULL, *d = NULL;
  tg_status status = tg_counts_new(a, &options, &c);
  if (status == TG_OK) status = tg_counts_new(a, &options, &d);
  for (int64_t i = 0; i < 100; i++) values[i] = (i % 60) * 1000;
  if (status == TG_OK) status = tg_counts_add(c, values, 10);
  if (status == TG_OK && (status = tg_counts_add(c, values, 100)) != TG_OK) {
    ck_assert_uint_eq(tg_counts_total(c), 10);
    ck_assert(!tg_counts_folded(c));
    if (tg_counts_add(c, values + 5, 10) == TG_OK && tg_counts_total(c) == 20) {
      int64_t twice[20];
      memcpy(twice, values, 10 * sizeof *values);
      memcpy(twice + 10, values + 5, 10 * sizeof *values);
      const tg_count *pairs = NULL;
      size_t n = 0;
      if (tg_counts_pairs(c, &pairs, &n) == TG_OK) expect_values(c, twice, 20);
    }
  }
  if (status == TG_OK) status = tg_counts_add_n(d, 123456, 7);
  if (status == TG_OK && (status = tg_counts_merge(d, c)) != TG_OK) {
    ck_assert_uint_eq(tg_counts_total(d), 7);
    ck_assert(!tg_counts_folded(d));
  }
  if (status == TG_OK) {
    const tg_count *pairs = NULL;
    size_t n = 0;
    status = tg_counts_pairs(d, &pairs, &n);
    ck_assert(status != TG_OK || n > 0);
  }
  tg_counts_free(c);
  tg_counts_free(d);
  return status;
}

static tg_status fill_exact(const tg_alloc *a) { return fill(a, false); }
static tg_status fill_folding(const tg_alloc *a) { return fill(a, true); }

START_TEST(every_allocation_may_fail) {
  fail_every_allocation(fill_exact);
  fail_every_allocation(fill_folding);
}
END_TEST

int main(void) {
  TCase *tc = tcase_create("counts");
  tcase_add_test(tc, values_made_to_collide_do_not);
  tcase_add_test(tc, counts_equal_sorting);
  tcase_add_test(tc, merging_in_any_order_gives_the_same_bytes);
  tcase_add_test(tc, merging_with_itself_doubles);
  tcase_add_test(tc, a_fold_stays_within_its_width);
  tcase_add_test(tc, a_limit_folds_or_refuses);
  tcase_add_test(tc, what_was_folded_cannot_enter_where_folding_is_refused);
  tcase_add_test(tc, totals_end_at_two_to_the_63);
  tcase_add_test(tc, numacc_is_exact);
  tcase_add_test(tc, moments_hold_at_the_ends_of_64_bits);
  tcase_add_test(tc, moments_need_values);
  tcase_add_test(tc, moments_equal_plain_sums);
  tcase_add_test(tc, quantiles_equal_the_published_ones);
  tcase_add_test(tc, quantiles_equal_those_of_hdrhistogram);
  tcase_add_test(tc, quantiles_equal_a_sorted_list);
  tcase_add_test(tc, quantiles_hold_at_the_ends_of_64_bits);
  tcase_add_test(tc, wrong_arguments_are_refused);
  tcase_add_test(tc, every_allocation_may_fail);
  tcase_set_timeout(tc, 60);
  Suite *s = suite_create("counts");
  suite_add_tcase(s, tc);
  SRunner *runner = srunner_create(s);
  srunner_run_all(runner, CK_ENV);
  const int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

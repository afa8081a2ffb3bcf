/* check_samples.c - readings grouped and counted, against slow ways written for reading.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/fail_alloc.h"
#include "support/stop_at.h"
#include "tickgauge/samples.h"

enum { MOST = 300, SEEDS = 60, COLUMNS = 3, NONE = -1 };

static uint64_t next(uint64_t *state) {
  *state += UINT64_C(0x9e3779b97f4a7c15);
  uint64_t z = *state;
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  return z ^ z >> 31;
}

/* ---- codes ------------------------------------------------------------------------------------
 */

static uint32_t narrow[COLUMNS][MOST];
static int64_t wide[COLUMNS][MOST];

static int row_compare(size_t a, size_t b) {
  for (size_t c = 0; c < COLUMNS; c++)
    if (wide[c][a] != wide[c][b]) return wide[c][a] < wide[c][b] ? -1 : 1;
  return 0;
}

/* Rows of few or many distinct ids, in order or not, some missing. */
static void fill(uint64_t seed, size_t n) {
  uint64_t state = seed;
  const uint64_t span = 1 + next(&state) % 9;
  const bool rising = seed % 3 == 0;
  for (size_t c = 0; c < COLUMNS; c++) {
    for (size_t i = 0; i < n; i++) {
      const uint64_t id = rising ? (c == 0 ? i * span / 40 : 0) : next(&state) % span;
      wide[c][i] = !rising && id == 0 ? NONE : (int64_t)id;
      narrow[c][i] = wide[c][i] == NONE ? UINT32_MAX : (uint32_t)wide[c][i];
    }
  }
}

/* The code of a row is the number of distinct rows below it. */
static void expect_codes(size_t n, const uint32_t *code, const uint32_t *first, size_t n_codes) {
  size_t most = 0;
  for (size_t i = 0; i < n; i++) {
    size_t below = 0, earliest = i;
    for (size_t k = 0; k < n; k++) {
      bool again = false;
      for (size_t j = 0; j < k; j++) again = again || row_compare(j, k) == 0;
      if (!again && row_compare(k, i) < 0) below++;
      if (row_compare(k, i) == 0 && k < earliest) earliest = k;
    }
    ck_assert_uint_eq(code[i], below);
    ck_assert_uint_eq(first[code[i]], earliest);
    if (below + 1 > most) most = below + 1;
  }
  ck_assert_uint_eq(n_codes, most);
}

START_TEST(codes_count_the_rows_below) {
  for (uint64_t seed = 1; seed <= SEEDS; seed++) {
    const size_t n = (size_t)(seed * 2 % 90);
    uint32_t code[MOST], *first = NULL;
    size_t n_codes = 77;
    tg_id_column columns[COLUMNS];
    fill(seed, n);
    for (size_t c = 0; c < COLUMNS; c++) {
      const bool as_wide = (seed >> c & 1) != 0;
      columns[c] = (tg_id_column){as_wide ? (void *)wide[c] : (void *)narrow[c], as_wide};
    }
    ck_assert_int_eq(tg_codes(NULL, NULL, columns, COLUMNS, n, code, &first, &n_codes), TG_OK);
    expect_codes(n, code, first, n_codes);
    free(first);
  }
}
END_TEST

static tg_status run_codes(const tg_alloc *a, const tg_stop *stop) {
  uint32_t code[MOST], *first = NULL;
  size_t n_codes = 0;
  tg_id_column columns[COLUMNS];
  for (size_t c = 0; c < COLUMNS; c++) columns[c] = (tg_id_column){narrow[c], false};
  const tg_status status = tg_codes(a, stop, columns, COLUMNS, MOST, code, &first, &n_codes);
  if (status == TG_OK) {
    if (a == NULL) a = tg_alloc_default();
    a->release(a->ctx, first);
  } else {
    ck_assert_ptr_null(first);
  }
  return status;
}

static tg_status run_codes_memory(const tg_alloc *a) { return run_codes(a, NULL); }

START_TEST(codes_without_memory_or_stopped) {
  fill(1, MOST);
  fail_every_allocation(run_codes_memory);
  ck_assert_int_ge(stop_every_asking(run_codes), 1);
}
END_TEST

START_TEST(codes_need_a_column) {
  uint32_t *first = NULL;
  size_t n = 0;
  ck_assert_int_eq(tg_codes(NULL, NULL, NULL, 0, 0, NULL, &first, &n), TG_EINVAL);
}
END_TEST

/* ---- groups -----------------------------------------------------------------------------------
 */

static uint32_t key[MOST], unit[MOST];
static int64_t value[MOST];
static uint64_t weight[MOST];

enum { KEYS = 5, UNITS = 7 };

static tg_ungrouped readings(uint64_t seed, size_t n) {
  uint64_t state = seed;
  const bool in_order = seed % 2 == 0;
  for (size_t i = 0; i < n; i++) {
    const uint64_t r = next(&state);
    key[i] = seed % 5 == 0 && r % 11 == 0 ? UINT32_MAX : (uint32_t)(r % (KEYS - 1));
    unit[i] = in_order ? (uint32_t)(i * UNITS / n) : (uint32_t)(r >> 20) % UNITS;
    value[i] = (int64_t)(r >> 40) - 1000;
    weight[i] = r >> 60;
  }
  return (tg_ungrouped){key, unit, value, weight, n, KEYS, UNITS};
}

START_TEST(groups_hold_each_reading_once_in_order) {
  for (uint64_t seed = 1; seed <= SEEDS; seed++) {
    const size_t n = (size_t)(seed * 5 % MOST) + 1;
    tg_ungrouped in = readings(seed, n);
    int64_t v[MOST];
    uint64_t w[MOST], key_start[KEYS + 1];
    uint32_t row[MOST];
    tg_groups g;
    if (seed % 4 == 0) in.unit = NULL;
    ck_assert_int_eq(tg_group(NULL, NULL, &in, v, w, row, key_start, &g), TG_OK);
    size_t at = 0; /* the slow way: every key, every unit, every reading */
    size_t group = 0;
    for (uint32_t k = 0; k < KEYS; k++) {
      ck_assert_uint_eq(key_start[k], group);
      for (uint32_t u = 0; u < (in.unit != NULL ? (size_t)UNITS : n); u++) {
        const size_t before = at;
        for (size_t i = 0; i < n; i++) {
          if (key[i] != k || (in.unit != NULL ? unit[i] : i) != u) continue;
          ck_assert_uint_eq(row[at], i);
          ck_assert_int_eq(v[at], value[i]);
          ck_assert_uint_eq(w[at++], weight[i]);
        }
        if (at == before) continue;
        ck_assert_uint_eq(g.start[group], before);
        ck_assert_uint_eq(g.unit[group++], u);
      }
    }
    ck_assert_uint_eq(key_start[KEYS], group);
    ck_assert_uint_eq(g.n, group);
    ck_assert_uint_eq(g.start[group], at);
    tg_groups_free(NULL, &g);
  }
}
END_TEST

static tg_status run_group(const tg_alloc *a, const tg_stop *stop) {
  tg_ungrouped in = readings(1, MOST);
  in.weight = NULL;
  int64_t v[MOST];
  uint64_t key_start[KEYS + 1];
  uint32_t row[MOST];
  tg_groups g;
  const tg_status status = tg_group(a, stop, &in, v, NULL, row, key_start, &g);
  if (status == TG_OK) tg_groups_free(a, &g);
  return status;
}

static tg_status run_group_memory(const tg_alloc *a) { return run_group(a, NULL); }

START_TEST(groups_refuse_numbers_out_of_range) {
  int64_t v[MOST];
  uint64_t key_start[KEYS + 1];
  uint32_t row[MOST];
  tg_groups g;
  tg_ungrouped in = readings(2, 50);
  in.weight = NULL;
  key[20] = KEYS;
  ck_assert_int_eq(tg_group(NULL, NULL, &in, v, NULL, row, key_start, &g), TG_EINVAL);
  key[20] = 0;
  unit[20] = UNITS;
  ck_assert_int_eq(tg_group(NULL, NULL, &in, v, NULL, row, key_start, &g), TG_EINVAL);
  fail_every_allocation(run_group_memory);
}
END_TEST

START_TEST(groups_stop_at_every_asking) { ck_assert_int_ge(stop_every_asking(run_group), 2); }
END_TEST

/* ---- counts ---------------------------------------------------------------------------------- */

START_TEST(counts_are_exact) {
  static const int64_t v[] = {5, 3, 5, INT64_MIN, 9, 9, 9, 1};
  static const uint64_t start[] = {0, 4, 4, 7, 8};
  static const tg_count want[] = {{INT64_MIN, 1}, {3, 1}, {5, 2}, {9, 3}, {1, 1}};
  tg_count pairs[8];
  uint64_t from[5];
  uint8_t folded[4];
  ck_assert_int_eq(tg_count_groups(NULL, v, NULL, start, 4, 0, pairs, from, folded), TG_OK);
  static const uint64_t bounds[] = {0, 3, 3, 4, 5};
  ck_assert_mem_eq(from, bounds, sizeof bounds);
  ck_assert_mem_eq(pairs, want, sizeof want);
  for (size_t i = 0; i < 4; i++) ck_assert_uint_eq(folded[i], 0);
}
END_TEST

/* A group beyond the bound is folded, its neighbour is not: the counts stay, values move by 1/256
 * of themselves at most, those below 256 not at all. Seen at each power of two and beside it. */
START_TEST(counts_fold_within_their_width) {
  static const uint64_t w[] = {3, 4, 5}, start[] = {0, 2, 3};
  for (int k = 0; k < 64; k++) {
    for (int d = -1; d <= 1; d++) {
      for (int sign = 0; sign < 2; sign++) {
        const uint64_t magnitude = (UINT64_C(1) << k) + (uint64_t)(int64_t)d;
        const int64_t one = (int64_t)(sign == 0 ? magnitude : UINT64_C(0) - magnitude);
        const int64_t v[] = {one, one == 5 ? 6 : 5, one};
        tg_count pairs[3];
        uint64_t from[3];
        uint8_t folded[2];
        ck_assert_int_eq(tg_count_groups(NULL, v, w, start, 2, 1, pairs, from, folded), TG_OK);
        ck_assert(folded[0] == 1 && folded[1] == 0);
        ck_assert(from[0] == 0 && from[1] == 2 && from[2] == 3);
        const tg_count *moved = &pairs[one < v[1] ? 0 : 1], *other = &pairs[one < v[1] ? 1 : 0];
        ck_assert(other->value == v[1] && other->n == 4 && moved->n == 3);
        ck_assert(pairs[2].value == one && pairs[2].n == 5);
        const double by = fabs((double)moved->value - (double)one);
        ck_assert_double_le(by, magnitude < 256 ? 0 : (double)magnitude / 256);
      }
    }
  }
}
END_TEST

/* Values of one cell become one pair; to fold again changes nothing. */
START_TEST(counts_of_one_cell_are_one) {
  enum { N = 4096 };
  static int64_t v[N], again[N];
  static uint64_t w[N];
  static tg_count pairs[N], twice[N];
  static const uint64_t start[] = {0, N};
  uint64_t from[2], n = 0;
  uint8_t folded[1];
  for (int64_t i = 0; i < N; i++) v[i] = i;
  ck_assert_int_eq(tg_count_groups(NULL, v, NULL, start, 1, 100, pairs, from, folded), TG_OK);
  ck_assert_uint_eq(from[1], 256 + 4 * 128); /* 128 cells from each power of two on, 256 to 2048 */
  for (size_t i = 0; i < from[1]; i++) {
    ck_assert(i == 0 || pairs[i - 1].value < pairs[i].value);
    again[i] = pairs[i].value;
    w[i] = pairs[i].n;
    n += w[i];
  }
  ck_assert_uint_eq(n, N);
  const uint64_t kept[] = {0, from[1]};
  ck_assert_int_eq(tg_count_groups(NULL, again, w, kept, 1, 100, twice, from, folded), TG_OK);
  ck_assert_uint_eq(from[1], kept[1]);
  ck_assert_mem_eq(twice, pairs, kept[1] * sizeof *pairs);
}
END_TEST

START_TEST(counts_overflow_is_said) {
  static const int64_t v[] = {1, 2};
  static const uint64_t w[] = {INT64_MAX, 1}, start[] = {0, 2};
  tg_count pairs[2];
  uint64_t from[2];
  uint8_t folded[1];
  ck_assert_int_eq(tg_count_groups(NULL, v, w, start, 1, 0, pairs, from, folded), TG_EOVERFLOW);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("samples");
  TCase *tc = tcase_create("samples");
  tcase_add_test(tc, codes_count_the_rows_below);
  tcase_add_test(tc, codes_without_memory_or_stopped);
  tcase_add_test(tc, codes_need_a_column);
  tcase_add_test(tc, groups_hold_each_reading_once_in_order);
  tcase_add_test(tc, groups_refuse_numbers_out_of_range);
  tcase_add_test(tc, groups_stop_at_every_asking);
  tcase_add_test(tc, counts_are_exact);
  tcase_add_test(tc, counts_fold_within_their_width);
  tcase_add_test(tc, counts_of_one_cell_are_one);
  tcase_add_test(tc, counts_overflow_is_said);
  suite_add_tcase(suite, tc);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_NORMAL);
  const int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? 0 : 1;
}

/* check_sort.c - base/sort.h against qsort, and a bound on its work.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <check.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct pair {
  int64_t key;
  uint64_t at;
} pair;

static size_t compares; /* since the last reset */

static bool key_before(const pair *a, const pair *b) {
  compares++;
  return a->key < b->key;
}
static bool item_before(const pair *a, const pair *b) {
  compares++;
  return a->key != b->key ? a->key < b->key : a->at < b->at;
}

#define TG_SORT_NAME sort_keys
#define TG_SORT_ITEM pair
#define TG_SORT_BEFORE(a, b) key_before(a, b)
#include "base/sort.h"

#define TG_SORT_NAME sort_items
#define TG_SORT_ITEM pair
#define TG_SORT_BEFORE(a, b) item_before(a, b)
#include "base/sort.h"

#define TG_SORT_NAME sort_bytes
#define TG_SORT_ITEM uint8_t
#define TG_SORT_BEFORE(a, b) (*(a) < *(b))
#include "base/sort.h"

enum { MOST = 5000, SEEDS = 40 };

static int by_item(const void *a, const void *b) {
  const pair *x = a, *y = b;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  return (x->at > y->at) - (x->at < y->at);
}

static uint64_t next(uint64_t *state) {
  *state += UINT64_C(0x9e3779b97f4a7c15);
  uint64_t z = *state;
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  return z ^ z >> 31;
}

/* Shapes that are hard for one sort or another. */
static int64_t shape(unsigned which, size_t i, size_t n, uint64_t random) {
  switch (which) {
    case 0:
      return (int64_t)random;
    case 1:
      return (int64_t)(random % 7);
    case 2:
      return (int64_t)i;
    case 3:
      return -(int64_t)i;
    case 4:
      return (int64_t)(i < n / 2 ? i : n - i);
    case 5:
      return (int64_t)(i % 2 == 0 ? i : n + i);
    case 6:
      return 5;
    default:
      return i + 1 == n ? INT64_MIN : (int64_t)i;
  }
}

START_TEST(test_agrees_with_qsort) {
  static pair mine[MOST], theirs[MOST];
  uint64_t state = 1;
  for (unsigned seed = 0; seed < SEEDS; seed++) {
    const size_t n = seed < 30 ? seed : (size_t)(next(&state) % MOST);
    for (unsigned which = 0; which < 8; which++) {
      for (size_t i = 0; i < n; i++) mine[i] = (pair){shape(which, i, n, next(&state)), i};
      memcpy(theirs, mine, sizeof mine);
      qsort(theirs, n, sizeof *theirs, by_item);
      sort_items(mine, n);
      ck_assert_msg(memcmp(mine, theirs, n * sizeof *mine) == 0, "shape %u of %zu", which, n);
    }
  }
}
END_TEST

/* An order that leaves items of equal rank where it likes still keeps every pair. */
START_TEST(test_keeps_every_item) {
  static pair v[MOST];
  static uint8_t seen[MOST];
  uint64_t state = 2;
  for (size_t i = 0; i < MOST; i++) v[i] = (pair){(int64_t)(next(&state) % 3), i};
  sort_keys(v, MOST);
  for (size_t i = 0; i < MOST; i++) {
    ck_assert(i == 0 || v[i - 1].key <= v[i].key);
    ck_assert_uint_eq(seen[v[i].at]++, 0);
  }
}
END_TEST

/* Median-of-three killer (Musser 1997): quick sort alone takes n^2 / 8 steps on it. */
START_TEST(test_work_is_bounded) {
  static pair v[4096];
  const size_t n = 4096, half = n / 2;
  for (size_t i = 0; i < half; i++) {
    v[i].key = (int64_t)(i % 2 == 0 ? i + 1 : half + i + (half % 2));
    v[half + i].key = (int64_t)(2 * (i + 1));
  }
  compares = 0;
  sort_keys(v, n);
  ck_assert_uint_lt(compares, 4 * n * 12);
  compares = 0;
  sort_keys(v, n);
  ck_assert_uint_eq(compares, n - 1);
}
END_TEST

/* The order of an adversary (McIlroy 1999): it decides while it is asked, so that each pivot is as
 * bad as can be. */
static int64_t solid, *worth;
static size_t n_asked;
static uint32_t candidate;
enum { GAS = 1 << 30 };
static bool bad_before(const uint32_t *a, const uint32_t *b) {
  n_asked++;
  if (worth[*a] == GAS && worth[*b] == GAS) {
    if (*a == candidate) {
      worth[*a] = solid++;
    } else {
      worth[*b] = solid++;
    }
  }
  if (worth[*a] == GAS) {
    candidate = *a;
  } else if (worth[*b] == GAS) {
    candidate = *b;
  }
  return worth[*a] < worth[*b];
}
#define TG_SORT_NAME sort_badly
#define TG_SORT_ITEM uint32_t
#define TG_SORT_BEFORE(a, b) bad_before(a, b)
#include "base/sort.h"

START_TEST(test_adversary) {
  static int64_t ranks[MOST];
  static uint32_t v[MOST];
  worth = ranks;
  for (uint32_t i = 0; i < MOST; i++) {
    v[i] = i;
    ranks[i] = GAS;
  }
  sort_badly(v, MOST);
  ck_assert_uint_lt(n_asked, 5 * MOST * 13);
}
END_TEST

START_TEST(test_bytes) {
  uint8_t v[] = "the quick brown fox jumps over the lazy dog, twice: it is 53 bytes";
  const size_t n = sizeof v - 1;
  sort_bytes(v, n);
  for (size_t i = 1; i < n; i++) ck_assert_uint_le(v[i - 1], v[i]);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("sort");
  TCase *tc = tcase_create("sort");
  tcase_add_test(tc, test_agrees_with_qsort);
  tcase_add_test(tc, test_keeps_every_item);
  tcase_add_test(tc, test_work_is_bounded);
  tcase_add_test(tc, test_adversary);
  tcase_add_test(tc, test_bytes);
  suite_add_tcase(suite, tc);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_NORMAL);
  const int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? 0 : 1;
}

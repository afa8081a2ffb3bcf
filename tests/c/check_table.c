/* check_table.c - columns, types, missing values, dictionaries, growth.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/row.h"
#include "support/fail_alloc.h"
#include "tickgauge/table.h"

enum { U64, I64, U32, F64, BOOL, TEXT, COLUMNS };

static const tg_column_def defs[COLUMNS] = {
    [U64] = {"u64", TG_U64, 0}, [I64] = {"i64", TG_I64, -3},   [U32] = {"u32", TG_U32, 0},
    [F64] = {"f64", TG_F64, 0}, [BOOL] = {"bool", TG_BOOL, 0}, [TEXT] = {"text", TG_TEXT, 0},
};

static tg_table *new_table(void) {
  tg_table *t = NULL;
  ck_assert_int_eq(tg_table_new(NULL, defs, COLUMNS, &t), TG_OK);
  return t;
}

/* Stores something in one cell, by the setter of `type`. */
static tg_status set(tg_table *t, size_t row, size_t col, int type) {
  switch (type) {
    case U64:
      return tg_table_set_u64(t, row, col, UINT64_MAX);
    case I64:
      return tg_table_set_i64(t, row, col, INT64_MIN);
    case U32:
      return tg_table_set_u32(t, row, col, UINT32_MAX);
    case F64:
      return tg_table_set_f64(t, row, col, 0.1);
    case BOOL:
      return tg_table_set_bool(t, row, col, true);
    default:
      return tg_table_set_text(t, row, col, (const uint8_t *)"\0x", 3);
  }
}

/* Whether the getter of `type` finds the value that set() stores. */
static bool get(const tg_table *t, size_t row, size_t col, int type) {
  uint64_t u64 = 77;
  int64_t i64 = 77;
  uint32_t u32 = 77;
  double f64 = 77;
  bool flag = false, there = false;
  tg_str text = {NULL, 77};
  switch (type) {
    case U64:
      there = tg_table_u64(t, row, col, &u64);
      ck_assert_uint_eq(u64, there ? UINT64_MAX : 77);
      return there;
    case I64:
      there = tg_table_i64(t, row, col, &i64);
      ck_assert_int_eq(i64, there ? INT64_MIN : 77);
      return there;
    case U32:
      there = tg_table_u32(t, row, col, &u32);
      ck_assert_uint_eq(u32, there ? UINT32_MAX : 77);
      return there;
    case F64:
      there = tg_table_f64(t, row, col, &f64);
      ck_assert_double_eq(f64, there ? 0.1 : 77);
      return there;
    case BOOL:
      there = tg_table_bool(t, row, col, &flag);
      ck_assert_int_eq(flag, there);
      return there;
    default:
      there = tg_table_text(t, row, col, &text);
      ck_assert_uint_eq(text.n, there ? 3 : 77);
      if (there) ck_assert_mem_eq(text.p, "\0x", 3);
      return there;
  }
}

START_TEST(a_cell_takes_its_own_type_only) {
  tg_table *t = new_table();
  size_t row = 77;
  ck_assert_int_eq(tg_table_append(t, &row), TG_OK);
  ck_assert_uint_eq(row, 0);
  for (size_t col = 0; col < COLUMNS; col++) {
    for (int type = 0; type < COLUMNS; type++) {
      if (type != (int)col) ck_assert_int_eq(set(t, row, col, type), TG_EINVAL);
    }
    ck_assert(!get(t, row, col, (int)col));
    ck_assert_int_eq(set(t, row, col, (int)col), TG_OK);
    for (int type = 0; type < COLUMNS; type++)
      ck_assert_int_eq(get(t, row, col, type), type == (int)col);
    ck_assert_uint_eq(tg_table_valid(t)[0], (UINT64_C(2) << col) - 1);
  }
  tg_table_free(t);
}
END_TEST

START_TEST(cells_outside_the_table_are_refused) {
  tg_table *t = new_table();
  size_t row = 0;
  ck_assert_int_eq(set(t, 0, 0, U64), TG_EINVAL);
  ck_assert_int_eq(tg_table_append(t, &row), TG_OK);
  for (int type = 0; type < COLUMNS; type++) {
    ck_assert_int_eq(set(t, 1, (size_t)type, type), TG_EINVAL);
    ck_assert_int_eq(set(t, 0, COLUMNS, type), TG_EINVAL);
    ck_assert_int_eq(set(t, SIZE_MAX, SIZE_MAX, type), TG_EINVAL);
    ck_assert(!get(t, 1, (size_t)type, type));
    ck_assert(!get(t, 0, COLUMNS, type));
  }
  ck_assert_int_eq(tg_table_set_cstr(t, 1, TEXT, NULL), TG_EINVAL);
  ck_assert_int_eq(tg_table_set_cstr(t, 0, U64, NULL), TG_EINVAL);
  tg_table_clear(t, 1, 0);
  tg_table_clear(t, 0, COLUMNS);
  tg_table_truncate(t, 5);
  ck_assert_uint_eq(tg_table_rows(t), 1);
  tg_table_free(t);
}
END_TEST

START_TEST(a_cleared_cell_is_missing_and_zero) {
  tg_table *t = new_table();
  size_t row = 0;
  ck_assert_int_eq(tg_table_append(t, &row), TG_OK);
  for (size_t col = 0; col < COLUMNS; col++) ck_assert_int_eq(set(t, row, col, (int)col), TG_OK);
  for (size_t col = 0; col < COLUMNS; col++) {
    static const uint8_t zeros[8] = {0};
    tg_column_view view;
    tg_table_clear(t, row, col);
    ck_assert(!get(t, row, col, (int)col));
    ck_assert_int_eq(tg_table_view(t, col, &view), TG_OK);
    ck_assert_mem_eq(view.data, zeros, view.item);
  }
  ck_assert_uint_eq(tg_table_valid(t)[0], 0);
  ck_assert_int_eq(set(t, row, U64, U64), TG_OK);
  ck_assert(get(t, row, U64, U64));
  tg_table_free(t);
}
END_TEST

START_TEST(a_row_is_written_value_by_value) {
  tg_table *t = new_table();
  tg_row w = tg_row_begin(t);
  tg_row_u64(&w, U64, UINT64_MAX);
  tg_row_i64(&w, I64, INT64_MIN);
  tg_row_u32(&w, U32, UINT32_MAX);
  tg_row_f64(&w, F64, 0.1);
  tg_row_bool(&w, BOOL, true);
  tg_row_text(&w, TEXT, (tg_str){(const uint8_t *)"\0x", 3});
  ck_assert_int_eq(tg_row_end(&w), TG_OK);
  for (int col = 0; col < COLUMNS; col++) ck_assert(get(t, 0, (size_t)col, col));
  w = tg_row_begin(t);
  tg_row_cstr(&w, TEXT, NULL);
  ck_assert_int_eq(tg_row_end(&w), TG_OK);
  ck_assert_uint_eq(tg_table_rows(t), 2);
  for (int col = 0; col < COLUMNS; col++) ck_assert(!get(t, 1, (size_t)col, col));
  tg_table_free(t);
}
END_TEST

/* A column of another type, or none, takes the whole row back, in any place of it. */
START_TEST(a_row_with_a_wrong_column_is_taken_back) {
  tg_table *t = new_table();
  for (int at = 0; at < 4; at++) {
    tg_row w = tg_row_begin(t);
    if (at == 0) tg_row_u64(&w, I64, 1);
    tg_row_u64(&w, U64, 1);
    if (at == 1) tg_row_bool(&w, COLUMNS, true);
    if (at == 2) tg_row_cstr(&w, F64, "x");
    if (at == 3) tg_row_cstr(&w, F64, NULL);
    tg_row_u32(&w, U32, 1);
    ck_assert_int_eq(tg_row_end(&w), TG_EINVAL);
    ck_assert_uint_eq(tg_table_rows(t), 0);
  }
  tg_table_free(t);
}
END_TEST

static tg_status write_rows(const tg_alloc *a) {
  tg_table *t = NULL;
  tg_status status = tg_table_new(a, defs, COLUMNS, &t);
  for (size_t i = 0; i < 40 && status == TG_OK; i++) {
    char text[8];
    snprintf(text, sizeof text, "t%zu", i);
    tg_row w = tg_row_begin(t);
    tg_row_u64(&w, U64, i);
    tg_row_cstr(&w, TEXT, text);
    status = tg_row_end(&w);
    ck_assert_uint_eq(tg_table_rows(t), i + (status == TG_OK ? 1 : 0));
  }
  tg_table_free(t);
  return status;
}

START_TEST(a_row_without_memory_is_taken_back) { fail_every_allocation(write_rows); }
END_TEST

/* Rows that were dropped come back as missing and zero. */
START_TEST(truncated_rows_leave_nothing_behind) {
  tg_table *t = new_table();
  size_t row = 0;
  for (int i = 0; i < 100; i++) {
    ck_assert_int_eq(tg_table_append(t, &row), TG_OK);
    for (size_t col = 0; col < COLUMNS; col++) ck_assert_int_eq(set(t, row, col, (int)col), TG_OK);
  }
  tg_table_truncate(t, 10);
  ck_assert_uint_eq(tg_table_rows(t), 10);
  ck_assert(get(t, 9, TEXT, TEXT));
  for (int i = 0; i < 90; i++) {
    ck_assert_int_eq(tg_table_append(t, &row), TG_OK);
    ck_assert_uint_eq(row, 10 + (size_t)i);
    ck_assert_uint_eq(tg_table_valid(t)[row], 0);
    for (size_t col = 0; col < COLUMNS; col++) {
      tg_column_view view;
      static const uint8_t zeros[8] = {0};
      ck_assert_int_eq(tg_table_view(t, col, &view), TG_OK);
      ck_assert_mem_eq((const uint8_t *)view.data + row * view.item, zeros, view.item);
    }
  }
  tg_table_truncate(t, 0);
  ck_assert_uint_eq(tg_table_rows(t), 0);
  tg_table_free(t);
}
END_TEST

START_TEST(a_view_shows_contiguous_items) {
  enum { ROWS = 10000 };
  tg_table *t = new_table();
  tg_column_view view;
  size_t row = 0;
  for (size_t i = 0; i < ROWS; i++) {
    char text[8];
    snprintf(text, sizeof text, "t%zu", i % 37);
    ck_assert_int_eq(tg_table_append(t, &row), TG_OK);
    ck_assert_int_eq(tg_table_set_u64(t, row, U64, i * i), TG_OK);
    if (i % 3 == 0) ck_assert_int_eq(tg_table_set_i64(t, row, I64, -(int64_t)i), TG_OK);
    ck_assert_int_eq(tg_table_set_cstr(t, row, TEXT, text), TG_OK);
  }
  ck_assert_int_eq(tg_table_view(t, U64, &view), TG_OK);
  ck_assert_str_eq(view.name, "u64");
  ck_assert_uint_eq(view.rows, ROWS);
  ck_assert_uint_eq(view.item, 8);
  ck_assert_ptr_null(view.dict);
  for (size_t i = 0; i < ROWS; i++) ck_assert_uint_eq(((const uint64_t *)view.data)[i], i * i);
  ck_assert_int_eq(tg_table_view(t, I64, &view), TG_OK);
  ck_assert_int_eq(view.type, TG_I64);
  ck_assert_int_eq(view.exp10, -3);
  for (size_t i = 0; i < ROWS; i++) {
    ck_assert_int_eq(((const int64_t *)view.data)[i], i % 3 == 0 ? -(int64_t)i : 0);
    ck_assert_uint_eq(tg_table_valid(t)[i] >> I64 & 1, i % 3 == 0);
  }
  ck_assert_int_eq(tg_table_view(t, TEXT, &view), TG_OK);
  ck_assert_uint_eq(tg_intern_count(view.dict), 37);
  for (size_t i = 0; i < ROWS; i++) ck_assert_uint_eq(((const uint32_t *)view.data)[i], i % 37);
  ck_assert_int_eq(tg_table_view(t, COLUMNS, &view), TG_EINVAL);
  tg_table_free(t);
}
END_TEST

START_TEST(each_text_column_has_its_own_dictionary) {
  static const tg_column_def two[] = {{"a", TG_TEXT, 0}, {"b", TG_TEXT, 0}};
  tg_table *t = NULL;
  tg_column_view a, b;
  tg_str s = {NULL, 0};
  size_t row = 0;
  ck_assert_int_eq(tg_table_new(NULL, two, 2, &t), TG_OK);
  ck_assert_int_eq(tg_table_append(t, &row), TG_OK);
  ck_assert_int_eq(tg_table_set_cstr(t, row, 0, "x"), TG_OK);
  ck_assert_int_eq(tg_table_set_cstr(t, row, 1, ""), TG_OK);
  ck_assert_int_eq(tg_table_view(t, 0, &a), TG_OK);
  ck_assert_int_eq(tg_table_view(t, 1, &b), TG_OK);
  ck_assert_ptr_ne(a.dict, b.dict);
  ck_assert(tg_table_text(t, row, 1, &s)); /* an empty text is a value */
  ck_assert_uint_eq(s.n, 0);
  ck_assert_int_eq(tg_table_set_cstr(t, row, 1, NULL), TG_OK);
  ck_assert(!tg_table_text(t, row, 1, &s));
  tg_table_free(t);
}
END_TEST

/* Large columns are mapped and move as they grow: each value is where it was. */
START_TEST(a_large_table_keeps_its_values_as_it_grows) {
  const size_t rows = 500000; /* 8 MB a column: past the least mapped block, and grown behind it */
  tg_table *t = new_table();
  tg_table *other = new_table(); /* stands in the way of growing in place */
  for (size_t i = 0; i < rows; i++) {
    tg_row w = tg_row_begin(i % 3 == 2 ? other : t);
    tg_row_u64(&w, U64, i * UINT64_C(0x9e3779b97f4a7c15));
    tg_row_u32(&w, U32, (uint32_t)i);
    ck_assert_int_eq(tg_row_end(&w), TG_OK);
    w = tg_row_begin(t);
    tg_row_i64(&w, I64, -(int64_t)i);
    ck_assert_int_eq(tg_row_end(&w), TG_OK);
  }
  size_t at = 0;
  for (size_t i = 0; i < rows; i++) {
    uint64_t u = 0;
    int64_t v = 0;
    uint32_t n = 0;
    if (i % 3 != 2) {
      if (!tg_table_u64(t, at, U64, &u) || u != i * UINT64_C(0x9e3779b97f4a7c15) ||
          !tg_table_u32(t, at, U32, &n) || n != (uint32_t)i || tg_table_i64(t, at, I64, &v))
        ck_abort_msg("row %zu", at);
      at++;
    }
    if (!tg_table_i64(t, at, I64, &v) || v != -(int64_t)i || tg_table_u64(t, at, U64, &u))
      ck_abort_msg("row %zu", at);
    at++;
  }
  ck_assert_uint_eq(at, tg_table_rows(t));
  tg_table_free(other);
  tg_table_free(t);
}
END_TEST

START_TEST(wrong_definitions_are_refused) {
  static const tg_column_def twice[] = {{"a", TG_U64, 0}, {"b", TG_U64, 0}, {"a", TG_I64, 0}};
  static const tg_column_def unnamed[] = {{NULL, TG_U64, 0}}, empty[] = {{"", TG_U64, 0}};
  static const tg_column_def no_type[] = {{"a", (tg_type)0, 0}}, type7[] = {{"a", (tg_type)7, 0}};
  static tg_column_def many[TG_MAX_COLUMNS + 1];
  static char names[TG_MAX_COLUMNS + 1][8];
  tg_table *t = NULL;
  size_t col = 77, row = 0;
  ck_assert_int_eq(tg_table_new(NULL, twice, 3, &t), TG_EINVAL);
  ck_assert_int_eq(tg_table_new(NULL, unnamed, 1, &t), TG_EINVAL);
  ck_assert_int_eq(tg_table_new(NULL, empty, 1, &t), TG_EINVAL);
  ck_assert_int_eq(tg_table_new(NULL, no_type, 1, &t), TG_EINVAL);
  ck_assert_int_eq(tg_table_new(NULL, type7, 1, &t), TG_EINVAL);
  ck_assert_int_eq(tg_table_new(NULL, twice, 0, &t), TG_EINVAL);
  for (size_t i = 0; i <= TG_MAX_COLUMNS; i++) {
    snprintf(names[i], sizeof names[i], "c%zu", i);
    many[i] = (tg_column_def){names[i], TG_U64, 0};
  }
  ck_assert_int_eq(tg_table_new(NULL, many, TG_MAX_COLUMNS + 1, &t), TG_EINVAL);
  ck_assert_ptr_null(t);
  ck_assert_int_eq(tg_table_new(NULL, many, TG_MAX_COLUMNS, &t), TG_OK);
  memset(names, 'x', sizeof names); /* names were copied */
  ck_assert_int_eq(tg_table_find(t, "c63", &col), TG_OK);
  ck_assert_uint_eq(col, 63);
  ck_assert_int_eq(tg_table_find(t, "c64", &col), TG_ENOTFOUND);
  ck_assert_uint_eq(col, 63);
  ck_assert_uint_eq(tg_table_cols(t), TG_MAX_COLUMNS);
  ck_assert_int_eq(tg_table_append(t, &row), TG_OK);
  ck_assert_int_eq(tg_table_set_u64(t, row, 63, 5), TG_OK);
  ck_assert_uint_eq(tg_table_valid(t)[0], UINT64_C(1) << 63);
  tg_table_free(t);
}
END_TEST

static tg_status fill(const tg_alloc *a) {
  tg_table *t = NULL;
  tg_status status = tg_table_new(a, defs, COLUMNS, &t);
  ck_assert(status == TG_OK || t == NULL);
  for (size_t i = 0; i < 40 && status == TG_OK; i++) {
    size_t row = 77;
    status = tg_table_append(t, &row);
    ck_assert_uint_eq(row, status == TG_OK ? i : 77);
    ck_assert_uint_eq(tg_table_rows(t), status == TG_OK ? i + 1 : i);
    if (status == TG_OK) {
      char text[8];
      snprintf(text, sizeof text, "%zu", i);
      status = tg_table_set_cstr(t, row, TEXT, text);
      ck_assert_uint_eq(tg_table_valid(t)[row], status == TG_OK ? UINT64_C(1) << TEXT : 0);
    }
    for (size_t r = 0; r < i && status != TG_OK; r++) { /* what was there is still there */
      tg_str s = {NULL, 0};
      ck_assert(tg_table_text(t, r, TEXT, &s));
      ck_assert_uint_eq(
          (size_t)strtoul((const char[3]){(char)s.p[0], s.n > 1 ? (char)s.p[1] : 0, 0}, NULL, 10),
          r);
    }
  }
  tg_table_free(t);
  return status;
}

/* U64 and U32 hold 9 and 7 in row `marked`, and zero in all others. */
static void check_marked(const tg_table *t, size_t rows, size_t marked) {
  tg_column_view wide, narrow;
  ck_assert_int_eq(tg_table_view(t, U64, &wide), TG_OK);
  ck_assert_int_eq(tg_table_view(t, U32, &narrow), TG_OK);
  const uint64_t *u64 = wide.data;
  const uint32_t *u32 = narrow.data;
  size_t wrong = 0;
  for (size_t i = 0; i < rows; i++) {
    wrong += u64[i] != (i == marked ? 9 : 0);
    wrong += u32[i] != (i == marked ? 7 : 0);
  }
  ck_assert_uint_eq(wrong, 0);
}

/* Zeros are not written until something else comes: the sizes lie on both sides of where a column
 * is mapped, and the other value comes in the first row, in the last one, between, or never. */
START_TEST(a_column_of_zeros_reads_as_such) {
  static const size_t sizes[] = {1, 9, 1000, 300000, 700000};
  const size_t rows = sizes[_i / 4];
  const size_t marked = ((const size_t[]){0, rows / 2, rows - 1, rows})[_i % 4];
  tg_table *t = new_table();
  for (size_t i = 0; i < rows; i++) {
    tg_row w = tg_row_begin(t);
    tg_row_u64(&w, U64, i == marked ? 9 : 0);
    tg_row_u32(&w, U32, i == marked ? 7 : 0);
    ck_assert_int_eq(tg_row_end(&w), TG_OK);
  }
  check_marked(t, rows, marked);
  size_t first = 0;
  tg_table_truncate(t, marked); /* the marked row comes back as a row of zeros */
  ck_assert_int_eq(tg_table_append_n(t, rows - tg_table_rows(t), &first), TG_OK);
  check_marked(t, rows, rows);
  tg_table *joined = NULL;
  ck_assert_int_eq(tg_table_like(NULL, t, &joined), TG_OK);
  ck_assert_int_eq(tg_table_join(joined, t, rows), TG_OK);
  ck_assert_int_eq(tg_table_set_u64(t, rows - 1, U64, 9), TG_OK);
  ck_assert_int_eq(tg_table_set_u32(t, rows - 1, U32, 7), TG_OK);
  ck_assert_int_eq(tg_table_join(joined, t, rows), TG_OK);
  check_marked(joined, 2 * rows, 2 * rows - 1);
  tg_table_free(joined);
  tg_table_free(t);
}
END_TEST

START_TEST(every_allocation_may_fail) { fail_every_allocation(fill); }
END_TEST

/* Two tables of a number, a word and a missing number, as one. */
static tg_status stack_two(const tg_alloc *a) {
  static const tg_column_def columns[] = {
      {"n", TG_U32, 0}, {"word", TG_TEXT, 0}, {"at", TG_U64, 0}};
  static const char *const words[2][2] = {{"one", "two"}, {"two", "new"}};
  static const uint64_t begins[] = {0, 2}, none[] = {0, 0};
  static const uint32_t map[] = {70, 71, 72, 73}, source[] = {8, 9};
  const tg_renumber renumber[] = {{0, begins, map, 4}, {2, begins, NULL, 0}};
  tg_table *table[2] = {NULL, NULL}, *out = NULL;
  tg_status status = TG_OK;
  for (size_t i = 0; i < 2 && status == TG_OK; i++) {
    status = tg_table_new(a, columns, 3, &table[i]);
    for (size_t r = 0, row = 0; r < 2 && status == TG_OK; r++) {
      status = tg_table_append(table[i], &row);
      if (status != TG_OK) break;
      tg_table_set_u32(table[i], row, 0, (uint32_t)r);
      if (r == 1) tg_table_set_u64(table[i], row, 2, 5);
      status = tg_table_set_cstr(table[i], row, 1, words[i][r]);
    }
  }
  const tg_table *const both[] = {table[0], table[1]};
  tg_stack stack = {both, 2, renumber, 2, source};
  if (status == TG_OK) status = tg_table_stack(a, &stack, &out);
  for (uint32_t row = 0; status == TG_OK && row < 4; row++) {
    uint32_t n = 0, from = 0;
    uint64_t at = 0;
    tg_str word = {NULL, 0};
    ck_assert(tg_table_u32(out, row, 0, &n) && n == 70 + row);
    ck_assert(tg_table_text(out, row, 1, &word));
    ck_assert_mem_eq(word.p, words[row / 2][row % 2], 3);
    ck_assert_int_eq(tg_table_u64(out, row, 2, &at), row % 2);
    ck_assert(row % 2 == 0 || at == 5 + begins[row / 2]);
    ck_assert(tg_table_u32(out, row, 3, &from) && from == source[row / 2]);
  }
  if (status == TG_OK) {
    const tg_renumber small = {0, none, map, 1}, text = {1, none, NULL, 0};
    tg_table *untouched = NULL;
    stack.n_renumber = 1;
    stack.renumber = &small;
    ck_assert_int_eq(tg_table_stack(NULL, &stack, &untouched), TG_EINVAL);
    stack.renumber = &text;
    ck_assert_int_eq(tg_table_stack(NULL, &stack, &untouched), TG_EINVAL);
    stack.n = 0;
    ck_assert_int_eq(tg_table_stack(NULL, &stack, &untouched), TG_EINVAL);
    ck_assert_ptr_null(untouched);
  }
  for (size_t i = 0; i < 2; i++) tg_table_free(table[i]);
  tg_table_free(out);
  return status;
}

START_TEST(tables_are_put_below_each_other) {
  ck_assert_int_eq(stack_two(NULL), TG_OK);
  fail_every_allocation(stack_two);
}
END_TEST

int main(void) {
  TCase *tc = tcase_create("table");
  tcase_add_test(tc, a_cell_takes_its_own_type_only);
  tcase_add_test(tc, cells_outside_the_table_are_refused);
  tcase_add_test(tc, a_cleared_cell_is_missing_and_zero);
  tcase_add_test(tc, a_row_is_written_value_by_value);
  tcase_add_test(tc, a_row_with_a_wrong_column_is_taken_back);
  tcase_add_test(tc, a_row_without_memory_is_taken_back);
  tcase_add_test(tc, truncated_rows_leave_nothing_behind);
  tcase_add_test(tc, a_view_shows_contiguous_items);
  tcase_add_test(tc, each_text_column_has_its_own_dictionary);
  tcase_add_test(tc, a_large_table_keeps_its_values_as_it_grows);
  tcase_add_loop_test(tc, a_column_of_zeros_reads_as_such, 0, 20);
  tcase_add_test(tc, wrong_definitions_are_refused);
  tcase_add_test(tc, every_allocation_may_fail);
  tcase_add_test(tc, tables_are_put_below_each_other);
  Suite *s = suite_create("table");
  suite_add_tcase(s, tc);
  SRunner *runner = srunner_create(s);
  srunner_run_all(runner, CK_ENV);
  const int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

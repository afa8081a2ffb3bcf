/* table.h - columns: the one shape in which the core hands out rows.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TICKGAUGE_TABLE_H
#define TICKGAUGE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "alloc.h"
#include "export.h"
#include "intern.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Column types. A measured value is U64 or I64, never F64 (which is for statistics alone). */
typedef enum tg_type {
  TG_U64 = 1,  /* uint64_t: counters, ids, offsets */
  TG_I64 = 2,  /* int64_t: differences; decimals as the mantissa of exp10 */
  TG_U32 = 3,  /* uint32_t: small ids and indices */
  TG_F64 = 4,  /* double: results of statistics */
  TG_BOOL = 5, /* uint8_t 0 or 1 */
  TG_TEXT = 6  /* uint32_t code into the column's own tg_intern */
} tg_type;

#define TG_MAX_COLUMNS 64

/* `name` must outlive tg_table_new only (it is copied). `exp10`: value = stored * 10^exp10. */
typedef struct tg_column_def {
  const char *name;
  tg_type type;
  int32_t exp10;
} tg_column_def;

/* A read-only view of one column; `data` has `rows` items of the type's size. */
typedef struct tg_column_view {
  const char *name;
  const void *data;
  const tg_intern *dict; /* TG_TEXT only, else NULL */
  size_t rows;
  size_t item; /* bytes of one item */
  tg_type type;
  int32_t exp10;
} tg_column_view;

typedef struct tg_table tg_table;

/* An empty table. 1 <= n <= TG_MAX_COLUMNS, names distinct and not empty.
 * TG_OK, TG_ENOMEM, TG_EINVAL. */
TG_API tg_status tg_table_new(const tg_alloc *a, const tg_column_def *defs, size_t n,
                              tg_table **out);
TG_API void tg_table_free(tg_table *t);

/* Adds a row in which every value is missing; `*row` gets its index. TG_OK, TG_ENOMEM. */
TG_API tg_status tg_table_append(tg_table *t, size_t *row);
/* The same for `n` rows at once; `*first` gets the index of the first of them. */
TG_API tg_status tg_table_append_n(tg_table *t, size_t n, size_t *first);

/* Stores a value and marks it present. A wrong column type is TG_EINVAL; TG_TEXT can also give
 * TG_ENOMEM. Setting again overwrites. */
TG_API tg_status tg_table_set_u64(tg_table *t, size_t row, size_t col, uint64_t v);
TG_API tg_status tg_table_set_i64(tg_table *t, size_t row, size_t col, int64_t v);
TG_API tg_status tg_table_set_u32(tg_table *t, size_t row, size_t col, uint32_t v);
TG_API tg_status tg_table_set_f64(tg_table *t, size_t row, size_t col, double v);
TG_API tg_status tg_table_set_bool(tg_table *t, size_t row, size_t col, bool v);
TG_API tg_status tg_table_set_text(tg_table *t, size_t row, size_t col, const uint8_t *p, size_t n);
/* The same for a NUL-terminated string; NULL marks the value missing. */
TG_API tg_status tg_table_set_cstr(tg_table *t, size_t row, size_t col, const char *s);
/* A word of a text column's dictionary, added if new, to be stored in any number of rows by its
 * code. TG_OK, TG_ENOMEM, TG_EINVAL (no text column, or a code that tg_table_word never gave). */
TG_API tg_status tg_table_word(tg_table *t, size_t col, const uint8_t *p, size_t n,
                               uint32_t *code);
TG_API tg_status tg_table_set_code(tg_table *t, size_t row, size_t col, uint32_t code);
/* Marks a value missing again. */
TG_API void tg_table_clear(tg_table *t, size_t row, size_t col);
/* Drops the rows from `rows` on. */
TG_API void tg_table_truncate(tg_table *t, size_t rows);

/* False where the value is missing (or the type does not fit); `*v` is then untouched. */
TG_API bool tg_table_u64(const tg_table *t, size_t row, size_t col, uint64_t *v);
TG_API bool tg_table_i64(const tg_table *t, size_t row, size_t col, int64_t *v);
TG_API bool tg_table_u32(const tg_table *t, size_t row, size_t col, uint32_t *v);
TG_API bool tg_table_f64(const tg_table *t, size_t row, size_t col, double *v);
TG_API bool tg_table_bool(const tg_table *t, size_t row, size_t col, bool *v);
TG_API bool tg_table_text(const tg_table *t, size_t row, size_t col, tg_str *v);

TG_API size_t tg_table_rows(const tg_table *t);
TG_API size_t tg_table_cols(const tg_table *t);
/* TG_ENOTFOUND where no column has that name. */
TG_API tg_status tg_table_find(const tg_table *t, const char *name, size_t *col);
/* The view is valid until the next change of the table. */
TG_API tg_status tg_table_view(const tg_table *t, size_t col, tg_column_view *out);
/* One mask a row: bit c set = column c has a value. */
TG_API const uint64_t *tg_table_valid(const tg_table *t);

/* New numbers for the items of a column of U64, I64 or U32: those of table i of a stack are raised
 * by by[i], and then, where there is a `map`, replaced by map[item]. */
typedef struct tg_renumber {
  size_t col;
  const uint64_t *by;  /* [n] */
  const uint32_t *map; /* [n_map], or NULL */
  size_t n_map;
} tg_renumber;

/* Tables of equal columns, to be put below each other; all borrowed. */
typedef struct tg_stack {
  const tg_table *const *tables; /* [n], at least one */
  size_t n;
  const tg_renumber *renumber; /* [n_renumber] */
  size_t n_renumber;
  const uint32_t *source; /* [n] values of one more column, "source" (U32); NULL = none */
} tg_stack;

/* One table with the rows of all: a copy that needs no more room than its rows. The caller frees
 * it. TG_OK, TG_ENOMEM, TG_EINVAL (no table, other columns, an item beyond its map). */
TG_API tg_status tg_table_stack(const tg_alloc *a, const tg_stack *s, tg_table **out);

#ifdef __cplusplus
}
#endif
#endif

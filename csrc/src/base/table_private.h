/* table_private.h - the inside of a table, for loops that fill many rows.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TG_BASE_TABLE_PRIVATE_H
#define TG_BASE_TABLE_PRIVATE_H

#include <string.h>

#include "pages.h"
#include "tickgauge/table.h"

typedef struct tg_column {
  char *name;
  uint8_t *data; /* of `block` */
  tg_pages block;
  tg_intern *dict; /* TG_TEXT only */
  size_t item;
  tg_type type;
  int32_t exp10;
  bool zero; /* all of `block` is zero bytes: nothing else was written yet */
} tg_column;

/* Every column and `valid` have room for `cap` rows; a missing item is all zero bytes. Behind the
 * last row the bytes were never written, or are anything; those of a column that is `zero` are zero
 * as well, and a large one has no memory yet. */
struct tg_table {
  tg_alloc alloc;
  uint64_t *valid; /* of `masks` */
  tg_pages masks;
  size_t rows, cap, n;
  tg_column cols[];
};

/* Room for `need` rows. TG_OK, TG_ENOMEM. */
tg_status tg_table_reserve(tg_table *t, size_t need);

/* A row of which the caller writes every item, with tg_row_put, and `valid`: nothing is set to
 * zero before. TG_OK, TG_ENOMEM. */
static inline tg_status tg_table_append_raw(tg_table *t, size_t *row) {
  if (t->rows == t->cap) {
    const tg_status status = tg_table_reserve(t, t->rows + 1);
    if (status != TG_OK) return status;
  }
  *row = t->rows++;
  return TG_OK;
}

/* True where [p, p+n) is the string that was put or found last: `*code` is its code. */
bool tg_intern_again(const tg_intern *t, const uint8_t *p, size_t n, uint32_t *code);

/* Adds the first `rows` rows of `more`, a table of equal columns; words get the codes of `t`. On
 * failure `t` has the rows it had. TG_OK, TG_ENOMEM, TG_EINVAL (other columns). */
tg_status tg_table_join(tg_table *t, const tg_table *more, size_t rows);

/* An empty table with the columns of `t`. TG_OK, TG_ENOMEM. */
tg_status tg_table_like(const tg_alloc *a, const tg_table *t, tg_table **out);

/* Adds row `row` of `from`, a table of equal columns. TG_OK, TG_ENOMEM, TG_EINVAL. */
tg_status tg_table_copy_row(tg_table *t, const tg_table *from, size_t row);

/* Stores an item of the column's width: 1, 4 or 8 bytes. A zero is not written where all are. */
static inline void tg_column_put(tg_column *c, size_t row, const void *v, size_t size) {
  if (c->zero) {
    uint64_t bits = 0;
    memcpy(&bits, v, size);
    if (bits == 0) return;
    c->zero = false;
  }
  memcpy(c->data + row * size, v, size);
}
static inline void tg_row_put64(tg_table *t, size_t row, size_t col, uint64_t v) {
  tg_column_put(&t->cols[col], row, &v, sizeof v);
}
static inline void tg_row_put32(tg_table *t, size_t row, size_t col, uint32_t v) {
  tg_column_put(&t->cols[col], row, &v, sizeof v);
}

/* The item of 8 bytes in a row that is there; all zero bytes where it is missing. */
static inline uint64_t tg_row_get64(const tg_table *t, size_t row, size_t col) {
  uint64_t v;
  memcpy(&v, t->cols[col].data + row * sizeof v, sizeof v);
  return v;
}

#endif

/* row.h - a row of a table, written value by value; the first failure is kept.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 *   tg_row w = tg_row_begin(table);
 *   tg_row_u64(&w, COL_TICKS, ticks);
 *   tg_row_text(&w, COL_NAME, name);
 *   return tg_row_end(&w);
 *
 * A value that is not written is missing. After a failure the other calls do nothing, and
 * tg_row_end takes the row back. A column of another type is TG_EINVAL. */
#ifndef TG_BASE_ROW_H
#define TG_BASE_ROW_H

#include "table_private.h"
#include "tickgauge/status.h"

/* A row that is being written. One at a time for each table. */
typedef struct tg_row {
  tg_table *table;
  size_t row;
  uint64_t valid;
  tg_status status;
} tg_row;

/* Begins a row behind the last one. Without memory tg_row_end returns TG_ENOMEM. */
tg_row tg_row_begin(tg_table *t);

/* Writes the value of the column; after a failure nothing, and a column of another type is one. */
static inline void tg_row_put(tg_row *w, size_t col, tg_type type, const void *v, size_t size) {
  if (w->status != TG_OK) return;
  if (col >= w->table->n || w->table->cols[col].type != type) {
    w->status = TG_EINVAL;
    return;
  }
  w->valid |= UINT64_C(1) << col;
  tg_column_put(&w->table->cols[col], w->row, v, size);
}

static inline void tg_row_u64(tg_row *w, size_t col, uint64_t v) {
  tg_row_put(w, col, TG_U64, &v, sizeof v);
}
static inline void tg_row_i64(tg_row *w, size_t col, int64_t v) {
  tg_row_put(w, col, TG_I64, &v, sizeof v);
}
static inline void tg_row_u32(tg_row *w, size_t col, uint32_t v) {
  tg_row_put(w, col, TG_U32, &v, sizeof v);
}
static inline void tg_row_f64(tg_row *w, size_t col, double v) {
  tg_row_put(w, col, TG_F64, &v, sizeof v);
}
static inline void tg_row_bool(tg_row *w, size_t col, bool v) {
  const uint8_t byte = v ? 1 : 0;
  tg_row_put(w, col, TG_BOOL, &byte, sizeof byte);
}
/* A word of the column's dictionary, added where it is new. */
void tg_row_text(tg_row *w, size_t col, tg_str v);
/* The same for a NUL-terminated string; NULL leaves the value missing. */
void tg_row_cstr(tg_row *w, size_t col, const char *v);

/* Ends the row: TG_OK, or the first failure (TG_ENOMEM, TG_EINVAL), and the table is then as before
 * tg_row_begin. */
static inline tg_status tg_row_end(tg_row *w) {
  if (w->status == TG_OK) {
    w->table->valid[w->row] = w->valid;
  } else {
    tg_table_truncate(w->table, w->row);
  }
  return w->status;
}

#endif

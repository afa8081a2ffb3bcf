/* row.h - a row of a table, written value by value; the first failure is kept.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 *   tg_row w = tg_row_begin(table);
 *   tg_row_u64(&w, COL_TICKS, ticks);
 *   tg_row_text(&w, COL_NAME, name);
 *   return tg_row_end(&w);
 *
 * A value that is not written is missing. After a failure the other calls do nothing, and tg_row_end
 * takes the row back. A column of another type is TG_EINVAL. */
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

/* Where the value of the column goes; NULL after a failure and for a column of another type. */
static inline uint8_t *tg_row_place(tg_row *w, size_t col, tg_type type) {
  if (w->status != TG_OK) return NULL;
  if (col >= w->table->n || w->table->cols[col].type != type) {
    w->status = TG_EINVAL;
    return NULL;
  }
  w->valid |= UINT64_C(1) << col;
  return w->table->cols[col].data + w->row * w->table->cols[col].item;
}

static inline void tg_row_u64(tg_row *w, size_t col, uint64_t v) {
  uint8_t *at = tg_row_place(w, col, TG_U64);
  if (at != NULL) memcpy(at, &v, sizeof v);
}
static inline void tg_row_i64(tg_row *w, size_t col, int64_t v) {
  uint8_t *at = tg_row_place(w, col, TG_I64);
  if (at != NULL) memcpy(at, &v, sizeof v);
}
static inline void tg_row_u32(tg_row *w, size_t col, uint32_t v) {
  uint8_t *at = tg_row_place(w, col, TG_U32);
  if (at != NULL) memcpy(at, &v, sizeof v);
}
static inline void tg_row_f64(tg_row *w, size_t col, double v) {
  uint8_t *at = tg_row_place(w, col, TG_F64);
  if (at != NULL) memcpy(at, &v, sizeof v);
}
static inline void tg_row_bool(tg_row *w, size_t col, bool v) {
  uint8_t *at = tg_row_place(w, col, TG_BOOL);
  if (at != NULL) *at = v ? 1 : 0;
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

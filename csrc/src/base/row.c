/* row.c - the parts of the row writer that may take memory.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "row.h"

tg_row tg_row_begin(tg_table *t) {
  tg_row w = {.table = t, .row = t->rows};
  w.status = tg_table_append(t, &w.row);
  return w;
}

void tg_row_text(tg_row *w, size_t col, tg_str v) {
  uint32_t code = 0;
  if (w->status != TG_OK) return;
  w->status = tg_table_word(w->table, col, v.p, v.n, &code);
  tg_row_put(w, col, TG_TEXT, &code, sizeof code);
}

void tg_row_cstr(tg_row *w, size_t col, const char *v) {
  if (v != NULL) {
    tg_row_text(w, col, (tg_str){(const uint8_t *)v, strlen(v)});
  } else if (w->status == TG_OK && (col >= w->table->n || w->table->cols[col].type != TG_TEXT)) {
    w->status = TG_EINVAL;
  }
}

/* table_join.c - rows of one table added to another of equal columns.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "mem.h"
#include "table_private.h"
#include "try.h"

/* Whether the columns of `b` are the first of `a`. */
static bool first_columns(const tg_table *a, const tg_table *b) {
  if (a->n < b->n) return false;
  for (size_t i = 0; i < b->n; i++)
    if (a->cols[i].type != b->cols[i].type || a->cols[i].exp10 != b->cols[i].exp10) return false;
  return true;
}

/* Copies codes of one text column, each turned into the code that its word has in `t`; words that
 * are new there come in the order of their first row. */
static tg_status join_words(tg_table *t, size_t col, const tg_column *from, const uint64_t *valid,
                            size_t first, size_t rows) {
  const uint32_t words = tg_intern_count(from->dict);
  tg_status status = TG_OK;
  if (words == 0) return TG_OK;
  uint32_t *codes = tg_zalloc(&t->alloc, words, sizeof *codes);
  if (codes == NULL) return TG_ENOMEM;
  memset(codes, 0xff, words * sizeof *codes); /* not asked for yet */
  for (size_t row = 0; row < rows && status == TG_OK; row++) {
    uint32_t code;
    if ((valid[row] >> col & 1) == 0) continue;
    memcpy(&code, from->data + row * sizeof code, sizeof code);
    if (codes[code] == UINT32_MAX) {
      const tg_str word = tg_intern_get(from->dict, code);
      status = tg_table_word(t, col, word.p, word.n, &codes[code]);
    }
    if (status == TG_OK) tg_row_put32(t, first + row, col, codes[code]);
  }
  tg_release(&t->alloc, codes);
  return status;
}

static bool equal_columns(const tg_table *a, const tg_table *b) {
  return a->n == b->n && first_columns(a, b);
}

/* tg_table_join; `t` may have more columns behind those of `more`, which stay missing. */
static tg_status join_first(tg_table *t, const tg_table *more, size_t rows) {
  size_t first = 0;
  if (t == more || rows > more->rows || !first_columns(t, more)) return TG_EINVAL;
  if (rows == 0) return TG_OK;
  tg_status status = tg_table_append_n(t, rows, &first);
  if (status != TG_OK) return status;
  for (size_t i = 0; i < more->n && status == TG_OK; i++) {
    const tg_column *from = &more->cols[i];
    if (from->type == TG_TEXT) {
      status = join_words(t, i, from, more->valid, first, rows);
    } else if (!from->zero) { /* the rows are zero so far */
      memcpy(t->cols[i].data + first * from->item, from->data, rows * from->item);
      t->cols[i].zero = false;
    }
  }
  if (status != TG_OK) {
    tg_table_truncate(t, first);
    return status;
  }
  memcpy(t->valid + first, more->valid, rows * sizeof *t->valid);
  return TG_OK;
}

tg_status tg_table_join(tg_table *t, const tg_table *more, size_t rows) {
  return equal_columns(t, more) ? join_first(t, more, rows) : TG_EINVAL;
}

/* Raises or replaces the values of a column in the rows from `first` on. TG_OK, TG_EINVAL. */
static tg_status renumber(tg_table *t, size_t first, const tg_renumber *r, uint64_t by) {
  if (r->col >= t->n || t->cols[r->col].type > TG_U32) return TG_EINVAL;
  const bool wide = t->cols[r->col].item == 8;
  for (size_t row = first; row < t->rows; row++) {
    if ((t->valid[row] >> r->col & 1) == 0) continue;
    uint32_t narrow = 0;
    uint64_t v = 0;
    if (wide) {
      v = tg_row_get64(t, row, r->col);
    } else {
      memcpy(&narrow, t->cols[r->col].data + row * sizeof narrow, sizeof narrow);
      v = narrow;
    }
    v += by;
    if (r->map != NULL && v >= r->n_map) return TG_EINVAL;
    if (r->map != NULL) v = r->map[v];
    if (wide)
      tg_row_put64(t, row, r->col, v);
    else
      tg_row_put32(t, row, r->col, (uint32_t)v);
  }
  return TG_OK;
}

/* Adds the rows of table `i` of a stack. */
static tg_status put_table(tg_table *t, const tg_stack *s, size_t i) {
  const size_t first = t->rows;
  TG_TRY(join_first(t, s->tables[i], s->tables[i]->rows));
  for (size_t r = 0; r < s->n_renumber; r++)
    TG_TRY(renumber(t, first, &s->renumber[r], s->renumber[r].by[i]));
  if (s->source == NULL) return TG_OK;
  for (size_t row = first; row < t->rows; row++) {
    tg_row_put32(t, row, t->n - 1, s->source[i]);
    t->valid[row] |= UINT64_C(1) << (t->n - 1);
  }
  return TG_OK;
}

tg_status tg_table_stack(const tg_alloc *a, const tg_stack *s, tg_table **out) {
  tg_column_def defs[TG_MAX_COLUMNS + 1];
  tg_table *t = NULL;
  size_t rows = 0;
  if (s->n == 0) return TG_EINVAL;
  const tg_table *like = s->tables[0];
  for (size_t i = 0; i < like->n; i++)
    defs[i] = (tg_column_def){like->cols[i].name, like->cols[i].type, like->cols[i].exp10};
  defs[like->n] = (tg_column_def){"source", TG_U32, 0};
  for (size_t i = 0; i < s->n; i++) {
    if (s->tables[i]->n != like->n) return TG_EINVAL;
    if (s->tables[i]->rows > SIZE_MAX - rows) return TG_ENOMEM;
    rows += s->tables[i]->rows;
  }
  TG_TRY(tg_table_new(a, defs, like->n + (s->source != NULL), &t));
  tg_status status = tg_table_reserve(t, rows);
  for (size_t i = 0; status == TG_OK && i < s->n; i++) status = put_table(t, s, i);
  if (status != TG_OK) {
    tg_table_free(t);
    return status;
  }
  *out = t;
  return TG_OK;
}

tg_status tg_table_like(const tg_alloc *a, const tg_table *t, tg_table **out) {
  tg_column_def defs[TG_MAX_COLUMNS];
  for (size_t i = 0; i < t->n; i++)
    defs[i] = (tg_column_def){t->cols[i].name, t->cols[i].type, t->cols[i].exp10};
  return tg_table_new(a, defs, t->n, out);
}

tg_status tg_table_copy_row(tg_table *t, const tg_table *from, size_t row) {
  size_t at = 0;
  if (row >= from->rows || !equal_columns(t, from)) return TG_EINVAL;
  tg_status status = tg_table_append(t, &at);
  for (size_t i = 0; i < t->n && status == TG_OK; i++) {
    const tg_column *c = &from->cols[i];
    tg_str word;
    if ((from->valid[row] >> i & 1) == 0) continue;
    if (c->type != TG_TEXT) {
      tg_column_put(&t->cols[i], at, c->data + row * c->item, c->item);
      t->valid[at] |= UINT64_C(1) << i;
    } else if (tg_table_text(from, row, i, &word)) {
      status = tg_table_set_text(t, at, i, word.p, word.n);
    }
  }
  if (status != TG_OK && at < t->rows) tg_table_truncate(t, at);
  return status;
}

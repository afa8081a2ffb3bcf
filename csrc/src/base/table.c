/* table.c - columns with one validity mask a row.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tickgauge/table.h"

#include <string.h>

#include "mem.h"
#include "table_private.h"

static const size_t item_sizes[] = {
    [TG_U64] = 8, [TG_I64] = 8, [TG_U32] = 4, [TG_F64] = 8, [TG_BOOL] = 1, [TG_TEXT] = 4,
};
_Static_assert(sizeof(double) == 8, "a TG_F64 column holds 8-byte doubles");

static bool type_is_known(tg_type type) { return (int)type >= TG_U64 && (int)type <= TG_TEXT; }

static bool defs_are_valid(const tg_column_def *defs, size_t n) {
  if (n < 1 || n > TG_MAX_COLUMNS) return false;
  for (size_t i = 0; i < n; i++) {
    if (defs[i].name == NULL || defs[i].name[0] == '\0' || !type_is_known(defs[i].type))
      return false;
    for (size_t j = 0; j < i; j++)
      if (strcmp(defs[i].name, defs[j].name) == 0) return false;
  }
  return true;
}

/* Fills one column of a table that is being made. */
static tg_status column_init(const tg_alloc *a, const tg_column_def *def, tg_column *c) {
  const size_t size = strlen(def->name) + 1;
  c->name = a->resize(a->ctx, NULL, size);
  if (c->name == NULL) return TG_ENOMEM;
  memcpy(c->name, def->name, size);
  c->type = def->type;
  c->item = item_sizes[def->type];
  c->exp10 = def->exp10;
  c->zero = true;
  return def->type == TG_TEXT ? tg_intern_new(a, 0, &c->dict) : TG_OK;
}

tg_status tg_table_new(const tg_alloc *a, const tg_column_def *defs, size_t n, tg_table **out) {
  if (!defs_are_valid(defs, n)) return TG_EINVAL;
  a = tg_alloc_or_default(a);
  tg_status status = TG_OK;
  tg_table *t = tg_zalloc(a, 1, sizeof *t + n * sizeof t->cols[0]);
  if (t == NULL) return TG_ENOMEM;
  t->alloc = *a;
  t->n = n;
  for (size_t i = 0; i < n && status == TG_OK; i++) status = column_init(a, &defs[i], &t->cols[i]);
  if (status != TG_OK) {
    tg_table_free(t);
    return status;
  }
  *out = t;
  return TG_OK;
}

void tg_table_free(tg_table *t) {
  if (t == NULL) return;
  const tg_alloc a = t->alloc;
  for (size_t i = 0; i < t->n; i++) {
    tg_release(&a, t->cols[i].name);
    tg_pages_free(&a, &t->cols[i].block);
    tg_intern_free(t->cols[i].dict);
  }
  tg_pages_free(&a, &t->masks);
  tg_release(&a, t);
}

/* A column that grew before another failed keeps its larger block. */
tg_status tg_table_reserve(tg_table *t, size_t need) {
  if (need <= t->cap) return TG_OK;
  if (need > SIZE_MAX / 32) return TG_ENOMEM;
  const size_t twice = t->cap == 0 ? 8 : t->cap * 2;
  const size_t to = twice < need ? need : twice;
  tg_status status = tg_pages_grow(&t->alloc, &t->masks, to * sizeof *t->valid, false);
  t->valid = t->masks.p;
  for (size_t i = 0; i < t->n && status == TG_OK; i++) {
    tg_column *c = &t->cols[i];
    status = tg_pages_grow(&t->alloc, &c->block, to * c->item, c->zero);
    c->data = c->block.p;
  }
  if (status != TG_OK) return TG_ENOMEM;
  t->cap = to;
  return TG_OK;
}

tg_status tg_table_append_n(tg_table *t, size_t n, size_t *first) {
  if (n > SIZE_MAX - t->rows) return TG_ENOMEM;
  const tg_status status = tg_table_reserve(t, t->rows + n);
  if (status != TG_OK) return status;
  for (size_t i = 0; i < t->n && n > 0; i++)
    if (!t->cols[i].zero)
      memset(t->cols[i].data + t->rows * t->cols[i].item, 0, n * t->cols[i].item);
  if (n > 0) memset(t->valid + t->rows, 0, n * sizeof *t->valid);
  *first = t->rows;
  t->rows += n;
  return TG_OK;
}

tg_status tg_table_append(tg_table *t, size_t *row) {
  size_t at = 0;
  const tg_status status = tg_table_append_raw(t, &at);
  if (status != TG_OK) return status;
  for (size_t i = 0; i < t->n; i++) {
    switch (t->cols[i].item) {
      case 8:
        tg_row_put64(t, at, i, 0);
        break;
      case 4:
        tg_row_put32(t, at, i, 0);
        break;
      default:
        if (!t->cols[i].zero) t->cols[i].data[at] = 0;
    }
  }
  t->valid[at] = 0;
  *row = at;
  return TG_OK;
}

/* The column of a value if row, column and type are right, else NULL. */
static tg_column *place(tg_table *t, size_t row, size_t col, tg_type type) {
  if (col >= t->n || row >= t->rows || t->cols[col].type != type) return NULL;
  return &t->cols[col];
}

static tg_status store(tg_table *t, size_t row, size_t col, tg_type type, const void *v,
                       size_t size) {
  tg_column *c = place(t, row, col, type);
  if (c == NULL) return TG_EINVAL;
  tg_column_put(c, row, v, size);
  t->valid[row] |= UINT64_C(1) << col;
  return TG_OK;
}

tg_status tg_table_set_u64(tg_table *t, size_t row, size_t col, uint64_t v) {
  return store(t, row, col, TG_U64, &v, sizeof v);
}

tg_status tg_table_set_i64(tg_table *t, size_t row, size_t col, int64_t v) {
  return store(t, row, col, TG_I64, &v, sizeof v);
}

tg_status tg_table_set_u32(tg_table *t, size_t row, size_t col, uint32_t v) {
  return store(t, row, col, TG_U32, &v, sizeof v);
}

tg_status tg_table_set_f64(tg_table *t, size_t row, size_t col, double v) {
  return store(t, row, col, TG_F64, &v, sizeof v);
}

tg_status tg_table_set_bool(tg_table *t, size_t row, size_t col, bool v) {
  const uint8_t byte = v ? 1 : 0;
  return store(t, row, col, TG_BOOL, &byte, sizeof byte);
}

tg_status tg_table_set_text(tg_table *t, size_t row, size_t col, const uint8_t *p, size_t n) {
  if (place(t, row, col, TG_TEXT) == NULL) return TG_EINVAL;
  uint32_t code = 0;
  const tg_status status = tg_intern_put(t->cols[col].dict, p, n, &code);
  if (status != TG_OK) return TG_ENOMEM;
  return store(t, row, col, TG_TEXT, &code, sizeof code);
}

tg_status tg_table_word(tg_table *t, size_t col, const uint8_t *p, size_t n, uint32_t *code) {
  if (col >= t->n || t->cols[col].type != TG_TEXT) return TG_EINVAL;
  return tg_intern_put(t->cols[col].dict, p, n, code) == TG_OK ? TG_OK : TG_ENOMEM;
}

tg_status tg_table_set_code(tg_table *t, size_t row, size_t col, uint32_t code) {
  if (place(t, row, col, TG_TEXT) == NULL) return TG_EINVAL;
  if (code >= tg_intern_count(t->cols[col].dict)) return TG_EINVAL;
  return store(t, row, col, TG_TEXT, &code, sizeof code);
}

tg_status tg_table_set_cstr(tg_table *t, size_t row, size_t col, const char *s) {
  if (s != NULL) return tg_table_set_text(t, row, col, (const uint8_t *)s, strlen(s));
  if (place(t, row, col, TG_TEXT) == NULL) return TG_EINVAL;
  tg_table_clear(t, row, col);
  return TG_OK;
}

void tg_table_clear(tg_table *t, size_t row, size_t col) {
  if (col >= t->n || row >= t->rows) return;
  if (!t->cols[col].zero)
    memset(t->cols[col].data + row * t->cols[col].item, 0, t->cols[col].item);
  t->valid[row] &= ~(UINT64_C(1) << col);
}

void tg_table_truncate(tg_table *t, size_t rows) {
  if (rows < t->rows) t->rows = rows;
}

static bool load(const tg_table *t, size_t row, size_t col, tg_type type, void *v, size_t size) {
  if (col >= t->n || row >= t->rows || t->cols[col].type != type) return false;
  if ((t->valid[row] >> col & 1) == 0) return false;
  memcpy(v, t->cols[col].data + row * size, size);
  return true;
}

bool tg_table_u64(const tg_table *t, size_t row, size_t col, uint64_t *v) {
  return load(t, row, col, TG_U64, v, sizeof *v);
}

bool tg_table_i64(const tg_table *t, size_t row, size_t col, int64_t *v) {
  return load(t, row, col, TG_I64, v, sizeof *v);
}

bool tg_table_u32(const tg_table *t, size_t row, size_t col, uint32_t *v) {
  return load(t, row, col, TG_U32, v, sizeof *v);
}

bool tg_table_f64(const tg_table *t, size_t row, size_t col, double *v) {
  return load(t, row, col, TG_F64, v, sizeof *v);
}

bool tg_table_bool(const tg_table *t, size_t row, size_t col, bool *v) {
  uint8_t byte = 0;
  if (!load(t, row, col, TG_BOOL, &byte, sizeof byte)) return false;
  *v = byte != 0;
  return true;
}

bool tg_table_text(const tg_table *t, size_t row, size_t col, tg_str *v) {
  uint32_t code = 0;
  if (!load(t, row, col, TG_TEXT, &code, sizeof code)) return false;
  *v = tg_intern_get(t->cols[col].dict, code);
  return true;
}

size_t tg_table_rows(const tg_table *t) { return t->rows; }

size_t tg_table_cols(const tg_table *t) { return t->n; }

tg_status tg_table_find(const tg_table *t, const char *name, size_t *col) {
  for (size_t i = 0; i < t->n; i++) {
    if (strcmp(t->cols[i].name, name) == 0) {
      *col = i;
      return TG_OK;
    }
  }
  return TG_ENOTFOUND;
}

tg_status tg_table_view(const tg_table *t, size_t col, tg_column_view *out) {
  if (col >= t->n) return TG_EINVAL;
  const tg_column *c = &t->cols[col];
  *out = (tg_column_view){c->name, c->data, c->dict, t->rows, c->item, c->type, c->exp10};
  return TG_OK;
}

const uint64_t *tg_table_valid(const tg_table *t) { return t->valid; }

/* bulk.c - whole columns at once: tables from arrays, validity in other shapes, UTF-8.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tickgauge/bulk.h"

#include <string.h>

#include "mem.h"
#include "table_private.h"

/* Stores a text column: the words first, then the rows by code. */
static tg_status load_text(tg_table *t, size_t col, const tg_column_data *data, size_t rows,
                           tg_error *err) {
  const uint32_t *items = data->items;
  uint32_t *codes = NULL;
  tg_status s = TG_OK;
  if (data->n_words != 0) {
    if (data->n_words > UINT32_MAX) return tg_fail(err, TG_EINVAL, 0, 0, "too many words");
    codes = tg_zalloc(&t->alloc, data->n_words, sizeof *codes);
    if (codes == NULL) return tg_fail(err, TG_ENOMEM, 0, 0, "no memory for the words");
  }
  for (size_t i = 0; s == TG_OK && i < data->n_words; i++) {
    s = tg_table_word(t, col, data->words[i].p, data->words[i].n, &codes[i]);
  }
  for (size_t row = 0; s == TG_OK && row < rows; row++) {
    if (data->valid != NULL && data->valid[row] == 0) continue;
    if (items[row] >= data->n_words) {
      s = tg_fail(err, TG_EINVAL, row, 0, "column %zu, row %zu: word %lu of %zu", col, row,
                  (unsigned long)items[row], data->n_words);
    } else {
      s = tg_table_set_code(t, row, col, codes[items[row]]);
    }
  }
  tg_release(&t->alloc, codes);
  return s;
}

/* Stores the items of one column in rows 0 .. rows-1 of a table that has them. */
static tg_status load_column(tg_table *t, size_t col, tg_type type, const tg_column_data *data,
                             size_t rows, tg_error *err) {
  tg_status s = TG_OK;
  if (type == TG_TEXT) return load_text(t, col, data, rows, err);
  for (size_t row = 0; s == TG_OK && row < rows; row++) {
    if (data->valid != NULL && data->valid[row] == 0) continue;
    if (type == TG_U64) {
      s = tg_table_set_u64(t, row, col, ((const uint64_t *)data->items)[row]);
    } else if (type == TG_I64) {
      s = tg_table_set_i64(t, row, col, ((const int64_t *)data->items)[row]);
    } else if (type == TG_U32) {
      s = tg_table_set_u32(t, row, col, ((const uint32_t *)data->items)[row]);
    } else if (type == TG_F64) {
      s = tg_table_set_f64(t, row, col, ((const double *)data->items)[row]);
    } else {
      s = tg_table_set_bool(t, row, col, ((const uint8_t *)data->items)[row] != 0);
    }
  }
  return s;
}

tg_status tg_table_from_columns(const tg_alloc *a, const tg_column_def *defs,
                                const tg_column_data *data, size_t n, size_t rows, tg_table **out,
                                tg_error *err) {
  tg_table *t = NULL;
  size_t first = 0;
  tg_status s = tg_table_new(a, defs, n, &t);
  if (s != TG_OK) {
    return tg_fail(err, s, 0, 0, "%zu columns: 1 to %d with distinct names are possible", n,
                   TG_MAX_COLUMNS);
  }
  s = tg_table_append_n(t, rows, &first);
  if (s != TG_OK) {
    tg_fail(err, s, 0, 0, "no memory for %zu rows", rows);
    goto fail;
  }
  for (size_t col = 0; col < n; col++) {
    s = load_column(t, col, defs[col].type, &data[col], rows, err);
    if (s != TG_OK) goto fail;
  }
  *out = t;
  return TG_OK;
fail:
  tg_table_free(t);
  return s;
}

tg_status tg_table_valid_bytes(const tg_table *t, size_t col, uint8_t *out) {
  const uint64_t *valid = tg_table_valid(t);
  size_t rows = tg_table_rows(t);
  if (col >= tg_table_cols(t)) return TG_ENOTFOUND;
  for (size_t row = 0; row < rows; row++) out[row] = (uint8_t)((valid[row] >> col) & 1u);
  return TG_OK;
}

tg_status tg_table_valid_bits(const tg_table *t, size_t col, uint8_t *out, size_t *missing) {
  const uint64_t *valid = tg_table_valid(t);
  size_t rows = tg_table_rows(t);
  size_t present = 0;
  if (col >= tg_table_cols(t)) return TG_ENOTFOUND;
  memset(out, 0, rows / 8 + (rows % 8 != 0));
  for (size_t row = 0; row < rows; row++) {
    unsigned bit = (unsigned)((valid[row] >> col) & 1u);
    out[row / 8] = (uint8_t)(out[row / 8] | (bit << (row % 8)));
    present += bit;
  }
  *missing = rows - present;
  return TG_OK;
}

tg_status tg_table_bool_bits(const tg_table *t, size_t col, uint8_t *out) {
  tg_column_view view;
  tg_status s = tg_table_view(t, col, &view);
  if (s != TG_OK) return TG_ENOTFOUND;
  if (view.type != TG_BOOL) return TG_EINVAL;
  const uint8_t *items = view.data;
  memset(out, 0, view.rows / 8 + (view.rows % 8 != 0));
  for (size_t row = 0; row < view.rows; row++) {
    unsigned bit = items[row] != 0;
    out[row / 8] = (uint8_t)(out[row / 8] | (bit << (row % 8)));
  }
  return TG_OK;
}

/* The length of the well-formed sequence at `p` (n >= 1 bytes), or 0 with `*bad` = the bytes of
 * the maximal ill-formed part. Table 3-7 of the Unicode standard. */
static size_t utf8_sequence(const uint8_t *p, size_t n, size_t *bad) {
  uint8_t lead = p[0];
  uint8_t low = 0x80;
  uint8_t high = 0xbf;
  size_t length = 0;
  *bad = 1;
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead <= 0xdf) {
    length = 2;
  } else if (lead >= 0xe0 && lead <= 0xef) {
    length = 3;
    if (lead == 0xe0) low = 0xa0;
    if (lead == 0xed) high = 0x9f;
  } else if (lead >= 0xf0 && lead <= 0xf4) {
    length = 4;
    if (lead == 0xf0) low = 0x90;
    if (lead == 0xf4) high = 0x8f;
  } else {
    return 0;
  }
  for (size_t i = 1; i < length; i++) {
    if (i >= n || p[i] < low || p[i] > high) {
      *bad = i;
      return 0;
    }
    low = 0x80;
    high = 0xbf;
  }
  return length;
}

size_t tg_utf8_clean(const uint8_t *p, size_t n, uint8_t *out) {
  static const uint8_t replacement[3] = {0xef, 0xbf, 0xbd};
  size_t size = 0;
  for (size_t i = 0; i < n;) {
    size_t bad = 0;
    size_t length = utf8_sequence(p + i, n - i, &bad);
    const uint8_t *from = length != 0 ? p + i : replacement;
    size_t take = length != 0 ? length : sizeof replacement;
    if (out != NULL) memcpy(out + size, from, take);
    size += take;
    i += length != 0 ? length : bad;
  }
  return size;
}

tg_status tg_intern_utf8(const tg_alloc *a, const tg_intern *t, int32_t **offsets,
                         uint8_t **text) {
  uint32_t n = tg_intern_count(t);
  uint64_t total = 0;
  int32_t *bounds = NULL;
  uint8_t *bytes = NULL;
  tg_status status = TG_ENOMEM;
  a = tg_alloc_or_default(a);
  if (n >= INT32_MAX) return TG_EOVERFLOW;
  bounds = tg_take(a, (size_t)n + 1, sizeof *bounds);
  if (bounds == NULL) goto fail;
  bounds[0] = 0;
  for (uint32_t i = 0; i < n; i++) {
    tg_str word = tg_intern_get(t, i);
    total += tg_utf8_clean(word.p, word.n, NULL);
    if (total > INT32_MAX) {
      status = TG_EOVERFLOW;
      goto fail;
    }
    bounds[i + 1] = (int32_t)total;
  }
  bytes = tg_take(a, total == 0 ? 1 : (size_t)total, 1);
  if (bytes == NULL) goto fail;
  for (uint32_t i = 0; i < n; i++) {
    tg_str word = tg_intern_get(t, i);
    (void)tg_utf8_clean(word.p, word.n, bytes + bounds[i]);
  }
  *offsets = bounds;
  *text = bytes;
  return TG_OK;
fail:
  tg_release(a, bounds);
  tg_release(a, bytes);
  return status;
}

/* bulk.h - whole columns at once: tables from arrays, validity in other shapes.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TICKGAUGE_BULK_H
#define TICKGAUGE_BULK_H

#include <stddef.h>
#include <stdint.h>

#include "alloc.h"
#include "export.h"
#include "intern.h"
#include "status.h"
#include "table.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One column handed over whole. `items` holds `rows` items of the column's type, contiguous and
 * aligned; for TG_TEXT they are uint32_t indices into `words`. `valid` has one byte a row, 0 =
 * missing; NULL = every value is present. All is copied. */
typedef struct tg_column_data {
  const void *items;
  const uint8_t *valid;
  const tg_str *words;
  size_t n_words;
} tg_column_data;

/* A table of `rows` rows from `n` columns. The words of a text column are interned in their
 * order, so that index i becomes code i where the words are distinct. An index beyond `words` on
 * a present row is TG_EINVAL, with the row in `err->offset`. TG_OK, TG_ENOMEM, TG_EINVAL. */
TG_API tg_status tg_table_from_columns(const tg_alloc *a, const tg_column_def *defs,
                                       const tg_column_data *data, size_t n, size_t rows,
                                       tg_table **out, tg_error *err);

/* One byte a row into `out` (tg_table_rows bytes): 1 = the column has a value.
 * TG_OK, TG_ENOTFOUND (no such column). */
TG_API tg_status tg_table_valid_bytes(const tg_table *t, size_t col, uint8_t *out);

/* One bit a row, least significant first, into `out` ((rows + 7) / 8 bytes); `*missing` gets the
 * number of rows without a value. TG_OK, TG_ENOTFOUND. */
TG_API tg_status tg_table_valid_bits(const tg_table *t, size_t col, uint8_t *out, size_t *missing);

/* The values of a TG_BOOL column as bits, in the same form. TG_OK, TG_ENOTFOUND, TG_EINVAL. */
TG_API tg_status tg_table_bool_bits(const tg_table *t, size_t col, uint8_t *out);

/* The bytes as valid UTF-8: every maximal ill-formed part becomes U+FFFD, as the Unicode standard
 * recommends (chapter 3, "U+FFFD Substitution of Maximal Subparts"). `out` NULL only counts; else
 * it has room for the result (at most 3 * n bytes). Returns the number of bytes. */
TG_API size_t tg_utf8_clean(const uint8_t *p, size_t n, uint8_t *out);

/* All words of an intern table as one UTF-8 text and its bounds: word i is
 * text[offsets[i], offsets[i+1]). `*offsets` gets tg_intern_count() + 1 items. Both are blocks of
 * `a` that the caller owns (of the C library where `a` is NULL: free() takes them); never NULL on
 * success. TG_OK, TG_ENOMEM, TG_EOVERFLOW (the text does not fit 2^31-1 bytes). */
TG_API tg_status tg_intern_utf8(const tg_alloc *a, const tg_intern *t, int32_t **offsets,
                                uint8_t **text);

#ifdef __cplusplus
}
#endif
#endif

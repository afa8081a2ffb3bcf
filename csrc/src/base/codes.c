/* codes.c - distinct rows of id columns, numbered in their order.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "mem.h"
#include "stop.h"
#include "tickgauge/samples.h"
#include "try.h"

enum { FIRST_SLOTS = 1024 };

/* The rows that are numbered, and the distinct ones so far. `slots` maps a row to its code plus 1;
 * it is made when the first row comes that is not above all before it. */
typedef struct rows {
  const tg_alloc *alloc;
  const tg_id_column *columns;
  size_t n_columns;
  uint32_t *first; /* by code */
  size_t n, cap;
  uint32_t *slots;
  size_t n_slots; /* a power of two, or 0 */
} rows;

/* An id so that missing comes first. */
static inline int64_t id_at(const tg_id_column *c, size_t row) {
  if (c->wide) return ((const int64_t *)c->ids)[row];
  const uint32_t id = ((const uint32_t *)c->ids)[row];
  return id == UINT32_MAX ? -1 : (int64_t)id;
}

/* Below 0, 0 or above 0 as row `a` comes before, with or after row `b`. */
static int compare(const rows *r, size_t a, size_t b) {
  for (size_t c = 0; c < r->n_columns; c++) {
    const int64_t x = id_at(&r->columns[c], a), y = id_at(&r->columns[c], b);
    if (x != y) return x < y ? -1 : 1;
  }
  return 0;
}

static size_t home(const rows *r, size_t row) {
  uint64_t h = 0;
  for (size_t c = 0; c < r->n_columns; c++) {
    h = (h ^ (uint64_t)id_at(&r->columns[c], row)) * UINT64_C(0x9e3779b97f4a7c15);
    h ^= h >> 29;
  }
  return (size_t)h & (r->n_slots - 1);
}

/* The slot of an equal row, or the free one where it belongs. */
static uint32_t *slot_of(const rows *r, size_t row) {
  size_t i = home(r, row);
  while (r->slots[i] != 0 && compare(r, r->first[r->slots[i] - 1], row) != 0)
    i = (i + 1) & (r->n_slots - 1);
  return &r->slots[i];
}

/* Makes the table of slots, or one of twice the size. */
static tg_status grow_slots(rows *r) {
  size_t size = r->n_slots != 0 ? r->n_slots : FIRST_SLOTS;
  while (size / 2 <= r->n) size *= 2;
  uint32_t *slots = tg_zalloc(r->alloc, size, sizeof *slots);
  if (slots == NULL) return TG_ENOMEM;
  tg_release(r->alloc, r->slots);
  r->slots = slots;
  r->n_slots = size;
  for (size_t i = 0; i < r->n; i++) *slot_of(r, r->first[i]) = (uint32_t)i + 1;
  return TG_OK;
}

static tg_status add_row(rows *r, size_t row, uint32_t *code) {
  TG_TRY(tg_reserve(r->alloc, &r->first, &r->cap, r->n + 1, sizeof *r->first));
  *code = (uint32_t)r->n;
  r->first[r->n++] = (uint32_t)row;
  return TG_OK;
}

/* The code of a row that is not above all before it. */
static tg_status look_up(rows *r, size_t row, uint32_t *code) {
  if (r->n_slots / 2 <= r->n) TG_TRY(grow_slots(r));
  uint32_t *slot = slot_of(r, row);
  if (*slot == 0) {
    TG_TRY(add_row(r, row, code));
    *slot = *code + 1;
  }
  *code = *slot - 1;
  return TG_OK;
}

/* Numbers the rows in the order in which they come; `*rising`: which is that of the rows. */
static tg_status number_rows(rows *r, const tg_stop *stop, size_t n, uint32_t *code, bool *rising) {
  *rising = true;
  for (size_t i = 0; i < n; i++) {
    if (tg_stop_at(stop, i, 1)) return TG_EINTERRUPTED;
    if (i > 0) {
      const int order = compare(r, i - 1, i);
      if (order == 0) {
        code[i] = code[i - 1];
        continue;
      }
      if (*rising && order > 0) *rising = false;
    }
    TG_TRY(*rising ? add_row(r, i, &code[i]) : look_up(r, i, &code[i]));
  }
  return TG_OK;
}

/* A code as numbered first, and the row that decides its place. */
typedef struct ranked {
  const rows *of;
  uint32_t row, code;
} ranked;

#define TG_SORT_NAME sort_rows
#define TG_SORT_ITEM ranked
#define TG_SORT_BEFORE(a, b) (compare((a)->of, (a)->row, (b)->row) < 0)
#include "sort.h"

/* Renames the codes so that they are in the order of the rows. */
static tg_status order_codes(rows *r, size_t n, uint32_t *code) {
  ranked *order = tg_take(r->alloc, r->n, sizeof *order);
  uint32_t *rank = tg_take(r->alloc, r->n, sizeof *rank);
  tg_status status = TG_ENOMEM;
  if (order == NULL || rank == NULL) goto done;
  for (size_t i = 0; i < r->n; i++) order[i] = (ranked){r, r->first[i], (uint32_t)i};
  sort_rows(order, r->n);
  for (size_t i = 0; i < r->n; i++) {
    rank[order[i].code] = (uint32_t)i;
    r->first[i] = order[i].row;
  }
  for (size_t i = 0; i < n; i++) code[i] = rank[code[i]];
  status = TG_OK;
done:
  tg_release(r->alloc, order);
  tg_release(r->alloc, rank);
  return status;
}

tg_status tg_codes(const tg_alloc *a, const tg_stop *stop, const tg_id_column *columns,
                   size_t n_columns, size_t n, uint32_t *code, uint32_t **first, size_t *n_codes) {
  rows r = {.alloc = tg_alloc_or_default(a), .columns = columns, .n_columns = n_columns};
  bool rising = true;
  if (n_columns == 0 || n >= UINT32_MAX) return TG_EINVAL;
  tg_status status = number_rows(&r, stop, n, code, &rising);
  if (status == TG_OK && !rising) status = order_codes(&r, n, code);
  tg_release(r.alloc, r.slots);
  if (status != TG_OK) {
    tg_release(r.alloc, r.first);
    return status;
  }
  *first = r.first;
  *n_codes = r.n;
  return TG_OK;
}

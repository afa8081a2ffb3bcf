/* mem.h - the one way in which the core takes and returns memory.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TG_BASE_MEM_H
#define TG_BASE_MEM_H

#include <stddef.h>

#include "checked.h"
#include "tickgauge/alloc.h"

/* The suite itself, or that of the C library for NULL. */
static inline const tg_alloc *tg_alloc_or_default(const tg_alloc *a) {
  return a != NULL ? a : tg_alloc_default();
}

/* `n` items of `item` bytes: tg_zalloc sets them to zero, tg_take leaves them as they are. NULL
 * where memory ends, where the size does not fit, or where n is 0. The caller owns the block and
 * returns it with tg_release. */
void *tg_take(const tg_alloc *a, size_t n, size_t item);
void *tg_zalloc(const tg_alloc *a, size_t n, size_t item);

/* Returns a block; NULL is allowed. */
static inline void tg_release(const tg_alloc *a, void *p) { a->release(a->ctx, p); }

/* Grows an array of the caller: `array` is the address of its pointer, of any object type, and
 * `*cap` its number of items. Both are as before on failure. As tg_grow, but no local `void *` is
 * needed. TG_OK, TG_ENOMEM, TG_EOVERFLOW. */
tg_status tg_reserve(const tg_alloc *a, void *array, size_t *cap, size_t need, size_t item);

#endif

/* mem.h - the allocator as the core's own files use it: checked sizes, NULL resolved.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TG_BASE_MEM_H
#define TG_BASE_MEM_H

#include <stdbool.h>
#include <stddef.h>

#include "tickgauge/alloc.h"

/* `*out = a * b` or `a + b`; true where it does not fit, `*out` is then unspecified. */
static inline bool tg_mul_overflows(size_t a, size_t b, size_t *out) {
  return __builtin_mul_overflow(a, b, out);
}
static inline bool tg_add_overflows(size_t a, size_t b, size_t *out) {
  return __builtin_add_overflow(a, b, out);
}

/* The suite itself, or that of the C library for NULL. */
static inline const tg_alloc *tg_alloc_or_default(const tg_alloc *a) {
  return a != NULL ? a : tg_alloc_default();
}

/* `n` items of `item` bytes, all zero; NULL where memory or the size's range ends, or n is 0.
 * The caller gives it back with tg_release. */
void *tg_zalloc(const tg_alloc *a, size_t n, size_t item);

static inline void tg_release(const tg_alloc *a, void *p) { a->release(a->ctx, p); }

#endif

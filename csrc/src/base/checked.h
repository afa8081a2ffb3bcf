/* checked.h - sums and products of sizes that say where they do not fit.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TG_BASE_CHECKED_H
#define TG_BASE_CHECKED_H

#include <stdbool.h>
#include <stddef.h>

/* `*out = a * b`, or `a + b`. True where the result does not fit; `*out` is then unspecified. */
static inline bool tg_mul_overflows(size_t a, size_t b, size_t *out) {
  return __builtin_mul_overflow(a, b, out);
}
static inline bool tg_add_overflows(size_t a, size_t b, size_t *out) {
  return __builtin_add_overflow(a, b, out);
}

#endif

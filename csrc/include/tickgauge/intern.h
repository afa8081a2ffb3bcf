/* intern.h - a table of distinct byte strings, each with a dense code.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TICKGAUGE_INTERN_H
#define TICKGAUGE_INTERN_H

#include <stddef.h>
#include <stdint.h>

#include "alloc.h"
#include "export.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A view of bytes; not NUL-terminated, may contain NUL. */
typedef struct tg_str {
  const uint8_t *p;
  size_t n;
} tg_str;

typedef struct tg_intern tg_intern;

/* `max_distinct` 0 means 2^20. Beyond it strings are kept without looking for an equal one
 * (an arena): codes stay valid, memory grows with the bytes. TG_OK, TG_ENOMEM. */
TG_API tg_status tg_intern_new(const tg_alloc *a, uint32_t max_distinct, tg_intern **out);
TG_API void tg_intern_free(tg_intern *t);

/* The code of the string, added if new; codes count from 0 in order of first use.
 * TG_OK, TG_ENOMEM, TG_EOVERFLOW (2^32-1 strings). The bytes are copied. */
TG_API tg_status tg_intern_put(tg_intern *t, const uint8_t *p, size_t n, uint32_t *code);

/* TG_ENOTFOUND where the string was never put. */
TG_API tg_status tg_intern_find(const tg_intern *t, const uint8_t *p, size_t n, uint32_t *code);

/* A code that was never given out yields {NULL, 0}. The bytes live until tg_intern_free, but
 * move with the next tg_intern_put. */
TG_API tg_str tg_intern_get(const tg_intern *t, uint32_t code);
TG_API uint32_t tg_intern_count(const tg_intern *t);

#ifdef __cplusplus
}
#endif
#endif

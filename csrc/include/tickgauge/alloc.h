/* alloc.h - the memory suite every handle is created with.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TICKGAUGE_ALLOC_H
#define TICKGAUGE_ALLOC_H

#include <stddef.h>

#include "export.h"
#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* `resize` behaves as realloc: NULL `p` allocates, failure leaves `p` valid and returns NULL.
 * `size` is never 0. `release` takes NULL. `ctx` is handed back unchanged. The suite is copied
 * into the handles made with it; `ctx` must outlive them. */
typedef struct tg_alloc {
  void *(*resize)(void *ctx, void *p, size_t size);
  void (*release)(void *ctx, void *p);
  void *ctx;
} tg_alloc;

/* The suite of the C library. Wherever a `const tg_alloc *` is taken, NULL means this one. */
TG_API const tg_alloc *tg_alloc_default(void);

/* Grows the array `*data` so that `need` items of `item` bytes fit: at least doubles, checks every
 * product, publishes only on success. `*cap` counts items. TG_OK, TG_ENOMEM, TG_EOVERFLOW. */
TG_API tg_status tg_grow(const tg_alloc *a, void **data, size_t *cap, size_t need, size_t item);

#ifdef __cplusplus
}
#endif
#endif

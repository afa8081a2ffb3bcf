/* mem.c - blocks of checked size from the suite of a handle.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "mem.h"

#include <stdint.h>
#include <string.h>

void *tg_take(const tg_alloc *a, size_t n, size_t item) {
  size_t size = 0;
  if (tg_mul_overflows(n, item, &size) || size == 0 || size > PTRDIFF_MAX) return NULL;
  return a->resize(a->ctx, NULL, size);
}

void *tg_zalloc(const tg_alloc *a, size_t n, size_t item) {
  void *p = tg_take(a, n, item);
  if (p != NULL) memset(p, 0, n * item);
  return p;
}

tg_status tg_reserve(const tg_alloc *a, void *array, size_t *cap, size_t need, size_t item) {
  void *data = NULL;
  if (need <= *cap) return TG_OK;
  memcpy(&data, array, sizeof data);
  const tg_status status = tg_grow(a, &data, cap, need, item);
  memcpy(array, &data, sizeof data);
  return status;
}

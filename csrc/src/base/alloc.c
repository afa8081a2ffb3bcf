/* alloc.c - the C library's memory suite and the growth of arrays.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tickgauge/alloc.h"

#include <stdint.h>
#include <stdlib.h>

#include "huge.h"

enum { FIRST_CAP = 8 };

static void *libc_resize(void *ctx, void *p, size_t size) {
  (void)ctx;
  void *to = realloc(p, size);
  if (to != NULL) tg_huge_advise(to, size);
  return to;
}

static void libc_release(void *ctx, void *p) {
  (void)ctx;
  free(p);
}

const tg_alloc *tg_alloc_default(void) {
  static const tg_alloc libc = {libc_resize, libc_release, NULL};
  return &libc;
}

tg_status tg_grow(const tg_alloc *a, void **data, size_t *cap, size_t need, size_t item) {
  if (need <= *cap) return TG_OK;
  if (item == 0) return TG_EINVAL;
  const size_t most = (size_t)PTRDIFF_MAX / item;
  if (need > most) return TG_EOVERFLOW;
  size_t next = *cap > most / 2 ? most : *cap * 2;
  if (next < FIRST_CAP) next = FIRST_CAP < most ? FIRST_CAP : most;
  if (next < need) next = need;
  if (a == NULL) a = tg_alloc_default();
  void *grown = a->resize(a->ctx, *data, next * item);
  if (grown == NULL) return TG_ENOMEM;
  *data = grown;
  *cap = next;
  return TG_OK;
}

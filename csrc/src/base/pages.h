/* pages.h - large blocks that grow in place and come in huge pages.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TG_BASE_PAGES_H
#define TG_BASE_PAGES_H

#include <stdbool.h>
#include <stddef.h>

#include "tickgauge/alloc.h"

/* A block that is written once from end to end. With the C library's suite one of 2 MiB and more is
 * mapped by itself, on a boundary of 2 MiB, so that the kernel hands it out in huge pages where it
 * has them: in pages of 4 KiB a third of the time of a dense log is spent on that. Other suites get
 * every block from their own functions. */
typedef struct tg_pages {
  void *p;     /* NULL: no block */
  size_t size; /* bytes */
  bool mapped;
} tg_pages;

/* Makes the block at least `size` bytes; what it held stays, the rest is anything. With `zero` all
 * that it holds is zero, and the rest becomes zero as well: where the block is mapped, by not being
 * touched, so that it has addresses and no memory yet. On failure it is as it was. TG_OK,
 * TG_ENOMEM. */
tg_status tg_pages_grow(const tg_alloc *a, tg_pages *block, size_t size, bool zero);

void tg_pages_free(const tg_alloc *a, tg_pages *block);

#endif

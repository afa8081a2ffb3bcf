/* huge.c - asks the kernel for huge pages. SPDX-License-Identifier: BSD-3-Clause */
#ifdef __linux__
#define _GNU_SOURCE 1 /* MADV_HUGEPAGE */
#endif

#include "huge.h"

#include <stdint.h>

#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__)
#include <sys/mman.h>
#endif

void tg_huge_advise(void *p, size_t size) {
#ifdef MADV_HUGEPAGE
  const uintptr_t first = ((uintptr_t)p + TG_HUGE - 1) & ~(uintptr_t)(TG_HUGE - 1);
  const size_t before = first - (uintptr_t)p;
  if (size < 2 * TG_HUGE) return;
  (void)madvise((uint8_t *)p + before, (size - before) & ~(TG_HUGE - 1), MADV_HUGEPAGE);
#else
  (void)p;
  (void)size;
#endif
}

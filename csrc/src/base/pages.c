/* pages.c - large blocks by mmap where the system has huge pages, else by the suite.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifdef __linux__
#define _GNU_SOURCE 1 /* mremap, MADV_HUGEPAGE */
#endif

#include "pages.h"

#include <stdint.h>
#include <string.h>

#include "huge.h"
#include "mem.h"

#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__)
#include <sys/mman.h>
#endif

/* The block from the suite, made larger; with `zero` what is new is zero. */
static void *resized(const tg_alloc *a, const tg_pages *block, size_t size, bool zero) {
  uint8_t *p = a->resize(a->ctx, block->p, size);
  if (p != NULL && zero) memset(p + block->size, 0, size - block->size);
  return p;
}

#ifdef MADV_HUGEPAGE
/* The bytes of a mapped block of `size` bytes. */
static size_t rounded(size_t size) { return (size + TG_HUGE - 1) & ~(TG_HUGE - 1); }

/* `size` bytes of addresses on a boundary; NULL where there are none. */
static uint8_t *map_aligned(size_t size, int protection) {
  uint8_t *p = mmap(NULL, size + TG_HUGE, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) return NULL;
  const size_t before = (TG_HUGE - (uintptr_t)p % TG_HUGE) % TG_HUGE;
  if (before > 0) (void)munmap(p, before);
  (void)munmap(p + before + size, TG_HUGE - before);
  return p + before;
}

/* A mapped block with the bytes of `block`, which is gone then; NULL: it is as it was. `zero`: they
 * are zero, as a new map's. */
static void *map_first(const tg_alloc *a, const tg_pages *block, size_t size, bool zero) {
  uint8_t *p = map_aligned(size, PROT_READ | PROT_WRITE);
  if (p == NULL) return NULL;
  (void)madvise(p, size, MADV_HUGEPAGE);
  if (block->size > 0 && !zero) memcpy(p, block->p, block->size);
  tg_release(a, block->p);
  return p;
}

/* The same by a copy: not every system that runs Linux programs moves maps. */
static void *map_copied(const tg_pages *block, size_t size) {
  uint8_t *p = map_aligned(size, PROT_READ | PROT_WRITE);
  if (p == NULL) return NULL;
  (void)madvise(p, size, MADV_HUGEPAGE);
  memcpy(p, block->p, block->size);
  (void)munmap(block->p, block->size);
  return p;
}

/* A mapped block made larger, where it stands or on another boundary; NULL: it is as it was. */
static void *map_larger(const tg_pages *block, size_t size) {
  void *p = mremap(block->p, block->size, size, 0);
  if (p != MAP_FAILED) return p;
  uint8_t *to = map_aligned(size, PROT_NONE);
  if (to == NULL) return NULL;
  p = mremap(block->p, block->size, size, MREMAP_MAYMOVE | MREMAP_FIXED, to);
  if (p != MAP_FAILED) return p;
  (void)munmap(to, size);
  return map_copied(block, size);
}

static bool wants_map(const tg_alloc *a, size_t size) {
  return size >= TG_HUGE && size <= PTRDIFF_MAX - 2 * TG_HUGE &&
         a->resize == tg_alloc_default()->resize;
}

tg_status tg_pages_grow(const tg_alloc *a, tg_pages *block, size_t size, bool zero) {
  if (size <= block->size) return TG_OK;
  const bool mapped = wants_map(a, size);
  if (mapped) size = rounded(size);
  void *p = !mapped ? resized(a, block, size, zero)
            : block->mapped ? map_larger(block, size)
                            : map_first(a, block, size, zero);
  if (p == NULL) return TG_ENOMEM;
  *block = (tg_pages){p, size, mapped};
  return TG_OK;
}

void tg_pages_free(const tg_alloc *a, tg_pages *block) {
  if (block->mapped) (void)munmap(block->p, block->size);
  else tg_release(a, block->p);
  *block = (tg_pages){0};
}

#else

tg_status tg_pages_grow(const tg_alloc *a, tg_pages *block, size_t size, bool zero) {
  if (size <= block->size) return TG_OK;
  void *p = resized(a, block, size, zero);
  if (p == NULL) return TG_ENOMEM;
  *block = (tg_pages){p, size, false};
  return TG_OK;
}

void tg_pages_free(const tg_alloc *a, tg_pages *block) {
  tg_release(a, block->p);
  *block = (tg_pages){0};
}
#endif

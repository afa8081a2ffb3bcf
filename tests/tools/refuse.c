/* refuse.c - a library to preload: refuses one allocation of one module, and knows what it holds.
 *
 * The release build itself is tested: calls of malloc, calloc and realloc are told by the address
 * they return to. Blocks of the module that nobody has freed are counted. glibc only.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum { SLOTS = 1 << 18 };

void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t item);
void *__libc_realloc(void *p, size_t n);
void __libc_free(void *p);

static atomic_uintptr_t from, to; /* the module's code */
static atomic_long left = -1;     /* allocations until one is refused; below 0: none */
static atomic_long refused, live;
static atomic_flag lock = ATOMIC_FLAG_INIT;
static void *held[SLOTS];

static size_t slot_of(const void *p) { return ((uintptr_t)p >> 4) * 2654435761u % SLOTS; }

/* Notes (`add`) or forgets a block; returns whether it was there. */
static int note(void *p, int add) {
  static char gone;
  int found = 0;
  while (atomic_flag_test_and_set(&lock)) {
  }
  for (size_t i = slot_of(p), n = 0; n < SLOTS; i = (i + 1) % SLOTS, n++) {
    if (add && (held[i] == NULL || held[i] == &gone)) {
      held[i] = p;
      break;
    }
    if (!add && held[i] == p) {
      held[i] = &gone;
      found = 1;
      break;
    }
    if (!add && held[i] == NULL) break;
  }
  atomic_flag_clear(&lock);
  atomic_fetch_add(&live, add ? 1 : -found);
  return found;
}

static int ours(const void *back) { return (uintptr_t)back >= from && (uintptr_t)back < to; }

static int refuse(void) {
  if (left < 0 || atomic_fetch_sub(&left, 1) != 0) return 0;
  atomic_fetch_add(&refused, 1);
  return 1;
}

void *malloc(size_t n) {
  if (!ours(__builtin_return_address(0))) return __libc_malloc(n);
  void *p = refuse() ? NULL : __libc_malloc(n);
  if (p != NULL) note(p, 1);
  return p;
}

void *calloc(size_t n, size_t item) {
  if (!ours(__builtin_return_address(0))) return __libc_calloc(n, item);
  void *p = refuse() ? NULL : __libc_calloc(n, item);
  if (p != NULL) note(p, 1);
  return p;
}

void *realloc(void *old, size_t n) {
  int mine = ours(__builtin_return_address(0));
  if (mine && refuse()) return NULL;
  int known = live > 0 && old != NULL && note(old, 0);
  void *p = __libc_realloc(old, n);
  if (p != NULL && (mine || known)) note(p, 1);
  if (p == NULL && known) note(old, 1);
  return p;
}

void free(void *p) {
  if (p != NULL && live > 0) note(p, 0);
  __libc_free(p);
}

/* Watches the code between two addresses. */
void refuse_in(uintptr_t first, uintptr_t end) {
  from = first;
  to = end;
}

/* Refuses the allocation behind the next `after`; below 0 none. */
void refuse_after(long after) {
  refused = 0;
  left = after;
}

long refuse_count(void) { return refused; }
long refuse_live(void) { return live; }

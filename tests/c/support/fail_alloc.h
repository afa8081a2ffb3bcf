/* fail_alloc.h - an allocator for tests that fails at the k-th request and counts what is live.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * fail_every_allocation() runs a function with its request 0, 1, 2, ... refused, fail_allocations()
 * with a part of them where the same code asks thousands of times;
 * fail_alloc_suite() makes one such allocator for a test that wants to look closer. */
#ifndef TESTS_FAIL_ALLOC_H
#define TESTS_FAIL_ALLOC_H

#include <check.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>

#include "tickgauge/alloc.h"

typedef struct fail_alloc {
  tg_alloc suite;
  long left;   /* requests that still succeed */
  long live;   /* blocks that were not released */
  bool failed; /* a request was refused */
  bool once;   /* only one request fails, later ones succeed again */
} fail_alloc;

static inline void *fail_alloc_resize(void *ctx, void *p, size_t size) {
  fail_alloc *f = ctx;
  ck_assert_uint_gt(size, 0);
  if (f->left <= 0) {
    f->failed = true;
    if (f->once) f->left = LONG_MAX;
    return NULL;
  }
  f->left--;
  void *grown = realloc(p, size);
  ck_assert_ptr_nonnull(grown);
  if (p == NULL) f->live++;
  return grown;
}

static inline void fail_alloc_release(void *ctx, void *p) {
  fail_alloc *f = ctx;
  if (p == NULL) return;
  f->live--;
  free(p);
}

/* The suite to hand to the code under test; `f` must stay where it is. */
static inline const tg_alloc *fail_alloc_suite(fail_alloc *f, long k, bool once) {
  f->suite = (tg_alloc){fail_alloc_resize, fail_alloc_release, f};
  f->left = k;
  f->live = 0;
  f->failed = false;
  f->once = once;
  return &f->suite;
}

/* Runs `tg_status run(const tg_alloc *)` with request 0, 1, 2 ... failing (from 64 on each
 * `step`-th), first for good, then once only, until a run needs no more requests. `run` frees all
 * it made. A refused request must come out as TG_ENOMEM (never as success), and nothing may stay
 * allocated. */
static inline void fail_allocations(tg_status (*run)(const tg_alloc *a), long step) {
  for (int once = 0; once < 2; once++) {
    fail_alloc f;
    long k = 0;
    do {
      const tg_status status = run(fail_alloc_suite(&f, k, once != 0));
      ck_assert_msg(f.live == 0, "%ld blocks left when request %ld failed", f.live, k);
      ck_assert_msg(status == (f.failed ? TG_ENOMEM : TG_OK), "request %ld failed: status %d", k,
                    (int)status);
      k += k < 64 ? 1 : step;
    } while (f.failed);
    ck_assert_int_gt(k, 1); /* a run that asks for nothing tests nothing */
  }
}

static inline void fail_every_allocation(tg_status (*run)(const tg_alloc *a)) {
  fail_allocations(run, 1);
}

#endif

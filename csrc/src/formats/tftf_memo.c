/* tftf_memo.c - a direct table of the keys of tests and cpus.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tftf_memo.h"

#include <string.h>

#include "base/mem.h"

enum { LEAST = 256, MOST = 1 << 16, EACH = 32 }; /* entries: powers of two; for each row */
enum { NEIGHBOURS = 4 }; /* a power of two: keys of one slot take turns only beyond so many */

tg_status tg_tftf_memo_room(tg_tftf_memo *memo, const tg_alloc *a, size_t rows) {
  size_t n = LEAST;
  while (n < MOST && n / EACH < rows) n *= 2;
  if (n <= memo->n) return TG_OK;
  tg_tftf_keys *room = tg_zalloc(a, n, sizeof *room);
  if (room == NULL) return TG_ENOMEM;
  tg_release(a, memo->v);
  *memo = (tg_tftf_memo){room, n};
  return TG_OK;
}

void tg_tftf_memo_forget(tg_tftf_memo *memo) {
  if (memo->n > 0) memset(memo->v, 0, memo->n * sizeof *memo->v);
}

void tg_tftf_memo_free(tg_tftf_memo *memo, const tg_alloc *a) {
  tg_release(a, memo->v);
  *memo = (tg_tftf_memo){0};
}

static bool same(const tg_tftf_keys *a, const tg_tftf_keys *b) {
  return a->test.p == b->test.p && a->test.n == b->test.n && a->name.cluster == b->name.cluster &&
         a->name.core == b->name.core && a->place == b->place && a->latency == b->latency &&
         a->linear == b->linear && a->ordinal == b->ordinal;
}

/* Fibonacci hashing (Knuth, TAOCP 3, 6.4): the upper bits of a product are mixed best. */
static size_t slot_of(const tg_tftf_memo *memo, const tg_tftf_keys *k) {
  const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15);
  const uint64_t name = (uint64_t)k->name.cluster << 32 | k->name.core;
  const uint64_t cpu = (name * odd) ^ ((uint64_t)k->place << 1 | k->latency);
  return (size_t)(((cpu * odd) ^ (uintptr_t)k->test.p) * odd >> 40) & (memo->n - 1);
}

uint32_t *tg_tftf_memo_ids(tg_tftf_memo *memo, const tg_tftf_keys *wanted) {
  const size_t slot = slot_of(memo, wanted);
  for (size_t i = 0; i < NEIGHBOURS; i++) {
    tg_tftf_keys *keys = &memo->v[slot ^ i];
    if (keys->test.p == NULL) *keys = *wanted;
    if (same(keys, wanted)) return keys->ids;
  }
  tg_tftf_keys *keys = &memo->v[slot];
  *keys = *wanted;
  return keys->ids;
}

/* intern.c - distinct byte strings with dense codes: an arena of bytes and an open hash table.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tickgauge/intern.h"

#include <string.h>

#include "mem.h"
#include "table_private.h"
#include "try.h"
#include "wide.h"

enum { DEFAULT_DISTINCT = 1 << 20, FIRST_SLOTS = 16 };

/* The hash stands beside the code: most strings that are no match are told apart without a look
 * elsewhere, and growing does not read them again. */
typedef struct slot {
  uint32_t hash, code; /* code + 1, 0 = free */
} slot;

/* Codes 0 .. hashed-1 are in `slots` (a power of two, at most half full); later ones only in the
 * arena. String `c` is bytes[ends[c-1], ends[c]). */
struct tg_intern {
  tg_alloc alloc;
  uint8_t *bytes;
  size_t n_bytes, cap_bytes;
  size_t *ends;
  size_t cap_ends;
  slot *slots;
  size_t n_slots;
  uint64_t seed, key; /* differ per table, so that no log can be written to collide */
  uint32_t count, hashed, max_distinct;
  uint32_t last; /* the string put last: logs say the same word many times in a row */
};

/* Both halves of the product folded: every bit of either factor reaches the result. */
static inline uint64_t mix(uint64_t a, uint64_t b) {
  const tg_u128 product = (tg_u128)a * b;
  return (uint64_t)product ^ (uint64_t)(product >> 64);
}

tg_status tg_intern_new(const tg_alloc *a, uint32_t max_distinct, tg_intern **out) {
  a = tg_alloc_or_default(a);
  tg_intern *t = tg_zalloc(a, 1, sizeof *t);
  if (t == NULL) return TG_ENOMEM;
  t->alloc = *a;
  t->max_distinct = max_distinct != 0 ? max_distinct : DEFAULT_DISTINCT;
  t->seed = (uint64_t)(uintptr_t)t * UINT64_C(0x9e3779b97f4a7c15);
  t->key = mix(t->seed, UINT64_C(0xa0761d6478bd642f)) | 1;
  *out = t;
  return TG_OK;
}

void tg_intern_free(tg_intern *t) {
  if (t == NULL) return;
  const tg_alloc a = t->alloc;
  tg_release(&a, t->bytes);
  tg_release(&a, t->ends);
  tg_release(&a, t->slots);
  tg_release(&a, t);
}

/* Eight bytes a step, multiplied by a key that differs per table: with a known factor words could
 * be written whose differences cancel for every start. The order of bytes of the machine does not
 * show, codes come from the order of use. */
static uint32_t hash_of(const tg_intern *t, const uint8_t *p, size_t n) {
  const uint64_t key = t->key;
  uint64_t h = t->seed ^ (n * UINT64_C(0xff51afd7ed558ccd));
  while (n >= 8) {
    uint64_t w;
    memcpy(&w, p, 8);
    h = mix(h ^ w, key);
    p += 8;
    n -= 8;
  }
  uint64_t w = 0;
  for (size_t i = 0; i < n; i++) w = w << 8 | p[i];
  h = mix(h ^ w, key);
  h *= UINT64_C(0x9e3779b97f4a7c15);
  return (uint32_t)(h >> 32);
}

static tg_str string_at(const tg_intern *t, uint32_t code) {
  const size_t start = code == 0 ? 0 : t->ends[code - 1];
  return (tg_str){t->bytes + start, t->ends[code] - start};
}

static bool string_is(const tg_intern *t, uint32_t code, const uint8_t *p, size_t n) {
  const tg_str s = string_at(t, code);
  return s.n == n && (n == 0 || memcmp(s.p, p, n) == 0);
}

/* The slot that holds the string, or the free one where it belongs. There is one: the table is
 * never more than half full. */
static slot *slot_of(const tg_intern *t, uint32_t hash, const uint8_t *p, size_t n) {
  const size_t mask = t->n_slots - 1;
  size_t i = hash & mask;
  while (t->slots[i].code != 0) {
    if (t->slots[i].hash == hash && string_is(t, t->slots[i].code - 1, p, n)) break;
    i = (i + 1) & mask;
  }
  return &t->slots[i];
}

/* Room for one more string in the slots, at most half of them taken. */
static tg_status reserve_slot(tg_intern *t) {
  if (t->n_slots / 2 > t->hashed) return TG_OK;
  const size_t n = t->n_slots == 0 ? FIRST_SLOTS : t->n_slots * 2;
  slot *slots = tg_zalloc(&t->alloc, n, sizeof *slots);
  if (slots == NULL) return TG_ENOMEM;
  for (size_t k = 0; k < t->n_slots; k++) {
    size_t i = t->slots[k].hash & (n - 1);
    if (t->slots[k].code == 0) continue;
    while (slots[i].code != 0) i = (i + 1) & (n - 1);
    slots[i] = t->slots[k];
  }
  tg_release(&t->alloc, t->slots);
  t->slots = slots;
  t->n_slots = n;
  return TG_OK;
}

/* Room for one more string of `n` bytes in the arena. */
static tg_status reserve_string(tg_intern *t, size_t n) {
  size_t total = 0;
  if (tg_add_overflows(t->n_bytes, n, &total)) return TG_EOVERFLOW;
  if (total == 0) total = 1; /* an empty string has a pointer too */
  void *bytes = t->bytes, *ends = t->ends;
  tg_status status = tg_grow(&t->alloc, &bytes, &t->cap_bytes, total, 1);
  t->bytes = bytes;
  if (status != TG_OK) return status;
  status = tg_grow(&t->alloc, &ends, &t->cap_ends, (size_t)t->count + 1, sizeof *t->ends);
  t->ends = ends;
  return status;
}

/* Appends to the arena, for which there is room; the new code. */
static uint32_t push(tg_intern *t, const uint8_t *p, size_t n) {
  if (n > 0) memcpy(t->bytes + t->n_bytes, p, n);
  t->n_bytes += n;
  t->ends[t->count] = t->n_bytes;
  return t->count++;
}

bool tg_intern_again(const tg_intern *t, const uint8_t *p, size_t n, uint32_t *code) {
  if (t->count == 0 || t->count >= t->max_distinct || !string_is(t, t->last, p, n)) return false;
  *code = t->last;
  return true;
}

tg_status tg_intern_put(tg_intern *t, const uint8_t *p, size_t n, uint32_t *code) {
  const bool hashing = t->count < t->max_distinct;
  uint32_t hash = 0;
  if (hashing) {
    if (tg_intern_again(t, p, n, code)) return TG_OK;
    hash = hash_of(t, p, n);
    const slot *found = t->n_slots > 0 ? slot_of(t, hash, p, n) : NULL;
    if (found != NULL && found->code != 0) {
      *code = t->last = found->code - 1;
      return TG_OK;
    }
  }
  if (t->count == UINT32_MAX) return TG_EOVERFLOW;
  TG_TRY(reserve_string(t, n));
  if (hashing) {
    TG_TRY(reserve_slot(t));
    *slot_of(t, hash, p, n) = (slot){hash, t->count + 1};
    t->hashed++;
  }
  *code = t->last = push(t, p, n);
  return TG_OK;
}

tg_status tg_intern_find(const tg_intern *t, const uint8_t *p, size_t n, uint32_t *code) {
  if (t->n_slots > 0) {
    const slot *found = slot_of(t, hash_of(t, p, n), p, n);
    if (found->code != 0) {
      *code = found->code - 1;
      return TG_OK;
    }
  }
  for (uint32_t c = t->hashed; c < t->count; c++) {
    if (string_is(t, c, p, n)) {
      *code = c;
      return TG_OK;
    }
  }
  return TG_ENOTFOUND;
}

tg_str tg_intern_get(const tg_intern *t, uint32_t code) {
  return code < t->count ? string_at(t, code) : (tg_str){NULL, 0};
}

uint32_t tg_intern_count(const tg_intern *t) { return t->count; }

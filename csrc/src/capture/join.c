/* join.c - vectors whose bits are signals of their own ("araddr [31]", "araddr [30]" ...: a
 * simulator's
 * VCD, the columns of an analyser) become one signal. SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "base/try.h"
#include "capture/signals.h"

/* The index of signal `i`, where it is one bit of a vector; CAP_NONE otherwise. `arvalid[0]`,
 * `arvalid[1]` are two interfaces. */
static uint32_t bit_of(const tg_capture *c, size_t i, tg_str *bare) {
  const cap_signal *s = &c->signal[i];
  const tg_str text = tg_intern_get(c->names, s->name);
  const cap_name name = tg_cap_name_split(text.p, text.n);
  *bare = (tg_str){text.p, name.bare};
  const uint8_t leaf = name.role.leaf;
  const bool scalar = leaf == LEAF_VALID || leaf == LEAF_READY || leaf == LEAF_LAST;
  return s->width == 1 && s->bits && name.has_range && !scalar ? name.index : CAP_NONE;
}

/* How many signals from `i` on are the bits of one vector, up or down by one. */
static size_t bits_in_a_row(const tg_capture *c, size_t i, size_t all, bool *upwards) {
  tg_str bare = {0}, other = {0};
  const uint32_t first = bit_of(c, i, &bare);
  size_t n = 1;
  if (first == CAP_NONE) return 1;
  for (; i + n < all; n++) {
    const uint32_t bit = bit_of(c, i + n, &other);
    if (bit == CAP_NONE || other.n != bare.n || memcmp(other.p, bare.p, bare.n) != 0) break;
    if (n == 1) *upwards = bit > first;
    if (*upwards ? bit != first + n : bit + n != first) break;
  }
  return n;
}

static tg_status join(tg_capture *c, size_t i, size_t n, bool upwards, tg_error *err) {
  tg_str bare = {0};
  uint32_t row = 0;
  const uint32_t from = bit_of(c, i, &bare);
  const uint32_t low = upwards ? from : from + 1 - (uint32_t)n;
  const size_t room = bare.n + 32;
  char *name = tg_zalloc(&c->a, room, 1);
  if (name == NULL) return TG_ENOMEM;
  const int k = snprintf(name, room, "%.*s[%u:%u]", (int)bare.n, (const char *)bare.p,
                         low + (uint32_t)n - 1, low);
  const tg_status status = k < 0 ? TG_EINVAL
                                 : tg_cap_signal_add(c, (const uint8_t *)name, (size_t)k,
                                                     (uint32_t)n, true, &row, err);
  tg_release(&c->a, name);
  TG_TRY(status);
  TG_TRY(tg_reserve(&c->a, &c->joined, &c->cap_joined, c->n_joined + 1, sizeof *c->joined));
  c->joined[c->n_joined++] = (cap_joined){
      .signal = row, .first = (uint32_t)i, .width = (uint32_t)n, .upwards = upwards};
  for (size_t b = 0; b < n; b++) c->signal[i + b].part = true;
  return TG_OK;
}

tg_status tg_cap_join(tg_capture *c, tg_error *err) {
  const size_t all = c->n_signal;
  for (size_t i = 0; i < all;) {
    bool upwards = false;
    const size_t n = bits_in_a_row(c, i, all, &upwards);
    if (n > 1 && n <= UINT32_MAX) TG_TRY(join(c, i, n, upwards, err));
    i += n;
  }
  return TG_OK;
}

uint32_t tg_cap_bit_at(const cap_joined *j, uint32_t place) {
  return j->upwards ? place : j->width - 1 - place;
}

tg_status tg_cap_join_store(tg_capture *c, const cap_joined *j) {
  cap_signal *s = &c->signal[j->signal];
  TG_TRY(tg_cap_store_add(c, j->width, &s->store));
  cap_store *store = &c->store[s->store];
  store->role = s->role;
  memset(store->next + store->words, 255, store->words * sizeof *store->next);
  if (j->width % 64 != 0) store->next[2 * store->words - 1] = ((uint64_t)1 << j->width % 64) - 1;
  return TG_OK;
}

bool tg_cap_bit_moves(cap_store *s, uint32_t bit, uint8_t level) {
  const uint64_t mask = (uint64_t)1 << bit % 64;
  uint64_t *unknown = s->next + s->words, any = 0;
  s->next[bit / 64] = level == 1 ? s->next[bit / 64] | mask : s->next[bit / 64] & ~mask;
  unknown[bit / 64] = level == 2 ? unknown[bit / 64] | mask : unknown[bit / 64] & ~mask;
  for (uint32_t i = 0; i < s->words; i++) any |= unknown[i];
  return any == 0;
}

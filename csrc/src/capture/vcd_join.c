/* vcd_join.c - vectors that a simulator dumps bit by bit ("araddr [31]", "araddr [30]" ...) become one
 * signal. SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "capture/vcd.h"

/* The index of variable `i`, where it is one bit of a vector; CAP_NONE otherwise. */
static uint32_t bit_of(const tg_capture *c, size_t i, tg_str *bare) {
  const cap_signal *s = &c->signal[c->vcd->var[i].signal];
  const tg_str text = tg_intern_get(c->names, s->name);
  const cap_name name = tg_cap_name_split(text.p, text.n);
  *bare = (tg_str){text.p, name.bare};
  return s->width == 1 && s->bits && name.has_range ? name.index : CAP_NONE;
}

/* How many variables from `i` on are the bits of one vector, up or down by one. */
static size_t bits_in_a_row(const tg_capture *c, size_t i, bool *upwards) {
  tg_str bare = {0}, other = {0};
  const uint32_t first = bit_of(c, i, &bare);
  size_t n = 1;
  if (first == CAP_NONE) return 1;
  for (; i + n < c->vcd->n_var; n++) {
    const uint32_t bit = bit_of(c, i + n, &other);
    if (bit == CAP_NONE || other.n != bare.n || memcmp(other.p, bare.p, bare.n) != 0) break;
    if (n == 1) *upwards = bit > first;
    if (*upwards ? bit != first + n : bit + n != first) break;
  }
  return n;
}

static tg_status join(tg_capture *c, size_t i, size_t n, bool upwards, tg_error *err) {
  struct cap_vcd *v = c->vcd;
  tg_str bare = {0};
  uint32_t row = 0;
  const uint32_t from = bit_of(c, i, &bare);
  const uint32_t low = upwards ? from : from + 1 - (uint32_t)n;
  const size_t room = bare.n + 32;
  char *name = tg_zalloc(&c->a, room, 1);
  if (name == NULL) return TG_ENOMEM;
  const int k = snprintf(name, room, "%.*s[%u:%u]", (int)bare.n, (const char *)bare.p,
                         low + (uint32_t)n - 1, low);
  tg_status status = k < 0 ? TG_EINVAL
                           : tg_cap_signal_add(c, (const uint8_t *)name, (size_t)k, (uint32_t)n,
                                               true, &row, err);
  if (status == TG_OK)
    status =
        tg_grow(&c->a, (void **)&v->joined, &v->cap_joined, v->n_joined + 1, sizeof *v->joined);
  if (status == TG_OK) {
    v->joined[v->n_joined++] = (struct vcd_joined){
        .signal = row, .first = (uint32_t)i, .width = (uint32_t)n, .upwards = upwards};
    for (size_t b = 0; b < n; b++) c->signal[v->var[i + b].signal].part = true;
  }
  tg_release(&c->a, name);
  return status;
}

tg_status tg_vcd_join(tg_capture *c, tg_error *err) {
  tg_status status = TG_OK;
  const size_t all = c->vcd->n_var;
  for (size_t i = 0; i < all && status == TG_OK;) {
    bool upwards = false;
    const size_t n = bits_in_a_row(c, i, &upwards);
    if (n > 1 && n <= UINT32_MAX) status = join(c, i, n, upwards, err);
    i += n;
  }
  return status;
}

/* Are the bits' identifiers already those of one store, under another name? */
static bool is_there(const struct cap_vcd *v, const struct vcd_joined *j) {
  const uint32_t store = v->entry[v->var[j->first].id];
  if (store == CAP_NONE) return false;
  for (uint32_t b = 0; b < j->width; b++) {
    const uint32_t id = v->var[j->first + b].id, bit = j->upwards ? b : j->width - 1 - b;
    if (v->entry[id] != store || v->bit[id] != bit + 1) return false;
  }
  return true;
}

tg_status tg_vcd_join_stores(tg_capture *c) {
  struct cap_vcd *v = c->vcd;
  for (size_t i = 0; i < v->n_joined; i++) {
    const struct vcd_joined *j = &v->joined[i];
    cap_signal *s = &c->signal[j->signal];
    if (!s->wanted) continue;
    if (is_there(v, j)) {
      s->store = v->entry[v->var[j->first].id];
      continue;
    }
    tg_status status = tg_cap_store_add(c, j->width, &s->store);
    if (status != TG_OK) return status;
    cap_store *store = &c->store[s->store];
    store->role = s->role;
    memset(store->next + store->words, 255, store->words * sizeof *store->next);
    if (j->width % 64 != 0)
      store->next[2 * store->words - 1] = ((uint64_t)1 << j->width % 64) - 1;
    if (store->words > v->most) v->most = store->words;
    for (uint32_t b = 0; b < j->width; b++) {
      const uint32_t id = v->var[j->first + b].id;
      v->entry[id] = s->store;
      v->bit[id] = (j->upwards ? b : j->width - 1 - b) + 1;
    }
  }
  return TG_OK;
}

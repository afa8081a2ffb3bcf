/* interfaces.c - the public tables of signals and interfaces.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "base/row.h"
#include "capture/signals.h"

/* Is the interface one of several elements of an array, which only their index tells apart? */
static bool is_one_of_many(const tg_capture *c, const cap_bundle *b) {
  for (size_t i = 0; i < c->n_bundle && b->element > 0; i++)
    if (&c->bundle[i] != b && c->bundle[i].prefix == b->prefix && c->bundle[i].suffix == b->suffix)
      return true;
  return false;
}

/* The prefix as a person writes it: without the separators that join it to the leaf, with the
 * suffix ("tb.dut.*_M0") or the index ("tb.dut.axi[1]") that tells it from others. */
static size_t shown_prefix(const tg_capture *c, const cap_bundle *b, char *out, size_t room) {
  const tg_str prefix = tg_intern_get(c->names, b->prefix);
  size_t n = prefix.n;
  int k = 0;
  if (b->suffix != CAP_NONE) {
    const tg_str suffix = tg_intern_get(c->names, b->suffix);
    k = snprintf(out, room, "%.*s*%.*s", (int)n, (const char *)prefix.p, (int)suffix.n,
                 (const char *)suffix.p);
  } else {
    while (n > 0 && strchr("/.:_[ ", prefix.p[n - 1]) != NULL) n--;
    k = snprintf(out, room, "%.*s", (int)n, (const char *)prefix.p);
    if (is_one_of_many(c, b))
      k = snprintf(out, room, "%.*s[%u]", (int)n, (const char *)prefix.p, b->element - 1);
  }
  return k < 0 ? 0 : (size_t)k < room ? (size_t)k : room - 1;
}

/* Bundles whose VALID and READY are the very same wires under other names. */
void tg_cap_find_twins(tg_capture *c) {
  for (uint32_t i = 1; i < c->n_bundle; i++)
    for (uint32_t k = 0; k < i && c->bundle[i].same_as == CAP_NONE && k < 256; k++) {
      bool same = c->bundle[k].usable == c->bundle[i].usable && c->bundle[i].usable != 0;
      for (unsigned ch = 0; ch < CH_COUNT && same; ch++)
        for (unsigned leaf = LEAF_VALID; leaf <= LEAF_CTRL && same; leaf++) {
          uint32_t x = c->bundle[i].sig[ch][leaf], y = c->bundle[k].sig[ch][leaf];
          same = (x == CAP_NONE && y == CAP_NONE) ||
                 (x != CAP_NONE && y != CAP_NONE && c->signal[x].store != CAP_NONE &&
                  c->signal[x].store == c->signal[y].store);
        }
      if (same) c->bundle[i].same_as = c->bundle[k].same_as != CAP_NONE ? c->bundle[k].same_as : k;
    }
}

/* Appends a word to a blank-separated list. */
static void list(char *out, size_t room, const char *word) {
  size_t n = strlen(out);
  snprintf(out + n, room - n, "%s%s", n > 0 ? " " : "", word);
}

static tg_status interface_row(const tg_capture *c, const cap_bundle *b, tg_table *t) {
  static const char *const kinds[] = {"", "AXI4", "AXI3", "AXI4-Lite", "AXI-Stream"};
  char channels[64] = "", missing[128] = "";
  const tg_str prefix = tg_intern_get(c->names, b->prefix);
  const size_t room = prefix.n + 65;
  char *shown = tg_zalloc(&c->a, room, 1);
  if (shown == NULL) return TG_ENOMEM;
  for (unsigned ch = 0; ch < CH_COUNT; ch++) {
    if ((b->usable & 1u << ch) != 0) list(channels, sizeof channels, tg_cap_channel_names[ch]);
    if ((b->half & 1u << ch) != 0) {
      const uint8_t leaf = b->sig[ch][LEAF_VALID] == CAP_NONE ? LEAF_VALID : LEAF_READY;
      list(missing, sizeof missing, tg_cap_role_name((cap_role){(uint8_t)ch, leaf}));
    }
  }
  tg_row w = tg_row_begin(t);
  tg_row_text(&w, 0, (tg_str){(const uint8_t *)shown, shown_prefix(c, b, shown, room)});
  if (b->slot != CAP_NONE) tg_row_u32(&w, 1, b->slot);
  tg_row_cstr(&w, 2, kinds[b->kind]);
  tg_row_cstr(&w, 3, channels);
  tg_row_cstr(&w, 4, missing[0] != 0 ? missing : NULL);
  tg_row_u32(&w, 5, b->matched);
  if (b->data_bits > 0) tg_row_u32(&w, 6, b->data_bits);
  if (b->same_as != CAP_NONE) tg_row_u32(&w, 7, b->same_as);
  tg_row_bool(&w, 8, b->usable != 0);
  tg_row_cstr(&w, 9, b->usable != 0 ? NULL : "no channel has both VALID and READY");
  if (b->clock != CAP_NONE)
    tg_row_text(&w, 10, tg_intern_get(c->names, c->signal[b->clock_name].name));
  tg_release(&c->a, shown);
  return tg_row_end(&w);
}

static tg_status signal_row(const tg_capture *c, const cap_signal *s, tg_table *t) {
  static const char *const radixes[] = {NULL,     "HEX",   "UNSIGNED", "SIGNED",
                                        "BINARY", "OCTAL", "other"};
  tg_row w = tg_row_begin(t);
  tg_row_text(&w, 0, tg_intern_get(c->names, s->name));
  tg_row_u32(&w, 1, s->width);
  if (s->role.channel < CH_COUNT) tg_row_cstr(&w, 2, tg_cap_role_name(s->role));
  if (s->interface != CAP_NONE) tg_row_u32(&w, 3, s->interface);
  tg_row_bool(&w, 4, s->store != CAP_NONE);
  tg_row_cstr(&w, 5, radixes[s->store != CAP_NONE ? c->store[s->store].radix : s->radix]);
  if (s->store != CAP_NONE) tg_row_u64(&w, 6, c->store[s->store].n);
  tg_row_bool(&w, 7, s->clock != 0);
  return tg_row_end(&w);
}

tg_status tg_cap_interfaces(tg_capture *c) {
  tg_status status = TG_OK;
  tg_table_truncate(c->t_interfaces, 0);
  tg_table_truncate(c->t_signals, 0);
  for (size_t i = 0; i < c->n_bundle && status == TG_OK; i++)
    status = interface_row(c, &c->bundle[i], c->t_interfaces);
  for (size_t i = 0; i < c->n_signal && status == TG_OK; i++)
    status = signal_row(c, &c->signal[i], c->t_signals);
  return status;
}

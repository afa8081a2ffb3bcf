/* bind.c - signals to AXI channels: bundles, what is usable, the kind (rules R3 to R7).
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/capture.h"

static uint8_t lower(uint8_t c) { return c >= 'A' && c <= 'Z' ? (uint8_t)(c + 32) : c; }

static void clear_bundle(cap_bundle *b, uint32_t prefix, uint32_t slot) {
  *b = (cap_bundle){.prefix = prefix, .slot = slot, .same_as = CAP_NONE};
  for (unsigned ch = 0; ch < CH_COUNT; ch++)
    for (unsigned leaf = 0; leaf < LEAF_COUNT; leaf++) b->sig[ch][leaf] = CAP_NONE;
}

/* The bundle of a prefix, letter case set aside; made at its first use. */
static tg_status bundle_of(tg_capture *c, tg_intern *keys, uint32_t signal, const cap_name *name,
                           uint32_t *bundle) {
  tg_str text = tg_intern_get(c->names, c->signal[signal].name);
  uint32_t code = 0, known = tg_intern_count(keys);
  char *key = tg_cap_copy(&c->a, text.p, name->prefix);
  if (key == NULL) return TG_ENOMEM;
  for (size_t i = 0; i < name->prefix; i++) key[i] = (char)lower((uint8_t)key[i]);
  tg_status status = tg_intern_put(keys, (const uint8_t *)key, name->prefix, bundle);
  if (status == TG_OK && *bundle == known) {
    status = tg_grow(&c->a, (void **)&c->bundle, &c->cap_bundle, c->n_bundle + 1, sizeof *c->bundle);
    memcpy(key, text.p, name->prefix);
    if (status == TG_OK) status = tg_intern_put(c->names, (const uint8_t *)key, name->prefix, &code);
    if (status == TG_OK) clear_bundle(&c->bundle[c->n_bundle++], code, name->slot);
  }
  tg_release(&c->a, key);
  return status;
}

/* VALID, READY and LAST are one bit wide; a ctrl has at least VALID and READY. */
static bool fits(const tg_capture *c, const cap_signal *s, cap_role role) {
  if (!s->bits || (role.leaf < LEAF_STORED && s->width > c->max_width)) return false;
  if (role.leaf == LEAF_CTRL) return s->width >= 2;
  return role.leaf > LEAF_LAST || s->width == 1;
}

/* Puts a signal on its role; a name with a suffix gives way to one without. */
static void place(tg_capture *c, cap_bundle *b, uint32_t row, const cap_name *name,
                  bool *suffixed) {
  uint32_t *slot = &b->sig[name->role.channel][name->role.leaf];
  if (name->role.leaf == LEAF_DATA && c->signal[row].width > b->data_bits)
    b->data_bits = c->signal[row].width;
  if (*slot == CAP_NONE) b->matched++;
  if (*slot == CAP_NONE || (suffixed[*slot] && !name->suffixed)) *slot = row;
  suffixed[row] = name->suffixed;
}

static void find_channels(cap_bundle *b) {
  b->usable = b->half = 0;
  for (unsigned ch = 0; ch < CH_COUNT; ch++) {
    bool valid = b->sig[ch][LEAF_VALID] != CAP_NONE, ready = b->sig[ch][LEAF_READY] != CAP_NONE;
    if ((valid && ready) || b->sig[ch][LEAF_CTRL] != CAP_NONE)
      b->usable |= (uint8_t)(1u << ch);
    else if (valid || ready)
      b->half |= (uint8_t)(1u << ch);
  }
}

tg_axi_kind tg_cap_kind(const tg_capture *c, const cap_bundle *b) {
  bool any_len = false, any_id = false, any_last = false;
  if (((b->usable | b->half) & ~(1u << CH_T)) == 0) return TG_AXI_STREAM;
  if (b->sig[CH_W][LEAF_ID] != CAP_NONE) return TG_AXI_3;
  for (unsigned ch = 0; ch < CH_T; ch++) {
    uint32_t len = b->sig[ch][LEAF_LEN], lock = b->sig[ch][LEAF_LOCK];
    if (len != CAP_NONE && c->signal[len].width <= 4) return TG_AXI_3;
    if (lock != CAP_NONE && c->signal[lock].width == 2) return TG_AXI_3;
    any_len = any_len || len != CAP_NONE;
    any_id = any_id || b->sig[ch][LEAF_ID] != CAP_NONE;
    any_last = any_last || b->sig[ch][LEAF_LAST] != CAP_NONE;
  }
  return any_len || any_id || any_last ? TG_AXI_4 : TG_AXI_LITE;
}

/* Most matched first, then in order of the file. */
static int by_rank(const void *a, const void *b) {
  const cap_bundle *x = a, *y = b;
  if (x->matched != y->matched) return x->matched > y->matched ? -1 : 1;
  return x->place < y->place ? -1 : x->place > y->place;
}

/* Keeps the bundles that have a channel, most matched first, and numbers their signals. */
static void rank(tg_capture *c) {
  uint32_t kept = 0;
  for (size_t i = 0; i < c->n_bundle; i++) {
    cap_bundle b = c->bundle[i];
    find_channels(&b);
    bool valid = b.usable != 0;
    for (unsigned ch = 0; ch < CH_COUNT; ch++) valid = valid || b.sig[ch][LEAF_VALID] != CAP_NONE;
    if (!valid) continue;
    b.kind = (uint8_t)tg_cap_kind(c, &b);
    b.place = kept;
    c->bundle[kept++] = b;
  }
  if (kept > 1) qsort(c->bundle, kept, sizeof *c->bundle, by_rank);
  c->n_bundle = kept;
  for (uint32_t i = 0; i < kept; i++)
    for (unsigned ch = 0; ch < CH_COUNT; ch++)
      for (unsigned leaf = 0; leaf < LEAF_COUNT; leaf++) {
        uint32_t row = c->bundle[i].sig[ch][leaf];
        if (row == CAP_NONE) continue;
        c->signal[row].interface = i;
        c->signal[row].role = (cap_role){(uint8_t)ch, (uint8_t)leaf};
        if (leaf < LEAF_STORED && c->bundle[i].kind != TG_AXI_STREAM) c->signal[row].wanted = true;
      }
}

/* A name given by the caller: the full name, or it without its range. */
static bool names_signal(const tg_capture *c, uint32_t row, const char *text) {
  tg_str name = tg_intern_get(c->names, c->signal[row].name);
  size_t n = strlen(text), bare = tg_cap_name_split(name.p, name.n).bare;
  return (n == name.n || n == bare) && memcmp(name.p, text, n) == 0;
}

static tg_status too_wide(tg_capture *c, uint32_t row) {
  const tg_str name = tg_intern_get(c->names, c->signal[row].name);
  return tg_cap_problem(c, 0, 0, "too-wide",
                        "%.*s has %u bits, more than the %u that are stored (--limit width=N)",
                        (int)(name.n < 150 ? name.n : 150), (const char *)name.p,
                        (unsigned)c->signal[row].width, (unsigned)c->max_width);
}

static tg_status mark_asked(tg_capture *c) {
  tg_status status = TG_OK;
  for (size_t k = 0; k < c->n_keep && status == TG_OK; k++) {
    bool found = false;
    for (uint32_t i = 0; i < c->n_signal; i++)
      if (names_signal(c, i, c->keep[k])) {
        found = true;
        c->signal[i].wanted = c->signal[i].width <= c->max_width;
        if (!c->signal[i].wanted && status == TG_OK) status = too_wide(c, i);
      }
    if (!found && status == TG_OK)
      status = tg_cap_problem(c, 0, 0, "no-signal", "no signal is named %.150s", c->keep[k]);
  }
  for (size_t k = 0; k < c->n_map && status == TG_OK; k++) {
    c->map[k].signal = CAP_NONE;
    for (uint32_t i = 0; i < c->n_signal && c->map[k].signal == CAP_NONE; i++)
      if (names_signal(c, i, c->map[k].column)) c->map[k].signal = i;
    if (c->map[k].signal == CAP_NONE)
      status = tg_cap_problem(c, 0, 0, "no-signal", "no signal is named %.150s, which %s is mapped to",
                          c->map[k].column, tg_cap_role_name(c->map[k].role));
    else if (c->signal[c->map[k].signal].width > c->max_width)
      status = too_wide(c, c->map[k].signal);
    else
      c->signal[c->map[k].signal].wanted = true;
  }
  return status;
}

/* An interface of mapped columns alone, where the map names a whole channel (rule R6). */
static tg_status add_mapped(tg_capture *c) {
  cap_bundle b;
  uint32_t code = 0;
  if (c->n_map == 0) return TG_OK;
  clear_bundle(&b, 0, CAP_NONE);
  for (size_t k = 0; k < c->n_map; k++)
    if (c->map[k].signal != CAP_NONE) {
      cap_role r = c->map[k].role;
      if (b.sig[r.channel][r.leaf] == CAP_NONE) b.matched++;
      b.sig[r.channel][r.leaf] = c->map[k].signal;
      if (r.leaf == LEAF_DATA) b.data_bits = c->signal[c->map[k].signal].width;
    }
  find_channels(&b);
  b.kind = (uint8_t)tg_cap_kind(c, &b);
  if (b.usable == 0 && (b.half == 0 || c->n_bundle > 0)) return TG_OK;
  tg_status status = tg_intern_put(c->names, (const uint8_t *)"(map)", 5, &code);
  b.prefix = code;
  if (status == TG_OK)
    status = tg_grow(&c->a, (void **)&c->bundle, &c->cap_bundle, c->n_bundle + 1, sizeof *c->bundle);
  if (status == TG_OK) c->bundle[c->n_bundle++] = b;
  return status;
}

tg_status tg_cap_bind(tg_capture *c) {
  tg_intern *keys = NULL;
  bool *suffixed = NULL;
  tg_status status = tg_intern_new(&c->a, CAP_NONE, &keys);
  if (status == TG_OK && c->n_signal > 0) {
    suffixed = tg_zalloc(&c->a, c->n_signal, sizeof *suffixed);
    if (suffixed == NULL) status = TG_ENOMEM;
  }
  for (uint32_t i = 0; i < c->n_signal && status == TG_OK; i++) {
    tg_str text = tg_intern_get(c->names, c->signal[i].name);
    cap_name name = tg_cap_name_split(text.p, text.n);
    uint32_t bundle = 0;
    if (name.role.channel == CH_COUNT || !fits(c, &c->signal[i], name.role)) continue;
    status = bundle_of(c, keys, i, &name, &bundle);
    if (status == TG_OK) place(c, &c->bundle[bundle], i, &name, suffixed);
  }
  if (status == TG_OK) rank(c);
  if (status == TG_OK) status = mark_asked(c);
  if (status == TG_OK) status = add_mapped(c);
  tg_release(&c->a, suffixed);
  tg_intern_free(keys);
  return status;
}

/* ---- the public tables ----------------------------------------------------------------------- */

/* The prefix as a person writes it: without what only joins it to the leaf. */
static tg_str trim_prefix(tg_str s) {
  while (s.n > 0 && strchr("/.:_[ ", s.p[s.n - 1]) != NULL) s.n--;
  return s;
}

/* Bundles whose VALID and READY are the very same wires under other names. */
static void find_twins(tg_capture *c) {
  for (uint32_t i = 1; i < c->n_bundle; i++)
    for (uint32_t k = 0; k < i && c->bundle[i].same_as == CAP_NONE && k < 256; k++) {
      bool same = c->bundle[k].usable == c->bundle[i].usable && c->bundle[i].usable != 0;
      for (unsigned ch = 0; ch < CH_T && same; ch++)
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
  size_t row = 0;
  tg_str prefix = trim_prefix(tg_intern_get(c->names, b->prefix));
  bool usable = (b->usable & ((1u << CH_T) - 1)) != 0;
  for (unsigned ch = 0; ch < CH_COUNT; ch++) {
    if ((b->usable & 1u << ch) != 0) list(channels, sizeof channels, tg_cap_channel_names[ch]);
    if ((b->half & 1u << ch) != 0) {
      uint8_t leaf = b->sig[ch][LEAF_VALID] == CAP_NONE ? LEAF_VALID : LEAF_READY;
      list(missing, sizeof missing, tg_cap_role_name((cap_role){(uint8_t)ch, leaf}));
    }
  }
  const char *why = NULL;
  if (b->kind == TG_AXI_STREAM)
    why = "AXI-Stream is listed, not analysed";
  else if (!usable)
    why = "no channel has both VALID and READY";
  tg_status status = tg_table_append(t, &row);
  if (status == TG_OK) status = tg_table_set_text(t, row, 0, prefix.p, prefix.n);
  if (status == TG_OK && b->slot != CAP_NONE) status = tg_table_set_u32(t, row, 1, b->slot);
  if (status == TG_OK) status = tg_table_set_cstr(t, row, 2, kinds[b->kind]);
  if (status == TG_OK) status = tg_table_set_cstr(t, row, 3, channels);
  if (status == TG_OK && missing[0] != 0) status = tg_table_set_cstr(t, row, 4, missing);
  if (status == TG_OK) status = tg_table_set_u32(t, row, 5, b->matched);
  if (status == TG_OK && b->data_bits > 0) status = tg_table_set_u32(t, row, 6, b->data_bits);
  if (status == TG_OK && b->same_as != CAP_NONE) status = tg_table_set_u32(t, row, 7, b->same_as);
  if (status == TG_OK) status = tg_table_set_bool(t, row, 8, usable && b->kind != TG_AXI_STREAM);
  if (status == TG_OK) status = tg_table_set_cstr(t, row, 9, why);
  return status;
}

static tg_status signal_row(const tg_capture *c, const cap_signal *s, tg_table *t) {
  static const char *const radixes[] = {NULL,     "HEX",   "UNSIGNED", "SIGNED",
                                        "BINARY", "OCTAL", "other"};
  size_t row = 0;
  tg_str name = tg_intern_get(c->names, s->name);
  uint8_t radix = s->store != CAP_NONE ? c->store[s->store].radix : s->radix;
  tg_status status = tg_table_append(t, &row);
  if (status == TG_OK) status = tg_table_set_text(t, row, 0, name.p, name.n);
  if (status == TG_OK) status = tg_table_set_u32(t, row, 1, s->width);
  if (status == TG_OK && s->role.channel < CH_COUNT)
    status = tg_table_set_cstr(t, row, 2, tg_cap_role_name(s->role));
  if (status == TG_OK && s->interface != CAP_NONE) status = tg_table_set_u32(t, row, 3, s->interface);
  if (status == TG_OK) status = tg_table_set_bool(t, row, 4, s->store != CAP_NONE);
  if (status == TG_OK) status = tg_table_set_cstr(t, row, 5, radixes[radix]);
  if (status == TG_OK && s->store != CAP_NONE) status = tg_table_set_u64(t, row, 6, c->store[s->store].n);
  return status;
}

tg_status tg_cap_interfaces(tg_capture *c) {
  tg_status status = TG_OK;
  if (c->form == TG_CAPTURE_VCD) find_twins(c);
  tg_table_truncate(c->t_interfaces, 0);
  tg_table_truncate(c->t_signals, 0);
  for (size_t i = 0; i < c->n_bundle && status == TG_OK; i++)
    status = interface_row(c, &c->bundle[i], c->t_interfaces);
  for (size_t i = 0; i < c->n_signal && status == TG_OK; i++)
    status = signal_row(c, &c->signal[i], c->t_signals);
  return status;
}

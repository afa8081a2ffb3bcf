/* bind.c - signals to AXI channels: bundles, usable ones, the kind.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <string.h>

#include "base/try.h"
#include "capture/signals.h"

/* What finds the bundle of a name: `exact` by prefix and suffix, `groups` of what may belong
 * together. */
typedef struct binder {
  tg_intern *exact, *groups;
  bool *suffixed; /* by signal */
} binder;

static void clear_bundle(cap_bundle *b, uint32_t prefix, uint32_t slot) {
  *b = (cap_bundle){.prefix = prefix, .slot = slot, .same_as = CAP_NONE, .clock = CAP_NONE};
  b->suffix = CAP_NONE;
  for (unsigned ch = 0; ch < CH_COUNT; ch++)
    for (unsigned leaf = 0; leaf < LEAF_COUNT; leaf++) b->sig[ch][leaf] = CAP_NONE;
}

static tg_status add_bundle(tg_capture *c, tg_str text, const cap_name *name, uint32_t group) {
  uint32_t prefix = 0, suffix = CAP_NONE;
  char *copy = tg_cap_copy(&c->a, text.p, text.n); /* the names may move */
  if (copy == NULL) return TG_ENOMEM;
  tg_status status =
      tg_grow(&c->a, (void **)&c->bundle, &c->cap_bundle, c->n_bundle + 1, sizeof *c->bundle);
  if (status == TG_OK)
    status = tg_intern_put(c->names, (const uint8_t *)copy, name->prefix, &prefix);
  if (status == TG_OK && name->suffix_end > name->suffix)
    status = tg_intern_put(c->names, (const uint8_t *)copy + name->suffix,
                           name->suffix_end - name->suffix, &suffix);
  if (status == TG_OK) {
    clear_bundle(&c->bundle[c->n_bundle], prefix, name->slot);
    c->bundle[c->n_bundle].suffix = suffix;
    c->bundle[c->n_bundle].element = name->element;
    c->bundle[c->n_bundle++].group = group;
  }
  tg_release(&c->a, copy);
  return status;
}

/* The bundle of a name, letter case set aside; made at its first use. */
static tg_status bundle_of(tg_capture *c, binder *k, uint32_t signal, const cap_name *name,
                           uint32_t *bundle) {
  const tg_str text = tg_intern_get(c->names, c->signal[signal].name);
  const uint32_t known = tg_intern_count(k->exact);
  uint32_t group = 0;
  const size_t n_suffix = name->suffix_end - name->suffix;
  const size_t room = name->prefix + n_suffix + 1 + sizeof name->element;
  char *key = tg_zalloc(&c->a, room, 1);
  if (key == NULL) return TG_ENOMEM;
  size_t n = name->prefix;
  for (size_t i = 0; i < n; i++) key[i] = (char)tolower(text.p[i]);
  key[n++] = '\n';
  for (size_t i = 0; i < n_suffix; i++) key[n++] = (char)tolower(text.p[name->suffix + i]);
  memcpy(key + n, &name->element, sizeof name->element);
  tg_status status = tg_intern_put(k->exact, (const uint8_t *)key, room, bundle);
  if (status == TG_OK && *bundle == known) {
    n = tg_cap_bundle_key(text.p, name, key);
    status = tg_intern_put(k->groups, (const uint8_t *)key, n, &group);
    if (status == TG_OK) status = add_bundle(c, text, name, group);
  }
  tg_release(&c->a, key);
  return status;
}

/* VALID, READY and LAST are one bit wide; a ctrl has VALID, READY and, with data, LAST. */
static bool fits(const tg_capture *c, const cap_signal *s, cap_role role) {
  if (!s->bits || (role.leaf < LEAF_STORED && s->width > c->max_width)) return false;
  if (role.leaf == LEAF_CTRL)
    return s->width == (role.channel == CH_W || role.channel == CH_R ? 3 : 2);
  return role.leaf > LEAF_LAST || s->width == 1;
}

/* Puts a signal on its role; a name with a suffix gives way to one without. */
static void place(tg_capture *c, cap_bundle *b, uint32_t row, const cap_name *name,
                  bool *suffixed) {
  uint32_t *slot = &b->sig[name->role.channel][name->role.leaf];
  if (name->role.leaf == LEAF_DATA && c->signal[row].width > b->data_bits)
    b->data_bits = c->signal[row].width;
  if (*slot == CAP_NONE) {
    b->matched++;
    b->joined += !name->parted;
  }
  if (*slot == CAP_NONE || (suffixed[*slot] && !name->suffixed)) *slot = row;
  suffixed[row] = name->suffixed;
}

/* Without lengths and LAST every command is one beat: AXI4-Lite, with or without ids. */
tg_axi_kind tg_cap_kind(const tg_capture *c, const cap_bundle *b) {
  bool burst = false;
  if (((b->usable | b->half) & ~(1u << CH_T)) == 0) return TG_AXI_STREAM;
  if (b->sig[CH_W][LEAF_ID] != CAP_NONE) return TG_AXI_3;
  for (unsigned ch = 0; ch < CH_T; ch++) {
    const uint32_t len = b->sig[ch][LEAF_LEN], lock = b->sig[ch][LEAF_LOCK];
    const uint32_t ctrl = b->sig[ch][LEAF_CTRL];
    if (len != CAP_NONE && c->signal[len].width <= 4) return TG_AXI_3;
    if (lock != CAP_NONE && c->signal[lock].width == 2) return TG_AXI_3;
    burst = burst || len != CAP_NONE || b->sig[ch][LEAF_LAST] != CAP_NONE ||
            (ctrl != CAP_NONE && c->signal[ctrl].width >= 3);
  }
  return burst ? TG_AXI_4 : TG_AXI_LITE;
}

/* Most matched first, then in order of the file. */
static bool ranks_before(const cap_bundle *x, const cap_bundle *y) {
  return x->matched != y->matched ? x->matched > y->matched : x->place < y->place;
}
#define TG_SORT_NAME sort_bundles
#define TG_SORT_ITEM cap_bundle
#define TG_SORT_BEFORE(a, b) ranks_before(a, b)
#include "base/sort.h"

/* ---- which bundles are interfaces -------------------------------------------------------------
 */

/* One channel whose names do not even join it to its leaf (`r_valid`), or a lone ctrl, is no AXI.
 */
static bool is_interface(const cap_bundle *b) {
  unsigned channels = 0;
  bool valid = false;
  for (unsigned ch = 0; ch < CH_COUNT; ch++) {
    const bool here = b->sig[ch][LEAF_VALID] != CAP_NONE;
    channels += here || (b->usable & 1u << ch) != 0;
    valid = valid || here;
  }
  return channels > 1 || (valid && b->joined > 0);
}

/* Keeps the bundles that have a channel, most matched first, and numbers their signals. */
static void rank(tg_capture *c) {
  uint32_t kept = 0;
  for (size_t i = 0; i < c->n_bundle; i++) {
    cap_bundle b = c->bundle[i];
    tg_cap_find_channels(&b);
    if (!is_interface(&b)) continue;
    b.kind = (uint8_t)tg_cap_kind(c, &b);
    b.place = kept;
    c->bundle[kept++] = b;
  }
  sort_bundles(c->bundle, kept);
  c->n_bundle = kept;
  for (uint32_t i = 0; i < kept; i++)
    for (unsigned ch = 0; ch < CH_COUNT; ch++)
      for (unsigned leaf = 0; leaf < LEAF_COUNT; leaf++) {
        uint32_t row = c->bundle[i].sig[ch][leaf];
        if (row == CAP_NONE) continue;
        c->signal[row].interface = i;
        c->signal[row].role = (cap_role){(uint8_t)ch, (uint8_t)leaf};
        if (leaf < LEAF_STORED) c->signal[row].wanted = true;
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
      status =
          tg_cap_problem(c, 0, 0, "no-signal", "no signal is named %.150s, which %s is mapped to",
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
  tg_cap_find_channels(&b);
  b.kind = (uint8_t)tg_cap_kind(c, &b);
  if (b.usable == 0 && (b.half == 0 || c->n_bundle > 0)) return TG_OK;
  TG_TRY(tg_intern_put(c->names, (const uint8_t *)"(map)", 5, &code));
  b.prefix = code;
  TG_TRY(tg_reserve(&c->a, &c->bundle, &c->cap_bundle, c->n_bundle + 1, sizeof *c->bundle));
  c->bundle[c->n_bundle++] = b;
  return TG_OK;
}

/* All steps, by a binder that the caller frees. */
static tg_status bind(tg_capture *c, binder *k) {
  TG_TRY(tg_intern_new(&c->a, CAP_NONE, &k->exact));
  TG_TRY(tg_intern_new(&c->a, CAP_NONE, &k->groups));
  if (c->n_signal > 0) {
    k->suffixed = tg_zalloc(&c->a, c->n_signal, sizeof *k->suffixed);
    if (k->suffixed == NULL) return TG_ENOMEM;
  }
  for (uint32_t i = 0; i < c->n_signal; i++) {
    const tg_str text = tg_intern_get(c->names, c->signal[i].name);
    const cap_name name = tg_cap_name_split(text.p, text.n);
    uint32_t bundle = 0;
    if (name.role.channel == CH_COUNT || c->signal[i].part) continue;
    if (!fits(c, &c->signal[i], name.role)) continue;
    TG_TRY(bundle_of(c, k, i, &name, &bundle));
    place(c, &c->bundle[bundle], i, &name, k->suffixed);
  }
  TG_TRY(tg_cap_join_halves(c, tg_intern_count(k->groups)));
  rank(c);
  TG_TRY(mark_asked(c));
  TG_TRY(add_mapped(c));
  return tg_cap_find_resets(c);
}

tg_status tg_cap_bind(tg_capture *c) {
  binder k = {0};
  const tg_status status = bind(c, &k);
  tg_release(&c->a, k.suffixed);
  tg_intern_free(k.exact);
  tg_intern_free(k.groups);
  return status;
}

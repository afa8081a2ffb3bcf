/* near.c - the reset of an interface: by its name and by where it stands.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "capture/signals.h"

static uint8_t lower(uint8_t c) { return c >= 'A' && c <= 'Z' ? (uint8_t)(c + 32) : c; }

/* Bytes of the scope of a name: up to its last "." or "/". */
static size_t scope_of(tg_str s) {
  size_t n = s.n;
  while (n > 0 && s.p[n - 1] != '.' && s.p[n - 1] != '/') n--;
  return n;
}

static bool same_text(const uint8_t *p, size_t n, const char *word) {
  if (n != strlen(word)) return false;
  for (size_t i = 0; i < n; i++)
    if (lower(p[i]) != (uint8_t)word[i]) return false;
  return true;
}

/* Is the leaf of a name the word, alone or behind a word for the whole design or its AXI
 * ("sys_rst", "s00_axi_aresetn")? */
static bool is_leaf(const uint8_t *p, size_t n, const char *word) {
  static const char *const wholes[] = {"sys",        "core", "global", "glb",
                                       "peripheral", "main", "ui",     "i"};
  const size_t k = strlen(word);
  if (k > n || !same_text(p + n - k, k, word)) return false;
  if (k == n) return true;
  if (p[n - k - 1] != '_') return false;
  const size_t before = n - k - 1;
  for (size_t i = 0; i < sizeof wholes / sizeof *wholes; i++)
    if (same_text(p, before, wholes[i])) return true;
  for (size_t i = 0; i + 3 <= before; i++)
    if (same_text(p + i, 3, "axi")) return true;
  return false;
}

/* A reset's name, and whether it is active low. */
static bool is_reset(const uint8_t *p, size_t n, bool *low) {
  static const char *const high_words[] = {"rst", "reset", "arst", "areset", "srst", "rst_i",
                                           "reset_i", "arst_i"};
  static const char *const low_words[] = {"rstn",     "rst_n",   "resetn",   "reset_n",   "aresetn",
                                          "areset_n", "arst_n",  "arstn",    "nrst",      "nreset",
                                          "rst_ni",   "reset_ni", "resetn_i", "aresetn_i", "rstn_i",
                                          "rst_b",    "reset_b", "arst_ni",  "rst_n_i"};
  *low = true;
  for (size_t i = 0; i < sizeof low_words / sizeof *low_words; i++)
    if (is_leaf(p, n, low_words[i])) return true;
  *low = false;
  for (size_t i = 0; i < sizeof high_words / sizeof *high_words; i++)
    if (is_leaf(p, n, high_words[i])) return true;
  return false;
}

unsigned tg_cap_nearness(const tg_capture *c, const cap_bundle *b, uint32_t signal) {
  const tg_str name = tg_intern_get(c->names, c->signal[signal].name);
  const tg_str prefix = tg_intern_get(c->names, b->prefix);
  const size_t scope = scope_of(name), of_prefix = scope_of(prefix);
  size_t same = 0;
  unsigned levels = 0;
  while (same < scope && same < of_prefix && lower(name.p[same]) == lower(prefix.p[same])) {
    levels += name.p[same] == '.' || name.p[same] == '/';
    same++;
  }
  if (same < scope) return 0; /* in a scope beside the interface's, or below it */
  for (same = scope; same < name.n && same < prefix.n && prefix.n > scope; same++)
    if (lower(name.p[same]) != lower(prefix.p[same])) break;
  const bool own = scope == of_prefix && prefix.n > scope && same == prefix.n;
  return 1 + 2 * levels + own;
}

tg_status tg_cap_find_resets(tg_capture *c) {
  tg_status status = TG_OK;
  bool low = false;
  for (uint32_t i = 0; i < c->n_signal && status == TG_OK && c->n_reset < CAP_MOST_RESETS; i++) {
    const tg_str name = tg_intern_get(c->names, c->signal[i].name);
    const size_t bare = tg_cap_name_split(name.p, name.n).bare, scope = scope_of(name);
    if (c->signal[i].width != 1 || !c->signal[i].bits || bare < scope) continue;
    if (!is_reset(name.p + scope, bare - scope, &low)) continue;
    status = tg_grow(&c->a, (void **)&c->reset, &c->cap_reset, c->n_reset + 1, sizeof *c->reset);
    if (status != TG_OK) break;
    c->reset[c->n_reset++] = i;
    if (c->n_bundle > 0) c->signal[i].wanted = true;
  }
  return status;
}

uint32_t tg_cap_reset_of(const tg_capture *c, uint32_t bundle, bool *low) {
  uint32_t best = CAP_NONE;
  unsigned most = 0;
  for (size_t i = 0; i < c->n_reset; i++) {
    const unsigned near = tg_cap_nearness(c, &c->bundle[bundle], c->reset[i]);
    if (near <= most) continue;
    most = near;
    best = c->reset[i];
  }
  if (best == CAP_NONE) return CAP_NONE;
  const tg_str name = tg_intern_get(c->names, c->signal[best].name);
  const size_t bare = tg_cap_name_split(name.p, name.n).bare, scope = scope_of(name);
  is_reset(name.p + scope, bare - scope, low);
  return best;
}

/* names.c - a column's name taken apart: range, suffix, AXI leaf, slot (rules R1 and R2).
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "capture/capture.h"

const char *const tg_cap_channel_names[CH_COUNT] = {"AR", "AW", "W", "R", "B", "T"};
static const char *const low_names[CH_COUNT] = {"ar", "aw", "w", "r", "b", "t"};

#define BIT(c) (1u << (c))
#define ADDRESS (BIT(CH_AR) | BIT(CH_AW))

/* The leaves and the channels that have them. `gap`: an underscore may stand before it. */
static const struct {
  const char *word;
  uint8_t leaf, channels;
  bool gap;
} leaves[] = {
    {"valid", LEAF_VALID, 63, false},
    {"ready", LEAF_READY, 63, false},
    {"ctrl", LEAF_CTRL, 31, true},
    {"last", LEAF_LAST, BIT(CH_W) | BIT(CH_R) | BIT(CH_T), false},
    {"id", LEAF_ID, 63, false},
    {"addr", LEAF_ADDR, ADDRESS, false},
    {"len", LEAF_LEN, ADDRESS, false},
    {"size", LEAF_SIZE, ADDRESS, false},
    {"burst", LEAF_BURST, ADDRESS, false},
    {"resp", LEAF_RESP, BIT(CH_R) | BIT(CH_B), false},
    {"lock", LEAF_LOCK, ADDRESS, false},
    {"data", LEAF_DATA, BIT(CH_W) | BIT(CH_R) | BIT(CH_T), false},
    {"strb", LEAF_OTHER, BIT(CH_W) | BIT(CH_T), false},
    {"cache", LEAF_OTHER, ADDRESS, false},
    {"prot", LEAF_OTHER, ADDRESS, false},
    {"qos", LEAF_OTHER, ADDRESS, false},
    {"region", LEAF_OTHER, ADDRESS, false},
    {"user", LEAF_OTHER, 63, false},
    {"keep", LEAF_OTHER, BIT(CH_T), false},
    {"dest", LEAF_OTHER, BIT(CH_T), false},
    {"cnt", LEAF_OTHER, 31, true},
};
#define N_LEAVES (sizeof leaves / sizeof *leaves)

/* The words of the roles that have a name of their own, by channel and leaf. */
static const char *const role_words[CH_COUNT][LEAF_OTHER] = {
    {"arvalid", "arready", "ar_ctrl", "", "arid", "araddr", "arlen", "arsize", "arburst", "",
     "arlock", ""},
    {"awvalid", "awready", "aw_ctrl", "", "awid", "awaddr", "awlen", "awsize", "awburst", "",
     "awlock", ""},
    {"wvalid", "wready", "w_ctrl", "wlast", "wid", "", "", "", "", "", "", "wdata"},
    {"rvalid", "rready", "r_ctrl", "rlast", "rid", "", "", "", "", "rresp", "", "rdata"},
    {"bvalid", "bready", "b_ctrl", "", "bid", "", "", "", "", "bresp", "", ""},
    {"tvalid", "tready", "", "tlast", "tid", "", "", "", "", "", "", "tdata"}};

const char *tg_cap_role_name(cap_role role) {
  if (role.channel >= CH_COUNT || role.leaf >= LEAF_OTHER) return "";
  return role_words[role.channel][role.leaf];
}

static uint8_t lower(uint8_t c) { return c >= 'A' && c <= 'Z' ? (uint8_t)(c + 32) : c; }
static bool is_digit(uint8_t c) { return c >= '0' && c <= '9'; }

/* Does [p, p+n) end with `word`, whatever the case? */
static bool ends_with(const uint8_t *p, size_t n, const char *word) {
  size_t k = strlen(word);
  if (k > n) return false;
  for (size_t i = 0; i < k; i++)
    if (lower(p[n - k + i]) != (uint8_t)word[i]) return false;
  return true;
}

static bool is_boundary(uint8_t c) {
  return c == '/' || c == '.' || c == ':' || c == ' ' || c == '_' || c == '[';
}

/* The leaf at the end of [p, p+n) behind a boundary; *at is where it starts. */
static bool find_leaf(const uint8_t *p, size_t n, cap_role *role, size_t *at) {
  for (size_t i = 0; i < N_LEAVES; i++) {
    if (!ends_with(p, n, leaves[i].word)) continue;
    for (unsigned ch = 0; ch < CH_COUNT; ch++) {
      if ((leaves[i].channels & BIT(ch)) == 0) continue;
      size_t end = n - strlen(leaves[i].word);
      if (leaves[i].gap && end > 0 && p[end - 1] == '_') end--;
      if (!ends_with(p, end, low_names[ch])) continue;
      end -= strlen(low_names[ch]);
      if (end > 0 && !is_boundary(p[end - 1])) continue;
      *role = (cap_role){(uint8_t)ch, leaves[i].leaf};
      *at = end;
      return true;
    }
  }
  return false;
}

/* Bytes of the suffix `_<digits>`, `_i`, `_o`, `_q`, `_d` or `_reg` that ends [p, p+n), or 0. */
static size_t suffix_of(const uint8_t *p, size_t n) {
  static const char *const words[] = {"_i", "_o", "_q", "_d", "_reg"};
  size_t k = n;
  while (k > 0 && is_digit(p[k - 1])) k--;
  if (k < n && k > 0 && p[k - 1] == '_') return n - k + 1;
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (ends_with(p, n, words[i])) return strlen(words[i]);
  return 0;
}

/* A range `[hi:lo]` or `[0]` at the end: its width and the bytes before it. */
static bool cut_range(const uint8_t *p, size_t *n, uint32_t *width) {
  uint64_t number[2] = {0, 0};
  size_t i = *n, part = 1, digits = 0;
  uint64_t scale = 1;
  if (i == 0 || p[i - 1] != ']') return false;
  for (i--; i > 0 && p[i - 1] != '['; i--) {
    uint8_t c = p[i - 1];
    if (c == ':' && part == 1 && digits > 0) {
      part = 0, digits = 0, scale = 1;
    } else if (is_digit(c) && digits < 7) {
      number[part] += scale * (uint64_t)(c - '0');
      scale *= 10, digits++;
    } else {
      return false;
    }
  }
  if (i == 0 || digits == 0 || (part == 1 && number[1] != 0)) return false;
  uint64_t hi = part == 1 ? 0 : number[0], lo = part == 1 ? 0 : number[1];
  *width = (uint32_t)((hi > lo ? hi - lo : lo - hi) + 1);
  for (*n = i - 1; *n > 0 && p[*n - 1] == ' ';) --*n;
  return true;
}

/* The number behind the last "slot_" of the prefix. */
static uint32_t slot_of(const uint8_t *p, size_t n) {
  uint32_t slot = CAP_NONE;
  for (size_t i = 5; i < n; i++) {
    uint32_t v = 0;
    size_t k = i;
    if (!ends_with(p, i, "slot_") || !is_digit(p[i])) continue;
    for (; k < n && is_digit(p[k]) && v < 100000; k++) v = v * 10 + (uint32_t)(p[k] - '0');
    slot = v;
  }
  return slot;
}

/* Rule R7: columns of words and hints never bind. */
static bool is_hint(const uint8_t *p, size_t n) {
  for (size_t i = 7; i <= n; i++)
    if (ends_with(p, i, "tooltip")) return true;
  return false;
}

cap_name tg_cap_name_split(const uint8_t *p, size_t n) {
  cap_name out = {.role = ROLE_NONE, .width = 1, .slot = CAP_NONE};
  size_t at = 0;
  out.has_range = cut_range(p, &n, &out.width);
  out.bare = n;
  if (is_hint(p, n)) return out;
  size_t e = n;
  if (e > 0 && p[e - 1] == ']') e--;
  for (unsigned tries = 0; tries < 3; tries++) {
    if (find_leaf(p, e, &out.role, &at)) {
      out.prefix = at;
      out.slot = slot_of(p, at);
      break;
    }
    size_t cut = suffix_of(p, e);
    if (cut == 0) break;
    e -= cut;
    out.suffixed = true;
  }
  return out;
}

bool tg_cap_role_find(const char *word, cap_role *out) {
  size_t at = 1;
  return find_leaf((const uint8_t *)word, strlen(word), out, &at) && at == 0;
}

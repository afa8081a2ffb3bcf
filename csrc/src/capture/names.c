/* names.c - a signal's name taken apart: range, suffix, AXI leaf, channel, slot, bundle.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "capture/signals.h"

const char *const tg_cap_channel_names[CH_COUNT] = {"AR", "AW", "W", "R", "B", "T"};
static const char *const low_names[CH_COUNT] = {"ar", "aw", "w", "r", "b", "t"};

#define BIT(c) (1u << (c))
#define ADDRESS (BIT(CH_AR) | BIT(CH_AW))

/* The leaves and the channels that have them. */
static const struct {
  const char *word;
  uint8_t leaf, channels;
} leaves[] = {
    {"valid", LEAF_VALID, 63},
    {"ready", LEAF_READY, 63},
    {"ctrl", LEAF_CTRL, 31},
    {"last", LEAF_LAST, BIT(CH_W) | BIT(CH_R) | BIT(CH_T)},
    {"id", LEAF_ID, 63},
    {"addr", LEAF_ADDR, ADDRESS},
    {"len", LEAF_LEN, ADDRESS},
    {"size", LEAF_SIZE, ADDRESS},
    {"burst", LEAF_BURST, ADDRESS},
    {"resp", LEAF_RESP, BIT(CH_R) | BIT(CH_B)},
    {"cnt", LEAF_CNT, 31},
    {"lock", LEAF_LOCK, ADDRESS},
    {"data", LEAF_DATA, BIT(CH_W) | BIT(CH_R) | BIT(CH_T)},
    {"keep", LEAF_KEEP, BIT(CH_T)},
    {"strb", LEAF_OTHER, BIT(CH_W) | BIT(CH_T)},
    {"cache", LEAF_OTHER, ADDRESS},
    {"prot", LEAF_OTHER, ADDRESS},
    {"qos", LEAF_OTHER, ADDRESS},
    {"region", LEAF_OTHER, ADDRESS},
    {"user", LEAF_OTHER, 63},
    {"dest", LEAF_OTHER, BIT(CH_T)},
};
#define N_LEAVES (sizeof leaves / sizeof *leaves)

/* The words of the roles that have a name of their own, by channel and leaf. */
static const char *const role_words[CH_COUNT][LEAF_OTHER] = {
    {"arvalid", "arready", "ar_ctrl", "", "arid", "araddr", "arlen", "arsize", "arburst", "",
     "ar_cnt", "", "arlock", ""},
    {"awvalid", "awready", "aw_ctrl", "", "awid", "awaddr", "awlen", "awsize", "awburst", "",
     "aw_cnt", "", "awlock", ""},
    {"wvalid", "wready", "w_ctrl", "wlast", "wid", "", "", "", "", "", "w_cnt", "", "", "wdata"},
    {"rvalid", "rready", "r_ctrl", "rlast", "rid", "", "", "", "", "rresp", "r_cnt", "", "",
     "rdata"},
    {"bvalid", "bready", "b_ctrl", "", "bid", "", "", "", "", "bresp", "b_cnt", "", "", ""},
    {"tvalid", "tready", "", "tlast", "tid", "", "", "", "", "", "", "tkeep", "", "tdata"}};

const char *tg_cap_role_name(cap_role role) {
  if (role.channel >= CH_COUNT || role.leaf >= LEAF_OTHER) return "";
  return role_words[role.channel][role.leaf];
}

static uint8_t lower(uint8_t c) { return c >= 'A' && c <= 'Z' ? (uint8_t)(c + 32) : c; }
static bool is_upper(uint8_t c) { return c >= 'A' && c <= 'Z'; }
static bool is_digit(uint8_t c) { return c >= '0' && c <= '9'; }
static bool is_letter(uint8_t c) { return lower(c) >= 'a' && lower(c) <= 'z'; }

/* Is [p, p+n) the word, whatever the case? */
static bool is_word(const uint8_t *p, size_t n, const char *word) {
  if (n != strlen(word)) return false;
  for (size_t i = 0; i < n; i++)
    if (lower(p[i]) != (uint8_t)word[i]) return false;
  return true;
}

static bool ends_with(const uint8_t *p, size_t n, const char *word) {
  const size_t k = strlen(word);
  return k <= n && is_word(p + n - k, k, word);
}

static bool is_one_of(const uint8_t *p, size_t n, const char *const *words, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (is_word(p, n, words[i])) return true;
  return false;
}
#define IS_ONE_OF(p, n, words) is_one_of(p, n, words, sizeof(words) / sizeof *(words))

static bool parts(uint8_t c) {
  return c != 0 && strchr("_./: []()<>\\", c) != NULL;
}

/* The last word of [p, p+n): `*at` is its start, `*n` its end. False where there is none. */
static bool last_word(const uint8_t *p, size_t *n, size_t *at) {
  while (*n > 0 && parts(p[*n - 1])) --*n;
  *at = *n;
  while (*at > 0 && !parts(p[*at - 1])) --*at;
  return *n > 0;
}

/* May a channel's name begin at `at`, inside a word? Behind a digit (SAXIHP0ARVALID), where small
 * letters end (axiARVALID), behind "axi". */
static bool may_begin(const uint8_t *p, size_t at) {
  if (at == 0 || parts(p[at - 1]) || is_digit(p[at - 1])) return true;
  if (is_letter(p[at - 1]) && !is_upper(p[at - 1]) && is_upper(p[at])) return true;
  return ends_with(p, at, "axi") || ends_with(p, at, "axil") || ends_with(p, at, "axis");
}

/* "arvalid" at the end of [p, p+n): channel and leaf in one word. */
static bool joined_leaf(const uint8_t *p, size_t n, cap_role *role, size_t *at) {
  for (size_t i = 0; i < N_LEAVES; i++) {
    if (!ends_with(p, n, leaves[i].word)) continue;
    const size_t end = n - strlen(leaves[i].word);
    for (unsigned ch = 0; ch < CH_COUNT; ch++) {
      if ((leaves[i].channels & BIT(ch)) == 0 || !ends_with(p, end, low_names[ch])) continue;
      const size_t first = end - strlen(low_names[ch]);
      if (!may_begin(p, first)) continue;
      *role = (cap_role){(uint8_t)ch, leaves[i].leaf};
      *at = first;
      return true;
    }
  }
  return false;
}

/* "ar_valid", "ar.bits.addr", "ar_payload_addr": the leaf is a word of its own, the channel one
 * before it. */
static bool parted_leaf(const uint8_t *p, size_t n, cap_role *role, size_t *at) {
  static const char *const between[] = {"bits", "payload", "param", "chan", "channel", "ch"};
  size_t word = 0, end = n;
  if (!last_word(p, &end, &word)) return false;
  for (size_t i = 0; i < N_LEAVES; i++) {
    if (!is_word(p + word, end - word, leaves[i].word)) continue;
    size_t before = word, first = 0;
    for (unsigned k = 0; k < 3 && last_word(p, &before, &first); k++) {
      for (unsigned ch = 0; ch < CH_COUNT; ch++) {
        if ((leaves[i].channels & BIT(ch)) == 0) continue;
        const bool whole = is_word(p + first, before - first, low_names[ch]);
        const size_t inner = before - strlen(low_names[ch]);
        if (!whole && (ch == CH_T || !ends_with(p, before, low_names[ch]) || inner <= first ||
                       !may_begin(p, inner)))
          continue;
        *role = (cap_role){(uint8_t)ch, leaves[i].leaf};
        *at = whole ? first : inner;
        return true;
      }
      if (!IS_ONE_OF(p + first, before - first, between)) return false;
      before = first;
    }
  }
  return false;
}

static bool find_leaf(const uint8_t *p, size_t n, cap_role *role, size_t *at) {
  return joined_leaf(p, n, role, at) || parted_leaf(p, n, role, at);
}

/* Is the word one that may stand behind a leaf? `*names`: it tells interfaces apart (M0, 1). */
static bool is_suffix(const uint8_t *p, size_t n, bool *names) {
  static const char *const plain[] = {"i", "o",  "q",    "d",   "r",    "reg", "in",
                                      "w", "out", "wire", "int", "sig", "ff",  "net"};
  size_t i = 0;
  *names = false;
  if (IS_ONE_OF(p, n, plain)) return true;
  if (n > 0 && (lower(p[0]) == 'm' || lower(p[0]) == 's')) i++;
  while (i < n && is_digit(p[i])) i++;
  *names = i == n && n > 0;
  return *names;
}

/* The bracket that opens a range which `close` ends; 0 for no bracket. */
static uint8_t opening(uint8_t close) {
  return close == ']' ? '[' : close == ')' ? '(' : close == '>' ? '<' : 0;
}

/* A range `[hi:lo]` or an index `[n]` at the end: its width, the index and the bytes before it.
 * VHDL and older tools write round or angle brackets. */
static bool cut_range(const uint8_t *p, size_t *n, uint32_t *width, uint32_t *index) {
  uint64_t number[2] = {0, 0}, scale = 1;
  size_t i = *n, part = 1, digits = 0;
  const uint8_t open = i > 0 ? opening(p[i - 1]) : 0;
  if (open == 0) return false;
  for (i--; i > 0 && p[i - 1] != open; i--) {
    const uint8_t c = p[i - 1];
    if (c == ':' && part == 1 && digits > 0) {
      part = 0, digits = 0, scale = 1;
    } else if (is_digit(c) && digits < 7) {
      number[part] += scale * (uint64_t)(c - '0');
      scale *= 10, digits++;
    } else {
      return false;
    }
  }
  if (i == 0 || digits == 0) return false;
  *index = part == 1 ? (uint32_t)number[1] : CAP_NONE;
  const uint64_t hi = part == 1 ? 0 : number[0], lo = part == 1 ? 0 : number[1];
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

/* Columns of words and hints never bind. */
static bool is_hint(const uint8_t *p, size_t n) {
  for (size_t i = 7; i <= n; i++)
    if (ends_with(p, i, "tooltip")) return true;
  return false;
}

/* "axi4_ar_arvalid": the channel stands twice. */
static size_t drop_channel(const uint8_t *p, size_t prefix, unsigned channel) {
  size_t end = prefix, at = 0;
  if (!last_word(p, &end, &at) || !is_word(p + at, end - at, low_names[channel])) return prefix;
  return at;
}

/* Bytes behind a leaf inside its word: "M", "s1" of "ARVALIDM", "arvalids1". */
static size_t tail_of(const uint8_t *p, size_t n) {
  size_t k = n, at = 0;
  cap_role role;
  while (k > 0 && is_digit(p[k - 1])) k--;
  if (k > 0 && (lower(p[k - 1]) == 'm' || lower(p[k - 1]) == 's')) k--;
  return k < n && k > 0 && joined_leaf(p, k, &role, &at) ? n - k : 0;
}

cap_name tg_cap_name_split(const uint8_t *p, size_t n) {
  cap_name out = {.role = ROLE_NONE, .width = 1, .index = CAP_NONE, .slot = CAP_NONE};
  size_t at = 0;
  uint32_t width = 0, index = CAP_NONE;
  out.has_range = cut_range(p, &n, &out.width, &out.index);
  out.bare = n;
  if (is_hint(p, n)) return out;
  if (out.has_range && cut_range(p, &n, &width, &index) && index != CAP_NONE)
    out.element = index + 1; /* "araddr[1][31:0]": of an array of interfaces */
  size_t end = n;
  out.leaf_end = n;
  bool odd = false; /* behind a word that is no usual suffix: only "arvalid" can be the leaf */
  for (unsigned tries = 0; tries < 5; tries++) {
    size_t word = 0, stop = end;
    bool names = false;
    if (odd ? joined_leaf(p, end, &out.role, &at) : find_leaf(p, end, &out.role, &at)) {
      out.prefix = drop_channel(p, at, out.role.channel);
      out.slot = slot_of(p, at);
      out.leaf_end = end;
      out.parted = !joined_leaf(p, end, &out.role, &at);
      break;
    }
    if (!last_word(p, &stop, &word)) break;
    if (stop < end) { /* a trailing "_" */
      end = stop;
      continue;
    }
    const size_t tail = tail_of(p + word, stop - word);
    odd = odd || (tail == 0 && !is_suffix(p + word, stop - word, &names));
    names = names || odd || tail > 0;
    out.suffixed = true;
    end = stop - tail;
    if (tail == 0) {
      if (word == 0) break;
      for (end = word; end > 0 && parts(p[end - 1]);) end--;
      if (p[end] == '.' || p[end] == '/') break; /* not in another scope */
    }
    if (names) out.suffix = end;
  }
  if (out.role.leaf <= LEAF_LAST && out.role.leaf != LEAF_CTRL && out.index != CAP_NONE)
    out.element = out.index + 1; /* "arvalid[1]" */
  if (out.role.channel == CH_COUNT) out.suffix = 0;
  out.suffix_end = out.suffix > 0 ? n : 0;
  return out;
}

bool tg_cap_role_find(const char *word, cap_role *out) {
  size_t at = 1;
  return find_leaf((const uint8_t *)word, strlen(word), out, &at) && at == 0;
}

/* Words that only say in which direction a half of an interface goes. */
static bool is_direction(const uint8_t *p, size_t n) {
  static const char *const words[] = {"req", "rsp",  "resp", "reply", "m2s", "s2m",
                                      "mosi", "miso", "h2d",  "d2h",   "fwd", "bwd"};
  return IS_ONE_OF(p, n, words);
}

size_t tg_cap_bundle_key(const uint8_t *p, const cap_name *name, char *out) {
  size_t n = 0, scope = 0;
  bool after = false; /* behind a direction */
  for (size_t i = 0; i < name->prefix; i++)
    if (p[i] == '.' || p[i] == '/') scope = i + 1;
  for (size_t i = 0; i < name->prefix;) {
    size_t end = i;
    while (end < name->prefix && !parts(p[end])) end++;
    const bool side = end - i == 1 && (lower(p[i]) == 'i' || lower(p[i]) == 'o');
    after = is_direction(p + i, end - i) || (side && (after || i == scope));
    for (size_t k = i; k < end && !after; k++) out[n++] = (char)lower(p[k]);
    if (end < name->prefix && n > 0 && !parts((uint8_t)out[n - 1])) out[n++] = (char)p[end];
    for (i = end; i < name->prefix && parts(p[i]);) i++;
  }
  while (n > 0 && parts((uint8_t)out[n - 1])) n--;
  return n;
}

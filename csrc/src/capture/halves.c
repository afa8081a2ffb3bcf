/* halves.c - bundles that are parts of one interface: directions or suffixes apart (`i_axi_`,
 * `o_axi_`), one direction under either of two names (`cl_sh_`, `sh_cl_`), reads and writes under
 * two.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "base/try.h"
#include "capture/signals.h"

#define MOST_PARTS 64u  /* bundles that are looked at together */
#define LONG_NAME 256u  /* bytes; longer ones are like no other: each byte is compared with each */

void tg_cap_find_channels(cap_bundle *b) {
  b->usable = b->half = 0;
  for (unsigned ch = 0; ch < CH_COUNT; ch++) {
    bool valid = b->sig[ch][LEAF_VALID] != CAP_NONE, ready = b->sig[ch][LEAF_READY] != CAP_NONE;
    if ((valid && ready) || b->sig[ch][LEAF_CTRL] != CAP_NONE)
      b->usable |= (uint8_t)(1u << ch);
    else if (valid || ready)
      b->half |= (uint8_t)(1u << ch);
  }
}

/* Does every channel that the bundle touches have VALID and READY? */
static bool stands_alone(const cap_bundle *b) {
  bool any = false;
  for (unsigned ch = 0; ch < CH_COUNT; ch++) {
    bool touched = false;
    for (unsigned leaf = 0; leaf < LEAF_COUNT; leaf++)
      touched = touched || (b->sig[ch][leaf] != CAP_NONE && leaf != LEAF_CNT);
    if (touched && (b->usable & 1u << ch) == 0) return false;
    any = any || touched;
  }
  return any;
}

static bool collides(const cap_bundle *x, const cap_bundle *y) {
  for (unsigned ch = 0; ch < CH_COUNT; ch++)
    for (unsigned leaf = 0; leaf < LEAF_OTHER; leaf++)
      if (x->sig[ch][leaf] != CAP_NONE && y->sig[ch][leaf] != CAP_NONE) return true;
  return false;
}

/* Fills the roles that `into` lacks from `from`, which is empty then. */
static void absorb(cap_bundle *into, cap_bundle *from) {
  for (unsigned ch = 0; ch < CH_COUNT; ch++)
    for (unsigned leaf = 0; leaf < LEAF_COUNT; leaf++) {
      uint32_t *slot = &into->sig[ch][leaf];
      if (*slot == CAP_NONE && from->sig[ch][leaf] != CAP_NONE) {
        *slot = from->sig[ch][leaf];
        into->matched++;
      }
      from->sig[ch][leaf] = CAP_NONE;
    }
  if (from->data_bits > into->data_bits) into->data_bits = from->data_bits;
  if (into->slot == CAP_NONE) into->slot = from->slot;
  into->joined += from->joined;
  from->matched = 0;
  tg_cap_find_channels(into);
  tg_cap_find_channels(from);
}

/* Joins bundles of one group, most matched first: a half (`i_axi_`, `_1`) fills what the others
 * lack, a bundle that is an interface by itself stays one. */
static void join_group(cap_bundle **part, size_t n) {
  for (size_t i = 1; i < n; i++)
    for (size_t k = 0; k < i && part[i]->matched > 0; k++) {
      if (part[k]->matched == 0) continue;
      const bool other_suffix = part[i]->suffix != part[k]->suffix;
      if (stands_alone(part[i]) && (other_suffix || collides(part[k], part[i]))) continue;
      absorb(part[k], part[i]);
    }
}

static tg_status join_groups(tg_capture *c, uint32_t groups) {
  tg_status status = TG_OK;
  const size_t room = c->n_bundle;
  if (room < 2) return TG_OK;
  cap_bundle **part = tg_zalloc(&c->a, room, sizeof *part);
  uint32_t *first = tg_zalloc(&c->a, (size_t)groups + 1, sizeof *first);
  uint32_t *next = tg_zalloc(&c->a, room, sizeof *next);
  if (part == NULL || first == NULL || next == NULL) {
    status = TG_ENOMEM;
    goto done;
  }
  for (uint32_t i = (uint32_t)room; i-- > 0;) {
    tg_cap_find_channels(&c->bundle[i]);
    next[i] = first[c->bundle[i].group];
    first[c->bundle[i].group] = i + 1;
  }
  for (uint32_t g = 0; g < groups; g++) {
    size_t n = 0;
    for (uint32_t i = first[g]; i > 0 && n < MOST_PARTS; i = next[i - 1]) {
      size_t at = n++;
      for (; at > 0 && part[at - 1]->matched < c->bundle[i - 1].matched; at--)
        part[at] = part[at - 1];
      part[at] = &c->bundle[i - 1];
    }
    join_group(part, n);
  }
done:
  tg_release(&c->a, part);
  tg_release(&c->a, first);
  tg_release(&c->a, next);
  return status;
}

/* ---- halves of other names ------------------------------------------------------------------- */

static uint8_t lower(uint8_t c) { return c >= 'A' && c <= 'Z' ? (uint8_t)(c + 32) : c; }
static bool parts(uint8_t c) { return c != 0 && strchr("_./: []()<>\\", c) != NULL; }

/* The name of a bundle: the scope it lies in, and its own words. */
typedef struct part_name {
  const uint8_t *p;
  size_t scope, n;
} part_name;

static part_name name_of(const tg_capture *c, const cap_bundle *b) {
  const tg_str text = tg_intern_get(c->names, b->prefix);
  part_name out = {.p = text.p, .n = text.n};
  while (out.n > 0 && parts(text.p[out.n - 1])) out.n--;
  for (out.scope = out.n; out.scope > 0; out.scope--)
    if (text.p[out.scope - 1] == '.' || text.p[out.scope - 1] == '/') break;
  return out;
}

/* Letters of the words of `x` that `y` has, too. */
static size_t common_words(const part_name *x, const part_name *y) {
  size_t out = 0;
  for (size_t i = x->scope; i < x->n;) {
    size_t end = i;
    while (end < x->n && !parts(x->p[end])) end++;
    for (size_t k = y->scope; k + (end - i) <= y->n && end > i; k++) {
      size_t same = 0;
      while (same < end - i && lower(x->p[i + same]) == lower(y->p[k + same])) same++;
      const bool whole = (k == y->scope || parts(y->p[k - 1])) &&
                         (k + same == y->n || parts(y->p[k + same]));
      if (same < end - i || !whole) continue;
      out += same;
      break;
    }
    i = end + 1;
  }
  return out;
}

/* How like the names of two bundles are; 0 for those of different scopes. */
static size_t likeness(const tg_capture *c, const cap_bundle *a, const cap_bundle *b) {
  const part_name x = name_of(c, a), y = name_of(c, b);
  const size_t nx = x.n - x.scope, ny = y.n - y.scope, least = nx < ny ? nx : ny;
  size_t front = 0, back = 0;
  if (nx > LONG_NAME || ny > LONG_NAME) return 0;
  if (x.scope != y.scope || memcmp(x.p, y.p, x.scope) != 0 || a->suffix != b->suffix) return 0;
  while (front < least && lower(x.p[x.scope + front]) == lower(y.p[y.scope + front])) front++;
  while (back < least - front && lower(x.p[x.n - 1 - back]) == lower(y.p[y.n - 1 - back])) back++;
  return 1 + 2 * (common_words(&x, &y) + common_words(&y, &x)) + front + back;
}

/* Is each what the other lacks: one drives VALID where the other drives READY? */
static bool completes(const cap_bundle *a, const cap_bundle *b) {
  if (stands_alone(a) || stands_alone(b) || collides(a, b)) return false;
  for (unsigned ch = 0; ch < CH_COUNT; ch++) {
    const bool valid = a->sig[ch][LEAF_VALID] != CAP_NONE || b->sig[ch][LEAF_VALID] != CAP_NONE;
    const bool ready = a->sig[ch][LEAF_READY] != CAP_NONE || b->sig[ch][LEAF_READY] != CAP_NONE;
    if (valid != ready) return false;
  }
  return (a->half & b->half) != 0;
}

/* The one that completes `part[i]` and is more like it than any other, or CAP_NONE. */
static size_t best_of(const tg_capture *c, cap_bundle **part, size_t n, size_t i) {
  size_t best = CAP_NONE, most = 0;
  for (size_t k = 0; k < n; k++) {
    if (k == i || !completes(part[i], part[k])) continue;
    const size_t like = likeness(c, part[i], part[k]);
    if (like == most) best = CAP_NONE;
    if (like <= most) continue;
    most = like;
    best = k;
  }
  return best;
}

/* Joins halves that complete each other and no other as well. */
static void join_by_likeness(const tg_capture *c, cap_bundle **part, size_t n) {
  for (size_t i = 0; i < n; i++) {
    const size_t k = best_of(c, part, n, i);
    if (k == CAP_NONE || best_of(c, part, n, k) != i) continue;
    absorb(part[i]->matched >= part[k]->matched ? part[i] : part[k],
           part[i]->matched >= part[k]->matched ? part[k] : part[i]);
  }
}

/* Bytes of `word` at [at] of the name, letter case set aside. */
static bool has_word(const part_name *x, size_t at, const char *word) {
  const size_t n = strlen(word);
  if (at + n > x->n) return false;
  for (size_t i = 0; i < n; i++)
    if (lower(x->p[at + i]) != (uint8_t)word[i]) return false;
  return true;
}

/* Are the names equal but for `read` in one and `write` in the other, at the same place? */
static bool differ_by(const part_name *x, const part_name *y, const char *read, const char *write) {
  const size_t r = strlen(read), w = strlen(write);
  size_t at = 0;
  while (at < x->n && at < y->n && lower(x->p[at]) == lower(y->p[at])) at++;
  while (at > 0 && !(has_word(x, at, read) && has_word(y, at, write))) at--;
  if (at < x->scope || !has_word(x, at, read) || !has_word(y, at, write)) return false;
  if (x->n - at - r != y->n - at - w) return false;
  for (size_t i = 0; i < x->n - at - r; i++)
    if (lower(x->p[at + r + i]) != lower(y->p[at + w + i])) return false;
  return true;
}

static bool are_read_and_write(const tg_capture *c, const cap_bundle *a, const cap_bundle *b) {
  const unsigned reads = 1u << CH_AR | 1u << CH_R, writes = 1u << CH_AW | 1u << CH_W | 1u << CH_B;
  const part_name x = name_of(c, a), y = name_of(c, b);
  if (a->usable != reads || b->usable != writes || a->suffix != b->suffix) return false;
  return differ_by(&x, &y, "read", "write") || differ_by(&x, &y, "rd", "wr") ||
         differ_by(&x, &y, "r", "w");
}

/* Joins the reads and the writes of an interface (`mem_rd_axi`, `mem_wr_axi`). */
static void join_reads_and_writes(const tg_capture *c, cap_bundle **part, size_t n) {
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < n; k++)
      if (part[i]->matched > 0 && part[k]->matched > 0 && are_read_and_write(c, part[i], part[k]))
        absorb(part[k], part[i]);
}

/* Up to MOST_PARTS bundles, of halves or of others. */
static size_t collect(tg_capture *c, bool halves, cap_bundle **part) {
  size_t n = 0;
  for (size_t i = 0; i < c->n_bundle && n < MOST_PARTS; i++) {
    cap_bundle *b = &c->bundle[i];
    if (b->matched > 0 && (halves ? b->half != 0 : b->usable != 0)) part[n++] = b;
  }
  return n;
}

tg_status tg_cap_join_halves(tg_capture *c, uint32_t groups) {
  cap_bundle *part[MOST_PARTS];
  TG_TRY(join_groups(c, groups));
  join_by_likeness(c, part, collect(c, true, part));
  join_reads_and_writes(c, part, collect(c, false, part));
  return TG_OK;
}

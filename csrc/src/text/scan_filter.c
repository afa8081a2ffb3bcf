/* scan_filter.c - choice of windows and groups for the vector scans, and the exact check.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "scan_filter.h"

#include <stdbool.h>
#include <string.h>

#include "template.h"

#include "base/mem.h"

enum { GROUPS = 8, MAX_NEEDLES = 512 };

/* Candidates per byte of a common log beyond which the plain scan is faster. */
static const double most_candidates = 1.0 / 32;

static unsigned slot_of(const tg_filter *f, const uint8_t *p) {
  uint32_t w = (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16;
  if (f->window == TG_FILTER_WINDOW) w |= (uint32_t)p[3] << 24;
  return w * UINT32_C(0x9e3779b1) >> 20;
}

/* Roughly how often a byte stands in a console log; only the speed depends on it. */
static double byte_share(unsigned b) {
  if (b == ' ') return 0.14;
  if (b >= '0' && b <= '9') return 0.03;
  if (tg_is_one_of((uint8_t)b, "etaionrs")) return 0.04;
  if (b >= 'a' && b <= 'z') return 0.015;
  if (b >= 'A' && b <= 'Z') return 0.012;
  if (tg_is_one_of((uint8_t)b, ":.-_/,=[]()\t")) return 0.01;
  return 0.0005;
}

/* Words, numbers and shouting: bytes of one kind follow each other more often than chance. */
static int byte_kind(uint8_t b) {
  if (b >= '0' && b <= '9') return 0;
  if (b >= 'a' && b <= 'z') return 1;
  return b >= 'A' && b <= 'Z' ? 2 : 3;
}

/* The chance that a window passes as group g. */
static double group_share(const tg_masks *m, size_t window, const double share[128], unsigned g) {
  double product = 1;
  for (size_t k = 0; k < window; k++) {
    double sum = 0;
    for (unsigned b = 0; b < 128; b++)
      if ((m->low[k][b & 15] & m->high[k][b >> 4]) >> g & 1) sum += share[b];
    product *= sum;
  }
  return product;
}

static tg_masks with_window(const tg_masks *m, const uint8_t *p, size_t window, unsigned g) {
  tg_masks wider = *m;
  for (size_t k = 0; k < window; k++) {
    wider.low[k][p[k] & 15] |= (uint8_t)(1u << g);
    wider.high[k][p[k] >> 4] |= (uint8_t)(1u << g);
  }
  return wider;
}

/* The chance that exactly these bytes stand somewhere; above 1: not for the filter. */
static double window_share(const uint8_t *p, size_t window, const double share[128]) {
  double product = 1;
  for (size_t k = 0; k < window; k++) {
    if (p[k] >= 128 || p[k] == '\n') return 2;
    const bool turn = k > 0 && byte_kind(p[k]) != byte_kind(p[k - 1]);
    product *= turn ? share[p[k]] / 4 : share[p[k]];
  }
  return product;
}

/* The rarest window of the needle; false: it has none that the filter can take. */
static bool choose_window(const tg_filter *f, const tg_str *needle, const double share[128],
                          uint32_t *offset) {
  double best = 1;
  if (needle->n > UINT32_MAX || memchr(needle->p, '\n', needle->n) != NULL) return false;
  for (size_t i = 0; i + f->window <= needle->n; i++) {
    const double product = window_share(needle->p + i, f->window, share);
    if (product >= best) continue;
    best = product;
    *offset = (uint32_t)i;
  }
  return best < 1;
}

/* Puts the window into the group where it lets least more pass. */
static void join_group(tg_filter *f, const uint8_t *p, const double share[128]) {
  double least = 2;
  tg_masks chosen = f->masks;
  for (unsigned g = 0; g < GROUPS; g++) {
    const tg_masks wider = with_window(&f->masks, p, f->window, g);
    const double more =
        group_share(&wider, f->window, share, g) - group_share(&f->masks, f->window, share, g);
    if (more >= least) continue;
    least = more;
    chosen = wider;
  }
  f->masks = chosen;
}

static bool fits_filter(const tg_str *needle, size_t n, size_t *window) {
  *window = TG_FILTER_WINDOW;
  for (size_t i = 0; i < n; i++) {
    if (needle[i].n < TG_FILTER_SHORT) return false;
    if (needle[i].n < TG_FILTER_WINDOW) *window = TG_FILTER_SHORT;
  }
  return n > 0 && n <= MAX_NEEDLES;
}

/* Sorts the entries by slot, needles of one slot in their order. `entries` is as long as `out`. */
static void fill_slots(tg_filter *f, const tg_str *needle, const tg_filter_entry *entries,
                       size_t n) {
  for (size_t i = 0; i < n; i++) f->first[slot_of(f, needle[i].p + entries[i].offset) + 1]++;
  for (size_t k = 0; k < TG_FILTER_SLOTS; k++) f->first[k + 1] += f->first[k];
  for (size_t i = n; i-- > 0;) { /* from the end of each slot: first[slot + 1] moves down ... */
    const unsigned slot = slot_of(f, needle[i].p + entries[i].offset);
    f->entries[--f->first[slot + 1]] = entries[i];
  }
  /* ... to where the slot begins, so that each holds its own first now, one place too far */
  memmove(f->first, f->first + 1, TG_FILTER_SLOTS * sizeof *f->first);
  f->first[TG_FILTER_SLOTS] = (uint32_t)n;
}

tg_status tg_filter_new(const tg_alloc *a, const tg_str *needle, size_t n, tg_filter **out) {
  double share[128], candidates = 0;
  tg_filter_entry *entries = NULL;
  tg_filter *f = NULL;
  size_t window = 0;
  if (!fits_filter(needle, n, &window)) return TG_EUNSUPPORTED;
  for (unsigned b = 0; b < 128; b++) share[b] = byte_share(b);
  tg_status status = TG_ENOMEM;
  if ((f = tg_zalloc(a, 1, sizeof *f)) == NULL) goto fail;
  if ((f->entries = tg_zalloc(a, n, sizeof *f->entries)) == NULL) goto fail;
  if ((entries = tg_zalloc(a, n, sizeof *entries)) == NULL) goto fail;
  status = TG_EUNSUPPORTED;
  f->window = window;
  for (size_t i = 0; i < n; i++) {
    entries[i].needle = (uint32_t)i;
    if (!choose_window(f, &needle[i], share, &entries[i].offset)) goto fail;
    join_group(f, needle[i].p + entries[i].offset, share);
  }
  for (unsigned g = 0; g < GROUPS; g++) candidates += group_share(&f->masks, window, share, g);
  if (candidates > most_candidates) goto fail;
  fill_slots(f, needle, entries, n);
  tg_release(a, entries);
  *out = f;
  return TG_OK;
fail:
  tg_release(a, entries);
  tg_filter_free(a, f);
  return status;
}

void tg_filter_free(const tg_alloc *a, tg_filter *f) {
  if (f == NULL) return;
  tg_release(a, f->entries);
  tg_release(a, f);
}

tg_status tg_filter_check(const tg_scanner *s, const uint8_t *p, size_t n, size_t at, size_t lines,
                          tg_hits *out) {
  const tg_filter *f = s->filter;
  const unsigned slot = slot_of(f, p + at);
  for (uint32_t k = f->first[slot]; k < f->first[slot + 1]; k++) {
    const tg_filter_entry e = f->entries[k];
    const tg_str *needle = &s->plain[e.needle];
    if (at < e.offset || n - (at - e.offset) < needle->n) continue;
    if (memcmp(p + (at - e.offset), needle->p, needle->n) != 0) continue;
    const tg_status status = tg_hits_push(out, at - e.offset, e.needle, lines);
    if (status != TG_OK) return status;
  }
  return TG_OK;
}

tg_status tg_filter_tail(const tg_scanner *s, const uint8_t *p, size_t n, size_t at, tg_hits *out) {
  for (; at < n; at++) {
    if (n - at >= s->filter->window) {
      const tg_status status = tg_filter_check(s, p, n, at, out->lines, out);
      if (status != TG_OK) return status;
    }
    out->lines += p[at] == '\n';
    out->escapes = out->escapes || p[at] == 0x1b;
    out->returns = out->returns || p[at] == '\r';
  }
  return TG_OK;
}

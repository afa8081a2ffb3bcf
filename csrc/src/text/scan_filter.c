/* scan_filter.c - choice of windows and groups for the vector scans, and the exact check.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "scan_filter.h"

#include "base/mem.h"
#include "template.h"

enum { GROUPS = 8, MAX_NEEDLES = 512, PLACES = TG_FILTER_WINDOW, LONG = 16 };

/* A window in a common word costs as much as 4/1024 candidates a byte more. */
static const double common = 4;

/* Candidates per byte of a common log beyond which the plain scan is faster. */
static const double most_candidates = 1.0 / 4;

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

/* One place of one group: the nibbles that pass, their share of a common log, and by how much
 * each further nibble would widen it. */
typedef struct place {
  bool low[16], high[16];
  double by_low[16], by_high[16], share;
} place;

typedef struct chooser {
  double share[16][16]; /* of the byte with that high and low nibble */
  place places[GROUPS][PLACES];
  double passes[GROUPS]; /* the product of a group's shares */
} chooser;

/* The share of a place once byte `b` passes too. */
static double widened(const chooser *c, const place *w, uint8_t b) {
  const unsigned l = b & 15, h = b >> 4;
  double sum = w->share;
  if (!w->low[l]) sum += w->by_low[l];
  if (!w->high[h]) sum += w->by_high[h];
  if (!w->low[l] && !w->high[h]) sum += c->share[h][l];
  return sum;
}

static void widen(const chooser *c, place *w, uint8_t b) {
  const unsigned l = b & 15, h = b >> 4;
  w->share = widened(c, w, b);
  for (unsigned i = 0; i < 16; i++) {
    if (!w->low[l]) w->by_high[i] += c->share[i][l];
    if (!w->high[h]) w->by_low[i] += c->share[h][i];
  }
  w->low[l] = true;
  w->high[h] = true;
}

static void widen_fully(const chooser *c, place *w) {
  for (unsigned i = 0; i < 16; i++) widen(c, w, (uint8_t)(i * 17));
  w->share = 1;
}

/* How much more passes once the `n` bytes at `p` are a window of group `g`, any bytes behind. */
static double cost_of(const chooser *c, unsigned g, const uint8_t *p, size_t n) {
  double after = 1;
  for (size_t k = 0; k < n; k++) after *= widened(c, &c->places[g][k], p[k]);
  return after - c->passes[g];
}

/* Words that the consoles of kernels and firmware repeat: the needles of a window in one of them
 * would be compared on many lines. Only the speed depends on it. */
static const char common_words[] =
    " registered initialized enabled disabled detected devices driver number version memory pages "
    "address features table entries order bytes linear cache type host generic kernel size found "
    "family support resource allocated using system root default available domain timer thermal "
    "console interface bridge probing loaded failed service services started called after from "
    "with init initialised callback clock clocksource power serial mode mask value index status "
    "error running test return returned cpu_ begin: time times total state ready done usb pci bus ";

static bool is_common(const uint8_t *p, size_t n) {
  const char *at = common_words, *const end = common_words + sizeof common_words - 1;
  while ((at = memchr(at, p[0], (size_t)(end - at))) != NULL && (size_t)(end - at) >= n) {
    if (memcmp(at, p, n) == 0) return true;
    at++;
  }
  return false;
}

/* The chance of exactly these bytes. Words, numbers and shouting keep to their kind: a turn from
 * one to the other is rare. */
static double rarity(const chooser *c, const uint8_t *p, size_t n) {
  double product = 1;
  if (is_common(p, n)) return common;
  for (size_t k = 0; k < n; k++) {
    product *= c->share[p[k] >> 4][p[k] & 15];
    if (k > 0 && (p[k] ^ p[k - 1]) >= 0x20) product /= 4;
  }
  return product;
}

/* Chooses window and group of a needle, so that least more passes. */
static uint32_t place_needle(chooser *c, const tg_str *needle) {
  const size_t n = needle->n < PLACES ? needle->n : PLACES;
  double least = 2;
  unsigned group = 0;
  uint32_t offset = 0;
  for (size_t i = 0; i + n <= needle->n && i < UINT32_MAX; i++) {
    const double rare = rarity(c, needle->p + i, n) / 1024;
    for (unsigned g = 0; g < GROUPS; g++) {
      const double cost = cost_of(c, g, needle->p + i, n) + rare;
      if (cost >= least) continue;
      least = cost;
      group = g;
      offset = (uint32_t)i;
    }
  }
  for (size_t k = 0; k < PLACES; k++) {
    if (k < n) {
      widen(c, &c->places[group][k], needle->p[offset + k]);
    } else {
      widen_fully(c, &c->places[group][k]);
    }
  }
  c->passes[group] = 1;
  for (size_t k = 0; k < PLACES; k++) c->passes[group] *= c->places[group][k].share;
  return offset;
}

/* Those with few windows to choose from first. */
static void place_needles(chooser *c, const tg_str *needle, uint32_t *offsets, size_t n) {
  for (size_t size = 1; size <= LONG; size++) {
    for (size_t i = 0; i < n; i++)
      if (needle[i].n == size || (size == LONG && needle[i].n > size))
        offsets[i] = place_needle(c, &needle[i]);
  }
}

static void fill_masks(const chooser *c, tg_masks *m) {
  for (unsigned g = 0; g < GROUPS; g++) {
    for (size_t k = 0; k < PLACES; k++) {
      for (unsigned i = 0; i < 16; i++) {
        m->low[k][i] |= (uint8_t)(c->places[g][k].low[i] << g);
        m->high[k][i] |= (uint8_t)(c->places[g][k].high[i] << g);
      }
    }
  }
}

static double candidates_of(const chooser *c) {
  double sum = 0;
  for (unsigned g = 0; g < GROUPS; g++) sum += c->passes[g];
  return sum;
}

static bool is_short(const tg_str *needle) { return needle->n < TG_FILTER_WINDOW; }

/* Notes a needle that is shorter than a window. Unused pairs repeat one that is used. */
static void note_short(tg_filter *f, const tg_str *needle) {
  tg_short pair = {0, 0};
  const size_t k = f->n_short++;
  memset(&pair.mask, 0xff, needle->n);
  memcpy(&pair.bytes, needle->p, needle->n);
  if (k >= TG_FILTER_SHORT) f->begins[needle->p[0] / 64] |= UINT64_C(1) << (needle->p[0] % 64);
  for (size_t i = k; i < TG_FILTER_SHORT; i++) f->pairs[i] = pair;
}

/* Sorts the entries by slot, those of one slot and the short ones in the order of the needles.
 * `offsets` are the windows'. */
static void fill_slots(tg_filter *f, const tg_str *needle, const uint32_t *offsets, size_t n) {
  size_t n_short = 0;
  for (size_t i = 0; i < n; i++) {
    if (is_short(&needle[i])) {
      note_short(f, &needle[i]);
      continue;
    }
    const uint32_t bit = tg_filter_bit(needle[i].p + offsets[i]);
    f->first[tg_filter_slot(needle[i].p + offsets[i]) + 1]++;
    f->used[bit / 64] |= UINT64_C(1) << (bit % 64);
    f->n_long++;
  }
  for (size_t k = 0; k < TG_FILTER_SLOTS; k++) f->first[k + 1] += f->first[k];
  for (size_t i = n; i-- > 0;) { /* from the end of each slot: first[slot + 1] moves down ... */
    const tg_filter_entry e = {(uint32_t)i, offsets[i]};
    if (is_short(&needle[i])) {
      f->entries[n - ++n_short] = e;
    } else {
      f->entries[--f->first[tg_filter_slot(needle[i].p + offsets[i]) + 1]] = e;
    }
  }
  /* ... to where the slot begins, so that each holds its own first now, one place too far */
  memmove(f->first, f->first + 1, TG_FILTER_SLOTS * sizeof *f->first);
  f->first[TG_FILTER_SLOTS] = (uint32_t)f->n_long;
}

static bool fits_filter(const tg_str *needle, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (needle[i].n > UINT32_MAX || memchr(needle[i].p, '\n', needle[i].n) != NULL) return false;
  return n > 0 && n <= MAX_NEEDLES;
}

tg_status tg_filter_new(const tg_alloc *a, const tg_str *needle, size_t n, tg_filter **out) {
  if (!fits_filter(needle, n)) return TG_EUNSUPPORTED;
  uint32_t *offsets = NULL;
  tg_filter *f = NULL;
  tg_status status = TG_ENOMEM;
  chooser *c = tg_zalloc(a, 1, sizeof *c);
  if (c == NULL) goto fail;
  if ((f = tg_zalloc(a, 1, sizeof *f)) == NULL) goto fail;
  if ((f->entries = tg_zalloc(a, n, sizeof *f->entries)) == NULL) goto fail;
  if ((offsets = tg_zalloc(a, n, sizeof *offsets)) == NULL) goto fail;
  for (unsigned b = 0; b < 256; b++) c->share[b >> 4][b & 15] = byte_share(b);
  place_needles(c, needle, offsets, n);
  status = TG_EUNSUPPORTED;
  if (candidates_of(c) > most_candidates) goto fail;
  fill_masks(c, &f->masks);
  fill_slots(f, needle, offsets, n);
  tg_release(a, offsets);
  tg_release(a, c);
  *out = f;
  return TG_OK;
fail:
  tg_release(a, offsets);
  tg_release(a, c);
  tg_filter_free(a, f);
  return status;
}

void tg_filter_free(const tg_alloc *a, tg_filter *f) {
  if (f == NULL) return;
  tg_release(a, f->entries);
  tg_release(a, f);
}

/* Adds the needle of the entry if it stands where its window is at `at`. */
static tg_status check_entry(const tg_scanner *s, const uint8_t *p, size_t n, size_t at,
                             size_t lines, tg_filter_entry e, tg_hits *out) {
  const tg_str *needle = &s->plain[e.needle];
  if (at < e.offset || n - (at - e.offset) < needle->n) return TG_OK;
  const uint8_t *q = p + (at - e.offset);
  if (q[0] != needle->p[0] || memcmp(q, needle->p, needle->n) != 0) return TG_OK;
  return tg_hits_push(out, at - e.offset, e.needle, lines);
}

tg_status tg_filter_check(const tg_scanner *s, const uint8_t *p, size_t n, size_t at, size_t lines,
                          tg_hits *out) {
  const tg_filter *f = s->filter;
  tg_status status = TG_OK;
  const bool whole = n - at >= TG_FILTER_WINDOW; /* else all short ones are asked for */
  const bool begins = f->n_short > 0 && (!whole || tg_filter_short(f, p + at));
  for (size_t k = f->n_long; begins && k < f->n_long + f->n_short && status == TG_OK; k++)
    status = check_entry(s, p, n, at, lines, f->entries[k], out);
  if (!whole) return status;
  const uint32_t slot = tg_filter_slot(p + at);
  for (uint32_t k = f->first[slot]; k < f->first[slot + 1] && status == TG_OK; k++)
    status = check_entry(s, p, n, at, lines, f->entries[k], out);
  return status;
}

tg_status tg_filter_tail(const tg_scanner *s, const uint8_t *p, size_t n, size_t at, tg_hits *out) {
  for (; at < n; at++) {
    const tg_status status = tg_filter_check(s, p, n, at, out->lines, out);
    if (status != TG_OK) return status;
    out->lines += p[at] == '\n';
    out->escapes = out->escapes || p[at] == 0x1b;
    out->returns = out->returns || p[at] == '\r';
  }
  return TG_OK;
}

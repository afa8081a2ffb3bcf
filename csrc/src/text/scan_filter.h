/* scan_filter.h - the common part of the vector scans: for every needle four of its bytes, told
 * apart eight ways by their nibbles, and a table that names the needles of a candidate.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TICKGAUGE_TEXT_SCAN_FILTER_H
#define TICKGAUGE_TEXT_SCAN_FILTER_H

#include <string.h>

#include "scanner.h"

#define TG_FILTER_WINDOW 4
#define TG_FILTER_SLOTS 4096
#define TG_FILTER_BITS 65536 /* more than slots, so that few words share one with a needle */
#define TG_FILTER_SHORT 4 /* needles shorter than a window that are told apart by all their bytes \
                           */

typedef struct tg_filter_entry {
  uint32_t needle;
  uint32_t offset; /* of the window in the needle */
} tg_filter_entry;

/* Byte b may stand at place k of the window of a needle of group g only if bit g is set in both
 * low[k][b % 16] and high[k][b / 16]. Bytes that pass at all places of one group
 * are a candidate. */
typedef struct tg_masks {
  uint8_t low[TG_FILTER_WINDOW][16], high[TG_FILTER_WINDOW][16];
} tg_masks;

/* Four bytes w begin with a needle if (w & mask) == bytes. */
typedef struct tg_short {
  uint32_t mask, bytes;
} tg_short;

/* entries[first[slot] .. first[slot+1]) are the needles whose window has that slot; it has a bit in
 * `used`. entries[n_long .. n_long + n_short) are needles shorter than a window. */
typedef struct tg_filter {
  tg_masks masks;
  uint64_t used[TG_FILTER_BITS / 64];
  tg_short pairs[TG_FILTER_SHORT]; /* of short ones; the last again where there are fewer */
  uint64_t begins[4];              /* the first bytes of further ones: a set of bytes */
  size_t n_long, n_short;
  tg_filter_entry *entries;
  uint32_t first[TG_FILTER_SLOTS + 1];
} tg_filter;

/* Chooses windows and groups. TG_OK; TG_ENOMEM; TG_EUNSUPPORTED: the set is not for this filter
 * (no needle, one that begins with or holds a line end, or so many that too much would pass).
 * `*out` goes back with tg_filter_free. */
tg_status tg_filter_new(const tg_alloc *a, const tg_str *needle, size_t n, tg_filter **out);
void tg_filter_free(const tg_alloc *a, tg_filter *f);

/* The bit of the window at `p` in `used`; its slot is what tg_filter_slot makes of that. */
static inline uint32_t tg_filter_bit(const uint8_t *p) {
  uint32_t w;
  memcpy(&w, p, sizeof w);
  return w * UINT32_C(0x9e3779b1) >> 16;
}

static inline uint32_t tg_filter_slot(const uint8_t *p) { return tg_filter_bit(p) >> 4; }

/* True where a needle shorter than a window may stand at `p`, of which four bytes can be read. */
static inline bool tg_filter_short(const tg_filter *f, const uint8_t *p) {
  uint32_t w;
  bool any = (f->begins[*p / 64] >> (*p % 64) & 1) != 0;
  memcpy(&w, p, sizeof w);
  for (size_t k = 0; k < TG_FILTER_SHORT; k++) any |= (w & f->pairs[k].mask) == f->pairs[k].bytes;
  return any;
}

/* False where no needle can have its window at `p`, of which four bytes can be read. */
static inline bool tg_filter_may(const tg_filter *f, const uint8_t *p) {
  const uint32_t bit = tg_filter_bit(p);
  if ((f->used[bit / 64] >> (bit % 64) & 1) != 0) return true;
  return f->n_short > 0 && tg_filter_short(f, p);
}

/* Looks which needles have their window at `at` < n and adds those that stand there; `lines` is
 * the number of line ends before `at`. TG_OK, TG_ENOMEM. */
tg_status tg_filter_check(const tg_scanner *s, const uint8_t *p, size_t n, size_t at, size_t lines,
                          tg_hits *out);

/* The scan of the last bytes, from `at` on, one by one; out->lines, escapes and returns hold the
 * state before. TG_OK, TG_ENOMEM. */
tg_status tg_filter_tail(const tg_scanner *s, const uint8_t *p, size_t n, size_t at, tg_hits *out);

#endif

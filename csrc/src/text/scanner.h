/* scanner.h - finds all needles of a set in one pass. SPDX-License-Identifier: BSD-3-Clause */
#ifndef TICKGAUGE_TEXT_SCANNER_H
#define TICKGAUGE_TEXT_SCANNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tickgauge/alloc.h"
#include "tickgauge/intern.h"
#include "tickgauge/status.h"

/* A place where a needle begins, and the number of line ends (LF) before it. */
typedef struct tg_hit {
  size_t at;
  size_t needle;
  size_t lines;
} tg_hit;

typedef struct tg_hits {
  tg_alloc alloc;
  tg_hit *v;
  size_t n, cap;
  size_t lines; /* line ends in all that was scanned last */
  bool escapes, returns; /* whether there was an ESC, a CR in it */
} tg_hits;

typedef struct tg_scanner tg_scanner;

/* Appends every place of every needle in [p, p+n), overlapping ones too, ascending by place and
 * then by needle, and sets `out->lines`, `escapes` and `returns`. TG_OK, TG_ENOMEM. */
typedef tg_status (*tg_scan_fn)(const tg_scanner *s, const uint8_t *p, size_t n, tg_hits *out);

#define TG_SCAN_SLOTS 4096

/* The compiled set. A candidate is a place where the two bytes in front of `window` bytes hash to
 * a slot whose shift is 0; its needles are needle[first[slot] .. first[slot+1]). */
struct tg_scanner {
  tg_alloc alloc;
  tg_scan_fn scan; /* chosen when the set is made; every choice gives the same hits */
  struct tg_filter *filter; /* of the vector scans; NULL: they cannot take this set */
  tg_str *plain;            /* the needles in the caller's order */
  tg_str *needle;  /* sorted by slot, then by index; bytes belong to the caller */
  uint32_t *index; /* the caller's number of each */
  size_t n;
  size_t window; /* the length of the shortest needle, at most 16 */
  uint8_t shift[TG_SCAN_SLOTS];
  uint32_t first[TG_SCAN_SLOTS + 1];
};

/* `needle` (none empty) must outlive the scanner. The fastest scan of this processor is taken, or
 * the one that TICKGAUGE_SIMD names: portable, ssse3, avx2, avx512, neon.
 * TG_OK, TG_ENOMEM, TG_EINVAL, TG_EUNSUPPORTED (that name is not one of this processor). */
tg_status tg_scanner_new(const tg_alloc *a, const tg_str *needle, size_t n, tg_scanner **out);
void tg_scanner_free(tg_scanner *s);

/* Takes another scan. A set that the filter of the vector scans cannot take stays with the
 * portable one. TG_OK, TG_EUNSUPPORTED. */
tg_status tg_scanner_select(tg_scanner *s, const char *name);

/* The portable scan, the twin that faster ones are tested against. */
tg_status tg_scan_portable(const tg_scanner *s, const uint8_t *p, size_t n, tg_hits *out);

/* Adds a hit in its place: it may belong before the last ones, but not by much.
 * TG_OK, TG_ENOMEM. */
tg_status tg_hits_push(tg_hits *h, size_t at, size_t needle, size_t lines);

/* How many bytes of [p, p+n) are `c`. */
size_t tg_count_byte(const uint8_t *p, size_t n, uint8_t c);

#endif

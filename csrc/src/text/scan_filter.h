/* scan_filter.h - what the vector scans share: for every needle four of its bytes, told apart
 * eight ways by their nibbles, and a table that names the needles of a candidate.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TICKGAUGE_TEXT_SCAN_FILTER_H
#define TICKGAUGE_TEXT_SCAN_FILTER_H

#include "scanner.h"

#define TG_FILTER_WINDOW 4
#define TG_FILTER_SHORT 3 /* where the shortest needle has no more */
#define TG_FILTER_SLOTS 4096

typedef struct tg_filter_entry {
  uint32_t needle;
  uint32_t offset; /* of the window in the needle */
} tg_filter_entry;

/* Byte b may stand at place k of the window of a needle of group g only if bit g is set in both
 * low[k][b % 16] and high[k][b / 16]. What passes at all places of one group is a
 * candidate. No byte from 128 on passes. */
typedef struct tg_masks {
  uint8_t low[TG_FILTER_WINDOW][16], high[TG_FILTER_WINDOW][16];
} tg_masks;

/* entries[first[slot] .. first[slot+1]) are the needles whose window has that slot. */
typedef struct tg_filter {
  tg_masks masks;
  size_t window; /* TG_FILTER_WINDOW or TG_FILTER_SHORT */
  uint32_t first[TG_FILTER_SLOTS + 1];
  tg_filter_entry *entries; /* as many as needles */
} tg_filter;

/* Chooses windows and groups. TG_OK; TG_ENOMEM; TG_EUNSUPPORTED: the set is not for this filter
 * (a needle shorter than TG_FILTER_SHORT, without as many ASCII bytes in a row as the window, or
 * with a line end; so many needles that too much would pass). `*out` goes back with tg_filter_free.
 */
tg_status tg_filter_new(const tg_alloc *a, const tg_str *needle, size_t n, tg_filter **out);
void tg_filter_free(const tg_alloc *a, tg_filter *f);

/* Looks whether needles have their window at `at` (n - at >= window) and adds those that stand
 * there; `lines` is the number of line ends before `at`. TG_OK, TG_ENOMEM. */
tg_status tg_filter_check(const tg_scanner *s, const uint8_t *p, size_t n, size_t at, size_t lines,
                          tg_hits *out);

/* The scan of the last bytes, from `at` on, one by one; out->lines, escapes and returns hold what
 * was before. TG_OK, TG_ENOMEM. */
tg_status tg_filter_tail(const tg_scanner *s, const uint8_t *p, size_t n, size_t at,
                         tg_hits *out);

#endif

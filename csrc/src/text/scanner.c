/* scanner.c - many needles in one pass: skips by the two-byte blocks that end a window
 * (Wu and Manber, 1994). SPDX-License-Identifier: BSD-3-Clause */
#include "scanner.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "scan_filter.h"
#include "scan_vector.h"

#define TG_MAX_WINDOW 16

static unsigned slot_of(uint8_t a, uint8_t b) {
  return (((unsigned)a << 4) ^ (unsigned)b ^ ((unsigned)a >> 4)) & (TG_SCAN_SLOTS - 1);
}

/* The slot of the block that ends at byte `last` of `p`; the block of a window of one byte. */
static unsigned hash_block(const tg_scanner *s, const uint8_t *p, size_t last) {
  return s->window == 1 ? p[last] : slot_of(p[last - 1], p[last]);
}

/* Shift and bucket tables over the first `window` bytes of every needle. */
static void fill_tables(tg_scanner *s, const tg_str *needle) {
  size_t block = s->window == 1 ? 1 : 2;
  memset(s->shift, (int)(s->window - block + 1), sizeof s->shift);
  for (size_t i = 0; i < s->n; i++) {
    for (size_t last = block - 1; last < s->window; last++) {
      unsigned slot = hash_block(s, needle[i].p, last);
      uint8_t shift = (uint8_t)(s->window - 1 - last);
      if (shift < s->shift[slot]) s->shift[slot] = shift;
    }
    s->first[hash_block(s, needle[i].p, s->window - 1) + 1]++;
  }
  for (size_t k = 0; k < TG_SCAN_SLOTS; k++) s->first[k + 1] += s->first[k];
  uint32_t *next = s->first; /* counting sort: first[slot] moves up and is put back after */
  for (size_t i = 0; i < s->n; i++) {
    uint32_t at = next[hash_block(s, needle[i].p, s->window - 1)]++;
    s->needle[at] = needle[i];
    s->index[at] = (uint32_t)i;
  }
  memmove(s->first + 1, s->first, TG_SCAN_SLOTS * sizeof *s->first);
  s->first[0] = 0;
}

/* NULL: this build or this processor has no such scan. */
static tg_scan_fn scan_named(const char *name) {
  if (strcmp(name, "portable") == 0) return tg_scan_portable;
  const tg_scan_fn x86 = tg_scan_x86(name);
  return x86 != NULL ? x86 : tg_scan_neon(name);
}

tg_status tg_scanner_select(tg_scanner *s, const char *name) {
  const tg_scan_fn scan = scan_named(name);
  if (scan == NULL) return TG_EUNSUPPORTED;
  s->scan = s->filter != NULL ? scan : tg_scan_portable;
  return TG_OK;
}

static tg_status choose_scan(tg_scanner *s) {
  static const char *const fastest_first[] = {"avx512", "avx2", "ssse3", "neon", "portable"};
  const char *wanted = getenv("TICKGAUGE_SIMD");
  if (wanted != NULL && wanted[0] != '\0') return tg_scanner_select(s, wanted);
  size_t i = 0;
  while (tg_scanner_select(s, fastest_first[i]) != TG_OK) i++;
  return TG_OK;
}

tg_status tg_scanner_new(const tg_alloc *a, const tg_str *needle, size_t n, tg_scanner **out) {
  if (a == NULL) a = tg_alloc_default();
  if (n > INT32_MAX) return TG_EINVAL; /* their numbers have 32 bits */
  tg_scanner *s = tg_zalloc(a, 1, sizeof *s);
  if (s == NULL) return TG_ENOMEM;
  s->alloc = *a;
  s->n = n;
  s->window = TG_MAX_WINDOW;
  tg_status status = TG_ENOMEM;
  s->needle = tg_take(a, n + 1, sizeof *s->needle);
  s->index = tg_take(a, n + 1, sizeof *s->index);
  s->plain = tg_take(a, n + 1, sizeof *s->plain);
  if (s->needle == NULL || s->index == NULL || s->plain == NULL) goto fail;
  for (size_t i = 0; i < n; i++) {
    status = TG_EINVAL;
    if (needle[i].n == 0) goto fail;
    if (needle[i].n < s->window) s->window = needle[i].n;
  }
  if (n > 0) memcpy(s->plain, needle, n * sizeof *needle);
  fill_tables(s, needle);
  status = tg_filter_new(a, s->plain, n, &s->filter);
  if (status == TG_ENOMEM) goto fail;
  status = choose_scan(s);
  if (status != TG_OK) goto fail;
  *out = s;
  return TG_OK;
fail:
  tg_scanner_free(s);
  return status;
}

void tg_scanner_free(tg_scanner *s) {
  if (s == NULL) return;
  tg_alloc a = s->alloc;
  tg_release(&a, s->needle);
  tg_release(&a, s->index);
  tg_release(&a, s->plain);
  tg_filter_free(&a, s->filter);
  tg_release(&a, s);
}

/* Compares the needles of a slot at `at`, in the caller's order; `*counted` is where the line ends
 * counted so far, `*lines`, end. */
static tg_status check_slot(const tg_scanner *s, unsigned slot, const uint8_t *p, size_t n,
                               size_t at, size_t *counted, size_t *lines, tg_hits *out) {
  for (uint32_t k = s->first[slot]; k < s->first[slot + 1]; k++) {
    const tg_str *needle = &s->needle[k];
    if (n - at < needle->n || p[at] != needle->p[0]) continue;
    if (memcmp(p + at, needle->p, needle->n) != 0) continue;
    *lines += tg_count_byte(p + *counted, at - *counted, '\n');
    *counted = at;
    tg_status status = tg_hits_push(out, at, s->index[k], *lines);
    if (status != TG_OK) return status;
  }
  return TG_OK;
}

tg_status tg_scan_portable(const tg_scanner *s, const uint8_t *p, size_t n, tg_hits *out) {
  size_t counted = 0, lines = 0;
  for (size_t last = s->n > 0 ? s->window - 1 : n; last < n;) {
    unsigned slot = hash_block(s, p, last);
    if (s->shift[slot] > 0) {
      last += s->shift[slot];
      continue;
    }
    tg_status status = check_slot(s, slot, p, n, last + 1 - s->window, &counted, &lines, out);
    if (status != TG_OK) return status;
    last++;
  }
  out->lines = lines + tg_count_byte(p + counted, n - counted, '\n');
  out->escapes = n > 0 && memchr(p, 0x1b, n) != NULL;
  out->returns = n > 0 && memchr(p, '\r', n) != NULL;
  return TG_OK;
}

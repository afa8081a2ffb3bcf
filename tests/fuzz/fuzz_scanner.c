/* fuzz_scanner.c - every scan of this processor against a search needle by needle. The first lines,
 * up to eight and up to an empty one, are the needles, the rest is searched.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "text/scanner.h"

#include "fuzz.h"

#define FUZZ_NEEDLES 8

/* The hits, the line ends before each, and the totals are those of a plain search. */
static void fuzz_hits(const tg_hits *hits, const tg_str *needle, size_t n_needles,
                      const uint8_t *p, size_t n) {
  size_t k = 0;
  size_t lines = 0;
  bool escapes = false;
  bool returns = false;
  for (size_t at = 0; at < n; at++) {
    for (size_t i = 0; i < n_needles; i++) {
      if (n - at < needle[i].n || memcmp(p + at, needle[i].p, needle[i].n) != 0) continue;
      FUZZ_CHECK(k < hits->n && hits->v[k].at == at && hits->v[k].needle == i);
      FUZZ_CHECK(hits->v[k].lines == lines);
      k++;
    }
    lines += p[at] == '\n';
    escapes = escapes || p[at] == 0x1b;
    returns = returns || p[at] == '\r';
  }
  FUZZ_CHECK(k == hits->n && hits->lines == lines);
  FUZZ_CHECK(hits->escapes == escapes && hits->returns == returns);
  FUZZ_CHECK(tg_count_byte(p, n, '\n') == lines);
}

int fuzz_scanner(const uint8_t *p, size_t n) {
  static const char *const scans[] = {"portable", "ssse3", "avx2", "avx512", "neon"};
  tg_str needle[FUZZ_NEEDLES];
  size_t n_needles = 0;
  tg_scanner *s = NULL;
  while (n > 0 && n_needles < FUZZ_NEEDLES) {
    const uint8_t *lf = memchr(p, '\n', n);
    const size_t len = lf != NULL ? (size_t)(lf - p) : n;
    if (len > 0) needle[n_needles++] = (tg_str){p, len};
    p += len + (lf != NULL);
    n -= len + (lf != NULL);
    if (len == 0) break;
  }
  FUZZ_CHECK(tg_scanner_new(NULL, needle, n_needles, &s) == TG_OK);
  uint8_t *copy = malloc(n > 0 ? n : 1);
  FUZZ_CHECK(copy != NULL);
  if (n > 0) memcpy(copy, p, n);
  for (size_t i = 0; i < sizeof scans / sizeof scans[0]; i++) {
    tg_hits hits = {.alloc = *tg_alloc_default()};
    if (tg_scanner_select(s, scans[i]) != TG_OK) continue;
    FUZZ_CHECK(s->scan(s, copy, n, &hits) == TG_OK);
    fuzz_hits(&hits, needle, n_needles, copy, n);
    free(hits.v);
  }
  free(copy);
  tg_scanner_free(s);
  return 0;
}

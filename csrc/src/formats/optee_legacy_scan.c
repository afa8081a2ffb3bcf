/* optee_legacy_scan.c - finds the ends of tags, portable and with AVX2.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "formats/optee_legacy_scan.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#if defined(__GNUC__) && defined(__x86_64__)
#define TG_LEGACY_AVX2 1
#include <immintrin.h>
#endif

static bool ends_a_tag(uint8_t c) {
  return c == 'd' || c == 'e' || c == 'l' || c == 'n' || c == 'r' || c == 'y';
}

const uint8_t *tg_legacy_find_portable(const uint8_t *p, const uint8_t *end) {
  while (p < end) {
    const uint8_t *colon = memchr(p, ':', (size_t)(end - p));
    if (colon == NULL) return end;
    if (ends_a_tag(colon[-1]) && (colon + 1 == end || colon[1] <= ' ')) return colon;
    p = colon + 1;
  }
  return end;
}

#ifdef TG_LEGACY_AVX2

/* Bit i is set where p[i] is ':', p[i - 1] ends a tag and p[i + 1] is at most 0x20. The letters
 * have the high nibbles 6 and 7; each table entry has bit 0 for the one and bit 1 for the other, so
 * that the two look-ups share a bit exactly for the six of them. A byte above 127 looks up 0. */
__attribute__((target("avx2"))) static inline uint32_t tag_ends(const uint8_t *p, __m256i low,
                                                                __m256i high) {
  const __m256i here = _mm256_loadu_si256((const __m256i *)(const void *)p);
  const __m256i before = _mm256_loadu_si256((const __m256i *)(const void *)(p - 1));
  const __m256i after = _mm256_loadu_si256((const __m256i *)(const void *)(p + 1));
  const __m256i nibble = _mm256_and_si256(_mm256_srli_epi16(before, 4), _mm256_set1_epi8(15));
  const __m256i letter =
      _mm256_and_si256(_mm256_shuffle_epi8(low, before), _mm256_shuffle_epi8(high, nibble));
  const __m256i other = _mm256_cmpeq_epi8(letter, _mm256_setzero_si256());
  const __m256i colon = _mm256_cmpeq_epi8(here, _mm256_set1_epi8(':'));
  const __m256i blank = _mm256_cmpeq_epi8(_mm256_min_epu8(after, _mm256_set1_epi8(' ')), after);
  return (uint32_t)_mm256_movemask_epi8(
      _mm256_andnot_si256(other, _mm256_and_si256(colon, blank)));
}

__attribute__((target("avx2"))) static const uint8_t *find_avx2(const uint8_t *p,
                                                                const uint8_t *end) {
  /*                                          0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f */
  const __m256i low = _mm256_setr_epi8(0, 0, 2, 0, 1, 1, 0, 0, 0, 2, 0, 0, 1, 0, 1, 0,  //
                                       0, 0, 2, 0, 1, 1, 0, 0, 0, 2, 0, 0, 1, 0, 1, 0);
  const __m256i high = _mm256_setr_epi8(0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0,  //
                                        0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0);
  for (; end - p > 64; p += 64) {
    const uint64_t first = tag_ends(p, low, high);
    const uint64_t both = first | (uint64_t)tag_ends(p + 32, low, high) << 32;
    if (both != 0) return p + __builtin_ctzll(both);
  }
  return tg_legacy_find_portable(p, end);
}

tg_legacy_find_fn *tg_legacy_find_best(void) {
  return __builtin_cpu_supports("avx2") ? find_avx2 : tg_legacy_find_portable;
}

#else

tg_legacy_find_fn *tg_legacy_find_best(void) { return tg_legacy_find_portable; }

#endif

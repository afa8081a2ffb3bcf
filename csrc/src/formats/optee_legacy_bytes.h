/* optee_legacy_bytes.h - bytes of the drop-in's lines: digits, blanks, short texts.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TG_OPTEE_LEGACY_BYTES_H
#define TG_OPTEE_LEGACY_BYTES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if defined(__GNUC__) && defined(__SSE2__)
#include <emmintrin.h>
#endif

static inline bool tg_legacy_is_hex(uint8_t c) {
  return (uint8_t)(c - '0') < 10 || (uint8_t)(c - 'a') < 6;
}

static inline bool tg_legacy_is_blank(uint8_t c) {
  return c == ' ' || (c >= 9 && c <= 13 && c != '\n');
}

/* The first byte of [p, end) that is no hex digit, or `end`. */
static inline const uint8_t *tg_legacy_behind_digits(const uint8_t *p, const uint8_t *end) {
#if defined(__GNUC__) && defined(__SSE2__)
  for (; end - p >= 16; p += 16) {
    const __m128i text = _mm_loadu_si128((const __m128i *)(const void *)p);
    const __m128i decimal = _mm_sub_epi8(text, _mm_set1_epi8('0'));
    const __m128i letter = _mm_sub_epi8(text, _mm_set1_epi8('a'));
    const __m128i hex =
        _mm_or_si128(_mm_cmpeq_epi8(_mm_min_epu8(decimal, _mm_set1_epi8(9)), decimal),
                     _mm_cmpeq_epi8(_mm_min_epu8(letter, _mm_set1_epi8(5)), letter));
    const unsigned other = ~(unsigned)_mm_movemask_epi8(hex) & 0xffffu;
    if (other != 0) return p + __builtin_ctz(other);
  }
#endif
  while (p < end && tg_legacy_is_hex(*p)) p++;
  return p;
}

/* memcmp(a, b, n) == 0 for short texts, without a call: in words that may overlap. */
static inline bool tg_legacy_equal(const uint8_t *a, const char *b, size_t n) {
  uint64_t x, y, other = 0;
  if (n < 8) return memcmp(a, b, n) == 0;
  for (size_t i = 0; i + 8 < n; i += 8) {
    memcpy(&x, a + i, 8);
    memcpy(&y, b + i, 8);
    other |= x ^ y;
  }
  memcpy(&x, a + n - 8, 8);
  memcpy(&y, b + n - 8, 8);
  return (other | (x ^ y)) == 0;
}

#endif

/* scan_x86.c - the scan in vectors of 32 and 16 bytes: candidates and line ends from one load.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "scan_vector.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

#include "scan_filter.h"

/* Checks the candidates of up to 64 bytes from `at` on; bit i of the masks is byte at + i. */
static tg_status check_block(const tg_scanner *s, const uint8_t *p, size_t n, size_t at,
                             uint64_t candidates, uint64_t line_ends, size_t lines, tg_hits *out) {
  for (; candidates != 0; candidates &= candidates - 1) {
    const unsigned i = (unsigned)__builtin_ctzll(candidates);
    if (!tg_filter_may(s->filter, p + at + i)) continue;
    const uint64_t before = line_ends & ((UINT64_C(1) << i) - 1);
    const tg_status status =
        tg_filter_check(s, p, n, at + i, lines + (size_t)__builtin_popcountll(before), out);
    if (status != TG_OK) return status;
  }
  return TG_OK;
}

#define AVX2 __attribute__((target("avx2,popcnt")))

typedef struct tables32 {
  __m256i low[TG_FILTER_WINDOW], high[TG_FILTER_WINDOW];
} tables32;

AVX2 static inline __m256i pass32(__m256i v, __m256i low, __m256i high) {
  const __m256i nibble = _mm256_set1_epi8(15);
  const __m256i l = _mm256_and_si256(v, nibble);
  const __m256i h = _mm256_and_si256(_mm256_srli_epi16(v, 4), nibble);
  return _mm256_and_si256(_mm256_shuffle_epi8(low, l), _mm256_shuffle_epi8(high, h));
}

AVX2 static inline __m256i load32(const uint8_t *p) {
  return _mm256_loadu_si256((const __m256i *)(const void *)p);
}

/* Bit i: byte p + i begins a window that passes. */
AVX2 static inline uint32_t candidates32(const tables32 *t, const uint8_t *p, __m256i v) {
  __m256i groups = pass32(v, t->low[0], t->high[0]);
  for (size_t k = 1; k < TG_FILTER_WINDOW; k++)
    groups = _mm256_and_si256(groups, pass32(load32(p + k), t->low[k], t->high[k]));
  return ~(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(groups, _mm256_setzero_si256()));
}

AVX2 static inline __m256i or3_32(__m256i a, __m256i b, __m256i c) {
  return _mm256_or_si256(a, _mm256_or_si256(b, c));
}

AVX2 static inline uint32_t line_ends32(__m256i v) {
  return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(v, _mm256_set1_epi8('\n')));
}

AVX2 static tg_status scan_avx2(const tg_scanner *s, const uint8_t *p, size_t n, tg_hits *out) {
  tables32 t;
  const __m256i esc = _mm256_set1_epi8(0x1b), cr = _mm256_set1_epi8('\r');
  __m256i escapes = _mm256_setzero_si256(), returns = _mm256_setzero_si256();
  size_t at = 0, lines = 0;
  for (size_t k = 0; k < TG_FILTER_WINDOW; k++) {
    t.low[k] = _mm256_broadcastsi128_si256(
        _mm_loadu_si128((const __m128i *)(const void *)s->filter->masks.low[k]));
    t.high[k] = _mm256_broadcastsi128_si256(
        _mm_loadu_si128((const __m128i *)(const void *)s->filter->masks.high[k]));
  }
  for (; n - at >= 64 + TG_FILTER_WINDOW - 1; at += 64) {
    const __m256i a = load32(p + at), b = load32(p + at + 32);
    escapes = or3_32(escapes, _mm256_cmpeq_epi8(a, esc), _mm256_cmpeq_epi8(b, esc));
    returns = or3_32(returns, _mm256_cmpeq_epi8(a, cr), _mm256_cmpeq_epi8(b, cr));
    const uint64_t line_ends = line_ends32(a) | (uint64_t)line_ends32(b) << 32;
    const uint64_t candidates =
        candidates32(&t, p + at, a) | (uint64_t)candidates32(&t, p + at + 32, b) << 32;
    if (candidates != 0) {
      const tg_status status = check_block(s, p, n, at, candidates, line_ends, lines, out);
      if (status != TG_OK) return status;
    }
    lines += (size_t)__builtin_popcountll(line_ends);
  }
  out->lines = lines;
  out->escapes = _mm256_movemask_epi8(escapes) != 0;
  out->returns = _mm256_movemask_epi8(returns) != 0;
  return tg_filter_tail(s, p, n, at, out);
}

#define SSSE3 __attribute__((target("ssse3,popcnt")))

typedef struct tables16 {
  __m128i low[TG_FILTER_WINDOW], high[TG_FILTER_WINDOW];
} tables16;

SSSE3 static inline __m128i pass16(__m128i v, __m128i low, __m128i high) {
  const __m128i nibble = _mm_set1_epi8(15);
  const __m128i l = _mm_and_si128(v, nibble);
  const __m128i h = _mm_and_si128(_mm_srli_epi16(v, 4), nibble);
  return _mm_and_si128(_mm_shuffle_epi8(low, l), _mm_shuffle_epi8(high, h));
}

SSSE3 static inline __m128i load16(const uint8_t *p) {
  return _mm_loadu_si128((const __m128i *)(const void *)p);
}

SSSE3 static inline uint32_t candidates16(const tables16 *t, const uint8_t *p, __m128i v) {
  __m128i groups = pass16(v, t->low[0], t->high[0]);
  for (size_t k = 1; k < TG_FILTER_WINDOW; k++)
    groups = _mm_and_si128(groups, pass16(load16(p + k), t->low[k], t->high[k]));
  return 0xffffu & ~(uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(groups, _mm_setzero_si128()));
}

SSSE3 static inline __m128i or3_16(__m128i a, __m128i b, __m128i c) {
  return _mm_or_si128(a, _mm_or_si128(b, c));
}

SSSE3 static inline uint32_t line_ends16(__m128i v) {
  return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(v, _mm_set1_epi8('\n')));
}

SSSE3 static tg_status scan_ssse3(const tg_scanner *s, const uint8_t *p, size_t n, tg_hits *out) {
  tables16 t;
  const __m128i esc = _mm_set1_epi8(0x1b), cr = _mm_set1_epi8('\r');
  __m128i escapes = _mm_setzero_si128(), returns = _mm_setzero_si128();
  size_t at = 0, lines = 0;
  for (size_t k = 0; k < TG_FILTER_WINDOW; k++) {
    t.low[k] = load16(s->filter->masks.low[k]);
    t.high[k] = load16(s->filter->masks.high[k]);
  }
  for (; n - at >= 32 + TG_FILTER_WINDOW - 1; at += 32) {
    const __m128i a = load16(p + at), b = load16(p + at + 16);
    escapes = or3_16(escapes, _mm_cmpeq_epi8(a, esc), _mm_cmpeq_epi8(b, esc));
    returns = or3_16(returns, _mm_cmpeq_epi8(a, cr), _mm_cmpeq_epi8(b, cr));
    const uint32_t line_ends = line_ends16(a) | line_ends16(b) << 16;
    const uint32_t candidates = candidates16(&t, p + at, a) | candidates16(&t, p + at + 16, b)
                                                                  << 16;
    if (candidates != 0) {
      const tg_status status = check_block(s, p, n, at, candidates, line_ends, lines, out);
      if (status != TG_OK) return status;
    }
    lines += (size_t)__builtin_popcount(line_ends);
  }
  out->lines = lines;
  out->escapes = _mm_movemask_epi8(escapes) != 0;
  out->returns = _mm_movemask_epi8(returns) != 0;
  return tg_filter_tail(s, p, n, at, out);
}

tg_scan_fn tg_scan_x86(const char *name) {
  const bool popcnt = __builtin_cpu_supports("popcnt") != 0;
  if (strcmp(name, "avx2") == 0 && popcnt && __builtin_cpu_supports("avx2")) return scan_avx2;
  if (strcmp(name, "ssse3") == 0 && popcnt && __builtin_cpu_supports("ssse3")) return scan_ssse3;
  return NULL;
}

#else
tg_scan_fn tg_scan_x86(const char *name) {
  (void)name;
  return NULL;
}
#endif

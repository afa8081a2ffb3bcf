/* scan_x86.c - the scan in vectors of 64, 32 and 16 bytes: candidates and line ends from one load.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "scan_vector.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

#include "scan_filter.h"

#define INLINE __attribute__((always_inline)) static inline /* into each scan, for its processor */

enum { BLOCKS = 64, AT_ONCE = 4 }; /* blocks of a batch; candidates noted without asking */

/* Up to BLOCKS blocks of 64 bytes. Whether a block has candidates, and how many, cannot be foreseen,
 * and a wrong guess costs more than the block: so they are noted and sifted without a branch. */
typedef struct batch {
  uint64_t line_ends[BLOCKS];
  size_t n_blocks, n_places;
  uint32_t places[BLOCKS * 64 + AT_ONCE]; /* of candidates, ascending, from the batch's begin */
} batch;

/* Notes a block; bit i of the masks is byte i of it. */
INLINE void note_block(batch *b, uint64_t candidates, uint64_t line_ends) {
  const uint32_t base = (uint32_t)b->n_blocks * 64;
  uint32_t *to = b->places + b->n_places;
  uint32_t *const end = to + __builtin_popcountll(candidates);
  b->line_ends[b->n_blocks++] = line_ends;
  b->n_places += (size_t)(end - to);
  do {
    for (unsigned k = 0; k < AT_ONCE; k++) { /* those too many are written over */
      to[k] = base + (uint32_t)__builtin_ctzll(candidates | UINT64_C(1) << 63);
      candidates &= candidates - 1;
    }
    to += AT_ONCE;
  } while (to < end);
}

/* Checks the candidates of a batch that begins at `at`; `lines` counts the line ends. */
INLINE tg_status check_batch(const tg_scanner *s, const uint8_t *p, size_t n, size_t at,
                             batch *b, size_t *lines, tg_hits *out) {
  size_t kept = 0, block = 0;
  for (size_t i = 0; i < b->n_places; i++) {
    const uint32_t place = b->places[i];
    b->places[kept] = place;
    kept += tg_filter_may(s->filter, p + at + place);
  }
  for (size_t i = 0; i < kept; i++) {
    const size_t place = b->places[i];
    while (block < place / 64) *lines += (size_t)__builtin_popcountll(b->line_ends[block++]);
    const uint64_t before = b->line_ends[block] & ((UINT64_C(1) << place % 64) - 1);
    const tg_status status = tg_filter_check(s, p, n, at + place,
                                             *lines + (size_t)__builtin_popcountll(before), out);
    if (status != TG_OK) return status;
  }
  while (block < b->n_blocks) *lines += (size_t)__builtin_popcountll(b->line_ends[block++]);
  b->n_blocks = b->n_places = 0;
  return TG_OK;
}

/* Checks the candidates of up to 32 bytes from `at` on; bit i of the masks is byte at + i. */
INLINE tg_status check_block(const tg_scanner *s, const uint8_t *p, size_t n, size_t at,
                             uint32_t candidates, uint32_t line_ends, size_t lines, tg_hits *out) {
  for (; candidates != 0; candidates &= candidates - 1) {
    const unsigned i = (unsigned)__builtin_ctz(candidates);
    if (!tg_filter_may(s->filter, p + at + i)) continue;
    const uint32_t before = line_ends & ((UINT32_C(1) << i) - 1);
    const tg_status status =
        tg_filter_check(s, p, n, at + i, lines + (size_t)__builtin_popcount(before), out);
    if (status != TG_OK) return status;
  }
  return TG_OK;
}

_Static_assert(TG_FILTER_WINDOW == 4, "the places of a window are written out below");

#define AVX512 __attribute__((target("avx512f,avx512bw,popcnt,bmi")))

typedef struct tables64 {
  __m512i low[TG_FILTER_WINDOW], high[TG_FILTER_WINDOW];
} tables64;

AVX512 static inline __m512i load64(const uint8_t *p) {
  return _mm512_loadu_si512((const void *)p);
}

AVX512 static inline __m512i pass64(__m512i v, __m512i low, __m512i high) {
  const __m512i nibble = _mm512_set1_epi8(15);
  const __m512i l = _mm512_and_si512(v, nibble);
  const __m512i h = _mm512_and_si512(_mm512_srli_epi16(v, 4), nibble);
  return _mm512_and_si512(_mm512_shuffle_epi8(low, l), _mm512_shuffle_epi8(high, h));
}

/* Bit i: byte p + i begins a window that passes. */
AVX512 static inline uint64_t candidates64(const tables64 *t, const uint8_t *p, __m512i v) {
  const __m512i first = pass64(v, t->low[0], t->high[0]);
  const __m512i second = pass64(load64(p + 1), t->low[1], t->high[1]);
  const __m512i third = pass64(load64(p + 2), t->low[2], t->high[2]);
  const __m512i fourth = pass64(load64(p + 3), t->low[3], t->high[3]);
  return _mm512_test_epi8_mask(_mm512_and_si512(first, second), _mm512_and_si512(third, fourth));
}

AVX512 static tg_status scan_avx512(const tg_scanner *s, const uint8_t *p, size_t n,
                                    tg_hits *out) {
  tables64 t;
  const __m512i lf = _mm512_set1_epi8('\n');
  const __m512i esc = _mm512_set1_epi8(0x1b), cr = _mm512_set1_epi8('\r');
  uint64_t escapes = 0, returns = 0;
  size_t at = 0, lines = 0;
  batch b;
  b.n_blocks = b.n_places = 0;
  for (size_t k = 0; k < TG_FILTER_WINDOW; k++) {
    t.low[k] = _mm512_broadcast_i32x4(
        _mm_loadu_si128((const __m128i *)(const void *)s->filter->masks.low[k]));
    t.high[k] = _mm512_broadcast_i32x4(
        _mm_loadu_si128((const __m128i *)(const void *)s->filter->masks.high[k]));
  }
  while (n - at >= 64 + TG_FILTER_WINDOW - 1) {
    const size_t begin = at;
    for (; b.n_blocks < BLOCKS && n - at >= 64 + TG_FILTER_WINDOW - 1; at += 64) {
      const __m512i v = load64(p + at);
      escapes |= _mm512_cmpeq_epi8_mask(v, esc);
      returns |= _mm512_cmpeq_epi8_mask(v, cr);
      note_block(&b, candidates64(&t, p + at, v), _mm512_cmpeq_epi8_mask(v, lf));
    }
    const tg_status status = check_batch(s, p, n, begin, &b, &lines, out);
    if (status != TG_OK) return status;
  }
  out->lines = lines;
  out->escapes = escapes != 0;
  out->returns = returns != 0;
  return tg_filter_tail(s, p, n, at, out);
}

#define AVX2 __attribute__((target("avx2,popcnt,bmi")))

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
  const __m256i first = pass32(v, t->low[0], t->high[0]);
  const __m256i second = pass32(load32(p + 1), t->low[1], t->high[1]);
  const __m256i third = pass32(load32(p + 2), t->low[2], t->high[2]);
  const __m256i fourth = pass32(load32(p + 3), t->low[3], t->high[3]);
  const __m256i groups =
      _mm256_and_si256(_mm256_and_si256(first, second), _mm256_and_si256(third, fourth));
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
  batch b;
  b.n_blocks = b.n_places = 0;
  for (size_t k = 0; k < TG_FILTER_WINDOW; k++) {
    t.low[k] = _mm256_broadcastsi128_si256(
        _mm_loadu_si128((const __m128i *)(const void *)s->filter->masks.low[k]));
    t.high[k] = _mm256_broadcastsi128_si256(
        _mm_loadu_si128((const __m128i *)(const void *)s->filter->masks.high[k]));
  }
  while (n - at >= 64 + TG_FILTER_WINDOW - 1) {
    const size_t begin = at;
    for (; b.n_blocks < BLOCKS && n - at >= 64 + TG_FILTER_WINDOW - 1; at += 64) {
      const __m256i v = load32(p + at), w = load32(p + at + 32);
      escapes = or3_32(escapes, _mm256_cmpeq_epi8(v, esc), _mm256_cmpeq_epi8(w, esc));
      returns = or3_32(returns, _mm256_cmpeq_epi8(v, cr), _mm256_cmpeq_epi8(w, cr));
      note_block(&b,
                 candidates32(&t, p + at, v) | (uint64_t)candidates32(&t, p + at + 32, w) << 32,
                 line_ends32(v) | (uint64_t)line_ends32(w) << 32);
    }
    const tg_status status = check_batch(s, p, n, begin, &b, &lines, out);
    if (status != TG_OK) return status;
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
  const bool bits = popcnt && __builtin_cpu_supports("bmi") != 0;
  if (strcmp(name, "avx512") == 0 && bits && __builtin_cpu_supports("avx512bw")) return scan_avx512;
  if (strcmp(name, "avx2") == 0 && bits && __builtin_cpu_supports("avx2")) return scan_avx2;
  if (strcmp(name, "ssse3") == 0 && popcnt && __builtin_cpu_supports("ssse3")) return scan_ssse3;
  return NULL;
}

#else
tg_scan_fn tg_scan_x86(const char *name) {
  (void)name;
  return NULL;
}
#endif

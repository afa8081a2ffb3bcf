/* scan_neon.c - the scan in vectors of 16 bytes for aarch64.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "scan_vector.h"

#if defined(__aarch64__) && defined(__ARM_NEON)
#include <arm_neon.h>

#include "scan_filter.h"

typedef struct tables16 {
  uint8x16_t low[TG_FILTER_WINDOW], high[TG_FILTER_WINDOW];
} tables16;

/* Four bits a byte: 15 where the byte of `v` is not zero at all. */
static inline uint64_t nibbles(uint8x16_t v) {
  return vget_lane_u64(vreinterpret_u64_u8(vshrn_n_u16(vreinterpretq_u16_u8(v), 4)), 0);
}

static inline uint8x16_t pass(uint8x16_t v, uint8x16_t low, uint8x16_t high) {
  return vandq_u8(vqtbl1q_u8(low, vandq_u8(v, vdupq_n_u8(15))), vqtbl1q_u8(high, vshrq_n_u8(v, 4)));
}

/* Checks the candidates of 16 bytes from `at` on. */
static tg_status check_block(const tg_scanner *s, const uint8_t *p, size_t n, size_t at,
                             uint64_t candidates, uint64_t line_ends, size_t lines, tg_hits *out) {
  candidates &= UINT64_C(0x1111111111111111);
  for (; candidates != 0; candidates &= candidates - 1) {
    const unsigned i = (unsigned)__builtin_ctzll(candidates);
    if (!tg_filter_may(s->filter, p + at + i / 4)) continue;
    const uint64_t before = line_ends & ((UINT64_C(1) << i) - 1);
    const tg_status status =
        tg_filter_check(s, p, n, at + i / 4, lines + (size_t)__builtin_popcountll(before) / 4, out);
    if (status != TG_OK) return status;
  }
  return TG_OK;
}

static tg_status scan_neon(const tg_scanner *s, const uint8_t *p, size_t n, tg_hits *out) {
  tables16 t;
  uint8x16_t escapes = vdupq_n_u8(0), returns = vdupq_n_u8(0);
  size_t at = 0, lines = 0;
  for (size_t k = 0; k < TG_FILTER_WINDOW; k++) {
    t.low[k] = vld1q_u8(s->filter->masks.low[k]);
    t.high[k] = vld1q_u8(s->filter->masks.high[k]);
  }
  for (; n - at >= 16 + TG_FILTER_WINDOW - 1; at += 16) {
    const uint8x16_t v = vld1q_u8(p + at);
    const uint8x16_t ends = vceqq_u8(v, vdupq_n_u8('\n'));
    escapes = vorrq_u8(escapes, vceqq_u8(v, vdupq_n_u8(0x1b)));
    returns = vorrq_u8(returns, vceqq_u8(v, vdupq_n_u8('\r')));
    uint8x16_t groups = pass(v, t.low[0], t.high[0]);
    for (size_t k = 1; k < TG_FILTER_WINDOW; k++)
      groups = vandq_u8(groups, pass(vld1q_u8(p + at + k), t.low[k], t.high[k]));
    const uint64_t candidates = nibbles(vtstq_u8(groups, groups));
    if (candidates != 0) {
      const tg_status status = check_block(s, p, n, at, candidates, nibbles(ends), lines, out);
      if (status != TG_OK) return status;
    }
    lines += vaddvq_u8(vandq_u8(ends, vdupq_n_u8(1)));
  }
  out->lines = lines;
  out->escapes = vmaxvq_u8(escapes) != 0;
  out->returns = vmaxvq_u8(returns) != 0;
  return tg_filter_tail(s, p, n, at, out);
}

tg_scan_fn tg_scan_neon(const char *name) { return strcmp(name, "neon") == 0 ? scan_neon : NULL; }

#else
tg_scan_fn tg_scan_neon(const char *name) {
  (void)name;
  return NULL;
}
#endif

/* spans.h - bytes that are equal, and digits with their value. SPDX-License-Identifier:
 * BSD-3-Clause */
#ifndef TICKGAUGE_BASE_SPANS_H
#define TICKGAUGE_BASE_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { TG_SAFE_DIGITS = 19, TG_SAFE_HEX = 16 }; /* as many never overflow 64 bits */

/* Literals are short: most need no call, but two words that may overlap. */
static inline bool tg_same_bytes(const uint8_t *a, const uint8_t *b, size_t n) {
  uint64_t x[2], y[2];
  uint32_t u[2], v[2];
  if (n > 16) return memcmp(a, b, n) == 0;
  if (n >= 8) {
    memcpy(&x[0], a, 8), memcpy(&x[1], a + n - 8, 8);
    memcpy(&y[0], b, 8), memcpy(&y[1], b + n - 8, 8);
    return ((x[0] ^ y[0]) | (x[1] ^ y[1])) == 0;
  }
  if (n >= 4) {
    memcpy(&u[0], a, 4), memcpy(&u[1], a + n - 4, 4);
    memcpy(&v[0], b, 4), memcpy(&v[1], b + n - 4, 4);
    return ((u[0] ^ v[0]) | (u[1] ^ v[1])) == 0;
  }
  for (size_t i = 0; i < n; i++)
    if (a[i] != b[i]) return false;
  return true;
}

/* Adds the digits from `pos` on to the value; where they end. */
static inline size_t tg_decimal_loop(const uint8_t *p, size_t n, size_t pos, uint64_t *value) {
  uint64_t v = *value;
  for (unsigned d; pos < n && (d = (unsigned)p[pos] - '0') <= 9; pos++) v = v * 10 + d;
  *value = v;
  return pos;
}

/* Adds the hexadecimal digits from `pos` on to the value; where they end. `*capital`: one is. */
static inline size_t tg_hex_loop(const uint8_t *p, size_t n, size_t pos, uint64_t *value,
                                 bool *capital) {
  uint64_t v = *value;
  for (; pos < n; pos++) {
    const unsigned letter = (p[pos] | 0x20u) - 'a', digit = p[pos] - (unsigned)'0';
    if (digit > 9 && letter > 5) break;
    if (digit > 9 && (p[pos] & 0x20) == 0) *capital = true;
    v = v << 4 | (digit <= 9 ? digit : letter + 10);
  }
  *value = v;
  return pos;
}

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
/* The same as tg_hex_loop from a value of 0, right up to TG_SAFE_HEX: up to eight digits a step,
 * whose halves of a byte are moved together in pairs, fours and eights. */
static inline size_t tg_hex_run(const uint8_t *p, size_t n, size_t pos, uint64_t *value,
                                bool *capital) {
  const uint64_t each = UINT64_C(0x0101010101010101), top = each * 0x80;
  *value = 0;
  for (uint64_t w; n - pos >= sizeof w;) {
    memcpy(&w, p + pos, sizeof w);
    const uint64_t digit = w ^ each * '0', letter = (w | each * 0x20) ^ each * 0x60;
    /* Sums of bytes below 0x80 stay in their byte; one above it is no digit by its top bit. */
    const uint64_t no_digit = ((digit & ~top) + each * 0x76) | digit;
    const uint64_t low = letter & ~top;
    const uint64_t no_letter = (low + each * 0x79) | ~(low + each * 0x7f) | w;
    const uint64_t others = no_digit & no_letter & top;
    const unsigned digits = others == 0 ? 8 : (unsigned)__builtin_ctzll(others) / 8;
    if (digits == 0) return pos;
    const uint64_t kept = w << (64 - 8 * digits), is_letter = kept >> 6 & each;
    if ((is_letter & ~(kept >> 5)) != 0) *capital = true;
    uint64_t v = (kept & each * 0x0f) + is_letter * 9;
    v = (v << 4 | v >> 8) & UINT64_C(0x00ff00ff00ff00ff);
    v = (v << 8 | v >> 16) & UINT64_C(0x0000ffff0000ffff);
    v = (v << 16 | v >> 32) & UINT32_MAX;
    *value = *value << (4 * digits) | v;
    pos += digits;
    if (digits < 8) return pos;
  }
  return tg_hex_loop(p, n, pos, value, capital);
}
#else
static inline size_t tg_hex_run(const uint8_t *p, size_t n, size_t pos, uint64_t *value,
                                bool *capital) {
  *value = 0;
  return tg_hex_loop(p, n, pos, value, capital);
}
#endif

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
/* Where the digits from `pos` <= n on end, `pos` itself where there are none, and their value,
 * which is right up to TG_SAFE_DIGITS. Up to eight at once, without a branch on how many there are:
 * the bytes behind them are shifted out, so that zeros stand before them, then pairs, fours and
 * eights are added up. */
static inline size_t tg_decimal_run(const uint8_t *p, size_t n, size_t pos, uint64_t *value) {
  const uint64_t each = UINT64_C(0x0101010101010101);
  uint64_t w;
  *value = 0;
  if (n - pos < sizeof w) return tg_decimal_loop(p, n, pos, value);
  memcpy(&w, p + pos, sizeof w);
  w ^= each * '0';
  const uint64_t others = ((w + each * 0x76) | w) & each * 0x80;
  if ((others & 0x80) != 0) return pos;
  const unsigned digits = others == 0 ? 8 : (unsigned)__builtin_ctzll(others) / 8;
  w <<= 64 - 8 * digits;
  w = (w * 10 + (w >> 8)) & UINT64_C(0x00ff00ff00ff00ff);
  w = (w * 100 + (w >> 16)) & UINT64_C(0x0000ffff0000ffff);
  *value = (w * 10000 + (w >> 32)) & UINT32_MAX;
  return digits < 8 ? pos + digits : tg_decimal_loop(p, n, pos + 8, value);
}
#else
static inline size_t tg_decimal_run(const uint8_t *p, size_t n, size_t pos, uint64_t *value) {
  *value = 0;
  return tg_decimal_loop(p, n, pos, value);
}
#endif

#endif

/* value.c - values of any width in text: hex, decimal, bits, and the words Vivado writes.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "capture/signals.h"

static int digit_of(uint8_t c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return 16;
}

/* Digits of 2^shift, most significant first; digits beyond `words` are cut off. */
static bool parse_power(const uint8_t *p, size_t n, unsigned shift, uint64_t *out, uint32_t words) {
  if (n == 0) return false;
  if (words == 1) {
    uint64_t v = 0;
    for (size_t i = 0; i < n; i++) {
      int d = digit_of(p[i]);
      if (d >= 1 << shift) return false;
      v = v << shift | (uint64_t)d;
    }
    out[0] = v;
    return true;
  }
  memset(out, 0, words * sizeof *out);
  for (size_t i = 0; i < n; i++) {
    int d = digit_of(p[n - 1 - i]);
    if (d >= 1 << shift) return false;
    size_t bit = i * shift;
    for (unsigned k = 0; k < shift; k++, bit++)
      if (bit / 64 < words && (d >> k & 1) != 0) out[bit / 64] |= (uint64_t)1 << bit % 64;
  }
  return true;
}

/* Are all bits from `width` on 0? */
static bool fits(const uint64_t *v, uint32_t words, uint32_t width) {
  for (uint32_t i = width / 64; i < words; i++)
    if ((i == width / 64 ? v[i] >> width % 64 : v[i]) != 0) return false;
  return true;
}

/* The same, where the value fits `width` bits. */
static bool parse_fitting(const uint8_t *p, size_t n, unsigned shift, uint64_t *out,
                          uint32_t words, uint32_t width) {
  while (n > 1 && *p == '0') p++, n--;
  if (n > ((size_t)width + shift - 1) / shift) return false;
  return parse_power(p, n, shift, out, words) && fits(out, words, width);
}

bool tg_cap_parse_hex(const uint8_t *p, size_t n, uint64_t *out, uint32_t words, uint32_t width) {
  return parse_fitting(p, n, 4, out, words, width);
}
bool tg_cap_parse_octal(const uint8_t *p, size_t n, uint64_t *out, uint32_t words,
                        uint32_t width) {
  return parse_fitting(p, n, 3, out, words, width);
}
bool tg_cap_parse_bits(const uint8_t *p, size_t n, uint64_t *out, uint32_t words, uint32_t width) {
  return parse_fitting(p, n, 1, out, words, width);
}
bool tg_cap_parse_bin(const uint8_t *p, size_t n, uint64_t *out, uint32_t words) {
  return parse_power(p, n, 1, out, words);
}

/* out = out * 10 + digit, modulo 2^(64 * words); returns the carry. */
static uint64_t times_ten(uint64_t *out, uint32_t words, unsigned digit) {
  uint64_t carry = digit;
  for (uint32_t i = 0; i < words; i++) {
    unsigned __int128 t = (unsigned __int128)out[i] * 10 + carry;
    out[i] = (uint64_t)t;
    carry = (uint64_t)(t >> 64);
  }
  return carry;
}

static void cut_to(uint64_t *out, uint32_t words, uint32_t width) {
  for (uint32_t i = 0; i < words; i++) {
    uint32_t low = i * 64;
    if (width <= low)
      out[i] = 0;
    else if (width - low < 64)
      out[i] &= ((uint64_t)1 << (width - low)) - 1;
  }
}

/* A decimal with an optional minus sign as two's complement of `width` bits; false where it does
 * not fit them. */
bool tg_cap_parse_dec(const uint8_t *p, size_t n, uint64_t *out, uint32_t words, uint32_t width) {
  bool minus = n > 0 && p[0] == '-';
  if (minus) p++, n--;
  if (n == 0) return false;
  memset(out, 0, words * sizeof *out);
  for (size_t i = 0; i < n; i++) {
    if (p[i] < '0' || p[i] > '9') return false;
    if (times_ten(out, words, (unsigned)(p[i] - '0')) != 0) return false;
  }
  if (!fits(out, words, width)) return false;
  if (minus) {
    uint64_t carry = 1;
    for (uint32_t i = 0; i < words; i++) {
      out[i] = ~out[i] + carry;
      carry = carry != 0 && out[i] == 0;
    }
  }
  cut_to(out, words, width);
  return true;
}

bool tg_cap_hex_as_dec(uint64_t *value, uint32_t words, uint32_t width) {
  bool ok = true;
  uint64_t small[4] = {0};
  if (words > 4) return false; /* wider columns name their radix in every file seen */
  for (uint32_t i = words * 16; i-- > 0;) {
    unsigned d = (unsigned)(value[i / 16] >> i % 16 * 4 & 15);
    ok = ok && d <= 9;
    ok = times_ten(small, words, d) == 0 && ok;
  }
  if (!ok || !fits(small, words, width)) return false;
  cut_to(small, words, width);
  memcpy(value, small, words * sizeof *value);
  return true;
}

static bool is_word(const uint8_t *p, size_t n, const char *word) {
  return n == strlen(word) && memcmp(p, word, n) == 0;
}

bool tg_cap_parse_label(const uint8_t *p, size_t n, cap_role role, uint64_t *out) {
  static const char *const bursts[] = {"FIXED", "INCR", "WRAP"};
  static const char *const answers[] = {"OKAY", "EXOKAY", "SLVERR", "DECERR"};
  if (role.leaf == LEAF_BURST)
    for (unsigned i = 0; i < 3; i++)
      if (is_word(p, n, bursts[i])) return *out = i, true;
  if (role.leaf == LEAF_RESP)
    for (unsigned i = 0; i < 4; i++)
      if (is_word(p, n, answers[i])) return *out = i, true;
  if (role.leaf == LEAF_SIZE) {
    unsigned bytes = 0;
    size_t i = 0;
    for (; i < n && i < 3 && p[i] >= '0' && p[i] <= '9'; i++) bytes = bytes * 10 + (p[i] - '0');
    if (i > 0 && (is_word(p + i, n - i, " bytes") || is_word(p + i, n - i, " byte")))
      for (unsigned k = 0; k < 8; k++)
        if (bytes == 1u << k) return *out = k, true;
  }
  return false;
}

/* wide.c - exact quotients of integers wider than 128 bits as doubles.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "wide.h"

#include <math.h>

tg_u256 tg_u256_add(tg_u256 a, tg_u256 b) {
  const tg_u128 lo = a.lo + b.lo;
  return (tg_u256){lo, a.hi + b.hi + (lo < a.lo ? 1 : 0)};
}

tg_u256 tg_u256_sub(tg_u256 a, tg_u256 b) {
  return (tg_u256){a.lo - b.lo, a.hi - b.hi - (a.lo < b.lo ? 1 : 0)};
}

tg_u256 tg_u256_mul(tg_u128 a, tg_u128 b) {
  const uint64_t a0 = (uint64_t)a, a1 = (uint64_t)(a >> 64);
  const uint64_t b0 = (uint64_t)b, b1 = (uint64_t)(b >> 64);
  const tg_u128 mid1 = (tg_u128)a1 * b0, mid2 = (tg_u128)a0 * b1;
  const tg_u256 ends = {(tg_u128)a0 * b0, (tg_u128)a1 * b1};
  const tg_u256 first = tg_u256_add(ends, (tg_u256){mid1 << 64, mid1 >> 64});
  return tg_u256_add(first, (tg_u256){mid2 << 64, mid2 >> 64});
}

static unsigned bit_of(tg_u256 v, int i) {
  return (unsigned)((i >= 128 ? v.hi >> (i - 128) : v.lo >> i) & 1);
}

static bool has_bits_below(tg_u256 v, int i) {
  if (i <= 0) return false;
  if (i >= 128) return v.lo != 0 || (i > 128 && v.hi << (256 - i) != 0);
  return v.lo << (128 - i) != 0;
}

double tg_ratio(tg_u256 num, tg_u128 den) {
  if (num.lo == 0 && num.hi == 0) return 0.0;
  tg_u128 rest = 0;
  uint64_t quotient = 0; /* its first 64 significant bits; the lowest has weight 2^i */
  int i = 256;
  while (quotient >> 63 == 0) {
    i--;
    rest = rest << 1 | (i >= 0 ? bit_of(num, i) : 0);
    const bool one = rest >= den;
    if (one) rest -= den;
    quotient = quotient << 1 | (one ? 1 : 0);
  }
  if (rest != 0 || has_bits_below(num, i)) quotient |= 1; /* sticky: not a tie */
  return ldexp((double)quotient, i);
}

double tg_signed_ratio(tg_i128 num, tg_u128 den) {
  if (num >= 0) return tg_ratio((tg_u256){(tg_u128)num, 0}, den);
  return -tg_ratio((tg_u256){(tg_u128)0 - (tg_u128)num, 0}, den);
}

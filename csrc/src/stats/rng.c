/* rng.c - xoshiro256** and unbiased bounded numbers. SPDX-License-Identifier: BSD-3-Clause */
#include "rng.h"

static uint64_t rotate(uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }

void tg_rng_seed(tg_rng *r, uint64_t seed) {
  for (int i = 0; i < 4; i++) {
    seed += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = seed;
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    r->s[i] = z ^ (z >> 31);
  }
}

uint64_t tg_rng_next(tg_rng *r) {
  uint64_t *s = r->s, out = rotate(s[1] * 5, 7) * 9, t = s[1] << 17;
  s[2] ^= s[0];
  s[3] ^= s[1];
  s[1] ^= s[2];
  s[0] ^= s[3];
  s[2] ^= t;
  s[3] = rotate(s[3], 45);
  return out;
}

__extension__ typedef unsigned __int128 wide;

/* The high half of draw * n; draws in the short remainder would favour some numbers and are
 * repeated (Lemire 2019). */
uint64_t tg_rng_below(tg_rng *r, uint64_t n) {
  wide product = (wide)tg_rng_next(r) * n;
  if ((uint64_t)product < n) {
    uint64_t reject = (0 - n) % n; /* 2^64 mod n */
    while ((uint64_t)product < reject) product = (wide)tg_rng_next(r) * n;
  }
  return (uint64_t)(product >> 64);
}

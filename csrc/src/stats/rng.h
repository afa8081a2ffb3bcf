/* rng.h - the generator behind every drawn p (private). SPDX-License-Identifier: BSD-3-Clause */
#ifndef TG_STATS_RNG_H
#define TG_STATS_RNG_H

#include <stddef.h>
#include <stdint.h>

/* xoshiro256** of Blackman and Vigna (2018), its state filled by splitmix64: integers only, so
 * the same seed gives the same draws on every machine. */
typedef struct tg_rng {
  uint64_t s[4];
} tg_rng;

/* Starts the generator; every seed is good, 0 too. */
void tg_rng_seed(tg_rng *r, uint64_t seed);
/* The next 64 bits. */
uint64_t tg_rng_next(tg_rng *r);
/* A number below `n` (n > 0), every one equally likely. */
uint64_t tg_rng_below(tg_rng *r, uint64_t n);

#endif

/* wide.h - integers of 128 bits, and sign and magnitude of 64-bit ones.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TG_BASE_WIDE_H
#define TG_BASE_WIDE_H

#include <stdbool.h>
#include <stdint.h>

__extension__ typedef unsigned __int128 tg_u128;
__extension__ typedef __int128 tg_i128;

#define TG_I64_MIN_MAGNITUDE (UINT64_C(1) << 63)

/* |v|, also for INT64_MIN. */
static inline uint64_t tg_magnitude(int64_t v) {
  return v < 0 ? UINT64_C(0) - (uint64_t)v : (uint64_t)v;
}

/* The signed number of that magnitude; false where it does not fit, `*out` is then untouched. */
static inline bool tg_signed(uint64_t magnitude, bool negative, int64_t *out) {
  if (!negative) {
    if (magnitude > (uint64_t)INT64_MAX) return false;
    *out = (int64_t)magnitude;
    return true;
  }
  if (magnitude > TG_I64_MIN_MAGNITUDE) return false;
  *out = magnitude == TG_I64_MIN_MAGNITUDE ? INT64_MIN : -(int64_t)magnitude;
  return true;
}

#endif

/* clock.c - ticks and nanoseconds, exact in 128 bits.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tickgauge/clock.h"

#include <stddef.h>

#include "wide.h"

static const uint64_t ns_per_s = UINT64_C(1000000000);

/* a * b / den rounded half to even; false where it needs more than 64 bits. den > 0. */
static bool muldiv_u64(uint64_t a, uint64_t b, uint64_t den, uint64_t *out) {
  const tg_u128 product = (tg_u128)a * b;
  tg_u128 quotient = product / den;
  const uint64_t rest = (uint64_t)(product % den), half = den - rest;
  if (rest > half || (rest == half && (quotient & 1) != 0)) quotient++;
  if (quotient > UINT64_MAX) return false;
  *out = (uint64_t)quotient;
  return true;
}

tg_status tg_muldiv(int64_t value, uint64_t num, uint64_t den, int64_t *out) {
  uint64_t magnitude = 0;
  if (den == 0) return TG_EINVAL;
  if (!muldiv_u64(tg_magnitude(value), num, den, &magnitude)) return TG_EOVERFLOW;
  return tg_signed(magnitude, value < 0, out) ? TG_OK : TG_EOVERFLOW;
}

tg_status tg_ticks_to_ns(int64_t ticks, uint64_t hz, int64_t *ns) {
  return tg_muldiv(ticks, ns_per_s, hz, ns);
}

tg_status tg_ns_to_ticks(int64_t ns, uint64_t hz, int64_t *ticks, bool *on_grid) {
  int64_t k = 0;
  const tg_status status = tg_muldiv(ns, hz, ns_per_s, &k);
  if (hz == 0) return TG_EINVAL;
  if (status != TG_OK) return status;
  if (on_grid != NULL) {
    uint64_t rounded = 0;
    const uint64_t printed = tg_magnitude(ns), magnitude = tg_magnitude(k);
    *on_grid = (tg_u128)magnitude * ns_per_s / hz == printed ||
               (muldiv_u64(magnitude, ns_per_s, hz, &rounded) && rounded == printed);
  }
  *ticks = k;
  return TG_OK;
}

tg_status tg_ticks_diff(uint64_t later, uint64_t earlier, int64_t *out) {
  const bool negative = later < earlier;
  return tg_signed(negative ? earlier - later : later - earlier, negative, out) ? TG_OK
                                                                                : TG_EOVERFLOW;
}

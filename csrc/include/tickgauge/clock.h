/* clock.h - exact conversion between counter ticks and nanoseconds.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TICKGAUGE_CLOCK_H
#define TICKGAUGE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "export.h"
#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where a frequency was learned. Append only. */
typedef enum tg_clock_origin {
  TG_CLOCK_NONE = 0,
  TG_CLOCK_LOG = 1,
  TG_CLOCK_OPTION = 2,
  TG_CLOCK_PLATFORM = 3
} tg_clock_origin;

/* round-half-even(ticks * 1e9 / hz), products in 128 bits. TG_EINVAL for hz 0, TG_EOVERFLOW
 * where the result does not fit. */
TG_API tg_status tg_ticks_to_ns(int64_t ticks, uint64_t hz, int64_t *ns);

/* The tick count a firmware printed as floor(ticks * 1e9 / hz) = ns (truncated ns, the common
 * form): the nearest k = round(ns * hz / 1e9), with `*on_grid` false where neither floor nor
 * rounding of k gives `ns` back. `*on_grid` may be NULL. */
TG_API tg_status tg_ns_to_ticks(int64_t ns, uint64_t hz, int64_t *ticks, bool *on_grid);

/* later - earlier as a signed number; TG_EOVERFLOW outside 63 bits. */
TG_API tg_status tg_ticks_diff(uint64_t later, uint64_t earlier, int64_t *out);

/* round-half-even(value * num / den) in 128 bits; den 0 is TG_EINVAL. */
TG_API tg_status tg_muldiv(int64_t value, uint64_t num, uint64_t den, int64_t *out);

#ifdef __cplusplus
}
#endif
#endif

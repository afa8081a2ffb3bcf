/* stop.h - how the core's loops ask the caller's hook. SPDX-License-Identifier: BSD-3-Clause */
#ifndef TG_BASE_STOP_H
#define TG_BASE_STOP_H

#include <stddef.h>
#include <stdint.h>

#include "tickgauge/stop.h"

#define TG_STOP_EVERY 4096 /* steps of work between two askings */

/* True where turn `i` of a loop, counted from 0, is to be the last: asks at turn 0 and then after
 * TG_STOP_EVERY steps each, a turn being `steps` of them. */
static inline bool tg_stop_at(const tg_stop *stop, uint64_t i, uint64_t steps) {
  if (stop == NULL) return false;
  const uint64_t turns = TG_STOP_EVERY / (steps > 0 ? steps : 1);
  if (turns > 1 && i % turns != 0) return false;
  return stop->asked(stop->ctx);
}

/* The same for turns of unequal work: asks once `*done`, which begins as 0, has grown by
 * TG_STOP_EVERY steps. */
static inline bool tg_stop_after(const tg_stop *stop, uint64_t *done, uint64_t steps) {
  if (stop == NULL || __builtin_add_overflow(*done, steps, done)) return false;
  if (*done < TG_STOP_EVERY) return false;
  *done = 0;
  return stop->asked(stop->ctx);
}

#endif

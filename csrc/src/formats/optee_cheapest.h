/* optee_cheapest.h - how stamps may be shared out among clients whose windows overlap.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TG_FORMATS_OPTEE_CHEAPEST_H
#define TG_FORMATS_OPTEE_CHEAPEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/stop.h"
#include "tickgauge/alloc.h"
#include "tickgauge/status.h"

/* The steps of a call, in the order of time. */
typedef enum tg_step {
  TG_STEP_START = 0, /* the client's line has this one, `enter` and `return` */
  TG_STEP_DO,
  TG_STEP_RECEIVE,
  TG_STEP_ENTER,
  TG_STEP_CORE_FINISH,
  TG_STEP_FINISH,
  TG_STEP_RETURN,
  TG_STEPS
} tg_step;

#define TG_NO_STAMP UINT32_MAX

/* The window of one client: by index of the events, TG_NO_STAMP for a step that no event has. */
typedef struct tg_window {
  uint32_t event[TG_STEPS];
  bool told; /* every sharing of the stamps that costs little more gives it the same ones */
} tg_window;

/* One instant. `window` is the window of a client's own step; stamps of the printers have none
 * yet. */
typedef struct tg_instant {
  uint64_t ticks;
  uint32_t window;
  uint32_t id; /* the caller's */
  uint8_t step; /* tg_step */
} tg_instant;

/* Finds for each window the stamps that are its own in every way to share all of them out that
 * needs few lost lines more than the best way: sets `event` of the printers' steps, and `told`.
 * `events` are in the order of (ticks, step); `at_once` is how many clients call at the same time.
 * TG_OK, TG_ENOMEM, TG_EINTERRUPTED. */
tg_status tg_cheapest(const tg_alloc *a, const tg_stop *stop, const tg_instant *events, size_t n,
                      size_t at_once, tg_window *windows);

#endif

/* stop.h - the hook by which a caller ends a long call.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TICKGAUGE_STOP_H
#define TICKGAUGE_STOP_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Long functions call `asked` now and then, each time after a bounded amount of work (some
 * thousand records, samples, pairs or draws; sorting an array is one piece), in the thread that
 * called them. Where it gives true they return TG_EINTERRUPTED: outputs are untouched, all memory
 * is given back. `ctx` is handed back unchanged. Wherever a `const tg_stop *` is taken NULL means:
 * never. It need not outlive the call. */
typedef struct tg_stop {
  bool (*asked)(void *ctx);
  void *ctx;
} tg_stop;

#ifdef __cplusplus
}
#endif
#endif

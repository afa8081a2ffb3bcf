/* stop.c - the hook of long calls: Ctrl-C and every other signal while the core works.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "binding.h"

#include <time.h>

/* Between two looks: taking the GIL can wait for another thread, and people do not notice. */
#define LOOK_NS UINT64_C(20000000)

static uint64_t now(void) {
  struct timespec t = {0, 0};
  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

/* Called without the GIL by the thread that dropped it. An exception stays with the thread. */
static bool asked(void *ctx) {
  tg_py_stop *stop = ctx;
  const uint64_t at = now();
  if (at - stop->looked < LOOK_NS) return false;
  const PyGILState_STATE gil = PyGILState_Ensure();
  const bool raised = PyErr_CheckSignals() < 0;
  PyGILState_Release(gil);
  stop->looked = now();
  return raised;
}

const tg_stop *tg_py_stop_new(tg_py_stop *stop) {
  *stop = (tg_py_stop){{asked, stop}, now()};
  return &stop->hook;
}

/* stop_at.h - a hook that says stop at the k-th asking.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TESTS_STOP_AT_H
#define TESTS_STOP_AT_H

#include <stdlib.h>

#include "support/fail_alloc.h"
#include "tickgauge/stop.h"

typedef struct stop_at {
  tg_stop hook;
  long left;  /* askings that are still answered "go on" */
  long asked; /* so often */
  bool said;  /* it said stop: nobody may ask again */
} stop_at;

static inline bool stop_at_asked(void *ctx) {
  stop_at *s = ctx;
  ck_assert(!s->said);
  s->asked++;
  s->said = s->left-- <= 0;
  return s->said;
}

/* Runs `run` with asking 0, 1, 2 ... answered "stop" until a run is asked no more. A stopped run
 * must come out as TG_EINTERRUPTED with nothing left allocated; `run` looks at its outputs itself.
 * Returns the number of askings of a whole run. */
static inline long stop_every_asking(tg_status (*run)(const tg_alloc *a, const tg_stop *stop)) {
  const long stride = getenv("TICKGAUGE_QUICK") != NULL ? 29 : 1; /* behind the first ones */
  for (long k = 0;; k += k < 8 ? 1 : stride) {
    fail_alloc f;
    stop_at s = {.left = k};
    s.hook = (tg_stop){stop_at_asked, &s};
    const tg_status status = run(fail_alloc_suite(&f, LONG_MAX, false), &s.hook);
    ck_assert_msg(f.live == 0, "%ld blocks left when stopped at asking %ld", f.live, k);
    ck_assert_msg(status == (s.said ? TG_EINTERRUPTED : TG_OK), "asking %ld: status %d", k,
                  (int)status);
    if (!s.said) return s.asked;
  }
}

#endif

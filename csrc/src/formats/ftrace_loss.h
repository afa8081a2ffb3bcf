/* ftrace_loss.h - which calls of a trace can be trusted where events are missing.
 *
 * Where the end of one call and the begin of the next are lost, the two look like one. No line
 * tells, so the threads that visibly lack events are judged by how many they lack.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TG_FORMATS_FTRACE_LOSS_H
#define TG_FORMATS_FTRACE_LOSS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tickgauge/alloc.h"
#include "tickgauge/status.h"

/* One call as a first pass sees it; `total` of a complete one, -1 of a call that lacks events. */
typedef struct tg_trace_tally {
  uint64_t tid;
  int64_t total;
} tg_trace_tally;

/* One thread: the bound of its calls; -1: none of them can be trusted. */
typedef struct tg_trace_thread {
  uint64_t tid;
  int64_t limit;
} tg_trace_thread;

typedef struct tg_trace_loss {
  tg_trace_tally *calls;
  size_t n_calls, cap_calls;
  tg_trace_thread *threads; /* by tid */
  size_t n_threads, cap_threads;
  bool waits;     /* calls wait for a thread: they begin again, and a lost begin is not seen */
  size_t lacking; /* calls that lack events, of all threads */
  size_t refused; /* threads whose calls are all left out */
} tg_trace_loss;

/* Adds a call of the first pass. TG_OK, TG_ENOMEM. */
tg_status tg_trace_loss_add(const tg_alloc *a, tg_trace_loss *l, uint64_t tid, int64_t total);
/* Judges the threads, once all calls were added. TG_OK, TG_ENOMEM. */
tg_status tg_trace_loss_judge(const tg_alloc *a, tg_trace_loss *l);
/* True if a call of this thread and this total can be trusted. */
bool tg_trace_loss_trusts(const tg_trace_loss *l, uint64_t tid, int64_t total);
void tg_trace_loss_free(const tg_alloc *a, tg_trace_loss *l);

#endif

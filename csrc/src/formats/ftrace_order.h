/* ftrace_order.h - the events of a trace in the order of time.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TG_FORMATS_FTRACE_ORDER_H
#define TG_FORMATS_FTRACE_ORDER_H

#include "ftrace.h"

/* The findings about the times of a source. */
typedef struct tg_trace_order {
  bool deltas;    /* its stamps were differences, which are added up now */
  bool unsafe;    /* the order cannot be told from the stamps: nothing was done */
  size_t back;    /* events whose time lies before that of the event in front of them */
  uint64_t line, offset; /* of the first of them */
  size_t traces;  /* several traces stand one behind the other */
} tg_trace_order;

/* Puts the events of one source, given in its order, into the order of time: trace by trace
 * (`trace` of each is set, counting from 0), equal times as they stand. A trace ends where a
 * processor's time goes back and stays back. Lost marks keep their places. Stamps that are
 * differences become times. TG_OK, TG_ENOMEM. */
tg_status tg_trace_sort(const tg_alloc *a, tg_trace_event *e, size_t n, tg_trace_order *out);

#endif

/* ftrace.h - events of a trace, and the calls they make up.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TG_FORMATS_FTRACE_H
#define TG_FORMATS_FTRACE_H

#include "ftrace_head.h"
#include "ftrace_loss.h"
#include "tickgauge/format.h"
#include "tickgauge/number.h"

typedef enum tg_trace_kind {
  TG_TRACE_NONE = 0,
  TG_TRACE_BEGIN,      /* the driver calls the secure world */
  TG_TRACE_END,        /* the secure world returns */
  TG_TRACE_CPU_IDLE,   /* `param` is the cpu, `code` the state, 2^32-1 on leaving it */
  TG_TRACE_PSCI_ENTER, /* `param` is the cpu, `code` the state */
  TG_TRACE_PSCI_EXIT,
  TG_TRACE_SUSPEND, /* `name` and `code` say which state begins or ends */
  TG_TRACE_LOST,    /* from here on: no events */
  TG_TRACE_ENTRIES
} tg_trace_kind;

#define TG_TRACE_CPUS 1024
#define TG_TRACE_NO_CPU UINT32_MAX /* of a line that names none */

typedef struct tg_trace_event {
  tg_trace_head head;
  tg_str name;
  int64_t time;   /* ns, or ticks of a counting clock */
  uint64_t param; /* who: the arguments' address, a cpu */
  uint64_t code;  /* function id or return code, a state; 32 bits */
  uint64_t line, offset;
  uint32_t boot;
  uint32_t trace, order; /* set by tg_trace_sort */
  tg_trace_kind kind;
  bool ticks, begins;
} tg_trace_event;

/* The calls of one source. `resolution` is the step of its stamps; calls that begin before
 * `whole_since` may lack events. With `count` nothing is written but the calls' tally, for a first
 * pass; else `judged` says which calls can be trusted. TG_OK, TG_ENOMEM. */
typedef struct tg_trace tg_trace;
typedef struct tg_trace_setup {
  uint64_t resolution;
  int64_t whole_since;
  tg_trace_loss *count;
  const tg_trace_loss *judged;
} tg_trace_setup;
tg_status tg_trace_new(const tg_reduce_in *in, tg_result *out, uint32_t source,
                       const tg_trace_setup *setup, tg_trace **trace);
void tg_trace_free(tg_trace *trace);

/* The next event in the order of the source. TG_OK, TG_ENOMEM. */
tg_status tg_trace_feed(tg_trace *trace, const tg_trace_event *e);
/* Events were lost here (`n` 0: unknown how many): no open call can be trusted. */
tg_status tg_trace_lost(tg_trace *trace, uint64_t line, uint64_t offset, uint64_t n);
/* Another trace begins: open calls and stays are left without their end. TG_OK, TG_ENOMEM. */
tg_status tg_trace_cut(tg_trace *trace);
/* The end of the source: open calls are left without their end. */
tg_status tg_trace_finish(tg_trace *trace);

#endif

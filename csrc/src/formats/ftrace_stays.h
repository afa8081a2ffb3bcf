/* ftrace_stays.h - idle states of cpus, and phases of suspend and resume, between two events.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TG_FORMATS_FTRACE_STAYS_H
#define TG_FORMATS_FTRACE_STAYS_H

#include "ftrace.h"

/* A state that a cpu (or the system) is in. */
typedef struct tg_stay {
  tg_trace_kind kind;
  uint64_t who, code;
  int64_t since;
  char name[32];
} tg_stay;

enum { TG_STAYS = 64 }; /* of suspend and resume, and of cpus without a seat */

/* The idle state of one cpu; it is in one where `era` is that of the stays. */
typedef struct tg_seat {
  int64_t since;
  uint64_t code;
  uint64_t era;
} tg_seat;

/* All that go on. Zeroed and then forgotten, none does. */
typedef struct tg_stays {
  tg_stay at[TG_STAYS];
  size_t n;
  uint64_t era; /* counts from 1 the stretches between lost events */
  tg_seat cpu_idle[TG_TRACE_CPUS], psci_idle[TG_TRACE_CPUS];
} tg_stays;

/* Ends all without a reading: events were lost. */
void tg_stays_forget(tg_stays *s);

/* Begins or ends a stay of that kind. True where one ended: `*ended` is a copy. An end without its
 * begin ends nothing. */
bool tg_stays_feed(tg_stays *s, const tg_trace_event *e, tg_trace_kind kind, bool begins,
                   tg_stay *ended);

#endif

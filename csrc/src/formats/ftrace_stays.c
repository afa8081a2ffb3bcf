/* ftrace_stays.c - idle states of cpus, and phases of suspend and resume, between two events.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "ftrace_stays.h"

#include <string.h>

void tg_stays_forget(tg_stays *s) {
  s->n = 0;
  s->era++;
}

static bool same_stay(const tg_stay *s, const tg_trace_event *e, tg_trace_kind kind) {
  if (s->kind != kind || s->who != e->param) return false;
  return kind != TG_TRACE_SUSPEND || (s->code == e->code && strlen(s->name) == e->name.n &&
                                      memcmp(s->name, e->name.p, e->name.n) == 0);
}

/* The idle state of a cpu, which has a place of its own. */
static bool feed_seat(tg_stays *s, const tg_trace_event *e, tg_trace_kind kind, bool begins,
                      tg_seat *cpu, tg_stay *ended) {
  const bool was_in = cpu->era == s->era;
  *ended = (tg_stay){.kind = kind, .who = e->param, .code = cpu->code, .since = cpu->since};
  *cpu = (tg_seat){e->time, e->code, begins ? s->era : 0};
  return was_in && !begins;
}

bool tg_stays_feed(tg_stays *s, const tg_trace_event *e, tg_trace_kind kind, bool begins,
                   tg_stay *ended) {
  if (kind != TG_TRACE_SUSPEND && e->param < TG_TRACE_CPUS) {
    tg_seat *cpus = kind == TG_TRACE_CPU_IDLE ? s->cpu_idle : s->psci_idle;
    return feed_seat(s, e, kind, begins, &cpus[e->param], ended);
  }
  for (size_t i = 0; i < s->n; i++) {
    if (!same_stay(&s->at[i], e, kind)) continue;
    *ended = s->at[i];
    s->at[i] = s->at[--s->n];
    if (!begins) return true;
    break;
  }
  if (!begins) return false;
  if (s->n == TG_STAYS) s->at[0] = s->at[--s->n];
  tg_stay *stay = &s->at[s->n++];
  memset(stay, 0, sizeof *stay);
  stay->kind = kind;
  stay->who = e->param;
  stay->code = e->code;
  stay->since = e->time;
  const size_t n = e->name.n < sizeof stay->name - 1 ? e->name.n : sizeof stay->name - 1;
  if (n > 0) memcpy(stay->name, e->name.p, n);
  return false;
}

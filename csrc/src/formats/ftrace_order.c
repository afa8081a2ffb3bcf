/* ftrace_order.c - the events of a trace in the order of time.
 *
 * A kernel writes the events of each processor in order, and its tools merge them. Files that were
 * put together by hand are not merged: those of several processors are sorted here. Where the time
 * of one processor goes back and stays back, another trace begins. perf --deltatime prints
 * differences: these go back all the time, but each end still stands behind its begin.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "ftrace_order.h"

#include "base/mem.h"

enum {
  DELTAS_OF = 5,  /* one step back in so many is too much for an unsorted trace */
  DELTAS_LEAST = 2,
  NEIGHBOURS = 4, /* of so many ends, all but one must stand right behind their begins */
  CUTS_OF = 16,   /* traces that stand one behind the other have more events than that */
  AHEAD = 3       /* so many events must stay back where another trace begins */
};

static bool event_before(const tg_trace_event *a, const tg_trace_event *b) {
  if (a->boot != b->boot) return a->boot < b->boot;
  if (a->trace != b->trace) return a->trace < b->trace;
  return a->time != b->time ? a->time < b->time : a->order < b->order;
}

#define TG_SORT_NAME sort_events
#define TG_SORT_ITEM tg_trace_event
#define TG_SORT_BEFORE(a, b) event_before(a, b)
#include "base/sort.h"

/* Counts steps back between neighbours of one boot. */
static void count_back(const tg_trace_event *e, size_t n, tg_trace_order *out) {
  for (size_t i = 1; i < n; i++) {
    if (e[i].boot != e[i - 1].boot || e[i].time >= e[i - 1].time) continue;
    if (e[i].kind == TG_TRACE_LOST || e[i - 1].kind == TG_TRACE_LOST || out->back++ > 0) continue;
    out->line = e[i].line;
    out->offset = e[i].offset;
  }
}

/* True if an end stands right behind the begin of the same task and arguments. */
static bool behind_its_begin(const tg_trace_event *e, size_t i) {
  return i > 0 && e[i - 1].kind == TG_TRACE_BEGIN && e[i - 1].param == e[i].param &&
         e[i - 1].head.tid == e[i].head.tid;
}

/* How the stamps of a source look. */
typedef struct look {
  int64_t least, most, sum;
  size_t ends, right; /* ends, and those right behind their begins */
  bool overflows;
} look;

static look look_at(const tg_trace_event *e, size_t n) {
  look l = {.least = INT64_MAX};
  for (size_t i = 0; i < n; i++) {
    if (e[i].kind == TG_TRACE_LOST) continue;
    if (e[i].time < l.least) l.least = e[i].time;
    if (e[i].time > l.most) l.most = e[i].time;
    l.overflows = l.overflows || __builtin_add_overflow(l.sum, e[i].time, &l.sum);
    if (e[i].kind != TG_TRACE_END) continue;
    l.ends++;
    l.right += behind_its_begin(e, i);
  }
  return l;
}

/* Decides the meaning of steps back. A clock that runs for long prints stamps of about one size,
 * which can be sorted whatever their order. Stamps of all sizes that go back all the time are
 * differences where the events are in order; else nobody can tell. */
static void decide(const tg_trace_event *e, size_t n, tg_trace_order *out) {
  if (out->back < DELTAS_LEAST || out->back * DELTAS_OF < n) return;
  const look l = look_at(e, n);
  if (l.least > l.most / 2) return;
  out->deltas = !l.overflows && l.ends > 0 && l.right * NEIGHBOURS >= l.ends * (NEIGHBOURS - 1);
  out->unsafe = !out->deltas;
}

/* Adds differences up. */
static void add_up(tg_trace_event *e, size_t n) {
  int64_t now = 0;
  for (size_t i = 0; i < n; i++) {
    if (e[i].kind == TG_TRACE_LOST) continue;
    now += e[i].time; /* that it fits was asked before */
    e[i].time = now;
  }
}

/* True if the events from `i` on stay below `highest` and rise: another trace. */
static bool stays_back(const tg_trace_event *e, size_t n, size_t i, int64_t highest) {
  size_t seen = 0;
  int64_t last = e[i].time;
  for (size_t k = i + 1; k < n && seen < AHEAD; k++) {
    if (e[k].kind == TG_TRACE_LOST) continue;
    if (e[k].boot != e[i].boot || e[k].time >= highest || e[k].time < last) return false;
    last = e[k].time;
    seen++;
  }
  return seen == AHEAD;
}

/* Cuts the source into traces. */
static void cut_traces(tg_trace_event *e, size_t n, int64_t last[TG_TRACE_CPUS],
                       tg_trace_order *out) {
  const bool cut = out->back * CUTS_OF < n; /* lines out of order are no traces */
  int64_t highest = INT64_MIN;
  uint32_t trace = 0;
  for (size_t c = 0; c < TG_TRACE_CPUS; c++) last[c] = INT64_MIN;
  for (size_t i = 0; i < n; i++) {
    const size_t cpu = e[i].head.cpu < TG_TRACE_CPUS ? e[i].head.cpu : 0;
    const bool lost = e[i].kind == TG_TRACE_LOST;
    if (!lost && cut && e[i].time < last[cpu] && stays_back(e, n, i, highest)) {
      trace++;
      highest = INT64_MIN;
      for (size_t c = 0; c < TG_TRACE_CPUS; c++) last[c] = INT64_MIN;
    }
    e[i].trace = trace;
    e[i].order = (uint32_t)i;
    if (lost) {
      e[i].time = i > 0 && e[i - 1].trace == trace ? e[i - 1].time : INT64_MIN;
      continue;
    }
    last[cpu] = e[i].time;
    if (e[i].time > highest) highest = e[i].time;
  }
  out->traces = trace + 1;
}

tg_status tg_trace_sort(const tg_alloc *a, tg_trace_event *e, size_t n, tg_trace_order *out) {
  *out = (tg_trace_order){.traces = 1};
  if (n == 0) return TG_OK;
  if (n >= UINT32_MAX) return TG_EOVERFLOW;
  int64_t *last = tg_take(a, TG_TRACE_CPUS, sizeof *last);
  if (last == NULL) return TG_ENOMEM;
  count_back(e, n, out);
  decide(e, n, out);
  if (out->deltas) add_up(e, n);
  if (out->unsafe) goto done;
  cut_traces(e, n, last, out);
  if (out->back > 0 && !out->deltas) sort_events(e, n);
done:
  tg_release(a, last);
  return TG_OK;
}

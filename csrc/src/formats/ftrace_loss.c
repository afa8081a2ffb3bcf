/* ftrace_loss.c - which calls of a trace can be trusted where events are missing.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "ftrace_loss.h"

#include "base/mem.h"
#include "base/try.h"

enum {
  ENDS = 3,        /* a trace may begin and end within calls: so many lack events anyhow */
  LACKING_OF = 16, /* one call in so many lacks events: then two in a row may, unseen */
  USUAL_NUM = 5, /* two calls in one and the time between take longer than the usual one by this */
  USUAL_DEN = 2
};

#define TG_SORT_NAME sort_tally
#define TG_SORT_ITEM tg_trace_tally
#define TG_SORT_BEFORE(a, b) ((a)->tid != (b)->tid ? (a)->tid < (b)->tid : (a)->total < (b)->total)
#include "base/sort.h"

tg_status tg_trace_loss_add(const tg_alloc *a, tg_trace_loss *l, uint64_t tid, int64_t total) {
  TG_TRY(tg_reserve(a, &l->calls, &l->cap_calls, l->n_calls + 1, sizeof *l->calls));
  l->calls[l->n_calls++] = (tg_trace_tally){tid, total};
  return TG_OK;
}

/* Judges the calls [from, to) of one thread, ordered by their totals. */
static tg_trace_thread judge_thread(const tg_trace_loss *l, size_t from, size_t to) {
  const tg_trace_tally *calls = l->calls;
  tg_trace_thread t = {calls[from].tid, INT64_MAX};
  size_t lacking = from;
  while (lacking < to && calls[lacking].total < 0) lacking++;
  const size_t n = to - from;
  const size_t lack = lacking - from;
  if (lack == 0 || lacking == to) return t;
  if (lack > ENDS ? lack * LACKING_OF > n : l->waits && lack > 1) {
    t.limit = -1;
    return t;
  }
  const int64_t median = calls[lacking + (to - lacking) / 2].total;
  t.limit = median < INT64_MAX / USUAL_NUM ? median * USUAL_NUM / USUAL_DEN : INT64_MAX;
  if (lack <= ENDS) t.limit = INT64_MAX;
  return t;
}

tg_status tg_trace_loss_judge(const tg_alloc *a, tg_trace_loss *l) {
  sort_tally(l->calls, l->n_calls);
  for (size_t from = 0; from < l->n_calls;) {
    size_t to = from + 1;
    while (to < l->n_calls && l->calls[to].tid == l->calls[from].tid) to++;
    const tg_trace_thread t = judge_thread(l, from, to);
    for (size_t i = from; i < to; i++) l->lacking += l->calls[i].total < 0;
    l->refused += t.limit < 0;
    if (t.limit != INT64_MAX) {
      TG_TRY(tg_reserve(a, &l->threads, &l->cap_threads, l->n_threads + 1, sizeof *l->threads));
      l->threads[l->n_threads++] = t;
    }
    from = to;
  }
  return TG_OK;
}

bool tg_trace_loss_trusts(const tg_trace_loss *l, uint64_t tid, int64_t total) {
  size_t low = 0;
  size_t high = l->n_threads;
  while (low < high) {
    const size_t mid = low + (high - low) / 2;
    if (l->threads[mid].tid < tid) {
      low = mid + 1;
    } else {
      high = mid;
    }
  }
  if (low == l->n_threads || l->threads[low].tid != tid) return true;
  return total <= l->threads[low].limit;
}

void tg_trace_loss_free(const tg_alloc *a, tg_trace_loss *l) {
  tg_release(a, l->calls);
  tg_release(a, l->threads);
}

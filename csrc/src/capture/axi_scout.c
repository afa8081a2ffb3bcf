/* axi_scout.c - lists of commands and answers of a segment, collected in the first walk.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "capture/axi_scout.h"

#include "base/mem.h"
#include "base/try.h"

#define LONG_GAP 8u /* clocks without progress that are worth an event */

#define TG_SORT_NAME sort_codes
#define TG_SORT_ITEM uint32_t
#define TG_SORT_BEFORE(a, b) (*(a) < *(b))
#include "base/sort.h"

static tg_status queue_at(axi_scout *s, enum scout_set set, uint32_t code, scout_queue **out) {
  tg_status status = TG_OK;
  if (code >= s->n_queue[set]) {
    status = tg_grow(&s->a, (void **)&s->queue[set], &s->cap_queue[set], code + (size_t)1,
                     sizeof **s->queue);
    if (status != TG_OK) return status;
    for (size_t i = s->n_queue[set]; i <= code; i++) s->queue[set][i] = (scout_queue){0};
    s->n_queue[set] = code + (size_t)1;
  }
  scout_queue *q = &s->queue[set][code];
  *out = q;
  if (q->n_command + q->n_burst > 0) return TG_OK;
  status = tg_grow(&s->a, (void **)&s->used[set], &s->cap_used[set], s->n_used[set] + 1,
                   sizeof **s->used);
  if (status == TG_OK) s->used[set][s->n_used[set]++] = code;
  return status;
}

/* Progress of a direction at sample k: the clocks without any before it. */
static uint64_t progress(axi_scout *s, unsigned d, uint64_t k) {
  const uint64_t gap = k > s->next_progress[d] ? k - s->next_progress[d] : 0;
  s->next_progress[d] = k + 1;
  return gap;
}

static tg_status note(axi_scout *s, unsigned d, const scout_event *event) {
  tg_status status =
      tg_grow(&s->a, (void **)&s->event[d], &s->cap_event[d], s->n_event[d] + 1, sizeof **s->event);
  if (status == TG_OK) s->event[d][s->n_event[d]++] = *event;
  return status;
}

static tg_status add_command(axi_scout *s, scout_queue *q, const scout_command *command) {
  tg_status status =
      tg_grow(&s->a, (void **)&q->command, &q->cap_command, q->n_command + 1, sizeof *q->command);
  if (status == TG_OK) q->command[q->n_command++] = *command;
  return status;
}

tg_status tg_scout_command(axi_scout *s, unsigned direction, uint32_t w_code, uint32_t code,
                           const scout_command *command) {
  scout_queue *q = NULL, *w = NULL;
  const scout_event event = {.sample = command->accept,
                             .since = command->valid,
                             .gap = progress(s, direction, command->accept),
                             .change = 1};
  TG_TRY(note(s, direction, &event));
  TG_TRY(queue_at(s, direction == 0 ? SET_R : SET_B, code, &q));
  TG_TRY(add_command(s, q, command));
  if (direction == 0) return TG_OK;
  TG_TRY(queue_at(s, SET_W, w_code, &w));
  TG_TRY(add_command(s, w, command));
  TG_TRY(tg_grow(&s->a, (void **)&q->order, &q->cap_order, q->n_command, sizeof *q->order));
  q->order[q->n_command - 1] = w->n_command - 1;
  return TG_OK;
}

tg_status tg_scout_beat(axi_scout *s, enum scout_set set, uint32_t code, uint64_t valid, uint64_t k,
                        bool last) {
  const unsigned d = set != SET_R;
  scout_event event = {.sample = k, .since = valid, .gap = progress(s, d, k)};
  scout_queue *q = NULL;
  tg_status status = queue_at(s, set, code, &q);
  if (status != TG_OK) return status;
  if (q->n_burst == 0 || q->burst[q->n_burst - 1].ended) {
    status = tg_grow(&s->a, (void **)&q->burst, &q->cap_burst, q->n_burst + 1, sizeof *q->burst);
    if (status != TG_OK) return status;
    q->burst[q->n_burst++] = (scout_burst){.valid = valid};
  }
  scout_burst *b = &q->burst[q->n_burst - 1];
  b->beats++;
  b->last = k;
  b->ended = last;
  event.change = last && set != SET_W ? -1 : 0;
  const bool told = event.change != 0 || event.gap >= LONG_GAP || b->beats == 1;
  return told ? note(s, d, &event) : TG_OK;
}

tg_status tg_scout_quiet(axi_scout *s, uint64_t from, uint64_t to) {
  if (s->n_quiet > 0 && s->quiet[s->n_quiet - 1].to == from) {
    s->quiet[s->n_quiet - 1].to = to;
    return TG_OK;
  }
  tg_status status =
      tg_grow(&s->a, (void **)&s->quiet, &s->cap_quiet, s->n_quiet + 1, sizeof *s->quiet);
  if (status == TG_OK) s->quiet[s->n_quiet++] = (scout_quiet){.from = from, .to = to};
  return status;
}

/* Keeps the answers of the segment and empties its lists. */
static tg_status keep(axi_scout *s) {
  scout_segment segment = {
      .sample = s->begin, .window = s->window, .fresh = {s->fresh[0], s->fresh[1]}};
  tg_status status =
      tg_grow(&s->a, (void **)&s->segment, &s->cap_segment, s->n_segment + 1, sizeof *s->segment);
  for (unsigned set = 0; set < SET_COUNT && status == TG_OK; set++) {
    const size_t n = s->n_used[set];
    segment.first[set] = s->n_answer;
    segment.count[set] = n;
    if (n == 0) continue;
    status =
        tg_grow(&s->a, (void **)&s->answer, &s->cap_answer, s->n_answer + n, sizeof *s->answer);
    if (status != TG_OK) break;
    sort_codes(s->used[set], n);
    for (size_t i = 0; i < n; i++) {
      scout_queue *q = &s->queue[set][s->used[set][i]];
      s->answer[s->n_answer++] =
          (scout_answer){.code = s->used[set][i],
                         .start = {.open = (int32_t)q->open, .basis = q->basis}};
      q->n_command = q->n_burst = 0;
      q->open = q->least = 0;
      q->basis = BASIS_NONE;
    }
    s->n_used[set] = 0;
  }
  if (status == TG_OK) s->segment[s->n_segment++] = segment;
  s->n_event[0] = s->n_event[1] = s->n_quiet = 0;
  return status;
}

tg_status tg_scout_close(axi_scout *s, uint64_t end, const tg_stop *stop) {
  tg_status status = tg_scout_decide(s, end, stop);
  return status == TG_OK ? keep(s) : status;
}

void tg_scout_begin(axi_scout *s, uint64_t begin, enum axi_basis given) {
  s->begin = s->next_progress[0] = s->next_progress[1] = begin;
  s->given = (uint8_t)given;
  s->busy_at_begin[0] = s->busy_at_begin[1] = false;
  s->counter[0] = s->counter[1] = -1;
}

axi_start tg_scout_start(const axi_scout *s, size_t segment, enum scout_set set, uint32_t code) {
  const axi_start none = {.open = 0, .basis = BASIS_START};
  if (segment >= s->n_segment) return none;
  size_t low = s->segment[segment].first[set], high = low + s->segment[segment].count[set];
  while (low < high) {
    const size_t mid = low + (high - low) / 2;
    if (s->answer[mid].code == code) return s->answer[mid].start;
    if (s->answer[mid].code < code)
      low = mid + 1;
    else
      high = mid;
  }
  return none;
}

bool tg_scout_fresh(const axi_scout *s, size_t segment, unsigned direction) {
  return segment < s->n_segment && s->segment[segment].fresh[direction];
}

uint64_t tg_scout_total(const axi_scout *s, size_t segment, enum scout_set set) {
  uint64_t all = 0;
  if (segment >= s->n_segment) return 0;
  for (size_t i = 0; i < s->segment[segment].count[set]; i++) {
    const int32_t open = s->answer[s->segment[segment].first[set] + i].start.open;
    all += open > 0 ? (uint64_t)open : 0;
  }
  return all;
}

void tg_scout_drop_lists(axi_scout *s) {
  for (unsigned set = 0; set < SET_COUNT; set++) {
    for (size_t i = 0; i < s->n_queue[set]; i++) {
      tg_release(&s->a, s->queue[set][i].command);
      tg_release(&s->a, s->queue[set][i].burst);
      tg_release(&s->a, s->queue[set][i].order);
    }
    tg_release(&s->a, s->queue[set]);
    tg_release(&s->a, s->used[set]);
    s->queue[set] = NULL;
    s->used[set] = NULL;
    s->n_queue[set] = s->cap_queue[set] = s->n_used[set] = s->cap_used[set] = 0;
  }
  for (unsigned d = 0; d < 2; d++) {
    tg_release(&s->a, s->event[d]);
    s->event[d] = NULL;
    s->n_event[d] = s->cap_event[d] = 0;
  }
  tg_release(&s->a, s->quiet);
  s->quiet = NULL;
  s->n_quiet = s->cap_quiet = 0;
}

void tg_scout_free(axi_scout *s) {
  tg_scout_drop_lists(s);
  tg_release(&s->a, s->answer);
  tg_release(&s->a, s->segment);
}

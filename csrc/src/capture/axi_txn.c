/* axi_txn.c - transactions: made, queued by id, given beats and responses, completed.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdarg.h>
#include <stdio.h>

#include "capture/axi.h"

#define MOST_PROBLEMS ((size_t)1 << 20)

tg_status tg_axi_problem(tg_axi *x, uint64_t sample, unsigned channel, const char *reason,
                         const char *format, ...) {
  char text[TG_ERROR_TEXT];
  va_list ap;
  if (x->scouting || tg_table_rows(x->problems) >= MOST_PROBLEMS) return TG_OK;
  va_start(ap, format);
  vsnprintf(text, sizeof text, format, ap);
  va_end(ap);
  tg_row w = tg_row_begin(x->problems);
  tg_row_u64(&w, 0, sample);
  tg_row_cstr(&w, 1, tg_cap_channel_names[channel]);
  tg_row_cstr(&w, 2, reason);
  tg_row_cstr(&w, 3, text);
  return tg_row_end(&w);
}

bool tg_axi_move_pin(axi_pin *p, uint32_t step) {
  const cap_store *s = p->store;
  const size_t before = p->at;
  for (; p->at < s->n && s->at[p->at] >> 2 <= step; p->at++) {
    p->x = (s->at[p->at] & 2) != 0;
    p->v = s->width == 1 ? s->at[p->at] & 1 : s->value[p->at * s->words];
  }
  return p->at != before;
}

bool tg_axi_pin(const tg_axi *x, unsigned ch, unsigned leaf, uint64_t *v) {
  const axi_pin *p = &x->pin[ch][leaf];
  if (p->store == NULL || p->x) return false;
  *v = p->v;
  return true;
}

tg_status tg_axi_add(tg_axi *x, unsigned direction, uint32_t *index) {
  if (x->n_txn >= x->opt.max_transactions || x->n_txn >= CAP_NONE - 1) return TG_ELIMIT;
  tg_status status = tg_grow(&x->a, (void **)&x->txn, &x->cap_txn, x->n_txn + 1, sizeof *x->txn);
  if (status != TG_OK) return status;
  axi_txn *t = &x->txn[x->n_txn];
  *t = (axi_txn){.direction = (uint8_t)direction, .window = x->window, .before = NO_STAMP};
  for (unsigned i = 0; i < STAMPS; i++) t->stamp[i] = NO_STAMP;
  *index = (uint32_t)x->n_txn++;
  return TG_OK;
}

tg_status tg_axi_code(tg_axi *x, unsigned direction, unsigned ch, bool *known, uint64_t *id,
                      uint32_t *code) {
  *known = tg_axi_pin(x, ch, LEAF_ID, id);
  const uint64_t key = x->by_id[direction] && *known ? *id : 0;
  return tg_intern_put(x->ids[direction], (const uint8_t *)&key, sizeof key, code);
}

tg_status tg_axi_queue(tg_axi *x, unsigned direction, unsigned ch, bool *known, uint64_t *id,
                       axi_queue **out) {
  uint32_t code = 0;
  tg_status status = tg_axi_code(x, direction, ch, known, id, &code);
  if (status != TG_OK) return status;
  if (code >= x->n_queue[direction]) {
    status = tg_grow(&x->a, (void **)&x->queue[direction], &x->cap_queue[direction],
                     code + (size_t)1, sizeof **x->queue);
    if (status != TG_OK) return status;
    for (size_t i = x->n_queue[direction]; i <= code; i++)
      x->queue[direction][i] = (axi_queue){.last_end = NO_STAMP};
    x->n_queue[direction] = code + (size_t)1;
  }
  axi_queue *q = &x->queue[direction][code];
  if (q->segment != x->segment + 1) { /* its first use in this segment */
    const axi_start start =
        tg_scout_start(x->scout, x->segment, direction == READ ? SET_R : SET_B, code);
    *q = (axi_queue){.last_end = NO_STAMP,
                     .segment = x->segment + 1,
                     .ghosts = start.open > 0 ? (uint32_t)start.open : 0,
                     .basis = start.basis};
  }
  *out = q;
  return TG_OK;
}

tg_status tg_axi_add_beat(tg_axi *x, axi_txn *t, unsigned ch, const axi_beat *b, bool *done) {
  const bool known = (t->known & KNOW_LEN) != 0;
  tg_status status = TG_OK;
  t->seen++;
  if (t->stamp[DATA_FIRST] == NO_STAMP) {
    t->stamp[DATA_FIRST] = b->sample;
    t->stamp[DATA_VALID] = b->since;
    if (t->stamp[AX_ACCEPT] != NO_STAMP && b->sample < t->stamp[AX_ACCEPT])
      t->flags |= TG_AXI_F_W_FIRST;
  }
  t->stamp[DATA_LAST] = b->sample;
  t->torn = t->torn || b->torn;
  if (b->last_unknown) t->flags |= TG_AXI_F_UNCERTAIN;
  if (x->has_last[ch] && !b->last_unknown)
    *done = b->last;
  else
    *done = known && t->seen == t->beats;
  const bool wrong = known && x->has_last[ch] && !b->last_unknown &&
                     (*done ? t->seen < t->beats : t->seen == t->beats);
  if (wrong && !t->torn) {
    t->flags |= TG_AXI_F_PROTOCOL;
    t->why = *done ? "LAST before its length" : "no LAST at its length";
    x->fig.protocol++;
    status = tg_axi_problem(x, b->sample, ch, "protocol", "%s: beat %llu of %llu", t->why,
                            (unsigned long long)t->seen, (unsigned long long)t->beats);
  }
  if (*done && !known) {
    t->beats = t->seen;
    t->known |= KNOW_LEN;
  }
  t->data_done = *done;
  return status;
}

axi_beat tg_axi_beat_at(const tg_axi *x, unsigned ch, uint64_t k) {
  return (axi_beat){.sample = k,
                    .since = x->pend[ch].since,
                    .last = x->level[ch].last,
                    .last_unknown = x->level[ch].last_unknown};
}

void tg_axi_keep_resp(tg_axi *x, unsigned ch, axi_txn *t) {
  uint64_t v = 0;
  if (!tg_axi_pin(x, ch, LEAF_RESP, &v)) return;
  if ((t->known & KNOW_RESP) == 0 || v > t->resp) t->resp = (uint8_t)(v & 3);
  t->known |= KNOW_RESP;
}

/* Takes the head of the queue out: it is complete at sample k. */
void tg_axi_complete(tg_axi *x, axi_queue *q, uint64_t k) {
  const uint32_t index = q->head - 1;
  axi_txn *t = &x->txn[index];
  const unsigned d = t->direction;
  q->head = t->next;
  if (q->head == 0) q->tail = 0;
  t->next = 0;
  t->before = q->last_end;
  q->last_end = k;
  t->status = COMPLETE;
  t->w_beats = x->w_running - t->w_beats;
  t->blocked = x->blocked_running - t->blocked;
  x->open_now[d]--;
  while (x->open_from[d] < x->n_order[d] && x->txn[x->order[d][x->open_from[d]]].status != OPEN)
    x->open_from[d]++;
  if (index < x->newest_done[d])
    ++*(d == READ ? &x->fig.reads_reordered : &x->fig.writes_reordered);
  else
    x->newest_done[d] = index;
}

/* A row for data or a response whose command lies before the segment; `expected`: the number of
 * commands that were open then has room for it. */
tg_status tg_axi_orphan(tg_axi *x, unsigned d, unsigned ch, bool known, uint64_t id, uint64_t k,
                        bool expected, uint32_t *index) {
  const char *what = d == READ ? "read data" : ch == CH_B ? "response" : "write data";
  char of_id[40] = "";
  tg_status status = tg_axi_add(x, d, index);
  if (status != TG_OK) return status;
  axi_txn *t = &x->txn[*index];
  t->status = ORPHAN;
  t->why = expected ? "its command lies before the capture or its window"
                    : "no command before it in its window";
  t->id = id;
  if (known) t->known |= KNOW_ID;
  x->fig.orphans++;
  if (known) snprintf(of_id, sizeof of_id, " of id %llu", (unsigned long long)id);
  return tg_axi_problem(x, k, ch, "orphan", "%s%s %s", what, of_id,
                        expected ? "whose command lies before" : "without an open command");
}

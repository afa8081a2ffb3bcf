/* axi_match.c - commands, data and responses put together: by id and order.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "capture/axi.h"

tg_status tg_axi_problem(tg_axi *x, uint64_t sample, unsigned channel, const char *reason,
                         const char *format, ...) {
  char text[TG_ERROR_TEXT];
  size_t row = 0;
  va_list ap;
  if (tg_table_rows(x->problems) >= 1u << 20) return TG_OK;
  va_start(ap, format);
  vsnprintf(text, sizeof text, format, ap);
  va_end(ap);
  tg_status status = tg_table_append(x->problems, &row);
  if (status == TG_OK) status = tg_table_set_u64(x->problems, row, 0, sample);
  if (status == TG_OK) status = tg_table_set_cstr(x->problems, row, 1, tg_cap_channel_names[channel]);
  if (status == TG_OK) status = tg_table_set_cstr(x->problems, row, 2, reason);
  if (status == TG_OK) status = tg_table_set_cstr(x->problems, row, 3, text);
  return status;
}

/* The value of a pin of the samples at hand; false where it is unknown or not there. */
static bool pin(const tg_axi *x, unsigned ch, unsigned leaf, uint64_t *v) {
  const axi_pin *p = &x->pin[ch][leaf];
  if (p->store == NULL || p->x) return false;
  *v = p->v;
  return true;
}

static tg_status new_txn(tg_axi *x, unsigned direction, uint32_t *index) {
  if (x->n_txn >= x->opt.max_transactions || x->n_txn >= CAP_NONE - 1) return TG_ELIMIT;
  tg_status status = tg_grow(&x->a, (void **)&x->txn, &x->cap_txn, x->n_txn + 1, sizeof *x->txn);
  if (status != TG_OK) return status;
  axi_txn *t = &x->txn[x->n_txn];
  *t = (axi_txn){.direction = (uint8_t)direction, .window = x->window, .before = NO_STAMP};
  for (unsigned i = 0; i < STAMPS; i++) t->stamp[i] = NO_STAMP;
  *index = (uint32_t)x->n_txn++;
  return TG_OK;
}

/* The queue of the id on `ch`; without ids there is one queue. */
static tg_status queue_of(tg_axi *x, unsigned direction, unsigned ch, bool *known, uint64_t *id,
                          axi_queue **out) {
  uint32_t code = 0;
  *known = pin(x, ch, LEAF_ID, id);
  uint64_t key = x->by_id[direction] && *known ? *id : 0;
  tg_status status = tg_intern_put(x->ids[direction], (const uint8_t *)&key, sizeof key, &code);
  if (status != TG_OK) return status;
  if (code >= x->n_queue[direction]) {
    status = tg_grow(&x->a, (void **)&x->queue[direction], &x->cap_queue[direction], code + (size_t)1,
                 sizeof **x->queue);
    if (status != TG_OK) return status;
    x->queue[direction][code] = (axi_queue){.last_end = NO_STAMP, .reset = x->resets};
    x->n_queue[direction] = code + (size_t)1;
  }
  axi_queue *q = &x->queue[direction][code];
  if (q->reset != x->resets) *q = (axi_queue){.last_end = NO_STAMP, .reset = x->resets};
  *out = q;
  return TG_OK;
}

/* ---- commands -----------------------------------------------------------------------------------
 */

/* Address, length, size, burst of the command at hand. */
static void read_command(tg_axi *x, unsigned ch, axi_txn *t) {
  uint64_t v = 0;
  if (pin(x, ch, LEAF_ADDR, &t->addr)) t->known |= KNOW_ADDR;
  if (pin(x, ch, LEAF_LEN, &v)) {
    t->beats = v + 1;
    t->known |= KNOW_LEN;
  } else if (x->lite) {
    t->beats = 1;
    t->known |= KNOW_LEN;
  }
  if (pin(x, ch, LEAF_SIZE, &v) && v < 8) {
    t->size = 1u << v;
    t->known |= KNOW_SIZE;
  } else if (x->pin[ch][LEAF_SIZE].store == NULL && x->bus_bytes > 0) {
    t->size = x->bus_bytes;
    t->known |= KNOW_SIZE;
  }
  if (pin(x, ch, LEAF_BURST, &v) && v < 3) {
    t->burst = (uint8_t)v;
    t->known |= KNOW_BURST;
  }
}

static tg_status take_early(tg_axi *x, uint32_t index);

static tg_status push_order(tg_axi *x, unsigned d, uint32_t index) {
  tg_status status =
      tg_grow(&x->a, (void **)&x->order[d], &x->cap_order[d], x->n_order[d] + 1, sizeof **x->order);
  if (status == TG_OK) x->order[d][x->n_order[d]++] = index;
  return status;
}

tg_status tg_axi_accept(tg_axi *x, unsigned d, uint64_t k) {
  unsigned ch = d == READ ? CH_AR : CH_AW;
  const axi_pend *p = &x->pend[ch];
  uint32_t index = 0;
  axi_queue *q = NULL;
  bool known = false;
  tg_status status = new_txn(x, d, &index);
  if (status != TG_OK) return status;
  axi_txn *t = &x->txn[index];
  status = queue_of(x, d, ch, &known, &t->id, &q);
  if (status == TG_OK) status = push_order(x, d, index);
  if (status != TG_OK) return status;
  if (known) t->known |= KNOW_ID;
  read_command(x, ch, t);
  t->stamp[AX_VALID] = p->since;
  t->stamp[AX_ACCEPT] = k;
  if (p->from_start) t->flags |= TG_AXI_F_START;
  t->trigger = x->trigger_on[d];
  x->trigger_on[d] = false;
  t->open = x->open_now[d]++;
  t->w_beats = x->w_running;
  t->blocked = x->blocked_running;
  if (q->orphan > 0 && d == READ && !x->has_last[CH_R]) { /* only the new command can end it */
    q->orphan = 0;
    x->orphan_reads--;
  }
  q->seen = true;
  if (q->tail > 0)
    x->txn[q->tail - 1].next = index + 1;
  else
    q->head = index + 1;
  q->tail = index + 1;
  if (p->addr_known && (t->known & KNOW_ADDR) != 0 && p->addr != t->addr) {
    t->flags |= TG_AXI_F_PROTOCOL;
    t->why = "its address changed while VALID waited";
    x->fig.protocol++;
    status = tg_axi_problem(x, k, ch, "protocol", "address changed from 0x%llx to 0x%llx before READY",
                        (unsigned long long)p->addr, (unsigned long long)t->addr);
  }
  if (status != TG_OK || d == READ) return status;
  status = tg_grow(&x->a, (void **)&x->w_wait, &x->cap_w_wait, x->n_w_wait + 1, sizeof *x->w_wait);
  if (status == TG_OK) x->w_wait[x->n_w_wait++] = index;
  return status == TG_OK ? take_early(x, index) : status;
}

/* ---- beats --------------------------------------------------------------------------------------
 */

/* Adds a data beat; `*done` where it was the last. Problems are flagged and listed once. */
static tg_status add_beat(tg_axi *x, axi_txn *t, unsigned ch, const axi_beat *b, bool *done) {
  bool known = (t->known & KNOW_LEN) != 0;
  tg_status status = TG_OK;
  t->seen++;
  if (t->stamp[DATA_FIRST] == NO_STAMP) {
    t->stamp[DATA_FIRST] = b->sample;
    t->stamp[DATA_VALID] = b->since;
    if (t->stamp[AX_ACCEPT] != NO_STAMP && b->sample < t->stamp[AX_ACCEPT])
      t->flags |= TG_AXI_F_W_FIRST;
  }
  t->stamp[DATA_LAST] = b->sample;
  if (b->last_unknown) t->flags |= TG_AXI_F_UNCERTAIN;
  if (x->has_last[ch] && !b->last_unknown)
    *done = b->last;
  else
    *done = known && t->seen == t->beats;
  bool wrong = known && x->has_last[ch] && !b->last_unknown &&
               (*done ? t->seen < t->beats : t->seen == t->beats);
  if (wrong) {
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

static axi_beat beat_at(const tg_axi *x, unsigned ch, uint64_t k) {
  return (axi_beat){.sample = k,
                    .since = x->pend[ch].since,
                    .last = x->level[ch].last,
                    .last_unknown = x->level[ch].last_unknown};
}

static void keep_resp(tg_axi *x, unsigned ch, axi_txn *t) {
  uint64_t v = 0;
  if (!pin(x, ch, LEAF_RESP, &v)) return;
  if ((t->known & KNOW_RESP) == 0 || v > t->resp) t->resp = (uint8_t)(v & 3);
  t->known |= KNOW_RESP;
}

/* Takes the head of the queue out: it is complete at sample k. */
static void complete(tg_axi *x, axi_queue *q, uint64_t k) {
  uint32_t index = q->head - 1;
  axi_txn *t = &x->txn[index];
  unsigned d = t->direction;
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

/* A burst or response whose command lies before the window. */
static tg_status new_orphan(tg_axi *x, unsigned d, unsigned ch, bool known, uint64_t id, uint64_t k,
                            uint32_t *index) {
  tg_status status = new_txn(x, d, index);
  if (status != TG_OK) return status;
  axi_txn *t = &x->txn[*index];
  t->status = ORPHAN;
  t->why = "no command before it in its window";
  t->id = id;
  if (known) t->known |= KNOW_ID;
  x->fig.orphans++;
  if (known)
    return tg_axi_problem(x, k, ch, "orphan", "%s without an open command of id %llu",
                          d == READ    ? "read data"
                          : ch == CH_B ? "response"
                                       : "write data",
                          (unsigned long long)id);
  return tg_axi_problem(x, k, ch, "orphan", "%s without an open command",
                        d == READ    ? "read data"
                        : ch == CH_B ? "response"
                                     : "write data");
}

static tg_status orphan_r(tg_axi *x, axi_queue *q, bool known, uint64_t id, uint64_t k) {
  axi_beat b = beat_at(x, CH_R, k);
  bool done = false;
  if (q->orphan == 0) {
    uint32_t index = 0;
    if (!q->seen) tg_axi_recall_open(x);
    tg_status status = new_orphan(x, READ, CH_R, known, id, k, &index);
    if (status != TG_OK) return status;
    q->orphan = index + 1;
    x->orphan_reads++;
  }
  axi_txn *t = &x->txn[q->orphan - 1];
  tg_status status = add_beat(x, t, CH_R, &b, &done);
  keep_resp(x, CH_R, t);
  if (done || (x->lite && !x->has_last[CH_R])) {
    q->orphan = 0;
    x->orphan_reads--;
  }
  return status;
}

tg_status tg_axi_r_beat(tg_axi *x, uint64_t k) {
  axi_queue *q = NULL;
  uint64_t id = 0;
  bool known = false, done = false;
  if (!x->usable[CH_AR]) return TG_OK; /* without its commands a beat is only counted */
  tg_status status = queue_of(x, READ, CH_R, &known, &id, &q);
  if (status != TG_OK) return status;
  if (q->orphan > 0 || q->head == 0) return orphan_r(x, q, known, id, k);
  uint32_t index = q->head - 1;
  axi_txn *t = &x->txn[index];
  axi_beat b = beat_at(x, CH_R, k);
  if (x->last_r > 0 && x->last_r != index + 1 && x->txn[x->last_r - 1].status == OPEN)
    x->fig.interleaves++;
  x->last_r = index + 1;
  if (!known && x->pin[CH_R][LEAF_ID].store != NULL) t->flags |= TG_AXI_F_UNCERTAIN;
  status = add_beat(x, t, CH_R, &b, &done);
  keep_resp(x, CH_R, t);
  if (status == TG_OK && done) complete(x, q, k);
  return status;
}

/* ---- write data ---------------------------------------------------------------------------------
 */

static tg_status give_w(tg_axi *x, uint32_t index, const axi_beat *b) {
  bool done = false;
  tg_status status = add_beat(x, &x->txn[index], CH_W, b, &done);
  if (done) x->w_head++;
  if (x->w_head == x->n_w_wait) x->w_head = x->n_w_wait = 0;
  return status;
}

/* Write data that was ahead of this address. */
static tg_status take_early(tg_axi *x, uint32_t index) {
  tg_status status = TG_OK;
  while (x->early_head < x->n_early && !x->txn[index].data_done && status == TG_OK)
    status = give_w(x, index, &x->early[x->early_head++]);
  if (x->early_head == x->n_early) x->early_head = x->n_early = 0;
  return status;
}

/* Data that was under way when the window began belongs to a command before it. */
static tg_status orphan_w(tg_axi *x, const axi_beat *b) {
  bool done = false;
  if (!x->w_orphan_open) {
    uint32_t index = 0;
    tg_status status = new_orphan(x, WRITE, CH_W, false, 0, b->sample, &index);
    if (status != TG_OK) return status;
    x->w_orphan = index + 1;
    x->w_orphan_open = true;
  }
  tg_status status = add_beat(x, &x->txn[x->w_orphan - 1], CH_W, b, &done);
  if (done) x->w_orphan_open = false;
  return status;
}

tg_status tg_axi_w_beat(tg_axi *x, uint64_t k) {
  axi_beat b = beat_at(x, CH_W, k);
  if (!x->usable[CH_AW]) return TG_OK;
  if (x->w_orphan_open) return orphan_w(x, &b);
  if (x->w_head < x->n_w_wait) {
    uint32_t index = x->w_wait[x->w_head];
    axi_txn *t = &x->txn[index];
    uint64_t id = 0;
    if (pin(x, CH_W, LEAF_ID, &id) && (t->known & KNOW_ID) != 0 && id != t->id &&
        (t->flags & TG_AXI_F_PROTOCOL) == 0) {
      t->flags |= TG_AXI_F_PROTOCOL;
      t->why = "its data carries another WID";
      x->fig.protocol++;
      tg_status status = tg_axi_problem(x, k, CH_W, "protocol",
                                    "WID %llu where AW order has id %llu (interleaved write data?)",
                                    (unsigned long long)id, (unsigned long long)t->id);
      if (status != TG_OK) return status;
    }
    return give_w(x, index, &b);
  }
  if (x->n_early == 0 && b.since == x->window_start && x->has_last[CH_W] &&
      x->pend[CH_W].from_start)
    return orphan_w(x, &b);
  tg_status status =
      tg_grow(&x->a, (void **)&x->early, &x->cap_early, x->n_early + 1, sizeof *x->early);
  if (status == TG_OK) x->early[x->n_early++] = b;
  return status;
}

/* ---- responses ----------------------------------------------------------------------------------
 */

static tg_status orphan_b(tg_axi *x, bool known, uint64_t id, uint64_t k) {
  uint32_t index = 0;
  tg_status status = TG_OK;
  if (x->w_orphan > 0 && !x->w_orphan_open) { /* the response to data seen before */
    index = x->w_orphan - 1;
    x->w_orphan = 0;
    x->txn[index].id = id;
    if (known) x->txn[index].known |= KNOW_ID;
  } else {
    status = new_orphan(x, WRITE, CH_B, known, id, k, &index);
    if (status != TG_OK) return status;
    bool done = false; /* a whole burst without address that this answers */
    size_t n = x->early_head;
    while (n < x->n_early && !done) done = x->early[n++].last;
    for (done = !done; x->early_head < n && !done && status == TG_OK;)
      status = add_beat(x, &x->txn[index], CH_W, &x->early[x->early_head++], &done);
  }
  axi_txn *t = &x->txn[index];
  t->stamp[B_VALID] = x->pend[CH_B].since;
  t->stamp[B_ACCEPT] = k;
  keep_resp(x, CH_B, t);
  return status;
}

tg_status tg_axi_b_beat(tg_axi *x, uint64_t k) {
  axi_queue *q = NULL;
  uint64_t id = 0;
  bool known = false;
  tg_status status = TG_OK;
  if (!x->usable[CH_AW]) return TG_OK;
  status = queue_of(x, WRITE, CH_B, &known, &id, &q);
  if (status != TG_OK) return status;
  bool early = q->head > 0 && x->usable[CH_W] && !x->txn[q->head - 1].data_done;
  if (q->head == 0 || (early && x->w_orphan > 0 && !x->w_orphan_open))
    return orphan_b(x, known, id, k);
  axi_txn *t = &x->txn[q->head - 1];
  t->stamp[B_VALID] = x->pend[CH_B].since;
  t->stamp[B_ACCEPT] = k;
  if (!known && x->pin[CH_B][LEAF_ID].store != NULL) t->flags |= TG_AXI_F_UNCERTAIN;
  keep_resp(x, CH_B, t);
  if (early && (t->known & KNOW_LEN) != 0) {
    t->flags |= TG_AXI_F_PROTOCOL;
    t->why = "its response came before its last data";
    x->fig.protocol++;
    status =
        tg_axi_problem(x, k, CH_B, "protocol", "response before the last W beat: %llu of %llu seen",
                       (unsigned long long)t->seen, (unsigned long long)t->beats);
  }
  complete(x, q, k);
  return status;
}

/* ---- the ends of windows ------------------------------------------------------------------------
 */

/* TG_AXI_F_UNCERTAIN or TG_AXI_F_LOWER. */
void tg_axi_flag_open(tg_axi *x, unsigned d, uint32_t flag) {
  size_t from = x->open_from[d];
  size_t *done = flag == TG_AXI_F_UNCERTAIN ? &x->unsure_to[d] : &x->lower_to[d];
  if (*done > from) from = *done;
  *done = x->n_order[d];
  for (size_t i = from; i < x->n_order[d]; i++)
    if (x->txn[x->order[d][i]].status == OPEN) x->txn[x->order[d][i]].flags |= flag;
}

void tg_axi_take_trigger(tg_axi *x) {
  axi_txn *hit = NULL;
  for (unsigned d = 0; d < 2; d++)
    if (x->pend[d == READ ? CH_AR : CH_AW].on) {
      x->trigger_on[d] = true;
      return;
    }
  for (unsigned d = 0; d < 2; d++) {
    size_t n = x->n_order[d], from = x->open_from[d];
    if (from >= n) continue;
    axi_txn *t = &x->txn[x->order[d][n - 1]];
    if (t->status != OPEN) t = &x->txn[x->order[d][from]];
    if (hit == NULL || t->stamp[AX_ACCEPT] > hit->stamp[AX_ACCEPT]) hit = t;
  }
  if (hit != NULL) hit->trigger = true;
}

/* Why an open transaction can never be completed in this capture, or `why`. */
static const char *reason(const tg_axi *x, const axi_txn *t, const char *why) {
  if (t->direction == READ && !x->usable[CH_R]) return "the R channel is not in the capture";
  if (t->direction == WRITE && !x->usable[CH_B]) return "the B channel is not in the capture";
  unsigned ch = t->direction == READ ? CH_R : CH_W;
  if ((t->known & KNOW_LEN) == 0 && !x->has_last[ch] && t->seen > 0)
    return "neither length nor LAST is in the capture";
  return why;
}

/* A VALID that waited in vain. */
static tg_status never_accepted(tg_axi *x, unsigned d) {
  unsigned ch = d == READ ? CH_AR : CH_AW;
  uint32_t index = 0;
  if (!x->pend[ch].on || !x->usable[ch]) return TG_OK;
  tg_status status = new_txn(x, d, &index);
  if (status != TG_OK) return status;
  axi_txn *t = &x->txn[index];
  t->status = INCOMPLETE;
  t->why = "its address was not accepted";
  t->addr = x->pend[ch].addr;
  if (x->pend[ch].addr_known) t->known |= KNOW_ADDR;
  t->stamp[AX_VALID] = x->pend[ch].since;
  if (x->pend[ch].from_start) t->flags |= TG_AXI_F_START;
  t->trigger = x->trigger_on[d];
  return TG_OK;
}

/* Write data whose address never came, one row a burst. */
static tg_status leftover_w(tg_axi *x) {
  tg_status status = TG_OK;
  while (x->early_head < x->n_early && status == TG_OK) {
    uint32_t index = 0;
    bool done = false;
    status = new_orphan(x, WRITE, CH_W, false, 0, x->early[x->early_head].sample, &index);
    while (status == TG_OK && x->early_head < x->n_early && !done)
      status = add_beat(x, &x->txn[index], CH_W, &x->early[x->early_head++], &done);
  }
  return status;
}

tg_status tg_axi_reset(tg_axi *x, uint64_t k, const char *why) {
  tg_status status = TG_OK;
  bool gap = why[0] == 'a';
  for (unsigned d = 0; d < 2 && status == TG_OK; d++) {
    for (size_t i = x->open_from[d]; i < x->n_order[d]; i++) {
      axi_txn *t = &x->txn[x->order[d][i]];
      if (t->status != OPEN) continue;
      t->status = INCOMPLETE;
      t->why = reason(x, t, why);
      if (gap) t->flags |= TG_AXI_F_LOWER;
      t->next = 0;
      t->w_beats = x->w_running - t->w_beats;
      t->blocked = x->blocked_running - t->blocked;
    }
    x->open_from[d] = x->n_order[d];
    x->open_now[d] = 0;
    x->newest_done[d] = 0;
    status = never_accepted(x, d);
    x->trigger_on[d] = false;
  }
  if (status == TG_OK) status = leftover_w(x);
  if (status == TG_OK) status = tg_axi_end_block(x, k, false);
  x->resets++; /* the queues of all ids are empty: each finds out when it is used */
  x->orphan_reads = 0;
  x->shut = (axi_cycles){0};
  x->w_head = x->n_w_wait = 0;
  x->early_head = x->n_early = 0;
  x->w_orphan = x->last_r = 0;
  x->w_orphan_open = false;
  for (unsigned ch = 0; ch < AXI_CHANNELS; ch++) {
    x->pend[ch].on = false;
    x->was_unknown[ch] = false;
  }
  return status == TG_OK && x->n_steps > 0 ? tg_axi_note_open(x, k) : status;
}

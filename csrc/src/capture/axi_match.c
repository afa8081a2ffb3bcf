/* axi_match.c - commands and read data put together: by id and order.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "capture/axi.h"

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

/* ---- commands ---------------------------------------------------------------------------------
 */

/* Address, length, size, burst of the command at hand. */
static void read_command(const tg_axi *x, unsigned ch, axi_txn *t) {
  uint64_t v = 0;
  if (tg_axi_pin(x, ch, LEAF_ADDR, &t->addr)) t->known |= KNOW_ADDR;
  if (x->lite) {
    t->beats = 1;
    t->known |= KNOW_LEN;
  } else if (tg_axi_pin(x, ch, LEAF_LEN, &v)) {
    t->beats = v + 1;
    t->known |= KNOW_LEN;
  }
  if (tg_axi_pin(x, ch, LEAF_SIZE, &v) && v < 8) {
    t->size = 1u << v;
    t->known |= KNOW_SIZE;
  } else if (x->pin[ch][LEAF_SIZE].store == NULL && x->bus_bytes > 0) {
    t->size = x->bus_bytes;
    t->known |= KNOW_SIZE;
  }
  if (tg_axi_pin(x, ch, LEAF_BURST, &v) && v < 3) {
    t->burst = (uint8_t)v;
    t->known |= KNOW_BURST;
  }
}

static tg_status push_order(tg_axi *x, unsigned d, uint32_t index) {
  tg_status status =
      tg_grow(&x->a, (void **)&x->order[d], &x->cap_order[d], x->n_order[d] + 1, sizeof **x->order);
  if (status == TG_OK) x->order[d][x->n_order[d]++] = index;
  return status;
}

static void enqueue(tg_axi *x, axi_queue *q, uint32_t index) {
  if (q->tail > 0)
    x->txn[q->tail - 1].next = index + 1;
  else
    q->head = index + 1;
  q->tail = index + 1;
}

static tg_status moved_address(tg_axi *x, axi_txn *t, unsigned ch, uint64_t k) {
  const axi_pend *p = &x->pend[ch];
  if (!p->addr_known || (t->known & KNOW_ADDR) == 0 || p->addr == t->addr) return TG_OK;
  t->flags |= TG_AXI_F_PROTOCOL;
  t->why = "its address changed while VALID waited";
  x->fig.protocol++;
  return tg_axi_problem(x, k, ch, "protocol", "address changed from 0x%llx to 0x%llx before READY",
                        (unsigned long long)p->addr, (unsigned long long)t->addr);
}

/* The first walk only notes when a command came and how long it is. */
static tg_status note_command(tg_axi *x, unsigned d, uint64_t k) {
  const unsigned ch = d == READ ? CH_AR : CH_AW;
  axi_txn t = {0};
  uint64_t id = 0;
  uint32_t code = 0, w_code = 0;
  bool known = false;
  read_command(x, ch, &t);
  tg_status status = tg_axi_code(x, d, ch, &known, &id, &code);
  if (status == TG_OK && d == WRITE) status = tg_axi_wid(x, ch, &w_code);
  if (status != TG_OK) return status;
  const scout_command command = {.valid = x->pend[ch].since,
                                 .accept = k,
                                 .data_end = UINT64_MAX,
                                 .beats = (t.known & KNOW_LEN) != 0 ? t.beats : 0};
  return tg_scout_command(x->scout, d, w_code, code, &command);
}

tg_status tg_axi_accept(tg_axi *x, unsigned d, uint64_t k) {
  const unsigned ch = d == READ ? CH_AR : CH_AW;
  const axi_pend *p = &x->pend[ch];
  uint32_t index = 0;
  axi_queue *q = NULL;
  bool known = false;
  if (x->scouting) return note_command(x, d, k);
  tg_status status = tg_axi_add(x, d, &index);
  if (status != TG_OK) return status;
  axi_txn *t = &x->txn[index];
  status = tg_axi_queue(x, d, ch, &known, &t->id, &q);
  if (status == TG_OK) status = push_order(x, d, index);
  if (status != TG_OK) return status;
  if (known) t->known |= KNOW_ID;
  read_command(x, ch, t);
  t->stamp[AX_VALID] = p->since;
  t->stamp[AX_ACCEPT] = k;
  if (p->from_start) t->flags |= TG_AXI_F_START;
  if (q->basis == BASIS_NONE) t->flags |= TG_AXI_F_LOWER;
  t->trigger = x->trigger_on[d];
  x->trigger_on[d] = false;
  t->open = x->open_now[d]++;
  t->w_beats = x->w_running;
  t->blocked = x->blocked_running;
  if (d == READ && q->orphan > 0 && !x->has_last[CH_R]) { /* only a new command can end it */
    x->open_now[READ] -= q->ghosts > 0;
    q->orphan = q->ghosts = 0;
  }
  enqueue(x, q, index);
  status = moved_address(x, t, ch, k);
  return status == TG_OK && d == WRITE ? tg_axi_w_command(x, index) : status;
}

/* ---- beats ------------------------------------------------------------------------------------
 */

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

static tg_status orphan_r(tg_axi *x, axi_queue *q, bool known, uint64_t id, uint64_t k) {
  const axi_beat b = tg_axi_beat_at(x, CH_R, k);
  bool done = false;
  tg_status status = TG_OK;
  if (q->orphan == 0) {
    uint32_t index = 0;
    status = tg_axi_orphan(x, READ, CH_R, known, id, k, q->ghosts > 0, &index);
    if (status != TG_OK) return status;
    q->orphan = index + 1;
  }
  axi_txn *t = &x->txn[q->orphan - 1];
  status = tg_axi_add_beat(x, t, CH_R, &b, &done);
  tg_axi_keep_resp(x, CH_R, t);
  if (done || (x->lite && !x->has_last[CH_R])) {
    q->orphan = 0;
    x->open_now[READ] -= q->ghosts > 0;
    q->ghosts -= q->ghosts > 0;
  }
  return status;
}

tg_status tg_axi_r_beat(tg_axi *x, uint64_t k) {
  axi_queue *q = NULL;
  uint64_t id = 0;
  uint32_t code = 0;
  bool known = false, done = false;
  if (!x->usable[CH_AR]) return TG_OK; /* without its commands a beat is only counted */
  if (x->scouting) {
    const axi_beat b = tg_axi_beat_at(x, CH_R, k);
    tg_status seen = tg_axi_code(x, READ, CH_R, &known, &id, &code);
    if (seen != TG_OK) return seen;
    return tg_scout_beat(x->scout, SET_R, code, b.since, k, x->lite || (b.last && !b.last_unknown));
  }
  tg_status status = tg_axi_queue(x, READ, CH_R, &known, &id, &q);
  if (status != TG_OK) return status;
  if (q->ghosts > 0 || q->orphan > 0 || q->head == 0) return orphan_r(x, q, known, id, k);
  const uint32_t index = q->head - 1;
  axi_txn *t = &x->txn[index];
  const axi_beat b = tg_axi_beat_at(x, CH_R, k);
  if (x->last_r > 0 && x->last_r != index + 1 && x->txn[x->last_r - 1].status == OPEN)
    x->fig.interleaves++;
  x->last_r = index + 1;
  if (!known && x->pin[CH_R][LEAF_ID].store != NULL) t->flags |= TG_AXI_F_UNCERTAIN;
  status = tg_axi_add_beat(x, t, CH_R, &b, &done);
  tg_axi_keep_resp(x, CH_R, t);
  if (status == TG_OK && done) tg_axi_complete(x, q, k);
  return status;
}

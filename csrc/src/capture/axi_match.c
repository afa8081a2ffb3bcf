/* axi_match.c - commands and read data put together: by id and order.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/try.h"
#include "capture/axi.h"

/* ---- commands ---------------------------------------------------------------------------------
 */

/* Address, length, size, burst, lock of the command at hand. */
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
  if (tg_axi_pin(x, ch, LEAF_LOCK, &v) && v < 3) {
    t->lock = (uint8_t)v;
    t->known |= KNOW_LOCK;
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
  TG_TRY(tg_axi_code(x, d, ch, &known, &id, &code));
  if (d == WRITE) TG_TRY(tg_axi_wid(x, ch, &w_code));
  const scout_command command = {.valid = x->pend[ch].since,
                                 .accept = k,
                                 .data_end = UINT64_MAX,
                                 .beats = (t.known & KNOW_LEN) != 0 ? t.beats : 0};
  return tg_scout_command(x->scout, d, w_code, code, &command);
}

/* Is a VALID that is up at the first sample of a segment evidently no older than that? */
static bool begins_here(const tg_axi *x, unsigned d, const axi_queue *q) {
  return q->basis == BASIS_RESET || q->basis == BASIS_TOLD ||
         (q->basis != BASIS_NONE && tg_scout_fresh(x->scout, x->segment, d));
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
  if (p->after_unknown || (p->from_start && !begins_here(x, d, q))) t->flags |= TG_AXI_F_LOWER;
  if (q->basis == BASIS_NONE) t->flags |= TG_AXI_F_LOWER;
  if (x->unsure[d]) t->flags |= TG_AXI_F_UNCERTAIN;
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

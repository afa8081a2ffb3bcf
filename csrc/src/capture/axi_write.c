/* axi_write.c - write data and responses: data in the order of the commands, or of those of one
 * WID (AXI3), responses by BID.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "capture/axi.h"

/* The number of the WID that the data of a channel's command or beat has; 0 without ids. */
tg_status tg_axi_wid(tg_axi *x, unsigned ch, uint32_t *code) {
  uint64_t id = 0;
  if (!tg_axi_pin(x, ch, LEAF_ID, &id) || !x->by_wid) id = 0;
  return tg_intern_put(x->wids, (const uint8_t *)&id, sizeof id, code);
}

static tg_status data_of(tg_axi *x, unsigned ch, axi_lane_w **out) {
  uint32_t code = 0;
  tg_status status = tg_axi_wid(x, ch, &code);
  if (status != TG_OK) return status;
  if (code >= x->n_data) {
    status =
        tg_grow(&x->a, (void **)&x->data, &x->cap_data, code + (size_t)1, sizeof *x->data);
    if (status != TG_OK) return status;
    for (size_t i = x->n_data; i <= code; i++) x->data[i] = (axi_lane_w){0};
    x->n_data = code + (size_t)1;
  }
  axi_lane_w *w = &x->data[code];
  if (w->segment != x->segment + 1) { /* its first use in this segment */
    const axi_start start = tg_scout_start(x->scout, x->segment, SET_W, code);
    w->n_wait = w->head = w->n_early = w->early_head = 0;
    w->ghosts = start.open > 0 ? (uint32_t)start.open : 0;
    w->skip = start.open < 0 ? (uint32_t)-start.open : 0;
    w->orphan = 0;
    w->segment = x->segment + 1;
    w->basis = start.basis;
    w->begun = false;
  }
  *out = w;
  return TG_OK;
}

static tg_status give(tg_axi *x, axi_lane_w *w, uint32_t index, const axi_beat *b) {
  bool done = false;
  tg_status status = tg_axi_add_beat(x, &x->txn[index], CH_W, b, &done);
  if (done) {
    w->head++;
    x->answers_due++;
  }
  if (w->head == w->n_wait) w->head = w->n_wait = 0;
  return status;
}

tg_status tg_axi_w_command(tg_axi *x, uint32_t index) {
  axi_lane_w *w = NULL;
  axi_txn *t = &x->txn[index];
  tg_status status = data_of(x, CH_AW, &w);
  if (status != TG_OK) return status;
  if (w->basis == BASIS_NONE) t->flags |= TG_AXI_F_LOWER;
  if (w->skip > 0) { /* its data came before the segment */
    w->skip--;
    t->data_done = true;
    x->answers_due++;
    t->flags |= TG_AXI_F_W_FIRST;
    return TG_OK;
  }
  status = tg_grow(&x->a, (void **)&w->wait, &w->cap_wait, w->n_wait + 1, sizeof *w->wait);
  if (status == TG_OK) w->wait[w->n_wait++] = index;
  while (w->early_head < w->n_early && !t->data_done && status == TG_OK)
    status = give(x, w, index, &w->early[w->early_head++]);
  if (w->early_head == w->n_early) w->early_head = w->n_early = 0;
  return status;
}

/* Data of a command from before the segment. */
static tg_status orphan_w(tg_axi *x, axi_lane_w *w, const axi_beat *b) {
  bool done = false;
  tg_status status = TG_OK;
  if (w->orphan == 0) {
    uint32_t index = 0;
    status = tg_axi_orphan(x, WRITE, CH_W, false, 0, b->sample, true, &index);
    if (status != TG_OK) return status;
    w->orphan = index + 1;
  }
  status = tg_axi_add_beat(x, &x->txn[w->orphan - 1], CH_W, b, &done);
  if (!done) return status;
  x->answers_due++;
  if (x->w_orphan == 0) x->w_orphan = w->orphan;
  w->orphan = 0;
  w->ghosts--;
  return status;
}

tg_status tg_axi_w_beat(tg_axi *x, uint64_t k) {
  axi_beat b = tg_axi_beat_at(x, CH_W, k);
  axi_lane_w *w = NULL;
  uint32_t code = 0;
  if (!x->usable[CH_AW]) return TG_OK;
  if (x->scouting) {
    tg_status seen = tg_axi_wid(x, CH_W, &code);
    if (seen != TG_OK) return seen;
    return tg_scout_beat(x->scout, SET_W, code, b.since, k, x->lite || (b.last && !b.last_unknown));
  }
  tg_status status = data_of(x, CH_W, &w);
  if (status != TG_OK) return status;
  const bool first = !w->begun;
  w->begun = true;
  if (w->ghosts > 0) return orphan_w(x, w, &b);
  if (w->head < w->n_wait) return give(x, w, w->wait[w->head], &b);
  b.torn = first && w->basis != BASIS_RESET && b.since == x->window_start;
  status = tg_grow(&x->a, (void **)&w->early, &w->cap_early, w->n_early + 1, sizeof *w->early);
  if (status == TG_OK) w->early[w->n_early++] = b;
  return status;
}

/* ---- responses --------------------------------------------------------------------------------
 */

/* The response to a command from before the segment, put beside its data where that was seen. */
static tg_status orphan_b(tg_axi *x, axi_queue *q, bool known, uint64_t id, uint64_t k) {
  uint32_t index = 0;
  const bool expected = q->ghosts > 0;
  tg_status status = TG_OK;
  if (x->w_orphan > 0) {
    index = x->w_orphan - 1;
    x->w_orphan = 0;
    x->txn[index].id = id;
    if (known) x->txn[index].known |= KNOW_ID;
  } else {
    status = tg_axi_orphan(x, WRITE, CH_B, known, id, k, expected, &index);
  }
  if (status != TG_OK) return status;
  axi_txn *t = &x->txn[index];
  t->stamp[B_VALID] = x->pend[CH_B].since;
  t->stamp[B_ACCEPT] = k;
  tg_axi_keep_resp(x, CH_B, t);
  x->open_now[WRITE] -= expected;
  x->answers_due -= x->answers_due > 0;
  q->ghosts -= expected;
  return TG_OK;
}

tg_status tg_axi_b_beat(tg_axi *x, uint64_t k) {
  axi_queue *q = NULL;
  uint64_t id = 0;
  uint32_t code = 0;
  bool known = false;
  tg_status status = TG_OK;
  if (!x->usable[CH_AW]) return TG_OK;
  if (x->scouting) {
    status = tg_axi_code(x, WRITE, CH_B, &known, &id, &code);
    if (status != TG_OK) return status;
    return tg_scout_beat(x->scout, SET_B, code, x->pend[CH_B].since, k, true);
  }
  status = tg_axi_queue(x, WRITE, CH_B, &known, &id, &q);
  if (status != TG_OK) return status;
  if (q->ghosts > 0 || q->head == 0) return orphan_b(x, q, known, id, k);
  axi_txn *t = &x->txn[q->head - 1];
  const bool early = x->usable[CH_W] && !t->data_done;
  t->stamp[B_VALID] = x->pend[CH_B].since;
  t->stamp[B_ACCEPT] = k;
  if (!known && x->pin[CH_B][LEAF_ID].store != NULL) t->flags |= TG_AXI_F_UNCERTAIN;
  tg_axi_keep_resp(x, CH_B, t);
  if (early && (t->known & KNOW_LEN) != 0) {
    t->flags |= TG_AXI_F_PROTOCOL;
    t->why = "its response came before its last data";
    x->fig.protocol++;
    status =
        tg_axi_problem(x, k, CH_B, "protocol", "response before the last W beat: %llu of %llu seen",
                       (unsigned long long)t->seen, (unsigned long long)t->beats);
  }
  x->answers_due -= x->answers_due > 0 && t->data_done;
  tg_axi_complete(x, q, k);
  return status;
}

/* ---- the rest -----------------------------------------------------------------------------
 */

/* Write data whose address never came, one row a burst. */
tg_status tg_axi_leftover_w(tg_axi *x) {
  tg_status status = TG_OK;
  for (size_t i = 0; i < x->n_data && status == TG_OK; i++) {
    axi_lane_w *w = &x->data[i];
    if (w->segment != x->segment + 1) continue;
    while (w->early_head < w->n_early && status == TG_OK) {
      const uint64_t from = w->early[w->early_head].sample;
      uint32_t index = 0;
      bool done = false;
      status = tg_axi_orphan(x, WRITE, CH_W, false, 0, from, false, &index);
      if (status == TG_OK) x->txn[index].why = "its command lies behind the capture or its window";
      while (status == TG_OK && w->early_head < w->n_early && !done)
        status = tg_axi_add_beat(x, &x->txn[index], CH_W, &w->early[w->early_head++], &done);
    }
    w->n_early = w->early_head = 0;
  }
  return status;
}

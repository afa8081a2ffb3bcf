/* axi_segment.c - where segments of a capture begin and end: resets, gaps, windows, triggers.
 * SPDX-License-Identifier: BSD-3-Clause */

#include "capture/axi.h"

#include "base/try.h"

#define POWERED_PINS 3 /* that are unknown when a simulation begins */

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
    const size_t n = x->n_order[d], from = x->open_from[d];
    if (from >= n) continue;
    axi_txn *t = &x->txn[x->order[d][n - 1]];
    if (t->status != OPEN) t = &x->txn[x->order[d][from]];
    if (hit == NULL || t->stamp[AX_ACCEPT] > hit->stamp[AX_ACCEPT]) hit = t;
  }
  if (hit != NULL) hit->trigger = true;
}

/* ---- the end of a segment ---------------------------------------------------------------------
 */

/* Why an open transaction can never be completed in this capture, or `why`. */
static const char *reason(const tg_axi *x, const axi_txn *t, const char *why) {
  if (t->direction == READ && !x->usable[CH_R]) return "the R channel is not in the capture";
  if (t->direction == WRITE && !x->usable[CH_B]) return "the B channel is not in the capture";
  const unsigned ch = t->direction == READ ? CH_R : CH_W;
  if ((t->known & KNOW_LEN) == 0 && !x->has_last[ch] && t->seen > 0)
    return "neither length nor LAST is in the capture";
  return why;
}

/* A VALID that waited in vain. */
static tg_status never_accepted(tg_axi *x, unsigned d) {
  const unsigned ch = d == READ ? CH_AR : CH_AW;
  uint32_t index = 0;
  if (!x->pend[ch].on || !x->usable[ch]) return TG_OK;
  tg_status status = tg_axi_add(x, d, &index);
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

static tg_status end_open(tg_axi *x, unsigned d, const char *why, bool gap) {
  tg_status status = TG_OK;
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
  x->answers_due = 0;
  x->newest_done[d] = 0;
  if (!x->in_reset) status = never_accepted(x, d);
  x->trigger_on[d] = false;
  return status;
}

/* Ends all that is open. */
static tg_status end_all(tg_axi *x, uint64_t k, const char *why, bool gap) {
  if (x->scouting) return tg_scout_close(x->scout, k, x->opt.stop);
  TG_TRY(end_open(x, READ, why, gap));
  TG_TRY(end_open(x, WRITE, why, gap));
  TG_TRY(tg_axi_leftover_w(x));
  return tg_axi_end_block(x, k, false);
}

tg_status tg_axi_end(tg_axi *x, uint64_t k, const char *why, bool gap) {
  const tg_status status = end_all(x, k, why, gap);
  x->segment++; /* queues set up for the last one are empty */
  x->last_r = x->w_orphan = 0;
  for (unsigned ch = 0; ch < AXI_CHANNELS; ch++) {
    x->pend[ch].on = false;
    x->was_unknown[ch] = false;
  }
  if (status != TG_OK || x->scouting) return status;
  return x->n_steps > 0 ? tg_axi_note_open(x, k) : TG_OK;
}

/* Does a simulation begin with answers of which nothing is known, none of their signals? */
static bool powers_up(const tg_axi *x) {
  unsigned pins = 0;
  for (unsigned leaf = 0; leaf < LEAF_STORED; leaf++)
    for (unsigned i = 0; i < 2; i++) {
      const axi_pin *p = &x->pin[i == 0 ? CH_R : CH_B][leaf];
      const bool of_master = leaf == LEAF_READY || leaf == LEAF_CNT;
      if (p->store == NULL || of_master) continue;
      if (!p->x) return false;
      pins++;
    }
  return pins >= POWERED_PINS;
}

tg_status tg_axi_begin(tg_axi *x, uint64_t k, bool known) {
  x->window_start = k;
  if (x->scouting) {
    const bool told = x->opt.idle_start && x->segment == 0;
    tg_scout_begin(x->scout, k, known ? BASIS_RESET : told ? BASIS_TOLD : BASIS_NONE);
    x->scout->data_at_begin = x->level[CH_W].valid;
    x->scout->from_zero = x->from_zero && x->segment == 0;
    x->scout->powers_up = x->scout->from_zero && powers_up(x);
    x->scout->window = x->window;
    for (unsigned d = 0; d < 2; d++) {
      const axi_pin *count = &x->pin[d == READ ? CH_AR : CH_AW][LEAF_CNT];
      if (count->store == NULL || count->x || count->store->width > 16) continue;
      if (count->v + 1 < (uint64_t)1 << count->store->width) /* else it may have overflowed */
        x->scout->counter[d] = (int64_t)count->v;
    }
    x->scout->busy_at_begin[READ] = x->level[CH_R].valid;
    x->scout->busy_at_begin[WRITE] = x->level[CH_B].valid;
    return TG_OK;
  }
  x->unsure[READ] = x->unsure[WRITE] = false;
  x->open_now[READ] = (uint32_t)tg_scout_total(x->scout, x->segment, SET_R);
  x->open_now[WRITE] = (uint32_t)tg_scout_total(x->scout, x->segment, SET_B);
  return x->open_now[READ] + x->open_now[WRITE] > 0 ? tg_axi_note_open(x, k) : TG_OK;
}

/* axi_count.c - cycles: beat, stall, starve, idle; reads against writes; blocked spans; lanes.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "capture/axi.h"

enum lane_state { LANE_IDLE = 0, LANE_BEAT, LANE_STALL, LANE_STARVE, LANE_UNKNOWN };
static const char *const lane_names[] = {"idle", "beat", "stall", "starve", "unknown"};

static bool is_beat(const axi_level *l) { return l->valid && l->ready && !l->unknown; }

/* Lane of `ch` from sample k on for n samples, cut to the range asked for. */
static tg_status lane(tg_axi *x, unsigned ch, enum lane_state state, uint64_t k, uint64_t n) {
  axi_channel *c = &x->channel[ch];
  uint64_t last = k + n - 1;
  if (!x->opt.lanes || last < x->opt.lane_first || k > x->opt.lane_last) return TG_OK;
  if (k < x->opt.lane_first) k = x->opt.lane_first;
  if (last > x->opt.lane_last) last = x->opt.lane_last;
  if (c->lane > 0 && c->lane_state == state && c->lane_end + 1 == k) {
    c->lane_end = last;
    return tg_table_set_u64(x->lanes, c->lane - 1, 3, last);
  }
  c->lane = (uint32_t)tg_table_rows(x->lanes) + 1;
  c->lane_state = (uint8_t)state;
  c->lane_end = last;
  tg_row w = tg_row_begin(x->lanes);
  tg_row_cstr(&w, 0, tg_cap_channel_names[ch]);
  tg_row_cstr(&w, 1, lane_names[state]);
  tg_row_u64(&w, 2, k);
  tg_row_u64(&w, 3, last);
  return tg_row_end(&w);
}

/* Does a transaction wait for the sender of the channel? Nobody waits for an address. */
static bool is_awaited(const tg_axi *x, unsigned ch) {
  if (ch == CH_R) return x->open_now[READ] > 0;
  if (ch == CH_W) return x->open_now[WRITE] > x->answers_due;
  return ch == CH_B && x->answers_due > 0;
}

/* Without VALID and with READY a channel starves where it is awaited, else it is idle. */
static tg_status count_channel(tg_axi *x, unsigned ch, uint64_t k, uint64_t n) {
  const axi_level *l = &x->level[ch];
  axi_channel *c = &x->channel[ch];
  const bool open = is_awaited(x, ch);
  enum lane_state state = LANE_IDLE;
  if (l->unknown || !l->valid) *(l->ready ? &c->ready_high : &c->ready_low) += n;
  if (l->unknown) {
    c->unknown += n;
    state = LANE_UNKNOWN;
  } else if (l->valid && l->ready) {
    c->beat += n;
    state = LANE_BEAT;
  } else if (l->valid) {
    c->stall += n;
    state = LANE_STALL;
  } else {
    *(l->ready && open ? &c->starve : &c->idle) += n;
    state = l->ready && open ? LANE_STARVE : LANE_IDLE;
  }
  return lane(x, ch, state, k, n);
}

/* Clocks without an R beat while a read is open: before its first data, or inside a burst. */
static void count_wait(tg_axi *x, bool w, uint64_t n) {
  axi_cycles *c = &x->cycles;
  const bool inside = x->last_r > 0 && x->txn[x->last_r - 1].status == OPEN;
  *(inside ? &c->gaps : &c->first) += n;
  if (w) *(inside ? &c->gaps_w : &c->first_w) += n;
}

static void count_reads(tg_axi *x, bool r, bool w, uint64_t n) {
  const axi_level *lr = &x->level[CH_R], *la = &x->level[CH_AR];
  axi_cycles *c = &x->cycles;
  const bool reading = x->open_now[READ] > 0;
  if (reading) c->n += n;
  if (reading || (la->valid && !la->unknown)) c->asked += n;
  if (reading && x->open_now[WRITE] > 0) c->both_open += n;
  if (reading && (!x->usable[CH_R] || !x->usable[CH_W] || lr->unknown || x->level[CH_W].unknown)) {
    c->unknown += n;
  } else if (reading) {
    *(r ? w ? &c->r_and_w : &c->r_only : w ? &c->w_only : &c->neither) += n;
    if (!r && w) *(lr->valid ? &c->master_stall : &c->blocked) += n;
    if (!r) count_wait(x, w, n);
  }
  if (la->unknown || !la->valid || !x->usable[CH_W] || x->level[CH_W].unknown) return;
  *(la->ready ? &c->taken : &c->held) += n;
  if (w) *(la->ready ? &c->taken_w : &c->held_w) += n;
}

static void count_cycles(tg_axi *x, bool r, bool w, uint64_t n) {
  count_reads(x, r, w, n);
  if (x->open_now[WRITE] > 0) x->fig.write_open += n;
  if (r && w) x->fig.any_r_and_w += n;
  if (w) x->w_running += n;
  if (w && !r && x->usable[CH_R] && !x->level[CH_R].unknown) x->blocked_running += n;
}

/* A blocked span: a read open, no R beat, from the first to the last W beat. */
static tg_status track_block(tg_axi *x, bool r, bool w, uint64_t k, uint64_t n) {
  const bool unknown = !x->usable[CH_R] || x->level[CH_R].unknown;
  const bool reading = x->open_now[READ] > 0;
  if (x->in_block && (r || unknown || !reading)) {
    tg_status status = tg_axi_end_block(x, k, r && reading);
    if (status != TG_OK) return status;
  }
  if (!reading || r || unknown || !w) return TG_OK;
  if (!x->in_block) x->block = (axi_block){.first = k};
  x->in_block = true;
  x->block.last = k + n - 1;
  x->block.beats += n;
  return TG_OK;
}

tg_status tg_axi_end_block(tg_axi *x, uint64_t k, bool by_beat) {
  if (!x->in_block) return TG_OK;
  x->in_block = false;
  x->block.tail = by_beat ? k - x->block.last - 1 : NO_STAMP;
  tg_status status =
      tg_grow(&x->a, (void **)&x->spans, &x->cap_spans, x->n_spans + 1, sizeof *x->spans);
  if (status == TG_OK) x->spans[x->n_spans++] = x->block;
  return status;
}

tg_status tg_axi_count(tg_axi *x, uint64_t k, uint64_t n) {
  const bool r = is_beat(&x->level[CH_R]), w = is_beat(&x->level[CH_W]);
  bool unknown = false;
  tg_status status = TG_OK;
  for (unsigned ch = 0; ch < AXI_CHANNELS && status == TG_OK; ch++) {
    if (!x->usable[ch]) continue;
    status = count_channel(x, ch, k, n);
    unknown = unknown || x->level[ch].unknown;
  }
  if (unknown) x->fig.unknown += n;
  if (x->in_reset) x->fig.in_reset += n;
  if (x->in_reset || status != TG_OK) return status;
  count_cycles(x, r, w, n);
  return track_block(x, r, w, k, n);
}

/* Notes the number of open transactions from sample k on, where it changed. */
tg_status tg_axi_note_open(tg_axi *x, uint64_t k) {
  uint32_t reads = x->open_now[READ], writes = x->open_now[WRITE];
  if (x->n_steps > 0 && x->steps[x->n_steps - 1].reads == reads &&
      x->steps[x->n_steps - 1].writes == writes)
    return TG_OK;
  if (reads > x->fig.max_reads) x->fig.max_reads = reads;
  if (writes > x->fig.max_writes) x->fig.max_writes = writes;
  tg_status status =
      tg_grow(&x->a, (void **)&x->steps, &x->cap_steps, x->n_steps + 1, sizeof *x->steps);
  if (status == TG_OK)
    x->steps[x->n_steps++] = (axi_step){.sample = k, .reads = reads, .writes = writes};
  return status;
}

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
  size_t row = 0;
  if (!x->opt.lanes || last < x->opt.lane_first || k > x->opt.lane_last) return TG_OK;
  if (k < x->opt.lane_first) k = x->opt.lane_first;
  if (last > x->opt.lane_last) last = x->opt.lane_last;
  if (c->lane > 0 && c->lane_state == state && c->lane_end + 1 == k) {
    c->lane_end = last;
    return tg_table_set_u64(x->lanes, c->lane - 1, 3, last);
  }
  tg_status status = tg_table_append(x->lanes, &row);
  if (status == TG_OK) status = tg_table_set_cstr(x->lanes, row, 0, tg_cap_channel_names[ch]);
  if (status == TG_OK) status = tg_table_set_cstr(x->lanes, row, 1, lane_names[state]);
  if (status == TG_OK) status = tg_table_set_u64(x->lanes, row, 2, k);
  if (status == TG_OK) status = tg_table_set_u64(x->lanes, row, 3, last);
  c->lane = (uint32_t)row + 1;
  c->lane_state = (uint8_t)state;
  c->lane_end = last;
  return status;
}

static tg_status count_channel(tg_axi *x, unsigned ch, uint64_t k, uint64_t n) {
  const axi_level *l = &x->level[ch];
  axi_channel *c = &x->channel[ch];
  bool read = ch == CH_AR || ch == CH_R;
  bool open = read ? x->open_now[READ] + x->orphan_reads > 0 : x->open_now[WRITE] > 0;
  enum lane_state state = LANE_IDLE;
  bool valid = l->valid && !l->unknown, ready = l->ready;
  if (valid && ready) {
    c->beat += n;
    state = LANE_BEAT;
  } else if (valid) {
    c->stall += n;
    state = LANE_STALL;
  } else {
    *(ready ? &c->ready_high : &c->ready_low) += n;
    *(ready && open ? &c->starve : &c->idle) += n;
    state = l->unknown ? LANE_UNKNOWN : ready && open ? LANE_STARVE : LANE_IDLE;
    if (ch == CH_R && ready && !open) x->shut.starve += n;
  }
  if (l->unknown) c->unknown += n;
  return lane(x, ch, state, k, n);
}

static void count_cycles(tg_axi *x, bool r, bool w, uint64_t n) {
  const axi_level *lr = &x->level[CH_R];
  bool reading = x->open_now[READ] + x->orphan_reads > 0;
  axi_cycles *c = reading ? &x->open : &x->shut;
  c->n += n;
  if (x->open_now[WRITE] > 0) c->both_open += n;
  if (r && w) c->r_and_w += n;
  if (r && !w) c->r_only += n;
  if (!r && !w) c->neither += n;
  if (!r && w) {
    c->w_only += n;
    if (!lr->valid) c->blocked += n;
    if (lr->valid && !lr->ready) c->master_stall += n;
  }
  if (x->open_now[WRITE] > 0) x->fig.write_open += n;
  if (r && w) x->fig.any_r_and_w += n;
  if (w) x->w_running += n;
  if (w && !r) x->blocked_running += n;
}

/* A blocked span: a read open, no R beat, from the first to the last W beat. */
static tg_status track_block(tg_axi *x, bool r, bool w, uint64_t k, uint64_t n) {
  bool reading = x->open_now[READ] + x->orphan_reads > 0;
  if (x->in_block && (r || !reading)) {
    tg_status status = tg_axi_end_block(x, k, r && reading);
    if (status != TG_OK) return status;
  }
  if (!reading || r || !w) return TG_OK;
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
  bool r = is_beat(&x->level[CH_R]), w = is_beat(&x->level[CH_W]), unknown = false;
  tg_status status = TG_OK;
  for (unsigned ch = 0; ch < AXI_CHANNELS && status == TG_OK; ch++) {
    if (!x->usable[ch]) continue;
    status = count_channel(x, ch, k, n);
    unknown = unknown || x->level[ch].unknown;
  }
  if (unknown) x->fig.unknown += n;
  count_cycles(x, r, w, n);
  return status == TG_OK ? track_block(x, r, w, k, n) : status;
}

/* R data of a command from before the window: a read was open since it began. */
void tg_axi_recall_open(tg_axi *x) {
  x->open.n += x->shut.n;
  x->open.both_open += x->shut.both_open;
  x->open.r_and_w += x->shut.r_and_w;
  x->open.r_only += x->shut.r_only;
  x->open.w_only += x->shut.w_only;
  x->open.neither += x->shut.neither;
  x->open.blocked += x->shut.blocked;
  x->open.master_stall += x->shut.master_stall;
  x->channel[CH_R].starve += x->shut.starve;
  x->channel[CH_R].idle -= x->shut.starve;
  x->shut = (axi_cycles){0};
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

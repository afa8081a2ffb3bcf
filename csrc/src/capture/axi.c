/* axi.c - an interface of a capture walked through its samples: levels, waiting VALIDs, marks.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/try.h"
#include "capture/axi.h"

#include <string.h>

/* Samples of a segment beyond these draw on the patience of the analysis: a few bytes of a VCD can
 * make a segment of any length. */
#define FREE_SAMPLES 256 /* the longest burst of AXI4 */
#define FREE_COMMANDS 16 /* each of which is a row of its own */
#define MAX_STEADY ((uint64_t)1 << 20)

/* ---- the interface ------------------------------------------------------------------------------
 */

static void set_pin(tg_axi *x, const tg_capture *c, unsigned ch, unsigned leaf, uint32_t signal) {
  if (signal == CAP_NONE || c->signal[signal].store == CAP_NONE) return;
  x->pin[ch][leaf] = (axi_pin){.store = &c->store[c->signal[signal].store], .x = true};
}

static tg_status set_assumed(tg_axi *x, const tg_axi_options *o, tg_error *err) {
  memset(x->assumed, -1, sizeof x->assumed);
  for (size_t i = 0; i < o->n_assume; i++) {
    cap_role role;
    if (!tg_cap_role_find(o->assume[i].role, &role) || role.leaf > LEAF_READY ||
        role.channel >= AXI_CHANNELS || o->assume[i].level > 1)
      return tg_fail(err, TG_EINVAL, 0, 0,
                     "\"%.40s\" cannot be assumed: a VALID or READY takes 0 or 1",
                     o->assume[i].role);
    x->assumed[role.channel][role.leaf] = (int8_t)o->assume[i].level;
  }
  return TG_OK;
}

/* `*stream`: the bundle of an AXI4-Stream, which has no pins here. */
static tg_status connect(tg_axi *x, const tg_capture *c, const tg_axi_options *o,
                         cap_bundle *stream, tg_error *err) {
  cap_bundle b;
  bool any = false;
  if (o->interface >= c->n_bundle)
    return tg_fail(err, TG_ENOTFOUND, 0, 0, "the capture has %zu interfaces, no number %u",
                   c->n_bundle, o->interface);
  b = c->bundle[o->interface];
  for (size_t i = 0; i < c->n_map; i++)
    if (c->map[i].signal != CAP_NONE)
      b.sig[c->map[i].role.channel][c->map[i].role.leaf] = c->map[i].signal;
  tg_status status = set_assumed(x, o, err);
  if (status != TG_OK) return status;
  x->fig.kind = o->kind != TG_AXI_AUTO ? o->kind : tg_cap_kind(c, &b);
  if (x->fig.kind == TG_AXI_STREAM) {
    *stream = b;
    return TG_OK;
  }
  x->lite = x->fig.kind == TG_AXI_LITE;
  x->bus_bytes = b.data_bits / 8;
  for (unsigned ch = 0; ch < AXI_CHANNELS; ch++) {
    for (unsigned leaf = 0; leaf < LEAF_STORED; leaf++) set_pin(x, c, ch, leaf, b.sig[ch][leaf]);
    const axi_pin *ctrl = &x->pin[ch][LEAF_CTRL];
    bool valid = x->pin[ch][LEAF_VALID].store != NULL || x->assumed[ch][0] >= 0;
    bool ready = x->pin[ch][LEAF_READY].store != NULL || x->assumed[ch][1] >= 0;
    x->usable[ch] = (valid && ready) || ctrl->store != NULL;
    x->has_last[ch] =
        x->pin[ch][LEAF_LAST].store != NULL ||
        (ctrl->store != NULL && ctrl->store->width >= 3 && (ch == CH_W || ch == CH_R));
    any = any || x->usable[ch];
  }
  for (unsigned ch = 0; ch < AXI_CHANNELS; ch++)
    for (unsigned leaf = 0; leaf < LEAF_STORED; leaf++)
      if (x->pin[ch][leaf].store != NULL) x->moving[x->n_moving++] = &x->pin[ch][leaf];
  x->by_wid = x->pin[CH_W][LEAF_ID].store != NULL && x->pin[CH_AW][LEAF_ID].store != NULL;
  x->by_id[READ] = x->pin[CH_AR][LEAF_ID].store != NULL && x->pin[CH_R][LEAF_ID].store != NULL;
  x->by_id[WRITE] = x->pin[CH_AW][LEAF_ID].store != NULL && x->pin[CH_B][LEAF_ID].store != NULL;
  if (!any)
    return tg_fail(err, TG_ENODATA, 0, 0,
                   "no channel of the interface has both VALID and READY in the capture");
  return TG_OK;
}

/* The reset of the interface, as a pin that moves with the others. */
static void connect_reset(tg_axi *x, const tg_capture *c) {
  bool low = false;
  const uint32_t signal = tg_cap_reset_of(c, x->opt.interface, &low);
  if (signal == CAP_NONE || c->signal[signal].store == CAP_NONE) return;
  x->reset = (axi_pin){.store = &c->store[c->signal[signal].store], .x = true};
  x->reset_low = low;
  x->moving[x->n_moving++] = &x->reset;
}

/* ---- levels -------------------------------------------------------------------------------------
 */

/* A scalar or a bit of ctrl, or the caller's assumption; false = unknown. */
static bool level_of(const tg_axi *x, unsigned ch, unsigned leaf, unsigned bit, bool *level) {
  const axi_pin *p = &x->pin[ch][leaf], *ctrl = &x->pin[ch][LEAF_CTRL];
  if (leaf <= LEAF_READY && x->assumed[ch][leaf] >= 0)
    return *level = x->assumed[ch][leaf] != 0, true;
  if (p->store != NULL) return *level = !p->x && p->v != 0, !p->x;
  if (ctrl->store != NULL) return *level = !ctrl->x && (ctrl->v >> bit & 1) != 0, !ctrl->x;
  return *level = false, true;
}

static void read_levels(tg_axi *x) {
  for (unsigned ch = 0; ch < AXI_CHANNELS; ch++) {
    axi_level *l = &x->level[ch];
    if (!x->usable[ch]) continue;
    const bool valid = level_of(x, ch, LEAF_VALID, 0, &l->valid);
    const bool ready = level_of(x, ch, LEAF_READY, 1, &l->ready);
    l->unknown = !valid || !ready;
    l->maybe = l->unknown && (l->valid || !valid) && (l->ready || !ready);
    if (x->has_last[ch]) l->last_unknown = !level_of(x, ch, LEAF_LAST, 2, &l->last);
  }
}

/* Applies the changes of a step; true where any pin moved. */
static bool apply_step(tg_axi *x, uint32_t step) {
  bool moved = false;
  for (size_t k = 0; k < x->n_moving; k++) moved |= tg_axi_move_pin(x->moving[k], step);
  return moved;
}

static bool is_beat(const tg_axi *x, unsigned ch) {
  return x->level[ch].valid && x->level[ch].ready && !x->level[ch].unknown;
}

/* ---- samples ------------------------------------------------------------------------------------
 */

/* A level of the channel is unknown: all that is open may be wrong, and where a transfer may have
 * been lost, all that follows in the segment. An answer needs an open command. */
static void doubt(tg_axi *x, unsigned ch) {
  const unsigned d = ch == CH_AR || ch == CH_R ? READ : WRITE;
  const bool answer = ch == CH_R || ch == CH_B;
  tg_axi_flag_open(x, d, TG_AXI_F_UNCERTAIN);
  if (x->level[ch].maybe && (!answer || x->open_now[d] > 0)) x->unsure[d] = true;
}

/* VALID that rises waits from here; VALID that falls without READY broke the rule. */
static tg_status update_pending(tg_axi *x, uint64_t k) {
  tg_status status = TG_OK;
  for (unsigned ch = 0; ch < AXI_CHANNELS && status == TG_OK; ch++) {
    axi_pend *p = &x->pend[ch];
    const axi_level *l = &x->level[ch];
    if (!x->usable[ch]) continue;
    if (l->valid && !p->on) {
      const axi_pin *addr = &x->pin[ch][LEAF_ADDR];
      *p = (axi_pend){.since = k,
                      .on = true,
                      .from_start = k == x->window_start || x->was_unknown[ch],
                      .after_unknown = x->was_unknown[ch],
                      .addr = addr->v,
                      .addr_known = addr->store != NULL && !addr->x};
    } else if (!l->valid && p->on) {
      p->on = false;
      if (!l->unknown)
        status =
            tg_axi_problem(x, k, ch, "protocol", "VALID fell at %llu without READY, up since %llu",
                           (unsigned long long)k, (unsigned long long)p->since);
      x->fig.protocol += !l->unknown && !x->scouting;
    }
    if (l->unknown && !x->scouting) doubt(x, ch);
    x->was_unknown[ch] = l->unknown;
  }
  if (x->trigger_due && !x->scouting) tg_axi_take_trigger(x);
  x->trigger_due = false;
  return status;
}

static tg_status events(tg_axi *x, uint64_t k) {
  if (is_beat(x, CH_AR)) TG_TRY(tg_axi_accept(x, READ, k));
  if (is_beat(x, CH_AW)) TG_TRY(tg_axi_accept(x, WRITE, k));
  if (is_beat(x, CH_W)) TG_TRY(tg_axi_w_beat(x, k));
  if (is_beat(x, CH_R)) TG_TRY(tg_axi_r_beat(x, k));
  if (is_beat(x, CH_B)) TG_TRY(tg_axi_b_beat(x, k));
  for (unsigned ch = 0; ch < AXI_CHANNELS; ch++)
    if (is_beat(x, ch)) {
      x->pend[ch].on = false;
      x->moved++;
    }
  return x->scouting ? TG_OK : tg_axi_note_open(x, k + 1);
}

/* A handshake that holds on and on without any change (a time far ahead): its cycles count, but
 * nothing is matched any more. */
static tg_status give_up(tg_axi *x, uint64_t k, uint64_t n) {
  TG_TRY(tg_axi_problem(x, k, CH_R, "endless",
                        "handshakes without a change for %llu samples: not matched",
                        (unsigned long long)n));
  if (!x->scouting) TG_TRY(tg_axi_count(x, k, n));
  TG_TRY(tg_axi_end(x, k + n, "an endless handshake follows", false));
  return tg_axi_begin(x, k + n, false);
}

/* Samples [s, e) without a handshake. */
static tg_status pass(tg_axi *x, uint64_t s, uint64_t e) {
  bool quiet = true;
  for (unsigned ch = 0; ch < AXI_CHANNELS; ch++)
    quiet = quiet && !x->level[ch].valid && !x->level[ch].unknown;
  tg_status status = update_pending(x, s);
  if (status != TG_OK) return status;
  if (!x->scouting) return tg_axi_count(x, s, e - s);
  return quiet ? tg_scout_quiet(x->scout, s, e) : TG_OK;
}

/* Samples [s, e) in which no pin changes. */
static tg_status segment(tg_axi *x, uint64_t s, uint64_t e) {
  bool active = false;
  for (unsigned ch = 0; ch < AXI_CHANNELS; ch++) active = active || is_beat(x, ch);
  if (x->in_reset) {
    x->moved_in_reset += active ? e - s : 0;
    return x->scouting ? TG_OK : tg_axi_count(x, s, e - s);
  }
  if (!active) return pass(x, s, e);
  const bool commands = is_beat(x, CH_AR) || is_beat(x, CH_AW);
  const uint64_t free_samples = commands ? FREE_COMMANDS : FREE_SAMPLES;
  for (uint64_t k = s; k < e; k++) {
    if (tg_stop_at(x->opt.stop, x->turns++, 1)) return TG_EINTERRUPTED;
    if (k - s >= free_samples && x->patience-- == 0) {
      x->patience = 0;
      return give_up(x, k, e - k);
    }
    TG_TRY(update_pending(x, k));
    if (!x->scouting) TG_TRY(tg_axi_count(x, k, 1));
    TG_TRY(events(x, k));
  }
  return TG_OK;
}

static tg_status mark(tg_axi *x, const cap_mark *m) {
  const bool gap = m->kind == MARK_GAP;
  if (m->kind == MARK_TRIGGER) {
    x->trigger_due = true;
    return TG_OK;
  }
  if (gap && x->opt.ignore_gaps) {
    if (x->scouting) return TG_OK;
    tg_axi_flag_open(x, READ, TG_AXI_F_LOWER);
    tg_axi_flag_open(x, WRITE, TG_AXI_F_LOWER);
    return TG_OK;
  }
  if (m->kind == MARK_WINDOW && m->sample > x->window_start) x->window_due = true;
  if (m->sample <= x->window_start && !x->started) return TG_OK;
  tg_status status = tg_axi_end(x, m->sample, gap ? "a gap follows" : "its window ends", gap);
  if (x->window_due) x->window++;
  x->window_due = false;
  const bool known = !gap && x->in_reset;
  return status == TG_OK ? tg_axi_begin(x, m->sample, known) : status;
}

/* Follows the reset: nothing is open behind it. */
static tg_status follow_reset(tg_axi *x, uint64_t k) {
  if (x->reset.store == NULL) return TG_OK;
  const bool on = !x->reset.x && (x->reset.v != 0) != x->reset_low;
  if (on == x->in_reset) return TG_OK;
  x->in_reset = on;
  if (on) return tg_axi_end(x, k, "a reset follows", false);
  return tg_axi_begin(x, k, true);
}

/* Puts all pins and counts of the walk back to before the first sample. */
static void rewind_walk(tg_axi *x) {
  for (size_t i = 0; i < x->n_moving; i++) {
    x->moving[i]->at = 0;
    x->moving[i]->v = 0;
    x->moving[i]->x = true;
  }
  memset(x->level, 0, sizeof x->level);
  memset(x->pend, 0, sizeof x->pend);
  memset(x->was_unknown, 0, sizeof x->was_unknown);
  x->patience = x->opt.max_steady != 0 ? x->opt.max_steady : MAX_STEADY;
  x->segment = x->window = 0;
  x->moved = x->moved_in_reset = 0;
  x->in_reset = x->trigger_due = x->window_due = x->started = false;
  read_levels(x);
}

/* Where the walk is: the next step and mark, and their samples on the interface's clock. */
typedef struct position {
  const tg_capture *c;
  uint32_t clock;
  size_t step, mark, step_run, mark_run;
  uint64_t step_at, mark_at; /* UINT64_MAX: there is none */
} position;

static void find_step(position *p) {
  p->step_at = p->step < p->c->n_step
                   ? tg_cap_sample(p->c, p->clock, p->c->step[p->step], &p->step_run)
                   : UINT64_MAX;
}

static void find_mark(position *p) {
  p->mark_at = p->mark < p->c->n_mark
                   ? tg_cap_sample(p->c, p->clock, p->c->mark[p->mark].sample, &p->mark_run)
                   : UINT64_MAX;
}

/* Is it no window of an analyser, but a simulation from its time 0 on, or a table of clocks? */
static bool is_from_zero(const tg_capture *c) {
  if (c->ila || c->n_step == 0) return false;
  return c->form == TG_CAPTURE_CSV || (c->clocked && c->step[0] == 0);
}

/* Walks the samples of the capture, cut at steps and marks. */
static tg_status walk(tg_axi *x, const tg_capture *c) {
  position p = {.c = c, .clock = c->bundle[x->opt.interface].clock};
  const uint64_t all = tg_cap_depth(c, p.clock);
  uint64_t k = 0;
  rewind_walk(x);
  if (c->form == TG_CAPTURE_VCD && p.clock == CAP_NONE && c->n_step > 0) k = c->step[0];
  x->window_start = k;
  x->from_zero = is_from_zero(c);
  x->fig.cycles = all > k ? all - k : 0;
  find_step(&p);
  find_mark(&p);
  while (k < all) {
    bool moved = false;
    if (tg_stop_at(x->opt.stop, x->turns++, 1)) return TG_EINTERRUPTED;
    for (; p.step_at <= k; find_step(&p)) moved |= apply_step(x, (uint32_t)p.step++);
    if (moved) read_levels(x);
    if (!x->started) TG_TRY(tg_axi_begin(x, k, false));
    for (; p.mark_at <= k; find_mark(&p)) {
      const cap_mark m = {.sample = p.mark_at, .kind = c->mark[p.mark++].kind};
      TG_TRY(mark(x, &m));
    }
    x->started = true;
    TG_TRY(follow_reset(x, k));
    uint64_t e = p.step_at < p.mark_at ? p.step_at : p.mark_at;
    if (e > all) e = all;
    TG_TRY(segment(x, k, e));
    k = e;
  }
  return tg_axi_end(x, k, "the capture ends", false);
}

/* The first walk: how many transactions were open where segments begin. A reset in which more moves
 * than outside it is none. */
static tg_status scout(tg_axi *x, const tg_capture *c) {
  tg_status status = TG_OK;
  for (unsigned tries = 0; tries < 2 && status == TG_OK; tries++) {
    tg_scout_free(x->scout);
    *x->scout = (axi_scout){.a = x->a, .writes_by_id = x->by_wid};
    x->scout->has_last[0] = x->has_last[CH_R] || x->lite;
    x->scout->has_last[1] = x->has_last[CH_W] || x->lite;
    x->scouting = true;
    status = walk(x, c);
    x->scouting = false;
    if (x->reset.store == NULL || x->moved_in_reset <= x->moved) break;
    x->reset.store = NULL; /* the last of the moving pins */
    x->n_moving--;
  }
  tg_scout_drop_lists(x->scout);
  return status;
}

/* Both walks through the capture, and the tables of their finds. */
static tg_status analyse(tg_axi *x, const tg_capture *c, cap_bundle *bundle, tg_error *err) {
  TG_TRY(connect(x, c, &x->opt, bundle, err));
  connect_reset(x, c);
  for (unsigned d = 0; d < 2; d++) TG_TRY(tg_intern_new(&x->a, CAP_NONE, &x->ids[d]));
  TG_TRY(tg_intern_new(&x->a, CAP_NONE, &x->wids));
  x->scout = tg_zalloc(&x->a, 1, sizeof *x->scout);
  if (x->scout == NULL) return TG_ENOMEM;
  x->scout->a = x->a;
  TG_TRY(tg_axi_make_tables(x));
  const bool stream = x->fig.kind == TG_AXI_STREAM;
  tg_status status = stream ? tg_axi_stream(x, c, bundle, err) : scout(x, c);
  if (status == TG_OK && !stream) status = walk(x, c);
  if (status == TG_ELIMIT)
    tg_fail(err, status, 0, 0, "holds more than %zu AXI transactions (--limit transactions=N)",
            x->n_txn);
  TG_TRY(status);
  return stream ? TG_OK : tg_axi_fill_tables(x);
}

tg_status tg_axi_new(const tg_alloc *a, const tg_capture *c, const tg_axi_options *options,
                     tg_axi **out, tg_error *err) {
  static const tg_axi_options defaults = {0};
  const tg_alloc *suite = tg_alloc_or_default(a);
  tg_axi *x = NULL;
  cap_bundle bundle;
  tg_status status = TG_OK;
  if (err != NULL) err->status = TG_OK;
  if (!c->finished || c->form == TG_CAPTURE_DMP)
    return tg_fail(err, TG_EINVAL, 0, 0, "the capture is not finished, or holds no signals");
  if ((x = tg_zalloc(suite, 1, sizeof *x)) == NULL)
    return tg_fail(err, TG_ENOMEM, 0, 0, "%s", tg_status_text(TG_ENOMEM));
  x->a = *suite;
  x->opt = options != NULL ? *options : defaults;
  if (x->opt.max_transactions == 0) x->opt.max_transactions = (uint64_t)1 << 22;
  status = analyse(x, c, &bundle, err);
  if (status != TG_OK) goto fail;
  x->opt = defaults; /* it points into the caller's memory */
  *out = x;
  return TG_OK;
fail:
  tg_axi_free(x);
  if (err != NULL && err->status != status)
    tg_fail(err, status, 0, 0, "%s", tg_status_text(status));
  return status;
}

void tg_axi_free(tg_axi *x) {
  if (x == NULL) return;
  const tg_alloc a = x->a;
  void *owned[] = {x->txn,    x->order[0], x->order[1], x->queue[0], x->queue[1],
                   x->data, x->steps,    x->spans};
  tg_table *tables[] = {x->txn_table, x->channels, x->outstanding, x->blocks,
                        x->problems,  x->lanes,    x->starts,      x->packets};
  for (size_t i = 0; i < x->n_data; i++) {
    tg_release(&a, x->data[i].wait);
    tg_release(&a, x->data[i].early);
  }
  if (x->scout != NULL) tg_scout_free(x->scout);
  tg_release(&a, x->scout);
  tg_intern_free(x->wids);
  for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) tg_release(&a, owned[i]);
  for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) tg_table_free(tables[i]);
  tg_intern_free(x->ids[0]);
  tg_intern_free(x->ids[1]);
  tg_release(&a, x);
}

tg_axi_figures tg_axi_about(const tg_axi *x) { return x->fig; }

const tg_table *tg_axi_table(const tg_axi *x, const char *name) {
  const struct {
    const char *name;
    const tg_table *table;
  } tables[] = {{"transactions", x->txn_table},  {"channels", x->channels},
                {"outstanding", x->outstanding}, {"blocks", x->blocks},
                {"problems", x->problems},       {"lanes", x->lanes},
                {"starts", x->starts},           {"packets", x->packets}};
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
    if (strcmp(name, tables[i].name) == 0) return tables[i].table;
  return NULL;
}

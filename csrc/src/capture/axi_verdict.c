/* axi_verdict.c - do reads wait for writes? One verdict, from three questions:
 *   data      with a read open, P(R beat | W beat) against P(R beat | no W beat);
 *   address   with ARVALID up, P(accepted | W beat) against P(accepted | no W beat);
 *   spans     do reads with W beats in them take longer than equal reads without?
 * Clocks with an unknown level are on neither side; a channel that is not in the capture leaves no
 * answer. SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "capture/axi.h"

#define MIN_CONTRAST 32 /* clocks on either side before a contrast is drawn */
#define MIN_FREE 8      /* clocks without a W beat that ARVALID is up */
#define MIN_EXPECTED 5.0
#define MIN_READS 3 /* on either side, to compare spans */
#define EQUAL_READS 5

static double share(uint64_t part, uint64_t whole) {
  return whole > 0 ? (double)part / (double)whole : (double)NAN;
}

static tg_axi_verdict judge_data(const axi_cycles *c, const tg_axi_figures *f) {
  const uint64_t w = c->r_and_w + c->w_only, no_w = c->r_only + c->neither;
  if (w == 0) return TG_AXI_NOTHING;
  if (w < MIN_CONTRAST || no_w < MIN_CONTRAST || c->r_only == 0) return TG_AXI_TOO_FEW;
  if (f->p_given_w >= 0.75 * f->p_given_no_w) return TG_AXI_INDEPENDENT;
  return f->p_given_w <= 0.1 * f->p_given_no_w ? TG_AXI_BLOCKED : TG_AXI_SLOWED;
}

static tg_axi_verdict judge_address(const axi_cycles *c) {
  const uint64_t w = c->held_w + c->taken_w;
  const uint64_t no_w = c->held + c->taken - w, taken = c->taken - c->taken_w;
  if (w == 0) return TG_AXI_NOTHING;
  if (w < MIN_CONTRAST || no_w < MIN_FREE || taken == 0) return TG_AXI_TOO_FEW;
  const double expected = (double)w * share(taken, no_w);
  if ((double)c->taken_w >= 0.5 * expected) return TG_AXI_INDEPENDENT;
  if (expected < MIN_EXPECTED) return TG_AXI_TOO_FEW;
  return (double)c->taken_w <= 0.1 * expected ? TG_AXI_BLOCKED : TG_AXI_SLOWED;
}

typedef struct spans {
  uint64_t n[2], sum[2], low, high; /* of reads without and with W beats */
} spans;

/* The spans of counted reads of `beats` beats. */
static spans collect(const tg_axi *x, uint64_t beats) {
  spans out = {.low = UINT64_MAX};
  for (size_t i = 0; i < x->n_txn; i++) {
    const axi_txn *t = &x->txn[i];
    if (t->direction != READ || (t->flags & TG_AXI_F_COUNTED) == 0 || t->beats != beats) continue;
    const uint64_t span = t->stamp[DATA_LAST] - t->stamp[AX_VALID];
    out.n[t->w_beats > 0]++;
    out.sum[t->w_beats > 0] += span;
    if (span < out.low) out.low = span;
    if (span > out.high) out.high = span;
  }
  return out;
}

/* Reads of one length that take as long with W beats as without: what falls together is no
 * cause. */
static bool spans_are_equal(const tg_axi *x) {
  uint64_t count[257] = {0}, beats = 0;
  for (size_t i = 0; i < x->n_txn; i++) {
    const axi_txn *t = &x->txn[i];
    if (t->direction == READ && (t->flags & TG_AXI_F_COUNTED) != 0 && t->beats <= 256 &&
        ++count[t->beats] > count[beats])
      beats = t->beats;
  }
  const spans s = collect(x, beats);
  if (s.n[0] + s.n[1] >= EQUAL_READS && s.high - s.low <= s.high / 50) return true;
  if (s.n[0] < MIN_READS || s.n[1] < MIN_READS) return false;
  return (double)s.sum[1] / (double)s.n[1] <= 1.1 * (double)s.sum[0] / (double)s.n[0] + 1.0;
}

/* The channels that the question needs. */
static bool is_seen(const tg_axi *x) {
  return x->usable[CH_AR] && x->usable[CH_R] && x->usable[CH_W];
}

void tg_axi_judge(tg_axi *x) {
  const axi_cycles *c = &x->cycles;
  const uint64_t w = c->r_and_w + c->w_only, no_w = c->r_only + c->neither;
  tg_axi_figures *f = &x->fig;
  f->read_open = c->n;
  f->read_asked = c->asked;
  f->both_open = c->both_open;
  f->r_and_w = c->r_and_w;
  f->r_only = c->r_only;
  f->w_only = c->w_only;
  f->neither = c->neither;
  f->blocked = c->blocked;
  f->master_stall = c->master_stall;
  f->read_unknown = c->unknown;
  f->address_held = c->held;
  f->address_held_w = c->held_w;
  f->first_wait = c->first;
  f->first_wait_w = c->first_w;
  f->gap_wait = c->gaps;
  f->gap_wait_w = c->gaps_w;
  f->p_given_w = share(c->r_and_w, w);
  f->p_given_no_w = share(c->r_only, no_w);
  f->expected_blocked = no_w > 0 ? (double)w * share(c->neither, no_w) : (double)NAN;
  f->verdict = TG_AXI_UNSEEN;
  f->where = TG_AXI_NOWHERE;
  if (!is_seen(x)) return;
  const tg_axi_verdict data = judge_data(c, f), address = judge_address(c);
  if (w == 0 && c->unknown > 0 && address < TG_AXI_INDEPENDENT) return;
  const bool equal = spans_are_equal(x);
  if (data >= TG_AXI_SLOWED && !equal) f->where |= TG_AXI_DATA;
  if (address >= TG_AXI_SLOWED && !equal) f->where |= TG_AXI_ADDRESS;
  const tg_axi_verdict found = data > address ? data : address;
  f->verdict = found >= TG_AXI_SLOWED && equal ? TG_AXI_INDEPENDENT : found;
}

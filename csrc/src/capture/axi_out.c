/* axi_out.c - what the analysis found, as tables and figures.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "capture/axi.h"

#define MIN_CONTRAST 32 /* cycles on either side before a contrast is drawn */
#define MIN_TAIL_BEATS 16

tg_status tg_axi_make_tables(tg_axi *x) {
  static const tg_column_def txn[TG_TXN_COLUMNS] = {
      {"direction", TG_TEXT, 0}, {"status", TG_TEXT, 0},      {"why", TG_TEXT, 0},
      {"window", TG_U32, 0},     {"id", TG_U64, 0},           {"addr", TG_U64, 0},
      {"beats", TG_U64, 0},      {"seen", TG_U64, 0},         {"size", TG_U32, 0},
      {"burst", TG_TEXT, 0},     {"bytes", TG_U64, 0},        {"resp", TG_TEXT, 0},
      {"ax_valid", TG_U64, 0},   {"ax_accept", TG_U64, 0},    {"data_valid", TG_U64, 0},
      {"data_first", TG_U64, 0}, {"data_last", TG_U64, 0},    {"b_valid", TG_U64, 0},
      {"b_accept", TG_U64, 0},   {"address_wait", TG_I64, 0}, {"first_data", TG_I64, 0},
      {"last_data", TG_I64, 0},  {"response", TG_I64, 0},     {"after_data", TG_I64, 0},
      {"span", TG_I64, 0},       {"data_phase", TG_I64, 0},   {"queue", TG_I64, 0},
      {"open", TG_U32, 0},       {"w_beats", TG_U64, 0},      {"blocked", TG_U64, 0},
      {"trigger", TG_BOOL, 0},   {"flags", TG_U32, 0}};
  static const tg_column_def channels[] = {{"channel", TG_TEXT, 0},  {"beat", TG_U64, 0},
                                           {"stall", TG_U64, 0},     {"starve", TG_U64, 0},
                                           {"idle", TG_U64, 0},      {"ready_high", TG_U64, 0},
                                           {"ready_low", TG_U64, 0}, {"unknown", TG_U64, 0}};
  static const tg_column_def outstanding[] = {
      {"sample", TG_U64, 0}, {"reads", TG_U32, 0}, {"writes", TG_U32, 0}};
  static const tg_column_def blocks[] = {
      {"first", TG_U64, 0}, {"last", TG_U64, 0}, {"w_beats", TG_U64, 0}, {"tail", TG_U64, 0}};
  static const tg_column_def problems[] = {{"sample", TG_U64, 0},
                                           {"channel", TG_TEXT, 0},
                                           {"reason", TG_TEXT, 0},
                                           {"detail", TG_TEXT, 0}};
  static const tg_column_def lanes[] = {
      {"channel", TG_TEXT, 0}, {"state", TG_TEXT, 0}, {"first", TG_U64, 0}, {"last", TG_U64, 0}};
  tg_status status = tg_table_new(&x->a, txn, TG_TXN_COLUMNS, &x->txn_table);
  if (status == TG_OK) status = tg_table_new(&x->a, channels, 8, &x->channels);
  if (status == TG_OK) status = tg_table_new(&x->a, outstanding, 3, &x->outstanding);
  if (status == TG_OK) status = tg_table_new(&x->a, blocks, 4, &x->blocks);
  if (status == TG_OK) status = tg_table_new(&x->a, problems, 4, &x->problems);
  if (status == TG_OK) status = tg_table_new(&x->a, lanes, 4, &x->lanes);
  return status;
}

/* ---- transactions -------------------------------------------------------------------------------
 */

/* a - b where both are there. */
static tg_status set_span(tg_table *t, size_t row, size_t col, uint64_t a, uint64_t b) {
  if (a == NO_STAMP || b == NO_STAMP) return TG_OK;
  uint64_t d = a - b;
  return tg_table_set_i64(t, row, col, (int64_t)d);
}

/* Payload: the head of an unaligned burst carries less; every beat of a FIXED one does. */
static bool payload(const axi_txn *t, uint64_t *bytes) {
  uint64_t beats = t->status == COMPLETE ? t->beats : t->seen, head = 0;
  if ((t->known & KNOW_SIZE) == 0 || (t->status == COMPLETE && (t->known & KNOW_LEN) == 0))
    return false;
  if ((t->known & KNOW_ADDR) != 0 && beats > 0) head = t->addr % t->size;
  if ((t->known & KNOW_BURST) != 0 && t->burst == 2) head = 0;
  if ((t->known & KNOW_BURST) != 0 && t->burst == 0) head *= beats;
  return !__builtin_mul_overflow(beats, (uint64_t)t->size, bytes) &&
         !__builtin_sub_overflow(*bytes, head, bytes);
}

static tg_status txn_words(tg_table *t, size_t row, const axi_txn *v) {
  static const char *const words[] = {"incomplete", "complete", "incomplete", "orphan"};
  static const char *const bursts[] = {"FIXED", "INCR", "WRAP"};
  static const char *const answers[] = {"OKAY", "EXOKAY", "SLVERR", "DECERR"};
  tg_status status =
      tg_table_set_cstr(t, row, TG_TXN_DIRECTION, v->direction == READ ? "read" : "write");
  if (status == TG_OK) status = tg_table_set_cstr(t, row, TG_TXN_STATUS, words[v->status]);
  if (status == TG_OK) status = tg_table_set_cstr(t, row, TG_TXN_WHY, v->why);
  if (status == TG_OK && (v->known & KNOW_BURST) != 0)
    status = tg_table_set_cstr(t, row, TG_TXN_BURST, bursts[v->burst]);
  if (status == TG_OK && (v->known & KNOW_RESP) != 0)
    status = tg_table_set_cstr(t, row, TG_TXN_RESP, answers[v->resp]);
  return status;
}

static tg_status txn_numbers(tg_table *t, size_t row, const axi_txn *v) {
  uint64_t bytes = 0;
  tg_status status = tg_table_set_u32(t, row, TG_TXN_WINDOW, v->window);
  if (status == TG_OK && (v->known & KNOW_ID) != 0) status = tg_table_set_u64(t, row, TG_TXN_ID, v->id);
  if (status == TG_OK && (v->known & KNOW_ADDR) != 0)
    status = tg_table_set_u64(t, row, TG_TXN_ADDR, v->addr);
  if (status == TG_OK && (v->known & KNOW_LEN) != 0 && v->status != ORPHAN)
    status = tg_table_set_u64(t, row, TG_TXN_BEATS, v->beats);
  if (status == TG_OK) status = tg_table_set_u64(t, row, TG_TXN_SEEN, v->seen);
  if (status == TG_OK && (v->known & KNOW_SIZE) != 0)
    status = tg_table_set_u32(t, row, TG_TXN_SIZE, v->size);
  if (status == TG_OK && payload(v, &bytes)) status = tg_table_set_u64(t, row, TG_TXN_BYTES, bytes);
  for (size_t i = 0; i < STAMPS && status == TG_OK; i++)
    if (v->stamp[i] != NO_STAMP) status = tg_table_set_u64(t, row, TG_TXN_AX_VALID + i, v->stamp[i]);
  if (status == TG_OK) status = tg_table_set_u32(t, row, TG_TXN_OPEN, v->open);
  if (status == TG_OK && v->direction == READ && v->status != ORPHAN) {
    status = tg_table_set_u64(t, row, TG_TXN_W_BEATS, v->w_beats);
    if (status == TG_OK) status = tg_table_set_u64(t, row, TG_TXN_BLOCKED, v->blocked);
  }
  if (status == TG_OK) status = tg_table_set_bool(t, row, TG_TXN_TRIGGER, v->trigger);
  if (status == TG_OK) status = tg_table_set_u32(t, row, TG_TXN_FLAGS, v->flags);
  return status;
}

/* Spans; those that need the end only where the transaction is complete. */
static tg_status txn_spans(tg_table *t, size_t row, const axi_txn *v) {
  const uint64_t *s = v->stamp;
  bool whole = v->status == COMPLETE;
  uint64_t end = v->direction == READ ? s[DATA_LAST] : s[B_ACCEPT];
  tg_status status = set_span(t, row, TG_TXN_ADDRESS_WAIT, s[AX_ACCEPT], s[AX_VALID]);
  if (status == TG_OK) status = set_span(t, row, TG_TXN_FIRST_DATA, s[DATA_FIRST], s[AX_ACCEPT]);
  if (status == TG_OK && (whole || v->data_done))
    status = set_span(t, row, TG_TXN_LAST_DATA, s[DATA_LAST], s[AX_ACCEPT]);
  if (status == TG_OK && (whole || v->data_done) && s[DATA_LAST] != NO_STAMP)
    status = set_span(t, row, TG_TXN_DATA_PHASE, s[DATA_LAST] + 1, s[DATA_FIRST]);
  if (status == TG_OK && v->direction == WRITE && whole) {
    status = set_span(t, row, TG_TXN_RESPONSE, s[B_ACCEPT], s[AX_ACCEPT]);
    if (status == TG_OK) status = set_span(t, row, TG_TXN_AFTER_DATA, s[B_ACCEPT], s[DATA_LAST]);
  }
  if (status == TG_OK && whole) status = set_span(t, row, TG_TXN_SPAN, end, s[AX_VALID]);
  if (status == TG_OK && whole) status = set_span(t, row, TG_TXN_QUEUE, s[AX_ACCEPT], v->before);
  return status;
}

static tg_status fill_transactions(tg_axi *x) {
  tg_status status = TG_OK;
  for (size_t i = 0; i < x->n_txn && status == TG_OK; i++) {
    axi_txn *v = &x->txn[i];
    size_t row = 0;
    if (tg_stop_at(x->opt.stop, i, 1)) return TG_EINTERRUPTED;
    bool counted =
        v->status == COMPLETE && (v->flags & (TG_AXI_F_UNCERTAIN | TG_AXI_F_PROTOCOL)) == 0;
    if (counted) v->flags |= TG_AXI_F_COUNTED;
    ++*(v->direction == READ ? &x->fig.reads : &x->fig.writes);
    if (counted) ++*(v->direction == READ ? &x->fig.complete_reads : &x->fig.complete_writes);
    if (v->status == ORPHAN) --*(v->direction == READ ? &x->fig.reads : &x->fig.writes);
    status = tg_table_append(x->txn_table, &row);
    if (status == TG_OK) status = txn_words(x->txn_table, row, v);
    if (status == TG_OK) status = txn_numbers(x->txn_table, row, v);
    if (status == TG_OK) status = txn_spans(x->txn_table, row, v);
  }
  return status;
}

/* ---- figures ------------------------------------------------------------------------------------
 */

static int by_value(const void *a, const void *b) {
  const uint64_t *x = a, *y = b;
  return *x < *y ? -1 : *x > *y;
}

/* The lower median of the tails of long blocked spans. */
static tg_status find_tail(tg_axi *x) {
  size_t n = 0;
  if (x->n_spans == 0) return TG_OK;
  uint64_t *tail = tg_zalloc(&x->a, x->n_spans, sizeof *tail);
  if (tail == NULL) return TG_ENOMEM;
  for (size_t i = 0; i < x->n_spans; i++)
    if (x->spans[i].beats >= MIN_TAIL_BEATS && x->spans[i].tail != NO_STAMP)
      tail[n++] = x->spans[i].tail;
  if (n > 0) {
    qsort(tail, n, sizeof *tail, by_value);
    x->fig.tail_median = tail[(n - 1) / 2];
  }
  x->fig.tail_n = n;
  tg_release(&x->a, tail);
  return TG_OK;
}

static tg_axi_verdict judge(const axi_cycles *c, double with_w, double without) {
  uint64_t w = c->r_and_w + c->w_only, no_w = c->r_only + c->neither;
  if (w == 0) return TG_AXI_NOTHING;
  if (w < MIN_CONTRAST || no_w < MIN_CONTRAST || c->r_only == 0) return TG_AXI_TOO_FEW;
  if (with_w >= 0.75 * without) return TG_AXI_INDEPENDENT;
  return with_w <= 0.1 * without ? TG_AXI_BLOCKED : TG_AXI_SLOWED;
}

static void fill_figures(tg_axi *x) {
  const axi_cycles *c = &x->open;
  uint64_t w = c->r_and_w + c->w_only, no_w = c->r_only + c->neither;
  tg_axi_figures *f = &x->fig;
  f->read_open = c->n;
  f->both_open = c->both_open;
  f->r_and_w = c->r_and_w;
  f->r_only = c->r_only;
  f->w_only = c->w_only;
  f->neither = c->neither;
  f->blocked = c->blocked;
  f->master_stall = c->master_stall;
  f->p_given_w = w > 0 ? (double)c->r_and_w / (double)w : (double)NAN;
  f->p_given_no_w = no_w > 0 ? (double)c->r_only / (double)no_w : (double)NAN;
  f->expected_blocked = no_w > 0 ? (double)w * (double)c->neither / (double)no_w : (double)NAN;
  f->verdict = judge(c, f->p_given_w, f->p_given_no_w);
}

static tg_status fill_channels(tg_axi *x) {
  tg_status status = TG_OK;
  for (unsigned ch = 0; ch < AXI_CHANNELS && status == TG_OK; ch++) {
    const axi_channel *c = &x->channel[ch];
    const uint64_t v[] = {c->beat,       c->stall,     c->starve, c->idle,
                          c->ready_high, c->ready_low, c->unknown};
    size_t row = 0;
    if (!x->usable[ch]) continue;
    status = tg_table_append(x->channels, &row);
    if (status == TG_OK) status = tg_table_set_cstr(x->channels, row, 0, tg_cap_channel_names[ch]);
    for (size_t i = 0; i < 7 && status == TG_OK; i++)
      status = tg_table_set_u64(x->channels, row, i + 1, v[i]);
  }
  return status;
}

tg_status tg_axi_fill_tables(tg_axi *x) {
  tg_status status = TG_OK;
  size_t row = 0;
  fill_figures(x);
  status = find_tail(x);
  if (status == TG_OK) status = fill_transactions(x);
  if (status == TG_OK) status = fill_channels(x);
  for (size_t i = 0; i < x->n_steps && status == TG_OK; i++) {
    if (tg_stop_at(x->opt.stop, i, 1)) return TG_EINTERRUPTED;
    status = tg_table_append(x->outstanding, &row);
    if (status == TG_OK) status = tg_table_set_u64(x->outstanding, row, 0, x->steps[i].sample);
    if (status == TG_OK) status = tg_table_set_u32(x->outstanding, row, 1, x->steps[i].reads);
    if (status == TG_OK) status = tg_table_set_u32(x->outstanding, row, 2, x->steps[i].writes);
  }
  for (size_t i = 0; i < x->n_spans && status == TG_OK; i++) {
    const axi_block *b = &x->spans[i];
    status = tg_table_append(x->blocks, &row);
    if (status == TG_OK) status = tg_table_set_u64(x->blocks, row, 0, b->first);
    if (status == TG_OK) status = tg_table_set_u64(x->blocks, row, 1, b->last);
    if (status == TG_OK) status = tg_table_set_u64(x->blocks, row, 2, b->beats);
    if (status == TG_OK && b->tail != NO_STAMP) status = tg_table_set_u64(x->blocks, row, 3, b->tail);
  }
  return status;
}

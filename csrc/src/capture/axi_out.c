/* axi_out.c - the findings of the analysis as tables and figures.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "base/try.h"
#include "capture/axi.h"

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
      {"trigger", TG_BOOL, 0},   {"flags", TG_U32, 0},        {"lock", TG_TEXT, 0}};
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
  static const tg_column_def packets[] = {{"valid", TG_U64, 0}, {"first", TG_U64, 0},
                                          {"last", TG_U64, 0},  {"beats", TG_U64, 0},
                                          {"bytes", TG_U64, 0}, {"stall", TG_U64, 0},
                                          {"gap", TG_U64, 0},   {"whole", TG_BOOL, 0}};
  static const tg_column_def starts[] = {{"window", TG_U32, 0},    {"sample", TG_U64, 0},
                                         {"direction", TG_TEXT, 0}, {"id", TG_U64, 0},
                                         {"open", TG_U32, 0},      {"known", TG_BOOL, 0},
                                         {"basis", TG_TEXT, 0}};
  TG_TRY(tg_table_new(&x->a, txn, TG_TXN_COLUMNS, &x->txn_table));
  TG_TRY(tg_table_new(&x->a, channels, 8, &x->channels));
  TG_TRY(tg_table_new(&x->a, outstanding, 3, &x->outstanding));
  TG_TRY(tg_table_new(&x->a, blocks, 4, &x->blocks));
  TG_TRY(tg_table_new(&x->a, problems, 4, &x->problems));
  TG_TRY(tg_table_new(&x->a, lanes, 4, &x->lanes));
  TG_TRY(tg_table_new(&x->a, starts, 7, &x->starts));
  return tg_table_new(&x->a, packets, 8, &x->packets);
}

/* ---- transactions -------------------------------------------------------------------------------
 */

/* a - b where both are there. */
static void put_span(tg_row *w, size_t col, uint64_t a, uint64_t b) {
  if (a != NO_STAMP && b != NO_STAMP) tg_row_i64(w, col, (int64_t)(a - b));
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

static void put_words(tg_row *w, const axi_txn *v) {
  static const char *const statuses[] = {"incomplete", "complete", "incomplete", "orphan"};
  static const char *const bursts[] = {"FIXED", "INCR", "WRAP"};
  static const char *const answers[] = {"OKAY", "EXOKAY", "SLVERR", "DECERR"};
  static const char *const locks[] = {"normal", "exclusive", "locked"};
  const char *why = v->why;
  if (why == NULL && v->status == COMPLETE && (v->flags & TG_AXI_F_LOWER) != 0)
    why = (v->flags & TG_AXI_F_START) != 0
              ? "its VALID was up at the first sample: a lower bound"
              : "how many were open when the capture began is not known: a lower bound";
  tg_row_cstr(w, TG_TXN_DIRECTION, v->direction == READ ? "read" : "write");
  tg_row_cstr(w, TG_TXN_STATUS, statuses[v->status]);
  tg_row_cstr(w, TG_TXN_WHY, why);
  if ((v->known & KNOW_BURST) != 0) tg_row_cstr(w, TG_TXN_BURST, bursts[v->burst]);
  if ((v->known & KNOW_RESP) != 0) tg_row_cstr(w, TG_TXN_RESP, answers[v->resp]);
  if ((v->known & KNOW_LOCK) != 0) tg_row_cstr(w, TG_TXN_LOCK, locks[v->lock]);
}

static void put_numbers(tg_row *w, const axi_txn *v) {
  uint64_t bytes = 0;
  tg_row_u32(w, TG_TXN_WINDOW, v->window);
  if ((v->known & KNOW_ID) != 0) tg_row_u64(w, TG_TXN_ID, v->id);
  if ((v->known & KNOW_ADDR) != 0) tg_row_u64(w, TG_TXN_ADDR, v->addr);
  if ((v->known & KNOW_LEN) != 0 && v->status != ORPHAN) tg_row_u64(w, TG_TXN_BEATS, v->beats);
  tg_row_u64(w, TG_TXN_SEEN, v->seen);
  if ((v->known & KNOW_SIZE) != 0) tg_row_u32(w, TG_TXN_SIZE, v->size);
  if (payload(v, &bytes)) tg_row_u64(w, TG_TXN_BYTES, bytes);
  for (size_t i = 0; i < STAMPS; i++)
    if (v->stamp[i] != NO_STAMP) tg_row_u64(w, TG_TXN_AX_VALID + i, v->stamp[i]);
  tg_row_u32(w, TG_TXN_OPEN, v->open);
  if (v->direction == READ && v->status != ORPHAN) {
    tg_row_u64(w, TG_TXN_W_BEATS, v->w_beats);
    tg_row_u64(w, TG_TXN_BLOCKED, v->blocked);
  }
  tg_row_bool(w, TG_TXN_TRIGGER, v->trigger);
  tg_row_u32(w, TG_TXN_FLAGS, v->flags);
}

/* Spans; those that need the end only where the transaction is complete. */
static void put_spans(tg_row *w, const axi_txn *v) {
  const uint64_t *s = v->stamp;
  const bool whole = v->status == COMPLETE, data = whole || v->data_done;
  put_span(w, TG_TXN_ADDRESS_WAIT, s[AX_ACCEPT], s[AX_VALID]);
  put_span(w, TG_TXN_FIRST_DATA, s[DATA_FIRST], s[AX_ACCEPT]);
  if (data) put_span(w, TG_TXN_LAST_DATA, s[DATA_LAST], s[AX_ACCEPT]);
  if (data && s[DATA_LAST] != NO_STAMP)
    put_span(w, TG_TXN_DATA_PHASE, s[DATA_LAST] + 1, s[DATA_FIRST]);
  if (v->direction == WRITE && whole) {
    put_span(w, TG_TXN_RESPONSE, s[B_ACCEPT], s[AX_ACCEPT]);
    put_span(w, TG_TXN_AFTER_DATA, s[B_ACCEPT], s[DATA_LAST]);
  }
  if (!whole) return;
  put_span(w, TG_TXN_SPAN, v->direction == READ ? s[DATA_LAST] : s[B_ACCEPT], s[AX_VALID]);
  put_span(w, TG_TXN_QUEUE, s[AX_ACCEPT], v->before);
}

/* Complete, known to be so, without an unknown level or an error in it. */
static void count_txn(tg_axi *x, axi_txn *v) {
  const uint32_t doubt = TG_AXI_F_UNCERTAIN | TG_AXI_F_PROTOCOL | TG_AXI_F_LOWER;
  const bool read = v->direction == READ;
  tg_axi_figures *f = &x->fig;
  if (v->status == ORPHAN || v->stamp[AX_ACCEPT] == NO_STAMP) return;
  ++*(read ? &f->reads : &f->writes);
  if (v->status != COMPLETE) return;
  if ((v->flags & doubt) == 0) {
    v->flags |= TG_AXI_F_COUNTED;
    ++*(read ? &f->complete_reads : &f->complete_writes);
  } else if ((v->flags & doubt) == TG_AXI_F_LOWER) {
    ++*(read ? &f->bound_reads : &f->bound_writes);
  }
}

static tg_status fill_transactions(tg_axi *x) {
  tg_status status = TG_OK;
  for (size_t i = 0; i < x->n_txn && status == TG_OK; i++) {
    if (tg_stop_at(x->opt.stop, i, 1)) return TG_EINTERRUPTED;
    count_txn(x, &x->txn[i]);
    tg_row w = tg_row_begin(x->txn_table);
    put_words(&w, &x->txn[i]);
    put_numbers(&w, &x->txn[i]);
    put_spans(&w, &x->txn[i]);
    status = tg_row_end(&w);
  }
  return status;
}

/* Where each segment of the capture begins, and how the number of open ones there is known. */
static tg_status fill_starts(tg_axi *x) {
  static const char *const words[BASIS_COUNT] = {
      NULL, "reset", "told", "counters", "lengths", "silence", "empty start"};
  const axi_scout *s = x->scout;
  tg_status status = TG_OK;
  for (size_t i = 0; i < s->n_segment; i++)
    for (unsigned set = 0; set < SET_COUNT; set += 2) /* reads, then responses: whole writes */
      for (size_t k = 0; k < s->segment[i].count[set] && status == TG_OK; k++) {
        const scout_answer *a = &s->answer[s->segment[i].first[set] + k];
        const tg_str id = tg_intern_get(x->ids[set == SET_R ? READ : WRITE], a->code);
        const bool with_id = x->by_id[set == SET_R ? READ : WRITE];
        uint64_t v = 0;
        if (id.n == sizeof v) memcpy(&v, id.p, sizeof v);
        tg_row w = tg_row_begin(x->starts);
        tg_row_u32(&w, 0, s->segment[i].window);
        tg_row_u64(&w, 1, s->segment[i].sample);
        tg_row_cstr(&w, 2, set == SET_R ? "read" : "write");
        if (with_id) tg_row_u64(&w, 3, v);
        tg_row_u32(&w, 4, a->start.open > 0 ? (uint32_t)a->start.open : 0);
        tg_row_bool(&w, 5, a->start.basis != BASIS_NONE);
        tg_row_cstr(&w, 6, words[a->start.basis]);
        status = tg_row_end(&w);
      }
  return status;
}

/* ---- figures ------------------------------------------------------------------------------------
 */

#define TG_SORT_NAME sort_numbers
#define TG_SORT_ITEM uint64_t
#define TG_SORT_BEFORE(a, b) (*(a) < *(b))
#include "base/sort.h"

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
    sort_numbers(tail, n);
    x->fig.tail_median = tail[(n - 1) / 2];
  }
  x->fig.tail_n = n;
  tg_release(&x->a, tail);
  return TG_OK;
}

static tg_status fill_channels(tg_axi *x) {
  tg_status status = TG_OK;
  for (unsigned ch = 0; ch < AXI_CHANNELS && status == TG_OK; ch++) {
    const axi_channel *c = &x->channel[ch];
    const uint64_t v[] = {c->beat,       c->stall,     c->starve, c->idle,
                          c->ready_high, c->ready_low, c->unknown};
    if (!x->usable[ch]) continue;
    tg_row w = tg_row_begin(x->channels);
    tg_row_cstr(&w, 0, tg_cap_channel_names[ch]);
    for (size_t i = 0; i < 7; i++) tg_row_u64(&w, i + 1, v[i]);
    status = tg_row_end(&w);
  }
  return status;
}

tg_status tg_axi_fill_tables(tg_axi *x) {
  TG_TRY(find_tail(x));
  TG_TRY(fill_transactions(x));
  TG_TRY(tg_axi_exclusive(x));
  tg_axi_judge(x);
  TG_TRY(fill_channels(x));
  TG_TRY(fill_starts(x));
  for (size_t i = 0; i < x->n_steps; i++) {
    if (tg_stop_at(x->opt.stop, i, 1)) return TG_EINTERRUPTED;
    tg_row w = tg_row_begin(x->outstanding);
    tg_row_u64(&w, 0, x->steps[i].sample);
    tg_row_u32(&w, 1, x->steps[i].reads);
    tg_row_u32(&w, 2, x->steps[i].writes);
    TG_TRY(tg_row_end(&w));
  }
  for (size_t i = 0; i < x->n_spans; i++) {
    const axi_block *b = &x->spans[i];
    tg_row w = tg_row_begin(x->blocks);
    tg_row_u64(&w, 0, b->first);
    tg_row_u64(&w, 1, b->last);
    tg_row_u64(&w, 2, b->beats);
    if (b->tail != NO_STAMP) tg_row_u64(&w, 3, b->tail);
    TG_TRY(tg_row_end(&w));
  }
  return TG_OK;
}

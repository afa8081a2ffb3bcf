/* boots.c - where one boot ends and the next begins.
 *
 * A source is walked once. Banners form a chain (BL1, BL2, BL31, OP-TEE, U-Boot, Linux or TFTF):
 * one that stands no later in the chain than the last one seen starts a boot. PMF tid 0 starts one,
 * so do stamps that go back beyond any reordering and a changed frequency.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "boots.h"

#include <string.h>

#include "boots_walk.h"
#include "reducer.h"

static const tg_column_def boot_columns[TG_BOOT_COLUMNS] = {
    [TG_BOOT_SOURCE] = {"source", TG_U32, 0},    [TG_BOOT_BOOT] = {"boot", TG_U32, 0},
    [TG_BOOT_LINE] = {"first_line", TG_U64, 0},  [TG_BOOT_OFFSET] = {"first_offset", TG_U64, 0},
    [TG_BOOT_REASON] = {"reason", TG_TEXT, 0},   [TG_BOOT_CHAIN] = {"chain", TG_TEXT, 0},
    [TG_BOOT_VERSION] = {"version", TG_TEXT, 0}, [TG_BOOT_PLATFORM] = {"platform", TG_TEXT, 0},
    [TG_BOOT_BUILD] = {"build", TG_TEXT, 0},     [TG_BOOT_BUILT] = {"built", TG_TEXT, 0},
    [TG_BOOT_CLOCK] = {"clock_hz", TG_U64, 0},
};

static const tg_column_def span_columns[TG_SPAN_COLUMNS] = {
    [TG_SPAN_SOURCE] = {"source", TG_U32, 0},
    [TG_SPAN_LINE] = {"first_line", TG_U64, 0},
    [TG_SPAN_OFFSET] = {"first_offset", TG_U64, 0},
    [TG_SPAN_BOOT] = {"boot", TG_U32, 0},
};

/* Source and first offset of a span. */
static uint32_t span_start(const tg_table *spans, size_t row, uint64_t *first) {
  uint32_t source = 0;
  *first = 0;
  (void)tg_table_u32(spans, row, TG_SPAN_SOURCE, &source);
  (void)tg_table_u64(spans, row, TG_SPAN_OFFSET, first);
  return source;
}

void tg_boot_look(const tg_result *out, uint32_t source, uint64_t offset, tg_boot_memo *memo) {
  const tg_table *t = tg_result_get(out, "spans");
  const size_t n = t != NULL ? tg_table_rows(t) : 0;
  size_t low = 0;
  size_t high = n;
  uint64_t first = 0;
  while (low < high) { /* the last span of the source that starts at or before `offset` */
    size_t mid = low + (high - low) / 2;
    uint32_t s = span_start(t, mid, &first);
    if (s < source || (s == source && first <= offset)) {
      low = mid + 1;
    } else {
      high = mid;
    }
  }
  *memo = (tg_boot_memo){0, UINT64_MAX, TG_NONE};
  if (low < n && span_start(t, low, &first) == source) memo->until = first;
  if (low == 0 || span_start(t, low - 1, &first) != source) return;
  memo->from = first;
  (void)tg_table_u32(t, low - 1, TG_SPAN_BOOT, &memo->boot);
}

uint32_t tg_boot_at(const tg_result *out, uint32_t source, uint64_t offset) {
  tg_boot_memo memo;
  tg_boot_look(out, source, offset, &memo);
  return memo.boot;
}

/* --- groups: the boots of one console -------------------------------------------------------- */

/* The stretches of one console in one source. */
typedef struct group {
  uint32_t source;
  bool tee;     /* only the secure world's console */
  size_t marks; /* index of the source's marks */
  size_t n_driver, n_client, n_core;
  tg_stretches stretches;
} group;

typedef struct groups {
  const tg_reduce_in *in;
  tg_marks *marks; /* one per source */
  group *at;       /* at most two per source */
  size_t n;
} groups;

/* Where the second console of a source begins, if the two follow each other; else the number of
 * marks. `*tee_first` says which comes first. */
static size_t console_change(const tg_marks *m, bool *tee_first) {
  size_t first[2] = {SIZE_MAX, SIZE_MAX};
  size_t last[2] = {0, 0};
  for (size_t i = 0; i < m->n; i++) {
    if (m->at[i].kind == TG_MARK_OTHER) continue;
    size_t lane = m->at[i].lane;
    if (first[lane] == SIZE_MAX) first[lane] = i;
    last[lane] = i;
  }
  *tee_first = false;
  if (first[TG_LANE_REE] == SIZE_MAX || first[TG_LANE_TEE] == SIZE_MAX) return m->n;
  if (last[TG_LANE_REE] < first[TG_LANE_TEE]) return first[TG_LANE_TEE];
  if (last[TG_LANE_TEE] < first[TG_LANE_REE]) {
    *tee_first = true;
    return first[TG_LANE_REE];
  }
  return m->n;
}

/* Walks the marks [from, to) of a source as one group. */
static tg_status add_group(groups *g, size_t source, size_t from, size_t to, bool tee) {
  if (from >= to) return TG_OK;
  group *new = &g->at[g->n++];
  memset(new, 0, sizeof *new);
  new->source = (uint32_t)source;
  new->marks = source;
  new->tee = tee;
  const tg_marks *m = &g->marks[source];
  for (size_t i = from; i < to; i++) {
    if (m->at[i].kind == TG_MARK_DRIVER) new->n_driver++;
    if (m->at[i].kind == TG_MARK_CLIENT) new->n_client++;
    if (m->at[i].kind == TG_MARK_CORE) new->n_core++;
  }
  return tg_marks_walk(g->in, m, from, to, &new->stretches);
}

static tg_status gather_groups(groups *g) {
  const tg_reduce_options *o = g->in->options;
  uint64_t tee = o->have_tee_offset ? (uint64_t)o->tee_offset : 0;
  for (size_t s = 0; s < g->in->n_sources; s++) {
    tg_marks *m = &g->marks[s];
    TG_TRY(tg_marks_gather(g->in, g->in->sources[s], tee, m));
    bool tee_first = false;
    size_t change = console_change(m, &tee_first);
    bool one = change == m->n;
    bool only_tee = one && m->n > 0 && m->at[0].lane == TG_LANE_TEE;
    for (size_t i = 0; i < m->n && only_tee; i++) {
      only_tee = m->at[i].lane == TG_LANE_TEE || m->at[i].kind == TG_MARK_OTHER;
    }
    TG_TRY(add_group(g, s, 0, change, one ? only_tee : tee_first));
    TG_TRY(add_group(g, s, change, m->n, !tee_first));
  }
  return TG_OK;
}

/* --- rows ------------------------------------------------------------------------------------ */

/* Copies a text field of a console record into a boot that has none. Rule TG_NONE: nothing. */
static tg_status copy_text(const tg_records *records, uint32_t rule, uint32_t row,
                           const char *field, tg_table *boots, size_t boot, size_t col) {
  size_t from = 0;
  tg_str v;
  if (rule == TG_NONE) return TG_OK;
  const tg_table *t = tg_records_table(records, rule);
  if (t == NULL || tg_table_find(t, field, &from) != TG_OK) return TG_OK;
  if (!tg_table_text(t, row, from, &v)) return TG_OK;
  while (v.n > 0 && v.p[v.n - 1] <= ' ') v.n--;
  return tg_table_set_text(boots, boot, col, v.p, v.n);
}

/* The names of a chain, blank between, each once in a row. */
static tg_status set_chain(const tg_stretch *s, tg_table *boots, size_t row) {
  char text[TG_STAGE_COUNT * 8] = "";
  size_t n = 0;
  for (size_t i = 0; i < s->n_chain; i++) {
    const char *name = tg_stage_name((tg_stage)s->chain[i]);
    if (i > 0) text[n++] = ' ';
    size_t len = strlen(name);
    memcpy(text + n, name, len + 1);
    n += len;
  }
  if (n == 0) return TG_OK;
  return tg_table_set_text(boots, row, TG_BOOT_CHAIN, (const uint8_t *)text, n);
}

/* Adds to a boot all that a stretch of it knows. */
static tg_status describe_boot(const groups *g, const group *of, const tg_stretch *s,
                               tg_table *boots, size_t row) {
  const tg_records *r = g->marks[of->marks].records;
  uint64_t hz = 0;
  tg_str chain;
  if (!tg_table_text(boots, row, TG_BOOT_CHAIN, &chain)) TG_TRY(set_chain(s, boots, row));
  TG_TRY(copy_text(r, s->version_rule, s->version_row, "version", boots, row, TG_BOOT_VERSION));
  TG_TRY(copy_text(r, s->version_rule, s->version_row, "build", boots, row, TG_BOOT_BUILD));
  TG_TRY(copy_text(r, s->built_rule, s->built_row, "built", boots, row, TG_BOOT_BUILT));
  TG_TRY(copy_text(r, s->platform_rule, s->platform_row, "platform", boots, row, TG_BOOT_PLATFORM));
  if (s->hz != 0 && !tg_table_u64(boots, row, TG_BOOT_CLOCK, &hz))
    TG_TRY(tg_table_set_u64(boots, row, TG_BOOT_CLOCK, s->hz));
  return TG_OK;
}

/* A new boot that begins with a stretch; `number` counts within the source. */
static tg_status add_boot(const groups *g, const group *of, const tg_stretch *s, uint32_t number,
                          tg_table *boots, size_t *row) {
  *row = tg_table_rows(boots);
  tg_row w = tg_row_begin(boots);
  tg_row_u32(&w, TG_BOOT_SOURCE, of->source);
  tg_row_u32(&w, TG_BOOT_BOOT, number);
  tg_row_u64(&w, TG_BOOT_LINE, s->line);
  tg_row_u64(&w, TG_BOOT_OFFSET, s->offset);
  tg_row_cstr(&w, TG_BOOT_REASON, s->reason);
  TG_TRY(tg_row_end(&w));
  return describe_boot(g, of, s, boots, *row);
}

static tg_status add_span(const group *of, const tg_stretch *s, tg_table *spans) {
  tg_row w = tg_row_begin(spans);
  tg_row_u32(&w, TG_SPAN_SOURCE, of->source);
  tg_row_u64(&w, TG_SPAN_LINE, s->line);
  tg_row_u64(&w, TG_SPAN_OFFSET, s->offset);
  tg_row_u32(&w, TG_SPAN_BOOT, s->boot);
  return tg_row_end(&w);
}

/* --- which stretch belongs to which boot ----------------------------------------------------- */

#define NEAR_BOOTS 16 /* so many neighbours are tried where the order does not fit */

/* The group whose boots the others join: the one with most driver lines, then client lines. */
static size_t leading_group(const groups *g) {
  size_t best = 0;
  for (size_t i = 1; i < g->n; i++) {
    const group *a = &g->at[best];
    const group *b = &g->at[i];
    if (a->n_driver != b->n_driver ? b->n_driver > a->n_driver
        : a->tee != b->tee         ? a->tee
                                   : b->n_client > a->n_client) {
      best = i;
    }
  }
  return best;
}

/* The index of the leading stretch that stretch `k` of a group belongs to: the one at the same
 * place in the order if the stamps do not contradict, else the one neighbour that fits.
 * SIZE_MAX: none. */
static tg_status find_boot(const groups *g, const group *lead, const group *other, size_t k,
                           size_t *match, tg_fit *fit) {
  const tg_stretch *s = &other->stretches.at[k];
  const tg_marks *lead_marks = &g->marks[lead->marks];
  const tg_marks *marks = &g->marks[other->marks];
  size_t n = lead->stretches.n;
  *match = SIZE_MAX;
  *fit = TG_FIT_NO;
  if (k < n) {
    tg_status status =
        tg_stretch_fit(g->in->alloc, lead_marks, &lead->stretches.at[k], marks, s, fit);
    if (status != TG_OK) return status;
    bool counted = n == other->stretches.n;
    if (*fit == TG_FIT_YES || (*fit != TG_FIT_NO && counted)) *match = k;
  }
  if (*match != SIZE_MAX) return TG_OK;
  size_t found = 0;
  size_t only = SIZE_MAX;
  for (size_t i = k > NEAR_BOOTS ? k - NEAR_BOOTS : 0; i < n && i <= k + NEAR_BOOTS; i++) {
    tg_fit here = TG_FIT_NO;
    tg_status status =
        tg_stretch_fit(g->in->alloc, lead_marks, &lead->stretches.at[i], marks, s, &here);
    if (status != TG_OK) return status;
    if (here != TG_FIT_YES) continue;
    found++;
    only = i;
  }
  if (found == 1) {
    *match = only;
    *fit = TG_FIT_YES;
  }
  return TG_OK;
}

/* Gives the stretches of a group their boots. */
static tg_status join_group(const groups *g, const group *lead, const group *other, tg_table *boots,
                            tg_result *out) {
  uint32_t number = other->source == lead->source ? (uint32_t)lead->stretches.n : 0;
  for (size_t k = 0; k < other->stretches.n; k++) {
    tg_stretch *s = &other->stretches.at[k];
    size_t match = SIZE_MAX;
    size_t row = 0;
    tg_fit fit = TG_FIT_NO;
    if (tg_stop_at(g->in->options->stop, k, NEAR_BOOTS)) return TG_EINTERRUPTED;
    TG_TRY(find_boot(g, lead, other, k, &match, &fit));
    if (match != SIZE_MAX) {
      s->boot = lead->stretches.at[match].boot;
      TG_TRY(describe_boot(g, other, s, boots, s->boot));
      continue;
    }
    TG_TRY(add_boot(g, other, s, number++, boots, &row));
    s->boot = (uint32_t)row;
    TG_TRY(tg_result_problem(out, other->source, s->line, s->offset, "boots", "boots-apart",
                             "the stamps from here on nest in no boot of the other console: "
                             "left apart"));
  }
  return TG_OK;
}

static tg_status give_boots(groups *g, tg_table *boots, tg_result *out) {
  size_t row = 0;
  size_t lead = leading_group(g);
  group *first = &g->at[lead];
  for (size_t k = 0; k < first->stretches.n; k++) {
    if (tg_reduce_stops(g->in, k)) return TG_EINTERRUPTED;
    TG_TRY(add_boot(g, first, &first->stretches.at[k], (uint32_t)k, boots, &row));
    first->stretches.at[k].boot = (uint32_t)row;
  }
  for (size_t i = 0; i < g->n; i++)
    if (i != lead) TG_TRY(join_group(g, first, &g->at[i], boots, out));
  return TG_OK;
}

static tg_status find_boots(groups *g, tg_result *out) {
  tg_table *boots = NULL;
  tg_table *spans = NULL;
  TG_TRY(tg_result_table(out, "boots", boot_columns, TG_BOOT_COLUMNS, &boots));
  TG_TRY(tg_result_table(out, "spans", span_columns, TG_SPAN_COLUMNS, &spans));
  if (g->in->n_sources == 0) return TG_OK;
  g->marks = tg_zalloc(g->in->alloc, g->in->n_sources, sizeof *g->marks);
  g->at = tg_zalloc(g->in->alloc, 2 * g->in->n_sources, sizeof *g->at);
  if (g->marks == NULL || g->at == NULL) return TG_ENOMEM;
  TG_TRY(gather_groups(g));
  if (g->n > 0) TG_TRY(give_boots(g, boots, out));
  for (size_t i = 0; i < g->n; i++)
    for (size_t k = 0; k < g->at[i].stretches.n; k++)
      TG_TRY(add_span(&g->at[i], &g->at[i].stretches.at[k], spans));
  return TG_OK;
}

tg_status tg_boots_reduce(const tg_reduce_in *in, tg_result *out, tg_error *err) {
  const tg_alloc *a = in->alloc;
  groups g = {.in = in};
  const tg_status status = find_boots(&g, out);
  for (size_t i = 0; i < g.n; i++) tg_release(a, g.at[i].stretches.at);
  for (size_t s = 0; g.marks != NULL && s < in->n_sources; s++) tg_release(a, g.marks[s].at);
  tg_release(a, g.at);
  tg_release(a, g.marks);
  if (status != TG_OK) tg_fail(err, status, 0, 0, "the boots: %s", tg_status_text(status));
  return status;
}

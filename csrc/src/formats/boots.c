/* boots.c - where one boot ends and the next begins.
 *
 * A source is walked once. Banners form a chain (BL1, BL2, BL31, OP-TEE, U-Boot, Linux or TFTF):
 * one that stands no later in the chain than the last one seen starts a boot. PMF tid 0 starts one,
 * so do stamps that go back beyond any reordering and a changed frequency.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "boots.h"

#include <string.h>

#include "banner.h"
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
  bool client;  /* only lines that clients print */
  bool placed;  /* its stretches have their boots */
  size_t marks; /* index of the source's marks */
  size_t n_driver, n_client, n_core;
  tg_stretches stretches;
} group;

typedef struct groups {
  const tg_reduce_in *in;
  tg_marks *marks; /* one per source */
  group *at;       /* at most three per source */
  size_t n;
  uint32_t lead_source; /* the source of the group whose boots the others join */
} groups;

/* The consoles that one source may hold, one behind the other. */
enum { C_REE, C_CLIENT, C_TEE, CONSOLES };

static size_t console_of(const tg_mark *m, bool clients) {
  if (m->lane == TG_LANE_TEE) return C_TEE;
  const bool client = m->kind == TG_MARK_CLIENT || m->kind == TG_MARK_FREQUENCY;
  return client && clients ? C_CLIENT : C_REE;
}

/* A console's marks, from the first to the last one. */
typedef struct console_run {
  size_t first, last;
  unsigned consoles; /* bit c: of console c */
} console_run;

/* The runs of marks of a source in its order: consoles whose marks mix are one run. */
static size_t find_runs(const tg_marks *m, console_run runs[CONSOLES]) {
  size_t n = 0;
  bool clients = false; /* else a frequency line is its console's */
  for (size_t i = 0; i < m->n; i++) clients = clients || m->at[i].kind == TG_MARK_CLIENT;
  for (size_t c = 0; c < CONSOLES; c++) {
    console_run run = {SIZE_MAX, 0, 1u << c};
    for (size_t i = 0; i < m->n; i++) {
      if (m->at[i].kind == TG_MARK_OTHER || console_of(&m->at[i], clients) != c) continue;
      if (run.first == SIZE_MAX) run.first = i;
      run.last = i;
    }
    if (run.first == SIZE_MAX) continue;
    for (size_t k = 0; k < n; k++) {
      if (runs[k].first > run.last || run.first > runs[k].last) continue;
      if (runs[k].first < run.first) run.first = runs[k].first;
      if (runs[k].last > run.last) run.last = runs[k].last;
      run.consoles |= runs[k].consoles;
      runs[k--] = runs[--n];
    }
    size_t at = n++;
    for (; at > 0 && runs[at - 1].first > run.first; at--) runs[at] = runs[at - 1];
    runs[at] = run;
  }
  for (size_t k = 1; k < n; k++) { /* a run that was taken out left the others unordered */
    const console_run run = runs[k];
    size_t at = k;
    for (; at > 0 && runs[at - 1].first > run.first; at--) runs[at] = runs[at - 1];
    runs[at] = run;
  }
  return n;
}

/* Walks the marks [from, to) of a source as one group. */
static tg_status add_group(groups *g, size_t source, size_t from, size_t to,
                           unsigned consoles) {
  if (from >= to) return TG_OK;
  group *new = &g->at[g->n++];
  memset(new, 0, sizeof *new);
  new->source = (uint32_t)source;
  new->marks = source;
  new->tee = consoles == 1u << C_TEE;
  new->client = consoles == 1u << C_CLIENT;
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
    console_run runs[CONSOLES];
    const size_t n = find_runs(m, runs);
    if (n == 0) TG_TRY(add_group(g, s, 0, m->n, 0));
    for (size_t k = 0; k < n; k++) {
      const size_t from = k == 0 ? 0 : runs[k].first;
      const size_t to = k + 1 < n ? runs[k + 1].first : m->n;
      TG_TRY(add_group(g, s, from, to, runs[k].consoles));
    }
  }
  return TG_OK;
}

/* --- rows ------------------------------------------------------------------------------------ */

/* A text field of a console record, without blanks at its end. False for rule TG_NONE or where the
 * record lacks it. */
static bool console_text(const tg_records *records, uint32_t rule, uint32_t row, const char *field,
                         tg_str *out) {
  size_t from = 0;
  const tg_table *t = rule != TG_NONE ? tg_records_table(records, rule) : NULL;
  if (t == NULL || tg_table_find(t, field, &from) != TG_OK) return false;
  if (!tg_table_text(t, row, from, out)) return false;
  while (out->n > 0 && out->p[out->n - 1] <= ' ') out->n--;
  return true;
}

/* Copies a text field of a console record into a boot. */
static tg_status copy_text(const tg_records *records, uint32_t rule, uint32_t row,
                           const char *field, tg_table *boots, size_t boot, size_t col) {
  tg_str v;
  if (!console_text(records, rule, row, field, &v)) return TG_OK;
  if (v.n == 0) v = tg_str_of("unknown"); /* the banner has the place, and nothing in it */
  return tg_table_set_text(boots, boot, col, v.p, v.n);
}

/* Version and build of a banner that lacks one of them. */
static tg_status copy_bare(const tg_records *records, const tg_stretch *s, tg_table *boots,
                           size_t boot) {
  tg_str major, rest;
  tg_banner b;
  if (!console_text(records, s->version_rule, s->version_row, "major", &major) ||
      !console_text(records, s->version_rule, s->version_row, "rest", &rest))
    return TG_OK;
  tg_banner_read(major, rest, &b);
  TG_TRY(tg_table_set_text(boots, boot, TG_BOOT_VERSION, (const uint8_t *)b.version,
                           strlen(b.version)));
  return tg_table_set_text(boots, boot, TG_BOOT_BUILD, (const uint8_t *)b.build, strlen(b.build));
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
  TG_TRY(copy_bare(r, s, boots, row));
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

#define FEW_LINES 4   /* so few clients' lines may hold no call by chance */
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

/* How a stretch was placed. */
typedef struct placing {
  size_t match; /* the leading stretch whose boot it belongs to; SIZE_MAX: none */
  tg_fit fit;
  tg_fit_count count;
} placing;

/* Judges a stretch against all that is known of the boot of leading stretch `i`. `done` groups have
 * their boots. */
static tg_status fit_boot(const groups *g, const group *lead, size_t i, const tg_part *part,
                          tg_fit *fit, tg_fit_count *count) {
  const uint32_t boot = lead->stretches.at[i].boot;
  tg_part *known = NULL;
  size_t cap = 0;
  size_t n = 0;
  tg_status status = TG_OK;
  for (size_t k = 0; k < g->n && status == TG_OK; k++) {
    const group *of = &g->at[k];
    for (size_t s = 0; s < of->stretches.n && of->placed && status == TG_OK; s++) {
      if (of->stretches.at[s].boot != boot) continue;
      status = tg_reserve(g->in->alloc, &known, &cap, n + 1, sizeof *known);
      if (status == TG_OK) known[n++] = (tg_part){&g->marks[of->marks], &of->stretches.at[s]};
    }
  }
  if (status == TG_OK) status = tg_boot_fit(g->in->alloc, known, n, part, fit, count);
  tg_release(g->in->alloc, known);
  return status;
}

/* Finds the leading stretch that stretch `k` of a group belongs to: the one at the same place in
 * the order if the stamps do not contradict, else the one neighbour that fits. */
static tg_status find_boot(const groups *g, const group *lead, const group *other, size_t k,
                           placing *out) {
  const tg_part part = {&g->marks[other->marks], &other->stretches.at[k]};
  size_t n = lead->stretches.n;
  *out = (placing){.match = SIZE_MAX, .fit = TG_FIT_NO};
  if (k < n) {
    TG_TRY(fit_boot(g, lead, k, &part, &out->fit, &out->count));
    bool counted = n == other->stretches.n;
    if (out->fit == TG_FIT_YES || (out->fit != TG_FIT_NO && counted)) out->match = k;
  }
  if (out->match != SIZE_MAX) return TG_OK;
  size_t found = 0;
  size_t only = SIZE_MAX;
  tg_fit_count best = {0, 0, 0};
  for (size_t i = k > NEAR_BOOTS ? k - NEAR_BOOTS : 0; i < n && i <= k + NEAR_BOOTS; i++) {
    tg_fit here = TG_FIT_NO;
    tg_fit_count count = {0, 0, 0};
    TG_TRY(fit_boot(g, lead, i, &part, &here, &count));
    if (here != TG_FIT_YES) continue;
    found++;
    only = i;
    best = count;
  }
  if (found == 1) *out = (placing){only, TG_FIT_YES, best};
  return TG_OK;
}

/* A console behind or before another one in its source belongs to that one's last or first boot
 * where nothing speaks against it: no pair to compare with, and so few clients' lines that none of
 * them need hold one. A banner at the start of the other one does speak against it. */
static size_t beside_lead(const group *lead, const group *other, const placing *p) {
  const size_t n = lead->stretches.n;
  if (other->source != lead->source || n == 0) return SIZE_MAX;
  if (p->count.pairs > 0 || p->count.lines >= FEW_LINES) return SIZE_MAX;
  if (other > lead) return n - 1;
  return lead->stretches.at[0].n_chain == 0 ? 0 : SIZE_MAX;
}

/* Says that consoles of one boot do not agree on a fact. */
static tg_status conflict(tg_result *out, const group *other, const tg_stretch *s,
                          const char *what, tg_str old, tg_str new) {
  return tg_result_problem(out, other->source, s->line, s->offset, "boots", "conflict",
                           "the consoles of this boot name two %s: %.*s and %.*s", what,
                           (int)(old.n < 60 ? old.n : 60), (const char *)old.p,
                           (int)(new.n < 60 ? new.n : 60), (const char *)new.p);
}

static tg_status tell_clocks(tg_result *out, const group *other, const tg_stretch *s,
                             const tg_table *boots) {
  uint64_t hz = 0;
  if (s->hz == 0 || !tg_table_u64(boots, s->boot, TG_BOOT_CLOCK, &hz) || hz == s->hz)
    return TG_OK;
  return tg_result_problem(out, other->source, s->line, s->offset, "boots", "conflict",
                           "the consoles of this boot name two clocks: %llu Hz and %llu Hz; the "
                           "first is used",
                           (unsigned long long)hz, (unsigned long long)s->hz);
}

/* Says where a stretch contradicts its boot, and how well its lines fit. */
static tg_status tell_fit(const groups *g, const group *other, const tg_stretch *s,
                          const tg_fit_count *count, const tg_table *boots, tg_result *out) {
  static const struct {
    const char *what, *field;
    size_t column;
  } facts[] = {{"versions", "version", TG_BOOT_VERSION},
               {"platforms", "platform", TG_BOOT_PLATFORM}};
  const tg_records *r = g->marks[other->marks].records;
  TG_TRY(tell_clocks(out, other, s, boots));
  for (size_t i = 0; i < TG_COUNT_OF(facts); i++) {
    tg_str old, new;
    const uint32_t rule = i == 0 ? s->version_rule : s->platform_rule;
    const uint32_t row = i == 0 ? s->version_row : s->platform_row;
    if (!tg_table_text(boots, s->boot, facts[i].column, &old)) continue;
    if (!console_text(r, rule, row, facts[i].field, &new)) continue;
    if (old.n == new.n && memcmp(old.p, new.p, old.n) == 0) continue;
    TG_TRY(conflict(out, other, s, facts[i].what, old, new));
  }
  if (other->client && other->source != g->lead_source && count->held > 0 &&
      count->lines < FEW_LINES)
    return tg_result_problem(out, other->source, s->line, s->offset, "boots", "few-lines",
                             "%zu of %zu clients' lines hold a call of this boot's other consoles: "
                             "too few lines to tell that they are of one boot",
                             count->held, count->lines);
  if (count->held * 10 >= count->lines * 9) return TG_OK;
  return tg_result_problem(out, other->source, s->line, s->offset, "boots", "fits-in-part",
                           "%zu of %zu clients' lines hold a call of this boot's other consoles: "
                           "lines were lost, or it is another boot's file",
                           count->held, count->lines);
}

/* Gives the stretches of a group their boots. */
static tg_status join_group(const groups *g, const group *lead, const group *other, tg_table *boots,
                            tg_result *out) {
  uint32_t number = other->source == lead->source ? (uint32_t)lead->stretches.n : 0;
  for (size_t k = 0; k < other->stretches.n; k++) {
    tg_stretch *s = &other->stretches.at[k];
    placing p;
    size_t row = 0;
    if (tg_stop_at(g->in->options->stop, k, NEAR_BOOTS)) return TG_EINTERRUPTED;
    TG_TRY(find_boot(g, lead, other, k, &p));
    if (p.match == SIZE_MAX) p.match = beside_lead(lead, other, &p);
    if (p.match != SIZE_MAX) {
      s->boot = lead->stretches.at[p.match].boot;
      TG_TRY(tell_fit(g, other, s, &p.count, boots, out));
      TG_TRY(describe_boot(g, other, s, boots, s->boot));
      continue;
    }
    TG_TRY(add_boot(g, other, s, number++, boots, &row));
    s->boot = (uint32_t)row;
    TG_TRY(tg_result_problem(out, other->source, s->line, s->offset, "boots", "boots-apart",
                             "the stamps from here on nest in no boot of the other console%s: "
                             "left apart",
                             other->client ? "s" : ""));
  }
  return TG_OK;
}

static tg_status give_boots(groups *g, tg_table *boots, tg_result *out) {
  size_t row = 0;
  size_t lead = leading_group(g);
  group *first = &g->at[lead];
  g->lead_source = first->source;
  for (size_t k = 0; k < first->stretches.n; k++) {
    if (tg_reduce_stops(g->in, k)) return TG_EINTERRUPTED;
    TG_TRY(add_boot(g, first, &first->stretches.at[k], (uint32_t)k, boots, &row));
    first->stretches.at[k].boot = (uint32_t)row;
  }
  first->placed = true;
  for (int clients = 0; clients < 2; clients++) { /* they are judged by drivers and cores */
    for (size_t i = 0; i < g->n; i++) {
      if (i == lead || g->at[i].client != (clients != 0)) continue;
      TG_TRY(join_group(g, first, &g->at[i], boots, out));
      g->at[i].placed = true;
    }
  }
  return TG_OK;
}

/* Boots of which no line names a frequency take what their kernel says of its counter. */
static tg_status take_kernel_clocks(const groups *g, tg_table *boots) {
  for (size_t i = 0; i < g->n; i++) {
    for (size_t k = 0; k < g->at[i].stretches.n; k++) {
      const tg_stretch *s = &g->at[i].stretches.at[k];
      uint64_t hz = 0;
      if (s->kernel_hz == 0 || tg_table_u64(boots, s->boot, TG_BOOT_CLOCK, &hz)) continue;
      TG_TRY(tg_table_set_u64(boots, s->boot, TG_BOOT_CLOCK, s->kernel_hz));
    }
  }
  return TG_OK;
}

static tg_status find_boots(groups *g, tg_result *out) {
  tg_table *boots = NULL;
  tg_table *spans = NULL;
  TG_TRY(tg_result_table(out, "boots", boot_columns, TG_BOOT_COLUMNS, &boots));
  TG_TRY(tg_result_table(out, "spans", span_columns, TG_SPAN_COLUMNS, &spans));
  if (g->in->n_sources == 0) return TG_OK;
  g->marks = tg_zalloc(g->in->alloc, g->in->n_sources, sizeof *g->marks);
  g->at = tg_zalloc(g->in->alloc, CONSOLES * g->in->n_sources, sizeof *g->at);
  if (g->marks == NULL || g->at == NULL) return TG_ENOMEM;
  TG_TRY(gather_groups(g));
  if (g->n > 0) TG_TRY(give_boots(g, boots, out));
  TG_TRY(take_kernel_clocks(g, boots));
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

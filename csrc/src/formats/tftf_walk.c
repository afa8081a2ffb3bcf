/* tftf_walk.c - the records of a TFTF console in order become blocks and events.
 *
 * Markers ("> Executing", "TEST COMPLETE") delimit a block; without them a block ends where a cpu
 * comes again or another test begins. The shape that most records of a boot have is right, the
 * others are cut records that look like it.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "boot_clock.h"
#include "boots.h"
#include "reducer.h"
#include "tftf.h"
#include "tftf_names.h"

typedef enum kind {
  K_NONE = 0,
  K_TIMES,
  K_TIMES_OLD,
  K_LATENCY,
  K_LATENCY_OLD,
  K_START,
  K_VERDICT,
  K_SUITE,
  K_SESSION,
  K_COUNT, /* a line of the summary */
  K_EVENT,
  K_REASON /* an event that explains a verdict */
} kind;

static const struct {
  const char *rule;
  kind kind;
  const char *text; /* before its field, or all of a line without one */
} kinds[] = {
    {"tftf.times", K_TIMES, NULL},
    {"tftf.times_old", K_TIMES_OLD, NULL},
    {"tftf.latency", K_LATENCY, NULL},
    {"tftf.latency_old", K_LATENCY_OLD, NULL},
    {"tftf.executing", K_START, NULL},
    {"tftf.starting_old", K_START, NULL},
    {"tftf.complete", K_VERDICT, NULL},
    {"tftf.complete_old", K_VERDICT, NULL},
    {"tftf.suite", K_SUITE, NULL},
    {"tftf.session", K_SESSION, NULL},
    {"tftf.resumed", K_SESSION, NULL},
    {"tftf.exit", K_SESSION, NULL},
    {"tftf.crashed", K_EVENT, "Test has crashed, moving to the next one"},
    {"tftf.warning", K_EVENT, NULL},
    {"tftf.order", K_REASON, "PMF timestamps are not correctly ordered"},
    {"tftf.version", K_REASON, NULL},
    {"tftf.exception", K_REASON, "Unhandled exception on "},
    {"tftf.panic", K_REASON, NULL},
    {"tftf.assert", K_REASON, NULL},
    {"tftf.bug", K_REASON, NULL},
    {"tftf.error", K_REASON, NULL},
    {"tftf.count", K_COUNT, NULL},
};

#define MAX_BLOCK 1024 /* records of one block */

/* How many records of each family there are: 0 cluster and core, 1 positions. */
typedef struct shapes {
  size_t n[2];
} shapes;

typedef struct walk {
  const tg_reduce_in *in;
  const tg_records *records;
  tg_result *out;
  tg_tftf_log *log;
  uint8_t *map;       /* rule -> kind */
  shapes *boots, all; /* by row of "boots"; the last is for records outside every boot */
  size_t map_cap, n_boots, boots_cap;
  const tg_platform *platform; /* of the current boot */
  bool old;                    /* the records of the current boot have positions */
  tg_str channel;              /* the one this pass looks at; {NULL, 0}: records without one */
  tg_str suite;
  size_t open, last; /* blocks; SIZE_MAX: none */
  tg_place *labels;
  size_t labels_cap;
  uint32_t source, boot;
  tg_boot_memo near;  /* the boot of the record before */
  tg_str named;       /* the name that was looked at last: words of a column are kept once */
  bool named_version; /* it says "version" */
} walk;

static kind kind_of(const walk *w, tg_record at) { return (kind)w->map[at.rule]; }
static bool is_record(kind k) { return k >= K_TIMES && k <= K_LATENCY_OLD; }
static bool is_old(kind k) { return k == K_TIMES_OLD || k == K_LATENCY_OLD; }

static tg_str text_of(const walk *w, tg_record at, size_t field) {
  tg_str v = {NULL, 0};
  (void)tg_table_text(tg_records_table(w->records, at.rule), at.row, TG_REC_FIELD + field, &v);
  while (v.n > 0 && v.p[v.n - 1] <= ' ') v.n--;
  while (v.n > 0 && v.p[0] <= ' ') v.p++, v.n--;
  return v;
}

static tg_str channel_of(const walk *w, tg_record at) {
  tg_str v = {NULL, 0};
  (void)tg_table_text(tg_records_table(w->records, at.rule), at.row, TG_REC_CHANNEL, &v);
  return v;
}

/* A name says which of the two kinds of record it has. */
static bool name_fits(walk *w, tg_str name, kind k) {
  if (name.p == NULL || name.p != w->named.p || name.n != w->named.n) {
    w->named = name;
    w->named_version = tg_str_has(name, "version");
  }
  return w->named_version == (k == K_LATENCY || k == K_LATENCY_OLD);
}

static tg_status map_rules(walk *w) {
  const tg_ruleset *set = tg_records_rules(w->records);
  const size_t n = tg_ruleset_count(set) + 1;
  TG_TRY(tg_reserve(w->in->alloc, &w->map, &w->map_cap, n, 1));
  size_t rows = 0; /* have room from the start: a large array that grows is copied */
  memset(w->map, K_NONE, n);
  for (size_t k = 0; k < TG_COUNT_OF(kinds); k++) {
    size_t rule = 0;
    if (tg_ruleset_find(set, kinds[k].rule, &rule) != TG_OK) continue;
    w->map[rule] = (uint8_t)kinds[k].kind;
    if (is_record(kinds[k].kind)) rows += tg_table_rows(tg_records_table(w->records, rule));
  }
  return tg_reserve(w->in->alloc, &w->log->rows, &w->log->rows_cap, rows, sizeof *w->log->rows);
}

static shapes *shapes_of(const walk *w, uint32_t boot) {
  return &w->boots[boot < w->n_boots ? boot : w->n_boots];
}

/* Counts the families of every boot; a record whose name contradicts its shape does not count. */
static tg_status count_shapes(walk *w) {
  const tg_table *boots = tg_result_get(w->out, "boots");
  size_t n = tg_records_count(w->records);
  w->n_boots = boots != NULL ? tg_table_rows(boots) : 0;
  tg_status status =
      tg_reserve(w->in->alloc, &w->boots, &w->boots_cap, w->n_boots + 1, sizeof *w->boots);
  if (status != TG_OK) return status;
  memset(w->boots, 0, (w->n_boots + 1) * sizeof *w->boots);
  for (size_t i = 0; i < n; i++) {
    const kind k = (kind)w->map[tg_records_rule_at(w->records, i)];
    if (tg_reduce_stops(w->in, i)) return TG_EINTERRUPTED;
    if (!is_record(k)) continue;
    const tg_record at = tg_records_at(w->records, i);
    if (!name_fits(w, text_of(w, at, 0), k)) continue;
    shapes_of(w, tg_boot_near(w->out, w->source, at.offset, &w->near))->n[is_old(k)]++;
    w->all.n[is_old(k)]++;
  }
  return TG_OK;
}

/* A new boot: the shape of its records (by majority there, else in the whole source) and which
 * platform it is. */
static void enter_boot(walk *w, uint32_t boot) {
  const shapes *here = shapes_of(w, boot);
  w->boot = boot;
  w->suite = (tg_str){NULL, 0};
  w->old = here->n[1] != here->n[0] ? here->n[1] > here->n[0] : w->all.n[1] > w->all.n[0];
  w->platform = tg_boot_platform(w->in, w->out, boot);
}

/* --- blocks -------------------------------------------------------------------------------- */

static void close_block(walk *w) {
  if (w->open == SIZE_MAX) return;
  w->last = w->open;
  w->open = SIZE_MAX;
}

static tg_status open_block(walk *w, tg_record at, bool marked) {
  tg_tftf_log *log = w->log;
  close_block(w);
  tg_status status = tg_reserve(w->in->alloc, &log->blocks, &log->blocks_cap, log->n_blocks + 1,
                                sizeof *log->blocks);
  if (status != TG_OK) return status;
  tg_tftf_block *b = &log->blocks[log->n_blocks];
  memset(b, 0, sizeof *b);
  b->line = b->last_line = at.line;
  b->offset = b->last_offset = at.offset;
  b->first_row = log->n_rows;
  b->boot = w->boot;
  b->marked = marked;
  b->suite = w->suite;
  b->channel = w->channel;
  w->open = log->n_blocks++;
  return TG_OK;
}

static tg_status start_test(walk *w, tg_record at) {
  bool old =
      strcmp(tg_ruleset_name(tg_records_rules(w->records), at.rule), "tftf.starting_old") == 0;
  tg_status status = open_block(w, at, true);
  if (status != TG_OK) return status;
  tg_tftf_block *b = &w->log->blocks[w->open];
  b->title = text_of(w, at, 0);
  if (old) tg_tftf_split_title(&b->title, &b->suite);
  b->test = tg_tftf_test_of_title(b->title);
  return TG_OK;
}

/* The block that a verdict belongs to, SIZE_MAX: none. One with a title is of the latest test of
 * that title, also where records of another test came in between. */
static size_t block_of_verdict(const walk *w, tg_str title) {
  const tg_tftf_log *log = w->log;
  if (title.p == NULL) return w->open;
  for (size_t i = log->n_blocks; i > 0; i--) {
    const tg_tftf_block *b = &log->blocks[i - 1];
    if (b->boot != w->boot) break;
    if (b->marked && b->verdict.p == NULL && tg_str_equal(b->title, title)) return i - 1;
  }
  const bool other = w->open != SIZE_MAX && log->blocks[w->open].title.p != NULL;
  return other ? SIZE_MAX : w->open;
}

static tg_status end_test(walk *w, tg_record at) {
  bool old =
      strcmp(tg_ruleset_name(tg_records_rules(w->records), at.rule), "tftf.complete_old") == 0;
  tg_str title = {NULL, 0};
  tg_str suite = {NULL, 0};
  if (old) {
    title = text_of(w, at, 0);
    tg_tftf_split_title(&title, &suite);
  }
  size_t block = block_of_verdict(w, title);
  if (block == SIZE_MAX) {
    TG_TRY(open_block(w, at, false));
    block = w->open;
    w->log->blocks[block].title = title;
    if (old) w->log->blocks[block].test = tg_tftf_test_of_title(title);
  }
  tg_tftf_block *b = &w->log->blocks[block];
  b->verdict = text_of(w, at, old ? 1 : 0);
  b->last_line = at.line;
  b->last_offset = at.offset;
  close_block(w);
  w->last = block;
  return TG_OK;
}

/* --- records ------------------------------------------------------------------------------- */

static bool read_row(const walk *w, tg_record at, kind k, tg_tftf_row *row) {
  const tg_table *t = tg_records_table(w->records, at.rule);
  size_t col = TG_REC_FIELD + 1;
  uint64_t label[2] = {0, 0};
  memset(row, 0, sizeof *row);
  row->line = at.line;
  row->offset = at.offset;
  for (size_t i = is_old(k) ? 1 : 0; i < 2; i++) {
    if (!tg_table_u64(t, at.row, col++, &label[i]) || label[i] >= TG_NONE) return false;
  }
  row->label.cluster = (uint32_t)label[0];
  row->label.core = (uint32_t)label[1];
  size_t n = k == K_TIMES || k == K_TIMES_OLD ? 3 : 1;
  for (size_t i = 0; i < n; i++) {
    if (!tg_table_u64(t, at.row, col++, &row->value[i])) return false;
  }
  return true;
}

/* True if the record belongs to another test than the open block. */
static bool other_test(const tg_tftf_block *b, tg_str name, bool latency, bool old) {
  if (b->n_rows > 0) {
    return !tg_str_equal(b->printed, name) || b->latency != latency || b->linear != old;
  }
  tg_str test = tg_tftf_test_of_name(name);
  return b->test.p != NULL && !tg_tftf_ambiguous(test) && tg_tftf_known(test) &&
         !tg_str_equal(b->test, test);
}

/* True if a cpu comes that the block has already. With markers and an unknown platform the
 * markers count alone. */
static tg_status cpu_again(walk *w, const tg_tftf_block *b, tg_place label, bool old, bool *again) {
  const tg_platform *p = w->platform;
  *again = b->n_rows >= MAX_BLOCK || (p != NULL && p->n_cpus > 0 && b->n_rows >= p->n_cpus);
  if (*again || (b->marked && p == NULL)) return TG_OK;
  tg_status status =
      tg_reserve(w->in->alloc, &w->labels, &w->labels_cap, b->n_rows + 1, sizeof *w->labels);
  if (status != TG_OK) return status;
  for (size_t i = 0; i < b->n_rows; i++) w->labels[i] = w->log->rows[b->first_row + i].label;
  w->labels[b->n_rows] = label;
  *again = !tg_topology_may_follow(p, w->labels, b->n_rows + 1, old, b->marked);
  return TG_OK;
}

static tg_status refuse(walk *w, tg_record at, const char *detail) {
  return tg_result_problem(w->out, w->source, at.line, at.offset,
                           tg_ruleset_name(tg_records_rules(w->records), at.rule), "shape-conflict",
                           "%s", detail);
}

static tg_status take_record(walk *w, tg_record at, kind k) {
  tg_str name = text_of(w, at, 0);
  bool latency = k == K_LATENCY || k == K_LATENCY_OLD;
  bool old = is_old(k);
  bool again = false;
  tg_tftf_row row;
  if (!name_fits(w, name, k)) {
    return refuse(
        w, at,
        latency ? "a suspend or off test with one number" : "a version test with three numbers");
  }
  if (old != w->old) {
    return refuse(w, at,
                  "the other records of this boot have another count of numbers: this "
                  "one lacks a field");
  }
  if (!read_row(w, at, k, &row)) return refuse(w, at, "a number outside its range");
  if (w->open != SIZE_MAX && other_test(&w->log->blocks[w->open], name, latency, old)) {
    close_block(w);
  }
  if (w->open != SIZE_MAX) {
    TG_TRY(cpu_again(w, &w->log->blocks[w->open], row.label, old, &again));
    if (again) close_block(w);
  }
  if (w->open == SIZE_MAX) TG_TRY(open_block(w, at, false));
  TG_TRY(tg_reserve(w->in->alloc, &w->log->rows, &w->log->rows_cap, w->log->n_rows + 1,
                    sizeof *w->log->rows));
  tg_tftf_block *b = &w->log->blocks[w->open];
  if (b->n_rows == 0) {
    b->printed = name;
    b->linear = old;
    b->latency = latency;
    if (b->test.p == NULL) b->test = tg_tftf_test_of_name(name);
    b->first_row = w->log->n_rows;
  }
  w->log->rows[w->log->n_rows++] = row;
  b->n_rows++;
  b->last_line = at.line;
  b->last_offset = at.offset;
  return TG_OK;
}

/* --- events -------------------------------------------------------------------------------- */

/* A name without its format: "error" of "tftf.error". */
static tg_str kind_word(const walk *w, tg_record at) {
  tg_str v = tg_str_of(tg_ruleset_name(tg_records_rules(w->records), at.rule));
  const uint8_t *dot = v.n > 0 ? memchr(v.p, '.', v.n) : NULL;
  if (dot != NULL) v = (tg_str){dot + 1, v.n - (size_t)(dot + 1 - v.p)};
  return v;
}

static tg_status take_event(walk *w, tg_record at, kind k) {
  tg_tftf_log *log = w->log;
  size_t block = w->open != SIZE_MAX ? w->open : w->last;
  const tg_str text = text_of(w, at, 0);
  const char *name = tg_ruleset_name(tg_records_rules(w->records), at.rule);
  const char *lead = NULL;
  for (size_t i = 0; i < TG_COUNT_OF(kinds); i++)
    if (strcmp(name, kinds[i].rule) == 0) lead = kinds[i].text;
  tg_status status = tg_reserve(w->in->alloc, &log->events, &log->events_cap, log->n_events + 1,
                                sizeof *log->events);
  if (status != TG_OK) return status;
  log->events[log->n_events++] = (tg_tftf_event){.kind = kind_word(w, at),
                                                 .lead = lead,
                                                 .text = text,
                                                 .line = at.line,
                                                 .offset = at.offset,
                                                 .block = block,
                                                 .boot = w->boot};
  tg_tftf_block *b = block != SIZE_MAX ? &log->blocks[block] : NULL;
  if (k == K_REASON && b != NULL && b->reason.p == NULL && b->lead == NULL) {
    b->reason = text.n > 0 || lead != NULL ? text : kind_word(w, at);
    b->lead = lead;
  }
  return TG_OK;
}

static tg_status take(walk *w, tg_record at) {
  kind k = kind_of(w, at);
  switch (k) {
    case K_NONE:
      return TG_OK;
    case K_TIMES:
    case K_TIMES_OLD:
    case K_LATENCY:
    case K_LATENCY_OLD:
      return take_record(w, at, k);
    case K_START:
      return start_test(w, at);
    case K_VERDICT:
      return end_test(w, at);
    case K_SUITE:
      w->suite = text_of(w, at, 0);
      break;
    case K_SESSION:
      break;
    case K_COUNT:
      close_block(w);
      return TG_OK;
    case K_EVENT:
    case K_REASON:
      return take_event(w, at, k);
  }
  close_block(w);
  w->last = SIZE_MAX;
  return TG_OK;
}

/* One pass over the records of one channel. */
static tg_status pass(walk *w) {
  size_t n = tg_records_count(w->records);
  w->open = w->last = SIZE_MAX;
  enter_boot(w, TG_NONE);
  for (size_t i = 0; i < n; i++) {
    if (tg_reduce_stops(w->in, i)) return TG_EINTERRUPTED;
    if (w->map[tg_records_rule_at(w->records, i)] == K_NONE) continue;
    const tg_record at = tg_records_at(w->records, i);
    tg_str channel = channel_of(w, at);
    if ((channel.p == NULL) != (w->channel.p == NULL) || !tg_str_equal(channel, w->channel))
      continue;
    uint32_t boot = tg_boot_near(w->out, w->source, at.offset, &w->near);
    if (boot != w->boot) {
      close_block(w);
      w->last = SIZE_MAX;
      enter_boot(w, boot);
    }
    tg_status status = take(w, at);
    if (status != TG_OK) return status;
  }
  return TG_OK;
}

#define MAX_CHANNELS 64

/* Whether any record has a channel at all: most consoles have none. */
static bool has_channels(const walk *w) {
  const size_t n = tg_ruleset_count(tg_records_rules(w->records));
  for (size_t i = 0; i < n; i++) {
    tg_column_view view;
    if (w->map[i] == K_NONE) continue;
    const tg_status status = tg_table_view(tg_records_table(w->records, i), TG_REC_CHANNEL, &view);
    if (status == TG_OK && tg_intern_count(view.dict) > 0) return true;
  }
  return false;
}

/* The channels records came from, those without one first. `*left_out` gets a record of a channel
 * beyond MAX_CHANNELS, if there is any. */
static size_t find_channels(walk *w, tg_str channels[MAX_CHANNELS], tg_record *left_out) {
  size_t count = 1;
  size_t n = tg_records_count(w->records);
  channels[0] = (tg_str){NULL, 0};
  if (!has_channels(w)) return 1;
  for (size_t i = 0; i < n; i++) {
    tg_record at = tg_records_at(w->records, i);
    tg_str channel = kind_of(w, at) != K_NONE ? channel_of(w, at) : channels[0];
    size_t k = 0;
    if (channel.p == NULL) continue;
    while (k < count && !(channels[k].p != NULL && tg_str_equal(channels[k], channel))) k++;
    if (k < count) continue;
    if (count < MAX_CHANNELS) {
      channels[count++] = channel;
    } else if (left_out->line == 0) {
      *left_out = at;
    }
  }
  return count;
}

static tg_status walk_channels(walk *w) {
  tg_str channels[MAX_CHANNELS];
  tg_record left_out = {0};
  TG_TRY(map_rules(w));
  TG_TRY(count_shapes(w));
  const size_t n = find_channels(w, channels, &left_out);
  if (left_out.line != 0)
    TG_TRY(tg_result_problem(w->out, w->source, left_out.line, left_out.offset, "tftf", "channels",
                             "records of more than %d channels: those of the channel that begins "
                             "here, and of later ones, are left out",
                             MAX_CHANNELS - 1));
  for (size_t i = 0; i < n; i++) {
    w->channel = channels[i];
    TG_TRY(pass(w));
  }
  return TG_OK;
}

tg_status tg_tftf_walk(const tg_reduce_in *in, uint32_t source, tg_result *out, tg_tftf_log *log) {
  walk w = {.in = in, .out = out, .log = log, .records = in->sources[source], .source = source};
  log->a = in->alloc;
  const tg_status status = walk_channels(&w);
  tg_release(in->alloc, w.map);
  tg_release(in->alloc, w.boots);
  tg_release(in->alloc, w.labels);
  return status;
}

void tg_tftf_log_free(tg_tftf_log *log) {
  if (log->a == NULL) return;
  tg_release(log->a, log->rows);
  tg_release(log->a, log->blocks);
  tg_release(log->a, log->events);
  memset(log, 0, sizeof *log);
}

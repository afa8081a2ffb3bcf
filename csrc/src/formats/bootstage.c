/* bootstage.c - U-Boot's "Timer summary in microseconds": the stages of its boot, and times it
 * added up.
 *
 * Marks are microseconds since the timer started, printed in groups of digits in columns of 11
 * bytes. They are differences of 32 bits: a mark below the one before it has wrapped.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "boots.h"
#include "formats.h"
#include "reducer.h"
#include "stages.h"

#define MICROSECONDS 1000000u /* ticks a second */

static const char *const stage_rows[] = {
    "heading=Mark ~Elapsed ~Stage",
    "stage={mark:grouped11}{elapsed:grouped11}  {name:text}",
    "unnamed={mark:grouped11}{elapsed:grouped11}~$",
    NULL,
};
static const char *const sum_rows[] = {
    "sum={time:grouped11}  {name:text}",
    "unnamed={time:grouped11}~$",
    NULL,
};

/* A row begins with blanks or, where columns touch, with a digit: any other line ends a table. */
#define NO_ROW "^{_:[!-/:-~]}"

static const tg_rule_def rules[] = {
    {.name = "bootstage.summary",
     .pattern = "Timer summary in microseconds[ ({records:uint} records)]:",
     .tag = "microseconds",
     .arrival = true,
     .soft = true,
     .rows = stage_rows,
     .end = NO_ROW},
    {.name = "bootstage.accumulated",
     .pattern = "Accumulated time:",
     .tag = "Accumulated",
     .soft = true,
     .rows = sum_rows,
     .end = NO_ROW},
};

typedef enum row_kind { R_NONE, R_STAGE, R_UNNAMED, R_SUM, R_UNNAMED_SUM } row_kind;

static const struct {
  const char *rule;
  row_kind kind;
} row_rules[] = {{"bootstage.summary.stage", R_STAGE},
                 {"bootstage.summary.unnamed", R_UNNAMED},
                 {"bootstage.accumulated.sum", R_SUM},
                 {"bootstage.accumulated.unnamed", R_UNNAMED_SUM}};

/* The table that is being read. */
typedef struct walk {
  const tg_reduce_in *in;
  tg_result *out;
  tg_table *stages;
  uint64_t high;     /* added to the marks by wraps, in microseconds */
  uint64_t previous; /* the mark before, without `high` */
  uint32_t source, section, row;
  bool have_previous;
} walk;

/* One row of a table. */
typedef struct entry {
  tg_str name;
  uint64_t mark, elapsed, line, offset;
  uint32_t boot;
  row_kind kind;
} entry;

/* A number without a name is a stage without one. */
static tg_str shown_name(tg_str name) {
  while (name.n > 0 && name.p[name.n - 1] <= ' ') name.n--;
  return name.n > 0 ? name : tg_str_of("unnamed");
}

static tg_status add_reading(walk *w, const entry *e) {
  tg_key key;
  tg_reading r = {.value = (int64_t)e->elapsed,
                  .line = e->line,
                  .offset = e->offset,
                  .source = w->source,
                  .boot = e->boot,
                  .block = w->row++};
  tg_key_init(&key);
  key.format = tg_str_of("bootstage");
  key.test = tg_str_of(e->kind == R_SUM || e->kind == R_UNNAMED_SUM ? "accumulated" : "bootstage");
  key.operation = e->name;
  key.metric = tg_str_of("duration");
  key.unit = tg_str_of("us");
  TG_TRY(tg_result_key(w->out, &key, &r.key));
  return tg_result_reading(w->out, &r);
}

/* A row of "stages". A sum has no place in time. */
static tg_status add_stage(walk *w, const entry *e, bool placed) {
  const uint64_t finish = e->mark + w->high;
  tg_row row = tg_row_begin(w->stages);
  tg_row_u32(&row, TG_STAGE_C_SOURCE, w->source);
  tg_row_u32(&row, TG_STAGE_C_BOOT, e->boot);
  tg_row_cstr(&row, TG_STAGE_C_SERVICE, placed ? "bootstage" : "accumulated");
  tg_row_text(&row, TG_STAGE_C_STAGE, e->name);
  if (placed && finish >= e->elapsed) {
    tg_row_u64(&row, TG_STAGE_C_START, finish - e->elapsed);
    tg_row_u64(&row, TG_STAGE_C_FINISH, finish);
  }
  tg_row_i64(&row, TG_STAGE_C_TICKS, (int64_t)e->elapsed);
  tg_row_i64(&row, TG_STAGE_C_NS, (int64_t)e->elapsed * 1000);
  tg_row_u64(&row, TG_STAGE_C_CLOCK, MICROSECONDS);
  tg_row_cstr(&row, TG_STAGE_C_STATE, "complete");
  if (placed) tg_row_cstr(&row, TG_STAGE_C_AXIS, TG_AXIS_UBOOT);
  tg_row_bool(&row, TG_STAGE_C_WHOLE, placed && finish == e->elapsed); /* before its first mark */
  tg_row_u64(&row, TG_STAGE_C_START_LINE, e->line);
  tg_row_u64(&row, TG_STAGE_C_FINISH_LINE, e->line);
  TG_TRY(tg_row_end(&row));
  return add_reading(w, e);
}

static tg_status torn(walk *w, const entry *e, const char *what) {
  return tg_result_problem(w->out, w->source, e->line, e->offset, "bootstage", "torn", "%s", what);
}

/* A stage: its elapsed time must be the difference of its mark to the one before. */
static tg_status feed_stage(walk *w, entry *e) {
  if (e->mark > UINT32_MAX || e->elapsed > UINT32_MAX) {
    return torn(w, e, "a mark of more than 32 bits: digits were added");
  }
  if (w->have_previous && (uint32_t)(w->previous + e->elapsed) != e->mark) {
    w->previous = e->mark;
    return torn(w, e, "the elapsed time is not the difference of the marks");
  }
  if (w->have_previous && e->mark < w->previous) w->high += (uint64_t)UINT32_MAX + 1;
  w->previous = e->mark;
  w->have_previous = true;
  e->name = shown_name(e->name);
  return add_stage(w, e, true);
}

static tg_status feed(walk *w, entry *e, uint32_t section) {
  if (section != w->section) {
    w->section = section;
    w->have_previous = false;
    w->high = 0;
    w->row = 0;
  }
  switch (e->kind) {
    case R_STAGE:
    case R_UNNAMED:
      return feed_stage(w, e);
    case R_SUM:
    case R_UNNAMED_SUM:
      if (e->elapsed > UINT32_MAX) return torn(w, e, "a time of more than 32 bits");
      e->name = shown_name(e->name);
      return add_stage(w, e, false);
    case R_NONE:
      break;
  }
  return TG_OK;
}

/* Reads a record into an entry. */
static void read_entry(const tg_table *t, const tg_record *at, row_kind kind, entry *e) {
  const bool stage = kind == R_STAGE || kind == R_UNNAMED;
  const size_t name = TG_REC_FIELD + (stage ? 2u : 1u);
  e->kind = kind;
  e->line = at->line;
  e->offset = at->offset;
  if (stage) (void)tg_table_u64(t, at->row, TG_REC_FIELD, &e->mark);
  (void)tg_table_u64(t, at->row, TG_REC_FIELD + (stage ? 1u : 0u), &e->elapsed);
  if (kind == R_STAGE || kind == R_SUM) {
    (void)tg_table_text(t, at->row, name, &e->name);
  }
}

static tg_status reduce_source(walk *w) {
  const tg_records *records = w->in->sources[w->source];
  size_t number[TG_COUNT_OF(row_rules)];
  for (size_t k = 0; k < TG_COUNT_OF(row_rules); k++) {
    number[k] = SIZE_MAX;
    (void)tg_ruleset_find(tg_records_rules(records), row_rules[k].rule, &number[k]);
  }
  tg_boot_memo near = {0};
  w->section = 0;
  for (size_t i = 0; i < tg_records_count(records); i++) {
    if (tg_reduce_stops(w->in, i)) return TG_EINTERRUPTED;
    tg_record at = tg_records_at(records, i);
    const tg_table *t = tg_records_table(records, at.rule);
    size_t k = 0;
    while (k < TG_COUNT_OF(row_rules) && number[k] != at.rule) k++;
    if (k == TG_COUNT_OF(row_rules)) continue;
    entry e = {.boot = tg_boot_near(w->out, w->source, at.offset, &near)};
    uint32_t section = 0;
    (void)tg_table_u32(t, at.row, TG_REC_SECTION, &section);
    read_entry(t, &at, row_rules[k].kind, &e);
    TG_TRY(feed(w, &e, section));
  }
  return TG_OK;
}

static tg_status reduce(const tg_reduce_in *in, tg_result *out, tg_error *err) {
  walk w = {.in = in, .out = out};
  tg_status status =
      tg_result_table(out, "stages", tg_stage_columns, TG_STAGE_C_COLUMNS, &w.stages);
  for (size_t s = 0; s < in->n_sources && status == TG_OK; s++) {
    w.source = (uint32_t)s;
    status = reduce_source(&w);
  }
  if (status != TG_OK) tg_fail(err, status, 0, 0, "the boot stages: %s", tg_status_text(status));
  return status;
}

const tg_format tg_format_bootstage = {
    .name = "bootstage",
    .title = "U-Boot's timer summary",
    .rules = rules,
    .n_rules = TG_COUNT_OF(rules),
    .observation = TG_OBSERVATION_BOOT,
    .example = "Timer summary in microseconds (2 records):\n       Mark    Elapsed  Stage\n"
               "          0          0  reset\n  1,234,567  1,234,567  board_init_f\n\n",
    .reduce = reduce,
};

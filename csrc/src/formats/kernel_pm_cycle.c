/* kernel_pm_cycle.c - the readings of one cycle of suspend and resume.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "kernel_pm.h"

enum {
  C_SOURCE,
  C_BOOT,
  C_RUN,
  C_MODE,
  C_OUTCOME,
  C_WAKEUP,
  C_ENTRY,
  C_DURATION,
  C_SUSPEND,
  C_RESUME,
  C_FIRST_LINE,
  C_LAST_LINE,
  C_COLUMNS
};

static const tg_column_def columns[C_COLUMNS] = {
    {"source", TG_U32, 0},     {"boot", TG_U32, 0},       {"run", TG_U32, 0},
    {"mode", TG_TEXT, 0},      {"outcome", TG_TEXT, 0},   {"wakeup", TG_TEXT, 0},
    {"entry", TG_I64, -6},     {"duration", TG_I64, -6},  {"suspend", TG_I64, -6},
    {"resume", TG_I64, -6},    {"first_line", TG_U64, 0}, {"last_line", TG_U64, 0},
};

tg_status tg_pm_add(tg_pm_walk *w, const tg_pm_item *item) {
  TG_TRY(tg_reserve(w->in->alloc, &w->items, &w->cap_items, w->n_items + 1, sizeof *w->items));
  w->items[w->n_items++] = *item;
  return TG_OK;
}

void tg_pm_phase(tg_pm_walk *w, tg_str phase) {
  for (; w->unphased < w->n_items; w->unphased++) {
    tg_pm_item *item = &w->items[w->unphased];
    if (item->kind == TG_PM_CALLBACK && item->operation.n == 0) item->operation = phase;
  }
}

/* Labels under construction: "name=value" pairs in the order of their names. */
typedef struct label_text {
  uint8_t p[512];
  size_t n;
} label_text;

static void add_label(label_text *t, const char *name, tg_str value) {
  const size_t n = strlen(name);
  if (value.n == 0 || n + value.n + 4 > sizeof t->p - t->n) return;
  bool quote = false;
  for (size_t i = 0; i < value.n; i++) quote = quote || value.p[i] <= ' ' || value.p[i] == '=';
  if (t->n > 0) t->p[t->n++] = ' ';
  memcpy(t->p + t->n, name, n);
  t->n += n;
  t->p[t->n++] = '=';
  if (quote) t->p[t->n++] = '"';
  memcpy(t->p + t->n, value.p, value.n);
  t->n += value.n;
  if (quote) t->p[t->n++] = '"';
}

static const struct {
  const char *metric, *unit;
  int32_t exp10;
  tg_better better;
} kinds[] = {
    [TG_PM_PHASE] = {"phase", "ms", -3, TG_BETTER_LOWER},
    [TG_PM_CALLBACK] = {"callback", "us", 0, TG_BETTER_LOWER},
    [TG_PM_FREEZE] = {"freeze", "s", -3, TG_BETTER_LOWER},
    [TG_PM_SYNC] = {"sync", "s", -3, TG_BETTER_LOWER},
    [TG_PM_ASLEEP] = {"asleep", "s", -3, TG_BETTER_NONE},
    [TG_PM_TOOK] = {"took", "s", -3, TG_BETTER_LOWER},
    [TG_PM_IMAGE] = {"image", "s", -3, TG_BETTER_LOWER},
};

/* One reading under the key and the labels of the cycle. */
static tg_status add_reading(tg_pm_walk *w, tg_key *key, tg_reading *r, const tg_pm_item *item) {
  const tg_pm_cycle *c = &w->cycle;
  label_text labels = {.n = 0};
  add_label(&labels, "attempt", tg_str_of(c->failed ? "failed" : NULL));
  if (item != NULL) {
    add_label(&labels, "device", item->device);
    add_label(&labels, "driver", item->driver);
  }
  add_label(&labels, "mode", c->mode);
  add_label(&labels, "returned", tg_str_of(item != NULL && item->failed ? "error" : NULL));
  key->format = tg_str_of("kernel_pm");
  key->labels = (tg_str){labels.p, labels.n};
  r->source = w->source;
  r->run = c->run;
  const tg_status status = tg_result_key(w->out, key, &r->key);
  key->labels = (tg_str){NULL, 0}; /* their text ends here */
  return status == TG_OK ? tg_result_reading(w->out, r) : status;
}

static tg_status add_item(tg_pm_walk *w, const tg_pm_item *item) {
  tg_key key;
  tg_reading r = {.value = item->value, .line = item->line, .offset = item->offset,
                  .boot = item->boot};
  tg_key_init(&key);
  key.metric = tg_str_of(kinds[item->kind].metric);
  key.unit = tg_str_of(kinds[item->kind].unit);
  key.exp10 = kinds[item->kind].exp10;
  key.better = kinds[item->kind].better;
  key.operation = item->operation;
  return add_reading(w, &key, &r, item);
}

/* The time between two stamps of the cycle, if both are there and in order. */
static bool between(int64_t from, int64_t to, int64_t *us) {
  if (from == TG_PM_NO_STAMP || to == TG_PM_NO_STAMP || to < from) return false;
  *us = to - from;
  return true;
}

static tg_status add_span(tg_pm_walk *w, const char *operation, int64_t us) {
  tg_key key;
  tg_reading r = {.value = us, .line = w->cycle.last_line, .offset = w->cycle.last_offset,
                  .boot = w->cycle.boot};
  tg_key_init(&key);
  key.metric = tg_str_of("duration");
  key.operation = tg_str_of(operation);
  key.unit = tg_str_of("us");
  return add_reading(w, &key, &r, NULL);
}

/* The row of "cycles" and the times by stamp. */
static tg_status add_cycle(tg_pm_walk *w) {
  const tg_pm_cycle *c = &w->cycle;
  const char *outcome = c->failed ? "failed" : c->complete ? "complete" : "no end";
  const int64_t back = c->tasks != TG_PM_NO_STAMP ? c->tasks : c->exit;
  int64_t whole = 0, down = 0, up = 0;
  const bool has_whole = between(c->entry, c->exit != TG_PM_NO_STAMP ? c->exit : back, &whole);
  int64_t to_sleep = 0, from_sleep = 0;
  const bool has_down = between(c->entry, c->down, &down), has_up = between(c->up, back, &up);
  tg_row row = tg_row_begin(w->cycles);
  tg_row_u32(&row, C_SOURCE, w->source);
  if (c->boot != TG_NONE) tg_row_u32(&row, C_BOOT, c->boot);
  tg_row_u32(&row, C_RUN, c->run);
  if (c->mode.n > 0) tg_row_text(&row, C_MODE, c->mode);
  tg_row_cstr(&row, C_OUTCOME, outcome);
  if (c->wakeup.n > 0) tg_row_text(&row, C_WAKEUP, c->wakeup);
  if (c->entry != TG_PM_NO_STAMP) tg_row_i64(&row, C_ENTRY, c->entry);
  if (has_whole) tg_row_i64(&row, C_DURATION, whole);
  if (has_down) tg_row_i64(&row, C_SUSPEND, down);
  if (has_up) tg_row_i64(&row, C_RESUME, up);
  tg_row_u64(&row, C_FIRST_LINE, c->first_line);
  tg_row_u64(&row, C_LAST_LINE, c->last_line);
  TG_TRY(tg_row_end(&row));
  if (!c->complete) return TG_OK; /* a cycle that was cut has no span */
  if (has_whole) TG_TRY(add_span(w, "cycle", whole));
  if (has_down) TG_TRY(add_span(w, "suspend", down));
  if (has_up) TG_TRY(add_span(w, "resume", up));
  if (between(c->entry, c->asleep, &to_sleep)) TG_TRY(add_span(w, "to sleep", to_sleep));
  if (between(c->awake, back, &from_sleep)) TG_TRY(add_span(w, "from sleep", from_sleep));
  return TG_OK;
}

static tg_status write_cycle(tg_pm_walk *w) {
  if (w->cycles == NULL)
    TG_TRY(tg_result_table(w->out, "cycles", columns, C_COLUMNS, &w->cycles));
  for (size_t i = 0; i < w->n_items; i++) TG_TRY(add_item(w, &w->items[i]));
  return w->cycle.open ? add_cycle(w) : TG_OK;
}

tg_status tg_pm_flush(tg_pm_walk *w) {
  tg_status status = TG_OK;
  if (w->cycle.open || w->n_items > 0) {
    w->cycle.run = w->runs++;
    status = write_cycle(w);
  }
  w->n_items = w->unphased = 0;
  w->cycle = (tg_pm_cycle){.entry = TG_PM_NO_STAMP, .down = TG_PM_NO_STAMP, .up = TG_PM_NO_STAMP,
                           .tasks = TG_PM_NO_STAMP, .exit = TG_PM_NO_STAMP,
                           .asleep = TG_PM_NO_STAMP, .awake = TG_PM_NO_STAMP};
  return status;
}

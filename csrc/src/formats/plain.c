/* plain.c - readings of rules that need no reducer: their `values`, field by field.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "plain.h"

#include <string.h>

#include "plain_walk.h"

/* Counts a record without any value. */
static void note_missing(plain_rule *r, const tg_reading *at) {
  if (r->lines++ > 0) return;
  r->line = at->line;
  r->offset = at->offset;
}

/* The readings of one record. */
static tg_status reduce_record(plain_walk *w, plain_rule *r, size_t row, const tg_reading *at) {
  tg_key key;
  tg_value_info value;
  size_t found = 0;
  tg_plain_begin_key(w, r, row, at, &key);
  tg_status status = tg_plain_end_key(w, &key);
  for (size_t v = 0; status == TG_OK && tg_ruleset_value(w->set, r->shape.rule, v, &value) == TG_OK;
       v++) {
    tg_reading reading = *at;
    status = tg_plain_sum(r->shape.table, row, &value, &reading.value);
    if (status == TG_OK) status = tg_plain_width(r, row, &value, reading.value, &reading.width);
    if (status != TG_ENODATA) found++;
    if (status == TG_OK) {
      status = tg_plain_add(w, r, row, v, &key, &reading);
    } else if (status == TG_EOVERFLOW) {
      status = tg_plain_too_large(w, r, at, value.metric);
    } else if (status == TG_ENODATA) {
      status = TG_OK;
    }
  }
  if (found == 0) note_missing(r, at);
  r->valued = r->valued || found > 0;
  return status;
}

/* Tells a rule of which no line had its value, as where a '[' was meant to be the character. */
static tg_status tell_missing(plain_walk *w, const plain_rule *r) {
  if (r->valued || r->lines == 0) return TG_OK;
  return tg_result_problem(w->out, w->source, r->line, r->offset,
                           tg_ruleset_name(w->set, r->shape.rule), "no-value",
                           "%llu lines match, and none has its value: the field is missing or nan "
                           "([ begins an optional part, [[ is the character)",
                           (unsigned long long)r->lines);
}

/* One record of a rule that gives readings. */
static tg_status reduce_one(plain_walk *w, plain_rule *r, const tg_record *at) {
  tg_reading reading = {.line = at->line, .offset = at->offset, .source = w->source};
  reading.boot = tg_boot_near(w->out, w->source, at->offset, &w->near);
  if (at->rule != r->shape.rule) return tg_plain_span_end(w, r, at->row, &reading);
  if (r->ties.until != SIZE_MAX) return tg_plain_span_begin(w, r, at->row, &reading);
  if (r->ties.count != SIZE_MAX || r->ties.total != SIZE_MAX)
    return tg_plain_counted(w, r, at->row, &reading);
  return reduce_record(w, r, at->row, &reading);
}

/* Cuts a name at its first dot: returns the head; the rest stays. */
static tg_str cut_name(tg_str *rest) {
  tg_str head = *rest;
  const uint8_t *dot = rest->n > 0 ? memchr(rest->p, '.', rest->n) : NULL;
  if (dot == NULL) {
    rest->n = 0;
    return head;
  }
  head.n = (size_t)(dot - rest->p);
  rest->n -= head.n + 1;
  rest->p = dot + 1;
  return head;
}

/* The row of the same section whose values a row of counts without a value continues. */
static size_t model_of(const plain_walk *w, size_t rule) {
  tg_rule_info own, other;
  if (tg_ruleset_info(w->set, rule, &own) != TG_OK || own.section == SIZE_MAX) return SIZE_MAX;
  for (size_t k = own.section; k < tg_ruleset_count(w->set); k++) {
    if (tg_ruleset_info(w->set, k, &other) != TG_OK || other.section != own.section) break;
    if (tg_ruleset_values(w->set, k) > 0) return k;
  }
  return SIZE_MAX;
}

/* Adds rule `i` to those that give readings. */
static tg_status add_rule(plain_walk *w, size_t i, const tg_rule_ties *ties) {
  tg_rule_info info;
  tg_status status =
      tg_reserve(w->in->alloc, &w->rules, &w->cap_rules, w->n_rules + 1, sizeof *w->rules);
  if (status != TG_OK) return status;
  plain_rule *r = &w->rules[w->n_rules++];
  memset(r, 0, sizeof *r);
  r->ties = *ties;
  tg_plain_shape_of(w, i, &r->shape);
  r->format = tg_str_of(tg_ruleset_name(w->set, i));
  r->operation = r->format;
  r->format = cut_name(&r->operation);
  r->operation = cut_name(&r->operation);
  r->model = tg_ruleset_values(w->set, i) == 0 ? model_of(w, i) : SIZE_MAX;
  r->soft = tg_ruleset_info(w->set, i, &info) == TG_OK && info.soft;
  w->index[i] = (uint32_t)w->n_rules;
  if (ties->until != SIZE_MAX) {
    tg_plain_shape_of(w, ties->until, &r->end);
    tg_plain_share_values(r);
    w->index[ties->until] = (uint32_t)w->n_rules;
  }
  tg_value_info value;
  for (size_t v = 0; v < PLAIN_VALUES && tg_ruleset_value(w->set, i, v, &value) == TG_OK; v++)
    r->resolution[v] = tg_plain_resolution(w, r, &value);
  return tg_plain_find_heads(w, r);
}

static void free_rules(plain_walk *w) {
  for (size_t i = 0; i < w->n_rules; i++) {
    tg_release(w->in->alloc, w->rules[i].heads);
    tg_release(w->in->alloc, w->rules[i].open);
  }
  w->n_rules = 0;
}

/* Finds the rules of the source that give readings and have records. */
static tg_status find_rules(plain_walk *w) {
  const size_t count = tg_ruleset_count(w->set);
  tg_status status =
      tg_reserve(w->in->alloc, &w->index, &w->cap_index, count + 1, sizeof *w->index);
  if (status != TG_OK) return status;
  memset(w->index, 0, (count + 1) * sizeof *w->index);
  free_rules(w);
  for (size_t i = 0; i < count && status == TG_OK; i++) {
    const tg_table *t = tg_records_table(w->records, i);
    tg_rule_ties ties;
    (void)tg_ruleset_ties(w->set, i, &ties);
    const bool ends =
        ties.until != SIZE_MAX && tg_table_rows(tg_records_table(w->records, ties.until)) > 0;
    if (t == NULL || (tg_table_rows(t) == 0 && !ends)) continue;
    const bool counts = ties.count != SIZE_MAX || ties.total != SIZE_MAX;
    if (tg_ruleset_values(w->set, i) > 0 || (counts && model_of(w, i) != SIZE_MAX))
      status = add_rule(w, i, &ties);
  }
  return status;
}

static tg_status reduce_source(plain_walk *w) {
  w->near = (tg_boot_memo){0};
  w->section = 0;
  TG_TRY(find_rules(w));
  const size_t count = w->n_rules > 0 ? tg_records_count(w->records) : 0;
  for (size_t i = 0; i < count; i++) {
    const tg_record at = tg_records_at(w->records, i);
    if (tg_reduce_stops(w->in, i)) return TG_EINTERRUPTED;
    if (w->index[at.rule] != 0)
      TG_TRY(reduce_one(w, &w->rules[w->index[at.rule] - 1], &at));
  }
  for (size_t i = 0; i < w->n_rules; i++) TG_TRY(tg_plain_span_finish(w, &w->rules[i]));
  for (size_t i = 0; i < w->n_rules; i++) TG_TRY(tell_missing(w, &w->rules[i]));
  return tg_plain_release_held(w);
}

bool tg_plain_counts(const tg_reduce_in *in) {
  for (size_t s = 0; s < in->n_sources; s++) {
    const tg_ruleset *set = tg_records_rules(in->sources[s]);
    for (size_t i = 0; i < tg_ruleset_count(set); i++) {
      tg_rule_ties ties;
      if (tg_ruleset_ties(set, i, &ties) != TG_OK) continue;
      if (ties.count == SIZE_MAX && ties.below == SIZE_MAX && ties.upto == SIZE_MAX) continue;
      if (tg_table_rows(tg_records_table(in->sources[s], i)) > 0) return true;
    }
  }
  return false;
}

tg_status tg_plain_reduce(const tg_reduce_in *in, tg_result *out, tg_error *err) {
  plain_walk w = {.in = in, .out = out};
  tg_status status = TG_OK;
  w.labels = tg_take(in->alloc, PLAIN_LABELS, sizeof *w.labels);
  if (w.labels == NULL) status = TG_ENOMEM;
  for (size_t s = 0; s < in->n_sources && status == TG_OK; s++) {
    w.source = (uint32_t)s;
    w.records = in->sources[s];
    w.set = tg_records_rules(w.records);
    status = reduce_source(&w);
  }
  free_rules(&w);
  tg_release(in->alloc, w.labels);
  tg_release(in->alloc, w.text);
  tg_release(in->alloc, w.rules);
  tg_release(in->alloc, w.index);
  tg_release(in->alloc, w.columns);
  tg_release(in->alloc, w.held);
  tg_release(in->alloc, w.holder);
  if (status != TG_OK)
    tg_fail(err, status, 0, 0, "the readings of plain rules: %s", tg_status_text(status));
  return status;
}

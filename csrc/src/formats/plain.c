/* plain.c - readings of rules that need no reducer: their `values`, field by field.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "boots.h"
#include "plain.h"
#include "reducer.h"

/* Which part of a key a field fills. */
typedef enum part {
  P_LABEL,
  P_VALUE,
  P_UNIT,
  P_TEST,
  P_OPERATION,
  P_METRIC,
  P_PLACE,
  P_CLUSTER,
  P_CORE,
  P_CPU
} part;

/* One rule that gives readings, looked at once. */
typedef struct plain_rule {
  const tg_ruleset *set;
  size_t rule, n_fields;
  part parts[TG_MAX_COLUMNS];
  uint32_t by_name[TG_MAX_COLUMNS]; /* labels in the order of their names */
  size_t n_labels;
  tg_str format, operation;
} plain_rule;

/* Text under construction: the labels of a key. */
typedef struct text {
  const tg_alloc *a;
  uint8_t *p;
  size_t n, cap;
} text;

static tg_status text_add(text *t, const uint8_t *p, size_t n) {
  if (n > SIZE_MAX - t->n) return TG_EOVERFLOW;
  tg_status st = tg_grow(t->a, (void **)&t->p, &t->cap, t->n + n, 1);
  if (st != TG_OK) return st;
  if (n > 0) memcpy(t->p + t->n, p, n);
  t->n += n;
  return TG_OK;
}

/* Adds a label's value, in double quotes where it holds a blank, a quote, '=' or nothing. */
static tg_status text_add_value(text *t, tg_str v) {
  bool quote = v.n == 0;
  for (size_t i = 0; i < v.n; i++) {
    if (v.p[i] <= ' ' || v.p[i] == '"' || v.p[i] == '=') quote = true;
  }
  tg_status st = TG_OK;
  if (quote) st = text_add(t, (const uint8_t *)"\"", 1);
  for (size_t i = 0; i < v.n && st == TG_OK; i++) {
    if (v.p[i] == '"' || v.p[i] == '\\') st = text_add(t, (const uint8_t *)"\\", 1);
    if (st == TG_OK) st = text_add(t, v.p + i, 1);
  }
  if (quote && st == TG_OK) st = text_add(t, (const uint8_t *)"\"", 1);
  return st;
}

/* Writes a number with its power of ten as it would be read: 5125 at -3 is "5.125", 5000 is "5". */
static tg_str number_text(bool negative, uint64_t v, int32_t exp10, uint8_t buffer[64]) {
  size_t at = 64;
  int32_t digits = 0;
  while (exp10 < 0 && exp10 > -19 && v % 10 == 0) {
    v /= 10;
    exp10++;
    if (v == 0) exp10 = 0;
  }
  int32_t zeros = exp10 > 0 && exp10 < 19 ? exp10 : 0;
  int32_t point = exp10 < 0 && exp10 > -19 ? -exp10 : 0;
  for (int32_t i = 0; i < zeros && v != 0; i++) buffer[--at] = '0';
  do {
    buffer[--at] = (uint8_t)('0' + v % 10);
    v /= 10;
    if (++digits == point) buffer[--at] = '.';
  } while (v != 0 || (point > 0 && digits <= point));
  if (negative) buffer[--at] = '-';
  tg_str s = {buffer + at, 64 - at};
  return s;
}

/* A field of a record as text. False where the record lacks it. */
static bool field_text(const tg_table *t, size_t row, size_t col, uint8_t buffer[64], tg_str *out) {
  uint64_t u = 0;
  int64_t i = 0;
  if (tg_table_text(t, row, col, out)) return true;
  if (tg_table_u64(t, row, col, &u)) {
    *out = number_text(false, u, 0, buffer);
    return true;
  }
  if (!tg_table_i64(t, row, col, &i)) return false;
  tg_column_view view;
  if (tg_table_view(t, col, &view) != TG_OK) return false;
  *out = number_text(i < 0, i < 0 ? 0 - (uint64_t)i : (uint64_t)i, view.exp10, buffer);
  return true;
}

/* The part of the key that a field of this name fills. */
static part part_of(const char *name) {
  static const struct {
    const char *name;
    part part;
  } known[] = {{"test", P_TEST},   {"operation", P_OPERATION}, {"metric", P_METRIC},
               {"place", P_PLACE}, {"cluster", P_CLUSTER},     {"core", P_CORE},
               {"cpu", P_CPU}};
  for (size_t i = 0; i < TG_COUNT_OF(known); i++) {
    if (strcmp(known[i].name, name) == 0) return known[i].part;
  }
  return P_LABEL;
}

static const char *field_name(const plain_rule *r, size_t field) {
  tg_field_info info;
  return tg_ruleset_field(r->set, r->rule, field, &info) == TG_OK ? info.name : "";
}

/* Sorts the label fields of a rule by name. */
static void sort_labels(plain_rule *r) {
  for (size_t f = 0; f < r->n_fields; f++) {
    if (r->parts[f] != P_LABEL) continue;
    size_t at = r->n_labels++;
    while (at > 0 && strcmp(field_name(r, r->by_name[at - 1]), field_name(r, f)) > 0) {
      r->by_name[at] = r->by_name[at - 1];
      at--;
    }
    r->by_name[at] = (uint32_t)f;
  }
}

/* Cuts a name at its first dot: gives what stands before it; the rest stays. */
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

/* Decides once for a rule which field is what. False where the rule gives no readings. */
static bool look_at_rule(const tg_ruleset *set, size_t rule, plain_rule *r) {
  memset(r, 0, sizeof *r);
  r->set = set;
  r->rule = rule;
  r->n_fields = tg_ruleset_fields(set, rule);
  if (tg_ruleset_values(set, rule) == 0 || r->n_fields > TG_MAX_COLUMNS) return false;
  for (size_t f = 0; f < r->n_fields; f++) r->parts[f] = part_of(field_name(r, f));
  for (size_t v = 0; v < tg_ruleset_values(set, rule); v++) {
    tg_value_info value;
    if (tg_ruleset_value(set, rule, v, &value) != TG_OK) continue;
    for (size_t i = 0; i < value.n_terms; i++) r->parts[value.terms[i].field] = P_VALUE;
  }
  size_t unit = SIZE_MAX;
  (void)tg_ruleset_unit(set, rule, &unit);
  if (unit < r->n_fields) r->parts[unit] = P_UNIT;
  sort_labels(r);
  r->format = tg_str_of(tg_ruleset_name(set, rule));
  r->operation = r->format;
  r->format = cut_name(&r->operation);
  r->operation = cut_name(&r->operation);
  return true;
}

/* An id of a key from a field: a number below 2^32 - 1. False where it is none. */
static bool field_id(const tg_table *t, size_t row, size_t col, uint32_t *id) {
  uint64_t u = 0;
  if (!tg_table_u64(t, row, col, &u) || u >= TG_NONE) return false;
  *id = (uint32_t)u;
  return true;
}

/* Fills what the fields say of the key; `labels` is reused from record to record. */
static tg_status fill_key(const plain_rule *r, const tg_table *t, size_t row, text *labels,
                          tg_key *key) {
  uint8_t buffer[64];
  tg_str v;
  labels->n = 0;
  for (size_t i = 0; i < r->n_labels; i++) {
    size_t f = r->by_name[i];
    if (!field_text(t, row, TG_REC_FIELD + f, buffer, &v)) continue;
    tg_str name = tg_str_of(field_name(r, f));
    tg_status st = labels->n > 0 ? text_add(labels, (const uint8_t *)" ", 1) : TG_OK;
    if (st == TG_OK) st = text_add(labels, name.p, name.n);
    if (st == TG_OK) st = text_add(labels, (const uint8_t *)"=", 1);
    if (st == TG_OK) st = text_add_value(labels, v);
    if (st != TG_OK) return st;
  }
  key->labels.p = labels->p;
  key->labels.n = labels->n;
  for (size_t f = 0; f < r->n_fields; f++) {
    size_t col = TG_REC_FIELD + f;
    switch (r->parts[f]) {
      case P_UNIT:
        (void)tg_table_text(t, row, col, &key->unit);
        break;
      case P_TEST:
        (void)tg_table_text(t, row, col, &key->test);
        break;
      case P_OPERATION:
        (void)tg_table_text(t, row, col, &key->operation);
        break;
      case P_METRIC:
        (void)tg_table_text(t, row, col, &key->metric);
        break;
      case P_PLACE:
        (void)tg_table_text(t, row, col, &key->place);
        break;
      case P_CLUSTER:
        (void)field_id(t, row, col, &key->cluster);
        break;
      case P_CORE:
        (void)field_id(t, row, col, &key->core);
        break;
      case P_CPU:
        (void)field_id(t, row, col, &key->cpu);
        break;
      case P_LABEL:
      case P_VALUE:
        break;
    }
  }
  return TG_OK;
}

/* The sum factor * field over the terms of a value. TG_ENODATA where a field is missing,
 * TG_EOVERFLOW outside 63 bits. */
static tg_status sum_terms(const tg_table *t, size_t row, const tg_value_info *value,
                           int64_t *out) {
  int64_t sum = 0;
  for (size_t i = 0; i < value->n_terms; i++) {
    size_t col = TG_REC_FIELD + value->terms[i].field;
    int64_t v = 0;
    uint64_t u = 0;
    if (tg_table_u64(t, row, col, &u)) {
      if (u > INT64_MAX) return TG_EOVERFLOW;
      v = (int64_t)u;
    } else if (!tg_table_i64(t, row, col, &v)) {
      return TG_ENODATA;
    }
    if (__builtin_mul_overflow(v, value->terms[i].factor, &v) ||
        __builtin_add_overflow(sum, v, &sum)) {
      return TG_EOVERFLOW;
    }
  }
  *out = sum;
  return TG_OK;
}

/* The clock of a key in ticks: the user's, or what its boot's log says. Cycles are of another
 * clock than the counter's, which only the user knows. */
static void fill_clock(tg_key *key, uint64_t option_hz, const tg_result *out, uint32_t boot) {
  bool tick = key->unit.n == 4 && memcmp(key->unit.p, "tick", 4) == 0;
  bool cycle = key->unit.n == 5 && memcmp(key->unit.p, "cycle", 5) == 0;
  const tg_table *boots = tg_result_get(out, "boots");
  if (option_hz != 0 && (tick || cycle)) {
    key->clock_hz = option_hz;
    key->origin = TG_CLOCK_OPTION;
  } else if (tick && boots != NULL && boot != TG_NONE &&
             tg_table_u64(boots, boot, TG_BOOT_CLOCK, &key->clock_hz)) {
    key->origin = TG_CLOCK_LOG;
  }
}

/* The readings of one record. */
static tg_status reduce_record(const plain_rule *r, const tg_table *t, size_t row, uint32_t source,
                               uint64_t clock_hz, text *labels, tg_boot_memo *near,
                               tg_result *out) {
  size_t unit_field = SIZE_MAX;
  tg_key key;
  memset(&key, 0, sizeof key);
  key.cluster = key.core = key.cpu = TG_NONE;
  key.format = r->format;
  key.operation = r->operation;
  key.unit = tg_str_of(tg_ruleset_unit(r->set, r->rule, &unit_field));
  key.better = tg_ruleset_better(r->set, r->rule);
  key.resolution = 1;
  tg_status st = fill_key(r, t, row, labels, &key);
  if (st != TG_OK) return st;
  tg_reading reading = {.source = source};
  (void)tg_table_u64(t, row, TG_REC_LINE, &reading.line);
  (void)tg_table_u64(t, row, TG_REC_OFFSET, &reading.offset);
  reading.boot = tg_boot_near(out, source, reading.offset, near);
  fill_clock(&key, clock_hz, out, reading.boot);
  tg_str metric = key.metric;
  for (size_t v = 0; v < tg_ruleset_values(r->set, r->rule); v++) {
    tg_value_info value;
    if (tg_ruleset_value(r->set, r->rule, v, &value) != TG_OK) return TG_EINVAL;
    st = sum_terms(t, row, &value, &reading.value);
    if (st == TG_ENODATA) continue;
    if (st == TG_EOVERFLOW) {
      st = tg_result_problem(out, source, reading.line, reading.offset,
                             tg_ruleset_name(r->set, r->rule), "overflow",
                             "the value of %s does not fit 63 bits", value.metric);
      if (st != TG_OK) return st;
      continue;
    }
    if (st != TG_OK) return st;
    key.exp10 = value.exp10;
    key.metric = metric.n > 0 ? metric : tg_str_of(value.metric);
    st = tg_result_key(out, &key, &reading.key);
    if (st == TG_OK) st = tg_result_reading(out, &reading);
    if (st != TG_OK) return st;
  }
  return TG_OK;
}

/* The rules of a set that give readings and have records; `index` maps a rule to its place in
 * `rules` plus one, 0 for all others. */
typedef struct plain_rules {
  plain_rule *rules;
  uint32_t *index;
  size_t n, rules_cap, index_cap;
} plain_rules;

static tg_status find_rules(const tg_reduce_in *in, const tg_records *records, plain_rules *p) {
  const tg_ruleset *set = tg_records_rules(records);
  size_t count = tg_ruleset_count(set);
  tg_status st = tg_grow(in->alloc, (void **)&p->index, &p->index_cap, count, sizeof *p->index);
  if (st != TG_OK) return st;
  p->n = 0;
  for (size_t i = 0; i < count; i++) {
    const tg_table *t = tg_records_table(records, i);
    p->index[i] = 0;
    if (t == NULL || tg_table_rows(t) == 0 || tg_ruleset_values(set, i) == 0) continue;
    st = tg_grow(in->alloc, (void **)&p->rules, &p->rules_cap, p->n + 1, sizeof *p->rules);
    if (st != TG_OK) return st;
    if (look_at_rule(set, i, &p->rules[p->n])) p->index[i] = (uint32_t)++p->n;
  }
  return TG_OK;
}

tg_status tg_plain_reduce(const tg_reduce_in *in, tg_result *out, tg_error *err) {
  const tg_alloc *a = in->alloc;
  text labels = {a, NULL, 0, 0};
  plain_rules rules = {0};
  tg_status st = TG_OK;
  for (size_t s = 0; s < in->n_sources && st == TG_OK; s++) {
    const tg_records *records = in->sources[s];
    tg_boot_memo near = {0};
    st = find_rules(in, records, &rules);
    size_t count = st == TG_OK && rules.n > 0 ? tg_records_count(records) : 0;
    for (size_t i = 0; i < count && st == TG_OK; i++) {
      tg_record at = tg_records_at(records, i);
      if (tg_reduce_stops(in, i)) st = TG_EINTERRUPTED;
      if (st != TG_OK || rules.index[at.rule] == 0) continue;
      st = reduce_record(&rules.rules[rules.index[at.rule] - 1], tg_records_table(records, at.rule),
                         at.row, (uint32_t)s, in->options->clock_hz, &labels, &near, out);
    }
  }
  a->release(a->ctx, labels.p);
  a->release(a->ctx, rules.rules);
  a->release(a->ctx, rules.index);
  if (st != TG_OK) tg_fail(err, st, 0, 0, "the readings of plain rules: %s", tg_status_text(st));
  return st;
}

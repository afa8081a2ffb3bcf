/* plain_key.c - the key of a record: its own fields, and those of the lines that it belongs to.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "plain_walk.h"
#include "tickgauge/number.h"

/* Appends to the text of the labels. */
static tg_status text_add(plain_walk *w, const uint8_t *p, size_t n) {
  size_t need = 0;
  if (tg_add_overflows(w->n_text, n, &need)) return TG_EOVERFLOW;
  const tg_status status = tg_reserve(w->in->alloc, &w->text, &w->cap_text, need, 1);
  if (status != TG_OK) return status;
  if (n > 0) memcpy(w->text + w->n_text, p, n);
  w->n_text = need;
  return TG_OK;
}

/* Adds a label's value, in double quotes where it holds a blank, a quote, '=' or nothing. */
static tg_status text_add_value(plain_walk *w, tg_str v) {
  bool quote = v.n == 0;
  for (size_t i = 0; i < v.n; i++) {
    if (v.p[i] <= ' ' || v.p[i] == '"' || v.p[i] == '=') quote = true;
  }
  if (!quote) return text_add(w, v.p, v.n);
  TG_TRY(text_add(w, (const uint8_t *)"\"", 1));
  for (size_t i = 0; i < v.n; i++) {
    if (v.p[i] == '"' || v.p[i] == '\\') TG_TRY(text_add(w, (const uint8_t *)"\\", 1));
    TG_TRY(text_add(w, v.p + i, 1));
  }
  return text_add(w, (const uint8_t *)"\"", 1);
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
  return (tg_str){buffer + at, 64 - at};
}

bool tg_plain_field_text(const tg_table *t, size_t row, size_t col, uint8_t buffer[64],
                         tg_str *out) {
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
static plain_part part_of(tg_str name) {
  static const struct {
    const char *name;
    plain_part part;
  } known[] = {{"test", PLAIN_TEST},     {"operation", PLAIN_OPERATION}, {"metric", PLAIN_METRIC},
               {"place", PLAIN_PLACE},   {"cluster", PLAIN_CLUSTER},     {"core", PLAIN_CORE},
               {"cpu", PLAIN_CPU},       {"columns", PLAIN_VALUE},
               {"stamp", PLAIN_VALUE}};
  for (size_t i = 0; i < TG_COUNT_OF(known); i++) {
    if (strlen(known[i].name) == name.n && memcmp(known[i].name, name.p, name.n) == 0)
      return known[i].part;
  }
  return PLAIN_LABEL;
}

void tg_plain_shape_of(const plain_walk *w, size_t rule, plain_shape *out) {
  tg_rule_ties ties;
  size_t unit = SIZE_MAX;
  memset(out, 0, sizeof *out);
  out->rule = rule;
  out->table = tg_records_table(w->records, rule);
  out->n_fields = tg_ruleset_fields(w->set, rule);
  if (out->n_fields > TG_MAX_COLUMNS) out->n_fields = TG_MAX_COLUMNS;
  for (size_t f = 0; f < out->n_fields; f++) {
    tg_field_info info = {.name = "", .type = TG_FIELD_TEXT};
    (void)tg_ruleset_field(w->set, rule, f, &info);
    out->names[f] = info.name;
    out->parts[f] = part_of(tg_str_of(info.name));
  }
  for (size_t v = 0; v < tg_ruleset_values(w->set, rule); v++) {
    tg_value_info value;
    if (tg_ruleset_value(w->set, rule, v, &value) != TG_OK) continue;
    for (size_t i = 0; i < value.n_terms; i++) out->parts[value.terms[i].field] = PLAIN_VALUE;
  }
  (void)tg_ruleset_unit(w->set, rule, &unit);
  if (unit < out->n_fields) out->parts[unit] = PLAIN_UNIT;
  if (tg_ruleset_ties(w->set, rule, &ties) != TG_OK) return;
  const size_t told[] = {ties.count, ties.below, ties.upto, ties.total, ties.grows};
  for (size_t i = 0; i < TG_COUNT_OF(told); i++)
    if (told[i] < out->n_fields) out->parts[told[i]] = PLAIN_VALUE;
}

/* The decimal places of a field that no line used, those of the end line of a span included. */
static int32_t unused_places(const plain_walk *w, const plain_rule *r, size_t field,
                             int32_t places) {
  unsigned most = tg_records_digits(w->records, r->shape.rule, field);
  for (size_t f = 0; f < r->end.n_fields; f++) {
    const unsigned other = tg_records_digits(w->records, r->end.rule, f);
    if (strcmp(r->end.names[f], r->shape.names[field]) == 0 && other > most) most = other;
  }
  return (int32_t)most < places ? places - (int32_t)most : 0;
}

uint64_t tg_plain_resolution(const plain_walk *w, const plain_rule *r, const tg_value_info *value) {
  int32_t zeros = 18;
  uint64_t step = 1;
  for (size_t i = 0; i < value->n_terms; i++) {
    const size_t field = value->terms[i].field;
    int32_t own = 0;
    tg_field_info info;
    if (tg_ruleset_field(w->set, r->shape.rule, field, &info) != TG_OK) return 1;
    for (int64_t f = value->terms[i].factor; f != 0 && f % 10 == 0 && own < 18; f /= 10) own++;
    if (info.as_printed) own += unused_places(w, r, field, -info.exp10);
    if (own < zeros) zeros = own;
  }
  if (zeros > -value->exp10) zeros = -value->exp10; /* whole units are not rounded to tens */
  for (; zeros > 0; zeros--) step *= 10;
  return step;
}

static tg_status add_head(plain_walk *w, plain_rule *r, size_t rule, bool section, bool after) {
  if (rule == SIZE_MAX || rule == r->shape.rule || r->n_heads == PLAIN_HEADS) return TG_OK;
  const tg_status status =
      tg_reserve(w->in->alloc, &r->heads, &r->cap_heads, r->n_heads + 1, sizeof *r->heads);
  if (status != TG_OK) return status;
  plain_head *h = &r->heads[r->n_heads];
  tg_plain_shape_of(w, rule, &h->shape);
  h->next = 0;
  h->section = section;
  h->after = after;
  const bool ends = !section && !after; /* without a field it ends the context inside of it */
  if (h->shape.table != NULL && tg_table_rows(h->shape.table) > 0 &&
      (h->shape.n_fields > 0 || ends))
    r->n_heads++;
  return TG_OK;
}

tg_status tg_plain_find_heads(plain_walk *w, plain_rule *r) {
  tg_rule_info own, info;
  tg_status status = TG_OK;
  if (tg_ruleset_info(w->set, r->shape.rule, &own) != TG_OK) return TG_OK;
  if (own.section != SIZE_MAX && own.row) {
    status = add_head(w, r, own.section, true, false);
    for (size_t k = own.section + 1; status == TG_OK && k < tg_ruleset_count(w->set); k++) {
      if (tg_ruleset_info(w->set, k, &info) != TG_OK || !info.row || info.section != own.section)
        break;
      tg_rule_ties ties;
      (void)tg_ruleset_ties(w->set, k, &ties);
      if (tg_ruleset_values(w->set, k) > 0 || ties.count != SIZE_MAX || ties.total != SIZE_MAX)
        continue;
      status = add_head(w, r, k, true, false);
    }
  }
  r->n_outer = r->n_heads;
  for (size_t i = 0; status == TG_OK && i < tg_ruleset_contexts(w->set, r->shape.rule); i++) {
    size_t rule = SIZE_MAX;
    (void)tg_ruleset_context(w->set, r->shape.rule, i, &rule);
    status = add_head(w, r, rule, false, false);
  }
  if (status == TG_OK) status = add_head(w, r, r->ties.before, false, true);
  return status;
}

/* The label of a name in the fields of a rule, n_fields if there is none. */
static size_t label_named(const plain_shape *shape, const char *name) {
  size_t f = 0;
  while (f < shape->n_fields &&
         (shape->parts[f] == PLAIN_VALUE || strcmp(shape->names[f], name) != 0))
    f++;
  return f;
}

bool tg_plain_agree(const plain_shape *a, size_t row_a, const plain_shape *b, size_t row_b) {
  uint8_t digits_a[64], digits_b[64];
  tg_str x, y;
  for (size_t f = 0; f < a->n_fields; f++) {
    if (a->parts[f] == PLAIN_VALUE) continue;
    const size_t g = label_named(b, a->names[f]);
    if (g == b->n_fields) continue;
    if (!tg_plain_field_text(a->table, row_a, TG_REC_FIELD + f, digits_a, &x)) continue;
    if (!tg_plain_field_text(b->table, row_b, TG_REC_FIELD + g, digits_b, &y)) continue;
    if (x.n != y.n || memcmp(x.p, y.p, x.n) != 0) return false;
  }
  return true;
}

void tg_plain_add_named(plain_walk *w, tg_str name, tg_str value, tg_key *key) {
  uint64_t id = 0;
  const plain_part part = part_of(name);
  uint32_t *ids[] = {&key->cluster, &key->core, &key->cpu};
  tg_str *texts[] = {&key->test, &key->operation, &key->metric, &key->place};
  if (part >= PLAIN_CLUSTER) {
    uint32_t *to = ids[part - PLAIN_CLUSTER];
    if (*to == TG_NONE && tg_parse_u64(value.p, value.p + value.n, &id) == TG_OK && id < TG_NONE)
      *to = (uint32_t)id;
    return;
  }
  if (part >= PLAIN_TEST) {
    tg_str *to = texts[part - PLAIN_TEST];
    if (part == PLAIN_OPERATION || to->n == 0) *to = value;
    return;
  }
  if (part != PLAIN_LABEL || w->n_labels == PLAIN_LABELS) return;
  for (size_t i = 0; i < w->n_labels; i++) {
    const tg_str other = w->labels[i].name;
    if (other.n == name.n && memcmp(other.p, name.p, name.n) == 0) return;
  }
  plain_label *label = &w->labels[w->n_labels++];
  label->name = name;
  label->value = value;
}

void tg_plain_add_fields(plain_walk *w, const plain_shape *shape, size_t row, tg_key *key) {
  for (size_t f = 0; f < shape->n_fields; f++) {
    const size_t col = TG_REC_FIELD + f;
    tg_str v = {NULL, 0};
    if (shape->parts[f] == PLAIN_VALUE || w->n_labels == PLAIN_LABELS) continue;
    uint8_t *digits = w->labels[w->n_labels].digits; /* of the label that this may become */
    if (!tg_plain_field_text(shape->table, row, col, digits, &v)) continue;
    const bool number = v.p >= digits && v.p <= digits + sizeof w->labels[0].digits;
    if (shape->parts[f] == PLAIN_UNIT) {
      if (key->unit.n == 0) key->unit = v;
      if (part_of(tg_str_of(shape->names[f])) != PLAIN_LABEL)
        tg_plain_add_named(w, tg_str_of(shape->names[f]), v, key);
    } else if (!number || shape->parts[f] == PLAIN_LABEL || shape->parts[f] >= PLAIN_CLUSTER) {
      tg_plain_add_named(w, tg_str_of(shape->names[f]), v, key);
    }
  }
}

/* The section a record lies in; 0: in none. */
static uint32_t section_of(const tg_table *t, size_t row) {
  uint32_t section = 0;
  (void)tg_table_u32(t, row, TG_REC_SECTION, &section);
  return section;
}

static uint64_t offset_of(const tg_table *t, size_t row) {
  uint64_t offset = 0;
  (void)tg_table_u64(t, row, TG_REC_OFFSET, &offset);
  return offset;
}

uint64_t tg_plain_advance(plain_rule *r, const tg_reading *at) {
  uint64_t state = (uint64_t)r->shape.rule + 1;
  for (size_t i = 0; i < r->n_heads; i++) {
    plain_head *h = &r->heads[i];
    const size_t rows = tg_table_rows(h->shape.table);
    while (h->next < rows && offset_of(h->shape.table, h->next) <= at->offset) h->next++;
    state = state * UINT64_C(1099511628211) + h->next;
  }
  return state != 0 ? state : 1;
}

#define MAX_AWAY 64 /* head lines of other things between a line and its own */

/* The record of a head that a record of `r` belongs to. False where there is none. */
static bool find_head(plain_walk *w, const plain_rule *r, size_t row, const tg_reading *at,
                      plain_head *h, size_t *found) {
  const tg_table *t = h->shape.table;
  const size_t rows = tg_table_rows(t);
  for (size_t i = 0; i < MAX_AWAY; i++) {
    if (h->after ? h->next + i >= rows : h->next < i + 1) return false;
    const size_t k = h->after ? h->next + i : h->next - 1 - i;
    if (h->section && section_of(t, k) != section_of(r->shape.table, row)) return false;
    if (!h->section && tg_boot_at(w->out, w->source, offset_of(t, k)) != at->boot) return false;
    if (!h->section && !tg_plain_agree(&r->shape, row, &h->shape, k)) continue;
    *found = k;
    return true;
  }
  return false;
}

/* The clock of a key in ticks: the user's, or that of its boot's log. Cycles are of another
 * clock than the counter's, which only the user knows. */
static void fill_clock(const plain_walk *w, uint32_t boot, tg_key *key) {
  const bool tick = key->unit.n == 4 && memcmp(key->unit.p, "tick", 4) == 0;
  const bool cycle = key->unit.n == 5 && memcmp(key->unit.p, "cycle", 5) == 0;
  const uint64_t given = w->in->options->clock_hz;
  const tg_table *boots = tick ? tg_result_get(w->out, "boots") : NULL;
  if (given != 0 && (tick || cycle)) {
    key->clock_hz = given;
    key->origin = TG_CLOCK_OPTION;
  } else if (boots != NULL && boot != TG_NONE &&
             tg_table_u64(boots, boot, TG_BOOT_CLOCK, &key->clock_hz)) {
    key->origin = TG_CLOCK_LOG;
  }
}

void tg_plain_begin_key(plain_walk *w, plain_rule *r, size_t row, const tg_reading *at,
                        tg_key *key) {
  tg_key_init(key);
  key->format = r->format;
  key->operation = r->operation;
  key->unit = tg_str_of(tg_ruleset_unit(w->set, r->shape.rule, NULL));
  key->better = tg_ruleset_better(w->set, r->shape.rule);
  tg_result_observe(w->out, tg_ruleset_observation(w->set, r->shape.rule));
  w->n_labels = 0;
  tg_plain_add_fields(w, &r->shape, row, key);
  (void)tg_plain_advance(r, at);
  uint64_t outer = 0; /* where the last record of an outer head line stands: it ends inner ones */
  for (size_t i = 0; i < r->n_heads; i++) {
    size_t k = 0;
    const tg_str own = key->operation;
    if (!find_head(w, r, row, at, &r->heads[i], &k)) continue;
    const uint64_t place = offset_of(r->heads[i].shape.table, k);
    const bool nested = i >= r->n_outer && !r->heads[i].after;
    if (nested && place < outer) continue;
    if (nested) outer = place;
    tg_plain_add_fields(w, &r->heads[i].shape, k, key);
    if (own.n > 0 && own.p != r->operation.p) key->operation = own;
  }
  fill_clock(w, at->boot, key);
}

static bool name_before(tg_str a, tg_str b) {
  const size_t n = a.n < b.n ? a.n : b.n;
  const int order = n > 0 ? memcmp(a.p, b.p, n) : 0;
  return order != 0 ? order < 0 : a.n < b.n;
}

tg_status tg_plain_end_key(plain_walk *w, tg_key *key) {
  uint16_t order[PLAIN_LABELS] = {0};
  for (size_t i = 0; i < w->n_labels; i++) {
    size_t at = i;
    for (; at > 0 && name_before(w->labels[i].name, w->labels[order[at - 1]].name); at--)
      order[at] = order[at - 1];
    order[at] = (uint16_t)i;
  }
  w->n_text = 0;
  for (size_t i = 0; i < w->n_labels; i++) {
    const plain_label *label = &w->labels[order[i]];
    if (i > 0) TG_TRY(text_add(w, (const uint8_t *)" ", 1));
    TG_TRY(text_add(w, label->name.p, label->name.n));
    TG_TRY(text_add(w, (const uint8_t *)"=", 1));
    TG_TRY(text_add_value(w, label->value));
  }
  key->labels = (tg_str){w->text, w->n_text};
  return TG_OK;
}

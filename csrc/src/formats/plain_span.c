/* plain_span.c - from one line to another, and lines of which only the last counts.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "plain_walk.h"

#define OPEN_SPANS 1024 /* the oldest is given up beyond */

/* A begin line without its end. */
static tg_status tell_open(plain_walk *w, const plain_rule *r, const plain_open *open) {
  if (r->soft) return TG_OK;
  return tg_result_problem(
      w->out, w->source, open->line, open->offset, tg_ruleset_name(w->set, r->shape.rule), "no-end",
      "no line of rule %s ends this span", tg_ruleset_name(w->set, r->ties.until));
}

static void drop(plain_rule *r, size_t i) {
  r->n_open--;
  memmove(r->open + i, r->open + i + 1, (r->n_open - i) * sizeof *r->open);
}

tg_status tg_plain_span_begin(plain_walk *w, plain_rule *r, size_t row, const tg_reading *at) {
  tg_status status = TG_OK;
  for (size_t i = r->n_open; i > 0 && status == TG_OK; i--) {
    const bool same = tg_plain_agree(&r->shape, r->open[i - 1].row, &r->shape, row);
    if (!same && !(i == 1 && r->n_open == OPEN_SPANS)) continue;
    status = tell_open(w, r, &r->open[i - 1]);
    drop(r, i - 1);
  }
  if (status == TG_OK)
    status = tg_reserve(w->in->alloc, &r->open, &r->cap_open, r->n_open + 1, sizeof *r->open);
  if (status != TG_OK) return status;
  r->open[r->n_open++] = (plain_open){at->line, at->offset, row, at->boot};
  return TG_OK;
}

/* The field of the end line that a field of the begin line is measured against. */
static size_t other_field(const plain_rule *r, size_t field) {
  for (size_t f = 0; f < r->end.n_fields; f++)
    if (strcmp(r->end.names[f], r->shape.names[field]) == 0) return f;
  return SIZE_MAX;
}

void tg_plain_share_values(plain_rule *r) {
  for (size_t f = 0; f < r->shape.n_fields; f++) {
    const size_t other = r->shape.parts[f] == PLAIN_VALUE ? other_field(r, f) : SIZE_MAX;
    if (other != SIZE_MAX) r->end.parts[other] = PLAIN_VALUE;
  }
}

/* The difference end - begin of a value. Counters are unsigned: their difference is taken first. */
static tg_status difference(const plain_rule *r, size_t from, size_t to, const tg_value_info *value,
                            int64_t *out) {
  int64_t sum = 0;
  for (size_t i = 0; i < value->n_terms; i++) {
    const size_t field = value->terms[i].field;
    const size_t a = TG_REC_FIELD + field, b = TG_REC_FIELD + other_field(r, field);
    uint64_t x = 0, y = 0;
    int64_t v = 0, s = 0, t = 0;
    if (tg_table_u64(r->shape.table, from, a, &x) && tg_table_u64(r->end.table, to, b, &y)) {
      if (y < x) return TG_ERANGE;
      if (y - x > INT64_MAX) return TG_EOVERFLOW;
      v = (int64_t)(y - x);
    } else if (tg_table_i64(r->shape.table, from, a, &s) && tg_table_i64(r->end.table, to, b, &t)) {
      if (__builtin_sub_overflow(t, s, &v)) return TG_EOVERFLOW;
    } else {
      return TG_ENODATA;
    }
    if (__builtin_mul_overflow(v, value->terms[i].factor, &v) ||
        __builtin_add_overflow(sum, v, &sum))
      return TG_EOVERFLOW;
  }
  *out = sum;
  return sum < 0 ? TG_ERANGE : TG_OK;
}

/* The readings of a span: the key is that of the begin line, with the fields of the end line. */
static tg_status add_span(plain_walk *w, plain_rule *r, size_t from, size_t row,
                          const tg_reading *at) {
  tg_value_info value;
  tg_status status = TG_OK;
  for (size_t v = 0; tg_ruleset_value(w->set, r->shape.rule, v, &value) == TG_OK; v++) {
    tg_key key;
    tg_reading reading = *at;
    status = difference(r, from, row, &value, &reading.value);
    if (status == TG_ENODATA) continue;
    if (status == TG_EOVERFLOW) return tg_plain_too_large(w, r, at, value.metric);
    if (status == TG_ERANGE)
      return tg_result_problem(w->out, w->source, at->line, at->offset,
                               tg_ruleset_name(w->set, r->shape.rule), "time-back",
                               "%s is less than where the span begins", value.metric);
    if (status != TG_OK) return status;
    tg_plain_begin_key(w, r, from, at, &key);
    tg_plain_add_fields(w, &r->end, row, &key);
    status = tg_plain_end_key(w, &key);
    if (status == TG_OK) status = tg_plain_add(w, r, from, v, &key, &reading);
    if (status != TG_OK) return status;
  }
  return TG_OK;
}

tg_status tg_plain_span_end(plain_walk *w, plain_rule *r, size_t row, const tg_reading *at) {
  for (size_t i = r->n_open; i > 0; i--) {
    const plain_open open = r->open[i - 1];
    if (open.boot != at->boot || !tg_plain_agree(&r->shape, open.row, &r->end, row)) continue;
    drop(r, i - 1);
    return add_span(w, r, open.row, row, at);
  }
  if (r->soft) return TG_OK;
  return tg_result_problem(
      w->out, w->source, at->line, at->offset, tg_ruleset_name(w->set, r->ties.until), "no-start",
      "no line of rule %s begins this span", tg_ruleset_name(w->set, r->shape.rule));
}

tg_status tg_plain_span_finish(plain_walk *w, plain_rule *r) {
  tg_status status = TG_OK;
  for (size_t i = 0; i < r->n_open && status == TG_OK; i++) status = tell_open(w, r, &r->open[i]);
  r->n_open = 0;
  return status;
}

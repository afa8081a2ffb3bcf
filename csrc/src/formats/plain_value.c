/* plain_value.c - one value of a record as a reading; states held until the last of them.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "plain_walk.h"

tg_status tg_plain_hold(plain_walk *w, const tg_reading *reading, uint64_t grows) {
  const size_t key = reading->key;
  const tg_alloc *a = w->in->alloc;
  if (reading->key == TG_NONE) return tg_result_reading(w->out, reading);
  tg_status status = tg_reserve(a, &w->holder, &w->cap_holder, key + 1, sizeof *w->holder);
  if (status != TG_OK) return status;
  while (w->n_holder <= key) w->holder[w->n_holder++] = 0;
  if (w->holder[key] == 0) {
    status = tg_reserve(a, &w->held, &w->cap_held, w->n_held + 1, sizeof *w->held);
    if (status != TG_OK) return status;
    w->held[w->n_held++] = (plain_held){*reading, grows};
    w->holder[key] = (uint32_t)w->n_held;
    return TG_OK;
  }
  plain_held *held = &w->held[w->holder[key] - 1];
  const uint32_t run = held->reading.run;
  const bool ended = grows < held->grows || held->reading.boot != reading->boot;
  if (ended) status = tg_result_reading(w->out, &held->reading);
  held->reading = *reading;
  held->reading.run = run + ended;
  held->grows = grows;
  return status;
}

tg_status tg_plain_release_held(plain_walk *w) {
  tg_status status = TG_OK;
  for (size_t i = 0; i < w->n_held && status == TG_OK; i++)
    status = tg_result_reading(w->out, &w->held[i].reading);
  w->n_held = w->n_holder = 0;
  return status;
}

tg_status tg_plain_sum(const tg_table *t, size_t row, const tg_value_info *value, int64_t *out) {
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

tg_status tg_plain_too_large(plain_walk *w, const plain_rule *r, const tg_reading *at,
                             const char *metric) {
  return tg_result_problem(w->out, w->source, at->line, at->offset,
                           tg_ruleset_name(w->set, r->shape.rule), "overflow",
                           "the value of %s does not fit 63 bits", metric);
}

tg_status tg_plain_add(plain_walk *w, const plain_rule *r, size_t row, size_t v, tg_key *key,
                       tg_reading *reading) {
  const size_t rule = r->model != SIZE_MAX ? r->model : r->shape.rule;
  uint64_t grows = 0;
  const tg_str metric = key->metric;
  tg_value_info value;
  TG_TRY(tg_ruleset_value(w->set, rule, v, &value));
  key->exp10 = value.exp10;
  key->resolution = v < PLAIN_VALUES && r->resolution[v] > 1 ? r->resolution[v] : 1;
  if (metric.n == 0) key->metric = tg_str_of(value.metric);
  tg_status status = tg_result_key(w->out, key, &reading->key);
  key->metric = metric;
  if (status != TG_OK) return status;
  if (r->ties.grows != SIZE_MAX &&
      tg_table_u64(r->shape.table, row, TG_REC_FIELD + r->ties.grows, &grows))
    return tg_plain_hold(w, reading, grows);
  return tg_result_reading(w->out, reading);
}

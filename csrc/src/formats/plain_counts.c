/* plain_counts.c - lines that stand for many readings: rows of histograms.
 *
 * A row has a value, or a range of values, and how often it occurred; with a list of counts it has
 * one for each column of the table. A row without a value counts the values beyond the last bucket.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "plain_walk.h"
#include "tickgauge/number.h"

/* Cuts the next word off a list. False at its end. */
static bool next_word(tg_str *list, tg_str *word) {
  while (list->n > 0 && *list->p <= ' ') list->p++, list->n--;
  *word = (tg_str){list->p, 0};
  while (list->n > 0 && *list->p > ' ') list->p++, list->n--, word->n++;
  return word->n > 0;
}

/* The end of a range, whatever the type of its field. TG_OK, TG_ENODATA where it is missing or no
 * number, TG_EOVERFLOW. */
static tg_status range_end(const tg_table *t, size_t row, size_t field, int64_t *v) {
  const size_t col = TG_REC_FIELD + field;
  tg_str text;
  uint64_t size = 0;
  if (!tg_table_u64(t, row, col, &size)) {
    if (!tg_table_text(t, row, col, &text)) return TG_ENODATA;
    if (tg_parse_i64(text.p, text.p + text.n, v) == TG_OK) return TG_OK;
    if (tg_parse_size(text.p, text.p + text.n, &size) != TG_OK) return TG_ENODATA;
  }
  if (size >= INT64_MAX) return TG_EOVERFLOW;
  *v = (int64_t)size;
  return TG_OK;
}

tg_status tg_plain_width(const plain_rule *r, size_t row, const tg_value_info *value,
                         int64_t lowest, int64_t *width) {
  const size_t field = r->ties.below != SIZE_MAX ? r->ties.below : r->ties.upto;
  int64_t high = 0;
  *width = 0;
  if (field == SIZE_MAX) return TG_OK;
  const tg_status end = range_end(r->shape.table, row, field, &high);
  if (end == TG_ENODATA) {
    tg_str text;
    const bool there = tg_table_text(r->shape.table, row, TG_REC_FIELD + field, &text);
    *width = there ? TG_NO_END : 0;
    return TG_OK;
  }
  if (end != TG_OK) return end;
  high += field == r->ties.upto;
  if (__builtin_mul_overflow(high, value->terms[0].factor, &high) ||
      __builtin_sub_overflow(high, lowest, width))
    return TG_EOVERFLOW;
  if (*width <= 0) *width = 0;
  return TG_OK;
}

/* The words that name the columns of a table: a field `columns` of a head line. */
static tg_str column_names(const plain_walk *w, const plain_rule *r, size_t row) {
  tg_str names = {NULL, 0};
  uint32_t section = 0;
  (void)tg_table_u32(r->shape.table, row, TG_REC_SECTION, &section);
  for (size_t i = 0; i < r->n_heads; i++) {
    const plain_head *h = &r->heads[i];
    for (size_t f = 0; f < h->shape.n_fields; f++) {
      if (strcmp(h->shape.names[f], "columns") != 0 || h->next == 0) continue;
      uint32_t other = 0;
      (void)tg_table_u32(h->shape.table, h->next - 1, TG_REC_SECTION, &other);
      if (h->section && other != section) continue;
      (void)tg_table_text(h->shape.table, h->next - 1, TG_REC_FIELD + f, &names);
    }
  }
  (void)w;
  return names;
}

/* Matches the name of a column with the rule's pattern: "{metric}-{cpu}". False where it differs.
 */
static bool name_column(plain_walk *w, const char *pattern, tg_str name, tg_key *key) {
  while (*pattern != '\0') {
    if (*pattern != '{') {
      if (name.n == 0 || *name.p != (uint8_t)*pattern) return false;
      name.p++, name.n--, pattern++;
      continue;
    }
    const char *close = strchr(pattern, '}');
    if (close == NULL) return false;
    const tg_str field = {(const uint8_t *)pattern + 1, (size_t)(close - pattern) - 1};
    pattern = close + 1;
    size_t n = 0;
    while (n < name.n && (*pattern == '\0' || name.p[n] != (uint8_t)*pattern)) n++;
    tg_plain_add_named(w, field, (tg_str){name.p, n}, key);
    name.p += n, name.n -= n;
  }
  return name.n == 0;
}

/* Whether the last count of a list is the sum of those before it; how many there are, and whether
 * any is not 0. False where one is no number. */
static bool last_is_sum(tg_str list, size_t *columns, bool *filled) {
  tg_str word;
  uint64_t sum = 0, n = 0;
  for (*columns = 0; next_word(&list, &word); ++*columns) {
    if (__builtin_add_overflow(sum, n, &sum) || tg_parse_u64(word.p, word.p + word.n, &n) != TG_OK)
      return false;
  }
  *filled = n > 0;
  return *columns > 1 && n == sum;
}

enum { SUM_ROWS = 3 }; /* so many rows must agree before a column is taken for a sum */

/* Finds out whether the last column of the table that begins at `row` is the sum of the others in
 * every row, as cyclictest -H prints it: it counts nothing of its own. TG_OK, TG_EINTERRUPTED. */
static tg_status find_sums(plain_walk *w, const plain_rule *r, size_t row) {
  const tg_table *t = r->shape.table;
  size_t columns = 0, n = 0, rows = 0;
  tg_str list;
  w->sums = SIZE_MAX;
  if (r->ties.count == SIZE_MAX) return TG_OK;
  for (size_t i = row; i < tg_table_rows(t); i++) {
    uint32_t section = 0;
    bool filled = false;
    if (tg_reduce_stops(w->in, i)) return TG_EINTERRUPTED;
    (void)tg_table_u32(t, i, TG_REC_SECTION, &section);
    if (section != w->section) break;
    if (!tg_table_text(t, i, TG_REC_FIELD + r->ties.count, &list) ||
        !last_is_sum(list, &n, &filled) || (columns > 0 && n != columns))
      return TG_OK;
    columns = n;
    rows += filled;
  }
  if (rows >= SUM_ROWS) w->sums = columns - 1;
  return TG_OK;
}

/* A table begins with this row: its columns have counted nothing. TG_OK, TG_EINTERRUPTED. */
static tg_status begin_table(plain_walk *w, const plain_rule *r, size_t row, uint32_t section,
                             bool named) {
  if (section == w->section && section != 0) return TG_OK;
  w->section = section;
  w->n_columns = 0;
  w->top = 0;
  w->sums = SIZE_MAX;
  return named || section == 0 ? TG_OK : find_sums(w, r, row);
}

/* Makes room for so many columns of the table. */
static tg_status enter_column(plain_walk *w, size_t columns) {
  if (columns <= w->n_columns) return TG_OK;
  const tg_status status =
      tg_reserve(w->in->alloc, &w->columns, &w->cap_columns, columns, sizeof *w->columns);
  if (status != TG_OK) return status;
  while (w->n_columns < columns) w->columns[w->n_columns++] = (plain_column){0, 0, 0, TG_NONE};
  return TG_OK;
}

/* The lowest value and the width of a row; `*over`: it lies beyond the last bucket. */
static tg_status bucket(plain_walk *w, const plain_rule *r, size_t row, const tg_value_info *value,
                        int64_t *low, int64_t *width, bool *over) {
  tg_status status = *over ? TG_OK : tg_plain_sum(r->shape.table, row, value, low);
  if (*over) {
    *low = w->top;
    *width = TG_NO_END;
    return TG_OK;
  }
  if (status == TG_OK) status = tg_plain_width(r, row, value, *low, width);
  if (status != TG_OK) return status;
  *over = *width == TG_NO_END;
  const int64_t step = *over ? 0 : *width > 0 ? *width : 1;
  if (*low <= INT64_MAX - step && *low + step > w->top) w->top = *low + step;
  return TG_OK;
}

/* Whether all rows of the rule under the same head lines have one key: one value, no label of their
 * own. Their key is then made once for each column. */
static bool one_key(const plain_walk *w, const plain_rule *r) {
  if (r->ties.grows != SIZE_MAX || tg_ruleset_values(w->set, r->shape.rule) != 1) return false;
  for (size_t f = 0; f < r->shape.n_fields; f++)
    if (r->shape.parts[f] != PLAIN_VALUE) return false;
  return true;
}

/* The reading of value `v` of one column of a row under a key that is made here. */
static tg_status add_keyed(plain_walk *w, plain_rule *r, size_t row, size_t v, tg_str name,
                           tg_reading *reading) {
  tg_key key;
  tg_plain_begin_key(w, r, row, reading, &key);
  if (r->model != SIZE_MAX && key.unit.n == 0)
    key.unit = tg_str_of(tg_ruleset_unit(w->set, r->model, NULL));
  if (name.n > 0 && r->ties.columns != NULL && !name_column(w, r->ties.columns, name, &key))
    tg_plain_add_named(w, tg_str_of("column"), name, &key);
  TG_TRY(tg_plain_end_key(w, &key));
  return tg_plain_add(w, r, row, v, &key, reading);
}

/* One line of a table of counts. */
typedef struct counted_row {
  size_t row;
  uint64_t state; /* of its head lines; 0: its key cannot be kept */
  const tg_reading *at;
} counted_row;

/* The readings of one column of a row: those of each value of the rule. */
static tg_status add_column(plain_walk *w, plain_rule *r, const counted_row *line, size_t column,
                            tg_str name, uint64_t count) {
  tg_status status = TG_OK;
  tg_value_info value;
  const bool beyond = r->model != SIZE_MAX;
  const size_t rule = beyond ? r->model : r->shape.rule;
  for (size_t v = 0; tg_ruleset_value(w->set, rule, v, &value) == TG_OK; v++) {
    tg_reading reading = *line->at;
    bool over = beyond;
    status = bucket(w, r, line->row, &value, &reading.value, &reading.width, &over);
    if (status == TG_EOVERFLOW) return tg_plain_too_large(w, r, line->at, value.metric);
    if (status != TG_OK) return status == TG_ENODATA ? TG_OK : status;
    plain_column *c = &w->columns[column];
    if (v == 0 && over) c->over += count;
    if (v == 0 && !over) c->sum += count;
    if (count == 0) continue;
    reading.count = count;
    reading.key = c->key;
    if (line->state != 0 && c->state == line->state) {
      TG_TRY(tg_result_reading(w->out, &reading));
      continue;
    }
    TG_TRY(add_keyed(w, r, line->row, v, name, &reading));
    c->key = reading.key;
    c->state = line->state;
  }
  return status;
}

/* The sums that the table itself states, with or without the values beyond the last bucket. */
static tg_status check_total(plain_walk *w, const plain_rule *r, const tg_reading *at,
                             size_t column, tg_str name, uint64_t total) {
  if (column >= w->n_columns) return TG_OK;
  const plain_column *c = &w->columns[column];
  if (total == c->sum || total == c->sum + c->over) return TG_OK;
  return tg_result_problem(w->out, w->source, at->line, at->offset,
                           tg_ruleset_name(w->set, r->shape.rule), "total",
                           "column %.*s has %llu readings in the table, its own total says %llu",
                           (int)(name.n < 40 ? name.n : 40), (const char *)name.p,
                           (unsigned long long)c->sum + c->over, (unsigned long long)total);
}

tg_status tg_plain_counted(plain_walk *w, plain_rule *r, size_t row, const tg_reading *at) {
  const bool sums = r->ties.total != SIZE_MAX;
  const size_t field = sums ? r->ties.total : r->ties.count;
  const tg_table *t = r->shape.table;
  tg_str list = {NULL, 0}, names, word = {NULL, 0}, name = {NULL, 0};
  uint8_t digits[24];
  uint32_t section = 0;
  uint64_t n = 0;
  (void)tg_table_u32(t, row, TG_REC_SECTION, &section);
  const uint64_t state = tg_plain_advance(r, at);
  const counted_row line = {row, section != 0 && one_key(w, r) ? state : 0, at};
  names = column_names(w, r, row);
  const bool one = tg_table_u64(t, row, TG_REC_FIELD + field, &n);
  if (!one && !tg_table_text(t, row, TG_REC_FIELD + field, &list)) return TG_OK;
  TG_TRY(begin_table(w, r, row, section, one || names.n > 0));
  for (size_t column = 0; one ? column == 0 : next_word(&list, &word); column++) {
    if (column == w->sums) continue;
    if (!one && tg_parse_u64(word.p, word.p + word.n, &n) != TG_OK)
      return tg_result_problem(
          w->out, w->source, at->line, at->offset, tg_ruleset_name(w->set, r->shape.rule), "number",
          "column %zu of this row is no number: the rest of it is left out", column + 1);
    if (!next_word(&names, &name) && !one) {
      size_t i = sizeof digits;
      for (size_t rest = column; i == sizeof digits || rest > 0; rest /= 10)
        digits[--i] = (uint8_t)('0' + rest % 10);
      name = (tg_str){digits + i, sizeof digits - i};
    }
    TG_TRY(enter_column(w, column + 1));
    if (r->ties.cumulative && !sums) {
      const uint64_t seen = w->columns[column].sum;
      n = n > seen ? n - seen : 0;
    }
    TG_TRY(sums ? check_total(w, r, at, column, name, n)
                : add_column(w, r, &line, column, name, n));
  }
  return TG_OK;
}

/* join.c - the records of two parts of one source, put together as if one reader had read both.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "base/mem.h"
#include "base/table_private.h"
#include "base/try.h"
#include "records.h"
#include "ruleset.h"

/* Added to the places of the later part: the size of the earlier one. */
typedef struct shift {
  uint64_t bytes, lines;
  uint32_t sections;
} shift;

static bool same_rules(const tg_ruleset *a, const tg_ruleset *b) {
  if (a->n_rules != b->n_rules || a->n_tags != b->n_tags) return false;
  for (size_t i = 0; i < a->n_rules; i++)
    if (strcmp(a->rules[i].name, b->rules[i].name) != 0 ||
        strcmp(a->rules[i].pattern, b->rules[i].pattern) != 0)
      return false;
  return true;
}

/* Adds to the numbers of a column, from row `from` on, where they are present. */
static void move_u64(tg_table *t, size_t col, size_t from, uint64_t by) {
  for (size_t row = from; row < t->rows; row++) {
    uint64_t v = 0;
    if (tg_table_u64(t, row, col, &v)) tg_row_put64(t, row, col, v + by);
  }
}

static void move_u32(tg_table *t, size_t col, size_t from, uint32_t by) {
  for (size_t row = from; row < t->rows && by > 0; row++) {
    uint32_t v = 0;
    if (tg_table_u32(t, row, col, &v)) tg_row_put32(t, row, col, v + by);
  }
}

static tg_status join_tables(tg_records *into, const tg_records *more, shift by) {
  for (size_t i = 0; i < into->n_tables; i++) {
    if (more->tables[i] == NULL) continue;
    if (into->tables[i] == NULL)
      TG_TRY(tg_rule_table_new(&into->alloc, &into->rules->rules[i], &into->tables[i]));
    tg_table *t = into->tables[i];
    const size_t from = t->rows;
    if (more->tables[i]->rows > UINT32_MAX - from) return TG_ELIMIT;
    TG_TRY(tg_table_join(t, more->tables[i], more->tables[i]->rows));
    move_u64(t, TG_REC_LINE, from, by.lines);
    move_u64(t, TG_REC_OFFSET, from, by.bytes);
    move_u32(t, TG_REC_SECTION, from, by.sections);
  }
  return TG_OK;
}

/* The order of the later part goes on behind; `rows` are the rows each table had before. */
static tg_status join_order(tg_records *into, const tg_records *more, const size_t *rows) {
  size_t need = 0;
  if (tg_add_overflows(into->n_order, more->n_order, &need)) return TG_EOVERFLOW;
  const tg_status status =
      tg_reserve(&into->alloc, &into->order, &into->cap_order, need, sizeof *into->order);
  if (status != TG_OK) return status;
  for (size_t i = 0; i < more->n_order; i++) {
    tg_place place = more->order[i];
    place.row += (uint32_t)rows[place.rule];
    into->order[into->n_order++] = place;
  }
  return TG_OK;
}

static tg_status join_problems(tg_records *into, const tg_records *more, shift by) {
  const size_t from = into->problems->rows;
  const uint64_t room = into->max_problems > from ? into->max_problems - from : 0;
  const size_t there = more->problems->rows;
  const tg_status status =
      tg_table_join(into->problems, more->problems, there < room ? there : (size_t)room);
  if (status != TG_OK) return status;
  move_u64(into->problems, TG_PROBLEM_LINE, from, by.lines);
  move_u64(into->problems, TG_PROBLEM_OFFSET, from, by.bytes);
  return TG_OK;
}

/* Rows of one rule in a table of near misses, which is sorted by rule. */
typedef struct near_rows {
  const tg_table *t;
  size_t at, end;
} near_rows;

static near_rows rows_of(const tg_table *t, size_t from, const char *rule) {
  near_rows r = {t, from, from};
  tg_str name;
  while (r.end < t->rows && tg_table_text(t, r.end, TG_NEAR_RULE, &name) &&
         name.n == strlen(rule) && memcmp(name.p, rule, name.n) == 0)
    r.end++;
  return r;
}

/* True where the next row of `b` ranks before the next of `a`. */
static bool nearer(const near_rows *b, const near_rows *a) {
  tg_str taken;
  uint32_t reach_a = 0, reach_b = 0;
  if (b->at == b->end || a->at == a->end) return a->at == a->end;
  const bool free_a = !tg_table_text(a->t, a->at, TG_NEAR_TAKEN, &taken);
  const bool free_b = !tg_table_text(b->t, b->at, TG_NEAR_TAKEN, &taken);
  (void)tg_table_u32(a->t, a->at, TG_NEAR_REACHED, &reach_a);
  (void)tg_table_u32(b->t, b->at, TG_NEAR_REACHED, &reach_b);
  return free_a != free_b ? free_b : reach_b > reach_a;
}

/* Both tables merged rule by rule; ties go to the earlier part. */
static tg_status join_near(const tg_records *into, const tg_records *more, shift by,
                           tg_table **out) {
  tg_table *merged = NULL;
  near_rows a = {into->near, 0, 0}, b = {more->near, 0, 0};
  tg_status status = tg_table_like(&into->alloc, into->near, &merged);
  for (size_t rule = 0; rule < into->rules->n_rules && status == TG_OK; rule++) {
    a = rows_of(a.t, a.end, into->rules->rules[rule].name);
    b = rows_of(b.t, b.end, into->rules->rules[rule].name);
    for (size_t k = 0; k < TG_NEAR_KEPT && status == TG_OK; k++) {
      if (a.at == a.end && b.at == b.end) break;
      const bool later = nearer(&b, &a);
      near_rows *from = later ? &b : &a;
      status = tg_table_copy_row(merged, from->t, from->at++);
      if (later && status == TG_OK) {
        move_u64(merged, TG_NEAR_LINE, merged->rows - 1, by.lines);
        move_u64(merged, TG_NEAR_OFFSET, merged->rows - 1, by.bytes);
      }
    }
  }
  if (status == TG_OK) {
    *out = merged;
  } else {
    tg_table_free(merged);
  }
  return status;
}

static void join_totals(tg_records *into, const tg_records *more) {
  for (size_t i = 0; i < into->n_tables * TG_TEMPLATE_FIELDS; i++)
    if (more->digits[i] > into->digits[i]) into->digits[i] = more->digits[i];
  for (size_t i = 0; i < into->n_tally; i++) {
    into->tally[i].occurrences += more->tally[i].occurrences;
    into->tally[i].used += more->tally[i].used;
    into->tally[i].problems += more->tally[i].problems;
    into->tally[i].unread += more->tally[i].unread;
  }
  into->totals.bytes += more->totals.bytes;
  into->totals.lines += more->totals.lines;
  into->totals.records += more->totals.records;
  into->totals.problems += more->totals.problems;
  into->totals.prefixed += more->totals.prefixed;
  into->sections += more->sections;
  into->ends_plainly = more->ends_plainly;
}

/* Adds all that the later part has; the caller takes it back after a failure. */
static tg_status join_all(tg_records *into, const tg_records *more, shift by, const size_t *rows,
                          tg_table **near) {
  TG_TRY(join_near(into, more, by, near));
  TG_TRY(join_tables(into, more, by));
  TG_TRY(join_problems(into, more, by));
  return join_order(into, more, rows);
}

tg_status tg_records_append(tg_records *into, const tg_records *more) {
  if (into == more || !same_rules(into->rules, more->rules)) return TG_EINVAL;
  if (!into->ends_plainly || !more->has_lines) return TG_ECONFLICT;
  if (more->n_order > into->max_records || into->n_order > into->max_records - more->n_order)
    return TG_ELIMIT;
  const shift by = {into->totals.bytes, into->totals.lines, into->sections};
  const size_t n_problems = into->problems->rows, n_order = into->n_order;
  tg_table *near = NULL;
  size_t *rows = tg_zalloc(&into->alloc, into->n_tables + 1, sizeof *rows);
  if (rows == NULL) return TG_ENOMEM;
  for (size_t i = 0; i < into->n_tables; i++)
    rows[i] = into->tables[i] != NULL ? into->tables[i]->rows : 0;
  const tg_status status = join_all(into, more, by, rows, &near);
  if (status == TG_OK) {
    join_totals(into, more);
    tg_table_free(into->near);
    into->near = near;
  } else {
    for (size_t i = 0; i < into->n_tables; i++)
      if (into->tables[i] != NULL) tg_table_truncate(into->tables[i], rows[i]);
    tg_table_truncate(into->problems, n_problems);
    into->n_order = n_order;
    tg_table_free(near);
  }
  tg_release(&into->alloc, rows);
  return status;
}

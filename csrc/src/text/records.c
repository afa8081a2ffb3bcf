/* records.c - tables of records, problems, the ledger. SPDX-License-Identifier: BSD-3-Clause */
#include "records.h"

#include <stdio.h>
#include <string.h>

#include "base/duration.h"
#include "base/mem.h"
#include "base/row.h"
#include "base/try.h"
#include "near.h"
#include "tickgauge/number.h"

tg_status tg_records_new(const tg_alloc *a, const tg_ruleset *rules,
                         const tg_reader_options *options, tg_records **out) {
  static const tg_column_def problem[TG_PROBLEM_COLUMNS] = {
      {"line", TG_U64, 0},    {"offset", TG_U64, 0},  {"rule", TG_TEXT, 0},
      {"reason", TG_TEXT, 0}, {"detail", TG_TEXT, 0}, {"excerpt", TG_TEXT, 0},
  };
  tg_records *r = tg_zalloc(a, 1, sizeof *r);
  if (r == NULL) return TG_ENOMEM;
  r->alloc = *a;
  r->rules = rules;
  r->max_records = options->max_records;
  r->max_problems = options->max_problems;
  r->max_label = options->max_label;
  tg_copy_init(&r->folded, a);
  tg_status status = TG_ENOMEM;
  r->tables = tg_zalloc(a, rules->n_rules + 1, sizeof(void *));
  r->tally = tg_zalloc(a, rules->n_tags + 1, sizeof *r->tally);
  r->digits = tg_zalloc(a, rules->n_rules + 1, TG_TEMPLATE_FIELDS);
  if (r->tables == NULL || r->tally == NULL || r->digits == NULL) goto fail;
  r->n_tally = rules->n_tags;
  r->n_tables = rules->n_rules;
  if ((status = tg_table_new(a, problem, TG_PROBLEM_COLUMNS, &r->problems)) != TG_OK) goto fail;
  if ((status = tg_near_table(a, NULL, &r->near)) != TG_OK) goto fail;
  *out = r;
  return TG_OK;
fail:
  tg_records_free(r);
  return status;
}

void tg_records_free(tg_records *r) {
  if (r == NULL) return;
  tg_alloc a = r->alloc;
  for (size_t i = 0; r->tables != NULL && i < r->n_tables; i++) tg_table_free(r->tables[i]);
  tg_table_free(r->problems);
  tg_table_free(r->near);
  tg_copy_free(&r->folded);
  tg_release(&a, r->tables);
  tg_release(&a, r->tally);
  tg_release(&a, r->digits);
  tg_release(&a, r->order);
  tg_release(&a, r);
}

/* A value that was read and waits for its row: the bits of a u64 or i64. */
typedef struct cell_value {
  uint64_t bits;
  uint8_t digits; /* behind a decimal point */
  bool missing;
} cell_value;

/* The numbers of a record: the bits of u64s and i64s, and which of the fields have no value (their
 * bits are 0). */
typedef struct cell_values {
  const uint64_t *bits;
  uint64_t missing;
} cell_values;

/* The number at the power of ten of its field, no digit dropped. */
static tg_status exact_decimal(const tg_template_field *f, const uint8_t *p, const uint8_t *end,
                               tg_decimal *d, int64_t *value) {
  TG_TRY(tg_parse_decimal(p, end, f->type == TG_FIELD_EXP, d));
  return d->missing ? TG_OK : tg_decimal_rescale(d, f->exp10, value);
}

static tg_status read_decimal(const tg_template_field *f, const uint8_t *p, const uint8_t *end,
                              cell_value *cell) {
  tg_decimal d = {0, 0, true};
  int64_t value = 0;
  tg_status status = exact_decimal(f, p, end, &d, &value);
  if (f->rounded && (status == TG_ERANGE || status == TG_EOVERFLOW)) {
    status = tg_parse_rounded(p, end, f->type == TG_FIELD_EXP, f->exp10, &d);
    value = d.mantissa;
  }
  if (status != TG_OK) return status;
  cell->missing = d.missing;
  if (d.exp10 < 0) cell->digits = (uint8_t)(d.exp10 > -UINT8_MAX ? -d.exp10 : UINT8_MAX);
  cell->bits = (uint64_t)value;
  return TG_OK;
}

/* Reads the number of a field. TG_OK, TG_EOVERFLOW, TG_ERANGE. */
static tg_status read_cell(const tg_template_field *f, const tg_line *line, tg_span span,
                              cell_value *cell) {
  const uint8_t *p = line->p + span.start;
  const uint8_t *end = line->p + span.end;
  int64_t value = 0;
  tg_status status = TG_OK;
  switch (f->type) {
  case TG_FIELD_UINT:
  case TG_FIELD_DIGIT:
    return tg_parse_u64(p, end, &cell->bits);
  case TG_FIELD_INT:
    status = tg_parse_i64(p, end, &value);
    cell->bits = (uint64_t)value;
    return status;
  case TG_FIELD_HEX:
  case TG_FIELD_HEXANY:
    return tg_parse_hex(p, end, f->type == TG_FIELD_HEXANY, &cell->bits);
  case TG_FIELD_GROUPED:
    return tg_parse_grouped(p, end, &cell->bits);
  case TG_FIELD_SIZE:
    return tg_parse_size(p, end, &cell->bits);
  case TG_FIELD_DEC:
  case TG_FIELD_EXP:
    return read_decimal(f, p, end, cell);
  case TG_FIELD_DURATION:
    status = tg_parse_duration(p, end, &value);
    cell->bits = (uint64_t)value;
    return status;
  default:
    return TG_OK;
  }
}

/* The code of a text in its column; U+03BC becomes U+00B5, the same micro sign. */
static tg_status text_code(tg_records *r, tg_table *t, size_t col, const uint8_t *p, size_t n,
                              uint32_t *code) {
  if (tg_intern_again(t->cols[col].dict, p, n, code)) return TG_OK; /* it was folded then */
  const uint8_t *mu = n > 1 ? memchr(p, 0xce, n - 1) : NULL;
  if (mu == NULL) return tg_table_word(t, col, p, n, code);
  tg_copy_clear(&r->folded);
  tg_status status = tg_copy_put(&r->folded, p, n, 0);
  if (status != TG_OK) return status;
  for (uint8_t *q = r->folded.p; q + 1 < r->folded.p + n; q++) {
    if (q[0] == 0xce && q[1] == 0xbc) q[0] = 0xc2, q[1] = 0xb5;
  }
  return tg_table_word(t, col, r->folded.p, n, code);
}

/* Writes the fields of a raw row; the mask of those that have a value. */
static tg_status store_fields(tg_records *r, tg_table *t, size_t row, const tg_found *f,
                                 const cell_values *cells, uint64_t *present) {
  const tg_template *tpl = r->rules->rules[f->rule].t;
  const size_t n = tpl->n_fields;
  uint64_t there = tpl->numbers & ~cells->missing;
  for (size_t i = 0; i < n; i++) {
    const size_t col = TG_REC_FIELD + i;
    if (tpl->numbers >> i & 1) {
      /* There is one for every number. NOLINTNEXTLINE(clang-analyzer-core.*) */
      tg_row_put64(t, row, col, cells->bits[i]);
      continue;
    }
    const tg_span span = f->fields[i];
    uint32_t code = 0;
    if (span.start != SIZE_MAX) {
      const tg_status status =
          text_code(r, t, col, f->line->p + span.start, span.end - span.start, &code);
      if (status != TG_OK) return status;
      there |= UINT64_C(1) << i;
    }
    tg_row_put32(t, row, col, code);
  }
  *present = there;
  return TG_OK;
}

/* Writes when the line arrived, where the rule asks for it; the bit of the column if it is known. */
static uint64_t store_arrival(const tg_rule *rule, tg_table *t, size_t row, const tg_line *line) {
  int64_t ns = 0;
  if (!rule->arrival) return 0;
  const bool known = tg_arrival(line, &ns);
  tg_row_put64(t, row, TG_REC_FIELD + rule->t->n_fields, (uint64_t)ns);
  return (uint64_t)known << rule->t->n_fields;
}

/* Fills raw row `row` of the rule's table: every item of it. */
static tg_status store_row(tg_records *r, tg_table *t, size_t row, const tg_found *f,
                              const cell_values *cells) {
  const tg_line *line = f->line;
  const tg_template *tpl = r->rules->rules[f->rule].t;
  uint32_t flags = line->flags;
  uint32_t channel = 0;
  uint64_t present = 0;
  tg_status status = TG_OK;
  if (line->tail && f->end == line->n && !tpl->closed) flags |= TG_FLAG_TAIL;
  if (line->channel.p != NULL)
    status = tg_table_word(t, TG_REC_CHANNEL, line->channel.p, line->channel.n, &channel);
  tg_row_put64(t, row, TG_REC_LINE, tg_line_number(line, f->start));
  tg_row_put64(t, row, TG_REC_OFFSET, tg_line_offset(line, f->start));
  tg_row_put32(t, row, TG_REC_CHANNEL, channel);
  tg_row_put32(t, row, TG_REC_FLAGS, flags);
  tg_row_put32(t, row, TG_REC_SECTION, f->section);
  if (status == TG_OK) status = store_fields(r, t, row, f, cells, &present);
  present |= store_arrival(&r->rules->rules[f->rule], t, row, line);
  t->valid[row] = UINT64_C(1) << TG_REC_LINE | UINT64_C(1) << TG_REC_OFFSET |
                  UINT64_C(1) << TG_REC_FLAGS |
                  (uint64_t)(line->channel.p != NULL) << TG_REC_CHANNEL |
                  (uint64_t)(f->section > 0) << TG_REC_SECTION | present << TG_REC_FIELD;
  return status;
}

static tg_status append(tg_records *r, const tg_found *f, const cell_values *cells) {
  size_t row;
  if (r->tables[f->rule] == NULL) /* the first record of its rule */
    TG_TRY(tg_rule_table_new(&r->alloc, &r->rules->rules[f->rule], &r->tables[f->rule]));
  tg_table *t = r->tables[f->rule];
  if (r->n_order >= r->max_records || t->rows >= UINT32_MAX) return TG_ELIMIT;
  if (r->n_order == r->cap_order)
    TG_TRY(tg_reserve(&r->alloc, &r->order, &r->cap_order, r->n_order + 1, sizeof *r->order));
  TG_TRY(tg_table_append_raw(t, &row));
  const tg_status status = store_row(r, t, row, f, cells);
  if (status != TG_OK) {
    tg_table_truncate(t, row);
    return status;
  }
  r->order[r->n_order++] = (tg_place){(uint32_t)f->rule, (uint32_t)row};
  r->totals.records++;
  size_t tag = r->rules->rules[f->rule].tag;
  if (tag != TG_NOT) r->tally[tag].used++;
  return TG_OK;
}

/* A text of the record that begins at `at` is longer than a label may be. */
static tg_status too_long(tg_records *r, const tg_found *f, size_t at) {
  char expected[64];
  snprintf(expected, sizeof expected, "a text of at most %llu bytes (--limit label=N)",
           (unsigned long long)r->max_label);
  return tg_records_problem(r, &(tg_trouble){f->line, at, f->rule,
                                             r->rules->rules[f->rule].tag, TG_REASON_LABEL,
                                             expected, 0});
}

/* The first field whose text is longer than a label may be; TG_TEMPLATE_FIELDS: none. */
static size_t find_long(const tg_records *r, const tg_found *f) {
  const tg_template *t = r->rules->rules[f->rule].t;
  for (size_t i = 0; i < t->n_fields; i++) {
    if ((t->numbers >> i & 1) != 0 || f->fields[i].start == SIZE_MAX) continue;
    if (f->fields[i].end - f->fields[i].start > r->max_label) return i;
  }
  return TG_TEMPLATE_FIELDS;
}

static tg_status number_problem(tg_records *r, const tg_found *f, size_t i, tg_status why) {
  const bool precision = why == TG_ERANGE;
  return tg_records_problem(
      r, &(tg_trouble){f->line, f->fields[i].start, f->rule, r->rules->rules[f->rule].tag,
                       precision ? TG_REASON_PRECISION : TG_REASON_OVERFLOW,
                       precision ? "no more digits than its power of ten keeps (exponents, rounded)"
                                 : "a number that fits 64 bits",
                       0});
}

/* Adds a record of which not all numbers are known yet. */
static tg_status read_and_append(tg_records *r, const tg_found *f, bool *added) {
  uint64_t bits[TG_TEMPLATE_FIELDS];
  cell_values cells = {bits, 0};
  const tg_template *tpl = r->rules->rules[f->rule].t;
  for (size_t i = 0; i < tpl->n_fields; i++) {
    cell_value cell = {0, 0, false};
    tg_status status = TG_OK;
    if ((tpl->numbers >> i & 1) == 0) continue;
    if (f->known >> i & 1) {
      cell.bits = f->numbers[i];
    } else if (f->fields[i].start == SIZE_MAX) {
      cell.missing = true;
    } else {
      status = read_cell(&tpl->fields[i], f->line, f->fields[i], &cell);
    }
    if (status != TG_OK) return number_problem(r, f, i, status);
    bits[i] = cell.missing ? 0 : cell.bits;
    cells.missing |= (uint64_t)cell.missing << i;
    uint8_t *most = &r->digits[f->rule * TG_TEMPLATE_FIELDS + i];
    if (cell.digits > *most) *most = cell.digits;
  }
  const tg_status status = append(r, f, &cells);
  *added = status == TG_OK;
  return status;
}

tg_status tg_records_add(tg_records *r, const tg_found *f, bool *added) {
  const size_t beyond = f->line->n > r->max_label ? find_long(r, f) : TG_TEMPLATE_FIELDS;
  *added = false;
  if (beyond < TG_TEMPLATE_FIELDS) return too_long(r, f, f->fields[beyond].start);
  if ((r->rules->rules[f->rule].t->numbers & ~f->known) != 0)
    return read_and_append(r, f, added);
  const cell_values cells = {f->numbers, 0};
  const tg_status status = append(r, f, &cells);
  *added = status == TG_OK;
  return status;
}

/* "expected a digit, found 'x'" without any byte that a terminal would obey. */
static void describe(const tg_records *r, const tg_trouble *t, char *out, size_t n) {
  const tg_line *line = t->line;
  char expected[96];
  snprintf(expected, sizeof expected, "%s", t->expected != NULL ? t->expected : "another line");
  if (t->rule != TG_NOT && t->expected != NULL)
    tg_expected_text(r->rules->rules[t->rule].t, t->item, t->expected, expected, sizeof expected);
  if (t->at >= line->n) {
    snprintf(out, n, "expected %s, found the end of the line", expected);
  } else if (line->p[t->at] >= 0x20 && line->p[t->at] < 0x7f) {
    snprintf(out, n, "expected %s, found '%c'", expected, line->p[t->at]);
  } else {
    snprintf(out, n, "expected %s, found byte 0x%02x", expected, (unsigned)line->p[t->at]);
  }
}

static tg_status add_problem(tg_table *p, const tg_records *r, const tg_trouble *t) {
  const bool mixed = (t->line->flags & TG_FLAG_REPAIRED) != 0;
  const uint64_t offset = tg_line_offset(t->line, t->at);
  char detail[160];
  describe(r, t, detail, sizeof detail);
  tg_row w = tg_row_begin(p);
  tg_row_u64(&w, TG_PROBLEM_LINE, tg_line_number(t->line, t->at));
  tg_row_u64(&w, TG_PROBLEM_OFFSET, offset);
  if (t->rule != TG_NOT) tg_row_cstr(&w, TG_PROBLEM_RULE, r->rules->rules[t->rule].name);
  tg_row_cstr(&w, TG_PROBLEM_REASON, mixed ? TG_REASON_MIXED : t->reason);
  tg_row_cstr(&w, TG_PROBLEM_DETAIL, detail);
  tg_row_text(&w, TG_PROBLEM_EXCERPT, tg_excerpt(t->line, offset));
  return tg_row_end(&w);
}

tg_status tg_records_problem(tg_records *r, const tg_trouble *t) {
  if (tg_table_rows(r->problems) < r->max_problems) {
    const tg_status status = add_problem(r->problems, r, t);
    if (status != TG_OK) return status;
  }
  r->totals.problems++;
  if (t->tag != TG_NOT) r->tally[t->tag].problems++;
  return TG_OK;
}

/* Where the match of an entry begins in the source. */
static uint64_t order_offset(const tg_records *r, const tg_place *place) {
  uint64_t offset = 0;
  (void)tg_table_u64(r->tables[place->rule], place->row, TG_REC_OFFSET, &offset);
  return offset;
}

typedef struct keyed {
  uint64_t offset;
  tg_place place;
} keyed;

/* By offset; two records never begin at one place with one rule. */
static bool before(const keyed *x, const keyed *y) {
  return x->offset != y->offset ? x->offset < y->offset : x->place.rule < y->place.rule;
}

#define TG_SORT_NAME sort_keyed
#define TG_SORT_ITEM keyed
#define TG_SORT_BEFORE(x, y) before(x, y)
#include "base/sort.h"

tg_status tg_records_sort(tg_records *r, size_t from) {
  const tg_alloc *a = &r->alloc;
  size_t i = from + 1;
  while (i < r->n_order &&
         order_offset(r, &r->order[i - 1]) <= order_offset(r, &r->order[i]))
    i++;
  if (i >= r->n_order) return TG_OK;
  const size_t n = r->n_order - from;
  keyed *keys = tg_take(a, n, sizeof *keys);
  if (keys == NULL) return TG_ENOMEM;
  for (i = 0; i < n; i++)
    keys[i] = (keyed){order_offset(r, &r->order[from + i]), r->order[from + i]};
  sort_keyed(keys, n);
  for (i = 0; i < n; i++) r->order[from + i] = keys[i].place;
  tg_release(a, keys);
  return TG_OK;
}

void tg_records_first_line(tg_records *r) {
  for (size_t i = 0; i < r->n_tables; i++) {
    for (size_t row = 0; r->tables[i] != NULL && row < tg_table_rows(r->tables[i]); row++)
      (void)tg_table_set_u64(r->tables[i], row, TG_REC_LINE, 1);
  }
  for (size_t row = 0; row < tg_table_rows(r->problems); row++)
    (void)tg_table_set_u64(r->problems, row, TG_PROBLEM_LINE, 1);
}

size_t tg_records_count(const tg_records *r) { return r->n_order; }

tg_record tg_records_at(const tg_records *r, size_t i) {
  tg_record out = {0, 0, UINT32_MAX, UINT32_MAX};
  if (i >= r->n_order) return out;
  const tg_table *t = r->tables[r->order[i].rule];
  out.rule = r->order[i].rule;
  out.row = r->order[i].row;
  out.line = tg_row_get64(t, out.row, TG_REC_LINE); /* every record has both */
  out.offset = tg_row_get64(t, out.row, TG_REC_OFFSET);
  return out;
}

uint32_t tg_records_rule_at(const tg_records *r, size_t i) {
  return i < r->n_order ? r->order[i].rule : UINT32_MAX;
}

const tg_table *tg_records_table(const tg_records *r, size_t rule) {
  if (rule >= r->n_tables) return NULL;
  return r->tables[rule] != NULL ? r->tables[rule] : r->rules->empty[rule];
}

const tg_table *tg_records_problems(const tg_records *r) { return r->problems; }

const tg_table *tg_records_near(const tg_records *r) { return r->near; }

unsigned tg_records_digits(const tg_records *r, size_t rule, size_t field) {
  if (rule >= r->n_tables || field >= TG_TEMPLATE_FIELDS) return 0;
  return r->digits[rule * TG_TEMPLATE_FIELDS + field];
}

size_t tg_records_ledger_count(const tg_records *r) { return r->n_tally; }

tg_status tg_records_ledger(const tg_records *r, size_t i, tg_ledger *out) {
  if (i >= r->n_tally) return TG_ENOTFOUND;
  const tg_tally *t = &r->tally[i];
  *out = (tg_ledger){tg_tag_text(r->rules, i), t->occurrences, t->used, t->problems,
                     t->occurrences - t->used - t->problems, t->unread};
  return TG_OK;
}

/* True if a rule of the same format (the name up to the dot) has records. */
static bool format_found(const tg_records *r, size_t rule) {
  const char *name = r->rules->rules[rule].name;
  const size_t n = strcspn(name, ".");
  for (size_t k = 0; k < r->n_tables; k++) {
    const char *it = r->rules->rules[k].name;
    if (strncmp(it, name, n) == 0 && it[n] == name[n] &&
        tg_table_rows(tg_records_table(r, k)) > 0)
      return true;
  }
  return false;
}

uint64_t tg_records_unread(const tg_records *r, size_t *rule) {
  uint64_t sum = 0;
  uint64_t most = 0;
  *rule = SIZE_MAX;
  for (size_t i = 0; i < r->n_tally; i++) {
    const tg_tag *tag = &r->rules->tags[i];
    size_t known = TG_NOT;
    for (size_t k = 0; k < tag->n_rules && r->tally[i].unread > 0 && known == TG_NOT; k++) {
      const size_t at = tag->rules[k];
      if (r->rules->rules[at].n_values > 0 && format_found(r, at)) known = at;
    }
    if (known == TG_NOT) continue;
    sum += r->tally[i].unread;
    if (r->tally[i].unread > most) {
      most = r->tally[i].unread;
      *rule = known;
    }
  }
  return sum;
}

tg_source_totals tg_records_totals(const tg_records *r) { return r->totals; }

const tg_ruleset *tg_records_rules(const tg_records *r) { return r->rules; }

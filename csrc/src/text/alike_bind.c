/* alike_bind.c - the record of a line that is like one before, without a match.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "alike.h"
#include "base/spans.h"

enum { MOST_KEPT = 9 }; /* digits behind the point of a decimal number */

bool tg_alike_place_of(const tg_pattern *a, const size_t *starts, size_t at,
                       tg_alike_place *place) {
  size_t part = 0;
  while (part + 1 < a->n_parts && starts[part + 1] <= at) part++;
  const size_t from = part > 0 ? a->end[part - 1] : 0;
  *place = (tg_alike_place){(uint8_t)part, (uint8_t)(at - starts[part])};
  return at - starts[part] <= a->end[part] - from;
}

/* Part `i` of the pattern. */
static tg_str part_of(const tg_pattern *a, size_t i) {
  const size_t from = i > 0 ? a->end[i - 1] : 0;
  return (tg_str){a->text + from, a->end[i] - from};
}

/* Whether the shorter of the two ends the other one. */
static bool end_alike(tg_str x, tg_str y) {
  const size_t n = x.n < y.n ? x.n : y.n;
  return memcmp(x.p + x.n - n, y.p + y.n - n, n) == 0;
}

static bool begin_alike(tg_str x, tg_str y) { return memcmp(x.p, y.p, x.n < y.n ? x.n : y.n) == 0; }

/* Whether bytes [from, to) of the word can lie over the run behind part `i`. */
static bool lies_over(const tg_pattern *a, size_t i, tg_str word, size_t from, size_t to) {
  return end_alike((tg_str){word.p, from}, part_of(a, i)) &&
         begin_alike((tg_str){word.p + to, word.n - to}, part_of(a, i + 1));
}

bool tg_alike_overlaps(const tg_pattern *a, tg_str word) {
  for (size_t i = 0; a->hex != 0 && i + 1 < a->n_parts; i++) {
    if ((a->hex >> i & 1) == 0) continue;
    for (size_t from = 0; from < word.n; from++)
      for (size_t to = from; to < word.n && tg_is_hex(word.p[to]); to++)
        if (lies_over(a, i, word, from, to + 1)) return true;
  }
  return false;
}

/* Literal `k` of the template. */
static tg_str literal_of(const tg_template *t, uint32_t k) {
  return (tg_str){t->pool + t->alts[k].at, t->alts[k].n};
}

/* True where digits of the literals decide: they have some but in "0x", or can lie over a
 * hexadecimal run. */
static bool literals_look(const tg_pattern *a, const tg_template *t, const tg_inst *in) {
  for (uint32_t i = 0; i < in->alts; i++) {
    const tg_str lit = literal_of(t, in->alt + i);
    if (tg_alike_overlaps(a, lit)) return true;
    for (size_t k = 0; k < lit.n; k++)
      if (tg_is_digit(lit.p[k]) && !(lit.p[k] == '0' && k + 1 < lit.n && lit.p[k + 1] == 'x'))
        return true;
  }
  return false;
}

/* Whether one of the runs [from, to) that can be asked for by an item is hexadecimal. */
static bool any_hex(const tg_pattern *a, size_t from, size_t to) {
  for (size_t i = from; i < to; i++)
    if ((a->hex >> i & 1) != 0) return true;
  return false;
}

/* True where a number of decimal digits could begin at one of these hexadecimal runs: blanks stand
 * before both, or the text before the run ends like the literal before the number. */
static bool may_begin_at_hex(const tg_pattern *a, const tg_template *t, const tg_inst *in,
                             size_t from, size_t to) {
  bool blanks = false, must = false;
  for (; in > t->inst && (in[-1].op == TG_OP_BLANK || in[-1].op == TG_OP_BLANKS); in--) {
    blanks = true;
    must = must || in[-1].op == TG_OP_BLANK;
  }
  const bool named = in > t->inst && in[-1].op == TG_OP_LITERAL;
  for (size_t i = from; i < to; i++) {
    const tg_str part = part_of(a, i);
    if ((a->hex >> i & 1) == 0) continue;
    if (blanks && (part.n == 0 || tg_is_blank(part.p[part.n - 1]))) return true;
    if (!must && (!named || end_alike(literal_of(t, in[-1].alt), part))) return true;
  }
  return false;
}

/* True where digits of a line decide how this item matches. Items before the tag see the runs
 * before it, those behind it the others. */
static bool item_looks(const tg_pattern *a, const tg_template *t, const tg_inst *in) {
  const bool before = (size_t)(in - t->inst) < t->tag_inst;
  const size_t from = before ? 0 : a->hits[0].part;
  const size_t to = before ? a->hits[0].part : a->n_parts - 1u;
  switch (in->op) {
    case TG_OP_LITERAL:
    case TG_OP_CHOICE:
      return literals_look(a, t, in);
    case TG_OP_CLASS:
    case TG_OP_QUOTED:
      return true;
    case TG_OP_OPTION: /* its first byte decides */
      return in->set != TG_BY_LITERAL && any_hex(a, from, to);
    case TG_OP_NUMBER:
      if (in->width > 0) return true;
      if (in->type == TG_FIELD_UINT || in->type == TG_FIELD_DEC)
        return may_begin_at_hex(a, t, in, from, to);
      /* A text in front of it could end inside a run. */
      return (in->type != TG_FIELD_HEX && in->type != TG_FIELD_HEXANY) || in == t->inst ||
             in[-1].op == TG_OP_TEXT;
    default:
      return false;
  }
}

/* The bytes that an optional part can begin with hold all digits or none. */
static bool takes_all_digits(const tg_template *t, const tg_inst *in) {
  size_t n = 0;
  if (in->op != TG_OP_OPTION || in->set == TG_BY_LITERAL) return true;
  for (unsigned c = '0'; c <= '9'; c++) n += tg_bytes_has(&t->sets[in->set], (uint8_t)c);
  return n == 0 || n == 10;
}

/* True if the digits of a line do not decide whether it matches. */
static bool ignores_digits(const tg_pattern *a, const tg_template *t) {
  if (!t->straight || t->tag_inst == SIZE_MAX) return false;
  for (size_t i = 0; i < t->n_inst; i++)
    if (item_looks(a, t, &t->inst[i]) || !takes_all_digits(t, &t->inst[i])) return false;
  return true;
}

/* A line whose record is bound to its pattern: where a walk along the template stands. */
typedef struct binding {
  tg_pattern *a;
  const tg_template *t;
  const size_t *starts;
  const uint8_t *p;
  size_t n, pos;
} binding;

/* The run that begins at the walk's place, behind which it goes; false where none does. */
static bool bind_run(binding *b, tg_alike_place *place) {
  if (!tg_alike_place_of(b->a, b->starts, b->pos, place)) return false;
  if (place->part + 1 == b->a->n_parts || place->at != part_of(b->a, place->part).n) return false;
  b->pos = b->starts[place->part + 1];
  return true;
}

/* A decimal number with a power of ten, and its part behind the point. */
static bool bind_decimal(binding *b, const tg_inst *in, tg_alike_field *field) {
  const size_t part = field->from.part + 1u;
  field->point = part + 1 < b->a->n_parts && part_of(b->a, part).n == 1 && b->p[b->pos] == '.';
  if (field->point) {
    if ((b->a->hex >> part & 1) != 0) return false;
    b->pos = b->starts[part + 1];
  }
  if (in->field == UINT32_MAX) return true;
  const tg_template_field *f = &b->t->fields[in->field];
  if (f->as_printed || f->exp10 > 0 || f->exp10 < -MOST_KEPT) return false;
  field->kept = (uint8_t)-f->exp10;
  field->kind = TG_ALIKE_DECIMAL;
  return true;
}

static bool bind_number(binding *b, const tg_inst *in, tg_alike_field *field) {
  if (!bind_run(b, &field->from)) return false;
  const bool hex = (b->a->hex >> field->from.part & 1) != 0;
  const bool on = b->pos < b->n && tg_is_hex(b->p[b->pos]); /* letters behind the digits */
  field->kind = TG_ALIKE_RUN;
  if (in->type == TG_FIELD_UINT) return !hex;
  if (in->type == TG_FIELD_DEC) return !hex && bind_decimal(b, in, field);
  if (!hex) field->kind = TG_ALIKE_HEX;
  return !on;
}

static bool bind_span(const binding *b, tg_span span, tg_alike_field *field) {
  field->kind = TG_ALIKE_SPAN;
  return span.start != SIZE_MAX && tg_alike_place_of(b->a, b->starts, span.start, &field->from) &&
         tg_alike_place_of(b->a, b->starts, span.end, &field->to);
}

static bool bind_word(binding *b, const tg_inst *in, tg_alike_field *field) {
  const size_t from = b->pos;
  while (b->pos < b->n && !tg_is_blank(b->p[b->pos])) b->pos++;
  return in->alts == 0 && b->pos > from && bind_span(b, (tg_span){from, b->pos}, field);
}

/* Whether the literal stands here, inside one part. */
static bool stands(const binding *b, tg_str lit) {
  return b->n - b->pos >= lit.n && memcmp(b->p + b->pos, lit.p, lit.n) == 0;
}

static bool bind_choice(binding *b, const tg_inst *in, tg_alike_field *field) {
  for (uint32_t i = 0; i < in->alts; i++) {
    const tg_str lit = literal_of(b->t, in->alt + i);
    if (!stands(b, lit)) continue;
    b->pos += lit.n;
    return bind_span(b, (tg_span){b->pos - lit.n, b->pos}, field);
  }
  return false;
}

/* An optional part that is not there leaves its fields without a value; the instruction to go on
 * with. */
static const tg_inst *bind_option(binding *b, const tg_inst *in) {
  const tg_inst *rest = b->t->inst + in->skip;
  const bool taken = in->set == TG_BY_LITERAL
                         ? stands(b, literal_of(b->t, in[1].alt))
                         : b->pos < b->n && tg_bytes_has(&b->t->sets[in->set], b->p[b->pos]);
  if (taken) return in + 1;
  for (in++; in < rest; in++)
    if (in->field != UINT32_MAX) b->a->fields[in->field].kind = TG_ALIKE_NOTHING;
  return rest;
}

/* Binds the kept fields of the template to places of the line that it matched; false where one is
 * neither a text nor a whole run. */
static bool bind_fields(binding *b, const tg_alike_record *record) {
  b->pos = record->start;
  for (const tg_inst *in = b->t->inst; in->op != TG_OP_MATCH;) {
    tg_alike_field field = {.kind = TG_ALIKE_SPAN};
    bool ok = true, value = true;
    switch (in->op) {
      case TG_OP_OPTION:
        in = bind_option(b, in);
        continue;
      case TG_OP_LITERAL:
        b->pos += b->t->alts[in->alt].n;
        value = false;
        break;
      case TG_OP_BLANK:
        b->pos++;
        value = false;
        break;
      case TG_OP_BLANKS:
        while (b->pos < b->n && tg_is_blank(b->p[b->pos])) b->pos++;
        value = false;
        break;
      case TG_OP_END:
        value = false;
        break;
      case TG_OP_NUMBER:
        ok = bind_number(b, in, &field);
        break;
      case TG_OP_WORD:
        ok = bind_word(b, in, &field);
        break;
      case TG_OP_CHOICE:
        ok = bind_choice(b, in, &field);
        break;
      case TG_OP_TEXT: /* its end is known where it is kept */
        ok = in->field != UINT32_MAX && bind_span(b, record->fields[in->field], &field);
        if (ok) b->pos = record->fields[in->field].end;
        break;
      default:
        return false;
    }
    if (!ok) return false;
    if (value && in->field != UINT32_MAX) b->a->fields[in->field] = field;
    in++;
  }
  return b->pos == record->end;
}

void tg_alike_bind(tg_pattern *a, const tg_ruleset *set, const size_t *starts, const uint8_t *p,
                   size_t n, const tg_alike_record *record) {
  if (record->rule == TG_NOT || a->n_hits != 1) return;
  const tg_tag *tag = &set->tags[a->needle[0]];
  const tg_template *t = set->rules[record->rule].t;
  for (size_t k = 0; k < tag->n_rules; k++) {
    if (!ignores_digits(a, set->rules[tag->rules[k]].t)) return;
    if (tag->rules[k] == record->rule) break;
  }
  if (t->n_fields > TG_ALIKE_FIELDS || !ignores_digits(a, t)) return;
  binding b = {.a = a, .t = t, .starts = starts, .p = p, .n = n};
  a->rule = (uint32_t)record->rule;
  a->n_fields = (uint8_t)t->n_fields;
  a->direct = tg_alike_place_of(a, starts, record->start, &a->start) &&
              tg_alike_place_of(a, starts, record->end, &a->stop) && bind_fields(&b, record);
}

/* Decimal digits of this value, read as hexadecimal ones; false where they are too many. */
static bool read_as_hex(uint64_t digits, uint64_t *value) {
  uint64_t v = 0;
  unsigned shift = 0;
  for (; digits > 0 && shift < 64; shift += 4, digits /= 10) v |= digits % 10 << shift;
  *value = v;
  return digits == 0;
}

/* Where the run behind part `i` begins. */
static size_t run_begin(const tg_alike_line *line, size_t i) {
  return line->starts[i] + part_of(line->pattern, i).n;
}

/* The value in 10^-kept; false where more digits are printed, or it might not fit. */
static bool read_decimal(const tg_alike_line *line, const tg_alike_field *field, uint64_t *value) {
  static const uint64_t power[] = {1,      10,      100,      1000,      10000,
                                   100000, 1000000, 10000000, 100000000, 1000000000};
  const size_t whole = field->from.part, part = whole + 1;
  const size_t size = line->starts[part] - run_begin(line, whole);
  const size_t digits = field->point ? line->starts[part + 1] - run_begin(line, part) : 0;
  if (digits > field->kept || size + field->kept >= TG_SAFE_DIGITS) return false;
  *value = line->values[whole] * power[field->kept];
  if (field->point) *value += line->values[part] * power[field->kept - digits];
  return true;
}

/* A field that is no run by itself: its span, or its number; false where that does not fit. */
static bool read_field(const tg_alike_line *line, const tg_alike_field *field, tg_span *span,
                       uint64_t *number, bool *known) {
  *known = field->kind == TG_ALIKE_HEX || field->kind == TG_ALIKE_DECIMAL;
  if (field->kind == TG_ALIKE_HEX) return read_as_hex(line->values[field->from.part], number);
  if (field->kind == TG_ALIKE_DECIMAL) return read_decimal(line, field, number);
  *span = (tg_span){SIZE_MAX, SIZE_MAX};
  if (field->kind == TG_ALIKE_SPAN)
    *span = (tg_span){tg_alike_at(line, field->from), tg_alike_at(line, field->to)};
  return true;
}

bool tg_alike_values(const tg_alike_line *line, tg_span *spans, uint64_t *numbers,
                     uint64_t *known) {
  const tg_pattern *a = line->pattern;
  uint64_t found = 0;
  if (!line->fits) return false;
  for (size_t i = 0; i < a->n_fields; i++) {
    const tg_alike_field *field = &a->fields[i];
    bool number = true;
    if (field->kind == TG_ALIKE_RUN) {
      numbers[i] = line->values[field->from.part];
    } else if (!read_field(line, field, &spans[i], &numbers[i], &number)) {
      return false;
    }
    found |= (uint64_t)number << i;
  }
  *known = found;
  return true;
}

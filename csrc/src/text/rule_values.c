/* rule_values.c - the measured values of a rule, units, powers of ten.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "base/mem.h"
#include "ruleset.h"
#include "tickgauge/number.h"

char *tg_copy_text(const tg_alloc *a, const char *s, size_t n) {
  char *copy = n < SIZE_MAX ? tg_take(a, n + 1, 1) : NULL;
  if (copy == NULL) return NULL;
  memcpy(copy, s, n);
  copy[n] = '\0';
  return copy;
}

typedef struct cursor {
  const char *text, *p;
  const char *part; /* for messages: "values" */
  tg_rule *rule;
  tg_error *err;
} cursor;

static tg_status wrong(const cursor *c, const char *expected) {
  return tg_fail(c->err, TG_ESYNTAX, (uint64_t)(c->p - c->text), 0,
                 "rule '%.60s', %s, column %zu: %s", c->rule->name, c->part,
                 (size_t)(c->p - c->text), expected);
}

static void skip_blanks(cursor *c) {
  while (*c->p != '\0' && tg_is_blank((uint8_t)*c->p)) c->p++;
}

static bool take(cursor *c, char byte) {
  skip_blanks(c);
  if (*c->p != byte) return false;
  c->p++;
  skip_blanks(c);
  return true;
}

static bool word_byte(char c) {
  return tg_is_digit((uint8_t)c) || c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* The end of the identifier at `p`; a metric's name may also hold '-', '/' and '.'. */
static const char *word_end(const char *p, bool metric) {
  while (word_byte(*p) ||
         (metric && (*p == '-' || *p == '/' || *p == '.' || (uint8_t)*p >= 0x80)))
    p++;
  return p;
}

static size_t field_of(const tg_rule *rule, const char *name, size_t n) {
  const tg_template *t = rule->t;
  for (size_t i = 0; i < t->n_fields; i++) {
    const char *field = (const char *)t->pool + t->fields[i].name;
    if (strlen(field) == n && memcmp(field, name, n) == 0) return i;
  }
  return TG_NOT;
}

static bool is_numeric(tg_field_type type) {
  return type != TG_FIELD_WORD && type != TG_FIELD_TEXT && type != TG_FIELD_QUOTED &&
         type != TG_FIELD_CHOICE;
}

tg_status tg_rule_exponents(tg_rule *rule, const char *text, bool lenient, tg_error *err) {
  cursor c = {text, text, "exponents", rule, err};
  if (text == NULL) return TG_OK;
  skip_blanks(&c);
  while (*c.p != '\0') {
    const char *end = word_end(c.p, false);
    size_t field = field_of(rule, c.p, (size_t)(end - c.p));
    if (field == TG_NOT && !lenient) return wrong(&c, "no field has this name");
    tg_field_type type = field == TG_NOT ? TG_FIELD_DEC : rule->t->fields[field].type;
    if (type != TG_FIELD_DEC && type != TG_FIELD_EXP)
      return wrong(&c, "only dec and exp fields have a power of ten");
    c.p = end;
    if (!take(&c, '=')) return wrong(&c, "expected '=' and a power of ten");
    const char *to = c.p + (*c.p == '-' || *c.p == '+');
    while (tg_is_digit((uint8_t)*to)) to++;
    int64_t value;
    tg_status status = tg_parse_i64((const uint8_t *)c.p, (const uint8_t *)to, &value);
    if (status != TG_OK || value < -18 || value > 18)
      return wrong(&c, "expected a power of ten from -18 to 18");
    c.p = to;
    if (field != TG_NOT) {
      rule->t->fields[field].exp10 = (int32_t)value;
      rule->t->fields[field].as_printed = false;
    }
    if (!take(&c, ',') && *c.p != '\0') return wrong(&c, "expected ','");
  }
  return TG_OK;
}

/* [integer '*'] field; `*field` TG_NOT where the rule has no such field. */
static tg_status parse_term(cursor *c, tg_value_term *term) {
  int64_t factor = 1;
  if (tg_is_digit((uint8_t)*c->p)) {
    const char *end = c->p;
    while (tg_is_digit((uint8_t)*end)) end++;
    if (tg_parse_i64((const uint8_t *)c->p, (const uint8_t *)end, &factor) != TG_OK)
      return wrong(c, "the factor does not fit 63 bits");
    c->p = end;
    if (!take(c, '*')) return wrong(c, "expected '*' and a field");
  }
  const char *end = word_end(c->p, false);
  if (end == c->p || tg_is_digit((uint8_t)*c->p)) return wrong(c, "expected a field");
  term->factor = factor;
  term->field = field_of(c->rule, c->p, (size_t)(end - c->p));
  if (term->field != TG_NOT && !is_numeric(c->rule->t->fields[term->field].type))
    return wrong(c, "this field is no number");
  c->p = end;
  return TG_OK;
}

/* Brings all factors to the smallest power of ten among the fields. */
static tg_status align_terms(cursor *c, tg_value *v) {
  const tg_template_field *fields = c->rule->t->fields;
  v->exp10 = fields[v->terms[0].field].exp10;
  for (size_t i = 1; i < v->n_terms; i++) {
    int32_t e = fields[v->terms[i].field].exp10;
    if (e < v->exp10) v->exp10 = e;
  }
  for (size_t i = 0; i < v->n_terms; i++) {
    for (int32_t e = fields[v->terms[i].field].exp10; e > v->exp10; e--) {
      if (v->terms[i].factor > INT64_MAX / 10)
        return wrong(c, "the powers of ten of these fields are too far apart");
      v->terms[i].factor *= 10;
    }
  }
  return TG_OK;
}

/* term { '+' term }; `*known` false where a field is not this rule's. */
static tg_status parse_sum(const tg_alloc *a, cursor *c, tg_value *v, bool *known) {
  const char *from = c->p;
  do {
    tg_value_term term = {1, TG_NOT};
    tg_status status = parse_term(c, &term);
    if (status != TG_OK) return status;
    *known = *known && term.field != TG_NOT;
    status = tg_reserve(a, &v->terms, &v->cap_terms, v->n_terms + 1, sizeof *v->terms);
    if (status != TG_OK) return status;
    v->terms[v->n_terms++] = term;
  } while (take(c, '+'));
  if (v->metric == NULL) {
    size_t n = (size_t)(c->p - from);
    bool single = v->n_terms == 1 && v->terms[0].factor == 1;
    while (n > 0 && tg_is_blank((uint8_t)from[n - 1])) n--;
    v->metric = single ? tg_copy_text(a, from, n) : tg_copy_text(a, "value", 5);
    if (v->metric == NULL) return TG_ENOMEM;
  }
  return *known ? align_terms(c, v) : TG_OK;
}

static void value_free(const tg_alloc *a, tg_value *v) {
  tg_release(a, v->metric);
  tg_release(a, v->terms);
}

/* metric '=' sum, or a sum alone. */
static tg_status parse_value(const tg_alloc *a, cursor *c, bool lenient) {
  tg_value v = {.n_terms = 0};
  bool known = true;
  const char *end = word_end(c->p, true);
  cursor ahead = *c;
  ahead.p = end;
  tg_status status = TG_OK;
  if (end > c->p && take(&ahead, '=')) {
    v.metric = tg_copy_text(a, c->p, (size_t)(end - c->p));
    if (v.metric == NULL) return TG_ENOMEM;
    c->p = ahead.p;
  }
  const char *at = c->p;
  status = parse_sum(a, c, &v, &known);
  if (status != TG_OK) goto fail;
  if (!known && !lenient) {
    c->p = at;
    status = wrong(c, "no field of the template has this name");
  }
  if (status != TG_OK || !known) goto fail;
  tg_rule *rule = c->rule;
  status =
      tg_reserve(a, &rule->values, &rule->cap_values, rule->n_values + 1, sizeof *rule->values);
  if (status != TG_OK) goto fail;
  rule->values[rule->n_values++] = v;
  return TG_OK;
fail:
  value_free(a, &v);
  return status;
}

tg_status tg_rule_values(const tg_alloc *a, tg_rule *rule, const char *text, bool lenient,
                         tg_error *err) {
  cursor c = {text, text, "values", rule, err};
  if (text == NULL) return TG_OK;
  skip_blanks(&c);
  while (*c.p != '\0') {
    tg_status status = parse_value(a, &c, lenient);
    if (status != TG_OK) return status;
    if (!take(&c, ',') && *c.p != '\0') return wrong(&c, "expected ',' or '+'");
  }
  return TG_OK;
}

tg_status tg_rule_unit(const tg_alloc *a, tg_rule *rule, const char *text, bool lenient,
                       tg_error *err) {
  cursor c = {text, text, "unit", rule, err};
  rule->unit_field = TG_NOT;
  if (text == NULL) return TG_OK;
  size_t n = strlen(text);
  if (n > 2 && text[0] == '{' && text[n - 1] == '}') {
    rule->unit_field = field_of(rule, text + 1, n - 2);
    c.p++;
    if (rule->unit_field == TG_NOT)
      return lenient ? TG_OK : wrong(&c, "no field of the template has this name");
    if (is_numeric(rule->t->fields[rule->unit_field].type))
      return wrong(&c, "this field is a number");
    return TG_OK;
  }
  rule->unit = tg_copy_text(a, text, n);
  return rule->unit != NULL ? TG_OK : TG_ENOMEM;
}

/* template_parse.c - the grammar of line templates. SPDX-License-Identifier: BSD-3-Clause */
#include "template_parse.h"
#include "base/try.h"

#include <string.h>

#include "base/mem.h"

typedef struct parser {
  tg_template *t;
  const uint8_t *text;
  size_t at, end;
  size_t open; /* instruction of the open optional part, SIZE_MAX: none */
  size_t open_column;
  tg_error *err;
} parser;

static const struct {
  const char *name;
  uint8_t op, type;
  bool column; /* may be followed by a width */
} types[] = {
    {"uint", TG_OP_NUMBER, TG_FIELD_UINT, true},
    {"int", TG_OP_NUMBER, TG_FIELD_INT, true},
    {"hex", TG_OP_NUMBER, TG_FIELD_HEX, true},
    {"HEX", TG_OP_NUMBER, TG_FIELD_HEXANY, true},
    {"dec", TG_OP_NUMBER, TG_FIELD_DEC, true},
    {"exp", TG_OP_NUMBER, TG_FIELD_EXP, false},
    {"digit", TG_OP_NUMBER, TG_FIELD_DIGIT, false},
    {"grouped", TG_OP_NUMBER, TG_FIELD_GROUPED, true},
    {"size", TG_OP_NUMBER, TG_FIELD_SIZE, false},
    {"duration", TG_OP_NUMBER, TG_FIELD_DURATION, false},
    {"word", TG_OP_WORD, TG_FIELD_WORD, false},
    {"text", TG_OP_TEXT, TG_FIELD_TEXT, false},
    {"quoted", TG_OP_QUOTED, TG_FIELD_QUOTED, false},
};

/* Columns every table of records has; no field may take their names. */
static const char *const taken_names[] = {"line", "offset", "channel", "flags", "section"};

static tg_status bad(parser *ps, size_t column, const char *message) {
  return tg_fail(ps->err, TG_ESYNTAX, column, 0, "column %zu: %s", column, message);
}

tg_status tg_template_pool(tg_template *t, const uint8_t *p, size_t n, uint32_t *at) {
  tg_status status = tg_reserve(&t->alloc, &t->pool, &t->cap_pool, t->n_pool + n + 1, 1);
  if (status != TG_OK) return status;
  if (n > 0) memcpy(t->pool + t->n_pool, p, n);
  *at = (uint32_t)t->n_pool;
  t->n_pool += n;
  return TG_OK;
}

tg_status tg_template_alt(tg_template *t, uint32_t at, uint32_t n) {
  tg_status status = tg_reserve(&t->alloc, &t->alts, &t->cap_alts, t->n_alts + 1, sizeof *t->alts);
  if (status != TG_OK) return status;
  t->alts[t->n_alts++] = (tg_literal){at, n};
  return TG_OK;
}

tg_status tg_template_set(tg_template *t, const tg_bytes *set, uint32_t *at) {
  const tg_status status =
      tg_reserve(&t->alloc, &t->sets, &t->cap_sets, t->n_sets + 1, sizeof *t->sets);
  if (status != TG_OK) return status;
  *at = (uint32_t)t->n_sets;
  t->sets[t->n_sets++] = *set;
  return TG_OK;
}

/* Appends an instruction; the rest of it is zero, without field, plane and cache. */
static tg_status emit(parser *ps, tg_op op, size_t column, tg_inst **out) {
  tg_template *t = ps->t;
  tg_status status = tg_reserve(&t->alloc, &t->inst, &t->cap_inst, t->n_inst + 1, sizeof *t->inst);
  if (status != TG_OK) return status;
  tg_inst *in = &t->inst[t->n_inst++];
  *in = (tg_inst){.op = (uint8_t)op,
                  .optional = ps->open != SIZE_MAX,
                  .column = (uint32_t)column,
                  .field = UINT32_MAX,
                  .plane = TG_NO_PLANE,
                  .cache = TG_NO_PLANE};
  if (out != NULL) *out = in;
  return TG_OK;
}

/* The length of the micro sign at `p` (U+00B5 or U+03BC in UTF-8), 0 if there is none. */
static size_t micro(const uint8_t *p, const uint8_t *end) {
  if (end - p < 2) return 0;
  return (p[0] == 0xc2 && p[1] == 0xb5) || (p[0] == 0xce && p[1] == 0xbc) ? 2 : 0;
}

/* Adds the alternative [p, end) with its micro sign, if it has one, in both spellings. */
static tg_status add_alternative(tg_template *t, const uint8_t *p, const uint8_t *end) {
  uint32_t at;
  uint32_t n = (uint32_t)(end - p);
  TG_TRY(tg_template_pool(t, p, n, &at));
  TG_TRY(tg_template_alt(t, at, n));
  const uint8_t *mu = p;
  while (mu < end && micro(mu, end) == 0) mu++;
  if (mu == end) return TG_OK;
  TG_TRY(tg_template_pool(t, p, n, &at));
  const uint8_t *other = mu[0] == 0xc2 ? (const uint8_t *)"\xce\xbc" : (const uint8_t *)"\xc2\xb5";
  memcpy(t->pool + at + (mu - p), other, 2);
  return tg_template_alt(t, at, n);
}

/* Puts a literal byte (or a micro sign) behind the item before it. */
static tg_status put_literal(parser *ps, size_t column, size_t n) {
  tg_template *t = ps->t;
  const uint8_t *p = ps->text + column;
  tg_inst *in = t->n_inst > 0 ? &t->inst[t->n_inst - 1] : NULL;
  tg_status status = TG_OK;
  if (micro(p, ps->text + ps->end) != 0) {
    status = emit(ps, TG_OP_CHOICE, column, &in);
    if (status != TG_OK) return status;
    in->alt = (uint32_t)t->n_alts;
    status = add_alternative(t, p, p + 2);
    t->inst[t->n_inst - 1].alts = 2;
    return status;
  }
  bool joins = in != NULL && in->op == TG_OP_LITERAL && !tg_is_blank(*p) &&
               in->optional == (ps->open != SIZE_MAX) && !tg_is_blank(t->pool[t->n_pool - 1]) &&
               !(ps->open != SIZE_MAX && ps->open == t->n_inst) &&
               t->alts[in->alt].at + t->alts[in->alt].n == t->n_pool;
  uint32_t at;
  status = tg_template_pool(t, p, n, &at);
  if (status != TG_OK) return status;
  if (joins) {
    t->alts[in->alt].n += (uint32_t)n;
    return TG_OK;
  }
  status = emit(ps, TG_OP_LITERAL, column, &in);
  if (status != TG_OK) return status;
  in->alt = (uint32_t)t->n_alts;
  in->alts = 1;
  return tg_template_alt(t, at, (uint32_t)n);
}

/* Longest first, and stable, so that "usec|us" and "us|usec" are the same choice. */
static void sort_alternatives(tg_literal *alt, size_t n) {
  for (size_t i = 1; i < n; i++) {
    tg_literal key = alt[i];
    size_t k = i;
    for (; k > 0 && alt[k - 1].n < key.n; k--) alt[k] = alt[k - 1];
    alt[k] = key;
  }
}

static tg_status parse_choice(parser *ps, size_t from, size_t to, tg_inst *in) {
  tg_template *t = ps->t;
  in->op = TG_OP_CHOICE;
  in->type = TG_FIELD_CHOICE;
  in->alt = (uint32_t)t->n_alts;
  size_t self = (size_t)(in - t->inst);
  for (size_t a = from; a <= to;) {
    const uint8_t *bar = memchr(ps->text + a, '|', to - a);
    size_t end = bar != NULL ? (size_t)(bar - ps->text) : to;
    if (end == a) return bad(ps, a, "an alternative is empty");
    tg_status status = add_alternative(t, ps->text + a, ps->text + end);
    if (status != TG_OK) return status;
    a = end + 1;
  }
  in = &t->inst[self];
  in->alts = (uint32_t)t->n_alts - in->alt;
  sort_alternatives(t->alts + in->alt, in->alts);
  return TG_OK;
}

/* "grouped11", "uint8": the width behind the word; false where it is no width. */
static bool parse_width(const uint8_t *p, size_t n, uint16_t *width) {
  unsigned value = 0;
  if (n == 0 || n > 2) return false;
  for (size_t i = 0; i < n; i++) {
    if (!tg_is_digit(p[i])) return false;
    value = value * 10 + (unsigned)(p[i] - '0');
  }
  *width = (uint16_t)value;
  return value >= 1;
}

static tg_status parse_type(parser *ps, size_t from, size_t to, tg_inst *in) {
  const uint8_t *p = ps->text + from;
  size_t n = to - from;
  for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
    size_t len = strlen(types[i].name);
    bool same = n >= len && memcmp(p, types[i].name, len) == 0;
    if (!same) continue;
    if (n > len && !(types[i].column && parse_width(p + len, n - len, &in->width))) continue;
    in->op = types[i].op;
    in->type = types[i].type;
    return TG_OK;
  }
  if (n > 0 && memchr(p, '|', n) != NULL) return parse_choice(ps, from, to, in);
  return bad(ps, from,
             "unknown type (uint int hex HEX dec exp grouped size duration digit word text quoted "
             "a|b|c [a-z]; uint8: in a column of 8)");
}

/* "[a-z_]", "[^ 0-9]": one byte of a set; a ']' stands first, a '-' first or last. `from` is behind
 * the '['; `*to` the place of the ']'. */
static tg_status parse_class(parser *ps, size_t from, size_t *to, tg_inst *in) {
  const uint8_t *p = ps->text;
  const bool not = from < ps->end && p[from] == '^';
  tg_bytes set = {{0}};
  size_t k = from + not;
  for (const size_t first = k; k < ps->end && (k == first || p[k] != ']'); k++) {
    const bool range = k + 2 < ps->end && p[k + 1] == '-' && p[k + 2] != ']';
    if (range && p[k + 2] < p[k]) return bad(ps, k, "the range ends before it begins");
    for (unsigned c = p[k]; c <= p[range ? k + 2 : k]; c++) tg_bytes_add(&set, (uint8_t)c);
    k += range ? 2 : 0;
  }
  if (k >= ps->end) return bad(ps, from - 1, "the class is not closed by ']'");
  for (size_t i = 0; not && i < 4; i++) set.bits[i] = ~set.bits[i];
  *to = k;
  in->op = TG_OP_CLASS;
  in->type = TG_FIELD_CHOICE;
  return tg_template_set(ps->t, &set, &in->set);
}

static bool is_name(uint8_t c, bool first) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         (!first && tg_is_digit(c));
}

/* Keeps the field under its name; '_' is matched and not kept. */
static tg_status keep_field(parser *ps, size_t from, size_t to, size_t inst) {
  tg_template *t = ps->t;
  const uint8_t *name = ps->text + from;
  size_t n = to - from;
  if (n == 1 && *name == '_') return TG_OK;
  for (size_t i = 0; i < sizeof taken_names / sizeof taken_names[0]; i++) {
    if (strlen(taken_names[i]) == n && memcmp(taken_names[i], name, n) == 0) {
      return bad(ps, from, "this name is a column of every record");
    }
  }
  for (size_t i = 0; i < t->n_fields; i++) {
    const char *other = (const char *)t->pool + t->fields[i].name;
    if (strlen(other) == n && memcmp(other, name, n) == 0) {
      return bad(ps, from, "this name is taken");
    }
  }
  if (t->n_fields == TG_TEMPLATE_FIELDS) {
    return tg_fail(ps->err, TG_ELIMIT, from, 0, "column %zu: more than %d fields", from,
                   TG_TEMPLATE_FIELDS);
  }
  tg_status status =
      tg_reserve(&t->alloc, &t->fields, &t->cap_fields, t->n_fields + 1, sizeof *t->fields);
  TG_TRY(status);
  uint32_t at, nul;
  TG_TRY(tg_template_pool(t, name, n, &at));
  TG_TRY(tg_template_pool(t, (const uint8_t *)"", 1, &nul));
  tg_field_type type = (tg_field_type)t->inst[inst].type;
  bool decimal = type == TG_FIELD_DEC || type == TG_FIELD_EXP;
  t->fields[t->n_fields] = (tg_template_field){at, type, decimal ? TG_DIGITS : 0, decimal,
                                              false};
  t->inst[inst].field = (uint32_t)t->n_fields++;
  return TG_OK;
}

/* '{' name ':' type '}' */
static tg_status parse_field(parser *ps) {
  size_t open = ps->at;
  size_t from = open + 1;
  size_t colon = from;
  while (colon < ps->end && is_name(ps->text[colon], colon == from)) colon++;
  if (colon == ps->end) return bad(ps, open, "the field is not closed by '}'");
  if (colon == from) return bad(ps, from, "a field begins with its name");
  if (ps->text[colon] != ':') return bad(ps, colon, "expected ':' and a type");
  tg_inst *in = NULL;
  tg_status status = emit(ps, TG_OP_NUMBER, open, &in);
  if (status != TG_OK) return status;
  size_t self = ps->t->n_inst - 1;
  size_t type = colon + 1, to = type;
  const bool class = type < ps->end && ps->text[type] == '[';
  if (class) status = parse_class(ps, type + 1, &to, in);
  if (status != TG_OK) return status;
  const uint8_t *close = memchr(ps->text + to, '}', ps->end - to);
  if (close == NULL) return bad(ps, open, "the field is not closed by '}'");
  if (class && ps->text + to + 1 != close) return bad(ps, to + 1, "expected '}' behind the class");
  to = (size_t)(close - ps->text);
  if (!class) status = parse_type(ps, type, to, in);
  if (status == TG_OK) status = keep_field(ps, from, colon, self);
  ps->at = to + 1;
  return status;
}

static tg_status open_option(parser *ps) {
  if (ps->open != SIZE_MAX) return bad(ps, ps->at, "optional parts do not nest");
  tg_status status = emit(ps, TG_OP_OPTION, ps->at, NULL);
  ps->open = ps->t->n_inst;
  ps->open_column = ps->at++;
  return status;
}

static tg_status close_option(parser *ps) {
  if (ps->open == SIZE_MAX) return bad(ps, ps->at, "no '[' before this ']' (write ']]')");
  if (ps->open == ps->t->n_inst) return bad(ps, ps->at, "the optional part is empty");
  ps->t->inst[ps->open - 1].skip = (uint32_t)ps->t->n_inst;
  ps->open = SIZE_MAX;
  ps->at++;
  return TG_OK;
}

/* One item of the template at ps->at. */
static tg_status parse_item(parser *ps) {
  uint8_t c = ps->text[ps->at];
  bool twice = ps->at + 1 < ps->end && ps->text[ps->at + 1] == c;
  size_t n = micro(ps->text + ps->at, ps->text + ps->end);
  if (tg_is_one_of(c, "{}[]~") && twice) {
    tg_status status = put_literal(ps, ps->at, 1);
    ps->at += 2;
    return status;
  }
  switch (c) {
  case '{':
    return parse_field(ps);
  case '}':
    return bad(ps, ps->at, "no '{' before this '}' (write '}}')");
  case '[':
    return open_option(ps);
  case ']':
    return close_option(ps);
  case '~':
    return emit(ps, TG_OP_BLANKS, ps->at++, NULL);
  case ' ':
    return emit(ps, TG_OP_BLANK, ps->at++, NULL);
  default:
    break;
  }
  n = n > 0 ? n : 1;
  tg_status status = put_literal(ps, ps->at, n);
  ps->at += n;
  return status;
}

static tg_status parse_template(parser *ps) {
  bool dollar = false;
  if (ps->at < ps->end && ps->text[ps->at] == '^') {
    ps->t->begin = true;
    ps->at++;
  }
  if (ps->end > ps->at && ps->text[ps->end - 1] == '$') {
    dollar = true;
    ps->end--;
  }
  if (ps->at == ps->end) return bad(ps, ps->at, "the template is empty");
  while (ps->at < ps->end) TG_TRY(parse_item(ps));
  if (ps->open != SIZE_MAX)
    return bad(ps, ps->open_column, "the optional part is not closed by ']'");
  const tg_inst *last = &ps->t->inst[ps->t->n_inst - 1];
  ps->t->closed = !last->optional && last->op == TG_OP_LITERAL;
  if (dollar) TG_TRY(emit(ps, TG_OP_END, ps->end, NULL));
  return emit(ps, TG_OP_MATCH, ps->end, NULL);
}

tg_status tg_template_parse(tg_template *t, const uint8_t *text, size_t n, tg_error *err) {
  parser ps = {t, text, 0, n, SIZE_MAX, 0, err};
  return parse_template(&ps);
}

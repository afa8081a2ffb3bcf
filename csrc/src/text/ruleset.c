/* ruleset.c - a set of compiled rules. SPDX-License-Identifier: BSD-3-Clause */
#include "ruleset.h"
#include "base/try.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "tickgauge/intern.h"

static void rule_clear(const tg_alloc *a, tg_rule *r) {
  for (size_t i = 0; i < r->n_values; i++) {
    tg_release(a, r->values[i].metric);
    tg_release(a, r->values[i].terms);
  }
  tg_release(a, r->values);
  tg_release(a, r->context_names);
  tg_release(a, r->contexts);
  tg_release(a, r->before_name);
  tg_release(a, r->name);
  tg_release(a, r->unit);
  tg_release(a, r->pattern);
  tg_release(a, r->witness);
  tg_release(a, (void *)r->ties.columns);
  tg_template_free(r->t);
}

void tg_ruleset_free(tg_ruleset *set) {
  if (set == NULL) return;
  tg_alloc a = set->alloc;
  tg_scanner_free(set->scanner);
  tg_intern_free(set->names);
  for (size_t i = 0; set->empty != NULL && i < set->n_rules; i++) tg_table_free(set->empty[i]);
  tg_release(&a, set->empty);
  for (size_t i = 0; i < set->n_scratch; i++) tg_match_scratch_free(&set->scratch[i]);
  tg_release(&a, set->scratch);
  for (size_t i = 0; i < set->n_tags; i++) tg_release(&a, set->tags[i].rules);
  for (size_t i = 0; i < set->n_sections; i++) {
    tg_template_free(set->sections[i].end);
    tg_release(&a, set->sections[i].end_pattern);
  }
  for (size_t i = 0; i < set->n_rules; i++) rule_clear(&a, &set->rules[i]);
  tg_release(&a, set->tags);
  tg_release(&a, set->sections);
  tg_release(&a, set->rules);
  tg_release(&a, set);
}

/* Whether another rule may be added under this name. `names` has those of all rules, in order. */
static tg_status new_name(const tg_ruleset *set, tg_intern *names, const char *name,
                          tg_error *err) {
  uint32_t code = 0;
  if (set->n_rules == set->limits.max_rules) {
    return tg_fail(err, TG_ELIMIT, 0, 0,
                   "rule '%.60s' is beyond the %zu that a set may have, built-in ones and rows of "
                   "sections included (--limit rules=N)",
                   name, set->limits.max_rules);
  }
  TG_TRY(tg_intern_put(names, (const uint8_t *)name, strlen(name), &code));
  if (code < set->n_rules)
    TG_TRY(tg_fail(err, TG_EINVAL, 0, 0, "two rules are named '%.80s'", name));
  return TG_OK;
}

/* Puts the name of the rule before a message about its template. */
static tg_status name_error(tg_error *err, tg_status status, const char *name) {
  if (err == NULL || status == TG_OK || status == TG_ENOMEM) return status;
  char text[TG_ERROR_TEXT];
  memcpy(text, err->message, sizeof text);
  tg_fail(err, status, err->offset, 0, "rule '%.60s', %.180s", name, text);
  return status;
}

static const tg_rule_ties no_ties = {TG_NOT, TG_NOT, TG_NOT, TG_NOT, TG_NOT, TG_NOT, TG_NOT, TG_NOT,
                                     false,  NULL};

/* Compiles one rule (or a row of one) and appends it. Takes over `name`. */
static tg_status add_rule(tg_ruleset *set, tg_intern *names, const tg_rule_def *def, char *name,
                             const char *pattern, bool row, tg_error *err) {
  const tg_alloc *a = &set->alloc;
  tg_rule r = {.name = name, .tag = TG_NOT, .section = TG_NOT, .unit_field = TG_NOT,
               .better = def->better, .observation = def->observation, .all = def->all,
               .soft = def->soft, .arrival = def->arrival, .needs_clock = def->needs_clock,
               .ties = no_ties};
  bool lenient = def->rows != NULL;
  tg_status status = TG_ENOMEM;
  if (name == NULL) goto fail;
  status = new_name(set, names, name, err);
  if (status != TG_OK) goto fail;
  r.pattern = tg_copy_text(a, pattern, strlen(pattern));
  status = r.pattern != NULL ? TG_OK : TG_ENOMEM;
  if (status == TG_OK && def->witness != NULL && !row) {
    r.witness = tg_copy_text(a, def->witness, strlen(def->witness));
    if (r.witness == NULL) status = TG_ENOMEM;
  }
  if (status != TG_OK) goto fail;
  status = tg_template_new(a, pattern, set->limits.max_template, row ? NULL : def->tag, row, &r.t,
                           err);
  if (status != TG_OK) {
    name_error(err, status, name);
    goto fail;
  }
  for (size_t i = 0; i < r.t->n_fields; i++) r.t->fields[i].rounded = def->rounded;
  if (def->context != NULL) {
    r.context_names = tg_copy_text(a, def->context, strlen(def->context));
    if (r.context_names == NULL) status = TG_ENOMEM;
  }
  if (status == TG_OK) status = tg_rule_exponents(&r, def->exponents, lenient, err);
  if (status == TG_OK) status = tg_rule_values(a, &r, def->values, lenient, err);
  if (status == TG_OK) status = tg_rule_unit(a, &r, def->unit, lenient, err);
  if (status == TG_OK) status = tg_rule_counts(a, &r, def, lenient, err);
  if (status != TG_OK) goto fail;
  status = tg_reserve(a, &set->rules, &set->cap_rules, set->n_rules + 1, sizeof *set->rules);
  if (status != TG_OK) goto fail;
  if (r.witness != NULL && set->witness == TG_NOT) set->witness = set->n_rules;
  set->rules[set->n_rules++] = r;
  if (err != NULL) *err = (tg_error){.status = TG_OK};
  return TG_OK;
fail:
  rule_clear(a, &r);
  return status;
}

/* The rule "name.rest", whose template is `pattern`; `n` bytes of `rest`. */
static tg_status add_part(tg_ruleset *set, tg_intern *names, const tg_rule_def *def,
                          const char *rest, size_t n, const char *pattern, bool row,
                          tg_error *err) {
  size_t lead = strlen(def->name);
  char *name = tg_take(&set->alloc, lead + n + 2, 1);
  if (name == NULL) return TG_ENOMEM;
  memcpy(name, def->name, lead);
  name[lead] = '.';
  memcpy(name + lead + 1, rest, n);
  name[lead + 1 + n] = '\0';
  return add_rule(set, names, def, name, pattern, row, err);
}

/* The end line of a span: the rule "name.until". It has no values, the begin line has them. */
static tg_status add_until(tg_ruleset *set, tg_intern *names, const tg_rule_def *def,
                           tg_error *err) {
  const size_t begin = set->n_rules - 1;
  const tg_rule_def end = {.name = def->name, .exponents = def->exponents,
                           .better = def->better, .observation = def->observation,
                           .all = def->all, .soft = def->soft, .rounded = def->rounded};
  const tg_status status = add_part(set, names, &end, "until", 5, def->until, false, err);
  if (status != TG_OK) return status;
  set->rules[begin].ties.until = set->n_rules - 1;
  set->rules[set->n_rules - 1].ties.opens = begin;
  return tg_rule_span(set, begin, err);
}

/* "name=template": the row becomes the rule "section.name". */
static tg_status add_row(tg_ruleset *set, tg_intern *names, const tg_rule_def *def,
                         const char *row, tg_error *err) {
  const char *equal = strchr(row, '=');
  if (equal == NULL || equal == row) {
    return tg_fail(err, TG_EINVAL, 0, 0, "rule '%.60s': a row is written \"name=template\"",
                   def->name);
  }
  return add_part(set, names, def, row, (size_t)(equal - row), equal + 1, true, err);
}

static tg_status add_section(tg_ruleset *set, tg_intern *names, const tg_rule_def *def,
                                tg_error *err) {
  const tg_alloc *a = &set->alloc;
  tg_status status =
      tg_reserve(a, &set->sections, &set->cap_sections, set->n_sections + 1, sizeof *set->sections);
  if (status != TG_OK) return status;
  size_t self = set->n_sections;
  size_t begin = set->n_rules - 1;
  set->sections[self] = (tg_section){.begin = begin, .first_row = set->n_rules};
  set->n_sections++;
  set->rules[begin].section = self;
  if (def->end != NULL && def->end[0] != '\0') {
    status = tg_template_new(a, def->end, set->limits.max_template, NULL, true,
                             &set->sections[self].end, err);
    if (status != TG_OK) return name_error(err, status, def->name);
    set->sections[self].end_pattern = tg_copy_text(a, def->end, strlen(def->end));
    if (set->sections[self].end_pattern == NULL) return TG_ENOMEM;
  }
  for (size_t i = 0; def->rows[i] != NULL; i++) {
    status = add_row(set, names, def, def->rows[i], err);
    if (status != TG_OK) return status;
    set->rules[set->n_rules - 1].section = self;
    set->sections[self].n_rows++;
  }
  return TG_OK;
}

/* Every value and the unit of a section must have found its fields in one of its rules. */
static tg_status check_section(const tg_ruleset *set, const tg_rule_def *def, size_t first,
                                  tg_error *err) {
  size_t values = 0;
  bool count = def->count == NULL && def->cumulative == NULL, grows = def->grows == NULL;
  bool unit = def->unit == NULL || def->unit[0] != '{';
  for (size_t i = first; i < set->n_rules; i++) {
    values += set->rules[i].n_values;
    unit = unit || set->rules[i].unit_field != TG_NOT;
    count = count || set->rules[i].ties.count != TG_NOT;
    grows = grows || set->rules[i].ties.grows != TG_NOT;
  }
  if (def->values != NULL && values == 0) {
    return tg_fail(err, TG_ESYNTAX, 0, 0, "rule '%.60s', values: no row has these fields",
                   def->name);
  }
  if (!count || !grows) {
    return tg_fail(err, TG_ESYNTAX, 0, 0, "rule '%.60s', %s: no row has this field", def->name,
                   count ? "grows" : "count");
  }
  if (!unit) {
    return tg_fail(err, TG_ESYNTAX, 0, 0, "rule '%.60s', unit: no row has this field", def->name);
  }
  return TG_OK;
}

static tg_status add_def(tg_ruleset *set, tg_intern *names, const tg_rule_def *def,
                            size_t number, tg_error *err) {
  if (def->name == NULL || def->name[0] == '\0' || def->pattern == NULL) {
    return tg_fail(err, TG_EINVAL, 0, 0, "rule %zu has no name or no template", number);
  }
  if (def->better != TG_BETTER_LOWER && def->better != TG_BETTER_HIGHER &&
      def->better != TG_BETTER_NONE) {
    return tg_fail(err, TG_EINVAL, 0, 0, "rule '%.60s': unknown direction", def->name);
  }
  size_t first = set->n_rules;
  char *name = tg_copy_text(&set->alloc, def->name, strlen(def->name));
  TG_TRY(add_rule(set, names, def, name, def->pattern, false, err));
  if (def->until != NULL) TG_TRY(def->rows == NULL ? add_until(set, names, def, err)
                               : tg_fail(err, TG_EINVAL, 0, 0,
                                         "rule '%.60s' is a span (until) and a section (rows)",
                                         def->name));
  if (def->rows != NULL) TG_TRY(add_section(set, names, def, err));
  if (def->rows != NULL) TG_TRY(check_section(set, def, first, err));
  return TG_OK;
}

/* Puts rule `k` under its tag, which is added if new. `texts` has those of all tags, in order. */
static tg_status add_tag(tg_ruleset *set, tg_intern *texts, size_t k) {
  const tg_alloc *a = &set->alloc;
  tg_rule *r = &set->rules[k];
  if (r->t->tag_inst == SIZE_MAX) return TG_OK;
  uint32_t code = 0;
  tg_status status = tg_intern_put(texts, r->t->pool + r->t->tag.at, r->t->tag.n, &code);
  if (status != TG_OK) return status;
  const size_t i = code;
  status = tg_reserve(a, &set->tags, &set->cap_tags, i + 1, sizeof *set->tags);
  if (status != TG_OK) return status;
  if (i == set->n_tags) {
    set->tags[i] = (tg_tag){.text = r->t->tag};
    set->n_tags++;
  }
  tg_tag *tag = &set->tags[i];
  status = tg_reserve(a, &tag->rules, &tag->cap_rules, tag->n_rules + 1, sizeof *tag->rules);
  if (status != TG_OK) {
    if (tag->n_rules == 0) set->n_tags--;
    return status;
  }
  tag->rules[tag->n_rules++] = (uint32_t)k;
  tag->hard = tag->hard || !r->soft;
  r->tag = i;
  return TG_OK;
}

static tg_status make_scratch(tg_ruleset *set) {
  size_t most = 1;
  for (size_t i = 0; i < set->n_tags; i++) {
    if (set->tags[i].n_rules > most) most = set->tags[i].n_rules;
  }
  set->scratch = tg_take(&set->alloc, most, sizeof *set->scratch);
  if (set->scratch == NULL) return TG_ENOMEM;
  set->n_scratch = most;
  for (size_t i = 0; i < most; i++) tg_scratch_init(&set->scratch[i], &set->alloc);
  return TG_OK;
}

static tg_status build_scanner(tg_ruleset *set) {
  const tg_alloc *a = &set->alloc;
  tg_str *needle = tg_take(a, set->n_tags + 1, sizeof *needle);
  if (needle == NULL) return TG_ENOMEM;
  for (size_t i = 0; i < set->n_tags; i++) needle[i] = tg_tag_text(set, i);
  tg_status status = tg_scanner_new(a, needle, set->n_tags, &set->scanner);
  tg_release(a, needle);
  return status;
}

static tg_status compile_rules(tg_ruleset *set, const tg_rule_def *defs, size_t n,
                               tg_intern *texts, tg_error *err) {
  for (size_t i = 0; i < n; i++) TG_TRY(add_def(set, set->names, &defs[i], i, err));
  for (size_t k = 0; k < set->n_rules; k++) TG_TRY(tg_rule_link(set, k, err));
  for (size_t k = 0; k < set->n_rules; k++) TG_TRY(add_tag(set, texts, k));
  TG_TRY(make_scratch(set));
  return build_scanner(set);
}

/* Rules, sections and tags of a set that has none yet. */
static tg_status compile(tg_ruleset *set, const tg_rule_def *defs, size_t n, tg_error *err) {
  tg_intern *texts = NULL;
  TG_TRY(tg_intern_new(&set->alloc, UINT32_MAX, &set->names));
  TG_TRY(tg_intern_new(&set->alloc, UINT32_MAX, &texts));
  const tg_status status = compile_rules(set, defs, n, texts, err);
  tg_intern_free(texts);
  return status;
}

static tg_rule_limits fill_limits(const tg_rule_limits *given) {
  tg_rule_limits l = {0, 0};
  if (given != NULL) l = *given;
  if (l.max_rules == 0) l.max_rules = TG_MAX_RULES;
  if (l.max_template == 0) l.max_template = TG_TEMPLATE_BYTES;
  if (l.max_template > TG_LONGEST_TEMPLATE) l.max_template = TG_LONGEST_TEMPLATE;
  return l;
}

tg_status tg_ruleset_new(const tg_alloc *a, const tg_rule_def *defs, size_t n, tg_ruleset **out,
                         tg_error *err) {
  return tg_ruleset_new_within(a, defs, n, NULL, out, err);
}

tg_status tg_ruleset_new_within(const tg_alloc *a, const tg_rule_def *defs, size_t n,
                                const tg_rule_limits *limits, tg_ruleset **out, tg_error *err) {
  if (a == NULL) a = tg_alloc_default();
  if (out == NULL || (n > 0 && defs == NULL)) {
    return tg_fail(err, TG_EINVAL, 0, 0, "no rules were given");
  }
  tg_ruleset *set = tg_zalloc(a, 1, sizeof *set);
  if (set == NULL) return tg_fail(err, TG_ENOMEM, 0, 0, "no memory for a rule set");
  set->alloc = *a;
  set->limits = fill_limits(limits);
  set->witness = TG_NOT;
  tg_status status = compile(set, defs, n, err);
  if (status == TG_ENOMEM) tg_fail(err, TG_ENOMEM, 0, 0, "no memory for the rules");
  if (status != TG_OK) {
    tg_ruleset_free(set);
    return status;
  }
  *out = set;
  return TG_OK;
}

size_t tg_ruleset_count(const tg_ruleset *set) { return set->n_rules; }

const char *tg_ruleset_name(const tg_ruleset *set, size_t rule) {
  return rule < set->n_rules ? set->rules[rule].name : NULL;
}

tg_status tg_ruleset_find(const tg_ruleset *set, const char *name, size_t *rule) {
  uint32_t code = 0;
  TG_TRY(tg_intern_find(set->names, (const uint8_t *)name, strlen(name), &code));
  if (rule != NULL) *rule = code;
  return TG_OK;
}

tg_str tg_ruleset_tag(const tg_ruleset *set, size_t rule) {
  if (rule >= set->n_rules || set->rules[rule].tag == TG_NOT) return (tg_str){NULL, 0};
  return tg_tag_text(set, set->rules[rule].tag);
}

tg_status tg_ruleset_info(const tg_ruleset *set, size_t rule, tg_rule_info *out) {
  if (rule >= set->n_rules) return TG_ENOTFOUND;
  const tg_rule *r = &set->rules[rule];
  *out = (tg_rule_info){.pattern = r->pattern,
                        .section = SIZE_MAX,
                        .better = r->better,
                        .row = r->tag == TG_NOT,
                        .all = r->all,
                        .soft = r->soft};
  if (r->section == TG_NOT) return TG_OK;
  const tg_section *s = &set->sections[r->section];
  out->section = s->begin;
  out->end = s->end_pattern != NULL ? s->end_pattern : "";
  return TG_OK;
}

tg_status tg_ruleset_ties(const tg_ruleset *set, size_t rule, tg_rule_ties *out) {
  if (rule >= set->n_rules) return TG_ENOTFOUND;
  *out = set->rules[rule].ties;
  return TG_OK;
}

size_t tg_ruleset_fields(const tg_ruleset *set, size_t rule) {
  return rule < set->n_rules ? set->rules[rule].t->n_fields : 0;
}

tg_status tg_ruleset_field(const tg_ruleset *set, size_t rule, size_t field,
                           tg_field_info *out) {
  if (field >= tg_ruleset_fields(set, rule)) return TG_ENOTFOUND;
  const tg_template *t = set->rules[rule].t;
  const tg_template_field *f = &t->fields[field];
  *out = (tg_field_info){(const char *)t->pool + f->name, f->type, f->exp10,
                          f->as_printed};
  return TG_OK;
}

size_t tg_ruleset_values(const tg_ruleset *set, size_t rule) {
  return rule < set->n_rules ? set->rules[rule].n_values : 0;
}

tg_status tg_ruleset_value(const tg_ruleset *set, size_t rule, size_t value,
                           tg_value_info *out) {
  if (value >= tg_ruleset_values(set, rule)) return TG_ENOTFOUND;
  const tg_value *v = &set->rules[rule].values[value];
  *out = (tg_value_info){v->metric, v->terms, v->n_terms, v->exp10};
  return TG_OK;
}

const char *tg_ruleset_unit(const tg_ruleset *set, size_t rule, size_t *field) {
  if (field != NULL) *field = SIZE_MAX;
  if (rule >= set->n_rules) return NULL;
  if (field != NULL) *field = set->rules[rule].unit_field;
  return set->rules[rule].unit;
}

tg_observation tg_ruleset_observation(const tg_ruleset *set, size_t rule) {
  return rule < set->n_rules ? set->rules[rule].observation : TG_OBSERVATION_RUN;
}

bool tg_ruleset_needs_clock(const tg_ruleset *set, size_t rule) {
  return rule < set->n_rules && set->rules[rule].needs_clock;
}

tg_better tg_ruleset_better(const tg_ruleset *set, size_t rule) {
  return rule < set->n_rules ? set->rules[rule].better : TG_BETTER_NONE;
}

size_t tg_ruleset_contexts(const tg_ruleset *set, size_t rule) {
  return rule < set->n_rules ? set->rules[rule].n_contexts : 0;
}

tg_status tg_ruleset_context(const tg_ruleset *set, size_t rule, size_t i, size_t *context) {
  if (i >= tg_ruleset_contexts(set, rule)) return TG_ENOTFOUND;
  *context = set->rules[rule].contexts[i];
  return TG_OK;
}

tg_status tg_ruleset_match(tg_ruleset *set, size_t rule, const uint8_t *p, size_t n,
                           size_t tag_at, tg_span *fields, size_t *start, size_t *end,
                           tg_near *near) {
  if (rule >= set->n_rules || tag_at > n) return TG_EINVAL;
  const tg_rule *r = &set->rules[rule];
  tg_match m;
  tg_status status = tg_match_begin(&m, r->t, &set->scratch[0], p, n, fields);
  if (status != TG_OK) return status;
  bool found = r->tag == TG_NOT ? tg_match_row(&m) : tg_match_tag(&m, 0, tag_at);
  if (m.failed != TG_OK) return m.failed;
  if (near != NULL) *near = m.near;
  if (!found) return TG_ESYNTAX;
  if (start != NULL) *start = m.start;
  if (end != NULL) *end = m.end;
  return TG_OK;
}

tg_status tg_ruleset_ready(tg_ruleset *set) {
  if (set->ready) return TG_OK;
  if (set->empty == NULL)
    set->empty = tg_zalloc(&set->alloc, set->n_rules + 1, sizeof *set->empty);
  if (set->empty == NULL) return TG_ENOMEM;
  for (size_t i = 0; i < set->n_rules; i++)
    if (set->empty[i] == NULL)
      TG_TRY(tg_rule_table_new(&set->alloc, &set->rules[i], &set->empty[i]));
  set->ready = true;
  return TG_OK;
}

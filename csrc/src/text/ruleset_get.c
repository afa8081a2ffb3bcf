/* ruleset_get.c - questions to a rule set, and one try of one rule.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "ruleset.h"

size_t tg_ruleset_count(const tg_ruleset *set) { return set->n_rules; }

const char *tg_ruleset_name(const tg_ruleset *set, size_t rule) {
  return rule < set->n_rules ? set->rules[rule].name : NULL;
}

tg_status tg_ruleset_find(const tg_ruleset *set, const char *name, size_t *rule) {
  for (size_t i = 0; i < set->n_rules; i++) {
    if (strcmp(set->rules[i].name, name) != 0) continue;
    if (rule != NULL) *rule = i;
    return TG_OK;
  }
  return TG_ENOTFOUND;
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

size_t tg_ruleset_fields(const tg_ruleset *set, size_t rule) {
  return rule < set->n_rules ? set->rules[rule].t->n_fields : 0;
}

tg_status tg_ruleset_field(const tg_ruleset *set, size_t rule, size_t field,
                           tg_field_info *out) {
  if (field >= tg_ruleset_fields(set, rule)) return TG_ENOTFOUND;
  const tg_template *t = set->rules[rule].t;
  const tg_template_field *f = &t->fields[field];
  *out = (tg_field_info){(const char *)t->pool + f->name, f->type, f->exp10};
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

tg_better tg_ruleset_better(const tg_ruleset *set, size_t rule) {
  return rule < set->n_rules ? set->rules[rule].better : TG_BETTER_NONE;
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
  if (m.nomem) return TG_ENOMEM;
  if (near != NULL) *near = m.near;
  if (!found) return TG_ESYNTAX;
  if (start != NULL) *start = m.start;
  if (end != NULL) *end = m.end;
  return TG_OK;
}

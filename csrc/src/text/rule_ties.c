/* rule_ties.c - how the readings of a rule hang together with other records: counts and ranges,
 * head lines, spans. SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "base/mem.h"
#include "base/try.h"
#include "ruleset.h"

static size_t field_named(const tg_rule *rule, const char *name) {
  const tg_template *t = rule->t;
  for (size_t i = 0; i < t->n_fields; i++)
    if (strcmp((const char *)t->pool + t->fields[i].name, name) == 0) return i;
  return TG_NOT;
}

static const char *name_of(const tg_rule *rule, size_t field) {
  return (const char *)rule->t->pool + rule->t->fields[field].name;
}

/* A field that holds a whole number: a count or the end of a range. */
static bool is_whole(tg_field_type type) {
  return type == TG_FIELD_UINT || type == TG_FIELD_GROUPED || type == TG_FIELD_DIGIT ||
         type == TG_FIELD_SIZE;
}

/* Counts and totals may be lists; the end of a range may be a word that is no number: no end. */
static bool may_be_text(const char *key, tg_field_type type) {
  static const char *const lists[] = {"count", "total", "cumulative"};
  for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
    if (strcmp(key, lists[i]) == 0) return type == TG_FIELD_TEXT;
  return strcmp(key, "grows") != 0 && type == TG_FIELD_WORD;
}

/* The field that a key of the rule names. `lenient`: a rule without it stays without. */
static tg_status find_field(const tg_rule *rule, const char *key, const char *name, bool lenient,
                            size_t *field, tg_error *err) {
  if (name == NULL) return TG_OK;
  const size_t found = field_named(rule, name);
  if (found == TG_NOT && !lenient)
    return tg_fail(err, TG_ESYNTAX, 0, 0, "rule '%.60s', %s: no field of the template is named "
                   "'%.40s'", rule->name, key, name);
  if (found != TG_NOT && !is_whole(rule->t->fields[found].type) &&
      !may_be_text(key, rule->t->fields[found].type))
    return tg_fail(err, TG_ESYNTAX, 0, 0, "rule '%.60s', %s: field '%.40s' is no whole number",
                   rule->name, key, name);
  *field = found;
  return TG_OK;
}

/* Whether a pattern of column names is fields and literals by turns. */
static bool columns_fit(const char *p) {
  bool field = false;
  for (; *p != '\0'; p++) {
    if (*p != '{') {
      field = false;
      continue;
    }
    const char *close = strchr(p, '}');
    if (field || close == NULL || close == p + 1 || memchr(p + 1, '{', (size_t)(close - p) - 1))
      return false;
    field = true;
    p = close;
  }
  return true;
}

tg_status tg_rule_counts(const tg_alloc *a, tg_rule *rule, const tg_rule_def *def, bool lenient,
                         tg_error *err) {
  tg_rule_ties *ties = &rule->ties;
  lenient = lenient || def->until != NULL;
  TG_TRY(find_field(rule, "count", def->count, lenient, &ties->count, err));
  if (def->cumulative != NULL) {
    TG_TRY(find_field(rule, "cumulative", def->cumulative, lenient, &ties->count, err));
    ties->cumulative = true;
  }
  TG_TRY(find_field(rule, "below", def->below, lenient, &ties->below, err));
  TG_TRY(find_field(rule, "upto", def->upto, lenient, &ties->upto, err));
  TG_TRY(find_field(rule, "total", def->total, lenient, &ties->total, err));
  TG_TRY(find_field(rule, "grows", def->grows, lenient, &ties->grows, err));
  if (def->before != NULL) {
    rule->before_name = tg_copy_text(a, def->before, strlen(def->before));
    if (rule->before_name == NULL) return TG_ENOMEM;
  }
  if (def->columns == NULL) return TG_OK;
  if (!columns_fit(def->columns))
    return tg_fail(err, TG_ESYNTAX, 0, 0,
                   "rule '%.60s', columns: expected names in braces with text between them",
                   rule->name);
  ties->columns = tg_copy_text(a, def->columns, strlen(def->columns));
  return ties->columns != NULL ? TG_OK : TG_ENOMEM;
}

/* The rule of that name; a name without a dot is a kind of the same format as rule `of`. */
static size_t find_context(const tg_ruleset *set, size_t of, const char *name, size_t n) {
  const char *own = set->rules[of].name;
  const char *dot = strchr(own, '.');
  const bool kind = dot != NULL && memchr(name, '.', n) == NULL;
  const size_t lead = kind ? (size_t)(dot - own) + 1 : 0;
  for (size_t k = 0; k < set->n_rules; k++) {
    const char *it = set->rules[k].name;
    if (strlen(it) != lead + n || memcmp(it + lead, name, n) != 0) continue;
    if (memcmp(it, own, lead) == 0) return k;
  }
  return TG_NOT;
}

tg_status tg_rule_link(tg_ruleset *set, size_t k, tg_error *err) {
  tg_rule *r = &set->rules[k];
  const char *at = r->context_names;
  if (r->before_name != NULL) {
    r->ties.before = find_context(set, k, r->before_name, strlen(r->before_name));
    if (r->ties.before == TG_NOT)
      return tg_fail(err, TG_ESYNTAX, 0, 0, "rule '%.60s', before: there is no rule '%.60s'",
                     r->name, r->before_name);
  }
  while (at != NULL && *at != '\0') {
    const size_t n = strcspn(at, ",");
    const size_t found = find_context(set, k, at, n);
    if (found == TG_NOT) {
      return tg_fail(err, TG_ESYNTAX, 0, 0, "rule '%.60s', context: there is no rule '%.*s'",
                     r->name, n < 60 ? (int)n : 60, at);
    }
    const tg_status status = tg_reserve(&set->alloc, &r->contexts, &r->cap_contexts,
                                        r->n_contexts + 1, sizeof *r->contexts);
    if (status != TG_OK) return status;
    r->contexts[r->n_contexts++] = found;
    at += n + (at[n] == ',');
  }
  return TG_OK;
}

tg_status tg_rule_span(const tg_ruleset *set, size_t k, tg_error *err) {
  const tg_rule *from = &set->rules[k], *to = &set->rules[from->ties.until];
  for (size_t v = 0; v < from->n_values; v++) {
    for (size_t i = 0; i < from->values[v].n_terms; i++) {
      const size_t field = from->values[v].terms[i].field;
      const char *name = name_of(from, field);
      const size_t other = field_named(to, name);
      if (other != TG_NOT && to->t->fields[other].type == from->t->fields[field].type &&
          to->t->fields[other].exp10 == from->t->fields[field].exp10)
        continue;
      return tg_fail(err, TG_ESYNTAX, 0, 0,
                     "rule '%.60s', until: the end line has no such field '%.40s'", from->name,
                     name);
    }
  }
  return TG_OK;
}

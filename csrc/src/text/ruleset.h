/* ruleset.h - compiled rules, their tags and sections. SPDX-License-Identifier: BSD-3-Clause */
#ifndef TICKGAUGE_TEXT_RULESET_H
#define TICKGAUGE_TEXT_RULESET_H

#include "match.h"
#include "scanner.h"
#include "tickgauge/rule.h"

#define TG_MAX_RULES 4096 /* where the caller names no other bound */
#define TG_NOT SIZE_MAX /* an index that is none */

typedef struct tg_value {
  char *metric;
  tg_value_term *terms;
  size_t n_terms, cap_terms;
  int32_t exp10;
} tg_value;

typedef struct tg_rule {
  char *name, *unit;
  char *pattern; /* the source text, for export */
  char *witness; /* NULL: none */
  tg_template *t;
  tg_value *values;
  size_t n_values, cap_values;
  char *context_names, *before_name;
  size_t *contexts; /* rules */
  size_t n_contexts, cap_contexts;
  size_t unit_field; /* TG_NOT: `unit` is a word */
  size_t tag;        /* TG_NOT: a row of a section */
  size_t section;    /* the section it begins, or lies in as a row; TG_NOT: none */
  tg_better better;
  tg_observation observation;
  bool all, soft, arrival, needs_clock;
  tg_rule_ties ties; /* `columns` is the rule's own */
} tg_rule;

typedef struct tg_section {
  size_t begin, first_row, n_rows;
  tg_template *end; /* NULL: a blank line */
  char *end_pattern;
} tg_section;

/* A distinct tag and the rules that have it, in rule order. */
typedef struct tg_tag {
  tg_literal text; /* in the template of rules[0] */
  uint32_t *rules;
  size_t n_rules, cap_rules;
  bool hard; /* a miss is a problem: not all its rules are soft */
} tg_tag;

struct tg_ruleset {
  tg_alloc alloc;
  tg_rule_limits limits; /* filled */
  tg_rule *rules;
  size_t n_rules, cap_rules;
  tg_intern *names; /* of the rules: the code of a name is the rule's number */
  tg_table **empty; /* of each rule, without a row: shown of a source that has no record of it */
  bool ready;       /* all of them are there */
  tg_section *sections;
  size_t n_sections, cap_sections;
  tg_tag *tags;
  size_t n_tags, cap_tags;
  tg_scanner *scanner;
  size_t witness;      /* the rule that has one, TG_NOT: none */
  tg_scratch *scratch; /* one for every rule that a tag can have */
  size_t n_scratch;
};

static inline tg_str tg_tag_text(const tg_ruleset *set, size_t tag) {
  const tg_tag *g = &set->tags[tag];
  return (tg_str){set->rules[g->rules[0]].t->pool + g->text.at, g->text.n};
}

/* A copy of [s, s+n) with a NUL behind it; NULL: no memory. */
char *tg_copy_text(const tg_alloc *a, const char *s, size_t n);

/* Reads "field=-3,..." into the fields' powers of ten. */
tg_status tg_rule_exponents(tg_rule *rule, const char *text, bool lenient, tg_error *err);
/* Reads "metric=60*m+s,..." ; with `lenient` values whose fields the rule has not are left out. */
tg_status tg_rule_values(const tg_alloc *a, tg_rule *rule, const char *text, bool lenient,
                         tg_error *err);
/* Reads which fields count the readings of a line and bound their range; `lenient` as above. */
tg_status tg_rule_counts(const tg_alloc *a, tg_rule *rule, const tg_rule_def *def, bool lenient,
                         tg_error *err);
/* Finds the rules that rule `k` names as its context. All rules must be there. TG_OK, TG_ENOMEM,
 * TG_ESYNTAX. */
tg_status tg_rule_link(tg_ruleset *set, size_t k, tg_error *err);
/* Whether the values of span rule `k` are fields of its end line, too. */
tg_status tg_rule_span(const tg_ruleset *set, size_t k, tg_error *err);
/* Reads the unit: a word or "{field}". */
tg_status tg_rule_unit(const tg_alloc *a, tg_rule *rule, const char *text, bool lenient,
                       tg_error *err);

/* An empty table for the records of a rule: see TG_REC_*. TG_OK, TG_ENOMEM. */
tg_status tg_rule_table_new(const tg_alloc *a, const tg_rule *rule, tg_table **out);

/* Makes the empty tables of a set that is to be read with: once. TG_OK, TG_ENOMEM. */
tg_status tg_ruleset_ready(tg_ruleset *set);

#endif

/* rule_table.c - the table that holds the records of a rule.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "ruleset.h"
#include "tickgauge/reader.h"

static tg_type column_type(tg_field_type type) {
  switch (type) {
  case TG_FIELD_INT:
  case TG_FIELD_DEC:
  case TG_FIELD_EXP:
  case TG_FIELD_DURATION:
    return TG_I64;
  case TG_FIELD_WORD:
  case TG_FIELD_TEXT:
  case TG_FIELD_QUOTED:
  case TG_FIELD_CHOICE:
    return TG_TEXT;
  default:
    return TG_U64;
  }
}

tg_status tg_rule_table_new(const tg_alloc *a, const tg_rule *rule, tg_table **out) {
  tg_column_def defs[TG_REC_FIELD + TG_TEMPLATE_FIELDS + 1] = {
      {"line", TG_U64, 0},  {"offset", TG_U64, 0},  {"channel", TG_TEXT, 0},
      {"flags", TG_U32, 0}, {"section", TG_U32, 0},
  };
  const tg_template *t = rule->t;
  for (size_t i = 0; i < t->n_fields; i++) {
    const tg_template_field *f = &t->fields[i];
    defs[TG_REC_FIELD + i] = (tg_column_def){(const char *)t->pool + f->name,
                                             column_type(f->type), f->exp10};
  }
  defs[TG_REC_FIELD + t->n_fields] = (tg_column_def){"arrived", TG_I64, -9};
  return tg_table_new(a, defs, TG_REC_FIELD + t->n_fields + (rule->arrival ? 1 : 0), out);
}

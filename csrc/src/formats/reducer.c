/* reducer.c - the questions that every reducer asks of its records.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "reducer.h"

#include <string.h>

tg_str tg_str_of(const char *s) {
  tg_str v = {NULL, 0};
  if (s != NULL) {
    v.p = (const uint8_t *)s;
    v.n = strlen(s);
  }
  return v;
}

const tg_table *tg_rule_table(const tg_records *r, const char *name) {
  size_t rule = 0;
  if (tg_ruleset_find(tg_records_rules(r), name, &rule) != TG_OK) return NULL;
  return tg_records_table(r, rule);
}

/* True if the rule set of `r` has a rule of that name with records. */
static bool rule_present(const tg_records *r, const char *name) {
  const tg_ruleset *set = tg_records_rules(r);
  size_t rule = 0;
  if (tg_ruleset_find(set, name, &rule) != TG_OK) return false;
  const tg_table *t = tg_records_table(r, rule);
  return t != NULL && tg_table_rows(t) > 0;
}

bool tg_format_present(const tg_format *f, const tg_reduce_in *in) {
  for (size_t s = 0; s < in->n_sources; s++) {
    for (size_t i = 0; i < f->n_rules; i++) {
      if (rule_present(in->sources[s], f->rules[i].name)) return true;
    }
  }
  return false;
}

void tg_rule_numbers(const tg_records *r, const char *const *names, size_t n, size_t *numbers) {
  for (size_t i = 0; i < n; i++)
    if (tg_ruleset_find(tg_records_rules(r), names[i], &numbers[i]) != TG_OK) numbers[i] = SIZE_MAX;
}

bool tg_str_equal(tg_str a, tg_str b) {
  if (a.n != b.n) return false;
  return a.n == 0 || (a.p != NULL && b.p != NULL && memcmp(a.p, b.p, a.n) == 0);
}

bool tg_str_has(tg_str a, const char *word) {
  size_t n = strlen(word);
  for (size_t i = 0; a.p != NULL && n <= a.n && i <= a.n - n; i++) {
    if (memcmp(a.p + i, word, n) == 0) return true;
  }
  return false;
}

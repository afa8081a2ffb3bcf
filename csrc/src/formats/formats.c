/* formats.c - the table of built-in formats, their common rule set, and the reduction of a source.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "formats.h"

#include <string.h>

#include "boots.h"

const tg_format *const tg_formats[] = {
    &tg_format_optee,
    &tg_format_ftrace,
    &tg_format_tftf,
    &tg_format_pmf,
    &tg_format_smc,
    &tg_format_qconv,
    &tg_format_bootstage,
    &tg_format_xtest,
    &tg_format_console, /* last: its tags are common words */
    NULL,
};

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

/* True if the rule set of `r` has a rule of that name, or of a row of that section, with records.
 */
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

tg_status tg_formats_ruleset(const tg_alloc *a, const tg_rule_def *extra, size_t n_extra,
                             tg_ruleset **out, tg_error *err) {
  return tg_formats_ruleset_within(a, extra, n_extra, NULL, out, err);
}

tg_status tg_formats_ruleset_within(const tg_alloc *a, const tg_rule_def *extra, size_t n_extra,
                                    const tg_rule_limits *limits, tg_ruleset **out,
                                    tg_error *err) {
  if (a == NULL) a = tg_alloc_default();
  tg_status st = TG_OK;
  tg_rule_def *defs = NULL;
  size_t cap = 0;
  size_t n = 0;
  size_t total = n_extra;
  if (n_extra > 0 && extra == NULL) return tg_fail(err, TG_EINVAL, 0, 0, "no rules given");
  for (size_t f = 0; tg_formats[f] != NULL; f++) {
    if (tg_formats[f]->n_rules > SIZE_MAX - total) {
      return tg_fail(err, TG_ELIMIT, 0, 0, "too many rules");
    }
    total += tg_formats[f]->n_rules;
  }
  st = tg_grow(a, (void **)&defs, &cap, total, sizeof *defs);
  if (st != TG_OK) {
    tg_fail(err, st, 0, 0, "no memory for %zu rules", total);
    goto fail;
  }
  for (size_t i = 0; i < n_extra; i++) defs[n++] = extra[i];
  for (size_t f = 0; tg_formats[f] != NULL; f++) {
    for (size_t i = 0; i < tg_formats[f]->n_rules; i++) defs[n++] = tg_formats[f]->rules[i];
  }
  st = tg_ruleset_new_within(a, defs, n, limits, out, err);
fail:
  a->release(a->ctx, defs);
  return st;
}

/* What tg_reduce demands of its input. */
static tg_status check_input(const tg_reduce_in *in, tg_error *err) {
  if (in == NULL || (in->n_sources > 0 && in->sources == NULL)) {
    return tg_fail(err, TG_EINVAL, 0, 0, "nothing to reduce");
  }
  if (in->n_sources >= TG_NONE) return tg_fail(err, TG_EINVAL, 0, 0, "too many sources");
  if (in->n_sources > 1 && (in->options == NULL || !in->options->together)) {
    return tg_fail(err, TG_EINVAL, 0, 0,
                   "%zu sources at once, but they are not consoles of the same boots",
                   in->n_sources);
  }
  for (size_t s = 0; s < in->n_sources; s++) {
    if (in->sources[s] == NULL) return tg_fail(err, TG_EINVAL, 0, 0, "source %zu is missing", s);
  }
  return TG_OK;
}

#define MAX_KEYS (UINT64_C(1) << 17)

tg_status tg_reduce(const tg_alloc *a, const tg_reduce_in *in, tg_result **out, tg_error *err) {
  static const tg_reduce_options defaults = {0};
  if (a == NULL) a = tg_alloc_default();
  tg_result *result = NULL;
  tg_status st = check_input(in, err);
  if (st != TG_OK) return st;
  if (out == NULL) return tg_fail(err, TG_EINVAL, 0, 0, "no place for the result");
  tg_reduce_in full = *in;
  if (full.options == NULL) full.options = &defaults;
  full.alloc = a;
  st = tg_result_new(a, &result);
  if (st != TG_OK) {
    tg_fail(err, st, 0, 0, "no memory for a result");
    goto fail;
  }
  tg_result_bound(result, full.options->max_keys > 0 ? full.options->max_keys : MAX_KEYS);
  st = tg_boots_reduce(&full, result, err);
  if (st != TG_OK) goto fail;
  for (size_t f = 0; tg_formats[f] != NULL; f++) {
    if (tg_formats[f]->reduce == NULL || !tg_format_present(tg_formats[f], &full)) continue;
    st = tg_formats[f]->reduce(&full, result, err);
    if (st != TG_OK) goto fail;
  }
  st = tg_plain_reduce(&full, result, err);
  if (st != TG_OK) goto fail;
  *out = result;
  return TG_OK;
fail:
  tg_result_free(result);
  return st;
}

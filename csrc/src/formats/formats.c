/* formats.c - the table of built-in formats, their common rule set, and the reduction of a source.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "formats.h"

#include "boots.h"
#include "console_axis.h"
#include "plain.h"
#include "reducer.h"

#define POINTER(name) &tg_format_##name,
const tg_format *const tg_formats[] = {TG_FORMATS(POINTER) NULL};
#undef POINTER

tg_status tg_formats_ruleset(const tg_alloc *a, const tg_rule_def *extra, size_t n_extra,
                             tg_ruleset **out, tg_error *err) {
  return tg_formats_ruleset_within(a, extra, n_extra, NULL, out, err);
}

tg_status tg_formats_ruleset_within(const tg_alloc *a, const tg_rule_def *extra, size_t n_extra,
                                    const tg_rule_limits *limits, tg_ruleset **out, tg_error *err) {
  size_t n = 0, total = n_extra;
  a = tg_alloc_or_default(a);
  if (n_extra > 0 && extra == NULL) return tg_fail(err, TG_EINVAL, 0, 0, "no rules given");
  for (size_t f = 0; tg_formats[f] != NULL; f++)
    if (tg_add_overflows(total, tg_formats[f]->n_rules, &total))
      return tg_fail(err, TG_ELIMIT, 0, 0, "too many rules");
  tg_rule_def *defs = tg_take(a, total, sizeof *defs);
  if (defs == NULL) return tg_fail(err, TG_ENOMEM, 0, 0, "no memory for %zu rules", total);
  for (size_t i = 0; i < n_extra; i++) defs[n++] = extra[i];
  for (size_t f = 0; tg_formats[f] != NULL; f++)
    for (size_t i = 0; i < tg_formats[f]->n_rules; i++) {
      defs[n] = tg_formats[f]->rules[i];
      defs[n].observation = tg_formats[f]->observation;
      defs[n++].needs_clock = tg_formats[f]->needs_clock != NULL;
    }
  const tg_status status = tg_ruleset_new_within(a, defs, n, limits, out, err);
  tg_release(a, defs);
  return status;
}

/* Checks the input of tg_reduce. */
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

/* All reducers in turn, into a result that the caller frees. */
static tg_status reduce_into(const tg_reduce_in *in, tg_result *result, tg_error *err) {
  if (tg_plain_counts(in)) tg_result_counted(result);
  TG_TRY(tg_boots_reduce(in, result, err));
  for (size_t f = 0; tg_formats[f] != NULL; f++) {
    if (tg_formats[f]->reduce == NULL || !tg_format_present(tg_formats[f], in)) continue;
    tg_result_observe(result, tg_formats[f]->observation);
    TG_TRY(tg_formats[f]->reduce(in, result, err));
  }
  TG_TRY(tg_console_axes(in, result, err));
  return tg_plain_reduce(in, result, err);
}

tg_status tg_reduce(const tg_alloc *a, const tg_reduce_in *in, tg_result **out, tg_error *err) {
  static const tg_reduce_options defaults = {0};
  tg_result *result = NULL;
  TG_TRY(check_input(in, err));
  if (out == NULL) return tg_fail(err, TG_EINVAL, 0, 0, "no place for the result");
  tg_reduce_in full = *in;
  if (full.options == NULL) full.options = &defaults;
  full.alloc = tg_alloc_or_default(a);
  tg_status status = tg_result_new(full.alloc, &result);
  if (status != TG_OK) return tg_fail(err, status, 0, 0, "no memory for a result");
  tg_result_bound(result, full.options->max_keys > 0 ? full.options->max_keys : MAX_KEYS);
  status = reduce_into(&full, result, err);
  if (status == TG_OK) {
    *out = result;
  } else {
    tg_result_free(result);
  }
  return status;
}

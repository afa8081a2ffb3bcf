/* reducer.h - the tools of a reducer, beside tickgauge/format.h.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TG_FORMATS_REDUCER_H
#define TG_FORMATS_REDUCER_H

#include "base/mem.h"
#include "base/row.h"
#include "base/stop.h"
#include "base/try.h"
#include "tickgauge/format.h"

#define TG_COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* The records of the rule called `name`, or NULL where the rule set has no such rule. Borrowed
 * from `r`. */
const tg_table *tg_rule_table(const tg_records *r, const char *name);

/* True if any source has a record of one of the format's rules (of a section: of its rows too). */
bool tg_format_present(const tg_format *f, const tg_reduce_in *in);

/* Whether turn `i` of a loop over records is the last: asks the caller's hook, now and then. */
static inline bool tg_reduce_stops(const tg_reduce_in *in, uint64_t i) {
  return tg_stop_at(in->options->stop, i, 1);
}

/* A view of a NUL-terminated string; NULL gives the empty view. */
tg_str tg_str_of(const char *s);

/* Whether two strings have the same bytes; the empty view equals itself. */
bool tg_str_equal(tg_str a, tg_str b);

/* Whether `word` stands anywhere in the string. */
bool tg_str_has(tg_str a, const char *word);

/* The numbers of `n` rules in the rule set of `r`, SIZE_MAX where it has none of that name: a loop
 * over records compares numbers, not names. */
void tg_rule_numbers(const tg_records *r, const char *const *names, size_t n, size_t *numbers);

#endif

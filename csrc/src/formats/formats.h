/* formats.h - what the formats share among themselves.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TG_FORMATS_FORMATS_H
#define TG_FORMATS_FORMATS_H

#include "base/stop.h"
#include "tickgauge/format.h"

/* The entries of tg_formats[], each defined in its own file. */
extern const tg_format tg_format_optee;
extern const tg_format tg_format_ftrace;
extern const tg_format tg_format_tftf;
extern const tg_format tg_format_pmf;
extern const tg_format tg_format_smc;
extern const tg_format tg_format_qconv;
extern const tg_format tg_format_bootstage;
extern const tg_format tg_format_xtest;
extern const tg_format tg_format_console;

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

/* Turns the `values` of every rule that has some into keys and readings. A rule is named
 * "format.operation", or "format.operation.variant" where one thing is printed in several forms.
 * A field called test,
 * operation, metric, place, cluster, core or cpu fills that part of the key, every other field
 * that is not measured is a label. Sources without records add nothing.
 * TG_OK, TG_ENOMEM, TG_EINVAL. */
tg_status tg_plain_reduce(const tg_reduce_in *in, tg_result *out, tg_error *err);

#endif

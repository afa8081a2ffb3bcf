/* plain.h - readings of rules that need no reducer.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TG_FORMATS_PLAIN_H
#define TG_FORMATS_PLAIN_H

#include "tickgauge/format.h"

/* Turns the `values` of every rule that has some into keys and readings. A rule is named
 * "format.operation", or "format.operation.variant" where one thing is printed in several forms.
 * A field called test,
 * operation, metric, place, cluster, core or cpu fills that part of the key, every other field
 * that is not measured is a label. Sources without records add nothing.
 * TG_OK, TG_ENOMEM, TG_EINVAL. */
tg_status tg_plain_reduce(const tg_reduce_in *in, tg_result *out, tg_error *err);

/* Whether a rule with records counts its readings, or states ranges of values. */
bool tg_plain_counts(const tg_reduce_in *in);

#endif

/* tftf_names.h - names and titles of TF-A's runtime instrumentation tests.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TG_FORMATS_TFTF_NAMES_H
#define TG_FORMATS_TFTF_NAMES_H

#include <stdbool.h>

#include "tickgauge/intern.h"

/* The function behind a title, {NULL, 0} where the title is none of the suite's. */
tg_str tg_tftf_test_of_title(tg_str title);

/* The function of a record's name, without the suite's prefix. */
tg_str tg_tftf_test_of_name(tg_str name);

/* Whether the name is one of a shared helper, which both suspend tests printed before tf-a-tests
 * 2bfcf9ef. */
bool tg_tftf_ambiguous(tg_str test);

/* Whether a title of the suite stands for that function. */
bool tg_tftf_known(tg_str test);

/* Splits a title of the old form, "suite - test"; `*suite` is untouched where it is none. */
void tg_tftf_split_title(tg_str *title, tg_str *suite);

/* Among which cpus the readings of a test may be interchanged: the powerdown path of the parallel
 * tests queues over all cpus, the rest within a cluster. */
const char *tg_tftf_exchange(tg_str test, const char *metric);

#endif

/* console_axis.h - a boot on the clock of whoever wrote its console to a file.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TG_FORMATS_CONSOLE_AXIS_H
#define TG_FORMATS_CONSOLE_AXIS_H

#include "tickgauge/format.h"

/* Adds to "stages" the time from banner to banner, where lines have a stamp of
 * their arrival, and to "clocks" where the zeros of the other clocks lie. It reads "stages", and so
 * runs behind the reducers that write it. TG_OK, TG_ENOMEM, TG_EINTERRUPTED. */
tg_status tg_console_axes(const tg_reduce_in *in, tg_result *out, tg_error *err);

#endif

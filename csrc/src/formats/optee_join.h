/* optee_join.h - client lines, driver pairs and core pairs of one boot become calls.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TG_FORMATS_OPTEE_JOIN_H
#define TG_FORMATS_OPTEE_JOIN_H

#include "optee_call.h"

/* Joins the lines of one boot: appends its calls to `out`, ordered by their first stamps, and
 * gives the system calls their `call` (an index into `out`) and state. TG_OK, TG_ENOMEM,
 * TG_EINTERRUPTED. */
tg_status tg_calls_join(const tg_alloc *a, const tg_stop *stop, const tg_boot_lines *lines,
                        tg_calls *out, tg_shift *shift);

#endif

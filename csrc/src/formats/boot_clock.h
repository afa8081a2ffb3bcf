/* boot_clock.h - the board of a boot and its clock.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TG_FORMATS_BOOT_CLOCK_H
#define TG_FORMATS_BOOT_CLOCK_H

#include "tickgauge/format.h"
#include "tickgauge/topology.h"

/* The platform of a boot: the user's, else that of its banner; NULL: unknown. */
const tg_platform *tg_boot_platform(const tg_reduce_in *in, const tg_result *out, uint32_t boot);

/* The clock of a boot and where it was learned: option, log, platform. 0: unknown. */
uint64_t tg_boot_clock(const tg_reduce_in *in, const tg_result *out, uint32_t boot,
                       tg_clock_origin *origin);

#endif

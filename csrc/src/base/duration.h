/* duration.h - durations of several units, as systemd prints them.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TG_BASE_DURATION_H
#define TG_BASE_DURATION_H

#include <stddef.h>
#include <stdint.h>

#include "tickgauge/status.h"

/* The bytes of [p, p+n) that are a duration from the first byte on, 0 for none: parts such as
 * "1h", "3min" and "2.500s" with one blank between them, from the greatest unit (y month w d h min
 * s ms us) down, each unit once; only the last part may have a fraction. */
size_t tg_duration_length(const uint8_t *p, size_t n);

/* The value of a duration [p, end) in microseconds. A year is 365.25 days and a month its twelfth,
 * as in systemd. TG_OK, TG_ESYNTAX (it is none), TG_EOVERFLOW (more than 63 bits), TG_ERANGE (a
 * fraction below a microsecond); `*us` is untouched on failure. */
tg_status tg_parse_duration(const uint8_t *p, const uint8_t *end, int64_t *us);

#endif

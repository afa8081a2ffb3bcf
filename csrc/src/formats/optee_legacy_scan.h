/* optee_legacy_scan.h - where a tag of the drop-in may end.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TG_OPTEE_LEGACY_SCAN_H
#define TG_OPTEE_LEGACY_SCAN_H

#include <stdint.h>

/* The first ':' in [p, end) behind one of "delnry", the last letters of the six tags, and before a
 * byte up to 0x20 or `end`; `end` if there is none. Reads p[-1], and nothing from `end` on. */
typedef const uint8_t *tg_legacy_find_fn(const uint8_t *p, const uint8_t *end);

/* Plain C. */
tg_legacy_find_fn tg_legacy_find_portable;

/* The fastest one this processor can run; all of them give the same. */
tg_legacy_find_fn *tg_legacy_find_best(void);

#endif

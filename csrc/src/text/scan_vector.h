/* scan_vector.h - the scans that one kind of processor has. SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef TICKGAUGE_TEXT_SCAN_VECTOR_H
#define TICKGAUGE_TEXT_SCAN_VECTOR_H

#include <stdbool.h>
#include <string.h>

#include "scanner.h"

/* The scan of that name ("avx512", "avx2", "ssse3"; "neon"), NULL where this build or this
 * processor does not have it. All need tg_scanner.filter. */
tg_scan_fn tg_scan_x86(const char *name);
tg_scan_fn tg_scan_neon(const char *name);

#endif

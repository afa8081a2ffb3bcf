/* huge.h - large blocks in huge pages, where the system has them.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TG_BASE_HUGE_H
#define TG_BASE_HUGE_H

#include <stddef.h>

#define TG_HUGE ((size_t)2 << 20) /* bytes of a huge page */

/* Asks for huge pages for the inside of a block of memory, if it is large. */
void tg_huge_advise(void *p, size_t size);

#endif

/* banner.h - banners of TF-A that lack a part. SPDX-License-Identifier: BSD-3-Clause */
#ifndef TG_FORMATS_BANNER_H
#define TG_FORMATS_BANNER_H

#include "tickgauge/table.h"

/* The facts of a banner, NUL-terminated. */
typedef struct tg_banner {
  char text[128]; /* holds both */
  const char *version, *build;
} tg_banner;

/* Takes apart "v2.3:v2.3", "v1.5(debug):" or "v2.3", given as the digit behind the 'v' and the
 * rest; beyond the size of `text` they are cut. The version is the one behind the colon if there is
 * one, a build that is not stated is "unknown". */
void tg_banner_read(tg_str major, tg_str rest, tg_banner *out);

#endif

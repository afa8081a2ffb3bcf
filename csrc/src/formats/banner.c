/* banner.c - banners of TF-A that lack a part. SPDX-License-Identifier: BSD-3-Clause */
#include "banner.h"

#include <stdio.h>
#include <string.h>

void tg_banner_read(tg_str major, tg_str rest, tg_banner *out) {
  snprintf(out->text, sizeof out->text, "v%.*s%.*s", (int)major.n, (const char *)major.p,
           (int)rest.n, (const char *)rest.p);
  char *colon = strchr(out->text, ':'), *open = strchr(out->text, '(');
  char *close = strchr(out->text, ')');
  out->version = out->text;
  out->build = "unknown";
  if (open != NULL && close != NULL && close > open + 1 && (colon == NULL || close < colon)) {
    out->build = open + 1;
    *close = '\0';
  }
  if (open != NULL) *open = '\0';
  if (colon != NULL) *colon = '\0';
  if (colon != NULL && colon[1] != '\0') out->version = colon + 1;
}

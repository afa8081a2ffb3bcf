/* state.c - the section a reader is in, and where a line beyond the bound is cut.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "state.h"

#include <string.h>

bool tg_section_wants(const tg_reader *r, const tg_line *line) {
  if (r->section == TG_NOT) return false;
  if (!r->section_has_channel) return line->channel.p == NULL;
  return line->channel.p != NULL && line->channel.n == r->section_channel.n &&
         memcmp(line->channel.p, r->section_channel.p, line->channel.n) == 0;
}

tg_status tg_section_open(tg_reader *r, const tg_line *line, size_t section) {
  tg_copy_clear(&r->section_channel);
  r->section_has_channel = line->channel.p != NULL;
  if (r->section_has_channel) {
    tg_status status = tg_copy_put(&r->section_channel, line->channel.p, line->channel.n, 0);
    if (status != TG_OK) return status;
  }
  r->section = section;
  r->section_number = ++r->sections_seen;
  r->misfits = 0;
  return TG_OK;
}

size_t tg_long_cut(const uint8_t *p, size_t bound, bool *ended) {
  size_t at = bound - 1;
  for (; at > 0 && !(p[at - 1] == '\r' && p[at] != '\r'); at--) {
  }
  *ended = at > 0;
  if (at > 0) return at;
  size_t low = bound > 4096 ? bound - 4096 : 1;
  for (at = bound; at > low; at--) {
    if (tg_is_blank(p[at - 1]) || p[at - 1] == 0) return at;
  }
  return bound;
}

/* text_line.c - one text as the rules see it: control bytes and colour off, then section and rules.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "state.h"
#include "base/try.h"

/* Bytes of a control kind before the text (0x04 of a finished run, NULs of a reset, the CR of an
 * LFCR) are no part of it. */
static size_t lead_bytes(const uint8_t *p, size_t n) {
  size_t k = 0;
  while (k < n && ((p[k] < 0x20 && !(p[k] >= 0x09 && p[k] <= 0x0c) && p[k] != 0x1b) ||
                   p[k] == 0x7f))
    k++;
  return k;
}

/* The hits that lie in [from, to) of a line, moved so that `from` is 0, in r->own_hits. */
static tg_status part_hits(tg_reader *r, const tg_hit *hits, size_t n_hits, size_t from,
                              size_t to) {
  r->own_hits.n = 0;
  for (size_t i = 0; i < n_hits; i++) {
    if (hits[i].at < from || hits[i].at >= to) continue;
    tg_status status = tg_hits_push(&r->own_hits, hits[i].at - from, hits[i].needle, 0);
    if (status != TG_OK) return status;
  }
  return TG_OK;
}

/* The line without control sequences, as `plain`, and its hits. */
static tg_status take_colour(tg_reader *r, const tg_line *line, tg_line *plain) {
  tg_status status = tg_strip_colour(line, &r->plain);
  r->own_hits.n = 0;
  *plain = *line;
  plain->p = r->plain.n > 0 ? r->plain.p : (const uint8_t *)"";
  plain->n = r->plain.n;
  plain->map = r->plain.map;
  plain->n_map = r->plain.n_map;
  plain->offset = 0;
  plain->flags |= TG_FLAG_UNWRAPPED;
  if (status == TG_OK && plain->n > 0)
    status = tg_find_hits(r, plain->p, plain->n, &r->own_hits);
  return status;
}

/* Whether the line must lose its colour: at once where it has an ESC or ends in a sequence that
 * lost its own; else, as "[1m" may also be text, where the line gives less than all. */
static tg_status must_lose_colour(tg_reader *r, const tg_line *line, const tg_hit *hits,
                                  size_t n_hits, bool *yes) {
  tg_outcome raw = {0, 1, TG_NOT};
  tg_status status = TG_OK;
  *yes = tg_has_colour(line->p, line->n);
  if (!*yes || memchr(line->p, 0x1b, line->n) != NULL || tg_ends_in_colour(line->p, line->n))
    return TG_OK;
  if (n_hits > 0) status = tg_reader_try(r, line, hits, n_hits, false, &raw);
  *yes = raw.misses > 0;
  return status;
}

/* Section and rules on the line without its colour. */
static tg_status text_rules(tg_reader *r, const tg_line *line, const tg_hit *hits,
                            size_t n_hits) {
  tg_line plain;
  tg_outcome out;
  bool colour = false;
  tg_status status = must_lose_colour(r, line, hits, n_hits, &colour);
  if (status == TG_OK && colour) {
    status = take_colour(r, line, &plain);
    if (status != TG_OK || plain.n == 0) return status;
    line = &plain;
    hits = r->own_hits.v;
    n_hits = r->own_hits.n;
  }
  if (status != TG_OK) return status;
  if (tg_section_wants(r, line)) {
    bool done;
    status = tg_section_line(r, line, hits, n_hits, &done);
    if (status != TG_OK || done) return status;
  }
  if (n_hits == 0) return TG_OK;
  TG_TRY(tg_reader_try(r, line, hits, n_hits, true, &out));
  if (out.records == 0) TG_TRY(tg_reader_misses(r, line, hits, n_hits));
  return TG_OK;
}

tg_status tg_reader_text(tg_reader *r, tg_line line, const tg_hit *hits, size_t n_hits) {
  size_t lead = lead_bytes(line.p, line.n);
  tg_status status = TG_OK;
  if (hits == NULL) {
    status = tg_find_hits(r, line.p + lead, line.n - lead, &r->own_hits);
    hits = r->own_hits.v;
    n_hits = r->own_hits.n;
  } else if (lead > 0) {
    status = part_hits(r, hits, n_hits, lead, line.n);
    hits = r->own_hits.v;
    n_hits = r->own_hits.n;
  }
  if (status != TG_OK) return status;
  line = tg_line_part(&line, lead, line.n);
  return text_rules(r, &line, hits, n_hits);
}

/* quick.c - the usual line: one tag, plain text, straight rules.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "state.h"
#include "straight.h"

typedef enum verdict { FULL_TRY, NO_RULE, RULE } verdict;

/* The first rule of the tag that matches. Not one: NO_RULE, or FULL_TRY where one is not straight
 * or a miss may have to be kept. Rules of both policies under one tag take turns in another way,
 * which is left to the full try. */
static verdict find_rule(const tg_reader *r, const tg_tag *tag, tg_straight *m, size_t at,
                         size_t *rule) {
  const bool all = r->rules->rules[tag->rules[0]].all;
  bool keep_taken = false, keep_free = false;
  for (size_t k = 0; k < tag->n_rules; k++) {
    const tg_rule *it = &r->rules->rules[tag->rules[k]];
    if (!it->t->straight || it->all != all || it->section != TG_NOT) return FULL_TRY;
    m->t = it->t;
    if (tg_straight_match(m, at)) {
      *rule = tag->rules[k];
      return keep_taken ? FULL_TRY : RULE;
    }
    if (m->gave_up) return FULL_TRY;
    if (r->near == NULL) continue;
    keep_taken = keep_taken || tg_near_wants(r->near, tag->rules[k], m->reach, true);
    keep_free = keep_free || tg_near_wants(r->near, tag->rules[k], m->reach, false);
  }
  return keep_free ? FULL_TRY : NO_RULE;
}

/* A text that the transport leaves as it is. */
static bool is_plain(const tg_reader *r, const uint8_t *p, size_t n) {
  if (n == 0 || p[0] < 0x20 || p[0] == 0x7f || p[0] == '-') return false;
  if (r->hits.returns && memchr(p, '\r', n) != NULL) return false;
  return !r->hits.escapes || memchr(p, 0x1b, n) == NULL;
}

tg_status tg_reader_quick(tg_reader *r, const uint8_t *p, size_t n, uint64_t offset,
                          const tg_hit *hit, bool *done) {
  const tg_tag *tag = &r->rules->tags[hit->needle];
  uint64_t numbers[TG_TEMPLATE_FIELDS];
  size_t rule = TG_NOT;
  *done = false;
  while (r->hits.returns && n > 0 && p[n - 1] == '\r') n--;
  if (!is_plain(r, p, n)) return TG_OK;
  tg_straight m = {.p = p, .n = n, .fields = r->spans, .numbers = numbers};
  const verdict found_rule = find_rule(r, tag, &m, hit->at, &rule);
  if (found_rule == FULL_TRY) return TG_OK;
  if (found_rule == NO_RULE && (tag->hard || tg_has_colour(p, n))) return TG_OK;
  *done = true;
  r->out->tally[hit->needle].occurrences++;
  if (found_rule == NO_RULE) {
    r->out->tally[hit->needle].unread++;
    return TG_OK;
  }
  tg_line *line = &r->usual;
  line->p = p;
  line->n = n;
  line->offset = line->raw_offset = offset;
  line->number = r->lines + 1;
  line->raw = (tg_str){p, n};
  const tg_found found = {.line = line,
                          .fields = m.fields,
                          .numbers = numbers,
                          .known = m.known,
                          .rule = rule,
                          .start = m.start,
                          .end = m.end,
                          .tag_pos = hit->at};
  bool added;
  return tg_records_add(r->out, &found, &added);
}

/* quick.c - the usual line: plain text, one record or none, rules with a straight way.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "state.h"
#include "straight.h"

enum { MOST_MISSES = 24 }; /* noted on a line; with more it takes the full way */

typedef enum verdict { FULL_TRY, NO_RULE, RULE } verdict;

/* A noted miss; `group` is the first rule that is tried together with it. */
typedef struct near_miss {
  uint32_t rule, group;
  size_t reach;
} near_miss;

/* The line at hand: its hits, the match, and the misses so far. */
typedef struct quick_line {
  const tg_hit *hits;
  size_t n_hits;
  tg_straight *match; /* of `rule` with its tag on `tag_at` */
  size_t rule, tag_at;
  bool hard; /* a tag that must give a record gave none */
  near_miss misses[MOST_MISSES];
  size_t n_misses;
} quick_line;

/* Keeps a miss until the line is decided; false where there is no room. */
static bool note_miss(const tg_reader *r, quick_line *q, const tg_tag *tag, uint32_t rule,
                      const tg_straight *m) {
  if (r->near == NULL || !m->noted) return true;
  if (q->n_misses == MOST_MISSES) return false;
  const bool all = r->rules->rules[rule].all;
  q->misses[q->n_misses++] = (near_miss){rule, all ? tag->rules[0] : rule, m->reach};
  return true;
}

/* The first rule of the tag that matches. Not one: NO_RULE, or FULL_TRY where it cannot be known.
 * Rules of both policies under one tag take turns in another way, which is left to the full try,
 * and so is the begin of a section. */
static verdict find_rule(const tg_reader *r, quick_line *q, const tg_hit *hit, tg_straight *m,
                         size_t *rule) {
  const tg_tag *tag = &r->rules->tags[hit->needle];
  m->anywhere = !r->rules->rules[tag->rules[0]].all;
  for (size_t k = 0; k < tag->n_rules; k++) {
    const uint32_t number = tag->rules[k];
    const tg_rule *it = &r->rules->rules[number];
    if (!it->t->straight || it->all == m->anywhere) return FULL_TRY;
    m->t = it->t;
    if (tg_straight_match(m, hit->at)) {
      *rule = number;
      return it->section == TG_NOT ? RULE : FULL_TRY;
    }
    if (m->gave_up || !note_miss(r, q, tag, number, m)) return FULL_TRY;
  }
  return NO_RULE;
}

static bool tag_stands_twice(const quick_line *q, size_t i) {
  for (size_t k = 0; k < i; k++)
    if (q->hits[k].needle == q->hits[i].needle) return true;
  return false;
}

/* Asks every tag of the line. RULE: exactly one rule matches, and no torn record stands beside it.
 * NO_RULE: nothing matches, and nothing had to. */
static verdict find_record(tg_reader *r, quick_line *q, tg_straight *first) {
  uint64_t numbers[TG_TEMPLATE_FIELDS];
  tg_straight second, *m = first; /* the second is for tags behind the one that matched */
  verdict whole = NO_RULE;
  for (size_t i = 0; i < q->n_hits; i++) {
    const tg_tag *tag = &r->rules->tags[q->hits[i].needle];
    size_t rule = TG_NOT;
    if (tag_stands_twice(q, i)) return FULL_TRY;
    const verdict one = find_rule(r, q, &q->hits[i], m, &rule);
    if (one == FULL_TRY || (one == RULE && whole == RULE)) return FULL_TRY;
    if (one == NO_RULE && tag->hard) {
      if (r->rules->rules[tag->rules[0]].all) return FULL_TRY;
      q->hard = true;
    }
    if (one != RULE) continue;
    whole = RULE;
    q->rule = rule;
    q->tag_at = q->hits[i].at;
    q->match = first;
    if (i + 1 == q->n_hits) break;
    second = (tg_straight){
        .p = first->p, .n = first->n, .fields = r->quick_spans[1], .numbers = numbers};
    m = &second;
  }
  return q->hard && whole != RULE ? FULL_TRY : whole;
}

/* True where the full way would keep a near miss of this line, which `taken` got (TG_NOT: none). */
static bool keeps_miss(const tg_reader *r, const quick_line *q, size_t taken) {
  if (taken != TG_NOT && r->options.keep_near != TG_KEEP_ALL) return false;
  for (size_t i = 0; i < q->n_misses; i++) {
    const near_miss *miss = &q->misses[i];
    const bool tried = taken == TG_NOT || miss->group < taken ||
                       (r->rules->rules[taken].all && r->rules->rules[miss->rule].all);
    if (tried && tg_near_wants(r->near, miss->rule, miss->reach, taken != TG_NOT)) return true;
  }
  return false;
}

/* A text that the transport leaves as it is. */
static bool is_plain(const tg_reader *r, const uint8_t *p, size_t n) {
  if (n == 0 || p[0] < 0x20 || p[0] == 0x7f || p[0] == '-') return false;
  if (r->hits.returns && memchr(p, '\r', n) != NULL) return false;
  if (p[n - 1] == 'm' && tg_ends_in_colour(p, n)) return false;
  return !r->hits.escapes || memchr(p, 0x1b, n) == NULL;
}

/* Adds the record of the line [p, p+n). */
static tg_status add_record(tg_reader *r, const uint8_t *p, size_t n, uint64_t offset,
                            tg_found *found) {
  tg_line *line = &r->usual;
  bool added;
  line->p = p;
  line->n = n;
  line->offset = line->raw_offset = offset;
  line->number = r->lines + 1;
  line->raw = (tg_str){p, n};
  found->line = line;
  return tg_records_add(r->out, found, &added);
}

tg_status tg_reader_alike(tg_reader *r, const uint8_t *p, uint64_t offset,
                          const tg_alike_line *line, bool *done) {
  const tg_pattern *a = line->pattern;
  tg_span spans[TG_ALIKE_FIELDS];
  uint64_t numbers[TG_ALIKE_FIELDS];
  size_t n = line->size - 1;
  while (n > 0 && p[n - 1] == '\r') n--;
  tg_found found = {.fields = spans,
                    .numbers = numbers,
                    .rule = a->rule,
                    .start = tg_alike_at(line, a->start),
                    .end = tg_alike_at(line, a->stop),
                    .tag_pos = tg_alike_at(line, a->hits[0])};
  *done = tg_alike_values(line, spans, numbers, &found.known);
  if (!*done) return TG_OK;
  r->out->tally[a->needle[0]].occurrences++;
  return add_record(r, p, n, offset, &found);
}

tg_status tg_reader_quick(tg_reader *r, const uint8_t *p, size_t n, uint64_t offset,
                          const tg_hit *hits, size_t n_hits, bool *done,
                          tg_alike_record *record) {
  uint64_t numbers[TG_TEMPLATE_FIELDS];
  quick_line q;
  q.hits = hits;
  q.n_hits = n_hits;
  q.rule = TG_NOT;
  q.hard = false;
  q.n_misses = 0; /* the room for them stays as it is: this runs for every line */
  *done = false;
  while (r->hits.returns && n > 0 && p[n - 1] == '\r') n--;
  if (!is_plain(r, p, n)) return TG_OK;
  tg_straight first = {.p = p, .n = n, .fields = r->quick_spans[0], .numbers = numbers};
  const verdict found = find_record(r, &q, &first);
  if (found == FULL_TRY || (found == NO_RULE && tg_has_colour(p, n))) return TG_OK;
  if (keeps_miss(r, &q, found == RULE ? q.rule : TG_NOT)) return TG_OK;
  *done = true;
  for (size_t i = 0; i < n_hits; i++) {
    tg_tally *tally = &r->out->tally[hits[i].needle];
    tally->occurrences++;
    tally->unread += found == NO_RULE;
  }
  *record = (tg_alike_record){.rule = TG_NOT};
  if (found != RULE) return TG_OK;
  const tg_straight *m = q.match;
  *record = (tg_alike_record){q.rule, m->start, m->end, m->fields};
  tg_found one = {.fields = m->fields,
                  .numbers = m->numbers,
                  .known = m->known,
                  .rule = q.rule,
                  .start = m->start,
                  .end = m->end,
                  .tag_pos = q.tag_at};
  return add_record(r, p, n, offset, &one);
}

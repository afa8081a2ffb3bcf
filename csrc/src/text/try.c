/* try.c - the rules on one line: which record it gives, or what came nearest.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "reader_private.h"

const char *tg_reason_of(const tg_match *m) {
  if (m->near_edge) return TG_REASON_EDGE;
  if (m->near.at >= m->n) return TG_REASON_CUT;
  return m->t->inst[m->near.item].op == TG_OP_NUMBER ? TG_REASON_NUMBER : TG_REASON_MISMATCH;
}

/* Keeps the furthest miss of the rule's tag on this line. */
static void tg_note_miss(tg_reader *r, size_t rule, const tg_match *m) {
  size_t tag = r->rules->rules[rule].tag;
  tg_miss_of_tag *miss = &r->misses[tag];
  if (miss->serial != r->serial) *miss = (tg_miss_of_tag){.serial = r->serial};
  if (m->near.expected == NULL || (miss->have && m->near.at <= miss->at)) return;
  *miss = (tg_miss_of_tag){r->serial, m->near.at, rule, tg_reason_of(m), m->near.expected, true};
}

/* The rules that have a tag on the line, ascending and each once. */
static tg_status tg_candidates(tg_reader *r, const tg_hit *hits, size_t n_hits) {
  r->serial++;
  r->n_cand = 0;
  for (size_t i = 0; i < n_hits; i++) {
    tg_miss_of_tag *miss = &r->misses[hits[i].needle];
    const tg_tag *tag = &r->rules->tags[hits[i].needle];
    if (miss->serial == r->serial) continue;
    *miss = (tg_miss_of_tag){.serial = r->serial};
    void *data = r->cand;
    tg_status status =
        tg_grow(&r->alloc, &data, &r->cap_cand, r->n_cand + tag->n_rules, sizeof *r->cand);
    if (status != TG_OK) return status;
    r->cand = data;
    for (size_t k = 0; k < tag->n_rules; k++) {
      size_t at = r->n_cand++;
      for (; at > 0 && r->cand[at - 1] > tag->rules[k]; at--) r->cand[at] = r->cand[at - 1];
      r->cand[at] = tag->rules[k];
    }
  }
  return TG_OK;
}

/* The places of a tag, ascending. */
static tg_status tg_collect_places(tg_reader *r, size_t tag, const tg_hit *hits, size_t n_hits) {
  void *data = r->places;
  tg_status status = tg_grow(&r->alloc, &data, &r->cap_places, n_hits, sizeof *r->places);
  if (status != TG_OK) return status;
  r->places = data;
  r->n_places = 0;
  for (size_t i = 0; i < n_hits; i++) {
    if (hits[i].needle == tag) r->places[r->n_places++] = hits[i].at;
  }
  return TG_OK;
}

static tg_status tg_take_record(tg_reader *r, const tg_line *line, size_t rule, const tg_match *m,
                                bool commit, tg_outcome *out) {
  bool added = true;
  tg_status status = TG_OK;
  const tg_rule *it = &r->rules->rules[rule];
  out->records++;
  if (!commit) return TG_OK;
  uint32_t section = it->section != TG_NOT ? r->sections_seen + 1 : 0;
  tg_found found = {line, m->fields, rule, m->start, m->end, m->tag_pos, section};
  status = tg_records_add(r->out, &found, &added);
  if (status == TG_OK && added && it->section != TG_NOT)
    status = tg_section_open(r, line, it->section);
  return status;
}

/* Policy first: the leftmost match of the rule. */
static tg_status tg_try_first(tg_reader *r, const tg_line *line, size_t rule, const tg_hit *hits,
                              size_t n_hits, bool commit, tg_outcome *out) {
  const tg_rule *it = &r->rules->rules[rule];
  tg_match m;
  tg_status status = tg_collect_places(r, it->tag, hits, n_hits);
  if (status == TG_OK)
    status = tg_match_begin(&m, it->t, &r->rules->scratch[0], line->p, line->n, r->spans);
  if (status != TG_OK) return status;
  m.line_at = it->t->begin ? tg_prefix_length(line->p, line->n) : 0;
  bool found = tg_match_line(&m, r->places, r->n_places);
  if (m.nomem) return TG_ENOMEM;
  if (found) return tg_take_record(r, line, rule, &m, commit, out);
  tg_note_miss(r, rule, &m);
  return TG_OK;
}

static tg_status tg_begin_group(tg_reader *r, const tg_line *line, const tg_tag *tag) {
  for (size_t k = 0; k < tag->n_rules; k++) {
    const tg_template *t = r->rules->rules[tag->rules[k]].t;
    tg_status status =
        tg_match_begin(&r->match[k], t, &r->rules->scratch[k], line->p, line->n,
                       r->spans + k * TG_TEMPLATE_FIELDS);
    if (status != TG_OK) return status;
    r->match[k].line_at = t->begin ? tg_prefix_length(line->p, line->n) : 0;
  }
  return TG_OK;
}

/* Which rule of the group matches with its tag on `at`: TG_NOT for none, then `*worst` is the
 * rule that came nearest. */
static size_t tg_group_at(tg_reader *r, const tg_tag *tag, size_t from, size_t at, size_t *worst,
                          bool *nomem) {
  *worst = TG_NOT;
  for (size_t k = 0; k < tag->n_rules; k++) {
    tg_match *m = &r->match[k];
    if (!r->rules->rules[tag->rules[k]].all) continue;
    m->near = (tg_near){0, 0, NULL};
    m->near_edge = false;
    if (tg_match_tag(m, from, at)) return k;
    *nomem = *nomem || m->nomem;
    tg_note_miss(r, tag->rules[k], m);
    if (m->near.expected != NULL &&
        (*worst == TG_NOT || m->near.at > r->match[*worst].near.at))
      *worst = k;
  }
  return TG_NOT;
}

static tg_status tg_keep_missed(tg_reader *r, const tg_line *line, const tg_tag *tag, size_t at,
                                size_t worst) {
  void *data = r->missed;
  tg_status status =
      tg_grow(&r->alloc, &data, &r->cap_missed, r->n_missed + 1, sizeof *r->missed);
  if (status != TG_OK) return status;
  r->missed = data;
  tg_trouble t = {line, at, tag->rules[0], (size_t)(tag - r->rules->tags), TG_REASON_MISMATCH,
                  "a whole record"};
  if (worst != TG_NOT) {
    const tg_match *m = &r->match[worst];
    t.at = m->near.at;
    t.rule = tag->rules[worst];
    t.reason = tg_reason_of(m);
    t.expected = m->near.expected;
  }
  r->missed[r->n_missed++] = t;
  return TG_OK;
}

/* Policy all: a record for every occurrence of the tag that is whole, a problem for the others. */
static tg_status tg_try_all(tg_reader *r, const tg_line *line, size_t tag_index,
                            const tg_hit *hits, size_t n_hits, bool commit, tg_outcome *out) {
  const tg_tag *tag = &r->rules->tags[tag_index];
  size_t from = 0;
  size_t cursor = 0;
  bool nomem = false;
  r->n_missed = 0;
  tg_status status = tg_collect_places(r, tag_index, hits, n_hits);
  if (status == TG_OK) status = tg_begin_group(r, line, tag);
  for (size_t i = 0; status == TG_OK && i < r->n_places; i++) {
    size_t at = r->places[i];
    size_t worst;
    if (at < cursor) continue;
    size_t k = tg_group_at(r, tag, from, at, &worst, &nomem);
    if (nomem) return TG_ENOMEM;
    from = at + 1;
    if (k == TG_NOT) {
      status = tg_keep_missed(r, line, tag, at, worst);
      continue;
    }
    status = tg_take_record(r, line, tag->rules[k], &r->match[k], commit, out);
    cursor = r->match[k].end;
    if (cursor > from) from = cursor;
  }
  out->misses += r->n_missed;
  if (!tag->hard) r->n_missed = 0;
  if (out->records == 0) return status;
  for (size_t i = 0; commit && status == TG_OK && i < r->n_missed; i++) {
    status = tg_records_problem(r->out, &r->missed[i]);
  }
  return status;
}

tg_status tg_reader_misses(tg_reader *r, const tg_line *line, const tg_hit *hits, size_t n_hits) {
  tg_status status = TG_OK;
  for (size_t i = 0; status == TG_OK && i < n_hits; i++) {
    size_t tag = hits[i].needle;
    tg_miss_of_tag *miss = &r->misses[tag];
    if (miss->serial != r->serial || !r->rules->tags[tag].hard) continue;
    tg_trouble t = {line, hits[i].at, r->rules->tags[tag].rules[0], tag, TG_REASON_MISMATCH,
                    "the rest of the line before it"};
    if (miss->have) {
      t = (tg_trouble){line, miss->at, miss->rule, tag, miss->reason, miss->expected};
    }
    miss->serial = r->serial - 1; /* told */
    if (r->n_missed > 0 && r->missed[0].tag == tag) {
      for (size_t k = 0; status == TG_OK && k < r->n_missed; k++)
        status = tg_records_problem(r->out, &r->missed[k]);
    } else {
      status = tg_records_problem(r->out, &t);
    }
  }
  return status;
}

static void tg_count_hits(tg_reader *r, const tg_hit *hits, size_t n_hits) {
  for (size_t i = 0; i < n_hits; i++) r->out->tally[hits[i].needle].occurrences++;
}

tg_status tg_reader_try(tg_reader *r, const tg_line *line, const tg_hit *hits, size_t n_hits,
                        bool commit, tg_outcome *out) {
  *out = (tg_outcome){0, 0};
  r->n_missed = 0;
  tg_status status = tg_candidates(r, hits, n_hits);
  if (status != TG_OK) return status;
  if (commit) tg_count_hits(r, hits, n_hits);
  size_t group = TG_NOT;
  for (size_t i = 0; status == TG_OK && i < r->n_cand && out->records == 0; i++) {
    size_t rule = r->cand[i];
    size_t tag = r->rules->rules[rule].tag;
    if (!r->rules->rules[rule].all) {
      status = tg_try_first(r, line, rule, hits, n_hits, commit, out);
    } else if (tag != group) {
      group = tag;
      status = tg_try_all(r, line, tag, hits, n_hits, commit, out);
    }
  }
  if (out->records == 0 && n_hits > 0 && out->misses == 0) out->misses = 1;
  return status;
}

/* section.c - tables in a console: a begin line, rows, an end.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "state.h"

#define TG_MISFITS 64 /* lines in a row that fit nothing: the section was left without its end */

static bool blank_line(const tg_line *line, size_t from) {
  for (size_t i = from; i < line->n; i++) {
    if (!tg_is_blank(line->p[i])) return false;
  }
  return true;
}

/* Tries one template that needs no tag. TG_OK, TG_ENOMEM. */
static tg_status try_row(tg_reader *r, const tg_template *t, const tg_line *line, tg_match *m,
                            bool *found) {
  tg_status status =
      tg_match_begin(m, t, &r->rules->scratch[0], line->p, line->n, r->spans);
  if (status != TG_OK) return status;
  m->line_at = tg_prefix_length(r->prefix, line->p, line->n);
  *found = tg_match_row(m);
  return m->failed;
}

static tg_status section_misfit(tg_reader *r, const tg_line *line, const tg_trouble *nearest) {
  tg_status status = tg_records_problem(r->out, nearest);
  if (status != TG_OK || ++r->misfits < TG_MISFITS) return status;
  tg_trouble t = {line, 0, r->rules->sections[r->section].begin, TG_NOT, TG_REASON_OPEN,
                  "the end of the section", 0};
  r->section = TG_NOT;
  return tg_records_problem(r->out, &t);
}

/* The rows in order; `*done` where one fits. Otherwise `nearest` tells which came nearest. */
static tg_status section_rows(tg_reader *r, const tg_line *line, bool *done,
                                 tg_trouble *nearest) {
  const tg_section *s = &r->rules->sections[r->section];
  *nearest = (tg_trouble){line, 0, s->begin, TG_NOT, TG_REASON_ROW, "a row of the section", 0};
  for (size_t k = s->first_row; k < s->first_row + s->n_rows; k++) {
    tg_match m;
    bool found = false;
    tg_status status = try_row(r, r->rules->rules[k].t, line, &m, &found);
    if (status != TG_OK) return status;
    if (found) {
      tg_found f = {line, m.fields, k, m.start, m.end, SIZE_MAX, r->section_number, 0, NULL};
      bool added;
      *done = true;
      r->misfits = 0;
      tg_note_prefixed(r, line, m.start);
      return tg_records_add(r->out, &f, &added);
    }
    if (m.near.expected != NULL && r->near != NULL) {
      tg_miss held = {line, k, m.near.at, m.reach, (uint32_t)m.near.item, m.near.expected};
      status = tg_near_hold(r->near, &held);
      if (status != TG_OK) return status;
    }
    if (m.near.expected != NULL && m.near.at > nearest->at) {
      nearest->at = m.near.at;
      nearest->rule = k;
      nearest->expected = m.near.expected;
      nearest->item = (uint32_t)m.near.item;
    }
  }
  return TG_OK;
}

/* Whether all tags of a line are that of the section's begin line: where such a line ends the
 * section, it is no torn begin. */
static bool own_tags(const tg_reader *r, const tg_section *s, const tg_hit *hits, size_t n_hits) {
  for (size_t i = 0; i < n_hits; i++)
    if (hits[i].needle != r->rules->rules[s->begin].tag) return false;
  return true;
}

/* Rules in order: a rule before the section's takes the line, else its end and rows come first. */
tg_status tg_section_line(tg_reader *r, const tg_line *line, const tg_hit *hits, size_t n_hits,
                          bool *done) {
  const tg_section *s = &r->rules->sections[r->section];
  bool blank =
      blank_line(line, tg_prefix_length(r->prefix, line->p, line->n)) || blank_line(line, 0);
  bool found = s->end == NULL && blank;
  tg_outcome out = {0, 0, TG_NOT};
  tg_match m;
  tg_trouble nearest;
  *done = false;
  tg_status status = s->end != NULL ? try_row(r, s->end, line, &m, &found) : TG_OK;
  if (status != TG_OK) return status;
  if (found) r->section = TG_NOT;
  if (n_hits > 0) {
    status = tg_reader_try(r, line, hits, n_hits, false, &out);
    if (status != TG_OK || (out.records > 0 && out.rule < s->begin)) return status;
  }
  if (found) {
    *done = out.records == 0 && own_tags(r, s, hits, n_hits);
  } else {
    status = section_rows(r, line, done, &nearest);
    if (r->near != NULL) tg_near_settle(r->near, *done ? s->begin : TG_NOT);
  }
  if (status != TG_OK) return status;
  if (*done) {
    for (size_t i = 0; i < n_hits; i++) r->out->tally[hits[i].needle].occurrences++;
    return TG_OK;
  }
  if (n_hits > 0 && (found || out.records > 0 || !own_tags(r, s, hits, n_hits))) return TG_OK;
  for (size_t i = 0; i < n_hits; i++) r->out->tally[hits[i].needle].occurrences++;
  *done = true;
  return blank ? TG_OK : section_misfit(r, line, &nearest);
}

tg_status tg_section_finish(tg_reader *r) {
  if (r->section == TG_NOT) return TG_OK;
  size_t section = r->section;
  r->section = TG_NOT;
  const tg_section *s = &r->rules->sections[section];
  if (s->end == NULL || r->rules->rules[s->begin].soft) return TG_OK;
  tg_line none = {.p = (const uint8_t *)"",
                  .raw = {(const uint8_t *)"", 0},
                  .offset = r->offset,
                  .raw_offset = r->offset,
                  .number = tg_line_at_hand(r)};
  tg_trouble t = {&none, 0, r->rules->sections[section].begin, TG_NOT, TG_REASON_OPEN,
                  "the end of the section", 0};
  return tg_records_problem(r->out, &t);
}

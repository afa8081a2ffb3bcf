/* try.c - the rules on one line: which record it gives, or its nearest miss.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "base/mem.h"
#include "base/try.h"
#include "state.h"

static const char *reason_of(const tg_match *m) {
  if (m->near_edge) return TG_REASON_EDGE;
  if (m->near.at >= m->n) return TG_REASON_CUT;
  return m->t->inst[m->near.item].op == TG_OP_NUMBER ? TG_REASON_NUMBER : TG_REASON_MISMATCH;
}

/* Keeps the furthest miss of the rule's tag on this line. TG_OK, TG_ENOMEM. */
static tg_status note_miss(tg_reader *r, const tg_line *line, size_t rule, const tg_match *m) {
  size_t tag = r->rules->rules[rule].tag;
  tg_miss_of_tag *miss = &r->misses[tag];
  if (m->near.expected == NULL) return TG_OK;
  uint32_t item = (uint32_t)m->near.item;
  if (r->noting) {
    tg_miss held = {line, rule, m->near.at, m->reach, item, m->near.expected};
    tg_status status = tg_near_hold(r->near, &held);
    if (status != TG_OK) return status;
  }
  if (miss->have && m->reach <= miss->reach) return TG_OK;
  miss->at = m->near.at;
  miss->reach = m->reach;
  miss->rule = rule;
  miss->reason = reason_of(m);
  miss->expected = m->near.expected;
  miss->item = item;
  miss->have = true;
  return TG_OK;
}

/* The rules that have a tag on the line, ascending and each once. */
static tg_status candidates(tg_reader *r, const tg_hit *hits, size_t n_hits) {
  r->serial++;
  r->n_cand = 0;
  for (size_t i = 0; i < n_hits; i++) {
    tg_miss_of_tag *miss = &r->misses[hits[i].needle];
    const tg_tag *tag = &r->rules->tags[hits[i].needle];
    if (miss->serial == r->serial) continue;
    *miss = (tg_miss_of_tag){.serial = r->serial};
    tg_status status =
        tg_reserve(&r->alloc, &r->cand, &r->cap_cand, r->n_cand + tag->n_rules, sizeof *r->cand);
    if (status != TG_OK) return status;
    for (size_t k = 0; k < tag->n_rules; k++) {
      size_t at = r->n_cand++;
      for (; at > 0 && r->cand[at - 1] > tag->rules[k]; at--) r->cand[at] = r->cand[at - 1];
      r->cand[at] = tag->rules[k];
    }
  }
  return TG_OK;
}

/* The places of a tag, ascending. */
static tg_status collect_places(tg_reader *r, size_t tag, const tg_hit *hits, size_t n_hits) {
  tg_status status = tg_reserve(&r->alloc, &r->places, &r->cap_places, n_hits, sizeof *r->places);
  if (status != TG_OK) return status;
  r->n_places = 0;
  for (size_t i = 0; i < n_hits; i++) {
    if (hits[i].needle == tag) r->places[r->n_places++] = hits[i].at;
  }
  return TG_OK;
}

static tg_status take_record(tg_reader *r, const tg_line *line, size_t rule, const tg_match *m,
                             bool commit, tg_outcome *out) {
  bool added = true;
  tg_status status = TG_OK;
  const tg_rule *it = &r->rules->rules[rule];
  out->records++;
  if (rule < out->rule) out->rule = rule;
  if (r->taker == TG_NOT) r->taker = rule;
  if (!commit) return TG_OK;
  if (it->t->begin) tg_note_prefixed(r, line, m->start);
  uint32_t section = it->section != TG_NOT ? r->sections_seen + 1 : 0;
  tg_found found = {line, m->fields, rule, m->start, m->end, m->tag_pos, section, 0, NULL};
  status = tg_records_add(r->out, &found, &added);
  if (status == TG_OK && added && it->section != TG_NOT)
    status = tg_section_open(r, line, it->section);
  return status;
}

/* Policy first: the leftmost match of the rule. */
static tg_status try_first(tg_reader *r, const tg_line *line, size_t rule, const tg_hit *hits,
                           size_t n_hits, bool commit, tg_outcome *out) {
  const tg_rule *it = &r->rules->rules[rule];
  tg_match m;
  tg_status status = collect_places(r, it->tag, hits, n_hits);
  if (status == TG_OK)
    status = tg_match_begin(&m, it->t, &r->rules->scratch[0], line->p, line->n, r->spans);
  if (status != TG_OK) return status;
  m.line_at = it->t->begin ? tg_prefix_length(r->prefix, line->p, line->n) : 0;
  bool found = tg_match_line(&m, r->places, r->n_places);
  if (m.failed != TG_OK) return m.failed;
  if (found) return take_record(r, line, rule, &m, commit, out);
  return note_miss(r, line, rule, &m);
}

static tg_status begin_group(tg_reader *r, const tg_line *line, const tg_tag *tag) {
  for (size_t k = 0; k < tag->n_rules; k++) {
    const tg_template *t = r->rules->rules[tag->rules[k]].t;
    tg_status status = tg_match_begin(&r->match[k], t, &r->rules->scratch[k], line->p, line->n,
                                      r->spans + k * TG_TEMPLATE_FIELDS);
    if (status != TG_OK) return status;
    r->match[k].line_at = t->begin ? tg_prefix_length(r->prefix, line->p, line->n) : 0;
  }
  return TG_OK;
}

/* Which rule of the group matches with its tag on `at`: TG_NOT for none, then `*worst` is the
 * rule that came nearest. */
static size_t group_at(tg_reader *r, const tg_line *line, const tg_tag *tag, size_t from, size_t at,
                       size_t *worst, tg_status *status) {
  *worst = TG_NOT;
  for (size_t k = 0; k < tag->n_rules; k++) {
    tg_match *m = &r->match[k];
    if (!r->rules->rules[tag->rules[k]].all) continue;
    m->near = (tg_near){0, 0, NULL};
    m->reach = 0;
    m->near_edge = false;
    if (tg_match_tag(m, from, at)) return k;
    if (m->failed == TG_OK) m->failed = note_miss(r, line, tag->rules[k], m);
    if (m->failed != TG_OK) *status = m->failed;
    if (m->near.expected != NULL && (*worst == TG_NOT || m->reach > r->match[*worst].reach))
      *worst = k;
  }
  return TG_NOT;
}

static tg_status keep_missed(tg_reader *r, const tg_line *line, const tg_tag *tag, size_t at,
                             size_t worst) {
  tg_status status =
      tg_reserve(&r->alloc, &r->missed, &r->cap_missed, r->n_missed + 1, sizeof *r->missed);
  if (status != TG_OK) return status;
  tg_trouble t = {
      line, at, tag->rules[0], (size_t)(tag - r->rules->tags), TG_REASON_MISMATCH, "a whole record",
      0};
  if (worst != TG_NOT) {
    const tg_match *m = &r->match[worst];
    t.at = m->near.at;
    t.rule = tag->rules[worst];
    t.reason = reason_of(m);
    t.expected = m->near.expected;
    t.item = (uint32_t)m->near.item;
  }
  r->missed[r->n_missed++] = t;
  return TG_OK;
}

/* The free stretch of the line around `at`: false where a record has it. `*next` is the first
 * taken span that does not end before; places ascend, so it only moves on. */
static bool free_around(const tg_reader *r, size_t at, size_t *next, size_t *from, size_t *to) {
  while (*next < r->n_taken && r->taken[*next].end <= at) ++*next;
  const size_t before = *next > 0 ? r->taken[*next - 1].end : 0;
  const size_t own = r->n_fresh > 0 ? r->fresh[r->n_fresh - 1].end : 0;
  if (before > *from) *from = before;
  if (own > *from) *from = own;
  *to = *next < r->n_taken ? r->taken[*next].start : SIZE_MAX;
  return own <= at && *to > at;
}

static tg_status take_span(tg_reader *r, size_t start, size_t end) {
  tg_status status =
      tg_reserve(&r->alloc, &r->fresh, &r->cap_fresh, r->n_fresh + 1, sizeof *r->fresh);
  if (status != TG_OK) return status;
  r->fresh[r->n_fresh++] = (tg_span){start, end};
  return TG_OK;
}

/* Merges the spans of one tag into those of the line, from the back. */
static tg_status merge_taken(tg_reader *r) {
  tg_status status = tg_reserve(&r->alloc, &r->taken, &r->cap_taken, r->n_taken + r->n_fresh + 1,
                                sizeof *r->taken);
  if (status != TG_OK) return status;
  size_t i = r->n_taken, k = r->n_fresh, at = i + k;
  r->n_taken = at;
  while (k > 0) {
    const bool old = i > 0 && r->taken[i - 1].start > r->fresh[k - 1].start;
    r->taken[--at] = old ? r->taken[--i] : r->fresh[--k];
  }
  r->n_fresh = 0;
  return TG_OK;
}

/* Whether the record that rule `k` has at place `i` was torn: it begins with its tag, and a whole
 * record begins so inside it, as where a line lost its end and the next one followed. A word or a
 * text takes both as one. Then those before the whole one are kept as missed, `*torn` of them; else
 * the match stands as it was. Only the last place inside is asked: a line of tags costs no more. */
static tg_status torn_by_next(tg_reader *r, const tg_line *line, const tg_tag *tag, size_t i,
                              size_t k, size_t *torn) {
  const size_t at = r->places[i];
  size_t last = i;
  tg_status status = TG_OK;
  size_t worst;
  *torn = 0;
  if (!tag->hard || r->match[k].start != at) return TG_OK;
  while (last + 1 < r->n_places && r->places[last + 1] < r->match[k].end) last++;
  if (last == i) return TG_OK;
  const size_t next = r->places[last];
  TG_TRY(begin_group(r, line, tag));
  const size_t inner = group_at(r, line, tag, next, next, &worst, &status);
  if (status != TG_OK) return status;
  const bool whole = inner != TG_NOT && r->match[inner].start == next;
  TG_TRY(begin_group(r, line, tag));
  if (!whole) {
    (void)group_at(r, line, tag, at, at, &worst, &status);
    return status;
  }
  for (; i + *torn < last; ++*torn) {
    TG_TRY(keep_missed(r, line, tag, r->places[i + *torn], TG_NOT));
    r->missed[r->n_missed - 1].at = r->places[i + *torn + 1];
    r->missed[r->n_missed - 1].expected = "the rest of the record";
  }
  return TG_OK;
}

/* Policy all: a record for every occurrence of the tag that is whole; the others are kept as
 * missed, but for those inside another record. */
static tg_status try_all(tg_reader *r, const tg_line *line, size_t tag_index, const tg_hit *hits,
                         size_t n_hits, bool commit, tg_outcome *out) {
  const tg_tag *tag = &r->rules->tags[tag_index];
  size_t behind = 0; /* the occurrence before this one */
  size_t next = 0;
  r->n_fresh = 0;
  tg_status status = TG_OK;
  TG_TRY(collect_places(r, tag_index, hits, n_hits));
  TG_TRY(begin_group(r, line, tag));
  for (size_t i = 0; i < r->n_places; i++) {
    size_t at = r->places[i];
    size_t from = behind;
    size_t to = SIZE_MAX;
    size_t worst;
    if (!free_around(r, at, &next, &from, &to)) continue;
    size_t k = group_at(r, line, tag, from, at, &worst, &status);
    if (status != TG_OK) return status;
    behind = at + 1;
    if (k == TG_NOT) {
      if (tag->hard) TG_TRY(keep_missed(r, line, tag, at, worst));
      out->misses += tag->hard;
      continue;
    }
    size_t torn;
    TG_TRY(torn_by_next(r, line, tag, i, k, &torn));
    out->misses += torn;
    if (torn > 0) {
      i += torn - 1; /* the whole one is next */
    } else if (r->match[k].end <= to) {
      TG_TRY(take_span(r, r->match[k].start, r->match[k].end));
      TG_TRY(take_record(r, line, tag->rules[k], &r->match[k], commit, out));
    }
  }
  return merge_taken(r);
}

/* The occurrences of a tag are no misses any more: a rule of the other policy took one. */
static void forget_missed(tg_reader *r, size_t tag) {
  size_t kept = 0;
  for (size_t i = 0; i < r->n_missed; i++)
    if (r->missed[i].tag != tag) r->missed[kept++] = r->missed[i];
  r->n_missed = kept;
}

/* Adds the missed occurrences of a tag, TG_NOT: of all tags; false in `*any` if there were none. */
static tg_status tell_missed(tg_reader *r, size_t tag, bool *any) {
  tg_status status = TG_OK;
  *any = false;
  for (size_t i = 0; status == TG_OK && i < r->n_missed; i++) {
    if (tag != TG_NOT && r->missed[i].tag != tag) continue;
    *any = true;
    status = tg_records_problem(r->out, &r->missed[i]);
  }
  return status;
}

tg_status tg_reader_misses(tg_reader *r, const tg_line *line, const tg_hit *hits, size_t n_hits) {
  tg_status status = TG_OK;
  for (size_t i = 0; status == TG_OK && i < n_hits; i++) {
    size_t tag = hits[i].needle;
    tg_miss_of_tag *miss = &r->misses[tag];
    bool any;
    if (miss->serial != r->serial || !r->rules->tags[tag].hard) continue;
    miss->serial = r->serial - 1; /* told */
    status = tell_missed(r, tag, &any);
    if (status != TG_OK || any) continue;
    tg_trouble t = {line, hits[i].at,         r->rules->tags[tag].rules[0],
                    tag,  TG_REASON_MISMATCH, "the rest of the line before it",
                    0};
    if (miss->have) {
      t = (tg_trouble){line, miss->at, miss->rule, tag, miss->reason, miss->expected, miss->item};
    }
    status = tg_records_problem(r->out, &t);
  }
  return status;
}

/* The rules in order: the first that matches decides; if its policy is all, so do the others of
 * that policy on the rest of the line. Misses of that policy before it are told in
 * either case: another writer's line must not hide a torn record. */
static tg_status try_rules(tg_reader *r, const tg_line *line, const tg_hit *hits, size_t n_hits,
                           bool commit, tg_outcome *out) {
  tg_status status = TG_OK;
  bool any_all = false;
  for (size_t i = 0; status == TG_OK && i < r->n_cand; i++) {
    size_t rule = r->cand[i];
    const tg_rule *it = &r->rules->rules[rule];
    if (!it->all && out->records == 0) {
      status = try_first(r, line, rule, hits, n_hits, commit, out);
      if (out->records > 0) {
        forget_missed(r, it->tag);
        out->misses = r->n_missed;
        return status == TG_OK && commit ? tell_missed(r, TG_NOT, &any_all) : status;
      }
    }
    if (it->all && r->misses[it->tag].group != r->serial) {
      r->misses[it->tag].group = r->serial;
      status = try_all(r, line, it->tag, hits, n_hits, commit, out);
      any_all = true;
    }
  }
  if (status != TG_OK || !commit || out->records == 0 || !any_all) return status;
  return tell_missed(r, TG_NOT, &any_all);
}

/* A line that gave no record: it is unread for each of its tags, if it will not be a problem. */
static void count_unread(tg_reader *r, const tg_hit *hits, size_t n_hits) {
  for (size_t i = 0; i < n_hits; i++) {
    if (r->rules->tags[hits[i].needle].hard) return;
  }
  for (size_t i = 0; i < n_hits; i++) {
    tg_miss_of_tag *miss = &r->misses[hits[i].needle];
    if (miss->unread == r->serial) continue;
    miss->unread = r->serial;
    r->out->tally[hits[i].needle].unread++;
  }
}

tg_status tg_reader_try(tg_reader *r, const tg_line *line, const tg_hit *hits, size_t n_hits,
                        bool commit, tg_outcome *out) {
  size_t before = r->out->n_order;
  *out = (tg_outcome){0, 0, TG_NOT};
  r->n_missed = 0;
  r->n_taken = 0;
  r->taker = TG_NOT;
  tg_status status = candidates(r, hits, n_hits);
  if (status != TG_OK) return status;
  for (size_t i = 0; commit && i < n_hits; i++) r->out->tally[hits[i].needle].occurrences++;
  r->noting = commit && r->near != NULL;
  status = try_rules(r, line, hits, n_hits, commit, out);
  if (commit && out->records == 0) count_unread(r, hits, n_hits);
  if (r->noting) tg_near_settle(r->near, r->taker);
  for (size_t i = 0; out->records == 0 && out->misses == 0 && i < n_hits; i++) {
    out->misses += r->rules->tags[hits[i].needle].hard;
  }
  if (status == TG_OK) status = tg_records_sort(r->out, before);
  return status;
}

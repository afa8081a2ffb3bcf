/* match.c - backtracking over a compiled template, linear by a memo of (instruction, position).
 * SPDX-License-Identifier: BSD-3-Clause */
#include "match.h"

#include <string.h>

#include "base/mem.h"
#include "base/stop.h"

enum { TG_JOB_GO, TG_JOB_TEXT, TG_JOB_WORD, TG_JOB_BLANKS, TG_JOB_CHOICE, TG_JOB_RESTORE };

/* Where a try stands; `edge`: the byte before `pos` ends a number that no literal followed yet. */
typedef struct cursor {
  size_t pos;
  uint32_t pc;
  bool edge;
} cursor;

void tg_scratch_init(tg_scratch *s, const tg_alloc *a) {
  memset(s, 0, sizeof *s);
  s->alloc = *a;
}

void tg_match_scratch_free(tg_scratch *s) {
  tg_release(&s->alloc, s->bits);
  tg_release(&s->alloc, s->runs);
  tg_release(&s->alloc, s->jobs);
}

tg_status tg_match_begin(tg_match *m, const tg_template *t, tg_scratch *s, const uint8_t *p,
                         size_t n, tg_span *fields) {
  *m = (tg_match){.t = t, .s = s, .p = p, .n = n, .tag_at = SIZE_MAX, .fields = fields};
  s->asked = s->work;
  if (t->planes > 0) {
    if (n > SIZE_MAX / 2 / t->planes - 64) return TG_EOVERFLOW;
    size_t words = (2 * (size_t)t->planes * (n + 1) + 63) / 64;
    tg_status status = tg_reserve(&s->alloc, &s->bits, &s->cap_bits, words, sizeof *s->bits);
    if (status != TG_OK) return status;
    memset(s->bits, 0, words * sizeof *s->bits);
  }
  if (t->caches > 0) {
    tg_status status = tg_reserve(&s->alloc, &s->runs, &s->cap_runs, t->caches, sizeof *s->runs);
    if (status != TG_OK) return status;
    memset(s->runs, 0, t->caches * sizeof *s->runs);
  }
  return TG_OK;
}

/* Remembers the failure of the try that came furthest; where any place may be a start, one that
 * begins nothing is none.
 * Returns false, so that `return miss(...)` is a statement. */
static bool miss(tg_match *m, uint32_t pc, size_t pos, const char *expected) {
  if (m->roams && pos == m->start) return false;
  if (m->near.expected == NULL || pos - m->start > m->reach) {
    m->near = (tg_near){pc, pos, expected};
    m->reach = pos - m->start;
    m->near_edge = false;
  }
  return false;
}

/* A number that touches a letter, a digit, '_' or '.', or another writer's text, was
 * not ended cleanly. */
static bool number_touches(tg_match *m, const cursor *cur) {
  if (!cur->edge || cur->pos >= m->n) return false;
  if (!tg_number_torn(m->p, m->n, cur->pos)) return false;
  if (m->near.expected == NULL || cur->pos - m->start >= m->reach) {
    m->near = (tg_near){cur->pc, cur->pos, "the end of the number"};
    m->reach = cur->pos - m->start;
    m->near_edge = true;
  }
  return true;
}

/* Marks (plane, pos); true where it was marked before: that way was tried already. */
static bool visited(tg_match *m, uint32_t plane, size_t pos, bool edge) {
  if (plane == TG_NO_PLANE) return false;
  size_t bit = (2 * (size_t)plane + edge) * (m->n + 1) + pos;
  uint64_t mask = UINT64_C(1) << (bit % 64);
  uint64_t *word = &m->s->bits[bit / 64];
  bool before = (*word & mask) != 0;
  *word |= mask;
  return before;
}

static bool push(tg_match *m, tg_job job) {
  tg_scratch *s = m->s;
  if (s->n_jobs == s->cap_jobs) {
    if (tg_reserve(&s->alloc, &s->jobs, &s->cap_jobs, s->n_jobs + 1, sizeof *s->jobs) != TG_OK) {
      m->failed = TG_ENOMEM;
      return false;
    }
  }
  s->jobs[s->n_jobs++] = job;
  return true;
}

/* Sets the span of a field; the old one comes back when the way turns out wrong. */
static bool capture(tg_match *m, const tg_inst *in, size_t start, size_t end) {
  if (in->field == UINT32_MAX) return true;
  tg_span *f = &m->fields[in->field];
  if (m->s->n_jobs > 0 && !push(m, (tg_job){f->start, f->end, in->field, TG_JOB_RESTORE, false}))
    return false;
  *f = (tg_span){start, end};
  return true;
}

static bool literal_at(const tg_match *m, uint32_t alt, size_t pos) {
  tg_literal lit = m->t->alts[alt];
  return m->n - pos >= lit.n && memcmp(m->p + pos, m->t->pool + lit.at, lit.n) == 0;
}

/* How far the literal agrees with the line: a miss inside it is further than one before it. */
static size_t literal_common(const tg_match *m, uint32_t alt, size_t pos) {
  tg_literal lit = m->t->alts[alt];
  size_t k = 0;
  while (k < lit.n && pos + k < m->n && m->p[pos + k] == m->t->pool[lit.at + k]) k++;
  return pos + k;
}

/* The next place at or after `pos` where the literal `in` begins, SIZE_MAX if there is none. */
static size_t literal_next(tg_match *m, const tg_inst *text, const tg_inst *in, size_t pos) {
  tg_span *run = text->cache == TG_NO_PLANE ? NULL : &m->s->runs[text->cache];
  const bool known = run != NULL && run->end > run->start; /* none begins in [start, end) */
  const size_t from = known && pos >= run->start && pos < run->end ? run->end : pos;
  const size_t until = known && from < run->start ? run->start : m->n;
  uint8_t first = m->t->pool[m->t->alts[in->alt].at];
  size_t at = from;
  for (; at < until; at++) {
    const uint8_t *hit = memchr(m->p + at, first, until - at);
    at = hit == NULL ? until : (size_t)(hit - m->p);
    if (at == until || literal_at(m, in->alt, at)) break;
  }
  m->s->work += at - from;
  if (at == until && until < m->n) at = run->end;
  if (run != NULL) *run = (tg_span){pos, at};
  return at < m->n ? at : SIZE_MAX;
}

/* TEXT: the shortest first; the longer ones wait on the stack. */
static bool do_text(tg_match *m, const tg_inst *in, cursor *cur, size_t start) {
  size_t at = cur->pos;
  if (number_touches(m, cur)) return false;
  if (in->possessive) {
    at = m->n;
  } else if (in[1].op == TG_OP_LITERAL) {
    at = literal_next(m, in, in + 1, at);
    if (at == SIZE_MAX) return miss(m, cur->pc + 1, m->n, "the literal behind a text");
  }
  if (visited(m, in->plane, at, false)) return false;
  if (!in->possessive && at < m->n &&
      !push(m, (tg_job){at + 1, start, cur->pc, TG_JOB_TEXT, false}))
    return false;
  if (!capture(m, in, start, at)) return false;
  *cur = (cursor){at, cur->pc + 1, false};
  return true;
}

static bool cut_here(const tg_match *m, const tg_inst *in, size_t at) {
  for (uint32_t i = 0; i < in->alts; i++) {
    if (literal_at(m, in->alt + i, at)) return true;
  }
  return false;
}

/* WORD from its second byte on: ends where a literal that may follow begins, else at the blank. */
static bool do_word(tg_match *m, const tg_inst *in, cursor *cur, size_t start) {
  size_t at = cur->pos;
  if (in->alts == 0) {
    at = tg_run_end(m, in->cache, TG_CLASS_WORD, at);
  } else {
    for (; at < m->n && !tg_is_blank(m->p[at]) && !cut_here(m, in, at); at++) {
      if (visited(m, in->plane, at, false)) return false;
    }
    m->s->work += at - cur->pos;
  }
  if (visited(m, in->plane, at, false)) return false;
  if (at < m->n && !tg_is_blank(m->p[at]) &&
      !push(m, (tg_job){at + 1, start, cur->pc, TG_JOB_WORD, false}))
    return false;
  if (!capture(m, in, start, at)) return false;
  *cur = (cursor){at, cur->pc + 1, false};
  return true;
}

/* BLANKS: the most first; fewer, down to `low`, wait on the stack. */
static bool do_blanks(tg_match *m, const tg_inst *in, cursor *cur) {
  size_t pos = cur->pos;
  size_t end = pos;
  if (in->possessive) {
    end = tg_run_end(m, in->cache, TG_CLASS_BLANK, pos);
    cur->edge = cur->edge && end == pos;
    cur->pos = end;
    cur->pc++;
    return true;
  }
  if (visited(m, in->plane, pos, cur->edge)) return false;
  while (end < m->n && tg_is_blank(m->p[end])) {
    if (visited(m, in->plane, end + 1, false)) break;
    end++;
  }
  m->s->work += end - pos;
  if (end > pos && !push(m, (tg_job){end - 1, pos, cur->pc, TG_JOB_BLANKS, cur->edge}))
    return false;
  *cur = (cursor){end, cur->pc + 1, cur->edge && end == pos};
  return true;
}

/* CHOICE from alternative `k` on. */
static bool do_choice(tg_match *m, const tg_inst *in, cursor *cur, uint32_t k) {
  while (k < in->alts && !literal_at(m, in->alt + k, cur->pos)) k++;
  if (k == in->alts) return miss(m, cur->pc, cur->pos, "one of the alternatives");
  if (k + 1 < in->alts && !push(m, (tg_job){cur->pos, k + 1, cur->pc, TG_JOB_CHOICE, false}))
    return false;
  size_t end = cur->pos + m->t->alts[in->alt + k].n;
  if (!capture(m, in, cur->pos, end)) return false;
  *cur = (cursor){end, cur->pc + 1, false};
  return true;
}

static const char *number_name(uint8_t type) {
  switch (type) {
  case TG_FIELD_HEX:
    return "a lower-case hex digit";
  case TG_FIELD_HEXANY:
    return "a hex digit";
  default:
    return "a digit";
  }
}

static bool do_number(tg_match *m, const tg_inst *in, cursor *cur) {
  if (number_touches(m, cur) && in->width == 0) return false;
  size_t end = tg_number_end(m, in, cur->pos);
  if (end == SIZE_MAX) return miss(m, cur->pc, cur->pos, number_name(in->type));
  size_t start = cur->pos;
  while (in->width > 0 && tg_is_blank(m->p[start])) start++;
  if (!capture(m, in, start, end)) return false;
  *cur = (cursor){end, cur->pc + 1, true};
  /* A column of a fixed width may touch the next one. */
  if (in[1].op == TG_OP_NUMBER && in[1].width > 0) cur->edge = false;
  return true;
}

/* From the opening quote to the next one that no backslash escapes. */
static bool do_quoted(tg_match *m, const tg_inst *in, cursor *cur) {
  if (number_touches(m, cur)) return false;
  if (cur->pos >= m->n || m->p[cur->pos] != '"') return miss(m, cur->pc, cur->pos, "a quote");
  size_t start = cur->pos + 1;
  tg_span *run = in->cache == TG_NO_PLANE ? NULL : &m->s->runs[in->cache];
  size_t at = start;
  if (run != NULL && start >= run->start && start < run->end) at = run->end;
  size_t from = at;
  while (at < m->n && m->p[at] != '"') at += m->p[at] == '\\' && at + 1 < m->n ? 2 : 1;
  m->s->work += at - from;
  if (run != NULL) *run = (tg_span){start, at};
  if (at >= m->n) return miss(m, cur->pc, m->n, "the closing quote");
  if (!capture(m, in, start, at)) return false;
  *cur = (cursor){at + 1, cur->pc + 1, false};
  return true;
}

static bool do_literal(tg_match *m, const tg_inst *in, cursor *cur) {
  if (cur->pc == m->t->tag_inst) {
    size_t tag = cur->pos + m->t->tag_skew;
    if (m->tag_at != SIZE_MAX && tag != m->tag_at) return false;
    m->tag_pos = tag;
  }
  if (!literal_at(m, in->alt, cur->pos)) {
    size_t common = literal_common(m, in->alt, cur->pos);
    if (common == cur->pos && number_touches(m, cur)) return false;
    return miss(m, cur->pc, common, "the literal");
  }
  *cur = (cursor){cur->pos + m->t->alts[in->alt].n, cur->pc + 1, false};
  return true;
}

/* One instruction; false: this way is wrong. */
static bool step(tg_match *m, const tg_inst *in, cursor *cur) {
  m->s->work++;
  switch (in->op) {
  case TG_OP_LITERAL:
    return do_literal(m, in, cur);
  case TG_OP_BLANK:
    if (cur->pos >= m->n || !tg_is_blank(m->p[cur->pos])) {
      return (!number_touches(m, cur)) && miss(m, cur->pc, cur->pos, "a blank");
    }
    *cur = (cursor){cur->pos + 1, cur->pc + 1, false};
    return true;
  case TG_OP_BLANKS:
    return do_blanks(m, in, cur);
  case TG_OP_NUMBER:
    return do_number(m, in, cur);
  case TG_OP_WORD: {
    if (number_touches(m, cur)) return false;
    if (cur->pos >= m->n || tg_is_blank(m->p[cur->pos]))
      return miss(m, cur->pc, cur->pos, "a word");
    size_t start = cur->pos++;
    return do_word(m, in, cur, start);
  }
  case TG_OP_TEXT:
    return do_text(m, in, cur, cur->pos);
  case TG_OP_QUOTED:
    return do_quoted(m, in, cur);
  case TG_OP_CHOICE:
    return do_choice(m, in, cur, 0);
  case TG_OP_CLASS:
    if (cur->pos >= m->n || !tg_bytes_has(&m->t->sets[in->set], m->p[cur->pos]))
      return miss(m, cur->pc, cur->pos, "one of these characters");
    if (!capture(m, in, cur->pos, cur->pos + 1)) return false;
    *cur = (cursor){cur->pos + 1, cur->pc + 1, false};
    return true;
  case TG_OP_OPTION:
    if (!push(m, (tg_job){cur->pos, 0, in->skip, TG_JOB_GO, cur->edge})) return false;
    cur->pc++;
    return true;
  default: /* END */
    if (cur->pos != m->n)
      return !number_touches(m, cur) && miss(m, cur->pc, cur->pos, "the line's end");
    cur->pc++;
    return true;
  }
}

/* Takes a waiting job up again; false: its way is wrong or it only restored a field. */
static bool resume(tg_match *m, const tg_job *job, cursor *cur) {
  const tg_inst *in = &m->t->inst[job->pc];
  *cur = (cursor){job->pos, job->pc, job->edge};
  switch (job->kind) {
  case TG_JOB_TEXT:
    return do_text(m, in, cur, job->aux);
  case TG_JOB_WORD:
    return do_word(m, in, cur, job->aux);
  case TG_JOB_CHOICE:
    return do_choice(m, in, cur, (uint32_t)job->aux);
  case TG_JOB_BLANKS:
    if (job->pos > job->aux &&
        !push(m, (tg_job){job->pos - 1, job->aux, job->pc, TG_JOB_BLANKS, job->edge}))
      return false;
    *cur = (cursor){job->pos, job->pc + 1, job->edge && job->pos == job->aux};
    return true;
  case TG_JOB_RESTORE:
    m->fields[job->pc] = (tg_span){job->pos, job->aux};
    return false;
  default:
    return true;
  }
}

/* TEXT, WORD and BLANKS mark the positions of their loops themselves. */
static bool marks_itself(const tg_inst *in) {
  return in->op == TG_OP_TEXT || (in->op == TG_OP_BLANKS && !in->possessive) ||
         in->op == TG_OP_WORD;
}

/* Follows one way to its end. */
static bool walk(tg_match *m, cursor cur) {
  for (;;) {
    const tg_inst *in = &m->t->inst[cur.pc];
    if (in->plane != TG_NO_PLANE && !marks_itself(in) &&
        visited(m, in->plane, cur.pos, cur.edge))
      return false;
    if (in->op == TG_OP_MATCH) {
      if (number_touches(m, &cur)) return false;
      m->end = cur.pos;
      return true;
    }
    if (!step(m, in, &cur)) return false;
  }
}

/* Asks the caller's hook once a line has taken many steps. */
static bool stops(tg_match *m) {
  tg_scratch *s = m->s;
  if (s->stop == NULL || s->work - s->asked < TG_STOP_EVERY) return false;
  s->asked = s->work;
  if (!s->stop->asked(s->stop->ctx)) return false;
  m->failed = TG_EINTERRUPTED;
  return true;
}

bool tg_match_at(tg_match *m, size_t start) {
  for (size_t i = 0; i < m->t->n_fields; i++) m->fields[i] = (tg_span){SIZE_MAX, SIZE_MAX};
  m->s->n_jobs = 0;
  m->tag_pos = SIZE_MAX;
  m->start = start;
  if (stops(m)) return false;
  if (walk(m, (cursor){start, 0, false})) return true;
  while (m->s->n_jobs > 0 && m->failed == TG_OK && !stops(m)) {
    tg_job job = m->s->jobs[--m->s->n_jobs];
    cursor cur;
    if (resume(m, &job, &cur) && walk(m, cur)) return true;
  }
  return false;
}

/* The number that begins at `start` touches the byte before it. */
static bool start_touches(tg_match *m, size_t start) {
  if (tg_is_digit(m->p[start - 1]) || tg_number_end(m, &m->t->inst[0], start) == SIZE_MAX)
    return true;
  if (m->near.expected == NULL) {
    m->near = (tg_near){0, start, "a clean begin of the number"};
    m->near_edge = true;
  }
  return true;
}

/* A field that begins the template takes all that its type allows: the byte before it must
 * not belong to it. */
static bool may_start(tg_match *m, size_t start) {
  const tg_inst *in = &m->t->inst[0];
  if (start == 0) return true;
  uint8_t before = m->p[start - 1];
  if (in->op == TG_OP_WORD) return tg_is_blank(before);
  if (in->op == TG_OP_BLANKS) return !tg_is_blank(before);
  if (in->op != TG_OP_NUMBER) return true;
  bool touches = tg_is_edge(before) || before == '-' || before == '+' ||
                 (in->type == TG_FIELD_GROUPED && before == ',');
  return !touches || !start_touches(m, start);
}

bool tg_match_tag(tg_match *m, size_t from, size_t tag_at) {
  const tg_template *t = m->t;
  m->tag_at = tag_at;
  if (t->lead != SIZE_MAX) {
    size_t start = tag_at - t->lead;
    if (t->lead > tag_at || start < from) return false;
    if (t->begin && start != 0 && (start != m->line_at || m->line_at == 0)) return false;
    return tg_match_at(m, start);
  }
  if (t->begin) {
    return (from == 0 && tg_match_at(m, 0)) ||
           (m->line_at > from && m->line_at <= tag_at && tg_match_at(m, m->line_at));
  }
  if (t->inst[0].op == TG_OP_TEXT) return tg_match_at(m, from);
  m->roams = true;
  for (size_t start = from; start <= tag_at && m->failed == TG_OK; start++) {
    if (may_start(m, start) && tg_match_at(m, start)) return true;
  }
  return false;
}

bool tg_match_line(tg_match *m, const size_t *tags, size_t n_tags) {
  const tg_template *t = m->t;
  if (n_tags == 0) return false;
  if (t->lead != SIZE_MAX) {
    for (size_t i = 0; i < n_tags && m->failed == TG_OK; i++) {
      if (tg_match_tag(m, 0, tags[i])) return true;
    }
    return false;
  }
  m->tag_at = SIZE_MAX;
  if (t->begin) {
    return tg_match_at(m, 0) || (m->line_at > 0 && tg_match_at(m, m->line_at));
  }
  if (t->inst[0].op == TG_OP_TEXT) return tg_match_at(m, 0);
  m->roams = true;
  for (size_t start = 0; start <= tags[n_tags - 1] && m->failed == TG_OK; start++) {
    if (may_start(m, start) && tg_match_at(m, start)) return true;
  }
  return false;
}

bool tg_match_row(tg_match *m) {
  size_t starts[4] = {0, 0, m->line_at, m->line_at};
  /* any byte would be the one that '^' and a class ask for: it is not that of the stamp */
  const bool only_behind = m->line_at > 0 && m->t->begin && m->t->inst[0].op == TG_OP_CLASS;
  for (size_t i = 1; i < 4; i += 2) {
    while (starts[i] < m->n && tg_is_blank(m->p[starts[i]])) starts[i]++;
  }
  m->tag_at = SIZE_MAX;
  for (size_t i = 0; i < 4; i++) {
    bool again = (i > 0 && starts[i] == starts[i - 1]) || (i > 1 && starts[i] <= starts[1]);
    if (m->t->begin && (i == 1 || i == 3)) again = true;
    if (only_behind && i == 0) continue;
    if (only_behind && i == 2) again = false;
    if (!again && tg_match_at(m, starts[i])) return true;
    if (m->failed != TG_OK) return false;
  }
  return false;
}

/* match.c - backtracking over a compiled template, linear by a memo of (instruction, position).
 * SPDX-License-Identifier: BSD-3-Clause */
#include "match.h"

#include <string.h>

enum { TG_JOB_GO, TG_JOB_TEXT, TG_JOB_WORD, TG_JOB_BLANKS, TG_JOB_CHOICE, TG_JOB_RESTORE };

/* Where a try stands; `edge`: the byte before `pos` ends a number that no literal followed yet. */
typedef struct tg_state {
  size_t pos;
  uint32_t pc;
  bool edge;
} tg_state;

void tg_scratch_init(tg_scratch *s, const tg_alloc *a) {
  memset(s, 0, sizeof *s);
  s->alloc = *a;
}

void tg_match_scratch_free(tg_scratch *s) {
  s->alloc.release(s->alloc.ctx, s->bits);
  s->alloc.release(s->alloc.ctx, s->runs);
  s->alloc.release(s->alloc.ctx, s->jobs);
}

tg_status tg_match_begin(tg_match *m, const tg_template *t, tg_scratch *s, const uint8_t *p,
                         size_t n, tg_span *fields) {
  *m = (tg_match){.t = t, .s = s, .p = p, .n = n, .tag_at = SIZE_MAX, .fields = fields};
  if (t->planes > 0) {
    if (n > SIZE_MAX / 2 / t->planes - 64) return TG_EOVERFLOW;
    size_t words = (2 * (size_t)t->planes * (n + 1) + 63) / 64;
    void *data = s->bits;
    tg_status status = tg_grow(&s->alloc, &data, &s->cap_bits, words, sizeof *s->bits);
    if (status != TG_OK) return status;
    s->bits = data;
    memset(s->bits, 0, words * sizeof *s->bits);
  }
  if (t->caches > 0) {
    void *data = s->runs;
    tg_status status = tg_grow(&s->alloc, &data, &s->cap_runs, t->caches, sizeof *s->runs);
    if (status != TG_OK) return status;
    s->runs = data;
    memset(s->runs, 0, t->caches * sizeof *s->runs);
  }
  return TG_OK;
}

/* Remembers the failure of the try that came furthest; where any place may be a start, one that begins nothing is none.
 * Returns false, so that `return tg_miss(...)` is a statement. */
static bool tg_miss(tg_match *m, uint32_t pc, size_t pos, const char *expected) {
  if (m->roams && pos == m->start) return false;
  if (m->near.expected == NULL || pos - m->start > m->reach) {
    m->near = (tg_near){pc, pos, expected};
    m->reach = pos - m->start;
    m->near_edge = false;
  }
  return false;
}

/* A hex digit that is the level of an OP-TEE line ("D/TC:") cutting in is no digit. */
static bool tg_is_level(const uint8_t *line, size_t n, size_t slash) {
  const uint8_t *p = line + slash;
  return n - slash >= 4 && p[0] == '/' && p[3] == ':' && tg_is_one_of(p[-1], "DEF") &&
         (memcmp(p + 1, "TC", 2) == 0 || memcmp(p + 1, "TA", 2) == 0 ||
          memcmp(p + 1, "LD", 2) == 0);
}

/* A kernel's stamp, "[    4.591864]", or its beginning at the end of the line, cutting in. */
static bool tg_is_stamp(const uint8_t *p, size_t n, size_t pos) {
  size_t dots = 0;
  if (p[pos++] != '[') return false;
  for (; pos < n && (p[pos] == ' ' || tg_is_digit(p[pos]) || p[pos] == '.'); pos++)
    dots += p[pos] == '.';
  return pos == n || (p[pos] == ']' && dots == 1);
}

bool tg_number_torn(const uint8_t *p, size_t n, size_t pos) {
  return tg_is_edge(p[pos]) || tg_is_level(p, n, pos) || tg_is_stamp(p, n, pos);
}

/* A number that touches a letter, a digit, '_' or '.', or what another writer put behind it, was
 * not ended cleanly. */
static bool tg_touches(tg_match *m, const tg_state *st) {
  if (!st->edge || st->pos >= m->n) return false;
  if (!tg_number_torn(m->p, m->n, st->pos)) return false;
  if (m->near.expected == NULL || st->pos - m->start >= m->reach) {
    m->near = (tg_near){st->pc, st->pos, "the end of the number"};
    m->reach = st->pos - m->start;
    m->near_edge = true;
  }
  return true;
}

/* Marks (plane, pos); true where it was marked before: that way was tried already. */
static bool tg_visited(tg_match *m, uint32_t plane, size_t pos, bool edge) {
  if (plane == TG_NO_PLANE) return false;
  size_t bit = (2 * (size_t)plane + edge) * (m->n + 1) + pos;
  uint64_t mask = UINT64_C(1) << (bit % 64);
  uint64_t *word = &m->s->bits[bit / 64];
  bool before = (*word & mask) != 0;
  *word |= mask;
  return before;
}

static bool tg_push(tg_match *m, tg_job job) {
  tg_scratch *s = m->s;
  if (s->n_jobs == s->cap_jobs) {
    void *data = s->jobs;
    if (tg_grow(&s->alloc, &data, &s->cap_jobs, s->n_jobs + 1, sizeof *s->jobs) != TG_OK) {
      m->nomem = true;
      return false;
    }
    s->jobs = data;
  }
  s->jobs[s->n_jobs++] = job;
  return true;
}

/* Sets the span of a field; what it was comes back when the way turns out wrong. */
static bool tg_capture(tg_match *m, const tg_inst *in, size_t start, size_t end) {
  if (in->field == UINT32_MAX) return true;
  tg_span *f = &m->fields[in->field];
  if (m->s->n_jobs > 0 && !tg_push(m, (tg_job){f->start, f->end, in->field, TG_JOB_RESTORE, false}))
    return false;
  *f = (tg_span){start, end};
  return true;
}

static bool tg_literal_at(const tg_match *m, uint32_t alt, size_t pos) {
  tg_literal lit = m->t->alts[alt];
  return m->n - pos >= lit.n && memcmp(m->p + pos, m->t->pool + lit.at, lit.n) == 0;
}

/* How far the literal agrees with the line: a miss inside it is further than one before it. */
static size_t tg_literal_common(const tg_match *m, uint32_t alt, size_t pos) {
  tg_literal lit = m->t->alts[alt];
  size_t k = 0;
  while (k < lit.n && pos + k < m->n && m->p[pos + k] == m->t->pool[lit.at + k]) k++;
  return pos + k;
}

/* The next place at or after `pos` where the literal `in` begins, SIZE_MAX if there is none. */
static size_t tg_literal_next(tg_match *m, const tg_inst *text, const tg_inst *in, size_t pos) {
  tg_span *run = text->cache == TG_NO_PLANE ? NULL : &m->s->runs[text->cache];
  size_t from = pos;
  if (run != NULL && pos >= run->start && pos < run->end) from = run->end;
  uint8_t first = m->t->pool[m->t->alts[in->alt].at];
  size_t at = from;
  for (; at < m->n; at++) {
    const uint8_t *hit = memchr(m->p + at, first, m->n - at);
    at = hit == NULL ? m->n : (size_t)(hit - m->p);
    if (at < m->n && tg_literal_at(m, in->alt, at)) break;
    if (at == m->n) break;
  }
  if (run != NULL) *run = (tg_span){pos, at};
  m->s->work += at - from;
  return at < m->n ? at : SIZE_MAX;
}

/* TEXT: the shortest first; the longer ones wait on the stack. */
static bool tg_do_text(tg_match *m, const tg_inst *in, tg_state *st, size_t start) {
  size_t at = st->pos;
  if (tg_touches(m, st)) return false;
  if (in->possessive) {
    at = m->n;
  } else if (in[1].op == TG_OP_LITERAL) {
    at = tg_literal_next(m, in, in + 1, at);
    if (at == SIZE_MAX) return tg_miss(m, st->pc + 1, m->n, "the literal behind a text");
  }
  if (tg_visited(m, in->plane, at, false)) return false;
  if (!in->possessive && at < m->n &&
      !tg_push(m, (tg_job){at + 1, start, st->pc, TG_JOB_TEXT, false}))
    return false;
  if (!tg_capture(m, in, start, at)) return false;
  *st = (tg_state){at, st->pc + 1, false};
  return true;
}

static bool tg_cut_here(const tg_match *m, const tg_inst *in, size_t at) {
  for (uint32_t i = 0; i < in->alts; i++) {
    if (tg_literal_at(m, in->alt + i, at)) return true;
  }
  return false;
}

/* WORD from its second byte on: ends where a literal that may follow begins, else at the blank. */
static bool tg_do_word(tg_match *m, const tg_inst *in, tg_state *st, size_t start) {
  size_t at = st->pos;
  if (in->alts == 0) {
    at = tg_run_end(m, in->cache, TG_CLASS_WORD, at);
  } else {
    for (; at < m->n && !tg_is_blank(m->p[at]) && !tg_cut_here(m, in, at); at++) {
      if (tg_visited(m, in->plane, at, false)) return false;
    }
    m->s->work += at - st->pos;
  }
  if (tg_visited(m, in->plane, at, false)) return false;
  if (at < m->n && !tg_is_blank(m->p[at]) &&
      !tg_push(m, (tg_job){at + 1, start, st->pc, TG_JOB_WORD, false}))
    return false;
  if (!tg_capture(m, in, start, at)) return false;
  *st = (tg_state){at, st->pc + 1, false};
  return true;
}

/* BLANKS: the most first; fewer, down to `low`, wait on the stack. */
static bool tg_do_blanks(tg_match *m, const tg_inst *in, tg_state *st) {
  size_t pos = st->pos;
  size_t end = pos;
  if (in->possessive) {
    end = tg_run_end(m, in->cache, TG_CLASS_BLANK, pos);
    st->edge = st->edge && end == pos;
    st->pos = end;
    st->pc++;
    return true;
  }
  if (tg_visited(m, in->plane, pos, st->edge)) return false;
  while (end < m->n && tg_is_blank(m->p[end])) {
    if (tg_visited(m, in->plane, end + 1, false)) break;
    end++;
  }
  m->s->work += end - pos;
  if (end > pos && !tg_push(m, (tg_job){end - 1, pos, st->pc, TG_JOB_BLANKS, st->edge}))
    return false;
  *st = (tg_state){end, st->pc + 1, st->edge && end == pos};
  return true;
}

/* CHOICE from alternative `k` on. */
static bool tg_do_choice(tg_match *m, const tg_inst *in, tg_state *st, uint32_t k) {
  while (k < in->alts && !tg_literal_at(m, in->alt + k, st->pos)) k++;
  if (k == in->alts) return tg_miss(m, st->pc, st->pos, "one of the alternatives");
  if (k + 1 < in->alts && !tg_push(m, (tg_job){st->pos, k + 1, st->pc, TG_JOB_CHOICE, false}))
    return false;
  size_t end = st->pos + m->t->alts[in->alt + k].n;
  if (!tg_capture(m, in, st->pos, end)) return false;
  *st = (tg_state){end, st->pc + 1, false};
  return true;
}

static const char *tg_number_name(uint8_t type) {
  switch (type) {
  case TG_FIELD_HEX:
    return "a lower-case hex digit";
  case TG_FIELD_HEXANY:
    return "a hex digit";
  default:
    return "a digit";
  }
}

static bool tg_do_number(tg_match *m, const tg_inst *in, tg_state *st) {
  if (tg_touches(m, st) && in->width == 0) return false;
  size_t end = tg_number_end(m, in, st->pos);
  if (end == SIZE_MAX) return tg_miss(m, st->pc, st->pos, tg_number_name(in->type));
  size_t start = st->pos;
  while (in->width > 0 && tg_is_blank(m->p[start])) start++;
  if (!tg_capture(m, in, start, end)) return false;
  *st = (tg_state){end, st->pc + 1, true};
  /* A column of a fixed width may touch the next one. */
  if (in[1].op == TG_OP_NUMBER && in[1].width > 0) st->edge = false;
  return true;
}

/* From the opening quote to the next one that no backslash escapes. */
static bool tg_do_quoted(tg_match *m, const tg_inst *in, tg_state *st) {
  if (tg_touches(m, st)) return false;
  if (st->pos >= m->n || m->p[st->pos] != '"') return tg_miss(m, st->pc, st->pos, "a quote");
  size_t start = st->pos + 1;
  tg_span *run = in->cache == TG_NO_PLANE ? NULL : &m->s->runs[in->cache];
  size_t at = start;
  if (run != NULL && start >= run->start && start < run->end) at = run->end;
  size_t from = at;
  while (at < m->n && m->p[at] != '"') at += m->p[at] == '\\' && at + 1 < m->n ? 2 : 1;
  m->s->work += at - from;
  if (run != NULL) *run = (tg_span){start, at};
  if (at >= m->n) return tg_miss(m, st->pc, m->n, "the closing quote");
  if (!tg_capture(m, in, start, at)) return false;
  *st = (tg_state){at + 1, st->pc + 1, false};
  return true;
}

static bool tg_do_literal(tg_match *m, const tg_inst *in, tg_state *st) {
  if (st->pc == m->t->tag_inst) {
    size_t tag = st->pos + m->t->tag_skew;
    if (m->tag_at != SIZE_MAX && tag != m->tag_at) return false;
    m->tag_pos = tag;
  }
  if (!tg_literal_at(m, in->alt, st->pos)) {
    size_t common = tg_literal_common(m, in->alt, st->pos);
    if (common == st->pos && tg_touches(m, st)) return false;
    return tg_miss(m, st->pc, common, "the literal");
  }
  *st = (tg_state){st->pos + m->t->alts[in->alt].n, st->pc + 1, false};
  return true;
}

/* One instruction; false: this way is wrong. */
static bool tg_step(tg_match *m, const tg_inst *in, tg_state *st) {
  m->s->work++;
  switch (in->op) {
  case TG_OP_LITERAL:
    return tg_do_literal(m, in, st);
  case TG_OP_BLANK:
    if (st->pos >= m->n || !tg_is_blank(m->p[st->pos])) {
      return (!tg_touches(m, st)) && tg_miss(m, st->pc, st->pos, "a blank");
    }
    *st = (tg_state){st->pos + 1, st->pc + 1, false};
    return true;
  case TG_OP_BLANKS:
    return tg_do_blanks(m, in, st);
  case TG_OP_NUMBER:
    return tg_do_number(m, in, st);
  case TG_OP_WORD: {
    if (tg_touches(m, st)) return false;
    if (st->pos >= m->n || tg_is_blank(m->p[st->pos])) return tg_miss(m, st->pc, st->pos, "a word");
    size_t start = st->pos++;
    return tg_do_word(m, in, st, start);
  }
  case TG_OP_TEXT:
    return tg_do_text(m, in, st, st->pos);
  case TG_OP_QUOTED:
    return tg_do_quoted(m, in, st);
  case TG_OP_CHOICE:
    return tg_do_choice(m, in, st, 0);
  case TG_OP_OPTION:
    if (!tg_push(m, (tg_job){st->pos, 0, in->skip, TG_JOB_GO, st->edge})) return false;
    st->pc++;
    return true;
  default: /* END */
    if (st->pos != m->n) return (!tg_touches(m, st)) && tg_miss(m, st->pc, st->pos, "the line's end");
    st->pc++;
    return true;
  }
}

/* Takes a waiting job up again; false: its way is wrong or it only restored a field. */
static bool tg_resume(tg_match *m, const tg_job *job, tg_state *st) {
  const tg_inst *in = &m->t->inst[job->pc];
  *st = (tg_state){job->pos, job->pc, job->edge};
  switch (job->kind) {
  case TG_JOB_TEXT:
    return tg_do_text(m, in, st, job->aux);
  case TG_JOB_WORD:
    return tg_do_word(m, in, st, job->aux);
  case TG_JOB_CHOICE:
    return tg_do_choice(m, in, st, (uint32_t)job->aux);
  case TG_JOB_BLANKS:
    if (job->pos > job->aux &&
        !tg_push(m, (tg_job){job->pos - 1, job->aux, job->pc, TG_JOB_BLANKS, job->edge}))
      return false;
    *st = (tg_state){job->pos, job->pc + 1, job->edge && job->pos == job->aux};
    return true;
  case TG_JOB_RESTORE:
    m->fields[job->pc] = (tg_span){job->pos, job->aux};
    return false;
  default:
    return true;
  }
}

/* TEXT, WORD and BLANKS mark the positions of their loops themselves. */
static bool tg_marks_itself(const tg_inst *in) {
  return in->op == TG_OP_TEXT || (in->op == TG_OP_BLANKS && !in->possessive) ||
         in->op == TG_OP_WORD;
}

/* Follows one way to its end. */
static bool tg_walk(tg_match *m, tg_state st) {
  for (;;) {
    const tg_inst *in = &m->t->inst[st.pc];
    if (in->plane != TG_NO_PLANE && !tg_marks_itself(in) &&
        tg_visited(m, in->plane, st.pos, st.edge))
      return false;
    if (in->op == TG_OP_MATCH) {
      if (tg_touches(m, &st)) return false;
      m->end = st.pos;
      return true;
    }
    if (!tg_step(m, in, &st)) return false;
  }
}

bool tg_match_at(tg_match *m, size_t start) {
  for (size_t i = 0; i < m->t->n_fields; i++) m->fields[i] = (tg_span){SIZE_MAX, SIZE_MAX};
  m->s->n_jobs = 0;
  m->tag_pos = SIZE_MAX;
  m->start = start;
  if (tg_walk(m, (tg_state){start, 0, false})) return true;
  while (m->s->n_jobs > 0 && !m->nomem) {
    tg_job job = m->s->jobs[--m->s->n_jobs];
    tg_state st;
    if (tg_resume(m, &job, &st) && tg_walk(m, st)) return true;
  }
  return false;
}

/* The number that begins at `start` touches what stands before it. */
static bool tg_start_touches(tg_match *m, size_t start) {
  if (tg_is_digit(m->p[start - 1]) || tg_number_end(m, &m->t->inst[0], start) == SIZE_MAX)
    return true;
  if (m->near.expected == NULL) {
    m->near = (tg_near){0, start, "a clean begin of the number"};
    m->near_edge = true;
  }
  return true;
}

/* A field that begins the template takes all that its type allows: what stands before it must
 * not belong to it. */
static bool tg_may_start(tg_match *m, size_t start) {
  const tg_inst *in = &m->t->inst[0];
  if (start == 0) return true;
  uint8_t before = m->p[start - 1];
  if (in->op == TG_OP_WORD) return tg_is_blank(before);
  if (in->op == TG_OP_BLANKS) return !tg_is_blank(before);
  if (in->op != TG_OP_NUMBER) return true;
  bool touches = tg_is_edge(before) || before == '-' || before == '+' ||
                 (in->type == TG_FIELD_GROUPED && before == ',');
  return !touches || !tg_start_touches(m, start);
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
  for (size_t start = from; start <= tag_at && !m->nomem; start++) {
    if (tg_may_start(m, start) && tg_match_at(m, start)) return true;
  }
  return false;
}

bool tg_match_line(tg_match *m, const size_t *tags, size_t n_tags) {
  const tg_template *t = m->t;
  if (n_tags == 0) return false;
  if (t->lead != SIZE_MAX) {
    for (size_t i = 0; i < n_tags && !m->nomem; i++) {
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
  for (size_t start = 0; start <= tags[n_tags - 1] && !m->nomem; start++) {
    if (tg_may_start(m, start) && tg_match_at(m, start)) return true;
  }
  return false;
}

bool tg_match_row(tg_match *m) {
  size_t starts[4] = {0, 0, m->line_at, m->line_at};
  for (size_t i = 1; i < 4; i += 2) {
    while (starts[i] < m->n && tg_is_blank(m->p[starts[i]])) starts[i]++;
  }
  m->tag_at = SIZE_MAX;
  for (size_t i = 0; i < 4; i++) {
    bool again = (i > 0 && starts[i] == starts[i - 1]) || (i > 1 && starts[i] <= starts[1]);
    if (m->t->begin && (i == 1 || i == 3)) again = true;
    if (!again && tg_match_at(m, starts[i])) return true;
    if (m->nomem) return false;
  }
  return false;
}

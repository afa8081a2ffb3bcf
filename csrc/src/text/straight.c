/* straight.c - the short way for most templates: one pass, numbers read on the way.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "straight.h"

#include <string.h>

#include "match.h"
#include "base/spans.h"

enum { MAX_STARTS = 16 };                 /* tries on a line, so that time stays linear */

static inline unsigned digit_of(uint8_t c, uint8_t type) {
  if (tg_is_digit(c)) return (unsigned)(c - '0');
  if (type == TG_FIELD_HEX || type == TG_FIELD_HEXANY) {
    if (c >= 'a' && c <= 'f') return (unsigned)(c - 'a' + 10);
    if (type == TG_FIELD_HEXANY && c >= 'A' && c <= 'F') return (unsigned)(c - 'A' + 10);
  }
  return 16;
}

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
static inline size_t first_marked(uint64_t marks) { return (size_t)__builtin_ctzll(marks) / 8; }
#else
static inline size_t first_marked(uint64_t marks) { return (void)marks, 0; }
#endif

/* The first blank from `pos` on. Eight bytes a step as long as none can be at or below ' '. */
static inline size_t word_run(const uint8_t *p, size_t n, size_t pos) {
  const uint64_t each = UINT64_C(0x0101010101010101);
  for (uint64_t w, low; n - pos >= sizeof w; pos += sizeof w) {
    memcpy(&w, p + pos, sizeof w);
    low = (w - each * (' ' + 1)) & ~w & (each << 7); /* right up to the first mark */
    if (low == 0) continue;
    pos += first_marked(low);
    break;
  }
  while (pos < n && !tg_is_blank(p[pos])) pos++;
  return pos;
}

/* True where the number that ends at `pos` was torn; `edge`: one ends there. */
static inline bool touches(const tg_straight *m, bool edge, size_t pos) {
  return edge && pos < m->n && tg_number_torn(m->p, m->n, pos);
}

static inline size_t hex_run(const uint8_t *p, size_t n, size_t pos, uint8_t type,
                             uint64_t *value) {
  uint64_t v = 0;
  for (unsigned d; pos < n && (d = digit_of(p[pos], type)) < 16; pos++) v = v << 4 | d;
  *value = v;
  return pos;
}

/* The value of a plain decimal number with a power of ten as its column keeps it, and where it ends;
 * false where it is another kind, or might not fit. */
static bool plain_decimal(const tg_straight *m, int32_t exp10, size_t pos, size_t *end,
                          uint64_t *value) {
  static const uint64_t power[] = {1,         10,         100,         1000,         10000,
                                   100000,    1000000,    10000000,    100000000,    1000000000};
  uint64_t whole, part = 0;
  const size_t dot = tg_decimal_run(m->p, m->n, pos, &whole);
  size_t at = dot, digits = 0;
  if (dot == pos || exp10 > 0 || exp10 < -9) return false;
  if (dot < m->n && m->p[dot] == '.') {
    at = tg_decimal_run(m->p, m->n, dot + 1, &part);
    digits = at - dot - 1;
    if (digits == 0) return false;
  }
  const size_t kept = (size_t)-exp10;
  if (digits > kept || dot - pos + kept > TG_SAFE_DIGITS - 1) return false;
  *value = whole * power[kept] + part * power[kept - digits];
  *end = at;
  return true;
}

/* Where a number of the rarer kinds ends, by the matcher's own rules; it is read later. */
static size_t other_number(const tg_straight *m, const tg_inst *in, size_t pos) {
  tg_scratch none = {.work = 0};
  tg_match line = {.p = m->p, .n = m->n, .s = &none};
  tg_inst alone = *in;
  alone.cache = TG_NO_PLANE;
  const size_t end = tg_number_end(&line, &alone, pos);
  return end == SIZE_MAX ? pos : end;
}

/* Digits, their value where it surely fits. The end, `pos` itself where no number begins. */
static size_t take_number(tg_straight *m, const tg_inst *in, size_t pos) {
  const bool kept = in->field != UINT32_MAX;
  uint64_t value = 0;
  size_t end, safe = TG_SAFE_DIGITS;
  switch (in->type) {
    case TG_FIELD_UINT:
      end = tg_decimal_run(m->p, m->n, pos, &value);
      break;
    case TG_FIELD_HEX:
    case TG_FIELD_HEXANY:
      end = hex_run(m->p, m->n, pos, in->type, &value);
      safe = TG_SAFE_HEX;
      break;
    case TG_FIELD_DEC:
      /* The digits of a field without a power of ten are counted where it is read later. */
      if (kept && !m->t->fields[in->field].as_printed &&
          plain_decimal(m, m->t->fields[in->field].exp10, pos, &end, &value)) {
        safe = SIZE_MAX;
        break;
      }
      /* fall through */
    default:
      end = other_number(m, in, pos);
      safe = 0;
  }
  if (kept && end > pos) {
    if (end - pos <= safe) {
      m->numbers[in->field] = value;
      m->known |= UINT64_C(1) << in->field;
    } else {
      m->fields[in->field] = (tg_span){pos, end};
    }
  }
  return end;
}

/* Blanks and the number behind them, where it surely fits. The end; `pos` itself where it is
 * something else, which the single steps tell. */
static inline size_t gap_number(tg_straight *m, const tg_inst *number, size_t pos) {
  uint64_t value;
  if (pos >= m->n || !tg_is_blank(m->p[pos])) return pos;
  size_t at = pos + 1;
  while (at < m->n && m->p[at] <= ' ' && tg_is_blank(m->p[at])) at++;
  const size_t end = tg_decimal_run(m->p, m->n, at, &value);
  if (end == at || end - at > TG_SAFE_DIGITS) return pos;
  m->numbers[number->field] = value;
  m->known |= UINT64_C(1) << number->field;
  return end;
}

/* Where a walk stands; `edge`: a number ends at `pos`, and no literal followed yet. */
typedef struct walker {
  size_t start, pos, tag_at;
  bool edge;
} walker;

static inline bool keep(tg_straight *m, const tg_inst *in, walker *w, size_t end) {
  if (in->field != UINT32_MAX) m->fields[in->field] = (tg_span){w->pos, end};
  w->pos = end;
  w->edge = false;
  return true;
}

/* A miss at `pos`. */
static bool miss(tg_straight *m, size_t start, size_t pos) {
  m->noted = true;
  if (pos - start > m->reach) m->reach = pos - start;
  return false;
}

/* How far the literal agrees with the line. */
static size_t common(const tg_straight *m, tg_literal lit, size_t pos) {
  size_t k = 0;
  while (k < lit.n && pos + k < m->n && m->p[pos + k] == m->t->pool[lit.at + k]) k++;
  return pos + k;
}

static inline bool step_literal(tg_straight *m, const tg_inst *in, walker *w) {
  const tg_template *t = m->t;
  const tg_literal lit = t->alts[in->alt];
  bool known = false;
  if (in == t->inst + t->tag_inst) {
    const bool here = w->pos + t->tag_skew == w->tag_at;
    if (!here && !m->anywhere) return false;
    known = here && lit.n == t->tag.n;
  }
  if (!known && (m->n - w->pos < lit.n || !tg_same_bytes(m->p + w->pos, t->pool + lit.at, lit.n)))
    return miss(m, w->start, common(m, lit, w->pos));
  w->pos += lit.n;
  w->edge = false;
  return true;
}

static inline bool step_blanks(tg_straight *m, walker *w, size_t least) {
  const size_t from = w->pos;
  while (w->pos < m->n && tg_is_blank(m->p[w->pos]) && (least == 0 || w->pos == from)) w->pos++;
  if (w->pos - from < least) return miss(m, w->start, from);
  w->edge = w->edge && w->pos == from;
  return true;
}

static inline bool step_number(tg_straight *m, const tg_inst *in, walker *w) {
  const size_t from = w->pos;
  w->pos = take_number(m, in, from);
  w->edge = true;
  return w->pos > from || miss(m, w->start, from);
}

static bool step_quoted(tg_straight *m, const tg_inst *in, walker *w) {
  if (w->pos >= m->n || m->p[w->pos] != '"') return miss(m, w->start, w->pos);
  size_t at = ++w->pos;
  while (at < m->n && m->p[at] != '"') at += m->p[at] == '\\' && at + 1 < m->n ? 2 : 1;
  if (at >= m->n) return miss(m, w->start, m->n);
  keep(m, in, w, at);
  w->pos++;
  return true;
}

static bool step_choice(tg_straight *m, const tg_inst *in, walker *w) {
  for (uint32_t i = 0; i < in->alts; i++) {
    const tg_literal lit = m->t->alts[in->alt + i];
    if (m->n - w->pos >= lit.n && tg_same_bytes(m->p + w->pos, m->t->pool + lit.at, lit.n))
      return keep(m, in, w, w->pos + lit.n);
  }
  return miss(m, w->start, w->pos);
}

/* A number in a column begins behind its blanks, and may touch the column before. */
static bool step_column(tg_straight *m, const tg_inst *in, walker *w) {
  const size_t end = other_number(m, in, w->pos);
  if (end == w->pos) return miss(m, w->start, end);
  while (tg_is_blank(m->p[w->pos])) w->pos++;
  keep(m, in, w, end);
  w->edge = true;
  return true;
}

/* A word, a text or a number in front of which no torn number may stand. */
static inline bool step_field(tg_straight *m, const tg_inst *in, walker *w) {
  if (in->width > 0) return step_column(m, in, w);
  if (touches(m, w->edge, w->pos)) return miss(m, w->start, w->pos);
  if (in->op == TG_OP_NUMBER) return step_number(m, in, w);
  if (in->op == TG_OP_TEXT) return keep(m, in, w, m->n);
  if (in->op == TG_OP_QUOTED) return step_quoted(m, in, w);
  const size_t end = word_run(m->p, m->n, w->pos);
  return end == w->pos ? miss(m, w->start, end) : keep(m, in, w, end);
}

/* Whether the optional part can begin here; if it can, the template cannot go on without it. */
static inline bool takes_option(tg_straight *m, const tg_inst *in, const walker *w) {
  const tg_template *t = m->t;
  if (w->pos >= m->n) return false;
  if (in->set != TG_BY_LITERAL) return tg_bytes_has(&t->sets[in->set], m->p[w->pos]);
  const tg_literal lit = t->alts[in[1].alt];
  if (m->n - w->pos >= lit.n && tg_same_bytes(m->p + w->pos, t->pool + lit.at, lit.n)) return true;
  return miss(m, w->start, common(m, lit, w->pos));
}

/* Follows the template from instruction `in` on. */
static bool walk(tg_straight *m, const tg_inst *in, walker w) {
  size_t at;
  m->known = 0;
  for (;; in++) {
    bool ok = true;
    switch (in->step) {
      case TG_STEP_GAP_NUMBER:
        if ((at = gap_number(m, in + 2, w.pos)) > w.pos) {
          w.pos = at;
          w.edge = true;
          in += 2;
          break;
        }
        /* fall through */
      case TG_OP_BLANK:
        ok = step_blanks(m, &w, 1);
        break;
      case TG_OP_BLANKS:
        ok = step_blanks(m, &w, 0);
        break;
      case TG_OP_LITERAL:
        ok = step_literal(m, in, &w);
        break;
      case TG_OP_CHOICE:
        ok = step_choice(m, in, &w);
        break;
      case TG_OP_CLASS:
        ok = w.pos < m->n && tg_bytes_has(&m->t->sets[in->set], m->p[w.pos])
                 ? keep(m, in, &w, w.pos + 1)
                 : miss(m, w.start, w.pos);
        break;
      case TG_OP_OPTION:
        if (!takes_option(m, in, &w)) in = m->t->inst + in->skip - 1;
        break;
      case TG_OP_END:
        ok = w.pos == m->n || miss(m, w.start, w.pos);
        break;
      case TG_OP_MATCH:
        if (touches(m, w.edge, w.pos)) return miss(m, w.start, w.pos);
        m->start = w.start;
        m->end = w.pos;
        return true;
      case TG_STEP_CROOKED:
        m->gave_up = true;
        return false;
      default:
        ok = step_field(m, in, &w);
    }
    if (!ok) return false;
  }
}

/* Fields of optional parts may stay as they are here. */
static void clear_fields(tg_straight *m) {
  for (size_t i = 0; m->t->partial && i < m->t->n_fields; i++)
    m->fields[i] = (tg_span){SIZE_MAX, SIZE_MAX};
}

/* A template that begins with a text, which is as short as can be: it ends at the leftmost blank
 * that fits, and that is in one of the last runs of blanks before the tag. */
static bool match_headed(tg_straight *m, size_t tag_at) {
  const tg_inst *blank = m->t->inst + 1;
  const bool whole_run = blank[1].op == TG_OP_BLANKS;
  size_t ends[TG_HEAD_RUNS]; /* where the text may end, the rightmost first */
  size_t n = 0, at = tag_at;
  for (uint32_t runs = 0; at > 0 && runs < m->t->head_runs; runs++) {
    while (at > 0 && !tg_is_blank(m->p[at - 1])) at--;
    if (at == 0) break;
    const size_t last = at - 1;
    while (at > 0 && tg_is_blank(m->p[at - 1])) at--;
    if (tg_bytes_has(&m->t->head_next, m->p[last + 1])) ends[n++] = whole_run ? at : last;
  }
  while (n > 0) {
    const size_t end = ends[--n];
    clear_fields(m);
    if (walk(m, blank, (walker){.start = 0, .pos = end, .tag_at = tag_at})) {
      if (m->t->inst[0].field != UINT32_MAX) m->fields[m->t->inst[0].field] = (tg_span){0, end};
      return true;
    }
    if (m->gave_up) return false;
  }
  m->noted = true;
  m->reach = m->n; /* the longest text leaves no byte for the blank */
  return false;
}

/* A template that begins with a literal. */
static bool match_roaming(tg_straight *m, size_t tag_at) {
  const tg_template *t = m->t;
  const tg_literal lit = t->alts[t->inst[0].alt];
  const uint8_t *first = t->pool + lit.at;
  int starts = 0;
  for (size_t start = 0; start <= tag_at; start++) {
    const uint8_t *next = memchr(m->p + start, first[0], tag_at - start + 1);
    if (next == NULL) return false;
    start = (size_t)(next - m->p);
    if (m->n - start < lit.n || !tg_same_bytes(next, first, lit.n)) {
      (void)miss(m, start, common(m, lit, start));
      continue;
    }
    clear_fields(m);
    const walker behind = {.start = start, .pos = start + lit.n, .tag_at = tag_at};
    if (walk(m, t->inst + 1, behind)) return true; /* the tag stands later: no fixed lead */
    m->gave_up = m->gave_up || ++starts == MAX_STARTS;
    if (m->gave_up) return false;
  }
  return false;
}

bool tg_straight_match(tg_straight *m, size_t tag_at) {
  const tg_template *t = m->t;
  m->gave_up = false;
  m->noted = false;
  m->reach = 0;
  if (t->head_runs > 0) return match_headed(m, tag_at);
  if (t->lead == SIZE_MAX) return match_roaming(m, tag_at);
  if (t->lead > tag_at) return false;
  const size_t start = tag_at - t->lead;
  m->gave_up = t->begin && start > 0; /* a stamp may stand before it */
  if (m->gave_up) return false;
  clear_fields(m);
  return walk(m, t->inst, (walker){.start = start, .pos = start, .tag_at = tag_at});
}

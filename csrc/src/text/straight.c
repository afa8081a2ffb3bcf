/* straight.c - the short way for most templates: one pass, numbers read on the way.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "straight.h"

#include <string.h>

#include "match.h"

enum { SAFE_DIGITS = 19, SAFE_HEX = 16 }; /* as many never overflow 64 bits */
enum { MAX_STARTS = 16 };                 /* tries on a line, so that time stays linear */

static bool item_is_straight(const tg_inst *in) {
  switch (in->op) {
    case TG_OP_LITERAL:
    case TG_OP_BLANK:
    case TG_OP_END:
    case TG_OP_MATCH:
      return true;
    case TG_OP_BLANKS:
    case TG_OP_TEXT:
      return in->possessive;
    case TG_OP_NUMBER:
      return in->width == 0;
    case TG_OP_WORD:
      return in->alts == 0;
    default:
      return false;
  }
}

bool tg_template_straight(const tg_template *t) {
  if (t->begin || t->tag_inst == SIZE_MAX) return false;
  if (t->lead == SIZE_MAX && t->inst[0].op != TG_OP_LITERAL) return false;
  for (size_t k = 0; k < t->n_inst; k++)
    if (t->inst[k].optional || !item_is_straight(&t->inst[k])) return false;
  return true;
}

void tg_template_mark_gaps(tg_template *t) {
  for (size_t k = 0; k + 2 < t->n_inst; k++) {
    const tg_inst *number = &t->inst[k + 2];
    t->inst[k].gap_number = t->inst[k].op == TG_OP_BLANK && t->inst[k + 1].op == TG_OP_BLANKS &&
                            number->op == TG_OP_NUMBER && number->type == TG_FIELD_UINT &&
                            number->field != UINT32_MAX;
  }
}

static inline bool same_bytes(const uint8_t *a, const uint8_t *b, size_t n) {
  if (n >= 8) return memcmp(a, b, n) == 0;
  for (size_t i = 0; i < n; i++)
    if (a[i] != b[i]) return false;
  return true;
}

static inline unsigned digit_of(uint8_t c, uint8_t type) {
  if (tg_is_digit(c)) return (unsigned)(c - '0');
  if (type == TG_FIELD_HEX || type == TG_FIELD_HEXANY) {
    if (c >= 'a' && c <= 'f') return (unsigned)(c - 'a' + 10);
    if (type == TG_FIELD_HEXANY && c >= 'A' && c <= 'F') return (unsigned)(c - 'A' + 10);
  }
  return 16;
}

static inline size_t decimal_loop(const uint8_t *p, size_t n, size_t pos, uint64_t *value) {
  uint64_t v = *value;
  for (unsigned d; pos < n && (d = (unsigned)p[pos] - '0') <= 9; pos++) v = v * 10 + d;
  *value = v;
  return pos;
}

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
/* Up to eight digits at once, without a branch on how many there are: the bytes behind them are
 * shifted out, so that zeros stand before them, then pairs, fours and eights are added up. */
static inline size_t decimal_run(const uint8_t *p, size_t n, size_t pos, uint64_t *value) {
  const uint64_t each = UINT64_C(0x0101010101010101);
  uint64_t w;
  *value = 0;
  if (n - pos < sizeof w) return decimal_loop(p, n, pos, value);
  memcpy(&w, p + pos, sizeof w);
  w ^= each * '0';
  const uint64_t others = ((w + each * 0x76) | w) & each * 0x80;
  if ((others & 0x80) != 0) return pos;
  const unsigned digits = others == 0 ? 8 : (unsigned)__builtin_ctzll(others) / 8;
  w <<= 64 - 8 * digits;
  w = (w * 10 + (w >> 8)) & UINT64_C(0x00ff00ff00ff00ff);
  w = (w * 100 + (w >> 16)) & UINT64_C(0x0000ffff0000ffff);
  *value = (w * 10000 + (w >> 32)) & UINT32_MAX;
  return digits < 8 ? pos + digits : decimal_loop(p, n, pos + 8, value);
}
#else
static inline size_t decimal_run(const uint8_t *p, size_t n, size_t pos, uint64_t *value) {
  *value = 0;
  return decimal_loop(p, n, pos, value);
}
#endif

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

/* Digits, their value where it surely fits. The end, `pos` itself where no number begins. */
static size_t take_number(tg_straight *m, const tg_inst *in, size_t pos) {
  uint64_t value = 0;
  size_t from = pos, end, safe = SAFE_DIGITS;
  switch (in->type) {
    case TG_FIELD_UINT:
      end = decimal_run(m->p, m->n, pos, &value);
      break;
    case TG_FIELD_HEX:
    case TG_FIELD_HEXANY:
      end = hex_run(m->p, m->n, pos, in->type, &value);
      safe = SAFE_HEX;
      break;
    default: { /* the rarer kinds by the matcher's own rules, read later */
      tg_scratch none = {.work = 0};
      tg_match line = {.p = m->p, .n = m->n, .s = &none};
      tg_inst alone = *in;
      alone.cache = TG_NO_PLANE;
      end = tg_number_end(&line, &alone, pos);
      if (end == SIZE_MAX) return pos;
      safe = 0;
    }
  }
  if (in->field != UINT32_MAX && end > pos) {
    if (end - from <= safe) {
      m->numbers[in->field] = value;
      m->known |= UINT64_C(1) << in->field;
    } else {
      m->fields[in->field] = (tg_span){from, end};
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
  const size_t end = decimal_run(m->p, m->n, at, &value);
  if (end == at || end - at > SAFE_DIGITS) return pos;
  m->numbers[number->field] = value;
  m->known |= UINT64_C(1) << number->field;
  return end;
}

static void keep(tg_straight *m, const tg_inst *in, size_t start, size_t end) {
  if (in->field != UINT32_MAX) m->fields[in->field] = (tg_span){start, end};
}

/* A miss at `pos`. */
static bool miss(tg_straight *m, size_t start, size_t pos) {
  if (pos - start > m->reach) m->reach = pos - start;
  return false;
}

/* How far the literal agrees with the line. */
static size_t common(const tg_straight *m, tg_literal lit, size_t pos) {
  size_t k = 0;
  while (k < lit.n && pos + k < m->n && m->p[pos + k] == m->t->pool[lit.at + k]) k++;
  return pos + k;
}

/* Follows the template from `start`; its tag must fall on `tag_at`. */
static bool walk(tg_straight *m, size_t start, size_t tag_at) {
  const tg_template *t = m->t;
  const uint8_t *p = m->p;
  const size_t n = m->n;
  size_t pos = start, from;
  bool edge = false; /* a number ends at `pos`, and no literal followed yet */
  m->known = 0;
  for (const tg_inst *in = t->inst;; in++) {
    switch (in->op) {
      case TG_OP_LITERAL: {
        const tg_literal lit = t->alts[in->alt];
        const bool tag = in == t->inst + t->tag_inst;
        if (tag && pos + t->tag_skew != tag_at) return miss(m, start, pos);
        const bool known = tag && lit.n == t->tag.n;
        if (n - pos < lit.n || !(known || same_bytes(p + pos, t->pool + lit.at, lit.n)))
          return miss(m, start, common(m, lit, pos));
        pos += lit.n;
        edge = false;
        break;
      }
      case TG_OP_BLANK:
        if (in->gap_number && (from = gap_number(m, in + 2, pos)) > pos) {
          pos = from;
          in += 2;
          edge = true;
          break;
        }
        if (pos >= n || !tg_is_blank(p[pos])) return miss(m, start, pos);
        pos++;
        edge = false;
        break;
      case TG_OP_BLANKS:
        from = pos;
        while (pos < n && tg_is_blank(p[pos])) pos++;
        edge = edge && pos == from;
        break;
      case TG_OP_NUMBER:
        if (touches(m, edge, pos)) return miss(m, start, pos);
        from = pos;
        pos = take_number(m, in, pos);
        if (pos == from) return miss(m, start, pos);
        edge = true;
        break;
      case TG_OP_WORD:
        if (touches(m, edge, pos)) return miss(m, start, pos);
        from = pos;
        pos = word_run(p, n, pos);
        if (pos == from) return miss(m, start, pos);
        keep(m, in, from, pos);
        edge = false;
        break;
      case TG_OP_TEXT:
        if (touches(m, edge, pos)) return miss(m, start, pos);
        keep(m, in, pos, n);
        pos = n;
        edge = false;
        break;
      case TG_OP_END:
        if (pos != n) return miss(m, start, pos);
        break;
      default: /* MATCH */
        if (touches(m, edge, pos)) return miss(m, start, pos);
        m->start = start;
        m->end = pos;
        return true;
    }
  }
}

bool tg_straight_match(tg_straight *m, size_t tag_at) {
  const tg_template *t = m->t;
  m->gave_up = false;
  m->reach = 0;
  if (t->lead != SIZE_MAX) return t->lead <= tag_at && walk(m, tag_at - t->lead, tag_at);
  const tg_literal lit = t->alts[t->inst[0].alt];
  const uint8_t *first = t->pool + lit.at;
  m->reach = lit.n; /* a start that agrees in part is not looked at */
  int starts = 0;
  for (size_t start = 0; start <= tag_at; start++) {
    const uint8_t *next = memchr(m->p + start, first[0], tag_at - start + 1);
    if (next == NULL) return false;
    start = (size_t)(next - m->p);
    if (m->n - start < lit.n || !same_bytes(next, first, lit.n)) continue;
    if (walk(m, start, tag_at)) return true;
    m->gave_up = ++starts == MAX_STARTS;
    if (m->gave_up) return false;
  }
  return false;
}

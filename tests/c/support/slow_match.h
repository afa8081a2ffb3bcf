/* slow_match.h - a second matcher for tests, written from the description of the language to be
 * read: it walks the text of the template itself, tries everything in the order the description
 * gives, and remembers nothing. Without sections and rows. SPDX-License-Identifier: BSD-3-Clause */
#ifndef TESTS_SLOW_MATCH_H
#define TESTS_SLOW_MATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
  SLOW_LITERAL,
  SLOW_BLANK,
  SLOW_BLANKS,
  SLOW_FIELD,
  SLOW_OPEN,
  SLOW_CLOSE,
  SLOW_DOLLAR,
  SLOW_END
};

typedef struct slow_item {
  int kind;
  char type[64];   /* of a field */
  char literal;    /* one byte */
  int field;       /* number among the kept fields, -1: not kept */
} slow_item;

typedef struct slow_span2 {
  long start, end; /* -1: absent */
} slow_span2;

typedef struct slow_matcher {
  slow_item item[600];
  int n, fields;
  bool caret;
  const unsigned char *p;
  long size;
  slow_span2 field[64];
  long end;
  long steps; /* left; a match that takes more is given up */
} slow_matcher;

static inline bool slow_blank(int c) { return c == ' ' || (c >= 9 && c <= 13); }
static inline bool slow_digit(int c) { return c >= '0' && c <= '9'; }
static inline bool slow_edge(int c) {
  return slow_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.';
}

/* The items of a template that is known to compile. */
static inline void slow_parse(slow_matcher *m, const char *t) {
  size_t n = strlen(t);
  size_t i = 0;
  memset(m, 0, sizeof *m);
  if (t[0] == '^') m->caret = true, i = 1;
  bool dollar = n > i && t[n - 1] == '$';
  if (dollar) n--;
  while (i < n) {
    slow_item *it = &m->item[m->n++];
    char c = t[i];
    it->field = -1;
    if (strchr("{}[]~", c) != NULL && i + 1 < n && t[i + 1] == c) {
      it->kind = SLOW_LITERAL;
      it->literal = c;
      i += 2;
    } else if (c == '{') {
      const char *colon = strchr(t + i, ':');
      const char *close = strchr(colon[1] == '[' ? strchr(colon + 3, ']') : colon, '}');
      it->kind = SLOW_FIELD;
      memcpy(it->type, colon + 1, (size_t)(close - colon - 1));
      if (!(colon - (t + i) == 2 && t[i + 1] == '_')) it->field = m->fields++;
      i = (size_t)(close - t) + 1;
    } else {
      it->kind = c == '[' ? SLOW_OPEN : c == ']' ? SLOW_CLOSE : c == '~' ? SLOW_BLANKS
                 : c == ' ' ? SLOW_BLANK : SLOW_LITERAL;
      it->literal = c;
      i++;
    }
  }
  if (dollar) m->item[m->n++].kind = SLOW_DOLLAR;
  m->item[m->n].kind = SLOW_END;
}

/* The item behind the bracket that closes the optional part opened at `k`. */
static inline int slow_behind(const slow_matcher *m, int k) {
  while (m->item[k].kind != SLOW_CLOSE) k++;
  return k + 1;
}

static inline long slow_run(const slow_matcher *m, long at, const char *set) {
  long from = at;
  while (at < m->size && m->p[at] != 0 && strchr(set, m->p[at]) != NULL) at++;
  return at - from;
}

#define SLOW_DIGITS "0123456789"

static inline long slow_decimal(const slow_matcher *m, long at) {
  long whole = slow_run(m, at, SLOW_DIGITS);
  long part = at + whole < m->size && m->p[at + whole] == '.'
                  ? slow_run(m, at + whole + 1, SLOW_DIGITS) : 0;
  if (part > 0) return whole + 1 + part;
  return whole > 0 ? whole : -1;
}

static inline bool slow_word(const slow_matcher *m, long at, const char *word) {
  for (; *word != '\0'; word++, at++) {
    if (at >= m->size ||
        (m->p[at] != (unsigned char)*word && m->p[at] != (unsigned char)(*word - 32)))
      return false;
  }
  return true;
}

/* The length of the longest number of this type at `at`, -1: none. */
static inline long slow_number(const slow_matcher *m, const char *type, long at) {
  long sign = at < m->size && (m->p[at] == '-' || m->p[at] == '+');
  long n;
  if (strcmp(type, "uint") == 0) n = slow_run(m, at, SLOW_DIGITS);
  else if (strcmp(type, "hex") == 0) n = slow_run(m, at, SLOW_DIGITS "abcdef");
  else if (strcmp(type, "HEX") == 0) n = slow_run(m, at, SLOW_DIGITS "abcdefABCDEF");
  else if (strcmp(type, "digit") == 0) n = slow_run(m, at, SLOW_DIGITS) > 0;
  else if (strcmp(type, "int") == 0) {
    n = slow_run(m, at + sign, SLOW_DIGITS);
    return n > 0 ? n + sign : -1;
  } else if (strcmp(type, "dec") == 0) {
    n = slow_decimal(m, at + sign);
    return n > 0 ? n + sign : -1;
  } else { /* exp */
    at += sign;
    if (slow_word(m, at, "infinity")) return 8 + sign;
    if (slow_word(m, at, "inf") || slow_word(m, at, "nan")) return 3 + sign;
    n = slow_decimal(m, at);
    if (n < 0) return -1;
    if (at + n < m->size && (m->p[at + n] | 32) == 'e') {
      long e = at + n + 1;
      long esign = e < m->size && (m->p[e] == '-' || m->p[e] == '+');
      long digits = slow_run(m, e + esign, SLOW_DIGITS);
      if (digits > 0) return sign + n + 1 + esign + digits;
    }
    return sign + n;
  }
  return n > 0 ? n : -1;
}

static inline bool slow_is_number(const char *type) {
  static const char *const names[] = {"uint", "int", "hex", "HEX", "dec", "exp", "digit"};
  for (int i = 0; i < 7; i++) {
    if (strcmp(type, names[i]) == 0) return true;
  }
  return false;
}

/* True where nothing, or nothing but optional parts and blanks, follows item `k`. */
static inline bool slow_rest_optional(const slow_matcher *m, int k) {
  while (m->item[k].kind != SLOW_END) {
    if (m->item[k].kind == SLOW_OPEN) k = slow_behind(m, k);
    else if (m->item[k].kind == SLOW_BLANKS || m->item[k].kind == SLOW_CLOSE) k++;
    else return false;
  }
  return true;
}

/* Does a literal that can follow the word begin at `at`? `k` is the item behind the word. */
static inline bool slow_cut(const slow_matcher *m, int k, long at) {
  for (;;) {
    int from = k;
    while (m->item[from].kind == SLOW_CLOSE) from++;
    k = from;
    if (m->item[k].kind == SLOW_OPEN) from = k + 1;
    if (m->item[from].kind == SLOW_LITERAL) {
      long i = at;
      int j = from;
      for (; m->item[j].kind == SLOW_LITERAL && !slow_blank(m->item[j].literal); j++, i++) {
        if (i >= m->size || m->p[i] != (unsigned char)m->item[j].literal) break;
      }
      if (m->item[j].kind != SLOW_LITERAL || slow_blank(m->item[j].literal)) return true;
    } else if (m->item[from].kind == SLOW_FIELD && strchr(m->item[from].type, '|') != NULL) {
      const char *a = m->item[from].type;
      while (*a != '\0') {
        size_t n = strcspn(a, "|");
        if (m->size - at >= (long)n && memcmp(m->p + at, a, n) == 0) return true;
        a += n + (a[n] == '|');
      }
    }
    if (m->item[k].kind == SLOW_OPEN) k = slow_behind(m, k);
    else if (m->item[k].kind == SLOW_BLANKS) k++;
    else return false;
  }
}

static inline bool slow_try(slow_matcher *m, int k, long at, bool edge);

static inline bool slow_then(slow_matcher *m, int k, long start, long end, long next, bool edge) {
  slow_item *it = &m->item[k];
  slow_span2 old = it->field >= 0 ? m->field[it->field] : (slow_span2){-1, -1};
  if (it->field >= 0) m->field[it->field] = (slow_span2){start, end};
  if (slow_try(m, k + 1, next, edge)) return true;
  if (it->field >= 0) m->field[it->field] = old;
  return false;
}

static inline bool slow_choice(slow_matcher *m, int k, long at) {
  const char *type = m->item[k].type;
  for (size_t len = strlen(type); len > 0; len--) {
    for (const char *a = type; *a != '\0';) {
      size_t n = strcspn(a, "|");
      bool here = n == len && m->size - at >= (long)n && memcmp(m->p + at, a, n) == 0;
      if (here && slow_then(m, k, at, at + (long)n, at + (long)n, false)) return true;
      a += n + (a[n] == '|');
    }
  }
  return false;
}

/* "[a-z_]", "[^ 0-9]". */
static inline bool slow_in_class(const char *type, unsigned char c) {
  const bool not = type[1] == '^';
  bool in = false;
  for (const char *s = type + 1 + not; *s != ']' || s == type + 1 + not; s++) {
    const bool range = s[1] == '-' && s[2] != ']';
    in = in || (range ? c >= (unsigned char)s[0] && c <= (unsigned char)s[2]
                      : c == (unsigned char)s[0]);
    if (range) s += 2;
  }
  return in != not;
}

/* The width behind the word of a number: "uint8" is 8. */
static inline long slow_width(const char *type) {
  const size_t word = strcspn(type, SLOW_DIGITS);
  return strchr(type, '|') == NULL && type[word] != '\0' ? strtol(type + word, NULL, 10) : 0;
}

/* A number that fills its column with the blanks before it, or one without blanks that is wider. */
static inline bool slow_column(slow_matcher *m, int k, long at) {
  const char *type = m->item[k].type;
  const long size = m->size, width = slow_width(type);
  char word[16] = {0};
  long from = at;
  memcpy(word, type, strcspn(type, SLOW_DIGITS));
  while (from < size && from - at < width - 1 && slow_blank(m->p[from])) from++;
  if (from > at && at + width < size) m->size = at + width;
  const long n = slow_number(m, word, from);
  m->size = size;
  if (n < 0 || from + n < at + width || (from > at && from + n > at + width)) return false;
  return slow_then(m, k, from, from + n, from + n, true);
}

static inline bool slow_field(slow_matcher *m, int k, long at) {
  const char *type = m->item[k].type;
  if (slow_is_number(type)) {
    long n = slow_number(m, type, at);
    return n > 0 && slow_then(m, k, at, at + n, at + n, true);
  }
  if (type[0] == '[')
    return at < m->size && slow_in_class(type, m->p[at]) &&
           slow_then(m, k, at, at + 1, at + 1, false);
  if (slow_width(type) > 0) return slow_column(m, k, at);
  if (strchr(type, '|') != NULL) return slow_choice(m, k, at);
  if (strcmp(type, "quoted") == 0) {
    long end = at + 1;
    if (at >= m->size || m->p[at] != '"') return false;
    while (end < m->size && m->p[end] != '"') end += m->p[end] == '\\' && end + 1 < m->size ? 2 : 1;
    return end < m->size && slow_then(m, k, at + 1, end, end + 1, false);
  }
  if (strcmp(type, "word") == 0) {
    long end = at + 1;
    if (at >= m->size || slow_blank(m->p[at])) return false;
    for (;; end++) {
      bool over = end >= m->size || slow_blank(m->p[end]);
      if ((over || slow_cut(m, k + 1, end)) && slow_then(m, k, at, end, end, false)) return true;
      if (over) return false;
    }
  }
  /* text */
  long from = at;
  bool inside = false; /* of an optional part, as its last item */
  for (int j = k + 1; m->item[j].kind != SLOW_END && m->item[j].kind != SLOW_OPEN; j++) {
    if (m->item[j].kind == SLOW_CLOSE) inside = true;
  }
  bool to_end = slow_rest_optional(m, k + 1) &&
                (!inside ? m->item[k + 1].kind == SLOW_END : m->item[k + 1].kind == SLOW_CLOSE);
  for (long end = to_end ? m->size : from; end <= m->size; end++) {
    if (slow_then(m, k, at, end, end, false)) return true;
  }
  return false;
}

/* True where a text that only optional parts follow stands outside of optional parts: then the
 * whole template must end with the line. */
static inline bool slow_must_end(const slow_matcher *m) {
  bool inside = false;
  for (int k = 0; k < m->n; k++) {
    if (m->item[k].kind == SLOW_OPEN) inside = true;
    if (m->item[k].kind == SLOW_CLOSE) inside = false;
    if (m->item[k].kind == SLOW_FIELD && strcmp(m->item[k].type, "text") == 0 && !inside &&
        slow_rest_optional(m, k + 1) && m->item[k + 1].kind != SLOW_END)
      return true;
  }
  return false;
}

static inline bool slow_try(slow_matcher *m, int k, long at, bool edge) {
  const slow_item *it = &m->item[k];
  bool touches = edge && at < m->size && slow_edge(m->p[at]);
  if (--m->steps < 0) return false;
  switch (it->kind) {
    case SLOW_LITERAL:
      return at < m->size && m->p[at] == (unsigned char)it->literal &&
             slow_try(m, k + 1, at + 1, false);
    case SLOW_BLANK:
      return at < m->size && slow_blank(m->p[at]) && slow_try(m, k + 1, at + 1, false);
    case SLOW_BLANKS: {
      long most = at;
      while (most < m->size && slow_blank(m->p[most])) most++;
      for (long e = most; e >= at; e--) {
        if (slow_try(m, k + 1, e, edge && e == at)) return true;
      }
      return false;
    }
    case SLOW_OPEN:
      return slow_try(m, k + 1, at, edge) || slow_try(m, slow_behind(m, k), at, edge);
    case SLOW_CLOSE:
      return slow_try(m, k + 1, at, edge);
    case SLOW_DOLLAR:
      return at == m->size && slow_try(m, k + 1, at, edge);
    case SLOW_END:
      if (touches || (slow_must_end(m) && at != m->size)) return false;
      m->end = at;
      return true;
    default:
      if (touches && strchr(it->type, '|') == NULL && it->type[0] != '[' &&
          slow_width(it->type) == 0)
        return false;
      return slow_field(m, k, at);
  }
}

/* The match that begins at `start`. */
static inline bool slow_match(slow_matcher *m, const unsigned char *p, long n, long start) {
  m->p = p;
  m->size = n;
  m->steps = 200000;
  for (int i = 0; i < 64; i++) m->field[i] = (slow_span2){-1, -1};
  return slow_try(m, 0, start, false);
}

#endif

/* transport.c - origins of bytes, prefixes, colour. SPDX-License-Identifier: BSD-3-Clause */
#include "transport.h"

#include <string.h>

#include "base/mem.h"
#include "template.h"

#define TG_PREFIXES 4 /* of one line */

void tg_copy_init(tg_copy *c, const tg_alloc *a) {
  memset(c, 0, sizeof *c);
  c->alloc = *a;
}

void tg_copy_free(tg_copy *c) {
  tg_release(&c->alloc, c->p);
  tg_release(&c->alloc, c->map);
}

void tg_copy_clear(tg_copy *c) {
  c->n = 0;
  c->n_map = 0;
}

tg_status tg_copy_put(tg_copy *c, const uint8_t *p, size_t n, uint64_t offset) {
  if (n == 0) return TG_OK;
  if (c->n > SIZE_MAX - n) return TG_EOVERFLOW;
  tg_status status = tg_reserve(&c->alloc, &c->p, &c->cap, c->n + n, 1);
  if (status != TG_OK) return status;
  tg_origin last = c->n_map > 0 ? c->map[c->n_map - 1] : (tg_origin){0, 0};
  if (c->n_map == 0 || last.offset + (c->n - last.at) != offset) {
    status = tg_reserve(&c->alloc, &c->map, &c->cap_map, c->n_map + 1, sizeof *c->map);
    if (status != TG_OK) return status;
    c->map[c->n_map++] = (tg_origin){c->n, offset};
  }
  memcpy(c->p + c->n, p, n);
  c->n += n;
  return TG_OK;
}

uint64_t tg_line_offset(const tg_line *line, size_t pos) {
  if (line->map == NULL || line->n_map == 0) return line->offset + pos;
  size_t low = 0;
  size_t high = line->n_map;
  while (high - low > 1) {
    size_t mid = low + (high - low) / 2;
    if (line->map[mid].at <= line->offset + pos) {
      low = mid;
    } else {
      high = mid;
    }
  }
  return line->map[low].offset + (line->offset + pos - line->map[low].at);
}

uint64_t tg_line_number(const tg_line *line, size_t pos) {
  if (line->n_pieces == 0) return line->number;
  const uint64_t offset = tg_line_offset(line, pos);
  size_t low = 0;
  size_t high = line->n_pieces;
  while (high - low > 1) {
    size_t mid = low + (high - low) / 2;
    if (line->pieces[mid].offset <= offset) {
      low = mid;
    } else {
      high = mid;
    }
  }
  return line->pieces[low].number;
}

tg_line tg_line_part(const tg_line *line, size_t from, size_t to) {
  tg_line part = *line;
  part.p += from;
  part.n = to - from;
  part.offset += from; /* of a mapped line: the place in its copy */
  part.tail = line->tail && to == line->n;
  return part;
}

/* A pattern of prefixes: '0' one or more digits, ' ' one blank, '_' any number of blanks, 'w' a
 * run without blanks and brackets, 'a' a run of letters, 'n' a month's or day's three letters, '?'
 * the items behind it up to the next '!' may be left out; '\\' takes the next byte for itself, and
 * so does the rest. */
static const char *const prefix_forms[] = {
    "[0-0-0?T!_0:0:0?.0!?Z!] ",     /* minicom and others */
    "0-0-0?T!?_!0:0:0?.0!?,0!?Z!?+0:0!?+0! ", /* ISO 8601, LAVA's text log */
    "n _0 0:0:0?.0! ",             /* ts, syslog */
    "[n _0 0:0:0?.0!] ",
    "0:0:0?.0! ",
    "[0:0:0?.0!] ",
    "[_0.0] ",                     /* kernel */
    "[_0.0 0.0] ",                 /* grabserial */
    "0.0 ",
    "[cpu 0x0?h!] ",
    "|w| ",
    "std?out!?err! F ",            /* containers: CRI */
    "0O?+! ",                      /* GitLab, behind its stamp */
    "0E?+! ",
    "> ",
};

static bool is_letter(uint8_t c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

static size_t prefix_item(char form, const uint8_t *p, size_t n, bool *ok) {
  size_t k = 0;
  switch (form) {
  case '0':
    while (k < n && tg_is_digit(p[k])) k++;
    *ok = k > 0;
    return k;
  case 'h':
    while (k < n && (tg_is_digit(p[k]) || (p[k] >= 'a' && p[k] <= 'f'))) k++;
    *ok = k > 0;
    return k;
  case '_':
    while (k < n && (p[k] == ' ' || p[k] == '\t')) k++;
    *ok = true;
    return k;
  case 'w':
    while (k < n && !tg_is_blank(p[k]) && p[k] != '|' && p[k] != ']') k++;
    *ok = k > 0;
    return k;
  case 'a':
    while (k < n && (p[k] == '_' || is_letter(p[k]))) k++;
    *ok = k > 0;
    return k;
  case 'n':
    *ok = n >= 3 && p[0] >= 'A' && p[0] <= 'Z' && p[1] >= 'a' && p[1] <= 'z' && p[2] >= 'a' &&
          p[2] <= 'z';
    return 3;
  default:
    *ok = n > 0 && p[0] == (uint8_t)form;
    return 1;
  }
}

/* The length of one form at `p`, 0 where it does not stand there. */
static size_t prefix_form(const char *form, const uint8_t *p, size_t n) {
  size_t at = 0;
  for (const char *f = form; *f != '\0'; f++) {
    if (*f == '!') continue;
    if (*f == '?') {
      bool all = true;
      size_t to = at;
      const char *g = f + 1;
      for (; *g != '!'; g++) {
        bool ok = false;
        if (all) to += prefix_item(*g, p + to, n - to, &ok);
        all = all && ok;
      }
      if (all) at = to;
      f = g;
      continue;
    }
    bool ok = false;
    const bool quoted = *f == '\\' && f[1] != '\0';
    if (quoted) f++;
    size_t k = quoted ? 1 : prefix_item(*f, p + at, n - at, &ok);
    if (quoted) ok = at < n && p[at] == (uint8_t)*f;
    if (!ok) return 0;
    at += k;
  }
  return at;
}

size_t tg_prefix_length(const char *own, const uint8_t *p, size_t n) {
  size_t at = own != NULL ? prefix_form(own, p, n) : 0;
  for (int round = 0; round < TG_PREFIXES; round++) {
    size_t found = 0;
    for (size_t i = 0; i < sizeof prefix_forms / sizeof *prefix_forms && found == 0; i++) {
      found = prefix_form(prefix_forms[i], p + at, n - at);
    }
    if (found == 0) break;
    at += found;
  }
  return at;
}

/* The length of a string that ESC `p[1]` opens: up to BEL or ESC '\\', 0 where it has no end. */
static size_t string_length(const uint8_t *p, size_t n) {
  for (size_t k = 2; k < n; k++) {
    if (p[k] == 0x07) return k + 1;
    if (p[k] == 0x1b) return k + 1 < n && p[k + 1] == '\\' ? k + 2 : 0;
  }
  return 0;
}

/* The length of the sequence that the ESC at `p` begins. 0 = none. */
static size_t escape_length(const uint8_t *p, size_t n) {
  if (n < 2) return 0;
  const uint8_t c = p[1];
  if (c == '[') { /* CSI: parameters, intermediates, a final byte */
    size_t k = 2;
    while (k < n && p[k] >= 0x30 && p[k] <= 0x3f) k++;
    while (k < n && p[k] >= 0x20 && p[k] <= 0x2f) k++;
    return k < n && p[k] >= 0x40 && p[k] <= 0x7e ? k + 1 : 0;
  }
  if (c == ']' || c == 'P' || c == '^' || c == '_' || c == 'X') {
    const size_t k = string_length(p, n);
    return k > 0 ? k : 2;
  }
  if (c >= '(' && c <= '/') return n > 2 ? 3 : 0; /* a character set */
  return (c >= 0x40 && c <= 0x5f) || c == '7' || c == '8' || c == '=' || c == '>' || c == 'c' ? 2
                                                                                              : 0;
}

/* The length of the sequence at `p`: with its ESC any, without it '[' digits and ';' then 'm'.
 * 0 = none. */
static size_t colour_length(const uint8_t *p, size_t n) {
  if (n > 0 && p[0] == 0x1b) return escape_length(p, n);
  size_t k = 1;
  while (k < n && (tg_is_digit(p[k]) || p[k] == ';')) k++;
  return k > 1 && k < n && p[0] == '[' && p[k] == 'm' && tg_is_digit(p[1]) ? k + 1 : 0;
}

bool tg_ends_in_colour(const uint8_t *p, size_t n) {
  if (n < 3 || p[n - 1] != 'm') return false;
  size_t k = n - 1;
  while (k > 0 && n - k < 16 && (tg_is_digit(p[k - 1]) || p[k - 1] == ';')) k--;
  return k > 0 && k < n - 1 && p[k - 1] == '[' && tg_is_digit(p[k]);
}

bool tg_has_colour(const uint8_t *p, size_t n) {
  const uint8_t *end = p + n;
  if (n > 0 && memchr(p, 0x1b, n) != NULL) return true;
  for (const uint8_t *q = p; q < end; q++) {
    q = memchr(q, '[', (size_t)(end - q));
    if (q == NULL) return false;
    if (colour_length(q, (size_t)(end - q)) > 0) return true;
  }
  return false;
}

tg_status tg_strip_colour(const tg_line *line, tg_copy *out) {
  tg_copy_clear(out);
  size_t from = 0;
  for (size_t at = 0; at < line->n;) {
    size_t k = 0;
    if (line->p[at] == 0x1b || line->p[at] == '[') k = colour_length(line->p + at, line->n - at);
    if (k == 0) {
      at++;
      continue;
    }
    /* Bytes of a mapped line may lie apart, so they are copied one by one. */
    for (size_t i = from; i < at; i++) {
      tg_status status = tg_copy_put(out, line->p + i, 1, tg_line_offset(line, i));
      if (status != TG_OK) return status;
    }
    at += k;
    from = at;
  }
  for (size_t i = from; i < line->n; i++) {
    tg_status status = tg_copy_put(out, line->p + i, 1, tg_line_offset(line, i));
    if (status != TG_OK) return status;
  }
  return TG_OK;
}

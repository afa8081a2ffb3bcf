/* lava.c - LAVA's raw log: one YAML flow mapping a line. SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "template.h"
#include "transport.h"

typedef struct yaml {
  const uint8_t *p;
  size_t at, n;
} yaml;

static void yaml_blanks(yaml *y) {
  while (y->at < y->n && tg_is_blank(y->p[y->at])) y->at++;
}

static bool yaml_take(yaml *y, uint8_t c) {
  yaml_blanks(y);
  if (y->at >= y->n || y->p[y->at] != c) return false;
  y->at++;
  return true;
}

/* Skips a quoted scalar; `y` stands on its quote. */
static bool yaml_quoted(yaml *y) {
  uint8_t quote = y->p[y->at++];
  while (y->at < y->n) {
    uint8_t c = y->p[y->at++];
    const bool doubled = c == quote && quote == '\'' && y->at < y->n && y->p[y->at] == quote;
    if ((c == '\\' && quote == '"') || doubled) {
      y->at++;
    } else if (c == quote) {
      return y->at <= y->n;
    }
  }
  return false;
}

/* Skips a value: quoted, plain, or a collection up to its closing bracket. */
static bool yaml_value(yaml *y, tg_str *out) {
  yaml_blanks(y);
  size_t from = y->at;
  size_t depth = 0;
  while (y->at < y->n) {
    uint8_t c = y->p[y->at];
    if (c == '"' || (c == '\'' && (y->at == from || depth > 0))) {
      if (!yaml_quoted(y)) return false;
      if (depth == 0) break;
      continue;
    }
    if (depth == 0 && (c == ',' || c == '}' || c == ']' || c == ':')) break;
    depth += c == '[' || c == '{';
    if (c == ']' || c == '}') {
      y->at++;
      if (--depth == 0) break;
      continue;
    }
    y->at++;
  }
  *out = (tg_str){y->p + from, y->at - from};
  return depth == 0 && y->at > from;
}

/* True where a scalar, quoted or plain, is this word. */
static bool yaml_is(tg_str s, const char *word) {
  if (s.n >= 2 && (s.p[0] == '"' || s.p[0] == '\'')) s = (tg_str){s.p + 1, s.n - 2};
  while (s.n > 0 && tg_is_blank(s.p[s.n - 1])) s.n--;
  return strlen(word) == s.n && memcmp(word, s.p, s.n) == 0;
}

bool tg_lava_parse(const uint8_t *p, size_t n, tg_lava *out) {
  yaml y = {p, 0, n};
  tg_str level = {NULL, 0};
  *out = (tg_lava){.console = false};
  if (n < 4 || p[0] != '-' || p[1] != ' ') return false;
  y.at = 2;
  if (!yaml_take(&y, '{')) return false;
  do {
    tg_str key, value;
    if (!yaml_value(&y, &key) || !yaml_take(&y, ':') || !yaml_value(&y, &value))
      return false;
    if (yaml_is(key, "lvl")) level = value;
    if (yaml_is(key, "ns")) out->channel = value;
    if (yaml_is(key, "msg")) out->message = value;
  } while (yaml_take(&y, ','));
  if (!yaml_take(&y, '}')) return false;
  yaml_blanks(&y);
  if (y.at != n || level.p == NULL || out->message.p == NULL) return false;
  bool feedback = yaml_is(level, "feedback");
  out->console = feedback || yaml_is(level, "target");
  tg_str *ns = &out->channel;
  if (ns->n >= 2 && (ns->p[0] == '"' || ns->p[0] == '\'')) *ns = (tg_str){ns->p + 1, ns->n - 2};
  return true;
}

/* The code point of `n` hex digits, false if they are none. */
static bool yaml_hex(const uint8_t *p, size_t have, size_t n, uint32_t *out) {
  uint32_t value = 0;
  if (have < n) return false;
  for (size_t i = 0; i < n; i++) {
    uint8_t c = p[i] | 0x20;
    if (tg_is_digit(p[i])) {
      value = value * 16 + (uint32_t)(p[i] - '0');
    } else if (c >= 'a' && c <= 'f') {
      value = value * 16 + (uint32_t)(c - 'a' + 10);
    } else {
      return false;
    }
  }
  *out = value;
  return true;
}

static size_t utf8(uint32_t c, uint8_t out[4]) {
  if (c < 0x80) {
    out[0] = (uint8_t)c;
    return 1;
  }
  if (c < 0x800) {
    out[0] = (uint8_t)(0xc0 | (c >> 6));
    out[1] = (uint8_t)(0x80 | (c & 0x3f));
    return 2;
  }
  if (c < 0x10000) {
    out[0] = (uint8_t)(0xe0 | (c >> 12));
    out[1] = (uint8_t)(0x80 | ((c >> 6) & 0x3f));
    out[2] = (uint8_t)(0x80 | (c & 0x3f));
    return 3;
  }
  out[0] = (uint8_t)(0xf0 | ((c >> 18) & 7));
  out[1] = (uint8_t)(0x80 | ((c >> 12) & 0x3f));
  out[2] = (uint8_t)(0x80 | ((c >> 6) & 0x3f));
  out[3] = (uint8_t)(0x80 | (c & 0x3f));
  return 4;
}

/* The escape at `p` (a backslash): its length, and the bytes it stands for. */
static size_t yaml_escape(const uint8_t *p, size_t n, uint8_t out[4], size_t *got) {
  static const char from[] = "0abtnvfre\"/\\ ";
  static const uint8_t to[] = {0, 7, 8, 9, 10, 11, 12, 13, 27, '"', '/', '\\', ' '};
  uint32_t c = 0;
  *got = 1;
  out[0] = p[0];
  if (n < 2) return 1;
  const char *known = p[1] != 0 ? strchr(from, p[1]) : NULL;
  if (known != NULL) {
    out[0] = to[known - from];
    return 2;
  }
  size_t digits = p[1] == 'x' ? 2 : p[1] == 'u' ? 4 : p[1] == 'U' ? 8 : 0;
  if (digits == 0 || !yaml_hex(p + 2, n - 2, digits, &c)) return 1;
  *got = utf8(c, out);
  return 2 + digits;
}

/* Copies one line of the scalar [s, e) (with its quotes), from s + *at on; `*at` moves behind its
 * line end or to the end of the scalar. */
static tg_status yaml_line(tg_str s, uint64_t offset, size_t *at, bool *escaped, tg_copy *out) {
  bool twofold = s.p[0] == '"';
  bool quoted = twofold || s.p[0] == '\'';
  size_t end = s.n - quoted;
  size_t i = *at == 0 ? quoted : *at;
  while (i < end) {
    uint8_t bytes[4] = {s.p[i], 0, 0, 0};
    size_t got = 1;
    size_t used = 1;
    if (twofold && s.p[i] == '\\') {
      used = yaml_escape(s.p + i, end - i, bytes, &got);
    } else if (quoted && !twofold && s.p[i] == '\'') {
      used = 2;
    }
    *escaped = *escaped || used > 1;
    if (got == 1 && bytes[0] == '\n') {
      *at = i + used;
      return TG_OK;
    }
    tg_status status = tg_copy_put(out, bytes, got, offset + i);
    if (status != TG_OK) return status;
    i += used;
  }
  *at = s.n;
  return TG_OK;
}

/* Goes on to the next element of the message; a message that is no list is its only element. */
static bool lava_element(tg_lava *lava) {
  const tg_str m = lava->message;
  const bool first = lava->element.p == NULL;
  lava->at = 0;
  if (m.p[0] == '{') return false;
  if (m.p[0] != '[') {
    lava->element = m;
    return first;
  }
  yaml y = {m.p, 1, m.n - 1};
  if (!first) {
    y.at = (size_t)(lava->element.p - m.p) + lava->element.n;
    if (!yaml_take(&y, ',')) return false;
  }
  return yaml_value(&y, &lava->element);
}

bool tg_lava_next(tg_lava *lava, uint64_t offset, tg_copy *out, tg_status *status) {
  tg_copy_clear(out);
  *status = TG_OK;
  const bool over = lava->element.p == NULL || lava->at >= lava->element.n;
  if (over && !lava_element(lava)) return false;
  const uint64_t base = offset + (uint64_t)(lava->element.p - lava->message.p);
  lava->escaped = false;
  *status = yaml_line(lava->element, base, &lava->at, &lava->escaped, out);
  return *status == TG_OK;
}

/* csv_cell.c - the value of a CSV cell by the radix of its column.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "capture/csv_cell.h"

#include <string.h>

void tg_csv_strip(const uint8_t **p, size_t *n) {
  while (*n > 0 && (**p == ' ' || **p == '\t')) ++*p, --*n;
  while (*n > 0 && ((*p)[*n - 1] == ' ' || (*p)[*n - 1] == '\t')) --*n;
  if (*n >= 2 && **p == '"' && (*p)[*n - 1] == '"') ++*p, *n -= 2;
}

/* A column without radix turns out not to be hex: its digits are decimal. */
static tg_status turn_decimal(tg_capture *c, cap_store *s, bool minus) {
  bool ok = true;
  s->fixed_hex = false;
  s->radix = minus ? RADIX_SIGNED : RADIX_UNSIGNED;
  if (s->width == 1) return TG_OK;
  for (size_t i = 0; i < s->n; i++) {
    uint64_t *v = s->value + i * s->words;
    if ((s->at[i] & 2) != 0) continue;
    if (tg_cap_hex_as_dec(v, s->words, s->width)) {
      s->at[i] = (s->at[i] & ~1u) | (uint32_t)(v[0] & 1);
    } else {
      ok = false;
      s->at[i] |= 2;
    }
  }
  if (!s->cur_x && !tg_cap_hex_as_dec(s->cur, s->words, s->width)) s->cur_x = true;
  if (ok) return TG_OK;
  return tg_cap_problem(
      c, c->line, c->offset, "mixed-radix",
      "a column without radix holds hex and decimal cells; its hex ones are unknown");
}

static bool is_unknown(const uint8_t *p, size_t n) {
  for (size_t i = 0; i < n; i++) {
    uint8_t d = p[i] | 32;
    if (d == 'x' || d == 'z' || d == 'u') return true;
  }
  return n == 0;
}

/* As many digits 0 and 1 as the column has bits. */
static bool is_bits(const uint8_t *p, size_t n, uint32_t width) {
  if (n != width || n < 2) return false;
  for (size_t i = 0; i < n; i++)
    if (p[i] != '0' && p[i] != '1') return false;
  return true;
}

/* Reads digits of a radix; false where they are no value of it that fits. */
static bool read_as(cap_radix radix, const cap_store *s, const uint8_t *p, size_t n, uint64_t *v) {
  switch (radix) {
    case RADIX_HEX:
      return tg_cap_parse_hex(p, n, v, s->words, s->width);
    case RADIX_UNSIGNED:
    case RADIX_SIGNED:
      return tg_cap_parse_dec(p, n, v, s->words, s->width);
    case RADIX_BINARY:
      return tg_cap_parse_bits(p, n, v, s->words, s->width);
    case RADIX_OCTAL:
      return tg_cap_parse_octal(p, n, v, s->words, s->width);
    default:
      return s->width == 1 && n == 1 && tg_cap_parse_bin(p, n, v, s->words);
  }
}

/* Reads a cell by the store's radix, which its content may settle. */
static bool read_cell(tg_capture *c, cap_store *s, const uint8_t *p, size_t n, uint64_t *v,
                      tg_status *status) {
  const bool open = s->radix == RADIX_AUTO || (!c->ila && s->radix == RADIX_HEX);
  if (open && s->n == 0 && is_bits(p, n, s->width)) s->radix = RADIX_BINARY;
  if (s->radix != RADIX_AUTO) return read_as((cap_radix)s->radix, s, p, n, v);
  if (n == (s->width + 3) / 4 && tg_cap_parse_hex(p, n, v, s->words, s->width)) return true;
  *status = turn_decimal(c, s, n > 0 && p[0] == '-');
  return tg_cap_parse_dec(p, n, v, s->words, s->width);
}

static tg_status bad_cell(tg_capture *c, uint64_t sample, const uint8_t *p, size_t n) {
  return tg_cap_problem(c, c->line, c->offset, "bad-cell",
                        "sample %llu: \"%.*s\" is no value of its column",
                        (unsigned long long)sample, (int)(n < 40 ? n : 40), (const char *)p);
}

tg_status tg_csv_bit(tg_capture *c, cap_store *s, uint32_t bit, uint64_t sample, const uint8_t *p,
                     size_t n) {
  tg_csv_strip(&p, &n);
  const bool known = n == 1 && (*p == '0' || *p == '1');
  s->next_x = !tg_cap_bit_moves(s, bit, known ? (uint8_t)(*p == '1') : 2);
  return known || is_unknown(p, n) ? TG_OK : bad_cell(c, sample, p, n);
}

/* The digits of a number that says its radix itself ("0x1f", "8'h1f", "1Fh"), and that radix; else
 * `radix`. */
static cap_radix own_radix(const uint8_t **p, size_t *n, cap_radix radix) {
  const uint8_t *quote = memchr(*p, '\'', *n);
  if (*n > 2 && (*p)[0] == '0' && ((*p)[1] | 32) == 'x') {
    *p += 2, *n -= 2;
    return RADIX_HEX;
  }
  if (quote != NULL && (size_t)(quote - *p) + 2 < *n) {
    const uint8_t base = quote[1] | 32;
    const cap_radix found = base == 'h'   ? RADIX_HEX
                            : base == 'd' ? RADIX_UNSIGNED
                            : base == 'b' ? RADIX_BINARY
                            : base == 'o' ? RADIX_OCTAL
                                          : radix;
    *n -= (size_t)(quote - *p) + 2;
    *p = quote + 2;
    return found;
  }
  if (*n > 1 && ((*p)[*n - 1] | 32) == 'h') {
    --*n;
    return RADIX_HEX;
  }
  return radix;
}

/* A cell that is no lone level and no label: its value, or an unknown one. */
static tg_status number_cell(tg_capture *c, cap_store *s, uint64_t sample, const uint8_t *p,
                             size_t n, uint64_t *v, bool *unknown) {
  const uint8_t *digits = p;
  size_t left = n;
  const cap_radix own = own_radix(&digits, &left, RADIX_AUTO);
  tg_status status = TG_OK;
  bool ok = true;
  *unknown = is_unknown(digits, left);
  if (*unknown) return TG_OK;
  ok = own != RADIX_AUTO ? read_as(own, s, digits, left, v) : read_cell(c, s, p, n, v, &status);
  if (status == TG_OK && !ok) {
    *unknown = true;
    status = bad_cell(c, sample, p, n);
  }
  return status;
}

tg_status tg_csv_cell(tg_capture *c, cap_store *s, uint64_t sample, const uint8_t *p, size_t n,
                      uint64_t *v) {
  tg_status status = TG_OK;
  bool unknown = false, label = false;
  while (n > 0 && *p == ' ') p++, n--;
  while (n > 0 && p[n - 1] == ' ') n--;
  if (n > 0 && *p == '"') {
    tg_csv_strip(&p, &n);
    memset(v, 0, s->words * sizeof *v);
    label = tg_cap_parse_label(p, n, s->role, v);
    unknown = !label && c->ila;
  }
  if (s->width == 1 && n == 1 && (*p == '0' || *p == '1'))
    v[0] = *p == '1';
  else if (!label && !unknown)
    status = number_cell(c, s, sample, p, n, v, &unknown);
  if (status != TG_OK) return status;
  if (unknown) memcpy(v, s->cur, s->words * sizeof *v);
  if (unknown == s->cur_x && s->n > 0 && (unknown || memcmp(v, s->cur, s->words * sizeof *v) == 0))
    return TG_OK;
  return tg_cap_store_put(c, s, sample, v, unknown);
}

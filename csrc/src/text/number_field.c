/* number_field.c - where a number in a line ends, and whether it was torn there.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "base/duration.h"
#include "match.h"

#define TG_GROUPED_BYTES 64 /* longer cannot be a value */
#define TG_PART_BYTES 32    /* of a duration: longer cannot be one */

enum { LONGEST_STAMP = 40 };

/* A hex digit that is the level of an OP-TEE line ("D/TC:") cutting in is no digit. */
static bool is_level(const uint8_t *line, size_t n, size_t slash) {
  const uint8_t *p = line + slash;
  return n - slash >= 4 && p[0] == '/' && p[3] == ':' && tg_is_one_of(p[-1], "DEF") &&
         (memcmp(p + 1, "TC", 2) == 0 || memcmp(p + 1, "TA", 2) == 0 ||
          memcmp(p + 1, "LD", 2) == 0);
}

/* A kernel's stamp, "[    4.591864]", or its beginning at the end of the line, cutting in. */
static bool is_stamp(const uint8_t *p, size_t n, size_t pos) {
  const size_t last = n - pos > LONGEST_STAMP ? pos + LONGEST_STAMP : n;
  size_t dots = 0;
  if (p[pos++] != '[') return false;
  for (; pos < last && (p[pos] == ' ' || tg_is_digit(p[pos]) || p[pos] == '.'); pos++)
    dots += p[pos] == '.';
  return pos == n || (p[pos] == ']' && dots == 1);
}

bool tg_number_torn(const uint8_t *p, size_t n, size_t pos) {
  return tg_is_edge(p[pos]) || is_level(p, n, pos) || is_stamp(p, n, pos);
}

static bool in_class(tg_class c, uint8_t b) {
  switch (c) {
  case TG_CLASS_DIGIT:
    return tg_is_digit(b);
  case TG_CLASS_HEX:
    return tg_is_digit(b) || (b >= 'a' && b <= 'f');
  case TG_CLASS_HEXANY:
    return tg_is_digit(b) || (b >= 'a' && b <= 'f') || (b >= 'A' && b <= 'F');
  case TG_CLASS_BLANK:
    return tg_is_blank(b);
  default:
    return !tg_is_blank(b);
  }
}

size_t tg_run_end(tg_match *m, uint32_t slot, tg_class c, size_t pos) {
  tg_span *run = slot == TG_NO_PLANE ? NULL : &m->s->runs[slot];
  if (run != NULL && pos >= run->start && pos < run->end) return run->end;
  const bool known = run != NULL && run->end > run->start;
  size_t end = pos;
  while (end < m->n && !(known && end == run->start) && in_class(c, m->p[end])) end++;
  m->s->work += end - pos;
  if (known && end == run->start) end = run->end; /* the run goes on as was seen before */
  if (run != NULL) *run = (tg_span){pos, end};
  return end;
}

static uint32_t cache_slot(const tg_inst *in, uint32_t k) {
  return in->cache == TG_NO_PLANE ? TG_NO_PLANE : in->cache + k;
}

static bool sign(const tg_match *m, size_t pos) {
  return pos < m->n && (m->p[pos] == '-' || m->p[pos] == '+');
}

/* digits [. digits] or . digits; SIZE_MAX without a digit. */
static size_t decimal_end(tg_match *m, const tg_inst *in, size_t pos) {
  size_t whole = tg_run_end(m, cache_slot(in, 0), TG_CLASS_DIGIT, pos);
  if (whole >= m->n || m->p[whole] != '.') return whole > pos ? whole : SIZE_MAX;
  size_t part = tg_run_end(m, cache_slot(in, 1), TG_CLASS_DIGIT, whole + 1);
  if (part > whole + 1) return part;
  return whole > pos ? whole : SIZE_MAX;
}

/* The length of nan, inf or infinity in any case at `pos`, 0 if none of them stands there. */
static size_t missing_word(const tg_match *m, size_t pos) {
  static const char *const words[] = {"infinity", "inf", "nan"};
  for (size_t i = 0; i < 3; i++) {
    size_t k = 0;
    while (words[i][k] != '\0' && pos + k < m->n && (m->p[pos + k] | 0x20) == words[i][k]) k++;
    if (words[i][k] == '\0') return k;
  }
  return 0;
}

static size_t exponent_end(tg_match *m, const tg_inst *in, size_t pos) {
  size_t word = missing_word(m, pos);
  if (word > 0) return pos + word;
  size_t end = decimal_end(m, in, pos);
  if (end == SIZE_MAX || end >= m->n || (m->p[end] | 0x20) != 'e') return end;
  size_t digits = end + 1;
  if (sign(m, digits)) digits++;
  size_t last = tg_run_end(m, cache_slot(in, 2), TG_CLASS_DIGIT, digits);
  return last > digits ? last : end;
}

/* Digits in groups of three: 1 to 3, then ",ddd" as often as it comes. */
static size_t groups_end(const tg_match *m, size_t pos) {
  size_t end = pos;
  while (end < m->n && end - pos < 3 && tg_is_digit(m->p[end])) end++;
  if (end == pos) return SIZE_MAX;
  while (end + 3 < m->n && m->p[end] == ',' && end - pos < TG_GROUPED_BYTES &&
         tg_is_digit(m->p[end + 1]) && tg_is_digit(m->p[end + 2]) && tg_is_digit(m->p[end + 3])) {
    end += 4;
  }
  return end;
}

/* A right-aligned column of `width` bytes. A padded number ends with its column, also where the
 * next one touches it ("         99123,456,789" is 99); one without padding may be longer. */
static size_t column_end(const tg_match *m, size_t pos, size_t width) {
  size_t from = pos;
  while (from < m->n && from - pos + 1 < width && tg_is_blank(m->p[from])) from++;
  size_t end = groups_end(m, from);
  size_t cut = pos + width;
  if (end == SIZE_MAX || from == pos || end <= cut || cut - from >= 3) return end;
  for (size_t i = from; i <= cut; i++) {
    if (!tg_is_digit(m->p[i])) return end;
  }
  return cut;
}

/* A duration with all its parts: one that begins behind another part is only its tail. */
static size_t duration_end(tg_match *m, size_t pos) {
  if (pos > 1 && m->p[pos - 1] == ' ') {
    size_t word = pos - 1;
    while (word > 0 && pos - word < TG_PART_BYTES && !tg_is_blank(m->p[word - 1])) word--;
    if (tg_duration_length(m->p + word, pos - 1 - word) == pos - 1 - word && word < pos - 1)
      return SIZE_MAX;
  }
  const size_t n = tg_duration_length(m->p + pos, m->n - pos);
  m->s->work += n;
  return n > 0 ? pos + n : SIZE_MAX;
}

static size_t free_end(tg_match *m, const tg_inst *in, size_t pos);

/* Blanks and a number that fill `width` bytes together, or a number that needs more: "%8u".
 * One with blanks before it ends with its column, also where the next one touches it. */
static size_t aligned_end(tg_match *m, const tg_inst *in, size_t pos) {
  const size_t cut = pos + in->width;
  size_t from = pos;
  while (from < m->n && from + 1 < cut && tg_is_blank(m->p[from])) from++;
  m->s->work += from - pos;
  if (from == pos) { /* of any length: runs are remembered */
    const size_t end = free_end(m, in, pos);
    return end != SIZE_MAX && end >= cut ? end : SIZE_MAX;
  }
  tg_scratch none = {.work = 0};
  tg_match column = {.p = m->p, .n = m->n < cut ? m->n : cut, .s = &none};
  tg_inst alone = *in;
  alone.cache = TG_NO_PLANE;
  return free_end(&column, &alone, from) == cut ? cut : SIZE_MAX;
}

size_t tg_number_end(tg_match *m, const tg_inst *in, size_t pos) {
  if (in->width == 0) return free_end(m, in, pos);
  return in->type == TG_FIELD_GROUPED ? column_end(m, pos, in->width) : aligned_end(m, in, pos);
}

static size_t free_end(tg_match *m, const tg_inst *in, size_t pos) {
  size_t end;
  switch (in->type) {
  case TG_FIELD_INT:
    pos += sign(m, pos);
    end = tg_run_end(m, cache_slot(in, 0), TG_CLASS_DIGIT, pos);
    return end > pos ? end : SIZE_MAX;
  case TG_FIELD_HEX:
    end = tg_run_end(m, cache_slot(in, 0), TG_CLASS_HEX, pos);
    return end > pos ? end : SIZE_MAX;
  case TG_FIELD_HEXANY:
    end = tg_run_end(m, cache_slot(in, 0), TG_CLASS_HEXANY, pos);
    return end > pos ? end : SIZE_MAX;
  case TG_FIELD_DEC:
    return decimal_end(m, in, pos + sign(m, pos));
  case TG_FIELD_EXP:
    return exponent_end(m, in, pos + sign(m, pos));
  case TG_FIELD_GROUPED:
    return groups_end(m, pos);
  case TG_FIELD_DURATION:
    return duration_end(m, pos);
  case TG_FIELD_SIZE:
    end = tg_run_end(m, cache_slot(in, 0), TG_CLASS_DIGIT, pos);
    if (end == pos) return SIZE_MAX;
    return end + (end < m->n && tg_is_one_of(m->p[end], "KMGTPE"));
  case TG_FIELD_DIGIT:
    return pos < m->n && tg_is_digit(m->p[pos]) ? pos + 1 : SIZE_MAX;
  default:
    end = tg_run_end(m, cache_slot(in, 0), TG_CLASS_DIGIT, pos);
    return end > pos ? end : SIZE_MAX;
  }
}

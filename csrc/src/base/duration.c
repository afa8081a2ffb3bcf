/* duration.c - durations of several units. SPDX-License-Identifier: BSD-3-Clause */
#include "duration.h"

#include <stdbool.h>
#include <string.h>

enum { UNITS = 9, MOST_DIGITS = 20, MOST_LETTERS = 5 }; /* so that a part has a bounded length */

/* From the greatest down. */
static const struct {
  const char *name;
  int64_t us;
} units[UNITS] = {
    {"y", 31557600000000}, {"month", 2629800000000}, {"w", 604800000000},
    {"d", 86400000000},    {"h", 3600000000},        {"min", 60000000},
    {"s", 1000000},        {"ms", 1000},             {"us", 1},
};

/* One part: digits, perhaps a fraction, a unit. */
typedef struct part {
  size_t whole, point, fraction, end; /* `whole` digits; `fraction` digits from `point` on */
  size_t unit;
} part;

static bool is_digit(uint8_t c) { return c >= '0' && c <= '9'; }

static bool is_letter(uint8_t c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/* Reads the part at the first byte; false where there is none. */
static bool read_part(const uint8_t *p, size_t n, part *out) {
  size_t at = 0;
  while (at < n && at <= MOST_DIGITS && is_digit(p[at])) at++;
  *out = (part){.whole = at, .point = at, .unit = UNITS};
  if (at == 0 || at > MOST_DIGITS) return false;
  if (at < n && p[at] == '.') {
    out->point = ++at;
    while (at < n && at - out->point <= MOST_DIGITS && is_digit(p[at])) at++;
    out->fraction = at - out->point;
    if (out->fraction == 0 || out->fraction > MOST_DIGITS) return false;
  }
  size_t letters = at;
  while (letters < n && letters - at <= MOST_LETTERS && is_letter(p[letters])) letters++;
  for (size_t u = 0; u < UNITS; u++) {
    const size_t len = strlen(units[u].name);
    if (letters - at == len && memcmp(p + at, units[u].name, len) == 0) out->unit = u;
  }
  out->end = letters;
  return out->unit < UNITS;
}

size_t tg_duration_length(const uint8_t *p, size_t n) {
  size_t end = 0;
  size_t next_unit = 0; /* the greatest that may follow */
  for (size_t at = 0; at < n; at = end + 1) {
    part one;
    if (!read_part(p + at, n - at, &one) || one.unit < next_unit) break;
    end = at + one.end;
    next_unit = one.unit + 1;
    if (one.fraction > 0 || end >= n || p[end] != ' ') break;
  }
  return end;
}

/* Adds `count` of a unit. */
static bool add(int64_t *sum, const uint8_t *p, size_t digits, int64_t unit) {
  int64_t value = 0;
  for (size_t i = 0; i < digits; i++) {
    if (__builtin_mul_overflow(value, 10, &value) ||
        __builtin_add_overflow(value, (int64_t)(p[i] - '0'), &value))
      return false;
  }
  return !__builtin_mul_overflow(value, unit, &value) && !__builtin_add_overflow(*sum, value, sum);
}

tg_status tg_parse_duration(const uint8_t *p, const uint8_t *end, int64_t *us) {
  const size_t n = (size_t)(end - p);
  int64_t sum = 0;
  if (n == 0 || tg_duration_length(p, n) != n) return TG_ESYNTAX;
  for (size_t at = 0; at < n;) {
    part one;
    (void)read_part(p + at, n - at, &one);
    if (!add(&sum, p + at, one.whole, units[one.unit].us)) return TG_EOVERFLOW;
    int64_t step = units[one.unit].us;
    for (size_t i = 0; i < one.fraction; i++) {
      const uint8_t digit = p[at + one.point + i];
      if (step % 10 != 0 && digit != '0') return TG_ERANGE;
      step = step % 10 == 0 ? step / 10 : 0;
      if (!add(&sum, &digit, 1, step)) return TG_EOVERFLOW;
    }
    at += one.end + 1;
  }
  *us = sum;
  return TG_OK;
}

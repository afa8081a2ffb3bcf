/* number.c - digits to integers, exact and locale-free.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tickgauge/number.h"

#include "spans.h"
#include "try.h"
#include "wide.h"

enum { SAFE_DECIMALS = 19, MAX_DECIMALS = 20, MAX_HEX = 16, HEX_BAD = 16, MAX_SHIFT = 18 };

#define LONG_ENOUGH INT64_C(100000000000000000) /* a number of MAX_SHIFT digits */

static inline bool is_digit(uint8_t c) { return (uint8_t)(c - '0') <= 9; }

static const uint8_t *skip_digits(const uint8_t *p, const uint8_t *end) {
  while (p < end && is_digit(*p)) p++;
  return p;
}

/* acc = acc * 10 + digit; true where it does not fit. */
static inline bool push_digit(uint64_t *acc, uint8_t c) {
  uint64_t next;
  if (__builtin_mul_overflow(*acc, UINT64_C(10), &next)) return true;
  return __builtin_add_overflow(next, (uint64_t)(c - '0'), acc);
}

/* The digits of [p, end), all known to be digits, appended to `*acc`; false on overflow. */
static bool push_digits(const uint8_t *p, const uint8_t *end, uint64_t *acc) {
  uint64_t v = *acc;
  for (; p < end; p++)
    if (push_digit(&v, *p)) return false;
  *acc = v;
  return true;
}

tg_status tg_parse_u64(const uint8_t *p, const uint8_t *end, uint64_t *out) {
  if (p >= end) return TG_ESYNTAX;
  uint64_t v = 0;
  if (end - p <= SAFE_DECIMALS) {
    for (; p < end; p++) {
      const uint8_t d = (uint8_t)(*p - '0');
      if (d > 9) return TG_ESYNTAX;
      v = v * 10 + d;
    }
  } else {
    if (skip_digits(p, end) != end) return TG_ESYNTAX;
    if (!push_digits(p, end, &v)) return TG_EOVERFLOW;
  }
  *out = v;
  return TG_OK;
}

/* Steps over an optional sign; whether it was a minus. */
static bool take_sign(const uint8_t **p, const uint8_t *end) {
  if (*p >= end || (**p != '+' && **p != '-')) return false;
  return *(*p)++ == '-';
}

tg_status tg_parse_i64(const uint8_t *p, const uint8_t *end, int64_t *out) {
  uint64_t magnitude = 0;
  const bool negative = take_sign(&p, end);
  const tg_status status = tg_parse_u64(p, end, &magnitude);
  if (status != TG_OK) return status;
  return tg_signed(magnitude, negative, out) ? TG_OK : TG_EOVERFLOW;
}

static inline unsigned hex_digit(uint8_t c, bool upper) {
  if (is_digit(c)) return (unsigned)(c - '0');
  if (c >= 'a' && c <= 'f') return (unsigned)(c - 'a' + 10);
  if (upper && c >= 'A' && c <= 'F') return (unsigned)(c - 'A' + 10);
  return HEX_BAD;
}

tg_status tg_parse_hex(const uint8_t *p, const uint8_t *end, bool upper, uint64_t *out) {
  if (p >= end) return TG_ESYNTAX;
  const size_t n = (size_t)(end - p);
  bool fits = true, capital = false;
  uint64_t v = 0;
  if (n <= TG_SAFE_HEX && tg_hex_run(p, n, 0, &v, &capital) == n && (upper || !capital)) {
    *out = v;
    return TG_OK;
  }
  for (v = 0; p < end; p++) {
    const unsigned d = hex_digit(*p, upper);
    if (d == HEX_BAD) return TG_ESYNTAX;
    if (v >> 60 != 0) fits = false;
    v = v << 4 | d;
  }
  if (!fits) return TG_EOVERFLOW;
  *out = v;
  return TG_OK;
}

tg_status tg_parse_grouped(const uint8_t *p, const uint8_t *end, uint64_t *out) {
  bool fits = true, first = true;
  uint64_t v = 0;
  for (;;) {
    const uint8_t *stop = skip_digits(p, end);
    if (stop - p > 3 || stop == p || (!first && stop - p != 3)) return TG_ESYNTAX;
    fits = fits && push_digits(p, stop, &v);
    if (stop == end) break;
    if (*stop != ',') return TG_ESYNTAX;
    p = stop + 1;
    first = false;
  }
  if (!fits) return TG_EOVERFLOW;
  *out = v;
  return TG_OK;
}

tg_status tg_parse_size(const uint8_t *p, const uint8_t *end, uint64_t *out) {
  static const char powers[] = "KMGTPE";
  const uint8_t *stop = skip_digits(p, end);
  uint64_t v = 0;
  unsigned power = 0;
  if (stop == p || end - stop > 1) return TG_ESYNTAX;
  if (stop < end) {
    while (powers[power] != '\0' && (uint8_t)powers[power] != *stop) power++;
    if (powers[power++] == '\0') return TG_ESYNTAX;
  }
  if (!push_digits(p, stop, &v) || (v << 10 * power) >> 10 * power != v) return TG_EOVERFLOW;
  *out = v << 10 * power;
  return TG_OK;
}

/* Whether [p, end) is the lower-case `word` in any case. */
static bool is_word(const uint8_t *p, const uint8_t *end, const char *word) {
  for (; p < end && *word != '\0'; p++, word++)
    if ((*p | 0x20) != (uint8_t)*word) return false;
  return p == end && *word == '\0';
}

/* The digits of an exponent as a number, held at 2^31 once past it. */
static int64_t exponent_value(const uint8_t *p, const uint8_t *end, bool negative) {
  int64_t v = 0;
  for (; p < end; p++)
    if (v <= INT32_MAX) v = v * 10 + (*p - '0');
  return negative ? -v : v;
}

/* e[sign]digits over the whole of [p, end); its value, far out of range when it is large. */
static tg_status parse_exponent(const uint8_t *p, const uint8_t *end, int64_t *out) {
  if ((*p | 0x20) != 'e') return TG_ESYNTAX;
  p++;
  const bool negative = take_sign(&p, end);
  if (p == end || skip_digits(p, end) != end) return TG_ESYNTAX;
  *out = exponent_value(p, end, negative);
  return TG_OK;
}

/* The pieces of a decimal number; those of a number without a fraction end where they begin. */
typedef struct decimal_parts {
  const uint8_t *whole, *whole_end, *frac, *frac_end;
  int64_t exp10; /* of the last digit */
  bool negative, missing;
} decimal_parts;

static tg_status take_parts(const uint8_t *p, const uint8_t *end, bool exponent,
                            decimal_parts *out) {
  decimal_parts d = {.negative = take_sign(&p, end)};
  d.missing = exponent && (is_word(p, end, "nan") || is_word(p, end, "inf") ||
                           is_word(p, end, "infinity"));
  d.whole = p;
  d.whole_end = d.frac = d.frac_end = d.missing ? end : skip_digits(p, end);
  if (d.frac < end && *d.frac == '.') {
    d.frac++;
    d.frac_end = skip_digits(d.frac, end);
    if (d.frac_end == d.frac) return TG_ESYNTAX;
  } else if (d.whole_end == p) {
    return TG_ESYNTAX;
  }
  if (d.frac_end != end) {
    const tg_status status = exponent ? parse_exponent(d.frac_end, end, &d.exp10) : TG_ESYNTAX;
    if (status != TG_OK) return status;
  }
  d.exp10 -= d.frac_end - d.frac;
  *out = d;
  return TG_OK;
}

tg_status tg_parse_decimal(const uint8_t *p, const uint8_t *end, bool exponent, tg_decimal *out) {
  decimal_parts d;
  TG_TRY(take_parts(p, end, exponent, &d));
  uint64_t magnitude = 0;
  int64_t mantissa = 0;
  if (d.missing) {
    *out = (tg_decimal){0, 0, true};
    return TG_OK;
  }
  if (!push_digits(d.whole, d.whole_end, &magnitude) ||
      !push_digits(d.frac, d.frac_end, &magnitude) ||
      !tg_signed(magnitude, d.negative, &mantissa))
    return TG_EOVERFLOW;
  if (d.exp10 < INT32_MIN || d.exp10 > INT32_MAX) return TG_EOVERFLOW;
  *out = (tg_decimal){mantissa, (int32_t)d.exp10, false};
  return TG_OK;
}

/* 10^n for n <= MAX_SHIFT. */
static int64_t power_of_ten(int64_t n) {
  int64_t v = 1;
  while (n-- > 0) v *= 10;
  return v;
}

tg_status tg_decimal_rescale(const tg_decimal *d, int32_t exp10, int64_t *out) {
  if (d->missing) return TG_EINVAL;
  const int64_t shift = (int64_t)d->exp10 - exp10;
  int64_t v = d->mantissa;
  if (v != 0 && shift > 0) {
    if (shift > MAX_SHIFT || __builtin_mul_overflow(v, power_of_ten(shift), &v))
      return TG_EOVERFLOW;
  } else if (v != 0 && shift < 0) {
    if (-shift > MAX_SHIFT || v % power_of_ten(-shift) != 0) return TG_ERANGE;
    v /= power_of_ten(-shift);
  }
  *out = v;
  return TG_OK;
}

/* The digits of [p, end) appended to `*acc` while it has fewer than MAX_SHIFT; how many were not. */
static int64_t push_some(const uint8_t *p, const uint8_t *end, int64_t *acc) {
  for (; p < end && *acc < LONG_ENOUGH; p++) *acc = *acc * 10 + (*p - '0');
  return end - p;
}

tg_status tg_parse_rounded(const uint8_t *p, const uint8_t *end, bool exponent, int32_t exp10,
                           tg_decimal *out) {
  decimal_parts d;
  TG_TRY(take_parts(p, end, exponent, &d));
  if (d.missing) {
    *out = (tg_decimal){0, exp10, true};
    return TG_OK;
  }
  int64_t v = 0;
  int64_t dropped = push_some(d.whole, d.whole_end, &v);
  dropped += push_some(d.frac, d.frac_end, &v);
  const int64_t shift = d.exp10 + dropped - exp10;
  if (shift < 0 && v != 0) {
    if (-shift > MAX_SHIFT) return TG_ERANGE;
    const int64_t unit = power_of_ten(-shift), rest = v % unit;
    v /= unit;
    if (rest > unit / 2 || (rest == unit / 2 && v % 2 != 0)) v++;
    if (rest != 0 && v < TG_ROUNDED_LEAST) return TG_ERANGE;
  } else if (v != 0 && (shift > MAX_SHIFT || __builtin_mul_overflow(v, power_of_ten(shift), &v))) {
    return TG_EOVERFLOW;
  }
  *out = (tg_decimal){d.negative ? -v : v, exp10, false};
  return TG_OK;
}

/* arrival.c - when a line arrived, as the program that wrote the console to a file stamped it.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "template.h"
#include "transport.h"

#define SECOND INT64_C(1000000000)
#define DAY INT64_C(86400)
#define LAST_YEAR 2200                  /* so that a time in ns, and the sum of two spans, fits */
#define MOST_SECONDS INT64_C(7258118400) /* the begin of that year */

/* Text that is read from its begin. */
typedef struct cursor {
  const uint8_t *p, *end;
} cursor;

static bool take(cursor *c, char byte) {
  if (c->p == c->end || *c->p != (uint8_t)byte) return false;
  c->p++;
  return true;
}

static void skip_blanks(cursor *c) {
  while (c->p < c->end && tg_is_blank(*c->p)) c->p++;
}

/* A number of `least` to `most` digits. */
static bool take_digits(cursor *c, int least, int most, int64_t *out) {
  int64_t value = 0;
  int n = 0;
  for (; n < most && c->p < c->end && tg_is_digit(*c->p); n++) value = value * 10 + (*c->p++ - '0');
  *out = value;
  return n >= least && (c->p == c->end || !tg_is_digit(*c->p));
}

/* The fraction of a second behind a '.' or ',', in ns; digits beyond the ninth are left out. */
static int64_t take_fraction(cursor *c) {
  int64_t ns = 0, unit = SECOND;
  if (c->p == c->end || (*c->p != '.' && *c->p != ',')) return 0;
  for (c->p++; c->p < c->end && tg_is_digit(*c->p); c->p++)
    if (unit > 1) ns += (*c->p - '0') * (unit /= 10);
  return ns;
}

/* "09:31:02.104" in ns. */
static bool take_time(cursor *c, int64_t *ns) {
  int64_t h = 0, m = 0, s = 0;
  if (!take_digits(c, 1, 4, &h) || !take(c, ':') || !take_digits(c, 2, 2, &m) || !take(c, ':') ||
      !take_digits(c, 2, 2, &s))
    return false;
  *ns = (h * 3600 + m * 60 + s) * SECOND + take_fraction(c);
  return true;
}

/* Days from 1970-01-01 of the Gregorian calendar: years begin in March, so that a leap day ends
 * one. */
static int64_t days_of(int64_t year, int64_t month, int64_t day) {
  year -= month <= 2;
  const int64_t era = year / 400, of_era = year % 400;
  const int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

/* "2026-05-18T09:31:02.104", and without a year (logcat). */
static bool take_date(cursor c, int64_t *ns) {
  int64_t year = 1970, month = 0, day = 0, time = 0;
  cursor short_form = c;
  if (take_digits(&c, 4, 4, &year) && take(&c, '-') && take_digits(&c, 2, 2, &month) &&
      take(&c, '-') && take_digits(&c, 2, 2, &day)) {
    if (!take(&c, 'T')) skip_blanks(&c);
  } else {
    c = short_form;
    year = 1970;
    if (!take_digits(&c, 2, 2, &month) || !take(&c, '-') || !take_digits(&c, 2, 2, &day) ||
        !take(&c, ' '))
      return false;
  }
  if (year < 1970 || year >= LAST_YEAR || month < 1 || month > 12 || !take_time(&c, &time))
    return false;
  *ns = days_of(year, month, day) * DAY * SECOND + time;
  return true;
}

/* "May 18 09:31:02", with or without a day of the week before it. */
static bool take_month(cursor c, int64_t *ns) {
  static const char names[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
  int64_t day = 0, time = 0, month = 0;
  for (int words = 0; words < 2 && month == 0; words++) {
    if (c.end - c.p < 4 || c.p[3] != ' ') return false;
    for (int64_t k = 0; k < 12; k++)
      if (memcmp(names + 3 * k, c.p, 3) == 0) month = k + 1;
    c.p += 4;
  }
  skip_blanks(&c);
  if (month == 0 || !take_digits(&c, 1, 2, &day)) return false;
  skip_blanks(&c);
  if (!take_time(&c, &time)) return false;
  *ns = days_of(1970, month, day) * DAY * SECOND + time;
  return true;
}

/* "12.345678" seconds, "12.345678 0.000123]" of grabserial, "12.345678]" of others. The kernel
 * fills five columns before the point: "   12.345678]" is its own. */
static bool take_seconds(cursor c, int64_t *ns) {
  enum { KERNEL = 5 };
  const uint8_t *from = c.p;
  int64_t s = 0;
  skip_blanks(&c);
  if (!take_digits(&c, 1, 10, &s) || s >= MOST_SECONDS || c.p == c.end || *c.p != '.') return false;
  const bool padded = c.p - from >= KERNEL;
  *ns = s * SECOND + take_fraction(&c);
  return c.p < c.end && (*c.p == ' ' || (*c.p == ']' && !padded));
}

/* The text of LAVA's "dt": a date. */
static bool lava_date(cursor c, int64_t *ns) {
  static const char name[] = "\"dt\": \"";
  const size_t n = sizeof name - 1;
  for (; (size_t)(c.end - c.p) > n; c.p++)
    if (memcmp(c.p, name, n) == 0) return take_date((cursor){c.p + n, c.end}, ns);
  return false;
}

bool tg_arrival(const tg_line *line, int64_t *ns) {
  cursor c = {line->raw.p, line->raw.p + line->raw.n};
  cursor time;
  if (line->raw.n < 4) return false;
  if (c.p[0] == '-' && c.p[1] == ' ' && c.p[2] == '{') return lava_date(c, ns);
  (void)take(&c, '[');
  time = c;
  return take_date(c, ns) || take_month(c, ns) || take_time(&time, ns) || take_seconds(c, ns);
}

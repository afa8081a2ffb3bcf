/* fuzz_legacy.c - the drop-in's line reader against a slow model written from the facts: only LF
 * ends a line, eight patterns in order, the first that matches anywhere takes the line.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tickgauge/legacy.h"

#include "fuzz.h"

/* ' ' one blank, '#' hex digits, '%' one decimal digit; the rest stands for itself. */
static const char *const old_patterns[] = {
    "CounterTimerFrequency: 0x#",
    "ClientOpenSession: start=0x#, enter_ta=0x#, return=0x#",
    "ClientInvokeCommand: start=0x#, enter_ta=0x#, return=0x#",
    "SecureSysCall: start=0x#, enter_svc=0x#, return=0x#",
    "TEEDriver: do smc call, cmd=%, cntvct=0x#",
    "TEEDriver: finish smc call, cmd=%, cntvct=0x#",
    "TEECore: receiving smc call, cmd=%, cntvct=0x#",
    "TEECore: finish smc call, cmd=%, cntvct=0x#",
};

typedef struct old_span {
  const uint8_t *p;
  size_t n;
} old_span;

typedef struct old_model {
  old_span value[TG_LEGACY_VALUES];
  char unknown[4096];
  size_t n_unknown;
} old_model;

/* Matches one pattern at `at`; what '#' and '%' took goes to `got`. */
static int old_match(const char *pattern, const uint8_t *p, size_t n, size_t at, old_span *got) {
  for (const char *c = pattern; *c != '\0'; c++) {
    if (*c == '#') {
      const size_t from = at;
      while (at < n && ((p[at] >= '0' && p[at] <= '9') || (p[at] >= 'a' && p[at] <= 'f'))) at++;
      if (at == from) return 0;
      *got++ = (old_span){p + from, at - from};
    } else if (*c == '%') {
      if (at >= n || p[at] < '0' || p[at] > '9') return 0;
      *got++ = (old_span){p + at++, 1};
    } else if (*c == ' ') {
      if (at >= n || !(p[at] == ' ' || (p[at] >= 9 && p[at] <= 13))) return 0;
      at++;
    } else if (at >= n || p[at++] != (uint8_t)*c) {
      return 0;
    }
  }
  return 1;
}

static old_span old_digits(old_span s) {
  while (s.n > 0 && *s.p == '0') s = (old_span){s.p + 1, s.n - 1};
  return s;
}

static void old_take(old_model *m, size_t which, const old_span *got) {
  static const size_t first[] = {TG_LEGACY_OPEN_DO, TG_LEGACY_OPEN_DONE, TG_LEGACY_OPEN_RECEIVE,
                                 TG_LEGACY_OPEN_FINISH};
  if (which == 0) {
    m->value[TG_LEGACY_FREQUENCY] = old_digits(got[0]);
  } else if (which < 4) {
    for (size_t i = 0; i < 3; i++)
      m->value[TG_LEGACY_OPEN_START + 3 * (which - 1) + i] = old_digits(got[i]);
  } else if (got[0].p[0] <= '1') {
    old_span *to = &m->value[first[which - 4] + (size_t)(got[0].p[0] - '0')];
    if (to->n == 0) *to = old_digits(got[1]);
  } else if (got[0].p[0] >= '3') {
    FUZZ_CHECK(m->n_unknown < sizeof m->unknown);
    m->unknown[m->n_unknown++] = (char)got[0].p[0];
  }
}

static void old_line(old_model *m, const uint8_t *p, size_t n) {
  for (size_t which = 0; which < 8; which++) {
    for (size_t at = 0; at < n; at++) {
      old_span got[3];
      if (!old_match(old_patterns[which], p, n, at, got)) continue;
      old_take(m, which, got);
      return;
    }
  }
}

static tg_legacy *fuzz_legacy_read(const uint8_t *p, size_t n, size_t step) {
  tg_legacy *l = NULL;
  FUZZ_CHECK(tg_legacy_new(NULL, &l) == TG_OK);
  for (size_t at = 0; at < n; at += step) {
    const size_t part = n - at < step ? n - at : step;
    uint8_t *copy = malloc(part);
    FUZZ_CHECK(copy != NULL);
    memcpy(copy, p + at, part);
    FUZZ_CHECK(tg_legacy_feed(l, copy, part) == TG_OK);
    free(copy);
  }
  FUZZ_CHECK(tg_legacy_finish(l) == TG_OK);
  return l;
}

int fuzz_legacy(const uint8_t *p, size_t n) {
  static old_model m;
  if (n < 1 || n > 60000) return 0;
  const size_t step = 1 + p[0];
  p++;
  n--;
  memset(&m, 0, sizeof m);
  for (size_t at = 0; at < n;) {
    const uint8_t *lf = memchr(p + at, '\n', n - at);
    const size_t end = lf != NULL ? (size_t)(lf - p) : n;
    old_line(&m, p + at, end - at);
    at = end + 1;
  }
  for (int i = 0; i < 2; i++) {
    tg_legacy *l = fuzz_legacy_read(p, n, i == 0 ? n + 1 : step);
    for (int v = 0; v < TG_LEGACY_VALUES; v++) {
      const tg_str s = tg_legacy_digits(l, (tg_legacy_value)v);
      FUZZ_CHECK(s.n == m.value[v].n && (s.n == 0 || memcmp(s.p, m.value[v].p, s.n) == 0));
    }
    const tg_str u = tg_legacy_unknown(l);
    FUZZ_CHECK(u.n == m.n_unknown && (u.n == 0 || memcmp(u.p, m.unknown, u.n) == 0));
    tg_legacy_free(l);
  }
  return 0;
}

/* capture_text.h - a capture read from text, and its problems looked at.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TESTS_CAPTURE_TEXT_H
#define TESTS_CAPTURE_TEXT_H

#include "support/wave.h"
#include "tickgauge/reader.h"

static inline tg_capture *must_read(const char *p, size_t n) {
  tg_capture *c = NULL;
  tg_error err = {0};
  ck_assert_msg(wave_read(NULL, p, n, 0, NULL, &c, &err) == TG_OK, "%s", err.message);
  return c;
}

static inline bool has_text(const tg_table *table, size_t column, const char *text) {
  tg_str s = {0};
  for (size_t i = 0; i < tg_table_rows(table); i++)
    if (tg_table_text(table, i, column, &s) && s.n == strlen(text) &&
        memcmp(s.p, text, s.n) == 0)
      return true;
  return false;
}

static inline bool has_problem(const tg_table *problems, const char *reason) {
  return has_text(problems, TG_PROBLEM_REASON, reason);
}

#endif

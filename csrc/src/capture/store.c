/* store.c - signals, their changes, marks and problems of a capture.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/row.h"
#include "capture/signals.h"
#include "tickgauge/reader.h"

char *tg_cap_copy(const tg_alloc *a, const uint8_t *p, size_t n) {
  char *s = tg_zalloc(a, n + 1, 1);
  if (s != NULL && n > 0) memcpy(s, p, n);
  return s;
}

tg_status tg_cap_signal_add(tg_capture *c, const uint8_t *name, size_t n, uint32_t width, bool bits,
                            uint32_t *row, tg_error *err) {
  uint32_t code = 0;
  if (c->n_signal >= c->max_signals || c->n_signal >= CAP_NONE)
    return tg_fail(err, TG_ELIMIT, c->offset, c->line,
                   "defines more than %zu signals (--limit signals=N)", c->n_signal);
  tg_status status = tg_intern_put(c->names, name, n, &code);
  if (status == TG_OK)
    status =
        tg_grow(&c->a, (void **)&c->signal, &c->cap_signal, c->n_signal + 1, sizeof *c->signal);
  if (status != TG_OK) return status;
  *row = (uint32_t)c->n_signal;
  c->signal[c->n_signal++] = (cap_signal){.name = code,
                                          .width = width,
                                          .interface = CAP_NONE,
                                          .store = CAP_NONE,
                                          .role = ROLE_NONE,
                                          .bits = bits};
  return TG_OK;
}

tg_status tg_cap_store_add(tg_capture *c, uint32_t width, uint32_t *row) {
  tg_status status =
      tg_grow(&c->a, (void **)&c->store, &c->cap_store, c->n_store + 1, sizeof *c->store);
  if (status != TG_OK) return status;
  uint32_t words = width <= 64 ? 1 : (width - 1) / 64 + 1;
  uint64_t *now = tg_zalloc(&c->a, (size_t)words * 3, sizeof *now); /* cur, next, unknown bits */
  if (now == NULL) return TG_ENOMEM;
  *row = (uint32_t)c->n_store;
  c->store[c->n_store++] = (cap_store){.cur = now,
                                       .next = now + words,
                                       .words = words,
                                       .width = width,
                                       .role = ROLE_NONE,
                                       .fixed_hex = true,
                                       .cur_x = true,
                                       .next_x = true};
  return TG_OK;
}

tg_status tg_cap_check_item(const tg_capture *c, size_t n, tg_error *err) {
  if (n <= c->max_item) return TG_OK;
  return tg_fail(err, TG_ELIMIT, c->offset, c->line,
                 "a row or word of more than %llu bytes (--limit row=N)",
                 (unsigned long long)c->max_item);
}

/* Makes `sample` the newest step. */
static tg_status open_step(tg_capture *c, uint64_t sample) {
  if (c->n_step > 0 && c->step[c->n_step - 1] == sample) return TG_OK;
  if (c->n_step >= CAP_MAX_STEP) return TG_ELIMIT;
  tg_status status =
      tg_grow(&c->a, (void **)&c->step, &c->cap_step, c->n_step + 1, sizeof *c->step);
  if (status == TG_OK) c->step[c->n_step++] = sample;
  return status;
}

tg_status tg_cap_store_put(tg_capture *c, cap_store *s, uint64_t sample, const uint64_t *value,
                           bool unknown) {
  tg_status status = open_step(c, sample);
  if (status != TG_OK) return status;
  if (s->n == s->cap_at) {
    status = tg_grow(&c->a, (void **)&s->at, &s->cap_at, s->n + 1, sizeof *s->at);
    if (status != TG_OK) return status;
  }
  if (s->width > 1) {
    size_t need = 0;
    if (tg_mul_overflows(s->n + 1, s->words, &need)) return TG_EOVERFLOW;
    if (need > s->cap_value) {
      status = tg_grow(&c->a, (void **)&s->value, &s->cap_value, need, sizeof *s->value);
      if (status != TG_OK) return status;
    }
    memcpy(s->value + s->n * s->words, value, s->words * sizeof *value);
  }
  uint32_t step = (uint32_t)(c->n_step - 1);
  s->at[s->n++] = step << 2 | (unknown ? 2u : 0u) | (uint32_t)(value[0] & 1);
  if (s->cur != value) memcpy(s->cur, value, s->words * sizeof *value);
  s->cur_x = unknown;
  return TG_OK;
}

tg_status tg_cap_mark_add(tg_capture *c, uint64_t sample, enum cap_mark_kind kind) {
  tg_status status =
      tg_grow(&c->a, (void **)&c->mark, &c->cap_mark, c->n_mark + 1, sizeof *c->mark);
  if (status == TG_OK) c->mark[c->n_mark++] = (cap_mark){.sample = sample, .kind = kind};
  return status;
}

bool tg_cap_has_mark(const tg_capture *c, enum cap_mark_kind kind) {
  for (size_t i = 0; i < c->n_mark; i++)
    if (c->mark[i].kind == (uint32_t)kind) return true;
  return false;
}

static bool lies_before(const cap_mark *a, const cap_mark *b) {
  return a->sample != b->sample ? a->sample < b->sample : a->kind < b->kind;
}
#define TG_SORT_NAME sort_marks
#define TG_SORT_ITEM cap_mark
#define TG_SORT_BEFORE(a, b) lies_before(a, b)
#include "base/sort.h"

void tg_cap_sort_marks(tg_capture *c) { sort_marks(c->mark, c->n_mark); }

tg_status tg_cap_problem(tg_capture *c, uint64_t line, uint64_t offset, const char *reason,
                         const char *format, ...) {
  char text[TG_ERROR_TEXT];
  va_list ap;
  if (c->problems++ >= c->max_problems) return TG_OK;
  va_start(ap, format);
  vsnprintf(text, sizeof text, format, ap);
  va_end(ap);
  tg_row w = tg_row_begin(c->t_problems);
  tg_row_u64(&w, TG_PROBLEM_LINE, line);
  tg_row_u64(&w, TG_PROBLEM_OFFSET, offset);
  tg_row_cstr(&w, TG_PROBLEM_RULE, "capture");
  tg_row_cstr(&w, TG_PROBLEM_REASON, reason);
  tg_row_cstr(&w, TG_PROBLEM_DETAIL, text);
  return tg_row_end(&w);
}

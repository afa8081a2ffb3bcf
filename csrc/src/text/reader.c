/* reader.c - one source: bytes in, records out. SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "base/mem.h"
#include "base/try.h"
#include "state.h"
#include "uart.h"

#define TG_MAX_LINE (UINT64_C(1) << 20)
#define TG_LONGEST_LINE ((uint64_t)SIZE_MAX / 4) /* so that no sum with a bound wraps */
#define TG_MAX_RECORDS (UINT64_C(1) << 40)
#define TG_MAX_PROBLEMS (UINT64_C(1) << 20)
#define TG_MAX_LABEL 4096

static tg_reader_options fill_options(const tg_reader_options *given) {
  tg_reader_options o = {0};
  if (given != NULL) o = *given;
  if (o.max_line == 0) o.max_line = TG_MAX_LINE;
  if (o.max_line > TG_LONGEST_LINE) o.max_line = TG_LONGEST_LINE;
  if (o.max_records == 0) o.max_records = TG_MAX_RECORDS;
  if (o.max_problems == 0) o.max_problems = TG_MAX_PROBLEMS;
  if (o.max_label == 0) o.max_label = TG_MAX_LABEL;
  return o;
}

/* Allocates the buffers of one line; sizes are bounded by the limits of a rule set. */
static tg_status reader_buffers(tg_reader *r) {
  const tg_alloc *a = &r->alloc;
  size_t n = r->rules->n_scratch;
  r->misses = tg_zalloc(a, r->rules->n_tags + 1, sizeof *r->misses);
  r->match = tg_take(a, n, sizeof *r->match);
  r->spans = tg_take(a, n * TG_TEMPLATE_FIELDS, sizeof *r->spans);
  if (r->misses == NULL || r->match == NULL || r->spans == NULL) return TG_ENOMEM;
  return TG_OK;
}

/* A copy of the form of the prefix; NULL where there is none or it is too long to be one. */
static const char *take_prefix(tg_reader *r, const char *form) {
  const size_t n = form != NULL ? strlen(form) : 0;
  if (n == 0 || n >= sizeof r->prefix_form) return NULL;
  memcpy(r->prefix_form, form, n + 1);
  return r->prefix_form;
}

/* The parts of a reader that tg_reader_free releases, also after a failure. */
static tg_status reader_parts(tg_reader *r) {
  TG_TRY(tg_ruleset_ready(r->rules));
  TG_TRY(reader_buffers(r));
  TG_TRY(tg_records_new(&r->alloc, r->rules, &r->options, &r->out));
  if (r->options.keep_near != TG_KEEP_NONE)
    TG_TRY(tg_near_new(&r->alloc, r->rules, r->options.keep_near == TG_KEEP_ALL, &r->near));
  return r->options.repair_uart ? tg_uart_new(&r->alloc, &r->uart) : TG_OK;
}

tg_status tg_reader_new(const tg_alloc *a, tg_ruleset *rules, const tg_reader_options *options,
                        tg_reader **out, tg_error *err) {
  if (a == NULL) a = tg_alloc_default();
  if (rules == NULL || out == NULL) return tg_fail(err, TG_EINVAL, 0, 0, "no rules were given");
  tg_reader *r = tg_zalloc(a, 1, sizeof *r);
  if (r == NULL) return tg_fail(err, TG_ENOMEM, 0, 0, "no memory for a reader");
  r->alloc = *a;
  r->rules = rules;
  r->options = fill_options(options);
  r->prefix = take_prefix(r, r->options.prefix);
  r->section = TG_NOT;
  tg_alike_init(&r->alike);
  r->hits.alloc = *a;
  r->own_hits.alloc = *a;
  tg_copy_init(&r->unwrapped, a);
  tg_copy_init(&r->plain, a);
  tg_copy_init(&r->section_channel, a);
  tg_status status = reader_parts(r);
  if (status != TG_OK) goto fail;
  *out = r;
  return TG_OK;
fail:
  tg_reader_free(r);
  return tg_fail(err, status, 0, 0, "no memory for a reader");
}

void tg_reader_free(tg_reader *r) {
  if (r == NULL) return;
  tg_alloc a = r->alloc;
  tg_records_free(r->out);
  tg_uart_free(r->uart);
  tg_near_free(r->near);
  tg_copy_free(&r->unwrapped);
  tg_copy_free(&r->plain);
  tg_copy_free(&r->section_channel);
  tg_release(&a, r->carry);
  tg_release(&a, r->hits.v);
  tg_release(&a, r->own_hits.v);
  tg_release(&a, r->misses);
  tg_release(&a, r->cand);
  tg_release(&a, r->places);
  tg_release(&a, r->missed);
  tg_release(&a, r->taken);
  tg_release(&a, r->fresh);
  tg_release(&a, r->match);
  tg_release(&a, r->spans);
  tg_release(&a, r);
}

static tg_status carry_put(tg_reader *r, const uint8_t *p, size_t n) {
  tg_status status = tg_reserve(&r->alloc, &r->carry, &r->cap_carry, r->n_carry + n, 1);
  if (status != TG_OK) return status;
  memcpy(r->carry + r->n_carry, p, n);
  r->n_carry += n;
  return TG_OK;
}

/* Processes [p, p+n) of whole lines and moves the offset behind it. */
static tg_status consume(tg_reader *r, const uint8_t *p, size_t n) {
  tg_status status = tg_reader_block(r, p, n);
  r->offset += n;
  return status;
}

/* Drops the first `n` bytes of the carry. */
static void carry_drop(tg_reader *r, size_t n) {
  r->n_carry -= n;
  memmove(r->carry, r->carry + n, r->n_carry);
}

/* Adds bytes of one line, without its LF, to the carry, which never grows beyond the bound. */
static tg_status carry_line(tg_reader *r, const uint8_t *p, size_t n) {
  size_t bound = (size_t)r->options.max_line;
  tg_status status = TG_OK;
  while (status == TG_OK && n > 0) {
    size_t part = bound + 1 - r->n_carry;
    if (part > n) part = n;
    status = carry_put(r, p, part);
    if (status != TG_OK) return status;
    p += part;
    n -= part;
    if (r->n_carry <= bound) break;
    bool ended;
    size_t cut = tg_long_cut(r->carry, bound, &ended);
    status = tg_reader_long(r, r->carry, cut, r->offset, ended);
    r->offset += cut;
    carry_drop(r, cut);
  }
  return status;
}

/* The end of the carried line arrives: [p, p+n) up to and with its LF. */
static tg_status carry_end(tg_reader *r, const uint8_t *p, size_t n) {
  TG_TRY(carry_line(r, p, n - 1));
  TG_TRY(carry_put(r, (const uint8_t *)"\n", 1));
  size_t have = r->n_carry;
  r->n_carry = 0;
  return consume(r, r->carry, have);
}

static tg_status feed(tg_reader *r, const uint8_t *p, size_t n) {
  const uint8_t *end = p + n;
  tg_status status = TG_OK;
  if (r->n_carry > 0 || r->long_told) {
    const uint8_t *lf = memchr(p, '\n', n);
    if (lf == NULL) return carry_line(r, p, n);
    status = carry_end(r, p, (size_t)(lf + 1 - p));
    p = lf + 1;
  }
  const uint8_t *last = end;
  while (last > p && last[-1] != '\n') last--;
  TG_TRY(status);
  if (last > p) TG_TRY(consume(r, p, (size_t)(last - p)));
  return end > last ? carry_line(r, last, (size_t)(end - last)) : TG_OK;
}

static tg_status reader_failed(tg_reader *r, tg_status status, tg_error *err) {
  r->failed = status;
  if (status != TG_ELIMIT)
    return tg_fail(err, status, r->offset, tg_line_at_hand(r), "%s", tg_status_text(status));
  return tg_fail(err, status, r->offset, tg_line_at_hand(r),
                 "holds more than %llu records, the first ones are kept (--limit records=N)",
                 (unsigned long long)r->out->n_order);
}

void tg_reader_stop(tg_reader *r, const tg_stop *stop) {
  for (size_t i = 0; i < r->rules->n_scratch; i++) r->rules->scratch[i].stop = stop;
}

tg_status tg_reader_feed(tg_reader *r, const uint8_t *p, size_t n, tg_error *err) {
  if (r->finished || r->failed != TG_OK) {
    return tg_fail(err, TG_EINVAL, r->offset, 0, "the reader takes no more bytes");
  }
  if (n == 0) return TG_OK;
  r->out->totals.bytes += n;
  r->ended = p[n - 1] == '\n' || p[n - 1] == '\r';
  r->ended_lf = p[n - 1] == '\n';
  tg_status status = feed(r, p, n);
  return status == TG_OK ? TG_OK : reader_failed(r, status, err);
}

/* The last line, the open section and the line that a shared UART left in pieces. */
static tg_status finish_source(tg_reader *r) {
  r->at_end = true;
  if (r->n_carry > 0) {
    const size_t have = r->n_carry;
    r->n_carry = 0;
    TG_TRY(consume(r, r->carry, have));
  }
  r->out->ends_plainly = r->ended_lf && r->section == TG_NOT && r->uart == NULL;
  r->out->has_lines = r->lines > 0;
  r->out->sections = r->sections_seen;
  if (r->uart != NULL) TG_TRY(tg_uart_finish(r));
  TG_TRY(tg_section_finish(r));
  r->out->totals.lines = r->lines > 0 ? r->lines : r->returns;
  if (r->out->totals.bytes > 0 && !(r->lines > 0 ? r->ended_lf : r->ended)) r->out->totals.lines++;
  return TG_OK;
}

tg_status tg_reader_finish(tg_reader *r, tg_records **out, tg_error *err) {
  if (r->finished || out == NULL) {
    return tg_fail(err, TG_EINVAL, r->offset, 0, "the reader was finished before");
  }
  tg_status status = TG_OK;
  if (r->failed == TG_OK) status = finish_source(r);
  if (status != TG_OK) reader_failed(r, status, err);
  tg_table *near = NULL;
  if (r->near != NULL) {
    tg_status kept = tg_near_table(&r->alloc, r->near, &near);
    if (kept == TG_OK) {
      tg_table_free(r->out->near);
      r->out->near = near;
    } else if (status == TG_OK) {
      status = reader_failed(r, kept, err);
    }
  }
  r->finished = true;
  *out = r->out;
  r->out = NULL;
  return status == TG_ELIMIT ? TG_OK : status;
}

/* capture.c - the capture itself: options, pieces of input, the state at the end.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/try.h"
#include "capture/forms.h"

#include <stdio.h>
#include <string.h>

#include "base/row.h"
#include "tickgauge/reader.h"

#define SNIFFED 4096u /* bytes that are looked at */

static const cap_form *const forms[] = {
    [TG_CAPTURE_CSV] = &tg_cap_csv, [TG_CAPTURE_VCD] = &tg_cap_vcd, [TG_CAPTURE_DMP] = &tg_cap_dmp};

/* ---- which form --------------------------------------------------------------------------------
 */

static bool has(const uint8_t *p, size_t n, const char *word) {
  size_t k = strlen(word);
  for (size_t i = 0; i + k <= n; i++)
    if (memcmp(p + i, word, k) == 0) return true;
  return false;
}

/* Is one of the first lines the header of a plain CSV? The last one may be cut. */
static bool has_plain_header(const uint8_t *p, const uint8_t *e) {
  for (unsigned lines = 0; p < e && lines < 64; lines++) {
    const uint8_t *eol = memchr(p, '\n', (size_t)(e - p));
    const uint8_t *stop = eol != NULL ? eol : e;
    while (stop > p && stop[-1] == '\r') stop--;
    if (tg_cap_is_plain_header(NULL, p, stop)) return true;
    p = eol != NULL ? eol + 1 : e;
  }
  return false;
}

tg_capture_form tg_capture_sniff(const uint8_t *p, size_t n) {
  static const char *const keys[] = {"$date",    "$version", "$timescale", "$scope",
                                     "$comment", "$var",     "$attrbegin"};
  static const char utf16[] = "S\0a\0m\0p\0l\0e\0 \0i\0n\0 \0B\0u\0f";
  if (n >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0) p += 3, n -= 3;
  if (n > SNIFFED) n = SNIFFED;
  if (n >= sizeof utf16 + 2 && (p[0] == 0xff || p[0] == 0xfe) &&
      (memcmp(p + 2, utf16, sizeof utf16 - 1) == 0 || memcmp(p + 3, utf16, sizeof utf16 - 1) == 0))
    return TG_CAPTURE_CSV; /* refused with its reason when read */
  while (n > 0 && *p <= ' ') p++, n--;
  if (n >= 16 &&
      (memcmp(p, "Sample in Buffer", 16) == 0 || memcmp(p + 1, "Sample in Buffer", 15) == 0))
    return TG_CAPTURE_CSV;
  if (n > 0 && *p == '$')
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
      size_t k = strlen(keys[i]);
      if (n > k && memcmp(p, keys[i], k) == 0 && p[k] <= ' ') return TG_CAPTURE_VCD;
    }
  if (has(p, n < 1024 ? n : 1024, "ILA Data Dump")) return TG_CAPTURE_DMP;
  return has_plain_header(p, p + n) ? TG_CAPTURE_CSV : TG_CAPTURE_UNKNOWN;
}

/* ---- making and freeing -------------------------------------------------------------------------
 */

static char *copy_text(tg_capture *c, const char *s) {
  return tg_cap_copy(&c->a, (const uint8_t *)s, strlen(s));
}

static tg_status copy_options(tg_capture *c, const tg_capture_options *o, tg_error *err) {
  c->given_samples = o->samples;
  if (o->max_item > 0) c->max_item = o->max_item;
  if (o->max_problems > 0) c->max_problems = o->max_problems;
  if (o->max_signals > 0) c->max_signals = o->max_signals;
  if (o->max_width > 0) c->max_width = o->max_width;
  if (c->max_width > CAP_MOST_WORDS * 64) c->max_width = CAP_MOST_WORDS * 64;
  if (o->max_scope > 0) c->max_scope = o->max_scope;
  if (o->sample_on != NULL && (c->sample_on = copy_text(c, o->sample_on)) == NULL) return TG_ENOMEM;
  if (o->n_keep > 0 && (c->keep = tg_zalloc(&c->a, o->n_keep, sizeof *c->keep)) == NULL)
    return TG_ENOMEM;
  for (size_t i = 0; i < o->n_keep; i++, c->n_keep++)
    if ((c->keep[i] = copy_text(c, o->keep[i])) == NULL) return TG_ENOMEM;
  if (o->n_map > 0 && (c->map = tg_zalloc(&c->a, o->n_map, sizeof *c->map)) == NULL)
    return TG_ENOMEM;
  for (size_t i = 0; i < o->n_map; i++, c->n_map++) {
    c->map[i].signal = CAP_NONE;
    if (!tg_cap_role_find(o->map[i].role, &c->map[i].role))
      return tg_fail(err, TG_EINVAL, 0, 0,
                     "\"%.60s\" is no AXI signal (arvalid, rready, awaddr ...)", o->map[i].role);
    if ((c->map[i].column = copy_text(c, o->map[i].column)) == NULL) return TG_ENOMEM;
  }
  return TG_OK;
}

static const tg_column_def mark_columns[] = {{"sample", TG_U64, 0}, {"kind", TG_TEXT, 0}};

static tg_status make_tables(tg_capture *c) {
  static const tg_column_def signals[] = {{"name", TG_TEXT, 0},   {"width", TG_U32, 0},
                                          {"role", TG_TEXT, 0},   {"interface", TG_U32, 0},
                                          {"stored", TG_BOOL, 0}, {"radix", TG_TEXT, 0},
                                          {"changes", TG_U64, 0}, {"clock", TG_BOOL, 0}};
  static const tg_column_def interfaces[] = {
      {"prefix", TG_TEXT, 0},   {"slot", TG_U32, 0},     {"kind", TG_TEXT, 0},
      {"channels", TG_TEXT, 0}, {"missing", TG_TEXT, 0}, {"bound", TG_U32, 0},
      {"data_bits", TG_U32, 0}, {"same_as", TG_U32, 0},  {"usable", TG_BOOL, 0},
      {"why", TG_TEXT, 0},      {"clock", TG_TEXT, 0}};
  static const tg_column_def problems[TG_PROBLEM_COLUMNS] = {
      {"line", TG_U64, 0},    {"offset", TG_U64, 0},  {"rule", TG_TEXT, 0},
      {"reason", TG_TEXT, 0}, {"detail", TG_TEXT, 0}, {"excerpt", TG_TEXT, 0}};
  TG_TRY(tg_table_new(&c->a, signals, 8, &c->t_signals));
  TG_TRY(tg_table_new(&c->a, interfaces, 11, &c->t_interfaces));
  TG_TRY(tg_table_new(&c->a, mark_columns, 2, &c->t_marks));
  return tg_table_new(&c->a, problems, TG_PROBLEM_COLUMNS, &c->t_problems);
}

/* Fills a new capture; the caller frees it after a failure. */
static tg_status fill_capture(tg_capture *c, const tg_capture_options *options, tg_error *err) {
  TG_TRY(tg_intern_new(&c->a, CAP_NONE, &c->names));
  TG_TRY(make_tables(c));
  return options != NULL ? copy_options(c, options, err) : TG_OK;
}

tg_status tg_capture_new(const tg_alloc *a, tg_capture_form form, const tg_capture_options *options,
                         tg_capture **out, tg_error *err) {
  tg_capture *c = NULL;
  const tg_alloc *suite = tg_alloc_or_default(a);
  tg_status status = TG_OK;
  if (form < TG_CAPTURE_CSV || form > TG_CAPTURE_DMP)
    return tg_fail(err, TG_EINVAL, 0, 0, "a capture is CSV, VCD or DMP");
  if ((c = tg_zalloc(suite, 1, sizeof *c)) == NULL)
    return tg_fail(err, TG_ENOMEM, 0, 0, "%s", tg_status_text(TG_ENOMEM));
  c->a = *suite;
  c->form = form;
  c->line = 1;
  c->at_start = true;
  c->max_item = (uint64_t)64 << 20;
  c->max_problems = 4096;
  c->max_signals = (uint64_t)1 << 22;
  c->max_width = CAP_WIDTH;
  c->max_scope = 2048;
  c->clock = CAP_NONE;
  status = fill_capture(c, options, err);
  if (status != TG_OK) goto fail;
  *out = c;
  return TG_OK;
fail:
  tg_capture_free(c);
  if (status != TG_EINVAL) tg_fail(err, status, 0, 0, "%s", tg_status_text(status));
  return status;
}

void tg_capture_free(tg_capture *c) {
  if (c == NULL) return;
  const tg_alloc a = c->a;
  if (forms[c->form]->free != NULL) forms[c->form]->free(c);
  for (size_t i = 0; i < c->n_store; i++) {
    tg_release(&a, c->store[i].at);
    tg_release(&a, c->store[i].value);
    tg_release(&a, c->store[i].cur); /* `was` and `next` lie behind it */
  }
  for (size_t i = 0; i < c->n_clocks; i++) tg_release(&a, c->clocks[i].run);
  for (size_t i = 0; i < c->n_keep; i++) tg_release(&a, c->keep[i]);
  for (size_t i = 0; i < c->n_map; i++) tg_release(&a, c->map[i].column);
  void *owned[] = {c->sample_on, c->keep,   c->map,     c->carry,    c->signal,
                   c->store,     c->step,   c->mark,    c->bundle,   c->reset,
                   c->clocks,    c->joined, c->version, c->timescale};
  for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) tg_release(&a, owned[i]);
  tg_intern_free(c->names);
  tg_table_free(c->t_signals);
  tg_table_free(c->t_interfaces);
  tg_table_free(c->t_marks);
  tg_table_free(c->t_problems);
  tg_release(&a, c);
}

/* ---- input --------------------------------------------------------------------------------------
 */

static tg_status keep_rest(tg_capture *c, const uint8_t *p, size_t n, tg_error *err) {
  if (n == 0) return TG_OK;
  if (n > c->max_item || c->n_carry > c->max_item - n) return tg_cap_check_item(c, SIZE_MAX, err);
  tg_status status = tg_grow(&c->a, (void **)&c->carry, &c->cap_carry, c->n_carry + n, 1);
  if (status != TG_OK) return status;
  memcpy(c->carry + c->n_carry, p, n);
  c->n_carry += n;
  return TG_OK;
}

/* Reads the carried bytes and puts the rest of them to the front. Where nothing could be read
 * it is not worth another look before there is twice as much: an item of n bytes is looked at
 * log n times, however it comes. */
static tg_status drain(tg_capture *c, bool final, tg_error *err) {
  size_t used = 0;
  const uint8_t *from = c->carry != NULL ? c->carry : (const uint8_t *)"";
  tg_status status = forms[c->form]->consume(c, from, from + c->n_carry, final, &used, err);
  if (used > 0 && used < c->n_carry) memmove(c->carry, c->carry + used, c->n_carry - used);
  c->n_carry -= used;
  c->look_at = used > 0 ? 0 : c->n_carry < SIZE_MAX / 2 ? 2 * c->n_carry : SIZE_MAX;
  return status;
}

/* How many of the next bytes go to the carried ones before the next look at them: up to what may
 * end the item, a line end or in a VCD any blank, and no more than an item may have. */
static size_t next_piece(const tg_capture *c, const uint8_t *p, const uint8_t *end) {
  const size_t left = (size_t)(end - p);
  size_t n = c->look_at > c->n_carry ? c->look_at - c->n_carry : 0;
  if (n < left && c->form == TG_CAPTURE_VCD) {
    while (n < left && p[n] > ' ') n++;
    n += n < left;
  } else if (n < left) {
    const uint8_t *eol = memchr(p + n, '\n', left - n);
    n = eol != NULL ? (size_t)(eol - p) + 1 : left;
  }
  if (n > left) n = left;
  return n < c->max_item - c->n_carry ? n : (size_t)(c->max_item - c->n_carry);
}

static tg_status fail_once(tg_capture *c, tg_status status, tg_error *err) {
  if (status == TG_OK) return status;
  c->failed = true;
  if (err != NULL && err->status != status)
    tg_fail(err, status, c->offset, c->line, "%s", tg_status_text(status));
  return status;
}

tg_status tg_capture_feed(tg_capture *c, const uint8_t *p, size_t n, tg_error *err) {
  const uint8_t *end = p + n;
  size_t used = 0;
  tg_status status = TG_OK;
  if (err != NULL) err->status = TG_OK;
  if (c->failed || c->finished)
    return tg_fail(err, TG_EINVAL, 0, 0, "the capture is finished or has failed");
  while (c->n_carry > 0 && p < end && status == TG_OK) { /* complete the carried item */
    const size_t more = next_piece(c, p, end);
    if (more == 0) {
      status = tg_cap_check_item(c, SIZE_MAX, err);
      break;
    }
    status = keep_rest(c, p, more, err);
    p += more;
    if (status == TG_OK && (c->n_carry >= c->look_at || c->n_carry == c->max_item))
      status = drain(c, false, err);
  }
  if (status == TG_OK && p < end) {
    status = forms[c->form]->consume(c, p, end, false, &used, err);
    if (status == TG_OK) status = keep_rest(c, p + used, (size_t)(end - p) - used, err);
  }
  return fail_once(c, status, err);
}

/* The marks as rows of a new table. */
static tg_status fill_marks(tg_capture *c) {
  static const char *const kinds[] = {"window", "gap", "trigger"};
  tg_table *t = NULL;
  size_t at = 0;
  uint64_t before = 0;
  tg_status status = tg_table_new(&c->a, mark_columns, 2, &t);
  tg_cap_sort_marks(c);
  for (size_t i = 0; i < c->n_mark && status == TG_OK; i++) {
    const uint64_t sample = tg_cap_sample(c, c->clock, c->mark[i].sample, &at);
    const uint64_t key = sample << 2 | c->mark[i].kind;
    if (i > 0 && key == before) continue;
    before = key;
    tg_row w = tg_row_begin(t);
    tg_row_u64(&w, 0, sample);
    tg_row_cstr(&w, 1, kinds[c->mark[i].kind]);
    status = tg_row_end(&w);
  }
  if (status != TG_OK) {
    tg_table_free(t);
    return status;
  }
  tg_table_free(c->t_marks);
  c->t_marks = t;
  return TG_OK;
}

/* The first sample: an ILA's VCD may begin at any time. */
static uint64_t first_sample(const tg_capture *c) {
  return c->form == TG_CAPTURE_VCD && !c->clocked && c->n_step > 0 ? c->step[0] : 0;
}

static bool starts_a_window(const tg_capture *c) {
  for (size_t i = 0; i < c->n_mark; i++)
    if (c->mark[i].kind == MARK_WINDOW && c->mark[i].sample <= first_sample(c)) return true;
  return false;
}

/* The depth used, from the file, the caller or the dump. */
static tg_status settle(tg_capture *c) {
  tg_status status = TG_OK;
  c->samples = c->seen;
  if (c->given_samples > c->seen) {
    c->samples = c->given_samples;
    c->depth_known = true;
  } else if (c->given_samples > 0 && c->given_samples < c->seen) {
    status = tg_cap_problem(c, 0, 0, "samples",
                            "%llu samples were named, the file has %llu: all are used",
                            (unsigned long long)c->given_samples, (unsigned long long)c->seen);
  } else if (c->given_samples > 0) {
    c->depth_known = true;
  }
  TG_TRY(status);
  if (c->samples > 0 && c->form != TG_CAPTURE_DMP && !starts_a_window(c))
    TG_TRY(tg_cap_mark_add(c, first_sample(c), MARK_WINDOW));
  return fill_marks(c);
}

static tg_status finish(tg_capture *c, tg_error *err) {
  TG_TRY(drain(c, true, err));
  if (forms[c->form]->finish != NULL) TG_TRY(forms[c->form]->finish(c, err));
  TG_TRY(settle(c));
  return tg_cap_interfaces(c);
}

tg_status tg_capture_finish(tg_capture *c, tg_error *err) {
  tg_status status = TG_OK;
  if (err != NULL) err->status = TG_OK;
  if (c->failed || c->finished)
    return tg_fail(err, TG_EINVAL, 0, 0, "the capture is finished or has failed");
  status = finish(c, err);
  c->finished = status == TG_OK;
  return fail_once(c, status, err);
}

/* The marks and the depth of `dmp`, where `c` has none of its own. */
static tg_status take_over(tg_capture *c, const tg_capture *dmp) {
  const bool marks[3] = {tg_capture_about(c).windows > 1, tg_cap_has_mark(c, MARK_GAP),
                         tg_cap_has_mark(c, MARK_TRIGGER)};
  if (dmp->depth_known && !c->depth_known) {
    c->given_samples = dmp->seen;
    c->depth_known = true;
  }
  for (size_t i = 0; i < dmp->n_mark; i++)
    if (!marks[dmp->mark[i].kind] || dmp->mark[i].kind == MARK_GAP)
      TG_TRY(tg_cap_mark_add(c, dmp->mark[i].sample, (enum cap_mark_kind)dmp->mark[i].kind));
  return settle(c);
}

tg_status tg_capture_adopt(tg_capture *c, const tg_capture *dmp) {
  if (!c->finished || !dmp->finished || dmp->form != TG_CAPTURE_DMP || c->form == TG_CAPTURE_DMP)
    return TG_EINVAL;
  const tg_capture was = *c;
  const size_t problem_rows = tg_table_rows(c->t_problems);
  cap_mark *mark = NULL;
  size_t cap = 0;
  tg_status status = TG_OK;
  if (c->n_mark > 0) { /* a copy to work on: sorting would lose which marks were there */
    status = tg_grow(&c->a, (void **)&mark, &cap, c->n_mark, sizeof *mark);
    if (status != TG_OK) return status;
    memcpy(mark, c->mark, c->n_mark * sizeof *mark);
  }
  c->mark = mark;
  c->cap_mark = cap;
  status = take_over(c, dmp);
  if (status == TG_OK) {
    tg_release(&c->a, was.mark);
    return TG_OK;
  }
  tg_release(&c->a, c->mark);
  c->mark = was.mark;
  c->n_mark = was.n_mark;
  c->cap_mark = was.cap_mark;
  c->given_samples = was.given_samples;
  c->samples = was.samples;
  c->depth_known = was.depth_known;
  c->problems = was.problems;
  tg_table_truncate(c->t_problems, problem_rows);
  return status;
}

/* ---- the result ------------------------------------------------------------------------------
 */

tg_capture_info tg_capture_about(const tg_capture *c) {
  tg_capture_info info = {.samples = c->samples,
                          .seen = c->seen,
                          .last_time = c->last_time,
                          .signals = (uint32_t)c->n_signal,
                          .interfaces = (uint32_t)c->n_bundle,
                          .form = c->form,
                          .depth_known = c->depth_known,
                          .clocked = c->clocked,
                          .radix_row = c->radix_row,
                          .ila = c->ila};
  for (size_t i = 0; i < c->n_store; i++) info.stored += c->store[i].n;
  for (size_t i = 0; i < tg_table_rows(c->t_marks); i++) {
    tg_str kind = {0};
    if (!tg_table_text(c->t_marks, i, 1, &kind)) continue;
    info.windows += kind.p[0] == 'w';
    info.triggers += kind.p[0] == 't';
    info.gaps += kind.p[0] == 'g';
  }
  return info;
}

tg_str tg_capture_word(const tg_capture *c, const char *name) {
  const char *s = NULL;
  if (strcmp(name, "version") == 0) s = c->version;
  if (strcmp(name, "timescale") == 0) s = c->timescale;
  if (strcmp(name, "clock") == 0 && c->clock != CAP_NONE)
    return tg_intern_get(c->names, c->signal[c->clocks[c->clock].signal].name);
  return s != NULL ? (tg_str){(const uint8_t *)s, strlen(s)} : (tg_str){NULL, 0};
}

const tg_table *tg_capture_signals(const tg_capture *c) { return c->t_signals; }
const tg_table *tg_capture_interfaces(const tg_capture *c) { return c->t_interfaces; }
const tg_table *tg_capture_marks(const tg_capture *c) { return c->t_marks; }
const tg_table *tg_capture_problems(const tg_capture *c) { return c->t_problems; }

tg_status tg_capture_changes(const tg_capture *c, uint32_t signal, tg_table **out) {
  char names[CAP_MOST_WORDS][16] = {"value"};
  tg_column_def defs[CAP_MOST_WORDS + 1] = {{"sample", TG_U64, 0}};
  tg_table *t = NULL;
  if (signal >= c->n_signal || c->signal[signal].store == CAP_NONE) return TG_ENOTFOUND;
  const cap_store *s = &c->store[c->signal[signal].store];
  if (s->words > CAP_MOST_WORDS) return TG_ELIMIT;
  for (uint32_t w = 1; w < s->words; w++) snprintf(names[w], sizeof names[w], "value%u", w);
  for (uint32_t w = 0; w < s->words; w++) defs[w + 1] = (tg_column_def){names[w], TG_U64, 0};
  tg_status status = tg_table_new(&c->a, defs, s->words + 1, &t);
  size_t at = 0;
  for (size_t i = 0; i < s->n && status == TG_OK; i++) {
    size_t here = at;
    const uint64_t sample = tg_cap_sample(c, c->clock, c->step[s->at[i] >> 2], &at);
    /* of several changes between two edges the last is sampled */
    if (c->clock != CAP_NONE && i + 1 < s->n &&
        tg_cap_sample(c, c->clock, c->step[s->at[i + 1] >> 2], &here) == sample)
      continue;
    if (c->clock != CAP_NONE && sample >= c->samples) break;
    tg_row w = tg_row_begin(t);
    tg_row_u64(&w, 0, sample);
    for (uint32_t k = 0; k < s->words && (s->at[i] & 2) == 0; k++)
      tg_row_u64(&w, k + 1, s->width == 1 ? s->at[i] & 1 : s->value[i * s->words + k]);
    status = tg_row_end(&w);
  }
  if (status == TG_OK)
    *out = t;
  else
    tg_table_free(t);
  return status;
}

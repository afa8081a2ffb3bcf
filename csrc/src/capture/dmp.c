/* dmp.c - waveform.dmp of an .ila archive: depth, windows, triggers and gaps; the bit strings
 * behind them are not read. SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "capture/forms.h"
#include "tickgauge/number.h"

/* The text behind the colon if the line's name is `name`. */
static const uint8_t *value_of(const uint8_t *p, const uint8_t *e, const char *name) {
  size_t n = strlen(name);
  while (p < e && (*p == ' ' || *p == '\t')) p++;
  if ((size_t)(e - p) < n || memcmp(p, name, n) != 0) return NULL;
  for (p += n; p < e && *p == ' '; p++);
  return p < e && *p == ':' ? p + 1 : NULL;
}

/* Numbers parted by blanks or commas, each a mark. */
static tg_status numbers(tg_capture *c, const uint8_t *p, const uint8_t *e,
                         enum cap_mark_kind kind) {
  tg_status status = TG_OK;
  while (p < e && status == TG_OK) {
    const uint8_t *q = p;
    uint64_t v = 0;
    while (q < e && *q >= '0' && *q <= '9') q++;
    if (q == p) {
      p++;
      continue;
    }
    if (tg_parse_u64(p, q, &v) == TG_OK)
      status = tg_cap_mark_add(c, v, kind);
    else
      status = tg_cap_problem(c, c->line, c->offset, "bad-number", "a mark does not fit 64 bits");
    p = q;
  }
  return status;
}

static tg_status line(tg_capture *c, const uint8_t *p, const uint8_t *e) {
  static const struct {
    const char *name;
    enum cap_mark_kind kind;
  } marks[] = {{"window_marks", MARK_WINDOW}, {"trigger_marks", MARK_TRIGGER}, {"gaps", MARK_GAP}};
  const uint8_t *v = value_of(p, e, "sample_count");
  if (v != NULL) {
    while (v < e && *v == ' ') v++;
    while (e > v && (e[-1] == ' ' || e[-1] == '\r')) e--;
    c->depth_known = tg_parse_u64(v, e, &c->seen) == TG_OK;
    return TG_OK;
  }
  for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
    if ((v = value_of(p, e, marks[i].name)) != NULL) return numbers(c, v, e, marks[i].kind);
  return TG_OK;
}

static tg_status consume(tg_capture *c, const uint8_t *p, const uint8_t *end, bool final,
                         size_t *used, tg_error *err) {
  const uint8_t *q = p;
  tg_status status = TG_OK;
  while (q < end && status == TG_OK) {
    const uint8_t *e = memchr(q, '\n', (size_t)(end - q));
    if (e == NULL && !final) break;
    const uint8_t *next = e != NULL ? e + 1 : end;
    status = tg_cap_check_item(c, (size_t)(next - q), err);
    if (status == TG_OK) status = line(c, q, e != NULL ? e : end);
    if (status != TG_OK) break;
    c->offset += (uint64_t)(next - q);
    c->line += e != NULL;
    q = next;
  }
  *used = (size_t)(q - p);
  return status;
}

const cap_form tg_cap_dmp = {consume, NULL, NULL};

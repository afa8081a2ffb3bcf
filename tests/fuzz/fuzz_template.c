/* fuzz_template.c - any text as a template: "template LF tag LF line". A template that compiles is
 * tried on the line at every place of its tag. SPDX-License-Identifier: BSD-3-Clause */
#include "../c/support/slow_match.h"
#include "fuzz.h"
#include "text/ruleset.h"

/* The bytes of a field are of its type. */
static void fuzz_template_field(const tg_field_info *f, const uint8_t *p, tg_span span, size_t n) {
  FUZZ_CHECK(span.start <= span.end && span.end <= n);
  for (size_t i = span.start; i < span.end; i++) {
    const uint8_t c = p[i];
    const bool digit = c >= '0' && c <= '9';
    if (f->type == TG_FIELD_UINT || f->type == TG_FIELD_DIGIT) FUZZ_CHECK(digit);
    if (f->type == TG_FIELD_GROUPED) FUZZ_CHECK(digit || c == ',');
    if (f->type == TG_FIELD_HEX) FUZZ_CHECK(digit || (c >= 'a' && c <= 'f'));
    if (f->type == TG_FIELD_WORD) FUZZ_CHECK(c != ' ' && !(c >= 9 && c <= 13));
  }
  if (f->type != TG_FIELD_TEXT && f->type != TG_FIELD_QUOTED) FUZZ_CHECK(span.end > span.start);
}

static void fuzz_template_try(tg_ruleset *set, const uint8_t *p, size_t n, size_t at) {
  tg_span fields[64];
  size_t start = SIZE_MAX;
  size_t end = SIZE_MAX;
  tg_near near;
  tg_scratch *scratch = &set->scratch[0];
  const tg_template *t = set->rules[0].t;
  scratch->work = 0;
  const tg_status status = tg_ruleset_match(set, 0, p, n, at, fields, &start, &end, &near);
  /* Linear in the line times the length of the template. */
  FUZZ_CHECK(scratch->work <= 16 * (uint64_t)(n + 64) * (t->n_inst + t->n_alts + 1));
  FUZZ_CHECK(near.expected == NULL || (near.at <= n && near.item < t->n_inst));
  FUZZ_CHECK(status == TG_OK || status == TG_ESYNTAX);
  if (status != TG_OK) return;
  FUZZ_CHECK(start <= at && end <= n && at + t->tag.n <= end);
  for (size_t i = 0; i < tg_ruleset_fields(set, 0); i++) {
    tg_field_info f;
    FUZZ_CHECK(tg_ruleset_field(set, 0, i, &f) == TG_OK);
    if (fields[i].start != SIZE_MAX) fuzz_template_field(&f, p, fields[i], n);
  }
}

/* The engine against the slow matcher, which knows no columns, no micro sign and no other
 * writer. */
static void fuzz_template_compare(tg_ruleset *set, const char *text, const uint8_t *p, size_t n) {
  static slow_matcher slow;
  const tg_template *t = set->rules[0].t;
  tg_span fields[64];
  if (n > 48 || strstr(text, "grouped") != NULL || strchr(text, '\xc2') != NULL ||
      strchr(text, '\xce') != NULL)
    return;
  if (n > 0 && (memchr(p, '/', n) != NULL || memchr(p, '[', n) != NULL)) return;
  /* A named tag with a blank takes exactly this blank. */
  const tg_str tag = tg_ruleset_tag(set, 0);
  if (memchr(tag.p, ' ', tag.n) != NULL) return;
  for (const char *c = text; (c = strchr(c, ':')) != NULL; c++) {
    if (strcspn(c + 1, "}") >= sizeof slow.item[0].type) return;
  }
  slow_parse(&slow, text);
  for (size_t start = 0; start <= n; start++) {
    tg_match m;
    const bool want = slow_match(&slow, p, (long)n, (long)start);
    if (slow.steps < 0) continue;
    FUZZ_CHECK(tg_match_begin(&m, t, &set->scratch[0], p, n, fields) == TG_OK);
    FUZZ_CHECK(tg_match_at(&m, start) == want);
    if (!want) continue;
    FUZZ_CHECK(m.end == (size_t)slow.end);
    for (size_t i = 0; i < t->n_fields; i++) {
      FUZZ_CHECK(fields[i].start == (size_t)slow.field[i].start);
      FUZZ_CHECK(fields[i].end == (size_t)slow.field[i].end);
    }
  }
}

int fuzz_template(const uint8_t *p, size_t n) {
  char text[512];
  char tag[64];
  const uint8_t *lf = n > 0 ? memchr(p, '\n', n) : NULL;
  const size_t len = lf != NULL ? (size_t)(lf - p) : n;
  if (len >= sizeof text || (len > 0 && memchr(p, 0, len) != NULL)) return 0;
  memcpy(text, p, len);
  text[len] = '\0';
  p += len + (lf != NULL);
  n -= len + (lf != NULL);
  lf = n > 0 ? memchr(p, '\n', n) : NULL;
  const size_t tag_len = lf != NULL ? (size_t)(lf - p) : 0;
  if (tag_len >= sizeof tag || (tag_len > 0 && memchr(p, 0, tag_len) != NULL)) return 0;
  memcpy(tag, p, tag_len);
  tag[tag_len] = '\0';
  p += tag_len + (lf != NULL);
  n -= tag_len + (lf != NULL);

  tg_rule_def def = {.name = "r", .pattern = text, .tag = tag_len > 0 ? tag : NULL};
  tg_ruleset *set = NULL;
  tg_error err = {0};
  const tg_status status = tg_ruleset_new(NULL, &def, 1, &set, &err);
  if (status != TG_OK) {
    FUZZ_CHECK(status == TG_ESYNTAX || status == TG_ELIMIT);
    FUZZ_CHECK(err.offset <= strlen(text) && err.message[0] != '\0' && set == NULL);
    return 0;
  }
  const tg_str want = tg_ruleset_tag(set, 0);
  uint8_t *line = malloc(n + 1);
  FUZZ_CHECK(line != NULL);
  memcpy(line, p, n);
  for (size_t at = 0; at + want.n <= n; at++) {
    if (memcmp(line + at, want.p, want.n) == 0) fuzz_template_try(set, line, n, at);
  }
  fuzz_template_compare(set, text, line, n);
  free(line);
  tg_records *whole = fuzz_read(set, p, n, 0, NULL);
  tg_records *cut = fuzz_read(set, p, n, 1, NULL);
  fuzz_same_records(whole, cut);
  tg_records_free(whole);
  tg_records_free(cut);
  tg_ruleset_free(set);
  return 0;
}

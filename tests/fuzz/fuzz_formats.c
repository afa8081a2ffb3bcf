/* fuzz_formats.c - any bytes as a console: the rules and reducers of one format, or of all built-in
 * ones, once whole and once in pieces, alone and as two consoles. The first byte chooses options,
 * the second the cut.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tickgauge/format.h"

#include "fuzz.h"

static tg_result *fuzz_reduce(const tg_records *const *sources, size_t n, uint8_t flags) {
  const tg_reduce_options options = {.clock_hz = (flags & 1) != 0 ? 62500000 : 0,
                                     .have_tee_offset = (flags & 2) != 0,
                                     .tee_offset = 1000,
                                     .together = n > 1,
                                     .platform = (flags & 4) != 0 ? "juno" : NULL};
  const tg_reduce_in in = {.sources = sources, .n_sources = n, .options = &options};
  tg_result *out = NULL;
  tg_error err = {0};
  const tg_status status = tg_reduce(NULL, &in, &out, &err);
  FUZZ_CHECK(status == TG_OK || (err.message[0] != '\0' && out == NULL));
  FUZZ_CHECK(status == TG_OK || status == TG_ELIMIT || status == TG_EINVAL);
  return out;
}

static void fuzz_same_result(const tg_result *a, const tg_result *b) {
  FUZZ_CHECK((a == NULL) == (b == NULL));
  if (a == NULL) return;
  FUZZ_CHECK(tg_result_count(a) == tg_result_count(b));
  for (size_t i = 0; i < tg_result_count(a); i++) {
    const char *name = tg_result_name(a, i);
    FUZZ_CHECK(strcmp(name, tg_result_name(b, i)) == 0);
    fuzz_same_table(tg_result_get(a, name), tg_result_get(b, name));
  }
}

/* The formats of a target, and their rule set once it is compiled: that takes longer than most
 * inputs. */
typedef struct fuzz_group {
  const char *formats[4]; /* none: all built-in ones */
  tg_ruleset *set;
} fuzz_group;

static const tg_format *fuzz_format(const char *name) {
  size_t i = 0;
  while (tg_formats[i] != NULL && strcmp(tg_formats[i]->name, name) != 0) i++;
  FUZZ_CHECK(tg_formats[i] != NULL);
  return tg_formats[i];
}

static tg_ruleset *fuzz_rules_of(fuzz_group *c) {
  tg_rule_def defs[256];
  size_t n = 0;
  if (c->set != NULL) return c->set;
  if (c->formats[0] == NULL) {
    FUZZ_CHECK(tg_formats_ruleset(NULL, NULL, 0, &c->set, NULL) == TG_OK);
    return c->set;
  }
  for (size_t i = 0; i < 4 && c->formats[i] != NULL; i++) {
    const tg_format *f = fuzz_format(c->formats[i]);
    if (i > 0 && strcmp(c->formats[i], c->formats[i - 1]) == 0) continue; /* the console itself */
    FUZZ_CHECK(n + f->n_rules <= sizeof defs / sizeof defs[0]);
    memcpy(defs + n, f->rules, f->n_rules * sizeof defs[0]);
    n += f->n_rules;
  }
  FUZZ_CHECK(tg_ruleset_new(NULL, defs, n, &c->set, NULL) == TG_OK);
  return c->set;
}

static int fuzz_read_console(fuzz_group *c, const uint8_t *p, size_t n) {
  if (n < 2) return 0;
  tg_ruleset *set = fuzz_rules_of(c);
  const uint8_t flags = p[0];
  const size_t step = 1 + p[1];
  const tg_reader_options options = {.repair_uart = (flags & 8) != 0};
  p += 2;
  n -= 2;
  const size_t sources = (flags & 16) != 0 ? 2 : 1;
  const size_t parts[2] = {sources == 2 ? n / 2 : n, sources == 2 ? n - n / 2 : 0};
  tg_records *whole[2] = {NULL, NULL};
  tg_records *cut[2] = {NULL, NULL};
  for (size_t i = 0; i < sources; i++) {
    whole[i] = fuzz_read(set, p, parts[i], 0, &options);
    cut[i] = fuzz_read(set, p, parts[i], step, &options);
    fuzz_same_records(whole[i], cut[i]);
    fuzz_places(whole[i], p, parts[i]);
    p += parts[i];
  }
  tg_result *a = fuzz_reduce((const tg_records *const *)whole, sources, flags);
  tg_result *b = fuzz_reduce((const tg_records *const *)cut, sources, flags);
  fuzz_same_result(a, b);
  tg_result_free(a);
  tg_result_free(b);
  for (size_t i = 0; i < sources; i++) {
    tg_records_free(whole[i]);
    tg_records_free(cut[i]);
  }
  return 0;
}

#define FUZZ_CONSOLE(target, ...)                                    \
  int fuzz_##target(const uint8_t *p, size_t n) {                    \
    static fuzz_group c = {.formats = {__VA_ARGS__}, .set = NULL}; \
    return fuzz_read_console(&c, p, n);                              \
  }
#define FUZZ_FORMAT(name) FUZZ_CONSOLE(name, #name, "console")
TG_FORMATS(FUZZ_FORMAT)
FUZZ_CONSOLE(formats, NULL)

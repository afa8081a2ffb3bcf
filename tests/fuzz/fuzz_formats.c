/* fuzz_formats.c - any bytes as a console: all built-in rules and reducers, once whole and once in
 * pieces, alone and as one of two consoles. The first byte chooses options.
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

int fuzz_formats(const uint8_t *p, size_t n) {
  static tg_ruleset *set; /* made once: compiling it takes longer than most inputs */
  if (n < 2) return 0;
  const uint8_t flags = p[0];
  const size_t step = 1 + p[1];
  const tg_reader_options options = {.repair_uart = (flags & 8) != 0};
  p += 2;
  n -= 2;
  if (set == NULL) FUZZ_CHECK(tg_formats_ruleset(NULL, NULL, 0, &set, NULL) == TG_OK);
  const size_t half = (flags & 16) != 0 ? n / 2 : n;
  const tg_records *whole[2] = {fuzz_read(set, p, half, 0, &options),
                                fuzz_read(set, p + half, n - half, 0, &options)};
  const tg_records *cut[2] = {fuzz_read(set, p, half, step, &options),
                              fuzz_read(set, p + half, n - half, step, &options)};
  fuzz_same_records(whole[0], cut[0]);
  fuzz_same_records(whole[1], cut[1]);
  const size_t sources = half < n ? 2 : 1;
  tg_result *a = fuzz_reduce(whole, sources, flags);
  tg_result *b = fuzz_reduce(cut, sources, flags);
  fuzz_same_result(a, b);
  tg_result_free(a);
  tg_result_free(b);
  for (size_t i = 0; i < 2; i++) {
    tg_records_free((tg_records *)(uintptr_t)whole[i]);
    tg_records_free((tg_records *)(uintptr_t)cut[i]);
  }
  return 0;
}

FUZZ_MAIN(formats)

/* fuzz_transport.c - a line through every transport: what comes out lies where it says it does.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "text/transport.h"

#include "fuzz.h"

/* Every byte that was copied unchanged stands in the source where its origin says. */
static void fuzz_origins(const tg_copy *c, const uint8_t *p, size_t n, bool exact) {
  size_t last = 0;
  FUZZ_CHECK(c->n_map <= c->n && (c->n == 0 || c->n_map > 0));
  for (size_t i = 0; i < c->n_map; i++) {
    FUZZ_CHECK(i == 0 ? c->map[i].at == 0 : c->map[i].at > last);
    last = c->map[i].at;
  }
  tg_line line = {.p = c->p, .n = c->n, .map = c->map, .n_map = c->n_map};
  uint64_t before = 0;
  for (size_t i = 0; i < c->n; i++) {
    const uint64_t at = tg_line_offset(&line, i);
    FUZZ_CHECK(at < n + 4 && (i == 0 || at + 3 >= before));
    if (exact) FUZZ_CHECK(at < n && p[at] == c->p[i]);
    before = at;
  }
}

int fuzz_transport(const uint8_t *p, size_t n) {
  tg_copy copy;
  tg_lava lava;
  tg_status status = TG_OK;
  tg_line line = {.p = p, .n = n, .raw = {p, n}};
  tg_copy_init(&copy, tg_alloc_default());
  FUZZ_CHECK(tg_prefix_length(NULL, p, n) <= n);
  const bool colour = tg_has_colour(p, n);
  FUZZ_CHECK(tg_strip_colour(&line, &copy) == TG_OK);
  FUZZ_CHECK(copy.n <= n);
  if (!colour) FUZZ_CHECK(copy.n == n && (n == 0 || memcmp(copy.p, p, n) == 0));
  fuzz_origins(&copy, p, n, true);
  if (tg_lava_parse(p, n, &lava)) {
    size_t texts = 0;
    FUZZ_CHECK(lava.message.p >= p && lava.message.p + lava.message.n <= p + n);
    while (tg_lava_next(&lava, (uint64_t)(lava.message.p - p), &copy, &status)) {
      FUZZ_CHECK(copy.n <= n && lava.at <= lava.element.n && ++texts <= n);
      fuzz_origins(&copy, p, n, false);
    }
    FUZZ_CHECK(status == TG_OK);
  }
  tg_copy_free(&copy);
  return 0;
}

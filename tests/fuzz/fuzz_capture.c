/* fuzz_capture.c - any bytes as an ILA CSV, a VCD or an ILA dump: cut against whole, then the AXI
 * analysis of its first interface. The first byte chooses form and options.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tickgauge/capture.h"

#include "fuzz.h"

static tg_capture *fuzz_take(tg_capture_form form, const uint8_t *p, size_t n, size_t step,
                             uint8_t flags) {
  static const char *const clocks[] = {NULL, "", "clk", "top.clk"};
  const tg_capture_options options = {.sample_on = clocks[(flags >> 2) & 3],
                                      .samples = (flags & 16) != 0 ? 64 : 0,
                                      .max_item = 1 << 16,
                                      .max_problems = 64};
  tg_capture *c = NULL;
  tg_error err = {0};
  FUZZ_CHECK(tg_capture_new(NULL, form, &options, &c, &err) == TG_OK);
  tg_status status = TG_OK;
  if (step == 0) step = n > 0 ? n : 1;
  for (size_t at = 0; status == TG_OK && at < n; at += step) {
    const size_t part = n - at < step ? n - at : step;
    uint8_t *copy = malloc(part);
    FUZZ_CHECK(copy != NULL);
    memcpy(copy, p + at, part);
    status = tg_capture_feed(c, copy, part, &err);
    free(copy);
  }
  if (status == TG_OK) status = tg_capture_finish(c, &err);
  if (status == TG_OK) return c;
  FUZZ_CHECK(err.message[0] != '\0');
  tg_capture_free(c);
  return NULL;
}

static void fuzz_axi(const tg_capture *c) {
  const tg_axi_options options = {.interface = 0, .lanes = true, .lane_last = 16,
                                  .max_steady = 4096};
  tg_axi *x = NULL;
  tg_error err = {0};
  const tg_status status = tg_axi_new(NULL, c, &options, &x, &err);
  FUZZ_CHECK((status == TG_OK) == (x != NULL));
  FUZZ_CHECK(status == TG_OK || err.message[0] != '\0');
  tg_axi_free(x);
}

static int fuzz_capture(tg_capture_form form, const uint8_t *p, size_t n) {
  if (n < 2) return 0;
  const uint8_t flags = p[0];
  const size_t step = 1 + p[1];
  p += 2;
  n -= 2;
  (void)tg_capture_sniff(p, n);
  tg_capture *whole = fuzz_take(form, p, n, 0, flags);
  tg_capture *cut = fuzz_take(form, p, n, step, flags);
  FUZZ_CHECK((whole == NULL) == (cut == NULL));
  if (whole != NULL) {
    const tg_capture_info a = tg_capture_about(whole);
    const tg_capture_info b = tg_capture_about(cut);
    FUZZ_CHECK(a.samples == b.samples && a.stored == b.stored && a.signals == b.signals);
    fuzz_same_table(tg_capture_signals(whole), tg_capture_signals(cut));
    fuzz_same_table(tg_capture_interfaces(whole), tg_capture_interfaces(cut));
    fuzz_same_table(tg_capture_marks(whole), tg_capture_marks(cut));
    fuzz_same_table(tg_capture_problems(whole), tg_capture_problems(cut));
    fuzz_axi(whole);
  }
  tg_capture_free(whole);
  tg_capture_free(cut);
  return 0;
}

int fuzz_csv(const uint8_t *p, size_t n) { return fuzz_capture(TG_CAPTURE_CSV, p, n); }
int fuzz_vcd(const uint8_t *p, size_t n) { return fuzz_capture(TG_CAPTURE_VCD, p, n); }
int fuzz_dump(const uint8_t *p, size_t n) { return fuzz_capture(TG_CAPTURE_DMP, p, n); }

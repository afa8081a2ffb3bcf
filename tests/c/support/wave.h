/* wave.h - small AXI waves for the tests, written as ILA CSV or as VCD, and read back in pieces.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TESTS_WAVE_H
#define TESTS_WAVE_H

#include <check.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "tickgauge/capture.h"

#define WAVE_X UINT64_MAX /* unknown */
#define WAVE_SAMPLES 64
#define WAVE_SIGNALS 32
#define WAVE_TEXT (1u << 16)

typedef struct wave {
  const char *name[WAVE_SIGNALS];
  unsigned width[WAVE_SIGNALS];
  uint64_t v[WAVE_SIGNALS][WAVE_SAMPLES];
  unsigned signals, samples, trigger;
  const char *prefix, *suffix;
} wave;

typedef struct wave_text {
  char p[WAVE_TEXT];
  size_t n;
} wave_text;

static inline unsigned wave_add(wave *w, const char *name, unsigned width, uint64_t idle) {
  unsigned i = w->signals++;
  ck_assert_uint_lt(i, WAVE_SIGNALS);
  w->name[i] = name;
  w->width[i] = width;
  for (unsigned k = 0; k < WAVE_SAMPLES; k++) w->v[i][k] = idle;
  return i;
}

static inline void wave_set(wave *w, const char *name, unsigned first, unsigned last, uint64_t v) {
  for (unsigned i = 0; i < w->signals; i++)
    if (strcmp(w->name[i], name) == 0)
      for (unsigned k = first; k <= last; k++) w->v[i][k] = v;
}

static inline void wave_drop(wave *w, const char *name) {
  for (unsigned i = 0; i < w->signals; i++)
    if (strcmp(w->name[i], name) == 0) {
      w->signals--;
      for (unsigned k = i; k < w->signals; k++) {
        w->name[k] = w->name[k + 1];
        w->width[k] = w->width[k + 1];
        memcpy(w->v[k], w->v[k + 1], sizeof w->v[k]);
      }
      return;
    }
}

/* All signals of an AXI4 port at rest: VALIDs low, READYs high. */
static inline void wave_idle(wave *w, unsigned samples) {
  *w = (wave){.samples = samples, .prefix = "top/slot_0_axi_", .suffix = "", .trigger = samples};
  static const struct {
    const char *name;
    unsigned width;
    uint64_t idle;
  } port[] = {{"araddr", 32, 0}, {"arid", 2, 0},    {"arlen", 8, 0},  {"arsize", 3, 3},
              {"arvalid", 1, 0}, {"arready", 1, 1}, {"rdata", 64, 0}, {"rid", 2, 0},
              {"rresp", 2, 0},   {"rlast", 1, 0},   {"rvalid", 1, 0}, {"rready", 1, 1},
              {"awaddr", 32, 0}, {"awid", 2, 0},    {"awlen", 8, 0},  {"awsize", 3, 3},
              {"awvalid", 1, 0}, {"awready", 1, 1}, {"wdata", 64, 0}, {"wlast", 1, 0},
              {"wvalid", 1, 0},  {"wready", 1, 1},  {"bid", 2, 0},    {"bresp", 2, 0},
              {"bvalid", 1, 0},  {"bready", 1, 1}};
  for (size_t i = 0; i < sizeof port / sizeof *port; i++)
    wave_add(w, port[i].name, port[i].width, port[i].idle);
}

/* A reset in the first sample: nothing is open behind it. */
static inline void wave_reset(wave *w) {
  wave_add(w, "aresetn", 1, 1);
  wave_set(w, "aresetn", 0, 0, 0);
}

/* A command whose VALID is up in [first, accept]; READY low before accept. */
static inline void wave_command(wave *w, bool read, unsigned first, unsigned accept, uint64_t id,
                                uint64_t addr, unsigned beats) {
  wave_set(w, read ? "arvalid" : "awvalid", first, accept, 1);
  if (first < accept) wave_set(w, read ? "arready" : "awready", first, accept - 1, 0);
  wave_set(w, read ? "araddr" : "awaddr", first, accept, addr);
  wave_set(w, read ? "arid" : "awid", first, accept, id);
  wave_set(w, read ? "arlen" : "awlen", first, accept, beats - 1);
}

static inline void wave_r(wave *w, unsigned k, uint64_t id, bool last) {
  wave_set(w, "rvalid", k, k, 1);
  wave_set(w, "rid", k, k, id);
  wave_set(w, "rlast", k, k, last);
}

static inline void wave_w(wave *w, unsigned k, bool last) {
  wave_set(w, "wvalid", k, k, 1);
  wave_set(w, "wlast", k, k, last);
}

static inline void wave_b(wave *w, unsigned k, uint64_t id) {
  wave_set(w, "bvalid", k, k, 1);
  wave_set(w, "bid", k, k, id);
}

/* One read (VALID 3, accept 4, data 9 and 12) and one write (accept 6, W 7 to 9 with a stall at 8,
 * B 14): right by construction. */
static inline void wave_base(wave *w) {
  wave_idle(w, 24);
  w->trigger = 4;
  wave_command(w, true, 3, 4, 1, 0x1000, 2);
  wave_r(w, 9, 1, false);
  wave_r(w, 12, 1, true);
  wave_command(w, false, 6, 6, 2, 0x2000, 2);
  wave_w(w, 7, false);
  wave_w(w, 8, true);
  wave_w(w, 9, true);
  wave_set(w, "wready", 8, 8, 0);
  wave_b(w, 14, 2);
}

static inline void wave_say(wave_text *t, const char *format, ...) {
  va_list ap;
  va_start(ap, format);
  int n = vsnprintf(t->p + t->n, WAVE_TEXT - t->n, format, ap);
  va_end(ap);
  ck_assert(n >= 0 && t->n + (size_t)n < WAVE_TEXT);
  t->n += (size_t)n;
}

enum { WAVE_RADIX = 1, WAVE_CRLF = 2, WAVE_BOM = 4, WAVE_SEMICOLON = 8, WAVE_DECIMAL = 16 };

/* An ILA CSV; `first` numbers its first row in the buffer. */
static inline void wave_csv_rows(const wave *w, unsigned how, unsigned first, wave_text *t) {
  const char *eol = (how & WAVE_CRLF) != 0 ? "\r\n" : "\n",
             sep = (how & WAVE_SEMICOLON) ? ';' : ',';
  for (unsigned k = 0; k < w->samples; k++) {
    wave_say(t, "%u%c%u%c%d", k + first, sep, k, sep, k == w->trigger);
    for (unsigned i = 0; i < w->signals; i++)
      if (w->v[i][k] == WAVE_X)
        wave_say(t, "%cX", sep);
      else if ((how & WAVE_DECIMAL) != 0)
        wave_say(t, "%c%" PRIu64, sep, w->v[i][k]);
      else
        wave_say(t, "%c%0*" PRIx64, sep, (int)((w->width[i] + 3) / 4), w->v[i][k]);
    wave_say(t, "%s", eol);
  }
}

static inline void wave_csv(const wave *w, unsigned how, wave_text *t) {
  const char *eol = (how & WAVE_CRLF) != 0 ? "\r\n" : "\n",
             sep = (how & WAVE_SEMICOLON) ? ';' : ',';
  t->n = 0;
  wave_say(t, "%sSample in Buffer%cSample in Window%cTRIGGER",
           (how & WAVE_BOM) != 0 ? "\xef\xbb\xbf" : "", sep, sep);
  for (unsigned i = 0; i < w->signals; i++) {
    wave_say(t, "%c%s%s%s", sep, w->prefix, w->name[i], w->suffix);
    if (w->width[i] > 1) wave_say(t, "[%u:0]", w->width[i] - 1);
  }
  wave_say(t, "%s", eol);
  if ((how & WAVE_RADIX) != 0) {
    wave_say(t, "Radix - UNSIGNED%cUNSIGNED%cUNSIGNED", sep, sep);
    for (unsigned i = 0; i < w->signals; i++)
      wave_say(t, "%c%s", sep, (how & WAVE_DECIMAL) != 0 ? "UNSIGNED" : "HEX");
    wave_say(t, "%s", eol);
  }
  wave_csv_rows(w, how, 0, t);
}

static inline void wave_value(const wave *w, unsigned i, unsigned k, wave_text *t) {
  uint64_t v = w->v[i][k];
  char id = (char)('!' + i);
  if (w->width[i] == 1) {
    wave_say(t, "%c%c\n", v == WAVE_X ? 'x' : v != 0 ? '1' : '0', id);
    return;
  }
  wave_say(t, "b");
  if (v == WAVE_X) wave_say(t, "x");
  for (unsigned b = w->width[i]; b-- > 0 && v != WAVE_X;)
    if (v >> b != 0 || b == 0) wave_say(t, "%d", (int)(v >> b & 1));
  wave_say(t, " %c\n", id);
}

/* A VCD; `clocked`: with a clock of four units that rises in the middle, else one unit a sample. */
static inline void wave_vcd(const wave *w, bool clocked, wave_text *t) {
  t->n = 0;
  wave_say(t, "$timescale 1ps $end\n$scope module tb $end\n$scope module ila $end\n");
  for (unsigned i = 0; i < w->signals; i++) {
    wave_say(t, "$var wire %u %c %s%s%s", w->width[i], '!' + i, w->prefix, w->name[i], w->suffix);
    if (w->width[i] > 1) wave_say(t, " [%u:0]", w->width[i] - 1);
    wave_say(t, " $end\n");
  }
  if (clocked) wave_say(t, "$var wire 1 ~ aclk $end\n");
  wave_say(t, "$upscope $end\n$upscope $end\n$enddefinitions $end\n");
  for (unsigned k = 0; k < w->samples; k++) {
    wave_say(t, "#%u\n%s", clocked ? 4 * k : k, k == 0 ? "$dumpvars\n" : "");
    for (unsigned i = 0; i < w->signals; i++)
      if (k == 0 || w->v[i][k] != w->v[i][k - 1]) wave_value(w, i, k, t);
    if (clocked) wave_say(t, "0~\n");
    if (k == 0) wave_say(t, "$end\n");
    if (clocked) wave_say(t, "#%u\n1~\n", 4 * k + 2);
  }
}

/* Reads in pieces of `cut` bytes (0: whole). The caller frees *out. */
static inline tg_status wave_read(const tg_alloc *a, const char *p, size_t n, size_t cut,
                                  const tg_capture_options *o, tg_capture **out, tg_error *err) {
  tg_capture *c = NULL;
  tg_status st = tg_capture_new(a, tg_capture_sniff((const uint8_t *)p, n), o, &c, err);
  if (st != TG_OK) return st;
  for (size_t at = 0; at < n && st == TG_OK;) {
    size_t k = cut == 0 || cut > n - at ? n - at : cut;
    st = tg_capture_feed(c, (const uint8_t *)p + at, k, err);
    at += k;
  }
  if (st == TG_OK) st = tg_capture_finish(c, err);
  if (st == TG_OK)
    *out = c;
  else
    tg_capture_free(c);
  return st;
}

/* The same and the analysis of its first interface. */
static inline tg_axi *wave_axi(const char *p, size_t n, size_t cut, const tg_capture_options *o,
                               const tg_axi_options *ao) {
  tg_capture *c = NULL;
  tg_axi *x = NULL;
  tg_error err = {0};
  ck_assert_msg(wave_read(NULL, p, n, cut, o, &c, &err) == TG_OK, "%s", err.message);
  ck_assert_msg(tg_axi_new(NULL, c, ao, &x, &err) == TG_OK, "%s", err.message);
  tg_capture_free(c);
  return x;
}

static inline uint64_t txn_u(const tg_axi *x, size_t row, size_t col) {
  uint64_t v = 0;
  ck_assert_msg(tg_table_u64(tg_axi_table(x, "transactions"), row, col, &v), "row %zu column %zu",
                row, col);
  return v;
}

static inline int64_t txn_i(const tg_axi *x, size_t row, size_t col) {
  int64_t v = 0;
  ck_assert_msg(tg_table_i64(tg_axi_table(x, "transactions"), row, col, &v), "row %zu column %zu",
                row, col);
  return v;
}

static inline bool txn_is(const tg_axi *x, size_t row, size_t col, const char *word) {
  tg_str s = {0};
  return tg_table_text(tg_axi_table(x, "transactions"), row, col, &s) && s.n == strlen(word) &&
         memcmp(s.p, word, s.n) == 0;
}

static inline uint32_t txn_flags(const tg_axi *x, size_t row) {
  uint32_t v = 0;
  ck_assert(tg_table_u32(tg_axi_table(x, "transactions"), row, TG_TXN_FLAGS, &v));
  return v;
}

/* The transactions of wave_base, whatever the file. */
static inline void check_base(const tg_axi *x) {
  static const uint64_t read[] = {3, 4, 9, 9, 12}, write[] = {6, 6, 7, 7, 9, 14, 14};
  ck_assert_uint_eq(tg_table_rows(tg_axi_table(x, "transactions")), 2);
  ck_assert(txn_is(x, 0, TG_TXN_DIRECTION, "read") && txn_is(x, 0, TG_TXN_STATUS, "complete"));
  ck_assert(txn_is(x, 1, TG_TXN_DIRECTION, "write") && txn_is(x, 1, TG_TXN_STATUS, "complete"));
  for (size_t i = 0; i < 5; i++) ck_assert_uint_eq(txn_u(x, 0, TG_TXN_AX_VALID + i), read[i]);
  for (size_t i = 0; i < 7; i++) ck_assert_uint_eq(txn_u(x, 1, TG_TXN_AX_VALID + i), write[i]);
  ck_assert_int_eq(txn_i(x, 0, TG_TXN_ADDRESS_WAIT), 1);
  ck_assert_int_eq(txn_i(x, 0, TG_TXN_FIRST_DATA), 5);
  ck_assert_int_eq(txn_i(x, 0, TG_TXN_LAST_DATA), 8);
  ck_assert_int_eq(txn_i(x, 0, TG_TXN_SPAN), 9);
  ck_assert_int_eq(txn_i(x, 1, TG_TXN_RESPONSE), 8);
  ck_assert_int_eq(txn_i(x, 1, TG_TXN_AFTER_DATA), 5);
  ck_assert_uint_eq(txn_u(x, 0, TG_TXN_ADDR), 0x1000);
  ck_assert_uint_eq(txn_u(x, 1, TG_TXN_ADDR), 0x2000);
  ck_assert_uint_eq(txn_u(x, 0, TG_TXN_BYTES), 16);
}

#endif

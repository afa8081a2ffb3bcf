/* check_stop.c - long calls ask the caller's hook and stop where it says so: at every asking.
 *
 * A loop asks at its first turn and then every 4096 steps, so that small inputs ask in every loop
 * and the number of askings of a long one is known.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "support/reduce_text.h"
#include "support/stop_at.h"
#include "support/wave.h"

#define LEN(array) (sizeof(array) / sizeof(array)[0])

/* ---- reductions -------------------------------------------------------------------------------
 */

static parsed logs; /* read once, reduced again and again */

static tg_status run_reduce(const tg_alloc *a, const tg_stop *stop) {
  const tg_reduce_options o = {.stop = stop};
  tg_result *const none = (tg_result *)&logs;
  tg_result *r = none;
  const tg_status st = reduce_parsed(a, &logs, &o, &r);
  if (st == TG_OK)
    tg_result_free(r);
  else
    ck_assert_ptr_eq(r, none); /* untouched */
  return st;
}

/* Askings of the boots of any log: marks gathered, walked, boots written. */
#define BOOTS 3

static const struct {
  const char *name;
  long askings; /* at least: so many loops have a turn over the format's example */
} formats[] = {
    {"optee", BOOTS + 13},
    {"ftrace", BOOTS + 1},
    {"tftf", BOOTS + 3},
    {"pmf", BOOTS + 2},
    {"smc", BOOTS + 2},
    {"qconv", BOOTS + 1},
    {"bootstage", BOOTS + 1},
    {"xtest", BOOTS + 1},
    {"kernel_pm", BOOTS + 1},
    {"kernel_boot", BOOTS + 2},
    {"kernel_trace", BOOTS + 1},
};

static const char *example_of(const char *name) {
  size_t i = 0;
  while (tg_formats[i] != NULL && strcmp(tg_formats[i]->name, name) != 0) i++;
  ck_assert_ptr_nonnull(tg_formats[i]);
  return tg_formats[i]->example;
}

START_TEST(a_reduction_stops_at_every_asking) {
  const char *const texts[] = {example_of(formats[_i].name), NULL};
  ck_assert_int_eq(parse_texts(NULL, texts, &logs), TG_OK);
  ck_assert_int_ge(stop_every_asking(run_reduce), formats[_i].askings);
  parsed_free(&logs);
}
END_TEST

START_TEST(two_consoles_stop_at_every_asking) {
  const char *const texts[] = {example_of("optee"),
                               "TEECore: receiving smc call, cmd=0, cntvct=0x30\n", NULL};
  ck_assert_int_eq(parse_texts(NULL, texts, &logs), TG_OK);
  ck_assert_int_ge(stop_every_asking(run_reduce), formats[0].askings + 1);
  parsed_free(&logs);
}
END_TEST

START_TEST(a_long_log_asks_every_4096_records) {
  enum { RECORDS = 20000 };
  static const tg_rule_def def = {
      .name = "fft", .pattern = "fft {n:uint}: {t:uint}", .values = "t=t", .unit = "us"};
  char *text = malloc(RECORDS * 16), *end = text;
  ck_assert_ptr_nonnull(text);
  for (int i = 0; i < RECORDS; i++) end += sprintf(end, "fft %d: %d\n", i % 7, i % 1000);
  logs = (parsed){.n = 1};
  ck_assert_int_eq(tg_ruleset_new(NULL, &def, 1, &logs.rules, NULL), TG_OK);
  ck_assert_int_eq(
      read_text(NULL, logs.rules, text, (size_t)(end - text), &logs.records[0]), TG_OK);
  ck_assert_uint_eq(tg_records_count(logs.records[0]), RECORDS);
  /* 5 while marks are gathered, one mark, one boot, 5 while readings are written */
  ck_assert_int_eq(stop_every_asking(run_reduce), 5 + 1 + 1 + 5);
  parsed_free(&logs);
  free(text);
}
END_TEST

/* The stamps that end a stage, too: every asking between them may fall on such a one. */
START_TEST(many_stages_ask_every_64_stamps) {
  enum { STAMPS = 1000 };
  char *text = malloc(STAMPS * 40), *end = text;
  ck_assert_ptr_nonnull(text);
  for (int i = 0; i < STAMPS; i++)
    end += sprintf(end, "PMF:cpu %d\ttid %d\tts %d\n", i == 0, i == 0 ? 0 : (i - 1) % 2, i);
  const char *const texts[] = {text, NULL};
  ck_assert_int_eq(parse_texts(NULL, texts, &logs), TG_OK);
  const long boots = stop_every_asking(run_reduce) - 1 - (STAMPS + 63) / 64;
  ck_assert_int_ge(boots, BOOTS);
  parsed_free(&logs);
  free(text);
}
END_TEST

/* ---- captures ---------------------------------------------------------------------------------
 */

static tg_capture *waves;

static tg_status run_axi(const tg_alloc *a, const tg_stop *stop) {
  const tg_axi_options o = {.stop = stop};
  tg_axi *const none = (tg_axi *)&logs;
  tg_axi *x = none;
  const tg_status st = tg_axi_new(a, waves, &o, &x, NULL);
  if (st == TG_OK)
    tg_axi_free(x);
  else
    ck_assert_ptr_eq(x, none);
  return st;
}

START_TEST(an_analysis_stops_at_every_asking) {
  static wave w;
  static wave_text t;
  wave_base(&w);
  wave_csv(&w, WAVE_RADIX, &t);
  ck_assert_int_eq(wave_read(NULL, t.p, t.n, 0, NULL, &waves, NULL), TG_OK);
  /* samples, the queues of reads, write data and responses, transactions, outstanding */
  ck_assert_int_eq(stop_every_asking(run_axi), 6);
  tg_capture_free(waves);
}
END_TEST

/* A read beat in every sample: the stretches between two changes are walked sample by sample. One
 * of them, or many that are shorter than what lies between two askings. */
START_TEST(a_long_capture_asks_every_4096_samples) {
  enum { SAMPLES = 100000 };
  const int stretch = _i == 0 ? SAMPLES : 1000;
  static wave_text t;
  t.n = 0;
  wave_say(&t, "$timescale 1ps $end\n$var wire 1 ! s_arvalid $end\n$var wire 1 \" s_arready $end\n"
               "$var wire 1 # s_rvalid $end\n$var wire 1 $ s_rready $end\n$enddefinitions $end\n"
               "#0\n0!\n1\"\n1#\n1$\n");
  for (int at = stretch; at <= SAMPLES; at += stretch)
    wave_say(&t, "#%d\n%d\"\n", at, at / stretch & 1);
  ck_assert_int_eq(wave_read(NULL, t.p, t.n, 0, NULL, &waves, NULL), TG_OK);
  ck_assert_uint_eq(tg_capture_about(waves).samples, SAMPLES + 1);
  /* twice: a sample each and a stretch each; the queue of the reads; a row of each of two tables */
  const size_t walked = 2 * (SAMPLES + 1 + SAMPLES / (size_t)stretch + 1);
  tg_axi *x = NULL;
  ck_assert_int_eq(tg_axi_new(NULL, waves, NULL, &x, NULL), TG_OK);
  const size_t rows[] = {tg_table_rows(tg_axi_table(x, "transactions")),
                         tg_table_rows(tg_axi_table(x, "outstanding"))};
  tg_axi_free(x);
  ck_assert_uint_gt(rows[0], SAMPLES); /* every beat is an orphan */
  const size_t want =
      (walked + 4095) / 4096 + 1 + (rows[0] + 4095) / 4096 + (rows[1] + 4095) / 4096;
  ck_assert_int_eq(stop_every_asking(run_axi), (long)want);
  tg_capture_free(waves);
}
END_TEST

/* ---- statistics -------------------------------------------------------------------------------
 */

static uint64_t ones[100];
static int64_t wild[2048]; /* no common step: nothing can be counted */

static void fill_wild(void) {
  uint64_t v = 1;
  for (size_t i = 0; i < LEN(ones); i++) ones[i] = 1;
  for (size_t i = 0; i < LEN(wild); i++) {
    v = v * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    wild[i] = (int64_t)(v >> 12);
  }
}

/* The test of means of the first m against the next n; the result stays as it was on failure. */
static tg_status mean_of(const tg_alloc *a, const tg_stop *stop, size_t m, size_t n, bool exact) {
  tg_test t = {-1, -1, -1, !exact};
  const tg_status st = tg_mean_test(a, stop, wild, m, wild + m, n, 1, &t);
  ck_assert(st == TG_OK ? t.p > 0 && t.exact == exact : t.p < 0 && t.exact != exact);
  return st;
}
static tg_status run_drawn(const tg_alloc *a, const tg_stop *stop) {
  return mean_of(a, stop, 2, 1500, false);
}
static tg_status run_listed(const tg_alloc *a, const tg_stop *stop) {
  return mean_of(a, stop, 3, 37, true);
}

static tg_status run_flips(const tg_alloc *a, const tg_stop *stop) {
  tg_test t = {-1, -1, -1, false};
  const tg_status st = tg_signflip_test(a, stop, wild, 12, 1, &t);
  ck_assert(st == TG_OK ? t.exact : t.p < 0);
  return st;
}

/* 100 keys of `units` units a side, one reading each. */
static tg_status compare_keys(const tg_alloc *a, const tg_stop *stop, bool paired) {
  enum { KEYS = 100, UNITS = 9 };
  static uint64_t unit_start[KEYS * UNITS + 1], key_start[KEYS + 1];
  for (size_t i = 0; i < LEN(unit_start); i++) unit_start[i] = i;
  for (size_t i = 0; i < LEN(key_start); i++) key_start[i] = i * UNITS;
  const tg_samples s = {wild, NULL, unit_start, key_start, ones, ones, ones, KEYS, NULL};
  const tg_samples z = {wild + 64, NULL, unit_start, key_start, ones, ones, ones, KEYS, NULL};
  const tg_compare_options o = {.margin = 0.05, .stop = stop, .paired = paired, .noise = &z};
  tg_table *const none = (tg_table *)&logs;
  tg_table *t = none;
  const tg_status st = tg_compare(a, &s, &z, &o, &t);
  if (st == TG_OK)
    tg_table_free(t);
  else
    ck_assert_ptr_eq(t, none);
  return st;
}
static tg_status run_compare(const tg_alloc *a, const tg_stop *stop) {
  return compare_keys(a, stop, false);
}
static tg_status run_paired(const tg_alloc *a, const tg_stop *stop) {
  return compare_keys(a, stop, true);
}

/* Boots of many keys: arrangements and orders are drawn. */
static tg_status run_gate(const tg_alloc *a, const tg_stop *stop) {
  enum { KEYS = 12, UNITS = 10 };
  static uint64_t unit_start[KEYS * UNITS + 1], key_start[KEYS + 1];
  for (size_t i = 0; i < LEN(unit_start); i++) unit_start[i] = i;
  for (size_t i = 0; i < LEN(key_start); i++) key_start[i] = i * UNITS;
  const tg_samples s = {wild, NULL, unit_start, key_start, ones, ones, ones, KEYS, NULL};
  const tg_samples z = {wild + 64, NULL, unit_start, key_start, ones, ones, ones, KEYS, NULL};
  const tg_gate_options o = {.margin = 0.05, .seed = 1, .stop = stop};
  tg_gate_summary summary = {.gated = 77};
  tg_table *const none = (tg_table *)&logs;
  tg_table *t = none;
  const tg_status status = tg_gate(a, &s, &z, &o, &summary, &t);
  if (status == TG_OK)
    tg_table_free(t);
  else
    ck_assert(t == none && summary.gated == 77);
  return status;
}
static tg_status run_drift(const tg_alloc *a, const tg_stop *stop) {
  enum { KEYS = 12, UNITS = 10 };
  static uint64_t unit_start[KEYS * UNITS + 1], key_start[KEYS + 1];
  for (size_t i = 0; i < LEN(unit_start); i++) unit_start[i] = i;
  for (size_t i = 0; i < LEN(key_start); i++) key_start[i] = i * UNITS;
  const tg_samples s = {wild, NULL, unit_start, key_start, ones, ones, ones, KEYS, NULL};
  double statistic = -1, p = -1;
  const tg_status status = tg_drift(a, stop, &s, &s, 1, &statistic, &p);
  ck_assert(status == TG_OK ? p > 0 : p < 0);
  return status;
}

static tg_status run_summarize(const tg_alloc *a, const tg_stop *stop) {
  static const uint64_t unit_start[] = {0, 3, 6, 9}, key_start[] = {0, 1, 3};
  const tg_samples s = {wild, NULL, unit_start, key_start, ones, ones, ones, 2, NULL};
  tg_table *const none = (tg_table *)&logs;
  tg_table *t = none;
  const tg_status st = tg_summarize(a, stop, &s, &t);
  if (st == TG_OK)
    tg_table_free(t);
  else
    ck_assert_ptr_eq(t, none);
  return st;
}

/* 100 units of 100 readings: the values are written over the ones before. */
static tg_status run_collapse(const tg_alloc *a, const tg_stop *stop) {
  static int64_t value[10000], unit[100];
  uint64_t unit_start[101];
  const uint64_t key_start[] = {0, 100};
  for (size_t i = 0; i < LEN(unit_start); i++) unit_start[i] = 100 * i;
  const tg_samples s = {value, NULL, unit_start, key_start, ones, ones, ones, 1, NULL};
  return tg_collapse(a, stop, &s, unit);
}

static tg_status vectors(const tg_alloc *a, const tg_stop *stop, uint64_t units) {
  const uint64_t cores = 3;
  const tg_vectors x = {wild, &units, &cores, ones, ones, ones, 1};
  const tg_vectors y = {wild + 3 * units, &units, &cores, ones, ones, ones, 1};
  tg_table *const none = (tg_table *)&logs;
  tg_table *t = none;
  const tg_status st = tg_compare_vectors(a, stop, &x, &y, 1, &t);
  if (st == TG_OK)
    tg_table_free(t);
  else
    ck_assert_ptr_eq(t, none);
  return st;
}
static tg_status run_vectors_listed(const tg_alloc *a, const tg_stop *stop) {
  return vectors(a, stop, 6);
}
static tg_status run_vectors_drawn(const tg_alloc *a, const tg_stop *stop) {
  return vectors(a, stop, 12);
}

static tg_status trend_of(const tg_alloc *a, const tg_stop *stop, uint64_t n) {
  const uint32_t release[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  int64_t values[12];
  for (size_t i = 0; i < LEN(values); i++) values[i] = wild[i] & 0xffff;
  const uint64_t start[] = {0, n};
  const tg_series s = {values, release, start, ones, ones, ones, 1};
  tg_table *const none = (tg_table *)&logs;
  tg_table *series = none, *steps = none;
  const tg_trend_options o = {.margin = 0.1, .seed = 1, .stop = stop};
  const tg_status st = tg_trend(a, &s, &o, &series, &steps);
  if (st == TG_OK) {
    tg_table_free(series);
    tg_table_free(steps);
  } else {
    ck_assert(series == none && steps == none);
  }
  return st;
}
static tg_status run_trend_listed(const tg_alloc *a, const tg_stop *stop) {
  return trend_of(a, stop, 8);
}
static tg_status run_trend_drawn(const tg_alloc *a, const tg_stop *stop) {
  return trend_of(a, stop, 12);
}

static tg_status run_factors(const tg_alloc *a, const tg_stop *stop) {
  const double ratio[] = {1, 1, 1, 2, 2, 2, 4, 4, 4};
  const uint32_t group[LEN(ratio)] = {0};
  double factor[LEN(ratio)];
  uint32_t set[LEN(ratio)];
  return tg_common_factor(a, stop, ratio, group, LEN(ratio), 3, 0.01, factor, set);
}

static const struct {
  tg_status (*run)(const tg_alloc *a, const tg_stop *stop);
  long askings; /* in all */
} statistics[] = {
    {run_drawn, 5},   /* 9999 draws of 2, 2048 between two askings */
    {run_listed, 8},  /* C(40, 3) = 9880 choices, 1365 between */
    {run_flips, 13},  /* 2^12 patterns of 12, 341 between */
    {run_compare, 7}, /* 100 keys, 16 between; their ranks are counted, which asks for nothing */
    {run_paired, 7 + 100 * 2}, /* 2^9 patterns of 9, 455 between */
    {run_summarize, 2},
    {run_collapse, 2}, /* 10000 readings, some 4096 between */
    /* 2500 shuffles of 36, 113 between; C(12, 6) = 924 arrangements, 113 between */
    {run_vectors_listed, 23 + 9},
    {run_vectors_drawn, 45 + 179}, /* 2499 and 9999 draws of 72, 56 between */
    /* costs of the fit, of 199 orders and of the steps; places of steps; 40320 orders of 8, 64
       between */
    {run_trend_listed, 3 + 200 + 630},
    {run_trend_drawn, 3 + 200 + 36}, /* 999 orders of 12, 28 between */
    {run_factors, 1},
    {run_gate, 1178}, /* twice 10000 arrangements of 12 keys and 20 boots, 17 between */
    {run_drift, 667}, /* 10000 orders */
};

START_TEST(a_statistic_stops_at_every_asking) {
  fill_wild();
  ck_assert_int_eq(stop_every_asking(statistics[_i].run), statistics[_i].askings);
}
END_TEST

int main(void) {
  TCase *tc = tcase_create("stop");
  tcase_set_timeout(tc, 120);
  tcase_add_loop_test(tc, a_reduction_stops_at_every_asking, 0, (int)LEN(formats));
  tcase_add_test(tc, two_consoles_stop_at_every_asking);
  tcase_add_test(tc, a_long_log_asks_every_4096_records);
  tcase_add_test(tc, many_stages_ask_every_64_stamps);
  tcase_add_test(tc, an_analysis_stops_at_every_asking);
  tcase_add_loop_test(tc, a_long_capture_asks_every_4096_samples, 0, 2);
  tcase_add_loop_test(tc, a_statistic_stops_at_every_asking, 0, (int)LEN(statistics));
  Suite *s = suite_create("stop");
  suite_add_tcase(s, tc);
  SRunner *runner = srunner_create(s);
  srunner_run_all(runner, CK_ENV);
  const int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

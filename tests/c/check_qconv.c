/* check_qconv.c - run logs of unit_test: lines to runs, runs to readings.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <check.h>
#include <stdlib.h>

#include "support/fail_alloc.h"
#include "support/reduce_text.h"

#define COMMAND "./unit_test -iw 160 -ih 160 -ic 64 -oc 32 -kw 1 -kh 1 "
#define SHAPE "(160x160x64x32 1x1)"
#define GOOD "[qconv_strip] test success!!!\n"

static void expect(const char *text, const char *table, const char *columns, const char *right) {
  static out_text out;
  tg_result *r = reduced(text, NULL);
  ck_assert_str_eq(rows_of(r, table, columns, &out), right);
  tg_result_free(r);
}

/* The article's three runs, byte for byte. */
static const char article[] =
    "fpga@debian-fpga:~$ rake test_2_000\n" COMMAND
    "-th 1 random\n"
    "FPGA exec time " SHAPE ": 694 [usec]\n" GOOD "fpga@debian-fpga:~$ " COMMAND
    "--sync random\n"
    "Cache sync for device time : 432 [usec]\nCache sync for cpu time : 0 [usec]\n"
    "FPGA exec time " SHAPE ": 576 [usec]\n" GOOD;

START_TEST(the_article_s_runs) {
  expect(article, "runs", "run shape kernel th type sync device_us cpu_us exec_us total_us counted",
         "0 160x160x64x32 1x1 1 random no - - 694 - yes\n"
         "1 160x160x64x32 1x1 0 random yes 432 0 576 1008 yes\n");
  expect(article, "keys", "test metric labels unit",
         "160x160x64x32 1x1 exec sync=no th=1 type=random us\n"
         "160x160x64x32 1x1 exec sync=yes th=0 type=random us\n"
         "160x160x64x32 1x1 sync_device sync=yes th=0 type=random us\n"
         "160x160x64x32 1x1 total sync=yes th=0 type=random us\n");
  expect(article, "readings", "key run block value line",
         "0 0 0 694 3\n1 1 0 576 8\n2 1 0 432 8\n3 1 0 1008 8\n");
}
END_TEST

/* 409600 bytes in and 1638400 out: 160 x 160 pixels, 64 values of 2 bits, 32 of 16. */
START_TEST(transfers_follow_from_the_shape) {
  expect(article, "runs", "in_bytes out_bytes", "409600 1638400\n409600 1638400\n");
}
END_TEST

START_TEST(options_come_in_any_order) {
  static const struct {
    const char *args, *right;
  } rows[] = {{"random -th 1 -iw 160", "1 random no\n"},
              {"--sync --input-width=160 --threshold=1 add_1", "1 add_1 yes\n"},
              {"-v -iw 160 sequential", "0 sequential no\n"},
              {"-th x random", "- random no\n"},
              {"-iw", "0 - no\n"}};
  char text[256];
  snprintf(text, sizeof text, "# unit_test %s\nFPGA exec time " SHAPE ": 1 [usec]\n" GOOD,
           rows[_i].args);
  expect(text, "runs", "th type sync", rows[_i].right);
}
END_TEST

START_TEST(without_the_echo_a_run_has_no_parameters) {
  expect("FPGA exec time " SHAPE ": 694 [usec]\n" GOOD "FPGA exec time " SHAPE
         ": 695 [usec]\n" GOOD,
         "runs", "th type occurrence exec_us", "- - 0 694\n- - 1 695\n");
}
END_TEST

START_TEST(what_does_not_count) {
  static const struct {
    const char *text, *right;
  } rows[] = {{COMMAND "random\nFPGA exec time " SHAPE
                       ": 9 [usec]\n[qconv_strip] test failed...\nout_h: 1\n"
                       "expect: 5, qconv_strip: 7\nrake aborted!\n"
                       "Command failed with status (1): [" COMMAND "random]\n",
               "failed no the result is wrong\n"},
              {COMMAND "random\nFPGA exec time " SHAPE ": 9 [usec]\n"
                       "qconv strip error(out_size:   1638400[byte])\n",
               "error no the run failed\n"},
              {COMMAND "random\nFPGA exec time " SHAPE ": -9 [usec]\n" GOOD,
               "success no a negative time: the system's clock was set\n"},
              {COMMAND "random\nQconvStripEnv::uio     initialize Error\n",
               "error no no time was printed\n"},
              {COMMAND "random\nFPGA exec time " SHAPE ": 9 [usec]\n" COMMAND
                       "random\nFPGA exec time " SHAPE ": 8 [usec]\n" GOOD,
               "- no no verdict was printed\nsuccess yes -\n"}};
  expect(rows[_i].text, "runs", "verdict counted why", rows[_i].right);
}
END_TEST

START_TEST(kernel_lines_do_not_disturb) {
  expect(
      "[ 5.1] fclkcfg amba:fclk0: clock  rate    : 249999998\n"
      "[ 5.2] udmabuf udmabuf-qconv-in: phys address   = 0x0000000070100000\n" COMMAND
      "random\n[ 2322.871319] one line\nFPGA exec time " SHAPE ": 9 [usec]\n[ 3.1] two\n" GOOD,
      "runs", "exec_us clock_hz counted", "9 249999998 yes\n");
}
END_TEST

START_TEST(a_torn_time_is_a_problem_not_a_value) {
  const char text[] = COMMAND
      "random\nFPGA exec time (160x160x64[ 1552.148082] fpga_manager fpga0\n"
      "x32 1x1): 694 [usec]\n" GOOD;
  expect(text, "runs", "exec_us why", "- no time was printed\n");
  expect(text, "readings", "value", "");
}
END_TEST

/* Cache sync for cpu time is the end minus a later start: kept, never a reading. */
START_TEST(cpu_time_is_no_measurement) {
  expect(COMMAND
         "--sync random\nCache sync for device time : 4 [usec]\n"
         "Cache sync for cpu time : -3 [usec]\nFPGA exec time " SHAPE ": 9 [usec]\n" GOOD,
         "runs", "cpu_us total_us", "-3 13\n");
}
END_TEST

static tg_records *records;

static tg_status run_all(const tg_alloc *a) {
  const tg_records *const sources[] = {records};
  const tg_reduce_in in = {.sources = sources, .n_sources = 1};
  tg_result *r = NULL;
  tg_status st = tg_reduce(a, &in, &r, NULL);
  if (st == TG_OK) tg_result_free(r);
  return st;
}

START_TEST(every_allocation_may_fail) {
  tg_ruleset *set = NULL;
  ck_assert_int_eq(tg_formats_ruleset(NULL, NULL, 0, &set, NULL), TG_OK);
  ck_assert_int_eq(read_text(NULL, set, article, sizeof article - 1, &records), TG_OK);
  fail_every_allocation(run_all);
  tg_records_free(records);
  tg_ruleset_free(set);
}
END_TEST

int main(void) {
  TCase *tc = tcase_create("qconv");
  tcase_add_test(tc, the_article_s_runs);
  tcase_add_test(tc, transfers_follow_from_the_shape);
  tcase_add_loop_test(tc, options_come_in_any_order, 0, 5);
  tcase_add_test(tc, without_the_echo_a_run_has_no_parameters);
  tcase_add_loop_test(tc, what_does_not_count, 0, 5);
  tcase_add_test(tc, kernel_lines_do_not_disturb);
  tcase_add_test(tc, a_torn_time_is_a_problem_not_a_value);
  tcase_add_test(tc, cpu_time_is_no_measurement);
  tcase_add_test(tc, every_allocation_may_fail);
  tcase_set_timeout(tc, 120);
  Suite *s = suite_create("qconv");
  suite_add_tcase(s, tc);
  SRunner *runner = srunner_create(s);
  srunner_run_all(runner, CK_ENV);
  const int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

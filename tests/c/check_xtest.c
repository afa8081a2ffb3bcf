/* check_xtest.c - xtest's summaries and storage tables, U-Boot's timer summary.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <check.h>
#include <stdlib.h>

#include "support/fail_alloc.h"
#include "support/reduce_text.h"

static const char *rows(const char *text, const char *table, const char *columns) {
  static out_text out;
  tg_result *r = reduced(text, NULL);
  rows_of(r, table, columns, &out);
  tg_result_free(r);
  return out.p;
}

#define AES \
  "min=606.864us max=2711.76us mean=645.352us stddev=67.112us (cv 10.3993%) (1.51322MiB/s)\n"

START_TEST(a_result_is_a_summary_and_its_minimum_a_reading) {
  /* OP-TEE/optee_os issue 1918. */
  static const char text[] = "# xtest --aes-perf -m ECB -n 300 -d\n" AES;
  ck_assert_str_eq(rows(text, "summaries", "test labels min max mean stddev cv speed unit line"),
                   "aes-perf d=yes m=ECB n=300 606864000 2711760000 645352000 67112000 10399300000 "
                   "1513220000000 us 2\n");
  ck_assert_str_eq(rows(text, "keys", "format test metric labels unit exp10"),
                   "xtest aes-perf min d=yes m=ECB n=300 us -6\n");
  ck_assert_str_eq(rows(text, "readings", "value line"), "606864000 2\n");
}
END_TEST

START_TEST(every_version_of_the_line) {
  /* 2.2: micro sign, no cv; between: micro sign with cv; n = 1: nan; from 1e6 us on: exponents. */
  static const struct {
    const char *line, *want;
  } cases[] = {
      {"min=3\xce\xbcs max=7.5\xce\xbcs mean=5\xce\xbcs stddev=2.25\xce\xbcs (2.5MiB/s)\n",
       "3000000 7500000 5000000 2250000 - 2500000000000\n"},
      {"min=3\xc2\xb5s max=7\xc2\xb5s mean=5\xc2\xb5s stddev=2\xc2\xb5s (cv 40%) (2.5MiB/s)\n",
       "3000000 7000000 5000000 2000000 40000000000 2500000000000\n"},
      {"min=3us max=7us mean=5us stddev=2us (2.5MiB/s)\n",
       "3000000 7000000 5000000 2000000 - 2500000000000\n"},
      {"min=4028.26us max=4028.26us mean=4028.26us stddev=nanus (cv nan%) (0.242428MiB/s)\n",
       "4028260000 4028260000 4028260000 - - 242428000000\n"},
      {"min=115810us max=1.14554e+06us mean=323224us stddev=332780us (cv 102.956%) "
       "(12.3753MiB/s)\n",
       "115810000000 1145540000000 323224000000 332780000000 102956000000 12375300000000\n"},
      {"min=633894us max=5.0713e+06us mean=1.7382e+06us stddev=1us (cv 1%) (1.75557e-05MiB/s)\n",
       "633894000000 5071300000000 1738200000000 1000000 1000000000 17555700\n"},
      {"min=1us max=1us mean=1us stddev=0us (cv 0%) (infMiB/s)\n",
       "1000000 1000000 1000000 0 0 -\n"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    ck_assert_str_eq(rows(cases[i].line, "summaries", "min max mean stddev cv speed"),
                     cases[i].want);
  }
}
END_TEST

START_TEST(what_was_measured_stands_before_the_result) {
  static const char text[] =
      "$ xtest --aes-perf -w 0 -n 200 -v\n"
      "Starting test: ECB, encrypt, keysize=128 bits, size=1024 bytes, random=no, in place=no, "
      "inner loops=1, loops=200, warm-up=0 s, unit=0\n" AES
      "2-sigma interval: 110.304..1639.74us (0.59556..8.85336MiB/s)\n" AES
      "$ xtest --hash-perf\n" AES;
  ck_assert_str_eq(
      rows(text, "summaries", "test labels"),
      "ECB in_place=no inner_loops=1 keysize=128 loops=200 mode=encrypt random=no size=1024 unit=0 "
      "warm-up=0\naes-perf n=200 v=yes w=0\nhash-perf -\n");
}
END_TEST

START_TEST(torn_results_are_problems) {
  tg_ruleset *rules = NULL;
  tg_records *records = NULL;
  static const char text[] =
      "min=606.864us max=2711.76us mean=645.352us stddev=67.1\n"
      "min=606.864us max=2711.76us mean=645.352us stddev=67.112us (cv 10.3993%) (1.51322Mi\n"
      "min=606.86.4us max=1us mean=1us stddev=1us (cv 1%) (1MiB/s)\n"
      "min=99999999999999999999us max=1us mean=1us stddev=1us (cv 1%) (1MiB/s)\n";
  ck_assert_int_eq(tg_formats_ruleset(NULL, NULL, 0, &rules, NULL), TG_OK);
  ck_assert_int_eq(read_text(NULL, rules, text, sizeof text - 1, &records), TG_OK);
  ck_assert_uint_eq(tg_records_count(records), 0);
  ck_assert_uint_ge(tg_table_rows(tg_records_problems(records)), 4);
  tg_records_free(records);
  tg_ruleset_free(rules);
}
END_TEST

START_TEST(storage_tables_give_one_time_for_each_size) {
  static const char text[] =
      "* benchmark_1001 TEE Trusted Storage Performance Test (WRITE)\n"
      "-----------------+---------------+----------------\n"
      " Data Size (B) \t | Time (s)\t | Speed (kB/s)\t \n"
      "-----------------+---------------+----------------\n"
      "      256 \t |    0.114 \t |    2.193\n"
      "      512 \t |    0.000 \t |      inf\n"
      "I/TA: start: 22.974(s), stop: 23.88(s), delta: 114(ms)\n"
      "  1048576 \t |   33.132 \t |   30.907\n"
      "-----------------+---------------+----------------\n"
      "  benchmark_1001 OK\n";
  ck_assert_str_eq(rows(text, "keys", "test operation metric labels unit exp10"),
                   "benchmark_1001 WRITE time size=256 s -3\n"
                   "benchmark_1001 WRITE time size=512 s -3\n"
                   "benchmark_1001 WRITE time size=1048576 s -3\n"
                   "- storage_ta delta - ms 0\n");
  ck_assert_str_eq(rows(text, "readings", "value line"), "114 5\n0 6\n33132 8\n114 7\n");
}
END_TEST

/* --- U-Boot ---------------------------------------------------------------------------------- */

#define SUMMARY                                    \
  "Timer summary in microseconds (6 records):\r\n" \
  "       Mark    Elapsed  Stage\r\n"              \
  "          0          0  reset\r\n"              \
  "    844,104    844,104  board_init_f\r\n"       \
  "  1,083,450    239,346  board_init_r\r\n"       \
  "  1,083,460         10  id=64\r\n"              \
  "  1,500,000    416,540  \r\n"                   \
  "  3,575,678  2,075,678  main_loop\r\n"          \
  "\r\n"                                           \
  "Accumulated time:\r\n"                          \
  "                10,017  dm_r\r\n"               \
  "                53,553  of_live\r\n"

START_TEST(a_timer_summary_is_the_stages_of_a_boot) {
  ck_assert_str_eq(
      rows(SUMMARY "=> \r\n", "stages", "service stage start finish ticks ns clock_hz state"),
      "bootstage reset 0 0 0 0 1000000 complete\n"
      "bootstage board_init_f 0 844104 844104 844104000 1000000 complete\n"
      "bootstage board_init_r 844104 1083450 239346 239346000 1000000 complete\n"
      "bootstage id=64 1083450 1083460 10 10000 1000000 complete\n"
      "bootstage unnamed 1083460 1500000 416540 416540000 1000000 complete\n"
      "bootstage main_loop 1500000 3575678 2075678 2075678000 1000000 complete\n"
      "accumulated dm_r - - 10017 10017000 1000000 complete\n"
      "accumulated of_live - - 53553 53553000 1000000 complete\n");
  ck_assert_str_eq(rows(SUMMARY, "problems", "reason"), "");
  ck_assert_str_eq(rows(SUMMARY, "keys", "test operation metric unit"),
                   "bootstage reset duration us\nbootstage board_init_f duration us\n"
                   "bootstage board_init_r duration us\nbootstage id=64 duration us\n"
                   "bootstage unnamed duration us\nbootstage main_loop duration us\n"
                   "accumulated dm_r duration us\naccumulated of_live duration us\n");
}
END_TEST

START_TEST(what_follows_a_table_is_read_as_ever) {
  /* A torn line right behind the table is a problem, prompts and banners are none. */
  static const char text[] =
      SUMMARY "=> bootm\r\n[    0.000000] Booting Linux on physical CPU 0x0\r\n" SUMMARY
              "min=1us max=2us mean=1us stddev=1us (cv 1%) (1Mi\n";
  tg_ruleset *rules = NULL;
  tg_records *records = NULL;
  uint64_t line = 0;
  ck_assert_int_eq(tg_formats_ruleset(NULL, NULL, 0, &rules, NULL), TG_OK);
  ck_assert_int_eq(read_text(NULL, rules, text, sizeof text - 1, &records), TG_OK);
  const tg_table *problems = tg_records_problems(records);
  ck_assert_uint_eq(tg_table_rows(problems), 1);
  ck_assert(tg_table_u64(problems, 0, TG_PROBLEM_LINE, &line));
  ck_assert_uint_eq(line, 27);
  tg_records_free(records);
  tg_ruleset_free(rules);
}
END_TEST

START_TEST(marks_of_32_bits_wrap_and_torn_rows_show) {
  static const char text[] =
      "Timer summary in microseconds:\n"
      "       Mark    Elapsed  Stage\n"
      "4,294,967,0004,294,967,000  late\n" /* columns of 11 bytes may touch */
      "        704      1,000  wrapped\n"
      "        904        300  not the difference\n"
      "      1,004        100  good again\n"
      "     1,0x04        100  torn\n";
  ck_assert_str_eq(rows(text, "stages", "stage start finish"),
                   "late 0 4294967000\nwrapped 4294967000 4294968000\n"
                   "good again 4294968200 4294968300\n");
  ck_assert_str_eq(rows(text, "problems", "line reason"), "5 torn\n");
  tg_ruleset *rules = NULL;
  tg_records *records = NULL;
  ck_assert_int_eq(tg_formats_ruleset(NULL, NULL, 0, &rules, NULL), TG_OK);
  ck_assert_int_eq(read_text(NULL, rules, text, sizeof text - 1, &records), TG_OK);
  ck_assert_uint_eq(tg_table_rows(tg_records_problems(records)), 1); /* line 7: no row at all */
  tg_records_free(records);
  tg_ruleset_free(rules);
}
END_TEST

START_TEST(two_boots_have_two_waterfalls_beside_pmf) {
  static const char text[] =
      "PMF:cpu 0\ttid 0\tts 100\nNOTICE:  BL1: v2.12.0(debug):v2.12.0\n"
      "PMF:cpu 0\ttid 1\tts 300\n" SUMMARY
      "PMF:cpu 0\ttid 0\tts 101\nNOTICE:  BL1: v2.12.0(debug):v2.12.0\n"
      "PMF:cpu 0\ttid 1\tts 302\n";
  ck_assert_str_eq(rows(text, "stages", "boot service stage ticks"),
                   "0 boot BL1 200\n1 boot BL1 201\n0 bootstage reset 0\n"
                   "0 bootstage board_init_f 844104\n0 bootstage board_init_r 239346\n"
                   "0 bootstage id=64 10\n0 bootstage unnamed 416540\n"
                   "0 bootstage main_loop 2075678\n0 accumulated dm_r 10017\n"
                   "0 accumulated of_live 53553\n");
}
END_TEST

START_TEST(every_allocation_may_fail) {
  const char *const texts[] = {"$ xtest --aes-perf -m ECB\n" AES SUMMARY, NULL};
  fail_every_reduction(texts);
}
END_TEST

int main(void) {
  Suite *s = suite_create("xtest");
  TCase *t = tcase_create("xtest and bootstage");
  tcase_set_timeout(t, 120);
  tcase_add_test(t, a_result_is_a_summary_and_its_minimum_a_reading);
  tcase_add_test(t, every_version_of_the_line);
  tcase_add_test(t, what_was_measured_stands_before_the_result);
  tcase_add_test(t, torn_results_are_problems);
  tcase_add_test(t, storage_tables_give_one_time_for_each_size);
  tcase_add_test(t, a_timer_summary_is_the_stages_of_a_boot);
  tcase_add_test(t, what_follows_a_table_is_read_as_ever);
  tcase_add_test(t, marks_of_32_bits_wrap_and_torn_rows_show);
  tcase_add_test(t, two_boots_have_two_waterfalls_beside_pmf);
  tcase_add_test(t, every_allocation_may_fail);
  suite_add_tcase(s, t);
  SRunner *r = srunner_create(s);
  srunner_run_all(r, CK_NORMAL);
  int failed = srunner_ntests_failed(r);
  srunner_free(r);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

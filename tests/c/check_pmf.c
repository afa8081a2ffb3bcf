/* check_pmf.c - PMF dumps paired into stages, and TFTF's SMC latency series.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <check.h>
#include <stdlib.h>

#include "support/tfa_read.h"

#define P(tid, ts) "PMF:cpu 0\ttid " #tid "\tts " #ts "\r\n"

static const char *const stage_names[] = {"boot", "stage", "state", "ticks", "ns", NULL};
static const char *const series_names[] = {"test", "n", "clock_hz", "mean_cycles", "agrees", NULL};

static void expect_stages(const char *text, const tg_reduce_options *options, const char *want,
                          const char *problems) {
  test_log log;
  ck_assert_int_eq(test_read(NULL, text, strlen(text), 3, options, &log), TG_OK);
  expect_text(rows_of(tg_result_get(log.result, "stages"), stage_names), want, text);
  expect_text(problems_of(&log), problems, text);
  expect_ledger(&log);
  test_log_free(&log);
}

START_TEST(a_boot_in_print_order) { /* the order is not that of the tids */
  const tg_reduce_options o = {.clock_hz = 50000000};
  expect_stages(P(0, 190034512) "NOTICE:  Booting Trusted Firmware\r\n" P(6, 191238929)
                P(7, 192997820) P(1, 193142256) P(2, 193344532) P(8, 194454672) P(9, 211911755)
                P(3, 212135519) P(4, 213588913) P(5, 215037702),
                &o,
                "0|BL1|complete|3107744|62154880\n0|BL1 authentication|complete|1758891|35177820\n"
                "0|BL2|complete|18790987|375819740\n"
                "0|BL2 authentication|complete|17457083|349141660\n"
                "0|BL31|complete|1448789|28975780\n",
                "");
}
END_TEST

START_TEST(without_a_clock_ticks_stay) {
  expect_stages(P(4, 100) P(5, 350), NULL, "0|BL31|complete|250|-\n", "");
}
END_TEST

START_TEST(missing_partners) {
  expect_stages(P(0, 100) P(2, 300) P(2, 320) P(3, 350) P(9, 400), NULL,
                "0|BL1|no end|-|-\n0|BL2|no end|-|-\n0|BL2|complete|30|-\n"
                "0|BL2 authentication|no start|-|-\n",
                "1 pmf.stamp no-end\n2 pmf.stamp no-end\n5 pmf.stamp no-start\n");
}
END_TEST

START_TEST(full_tids_are_another_service) {
  /* 0x41000400 + n in decimal is 1090520064 + n; service 0 is PSCI_STAT */
  expect_stages("PMF:cpu 1\ttid 1090520064\tts 10\nPMF:cpu 1\ttid 1090520066\tts 14\n"
                "PMF:cpu 1\ttid 1090520068\tts 15\nPMF:cpu 1\ttid 1090520069\tts 18\n"
                "PMF:cpu 1\ttid 1090520067\tts 20\nPMF:cpu 1\ttid 1090520065\tts 30\n"
                "PMF:cpu 1\ttid 1090519040\tts 31\nPMF:cpu 1\ttid 1090519041\tts 36\n",
                NULL,
                "0|PSCI|complete|20|-\n0|hardware low power|complete|6|-\n"
                "0|cache flush|complete|3|-\n0|low power|complete|5|-\n",
                "");
}
END_TEST

START_TEST(unknown_tids_and_torn_lines) {
  expect_stages(P(0, 100) P(10, 110) P(1090522112, 120) "PMF:cpu 0\ttid 1\tts 13x\r\n" P(1, 140),
                NULL, "0|BL1|complete|40|-\n",
                "4 pmf.stamp edge\n2 pmf.stamp unknown-tid\n3 pmf.stamp unknown-tid\n");
}
END_TEST

START_TEST(time_going_back_is_another_boot_or_no_stage) {
  /* a reset: stamps restart at tid 0 */
  expect_stages(P(0, 100000000) P(1, 100000500) P(2, 100000600) P(3, 100000900) P(0, 100) P(1, 350),
                NULL, "0|BL1|complete|500|-\n0|BL2|complete|300|-\n1|BL1|complete|250|-\n", "");
  /* one torn stamp */
  expect_stages(P(0, 100000000) P(1, 1000005) P(2, 100000600) P(3, 100000900), NULL,
                "0|BL1|time goes back|-|-\n0|BL2|complete|300|-\n", "1 pmf.stamp time-back\n");
}
END_TEST

START_TEST(cpus_do_not_mix) {
  expect_stages("PMF:cpu 0\ttid 4\tts 10\nPMF:cpu 1\ttid 4\tts 11\nPMF:cpu 1\ttid 5\tts 15\n"
                "PMF:cpu 0\ttid 5\tts 18\n",
                NULL, "0|BL31|complete|8|-\n0|BL31|complete|4|-\n", "");
}
END_TEST

#define BEGIN "> Executing 'PSCI_VERSION latency'\r\nNOTICE:  Raw results:\r\n"

START_TEST(series_and_their_printed_means) {
  static const struct {
    const char *text, *want, *problems;
  } cases[] = {
      {BEGIN "NOTICE:  6391 cycles\t102256 ns\r\nNOTICE:  503 cycles\t8048 ns\r\n"
             "  TEST COMPLETE   Passed\r\nAverage number of cycles: 3447\r\n"
             "Average time: 55152 ns (ranging from 8048 to 102256)\r\n",
       "PSCI_VERSION latency|2|62500000|3447|yes\n", ""},
      /* a line was lost: the mean cannot agree */
      {BEGIN "NOTICE:  6391 cycles\t102256 ns\r\nAverage number of cycles: 3447\r\n"
             "Average time: 55152 ns (ranging from 8048 to 102256)\r\n",
       "PSCI_VERSION latency|1|62500000|6391|no\n", "5 smc.mean_cycles mean-differs\n"},
      /* nothing printed, no verdict */
      {BEGIN "NOTICE:  5 cycles\t208 ns\r\nNOTICE:  1200000 cycles\t50000000 ns\r\n",
       "PSCI_VERSION latency|2|24000000|600002|-\n", ""},
      {BEGIN "NOTICE:  CPU off: 7 cycles left\r\nERROR:   cycles_to_ns: out of range\r\n", "", ""},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    test_log log;
    ck_assert_int_eq(test_read(NULL, cases[i].text, strlen(cases[i].text), 0, NULL, &log), TG_OK);
    expect_text(rows_of(tg_result_get(log.result, "series"), series_names), cases[i].want,
                cases[i].text);
    expect_text(problems_of(&log), cases[i].problems, cases[i].text);
    expect_ledger(&log);
    test_log_free(&log);
  }
}
END_TEST

START_TEST(a_thousand_samples) {
  test_text t = {0};
  put(&t, BEGIN);
  uint64_t sum = 0;
  for (uint64_t i = 0; i < 1000; i++) {
    uint64_t cycles = 300 + i * i % 977;
    sum += cycles;
    put(&t, "NOTICE:  %llu cycles\t%llu ns\r\n", (unsigned long long)cycles,
        (unsigned long long)(cycles * 1000000000 / 50000000));
  }
  put(&t, "Average number of cycles: %llu\r\n", (unsigned long long)(sum / 1000));
  test_log log;
  ck_assert_int_eq(test_read(NULL, t.p, t.n, 64, NULL, &log), TG_OK);
  ck_assert_uint_eq(tg_table_rows(tg_result_get(log.result, "readings")), 1000);
  char *series = rows_of(tg_result_get(log.result, "series"), series_names);
  ck_assert_ptr_nonnull(strstr(series, "|1000|50000000|"));
  ck_assert_ptr_nonnull(strstr(series, "|yes\n"));
  free(series);
  test_log_free(&log);
  free(t.p);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("pmf");
  TCase *tc = tcase_create("pmf");
  tcase_add_test(tc, a_boot_in_print_order);
  tcase_add_test(tc, without_a_clock_ticks_stay);
  tcase_add_test(tc, missing_partners);
  tcase_add_test(tc, full_tids_are_another_service);
  tcase_add_test(tc, unknown_tids_and_torn_lines);
  tcase_add_test(tc, time_going_back_is_another_boot_or_no_stage);
  tcase_add_test(tc, cpus_do_not_mix);
  tcase_add_test(tc, series_and_their_printed_means);
  tcase_add_test(tc, a_thousand_samples);
  suite_add_tcase(suite, tc);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_NORMAL);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* check_tftf.c - TFTF consoles: records, blocks, cpus, verdicts, boots, and what breaks them.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <check.h>
#include <stdlib.h>

#include "support/fail_alloc.h"
#include "support/tfa_read.h"

#define DEEP "<RT_INSTR:test_rt_instr_susp_deep_parallel\t"
#define EXEC_DEEP "> Executing 'Suspend to deepest power level on all cores in parallel'\r\n"
#define EXEC_OFF \
  "> Executing 'CPU off on all non-lead cores in sequence and suspend lead to deepest power " \
  "level'\r\n"
#define DONE(v) "  TEST COMPLETE                                                 " v "\r\n"
#define JUNO "NOTICE:  v2.14(juno,release):v2.15-rc0\r\n"
#define R0 DEEP "1\t0\t104500\t23400\t5840/>"
#define R1 DEEP "1\t1\t396120\t18900\t4660/>"
#define R2 DEEP "1\t2\t540660\t293920\t4520/>"
#define R3 DEEP "1\t3\t986780\t237680\t90840/>"
#define R4 DEEP "0\t0\t686680\t270720\t168700/>"
#define R5 DEEP "0\t1\t249100\t27400\t7480/>"

static const char *const test_names[] = {"test", "verdict", "records", "expected", "partial",
                                         "cpus", NULL};

/* One source and what it must give; NULL: not looked at. */
typedef struct expected {
  const char *text;
  size_t n; /* 0: strlen */
  const char *readings, *tests, *problems;
  const char *platform;
} expected;

static void check(const expected *e) {
  size_t n = e->n != 0 ? e->n : strlen(e->text);
  const tg_reduce_options o = {.platform = e->platform};
  static const size_t pieces[] = {0, 1, 2, 3, 5, 64};
  for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
    test_log log;
    ck_assert_int_eq(test_read(NULL, e->text, n, pieces[i], &o, &log), TG_OK);
    if (e->readings != NULL) expect_text(readings_of(log.result), e->readings, "readings");
    if (e->tests != NULL) {
      expect_text(rows_of(tg_result_get(log.result, "tests"), test_names), e->tests, "tests");
    }
    if (e->problems != NULL) expect_text(problems_of(&log), e->problems, "problems");
    expect_ledger(&log);
    test_log_free(&log);
  }
}

#define SIX                                                                          \
  "0 susp_deep_parallel 1,0 @2 104500 23400 5840\n"                                  \
  "0 susp_deep_parallel 1,1 @3 396120 18900 4660\n"                                  \
  "0 susp_deep_parallel 1,2 @4 540660 293920 4520\n"                                 \
  "0 susp_deep_parallel 1,3 @5 986780 237680 90840\n"                                \
  "0 susp_deep_parallel 0,0 @6 686680 270720 168700\n"                               \
  "0 susp_deep_parallel 0,1 @7 249100 27400 7480\n"

START_TEST(one_block_with_markers) {
  check(&(expected){EXEC_DEEP R0 "\r\n" R1 "\r\n" R2 "\r\n" R3 "\r\n" R4 "\r\n" R5
                    "\r\n" DONE("Passed"),
                    0, SIX, "susp_deep_parallel|Passed|6|6|no|label\n", "", NULL});
}
END_TEST

START_TEST(line_ends) { /* section 7, 03 */
  static const char *const ends[] = {"\r\n", "\n", "\r\r\n", "\n\r"};
  for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
    static const char *const lines[] = {EXEC_DEEP, R0, R1, R2, R3, R4, R5};
    test_text t = {0};
    put(&t, "%.*s%s", (int)strlen(EXEC_DEEP) - 2, EXEC_DEEP, ends[i]);
    for (size_t k = 1; k < 7; k++) put(&t, "%s%s", lines[k], k < 6 ? ends[i] : "");
    check(&(expected){t.p, 0, SIX, NULL, "", NULL});
    free(t.p);
  }
}
END_TEST

START_TEST(carriage_returns_alone) { /* an old Mac, or a terminal: all six, whatever the lines */
  test_log log;
  const char *text = R0 "\r" R1 "\r" R2 "\r" R3 "\r" R4 "\r" R5 "\r";
  ck_assert_int_eq(test_read(NULL, text, strlen(text), 0, NULL, &log), TG_OK);
  ck_assert_uint_eq(tg_table_rows(tg_result_get(log.result, "readings")), 18);
  ck_assert_uint_eq(tg_table_rows(tg_result_get(log.result, "tests")), 1);
  test_log_free(&log);
}
END_TEST

START_TEST(garbled_bytes) { /* section 7, 01 */
  static const char text[] =
      R0 "\r\n"
      DEEP "1\t1\t39\xff" "120\t18900\t4660/>\r\n"
      "<RT_\0NSTR:test_rt_instr_susp_deep_parallel\t1\t2\t540660\t293920\t4520/>\r\n"
      DEEP "1\t3\t98\x01\x02\x03\t237680\t90840/>\r\n"
      "\xef\xbf\xbdRT_INSTR:test_rt_instr_susp_deep_parallel\t0\t0\t686680\t270720\t168700/>\r\n"
      R5 "\r\n";
  check(&(expected){text, sizeof text - 1,
                    "0 susp_deep_parallel 1,0 @1 104500 23400 5840\n"
                    "0 susp_deep_parallel 0,1 @6 249100 27400 7480\n",
                    "susp_deep_parallel|-|2|2|yes|label\n",
                    "2 tftf.times mismatch\n3 tftf.times mismatch\n4 tftf.times mismatch\n"
                    "5 tftf.times mismatch\n", NULL});
}
END_TEST

START_TEST(interleaved_writers) { /* section 7, 02 */
  check(&(expected){
      EXEC_DEEP R0 "\r\n"
      "<RT_INSTR:test_rt_instr_susp_dNOTICE:  CPU3 skipped the test\r\n"
      "eep_parallel\t1\t1\t396120\t18900\t4660/>\r\n" R2 R3 "\r\n"
      "INFO:    " R4 "\r\n" DEEP "0\t1\t249100\t2740WARNING: BL31: x\r\n0\t7480/>\r\n"
      DONE("Passed"),
      0,
      "0 susp_deep_parallel 1,0 @2 104500 23400 5840\n"
      "0 susp_deep_parallel 1,2 @5 540660 293920 4520\n"
      "0 susp_deep_parallel 1,3 @5 986780 237680 90840\n"
      "0 susp_deep_parallel 0,0 @6 686680 270720 168700\n",
      "susp_deep_parallel|Passed|4|4|yes|label\n",
      "3 tftf.times number\n7 tftf.times edge\n", NULL});
}
END_TEST

START_TEST(truncated_records) { /* section 7, 04: 104500 could be 10450 */
  check(&(expected){
      DEEP "1\t0\t104500\t23400\t5840\r\n" DEEP "1\t1\t396120\t18900\t4660/\r\n"
      DEEP "1\t2\t540660\t2939\r\n" DEEP "1\t3\t986780\t237680\r\n<RT_INSTR:\r\n"
      DEEP "0\t0\t686680\t270720\t168700/>/>\r\n<" R5 "\r\n"
      "<RT_INSTR:test_rt_instr_psci_version_parallel\t1\t0\t680/>\r\n"
      "<RT_INSTR:test_rt_instr_psci_version_parallel\t1\t1/>\r\n",
      0,
      "0 susp_deep_parallel 0,0 @6 686680 270720 168700\n"
      "0 susp_deep_parallel 0,1 @7 249100 27400 7480\n"
      "0 psci_version_parallel 1,0 @8 680\n",
      NULL,
      "1 tftf.times cut\n2 tftf.times cut\n3 tftf.times cut\n4 tftf.times cut\n"
      "5 tftf.times cut\n9 tftf.latency_old shape-conflict\n",
      NULL});
}
END_TEST

START_TEST(a_record_without_a_field_is_no_other_shape) {
  check(&(expected){EXEC_DEEP R0 "\r\n" DEEP "1\t396120\t18900\t4660/>\r\n"
                    "<RT_INSTR:test_rt_instr_susp_deep_parallel\t1\t2\t540660/>\r\n"
                    "<RT_INSTR:test_rt_instr_psci_version_parallel\t1\t2\t1\t2\t3/>\r\n",
                    0, "0 susp_deep_parallel 1,0 @2 104500 23400 5840\n", NULL,
                    "3 tftf.times_old shape-conflict\n4 tftf.latency shape-conflict\n"
                    "5 tftf.times shape-conflict\n",
                    NULL});
}
END_TEST

START_TEST(out_of_range_stops_a_dump) { /* section 7, 05 */
  check(&(expected){JUNO EXEC_DEEP R0 "\r\n" R1 "\r\nERROR:   cycles_to_ns: out of range\r\n"
                    DONE("Failed"),
                    0, NULL, "susp_deep_parallel|Failed|2|6|yes|label\n", "2 tftf test-failed\n",
                    NULL});
}
END_TEST

START_TEST(numbers) { /* section 7, 06 */
#define VERSION "<RT_INSTR:test_rt_instr_psci_version_parallel\t"
  check(&(expected){
      VERSION "1\t0\t00/>\n" VERSION "1\t1\t07/>\n" VERSION "1\t2\t368934881460/>\n"
      VERSION "1\t3\t9223372036854775808/>\n" VERSION "0\t0\t18446744073709551616/>\n"
      VERSION "0\t1\t-20/>\n" VERSION "256\t0\t+40/>\n" VERSION "0\t0\t0x3c/>\n"
      VERSION "00\t01\t000000000680/>\n" VERSION "1\t0\t680.0/>\n"
      VERSION "255\t4294967295\t40/>\n",
      0,
      "0 psci_version_parallel 1,0 @1 0\n0 psci_version_parallel 1,1 @2 7\n"
      "0 psci_version_parallel 1,2 @3 368934881460\n0 psci_version_parallel 0,1 @9 680\n",
      NULL,
      "5 tftf.latency overflow\n6 tftf.times number\n7 tftf.times number\n8 tftf.times edge\n"
      "10 tftf.times edge\n11 tftf.latency shape-conflict\n4 tftf overflow\n",
      NULL});
}
END_TEST

START_TEST(errors_skips_and_crashes) { /* section 7, 07 */
  static const char *const names[] = {"test", "verdict", "partial", "reason", NULL};
  static const char *const events[] = {"block", "kind", "text", "line", NULL};
  const char *text = JUNO
      "Running test suite 'Runtime Instrumentation Validation'\r\n"
      EXEC_DEEP R0 "\r\nERROR:   Failed to capture PMF timestamp\r\n" R1 "\r\n"
      DONE("Failed")
      "PMF timestamps are not correctly ordered\r\n\r\n"
      "> Executing 'CPU suspend on all cores in parallel'\r\n"
      DONE("Skipped") "\r\n" EXEC_OFF
      "Unhandled exception on CPU3.\r\nSystem registers:\r\n  MPIDR=0x81000100\r\n";
  test_log log;
  ck_assert_int_eq(test_read(NULL, text, strlen(text), 0, NULL, &log), TG_OK);
  expect_text(rows_of(tg_result_get(log.result, "tests"), names),
              "susp_deep_parallel|Failed|yes|Failed to capture PMF timestamp\n"
              "cpu_susp_parallel|Skipped|no|-\n"
              "cpu_off_serial|-|yes|Unhandled exception on CPU3.\n",
              "tests");
  expect_text(rows_of(tg_result_get(log.result, "events"), events),
              "0|error|Failed to capture PMF timestamp|5\n"
              "0|order|PMF timestamps are not correctly ordered|8\n"
              "2|exception|Unhandled exception on CPU3.|14\n",
              "events");
  test_log_free(&log);
}
END_TEST

#define BOOT(stamp, v)                                                                       \
  "PMF:cpu 0\ttid 0\tts " stamp "\r\nNOTICE:  Booting Trusted Firmware\r\n"                  \
  "NOTICE:  BL1: " v "(release):" v "-rc0\r\nNOTICE:  Booting trusted firmware test framework\r\n" \
  JUNO

START_TEST(boots_stay_apart) { /* section 7, 08 */
  static const char *const names[] = {"boot", "reason", "version", NULL};
  const char *text = BOOT("190034512", "v2.15.0") "NOTICE:  Starting a new test session\r\n"
      EXEC_DEEP R0 "\r\n" R1 "\r\n" R2 "\r\n"
      BOOT("90012345", "v2.14.0") "NOTICE:  Resuming interrupted test session\r\n"
      EXEC_DEEP DEEP "1\t0\t249100\t23400\t5840/>\r\n" R1 "\r\n" R2 "\r\n" R3 "\r\n" R4 "\r\n"
      R5 "\r\n" DONE("Passed");
  check(&(expected){text, 0,
                    "0 susp_deep_parallel 1,0 @8 104500 23400 5840\n"
                    "0 susp_deep_parallel 1,1 @9 396120 18900 4660\n"
                    "0 susp_deep_parallel 1,2 @10 540660 293920 4520\n"
                    "1 susp_deep_parallel 1,0 @18 249100 23400 5840\n"
                    "1 susp_deep_parallel 1,1 @19 396120 18900 4660\n"
                    "1 susp_deep_parallel 1,2 @20 540660 293920 4520\n"
                    "1 susp_deep_parallel 1,3 @21 986780 237680 90840\n"
                    "1 susp_deep_parallel 0,0 @22 686680 270720 168700\n"
                    "1 susp_deep_parallel 0,1 @23 249100 27400 7480\n",
                    "susp_deep_parallel|-|3|6|yes|label\n"
                    "susp_deep_parallel|Passed|6|6|no|label\n",
                    NULL, NULL});
  test_log log;
  ck_assert_int_eq(test_read(NULL, text, strlen(text), 0, NULL, &log), TG_OK);
  char *boots = rows_of(tg_result_get(log.result, "boots"), names);
  ck_assert_ptr_nonnull(strstr(boots, "1|PMF tid 0|v2.14"));
  free(boots);
  test_log_free(&log);
}
END_TEST

START_TEST(prefixes) { /* section 7, 09 */
  static const char *const before[] = {
      "[2026-05-18 09:31:02.104] ", "2026-05-18T09:31:02 ", "[    3.141593] ",
      "09:31:02.104233  ",          "[cpu 0x0100] ",        "> > ",
      "|uart1| ",                   "May 18 09:31:02 ",
  };
  static const char *const rows[] = {R0, R1, R2, R3, R4, R5};
  for (size_t i = 0; i < sizeof before / sizeof before[0]; i++) {
    test_text t = {0};
    put(&t, "%s%s", before[i], EXEC_DEEP);
    for (size_t k = 0; k < 6; k++) put(&t, "%s%s\r\n", before[i], rows[k]);
    check(&(expected){t.p, 0, SIX, NULL, "", NULL});
    free(t.p);
  }
}
END_TEST

START_TEST(lava_raw) {
#define LAVA(lvl, msg) \
  "- {\"dt\": \"2026-05-18T09:31:02.104233\", \"lvl\": \"" lvl "\", " msg "}\n"
  const char *text =
      LAVA("target", "\"msg\": \"<RT_INSTR:test_rt_instr_susp_deep_parallel\\t1\\t0\\t104500"
                     "\\t23400\\t5840/>\"")
      LAVA("feedback", "\"ns\": \"terminal_1\", \"msg\": "
                       "\"<RT_INSTR:test_rt_instr_susp_deep_parallel\\t1\\t0\\t540660\\t293920"
                       "\\t4520/>\"")
      LAVA("info", "\"msg\": \"<RT_INSTR:test_rt_instr_susp_deep_parallel\\t1\\t1\\t1\\t1\\t1/>\"")
      LAVA("target", "\"msg\": \"<RT_INSTR:test_rt_instr_susp_deep_parallel\\t1\\t1\\t396120"
                     "\\t18900\\t4660/>\"");
  static const char *const names[] = {"test", "labels", "cluster", "core", "metric", NULL};
  test_log log;
  ck_assert_int_eq(test_read(NULL, text, strlen(text), 0, NULL, &log), TG_OK);
  char *keys = rows_of(tg_result_get(log.result, "keys"), names);
  ck_assert_ptr_nonnull(strstr(keys, "susp_deep_parallel|-|1|0|powerdown\n"));
  ck_assert_ptr_nonnull(strstr(keys, "susp_deep_parallel|channel=terminal_1|1|0|powerdown\n"));
  free(keys);
  expect_text(rows_of(tg_result_get(log.result, "tests"), test_names),
              "susp_deep_parallel|-|2|2|no|label\nsusp_deep_parallel|-|1|2|yes|label\n", "tests");
  test_log_free(&log);
}
END_TEST

#define OLD "NOTICE:  v1.4(juno,release):05d6c57\r\n"

START_TEST(old_records) { /* section 7, 10 */
  check(&(expected){
      OLD "NOTICE:  Starting unittest 'Runtime Instrumentation - Suspend to deepest power level on "
      "all cores in sequence'\r\n"
      "\x1b[1;31;40m[cpu 0x0100] <RT_INSTR:test_rt_instr_susp_serial\t0\t100480\t18260\t4500/>"
      "\x1b[0m\r\n"
      "[1;36;40m[cpu 0x0000] <RT_INSTR:test_rt_instr_susp_serial\t4\t26\x1b[0m" "7300\t27660\t"
      "168320/>[0m\r\n"
      "NOTICE:  Unittest 'Runtime Instrumentation - Suspend to deepest power level on all cores in "
      "sequence' complete. Result: Passed\r\n"
      "NOTICE:  Starting unittest 'Runtime Instrumentation - CPU suspend on all cores in "
      "sequence'\r\n"
      "<RT_INSTR:test_rt_instr_susp_serial\t0\t96280\t15140\t4400/>\r\n"
      "<RT_INSTR:test_rt_instr_psci_version_parallel\t5\t1640/>\r\n",
      0,
      "0 susp_deep_serial 1,0 @3 100480 18260 4500\n"
      "0 susp_deep_serial 0,0 @4 267300 27660 168320\n"
      "0 cpu_susp_serial 1,0 @7 96280 15140 4400\n"
      "0 psci_version_parallel 0,1 @8 1640\n",
      "susp_deep_serial|Passed|2|6|yes|linear\ncpu_susp_serial|-|1|6|yes|linear\n"
      "psci_version_parallel|-|1|6|yes|linear\n",
      "", NULL});
}
END_TEST

START_TEST(two_cpus_with_one_label) { /* section 7, 11: four cpus, not two */
#define OFF "<RT_INSTR:test_rt_instr_cpu_off_serial\t"
  const char *text = EXEC_OFF OFF "0\t0\t1660\t9320\t300/>\r\n" OFF "1\t0\t13660\t15980\t180/>\r\n"
      OFF "0\t0\t13940\t16720\t140/>\r\n" OFF "1\t0\t14220\t17080\t140/>\r\n" DONE("Passed");
  check(
      &(expected){text, 0,
                  "0 cpu_off_serial 0,0 @2 1660 9320 300\n0 cpu_off_serial 0,1 @3 13660 15980 180\n"
                  "0 cpu_off_serial 1,0 @4 13940 16720 140\n"
                  "0 cpu_off_serial 1,1 @5 14220 17080 140\n",
                  "cpu_off_serial|Passed|4|4|no|map\n", "", "n1sdp"});
  check(&(expected){
      text, 0,
      "0 cpu_off_serial #0 @2 1660 9320 300\n0 cpu_off_serial #1 @3 13660 15980 180\n"
      "0 cpu_off_serial #2 @4 13940 16720 140\n0 cpu_off_serial #3 @5 14220 17080 140\n",
      "cpu_off_serial|Passed|4|4|no|ordinal\n", "1 tftf cpu-unknown\n", NULL});
}
END_TEST

START_TEST(cpus_of_incomplete_n1sdp_blocks) {
  /* a dump that stops is the beginning of a whole one */
  check(&(expected){
      EXEC_OFF OFF "0\t0\t1660\t9320\t300/>\n" OFF "1\t0\t13660\t15980\t180/>\n", 0,
      "0 cpu_off_serial 0,0 @2 1660 9320 300\n0 cpu_off_serial 0,1 @3 13660 15980 180\n",
      "cpu_off_serial|-|2|4|yes|map\n", "", "n1sdp"});
  /* the second record is torn: what is left fits in one way */
  check(
      &(expected){EXEC_OFF OFF "0\t0\t1660\t9320\t300/>\n" OFF "1\t0\t136\n" OFF
                               "0\t0\t13940\t16720\t140/>\n" OFF "1\t0\t14220\t17080\t140/>\n",
                  0,
                  "0 cpu_off_serial 0,0 @2 1660 9320 300\n0 cpu_off_serial 1,0 @4 13940 16720 140\n"
                  "0 cpu_off_serial 1,1 @5 14220 17080 140\n",
                  "cpu_off_serial|-|3|4|yes|map\n", "3 tftf.times cut\n", "n1sdp"});
  /* two of the middle are torn: 0,0 and 1,0 could be several cpus */
  check(&(expected){
      EXEC_OFF OFF "0\t0\t1660\t9320\t300/>\n" OFF "1\t0\t136\n" OFF "0\t0\t13\n" OFF
                   "1\t0\t14220\t17080\t140/>\n",
      0, "0 cpu_off_serial #0 @2 1660 9320 300\n0 cpu_off_serial #1 @5 14220 17080 140\n",
      "cpu_off_serial|-|2|4|yes|ordinal\n",
      "3 tftf.times cut\n4 tftf.times cut\n1 tftf cpu-unknown\n", "n1sdp"});
  /* after b54b524f the ids are true */
  check(&(expected){
      OFF "0\t0\t1660\t9320\t300/>\n" OFF "0\t1\t13660\t15980\t180/>\n" OFF
          "1\t0\t13940\t16720\t140/>\n" OFF "1\t1\t14220\t17080\t140/>\n",
      0,
      "0 cpu_off_serial 0,0 @1 1660 9320 300\n0 cpu_off_serial 0,1 @2 13660 15980 180\n"
      "0 cpu_off_serial 1,0 @3 13940 16720 140\n0 cpu_off_serial 1,1 @4 14220 17080 140\n",
      "cpu_off_serial|-|4|4|no|label\n", "", "n1sdp"});
}
END_TEST

START_TEST(blocks_without_markers) {
  /* a cpu that comes again begins a block; so does another test */
  check(&(expected){R0 "\n" R1 "\n" R0 "\n" R1 "\n" VERSION "1\t0\t680/>\n", 0, NULL,
                    "susp_deep_parallel|-|2|2|no|label\nsusp_deep_parallel|-|2|2|no|label\n"
                    "psci_version_parallel|-|1|2|yes|label\n",
                    "", NULL});
  /* a marker that was lost: the name in the records tells */
  check(&(expected){
      EXEC_DEEP R0 "\n" R1 "\n" VERSION "1\t0\t680/>\n" DONE("Passed"), 0, NULL,
      "susp_deep_parallel|-|2|2|no|label\npsci_version_parallel|Passed|1|2|yes|label\n", "", NULL});
  /* a whole N1SDP block twice */
  check(&(expected){
      OFF "0\t0\t20\t20\t20/>\n" OFF "1\t0\t20\t20\t20/>\n" OFF "0\t0\t20\t20\t20/>\n" OFF
          "1\t0\t20\t20\t20/>\n" OFF "0\t0\t20\t20\t20/>\n" OFF "1\t0\t20\t20\t20/>\n",
      0, NULL, "cpu_off_serial|-|4|4|no|map\ncpu_off_serial|-|2|4|yes|map\n", "", "n1sdp"});
}
END_TEST

START_TEST(cut_start_and_tabs_as_blanks) {
  check(&(expected){"rallel\t1\t0\t104500\t23400\t5840/>\r\n" R1 "\r\n"
                    "<RT_INSTR:test_rt_instr_susp_deep_parallel     1       2       540660  293920"
                    "  4520/>\r\n",
                    0,
                    "0 susp_deep_parallel 1,1 @2 396120 18900 4660\n"
                    "0 susp_deep_parallel 1,2 @3 540660 293920 4520\n",
                    NULL, "", NULL});
}
END_TEST

START_TEST(a_record_at_the_very_end) {
  check(&(expected){R0, 0, "0 susp_deep_parallel 1,0 @1 104500 23400 5840\n", NULL, "", NULL});
}
END_TEST

START_TEST(megabytes_of_nul) {
  size_t n = 3u << 20;
  char *text = calloc(1, n + 256);
  ck_assert_ptr_nonnull(text);
  size_t at = (size_t)sprintf(text, "%s\r\n", R0);
  memset(text + at, 0, n);
  at += n;
  at += (size_t)sprintf(text + at, "\r\n%s\r\n", R1);
  test_log log;
  ck_assert_int_eq(test_read(NULL, text, at, 65536, NULL, &log), TG_OK);
  expect_text(readings_of(log.result),
              "0 susp_deep_parallel 1,0 @1 104500 23400 5840\n"
              "0 susp_deep_parallel 1,1 @3 396120 18900 4660\n",
              "readings");
  expect_ledger(&log);
  test_log_free(&log);
  free(text);
}
END_TEST

/* "value unit clock_hz origin" of each reading's key. */
static char *units_of(const tg_result *r) {
  static const char *const names[] = {"unit", "clock_hz", "origin", NULL};
  test_text out = {0};
  const tg_table *t = tg_result_get(r, "readings");
  char *keys = rows_of(tg_result_get(r, "keys"), names);
  put(&out, "%s", "");
  for (size_t row = 0; t != NULL && row < tg_table_rows(t); row++) {
    put_cell(&out, t, row, "value");
    put(&out, " ");
  }
  put(&out, "%.*s\n", (int)strcspn(keys, "\n"), keys);
  free(keys);
  return out.p;
}

START_TEST(ns_back_to_ticks) {
  static const struct {
    const char *text, *platform, *want;
    uint64_t hz;
  } cases[] = {
      /* 24 MHz: 41, 83, 125 ns are 1, 2, 3 ticks */
      {DEEP "0\t0\t41\t83\t125/>\n", NULL, "1 2 3 tick|24000000|option\n", 24000000},
      {R0 "\n", "juno", "5225 1170 292 tick|50000000|platform\n", 0},
      {R0 "\n", NULL, "104500 23400 5840 ns|-|-\n", 0},
      {"NOTICE:  v2.14(qemu_virt,release):v2.15\n" DEEP "0\t0\t16\t32\t00/>\n", NULL,
       "1 2 0 tick|62500000|platform\n", 0},
      /* one torn number off the grid is no reading */
      {R0 "\n" DEEP "1\t1\t396121\t18900\t4660/>\n", "juno",
       "5225 1170 292 945 233 tick|50000000|platform\n", 0},
      /* most off the grid: the clock is not this board's */
      {DEEP "1\t1\t41\t83\t125/>\n", "juno", "41 83 125 ns|-|-\n", 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const tg_reduce_options o = {.platform = cases[i].platform, .clock_hz = cases[i].hz};
    test_log log;
    ck_assert_int_eq(test_read(NULL, cases[i].text, strlen(cases[i].text), 0, &o, &log), TG_OK);
    expect_text(units_of(log.result), cases[i].want, cases[i].text);
    char *problems = problems_of(&log);
    ck_assert_int_eq(strstr(problems, "off-grid") != NULL, i >= 4);
    free(problems);
    test_log_free(&log);
  }
}
END_TEST

START_TEST(exchange_classes) {
  static const char *const names[] = {"test", "metric", "exchange", NULL};
  const char *text = R0 "\n" OFF "0\t0\t20\t40\t60/>\n" VERSION "0\t0\t20/>\n";
  test_log log;
  ck_assert_int_eq(test_read(NULL, text, strlen(text), 0, NULL, &log), TG_OK);
  expect_text(rows_of(tg_result_get(log.result, "keys"), names),
              "susp_deep_parallel|powerdown|all\nsusp_deep_parallel|wakeup|cluster\n"
              "susp_deep_parallel|cache_flush|cluster\ncpu_off_serial|powerdown|none\n"
              "cpu_off_serial|wakeup|none\ncpu_off_serial|cache_flush|none\n"
              "psci_version_parallel|latency|cluster\n",
              "keys");
  test_log_free(&log);
}
END_TEST

START_TEST(identities) {
  const tg_platform *n1 = tg_topology_find(test_boards(), (tg_str){(const uint8_t *)"N1sdp", 5});
  const tg_platform *virt = tg_topology_find(test_boards(), (tg_str){(const uint8_t *)"VIRT", 4});
  ck_assert_ptr_nonnull(n1);
  ck_assert_ptr_nonnull(virt);
  ck_assert_ptr_null(tg_topology_find(test_boards(), (tg_str){(const uint8_t *)"n1", 2}));
  ck_assert_ptr_null(tg_topology_find(NULL, (tg_str){(const uint8_t *)"juno", 4}));
  tg_place labels[4] = {{0, 7}, {0, 1}, {0, 2}, {0, 3}};
  tg_place cpus[4];
  ck_assert_int_eq(tg_topology_identify(n1, labels, 0, false, true, cpus), TG_IDENTITY_LABEL);
  ck_assert_int_eq(tg_topology_identify(NULL, labels, 4, true, true, cpus), TG_IDENTITY_ORDINAL);
  const tg_platform *juno = test_boards()->platforms;
  ck_assert_int_eq(tg_topology_identify(juno, labels, 1, true, true, cpus), TG_IDENTITY_ORDINAL);
  labels[0].core = 0;
  ck_assert_int_eq(tg_topology_identify(juno, labels, 4, true, true, cpus), TG_IDENTITY_LINEAR);
  ck_assert(cpus[0].cluster == 1 && cpus[0].core == 0 && cpus[3].core == 3);
  labels[1].core = 0;
  ck_assert_int_eq(tg_topology_identify(juno, labels, 4, true, true, cpus), TG_IDENTITY_ORDINAL);
}
END_TEST

static test_log whole; /* read once: only the reduction is run again and again */

static tg_status reduce_again(const tg_alloc *a) {
  const tg_records *const sources[] = {whole.records};
  const tg_reduce_options o = {.topology = test_boards()};
  const tg_reduce_in in = {.sources = sources, .n_sources = 1, .options = &o};
  tg_result *result = NULL;
  tg_status st = tg_reduce(a, &in, &result, NULL);
  tg_result_free(result);
  return st;
}

START_TEST(every_allocation_of_the_reducers_may_fail) {
  static const char text[] = BOOT("1", "v2.15.0") EXEC_DEEP R0 "\r\n" R1 "\r\n" R0 "\r\n"
      "ERROR:   x\r\n" DONE("Failed") EXEC_OFF OFF "0\t0\t1\t2\t3/>\r\n"
      "NOTICE:  Raw results:\r\nNOTICE:  6391 cycles\t102256 ns\r\n"
      "Average number of cycles: 7\r\nPMF:cpu 0\ttid 1\tts 9\r\nPMF:cpu 0\ttid 77\tts 9\r\n";
  ck_assert_int_eq(test_read(NULL, text, sizeof text - 1, 0, NULL, &whole), TG_OK);
  fail_every_allocation(reduce_again);
  test_log_free(&whole);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("tftf");
  TCase *tc = tcase_create("tftf");
  tcase_set_timeout(tc, 60);
  tcase_add_test(tc, one_block_with_markers);
  tcase_add_test(tc, line_ends);
  tcase_add_test(tc, carriage_returns_alone);
  tcase_add_test(tc, garbled_bytes);
  tcase_add_test(tc, interleaved_writers);
  tcase_add_test(tc, truncated_records);
  tcase_add_test(tc, a_record_without_a_field_is_no_other_shape);
  tcase_add_test(tc, out_of_range_stops_a_dump);
  tcase_add_test(tc, numbers);
  tcase_add_test(tc, errors_skips_and_crashes);
  tcase_add_test(tc, boots_stay_apart);
  tcase_add_test(tc, prefixes);
  tcase_add_test(tc, lava_raw);
  tcase_add_test(tc, old_records);
  tcase_add_test(tc, two_cpus_with_one_label);
  tcase_add_test(tc, cpus_of_incomplete_n1sdp_blocks);
  tcase_add_test(tc, blocks_without_markers);
  tcase_add_test(tc, cut_start_and_tabs_as_blanks);
  tcase_add_test(tc, a_record_at_the_very_end);
  tcase_add_test(tc, megabytes_of_nul);
  tcase_add_test(tc, ns_back_to_ticks);
  tcase_add_test(tc, exchange_classes);
  tcase_add_test(tc, identities);
  tcase_add_test(tc, every_allocation_of_the_reducers_may_fail);
  suite_add_tcase(suite, tc);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_NORMAL);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* check_boots.c - where one boot ends and the next begins, and the registry of formats.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <check.h>
#include <stdlib.h>

#include "support/fail_alloc.h"
#include "support/reduce_text.h"

#define BL1 "NOTICE:  Booting Trusted Firmware\nNOTICE:  BL1: v2.12.0(debug):v2.12.0-3-gabc\n"
#define BL1_BUILT "NOTICE:  BL1: Built : 12:11:05, Nov 30 2026\r\n"
#define BL2 "NOTICE:  BL1: Booting BL2\nNOTICE:  BL2: v2.12.0(debug):v2.12.0-3-gabc\n"
#define BL31 "NOTICE:  BL1: Booting BL31\nNOTICE:  BL31: v2.12.0(debug):v2.12.0-3-gabc\n"
#define OPTEE "I/TC: OP-TEE version: 4.1.0 (gcc version 12) #1 aarch64\n"
#define UBOOT "U-Boot 2024.01 (Jan 08 2024 - 15:37:48 +0000)\n"
#define LINUX "[    0.000000] Booting Linux on physical CPU 0x0000000000 [0x411fd070]\n"
#define TFTF                                           \
  "NOTICE:  Booting trusted firmware test framework\n" \
  "NOTICE:  v2.14(juno,release):v2.15-rc0\n"
#define REE BL1 BL2 BL31 LINUX
#define CHAIN BL1 BL2 BL31 OPTEE UBOOT LINUX

static const char *boots_of(const char *text, const char *columns) {
  static out_text out;
  tg_result *r = reduced(text, NULL);
  rows_of(r, "boots", columns, &out);
  tg_result_free(r);
  return out.p;
}

START_TEST(a_chain_is_one_boot) {
  ck_assert_str_eq(boots_of(CHAIN, "source boot first_line reason chain version build"),
                   "0 0 1 first banner BL1 BL2 BL31 OP-TEE U-Boot Linux v2.12.0-3-gabc debug\n");
  ck_assert_str_eq(boots_of(BL1 BL1_BUILT BL2 BL31 TFTF, "chain platform built"),
                   "BL1 BL2 BL31 TFTF juno 12:11:05, Nov 30 2026\n");
  ck_assert_str_eq(boots_of(BL31 UBOOT, "reason chain"), "first banner BL31 U-Boot\n");
  /* A second SPL belongs to the boot whose first one started BL31. */
  ck_assert_str_eq(
      boots_of("U-Boot SPL 2024.01 (x)\n" BL31 OPTEE "U-Boot SPL 2024.01 (y)\n" UBOOT, "chain"),
      "SPL BL31 OP-TEE SPL U-Boot\n");
}
END_TEST

START_TEST(a_banner_that_goes_back_starts_a_boot) {
  ck_assert_str_eq(boots_of(CHAIN CHAIN BL1, "boot first_line reason"),
                   "0 1 first banner\n1 10 the BL1 banner again\n2 19 the BL1 banner again\n");
  ck_assert_str_eq(boots_of(LINUX LINUX, "reason"), "first banner\nthe Linux banner again\n");
  ck_assert_str_eq(boots_of(BL31 UBOOT UBOOT BL31, "chain"), "BL31 U-Boot\nU-Boot\nBL31\n");
  /* Words of banners in other lines mean nothing. */
  ck_assert_str_eq(boots_of(CHAIN "INFO:    BL1: RAM 0xe0ee000\nBooting the rest\nOP-TEE here\n"
                                  "NOTICE:  hello\nU-Boot is fine\n",
                            "boot"),
                   "0\n");
}
END_TEST

#define P(tid, ts) "PMF:cpu 0\ttid " #tid "\tts " #ts "\r\n"
#define DUMP P(0, 100) P(1, 110) P(2, 120) P(3, 130) P(4, 140) P(5, 150)

START_TEST(a_dump_of_pmf_stamps_behind_linux_belongs_to_its_boot) {
  ck_assert_str_eq(boots_of(REE DUMP, "boot chain"), "0 BL1 BL2 BL31 Linux\n");
  ck_assert_str_eq(boots_of(REE DUMP REE DUMP, "boot reason"),
                   "0 first banner\n1 the BL1 banner again\n");
  /* A BL1 that prints no banner dumps its stamps before BL2 announces itself: the next boot. */
  ck_assert_str_eq(boots_of(BL2 BL31 LINUX P(0, 100) P(1, 110) BL2 P(2, 120) BL31, "boot reason"),
                   "0 first banner\n1 PMF tid 0\n");
  /* A second dump of one boot is the next one's. */
  ck_assert_str_eq(boots_of(REE DUMP DUMP, "boot reason"), "0 first banner\n1 PMF tid 0\n");
}
END_TEST

#define DO(t) "TEEDriver: do smc call, cmd=1, cntvct=0x" t "\n"
#define FIN(t) "TEEDriver: finish smc call, cmd=1, cntvct=0x" t "\n"
#define FREQ(f) "CounterTimerFrequency: 0x" f "\n"
#define RUN(d, f, s, e, r) \
  DO(d) FIN(f) "ClientInvokeCommand: start=0x" s ", enter_ta=0x" e ", return=0x" r "\n"

START_TEST(stamps_that_go_back_start_a_boot) {
  /* 62.5 MHz: from 0x40000000 back to 0x20000000 is 8.6 s. */
  ck_assert_str_eq(boots_of(FREQ("3b9aca0") DO("30000000") FIN("30001000") DO("40000000")
                                FIN("40001000") DO("20000000") FIN("20001000") DO("20002000"),
                            "first_line reason"),
                   "1 first record\n6 stamps go back from 0x40001000 to 0x20000000\n");
  /* Back by 16 ms: two processors printed in the other order. */
  ck_assert_str_eq(boots_of(FREQ("3b9aca0") DO("40000000") FIN("40100000") DO("40200000")
                                DO("40100001") FIN("40300000") FIN("40300001"),
                            "boot"),
                   "0\n");
  /* One torn number is no reset. */
  ck_assert_str_eq(boots_of(FREQ("3b9aca0") DO("40000000") FIN("40001000") DO("4002")
                                FIN("40003000") DO("40004000") FIN("40005000"),
                            "boot"),
                   "0\n");
  /* The same run once more: the counter is where it was before all stamps of the first. */
  ck_assert_str_eq(boots_of(DO("1010") FIN("1090") DO("2010") FIN("2090") DO("1008") FIN("108f")
                                DO("2011") FIN("2090"),
                            "boot"),
                   "0\n1\n");
}
END_TEST

START_TEST(a_changed_frequency_starts_a_boot_and_an_equal_one_a_run) {
  const char *again = FREQ("3b9aca0") RUN("1010", "1090", "1000", "1040", "10a0") FREQ("3b9aca0")
      RUN("2010", "2090", "2000", "2040", "20a0");
  const char *other = FREQ("3b9aca0") RUN("1010", "1090", "1000", "1040", "10a0") FREQ("5f5e100")
      RUN("2010", "2090", "2000", "2040", "20a0");
  ck_assert_str_eq(boots_of(again, "clock_hz"), "62500000\n");
  ck_assert_str_eq(boots_of(other, "clock_hz reason"),
                   "62500000 first record\n100000000 frequency 100000000 Hz after 62500000 Hz\n");
  tg_result *r = reduced(again, NULL);
  static out_text out;
  ck_assert_str_eq(rows_of(r, "calls", "boot run complete driver_finish", &out),
                   "0 0 no 4240\n0 1 no 8336\n");
  tg_result_free(r);
  /* A client prints its frequency behind its driver's lines: they belong to its run. */
  ck_assert_str_eq(
      boots_of(FREQ("3b9aca0") RUN("1010", "1090", "1000", "1040", "10a0") DO("2010") FIN("2090")
                   FREQ("5f5e100") "ClientInvokeCommand: start=0x2000, enter_ta=0x2040, "
                                   "return=0x20a0\n",
               "first_line clock_hz"),
      "1 62500000\n5 100000000\n");
}
END_TEST

#define REC(t) "M/TC: TEECore: receiving smc call, cmd=1, cntvct=0x" t "\n"
#define CFIN(t) "M/TC: TEECore: finish smc call, cmd=1, cntvct=0x" t "\n"

START_TEST(two_consoles_one_after_the_other_share_their_boots) {
  static const char ree[] = REE DO("1010") FIN("1090") REE DO("1011") FIN("1091");
  static const char tee[] = OPTEE REC("1020") CFIN("1080") OPTEE REC("1021") CFIN("1081");

  static char text[2048];
  static out_text out;

  for (int order = 0; order < 2; order++) {
    snprintf(text, sizeof text, "%s%s", order == 0 ? ree : tee, order == 0 ? tee : ree);
    tg_result *r = reduced(text, NULL);
    ck_assert_str_eq(rows_of(r, "boots", "boot", &out), "0\n1\n");
    ck_assert_str_eq(rows_of(r, "calls", "boot driver_start tee_receive", &out),
                     "0 4112 4128\n1 4113 4129\n");
    tg_result_free(r);
  }
  const char *const texts[] = {tee, ree, NULL};
  tg_result *r = NULL;
  ck_assert_int_eq(reduce_texts(NULL, texts, NULL, &r), TG_OK);
  ck_assert_str_eq(rows_of(r, "boots", "source boot", &out), "1 0\n1 1\n");
  ck_assert_str_eq(rows_of(r, "calls", "boot driver_start tee_receive", &out),
                   "0 4112 4128\n1 4113 4129\n");
  tg_result_free(r);
}
END_TEST

START_TEST(consoles_of_different_boots_are_left_apart) {
  static const char ree[] = FREQ("3b9aca0") DO("10000010") FIN("10000090") DO("10000110")
      FIN("10000190") DO("10000310") FIN("10000390");
  static const char tee[] = REC("20000020") CFIN("20000f80") REC("20001120") CFIN("20002080")
      REC("20003120") CFIN("20003180");
  const char *const texts[] = {ree, tee, NULL};
  static out_text out;
  tg_result *r = NULL;
  ck_assert_int_eq(reduce_texts(NULL, texts, NULL, &r), TG_OK);
  ck_assert_str_eq(rows_of(r, "boots", "source boot", &out), "0 0\n1 0\n");
  ck_assert_str_eq(rows_of(r, "problems", "source reason", &out), "1 boots-apart\n");
  tg_result_free(r);
}
END_TEST

START_TEST(a_banner_without_a_build_type_is_a_boot_of_unknown_build) {
  static out_text rows;
  tg_result *r = reduced(
      "NOTICE:  Booting Trusted Firmware\nNOTICE:  BL1: v2.3():v2.3\n"
      "NOTICE:  BL1: Built : 13:28:04, Jan 25 2021\nNOTICE:  BL2: v2.3():v2.3\n"
      "NOTICE:  BL31: v2.3():v2.3\n",
      NULL);
  ck_assert_str_eq(rows_of(r, "boots", "chain version build built", &rows),
                   "BL1 BL2 BL31 v2.3 unknown 13:28:04, Jan 25 2021\n");
  tg_result_free(r);
  r = reduced("NOTICE:  BL31: v2.4(release Vendor-7):v2.4-vendor\n", NULL);
  ck_assert_str_eq(rows_of(r, "boots", "chain version build", &rows),
                   "BL31 v2.4-vendor release Vendor-7\n");
  tg_result_free(r);
}
END_TEST

START_TEST(several_sources_must_be_consoles_of_the_same_boots) {
  tg_ruleset *rules = NULL;
  tg_records *records = NULL;
  tg_result *r = NULL;
  tg_error err;
  ck_assert_int_eq(tg_formats_ruleset(NULL, NULL, 0, &rules, NULL), TG_OK);
  ck_assert_int_eq(read_text(NULL, rules, "x\n", 2, &records), TG_OK);
  const tg_records *const sources[] = {records, records};
  const tg_reduce_in in = {.sources = sources, .n_sources = 2};
  ck_assert_int_eq(tg_reduce(NULL, &in, &r, &err), TG_EINVAL);
  ck_assert_ptr_nonnull(strstr(err.message, "not consoles of the same boots"));
  ck_assert_ptr_null(r);
  const tg_reduce_in none = {.sources = NULL, .n_sources = 0};
  ck_assert_int_eq(tg_reduce(NULL, &none, &r, NULL), TG_OK);
  ck_assert_uint_eq(tg_table_rows(tg_result_get(r, "boots")), 0);
  tg_result_free(r);
  tg_records_free(records);
  tg_ruleset_free(rules);
}
END_TEST

/* --- rules without a reducer ----------------------------------------------------------------- */

static const tg_rule_def user_rules[] = {
    {.name = "fft.run",
     .pattern = "fft {n:uint} {mode:word} points: {m:uint}m{s:dec}s on {cpu:uint}",
     .values = "time=60*m+s",
     .unit = "s",
     .exponents = "s=-3"},
    {.name = "note",
     .pattern = "took {t:uint} {u:word} in {where:quoted}",
     .values = "t=t",
     .unit = "{u}",
     .better = TG_BETTER_HIGHER},
};

START_TEST(plain_rules_give_readings_with_labels) {
  static const char text[] =
      "fft 1024 fast points: 2m1.5s on 3\nfft 64 slow points: 0m0.25s on 1\n"
      "took 18 us in \"a b\"\nfft 1024 fast points: 307445734561825861m0s on 3\n";
  tg_ruleset *rules = NULL;
  tg_records *records = NULL;
  tg_result *r = NULL;
  static out_text out;
  ck_assert_int_eq(tg_formats_ruleset(NULL, user_rules, 2, &rules, NULL), TG_OK);
  ck_assert_int_eq(read_text(NULL, rules, text, sizeof text - 1, &records), TG_OK);
  const tg_records *const sources[] = {records};
  const tg_reduce_in in = {.sources = sources, .n_sources = 1};
  ck_assert_int_eq(tg_reduce(NULL, &in, &r, NULL), TG_OK);
  ck_assert_str_eq(rows_of(r, "keys", "format operation metric labels cpu unit exp10 better", &out),
                   "fft run time mode=fast n=1024 3 s -3 lower\n"
                   "fft run time mode=slow n=64 1 s -3 lower\n"
                   "note - t where=\"a b\" - us 0 higher\n");
  ck_assert_str_eq(rows_of(r, "readings", "key value line boot", &out),
                   "0 121500 1 0\n1 250 2 0\n2 18 3 0\n");
  ck_assert_str_eq(rows_of(r, "problems", "line rule reason", &out), "4 fft.run overflow\n");
  tg_result_free(r);
  tg_records_free(records);
  tg_ruleset_free(rules);
}
END_TEST

START_TEST(every_format_has_a_name_and_its_rules_begin_with_it) {
  size_t n = 0;
  for (; tg_formats[n] != NULL; n++) {
    const tg_format *f = tg_formats[n];
    size_t len = strlen(f->name);
    ck_assert_uint_gt(len, 0);
    ck_assert_uint_gt(strlen(f->title), 0);
    for (size_t i = 0; i < f->n_rules; i++) {
      ck_assert_msg(strncmp(f->rules[i].name, f->name, len) == 0 && f->rules[i].name[len] == '.',
                    "%s in %s", f->rules[i].name, f->name);
    }
  }
  ck_assert_uint_ge(n, 2);
}
END_TEST

START_TEST(every_allocation_may_fail) {
  const char *const texts[] = {REE DO("1010") FIN("1090") REE DO("1011") FIN("1091"),
                               OPTEE REC("1020") CFIN("1080") OPTEE REC("1021") CFIN("1081"), NULL};
  fail_every_reduction(texts);
}
END_TEST

static tg_status all_rules(const tg_alloc *a) {
  tg_ruleset *rules = NULL;
  tg_status st = tg_formats_ruleset(a, user_rules, 1, &rules, NULL);
  tg_ruleset_free(rules);
  return st;
}

/* Thousands of requests of a few places: check_plain fails each of them for one rule of each
 * kind. */
START_TEST(allocations_of_the_rule_set_may_fail) { fail_allocations(all_rules, 23); }
END_TEST

START_TEST(each_kernel_names_its_version_once) {
  /* A PC prints no "Booting Linux on physical CPU"; /proc/version has no stamp. */
  static const char pc[] =
      "[    0.000000] Linux version 6.1.0 (a@b) (gcc 12)\n"
      "[    1.000000] Run /sbin/init as init process\n"
      "Linux version 6.1.0 (a@b) (gcc 12)\n"
      "[    0.000000] Linux version 6.1.0 (a@b) (gcc 12)\n"
      "[    1.100000] Run /sbin/init as init process\n";
  static const char arm[] =
      "[    0.000000] Booting Linux on physical CPU 0x0\n"
      "[    0.000000] Linux version 6.1.0 (a@b) (gcc 12)\n"
      "[    0.000000] Booting Linux on physical CPU 0x0\n"
      "[    0.000000] Linux version 6.1.0 (a@b) (gcc 12)\n";
  static const char other_way[] =
      "[    0.000000] Linux version 6.1.0 (a@b) (gcc 12)\n"
      "[    0.000000] Booting Linux on physical CPU 0x0\n";
  static out_text text;
  tg_result *r = reduced(pc, NULL);
  ck_assert_str_eq(rows_of(r, "boots", "first_line reason chain", &text),
                   "1 first record Linux\n4 the kernel's version again Linux\n");
  ck_assert_str_eq(rows_of(r, "readings", "boot value", &text), "0 1000000\n1 1100000\n");
  tg_result_free(r);
  r = reduced(arm, NULL);
  ck_assert_str_eq(rows_of(r, "boots", "first_line reason chain", &text),
                   "1 first banner Linux\n3 the Linux banner again Linux\n");
  tg_result_free(r);
  r = reduced(other_way, NULL);
  ck_assert_str_eq(rows_of(r, "boots", "first_line reason chain", &text), "1 first record Linux\n");
  tg_result_free(r);
}
END_TEST

int main(void) {
  Suite *s = suite_create("boots");
  TCase *t = tcase_create("boots");
  tcase_set_timeout(t, 120);
  tcase_add_test(t, each_kernel_names_its_version_once);
  tcase_add_test(t, a_chain_is_one_boot);
  tcase_add_test(t, a_banner_that_goes_back_starts_a_boot);
  tcase_add_test(t, a_dump_of_pmf_stamps_behind_linux_belongs_to_its_boot);
  tcase_add_test(t, stamps_that_go_back_start_a_boot);
  tcase_add_test(t, a_changed_frequency_starts_a_boot_and_an_equal_one_a_run);
  tcase_add_test(t, two_consoles_one_after_the_other_share_their_boots);
  tcase_add_test(t, consoles_of_different_boots_are_left_apart);
  tcase_add_test(t, a_banner_without_a_build_type_is_a_boot_of_unknown_build);
  tcase_add_test(t, several_sources_must_be_consoles_of_the_same_boots);
  tcase_add_test(t, plain_rules_give_readings_with_labels);
  tcase_add_test(t, every_format_has_a_name_and_its_rules_begin_with_it);
  tcase_add_test(t, every_allocation_may_fail);
  tcase_add_test(t, allocations_of_the_rule_set_may_fail);
  suite_add_tcase(s, t);
  SRunner *r = srunner_create(s);
  srunner_run_all(r, CK_NORMAL);
  int failed = srunner_ntests_failed(r);
  srunner_free(r);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* check_console_axis.c - the clocks of a boot on one axis. Bounds worked out by
 * hand from the stamps of the lines. SPDX-License-Identifier: BSD-3-Clause */
#include "support/reduce_text.h"

static out_text out;

#define EXPECT(r, table, columns, rows) \
  ck_assert_str_eq(rows_of(r, table, columns, &out), rows)

/* BL31 runs from 1.0 to 1.2 s of the counter, U-Boot marks 1.3 and 1.5 s, the kernel prints 0.25
 * s. */
#define FIRMWARE                                                                  \
  "[11.010000 0.1] NOTICE:  BL31: v2.12(release):v2.12.0\n"                       \
  "[11.200000 0.1] PMF:cpu 0\ttid 4\tts 50000000\n"                               \
  "[11.201000 0.1] PMF:cpu 0\ttid 5\tts 60000000\n"                               \
  "[11.320000 0.1] U-Boot 2024.01 (Jan 08 2024 - 15:37:48 +0000)\n"               \
  "[11.900000 0.1] Starting kernel ...\n"                                         \
  "[11.905000 0.1] Timer summary in microseconds (3 records):\n"                  \
  "[11.905000 0.1]        Mark    Elapsed  Stage\n"                               \
  "[11.906000 0.1]   1,300,000  1,300,000  board_init_f\n"                        \
  "[11.907000 0.1]   1,500,000    200,000  board_init_r\n"                        \
  "[11.908000 0.1]   1,895,000    395,000  start_kernel\n"                        \
  "[11.909000 0.1] \n"
#define KERNEL(arrival)                                                           \
  "[12.100000 0.1] [    0.000000] Booting Linux on physical CPU 0x0\n"            \
  "[12.100000 0.1] [    0.000000] arch_timer: cp15 timer(s) running at 50.00MHz (phys).\n" \
  "[" arrival " 0.1] [    0.250000] Run /sbin/init as init process\n"             \
  "[13.000000 0.1] board login: \n"

START_TEST(the_clocks_lie_on_that_of_the_console) {
  tg_result *r = reduced(FIRMWARE KERNEL("12.300000"), NULL);
  EXPECT(r, "stages", "service stage start finish axis whole",
         "boot BL31 50000000 60000000 counter no\n"
         "bootstage board_init_f 0 1300000 U-Boot yes\n"
         "bootstage board_init_r 1300000 1500000 U-Boot no\n"
         "bootstage start_kernel 1500000 1895000 U-Boot no\n"
         "kernel kernel to init 0 250000000 kernel yes\n"
         "console BL31 11010000000 11320000000 console yes\n"
         "console U-Boot 11320000000 11900000000 console yes\n"
         "console to the kernel 11900000000 12100000000 console yes\n"
         "console Linux 12100000000 12300000000 console yes\n"
         "console user space 12300000000 13000000000 console yes\n");
  /* The stamps have a step of 1 ms, so that a line may have arrived 1 ms later. counter: 11.01
   * - 1.0 at most, 11.01 - 1.2 - 0.05 at least. U-Boot: the least of 11.32 - 1.3 and 11.905 - 1.895
   * at most, 11.32 - 1.5 - 0.05 at least. The kernel: 12.3 - 0.25, and not before U-Boot's
   * report, 11.905 - 0.05. */
  EXPECT(r, "clocks", "axis onto low high",
         "counter console 9760000000 10011000000\n"
         "U-Boot console 9770000000 10011000000\n"
         "kernel console 11855000000 12051000000\n");
  tg_result_free(r);
}
END_TEST

START_TEST(clocks_that_contradict_are_not_joined) {
  tg_result *r = reduced(FIRMWARE KERNEL("12.000000"), NULL); /* its zero would lie in U-Boot */
  EXPECT(r, "clocks", "axis low high how",
         "counter 9760000000 10011000000 TF-A's banners arrived while its stages ran\n"
         "U-Boot 9770000000 10011000000 U-Boot's banner and report arrived behind its marks\n"
         "kernel - - the arrival of its lines contradicts its stamps\n");
  tg_result_free(r);
}
END_TEST

START_TEST(without_stamps_of_arrival_there_is_no_console_axis) {
  tg_result *r = reduced("NOTICE:  BL31: v2.12(release):v2.12.0\n"
                         "[    0.000000] Booting Linux on physical CPU 0x0\n"
                         "[    0.250000] Run /sbin/init as init process\n", NULL);
  EXPECT(r, "stages", "service stage start finish", "kernel kernel to init 0 250000000\n");
  ck_assert_ptr_null(tg_result_get(r, "clocks"));
  tg_result_free(r);
}
END_TEST

START_TEST(systemd_counts_what_came_before_the_kernel) {
  tg_result *r = reduced(
      "Startup finished in 2s (firmware) + 500ms (loader) + 1.250s (kernel) + 4s (userspace) = "
      "7.750s\n"
      "The time when unit became active or started is printed after the \"@\" character.\n"
      "The time the unit took to start is printed after the \"+\" character.\n"
      "\n"
      "graphical.target @3.900s\n"
      "└─net.service @1.100s +700ms\n",
      NULL);
  EXPECT(r, "stages", "service stage start finish axis",
         "systemd firmware 0 2000000000 systemd\n"
         "systemd loader 2000000000 2500000000 systemd\n"
         "systemd kernel 2500000000 3750000000 systemd\n"
         "systemd userspace 3750000000 7750000000 systemd\n"
         "critical chain net.service 4850000000 5550000000 systemd\n");
  EXPECT(r, "clocks", "axis onto low high", "kernel systemd 2500000000 2500000000\n");
  tg_result_free(r);
}
END_TEST

START_TEST(stamps_printed_late_belong_to_their_boot) {
  /* TF-A's BL31 dumps the stamps of all stages behind its banner; two boots. */
#define BOOT                                             \
  "NOTICE:  BL1: v2.12(release):v2.12.0\n"               \
  "NOTICE:  BL2: v2.12(release):v2.12.0\n"               \
  "NOTICE:  BL31: v2.12(release):v2.12.0\n"              \
  "PMF:cpu 0\ttid 0\tts 100\nPMF:cpu 0\ttid 1\tts 200\n" \
  "PMF:cpu 0\ttid 4\tts 300\nPMF:cpu 0\ttid 5\tts 400\n"
  tg_result *r = reduced(BOOT BOOT, NULL);
  EXPECT(r, "boots", "boot first_line reason chain",
         "0 1 first banner BL1 BL2 BL31\n1 8 the BL1 banner again BL1 BL2 BL31\n");
  EXPECT(r, "stages", "boot stage start finish",
         "0 BL1 100 200\n0 BL31 300 400\n1 BL1 100 200\n1 BL31 300 400\n");
  tg_result_free(r);
#undef BOOT
}
END_TEST

/* A torn stamp may say any number: what no sum can hold is no bound. */
START_TEST(stamps_beyond_all_times_bound_nothing) {
  tg_result *r = reduced("[11.010000 0.1] NOTICE:  BL31: v2.12(release):v2.12.0\n"
                         "[11.200000 0.1] PMF:cpu 0\ttid 4\tts 50000000\n"
                         "[11.201000 0.1] PMF:cpu 0\ttid 5\tts 461168601842738790\n"
                         KERNEL("12.300000"), NULL);
  EXPECT(r, "clocks", "axis low high", "kernel 10960000000 12060000000\n"); /* a step of 10 ms */
  tg_result_free(r);
}
END_TEST

START_TEST(every_allocation_may_fail) {
  const char *const texts[] = {FIRMWARE KERNEL("12.300000"), NULL};
  fail_every_reduction(texts);
}
END_TEST

int main(void) {
  Suite *s = suite_create("console_axis");
  TCase *t = tcase_create("console_axis");
  tcase_set_timeout(t, 120);
  tcase_add_test(t, the_clocks_lie_on_that_of_the_console);
  tcase_add_test(t, clocks_that_contradict_are_not_joined);
  tcase_add_test(t, without_stamps_of_arrival_there_is_no_console_axis);
  tcase_add_test(t, systemd_counts_what_came_before_the_kernel);
  tcase_add_test(t, stamps_printed_late_belong_to_their_boot);
  tcase_add_test(t, stamps_beyond_all_times_bound_nothing);
  tcase_add_test(t, every_allocation_may_fail);
  suite_add_tcase(s, t);
  SRunner *runner = srunner_create(s);
  srunner_run_all(runner, CK_NORMAL);
  const int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? 0 : 1;
}

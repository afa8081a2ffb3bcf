/* check_kernel_pm.c - suspend and resume in the kernel's own lines. The lines are those of
 * drivers/base/power/main.c, kernel/power/suspend.c, process.c and hibernate.c; the times are
 * differences of the stamps, worked out by hand. SPDX-License-Identifier: BSD-3-Clause */
#include "support/reduce_text.h"

static out_text out;

#define EXPECT(r, table, columns, rows) \
  ck_assert_str_eq(rows_of(r, table, columns, &out), rows)

static const char deep[] =
    "[  100.000100] PM: suspend entry (deep)\n"
    "[  100.010000] Filesystems sync: 0.009 seconds\n"
    "[  100.011000] Freezing user space processes completed (elapsed 0.002 seconds)\n"
    "[  100.020000] i2c-tegra 7000c000.i2c: PM: calling platform_pm_suspend+0x0/0x5c @ 9, parent: "
    "x\n"
    "[  100.022240] i2c-tegra 7000c000.i2c: PM: platform_pm_suspend+0x0/0x5c returned 0 after 480 "
    "usecs\n"
    "[  100.030000]  usb1: PM: usb_dev_suspend+0x0/0x10 returned -16 after 7 usecs\n"
    "[  100.050000] PM: suspend of devices complete after 35.123 msecs\n"
    "[  100.080000] PM: noirq suspend of devices complete after 18.008 msecs\n"
    "[  100.081000] Timekeeping suspended for 2.345 seconds\n"
    "[  100.090000] PM: Triggering wakeup from IRQ 9\n"
    "[  100.100000] PM: noirq resume of devices complete after 9.722 msecs\n"
    "[  100.224010] Restarting tasks ... done.\n"
    "[  100.230000] PM: suspend exit\n";

START_TEST(a_cycle_has_its_phases_callbacks_and_times_by_stamp) {
  tg_result *r = reduced(deep, NULL);
  EXPECT(r, "keys", "metric operation labels unit exp10 better",
         "sync filesystems mode=deep s -3 lower\n"
         "freeze user mode=deep s -3 lower\n"
         "callback suspend device=7000c000.i2c driver=i2c-tegra mode=deep us 0 lower\n"
         "callback suspend device=usb1 mode=deep returned=error us 0 lower\n"
         "phase suspend mode=deep ms -3 lower\n"
         "phase noirq suspend mode=deep ms -3 lower\n"
         "asleep - mode=deep s -3 none\n"
         "phase noirq resume mode=deep ms -3 lower\n"
         "duration cycle mode=deep us 0 lower\n"
         "duration suspend mode=deep us 0 lower\n"
         "duration resume mode=deep us 0 lower\n");
  EXPECT(r, "readings", "value run line",
         "9 0 2\n2 0 3\n480 0 5\n7 0 6\n35123 0 7\n18008 0 8\n2345 0 9\n9722 0 11\n"
         "229900 0 13\n79900 0 13\n133732 0 13\n");
  EXPECT(r, "cycles", "run mode outcome wakeup entry duration suspend resume first_line last_line",
         "0 deep complete IRQ 9 100000100 229900 79900 133732 1 13\n");
  tg_result_free(r);
}
END_TEST

START_TEST(failed_attempts_stand_apart) {
  tg_result *r = reduced(
      "[1.000000] PM: suspend entry (s2idle)\n"
      "[1.010000] PM: suspend of devices aborted after 1.500 msecs\n"
      "[1.011000] PM: Some devices failed to suspend, or early wake event detected\n"
      "[1.020000] PM: resume of devices complete after 3.000 msecs\n"
      "[1.030000] PM: suspend exit\n"
      "[2.000000] PM: suspend entry (s2idle)\n"
      "[2.010000] PM: suspend of devices complete after 2.500 msecs\n"
      "[2.030000] PM: suspend exit\n"
      "[3.000000] PM: suspend entry (s2idle)\n"
      "[3.100000] Freezing user space processes failed after 20.004 seconds (1 tasks refusing)\n"
      "[3.110000] PM: suspend exit\n",
      NULL);
  EXPECT(r, "cycles", "run outcome", "0 failed\n1 complete\n2 failed\n");
  EXPECT(r, "keys", "metric operation labels",
         "phase suspend attempt=failed mode=s2idle\nphase resume attempt=failed mode=s2idle\n"
         "duration cycle attempt=failed mode=s2idle\nduration suspend attempt=failed mode=s2idle\n"
         "duration resume attempt=failed mode=s2idle\n"
         "phase suspend mode=s2idle\nduration cycle mode=s2idle\nduration suspend mode=s2idle\n");
  tg_result_free(r);
}
END_TEST

START_TEST(kernels_without_an_entry_line_begin_where_they_sync) {
  tg_result *r = reduced(
      "[   77.795628] PM: Syncing filesystems ... done.\n"
      "[   77.916713] PM: Preparing system for mem sleep\n"
      "[   77.919231] calling  7-0061+ @ 2475, parent: i2c-7\n"
      "[   77.919233] call 7-0061+ returned 0 after 1 usecs\n"
      "[   78.000000] PM: suspend of devices complete after 66.009 msecs\n"
      "[   78.100000] call 7-0061+ returned 0 after 2 usecs\n"
      "[   78.200000] PM: noirq resume of devices complete after 10.000 msecs\n"
      "[   78.300000] Restarting tasks ... \n"
      "[   90.000000] PM: Syncing filesystems ... done.\n"
      "[   91.000000] PM: freeze of devices complete after 5.000 msecs\n"
      "[   92.000000] Restarting tasks ... done.\n",
      NULL);
  EXPECT(r, "cycles", "run mode outcome duration suspend resume",
         "0 mem complete 504372 204372 110000\n1 disk complete 2000000 1000000 -\n");
  EXPECT(r, "readings", "value run line",
         "1 0 4\n66009 0 5\n2 0 6\n10000 0 7\n504372 0 8\n204372 0 8\n110000 0 8\n"
         "5000 1 10\n2000000 1 11\n1000000 1 11\n");
  tg_result_free(r);
}
END_TEST

START_TEST(hibernation_is_mode_disk) {
  tg_result *r = reduced(
      "[1.000000] PM: hibernation: hibernation entry\n"
      "[1.500000] PM: freeze of devices complete after 55.045 msecs\n"
      "[1.600000] PM: noirq freeze of devices complete after 0.715 msecs\n"
      "[2.000000] PM: noirq restore of devices complete after 15.454 msecs\n"
      "[2.500000] PM: hibernation: hibernation exit\n",
      NULL);
  EXPECT(r, "cycles", "mode outcome duration suspend resume",
         "disk complete 1500000 600000 515454\n");
  tg_result_free(r);
}
END_TEST

START_TEST(kernels_of_androids_name_the_time_of_day) {
  tg_result *r = reduced(
      "[ 5.000000] PM: suspend entry 2019-03-01 10:00:00.123456789 UTC\n"
      "[ 5.010000] PM: Preparing system for mem sleep\n"
      "[ 5.200000] PM: suspend exit 2019-03-01 10:05:00.123456789 UTC\n"
      "[ 6.000000] PM: suspend entry 2019-03-01 10:06:00.123456789 UTC\n"
      "[ 6.010000] Freezing of tasks aborted after 0.012 seconds\n"
      "[ 6.200000] PM: suspend exit 2019-03-01 10:06:01.123456789 UTC\n",
      NULL);
  EXPECT(r, "cycles", "mode outcome duration", "mem complete 200000\n- failed 200000\n");
  tg_result_free(r);
}
END_TEST

START_TEST(kernels_of_2025_name_modules_callers_and_sync_before_the_entry) {
  tg_result *r = reduced(
      "[ 1505.319800][T10732] Filesystems sync: 0.005 seconds\n"
      "[ 1505.326294][T10732] PM: PM: suspend entry 2025-07-10 01:19:52.487634359 UTC\n"
      "[ 1505.326300][T10732] PM: suspend entry (deep)\n"
      "[ 1505.360302][T10711] s51xx 0000:01:00.0: PM: pci_pm_suspend returned 0 after 4 usecs\n"
      "[ 1505.361376][  T436] st 1-0029: PM: st_suspend [st_core] returned 0 after 14 usecs\n"
      "[ 1505.361380][  T436] 1-0030: PM: st_suspend [st_core] returned -5 after 15 usecs\n"
      "[ 1505.370000] [pid:916,cpu7,sh]cdns 9160000.usb: PM: usb_suspend+0x0/0x70 returned 0 after "
      "9 usecs\n"
      "[ 1505.400000][T10732] PM: suspend of devices complete after 20.100 msecs\n"
      "[ 1506.000000][T10732] Resume caused by IRQ 98, chromeos-ec\n"
      "[ 1506.100000][T10732] PM: PM: suspend exit 2025-07-10 01:20:52.726781389 UTC\n"
      "[ 1506.100002][T10732] PM: suspend exit\n"
      "[ 1507.000000][T10732] PM: suspend entry (deep)\n"
      "[ 1507.500000][T10732] Abort: Pending Wakeup Sources: [timerfd]\n"
      "[ 1507.600000][T10732] PM: suspend exit\n",
      NULL);
  EXPECT(r, "keys", "metric operation labels",
         "sync filesystems mode=deep\n"
         "callback suspend device=0000:01:00.0 driver=s51xx mode=deep\n"
         "callback suspend device=1-0029 driver=st mode=deep\n"
         "callback suspend device=1-0030 mode=deep returned=error\n"
         "callback suspend device=9160000.usb driver=cdns mode=deep\n"
         "phase suspend mode=deep\n"
         "duration cycle mode=deep\nduration suspend mode=deep\n"
         "duration cycle attempt=failed mode=deep\n");
  EXPECT(r, "cycles", "run mode outcome wakeup duration",
         "0 deep complete IRQ 98, chromeos-ec 773706\n"
         "1 deep failed Pending Wakeup Sources: [timerfd] 600000\n");
  tg_result_free(r);
}
END_TEST

START_TEST(kernels_of_2010_name_the_phase_with_the_device) {
  tg_result *r = reduced(
      "[ 2776.100000] PM: Syncing filesystems ... done.\n"
      "[ 2776.200000] PM: Preparing system for mem sleep\n"
      "[ 2776.518492] PM: suspend of drv:sd dev:0:0:0:0 complete after 387.581 msecs\n"
      "[ 2776.518493] PM: suspend of drv:HDA Intel dev:0000:00:14.2 complete after 128.510 msecs\n"
      "[ 2776.550202] PM: suspend of drv: dev:pci0000:00 complete after 307.627 msecs\n"
      "[ 2776.550206] PM: suspend of devices complete after 419.621 msecs\n"
      "[ 2776.550209] PM: suspend devices took 0.420 seconds\n"
      "[ 2776.590214] ACPI: Preparing to enter system sleep state S3\n"
      "[ 2776.738101] ACPI: Waking up from system sleep state S3\n"
      "[ 2777.274559] PM: resume of devices complete after 618.038 msecs\n"
      "[ 2777.300000] Restarting tasks ... done.\n",
      NULL);
  EXPECT(r, "keys", "metric operation labels",
         "callback suspend device=0:0:0:0 driver=sd mode=mem\n"
         "callback suspend device=0000:00:14.2 driver=\"HDA Intel\" mode=mem\n"
         "callback suspend device=pci0000:00 mode=mem\n"
         "phase suspend mode=mem\ntook suspend mode=mem\nphase resume mode=mem\n"
         "duration cycle mode=mem\nduration suspend mode=mem\nduration resume mode=mem\n"
         "duration to sleep mode=mem\nduration from sleep mode=mem\n");
  EXPECT(r, "readings", "value line",
         "387581 3\n128510 4\n307627 5\n419621 6\n420 7\n618038 10\n"
         "1200000 11\n450206 11\n643479 11\n490214 11\n561899 11\n");
  tg_result_free(r);
}
END_TEST

START_TEST(an_image_of_memory_takes_its_time) {
  tg_result *r = reduced(
      "[1.000000] PM: hibernation: hibernation entry\n"
      "[2.000000] PM: hibernation: Allocated 12180208 kbytes in 4.66 seconds (2613.77 MB/s)\n"
      "[3.000000] PM: Wrote 107132 kbytes in 0.51 seconds (210.06 MB/s)\n"
      "[6.000000] PM: hibernation: hibernation exit\n",
      NULL);
  EXPECT(r, "readings", "value line", "4660 2\n510 3\n5000000 4\n");
  tg_result_free(r);
}
END_TEST

START_TEST(a_journal_without_stamps_gives_phases_and_no_times_between_lines) {
  tg_result *r = reduced(
      "Nov 30 12:00:01 board kernel: PM: suspend entry (deep)\n"
      "Nov 30 12:00:02 board kernel: PM: suspend of devices complete after 35.123 msecs\n"
      "Nov 30 12:00:03 board kernel: PM: suspend exit\n",
      NULL);
  EXPECT(r, "cycles", "mode outcome duration", "deep complete -\n");
  EXPECT(r, "readings", "value", "35123\n");
  tg_result_free(r);
  r = reduced(
      "[  100.000100] board kernel: PM: suspend entry (deep)\n"
      "[  100.230000] board kernel: PM: suspend exit\n",
      NULL);
  EXPECT(r, "cycles", "duration", "229900\n");
  tg_result_free(r);
  r = reduced(
      "<6>[  100.000100][  T412] PM: suspend entry (deep)\n"
      "<6>[  100.230000][  T412] PM: suspend exit\n",
      NULL);
  EXPECT(r, "cycles", "duration", "229900\n");
  tg_result_free(r);
}
END_TEST

START_TEST(a_cycle_that_the_log_cuts_has_no_times) {
  tg_result *r = reduced(
      "[1.0] call a+ returned 0 after 3 usecs\n"
      "[1.000000] PM: resume of devices complete after 3.000 msecs\n"
      "[2.000000] PM: suspend entry (deep)\n"
      "[2.010000] PM: suspend of devices complete after 2.500 msecs\n"
      "[3.000000] PM: suspend entry (deep)\n",
      NULL);
  EXPECT(r, "cycles", "run outcome duration", "1 no end -\n2 no end -\n");
  EXPECT(r, "readings", "value run", "3 0\n3000 0\n2500 1\n");
  tg_result_free(r);
}
END_TEST

START_TEST(every_allocation_may_fail) {
  const char *const texts[] = {deep, NULL};
  fail_every_reduction(texts);
}
END_TEST

int main(void) {
  Suite *s = suite_create("kernel_pm");
  TCase *t = tcase_create("kernel_pm");
  tcase_set_timeout(t, 120);
  tcase_add_test(t, a_cycle_has_its_phases_callbacks_and_times_by_stamp);
  tcase_add_test(t, failed_attempts_stand_apart);
  tcase_add_test(t, kernels_without_an_entry_line_begin_where_they_sync);
  tcase_add_test(t, hibernation_is_mode_disk);
  tcase_add_test(t, kernels_of_androids_name_the_time_of_day);
  tcase_add_test(t, kernels_of_2025_name_modules_callers_and_sync_before_the_entry);
  tcase_add_test(t, kernels_of_2010_name_the_phase_with_the_device);
  tcase_add_test(t, an_image_of_memory_takes_its_time);
  tcase_add_test(t, a_journal_without_stamps_gives_phases_and_no_times_between_lines);
  tcase_add_test(t, a_cycle_that_the_log_cuts_has_no_times);
  tcase_add_test(t, every_allocation_may_fail);
  suite_add_tcase(s, t);
  SRunner *runner = srunner_create(s);
  srunner_run_all(runner, CK_NORMAL);
  const int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? 0 : 1;
}

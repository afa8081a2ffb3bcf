/* check_kernel_boot.c - the kernel's boot and its paired tracepoints. Lines after init/main.c,
 * drivers/base/dd.c and include/trace/events of the kernel; values worked out by hand.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "support/reduce_text.h"

static out_text out;

#define EXPECT(r, table, columns, rows) ck_assert_str_eq(rows_of(r, table, columns, &out), rows)

static const char boot[] =
    "[    0.120000] calling  cpu_pm_init+0x0/0x30 @ 1\n"
    "[    0.120011] initcall cpu_pm_init+0x0/0x30 returned 0 after 11 usecs\n"
    "[    0.700000] initcall optee_drv_init+0x0/0x30 [optee] returned -19 after 97656 usecs\n"
    "[    1.000000] probe of serial8250 returned -517 after 345 usecs\n"
    "[    1.200000] Run /sbin/init as init process\n";

START_TEST(initcalls_probes_and_init) {
  tg_result *r = reduced(boot, NULL);
  EXPECT(r, "keys", "metric operation labels unit",
         "duration initcall function=cpu_pm_init ret=0 us\n"
         "duration initcall function=optee_drv_init module=optee ret=-19 us\n"
         "duration probe device=serial8250 ret=-517 us\n"
         "time init init=/sbin/init s\n");
  EXPECT(r, "readings", "value line", "11 2\n97656 3\n345 4\n1200000 5\n");
  tg_result_free(r);
}
END_TEST

START_TEST(initcalls_probes_and_the_kernel_lie_on_its_axis) {
  tg_result *r = reduced(boot, NULL);
  EXPECT(r, "stages", "service stage start finish axis",
         "kernel cpu_pm_init 120000000 120011000 kernel\n"
         "kernel optee_drv_init 602344000 700000000 kernel\n"
         "kernel serial8250 999655000 1000000000 kernel\n"
         "kernel kernel to init 0 1200000000 kernel\n");
  tg_result_free(r);
}
END_TEST

START_TEST(lines_without_a_stamp_give_their_durations) {
  tg_result *r = reduced(
      "board kernel: initcall cpu_pm_init+0x0/0x30 returned 0 after 11 usecs\n"
      "I/boot_progress_start(  123): 8123\n"
      "I/boot_progress_pms_ready(12345): 9123\n" /* no blank before a long process number */
      "01-01 00:00:10.1  1000  1000 I boot_progress_ams_ready: 15000\n"
      "[ro.boottime.init]: [1294587604]\n",
      NULL);
  EXPECT(r, "keys", "metric operation labels unit",
         "duration initcall function=cpu_pm_init ret=0 us\ntime android stage=start ms\n"
         "time android stage=pms_ready ms\n"
         "time android stage=ams_ready ms\ntime property service=init ns\n");
  EXPECT(r, "readings", "value", "11\n8123\n9123\n15000\n1294587604\n");
  tg_result_free(r);
}
END_TEST

static const char trace[] =
    " sleep-500   [000]   100.000100: device_pm_callback_start: i2c 1-0068, parent: i2c-1, late "
    "bus [suspend]\n"
    " sleep-500   [001]   100.000200: device_pm_callback_start: usb usb1, parent: 0:14.0, type "
    "[suspend]\n"
    " sleep-500   [000]   100.000580: device_pm_callback_end: i2c 1-0068, err=0\n"
    " sleep-500   [001]   100.000900: device_pm_callback_end: usb usb1, err=-16\n"
    " <...>-1  [000]   101.000000: cpuhp_enter: cpu: 0001 target: 0 step: 232 (sched_cpu_dying)\n"
    " <...>-1  [000]   101.000300: cpuhp_exit:  cpu: 0001  state: 231 step: 232 ret: 0\n"
    " kworker/0:1-events-12 [000] 102.000000: rpm_suspend: 0000:00:1f.3 flags-4 cnt-0  dep-0\n"
    " kworker/0:1-events-12 [000] 102.000250: rpm_return_int: rpm_suspend+0x12c/0x640:0000:00:1f.3 "
    "ret=0\n";

START_TEST(pairs_of_tracepoints_are_spans) {
  tg_result *r = reduced(trace, NULL);
  EXPECT(r, "keys", "operation cpu labels unit resolution",
         "callback - device=1-0068 driver=i2c err=0 event=suspend phase=\"late bus\" s 1000\n"
         "callback - device=usb1 driver=usb err=-16 event=suspend phase=type s 1000\n"
         "cpuhp 1 function=sched_cpu_dying ret=0 step=232 s 1000\n"
         "runtime_suspend - device=0000:00:1f.3 ret=0 s 1000\n");
  EXPECT(r, "readings", "value line", "480000 3\n700000 4\n300000 6\n250000 8\n");
  EXPECT(r, "problems", "line", "");
  tg_result_free(r);
}
END_TEST

START_TEST(every_allocation_may_fail) {
  const char *const texts[] = {boot, NULL}, *const traces[] = {trace, NULL};
  fail_every_reduction(texts);
  fail_every_reduction(traces);
}
END_TEST

int main(void) {
  Suite *s = suite_create("kernel_boot");
  TCase *t = tcase_create("kernel_boot");
  tcase_set_timeout(t, 120);
  tcase_add_test(t, initcalls_probes_and_init);
  tcase_add_test(t, initcalls_probes_and_the_kernel_lie_on_its_axis);
  tcase_add_test(t, lines_without_a_stamp_give_their_durations);
  tcase_add_test(t, pairs_of_tracepoints_are_spans);
  tcase_add_test(t, every_allocation_may_fail);
  suite_add_tcase(s, t);
  SRunner *runner = srunner_create(s);
  srunner_run_all(runner, CK_NORMAL);
  const int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? 0 : 1;
}

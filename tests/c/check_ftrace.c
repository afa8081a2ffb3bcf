/* check_ftrace.c - Linux tracepoints: every printed form, calls with RPCs, lost events.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <check.h>
#include <stdlib.h>

#include "../../csrc/src/formats/ftrace_head.h"
#include "support/fail_alloc.h"
#include "support/reduce_text.h"

#define B(t, a0)                                                                     \
  "   lat-7     [000] .....     " t ": optee_invoke_fn_begin: param=00000000ab (" a0 \
  ", 1, 2, 0, 0, 0, 0, 0)\n"
#define E(t, r)                                                                       \
  "   lat-7     [001] .N...     " t ": optee_invoke_fn_end: param=00000000ab ret (" r \
  ", 0, 0, "                                                                          \
  "0)\n"

static const char *calls_of(const char *text, const char *columns) {
  static out_text out;
  tg_result *r = reduced(text, NULL);
  rows_of(r, "trace_calls", columns, &out);
  tg_result_free(r);
  return out.p;
}

START_TEST(the_resume_of_the_published_trace_takes_6474_us) {
  /* OP-TEE/optee_os issue 6173: a resume from an RPC, values sign-extended. */
  static const char text[] =
      " optee_example_h-337     [000] .....  3456.092741: optee_invoke_fn_begin: "
      "param=000000008ab15a0a (32000003, 0, 0, 0, 0, 0, 0, 0)\n"
      " optee_example_h-337     [000] .....  3456.099215: optee_invoke_fn_end: "
      "param=000000008ab15a0a ret (ffffffffffff0005, 0, 0, 0)\n";
  ck_assert_str_eq(calls_of(text, "task tid state entries rpcs first_line last_line"),
                   "optee_example_h 337 no start 1 1 1 2\n");
  static out_text out;
  tg_result *r = reduced(text, NULL);
  ck_assert_str_eq(rows_of(r, "keys", "operation metric unit", &out), "return_from_rpc smc ns\n");
  ck_assert_str_eq(rows_of(r, "readings", "value line", &out), "6474000 2\n");
  tg_result_free(r);
  /* With its beginning and its end the resume is the middle of a whole call. */
  static out_text whole;
  whole.n = 0;
  put(&whole,
      " optee_example_h-337     [000] .....  3456.080000: optee_invoke_fn_begin: "
      "param=000000008ab15a0a (32000004, 0, 0, 0, 0, 0, 0, 0)\n"
      " optee_example_h-337     [000] .....  3456.080000: optee_invoke_fn_end: "
      "param=000000008ab15a0a ret (ffffffffffff0005, 0, 0, 0)\n%s"
      " optee_example_h-337     [000] .....  3456.099215: optee_invoke_fn_begin: "
      "param=000000008ab15a0a (32000003, 0, 0, 0, 0, 0, 0, 0)\n"
      " optee_example_h-337     [000] .....  3456.099215: optee_invoke_fn_end: "
      "param=000000008ab15a0a ret (0, 0, 0, 0)\n",
      text);
  ck_assert_str_eq(calls_of(whole.p, "operation state secure rpc total entries rpcs"),
                   "call_with_arg complete 6474000 12741000 19215000 3 2\n");
}
END_TEST

START_TEST(a_call_with_interrupts_rpcs_and_a_wait_for_a_thread) {
  static const char text[] = B("1.000000", "32000013") E("1.000010", "1") B("1.000110", "32000013")
      E("1.000200", "ffff0004") B("1.000230", "32000003") E("1.000300", "ffff0005")
          B("1.001300", "32000003") E("1.001400", "ffff0000") B("1.001500", "32000003")
              E("1.001600", "0");
  ck_assert_str_eq(
      calls_of(text,
               "operation state total secure interrupt rpc wait entries interrupts rpcs waits ret"),
      "call_with_regd_arg complete 1600000 370000 30000 1100000 100000 5 1 2 1 0\n");
  static out_text out;
  tg_result *r = reduced(text, NULL);
  ck_assert_str_eq(rows_of(r, "keys", "metric operation labels unit resolution", &out),
                   "smc call_with_regd_arg call=first ns 1000\n"
                   "smc return_from_rpc call=first ns 1000\n"
                   "total call_with_regd_arg call=first ns 1000\n"
                   "secure call_with_regd_arg call=first ns 1000\n"
                   "interrupt call_with_regd_arg call=first ns 1000\n"
                   "rpc call_with_regd_arg call=first ns 1000\n"
                   "wait call_with_regd_arg call=first ns 1000\n");
  ck_assert_str_eq(rows_of(r, "readings", "value line", &out),
                   "90000 4\n70000 6\n100000 8\n100000 10\n"
                   "1600000 10\n370000 10\n30000 10\n1100000 10\n100000 10\n");
  tg_result_free(r);
}
END_TEST

/* The same call in the forms that tracefs, trace-cmd and perf print. */
START_TEST(every_form_reads_the_same) {
  static const struct {
    const char *begin, *end, *want;
  } forms[] = {
      {"  kworker/0:1-ev-12   [003] .....  5.000001: optee_invoke_fn_begin: param=00000000ab "
       "(32000013, ffff1466, 0, 0, 0, 0, 0, 0)\n",
       "  kworker/0:1-ev-12   [003] d..1.  5.000004: optee_invoke_fn_end: param=00000000ab ret (0, "
       "0, 0, 0)\n",
       "kworker/0:1-ev 12 3 complete 3000\n"},
      {"           lat-168   [000]    47.289172: optee_invoke_fn_begin: param=0xffff800008503818 "
       "(32000013, f, e, 0, 0, 0, 0, 0)\n",
       "           lat-168   [000]    47.293338: optee_invoke_fn_end:  param=0xffff800008503818 "
       "ret (0, 0, 0, 0)\n",
       "lat 168 0 complete 4166000\n"},
      {"           lat-168   [000]    47.289172048: optee_invoke_fn_begin: "
       "param=0xffff800008503818 (32000013, f, e, 0, 0, 0, 0, 0)\n",
       "           lat-168   [000]    47.293338208: optee_invoke_fn_end:  param=0xffff800008503818 "
       "ret (0, 0, 0, 0)\n",
       "lat 168 0 complete 4166160\n"},
      {"     lat-168     0.....    47.289172: optee_invoke_fn_begin: param=0xffff800008503818 "
       "(32000013, f, e, 0, 0, 0, 0, 0)\n",
       "     lat-168     0.N...    47.293338: optee_invoke_fn_end:  param=0xffff800008503818 ret "
       "(0, 0, 0, 0)\n",
       "lat 168 0 complete 4166000\n"},
      {"     lat-168   [000]    47.289172:          optee_invoke_fn_begin: "
       "param=0xffff800008503818 (32000013, f, e, 0, 0, 0, 0, 0)\n",
       "     lat-168   [000]    47.293338: (+4166)  optee_invoke_fn_end:  param=0xffff800008503818 "
       "ret (0, 0, 0, 0)\n",
       "lat 168 0 complete 4166000\n"},
      {"     lat-168   [000]    47.289172: optee_invoke_fn_begin:  param=0xffff800008503818 "
       "args=ARRAY[13, 00, 00, 32, 90, 36, ff, ff]\n",
       "     lat-168   [000]    47.293338: optee_invoke_fn_end:   param=0xffff800008503818 "
       "rets=ARRAY[00, 00, 00, 00, 00, 00]\n",
       "lat 168 0 complete 4166000\n"},
      {"   my lat   192 [000]   117.535291: optee:optee_invoke_fn_begin: param=0xffff8000084b39f8 "
       "(32000013, f, e, 0, 0, 0, 0, 0)\n",
       "   my lat   192 [000]   117.544991:   optee:optee_invoke_fn_end: param=0xffff8000084b39f8 "
       "ret (0, 0, 0, 0)\n",
       "my lat 192 0 complete 9700000\n"},
      {"      lat   192/193   [001]   0.535291: optee:optee_invoke_fn_begin: "
       "param=0xffff8000084b39f8 (32000013, f, e, 0, 0, 0, 0, 0)\n",
       "      lat   192/193   [001]   0.544991:   optee:optee_invoke_fn_end: "
       "param=0xffff8000084b39f8 ret (0, 0, 0, 0)\n",
       "lat 193 1 complete 9700000\n"},
      {"           <...>-121  (  120) [000] .....     5.640843: optee_invoke_fn_begin: "
       "param=000000004d2698e2 (32000013, f, e, 0, 0, 0, 0, 0)\r\n",
       "             lat-121  (  120) [000] .....     5.640845: optee_invoke_fn_end: "
       "param=000000004d2698e2 ret (0, 0, 0, 0)\r\n",
       "<...> 121 0 complete 2000\n"},
      {"     lat-168     [000] .....  62500000: optee_invoke_fn_begin: param=____ptrval____ "
       "(32000013, f, e, 0, 0, 0, 0, 0)\n",
       "     lat-168     [000] .....  62500125: optee_invoke_fn_end: param=____ptrval____ ret (0, "
       "0, 0, 0)\n",
       "lat 168 0 complete 125\n"},
  };
  static char text[1024];
  for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
    snprintf(text, sizeof text, "%s%s", forms[i].begin, forms[i].end);
    ck_assert_str_eq(calls_of(text, "task tid cpu state total"), forms[i].want);
  }
}
END_TEST

START_TEST(a_counting_clock_gives_ticks) {
  static const char text[] =
      "  lat-168     [000] .....  62500000: optee_invoke_fn_begin: param=0ab (32000013, f)\n"
      "  lat-168     [000] .....  62500125: optee_invoke_fn_end: param=0ab ret (0, 0, 0, 0)\n";
  static out_text out;
  const tg_reduce_options o = {.clock_hz = 62500000};
  tg_result *r = reduced(text, &o);
  rows_of(r, "keys", "metric unit clock_hz", &out);
  ck_assert_str_eq(out.p, "smc tick 62500000\ntotal tick 62500000\nsecure tick 62500000\n");
  tg_result_free(r);
}
END_TEST

START_TEST(tasks_interleave_by_task_and_address) {
  static const char text[] =
      "  a-1     [000] .....  1.000000: optee_invoke_fn_begin: param=01 (32000013, f)\n"
      "  b-2     [001] .....  1.000001: optee_invoke_fn_begin: param=02 (32000012, f)\n"
      "  irq/19-optee_no-109     [000] .....  1.000002: optee_invoke_fn_begin: param=03 (32000013, "
      "f)\n"
      "  irq/19-optee_no-109     [000] .....  1.000005: optee_invoke_fn_end: param=03 ret (0, 0)\n"
      "  a-1     [001] .....  1.000007: optee_invoke_fn_end: param=01 ret (0, 0)\n"
      "  b-2     [001] .....  1.000009: optee_invoke_fn_end: param=02 ret (ffffffff, 0)\n";
  ck_assert_str_eq(calls_of(text, "task tid cpu last_cpu operation total ret"),
                   "irq/19-optee_no 109 0 0 call_with_regd_arg 3000 0\n"
                   "a 1 0 1 call_with_regd_arg 7000 0\n"
                   "b 2 1 1 call_with_rpc_arg 8000 4294967295\n");
}
END_TEST

START_TEST(what_was_lost_gives_no_times) {
  /* An end is missing, a begin is missing, the trace stops in a call. */
  ck_assert_str_eq(calls_of(B("1.0", "32000013") B("2.0", "32000013") E("3.0", "0") E("4.0", "0")
                                B("5.0", "32000013"),
                            "state total first_line last_line"),
                   "no end - 1 1\ncomplete 1000000000 2 3\nno start - 4 4\nno end - 5 5\n");
  static const char lost[] = B("1.0", "32000013") "CPU:1 [LOST 3432 EVENTS]\n" E("3.0", "0")
      B("4.0", "32000013") E("5.0", "0");
  ck_assert_str_eq(calls_of(lost, "state total"), "lost -\ncomplete 1000000000\n");
  static out_text out;
  tg_result *r = reduced(lost, NULL);
  ck_assert_str_eq(rows_of(r, "problems", "line rule reason", &out), "2 ftrace lost-events\n");
  tg_result_free(r);
  /* The header says that old events were overwritten; cpu 1's go back to 3.0 only. */
  ck_assert_str_eq(calls_of("# entries-in-buffer/entries-written: 6/3472   #P:2\n" B(
                                "1.0", "32000013") E("3.0", "0") B("4.0", "32000013") E("5.0", "0"),
                            "state total"),
                   "lost -\ncomplete 1000000000\n");
  /* Nothing was lost where the two counts are equal. */
  ck_assert_str_eq(calls_of("# entries-in-buffer/entries-written: 2/2   #P:2\n" B("1.0", "32000013")
                                E("3.0", "0"),
                            "state total"),
                   "complete 2000000000\n");
}
END_TEST

/* Times of 63 bits that go to and fro: no sum of them may overflow (UBSan sees it). */
START_TEST(times_to_and_fro_add_up_to_nothing) {
  static const char text[] = B("9000000000.000000", "32000004") E("0.000001", "ffff0004")
      B("9000000000.000000", "32000003") E("0.000001", "ffff0004") B("0.000002", "32000003")
          E("9000000000.000000", "ffff0004") B("0.000002", "32000003")
              E("9000000000.000000", "0");
  ck_assert_str_eq(calls_of(text, "operation state total"), ""); /* nobody can tell an order */
  ck_assert_str_eq(calls_of(B("-9000000000.0", "32000004") E("9000000000.0", "0"), "state total"),
                   "no start -\n");
}
END_TEST

START_TEST(idle_states_suspend_and_resume) {
  static const char text[] =
      "  <idle>-0       [001] d..1.   10.000000: cpu_idle: state=1 cpu_id=1\n"
      "  <idle>-0       [001] d..1.   10.000001: psci_domain_idle_enter: cpu_id=1 state=0x41000044 "
      "is_s2idle=no\n"
      "  <idle>-0       [001] d..1.   10.000900: psci_domain_idle_exit: cpu_id=1 state=0x41000044 "
      "is_s2idle=no\n"
      "  <idle>-0       [001] d..1.   10.001000: cpu_idle: state=4294967295 cpu_id=1\n"
      "  sh-300         [000] .....   11.000000: suspend_resume: freeze_processes[0] begin\n"
      "  sh-300         [000] .....   11.000250: suspend_resume: freeze_processes[0] end\n"
      "  sh-300         [000] .....   11.000300: suspend_resume: machine_suspend[3] end\n";
  static out_text out;
  tg_result *r = reduced(text, NULL);
  ck_assert_str_eq(rows_of(r, "keys", "metric operation labels cpu better", &out),
                   "idle psci_domain_idle state=0x41000044 1 none\n"
                   "idle cpu_idle state=0x1 1 none\n"
                   "duration freeze_processes - - lower\n");
  ck_assert_str_eq(rows_of(r, "readings", "value", &out), "899000\n1000000\n250000\n");
  tg_result_free(r);
}
END_TEST

/* As many cpus as a server has, all idle at once: none is forgotten. */
START_TEST(every_cpu_has_its_idle_state) {
  enum { CPUS = 192 };
  static char text[CPUS * 512];
  size_t n = 0;
  for (int pass = 0; pass < 2; pass++)
    for (int cpu = 0; cpu < CPUS; cpu++) {
      n += (size_t)snprintf(text + n, sizeof text - n,
                            "  <idle>-0  [%03d] d..1.  %d.000%03d: cpu_idle: state=%u cpu_id=%d\n",
                            cpu, 10 + pass, cpu, pass == 0 ? 1u : 4294967295u, cpu);
      n += (size_t)snprintf(text + n, sizeof text - n,
                            "  <idle>-0  [%03d] d..1.  %d.000%03d: psci_domain_idle_%s: cpu_id=%d "
                            "state=0x1 is_s2idle=no\n",
                            cpu, 10 + pass, cpu, pass == 0 ? "enter" : "exit", cpu);
    }
  tg_result *r = reduced(text, NULL);
  const tg_table *readings = tg_result_get(r, "readings");
  ck_assert_uint_eq(tg_table_rows(readings), 2 * CPUS);
  size_t col = 0;
  ck_assert_int_eq(tg_table_find(readings, "value", &col), TG_OK);
  for (size_t row = 0; row < 2 * CPUS; row++) {
    int64_t value = 0;
    ck_assert(tg_table_i64(readings, row, col, &value) && value == 1000000000);
  }
  tg_result_free(r);
}
END_TEST

START_TEST(lines_of_another_form_are_problems) {
  /* A function_graph comment without absolute time tells no time; a torn line has no values. */
  static const char text[] =
      " 0)               |  /* optee_invoke_fn_begin: param=000000008ab15a0a (32000003, 0) */\n"
      "  lat-7     [000] .....     1.0: optee_invoke_fn_begin: param=00000000a\n"
      "  no[body 1.0: optee_invoke_fn_begin: param=00000000a (32000003, 0)\n";
  tg_ruleset *rules = NULL;
  tg_records *records = NULL;
  ck_assert_int_eq(tg_formats_ruleset(NULL, NULL, 0, &rules, NULL), TG_OK);
  ck_assert_int_eq(read_text(NULL, rules, text, sizeof text - 1, &records), TG_OK);
  ck_assert_uint_eq(tg_table_rows(tg_records_problems(records)), 2);
  tg_records_free(records);
  tg_ruleset_free(rules);
  static out_text out;
  tg_result *r = reduced(text, NULL);
  ck_assert_str_eq(rows_of(r, "problems", "line reason", &out), "3 no-task\n");
  tg_result_free(r);
}
END_TEST

START_TEST(heads_that_are_none) {
  static const char *const bad[] = {"",
                                    "  ",
                                    "lat-7 [x]",
                                    "-7 [",
                                    "lat-7 [99999999999]"};
  tg_trace_head head;
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    tg_str text = {(const uint8_t *)bad[i], strlen(bad[i])};
    ck_assert_msg(!tg_trace_head_parse(text, &head), "'%s'", bad[i]);
  }
}
END_TEST

START_TEST(every_allocation_may_fail) {
  const char *const texts[] = {B("1.0", "32000013") E("3.0", "0") B("4.0", "32000013"), NULL};
  fail_every_reduction(texts);
}
END_TEST

int main(void) {
  Suite *s = suite_create("ftrace");
  TCase *t = tcase_create("tracepoints");
  tcase_set_timeout(t, 120);
  tcase_add_test(t, the_resume_of_the_published_trace_takes_6474_us);
  tcase_add_test(t, a_call_with_interrupts_rpcs_and_a_wait_for_a_thread);
  tcase_add_test(t, every_form_reads_the_same);
  tcase_add_test(t, a_counting_clock_gives_ticks);
  tcase_add_test(t, tasks_interleave_by_task_and_address);
  tcase_add_test(t, what_was_lost_gives_no_times);
  tcase_add_test(t, times_to_and_fro_add_up_to_nothing);
  tcase_add_test(t, idle_states_suspend_and_resume);
  tcase_add_test(t, every_cpu_has_its_idle_state);
  tcase_add_test(t, lines_of_another_form_are_problems);
  tcase_add_test(t, heads_that_are_none);
  tcase_add_test(t, every_allocation_may_fail);
  suite_add_tcase(s, t);
  SRunner *r = srunner_create(s);
  srunner_run_all(r, CK_NORMAL);
  int failed = srunner_ntests_failed(r);
  srunner_free(r);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* check_capture_vcd.c - VCD: kinds of variables, times, marks, what a dump adds, hostile files.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <check.h>
#include <stdlib.h>

#include "support/capture_text.h"
#include "support/fail_alloc.h"

#define HEAD                                                                        \
  "$scope module dut $end\n$var reg 1 ! arvalid $end\n$var reg 1 \" arready $end\n" \
  "$var reg 32 # araddr [31:0] $end\n$var reg 1 $ rvalid $end\n$var reg 1 % rready $end\n"
#define END "$upscope $end\n$enddefinitions $end\n"

START_TEST(other_kinds_of_variables_do_not_disturb) {
  const char text[] = HEAD
      "$var real 64 & temperature $end\n$var string 1 ' state $end\n$var event 1 ( e $end\n"
      "$var parameter 32 ) P [31:0] $end\n$var reg 1 ! twin $end\n" END
      "#0\nr1.5 &\nsIDLE '\n0!\n1\"\nb0 #\n0$\n1%\n#1\n1!\nb1000 #\n1(\n#2\n0!\n#5\n1$\nr2e9 "
      "&\n#6\n0$\n";
  tg_axi *x = wave_axi(text, sizeof text - 1, 0, NULL, NULL);
  ck_assert_uint_eq(txn_u(x, 0, TG_TXN_AX_ACCEPT), 1);
  ck_assert_uint_eq(txn_u(x, 0, TG_TXN_ADDR), 8);
  ck_assert_uint_eq(txn_u(x, 0, TG_TXN_DATA_LAST), 5);
  tg_axi_free(x);
}
END_TEST

START_TEST(a_real_ready_is_no_ready) {
  const char text[] =
      "$var reg 1 ! rvalid $end\n$var real 64 \" rready $end\n$enddefinitions $end\n#0\n0!\n";
  tg_capture *c = must_read(text, sizeof text - 1);
  tg_str s = {0};
  bool usable = true;
  ck_assert(tg_table_text(tg_capture_interfaces(c), 0, 4, &s));
  ck_assert(s.n == 6 && memcmp(s.p, "rready", 6) == 0);
  ck_assert(tg_table_bool(tg_capture_interfaces(c), 0, 8, &usable) && !usable);
  tg_capture_free(c);
}
END_TEST

START_TEST(values_before_their_first_are_unknown) {
  const char text[] = HEAD END "#0\n1\"\n1%\n#3\n0!\n0$\n#4\n1!\n#5\n0!\n";
  tg_axi *x = wave_axi(text, sizeof text - 1, 0, NULL, NULL);
  ck_assert_uint_eq(tg_axi_about(x).unknown, 3);
  ck_assert_uint_eq(tg_axi_about(x).reads, 1);
  tg_axi_free(x);
}
END_TEST

START_TEST(dumpoff_makes_all_unknown) {
  const char text[] = HEAD END
      "#0\n0!\n1\"\n0$\n1%\n#1\n1!\n#2\n0!\n#3\n$dumpoff\nx!\nx\"\nx$\nx%\n$end\n#5\n$dumpon\n$"
      "end\n"
      "#6\n0!\n1\"\n0$\n1%\n#7\n1$\n#8\n0$\n";
  tg_axi *x = wave_axi(text, sizeof text - 1, 0, NULL, NULL);
  ck_assert_uint_eq(tg_axi_about(x).unknown, 3);
  ck_assert(txn_is(x, 0, TG_TXN_STATUS, "complete"));
  ck_assert_uint_eq(txn_flags(x, 0), TG_AXI_F_UNCERTAIN | TG_AXI_F_LOWER);
  ck_assert_uint_eq(tg_axi_about(x).complete_reads, 0);
  tg_axi_free(x);
}
END_TEST

START_TEST(time_that_goes_back_is_said_and_matches_nothing) {
  const char text[] = HEAD END "#0\n0!\n1\"\n0$\n1%\n#5\n1!\n#6\n0!\n#4\n1$\n#9\n0$\n#10\n";
  tg_capture *c = must_read(text, sizeof text - 1);
  tg_axi *x = NULL;
  ck_assert(has_problem(tg_capture_problems(c), "time-backwards"));
  ck_assert_int_eq(tg_axi_new(NULL, c, NULL, &x, NULL), TG_OK);
  ck_assert(txn_is(x, 0, TG_TXN_STATUS, "incomplete"));
  tg_axi_free(x);
  tg_capture_free(c);
}
END_TEST

START_TEST(times_near_the_end_of_64_bits_cost_nothing) {
  const char text[] = HEAD END
      "#9223372036854775000\n0!\n1\"\n0$\n1%\n#9223372036854775807\n1!\n#9223372036854775808\n0!\n"
      "#18446744073709551000\n1$\n#18446744073709551001\n0$\n";
  tg_axi *x = wave_axi(text, sizeof text - 1, 0, NULL, NULL);
  ck_assert_uint_eq(txn_u(x, 0, TG_TXN_AX_ACCEPT), 9223372036854775807u);
  ck_assert_int_eq(txn_i(x, 0, TG_TXN_SPAN),
                   (int64_t)(18446744073709551000u - 9223372036854775807u));
  tg_axi_free(x);
}
END_TEST

START_TEST(an_endless_handshake_ends) {
  const char text[] =
      HEAD END "#0\n0!\n1\"\n1$\n1%\n#9000000000000000000\n1!\n#9000000000000000001\n0!\n";
  tg_axi *x = wave_axi(text, sizeof text - 1, 0, NULL, NULL);
  const tg_axi_figures f = tg_axi_about(x);
  uint64_t beats = 0;
  ck_assert_uint_eq(f.cycles, 9000000000000000002u);
  ck_assert(tg_table_u64(tg_axi_table(x, "channels"), 1, 1, &beats));
  ck_assert_uint_eq(beats, 9000000000000000002u);
  tg_axi_free(x);
}
END_TEST

/* A small file in which one command is accepted in every sample: rows are not made without
 * bound. */
START_TEST(a_command_on_and_on_fills_no_memory) {
  static wave_text text;
  const tg_axi_options o = {.max_transactions = (uint64_t)1 << 21};
  text.n = 0;
  wave_say(&text, HEAD END "#0\n1!\n1\"\n0$\n0%%\n");
  for (unsigned i = 1; i < 1000; i++) wave_say(&text, "#%u\n%u%%\n", 4000 * i, i & 1);
  tg_axi *x = wave_axi(text.p, text.n, 0, NULL, &o);
  ck_assert_uint_lt(tg_axi_about(x).reads, (uint64_t)1 << 21);
  ck_assert_uint_eq(tg_axi_about(x).cycles, 4000 * 999 + 1);
  tg_axi_free(x);
}
END_TEST

/* Some bytes a step must not buy thousands of samples a step: those without a change are counted
 * over the whole capture. */
START_TEST(steady_handshakes_draw_on_one_patience) {
  static wave_text text;
  text.n = 0;
  wave_say(&text, HEAD END "#0\n0!\n1\"\n1$\n1%%\n#1\n1!\n#2\n0!\n0$\n");
  for (unsigned i = 1; i <= 20; i++) wave_say(&text, "#%u\n%u$\n", 1000 * i, i & 1);
  for (unsigned more = 0; more < 2; more++) {
    /* Data flows ten times, for a thousand samples each. */
    const tg_axi_options o = {.max_steady = 10 * (1000 - 256) - 1 + more};
    tg_axi *x = wave_axi(text.p, text.n, 0, NULL, &o);
    uint64_t beats = 0;
    ck_assert_int_eq(has_text(tg_axi_table(x, "problems"), 2, "endless"), more == 0);
    ck_assert(tg_table_u64(tg_axi_table(x, "channels"), 1, 1, &beats));
    ck_assert_uint_eq(beats, 10002);
    tg_axi_free(x);
  }
}
END_TEST

/* What adopt() may change, as text. */
static void put_marks(const tg_capture *c, char *out, size_t size) {
  const tg_capture_info i = tg_capture_about(c);
  const tg_table *marks = tg_capture_marks(c);
  size_t n = (size_t)snprintf(out, size, "%llu samples%s, %zu problems:",
                              (unsigned long long)i.samples, i.depth_known ? " known" : "",
                              tg_table_rows(tg_capture_problems(c)));
  for (size_t row = 0; row < tg_table_rows(marks) && n < size; row++) {
    uint64_t sample = 0;
    tg_str kind = {0};
    ck_assert(tg_table_u64(marks, row, 0, &sample) && tg_table_text(marks, row, 1, &kind));
    n += (size_t)snprintf(out + n, size - n, " %.*s %llu", (int)kind.n, (const char *)kind.p,
                          (unsigned long long)sample);
  }
}

/* Every allocation of an adoption refused, for good and once: all is as it was, and the same
 * adoption gives the right capture afterwards. */
START_TEST(a_refused_adoption_changes_nothing) {
  static const struct {
    const char *dump, *want;
  } rows[] = {
      {"ILA Data Dump\nsample_count :2048\nwindow_marks :0 \ntrigger_marks :7 9 11 \ngaps :5 \n",
       "2048 samples known, 1 problems: window 0 gap 5 trigger 7 trigger 9 trigger 11"},
      {"ILA Data Dump\nsample_count :4\nwindow_marks :0 \ntrigger_marks :2 \ngaps : \n",
       "6 samples known, 2 problems: window 0 trigger 2"},
  };
  static const char text[] = HEAD END "#0\n0!\n1\"\n0$\n1%\n#5\n1!\n";
  const tg_capture_options o = {.samples = 3}; /* too few: a problem */
  tg_capture *d = must_read(rows[_i].dump, strlen(rows[_i].dump));
  for (int once = 0; once < 2; once++) {
    bool failed = true;
    for (long k = 0; failed; k++) {
      char before[256], after[256];
      fail_alloc f;
      tg_capture *c = NULL;
      const tg_alloc *a = fail_alloc_suite(&f, LONG_MAX, once != 0);
      ck_assert_int_eq(wave_read(a, text, sizeof text - 1, 0, &o, &c, NULL), TG_OK);
      put_marks(c, before, sizeof before);
      ck_assert_str_eq(before, "6 samples, 1 problems: window 0");
      f.left = k;
      const tg_status st = tg_capture_adopt(c, d);
      failed = f.failed;
      ck_assert_int_eq(st, failed ? TG_ENOMEM : TG_OK);
      f.left = LONG_MAX;
      if (failed) {
        put_marks(c, after, sizeof after);
        ck_assert_str_eq(after, before);
        ck_assert_int_eq(tg_capture_adopt(c, d), TG_OK);
      }
      put_marks(c, after, sizeof after);
      ck_assert_str_eq(after, rows[_i].want);
      tg_capture_free(c);
      ck_assert_int_eq(f.live, 0);
      ck_assert_int_lt(k, 1000);
      if (!failed) ck_assert_int_gt(k, 3); /* marks, the table and its columns */
    }
  }
  tg_capture_free(d);
}
END_TEST

START_TEST(a_cut_change_drops_its_time) {
  const char text[] = HEAD END "#0\n0!\n1\"\n0$\n1%\n#5\n1!\n#6\n0!\nb10";
  tg_capture *c = must_read(text, sizeof text - 1);
  ck_assert(has_problem(tg_capture_problems(c), "cut"));
  ck_assert_uint_eq(tg_capture_about(c).samples, 6);
  tg_capture_free(c);
}
END_TEST

START_TEST(edges_of_a_clock_may_come_apart) {
  const char head[] = "$var wire 1 ~ clk $end\n" HEAD END;
  const char values[] = "#0\n0!\n1\"\nb1000 #\n0$\n1%\n#10\n1!\n#20\n0!\n1$\n#30\n0$\n#35\n";
  const uint64_t rises[] = {5, 15, 15, 25, 35}; /* 15 twice: the second is passed over */
  tg_capture *c = NULL;
  ck_assert_int_eq(tg_capture_new(NULL, TG_CAPTURE_VCD, NULL, &c, NULL), TG_OK);
  ck_assert_int_eq(tg_capture_rises(c, 0, rises, 1), TG_EINVAL); /* before the definitions */
  ck_assert_int_eq(tg_capture_feed(c, (const uint8_t *)head, sizeof head - 1, NULL), TG_OK);
  ck_assert_int_eq(tg_capture_rises(c, 1, rises, 1), TG_EINVAL); /* arvalid is no clock */
  ck_assert_int_eq(tg_capture_rises(c, 99, rises, 1), TG_EINVAL);
  ck_assert_int_eq(tg_capture_rises(c, 0, rises, 2), TG_OK);
  ck_assert_int_eq(tg_capture_rises(c, 0, rises + 2, 3), TG_OK);
  ck_assert_int_eq(tg_capture_feed(c, (const uint8_t *)values, sizeof values - 1, NULL), TG_OK);
  ck_assert_int_eq(tg_capture_finish(c, NULL), TG_OK);
  ck_assert_uint_eq(tg_capture_about(c).samples, 4);
  ck_assert(tg_capture_about(c).clocked);
  ck_assert_int_eq(tg_capture_rises(c, 0, rises, 1), TG_EINVAL);
  tg_axi *x = NULL;
  const tg_axi_options o = {0};
  ck_assert_int_eq(tg_axi_new(NULL, c, &o, &x, NULL), TG_OK);
  ck_assert_uint_eq(txn_u(x, 0, TG_TXN_AX_ACCEPT), 1);
  ck_assert_uint_eq(txn_u(x, 0, TG_TXN_DATA_LAST), 2);
  tg_axi_free(x);
  tg_capture_free(c);
}
END_TEST

START_TEST(a_vcd_without_times_is_empty) {
  const char text[] = HEAD END;
  tg_capture *c = must_read(text, sizeof text - 1);
  ck_assert_uint_eq(tg_capture_about(c).samples, 0);
  tg_capture_free(c);
}
END_TEST

START_TEST(depth_comes_from_the_caller_or_the_dump) {
  const char dump[] =
      "=====\n  ILA Data Dump\n=====\nsample_count           :2048\r\nwindow_marks           :0 \n"
      "trigger_marks      :7 \ngaps               :\n    ch[0]: 0101\n";
  const char text[] = HEAD "$var reg 1 & _TRIGGER $end\n" END "#0\n0!\n1\"\n0$\n1%\n0&\n#5\n1!\n";
  tg_capture *c = must_read(text, sizeof text - 1), *d = must_read(dump, sizeof dump - 1);
  ck_assert_uint_eq(tg_capture_about(c).samples, 6);
  ck_assert(!tg_capture_about(c).depth_known);
  ck_assert_int_eq(tg_capture_adopt(c, d), TG_OK);
  ck_assert_uint_eq(tg_capture_about(c).samples, 2048);
  ck_assert_uint_eq(tg_capture_about(c).triggers, 1);
  ck_assert(tg_capture_about(c).depth_known);
  tg_capture_free(c);
  tg_capture_free(d);
}
END_TEST

/* Vivado toggles _TRIGGER and _WINDOW; ChipScoPy's trigger is high for one sample. */
START_TEST(marks_follow_the_producer) {
  static const char *const heads[] = {"", "$version ChipScoPy 2025.2 $end\n"};
  static const uint64_t triggers[] = {2, 1};
  wave_text text = {.n = 0};
  wave_say(&text,
           "%s" HEAD "$var reg 1 & _TRIGGER $end\n$var reg 1 ' _WINDOW $end\n" END
           "#0\n0!\n1\"\n0$\n1%%\n0&\n%d'\n#3\n1&\n#4\n0&\n#9\n%d'\n",
           heads[_i], _i == 0, _i != 0);
  tg_capture *c = must_read(text.p, text.n);
  ck_assert_uint_eq(tg_capture_about(c).triggers, triggers[_i]);
  ck_assert_uint_eq(tg_capture_about(c).windows, 2);
  tg_capture_free(c);
}
END_TEST

/* A comment without end, and a change whose identifier does not come: each line of it is no reason
 * to look at all of it again. */
START_TEST(items_without_end_take_linear_time) {
  enum { LINES = 400000 };
  static const char *const heads[] = {"$comment\n", HEAD END "#0\nb0\n"};
  const size_t n = strlen(heads[_i]);
  char *text = malloc(n + 2 * LINES);
  tg_capture *c = NULL;
  tg_error err = {0};
  ck_assert_ptr_nonnull(text);
  memcpy(text, heads[_i], n);
  for (size_t i = 0; i < LINES; i++) memcpy(text + n + 2 * i, _i == 0 ? "x\n" : "\n\n", 2);
  const tg_status st = wave_read(NULL, text, n + 2 * LINES, 4096, NULL, &c, &err);
  ck_assert_int_eq(st, _i == 0 ? TG_ETRUNCATED : TG_OK);
  if (st == TG_OK) tg_capture_free(c);
  free(text);
}
END_TEST

/* A width is a number in a file: no memory is promised for it. */
START_TEST(values_wider_than_can_be_asked_for_are_not_stored) {
  static const char text[] =
      "$scope module dut $end\n$var wire 16000000 ! m_araddr $end\n$var wire 1 \" m_arvalid $end\n"
      "$var wire 16000000 # wide $end\n$var wire 1024 $ m_awaddr $end\n" END
      "#0\n1\"\nb1 !\nb1 #\n";
  static const char *const keep[] = {"wide"};
  const tg_capture_options o = {.keep = keep, .n_keep = 1, .sample_on = ""};
  static const bool want[] = {false, true, false, true};
  tg_capture *c = NULL;
  tg_error err = {0};
  ck_assert_msg(wave_read(NULL, text, sizeof text - 1, 0, &o, &c, &err) == TG_OK, "%s",
                err.message);
  for (uint32_t i = 0; i < 4; i++) {
    bool stored = !want[i];
    ck_assert(tg_table_bool(tg_capture_signals(c), i, 4, &stored) && stored == want[i]);
  }
  ck_assert(has_problem(tg_capture_problems(c), "too-wide"));
  tg_capture_free(c);
}
END_TEST

int main(void) {
  TCase *tc = tcase_create("capture_vcd");
  tcase_set_timeout(tc, 60);
  tcase_add_test(tc, other_kinds_of_variables_do_not_disturb);
  tcase_add_test(tc, a_real_ready_is_no_ready);
  tcase_add_test(tc, values_before_their_first_are_unknown);
  tcase_add_test(tc, dumpoff_makes_all_unknown);
  tcase_add_test(tc, time_that_goes_back_is_said_and_matches_nothing);
  tcase_add_test(tc, times_near_the_end_of_64_bits_cost_nothing);
  tcase_add_test(tc, an_endless_handshake_ends);
  tcase_add_test(tc, steady_handshakes_draw_on_one_patience);
  tcase_add_test(tc, a_command_on_and_on_fills_no_memory);
  tcase_add_test(tc, a_cut_change_drops_its_time);
  tcase_add_test(tc, edges_of_a_clock_may_come_apart);
  tcase_add_test(tc, a_vcd_without_times_is_empty);
  tcase_add_test(tc, depth_comes_from_the_caller_or_the_dump);
  tcase_add_loop_test(tc, marks_follow_the_producer, 0, 2);
  tcase_add_loop_test(tc, a_refused_adoption_changes_nothing, 0, 2);
  tcase_add_loop_test(tc, items_without_end_take_linear_time, 0, 2);
  tcase_add_test(tc, values_wider_than_can_be_asked_for_are_not_stored);
  Suite *s = suite_create("capture_vcd");
  suite_add_tcase(s, tc);
  SRunner *runner = srunner_create(s);
  srunner_run_all(runner, CK_ENV);
  const int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* check_optee.c - OP-TEE calls: joins by containment in time.
 *
 * A test writes lines as "d0 10" (driver: do, cmd 0, at 10), "f0 70" (driver: finish), "r0 20"
 * (core: receiving), "e0 60" (core: finish), "O 0 40 80" (open: start, enter, return), "I ..."
 * (invoke), "S ..." (system call), "F 1000" (frequency), everything in decimal ticks.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <check.h>
#include <ctype.h>
#include <stdlib.h>

#include "support/fail_alloc.h"
#include "support/reduce_text.h"

#define BASE 0x1000000ull /* added to every stamp, so that tiny test numbers look like counters */

static unsigned long long number(const char **p) {
  unsigned long long v = 0;
  while (**p == ' ') ++*p;
  ck_assert_msg(isdigit((unsigned char)**p), "a number in '%s'", *p);
  while (isdigit((unsigned char)**p)) v = v * 10 + (unsigned long long)(*(*p)++ - '0');
  return v;
}

/* The log that a script stands for; `tee` is added to the stamps of the secure world. */
static void log_of(const char *script, long long tee, out_text *out) {
  static const char *const smc[] = {"TEEDriver: do", "TEEDriver: finish", "TEECore: receiving",
                                    "TEECore: finish"};
  static const char *const client[] = {"ClientOpenSession: start=0x%llx, enter_ta=0x%llx, ",
                                       "ClientInvokeCommand: start=0x%llx, enter_ta=0x%llx, ",
                                       "SecureSysCall: start=0x%llx, enter_svc=0x%llx, "};
  out->n = 0;
  out->p[0] = '\0';
  for (const char *p = script; *p != '\0';) {
    char c = *p++;
    if (c == ' ' || c == ';' || c == '\n') continue;
    const char *s = strchr("dfre", c);
    const char *k = strchr("OIS", c);
    if (s != NULL) {
      unsigned long long cmd = number(&p);
      unsigned long long t =
          BASE + number(&p) + (s >= strchr("dfre", 'r') ? (unsigned long long)tee : 0);
      put(out, "%s smc call, cmd=%llu, cntvct=0x%llx\n",
          smc[strchr("dfre", c) - strchr("dfre", 'd')], cmd, t);
    } else if (k != NULL) {
      int which = c == 'O' ? 0 : c == 'I' ? 1 : 2;
      unsigned long long a = BASE + number(&p) + (which == 2 ? (unsigned long long)tee : 0);
      unsigned long long b = BASE + number(&p) + (unsigned long long)tee;
      unsigned long long e = BASE + number(&p) + (which == 2 ? (unsigned long long)tee : 0);
      char line[160];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
      snprintf(line, sizeof line, client[which], a, b);
#pragma GCC diagnostic pop
      put(out, "%sreturn=0x%llx\n", line, e);
    } else if (c == 'F') {
      put(out, "CounterTimerFrequency: 0x%llx\n", number(&p));
    } else if (c == '#') { /* a line as it is */
      size_t n = strcspn(p, "\n");
      put(out, "%.*s\n", (int)n, p);
      p += n;
    } else {
      ck_abort_msg("script: %s", p - 1);
    }
  }
}

/* The calls of a script, one a line: operation state flags complete, then the seven stamps less
 * BASE. */
static const char *calls_of(const tg_result *r, out_text *out) {
  static const char *const stamps[] = {"client_start", "driver_start",  "tee_receive",  "ta_enter",
                                       "tee_finish",   "driver_finish", "client_return"};
  const tg_table *t = tg_result_get(r, "calls");
  out->n = 0;
  out->p[0] = '\0';
  for (size_t row = 0; t != NULL && row < tg_table_rows(t); row++) {
    put_cell(out, t, row, "operation");
    put(out, " ");
    put_cell(out, t, row, "state");
    put(out, " ");
    put_cell(out, t, row, "flags");
    put(out, " ");
    put_cell(out, t, row, "complete");
    for (size_t h = 0; h < 7; h++) {
      size_t col = 0;
      uint64_t v = 0;
      ck_assert_int_eq(tg_table_find(t, stamps[h], &col), TG_OK);
      if (tg_table_u64(t, row, col, &v)) {
        put(out, " %lld", (long long)(v - BASE));
      } else {
        put(out, " -");
      }
    }
    put(out, "\n");
  }
  return out->p;
}

static void expect_calls(const char *script, const char *want) {
  static out_text log;
  static out_text got;
  log_of(script, 0, &log);
  tg_result *r = reduced(log.p, NULL);
  ck_assert_msg(strcmp(calls_of(r, &got), want) == 0, "%s\ngave\n%swanted\n%s", script, got.p,
                want);
  tg_result_free(r);
}

#define OPEN "d0 10;f0 70;r0 20;e0 60;"
#define WHOLE "open claimed - yes 0 10 20 40 60 70 80\n"

START_TEST(one_call_in_any_order_of_lines) {
  static const char *const orders[] = {
      "d0 10;r0 20;e0 60;f0 70;O 0 40 80",
      "O 0 40 80;" OPEN,
      OPEN "O 0 40 80",
      "e0 60;r0 20;O 0 40 80;f0 70;d0 10",
      "r0 20;e0 60;d0 10;f0 70;O 0 40 80",
  };
  for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) expect_calls(orders[i], WHOLE);
}
END_TEST

START_TEST(every_stamp_may_be_missing) {
  expect_calls("O 0 40 80", "open unpaired - no 0 - - 40 - - 80\n");
  expect_calls(OPEN, "open unclaimed - no - 10 20 - 60 70 -\n");
  expect_calls("d0 10;f0 70", "open unclaimed - no - 10 - - - 70 -\n");
  expect_calls("r0 20;e0 60", "open unclaimed - no - - 20 - 60 - -\n");
  expect_calls("d0 10;f0 70;O 0 40 80", "open claimed - no 0 10 - 40 - 70 80\n");
  expect_calls("r0 20;e0 60;O 0 40 80", "open claimed - no 0 - 20 40 60 - 80\n");
  expect_calls("d0 10;r0 20;e0 60;O 0 40 80", "open claimed half no 0 10 20 40 60 - 80\n");
  expect_calls("f0 70;r0 20;e0 60;O 0 40 80", "open claimed half no 0 - 20 40 60 70 80\n");
  expect_calls("d0 10;f0 70;r0 20;O 0 40 80", "open claimed half no 0 10 20 40 - 70 80\n");
  expect_calls("d0 10;f0 70;e0 60;O 0 40 80", "open claimed half no 0 10 - 40 60 70 80\n");
  expect_calls("d0 10", "open unclaimed half no - 10 - - - - -\n");
  expect_calls("e3 60", "cancel unclaimed half no - - - - 60 - -\n");
}
END_TEST

START_TEST(a_finish_belongs_to_the_latest_open_start_of_its_command) {
  /* cmd 6 runs in another thread inside the open. */
  expect_calls("d0 10;d6 30;f6 35;f0 70;r0 20;r6 31;e6 34;e0 60;O 0 40 80",
               WHOLE "bottom_half unclaimed - no - 30 31 - 34 35 -\n");
  /* The first open lost its finish: the second is whole, the first is half. */
  expect_calls("d0 10;r0 20;e0 60;O 0 40 80;d0 110;r0 120;e0 160;f0 170;O 100 140 180",
               "open claimed half no 0 10 20 40 60 - 80\n"
               "open claimed - yes 100 110 120 140 160 170 180\n");
}
END_TEST

START_TEST(two_clients_at_once_are_ambiguous_where_they_overlap) {
  /* Both opens lie inside one another's window: nobody can say whose stamps are whose. */
  out_text log;
  out_text got;
  log_of("d0 10;d0 12;r0 20;r0 22;e0 60;e0 62;f0 70;f0 72;O 0 40 80;O 1 41 81", 0, &log);
  tg_result *r = reduced(log.p, NULL);
  const tg_table *t = tg_result_get(r, "calls");
  ck_assert_ptr_nonnull(t);
  for (size_t row = 0; row < tg_table_rows(t); row++) {
    size_t state = 0;
    tg_str s;
    ck_assert_int_eq(tg_table_find(t, "state", &state), TG_OK);
    ck_assert(tg_table_text(t, row, state, &s));
    ck_assert_msg(s.n == 9 && memcmp(s.p, "ambiguous", 9) == 0, "%s", calls_of(r, &got));
  }
  /* No interval across lines, but a client's own line still tells its round trip. */
  ck_assert_str_eq(rows_of(r, "readings", "value", &got), "40\n80\n40\n80\n");
  tg_result_free(r);
  /* One after the other although the windows touch: each is told apart by its own. */
  expect_calls("d0 10;r0 20;e0 60;f0 70;O 0 40 80;d0 81;r0 82;e0 84;f0 85;O 80 83 86",
               WHOLE "open claimed - yes 80 81 82 83 84 85 86\n");
  /* Crossing: the second starts before the first returns, and both have one candidate each. */
  expect_calls("d0 10;r0 20;d0 75;r0 76;e0 60;f0 72;e0 90;f0 95;O 0 40 74;O 73 80 100",
               "open claimed - yes 0 10 20 40 60 72 74\n"
               "open claimed - yes 73 75 76 80 90 95 100\n");
}
END_TEST

/* A long run of calls, so that a wrong number stands out. */
static void many_calls(out_text *script, size_t n) {
  script->n = 0;
  put(script, "F 1000;");
  for (size_t i = 0; i < n; i++) {
    unsigned long long t = 100 * i;
    put(script, "d1 %llu;r1 %llu;e1 %llu;f1 %llu;", t + 10, t + 20, t + 60, t + 70);
  }
}

/* A chain: each open begins while the one before is still open. A: 0..100, B: 50..200, C: 150..300.
 * Of the driver's lines the latest open start gets each finish, so its pairs are all wrong. */
#define CHAIN_A "d0 10;r0 11;e0 90;f0 95;O 0 80 100;"
#define CHAIN_B "d0 60;r0 61;e0 190;f0 195;O 50 180 200;"
#define CHAIN_C "d0 160;r0 161;e0 290;f0 295;O 150 280 300;"

START_TEST(a_chain_of_clients_is_told_apart_by_exclusion) {
  expect_calls(CHAIN_A CHAIN_B CHAIN_C,
               "open claimed overlap yes 0 10 11 80 90 95 100\n"
               "open claimed overlap yes 50 60 61 180 190 195 200\n"
               "open claimed overlap yes 150 160 161 280 290 295 300\n");
}
END_TEST

/* The states of a script's calls of clients, one letter each. */
static const char *states_of_clients(const char *script) {
  static char states[64];
  static out_text log;
  log_of(script, 0, &log);
  tg_result *r = reduced(log.p, NULL);
  const tg_table *t = tg_result_get(r, "calls");
  size_t start = 0;
  size_t state = 0;
  size_t n = 0;
  ck_assert_int_eq(tg_table_find(t, "client_start", &start), TG_OK);
  ck_assert_int_eq(tg_table_find(t, "state", &state), TG_OK);
  for (size_t row = 0; row < tg_table_rows(t); row++) {
    uint64_t at = 0;
    tg_str s;
    if (!tg_table_u64(t, row, start, &at)) continue;
    ck_assert(tg_table_text(t, row, state, &s));
    states[n++] = (char)s.p[0];
  }
  states[n] = '\0';
  tg_result_free(r);
  return states;
}

START_TEST(a_lost_line_of_a_chain_harms_its_own_call_only) {
  /* B's do is lost. C's lies in B's window, too, but behind B's receive. */
  expect_calls(CHAIN_A "r0 61;e0 190;f0 195;O 50 180 200;" CHAIN_C,
               "open claimed overlap yes 0 10 11 80 90 95 100\n"
               "open claimed overlap half no 50 - 61 180 190 195 200\n"
               "open claimed overlap yes 150 160 161 280 290 295 300\n");
  /* A's do and receive are lost. B's may be A's and C's may be B's: two lines are lost in any
   * case. */
  ck_assert_str_eq(states_of_clients("e0 90;f0 95;O 0 80 100;" CHAIN_B CHAIN_C), "aaa");
  /* The last finish is lost. */
  expect_calls(CHAIN_A CHAIN_B "d0 160;r0 161;e0 290;O 150 280 300;",
               "open claimed overlap yes 0 10 11 80 90 95 100\n"
               "open claimed overlap yes 50 60 61 180 190 195 200\n"
               "open claimed overlap half no 150 160 161 280 290 - 300\n");
}
END_TEST

START_TEST(a_lost_finish_does_not_spoil_what_follows) {
  out_text script;
  out_text log;
  out_text got;
  many_calls(&script, 1);
  put(&script, "d1 105;r1 106;e1 107;"); /* no finish */
  for (int i = 2; i < 9; i++) {
    put(&script, "d1 %d;f1 %d;", 100 * i + 10, 100 * i + 70);
  }
  log_of(script.p, 0, &log);
  tg_result *r = reduced(log.p, NULL);
  calls_of(r, &got);
  /* Those behind it are in doubt as long as it may still be running, the others are not. */
  ck_assert_ptr_nonnull(strstr(got.p, "invoke ambiguous overlap no - 210 - - - 270 -\n"));
  ck_assert_ptr_nonnull(strstr(got.p, "invoke unclaimed - no - 510 - - - 570 -\n"));
  ck_assert_ptr_nonnull(strstr(got.p, "invoke unclaimed - no - 810 - - - 870 -\n"));
  tg_result_free(r);
}
END_TEST

START_TEST(the_system_call_takes_the_second_invoke) {
  expect_calls("F 1000;d1 10;r1 20;e1 60;f1 70;I 0 40 80;d1 110;r1 120;S 130 135 140;e1 160;f1 170",
               "invoke claimed - yes 0 10 20 40 60 70 80\n"
               "syscall-invoke unclaimed syscall no - 110 120 - 160 170 -\n");
  out_text log;
  out_text got;
  log_of("F 1000;d1 110;r1 120;S 130 135 141;e1 160;f1 170;S 230 235 240;S 300 299 310", 0, &log);
  tg_result *r = reduced(log.p, NULL);
  ck_assert_str_eq(rows_of(r, "syscalls", "call state flags to_os to_ta clock_hz", &got),
                   "0 claimed - 5 6 1000\n"
                   "- unclaimed - 5 5 1000\n"
                   "- unclaimed impossible - - 1000\n");
  tg_result_free(r);
}
END_TEST

START_TEST(repeated_lines_count_once) {
  out_text log;
  out_text got;
  log_of(OPEN OPEN "O 0 40 80;O 0 40 80", 0, &log);
  tg_result *r = reduced(log.p, NULL);
  ck_assert_str_eq(calls_of(r, &got), WHOLE);
  ck_assert_str_eq(rows_of(r, "problems", "reason line", &got),
                   "duplicate 5\nduplicate 7\nduplicate 10\n");
  tg_result_free(r);
}
END_TEST

START_TEST(impossible_stamps_are_flagged_not_printed) {
  out_text log;
  out_text got;
  /* A return that lost digits; an entry outside its own call. */
  expect_calls("#ClientOpenSession: start=0x1000000, enter_ta=0x1000028, return=0x10",
               "open unpaired impossible no 0 - - 40 - - -\n");
  log_of("O 0 99 80;O 200 240 280", 0, &log);
  tg_result *r = reduced(log.p, NULL);
  ck_assert_str_eq(rows_of(r, "readings", "value", &got), "99\n80\n40\n80\n");
  tg_result_free(r);
}
END_TEST

/* Intervals of more than 63 bits: one torn line must not end the reduction of a log. */
START_TEST(intervals_beyond_63_bits_are_impossible) {
  out_text got;
  tg_result *r = reduced(
      "SecureSysCall: start=0x0, enter_svc=0xffffffffffffffff, return=0xffffffffffffffff\n"
      "SecureSysCall: start=0x10, enter_svc=0x18, return=0x20\n"
      "ClientInvokeCommand: start=0x0, enter_ta=0x1, return=0xffffffffffffffff\n",
      NULL);
  ck_assert_str_eq(rows_of(r, "syscalls", "to_os to_ta flags", &got), "- - impossible\n8 8 -\n");
  tg_result_free(r);
}
END_TEST

/* Many clients over many pairs that fit nowhere, and many lines that lost digits below many
 * clients: in time linear in the lines, not in their product. */
START_TEST(many_doubts_cost_no_product) {
  enum { MANY = 20000 };
  char *text = malloc((size_t)MANY * 320), *p = text;
  ck_assert_ptr_nonnull(text);
  for (unsigned i = 0; i < MANY; i++)
    p += sprintf(p, "TEEDriver: do smc call, cmd=1, cntvct=0x%x\n"
                    "TEEDriver: finish smc call, cmd=1, cntvct=0x%x\n",
                 0x1000000 + 4 * i, 0x1000000 + 4 * i + 1);
  for (unsigned i = 0; i < MANY; i++)
    p += sprintf(p, "ClientInvokeCommand: start=0x%x, enter_ta=0x%x, return=0x%x\n",
                 0x1000000 - 1 - i, 0x2000000 + i, 0x2000000 + 2 * i);
  tg_result *r = reduced(text, NULL);
  ck_assert_ptr_nonnull(tg_result_get(r, "calls"));
  ck_assert_uint_ge(tg_table_rows(tg_result_get(r, "calls")), MANY);
  tg_result_free(r);
  free(text);
}
END_TEST

START_TEST(a_stamp_that_lost_digits_is_a_problem) {
  out_text script;
  out_text log;
  out_text got;
  many_calls(&script, 4);
  put(&script, "\n#TEEDriver: do smc call, cmd=1, cntvct=0x10001\n");
  put(&script, "f1 470;d1 510;f1 570;#TEECore: finish smc call, cmd=1, cntvct=0xf10000000\n");
  put(&script, "r1 520;e1 560");
  log_of(script.p, 0, &log);
  tg_result *r = reduced(log.p, NULL);
  ck_assert_str_eq(rows_of(r, "problems", "reason line", &got),
                   "out-of-range 18\nout-of-range 22\n");
  ck_assert_ptr_nonnull(strstr(calls_of(r, &got), "invoke unclaimed half no - - - - - 470 -\n"));
  ck_assert_ptr_nonnull(strstr(got.p, "invoke unclaimed - no - 510 520 - 560 570 -\n"));
  tg_result_free(r);
}
END_TEST

START_TEST(a_constant_shift_is_found_reported_and_taken_back) {
  out_text script;
  out_text log;
  out_text got;
  many_calls(&script, 5);
  put(&script, "I 0 40 80;I 100 140 180;I 200 240 280;I 300 340 380;I 400 440 480");
  log_of(script.p, -5000, &log);
  tg_result *r = reduced(log.p, NULL);
  const char *problem = rows_of(r, "problems", "reason detail", &got);
  ck_assert_msg(strncmp(problem, "offset? ", 8) == 0, "%s", problem);
  ck_assert_ptr_nonnull(strstr(problem, "4990..5010 ticks"));
  ck_assert_ptr_nonnull(strstr(problem, "--tee-offset 5000"));
  ck_assert_ptr_nonnull(strstr(calls_of(r, &got), "invoke offset? - no 0 10 - -4960 - 70 80\n"));
  tg_result_free(r);
  const tg_reduce_options o = {.tee_offset = 5000, .have_tee_offset = true};
  r = reduced(log.p, &o);
  ck_assert_str_eq(rows_of(r, "problems", "reason", &got), "");
  ck_assert_str_eq(rows_of(r, "calls", "state complete driver_to_tee tee_to_ta", &got),
                   "claimed yes 10 20\nclaimed yes 10 20\nclaimed yes 10 20\n"
                   "claimed yes 10 20\nclaimed yes 10 20\n");
  tg_result_free(r);
}
END_TEST

START_TEST(two_consoles_in_two_sources) {
  out_text ree;
  out_text tee;
  out_text got;
  log_of("F 62500000;d0 10;f0 70;O 0 40 80", 0, &ree);
  log_of("r0 20;e0 60", 0, &tee);
  const char *const forward[] = {ree.p, tee.p, NULL};
  const char *const backward[] = {tee.p, ree.p, NULL};
  for (int i = 0; i < 2; i++) {
    tg_result *r = NULL;
    ck_assert_int_eq(reduce_texts(NULL, i == 0 ? forward : backward, NULL, &r), TG_OK);
    ck_assert_str_eq(calls_of(r, &got), WHOLE);
    rows_of(r, "calls",
            "client_source client_line driver_start_line tee_receive_source tee_receive_line "
            "tee_finish_line driver_finish_line clock_hz",
            &got);
    ck_assert_str_eq(got.p, i == 0 ? "0 4 2 1 1 2 3 62500000\n" : "1 4 2 0 1 2 3 62500000\n");
    tg_result_free(r);
  }
}
END_TEST

START_TEST(keys_and_readings_of_a_boot) {
  out_text log;
  out_text got;
  log_of("F 1000;" OPEN "O 0 40 80;d0 110;f0 170;r0 120;e0 160;O 100 140 180", 0, &log);
  tg_result *r = reduced(log.p, NULL);
  rows_of(r, "keys", "operation metric labels unit clock_hz", &got);
  ck_assert_ptr_nonnull(strstr(got.p, "open client_to_driver call=first tick 1000\n"));
  ck_assert_ptr_nonnull(strstr(got.p, "open client_to_driver - tick 1000\n"));
  ck_assert_uint_eq(tg_table_rows(tg_result_get(r, "keys")), 20);
  ck_assert_uint_eq(tg_table_rows(tg_result_get(r, "readings")), 20);
  ck_assert_str_eq(rows_of(r, "calls", "first", &got), "yes\nno\n");
  tg_result_free(r);
}
END_TEST

START_TEST(every_allocation_may_fail) {
  static out_text script;
  static out_text log;
  many_calls(&script, 3);
  put(&script, "I 0 40 80;I 1 41 81;S 130 135 140;O 300 301 302;d1 250;r1 0;d1 220;d1 240;f1 260");
  log_of(script.p, 0, &log);
  const char *const texts[] = {log.p, NULL};
  fail_every_reduction(texts);
}
END_TEST

int main(void) {
  Suite *s = suite_create("optee");
  TCase *t = tcase_create("joins");
  tcase_set_timeout(t, 120);
  tcase_add_test(t, one_call_in_any_order_of_lines);
  tcase_add_test(t, every_stamp_may_be_missing);
  tcase_add_test(t, a_finish_belongs_to_the_latest_open_start_of_its_command);
  tcase_add_test(t, two_clients_at_once_are_ambiguous_where_they_overlap);
  tcase_add_test(t, a_chain_of_clients_is_told_apart_by_exclusion);
  tcase_add_test(t, a_lost_line_of_a_chain_harms_its_own_call_only);
  tcase_add_test(t, a_lost_finish_does_not_spoil_what_follows);
  tcase_add_test(t, the_system_call_takes_the_second_invoke);
  tcase_add_test(t, repeated_lines_count_once);
  tcase_add_test(t, impossible_stamps_are_flagged_not_printed);
  tcase_add_test(t, intervals_beyond_63_bits_are_impossible);
  tcase_add_test(t, many_doubts_cost_no_product);
  tcase_add_test(t, a_stamp_that_lost_digits_is_a_problem);
  tcase_add_test(t, a_constant_shift_is_found_reported_and_taken_back);
  tcase_add_test(t, two_consoles_in_two_sources);
  tcase_add_test(t, keys_and_readings_of_a_boot);
  tcase_add_test(t, every_allocation_may_fail);
  suite_add_tcase(s, t);
  SRunner *r = srunner_create(s);
  srunner_run_all(r, CK_NORMAL);
  int failed = srunner_ntests_failed(r);
  srunner_free(r);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* check_quick.c - the quick way against the full matcher on damaged lines, how many lines of a
 * dense
 * log take it, and that no common word is a tag. SPDX-License-Identifier: BSD-3-Clause */
#include <check.h>
#include <inttypes.h>

#include "../fuzz/fuzz.h"

#include "../fuzz/fuzz_quick.c"

/* Lines of every kind that the built-in rules know, whole ones and others with their words. */
static const char *const lines[] = {
    "NOTICE:  7345 cycles\t117520 ns",
    "NOTICE:  BL31: v2.12.0(release):v2.12.0-3",
    "NOTICE:  v2.12(fvp,debug):v2.12.0-rc0",
    "NOTICE:  Booting Trusted Firmware",
    "Average time: 120 ns (ranging from 100 to 140)",
    "Average number of cycles: 77",
    "<RT_INSTR:test_rt_instr_susp_deep_parallel\t1\t3\t104500\t23400\t5840/>",
    "<RT_INSTR:test_rt_instr_psci_version_parallel\t0\t3\t260/>",
    "<RT_INSTR:cpu_off\t3\t1\t2\t3/>",
    "CounterTimerFrequency: 0x3b9aca0",
    "ClientInvokeCommand: start=0x4a84, enter_ta=0x4a99, return=0x4b00",
    "[    4.591864] optee: TEEDriver: do smc call, cmd=1, cntvct=0x4a848828",
    "M/TC: TEECore: receiving smc call, cmd=1, cntvct=0x04a8488",
    "M/TC: TEECore: finish smc call, cmd=1, cntvct=0x04a84FF",
    "optee: TEEDriver: finish smc call, cmd=1, cntvct=0xffffffffffffffffff",
    "             lat-201     [001] .....    55.034467: optee_invoke_fn_begin: param=00ff "
    "(32000013, 1, 2)",
    "  kworker/0:1-events-12 [000] d..1. 55034467: optee:optee_invoke_fn_end: param=00ff ret "
    "(ffff0005, 0)",
    "   a b-201 [001] .....    55.034467: (+12) optee_invoke_fn_begin:   param=9 (32000013, ffff)",
    "          <idle>-0     [002] d..1.    61.123456: cpu_idle: state=1 cpu_id=2",
    "          <idle>-0     [002] d..1.    61.123456: power:psci_domain_idle_enter: cpu_id=2 "
    "state=0x1",
    "# entries-in-buffer/entries-written: 99/99   #P:2",
    "CPU:1 [LOST 12 EVENTS]",
    "PMF:cpu 0\ttid 0\tts 190034512",
    "> Executing 'CPU suspend on all cores'",
    "  TEST COMPLETE                                                 Passed",
    "Tests Passed  : 12",
    "Cache sync for device time : 12 [usec]",
    "FPGA exec time (1x2x3x4 5x6): 77 [usec]",
    "expect: 5, out: 7",
    "out_h: 12",
    "Command failed with status (3)",
    "success(out_size:12[byte])",
    "Timer summary in microseconds (9 records):",
    "       Mark    Elapsed  Stage",
    "          0          0  reset",
    "  1,234,567123,456,789  board_init_f",
    "",
    "min=1.5us max=2e3us mean=7us stddev=0.1us (cv 3%) (12.5MiB/s)",
    "Data Size (B) | Time (s) | Speed (kB/s)",
    "part=5 of 9 <x>  1.25;",
    "part=5 1.25;",
    "took 12.5 ms, -3 times",
    "took 12.5 \xce\xbcs",
    "took 1,234 (best 77) ",
    "says \"a \\\" b\"!",
    "some one  (cpu 3) load=1e3 and so on",
    "he said so 12: markFf",
    "start 12",
    "aXaXaX12k",
    "NOTICE: -1.5 done",
    "ERROR:   no",
    "usb 1-1: new",
    "{\"a\": 1}",
    "- {\"lvl\": \"target\", \"msg\": \"start 12\"}",
    "\x1b[1mstart 12\x1b[0m",
    "x[31mstart 12[0m",
    "col  12    1.5a ff end",
    "col1234512.345 end",
    "col   1   12.5 end",
    "ran 5K 1min 2.5s!",
    "ran 1h, 3ms!",
    "ran 2us, 1h 2min!",
    "took 9999999999.999999 s",
    "took 1.2345 ms",
    "part=5 18446744073709551616.5;",
    "start 5\r",
    "says 1 bay 3 of 9",
    "bar= 5 x=3 9",
    "bar= 5 x=7 9",
    "low=0x1f c2 end",
    "low=0x2e bay end",
    "says 1 test_rt_instr_cpu_off\t0\t1\t3",
    "says 0x12ycles 9 ns",
    "  lat-201 [001] ..... 55.034467: optee_invoke_fn_begin: param=0000000012ab34cd (b2000004, 0)",
    "  lat-201 [001] ..... 55.034467: optee_invoke_fn_end: param=000000007cfed012 ret (ffff0005, "
    "0)",
    " lat-201 [001] 55.034467: optee:optee_invoke_fn_begin: param=00000000c0ffee12 args=ARRAY[04, "
    "00, "
    "00, b2, 0]",
    "hold=00c0ffee12 7.25 more 0",
    "hold=12345678 7 more",
    "held=00c0ffee 12.125 on",
    "held=123456 7.5 x",
    "held=99 7 0x1f",
    "hold=c0ffee99 1.5 fed 3 more",
    "hold=00ab12cd 12 0xab=4 f",
    "fed 12",
    "at 00ab12cd: fed 3",
    "pass 12ab34cd up 7",
    "pass c0ffee99 up 7 on",
    "pass 0012ab34cd up 7",
    "0xab=7",
    "raw c0ffee99fed 8 hold=1",
};
enum { N_LINES = sizeof lines / sizeof lines[0], MOST = 1 << 14 };

static uint32_t next_random(uint32_t *state) {
  *state = *state * 1664525u + 1013904223u;
  return *state >> 8;
}

static size_t put(uint8_t *to, const char *text, size_t from, size_t end) {
  const size_t n = strlen(text);
  if (end > n) end = n;
  if (from > end) from = end;
  memcpy(to, text + from, end - from);
  return end - from;
}

/* One line: whole, cut, two of them spliced or side by side. */
static size_t damaged_line(uint8_t *to, uint32_t *seed) {
  const char *a = lines[next_random(seed) % N_LINES], *b = lines[next_random(seed) % N_LINES];
  const size_t x = next_random(seed) % 80, y = next_random(seed) % 80;
  switch (next_random(seed) % 8) {
    case 0:
      return put(to, a, x / 2, SIZE_MAX);
    case 1:
      return put(to, a, 0, x);
    case 2: {
      const size_t n = put(to, a, 0, x);
      return n + put(to + n, b, y, SIZE_MAX);
    }
    case 3: {
      const size_t n = put(to, a, 0, SIZE_MAX);
      return n + put(to + n, b, 0, SIZE_MAX);
    }
    case 4: {
      const size_t head = put(to, a, 0, x), mid = put(to + head, b, 0, y);
      return head + mid + put(to + head + mid, a, x, SIZE_MAX);
    }
    default:
      return put(to, a, 0, SIZE_MAX);
  }
}

/* Lines, and here and there another byte, most often one that means something. */
static size_t damaged_text(uint8_t *p, uint32_t *seed) {
  static const char bytes[] = "\x1b\r\n \t0x=,.:-[](){}'\"/_9aF\x04";
  size_t n = 0;
  while (n + 512 < MOST) {
    const size_t from = n;
    n += damaged_line(p + n, seed);
    while (n > from && next_random(seed) % 4 == 0)
      p[from + next_random(seed) % (n - from)] =
          (uint8_t)bytes[next_random(seed) % (sizeof bytes - 1)];
    p[n++] = '\n';
  }
  return n - (next_random(seed) % 2);
}

/* Another value in place of a run of digits; now and then something else. */
static size_t other_digits(uint8_t *to, const char *run, size_t n, uint32_t *seed) {
  static const char *const odd[] = {
      "", "0x", "0x1F", "BL31:", "cntvct=0x0", "-1", "1.5", "18446744073709551616"};
  const size_t size = 1 + next_random(seed) % 7;
  if (next_random(seed) % 40 == 0) return put(to, odd[next_random(seed) % 8], 0, SIZE_MAX);
  if (next_random(seed) % 3 == 0) return put(to, run, 0, n);
  for (size_t i = 0; i < size; i++) to[i] = (uint8_t)('0' + next_random(seed) % 10);
  return size;
}

/* The length of the hexadecimal word of eight digits and more, with a letter, at `at`; 0: none. */
static size_t hex_word(const char *line, size_t at) {
  const size_t n = strspn(line + at, "0123456789abcdef");
  if (n < 8 || n == strspn(line + at, "0123456789")) return 0;
  return at == 0 || strchr(" =(,", line[at - 1]) != NULL ? n : 0;
}

/* Another one, now and then short, without a letter, with a capital, or with letters that look like
 * a tag or the text of a rule. */
static size_t other_word(uint8_t *to, uint32_t *seed) {
  const size_t n = next_random(seed) % 9 == 0 ? 1 + next_random(seed) % 18 : 8;
  const uint32_t digits = next_random(seed) % 8 == 0 ? 10 : 16;
  for (size_t i = 0; i < n; i++) to[i] = (uint8_t) "0123456789abcdef"[next_random(seed) % digits];
  if (next_random(seed) % 8 == 0 && n > 3) memcpy(to, "ab", 2);
  if (next_random(seed) % 30 == 0) to[n / 2] = 'C';
  if (next_random(seed) % 20 == 0 && n > 3) memcpy(to + n - 3, "fed", 3);
  return n;
}

/* The line with other values: digits, and hexadecimal ones behind "0x" or in long words. */
static size_t like_line(uint8_t *to, const char *line, uint32_t *seed) {
  size_t n = 0;
  for (size_t at = 0; line[at] != '\0';) {
    const bool hex = at > 1 && line[at - 1] == 'x' && line[at - 2] == '0';
    const size_t run = strspn(line + at, hex ? "0123456789abcdefABCDEF" : "0123456789");
    if (hex_word(line, at) > 0) {
      n += other_word(to + n, seed);
      at += hex_word(line, at);
    } else if (run == 0) {
      to[n++] = (uint8_t)line[at++];
    } else if (hex) {
      for (size_t size = 1 + next_random(seed) % 9; size > 0; size--)
        to[n++] = (uint8_t) "0123456789abcdefF"[next_random(seed) % 17];
      at += run;
    } else if (run == 1 && line[at] == '0' && line[at + 1] == 'x') {
      to[n++] = (uint8_t)line[at++];
    } else {
      n += other_digits(to + n, line + at, run, seed);
      at += run;
    }
  }
  return n;
}

/* A few lines again and again with other values, as a dense log has them, and others between. */
static size_t alike_text(uint8_t *p, uint32_t *seed) {
  const char *kinds[5], *const ends[] = {"\n", "\r\n"};
  const char *end = ends[next_random(seed) % 2];
  size_t n = 0;
  for (size_t i = 0; i < 5; i++) kinds[i] = lines[next_random(seed) % N_LINES];
  while (n + 512 < MOST) {
    const bool other = next_random(seed) % 30 == 0;
    n += other ? damaged_line(p + n, seed) : like_line(p + n, kinds[next_random(seed) % 5], seed);
    n += put(p + n, end, 0, SIZE_MAX);
  }
  return n;
}

START_TEST(lines_that_are_alike_leave_the_same) {
  uint8_t *p = malloc(MOST);
  ck_assert_ptr_nonnull(p);
  for (uint32_t i = 0; i < 48; i++) {
    uint32_t seed = 48 * (uint32_t)_i + i + 1000003;
    p[0] = (uint8_t)(i * 5);
    (void)fuzz_quick(p, 1 + alike_text(p + 1, &seed));
  }
  free(p);
}
END_TEST

/* A line that has the pattern of those before it, and is another record, or none of them. */
START_TEST(a_line_that_only_looks_alike_is_matched) {
  static const struct {
    const char *usual, *other;
  } cases[] = {
      {"hold=00ab12cd 7 more\n", "hold=12345678 7 more\n"},   /* a decimal number after all */
      {"pass c0ffee99 up 7\n", "pass abffee99 up 7\n"},       /* the text of a rule */
      {"held=99 7 on\n", "held=9999999999999999999 7 on\n"},  /* 64 bits are too few */
      {"held=c0ffee12 1.125 x\n", "held=C0FFEE12 1.125 x\n"}, /* capitals are no digits here */
      {"held=c0ffee12 1.125 x\n",
       "held=c0ffee12 1.1256 x\n"}, /* more than its power of ten keeps */
      {"held=c0ffee12 1.125 x\n", "held=c0ffee12 9999999999999999.1 x\n"},
  };
  for (unsigned first = 0; first < 2; first++) {
    uint8_t text[2048] = {(uint8_t)(34 + 3 * first)}; /* in pieces of a few lines */
    size_t n = 1;
    for (unsigned i = 0; i < 24; i++) {
      n += put(text + n, cases[_i].usual, 0, SIZE_MAX);
      if (i > 8) n += put(text + n, cases[_i].other, 0, SIZE_MAX);
    }
    (void)fuzz_quick(text, n);
  }
}
END_TEST

START_TEST(both_ways_leave_the_same) {
  uint8_t *p = malloc(MOST);
  ck_assert_ptr_nonnull(p);
  for (uint32_t i = 0; i < 24; i++) {
    uint32_t seed = 24 * (uint32_t)_i + i;
    p[0] = (uint8_t)(i * 7);
    (void)fuzz_quick(p, 1 + damaged_text(p + 1, &seed));
  }
  free(p);
}
END_TEST

/* What a dense log of a format looks like, one line after the other. */
typedef size_t dense_line(char *to, size_t size, unsigned i);

static size_t smc_line(char *to, size_t size, unsigned i) {
  if (i % 1000 == 0) return (size_t)snprintf(to, size, "> Executing 'test %u'\r\n", i);
  return (size_t)snprintf(to, size, "NOTICE:  %u cycles\t%u ns\r\n", i % 977 + 20, i % 977 * 16);
}

static size_t rt_instr_line(char *to, size_t size, unsigned i) {
  return (size_t)snprintf(to, size,
                          "<RT_INSTR:test_rt_instr_cpu_off_serial\t%u\t%u\t%u\t%u\t%u/>\r\n",
                          i / 4 % 2, i % 4, i * 20, i % 300 * 20, i % 40);
}

static size_t optee_line(char *to, size_t size, unsigned i) {
  static const char *const smc[] = {"do", "receiving", "finish", "finish"};
  if (i % 5 == 4)
    return (size_t)snprintf(
        to, size, "ClientInvokeCommand: start=0x%x, enter_ta=0x%x, return=0x%x\n", i, i + 3, i + 5);
  if (i % 5 == 1 || i % 5 == 2)
    return (size_t)snprintf(to, size, "M/TC: TEECore: %s smc call, cmd=1, cntvct=0x%09x\n",
                            smc[i % 5], i);
  return (size_t)snprintf(to, size,
                          "[%5u.%06u] optee: TEEDriver: %s smc call, cmd=1, cntvct=0x%x\n", i, i,
                          smc[i % 5], i);
}

static size_t ftrace_line(char *to, size_t size, unsigned i) {
  return (size_t)snprintf(
      to, size, "   a task-%u     [%03u] ..... %5u.%06u: optee_invoke_fn_%s\n", 200 + i % 60, i % 4,
      i / 1000, i,
      i % 2 == 0 ? "begin: param=0f (32000013, ffff5901, 0)" : "end: param=0f ret (ffff0005, 0)");
}

static size_t cpu_idle_line(char *to, size_t size, unsigned i) {
  return (size_t)snprintf(to, size,
                          "  <idle>-0     [%03u] d..1. %5u.%06u: cpu_idle: state=%u cpu_id=%u\n",
                          i % 4, i / 1000, i, i % 2, i % 4);
}

static size_t pmf_line(char *to, size_t size, unsigned i) {
  return (size_t)snprintf(to, size, "PMF:cpu %u\ttid %u\tts %u\r\n", i % 8, i % 6, 190034512 + i);
}

static dense_line *const dense[] = {smc_line,    rt_instr_line, optee_line,
                                    ftrace_line, cpu_idle_line, pmf_line};

/* As tg.read asks: near misses of lines that gave nothing. */
START_TEST(a_dense_log_takes_the_quick_way) {
  enum { LINES = 4000 };
  tg_ruleset *set = NULL;
  char *text = malloc((size_t)LINES * 256);
  size_t n = 0;
  ck_assert_ptr_nonnull(text);
  ck_assert_int_eq(tg_formats_ruleset(NULL, NULL, 0, &set, NULL), TG_OK);
  for (unsigned i = 0; i < LINES; i++) n += dense[_i](text + n, 256, i);
  tg_records *r = fuzz_read_way(set, (const uint8_t *)text, n, TG_KEEP_FREE, false, n);
  ck_assert_uint_eq(tg_records_count(r), LINES);
  ck_assert_uint_eq(r->lines_with_hits, LINES);
  ck_assert_uint_ge(r->quick_lines * 100, r->lines_with_hits * 99);
  for (size_t i = 0; i < tg_records_ledger_count(r); i++) { /* no common word is a tag */
    tg_ledger tag;
    ck_assert_int_eq(tg_records_ledger(r, i, &tag), TG_OK);
    ck_assert_uint_le(tag.occurrences, tag.used > 0 ? 100 * tag.used : 100);
  }
  tg_records_free(r);
  tg_ruleset_free(set);
  free(text);
}
END_TEST

/* Every line of the kind misses, and nothing has to be told: only few may take the full way. */
START_TEST(misses_do_not_open_the_full_way_for_ever) {
  static const char *const words[] = {"xtest of", "Booting the", "Starting",
                                      "says",     "U-Boot,",     "xtest"};
  enum { LINES = 2000 };
  tg_ruleset *set = NULL;
  char text[LINES * 32];
  size_t n = 0;
  ck_assert_int_eq(tg_formats_ruleset(NULL, fuzz_odd_rules,
                                      sizeof fuzz_odd_rules / sizeof fuzz_odd_rules[0], &set, NULL),
                   TG_OK);
  for (unsigned i = 0; i < LINES; i++)
    n += (size_t)snprintf(text + n, 32, "%s card %u\n", words[i % 6], 1000 + i);
  tg_records *r = fuzz_read_way(set, (const uint8_t *)text, n, (tg_keep_near)_i, false, n);
  ck_assert_uint_eq(r->lines_with_hits, LINES);
  ck_assert_uint_le(r->lines_with_hits - r->quick_lines, LINES / 20);
  tg_records_free(r);
  tg_ruleset_free(set);
}
END_TEST

int main(void) {
  Suite *s = suite_create("quick");
  TCase *c = tcase_create("quick");
  tcase_set_timeout(c, 0);
  tcase_add_loop_test(c, lines_that_are_alike_leave_the_same, 0,
                      getenv("TICKGAUGE_SLOW") != NULL ? 200 : 4);
  tcase_add_loop_test(c, a_line_that_only_looks_alike_is_matched, 0, 6);
  tcase_add_loop_test(c, both_ways_leave_the_same, 0, getenv("TICKGAUGE_SLOW") != NULL ? 200 : 4);
  tcase_add_loop_test(c, a_dense_log_takes_the_quick_way, 0, sizeof dense / sizeof dense[0]);
  tcase_add_loop_test(c, misses_do_not_open_the_full_way_for_ever, TG_KEEP_NONE, TG_KEEP_ALL + 1);
  suite_add_tcase(s, c);
  SRunner *r = srunner_create(s);
  srunner_run_all(r, CK_ENV);
  const int failed = srunner_ntests_failed(r);
  srunner_free(r);
  return failed > 0;
}

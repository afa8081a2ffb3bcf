/* check_transport.c - what stands between a console's text and the bytes of a source: stamps,
 * colour, LAVA, a UART that two worlds share. SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "support/text_read.h"
#include "text/transport.h"

#define LENGTH(a) ((int)(sizeof(a) / sizeof((a)[0])))

static const struct {
  const char *line;
  size_t length;
} prefixes[] = {
    {"", 0},
    {"text", 0},
    {"[2026-05-18 09:31:02.104] text", 26},
    {"[2026-05-18 09:31:02] text", 22},
    {"[2026-05-18T09:31:02.104Z] text", 27},
    {"2026-05-18T09:31:02 text", 20},
    {"2026-05-18T09:31:02.104233 text", 27},
    {"2026-05-18 09:31:02,104 text", 24},
    {"2026-05-18T09:31:02+00:00 text", 26},
    {"2026-05-18T09:31:02Z text", 21},
    {"[    3.141593] text", 15},
    {"[1.123456 0.000001] text", 20},
    {"[12345.678901] text", 15},
    {"09:31:02.104233 text", 16},
    {"[09:31:02] text", 11},
    {"May 18 09:31:02 text", 16},
    {"Jul  4 09:31:02 text", 16},
    {"1716024662.104233 text", 18},
    {"[cpu 0x0100] text", 13},
    {"> text", 2},
    {"> > text", 4},
    {"|uart1| text", 8},
    {"2026-05-18T09:31:02 [    3.141593] text", 35},
    {"[cpu 0x] text", 0},
    {"[3] text", 0},
    {"3.5text", 0},
    {"2026-05-18", 0},
    {"[2026-05-18 09:31:02.104", 0},
};

START_TEST(a_prefix_has_this_length) {
  size_t n = strlen(prefixes[_i].line);
  uint8_t *line = malloc(n + 1);
  ck_assert_ptr_nonnull(line);
  memcpy(line, prefixes[_i].line, n);
  size_t got = tg_prefix_length(NULL, line, n);
  ck_assert_msg(got == prefixes[_i].length, "'%s': %zu", prefixes[_i].line, got);
  free(line);
}
END_TEST

static const struct {
  const char *line;
  int64_t ns; /* -1: no stamp */
} arrivals[] = {
    {"[1.123456 0.000001] text", 1123456000},
    {"1716024662.104233 text", 1716024662104233000},
    {"[    3.141593] the kernel's own", -1},
    {"[12345.141593] the kernel's own", -1},
    {"[0.113065] text", 113065000},
    {"[1234.5] text", 1234500000000},
    {"09:31:02.104233 text", 34262104233000},
    {"[00:00:01.5] text", 1500000000},
    {"00:14:00 text", 840000000000},
    /* date -u -d '2026-05-18 09:31:02' +%s */
    {"[2026-05-18 09:31:02.104] text", 1779096662104000000},
    {"2026-05-18T09:31:02.104233Z text", 1779096662104233000},
    {"2024-02-29 00:00:00,5 text", 1709164800500000000},
    {"- {\"dt\": \"2024-03-01T00:00:00.250000\", \"lvl\": \"target\", \"msg\": \"x\"}",
     1709251200250000000},
    /* of 1970: May 18 is day 137, March 1 day 59 */
    {"May 18 09:31:02 board kernel: text", (INT64_C(137) * 86400 + 34262) * 1000000000},
    {"[Mon May 18 09:31:02.5 2026] text", (INT64_C(137) * 86400 + 34262) * 1000000000 + 500000000},
    {"Mar  1 00:00:00 text", INT64_C(59) * 86400 * 1000000000},
    {"05-18 09:31:02.104  1000  1000 I x: text",
     (INT64_C(137) * 86400 + 34262) * 1000000000 + 104000000},
    {"text", -1},
    {"", -1},
    {"12", -1},
    {"[12.5", -1},
    {"2026-13-18T09:31:02 text", -1},
    {"123456789012.5 text", -1},
    /* a time in ns has 64 bits, as has its difference from another */
    {"7258118399.5 text", 7258118399500000000},
    {"9999999999.5 text", -1},
    {"2199-12-31T23:59:59 text", 7258118399000000000},
    {"9999-12-31T23:59:59 text", -1},
    {"0001-01-01T00:00:00 text", -1},
};

START_TEST(a_line_arrived_when_its_stamp_says) {
  const char *text = arrivals[_i].line;
  const tg_line line = {.raw = {(const uint8_t *)text, strlen(text)}};
  int64_t ns = -1;
  const bool known = tg_arrival(&line, &ns);
  ck_assert_msg(known == (arrivals[_i].ns >= 0), "'%s'", text);
  if (known) ck_assert_msg(ns == arrivals[_i].ns, "'%s': %lld", text, (long long)ns);
}
END_TEST

static const char *const table_rows[] = {"row={n:uint} {w:word}", NULL};
static const tg_rule_def rules[] = {
    {.name = "table", .pattern = "table:", .rows = table_rows, .end = ""},
    {.name = "last", .pattern = "last {n:uint}$"},
    {.name = "rt", .pattern = "<RT:{t:word} ~{a:uint} ~{b:uint}/>", .all = true},
    {.name = "ts", .pattern = "ts {ts:uint}", .tag = "ts "},
    {.name = "start", .pattern = "^start {w:word} {t:text}"},
    {.name = "quote", .pattern = "said \"{t:text}\" \xc2\xb5"},
};

/* LAVA's raw log, as the lab delivers it. */
#define RAW(lvl, rest) \
  "- {\"dt\": \"2026-05-18T09:31:02.104233\", \"lvl\": \"" lvl "\", " rest "}\n"

static const struct {
  const char *text, *want;
} lines[] = {
    /* every stamp is harmless to a rule without anchor */
    {"[2026-05-18 09:31:02.104] <RT:t\t1\t2/>\n", "rt 1@26 t='t' a=1 b=2\n"},
    {"> > <RT:t\t1\t2/>\n", "rt 1@4 t='t' a=1 b=2\n"},
    {"|uart1| start a b c\n", "start 1@8 w='a' t='b c'\n"},
    {"2026-05-18T09:31:02 start a b\r\n", "start 1@20 w='a' t='b'\n"},
    {"x 2026-05-18T09:31:02 start a b\n", "! 1@22 start mismatch\n"},
    /* colour: around a record, inside it, its ESC taken out on the way */
    {"\x1b[1;31;40m<RT:t\t1\t2/>\x1b[0m\n", "rt 1@10 flags=4 t='t' a=1 b=2\n"},
    {"<RT:t\t1\x1b[0m\t2/>\n", "rt 1@0 flags=4 t='t' a=1 b=2\n"},
    {"<RT:t\t1\x1b[1;31;40m5\t2/>\n", "rt 1@0 flags=4 t='t' a=15 b=2\n"},
    {"<R\x1b[0mT:t\t1\t2/>\n", "rt 1@0 flags=4 t='t' a=1 b=2\n"},
    {"\x1b[32m\x1b[2K<RT:t\t1\t2/>\x1b[K\n", "rt 1@9 flags=4 t='t' a=1 b=2\n"},
    {"<RT:t\t1[0m\t2/>\n", "rt 1@0 flags=4 t='t' a=1 b=2\n"},
    {"[1;31;40m<RT:t\t1\t2[0m/>\n", "rt 1@9 flags=4 t='t' a=1 b=2\n"},
    {"<RT:[0m\t1\t2/>\n", "rt 1@0 t='[0m' a=1 b=2\n"}, /* matched raw: left as it is */
    /* no control sequence stays in a label, whatever its kind */
    {"start a v2.14.0\x1b[0m\n", "start 1@0 flags=4 w='a' t='v2.14.0'\n"},
    {"start a v2.14.0[0m\n", "start 1@0 flags=4 w='a' t='v2.14.0'\n"},
    {"start a v[1m and m\n", "start 1@0 w='a' t='v[1m and m'\n"}, /* may be text */
    {"\x1b]0;a title\x07start a b\n", "start 1@12 flags=4 w='a' t='b'\n"},
    {"\x1b]0;a title\x1b\\start a b\n", "start 1@13 flags=4 w='a' t='b'\n"},
    {"start a \x1b(Bb\x1b[?25h\x1b[38;5;1m\x1b[1 q\x1bM\n", "start 1@0 flags=4 w='a' t='b'\n"},
    {"start a b\x1b[12\n", "start 1@0 flags=4 w='a' t='b\\x1b[12'\n"}, /* cut: it stays */
    {"<RT:t\t1\x1b[0m\tx/>\n", "! 1@12 rt number\n"},
    {"<RT:t\t1\x1b[0m\t2/><RT:t\t1\t2/>\n",
     "rt 1@0 flags=4 t='t' a=1 b=2\nrt 1@15 flags=4 t='t' a=1 b=2\n"},
    /* LAVA: target and feedback are consoles, the other levels are not */
    {RAW("target", "\"msg\": \"<RT:t\\t1\\t2/>\""), "rt 1@64 flags=4 t='t' a=1 b=2\n"},
    {RAW("feedback", "\"ns\": \"terminal_1\", \"msg\": \"<RT:t 1 2/>\""),
     "rt 1@86 channel='terminal_1' t='t' a=1 b=2\n"},
    {RAW("info", "\"msg\": \"<RT:t 1 2/>\"") RAW("debug", "\"msg\": \"<RT:t 1 2/>\"")
         RAW("input", "\"msg\": \"<RT:t 1 2/>\"")
             RAW("results", "\"msg\": {\"case\": \"<RT:t 1 2/>\"}"),
     ""},
    {RAW("target", "\"msg\": \"start w \\\"q\\\" \\\\ \\x41\\u00b5\\U0001F600\\/\\e[0m\""),
     "start 1@64 flags=4 w='w' t='\"q\" \\x5c A\\xc2\\xb5\\xf0\\x9f\\x98\\x80/'\n"},
    {RAW("target", "\"msg\": 'start w it''s'"), "start 1@64 flags=4 w='w' t='it's'\n"},
    {RAW("target", "\"msg\": start w plain"), "start 1@63 w='w' t='plain'\n"},
    {RAW("target", "\"msg\": [\"<RT:t 1 2/>\", \"x\", '<RT:u 3 4/>']"),
     "rt 1@65 t='t' a=1 b=2\nrt 1@85 t='u' a=3 b=4\n"},
    {RAW("target", "\"msg\": \"ts 1\\nts 2\\n\""), "ts 1@64 flags=4 ts=1\nts 1@70 flags=4 ts=2\n"},
    {RAW("target", "\"msg\": \"\""), ""},
    {RAW("target", "\"msg\": []"), ""},
    {"- {dt: 2026-05-18, lvl: target, msg: \"ts 1\"}\n", "ts 1@38 ts=1\n"},
    /* a table belongs to the console that began it */
    {RAW("target", "\"msg\": \"table:\"") RAW("feedback", "\"ns\": \"a\", \"msg\": \"5 x\"")
         RAW("target", "\"msg\": \"6 y\"") RAW("target", "\"msg\": \"\"")
             RAW("target", "\"msg\": \"7 z\""),
     "table 1@64 section=1\ntable.row 3@220 section=1 n=6 w='y'\n"},
    {RAW("feedback", "\"ns\": \"a\", \"msg\": \"table:\"") RAW("target", "\"msg\": \"5 x\"")
         RAW("feedback", "\"ns\": \"ab\", \"msg\": \"5 x\"")
             RAW("feedback", "\"ns\": \"a\", \"msg\": \"6 y\""),
     "table 1@77 channel='a' section=1\ntable.row 4@317 channel='a' section=1 n=6 w='y'\n"},
    {RAW("target", "\"msg\": \"start w \\u20ac\""),
     "start 1@64 flags=4 w='w' t='\\xe2\\x82\\xac'\n"},
    {"last 5\nlast 6 x\nlast 7", "last 1@0 n=5\nlast 3@16 flags=2 n=7\n! 2@13 last mismatch\n"},
    /* a tag whose bytes the quoting escapes */
    {RAW("target", "\"msg\": \"said \\\"hello\\\" \\xb5\""), "quote 1@64 flags=4 t='hello'\n"},
    {"said \"hello\" \xce\xbc\n", "quote 1@0 t='hello'\n"},
    /* an entry that is cut is a line as any other */
    {"- {\"dt\": \"x\", \"lvl\": \"target\", \"msg\": \"<RT:t 1 2/>\n", "rt 1@39 t='t' a=1 b=2\n"},
    {"- {\"dt\": \"x\", \"lvl\": \"target\", \"msg\": \"<RT:t\\t1\\t2/>\n", "! 1@52 rt cut\n"},
    {"- item ts 7\n", "ts 1@7 ts=7\n"},
    /* lone CRs: what a terminal overwrites is a line of its own */
    {" 50%\r 60%\rts 5\r\n", "ts 1@10 ts=5\n"},
    {"ts 4\rts 5\rx\n", "ts 1@0 ts=4\nts 1@5 ts=5\n"},
    {"start a\rb\n", "! 1@7 start cut\n"},
    /* bytes of any kind */
    {"\xff\xfe\xff ts 5\n", "ts 1@4 ts=5\n"},
};

START_TEST(a_line_reads_so) {
  tg_ruleset *set = tr_rules(rules, sizeof rules / sizeof rules[0]);
  const char *text = lines[_i].text;
  char *got = tr_cut(set, (const uint8_t *)text, strlen(text), NULL);
  char *ledger = got[0] == '#' ? got : strstr(got, "\n# ");
  if (ledger != NULL) ledger[ledger != got] = '\0';
  ck_assert_msg(strcmp(got, lines[_i].want) == 0, "%s\n--- got:\n%s--- want:\n%s", text, got,
                lines[_i].want);
  free(got);
  tg_ruleset_free(set);
}
END_TEST

/* One UART for both worlds. A TEE line lies inside an REE line; without the repair nothing is put
 * together. */
static const struct {
  const char *text, *apart, *repaired;
} shared[] = {
    {"ts 19D/TC:0 0 tee_ta_invoke_command:625 Error: ffff0006 of 4\r\n0034\r\n", "! 1@5 ts edge\n",
     "ts 1@0 flags=1 ts=190034\n"},
    {"<RT:t\t1*M/TC: TEECore\r\nI/TA: more\r\n2\t3/>\r\n", "! 1@7 rt mismatch\n",
     "rt 1@0 flags=1 t='t' a=12 b=3\n"},
    {"[    1.000000] <RT:t\t1E/LD:  x:1\n\t3/>\n", "! 1@22 rt edge\n",
     "rt 1@15 flags=1 t='t' a=1 b=3\n"},
    /* the TEE line itself is read as it is */
    {"abcI/TC: ts 7\r\ndef\r\n", "ts 1@9 ts=7\n", "ts 1@9 ts=7\n"},
    {"I/TC: ts 7\r\nts 8\n", "ts 1@6 ts=7\nts 2@12 ts=8\n", "ts 1@6 ts=7\nts 2@12 ts=8\n"},
    {"[    1.000000] I/TC: ts 7\r\nts 8\n", "ts 1@21 ts=7\nts 2@27 ts=8\n",
     "ts 1@21 ts=7\nts 2@27 ts=8\n"},
    /* a rest that is whole by itself stays so */
    {"promptI/TC: x\r\nts 8\n", "ts 2@15 ts=8\n", "ts 2@15 ts=8\n"},
    /* the rest never comes */
    {"ts 1D/TC:0 x\n", "! 1@4 ts edge\n", "ts 1@0 ts=1\n"},
    /* pieces are put together over the entries of LAVA's log, each console by itself */
    {RAW("target", "\"msg\": \"<RT:t 1D/TC:0 x\"")
         RAW("feedback", "\"ns\": \"a\", \"msg\": \"7 7/>\"") RAW("target", "\"msg\": \"2 3/>\""),
     "! 1@71 rt edge\n", "rt 1@64 flags=1 t='t' a=12 b=3\n"},
    {RAW("feedback", "\"ns\": \"a\", \"msg\": \"<RT:t 1D/TC:0 x\"")
         RAW("feedback", "\"ns\": \"b\", \"msg\": \"7 7/>\"")
             RAW("feedback", "\"ns\": \"a\", \"msg\": \"2 3/>\""),
     "! 1@84 rt edge\n", "rt 1@77 channel='a' flags=1 t='t' a=12 b=3\n"},
    /* characters of both worlds inside a word: visible, not repaired */
    {"<RT:t\t1D/TC:? 0 l\t2R/>EE user\nx\n", "! 1@7 rt edge\n", "! 2@30 rt mixed\n"},
    {"ts 12D/TC:0 0 x\nEE user 34\n", "! 1@5 ts edge\n", "! 2@16 ts mixed\n"},
};

START_TEST(a_shared_uart_reads_so) {
  tg_ruleset *set = tr_rules(rules, sizeof rules / sizeof rules[0]);
  const char *text = shared[_i].text;
  tg_reader_options options = {.repair_uart = true};
  for (int repair = 0; repair < 2; repair++) {
    const char *want = repair ? shared[_i].repaired : shared[_i].apart;
    char *got = tr_cut(set, (const uint8_t *)text, strlen(text), repair ? &options : NULL);
    char *ledger = strstr(got, "# ");
    if (ledger != NULL) *ledger = '\0';
    ck_assert_msg(strcmp(got, want) == 0, "%s\n--- got:\n%s--- want:\n%s", text, got, want);
    free(got);
  }
  tg_ruleset_free(set);
}
END_TEST

START_TEST(a_message_is_taken_apart) {
  static const char entry[] =
      "- {\"dt\": \"2026\", \"lvl\": \"feedback\", \"ns\": 'term', \"msg\": [\"a\\nb\", 'c''d', "
      "e]}";
  const char *want[] = {"a", "b", "c'd", "e"};
  const uint64_t offset[] = {59, 62, 67, 74};
  tg_lava lava;
  tg_copy copy;
  tg_status status;
  tg_copy_init(&copy, tg_alloc_default());
  ck_assert(tg_lava_parse((const uint8_t *)entry, sizeof entry - 1, &lava));
  ck_assert(lava.console);
  ck_assert_uint_eq(lava.channel.n, 4);
  uint64_t begin = (uint64_t)(lava.message.p - (const uint8_t *)entry);
  for (size_t i = 0; i < 4; i++) {
    ck_assert(tg_lava_next(&lava, begin, &copy, &status));
    ck_assert_int_eq(status, TG_OK);
    ck_assert_uint_eq(copy.n, strlen(want[i]));
    ck_assert_int_eq(memcmp(copy.p, want[i], copy.n), 0);
    ck_assert_uint_eq(copy.map[0].offset, offset[i]);
  }
  ck_assert(!tg_lava_next(&lava, begin, &copy, &status));
  ck_assert_int_eq(status, TG_OK);
  tg_copy_free(&copy);
  static const char *const none[] = {
      "",  "- ", "- {", "- {}", "- {\"a\"}", "- {\"lvl\": \"target\"}", "- {\"msg\": \"x\"}",
      "- {\"lvl\": \"target\", \"msg\": \"x\"", "- {\"lvl\": \"target\", \"msg\": \"x}",
      "- {\"lvl\": \"target\", \"msg\": \"x\"} y", "{\"lvl\": \"target\", \"msg\": \"x\"}"};
  for (int i = 0; i < LENGTH(none); i++) {
    ck_assert_msg(!tg_lava_parse((const uint8_t *)none[i], strlen(none[i]), &lava), "%s", none[i]);
  }
}
END_TEST

int main(void) {
  TCase *tc = tcase_create("transport");
  tcase_add_loop_test(tc, a_line_arrived_when_its_stamp_says, 0, LENGTH(arrivals));
  tcase_add_loop_test(tc, a_prefix_has_this_length, 0, LENGTH(prefixes));
  tcase_add_loop_test(tc, a_line_reads_so, 0, LENGTH(lines));
  tcase_add_loop_test(tc, a_shared_uart_reads_so, 0, LENGTH(shared));
  tcase_add_test(tc, a_message_is_taken_apart);
  Suite *s = suite_create("transport");
  suite_add_tcase(s, tc);
  SRunner *runner = srunner_create(s);
  srunner_run_all(runner, CK_ENV);
  const int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

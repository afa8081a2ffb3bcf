/* check_reader.c - records, sections, limits and the ledger of the push reader.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "support/fail_alloc.h"
#include "support/text_read.h"

#define LENGTH(a) ((int)(sizeof(a) / sizeof((a)[0])))

/* The four shapes of TF-A's records, one tag, every match of a line a record; PMF; verdicts. */
#define RT "<RT_INSTR:{test:word} ~"
static const tg_rule_def tfa[] = {
    {.name = "rt5",
     .pattern = RT "{a:uint} ~{b:uint} ~{c:uint} ~{d:uint} ~{e:uint}/>",
     .all = true},
    {.name = "rt4", .pattern = RT "{a:uint} ~{b:uint} ~{c:uint} ~{d:uint}/>", .all = true},
    {.name = "rt3", .pattern = RT "{a:uint} ~{b:uint} ~{c:uint}/>", .all = true},
    {.name = "rt2", .pattern = RT "{a:uint} ~{b:uint}/>", .all = true},
    {.name = "pmf", .pattern = "PMF:cpu {cpu:uint} ~tid {tid:uint} ~ts {ts:uint}"},
    {.name = "verdict", .pattern = "TEST COMPLETE~{v:Skipped|Passed|Failed|Crashed}",
     .tag = "COMPLETE"},
    {.name = "soft", .pattern = "NOTICE:  BL{n:uint}: v{v:text}", .soft = true},
    {.name = "begin", .pattern = "^start {n:uint}$"},
    {.name = "mark", .pattern = "@@{n:uint};", .tag = "@@", .all = true},
};

static const struct {
  const char *text, *want;
} cases[] = {
    {"", ""},
    {"\n\n\n", ""},
    {"nothing here\n", ""},
    {"PMF:cpu 0\ttid 0\tts 17\n", "pmf 1@0 cpu=0 tid=0 ts=17\n# PMF:cpu 1 = 1 + 0 + 0\n"},
    /* line ends: LF, CRLF, CRCRLF, LFCR, lone CR, none at the end of the source */
    {"PMF:cpu 0\ttid 0\tts 1\nPMF:cpu 0\ttid 1\tts 2\r\nPMF:cpu 0\ttid 2\tts 3\r\r\n"
     "PMF:cpu 0\ttid 3\tts 4\n\rPMF:cpu 0\ttid 4\tts 5\rPMF:cpu 0\ttid 5\tts 6",
     "pmf 1@0 cpu=0 tid=0 ts=1\npmf 2@21 cpu=0 tid=1 ts=2\npmf 3@43 cpu=0 tid=2 ts=3\n"
     "pmf 4@66 cpu=0 tid=3 ts=4\npmf 5@88 cpu=0 tid=4 ts=5\n"
     "pmf 5@109 flags=2 cpu=0 tid=5 ts=6\n# PMF:cpu 6 = 6 + 0 + 0\n"},
    /* a source of lone CRs alone counts its lines by them */
    {"PMF:cpu 0\ttid 0\tts 1\rx\rPMF:cpu 0\ttid 1\tts 2\r",
     "pmf 1@0 cpu=0 tid=0 ts=1\npmf 3@23 cpu=0 tid=1 ts=2\n# PMF:cpu 2 = 2 + 0 + 0\n"},
    /* the end of the source closes a record that a literal ends; any other is flagged */
    {"<RT_INSTR:t\t1\t2/>", "rt2 1@0 test='t' a=1 b=2\n# <RT_INSTR: 1 = 1 + 0 + 0\n"},
    {"PMF:cpu 0\ttid 0\tts 1", "pmf 1@0 flags=2 cpu=0 tid=0 ts=1\n# PMF:cpu 1 = 1 + 0 + 0\n"},
    {"PMF:cpu 0\ttid 0\tts 1 ", "pmf 1@0 cpu=0 tid=0 ts=1\n# PMF:cpu 1 = 1 + 0 + 0\n"},
    /* a byte of a finished run, NULs of a reset */
    {"\x04PMF:cpu 0\ttid 0\tts 1\n", "pmf 1@1 cpu=0 tid=0 ts=1\n# PMF:cpu 1 = 1 + 0 + 0\n"},
    {"\x04start 5\n", "begin 1@1 n=5\n# start 1 = 1 + 0 + 0\n"},
    {"x start 5\n", "! 1@2 begin mismatch\n# start 1 = 0 + 1 + 0\n"},
    {"[   12.345678] start 5\n", "begin 1@15 n=5\n# start 1 = 1 + 0 + 0\n"},
    {"start 5 \n", "! 1@7 begin mismatch\n# start 1 = 0 + 1 + 0\n"},
    /* two records on a line; the shape is told by the count of fields */
    {"<RT_INSTR:t\t1\t2\t3\t4\t5/><RT_INSTR:u\t1\t2\t3/>\n",
     "rt5 1@0 test='t' a=1 b=2 c=3 d=4 e=5\nrt3 1@23 test='u' a=1 b=2 c=3\n"
     "# <RT_INSTR: 2 = 2 + 0 + 0\n"},
    {"<RT_INSTR:t 1    2 3 4/>\n",
     "rt4 1@0 test='t' a=1 b=2 c=3 d=4\n# <RT_INSTR: 1 = 1 + 0 + 0\n"},
    /* torn beside whole: the torn one is a problem */
    {"<RT_INSTR:t\t1\t<RT_INSTR:t\t1\t2/>/>\n",
     "rt2 1@14 test='t' a=1 b=2\n! 1@14 rt5 number\n# <RT_INSTR: 2 = 1 + 1 + 0\n"},
    {"<RT_INSTR:t\t1\t2\n", "! 1@15 rt5 cut\n# <RT_INSTR: 1 = 0 + 1 + 0\n"},
    {"<RT_INSTR:t\t1\t2/\n", "! 1@16 rt2 cut\n# <RT_INSTR: 1 = 0 + 1 + 0\n"},
    {"<RT_INSTR:t\t1\t-2/>\n", "! 1@14 rt5 number\n# <RT_INSTR: 1 = 0 + 1 + 0\n"},
    {"<RT_INSTR:t\t1\t0x2/>\n", "! 1@15 rt5 edge\n# <RT_INSTR: 1 = 0 + 1 + 0\n"},
    {"<RT_INSTR:t\t1\t2.0/>\n", "! 1@15 rt5 edge\n# <RT_INSTR: 1 = 0 + 1 + 0\n"},
    {"<RT_INSTR:t\t1\t18446744073709551615/>\n",
     "rt2 1@0 test='t' a=1 b=18446744073709551615\n# <RT_INSTR: 1 = 1 + 0 + 0\n"},
    {"<RT_INSTR:t\t1\t18446744073709551616/>\n",
     "! 1@14 rt2 overflow\n# <RT_INSTR: 1 = 0 + 1 + 0\n"},
    /* rules of policy all share a line, in the order of the line; inside a record is no record */
    {"@@1;<RT_INSTR:t\t1\t2/>@@2;@@x<RT_INSTR:t\t3\t4/>@@\n",
     "mark 1@0 n=1\nrt2 1@4 test='t' a=1 b=2\nmark 1@21 n=2\nrt2 1@28 test='t' a=3 b=4\n"
     "! 1@27 mark number\n! 1@47 mark cut\n# <RT_INSTR: 2 = 2 + 0 + 0\n# @@ 4 = 2 + 2 + 0\n"},
    {"<RT_INSTR:t@@5;\t1\t2/>\n",
     "rt2 1@0 test='t@@5;' a=1 b=2\n# <RT_INSTR: 1 = 1 + 0 + 0\n# @@ 1 = 0 + 0 + 1\n"},
    {"PMF:cpu 0\ttid 0\tts 1 @@5;\n",
     "pmf 1@0 cpu=0 tid=0 ts=1\n# PMF:cpu 1 = 1 + 0 + 0\n# @@ 1 = 0 + 0 + 1\n"},
    /* policy first: what follows on the line is no record and no problem */
    {"PMF:cpu 0\ttid 0\tts 1 PMF:cpu 0\ttid 0\tts 2\n",
     "pmf 1@0 cpu=0 tid=0 ts=1\n# PMF:cpu 2 = 1 + 0 + 1\n"},
    {"PMF:cpu 0\ttidPMF:cpu 0\ttid 0\tts 2\n",
     "pmf 1@13 cpu=0 tid=0 ts=2\n# PMF:cpu 2 = 1 + 0 + 1\n"},
    {"PMF:cpu 0\ttid x PMF:cpu\n", "! 1@14 pmf number\n# PMF:cpu 2 = 0 + 1 + 1\n"},
    /* rule order decides between tags */
    {"TEST COMPLETE   Passed PMF:cpu 0\ttid 0\tts 1\n",
     "pmf 1@23 cpu=0 tid=0 ts=1\n# PMF:cpu 1 = 1 + 0 + 0\n# COMPLETE 1 = 0 + 0 + 1\n"},
    {"  TEST COMPLETE      Passed\nTEST COMPLETEFailed\nTEST COMPLETE maybe\n",
     "verdict 1@2 v='Passed'\nverdict 2@28 v='Failed'\n! 3@62 verdict mismatch\n"
     "# COMPLETE 3 = 2 + 1 + 0\n"},
    /* a soft tag: a line that is no record is no problem */
    {"NOTICE:  BL1: v2.15\nNOTICE:  Booting\n",
     "soft 1@0 n=1 v='2.15'\n# NOTICE: 2 = 1 + 0 + 1\n"},
};

START_TEST(a_text_reads_so) {
  tg_ruleset *set = tr_rules(tfa, sizeof tfa / sizeof tfa[0]);
  const char *text = cases[_i].text;
  char *got = tr_cut(set, (const uint8_t *)text, strlen(text), NULL);
  ck_assert_msg(strcmp(got, cases[_i].want) == 0, "%s\n--- got:\n%s--- want:\n%s", text, got,
                cases[_i].want);
  free(got);
  tg_ruleset_free(set);
}
END_TEST

/* A number of `_i` digits at the end of its line, and with up to nine bytes behind it: what is read
 * several bytes at a time must stop where it does byte by byte. */
START_TEST(a_number_of_any_length_is_read) {
  tg_ruleset *set = tr_rules(tfa, sizeof tfa / sizeof tfa[0]);
  const char *digits = "12345678901234567890"; /* fits 64 bits in any length */
  for (int word = 1; word <= 17; word++) {
    for (int behind = 0; behind <= 9; behind++) {
      tr_text text = {0}, want = {0};
      const char *name = "abc\x01" "def\x7f" "ghi\x02klmno"; /* bytes below a blank are no blanks */
      tr_add(&text, "PMF:cpu 0 tid 0 ts %.*s%*s\n", _i, digits, behind, "");
      const size_t second = text.n;
      tr_add(&text, "<RT_INSTR:%.*s \t%.*s\t%.*s/>%*s\n", word, name, _i, digits, _i, digits,
             behind, "");
      tr_add(&want, "pmf 1@0 cpu=0 tid=0 ts=%.*s\nrt2 2@%zu test='", _i, digits, second);
      tr_bytes(&want, (tg_str){(const uint8_t *)name, (size_t)word});
      tr_add(&want, "' a=%.*s b=%.*s\n", _i, digits, _i, digits);
      tr_add(&want, "# <RT_INSTR: 1 = 1 + 0 + 0\n# PMF:cpu 1 = 1 + 0 + 0\n");
      char *got = tr_all(set, (const uint8_t *)text.p, text.n, 0, NULL);
      ck_assert_msg(strcmp(got, want.p) == 0, "%s\n--- got:\n%s--- want:\n%s", text.p, got, want.p);
      free(got);
      free(text.p);
      free(want.p);
    }
  }
  tg_ruleset_free(set);
}
END_TEST

/* Every type of field and what a column holds of it. */
static const tg_rule_def typed[] = {
    {.name = "n", .pattern = "num {a:uint} {b:int} {c:hex} {d:HEX} {e:grouped} {f:digit}"},
    {.name = "d", .pattern = "dec {a:dec} {b:exp} {c:dec}", .exponents = "b=-9,c=0"},
    {.name = "t", .pattern = "txt {a:word} {b:quoted} {c:us|\xc2\xb5s} {d:text}"},
    {.name = "o", .pattern = "opt[ {a:uint}][ {b:word}]"},
};

static const struct {
  const char *text, *want;
} values[] = {
    {"num 1 -2 ff FF 1,234 7\n", "n 1@0 a=1 b=-2 c=255 d=255 e=1234 f=7\n"},
    {"num 1 9223372036854775807 ffffffffffffffff 0 999 0\n",
     "n 1@0 a=1 b=9223372036854775807 c=18446744073709551615 d=0 e=999 f=0\n"},
    {"num 1 9223372036854775808 f f 1 0\n", "! 1@6 n overflow\n"},
    {"num 1 1 10000000000000000 f 1 0\n", "! 1@8 n overflow\n"},
    {"dec 3.5 1.5e-06 7\n", "d 1@0 a=3500000000e-9 b=1500e-9 c=7\n"},
    {"dec .001 nan 7.0\n", "d 1@0 a=1000000e-9 c=7\n"},
    {"dec 3.5 -inf 7\n", "d 1@0 a=3500000000e-9 c=7\n"},
    {"dec 3.50000 1e3 7\n", "d 1@0 a=3500000000e-9 b=1000000000000e-9 c=7\n"},
    {"dec 3.000000001 1 7\n", "d 1@0 a=3000000001e-9 b=1000000000e-9 c=7\n"},
    {"dec 3.0000000001 1 7\n", "! 1@4 d precision\n"},
    {"dec 3.5 1 7.5\n", "! 1@10 d precision\n"},
    {"dec 3.5 1e30 7\n", "! 1@8 d overflow\n"},
    {"dec 3.5 1e-10 7\n", "! 1@8 d precision\n"},
    {"txt w \"q\" \xce\xbcs 5 \xce\xbcs \xce\n",
     "t 1@0 a='w' b='q' c='\\xc2\\xb5s' d='5 \\xc2\\xb5s \\xce'\n"},
    {"txt w \"\" us \n", "t 1@0 a='w' b='' c='us' d=''\n"},
    {"opt\nopt 5\nopt x\nopt 5 x\n",
     "o 1@0\no 2@4 a=5\no 3@10 b='x'\no 4@16 a=5 b='x'\n"},
};

START_TEST(a_field_holds_this) {
  tg_ruleset *set = tr_rules(typed, sizeof typed / sizeof typed[0]);
  const char *text = values[_i].text;
  char *got = tr_cut(set, (const uint8_t *)text, strlen(text), NULL);
  char *ledger = strstr(got, "# ");
  ck_assert_ptr_nonnull(ledger);
  *ledger = '\0';
  ck_assert_msg(strcmp(got, values[_i].want) == 0, "%s\n--- got:\n%s--- want:\n%s", text, got,
                values[_i].want);
  free(got);
  tg_ruleset_free(set);
}
END_TEST

/* Sections: a table that a template ends, one that a blank line ends, rows without a tag. */
static const char *const stage_rows[] = {"row={mark:grouped11}{elapsed:grouped11}  {name:text}",
                                         NULL};
static const char *const sum_rows[] = {"count=Tests {what:word} ~: {n:uint}",
                                       "total=Total tests~: {n:uint}", NULL};
static const tg_rule_def tables[] = {
    {.name = "stage",
     .pattern = "Timer summary in microseconds[ ({n:uint} records)]:",
     .rows = stage_rows,
     .values = "elapsed=elapsed",
     .unit = "us",
     .tag = "summary",
     .end = ""},
    {.name = "sum", .pattern = "* Summary *", .rows = sum_rows, .tag = "Summary", .end = "^==="},
    {.name = "note", .pattern = "NOTE {n:uint}"},
};

static const struct {
  const char *text, *want;
} sections[] = {
    {"Timer summary in microseconds (3 records):\r\n"
     "          0          0  reset\r\n"
     "  1,234,567  1,234,567  board_init_f\r\n"
     "        999123,456,789  \r\n"
     "\r\n"
     "  1,000,000          1  not in it\r\n",
     "stage 1@0 section=1 n=3\n"
     "stage.row 2@44 section=1 mark=0 elapsed=0 name='reset'\n"
     "stage.row 3@75 section=1 mark=1234567 elapsed=1234567 name='board_init_f'\n"
     "stage.row 4@113 section=1 mark=999 elapsed=123456789 name=''\n"
     "# summary 1 = 1 + 0 + 0\n"},
    {"* Summary *\nTests Skipped : 0\n\nTests Passed  : 6\ngarbage\nNOTE 5\nTotal tests   : 6\n"
     "===\nTests Passed : 7\n",
     "sum 1@0 section=1\nsum.count 2@12 section=1 what='Skipped' n=0\n"
     "sum.count 4@31 section=1 what='Passed' n=6\nnote 6@57 n=5\n"
     "sum.total 7@64 section=1 n=6\n! 5@49 sum row\n# Summary 1 = 1 + 0 + 0\n"
     "# NOTE 1 = 1 + 0 + 0\n"},
    /* a section without its end: at the next section, at the end of the source */
    {"* Summary *\nTests Failed : 1\n* Summary *\nTests Failed : 2\n",
     "sum 1@0 section=1\nsum.count 2@12 section=1 what='Failed' n=1\nsum 3@29 section=2\n"
     "sum.count 4@41 section=2 what='Failed' n=2\n! 5@58 sum open\n# Summary 2 = 2 + 0 + 0\n"},
    {"[    1.500000] * Summary *\n[    1.500001] Total tests   : 6\n[    1.600000] ===\n",
     "sum 1@15 section=1\nsum.total 2@42 section=1 n=6\n# Summary 1 = 1 + 0 + 0\n"},
    {"* Summary *\nTests Failed : 18446744073709551616\n===\n",
     "sum 1@0 section=1\n! 2@27 sum.count overflow\n# Summary 1 = 1 + 0 + 0\n"},
    {"* Summary *\nNOTE x\n===\n",
     "sum 1@0 section=1\n! 2@17 note number\n# Summary 1 = 1 + 0 + 0\n# NOTE 1 = 0 + 1 + 0\n"},
};

START_TEST(a_section_reads_so) {
  tg_ruleset *set = tr_rules(tables, sizeof tables / sizeof tables[0]);
  const char *text = sections[_i].text;
  char *got = tr_cut(set, (const uint8_t *)text, strlen(text), NULL);
  ck_assert_msg(strcmp(got, sections[_i].want) == 0, "%s\n--- got:\n%s--- want:\n%s", text, got,
                sections[_i].want);
  free(got);
  tg_ruleset_free(set);
}
END_TEST

START_TEST(a_section_left_open_does_not_swallow_the_source) {
  tg_ruleset *set = tr_rules(tables, sizeof tables / sizeof tables[0]);
  tr_text t = {NULL, 0, 0};
  tr_add(&t, "* Summary *\n");
  for (int i = 0; i < 100; i++) tr_add(&t, "[init] line %d\n", i);
  tg_records *r = tr_read(set, (const uint8_t *)t.p, t.n, 0, NULL);
  ck_assert_uint_eq(tg_records_totals(r).problems, 65); /* 64 lines, and that the end is missing */
  tg_records_free(r);
  free(t.p);
  tg_ruleset_free(set);
}
END_TEST

/* Counts a tag by itself: every place, overlapping ones too. */
static uint64_t count_places(const uint8_t *p, size_t n, tg_str tag) {
  uint64_t count = 0;
  for (size_t i = 0; i + tag.n <= n; i++) count += memcmp(p + i, tag.p, tag.n) == 0;
  return count;
}

static uint32_t next_random(uint32_t *state) {
  *state = *state * 1664525u + 1013904223u;
  return *state >> 8;
}

/* Random lines put together from pieces of records: whole, torn, doubled, interleaved. */
static size_t random_text(uint8_t *p, size_t size, uint32_t seed) {
  static const char *const pieces[] = {
      "<RT_INSTR:",    "t\t1\t2\t3/>", "t\t1\t2\t3\t4\t5/>", "PMF:cpu 0\ttid 1\tts 2", "PMF:cpu",
      " ",             "\n",           "\r\n",               "COMPLETE",
      "TEST COMPLETE", " Passed",      "x",                  "\x04",
      "NOTICE:  BL1:", " v2",          "start 5",            "<<RT_INSTR:",
      "12",            "/>",           "\n\n"};
  size_t n = 0;
  uint32_t state = seed;
  while (n + 32 < size) {
    const char *piece = pieces[next_random(&state) % (sizeof pieces / sizeof pieces[0])];
    size_t len = strlen(piece);
    memcpy(p + n, piece, len);
    n += len;
  }
  return n;
}

START_TEST(the_ledger_closes) {
  tg_ruleset *set = tr_rules(tfa, sizeof tfa / sizeof tfa[0]);
  enum { SIZE = 4000 };
  uint8_t *p = malloc(SIZE);
  ck_assert_ptr_nonnull(p);
  size_t n = random_text(p, SIZE, (uint32_t)_i + 1);
  char *cut = tr_cut(set, p, n, NULL);
  free(cut);
  tg_records *r = tr_read(set, p, n, 0, NULL);
  uint64_t used = 0;
  uint64_t problems = 0;
  for (size_t i = 0; i < tg_records_ledger_count(r); i++) {
    tg_ledger l;
    ck_assert_int_eq(tg_records_ledger(r, i, &l), TG_OK);
    ck_assert_uint_eq(l.occurrences, count_places(p, n, l.tag));
    used += l.used;
    problems += l.problems;
  }
  ck_assert_uint_gt(used, 0);
  ck_assert_uint_gt(problems, 0);
  ck_assert_uint_eq(used, tg_records_count(r));
  ck_assert_uint_eq(problems, tg_records_totals(r).problems);
  ck_assert_uint_eq(problems, tg_table_rows(tg_records_problems(r)));
  tg_ledger none;
  ck_assert_int_eq(tg_records_ledger(r, 1000, &none), TG_ENOTFOUND);
  tg_records_free(r);
  free(p);
  tg_ruleset_free(set);
}
END_TEST

START_TEST(a_long_line_is_a_problem_and_its_records_stay) {
  tg_ruleset *set = tr_rules(tfa, sizeof tfa / sizeof tfa[0]);
  tg_reader_options options = {.max_line = 64};
  tr_text t = {NULL, 0, 0};
  tr_add(&t, "PMF:cpu 0\ttid 0\tts 1\n");
  for (int i = 0; i < 30; i++) tr_add(&t, "filler %02d ", i);
  tr_add(&t, "PMF:cpu 0\ttid 1\tts 2 ");
  for (int i = 0; i < 30; i++) tr_add(&t, "filler %02d ", i);
  tr_add(&t, "\nPMF:cpu 0\ttid 2\tts 3\n");
  char *got = tr_cut(set, (const uint8_t *)t.p, t.n, &options);
  ck_assert_str_eq(got,
                   "pmf 1@0 cpu=0 tid=0 ts=1\npmf 2@321 cpu=0 tid=1 ts=2\n"
                   "pmf 3@643 cpu=0 tid=2 ts=3\n! 2@21 - long\n# PMF:cpu 3 = 3 + 0 + 0\n");
  free(got);
  /* One byte below and at the bound. */
  uint8_t line[200];
  memset(line, 'x', sizeof line);
  for (size_t n = 63; n <= 66; n++) {
    line[n] = '\n';
    tg_records *r = tr_read(set, line, n + 1, 0, &options);
    ck_assert_uint_eq(tg_records_totals(r).problems, n > 64);
    tg_records_free(r);
    r = tr_read(set, line, n + 1, 7, &options);
    ck_assert_uint_eq(tg_records_totals(r).problems, n > 64);
    tg_records_free(r);
    line[n] = 'x';
  }
  free(t.p);
  tg_ruleset_free(set);
}
END_TEST

START_TEST(lone_returns_end_lines_beyond_the_bound) {
  tg_ruleset *set = tr_rules(tfa, sizeof tfa / sizeof tfa[0]);
  tg_reader_options options = {.max_line = 64};
  tr_text t = {NULL, 0, 0};
  for (int i = 0; i < 40; i++) tr_add(&t, "PMF:cpu 0\ttid %d\tts 1\r", i);
  tg_records *r = tr_read(set, (const uint8_t *)t.p, t.n, 0, &options);
  ck_assert_uint_eq(tg_records_count(r), 40);
  ck_assert_uint_eq(tg_records_totals(r).problems, 0);
  ck_assert_uint_eq(tg_records_totals(r).lines, 40);
  for (size_t i = 0; i < 40; i++) ck_assert_uint_eq(tg_records_at(r, i).line, i + 1);
  tg_records_free(r);
  char *got = tr_cut(set, (const uint8_t *)t.p, t.n, &options);
  free(got);
  /* An LF behind them: all of it was line 1. */
  tr_add(&t, "\nPMF:cpu 0\ttid 1\tts 1\n");
  r = tr_read(set, (const uint8_t *)t.p, t.n, 0, &options);
  for (size_t i = 0; i < 40; i++) ck_assert_uint_eq(tg_records_at(r, i).line, 1);
  ck_assert_uint_eq(tg_records_at(r, 40).line, 2);
  tg_records_free(r);
  got = tr_cut(set, (const uint8_t *)t.p, t.n, &options);
  free(got);
  free(t.p);
  tg_ruleset_free(set);
}
END_TEST

START_TEST(megabytes_of_nul_cost_nothing_and_lose_nothing) {
  enum { SIZE = 5 << 20 };
  static const char tail[] = "PMF:cpu 0\ttid 1\tts 2\r\nPMF:cpu 0\ttid 2\tts 3\r\n";
  tg_ruleset *set = tr_rules(tfa, sizeof tfa / sizeof tfa[0]);
  uint8_t *p = calloc(SIZE + sizeof tail, 1);
  ck_assert_ptr_nonnull(p);
  memcpy(p + SIZE, tail, sizeof tail - 1);
  tg_records *r = tr_read(set, p, SIZE + sizeof tail - 1, 65536, NULL);
  ck_assert_uint_eq(tg_records_count(r), 2);
  ck_assert_uint_eq(tg_records_at(r, 0).offset, SIZE);
  ck_assert_uint_eq(tg_records_at(r, 1).line, 2);
  ck_assert_uint_eq(tg_records_totals(r).problems, 1);
  tg_records_free(r);
  free(p);
  tg_ruleset_free(set);
}
END_TEST

START_TEST(limits_keep_what_was_read) {
  tg_ruleset *set = tr_rules(tfa, sizeof tfa / sizeof tfa[0]);
  const char *text = "PMF:cpu 0\ttid 0\tts 1\nPMF:cpu x\nPMF:cpu y\nPMF:cpu 0\ttid 0\tts 2\n"
                     "PMF:cpu 0\ttid 0\tts 3\n";
  tg_reader_options options = {.max_records = 2, .max_problems = 1};
  tg_reader *reader = NULL;
  tg_records *r = NULL;
  tg_error err = {0};
  ck_assert_int_eq(tg_reader_new(NULL, set, &options, &reader, &err), TG_OK);
  ck_assert_int_eq(tg_reader_feed(reader, (const uint8_t *)text, strlen(text), &err), TG_ELIMIT);
  ck_assert_uint_eq(err.line, 5);
  ck_assert_int_eq(tg_reader_feed(reader, (const uint8_t *)text, 1, &err), TG_EINVAL);
  ck_assert_int_eq(tg_reader_finish(reader, &r, &err), TG_OK);
  ck_assert_uint_eq(tg_records_count(r), 2);
  ck_assert_uint_eq(tg_records_totals(r).problems, 2);
  ck_assert_uint_eq(tg_table_rows(tg_records_problems(r)), 1);
  tg_records *again = r;
  ck_assert_int_eq(tg_reader_finish(reader, &again, NULL), TG_EINVAL);
  ck_assert_ptr_eq(again, r);
  tg_reader_free(reader);
  tg_records_free(r);
  tg_ruleset_free(set);
}
END_TEST

START_TEST(a_rule_can_be_written_down_again) {
  tg_ruleset *set = tr_rules(tables, sizeof tables / sizeof tables[0]);
  tg_rule_info info;
  ck_assert_int_eq(tg_ruleset_info(set, 0, &info), TG_OK);
  ck_assert_str_eq(info.pattern, tables[0].pattern);
  ck_assert_str_eq(info.end, "");
  ck_assert_uint_eq(info.section, 0);
  ck_assert(!info.row && !info.all && !info.soft);
  ck_assert_int_eq(tg_ruleset_info(set, 3, &info), TG_OK);
  ck_assert_str_eq(info.pattern, "Tests {what:word} ~: {n:uint}");
  ck_assert_str_eq(info.end, "^===");
  ck_assert_uint_eq(info.section, 2);
  ck_assert(info.row);
  ck_assert_int_eq(tg_ruleset_info(set, 5, &info), TG_OK);
  ck_assert_ptr_null(info.end);
  ck_assert_uint_eq(info.section, SIZE_MAX);
  ck_assert_int_eq(tg_ruleset_info(set, 6, &info), TG_ENOTFOUND);
  tg_ruleset_free(set);
}
END_TEST

START_TEST(every_rule_has_a_table) {
  tg_ruleset *set = tr_rules(tfa, sizeof tfa / sizeof tfa[0]);
  tg_records *r = tr_read(set, (const uint8_t *)"x", 1, 0, NULL);
  for (size_t i = 0; i < tg_ruleset_count(set); i++) {
    const tg_table *t = tg_records_table(r, i);
    tg_column_view v;
    ck_assert_ptr_nonnull(t);
    ck_assert_uint_eq(tg_table_cols(t), TG_REC_FIELD + tg_ruleset_fields(set, i));
    ck_assert_int_eq(tg_table_view(t, TG_REC_LINE, &v), TG_OK);
    ck_assert_str_eq(v.name, "line");
    ck_assert_int_eq(tg_table_view(t, TG_REC_SECTION, &v), TG_OK);
    ck_assert_str_eq(v.name, "section");
  }
  ck_assert_ptr_null(tg_records_table(r, tg_ruleset_count(set)));
  ck_assert_ptr_eq(tg_records_rules(r), set);
  ck_assert_uint_eq(tg_records_totals(r).lines, 1);
  tg_records_free(r);
  ck_assert_int_eq(tg_reader_new(NULL, NULL, NULL, NULL, NULL), TG_EINVAL);
  tg_ruleset_free(set);
}
END_TEST

static const char hostile[] =
    "\x04<RT_INSTR:t\t1\t<RT_INSTR:t\t1\t2/>/>@@1;<RT_INSTR:t\t1\t2/>@@2;\n* Summary *\nTests "
    "Failed : 2\nodd\n"
    "- {\"dt\": \"x\", \"lvl\": \"target\", \"msg\": \"<RT_INSTR:t\\t1\\t2/>\"}\n===\n"
    "<RT_INSTR:t\t\x1b[1;31m1\t2/>\rPMF:cpu 0\ttid 0\tD/TC:0 x\nts 7\nTimer summary in "
    "microseconds:\n  1,234,567  1,234,567  a\xce\xbc\n";

static tg_status read_hostile(const tg_alloc *a) {
  tg_rule_def defs[11];
  memcpy(defs, tables, 2 * sizeof *defs);
  memcpy(defs + 2, tfa, sizeof tfa);
  tg_ruleset *set = NULL;
  tg_reader *reader = NULL;
  tg_records *records = NULL;
  tg_reader_options options = {.repair_uart = true, .keep_near = TG_KEEP_ALL, .max_line = 100};
  tg_status status = tg_ruleset_new(NULL, defs, 11, &set, NULL);
  ck_assert_int_eq(status, TG_OK);
  status = tg_reader_new(a, set, &options, &reader, NULL);
  if (status != TG_OK) ck_assert_ptr_null(reader);
  for (size_t at = 0; status == TG_OK && at < sizeof hostile - 1; at += 40) {
    size_t part = sizeof hostile - 1 - at < 40 ? sizeof hostile - 1 - at : 40;
    status = tg_reader_feed(reader, (const uint8_t *)hostile + at, part, NULL);
  }
  if (reader != NULL) {
    tg_status end = tg_reader_finish(reader, &records, NULL);
    ck_assert_ptr_nonnull(records);
    if (status == TG_OK) status = end;
  }
  tg_records_free(records);
  tg_reader_free(reader);
  tg_ruleset_free(set);
  return status;
}

START_TEST(every_allocation_may_fail) { fail_every_allocation(read_hostile); }
END_TEST

START_TEST(no_bound_is_too_large) {
  static const char text[] = "PMF:cpu 0 tid 0 ts 17\nPMF:cpu 1 tid 0 ts 18";
  tg_ruleset *set = NULL;
  tg_reader *reader = NULL;
  tg_records *records = NULL;
  const tg_reader_options options = {
      .max_line = UINT64_MAX, .max_records = UINT64_MAX, .max_problems = UINT64_MAX};
  ck_assert_int_eq(tg_ruleset_new(NULL, tfa, 9, &set, NULL), TG_OK);
  ck_assert_int_eq(tg_reader_new(NULL, set, &options, &reader, NULL), TG_OK);
  for (size_t i = 0; i < sizeof text - 1; i++)
    ck_assert_int_eq(tg_reader_feed(reader, (const uint8_t *)text + i, 1, NULL), TG_OK);
  ck_assert_int_eq(tg_reader_finish(reader, &records, NULL), TG_OK);
  ck_assert_uint_eq(tg_records_count(records), 2);
  tg_records_free(records);
  tg_reader_free(reader);
  tg_ruleset_free(set);
}
END_TEST

/* The same with the rule set made from the failing allocator too: its scratch grows while
 * reading. */
static tg_status read_with_rules(const tg_alloc *a) {
  tg_rule_def def = {.name = "r", .pattern = "abc[ x]{a:text}[ y]{n:uint}~{t:text} z", .all = true};
  tg_ruleset *set = NULL;
  tg_reader *reader = NULL;
  tg_records *records = NULL;
  const char *line = "abc x y y y y y 1 11 z abc y\n";
  tg_status status = tg_ruleset_new(a, &def, 1, &set, NULL);
  if (status == TG_OK) status = tg_reader_new(a, set, NULL, &reader, NULL);
  if (status == TG_OK) status = tg_reader_feed(reader, (const uint8_t *)line, strlen(line), NULL);
  if (reader != NULL) {
    tg_status end = tg_reader_finish(reader, &records, NULL);
    if (status == TG_OK) status = end;
  }
  tg_records_free(records);
  tg_reader_free(reader);
  tg_ruleset_free(set);
  return status;
}

START_TEST(every_allocation_of_the_matcher_may_fail) { fail_every_allocation(read_with_rules); }
END_TEST

int main(void) {
  TCase *tc = tcase_create("reader");
  tcase_set_timeout(tc, 120);
  tcase_add_loop_test(tc, a_text_reads_so, 0, LENGTH(cases));
  tcase_add_test(tc, no_bound_is_too_large);
  tcase_add_loop_test(tc, a_number_of_any_length_is_read, 1, 21);
  tcase_add_loop_test(tc, a_field_holds_this, 0, LENGTH(values));
  tcase_add_loop_test(tc, a_section_reads_so, 0, LENGTH(sections));
  tcase_add_test(tc, a_section_left_open_does_not_swallow_the_source);
  tcase_add_loop_test(tc, the_ledger_closes, 0, 20);
  tcase_add_test(tc, a_long_line_is_a_problem_and_its_records_stay);
  tcase_add_test(tc, lone_returns_end_lines_beyond_the_bound);
  tcase_add_test(tc, megabytes_of_nul_cost_nothing_and_lose_nothing);
  tcase_add_test(tc, limits_keep_what_was_read);
  tcase_add_test(tc, a_rule_can_be_written_down_again);
  tcase_add_test(tc, every_rule_has_a_table);
  tcase_add_test(tc, every_allocation_may_fail);
  tcase_add_test(tc, every_allocation_of_the_matcher_may_fail);
  Suite *s = suite_create("reader");
  suite_add_tcase(s, tc);
  SRunner *runner = srunner_create(s);
  srunner_run_all(runner, CK_ENV);
  const int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

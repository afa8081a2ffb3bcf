/* check_match.c - what a template matches and what it does not.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/fail_alloc.h"
#include "support/slow_match.h"
#include "text/ruleset.h"
#include "tickgauge/reader.h"

#define LENGTH(a) ((int)(sizeof(a) / sizeof((a)[0])))

/* Tries the first rule of the set at every place of its tag: "START-END name=text ..." of the
 * first match, or "miss AT" with the place of the furthest failure. */
static void match_first(tg_ruleset *set, const uint8_t *p, size_t n, char *out, size_t size) {
  tg_str tag = tg_ruleset_tag(set, 0);
  tg_span fields[64];
  size_t furthest = 0;
  for (size_t at = 0; at + tag.n <= n; at++) {
    size_t start;
    size_t end;
    tg_near near;
    if (memcmp(p + at, tag.p, tag.n) != 0) continue;
    tg_status status = tg_ruleset_match(set, 0, p, n, at, fields, &start, &end, &near);
    if (status == TG_ESYNTAX) {
      if (near.at > furthest) furthest = near.at;
      continue;
    }
    ck_assert_int_eq(status, TG_OK);
    int used = snprintf(out, size, "%zu-%zu", start, end);
    for (size_t i = 0; i < tg_ruleset_fields(set, 0); i++) {
      tg_field_info f;
      ck_assert_int_eq(tg_ruleset_field(set, 0, i, &f), TG_OK);
      if (fields[i].start == SIZE_MAX) continue;
      used += snprintf(out + used, size - (size_t)used, " %s=%.*s", f.name,
                       (int)(fields[i].end - fields[i].start),
                       (const char *)p + fields[i].start);
    }
    return;
  }
  snprintf(out, size, "miss %zu", furthest);
}

static const struct {
  const char *pattern, *tag, *line, *want;
} cases[] = {
    /* literals, blanks */
    {"abc", NULL, "xxabcyy", "2-5"},
    {"abc def", NULL, "abc def", "0-7"},
    {"abc def", NULL, "abc\tdef", "0-7"},
    {"abc def", NULL, "abc\vdef", "0-7"},
    {"abc def", NULL, "abc\rdef", "0-7"},
    {"abc def", NULL, "abc  def", "miss 4"},
    {"abc def", NULL, "abcdef", "miss 3"},
    {"abc def", NULL,
     "abc\xa0"
     "def",
     "miss 3"},
    {"abc~def", NULL, "abcdef", "0-6"},
    {"abc~def", NULL, "abc \t  def", "0-10"},
    {"abc ~def", NULL, "abc \t def", "0-9"},
    {"abc ~def", NULL, "abcdef", "miss 3"},
    {"abc~ def", NULL, "abc   def", "0-9"}, /* blanks are given back */
    {"abc~ def", NULL, "abcdef", "miss 3"},
    {"abc~[ x]~ y", NULL, "abc  x y", "0-8"},
    {"^abc", NULL, "xabc", "miss 0"},
    {"^abc", NULL, "abc", "0-3"},
    {"abc$", NULL, "abcabc", "3-6"},
    {"abc$", NULL, "abcd", "miss 3"},
    {"a{{b}}c[[d]]e~~f", "c[d]e~f", "a{b}c[d]e~f", "0-11"},
    /* numbers: longest, and cleanly ended */
    {"abc{n:uint}", NULL, "abc123", "0-6 n=123"},
    {"abc{n:uint}", NULL, "abc00123", "0-8 n=00123"},
    {"abc{n:uint}", NULL, "abc123 ", "0-6 n=123"},
    {"abc{n:uint}", NULL, "abc123,", "0-6 n=123"},
    {"abc{n:uint}", NULL, "abc123x", "miss 6"},
    {"abc{n:uint}", NULL, "abc123_", "miss 6"},
    {"abc{n:uint}", NULL, "abc123.", "miss 6"},
    {"abc{n:uint}", NULL, "abc-5", "miss 3"},
    {"abc{n:uint}", NULL, "abc+5", "miss 3"},
    {"abc{n:uint}", NULL, "abc", "miss 3"},
    {"abc{n:uint}us", NULL, "abc5us", "0-6 n=5"},
    {"abc{n:uint} us", NULL, "abc5us", "miss 4"},
    {"abc{n:uint}~us", NULL, "abc5us", "0-6 n=5"},
    {"abc{n:uint}~{w:word}", NULL, "abc5us", "miss 4"},
    {"abc{n:uint}~us", NULL, "abc5 us", "0-7 n=5"},
    {"abc{n:uint}[us]", NULL, "abc5us", "0-6 n=5"},
    {"abc{n:uint}[us]", NULL, "abc5ms", "miss 4"},
    {"abc{n:uint}{u:us|ms}", NULL, "abc5ms", "0-6 n=5 u=ms"},
    {"abc{n:uint}{u:word}", NULL, "abc5ms", "miss 4"},
    {"abc{n:int}", NULL, "abc-5", "0-5 n=-5"},
    {"abc{n:int}", NULL, "abc+5", "0-5 n=+5"},
    {"abc{n:int}", NULL, "abc--5", "miss 3"},
    {"abc0x{n:hex}", NULL, "abc0x48a1", "0-9 n=48a1"},
    {"abc0x{n:hex}", NULL, "abc0x48A1", "miss 7"},
    {"abc0x{n:hex}", NULL, "abc0xA1", "miss 5"},
    {"abc0x{n:HEX}", NULL, "abc0x48aA1", "0-10 n=48aA1"},
    {"abc0x{n:hex}", NULL, "abc0x12g4", "miss 7"},
    {"abc0x{n:hex}", NULL, "abc0x1f_ff", "miss 7"},
    {"abc0x{n:HEX}", NULL, "abc0x48A1D/TC:0 0 f:1", "miss 10"}, /* a line that cuts in */
    {"abc0x{n:HEX}", NULL, "abc0x48A1D/T", "0-10 n=48A1D"},
    {"abc={n:dec}", NULL, "abc=3.07516 s", "0-11 n=3.07516"},
    {"abc={n:dec}", NULL, "abc=3", "0-5 n=3"},
    {"abc={n:dec}", NULL, "abc=.656", "0-8 n=.656"},
    {"abc={n:dec}", NULL, "abc=-1.5", "0-8 n=-1.5"},
    {"abc={n:dec}", NULL, "abc=3.", "miss 5"},
    {"abc={n:dec}", NULL, "abc=1.2.3", "miss 7"},
    {"abc={n:dec}", NULL, "abc=.", "miss 4"},
    {"abc={n:dec}", NULL, "abc=1e5", "miss 5"},
    {"max={n:exp}us", NULL, "max=1.14554e+06us", "0-17 n=1.14554e+06"},
    {"max={n:exp}us", NULL, "max=5e-7us", "0-10 n=5e-7"},
    {"max={n:exp}us", NULL, "max=nanus", "0-9 n=nan"},
    {"max={n:exp}us", NULL, "max=-infus", "0-10 n=-inf"},
    {"max={n:exp}us", NULL, "max=Infinityus", "0-14 n=Infinity"},
    {"max={n:exp}", NULL, "max=5e", "miss 5"},
    {"max={n:exp}e", NULL, "max=5e", "0-6 n=5"},
    {"abc {n:grouped}", NULL, "abc 1,234,567 x", "0-13 n=1,234,567"},
    {"abc {n:grouped}", NULL, "abc 999", "0-7 n=999"},
    {"abc {n:grouped}", NULL, "abc 1234", "miss 7"},
    {"abc{a:grouped11}{b:grouped11} x", NULL, "abc          9    123,456 x", "0-27 a=9 b=123,456"},
    {"abc{a:grouped11}{b:grouped11} x", NULL, "abc        999123,456,789 x",
     "0-27 a=999 b=123,456,789"},
    {"abc{a:grouped11}{b:grouped11} x", NULL, "abc         99123,456,789 x",
     "0-27 a=99 b=123,456,789"},
    {"abc{a:grouped11}{b:grouped11} x", NULL, "abc4,294,967,295123,456,789 x",
     "0-29 a=4,294,967,295 b=123,456,789"},
    {"cmd={c:digit},", NULL, "cmd=1,", "0-6 c=1"},
    {"cmd={c:digit},", NULL, "cmd=10,", "miss 5"},
    {"cmd={c:digit}", NULL, "cmd=10", "miss 5"},
    {"cmd={c:digit},", NULL, "cmd=-1,", "miss 4"},
    /* a number at the beginning, before the tag */
    {"{n:uint} bytes", NULL, "x 4194304 bytes", "2-15 n=4194304"},
    {"{n:uint} bytes", NULL, "4194304 bytes", "0-13 n=4194304"},
    {"{n:uint} bytes", NULL, "x4194304 bytes", "miss 1"},
    {"{n:uint} bytes", NULL, "1.5 bytes", "miss 1"},
    {"{n:uint} bytes", NULL, "-5 bytes", "miss 1"},
    {"{n:int} bytes", NULL, "-5 bytes", "0-8 n=-5"},
    {"{n:dec} bytes", NULL, "v1.5 bytes", "miss 1"},
    {"{n:grouped} bytes", NULL, "1,234 bytes", "0-11 n=1,234"},
    {"{n:grouped} bytes", NULL, "0001,234 bytes", "miss 3"},
    /* words */
    {"abc {w:word} x", NULL, "abc de,f x", "0-10 w=de,f"},
    {"abc {w:word}, x", NULL, "abc de, x", "0-9 w=de"},
    {"Act: {n:uint7} Avg", NULL, "Act:       5 Avg", "0-16 n=5"},
    {"Act: {n:uint7} Avg", NULL, "Act: 9999999 Avg", "0-16 n=9999999"},
    {"Act: {n:uint7} Avg", NULL, "Act:    5 Avg", "miss 5"},
    {"Act:{n:uint5}{m:uint5} Avg", NULL, "Act:   12  345 Avg", "0-18 n=12 m=345"},
    {"Act:{n:uint5}{m:uint5} Avg", NULL, "Act:   1212345 Avg", "0-18 n=12 m=12345"},
    {"Act:{n:int5};", NULL, "Act:  -12;", "0-10 n=-12"},
    {"Act:{n:uint3};", NULL, "Act:12345;", "0-10 n=12345"},
    {"lvl {c:[a-c]}: {w:word}", "lvl", "lvl b: x", "0-8 c=b w=x"},
    {"lvl {c:[a-c]}: {w:word}", "lvl", "lvl d: x", "miss 4"},
    {"lvl {c:[^a-c ]}{d:[]}x-]}", "lvl", "lvl d]", "0-6 c=d d=]"},
    {"lvl {c:[^a-c ]}{d:[]}x-]}", "lvl", "lvl d-", "0-6 c=d d=-"},
    {"abc {w:word}-{n:uint} ", NULL, "abc kworker/0:1-events-12 ",
     "0-26 w=kworker/0:1-events n=12"},
    {"abc {w:word}[, n={n:uint}]", NULL, "abc de, n=5", "0-11 w=de n=5"},
    {"abc {w:word}[, n={n:uint}]", NULL, "abc de,", "0-6 w=de"},
    {"abc {w:word}[, n={n:uint}]", NULL, "abc de", "0-6 w=de"},
    {"abc {w:word}", NULL, "abc ", "miss 4"},
    {"{w:word} abc", NULL, "one two abc", "4-11 w=two"},
    {"{w:word}=abc", NULL, "x=y=abc", "0-7 w=x=y"},
    /* texts */
    {"abc {t:text}", NULL, "abc de f ", "0-9 t=de f "},
    {"abc {t:text}", NULL, "abc ", "0-4 t="},
    {"abc {t:text}.", NULL, "abc de.f.", "0-7 t=de"},
    {"abc {t:text}.$", NULL, "abc de.f.", "0-9 t=de.f"},
    {"abc {t:text} {n:uint}", NULL, "abc x 1y 22", "0-11 t=x 1y n=22"},
    {"abc {t:text}[ ({n:uint})]", NULL, "abc x (5)", "0-9 t=x n=5"},
    {"abc {t:text}[ ({n:uint})]", NULL, "abc x (y)", "0-9 t=x (y)"},
    {"abc[ {t:text}]", NULL, "abc de f", "0-8 t=de f"},
    {"{t:text}-{n:uint} abc", NULL, "a-b-12 abc", "0-10 t=a-b n=12"},
    {"abc{a:text}{b:text}x", NULL, "abc12x", "0-6 a= b=12"},
    /* quoted */
    {"abc {q:quoted}", NULL, "abc \"d e\" f", "0-9 q=d e"},
    {"abc {q:quoted}", NULL, "abc \"\"", "0-6 q="},
    {"abc {q:quoted}", NULL, "abc \"d\\\"e\"", "0-10 q=d\\\"e"},
    {"abc {q:quoted}", NULL, "abc \"de", "miss 7"},
    {"abc {q:quoted}", NULL, "abc de", "miss 4"},
    /* choices: longest first, the others tried too */
    {"abc {c:a|ab|abc}", NULL, "abc abc", "0-7 c=abc"},
    {"abc {c:a|ab|abc}c", NULL, "abc abc", "0-7 c=ab"},
    {"abc {c:a|b}", NULL, "abc c", "miss 4"},
    {"abc {n:uint} {u:us|\xc2\xb5s}", NULL, "abc 5 \xce\xbcs", "0-9 n=5 u=\xce\xbcs"},
    {"abc {n:uint} \xc2\xb5s", NULL, "abc 5 \xce\xbcs", "0-9 n=5"},
    {"abc {n:uint} \xce\xbcs", NULL, "abc 5 \xc2\xb5s", "0-9 n=5"},
    /* optional parts: present first, then absent */
    {"abc[ d][ e]", NULL, "abc d e", "0-7"},
    {"abc[ d][ e]", NULL, "abc e", "0-5"},
    {"abc[ d][ e]", NULL, "abc", "0-3"},
    {"abc[ d] d", NULL, "abc d", "0-5"},
    {"abc[ {n:uint}] {m:uint}", NULL, "abc 5", "0-5 m=5"},
    {"abc[ {n:uint}] {m:uint}", NULL, "abc 5 6", "0-7 n=5 m=6"},
    {"[{n:uint} ]abc", NULL, "7 abc", "0-5 n=7"},
    {"[{n:uint} ]abc", NULL, "x abc", "2-5"},
    /* a field that is not kept */
    {"abc {_:word} {n:uint}", NULL, "abc x 5", "0-7 n=5"},
    /* the next occurrence of the tag */
    {"<R:{n:uint}/>", NULL, "<R:1<R:2/>", "4-10 n=2"},
    {"<R:{n:uint}/>", NULL, "<<R:2/>/>", "1-7 n=2"},
    {"---+{n:uint}", "---", "-----+5", "2-7 n=5"},
};

START_TEST(a_template_matches_this) {
  tg_rule_def def = {.name = "r", .pattern = cases[_i].pattern, .tag = cases[_i].tag};
  tg_ruleset *set = NULL;
  tg_error err = {0};
  char got[256];
  tg_status status = tg_ruleset_new(NULL, &def, 1, &set, &err);
  ck_assert_msg(status == TG_OK, "%s: %s", def.pattern, err.message);
  /* An exact copy, so that a sanitizer sees a step beyond the line. */
  size_t n = strlen(cases[_i].line);
  uint8_t *line = malloc(n + (n == 0));
  ck_assert_ptr_nonnull(line);
  memcpy(line, cases[_i].line, n);
  match_first(set, line, n, got, sizeof got);
  ck_assert_msg(strcmp(got, cases[_i].want) == 0, "'%s' on '%s': got '%s', want '%s'", def.pattern,
                cases[_i].line, got, cases[_i].want);
  free(line);
  tg_ruleset_free(set);
}
END_TEST

/* Lines that take a backtracking matcher without memo for ever: 64 kB of one unit. */
static const struct {
  const char *pattern, *tag, *unit;
} hard[] = {
    {"abc{a:text}{b:text}{c:text}x", NULL, "1"},
    {"abc{a:text} {b:text} {c:text} {d:uint}x", NULL, "1 "},
    {"abc[ a][ a][ a][ a][ a][ a][ a][ a]{t:text}x", NULL, " a"},
    {"abc{a:text}{n:uint}y", NULL, "1"},
    {"abc{a:text}{n:dec}y", NULL, "1.1"},
    {"abc{a:text}{n:exp}y", NULL, "1e1"},
    {"abc{a:text}~x", NULL, "  "},
    {"abc~~{a:text}~ ~ x", "abc", "  "},
    {"abc{a:text}{w:word}-x", NULL, "y-"},
    {"abc{a:text}{q:quoted}x", NULL, "\"\\"},
    {"abc{a:text}{q:quoted}x", NULL, "\"\""},
    {"{n:uint}abc", NULL, "1"},
    {"{n:hex}abc", NULL, "1"},
    {"~{n:dec} abc", NULL, " 1"},
    {"{w:word}abc", NULL, "-"},
    {"[{n:uint}][{m:uint}]~abc", NULL, "1"},
    {"{t:text}:{n:uint} abc", NULL, ":1 "},
    {"{c:1|11|111|1111}abc", NULL, "1"},
    {"{n:grouped} abc", NULL, "1,111"},
    {"abc~[x]~{v:uint} end", NULL, " "},
    {"abc~[x]~[y]~[z]~{v:uint} end", NULL, " "},
    {"abc~[~x]~[~{v:dec}]{t:text}end", NULL, " "},
    {"abc~{a:text}x{b:text}y", NULL, " "},
    {"abc~{t:text} ~{b:text}x[ {c:uint}]z", NULL, " x"},
    {"abc[{a:word}]~[{b:word}]~{c:exp} end", NULL, "a "},
};

START_TEST(time_is_linear_in_the_line) {
  enum { SIZE = 1 << 16 };
  tg_rule_def def = {.name = "r", .pattern = hard[_i].pattern, .tag = hard[_i].tag};
  tg_ruleset *set = NULL;
  tg_error err = {0};
  tg_status status = tg_ruleset_new(NULL, &def, 1, &set, &err);
  ck_assert_msg(status == TG_OK, "%s: %s", def.pattern, err.message);
  uint8_t *line = malloc(SIZE + 8);
  ck_assert_ptr_nonnull(line);
  size_t unit = strlen(hard[_i].unit);
  for (size_t i = 0; i < SIZE; i++) line[i] = (uint8_t)hard[_i].unit[i % unit];
  memcpy(line, "abc", 3);
  memcpy(line + SIZE, "?abc", 4);
  tg_span fields[64];
  tg_scratch *scratch = &set->scratch[0];
  scratch->work = 0;
  (void)tg_ruleset_match(set, 0, line, SIZE + 4, 0, fields, NULL, NULL, NULL);
  (void)tg_ruleset_match(set, 0, line, SIZE + 4, SIZE + 1, fields, NULL, NULL, NULL);
  /* Two tries: at most a few looks per byte and instruction, where a quadratic matcher needs
   * 65,536 per byte. */
  uint64_t bound = 2 * 8 * (uint64_t)set->rules[0].t->n_inst * SIZE;
  ck_assert_msg(scratch->work < bound, "'%s' took %.0f steps, bound %.0f", def.pattern,
                (double)scratch->work, (double)bound);
  free(line);
  tg_ruleset_free(set);
}
END_TEST

/* Every template of a few random items, on lines of one unit: the steps grow as the line does. */
static void random_template(char *out, uint32_t *state, int parts);
static uint64_t steps_on(tg_ruleset *set, const char *unit, size_t n) {
  tg_span fields[64];
  uint8_t *line = malloc(n);
  ck_assert_ptr_nonnull(line);
  for (size_t i = 0; i < n; i++) line[i] = (uint8_t)unit[i % strlen(unit)];
  memcpy(line, "tag", 3);
  memcpy(line + n - 4, "?tag", 4);
  set->scratch[0].work = 0;
  (void)tg_ruleset_match(set, 0, line, n, 0, fields, NULL, NULL, NULL);
  (void)tg_ruleset_match(set, 0, line, n, n - 3, fields, NULL, NULL, NULL);
  free(line);
  return set->scratch[0].work;
}

START_TEST(any_template_is_linear_in_the_line) {
  static const char *const units[] = {" ", "1", "a ", "1 ", "1.1,", "ab", "\"", " x", "e1-"};
  uint32_t state = 977u * (uint32_t)_i + 1;
  for (int i = 0; i < 60; i++) {
    char part[128], text[160];
    tg_ruleset *set = NULL;
    random_template(part, &state, 6);
    snprintf(text, sizeof text, i % 2 == 0 ? "tag%s" : "%stag", part[0] == '^' ? part + 1 : part);
    for (char *dollar = text; i % 2 != 0 && (dollar = strchr(dollar, '$')) != NULL;) *dollar = 'd';
    const tg_rule_def def = {.name = "r", .pattern = text, .tag = "tag"};
    if (tg_ruleset_new(NULL, &def, 1, &set, NULL) != TG_OK) continue;
    for (size_t u = 0; u < sizeof units / sizeof units[0]; u++) {
      const uint64_t few = steps_on(set, units[u], 1000), many = steps_on(set, units[u], 4000);
      ck_assert_msg(many <= 5 * few + 4000,
                    "'%s' on '%s': %.0f steps for 1000 bytes, %.0f for 4000", text, units[u],
                    (double)few, (double)many);
    }
    tg_ruleset_free(set);
  }
}
END_TEST

static bool stop_at_last(void *ctx) { return --*(int *)ctx == 0; }

/* One line may take long: the hook ends it in the middle, and the records before it are there. */
START_TEST(a_long_line_can_be_stopped) {
  enum { SIZE = 1 << 16 };
  const tg_rule_def def = {.name = "r", .pattern = "abc{a:text}{b:text}{c:text}x", .tag = "abc"};
  tg_ruleset *set = NULL;
  tg_reader *reader = NULL;
  tg_records *records = NULL;
  int left = 3;
  const tg_stop stop = {stop_at_last, &left};
  uint8_t *text = malloc(SIZE);
  ck_assert_ptr_nonnull(text);
  memset(text, '1', SIZE);
  memcpy(text, "abc1x\nabc", 9);
  text[SIZE - 1] = '\n';
  ck_assert_int_eq(tg_ruleset_new(NULL, &def, 1, &set, NULL), TG_OK);
  ck_assert_int_eq(tg_reader_new(NULL, set, NULL, &reader, NULL), TG_OK);
  tg_reader_stop(reader, &stop);
  ck_assert_int_eq(tg_reader_feed(reader, text, SIZE, NULL), TG_EINTERRUPTED);
  ck_assert_int_eq(left, 0);
  ck_assert_uint_lt(set->scratch[0].work, 3 * (4096 + SIZE)); /* a run of bytes is one step more */
  tg_reader_stop(reader, NULL);
  ck_assert_int_eq(tg_reader_finish(reader, &records, NULL), TG_OK);
  ck_assert_uint_eq(tg_records_count(records), 1);
  tg_records_free(records);
  tg_reader_free(reader);
  tg_ruleset_free(set);
  free(text);
}
END_TEST

static uint32_t next_random(uint32_t *state) {
  *state = *state * 1664525u + 1013904223u;
  return *state >> 10;
}

/* A random template of the whole language but grouped columns, at most `parts` items long. */
static void random_template(char *out, uint32_t *state, int parts) {
  static const char *const pieces[] = {"a",  "b",  "ab", "-",  ".",  ",",  " ",  "~",  "e",
                                       "1",  "=",  "{{", "~~", "x",  " ~", "~ "};
  static const char *const types[] = {"uint", "int",  "hex",  "HEX",    "dec",   "exp",
                                      "digit", "word", "text", "quoted", "a|ab|b", "1|-|12",
                                      "uint3", "dec4", "HEX2", "[ab1]", "[^ 0-9]", "[x-z,]"};
  bool open = false;
  int inside = 0;
  out[0] = '\0';
  if (next_random(state) % 6 == 0) strcat(out, "^");
  for (int i = 0; i < parts; i++) {
    uint32_t what = next_random(state) % 10;
    char field[32];
    inside++;
    if (what < 5) {
      strcat(out, pieces[next_random(state) % (sizeof pieces / sizeof *pieces)]);
    } else if (what < 8) {
      snprintf(field, sizeof field, "{f%d:%s}", i, types[next_random(state) % 18]);
      strcat(out, field);
    } else if (!open) {
      strcat(out, "[");
      open = true;
      inside = 0;
    } else if (inside > 1) {
      strcat(out, "]");
      open = false;
    }
  }
  if (open) strcat(out, "b]");
  if (next_random(state) % 6 == 0) strcat(out, "$");
}

static size_t random_line(uint8_t *out, size_t size, uint32_t *state) {
  static const char *const pieces[] = {"a",  "b", "ab", "-", ".",   ",",   " ", "  ",
                                       "e",  "1", "12", "=", "{",   "~",   "x", "\"",
                                       "\\", "+", "f",  "F", "nan", "1e5", "\t"};
  size_t n = 0;
  size_t want = next_random(state) % size;
  while (n < want) {
    const char *piece = pieces[next_random(state) % (sizeof pieces / sizeof *pieces)];
    size_t len = strlen(piece);
    if (n + len > want) break;
    memcpy(out + n, piece, len);
    n += len;
  }
  return n;
}

/* The engine and the slow matcher agree on every start of a line: on whether there is a match,
 * where it ends, and every field. */
static int compare_matchers(const tg_template *t, slow_matcher *slow, tg_scratch *scratch,
                            const char *pattern, const uint8_t *line, size_t n) {
  tg_span fields[64];
  tg_match m;
  int matches = 0;
  for (size_t start = 0; start <= n; start++) {
    bool want = slow_match(slow, line, (long)n, (long)start);
    if (slow->steps < 0) continue;
    ck_assert_int_eq(tg_match_begin(&m, t, scratch, line, n, fields), TG_OK);
    bool got = tg_match_at(&m, start);
    ck_assert_msg(got == want, "'%s' on '%.*s' from %zu: %d, want %d", pattern, (int)n,
                  (const char *)line, start, got, want);
    if (!got) continue;
    matches++;
    ck_assert_msg(m.end == (size_t)slow->end, "'%s' on '%.*s' from %zu: ends at %zu, want %ld",
                  pattern, (int)n, (const char *)line, start, m.end, slow->end);
    for (size_t i = 0; i < t->n_fields; i++) {
      ck_assert_msg(fields[i].start == (size_t)slow->field[i].start &&
                        fields[i].end == (size_t)slow->field[i].end,
                    "'%s' on '%.*s' from %zu: field %zu is %zu-%zu, want %ld-%ld", pattern, (int)n,
                    (const char *)line, start, i, fields[i].start, fields[i].end,
                    slow->field[i].start, slow->field[i].end);
    }
  }
  return matches;
}

START_TEST(the_engine_agrees_with_a_slow_matcher) {
  static slow_matcher slow;
  const int rounds = getenv("TICKGAUGE_QUICK") != NULL ? 50 : 500;
  uint32_t state = 1000 + (uint32_t)_i;
  tg_scratch scratch;
  int matches = 0;
  tg_scratch_init(&scratch, tg_alloc_default());
  for (int round = 0; round < rounds; round++) {
    char pattern[512];
    uint8_t line[40];
    tg_template *t = NULL;
    random_template(pattern, &state, 1 + (int)(next_random(&state) % 8));
    if (tg_template_new(NULL, pattern, TG_TEMPLATE_BYTES, NULL, true, &t, NULL) != TG_OK) continue;
    slow_parse(&slow, pattern);
    for (int k = 0; k < 20; k++) {
      size_t n = random_line(line, sizeof line, &state);
      matches += compare_matchers(t, &slow, &scratch, pattern, line, n);
    }
    tg_template_free(t);
  }
  ck_assert_int_gt(matches, rounds); /* a comparison of misses alone would say little */
  tg_match_scratch_free(&scratch);
}
END_TEST

START_TEST(a_row_begins_at_the_first_byte_or_the_first_non_blank) {
  static const char *const rows[] = {"r={n:uint} {w:word}", NULL};
  tg_rule_def def = {.name = "s", .pattern = "table", .rows = rows};
  tg_ruleset *set = NULL;
  tg_span f[64];
  size_t start = 0;
  size_t end = 0;
  tg_near near;
  ck_assert_int_eq(tg_ruleset_new(NULL, &def, 1, &set, NULL), TG_OK);
  const uint8_t *line = (const uint8_t *)"   17 abc rest";
  ck_assert_int_eq(tg_ruleset_match(set, 1, line, 14, 0, f, &start, &end, NULL), TG_OK);
  ck_assert_uint_eq(start, 3);
  ck_assert_uint_eq(end, 9);
  line = (const uint8_t *)"x  17 abc rest";
  ck_assert_int_eq(tg_ruleset_match(set, 1, line, 14, 0, f, &start, &end, &near), TG_ESYNTAX);
  ck_assert_uint_eq(near.at, 0);
  ck_assert_str_eq(near.expected, "a digit");
  tg_ruleset_free(set);
}
END_TEST

START_TEST(arguments_are_checked) {
  tg_rule_def def = {.name = "r", .pattern = "abc"};
  tg_ruleset *set = NULL;
  tg_span f[1];
  ck_assert_int_eq(tg_ruleset_new(NULL, &def, 1, &set, NULL), TG_OK);
  const uint8_t *line = (const uint8_t *)"abc";
  ck_assert_int_eq(tg_ruleset_match(set, 1, line, 3, 0, f, NULL, NULL, NULL), TG_EINVAL);
  ck_assert_int_eq(tg_ruleset_match(set, 0, line, 3, 4, f, NULL, NULL, NULL), TG_EINVAL);
  ck_assert_int_eq(tg_ruleset_match(set, 0, line, 3, 1, f, NULL, NULL, NULL), TG_ESYNTAX);
  ck_assert_int_eq(tg_ruleset_match(set, 0, line, 0, 0, f, NULL, NULL, NULL), TG_ESYNTAX);
  tg_ruleset_free(set);
}
END_TEST

static tg_status match_some(const tg_alloc *a) {
  tg_rule_def def = {.name = "r", .pattern = "abc[ x]{a:text}[ y]{n:uint}~{t:text} z"};
  tg_ruleset *set = NULL;
  tg_status status = tg_ruleset_new(a, &def, 1, &set, NULL);
  const char *line = "abc x y y y y y 1 11 z";
  tg_span f[8];
  if (status == TG_OK)
    status = tg_ruleset_match(set, 0, (const uint8_t *)line, strlen(line), 0, f, NULL, NULL, NULL);
  tg_ruleset_free(set);
  return status;
}

START_TEST(every_allocation_may_fail) { fail_every_allocation(match_some); }
END_TEST

int main(void) {
  TCase *tc = tcase_create("match");
  tcase_set_timeout(tc, 60);
  tcase_add_loop_test(tc, a_template_matches_this, 0, LENGTH(cases));
  tcase_add_loop_test(tc, any_template_is_linear_in_the_line, 0, 4);
  tcase_add_test(tc, a_long_line_can_be_stopped);
  tcase_add_loop_test(tc, time_is_linear_in_the_line, 0, LENGTH(hard));
  tcase_add_loop_test(tc, the_engine_agrees_with_a_slow_matcher, 0, 4);
  tcase_add_test(tc, a_row_begins_at_the_first_byte_or_the_first_non_blank);
  tcase_add_test(tc, arguments_are_checked);
  tcase_add_test(tc, every_allocation_may_fail);
  Suite *s = suite_create("match");
  suite_add_tcase(s, tc);
  SRunner *runner = srunner_create(s);
  srunner_run_all(runner, CK_ENV);
  const int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

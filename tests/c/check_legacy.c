/* check_legacy.c - the drop-in's line reader. What is right comes from the facts about the 2015
 * script: which pattern takes a line, which value stays, what a hex number is.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/optee_legacy_scan.h"
#include "tickgauge/legacy.h"

/* The name of each value in the expectations, in the order of tg_legacy_value. */
static const char *const NAMES[TG_LEGACY_VALUES] = {
    "freq",  "open.start", "open.enter", "open.return", "inv.start", "inv.enter",
    "inv.return", "sys.start", "sys.enter", "sys.finish", "open.do", "inv.do",
    "open.done", "inv.done", "open.recv", "inv.recv", "open.fin", "inv.fin"};

/* What a log leaves, as text: "name=digits " per value that is not zero, then "?digits". */
static void describe(const tg_legacy *l, char *out, size_t size) {
  size_t n = 0;
  out[0] = 0;
  for (int i = 0; i < TG_LEGACY_VALUES; i++) {
    const tg_str s = tg_legacy_digits(l, (tg_legacy_value)i);
    if (s.n == 0) continue;
    n += (size_t)snprintf(out + n, size - n, "%s=%.*s ", NAMES[i], (int)s.n, (const char *)s.p);
  }
  const tg_str u = tg_legacy_unknown(l);
  if (u.n != 0) n += (size_t)snprintf(out + n, size - n, "?%.*s ", (int)u.n, (const char *)u.p);
  if (n != 0) out[n - 1] = 0;
}

/* Reads `text` in pieces of `cut` bytes (0: whole), each in a block of its own so that a read
 * outside it is seen by the sanitizers. */
static tg_status read_cut(const tg_alloc *a, const char *text, size_t n, size_t cut, bool finish,
                          char *out, size_t size) {
  tg_legacy *l = NULL;
  tg_status status = tg_legacy_new(a, &l);
  if (status != TG_OK) return status;
  if (cut == 0) cut = n + 1;
  for (size_t at = 0; at < n && status == TG_OK; at += cut) {
    const size_t part = n - at < cut ? n - at : cut;
    uint8_t *copy = malloc(part);
    ck_assert_ptr_nonnull(copy);
    memcpy(copy, text + at, part);
    status = tg_legacy_feed(l, copy, part);
    free(copy);
  }
  if (status == TG_OK && finish) status = tg_legacy_finish(l);
  if (status == TG_OK) describe(l, out, size);
  tg_legacy_free(l);
  return status;
}

static const size_t CUTS[] = {1, 2, 3, 5, 7, 21, 22, 64, 0};
#define N_CUTS (sizeof CUTS / sizeof CUTS[0])

static void expect(const char *text, size_t n, const char *want) {
  char got[4096];
  for (size_t i = 0; i < N_CUTS; i++) {
    ck_assert_int_eq(read_cut(NULL, text, n, CUTS[i], true, got, sizeof got), TG_OK);
    ck_assert_msg(strcmp(got, want) == 0, "cut %zu of \"%s\": \"%s\", not \"%s\"", CUTS[i], text,
                  got, want);
  }
}

#define F "CounterTimerFrequency: 0x"
#define O "ClientOpenSession: start=0x1, enter_ta=0x2, return=0x3"
#define I "ClientInvokeCommand: start=0x4, enter_ta=0x5, return=0x6"
#define S "SecureSysCall: start=0x7, enter_svc=0x8, return=0x9"
#define D0 "TEEDriver: do smc call, cmd=0, cntvct=0x"
#define D1 "TEEDriver: do smc call, cmd=1, cntvct=0x"

static const struct {
  const char *text;
  const char *want;
} LINES[] = {
    {"", ""},
    {"\n\n", ""},
    {F "3b9aca0\n", "freq=3b9aca0"},
    {F "3b9aca0", "freq=3b9aca0"},
    {O "\n", "open.start=1 open.enter=2 open.return=3"},
    {I "\n", "inv.start=4 inv.enter=5 inv.return=6"},
    {S "\n", "sys.start=7 sys.enter=8 sys.finish=9"},
    {D0 "a\n" D1 "b\n", "open.do=a inv.do=b"},
    {"TEEDriver: finish smc call, cmd=0, cntvct=0xa\n"
     "TEEDriver: finish smc call, cmd=1, cntvct=0xb\n",
     "open.done=a inv.done=b"},
    {"TEECore: receiving smc call, cmd=0, cntvct=0xa\n"
     "TEECore: receiving smc call, cmd=1, cntvct=0xb\n",
     "open.recv=a inv.recv=b"},
    {"TEECore: finish smc call, cmd=0, cntvct=0xa\n"
     "TEECore: finish smc call, cmd=1, cntvct=0xb\n",
     "open.fin=a inv.fin=b"},
    /* a client, syscall or frequency line: the last one; a stamp: the first that is not zero */
    {F "1\n" F "2\n", "freq=2"},
    {F "1\n" F "0\n", ""},
    {O "\nClientOpenSession: start=0xa, enter_ta=0x0, return=0x00c\n",
     "open.start=a open.return=c"},
    {D0 "0\n" D0 "000\n" D0 "77\n" D0 "88\n", "open.do=77"},
    /* commands: 2 is silent, 3 to 9 are told, one digit only */
    {"TEEDriver: do smc call, cmd=2, cntvct=0x1\n", ""},
    {"TEEDriver: do smc call, cmd=9, cntvct=0x1\nTEECore: finish smc call, cmd=3, cntvct=0x0\n"
     "TEECore: receiving smc call, cmd=4, cntvct=0x1\n"
     "TEEDriver: finish smc call, cmd=5, cntvct=0x1",
     "?9345"},
    {"TEEDriver: do smc call, cmd=10, cntvct=0x1\n", ""},
    {"TEEDriver: do smc call, cmd=01, cntvct=0x1\n", ""},
    {"TEEDriver: do smc call, cmd=-1, cntvct=0x1\n", ""},
    {"TEEDriver: do smc call, cmd=a, cntvct=0x1\n", ""},
    {"TEEDriver: do smc call, cmd=, cntvct=0x1\n", ""},
    {"TEEDriver: receiving smc call, cmd=0, cntvct=0x1\n", ""},
    {"TEECore: do smc call, cmd=0, cntvct=0x1\n", ""},
    /* hex: lower case, at least one digit, any number of leading zeros; the last one as long as
     * it goes, the others up to their comma */
    {F "48A1\n", "freq=48"},
    {F "12g4\n", "freq=12"},
    {F "1f_ff\n", "freq=1f"},
    {F "A\n", ""},
    {F "\n", ""},
    {F, ""},
    {"CounterTimerFrequency: 0X1\n", ""},
    {"CounterTimerFrequency: 1\n", ""},
    {F "0000000000000000000000000000000000000000000001\n", "freq=1"},
    {F "123456789abcdef0123456789abcdef0123456789abcdef01\n",
     "freq=123456789abcdef0123456789abcdef0123456789abcdef01"},
    {"ClientOpenSession: start=0x4A0, enter_ta=0x2, return=0x3\n", ""},
    {"ClientOpenSession: start=0x, enter_ta=0x2, return=0x3\n", ""},
    {"ClientOpenSession: start=0x1, enter_ta=0x2, return=0x\n", ""},
    {"ClientOpenSession: start=0x1, enter_ta=0x2, return=0x3F\n",
     "open.start=1 open.enter=2 open.return=3"},
    {"SecureSysCall: start=0x7, enter_ta=0x8, return=0x9\n", ""},
    /* a blank is one byte of 09 0b 0c 0d 20 */
    {"TEEDriver:\tdo\vsmc\fcall,\rcmd=1,\tcntvct=0xe\n", "inv.do=e"},
    {"TEEDriver:  do smc call, cmd=1, cntvct=0xe\n", ""},
    {"TEEDriver:do smc call, cmd=1, cntvct=0xe\n", ""},
    {"TEEDriver:\xa0"
     "do smc call, cmd=1, cntvct=0xe\n",
     ""},
    {"TEEDriver:\x1c"
     "do smc call, cmd=1, cntvct=0xe\n",
     ""},
    {"TEEDriver:\x85"
     "do smc call, cmd=1, cntvct=0xe\n",
     ""},
    {"CounterTimerFrequency:\n0x1\n", ""},
    {"TEEDriver: do smc call, cmd=1,\ncntvct=0xe\n", ""},
    /* only \n ends a line */
    {F "1\r\n" F "2\r\n", "freq=2"},
    {F "1\r" F "2\r", "freq=1"},
    /* anywhere in a line, behind anything; a failed try goes on in what it has read */
    {"[    8.3] NotTEEDriver: do smc call, cmd=1, cntvct=0xe", "inv.do=e"},
    {"TEETEEDriver: do smc call, cmd=1, cntvct=0xe", "inv.do=e"},
    {"ClientClientOpenSession: start=0x1, enter_ta=0x2, return=0x3",
     "open.start=1 open.enter=2 open.return=3"},
    {"ClientOpenSecureSysCall: start=0x7, enter_svc=0x8, return=0x9",
     "sys.start=7 sys.enter=8 sys.finish=9"},
    {"ClientOpenSession: start=0x1, enter_ta=0x2, return=" S,
     "sys.start=7 sys.enter=8 sys.finish=9"},
    {"TEEDriver: do smc call, cmd=TEEDriver: do smc call, cmd=1, cntvct=0xe", "inv.do=e"},
    {"TEEDriver:TEEDriver: do smc call, cmd=1, cntvct=0xe", "inv.do=e"},
    {"TEEDriver: TEECore: finish smc call, cmd=1, cntvct=0xe", "inv.fin=e"},
    {D1 D1 "e", "inv.do=e"},
    {"CounterTimerFrequency: CounterTimerFrequency: 0x5", "freq=5"},
    /* one event a line: the first pattern, then its leftmost match */
    {D0 "1 " F "2\n", "freq=2"},
    {F "2 " D0 "1 " F "3\n", "freq=2"},
    {D0 "1 " S " " I " " O "\n", "open.start=1 open.enter=2 open.return=3"},
    {D0 "1 " S " " I "\n", "inv.start=4 inv.enter=5 inv.return=6"},
    {D0 "1 " S "\n", "sys.start=7 sys.enter=8 sys.finish=9"},
    {D0 "1 " D0 "2\n", "open.do=1"},
    {D0 "0 " D0 "2\n", ""},
    {"TEECore: finish smc call, cmd=0, cntvct=0x1 TEECore: receiving smc call, cmd=0, cntvct=0x2\n",
     "open.recv=2"},
    {"TEECore: finish smc call, cmd=3, cntvct=0x1 TEECore: receiving smc call, cmd=0, cntvct=0x2\n",
     "open.recv=2"},
    {"TEECore: finish smc call, cmd=3, cntvct=0x1 TEEDriver: finish smc call, cmd=4, cntvct=0x2\n",
     "?4"},
    {D0 "1 ClientOpenSession: start=0x1, enter_ta=0x2, retur\n", "open.do=1"},
    {D0 "1 ClientOpenSession: start=0xabc, enter_ta=0xdef, return=\n" D1 "2\n",
     "open.do=1 inv.do=2"},
    {D0 "1ClientOpenSession: start=0x", "open.do=1"},
    {F "1\n" D0 "2 x\n" F "3", "freq=3 open.do=2"},
};

START_TEST(lines) { expect(LINES[_i].text, strlen(LINES[_i].text), LINES[_i].want); }
END_TEST

START_TEST(any_bytes) {
  static const char text[] = "\xef\xbb\xbf\0\0" F "10\0" F "20\n\xff\xfe\0" D0 "3\0\n\0";
  expect(text, sizeof text - 1, "freq=10 open.do=3");
}
END_TEST

/* A byte changed anywhere in a line: it still matches exactly where a blank, a digit of a number
 * or a byte before the tag was changed to one of the same kind. */
START_TEST(every_byte_matters) {
  static const char line[] = "SecureSysCall: start=0x7, enter_svc=0x8, return=0x9\n";
  char text[sizeof line], got[256];
  for (size_t i = 0; i + 2 < sizeof line; i++) {
    memcpy(text, line, sizeof line);
    text[i] = text[i] == ' ' ? '\t' : '#';
    ck_assert_int_eq(read_cut(NULL, text, sizeof line - 1, 0, true, got, sizeof got), TG_OK);
    ck_assert_str_eq(got, line[i] == ' ' ? "sys.start=7 sys.enter=8 sys.finish=9" : "");
  }
}
END_TEST

START_TEST(no_finish_drops_the_open_line) {
  static const char text[] = F "1\n" F "2";
  char got[256];
  for (size_t i = 0; i < N_CUTS; i++) {
    ck_assert_int_eq(read_cut(NULL, text, sizeof text - 1, CUTS[i], false, got, sizeof got), TG_OK);
    ck_assert_str_eq(got, "freq=1");
  }
}
END_TEST

START_TEST(unknown_commands_are_drained) {
  tg_legacy *l = NULL;
  static const char text[] = "TEECore: finish smc call, cmd=7, cntvct=0x1\n";
  ck_assert_int_eq(tg_legacy_new(NULL, &l), TG_OK);
  for (int i = 0; i < 3; i++) {
    ck_assert_int_eq(tg_legacy_feed(l, (const uint8_t *)text, sizeof text - 1), TG_OK);
    ck_assert_uint_eq(tg_legacy_unknown(l).n, 1);
    ck_assert_uint_eq(tg_legacy_unknown(l).p[0], '7');
    tg_legacy_clear_unknown(l);
    ck_assert_uint_eq(tg_legacy_unknown(l).n, 0);
  }
  ck_assert_int_eq(tg_legacy_feed(l, NULL, 0), TG_OK);
  ck_assert_uint_eq(tg_legacy_digits(l, TG_LEGACY_VALUES).n, 0);
  tg_legacy_free(l);
  tg_legacy_free(NULL);
}
END_TEST

/* A number of 100,000 digits over many feeds, with zeros before it. */
START_TEST(long_numbers) {
  enum { DIGITS = 100000, CHUNK = 999 };
  static char text[sizeof F + DIGITS + CHUNK];
  tg_legacy *l = NULL;
  memcpy(text, F, sizeof F - 1);
  memset(text + sizeof F - 1, '0', CHUNK);
  memset(text + sizeof F - 1 + CHUNK, 'c', DIGITS);
  ck_assert_int_eq(tg_legacy_new(NULL, &l), TG_OK);
  for (size_t at = 0; at < sizeof text - 1; at += CHUNK) {
    const size_t n = sizeof text - 1 - at < CHUNK ? sizeof text - 1 - at : CHUNK;
    ck_assert_int_eq(tg_legacy_feed(l, (const uint8_t *)text + at, n), TG_OK);
  }
  ck_assert_int_eq(tg_legacy_finish(l), TG_OK);
  const tg_str s = tg_legacy_digits(l, TG_LEGACY_FREQUENCY);
  ck_assert_uint_eq(s.n, DIGITS);
  for (size_t i = 0; i < s.n; i++) ck_assert_uint_eq(s.p[i], 'c');
  tg_legacy_free(l);
}
END_TEST

/* Counts allocations, and fails the one whose turn it is. */
typedef struct failing {
  size_t calls, fail, live;
} failing;

static void *failing_resize(void *ctx, void *p, size_t size) {
  failing *f = ctx;
  if (f->calls++ == f->fail) return NULL;
  if (p == NULL) f->live++;
  return realloc(p, size);
}

static void failing_release(void *ctx, void *p) {
  failing *f = ctx;
  if (p != NULL) f->live--;
  free(p);
}

START_TEST(every_allocation_fails) {
  static const char text[] = F "3b9aca0\n" O "\n" I "\n" S "\n" D0 "123456789abcdef123\n" D1
                               "e\nTEECore: finish smc call, cmd=7, cntvct=0x1\n" F "1";
  char got[4096];
  bool done = false;
  for (size_t i = 0; !done; i++) {
    ck_assert_uint_lt(i, 1000);
    failing f = {0, i, 0};
    const tg_alloc a = {failing_resize, failing_release, &f};
    const tg_status status = read_cut(&a, text, sizeof text - 1, i % 3 * 7, true, got, sizeof got);
    done = f.calls <= i;
    ck_assert_int_eq(status, done ? TG_OK : TG_ENOMEM);
    ck_assert_uint_eq(f.live, 0);
  }
}
END_TEST

/* The finders against the plain definition, at every start and length over blocks of 64. */
START_TEST(finders_agree) {
  static const char alphabet[] = "::::delnryxYE9 \n\xe5\xf2";
  uint8_t text[300];
  uint32_t seed = 12345;
  for (int round = 0; round < 50; round++) {
    for (size_t i = 0; i < sizeof text; i++) {
      seed = seed * 1664525u + 1013904223u;
      const uint32_t r = seed >> 16;
      text[i] = round % 2 == 0 ? (uint8_t)r : (uint8_t)alphabet[r % (sizeof alphabet - 1)];
    }
    for (size_t from = 1; from < sizeof text; from += 1 + (size_t)round % 7) {
      for (size_t to = from; to <= sizeof text; to += 1 + (size_t)round % 11) {
        size_t want = from;
        while (want < to && !(text[want] == ':' && text[want - 1] != 0 &&
                              strchr("delnry", text[want - 1]) != NULL &&
                              (want + 1 == to || text[want + 1] <= 32))) {
          want++;
        }
        ck_assert_ptr_eq(tg_legacy_find_portable(text + from, text + to), text + want);
        ck_assert_ptr_eq(tg_legacy_find_best()(text + from, text + to), text + want);
      }
    }
  }
}
END_TEST

int main(void) {
  Suite *suite = suite_create("legacy");
  TCase *c = tcase_create("legacy");
  tcase_set_timeout(c, 120);
  tcase_add_loop_test(c, lines, 0, (int)(sizeof LINES / sizeof LINES[0]));
  tcase_add_test(c, any_bytes);
  tcase_add_test(c, every_byte_matters);
  tcase_add_test(c, no_finish_drops_the_open_line);
  tcase_add_test(c, unknown_commands_are_drained);
  tcase_add_test(c, long_numbers);
  tcase_add_test(c, every_allocation_fails);
  tcase_add_test(c, finders_agree);
  suite_add_tcase(suite, c);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_NORMAL);
  const int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? 0 : 1;
}

/* check_scanner.c - every scan of this machine against a search needle by needle.
 * SPDX-License-Identifier: BSD-3-Clause */
#define _POSIX_C_SOURCE 200112L /* setenv */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "support/fail_alloc.h"
#include "text/scanner.h"

static const char *const scans[] = {"portable", "ssse3", "avx2", "avx512", "neon"};
enum { SCANS = sizeof scans / sizeof scans[0] };

static uint64_t random_state = 88172645463325252u;

static uint64_t random_u64(void) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return random_state * UINT64_C(2685821657736338717);
}

static tg_str str(const char *s) { return (tg_str){(const uint8_t *)s, strlen(s)}; }

/* The oracle: at every place every needle in order. */
static void slow_scan(const tg_str *needle, size_t n_needles, const uint8_t *p, size_t n,
                      tg_hits *out) {
  size_t lines = 0;
  for (size_t at = 0; at < n; at++) {
    for (size_t k = 0; k < n_needles; k++) {
      if (n - at < needle[k].n || memcmp(p + at, needle[k].p, needle[k].n) != 0) continue;
      ck_assert_int_eq(tg_hits_push(out, at, k, lines), TG_OK);
    }
    lines += p[at] == '\n';
  }
  out->lines = lines;
  out->escapes = n > 0 && memchr(p, 0x1b, n) != NULL;
  out->returns = n > 0 && memchr(p, '\r', n) != NULL;
}

static void expect_same_hits(const tg_hits *want, const tg_hits *got, const char *scan) {
  ck_assert_msg(want->n == got->n, "%s: %zu hits instead of %zu", scan, got->n, want->n);
  ck_assert_msg(want->lines == got->lines, "%s: %zu lines", scan, got->lines);
  ck_assert_msg(want->escapes == got->escapes, "%s: escapes", scan);
  ck_assert_msg(want->returns == got->returns, "%s: returns", scan);
  for (size_t i = 0; i < want->n; i++) {
    ck_assert_msg(want->v[i].at == got->v[i].at && want->v[i].needle == got->v[i].needle &&
                      want->v[i].lines == got->v[i].lines,
                  "%s: hit %zu at %zu", scan, i, got->v[i].at);
  }
}

/* Scans [p, p+n) by every scan there is and compares; the number of hits. The bytes are copied to
 * the end of a block of their own, so that a checker of memory sees a read beyond them. */
static size_t compare(tg_scanner *s, const tg_str *needle, size_t n_needles, const uint8_t *p,
                      size_t n) {
  tg_hits want = {.alloc = *tg_alloc_default()}, got = {.alloc = *tg_alloc_default()};
  uint8_t *block = malloc(n > 0 ? n : 1);
  ck_assert_ptr_nonnull(block);
  if (n > 0) memcpy(block, p, n);
  slow_scan(needle, n_needles, block, n, &want);
  for (size_t k = 0; k < SCANS; k++) {
    if (tg_scanner_select(s, scans[k]) != TG_OK) continue;
    got.n = 0;
    got.lines = 77;
    ck_assert_int_eq(s->scan(s, block, n, &got), TG_OK);
    expect_same_hits(&want, &got, scans[k]);
  }
  const size_t hits = want.n;
  free(block);
  free(want.v);
  free(got.v);
  return hits;
}

static const char *const console[] = {"CounterTimerFrequency",
                                      "ClientOpenSession:",
                                      "<RT_INSTR:",
                                      "PMF:cpu",
                                      "cntvct=0x",
                                      "TEEDriver:",
                                      "TEECore:",
                                      "TEST COMPLETE",
                                      "copied,",
                                      "stddev=",
                                      "=0x",
                                      "FPGA exec time"};
enum { TAGS = sizeof console / sizeof console[0] };

static size_t console_needles(tg_str *out) {
  for (size_t i = 0; i < TAGS; i++) out[i] = str(console[i]);
  return TAGS;
}

/* Text in which needles, pieces of needles, line ends and other bytes follow each other. */
static size_t console_text(uint8_t *out, size_t room) {
  size_t n = 0;
  while (room - n > 64) {
    const uint64_t r = random_u64();
    const char *tag = console[r >> 8 & 0xff ? (r >> 8) % TAGS : 0];
    size_t part = strlen(tag);
    if (r % 3 == 0) part = (size_t)(r >> 16) % (part + 1);
    if (r % 5 == 0) {
      out[n++] = (uint8_t)(r >> 24);
    } else {
      memcpy(out + n, tag, part);
      n += part;
    }
    if (r % 7 == 0) out[n++] = '\n';
  }
  return n;
}

START_TEST(hits_equal_a_search_needle_by_needle) {
  static uint8_t text[5000];
  tg_str needle[TAGS];
  tg_scanner *s = NULL;
  size_t hits = 0;
  ck_assert_int_eq(tg_scanner_new(NULL, needle, console_needles(needle), &s), TG_OK);
  ck_assert_ptr_nonnull(s->filter);
  for (int round = 0; round < 80; round++) {
    const size_t n = console_text(text, sizeof text);
    const size_t from = (size_t)(random_u64() % 70);
    hits += compare(s, needle, TAGS, text + from, n - from);
  }
  ck_assert_uint_gt(hits, 4000);
  tg_scanner_free(s);
}
END_TEST

/* Every length and, within it, a needle at every place: first and last bytes, block borders. */
START_TEST(needles_are_found_at_every_place_of_every_length) {
  uint8_t text[180];
  const tg_str needle[] = {str("abc"), str("=0x1"), str("Frequency")};
  tg_scanner *s = NULL;
  ck_assert_int_eq(tg_scanner_new(NULL, needle, 3, &s), TG_OK);
  for (size_t n = 0; n < sizeof text; n++) {
    for (size_t k = 0; k < 3; k++) {
      for (size_t at = 0; at + needle[k].n <= n; at++) {
        memset(text, at % 2 == 0 ? '.' : '\n', sizeof text);
        if (at % 5 < 2) text[n - 1 - at % n] = at % 5 == 0 ? 0x1b : '\r';
        memcpy(text + at, needle[k].p, needle[k].n);
        ck_assert_uint_eq(compare(s, needle, 3, text, n), 1);
      }
    }
  }
  tg_scanner_free(s);
}
END_TEST

/* Needles that are parts of each other, and hits that overlap, in order of place and needle. */
START_TEST(overlapping_hits_come_in_order) {
  const tg_str needle[] = {str("aaaa"), str("aaa"), str("Xaaa"), str("aaaX"), str("aXa")};
  static uint8_t text[600];
  tg_scanner *s = NULL;
  size_t hits = 0;
  ck_assert_int_eq(tg_scanner_new(NULL, needle, 5, &s), TG_OK);
  for (int round = 0; round < 100; round++) {
    for (size_t i = 0; i < sizeof text; i++) text[i] = random_u64() % 6 == 0 ? 'X' : 'a';
    hits += compare(s, needle, 5, text, sizeof text);
  }
  ck_assert_uint_gt(hits, 50000);
  tg_scanner_free(s);
}
END_TEST

/* Random needles over small alphabets of all byte values, from none to many. */
START_TEST(random_needles_are_found) {
  static uint8_t text[3000], pool[400 * 12];
  static tg_str needle[400];
  static const size_t counts[] = {0, 1, 2, 5, 8, 9, 17, 64, 400};
  for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
    for (int round = 0; round < 12; round++) {
      const uint8_t base = (uint8_t)random_u64();
      const unsigned letters = 2 + (unsigned)(random_u64() % 20);
      const size_t shortest = round % 3 == 0 ? 1 : 3;
      tg_scanner *s = NULL;
      for (size_t i = 0; i < sizeof text; i++)
        text[i] = (uint8_t)(random_u64() % 40 == 0 ? 10 : base + random_u64() % letters);
      for (size_t k = 0; k < counts[c]; k++) {
        const size_t n = shortest + (size_t)(random_u64() % (12 - shortest));
        memcpy(pool + 12 * k, text + random_u64() % (sizeof text - 12), n);
        needle[k] = (tg_str){pool + 12 * k, n};
      }
      ck_assert_int_eq(tg_scanner_new(NULL, needle, counts[c], &s), TG_OK);
      compare(s, needle, counts[c], text, sizeof text);
      tg_scanner_free(s);
    }
  }
}
END_TEST

START_TEST(short_needles_and_all_bytes_are_found) {
  static const char *const odd[] = {"a", "ab", "\xc2\xb5s", "\xff\xfe\x80\x81"};
  const char *text =
      "stddev=1ab\xc2\xb5s a\xff\xfe\x80\x81 stddev=\n and more to fill a block of 64 ab";
  for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
    const tg_str needle[] = {str("stddev="), str(odd[i])};
    tg_scanner *s = NULL;
    ck_assert_int_eq(tg_scanner_new(NULL, needle, 2, &s), TG_OK);
    ck_assert_ptr_nonnull(s->filter);
    for (size_t n = 0; n <= strlen(text); n++) compare(s, needle, 2, (const uint8_t *)text, n);
    ck_assert_uint_ge(compare(s, needle, 2, (const uint8_t *)text, strlen(text)), 3);
    tg_scanner_free(s);
  }
}
END_TEST

START_TEST(a_set_the_filter_cannot_take_is_scanned_plainly) {
  const tg_str needle[] = {str("stddev="), str("a\nb")};
  const char *text = "stddev=1ab a\nbstddev=\n";
  tg_scanner *s = NULL;
  ck_assert_int_eq(tg_scanner_new(NULL, needle, 2, &s), TG_OK);
  ck_assert_ptr_null(s->filter);
  ck_assert_uint_eq(compare(s, needle, 2, (const uint8_t *)text, strlen(text)), 3);
  tg_scanner_free(s);
}
END_TEST

START_TEST(a_scan_can_be_forced_by_its_name) {
  const tg_str needle[] = {str("stddev=")};
  tg_scanner *s = NULL, *none = NULL;
  ck_assert_int_eq(setenv("TICKGAUGE_SIMD", "portable", 1), 0);
  ck_assert_int_eq(tg_scanner_new(NULL, needle, 1, &s), TG_OK);
  ck_assert(s->scan == tg_scan_portable);
  ck_assert_int_eq(tg_scanner_select(s, "avx9"), TG_EUNSUPPORTED);
  ck_assert(s->scan == tg_scan_portable);
  tg_scanner_free(s);
  ck_assert_int_eq(setenv("TICKGAUGE_SIMD", "avx9", 1), 0);
  ck_assert_int_eq(tg_scanner_new(NULL, needle, 1, &none), TG_EUNSUPPORTED);
  ck_assert_ptr_null(none);
  ck_assert_int_eq(unsetenv("TICKGAUGE_SIMD"), 0);
}
END_TEST

START_TEST(this_processor_has_its_vector_scans) {
  const tg_str needle[] = {str("stddev=")};
  tg_scanner *s = NULL;
  ck_assert_int_eq(tg_scanner_new(NULL, needle, 1, &s), TG_OK);
#if defined(__aarch64__)
  ck_assert_int_eq(tg_scanner_select(s, "neon"), TG_OK);
#elif defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) ck_assert_int_eq(tg_scanner_select(s, "avx2"), TG_OK);
  if (__builtin_cpu_supports("avx512bw")) ck_assert_int_eq(tg_scanner_select(s, "avx512"), TG_OK);
  ck_assert_int_eq(tg_scanner_select(s, "neon"), TG_EUNSUPPORTED);
#endif
  tg_scanner_free(s);
}
END_TEST

static tg_status make_and_scan(const tg_alloc *a) {
  static const char *const text = "PMF:cpu 0 TEECore: cntvct=0x1 TEEDriver: =0x PMF:cpu =0x=0x";
  tg_str needle[TAGS];
  tg_scanner *s = NULL;
  tg_hits hits = {.alloc = *a};
  tg_status status = tg_scanner_new(a, needle, console_needles(needle), &s);
  if (status == TG_OK) status = s->scan(s, (const uint8_t *)text, strlen(text), &hits);
  if (status == TG_OK) ck_assert_uint_eq(hits.n, 9);
  a->release(a->ctx, hits.v);
  tg_scanner_free(s);
  return status;
}

START_TEST(every_allocation_may_fail) { fail_every_allocation(make_and_scan); }
END_TEST

int main(void) {
  TCase *tc = tcase_create("scanner");
  tcase_add_test(tc, hits_equal_a_search_needle_by_needle);
  tcase_add_test(tc, needles_are_found_at_every_place_of_every_length);
  tcase_add_test(tc, overlapping_hits_come_in_order);
  tcase_add_test(tc, random_needles_are_found);
  tcase_add_test(tc, short_needles_and_all_bytes_are_found);
  tcase_add_test(tc, a_set_the_filter_cannot_take_is_scanned_plainly);
  tcase_add_test(tc, a_scan_can_be_forced_by_its_name);
  tcase_add_test(tc, this_processor_has_its_vector_scans);
  tcase_add_test(tc, every_allocation_may_fail);
  tcase_set_timeout(tc, 120);
  Suite *suite = suite_create("scanner");
  suite_add_tcase(suite, tc);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_ENV);
  const int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

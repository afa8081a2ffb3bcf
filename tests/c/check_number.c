/* check_number.c - numbers at 2^k + n for all k, in every notation, against 128-bit printing.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tickgauge/number.h"

__extension__ typedef unsigned __int128 u128;

enum { ROOM = 300, UNTOUCHED = 77 };

/* Writes `v` in `base` into `out`, at least `width` digits; the length. */
static size_t print(u128 v, unsigned base, const char *digits, size_t width, char *out) {
  char reversed[ROOM];
  size_t n = 0;
  while (v > 0 || n < width || n == 0) {
    reversed[n++] = digits[(unsigned)(v % base)];
    v /= base;
  }
  for (size_t i = 0; i < n; i++) out[i] = reversed[n - 1 - i];
  out[n] = '\0';
  return n;
}

static const uint8_t *bytes(const char *s) { return (const uint8_t *)s; }
static const uint8_t *last(const char *s) { return (const uint8_t *)s + strlen(s); }

static const char lower[] = "0123456789abcdef", upper[] = "0123456789ABCDEF";

static void expect_u64(tg_status status, uint64_t got, u128 want, const char *text) {
  if (want > UINT64_MAX) {
    ck_assert_msg(status == TG_EOVERFLOW, "%s: status %d", text, (int)status);
    ck_assert_uint_eq(got, UNTOUCHED);
  } else {
    ck_assert_msg(status == TG_OK, "%s: status %d", text, (int)status);
    ck_assert_msg(got == (uint64_t)want, "%s", text);
  }
}

static void expect_i64(tg_status status, int64_t got, u128 magnitude, bool negative,
                       const char *text) {
  const u128 most = ((u128)1 << 63) - (negative ? 0 : 1);
  if (magnitude > most) {
    ck_assert_msg(status == TG_EOVERFLOW, "%s: status %d", text, (int)status);
    ck_assert_int_eq(got, UNTOUCHED);
  } else {
    ck_assert_msg(status == TG_OK, "%s: status %d", text, (int)status);
    const uint64_t wrapped = negative ? UINT64_C(0) - (uint64_t)magnitude : (uint64_t)magnitude;
    ck_assert_msg(got == (int64_t)wrapped, "%s", text);
  }
}

static void try_unsigned(u128 v, size_t zeros) {
  char text[ROOM];
  uint64_t got = UNTOUCHED;
  tg_status status;
  print(v, 10, lower, zeros, text);
  status = tg_parse_u64(bytes(text), last(text), &got);
  expect_u64(status, got, v, text);
  got = UNTOUCHED;
  print(v, 16, lower, zeros, text);
  status = tg_parse_hex(bytes(text), last(text), false, &got);
  expect_u64(status, got, v, text);
  got = UNTOUCHED;
  print(v, 16, upper, zeros, text);
  status = tg_parse_hex(bytes(text), last(text), true, &got);
  expect_u64(status, got, v, text);
}

static void try_signed(u128 v, size_t zeros) {
  static const char *const signs[] = {"", "+", "-"};
  for (int s = 0; s < 3; s++) {
    char text[ROOM];
    int64_t got = UNTOUCHED;
    strcpy(text, signs[s]);
    print(v, 10, lower, zeros, text + strlen(text));
    const tg_status status = tg_parse_i64(bytes(text), last(text), &got);
    expect_i64(status, got, v, s == 2, text);
  }
}

static void try_grouped(u128 v) {
  char plain[ROOM], text[ROOM];
  uint64_t got = UNTOUCHED;
  size_t at = 0;
  const size_t n = print(v, 10, lower, 0, plain);
  for (size_t i = 0; i < n; i++) {
    if (i > 0 && (n - i) % 3 == 0) text[at++] = ',';
    text[at++] = plain[i];
  }
  text[at] = '\0';
  const tg_status status = tg_parse_grouped(bytes(text), last(text), &got);
  expect_u64(status, got, v, text);
}

/* v written with a point after every digit in turn, and with an exponent. */
static void try_decimal(u128 v, bool negative) {
  char digits[ROOM], text[ROOM];
  const size_t n = print(v, 10, lower, 0, digits);
  for (size_t point = 0; point <= n; point++) {
    for (int exponent = -1; exponent <= 1; exponent++) {
      tg_decimal got = {UNTOUCHED, UNTOUCHED, true};
      size_t at = 0;
      if (negative) text[at++] = '-';
      memcpy(text + at, digits, point);
      at += point;
      if (point < n) text[at++] = '.';
      memcpy(text + at, digits + point, n - point);
      at += n - point;
      text[at] = '\0';
      if (exponent != 0) strcpy(text + at, exponent < 0 ? "e-7" : "E+12");
      const tg_status status = tg_parse_decimal(bytes(text), last(text), true, &got);
      expect_i64(status, got.mantissa, v, negative, text);
      const int32_t exp10 = (exponent < 0 ? -7 : exponent > 0 ? 12 : 0) - (int32_t)(n - point);
      ck_assert_int_eq(got.exp10, status == TG_OK ? exp10 : UNTOUCHED);
      ck_assert_int_eq(got.missing, status != TG_OK);
    }
  }
}

START_TEST(numbers_around_every_power_of_two) {
  for (unsigned k = 0; k <= 100; k++) {
    for (int d = -3; d <= 3; d++) {
      const u128 power = (u128)1 << k;
      if (d < 0 && power < (unsigned)-d) continue;
      const u128 v = d < 0 ? power - (unsigned)-d : power + (unsigned)d;
      for (size_t zeros = 0; zeros < 40; zeros += 13) try_unsigned(v, zeros);
      for (size_t zeros = 0; zeros < 40; zeros += 13) try_signed(v, zeros);
      try_grouped(v);
      try_decimal(v, false);
      try_decimal(v, true);
    }
  }
}
END_TEST

START_TEST(numbers_around_every_power_of_ten) {
  u128 power = 1;
  for (unsigned k = 0; k <= 36; k++, power *= 10) {
    for (int d = -1; d <= 1; d++) {
      const u128 v = d < 0 ? power - (unsigned)-d : power + (unsigned)d;
      try_unsigned(v, 0);
      try_signed(v, 0);
      try_grouped(v);
      try_decimal(v, false);
    }
  }
}
END_TEST

START_TEST(thousands_of_digits_are_an_overflow) {
  enum { LONG = 4000 };
  static char text[LONG + 1];
  uint64_t got = UNTOUCHED;
  tg_decimal d = {UNTOUCHED, 0, false};
  memset(text, '9', LONG);
  ck_assert_int_eq(tg_parse_u64(bytes(text), last(text), &got), TG_EOVERFLOW);
  ck_assert_int_eq(tg_parse_hex(bytes(text), last(text), false, &got), TG_EOVERFLOW);
  ck_assert_int_eq(tg_parse_decimal(bytes(text), last(text), true, &d), TG_EOVERFLOW);
  text[LONG - 1] = 'x'; /* not a number at all wins over a number too large */
  ck_assert_int_eq(tg_parse_u64(bytes(text), last(text), &got), TG_ESYNTAX);
  ck_assert_int_eq(tg_parse_hex(bytes(text), last(text), false, &got), TG_ESYNTAX);
  ck_assert_int_eq(tg_parse_decimal(bytes(text), last(text), true, &d), TG_ESYNTAX);
  memset(text, '0', LONG);
  text[LONG - 1] = '7';
  ck_assert_uint_eq(got, UNTOUCHED);
  ck_assert_int_eq(tg_parse_u64(bytes(text), last(text), &got), TG_OK);
  ck_assert_uint_eq(got, 7);
}
END_TEST

typedef struct wrong {
  const char *u64, *i64, *hex, *grouped, *dec;
} wrong;

/* One column per parser; each row is not a number for it. */
static const wrong wrongs[] = {
    {"", "", "", "", ""},
    {" 1", " 1", " 1", " 1", " 1"},
    {"1 ", "1 ", "1 ", "1 ", "1 "},
    {"+1", "++1", "+1", "+1", "++1.5"},
    {"-1", "-", "-1", "-1", "-"},
    {"1,000", "+", "0x1", "1234", "+"},
    {"1.0", "1.0", "g", "12,34", "1."},
    {"a", "-a", "1G", "12,3456", "."},
    {"0x1", "0x1", "1_0", ",123", "-."},
    {"1e3", "1e3", "1.", "1,", "1.5.2"},
    {"/", "/", "/", "1,,000", "1,5"},
    {":", ":", ":", "1,00a", "e5"},
    {"12345678901234567890x", "-12345678901234567890x", "`", "1234,000", "1.5e"},
    {"\xb2", "\xb2", "@", "1,000 ", "1.5e+"},
    {"--1", "-+1", "aG", "+1,000", "1.5e5.5"},
    {"x", "x", "x", "1.000", ".e5"},
    {"1\n", "1\n", "1\n", "1\n", "na"},
    {"1\r", "1\r", "1\r", "1\r", "infinit"},
    {"z", "z", "z", "0000", "nano"},
    {"z", "z", "z", "0000,000", "1nan"},
};

START_TEST(everything_else_is_not_a_number) {
  for (size_t i = 0; i < sizeof wrongs / sizeof wrongs[0]; i++) {
    const wrong *w = &wrongs[i];
    uint64_t u = UNTOUCHED;
    int64_t s = UNTOUCHED;
    tg_decimal d = {UNTOUCHED, UNTOUCHED, false};
    ck_assert_msg(tg_parse_u64(bytes(w->u64), last(w->u64), &u) == TG_ESYNTAX, "%s", w->u64);
    ck_assert_msg(tg_parse_i64(bytes(w->i64), last(w->i64), &s) == TG_ESYNTAX, "%s", w->i64);
    ck_assert_msg(tg_parse_hex(bytes(w->hex), last(w->hex), true, &u) == TG_ESYNTAX, "%s", w->hex);
    ck_assert_msg(tg_parse_grouped(bytes(w->grouped), last(w->grouped), &u) == TG_ESYNTAX, "%s",
                  w->grouped);
    ck_assert_msg(tg_parse_decimal(bytes(w->dec), last(w->dec), true, &d) == TG_ESYNTAX, "%s",
                  w->dec);
    ck_assert_uint_eq(u, UNTOUCHED);
    ck_assert_int_eq(s, UNTOUCHED);
    ck_assert_int_eq(d.mantissa, UNTOUCHED);
    ck_assert_int_eq(d.exp10, UNTOUCHED);
  }
}
END_TEST

/* Every single byte, as a whole number and inside one. */
START_TEST(only_digits_are_digits) {
  for (unsigned c = 0; c < 256; c++) {
    const uint8_t alone[1] = {(uint8_t)c}, inside[3] = {'1', (uint8_t)c, '2'};
    const bool decimal = c >= '0' && c <= '9', small = c >= 'a' && c <= 'f',
               large = c >= 'A' && c <= 'F';
    uint64_t u = UNTOUCHED;
    ck_assert_int_eq(tg_parse_u64(alone, alone + 1, &u) == TG_OK, decimal);
    ck_assert_int_eq(tg_parse_u64(inside, inside + 3, &u) == TG_OK, decimal);
    ck_assert_int_eq(tg_parse_hex(inside, inside + 3, false, &u) == TG_OK, decimal || small);
    ck_assert_int_eq(tg_parse_hex(inside, inside + 3, true, &u) == TG_OK,
                     decimal || small || large);
  }
}
END_TEST

START_TEST(decimals_keep_their_digits) {
  static const struct {
    const char *text;
    int64_t mantissa;
    int32_t exp10;
    bool plain; /* a number without `exponent` too */
  } rows[] = {
      {"680.0", 6800, -1, true},
      {"3.140625", 3140625, -6, true},
      {"-0.0", 0, -1, true},
      {"+.5", 5, -1, true},
      {"0007", 7, 0, true},
      {"0.00000000000000000000000000001", 1, -29, true},
      {"4.32e+2", 432, 0, false},
      {"1e-9", 1, -9, false},
      {"1E9", 1, 9, false},
      {"1.50e-3", 150, -5, false},
      {"-.5e0", -5, -1, false},
      {"1e2147483647", 1, INT32_MAX, false},
      {"1e-2147483648", 1, INT32_MIN, false},
      {"1e-0000000000000000000000000000001", 1, -1, false},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const char *text = rows[i].text;
    for (int exponent = 0; exponent < 2; exponent++) {
      tg_decimal d = {UNTOUCHED, UNTOUCHED, true};
      const tg_status status = tg_parse_decimal(bytes(text), last(text), exponent != 0, &d);
      if (exponent == 0 && !rows[i].plain) {
        ck_assert_msg(status == TG_ESYNTAX, "%s", text);
        continue;
      }
      ck_assert_msg(status == TG_OK, "%s: status %d", text, (int)status);
      ck_assert_int_eq(d.mantissa, rows[i].mantissa);
      ck_assert_int_eq(d.exp10, rows[i].exp10);
      ck_assert(!d.missing);
    }
  }
}
END_TEST

START_TEST(exponents_beyond_32_bits_overflow) {
  static const char *const rows[] = {"1e2147483648", "1e-2147483649", "1e99999999999999999999",
                                     "0.1e-2147483648", "1e-99999999999999999999"};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    tg_decimal d = {UNTOUCHED, 0, false};
    ck_assert_int_eq(tg_parse_decimal(bytes(rows[i]), last(rows[i]), true, &d), TG_EOVERFLOW);
    ck_assert_int_eq(d.mantissa, UNTOUCHED);
  }
}
END_TEST

START_TEST(nan_and_inf_are_missing_where_exponents_are) {
  static const char *const rows[] = {"nan", "NaN", "-nan", "inf", "+Inf", "-INFINITY", "infinity"};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    tg_decimal d = {UNTOUCHED, UNTOUCHED, false};
    ck_assert_int_eq(tg_parse_decimal(bytes(rows[i]), last(rows[i]), false, &d), TG_ESYNTAX);
    ck_assert(!d.missing);
    ck_assert_int_eq(tg_parse_decimal(bytes(rows[i]), last(rows[i]), true, &d), TG_OK);
    ck_assert(d.missing);
  }
}
END_TEST

START_TEST(rescaling_is_exact_or_says_why_not) {
  static const struct {
    tg_decimal from;
    int32_t exp10;
    int64_t want;
    tg_status status;
  } rows[] = {
      {{432, -2, false}, -3, 4320, TG_OK},
      {{4320, -3, false}, -2, 432, TG_OK},
      {{4321, -3, false}, -2, 0, TG_ERANGE},
      {{-4320, -3, false}, -2, -432, TG_OK},
      {{-4321, -3, false}, -2, 0, TG_ERANGE},
      {{5, 7, false}, 7, 5, TG_OK},
      {{0, INT32_MAX, false}, INT32_MIN, 0, TG_OK},
      {{0, INT32_MIN, false}, INT32_MAX, 0, TG_OK},
      {{1, INT32_MAX, false}, INT32_MIN, 0, TG_EOVERFLOW},
      {{1, INT32_MIN, false}, INT32_MAX, 0, TG_ERANGE},
      {{9, 18, false}, 0, INT64_C(9000000000000000000), TG_OK},
      {{10, 18, false}, 0, 0, TG_EOVERFLOW},
      {{-9, 18, false}, 0, INT64_C(-9000000000000000000), TG_OK},
      {{1, 19, false}, 0, 0, TG_EOVERFLOW},
      {{INT64_C(9000000000000000000), 0, false}, 18, 9, TG_OK},
      {{INT64_C(9000000000000000000), 0, false}, 19, 0, TG_ERANGE},
      {{INT64_MIN, 0, false}, 0, INT64_MIN, TG_OK},
      {{INT64_MIN, 0, false}, -1, 0, TG_EOVERFLOW},
      {{0, 0, true}, 0, 0, TG_EINVAL},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    int64_t got = UNTOUCHED;
    ck_assert_int_eq(tg_decimal_rescale(&rows[i].from, rows[i].exp10, &got), rows[i].status);
    ck_assert_int_eq(got, rows[i].status == TG_OK ? rows[i].want : UNTOUCHED);
  }
}
END_TEST

START_TEST(digits_beyond_the_power_are_rounded_where_five_stay) {
  static const struct {
    const char *text;
    int32_t exp10;
    int64_t want;
    tg_status status;
  } rows[] = {
      {"41.333333333333336", -6, 41333333, TG_OK},
      {"-41.333333333333336", -6, -41333333, TG_OK},
      {"41.33333333333333333333", -6, 41333333, TG_OK}, /* bc -l: more digits than 63 bits have */
      {"0.00000000000000000041333333333", -28, INT64_C(4133333333), TG_OK},
      {"4.1333333333333336e-05", -10, 413333, TG_OK},
      {"99999.5", 0, 100000, TG_OK},
      {"10000.5", 0, 10000, TG_OK}, /* half to even */
      {"10001.5", 0, 10002, TG_OK},
      {"9999.4", 0, 0, TG_ERANGE}, /* four digits would stay */
      {"9999.0", 0, 9999, TG_OK},
      {"0.0000001", -6, 0, TG_ERANGE},
      {"1e-400", -6, 0, TG_ERANGE},
      {"0.0000000000000000000000", -6, 0, TG_OK},
      {"123456789012345678901234567890", 12, INT64_C(123456789012345678), TG_OK}, /* cut behind 18 */
      {"123456789012345678901234567890", 0, 0, TG_EOVERFLOW},
      {"1e300", -6, 0, TG_EOVERFLOW},
      {"1.", -6, 0, TG_ESYNTAX},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    tg_decimal d = {UNTOUCHED, 1, false};
    const tg_status status =
        tg_parse_rounded(bytes(rows[i].text), last(rows[i].text), true, rows[i].exp10, &d);
    ck_assert_msg(status == rows[i].status, "%s: status %d", rows[i].text, status);
    ck_assert_int_eq(d.mantissa, status == TG_OK ? rows[i].want : UNTOUCHED);
    ck_assert_int_eq(d.exp10, status == TG_OK ? rows[i].exp10 : 1);
  }
  tg_decimal d = {UNTOUCHED, 1, false};
  ck_assert_int_eq(tg_parse_rounded(bytes("nan"), last("nan"), true, -6, &d), TG_OK);
  ck_assert(d.missing);
}
END_TEST

int main(void) {
  TCase *tc = tcase_create("number");
  tcase_add_test(tc, numbers_around_every_power_of_two);
  tcase_add_test(tc, numbers_around_every_power_of_ten);
  tcase_add_test(tc, thousands_of_digits_are_an_overflow);
  tcase_add_test(tc, everything_else_is_not_a_number);
  tcase_add_test(tc, only_digits_are_digits);
  tcase_add_test(tc, decimals_keep_their_digits);
  tcase_add_test(tc, digits_beyond_the_power_are_rounded_where_five_stay);
  tcase_add_test(tc, exponents_beyond_32_bits_overflow);
  tcase_add_test(tc, nan_and_inf_are_missing_where_exponents_are);
  tcase_add_test(tc, rescaling_is_exact_or_says_why_not);
  Suite *s = suite_create("number");
  suite_add_tcase(s, tc);
  SRunner *runner = srunner_create(s);
  srunner_run_all(runner, CK_ENV);
  const int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

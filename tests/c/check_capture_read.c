/* check_capture_read.c - captures in every form, however cut; ILA CSV; bounds of all forms.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <check.h>
#include <stdlib.h>

#include "support/capture_text.h"
#include "support/fail_alloc.h"

static const size_t cuts[] = {1, 2, 3, 5, 64, 0};

static void read_base(const wave_text *t, size_t cut) {
  tg_axi *x = wave_axi(t->p, t->n, cut, NULL, NULL);
  check_base(x);
  tg_axi_free(x);
}

static wave w;
static wave_text t;

START_TEST(csv_is_the_same_however_written_and_cut) {
  static const unsigned forms[] = {0, WAVE_RADIX, WAVE_RADIX | WAVE_CRLF | WAVE_BOM,
                                   WAVE_RADIX | WAVE_SEMICOLON, WAVE_RADIX | WAVE_DECIMAL};
  wave_base(&w);
  wave_csv(&w, forms[_i / 6], &t);
  read_base(&t, cuts[_i % 6]);
}
END_TEST

START_TEST(vcd_is_the_same_by_unit_or_clock_and_cut) {
  wave_base(&w);
  wave_vcd(&w, _i / 6 == 1, &t);
  read_base(&t, cuts[_i % 6]);
}
END_TEST

START_TEST(names_bind_by_their_leaf) {
  static const char *const forms[][2] = {
      {"", ""},          {"SLOT_0_AXI/", ""}, {"cpu_", ""},
      {"s_axi_", "_i"},  {"M_AXI_", "_1"},    {"m_axi_gmem_", "_reg"},
      {"a.b.port.", ""}, {"u0/axi[", "]"},    {"slot_0 : ps/S_AXI_HPC0_FPD : ", ""}};
  wave_base(&w);
  w.prefix = forms[_i][0];
  w.suffix = forms[_i][1];
  wave_csv(&w, WAVE_RADIX, &t);
  read_base(&t, 0);
}
END_TEST

START_TEST(a_cut_row_is_dropped_and_said) {
  wave_base(&w);
  wave_csv(&w, WAVE_RADIX, &t);
  tg_capture *c = must_read(t.p, t.n - 20);
  ck_assert_uint_eq(tg_capture_about(c).samples, 23);
  ck_assert(has_problem(tg_capture_problems(c), "cut"));
  tg_capture_free(c);
}
END_TEST

START_TEST(a_cut_header_is_an_error) {
  tg_capture *c = NULL;
  tg_error err = {0};
  const char text[] = "Sample in Buffer,Sample in Window,TRIGGER,a_arva";
  ck_assert_int_eq(wave_read(NULL, text, sizeof text - 1, 3, NULL, &c, &err), TG_ETRUNCATED);
  ck_assert_str_eq(err.message, "the file ends inside its header");
}
END_TEST

START_TEST(no_rows_are_no_samples) {
  wave_base(&w);
  w.samples = 0;
  wave_csv(&w, WAVE_RADIX, &t);
  tg_capture *c = must_read(t.p, t.n);
  ck_assert_uint_eq(tg_capture_about(c).samples, 0);
  tg_capture_free(c);
}
END_TEST

START_TEST(a_row_with_an_empty_first_cell_is_skipped) {
  wave_base(&w);
  wave_csv(&w, 0, &t);
  char *eol = strchr(t.p, '\n');
  wave_text edited = {.n = 0};
  wave_say(&edited, "%.*s,,,a note\n%s", (int)(eol - t.p + 1), t.p, eol + 1);
  read_base(&edited, 0);
}
END_TEST

/* A bus of 1024 bits, columns of constants and words in quotes do not disturb. */
START_TEST(wide_and_worded_columns_are_passed_over) {
  static wave_text wide;
  wave_base(&w);
  wave_csv(&w, WAVE_RADIX, &t);
  wide.n = 0;
  const char *p = t.p;
  for (unsigned line = 0; *p != 0; line++) {
    const char *eol = strchr(p, '\n');
    wave_say(&wide, "%.*s", (int)(eol - p), p);
    if (line == 0) wave_say(&wide, ",big[1023:0],a/<const0>_14,R_Channel_(i1:s0)_(X)[2:0]");
    if (line == 1) wave_say(&wide, ",HEX,HEX,HEX");
    if (line > 1) wave_say(&wide, ",%0256d,0,\"Write (ID:0, Addr:0x00000000)\"", 7);
    wave_say(&wide, "\n");
    p = eol + 1;
  }
  for (size_t i = 0; i < 6; i++) read_base(&wide, cuts[i]);
}
END_TEST

START_TEST(words_stand_for_codes) {
  const char text[] =
      "Sample in Buffer,Sample in Window,TRIGGER,arvalid,arready,arsize[2:0],arburst[1:0],"
      "rvalid,rready,rresp[1:0],rlast,arlen[7:0],arid,rid\n"
      "Radix - UNSIGNED,UNSIGNED,UNSIGNED,HEX,HEX,HEX,HEX,HEX,HEX,HEX,HEX,HEX,HEX,HEX\n"
      "0,0,0,1,1,\"32 bytes\",\"WRAP\",0,1,\"OKAY\",0,00,0,0\n"
      "1,1,1,0,1,\"32 bytes\",\"WRAP\",1,1,\"DECERR\",1,00,0,0\n";
  tg_axi *x = wave_axi(text, sizeof text - 1, 0, NULL, NULL);
  ck_assert(txn_is(x, 0, TG_TXN_BURST, "WRAP"));
  ck_assert(txn_is(x, 0, TG_TXN_RESP, "DECERR"));
  ck_assert_uint_eq(txn_u(x, 0, TG_TXN_BYTES), 32);
  tg_axi_free(x);
}
END_TEST

/* Without a radix row: exactly ceil(width / 4) digits is hex, anything else decimal. */
START_TEST(radix_is_settled_by_the_whole_column) {
  static const char *const cells[][3] = {
      {"00000010", "00000020", "0x10"}, {"00000010", "16", "10"}, {"12345678", "-1", "12345678"}};
  static const uint64_t right[] = {0x10, 10, 12345678};
  wave_text text = {.n = 0};
  tg_table *changes = NULL;
  uint64_t v = 0;
  wave_say(&text,
           "Sample in Buffer,Sample in Window,TRIGGER,arvalid,arready,araddr[31:0]\n"
           "0,0,0,0,0,%s\n1,1,0,0,0,%s\n",
           cells[_i][0], cells[_i][1]);
  tg_capture *c = must_read(text.p, text.n);
  ck_assert_int_eq(tg_capture_changes(c, 2, &changes), TG_OK);
  ck_assert(tg_table_u64(changes, 0, 1, &v));
  ck_assert_uint_eq(v, right[_i]);
  if (_i == 2) {
    ck_assert(tg_table_u64(changes, 1, 1, &v));
    ck_assert_uint_eq(v, UINT32_MAX); /* -1 in 32 bits */
  }
  tg_table_free(changes);
  tg_capture_free(c);
}
END_TEST

/* -54732843948766763197714740953344781197 = 2^128 - that: words from Python's int. */
START_TEST(a_signed_number_of_128_bits_is_kept) {
  const char text[] =
      "Sample in Buffer,Sample in Window,TRIGGER,big[127:0]\n"
      "Radix - UNSIGNED,UNSIGNED,UNSIGNED,SIGNED\n"
      "0,0,1,-54732843948766763197714740953344781197\n";
  const char *keep[] = {"big"};
  tg_capture_options o = {.keep = keep, .n_keep = 1};
  tg_capture *c = NULL;
  tg_table *changes = NULL;
  uint64_t low = 0, high = 0;
  ck_assert_int_eq(wave_read(NULL, text, sizeof text - 1, 0, &o, &c, NULL), TG_OK);
  ck_assert_int_eq(tg_capture_changes(c, 0, &changes), TG_OK);
  ck_assert(tg_table_u64(changes, 0, 1, &low) && tg_table_u64(changes, 0, 2, &high));
  unsigned __int128 value = (unsigned __int128)high << 64 | low;
  unsigned __int128 minus = -value;
  static const char digits[] = "54732843948766763197714740953344781197";
  for (size_t i = sizeof digits - 1; i-- > 0; minus /= 10)
    ck_assert_int_eq((int)(minus % 10), digits[i] - '0');
  ck_assert(minus == 0);
  tg_table_free(changes);
  tg_capture_free(c);
}
END_TEST

START_TEST(what_is_no_capture_is_refused) {
  static const char utf16[] = "\xff\xfeS\0a\0m\0p\0l\0e\0 \0i\0n\0 \0B\0u\0f\0f\0e\0r\0";
  tg_capture *c = NULL;
  tg_error err = {0};
  ck_assert_int_eq(tg_capture_sniff((const uint8_t *)"1,2,3\n", 6), TG_CAPTURE_UNKNOWN);
  ck_assert_int_eq(wave_read(NULL, utf16, sizeof utf16 - 1, 0, NULL, &c, &err), TG_EUNSUPPORTED);
  ck_assert_int_eq(tg_capture_new(NULL, TG_CAPTURE_CSV, NULL, &c, &err), TG_OK);
  ck_assert_int_eq(tg_capture_feed(c, (const uint8_t *)"0,0,0,1\n", 8, &err), TG_OK);
  ck_assert_int_eq(tg_capture_finish(c, &err), TG_ESYNTAX); /* no line was a header */
  tg_capture_free(c);
}
END_TEST

/* ---- memory and limits --------------------------------------------------------------------------
 */

static tg_status run_all(const tg_alloc *a) {
  tg_capture *c = NULL;
  tg_axi *x = NULL;
  tg_table *changes = NULL;
  const tg_capture_map map[] = {{"arvalid", "top/slot_0_axi_arvalid"}};
  const char *keep[] = {"top/slot_0_axi_rdata"};
  const tg_capture_options o = {.map = map, .n_map = 1, .keep = keep, .n_keep = 1};
  tg_status st = wave_read(a, t.p, t.n, 50, &o, &c, NULL);
  if (st == TG_OK) st = tg_axi_new(a, c, NULL, &x, NULL);
  if (st == TG_OK) st = tg_capture_changes(c, 0, &changes);
  tg_table_free(changes);
  tg_axi_free(x);
  tg_capture_free(c);
  return st;
}

START_TEST(every_allocation_may_fail) {
  wave_base(&w);
  w.samples = 16;
  if (_i == 0)
    wave_csv(&w, 0, &t);
  else
    wave_vcd(&w, true, &t);
  fail_every_allocation(run_all);
}
END_TEST

START_TEST(a_row_beyond_the_limit_is_refused) {
  tg_capture *c = NULL;
  tg_error err = {0};
  wave_base(&w);
  wave_csv(&w, WAVE_RADIX, &t);
  tg_capture_options o = {.max_item = 100};
  for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++)
    ck_assert_int_eq(wave_read(NULL, t.p, t.n, cuts[i], &o, &c, &err), TG_ELIMIT);
}
END_TEST

START_TEST(signals_beyond_the_limit_are_refused) {
  tg_capture *c = NULL;
  tg_error err = {0};
  wave_base(&w);
  if (_i == 0)
    wave_csv(&w, 0, &t);
  else
    wave_vcd(&w, true, &t);
  tg_capture_options o = {.max_signals = 5};
  for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++)
    ck_assert_int_eq(wave_read(NULL, t.p, t.n, cuts[i], &o, &c, &err), TG_ELIMIT);
  o.max_signals = 1000;
  ck_assert_int_eq(wave_read(NULL, t.p, t.n, 64, &o, &c, &err), TG_OK);
  tg_capture_free(c);
}
END_TEST

/* A VCD may be one line: blanks of any kind part its words, and no cut makes an item longer. */
START_TEST(a_vcd_without_line_ends_is_read_in_pieces) {
  tg_capture *c = NULL;
  tg_error err = {0};
  wave_text flat = {.n = 0};
  wave_base(&w);
  wave_vcd(&w, true, &t);
  wave_say(&flat, "%s", t.p);
  for (size_t i = 0; i < flat.n; i++)
    if (flat.p[i] == '\n') flat.p[i] = ' ';
  const tg_capture_options o = {.max_item = 128};
  for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
    ck_assert_msg(wave_read(NULL, flat.p, flat.n, cuts[i], &o, &c, &err) == TG_OK, "%s",
                  err.message);
    ck_assert_uint_eq(tg_table_rows(tg_capture_problems(c)), 0);
    tg_capture_free(c);
  }
}
END_TEST

/* A row that lacks its last cell is not the row before it, whose last cell was empty. */
START_TEST(a_short_row_equals_no_row_before) {
  static const char text[] =
      "Sample in Buffer,Sample in Window,TRIGGER,arvalid\n0,0,0,1\n1,1,0,\n2,2,0\n3,3,0,1\n";
  for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
    tg_capture *c = NULL;
    ck_assert_int_eq(wave_read(NULL, text, sizeof text - 1, cuts[i], NULL, &c, NULL), TG_OK);
    ck_assert_uint_eq(tg_capture_about(c).samples, 3);
    ck_assert(has_problem(tg_capture_problems(c), "short-row"));
    tg_capture_free(c);
  }
}
END_TEST

/* Only the first GAP is the gap: with a second one the columns once ran past the signals. */
START_TEST(a_second_gap_is_a_column) {
  static const char text[] =
      "Sample in Buffer,Sample in Window,TRIGGER,GAP,arvalid,arready,a,b,c,d,GAP,e\n"
      "0,0,0,0,1,0,1,1,1,1,0,1\n1,1,0,0,1,1,1,1,1,1,1,1\n2,2,0,0,0,0,1,1,1,1,0,1\n";
  tg_capture *c = must_read(text, sizeof text - 1);
  ck_assert_uint_eq(tg_capture_about(c).signals, 8);
  ck_assert_uint_eq(tg_capture_about(c).gaps, 0);
  tg_str name;
  ck_assert(tg_table_text(tg_capture_signals(c), 6, 0, &name) && name.n == 3);
  tg_table *changes = NULL;
  ck_assert_int_eq(tg_capture_changes(c, 1, &changes), TG_OK); /* arready: 0 1 0 */
  ck_assert_uint_eq(tg_table_rows(changes), 3);
  tg_table_free(changes);
  tg_capture_free(c);
}
END_TEST

START_TEST(a_dump_adopts_nothing) {
  static const char dump[] = "ILA Data Dump\nsample_count :8\ngaps :3 \n";
  tg_capture *d = must_read(dump, sizeof dump - 1);
  ck_assert_int_eq(tg_capture_adopt(d, d), TG_EINVAL);
  tg_capture_free(d);
}
END_TEST

int main(void) {
  TCase *tc = tcase_create("capture_read");
  tcase_add_loop_test(tc, csv_is_the_same_however_written_and_cut, 0, 30);
  tcase_add_loop_test(tc, vcd_is_the_same_by_unit_or_clock_and_cut, 0, 12);
  tcase_add_loop_test(tc, names_bind_by_their_leaf, 0, 9);
  tcase_add_test(tc, a_cut_row_is_dropped_and_said);
  tcase_add_test(tc, a_cut_header_is_an_error);
  tcase_add_test(tc, no_rows_are_no_samples);
  tcase_add_test(tc, a_row_with_an_empty_first_cell_is_skipped);
  tcase_add_test(tc, wide_and_worded_columns_are_passed_over);
  tcase_add_test(tc, words_stand_for_codes);
  tcase_add_loop_test(tc, radix_is_settled_by_the_whole_column, 0, 3);
  tcase_add_test(tc, a_signed_number_of_128_bits_is_kept);
  tcase_add_test(tc, what_is_no_capture_is_refused);
  tcase_add_loop_test(tc, every_allocation_may_fail, 0, 2);
  tcase_add_test(tc, a_row_beyond_the_limit_is_refused);
  tcase_add_loop_test(tc, signals_beyond_the_limit_are_refused, 0, 2);
  tcase_add_test(tc, a_vcd_without_line_ends_is_read_in_pieces);
  tcase_add_test(tc, a_short_row_equals_no_row_before);
  tcase_add_test(tc, a_second_gap_is_a_column);
  tcase_add_test(tc, a_dump_adopts_nothing);
  tcase_set_timeout(tc, 60);
  Suite *s = suite_create("capture_read");
  suite_add_tcase(s, tc);
  SRunner *runner = srunner_create(s);
  srunner_run_all(runner, CK_ENV);
  const int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

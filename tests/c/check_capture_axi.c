/* check_capture_axi.c - matching and counting: each case is right by construction.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <check.h>
#include <stdlib.h>

#include "support/wave.h"

static wave w;
static wave_text t;

static tg_axi *analyse(const tg_axi_options *o) {
  wave_csv(&w, WAVE_RADIX, &t);
  return wave_axi(t.p, t.n, 0, NULL, o);
}

START_TEST(reads_of_two_ids_interleave) {
  wave_idle(&w, 24);
  wave_command(&w, true, 1, 1, 0, 0x100, 2);
  wave_command(&w, true, 2, 2, 1, 0x200, 2);
  wave_r(&w, 5, 1, false);
  wave_r(&w, 6, 0, false);
  wave_r(&w, 7, 1, true);
  wave_r(&w, 8, 0, true);
  tg_axi *x = analyse(NULL);
  ck_assert_uint_eq(txn_u(x, 0, TG_TXN_DATA_FIRST), 6);
  ck_assert_uint_eq(txn_u(x, 0, TG_TXN_DATA_LAST), 8);
  ck_assert_uint_eq(txn_u(x, 1, TG_TXN_DATA_FIRST), 5);
  ck_assert_uint_eq(txn_u(x, 1, TG_TXN_DATA_LAST), 7);
  ck_assert_uint_eq(tg_axi_about(x).interleaves, 2);
  ck_assert_uint_eq(tg_axi_about(x).reads_reordered, 1);
  ck_assert_uint_eq(tg_axi_about(x).max_reads, 2);
  tg_axi_free(x);
}
END_TEST

START_TEST(one_id_stays_in_order_and_queues) {
  wave_idle(&w, 24);
  wave_command(&w, true, 1, 1, 0, 0x100, 1);
  wave_command(&w, true, 2, 2, 0, 0x200, 1);
  wave_r(&w, 5, 0, true);
  wave_r(&w, 9, 0, true);
  tg_axi *x = analyse(NULL);
  ck_assert_uint_eq(txn_u(x, 0, TG_TXN_DATA_LAST), 5);
  ck_assert_uint_eq(txn_u(x, 1, TG_TXN_DATA_LAST), 9);
  ck_assert_int_eq(txn_i(x, 1, TG_TXN_QUEUE), -3); /* accepted 3 before the one before it ended */
  tg_axi_free(x);
}
END_TEST

START_TEST(write_data_may_lead_its_address) {
  wave_idle(&w, 24);
  wave_reset(&w);
  wave_w(&w, 2, false);
  wave_w(&w, 3, true);
  wave_command(&w, false, 5, 6, 1, 0x100, 2);
  wave_b(&w, 9, 1);
  tg_axi *x = analyse(NULL);
  ck_assert_uint_eq(txn_u(x, 0, TG_TXN_DATA_FIRST), 2);
  ck_assert_int_eq(txn_i(x, 0, TG_TXN_FIRST_DATA), -4);
  ck_assert_int_eq(txn_i(x, 0, TG_TXN_RESPONSE), 3);
  ck_assert_uint_eq(txn_flags(x, 0), TG_AXI_F_W_FIRST | TG_AXI_F_COUNTED);
  tg_axi_free(x);
}
END_TEST

START_TEST(data_under_way_at_the_start_is_an_orphan) {
  wave_idle(&w, 24);
  wave_w(&w, 0, false);
  wave_w(&w, 1, true);
  wave_b(&w, 4, 2);
  wave_command(&w, false, 6, 6, 1, 0x100, 1);
  wave_w(&w, 7, true);
  wave_b(&w, 9, 1);
  wave_r(&w, 3, 3, false);
  wave_r(&w, 5, 3, true);
  tg_axi *x = analyse(NULL);
  ck_assert_uint_eq(tg_axi_about(x).orphans, 2);
  /* one write was open at the start, or more: the span of the next is a lower bound */
  ck_assert_uint_eq(tg_axi_about(x).complete_writes, 0);
  ck_assert_uint_eq(tg_axi_about(x).bound_writes, 1);
  ck_assert(txn_is(x, 0, TG_TXN_STATUS, "orphan"));
  ck_assert_uint_eq(txn_u(x, 0, TG_TXN_B_ACCEPT), 4);
  ck_assert_uint_eq(txn_u(x, 1, TG_TXN_DATA_LAST), 5);
  /* a read was open since the window began: samples 0 to 5 */
  ck_assert_uint_eq(tg_axi_about(x).read_open, 6);
  tg_axi_free(x);
}
END_TEST

/* The reset ends what is open; nothing is open behind it, whatever came before. */
START_TEST(a_reset_drops_what_is_open) {
  wave_idle(&w, 40);
  wave_add(&w, "aresetn", 1, 1);
  wave_set(&w, "aresetn", 10, 12, 0);
  wave_command(&w, true, 2, 2, 0, 0x100, 2);
  wave_command(&w, false, 3, 3, 0, 0x200, 1);
  wave_r(&w, 8, 0, false);
  wave_command(&w, true, 20, 20, 0, 0x300, 1);
  wave_r(&w, 25, 0, true);
  tg_axi *x = analyse(NULL);
  ck_assert(txn_is(x, 0, TG_TXN_WHY, "a reset follows"));
  ck_assert(txn_is(x, 1, TG_TXN_WHY, "a reset follows"));
  ck_assert_uint_eq(txn_flags(x, 2), TG_AXI_F_COUNTED);
  ck_assert_int_eq(txn_i(x, 2, TG_TXN_SPAN), 5);
  ck_assert_uint_eq(tg_axi_about(x).in_reset, 3);
  ck_assert_uint_eq(tg_axi_about(x).protocol + tg_axi_about(x).orphans, 0);
  tg_axi_free(x);
}
END_TEST

/* System ILA counts what is open: 1 at the first sample, so the first data is not that of 0x100. */
START_TEST(counters_tell_how_many_were_open) {
  wave_idle(&w, 24);
  wave_add(&w, "ar_cnt", 2, 1);
  wave_command(&w, true, 2, 2, 0, 0x100, 2);
  wave_r(&w, 5, 0, true);
  wave_r(&w, 8, 0, false);
  wave_r(&w, 9, 0, true);
  tg_axi *x = analyse(NULL);
  ck_assert_uint_eq(tg_axi_about(x).orphans, 1);
  ck_assert_uint_eq(tg_axi_about(x).protocol, 0);
  ck_assert_uint_eq(txn_flags(x, 0), TG_AXI_F_COUNTED);
  ck_assert_int_eq(txn_i(x, 0, TG_TXN_SPAN), 7);
  ck_assert_uint_eq(tg_axi_about(x).read_open, 10);
  tg_axi_free(x);
}
END_TEST

/* AXI3: the data of two writes alternates, told apart by WID. */
START_TEST(write_data_interleaves_by_wid) {
  wave_idle(&w, 24);
  wave_reset(&w);
  wave_add(&w, "wid", 2, 0);
  wave_command(&w, false, 2, 2, 1, 0x100, 2);
  wave_command(&w, false, 3, 3, 2, 0x200, 2);
  for (unsigned k = 0; k < 4; k++) {
    wave_w(&w, 5 + k, k >= 2);
    wave_set(&w, "wid", 5 + k, 5 + k, k % 2 == 0 ? 2 : 1);
  }
  wave_b(&w, 12, 2);
  wave_b(&w, 14, 1);
  tg_axi *x = analyse(NULL);
  ck_assert_uint_eq(tg_axi_about(x).protocol, 0);
  ck_assert_uint_eq(tg_axi_about(x).complete_writes, 2);
  ck_assert_uint_eq(txn_u(x, 0, TG_TXN_DATA_FIRST), 6);
  ck_assert_uint_eq(txn_u(x, 0, TG_TXN_DATA_LAST), 8);
  ck_assert_uint_eq(txn_u(x, 1, TG_TXN_DATA_FIRST), 5);
  ck_assert_uint_eq(txn_u(x, 1, TG_TXN_DATA_LAST), 7);
  tg_axi_free(x);
}
END_TEST

/* A length that does not agree with LAST says that one more was open, not that the design errs. */
START_TEST(a_wrong_length_overturns_the_guess_about_the_start) {
  wave_idle(&w, 40);
  wave_command(&w, true, 0, 0, 0, 0x100, 1);
  wave_r(&w, 3, 0, false);
  wave_r(&w, 4, 0, true);
  wave_r(&w, 8, 0, true);
  tg_axi *x = analyse(NULL);
  ck_assert_uint_eq(tg_axi_about(x).protocol, 0);
  ck_assert_uint_eq(tg_axi_about(x).orphans, 1);
  ck_assert_int_eq(txn_i(x, 0, TG_TXN_SPAN), 8);
  tg_axi_free(x);
}
END_TEST

START_TEST(without_last_the_length_counts) {
  wave_base(&w);
  wave_drop(&w, "rlast");
  wave_drop(&w, "wlast");
  tg_axi *x = analyse(NULL);
  check_base(x);
  tg_axi_free(x);
}
END_TEST

START_TEST(without_ids_order_counts) {
  wave_base(&w);
  wave_drop(&w, "rid");
  wave_drop(&w, "arid");
  wave_drop(&w, "bid");
  wave_drop(&w, "awid");
  tg_axi *x = analyse(NULL);
  check_base(x);
  tg_axi_free(x);
}
END_TEST

START_TEST(without_length_last_counts) {
  wave_base(&w);
  wave_drop(&w, "arlen");
  wave_drop(&w, "awlen");
  tg_axi *x = analyse(NULL);
  check_base(x);
  tg_axi_free(x);
}
END_TEST

START_TEST(without_both_nothing_is_guessed) {
  wave_base(&w);
  wave_drop(&w, "arlen");
  wave_drop(&w, "rlast");
  tg_axi *x = analyse(NULL);
  ck_assert(txn_is(x, 0, TG_TXN_STATUS, "incomplete"));
  ck_assert(txn_is(x, 0, TG_TXN_WHY, "neither length nor LAST is in the capture"));
  tg_axi_free(x);
}
END_TEST

START_TEST(last_at_another_beat_is_a_protocol_error) {
  wave_base(&w);
  wave_reset(&w);
  if (_i == 0) { /* early */
    wave_set(&w, "rlast", 9, 9, 1);
    wave_set(&w, "rvalid", 12, 12, 0);
  } else { /* late */
    wave_set(&w, "rlast", 12, 12, 0);
    wave_r(&w, 13, 1, true);
  }
  tg_axi *x = analyse(NULL);
  ck_assert_uint_eq(tg_axi_about(x).protocol, 1);
  ck_assert_uint_eq(txn_flags(x, 0), TG_AXI_F_PROTOCOL);
  ck_assert_uint_eq(tg_axi_about(x).complete_reads, 0);
  ck_assert_uint_eq(tg_table_rows(tg_axi_table(x, "problems")), 1);
  tg_axi_free(x);
}
END_TEST

START_TEST(a_response_before_its_data_is_a_protocol_error) {
  wave_base(&w);
  wave_set(&w, "bvalid", 14, 14, 0);
  wave_b(&w, 8, 2);
  tg_axi *x = analyse(NULL);
  ck_assert_uint_ne(txn_flags(x, 1) & TG_AXI_F_PROTOCOL, 0);
  tg_axi_free(x);
}
END_TEST

START_TEST(valid_that_falls_is_a_protocol_error) {
  wave_idle(&w, 12);
  wave_set(&w, "arready", 0, 11, 0);
  wave_set(&w, "arvalid", 3, 5, 1);
  tg_axi *x = analyse(NULL);
  ck_assert_uint_eq(tg_axi_about(x).protocol, 1);
  ck_assert_uint_eq(tg_axi_about(x).reads, 0);
  tg_axi_free(x);
}
END_TEST

START_TEST(unknown_valid_makes_it_uncertain_unknown_data_does_not) {
  wave_base(&w);
  wave_reset(&w);
  wave_set(&w, _i == 0 ? "rvalid" : "rdata", 10, 10, WAVE_X);
  tg_axi *x = analyse(NULL);
  ck_assert_uint_eq(txn_flags(x, 0), _i == 0 ? TG_AXI_F_UNCERTAIN : TG_AXI_F_COUNTED);
  ck_assert_uint_eq(tg_axi_about(x).unknown, _i == 0 ? 1 : 0);
  tg_axi_free(x);
}
END_TEST

START_TEST(both_ends_must_be_inside) {
  wave_base(&w);
  w.samples = 12;
  tg_axi *x = analyse(NULL);
  for (size_t i = 0; i < 2; i++) {
    ck_assert(txn_is(x, i, TG_TXN_STATUS, "incomplete"));
    ck_assert(txn_is(x, i, TG_TXN_WHY, "the capture ends"));
  }
  ck_assert_uint_eq(txn_u(x, 0, TG_TXN_SEEN), 1);
  ck_assert_uint_eq(tg_axi_about(x).reads, 1);
  ck_assert_uint_eq(tg_axi_about(x).complete_reads, 0);
  tg_axi_free(x);
}
END_TEST

START_TEST(an_address_up_at_the_start_has_no_known_start) {
  wave_idle(&w, 12);
  wave_command(&w, true, 0, 2, 0, 0x100, 1);
  wave_r(&w, 5, 0, true);
  tg_axi *x = analyse(NULL);
  ck_assert_uint_eq(txn_flags(x, 0), TG_AXI_F_START | TG_AXI_F_LOWER);
  tg_axi_free(x);
}
END_TEST

/* The second window begins at row 24: its first data answers nothing of the first. */
START_TEST(windows_part_everything) {
  wave_base(&w);
  w.samples = 12;
  wave_csv(&w, WAVE_RADIX, &t);
  wave_idle(&w, 12);
  wave_r(&w, 1, 1, true);
  wave_csv_rows(&w, WAVE_RADIX, 12, &t);
  tg_axi *x = wave_axi(t.p, t.n, 0, NULL, NULL);
  uint32_t window = 0;
  ck_assert(txn_is(x, 0, TG_TXN_WHY, "its window ends"));
  ck_assert(txn_is(x, 2, TG_TXN_STATUS, "orphan"));
  ck_assert(tg_table_u32(tg_axi_table(x, "transactions"), 2, TG_TXN_WINDOW, &window));
  ck_assert_uint_eq(window, 1);
  tg_axi_free(x);
}
END_TEST

/* Rows 0 to 9, then 20 on: the numbers in the buffer jump. */
START_TEST(a_gap_parts_unless_ignored) {
  wave_base(&w);
  wave_csv(&w, WAVE_RADIX, &t);
  char *row = strstr(t.p, "\n10,10,");
  ck_assert_ptr_nonnull(row);
  memcpy(row, "\n90,90,", 7);
  tg_axi_options o = {.ignore_gaps = _i == 1};
  char *next = strstr(t.p, "\n11,11,");
  memcpy(next, "\n91,91,", 7);
  for (unsigned k = 12; k < 24; k++) {
    char from[16], to[16];
    snprintf(from, sizeof from, "\n%u,%u,", k, k);
    snprintf(to, sizeof to, "\n%u,%u,", k + 80, k + 80);
    char *at = strstr(t.p, from);
    ck_assert_ptr_nonnull(at);
    if (k < 20) memcpy(at, to, 7);
    if (k >= 20) memset(at + 1, 0, 0), t.n = (size_t)(at + 1 - t.p);
    if (k >= 20) break;
  }
  tg_axi *x = wave_axi(t.p, t.n, 0, NULL, &o);
  if (_i == 0) {
    ck_assert(txn_is(x, 0, TG_TXN_WHY, "a gap follows"));
    ck_assert_uint_eq(txn_flags(x, 0), TG_AXI_F_LOWER);
  } else {
    ck_assert(txn_is(x, 0, TG_TXN_STATUS, "complete"));
    ck_assert_uint_eq(txn_flags(x, 0), TG_AXI_F_LOWER); /* no figure rests on it */
  }
  tg_axi_free(x);
}
END_TEST

/* A ChipScoPy GAP column; its radix row is one cell short and its gap cells are X. */
START_TEST(a_gap_column_marks_the_sample) {
  const char text[] =
      "Sample in Buffer,Sample in Window,TRIGGER,GAP,arvalid,arready,araddr[7:0],rvalid,rready\n"
      "Radix - UNSIGNED,UNSIGNED,UNSIGNED,HEX,HEX,UNSIGNED,HEX,HEX\n"
      "0,0,0,0,1,1,16,0,1\n1,1,0,1,X,X,X,X,X\n2,2,0,0,0,1,0,1,1\n";
  tg_axi *x = wave_axi(text, sizeof text - 1, 0, NULL, NULL);
  ck_assert_uint_eq(txn_u(x, 0, TG_TXN_ADDR), 16);
  ck_assert(txn_is(x, 0, TG_TXN_WHY, "a gap follows"));
  ck_assert(txn_is(x, 1, TG_TXN_STATUS, "orphan"));
  tg_axi_free(x);
}
END_TEST

/* 40 cycles of W beats hold the reads back, then R runs in every cycle. */
START_TEST(blocked_reads_are_told_by_the_contrast) {
  wave_idle(&w, 64);
  wave_command(&w, true, 0, 0, 0, 0, 26);
  wave_command(&w, false, 0, 0, 0, 0, 33);
  wave_set(&w, "wvalid", 1, 33, 1);
  wave_set(&w, "wlast", 33, 33, 1);
  wave_set(&w, "rvalid", 38, 63, 1);
  wave_set(&w, "rlast", 63, 63, 1);
  tg_axi *x = analyse(NULL);
  tg_axi_figures f = tg_axi_about(x);
  ck_assert_uint_eq(f.blocked, 33);
  ck_assert_uint_eq(f.r_and_w, 0);
  ck_assert_uint_eq(f.r_only, 26);
  ck_assert_uint_eq(f.neither, 4);
  ck_assert_uint_eq(f.tail_median, 4);
  ck_assert_uint_eq(f.tail_n, 1);
  ck_assert(f.p_given_w == 0.0 && f.p_given_no_w == 26.0 / 30.0);
  ck_assert_int_eq(f.verdict, TG_AXI_TOO_FEW); /* 30 cycles without W */
  ck_assert_uint_eq(txn_u(x, 0, TG_TXN_BLOCKED), 33);
  tg_axi_free(x);
}
END_TEST

START_TEST(the_master_s_own_wait_is_apart) {
  wave_idle(&w, 12);
  wave_command(&w, true, 0, 0, 0, 0, 1);
  wave_set(&w, "rvalid", 2, 6, 1);
  wave_set(&w, "rlast", 2, 6, 1);
  wave_set(&w, "rready", 2, 5, 0);
  wave_set(&w, "wvalid", 1, 6, 1);
  tg_axi *x = analyse(NULL);
  ck_assert_uint_eq(tg_axi_about(x).w_only, 5);
  ck_assert_uint_eq(tg_axi_about(x).blocked, 1);
  ck_assert_uint_eq(tg_axi_about(x).master_stall, 4);
  tg_axi_free(x);
}
END_TEST

START_TEST(payload_takes_the_unaligned_head_off) {
  static const struct {
    uint64_t burst, bytes;
  } rows[] = {{0, 4 * 5}, {1, 4 * 8 - 3}, {2, 4 * 8}};
  wave_idle(&w, 16);
  wave_add(&w, "arburst", 2, rows[_i].burst);
  wave_command(&w, true, 0, 0, 0, 0x1003, 4);
  for (unsigned k = 4; k < 8; k++) wave_r(&w, k, 0, k == 7);
  tg_axi *x = analyse(NULL);
  ck_assert_uint_eq(txn_u(x, 0, TG_TXN_BYTES), rows[_i].bytes);
  tg_axi_free(x);
}
END_TEST

START_TEST(the_kind_follows_the_signals) {
  static const struct {
    const char *drop[10];
    const char *add;
    unsigned width;
    tg_axi_kind kind;
  } rows[] = {{{NULL}, NULL, 0, TG_AXI_4},
              {{NULL}, "wid", 2, TG_AXI_3},
              {{"arlen", "awlen", NULL}, "arlen", 4, TG_AXI_3},
              {{NULL}, "awlock", 2, TG_AXI_3},
              {{"arlen", "awlen", "rlast", "wlast", NULL},
               NULL,
               0,
               TG_AXI_LITE}};
  wave_base(&w);
  for (size_t i = 0; rows[_i].drop[i] != NULL; i++) wave_drop(&w, rows[_i].drop[i]);
  if (rows[_i].add != NULL) wave_add(&w, rows[_i].add, rows[_i].width, 0);
  tg_axi *x = analyse(NULL);
  ck_assert_int_eq(tg_axi_about(x).kind, rows[_i].kind);
  tg_axi_free(x);
}
END_TEST

/* A System ILA's ctrl words stand for the scalars: bit 0 VALID, 1 READY, 2 LAST. */
START_TEST(ctrl_stands_for_the_scalars) {
  static const struct {
    const char *ctrl, *bits[3];
    unsigned width;
  } rows[] = {{"ar_ctrl", {"arvalid", "arready", NULL}, 2},
              {"r_ctrl", {"rvalid", "rready", "rlast"}, 3},
              {"aw_ctrl", {"awvalid", "awready", NULL}, 2},
              {"w_ctrl", {"wvalid", "wready", "wlast"}, 3},
              {"b_ctrl", {"bvalid", "bready", NULL}, 2}};
  wave_base(&w);
  for (size_t i = 0; i < 5; i++) {
    unsigned to = wave_add(&w, rows[i].ctrl, rows[i].width, 0);
    for (unsigned bit = 0; bit < rows[i].width; bit++)
      for (unsigned s = 0; s < w.signals; s++)
        if (strcmp(w.name[s], rows[i].bits[bit]) == 0)
          for (unsigned k = 0; k < w.samples; k++) w.v[to][k] |= w.v[s][k] << bit;
    for (unsigned bit = 0; bit < rows[i].width; bit++) wave_drop(&w, rows[i].bits[bit]);
  }
  tg_axi *x = analyse(NULL);
  check_base(x);
  tg_axi_free(x);
}
END_TEST

START_TEST(a_missing_ready_is_assumed_only_on_request) {
  static const tg_axi_assume assume[] = {{"bready", 1}};
  tg_axi_options o = {.assume = assume, .n_assume = 1};
  wave_base(&w);
  wave_drop(&w, "bready");
  tg_axi *x = analyse(NULL);
  ck_assert(txn_is(x, 1, TG_TXN_WHY, "the B channel is not in the capture"));
  tg_axi_free(x);
  x = analyse(&o);
  check_base(x);
  tg_axi_free(x);
}
END_TEST

START_TEST(a_map_wins_over_names) {
  const tg_capture_map map[] = {{"arvalid", "top/slot_0_axi_foo"}};
  tg_capture_options o = {.map = map, .n_map = 1};
  wave_base(&w);
  for (unsigned i = 0; i < w.signals; i++)
    if (strcmp(w.name[i], "arvalid") == 0) w.name[i] = "foo";
  wave_csv(&w, WAVE_RADIX, &t);
  tg_axi *x = wave_axi(t.p, t.n, 0, &o, NULL);
  check_base(x);
  tg_axi_free(x);
}
END_TEST

START_TEST(lanes_cover_the_range_asked_for) {
  tg_axi_options o = {.lanes = true, .lane_first = 2, .lane_last = 13};
  wave_base(&w);
  tg_axi *x = analyse(&o);
  const tg_table *lanes = tg_axi_table(x, "lanes");
  uint64_t covered[5] = {0};
  for (size_t i = 0; i < tg_table_rows(lanes); i++) {
    static const char *const names[] = {"AR", "AW", "W", "R", "B"};
    tg_str ch = {0};
    uint64_t first = 0, last = 0;
    ck_assert(tg_table_text(lanes, i, 0, &ch) && tg_table_u64(lanes, i, 2, &first) &&
              tg_table_u64(lanes, i, 3, &last));
    ck_assert(first >= 2 && last <= 13 && first <= last);
    for (unsigned c = 0; c < 5; c++)
      if (ch.n == strlen(names[c]) && memcmp(ch.p, names[c], ch.n) == 0)
        covered[c] += last - first + 1;
  }
  for (unsigned c = 0; c < 5; c++) ck_assert_uint_eq(covered[c], 12);
  tg_axi_free(x);
}
END_TEST

START_TEST(wrong_questions_are_refused) {
  static const tg_axi_assume assume[] = {{"araddr", 1}};
  tg_capture *c = NULL;
  tg_axi *x = NULL;
  tg_error err = {0};
  wave_base(&w);
  wave_csv(&w, WAVE_RADIX, &t);
  ck_assert_int_eq(wave_read(NULL, t.p, t.n, 0, NULL, &c, &err), TG_OK);
  ck_assert_int_eq(tg_axi_new(NULL, c, &(tg_axi_options){.interface = 1}, &x, &err), TG_ENOTFOUND);
  ck_assert_int_eq(
      tg_axi_new(NULL, c, &(tg_axi_options){.assume = assume, .n_assume = 1}, &x, &err), TG_EINVAL);
  ck_assert_int_eq(tg_axi_new(NULL, c, &(tg_axi_options){.max_transactions = 1}, &x, &err),
                   TG_ELIMIT);
  ck_assert_int_eq(tg_axi_new(NULL, c, &(tg_axi_options){.kind = TG_AXI_STREAM}, &x, &err),
                   TG_ENODATA);
  ck_assert_ptr_null(x);
  tg_capture_free(c);
}
END_TEST

int main(void) {
  TCase *tc = tcase_create("capture_axi");
  tcase_add_test(tc, reads_of_two_ids_interleave);
  tcase_add_test(tc, one_id_stays_in_order_and_queues);
  tcase_add_test(tc, write_data_may_lead_its_address);
  tcase_add_test(tc, data_under_way_at_the_start_is_an_orphan);
  tcase_add_test(tc, a_reset_drops_what_is_open);
  tcase_add_test(tc, counters_tell_how_many_were_open);
  tcase_add_test(tc, write_data_interleaves_by_wid);
  tcase_add_test(tc, a_wrong_length_overturns_the_guess_about_the_start);
  tcase_add_test(tc, without_last_the_length_counts);
  tcase_add_test(tc, without_ids_order_counts);
  tcase_add_test(tc, without_length_last_counts);
  tcase_add_test(tc, without_both_nothing_is_guessed);
  tcase_add_loop_test(tc, last_at_another_beat_is_a_protocol_error, 0, 2);
  tcase_add_test(tc, a_response_before_its_data_is_a_protocol_error);
  tcase_add_test(tc, valid_that_falls_is_a_protocol_error);
  tcase_add_loop_test(tc, unknown_valid_makes_it_uncertain_unknown_data_does_not, 0, 2);
  tcase_add_test(tc, both_ends_must_be_inside);
  tcase_add_test(tc, an_address_up_at_the_start_has_no_known_start);
  tcase_add_test(tc, windows_part_everything);
  tcase_add_loop_test(tc, a_gap_parts_unless_ignored, 0, 2);
  tcase_add_test(tc, a_gap_column_marks_the_sample);
  tcase_add_test(tc, blocked_reads_are_told_by_the_contrast);
  tcase_add_test(tc, the_master_s_own_wait_is_apart);
  tcase_add_loop_test(tc, payload_takes_the_unaligned_head_off, 0, 3);
  tcase_add_loop_test(tc, the_kind_follows_the_signals, 0, 5);
  tcase_add_test(tc, ctrl_stands_for_the_scalars);
  tcase_add_test(tc, a_missing_ready_is_assumed_only_on_request);
  tcase_add_test(tc, a_map_wins_over_names);
  tcase_add_test(tc, lanes_cover_the_range_asked_for);
  tcase_add_test(tc, wrong_questions_are_refused);
  Suite *s = suite_create("capture_axi");
  suite_add_tcase(s, tc);
  SRunner *runner = srunner_create(s);
  srunner_run_all(runner, CK_ENV);
  const int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

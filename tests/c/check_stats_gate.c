/* check_stats_gate.c - the decision over all keys, tails, drift. The vectors were computed by
 * complete enumeration outside of this code. SPDX-License-Identifier: BSD-3-Clause */
#include "support/fail_alloc.h"
#include "support/stats_side.h"
#include "tickgauge/gate.h"
#include "tickgauge/tail.h"

static tg_table *gate(const int64_t *x, size_t m, const int64_t *y, size_t n, size_t keys,
                      tg_gate_options o, tg_gate_summary *s) {
  static board a, b;
  tg_table *t = NULL;
  o.margin = 0.05;
  ck_assert_int_eq(tg_gate(NULL, boots(&a, x, m, keys), boots(&b, y, n, keys), &o, s, &t), TG_OK);
  return t;
}

START_TEST(j5_three_keys_of_three_boots) {
  static const int64_t x[] = {100, 50, 1000, 101, 52, 990, 99, 51, 1010};
  static const int64_t y[] = {100, 80, 1005, 102, 82, 995, 101, 81, 1000};
  static const double t_of[] = {-3.401037, 25.992073, -4.978050}, p_of[] = {1, 0.05, 1};
  tg_gate_summary s;
  tg_table *t = gate(x, 3, y, 3, 3, (tg_gate_options){0}, &s);
  for (size_t k = 0; k < 3; k++) {
    NEAR(cell_at(t, k, TG_GATE_T), t_of[k], 1e-6);
    NEAR(cell_at(t, k, TG_GATE_P), p_of[k], 1e-12);
    ck_assert_uint_eq(count_at(t, k, TG_GATE_REGRESSED), k == 1);
  }
  ck_assert(s.reached && s.listed && s.gated == 3); /* 1/20: exactly the error of the run */
  NEAR(s.arrangements, 20, 0);
  NEAR(s.alpha_tail, 0, 0);
  tg_table_free(t);
}
END_TEST

START_TEST(j5_two_keys_of_four_boots) {
  static const int64_t x[] = {100, 50, 101, 52, 99, 51, 103, 49};
  static const int64_t y[] = {100, 58, 102, 61, 101, 57, 99, 60};
  tg_gate_summary s;
  tg_table *t = gate(x, 4, y, 4, 2, (tg_gate_options){0}, &s);
  NEAR(cell_at(t, 0, TG_GATE_T), -3.583140, 1e-6);
  NEAR(cell_at(t, 1, TG_GATE_T), 4.625396, 1e-6);
  NEAR(cell_at(t, 0, TG_GATE_P), 1, 1e-12);
  NEAR(cell_at(t, 1, TG_GATE_P), 1.0 / 70, 1e-12);
  ck_assert_uint_eq(count_at(t, 1, TG_GATE_REGRESSED), 1);
  tg_table_free(t);
  const uint8_t better[] = {TG_BETTER_NONE, TG_BETTER_HIGHER}; /* not gated; and it rose */
  t = gate(x, 4, y, 4, 2, (tg_gate_options){.better = better}, &s);
  ck_assert_uint_eq(count_at(t, 0, TG_GATE_GATED), 0);
  ck_assert_uint_eq(count_at(t, 1, TG_GATE_REGRESSED), 0);
  ck_assert_uint_eq(s.gated, 1);
  tg_table_free(t);
  t = gate(y, 4, x, 4, 2, (tg_gate_options){.better = better}, &s); /* and it fell */
  ck_assert_uint_eq(count_at(t, 1, TG_GATE_REGRESSED), 1);
  tg_table_free(t);
}
END_TEST

START_TEST(reach_is_arithmetic) {
  static const struct {
    size_t m, n;
    bool reached;
  } rows[] = {{3, 3, true}, {3, 1, false}, {15, 1, false}, {18, 1, false}, {19, 1, true},
              {3, 2, false}, {4, 2, false}, {5, 2, true},  {2, 5, true},   {4, 4, true}};
  int64_t v[20];
  for (int i = 0; i < 20; i++) v[i] = 1000 + i * 7 % 11;
  for (size_t i = 0; i < LEN(rows); i++) {
    tg_gate_summary s;
    tg_table *t = gate(v, rows[i].m, v, rows[i].n, 1, (tg_gate_options){0}, &s);
    ck_assert_msg(s.reached == rows[i].reached, "%zu v %zu", rows[i].m, rows[i].n);
    ck_assert_uint_eq(count_at(t, 0, TG_GATE_REGRESSED), 0);
    tg_table_free(t);
  }
}
END_TEST

/* 5 old, 1 new and 1 that confirms: 1/21 is reached, and both must be slower. */
START_TEST(confirming_boots_must_be_slower_by_themselves) {
  static const int64_t x[] = {1000, 1003, 998, 1001, 997}, both[] = {2000, 2010};
  static const int64_t one[] = {2000, 1002};
  tg_gate_options o = {.confirm_from = 1};
  tg_gate_summary s;
  tg_table *t = gate(x, 5, both, 2, 1, o, &s);
  ck_assert_uint_eq(count_at(t, 0, TG_GATE_REGRESSED), 1);
  NEAR(cell_at(t, 0, TG_GATE_P), 1.0 / 21, 1e-12);
  tg_table_free(t);
  t = gate(x, 5, one, 2, 1, o, &s);
  ck_assert_uint_eq(count_at(t, 0, TG_GATE_REGRESSED), 0);
  tg_table_free(t);
}
END_TEST

/* One slow boot of 30 became nine: too little for the middle, enough for the tail of one key. */
START_TEST(slow_boots_have_a_share_of_the_error) {
  int64_t x[30], y[30];
  for (int i = 0; i < 30; i++) {
    x[i] = i >= 1 ? 1000000 + 1000 * (i % 7) : 1500000 + 1000 * i;
    y[i] = i >= 9 ? 1000000 + 1000 * (i % 7) : 1500000 + 1000 * i;
  }
  tg_gate_summary s;
  tg_table *t = gate(x, 30, y, 30, 1, (tg_gate_options){.seed = 1}, &s);
  NEAR(s.alpha_tail, 0.01, 1e-15);
  NEAR(s.alpha_shift, 0.04, 1e-15);
  NEAR(cell_at(t, 0, TG_GATE_P_TAIL), 12305.0 / 2020042, 1e-14);
  ck_assert_uint_eq(count_at(t, 0, TG_GATE_REGRESSED) & 2, 2);
  tg_table_free(t);
}
END_TEST

START_TEST(a_pass_says_what_it_guards_against) {
  int64_t x[20], y[20];
  for (int i = 0; i < 20; i++) {
    x[i] = 1000 + i * 7 % 13;
    y[i] = 1000 + i * 5 % 13;
  }
  tg_gate_summary s;
  tg_table *t = gate(x, 10, y, 10, 2, (tg_gate_options){.seed = 1}, &s);
  for (size_t k = 0; k < 2; k++) {
    ck_assert_uint_eq(count_at(t, k, TG_GATE_REGRESSED), 0);
    NEAR(cell_at(t, k, TG_GATE_GUARD), 10, 0); /* 5 % is the margin itself */
  }
  tg_table_free(t);
}
END_TEST

START_TEST(no_keys_give_no_rows) {
  static const uint64_t zero[] = {0};
  const tg_samples s = {NULL, NULL, zero, zero, NULL, NULL, NULL, 0, NULL};
  tg_gate_options o = {.margin = 0.05};
  tg_gate_summary summary;
  tg_table *t = NULL;
  ck_assert_int_eq(tg_gate(NULL, &s, &s, &o, &summary, &t), TG_OK);
  ck_assert_uint_eq(tg_table_rows(t), 0);
  ck_assert(!summary.reached);
  tg_table_free(t);
}
END_TEST

/* ---- tails ------------------------------------------------------------------------------- */

static tg_tail tail(const int64_t *x, size_t m, const int64_t *y, size_t n) {
  tg_tail t;
  ck_assert_int_eq(tg_tail_test(x, m, y, n, 0, 0, 1, &t), TG_OK);
  return t;
}

/* The path test whatever modes there are: those are not looked for below 0, and the test is of the
 * order of the values only. */
static double path(const int64_t *x, size_t m, const int64_t *y, size_t n) {
  int64_t below[2][8];
  for (size_t i = 0; i < m; i++) below[0][i] = x[i] - 100;
  for (size_t i = 0; i < n; i++) below[1][i] = y[i] - 100;
  return tail(below[0], m, below[1], n).slower.p;
}

START_TEST(j2_path_test) {
  static const int64_t a[] = {10, 11, 12, 13, 14, 15}, b[] = {9, 16, 17, 18, 19, 20};
  static const int64_t c[] = {10, 11, 12, 40, 41, 42}, d[] = {10, 11, 12, 13, 14};
  static const int64_t e[] = {10, 11, 12, 13, 30}, f[] = {10, 10, 10, 10, 10, 10, 10, 15};
  static const int64_t g[] = {10, 10, 10, 10, 15, 15, 15, 15};
  NEAR(path(a, 6, b, 6), 1.0 / 132, 1e-14);
  NEAR(path(a, 6, c, 6), 17.0 / 154, 1e-14);
  NEAR(path(f, 8, g, 8), 11.0 / 78, 1e-14);
  NEAR(path(d, 5, e, 5), 31.0 / 42, 1e-14);
  NEAR(tail(a, 6, c, 6).slower.p, 1.0 / 11, 1e-14); /* two modes: Fisher has 3 of 6 above */
  tg_tail t = tail(a, 6, b, 6); /* the counts of the row: 5 of 6 above 15, before none */
  ck_assert(t.slower.above == 15 && t.slower.new_above == 5 && t.slower.old_above == 0);
  ck_assert(!t.modes && !t.mixed);
  t = tail(b, 6, a, 6);
  NEAR(t.faster.p, 1.0 / 132, 1e-14);
  ck_assert(t.faster.old_above == 5 && t.faster.new_above == 0);
}
END_TEST

START_TEST(j2_two_modes_by_fisher) {
  static const struct {
    size_t m, n, slow_m, slow_n;
    double p;
  } rows[] = {{30, 30, 1, 9, 12305.0 / 2020042}, {5, 5, 0, 3, 1.0 / 12},
              {15, 15, 1, 6, 209.0 / 5220}, {8, 8, 0, 4, 1.0 / 26}};
  for (size_t i = 0; i < LEN(rows); i++) {
    int64_t x[30], y[30];
    for (size_t k = 0; k < 30; k++) {
      x[k] = k + rows[i].slow_m < rows[i].m ? 1000 + (int64_t)k : 2000 + (int64_t)k;
      y[k] = k + rows[i].slow_n < rows[i].n ? 1000 + (int64_t)k : 2000 + (int64_t)k;
    }
    tg_tail t = tail(x, rows[i].m, y, rows[i].n);
    ck_assert(t.modes && t.mixed);
    NEAR(t.slower.p, rows[i].p, 1e-13);
    ck_assert(t.slower.new_above == rows[i].slow_n && t.slower.old_above == rows[i].slow_m);
  }
}
END_TEST

START_TEST(tails_need_two_boots_a_side) {
  static const int64_t v[] = {1, 2, 3};
  tg_tail t;
  ck_assert_int_eq(tg_tail_test(v, 1, v, 3, 0, 0, 1, &t), TG_ENODATA);
  ck_assert_int_eq(tg_tail_test(v, 3, v, 3, -1, 0, 1, &t), TG_EINVAL);
  ck_assert_int_eq(tg_tail_test(v, 2, v, 2, 0, 0, 1, &t), TG_OK);
  static const int64_t far[] = {1, INT64_C(1) << 62};
  ck_assert_int_eq(tg_tail_test(v, 2, far, 2, 0, 0, 1, &t), TG_EOVERFLOW);
}
END_TEST

/* ---- drift ------------------------------------------------------------------------------- */

START_TEST(j7_drift_in_the_order_of_boots) {
  static const int64_t x1[] = {10, 11, 12, 13}, y1[] = {14, 15, 16, 17};
  static const int64_t x2[] = {10, 5, 11, 7, 12, 6, 13, 9}, y2[] = {14, 3, 13, 8, 15, 5, 16, 6};
  static board a, b;
  double s = 0, p = 0;
  ck_assert_int_eq(tg_drift(NULL, NULL, boots(&a, x1, 4, 1), boots(&b, y1, 4, 1), 1, &s, &p),
                   TG_OK);
  NEAR(s, 16, 1e-12);
  NEAR(p, 1.0 / 288, 1e-15); /* all 576 orders */
  ck_assert_int_eq(tg_drift(NULL, NULL, boots(&a, x2, 4, 2), boots(&b, y2, 4, 2), 1, &s, &p),
                   TG_OK);
  NEAR(s, 18.72, 1e-12);
  NEAR(p, 1.0 / 144, 1e-15);
}
END_TEST

static tg_status run_all(const tg_alloc *a) {
  static const int64_t x[] = {100, 50, 101, 52, 99, 51, 103, 49};
  static board one, other;
  tg_gate_options o = {.margin = 0.05};
  tg_gate_summary s;
  tg_table *t = NULL;
  double statistic, p;
  tg_status status = tg_gate(a, boots(&one, x, 4, 2), boots(&other, x, 4, 2), &o, &s, &t);
  tg_table_free(t);
  if (status == TG_OK) status = tg_drift(a, NULL, &one.s, &other.s, 1, &statistic, &p);
  return status;
}
START_TEST(every_refused_allocation_comes_back_as_enomem) { fail_every_allocation(run_all); }
END_TEST

int main(void) {
  const TTest *const tests[] = {
      j5_three_keys_of_three_boots,
      j5_two_keys_of_four_boots,
      reach_is_arithmetic,
      confirming_boots_must_be_slower_by_themselves,
      slow_boots_have_a_share_of_the_error,
      a_pass_says_what_it_guards_against,
      no_keys_give_no_rows,
      j2_path_test,
      j2_two_modes_by_fisher,
      tails_need_two_boots_a_side,
      j7_drift_in_the_order_of_boots,
      every_refused_allocation_comes_back_as_enomem,
  };
  return run_suite("stats_gate", tests, LEN(tests));
}

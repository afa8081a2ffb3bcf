/* gate.c - one decision over all keys: step-down permutation of boots, tails, guard.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <tickgauge/gate.h>

#include <math.h>
#include <string.h>

#include "base/row.h"
#include "base/try.h"
#include "layer.h"
#include "single.h"

#define SLACK 1e-12    /* shares closer than this are equal */
#define TAIL_SHARE 0.2 /* of alpha, where tails can reach it */

static const tg_column_def gate_columns[TG_GATE_COLUMNS] = {
    {"index", TG_U32, 0},  {"quantile", TG_U32, 0}, {"gated", TG_U32, 0}, {"t", TG_F64, 0},
    {"p_gate", TG_F64, 0}, {"p_tail", TG_F64, 0},   {"guard", TG_F64, 0}, {"found", TG_U32, 0},
};

typedef struct placed {
  double p;
  size_t at;
} placed;
#define TG_SORT_NAME sort_rising
#define TG_SORT_ITEM placed
#define TG_SORT_BEFORE(x, y) ((x)->p < (y)->p || (!((x)->p > (y)->p) && (x)->at < (y)->at))
#include "base/sort.h"

/* The gate as it works. `plain` holds the values as they are, `board` the old ones moved by the
 * margins: a regression is a change, and one beyond the margins. The test of the second alone would
 * err too often where the margin exceeds the scatter, as moving one side only adds scatter to all
 * arrangements but the observed one. */
typedef struct gate {
  const tg_alloc *a;
  const tg_gate_options *o;
  tg_board plain, board;
  double *t, *p, *p_tail, *guard; /* [keys] */
  bool *open;                     /* [keys] two modes that the exact test does not tell apart */
  double *work;                   /* [boots] */
} gate;

/* A key in two modes is guarded against nothing, and its means say as much about which boots were
 * slow as about a change: a shift of it counts where the exact test of compare sees it, too. */
static tg_status ask_modes(gate *g, size_t j, const int64_t *v, const size_t units[]) {
  tg_test test;
  tg_status status = tg_u_sorted(g->a, g->o->stop, v, units[0], v + units[0], units[1], g->o->seed,
                                 &test);
  if (status != TG_OK) return status;
  g->guard[j] = (double)NAN;
  g->open[j] = !(test.p <= (g->o->alpha > 0 ? g->o->alpha : 0.05) * (1 + SLACK));
  return TG_OK;
}

/* Adjusted p of a longer tail (Holm 1979); tails are told of keys whose smaller values are
 * better. */
static tg_status find_tails(gate *g, const tg_samples *const side[TG_SIDES],
                            const tg_quantities *q) {
  const tg_board *b = &g->board;
  int64_t *v = tg_array(g->a, b->boots, sizeof *v);
  placed *sorted = tg_array(g->a, b->keys, sizeof *sorted);
  tg_status status = v != NULL && sorted != NULL ? TG_OK : TG_ENOMEM;
  for (size_t j = 0; status == TG_OK && j < b->keys; j++) {
    const tg_quantity *one = &q->v[b->quantity[j]];
    bool higher = g->o->better != NULL && g->o->better[one->key] == TG_BETTER_HIGHER;
    tg_grid grid;
    tg_tail tail;
    sorted[j] = (placed){1, j};
    if (one->units[0] < 2 || one->units[1] < 2) continue;
    status = tg_grid_of(side[0], side[1], one->key, &grid);
    if (status == TG_OK) status = tg_grid_scale(v, one->value[0], one->units[0], grid.fx);
    int64_t *fresh = v + one->units[0];
    if (status == TG_OK) status = tg_grid_scale(fresh, one->value[1], one->units[1], grid.fy);
    if (status != TG_OK) break;
    tg_sort_i64(v, one->units[0]);
    tg_sort_i64(fresh, one->units[1]);
    double moved = g->o->margin_abs != NULL ? g->o->margin_abs[one->key] / grid.unit : 0;
    if (!b->logs[j] && moved < (double)grid.step) moved = (double)grid.step;
    status = tg_tail_test(v, one->units[0], fresh, one->units[1], g->o->margin, moved, grid.step,
                          &tail);
    if (status == TG_OK && tail.mixed) status = ask_modes(g, j, v, one->units);
    if (status == TG_OK && !higher) sorted[j].p = tail.slower.p;
  }
  if (status == TG_OK) {
    double running = 0;
    sort_rising(sorted, b->keys);
    for (size_t i = 0; i < b->keys; i++) {
      double p = sorted[i].p * (double)(b->keys - i);
      if (p > running) running = p;
      g->p_tail[sorted[i].at] = running < 1 ? running : 1;
    }
  }
  tg_free(g->a, v);
  tg_free(g->a, sorted);
  return status;
}

/* Median of a key's readings of the boots [from, to), NaN where there is none. */
static double middle_of(const gate *g, size_t j, size_t from, size_t to) {
  size_t n = 0;
  for (size_t i = from; i < to; i++) {
    double v = g->board.value[i * g->board.keys + j];
    if (!isnan(v)) g->work[n++] = v;
  }
  return n > 0 ? tg_median_f64(g->work, n) : (double)NAN;
}

/* With confirming boots: both parts of the new side lie beyond the margin by themselves. */
static bool confirmed(const gate *g, size_t j) {
  const tg_board *b = &g->board;
  if (g->o->confirm_from == 0) return true;
  size_t cut = b->n_old + g->o->confirm_from;
  if (cut > b->boots) return false;
  double old = middle_of(g, j, 0, b->n_old); /* moved by the margin already */
  return middle_of(g, j, b->n_old, cut) > old && middle_of(g, j, cut, b->boots) > old;
}

static tg_status put_rows(gate *g, const tg_quantities *q, const tg_gate_summary *s, tg_table *t) {
  const tg_board *b = &g->board;
  size_t next = 0;
  for (size_t i = 0; i < q->n; i++) {
    bool gated = next < b->keys && b->quantity[next] == i;
    tg_row row = tg_row_begin(t);
    tg_row_u32(&row, TG_GATE_KEY, (uint32_t)q->v[i].key);
    tg_row_u32(&row, TG_GATE_QUANTILE, q->v[i].percent);
    tg_row_u32(&row, TG_GATE_GATED, gated);
    if (gated) {
      size_t j = next++;
      bool shift = s->reached && g->p[j] <= s->alpha_shift * (1 + SLACK) && g->t[j] > 0 &&
                   !g->open[j];
      bool tail = s->alpha_tail > 0 && g->p_tail[j] <= s->alpha_tail * (1 + SLACK);
      uint32_t found = (shift ? 1u : 0u) | (tail ? 2u : 0u);
      if (!isinf(g->t[j])) tg_row_f64(&row, TG_GATE_T, g->t[j]);
      tg_row_f64(&row, TG_GATE_P, g->p[j]);
      tg_row_f64(&row, TG_GATE_P_TAIL, g->p_tail[j]);
      if (!isnan(g->guard[j])) tg_row_f64(&row, TG_GATE_GUARD, g->guard[j]);
      tg_row_u32(&row, TG_GATE_REGRESSED, confirmed(g, j) ? found : 0);
    }
    tg_status status = tg_row_end(&row);
    if (status != TG_OK) return status;
  }
  return TG_OK;
}

/* The number of arrangements, and how the error is split; known before the data are seen. */
static void plan(const gate *g, double alpha, tg_gate_summary *s) {
  const tg_board *b = &g->board;
  s->gated = b->keys;
  s->boots_old = b->n_old;
  s->boots_new = b->n_new;
  s->arrangements = tg_choose(b->boots, b->n_new);
  s->listed = s->arrangements <= TG_GATE_LISTED;
  bool tails = (double)b->keys <= TAIL_SHARE * alpha * s->arrangements * (1 + SLACK);
  s->alpha_tail = tails && b->keys > 0 ? TAIL_SHARE * alpha : 0;
  s->alpha_shift = alpha - s->alpha_tail;
  s->reached = b->keys > 0 && 1 <= s->alpha_shift * s->arrangements * (1 + SLACK);
}

static tg_status make_room(gate *g) {
  double **const array[] = {&g->t, &g->p, &g->p_tail, &g->guard};
  bool all = true;
  for (size_t i = 0; i < sizeof array / sizeof *array; i++) {
    *array[i] = tg_array(g->a, g->board.keys, sizeof(double));
    all = all && *array[i] != NULL;
  }
  g->work = tg_array(g->a, g->board.boots, sizeof *g->work);
  g->open = tg_array(g->a, g->board.keys, sizeof *g->open);
  if (!all || g->work == NULL || g->open == NULL) return TG_ENOMEM;
  for (size_t j = 0; j < g->board.keys; j++) g->open[j] = false;
  return TG_OK;
}

static void release(gate *g) {
  void *const array[] = {g->t, g->p, g->p_tail, g->guard, g->work, g->open};
  for (size_t i = 0; i < sizeof array / sizeof *array; i++) tg_free(g->a, array[i]);
  tg_board_free(g->a, &g->board);
  tg_board_free(g->a, &g->plain);
}

/* Both tests of the shift; a key is as little surprising as the less surprising of them says. */
static tg_status find_shifts(gate *g, tg_gate_summary *s) {
  size_t keys = g->board.keys;
  double *other = tg_array(g->a, keys, sizeof *other), plain = 0;
  if (other == NULL) return TG_ENOMEM;
  for (size_t j = 0; j < keys; j++) g->guard[j] = s->reached ? 0 : (double)NAN;
  tg_status status =
      tg_layer_test(g->a, &g->plain, g->o, s, g->t, other, g->guard, &plain);
  if (status == TG_OK)
    status = tg_layer_test(g->a, &g->board, g->o, s, g->t, g->p, g->guard, &s->critical);
  for (size_t j = 0; status == TG_OK && j < keys; j++) {
    if (other[j] > g->p[j]) g->p[j] = other[j];
    if (!s->reached) g->guard[j] = (double)NAN;
  }
  tg_free(g->a, other);
  return status;
}

static tg_status decide(gate *g, const tg_samples *const side[TG_SIDES], const tg_quantities *q,
                        double alpha, tg_gate_summary *s) {
  tg_status status = make_room(g);
  plan(g, alpha, s);
  if (status != TG_OK || g->board.keys == 0) return status;
  status = find_shifts(g, s);
  return status == TG_OK ? find_tails(g, side, q) : status;
}

/* Whether the options can be used. */
static bool sound(const tg_gate_options *o, double alpha, size_t keys) {
  if (!(o->margin >= 0) || isinf(o->margin) || !(alpha < 0.5)) return false;
  for (size_t key = 0; key < keys; key++) {
    if (o->better != NULL && o->better[key] > TG_BETTER_NONE) return false;
    if (o->margin_abs != NULL && (!(o->margin_abs[key] >= 0) || isinf(o->margin_abs[key])))
      return false;
  }
  return true;
}

/* Makes the boards and decides; the caller frees all after a failure too. */
static tg_status fill_gate(gate *g, const tg_samples *const side[], tg_quantities *q, double alpha,
                           tg_gate_summary *s, tg_table **t) {
  const tg_gate_options plain = {.margin = -1, .better = g->o->better};
  TG_TRY(tg_quantities_make(g->a, g->o->stop, side, q));
  TG_TRY(tg_board_make(g->a, side, q, g->o, &g->board));
  TG_TRY(tg_board_make(g->a, side, q, &plain, &g->plain));
  TG_TRY(decide(g, side, q, alpha, s));
  TG_TRY(tg_table_new(g->a, gate_columns, TG_GATE_COLUMNS, t));
  return put_rows(g, q, s, *t);
}

tg_status tg_gate(const tg_alloc *a, const tg_samples *a_old, const tg_samples *a_new,
                  const tg_gate_options *options, tg_gate_summary *summary, tg_table **out) {
  double alpha = options->alpha > 0 ? options->alpha : 0.05;
  if (a_old->n_keys != a_new->n_keys || !sound(options, alpha, a_old->n_keys)) return TG_EINVAL;
  const tg_samples *const side[TG_SIDES] = {a_old, a_new, NULL};
  gate g = {.a = a, .o = options};
  tg_gate_summary s = {0};
  tg_quantities q = {0};
  tg_table *t = NULL;
  const tg_status status = fill_gate(&g, side, &q, alpha, &s, &t);
  release(&g);
  tg_quantities_free(a, &q);
  if (status == TG_OK) {
    *summary = s;
    *out = t;
  } else {
    tg_table_free(t);
  }
  return status;
}

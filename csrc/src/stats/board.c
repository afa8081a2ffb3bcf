/* board.c - the matrix of boots and keys, and the arrangements of its boots.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "board.h"

#include <math.h>
#include <string.h>

#include "single.h"

/* Boots of a side: the largest number that a unit bears, plus one. */
static size_t boots_of(const tg_quantities *q, int side) {
  size_t boots = 0;
  for (size_t i = 0; i < q->n; i++)
    for (size_t u = 0; u < q->v[i].units[side]; u++)
      if (q->v[i].boot[side][u] >= boots) boots = (size_t)q->v[i].boot[side][u] + 1;
  return boots;
}

static bool all_positive(const tg_quantity *q) {
  for (int side = 0; side < 2; side++)
    for (size_t u = 0; u < q->units[side]; u++)
      if (q->value[side][u] <= 0) return false;
  return true;
}

/* The resolution of a key in the unit shown, of the coarser side. */
static double step_of(const tg_samples *const side[TG_SIDES], size_t key) {
  double step[2];
  for (int i = 0; i < 2; i++)
    step[i] = (double)side[i]->resolution[key] *
              ((double)side[i]->num[key] / (double)side[i]->den[key]);
  return step[0] > step[1] ? step[0] : step[1];
}

static bool in_range(const tg_samples *const side[TG_SIDES], const tg_quantity *q) {
  tg_grid g;
  if (q->units[0] == 0 || q->units[1] == 0) return false;
  if (tg_grid_of(side[0], side[1], q->key, &g) != TG_OK) return false;
  for (int i = 0; i < 2; i++)
    for (size_t u = 0; u < q->units[i]; u++) {
      tg_i128 v = (tg_i128)q->value[i][u] * (i == 0 ? g.fx : g.fy);
      if (v > TG_STATS_LIMIT || v < -TG_STATS_LIMIT) return false;
    }
  return true;
}

/* A value as the gate takes it, larger = worse: a logarithm, or steps. An old one is moved by the
 * margins first (a regression exceeds the relative and the absolute one), but where the relative
 * one is negative. */
static double placed(double v, bool logs, bool old, double sign, double step, double margin,
                     double absolute) {
  old = old && margin >= 0;
  if (!logs) return sign * v / step + (old ? absolute / step + 1 : 0);
  if (!old) return sign * log(v);
  double times = sign > 0 ? v * (1 + margin) : v / (1 + margin), moved = v + sign * absolute;
  if (sign > 0) return log(times > moved ? times : moved);
  double least = times < moved ? times : moved;
  return -log(least > 0 ? least : v * 1e-6); /* nothing above 0 lies so far below */
}

/* Fills column j with the values of a quantity. */
static void fill_column(tg_board *b, size_t j, const tg_samples *const side[TG_SIDES],
                        const tg_quantity *q, const tg_gate_options *o, double *work) {
  double step = step_of(side, q->key), sign = 1;
  if (o->better != NULL && o->better[q->key] == TG_BETTER_HIGHER) sign = -1;
  double absolute = o->margin_abs != NULL ? o->margin_abs[q->key] : 0;
  b->logs[j] = all_positive(q);
  size_t n = 0;
  for (size_t i = 0; i < b->boots; i++) b->value[i * b->keys + j] = (double)NAN;
  for (int s = 0; s < 2; s++) {
    double scale = (double)side[s]->num[q->key] / (double)side[s]->den[q->key];
    for (size_t u = 0; u < q->units[s]; u++) {
      double v = (double)q->value[s][u] * scale;
      size_t boot = (s == 0 ? 0 : b->n_old) + q->boot[s][u];
      work[n++] = v;
      b->value[boot * b->keys + j] =
          placed(v, b->logs[j], s == 0, sign, step, o->margin, absolute);
    }
  }
  b->least[j] = b->logs[j] ? tg_log_floor(step, tg_median_f64(work, n)) : 1 / sqrt(6.0);
}

tg_status tg_board_make(const tg_alloc *a, const tg_samples *const side[TG_SIDES],
                        const tg_quantities *q, const tg_gate_options *o, tg_board *out) {
  tg_board b = {.n_old = boots_of(q, 0), .n_new = boots_of(q, 1)};
  b.boots = b.n_old + b.n_new;
  *out = b;
  b.quantity = tg_array(a, q->n, sizeof *b.quantity);
  if (b.quantity == NULL) return TG_ENOMEM;
  for (size_t i = 0; i < q->n; i++) {
    bool wanted = o->better == NULL || o->better[q->v[i].key] != TG_BETTER_NONE;
    if (wanted && in_range(side, &q->v[i])) b.quantity[b.keys++] = i;
  }
  bool fits = b.keys == 0 || b.boots <= SIZE_MAX / 64 / b.keys;
  b.value = fits ? tg_array(a, b.keys * b.boots, sizeof *b.value) : NULL;
  b.least = tg_array(a, b.keys, sizeof *b.least);
  b.logs = tg_array(a, b.keys, sizeof *b.logs);
  double *work = tg_array(a, b.boots, sizeof *work);
  *out = b;
  bool all = b.value != NULL && b.least != NULL && b.logs != NULL && work != NULL;
  for (size_t j = 0; all && j < b.keys; j++)
    fill_column(&b, j, side, &q->v[b.quantity[j]], o, work);
  tg_free(a, work);
  return all ? TG_OK : TG_ENOMEM;
}

void tg_board_free(const tg_alloc *a, tg_board *b) {
  tg_free(a, b->value);
  tg_free(a, b->least);
  tg_free(a, b->logs);
  tg_free(a, b->quantity);
  memset(b, 0, sizeof *b);
}

void tg_board_clip(double *v, size_t n, double least, double *work) {
  memcpy(work, v, n * sizeof *v);
  double middle = tg_median_f64(work, n);
  for (size_t i = 0; i < n; i++) work[i] = fabs(v[i] - middle);
  double mad = 1.4826 * tg_median_f64(work, n), reach = 3 * (mad > least ? mad : least);
  for (size_t i = 0; i < n; i++) {
    if (v[i] > middle + reach) v[i] = middle + reach;
    if (v[i] < middle - reach) v[i] = middle - reach;
  }
}

void tg_arranger_start(tg_arranger *r, bool *chosen) {
  for (size_t i = 0; i < r->boots; i++) {
    chosen[i] = i >= r->boots - r->n_new;
    r->deck[i] = i;
  }
}

void tg_arranger_next(tg_arranger *r, bool *chosen) {
  if (!r->listed) { /* a partial shuffle of the deck */
    memset(chosen, 0, r->boots * sizeof *chosen);
    for (size_t i = 0; i < r->n_new; i++) {
      size_t j = i + (size_t)tg_rng_below(&r->rng, r->boots - i), held = r->deck[j];
      r->deck[j] = r->deck[i];
      r->deck[i] = held;
      chosen[held] = true;
    }
    return;
  }
  size_t ones = 0, i = 0; /* from the last boots down to the first, in colexicographic order */
  while (i < r->boots && chosen[i]) {
    ones++;
    i++;
  }
  while (i < r->boots && !chosen[i]) i++;
  if (i == r->boots) return;
  chosen[i] = false;
  for (size_t k = 0; k < i; k++) chosen[k] = k + ones + 1 >= i;
}

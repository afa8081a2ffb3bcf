/* gate.c - one decision over all keys: step-down permutation of boots, tails, guard.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <tickgauge/gate.h>

#include <math.h>
#include <string.h>

#include "base/row.h"
#include "board.h"
#include "single.h"

#define PRIOR 2           /* degrees of freedom that the scatter of all keys counts for */
#define SLACK 1e-12       /* statistics closer than this are equal */
#define TAIL_SHARE 0.2    /* of alpha, where tails can reach it */
#define GUARD_RESERVE 0.88

static const tg_column_def gate_columns[TG_GATE_COLUMNS] = {
    {"index", TG_U32, 0},  {"quantile", TG_U32, 0}, {"gated", TG_U32, 0}, {"t", TG_F64, 0},
    {"p_gate", TG_F64, 0}, {"p_tail", TG_F64, 0},   {"guard", TG_F64, 0}, {"found", TG_U32, 0},
};

/* The gate as it works: columns of keys, in the order of falling observed statistics. */
typedef struct gate {
  const tg_alloc *a;
  const tg_gate_options *o;
  tg_board board;
  double usual[2];  /* log of the usual scale of keys in steps, of keys in logarithms */
  double *t;        /* [keys] observed statistic, in the order of the board */
  size_t *order;    /* [keys] columns by falling t */
  double *clipped;  /* boots x keys, in `order`, centred on each key's mean; 0 = not read */
  double *read;     /* boots x keys: 1 = read; NULL where every boot has every key */
  double *total, *squares, *units; /* [keys] sums over all boots, in `order` */
  double *sum, *count;             /* [keys] of one arrangement */
  double *maxima;   /* largest statistic of each arrangement but the observed */
  uint64_t *hits;   /* [keys] arrangements that reach the observed statistic, in `order` */
  double *p, *p_tail, *guard; /* [keys] of the board; adjusted p; guard in percent or NaN */
  bool *chosen;
  double *work;     /* 2 * boots */
} gate;

/* T from sums: new boots n with sum s, all boots N with sum `total` and squares about 0. */
static double statistic(double n, double s, double all, double total, double squares,
                        double usual, double least) {
  double m = all - n, df = all - 2;
  if (!(n > 0) || !(m > 0)) return -(double)INFINITY;
  double d = s / n - (total - s) / m;
  double within = squares - s * s / n - (total - s) * (total - s) / m;
  double log_s = df > 0 ? log(within / df) / 2 : 0; /* of 0 and below: the floor */
  double floor_log = log(least);
  if (!(log_s > floor_log)) log_s = floor_log;
  double log_scale = (PRIOR * usual + df * log_s) / (PRIOR + df);
  if (log_scale < floor_log) log_scale = floor_log;
  return d * exp(-log_scale) / sqrt(1 / n + 1 / m);
}

/* The clipped values of key j, those of new boots moved by `more`: the statistic of the observed
 * arrangement; the variance of all in *variance where wanted. */
static double observed(const gate *g, size_t j, double more, double *variance) {
  const tg_board *b = &g->board;
  double *v = g->work, sum = 0, total = 0, squares = 0;
  size_t n = 0, first_new = 0;
  for (size_t i = 0; i < b->boots; i++) {
    double x = b->value[i * b->keys + j];
    if (i == b->n_old) first_new = n;
    if (!isnan(x)) v[n++] = x + (i >= b->n_old ? more : 0);
  }
  tg_board_clip(v, n, b->least[j], g->work + b->boots);
  double mean = 0;
  for (size_t i = 0; i < n; i++) mean += v[i] / (double)n;
  for (size_t i = 0; i < n; i++) {
    double x = v[i] - mean;
    total += x;
    squares += x * x;
    if (i >= first_new) sum += x;
  }
  if (variance != NULL) *variance = n > 1 ? squares / (double)(n - 1) : 0;
  return statistic((double)(n - first_new), sum, (double)n, total, squares, g->usual[b->logs[j]],
                   b->least[j]);
}

/* The usual scale: the median of the clipped variances, label-free; keys in logarithms and keys in
 * steps apart. */
static void find_usual(gate *g) {
  const tg_board *b = &g->board;
  for (int kind = 0; kind < 2; kind++) {
    size_t n = 0;
    g->usual[kind] = 0;
    for (size_t j = 0; j < b->keys; j++) {
      double variance;
      if (b->logs[j] != (kind == 1)) continue;
      observed(g, j, 0, &variance);
      g->t[n++] = variance;
    }
    if (n == 0) continue;
    double middle = tg_median_f64(g->t, n), least = b->least[0] * b->least[0];
    for (size_t j = 0; j < b->keys; j++)
      if (b->logs[j] == (kind == 1)) least = b->least[j] * b->least[j];
    g->usual[kind] = log(middle > 0 ? middle : least) / 2;
  }
}

typedef struct placed {
  double t;
  size_t at;
} placed;
#define TG_SORT_NAME sort_falling
#define TG_SORT_ITEM placed
#define TG_SORT_BEFORE(x, y) ((x)->t > (y)->t || (!((x)->t < (y)->t) && (x)->at < (y)->at))
#include "base/sort.h"

/* Columns by falling statistic. */
static tg_status find_order(gate *g) {
  size_t keys = g->board.keys;
  placed *v = tg_array(g->a, keys, sizeof *v);
  if (v == NULL) return TG_ENOMEM;
  for (size_t j = 0; j < keys; j++) {
    g->t[j] = observed(g, j, 0, NULL);
    v[j] = (placed){g->t[j], j};
  }
  sort_falling(v, keys);
  for (size_t i = 0; i < keys; i++) g->order[i] = v[i].at;
  tg_free(g->a, v);
  return TG_OK;
}

/* The clipped matrix in the order of the statistics, and its sums. */
static void fill_clipped(gate *g) {
  const tg_board *b = &g->board;
  bool whole = true;
  for (size_t k = 0; k < b->keys; k++) {
    size_t j = g->order[k], n = 0;
    for (size_t i = 0; i < b->boots; i++)
      if (!isnan(b->value[i * b->keys + j])) g->work[n++] = b->value[i * b->keys + j];
    tg_board_clip(g->work, n, b->least[j], g->work + b->boots);
    double mean = 0;
    for (size_t i = 0; i < n; i++) mean += g->work[i] / (double)n;
    g->total[k] = g->squares[k] = 0;
    g->units[k] = (double)n;
    whole = whole && n == b->boots;
    n = 0;
    for (size_t i = 0; i < b->boots; i++) {
      bool read = !isnan(b->value[i * b->keys + j]);
      double v = read ? g->work[n++] - mean : 0;
      g->clipped[i * b->keys + k] = v;
      g->read[i * b->keys + k] = read ? 1 : 0;
      g->total[k] += v;
      g->squares[k] += v * v;
    }
  }
  if (whole) {
    tg_free(g->a, g->read);
    g->read = NULL;
  }
}

static void add_rows(double *to, const double *from, size_t n) {
  for (size_t k = 0; k < n; k++) to[k] += from[k];
}

/* Sums over the chosen boots, all keys at once. */
static void sum_chosen(gate *g) {
  const tg_board *b = &g->board;
  memset(g->sum, 0, b->keys * sizeof *g->sum);
  if (g->read != NULL) memset(g->count, 0, b->keys * sizeof *g->count);
  for (size_t i = 0; i < b->boots; i++) {
    if (!g->chosen[i]) continue;
    add_rows(g->sum, g->clipped + i * b->keys, b->keys);
    if (g->read != NULL) add_rows(g->count, g->read + i * b->keys, b->keys);
  }
}

/* One arrangement: from the smallest observed statistic up, the largest statistic so far against
 * the observed one. Returns the largest of all. */
static double step_down(gate *g) {
  const tg_board *b = &g->board;
  double largest = -(double)INFINITY;
  sum_chosen(g);
  for (size_t k = b->keys; k-- > 0;) {
    size_t j = g->order[k];
    double n = g->read != NULL ? g->count[k] : (double)b->n_new, s = g->sum[k];
    double m = g->units[k] - n;
    /* a fall cannot exceed what already is above 0 */
    if (largest < 0 || s * m > (g->total[k] - s) * n) {
      double t = statistic(n, s, g->units[k], g->total[k], g->squares[k], g->usual[b->logs[j]],
                           b->least[j]);
      if (t > largest) largest = t;
    }
    g->hits[k] += largest >= g->t[j] - SLACK;
  }
  return largest;
}

/* Walks over all arrangements. */
static tg_status arrange(gate *g, const tg_gate_summary *s, size_t *n_maxima) {
  const tg_board *b = &g->board;
  size_t rounds = s->listed ? (size_t)s->arrangements : TG_GATE_DRAWN;
  size_t *deck = tg_array(g->a, b->boots, sizeof *deck);
  if (deck == NULL) return TG_ENOMEM;
  tg_arranger r = {.boots = b->boots, .n_new = b->n_new, .listed = s->listed, .deck = deck};
  tg_rng_seed(&r.rng, g->o->seed);
  tg_arranger_start(&r, g->chosen);
  tg_status status = TG_OK;
  *n_maxima = 0;
  for (size_t i = 0; i < rounds; i++) {
    if (tg_stop_at(g->o->stop, i, b->keys * b->boots)) {
      status = TG_EINTERRUPTED;
      break;
    }
    double largest = step_down(g);
    if (i > 0) g->maxima[(*n_maxima)++] = largest;
    tg_arranger_next(&r, g->chosen);
  }
  double running = 0;
  for (size_t k = 0; k < b->keys; k++) {
    double p = (double)g->hits[k] / (double)rounds;
    if (p > running) running = p;
    g->p[g->order[k]] = running;
  }
  tg_free(g->a, deck);
  return status;
}

/* Which changes of one key alone would be red in most runs. */
static void find_guards(gate *g, const tg_gate_summary *s) {
  static const double percent[] = {5, 10, 20, 50, 100, 200, 500, 1000};
  const tg_board *b = &g->board;
  double needed = s->critical > 0 ? s->critical : 0;
  needed += GUARD_RESERVE;
  for (size_t j = 0; j < b->keys; j++) {
    g->guard[j] = (double)NAN;
    if (!s->reached || !b->logs[j]) continue;
    for (size_t i = sizeof percent / sizeof *percent; i-- > 0;) {
      if (!(observed(g, j, log1p(percent[i] / 100), NULL) >= needed)) break;
      g->guard[j] = percent[i];
    }
  }
}

/* Adjusted p of a longer tail (Holm 1979); tails are told of keys whose smaller values are better. */
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
    sorted[j] = (placed){-1, j};
    if (higher || one->units[0] < 2 || one->units[1] < 2) continue;
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
    sorted[j].t = -tail.slower.p;
  }
  if (status == TG_OK) {
    double running = 0;
    sort_falling(sorted, b->keys);
    for (size_t i = 0; i < b->keys; i++) {
      double p = -sorted[i].t * (double)(b->keys - i);
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
      bool shift = s->reached && g->p[j] <= s->alpha_shift * (1 + SLACK) && g->t[j] > 0;
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

static tg_status make_room(gate *g) {
  size_t keys = g->board.keys, cells = keys * g->board.boots, most = TG_GATE_LISTED;
  double **const array[] = {&g->t, &g->total, &g->squares, &g->units, &g->sum, &g->count,
                            &g->p, &g->p_tail, &g->guard};
  bool all = true;
  for (size_t i = 0; i < sizeof array / sizeof *array; i++) {
    *array[i] = tg_array(g->a, keys, sizeof(double));
    all = all && *array[i] != NULL;
  }
  g->clipped = tg_array(g->a, cells, sizeof *g->clipped);
  g->read = tg_array(g->a, cells, sizeof *g->read);
  g->maxima = tg_array(g->a, most, sizeof *g->maxima);
  g->hits = tg_array(g->a, keys, sizeof *g->hits);
  g->order = tg_array(g->a, keys, sizeof *g->order);
  g->chosen = tg_array(g->a, g->board.boots, sizeof *g->chosen);
  g->work = tg_array(g->a, 2 * g->board.boots, sizeof *g->work);
  all = all && g->clipped != NULL && g->read != NULL && g->maxima != NULL && g->hits != NULL &&
        g->order != NULL && g->chosen != NULL && g->work != NULL;
  if (all) memset(g->hits, 0, keys * sizeof *g->hits);
  return all ? TG_OK : TG_ENOMEM;
}

static void release(gate *g) {
  void *const array[] = {g->t,      g->total, g->squares, g->units, g->sum,    g->count,
                         g->p,      g->p_tail, g->guard,  g->clipped, g->read, g->maxima,
                         g->hits,   g->order, g->chosen,  g->work};
  for (size_t i = 0; i < sizeof array / sizeof *array; i++) tg_free(g->a, array[i]);
  tg_board_free(g->a, &g->board);
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

/* The inverted-CDF quantile of the maxima, the observed arrangement left out. */
static double critical_of(double *maxima, size_t n, double alpha) {
  if (n == 0) return (double)INFINITY;
  tg_sort_f64(maxima, n);
  size_t rank = (size_t)ceil((1 - alpha) * (double)n - 1e-9);
  return maxima[rank > 0 ? rank - 1 : 0];
}

static tg_status decide(gate *g, const tg_samples *const side[TG_SIDES], const tg_quantities *q,
                        double alpha, tg_gate_summary *s) {
  size_t n_maxima = 0;
  tg_status status = make_room(g);
  plan(g, alpha, s);
  if (status != TG_OK || g->board.keys == 0) return status;
  find_usual(g);
  status = find_order(g);
  if (status == TG_OK) fill_clipped(g);
  if (status == TG_OK) status = arrange(g, s, &n_maxima);
  if (status == TG_OK) status = find_tails(g, side, q);
  if (status != TG_OK) return status;
  s->critical = critical_of(g->maxima, n_maxima, s->alpha_shift);
  find_guards(g, s);
  return TG_OK;
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

tg_status tg_gate(const tg_alloc *a, const tg_samples *a_old, const tg_samples *a_new,
                  const tg_gate_options *options, tg_gate_summary *summary, tg_table **out) {
  double alpha = options->alpha > 0 ? options->alpha : 0.05;
  if (a_old->n_keys != a_new->n_keys || !sound(options, alpha, a_old->n_keys)) return TG_EINVAL;
  const tg_samples *const side[TG_SIDES] = {a_old, a_new, NULL};
  gate g = {.a = a, .o = options};
  tg_gate_summary s = {0};
  tg_quantities q;
  tg_table *t = NULL;
  tg_status status = tg_quantities_make(a, options->stop, side, &q);
  if (status == TG_OK) status = tg_board_make(a, side, &q, options, &g.board);
  if (status == TG_OK) status = decide(&g, side, &q, alpha, &s);
  if (status == TG_OK) status = tg_table_new(a, gate_columns, TG_GATE_COLUMNS, &t);
  if (status == TG_OK) status = put_rows(&g, &q, &s, t);
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

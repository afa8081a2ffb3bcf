/* layer.c - step-down permutation test of all keys of a board.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "layer.h"

#include <math.h>
#include <string.h>

#include "single.h"

#define PRIOR 2       /* degrees of freedom that the scatter of all keys counts for */
#define SLACK 1e-12   /* statistics closer than this are equal */
#define GUARD_RESERVE 0.88

/* The test as it works: columns of keys, in the order of falling observed statistics. */
typedef struct layer {
  const tg_alloc *a;
  const tg_gate_options *o;
  const tg_board *board;
  double usual[2];  /* log of the usual scale of keys in steps, of keys in logarithms */
  double *t;        /* [keys] observed statistic, in the order of the board */
  size_t *order;    /* [keys] columns by falling t */
  double *clipped;  /* boots x keys, in `order`, centred on each key's mean; 0 = not read */
  double *read;     /* boots x keys: 1 = read; NULL where every boot has every key */
  double *total, *squares, *units; /* [keys] sums over all boots, in `order` */
  double *sum, *count;             /* [keys] of one arrangement */
  double *maxima;   /* largest statistic of each arrangement but the observed */
  uint64_t *hits;   /* [keys] arrangements that reach the observed statistic, in `order` */
  double *p;        /* [keys] of the board, adjusted */
  double critical;
  bool *chosen;
  double *work;     /* 2 * boots */
} layer;

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
static double observed(const layer *g, size_t j, double more, double *variance) {
  const tg_board *b = g->board;
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
static void find_usual(layer *g) {
  const tg_board *b = g->board;
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
static tg_status find_order(layer *g) {
  size_t keys = g->board->keys;
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
static void fill_clipped(layer *g) {
  const tg_board *b = g->board;
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
static void sum_chosen(layer *g) {
  const tg_board *b = g->board;
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
static double step_down(layer *g) {
  const tg_board *b = g->board;
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
static tg_status arrange(layer *g, const tg_gate_summary *s, size_t *n_maxima) {
  const tg_board *b = g->board;
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

/* Which changes of one key alone would be red in most runs: raises guard[j] to the smallest of the
 * list above which all are, NaN where none is. */
static void find_guards(const layer *g, double *guard) {
  static const double percent[] = {5, 10, 20, 50, 100, 200, 500, 1000};
  const tg_board *b = g->board;
  double needed = (g->critical > 0 ? g->critical : 0) + GUARD_RESERVE;
  for (size_t j = 0; j < b->keys; j++) {
    double found = (double)NAN;
    for (size_t i = sizeof percent / sizeof *percent; b->logs[j] && i-- > 0;) {
      if (!(observed(g, j, log1p(percent[i] / 100), NULL) >= needed)) break;
      found = percent[i];
    }
    if (isnan(found) || found > guard[j]) guard[j] = found;
  }
}

static tg_status make_room(layer *g) {
  size_t keys = g->board->keys, cells = keys * g->board->boots, most = TG_GATE_LISTED;
  double **const array[] = {&g->total, &g->squares, &g->units, &g->sum, &g->count};
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
  g->chosen = tg_array(g->a, g->board->boots, sizeof *g->chosen);
  g->work = tg_array(g->a, 2 * g->board->boots, sizeof *g->work);
  all = all && g->clipped != NULL && g->read != NULL && g->maxima != NULL && g->hits != NULL &&
        g->order != NULL && g->chosen != NULL && g->work != NULL;
  if (all) memset(g->hits, 0, keys * sizeof *g->hits);
  return all ? TG_OK : TG_ENOMEM;
}

static void release(layer *g) {
  void *const array[] = {g->total, g->squares, g->units, g->sum,   g->count,  g->clipped,
                         g->read,  g->maxima,  g->hits,  g->order, g->chosen, g->work};
  for (size_t i = 0; i < sizeof array / sizeof *array; i++) tg_free(g->a, array[i]);
}

/* The inverted-CDF quantile of the maxima, the observed arrangement left out. */
static double critical_of(double *maxima, size_t n, double alpha) {
  if (n == 0) return (double)INFINITY;
  tg_sort_f64(maxima, n);
  size_t rank = (size_t)ceil((1 - alpha) * (double)n - 1e-9);
  return maxima[rank > 0 ? rank - 1 : 0];
}

tg_status tg_layer_test(const tg_alloc *a, const tg_board *board, const tg_gate_options *o,
                        const tg_gate_summary *s, double *t, double *p, double *guard,
                        double *critical) {
  layer g = {.a = a, .o = o, .board = board, .t = t, .p = p};
  size_t n_maxima = 0;
  tg_status status = make_room(&g);
  if (status == TG_OK) find_usual(&g);
  if (status == TG_OK) status = find_order(&g);
  if (status == TG_OK) fill_clipped(&g);
  if (status == TG_OK) status = arrange(&g, s, &n_maxima);
  if (status == TG_OK) {
    g.critical = *critical = critical_of(g.maxima, n_maxima, s->alpha_shift);
    find_guards(&g, guard);
  }
  release(&g);
  return status;
}

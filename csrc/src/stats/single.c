/* single.c - one boot against several, one against one with boots of one firmware: the boots' own
 * residuals over the keys of a metric say how far a boot may lie. They are asked twice: in units of
 * a scatter that the keys share in part, and in units of each key's own scatter, so that neither a
 * key whose few boots agree by chance nor one that scatters more than the others is called changed.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "single.h"

#include <math.h>
#include <string.h>

#define LEAST_LOG 0.001 /* scatter that is always allowed, in logarithms */
#define FIT_STEPS 5000000 /* that all fits of a metric may take, but for FITS_LEAST of them */
#define FITS_LEAST 250
#define PRIOR 2         /* degrees of freedom that the scatter of the group counts for */

/* Units of a residual: the scatter drawn towards that of the group, the key's own. */
enum { SHARED = 0, OWN, SCALES };

double tg_log_floor(double step, double median) {
  double least = log1p(step / median) / sqrt(6.0);
  return least > LEAST_LOG ? least : LEAST_LOG;
}

double tg_median_f64(double *v, size_t n) {
  tg_sort_f64(v, n);
  return (v[(n - 1) / 2] + v[n / 2]) / 2;
}

/* One metric: a matrix of its keys and the boots that say how it scatters. */
typedef struct metric {
  size_t keys, boots;
  const size_t *member; /* [keys] quantities */
  double *value;        /* [keys * boots] logarithms, or steps; NaN = no reading */
  double *step;         /* [keys] of the readings, on the scale of `value` where not logarithms */
  bool *logs;           /* [keys] */
  double *centre;       /* [keys] of the last fit; NaN where it has fewer than two boots */
  double *scale[SCALES]; /* [keys] of the last fit */
  double *work;         /* [keys + boots] */
  double *reference[SCALES]; /* residuals of boots that were left out of their own fit */
  size_t n_reference;
} metric;

/* A residual on both scales. */
static void put_residual(metric *g, size_t j, double off) {
  if (isnan(off) || isnan(g->scale[SHARED][j])) return;
  for (int i = 0; i < SCALES; i++) g->reference[i][g->n_reference] = off / g->scale[i][j];
  g->n_reference++;
}

/* Centre and scales of each key without the boots a and b (SIZE_MAX = none). The shared scales are
 * drawn towards their median over the keys, on the scale of logarithms. */
static void fit(metric *g, size_t a, size_t b) {
  size_t known = 0;
  double *pool = g->work + g->boots;
  for (size_t j = 0; j < g->keys; j++) {
    const double *row = g->value + j * g->boots;
    size_t n = 0;
    double sum = 0, squares = 0;
    g->scale[SHARED][j] = g->scale[OWN][j] = g->centre[j] = (double)NAN;
    for (size_t i = 0; i < g->boots; i++)
      if (i != a && i != b && !isnan(row[i])) g->work[n++] = row[i];
    if (n < 2) continue;
    for (size_t i = 0; i < n; i++) sum += g->work[i];
    for (size_t i = 0; i < n; i++)
      squares += (g->work[i] - sum / (double)n) * (g->work[i] - sum / (double)n);
    double sd = sqrt(squares / (double)(n - 1));
    g->centre[j] = tg_median_f64(g->work, n);
    double least =
        g->logs[j] ? tg_log_floor(g->step[j], exp(g->centre[j])) : g->step[j] / sqrt(6.0);
    g->scale[OWN][j] = sd > least ? sd : least;
    pool[known++] = log(g->scale[OWN][j]);
  }
  if (known == 0) return;
  double usual = tg_median_f64(pool, known);
  for (size_t j = 0; j < g->keys; j++) {
    double df = -1;
    for (size_t i = 0; i < g->boots; i++)
      df += i != a && i != b && !isnan(g->value[j * g->boots + i]);
    if (!isnan(g->scale[OWN][j]))
      g->scale[SHARED][j] = exp((df * log(g->scale[OWN][j]) + PRIOR * usual) / (df + PRIOR));
  }
}

/* Every how manieth of `n` fits is made: a fit takes keys * boots steps, and of very many boots a
 * part says as much. */
static size_t stride_of(const metric *g, size_t n) {
  const size_t cells = g->keys * g->boots;
  size_t most = cells == 0 ? FIT_STEPS : FIT_STEPS / cells;
  if (most < FITS_LEAST) most = FITS_LEAST;
  return n / most + 1;
}

/* Residual of every boot against the others. */
static tg_status gather_boots(const tg_key_context *c, metric *g) {
  const size_t stride = stride_of(g, g->boots);
  for (size_t i = 0; i < g->boots; i += stride) {
    if (tg_stop_at(c->stop, i, g->keys * g->boots)) return TG_EINTERRUPTED;
    fit(g, i, SIZE_MAX);
    for (size_t j = 0; j < g->keys; j++)
      put_residual(g, j, g->value[j * g->boots + i] - g->centre[j]);
  }
  return TG_OK;
}

/* Difference of every ordered pair of boots on the scale that the others give. */
static tg_status gather_pairs(const tg_key_context *c, metric *g) {
  const size_t stride = stride_of(g, g->boots * (g->boots - 1) / 2);
  size_t turn = 0;
  for (size_t i = 0; i < g->boots; i++)
    for (size_t k = i + 1; k < g->boots; k++) {
      if (turn++ % stride != 0) continue;
      if (tg_stop_at(c->stop, turn, g->keys * g->boots)) return TG_EINTERRUPTED;
      fit(g, i, k);
      for (size_t j = 0; j < g->keys; j++) {
        const double *row = g->value + j * g->boots;
        put_residual(g, j, row[i] - row[k]);
        put_residual(g, j, row[k] - row[i]);
      }
    }
  return TG_OK;
}

/* How a new side lies among the residuals: p of so far up and so far down, and how far a side
 * without a change would lie at the most. */
typedef struct place {
  double up, down, low, high;
} place;

/* `off` above the old side in units of `scale`, against sorted residuals; `out` of them may lie
 * beyond each end. */
static place place_of(const double *reference, size_t n, double off, double scale, size_t out) {
  const double z = off / scale, slack = 1e-9 * (1 + fabs(z));
  size_t first = 0, last;
  while (first < n && reference[first] < z - slack) first++;
  last = first;
  while (last < n && reference[last] <= z + slack) last++;
  return (place){(1 + (double)(n - first)) / (1 + (double)n), (1 + (double)last) / (1 + (double)n),
                 off - reference[n - out] * scale, off - reference[out - 1] * scale};
}

/* The less surprising of two places. */
static place milder(place a, place b) {
  return (place){fmax(a.up, b.up), fmax(a.down, b.down), fmin(a.low, b.low), fmax(a.high, b.high)};
}

/* Writes p, interval and word of key j, whose new side lies `off` above the old one, in logarithms
 * or in steps of `step` grid units; `widen` times the scatter of a boot. */
static void judge(const tg_key_context *c, const metric *g, size_t j, double off, double widen,
                  double step, tg_better better, tg_key_result *r) {
  const size_t n = g->n_reference;
  const bool logs = g->logs[j];
  double half = c->alpha / 2 * (1 + 1e-12);
  size_t out = (size_t)floor(half * ((double)n + 1)); /* at least 1: the caller looks */
  place p[SCALES];
  for (int i = 0; i < SCALES; i++)
    p[i] = place_of(g->reference[i], n, off, g->scale[i][j] * widen, out);
  const place found = milder(p[SHARED], p[OWN]);
  double least = fmin(found.up, found.down);
  r->p = 2 * least < 1 ? 2 * least : 1;
  r->p_min = 2 / (1 + (double)n);
  r->level = 1 - 2 * (double)out / (1 + (double)n);
  bool far_up = found.up <= half, far_down = found.down <= half, far = far_up || far_down;
  bool beyond = fabs(r->shift) > r->least, inside;
  r->lo = found.low * step;
  r->hi = found.high * step;
  if (logs) {
    r->ratio_lo = exp(found.low);
    r->ratio_hi = exp(found.high);
    r->lo = r->base * expm1(found.low);
    r->hi = r->base * expm1(found.high);
    if (far_up && !(r->ratio > 1 + c->margin)) beyond = false;
    if (far_down && !(r->ratio < 1 / (1 + c->margin))) beyond = false;
  }
  inside = r->lo > -r->least && r->hi < r->least;
  if (logs && r->ratio_lo > 1 / (1 + c->margin) && r->ratio_hi < 1 + c->margin) inside = true;
  r->verdict = inside ? TG_VERDICT_EQUIVALENT : TG_VERDICT_INCONCLUSIVE;
  if (far) r->verdict = beyond ? tg_word_of_change(better, far_up) : TG_VERDICT_CHANGED;
  r->flags |= far ? TG_CMP_MODEL : TG_CMP_MODEL | TG_CMP_INSIDE;
  r->needed = 0;
}

/* Whether the residuals can reach alpha at all. */
static bool enough(const tg_key_context *c, size_t n) {
  return 1 / (1 + (double)n) <= c->alpha / 2 * (1 + 1e-12);
}

/* How a quantity is judged here. */
typedef enum role { NOT_SINGLE, ONE_NEW, ONE_OLD, BY_NOISE } role;

/* The state of the walk over the metrics. */
typedef struct walk {
  const tg_key_context *c;
  const tg_samples *const *side;
  const tg_quantities *q;
  const tg_compare_options *o;
  tg_key_result *r;
  uint32_t *reference;
} walk;

/* How a quantity is judged here. TG_OK, TG_ENOMEM. */
static tg_status find_role(const walk *w, size_t i, role *out) {
  const tg_quantity *q = &w->q->v[i];
  size_t m = q->units[0], n = q->units[1], k = q->units[2];
  bool few = m <= 2 && n <= 2, two = false;
  *out = NOT_SINGLE;
  if (w->r[i].verdict == TG_VERDICT_MISSING || w->r[i].verdict == TG_VERDICT_REFUSED) return TG_OK;
  if (n == 1 && m >= TG_SINGLE_LEAST) *out = ONE_NEW;
  if (m == 1 && n >= TG_SINGLE_LEAST) *out = ONE_OLD;
  if (w->side[2] == NULL || !few) return TG_OK;
  if (k < TG_NOISE_LEAST) {
    w->r[i].flags |= TG_CMP_FEW_NOISE;
    return TG_OK;
  }
  const uint64_t resolution = w->side[2]->resolution[q->key];
  tg_status status = tg_bimodal(w->c->a, q->value[2], k, resolution, &two);
  if (status == TG_ENOMEM) return status;
  if (status != TG_OK || two)
    w->r[i].flags |= TG_CMP_BIMODAL; /* or out of range: no answer from them either */
  else
    *out = BY_NOISE;
  return TG_OK;
}

/* The side whose boots say how the metric scatters. */
static int scatter_side(role kind) { return kind == ONE_NEW ? 0 : kind == ONE_OLD ? 1 : 2; }

/* A value of a quantity as a logarithm, or in steps of the key. */
static double on_scale(const walk *w, const tg_quantity *q, int side, int64_t value, bool logs) {
  const tg_samples *s = w->side[side];
  if (!logs) return (double)value / (double)s->resolution[q->key];
  return log((double)value) + log((double)s->num[q->key] / (double)s->den[q->key]);
}

static double side_middle(const walk *w, const tg_quantity *q, int side, bool logs) {
  size_t n = q->units[side];
  double sum = 0;
  for (size_t i = 0; i < n; i++) sum += on_scale(w, q, side, q->value[side][i], logs);
  return sum / (double)n; /* one or two units */
}

/* Fills the matrix of a metric. */
static void fill(const walk *w, metric *g, role kind, bool logs) {
  int side = scatter_side(kind);
  for (size_t j = 0; j < g->keys; j++) {
    const tg_quantity *q = &w->q->v[g->member[j]];
    const tg_samples *s = w->side[side];
    double *row = g->value + j * g->boots;
    for (size_t i = 0; i < g->boots; i++) row[i] = (double)NAN;
    for (size_t i = 0; i < q->units[side]; i++)
      if (!logs || q->value[side][i] > 0)
        row[q->boot[side][i]] = on_scale(w, q, side, q->value[side][i], logs);
    g->logs[j] = logs;
    g->step[j] = logs ? (double)s->resolution[q->key] *
                            ((double)s->num[q->key] / (double)s->den[q->key])
                      : 1;
  }
}

/* Scores the members of a filled metric. */
static tg_status score(const walk *w, metric *g, role kind, bool logs) {
  tg_status status = kind == BY_NOISE ? gather_pairs(w->c, g) : gather_boots(w->c, g);
  if (status != TG_OK) return status;
  for (int s = 0; s < SCALES; s++) {
    for (size_t i = 0; kind == ONE_OLD && i < g->n_reference; i++)
      g->reference[s][i] = -g->reference[s][i];
    tg_sort_f64(g->reference[s], g->n_reference);
  }
  fit(g, SIZE_MAX, SIZE_MAX);
  for (size_t j = 0; j < g->keys; j++) {
    size_t i = g->member[j];
    const tg_quantity *q = &w->q->v[i];
    tg_grid grid;
    w->reference[i] = g->n_reference < UINT32_MAX ? (uint32_t)g->n_reference : UINT32_MAX;
    if (!enough(w->c, g->n_reference) || isnan(g->scale[SHARED][j])) continue;
    if (tg_grid_of(w->side[0], w->side[1], q->key, &grid) != TG_OK) continue;
    double m = (double)q->units[0], n = (double)q->units[1], up;
    if (kind == ONE_NEW)
      up = side_middle(w, q, 1, logs) - g->centre[j];
    else if (kind == ONE_OLD)
      up = g->centre[j] - side_middle(w, q, 0, logs);
    else
      up = side_middle(w, q, 1, logs) - side_middle(w, q, 0, logs);
    double widen = kind == BY_NOISE ? sqrt((1 / m + 1 / n) / 2) : 1;
    w->r[i].method = kind == BY_NOISE ? TG_METHOD_NOISE : TG_METHOD_RESIDUALS;
    tg_better better =
        w->o->better != NULL ? (tg_better)w->o->better[q->key] : TG_BETTER_LOWER;
    judge(w->c, g, j, up, widen, (double)grid.step, better, &w->r[i]);
  }
  return TG_OK;
}

/* Judges the quantities member[0..keys) of one metric, which all have one role and scale. */
static tg_status judge_metric(const walk *w, const size_t *member, size_t keys, role kind,
                              bool logs) {
  const tg_alloc *a = w->c->a;
  size_t boots = 0, present = 0;
  int side = scatter_side(kind);
  for (size_t j = 0; j < keys; j++) {
    const tg_quantity *q = &w->q->v[member[j]];
    present += q->units[side];
    for (size_t i = 0; i < q->units[side]; i++)
      if (q->boot[side][i] >= boots) boots = (size_t)q->boot[side][i] + 1;
  }
  if (keys > 0 && boots > SIZE_MAX / 64 / keys) return TG_ENOMEM;
  if (kind == BY_NOISE && boots > 0 && present > SIZE_MAX / 64 / boots) return TG_ENOMEM;
  size_t residuals = kind == BY_NOISE ? present * boots : present;
  const size_t fitted = keys * boots, own = 5 * keys + boots; /* before the residuals */
  double *room = tg_array(a, fitted + own + SCALES * residuals, sizeof *room);
  bool *kinds = tg_array(a, keys, sizeof *kinds);
  tg_status status = room != NULL && kinds != NULL ? TG_OK : TG_ENOMEM;
  if (status == TG_OK) {
    double *rest = room + fitted, *found = rest + own;
    metric g = {.keys = keys, .boots = boots, .member = member, .value = room, .step = rest,
                .logs = kinds, .centre = rest + keys, .scale = {rest + 2 * keys, rest + 3 * keys},
                .work = rest + 4 * keys, .reference = {found, found + residuals}};
    fill(w, &g, kind, logs);
    status = score(w, &g, kind, logs);
  }
  tg_free(a, room);
  tg_free(a, kinds);
  return status;
}

/* A quantity and its kind. */
typedef struct sorted_kind {
  uint64_t kind;
  size_t at;
} sorted_kind;

#define TG_SORT_NAME sort_kinds
#define TG_SORT_ITEM sorted_kind
#define TG_SORT_BEFORE(a, b) \
  ((a)->kind < (b)->kind || ((a)->kind == (b)->kind && (a)->at < (b)->at))
#include "base/sort.h"

/* The kind of quantity i: role, scale, quantile and group, from the least to the highest digits. */
static uint64_t kind_of(const walk *w, size_t i, role how) {
  const tg_quantity *q = &w->q->v[i];
  uint64_t group = w->o->group != NULL ? w->o->group[q->key] : 0;
  uint64_t additive = (w->r[i].flags & TG_CMP_ADDITIVE) != 0;
  return ((group * 100 + q->percent) * 2 + additive) * 4 + (uint64_t)how;
}

tg_status tg_judge_single(const tg_key_context *c, const tg_samples *const side[TG_SIDES],
                          const tg_quantities *q, const tg_compare_options *o, tg_key_result *r,
                          uint32_t *reference) {
  sorted_kind *v = tg_array(c->a, q->n, sizeof *v);
  size_t *member = tg_array(c->a, q->n, sizeof *member), n = 0;
  walk w = {c, side, q, o, r, reference};
  tg_status status = v != NULL && member != NULL ? TG_OK : TG_ENOMEM;
  for (size_t i = 0; status == TG_OK && i < q->n; i++) {
    reference[i] = 0;
    role how;
    status = find_role(&w, i, &how);
    if (status == TG_OK && how != NOT_SINGLE) v[n++] = (sorted_kind){kind_of(&w, i, how), i};
  }
  if (status == TG_OK) sort_kinds(v, n);
  for (size_t i = 0, end; status == TG_OK && i < n; i = end) {
    for (end = i; end < n && v[end].kind == v[i].kind; end++) member[end - i] = v[end].at;
    status = judge_metric(&w, member, end - i, (role)(v[i].kind % 4), v[i].kind / 4 % 2 == 0);
  }
  tg_free(c->a, v);
  tg_free(c->a, member);
  return status;
}

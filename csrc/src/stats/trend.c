/* trend.c - steps over releases with one error over all keys.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <string.h>

#include "base/row.h"
#include "base/try.h"
#include "places.h"
#include "segment.h"
#include "single.h"

#define PARTS 1048576.0  /* 2^20: scaled values are kept as integers of so many per unit */
#define FIRST_PENALTY 40 /* of the first fit, in units of the first scale */
#define ALONG_PENALTY 8  /* of a key that moves in a release in which another one steps */
#define CRITICAL 190     /* of TG_TREND_ORDERS sorted maxima: 5 % lie above it */
#define CONFIRMED 0.05   /* p of a step that is not chance */
#define REACH 1e11       /* scaled values are clipped here: sums of them fit 64 bits */

static const tg_column_def series_columns[TG_TREND_COLUMNS] = {
    {"releases", TG_U32, 0}, {"steps", TG_U32, 0}, {"median", TG_F64, 0},
    {"scatter", TG_F64, 0},  {"p", TG_F64, 0},     {"p_min", TG_F64, 0}};
static const tg_column_def step_columns[TG_STEP_COLUMNS] = {
    {"key", TG_U32, 0}, {"before", TG_U32, 0},  {"at", TG_U32, 0},
    {"last", TG_U32, 0}, {"old", TG_F64, 0},    {"new", TG_F64, 0},
    {"percent", TG_F64, 0}, {"p", TG_F64, 0},   {"kind", TG_U32, 0}};

/* All series while they are fitted. Values are those of s->value, one after the other. */
typedef struct trend {
  const tg_alloc *a;
  const tg_series *s;
  const tg_trend_options *o;
  double *level;    /* logarithms, or steps */
  double *residual; /* about the levels of the first fit */
  double *scale;    /* [n_keys] of the fit at hand */
  double *pool;     /* [n_keys] */
  uint32_t *steps;  /* [n_keys] */
  bool *logs;       /* [n_keys] */
  double *cost;     /* most * most, of one key */
  double *work;     /* TG_CHANGE_WORK(most) */
  int64_t *scaled;  /* most */
  uint32_t *by_value, *by_level; /* [most] places of a series, [values] of all, by value */
  uint32_t *room;   /* TG_SEGMENT_ROOM(most) */
  size_t *start;    /* most */
  double *maxima;   /* [TG_TREND_ORDERS] */
  bool *stepped;    /* [releases] a key steps there */
  double *least;    /* [n_keys] scatter that the steps of the readings leave */
  tg_step_at *found; /* [values + 2 * n_keys] */
  size_t n_found;
  size_t most, releases;
  double penalty;
} trend;

static size_t first_of(const trend *t, size_t key) {
  return (size_t)(t->s->start[key] - t->s->start[0]);
}
static size_t count_of(const trend *t, size_t key) {
  return (size_t)(t->s->start[key + 1] - t->s->start[key]);
}
static double unit_of(const trend *t, size_t key) {
  return (double)t->s->num[key] / (double)t->s->den[key];
}

/* The scatter that the steps of the readings leave. */
static double least_of(const trend *t, size_t key) {
  if (!t->logs[key]) return 1 / sqrt(6.0);
  size_t n = count_of(t, key);
  memcpy(t->work, t->level + first_of(t, key), n * sizeof *t->work);
  double middle = exp(tg_median_f64(t->work, n));
  return tg_log_floor((double)t->s->resolution[key] * unit_of(t, key), middle);
}

/* Logarithms of the values, or steps where one is 0 or below. */
static void fill_levels(trend *t, size_t key) {
  size_t n = count_of(t, key), first = first_of(t, key);
  const int64_t *v = t->s->value + t->s->start[key];
  t->logs[key] = true;
  for (size_t i = 0; i < n; i++) t->logs[key] = t->logs[key] && v[i] > 0;
  for (size_t i = 0; i < n; i++)
    t->level[first + i] = t->logs[key] ? log((double)v[i]) + log(unit_of(t, key))
                                       : (double)v[i] / (double)t->s->resolution[key];
}

/* Draws each scale towards the median of its group, on the scale of logarithms; `df` degrees of
 * freedom a key, the group counts for `prior`. NaN stays. */
static void shrink(trend *t, const double *df, double prior) {
  size_t keys = t->s->n_keys;
  const uint32_t *group = t->o->group;
  for (size_t k = 0; k < keys; k++) t->pool[k] = (double)NAN;
  for (size_t k = 0; k < keys; k++) {
    if (!isnan(t->pool[k]) || isnan(t->scale[k])) continue;
    size_t n = 0;
    double *members = t->pool + keys;
    for (size_t i = k; i < keys; i++)
      if ((group == NULL || group[i] == group[k]) && t->logs[i] == t->logs[k] &&
          !isnan(t->scale[i]))
        members[n++] = log(t->scale[i]);
    double usual = tg_median_f64(members, n);
    for (size_t i = k; i < keys; i++)
      if ((group == NULL || group[i] == group[k]) && t->logs[i] == t->logs[k]) t->pool[i] = usual;
  }
  for (size_t k = 0; k < keys; k++)
    t->scale[k] = exp((df[k] * log(t->scale[k]) + prior * t->pool[k]) / (df[k] + prior));
}

/* First scale: from differences of neighbours, which a few steps do not touch. */
static void first_scales(trend *t, double *df) {
  for (size_t k = 0; k < t->s->n_keys; k++) {
    size_t n = count_of(t, k);
    const double *v = t->level + first_of(t, k);
    t->scale[k] = (double)NAN;
    df[k] = n > 1 ? (double)(n - 1) / 2 : 0;
    if (n < TG_TREND_LEAST) continue;
    double least = least_of(t, k);
    for (size_t i = 1; i < n; i++) t->work[i - 1] = fabs(v[i] - v[i - 1]);
    double found = 1.0484 * tg_median_f64(t->work, n - 1);
    t->scale[k] = found > least ? found : least;
  }
  shrink(t, df, 2);
}

/* v / scale as integers. */
static void scale_to(int64_t *to, const double *v, size_t n, double scale) {
  for (size_t i = 0; i < n; i++) {
    double x = (v[i] - v[0]) / scale * PARTS;
    x = x > REACH * PARTS ? REACH * PARTS : x < -REACH * PARTS ? -REACH * PARTS : x;
    to[i] = (int64_t)llround(x);
  }
}

/* Costs of the segments of v / scale. */
static tg_status costs_of(trend *t, const double *v, size_t n, double scale) {
  scale_to(t->scaled, v, n, scale);
  TG_TRY(tg_by_value(t->a, t->scaled, n, t->by_value));
  TG_TRY(tg_segment_costs(t->o->stop, t->scaled, n, t->by_value, t->room, t->cost));
  for (size_t i = 0; i < n; i++)
    for (size_t j = i; j < n; j++) t->cost[i * n + j] /= PARTS;
  return TG_OK;
}

/* The median of level[from..to). */
static double middle_of(trend *t, const double *v, size_t from, size_t to) {
  memcpy(t->work, v + from, (to - from) * sizeof *v);
  return tg_median_f64(t->work, to - from);
}

/* Residuals of the first fit and the second scale made from them, which no order can change. */
static tg_status second_scales(trend *t, double *df) {
  for (size_t k = 0; k < t->s->n_keys; k++) {
    size_t n = count_of(t, k), first = first_of(t, k);
    const double *v = t->level + first;
    df[k] = 0;
    if (isnan(t->scale[k])) continue;
    tg_status status = costs_of(t, v, n, t->scale[k]);
    if (status != TG_OK) return status;
    size_t parts = tg_segment_fit(t->cost, n, FIRST_PENALTY, t->start, t->work);
    double least = least_of(t, k);
    for (size_t p = 0; p < parts; p++) {
      size_t from = t->start[p], to = p + 1 < parts ? t->start[p + 1] : n;
      double middle = middle_of(t, v, from, to);
      for (size_t i = from; i < to; i++) t->residual[first + i] = v[i] - middle;
    }
    for (size_t i = 0; i < n; i++) t->work[i] = fabs(t->residual[first + i]);
    df[k] = (double)(n - parts);
    double found = 1.4826 * tg_median_f64(t->work, n) * sqrt((double)n / (df[k] > 0 ? df[k] : 1));
    t->scale[k] = found > least ? found : least;
  }
  shrink(t, df, 4);
  return TG_OK;
}

/* The places of each key by the value of their residuals: no order changes it. */
static tg_status rank_residuals(trend *t) {
  for (size_t k = 0; k < t->s->n_keys; k++) {
    const size_t n = count_of(t, k), first = first_of(t, k);
    if (isnan(t->scale[k])) continue;
    scale_to(t->scaled, t->residual + first, n, t->scale[k]);
    TG_TRY(tg_by_value(t->a, t->scaled, n, t->by_level + first));
  }
  return TG_OK;
}

/* Room for one order of the releases. */
typedef struct shuffled {
  size_t *order, *place; /* [releases] releases in the order; the value of each, or SIZE_MAX */
  uint32_t *moved;       /* [most] where each value of a key stands in the order */
  double *v;             /* [most] */
} shuffled;

/* The largest change of a key in the order, or `floor` where that is no more. */
static double change_of(trend *t, const shuffled *s, size_t key, double floor) {
  const size_t n = count_of(t, key), first = first_of(t, key);
  const uint32_t *release = t->s->release + t->s->start[key];
  size_t at = 0;
  for (size_t i = 0; i < t->releases; i++) s->place[i] = SIZE_MAX;
  for (size_t i = 0; i < n; i++) s->place[release[i]] = i;
  for (size_t i = 0; i < t->releases; i++) {
    const size_t from = s->place[s->order[i]];
    if (from == SIZE_MAX) continue;
    s->moved[from] = (uint32_t)at;
    s->v[at++] = t->residual[first + from];
  }
  scale_to(t->scaled, s->v, n, t->scale[key]);
  for (size_t i = 0; i < n; i++) t->by_value[i] = s->moved[t->by_level[first + i]];
  return tg_segment_change(t->scaled, n, t->by_value, floor * PARTS, t->room, t->work) / PARTS;
}

/* The largest change that orders of the releases give, the same orders for all keys. */
static tg_status draw_orders(trend *t, shuffled *s) {
  tg_rng rng;
  tg_rng_seed(&rng, t->o->seed);
  for (size_t i = 0; i < t->releases; i++) s->order[i] = i;
  for (size_t r = 0; r < TG_TREND_ORDERS; r++) {
    t->maxima[r] = 0;
    for (size_t i = 0; i + 1 < t->releases; i++) {
      size_t j = i + (size_t)tg_rng_below(&rng, t->releases - i), held = s->order[j];
      s->order[j] = s->order[i];
      s->order[i] = held;
    }
    for (size_t k = 0; k < t->s->n_keys; k++) {
      if (tg_stop_at(t->o->stop, k, count_of(t, k))) return TG_EINTERRUPTED;
      if (!isnan(t->scale[k])) t->maxima[r] = change_of(t, s, k, t->maxima[r]);
    }
  }
  tg_sort_f64(t->maxima, TG_TREND_ORDERS);
  t->penalty = t->maxima[CRITICAL - 1];
  return TG_OK;
}

static tg_status find_penalty(trend *t) {
  shuffled s = {.order = tg_array(t->a, t->releases, sizeof *s.order),
                .place = tg_array(t->a, t->releases, sizeof *s.place),
                .moved = tg_array(t->a, t->most, sizeof *s.moved),
                .v = tg_array(t->a, t->most, sizeof *s.v)};
  tg_status status = TG_ENOMEM;
  if (s.order != NULL && s.place != NULL && s.moved != NULL && s.v != NULL)
    status = rank_residuals(t);
  if (status == TG_OK) status = draw_orders(t, &s);
  tg_free(t->a, s.order);
  tg_free(t->a, s.place);
  tg_free(t->a, s.moved);
  tg_free(t->a, s.v);
  return status;
}

/* The p of a step whose removal costs so much more. */
static double p_of(const trend *t, double more) {
  size_t far = 0;
  for (size_t i = 0; i < TG_TREND_ORDERS; i++) far += t->maxima[i] >= more * (1 - 1e-9);
  return (1 + (double)far) / (TG_TREND_ORDERS + 1);
}

/* Keeps a step between two segments if it exceeds the margins. */
static void keep_step(trend *t, tg_step_at f) {
  const size_t key = f.key;
  const double *v = t->level + first_of(t, key);
  const uint32_t *release = t->s->release + t->s->start[key];
  const double step = (double)t->s->resolution[key] * unit_of(t, key);
  const double absolute = t->o->margin_abs != NULL ? t->o->margin_abs[key] : 0;
  f.old = middle_of(t, v, f.before, f.from);
  f.fresh = middle_of(t, v, f.from, f.to);
  double size = fabs(f.fresh - f.old);
  if (t->logs[key] && !(size > log1p(t->o->margin))) return;
  size = t->logs[key] ? fabs(exp(f.fresh) - exp(f.old)) : size * step;
  if (!(size > absolute) || !(size > step * (1 + 1e-9))) return;
  t->found[t->n_found++] = f;
  t->steps[key]++;
  t->stepped[release[f.from]] = true;
}

/* Writes a step. */
static tg_status put_step(const trend *t, const tg_step_at *f, tg_table *steps) {
  const uint32_t *release = t->s->release + t->s->start[f->key];
  const bool logs = t->logs[f->key];
  const double unit = logs ? 1 : (double)t->s->resolution[f->key] * unit_of(t, f->key);
  const double old = logs ? exp(f->old) : f->old * unit;
  const double fresh = logs ? exp(f->fresh) : f->fresh * unit;
  tg_row row = tg_row_begin(steps);
  tg_row_u32(&row, TG_STEP_KEY, (uint32_t)f->key);
  tg_row_u32(&row, TG_STEP_BEFORE, release[f->from - 1]);
  tg_row_u32(&row, TG_STEP_AT, release[f->from]);
  tg_row_u32(&row, TG_STEP_LAST, release[f->to - 1]);
  tg_row_f64(&row, TG_STEP_OLD, old);
  tg_row_f64(&row, TG_STEP_NEW, fresh);
  if (logs) tg_row_f64(&row, TG_STEP_PERCENT, 100 * (fresh / old - 1));
  if (f->kind != TG_STEP_ALONG) tg_row_f64(&row, TG_STEP_P, f->p);
  tg_row_u32(&row, TG_STEP_KIND, f->kind);
  return tg_row_end(&row);
}

/* The steps of one key at the penalty of chance. */
static tg_status steps_of(trend *t, size_t key) {
  size_t n = count_of(t, key);
  const double *v = t->level + first_of(t, key);
  if (isnan(t->scale[key])) return TG_OK;
  tg_status status = costs_of(t, v, n, t->scale[key]);
  if (status != TG_OK) return status;
  size_t parts = tg_segment_fit(t->cost, n, t->penalty, t->start, t->work);
  for (size_t p = 1; p < parts; p++) {
    tg_step_at f = {.key = key, .before = t->start[p - 1], .from = t->start[p],
                    .to = p + 1 < parts ? t->start[p + 1] : n, .kind = TG_STEP_PLAIN};
    double whole = t->cost[f.before * n + f.to - 1];
    f.p = p_of(t, whole - t->cost[f.before * n + f.from - 1] - t->cost[f.from * n + f.to - 1]);
    keep_step(t, f);
  }
  return TG_OK;
}

/* Which steps are confirmed: their releases lie together more than chance lays them. */
static tg_status confirm_steps(trend *t, const tg_levels *levels) {
  TG_TRY(tg_place_steps(t->a, levels, t->found, t->n_found));
  for (size_t i = 0; i < t->n_found; i++) {
    tg_step_at *f = &t->found[i];
    const bool alone = f->from + 1 == count_of(t, f->key) || f->from == 1;
    if (alone || f->p > CONFIRMED * (1 + 1e-9)) f->kind = alone ? TG_STEP_ALONE : TG_STEP_OPEN;
  }
  return TG_OK;
}

/* Keys without a step of their own that move in a release in which another one steps. */
static tg_status along_of(trend *t, size_t key) {
  size_t n = count_of(t, key);
  const double *v = t->level + first_of(t, key);
  const uint32_t *release = t->s->release + t->s->start[key];
  if (isnan(t->scale[key]) || t->steps[key] > 0) return TG_OK;
  tg_status status = costs_of(t, v, n, t->scale[key]);
  if (status != TG_OK) return status;
  size_t parts = tg_segment_fit(t->cost, n, ALONG_PENALTY, t->start, t->work);
  for (size_t p = 1; p < parts; p++) {
    const tg_step_at f = {.key = key, .before = t->start[p - 1], .from = t->start[p],
                          .to = p + 1 < parts ? t->start[p + 1] : n, .kind = TG_STEP_ALONG};
    if (t->stepped[release[f.from]]) keep_step(t, f);
  }
  return TG_OK;
}

/* The figures of a series beside its steps. */
static tg_status put_series(trend *t, size_t key, tg_table *series) {
  size_t n = count_of(t, key);
  const int64_t *v = t->s->value + t->s->start[key];
  tg_energy e = {0, 0, 0, 0, false};
  tg_status status = TG_ENODATA;
  if (n >= 8) status = tg_energy_step(t->a, t->o->stop, v, n, t->o->seed, &e);
  if (status != TG_OK && status != TG_ENODATA && status != TG_ELIMIT && status != TG_EOVERFLOW)
    return status;
  tg_row row = tg_row_begin(series);
  tg_row_u32(&row, TG_TREND_RELEASES, (uint32_t)n);
  tg_row_u32(&row, TG_TREND_STEPS, t->steps[key]);
  if (n > 0) {
    memcpy(t->scaled, v, n * sizeof *v);
    tg_sort_i64(t->scaled, n);
    const int64_t middle = t->scaled[(n - 1) / 2];
    tg_row_f64(&row, TG_TREND_MEDIAN, (double)middle * unit_of(t, key));
  }
  if (!isnan(t->scale[key]))
    tg_row_f64(&row, TG_TREND_SCATTER, t->logs[key] ? 100 * expm1(t->scale[key]) : t->scale[key]);
  if (status == TG_OK) {
    tg_row_f64(&row, TG_TREND_P, e.p);
    tg_row_f64(&row, TG_TREND_P_MIN, e.p_min);
  }
  return tg_row_end(&row);
}

static tg_status make_room(trend *t) {
  size_t keys = t->s->n_keys, values = first_of(t, keys), most = t->most;
  if (most > TG_SEGMENT_MOST) return TG_ELIMIT;
  t->level = tg_array(t->a, values, sizeof *t->level);
  t->residual = tg_array(t->a, values, sizeof *t->residual);
  t->scale = tg_array(t->a, keys, sizeof *t->scale);
  t->pool = tg_array(t->a, 3 * keys, sizeof *t->pool);
  t->steps = tg_array(t->a, keys, sizeof *t->steps);
  t->logs = tg_array(t->a, keys, sizeof *t->logs);
  t->cost = tg_array(t->a, most * most, sizeof *t->cost);
  t->work = tg_array(t->a, TG_CHANGE_WORK(most), sizeof *t->work);
  t->scaled = tg_array(t->a, most, sizeof *t->scaled);
  t->by_value = tg_array(t->a, most, sizeof *t->by_value);
  t->by_level = tg_array(t->a, values, sizeof *t->by_level);
  t->room = tg_array(t->a, TG_SEGMENT_ROOM(most), sizeof *t->room);
  t->start = tg_array(t->a, most, sizeof *t->start);
  t->maxima = tg_array(t->a, TG_TREND_ORDERS, sizeof *t->maxima);
  t->stepped = tg_array(t->a, t->releases, sizeof *t->stepped);
  t->least = tg_array(t->a, keys, sizeof *t->least);
  t->found = tg_array(t->a, values + 2 * keys, sizeof *t->found);
  bool all = t->level != NULL && t->residual != NULL && t->scale != NULL && t->pool != NULL &&
             t->steps != NULL && t->logs != NULL && t->cost != NULL && t->work != NULL &&
             t->scaled != NULL && t->by_value != NULL && t->by_level != NULL && t->room != NULL &&
             t->start != NULL && t->maxima != NULL && t->stepped != NULL && t->least != NULL &&
             t->found != NULL;
  if (!all) return TG_ENOMEM;
  for (size_t k = 0; k < keys; k++) t->steps[k] = 0;
  for (size_t r = 0; r < t->releases; r++) t->stepped[r] = false;
  return TG_OK;
}

static void release_room(trend *t) {
  void *const array[] = {t->level,   t->residual, t->scale,    t->pool,     t->steps,
                         t->logs,    t->cost,     t->work,     t->scaled,   t->by_value,
                         t->by_level, t->room,    t->start,    t->maxima,   t->stepped,
                         t->least,   t->found};
  for (size_t i = 0; i < sizeof array / sizeof *array; i++) tg_free(t->a, array[i]);
}

/* Keys that move along, by the first scales; the second ones are there again behind it. */
static tg_status find_along(trend *t, double *df) {
  const size_t keys = t->s->n_keys;
  double *second = t->residual; /* not needed any more: keep the second scales there */
  if (keys == 0 || first_of(t, keys) < keys) return TG_OK;
  memcpy(second, t->scale, keys * sizeof *second);
  first_scales(t, df);
  for (size_t k = 0; k < keys; k++) TG_TRY(along_of(t, k));
  memcpy(t->scale, second, keys * sizeof *second);
  return TG_OK;
}

/* Fits all keys and writes both tables. */
static tg_status fit_all(trend *t, tg_table *series, tg_table *steps) {
  size_t keys = t->s->n_keys;
  double *df = t->pool + 2 * keys;
  for (size_t k = 0; k < keys; k++) fill_levels(t, k);
  for (size_t k = 0; k < keys; k++) t->least[k] = count_of(t, k) > 0 ? least_of(t, k) : 0;
  first_scales(t, df);
  TG_TRY(second_scales(t, df));
  TG_TRY(find_penalty(t));
  for (size_t k = 0; k < keys; k++) TG_TRY(steps_of(t, k));
  const tg_levels levels = {t->s, t->o, t->level, t->logs, t->least, t->releases};
  TG_TRY(confirm_steps(t, &levels));
  TG_TRY(tg_find_onces(t->a, &levels, t->found, &t->n_found));
  TG_TRY(find_along(t, df));
  for (size_t i = 0; i < t->n_found; i++) {
    t->steps[t->found[i].key] += t->found[i].kind == TG_STEP_ONCE;
    TG_TRY(put_step(t, &t->found[i], steps));
  }
  for (size_t k = 0; k < keys; k++) TG_TRY(put_series(t, k, series));
  return TG_OK;
}

/* TG_EINVAL, TG_EOVERFLOW or TG_OK; the most releases of a key, and the number of releases. */
static tg_status check(const tg_series *s, const tg_trend_options *o, trend *t) {
  if (!(o->margin >= 0) || isinf(o->margin)) return TG_EINVAL;
  for (size_t k = 0; k < s->n_keys; k++) {
    if (s->start[k + 1] < s->start[k] || s->num[k] == 0 || s->den[k] == 0 || s->resolution[k] == 0)
      return TG_EINVAL;
    if (o->margin_abs != NULL && (!(o->margin_abs[k] >= 0) || isinf(o->margin_abs[k])))
      return TG_EINVAL;
    for (uint64_t i = s->start[k]; i < s->start[k + 1]; i++) {
      if (i > s->start[k] && s->release[i] <= s->release[i - 1]) return TG_EINVAL;
      if (s->release[i] >= t->releases) t->releases = (size_t)s->release[i] + 1;
    }
    if (s->start[k + 1] - s->start[k] > t->most) t->most = (size_t)(s->start[k + 1] - s->start[k]);
  }
  return tg_check_values(s->value + s->start[0], (size_t)(s->start[s->n_keys] - s->start[0]));
}

/* Makes both tables; the caller frees all after a failure too. */
static tg_status fill_tables(trend *t, tg_table **series, tg_table **steps) {
  TG_TRY(check(t->s, t->o, t));
  TG_TRY(make_room(t));
  TG_TRY(tg_table_new(t->a, series_columns, TG_TREND_COLUMNS, series));
  TG_TRY(tg_table_new(t->a, step_columns, TG_STEP_COLUMNS, steps));
  return fit_all(t, *series, *steps);
}

tg_status tg_trend(const tg_alloc *a, const tg_series *s, const tg_trend_options *options,
                   tg_table **series, tg_table **steps) {
  trend t = {.a = a, .s = s, .o = options};
  tg_table *a_series = NULL, *a_steps = NULL;
  const tg_status status = fill_tables(&t, &a_series, &a_steps);
  release_room(&t);
  if (status == TG_OK) {
    *series = a_series;
    *steps = a_steps;
  } else {
    tg_table_free(a_series);
    tg_table_free(a_steps);
  }
  return status;
}

tg_status tg_change(const tg_alloc *a, const int64_t *x, size_t n, double *out) {
  if (n > TG_SEGMENT_MOST) return TG_ELIMIT;
  tg_status status = tg_check_values(x, n);
  if (status != TG_OK) return status;
  uint32_t *by_value = tg_array(a, n, sizeof *by_value);
  uint32_t *room = tg_array(a, TG_SEGMENT_ROOM(n), sizeof *room);
  double *work = tg_array(a, TG_CHANGE_WORK(n), sizeof *work);
  status = TG_ENOMEM;
  if (by_value != NULL && room != NULL && work != NULL) status = tg_by_value(a, x, n, by_value);
  if (status == TG_OK) *out = tg_segment_change(x, n, by_value, 0, room, work);
  tg_free(a, by_value);
  tg_free(a, room);
  tg_free(a, work);
  return status;
}

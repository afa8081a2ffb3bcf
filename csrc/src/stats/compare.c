/* compare.c - two sides, all keys, one row per key. SPDX-License-Identifier: BSD-3-Clause */
#include "key.h"

#include <math.h>
#include <string.h>

static const tg_column_def compare_columns[TG_CMP_COLUMNS] = {
    {"n_old", TG_U32, 0},      {"n_new", TG_U32, 0},      {"old", TG_F64, 0},
    {"new", TG_F64, 0},        {"shift", TG_F64, 0},      {"shift_steps", TG_F64, 0},
    {"percent", TG_F64, 0},    {"lo", TG_F64, 0},         {"hi", TG_F64, 0},
    {"level", TG_F64, 0},      {"p", TG_F64, 0},          {"p_min", TG_F64, 0},
    {"p_bh", TG_F64, 0},       {"detectable", TG_F64, 0}, {"detectable_level", TG_F64, 0},
    {"delta", TG_F64, 0},      {"step", TG_F64, 0},       {"sd", TG_F64, 0},
    {"within", TG_F64, 0},     {"within_lo", TG_F64, 0},  {"within_hi", TG_F64, 0},
    {"needed", TG_U32, 0},     {"method", TG_TEXT, 0},    {"verdict", TG_TEXT, 0},
    {"flags", TG_U32, 0},
};

const char *tg_verdict_text(tg_verdict v) {
  static const char *const text[TG_VERDICT_COUNT] = {
      "missing", "regressed", "improved", "equivalent", "changed", "inconclusive", "unreplicated"};
  return v >= 0 && v < TG_VERDICT_COUNT ? text[v] : "unknown";
}

const char *tg_method_text(tg_method m) {
  static const char *const text[] = {"none", "exact", "paired", "prediction", "noise"};
  return m >= 0 && (size_t)m < sizeof text / sizeof *text ? text[m] : "unknown";
}

/* Factors that bring both scales onto one integer grid: an old integer is fx grid units, a new
 * one fy, and a grid unit is num/den of the unit shown. */
typedef struct grid {
  int64_t fx, fy;
  double unit;
} grid;

/* a/b and c/d on the grid gcd(a/b, c/d) = gcd(a*d', c*b') / lcm(b, d). */
static tg_status grid_of(uint64_t a, uint64_t b, uint64_t c, uint64_t d, grid *out) {
  uint64_t g = tg_gcd(b, d);
  tg_u128 x = (tg_u128)a * (d / g), y = (tg_u128)c * (b / g), both = (tg_u128)(b / g) * d;
  if (x > INT64_MAX || y > INT64_MAX) return TG_EOVERFLOW;
  uint64_t common = tg_gcd((uint64_t)x, (uint64_t)y);
  *out = (grid){(int64_t)((uint64_t)x / common), (int64_t)((uint64_t)y / common),
                (double)common / (double)both};
  return TG_OK;
}

/* value * factor for n values; TG_EOVERFLOW beyond TG_STATS_LIMIT. */
static tg_status scale_values(int64_t *to, const int64_t *from, size_t n, int64_t factor) {
  for (size_t i = 0; i < n; i++) {
    tg_i128 v = (tg_i128)from[i] * factor;
    if (v > TG_STATS_LIMIT || v < -TG_STATS_LIMIT) return TG_EOVERFLOW;
    to[i] = (int64_t)v;
  }
  return TG_OK;
}

/* Everything a comparison holds on to while it walks the keys. */
typedef struct walk {
  const tg_alloc *a;
  const tg_samples *side[3]; /* old, new, noise (or NULL) */
  int64_t *unit[3];          /* one value per unit of each side */
  int64_t *work;             /* room for the units of one key, both sides and noise */
  tg_scratch scratch[2];
  tg_key_context context;
  tg_table *table;
  double *p;
} walk;

static size_t units_of(const tg_samples *s, size_t key) {
  return s == NULL ? 0 : (size_t)(s->key_start[key + 1] - s->key_start[key]);
}
static const int64_t *unit_values(const walk *w, int side, size_t key) {
  return w->unit[side] + (w->side[side]->key_start[key] - w->side[side]->key_start[0]);
}

/* One value per unit of the three sides, and room for the key with most units. */
static tg_status collapse_sides(walk *w) {
  size_t most = 0, keys = w->side[0]->n_keys;
  for (int i = 0; i < 3; i++) {
    const tg_samples *s = w->side[i];
    if (s == NULL) continue;
    tg_status st = tg_samples_check(s);
    if (st != TG_OK) return st;
    w->unit[i] = tg_array(w->a, (size_t)(s->key_start[keys] - s->key_start[0]), sizeof(int64_t));
    if (w->unit[i] == NULL) return TG_ENOMEM;
    st = tg_collapse(w->a, w->context.stop, s, w->unit[i]);
    if (st != TG_OK) return st;
  }
  for (size_t k = 0; k < keys; k++) {
    size_t n = units_of(w->side[0], k) + units_of(w->side[1], k) + units_of(w->side[2], k);
    if (n > most) most = n;
  }
  if (most > SIZE_MAX / 64) return TG_EOVERFLOW;
  w->work = tg_array(w->a, 2 * most, sizeof *w->work);
  return w->work != NULL ? TG_OK : TG_ENOMEM;
}

/* Shift between all readings of the two single units, where they have several. */
static tg_status within_units(walk *w, size_t key, const grid *g, tg_key_result *r) {
  tg_sorted v[2];
  for (int i = 0; i < 2; i++) {
    const tg_samples *s = w->side[i];
    size_t u = (size_t)s->key_start[key];
    if (s->unit_start[u + 1] - s->unit_start[u] < 1) return TG_OK;
    tg_status st = tg_scratch_sort(w->a, &w->scratch[i], s, u, u + 1, &v[i]);
    if (st == TG_ENODATA) return TG_OK;
    if (st != TG_OK) return st;
    if (tg_sorted_total(&v[i]) < 4) return TG_OK;
    st = scale_values(w->scratch[i].value, w->scratch[i].value, v[i].n, i == 0 ? g->fx : g->fy);
    if (st != TG_OK) return st;
  }
  tg_status st = tg_hl_sorted(&w->context.null, &v[0], &v[1], w->context.alpha, &r->within);
  if (st == TG_OK) r->within_shift = tg_difference_median(&v[0], &v[1]);
  return st;
}

static void put_row(walk *w, size_t row, const tg_key_input *in, const tg_key_result *r,
                    double unit) {
  tg_table *t = w->table;
  tg_table_set_u32(t, row, TG_CMP_N_OLD, (uint32_t)in->m);
  tg_table_set_u32(t, row, TG_CMP_N_NEW, (uint32_t)in->n);
  const struct {
    size_t col;
    double v;
  } cell[] = {{TG_CMP_OLD, r->base * unit},
              {TG_CMP_NEW, r->fresh * unit},
              {TG_CMP_SHIFT, r->shift * unit},
              {TG_CMP_SHIFT_STEPS, r->shift / in->step},
              {TG_CMP_PERCENT, r->base != 0 ? 100 * r->shift / fabs(r->base) : (double)NAN},
              {TG_CMP_LO, r->ci.lo * unit},
              {TG_CMP_HI, r->ci.hi * unit},
              {TG_CMP_LEVEL, r->ci.level},
              {TG_CMP_P, r->p},
              {TG_CMP_P_MIN, r->p_min},
              {TG_CMP_DETECTABLE, r->detectable * unit},
              {TG_CMP_DETECTABLE_LEVEL, r->detectable_level},
              {TG_CMP_DELTA, r->delta * unit},
              {TG_CMP_STEP, in->step * unit},
              {TG_CMP_SD, r->sd * unit},
              {TG_CMP_WITHIN, r->within_shift * unit},
              {TG_CMP_WITHIN_LO, r->within.lo * unit},
              {TG_CMP_WITHIN_HI, r->within.hi * unit}};
  for (size_t i = 0; i < sizeof cell / sizeof *cell; i++) tg_put(t, row, cell[i].col, cell[i].v);
  if (r->needed_known) tg_table_set_u32(t, row, TG_CMP_NEEDED, r->needed);
  tg_table_set_u32(t, row, TG_CMP_FLAGS, r->flags);
}

/* Brings the key's units onto one grid, judges them and writes the row. */
static tg_status compare_key(walk *w, const tg_compare_options *o, size_t key) {
  const tg_samples *x = w->side[0], *y = w->side[1], *z = w->side[2];
  tg_key_input in = {0};
  grid g = {1, 1, 1}, gz = g;
  tg_status st = grid_of(x->num[key], x->den[key], y->num[key], y->den[key], &g);
  if (st != TG_OK) return st;
  in.m = units_of(x, key);
  in.n = units_of(y, key);
  in.x = w->work;
  in.y = in.x + in.m;
  in.z = in.y + in.n;
  double sx = (double)x->resolution[key] * (double)g.fx;
  double sy = (double)y->resolution[key] * (double)g.fy;
  in.step = sx > sy ? sx : sy;
  in.margin_abs = o->margin_abs / g.unit;
  in.better = o->better != NULL ? (tg_better)o->better[key] : TG_BETTER_LOWER;
  st = scale_values(in.x, unit_values(w, 0, key), in.m, g.fx);
  if (st == TG_OK) st = scale_values(in.y, unit_values(w, 1, key), in.n, g.fy);
  if (st != TG_OK) return st;
  if (z != NULL) { /* the scatter of A/A units on the grid of the old side */
    st = grid_of(x->num[key], x->den[key], z->num[key], z->den[key], &gz);
    if (st != TG_OK) return st;
    in.k = units_of(z, key);
    st = scale_values(in.z, unit_values(w, 2, key), in.k, gz.fy);
    in.z_unit = gz.unit / g.unit;
    tg_u128 step = (tg_u128)z->resolution[key] * (tg_u128)gz.fy;
    if (step > (tg_u128)TG_STATS_LIMIT) return TG_EOVERFLOW;
    in.z_step = (uint64_t)step;
    in.noise = true;
    if (st != TG_OK) return st;
  }
  tg_key_result r;
  st = tg_judge_key(&w->context, &in, &r);
  if (st == TG_OK && in.m == 1 && in.n == 1) st = within_units(w, key, &g, &r);
  size_t row = 0;
  if (st == TG_OK) st = tg_table_append(w->table, &row);
  if (st != TG_OK) return st;
  if (sx < sy || sy < sx) r.flags |= TG_CMP_STEPS;
  put_row(w, row, &in, &r, g.unit);
  w->p[key] = r.p;
  st = tg_table_set_cstr(w->table, row, TG_CMP_METHOD, tg_method_text(r.method));
  if (st == TG_OK)
    st = tg_table_set_cstr(w->table, row, TG_CMP_VERDICT, tg_verdict_text(r.verdict));
  return st;
}

#define STOP_KEY 256 /* steps of a key, to ask by; its test asks for itself */

tg_status tg_compare(const tg_alloc *a, const tg_samples *a_old, const tg_samples *a_new,
                     const tg_compare_options *options, tg_table **out) {
  const tg_compare_options *o = options;
  double alpha = o->alpha > 0 ? o->alpha : 0.05;
  size_t keys = a_old->n_keys;
  if (a_new->n_keys != keys || (o->noise != NULL && o->noise->n_keys != keys) ||
      !(o->margin >= 0) || !(o->margin_abs >= 0) || !(alpha < 0.5))
    return TG_EINVAL;
  for (size_t key = 0; o->better != NULL && key < keys; key++)
    if (o->better[key] > TG_BETTER_NONE) return TG_EINVAL;
  walk w = {.a = a, .side = {a_old, a_new, o->noise}};
  tg_key_context_init(&w.context, a, o, alpha);
  tg_status st = collapse_sides(&w);
  if (st == TG_OK) st = tg_table_new(a, compare_columns, TG_CMP_COLUMNS, &w.table);
  w.p = st == TG_OK ? tg_array(a, keys, sizeof *w.p) : NULL;
  if (st == TG_OK && w.p == NULL) st = TG_ENOMEM;
  for (size_t key = 0; st == TG_OK && key < keys; key++)
    st = tg_stop_at(o->stop, key, STOP_KEY) ? TG_EINTERRUPTED : compare_key(&w, o, key);
  if (st == TG_OK) st = tg_bh(a, w.p, keys, w.p);
  for (size_t key = 0; st == TG_OK && key < keys; key++)
    tg_put(w.table, key, TG_CMP_P_BH, w.p[key]);
  for (int i = 0; i < 3; i++) tg_free(a, w.unit[i]);
  for (int i = 0; i < 2; i++) tg_scratch_free(a, &w.scratch[i]);
  tg_null_free(&w.context.null);
  tg_free(a, w.work);
  tg_free(a, w.p);
  if (st == TG_OK)
    *out = w.table;
  else
    tg_table_free(w.table);
  return st;
}

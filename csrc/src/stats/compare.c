/* compare.c - two sides, all keys, one row per key and quantile.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "base/try.h"
#include "single.h"

static const tg_column_def compare_columns[TG_CMP_COLUMNS] = {
    {"index", TG_U32, 0},         {"quantile", TG_U32, 0},      {"n_old", TG_U32, 0},
    {"n_new", TG_U32, 0},         {"old", TG_F64, 0},           {"new", TG_F64, 0},
    {"percent", TG_F64, 0},       {"percent_lo", TG_F64, 0},    {"percent_hi", TG_F64, 0},
    {"shift", TG_F64, 0},         {"shift_steps", TG_F64, 0},   {"lo", TG_F64, 0},
    {"hi", TG_F64, 0},            {"level", TG_F64, 0},         {"p", TG_F64, 0},
    {"p_min", TG_F64, 0},         {"p_bh", TG_F64, 0},          {"visible", TG_F64, 0},
    {"judged_from", TG_F64, 0},   {"margin", TG_F64, 0},        {"delta", TG_F64, 0},
    {"step", TG_F64, 0},          {"scatter", TG_F64, 0},       {"tail_p_slower", TG_F64, 0},
    {"tail_p_faster", TG_F64, 0}, {"tail_above", TG_F64, 0},    {"tail_old", TG_U32, 0},
    {"tail_new", TG_U32, 0},      {"within", TG_F64, 0},        {"within_lo", TG_F64, 0},
    {"within_hi", TG_F64, 0},     {"needed", TG_U32, 0},        {"reference", TG_U32, 0},
    {"lacking_90", TG_U32, 0},    {"lacking_99", TG_U32, 0},    {"method", TG_TEXT, 0},
    {"verdict", TG_TEXT, 0},      {"flags", TG_U32, 0},
};

const char *tg_verdict_text(tg_verdict v) {
  static const char *const text[TG_VERDICT_COUNT] = {
      "missing",      "regressed",    "improved",     "equivalent", "changed",
      "inconclusive", "unreplicated", "refused"};
  return v >= 0 && v < TG_VERDICT_COUNT ? text[v] : "unknown";
}

const char *tg_method_text(tg_method m) {
  static const char *const text[] = {"none", "exact", "paired", "pooled residuals", "noise set"};
  return m >= 0 && (size_t)m < sizeof text / sizeof *text ? text[m] : "unknown";
}

/* Everything a comparison holds on to while it walks the keys. */
typedef struct walk {
  const tg_alloc *a;
  const tg_samples *side[TG_SIDES];
  const tg_compare_options *options;
  tg_quantities quantities;
  int64_t *unit;        /* the units of one key on its grid */
  uint64_t *work;       /* twice as much */
  tg_key_result *result; /* [quantities.n] */
  uint32_t *reference;
  double *p;
  tg_scratch scratch[2];
  tg_key_context context;
  tg_table *table;
} walk;

/* Room for all results and for the key with most units. */
static tg_status make_room(walk *w) {
  size_t most = 0, n = w->quantities.n;
  for (size_t i = 0; i < n; i++) {
    const tg_quantity *q = &w->quantities.v[i];
    if (q->units[0] > SIZE_MAX / 64 - q->units[1]) return TG_ENOMEM;
    if (q->units[0] + q->units[1] > most) most = q->units[0] + q->units[1];
  }
  if (most > SIZE_MAX / 64) return TG_ENOMEM;
  w->unit = tg_array(w->a, most, sizeof *w->unit);
  w->work = tg_array(w->a, 2 * most, sizeof *w->work);
  w->result = tg_array(w->a, n, sizeof *w->result);
  w->reference = tg_array(w->a, n, sizeof *w->reference);
  w->p = tg_array(w->a, n, sizeof *w->p);
  bool all = w->unit != NULL && w->work != NULL && w->result != NULL && w->reference != NULL &&
             w->p != NULL;
  return all ? TG_OK : TG_ENOMEM;
}

/* Shift between all readings of the two single units, where they have several. */
static tg_status within_units(walk *w, size_t key, const tg_grid *g, tg_key_result *r) {
  tg_sorted v[2];
  for (int i = 0; i < 2; i++) {
    const tg_samples *s = w->side[i];
    size_t u = (size_t)s->key_start[key];
    tg_status status = tg_scratch_sort(w->a, &w->scratch[i], s, u, u + 1, &v[i]);
    if (status == TG_ENODATA) return TG_OK;
    if (status != TG_OK) return status;
    if (tg_sorted_total(&v[i]) < 4) return TG_OK;
    status = tg_grid_scale(w->scratch[i].value, w->scratch[i].value, v[i].n,
                           i == 0 ? g->fx : g->fy);
    if (status != TG_OK) return status;
  }
  tg_status status =
      tg_hl_sorted(&w->context.null, &v[0], &v[1], w->context.alpha, &r->within);
  if (status == TG_OK) r->within_shift = tg_difference_median(&v[0], &v[1]);
  return status;
}

/* Brings the units of a quantity onto one grid and judges them. */
static tg_status judge_quantity(walk *w, const tg_quantity *q, tg_key_result *r) {
  const tg_compare_options *o = w->options;
  tg_grid g;
  tg_key_input in = {.m = q->units[0], .n = q->units[1], .work = w->work, .x = w->unit};
  in.y = in.x + in.m;
  in.better = o->better != NULL ? (tg_better)o->better[q->key] : TG_BETTER_LOWER;
  tg_status status = tg_grid_of(w->side[0], w->side[1], q->key, &g);
  if (status == TG_OK) status = tg_grid_scale(in.x, q->value[0], in.m, g.fx);
  if (status == TG_OK) status = tg_grid_scale(in.y, q->value[1], in.n, g.fy);
  if (status == TG_OK) {
    in.step = g.step;
    in.margin_abs = o->margin_abs != NULL ? o->margin_abs[q->key] / g.unit : 0;
    status = tg_judge_key(&w->context, &in, r);
    if (g.steps_differ) r->flags |= TG_CMP_STEPS;
  }
  if (status == TG_OK && q->percent == 50 && in.m == 1 && in.n == 1)
    status = within_units(w, q->key, &g, r);
  if (status != TG_EOVERFLOW) return status;
  tg_key_clear(r);
  r->verdict = TG_VERDICT_REFUSED;
  return TG_OK;
}

static double percent_of(double ratio) {
  double percent = 100 * (ratio - 1);
  return isnan(percent) || percent > -100 ? percent : nextafter(-100, 0);
}

/* The cells whose unit is the key's. */
static void put_lengths(tg_table *t, size_t row, const tg_key_result *r, const tg_grid *g) {
  bool additive = (r->flags & TG_CMP_ADDITIVE) != 0;
  double share = additive ? g->unit : 100;
  const struct {
    size_t col;
    double v;
  } cell[] = {{TG_CMP_OLD, r->base * g->unit},
              {TG_CMP_NEW, r->fresh * g->unit},
              {TG_CMP_SHIFT, r->shift * g->unit},
              {TG_CMP_SHIFT_STEPS, r->shift / (double)g->step},
              {TG_CMP_LO, r->lo * g->unit},
              {TG_CMP_HI, r->hi * g->unit},
              {TG_CMP_VISIBLE, r->visible * share},
              {TG_CMP_JUDGED_FROM, r->judged_from * share},
              {TG_CMP_MARGIN, r->margin * share},
              {TG_CMP_DELTA, r->delta * g->unit},
              {TG_CMP_STEP, (double)g->step * g->unit},
              {TG_CMP_WITHIN, r->within_shift * g->unit},
              {TG_CMP_WITHIN_LO, r->within.lo * g->unit},
              {TG_CMP_WITHIN_HI, r->within.hi * g->unit}};
  for (size_t i = 0; i < sizeof cell / sizeof *cell; i++) tg_put(t, row, cell[i].col, cell[i].v);
}

static void put_tail(tg_table *t, size_t row, const tg_key_result *r, const tg_grid *g) {
  const tg_tail_side *side =
      r->tail.faster.p < r->tail.slower.p ? &r->tail.faster : &r->tail.slower;
  tg_put(t, row, TG_CMP_TAIL_P_SLOWER, r->tail.slower.p);
  tg_put(t, row, TG_CMP_TAIL_P_FASTER, r->tail.faster.p);
  if (isnan(r->tail.slower.p)) return;
  tg_put(t, row, TG_CMP_TAIL_ABOVE, (double)side->above * g->unit);
  tg_table_set_u32(t, row, TG_CMP_TAIL_OLD, (uint32_t)side->old_above);
  tg_table_set_u32(t, row, TG_CMP_TAIL_NEW, (uint32_t)side->new_above);
}

static tg_status put_row(walk *w, size_t i) {
  const tg_quantity *q = &w->quantities.v[i];
  const tg_key_result *r = &w->result[i];
  tg_table *t = w->table;
  size_t row = 0;
  tg_grid g;
  tg_status status = tg_table_append(t, &row);
  if (status != TG_OK) return status;
  tg_table_set_u32(t, row, TG_CMP_KEY, (uint32_t)q->key);
  tg_table_set_u32(t, row, TG_CMP_QUANTILE, q->percent);
  tg_table_set_u32(t, row, TG_CMP_N_OLD, (uint32_t)q->units[0]);
  tg_table_set_u32(t, row, TG_CMP_N_NEW, (uint32_t)q->units[1]);
  if (r->verdict != TG_VERDICT_REFUSED &&
      tg_grid_of(w->side[0], w->side[1], q->key, &g) == TG_OK) {
    put_lengths(t, row, r, &g);
    put_tail(t, row, r, &g);
  }
  tg_put(t, row, TG_CMP_PERCENT, percent_of(r->ratio));
  if (r->ratio_lo > 0) tg_put(t, row, TG_CMP_PERCENT_LO, percent_of(r->ratio_lo));
  if (!isinf(r->ratio_hi)) tg_put(t, row, TG_CMP_PERCENT_HI, percent_of(r->ratio_hi));
  tg_put(t, row, TG_CMP_LEVEL, r->level);
  tg_put(t, row, TG_CMP_P, r->p);
  tg_put(t, row, TG_CMP_P_MIN, r->p_min);
  tg_put(t, row, TG_CMP_P_BH, w->p[i]);
  tg_put(t, row, TG_CMP_SCATTER, r->scatter);
  if (r->needed > 0) tg_table_set_u32(t, row, TG_CMP_NEEDED, r->needed);
  if (w->reference[i] > 0) tg_table_set_u32(t, row, TG_CMP_REFERENCE, w->reference[i]);
  tg_table_set_u32(t, row, TG_CMP_LACKING_90, w->quantities.lacking[2 * q->key]);
  tg_table_set_u32(t, row, TG_CMP_LACKING_99, w->quantities.lacking[2 * q->key + 1]);
  tg_table_set_u32(t, row, TG_CMP_FLAGS, r->flags);
  status = tg_table_set_cstr(t, row, TG_CMP_METHOD, tg_method_text(r->method));
  return status == TG_OK ? tg_table_set_cstr(t, row, TG_CMP_VERDICT, tg_verdict_text(r->verdict))
                         : status;
}

/* Whether the options can be used. */
static bool sound(const tg_compare_options *o, double alpha, size_t keys) {
  if (!(o->margin >= 0) || isinf(o->margin) || !(alpha < 0.5) ||
      (o->noise != NULL && o->noise->n_keys != keys))
    return false;
  for (size_t key = 0; key < keys; key++) {
    if (o->better != NULL && o->better[key] > TG_BETTER_NONE) return false;
    if (o->margin_abs != NULL && (!(o->margin_abs[key] >= 0) || isinf(o->margin_abs[key])))
      return false;
  }
  return true;
}

#define STOP_KEY 256 /* steps of a key, to ask by; its test asks for itself */

static tg_status judge_all(walk *w) {
  tg_status status = TG_OK;
  size_t n = w->quantities.n;
  for (size_t i = 0; status == TG_OK && i < n; i++)
    status = tg_stop_at(w->context.stop, i, STOP_KEY)
                 ? TG_EINTERRUPTED
                 : judge_quantity(w, &w->quantities.v[i], &w->result[i]);
  if (status == TG_OK)
    status = tg_judge_single(&w->context, w->side, &w->quantities, w->options, w->result,
                             w->reference);
  if (status != TG_OK) return status;
  for (size_t i = 0; i < n; i++) w->p[i] = w->result[i].p;
  return tg_bh(w->a, w->p, n, w->p);
}

/* Judges all quantities and writes the table; the caller frees all after a failure too. */
static tg_status fill_table(walk *w) {
  TG_TRY(tg_quantities_make(w->a, w->options->stop, w->side, &w->quantities));
  TG_TRY(make_room(w));
  TG_TRY(judge_all(w));
  TG_TRY(tg_table_new(w->a, compare_columns, TG_CMP_COLUMNS, &w->table));
  for (size_t i = 0; i < w->quantities.n; i++) TG_TRY(put_row(w, i));
  return TG_OK;
}

tg_status tg_compare(const tg_alloc *a, const tg_samples *a_old, const tg_samples *a_new,
                     const tg_compare_options *options, tg_table **out) {
  double alpha = options->alpha > 0 ? options->alpha : 0.05;
  if (a_new->n_keys != a_old->n_keys || !sound(options, alpha, a_old->n_keys)) return TG_EINVAL;
  walk w = {.a = a, .side = {a_old, a_new, options->noise}, .options = options};
  tg_key_context_init(&w.context, a, options, alpha);
  const tg_status status = fill_table(&w);
  tg_quantities_free(a, &w.quantities);
  for (int i = 0; i < 2; i++) tg_scratch_free(a, &w.scratch[i]);
  tg_null_free(&w.context.null);
  tg_free(a, w.unit);
  tg_free(a, w.work);
  tg_free(a, w.result);
  tg_free(a, w.reference);
  tg_free(a, w.p);
  if (status == TG_OK)
    *out = w.table;
  else
    tg_table_free(w.table);
  return status;
}

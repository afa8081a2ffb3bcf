/* key.c - the judgement of one key: effect, interval, test, power, verdict.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "key.h"

#include <math.h>
#include <string.h>

#define PREDICT_LEAST 3 /* old units that carry a prediction interval */
#define NOISE_LEAST 4   /* A/A units that carry a noise model */
#define ROBUST_LEAST 8  /* units a side from which on outliers do not count as scatter */
#define NEEDED_MOST 1000
#define LEVEL_SLACK 1e-9 /* levels are 1 - 2 P: rounding must not cost one */

void tg_key_context_init(tg_key_context *c, const tg_alloc *a, const tg_compare_options *o,
                         double alpha) {
  memset(c, 0, sizeof *c);
  c->a = a;
  c->stop = o->stop;
  tg_null_init(&c->null, a);
  c->margin = o->margin;
  c->alpha = alpha;
  c->seed = o->seed;
  c->paired = o->paired;
}

static double t_half(tg_key_context *c, uint64_t df) {
  if (c->kept.df != df) {
    c->kept.df = df;
    c->kept.t = tg_t_quantile(c->alpha / 2, df);
  }
  return c->kept.t;
}

/* An interval for "beyond the margin" and one for "inside it" (the two one-sided tests of
 * Schuirmann 1987 use 1 - 2 alpha), each with whether its level is reached. */
typedef struct evidence {
  tg_interval strict, loose;
  bool strict_ok, loose_ok;
} evidence;

/* The five words. `up` = the new side is larger. */
static tg_verdict word_of(const evidence *e, double delta, tg_better better, uint32_t *flags) {
  bool up = e->strict_ok && e->strict.lo > delta, down = e->strict_ok && e->strict.hi < -delta;
  bool off_zero = e->strict_ok && (e->strict.lo > 0 || e->strict.hi < 0);
  if (up || down) {
    if (better == TG_BETTER_NONE) return TG_VERDICT_CHANGED;
    return up == (better == TG_BETTER_LOWER) ? TG_VERDICT_REGRESSED : TG_VERDICT_IMPROVED;
  }
  if (off_zero) { /* a change is there: small enough only if the same interval says so */
    if (!(e->strict.lo > -delta && e->strict.hi < delta)) return TG_VERDICT_CHANGED;
    *flags |= TG_CMP_NEGLIGIBLE;
    return TG_VERDICT_EQUIVALENT;
  }
  bool inside = e->loose_ok && e->loose.lo > -delta && e->loose.hi < delta;
  return inside ? TG_VERDICT_EQUIVALENT : TG_VERDICT_INCONCLUSIVE;
}

/* Sum of squares about the mean of a sorted or unsorted series; 0 below two values. */
static double squares(const int64_t *v, size_t n) {
  double sd = 0;
  if (n < 2 || tg_series_stats(v, n, NULL, &sd, NULL) != TG_OK) return 0;
  return sd * sd * (double)(n - 1);
}

/* The variance of a unit is never below step^2 / 6: what a reading of random phase scatters. */
static double floored(double sd, double step) {
  double least = step / sqrt(6.0);
  return sd > least ? sd : least;
}

/* Units a side from which on the exact test can reach alpha at all. */
static size_t least_units(double alpha) {
  size_t least = 2;
  while (tg_min_p(least, least) > alpha && least < NEEDED_MOST) least++;
  return least;
}

/* Units a side after which the U test finds a shift of delta: 2 (pi/3) (z + z')^2 (s/delta)^2,
 * and 1.2 for small samples (within one unit of the exact table from 4 to 12 units). */
static void needed_units(tg_key_context *c, tg_key_result *r) {
  double z = tg_normal_quantile(c->alpha / 2) + tg_normal_quantile(0.2), ratio = r->sd / r->delta;
  double n = ceil(2 * acos(-1.0) / 3 * z * z * ratio * ratio + 1.2);
  size_t least = least_units(c->alpha);
  if (n < (double)least) n = (double)least;
  r->needed_known = true;
  r->needed = n > NEEDED_MOST ? 0 : (uint32_t)n;
}

/* 1.4826 * the median distance of a unit from its side's median, both sides together: the scatter
 * that a rank test meets where a few units stand far off. `v` gets the distances. */
static double robust_sd(const tg_key_input *in, int64_t *v) {
  int64_t mx = in->x[(in->m - 1) / 2], my = in->y[(in->n - 1) / 2];
  for (size_t i = 0; i < in->m; i++) v[i] = in->x[i] < mx ? mx - in->x[i] : in->x[i] - mx;
  for (size_t i = 0; i < in->n; i++)
    v[in->m + i] = in->y[i] < my ? my - in->y[i] : in->y[i] - my;
  tg_sort_i64(v, in->m + in->n);
  size_t middle = (in->m + in->n - 1) / 2;
  return 1.4826 * (double)v[middle];
}

/* A shift below one step counts as seen only where readings dither between values. */
static double seen_from(double shift, double step, bool dithered) {
  return dithered || shift > step ? shift : step;
}

/* Widens an interval to its hull with what the steps of constant sides leave open around the
 * shift: sum of the half-widths 1 - (miss/2)^(1/m), miss = the interval's alpha. */
static void tick_hull(const tg_key_input *in, bool x_const, bool y_const, double shift,
                      double alpha, tg_interval *ci) {
  double half = (x_const ? tg_tick_halfwidth(in->m, alpha / 4) : 0) +
                (y_const ? tg_tick_halfwidth(in->n, alpha / 4) : 0);
  half *= in->step;
  if (shift - half < ci->lo) ci->lo = shift - half;
  if (shift + half > ci->hi) ci->hi = shift + half;
}

static bool reached(double level, double alpha) { return level >= 1 - alpha - LEVEL_SLACK; }

/* Two units or more a side: U and its interval. */
static tg_status judge_exact(tg_key_context *c, tg_key_input *in, tg_key_result *r, evidence *e) {
  tg_sorted x = {in->x, NULL, in->m}, y = {in->y, NULL, in->n};
  tg_test test;
  tg_status s = tg_u_test(c->a, c->stop, in->x, in->m, in->y, in->n, c->seed, &test);
  if (s == TG_OK) s = tg_hl_sorted(&c->null, &x, &y, c->alpha, &e->strict);
  if (s == TG_OK) s = tg_hl_sorted(&c->null, &x, &y, 2 * c->alpha, &e->loose);
  if (s != TG_OK) return s;
  r->method = TG_METHOD_EXACT;
  r->p = test.p;
  r->p_min = test.p_min;
  if (!test.exact) r->flags |= TG_CMP_DRAWN;
  double ss = squares(in->x, in->m) + squares(in->y, in->n);
  double sd = sqrt(ss / (double)(in->m + in->n - 2));
  if (in->m >= ROBUST_LEAST && in->n >= ROBUST_LEAST) {
    double robust = robust_sd(in, in->z + in->k);
    if (robust < sd) sd = robust;
  }
  r->sd = floored(sd, in->step);
  if (c->kept.m != in->m || c->kept.n != in->n) {
    c->kept.m = in->m;
    c->kept.n = in->n;
    c->kept.sd = tg_detectable_sd(in->m, in->n, c->alpha, &c->kept.level);
  }
  r->detectable = seen_from(c->kept.sd * r->sd, in->step, ss > 0);
  r->detectable_level = c->kept.level;
  return TG_OK;
}

/* Paired units: sign flips, Walsh averages; power of the paired t test, none where 2 / 2^n is
 * above alpha. */
static tg_status judge_paired(tg_key_context *c, tg_key_input *in, tg_key_result *r, evidence *e) {
  int64_t *d = in->z + in->k;
  for (size_t i = 0; i < in->n; i++) d[i] = in->y[i] - in->x[i];
  tg_test test;
  tg_status s = tg_signflip_test(c->a, c->stop, d, in->n, c->seed, &test);
  if (s == TG_OK) s = tg_hl_paired(c->a, d, in->n, c->alpha, &r->shift, &e->strict);
  if (s == TG_OK) s = tg_hl_paired(c->a, d, in->n, 2 * c->alpha, NULL, &e->loose);
  if (s != TG_OK) return s;
  r->method = TG_METHOD_PAIRED;
  r->p = test.p;
  r->p_min = test.p_min;
  if (!test.exact) r->flags |= TG_CMP_DRAWN;
  double ss = squares(d, in->n);
  r->sd = floored(sqrt(ss / (double)(in->n - 1)), in->step);
  r->detectable_level = test.p_min > c->alpha ? test.p_min : c->alpha;
  double t = tg_t_quantile(r->detectable_level / 2, in->n - 1) + tg_t_quantile(0.2, in->n - 1);
  r->detectable = seen_from(t * r->sd / sqrt((double)in->n), in->step, ss > 0);
  return TG_OK;
}

/* An interval centre +- half of a t statistic on df degrees of freedom, its p and its power. */
static void from_t(tg_key_context *c, const tg_key_input *in, double centre, double se,
                   uint64_t df, bool dithered, tg_key_result *r, evidence *e) {
  double half = t_half(c, df) * se;
  e->strict = e->loose = (tg_interval){centre - half, centre + half, 1 - c->alpha};
  r->p = tg_t_two_sided(centre / se, df);
  r->p_min = 0;
  r->detectable = seen_from(half + tg_t_quantile(0.2, df) * se, in->step, dithered);
  r->detectable_level = c->alpha;
  if (fabs(centre) <= half) r->flags |= TG_CMP_INSIDE;
}

/* One unit against three or more: where should the one lie? */
static void judge_prediction(tg_key_context *c, tg_key_input *in, tg_key_result *r, evidence *e) {
  bool one_new = in->n == 1;
  const int64_t *many = one_new ? in->x : in->y;
  size_t k = one_new ? in->m : in->n;
  double mean = 0, sd = 0;
  tg_series_stats(many, k, &mean, &sd, NULL);
  r->method = TG_METHOD_PREDICTION;
  r->sd = floored(sd, in->step);
  double centre = one_new ? (double)in->y[0] - mean : mean - (double)in->x[0];
  from_t(c, in, centre, r->sd * sqrt(1 + 1 / (double)k), k - 1, sd > 0, r, e);
}

/* One unit against one or two: the scatter is taken from A/A units of one firmware. */
static tg_status judge_noise(tg_key_context *c, tg_key_input *in, tg_key_result *r, evidence *e) {
  bool two = false;
  tg_status s = tg_bimodal(c->a, in->z, in->k, in->z_step, &two);
  if (s != TG_OK) return s;
  if (two) {
    r->flags |= TG_CMP_BIMODAL;
    return TG_OK;
  }
  double sd = sqrt(squares(in->z, in->k) / (double)(in->k - 1)) * in->z_unit;
  double step = (double)in->z_step * in->z_unit;
  r->method = TG_METHOD_NOISE;
  r->sd = floored(sd, step > in->step ? step : in->step);
  double se = r->sd * sqrt(1 / (double)in->m + 1 / (double)in->n);
  from_t(c, in, r->shift, se, in->k - 1, sd > 0, r, e);
  return TG_OK;
}

/* Chooses the method by the numbers of units. */
static tg_status gather(tg_key_context *c, tg_key_input *in, tg_key_result *r, evidence *e) {
  size_t few = in->m < in->n ? in->m : in->n, many = in->m < in->n ? in->n : in->m;
  if (c->paired && few == many && few >= 2) return judge_paired(c, in, r, e);
  if (few >= 2) return judge_exact(c, in, r, e);
  if (many >= PREDICT_LEAST) {
    judge_prediction(c, in, r, e);
    return TG_OK;
  }
  if (in->k >= NOISE_LEAST) return judge_noise(c, in, r, e);
  if (in->noise) r->flags |= TG_CMP_FEW_NOISE;
  return TG_OK;
}

static void clear_result(tg_key_result *r) {
  const double none = (double)NAN;
  *r = (tg_key_result){none, none, none, none, none, none, none, none, none, none,
                       {none, none, none}, {none, none, none}, 0, 0, false,
                       TG_METHOD_NONE, TG_VERDICT_MISSING};
}

/* Medians, shift and margin: what is said whatever can be tested. */
static void describe(tg_key_context *c, tg_key_input *in, tg_key_result *r) {
  if (!c->paired) {
    tg_sort_i64(in->x, in->m);
    tg_sort_i64(in->y, in->n);
  }
  int64_t *copy = in->z + in->k; /* sorted copies for paired units, whose order matters */
  tg_sorted x = {in->x, NULL, in->m}, y = {in->y, NULL, in->n};
  if (c->paired) {
    memcpy(copy, in->x, in->m * sizeof *copy);
    memcpy(copy + in->m, in->y, in->n * sizeof *copy);
    tg_sort_i64(copy, in->m);
    tg_sort_i64(copy + in->m, in->n);
    x.v = copy;
    y.v = copy + in->m;
  }
  if (in->m > 0) r->base = (double)tg_sorted_median(&x);
  if (in->n > 0) r->fresh = (double)tg_sorted_median(&y);
  if (in->m == 0 || in->n == 0) return;
  r->shift = tg_difference_median(&x, &y);
  double delta = c->margin * fabs(r->base);
  if (in->margin_abs > delta) delta = in->margin_abs;
  r->delta = in->step > delta ? in->step : delta;
}

static bool constant(const int64_t *v, size_t n) {
  for (size_t i = 1; i < n; i++)
    if (v[i] != v[0]) return false;
  return true;
}

tg_status tg_judge_key(tg_key_context *c, tg_key_input *in, tg_key_result *r) {
  clear_result(r);
  describe(c, in, r);
  if (in->m == 0 || in->n == 0) return TG_OK;
  evidence e = {r->ci, r->ci, false, false};
  tg_status s = gather(c, in, r, &e);
  if (s != TG_OK) return s;
  bool x_const = constant(in->x, in->m), y_const = constant(in->y, in->n);
  double open = (x_const ? tg_tick_halfwidth(in->m, c->alpha / 4) : 0) +
                (y_const ? tg_tick_halfwidth(in->n, c->alpha / 4) : 0);
  if (fabs(r->shift) < open * in->step) r->flags |= TG_CMP_BELOW_STEP;
  if (r->method == TG_METHOD_NONE) {
    r->verdict = TG_VERDICT_UNREPLICATED;
    r->p_min = tg_min_p(in->m, in->n);
    r->needed_known = true;
    r->needed = (uint32_t)least_units(c->alpha);
    return TG_OK;
  }
  e.strict_ok = reached(e.strict.level, c->alpha);
  e.loose_ok = reached(e.loose.level, 2 * c->alpha);
  if (r->method == TG_METHOD_EXACT || r->method == TG_METHOD_PAIRED) {
    if (x_const || y_const) {
      r->flags |= TG_CMP_CONSTANT;
      tick_hull(in, x_const, y_const, r->shift, c->alpha, &e.strict);
      tick_hull(in, x_const, y_const, r->shift, 2 * c->alpha, &e.loose);
    }
  }
  r->ci = e.strict;
  r->verdict = word_of(&e, r->delta, in->better, &r->flags);
  needed_units(c, r);
  return TG_OK;
}

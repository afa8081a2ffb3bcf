/* key.c - the judgement of one key: effect, interval, test, tail, power.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "key.h"

#include <math.h>
#include <string.h>

#define NEEDED_MOST 1000

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

void tg_key_clear(tg_key_result *r) {
  const double none = (double)NAN;
  memset(r, 0, sizeof *r);
  r->base = r->fresh = r->ratio = r->ratio_lo = r->ratio_hi = r->shift = r->lo = r->hi = none;
  r->level = r->p = r->p_min = r->visible = r->judged_from = r->delta = r->margin = none;
  r->least = none;
  r->scatter = r->within_shift = none;
  r->within = (tg_interval){none, none, none};
  r->tail.slower.p = r->tail.faster.p = none;
  r->verdict = TG_VERDICT_MISSING;
}

uint32_t tg_least_units(double alpha) {
  uint32_t least = 2;
  while (tg_min_p(least, least) > alpha && least < NEEDED_MOST) least++;
  return least;
}

/* Whether an interval lies inside a margin: that of the ratio, or that of the shift. */
static bool inside(const tg_bounds *b, double least) {
  return b->known && ((b->lo > -least && b->hi < least) || b->within);
}

/* Whether it lies beyond both margins, upwards or downwards. */
static bool beyond(const tg_bounds *b, double least, bool positive, bool *up) {
  *up = b->known && b->lo > least && (b->beyond || !positive);
  return *up || (b->known && b->hi < -least && (b->short_of || !positive));
}

/* The words, from the widened intervals at 1 - alpha (strict) and at 1 - 2 alpha (loose: the two
 * one-sided tests of Schuirmann 1987). */
static tg_verdict word_of(const tg_key_input *in, bool positive, const tg_bounds *strict,
                          const tg_bounds *loose, tg_key_result *r) {
  bool up, change = strict->known && strict->off_zero;
  if (beyond(strict, r->least, positive, &up)) return tg_word_of_change(in->better, up);
  if (inside(loose, r->least) && (!change || inside(strict, r->least))) {
    if (change) r->flags |= TG_CMP_NEGLIGIBLE;
    bool quiet = !(r->tail.slower.p <= TG_TAIL_QUIET) && !(r->tail.faster.p <= TG_TAIL_QUIET);
    if (quiet) return TG_VERDICT_EQUIVALENT;
    r->flags |= TG_CMP_TAIL_OPEN;
    return TG_VERDICT_INCONCLUSIVE;
  }
  if (strict->known && (strict->lo > 0 || strict->hi < 0)) return TG_VERDICT_CHANGED;
  return TG_VERDICT_INCONCLUSIVE;
}

/* Half of the interval is worth so many of what 4 of 5 repetitions find, at n units a side. */
static double visible_factor(double units) { return 1.48 + 0.7 / units; }

/* The shift that n against n units find in 4 of 5 cases, in standard deviations. */
static double detectable(size_t n, double alpha) {
  return n <= 12 ? tg_detectable_sd(n, n, alpha, NULL)
                 : sqrt(2 / (double)n) * 2.87 * sqrt(acos(-1.0) / 3);
}

/* Visible change, and the units a side that would find twice the margin, from the half-width of
 * the widened interval (of logarithms; of the shift for values of 0 and below). */
static void power_of(const tg_key_context *c, const tg_key_input *in, bool positive,
                     const tg_bounds *strict, tg_key_result *r) {
  size_t n = in->m < in->n ? in->m : in->n;
  if (!strict->known) r->needed = tg_least_units(c->alpha);
  if (!strict->known || r->tail.mixed) return;
  double half = positive ? log(strict->ratio_hi / strict->ratio_lo) / 2
                         : (strict->hi - strict->lo) / 2;
  if (!(half < (double)INFINITY)) return;
  double seen = visible_factor((double)n) * half;
  r->visible = positive ? expm1(seen) : seen;
  r->judged_from = positive ? (1 + c->margin) * exp(seen) - 1 : r->delta + seen;
  double room = positive ? log1p(2 * c->margin) - log1p(c->margin) : r->delta;
  double now = detectable(n, c->alpha);
  for (size_t more = n; more <= NEEDED_MOST && room > 0; more++)
    if (half * visible_factor((double)more) * detectable(more, c->alpha) / now <= room) {
      r->needed = (uint32_t)more;
      return;
    }
}

/* The median of sorted units: of an even number the middle of two, of ratios the geometric one. */
static double middle(const int64_t *v, size_t n, bool positive) {
  const size_t under = (n - 1) / 2, over = n / 2;
  const double low = (double)v[under], high = (double)v[over];
  if (v[under] == v[over]) return low;
  return positive ? sqrt(low) * sqrt(high) : (low + high) / 2;
}

/* Largest over smallest boot of the side that scatters more. */
static double scatter_of(const tg_key_input *in) {
  double x = (double)in->x[in->m - 1] / (double)in->x[0];
  double y = (double)in->y[in->n - 1] / (double)in->y[0];
  return x > y ? x : y;
}

/* Medians, effect and margins: told whatever can be tested. Sorts unless paired. */
static tg_status describe(tg_key_context *c, tg_key_input *in, bool positive, tg_key_result *r) {
  bool paired = c->paired && in->m == in->n && in->m >= 2;
  int64_t *copy = (int64_t *)in->work;
  memcpy(copy, in->x, in->m * sizeof *copy);
  memcpy(copy + in->m, in->y, in->n * sizeof *copy);
  tg_sort_i64(copy, in->m);
  tg_sort_i64(copy + in->m, in->n);
  r->base = middle(copy, in->m, positive);
  r->fresh = middle(copy + in->m, in->n, positive);
  if (!paired) {
    memcpy(in->x, copy, in->m * sizeof *copy);
    memcpy(in->y, copy + in->m, in->n * sizeof *copy);
    if (positive) r->scatter = scatter_of(in);
  }
  double least = in->margin_abs > (double)in->step ? in->margin_abs : (double)in->step;
  double part = c->margin * r->base;
  r->least = least;
  r->delta = positive && part > least ? part : least;
  r->margin = positive ? r->delta / r->base : r->delta;
  if (positive && part < least) r->flags |= TG_CMP_COARSE;
  if (!positive) r->flags |= TG_CMP_ADDITIVE;
  return paired ? tg_effect_paired(c, in, positive, r) : tg_effect_exact(c, in, positive, r);
}

/* Two figures of the row that point to different sides: the reader must know. */
static bool contrary(const tg_key_result *r, bool positive) {
  double moved = r->fresh - r->base;
  double effect = positive ? r->ratio - 1 : r->shift;
  return moved * effect < 0 || r->shift * effect < 0 || moved * r->shift < 0;
}

static bool all_positive(const int64_t *v, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (v[i] <= 0) return false;
  return true;
}

/* The test, the tail and the intervals of two units or more a side. */
static tg_status judge(tg_key_context *c, tg_key_input *in, bool positive, tg_key_result *r) {
  bool paired = c->paired && in->m == in->n;
  tg_bounds strict, loose;
  tg_status (*span)(tg_key_context *, const tg_key_input *, bool, double, tg_bounds *) =
      paired ? tg_bounds_paired : tg_bounds_exact;
  tg_status status = TG_OK;
  r->method = paired ? TG_METHOD_PAIRED : TG_METHOD_EXACT;
  if (!paired) {
    tg_test test;
    status = tg_u_sorted(c->a, c->stop, in->x, in->m, in->y, in->n, c->seed, &test);
    if (status == TG_OK)
      status = tg_tail_test(in->x, in->m, in->y, in->n, c->margin,
                            positive ? in->margin_abs : r->least, in->step, &r->tail);
    if (status != TG_OK) return status;
    r->p = test.p;
    r->p_min = test.p_min;
    if (!test.exact) r->flags |= TG_CMP_DRAWN;
    if (tg_constant(in->x, in->m) || tg_constant(in->y, in->n)) r->flags |= TG_CMP_CONSTANT;
  }
  status = span(c, in, positive, c->alpha, &strict);
  if (status != TG_OK) return status;
  bool up;
  loose = strict; /* the narrower one is asked for only where it can decide */
  if (!beyond(&strict, r->least, positive, &up) && !inside(&strict, r->least))
    status = span(c, in, positive, 2 * c->alpha, &loose);
  if (status != TG_OK) return status;
  if (strict.known) {
    r->level = strict.level;
    r->lo = strict.lo;
    r->hi = strict.hi;
    if (positive) r->ratio_lo = strict.ratio_lo;
    if (positive) r->ratio_hi = strict.ratio_hi;
  }
  r->verdict = word_of(in, positive, &strict, &loose, r);
  power_of(c, in, positive, &strict, r);
  return TG_OK;
}

/* Bits that the tail adds to the word of the middle. */
static void say_tail(tg_key_result *r) {
  if (r->tail.mixed) r->flags |= TG_CMP_MODES;
  if (r->tail.slower.p <= TG_TAIL_SAID) r->flags |= TG_CMP_SLOWER_TAIL;
  if (r->tail.faster.p <= TG_TAIL_SAID) r->flags |= TG_CMP_FASTER_TAIL;
}

tg_status tg_judge_key(tg_key_context *c, tg_key_input *in, tg_key_result *r) {
  tg_key_clear(r);
  if (in->m == 0 && in->n == 0) return TG_OK;
  bool positive = all_positive(in->x, in->m) && all_positive(in->y, in->n);
  if (in->m == 0 || in->n == 0) {
    int64_t *v = in->m > 0 ? in->x : in->y;
    tg_sort_i64(v, in->m + in->n);
    double median = middle(v, in->m + in->n, positive);
    *(in->m > 0 ? &r->base : &r->fresh) = median;
    return TG_OK;
  }
  tg_status status = describe(c, in, positive, r);
  if (status != TG_OK) return status;
  if (contrary(r, positive)) r->flags |= TG_CMP_CONTRARY;
  if (in->m < 2 || in->n < 2) {
    r->verdict = TG_VERDICT_UNREPLICATED;
    r->p_min = tg_min_p(in->m, in->n);
    r->needed = tg_least_units(c->alpha);
  } else {
    status = judge(c, in, positive, r);
    say_tail(r);
  }
  double open = (tg_constant(in->x, in->m) ? tg_tick_halfwidth(in->m, c->alpha / 4) : 0) +
                (tg_constant(in->y, in->n) ? tg_tick_halfwidth(in->n, c->alpha / 4) : 0);
  if (fabs(r->shift) < open * (double)in->step) r->flags |= TG_CMP_BELOW_STEP;
  return status;
}

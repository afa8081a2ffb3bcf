/* interval.c - effect of a change and its interval, widened by the steps of the readings.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <string.h>

#include "key.h"
#include "pairs.h"

/* Logarithms are kept as integers of this many per unit, so that exact counts serve them too. */
#define LOG_PARTS 1099511627776.0 /* 2^40 */

bool tg_constant(const int64_t *v, size_t n) {
  for (size_t i = 1; i < n; i++)
    if (v[i] != v[0]) return false;
  return true;
}

/* The values of both sides as numbers that start at 0, or as they are where ratios are taken. */
typedef struct plain {
  uint64_t *x, *y;
} plain;
static plain plain_of(const tg_key_input *in, bool positive) {
  plain p = {in->work, in->work + in->m};
  int64_t zero = 0;
  if (!positive) zero = in->x[0] < in->y[0] ? in->x[0] : in->y[0];
  for (size_t i = 0; i < in->m; i++) p.x[i] = (uint64_t)in->x[i] - (uint64_t)zero;
  for (size_t i = 0; i < in->n; i++) p.y[i] = (uint64_t)in->y[i] - (uint64_t)zero;
  return p;
}

static double difference(tg_pair p) {
  return p.y >= p.x ? (double)(p.y - p.x) : -(double)(p.x - p.y);
}

tg_status tg_effect_exact(tg_key_context *c, const tg_key_input *in, bool positive,
                          tg_key_result *r) {
  plain p = plain_of(in, positive);
  tg_u128 all = (tg_u128)in->m * in->n, low = (all + 1) / 2;
  tg_pair d[2], q[2];
  bool even = all % 2 == 0;
  tg_status status = tg_pair_at(c->a, TG_PAIR_DIFFERENCE, p.x, in->m, p.y, in->n, low, &d[0]);
  if (status == TG_OK && positive)
    status = tg_pair_at(c->a, TG_PAIR_RATIO, p.x, in->m, p.y, in->n, low, &q[0]);
  if (status != TG_OK) return status;
  d[1] = d[0];
  if (even) d[1] = tg_pair_behind(TG_PAIR_DIFFERENCE, p.x, in->m, p.y, in->n, low, d[0]);
  r->shift = (difference(d[0]) + difference(d[1])) / 2;
  if (!positive) return TG_OK;
  r->ratio = tg_pair_ratio(q[0]);
  if (!even) return TG_OK;
  q[1] = tg_pair_behind(TG_PAIR_RATIO, p.x, in->m, p.y, in->n, low, q[0]);
  r->ratio = sqrt(r->ratio * tg_pair_ratio(q[1]));
  return TG_OK;
}

/* The room that the tick model leaves where sides are constant, in steps: the sum of their
 * half-widths 1 - (alpha/4)^(1/units); 0 where none is. */
static double hull_steps(const tg_key_input *in, double alpha) {
  return (tg_constant(in->x, in->m) ? tg_tick_halfwidth(in->m, alpha / 4) : 0) +
         (tg_constant(in->y, in->n) ? tg_tick_halfwidth(in->n, alpha / 4) : 0);
}

/* The pair of a rank where one side is constant: the other side's order is the pairs' order. */
static tg_pair ranked_beside_constant(const tg_key_input *in, tg_u128 rank) {
  if (tg_constant(in->x, in->m))
    return (tg_pair){(uint64_t)in->x[0], (uint64_t)in->y[(size_t)((rank - 1) / in->m)]};
  return (tg_pair){(uint64_t)in->x[in->m - 1 - (size_t)((rank - 1) / in->n)],
                   (uint64_t)in->y[0]};
}

/* Widens to the hull of the room that constant sides leave around the middle pairs. */
static void add_hull(const tg_key_input *in, bool positive, double alpha, tg_bounds *s) {
  double half = hull_steps(in, alpha) * (double)in->step;
  if (!(half > 0)) return;
  tg_u128 all = (tg_u128)in->m * in->n;
  tg_pair low = ranked_beside_constant(in, (all + 1) / 2);
  tg_pair high = ranked_beside_constant(in, all / 2 + 1);
  double lo = (double)((int64_t)low.y - (int64_t)low.x) - half;
  double hi = (double)((int64_t)high.y - (int64_t)high.x) + half;
  if (lo < s->lo) s->lo = lo;
  if (hi > s->hi) s->hi = hi;
  if (!positive) return;
  double up = (double)low.y - half / 2, down = (double)high.x - half / 2;
  lo = up > 0 ? up / ((double)low.x + half / 2) : 0;
  hi = down > 0 ? ((double)high.y + half / 2) / down : (double)INFINITY;
  if (lo < s->ratio_lo) s->ratio_lo = lo;
  if (hi > s->ratio_hi) s->ratio_hi = hi;
}

/* 4 v + by, not below 0. */
static void widen(uint64_t *to, const uint64_t *v, size_t n, uint64_t by, bool up) {
  for (size_t i = 0; i < n; i++) {
    uint64_t wide = 4 * v[i];
    to[i] = up ? wide + by : wide > by ? wide - by : 0;
  }
}

/* Bounds of the ratio: all values moved by half of what the shift is widened by, so that both
 * intervals exclude "no change" together. Multiplied by 4 all is integer. */
static tg_status ratio_bounds(tg_key_context *c, const tg_key_input *in, tg_u128 rank, uint64_t by,
                              tg_bounds *s) {
  plain p = {in->work, in->work + in->m};
  uint64_t *x = in->work + in->m + in->n, *y = x + in->m;
  tg_u128 all = (tg_u128)in->m * in->n;
  tg_pair lo, hi;
  widen(x, p.x, in->m, by, true);
  widen(y, p.y, in->n, by, false);
  tg_status status = tg_pair_at(c->a, TG_PAIR_RATIO, x, in->m, y, in->n, rank, &lo);
  if (status != TG_OK) return status;
  widen(x, p.x, in->m, by, false);
  widen(y, p.y, in->n, by, true);
  status = tg_pair_at(c->a, TG_PAIR_RATIO, x, in->m, y, in->n, all + 1 - rank, &hi);
  if (status != TG_OK) return status;
  const uint64_t parts = tg_margin_parts(c->margin);
  s->ratio_lo = tg_pair_ratio(lo);
  s->ratio_hi = tg_pair_ratio(hi);
  s->beyond = tg_pair_exceeds(lo, parts);
  s->short_of = tg_pair_falls_short(hi, parts);
  return TG_OK;
}

tg_status tg_bounds_exact(tg_key_context *c, const tg_key_input *in, bool positive, double alpha,
                        tg_bounds *out) {
  tg_u128 rank, all = (tg_u128)in->m * in->n;
  tg_bounds s = {.known = false};
  tg_pair lo, hi;
  *out = s;
  tg_status status = tg_critical_u(&c->null, in->m, in->n, alpha, &rank, &s.level);
  if (status != TG_OK || rank == 0) return status;
  plain p = plain_of(in, positive);
  status = tg_pair_at(c->a, TG_PAIR_DIFFERENCE, p.x, in->m, p.y, in->n, rank, &lo);
  if (status == TG_OK)
    status = tg_pair_at(c->a, TG_PAIR_DIFFERENCE, p.x, in->m, p.y, in->n, all + 1 - rank, &hi);
  if (status != TG_OK) return status;
  bool coarse = tg_constant(in->x, in->m) || tg_constant(in->y, in->n);
  double by = (coarse ? 1 : 0.5) * (double)in->step;
  s.known = true;
  s.off_zero = lo.y > lo.x || hi.y < hi.x;
  s.lo = difference(lo) - by;
  s.hi = difference(hi) + by;
  if (positive) status = ratio_bounds(c, in, rank, coarse ? 2 * in->step : in->step, &s);
  if (status != TG_OK) return status;
  add_hull(in, positive, alpha, &s);
  double most = 1 + c->margin;
  s.within = positive && s.ratio_lo > 1 / most && s.ratio_hi < most;
  if (coarse) {
    s.beyond = s.beyond && s.ratio_lo > most;
    s.short_of = s.short_of && s.ratio_hi < 1 / most;
  }
  *out = s;
  return TG_OK;
}

/* ln of (y + up) / (x + down) for each pair, in parts of 2^-40; false where a value is not above 0
 * then. */
static bool log_ratios(const tg_key_input *in, double up, double down, int64_t *to) {
  for (size_t i = 0; i < in->n; i++) {
    double y = (double)in->y[i] + up, x = (double)in->x[i] + down;
    if (!(y > 0) || !(x > 0)) return false;
    to[i] = (int64_t)llround(log(y / x) * LOG_PARTS);
  }
  return true;
}

static void differences(const tg_key_input *in, int64_t *to) {
  for (size_t i = 0; i < in->n; i++) to[i] = in->y[i] - in->x[i];
}

tg_status tg_effect_paired(tg_key_context *c, const tg_key_input *in, bool positive,
                           tg_key_result *r) {
  int64_t *d = (int64_t *)in->work;
  double middle = 0;
  tg_test test;
  differences(in, d);
  tg_status status = tg_hl_paired(c->a, d, in->n, c->alpha, &r->shift, NULL);
  if (status == TG_OK && positive) {
    log_ratios(in, 0, 0, d);
    status = tg_hl_paired(c->a, d, in->n, c->alpha, &middle, NULL);
    r->ratio = exp(middle / LOG_PARTS);
  }
  if (status == TG_OK) status = tg_signflip_test(c->a, c->stop, d, in->n, c->seed, &test);
  if (status != TG_OK) return status;
  r->p = test.p;
  r->p_min = test.p_min;
  if (!test.exact) r->flags |= TG_CMP_DRAWN;
  return TG_OK;
}

tg_status tg_bounds_paired(tg_key_context *c, const tg_key_input *in, bool positive, double alpha,
                         tg_bounds *out) {
  int64_t *d = (int64_t *)in->work;
  tg_interval ci;
  tg_bounds s = {.known = false};
  *out = s;
  differences(in, d);
  tg_status status = tg_hl_paired(c->a, d, in->n, alpha, NULL, &ci);
  if (status != TG_OK) return status;
  if (ci.level < 1 - alpha - 1e-9) return TG_OK;
  double by = (tg_constant(d, in->n) ? 1 : 0.5) * (double)in->step, half = by / 2;
  s = (tg_bounds){.known = true, .off_zero = ci.lo > 0 || ci.hi < 0, .level = ci.level,
                .lo = ci.lo - by, .hi = ci.hi + by, .ratio_hi = (double)INFINITY};
  if (positive) {
    if (log_ratios(in, -half, half, d)) {
      status = tg_hl_paired(c->a, d, in->n, alpha, NULL, &ci);
      s.ratio_lo = exp(ci.lo / LOG_PARTS);
    }
    if (status == TG_OK && log_ratios(in, half, -half, d)) {
      status = tg_hl_paired(c->a, d, in->n, alpha, NULL, &ci);
      s.ratio_hi = exp(ci.hi / LOG_PARTS);
    }
    double most = 1 + c->margin;
    s.beyond = s.ratio_lo > most;
    s.short_of = s.ratio_hi < 1 / most;
    s.within = s.ratio_lo > 1 / most && s.ratio_hi < most;
  }
  if (status == TG_OK) *out = s;
  return status;
}

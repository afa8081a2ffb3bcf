/* dist.c - Student's t and the normal distribution, without tables and without global state.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "internal.h"

#define MANY 3000 /* degrees of freedom from which on the normal distribution serves */

/* log B(df/2, 1/2) by B(a + 1, 1/2) = B(a, 1/2) * a / (a + 1/2), from B(1/2, 1/2) = pi and
 * B(1, 1/2) = 2. */
static double log_beta_half(uint64_t df) {
  double log_b = df % 2 ? log(acos(-1.0)) : log(2.0);
  for (uint64_t twice = df % 2 ? 1 : 2; twice < df; twice += 2) /* twice a */
    log_b += log((double)twice / (double)(twice + 1));
  return log_b;
}

/* The normal deviate with the tail of t (Hill 1970, CACM algorithm 395), good to the last digits
 * for many degrees of freedom, where the continued fraction loses them. */
static double many_two_sided(double t, double n) {
  double a = n - 0.5, b = 48 * a * a, y = a * log1p(t * t / n), z = sqrt(y);
  double next = (((4 * y + 33) * y + 240) * y + 855) / (10 * (b + 0.8 * y * y + 100));
  return erfc(((y + 3 - next) / b + 1) * z / sqrt(2.0));
}

/* Continued fraction of the incomplete beta function (Abramowitz and Stegun 26.5.8), evaluated
 * by Lentz's method. */
static double beta_fraction(double a, double b, double x) {
  const double tiny = 1e-300;
  double c = 1, d = 1 - (a + b) * x / (a + 1);
  d = 1 / (fabs(d) < tiny ? tiny : d);
  double h = d;
  for (int m = 1; m < 10000; m++) {
    double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 + even * d;
    c = 1 + even / c;
    d = 1 / (fabs(d) < tiny ? tiny : d);
    c = fabs(c) < tiny ? tiny : c;
    h *= d * c;
    d = 1 + odd * d;
    c = 1 + odd / c;
    d = 1 / (fabs(d) < tiny ? tiny : d);
    c = fabs(c) < tiny ? tiny : c;
    h *= d * c;
    if (fabs(d * c - 1) < 1e-16) break;
  }
  return h;
}

/* P(|T| > |t|) = I_x(df/2, 1/2) at x = df / (df + t^2), for df > 0 and a finite t; `log_beta` is
 * log_beta_half(df), of which many t can share one. */
static double two_sided(double t, uint64_t df, double log_beta) {
  if (df > MANY) return many_two_sided(t, (double)df);
  double n = (double)df, a = n / 2, x = n / (n + t * t), y = t * t / (n + t * t);
  if (y == 0) return 1;
  double log_x = y < 0.5 ? log1p(-y) : log(x); /* the one of x, y that kept its digits */
  double front = exp(a * log_x + 0.5 * log(y) - log_beta);
  if (x < (a + 1) / (a + 2.5)) return front * beta_fraction(a, 0.5, x) / a;
  return 1 - front * beta_fraction(0.5, a, y) / 0.5;
}

double tg_t_two_sided(double t, uint64_t df) {
  if (df == 0 || isnan(t)) return (double)NAN;
  if (isinf(t)) return 0;
  return two_sided(t, df, df > MANY ? 0 : log_beta_half(df));
}

/* Bisection on the exact tail: slow and safe; the result is good to the last digits. */
double tg_t_quantile(double upper, uint64_t df) {
  if (df == 0 || !(upper > 0 && upper < 1)) return (double)NAN;
  if (upper > 0.5) return -tg_t_quantile(1 - upper, df);
  if (upper == 0.5) return 0;
  const double log_beta = df > MANY ? 0 : log_beta_half(df);
  double lo = 0, hi = 1;
  while (two_sided(hi, df, log_beta) > 2 * upper) {
    lo = hi;
    hi *= 2;
  }
  for (int i = 0; i < 80 && hi - lo > 4e-16 * hi; i++) {
    double mid = lo + (hi - lo) / 2;
    if (two_sided(mid, df, log_beta) > 2 * upper)
      lo = mid;
    else
      hi = mid;
  }
  return lo + (hi - lo) / 2;
}

/* The z with P(Z > z) = upper, 0 < upper <= 1/2, by bisection on erfc. */
double tg_normal_quantile(double upper) {
  double lo = 0, hi = 40;
  for (int i = 0; i < 80 && hi - lo > 4e-16 * hi; i++) {
    double mid = lo + (hi - lo) / 2;
    if (0.5 * erfc(mid / sqrt(2.0)) > upper)
      lo = mid;
    else
      hi = mid;
  }
  return lo + (hi - lo) / 2;
}

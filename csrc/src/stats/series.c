/* series.c - mean, scatter and autocorrelation of one series.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "internal.h"

/* Mean and variance from exact sums centred on the first value; Q - S^2/n as (nQ - S^2)/n. */
tg_status tg_series_stats(const int64_t *x, size_t n, double *mean, double *sd, double *r1) {
  if (n < 2) return TG_ENODATA;
  tg_i128 sum = 0;
  double centre, m2 = 0, lag = 0, before = 0;
  for (size_t i = 0; i < n; i++) sum += (tg_i128)x[i] - x[0];
  double shift = (double)sum / (double)n; /* mean - x[0] */
  for (size_t i = 0; i < n; i++) {
    double d = (double)((tg_i128)x[i] - x[0]) - shift;
    m2 += d * d;
    if (i > 0) lag += d * before;
    before = d;
  }
  centre = (double)x[0] + shift;
  if (mean != NULL) *mean = centre;
  if (sd != NULL) *sd = sqrt(m2 / (double)(n - 1));
  if (r1 != NULL) *r1 = m2 > 0 ? lag / m2 : (double)NAN;
  return TG_OK;
}

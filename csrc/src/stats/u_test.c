/* u_test.c - the Mann-Whitney U test with mid-ranks. SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <string.h>

#include "internal.h"

#define MANY 30         /* units of the smaller side from which on U is near enough to normal */
#define COUNTED 160     /* units of both sides up to which U is counted, listed or drawn */

/* Doubled mid-ranks of the pooled values, 2 * (number below) + (number equal) + 1, ascending; the
 * rank sum of x; the sum of t^3 - t over ties of t values. `ranks` may be NULL. */
static tg_i128 rank_weights(const int64_t *x, size_t m, const int64_t *y, size_t n, int64_t *ranks,
                            double *ties) {
  tg_i128 sum = 0;
  *ties = 0;
  for (size_t i = 0, j = 0; i < m || j < n;) {
    int64_t v = j == n || (i < m && x[i] <= y[j]) ? x[i] : y[j];
    size_t from = i + j, of_x = i;
    while (i < m && x[i] == v) i++;
    while (j < n && y[j] == v) j++;
    size_t equal = i + j - from;
    int64_t rank = (int64_t)(2 * from + equal + 1);
    if (ranks != NULL)
      for (size_t at = from; at < i + j; at++) ranks[at] = rank;
    sum += (tg_i128)rank * (tg_i128)(i - of_x);
    double t = (double)equal;
    *ties += t * (t * t - 1);
  }
  return sum;
}

/* Two-sided p of U by the normal distribution with the variance that ties leave, a continuity
 * correction and the fourth cumulant of the ranks (Fix and Hodges 1955). */
static double normal_p(double u, double m, double n, double ties) {
  double all = m + n, mean = m * n / 2;
  double var = m * n / 12 * (all + 1 - ties / (all * (all - 1)));
  if (!(var > 0)) return 1;
  double fourth = -m * n * (all + 1) * (m * m + n * n + m * n + m + n) / 120 / (var * var);
  double z = (fabs(u - mean) - 0.5) / sqrt(var);
  if (z < 0) z = 0;
  double density = exp(-z * z / 2) / sqrt(2 * acos(-1.0));
  double tail = 0.5 * erfc(z / sqrt(2.0)) + density * fourth / 24 * (z * z * z - 3 * z);
  return tail <= 0 ? erfc(z / sqrt(2.0)) : tail < 0.5 ? 2 * tail : 1;
}

tg_status tg_u_sorted(const tg_alloc *a, const tg_stop *stop, const int64_t *x, size_t m,
                      const int64_t *y, size_t n, uint64_t seed, tg_test *out) {
  size_t total = m + n;
  double ties = 0;
  tg_test t = {0, 1, tg_min_p(m, n), false};
  tg_status status = TG_OK;
  tg_i128 sum;
  if (total > COUNTED && m >= MANY && n >= MANY) {
    sum = rank_weights(x, m, y, n, NULL, &ties);
    double u = (double)(sum - (tg_i128)m * (tg_i128)(m + 1)) / 2;
    t.p = normal_p(u, (double)m, (double)n, ties);
    if (t.p < t.p_min) t.p = t.p_min;
  } else {
    int64_t *ranks = tg_array(a, total, sizeof *ranks);
    if (ranks == NULL) return TG_ENOMEM;
    sum = rank_weights(x, m, y, n, ranks, &ties);
    status = tg_sum_test(a, stop, ranks, total, m, sum, seed, &t);
    tg_free(a, ranks);
  }
  if (status != TG_OK) return status;
  /* U = R - m(m+1)/2 with the doubled rank sum 2R */
  t.statistic = (double)(sum - (tg_i128)m * (tg_i128)(m + 1)) / 2;
  *out = t;
  return TG_OK;
}

tg_status tg_u_test(const tg_alloc *a, const tg_stop *stop, const int64_t *x, size_t m,
                    const int64_t *y, size_t n, uint64_t seed, tg_test *out) {
  if (m == 0 || n == 0) return TG_ENODATA;
  if (m > SIZE_MAX / 32 - n) return TG_EOVERFLOW;
  int64_t *work = tg_array(a, m + n, sizeof *work);
  if (work == NULL) return TG_ENOMEM;
  memcpy(work, x, m * sizeof *x);
  memcpy(work + m, y, n * sizeof *y);
  tg_sort_i64(work, m);
  tg_sort_i64(work + m, n);
  tg_status status = tg_u_sorted(a, stop, work, m, work + m, n, seed, out);
  tg_free(a, work);
  return status;
}

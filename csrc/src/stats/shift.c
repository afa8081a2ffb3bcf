/* shift.c - Hodges-Lehmann shift, its interval, the room of quantisation.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <string.h>

#include "internal.h"

#define NULL_PAIRS 40000      /* m*n up to which the distribution of U is counted */
#define NULL_PAIRS_FEW 400000 /* the same where one side has at most FEW units */
#define FEW 8
#define PAIRED_MOST 2000

/* Pairs with y - x <= d. x and y ascend, so the first x that is near enough only moves up. */
static tg_u128 pairs_up_to(const tg_sorted *x, const tg_sorted *y, int64_t d) {
  tg_u128 pairs = 0;
  uint64_t all = tg_sorted_total(x), prev = 0;
  size_t i = 0;
  for (size_t j = 0; j < y->n; j++) {
    int64_t least = y->v[j] - d;
    while (i < x->n && x->v[i] < least) i++;
    uint64_t below = i == 0 ? 0 : (x->cum != NULL ? x->cum[i - 1] : i);
    uint64_t upto = y->cum != NULL ? y->cum[j] : j + 1;
    pairs += (tg_u128)(upto - prev) * (all - below);
    prev = upto;
  }
  return pairs;
}

/* Bisection on the value: exact, because differences are integers. */
int64_t tg_difference_at(const tg_sorted *x, const tg_sorted *y, tg_u128 k) {
  int64_t lo = y->v[0] - x->v[x->n - 1], hi = y->v[y->n - 1] - x->v[0];
  while (lo < hi) {
    int64_t mid = lo + (int64_t)(((uint64_t)hi - (uint64_t)lo) / 2);
    if (pairs_up_to(x, y, mid) >= k)
      hi = mid;
    else
      lo = mid + 1;
  }
  return lo;
}

double tg_difference_median(const tg_sorted *x, const tg_sorted *y) {
  tg_u128 pairs = (tg_u128)tg_sorted_total(x) * tg_sorted_total(y);
  int64_t low = tg_difference_at(x, y, (pairs + 1) / 2);
  if (pairs % 2 == 1) return (double)low;
  int64_t high = tg_difference_at(x, y, pairs / 2 + 1);
  return (double)((tg_i128)low + high) / 2;
}

void tg_null_init(tg_null_cache *c, const tg_alloc *a) {
  memset(c, 0, sizeof *c);
  c->a = a;
}

void tg_null_free(tg_null_cache *c) {
  for (size_t i = 0; i < c->used; i++) tg_free(c->a, c->slot[i].cdf);
  c->used = 0;
}

/* P(U <= u) up to the middle. The generating function of the counts is the Gaussian binomial
 * prod (1 - q^(n+i)) / (1 - q^i), i = 1..m (Mann and Whitney 1947): a coefficient depends on lower
 * ones only, so the tail stays exact. */
static void fill_null(double *f, size_t len, size_t m, size_t n) {
  memset(f, 0, len * sizeof *f);
  f[0] = 1;
  for (size_t i = 1; i <= m; i++) {
    for (size_t u = len; u-- > n + i;) f[u] -= f[u - n - i];
    for (size_t u = i; u < len; u++) f[u] += f[u - i];
  }
  double all = tg_choose(m + n, m), sum = 0;
  for (size_t u = 0; u < len; u++) {
    sum += f[u];
    f[u] = sum / all;
  }
}

tg_status tg_null_get(tg_null_cache *c, size_t m, size_t n, const tg_null_u **out) {
  *out = NULL;
  size_t most = m <= FEW || n <= FEW ? NULL_PAIRS_FEW : NULL_PAIRS;
  if (m == 0 || n == 0 || m > most / n) return TG_OK;
  if (m > n) {
    size_t swap = m;
    m = n;
    n = swap;
  }
  for (size_t i = 0; i < c->used; i++)
    if (c->slot[i].m == m && c->slot[i].n == n) {
      *out = &c->slot[i];
      return TG_OK;
    }
  size_t len = m * n / 2 + 1;
  double *cdf = tg_array(c->a, len, sizeof *cdf);
  if (cdf == NULL) return TG_ENOMEM;
  fill_null(cdf, len, m, n);
  if (c->used == TG_NULL_SLOTS) tg_null_free(c);
  tg_null_u *slot = &c->slot[c->used++];
  *slot = (tg_null_u){cdf, m, n, len};
  *out = slot;
  return TG_OK;
}

/* qu = the smallest u with P(U <= u) >= alpha/2, at least 1; level 1 - 2 P(U <= qu - 1): the rule
 * of R'status wilcox.test. Without a counted distribution the normal approximation gives qu. */
tg_status tg_hl_rank(tg_null_cache *c, uint64_t m, uint64_t n, double alpha, tg_u128 *qu,
                     double *level) {
  const tg_null_u *null;
  tg_status status = tg_null_get(c, m, n, &null);
  if (status != TG_OK) return status;
  if (null == NULL) {
    double mean = (double)m * (double)n / 2;
    double sd = sqrt((double)m * (double)n * ((double)m + (double)n + 1) / 12);
    double rank = floor(mean - tg_normal_quantile(alpha / 2) * sd);
    *qu = rank < 1 ? 1 : (tg_u128)rank;
    *level = rank < 1 ? 1 - 2 / tg_choose(m + n, m) : 1 - alpha;
    return TG_OK;
  }
  size_t u = 0; /* a hair below alpha/2 still counts as reaching it: 1/20 is not a double */
  while (u + 1 < null->len && null->cdf[u] < alpha / 2 * (1 - 1e-12)) u++;
  if (u == 0) u = 1;
  double reached = 1 - 2 * null->cdf[u - 1];
  *qu = u;
  *level = reached > 0 ? reached : 0;
  return TG_OK;
}

tg_status tg_critical_u(tg_null_cache *cache, size_t m, size_t n, double alpha, tg_u128 *c,
                        double *level) {
  const tg_null_u *null;
  tg_status status = tg_null_get(cache, m, n, &null);
  if (status != TG_OK) return status;
  double miss = 0; /* a hair above alpha still counts as within it: 1/20 is not a double */
  *c = 0;
  if (null == NULL) {
    double pairs = (double)m * (double)n, sd = sqrt(pairs * ((double)m + (double)n + 1) / 12);
    double rank = floor(pairs / 2 - tg_normal_quantile(alpha / 2) * sd + 0.5);
    if (rank >= 1) {
      *c = (tg_u128)rank;
      miss = erfc((pairs / 2 - rank + 0.5) / sd / sqrt(2.0));
    }
  } else {
    while (*c < null->len && 2 * null->cdf[*c] <= alpha * (1 + 1e-12)) miss = 2 * null->cdf[(*c)++];
  }
  *level = *c > 0 ? 1 - miss : 0;
  return TG_OK;
}

tg_status tg_hl_sorted(tg_null_cache *c, const tg_sorted *x, const tg_sorted *y, double alpha,
                       tg_interval *out) {
  uint64_t m = tg_sorted_total(x), n = tg_sorted_total(y);
  tg_u128 qu = 1;
  double level = 0;
  tg_status status = tg_hl_rank(c, m, n, alpha, &qu, &level);
  if (status != TG_OK) return status;
  tg_u128 pairs = (tg_u128)m * n;
  out->lo = (double)tg_difference_at(x, y, qu);
  out->hi = (double)tg_difference_at(x, y, pairs + 1 - qu);
  out->level = level;
  return TG_OK;
}

/* A sorted copy of v in `to`. */
static tg_sorted sorted_copy(int64_t *to, const int64_t *v, size_t n) {
  memcpy(to, v, n * sizeof *v);
  tg_sort_i64(to, n);
  return (tg_sorted){to, NULL, n};
}

tg_status tg_hl_shift(const tg_alloc *a, const int64_t *x, size_t m, const int64_t *y, size_t n,
                      double alpha, double *shift, tg_interval *interval) {
  if (m == 0 || n == 0) return TG_ENODATA;
  if (!(alpha > 0 && alpha < 1)) return TG_EINVAL;
  if (m > SIZE_MAX / 32 - n || tg_check_values(x, m) != TG_OK || tg_check_values(y, n) != TG_OK)
    return TG_EOVERFLOW;
  int64_t *work = tg_array(a, m + n, sizeof *work);
  if (work == NULL) return TG_ENOMEM;
  tg_sorted sx = sorted_copy(work, x, m), sy = sorted_copy(work + m, y, n);
  tg_null_cache cache;
  tg_null_init(&cache, a);
  tg_interval found = {0, 0, 0};
  tg_status status = TG_OK;
  if (interval != NULL) status = tg_hl_sorted(&cache, &sx, &sy, alpha, &found);
  if (status == TG_OK) {
    if (shift != NULL) *shift = tg_difference_median(&sx, &sy);
    if (interval != NULL) *interval = found;
  }
  tg_null_free(&cache);
  tg_free(a, work);
  return status;
}

/* qu and level of the signed-rank statistic V of n differences: P(V <= v) by adding the ranks
 * 1..n to the subset counts one after the other. f has n(n+1)/2 + 1 items. */
static size_t signed_rank(double *f, size_t n, double alpha, double *level) {
  size_t top = n * (n + 1) / 2;
  memset(f, 0, (top + 1) * sizeof *f);
  f[0] = 1;
  for (size_t r = 1; r <= n; r++) {
    for (size_t v = r * (r + 1) / 2; v >= r; v--) f[v] = (f[v] + f[v - r]) / 2;
    for (size_t v = 0; v < r; v++) f[v] /= 2;
  }
  size_t v = 0;
  double below = 0, sum = f[0];
  while (v < top / 2 && sum < alpha / 2 * (1 - 1e-12)) {
    below = sum;
    sum += f[++v];
  }
  if (v == 0) {
    v = 1;
    below = f[0];
  }
  *level = 1 - 2 * below > 0 ? 1 - 2 * below : 0;
  return v;
}

tg_status tg_hl_paired(const tg_alloc *a, const int64_t *d, size_t n, double alpha, double *shift,
                       tg_interval *interval) {
  if (n == 0) return TG_ENODATA;
  if (!(alpha > 0 && alpha < 1)) return TG_EINVAL;
  if (n > PAIRED_MOST) return TG_ELIMIT;
  if (tg_check_values(d, n) != TG_OK) return TG_EOVERFLOW;
  size_t walsh = n * (n + 1) / 2;
  int64_t *w = tg_array(a, walsh, sizeof *w); /* doubled Walsh averages */
  double *f = tg_array(a, walsh + 1, sizeof *f);
  if (w == NULL || f == NULL) {
    tg_free(a, w);
    tg_free(a, f);
    return TG_ENOMEM;
  }
  size_t k = 0;
  for (size_t i = 0; i < n; i++)
    for (size_t j = i; j < n; j++) w[k++] = d[i] + d[j];
  tg_sort_i64(w, walsh);
  size_t below = (walsh - 1) / 2, above = walsh / 2; /* the two in the middle, or one twice */
  if (shift != NULL) *shift = ((double)w[below] + (double)w[above]) / 4;
  if (interval != NULL) {
    size_t qu = signed_rank(f, n, alpha, &interval->level);
    interval->lo = (double)w[qu - 1] / 2;
    interval->hi = (double)w[walsh - qu] / 2;
  }
  tg_free(a, w);
  tg_free(a, f);
  return TG_OK;
}

/* The median lies between x(r) and x(n+1-r) with probability 1 - 2 P(Bin(n, 1/2) < r). */
tg_status tg_median_interval(const tg_alloc *a, const int64_t *x, size_t n, double alpha,
                             int64_t *median, tg_interval *interval) {
  if (n == 0) return TG_ENODATA;
  if (!(alpha > 0 && alpha < 1)) return TG_EINVAL;
  int64_t *v = tg_array(a, n, sizeof *v);
  if (v == NULL) return TG_ENOMEM;
  tg_sorted s = sorted_copy(v, x, n);
  size_t r = 1;
  double level = n < 1024 ? 1 - ldexp(1, 1 - (int)n) : 1, below;
  if (n < 1024) {
    double term = ldexp(1, -(int)n);
    below = term;
    for (size_t i = 1; 2 * (i + 1) <= n; i++) {
      term = term * (double)(n - i + 1) / (double)i;
      if (1 - 2 * (below + term) < 1 - alpha) break;
      below += term;
      level = 1 - 2 * below;
      r = i + 1;
    }
  } else {
    double rank = floor((double)n / 2 - tg_normal_quantile(alpha / 2) * sqrt((double)n) / 2);
    if (rank >= 1) {
      r = (size_t)rank;
      level = 1 - alpha;
    }
  }
  if (median != NULL) *median = tg_sorted_median(&s);
  if (interval != NULL)
    *interval = (tg_interval){(double)v[r - 1], (double)v[n - r], level > 0 ? level : 0};
  tg_free(a, v);
  return TG_OK;
}

double tg_tick_halfwidth(size_t m, double miss) {
  return m == 0 ? 1 : 1 - pow(miss, 1 / (double)m);
}

tg_status tg_prediction(const int64_t *x, size_t n, double step, double alpha, double *mean,
                        double *s, tg_interval *out) {
  if (n < 2) return TG_ENODATA;
  if (!(alpha > 0 && alpha < 1) || !(step >= 0)) return TG_EINVAL;
  double centre, sd;
  tg_status status = tg_series_stats(x, n, &centre, &sd, NULL);
  if (status != TG_OK) return status;
  double floor_sd = step / sqrt(6.0);
  if (sd < floor_sd) sd = floor_sd;
  double half = tg_t_quantile(alpha / 2, n - 1) * sd * sqrt(1 + 1 / (double)n);
  if (mean != NULL) *mean = centre;
  if (s != NULL) *s = sd;
  if (out != NULL) *out = (tg_interval){centre - half, centre + half, 1 - alpha};
  return TG_OK;
}

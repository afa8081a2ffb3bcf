/* permute.c - permutation tests by counting, by listing, or by drawing.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <float.h>
#include <math.h>
#include <string.h>

#include "internal.h"

#define DP_CELLS ((size_t)1 << 22)  /* of the counting table: 32 MB */
#define DP_STEPS 3e7                /* additions a count may take */
#define LIST_CHOICES 1e6            /* choices listed one by one */
#define FLIP_BITS 20                /* 2^20 sign patterns are listed */

/* How many, or which share of, choices have a sum as low, as high as the observed. */
typedef struct tails {
  double low, high, all;
  bool exact;
} tails;

/* The largest sum of m of the n ascending weights; saturates at INT64_MAX. */
static int64_t top_sum(const int64_t *w, size_t n, size_t m) {
  tg_i128 sum = 0;
  for (size_t i = n - m; i < n; i++) sum += w[i];
  return sum > INT64_MAX ? INT64_MAX : (int64_t)sum;
}

/* Additions that counting would take: for every group of g equal weights, m * min(g, m) rows. */
static double dp_steps(const int64_t *w, size_t n, size_t m, double width) {
  double steps = 0;
  for (size_t i = 0, g; i < n; i += g) {
    for (g = 1; i + g < n && w[i + g] == w[i]; g++) {
    }
    steps += (double)m * (double)(g < m ? g : m) * width;
  }
  return steps;
}

/* Counts by dynamic programming: table[k][s] = choices of k weights with sum s. Groups of equal
 * weights enter at once, with their binomial coefficients. */
static tg_status count_sums(const tg_alloc *a, const int64_t *w, size_t n, size_t m, int64_t seen,
                            size_t width, tails *out) {
  double *table = tg_array(a, (m + 1) * width, sizeof *table);
  if (table == NULL) return TG_ENOMEM;
  memset(table, 0, (m + 1) * width * sizeof *table);
  table[0] = 1;
  size_t used = 1; /* sums reached so far lie below it */
  for (size_t i = 0, g; i < n; i += g) {
    for (g = 1; i + g < n && w[i + g] == w[i]; g++) {
    }
    size_t step = (size_t)w[i], most = g < m ? g : m;
    size_t reach = step > (width - used) / most ? width : used + most * step;
    for (size_t k = m; k > 0; k--) {
      for (size_t j = 1; j <= most && j <= k && j * step < width; j++) {
        double ways = tg_choose(g, j);
        const double *from = table + (k - j) * width;
        double *to = table + k * width + j * step;
        size_t len = reach - j * step;
        if (j * step >= reach) break;
        if (len > used) len = used;
        for (size_t s = 0; s < len; s++) to[s] += ways * from[s];
      }
    }
    used = reach;
  }
  const double *sums = table + m * width;
  double low = 0, high = 0, all = 0;
  for (size_t s = 0; s < width; s++) {
    if ((int64_t)s <= seen) low += sums[s];
    if ((int64_t)s >= seen) high += sums[s];
    all += sums[s];
  }
  *out = (tails){low, high, all, true};
  tg_free(a, table);
  return TG_OK;
}

/* Lists all choices of m of n, in lexicographic order. */
static tg_status list_sums(const tg_alloc *a, const tg_stop *stop, const int64_t *w, size_t n,
                           size_t m, tg_i128 seen, tails *out) {
  size_t *pick = tg_array(a, m, sizeof *pick);
  if (pick == NULL) return TG_ENOMEM;
  for (size_t i = 0; i < m; i++) pick[i] = i;
  tails t = {0, 0, 0, true};
  tg_status status = TG_OK;
  for (uint64_t turn = 0;; turn++) {
    tg_i128 sum = 0;
    if (tg_stop_at(stop, turn, m)) {
      status = TG_EINTERRUPTED;
      break;
    }
    for (size_t i = 0; i < m; i++) sum += w[pick[i]];
    t.low += sum <= seen;
    t.high += sum >= seen;
    t.all += 1;
    size_t i = m;
    while (i > 0 && pick[i - 1] == n - m + i - 1) i--;
    if (i == 0) break;
    pick[i - 1]++;
    for (; i < m; i++) pick[i] = pick[i - 1] + 1;
  }
  *out = t;
  tg_free(a, pick);
  return status;
}

/* Draws choices by a partial Fisher-Yates shuffle; the observed choice counts as one draw. */
static tg_status draw_sums(const tg_alloc *a, const tg_stop *stop, const int64_t *w, size_t n,
                           size_t m, tg_i128 seen, uint64_t seed, tails *out) {
  int64_t *deck = tg_array(a, n, sizeof *deck);
  if (deck == NULL) return TG_ENOMEM;
  memcpy(deck, w, n * sizeof *deck);
  tg_rng rng;
  tg_rng_seed(&rng, seed);
  tails t = {1, 1, TG_RESAMPLES + 1, false};
  tg_status status = TG_OK;
  for (uint64_t r = 0; r < TG_RESAMPLES; r++) {
    tg_i128 sum = 0;
    if (tg_stop_at(stop, r, m)) {
      status = TG_EINTERRUPTED;
      break;
    }
    for (size_t i = 0; i < m; i++) {
      size_t j = i + (size_t)tg_rng_below(&rng, n - i);
      int64_t x = deck[j];
      deck[j] = deck[i];
      deck[i] = x;
      sum += x;
    }
    t.low += sum <= seen;
    t.high += sum >= seen;
  }
  *out = t;
  tg_free(a, deck);
  return status;
}

/* Weights are moved to start at 0 and divided by their gcd, and the smaller side is chosen; then
 * the cheapest exact way, or draws. */
tg_status tg_sum_test(const tg_alloc *a, const tg_stop *stop, const int64_t *weight, size_t n,
                      size_t m, tg_i128 observed, uint64_t seed, tg_test *out) {
  if (m == 0 || m >= n) return TG_ENODATA;
  int64_t *w = tg_array(a, n, sizeof *w);
  if (w == NULL) return TG_ENOMEM;
  tg_i128 seen = observed - (tg_i128)weight[0] * (tg_i128)m, total = 0;
  uint64_t gcd = 0;
  for (size_t i = 0; i < n; i++) {
    w[i] = weight[i] - weight[0];
    gcd = tg_gcd(gcd, (uint64_t)w[i]);
    total += w[i];
  }
  size_t small = m;
  if (m > n - m) {
    small = n - m;
    seen = total - seen;
  }
  if (gcd > 1) {
    for (size_t i = 0; i < n; i++) w[i] /= (int64_t)gcd;
    seen /= (tg_i128)gcd;
  }
  int64_t top = top_sum(w, n, small);
  tails t;
  tg_status status;
  if (top < (int64_t)(DP_CELLS / (small + 1)) &&
      dp_steps(w, n, small, (double)top + 1) <= DP_STEPS && tg_choose(n, small) < 1e300)
    status = count_sums(a, w, n, small, (int64_t)seen, (size_t)top + 1, &t);
  else if (tg_choose(n, small) <= LIST_CHOICES)
    status = list_sums(a, stop, w, n, small, seen, &t);
  else
    status = draw_sums(a, stop, w, n, small, seen, seed, &t);
  tg_free(a, w);
  if (status != TG_OK) return status;
  double p = 2 * (t.low < t.high ? t.low : t.high) / t.all;
  out->p = p < 1 ? p : 1;
  out->exact = t.exact;
  out->p_min = tg_min_p(m, n - m);
  return TG_OK;
}

double tg_min_p(size_t m, size_t n) {
  if (m == 0 || n == 0) return 1;
  double p = 2 / tg_choose(m + n, m);
  return p > 1 ? 1 : p > DBL_MIN ? p : DBL_MIN; /* never 0: no count of units makes p 0 */
}

tg_status tg_mean_test(const tg_alloc *a, const tg_stop *stop, const int64_t *x, size_t m,
                       const int64_t *y, size_t n, uint64_t seed, tg_test *out) {
  if (m == 0 || n == 0) return TG_ENODATA;
  if (m > SIZE_MAX / 32 - n || tg_check_values(x, m) != TG_OK || tg_check_values(y, n) != TG_OK)
    return TG_EOVERFLOW;
  int64_t *pool = tg_array(a, m + n, sizeof *pool);
  if (pool == NULL) return TG_ENOMEM;
  memcpy(pool, x, m * sizeof *x);
  memcpy(pool + m, y, n * sizeof *y);
  tg_i128 sx = 0, sy = 0;
  for (size_t i = 0; i < m; i++) sx += x[i];
  for (size_t i = 0; i < n; i++) sy += y[i];
  tg_sort_i64(pool, m + n);
  tg_test t;
  tg_status status = tg_sum_test(a, stop, pool, m + n, m, sx, seed, &t);
  if (status == TG_OK) {
    t.statistic = (double)(sy * (tg_i128)m - sx * (tg_i128)n) / ((double)m * (double)n);
    *out = t;
  }
  tg_free(a, pool);
  return status;
}

/* Counts (n <= 20) or draws sign patterns whose |sum| is at least the observed one. */
tg_status tg_signflip_test(const tg_alloc *a, const tg_stop *stop, const int64_t *d, size_t n,
                           uint64_t seed, tg_test *out) {
  (void)a;
  if (n == 0) return TG_ENODATA;
  if (tg_check_values(d, n) != TG_OK) return TG_EOVERFLOW;
  tg_i128 seen = 0;
  for (size_t i = 0; i < n; i++) seen += d[i];
  tg_i128 far = seen < 0 ? -seen : seen;
  bool exact = n <= FLIP_BITS;
  uint64_t rounds = exact ? UINT64_C(1) << n : TG_RESAMPLES, hits = exact ? 0 : 1;
  tg_rng rng;
  tg_rng_seed(&rng, seed);
  for (uint64_t r = 0; r < rounds; r++) {
    uint64_t bits = r;
    tg_i128 sum = 0;
    if (tg_stop_at(stop, r, n)) return TG_EINTERRUPTED;
    for (size_t i = 0; i < n; i++) {
      if (!exact && i % 64 == 0) bits = tg_rng_next(&rng);
      sum += (bits >> (i % 64)) & 1 ? -(tg_i128)d[i] : (tg_i128)d[i];
    }
    hits += sum >= far || -sum >= far;
  }
  out->statistic = (double)seen / (double)n;
  out->p = (double)hits / (double)(exact ? rounds : rounds + 1);
  out->p_min = n < 1024 ? ldexp(1, 1 - (int)n) : 0;
  out->exact = exact;
  return TG_OK;
}

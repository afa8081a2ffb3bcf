/* tail.c - exact tests of the slow boots. SPDX-License-Identifier: BSD-3-Clause */
#include <tickgauge/tail.h>

#include <math.h>
#include <string.h>

#include "pairs.h"

#define DEEPEST 200      /* largest values that the path test looks at */
#define SAME (1 + 1e-12) /* shares closer than this are equal */

/* log C(n, k) */
static double log_choose(size_t n, size_t k) {
  if (k > n - k) k = n - k;
  double sum = 0;
  for (size_t i = 1; i <= k; i++) sum += log((double)(n - k + i) / (double)i);
  return sum;
}

/* P(H >= b) and P(H <= b): `k` of m + n drawn, H of the n among them. */
static void fisher(size_t m, size_t n, size_t k, size_t b, double *upper, double *lower) {
  size_t most = k < n ? k : n, least = k > m ? k - m : 0;
  double at = exp(log_choose(n, b) + log_choose(m, k - b) - log_choose(m + n, k));
  double term = at;
  *upper = *lower = at;
  for (size_t h = b; h < most; h++) {
    term *= (double)(n - h) * (double)(k - h) / ((double)(h + 1) * (double)(m - (k - h) + 1));
    *upper += term;
  }
  term = at;
  for (size_t h = b; h > least; h--) {
    term *= (double)h * (double)(m - (k - h)) / ((double)(n - h + 1) * (double)(k - h + 1));
    *lower += term;
  }
  if (*upper > 1) *upper = 1;
  if (*lower > 1) *lower = 1;
}

static size_t count_above(const int64_t *v, size_t n, int64_t limit) {
  size_t low = 0, high = n;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (v[middle] > limit)
      high = middle;
    else
      low = middle + 1;
  }
  return n - low;
}

static tg_tail_side side_above(double p, int64_t above, const int64_t *x, size_t m,
                               const int64_t *y, size_t n) {
  return (tg_tail_side){p, above, count_above(x, m, above), count_above(y, n, above)};
}

/* The largest ratio of neighbours of the pooled values, all above 0, with two values or more on
 * each side: the pair, and how many values lie below it. */
static tg_pair widest_gap(const int64_t *x, size_t m, const int64_t *y, size_t n, size_t *lower) {
  tg_pair best = {1, 0};
  int64_t before = 0;
  for (size_t i = 0, j = 0; i + j < m + n;) {
    int64_t v = j == n || (i < m && x[i] <= y[j]) ? x[i++] : y[j++];
    size_t below = i + j - 1; /* values before v */
    if (below >= 2 && below + 2 <= m + n) {
      tg_pair gap = {(uint64_t)before, (uint64_t)v};
      if ((tg_u128)gap.y * best.x > (tg_u128)best.y * gap.x) {
        best = gap;
        *lower = below;
      }
    }
    before = v;
  }
  return best;
}

/* Whether the pooled values fall into two modes; the test by Fisher if they do. */
static bool two_modes(const int64_t *x, size_t m, const int64_t *y, size_t n, uint64_t parts,
                      double absolute, uint64_t step, tg_tail *out) {
  size_t lower = 0;
  if (x[0] <= 0 || y[0] <= 0) return false;
  tg_pair gap = widest_gap(x, m, y, n, &lower);
  if (lower == 0 || !tg_pair_exceeds(gap, parts)) return false;
  uint64_t first = (uint64_t)(x[0] < y[0] ? x[0] : y[0]);
  uint64_t last = (uint64_t)(x[m - 1] > y[n - 1] ? x[m - 1] : y[n - 1]);
  if ((tg_u128)gap.y * first <= (tg_u128)gap.x * gap.x ||
      (tg_u128)gap.y * gap.y <= (tg_u128)last * gap.x ||
      (tg_u128)(gap.y - gap.x) <= 3 * (tg_u128)step || !((double)(gap.y - gap.x) > absolute))
    return false;
  int64_t above = (int64_t)gap.x;
  size_t all = m + n - lower, new_above = count_above(y, n, above);
  double upper, low;
  fisher(m, n, all, new_above, &upper, &low);
  out->modes = true;
  out->mixed = !((new_above == n && all == n) || (new_above == 0 && all == m));
  out->slower = side_above(upper, above, x, m, y, n);
  out->faster = side_above(low, above, x, m, y, n);
  return true;
}

/* The largest pooled values: whether each belongs to the second side, and whether the value
 * behind it is smaller. */
typedef struct top {
  size_t first, second, depth; /* boots of the sides; values looked at */
  bool mine[DEEPEST + 1], ends[DEEPEST + 1];
  int64_t next[DEEPEST + 1];   /* the value behind, as it was read */
} top;

/* A value of the first side on the scale of the comparison. */
typedef struct scale {
  uint64_t factor; /* of the first side, TG_MARGIN_WHOLE of the second */
  int64_t moved;   /* what the first side is moved by at least */
  bool additive;   /* and only so: values may be 0 or less */
} scale;

static tg_i128 of_second(int64_t v) { return (tg_i128)v * (tg_i128)TG_MARGIN_WHOLE; }
static tg_i128 of_first(const scale *s, int64_t v) {
  tg_i128 moved = ((tg_i128)v + s->moved) * (tg_i128)TG_MARGIN_WHOLE;
  tg_i128 times = s->additive ? moved : (tg_i128)v * (tg_i128)s->factor;
  return times > moved ? times : moved;
}

static void find_top(const int64_t *x, size_t m, const int64_t *y, size_t n, const scale *s,
                     top *t) {
  size_t half = (m + n) / 2;
  t->first = m;
  t->second = n;
  t->depth = half < DEEPEST ? half : DEEPEST;
  tg_i128 before = 0;
  for (size_t k = 0; k <= t->depth; k++) {
    tg_i128 u = m > 0 ? of_first(s, x[m - 1]) : 0, v = n > 0 ? of_second(y[n - 1]) : 0;
    bool mine = m == 0 || (n > 0 && v >= u);
    tg_i128 now = mine ? v : u;
    int64_t read = mine ? y[--n] : x[--m];
    if (k > 0) {
      t->ends[k - 1] = now < before;
      t->next[k - 1] = read;
    }
    t->mine[k] = mine;
    before = now;
  }
}

/* Walks over the number of boots of the second side among the k largest: `all` without, `alive`
 * with those orders taken out that met a share of `limit` or less; the sum of what was taken out.
 * Without a limit (negative) the smallest share of the observed order and its depth. */
static double walk_paths(const top *t, double limit, double *all, double *alive, size_t *depth) {
  const double boots = (double)(t->first + t->second);
  double taken = 0, smallest = 1;
  size_t seen = 0, widest = t->depth < t->second ? t->depth : t->second;
  memset(all, 0, 2 * (DEEPEST + 2) * sizeof *all); /* `alive` lies behind */
  all[0] = alive[0] = 1;
  for (size_t k = 1; k <= t->depth; k++) {
    const double rest = boots - (double)(k - 1);
    size_t reach = k < widest ? k : widest;
    for (size_t h = reach + 1; h-- > 0;) {
      double stay = (rest - ((double)t->second - (double)h)) / rest;
      double come = h > 0 ? ((double)t->second - (double)h + 1) / rest : 0;
      if (stay < 0) stay = 0;
      all[h] = all[h] * stay + (h > 0 ? all[h - 1] * come : 0);
      alive[h] = alive[h] * stay + (h > 0 ? alive[h - 1] * come : 0);
    }
    seen += t->mine[k - 1];
    if (k < 2 || !t->ends[k - 1]) continue;
    double share = 0;
    for (size_t h = reach + 1; h-- > 0;) {
      share += all[h];
      if (limit < 0 && h == seen && share < smallest / SAME) {
        smallest = share;
        *depth = k;
      }
      if (limit >= 0 && share <= limit * SAME) {
        taken += alive[h];
        alive[h] = 0;
      }
    }
  }
  return limit < 0 ? smallest : taken;
}

/* The path test of one direction: is the second side longer? Counts are of old and new. */
static tg_tail_side path_test(const int64_t *x, size_t m, const int64_t *y, size_t n,
                              const scale *s) {
  double all[2 * (DEEPEST + 2)], *alive = all + DEEPEST + 2;
  top t;
  size_t depth = 0;
  find_top(x, m, y, n, s, &t);
  double smallest = walk_paths(&t, -1, all, alive, &depth);
  if (depth == 0) return side_above(1, y[n - 1], x, m, y, n);
  double p = walk_paths(&t, smallest, all, alive, &depth);
  return side_above(p < 1 ? p : 1, t.next[depth - 1], x, m, y, n);
}

static tg_status check(const int64_t *x, size_t m, const int64_t *y, size_t n, double margin,
                       double absolute) {
  if (m < 2 || n < 2) return TG_ENODATA;
  if (!(margin >= 0) || !(absolute >= 0)) return TG_EINVAL;
  if (tg_check_values(x, m) != TG_OK || tg_check_values(y, n) != TG_OK ||
      absolute > (double)TG_STATS_LIMIT)
    return TG_EOVERFLOW;
  return TG_OK;
}

static scale scale_of(const int64_t *x, const int64_t *y, double margin, double absolute) {
  return (scale){TG_MARGIN_WHOLE + tg_margin_parts(margin), (int64_t)ceil(absolute),
                 x[0] <= 0 || y[0] <= 0};
}

tg_status tg_tail_test(const int64_t *x, size_t m, const int64_t *y, size_t n, double margin,
                       double absolute, uint64_t step, tg_tail *out) {
  tg_status status = check(x, m, y, n, margin, absolute);
  if (status == TG_OK && step > (uint64_t)TG_STATS_LIMIT) status = TG_EOVERFLOW;
  if (status != TG_OK) return status;
  tg_tail found = {{1, 0, 0, 0}, {1, 0, 0, 0}, false, false};
  if (!two_modes(x, m, y, n, tg_margin_parts(margin), absolute, step, &found)) {
    const scale s = scale_of(x, y, margin, absolute);
    found.slower = path_test(x, m, y, n, &s);
    tg_tail_side other = path_test(y, n, x, m, &s);
    found.faster = (tg_tail_side){other.p, other.above, other.new_above, other.old_above};
  }
  *out = found;
  return TG_OK;
}

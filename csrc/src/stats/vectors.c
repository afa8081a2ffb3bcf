/* vectors.c - cpus that a lock orders: compared as sorted vectors, never cpu by cpu.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <string.h>

#include "ladder.h"
#include "samples.h"

#define LIST_CHOICES 20000 /* arrangements of whole units that are listed */
#define RANKS_NARROW 64    /* ranks that fit the fast path */

static const tg_column_def vector_columns[TG_VEC_COLUMNS] = {
    {"cores", TG_U32, 0},     {"n_old", TG_U32, 0},     {"n_new", TG_U32, 0},
    {"w1", TG_F64, 0},        {"w1_p", TG_F64, 0},      {"w1_p_min", TG_F64, 0},
    {"max_old", TG_F64, 0},   {"max_new", TG_F64, 0},   {"span_old", TG_F64, 0},
    {"span_new", TG_F64, 0},  {"core_low", TG_F64, 0},  {"core_high", TG_F64, 0},
    {"rank_low", TG_F64, 0},  {"rank_high", TG_F64, 0}, {"ols_a_old", TG_F64, 0},
    {"ols_b_old", TG_F64, 0}, {"ols_a_new", TG_F64, 0}, {"ols_b_new", TG_F64, 0},
    {"ts_a_old", TG_F64, 0},  {"ts_b_old", TG_F64, 0},  {"ts_a_new", TG_F64, 0},
    {"ts_b_new", TG_F64, 0},  {"exchange_p", TG_F64, 0},
    {"ols_a_old_lo", TG_F64, 0},   {"ols_a_old_hi", TG_F64, 0},
    {"ols_b_old_lo", TG_F64, 0},   {"ols_b_old_hi", TG_F64, 0},
    {"ols_a_new_lo", TG_F64, 0},   {"ols_a_new_hi", TG_F64, 0},
    {"ols_b_new_lo", TG_F64, 0},   {"ols_b_new_hi", TG_F64, 0},
    {"ols_a_shift_lo", TG_F64, 0}, {"ols_a_shift_hi", TG_F64, 0},
    {"ols_b_shift_lo", TG_F64, 0}, {"ols_b_shift_hi", TG_F64, 0},
};

/* One group: the sorted rows of both sides, old first, on one grid of m old and n new units. */
typedef struct group {
  int64_t *rows; /* (m + n) x cores, each row sorted */
  size_t m, n, cores;
  bool narrow;
} group;

/* |n * sum of old - m * sum of new| over the ranks = |(m + n) * sum of old - m * total|, which is
 * m * n * cores * W1, an integer. old_row[i] says which row counts as old; `sum` and `total` have
 * an item per rank. Rows start at 0 and are small enough for 64 bits where `narrow`. */
static tg_u128 distance(const group *g, const bool *old_row, const tg_i128 *total, tg_i128 *sum) {
  tg_u128 d = 0;
  if (g->narrow) {
    int64_t part[RANKS_NARROW] = {0};
    for (size_t r = 0; r < g->m + g->n; r++) {
      const int64_t *row = g->rows + r * g->cores;
      if (!old_row[r]) continue;
      for (size_t c = 0; c < g->cores; c++) part[c] += row[c];
    }
    for (size_t c = 0; c < g->cores; c++) {
      int64_t x = (int64_t)(g->m + g->n) * part[c] - (int64_t)g->m * (int64_t)total[c];
      d += (uint64_t)(x < 0 ? -x : x);
    }
    return d;
  }
  for (size_t c = 0; c < g->cores; c++) sum[c] = 0;
  for (size_t r = 0; r < g->m + g->n; r++)
    for (size_t c = 0; old_row[r] && c < g->cores; c++) sum[c] += g->rows[r * g->cores + c];
  for (size_t c = 0; c < g->cores; c++) {
    tg_i128 x = (tg_i128)(g->m + g->n) * sum[c] - (tg_i128)g->m * total[c];
    d += (tg_u128)(x < 0 ? -x : x);
  }
  return d;
}

/* Moves the rows to start at 0 (which leaves W1 as it is), adds up the ranks, and decides whether
 * 64 bits are enough. */
static void prepare(group *g, tg_i128 *total) {
  size_t items = (g->m + g->n) * g->cores;
  int64_t low = g->rows[0], high = g->rows[0];
  for (size_t i = 0; i < items; i++) {
    low = g->rows[i] < low ? g->rows[i] : low;
    high = g->rows[i] > high ? g->rows[i] : high;
  }
  for (size_t i = 0; i < items; i++) g->rows[i] -= low;
  for (size_t c = 0; c < g->cores; c++) total[c] = 0;
  for (size_t i = 0; i < items; i++) total[i % g->cores] += g->rows[i];
  size_t rows = g->m + g->n;
  g->narrow = g->cores <= RANKS_NARROW && rows < 4096 && high - low < (INT64_C(1) << 38);
}

/* The next choice of old rows in lexicographic order; false after the last. */
static bool next_choice(bool *old_row, size_t n) {
  size_t ones = 0, i = n;
  while (i > 0 && old_row[i - 1]) { /* the run of chosen rows at the end */
    ones++;
    i--;
  }
  while (i > 0 && !old_row[i - 1]) i--;
  if (i == 0) return false;
  old_row[i - 1] = false; /* the last chosen row with a free place behind moves up by one */
  for (size_t k = i; k < n; k++) old_row[k] = k < i + 1 + ones;
  return true;
}

/* W1 and the share of arrangements of whole units that lie as far apart. */
static tg_status distance_test(const tg_alloc *a, const tg_stop *stop, group *g, uint64_t seed,
                               double *w1, tg_test *out) {
  size_t rows = g->m + g->n;
  bool *old_row = tg_array(a, rows, sizeof *old_row);
  tg_i128 *sum = tg_array(a, 2 * g->cores, sizeof *sum), *total = sum;
  if (old_row == NULL || sum == NULL) {
    tg_free(a, old_row);
    tg_free(a, sum);
    return TG_ENOMEM;
  }
  for (size_t i = 0; i < rows; i++) old_row[i] = i < g->m;
  sum += g->cores;
  prepare(g, total);
  tg_u128 seen = distance(g, old_row, total, sum);
  *w1 = (double)seen / ((double)g->m * (double)g->n * (double)g->cores);
  uint64_t all = 0, far = 0;
  const uint64_t steps = rows * g->cores;
  tg_status status = TG_OK;
  out->exact = tg_choose(rows, g->m) <= LIST_CHOICES;
  if (out->exact) {
    do {
      if (tg_stop_at(stop, all, steps)) {
        status = TG_EINTERRUPTED;
        break;
      }
      all++;
      far += distance(g, old_row, total, sum) >= seen;
    } while (next_choice(old_row, rows));
  } else {
    tg_rng rng;
    tg_rng_seed(&rng, seed);
    far = 1;
    for (all = 1; all <= TG_RESAMPLES; all++) {
      if (tg_stop_at(stop, all - 1, steps)) {
        status = TG_EINTERRUPTED;
        break;
      }
      for (size_t i = 0, left = g->m; i < rows; i++) { /* selection sampling */
        old_row[i] = tg_rng_below(&rng, rows - i) < left;
        left -= old_row[i];
      }
      far += distance(g, old_row, total, sum) >= seen;
    }
  }
  out->statistic = *w1;
  out->p = (double)far / (double)all;
  double least = g->m == g->n ? 2 : 1; /* equal sides: swapping them gives the same distance */
  out->p_min = least / tg_choose(rows, g->m);
  if (out->p_min > 1) out->p_min = 1;
  tg_free(a, old_row);
  tg_free(a, total);
  return status;
}

/* Doubled mid-ranks of one row's cores. */
static void row_ranks(const int64_t *row, size_t cores, int64_t *rank) {
  for (size_t i = 0; i < cores; i++) {
    rank[i] = 1;
    for (size_t j = 0; j < cores; j++) rank[i] += 2 * (row[j] < row[i]) + (row[j] == row[i]);
  }
}

/* Sum of the squared column sums of `rows` units: large where a label keeps its rank. Ranks are at
 * most 2 * cores, so 64 bits hold it (checked by the caller). */
static uint64_t column_squares(const int64_t *rank, size_t rows, size_t cores) {
  uint64_t total = 0;
  for (size_t c = 0; c < cores; c++) {
    int64_t sum = 0;
    for (size_t r = 0; r < rows; r++) sum += rank[r * cores + c];
    total += (uint64_t)sum * (uint64_t)sum;
  }
  return total;
}

static void shuffle(tg_rng *rng, int64_t *v, size_t n) {
  for (size_t i = 0; i + 1 < n; i++) {
    size_t j = i + (size_t)tg_rng_below(rng, n - i);
    int64_t x = v[j];
    v[j] = v[i];
    v[i] = x;
  }
}

/* Permutation test of exchangeable labels: ranks within each unit (Friedman 1937), both sides
 * with their own sum of squared column sums, added; labels shuffled within units. NaN where no
 * side has two units. */
static tg_status exchange_test(const tg_alloc *a, const tg_stop *stop, const int64_t *x, size_t m,
                               const int64_t *y, size_t n, size_t cores, uint64_t seed, double *p) {
  *p = (double)NAN;
  if ((m < 2 && n < 2) || cores < 2) return TG_OK;
  if (cores > 4096 || m + n > 65536) return TG_OK; /* squares of sums would leave 64 bits */
  int64_t *rank = tg_array(a, (m + n) * cores, sizeof *rank);
  if (rank == NULL) return TG_ENOMEM;
  for (size_t r = 0; r < m; r++) row_ranks(x + r * cores, cores, rank + r * cores);
  for (size_t r = 0; r < n; r++) row_ranks(y + r * cores, cores, rank + (m + r) * cores);
  uint64_t seen = column_squares(rank, m, cores) + column_squares(rank + m * cores, n, cores);
  tg_rng rng;
  tg_rng_seed(&rng, seed);
  uint64_t far = 1, all = 1;
  tg_status status = TG_OK;
  for (; all <= TG_RESAMPLES / 4; all++) { /* 2500 draws: p to 1 % is plenty for a note */
    if (tg_stop_at(stop, all - 1, (m + n) * cores)) {
      status = TG_EINTERRUPTED;
      break;
    }
    for (size_t r = 0; r < m + n; r++) shuffle(&rng, rank + r * cores, cores);
    uint64_t sum = column_squares(rank, m, cores) + column_squares(rank + m * cores, n, cores);
    far += sum >= seen;
  }
  *p = (double)far / (double)all;
  tg_free(a, rank);
  return status;
}

static int compare_rows(const int64_t *p, const int64_t *q, size_t cores) {
  for (size_t c = 0; c < cores; c++)
    if (p[c] != q[c]) return p[c] < q[c] ? -1 : 1;
  return 0;
}

static void swap_rows(int64_t *p, int64_t *q, size_t cores) {
  for (size_t c = 0; c < cores; c++) {
    int64_t x = p[c];
    p[c] = q[c];
    q[c] = x;
  }
}

/* Puts rows into lexicographic order (heap sort), so that what is drawn does not depend on the
 * order in which units were read. */
static void sort_rows(int64_t *v, size_t rows, size_t cores) {
  for (size_t start = rows / 2, end = rows; end > 1;) {
    if (start > 0) {
      start--;
    } else {
      end--;
      swap_rows(v, v + end * cores, cores);
    }
    for (size_t root = start, child; (child = 2 * root + 1) < end; root = child) {
      if (child + 1 < end && compare_rows(v + child * cores, v + (child + 1) * cores, cores) < 0)
        child++;
      if (compare_rows(v + root * cores, v + child * cores, cores) >= 0) break;
      swap_rows(v + root * cores, v + child * cores, cores);
    }
  }
}

/* Means down the columns. */
static void column_means(const int64_t *v, size_t rows, size_t cores, double scale, double *out) {
  for (size_t c = 0; c < cores; c++) {
    tg_i128 sum = 0;
    for (size_t r = 0; r < rows; r++) sum += v[r * cores + c];
    out[c] = (double)sum / (double)rows * scale;
  }
}

static void put_range(tg_table *t, size_t row, size_t low, const double *from, const double *to,
                      size_t n) {
  double lo = (double)NAN, hi = (double)NAN;
  for (size_t i = 0; i < n; i++) {
    if (!(fabs(from[i]) > 0)) continue;
    double percent = 100 * (to[i] - from[i]) / fabs(from[i]);
    if (!(lo <= percent)) lo = percent;
    if (!(hi >= percent)) hi = percent;
  }
  tg_put(t, row, low, lo);
  tg_put(t, row, low + 1, hi);
}

static tg_status put_ladders(const tg_alloc *a, tg_table *t, size_t row, const double *x,
                             const double *y, size_t cores) {
  tg_line line[4];
  tg_status status = tg_ladder(a, x, cores, &line[0], &line[2]);
  if (status == TG_OK) status = tg_ladder(a, y, cores, &line[1], &line[3]);
  if (status == TG_ENODATA || status == TG_ELIMIT) return TG_OK; /* too few cpus, or too many */
  if (status != TG_OK) return status;
  for (size_t i = 0; i < 4; i++) {
    tg_put(t, row, TG_VEC_OLS_A_OLD + 2 * i, line[i].a);
    tg_put(t, row, TG_VEC_OLS_B_OLD + 2 * i, line[i].b);
  }
  return TG_OK;
}

static void put_line_interval(tg_table *t, size_t row, size_t first, tg_line mean, tg_line half) {
  tg_put(t, row, first, mean.a - half.a);
  tg_put(t, row, first + 1, mean.a + half.a);
  tg_put(t, row, first + 2, mean.b - half.b);
  tg_put(t, row, first + 3, mean.b + half.b);
}

/* The 95 % intervals of both lines and of their difference, where units are enough. */
static void put_intervals(tg_table *t, size_t row, const group *g, double scale,
                          const uint64_t step[2]) {
  tg_scatter x, y;
  tg_line shift, half;
  tg_ladder_scatter(g->rows, g->m, g->cores, scale, step[0], &x);
  tg_ladder_scatter(g->rows + g->m * g->cores, g->n, g->cores, scale, step[1], &y);
  if (tg_ladder_interval(&x, &half))
    put_line_interval(t, row, TG_VEC_OLS_A_OLD_LO, x.mean, half);
  if (tg_ladder_interval(&y, &half))
    put_line_interval(t, row, TG_VEC_OLS_A_NEW_LO, y.mean, half);
  if (tg_ladder_shift(&x, &y, &shift, &half))
    put_line_interval(t, row, TG_VEC_OLS_A_SHIFT_LO, shift, half);
}

/* Describes and tests one group. `work` has room for (m + n) * cores integers, `mean` for
 * 4 * cores doubles. */
static tg_status compare_group(const tg_alloc *a, const tg_stop *stop, const int64_t *x, size_t m,
                               const int64_t *y, size_t n, size_t cores, double scale,
                               const uint64_t step[2], uint64_t seed, tg_table *t) {
  size_t row;
  tg_status status = tg_table_append(t, &row);
  if (status != TG_OK) return status;
  tg_table_set_u32(t, row, TG_VEC_CORES, (uint32_t)cores);
  tg_table_set_u32(t, row, TG_VEC_N_OLD, (uint32_t)m);
  tg_table_set_u32(t, row, TG_VEC_N_NEW, (uint32_t)n);
  if (m == 0 || n == 0 || cores == 0) return TG_OK;
  if (m > SIZE_MAX / 256 - n || cores > SIZE_MAX / 256 / (m + n)) return TG_EOVERFLOW;
  group g = {tg_array(a, (m + n) * cores, sizeof *g.rows), m, n, cores, false};
  double *mean = tg_array(a, 4 * cores, sizeof *mean), w1 = 0, p = (double)NAN;
  tg_test test = {0, 0, 0, false};
  status = g.rows != NULL && mean != NULL ? TG_OK : TG_ENOMEM;
  if (status != TG_OK) goto done;
  int64_t *new_rows = g.rows + m * cores;
  memcpy(g.rows, x, m * cores * sizeof *x);
  memcpy(new_rows, y, n * cores * sizeof *y);
  sort_rows(g.rows, m, cores);
  sort_rows(new_rows, n, cores);
  column_means(g.rows, m, cores, scale, mean);
  column_means(new_rows, n, cores, scale, mean + cores);
  put_range(t, row, TG_VEC_CORE_LOW, mean, mean + cores, cores);
  status = exchange_test(a, stop, g.rows, m, new_rows, n, cores, seed, &p);
  if (status != TG_OK) goto done;
  for (size_t r = 0; r < m + n; r++) tg_sort_i64(g.rows + r * cores, cores);
  column_means(g.rows, m, cores, scale, mean + 2 * cores);
  column_means(g.rows + m * cores, n, cores, scale, mean + 3 * cores);
  const double *sx = mean + 2 * cores, *sy = mean + 3 * cores;
  put_range(t, row, TG_VEC_RANK_LOW, sx, sy, cores);
  tg_put(t, row, TG_VEC_MAX_OLD, sx[cores - 1]);
  tg_put(t, row, TG_VEC_MAX_NEW, sy[cores - 1]);
  tg_put(t, row, TG_VEC_SPAN_OLD, sx[cores - 1] - sx[0]);
  tg_put(t, row, TG_VEC_SPAN_NEW, sy[cores - 1] - sy[0]);
  status = put_ladders(a, t, row, sx, sy, cores);
  put_intervals(t, row, &g, scale, step);
  sort_rows(g.rows, m, cores);
  sort_rows(new_rows, n, cores);
  if (status == TG_OK) status = distance_test(a, stop, &g, seed, &w1, &test);
  if (status != TG_OK) goto done;
  tg_put(t, row, TG_VEC_W1, w1 * scale);
  tg_put(t, row, TG_VEC_W1_P, test.p);
  tg_put(t, row, TG_VEC_W1_P_MIN, test.p_min);
  tg_put(t, row, TG_VEC_EXCHANGE_P, p);
done:
  tg_free(a, g.rows);
  tg_free(a, mean);
  return status;
}

tg_status tg_compare_vectors(const tg_alloc *a, const tg_stop *stop, const tg_vectors *v_old,
                             const tg_vectors *v_new, uint64_t seed, tg_table **out) {
  tg_table *t = NULL;
  const int64_t *x = v_old->value, *y = v_new->value;
  if (v_old->n_groups != v_new->n_groups) return TG_EINVAL;
  tg_status status = tg_table_new(a, vector_columns, TG_VEC_COLUMNS, &t);
  for (size_t i = 0; status == TG_OK && i < v_old->n_groups; i++) {
    size_t cores = (size_t)v_old->cores[i];
    size_t m = (size_t)v_old->units[i], n = (size_t)v_new->units[i];
    if (v_new->cores[i] != v_old->cores[i] || v_old->num[i] == 0 || v_old->den[i] == 0 ||
        v_old->num[i] != v_new->num[i] || v_old->den[i] != v_new->den[i]) {
      status = TG_EINVAL;
      break;
    }
    status = tg_check_values(x, m * cores);
    if (status == TG_OK) status = tg_check_values(y, n * cores);
    const uint64_t step[2] = {v_old->step[i], v_new->step[i]};
    if (step[0] == 0 || step[1] == 0) status = TG_EINVAL;
    double scale = (double)v_old->num[i] / (double)v_old->den[i];
    if (status == TG_OK) status = compare_group(a, stop, x, m, y, n, cores, scale, step, seed, t);
    x += m * cores;
    y += n * cores;
  }
  if (status == TG_OK)
    *out = t;
  else
    tg_table_free(t);
  return status;
}

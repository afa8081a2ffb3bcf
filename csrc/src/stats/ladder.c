/* ladder.c - the line through sorted cpus that queue for a lock, and its interval from the units.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <string.h>

#include "ladder.h"

tg_status tg_ladder(const tg_alloc *a, const double *y, size_t n, tg_line *ols,
                    tg_line *theil_sen) {
  if (n < 2) return TG_ENODATA;
  if (n > TG_LADDER_MOST) return TG_ELIMIT;
  double centre = (double)(n - 1) / 2, mean = 0, sxy = 0, sxx = 0;
  for (size_t i = 0; i < n; i++) mean += y[i] / (double)n;
  for (size_t i = 0; i < n; i++) {
    double d = (double)i - centre;
    sxy += d * (y[i] - mean);
    sxx += d * d;
  }
  size_t pairs = n * (n - 1) / 2, k = 0;
  double *slope = tg_array(a, pairs + n, sizeof *slope);
  if (slope == NULL) return TG_ENOMEM;
  double *sorted = slope + pairs;
  for (size_t i = 0; i < n; i++)
    for (size_t j = i + 1; j < n; j++) slope[k++] = (y[j] - y[i]) / (double)(j - i);
  memcpy(sorted, y, n * sizeof *y);
  tg_sort_f64(slope, pairs);
  tg_sort_f64(sorted, n);
  double b = (slope[(pairs - 1) / 2] + slope[pairs / 2]) / 2;
  double median = (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
  if (ols != NULL) *ols = (tg_line){mean - sxy / sxx * centre, sxy / sxx};
  if (theil_sen != NULL) *theil_sen = (tg_line){median - b * centre, b};
  tg_free(a, slope);
  return TG_OK;
}

/* The share of rank i of `cores` in the line: a = sum of weight.a * y(i), b likewise. */
static tg_line weight(size_t i, size_t cores) {
  double n = (double)cores, centre = (n - 1) / 2, d = (double)i - centre;
  double b = d / (n * (n * n - 1) / 12);
  return (tg_line){1 / n - b * centre, b};
}

/* Least-squares line of one unit, its values taken from `base` on. */
static tg_line line_of(const int64_t *row, size_t cores, int64_t base) {
  tg_line line = {0, 0};
  for (size_t i = 0; i < cores; i++) {
    tg_line w = weight(i, cores);
    double y = (double)(row[i] - base);
    line.a += w.a * y;
    line.b += w.b * y;
  }
  return line;
}

void tg_ladder_scatter(const int64_t *rows, size_t units, size_t cores, double scale, uint64_t step,
                       tg_scatter *out) {
  *out = (tg_scatter){{0, 0}, {0, 0}, units};
  if (cores < 2 || cores > TG_LADDER_MOST || units < 2) {
    out->units = 0;
    return;
  }
  double n = (double)units, tick = (double)step / sqrt(6);
  tg_line mean = {0, 0}, square = {0, 0}, least = {0, 0};
  for (size_t u = 0; u < units; u++) {
    tg_line line = line_of(rows + u * cores, cores, rows[0]);
    mean.a += line.a / n;
    mean.b += line.b / n;
  }
  for (size_t u = 0; u < units; u++) {
    tg_line line = line_of(rows + u * cores, cores, rows[0]);
    square.a += (line.a - mean.a) * (line.a - mean.a) / (n - 1);
    square.b += (line.b - mean.b) * (line.b - mean.b) / (n - 1);
  }
  for (size_t i = 0; i < cores; i++) { /* all cpus off by the same part of a tick, at worst */
    least.a += fabs(weight(i, cores).a) * tick;
    least.b += fabs(weight(i, cores).b) * tick;
  }
  out->mean = (tg_line){(mean.a + (double)rows[0]) * scale, mean.b * scale};
  out->error.a = fmax(sqrt(square.a), least.a) / sqrt(n) * scale;
  out->error.b = fmax(sqrt(square.b), least.b) / sqrt(n) * scale;
}

/* Half of the interval of a difference of two means (Welch; degrees of freedom rounded down). */
static double welch(double x, size_t m, double y, size_t n) {
  double vx = x * x, vy = y * y, v = vx + vy;
  double df = v * v / (vx * vx / (double)(m - 1) + vy * vy / (double)(n - 1));
  return tg_t_quantile(TG_LADDER_ALPHA / 2, df < 1 ? 1 : (uint64_t)df) * sqrt(v);
}

bool tg_ladder_interval(const tg_scatter *s, tg_line *half) {
  if (s->units < 2) return false;
  double t = tg_t_quantile(TG_LADDER_ALPHA / 2, s->units - 1);
  *half = (tg_line){t * s->error.a, t * s->error.b};
  return true;
}

bool tg_ladder_shift(const tg_scatter *x, const tg_scatter *y, tg_line *shift, tg_line *half) {
  if (x->units < 2 || y->units < 2) return false;
  *shift = (tg_line){y->mean.a - x->mean.a, y->mean.b - x->mean.b};
  half->a = welch(x->error.a, x->units, y->error.a, y->units);
  half->b = welch(x->error.b, x->units, y->error.b, y->units);
  return true;
}

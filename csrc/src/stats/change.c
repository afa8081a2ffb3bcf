/* change.c - the largest change of a series, without the costs of all its segments.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * One step needs the costs of both ends alone. Two steps around a segment with the level c save
 *
 *   (D(0, i) - ahead(i)) + sum over [i, j) of (|x - M| - |x - c|) + (D(j, n) - behind(j))
 *
 * where M is the median of the series and D its cost about M. For one c the best i and j are found
 * in one pass. For all c of a range |x - c| is at least the distance of x to the range, so that the
 * same pass gives a bound: a range whose bound is no better than what was found is left, the others
 * are halved, down to single values. The median of a segment is a value of it, so none is
 * missed. */
#include <math.h>

#include "segment.h"

typedef struct search {
  const int64_t *x;
  const uint32_t *by_value;
  size_t n;
  const double *from_median;    /* |x - M| */
  const double *first, *second; /* [n + 1] saved by x[0 .. i - 1] and by x[i .. n - 1] */
} search;

/* What x[at] saves with a level between two values: as much as with the nearest of them. */
static double gain_of(const search *s, size_t at, int64_t low, int64_t high) {
  const int64_t x = s->x[at];
  return s->from_median[at] - (double)(x < low ? low - x : x > high ? x - high : 0);
}

/* The most that two steps save with a level between two values; a bound where they differ. */
static double most_saved(const search *s, int64_t low, int64_t high) {
  double best = 0, begun = (double)-INFINITY; /* by the first step, at `at` - 1 or before */
  double before = 0, sum = gain_of(s, 1, low, high);
  for (size_t at = 2; at + 1 < s->n; at++) {
    const double begins = s->first[at - 1] - before;
    begun = begins > begun ? begins : begun;
    before = sum;
    sum += gain_of(s, at, low, high);
    const double saved = begun + sum + s->second[at + 1];
    best = saved > best ? saved : best;
  }
  return best;
}

typedef struct range {
  size_t low, high; /* ranks, both in it */
  double bound;
} range;

static range range_of(const search *s, size_t low, size_t high) {
  return (range){low, high, most_saved(s, s->x[s->by_value[low]], s->x[s->by_value[high]])};
}

/* The most that two steps save, or `best` where that is no more. */
static double two_steps(const search *s, double best) {
  range later[2 * 64]; /* the better half goes first, so at most one waits a halving */
  size_t n = 0;
  later[n++] = range_of(s, 0, s->n - 1);
  while (n > 0) {
    const range r = later[--n];
    if (r.bound <= best) continue;
    if (s->x[s->by_value[r.low]] == s->x[s->by_value[r.high]]) {
      best = r.bound;
      continue;
    }
    const size_t middle = r.low + (r.high - r.low) / 2;
    const range a = range_of(s, r.low, middle), b = range_of(s, middle + 1, r.high);
    later[n++] = a.bound < b.bound ? a : b;
    later[n++] = a.bound < b.bound ? b : a;
  }
  return best;
}

double tg_segment_change(const int64_t *x, size_t n, const uint32_t *by_value, double floor,
                         uint32_t *room, double *work) {
  if (n < 2) return floor > 0 ? floor : 0;
  double *first = work, *second = work + n + 1, *from_median = second + n + 1;
  tg_end_costs(x, n, by_value, room, first, second);
  const double whole = first[n];
  double one = floor > 0 ? floor : 0, sum = 0;
  for (size_t i = 1; i < n; i++)
    if (whole - first[i] - second[i] > one) one = whole - first[i] - second[i];
  const int64_t median = x[by_value[(n - 1) / 2]];
  for (size_t i = 0; i <= n; i++) {
    first[i] = sum - first[i];
    second[i] = whole - sum - second[i];
    if (i == n) break;
    from_median[i] = (double)tg_apart(x[i], median);
    sum += from_median[i];
  }
  const search s = {x, by_value, n, from_median, first, second};
  return two_steps(&s, 2 * one) / 2;
}

/* pairs.c - exact selection among all pairs of two sides. SPDX-License-Identifier: BSD-3-Clause */
#include "pairs.h"

#include <math.h>
#include <string.h>

#define LIST_MOST 4096 /* pairs that are listed at once */
#define SAMPLE 1023      /* pairs drawn to choose where to cut */

/* Whether pair p lies below pair q. */
static inline bool below(tg_pair_order order, tg_pair p, tg_pair q) {
  if (order == TG_PAIR_RATIO) return (tg_u128)p.y * q.x < (tg_u128)q.y * p.x;
  return p.y + q.x < q.y + p.x;
}

/* The sides, and for each x the range of y that may still hold the pair looked for. */
typedef struct search {
  tg_pair_order order;
  const uint64_t *x, *y;
  size_t m, n;
  size_t *lo, *hi, *cut; /* m each */
  tg_u128 k;
} search;

/* For every x the first y of its range whose pair does not lie below p (or with `upto`, lies above
 * it), and how many pairs that leaves below. It only moves up, because x ascends. */
static tg_u128 cut_at(search *s, tg_pair p, bool upto) {
  size_t at = 0;
  tg_u128 count = 0;
  for (size_t i = 0; i < s->m; i++) {
    if (at < s->lo[i]) at = s->lo[i];
    if (upto)
      while (at < s->hi[i] && !below(s->order, p, (tg_pair){s->x[i], s->y[at]})) at++;
    else
      while (at < s->hi[i] && below(s->order, (tg_pair){s->x[i], s->y[at]}, p)) at++;
    s->cut[i] = at < s->hi[i] ? at : s->hi[i];
    count += s->cut[i];
  }
  return count;
}

/* Keeps the pairs below the cut, or those from it on. */
static void keep(search *s, bool lower) {
  for (size_t i = 0; i < s->m; i++) *(lower ? &s->hi[i] : &s->lo[i]) = s->cut[i];
}

/* Keeps the pairs on the side of p on which rank k lies; true where p itself has the rank. The
 * side on which it probably lies is asked first. */
static bool narrow(search *s, tg_pair p, bool above) {
  for (int turn = 0; turn < 2; turn++) {
    bool upto = above == (turn == 0);
    tg_u128 count = cut_at(s, p, upto);
    if (upto == (s->k > count)) {
      keep(s, !upto);
      return false;
    }
  }
  return true;
}

/* Pairs left, and those known to lie below all of them. */
static tg_u128 left(const search *s, tg_u128 *passed) {
  tg_u128 total = 0;
  *passed = 0;
  for (size_t i = 0; i < s->m; i++) {
    total += s->hi[i] - s->lo[i];
    *passed += s->lo[i];
  }
  return total;
}

#define TG_SORT_NAME sort_ratios
#define TG_SORT_ITEM tg_pair
#define TG_SORT_BEFORE(a, b) below(TG_PAIR_RATIO, *(a), *(b))
#include "base/sort.h"

#define TG_SORT_NAME sort_differences
#define TG_SORT_ITEM tg_pair
#define TG_SORT_BEFORE(a, b) below(TG_PAIR_DIFFERENCE, *(a), *(b))
#include "base/sort.h"

/* The pair of 0-based rank k of v[0..n), which gets reordered (Hoare's selection). */
static tg_pair select_pair(tg_pair_order order, tg_pair *v, size_t n, size_t k) {
  size_t first = 0, last = n - 1;
  while (first < last) {
    tg_pair pivot = v[first + (last - first) / 2];
    size_t i = first, j = last;
    for (;;) {
      while (below(order, v[i], pivot)) i++;
      while (below(order, pivot, v[j])) j--;
      if (i >= j) break;
      tg_pair swap = v[i];
      v[i++] = v[j];
      v[j--] = swap;
    }
    if (k <= j)
      last = j;
    else
      first = j + 1;
  }
  return v[k];
}

/* `SAMPLE` of the `total` pairs left, sorted. */
static void draw(const search *s, tg_rng *rng, tg_u128 total, tg_pair *sample) {
  uint64_t bound = total > INT64_MAX ? INT64_MAX : (uint64_t)total;
  int64_t at[SAMPLE];
  for (size_t i = 0; i < SAMPLE; i++) at[i] = (int64_t)tg_rng_below(rng, bound);
  tg_sort_i64(at, SAMPLE);
  tg_u128 passed = 0;
  for (size_t i = 0, drawn = 0; i < s->m && drawn < SAMPLE; i++) {
    size_t width = s->hi[i] - s->lo[i];
    for (; drawn < SAMPLE && (tg_u128)at[drawn] < passed + width; drawn++)
      sample[drawn] =
          (tg_pair){s->x[i], s->y[s->lo[i] + (size_t)((tg_u128)at[drawn] - passed)]};
    passed += width;
  }
  if (s->order == TG_PAIR_RATIO)
    sort_ratios(sample, SAMPLE);
  else
    sort_differences(sample, SAMPLE);
}

/* Lists the pairs left and takes the one looked for. */
static tg_pair take_listed(const search *s, tg_pair *list, tg_u128 passed) {
  size_t listed = 0;
  for (size_t i = 0; i < s->m; i++)
    for (size_t j = s->lo[i]; j < s->hi[i]; j++) list[listed++] = (tg_pair){s->x[i], s->y[j]};
  return select_pair(s->order, list, listed, (size_t)(s->k - passed) - 1);
}

tg_status tg_pair_at(const tg_alloc *a, tg_pair_order order, const uint64_t *x, size_t m,
                     const uint64_t *y, size_t n, tg_u128 k, tg_pair *out) {
  if (m > SIZE_MAX / 256 || n > SIZE_MAX / 256) return TG_ENOMEM;
  size_t most = (m + n) / 16 + LIST_MOST;
  tg_u128 all = (tg_u128)m * n, passed = 0;
  if (all < most) most = (size_t)all;
  tg_pair *list = tg_array(a, most > SAMPLE ? most : SAMPLE, sizeof *list);
  size_t *range = tg_array(a, 3 * m, sizeof *range);
  tg_status status = list != NULL && range != NULL ? TG_OK : TG_ENOMEM;
  if (status == TG_OK) {
    search s = {order, x, y, m, n, range, range + m, range + 2 * m, k};
    for (size_t i = 0; i < m; i++) {
      s.lo[i] = 0;
      s.hi[i] = n;
    }
    tg_rng rng;
    tg_rng_seed(&rng, 1); /* the pair found does not depend on it */
    bool found = false;
    tg_u128 total = left(&s, &passed);
    while (!found && total > most) {
      draw(&s, &rng, total, list);
      double share = (double)(k - passed) / (double)total;
      double place = share * SAMPLE, reach = 2 * sqrt(SAMPLE * share * (1 - share)) + 1;
      double low = floor(place - reach), high = ceil(place + reach);
      tg_pair ends[2] = {list[low > 0 ? (size_t)low : 0],
                         list[high < SAMPLE - 1 ? (size_t)high : SAMPLE - 1]};
      for (int end = 0; end < 2 && !found; end++) {
        found = narrow(&s, ends[end], end == 0);
        if (found) *out = ends[end];
      }
      if (!found) total = left(&s, &passed);
    }
    if (!found) *out = take_listed(&s, list, passed);
  }
  tg_free(a, list);
  tg_free(a, range);
  return status;
}

tg_pair tg_pair_behind(tg_pair_order order, const uint64_t *x, size_t m, const uint64_t *y,
                       size_t n, tg_u128 k, tg_pair p) {
  size_t at = 0;
  tg_u128 upto = 0;
  tg_pair best = p;
  bool any = false;
  for (size_t i = 0; i < m; i++) {
    while (at < n && !below(order, p, (tg_pair){x[i], y[at]})) at++;
    upto += at;
    if (at == n) continue;
    tg_pair next = {x[i], y[at]};
    if (!any || below(order, next, best)) best = next;
    any = true;
  }
  return upto > k ? p : best;
}

double tg_pair_ratio(tg_pair p) {
  return p.x == 0 ? (double)INFINITY : (double)p.y / (double)p.x;
}

bool tg_pair_exceeds(tg_pair p, uint64_t parts) {
  if (p.x == 0) return true;
  return (tg_u128)p.y * TG_MARGIN_WHOLE > (tg_u128)p.x * (TG_MARGIN_WHOLE + parts);
}

bool tg_pair_falls_short(tg_pair p, uint64_t parts) {
  return (tg_u128)p.y * (TG_MARGIN_WHOLE + parts) < (tg_u128)p.x * TG_MARGIN_WHOLE;
}

uint64_t tg_margin_parts(double margin) {
  double parts = margin * (double)TG_MARGIN_WHOLE + 0.5;
  double most = 1e6 * (double)TG_MARGIN_WHOLE;
  return parts < most ? (uint64_t)parts : (uint64_t)most;
}

/* quantity.c - one value per boot, key and quantile. SPDX-License-Identifier: BSD-3-Clause */
#include "quantity.h"

#include <string.h>

#include "base/try.h"

static const struct {
  uint32_t percent;
  uint64_t least; /* readings of a unit */
} quantiles[] = {{90, 20}, {99, 200}};
#define QUANTILES (sizeof quantiles / sizeof *quantiles)

static uint64_t readings_of(const tg_samples *s, size_t unit) {
  size_t from = (size_t)s->unit_start[unit], to = (size_t)s->unit_start[unit + 1];
  if (s->weight == NULL) return to - from;
  uint64_t n = 0;
  for (size_t i = from; i < to; i++)
    n = s->weight[i] > UINT64_MAX - n ? UINT64_MAX : n + s->weight[i];
  return n;
}

/* Units of a key with fewer readings than `least`, and whether one has as many. */
static size_t lacking(const tg_samples *s, size_t key, uint64_t least, bool *any) {
  size_t few = 0;
  for (size_t u = (size_t)s->key_start[key]; u < (size_t)s->key_start[key + 1]; u++) {
    if (readings_of(s, u) < least)
      few++;
    else
      *any = true;
  }
  return few;
}

static size_t units_of(const tg_samples *s, size_t key) {
  return s == NULL ? 0 : (size_t)(s->key_start[key + 1] - s->key_start[key]);
}

/* Whether a key has the quantile number q; notes the units that lack readings for it. */
static bool has_quantile(const tg_samples *const side[TG_SIDES], size_t key, size_t q,
                         uint32_t *few) {
  bool any = false;
  size_t short_of = 0;
  if (units_of(side[0], key) == 0 || units_of(side[1], key) == 0) return false;
  for (int i = 0; i < 2; i++) short_of += lacking(side[i], key, quantiles[q].least, &any);
  *few = any ? (uint32_t)short_of : 0;
  return short_of == 0;
}

/* The values of one quantity and side, at `to`. */
static tg_status fill(const tg_alloc *a, tg_scratch *scratch, const tg_samples *s, size_t key,
                      uint32_t percent, int64_t *to) {
  for (size_t u = (size_t)s->key_start[key]; u < (size_t)s->key_start[key + 1]; u++) {
    TG_TRY(tg_unit_quantile(a, scratch, s, u, percent, 100, to));
    to++;
  }
  return TG_OK;
}

/* Where the units of a key begin among those of its side. */
static size_t place_of(const tg_samples *s, size_t key) {
  return (size_t)(s->key_start[key] - s->key_start[0]);
}

static tg_quantity quantity_of(const tg_quantities *q, const tg_samples *const side[TG_SIDES],
                               size_t key, uint32_t percent) {
  tg_quantity out = {.key = key, .percent = percent};
  for (int i = 0; i < TG_SIDES; i++) {
    if (side[i] == NULL) continue;
    out.units[i] = units_of(side[i], key);
    out.value[i] = q->pool[i] + place_of(side[i], key);
    out.boot[i] = side[i]->boot != NULL ? side[i]->boot + side[i]->key_start[key] : q->number;
  }
  return out;
}

/* Counts the quantities, and the units that the quantiles beside the median need. */
static tg_status plan(const tg_alloc *a, const tg_samples *const side[TG_SIDES],
                      tg_quantities *out, size_t more[TG_SIDES]) {
  size_t keys = side[0]->n_keys;
  out->n = keys;
  out->lacking = tg_array(a, QUANTILES * keys, sizeof *out->lacking);
  if (out->lacking == NULL) return TG_ENOMEM;
  for (size_t key = 0; key < keys; key++)
    for (size_t q = 0; q < QUANTILES; q++) {
      uint32_t few = 0;
      if (has_quantile(side, key, q, &few)) {
        out->n++;
        for (int i = 0; i < TG_SIDES; i++) more[i] += units_of(side[i], key);
      }
      out->lacking[QUANTILES * key + q] = few;
    }
  return TG_OK;
}

/* Room for all values, and the numbers of units that have no boot. */
static tg_status room(const tg_alloc *a, const tg_samples *const side[TG_SIDES],
                      tg_quantities *out, const size_t more[TG_SIDES]) {
  size_t keys = side[0]->n_keys, most = 0;
  for (int i = 0; i < TG_SIDES; i++) {
    if (side[i] == NULL) continue;
    out->pool[i] = tg_array(a, place_of(side[i], keys) + more[i], sizeof **out->pool);
    if (out->pool[i] == NULL) return TG_ENOMEM;
    for (size_t key = 0; side[i]->boot == NULL && key < keys; key++)
      if (units_of(side[i], key) > most) most = units_of(side[i], key);
  }
  out->v = tg_array(a, out->n, sizeof *out->v);
  out->number = tg_array(a, most, sizeof *out->number);
  if (out->v == NULL || out->number == NULL) return TG_ENOMEM;
  for (size_t i = 0; i < most; i++) out->number[i] = (uint32_t)i;
  return TG_OK;
}

/* The quantiles beside the median; a side without readings enough (noise) has none. */
static tg_status more_quantiles(const tg_alloc *a, const tg_stop *stop,
                                const tg_samples *const side[TG_SIDES], tg_quantities *out) {
  size_t keys = side[0]->n_keys, at = keys, used[TG_SIDES] = {0};
  tg_scratch scratch = {0};
  tg_status status = TG_OK;
  for (int i = 0; i < TG_SIDES; i++) used[i] = side[i] != NULL ? place_of(side[i], keys) : 0;
  for (size_t key = 0; status == TG_OK && key < keys; key++)
    for (size_t q = 0; status == TG_OK && q < QUANTILES; q++) {
      uint32_t few;
      if (!has_quantile(side, key, q, &few)) continue;
      if (tg_stop_at(stop, at, TG_STOP_EVERY)) status = TG_EINTERRUPTED;
      tg_quantity made = quantity_of(out, side, key, quantiles[q].percent);
      for (int i = 0; status == TG_OK && i < TG_SIDES; i++) {
        bool any = false;
        if (side[i] == NULL) continue;
        if (lacking(side[i], key, quantiles[q].least, &any) > 0) made.units[i] = 0;
        made.value[i] = out->pool[i] + used[i];
        if (made.units[i] > 0)
          status = fill(a, &scratch, side[i], key, made.percent, out->pool[i] + used[i]);
        used[i] += made.units[i];
      }
      out->v[at++] = made;
    }
  tg_scratch_free(a, &scratch);
  return status;
}

static tg_status check(const tg_samples *const side[TG_SIDES]) {
  for (int i = 0; i < TG_SIDES; i++)
    if (side[i] != NULL) TG_TRY(tg_samples_check(side[i]));
  return TG_OK;
}

/* The medians of all keys, in arrays with room for so many `more` units. */
static tg_status medians(const tg_alloc *a, const tg_stop *stop,
                         const tg_samples *const side[TG_SIDES], tg_quantities *out,
                         const size_t more[TG_SIDES]) {
  const size_t keys = side[0]->n_keys;
  TG_TRY(room(a, side, out, more));
  for (int i = 0; i < TG_SIDES; i++)
    if (side[i] != NULL) TG_TRY(tg_collapse(a, stop, side[i], out->pool[i]));
  for (size_t key = 0; key < keys; key++) out->v[key] = quantity_of(out, side, key, 50);
  return TG_OK;
}

tg_status tg_medians_make(const tg_alloc *a, const tg_stop *stop,
                          const tg_samples *const side[TG_SIDES], tg_quantities *out) {
  const size_t more[TG_SIDES] = {0};
  memset(out, 0, sizeof *out);
  TG_TRY(check(side));
  out->n = side[0]->n_keys;
  return medians(a, stop, side, out, more);
}

tg_status tg_quantities_make(const tg_alloc *a, const tg_stop *stop,
                             const tg_samples *const side[TG_SIDES], tg_quantities *out) {
  size_t more[TG_SIDES] = {0};
  memset(out, 0, sizeof *out);
  TG_TRY(check(side));
  TG_TRY(plan(a, side, out, more));
  TG_TRY(medians(a, stop, side, out, more));
  return more_quantiles(a, stop, side, out);
}

void tg_quantities_free(const tg_alloc *a, tg_quantities *q) {
  tg_free(a, q->v);
  tg_free(a, q->lacking);
  tg_free(a, q->number);
  for (int i = 0; i < TG_SIDES; i++) tg_free(a, q->pool[i]);
  memset(q, 0, sizeof *q);
}

/* a/b and c/d on the grid gcd(a/b, c/d) = gcd(a*d', c*b') / lcm(b, d). */
tg_status tg_grid_of(const tg_samples *x, const tg_samples *y, size_t key, tg_grid *out) {
  uint64_t b = x->den[key], d = y->den[key], g = tg_gcd(b, d);
  tg_u128 up = (tg_u128)x->num[key] * (d / g), down = (tg_u128)y->num[key] * (b / g);
  tg_u128 both = (tg_u128)(b / g) * d;
  if (up > INT64_MAX || down > INT64_MAX) return TG_EOVERFLOW;
  uint64_t common = tg_gcd((uint64_t)up, (uint64_t)down);
  uint64_t fx = (uint64_t)up / common, fy = (uint64_t)down / common;
  tg_u128 sx = (tg_u128)x->resolution[key] * fx, sy = (tg_u128)y->resolution[key] * fy;
  tg_u128 step = sx > sy ? sx : sy;
  if (step > (tg_u128)TG_STATS_LIMIT) return TG_EOVERFLOW;
  *out = (tg_grid){(int64_t)fx, (int64_t)fy, (uint64_t)step, (double)common / (double)both,
                   sx != sy};
  return TG_OK;
}

tg_status tg_grid_scale(int64_t *to, const int64_t *from, size_t n, int64_t factor) {
  for (size_t i = 0; i < n; i++) {
    tg_i128 v = (tg_i128)from[i] * factor;
    if (v > TG_STATS_LIMIT || v < -TG_STATS_LIMIT) return TG_EOVERFLOW;
    to[i] = (int64_t)v;
  }
  return TG_OK;
}

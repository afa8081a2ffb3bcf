/* onces.c - changes that one release alone shows. SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <string.h>

#include "places.h"

#define DWARFS 20     /* times what neighbours usually differ, */
#define RETURNS 5     /* and times what the two beside it differ: then a release is the odd one */
#define LEVEL 0.05    /* error over all metrics, releases and directions */
#define NEVER SIZE_MAX

/* The odd release of each key. */
typedef struct onces {
  const tg_levels *v;
  size_t *place;  /* [n_keys] among the key's values, NEVER for none */
  double *off;    /* [n_keys] from the middle of its neighbours */
  double *apart;  /* [releases] sorted differences of neighbours of the key at hand */
  double *rest;   /* [releases] those that do not touch a release */
  const tg_step_at *step;
  size_t n; /* steps before */
} onces;

static size_t count_of(const tg_levels *v, size_t key) {
  return (size_t)(v->s->start[key + 1] - v->s->start[key]);
}
static const double *level_of(const tg_levels *v, size_t key) {
  return v->level + (v->s->start[key] - v->s->start[0]);
}
static uint32_t release_of(const tg_levels *v, size_t key, size_t place) {
  return v->s->release[v->s->start[key] + place];
}
static uint32_t group_of(const tg_levels *v, size_t key) {
  return v->o->group != NULL ? v->o->group[key] : 0;
}

/* Whether a difference on the scale of the key exceeds the margins. */
static bool exceeds(const tg_levels *v, size_t key, double middle, double off) {
  const double unit = (double)v->s->num[key] / (double)v->s->den[key];
  const double step = (double)v->s->resolution[key] * unit;
  const double absolute = v->o->margin_abs != NULL ? v->o->margin_abs[key] : 0;
  const double size = v->logs[key] ? fabs(exp(middle + off) - exp(middle)) : fabs(off) * step;
  return (!v->logs[key] || fabs(off) > log1p(v->o->margin)) && size > absolute &&
         size > step * (1 + 1e-9);
}

static double middle_of(const double *sorted, size_t n) {
  return (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
}

/* The usual difference of neighbours of x[0..n) without x[i], those beside it being neighbours. */
static double usual_without(const onces *t, const double *x, size_t n, size_t i) {
  size_t m = 0;
  for (size_t k = 1; k < n; k++)
    if (k != i && k != i + 1) t->rest[m++] = fabs(x[k] - x[k - 1]);
  t->rest[m++] = fabs(x[i + 1] - x[i - 1]);
  tg_sort_f64(t->rest, m);
  return middle_of(t->rest, m);
}

/* Whether the key steps at this place or back from it anyway. */
static bool steps_at(const onces *t, size_t key, size_t place) {
  for (size_t i = 0; i < t->n; i++)
    if (t->step[i].key == key && (t->step[i].from == place || t->step[i].from == place + 1))
      return true;
  return false;
}

/* The release that lies farthest from its neighbours, where it dwarfs what others do. */
static void find_odd(onces *t, size_t key) {
  const size_t n = count_of(t->v, key);
  const double *x = level_of(t->v, key);
  t->place[key] = NEVER;
  if (n < TG_TREND_LEAST) return;
  for (size_t i = 1; i < n; i++) t->apart[i - 1] = fabs(x[i] - x[i - 1]);
  tg_sort_f64(t->apart, n - 1);
  const size_t low = (n - 2) / 2; /* one release less moves the middle by two ranks at most */
  const double least = t->apart[low > 2 ? low - 2 : 0];
  double farthest = 0;
  for (size_t i = 1; i + 1 < n; i++) {
    const double level = (x[i - 1] + x[i + 1]) / 2, off = x[i] - level, size = fabs(off);
    if (size <= farthest || size < RETURNS * fabs(x[i + 1] - x[i - 1]) || size < DWARFS * least ||
        !exceeds(t->v, key, level, off) || steps_at(t, key, i))
      continue;
    if (size < DWARFS * fmax(usual_without(t, x, n, i), t->v->least[key])) continue;
    t->place[key] = i;
    t->off[key] = off;
    farthest = size;
  }
}

/* P of `least` or more of n, each with probability q. */
static double at_least(size_t n, size_t least, double q) {
  double sum = 0;
  for (size_t i = least; i <= n; i++)
    sum += tg_choose(n, i) * pow(q, (double)i) * pow(1 - q, (double)(n - i));
  return sum;
}

/* Metrics that have a key with an odd release. */
static size_t count_groups(const onces *t) {
  size_t groups = 0;
  for (size_t k = 0; k < t->v->s->n_keys; k++) {
    bool first = t->place[k] != NEVER;
    for (size_t i = 0; first && i < k; i++)
      first = t->place[i] == NEVER || group_of(t->v, i) != group_of(t->v, k);
    groups += first;
  }
  return groups;
}

/* The p of a key's odd release: so many keys of its metric share it, of those that have one. */
static double share_of(const onces *t, size_t key, size_t groups) {
  const uint32_t at = release_of(t->v, key, t->place[key]);
  size_t odd = 0, together = 0;
  for (size_t k = 0; k < t->v->s->n_keys; k++) {
    if (t->place[k] == NEVER || group_of(t->v, k) != group_of(t->v, key)) continue;
    odd++;
    together += release_of(t->v, k, t->place[k]) == at && (t->off[k] > 0) == (t->off[key] > 0);
  }
  const double places = (double)count_of(t->v, key) - 2;
  return fmin(1, places * (double)groups * at_least(odd, together, 1 / places));
}

/* Both steps of a key: up and back, or down and back. */
static void put_both(const onces *t, size_t key, double p, tg_step_at *step, size_t *n) {
  const double *x = level_of(t->v, key);
  const size_t at = t->place[key], end = count_of(t->v, key);
  step[(*n)++] = (tg_step_at){key, 0, at, at + 1, x[at - 1], x[at], p, TG_STEP_ONCE};
  step[(*n)++] = (tg_step_at){key, at, at + 1, end, x[at], x[at + 1], p, TG_STEP_ONCE};
}

static tg_status find_all(onces *t, tg_step_at *step, size_t *n) {
  const size_t keys = t->v->s->n_keys;
  for (size_t k = 0; k < keys; k++) find_odd(t, k);
  const size_t groups = count_groups(t);
  for (size_t k = 0; k < keys; k++) {
    if (tg_stop_at(t->v->o->stop, k, keys)) return TG_EINTERRUPTED;
    if (t->place[k] == NEVER) continue;
    const double p = share_of(t, k, groups);
    if (p <= LEVEL) put_both(t, k, p, step, n);
  }
  return TG_OK;
}

tg_status tg_find_onces(const tg_alloc *a, const tg_levels *v, tg_step_at *step, size_t *n) {
  const size_t keys = v->s->n_keys;
  onces t = {v, tg_array(a, keys, sizeof *t.place), tg_array(a, keys, sizeof *t.off),
             tg_array(a, v->releases, sizeof *t.apart), tg_array(a, v->releases, sizeof *t.rest),
             step, *n};
  const bool all = t.place != NULL && t.off != NULL && t.apart != NULL && t.rest != NULL;
  const tg_status status = all ? find_all(&t, step, n) : TG_ENOMEM;
  void *const array[] = {t.place, t.off, t.apart, t.rest};
  for (size_t i = 0; i < sizeof array / sizeof *array; i++) tg_free(a, array[i]);
  return status;
}

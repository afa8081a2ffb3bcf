/* topology.c - which platform a banner names and which cpu a label means.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tickgauge/topology.h"

#include <string.h>

static uint8_t lower(uint8_t c) { return c >= 'A' && c <= 'Z' ? (uint8_t)(c - 'A' + 'a') : c; }

/* True if `name` is `known`, letters of either case being equal. */
static bool same_name(tg_str name, const char *known) {
  if (known == NULL || strlen(known) != name.n) return false;
  for (size_t i = 0; i < name.n; i++) {
    if (lower(name.p[i]) != lower((uint8_t)known[i])) return false;
  }
  return true;
}

const tg_platform *tg_topology_find(const tg_topology *t, tg_str name) {
  for (size_t i = 0; t != NULL && i < t->n; i++) {
    const tg_platform *p = &t->platforms[i];
    if (same_name(name, p->name)) return p;
    for (size_t k = 0; k < p->n_names; k++) {
      if (same_name(name, p->names[k])) return p;
    }
  }
  return NULL;
}

static bool same_place(tg_place a, tg_place b) {
  return a.cluster == b.cluster && a.core == b.core;
}

static bool distinct(const tg_place *labels, size_t n) {
  for (size_t i = 0; i < n; i++) {
    for (size_t k = i + 1; k < n; k++) {
      if (same_place(labels[i], labels[k])) return false;
    }
  }
  return true;
}

static bool begins(const tg_label_map *m, const tg_place *labels, size_t n) {
  if (n > m->n) return false;
  for (size_t i = 0; i < n; i++) {
    if (!same_place(m->printed[i], labels[i])) return false;
  }
  return true;
}

/* True if the map is needed at all: it has a label twice. */
static bool repeats(const tg_label_map *m) { return !distinct(m->printed, m->n); }

/* In how many ways the labels are a selection of the map's in order, counted up to 2; `at` gets
 * the places of the first. Greedy from both ends: equal selections are the only one. */
static size_t selections(const tg_label_map *m, const tg_place *labels, size_t n, size_t *at) {
  size_t from = 0;
  for (size_t i = 0; i < n; i++) {
    while (from < m->n && !same_place(m->printed[from], labels[i])) from++;
    if (from == m->n) return 0;
    at[i] = from++;
  }
  size_t to = m->n;
  for (size_t i = n; i-- > 0;) {
    while (to > 0 && !same_place(m->printed[to - 1], labels[i])) to--;
    if (to == 0 || --to != at[i]) return 2;
  }
  return 1;
}

#define MAX_BLOCK 64 /* labels of a map beyond which it is not used for incomplete blocks */

tg_identity tg_topology_identify(const tg_platform *p, const tg_place *labels, size_t n,
                                 bool linear, bool whole, tg_place *cpus) {
  size_t at[MAX_BLOCK];
  if (linear) {
    bool known = p != NULL && p->n_linear > 0 && distinct(labels, n);
    for (size_t i = 0; known && i < n; i++) known = labels[i].core < p->n_linear;
    if (!known) return TG_IDENTITY_ORDINAL;
    for (size_t i = 0; i < n; i++) cpus[i] = p->linear[labels[i].core];
    return TG_IDENTITY_LINEAR;
  }
  for (size_t m = 0; p != NULL && m < p->n_maps; m++) {
    const tg_label_map *map = &p->maps[m];
    bool fits = n == map->n || whole;
    if (fits && n > 0 && begins(map, labels, n)) {
      for (size_t i = 0; i < n; i++) cpus[i] = map->cpus[i];
      return TG_IDENTITY_MAP;
    }
    if (whole || n == 0 || n >= map->n || map->n > MAX_BLOCK || !repeats(map)) continue;
    size_t ways = selections(map, labels, n, at);
    if (ways == 2) return TG_IDENTITY_ORDINAL; /* a record is lost: which one is not told */
    if (ways == 1) {
      for (size_t i = 0; i < n; i++) cpus[i] = map->cpus[at[i]];
      return TG_IDENTITY_MAP;
    }
  }
  if (!distinct(labels, n)) return TG_IDENTITY_ORDINAL;
  for (size_t i = 0; i < n; i++) cpus[i] = labels[i];
  return TG_IDENTITY_LABEL;
}

/* True if the labels are a selection of the map's in order. */
static bool selects(const tg_label_map *m, const tg_place *labels, size_t n) {
  size_t from = 0;
  for (size_t i = 0; i < n; i++, from++) {
    while (from < m->n && !same_place(m->printed[from], labels[i])) from++;
    if (from >= m->n) return false;
  }
  return true;
}

bool tg_topology_may_follow(const tg_platform *p, const tg_place *labels, size_t n, bool linear,
                            bool gaps) {
  bool again = false;
  for (size_t i = 0; i + 1 < n && !again; i++) again = same_place(labels[i], labels[n - 1]);
  for (size_t m = 0; again && !linear && p != NULL && m < p->n_maps; m++) {
    const tg_label_map *map = &p->maps[m];
    if (gaps ? selects(map, labels, n) : begins(map, labels, n)) return true;
  }
  return !again;
}

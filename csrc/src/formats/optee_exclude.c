/* optee_exclude.c - calls told apart by exclusion, where pairs are not whole or overlap.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "base/mem.h"
#include "base/try.h"
#include "optee_join_state.h"

/* The window in which a stamp between two hops must lie, by the call's own stamps. */
static void window(const tg_call *c, tg_hop after, tg_hop before, uint64_t *from, uint64_t *to) {
  *from = 0;
  *to = UINT64_MAX;
  for (int h = (int)after; h >= 0; h--) {
    if (!tg_call_has(c, (tg_hop)h)) continue;
    *from = c->stamp[h].ticks;
    break;
  }
  for (int h = (int)before; h < TG_HOPS; h++) {
    if (!tg_call_has(c, (tg_hop)h)) continue;
    *to = c->stamp[h].ticks;
    break;
  }
}

/* Where the start (or the finish) of a call's pair must lie. */
static void end_window(const tg_call *c, const tg_ends *e, bool start, uint64_t *from,
                       uint64_t *to) {
  if (start) {
    window(c, (tg_hop)(e->start - 1), TG_HOP_TA_ENTER, from, to);
  } else {
    window(c, TG_HOP_TA_ENTER, (tg_hop)(e->finish + 1), from, to);
  }
}

/* The only stamp that can be the start (or the finish) of a call's pair; see tg_points_only. */
static tg_point *only_end(const tg_call *c, const tg_ends *e, bool start, bool *many) {
  uint64_t from = 0;
  uint64_t to = 0;
  end_window(c, e, start, &from, &to);
  return tg_points_only(start ? e->starts : e->finishes, c->cmd, from, to, many);
}

/* Gives a call the stamp at a point. */
static void take_end(tg_call *c, const tg_ends *e, tg_point *p, bool start) {
  const tg_pair *pair = &e->pairs->at[p->pair];
  p->taken = true;
  tg_call_set(c, start ? e->start : e->finish, start ? &pair->start : &pair->finish);
  e->used[p->pair] |= start ? 1u : 2u;
  if (pair->overlap && tg_pair_whole(pair)) c->flags |= TG_CALL_OVERLAP;
  if (pair->repaired) c->flags |= TG_CALL_REPAIRED;
}

/* True if a client's call still looks for an end of its pair. */
static bool wants(const tg_call *c, const tg_ends *e, bool start) {
  return !c->settled && tg_call_has(c, TG_HOP_CLIENT_RETURN) && tg_call_has(c, TG_HOP_TA_ENTER) &&
         !tg_call_has(c, start ? e->start : e->finish);
}

/* A call that looks for an end, and the points it can choose from. */
typedef struct seeker {
  size_t first, last;
  size_t call;
} seeker;

static bool seeker_before(const seeker *a, const seeker *b) {
  return a->first != b->first ? a->first < b->first : a->call < b->call;
}

#define TG_SORT_NAME sort_seekers
#define TG_SORT_ITEM seeker
#define TG_SORT_BEFORE(a, b) seeker_before(a, b)
#include "base/sort.h"

/* The calls of clients that have a choice of points, ordered by the first of them: with `all` every
 * call by its client's line, else those that look for an end, by all they know. */
static tg_status find_seekers(const tg_join *j, const tg_calls *out, const tg_ends *e, bool start,
                              bool all, const tg_points *points, seeker **at, size_t *cap,
                              size_t *n) {
  *n = 0;
  for (size_t i = j->first_call; i < out->n; i++) {
    const tg_call *c = &out->at[i];
    seeker s = {.call = i};
    uint64_t from = 0;
    uint64_t to = 0;
    if (all && c->client && !c->settled && tg_call_has(c, TG_HOP_TA_ENTER) &&
        tg_call_has(c, TG_HOP_CLIENT_RETURN)) {
      from = c->stamp[start ? TG_HOP_CLIENT_START : TG_HOP_TA_ENTER].ticks;
      to = c->stamp[start ? TG_HOP_TA_ENTER : TG_HOP_CLIENT_RETURN].ticks;
    } else if (!all && wants(c, e, start)) {
      end_window(c, e, start, &from, &to);
    } else {
      continue;
    }
    if (from > to) continue;
    tg_points_range(points, c->cmd, from, to, &s.first, &s.last);
    if (s.first == s.last) continue;
    tg_status status = tg_reserve(j->a, at, cap, *n + 1, sizeof **at);
    if (status != TG_OK) return status;
    (*at)[(*n)++] = s;
  }
  sort_seekers(*at, *n);
  return TG_OK;
}

/* The seekers from `i` on whose choices touch, directly or through others: up to the returned one;
 * `*last` is the end of their points. */
static size_t group_end(const seeker *s, size_t n, size_t i, size_t *last) {
  size_t next = i + 1;
  *last = s[i].last;
  for (; next < n && s[next].first < *last; next++) {
    if (s[next].last > *last) *last = s[next].last;
  }
  return next;
}

/* The points in [first, last) that are not taken. */
static size_t free_points(const tg_points *p, size_t first, size_t last) {
  size_t n = 0;
  for (size_t i = first; i < last; i++) n += !p->at[i].taken;
  return n;
}

#define ROUNDS 64

/* Settles the seekers of one group by exclusion: one that has a single choice takes it if no other
 * of these has the same, and so it goes on. */
static void settle(const seeker *s, size_t n, tg_calls *out, const tg_ends *e, bool start) {
  bool many = false;
  bool any = true;
  for (int round = 0; round < ROUNDS && any; round++) {
    any = false;
    for (size_t i = 0; i < n; i++) {
      tg_call *c = &out->at[s[i].call];
      tg_point *p = wants(c, e, start) ? only_end(c, e, start, &many) : NULL;
      if (p != NULL) p->wanted = 0;
    }
    for (size_t i = 0; i < n; i++) {
      tg_call *c = &out->at[s[i].call];
      tg_point *p = wants(c, e, start) ? only_end(c, e, start, &many) : NULL;
      if (p != NULL) p->wanted++;
    }
    for (size_t i = 0; i < n; i++) {
      tg_call *c = &out->at[s[i].call];
      tg_point *p = wants(c, e, start) ? only_end(c, e, start, &many) : NULL;
      if (p == NULL || p->wanted != 1) continue;
      take_end(c, e, p, start);
      any = true;
    }
  }
}

/* Gives calls the ends that only they can have. Calls whose choices touch form a group; exclusion
 * holds only where a group has as many points as calls, for else lines of it were lost. */
static tg_status complete_side(tg_join *j, tg_calls *out, const tg_ends *e, bool start) {
  tg_points *points = start ? e->starts : e->finishes;
  seeker *s = NULL;
  size_t cap = 0;
  size_t n = 0;
  for (size_t i = 0; i < points->n; i++) {
    points->at[i].taken = (e->used[points->at[i].pair] & (start ? 1u : 2u)) != 0;
  }
  tg_status status = find_seekers(j, out, e, start, false, points, &s, &cap, &n);
  for (size_t i = 0; i < n && status == TG_OK;) {
    size_t last = 0;
    size_t next = group_end(s, n, i, &last);
    if (free_points(points, s[i].first, last) == next - i) settle(s + i, next - i, out, e, start);
    i = next;
  }
  tg_release(j->a, s);
  return status;
}

/* The only point of a seeker that is not taken; NULL for none or several. */
static tg_point *only_choice(const tg_points *p, const seeker *s) {
  tg_point *only = NULL;
  if (s->last - s->first > TG_OPEN_PAIRS) return NULL;
  for (size_t i = s->first; i < s->last; i++) {
    if (p->at[i].taken) continue;
    if (only != NULL) return NULL;
    only = &p->at[i];
  }
  return only;
}

static void doubt_call(tg_call *c) {
  c->state = TG_JOIN_AMBIGUOUS;
  c->flags |= TG_CALL_OVERLAP;
}

/* Clients whose windows share stamps ran at once. Exclusion must give each of them the stamp it
 * has; if there are more or fewer stamps than clients, lines were lost, and any of them may have
 * taken another's. The points are fresh: none is taken. */
static void check_group(const seeker *s, size_t n, tg_points *points, size_t last, tg_calls *out,
                        tg_hop hop) {
  bool balanced = last - s[0].first == n;
  size_t left = n;
  bool any = balanced;
  for (int round = 0; round < ROUNDS && any; round++) {
    any = false;
    for (size_t k = 0; k < n; k++) { /* chains resolve from one of their ends */
      size_t i = round % 2 == 0 ? n - 1 - k : k;
      tg_call *c = &out->at[s[i].call];
      tg_point *p = only_choice(points, &s[i]);
      if (p == NULL) continue;
      p->taken = any = true;
      left--;
      if (!tg_call_has(c, hop) || c->stamp[hop].ticks != p->ticks) doubt_call(c);
    }
  }
  for (size_t i = 0; i < n && left > 0; i++) doubt_call(&out->at[s[i].call]);
}

/* The groups of one side; `s` and its bound belong to the caller. */
static tg_status doubt_side(tg_join *j, tg_calls *out, const tg_ends *e, bool start,
                            tg_points *points, seeker **s, size_t *cap) {
  size_t n = 0;
  TG_TRY(tg_points_make(j->a, e->pairs, start, TG_POINTS_ALL, points));
  TG_TRY(find_seekers(j, out, e, start, true, points, s, cap, &n));
  for (size_t i = 0; i < n;) {
    size_t last = 0;
    const size_t next = group_end(*s, n, i, &last);
    if (next - i > 1)
      check_group(*s + i, next - i, points, last, out, start ? e->start : e->finish);
    i = next;
  }
  return TG_OK;
}

/* Looks at all clients that ran at once, however their calls were joined. */
tg_status tg_doubt_groups(tg_join *j, tg_calls *out, const tg_ends *e) {
  tg_points points = {0};
  seeker *s = NULL;
  size_t cap = 0;
  tg_status status = TG_OK;
  for (int start = 0; start < 2 && status == TG_OK; start++)
    status = doubt_side(j, out, e, start != 0, &points, &s, &cap);
  tg_release(j->a, s);
  tg_release(j->a, points.at);
  return status;
}

/* Completes the calls of clients from single stamps. A call that was ambiguous and gets both ends
 * so is told apart after all; one that is left with candidates is ambiguous. */
tg_status tg_complete_clients(tg_join *j, tg_calls *out, const tg_ends *e) {
  if (e->starts->n + e->finishes->n == 0) return TG_OK;
  TG_TRY(complete_side(j, out, e, true));
  TG_TRY(complete_side(j, out, e, false));
  bool core = e->start == TG_HOP_TEE_RECEIVE;
  for (size_t i = j->first_call; i < out->n; i++) {
    tg_call *c = &out->at[i];
    bool left = false;
    for (int start = 0; start < 2; start++) {
      bool many = false;
      if (wants(c, e, start != 0)) left = left || only_end(c, e, start != 0, &many) != NULL || many;
    }
    bool driver = tg_call_has(c, TG_HOP_DRIVER_START) && tg_call_has(c, TG_HOP_DRIVER_FINISH);
    if (left) {
      c->state = TG_JOIN_AMBIGUOUS;
      c->flags |= TG_CALL_OVERLAP;
    } else if (tg_call_has(c, e->start) && tg_call_has(c, e->finish) && (!core || driver)) {
      c->state = TG_JOIN_CLAIMED;
    }
  }
  return TG_OK;
}

/* optee_windows.c - stamps that only one client's window can hold.
 *
 * A client's line tells start, entry of the TA and return. Its driver's `do` and the core's
 * `receiving` lie before the entry, both `finish` behind it. A window that no other client's
 * overlaps owns all stamps of its command in it, whatever else of the log was lost.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "base/mem.h"
#include "base/try.h"
#include "optee_join_state.h"

/* So many stamps of one printer are looked at in a window; more are not of one call. */
#define MOST_STAMPS 1024
/* Where one window in so many holds another call too, clients that print no lines ran at once. */
#define STRANGERS_OF 50
#define ROUNDS 16
#define LONGEST 16 /* times its way to the TA: a call whose return is not known is over by then */

/* The ends of a call that its window may hold. */
enum { E_DO, E_RECEIVE, E_CORE_FINISH, E_FINISH, ENDS };

/* The content of one window: the first candidate of each end, and whether there is anything else. */
typedef struct window {
  tg_smc *end[ENDS];
  size_t driver, core; /* where its stamps begin */
  uint8_t count[ENDS]; /* candidates, at most 2 */
  uint8_t mine;        /* bit e: end e is its own, whoever else runs */
  bool many;  /* more than one candidate of an end */
  bool wrong; /* an end on the wrong side of the entry: another call's */
} window;

/* The windows of one boot. */
typedef struct windows {
  const tg_boot_lines *lines;
  window *at;          /* one a client */
  bool *alone;         /* no other window overlaps it */
} windows;

static bool usable(const tg_client *c) {
  return c->have_finish && c->have_enter && c->start <= c->enter && c->enter <= c->finish;
}

/* Puts the stamps of one printer from `from` on into the window of client `self`, but for those that
 * are another's. */
static void look(const tg_client *c, size_t self, tg_smc *lines, size_t n, size_t from, int opening,
                 int closing, window *w) {
  for (size_t i = from; i < n && lines[i].at.ticks <= c->finish; i++) {
    tg_smc *s = &lines[i];
    if (i - from >= MOST_STAMPS) {
      w->many = true;
      return;
    }
    if (s->bad || s->cmd != c->cmd || (s->owner != 0 && s->owner != self + 1)) continue;
    const bool before = s->at.ticks <= c->enter;
    const int end = s->opens ? opening : closing;
    if (s->opens != before) {
      w->wrong = true;
    } else if (w->end[end] != NULL && s->owner == 0) {
      w->count[end] = 2;
      w->many = true;
    } else {
      w->end[end] = s;
      w->count[end] = 1;
    }
  }
}

/* Fills the window of client `i` anew. */
static void fill(const tg_boot_lines *l, size_t i, window *w) {
  const tg_client *c = &l->clients[i];
  *w = (window){.driver = w->driver, .core = w->core, .mine = w->mine};
  look(c, i, l->driver, l->n_driver, w->driver, E_DO, E_FINISH, w);
  look(c, i, l->core, l->n_core, w->core, E_RECEIVE, E_CORE_FINISH, w);
}

/* True if the ends that are there are in the order of a call. */
static bool in_order(const window *w) {
  const tg_smc *before = NULL;
  for (int e = 0; e < ENDS; e++) {
    if (w->end[e] == NULL) continue;
    if (before != NULL && before->at.ticks > w->end[e]->at.ticks) return false;
    before = w->end[e];
  }
  return true;
}

/* Marks the windows that no other one overlaps. Clients are in the order of their starts. */
static void find_alone(windows *w) {
  const tg_client *c = w->lines->clients;
  const size_t n = w->lines->n_clients;
  uint64_t reach = 0;
  bool any = false;
  for (size_t i = 0; i < n; i++) {
    if (!usable(&c[i])) continue;
    size_t next = i + 1;
    while (next < n && !usable(&c[next])) next++;
    w->alone[i] = (!any || reach < c[i].start) && (next == n || c[next].start > c[i].finish);
    if (!any || c[i].finish > reach) reach = c[i].finish;
    any = true;
  }
}

/* The last instant that the window of a client may hold, also where its line is damaged. */
static uint64_t reach_of(const tg_client *c) {
  if (c->have_finish) return c->finish;
  const uint64_t one_way = c->enter > c->start ? c->enter - c->start : 1;
  const uint64_t longest = one_way < UINT64_MAX / LONGEST ? one_way * LONGEST : UINT64_MAX;
  return c->start < UINT64_MAX - longest ? c->start + longest : UINT64_MAX;
}

/* True if the window of client `k` can hold the stamp as its end `e`. */
static bool can_hold(const windows *w, size_t k, const tg_smc *s, int e) {
  const tg_client *c = &w->lines->clients[k];
  if (c->cmd != s->cmd || c->settled || (w->at[k].mine >> e & 1u) != 0) return false;
  if (!usable(c)) return c->start <= s->at.ticks && s->at.ticks <= reach_of(c);
  const uint64_t from = s->opens ? c->start : c->enter;
  const uint64_t to = s->opens ? c->enter : c->finish;
  return from <= s->at.ticks && s->at.ticks <= to;
}

/* True if another client's window can hold the stamp as the same end. */
static bool shared(const windows *w, size_t self, const tg_smc *s, int e) {
  const tg_boot_lines *l = w->lines;
  size_t looked = 0;
  for (size_t k = self + 1; k < l->n_clients && l->clients[k].start <= s->at.ticks; k++)
    if (++looked > TG_OPEN_PAIRS || can_hold(w, k, s, e)) return true;
  looked = 0;
  for (size_t k = self; k > 0 && looked < TG_OPEN_PAIRS; k--, looked++)
    if (can_hold(w, k - 1, s, e)) return true;
  return false;
}

/* Gives a settled window its stamps. */
static void own_ends(window *w, size_t client) {
  for (int e = 0; e < ENDS; e++)
    if (w->end[e] != NULL) w->end[e]->owner = (uint32_t)(client + 1);
}

/* Settles the windows that stand alone, where no strangers call. */
static void settle_alone(const windows *w) {
  for (size_t i = 0; i < w->lines->n_clients; i++) {
    tg_client *c = &w->lines->clients[i];
    window *own = &w->at[i];
    if (!usable(c) || !w->alone[i] || own->many || own->wrong || !in_order(own)) continue;
    c->settled = true;
    own_ends(own, i);
  }
}

/* Gives a window the ends that are its only candidates and no other window's. True if it got one. */
static bool take_own(const windows *w, size_t i) {
  window *own = &w->at[i];
  bool any = false;
  for (int e = 0; e < ENDS; e++) {
    if ((own->mine >> e & 1u) != 0 || own->count[e] != 1 || shared(w, i, own->end[e], e)) continue;
    own->mine |= (uint8_t)(1u << e);
    own->end[e]->owner = (uint32_t)(i + 1);
    any = true;
  }
  return any;
}

/* Settles a window of which all ends are its own; another one gives its ends back. */
static void settle_whole(const windows *w, size_t i) {
  window *own = &w->at[i];
  tg_client *c = &w->lines->clients[i];
  fill(w->lines, i, own);
  c->settled = own->mine == (1u << ENDS) - 1 && in_order(own);
  for (int e = 0; e < ENDS && !c->settled; e++)
    if ((own->mine >> e & 1u) != 0 && own->end[e] != NULL) own->end[e]->owner = 0;
}

/* Settles windows that overlap: an end that only one window can hold is its own, which leaves
 * other windows with fewer candidates, round by round. */
static tg_status settle_shared(const tg_join *j, const windows *w) {
  bool any = true;
  for (int round = 0; round < ROUNDS && any; round++) {
    any = false;
    for (size_t i = 0; i < w->lines->n_clients; i++) {
      const tg_client *c = &w->lines->clients[i];
      if (tg_stop_at(j->stop, i, 1)) return TG_EINTERRUPTED;
      if (c->settled || !usable(c)) continue;
      if (round > 0) fill(w->lines, i, &w->at[i]);
      any = take_own(w, i) || any;
    }
  }
  for (size_t i = 0; i < w->lines->n_clients; i++)
    if (!w->lines->clients[i].settled && usable(&w->lines->clients[i])) settle_whole(w, i);
  return TG_OK;
}

static tg_status look_at_all(tg_join *j, windows *w) {
  const tg_boot_lines *l = w->lines;
  size_t driver = 0;
  size_t core = 0;
  size_t usual = 0;
  size_t busy = 0;
  find_alone(w);
  for (size_t i = 0; i < l->n_clients; i++) {
    tg_client *c = &l->clients[i];
    window *own = &w->at[i];
    if (tg_stop_at(j->stop, i, 1)) return TG_EINTERRUPTED;
    c->settled = false;
    if (!usable(c)) continue;
    while (driver < l->n_driver && l->driver[driver].at.ticks < c->start) driver++;
    while (core < l->n_core && l->core[core].at.ticks < c->start) core++;
    own->driver = driver;
    own->core = core;
    fill(l, i, own);
    usual++;
    busy += !w->alone[i] || own->many || own->wrong;
  }
  j->strangers = busy * STRANGERS_OF > usual;
  if (!j->strangers) settle_alone(w);
  return settle_shared(j, w);
}

tg_status tg_windows_first(tg_join *j) {
  const size_t n = j->lines->n_clients;
  windows w = {.lines = j->lines};
  for (size_t i = 0; i < j->lines->n_driver; i++) j->lines->driver[i].owner = 0;
  for (size_t i = 0; i < j->lines->n_core; i++) j->lines->core[i].owner = 0;
  if (n == 0) return TG_OK;
  w.at = tg_zalloc(j->a, n, sizeof *w.at);
  w.alone = tg_zalloc(j->a, n, sizeof *w.alone);
  tg_status status = w.at == NULL || w.alone == NULL ? TG_ENOMEM : look_at_all(j, &w);
  tg_release(j->a, w.at);
  tg_release(j->a, w.alone);
  return status;
}

/* optee_windows.c - stamps that only one client's window can hold.
 *
 * A client's line tells start, entry of the TA and return. Its driver's `do` and the core's
 * `receiving` lie before the entry, both `finish` behind it. A window that no other client's
 * overlaps owns all stamps of its command in it, whatever else of the log was lost.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "base/mem.h"
#include "base/try.h"
#include "optee_cheapest.h"
#include "optee_join_state.h"

/* So many stamps of one printer are looked at in a window; more are not of one call. */
#define MOST_STAMPS 1024
/* Where one window in so many holds another call too, clients that print no lines ran at once. */
#define STRANGERS_OF 50
#define SILENT_OF 8 /* calls beyond the clients' lines, as a part of these */
#define CLIENT_COMMANDS 2 /* open and invoke are the commands of which clients print lines */

/* The ends of a call that its window may hold. */
enum { E_DO, E_RECEIVE, E_CORE_FINISH, E_FINISH, ENDS };

/* The content of one window: the first candidate of each end, and whether there is anything
 * else. */
typedef struct window {
  tg_smc *end[ENDS];
  size_t driver, core; /* where its stamps begin */
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

/* Puts the stamps of one printer from `from` on into the window of client `self`, but for those
 * that are another's. */
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
      w->many = true;
    } else {
      w->end[end] = s;
    }
  }
}

/* Fills the window of client `i` anew. */
static void fill(const tg_boot_lines *l, size_t i, window *w) {
  const tg_client *c = &l->clients[i];
  *w = (window){.driver = w->driver, .core = w->core};
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

/* Windows that overlap, and all stamps that are still free: of one command. */
typedef struct crowd {
  tg_instant *at;
  size_t n, cap;
  tg_window *windows;
  uint32_t *clients; /* of each window */
  size_t n_windows, windows_cap, clients_cap;
} crowd;

static bool instant_before(const tg_instant *a, const tg_instant *b) {
  if (a->ticks != b->ticks) return a->ticks < b->ticks;
  return a->step != b->step ? a->step < b->step : a->id < b->id;
}

#define TG_SORT_NAME sort_instants
#define TG_SORT_ITEM tg_instant
#define TG_SORT_BEFORE(a, b) instant_before(a, b)
#include "base/sort.h"

static tg_status add_instant(const tg_join *j, crowd *c, tg_instant one) {
  TG_TRY(tg_reserve(j->a, &c->at, &c->cap, c->n + 1, sizeof *c->at));
  c->at[c->n++] = one;
  return TG_OK;
}

static tg_status add_windows(const tg_join *j, uint64_t cmd, crowd *c) {
  for (size_t i = 0; i < j->lines->n_clients; i++) {
    const tg_client *client = &j->lines->clients[i];
    const uint32_t number = (uint32_t)c->n_windows;
    if (tg_stop_at(j->stop, i, 1)) return TG_EINTERRUPTED;
    if (client->cmd != cmd || client->settled || !usable(client)) continue;
    TG_TRY(tg_reserve(j->a, &c->windows, &c->windows_cap, c->n_windows + 1, sizeof *c->windows));
    TG_TRY(tg_reserve(j->a, &c->clients, &c->clients_cap, c->n_windows + 1, sizeof *c->clients));
    c->windows[number].told = false;
    for (int s = 0; s < TG_STEPS; s++) c->windows[number].event[s] = TG_NO_STAMP;
    c->clients[c->n_windows++] = (uint32_t)i;
    TG_TRY(add_instant(j, c, (tg_instant){client->start, number, number, TG_STEP_START}));
    TG_TRY(add_instant(j, c, (tg_instant){client->enter, number, number, TG_STEP_ENTER}));
    TG_TRY(add_instant(j, c, (tg_instant){client->finish, number, number, TG_STEP_RETURN}));
  }
  return TG_OK;
}

static tg_status add_stamps(const tg_join *j, const tg_smc *lines, size_t n, uint64_t cmd,
                            tg_step opening, tg_step closing, crowd *c) {
  for (size_t i = 0; i < n; i++) {
    const tg_smc *s = &lines[i];
    if (tg_stop_at(j->stop, i, 1)) return TG_EINTERRUPTED;
    if (s->bad || s->cmd != cmd || s->owner != 0) continue;
    const uint8_t step = (uint8_t)(s->opens ? opening : closing);
    TG_TRY(add_instant(j, c, (tg_instant){s->at.ticks, TG_NO_STAMP, (uint32_t)i, step}));
  }
  return TG_OK;
}

/* How many clients call at once: the most windows that are open together, and one more where
 * clients that print no lines made a good part of the calls. */
static size_t most_at_once(const crowd *c) {
  size_t open = 0;
  size_t most = 0;
  size_t calls = 0;
  for (size_t i = 0; i < c->n; i++) {
    if (c->at[i].window == TG_NO_STAMP) {
      calls += open > 0 && c->at[i].step == TG_STEP_DO;
      continue;
    }
    open += c->at[i].step == TG_STEP_START;
    open -= c->at[i].step == TG_STEP_RETURN;
    if (open > most) most = open;
  }
  return calls > c->n_windows + c->n_windows / SILENT_OF ? most + 1 : most;
}

/* True if a stamp that is not the window's own lies between its first and last one. */
static bool told_from_others(const crowd *c, const tg_window *w) {
  uint32_t first = TG_NO_STAMP;
  uint32_t last = 0;
  size_t own = 0;
  size_t all = 0;
  for (int s = TG_STEP_DO; s < TG_STEP_RETURN; s++) {
    if (s == TG_STEP_ENTER || w->event[s] == TG_NO_STAMP) continue;
    if (first == TG_NO_STAMP) first = w->event[s];
    last = w->event[s];
    own++;
  }
  for (size_t i = first; i <= last && own > 0; i++) all += c->at[i].window == TG_NO_STAMP;
  return all > own;
}

/* Settles the windows of which all stamps are told. */
static void own_told(const tg_join *j, const crowd *c) {
  for (size_t k = 0; k < c->n_windows; k++) {
    const tg_window *w = &c->windows[k];
    if (!w->told) continue;
    j->lines->clients[c->clients[k]].settled = true;
    if (told_from_others(c, w)) j->lines->clients[c->clients[k]].flags |= TG_CALL_OVERLAP;
    for (int s = TG_STEP_DO; s < TG_STEP_RETURN; s++) {
      if (s == TG_STEP_ENTER || w->event[s] == TG_NO_STAMP) continue;
      const bool driver = s == TG_STEP_DO || s == TG_STEP_FINISH;
      tg_smc *lines = driver ? j->lines->driver : j->lines->core;
      lines[c->at[w->event[s]].id].owner = c->clients[k] + 1;
    }
  }
}

static tg_status share_out(const tg_join *j, uint64_t cmd, crowd *c) {
  const tg_boot_lines *l = j->lines;
  TG_TRY(add_windows(j, cmd, c));
  if (c->n_windows == 0) return TG_OK;
  TG_TRY(add_stamps(j, l->driver, l->n_driver, cmd, TG_STEP_DO, TG_STEP_FINISH, c));
  TG_TRY(add_stamps(j, l->core, l->n_core, cmd, TG_STEP_RECEIVE, TG_STEP_CORE_FINISH, c));
  sort_instants(c->at, c->n);
  for (size_t i = 0; i < c->n; i++)
    if (c->at[i].window != TG_NO_STAMP)
      c->windows[c->at[i].window].event[c->at[i].step] = (uint32_t)i;
  TG_TRY(tg_cheapest(j->a, j->stop, c->at, c->n, most_at_once(c), c->windows));
  own_told(j, c);
  return TG_OK;
}

/* Settles windows that overlap, by the ways in which all stamps can be shared out among them. */
static tg_status settle_shared(const tg_join *j) {
  tg_status status = TG_OK;
  for (uint64_t cmd = 0; cmd < CLIENT_COMMANDS && status == TG_OK; cmd++) {
    crowd c = {0};
    status = share_out(j, cmd, &c);
    tg_release(j->a, c.at);
    tg_release(j->a, c.windows);
    tg_release(j->a, c.clients);
  }
  return status;
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
  return settle_shared(j);
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

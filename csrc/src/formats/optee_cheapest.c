/* optee_cheapest.c - how stamps may be shared out among clients whose windows overlap.
 *
 * A walk through the instants in order. A state says how far each open window has come, and how far
 * calls have come that no window belongs to. A stamp moves one of them on; a step that was jumped
 * over is a lost line and costs one. The least cost of all ways through each move comes from one
 * pass forward and one back, so it is exact: a stamp is a window's own if every other use of it, in
 * whatever context, needs at least MARGIN lost lines more than the best way through all of them.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "optee_cheapest.h"

#include <string.h>

#include "base/mem.h"
#include "base/try.h"

#define MARGIN 3
#define STRANGER 4 /* the cost of one call more at once than there are clients */
#define PRUNED 24  /* states that cost so much more than the best of their instant lead nowhere */

enum {
  SLOTS = 6,         /* windows open at once */
  SLOT_BITS = 3,     /* 0: free, else 1 + the step it has come to */
  OTHER_BITS = 2,    /* calls without a window: how many have come to a step */
  OTHER_MOST = 3,
  OTHERS = SLOTS * SLOT_BITS,
  KINDS = 3,         /* do, receive, the core's finish; the driver's finish ends a call */
  MOST_STATES = 1024,
  PLACES = 4096,     /* of the table of states; a power of two */
  MOST_MOVES = SLOTS + 3 * KINDS + 2,
  CHUNK = 4096,      /* instants decided in one go */
  LEAD = 512         /* instants looked at before and behind them */
};

static const uint8_t kinds[KINDS] = {TG_STEP_DO, TG_STEP_RECEIVE, TG_STEP_CORE_FINISH};

typedef struct state {
  uint32_t code;
  uint16_t ahead, back; /* the least cost up to here, and from here on */
} state;

/* A move from one state to the next; `by` is the slot that takes the stamp, SLOTS for a call
 * without a window. */
typedef struct move {
  uint32_t code;
  uint8_t cost, by;
} move;

typedef struct walk {
  const tg_alloc *a;
  const tg_stop *stop;
  const tg_instant *events; /* of this chunk */
  size_t n, at_once;
  size_t from; /* events from this one on are decided, those before it are context */
  tg_window *windows;
  uint8_t *slot;  /* of each event of a client: its window's, SLOTS for one that is not followed */
  state *states;  /* those of instant i are [layer[i], layer[i + 1]) */
  size_t *layer, cap;
  uint16_t place[PLACES]; /* 1 + number within its layer */
} walk;

/* --- states ---------------------------------------------------------------------------------- */

/* Lines that are lost where a call that came to `from` goes on with `to`; from = -1: before all. */
static uint8_t lost(int from, int to) {
  static const uint8_t before[TG_STEPS] = {0, 0, 1, 2, 2, 3, 4}; /* printers' steps before one */
  return (uint8_t)(before[to] - before[from + 1]);
}

static int slot_step(uint32_t code, unsigned slot) {
  return (int)(code >> slot * SLOT_BITS & 7u) - 1;
}

static uint32_t with_slot(uint32_t code, unsigned slot, int step) {
  const unsigned at = slot * SLOT_BITS;
  return (code & ~(7u << at)) | (uint32_t)(step + 1) << at;
}

static unsigned others(uint32_t code, unsigned kind) {
  return code >> (OTHERS + kind * OTHER_BITS) & 3u;
}

static uint32_t add_other(uint32_t code, unsigned kind) {
  return code + (1u << (OTHERS + kind * OTHER_BITS));
}

static uint32_t less_other(uint32_t code, unsigned kind) {
  return code - (1u << (OTHERS + kind * OTHER_BITS));
}

/* The cost of as many open calls as the state has, and `more`. */
static uint8_t crowd(const walk *w, uint32_t code, unsigned more) {
  size_t open = more;
  for (unsigned s = 0; s < SLOTS; s++) open += slot_step(code, s) >= 0;
  for (unsigned k = 0; k < KINDS; k++) open += others(code, k);
  return open > w->at_once ? (uint8_t)((open - w->at_once) * STRANGER) : 0;
}

/* A call without a window, come to a step, beside those of `code`; the driver's finish ends it. */
static bool put_other(uint32_t *code, int step) {
  for (unsigned k = 0; k < KINDS; k++) {
    if (kinds[k] != step) continue;
    if (others(*code, k) == OTHER_MOST) return false;
    *code = add_other(*code, k);
  }
  return true;
}

/* --- moves ----------------------------------------------------------------------------------- */

/* A window opens; a call without a window may have ended before. */
static size_t open_window(const walk *w, uint32_t code, unsigned slot, move *out) {
  size_t n = 0;
  const uint32_t opened = with_slot(code, slot, TG_STEP_START);
  out[n++] = (move){opened, crowd(w, opened, 0), SLOTS};
  for (unsigned k = 0; k < KINDS; k++) {
    if (others(code, k) == 0) continue;
    const uint32_t next = less_other(opened, k);
    out[n++] = (move){next, (uint8_t)(lost(kinds[k], TG_STEP_RETURN) + crowd(w, next, 0)), SLOTS};
  }
  return n;
}

/* A stamp that belongs to a call without a window: one that is open, or a new one, which may
 * take the place of an old one. The client's line of a new one is lost, too. */
static size_t use_by_others(const walk *w, uint32_t code, int step, move *out) {
  size_t n = 0;
  const uint8_t fresh = (uint8_t)(1 + lost(-1, step));
  uint32_t next = code;
  if (put_other(&next, step)) out[n++] = (move){next, (uint8_t)(fresh + crowd(w, code, 1)), SLOTS};
  for (unsigned k = 0; k < KINDS; k++) {
    if (others(code, k) == 0) continue;
    const uint32_t without = less_other(code, k);
    next = without;
    if (kinds[k] < step && put_other(&next, step))
      out[n++] = (move){next, lost(kinds[k], step), SLOTS};
    next = without;
    if (!put_other(&next, step)) continue;
    const int ended = lost(kinds[k], TG_STEP_RETURN);
    out[n++] = (move){next, (uint8_t)(ended + fresh + crowd(w, without, 1)), SLOTS};
  }
  return n;
}

/* All moves from a state at an instant. */
static size_t moves(const walk *w, size_t i, uint32_t code, move *out) {
  const int step = w->events[i].step;
  const unsigned slot = w->slot[i];
  const bool of_client = w->events[i].window != TG_NO_STAMP;
  if (of_client && slot == SLOTS) {
    out[0] = (move){code, 0, SLOTS};
    return 1;
  }
  if (step == TG_STEP_START) return open_window(w, code, slot, out);
  if (of_client) {
    const uint8_t cost = lost(slot_step(code, slot), step);
    out[0] = (move){with_slot(code, slot, step == TG_STEP_RETURN ? -1 : step), cost, SLOTS};
    return 1;
  }
  size_t n = 0;
  for (unsigned s = 0; s < SLOTS; s++) {
    const int from = slot_step(code, s);
    if (from < 0 || from >= step || (from < TG_STEP_ENTER) != (step < TG_STEP_ENTER)) continue;
    out[n++] = (move){with_slot(code, s, step), lost(from, step), (uint8_t)s};
  }
  return n + use_by_others(w, code, step, out + n);
}

/* --- the passes ------------------------------------------------------------------------------ */

/* The place of a state in the table: its own or the free one where it belongs. */
static uint16_t *place_of(walk *w, size_t layer, uint32_t code) {
  size_t at = (code * 2654435761u) >> 20 & (PLACES - 1);
  while (w->place[at] != 0 && w->states[layer + w->place[at] - 1u].code != code)
    at = (at + 1) & (PLACES - 1);
  return &w->place[at];
}

/* Makes the states behind instant `i`. `*fits` is false where there are too many. */
static tg_status advance(walk *w, size_t i, bool *fits) {
  const size_t from = w->layer[i], to = w->layer[i + 1];
  size_t n = 0;
  uint16_t least = UINT16_MAX;
  TG_TRY(tg_reserve(w->a, &w->states, &w->cap, to + MOST_STATES + MOST_MOVES, sizeof *w->states));
  memset(w->place, 0, sizeof w->place);
  for (size_t s = from; s < to && n <= MOST_STATES; s++) {
    move m[MOST_MOVES];
    const size_t count = moves(w, i, w->states[s].code, m);
    for (size_t k = 0; k < count && n <= MOST_STATES; k++) {
      const uint16_t cost = (uint16_t)(w->states[s].ahead + m[k].cost);
      uint16_t *place = place_of(w, to, m[k].code);
      if (*place == 0) {
        w->states[to + n] = (state){m[k].code, cost, UINT16_MAX};
        *place = (uint16_t)++n;
      }
      state *next = &w->states[to + *place - 1u];
      if (cost < next->ahead) next->ahead = cost;
      if (cost < least) least = cost;
    }
  }
  *fits = n <= MOST_STATES && least < UINT16_MAX / 2;
  w->layer[i + 2] = to;
  for (size_t s = to; s < to + n; s++)
    if (w->states[s].ahead <= least + PRUNED) w->states[w->layer[i + 2]++] = w->states[s];
  return TG_OK;
}

/* The least cost of all ways through the use of one stamp, by who uses it. */
static void retreat(walk *w, size_t i, uint16_t by[SLOTS + 1]) {
  const size_t from = w->layer[i], to = w->layer[i + 1], end = w->layer[i + 2];
  memset(w->place, 0, sizeof w->place);
  for (size_t s = to; s < end; s++) *place_of(w, to, w->states[s].code) = (uint16_t)(s - to + 1);
  for (unsigned s = 0; s <= SLOTS; s++) by[s] = UINT16_MAX;
  for (size_t s = from; s < to; s++) {
    move m[MOST_MOVES];
    state *here = &w->states[s];
    const size_t count = moves(w, i, here->code, m);
    for (size_t k = 0; k < count; k++) {
      const uint16_t place = *place_of(w, to, m[k].code);
      if (place == 0 || w->states[to + place - 1u].back == UINT16_MAX) continue;
      const uint16_t rest = (uint16_t)(m[k].cost + w->states[to + place - 1u].back);
      const uint16_t whole = (uint16_t)(here->ahead + rest);
      if (rest < here->back) here->back = rest;
      if (whole < by[m[k].by]) by[m[k].by] = whole;
    }
  }
}

/* True if the window begins in the part of the chunk that is decided; the rest is its context. */
static bool decided_here(const walk *w, const tg_window *own) {
  return own->event[TG_STEP_START] >= w->from && own->event[TG_STEP_START] - w->from < CHUNK;
}

/* Gives the stamp at instant `i` to the window that alone may use it, or marks all that may. */
static void decide(walk *w, size_t i, const uint16_t by[SLOTS + 1], uint16_t least,
                   const uint32_t open[SLOTS], uint32_t first) {
  size_t users = 0;
  for (unsigned s = 0; s <= SLOTS; s++) users += by[s] < least + MARGIN;
  for (unsigned s = 0; s < SLOTS; s++) {
    if (by[s] >= least + MARGIN) continue;
    tg_window *own = &w->windows[open[s]];
    if (!decided_here(w, own)) continue;
    if (users == 1) {
      own->event[w->events[i].step] = first + (uint32_t)i;
    } else {
      own->told = false;
    }
  }
}

/* Both passes over one chunk; `first` is the number of its first event. */
static tg_status pass(walk *w, uint32_t first) {
  uint32_t open[SLOTS] = {0};
  bool fits = true;
  uint16_t least = UINT16_MAX;
  TG_TRY(tg_reserve(w->a, &w->states, &w->cap, 1, sizeof *w->states));
  w->states[0] = (state){0, 0, UINT16_MAX};
  w->layer[0] = 0;
  w->layer[1] = 1;
  for (size_t i = 0; i < w->n && fits; i++) {
    if (tg_stop_at(w->stop, i, 64)) return TG_EINTERRUPTED;
    TG_TRY(advance(w, i, &fits));
  }
  if (!fits) return TG_OK;
  for (size_t s = w->layer[w->n]; s < w->layer[w->n + 1]; s++) {
    w->states[s].back = 0;
    if (w->states[s].ahead < least) least = w->states[s].ahead;
  }
  for (size_t i = w->n; i-- > 0;) {
    const tg_instant *e = &w->events[i];
    uint16_t by[SLOTS + 1];
    if (tg_stop_at(w->stop, i, 64)) return TG_EINTERRUPTED;
    retreat(w, i, by);
    if (e->window == TG_NO_STAMP) {
      decide(w, i, by, least, open, first);
    } else if (w->slot[i] < SLOTS && e->step == TG_STEP_RETURN) {
      open[w->slot[i]] = e->window;
      w->windows[e->window].told |= decided_here(w, &w->windows[e->window]);
    }
  }
  return TG_OK;
}

/* Gives the windows that lie wholly in the chunk their slots. */
static void give_slots(walk *w, uint32_t first) {
  uint32_t holder[SLOTS];
  for (unsigned s = 0; s < SLOTS; s++) holder[s] = TG_NO_STAMP;
  for (size_t i = 0; i < w->n; i++) {
    const uint32_t window = w->events[i].window;
    unsigned s = 0;
    w->slot[i] = SLOTS;
    if (window == TG_NO_STAMP) continue;
    const tg_window *own = &w->windows[window];
    if (own->event[TG_STEP_START] < first || own->event[TG_STEP_RETURN] >= first + w->n) continue;
    const uint32_t looked_for = w->events[i].step == TG_STEP_START ? TG_NO_STAMP : window;
    while (s < SLOTS && holder[s] != looked_for) s++;
    w->slot[i] = (uint8_t)s;
    if (s < SLOTS) holder[s] = w->events[i].step == TG_STEP_RETURN ? TG_NO_STAMP : window;
  }
}

static tg_status all_chunks(walk *w, const tg_instant *events, size_t n) {
  for (size_t from = 0; from < n; from += CHUNK) {
    const size_t first = from > LEAD ? from - LEAD : 0;
    const size_t last = n - from > CHUNK + LEAD ? from + CHUNK + LEAD : n;
    w->events = events + first;
    w->n = last - first;
    w->from = from;
    give_slots(w, (uint32_t)first);
    TG_TRY(pass(w, (uint32_t)first));
  }
  return TG_OK;
}

tg_status tg_cheapest(const tg_alloc *a, const tg_stop *stop, const tg_instant *events, size_t n,
                      size_t at_once, tg_window *windows) {
  if (n == 0 || n >= TG_NO_STAMP - CHUNK) return TG_OK;
  tg_status status = TG_ENOMEM;
  walk *w = tg_zalloc(a, 1, sizeof *w);
  if (w == NULL) return TG_ENOMEM;
  w->a = a;
  w->stop = stop;
  w->at_once = at_once;
  w->windows = windows;
  w->slot = tg_take(a, CHUNK + 2 * LEAD, sizeof *w->slot);
  w->layer = tg_take(a, CHUNK + 2 * LEAD + 2, sizeof *w->layer);
  if (w->slot != NULL && w->layer != NULL) status = all_chunks(w, events, n);
  tg_release(a, w->states);
  tg_release(a, w->layer);
  tg_release(a, w->slot);
  tg_release(a, w);
  return status;
}

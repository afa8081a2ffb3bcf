/* optee_judge.c - calls that no client's line confirms, where a log has lost lines.
 *
 * Two lost lines can make one pair of two calls: the start of the first and the finish of the
 * second. A client's window forbids that. Without one, a pair is believed only if it looks like the
 * others of its command: with the core's pair in it, and no interval far beyond the usual.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/mem.h"
#include "base/try.h"
#include "optee_join_state.h"

enum {
  COMMANDS = 8,    /* that have a name */
  LOSS_OF = 200,   /* one half pair in so many pairs tells that lines were lost */
  FEWEST = 5,      /* calls that say nothing of the usual */
  FAR = 3,         /* times the usual is too far where the two worlds confirm each other */
  FAR_ALONE = 2    /* and where only one of them speaks */
};

/* The intervals that are compared. */
typedef enum part { INTO_TEE, IN_TEE, OUT_OF_TEE, IN_DRIVER, PARTS } part;
static const tg_hop ends_of[PARTS][2] = {
    [INTO_TEE] = {TG_HOP_DRIVER_START, TG_HOP_TEE_RECEIVE},
    [IN_TEE] = {TG_HOP_TEE_RECEIVE, TG_HOP_TEE_FINISH},
    [OUT_OF_TEE] = {TG_HOP_TEE_FINISH, TG_HOP_DRIVER_FINISH},
    [IN_DRIVER] = {TG_HOP_DRIVER_START, TG_HOP_DRIVER_FINISH},
};

#define TG_SORT_NAME sort_lengths
#define TG_SORT_ITEM uint64_t
#define TG_SORT_BEFORE(a, b) (*(a) < *(b))
#include "base/sort.h"

static bool length_of(const tg_call *c, part p, uint64_t *length) {
  const tg_hop from = ends_of[p][0], to = ends_of[p][1];
  if (!tg_call_has(c, from) || !tg_call_has(c, to)) return false;
  *length = c->stamp[to].ticks - c->stamp[from].ticks;
  return c->stamp[to].ticks >= c->stamp[from].ticks;
}

/* Halves and wholes of the pairs. */
static void count_halves(const tg_pairs *p, size_t *half, size_t *whole) {
  for (size_t i = 0; i < p->n; i++) {
    if (p->at[i].cmd >= COMMANDS) continue;
    if (tg_pair_whole(&p->at[i])) {
      ++*whole;
    } else {
      ++*half;
    }
  }
}

/* The median of an interval over the calls of a command; false where too few have it. */
static bool usual(const tg_join *j, const tg_calls *calls, uint64_t cmd, part p, uint64_t *work,
                  uint64_t *median) {
  size_t n = 0;
  for (size_t i = j->first_call; i < calls->n; i++) {
    const tg_call *c = &calls->at[i];
    if (c->cmd == cmd && c->state != TG_JOIN_AMBIGUOUS && length_of(c, p, &work[n])) n++;
  }
  if (n < FEWEST) return false;
  sort_lengths(work, n);
  *median = work[n / 2];
  return true;
}

static bool far(uint64_t length, uint64_t median, uint64_t times) {
  return length / times > median;
}

static bool whole(const tg_call *c, part p) {
  return tg_call_has(c, ends_of[p][0]) && tg_call_has(c, ends_of[p][1]);
}

/* How many calls of a command have both ends of an interval. */
static size_t count_whole(const tg_join *j, const tg_calls *calls, uint64_t cmd, part p) {
  size_t n = 0;
  for (size_t i = j->first_call; i < calls->n; i++)
    n += calls->at[i].cmd == cmd && whole(&calls->at[i], p);
  return n;
}

/* Judges the calls of a command that have no client's line. */
static void judge_command(const tg_join *j, tg_calls *calls, uint64_t cmd, uint64_t *work) {
  uint64_t median[PARTS] = {0};
  bool known[PARTS];
  for (int p = 0; p < PARTS; p++) known[p] = usual(j, calls, cmd, (part)p, work, &median[p]);
  const size_t in_tee = count_whole(j, calls, cmd, IN_TEE);
  const size_t in_driver = count_whole(j, calls, cmd, IN_DRIVER);
  for (size_t i = j->first_call; i < calls->n; i++) {
    tg_call *c = &calls->at[i];
    if (c->client || c->cmd != cmd || c->state != TG_JOIN_UNCLAIMED) continue;
    const bool both = whole(c, IN_TEE) && whole(c, IN_DRIVER);
    bool doubt = false; /* also where the other console should show the call and does not */
    if (whole(c, IN_DRIVER) && !whole(c, IN_TEE)) doubt = in_tee > 0 && 2 * in_tee >= in_driver;
    if (whole(c, IN_TEE) && !whole(c, IN_DRIVER) && !known[IN_TEE])
      doubt = in_driver > 0 && 2 * in_driver >= in_tee;
    for (int p = 0; p < PARTS; p++) {
      uint64_t length = 0;
      if (!known[p] || !length_of(c, (part)p, &length)) continue;
      doubt = doubt || far(length, median[p], both ? FAR : FAR_ALONE);
    }
    if (!doubt) continue;
    c->state = TG_JOIN_AMBIGUOUS;
    c->flags |= TG_CALL_OVERLAP;
  }
}

/* Calls of clients at once that exclusion told apart, or pairs: both need all lines. */
static void doubt_mixed(const tg_join *j, tg_calls *calls) {
  for (size_t i = j->first_call; i < calls->n; i++) {
    tg_call *c = &calls->at[i];
    if (!c->client || c->settled || c->state != TG_JOIN_CLAIMED) continue;
    if (j->strangers || (c->flags & TG_CALL_OVERLAP)) c->state = TG_JOIN_AMBIGUOUS;
  }
}

tg_status tg_judge_strangers(const tg_join *j, tg_calls *calls) {
  size_t half = 0;
  size_t full = 0;
  count_halves(&j->driver, &half, &full);
  count_halves(&j->core, &half, &full);
  const size_t n = calls->n - j->first_call;
  if (half * LOSS_OF <= full || n == 0) return TG_OK;
  uint64_t *work = tg_take(j->a, n + 1, sizeof *work);
  if (work == NULL) return TG_ENOMEM;
  for (uint64_t cmd = 0; cmd < COMMANDS; cmd++) judge_command(j, calls, cmd, work);
  doubt_mixed(j, calls);
  tg_release(j->a, work);
  return TG_OK;
}

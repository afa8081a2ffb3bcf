/* optee_join.c - client lines, driver pairs and core pairs of one boot become calls.
 *
 * Lines of the two worlds come in any order, so only containment in time counts: the core's pair
 * lies inside the driver's, the driver's inside its client's start and return. Lines that fit
 * in one way only are joined; everything else is said to be ambiguous and gives no interval.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "base/mem.h"
#include "base/try.h"
#include "optee_join.h"
#include "optee_join_state.h"

/* The clients as intervals, in which their driver pairs must lie. */
static tg_status client_spans(tg_join *j) {
  const tg_boot_lines *l = j->lines;
  tg_status status =
      tg_reserve(j->a, &j->clients.at, &j->clients.cap, l->n_clients, sizeof *j->clients.at);
  if (status != TG_OK) return status;
  for (size_t i = 0; i < l->n_clients; i++) {
    const tg_client *c = &l->clients[i];
    tg_pair *p = &j->clients.at[i];
    memset(p, 0, sizeof *p);
    p->start.ticks = c->start;
    p->finish.ticks = c->finish;
    p->cmd = c->cmd;
    p->pin = c->enter;
    p->have_start = true;
    p->have_finish = c->have_finish;
    p->owner = c->settled ? (uint32_t)(i + 1) : 0;
    p->have_pin = c->have_enter && c->start <= c->enter && c->enter <= c->finish;
    p->inner = p->outer = TG_UNCLAIMED;
  }
  j->clients.n = l->n_clients;
  return TG_OK;
}

static tg_status zeros(const tg_alloc *a, uint8_t **p, size_t n) {
  *p = tg_zalloc(a, n + 1, 1);
  return *p != NULL ? TG_OK : TG_ENOMEM;
}

static tg_status prepare(tg_join *j) {
  TG_TRY(tg_windows_first(j));
  TG_TRY(client_spans(j));
  TG_TRY(tg_pairs_make(j->a, j->stop, j->lines->driver, j->lines->n_driver, &j->driver));
  TG_TRY(tg_pairs_make(j->a, j->stop, j->lines->core, j->lines->n_core, &j->core));
  TG_TRY(zeros(j->a, &j->driver_used, j->driver.n));
  TG_TRY(zeros(j->a, &j->core_used, j->core.n));
  TG_TRY(tg_points_make(j->a, &j->driver, true, TG_POINTS_DOUBTFUL, &j->starts));
  TG_TRY(tg_points_make(j->a, &j->driver, false, TG_POINTS_DOUBTFUL, &j->finishes));
  TG_TRY(tg_points_make(j->a, &j->core, true, TG_POINTS_DOUBTFUL, &j->receives));
  return tg_points_make(j->a, &j->core, false, TG_POINTS_DOUBTFUL, &j->core_finishes);
}

/* --- the constant shift ---------------------------------------------------------------------- */

static size_t count_places(const tg_pairs *p, size_t *whole) {
  size_t n = 0;
  *whole = 0;
  for (size_t i = 0; i < p->n; i++) {
    if (tg_pair_whole(&p->at[i])) ++*whole;
    if (p->at[i].places > 0 || (p->at[i].owner != 0 && tg_pair_whole(&p->at[i]))) n++;
  }
  return n;
}

/* The instants at which TAs were entered, as pairs of no length. */
static tg_status enter_points(tg_join *j, tg_pairs *out) {
  for (size_t i = 0; i < j->clients.n; i++) {
    const tg_client *c = &j->lines->clients[i];
    tg_status status = tg_reserve(j->a, &out->at, &out->cap, out->n + 1, sizeof *out->at);
    if (status != TG_OK) return status;
    tg_pair *p = &out->at[out->n++];
    memset(p, 0, sizeof *p);
    p->start.ticks = p->finish.ticks = c->enter;
    p->cmd = c->cmd;
    p->have_start = p->have_finish = true;
  }
  return TG_OK;
}

/* Looks for a shift where (nearly) nothing of the secure world nests in the normal world. */
static tg_status find_shift(tg_join *j, tg_shift *shift) {
  tg_pairs enters = {0};
  size_t n_core = 0;
  size_t n_driver = 0;
  size_t inside = 0;
  shift->found = false;
  size_t nested = count_places(&j->core, &n_core);
  (void)count_places(&j->driver, &n_driver);
  if (n_core > 0 && n_driver > 0) {
    size_t most = n_core < n_driver ? n_core : n_driver;
    if (nested * 10 >= most) return TG_OK;
    return tg_pairs_shift(j->a, &j->driver, &j->core, &shift->found, &shift->lowest,
                          &shift->highest);
  }
  for (size_t i = 0; i < j->clients.n; i++) inside += j->clients.at[i].have_pin;
  if (j->clients.n == 0 || inside * 10 >= j->clients.n) return TG_OK;
  tg_status status = enter_points(j, &enters);
  if (status == TG_OK)
    status =
        tg_pairs_shift(j->a, &j->clients, &enters, &shift->found, &shift->lowest, &shift->highest);
  tg_release(j->a, enters.at);
  return status;
}

/* --- one call -------------------------------------------------------------------------------- */

static tg_status add_call(tg_calls *out, const tg_alloc *a, uint64_t cmd, tg_call **call) {
  tg_status status = tg_reserve(a, &out->at, &out->cap, out->n + 1, sizeof *out->at);
  if (status != TG_OK) return status;
  *call = &out->at[out->n++];
  memset(*call, 0, sizeof **call);
  (*call)->cmd = cmd;
  (*call)->run = TG_NONE;
  return TG_OK;
}

/* Takes the stamps of a pair into a call. */
static void take(tg_call *c, const tg_pair *p, uint8_t *used, tg_hop start, tg_hop finish) {
  if (p->have_start) tg_call_set(c, start, &p->start);
  if (p->have_finish) tg_call_set(c, finish, &p->finish);
  if (p->repaired) c->flags |= TG_CALL_REPAIRED;
  *used |= 3u;
}

/* The core pair of a driver pair, if it is the only one both ways; NULL otherwise. Where two SMCs
 * of one command are open at once their finishes may be mixed up, but then one pair comes to lie
 * in the other and its core pair in both: a place of its own shows that nothing was mixed up. */
static const tg_pair *only_core(const tg_join *j, const tg_pair *d) {
  if (d->holds != 1) return NULL;
  const tg_pair *core = &j->core.at[d->inner];
  return core->places == 1 ? core : NULL;
}

/* True if the two ends of a driver pair belong together beyond doubt. */
static bool driver_sure(const tg_join *j, const tg_pair *d) {
  return !d->overlap || only_core(j, d) != NULL;
}

/* Adds the driver pair `d` and its core pair to a call. */
static void take_driver(tg_join *j, tg_call *c, uint32_t d) {
  const tg_pair *pair = &j->driver.at[d];
  take(c, pair, &j->driver_used[d], TG_HOP_DRIVER_START, TG_HOP_DRIVER_FINISH);
  const tg_pair *core = only_core(j, pair);
  if (core != NULL) {
    take(c, core, &j->core_used[pair->inner], TG_HOP_TEE_RECEIVE, TG_HOP_TEE_FINISH);
  }
  if (pair->suspect || (core == NULL && (pair->holds > 0 || pair->overlap))) {
    c->state = TG_JOIN_AMBIGUOUS;
    c->flags |= TG_CALL_OVERLAP;
  }
}

/* Gives the calls of settled clients the stamps of their windows. */
static void take_owned(const tg_join *j, const tg_pairs *pairs, uint8_t *used, tg_hop start,
                       tg_hop finish, tg_calls *out) {
  for (size_t i = 0; i < pairs->n; i++) {
    const tg_pair *p = &pairs->at[i];
    if (p->owner != 0) take(&out->at[j->first_call + p->owner - 1], p, &used[i], start, finish);
  }
}

/* The call of a client's line, with the pairs that are whole and its own beyond doubt. */
static tg_status client_call(tg_join *j, size_t i, tg_calls *out) {
  const tg_client *c = &j->lines->clients[i];
  const tg_pair *span = &j->clients.at[i];
  tg_stamp s = {.line = c->line, .offset = c->offset, .source = c->source, .boot = c->boot};
  tg_call *call = NULL;
  tg_status status = add_call(out, j->a, c->cmd, &call);
  if (status != TG_OK) return status;
  call->client = true;
  call->run = c->run;
  call->flags = c->flags;
  s.ticks = c->start;
  tg_call_set(call, TG_HOP_CLIENT_START, &s);
  s.ticks = c->enter;
  if (c->have_enter) tg_call_set(call, TG_HOP_TA_ENTER, &s);
  s.ticks = c->finish;
  if (c->have_finish) tg_call_set(call, TG_HOP_CLIENT_RETURN, &s);
  call->settled = c->settled;
  if (c->settled) return TG_OK;
  if (span->holds == 1) {
    const tg_pair *d = &j->driver.at[span->inner];
    if (d->places == 1 && driver_sure(j, d)) {
      take_driver(j, call, span->inner);
    } else {
      call->state = TG_JOIN_AMBIGUOUS;
      call->flags |= TG_CALL_OVERLAP;
    }
  } else if (span->holds > 1) {
    call->state = TG_JOIN_AMBIGUOUS;
    call->flags |= TG_CALL_OVERLAP;
  }
  return TG_OK;
}

/* A client without a driver pair, in whose interval a pair starts that fits nowhere: its line may
 * have the start of one call and the finish of another. Nobody can tell, so both are marked. */
static tg_status doubt_lone_pairs(tg_join *j, tg_calls *out) {
  tg_points lone = {0};
  tg_status status = tg_points_make(j->a, &j->driver, true, TG_POINTS_LONE, &lone);
  for (size_t i = j->first_call; i < out->n && status == TG_OK && lone.n > 0; i++) {
    tg_call *c = &out->at[i];
    if (c->settled || tg_call_has(c, TG_HOP_DRIVER_START) || !tg_call_has(c, TG_HOP_TA_ENTER))
      continue;
    if (tg_points_suspect(&lone, c->cmd, c->stamp[TG_HOP_CLIENT_START].ticks,
                          c->stamp[TG_HOP_TA_ENTER].ticks, &j->driver)) {
      c->state = TG_JOIN_AMBIGUOUS;
      c->flags |= TG_CALL_OVERLAP;
    }
  }
  tg_release(j->a, lone.at);
  return status;
}

/* The core pairs that lie in no driver pair; `inner` of a copy is the index of the original. */
static tg_status free_core(const tg_join *j, tg_pairs *out) {
  for (size_t i = 0; i < j->core.n; i++) {
    if (j->core.at[i].places > 0 || j->core_used[i] != 0 || j->core.at[i].owner != 0) continue;
    tg_status status = tg_reserve(j->a, &out->at, &out->cap, out->n + 1, sizeof *out->at);
    if (status != TG_OK) return status;
    out->at[out->n] = j->core.at[i];
    out->at[out->n++].inner = (uint32_t)i;
  }
  return TG_OK;
}

/* True if a core pair contradicts no stamp that the call has. */
static bool fits(const tg_call *c, const tg_pair *core) {
  return (!tg_call_has(c, TG_HOP_DRIVER_START) ||
          c->stamp[TG_HOP_DRIVER_START].ticks <= core->start.ticks) &&
         (!tg_call_has(c, TG_HOP_DRIVER_FINISH) ||
          core->finish.ticks <= c->stamp[TG_HOP_DRIVER_FINISH].ticks);
}

/* Core pairs that lie in a client's interval although in no driver pair. */
static tg_status claim_core_directly(tg_join *j, tg_calls *out) {
  tg_pairs rest = {0};
  for (size_t i = 0; i < j->clients.n; i++) {
    j->clients.at[i].holds = 0;
    j->clients.at[i].inner = TG_UNCLAIMED;
  }
  tg_status status = free_core(j, &rest);
  if (status == TG_OK) status = tg_pairs_nest(j->a, j->stop, &j->clients, &rest);
  for (size_t i = 0; i < j->clients.n && status == TG_OK; i++) {
    tg_call *c = &out->at[j->first_call + i];
    const tg_pair *span = &j->clients.at[i];
    if (c->settled || (c->have & (1u << TG_HOP_TEE_RECEIVE | 1u << TG_HOP_TEE_FINISH))) continue;
    if (span->holds != 1) continue;
    const tg_pair *core = &rest.at[span->inner];
    if (core->places == 1 && !core->overlap && fits(c, core)) {
      take(c, core, &j->core_used[core->inner], TG_HOP_TEE_RECEIVE, TG_HOP_TEE_FINISH);
    }
  }
  tg_release(j->a, rest.at);
  return status;
}

/* Calls of pairs that no client claims. */
static tg_status rest_of_driver(tg_join *j, tg_calls *out) {
  for (size_t i = 0; i < j->driver.n; i++) {
    const tg_pair *p = &j->driver.at[i];
    tg_call *c = NULL;
    if (tg_stop_at(j->stop, i, 1)) return TG_EINTERRUPTED;
    if (j->driver_used[i] != 0) {
      if (j->driver_used[i] == 3u || (p->have_start + p->have_finish) < 2) continue;
    }
    tg_status status = add_call(out, j->a, p->cmd, &c);
    if (status != TG_OK) return status;
    uint8_t used = j->driver_used[i];
    c->state = TG_JOIN_UNCLAIMED;
    if (p->places > 1 || p->busy) {
      c->state = TG_JOIN_AMBIGUOUS;
      c->flags |= TG_CALL_OVERLAP;
    }
    if (used == 0) {
      take_driver(j, c, (uint32_t)i);
    } else if (used == 1u) {
      tg_call_set(c, TG_HOP_DRIVER_FINISH, &p->finish);
    } else {
      tg_call_set(c, TG_HOP_DRIVER_START, &p->start);
    }
    j->driver_used[i] = 3u;
  }
  return TG_OK;
}

static tg_status rest_of_core(tg_join *j, tg_calls *out) {
  for (size_t i = 0; i < j->core.n; i++) {
    const tg_pair *p = &j->core.at[i];
    tg_call *c = NULL;
    if (tg_stop_at(j->stop, i, 1)) return TG_EINTERRUPTED;
    uint8_t used = j->core_used[i];
    if (used == 3u || (used != 0 && !tg_pair_whole(p))) continue;
    tg_status status = add_call(out, j->a, p->cmd, &c);
    if (status != TG_OK) return status;
    bool doubt = p->places > 1 || p->overlap || p->busy;
    c->state = doubt ? TG_JOIN_AMBIGUOUS : TG_JOIN_UNCLAIMED;
    if (doubt) c->flags |= TG_CALL_OVERLAP;
    if (p->repaired) c->flags |= TG_CALL_REPAIRED;
    if (p->have_start && !(used & 1u)) tg_call_set(c, TG_HOP_TEE_RECEIVE, &p->start);
    if (p->have_finish && !(used & 2u)) tg_call_set(c, TG_HOP_TEE_FINISH, &p->finish);
    j->core_used[i] = 3u;
  }
  return TG_OK;
}

/* Sets flags and state of a finished call. */
static void judge(tg_call *c) {
  const uint8_t driver = 1u << TG_HOP_DRIVER_START | 1u << TG_HOP_DRIVER_FINISH;
  const uint8_t core = 1u << TG_HOP_TEE_RECEIVE | 1u << TG_HOP_TEE_FINISH;
  uint8_t d = c->have & driver;
  uint8_t k = c->have & core;
  if ((d != 0 && d != driver) || (k != 0 && k != core)) c->flags |= TG_CALL_HALF;
  if (c->client && c->state == TG_JOIN_CLAIMED && d == 0 && k == 0) c->state = TG_JOIN_UNPAIRED;
}

/* --- order ----------------------------------------------------------------------------------- */

static uint64_t first_tick(const tg_call *c) {
  for (int h = 0; h < TG_HOPS; h++) {
    if (tg_call_has(c, (tg_hop)h)) return c->stamp[h].ticks;
  }
  return 0;
}

/* Room to order the calls of a boot. */
typedef struct order {
  tg_smc *line;
  tg_call *copy;
  uint32_t *place;
} order;

/* Puts the boot's calls into the order of their first stamps, the system calls' links with them. */
static void order_by_stamp(tg_join *j, tg_calls *out, const order *o, size_t n) {
  for (size_t i = 0; i < n; i++)
    o->line[i] = (tg_smc){.at = {.ticks = first_tick(&out->at[j->first_call + i])}, .cmd = i};
  tg_smc_sort(o->line, n);
  if (n > 0) memcpy(o->copy, out->at + j->first_call, n * sizeof *o->copy);
  for (size_t i = 0; i < n; i++) {
    out->at[j->first_call + i] = o->copy[o->line[i].cmd];
    o->place[o->line[i].cmd] = (uint32_t)(j->first_call + i);
  }
  for (size_t i = 0; i < j->lines->n_syscalls; i++) {
    tg_syscall *s = &j->lines->syscalls[i];
    if (s->call != TG_NONE) s->call = o->place[s->call - j->first_call];
  }
}

/* True where the boot's calls are in the order of their first stamps. */
static bool are_ordered(const tg_join *j, const tg_calls *out) {
  for (size_t i = j->first_call + 1; i < out->n; i++)
    if (first_tick(&out->at[i]) < first_tick(&out->at[i - 1])) return false;
  return true;
}

static tg_status order_calls(tg_join *j, tg_calls *out) {
  const size_t n = out->n - j->first_call;
  if (are_ordered(j, out)) return TG_OK;
  const order o = {tg_take(j->a, n + 1, sizeof *o.line), tg_take(j->a, n + 1, sizeof *o.copy),
                   tg_take(j->a, n + 1, sizeof *o.place)};
  tg_status status = TG_ENOMEM;
  if (o.line != NULL && o.copy != NULL && o.place != NULL) {
    order_by_stamp(j, out, &o, n);
    status = TG_OK;
  }
  tg_release(j->a, o.line);
  tg_release(j->a, o.copy);
  tg_release(j->a, o.place);
  return status;
}

/* Completes the calls of clients from single stamps, lone pairs and by exclusion. */
static tg_status complete(tg_join *j, tg_calls *out) {
  const tg_ends driver = {&j->starts,     &j->finishes,        &j->driver,
                          j->driver_used, TG_HOP_DRIVER_START, TG_HOP_DRIVER_FINISH};
  const tg_ends core = {&j->receives, &j->core_finishes,  &j->core,
                        j->core_used, TG_HOP_TEE_RECEIVE, TG_HOP_TEE_FINISH};
  TG_TRY(tg_complete_clients(j, out, &driver));
  TG_TRY(doubt_lone_pairs(j, out));
  TG_TRY(claim_core_directly(j, out));
  TG_TRY(tg_complete_clients(j, out, &core));
  TG_TRY(tg_doubt_groups(j, out, &driver));
  return tg_doubt_groups(j, out, &core);
}

static tg_status join_boot(tg_join *j, tg_calls *out, tg_shift *shift) {
  TG_TRY(prepare(j));
  TG_TRY(tg_pairs_nest(j->a, j->stop, &j->driver, &j->core));
  TG_TRY(find_shift(j, shift));
  if (shift->found) { /* a TA's stamp says nothing of the normal world's time */
    for (size_t i = 0; i < j->clients.n; i++) j->clients.at[i].have_pin = false;
  }
  TG_TRY(tg_pairs_nest(j->a, j->stop, &j->clients, &j->driver));
  TG_TRY(tg_reserve(j->a, &out->at, &out->cap, out->n + j->clients.n, sizeof *out->at));
  for (size_t i = 0; i < j->clients.n; i++) {
    if (tg_stop_at(j->stop, i, 1)) return TG_EINTERRUPTED;
    TG_TRY(client_call(j, i, out));
  }
  take_owned(j, &j->driver, j->driver_used, TG_HOP_DRIVER_START, TG_HOP_DRIVER_FINISH, out);
  take_owned(j, &j->core, j->core_used, TG_HOP_TEE_RECEIVE, TG_HOP_TEE_FINISH, out);
  if (!shift->found) TG_TRY(complete(j, out));
  TG_TRY(rest_of_driver(j, out));
  TG_TRY(rest_of_core(j, out));
  if (!shift->found) TG_TRY(tg_judge_strangers(j, out));
  for (size_t i = j->first_call; i < out->n; i++) {
    judge(&out->at[i]);
    if (shift->found) out->at[i].state = TG_JOIN_OFFSET;
  }
  TG_TRY(tg_syscalls_join(j, out));
  return order_calls(j, out);
}

tg_status tg_calls_join(const tg_alloc *a, const tg_stop *stop, const tg_boot_lines *lines,
                        tg_calls *out, tg_shift *shift) {
  tg_join j = {.a = a, .stop = stop, .lines = lines, .first_call = out->n};
  tg_status status = join_boot(&j, out, shift);
  tg_release(a, j.clients.at);
  tg_release(a, j.driver.at);
  tg_release(a, j.core.at);
  tg_release(a, j.starts.at);
  tg_release(a, j.finishes.at);
  tg_release(a, j.receives.at);
  tg_release(a, j.core_finishes.at);
  tg_release(a, j.driver_used);
  tg_release(a, j.core_used);
  return status;
}

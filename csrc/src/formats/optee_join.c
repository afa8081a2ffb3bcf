/* optee_join.c - client lines, driver pairs and core pairs of one boot become calls.
 *
 * Lines of the two worlds come in any order, so only containment in time counts: the core's pair
 * lies inside the driver's, the driver's inside its client's start and return. What fits in one
 * way only is joined; everything else is said to be ambiguous and gives no interval.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "optee_join_state.h"

/* The clients as intervals: what their driver pairs must lie in. */
static tg_status client_spans(tg_join *j) {
  const tg_boot_lines *l = j->lines;
  tg_status st =
      tg_grow(j->a, (void **)&j->clients.at, &j->clients.cap, l->n_clients, sizeof *j->clients.at);
  if (st != TG_OK) return st;
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
    p->have_pin = c->have_enter && c->start <= c->enter && c->enter <= c->finish;
    p->inner = p->outer = TG_UNCLAIMED;
  }
  j->clients.n = l->n_clients;
  return TG_OK;
}

static tg_status zeros(const tg_alloc *a, uint8_t **p, size_t *cap, size_t n) {
  tg_status st = tg_grow(a, (void **)p, cap, n + 1, 1);
  if (st == TG_OK) memset(*p, 0, n + 1);
  return st;
}

static tg_status prepare(tg_join *j) {
  tg_status st = client_spans(j);
  if (st == TG_OK)
    st = tg_pairs_make(j->a, j->stop, j->lines->driver, j->lines->n_driver, &j->driver);
  if (st == TG_OK) st = tg_pairs_make(j->a, j->stop, j->lines->core, j->lines->n_core, &j->core);
  if (st == TG_OK) st = zeros(j->a, &j->driver_used, &j->driver_cap, j->driver.n);
  if (st == TG_OK) st = zeros(j->a, &j->core_used, &j->core_cap, j->core.n);
  if (st == TG_OK) st = tg_points_make(j->a, &j->driver, true, TG_POINTS_DOUBTFUL, &j->starts);
  if (st == TG_OK) st = tg_points_make(j->a, &j->driver, false, TG_POINTS_DOUBTFUL, &j->finishes);
  if (st == TG_OK) st = tg_points_make(j->a, &j->core, true, TG_POINTS_DOUBTFUL, &j->receives);
  if (st == TG_OK)
    st = tg_points_make(j->a, &j->core, false, TG_POINTS_DOUBTFUL, &j->core_finishes);
  return st;
}

/* --- the constant shift ---------------------------------------------------------------------- */

static size_t count_places(const tg_pairs *p, size_t *whole) {
  size_t n = 0;
  *whole = 0;
  for (size_t i = 0; i < p->n; i++) {
    if (tg_pair_whole(&p->at[i])) ++*whole;
    if (p->at[i].places > 0) n++;
  }
  return n;
}

/* The instants at which TAs were entered, as pairs of no length. */
static tg_status enter_points(tg_join *j, tg_pairs *out) {
  for (size_t i = 0; i < j->clients.n; i++) {
    const tg_client *c = &j->lines->clients[i];
    tg_status st = tg_grow(j->a, (void **)&out->at, &out->cap, out->n + 1, sizeof *out->at);
    if (st != TG_OK) return st;
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
  tg_status st = TG_OK;
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
  st = enter_points(j, &enters);
  if (st == TG_OK) {
    st = tg_pairs_shift(j->a, &j->clients, &enters, &shift->found, &shift->lowest, &shift->highest);
  }
  j->a->release(j->a->ctx, enters.at);
  return st;
}

/* --- one call -------------------------------------------------------------------------------- */

static tg_status add_call(tg_calls *out, const tg_alloc *a, uint64_t cmd, tg_call **call) {
  tg_status st = tg_grow(a, (void **)&out->at, &out->cap, out->n + 1, sizeof *out->at);
  if (st != TG_OK) return st;
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

/* The call of a client's line, with the pairs that are whole and its own beyond doubt. */
static tg_status client_call(tg_join *j, size_t i, tg_calls *out) {
  const tg_client *c = &j->lines->clients[i];
  const tg_pair *span = &j->clients.at[i];
  tg_stamp s = {.line = c->line, .offset = c->offset, .source = c->source, .boot = c->boot};
  tg_call *call = NULL;
  tg_status st = add_call(out, j->a, c->cmd, &call);
  if (st != TG_OK) return st;
  call->client = true;
  call->run = c->run;
  call->flags = c->flags;
  s.ticks = c->start;
  tg_call_set(call, TG_HOP_CLIENT_START, &s);
  s.ticks = c->enter;
  if (c->have_enter) tg_call_set(call, TG_HOP_TA_ENTER, &s);
  s.ticks = c->finish;
  if (c->have_finish) tg_call_set(call, TG_HOP_CLIENT_RETURN, &s);
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
  tg_status st = tg_points_make(j->a, &j->driver, true, TG_POINTS_LONE, &lone);
  for (size_t i = j->first_call; i < out->n && st == TG_OK && lone.n > 0; i++) {
    tg_call *c = &out->at[i];
    if (tg_call_has(c, TG_HOP_DRIVER_START) || !tg_call_has(c, TG_HOP_TA_ENTER)) continue;
    if (tg_points_suspect(&lone, c->cmd, c->stamp[TG_HOP_CLIENT_START].ticks,
                          c->stamp[TG_HOP_TA_ENTER].ticks, &j->driver)) {
      c->state = TG_JOIN_AMBIGUOUS;
      c->flags |= TG_CALL_OVERLAP;
    }
  }
  j->a->release(j->a->ctx, lone.at);
  return st;
}

/* The core pairs that lie in no driver pair; `inner` of a copy is the index of the original. */
static tg_status free_core(const tg_join *j, tg_pairs *out) {
  for (size_t i = 0; i < j->core.n; i++) {
    if (j->core.at[i].places > 0 || j->core_used[i] != 0) continue;
    tg_status st = tg_grow(j->a, (void **)&out->at, &out->cap, out->n + 1, sizeof *out->at);
    if (st != TG_OK) return st;
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
  tg_status st = free_core(j, &rest);
  if (st == TG_OK) st = tg_pairs_nest(j->a, j->stop, &j->clients, &rest);
  for (size_t i = 0; i < j->clients.n && st == TG_OK; i++) {
    tg_call *c = &out->at[j->first_call + i];
    const tg_pair *span = &j->clients.at[i];
    if (c->have & (1u << TG_HOP_TEE_RECEIVE | 1u << TG_HOP_TEE_FINISH)) continue;
    if (span->holds != 1) continue;
    const tg_pair *core = &rest.at[span->inner];
    if (core->places == 1 && !core->overlap && fits(c, core)) {
      take(c, core, &j->core_used[core->inner], TG_HOP_TEE_RECEIVE, TG_HOP_TEE_FINISH);
    }
  }
  j->a->release(j->a->ctx, rest.at);
  return st;
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
    tg_status st = add_call(out, j->a, p->cmd, &c);
    if (st != TG_OK) return st;
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
    tg_status st = add_call(out, j->a, p->cmd, &c);
    if (st != TG_OK) return st;
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

/* Sets what a finished call says of itself. */
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

/* Puts the boot's calls into the order of their first stamps, the system calls' links with them. */
static tg_status order_calls(tg_join *j, tg_calls *out) {
  tg_smc *order = NULL;
  tg_call *copy = NULL;
  uint32_t *place = NULL;
  size_t caps[3] = {0, 0, 0};
  size_t n = out->n - j->first_call;
  tg_status st = tg_grow(j->a, (void **)&order, &caps[0], n + 1, sizeof *order);
  if (st == TG_OK) st = tg_grow(j->a, (void **)&copy, &caps[1], n + 1, sizeof *copy);
  if (st == TG_OK) st = tg_grow(j->a, (void **)&place, &caps[2], n + 1, sizeof *place);
  if (st != TG_OK) goto fail;
  for (size_t i = 0; i < n; i++) {
    order[i] = (tg_smc){.at = {.ticks = first_tick(&out->at[j->first_call + i])}, .cmd = i};
  }
  st = tg_smc_sort(j->a, order, n);
  if (st != TG_OK) goto fail;
  if (n > 0) memcpy(copy, out->at + j->first_call, n * sizeof *copy);
  for (size_t i = 0; i < n; i++) {
    out->at[j->first_call + i] = copy[order[i].cmd];
    place[order[i].cmd] = (uint32_t)(j->first_call + i);
  }
  for (size_t i = 0; i < j->lines->n_syscalls; i++) {
    tg_syscall *s = &j->lines->syscalls[i];
    if (s->call != TG_NONE) s->call = place[s->call - j->first_call];
  }
fail:
  j->a->release(j->a->ctx, order);
  j->a->release(j->a->ctx, copy);
  j->a->release(j->a->ctx, place);
  return st;
}

static tg_status join_boot(tg_join *j, tg_calls *out, tg_shift *shift) {
  tg_status st = prepare(j);
  if (st == TG_OK) st = tg_pairs_nest(j->a, j->stop, &j->driver, &j->core);
  if (st == TG_OK) st = find_shift(j, shift);
  if (st == TG_OK && shift->found) { /* a TA's stamp says nothing of the normal world's time */
    for (size_t i = 0; i < j->clients.n; i++) j->clients.at[i].have_pin = false;
  }
  if (st == TG_OK) st = tg_pairs_nest(j->a, j->stop, &j->clients, &j->driver);
  for (size_t i = 0; i < j->clients.n && st == TG_OK; i++)
    st = tg_stop_at(j->stop, i, 1) ? TG_EINTERRUPTED : client_call(j, i, out);
  if (st != TG_OK) return st;
  if (!shift->found) {
    const tg_ends driver = {&j->starts,     &j->finishes,        &j->driver,
                            j->driver_used, TG_HOP_DRIVER_START, TG_HOP_DRIVER_FINISH};
    const tg_ends core = {&j->receives, &j->core_finishes,  &j->core,
                          j->core_used, TG_HOP_TEE_RECEIVE, TG_HOP_TEE_FINISH};
    st = tg_complete_clients(j, out, &driver);
    if (st == TG_OK) st = doubt_lone_pairs(j, out);
    if (st == TG_OK) st = claim_core_directly(j, out);
    if (st == TG_OK) st = tg_complete_clients(j, out, &core);
    if (st == TG_OK) st = tg_doubt_groups(j, out, &driver);
    if (st == TG_OK) st = tg_doubt_groups(j, out, &core);
  }
  if (st == TG_OK) st = rest_of_driver(j, out);
  if (st == TG_OK) st = rest_of_core(j, out);
  for (size_t i = j->first_call; i < out->n && st == TG_OK; i++) {
    judge(&out->at[i]);
    if (shift->found) out->at[i].state = TG_JOIN_OFFSET;
  }
  if (st == TG_OK) st = tg_syscalls_join(j, out);
  if (st == TG_OK) st = order_calls(j, out);
  return st;
}

tg_status tg_calls_join(const tg_alloc *a, const tg_stop *stop, const tg_boot_lines *lines,
                        tg_calls *out, tg_shift *shift) {
  tg_join j = {.a = a, .stop = stop, .lines = lines, .first_call = out->n};
  tg_status st = join_boot(&j, out, shift);
  a->release(a->ctx, j.clients.at);
  a->release(a->ctx, j.driver.at);
  a->release(a->ctx, j.core.at);
  a->release(a->ctx, j.starts.at);
  a->release(a->ctx, j.finishes.at);
  a->release(a->ctx, j.receives.at);
  a->release(a->ctx, j.core_finishes.at);
  a->release(a->ctx, j.driver_used);
  a->release(a->ctx, j.core_used);
  return st;
}

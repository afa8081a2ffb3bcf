/* optee_syscalls.c - which invoke a measured system call was made in.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "optee_join_state.h"

/* The call that each core (or driver) pair went into, found by its first stamp. */
static tg_status pair_calls(tg_join *j, const tg_calls *out, bool core, uint32_t **call,
                            size_t *cap) {
  const tg_pairs *p = core ? &j->core : &j->driver;
  tg_hop hop = core ? TG_HOP_TEE_RECEIVE : TG_HOP_DRIVER_START;
  tg_status st = tg_grow(j->a, (void **)call, cap, p->n + 1, sizeof **call);
  if (st != TG_OK) return st;
  for (size_t i = 0; i < p->n; i++) (*call)[i] = TG_NONE;
  for (size_t i = j->first_call; i < out->n; i++) {
    const tg_call *c = &out->at[i];
    if (!tg_call_has(c, hop)) continue;
    uint64_t ticks = c->stamp[hop].ticks;
    size_t low = 0;
    size_t high = p->n;
    while (low < high) { /* pairs are in the order of their first stamps */
      size_t mid = low + (high - low) / 2;
      if (tg_pair_first(&p->at[mid]) < ticks) {
        low = mid + 1;
      } else {
        high = mid;
      }
    }
    /* no more can be open at once, and a log can be written to have any number of equal stamps */
    const size_t end = p->n - low > TG_OPEN_PAIRS ? low + TG_OPEN_PAIRS : p->n;
    for (; low < end && tg_pair_first(&p->at[low]) == ticks; low++) {
      if (p->at[low].have_start && p->at[low].cmd == c->cmd) (*call)[low] = (uint32_t)i;
    }
  }
  return TG_OK;
}

/* The system calls as pairs; all are in invokes. */
static tg_status syscall_pairs(tg_join *j, tg_pairs *out, uint32_t **index, size_t *cap) {
  tg_smc *lines = NULL;
  size_t lines_cap = 0;
  size_t n = 0;
  const tg_boot_lines *l = j->lines;
  tg_status st = tg_grow(j->a, (void **)&lines, &lines_cap, l->n_syscalls + 1, sizeof *lines);
  if (st == TG_OK) st = tg_grow(j->a, (void **)index, cap, l->n_syscalls + 1, sizeof **index);
  if (st == TG_OK) {
    st = tg_grow(j->a, (void **)&out->at, &out->cap, l->n_syscalls + 1, sizeof *out->at);
  }
  if (st != TG_OK) goto fail;
  for (size_t i = 0; i < l->n_syscalls; i++) {
    if (l->syscalls[i].flags & TG_CALL_IMPOSSIBLE) continue;
    lines[n++] = (tg_smc){.at = {.ticks = l->syscalls[i].start}, .cmd = i};
  }
  st = tg_smc_sort(j->a, lines, n);
  if (st != TG_OK) goto fail;
  for (size_t i = 0; i < n; i++) {
    const tg_syscall *s = &l->syscalls[lines[i].cmd];
    tg_pair *p = &out->at[out->n++];
    memset(p, 0, sizeof *p);
    (*index)[i] = (uint32_t)lines[i].cmd;
    p->start.ticks = s->start;
    p->finish.ticks = s->finish;
    p->have_start = p->have_finish = true;
    p->cmd = 1;
    p->outer = TG_UNCLAIMED;
  }
fail:
  j->a->release(j->a->ctx, lines);
  return st;
}

tg_status tg_syscalls_join(tg_join *j, tg_calls *out) {
  tg_pairs inner = {0};
  uint32_t *index = NULL;
  uint32_t *call = NULL;
  size_t index_cap = 0;
  size_t call_cap = 0;
  if (j->lines->n_syscalls == 0) return TG_OK;
  tg_status st = syscall_pairs(j, &inner, &index, &index_cap);
  for (int core = 1; core >= 0 && st == TG_OK; core--) {
    tg_pairs *outer = core ? &j->core : &j->driver;
    st = pair_calls(j, out, core != 0, &call, &call_cap);
    if (st == TG_OK) st = tg_pairs_nest(j->a, j->stop, outer, &inner);
    for (size_t i = 0; i < inner.n && st == TG_OK; i++) {
      tg_syscall *s = &j->lines->syscalls[index[i]];
      if (s->call == TG_NONE && inner.at[i].places == 1) {
        s->call = call[inner.at[i].outer];
        s->state = TG_JOIN_CLAIMED;
      } else if (s->call == TG_NONE && inner.at[i].places > 1) {
        s->state = TG_JOIN_AMBIGUOUS;
      }
      if (s->call != TG_NONE && !out->at[s->call].client) out->at[s->call].flags |= TG_CALL_SYSCALL;
      inner.at[i].places = s->call == TG_NONE ? 0 : inner.at[i].places;
    }
  }
  j->a->release(j->a->ctx, call);
  j->a->release(j->a->ctx, index);
  j->a->release(j->a->ctx, inner.at);
  return st;
}

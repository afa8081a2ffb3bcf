/* optee_syscalls.c - which invoke a measured system call was made in.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "base/mem.h"
#include "base/try.h"
#include "optee_join_state.h"

/* The call that each core (or driver) pair went into, found by its first stamp. */
static tg_status pair_calls(tg_join *j, const tg_calls *out, bool core, uint32_t **call,
                            size_t *cap) {
  const tg_pairs *p = core ? &j->core : &j->driver;
  tg_hop hop = core ? TG_HOP_TEE_RECEIVE : TG_HOP_DRIVER_START;
  tg_status status = tg_reserve(j->a, call, cap, p->n + 1, sizeof **call);
  if (status != TG_OK) return status;
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

/* The system calls as pairs, all in invokes: `index[i]` is that of pair i among the boot's. */
static tg_status syscall_pairs(tg_join *j, tg_pairs *out, uint32_t **index, size_t *cap) {
  const tg_boot_lines *l = j->lines;
  size_t n = 0;
  TG_TRY(tg_reserve(j->a, index, cap, l->n_syscalls + 1, sizeof **index));
  TG_TRY(tg_reserve(j->a, &out->at, &out->cap, l->n_syscalls + 1, sizeof *out->at));
  tg_smc *lines = tg_take(j->a, l->n_syscalls + 1, sizeof *lines);
  if (lines == NULL) return TG_ENOMEM;
  for (size_t i = 0; i < l->n_syscalls; i++) {
    if (l->syscalls[i].flags & TG_CALL_IMPOSSIBLE) continue;
    lines[n++] = (tg_smc){.at = {.ticks = l->syscalls[i].start}, .cmd = i};
  }
  tg_smc_sort(lines, n);
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
  tg_release(j->a, lines);
  return TG_OK;
}

/* Gives each system call that has none yet the call whose pair of this side holds it. */
static void claim_syscalls(tg_join *j, tg_calls *out, tg_pairs *inner, const uint32_t *index,
                           const uint32_t *call) {
  for (size_t i = 0; i < inner->n; i++) {
    tg_syscall *s = &j->lines->syscalls[index[i]];
    if (s->call == TG_NONE && inner->at[i].places == 1) {
      s->call = call[inner->at[i].outer];
      s->state = TG_JOIN_CLAIMED;
    } else if (s->call == TG_NONE && inner->at[i].places > 1) {
      s->state = TG_JOIN_AMBIGUOUS;
    }
    if (s->call != TG_NONE && !out->at[s->call].client) out->at[s->call].flags |= TG_CALL_SYSCALL;
    inner->at[i].places = s->call == TG_NONE ? 0 : inner->at[i].places;
  }
}

/* Arrays of one join of system calls. */
typedef struct arrays {
  tg_pairs inner;
  uint32_t *index, *call;
  size_t index_cap, call_cap;
} arrays;

static tg_status join_syscalls(tg_join *j, tg_calls *out, arrays *a) {
  TG_TRY(syscall_pairs(j, &a->inner, &a->index, &a->index_cap));
  for (int core = 1; core >= 0; core--) {
    TG_TRY(pair_calls(j, out, core != 0, &a->call, &a->call_cap));
    TG_TRY(tg_pairs_nest(j->a, j->stop, core != 0 ? &j->core : &j->driver, &a->inner));
    claim_syscalls(j, out, &a->inner, a->index, a->call);
  }
  return TG_OK;
}

tg_status tg_syscalls_join(tg_join *j, tg_calls *out) {
  arrays a = {.index = NULL};
  if (j->lines->n_syscalls == 0) return TG_OK;
  const tg_status status = join_syscalls(j, out, &a);
  tg_release(j->a, a.call);
  tg_release(j->a, a.index);
  tg_release(j->a, a.inner.at);
  return status;
}

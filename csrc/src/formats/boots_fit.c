/* boots_fit.c - do the stamps of a console belong to a boot?
 *
 * The core's pairs lie in the driver's, the driver's and the core's in their clients' windows.
 * Ranges that overlap prove nothing: counters of all boots begin near zero. So records must nest,
 * judged against all consoles that are known to belong to the boot.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/mem.h"
#include "base/try.h"
#include "boots_walk.h"
#include "optee_pairs.h"

/* Everything of one side that can nest, in time order. */
typedef struct side {
  tg_pairs driver, core;
  tg_pairs clients;  /* windows, pinned at the entry of the TA */
  tg_pairs syscalls; /* lie in an invoke of the core */
} side;

static tg_status add_window(const tg_alloc *a, const tg_mark *m, side *s) {
  const bool syscall = m->id == TG_CLIENT_SYSCALL;
  tg_pairs *p = syscall ? &s->syscalls : &s->clients;
  TG_TRY(tg_reserve(a, &p->at, &p->cap, p->n + 1, sizeof *p->at));
  p->at[p->n++] = (tg_pair){.start = {.ticks = m->stamp},
                            .finish = {.ticks = m->until},
                            .pin = m->pin,
                            .cmd = syscall ? TG_CLIENT_INVOKE : m->id,
                            .have_start = true,
                            .have_finish = m->until >= m->stamp,
                            .have_pin = !syscall,
                            .inner = TG_UNCLAIMED,
                            .outer = TG_UNCLAIMED};
  return TG_OK;
}

#define TG_SORT_NAME sort_windows
#define TG_SORT_ITEM tg_pair
#define TG_SORT_BEFORE(a, b) ((a)->start.ticks < (b)->start.ticks)
#include "base/sort.h"

/* The lines of a printer of all stretches as pairs. */
static tg_status pairs_of(const tg_alloc *a, const tg_part *parts, size_t n_parts,
                          tg_mark_kind kind, tg_pairs *out) {
  size_t n = 0;
  for (size_t p = 0; p < n_parts; p++) n += parts[p].stretch->n;
  tg_smc *lines = tg_take(a, n + 1, sizeof *lines);
  if (lines == NULL) return TG_ENOMEM;
  n = 0;
  for (size_t p = 0; p < n_parts; p++) {
    const tg_stretch *s = parts[p].stretch;
    for (size_t i = s->first; i < s->first + s->n; i++) {
      const tg_mark *m = &parts[p].marks->at[i];
      if (m->kind != kind) continue;
      lines[n++] = (tg_smc){.at = {.ticks = m->stamp}, .cmd = m->id, .opens = m->opens};
    }
  }
  tg_smc_sort(lines, n);
  const tg_status status = tg_pairs_make(a, NULL, lines, n, out);
  tg_release(a, lines);
  return status;
}

static tg_status gather_side(const tg_alloc *a, const tg_part *parts, size_t n, side *s) {
  for (size_t p = 0; p < n; p++) {
    const tg_stretch *stretch = parts[p].stretch;
    for (size_t i = stretch->first; i < stretch->first + stretch->n; i++) {
      const tg_mark *m = &parts[p].marks->at[i];
      if (m->kind == TG_MARK_CLIENT) TG_TRY(add_window(a, m, s));
    }
  }
  sort_windows(s->clients.at, s->clients.n);
  sort_windows(s->syscalls.at, s->syscalls.n);
  TG_TRY(pairs_of(a, parts, n, TG_MARK_DRIVER, &s->driver));
  return pairs_of(a, parts, n, TG_MARK_CORE, &s->core);
}

static void free_side(const tg_alloc *a, side *s) {
  tg_release(a, s->driver.at);
  tg_release(a, s->core.at);
  tg_release(a, s->clients.at);
  tg_release(a, s->syscalls.at);
}

static void forget_nest(tg_pairs *p) {
  for (size_t i = 0; i < p->n; i++) {
    p->at[i].holds = p->at[i].places = 0;
    p->at[i].inner = p->at[i].outer = TG_UNCLAIMED;
  }
}

static size_t count_whole(const tg_pairs *p) {
  size_t n = 0;
  for (size_t i = 0; i < p->n; i++) n += tg_pair_whole(&p->at[i]);
  return n;
}

static size_t count_placed(const tg_pairs *p) {
  size_t n = 0;
  for (size_t i = 0; i < p->n; i++) n += p->at[i].places > 0;
  return n;
}

/* Judges two worlds. `*most` is 0 where one of them has no pair. */
static tg_status fit_worlds(const tg_alloc *a, tg_pairs *driver, tg_pairs *core, size_t *most,
                            tg_fit *fit) {
  const size_t n_core = count_whole(core), n_driver = count_whole(driver);
  bool found = false;
  int64_t lo = 0;
  int64_t hi = 0;
  *most = n_core < n_driver ? n_core : n_driver;
  if (*most == 0) return TG_OK;
  forget_nest(driver);
  forget_nest(core);
  TG_TRY(tg_pairs_nest(a, NULL, driver, core));
  if (count_placed(core) * 2 >= *most) {
    *fit = TG_FIT_YES;
    return TG_OK;
  }
  TG_TRY(tg_pairs_shift(a, driver, core, &found, &lo, &hi));
  *fit = found ? TG_FIT_SHIFTED : TG_FIT_NO;
  return TG_OK;
}

/* Counts the clients' lines of one side that hold a pair of the other. */
static tg_status count_clients(const tg_alloc *a, side *clients, side *pairs, tg_fit_count *count) {
  if (count_whole(&pairs->driver) + count_whole(&pairs->core) == 0) return TG_OK;
  tg_pairs *c = &clients->clients;
  forget_nest(c);
  forget_nest(&pairs->driver);
  TG_TRY(tg_pairs_nest(a, NULL, c, &pairs->driver));
  forget_nest(&pairs->core);
  TG_TRY(tg_pairs_nest(a, NULL, c, &pairs->core));
  for (size_t i = 0; i < c->n; i++) {
    count->lines++;
    count->held += c->at[i].holds > 0;
  }
  if (count_whole(&pairs->core) == 0) return TG_OK;
  forget_nest(&pairs->core);
  forget_nest(&clients->syscalls);
  TG_TRY(tg_pairs_nest(a, NULL, &pairs->core, &clients->syscalls));
  count->lines += clients->syscalls.n;
  count->held += count_placed(&clients->syscalls);
  return TG_OK;
}

/* The range of all stamps of a side. False where there are none. */
static bool range_of(const side *s, uint64_t *lo, uint64_t *hi) {
  const tg_pairs *all[] = {&s->driver, &s->core, &s->clients, &s->syscalls};
  bool any = false;
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
    for (size_t i = 0; i < all[k]->n; i++) {
      const tg_pair *p = &all[k]->at[i];
      const uint64_t first = tg_pair_first(p);
      const uint64_t last = p->have_finish ? p->finish.ticks : first;
      if (!any || first < *lo) *lo = first;
      if (!any || last > *hi) *hi = last;
      any = true;
    }
  }
  return any;
}

/* Judges by ranges, for consoles of which nothing can nest in the other. */
static tg_fit fit_ranges(const side *boot, const side *s) {
  uint64_t lo[2] = {0, 0};
  uint64_t hi[2] = {0, 0};
  if (!range_of(boot, &lo[0], &hi[0]) || !range_of(s, &lo[1], &hi[1])) return TG_FIT_UNKNOWN;
  return lo[0] <= hi[1] && lo[1] <= hi[0] ? TG_FIT_YES : TG_FIT_NO;
}

static tg_status judge(const tg_alloc *a, side *boot, side *s, tg_fit *fit, tg_fit_count *count) {
  size_t most = 0;
  *fit = TG_FIT_NO;
  TG_TRY(fit_worlds(a, &boot->driver, &s->core, &most, fit));
  if (most == 0) TG_TRY(fit_worlds(a, &s->driver, &boot->core, &most, fit));
  count->pairs = most;
  if (most > 0 && *fit != TG_FIT_NO) return TG_OK;
  TG_TRY(count_clients(a, s, boot, count));
  if (count->lines == 0) TG_TRY(count_clients(a, boot, s, count));
  if (count->lines > 0) {
    if (count->held * 3 >= count->lines * 2) *fit = TG_FIT_YES;
  } else if (most == 0) {
    *fit = fit_ranges(boot, s);
  }
  return TG_OK;
}

tg_status tg_boot_fit(const tg_alloc *a, const tg_part *boot, size_t n, const tg_part *part,
                      tg_fit *fit, tg_fit_count *count) {
  side known = {0};
  side other = {0};
  *count = (tg_fit_count){0, 0, 0};
  tg_status status = gather_side(a, boot, n, &known);
  if (status == TG_OK) status = gather_side(a, part, 1, &other);
  if (status == TG_OK) status = judge(a, &known, &other, fit, count);
  free_side(a, &known);
  free_side(a, &other);
  return status;
}

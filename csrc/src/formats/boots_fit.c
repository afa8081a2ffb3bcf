/* boots_fit.c - do the stamps of two consoles belong to one boot?
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/mem.h"
#include "boots_walk.h"
#include "optee_pairs.h"

/* The pairs of one printer in a stretch, in time order. */
static tg_status pairs_of(const tg_alloc *a, const tg_marks *marks, const tg_stretch *s,
                          tg_mark_kind kind, tg_pairs *out) {
  size_t n = 0;
  tg_smc *lines = tg_take(a, s->n + 1, sizeof *lines);
  if (lines == NULL) return TG_ENOMEM;
  for (size_t i = s->first; i < s->first + s->n; i++) {
    const tg_mark *m = &marks->at[i];
    if (m->kind != kind) continue;
    lines[n++] = (tg_smc){.at = {.ticks = m->stamp}, .cmd = m->id, .opens = m->opens};
  }
  tg_smc_sort(lines, n);
  const tg_status status = tg_pairs_make(a, NULL, lines, n, out);
  tg_release(a, lines);
  return status;
}

/* The range of a printer's stamps. False where there are none. */
static bool range_of(const tg_marks *marks, const tg_stretch *s, tg_mark_kind kind, uint64_t *lo,
                     uint64_t *hi) {
  bool any = false;
  for (size_t i = s->first; i < s->first + s->n; i++) {
    const tg_mark *m = &marks->at[i];
    if (m->kind != kind) continue;
    if (!any || m->stamp < *lo) *lo = m->stamp;
    if (!any || m->until > *hi) *hi = m->until;
    any = true;
  }
  return any;
}

/* Judges by ranges, for consoles that print no two sides of one SMC. */
static tg_fit fit_ranges(const tg_marks *lead_marks, const tg_stretch *lead, const tg_marks *marks,
                         const tg_stretch *s) {
  static const tg_mark_kind kinds[] = {TG_MARK_DRIVER, TG_MARK_CLIENT, TG_MARK_CORE};
  uint64_t lo[2] = {0, 0};
  uint64_t hi[2] = {0, 0};
  bool any[2] = {false, false};
  for (size_t k = 0; k < 3; k++) {
    if (!any[0]) any[0] = range_of(lead_marks, lead, kinds[k], &lo[0], &hi[0]);
    if (!any[1]) any[1] = range_of(marks, s, kinds[2 - k], &lo[1], &hi[1]);
  }
  if (!any[0] || !any[1]) return TG_FIT_UNKNOWN;
  return lo[0] <= hi[1] && lo[1] <= hi[0] ? TG_FIT_YES : TG_FIT_NO;
}

/* How many pairs have a place. */
static size_t nested(const tg_pairs *p, size_t *whole) {
  size_t n = 0;
  *whole = 0;
  for (size_t i = 0; i < p->n; i++) {
    if (tg_pair_whole(&p->at[i])) ++*whole;
    if (p->at[i].places > 0) n++;
  }
  return n;
}

tg_status tg_stretch_fit(const tg_alloc *a, const tg_marks *lead_marks, const tg_stretch *lead,
                         const tg_marks *marks, const tg_stretch *s, tg_fit *fit) {
  tg_pairs driver = {0};
  tg_pairs core = {0};
  size_t n_driver = 0;
  size_t n_core = 0;
  int64_t lo = 0;
  int64_t hi = 0;
  bool found = false;
  tg_status status = pairs_of(a, lead_marks, lead, TG_MARK_DRIVER, &driver);
  if (status == TG_OK) status = pairs_of(a, marks, s, TG_MARK_CORE, &core);
  if (status == TG_OK && (driver.n == 0 || core.n == 0)) {
    driver.n = core.n = 0;
    status = pairs_of(a, marks, s, TG_MARK_DRIVER, &driver);
    if (status == TG_OK) status = pairs_of(a, lead_marks, lead, TG_MARK_CORE, &core);
  }
  if (status == TG_OK) status = tg_pairs_nest(a, NULL, &driver, &core);
  if (status != TG_OK) goto fail;
  size_t good = nested(&core, &n_core);
  (void)nested(&driver, &n_driver);
  size_t most = n_core < n_driver ? n_core : n_driver;
  if (most == 0) {
    *fit = fit_ranges(lead_marks, lead, marks, s);
  } else if (good * 2 >= most) {
    *fit = TG_FIT_YES;
  } else {
    status = tg_pairs_shift(a, &driver, &core, &found, &lo, &hi);
    *fit = found ? TG_FIT_SHIFTED : TG_FIT_NO;
  }
fail:
  tg_release(a, driver.at);
  tg_release(a, core.at);
  return status;
}

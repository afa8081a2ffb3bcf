/* kernel_pm.h - suspend and resume as the kernel logs them: one cycle at a time.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TG_FORMATS_KERNEL_PM_H
#define TG_FORMATS_KERNEL_PM_H

#include "boots.h"
#include "reducer.h"

/* A time that a line of a cycle states. */
typedef enum tg_pm_kind {
  TG_PM_PHASE,    /* all devices, in one phase */
  TG_PM_CALLBACK, /* one device, in one phase */
  TG_PM_FREEZE,   /* tasks */
  TG_PM_SYNC,     /* file systems */
  TG_PM_ASLEEP,   /* between the two halves */
  TG_PM_TOOK,     /* all devices on the way down or up, as CONFIG_PM_TEST_SUSPEND sums it up */
  TG_PM_IMAGE     /* of hibernation: allocated, written, read */
} tg_pm_kind;

typedef struct tg_pm_item {
  tg_str operation; /* the phase, which callbacks learn from a line behind them */
  tg_str device, driver;
  int64_t value; /* us; ms with three decimals for phases, s with three for the others */
  uint64_t line, offset;
  uint32_t boot;
  tg_pm_kind kind;
  bool failed; /* the callback returned an error */
} tg_pm_item;

#define TG_PM_NO_STAMP INT64_MIN

/* A cycle: from the entry into suspend to the way back. Stamps are us. */
typedef struct tg_pm_cycle {
  tg_str mode, wakeup;
  int64_t entry, down, up, tasks, exit; /* TG_PM_NO_STAMP: not there */
  int64_t asleep, awake; /* the last line before it sleeps, the first one behind */
  uint64_t first_line, last_line, last_offset;
  uint32_t boot, run;
  bool open, failed, complete;
  bool resumes; /* a phase of the way back was seen */
  bool fresh;   /* nothing but its entry was seen */
} tg_pm_cycle;

typedef struct tg_pm_walk {
  const tg_reduce_in *in;
  tg_result *out;
  tg_table *cycles;
  tg_pm_cycle cycle;
  tg_pm_item *items; /* of the cycle at hand */
  size_t n_items, cap_items;
  size_t unphased; /* callbacks from here on wait for the line of their phase */
  uint32_t source, boot, runs; /* cycles of the boot so far */
} tg_pm_walk;

/* Adds an item to the cycle at hand. TG_OK, TG_ENOMEM. */
tg_status tg_pm_add(tg_pm_walk *w, const tg_pm_item *item);
/* The line of a phase: the callbacks since the last one belong to it. */
void tg_pm_phase(tg_pm_walk *w, tg_str phase);
/* Writes the readings of the cycle at hand and its row, and begins a new one. TG_OK, TG_ENOMEM. */
tg_status tg_pm_flush(tg_pm_walk *w);

#endif

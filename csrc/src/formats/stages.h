/* stages.h - "stages": the steps of a boot, whoever timed them.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TG_FORMATS_STAGES_H
#define TG_FORMATS_STAGES_H

#include "tickgauge/table.h"

/* Columns of "stages". Stamps and durations are ticks of clock_hz; a missing value was not
 * printed. */
enum {
  TG_STAGE_C_SOURCE,
  TG_STAGE_C_BOOT,
  TG_STAGE_C_CPU,
  TG_STAGE_C_SERVICE, /* who took the time: "boot", "rt_instr", "bootstage" ... */
  TG_STAGE_C_STAGE,
  TG_STAGE_C_START,
  TG_STAGE_C_FINISH,
  TG_STAGE_C_TICKS,
  TG_STAGE_C_NS,
  TG_STAGE_C_CLOCK,
  TG_STAGE_C_STATE, /* "complete", or the fault */
  TG_STAGE_C_START_LINE,
  TG_STAGE_C_FINISH_LINE,
  TG_STAGE_C_COLUMNS
};

extern const tg_column_def tg_stage_columns[TG_STAGE_C_COLUMNS];

#endif

/* stages.h - "stages": the steps of a boot, whoever timed them, and "clocks": how their clocks hang
 * together. SPDX-License-Identifier: BSD-3-Clause */
#ifndef TG_FORMATS_STAGES_H
#define TG_FORMATS_STAGES_H

#include "tickgauge/result.h"
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
  TG_STAGE_C_AXIS, /* the clock of start and finish, TG_AXIS_*; missing: no place in time */
  TG_STAGE_C_WHOLE, /* true: the time of all that goes on in it, where nothing more is known */
  TG_STAGE_C_COLUMNS
};

extern const tg_column_def tg_stage_columns[TG_STAGE_C_COLUMNS];

/* Clocks of a boot. Each has a zero of its own. */
#define TG_AXIS_COUNTER "counter" /* ticks of the system counter since its reset */
#define TG_AXIS_UBOOT "U-Boot"    /* us of U-Boot's timer */
#define TG_AXIS_KERNEL "kernel"   /* since the kernel started its clock */
#define TG_AXIS_SYSTEMD "systemd" /* since the firmware began, as systemd adds it up */
#define TG_AXIS_CONSOLE "console" /* when lines arrived at the host */

/* Columns of "clocks": the zero of clock `axis` lies on clock `onto` in [low, high], in ns. */
enum {
  TG_AXES_C_SOURCE,
  TG_AXES_C_BOOT,
  TG_AXES_C_AXIS,
  TG_AXES_C_ONTO,
  TG_AXES_C_LOW,  /* missing: no lower bound is known */
  TG_AXES_C_HIGH, /* missing: the bounds contradict, the clocks cannot be joined */
  TG_AXES_C_HOW,  /* for a person */
  TG_AXES_C_COLUMNS
};

extern const tg_column_def tg_axes_columns[TG_AXES_C_COLUMNS];

/* A complete stage whose stamps are ns of a clock. */
typedef struct tg_stage_row {
  const char *service, *axis;
  tg_str stage;
  int64_t start, finish;            /* ns; a stage that ends before it begins is not written */
  uint64_t start_line, finish_line; /* 0: missing */
  uint32_t source, boot;
  bool whole; /* TG_STAGE_C_WHOLE */
} tg_stage_row;

/* Adds it to "stages". TG_OK, TG_ENOMEM. */
tg_status tg_stage_add(tg_result *out, const tg_stage_row *stage);

/* How two clocks of a boot hang together. */
typedef struct tg_axis_row {
  const char *axis, *onto, *how;
  int64_t low, high; /* ns */
  uint32_t source, boot;
  bool has_low, has_high;
} tg_axis_row;

/* Adds it to "clocks". TG_OK, TG_ENOMEM. */
tg_status tg_axis_add(tg_result *out, const tg_axis_row *axis);

#endif

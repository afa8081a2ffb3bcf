/* ftrace_head.h - the part of a trace line before its time: task, pid, cpu.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TG_FORMATS_FTRACE_HEAD_H
#define TG_FORMATS_FTRACE_HEAD_H

#include <stdbool.h>
#include <stdint.h>

#include "tickgauge/intern.h"

typedef struct tg_trace_head {
  tg_str task; /* as printed, cut to 15 bytes by the kernel; borrowed */
  uint64_t tid;
  uint32_t cpu;
} tg_trace_head;

/* Reads the forms: "TASK-PID [CPU] FLAGS", "TASK-PID (TGID) [CPU] FLAGS", "TASK-PID CPUFLAGS"
 * (latency format), "TASK PID PRI ..." (verbose), "TASK PID[/TID] [CPU]" (perf, with any of these
 * left out). Task names may hold blanks, '-' and ':'. Facts that the form does not tell stay as
 * they are in `out`. False where it is none of them. */
bool tg_trace_head_parse(tg_str text, tg_trace_head *out);

/* Reads the task from the columns of the graph tracer, where one of them is "TASK-PID". */
void tg_trace_graph_task(tg_str text, tg_trace_head *out);

#endif

/* tftf.h - the TFTF reader's blocks: from records in source order to blocks of readings.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TG_FORMATS_TFTF_H
#define TG_FORMATS_TFTF_H

#include "tickgauge/format.h"
#include "tickgauge/topology.h"

/* One RT_INSTR record of a block. Values by place: powerdown, wakeup, cache flush; or latency. */
typedef struct tg_tftf_row {
  uint64_t line, offset;
  uint64_t value[3];
  tg_place label; /* linear: the position in `.core` */
} tg_tftf_row;

/* One execution of a test. Texts are borrowed from the records; {NULL, 0} is missing. */
typedef struct tg_tftf_block {
  tg_str title;    /* of the Executing line, without the suite */
  tg_str suite;
  tg_str test;     /* "susp_deep_parallel" */
  tg_str printed;  /* the name in its records */
  tg_str verdict;  /* "Passed" ... */
  tg_str reason;   /* the first message that explains the verdict, */
  const char *lead; /* and the words before it; NULL: none */
  tg_str channel;
  uint64_t line, offset, last_line, last_offset;
  size_t first_row, n_rows;
  uint32_t boot;
  bool marked; /* began with an Executing line */
  bool linear; /* records of the old form */
  bool latency;
} tg_tftf_block;

/* One line that explains something: an error between records, a crash, a count of the summary. */
typedef struct tg_tftf_event {
  tg_str kind, text;
  const char *lead; /* the words before the text; NULL: none */
  uint64_t line, offset;
  size_t block; /* SIZE_MAX: outside every test */
  uint32_t boot;
} tg_tftf_event;

/* The contents of a source. Released with tg_tftf_log_free. */
typedef struct tg_tftf_log {
  const tg_alloc *a;
  tg_tftf_row *rows;
  tg_tftf_block *blocks;
  tg_tftf_event *events;
  size_t n_rows, n_blocks, n_events;
  size_t rows_cap, blocks_cap, events_cap;
} tg_tftf_log;

/* Gathers the blocks of one source; records that contradict the others become problems of `out`.
 * `log` starts zeroed. TG_OK, TG_ENOMEM. */
tg_status tg_tftf_walk(const tg_reduce_in *in, uint32_t source, tg_result *out, tg_tftf_log *log);
void tg_tftf_log_free(tg_tftf_log *log);

#endif

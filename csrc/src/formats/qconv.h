/* qconv.h - the run of a unit_test while its lines come in.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TG_FORMATS_QCONV_H
#define TG_FORMATS_QCONV_H

#include "reducer.h"
#include "tickgauge/number.h"

typedef enum qconv_event {
  QCONV_NOTHING = 0,
  QCONV_COMMAND,
  QCONV_DEVICE,
  QCONV_CPU,
  QCONV_EXEC,
  QCONV_SUCCESS,
  QCONV_FAILED,
  QCONV_ERROR,
  QCONV_THRESHOLD,
  QCONV_CLOCK
} qconv_event;

/* One run: from its command, or its first line, to the next. */
typedef struct qconv_run {
  int64_t device, cpu, exec; /* microseconds */
  uint64_t line, offset, exec_line, exec_offset;
  tg_str type;         /* of the command; in the records, which outlive the run */
  const char *verdict; /* "success" "failed" "error", NULL: none was printed */
  const char *error;   /* the rule that told the error */
  uint32_t shape[6];   /* iw ih ic oc kw kh */
  uint32_t th;
  bool open, have_command, have_shape, have_th, have_device, have_cpu, have_exec, sync;
} qconv_run;

/* Occurrences of a key so far, by the key's row. */
typedef struct qconv_state {
  tg_result *out;
  const tg_alloc *alloc;
  uint32_t *seen; /* by key: how often */
  size_t n_seen, cap_seen;
  qconv_run run;
  uint64_t clock_hz; /* of the last fclkcfg line */
  uint32_t source, runs;
  bool verdicts; /* the source prints verdicts */
} qconv_state;

/* Reads a command's options. */
void tg_qconv_options(tg_str args, qconv_run *run);
/* A finished run: a row of "runs", and its readings if it counts. TG_OK, TG_ENOMEM. */
tg_status tg_qconv_emit(qconv_state *q, const qconv_run *run);
void tg_qconv_free(qconv_state *q);

#endif

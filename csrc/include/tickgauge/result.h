/* result.h - the output of reducers: named tables, keys, readings.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TICKGAUGE_RESULT_H
#define TICKGAUGE_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "alloc.h"
#include "clock.h"
#include "export.h"
#include "rule.h"
#include "status.h"
#include "table.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tg_result tg_result;

#define TG_NONE UINT32_MAX /* an id that is missing */

TG_API tg_status tg_result_new(const tg_alloc *a, tg_result **out);
TG_API void tg_result_free(tg_result *r);
/* Further keys than these are refused: their id is TG_NONE, and readings of it are only counted. At
 * first there is no bound. */
TG_API void tg_result_bound(tg_result *r, uint64_t max_keys);
/* Readings whose key was refused. */
TG_API uint64_t tg_result_left_out(const tg_result *r);

/* The table of that name, made from `defs` at its first use. Names used so far: "boots",
 * "keys", "readings", "problems", "calls", "syscalls", "tests", "stages", "clocks", "cycles",
 * "events", "series", "summaries", "runs". TG_OK, TG_ENOMEM, TG_EINVAL (another definition under
 * that name). */
TG_API tg_status tg_result_table(tg_result *r, const char *name, const tg_column_def *defs,
                                 size_t n, tg_table **out);
/* NULL where no reducer made it. */
TG_API tg_table *tg_result_get(const tg_result *r, const char *name);
TG_API size_t tg_result_count(const tg_result *r);
TG_API const char *tg_result_name(const tg_result *r, size_t i);

/* A key: the subject of readings. Empty strings (NULL, 0) and TG_NONE are missing. Two equal keys
 * are one. */
typedef struct tg_key {
  tg_str format, test, metric, operation; /* operation: "open", "invoke", "fft", ... */
  tg_str place;  /* the cpu as the source printed it, or missing */
  tg_str labels; /* "name=value" pairs, sorted by name, separated by ' ' */
  tg_str unit;   /* "tick" "ns" "us" "ms" "s" "cycle" "MB/s" ... of the stored integer */
  tg_str exchange; /* class of exchange of its cpus: "none", "cluster", "all" */
  uint32_t cluster, core, cpu;
  int32_t exp10;           /* value = stored * 10^exp10 unit */
  uint64_t clock_hz;       /* 0 = none; for unit "tick" ns = stored * 1e9 / clock_hz */
  tg_clock_origin origin;
  uint64_t resolution;     /* step of the stored integer, at least 1 */
  tg_better better;
} tg_key;
/* A key without strings, place, clock or exponent, of resolution 1, where less is better: every
 * reducer begins with it, since an all-zero key is one of cpu 0 and has no valid resolution. */
TG_API void tg_key_init(tg_key *key);
/* One independent observation of the keys that are made from here on: tg_reduce says it before each
 * format and each rule. At first TG_OBSERVATION_RUN. */
TG_API void tg_result_observe(tg_result *r, tg_observation observation);
/* The row of the key in "keys", added if new; TG_NONE beyond the bound.
 * The columns are those of tg_key, in that order;
 * clock origin and better are TEXT ("log" "option" "platform"; "lower" "higher" "none"), and behind
 * them "observation" ("run" "boot"). */
TG_API tg_status tg_result_key(tg_result *r, const tg_key *key, uint32_t *id);

/* One measured value. `boot` is a row of "boots"; run and block count within the source. */
typedef struct tg_reading {
  int64_t value;
  uint64_t line, offset;
  uint32_t key, source, boot, run, block;
  uint64_t count; /* how many readings of this value it stands for; 0 = one */
  int64_t width;  /* they lie in [value, value + width); 0 = at the value, INT64_MAX = no end */
} tg_reading;
#define TG_NO_END INT64_MAX
/* Readings have a count and a width from now on: two columns more, "count" U64 and "width" I64.
 * Without this call both are dropped. To be called before the first reading. */
TG_API void tg_result_counted(tg_result *r);
/* Adds a row to "readings": columns key, source, boot, run, block U32, value I64, line, offset
 * U64. TG_NONE ids are missing, but for the key: then there is no row. */
TG_API tg_status tg_result_reading(tg_result *r, const tg_reading *reading);

/* Adds a row to "problems": columns source U32, then TG_PROBLEM_*. */
TG_API tg_status tg_result_problem(tg_result *r, uint32_t source, uint64_t line, uint64_t offset,
                                   const char *rule, const char *reason, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 7, 8)))
#endif
    ;

/* "boots": source U32, boot U32 (0-based within the source), first_line, first_offset U64 (of the
 * first record or banner), reason TEXT (why it starts here), chain TEXT ("BL1 BL2 BL31 TFTF"),
 * version, platform, build, built TEXT, clock_hz U64. */
enum {
  TG_BOOT_SOURCE = 0,
  TG_BOOT_BOOT,
  TG_BOOT_LINE,
  TG_BOOT_OFFSET,
  TG_BOOT_REASON,
  TG_BOOT_CHAIN,
  TG_BOOT_VERSION,
  TG_BOOT_PLATFORM,
  TG_BOOT_BUILD,
  TG_BOOT_BUILT,
  TG_BOOT_CLOCK,
  TG_BOOT_COLUMNS
};

#ifdef __cplusplus
}
#endif
#endif

/* kernel_boot.c - the kernel's part of a boot: initcalls and probes (initcall_debug), the start of
 * init, Android's marks behind it. The readings are those of the rules; the reducer places the
 * longer initcalls on the kernel's own axis, with the gaps that no initcall claims.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "boots.h"
#include "formats.h"
#include "reducer.h"
#include "stages.h"

#define MICROSECONDS 1000000u
#define SHARE 100 /* an initcall or gap of less than this part of the kernel's time is not shown */

/* An initcall with the kernel's stamp, and without. */
#define INITCALL                                                                \
  "initcall {function:word}+0x{_:hex}/0x{_:hex}[ [[{module:word}]]] returned "  \
  "{ret:int} after {us:uint} usecs"

static const char *const bootstat_rows[] = {"rule=^--{_:text}", "event=^{event:word} ~{s:uint}$",
                                            NULL};

static const tg_rule_def rules[] = {
    {.name = "kernel_boot.initcall", .pattern = "[[~{stamp:dec}]]{_:text}" INITCALL,
     .tag = "initcall", .values = "duration=us", .unit = "us", .exponents = "stamp=-6",
     .soft = true},
    {.name = "kernel_boot.initcall.bare", .pattern = INITCALL, .tag = "initcall",
     .values = "duration=us", .unit = "us", .soft = true},
    {.name = "kernel_boot.probe",
     .pattern = "probe of {device:word} returned {ret:int} after {us:uint} usecs",
     .tag = "probe of", .values = "duration=us", .unit = "us", .soft = true},
    {.name = "kernel_boot.init", .pattern = "[[~{t:dec}]]{_:text}Run {init:word} as init process",
     .tag = "as init process", .values = "time=t", .unit = "s", .soft = true},
    {.name = "kernel_boot.android", .pattern = "boot_progress_{stage:word}: {ms:uint}",
     .tag = "boot_progress_", .values = "time=ms", .unit = "ms", .soft = true},
    {.name = "kernel_boot.android.brief",
     .pattern = "boot_progress_{stage:word}(~{_:uint}): {ms:uint}",
     .tag = "boot_progress_", .values = "time=ms", .unit = "ms", .soft = true},
    {.name = "kernel_boot.property",
     .pattern = "[[ro.boottime.{service:word}]]: [[{ns:uint}]]", .tag = "[ro.boottime.",
     .values = "time=ns", .unit = "ns", .soft = true},
    {.name = "kernel_boot.bootstat", .pattern = "^Boot events:", .tag = "events:",
     .rows = bootstat_rows, .end = "", .values = "time=s", .unit = "s", .soft = true},
};

enum { F_TIME, F_FUNCTION, F_MODULE, F_RET, F_US }; /* fields of an initcall with a stamp */

/* The kernel's axis in one boot: us since it began to count. */
typedef struct axis {
  const tg_reduce_in *in;
  tg_result *out;
  tg_table *stages;
  uint64_t at, shown; /* where the axis has come to; the shortest that is shown */
  uint64_t line;      /* of the last stage */
  uint32_t source, boot;
} axis;

static tg_status add_stage(axis *a, tg_str name, uint64_t from, uint64_t to, uint64_t line) {
  tg_row w = tg_row_begin(a->stages);
  tg_row_u32(&w, TG_STAGE_C_SOURCE, a->source);
  if (a->boot != TG_NONE) tg_row_u32(&w, TG_STAGE_C_BOOT, a->boot);
  tg_row_cstr(&w, TG_STAGE_C_SERVICE, "kernel");
  tg_row_text(&w, TG_STAGE_C_STAGE, name);
  tg_row_u64(&w, TG_STAGE_C_START, from);
  tg_row_u64(&w, TG_STAGE_C_FINISH, to);
  tg_row_i64(&w, TG_STAGE_C_TICKS, (int64_t)(to - from));
  if (to - from <= INT64_MAX / 1000) tg_row_i64(&w, TG_STAGE_C_NS, (int64_t)(to - from) * 1000);
  tg_row_u64(&w, TG_STAGE_C_CLOCK, MICROSECONDS);
  tg_row_cstr(&w, TG_STAGE_C_STATE, "complete");
  tg_row_u64(&w, TG_STAGE_C_START_LINE, a->line);
  tg_row_u64(&w, TG_STAGE_C_FINISH_LINE, line);
  return tg_row_end(&w);
}

/* A stage, and before it the gap that nobody claims. */
static tg_status claim(axis *a, tg_str name, uint64_t from, uint64_t to, uint64_t line) {
  if (to - from < a->shown) return TG_OK;
  if (from > a->at && from - a->at >= a->shown)
    TG_TRY(add_stage(a, tg_str_of("(no initcall)"), a->at, from, line));
  TG_TRY(add_stage(a, name, from, to, line));
  if (to > a->at) a->at = to;
  a->line = line;
  return TG_OK;
}

static tg_status add_initcall(axis *a, const tg_table *t, const tg_record *at) {
  int64_t stamp = 0;
  uint64_t us = 0;
  tg_str name = {NULL, 0};
  if (!tg_table_i64(t, at->row, TG_REC_FIELD + F_TIME, &stamp) || stamp < 0) return TG_OK;
  (void)tg_table_text(t, at->row, TG_REC_FIELD + F_FUNCTION, &name);
  (void)tg_table_u64(t, at->row, TG_REC_FIELD + F_US, &us);
  if (us > (uint64_t)stamp) return TG_OK; /* longer than the kernel has run: no place on the axis */
  return claim(a, name, (uint64_t)stamp - us, (uint64_t)stamp, at->line);
}

/* Init starts: the rest up to it, and the kernel as a whole. */
static tg_status add_init(axis *a, const tg_table *t, const tg_record *at) {
  int64_t stamp = 0;
  if (!tg_table_i64(t, at->row, TG_REC_FIELD, &stamp) || stamp < 0) return TG_OK;
  const uint64_t end = (uint64_t)stamp / 1000; /* printed as it comes: ns */
  if (end > a->at && end - a->at >= a->shown)
    TG_TRY(add_stage(a, tg_str_of("(no initcall)"), a->at, end, at->line));
  a->line = 0;
  return add_stage(a, tg_str_of("kernel to init"), 0, end, at->line);
}

/* The time of the kernel in a source: where init starts, else its last initcall. */
static uint64_t kernel_time(const tg_table *calls, const tg_table *inits) {
  int64_t stamp = 0;
  if (tg_table_rows(inits) > 0 && tg_table_i64(inits, 0, TG_REC_FIELD, &stamp) && stamp > 0)
    return (uint64_t)stamp / 1000;
  const size_t n = tg_table_rows(calls);
  if (n > 0 && tg_table_i64(calls, n - 1, TG_REC_FIELD + F_TIME, &stamp) && stamp > 0)
    return (uint64_t)stamp;
  return 0;
}

static tg_status reduce_source(axis *a, const tg_records *records) {
  static const char *const names[] = {"kernel_boot.initcall", "kernel_boot.init"};
  size_t rule[2];
  tg_boot_memo near = {0};
  tg_rule_numbers(records, names, 2, rule);
  if (rule[0] == SIZE_MAX || rule[1] == SIZE_MAX) return TG_OK;
  const tg_table *calls = tg_records_table(records, rule[0]);
  const tg_table *inits = tg_records_table(records, rule[1]);
  if (tg_table_rows(calls) + tg_table_rows(inits) == 0) return TG_OK;
  TG_TRY(tg_result_table(a->out, "stages", tg_stage_columns, TG_STAGE_C_COLUMNS, &a->stages));
  a->boot = TG_NONE;
  a->shown = kernel_time(calls, inits) / SHARE;
  if (a->shown == 0) a->shown = 1;
  for (size_t i = 0; i < tg_records_count(records); i++) {
    const tg_record at = tg_records_at(records, i);
    if (tg_reduce_stops(a->in, i)) return TG_EINTERRUPTED;
    if (at.rule != rule[0] && at.rule != rule[1]) continue;
    const uint32_t boot = tg_boot_near(a->out, a->source, at.offset, &near);
    if (boot != a->boot) a->at = a->line = 0;
    a->boot = boot;
    TG_TRY(at.rule == rule[0] ? add_initcall(a, calls, &at) : add_init(a, inits, &at));
  }
  return TG_OK;
}

static tg_status reduce(const tg_reduce_in *in, tg_result *out, tg_error *err) {
  axis a = {.in = in, .out = out};
  tg_status status = TG_OK;
  for (size_t s = 0; s < in->n_sources && status == TG_OK; s++) {
    a.source = (uint32_t)s;
    status = reduce_source(&a, in->sources[s]);
  }
  if (status != TG_OK) tg_fail(err, status, 0, 0, "the kernel's boot: %s", tg_status_text(status));
  return status;
}

const tg_format tg_format_kernel_boot = {
    .name = "kernel_boot",
    .title = "initcalls, probes and the start of init; Android's boot progress",
    .rules = rules,
    .n_rules = TG_COUNT_OF(rules),
    .example = "[    0.120011] initcall cpu_pm_init+0x0/0x30 returned 0 after 11 usecs\n"
               "[    0.700000] initcall optee_init+0x0/0x30 [optee] returned -19 after 9765 usecs\n"
               "[    1.200000] Run /sbin/init as init process\n",
    .observation = TG_OBSERVATION_BOOT,
    .reduce = reduce,
};

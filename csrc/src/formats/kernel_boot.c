/* kernel_boot.c - the kernel's part of a boot: initcalls and probes (initcall_debug), the start of
 * init, Android's marks behind it. The readings are those of the rules; the reducer places them on
 * the kernel's own axis. SPDX-License-Identifier: BSD-3-Clause */
#include "boots.h"
#include "formats.h"
#include "reducer.h"
#include "stages.h"

/* Both with the kernel's stamp, and without. */
#define INITCALL                                                                \
  "initcall {function:word}+0x{_:hex}/0x{_:hex}[ [[{module:word}]]] returned "  \
  "{ret:int} after {us:uint} usecs"
#define PROBE "probe of {device:word} returned {ret:int} after {us:uint} usecs"

static const char *const bootstat_rows[] = {"rule=^--{_:text}", "event=^{event:word} ~{s:uint}$",
                                            NULL};

static const tg_rule_def rules[] = {
    {.name = "kernel_boot.initcall", .pattern = "[[~{stamp:dec}]]{_:text}" INITCALL,
     .tag = "initcall", .values = "duration=us", .unit = "us", .exponents = "stamp=-6",
     .soft = true},
    {.name = "kernel_boot.initcall.bare", .pattern = INITCALL, .tag = "initcall",
     .values = "duration=us", .unit = "us", .soft = true},
    {.name = "kernel_boot.probe", .pattern = "[[~{stamp:dec}]]{_:text}" PROBE, .tag = "probe of",
     .values = "duration=us", .unit = "us", .exponents = "stamp=-6", .soft = true},
    {.name = "kernel_boot.probe.bare", .pattern = PROBE, .tag = "probe of",
     .values = "duration=us", .unit = "us", .soft = true},
    {.name = "kernel_boot.init", .pattern = "[[~{t:dec}]]{_:text}Run {init:word} as init process",
     .tag = "as init process", .values = "time=t", .unit = "s", .exponents = "t=-6", .soft = true,
     .arrival = true},
    /* Before the next one, whose word would hold a process number of five digits. */
    {.name = "kernel_boot.android.brief",
     .pattern = "boot_progress_{stage:word}(~{_:uint}): {ms:uint}",
     .tag = "boot_progress_", .values = "time=ms", .unit = "ms", .soft = true},
    {.name = "kernel_boot.android", .pattern = "boot_progress_{stage:word}: {ms:uint}",
     .tag = "boot_progress_", .values = "time=ms", .unit = "ms", .soft = true},
    {.name = "kernel_boot.property",
     .pattern = "[[ro.boottime.{service:word}]]: [[{ns:uint}]]", .tag = "[ro.boottime.",
     .values = "time=ns", .unit = "ns", .soft = true},
    {.name = "kernel_boot.bootstat", .pattern = "^Boot events:", .tag = "events:",
     .rows = bootstat_rows, .end = "", .values = "time=s", .unit = "s", .soft = true},
};

enum { L_INITCALL, L_PROBE, L_INIT, L_ANDROID, L_ANDROID_BRIEF, LINES };
static const char *const line_rules[LINES] = {"kernel_boot.initcall", "kernel_boot.probe",
                                              "kernel_boot.init", "kernel_boot.android",
                                              "kernel_boot.android.brief"};

/* The records of one source that have a place on the kernel's axis. */
typedef struct axis {
  const tg_reduce_in *in;
  tg_result *out;
  uint64_t progress; /* Android's last mark, ms */
  uint32_t source, boot;
} axis;

/* The field of a record by its name; false where it is missing. */
static bool number_of(const tg_table *t, size_t row, const char *field, int64_t *out) {
  size_t col = 0;
  uint64_t u = 0;
  if (tg_table_find(t, field, &col) != TG_OK) return false;
  if (tg_table_i64(t, row, col, out)) return true;
  if (!tg_table_u64(t, row, col, &u) || u > INT64_MAX) return false;
  *out = (int64_t)u;
  return true;
}

static tg_str text_of(const tg_table *t, size_t row, const char *field) {
  size_t col = 0;
  tg_str text = {NULL, 0};
  if (tg_table_find(t, field, &col) == TG_OK) (void)tg_table_text(t, row, col, &text);
  return text;
}

/* A stage between two stamps; `whole`: TG_STAGE_C_WHOLE. */
static tg_status add_stage(const axis *a, tg_str name, int64_t from_us, int64_t to_us, bool whole,
                           uint64_t line) {
  if (to_us > INT64_MAX / 1000 || from_us < 0) return TG_OK; /* no place on the axis */
  const tg_stage_row stage = {.service = "kernel", .axis = TG_AXIS_KERNEL, .stage = name,
                              .start = from_us * 1000, .finish = to_us * 1000,
                              .finish_line = line, .source = a->source, .boot = a->boot,
                              .whole = whole};
  return tg_stage_add(a->out, &stage);
}

/* Android's mark ends the time since the mark before. */
static tg_status add_progress(axis *a, const tg_table *t, const tg_record *at) {
  int64_t ms = 0;
  if (!number_of(t, at->row, "ms", &ms) || ms > INT64_MAX / 1000000) return TG_OK;
  const uint64_t before = a->progress;
  a->progress = (uint64_t)ms;
  if (before == 0 || (uint64_t)ms < before) return TG_OK;
  return add_stage(a, text_of(t, at->row, "stage"), (int64_t)before * 1000, ms * 1000, false,
                   at->line);
}

static tg_status add_line(axis *a, size_t line, const tg_table *t, const tg_record *at) {
  int64_t stamp = 0, us = 0;
  if (line == L_ANDROID || line == L_ANDROID_BRIEF) return add_progress(a, t, at);
  if (line == L_INIT)
    return number_of(t, at->row, "t", &stamp)
               ? add_stage(a, tg_str_of("kernel to init"), 0, stamp, true, at->line)
               : TG_OK;
  if (!number_of(t, at->row, "stamp", &stamp) || !number_of(t, at->row, "us", &us)) return TG_OK;
  return add_stage(a, text_of(t, at->row, line == L_PROBE ? "device" : "function"), stamp - us,
                   stamp, false, at->line);
}

static tg_status reduce_source(axis *a, const tg_records *records) {
  size_t rule[LINES];
  tg_boot_memo near = {0};
  tg_rule_numbers(records, line_rules, LINES, rule);
  a->boot = TG_NONE;
  for (size_t i = 0; i < tg_records_count(records); i++) {
    const tg_record at = tg_records_at(records, i);
    size_t line = 0;
    if (tg_reduce_stops(a->in, i)) return TG_EINTERRUPTED;
    while (line < LINES && rule[line] != at.rule) line++;
    if (line == LINES) continue;
    const uint32_t boot = tg_boot_near(a->out, a->source, at.offset, &near);
    if (boot != a->boot) a->progress = 0;
    a->boot = boot;
    TG_TRY(add_line(a, line, tg_records_table(records, at.rule), &at));
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

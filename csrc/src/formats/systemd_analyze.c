/* systemd_analyze.c - systemd-analyze time, blame and critical-chain, and the line that systemd
 * itself logs when a boot is done.
 *
 * Checked with systemd 219 to 257: analyze-time-data.c, manager.c (the parts),
 * analyze-critical-chain.c (@: since the begin of user space) and format_timespan of time-util.c
 * (the durations: y month w d h min s ms us, a fraction below a minute only). systemd counts from
 * the begin of the kernel, and knows how long the firmware and the loader took before it: its parts
 * follow each other without a gap.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "boots.h"
#include "formats.h"
#include "reducer.h"
#include "stages.h"

/* NOLINTBEGIN(bugprone-macro-parentheses): string literals only stand side by side without them */
#define PART(part)                                                                            \
  {.name = "systemd_analyze." part, .pattern = "{time:duration} (" part ")",                  \
   .tag = "(" part ")", .values = "time=time", .unit = "us", .all = true, .soft = true}
#define BLAME(kind)                                                                           \
  {.name = "systemd_analyze.blame." kind,                                                     \
   .pattern = "^~{time:duration} {service:word}." kind "~$", .tag = "." kind,                 \
   .values = "time=time", .unit = "us", .soft = true}
/* NOLINTEND(bugprone-macro-parentheses) */

static const char *const chain_rows[] = {
    "step=^~[└─]{service:word} @{active:duration}[ +{took:duration}]",
    NULL,
};

static const tg_rule_def rules[] = {
    PART("firmware"),
    PART("loader"),
    PART("kernel"),
    PART("initrd"),
    PART("userspace"),
    {.name = "systemd_analyze.reached",
     .pattern = "{target:word} reached after {time:duration} in userspace",
     .tag = "reached after", .values = "time=time", .unit = "us", .soft = true},
    BLAME("service"),
    BLAME("mount"),
    BLAME("device"),
    BLAME("swap"),
    BLAME("socket"),
    {.name = "systemd_analyze.critical_chain",
     .pattern = "The time the unit took to start is printed after the", .tag = "took to start",
     .rows = chain_rows, .end = "^{_:word}@{_:word}:{_:text}",
     .values = "active=active,took=took", .unit = "us", .soft = true},
};

enum { FIRMWARE, LOADER, KERNEL, INITRD, USERSPACE, STEP, LINES };
static const char *const line_rules[LINES] = {
    "systemd_analyze.firmware", "systemd_analyze.loader",    "systemd_analyze.kernel",
    "systemd_analyze.initrd",   "systemd_analyze.userspace", "systemd_analyze.critical_chain.step",
};
static const char *const part_names[] = {"firmware", "loader", "kernel", "initrd", "userspace"};
enum { F_TIME = TG_REC_FIELD };
enum { F_SERVICE = TG_REC_FIELD, F_ACTIVE, F_TOOK };

#define MICROSECOND INT64_C(1000)
#define MOST (INT64_MAX / MICROSECOND / 16) /* us: the sum of all parts fits in ns */

/* The line of one boot that names its parts. */
typedef struct walk {
  const tg_reduce_in *in;
  tg_result *out;
  size_t rule[LINES];
  int64_t at;        /* us: where its next part begins */
  int64_t userspace; /* us: the begin of user space, -1 where it is not known */
  uint64_t line;
  uint32_t source, boot;
} walk;

/* A part: it begins where the one before it ends. */
static tg_status add_part(walk *w, size_t part, const tg_record *at, int64_t us) {
  static const char how[] = "systemd counts firmware and loader before the kernel";
  if (at->line != w->line) w->at = 0;
  w->line = at->line;
  const int64_t from = w->at;
  w->at += us;
  if (part == USERSPACE) w->userspace = from;
  const tg_stage_row stage = {.service = "systemd", .axis = TG_AXIS_SYSTEMD,
                              .stage = tg_str_of(part_names[part]), .start = from * MICROSECOND,
                              .finish = w->at * MICROSECOND, .finish_line = at->line,
                              .source = w->source, .boot = w->boot, .whole = true};
  const tg_axis_row zero = {.axis = TG_AXIS_KERNEL, .onto = TG_AXIS_SYSTEMD, .how = how,
                            .low = from * MICROSECOND, .high = from * MICROSECOND,
                            .has_low = true, .has_high = true, .source = w->source,
                            .boot = w->boot};
  TG_TRY(tg_stage_add(w->out, &stage));
  return part == KERNEL ? tg_axis_add(w->out, &zero) : TG_OK;
}

/* A unit of the critical chain, if it is known when user space began. */
static tg_status add_unit(walk *w, const tg_table *t, const tg_record *at) {
  int64_t active = 0, took = 0;
  tg_str name = {NULL, 0};
  if (w->userspace < 0 || !tg_table_i64(t, at->row, F_ACTIVE, &active) ||
      !tg_table_i64(t, at->row, F_TOOK, &took) || active > MOST || took > MOST)
    return TG_OK;
  (void)tg_table_text(t, at->row, F_SERVICE, &name);
  const int64_t from = w->userspace + active;
  const tg_stage_row stage = {.service = "critical chain", .axis = TG_AXIS_SYSTEMD, .stage = name,
                              .start = from * MICROSECOND,
                              .finish = (from + took) * MICROSECOND, .finish_line = at->line,
                              .source = w->source, .boot = w->boot};
  return tg_stage_add(w->out, &stage);
}

/* Walks the records of one source: for their parts, or for the units of the chain. */
static tg_status walk_source(walk *w, const tg_records *records, bool chain) {
  tg_boot_memo near = {0};
  for (size_t i = 0; i < tg_records_count(records); i++) {
    const tg_record at = tg_records_at(records, i);
    const tg_table *t = tg_records_table(records, at.rule);
    int64_t us = 0;
    size_t line = 0;
    if (tg_reduce_stops(w->in, i)) return TG_EINTERRUPTED;
    while (line < LINES && w->rule[line] != at.rule) line++;
    if (line == LINES || (line == STEP) != chain) continue;
    const uint32_t boot = tg_boot_near(w->out, w->source, at.offset, &near);
    if (boot != w->boot && chain) continue; /* its user space begins elsewhere */
    if (boot != w->boot) w->userspace = -1;
    w->boot = boot;
    if (chain) TG_TRY(add_unit(w, t, &at));
    if (!chain && tg_table_i64(t, at.row, F_TIME, &us) && us >= 0 && us <= MOST)
      TG_TRY(add_part(w, line, &at, us));
  }
  return TG_OK;
}

static tg_status reduce(const tg_reduce_in *in, tg_result *out, tg_error *err) {
  tg_status status = TG_OK;
  for (size_t s = 0; s < in->n_sources && status == TG_OK; s++) {
    walk w = {.in = in, .out = out, .source = (uint32_t)s, .boot = TG_NONE, .userspace = -1};
    tg_rule_numbers(in->sources[s], line_rules, LINES, w.rule);
    status = walk_source(&w, in->sources[s], false);
    if (status == TG_OK) status = walk_source(&w, in->sources[s], true);
  }
  if (status != TG_OK) tg_fail(err, status, 0, 0, "systemd's times: %s", tg_status_text(status));
  return status;
}

const tg_format tg_format_systemd_analyze = {
    .name = "systemd_analyze",
    .title = "the parts of a boot, its units and its critical chain as systemd-analyze prints them",
    .rules = rules,
    .n_rules = TG_COUNT_OF(rules),
    .example = "Startup finished in 1.626s (firmware) + 744ms (loader) + 1min 200ms (kernel) + "
               "7.5s (userspace) = 1min 10.070s\n",
    .observation = TG_OBSERVATION_BOOT,
    .reduce = reduce,
};

/* console_axis.c - a boot on the clock of whoever wrote its console to a file, and the place of the
 * other clocks on it.
 *
 * A line arrives after it was printed, and never before: the zero of a clock lies at the latest where
 * a line's arrival less the stamp that the line (or the step it was printed in) has on that clock. The
 * step's end, and the way of a line to the host, bound it from below.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "console_axis.h"

#include <string.h>

#include "boot_clock.h"
#include "boots.h"
#include "reducer.h"
#include "stages.h"

/* A line may be so long on its way: a UART's and a USB converter's buffers, in ns. */
#define WAY INT64_C(50000000)

/* Lines whose arrival means something; the stage that begins with it. */
enum { L_BL1, L_BL2, L_BL31, L_BL31_OLD, L_OPTEE, L_SPL, L_UBOOT, L_REPORT, L_LEAVES, L_LINUX,
       L_INIT, L_LOGIN, LINES };
static const char *const line_rules[LINES] = {
    "console.bl1",  "console.bl2",     "console.bl31",     "console.bl31_old",
    "console.optee", "console.spl",    "console.uboot",    "bootstage.summary",
    "console.leaves", "console.linux", "kernel_boot.init", "console.login",
};
/* The same without a build type or version. */
static const char *const bare_rules[LINES] = {
    "console.bl1_bare", "console.bl2_bare", "console.bl31_bare", "console.bl31_old_bare",
    "", "", "", "", "", "", "", "",
};
static const char *const line_stages[LINES] = {
    "BL1", "BL2", "BL31", "BL31", "OP-TEE", "SPL", "U-Boot", NULL, "to the kernel", "Linux",
    "user space", NULL,
};

/* Where the zero of a clock lies on the console's. */
typedef struct bounds {
  int64_t low, high;
  bool has_low, has_high;
} bounds;

static void at_most(bounds *b, int64_t ns) {
  if (!b->has_high || ns < b->high) b->high = ns;
  b->has_high = true;
}

static void at_least(bounds *b, int64_t ns) {
  if (!b->has_low || ns > b->low) b->low = ns;
  b->has_low = true;
}

typedef struct walk {
  const tg_reduce_in *in;
  tg_result *out;
  size_t rule[LINES], bare[LINES];
  int64_t arrived[LINES]; /* of the boot at hand: the first line of each kind */
  uint64_t line[LINES];
  bool seen[LINES];
  bounds kernel;
  int64_t since; /* the begin of the stage at hand */
  uint64_t since_line;
  const char *stage; /* NULL: none */
  uint32_t source, boot;
} walk;

/* Ends the stage at hand. */
static tg_status end_stage(walk *w, int64_t ns, uint64_t line) {
  const tg_stage_row stage = {.service = "console", .axis = TG_AXIS_CONSOLE,
                              .stage = tg_str_of(w->stage), .start = w->since, .finish = ns,
                              .start_line = w->since_line, .finish_line = line,
                              .source = w->source, .boot = w->boot, .whole = true};
  const bool there = w->stage != NULL && ns >= w->since;
  w->stage = NULL;
  return there ? tg_stage_add(w->out, &stage) : TG_OK;
}

/* A line of a kind arrived. */
static tg_status take(walk *w, size_t kind, int64_t ns, uint64_t line) {
  if (w->seen[kind]) return TG_OK;
  w->seen[kind] = true;
  w->arrived[kind] = ns;
  w->line[kind] = line;
  if (kind == L_REPORT) return TG_OK;
  TG_TRY(end_stage(w, ns, line));
  w->stage = line_stages[kind];
  w->since = ns;
  w->since_line = line;
  return TG_OK;
}

/* The stages of the boot whose stamps lie on `axis`: start and finish in ns. False: the row is none. */
static bool stage_at(const walk *w, const tg_table *t, size_t row, const char *axis, tg_str *name,
                     int64_t *start, int64_t *finish) {
  uint32_t boot = TG_NONE;
  uint64_t from = 0, to = 0, hz = 0;
  tg_str on = {NULL, 0}, service = {NULL, 0};
  (void)tg_table_u32(t, row, TG_STAGE_C_BOOT, &boot);
  if (boot != w->boot || !tg_table_text(t, row, TG_STAGE_C_AXIS, &on) ||
      !tg_str_equal(on, tg_str_of(axis)) || !tg_table_text(t, row, TG_STAGE_C_STAGE, name) ||
      !tg_table_u64(t, row, TG_STAGE_C_START, &from) ||
      !tg_table_u64(t, row, TG_STAGE_C_FINISH, &to) ||
      !tg_table_u64(t, row, TG_STAGE_C_CLOCK, &hz) || from > INT64_MAX || to > INT64_MAX)
    return false;
  (void)tg_table_text(t, row, TG_STAGE_C_SERVICE, &service);
  return tg_ticks_to_ns((int64_t)from, hz, start) == TG_OK &&
         tg_ticks_to_ns((int64_t)to, hz, finish) == TG_OK;
}

/* A stage of TF-A prints its banner while it runs. */
static void bound_counter(const walk *w, tg_str name, int64_t start, int64_t finish, bounds *b) {
  static const size_t kinds[] = {L_BL1, L_BL2, L_BL31, L_BL31_OLD};
  for (size_t k = 0; k < TG_COUNT_OF(kinds); k++) {
    if (!w->seen[kinds[k]] || !tg_str_equal(name, tg_str_of(line_stages[kinds[k]]))) continue;
    at_most(b, w->arrived[kinds[k]] - start);
    at_least(b, w->arrived[kinds[k]] - finish - WAY);
  }
}

/* U-Boot prints its banner between two of its marks, and its report behind the last. */
static void bound_uboot(const walk *w, tg_str name, int64_t mark, bounds *b) {
  if (w->seen[L_UBOOT] && tg_str_equal(name, tg_str_of("board_init_f")))
    at_most(b, w->arrived[L_UBOOT] - mark);
  if (w->seen[L_UBOOT] && tg_str_equal(name, tg_str_of("board_init_r")))
    at_least(b, w->arrived[L_UBOOT] - mark - WAY);
  if (w->seen[L_REPORT]) at_most(b, w->arrived[L_REPORT] - mark);
}

static tg_status add_axis(const walk *w, const char *axis, const bounds *b, const char *how) {
  const bool agree = b->has_high && (!b->has_low || b->low <= b->high);
  const tg_axis_row row = {.axis = axis, .onto = TG_AXIS_CONSOLE,
                           .how = agree ? how : "the arrival of its lines contradicts its stamps",
                           .low = b->low, .high = b->high, .has_low = agree && b->has_low,
                           .has_high = agree, .source = w->source, .boot = w->boot};
  return b->has_high ? tg_axis_add(w->out, &row) : TG_OK;
}

/* The boot ends: the other clocks on the console's. */
static tg_status end_boot(walk *w) {
  const tg_table *t = tg_result_get(w->out, "stages");
  bounds counter = {0}, uboot = {0};
  if (w->boot == TG_NONE) return TG_OK;
  for (size_t row = 0; t != NULL && row < tg_table_rows(t); row++) {
    tg_str name = {NULL, 0};
    int64_t start = 0, finish = 0;
    if (tg_reduce_stops(w->in, row)) return TG_EINTERRUPTED;
    if (stage_at(w, t, row, TG_AXIS_COUNTER, &name, &start, &finish))
      bound_counter(w, name, start, finish, &counter);
    if (stage_at(w, t, row, TG_AXIS_UBOOT, &name, &start, &finish))
      bound_uboot(w, name, finish, &uboot);
  }
  for (size_t k = 0; k < L_LINUX; k++)
    if (w->seen[k]) at_least(&w->kernel, w->arrived[k] - WAY);
  TG_TRY(add_axis(w, TG_AXIS_COUNTER, &counter, "TF-A's banners arrived while its stages ran"));
  TG_TRY(add_axis(w, TG_AXIS_UBOOT, &uboot, "U-Boot's banner and report arrived behind its marks"));
  return add_axis(w, TG_AXIS_KERNEL, &w->kernel, "lines arrived behind the kernel's own stamps");
}

static void begin_boot(walk *w, uint32_t boot) {
  memset(w->seen, 0, sizeof w->seen);
  w->kernel = (bounds){0};
  w->stage = NULL;
  w->boot = boot;
}

/* When a record's line arrived; false where no stamp stands before it. */
static bool arrival_of(const tg_table *t, size_t row, int64_t *ns) {
  size_t col = 0;
  return tg_table_find(t, "arrived", &col) == TG_OK && tg_table_i64(t, row, col, ns);
}

static tg_status reduce_source(walk *w, const tg_records *records) {
  tg_boot_memo near = {0};
  for (size_t i = 0; i < tg_records_count(records); i++) {
    const tg_record at = tg_records_at(records, i);
    const tg_table *t = tg_records_table(records, at.rule);
    int64_t ns = 0, us = 0;
    size_t kind = 0, col = 0;
    if (tg_reduce_stops(w->in, i)) return TG_EINTERRUPTED;
    while (kind < LINES && w->rule[kind] != at.rule && w->bare[kind] != at.rule) kind++;
    if (kind == LINES || !arrival_of(t, at.row, &ns)) continue;
    const uint32_t boot = tg_boot_near(w->out, w->source, at.offset, &near);
    if (boot != w->boot) {
      TG_TRY(end_boot(w));
      begin_boot(w, boot);
    }
    TG_TRY(take(w, kind, ns, at.line));
    if (tg_table_find(t, "t", &col) == TG_OK && tg_table_i64(t, at.row, col, &us) && us >= 0 &&
        us < INT64_MAX / 1000)
      at_most(&w->kernel, ns - us * 1000);
  }
  return end_boot(w);
}

tg_status tg_console_axes(const tg_reduce_in *in, tg_result *out, tg_error *err) {
  tg_status status = TG_OK;
  for (size_t s = 0; s < in->n_sources && status == TG_OK; s++) {
    walk w = {.in = in, .out = out, .source = (uint32_t)s, .boot = TG_NONE};
    tg_rule_numbers(in->sources[s], line_rules, LINES, w.rule);
    tg_rule_numbers(in->sources[s], bare_rules, LINES, w.bare);
    status = reduce_source(&w, in->sources[s]);
  }
  if (status != TG_OK) tg_fail(err, status, 0, 0, "the console: %s", tg_status_text(status));
  return status;
}

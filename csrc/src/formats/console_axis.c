/* console_axis.c - a boot on the clock of whoever wrote its console to a file, and the place of the
 * other clocks on it.
 *
 * A line arrives after it was printed, and never before: the zero of a clock lies at the latest
 * where a line's arrival less the stamp that the line (or the step it was printed in) has on that
 * clock. The step's end, and the way of a line to the host, bound it from below.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "console_axis.h"

#include <string.h>

#include "boot_clock.h"
#include "boots.h"
#include "reducer.h"
#include "stages.h"

/* A line may be so long on its way: a UART's and a USB converter's buffers, in ns. */
#define WAY INT64_C(50000000)

/* No stage counts for longer, in ns, so that a difference from an arrival fits. */
#define LONGEST (INT64_MAX / 4)

/* Lines whose arrival means something; the stage that begins with it. */
enum { L_BL1, L_BL2, L_BL31, L_BL31_OLD, L_OPTEE, L_SPL, L_UBOOT, L_REPORT, L_LEAVES, L_LINUX,
       L_INIT, L_LOGIN, LINES };
static const char *const line_rules[LINES] = {
    "console.bl1",  "console.bl2",     "console.bl31",     "console.bl31_old",
    "console.optee", "console.spl",    "console.uboot",    "bootstage.summary",
    "console.leaves", "console.linux", "kernel_boot.init", "console.login",
};
/* The same without a build type or version; Linux where no cpu is named. */
static const char *const bare_rules[LINES] = {
    "console.bl1_bare", "console.bl2_bare", "console.bl31_bare", "console.bl31_old_bare",
    "", "", "", "", "", "console.linux_version", "", "",
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

/* A line that has arrived. */
typedef struct arrival {
  int64_t ns, us; /* us: the kernel's own stamp, -1: none */
  uint64_t line, offset;
  size_t kind;
} arrival;

#define TG_SORT_NAME sort_arrivals
#define TG_SORT_ITEM arrival
#define TG_SORT_BEFORE(a, b) ((a)->offset < (b)->offset)
#include "base/sort.h"

/* The stages that bound a zero: those of TF-A on the counter, marks of U-Boot on its timer. */
typedef enum timed_kind { T_NONE, T_BL1, T_BL2, T_BL31, T_INIT_F, T_INIT_R, T_MARK } timed_kind;

/* Such a stage, in ns of its clock. */
typedef struct timed {
  int64_t start, finish;
  uint32_t boot;
  timed_kind kind;
} timed;

#define TG_SORT_NAME sort_timed
#define TG_SORT_ITEM timed
#define TG_SORT_BEFORE(a, b) ((a)->boot < (b)->boot)
#include "base/sort.h"

typedef struct walk {
  const tg_reduce_in *in;
  tg_result *out;
  arrival *arrivals; /* of the source at hand, in its order */
  size_t n_arrivals, cap_arrivals;
  timed *timed; /* by boot */
  size_t n_timed, cap_timed;
  bool gathered; /* `timed` is there */
  int64_t arrived[LINES]; /* of the boot at hand: the first line of each kind */
  uint64_t line[LINES];
  bool seen[LINES];
  bounds kernel;
  int64_t step; /* ns: of the stamps; a line arrived up to so much later than they say */
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

/* The kind of a row of "stages". */
static timed_kind kind_of(const tg_table *t, size_t row) {
  static const struct {
    const char *axis, *stage; /* stage NULL: any */
    timed_kind kind;
  } kinds[] = {
      {TG_AXIS_COUNTER, "BL1", T_BL1},          {TG_AXIS_COUNTER, "BL2", T_BL2},
      {TG_AXIS_COUNTER, "BL31", T_BL31},        {TG_AXIS_UBOOT, "board_init_f", T_INIT_F},
      {TG_AXIS_UBOOT, "board_init_r", T_INIT_R}, {TG_AXIS_UBOOT, NULL, T_MARK},
  };
  tg_str axis = {NULL, 0}, stage = {NULL, 0};
  (void)tg_table_text(t, row, TG_STAGE_C_AXIS, &axis);
  (void)tg_table_text(t, row, TG_STAGE_C_STAGE, &stage);
  for (size_t k = 0; k < TG_COUNT_OF(kinds); k++)
    if (tg_str_equal(axis, tg_str_of(kinds[k].axis)) &&
        (kinds[k].stage == NULL || tg_str_equal(stage, tg_str_of(kinds[k].stage))))
      return kinds[k].kind;
  return T_NONE;
}

/* Gathers the stages that the bounds need. TG_OK, TG_ENOMEM, TG_EINTERRUPTED. */
static tg_status gather_timed(walk *w) {
  const tg_table *t = tg_result_get(w->out, "stages");
  for (size_t row = 0; t != NULL && row < tg_table_rows(t); row++) {
    uint64_t from = 0, to = 0, hz = 0;
    timed s = {.boot = TG_NONE, .kind = kind_of(t, row)};
    if (tg_reduce_stops(w->in, row)) return TG_EINTERRUPTED;
    if (s.kind == T_NONE || !tg_table_u32(t, row, TG_STAGE_C_BOOT, &s.boot) ||
        !tg_table_u64(t, row, TG_STAGE_C_START, &from) ||
        !tg_table_u64(t, row, TG_STAGE_C_FINISH, &to) ||
        !tg_table_u64(t, row, TG_STAGE_C_CLOCK, &hz) || from > INT64_MAX || to > INT64_MAX ||
        tg_ticks_to_ns((int64_t)from, hz, &s.start) != TG_OK ||
        tg_ticks_to_ns((int64_t)to, hz, &s.finish) != TG_OK || s.start > LONGEST ||
        s.finish > LONGEST)
      continue;
    TG_TRY(tg_reserve(w->in->alloc, &w->timed, &w->cap_timed, w->n_timed + 1, sizeof *w->timed));
    w->timed[w->n_timed++] = s;
  }
  if (w->n_timed > 0) sort_timed(w->timed, w->n_timed);
  w->gathered = true;
  return TG_OK;
}

/* The first of the timed stages of the boot at hand. */
static size_t first_timed(const walk *w) {
  size_t low = 0, high = w->n_timed;
  while (low < high) {
    const size_t mid = low + (high - low) / 2;
    if (w->timed[mid].boot < w->boot) {
      low = mid + 1;
    } else {
      high = mid;
    }
  }
  return low;
}

/* A stage of TF-A prints its banner while it runs. */
static void bound_counter(const walk *w, const timed *s, bounds *b) {
  static const size_t lines[][2] = {
      [T_BL1] = {L_BL1, L_BL1}, [T_BL2] = {L_BL2, L_BL2}, [T_BL31] = {L_BL31, L_BL31_OLD}};
  for (size_t i = 0; i < 2; i++) {
    const size_t line = lines[s->kind][i];
    if (!w->seen[line]) continue;
    at_most(b, w->arrived[line] + w->step - s->start);
    at_least(b, w->arrived[line] - s->finish - WAY);
  }
}

/* U-Boot prints its banner between two of its marks, and its report behind the last. */
static void bound_uboot(const walk *w, const timed *s, bounds *b) {
  if (w->seen[L_UBOOT] && s->kind == T_INIT_F)
    at_most(b, w->arrived[L_UBOOT] + w->step - s->finish);
  if (w->seen[L_UBOOT] && s->kind == T_INIT_R) at_least(b, w->arrived[L_UBOOT] - s->finish - WAY);
  if (w->seen[L_REPORT]) at_most(b, w->arrived[L_REPORT] + w->step - s->finish);
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
  bounds counter = {0}, uboot = {0};
  if (w->boot == TG_NONE) return TG_OK;
  for (size_t i = first_timed(w); i < w->n_timed && w->timed[i].boot == w->boot; i++) {
    const timed *s = &w->timed[i];
    if (tg_reduce_stops(w->in, i)) return TG_EINTERRUPTED;
    if (s->kind >= T_INIT_F) {
      bound_uboot(w, s, &uboot);
    } else {
      bound_counter(w, s, &counter);
    }
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

/* Gathers the lines of one rule that have a stamp of their arrival. */
static tg_status gather_rule(walk *w, const tg_table *t, size_t kind) {
  size_t arrived = 0, stamp = 0;
  const bool kernel = tg_table_find(t, "t", &stamp) == TG_OK;
  if (tg_table_find(t, "arrived", &arrived) != TG_OK) return TG_OK;
  for (size_t row = 0; row < tg_table_rows(t); row++) {
    arrival a = {.us = -1, .kind = kind};
    if (tg_reduce_stops(w->in, row)) return TG_EINTERRUPTED;
    if (!tg_table_i64(t, row, arrived, &a.ns)) continue;
    if (kernel) (void)tg_table_i64(t, row, stamp, &a.us);
    (void)tg_table_u64(t, row, TG_REC_LINE, &a.line);
    (void)tg_table_u64(t, row, TG_REC_OFFSET, &a.offset);
    TG_TRY(tg_reserve(w->in->alloc, &w->arrivals, &w->cap_arrivals, w->n_arrivals + 1,
                      sizeof *w->arrivals));
    w->arrivals[w->n_arrivals++] = a;
    while (a.ns % w->step != 0) w->step /= 10;
  }
  return TG_OK;
}

/* Gathers the lines of a source, and the step of their stamps: the largest power of ten that
 * divides them all, at most 1 s. Of microseconds and finer ones nothing is made. */
static tg_status gather_arrivals(walk *w, const tg_records *records) {
  static const char *const *const names[] = {line_rules, bare_rules};
  size_t rules[LINES];
  w->n_arrivals = 0;
  w->step = 1000000000;
  for (size_t i = 0; i < TG_COUNT_OF(names); i++) {
    tg_rule_numbers(records, names[i], LINES, rules);
    for (size_t kind = 0; kind < LINES; kind++) {
      const tg_table *t = rules[kind] < SIZE_MAX ? tg_records_table(records, rules[kind]) : NULL;
      if (t != NULL && tg_table_rows(t) > 0) TG_TRY(gather_rule(w, t, kind));
    }
  }
  if (w->step <= 1000) w->step = 0;
  if (w->n_arrivals > 0) sort_arrivals(w->arrivals, w->n_arrivals);
  return TG_OK;
}

static tg_status reduce_source(walk *w, const tg_records *records) {
  tg_boot_memo near = {0};
  w->boot = TG_NONE;
  TG_TRY(gather_arrivals(w, records));
  if (w->n_arrivals > 0 && !w->gathered) TG_TRY(gather_timed(w));
  for (size_t i = 0; i < w->n_arrivals; i++) {
    const arrival *a = &w->arrivals[i];
    if (tg_reduce_stops(w->in, i)) return TG_EINTERRUPTED;
    const uint32_t boot = tg_boot_near(w->out, w->source, a->offset, &near);
    if (boot != w->boot) {
      TG_TRY(end_boot(w));
      begin_boot(w, boot);
    }
    TG_TRY(take(w, a->kind, a->ns, a->line));
    if (a->us >= 0 && a->us < INT64_MAX / 1000) at_most(&w->kernel, a->ns + w->step - a->us * 1000);
  }
  return end_boot(w);
}

tg_status tg_console_axes(const tg_reduce_in *in, tg_result *out, tg_error *err) {
  tg_status status = TG_OK;
  walk w = {.in = in, .out = out};
  for (size_t s = 0; s < in->n_sources && status == TG_OK; s++) {
    w.source = (uint32_t)s;
    status = reduce_source(&w, in->sources[s]);
  }
  tg_release(in->alloc, w.arrivals);
  tg_release(in->alloc, w.timed);
  if (status != TG_OK) tg_fail(err, status, 0, 0, "the console: %s", tg_status_text(status));
  return status;
}

/* kernel_pm.c - suspend, hibernation and resume as the kernel logs them: phases of all devices,
 * callbacks of one device (initcall_debug or pm_print_times), cycles from the entry to user space.
 *
 * The lines come from dmesg, journalctl, pstore or a console; the text before a line is the
 * transport's. Times between lines need the kernel's own stamp, "[  100.000100]": journalctl prints
 * it with -o short-monotonic. The phase of a callback is printed behind it: the next line of all
 * devices. Whether a cycle failed is known at its end, so its readings wait until then.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "kernel_pm.h"

#include <string.h>

#include "formats.h"

/* A line with the kernel's stamp, and the same without. NOLINTBEGIN(bugprone-macro-parentheses) */
#define STAMPED(n, t, p, more)                                                     \
  {.name = "kernel_pm." n, .pattern = "[[~{t:dec}]]{_:text}" p, .tag = (t), .soft = true, \
   .exponents = "t=-6," more},                                                     \
      {.name = "kernel_pm." n "_bare", .pattern = (p), .tag = (t), .soft = true,   \
       .exponents = more}
#define PLAIN(n, t, p) {.name = "kernel_pm." n, .pattern = (p), .tag = (t), .soft = true}
#define SECONDS(n, t, p) \
  {.name = "kernel_pm." n, .pattern = (p), .tag = (t), .soft = true, .exponents = "s=-3"}
/* NOLINTEND(bugprone-macro-parentheses) */

static const tg_rule_def rules[] = {
    STAMPED("entry", "suspend entry", "PM: suspend entry ({mode:word})", ""),
    /* Android's kernels before 5.4 print the time of day here */
    STAMPED("entry_utc", "suspend entry", "PM: suspend entry {_:uint}-{_:text} UTC", ""),
    STAMPED("hibernate", "hibernation entry", "hibernation entry", ""),
    STAMPED("sync_old", "Syncing", "PM: Syncing filesystems", ""),
    STAMPED("exit", "suspend exit", "PM: suspend exit", ""),
    STAMPED("hibernated", "hibernation exit", "hibernation exit", ""),
    STAMPED("tasks", "Restarting", "Restarting tasks", ""),
    STAMPED("phase", "of devices",
            "PM: {phase:text} of devices {state:complete|aborted} after "
            "{ms:dec} msecs",
            "ms=-3"),
    PLAIN("mode_old", "Preparing", "PM: Preparing system for {mode:word} sleep"),
    PLAIN("mode", "Preparing", "PM: Preparing system for sleep ({mode:word})"),
    PLAIN("call_old", "+ returned", "call {device:text}+ returned {ret:int} after {us:uint} usecs"),
    PLAIN("call", "returned",
          "{driver:word} {device:word}: PM: {_:word} returned {ret:int} after "
          "{us:uint} usecs"),
    PLAIN("call_bus", "returned",
          "{device:word}: PM: {_:word} returned {ret:int} after {us:uint} "
          "usecs"),
    /* 6.9 and newer name the module of the function; the others come first, they have fast ways */
    PLAIN("call_module", "returned",
          "{driver:word} {device:word}: PM: {_:word} [[{_:word}]] returned "
          "{ret:int} after {us:uint} usecs"),
    PLAIN("call_bus_module", "returned",
          "{device:word}: PM: {_:word} [[{_:word}]] returned {ret:int} "
          "after {us:uint} usecs"),
    /* 2.6.29 to 3.0 */
    {.name = "kernel_pm.device",
     .tag = "of drv:",
     .soft = true,
     .exponents = "ms=-3",
     .pattern = "PM: {phase:text} of drv:[{driver:text}] dev:{device:text} complete after {ms:dec} "
                "msecs"},
    STAMPED("down", "Preparing to enter", "Preparing to enter system sleep state", ""),
    STAMPED("down_idle", "PM: suspend-to-idle", "PM: suspend-to-idle", ""),
    STAMPED("up", "Waking up from", "Waking up from system sleep state", ""),
    STAMPED("up_idle", "resume from suspend-to-idle", "PM: resume from suspend-to-idle", ""),
    SECONDS("took", "devices took", "PM: {phase:text} devices took {s:dec} seconds"),
    SECONDS("image", "kbytes in",
            "{phase:Allocated|Wrote|Read} {_:uint} kbytes in {s:dec} seconds"),
    SECONDS("freeze", "(elapsed",
            "Freezing {tasks:user space|remaining}{_:text} "
            "(elapsed {s:dec} seconds)"),
    PLAIN("freeze_aborted", "aborted after", "Freezing {_:text} aborted after {_:dec} seconds"),
    PLAIN("freeze_failed", "failed after", "Freezing {_:text} failed after {_:dec} seconds"),
    SECONDS("sync", "sync:", "Filesystems sync: {s:dec} seconds"),
    SECONDS("asleep", "Timekeeping", "Timekeeping suspended for {s:dec} seconds"),
    PLAIN("failed", "devices failed", "PM: Some devices failed to {_:text}"),
    PLAIN("wakeup_pending", "Wakeup pending", "Wakeup pending, aborting suspend"),
    PLAIN("wakeup_irq", "Triggering", "Triggering wakeup from {wakeup:text}"),
    PLAIN("wakeup_source", "wakeup source:", "active wakeup source: {wakeup:text}"),
    PLAIN("wakeup_cause", "Resume caused by", "Resume caused by {wakeup:text}"),
    PLAIN("wakeup_board", "Wakeup source", "PM: Wakeup source {wakeup:text}"),
    PLAIN("aborted", "Abort:", "Abort: {wakeup:text}"),
};

typedef enum line_kind {
  L_NONE,
  L_ENTRY,
  L_HIBERNATE,
  L_SYNC_OLD,
  L_EXIT,
  L_TASKS,
  L_PHASE,
  L_MODE,
  L_CALL,
  L_FREEZE,
  L_FAILED,
  L_SYNC,
  L_ASLEEP,
  L_WAKEUP,
  L_ABORT,
  L_DEVICE,
  L_DOWN,
  L_UP,
  L_TOOK,
  L_IMAGE
} line_kind;

static const struct {
  const char *rule;
  line_kind kind;
} lines[] = {
    {"entry", L_ENTRY},         {"hibernate", L_HIBERNATE},     {"sync_old", L_SYNC_OLD},
    {"entry_utc", L_ENTRY},     {"freeze_aborted", L_FAILED},
    {"exit", L_EXIT},           {"hibernated", L_EXIT},         {"tasks", L_TASKS},
    {"phase", L_PHASE},         {"mode_old", L_MODE},           {"mode", L_MODE},
    {"call_old", L_CALL},       {"call", L_CALL},               {"call_bus", L_CALL},
    {"freeze", L_FREEZE},       {"freeze_failed", L_FAILED},    {"sync", L_SYNC},
    {"asleep", L_ASLEEP},       {"failed", L_FAILED},           {"wakeup_pending", L_FAILED},
    {"wakeup_irq", L_WAKEUP},   {"wakeup_source", L_WAKEUP},    {"wakeup_cause", L_WAKEUP},
    {"wakeup_board", L_WAKEUP}, {"aborted", L_ABORT},           {"device", L_DEVICE},
    {"call_module", L_CALL},    {"call_bus_module", L_CALL},    {"down", L_DOWN},
    {"down_idle", L_DOWN},      {"up", L_UP},                   {"up_idle", L_UP},
    {"took", L_TOOK},           {"image", L_IMAGE},
};

/* Where the fields of a rule are; SIZE_MAX: it has no such field. */
typedef struct line_rule {
  line_kind kind;
  size_t t, mode, phase, state, ms, s, us, ret, device, driver, tasks, wakeup;
} line_rule;

static line_rule look_at(const tg_ruleset *set, size_t rule) {
  static const char *const names[] = {"t",  "mode", "phase",  "state",  "ms",   "s",
                                      "us", "ret",  "device", "driver", "tasks", "wakeup"};
  line_rule r = {.kind = L_NONE};
  size_t *const at[] = {&r.t,  &r.mode, &r.phase,  &r.state,  &r.ms,   &r.s,
                        &r.us, &r.ret,  &r.device, &r.driver, &r.tasks, &r.wakeup};
  const char *name = tg_ruleset_name(set, rule);
  if (strncmp(name, "kernel_pm.", 10) != 0) return r;
  name += 10;
  for (size_t i = 0; i < TG_COUNT_OF(lines) && r.kind == L_NONE; i++) {
    const size_t n = strlen(lines[i].rule);
    const bool same = strncmp(name, lines[i].rule, n) == 0;
    if (same && (name[n] == '\0' || strcmp(name + n, "_bare") == 0)) r.kind = lines[i].kind;
  }
  for (size_t k = 0; k < TG_COUNT_OF(names); k++) {
    *at[k] = SIZE_MAX;
    for (size_t f = 0; f < tg_ruleset_fields(set, rule); f++) {
      tg_field_info info;
      if (tg_ruleset_field(set, rule, f, &info) == TG_OK && strcmp(info.name, names[k]) == 0)
        *at[k] = TG_REC_FIELD + f;
    }
  }
  return r;
}

/* One line of the kernel. */
typedef struct pm_line {
  const line_rule *rule;
  const tg_table *t;
  tg_record at;
  int64_t stamp;
} pm_line;

static tg_str text_of(const pm_line *l, size_t col) {
  tg_str v = {NULL, 0};
  (void)tg_table_text(l->t, l->at.row, col, &v);
  return v;
}

static int64_t number_of(const pm_line *l, size_t col) {
  int64_t v = 0;
  uint64_t u = 0;
  if (tg_table_u64(l->t, l->at.row, col, &u)) return u < INT64_MAX ? (int64_t)u : INT64_MAX;
  (void)tg_table_i64(l->t, l->at.row, col, &v);
  return v;
}

/* Whether all that was read outside a cycle is the time that file systems took: newer kernels write
 * them before they print the entry. */
static bool only_syncs(const tg_pm_walk *w) {
  if (w->cycle.open) return false;
  for (size_t i = 0; i < w->n_items; i++)
    if (w->items[i].kind != TG_PM_SYNC) return false;
  return true;
}

/* A cycle begins with this line; one that is still open has lost its end. Vendors' kernels print
 * the entry twice. */
static tg_status begin_cycle(tg_pm_walk *w, const pm_line *l, tg_str mode) {
  if (w->cycle.fresh && w->cycle.boot == w->boot) {
    if (w->cycle.mode.n == 0) w->cycle.mode = mode;
    return TG_OK;
  }
  if (!only_syncs(w)) TG_TRY(tg_pm_flush(w));
  w->cycle.fresh = true;
  w->cycle.open = true;
  w->cycle.mode = mode;
  w->cycle.entry = l->stamp;
  w->cycle.boot = w->boot;
  w->cycle.first_line = l->at.line;
  return TG_OK;
}

static tg_status end_cycle(tg_pm_walk *w, const pm_line *l) {
  if (!w->cycle.open) return tg_pm_flush(w);
  w->cycle.exit = l->stamp;
  w->cycle.complete = true;
  return tg_pm_flush(w);
}

/* Whether the phase is one of the way back. */
static bool is_back(tg_str phase) {
  static const char *const verbs[] = {"resume", "thaw", "restore", "recover"};
  for (size_t i = 0; i < TG_COUNT_OF(verbs); i++) {
    const size_t n = strlen(verbs[i]);
    if (phase.n >= n && memcmp(phase.p + phase.n - n, verbs[i], n) == 0) return true;
  }
  return false;
}

static tg_status add_phase(tg_pm_walk *w, const pm_line *l) {
  const tg_str phase = text_of(l, l->rule->phase), state = text_of(l, l->rule->state);
  const int64_t ms = number_of(l, l->rule->ms);
  const bool back = is_back(phase);
  if (!w->cycle.open && !back && w->cycle.resumes) TG_TRY(tg_pm_flush(w));
  if (state.n > 0 && state.p[0] == 'a' && !back) w->cycle.failed = true;
  if (!back && !w->cycle.resumes) w->cycle.down = l->stamp;
  if (back && !w->cycle.resumes && l->stamp != TG_PM_NO_STAMP) w->cycle.up = l->stamp - ms;
  w->cycle.resumes = w->cycle.resumes || back;
  tg_pm_phase(w, phase);
  tg_pm_item item = {.operation = phase, .value = ms, .line = l->at.line, .offset = l->at.offset,
                     .boot = w->boot, .kind = TG_PM_PHASE};
  TG_TRY(tg_pm_add(w, &item));
  w->unphased = w->n_items;
  return TG_OK;
}

/* A driver's or device's name without a prefix in brackets: "[pid:916]usb", "T436]". */
static tg_str bare_name(tg_str name) {
  for (size_t i = name.n; i > 0; i--)
    if (name.p[i - 1] == ']') return (tg_str){name.p + i, name.n - i};
  return name;
}

static tg_status add_call(tg_pm_walk *w, const pm_line *l) {
  const tg_pm_item item = {.device = bare_name(text_of(l, l->rule->device)),
                           .driver = bare_name(text_of(l, l->rule->driver)),
                           .value = number_of(l, l->rule->us),
                           .failed = number_of(l, l->rule->ret) < 0,
                           .line = l->at.line,
                           .offset = l->at.offset,
                           .boot = w->boot,
                           .kind = TG_PM_CALLBACK};
  return tg_pm_add(w, &item);
}

/* A device in a phase that its own line names. */
static tg_status add_device(tg_pm_walk *w, const pm_line *l) {
  const tg_pm_item item = {.operation = text_of(l, l->rule->phase),
                           .device = text_of(l, l->rule->device),
                           .driver = text_of(l, l->rule->driver),
                           .value = number_of(l, l->rule->ms), /* ms with three decimals: us */
                           .line = l->at.line,
                           .offset = l->at.offset,
                           .boot = w->boot,
                           .kind = TG_PM_CALLBACK};
  return tg_pm_add(w, &item);
}

static tg_status add_seconds(tg_pm_walk *w, const pm_line *l, tg_pm_kind kind, tg_str operation) {
  const tg_pm_item item = {.operation = operation, .value = number_of(l, l->rule->s),
                           .line = l->at.line, .offset = l->at.offset, .boot = w->boot,
                           .kind = kind};
  return tg_pm_add(w, &item);
}

/* Old kernels end a cycle where tasks go on; newer ones print an exit behind that line. */
static tg_status tasks_go_on(tg_pm_walk *w, const pm_line *l, bool exits) {
  if (w->cycle.open && w->cycle.tasks == TG_PM_NO_STAMP) w->cycle.tasks = l->stamp;
  return exits ? TG_OK : end_cycle(w, l);
}

/* A line that states a time. */
static tg_status add_time(tg_pm_walk *w, const pm_line *l) {
  switch (l->rule->kind) {
    case L_PHASE:
      return add_phase(w, l);
    case L_CALL:
      return add_call(w, l);
    case L_DEVICE:
      return add_device(w, l);
    case L_FREEZE:
      return add_seconds(
          w, l, TG_PM_FREEZE,
          tg_str_of(text_of(l, l->rule->tasks).p[0] == 'u' ? "user" : "kernel"));
    case L_SYNC:
      return add_seconds(w, l, TG_PM_SYNC, tg_str_of("filesystems"));
    case L_ASLEEP:
      return add_seconds(w, l, TG_PM_ASLEEP, tg_str_of(NULL));
    case L_TOOK:
      return add_seconds(w, l, TG_PM_TOOK, text_of(l, l->rule->phase));
    case L_IMAGE:
      return add_seconds(w, l, TG_PM_IMAGE, text_of(l, l->rule->phase));
    default: /* a line of take_line */
      return TG_OK;
  }
}

static tg_status take_line(tg_pm_walk *w, const pm_line *l, bool exits) {
  tg_pm_cycle *c = &w->cycle;
  const line_kind kind = l->rule->kind;
  const bool early = c->open && !c->resumes && c->down == TG_PM_NO_STAMP;
  if (kind == L_ENTRY) return begin_cycle(w, l, text_of(l, l->rule->mode));
  if (kind == L_HIBERNATE) return begin_cycle(w, l, tg_str_of("disk"));
  if (kind != L_MODE) c->fresh = false;
  c->last_line = l->at.line;
  c->last_offset = l->at.offset;
  switch (kind) {
    case L_SYNC_OLD:
      return early || exits ? TG_OK : begin_cycle(w, l, tg_str_of("disk"));
    case L_MODE:
      if (c->open && (!exits || c->mode.n == 0)) c->mode = text_of(l, l->rule->mode);
      return TG_OK;
    case L_EXIT:
      return end_cycle(w, l);
    case L_TASKS:
      return tasks_go_on(w, l, exits);
    case L_DOWN:
      c->asleep = l->stamp;
      return TG_OK;
    case L_UP:
      if (c->awake == TG_PM_NO_STAMP) c->awake = l->stamp;
      return TG_OK;
    case L_ABORT:
    case L_FAILED:
    case L_WAKEUP:
      if (kind != L_WAKEUP) c->failed = true;
      if (kind != L_FAILED && c->wakeup.n == 0) c->wakeup = text_of(l, l->rule->wakeup);
      return TG_OK;
    default:
      return add_time(w, l);
  }
}

/* Walks the records of one source. `exits`: its kernel prints the entry and the exit of a cycle. */
static tg_status walk_source(tg_pm_walk *w, const tg_records *records, const line_rule *map,
                             bool exits) {
  tg_boot_memo near = {0};
  TG_TRY(tg_pm_flush(w));
  w->runs = 0;
  w->boot = TG_NONE;
  for (size_t i = 0; i < tg_records_count(records); i++) {
    const tg_record at = tg_records_at(records, i);
    if (tg_reduce_stops(w->in, i)) return TG_EINTERRUPTED;
    if (map[at.rule].kind == L_NONE) continue;
    pm_line line = {&map[at.rule], tg_records_table(records, at.rule), at, TG_PM_NO_STAMP};
    (void)tg_table_i64(line.t, at.row, map[at.rule].t, &line.stamp);
    const uint32_t boot = tg_boot_near(w->out, w->source, at.offset, &near);
    if (boot != w->boot) {
      TG_TRY(tg_pm_flush(w));
      w->runs = 0;
      w->boot = boot;
    }
    TG_TRY(take_line(w, &line, exits));
  }
  return tg_pm_flush(w);
}

static tg_status reduce_source(tg_pm_walk *w, const tg_records *records) {
  const tg_ruleset *set = tg_records_rules(records);
  const size_t n = tg_ruleset_count(set);
  bool exits = false;
  line_rule *map = tg_take(w->in->alloc, n + 1, sizeof *map);
  if (map == NULL) return TG_ENOMEM;
  for (size_t r = 0; r < n; r++) {
    map[r] = look_at(set, r);
    const bool marks = map[r].kind == L_EXIT || map[r].kind == L_ENTRY ||
                       map[r].kind == L_HIBERNATE;
    exits = exits || (marks && tg_table_rows(tg_records_table(records, r)) > 0);
  }
  const tg_status status = walk_source(w, records, map, exits);
  tg_release(w->in->alloc, map);
  return status;
}

static tg_status reduce(const tg_reduce_in *in, tg_result *out, tg_error *err) {
  tg_pm_walk w = {.in = in, .out = out};
  tg_status status = TG_OK;
  for (size_t s = 0; s < in->n_sources && status == TG_OK; s++) {
    w.source = (uint32_t)s;
    status = reduce_source(&w, in->sources[s]);
  }
  tg_release(in->alloc, w.items);
  if (status != TG_OK)
    tg_fail(err, status, 0, 0, "suspend and resume: %s", tg_status_text(status));
  return status;
}

const tg_format tg_format_kernel_pm = {
    .name = "kernel_pm",
    .title = "suspend and resume as the Linux kernel logs them",
    .rules = rules,
    .n_rules = TG_COUNT_OF(rules),
    .example = "[  100.000100] PM: suspend entry (deep)\n"
               "[  100.050000] PM: suspend of devices complete after 35.123 msecs\n"
               "[  100.230000] PM: suspend exit\n",
    .reduce = reduce,
};

/* ftrace.c - Linux tracepoints as tracefs, trace-cmd report and perf script print them: SMCs of
 * the OP-TEE driver joined into calls, idle states, suspend and resume.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "ftrace.h"

#include <string.h>

#include "boots.h"
#include "formats.h"
#include "reducer.h"

/* Every event in two rules: clocks that count (counter, uptime) print no decimal point. The
 * arguments are string literals, which only stand side by side without parentheses.
 * NOLINTBEGIN(bugprone-macro-parentheses) */
#define HEAD(clock) "{head:text} {t:" clock "}: ~[(+{gap:uint}) ~]"
#define EVENT(n, tagged, rest)                                                   \
  {.name = "ftrace." n "_ticks", .pattern = HEAD("uint") rest, .tag = (tagged)}, \
      {.name = "ftrace." n, .pattern = HEAD("dec") rest, .tag = (tagged), .exponents = "t=-9"}
/* NOLINTEND(bugprone-macro-parentheses) */

static const tg_rule_def rules[] = {
    EVENT("begin", "optee_invoke_fn_begin:",
          "[optee:]optee_invoke_fn_begin: ~param={param:word} ({a0:hex}, {rest:text}"),
    EVENT("end", "optee_invoke_fn_end:",
          "[optee:]optee_invoke_fn_end: ~param={param:word} ret ({a0:hex}, {rest:text}"),
    EVENT("begin_raw", "optee_invoke_fn_begin:",
          "[optee:]optee_invoke_fn_begin: ~param={param:word} "
          "args=ARRAY[[{b0:hex}, {b1:hex}, {b2:hex}, {b3:hex}, {rest:text}"),
    EVENT("end_raw", "optee_invoke_fn_end:",
          "[optee:]optee_invoke_fn_end: ~param={param:word} "
          "rets=ARRAY[[{b0:hex}, {b1:hex}, {b2:hex}, {b3:hex}, {rest:text}"),
    EVENT("cpu_idle", "cpu_idle:", "[power:]cpu_idle: ~state={state:uint} cpu_id={cpu:uint}"),
    EVENT("psci_enter", "psci_domain_idle_enter:",
          "[power:]psci_domain_idle_enter: ~cpu_id={cpu:uint} state=0x{state:hex}"),
    EVENT("psci_exit", "psci_domain_idle_exit:",
          "[power:]psci_domain_idle_exit: ~cpu_id={cpu:uint} state=0x{state:hex}"),
    EVENT("suspend_resume", "suspend_resume:",
          "[power:]suspend_resume: ~{action:word}[[{val:uint}]] {what:begin|end}"),
    {.name = "ftrace.lost",
     .pattern = "CPU:{cpu:uint} [[LOST[ {n:uint}] EVENTS]]",
     .tag = "EVENTS]",
     .soft = true},
    {.name = "ftrace.entries",
     .pattern = "entries-in-buffer/entries-written: {in:uint}/{written:uint}"},
};

/* Fields in the order of the templates. */
enum { F_HEAD, F_TIME, F_GAP, F_FIRST };

/* One rule of the set: which event it is, and whether its clock counts. */
typedef struct event_rule {
  tg_trace_kind kind;
  bool ticks, raw;
} event_rule;

static const struct {
  const char *name;
  tg_trace_kind kind;
  bool raw;
} kinds[] = {
    {"begin", TG_TRACE_BEGIN, false},         {"end", TG_TRACE_END, false},
    {"begin_raw", TG_TRACE_BEGIN, true},      {"end_raw", TG_TRACE_END, true},
    {"cpu_idle", TG_TRACE_CPU_IDLE, false},   {"psci_enter", TG_TRACE_PSCI_ENTER, false},
    {"psci_exit", TG_TRACE_PSCI_EXIT, false}, {"suspend_resume", TG_TRACE_SUSPEND, false},
    {"lost", TG_TRACE_LOST, false},           {"entries", TG_TRACE_ENTRIES, false},
};

/* The event of the rule called `name`; TG_TRACE_NONE for rules of other formats. */
static event_rule rule_of(const char *name) {
  event_rule r = {TG_TRACE_NONE, false, false};
  if (strncmp(name, "ftrace.", 7) != 0) return r;
  name += 7;
  for (size_t i = 0; i < TG_COUNT_OF(kinds); i++) {
    size_t n = strlen(kinds[i].name);
    if (strncmp(name, kinds[i].name, n) != 0) continue;
    if (name[n] != '\0' && strcmp(name + n, "_ticks") != 0) continue;
    r.kind = kinds[i].kind;
    r.raw = kinds[i].raw;
    r.ticks = name[n] != '\0';
  }
  return r;
}

/* The pointer that names a call's arguments: a number, hashed or not, or else a hash of the
 * text there. */
static uint64_t param_id(tg_str s) {
  uint64_t v = 0;
  if (s.n > 2 && s.p[0] == '0' && (s.p[1] | 0x20) == 'x') {
    s.p += 2;
    s.n -= 2;
  }
  if (tg_parse_hex(s.p, s.p + s.n, true, &v) == TG_OK) return v;
  v = UINT64_C(14695981039346656037);
  for (size_t i = 0; i < s.n; i++) v = (v ^ s.p[i]) * UINT64_C(1099511628211);
  return v;
}

static uint64_t number(const tg_table *t, size_t row, size_t field) {
  uint64_t v = 0;
  (void)tg_table_u64(t, row, TG_REC_FIELD + field, &v);
  return v;
}

/* Fills the event from its record. False where the head is of no known form. */
static bool read_event(const tg_table *t, size_t row, const event_rule *rule, tg_trace_event *e) {
  tg_str text = {NULL, 0};
  uint64_t ticks = 0;
  if (!tg_table_text(t, row, TG_REC_FIELD + F_HEAD, &text)) return false;
  if (!tg_trace_head_parse(text, &e->head)) return false;
  if (rule->ticks) {
    ticks = number(t, row, F_TIME);
    if (ticks > INT64_MAX) return false;
    e->time = (int64_t)ticks;
  } else if (!tg_table_i64(t, row, TG_REC_FIELD + F_TIME, &e->time) || e->time < 0) {
    return false; /* no clock of the kernel runs below 0: differences of times cannot overflow */
  }
  e->ticks = rule->ticks;
  e->kind = rule->kind;
  switch (rule->kind) {
    case TG_TRACE_BEGIN:
    case TG_TRACE_END:
      if (!tg_table_text(t, row, TG_REC_FIELD + F_FIRST, &text)) return false;
      e->param = param_id(text);
      e->code = number(t, row, F_FIRST + 1) & 0xffffffff;
      for (size_t b = 1; b < 4 && rule->raw; b++) {
        e->code |= (number(t, row, F_FIRST + 1 + b) & 0xff) << (8 * b);
      }
      return true;
    case TG_TRACE_CPU_IDLE:
      e->code = number(t, row, F_FIRST);
      e->param = number(t, row, F_FIRST + 1);
      return true;
    case TG_TRACE_PSCI_ENTER:
    case TG_TRACE_PSCI_EXIT:
      e->param = number(t, row, F_FIRST);
      e->code = number(t, row, F_FIRST + 1);
      return true;
    case TG_TRACE_SUSPEND:
      if (!tg_table_text(t, row, TG_REC_FIELD + F_FIRST + 2, &text)) return false;
      e->begins = text.n == 5;
      e->code = number(t, row, F_FIRST + 1);
      return tg_table_text(t, row, TG_REC_FIELD + F_FIRST, &e->name);
    case TG_TRACE_NONE:
    case TG_TRACE_LOST:
    case TG_TRACE_ENTRIES:
      break;
  }
  return false;
}

/* The stamps' step in ns: 1000 where all are whole microseconds. */
static uint64_t resolution_of(const tg_records *records, const event_rule *map, size_t n_rules) {
  for (size_t r = 0; r < n_rules; r++) {
    if (map[r].kind == TG_TRACE_NONE || map[r].kind >= TG_TRACE_LOST || map[r].ticks) continue;
    const tg_table *t = tg_records_table(records, r);
    for (size_t row = 0; t != NULL && row < tg_table_rows(t); row++) {
      int64_t v = 0;
      if (tg_table_i64(t, row, TG_REC_FIELD + F_TIME, &v) && v % 1000 != 0) return 1;
    }
  }
  return 1000;
}

/* Where the buffers of all processors reach back to, if the header says that old events were
 * overwritten: the latest of their first stamps; INT64_MIN otherwise. */
static int64_t whole_since(const tg_records *records, const event_rule *map) {
  int64_t first[TG_TRACE_CPUS];
  bool lost = false;
  uint64_t seen[TG_TRACE_CPUS / 64] = {0};
  int64_t latest = INT64_MIN;
  for (size_t i = 0; i < tg_records_count(records); i++) {
    tg_record at = tg_records_at(records, i);
    const tg_table *t = tg_records_table(records, at.rule);
    const event_rule *rule = &map[at.rule];
    tg_trace_event e = {0};
    if (rule->kind == TG_TRACE_ENTRIES) lost = number(t, at.row, 0) < number(t, at.row, 1);
    if (rule->kind == TG_TRACE_NONE || rule->kind >= TG_TRACE_LOST) continue;
    if (!lost) return INT64_MIN; /* the header stands before the first event */
    if (!read_event(t, at.row, rule, &e) || e.head.cpu >= TG_TRACE_CPUS) continue;
    uint64_t bit = UINT64_C(1) << (e.head.cpu % 64);
    if (seen[e.head.cpu / 64] & bit) continue;
    seen[e.head.cpu / 64] |= bit;
    first[e.head.cpu] = e.time;
    if (first[e.head.cpu] > latest) latest = first[e.head.cpu];
  }
  return latest;
}

static tg_status unreadable(tg_result *out, uint32_t source, const tg_record *at) {
  return tg_result_problem(out, source, at->line, at->offset, "ftrace", "no-task",
                           "the text before the time names no task, pid and cpu");
}

/* Feeds the events of one source, in order. */
static tg_status feed_records(const tg_reduce_in *in, tg_result *out, uint32_t source,
                              const event_rule *map, tg_trace *trace) {
  const tg_records *records = in->sources[source];
  tg_boot_memo near = {0};
  for (size_t i = 0; i < tg_records_count(records); i++) {
    tg_record at = tg_records_at(records, i);
    const tg_table *t = tg_records_table(records, at.rule);
    tg_trace_event e = {.line = at.line, .offset = at.offset};
    const tg_trace_kind kind = map[at.rule].kind;
    if (tg_reduce_stops(in, i)) return TG_EINTERRUPTED;
    if (kind == TG_TRACE_LOST)
      TG_TRY(tg_trace_lost(trace, at.line, at.offset, number(t, at.row, 1)));
    if (kind == TG_TRACE_NONE || kind >= TG_TRACE_LOST) continue;
    e.boot = tg_boot_near(out, source, at.offset, &near);
    TG_TRY(read_event(t, at.row, &map[at.rule], &e) ? tg_trace_feed(trace, &e)
                                                    : unreadable(out, source, &at));
  }
  return tg_trace_finish(trace);
}

/* Walks the events of one source. */
static tg_status reduce_source(const tg_reduce_in *in, tg_result *out, uint32_t source) {
  const tg_records *records = in->sources[source];
  const tg_ruleset *set = tg_records_rules(records);
  const size_t n_rules = tg_ruleset_count(set);
  tg_trace *trace = NULL;
  event_rule *map = tg_take(in->alloc, n_rules + 1, sizeof *map);
  if (map == NULL) return TG_ENOMEM;
  for (size_t r = 0; r < n_rules; r++) map[r] = rule_of(tg_ruleset_name(set, r));
  tg_status status = tg_trace_new(in, out, source, resolution_of(records, map, n_rules),
                                  whole_since(records, map), &trace);
  if (status == TG_OK) status = feed_records(in, out, source, map, trace);
  tg_trace_free(trace);
  tg_release(in->alloc, map);
  return status;
}

static tg_status reduce(const tg_reduce_in *in, tg_result *out, tg_error *err) {
  tg_status status = TG_OK;
  for (size_t s = 0; s < in->n_sources && status == TG_OK; s++) {
    status = reduce_source(in, out, (uint32_t)s);
  }
  if (status != TG_OK) tg_fail(err, status, 0, 0, "the tracepoints: %s", tg_status_text(status));
  return status;
}

const tg_format tg_format_ftrace = {
    .name = "ftrace",
    .title = "Linux tracepoints (tracefs, trace-cmd report, perf script)",
    .rules = rules,
    .n_rules = TG_COUNT_OF(rules),
    .observation = TG_OBSERVATION_BOOT,
    .example = "# entries-in-buffer/entries-written: 2/2   #P:2\n"
               " optee_example_h-337     [000] .....  3456.092741: optee_invoke_fn_begin: "
               "param=000000008ab15a0a (32000003, 0, 0, 0, 0, 0, 0, 0)\n"
               " optee_example_h-337     [000] .....  3456.099215: optee_invoke_fn_end: "
               "param=000000008ab15a0a ret (ffff0005, 0, 0, 0)\n",
    .reduce = reduce,
};

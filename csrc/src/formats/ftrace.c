/* ftrace.c - Linux tracepoints as tracefs, trace-cmd report and perf script print them: SMCs of
 * the OP-TEE driver joined into calls, idle states, suspend and resume.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "ftrace.h"

#include <string.h>

#include "base/mem.h"
#include "boots.h"
#include "formats.h"
#include "ftrace_order.h"
#include "reducer.h"

/* Every event in several rules, the usual ones first: with a decimal point; clocks that count
 * (counter, uptime) print none; the latency format and the option `verbose`; perf script without
 * task and cpu; the graph tracer with absolute times, which shows events as comments. The
 * arguments are string literals, which only stand side by side without parentheses.
 * NOLINTBEGIN(bugprone-macro-parentheses) */
#define HEAD(clock) "{head:text} {t:" clock "}: ~[(+{gap:uint}) ~]"
#define MARK "{_:+|!|#|*|@|$| }" /* a delay's mark: how long until the next event */
#define EVENT(n, tagged, rest)                                                             \
  {.name = "ftrace." n "_ticks", .pattern = HEAD("uint") rest, .tag = (tagged)},           \
      {.name = "ftrace." n, .pattern = HEAD("dec") rest, .tag = (tagged), .exponents = "t=-9"}, \
      {.name = "ftrace." n "_latency",                                                     \
       .pattern = "{head:text} {t:uint}us" MARK ": ~" rest,                                \
       .tag = (tagged)},                                                                   \
      {.name = "ftrace." n "_verbose",                                                     \
       .pattern = "{head:text} [[{_:hex}]] {t:dec}ms (+{_:dec}ms): ~" rest,                \
       .tag = (tagged),                                                                    \
       .exponents = "t=-6"},                                                               \
      {.name = "ftrace." n "_timed",                                                       \
       .pattern = "^~{t:dec}: ~" rest,                                                     \
       .tag = (tagged),                                                                    \
       .exponents = "t=-9"},                                                               \
      {.name = "ftrace." n "_graph",                                                       \
       .pattern = "^~{t:dec} |~{cpu_at:uint}){head:text}/* ~" rest,                        \
       .tag = (tagged),                                                                    \
       .exponents = "t=-9"}
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

/* The columns of a rule's records that make an event; TG_NONE for those it has not. */
typedef struct event_fields {
  uint32_t head, t, cpu_at, param, code, cpu, action, what;
} event_fields;

/* One rule of the set: which event it is, and how its time is told. */
typedef struct event_rule {
  tg_trace_kind kind;
  bool ticks, raw;
  bool graph;    /* its head is the graph, with the task only where that is shown */
  int64_t scale; /* of its time, to ns */
  event_fields f;
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

/* The forms, by the text behind the name of the event. */
static const struct {
  const char *suffix;
  bool ticks, graph;
  int64_t scale;
} forms[] = {
    {"", false, false, 1},         {"_ticks", true, false, 1},  {"_latency", false, false, 1000},
    {"_verbose", false, false, 1}, {"_timed", false, false, 1}, {"_graph", false, true, 1},
};

static uint32_t field_of(const tg_ruleset *set, size_t rule, const char *name) {
  tg_field_info info;
  for (size_t f = 0; f < tg_ruleset_fields(set, rule); f++) {
    if (tg_ruleset_field(set, rule, f, &info) == TG_OK && strcmp(info.name, name) == 0)
      return (uint32_t)(TG_REC_FIELD + f);
  }
  return TG_NONE;
}

static event_fields fields_of(const tg_ruleset *set, size_t rule, const event_rule *r) {
  const bool idle = r->kind == TG_TRACE_CPU_IDLE || r->kind == TG_TRACE_PSCI_ENTER ||
                    r->kind == TG_TRACE_PSCI_EXIT;
  return (event_fields){.head = field_of(set, rule, "head"),
                        .t = field_of(set, rule, "t"),
                        .cpu_at = field_of(set, rule, "cpu_at"),
                        .param = field_of(set, rule, "param"),
                        .code = field_of(set, rule, r->raw ? "b0" : idle ? "state"
                                                    : r->kind == TG_TRACE_SUSPEND ? "val"
                                                                                  : "a0"),
                        .cpu = field_of(set, rule, "cpu"),
                        .action = field_of(set, rule, "action"),
                        .what = field_of(set, rule, "what")};
}

/* The event of a rule; TG_TRACE_NONE for rules of other formats. */
static event_rule rule_of(const tg_ruleset *set, size_t rule) {
  event_rule r = {.kind = TG_TRACE_NONE, .scale = 1};
  const char *name = tg_ruleset_name(set, rule);
  if (strncmp(name, "ftrace.", 7) != 0) return r;
  name += 7;
  for (size_t i = 0; i < TG_COUNT_OF(kinds); i++) {
    const size_t n = strlen(kinds[i].name);
    if (strncmp(name, kinds[i].name, n) != 0) continue;
    for (size_t k = 0; k < TG_COUNT_OF(forms); k++) {
      if (strcmp(name + n, forms[k].suffix) != 0) continue;
      r.kind = kinds[i].kind;
      r.raw = kinds[i].raw;
      r.ticks = forms[k].ticks;
      r.graph = forms[k].graph;
      r.scale = forms[k].scale;
    }
  }
  if (r.kind != TG_TRACE_NONE) r.f = fields_of(set, rule, &r);
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

static uint64_t number(const tg_table *t, size_t row, size_t column) {
  uint64_t v = 0;
  if (column != TG_NONE) (void)tg_table_u64(t, row, column, &v);
  return v;
}

static bool text_at(const tg_table *t, size_t row, size_t column, tg_str *out) {
  return column != TG_NONE && tg_table_text(t, row, column, out);
}

/* The time of an event. False where it is none that a kernel's clock gives: none of them runs below
 * 0, so differences of times cannot overflow. */
static bool read_time(const tg_table *t, size_t row, const event_rule *rule, int64_t *time) {
  uint64_t count = 0;
  if (tg_table_u64(t, row, rule->f.t, &count)) {
    if (count > (uint64_t)(INT64_MAX / rule->scale)) return false;
    *time = (int64_t)count * rule->scale;
    return true;
  }
  return tg_table_i64(t, row, rule->f.t, time) && *time >= 0;
}

/* A head that was read. A column keeps a word once, so a text at one place is one text. */
typedef struct known_head {
  tg_str text;
  tg_trace_head head;
  bool known_form;
} known_head;

enum { HEADS = 256 }; /* a power of two: the tasks of a trace are few */

static bool parse_head(known_head *memo, tg_str text, tg_trace_head *head) {
  known_head *at = &memo[((uintptr_t)text.p ^ (uintptr_t)text.p >> 8) % HEADS];
  if (at->text.p != text.p || at->text.n != text.n) {
    at->text = text;
    at->head = *head;
    at->known_form = tg_trace_head_parse(text, &at->head);
  }
  *head = at->head;
  return at->known_form;
}

/* Task, pid and cpu, as far as the form tells them. False where the head is of no known form. */
static bool read_head(known_head *memo, const tg_table *t, size_t row, const event_rule *rule,
                      tg_trace_head *head) {
  tg_str text = {NULL, 0};
  *head = (tg_trace_head){.cpu = TG_TRACE_NO_CPU};
  (void)text_at(t, row, rule->f.head, &text);
  if (rule->graph) {
    head->cpu = (uint32_t)number(t, row, rule->f.cpu_at);
    tg_trace_graph_task(text, head);
    return true;
  }
  while (text.n > 0 && text.p[text.n - 1] <= ' ') text.n--;
  return text.n == 0 || parse_head(memo, text, head);
}

/* Fills the event from its record. False where the head or the time is of no known form. */
static bool read_event(known_head *memo, const tg_table *t, size_t row, const event_rule *rule,
                       tg_trace_event *e) {
  tg_str text = {NULL, 0};
  if (!read_head(memo, t, row, rule, &e->head) || !read_time(t, row, rule, &e->time)) return false;
  e->ticks = rule->ticks;
  e->kind = rule->kind;
  e->code = number(t, row, rule->f.code);
  switch (rule->kind) {
    case TG_TRACE_BEGIN:
    case TG_TRACE_END:
      if (!text_at(t, row, rule->f.param, &text)) return false;
      e->param = param_id(text);
      e->code &= 0xffffffff;
      for (size_t b = 1; b < 4 && rule->raw; b++) { /* four bytes, one column behind the other */
        e->code |= (number(t, row, rule->f.code + b) & 0xff) << (8 * b);
      }
      return true;
    case TG_TRACE_CPU_IDLE:
    case TG_TRACE_PSCI_ENTER:
    case TG_TRACE_PSCI_EXIT:
      e->param = number(t, row, rule->f.cpu);
      return true;
    case TG_TRACE_SUSPEND:
      if (!text_at(t, row, rule->f.what, &text)) return false;
      e->begins = text.n == 5;
      return text_at(t, row, rule->f.action, &e->name);
    case TG_TRACE_NONE:
    case TG_TRACE_LOST:
    case TG_TRACE_ENTRIES:
      break;
  }
  return false;
}

/* The stamps' step in ns: 1000 where all are whole microseconds. */
static uint64_t resolution_of(const tg_trace_event *e, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (e[i].kind != TG_TRACE_LOST && !e[i].ticks && e[i].time % 1000 != 0) return 1;
  return 1000;
}

/* Where the buffers of all processors reach back to, if the header says that old events were
 * overwritten: the latest of their first stamps; INT64_MIN otherwise. Events in time order. */
static int64_t whole_since(const tg_trace_event *e, size_t n, bool overwritten) {
  uint64_t seen[TG_TRACE_CPUS / 64] = {0};
  int64_t latest = INT64_MIN;
  for (size_t i = 0; i < n && overwritten; i++) {
    const uint32_t cpu = e[i].head.cpu;
    if (e[i].kind == TG_TRACE_LOST || cpu >= TG_TRACE_CPUS) continue;
    const uint64_t bit = UINT64_C(1) << (cpu % 64);
    if (seen[cpu / 64] & bit) continue;
    seen[cpu / 64] |= bit;
    latest = e[i].time;
  }
  return latest;
}

static tg_status unreadable(tg_result *out, uint32_t source, const tg_record *at) {
  return tg_result_problem(out, source, at->line, at->offset, "ftrace", "no-task",
                           "the text before the time names no task, pid and cpu");
}

/* The events of one source. */
typedef struct events {
  tg_trace_event *at;
  size_t n, cap;
  bool overwritten; /* the header before the first of them says so */
} events;

/* The most events that the records can give. */
static size_t count_events(const tg_records *records, const event_rule *map) {
  size_t n = 0;
  for (size_t rule = 0; rule < tg_ruleset_count(tg_records_rules(records)); rule++)
    if (map[rule].kind != TG_TRACE_NONE) n += tg_table_rows(tg_records_table(records, rule));
  return n;
}

/* Gathers the events in the order of the source. */
static tg_status gather(const tg_reduce_in *in, tg_result *out, uint32_t source,
                        const event_rule *map, known_head *heads, events *all) {
  const tg_records *records = in->sources[source];
  tg_boot_memo near = {0};
  TG_TRY(tg_reserve(in->alloc, &all->at, &all->cap, count_events(records, map), sizeof *all->at));
  for (size_t i = 0; i < tg_records_count(records); i++) {
    const tg_record at = tg_records_at(records, i);
    const tg_table *t = tg_records_table(records, at.rule);
    const tg_trace_kind kind = map[at.rule].kind;
    tg_trace_event e = {.line = at.line, .offset = at.offset, .kind = kind};
    if (tg_reduce_stops(in, i)) return TG_EINTERRUPTED;
    if (kind == TG_TRACE_NONE) continue;
    if (kind == TG_TRACE_ENTRIES) {
      if (all->n == 0)
        all->overwritten = number(t, at.row, TG_REC_FIELD) < number(t, at.row, TG_REC_FIELD + 1);
      continue;
    }
    e.boot = tg_boot_near(out, source, at.offset, &near);
    if (kind == TG_TRACE_LOST) {
      e.code = number(t, at.row, TG_REC_FIELD + 1);
    } else if (!read_event(heads, t, at.row, &map[at.rule], &e)) {
      TG_TRY(unreadable(out, source, &at));
      continue;
    }
    TG_TRY(tg_reserve(in->alloc, &all->at, &all->cap, all->n + 1, sizeof *all->at));
    all->at[all->n++] = e;
  }
  return TG_OK;
}

/* Reports the treatment of times that go back. */
static tg_status tell_order(tg_result *out, uint32_t source, const tg_trace_order *order) {
  if (order->deltas) {
    return tg_result_problem(out, source, order->line, order->offset, "ftrace", "deltas",
                             "the stamps are differences (perf script --deltatime): they are added "
                             "up, which is right only if no line is missing");
  }
  if (order->back == 0) return TG_OK;
  if (order->unsafe) {
    return tg_result_problem(out, source, order->line, order->offset, "ftrace", "time-back",
                             "time goes back %zu times, here first: the lines are out of order or "
                             "their stamps are differences, so no event is read",
                             order->back);
  }
  if (order->traces > 1) {
    return tg_result_problem(out, source, order->line, order->offset, "ftrace", "time-back",
                             "time goes back here and stays back: %zu traces stand one behind the "
                             "other, and are read apart",
                             order->traces);
  }
  return tg_result_problem(out, source, order->line, order->offset, "ftrace", "time-back",
                           "time goes back %zu time%s, here first: the events are sorted",
                           order->back, order->back == 1 ? "" : "s");
}

/* Feeds the events, trace by trace. */
static tg_status feed(const tg_reduce_in *in, const events *all, tg_trace *trace) {
  for (size_t i = 0; i < all->n; i++) {
    const tg_trace_event *e = &all->at[i];
    if (tg_reduce_stops(in, i)) return TG_EINTERRUPTED;
    if (i > 0 && (e->trace != e[-1].trace || e->boot != e[-1].boot))
      TG_TRY(tg_trace_cut(trace));
    if (e->kind == TG_TRACE_LOST) {
      TG_TRY(tg_trace_lost(trace, e->line, e->offset, e->code));
    } else {
      TG_TRY(tg_trace_feed(trace, e));
    }
  }
  return tg_trace_finish(trace);
}

/* Says that threads lack so many events that their calls cannot be told apart. */
static tg_status tell_loss(tg_result *out, uint32_t source, const events *all,
                           const tg_trace_loss *loss) {
  if (loss->refused == 0) return TG_OK;
  return tg_result_problem(out, source, all->at[0].line, all->at[0].offset, "ftrace",
                           "events-missing",
                           "%zu calls lack events: two calls may look like one, so the calls of "
                           "%zu thread%s are left out",
                           loss->lacking, loss->refused, loss->refused == 1 ? "" : "s");
}

/* One pass over the events. */
static tg_status pass(const tg_reduce_in *in, tg_result *out, uint32_t source, const events *all,
                      const tg_trace_setup *setup) {
  tg_trace *trace = NULL;
  TG_TRY(tg_trace_new(in, out, source, setup, &trace));
  const tg_status status = feed(in, all, trace);
  tg_trace_free(trace);
  return status;
}

/* Two passes: the first counts the calls that lack events. */
static tg_status pass_twice(const tg_reduce_in *in, tg_result *out, uint32_t source,
                            const events *all, tg_trace_loss *loss) {
  tg_trace_setup setup = {.resolution = resolution_of(all->at, all->n),
                          .whole_since = whole_since(all->at, all->n, all->overwritten),
                          .count = loss};
  TG_TRY(pass(in, out, source, all, &setup));
  TG_TRY(tg_trace_loss_judge(in->alloc, loss));
  if (all->n > 0) TG_TRY(tell_loss(out, source, all, loss));
  setup.count = NULL;
  setup.judged = loss;
  return pass(in, out, source, all, &setup);
}

static tg_status reduce_events(const tg_reduce_in *in, tg_result *out, uint32_t source,
                               const event_rule *map, known_head *heads, events *all) {
  tg_trace_order order;
  tg_trace_loss loss = {0};
  TG_TRY(gather(in, out, source, map, heads, all));
  TG_TRY(tg_trace_sort(in->alloc, all->at, all->n, &order));
  TG_TRY(tell_order(out, source, &order));
  if (order.unsafe) all->n = 0;
  const tg_status status = pass_twice(in, out, source, all, &loss);
  tg_trace_loss_free(in->alloc, &loss);
  return status;
}

/* Walks the events of one source. */
static tg_status reduce_source(const tg_reduce_in *in, tg_result *out, uint32_t source) {
  const tg_ruleset *set = tg_records_rules(in->sources[source]);
  const size_t n_rules = tg_ruleset_count(set);
  events all = {0};
  event_rule *map = tg_take(in->alloc, n_rules + 1, sizeof *map);
  known_head *heads = tg_zalloc(in->alloc, HEADS, sizeof *heads);
  tg_status status = TG_ENOMEM;
  if (map != NULL && heads != NULL) {
    for (size_t r = 0; r < n_rules; r++) map[r] = rule_of(set, r);
    status = reduce_events(in, out, source, map, heads, &all);
  }
  tg_release(in->alloc, all.at);
  tg_release(in->alloc, heads);
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

/* ftrace_calls.c - SMC events of a trace become calls.
 *
 * A call begins with a begin event that names a function and ends with an end event that returns
 * neither into an RPC nor for want of a thread. In between the secure world returns for foreign
 * interrupts and for commands to the normal world, and is resumed. Calls are told apart by task
 * and argument address, so tasks may interleave.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "ftrace.h"
#include "ftrace_stays.h"
#include "reducer.h"

#define FUNCTION_RETURN_FROM_RPC 3u
#define RETURN_RPC_PREFIX 0xffff0000u
#define RETURN_UNKNOWN 0xffffffffu
#define RETURN_FOREIGN_INTERRUPT 4u /* of the low half */
#define RETURN_THREAD_LIMIT 1u
#define IDLE_EXIT 0xffffffffu
#define OPEN_CALLS 256 /* the oldest is given up beyond: no system has that many at once */
#define CROWD_BITS 11  /* of the slots that tell most tasks and arguments without an open call */

/* Where a call stands. */
typedef enum phase { P_SECURE, P_INTERRUPT, P_RPC, P_WAIT } phase;

typedef enum call_state { S_COMPLETE, S_NO_START, S_NO_END, S_LOST } call_state;
static const char *const state_names[] = {"complete", "no start", "no end", "lost"};

typedef struct call {
  uint64_t tid, param;
  uint64_t first_line, first_offset, last_line, last_offset;
  uint64_t ret;
  int64_t start, last;
  int64_t spent[4];           /* by phase */
  uint32_t count[4];          /* how often each phase was entered */
  uint32_t function, entered; /* the function of the call, and of its latest entry */
  uint32_t first_cpu, last_cpu, boot;
  char task[32];
  uint8_t phase;
  bool have_start, lost, back, ticks;
} call;

struct tg_trace {
  const tg_reduce_in *in;
  tg_result *out;
  tg_table *calls;
  tg_trace_setup setup;
  bool limited; /* a call waited for a thread, so a begin may go on with an earlier one */
  uint32_t source;
  size_t n_open;
  uint32_t first_boot[4]; /* by function: the boot in which its first call was seen, plus 1 */
  call open[OPEN_CALLS];
  uint16_t order[OPEN_CALLS];  /* their places: the open ones, the oldest first, then free ones */
  uint64_t who[OPEN_CALLS];    /* key_of each open one, in the same order */
  uint16_t crowd[1 << CROWD_BITS]; /* how many of them have their key in that slot */
  tg_stays stays;
};

enum {
  T_SOURCE,
  T_BOOT,
  T_TASK,
  T_TID,
  T_CPU,
  T_LAST_CPU,
  T_OPERATION,
  T_FIRST,
  T_STATE,
  T_START,
  T_TOTAL,
  T_SECURE,
  T_INTERRUPT,
  T_RPC,
  T_WAIT,
  T_ENTRIES,
  T_INTERRUPTS,
  T_RPCS,
  T_WAITS,
  T_RET,
  T_FIRST_LINE,
  T_FIRST_OFFSET,
  T_LAST_LINE,
  T_LAST_OFFSET,
  T_COLUMNS
};

static const tg_column_def columns[T_COLUMNS] = {
    {"source", TG_U32, 0},       {"boot", TG_U32, 0},       {"task", TG_TEXT, 0},
    {"tid", TG_U64, 0},          {"cpu", TG_U32, 0},        {"last_cpu", TG_U32, 0},
    {"operation", TG_TEXT, 0},   {"first", TG_BOOL, 0},     {"state", TG_TEXT, 0},
    {"start", TG_I64, 0},        {"total", TG_I64, 0},      {"secure", TG_I64, 0},
    {"interrupt", TG_I64, 0},    {"rpc", TG_I64, 0},        {"wait", TG_I64, 0},
    {"entries", TG_U32, 0},      {"interrupts", TG_U32, 0}, {"rpcs", TG_U32, 0},
    {"waits", TG_U32, 0},        {"ret", TG_U64, 0},        {"first_line", TG_U64, 0},
    {"first_offset", TG_U64, 0}, {"last_line", TG_U64, 0},  {"last_offset", TG_U64, 0},
};

static const struct {
  uint32_t function;
  const char *name;
} functions[] = {{4, "call_with_arg"}, {0x12, "call_with_rpc_arg"}, {0x13, "call_with_regd_arg"}};

/* The index of a function among the named ones, 3 for all others. */
static size_t function_index(uint32_t function) {
  size_t i = 0;
  while (i < TG_COUNT_OF(functions) && functions[i].function != function) i++;
  return i;
}

tg_status tg_trace_new(const tg_reduce_in *in, tg_result *out, uint32_t source,
                       const tg_trace_setup *setup, tg_trace **trace) {
  tg_table *calls = NULL;
  TG_TRY(tg_result_table(out, "trace_calls", columns, T_COLUMNS, &calls));
  tg_trace *t = tg_zalloc(in->alloc, 1, sizeof *t);
  if (t == NULL) return TG_ENOMEM;
  t->in = in;
  t->out = out;
  t->calls = calls;
  t->source = source;
  t->setup = *setup;
  tg_stays_forget(&t->stays);
  for (size_t i = 0; i < OPEN_CALLS; i++) t->order[i] = (uint16_t)i;
  *trace = t;
  return TG_OK;
}

void tg_trace_free(tg_trace *t) {
  if (t != NULL) tg_release(t->in->alloc, t);
}

/* --- rows and readings ----------------------------------------------------------------------- */

/* A key of this source's clock. */
static void start_key(const tg_trace *t, bool ticks, tg_key *key) {
  tg_key_init(key);
  key->format = tg_str_of("ftrace");
  key->unit = tg_str_of(ticks ? "tick" : "ns");
  key->resolution = ticks ? 1 : t->setup.resolution;
  if (ticks && t->in->options->clock_hz != 0) {
    key->clock_hz = t->in->options->clock_hz;
    key->origin = TG_CLOCK_OPTION;
  }
}

/* The name of a function in the key of its readings. */
static const char *operation_name(uint32_t function) {
  size_t f = function_index(function);
  if (function == FUNCTION_RETURN_FROM_RPC) return "return_from_rpc";
  return f < TG_COUNT_OF(functions) ? functions[f].name : "other";
}

/* True while the first call of its function in this boot is not over. */
static bool is_first(const tg_trace *t, const call *c) {
  return t->first_boot[function_index(c->function)] != c->boot + 1;
}

/* The reading of one way into the secure world and out again, which two lines tell whatever
 * became of the call. */
static tg_status smc_reading(tg_trace *t, const call *c, const tg_trace_event *e) {
  tg_key key;
  tg_reading r = {.value = e->time - c->last,
                  .line = e->line,
                  .offset = e->offset,
                  .source = t->source,
                  .boot = e->boot,
                  .block = TG_NONE};
  if (t->setup.count != NULL || c->lost || r.value < 0 || c->last < t->setup.whole_since)
    return TG_OK;
  start_key(t, e->ticks, &key);
  key.metric = tg_str_of("smc");
  key.operation = tg_str_of(operation_name(c->entered));
  key.labels = tg_str_of(is_first(t, c) ? "call=first" : "");
  TG_TRY(tg_result_key(t->out, &key, &r.key));
  return tg_result_reading(t->out, &r);
}

/* The readings of a complete call: the whole, and its parts. */
static tg_status call_readings(tg_trace *t, const call *c, size_t row, bool first) {
  static const struct {
    const char *name;
    int phase;
  } metrics[] = {{"total", -1},
                 {"secure", P_SECURE},
                 {"interrupt", P_INTERRUPT},
                 {"rpc", P_RPC},
                 {"wait", P_WAIT}};
  tg_key key;
  start_key(t, c->ticks, &key);
  key.operation = tg_str_of(operation_name(c->function));
  key.labels = tg_str_of(first ? "call=first" : "");
  for (size_t m = 0; m < TG_COUNT_OF(metrics); m++) {
    int p = metrics[m].phase;
    tg_reading r = {.line = c->last_line,
                    .offset = c->last_offset,
                    .source = t->source,
                    .boot = c->boot,
                    .block = row < TG_NONE ? (uint32_t)row : TG_NONE};
    if (p >= 0 && c->count[p] == 0) continue;
    r.value = p < 0 ? c->last - c->start : c->spent[p];
    key.metric = tg_str_of(metrics[m].name);
    TG_TRY(tg_result_key(t->out, &key, &r.key));
    TG_TRY(tg_result_reading(t->out, &r));
  }
  return TG_OK;
}

/* The numbers of a row. */
static void call_numbers(const tg_trace *t, const call *c, tg_row *w) {
  tg_row_u64(w, T_TID, c->tid);
  tg_row_u64(w, T_FIRST_LINE, c->first_line);
  tg_row_u64(w, T_FIRST_OFFSET, c->first_offset);
  tg_row_u64(w, T_LAST_LINE, c->last_line);
  tg_row_u64(w, T_LAST_OFFSET, c->last_offset);
  tg_row_u32(w, T_SOURCE, t->source);
  tg_row_u32(w, T_BOOT, c->boot);
  if (c->first_cpu != TG_TRACE_NO_CPU) tg_row_u32(w, T_CPU, c->first_cpu);
  if (c->last_cpu != TG_TRACE_NO_CPU) tg_row_u32(w, T_LAST_CPU, c->last_cpu);
  tg_row_u32(w, T_ENTRIES, c->count[P_SECURE]);
  tg_row_u32(w, T_INTERRUPTS, c->count[P_INTERRUPT]);
  tg_row_u32(w, T_RPCS, c->count[P_RPC]);
  tg_row_u32(w, T_WAITS, c->count[P_WAIT]);
  if (c->have_start) tg_row_i64(w, T_START, c->start);
}

/* The times of a row: of complete calls only. */
static void call_times(const call *c, tg_row *w) {
  tg_row_i64(w, T_TOTAL, c->last - c->start);
  tg_row_i64(w, T_SECURE, c->spent[P_SECURE]);
  tg_row_i64(w, T_INTERRUPT, c->spent[P_INTERRUPT]);
  tg_row_i64(w, T_RPC, c->spent[P_RPC]);
  tg_row_i64(w, T_WAIT, c->spent[P_WAIT]);
  tg_row_u64(w, T_RET, c->ret);
}

/* The open call `i`, counted from the oldest. */
static call *open_at(tg_trace *t, size_t i) { return &t->open[t->order[i]]; }

/* Tells most tasks and arguments apart without a look at their call. */
static uint64_t key_of(uint64_t tid, uint64_t param) {
  return tid * UINT64_C(0x9e3779b97f4a7c15) ^ param;
}

static uint16_t *crowd_of(tg_trace *t, uint64_t who) {
  return &t->crowd[who * UINT64_C(0x9e3779b97f4a7c15) >> (64 - CROWD_BITS)];
}

/* Writes the call that stands at `i` and takes it off the open ones. */
static tg_status close_call(tg_trace *t, size_t i, call_state state) {
  const call c = *open_at(t, i);
  const uint16_t place = t->order[i];
  const size_t row = tg_table_rows(t->calls), behind = --t->n_open - i;
  --*crowd_of(t, t->who[i]);
  memmove(t->order + i, t->order + i + 1, behind * sizeof t->order[0]);
  memmove(t->who + i, t->who + i + 1, behind * sizeof t->who[0]);
  t->order[t->n_open] = place;
  if (!c.have_start) state = S_NO_START;
  if (state == S_COMPLETE && (c.lost || c.back || c.start < t->setup.whole_since)) state = S_LOST;
  const int64_t total = state == S_COMPLETE ? c.last - c.start : -1;
  if (t->setup.count != NULL) return tg_trace_loss_add(t->in->alloc, t->setup.count, c.tid, total);
  if (state == S_COMPLETE && !tg_trace_loss_trusts(t->setup.judged, c.tid, total)) state = S_LOST;
  const bool first = is_first(t, &c);
  t->first_boot[function_index(c.function)] = c.boot + 1;
  tg_row w = tg_row_begin(t->calls);
  call_numbers(t, &c, &w);
  tg_row_cstr(&w, T_TASK, c.task);
  if (c.have_start) tg_row_cstr(&w, T_OPERATION, operation_name(c.function));
  tg_row_bool(&w, T_FIRST, first);
  tg_row_cstr(&w, T_STATE, state_names[state]);
  if (state == S_COMPLETE) call_times(&c, &w);
  TG_TRY(tg_row_end(&w));
  return state == S_COMPLETE ? call_readings(t, &c, row, first) : TG_OK;
}

/* --- SMC events ------------------------------------------------------------------------------ */

/* The open call of a task and an argument address; n_open if none. */
static size_t find_call(tg_trace *t, const tg_trace_event *e) {
  const uint64_t who = key_of(e->head.tid, e->param);
  if (*crowd_of(t, who) == 0) return t->n_open;
  for (size_t i = t->n_open; i-- > 0;) {
    const call *c = open_at(t, i);
    if (t->who[i] == who && c->tid == e->head.tid && c->param == e->param) return i;
  }
  return t->n_open;
}

/* Opens a call with the event as its first. */
static tg_status open_call(tg_trace *t, const tg_trace_event *e, bool have_start) {
  if (t->n_open == OPEN_CALLS) {
    tg_status status = close_call(t, 0, S_NO_END);
    if (status != TG_OK) return status;
  }
  t->who[t->n_open] = key_of(e->head.tid, e->param);
  ++*crowd_of(t, t->who[t->n_open]);
  call *c = open_at(t, t->n_open++);
  memset(c, 0, sizeof *c);
  c->tid = e->head.tid;
  c->param = e->param;
  c->boot = e->boot;
  c->first_line = e->line;
  c->first_offset = e->offset;
  c->first_cpu = e->head.cpu;
  c->start = c->last = e->time;
  c->have_start = have_start;
  c->function = c->entered = (uint32_t)(e->code & 0xffff);
  c->ticks = e->ticks;
  size_t n = e->head.task.n < sizeof c->task - 1 ? e->head.task.n : sizeof c->task - 1;
  if (n > 0) memcpy(c->task, e->head.task.p, n);
  return TG_OK;
}

/* The event ends the phase the call is in. */
static void leave_phase(call *c, const tg_trace_event *e) {
  if (e->time < c->last) c->back = true;
  if (!c->back) c->spent[c->phase] += e->time - c->last; /* at most the last time in all */
  c->last = e->time;
  c->last_line = e->line;
  c->last_offset = e->offset;
  c->last_cpu = e->head.cpu;
}

static void enter_phase(call *c, const tg_trace_event *e, phase p) {
  c->phase = (uint8_t)p;
  c->count[p]++;
  c->last = e->time;
  c->last_line = e->line;
  c->last_offset = e->offset;
  c->last_cpu = e->head.cpu;
}

static tg_status feed_begin(tg_trace *t, const tg_trace_event *e) {
  bool resumes = (e->code & 0xffff) == FUNCTION_RETURN_FROM_RPC;
  size_t i = find_call(t, e);
  /* With the end lost that told it to wait, a call that begins again looks like a new one. */
  const bool went_on = t->limited && i < t->n_open;
  if (i < t->n_open) {
    call *c = open_at(t, i);
    bool goes_on = resumes ? c->phase == P_RPC || c->phase == P_INTERRUPT : c->phase == P_WAIT;
    if (goes_on) {
      leave_phase(c, e);
      enter_phase(c, e, P_SECURE);
      c->entered = (uint32_t)(e->code & 0xffff);
      return TG_OK;
    }
    TG_TRY(close_call(t, i, S_NO_END));
  }
  TG_TRY(open_call(t, e, !resumes));
  enter_phase(open_at(t, t->n_open - 1), e, P_SECURE);
  open_at(t, t->n_open - 1)->lost = went_on;
  return TG_OK;
}

/* True if the code returns into the normal world for a while. */
static bool returns_rpc(uint64_t code) {
  return (code & RETURN_RPC_PREFIX) == RETURN_RPC_PREFIX && code != RETURN_UNKNOWN;
}

static tg_status feed_end(tg_trace *t, const tg_trace_event *e) {
  size_t i = find_call(t, e);
  bool known = i < t->n_open && open_at(t, i)->phase == P_SECURE;
  if (i == t->n_open) {
    tg_status status = open_call(t, e, false);
    if (status != TG_OK) return status;
    i = t->n_open - 1;
  } else if (open_at(t, i)->phase != P_SECURE) { /* the begin before it is missing */
    open_at(t, i)->lost = true;
  }
  call *c = open_at(t, i);
  if (known && e->code != RETURN_THREAD_LIMIT) {
    tg_status status = smc_reading(t, c, e);
    if (status != TG_OK) return status;
  }
  leave_phase(c, e);
  c->ret = e->code;
  if (returns_rpc(e->code)) {
    enter_phase(c, e, (e->code & 0xffff) == RETURN_FOREIGN_INTERRUPT ? P_INTERRUPT : P_RPC);
    return TG_OK;
  }
  if (e->code == RETURN_THREAD_LIMIT) {
    t->limited = true;
    if (t->setup.count != NULL) t->setup.count->waits = true;
    enter_phase(c, e, P_WAIT);
    return TG_OK;
  }
  return close_call(t, i, S_COMPLETE);
}

/* --- idle states, suspend and resume --------------------------------------------------------- */

/* The reading of a stay that ends. */
static tg_status end_stay(tg_trace *t, const tg_stay *s, const tg_trace_event *e) {
  static const char hex[] = "0123456789abcdef";
  char label[40];
  size_t n = 0;
  tg_key key;
  tg_reading r = {.value = e->time - s->since,
                  .line = e->line,
                  .offset = e->offset,
                  .source = t->source,
                  .boot = e->boot};
  if (t->setup.count != NULL || r.value < 0) return TG_OK;
  start_key(t, e->ticks, &key);
  key.metric = tg_str_of(s->kind == TG_TRACE_SUSPEND ? "duration" : "idle");
  key.better = TG_BETTER_NONE;
  if (s->kind == TG_TRACE_SUSPEND) {
    key.operation = tg_str_of(s->name);
    key.better = TG_BETTER_LOWER;
  } else {
    key.operation = tg_str_of(s->kind == TG_TRACE_CPU_IDLE ? "cpu_idle" : "psci_domain_idle");
    key.cpu = s->who < TG_NONE ? (uint32_t)s->who : TG_NONE;
  }
  memcpy(label, "state=0x", 8);
  n = 8;
  for (int shift = 28; shift >= 0; shift -= 4) {
    uint64_t digit = s->code >> shift & 15;
    if (digit != 0 || n > 8 || shift == 0) label[n++] = hex[digit];
  }
  label[n] = '\0';
  key.labels = tg_str_of(s->kind == TG_TRACE_SUSPEND ? "" : label);
  TG_TRY(tg_result_key(t->out, &key, &r.key));
  return tg_result_reading(t->out, &r);
}

/* Begins or ends a stay. */
static tg_status feed_stay(tg_trace *t, const tg_trace_event *e, tg_trace_kind kind, bool begins) {
  tg_stay ended;
  return tg_stays_feed(&t->stays, e, kind, begins, &ended) ? end_stay(t, &ended, e) : TG_OK;
}

tg_status tg_trace_feed(tg_trace *t, const tg_trace_event *e) {
  switch (e->kind) {
    case TG_TRACE_BEGIN:
      return feed_begin(t, e);
    case TG_TRACE_END:
      return feed_end(t, e);
    case TG_TRACE_CPU_IDLE:
      return feed_stay(t, e, e->kind, e->code != IDLE_EXIT);
    case TG_TRACE_PSCI_ENTER:
      return feed_stay(t, e, e->kind, true);
    case TG_TRACE_PSCI_EXIT:
      return feed_stay(t, e, TG_TRACE_PSCI_ENTER, false);
    case TG_TRACE_SUSPEND:
      return feed_stay(t, e, e->kind, e->begins);
    case TG_TRACE_NONE:
    case TG_TRACE_LOST:
    case TG_TRACE_ENTRIES:
      break;
  }
  return TG_OK;
}

tg_status tg_trace_lost(tg_trace *t, uint64_t line, uint64_t offset, uint64_t n) {
  for (size_t i = 0; i < t->n_open; i++) open_at(t, i)->lost = true;
  tg_stays_forget(&t->stays);
  if (t->setup.count != NULL) return TG_OK;
  return tg_result_problem(t->out, t->source, line, offset, "ftrace", "lost-events",
                           "%llu events were lost here: the %zu calls that are open are left out",
                           (unsigned long long)n, t->n_open);
}

tg_status tg_trace_cut(tg_trace *t) {
  tg_stays_forget(&t->stays);
  return tg_trace_finish(t);
}

tg_status tg_trace_finish(tg_trace *t) {
  tg_status status = TG_OK;
  while (t->n_open > 0 && status == TG_OK) status = close_call(t, 0, S_NO_END);
  return status;
}

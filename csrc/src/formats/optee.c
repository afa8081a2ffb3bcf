/* optee.c - the eight counter lines of the OP-TEE benchmark patches of 2015: calls, hops, system
 * calls.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "formats.h"
#include "optee_gather.h"
#include "reducer.h"

/* Policy all: writers share the console, so a line may hold a torn record beside a whole one. */
#define SMC(n, p) {.name = "optee." n, .pattern = (p), .tag = "cntvct=0x", .all = true}

static const tg_rule_def rules[] = {
    {.name = "optee.frequency", .pattern = "CounterTimerFrequency: 0x{hz:HEX}", .all = true},
    {.name = "optee.open",
     .pattern = "ClientOpenSession: start=0x{start:HEX}, enter_ta=0x{enter:HEX}, "
                "return=0x{return:HEX}",
     .all = true},
    {.name = "optee.invoke",
     .pattern = "ClientInvokeCommand: start=0x{start:HEX}, enter_ta=0x{enter:HEX}, "
                "return=0x{return:HEX}",
     .all = true},
    {.name = "optee.syscall",
     .pattern = "SecureSysCall: start=0x{start:HEX}, enter_svc=0x{enter:HEX}, "
                "return=0x{return:HEX}",
     .all = true},
    SMC("driver_do", "TEEDriver: do smc call, cmd={cmd:uint}, cntvct=0x{counter:HEX}"),
    SMC("driver_finish", "TEEDriver: finish smc call, cmd={cmd:uint}, cntvct=0x{counter:HEX}"),
    SMC("core_receive", "TEECore: receiving smc call, cmd={cmd:uint}, cntvct=0x{counter:HEX}"),
    SMC("core_finish", "TEECore: finish smc call, cmd={cmd:uint}, cntvct=0x{counter:HEX}"),
};

/* --- words ----------------------------------------------------------------------------------- */

static const char *const states[] = {
    [TG_JOIN_CLAIMED] = "claimed",   [TG_JOIN_UNCLAIMED] = "unclaimed",
    [TG_JOIN_UNPAIRED] = "unpaired", [TG_JOIN_AMBIGUOUS] = "ambiguous",
    [TG_JOIN_OFFSET] = "offset?",
};

/* The operations, by command; the last two are an invoke that carries a measured system call,
 * and every command without a name. */
enum { OP_COMMANDS = 8, OP_SYSCALL_INVOKE = 8, OP_OTHER = 9, OPERATIONS };
static const char *const operations[OPERATIONS] = {
    "open",           "invoke",      "close",      "cancel",         "register_shm",
    "unregister_shm", "bottom_half", "stop_async", "syscall-invoke", "other",
};

static size_t operation_of(const tg_call *c) {
  if (c->flags & TG_CALL_SYSCALL) return OP_SYSCALL_INVOKE;
  return c->cmd < OP_COMMANDS ? (size_t)c->cmd : OP_OTHER;
}

/* The flags as words with a blank between, "" for none. */
static void flag_words(uint32_t flags, char text[64]) {
  static const struct {
    uint32_t flag;
    const char *word;
  } words[] = {{TG_CALL_OVERLAP, "overlap"},
               {TG_CALL_HALF, "half"},
               {TG_CALL_REPAIRED, "repaired"},
               {TG_CALL_IMPOSSIBLE, "impossible"},
               {TG_CALL_SYSCALL, "syscall"}};
  size_t n = 0;
  text[0] = '\0';
  for (size_t i = 0; i < TG_COUNT_OF(words); i++) {
    if (!(flags & words[i].flag)) continue;
    if (n > 0) text[n++] = ' ';
    size_t len = strlen(words[i].word);
    memcpy(text + n, words[i].word, len + 1);
    n += len;
  }
}

/* --- intervals ------------------------------------------------------------------------------- */

/* A measure of a call: the difference of two of its stamps. */
typedef struct metric {
  const char *name;
  tg_hop from, to;
} metric;

enum { HOP_METRICS = 6, METRICS = 10 };
static const metric metrics[METRICS] = {
    {"client_to_driver", TG_HOP_CLIENT_START, TG_HOP_DRIVER_START},
    {"driver_to_tee", TG_HOP_DRIVER_START, TG_HOP_TEE_RECEIVE},
    {"tee_to_ta", TG_HOP_TEE_RECEIVE, TG_HOP_TA_ENTER},
    {"ta_to_tee", TG_HOP_TA_ENTER, TG_HOP_TEE_FINISH},
    {"tee_to_driver", TG_HOP_TEE_FINISH, TG_HOP_DRIVER_FINISH},
    {"driver_to_client", TG_HOP_DRIVER_FINISH, TG_HOP_CLIENT_RETURN},
    {"one_way", TG_HOP_CLIENT_START, TG_HOP_TA_ENTER},
    {"round_trip", TG_HOP_CLIENT_START, TG_HOP_CLIENT_RETURN},
    {"smc", TG_HOP_DRIVER_START, TG_HOP_DRIVER_FINISH},
    {"tee", TG_HOP_TEE_RECEIVE, TG_HOP_TEE_FINISH},
};

static bool secure(tg_hop hop) { return hop >= TG_HOP_TEE_RECEIVE && hop <= TG_HOP_TEE_FINISH; }

/* The length of a metric in ticks. False where a stamp is missing or the two do not tell it; an
 * interval that would be negative sets `*impossible`. */
static bool measure(const tg_call *c, const metric *m, int64_t *ticks, bool *impossible) {
  if (!tg_call_has(c, m->from) || !tg_call_has(c, m->to)) return false;
  bool one_line = c->stamp[m->from].offset == c->stamp[m->to].offset &&
                  c->stamp[m->from].source == c->stamp[m->to].source;
  if (c->state == TG_JOIN_AMBIGUOUS && !one_line) return false;
  if (c->state == TG_JOIN_OFFSET && secure(m->from) != secure(m->to)) return false;
  if (tg_ticks_diff(c->stamp[m->to].ticks, c->stamp[m->from].ticks, ticks) == TG_OK &&
      *ticks >= 0) {
    return true;
  }
  *impossible = true;
  return false;
}

/* --- the tables ------------------------------------------------------------------------------ */

enum {
  C_SOURCE,
  C_BOOT,
  C_RUN,
  C_OPERATION,
  C_CMD,
  C_FIRST,
  C_COMPLETE,
  C_STATE,
  C_FLAGS,
  C_CLOCK,
  C_STAMP,
  C_INTERVAL = C_STAMP + TG_HOPS,
  C_PLACE = C_INTERVAL + HOP_METRICS,
  C_PLACES = 5, /* lines that show the stamps: the client's, two of the driver, two of the core */
  C_COLUMNS = C_PLACE + 3 * C_PLACES
};

static const tg_column_def call_columns[C_COLUMNS] = {
    {"source", TG_U32, 0},
    {"boot", TG_U32, 0},
    {"run", TG_U32, 0},
    {"operation", TG_TEXT, 0},
    {"cmd", TG_U64, 0},
    {"first", TG_BOOL, 0},
    {"complete", TG_BOOL, 0},
    {"state", TG_TEXT, 0},
    {"flags", TG_TEXT, 0},
    {"clock_hz", TG_U64, 0},
    {"client_start", TG_U64, 0},
    {"driver_start", TG_U64, 0},
    {"tee_receive", TG_U64, 0},
    {"ta_enter", TG_U64, 0},
    {"tee_finish", TG_U64, 0},
    {"driver_finish", TG_U64, 0},
    {"client_return", TG_U64, 0},
    {"client_to_driver", TG_I64, 0},
    {"driver_to_tee", TG_I64, 0},
    {"tee_to_ta", TG_I64, 0},
    {"ta_to_tee", TG_I64, 0},
    {"tee_to_driver", TG_I64, 0},
    {"driver_to_client", TG_I64, 0},
    {"client_source", TG_U32, 0},
    {"client_line", TG_U64, 0},
    {"client_offset", TG_U64, 0},
    {"driver_start_source", TG_U32, 0},
    {"driver_start_line", TG_U64, 0},
    {"driver_start_offset", TG_U64, 0},
    {"tee_receive_source", TG_U32, 0},
    {"tee_receive_line", TG_U64, 0},
    {"tee_receive_offset", TG_U64, 0},
    {"tee_finish_source", TG_U32, 0},
    {"tee_finish_line", TG_U64, 0},
    {"tee_finish_offset", TG_U64, 0},
    {"driver_finish_source", TG_U32, 0},
    {"driver_finish_line", TG_U64, 0},
    {"driver_finish_offset", TG_U64, 0},
};

enum {
  S_SOURCE,
  S_BOOT,
  S_RUN,
  S_CALL,
  S_FIRST,
  S_STATE,
  S_FLAGS,
  S_CLOCK,
  S_START,
  S_ENTER,
  S_RETURN,
  S_TO_OS,
  S_TO_TA,
  S_LINE,
  S_OFFSET,
  S_COLUMNS
};

static const tg_column_def syscall_columns[S_COLUMNS] = {
    {"source", TG_U32, 0}, {"boot", TG_U32, 0},      {"run", TG_U32, 0},    {"call", TG_U32, 0},
    {"first", TG_BOOL, 0}, {"state", TG_TEXT, 0},    {"flags", TG_TEXT, 0}, {"clock_hz", TG_U64, 0},
    {"start", TG_U64, 0},  {"enter_svc", TG_U64, 0}, {"return", TG_U64, 0}, {"to_os", TG_I64, 0},
    {"to_ta", TG_I64, 0},  {"line", TG_U64, 0},      {"offset", TG_U64, 0},
};

/* State that the rows of one boot share. */
typedef struct emit {
  const tg_reduce_in *in;
  tg_result *out;
  tg_table *calls, *syscalls;
  uint64_t hz;
  tg_clock_origin origin;
  uint64_t tee; /* added to the secure world's stamps */
  bool seen[OPERATIONS][2];
  bool seen_syscall;
  uint32_t keys[OPERATIONS + 1][METRICS][4]; /* TG_NONE: not made yet */
} emit;

/* The key of a metric; made at its first use. `variant` bit 0: the first call of its boot,
 * bit 1: no client's line. */
static tg_status key_of(emit *e, size_t op, size_t m, const char *operation, const char *name,
                        unsigned variant, uint32_t *id) {
  static const char *const labels[4] = {"", "call=first", "client=none", "call=first client=none"};
  if (e->keys[op][m][variant] == TG_NONE) {
    tg_key key;
    tg_key_init(&key);
    key.format = tg_str_of("optee");
    key.metric = tg_str_of(name);
    key.operation = tg_str_of(operation);
    key.labels = tg_str_of(labels[variant]);
    key.unit = tg_str_of("tick");
    key.clock_hz = e->hz;
    key.origin = e->origin;
    TG_TRY(tg_result_key(e->out, &key, &e->keys[op][m][variant]));
  }
  *id = e->keys[op][m][variant];
  return TG_OK;
}

static void forget_keys(emit *e) { memset(e->keys, 0xff, sizeof e->keys); }

/* The rows of "readings" of one call. */
static tg_status call_readings(emit *e, const tg_call *c, size_t row, unsigned variant) {
  size_t op = operation_of(c);
  for (size_t m = 0; m < METRICS; m++) {
    bool impossible = false;
    tg_reading r = {.run = c->run, .block = row < TG_NONE ? (uint32_t)row : TG_NONE};
    if (!measure(c, &metrics[m], &r.value, &impossible)) continue;
    const tg_stamp *s = &c->stamp[metrics[m].to];
    r.source = s->source;
    r.boot = s->boot;
    r.line = s->line;
    r.offset = s->offset;
    TG_TRY(key_of(e, op, m, operations[op], metrics[m].name, variant, &r.key));
    TG_TRY(tg_result_reading(e->out, &r));
  }
  return TG_OK;
}

/* The stamps, their lines and the intervals of a row. */
static void call_stamps(const emit *e, const tg_call *c, tg_row *w, bool *impossible) {
  static const tg_hop shown[C_PLACES] = {TG_HOP_CLIENT_START, TG_HOP_DRIVER_START,
                                         TG_HOP_TEE_RECEIVE, TG_HOP_TEE_FINISH,
                                         TG_HOP_DRIVER_FINISH};
  for (size_t h = 0; h < TG_HOPS; h++) {
    if (tg_call_has(c, (tg_hop)h))
      tg_row_u64(w, C_STAMP + h, c->stamp[h].ticks - (secure((tg_hop)h) ? e->tee : 0));
  }
  for (size_t p = 0; p < C_PLACES; p++) {
    if (!tg_call_has(c, shown[p])) continue;
    const tg_stamp *s = &c->stamp[shown[p]];
    tg_row_u32(w, C_PLACE + 3 * p, s->source);
    tg_row_u64(w, C_PLACE + 3 * p + 1, s->line);
    tg_row_u64(w, C_PLACE + 3 * p + 2, s->offset);
  }
  for (size_t m = 0; m < HOP_METRICS; m++) {
    int64_t ticks = 0;
    if (measure(c, &metrics[m], &ticks, impossible)) tg_row_i64(w, C_INTERVAL + m, ticks);
  }
}

static tg_status emit_call(emit *e, const tg_call *c) {
  const size_t op = operation_of(c), row = tg_table_rows(e->calls);
  uint32_t flags = c->flags;
  char text[64];
  bool impossible = false;
  tg_hop first_hop = TG_HOP_CLIENT_START;
  while (first_hop < TG_HOP_CLIENT_RETURN && !tg_call_has(c, first_hop)) first_hop++;
  const bool first = !e->seen[op][c->client];
  e->seen[op][c->client] = true;
  tg_row w = tg_row_begin(e->calls);
  call_stamps(e, c, &w, &impossible);
  if (impossible) flags |= TG_CALL_IMPOSSIBLE;
  flag_words(flags, text);
  tg_row_u32(&w, C_SOURCE, c->stamp[first_hop].source);
  tg_row_u32(&w, C_BOOT, c->stamp[first_hop].boot);
  if (c->run != TG_NONE) tg_row_u32(&w, C_RUN, c->run);
  tg_row_cstr(&w, C_OPERATION, operations[op]);
  tg_row_u64(&w, C_CMD, c->cmd);
  tg_row_bool(&w, C_FIRST, first);
  tg_row_bool(&w, C_COMPLETE,
              c->have == (1u << TG_HOPS) - 1 && c->state == TG_JOIN_CLAIMED &&
                  !(flags & TG_CALL_IMPOSSIBLE));
  tg_row_cstr(&w, C_STATE, states[c->state]);
  if (text[0] != '\0') tg_row_cstr(&w, C_FLAGS, text);
  if (e->hz != 0) tg_row_u64(&w, C_CLOCK, e->hz);
  TG_TRY(tg_row_end(&w));
  return call_readings(e, c, row, (first ? 1u : 0u) | (c->client ? 0u : 2u));
}

static tg_status syscall_readings(emit *e, const tg_syscall *s, const int64_t ticks[3],
                                  bool first) {
  static const char *const names[] = {"to_os", "to_ta", "round_trip"};
  for (size_t i = 0; i < 3; i++) {
    tg_reading r = {.value = ticks[i],
                    .line = s->line,
                    .offset = s->offset,
                    .source = s->source,
                    .boot = s->boot,
                    .run = s->run,
                    .block = s->call};
    TG_TRY(key_of(e, OPERATIONS, i, "syscall", names[i], first ? 1u : 0u, &r.key));
    TG_TRY(tg_result_reading(e->out, &r));
  }
  return TG_OK;
}

static tg_status emit_syscall(emit *e, const tg_syscall *s, size_t first_row) {
  const uint64_t at[] = {s->start, s->enter, s->finish};
  const bool first = !e->seen_syscall, possible = (s->flags & TG_CALL_IMPOSSIBLE) == 0;
  int64_t ticks[3] = {0};
  char text[64];
  e->seen_syscall = true;
  flag_words(s->flags, text);
  if (possible) {
    TG_TRY(tg_ticks_diff(s->enter, s->start, &ticks[0]));
    TG_TRY(tg_ticks_diff(s->finish, s->enter, &ticks[1]));
    TG_TRY(tg_ticks_diff(s->finish, s->start, &ticks[2]));
  }
  tg_row w = tg_row_begin(e->syscalls);
  tg_row_u32(&w, S_SOURCE, s->source);
  tg_row_u32(&w, S_BOOT, s->boot);
  if (s->run != TG_NONE) tg_row_u32(&w, S_RUN, s->run);
  if (s->call != TG_NONE) tg_row_u32(&w, S_CALL, (uint32_t)(first_row + s->call));
  tg_row_bool(&w, S_FIRST, first);
  tg_row_cstr(&w, S_STATE, states[s->state]);
  if (text[0] != '\0') tg_row_cstr(&w, S_FLAGS, text);
  if (e->hz != 0) tg_row_u64(&w, S_CLOCK, e->hz);
  for (size_t i = 0; i < 3; i++) tg_row_u64(&w, S_START + i, at[i] - e->tee);
  for (size_t i = 0; i < 2 && possible; i++) tg_row_i64(&w, S_TO_OS + i, ticks[i]);
  tg_row_u64(&w, S_LINE, s->line);
  tg_row_u64(&w, S_OFFSET, s->offset);
  TG_TRY(tg_row_end(&w));
  return possible ? syscall_readings(e, s, ticks, first) : TG_OK;
}

/* --- boot by boot ---------------------------------------------------------------------------- */

/* The part of an ordered array that belongs to one boot. */
typedef struct cursor {
  size_t from, to;
} cursor;

#define ADVANCE(c, lines, n, boot_of, b)                             \
  do {                                                               \
    (c).from = (c).to;                                               \
    while ((c).to < (n) && (lines)[(c).to].boot_of == (b)) (c).to++; \
  } while (0)

/* Says that one shift would nest stamps that nest nowhere now. */
static tg_status tell_shift(emit *e, uint32_t boot, const tg_boot_lines *b, const tg_shift *shift) {
  const tg_stamp none = {0};
  const tg_stamp *at = b->n_core > 0 ? &b->core[0].at : &none;
  tg_stamp client = {0};
  if (b->n_core == 0 && b->n_clients > 0) {
    client.source = b->clients[0].source;
    client.line = b->clients[0].line;
    client.offset = b->clients[0].offset;
    at = &client;
  }
  const uint64_t width = (uint64_t)shift->highest - (uint64_t)shift->lowest;
  const int64_t middle = (int64_t)((uint64_t)shift->lowest + width / 2);
  return tg_result_problem(
      e->out, at->source, at->line, at->offset, "optee", "offset?",
      "boot %u: no stamp of the secure world nests in the normal world's, but adding any of "
      "%lld..%lld ticks to them would nest them (a hypervisor's counter offset?): give "
      "--tee-offset %lld to join them",
      boot, (long long)shift->lowest, (long long)shift->highest, (long long)middle);
}

static tg_status reduce_boot(emit *e, uint32_t boot, const tg_boot_lines *lines, tg_calls *calls) {
  tg_shift shift = {0};
  calls->n = 0;
  e->hz = tg_optee_clock(e->in, e->out, boot, &e->origin);
  forget_keys(e);
  memset(e->seen, 0, sizeof e->seen);
  e->seen_syscall = false;
  const size_t first_row = tg_table_rows(e->calls);
  TG_TRY(tg_calls_join(e->in->alloc, e->in->options->stop, lines, calls, &shift));
  if (shift.found) TG_TRY(tell_shift(e, boot, lines, &shift));
  TG_TRY(tg_table_reserve(e->calls, first_row + calls->n));
  for (size_t i = 0; i < calls->n; i++) {
    if (tg_reduce_stops(e->in, i)) return TG_EINTERRUPTED;
    TG_TRY(emit_call(e, &calls->at[i]));
  }
  for (size_t i = 0; i < lines->n_syscalls; i++) {
    if (tg_reduce_stops(e->in, i)) return TG_EINTERRUPTED;
    TG_TRY(emit_syscall(e, &lines->syscalls[i], first_row));
  }
  return TG_OK;
}

static tg_status reduce_lines(emit *e, const tg_optee_lines *l) {
  const tg_table *boots = tg_result_get(e->out, "boots");
  size_t n_boots = boots != NULL ? tg_table_rows(boots) : 0;
  cursor driver = {0, 0};
  cursor core = {0, 0};
  cursor clients = {0, 0};
  cursor syscalls = {0, 0};
  tg_calls calls = {0};
  tg_status status = TG_OK;
  for (uint32_t b = 0; b < n_boots && status == TG_OK; b++) {
    ADVANCE(driver, l->driver, l->n_driver, at.boot, b);
    ADVANCE(core, l->core, l->n_core, at.boot, b);
    ADVANCE(clients, l->clients, l->n_clients, boot, b);
    ADVANCE(syscalls, l->syscalls, l->n_syscalls, boot, b);
    const tg_boot_lines lines = {
        .driver = l->driver == NULL ? NULL : l->driver + driver.from,
        .core = l->core == NULL ? NULL : l->core + core.from,
        .clients = l->clients == NULL ? NULL : l->clients + clients.from,
        .syscalls = l->syscalls == NULL ? NULL : l->syscalls + syscalls.from,
        .n_driver = driver.to - driver.from,
        .n_core = core.to - core.from,
        .n_clients = clients.to - clients.from,
        .n_syscalls = syscalls.to - syscalls.from,
    };
    if (lines.n_driver + lines.n_core + lines.n_clients + lines.n_syscalls == 0) continue;
    status = reduce_boot(e, b, &lines, &calls);
  }
  tg_release(e->in->alloc, calls.at);
  return status;
}

static tg_status reduce_all(emit *e, tg_optee_lines *lines) {
  TG_TRY(tg_result_table(e->out, "calls", call_columns, C_COLUMNS, &e->calls));
  TG_TRY(tg_result_table(e->out, "syscalls", syscall_columns, S_COLUMNS, &e->syscalls));
  TG_TRY(tg_optee_gather(e->in, e->out, lines));
  return reduce_lines(e, lines);
}

static tg_status reduce(const tg_reduce_in *in, tg_result *out, tg_error *err) {
  tg_optee_lines lines = {0};
  emit e = {.in = in, .out = out};
  if (in->options->have_tee_offset) e.tee = (uint64_t)in->options->tee_offset;
  const tg_status status = reduce_all(&e, &lines);
  tg_optee_lines_free(in->alloc, &lines);
  if (status != TG_OK) tg_fail(err, status, 0, 0, "the OP-TEE calls: %s", tg_status_text(status));
  return status;
}

const tg_format tg_format_optee = {
    .name = "optee",
    .title = "OP-TEE benchmark console lines (client, driver and core counters)",
    .rules = rules,
    .n_rules = TG_COUNT_OF(rules),
    .observation = TG_OBSERVATION_BOOT,
    .example = "CounterTimerFrequency: 0x3b9aca0\n"
               "ClientOpenSession: start=0x10, enter_ta=0x40, return=0x90\n"
               "SecureSysCall: start=0x41, enter_svc=0x42, return=0x43\n"
               "TEEDriver: do smc call, cmd=0, cntvct=0x20\n"
               "TEEDriver: finish smc call, cmd=0, cntvct=0x80\n"
               "TEECore: receiving smc call, cmd=0, cntvct=0x30\n"
               "TEECore: finish smc call, cmd=0, cntvct=0x70\n",
    .reduce = reduce,
};

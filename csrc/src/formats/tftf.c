/* tftf.c - TF-A's test framework: sessions, tests, and the RT_INSTR records of the runtime
 * instrumentation suite.
 *
 * Four shapes of record are told apart by their count of numbers; the closing "/>" is required,
 * so that a record cut short is a problem and never a smaller number.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tftf.h"

#include <string.h>

#include "boot_clock.h"
#include "boots.h"
#include "formats.h"
#include "reducer.h"
#include "tftf_memo.h"
#include "tftf_names.h"

#define RECORD(n, p)                            \
  {.name = "tftf." n,                           \
   .pattern = "<RT_INSTR:{test:word} ~" p "/>", \
   .tag = "<RT_INSTR:",                         \
   .witness = "test_rt_instr_",                 \
   .all = true,                                 \
   .better = TG_BETTER_LOWER}
#define LINE(n, p, t) \
  {.name = "tftf." n, .pattern = (p), .tag = (t), .all = true, .better = TG_BETTER_NONE}
#define SOFT(n, p, t) \
  {.name = "tftf." n, \
   .pattern = (p),    \
   .tag = (t),        \
   .all = true,       \
   .soft = true,      \
   .better = TG_BETTER_NONE}
#define TIMES "{powerdown:uint} ~{wakeup:uint} ~{cache_flush:uint}"
#define VERDICT "{verdict:Skipped|Passed|Failed|Crashed}"

static const tg_rule_def rules[] = {
    RECORD("times", "{cluster:uint} ~{core:uint} ~" TIMES),
    RECORD("times_old", "{position:uint} ~" TIMES),
    RECORD("latency", "{cluster:uint} ~{core:uint} ~{latency:uint}"),
    RECORD("latency_old", "{position:uint} ~{latency:uint}"),
    LINE("executing", "> Executing '{title:text}'~$", "> Executing '"),
    LINE("complete", "TEST COMPLETE~" VERDICT, "TEST COMPLETE"),
    LINE("starting_old", "Starting unittest '{title:text}'~$", "Starting unittest '"),
    LINE("complete_old", "Unittest '{title:text}' complete. Result: ~" VERDICT, "Unittest '"),
    LINE("suite", "Running test suite '{suite:text}'~$", "Running test suite '"),
    SOFT("session", "Starting a new test session", "Starting a new test"),
    SOFT("resumed", "Resuming interrupted test session", "Resuming interrupted test"),
    SOFT("exit", "Exiting tests.", "Exiting tests"),
    SOFT("crashed", "Test has crashed, moving to the next one", "Test has crashed"),
    SOFT("count", "Tests ~{what:Skipped|Passed|Failed|Crashed} ~: ~{n:uint}", "Tests "),
    SOFT("order", "PMF timestamps are not correctly ordered", "PMF timestamps"),
    SOFT("version", "Wrong PSCI version:{text:text}", "Wrong PSCI version:"),
    SOFT("exception", "Unhandled exception on {text:text}", "Unhandled exception"),
    SOFT("panic", "PANIC in file:{text:text}", "PANIC in file:"),
    SOFT("assert", "ASSERT:{text:text}", "ASSERT:"),
    SOFT("bug", "BUG:{text:text}", "BUG:"),
    SOFT("error", "ERROR: ~{text:text}", "ERROR:"),
    SOFT("warning", "WARNING: ~{text:text}", "WARNING:"),
};

static const tg_column_def test_columns[] = {
    {"source", TG_U32, 0},    {"boot", TG_U32, 0},       {"block", TG_U32, 0},
    {"test", TG_TEXT, 0},     {"title", TG_TEXT, 0},     {"suite", TG_TEXT, 0},
    {"verdict", TG_TEXT, 0},  {"reason", TG_TEXT, 0},    {"records", TG_U32, 0},
    {"expected", TG_U32, 0},  {"partial", TG_BOOL, 0},   {"cpus", TG_TEXT, 0},
    {"channel", TG_TEXT, 0},  {"first_line", TG_U64, 0}, {"first_offset", TG_U64, 0},
    {"last_line", TG_U64, 0},
};
enum {
  T_SOURCE,
  T_BOOT,
  T_BLOCK,
  T_TEST,
  T_TITLE,
  T_SUITE,
  T_VERDICT,
  T_REASON,
  T_RECORDS,
  T_EXPECTED,
  T_PARTIAL,
  T_CPUS,
  T_CHANNEL,
  T_LINE,
  T_OFFSET,
  T_LAST,
  T_COLUMNS
};

static const tg_column_def event_columns[] = {
    {"source", TG_U32, 0}, {"boot", TG_U32, 0}, {"block", TG_U32, 0},  {"kind", TG_TEXT, 0},
    {"text", TG_TEXT, 0},  {"line", TG_U64, 0}, {"offset", TG_U64, 0},
};
enum { E_SOURCE, E_BOOT, E_BLOCK, E_KIND, E_TEXT, E_LINE, E_OFFSET, E_COLUMNS };

static const char *const metrics[] = {"powerdown", "wakeup", "cache_flush"};
static const char *const identity_words[] = {"map", "label", "linear", "ordinal"};

/* One source on its way into the result. */
typedef struct emit {
  const tg_reduce_in *in;
  tg_result *out;
  const tg_tftf_log *log;
  tg_table *tests, *events;
  tg_place *labels, *cpus;
  size_t labels_cap, cpus_cap;
  uint32_t source;
  tg_tftf_memo memo; /* of the unit and channel at work */
  tg_str known_channel;
} emit;

/* How the values of one boot are stored. */
typedef struct boot_unit {
  const tg_platform *platform;
  uint64_t hz;
  tg_clock_origin origin;
  bool ticks;
} boot_unit;

static void put_text(tg_row *w, size_t col, tg_str v) {
  if (v.p != NULL) tg_row_text(w, col, v);
}

#define WORDS 1024 /* bytes of a message; a longer one is cut */

/* A message from the words before its field and the field. */
static void put_words(tg_row *w, size_t col, const char *lead, tg_str v) {
  uint8_t text[WORDS];
  const size_t n = lead != NULL ? strlen(lead) : 0;
  if (n == 0) {
    put_text(w, col, v);
    return;
  }
  memcpy(text, lead, n);
  const size_t rest = v.n < WORDS - n ? v.n : WORDS - n;
  if (rest > 0) memcpy(text + n, v.p, rest);
  tg_row_text(w, col, (tg_str){text, n + rest});
}

static size_t values_of(const tg_tftf_block *b) { return b->latency ? 1 : 3; }

/* Decides whether the values of the boot of block `from` are whole ticks of its clock. A few off
 * the grid are torn numbers; if most are off, the clock is not this board's. */
static tg_status decide_unit(emit *e, size_t from, boot_unit *unit) {
  uint32_t boot = e->log->blocks[from].boot;
  size_t on = 0;
  size_t off = 0;
  const tg_tftf_row *first = NULL;
  unit->platform = tg_boot_platform(e->in, e->out, boot);
  unit->hz = tg_boot_clock(e->in, e->out, boot, &unit->origin);
  unit->ticks = false;
  if (unit->hz == 0) return TG_OK;
  for (size_t i = from; i < e->log->n_blocks && e->log->blocks[i].boot == boot; i++) {
    const tg_tftf_block *b = &e->log->blocks[i];
    for (size_t r = b->first_row; r < b->first_row + b->n_rows; r++) {
      const tg_tftf_row *row = &e->log->rows[r];
      for (size_t v = 0; v < values_of(b); v++) {
        int64_t ticks = 0;
        bool good = false;
        if (row->value[v] > INT64_MAX) continue;
        tg_status status = tg_ns_to_ticks((int64_t)row->value[v], unit->hz, &ticks, &good);
        if (status == TG_OK && good) {
          on++;
        } else {
          off++;
          if (first == NULL) first = row;
        }
      }
    }
  }
  unit->ticks = off <= on;
  if (unit->ticks || first == NULL) return TG_OK;
  unit->origin = TG_CLOCK_NONE;
  return tg_result_problem(e->out, e->source, first->line, first->offset, "tftf", "off-grid",
                           "%zu of %zu values of this boot are no whole ticks of %llu Hz: the "
                           "clock is another, the values stay in ns",
                           off, on + off, (unsigned long long)unit->hz);
}

/* Forgets the keys: another unit or channel begins. */
static void forget_keys(emit *e, tg_str channel) {
  tg_tftf_memo_forget(&e->memo);
  e->known_channel = channel;
}

/* Whether values of two boots are stored alike, so that they have the same keys. */
static bool same_keys(const boot_unit *a, const boot_unit *b) {
  if (a->ticks != b->ticks) return false;
  return !a->ticks || (a->hz == b->hz && a->origin == b->origin);
}

/* One value as a reading; `*id` is its key's, looked up if TG_NONE. */
static tg_status add_reading(emit *e, const tg_tftf_block *b, uint32_t block, const boot_unit *unit,
                             const tg_tftf_row *row, size_t v, tg_key *key, uint32_t *id) {
  const char *metric = b->latency ? "latency" : metrics[v];
  tg_reading reading = {.line = row->line,
                        .offset = row->offset,
                        .source = e->source,
                        .boot = b->boot,
                        .run = TG_NONE,
                        .block = block};
  bool on_grid = true;
  if (row->value[v] > INT64_MAX) {
    return tg_result_problem(e->out, e->source, row->line, row->offset, "tftf", "overflow",
                             "%s %llu does not fit 63 bits", metric,
                             (unsigned long long)row->value[v]);
  }
  reading.value = (int64_t)row->value[v];
  if (unit->ticks) {
    tg_status status = tg_ns_to_ticks(reading.value, unit->hz, &reading.value, &on_grid);
    if (status != TG_OK || !on_grid) {
      return tg_result_problem(e->out, e->source, row->line, row->offset, "tftf", "off-grid",
                               "%s %llu ns is no whole number of ticks of %llu Hz", metric,
                               (unsigned long long)row->value[v], (unsigned long long)unit->hz);
    }
  }
  if (*id == TG_NONE) {
    key->metric = tg_str_of(metric);
    key->exchange = tg_str_of(tg_tftf_exchange(key->test, metric));
    TG_TRY(tg_result_key(e->out, key, id));
  }
  reading.key = *id;
  return tg_result_reading(e->out, &reading);
}

/* The printed label of a row as text. */
static tg_str label_text(const tg_tftf_block *b, const tg_tftf_row *row, char buffer[24]) {
  uint8_t *p = (uint8_t *)buffer + 24;
  uint8_t *end = p;
  uint32_t parts[2] = {row->label.core, row->label.cluster};
  for (size_t i = 0; i < (b->linear ? 1u : 2u); i++) {
    if (i > 0) *--p = ',';
    uint32_t n = parts[i];
    do {
      *--p = (uint8_t)('0' + n % 10);
      n /= 10;
    } while (n > 0);
  }
  tg_str text = {p, (size_t)(end - p)};
  return text;
}

/* True if a record of these lines was torn: then the block may lack one in the middle. */
static bool is_torn(const emit *e, const tg_tftf_block *b) {
  const tg_table *problems = tg_records_problems(e->in->sources[e->source]);
  size_t low = 0;
  size_t high = problems != NULL ? tg_table_rows(problems) : 0;
  size_t n = high;
  while (low < high) {
    size_t mid = low + (high - low) / 2;
    uint64_t line = 0;
    (void)tg_table_u64(problems, mid, TG_PROBLEM_LINE, &line);
    if (line < b->line) {
      low = mid + 1;
    } else {
      high = mid;
    }
  }
  for (; low < n; low++) {
    uint64_t line = 0;
    tg_str rule;
    (void)tg_table_u64(problems, low, TG_PROBLEM_LINE, &line);
    if (line > b->last_line) return false;
    if (!tg_table_text(problems, low, TG_PROBLEM_RULE, &rule)) continue;
    if (rule.n >= 5 && memcmp(rule.p, "tftf.", 5) == 0) return true;
  }
  return false;
}

/* The part of a key that all rows of a block share; `channel` is room for its label. */
static void block_key(const tg_tftf_block *b, const boot_unit *unit, char channel[64],
                      tg_key *key) {
  tg_key_init(key);
  key->format = tg_str_of("tftf");
  key->test = b->test.p != NULL ? b->test : b->title;
  key->unit = tg_str_of(unit->ticks ? "tick" : "ns");
  key->clock_hz = unit->ticks ? unit->hz : 0;
  key->origin = unit->ticks ? unit->origin : TG_CLOCK_NONE;
  if (b->channel.p != NULL && b->channel.n < 64 - 8) {
    memcpy(channel, "channel=", 8);
    memcpy(channel + 8, b->channel.p, b->channel.n);
    key->labels = (tg_str){(const uint8_t *)channel, 8 + b->channel.n};
  }
}

/* The readings of a block. */
static tg_status add_readings(emit *e, const tg_tftf_block *b, uint32_t block,
                              const boot_unit *unit, bool torn, tg_identity *how) {
  const tg_tftf_row *rows = b->n_rows > 0 ? &e->log->rows[b->first_row] : NULL;
  char buffer[24], channel[64];
  tg_key key;
  TG_TRY(tg_reserve(e->in->alloc, &e->labels, &e->labels_cap, b->n_rows, sizeof *e->labels));
  TG_TRY(tg_reserve(e->in->alloc, &e->cpus, &e->cpus_cap, b->n_rows, sizeof *e->cpus));
  TG_TRY(tg_tftf_memo_room(&e->memo, e->in->alloc, b->n_rows));
  for (size_t i = 0; i < b->n_rows; i++) e->labels[i] = rows[i].label;
  *how = tg_topology_identify(unit->platform, e->labels, b->n_rows, b->linear, !torn, e->cpus);
  if (b->channel.p != e->known_channel.p || b->channel.n != e->known_channel.n)
    forget_keys(e, b->channel);
  block_key(b, unit, channel, &key);
  for (size_t i = 0; i < b->n_rows; i++) {
    tg_tftf_keys wanted = {.test = key.test,
                           .ids = {TG_NONE, TG_NONE, TG_NONE},
                           .latency = b->latency,
                           .linear = b->linear,
                           .ordinal = *how == TG_IDENTITY_ORDINAL};
    if (wanted.ordinal) {
      wanted.name = rows[i].label;
      wanted.place = key.cpu = (uint32_t)i;
      key.place = label_text(b, &rows[i], buffer);
    } else {
      wanted.name = e->cpus[i];
      key.cluster = e->cpus[i].cluster;
      key.core = e->cpus[i].core;
    }
    uint32_t *ids = tg_tftf_memo_ids(&e->memo, &wanted);
    for (size_t v = 0; v < values_of(b); v++)
      TG_TRY(add_reading(e, b, block, unit, &rows[i], v, &key, &ids[v]));
  }
  return TG_OK;
}

/* How many records a whole block of the boot of block `from` has: the platform's cpus, else the
 * largest block. 0: not known. */
static size_t expected_rows(const emit *e, size_t from, const boot_unit *unit) {
  uint32_t boot = e->log->blocks[from].boot;
  if (unit->platform != NULL && unit->platform->n_cpus > 0) return unit->platform->n_cpus;
  size_t most = 0;
  for (size_t i = from; i < e->log->n_blocks && e->log->blocks[i].boot == boot; i++) {
    if (e->log->blocks[i].n_rows > most) most = e->log->blocks[i].n_rows;
  }
  return most;
}

static bool is_word(tg_str v, const char *word) {
  return v.n == strlen(word) && memcmp(v.p, word, v.n) == 0;
}

/* The row of a block in "tests". */
static tg_status add_test(emit *e, const tg_tftf_block *b, uint32_t block, size_t expected,
                          bool torn, tg_identity how) {
  const bool skipped = b->verdict.p != NULL && is_word(b->verdict, "Skipped");
  const bool has_records = b->n_rows > 0 || b->test.p != NULL;
  tg_row w = tg_row_begin(e->tests);
  tg_row_u32(&w, T_SOURCE, e->source);
  if (b->boot != TG_NONE) tg_row_u32(&w, T_BOOT, b->boot);
  tg_row_u32(&w, T_BLOCK, block);
  put_text(&w, T_TEST, b->test);
  put_text(&w, T_TITLE, b->title);
  put_text(&w, T_SUITE, b->suite);
  put_text(&w, T_VERDICT, b->verdict);
  put_words(&w, T_REASON, b->lead, b->reason);
  put_text(&w, T_CHANNEL, b->channel);
  tg_row_u32(&w, T_RECORDS, (uint32_t)b->n_rows);
  if (has_records && expected > 0) {
    tg_row_u32(&w, T_EXPECTED, (uint32_t)expected);
    tg_row_bool(&w, T_PARTIAL, !skipped && (torn || b->n_rows < expected));
  }
  if (b->n_rows > 0) tg_row_cstr(&w, T_CPUS, identity_words[how]);
  tg_row_u64(&w, T_LINE, b->line);
  tg_row_u64(&w, T_OFFSET, b->offset);
  tg_row_u64(&w, T_LAST, b->last_line);
  return tg_row_end(&w);
}

static tg_status add_events(emit *e) {
  for (size_t i = 0; i < e->log->n_events; i++) {
    const tg_tftf_event *ev = &e->log->events[i];
    if (tg_reduce_stops(e->in, i)) return TG_EINTERRUPTED;
    tg_row w = tg_row_begin(e->events);
    tg_row_u32(&w, E_SOURCE, e->source);
    if (ev->boot != TG_NONE) tg_row_u32(&w, E_BOOT, ev->boot);
    if (ev->block != SIZE_MAX) tg_row_u32(&w, E_BLOCK, (uint32_t)ev->block);
    put_text(&w, E_KIND, ev->kind);
    put_words(&w, E_TEXT, ev->lead, ev->text);
    tg_row_u64(&w, E_LINE, ev->line);
    tg_row_u64(&w, E_OFFSET, ev->offset);
    TG_TRY(tg_row_end(&w));
  }
  return TG_OK;
}

/* Says that values count although their test failed, or that a test passed and left none. */
static tg_status tell_verdict(emit *e, const tg_tftf_block *b) {
  const bool passed = b->verdict.p != NULL && is_word(b->verdict, "Passed");
  const bool failed =
      b->verdict.p != NULL && (is_word(b->verdict, "Failed") || is_word(b->verdict, "Crashed"));
  const int n = b->test.n < 60 ? (int)b->test.n : 60;
  const char *name = (const char *)b->test.p;
  if (failed && b->n_rows > 0) {
    return tg_result_problem(e->out, e->source, b->line, b->offset, "tftf", "test-failed",
                             "%.*s has the verdict %.*s, and %zu records", n, name,
                             (int)b->verdict.n, (const char *)b->verdict.p, b->n_rows);
  }
  if (passed && b->n_rows == 0 && b->test.p != NULL && tg_tftf_known(b->test)) {
    return tg_result_problem(e->out, e->source, b->line, b->offset, "tftf", "no-record",
                             "%.*s passed, and no record of it can be read", n, name);
  }
  return TG_OK;
}

/* Says once a boot that its blocks name no cpus. */
static tg_status note_ordinal(emit *e, const tg_tftf_block *b, const boot_unit *unit) {
  return tg_result_problem(e->out, e->source, b->line, b->offset, "tftf", "cpu-unknown",
                           "%s: the labels of this boot do not say which cpu they mean; cpus go "
                           "by their place in the block. --platform settles it",
                           unit->platform != NULL ? unit->platform->name : "unknown platform");
}

#define ROWS_USUAL 64 /* readings of a block, to ask by */

static tg_status emit_blocks(emit *e) {
  boot_unit unit = {0};
  uint32_t boot = TG_NONE;
  bool first = true;
  bool noted = false;
  size_t expected = 0;
  for (size_t i = 0; i < e->log->n_blocks; i++) {
    const tg_tftf_block *b = &e->log->blocks[i];
    tg_identity how = TG_IDENTITY_LABEL;
    if (tg_stop_at(e->in->options->stop, i, ROWS_USUAL)) return TG_EINTERRUPTED;
    if (first || b->boot != boot) {
      const boot_unit before = unit;
      TG_TRY(decide_unit(e, i, &unit));
      if (first || !same_keys(&before, &unit)) forget_keys(e, e->known_channel);
      first = noted = false;
      boot = b->boot;
      expected = expected_rows(e, i, &unit);
    }
    bool torn = is_torn(e, b);
    TG_TRY(add_readings(e, b, (uint32_t)i, &unit, torn, &how));
    if (how == TG_IDENTITY_ORDINAL && !noted) {
      noted = true;
      TG_TRY(note_ordinal(e, b, &unit));
    }
    TG_TRY(add_test(e, b, (uint32_t)i, expected, torn, how));
    TG_TRY(tell_verdict(e, b));
  }
  return TG_OK;
}

static tg_status reduce_source(emit *e, tg_tftf_log *log) {
  TG_TRY(tg_tftf_walk(e->in, e->source, e->out, log));
  TG_TRY(emit_blocks(e));
  return add_events(e);
}

static tg_status reduce_all(emit *e) {
  TG_TRY(tg_result_table(e->out, "tests", test_columns, T_COLUMNS, &e->tests));
  TG_TRY(tg_result_table(e->out, "events", event_columns, E_COLUMNS, &e->events));
  for (size_t s = 0; s < e->in->n_sources; s++) {
    tg_tftf_log log = {.a = e->in->alloc};
    e->source = (uint32_t)s;
    e->log = &log;
    const tg_status status = reduce_source(e, &log);
    tg_tftf_log_free(&log);
    e->log = NULL;
    if (status != TG_OK) return status;
  }
  return TG_OK;
}

/* "tests", "events", keys and readings of all sources. */
static tg_status reduce(const tg_reduce_in *in, tg_result *out, tg_error *err) {
  emit e = {.in = in, .out = out};
  const tg_status status = reduce_all(&e);
  tg_release(in->alloc, e.labels);
  tg_release(in->alloc, e.cpus);
  tg_tftf_memo_free(&e.memo, in->alloc);
  if (status != TG_OK) tg_fail(err, status, 0, 0, "TFTF records: %s", tg_status_text(status));
  return status;
}

const tg_format tg_format_tftf = {
    .name = "tftf",
    .title = "TF-A's test framework: runtime instrumentation",
    .rules = rules,
    .n_rules = TG_COUNT_OF(rules),
    .observation = TG_OBSERVATION_BOOT,
    .needs_clock = "plain ns: their step is not known",
    .example =
        "> Executing 'CPU suspend on all cores in sequence'\r\n"
        "<RT_INSTR:test_rt_instr_cpu_susp_serial\t1\t0\t104500\t23400\t5840/>\r\n"
        "  TEST COMPLETE                                                 Passed\r\n",
    .reduce = reduce,
};

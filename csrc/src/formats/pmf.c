/* pmf.c - TF-A's boot markers ("PMF:cpu 0 tid 4 ts 23722596"): pairs become stages of a boot.
 *
 * Stamps are raw counter ticks; the clock is not in the log. A bare tid counts the markers of the
 * boot service, a full one (0x41 in its top byte) those of another service. Printing a line takes
 * UART time that falls into the next interval.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "boot_clock.h"
#include "boots.h"
#include "formats.h"
#include "reducer.h"
#include "stages.h"

static const tg_rule_def rules[] = {
    {.name = "pmf.stamp",
     .pattern = "PMF:cpu {cpu:uint} ~tid {tid:uint} ~ts {ts:uint}",
     .tag = "PMF:cpu",
     .all = true,
     .better = TG_BETTER_NONE},
};
enum { F_CPU = TG_REC_FIELD, F_TID, F_TS };

/* Pairs of markers: the even tid opens, the next one closes. */
static const struct {
  uint32_t service; /* SERVICE_BOOT for bare tids */
  uint32_t first;
  const char *name, *service_name;
} stages[] = {
    {UINT32_MAX, 0, "BL1", "boot"},
    {UINT32_MAX, 2, "BL2", "boot"},
    {UINT32_MAX, 4, "BL31", "boot"},
    {UINT32_MAX, 6, "BL1 authentication", "boot"},
    {UINT32_MAX, 8, "BL2 authentication", "boot"},
    {0, 0, "low power", "psci_stat"},
    {1, 0, "PSCI", "rt_instr"},
    {1, 2, "hardware low power", "rt_instr"},
    {1, 4, "cache flush", "rt_instr"},
};
#define SERVICE_BOOT UINT32_MAX
#define N_STAGES TG_COUNT_OF(stages)

/* One stamp. */
typedef struct stamp {
  uint64_t ts, line, offset;
  uint32_t cpu, boot;
  size_t stage;
  bool opens, used;
} stamp;

typedef struct pmf {
  const tg_reduce_in *in;
  tg_result *out;
  tg_table *table;
  stamp *at;
  size_t n, cap;
  uint32_t source;
} pmf;

/* Splits a tid into service and local id. Bare ids have neither implementer nor service. */
static bool split_tid(uint64_t tid, uint32_t *service, uint32_t *id) {
  *id = (uint32_t)(tid & 0xff);
  if (tid <= 0xff) {
    *service = SERVICE_BOOT;
    return true;
  }
  if (tid > UINT32_MAX || tid >> 24 != 0x41) return false;
  *service = (uint32_t)(tid >> 10 & 0x3f);
  return true;
}

/* The place of a marker in `stages`; N_STAGES: none. */
static size_t find_stage(uint64_t tid, bool *opens) {
  uint32_t service = 0;
  uint32_t id = 0;
  if (!split_tid(tid, &service, &id)) return N_STAGES;
  *opens = id % 2 == 0;
  for (size_t i = 0; i < N_STAGES; i++) {
    if (stages[i].service == service && stages[i].first == (id & ~1u)) return i;
  }
  return N_STAGES;
}

static tg_status gather(pmf *p) {
  const tg_table *t = tg_rule_table(p->in->sources[p->source], "pmf.stamp");
  size_t n = t != NULL ? tg_table_rows(t) : 0;
  tg_boot_memo near = {0};
  p->n = 0;
  for (size_t i = 0; i < n; i++) {
    stamp s = {0};
    if (tg_reduce_stops(p->in, i)) return TG_EINTERRUPTED;
    uint64_t cpu = 0;
    uint64_t tid = 0;
    if (!tg_table_u64(t, i, F_CPU, &cpu) || !tg_table_u64(t, i, F_TID, &tid) ||
        !tg_table_u64(t, i, F_TS, &s.ts)) {
      continue;
    }
    (void)tg_table_u64(t, i, TG_REC_LINE, &s.line);
    (void)tg_table_u64(t, i, TG_REC_OFFSET, &s.offset);
    s.boot = tg_boot_near(p->out, p->source, s.offset, &near);
    s.stage = find_stage(tid, &s.opens);
    if (s.stage == N_STAGES || cpu >= TG_NONE) {
      TG_TRY(tg_result_problem(p->out, p->source, s.line, s.offset, "pmf.stamp", "unknown-tid",
                               "tid %llu names no known marker", (unsigned long long)tid));
      continue;
    }
    s.cpu = (uint32_t)cpu;
    TG_TRY(tg_reserve(p->in->alloc, &p->at, &p->cap, p->n + 1, sizeof *p->at));
    p->at[p->n++] = s;
  }
  return TG_OK;
}

/* The reading of a complete stage. */
static tg_status add_reading(pmf *p, const stamp *start, int64_t ticks, uint64_t hz,
                             tg_clock_origin origin) {
  tg_key key;
  tg_reading reading = {.value = ticks,
                        .line = start->line,
                        .offset = start->offset,
                        .source = p->source,
                        .boot = start->boot,
                        .run = TG_NONE,
                        .block = TG_NONE};
  tg_key_init(&key);
  key.cpu = start->cpu;
  key.format = tg_str_of("pmf");
  key.test = tg_str_of(stages[start->stage].service_name);
  key.operation = tg_str_of(stages[start->stage].name);
  key.metric = tg_str_of("duration");
  key.unit = tg_str_of("tick");
  key.exchange = tg_str_of("none");
  key.clock_hz = hz;
  key.origin = origin;
  TG_TRY(tg_result_key(p->out, &key, &reading.key));
  return tg_result_reading(p->out, &reading);
}

/* A row of "stages"; one of the stamps may be missing. */
static tg_status add_stage(pmf *p, const stamp *start, const stamp *finish) {
  const stamp *any = start != NULL ? start : finish;
  int64_t ticks = 0;
  int64_t ns = 0;
  tg_clock_origin origin = TG_CLOCK_NONE;
  const uint64_t hz = tg_boot_clock(p->in, p->out, any->boot, &origin);
  const char *state = start == NULL ? "no start" : finish == NULL ? "no end" : "complete";
  bool whole = start != NULL && finish != NULL;
  if (whole && (finish->ts < start->ts || tg_ticks_diff(finish->ts, start->ts, &ticks) != TG_OK)) {
    whole = false;
    state = "time goes back";
  }
  tg_row w = tg_row_begin(p->table);
  tg_row_u32(&w, TG_STAGE_C_SOURCE, p->source);
  if (any->boot != TG_NONE) tg_row_u32(&w, TG_STAGE_C_BOOT, any->boot);
  tg_row_u32(&w, TG_STAGE_C_CPU, any->cpu);
  tg_row_cstr(&w, TG_STAGE_C_SERVICE, stages[any->stage].service_name);
  tg_row_cstr(&w, TG_STAGE_C_STAGE, stages[any->stage].name);
  if (start != NULL) {
    tg_row_u64(&w, TG_STAGE_C_START, start->ts);
    tg_row_u64(&w, TG_STAGE_C_START_LINE, start->line);
  }
  if (finish != NULL) {
    tg_row_u64(&w, TG_STAGE_C_FINISH, finish->ts);
    tg_row_u64(&w, TG_STAGE_C_FINISH_LINE, finish->line);
  }
  if (hz != 0) tg_row_u64(&w, TG_STAGE_C_CLOCK, hz);
  tg_row_cstr(&w, TG_STAGE_C_STATE, state);
  tg_row_cstr(&w, TG_STAGE_C_AXIS, TG_AXIS_COUNTER);
  tg_row_bool(&w, TG_STAGE_C_WHOLE, false);
  if (whole) tg_row_i64(&w, TG_STAGE_C_TICKS, ticks);
  if (whole && hz != 0 && tg_ticks_to_ns(ticks, hz, &ns) == TG_OK)
    tg_row_i64(&w, TG_STAGE_C_NS, ns);
  TG_TRY(tg_row_end(&w));
  if (whole) return add_reading(p, start, ticks, hz, origin);
  return tg_result_problem(p->out, p->source, any->line, any->offset, "pmf.stamp",
                           start == NULL    ? "no-start"
                           : finish == NULL ? "no-end"
                                            : "time-back",
                           "stage %s of cpu %u: %s", stages[any->stage].name, (unsigned)any->cpu,
                           state);
}

#define MAX_BETWEEN 1024 /* stamps of other cpus and stages between the two of a pair */

/* The next stamp of the same boot, cpu and stage that closes; an opening one before it ends the
 * search. */
static stamp *find_finish(pmf *p, size_t i) {
  const stamp *s = &p->at[i];
  for (size_t k = i + 1; k < p->n && k - i <= MAX_BETWEEN; k++) {
    if (p->at[k].boot != s->boot) break;
    stamp *other = &p->at[k];
    if (other->cpu != s->cpu || other->stage != s->stage || other->used) continue;
    return other->opens ? NULL : other;
  }
  return NULL;
}

static tg_status reduce_source(pmf *p) {
  TG_TRY(gather(p));
  for (size_t i = 0; i < p->n; i++) {
    stamp *at = &p->at[i];
    if (tg_stop_at(p->in->options->stop, i, MAX_BETWEEN / 16)) return TG_EINTERRUPTED;
    if (at->used) continue;
    stamp *finish = at->opens ? find_finish(p, i) : NULL;
    if (finish != NULL) finish->used = true;
    at->used = true;
    TG_TRY(at->opens ? add_stage(p, at, finish) : add_stage(p, NULL, at));
  }
  return TG_OK;
}

static tg_status reduce(const tg_reduce_in *in, tg_result *out, tg_error *err) {
  pmf p = {.in = in, .out = out};
  tg_status status = tg_result_table(out, "stages", tg_stage_columns, TG_STAGE_C_COLUMNS, &p.table);
  for (size_t s = 0; s < in->n_sources && status == TG_OK; s++) {
    p.source = (uint32_t)s;
    status = reduce_source(&p);
  }
  tg_release(in->alloc, p.at);
  if (status != TG_OK) tg_fail(err, status, 0, 0, "PMF stamps: %s", tg_status_text(status));
  return status;
}

const tg_format tg_format_pmf = {
    .name = "pmf",
    .title = "TF-A's boot markers (PMF dumps)",
    .rules = rules,
    .n_rules = TG_COUNT_OF(rules),
    .observation = TG_OBSERVATION_BOOT,
    .needs_clock = "ticks",
    .example = "PMF:cpu 0\ttid 0\tts 190034512\r\nPMF:cpu 0\ttid 1\tts 190034612\r\n",
    .reduce = reduce,
};

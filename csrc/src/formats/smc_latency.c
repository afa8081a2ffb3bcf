/* smc_latency.c - TFTF's SMC latency tests: a thousand readings and the averages printed of them.
 *
 * Every sample stands as cycles of the counter and as ns, so the clock is learned from the log.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "boot_clock.h"
#include "boots.h"
#include "formats.h"
#include "reducer.h"

#define LINE(n, p, t) \
  {.name = "smc." n,  \
   .pattern = (p),    \
   .tag = (t),        \
   .all = true,       \
   .soft = true,      \
   .better = TG_BETTER_NONE}

static const tg_rule_def rules[] = {
    LINE("begin", "Raw results:", "Raw results:"),
    LINE("sample", "NOTICE: ~{cycles:uint} cycles ~{ns:uint} ns", "cycles"),
    LINE("mean_cycles", "Average number of cycles: {cycles:uint}", "Average number of"),
    LINE("mean_ns", "Average time: {mean:uint} ns (ranging from {min:uint} to {max:uint})",
         "Average time:"),
};

static const tg_column_def columns[] = {
    {"source", TG_U32, 0},         {"boot", TG_U32, 0},
    {"test", TG_TEXT, 0},          {"n", TG_U64, 0},
    {"clock_hz", TG_U64, 0},       {"mean_cycles", TG_U64, 0},
    {"printed_cycles", TG_U64, 0}, {"printed_ns", TG_U64, 0},
    {"min_ns", TG_U64, 0},         {"max_ns", TG_U64, 0},
    {"printed_min", TG_U64, 0},    {"printed_max", TG_U64, 0},
    {"agrees", TG_BOOL, 0},        {"first_line", TG_U64, 0},
    {"last_line", TG_U64, 0},
};
enum {
  C_SOURCE,
  C_BOOT,
  C_TEST,
  C_N,
  C_CLOCK,
  C_MEAN,
  C_PRINTED_CYCLES,
  C_PRINTED_NS,
  C_MIN,
  C_MAX,
  C_PRINTED_MIN,
  C_PRINTED_MAX,
  C_AGREES,
  C_FIRST,
  C_LAST,
  C_COLUMNS
};

typedef struct sample {
  uint64_t cycles, ns, line, offset;
} sample;

/* The series under way. */
typedef struct series {
  const tg_reduce_in *in;
  const tg_records *records;
  tg_result *out;
  tg_table *table;
  sample *at;
  size_t n, cap;
  tg_str test;
  uint64_t printed[4]; /* mean cycles, mean ns, min, max */
  bool have[4];
  uint64_t first_line, last_line;
  uint32_t source, boot;
  bool open;
} series;

/* The frequencies that print `ns` for `cycles`: floor(cycles * 1e9 / hz) = ns; narrows lo..hi. */
static void narrow(uint64_t cycles, uint64_t ns, uint64_t *lo, uint64_t *hi) {
  if (cycles > UINT64_MAX / UINT64_C(1000000000) || ns == 0 || ns == UINT64_MAX) return;
  uint64_t scaled = cycles * UINT64_C(1000000000);
  uint64_t above = scaled / ns;           /* hz <= scaled / ns */
  uint64_t below = scaled / (ns + 1) + 1; /* hz > scaled / (ns + 1) */
  if (above < *hi) *hi = above;
  if (below > *lo) *lo = below;
}

/* The roundest number in lo..hi: the one with most trailing decimal zeros. 0 where none is. */
static uint64_t roundest(uint64_t lo, uint64_t hi) {
  if (lo > hi) return 0;
  uint64_t best = lo;
  for (uint64_t step = 1; step <= hi; step *= 10) {
    uint64_t up = lo / step * step;
    if (up < lo) {
      if (up > UINT64_MAX - step) break;
      up += step;
    }
    if (up > hi) break;
    best = up;
    if (step > UINT64_MAX / 10) break;
  }
  return best;
}

/* The clock of the series: that of the user or the platform if it fits the log, else the log's.
 */
static uint64_t series_clock(const series *s, tg_clock_origin *origin) {
  uint64_t lo = 1;
  uint64_t hi = UINT64_MAX;
  for (size_t i = 0; i < s->n; i++) narrow(s->at[i].cycles, s->at[i].ns, &lo, &hi);
  uint64_t hz = tg_boot_clock(s->in, s->out, s->boot, origin);
  if (*origin == TG_CLOCK_OPTION || (hz >= lo && hz <= hi && hz != 0)) return hz;
  *origin = TG_CLOCK_LOG;
  return hi == UINT64_MAX ? 0 : roundest(lo, hi);
}

static tg_status add_readings(series *s, uint64_t hz, tg_clock_origin origin) {
  tg_key key;
  tg_reading reading = {.source = s->source, .boot = s->boot, .run = TG_NONE, .block = TG_NONE};
  tg_key_init(&key);
  key.format = tg_str_of("smc");
  key.test = s->test;
  key.metric = tg_str_of("latency");
  key.unit = tg_str_of("tick");
  key.exchange = tg_str_of("none");
  key.clock_hz = hz;
  key.origin = hz != 0 ? origin : TG_CLOCK_NONE;
  TG_TRY(tg_result_key(s->out, &key, &reading.key));
  for (size_t i = 0; i < s->n; i++) {
    if (tg_reduce_stops(s->in, i)) return TG_EINTERRUPTED;
    if (s->at[i].cycles > INT64_MAX) {
      TG_TRY(tg_result_problem(s->out, s->source, s->at[i].line, s->at[i].offset, "smc.sample",
                               "overflow", "the cycles do not fit 63 bits"));
      continue;
    }
    reading.value = (int64_t)s->at[i].cycles;
    reading.line = s->at[i].line;
    reading.offset = s->at[i].offset;
    TG_TRY(tg_result_reading(s->out, &reading));
  }
  return TG_OK;
}

/* Compares the printed figures of a series with the series. */
static tg_status check(const series *s, uint64_t mean, uint64_t min, uint64_t max, bool fits,
                       uint64_t hz, bool *agrees) {
  uint64_t ns = 0;
  *agrees = fits;
  if (s->have[0] && s->printed[0] != mean) *agrees = false;
  if (s->have[1] && hz != 0 && mean <= UINT64_MAX / UINT64_C(1000000000)) {
    ns = mean * UINT64_C(1000000000) / hz;
    if (s->printed[1] != ns) *agrees = false;
  }
  if (s->have[2] && s->printed[2] != min) *agrees = false;
  if (s->have[3] && s->printed[3] != max) *agrees = false;
  if (*agrees || !(s->have[0] || s->have[1])) return TG_OK;
  return tg_result_problem(
      s->out, s->source, s->last_line, s->at[s->n - 1].offset, "smc.mean_cycles", "mean-differs",
      "%zu samples give a mean of %llu cycles, %llu to %llu ns; printed are %llu cycles, %llu to "
      "%llu ns",
      s->n, (unsigned long long)mean, (unsigned long long)min, (unsigned long long)max,
      (unsigned long long)s->printed[0], (unsigned long long)s->printed[2],
      (unsigned long long)s->printed[3]);
}

/* The sum, mean and range of the samples, exact where `fits`. */
typedef struct totals {
  uint64_t mean, min, max;
  bool fits;
} totals;

static totals totals_of(const series *s) {
  totals t = {.min = UINT64_MAX, .fits = true};
  uint64_t sum = 0;
  for (size_t i = 0; i < s->n; i++) {
    if (__builtin_add_overflow(sum, s->at[i].cycles, &sum)) t.fits = false;
    if (s->at[i].ns < t.min) t.min = s->at[i].ns;
    if (s->at[i].ns > t.max) t.max = s->at[i].ns;
  }
  t.mean = sum / s->n;
  return t;
}

/* Ends the series: its row, its readings, its check. */
static tg_status close_series(series *s) {
  bool agrees = true;
  tg_clock_origin origin = TG_CLOCK_NONE;
  if (!s->open) return TG_OK;
  s->open = false;
  if (s->n == 0) return TG_OK;
  const totals t = totals_of(s);
  const uint64_t hz = series_clock(s, &origin);
  TG_TRY(check(s, t.mean, t.min, t.max, t.fits, hz, &agrees));
  tg_row w = tg_row_begin(s->table);
  tg_row_u32(&w, C_SOURCE, s->source);
  if (s->boot != TG_NONE) tg_row_u32(&w, C_BOOT, s->boot);
  if (s->test.p != NULL) tg_row_text(&w, C_TEST, s->test);
  tg_row_u64(&w, C_N, s->n);
  if (hz != 0) tg_row_u64(&w, C_CLOCK, hz);
  if (t.fits) tg_row_u64(&w, C_MEAN, t.mean);
  if (s->have[0]) tg_row_u64(&w, C_PRINTED_CYCLES, s->printed[0]);
  if (s->have[1]) tg_row_u64(&w, C_PRINTED_NS, s->printed[1]);
  tg_row_u64(&w, C_MIN, t.min);
  tg_row_u64(&w, C_MAX, t.max);
  if (s->have[2]) tg_row_u64(&w, C_PRINTED_MIN, s->printed[2]);
  if (s->have[3]) tg_row_u64(&w, C_PRINTED_MAX, s->printed[3]);
  if (s->have[0] || s->have[1]) tg_row_bool(&w, C_AGREES, agrees);
  tg_row_u64(&w, C_FIRST, s->first_line);
  tg_row_u64(&w, C_LAST, s->last_line);
  TG_TRY(tg_row_end(&w));
  return add_readings(s, hz, origin);
}

static void open_series(series *s, uint64_t line) {
  s->open = true;
  s->n = 0;
  s->first_line = s->last_line = line;
  memset(s->have, 0, sizeof s->have);
  memset(s->printed, 0, sizeof s->printed);
}

static tg_status add_sample(series *s, const tg_table *t, tg_record at) {
  sample v = {.line = at.line, .offset = at.offset};
  if (!tg_table_u64(t, at.row, TG_REC_FIELD, &v.cycles) ||
      !tg_table_u64(t, at.row, TG_REC_FIELD + 1, &v.ns)) {
    return TG_OK;
  }
  if (!s->open) open_series(s, at.line);
  TG_TRY(tg_reserve(s->in->alloc, &s->at, &s->cap, s->n + 1, sizeof *s->at));
  s->at[s->n++] = v;
  s->last_line = at.line;
  return TG_OK;
}

static void take_printed(series *s, const tg_table *t, tg_record at, size_t first, size_t n) {
  if (!s->open) return;
  for (size_t i = 0; i < n; i++) {
    s->have[first + i] = tg_table_u64(t, at.row, TG_REC_FIELD + i, &s->printed[first + i]);
  }
  s->last_line = at.line;
}

/* The rules that a series is made of; their numbers in a rule set are looked up once a source. */
typedef enum kind { K_SAMPLE, K_BEGIN, K_MEAN_CYCLES, K_MEAN_NS, K_TEST, K_COUNT } kind;
static const char *const rule_names[K_COUNT] = {"smc.sample", "smc.begin", "smc.mean_cycles",
                                                "smc.mean_ns", "tftf.executing"};

static tg_status take(series *s, kind what, tg_record at) {
  const tg_table *t = tg_records_table(s->records, at.rule);
  switch (what) {
    case K_SAMPLE:
      return add_sample(s, t, at);
    case K_BEGIN:
      TG_TRY(close_series(s));
      open_series(s, at.line);
      break;
    case K_MEAN_CYCLES:
      take_printed(s, t, at, 0, 1);
      break;
    case K_MEAN_NS:
      take_printed(s, t, at, 1, 3);
      break;
    case K_TEST:
      TG_TRY(close_series(s));
      s->test = (tg_str){NULL, 0};
      (void)tg_table_text(t, at.row, TG_REC_FIELD, &s->test);
      break;
    case K_COUNT:
      break;
  }
  return TG_OK;
}

static tg_status reduce_source(series *s) {
  size_t number[K_COUNT];
  tg_boot_memo near = {0};
  s->records = s->in->sources[s->source];
  s->boot = TG_NONE;
  s->test = (tg_str){NULL, 0};
  tg_rule_numbers(s->records, rule_names, K_COUNT, number);
  for (size_t i = 0; i < tg_records_count(s->records); i++) {
    const tg_record at = tg_records_at(s->records, i);
    size_t what = 0;
    if (tg_reduce_stops(s->in, i)) return TG_EINTERRUPTED;
    while (what < K_COUNT && number[what] != at.rule) what++;
    if (what == K_COUNT) continue;
    const uint32_t boot = tg_boot_near(s->out, s->source, at.offset, &near);
    if (boot != s->boot) TG_TRY(close_series(s));
    s->boot = boot;
    TG_TRY(take(s, (kind)what, at));
  }
  return close_series(s);
}

static tg_status reduce(const tg_reduce_in *in, tg_result *out, tg_error *err) {
  series s = {.in = in, .out = out};
  tg_status status = tg_result_table(out, "series", columns, C_COLUMNS, &s.table);
  for (size_t i = 0; i < in->n_sources && status == TG_OK; i++) {
    s.source = (uint32_t)i;
    status = reduce_source(&s);
  }
  tg_release(in->alloc, s.at);
  if (status != TG_OK) tg_fail(err, status, 0, 0, "SMC latencies: %s", tg_status_text(status));
  return status;
}

const tg_format tg_format_smc = {
    .name = "smc",
    .title = "TFTF's SMC latency tests",
    .rules = rules,
    .n_rules = TG_COUNT_OF(rules),
    .observation = TG_OBSERVATION_BOOT,
    .example = "NOTICE:  Raw results:\nNOTICE:  120 cycles\t1920 ns\nNOTICE:  121 cycles\t1936 ns\n"
               "Average number of cycles: 120\nAverage time: 1928 ns (ranging from 1920 to 1936)\n",
    .reduce = reduce,
};

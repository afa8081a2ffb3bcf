/* qconv_runs.c - a run of unit_test as a row of "runs" and as readings.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "boots.h"
#include "qconv.h"

/* "runs": one row a run, in the order of the log. `cpu_us` is no measurement: the program prints
 * its outer end minus a later start. `total_us` is device + exec of a --sync run. */
enum {
  RUN_SOURCE = 0,
  RUN_BOOT,
  RUN_RUN,
  RUN_LINE,
  RUN_OFFSET,
  RUN_SHAPE,
  RUN_KERNEL,
  RUN_TH,
  RUN_TYPE,
  RUN_SYNC,
  RUN_OCCURRENCE,
  RUN_DEVICE,
  RUN_CPU,
  RUN_EXEC,
  RUN_TOTAL,
  RUN_IN,
  RUN_OUT,
  RUN_CLOCK,
  RUN_VERDICT,
  RUN_COUNTED,
  RUN_WHY,
  RUN_COLUMNS
};
static const tg_column_def columns[RUN_COLUMNS] = {
    {"source", TG_U32, 0},   {"boot", TG_U32, 0},       {"run", TG_U32, 0},
    {"line", TG_U64, 0},     {"offset", TG_U64, 0},     {"shape", TG_TEXT, 0},
    {"kernel", TG_TEXT, 0},  {"th", TG_U32, 0},         {"type", TG_TEXT, 0},
    {"sync", TG_BOOL, 0},    {"occurrence", TG_U32, 0}, {"device_us", TG_I64, 0},
    {"cpu_us", TG_I64, 0},   {"exec_us", TG_I64, 0},    {"total_us", TG_I64, 0},
    {"in_bytes", TG_U64, 0}, {"out_bytes", TG_U64, 0},  {"clock_hz", TG_U64, 0},
    {"verdict", TG_TEXT, 0}, {"counted", TG_BOOL, 0},   {"why", TG_TEXT, 0}};

/* Why a run is not in the statistics, or NULL. */
static const char *why_not(const qconv_state *q, const qconv_run *run) {
  if (!run->have_exec) return "no time was printed";
  if (run->verdict != NULL && strcmp(run->verdict, "failed") == 0) return "the result is wrong";
  if (run->verdict != NULL && strcmp(run->verdict, "error") == 0) return "the run failed";
  if (run->verdict == NULL && q->verdicts) return "no verdict was printed";
  if (run->exec < 0 || (run->have_device && run->device < 0))
    return "a negative time: the system's clock was set";
  return NULL;
}

/* Bytes the accelerator reads (two bits a value) and writes (16 bits), as the design has them. */
static bool transfer(const qconv_run *run, uint64_t *in, uint64_t *out) {
  const uint32_t *s = run->shape;
  uint64_t pixels = (uint64_t)s[0] * s[1];
  return !__builtin_mul_overflow(pixels, (uint64_t)s[2], in) &&
         !__builtin_mul_overflow(pixels, (uint64_t)s[3], out) &&
         !__builtin_mul_overflow(*out, (uint64_t)2, out) && (*in /= 4, true);
}

typedef struct run_text {
  char shape[64], kernel[32], test[96], labels[160];
} run_text;

static void write_text(const qconv_run *run, run_text *t) {
  const uint32_t *s = run->shape;
  size_t n = 0;
  snprintf(t->shape, sizeof t->shape, "%ux%ux%ux%u", s[0], s[1], s[2], s[3]);
  snprintf(t->kernel, sizeof t->kernel, "%ux%u", s[4], s[5]);
  snprintf(t->test, sizeof t->test, "%s %s", t->shape, t->kernel);
  n = (size_t)snprintf(t->labels, sizeof t->labels, "sync=%s", run->sync ? "yes" : "no");
  if (run->have_th) n += (size_t)snprintf(t->labels + n, sizeof t->labels - n, " th=%u", run->th);
  if (run->type.n > 0 && run->type.n < 64)
    snprintf(t->labels + n, sizeof t->labels - n, " type=%.*s", (int)run->type.n,
             (const char *)run->type.p);
}

static tg_status key_of(qconv_state *q, const run_text *t, const char *metric, uint32_t *id) {
  tg_key key;
  tg_key_init(&key);
  key.format = tg_str_of("qconv");
  key.test = tg_str_of(t->test);
  key.metric = tg_str_of(metric);
  key.labels = tg_str_of(t->labels);
  key.unit = tg_str_of("us");
  key.exchange = tg_str_of("none");
  return tg_result_key(q->out, &key, id);
}

/* How often this key was met before; counts this one. */
static tg_status occurrence_of(qconv_state *q, uint32_t key, uint32_t *n) {
  if (key == TG_NONE) { /* beyond the bound on keys */
    *n = 0;
    return TG_OK;
  }
  if (key >= q->n_seen) {
    tg_status status =
        tg_reserve(q->alloc, &q->seen, &q->cap_seen, (size_t)key + 1, sizeof *q->seen);
    if (status != TG_OK) return status;
    memset(q->seen + q->n_seen, 0, ((size_t)key + 1 - q->n_seen) * sizeof *q->seen);
    q->n_seen = (size_t)key + 1;
  }
  *n = q->seen[key]++;
  return TG_OK;
}

static tg_status add_reading(qconv_state *q, const qconv_run *run, uint32_t key, int64_t value,
                             uint32_t occurrence) {
  tg_reading reading = {.value = value,
                        .line = run->exec_line,
                        .offset = run->exec_offset,
                        .key = key,
                        .source = q->source,
                        .boot = tg_boot_at(q->out, q->source, run->exec_offset),
                        .run = q->runs,
                        .block = occurrence};
  return tg_result_reading(q->out, &reading);
}

/* The keys and readings of a run that counts; *occurrence counts from 0. */
static tg_status measure(qconv_state *q, const qconv_run *run, const run_text *t,
                         uint32_t *occurrence) {
  const struct {
    const char *metric;
    int64_t value;
  } of[] = {{"exec", run->exec},
            {"sync_device", run->device},
            {"total", run->have_device ? run->device + run->exec : 0}};
  for (size_t i = 0; i < (run->have_device ? 3u : 1u); i++) {
    uint32_t key = 0, n = 0;
    TG_TRY(key_of(q, t, of[i].metric, &key));
    TG_TRY(occurrence_of(q, key, &n));
    TG_TRY(add_reading(q, run, key, of[i].value, n));
    if (i == 0) *occurrence = n;
  }
  return TG_OK;
}

static void run_words(tg_row *w, const qconv_run *run, const run_text *text, const char *why) {
  if (run->have_shape) {
    tg_row_cstr(w, RUN_SHAPE, text->shape);
    tg_row_cstr(w, RUN_KERNEL, text->kernel);
  }
  if (run->have_th) tg_row_u32(w, RUN_TH, run->th);
  if (run->type.n > 0) tg_row_text(w, RUN_TYPE, run->type);
  tg_row_bool(w, RUN_SYNC, run->sync);
  tg_row_cstr(w, RUN_VERDICT, run->verdict);
  tg_row_bool(w, RUN_COUNTED, why == NULL);
  tg_row_cstr(w, RUN_WHY, why);
}

static void run_numbers(const qconv_state *q, tg_row *w, const qconv_run *run) {
  uint64_t in = 0, out = 0;
  const uint32_t boot = tg_boot_at(q->out, q->source, run->offset);
  tg_row_u32(w, RUN_SOURCE, q->source);
  if (boot != TG_NONE) tg_row_u32(w, RUN_BOOT, boot);
  tg_row_u32(w, RUN_RUN, q->runs);
  tg_row_u64(w, RUN_LINE, run->line);
  tg_row_u64(w, RUN_OFFSET, run->offset);
  if (run->have_device) tg_row_i64(w, RUN_DEVICE, run->device);
  if (run->have_cpu) tg_row_i64(w, RUN_CPU, run->cpu);
  if (run->have_exec) tg_row_i64(w, RUN_EXEC, run->exec);
  if (run->have_exec && run->have_device) tg_row_i64(w, RUN_TOTAL, run->device + run->exec);
  if (run->have_shape && transfer(run, &in, &out)) {
    tg_row_u64(w, RUN_IN, in);
    tg_row_u64(w, RUN_OUT, out);
  }
  if (q->clock_hz > 0) tg_row_u64(w, RUN_CLOCK, q->clock_hz);
}

/* A time that cannot be added to another is none. */
static bool sane(const qconv_run *run) {
  const int64_t most = INT64_MAX / 4;
  return run->exec <= most && run->exec >= -most && run->device <= most && run->device >= -most;
}

tg_status tg_qconv_emit(qconv_state *q, const qconv_run *given) {
  qconv_run run = *given;
  tg_table *t = NULL;
  run_text text;
  uint32_t occurrence = 0;
  if (!sane(&run)) run.have_exec = run.have_device = false;
  const char *why = why_not(q, &run);
  write_text(&run, &text);
  TG_TRY(tg_result_table(q->out, "runs", columns, RUN_COLUMNS, &t));
  if (why == NULL) TG_TRY(measure(q, &run, &text, &occurrence));
  tg_row w = tg_row_begin(t);
  run_words(&w, &run, &text, why);
  run_numbers(q, &w, &run);
  if (why == NULL) tg_row_u32(&w, RUN_OCCURRENCE, occurrence);
  TG_TRY(tg_row_end(&w));
  if (why == NULL) return TG_OK;
  return tg_result_problem(q->out, q->source, run.line, run.offset, "qconv", "not-counted",
                           "run %u is not in the statistics: %s%s%s", q->runs, why,
                           run.error != NULL ? ", " : "", run.error != NULL ? run.error : "");
}

void tg_qconv_free(qconv_state *q) { tg_release(q->alloc, q->seen); }

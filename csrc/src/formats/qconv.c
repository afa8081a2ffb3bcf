/* qconv.c - run logs of QCONV-STRIP's unit_test (Ultra96, ZYBO-Z7): its lines as rules, and the
 * lines between a command and its verdict joined into a run.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "qconv.h"

#include <stdio.h>
#include <string.h>

#include "boots.h"

#define RULE(n, p, t) {.name = "qconv." n, .pattern = (p), .tag = (t), .better = TG_BETTER_NONE}
#define SOFT(n, p, t) \
  {.name = "qconv." n, .pattern = (p), .tag = (t), .better = TG_BETTER_NONE, .soft = true}

static const tg_rule_def rules[] = {
    /* before the command, which it quotes */
    SOFT("exit", "Command failed with status ({n:uint})", "failed with status"),
    SOFT("command", "./unit_test {args:text}", "./unit_test"),
    SOFT("command_path", "$ unit_test {args:text}", "unit_test"),
    SOFT("command_root", "# unit_test {args:text}", "unit_test"),
    RULE("sync_device", "Cache sync for device time : {us:int} [[usec]]", "[usec]"),
    RULE("sync_cpu", "Cache sync for cpu time : {us:int} [[usec]]", "[usec]"),
    RULE("exec",
         "FPGA exec time ({iw:uint}x{ih:uint}x{ic:uint}x{oc:uint} {kw:uint}x{kh:uint}): {us:int} "
         "[[usec]]",
         "[usec]"),
    SOFT("success", "[[{name:word}]] test success!!!", "success!!!"),
    SOFT("failed", "[[{name:word}]] test failed...", "failed..."),
    SOFT("mismatch", "^expect: {expect:int}, {name:word}: {got:int}$", "expect:"),
    SOFT("at_h", "^out_h: {n:uint}$", "out_h:"),
    SOFT("at_w", "^out_w: {n:uint}$", "out_w:"),
    SOFT("at_c", "^out_c: {n:uint}$", "out_c:"),
    RULE("status", "qconv strip error(out_size:~{bytes:uint}[[byte]])", "error(out_size:"),
    RULE("output", "qconv strip success(out_size:~{bytes:uint}[[byte]])", "success(out_size:"),
    SOFT("num_pe", "^num_pe: {n:uint}$", "num_pe:"),
    SOFT("threshold", "^use_threshold: {n:uint}$", "use_threshold:"),
    SOFT("bad_type", "Error: input type is not supported.", "supported."),
    SOFT("overflow",
         "Buffer overflow {name:word}.size({n:uint}[[byte]]) < require size({need:uint}",
         "overflow"),
    RULE("env", "QconvStripEnv::{what:text}", "QconvStripEnv::"),
    SOFT("no_device", "Can not found {name:word} in /sys/class/", "/sys/class/"),
    SOFT("no_open", "^Can not open {path:word}$", "Can not open"),
    SOFT("no_mmap", "^Can not mmap {path:word}$", "Can not mmap"),
    SOFT("bad_keyword", "cannot find keyword argument: {name:text}", "keyword"),
    SOFT("no_value", "keyword argument {name:word} must have value.", "keyword"),
    SOFT("no_type", "no positional arguments is set.", "positional"),
    SOFT("many_types", "required positional arguments is {n:uint}. but {m:uint} was passed.",
         "positional"),
    SOFT("aborted", "^rake aborted!", "aborted!"),
    SOFT("clock", "fclkcfg {device:text}: clock ~rate ~: ~{hz:uint}", "fclkcfg"),
    SOFT("buffer", "udmabuf {device:text}: phys address ~= 0x{addr:HEX}", "udmabuf"),
};

/* The effect of a rule's record on the open run. */
static qconv_event event_of(const char *name) {
  static const struct {
    const char *name;
    qconv_event event;
  } events[] = {{"command", QCONV_COMMAND},
                {"command_path", QCONV_COMMAND},
                {"command_root", QCONV_COMMAND},
                {"sync_device", QCONV_DEVICE},
                {"sync_cpu", QCONV_CPU},
                {"exec", QCONV_EXEC},
                {"success", QCONV_SUCCESS},
                {"failed", QCONV_FAILED},
                {"status", QCONV_ERROR},
                {"threshold", QCONV_THRESHOLD},
                {"bad_type", QCONV_ERROR},
                {"overflow", QCONV_ERROR},
                {"env", QCONV_ERROR},
                {"no_device", QCONV_ERROR},
                {"no_open", QCONV_ERROR},
                {"no_mmap", QCONV_ERROR},
                {"bad_keyword", QCONV_ERROR},
                {"no_value", QCONV_ERROR},
                {"no_type", QCONV_ERROR},
                {"many_types", QCONV_ERROR},
                {"aborted", QCONV_ERROR},
                {"exit", QCONV_ERROR},
                {"clock", QCONV_CLOCK}};
  for (size_t i = 0; i < TG_COUNT_OF(events); i++)
    if (strcmp(events[i].name, name) == 0) return events[i].event;
  return QCONV_NOTHING;
}

/* ---- the command's options ----------------------------------------------------------------------
 */

static bool word_is(tg_str w, const char *text) {
  return w.n == strlen(text) && memcmp(w.p, text, w.n) == 0;
}

/* The next blank-free word of `rest`; {NULL, 0} at its end. */
static tg_str next_word(tg_str *rest) {
  while (rest->n > 0 && *rest->p <= ' ') rest->p++, rest->n--;
  tg_str w = {rest->p, 0};
  while (rest->n > 0 && *rest->p > ' ') rest->p++, rest->n--, w.n++;
  if (w.n == 0) w.p = NULL;
  return w;
}

static bool small_number(tg_str w, uint32_t *out) {
  uint64_t v = 0;
  if (tg_parse_u64(w.p, w.p + w.n, &v) != TG_OK || v > INT32_MAX) return false;
  *out = (uint32_t)v;
  return true;
}

/* Options in any order, "--key=value" as well; the type is the word that belongs to none. */
void tg_qconv_options(tg_str args, qconv_run *run) {
  static const struct {
    const char *brief, *full;
    size_t shape; /* index in run->shape, SIZE_MAX: the threshold */
  } options[] = {{"-iw", "--input-width", 0},      {"-ih", "--input-height", 1},
                 {"-ic", "--input-channel", 2},    {"-oc", "--output-channel", 3},
                 {"-kw", "--kernel-width", 4},     {"-kh", "--kernel-height", 5},
                 {"-th", "--threshold", SIZE_MAX}, {"-th", "--use-threshold", SIZE_MAX}};
  run->have_command = true;
  run->th = 0;
  run->have_th = true;
  for (tg_str w = next_word(&args); w.p != NULL; w = next_word(&args)) {
    if (w.p[0] != '-') {
      run->type = w;
      continue;
    }
    if (word_is(w, "--sync")) run->sync = true;
    const uint8_t *equals = memchr(w.p, '=', w.n);
    tg_str name = w, value = {NULL, 0};
    if (equals != NULL) {
      name.n = (size_t)(equals - w.p);
      value = (tg_str){equals + 1, w.n - name.n - 1};
    }
    for (size_t i = 0; i < TG_COUNT_OF(options); i++) {
      if (!word_is(name, options[i].brief) && !word_is(name, options[i].full)) continue;
      if (value.p == NULL) value = next_word(&args);
      if (value.p == NULL) break;
      if (options[i].shape == SIZE_MAX)
        run->have_th = small_number(value, &run->th);
      else if (small_number(value, &run->shape[options[i].shape]))
        run->have_shape = true;
      break;
    }
  }
}

/* ---- runs ---------------------------------------------------------------------------------------
 */

static tg_status close_run(qconv_state *q) {
  qconv_run *run = &q->run;
  tg_status status = TG_OK;
  if (run->open && (run->have_exec || run->have_command || run->have_device))
    status = tg_qconv_emit(q, run);
  if (run->open) q->runs++;
  *run = (qconv_run){0};
  return status;
}

/* A new run begins where its first line stands. */
static tg_status begin_run(qconv_state *q, uint64_t line, uint64_t offset) {
  tg_status status = close_run(q);
  q->run.open = true;
  q->run.line = line;
  q->run.offset = offset;
  return status;
}

/* Does this event belong to a run behind the open one? */
static bool starts_run(const qconv_run *run, qconv_event event) {
  if (!run->open) return event != QCONV_NOTHING && event != QCONV_CLOCK;
  if (event == QCONV_COMMAND) return true;
  bool done = run->have_exec || run->verdict != NULL;
  if (event == QCONV_DEVICE) return done || run->have_device;
  if (event == QCONV_CPU) return done || run->have_cpu;
  if (event == QCONV_SUCCESS || event == QCONV_FAILED) return run->verdict != NULL;
  return event == QCONV_EXEC && done;
}

static void take(qconv_state *q, qconv_event event, const char *rule, const tg_table *t,
                 size_t row) {
  qconv_run *run = &q->run;
  uint64_t u = 0;
  tg_str args = {NULL, 0};
  switch (event) {
    case QCONV_COMMAND:
      if (tg_table_text(t, row, TG_REC_FIELD, &args)) tg_qconv_options(args, run);
      break;
    case QCONV_DEVICE:
      run->have_device = tg_table_i64(t, row, TG_REC_FIELD, &run->device);
      run->sync = true;
      break;
    case QCONV_CPU:
      run->have_cpu = tg_table_i64(t, row, TG_REC_FIELD, &run->cpu);
      run->sync = true;
      break;
    case QCONV_EXEC:
      for (size_t i = 0; i < 6; i++)
        if (tg_table_u64(t, row, TG_REC_FIELD + i, &u))
          run->shape[i] = u > UINT32_MAX ? UINT32_MAX : (uint32_t)u;
      run->have_shape = true;
      run->have_exec = tg_table_i64(t, row, TG_REC_FIELD + 6, &run->exec);
      (void)tg_table_u64(t, row, TG_REC_LINE, &run->exec_line);
      (void)tg_table_u64(t, row, TG_REC_OFFSET, &run->exec_offset);
      break;
    case QCONV_SUCCESS:
      run->verdict = "success";
      q->verdicts = true;
      break;
    case QCONV_FAILED:
      run->verdict = "failed";
      q->verdicts = true;
      break;
    case QCONV_ERROR:
      if (run->verdict == NULL) run->verdict = "error";
      if (run->error == NULL) run->error = rule;
      break;
    case QCONV_THRESHOLD:
      if (!run->have_th && tg_table_u64(t, row, TG_REC_FIELD, &u)) {
        run->th = u != 0;
        run->have_th = true;
      }
      break;
    case QCONV_CLOCK:
      if (tg_table_u64(t, row, TG_REC_FIELD + 1, &u)) q->clock_hz = u;
      break;
    case QCONV_NOTHING:
      break;
  }
}

/* Is there a verdict anywhere? Without one a time stands for itself (only its lines were kept). */
static bool has_verdicts(const tg_records *r) {
  static const char *const names[] = {"qconv.success", "qconv.failed"};
  for (size_t i = 0; i < TG_COUNT_OF(names); i++) {
    const tg_table *t = tg_rule_table(r, names[i]);
    if (t != NULL && tg_table_rows(t) > 0) return true;
  }
  return false;
}

static tg_status reduce_source(qconv_state *q, const tg_stop *stop, const tg_records *r) {
  const tg_ruleset *set = tg_records_rules(r);
  size_t n = tg_records_count(r);
  q->verdicts = has_verdicts(r);
  q->runs = 0;
  q->clock_hz = 0;
  for (size_t i = 0; i < n; i++) {
    tg_record at = tg_records_at(r, i);
    const char *name = tg_ruleset_name(set, at.rule);
    if (tg_stop_at(stop, i, 1)) return TG_EINTERRUPTED;
    if (strncmp(name, "qconv.", 6) != 0) continue;
    qconv_event event = event_of(name + 6);
    if (event == QCONV_NOTHING) continue;
    if (starts_run(&q->run, event)) TG_TRY(begin_run(q, at.line, at.offset));
    take(q, event, name + 6, tg_records_table(r, at.rule), at.row);
  }
  return close_run(q);
}

static tg_status reduce(const tg_reduce_in *in, tg_result *out, tg_error *err) {
  qconv_state q = {.out = out, .alloc = in->alloc};
  tg_status status = TG_OK;
  (void)err;
  for (size_t s = 0; s < in->n_sources && status == TG_OK; s++) {
    q.source = (uint32_t)s;
    status = reduce_source(&q, in->options->stop, in->sources[s]);
  }
  tg_qconv_free(&q);
  return status;
}

const tg_format tg_format_qconv = {
    .name = "qconv",
    .title = "run logs of QCONV-STRIP's unit_test",
    .rules = rules,
    .n_rules = TG_COUNT_OF(rules),
    .example = "./unit_test -iw 10 -ih 10 --sync random\nCache sync for device time : 432 [usec]\n"
               "FPGA exec time (160x160x64x32 1x1): 1408 [usec]\n[qconv_strip] test success!!!\n",
    .reduce = reduce,
};

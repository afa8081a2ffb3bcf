/* xtest.c - OP-TEE's test program: summaries of its hash, cipher and signature speeds, and its
 * storage tables.
 *
 * A result line gives minimum, maximum, mean and deviation of many calls: a summary, no readings.
 * Only the minimum is a value that occurred, and it is stable where the mean is not; so it alone
 * becomes a reading. The subject stands in lines before it: the command, or with -v
 * "Starting test: ...".
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "boots.h"
#include "formats.h"
#include "reducer.h"

static const char *const storage_rows[] = {
    "rule=----{_:text}",
    "row={size:uint} ~| ~{time:dec} ~| ~{speed:exp}",
    NULL,
};

#define US "{_:us|\xc2\xb5s}" /* the micro sign in both its spellings until 2.3 */

static const tg_rule_def rules[] = {
    {.name = "xtest.result",
     .pattern = "min={min:exp}" US " max={max:exp}" US " mean={mean:exp}" US
                " stddev={stddev:exp}" US "[ (cv {cv:exp}%)] ({speed:exp}MiB/s)",
     .tag = "stddev=",
     .exponents = "min=-6,max=-6,mean=-6,stddev=-6,cv=-9,speed=-12"},
    {.name = "xtest.starting",
     .pattern = "Starting test: {what:text}",
     .tag = "Starting",
     .soft = true},
    {.name = "xtest.command", .pattern = "xtest -{args:text}", .tag = "xtest", .soft = true},
    {.name = "xtest.case",
     .pattern = "* {name:word} TEE Trusted Storage Performance Test ({what:word})",
     .tag = "Storage",
     .soft = true},
    {.name = "xtest.storage",
     .pattern = "Data Size (B) ~| ~Time (s) ~| ~Speed (kB/s)",
     .tag = "(kB/s)",
     .soft = true,
     .rows = storage_rows,
     .exponents = "time=-3",
     .end = "benchmark_{_:word}"},
    {.name = "xtest.storage_ta",
     .pattern = "start: {_:word}(s), stop: {_:word}(s), delta: {delta:uint}(ms)",
     .tag = "delta:",
     .values = "delta=delta",
     .unit = "ms",
     .soft = true},
};

typedef enum kind { K_NONE, K_RESULT, K_STARTING, K_COMMAND, K_CASE, K_ROW } kind;

static const struct {
  const char *rule;
  kind kind;
} lines[] = {
    {"xtest.result", K_RESULT}, {"xtest.starting", K_STARTING}, {"xtest.command", K_COMMAND},
    {"xtest.case", K_CASE},     {"xtest.storage.row", K_ROW},
};

enum {
  S_SOURCE,
  S_BOOT,
  S_TEST,
  S_LABELS,
  S_MIN,
  S_MAX,
  S_MEAN,
  S_STDDEV,
  S_CV,
  S_SPEED,
  S_UNIT,
  S_LINE,
  S_OFFSET,
  S_COLUMNS
};
static const tg_column_def columns[S_COLUMNS] = {
    {"source", TG_U32, 0}, {"boot", TG_U32, 0},    {"test", TG_TEXT, 0}, {"labels", TG_TEXT, 0},
    {"min", TG_I64, -6},   {"max", TG_I64, -6},    {"mean", TG_I64, -6}, {"stddev", TG_I64, -6},
    {"cv", TG_I64, -9},    {"speed", TG_I64, -12}, {"unit", TG_TEXT, 0}, {"line", TG_U64, 0},
    {"offset", TG_U64, 0},
};

/* The subject of the next result: a name, and labels in the order of their names. */
#define LABELS 24
typedef struct context {
  tg_str test;
  tg_str name[LABELS], value[LABELS];
  size_t n;
} context;

static void trim(tg_str *s) {
  while (s->n > 0 && s->p[0] <= ' ') {
    s->p++;
    s->n--;
  }
  while (s->n > 0 && s->p[s->n - 1] <= ' ') s->n--;
}

static int compare(tg_str a, tg_str b) {
  size_t n = a.n < b.n ? a.n : b.n;
  int c = n > 0 ? memcmp(a.p, b.p, n) : 0;
  return c != 0 ? c : a.n < b.n ? -1 : a.n > b.n;
}

static void add_label(context *c, tg_str name, tg_str value) {
  if (c->n == LABELS) return;
  size_t at = c->n++;
  for (; at > 0 && compare(c->name[at - 1], name) > 0; at--) {
    c->name[at] = c->name[at - 1];
    c->value[at] = c->value[at - 1];
  }
  c->name[at] = name;
  c->value[at] = value;
}

/* Cuts the text at the first `mark`. */
static tg_str cut(tg_str *rest, uint8_t mark) {
  tg_str part = *rest;
  const uint8_t *at = rest->n > 0 ? memchr(rest->p, mark, rest->n) : NULL;
  if (at == NULL) {
    rest->n = 0;
  } else {
    part.n = (size_t)(at - rest->p);
    rest->n -= part.n + 1;
    rest->p = at + 1;
  }
  return part;
}

/* "ECB, encrypt, keysize=128 bits, size=1024 bytes, ...": words and pairs. */
static void read_starting(tg_str text, context *c) {
  memset(c, 0, sizeof *c);
  while (text.n > 0) {
    tg_str value = cut(&text, ',');
    trim(&value);
    bool pair = value.n > 0 && memchr(value.p, '=', value.n) != NULL;
    if (pair) {
      tg_str name = cut(&value, '=');
      add_label(c, name, cut(&value, ' '));
    } else if (c->test.n == 0) {
      c->test = value;
    } else if (value.n > 0) {
      add_label(c, tg_str_of("mode"), value);
    }
  }
}

/* "-aes-perf -w 0 -n 300 -m ECB" behind "xtest -": the test, then options with or without a
 * value. */
static void read_command(tg_str text, context *c) {
  memset(c, 0, sizeof *c);
  tg_str option = {NULL, 0};
  while (text.n > 0) {
    tg_str word = cut(&text, ' ');
    trim(&word);
    bool begins = word.n > 1 && word.p[0] == '-' && !(word.p[1] >= '0' && word.p[1] <= '9');
    if (word.n == 0) continue;
    if (begins || c->test.n == 0) {
      while (word.n > 0 && word.p[0] == '-') {
        word.p++;
        word.n--;
      }
      if (option.n > 0) add_label(c, option, tg_str_of("yes"));
      option = c->test.n == 0 ? (tg_str){NULL, 0} : word;
      if (c->test.n == 0) c->test = word;
    } else if (option.n > 0) {
      add_label(c, option, word);
      option.n = 0;
    }
  }
  if (option.n > 0) add_label(c, option, tg_str_of("yes"));
}

/* "name=value name=value", blanks in names as '_', cut at the buffer's end. */
static tg_str label_text(const context *c, char buffer[512]) {
  size_t n = 0;
  for (size_t i = 0; i < c->n; i++) {
    if (n + c->name[i].n + c->value[i].n + 2 > 512) break;
    if (i > 0) buffer[n++] = ' ';
    for (size_t k = 0; k < c->name[i].n; k++) {
      buffer[n++] = c->name[i].p[k] == ' ' ? '_' : (char)c->name[i].p[k];
    }
    buffer[n++] = '=';
    for (size_t k = 0; k < c->value[i].n; k++) buffer[n++] = (char)c->value[i].p[k];
  }
  return (tg_str){(const uint8_t *)buffer, n};
}

typedef struct walk {
  const tg_reduce_in *in;
  tg_result *out;
  tg_table *summaries;
  context command, starting;
  tg_str storage_case, storage_what;
  uint32_t source;
  bool have_starting;
} walk;

static tg_status add_reading(walk *w, tg_key *key, int64_t value, const tg_record *at) {
  tg_reading r = {.value = value,
                  .line = at->line,
                  .offset = at->offset,
                  .source = w->source,
                  .boot = tg_boot_at(w->out, w->source, at->offset),
                  .block = TG_NONE};
  key->format = tg_str_of("xtest");
  TG_TRY(tg_result_key(w->out, key, &r.key));
  return tg_result_reading(w->out, &r);
}

/* A row of "summaries", and the minimum as a reading. */
static tg_status feed_result(walk *w, const tg_table *t, const tg_record *at) {
  char buffer[512];
  const context *c = w->have_starting ? &w->starting : &w->command;
  const tg_str labels = label_text(c, buffer);
  int64_t v = 0;
  tg_row row = tg_row_begin(w->summaries);
  tg_row_u32(&row, S_SOURCE, w->source);
  tg_row_u32(&row, S_BOOT, tg_boot_at(w->out, w->source, at->offset));
  if (c->test.n > 0) tg_row_text(&row, S_TEST, c->test);
  if (labels.n > 0) tg_row_text(&row, S_LABELS, labels);
  for (size_t f = 0; f < 6; f++)
    if (tg_table_i64(t, at->row, TG_REC_FIELD + f, &v)) tg_row_i64(&row, S_MIN + f, v);
  tg_row_cstr(&row, S_UNIT, "us");
  tg_row_u64(&row, S_LINE, at->line);
  tg_row_u64(&row, S_OFFSET, at->offset);
  w->have_starting = false;
  TG_TRY(tg_row_end(&row));
  if (!tg_table_i64(t, at->row, TG_REC_FIELD, &v)) return TG_OK;
  tg_key key;
  tg_key_init(&key);
  key.test = c->test;
  key.labels = labels;
  key.exp10 = -6;
  key.metric = tg_str_of("min");
  key.unit = tg_str_of("us");
  return add_reading(w, &key, v, at);
}

/* A row of a storage table: one time for one size. */
static tg_status feed_row(walk *w, const tg_table *t, const tg_record *at) {
  char label[32] = "size=";
  char digits[24];
  size_t n = 0;
  size_t len = strlen(label);
  uint64_t size = 0;
  int64_t time = 0;
  if (!tg_table_u64(t, at->row, TG_REC_FIELD, &size)) return TG_OK;
  if (!tg_table_i64(t, at->row, TG_REC_FIELD + 1, &time)) return TG_OK;
  do {
    digits[n++] = (char)('0' + size % 10);
    size /= 10;
  } while (size != 0);
  while (n > 0) label[len++] = digits[--n];
  tg_key key;
  tg_key_init(&key);
  key.test = w->storage_case;
  key.operation = w->storage_what;
  key.exp10 = -3;
  key.labels = (tg_str){(const uint8_t *)label, len};
  key.metric = tg_str_of("time");
  key.unit = tg_str_of("s");
  return add_reading(w, &key, time, at);
}

static tg_status feed(walk *w, const tg_table *t, const tg_record *at, size_t line) {
  tg_str text = {NULL, 0};
  switch (lines[line].kind) {
    case K_RESULT:
      return feed_result(w, t, at);
    case K_ROW:
      return feed_row(w, t, at);
    case K_STARTING:
      if (tg_table_text(t, at->row, TG_REC_FIELD, &text)) read_starting(text, &w->starting);
      w->have_starting = true;
      return TG_OK;
    case K_COMMAND:
      if (tg_table_text(t, at->row, TG_REC_FIELD, &text)) read_command(text, &w->command);
      w->have_starting = false;
      return TG_OK;
    case K_CASE:
      (void)tg_table_text(t, at->row, TG_REC_FIELD, &w->storage_case);
      (void)tg_table_text(t, at->row, TG_REC_FIELD + 1, &w->storage_what);
      return TG_OK;
    case K_NONE:
      break;
  }
  return TG_OK;
}

static tg_status reduce_source(const tg_reduce_in *in, tg_result *out, tg_table *summaries,
                               uint32_t source) {
  const tg_records *records = in->sources[source];
  walk w = {.in = in, .out = out, .summaries = summaries, .source = source};
  size_t number[TG_COUNT_OF(lines)];
  for (size_t k = 0; k < TG_COUNT_OF(lines); k++) {
    number[k] = SIZE_MAX;
    (void)tg_ruleset_find(tg_records_rules(records), lines[k].rule, &number[k]);
  }
  for (size_t i = 0; i < tg_records_count(records); i++) {
    if (tg_reduce_stops(in, i)) return TG_EINTERRUPTED;
    tg_record at = tg_records_at(records, i);
    size_t k = 0;
    while (k < TG_COUNT_OF(lines) && number[k] != at.rule) k++;
    if (k == TG_COUNT_OF(lines)) continue;
    TG_TRY(feed(&w, tg_records_table(records, at.rule), &at, k));
  }
  return TG_OK;
}

static tg_status reduce(const tg_reduce_in *in, tg_result *out, tg_error *err) {
  tg_table *summaries = NULL;
  tg_status status = tg_result_table(out, "summaries", columns, S_COLUMNS, &summaries);
  for (size_t s = 0; s < in->n_sources && status == TG_OK; s++) {
    status = reduce_source(in, out, summaries, (uint32_t)s);
  }
  if (status != TG_OK) tg_fail(err, status, 0, 0, "xtest's results: %s", tg_status_text(status));
  return status;
}

const tg_format tg_format_xtest = {
    .name = "xtest",
    .title = "OP-TEE xtest: speed summaries and storage tables",
    .rules = rules,
    .n_rules = TG_COUNT_OF(rules),
    .example = "Starting test: SHA1, size=1024 bytes, random=no, unaligned=no, inner loops=1, "
               "loops=5000, warm-up=2 s\nmin=606.864us max=2711.76us mean=645.352us "
               "stddev=67.112us (cv 10.3993%) (1.51322MiB/s)\n",
    .reduce = reduce,
};

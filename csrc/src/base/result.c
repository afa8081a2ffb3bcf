/* result.c - the named tables a reducer fills, and keys that are equal only once.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tickgauge/result.h"

#include <stdio.h>
#include <string.h>

#include "mem.h"
#include "row.h"
#include "try.h"
#include "tickgauge/reader.h"

typedef struct entry {
  char *name;
  tg_table *table;
} entry;

/* `ids` maps a key's packed bytes to its row in "keys": codes are rows. */
struct tg_result {
  tg_alloc alloc;
  entry *entries;
  size_t n, cap;
  tg_intern *ids;
  uint8_t *scratch;
  size_t cap_scratch;
  tg_table *keys, *readings, *problems; /* owned by `entries`; NULL until used */
  uint64_t max_keys, left_out;
  tg_observation observation; /* of keys to come */
  bool counted;               /* readings have a count and a width */
};

enum {
  KEY_FORMAT,
  KEY_TEST,
  KEY_METRIC,
  KEY_OPERATION,
  KEY_PLACE,
  KEY_LABELS,
  KEY_UNIT,
  KEY_EXCHANGE,
  KEY_CLUSTER,
  KEY_CORE,
  KEY_CPU,
  KEY_EXP10,
  KEY_CLOCK_HZ,
  KEY_ORIGIN,
  KEY_RESOLUTION,
  KEY_BETTER,
  KEY_OBSERVATION,
  KEY_COLUMNS,
  KEY_STRINGS = KEY_EXCHANGE + 1
};

static const tg_column_def key_columns[KEY_COLUMNS] = {
    [KEY_FORMAT] = {"format", TG_TEXT, 0},
    [KEY_TEST] = {"test", TG_TEXT, 0},
    [KEY_METRIC] = {"metric", TG_TEXT, 0},
    [KEY_OPERATION] = {"operation", TG_TEXT, 0},
    [KEY_PLACE] = {"place", TG_TEXT, 0},
    [KEY_LABELS] = {"labels", TG_TEXT, 0},
    [KEY_UNIT] = {"unit", TG_TEXT, 0},
    [KEY_EXCHANGE] = {"exchange", TG_TEXT, 0},
    [KEY_CLUSTER] = {"cluster", TG_U32, 0},
    [KEY_CORE] = {"core", TG_U32, 0},
    [KEY_CPU] = {"cpu", TG_U32, 0},
    [KEY_EXP10] = {"exp10", TG_I64, 0},
    [KEY_CLOCK_HZ] = {"clock_hz", TG_U64, 0},
    [KEY_ORIGIN] = {"origin", TG_TEXT, 0},
    [KEY_RESOLUTION] = {"resolution", TG_U64, 0},
    [KEY_BETTER] = {"better", TG_TEXT, 0},
    [KEY_OBSERVATION] = {"observation", TG_TEXT, 0},
};

enum {
  READING_KEY,
  READING_SOURCE,
  READING_BOOT,
  READING_RUN,
  READING_BLOCK,
  READING_VALUE,
  READING_LINE,
  READING_OFFSET,
  READING_COLUMNS,
  READING_COUNT = READING_COLUMNS, /* of a counted result only */
  READING_WIDTH,
  READING_COUNTED_COLUMNS
};

static const tg_column_def reading_columns[READING_COUNTED_COLUMNS] = {
    [READING_KEY] = {"key", TG_U32, 0},     [READING_SOURCE] = {"source", TG_U32, 0},
    [READING_BOOT] = {"boot", TG_U32, 0},   [READING_RUN] = {"run", TG_U32, 0},
    [READING_BLOCK] = {"block", TG_U32, 0}, [READING_VALUE] = {"value", TG_I64, 0},
    [READING_LINE] = {"line", TG_U64, 0},   [READING_OFFSET] = {"offset", TG_U64, 0},
    [READING_COUNT] = {"count", TG_U64, 0}, [READING_WIDTH] = {"width", TG_I64, 0},
};

enum { PROBLEM_SOURCE = 0, PROBLEM_REST = 1, PROBLEM_COLUMNS = PROBLEM_REST + TG_PROBLEM_COLUMNS };

static const tg_column_def problem_columns[PROBLEM_COLUMNS] = {
    [PROBLEM_SOURCE] = {"source", TG_U32, 0},
    [PROBLEM_REST + TG_PROBLEM_LINE] = {"line", TG_U64, 0},
    [PROBLEM_REST + TG_PROBLEM_OFFSET] = {"offset", TG_U64, 0},
    [PROBLEM_REST + TG_PROBLEM_RULE] = {"rule", TG_TEXT, 0},
    [PROBLEM_REST + TG_PROBLEM_REASON] = {"reason", TG_TEXT, 0},
    [PROBLEM_REST + TG_PROBLEM_DETAIL] = {"detail", TG_TEXT, 0},
    [PROBLEM_REST + TG_PROBLEM_EXCERPT] = {"excerpt", TG_TEXT, 0},
};

tg_status tg_result_new(const tg_alloc *a, tg_result **out) {
  a = tg_alloc_or_default(a);
  tg_result *r = tg_zalloc(a, 1, sizeof *r);
  if (r == NULL) return TG_ENOMEM;
  r->alloc = *a;
  r->max_keys = TG_NONE;
  const tg_status status = tg_intern_new(a, UINT32_MAX, &r->ids);
  if (status != TG_OK) {
    tg_release(a, r);
    return status;
  }
  *out = r;
  return TG_OK;
}

void tg_result_bound(tg_result *r, uint64_t max_keys) {
  r->max_keys = max_keys < TG_NONE ? max_keys : TG_NONE;
}

void tg_result_counted(tg_result *r) { r->counted = true; }

void tg_result_observe(tg_result *r, tg_observation observation) { r->observation = observation; }

uint64_t tg_result_left_out(const tg_result *r) { return r->left_out; }

void tg_result_free(tg_result *r) {
  if (r == NULL) return;
  const tg_alloc a = r->alloc;
  for (size_t i = 0; i < r->n; i++) {
    tg_release(&a, r->entries[i].name);
    tg_table_free(r->entries[i].table);
  }
  tg_release(&a, r->entries);
  tg_release(&a, r->scratch);
  tg_intern_free(r->ids);
  tg_release(&a, r);
}

/* Whether the table has exactly these columns. */
static bool table_is(const tg_table *t, const tg_column_def *defs, size_t n) {
  if (tg_table_cols(t) != n) return false;
  for (size_t i = 0; i < n; i++) {
    tg_column_view view;
    if (tg_table_view(t, i, &view) != TG_OK || view.type != defs[i].type ||
        view.exp10 != defs[i].exp10 || strcmp(view.name, defs[i].name) != 0)
      return false;
  }
  return true;
}

static tg_status add_table(tg_result *r, const char *name, const tg_column_def *defs, size_t n,
                           tg_table **out) {
  void *entries = r->entries;
  const size_t size = strlen(name) + 1;
  tg_table *table = NULL;
  char *copy = NULL;
  tg_status status = tg_grow(&r->alloc, &entries, &r->cap, r->n + 1, sizeof *r->entries);
  r->entries = entries;
  if (status != TG_OK) goto fail;
  if ((status = tg_table_new(&r->alloc, defs, n, &table)) != TG_OK) goto fail;
  if ((copy = tg_zalloc(&r->alloc, size, 1)) == NULL) {
    status = TG_ENOMEM;
    goto fail;
  }
  memcpy(copy, name, size);
  r->entries[r->n++] = (entry){copy, table};
  *out = table;
  return TG_OK;
fail:
  tg_table_free(table);
  return status == TG_EINVAL ? TG_EINVAL : TG_ENOMEM;
}

tg_status tg_result_table(tg_result *r, const char *name, const tg_column_def *defs, size_t n,
                          tg_table **out) {
  if (name == NULL || name[0] == '\0') return TG_EINVAL;
  tg_table *known = tg_result_get(r, name);
  if (known == NULL) return add_table(r, name, defs, n, out);
  if (!table_is(known, defs, n)) return TG_EINVAL;
  *out = known;
  return TG_OK;
}

tg_table *tg_result_get(const tg_result *r, const char *name) {
  for (size_t i = 0; i < r->n; i++)
    if (strcmp(r->entries[i].name, name) == 0) return r->entries[i].table;
  return NULL;
}

size_t tg_result_count(const tg_result *r) { return r->n; }

const char *tg_result_name(const tg_result *r, size_t i) {
  return i < r->n ? r->entries[i].name : NULL;
}

/* The table of that name in `*cached`, made at first use. */
static tg_status own_table(tg_result *r, const char *name, const tg_column_def *defs, size_t n,
                           tg_table **cached) {
  return *cached != NULL ? TG_OK : tg_result_table(r, name, defs, n, cached);
}

static const char *origin_text(tg_clock_origin origin) {
  static const char *const texts[] = {NULL, "log", "option", "platform"};
  const unsigned i = (unsigned)origin;
  return i < sizeof texts / sizeof texts[0] ? texts[i] : NULL;
}

static const char *better_text(tg_better better) {
  static const char *const texts[] = {"lower", "higher", "none"};
  const unsigned i = (unsigned)better;
  return i < sizeof texts / sizeof texts[0] ? texts[i] : NULL;
}

static void key_strings(const tg_key *key, tg_str out[KEY_STRINGS]) {
  out[KEY_FORMAT] = key->format;
  out[KEY_TEST] = key->test;
  out[KEY_METRIC] = key->metric;
  out[KEY_OPERATION] = key->operation;
  out[KEY_PLACE] = key->place;
  out[KEY_LABELS] = key->labels;
  out[KEY_UNIT] = key->unit;
  out[KEY_EXCHANGE] = key->exchange;
}

/* The whole key as one byte string in `r->scratch`: its numbers, then length and bytes of each
 * string, so that two keys are equal exactly where their bytes are. */
static tg_status pack_key(tg_result *r, const tg_key *key, size_t *size) {
  tg_str strings[KEY_STRINGS];
  struct {
    uint64_t clock_hz, resolution;
    uint32_t cluster, core, cpu, exp10, origin, better, observation, none, lengths[KEY_STRINGS];
  } head = {
      .clock_hz = key->clock_hz,
      .resolution = key->resolution,
      .cluster = key->cluster,
      .core = key->core,
      .cpu = key->cpu,
      .exp10 = (uint32_t)key->exp10,
      .origin = (uint32_t)key->origin,
      .better = (uint32_t)key->better,
      .observation = (uint32_t)r->observation,
  };
  _Static_assert(sizeof head == 2 * 8 + (8 + KEY_STRINGS) * 4, "no padding, which would be hashed");
  size_t total = sizeof head;
  key_strings(key, strings);
  for (size_t i = 0; i < KEY_STRINGS; i++) {
    if (strings[i].n > UINT32_MAX || tg_add_overflows(total, strings[i].n, &total))
      return TG_EOVERFLOW;
    head.lengths[i] = (uint32_t)strings[i].n;
  }
  void *scratch = r->scratch;
  const tg_status status = tg_grow(&r->alloc, &scratch, &r->cap_scratch, total, 1);
  r->scratch = scratch;
  if (status != TG_OK) return status;
  uint8_t *at = r->scratch;
  memcpy(at, &head, sizeof head);
  at += sizeof head;
  for (size_t i = 0; i < KEY_STRINGS; i++) {
    if (strings[i].n > 0) memcpy(at, strings[i].p, strings[i].n);
    at += strings[i].n;
  }
  *size = total;
  return TG_OK;
}

/* Writes an id that may be missing. */
static void put_id(tg_row *w, size_t col, uint32_t id) {
  if (id != TG_NONE) tg_row_u32(w, col, id);
}

/* One row more in "keys"; on failure the table is as before. */
static tg_status add_key_row(tg_table *t, const tg_key *key, tg_observation observation) {
  tg_str strings[KEY_STRINGS];
  tg_row w = tg_row_begin(t);
  key_strings(key, strings);
  for (size_t i = 0; i < KEY_STRINGS; i++)
    if (strings[i].n > 0) tg_row_text(&w, i, strings[i]);
  tg_row_cstr(&w, KEY_ORIGIN, origin_text(key->origin));
  tg_row_cstr(&w, KEY_BETTER, better_text(key->better));
  tg_row_cstr(&w, KEY_OBSERVATION, observation == TG_OBSERVATION_BOOT ? "boot" : "run");
  put_id(&w, KEY_CLUSTER, key->cluster);
  put_id(&w, KEY_CORE, key->core);
  put_id(&w, KEY_CPU, key->cpu);
  tg_row_i64(&w, KEY_EXP10, key->exp10);
  if (key->clock_hz != 0) tg_row_u64(&w, KEY_CLOCK_HZ, key->clock_hz);
  tg_row_u64(&w, KEY_RESOLUTION, key->resolution);
  return tg_row_end(&w);
}

void tg_key_init(tg_key *key) {
  *key = (tg_key){.cluster = TG_NONE, .core = TG_NONE, .cpu = TG_NONE, .resolution = 1};
}

tg_status tg_result_key(tg_result *r, const tg_key *key, uint32_t *id) {
  size_t size = 0;
  if (key->resolution == 0 || (unsigned)key->origin > TG_CLOCK_PLATFORM ||
      (unsigned)key->better > TG_BETTER_NONE)
    return TG_EINVAL;
  tg_status status = own_table(r, "keys", key_columns, KEY_COLUMNS, &r->keys);
  if (status != TG_OK) return status;
  if ((status = pack_key(r, key, &size)) != TG_OK) return status;
  if (tg_intern_find(r->ids, r->scratch, size, id) == TG_OK) return TG_OK;
  if (tg_table_rows(r->keys) >= r->max_keys) {
    *id = TG_NONE;
    return TG_OK;
  }
  if ((status = add_key_row(r->keys, key, r->observation)) != TG_OK) return status;
  status = tg_intern_put(r->ids, r->scratch, size, id);
  if (status != TG_OK) tg_table_truncate(r->keys, tg_table_rows(r->keys) - 1);
  return status;
}

/* Stores an id that may be missing; the bit of its column where it is there. */
static inline uint64_t store_id(tg_table *t, size_t row, size_t col, uint32_t id) {
  const bool there = id != TG_NONE;
  tg_row_put32(t, row, col, there ? id : 0);
  return (uint64_t)there << col;
}

tg_status tg_result_reading(tg_result *r, const tg_reading *reading) {
  size_t row = 0;
  if (reading->key == TG_NONE) {
    r->left_out++;
    return TG_OK;
  }
  if (r->readings == NULL)
    TG_TRY(tg_result_table(r, "readings", reading_columns,
                           r->counted ? READING_COUNTED_COLUMNS : READING_COLUMNS, &r->readings));
  tg_table *t = r->readings;
  TG_TRY(tg_table_append_raw(t, &row));
  uint64_t valid = UINT64_C(1) << READING_KEY | UINT64_C(1) << READING_VALUE |
                   UINT64_C(1) << READING_LINE | UINT64_C(1) << READING_OFFSET;
  tg_row_put32(t, row, READING_KEY, reading->key);
  valid |= store_id(t, row, READING_SOURCE, reading->source);
  valid |= store_id(t, row, READING_BOOT, reading->boot);
  valid |= store_id(t, row, READING_RUN, reading->run);
  valid |= store_id(t, row, READING_BLOCK, reading->block);
  tg_row_put64(t, row, READING_VALUE, (uint64_t)reading->value);
  tg_row_put64(t, row, READING_LINE, reading->line);
  tg_row_put64(t, row, READING_OFFSET, reading->offset);
  if (r->counted) {
    tg_row_put64(t, row, READING_COUNT, reading->count > 0 ? reading->count : 1);
    tg_row_put64(t, row, READING_WIDTH, (uint64_t)reading->width);
    valid |= UINT64_C(1) << READING_COUNT | UINT64_C(1) << READING_WIDTH;
  }
  t->valid[row] = valid;
  return TG_OK;
}

tg_status tg_result_problem(tg_result *r, uint32_t source, uint64_t line, uint64_t offset,
                            const char *rule, const char *reason, const char *format, ...) {
  char detail[2 * TG_ERROR_TEXT];
  va_list args;
  va_start(args, format);
  if (vsnprintf(detail, sizeof detail, format, args) < 0) detail[0] = '\0';
  va_end(args);
  const tg_status status = own_table(r, "problems", problem_columns, PROBLEM_COLUMNS, &r->problems);
  if (status != TG_OK) return status;
  tg_row w = tg_row_begin(r->problems);
  put_id(&w, PROBLEM_SOURCE, source);
  if (line != 0) {
    tg_row_u64(&w, PROBLEM_REST + TG_PROBLEM_LINE, line);
    tg_row_u64(&w, PROBLEM_REST + TG_PROBLEM_OFFSET, offset);
  }
  tg_row_cstr(&w, PROBLEM_REST + TG_PROBLEM_RULE, rule);
  tg_row_cstr(&w, PROBLEM_REST + TG_PROBLEM_REASON, reason);
  tg_row_cstr(&w, PROBLEM_REST + TG_PROBLEM_DETAIL, detail);
  return tg_row_end(&w);
}

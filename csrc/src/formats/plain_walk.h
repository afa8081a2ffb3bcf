/* plain_walk.h - the parts of the reducer of rules that have `values` and nothing else.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TG_FORMATS_PLAIN_WALK_H
#define TG_FORMATS_PLAIN_WALK_H

#include "boots.h"
#include "reducer.h"

enum {
  PLAIN_HEADS = 16,  /* rules whose records may label those of one rule */
  PLAIN_LABELS = 256, /* of one key */
  PLAIN_VALUES = 32   /* of one rule of which the resolution is looked at */
};

/* The part of a key that a field fills. */
typedef enum plain_part {
  PLAIN_LABEL,
  PLAIN_VALUE, /* measured, or told about the measurement */
  PLAIN_UNIT,
  PLAIN_TEST,
  PLAIN_OPERATION,
  PLAIN_METRIC,
  PLAIN_PLACE,
  PLAIN_CLUSTER,
  PLAIN_CORE,
  PLAIN_CPU
} plain_part;

/* The fields of a rule. */
typedef struct plain_shape {
  const tg_table *table;
  size_t rule, n_fields;
  plain_part parts[TG_MAX_COLUMNS];
  const char *names[TG_MAX_COLUMNS];
} plain_shape;

/* A rule whose records label those of another. */
typedef struct plain_head {
  plain_shape shape;
  size_t next;  /* the first record of it behind the record at hand */
  bool section; /* only records of one section belong together */
  bool after;   /* the next record labels, not the last */
} plain_head;

/* A begin line that waits for its end. */
typedef struct plain_open {
  uint64_t line, offset;
  size_t row;
  uint32_t boot;
} plain_open;

/* The counts of one column of a table. */
typedef struct plain_column {
  uint64_t sum, over;
  uint64_t state; /* of the head lines at which `key` was made, as tg_plain_advance gives it */
  uint32_t key;
} plain_column;

/* A rule that gives readings. */
typedef struct plain_rule {
  plain_shape shape;
  tg_rule_ties ties;
  tg_str format, operation;
  plain_head *heads;
  size_t n_heads, cap_heads;
  size_t n_outer; /* heads of its section come first; those behind them go from outside in */
  size_t model;   /* a row of counts without a value: the row of its section that has one */
  plain_shape end; /* span: the fields of the end line */
  plain_open *open;
  size_t n_open, cap_open;
  uint64_t resolution[PLAIN_VALUES]; /* of its values, in steps of the stored integer */
  uint64_t lines, line, offset; /* records without any value; the first of them */
  bool soft, valued;            /* some record had a value */
} plain_rule;

/* A reading of a state that is printed again and again, held until the next of its key. */
typedef struct plain_held {
  tg_reading reading;
  uint64_t grows;
} plain_held;

typedef struct plain_label {
  tg_str name, value;
  uint8_t digits[64];
} plain_label;

/* The reduction of one source. */
typedef struct plain_walk {
  const tg_reduce_in *in;
  tg_result *out;
  const tg_records *records;
  const tg_ruleset *set;
  uint32_t source;
  tg_boot_memo near;

  plain_rule *rules; /* those that give readings */
  uint32_t *index;   /* rule -> its place in `rules` plus one, 0 for all others */
  size_t n_rules, cap_rules, cap_index;

  plain_label *labels; /* of the key at hand: PLAIN_LABELS */
  size_t n_labels;
  uint8_t *text; /* its labels as text */
  size_t n_text, cap_text;

  plain_column *columns; /* of the table at hand */
  size_t n_columns, cap_columns;
  uint32_t section;  /* of that table */
  size_t sums;       /* its last column, if that is the sum of the others; SIZE_MAX: none */
  int64_t top;       /* the end of its highest bucket */
  plain_held *held;  /* in the order of their keys' first lines */
  uint32_t *holder;  /* key -> its place in `held` plus one */
  size_t n_held, cap_held, n_holder, cap_holder;
} plain_walk;

/* --- plain_key.c: the key of a record --------------------------------------------------------- */

/* The resolution of a value: the last decimal place that any line of the source prints, where the
 * rule names no power of ten; else 1. */
uint64_t tg_plain_resolution(const plain_walk *w, const plain_rule *r, const tg_value_info *value);
/* The fields of a rule, and which part of a key each fills. */
void tg_plain_shape_of(const plain_walk *w, size_t rule, plain_shape *out);
/* Finds the rules that label those of `r`. TG_OK, TG_ENOMEM. */
tg_status tg_plain_find_heads(plain_walk *w, plain_rule *r);
/* Begins the key of a record of `r`: its own fields and those of its head lines. The cluster, core
 * and cpu, unit and clock are there; labels are gathered. */
void tg_plain_begin_key(plain_walk *w, plain_rule *r, size_t row, const tg_reading *at,
                        tg_key *key);
/* Moves the head lines to a record of `r`. Returns a number that two records of one rule share if
 * their head lines are the same, never 0. */
uint64_t tg_plain_advance(plain_rule *r, const tg_reading *at);
/* Adds the fields of a record that are not there yet. */
void tg_plain_add_fields(plain_walk *w, const plain_shape *shape, size_t row, tg_key *key);
/* Adds a label, or the part of the key of that name. `value` must live until the key is written. */
void tg_plain_add_named(plain_walk *w, tg_str name, tg_str value, tg_key *key);
/* Writes the labels gathered as text, sorted by name. TG_OK, TG_ENOMEM. */
tg_status tg_plain_end_key(plain_walk *w, tg_key *key);
/* Whether all labels of one name that both records have are equal. */
bool tg_plain_agree(const plain_shape *a, size_t row_a, const plain_shape *b, size_t row_b);
/* A field of a record as text, in `buffer` where it is a number. False where the record lacks
 * it. */
bool tg_plain_field_text(const tg_table *t, size_t row, size_t col, uint8_t buffer[64],
                         tg_str *out);

/* --- plain.c ---------------------------------------------------------------------------------- */

/* The sum factor * field over the terms of a value. TG_ENODATA where a field is missing,
 * TG_EOVERFLOW outside 63 bits. */
tg_status tg_plain_sum(const tg_table *t, size_t row, const tg_value_info *value, int64_t *out);
/* Adds the reading of value `v` of `r` under the key, whose labels are written. */
tg_status tg_plain_add(plain_walk *w, const plain_rule *r, size_t row, size_t v, tg_key *key,
                       tg_reading *reading);
/* Tells a value that does not fit. */
tg_status tg_plain_too_large(plain_walk *w, const plain_rule *r, const tg_reading *at,
                          const char *metric);

/* --- plain_counts.c: lines that stand for many readings --------------------------------------- */

/* The readings of a line that is counted, or has the totals of such lines. */
tg_status tg_plain_counted(plain_walk *w, plain_rule *r, size_t row, const tg_reading *at);
/* The range of values of a record: its width, 0 where the rule states none. */
tg_status tg_plain_width(const plain_rule *r, size_t row, const tg_value_info *value,
                         int64_t lowest, int64_t *width);

/* --- plain_span.c: from one line to another --------------------------------------------------- */

/* The fields of the end line that the values are measured against label nothing. */
void tg_plain_share_values(plain_rule *r);
/* A begin line is remembered. */
tg_status tg_plain_span_begin(plain_walk *w, plain_rule *r, size_t row, const tg_reading *at);
/* An end line of the span `r`. */
tg_status tg_plain_span_end(plain_walk *w, plain_rule *r, size_t row, const tg_reading *at);
/* Tells the begin lines that no end line closed. */
tg_status tg_plain_span_finish(plain_walk *w, plain_rule *r);

/* Holds a reading until the next of its key; a fall of `grows` lets the held one count. */
tg_status tg_plain_hold(plain_walk *w, const tg_reading *reading, uint64_t grows);
/* The readings that are still held count. */
tg_status tg_plain_release_held(plain_walk *w);

#endif

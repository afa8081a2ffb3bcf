/* rule.h - line rules: templates, rule sets, matching.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TICKGAUGE_RULE_H
#define TICKGAUGE_RULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "alloc.h"
#include "export.h"
#include "status.h"
#include "table.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Which direction is better for a rule's values. */
typedef enum tg_better { TG_BETTER_LOWER = 0, TG_BETTER_HIGHER = 1, TG_BETTER_NONE = 2 } tg_better;

/* One independent observation of a rule's values: a run of the program that prints them, or a boot of
 * the board, whose readings are then not independent of each other. */
typedef enum tg_observation {
  TG_OBSERVATION_RUN = 0,
  TG_OBSERVATION_BOOT = 1
} tg_observation;

/* One rule as data, all strings NUL-terminated. A NULL or 0 takes its default. */
typedef struct tg_rule_def {
  const char *name;      /* "optee.open": format, dot, kind; unique in a set */
  const char *pattern;   /* the template; for a section its begin line */
  const char *witness;   /* another literal of the rule's records: behind the first record of its
                            format, a line that has it and not the tag is a problem. One rule of a
                            set may have one; the first counts */
  const char *tag;       /* the literal the scanner looks for; default: the first blank-free
                            literal of at least three bytes */
  const char *values;    /* "metric=field" pairs separated by commas; the field may be a sum of
                            fields with integer factors ("60*m+s") */
  const char *unit;      /* "ns" "us" "ms" "s" "tick" "cycle" or any word; "{u}" takes a field */
  const char *exponents; /* "field=-3,..." power of ten that the column of a dec/exp field keeps; without it
                            up to nine digits, and the resolution is that of the digits printed */
  bool rounded;          /* digits of a dec/exp field beyond that power of ten are rounded off where
                            at least five stay (tg_parse_rounded); else they are a problem */
  const char *end;       /* section: the template of its last line; "" = a blank line */
  const char *const *rows; /* section: templates tried on every line between, "name=template",
                              NULL-terminated; NULL = no section */
  const char *context;   /* names of rules, separated by commas, "kind" or "format.kind": the fields of
                            their last record before a line are labels of its readings, too. They go
                            from the outside in: a record of one of them ends those behind it. Fields
                            that the line has as well must agree */
  tg_better better;
  bool all;              /* policy: false = the first match ends the line; true = every match of
                            the line is a record, and every other occurrence a problem (two
                            writers on one line: prefer true for records of a shared console) */
  bool soft;             /* the tag is a common word: a line that has it and is no record is no
                            problem (it counts as `further` in the ledger), nor is a section of such a
                            rule that is still open where the source ends */
  const char *before;    /* the name of a rule as in `context`, whose next record labels instead */
  const char *until;     /* span: the template of the line that ends a span begun by this one. Fields
                            of one name must agree; a value is the difference end - begin */
  const char *count;     /* the field that says how many readings a line stands for; a text is a
                            list, one number for each column of a table */
  const char *cumulative; /* instead of `count`: how many readings lie at the value or below it */
  const char *columns;   /* the parts of a column's name: "{metric}-{cpu}". The names are the words
                            of the section's field `columns`, without it they are 0, 1 ... */
  const char *below;     /* the field in which the range of values of a line ends: [value, below) */
  const char *upto;      /* the same, inclusive: [value, upto] */
  const char *total;     /* the field of the row that states the sums of `count`, to be checked */
  const char *grows;     /* a state that is printed again and again: of lines of one key only the
                            last counts, until this field falls */
  tg_observation observation;
  bool arrival;          /* records keep when their line arrived, by the stamp in front of it: one
                            column more, "arrived" I64 in ns, behind the fields */
  bool needs_clock;      /* the values are ticks of the board's clock: where that is not known, the
                            caller is told how to settle it */
} tg_rule_def;

typedef struct tg_ruleset tg_ruleset;

/* Bounds of a set; 0 takes the default. */
typedef struct tg_rule_limits {
  size_t max_rules;    /* rules and rows of sections together. 0 = 4096 */
  size_t max_template; /* bytes of one template. 0 = 4096, at most 2^30 */
} tg_rule_limits;

/* Compiles. On TG_ESYNTAX `err->offset` is the 0-based column in the template and the message
 * names the rule. TG_OK, TG_ENOMEM, TG_ESYNTAX, TG_EINVAL, TG_ELIMIT (more than the defaults of
 * tg_rule_limits allow). Definitions are copied. Rule order decides on a line. */
TG_API tg_status tg_ruleset_new(const tg_alloc *a, const tg_rule_def *defs, size_t n,
                                tg_ruleset **out, tg_error *err);
/* The same within other limits; NULL are the defaults. */
TG_API tg_status tg_ruleset_new_within(const tg_alloc *a, const tg_rule_def *defs, size_t n,
                                       const tg_rule_limits *limits, tg_ruleset **out,
                                       tg_error *err);
TG_API void tg_ruleset_free(tg_ruleset *set);

/* Rules are numbered: a plain rule has one number; a span has one for its begin line and one for
 * its end line ("name.until"); a section has one for its begin line and one for each of its rows
 * ("name.row"), in order. */
TG_API size_t tg_ruleset_count(const tg_ruleset *set);
TG_API const char *tg_ruleset_name(const tg_ruleset *set, size_t rule);
TG_API tg_status tg_ruleset_find(const tg_ruleset *set, const char *name, size_t *rule);
TG_API tg_str tg_ruleset_tag(const tg_ruleset *set, size_t rule); /* {NULL,0} for a section row */

/* How a rule was written: for export and for `show --formats`. Strings live as long as the set. */
typedef struct tg_rule_info {
  const char *pattern; /* the template */
  const char *end;     /* section: the template of its last line, "" = a blank line; else NULL */
  size_t section;      /* the rule that begins the section it belongs to; SIZE_MAX: none */
  tg_better better;
  bool row; /* a row of that section */
  bool all, soft;
} tg_rule_info;
TG_API tg_status tg_ruleset_info(const tg_ruleset *set, size_t rule, tg_rule_info *out);

/* How the readings of a rule hang together with other records. Rules and fields that are none are
 * SIZE_MAX. */
typedef struct tg_rule_ties {
  size_t before;       /* the rule whose next record labels those of this rule */
  size_t until, opens; /* span: the rule that ends this one, or that this one ends */
  size_t count, below, upto, total, grows; /* fields of this rule */
  bool cumulative;     /* the count includes those of the rows above */
  const char *columns; /* as in tg_rule_def, or NULL */
} tg_rule_ties;
/* TG_OK, TG_ENOTFOUND (no such rule). The text lives as long as the set. */
TG_API tg_status tg_ruleset_ties(const tg_ruleset *set, size_t rule, tg_rule_ties *out);

/* The type of a kept field; index = position among the kept fields of the template. */
typedef enum tg_field_type {
  TG_FIELD_UINT,
  TG_FIELD_INT,
  TG_FIELD_HEX,
  TG_FIELD_HEXANY,
  TG_FIELD_DEC,
  TG_FIELD_EXP,
  TG_FIELD_GROUPED,
  TG_FIELD_DIGIT,
  TG_FIELD_WORD,
  TG_FIELD_TEXT,
  TG_FIELD_QUOTED,
  TG_FIELD_CHOICE,
  TG_FIELD_DURATION, /* of several units; its value is in microseconds */
  TG_FIELD_SIZE /* digits and K M G T P E for powers of 1024 */
} tg_field_type;
typedef struct tg_field_info {
  const char *name;
  tg_field_type type;
  int32_t exp10;   /* DEC and EXP: the power of ten the column keeps */
  bool as_printed; /* the rule names no power of ten */
} tg_field_info;
TG_API size_t tg_ruleset_fields(const tg_ruleset *set, size_t rule);
TG_API tg_status tg_ruleset_field(const tg_ruleset *set, size_t rule, size_t field,
                                  tg_field_info *out);

/* The readings a rule gives of a record: metric name and a sum of factor * field. */
typedef struct tg_value_term {
  int64_t factor;
  size_t field;
} tg_value_term;
typedef struct tg_value_info {
  const char *metric;
  const tg_value_term *terms; /* factors bring every field to `exp10` */
  size_t n_terms;
  int32_t exp10; /* value = sum * 10^exp10: the smallest power of ten among the fields */
} tg_value_info;
TG_API size_t tg_ruleset_values(const tg_ruleset *set, size_t rule);
TG_API tg_status tg_ruleset_value(const tg_ruleset *set, size_t rule, size_t value,
                                  tg_value_info *out);
/* The unit word, or with `*field` != SIZE_MAX the field that names it. */
TG_API const char *tg_ruleset_unit(const tg_ruleset *set, size_t rule, size_t *field);
TG_API tg_better tg_ruleset_better(const tg_ruleset *set, size_t rule);
/* As the rule was defined; TG_OBSERVATION_RUN and false beyond the last rule. */
TG_API tg_observation tg_ruleset_observation(const tg_ruleset *set, size_t rule);
TG_API bool tg_ruleset_needs_clock(const tg_ruleset *set, size_t rule);
/* The rules whose fields are labels of its readings, too (tg_rule_def.context); how many there are. */
TG_API size_t tg_ruleset_contexts(const tg_ruleset *set, size_t rule);
/* One of them, from the outside in. TG_OK, TG_ENOTFOUND. */
TG_API tg_status tg_ruleset_context(const tg_ruleset *set, size_t rule, size_t i, size_t *context);

/* Where a field stands in the text that was matched. start == SIZE_MAX: an absent optional. */
typedef struct tg_span {
  size_t start, end;
} tg_span;

/* How far a try got: for `show --why`. `item` counts template items, `at` is the text position
 * of the failure, `expected` a short constant phrase. */
typedef struct tg_near {
  size_t item, at;
  const char *expected;
} tg_near;

/* Tries `rule` on the text so that its tag falls on `tag_at` (for a row without tag: from the
 * first non-blank; pass 0). `[p, p+n)` is one line without its line end. `fields` has room for
 * tg_ruleset_fields(). TG_OK: matched, *start,*end = the whole match. TG_ESYNTAX: not this line,
 * `near` says how far. Never allocates more than the set's own scratch: not thread-safe. */
TG_API tg_status tg_ruleset_match(tg_ruleset *set, size_t rule, const uint8_t *p, size_t n,
                                  size_t tag_at, tg_span *fields, size_t *start, size_t *end,
                                  tg_near *near);

#ifdef __cplusplus
}
#endif
#endif

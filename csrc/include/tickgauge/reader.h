/* reader.h - bytes in, records out: transport, scanner and rules in one push reader.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TICKGAUGE_READER_H
#define TICKGAUGE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "alloc.h"
#include "export.h"
#include "rule.h"
#include "status.h"
#include "stop.h"
#include "table.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tg_reader tg_reader;
typedef struct tg_records tg_records;

/* Which near misses a reader remembers, at most TG_NEAR_KEPT of each rule. */
typedef enum tg_keep_near {
  TG_KEEP_NONE = 0,
  TG_KEEP_FREE = 1, /* those of lines that gave no record */
  TG_KEEP_ALL = 2   /* also those of lines that another rule took: slower */
} tg_keep_near;

typedef struct tg_reader_options {
  uint64_t max_line;     /* bytes of a line; longer is a problem. 0 = 1 MiB */
  uint64_t max_records;  /* 0 = 2^40; beyond it feed gives TG_ELIMIT, the records so far are kept */
  uint64_t max_problems; /* listed one by one; further ones are only counted. 0 = 2^20 */
  bool repair_uart;      /* lift whole TEE spans out of REE lines and join the rest */
  tg_keep_near keep_near;
  uint64_t max_label;    /* bytes of a text of a record; longer makes it a problem. 0 = 4096 */
  const char *prefix; /* of most lines, in the form of transport.h; at most 255 bytes. NULL: none */
} tg_reader_options;

/* A reader of one source. `rules` must outlive it and serves one reader at a time. NULL options
 * are the defaults. TG_OK, TG_ENOMEM, TG_EINVAL. */
TG_API tg_status tg_reader_new(const tg_alloc *a, tg_ruleset *rules,
                               const tg_reader_options *options, tg_reader **out, tg_error *err);
TG_API void tg_reader_free(tg_reader *r);

/* The next bytes of the source, any number, cut anywhere: the result never depends on the cuts.
 * TG_OK, TG_ENOMEM, TG_ELIMIT; after a failure only finish and free are allowed, and finish gives
 * the records so far. */
TG_API tg_status tg_reader_feed(tg_reader *r, const uint8_t *p, size_t n, tg_error *err);

/* Sets the hook that feed asks inside a line that takes many steps; NULL: never. It must outlive
 * the feeds that follow. Where it says so feed gives TG_EINTERRUPTED in the middle of the line, and
 * as after any failure only finish and free are allowed. */
TG_API void tg_reader_stop(tg_reader *r, const tg_stop *stop);

/* Ends the source and hands over the records, whatever failed before or fails here; the reader
 * stays to be freed. A limit that the last line reaches is no failure. TG_OK; TG_ENOMEM (`*out` is
 * the caller's all the same, without the parts that found no memory); TG_EINVAL (finished before:
 * `*out` is untouched). */
TG_API tg_status tg_reader_finish(tg_reader *r, tg_records **out, tg_error *err);

TG_API void tg_records_free(tg_records *r);

/* Adds the records of the later part of a source to those of the earlier one, each read by itself
 * with equal rules: the result is that of one reader of both, lines, offsets, sections, problems,
 * near misses and ledger included. `more` stays as it is. TG_OK, TG_ENOMEM, TG_EINVAL (other
 * rules), TG_ELIMIT (more records than allowed), TG_ECONFLICT (the earlier part does not end behind
 * a line end, or inside a section, or repaired a shared UART; or the later one has no line end:
 * read them as one). On failure `into` is as before. */
TG_API tg_status tg_records_append(tg_records *into, const tg_records *more);

/* One record: its rule, its row in that rule's table, its boot-independent place. */
typedef struct tg_record {
  uint64_t line;   /* 1-based number of the line in the source */
  uint64_t offset; /* byte offset of the match in the source */
  uint32_t rule;
  uint32_t row;
} tg_record;

/* Records in the order of the source. */
TG_API size_t tg_records_count(const tg_records *r);
TG_API tg_record tg_records_at(const tg_records *r, size_t i);
/* The rule of record `i`, UINT32_MAX beyond the last: cheaper than tg_records_at for loops that
 * pass by most records. */
TG_API uint32_t tg_records_rule_at(const tg_records *r, size_t i);

/* The records of one rule: columns "line" U64, "offset" U64, "channel" TEXT (where the transport
 * says the line came from: a LAVA namespace; missing otherwise), "flags" U32, "section" U32 (the
 * 1-based number of the section a row lies in), then the kept fields. uint, hex, digit, grouped
 * -> U64; int -> I64; dec, exp -> I64 with the field's exp10; word, text, quoted, choice -> TEXT.
 * NULL for a rule out of range; owned by `r`. */
enum {
  TG_REC_LINE = 0,
  TG_REC_OFFSET = 1,
  TG_REC_CHANNEL = 2,
  TG_REC_FLAGS = 3,
  TG_REC_SECTION = 4,
  TG_REC_FIELD = 5 /* the first kept field */
};
#define TG_FLAG_REPAIRED 1u  /* put together from pieces of a shared UART */
#define TG_FLAG_TAIL 2u      /* ends with the source, no line end behind it */
#define TG_FLAG_UNWRAPPED 4u /* colour or escapes were taken out of it */
TG_API const tg_table *tg_records_table(const tg_records *r, size_t rule);

/* Problems, in source order: columns of TG_PROBLEM_*. */
enum {
  TG_PROBLEM_LINE = 0,   /* "line" U64 */
  TG_PROBLEM_OFFSET = 1, /* "offset" U64: where the trouble is */
  TG_PROBLEM_RULE = 2,   /* "rule" TEXT: the rule (or reducer) concerned */
  TG_PROBLEM_REASON = 3, /* "reason" TEXT: one of a small set of words, stable */
  TG_PROBLEM_DETAIL = 4, /* "detail" TEXT: a sentence */
  TG_PROBLEM_EXCERPT = 5, /* "excerpt" TEXT: up to 120 bytes of the source, raw */
  TG_PROBLEM_COLUMNS
};
TG_API const tg_table *tg_records_problems(const tg_records *r);

/* With keep_near: for every rule the lines that came nearest to it and did not match, at most
 * TG_NEAR_KEPT of each, the nearest first: lines without any record before lines that another rule
 * took (TG_KEEP_ALL), then by how far the template reached. With TG_KEEP_NONE the table is
 * empty. */
#define TG_NEAR_KEPT 5
enum {
  TG_NEAR_RULE = 0,     /* "rule" TEXT */
  TG_NEAR_LINE = 1,     /* "line" U64 */
  TG_NEAR_OFFSET = 2,   /* "offset" U64: where in the source it failed */
  TG_NEAR_COLUMN = 3,   /* "column" U32: 0-based column of the template item that failed */
  TG_NEAR_REACHED = 4,  /* "reached" U32: bytes of the line that fitted */
  TG_NEAR_EXPECTED = 5, /* "expected" TEXT: "a digit", "'cmd='" */
  TG_NEAR_TAKEN = 6,    /* "taken" TEXT: the rule that the line's record went to, or missing */
  TG_NEAR_EXCERPT = 7,  /* "excerpt" TEXT: up to 120 bytes of the source, raw */
  TG_NEAR_COLUMNS
};
TG_API const tg_table *tg_records_near(const tg_records *r);

/* The most digits behind the decimal point with which a field was printed; kept for dec and exp
 * fields of which the rule names no power of ten (tg_field_info.as_printed). 0 beyond the last. */
TG_API unsigned tg_records_digits(const tg_records *r, size_t rule, size_t field);

/* The ledger per distinct tag: occurrences = used + problems + further (see CONTRIBUTING). `unread`
 * counts lines that had the tag of soft rules and gave no record. */
typedef struct tg_ledger {
  tg_str tag;
  uint64_t occurrences, used, problems, further, unread;
} tg_ledger;
TG_API size_t tg_records_ledger_count(const tg_records *r);
TG_API tg_status tg_records_ledger(const tg_records *r, size_t i, tg_ledger *out);

/* How many lines of the programs that were found were not read: `unread` of the tags of rules with
 * values, where some rule of the same format has records. `rule` names the rule with most of them,
 * SIZE_MAX where there are none. */
TG_API uint64_t tg_records_unread(const tg_records *r, size_t *rule);

/* Totals of the source. */
typedef struct tg_source_totals {
  uint64_t bytes, lines, records, problems;
  uint64_t prefixed; /* records that begin behind the prefix of the options */
} tg_source_totals;
TG_API tg_source_totals tg_records_totals(const tg_records *r);
TG_API const tg_ruleset *tg_records_rules(const tg_records *r);

#ifdef __cplusplus
}
#endif
#endif

/* format.h - formats: rules as data plus the reducer that joins their records across lines.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TICKGAUGE_FORMAT_H
#define TICKGAUGE_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clock.h"
#include "reader.h"
#include "result.h"
#include "stop.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Options of a reduction. All optional; 0 and NULL are the defaults. */
typedef struct tg_reduce_options {
  uint64_t clock_hz;     /* --clock: ticks per second, wins over the log's own */
  int64_t tee_offset;    /* --tee-offset: ticks added to every TEE stamp */
  bool have_tee_offset;
  bool together;         /* the sources are consoles of the same boots */
  const char *platform;  /* --platform, or NULL: decided from the log */
  /* Topology of the platform as rows; see formats/tfa. NULL = unknown. */
  const struct tg_topology *topology;
  const tg_stop *stop; /* asked every few thousand records; NULL = never */
  uint64_t max_keys; /* readings of further ones are left out and counted. 0 = 2^17 */
} tg_reduce_options;

typedef struct tg_reduce_in {
  const tg_records *const *sources; /* records of each source, all read with the same rule set */
  size_t n_sources;
  const tg_reduce_options *options;
  const tg_alloc *alloc; /* of the reducers: set by tg_reduce, callers leave it NULL */
} tg_reduce_in;

/* One format. `reduce` adds tables, keys, readings and problems to `out`; NULL where the rules'
 * own `values` are all there is. */
typedef struct tg_format {
  const char *name;  /* "optee" */
  const char *title; /* for a person: "OP-TEE benchmark console lines" */
  const tg_rule_def *rules;
  size_t n_rules;
  tg_observation observation; /* of all its keys: a boot where it times the firmware */
  const char *needs_clock; /* how its values stand where the board's clock is not known ("ticks"),
                              said to the user with the options that settle it; NULL: no need */
  const char *example;     /* lines that give at least one reading: the seed of the fuzzer and the
                              input of the tests that every format passes; NULL without a reducer */
  tg_status (*reduce)(const tg_reduce_in *in, tg_result *out, tg_error *err);
} tg_format;

/* The built-in formats, NULL-terminated. To add one: one C file, one entry here, one test. */
TG_API extern const tg_format *const tg_formats[];

/* The rule set of all built-in formats, with the caller's rules before them. */
TG_API tg_status tg_formats_ruleset(const tg_alloc *a, const tg_rule_def *extra, size_t n_extra,
                                    tg_ruleset **out, tg_error *err);
/* The same within other limits, which count the built-in rules as well; NULL are the defaults. */
TG_API tg_status tg_formats_ruleset_within(const tg_alloc *a, const tg_rule_def *extra,
                                           size_t n_extra, const tg_rule_limits *limits,
                                           tg_ruleset **out, tg_error *err);

/* Boots, then every format that has records, then the plain rules' readings. The sources are
 * consoles of one machine if options->together, else there is exactly one.
 * TG_OK, TG_ENOMEM, TG_EINVAL, TG_ELIMIT, TG_EINTERRUPTED (options->stop). */
TG_API tg_status tg_reduce(const tg_alloc *a, const tg_reduce_in *in, tg_result **out,
                           tg_error *err);

#ifdef __cplusplus
}
#endif
#endif

/* near.h - the nearest misses of each rule, and the item that failed.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TICKGAUGE_TEXT_NEAR_H
#define TICKGAUGE_TEXT_NEAR_H

#include "ruleset.h"
#include "transport.h"

#define TG_EXCERPT 120 /* bytes of an excerpt */

/* A miss of a rule on a line. */
typedef struct tg_miss {
  const tg_line *line;
  size_t rule, at, reach;
  uint32_t item; /* of the template */
  const char *expected;
} tg_miss;

typedef struct tg_near_store tg_near_store;

/* Room for the misses of all rules; `all`: also those of lines that another rule took.
 * TG_OK, TG_ENOMEM. */
tg_status tg_near_new(const tg_alloc *a, const tg_ruleset *rules, bool all, tg_near_store **out);
void tg_near_free(tg_near_store *s);
/* Buffers a near miss until the matching rule of the current line is known. TG_OK, TG_ENOMEM. */
tg_status tg_near_hold(tg_near_store *s, const tg_miss *miss);
/* True where a miss of `rule` that came `reach` bytes far may be kept: it ranks before one that is,
 * or there is room. `taken`: another rule took the line. */
bool tg_near_wants(const tg_near_store *s, size_t rule, size_t reach, bool taken);
/* The line is over: rule `taken` got its record, TG_NOT: none did. */
void tg_near_settle(tg_near_store *s, size_t taken);
/* Writes the kept misses into a new table; `s` NULL gives an empty one. TG_OK, TG_ENOMEM. */
tg_status tg_near_table(const tg_alloc *a, const tg_near_store *s, tg_table **out);

/* Describes item `item` of a template: a literal in quotes, else `expected`. */
void tg_expected_text(const tg_template *t, uint32_t item, const char *expected, char *out,
                      size_t size);
/* The bytes of the source around `offset`, at most TG_EXCERPT. */
tg_str tg_excerpt(const tg_line *line, uint64_t offset);

#endif

/* boots.h - where one boot ends and the next begins.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TG_FORMATS_BOOTS_H
#define TG_FORMATS_BOOTS_H

#include "tickgauge/format.h"

/* Which console of a boot a record was printed on. */
typedef enum tg_lane { TG_LANE_REE = 0, TG_LANE_TEE = 1 } tg_lane;

/* Fills "boots" (columns TG_BOOT_*) and "spans" (columns TG_SPAN_*): the stretches of the sources
 * and the boot each belongs to. A source without records has no boot.
 * TG_OK, TG_ENOMEM, TG_EINVAL. */
tg_status tg_boots_reduce(const tg_reduce_in *in, tg_result *out, tg_error *err);

/* "spans": a stretch of a source that belongs to one boot, in the order of source and offset. */
enum {
  TG_SPAN_SOURCE = 0, /* "source" U32 */
  TG_SPAN_LINE,       /* "first_line" U64 */
  TG_SPAN_OFFSET,     /* "first_offset" U64 */
  TG_SPAN_BOOT,       /* "boot" U32: a row of "boots" */
  TG_SPAN_COLUMNS
};

/* The row of "boots" a record belongs to that starts at `offset` of a source. TG_NONE where the
 * source has no boot. */
uint32_t tg_boot_at(const tg_result *out, uint32_t source, uint64_t offset);

/* The offsets of one source around the last that was asked for, which lie in one boot: most records
 * lie in that of the record before. Starts zeroed; one memo a source. */
typedef struct tg_boot_memo {
  uint64_t from, until; /* offsets [from, until) */
  uint32_t boot;
} tg_boot_memo;

/* Fills the memo around `offset`. */
void tg_boot_look(const tg_result *out, uint32_t source, uint64_t offset, tg_boot_memo *memo);

/* As tg_boot_at, from the memo where it reaches. */
static inline uint32_t tg_boot_near(const tg_result *out, uint32_t source, uint64_t offset,
                                    tg_boot_memo *memo) {
  if (offset < memo->from || offset >= memo->until) tg_boot_look(out, source, offset, memo);
  return memo->boot;
}

#endif

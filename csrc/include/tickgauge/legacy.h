/* legacy.h - the line reader of the drop-in: which values a log of the 2015 kind leaves behind.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TICKGAUGE_LEGACY_H
#define TICKGAUGE_LEGACY_H

#include <stddef.h>
#include <stdint.h>

#include "alloc.h"
#include "export.h"
#include "intern.h"
#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A push reader of console bytes with the rules of the 2015 script, oddities included: only '\n'
 * ends a line, a line has no bound, each line feeds the first of eight patterns that matches
 * anywhere in it. It keeps the digits of the values below and, per line, those of a match that is
 * not decided yet; never a line. One handle serves one log and one thread. */
typedef struct tg_legacy tg_legacy;

/* The values of a log. The first ten are those of the last line that set them; of the last eight
 * the first value that is not zero stays. */
typedef enum tg_legacy_value {
  TG_LEGACY_FREQUENCY = 0, /* ticks per second */
  TG_LEGACY_OPEN_START,    /* all others: ticks of the counter */
  TG_LEGACY_OPEN_ENTER,
  TG_LEGACY_OPEN_RETURN,
  TG_LEGACY_INVOKE_START,
  TG_LEGACY_INVOKE_ENTER,
  TG_LEGACY_INVOKE_RETURN,
  TG_LEGACY_SYSCALL_START,
  TG_LEGACY_SYSCALL_ENTER,
  TG_LEGACY_SYSCALL_FINISH,
  TG_LEGACY_OPEN_DO, /* normal world driver, before the SMC */
  TG_LEGACY_INVOKE_DO,
  TG_LEGACY_OPEN_DONE, /* normal world driver, after the SMC */
  TG_LEGACY_INVOKE_DONE,
  TG_LEGACY_OPEN_RECEIVE, /* secure world, on arrival of the SMC */
  TG_LEGACY_INVOKE_RECEIVE,
  TG_LEGACY_OPEN_FINISH, /* secure world, before it leaves */
  TG_LEGACY_INVOKE_FINISH,
  TG_LEGACY_VALUES
} tg_legacy_value;

/* A reader with every value zero. `a` NULL is the C library. TG_OK, TG_ENOMEM. */
TG_API tg_status tg_legacy_new(const tg_alloc *a, tg_legacy **out);
/* Takes NULL. */
TG_API void tg_legacy_free(tg_legacy *l);

/* The next `n` bytes of the log, cut anywhere: the values never depend on the cuts. `p` may be NULL
 * where `n` is 0. TG_OK; TG_ENOMEM or TG_EOVERFLOW where digits no longer fit memory, after which
 * only tg_legacy_free is allowed. */
TG_API tg_status tg_legacy_feed(tg_legacy *l, const uint8_t *p, size_t n);

/* Ends the log: a last line without '\n' counts. Left out after a read error, so that a line that
 * was not read to its end counts for nothing. TG_OK, TG_ENOMEM, TG_EOVERFLOW. */
TG_API tg_status tg_legacy_finish(tg_legacy *l);

/* A value as lower-case hex digits without leading zeros, of any length; no digits are zero, and
 * a value that was never set. `which` out of range gives no digits. Valid until the next feed,
 * finish or free. */
TG_API tg_str tg_legacy_digits(const tg_legacy *l, tg_legacy_value which);

/* One ASCII digit '3' .. '9' per driver or core line of a command the script does not know, in the
 * order of the log, since the last call of tg_legacy_clear_unknown; held until then. */
TG_API tg_str tg_legacy_unknown(const tg_legacy *l);
TG_API void tg_legacy_clear_unknown(tg_legacy *l);

#ifdef __cplusplus
}
#endif
#endif

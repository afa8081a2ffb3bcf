/* status.h - status codes and the caller-owned error record.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TICKGAUGE_STATUS_H
#define TICKGAUGE_STATUS_H

#include <stdarg.h>
#include <stdint.h>

#include "export.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The status that a function of the core returns. 0 is success, everything else a failure;
 * the numbers are stable, new ones are appended before TG_STATUS_COUNT. */
typedef enum tg_status {
  TG_OK = 0,
  TG_ENOMEM = 1,          /* an allocation failed; outputs are untouched */
  TG_EINVAL = 2,          /* an argument is outside its documented range */
  TG_EOVERFLOW = 3,       /* a number or a size does not fit its type */
  TG_ESYNTAX = 4,         /* text is not of the expected form */
  TG_ELIMIT = 5,          /* a limit the caller set, or its default, was reached */
  TG_ERANGE = 6,          /* a number is well formed and lies outside its allowed range */
  TG_ENOTFOUND = 7,       /* nothing has that name or index */
  TG_EAMBIGUOUS = 8,      /* more than one candidate, and nothing decides */
  TG_ETRUNCATED = 9,      /* the input ends inside an item */
  TG_ECONFLICT = 10,      /* two statements of the input exclude each other */
  TG_ENOTCOMPARABLE = 11, /* two sides differ in unit, clock, platform or build */
  TG_ENODATA = 12,        /* too few values for the question */
  TG_EINTERRUPTED = 13,   /* the caller's hook asked to stop: see stop.h */
  TG_EUNSUPPORTED = 14,   /* a known form that this version does not read */
  TG_STATUS_COUNT
} tg_status;

#define TG_ERROR_TEXT 256

/* Caller-owned detail of a failure. Wherever a `tg_error *` is taken NULL is allowed.
 * `offset` is the byte offset in the source (or the column in a template), `line` is
 * 1-based and 0 where it has no meaning. `message` names the fault, its place, and the expected
 * text. */
typedef struct tg_error {
  uint64_t offset;
  uint64_t line;
  tg_status status;
  char message[TG_ERROR_TEXT];
} tg_error;

/* One constant English phrase for a status; never NULL. */
TG_API const char *tg_status_text(tg_status status);

/* Fills `err` (if not NULL), the message as by vsnprintf and cut at TG_ERROR_TEXT - 1 bytes,
 * and returns `status`, so that `return tg_fail(err, TG_EINVAL, ...)` is one statement. */
TG_API tg_status tg_fail(tg_error *err, tg_status status, uint64_t offset, uint64_t line,
                         const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 5, 6)))
#endif
    ;

#ifdef __cplusplus
}
#endif
#endif

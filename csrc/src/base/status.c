/* status.c - texts of the status codes, and filling an error record.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tickgauge/status.h"

#include <stdio.h>

static const char *const status_texts[TG_STATUS_COUNT] = {
    [TG_OK] = "success",
    [TG_ENOMEM] = "out of memory",
    [TG_EINVAL] = "invalid argument",
    [TG_EOVERFLOW] = "number or size too large",
    [TG_ESYNTAX] = "text not of the expected form",
    [TG_ELIMIT] = "limit reached",
    [TG_ERANGE] = "number outside its allowed range",
    [TG_ENOTFOUND] = "not found",
    [TG_EAMBIGUOUS] = "more than one candidate",
    [TG_ETRUNCATED] = "input ends inside an item",
    [TG_ECONFLICT] = "input contradicts itself",
    [TG_ENOTCOMPARABLE] = "sides are not comparable",
    [TG_ENODATA] = "too few values",
    [TG_EINTERRUPTED] = "interrupted",
    [TG_EUNSUPPORTED] = "form not supported by this version",
};

const char *tg_status_text(tg_status status) {
  const unsigned i = (unsigned)status;
  return i < TG_STATUS_COUNT ? status_texts[i] : "unknown status";
}

tg_status tg_fail(tg_error *err, tg_status status, uint64_t offset, uint64_t line,
                  const char *format, ...) {
  if (err != NULL) {
    va_list args;
    va_start(args, format);
    if (vsnprintf(err->message, sizeof err->message, format, args) < 0) err->message[0] = '\0';
    va_end(args);
    err->offset = offset;
    err->line = line;
    err->status = status;
  }
  return status;
}

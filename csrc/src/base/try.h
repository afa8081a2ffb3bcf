/* try.h - leave a function with the first failure. SPDX-License-Identifier: BSD-3-Clause */
#ifndef TG_BASE_TRY_H
#define TG_BASE_TRY_H

#include "tickgauge/status.h"

/* Returns from the function with the status of `expression` unless that is TG_OK. Only for
 * functions that own nothing at this point: their memory would stay behind. */
#define TG_TRY(expression)                 \
  do {                                     \
    const tg_status tried_ = (expression); \
    if (tried_ != TG_OK) return tried_;    \
  } while (0)

#endif

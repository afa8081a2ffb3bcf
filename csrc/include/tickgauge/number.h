/* number.h - strict, locale-free numbers in text.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TICKGAUGE_NUMBER_H
#define TICKGAUGE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "export.h"
#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All parsers take the whole of [p, end): anything but the number itself is TG_ESYNTAX, a value
 * that does not fit is TG_EOVERFLOW, and `*out` is untouched on failure. Leading zeros are fine. */

/* Decimal digits only, 0 .. 2^64-1. */
TG_API tg_status tg_parse_u64(const uint8_t *p, const uint8_t *end, uint64_t *out);
/* Optional '+' or '-', then decimal digits, -2^63 .. 2^63-1. */
TG_API tg_status tg_parse_i64(const uint8_t *p, const uint8_t *end, int64_t *out);
/* Hex digits without 0x; `upper` also allows A-F. */
TG_API tg_status tg_parse_hex(const uint8_t *p, const uint8_t *end, bool upper, uint64_t *out);
/* Digits in comma groups of three ("1,234,567"; "999"): the first group has 1 to 3 digits. */
TG_API tg_status tg_parse_grouped(const uint8_t *p, const uint8_t *end, uint64_t *out);

/* Decimal digits and at most one of K M G T P E behind them: 1024 to that power. */
TG_API tg_status tg_parse_size(const uint8_t *p, const uint8_t *end, uint64_t *out);

/* A decimal number: value = mantissa * 10^exp10, exactly as written (no digit dropped). */
typedef struct tg_decimal {
  int64_t mantissa;
  int32_t exp10;
  bool missing; /* nan or inf: no value */
} tg_decimal;

/* [sign] digits [. digits] | [sign] . digits ; with `exponent` also e[sign]digits, nan, inf,
 * infinity (any case) -> missing. Trailing zeros are kept ("680.0" is 6800 * 10^-1). */
TG_API tg_status tg_parse_decimal(const uint8_t *p, const uint8_t *end, bool exponent,
                                  tg_decimal *out);

/* The mantissa of `d` at the power of ten `exp10`, exactly; TG_ERANGE where digits would be lost,
 * TG_EOVERFLOW where it does not fit 63 bits. */
TG_API tg_status tg_decimal_rescale(const tg_decimal *d, int32_t exp10, int64_t *out);

/* The same number at the power of ten `exp10`, with the digits beyond it rounded off, half to even
 * (those behind the eighteenth are cut): a rounded mantissa has at least five digits
 * (TG_ROUNDED_LEAST), TG_ERANGE where fewer would stay.
 * TG_EOVERFLOW where it does not fit 63 bits. */
#define TG_ROUNDED_LEAST 10000
TG_API tg_status tg_parse_rounded(const uint8_t *p, const uint8_t *end, bool exponent,
                                  int32_t exp10, tg_decimal *out);

#ifdef __cplusplus
}
#endif
#endif

/* formats.h - the register of the built-in formats.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TG_FORMATS_FORMATS_H
#define TG_FORMATS_FORMATS_H

#include "tickgauge/format.h"

/* One line a format: FORMAT(name) of `tg_format tg_format_name`, which its own file defines. The
 * order is that of their rules: the first rule that matches takes a line. This list feeds the table
 * tg_formats, the fuzzer's targets (tests/fuzz/fuzz_formats.c) and the tests of every format. */
#define TG_FORMATS(FORMAT) \
  FORMAT(optee)            \
  FORMAT(ftrace)           \
  FORMAT(tftf)             \
  FORMAT(pmf)              \
  FORMAT(smc)              \
  FORMAT(qconv)            \
  FORMAT(bootstage)        \
  FORMAT(xtest)            \
  FORMAT(kernel_pm)        \
  FORMAT(kernel_boot)      \
  FORMAT(kernel_trace)     \
  FORMAT(systemd_analyze)  \
  FORMAT(console) /* last: its tags are common words */

#define TG_FORMAT_DECLARE(name) extern const tg_format tg_format_##name;
TG_FORMATS(TG_FORMAT_DECLARE)
#undef TG_FORMAT_DECLARE

#endif

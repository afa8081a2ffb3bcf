/* fuzz_main.c - libFuzzer's entry to the target that TG_FUZZ_TARGET names.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "fuzz.h"

#define FUZZ_NAME(target) fuzz_##target
#define FUZZ_CALL(target, p, n) FUZZ_NAME(target)(p, n)

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n) { return FUZZ_CALL(TG_FUZZ_TARGET, p, n); }

/* console.c - banners of every console of a board: who boots, and which build it is.
 *
 * The rules give no readings: boots.c reads the banners, reducers read versions and platforms, and
 * console_axis.c when they arrived.
 * Their tags are common words, so a line that merely contains one is no problem.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "formats.h"
#include "reducer.h"

#define RULE(n, p) \
  {.name = "console." n, .pattern = (p), .better = TG_BETTER_NONE, .soft = true, .arrival = true}
/* A banner of TF-A, and one that lacks its build type, its version or both: "v2.3:v2.3",
 * "v1.5(debug):", "v2.3". */
#define STAGE(n, p)                                                    \
  RULE(n, p ": v{number:word}~({build:text}):{version:word}"), \
      RULE(n "_bare", p ": v{major:[0-9]}{rest:word}")

static const tg_rule_def rules[] = {
    RULE("bl1_welcome", "Booting Trusted Firmware"),
    RULE("tftf", "Booting trusted firmware test framework"),
    RULE("linux", "Booting Linux on physical CPU {cpu:word}"),
    /* with the kernel's stamp: /proc/version has the same text */
    {.name = "console.linux_version",
     .pattern = "[[~{t:dec}]]{_:text}Linux version {release:word}",
     .tag = "Linux version",
     .exponents = "t=-6",
     .better = TG_BETTER_NONE,
     .soft = true,
     .arrival = true},
    STAGE("bl1", "BL1"),
    RULE("bl1_built", "BL1: Built : {built:text}"),
    STAGE("bl2", "BL2"),
    RULE("bl2_built", "BL2: Built : {built:text}"),
    STAGE("bl31", "BL31"),
    RULE("bl31_built", "BL31: Built : {built:text}"),
    STAGE("bl31_old", "BL3-1"),
    {.name = "console.tftf_version",
     .pattern = "NOTICE:  v{number:word}~({platform:word},{build:word}):{version:word}",
     .tag = "NOTICE:  v", /* NOTICE: is in every row of results */
     .better = TG_BETTER_NONE,
     .soft = true},
    RULE("optee", "OP-TEE version: {version:word}"),
    {.name = "console.optee_old",
     .pattern = "TEE-CORE: Initializing (",
     .tag = "Initializing",
     .better = TG_BETTER_NONE,
     .soft = true}, /* TEE-CORE: is in every line */
    /* A debug build of OP-TEE names its initcalls without their times, in the kernel's word. */
    {.name = "console.optee_initcall",
     .pattern = "initcall level {level:uint} {function:word}()$",
     .tag = "initcall",
     .better = TG_BETTER_NONE,
     .soft = true},
    RULE("kernel_clock", "timer(s) running at {mhz:uint}.{hundredths:uint}MHz ("),
    RULE("spl", "U-Boot SPL {year:uint}.{release:word}"),
    RULE("uboot", "U-Boot {year:uint}.{release:word}"),
    RULE("leaves", "Starting kernel ..."),
    {.name = "console.login",
     .pattern = "^{host:word} login:",
     .tag = " login:",
     .better = TG_BETTER_NONE,
     .soft = true,
     .arrival = true},
};

const tg_format tg_format_console = {
    .name = "console",
    .title = "boot banners of TF-A, TFTF, OP-TEE, U-Boot and Linux",
    .rules = rules,
    .n_rules = TG_COUNT_OF(rules),
    .observation = TG_OBSERVATION_BOOT,

    .reduce = NULL,
};

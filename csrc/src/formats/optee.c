/* optee.c - the eight counter lines of the OP-TEE benchmark patches of 2015.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "formats.h"

#define SMC(n, p) \
  {.name = "optee." n, .pattern = (p), .tag = "cntvct=0x", .better = TG_BETTER_LOWER}

static const tg_rule_def rules[] = {
    {.name = "optee.frequency", .pattern = "CounterTimerFrequency: 0x{hz:HEX}"},
    {.name = "optee.open",
     .pattern = "ClientOpenSession: start=0x{start:HEX}, enter_ta=0x{enter:HEX}, "
                "return=0x{return:HEX}"},
    {.name = "optee.invoke",
     .pattern = "ClientInvokeCommand: start=0x{start:HEX}, enter_ta=0x{enter:HEX}, "
                "return=0x{return:HEX}"},
    {.name = "optee.syscall",
     .pattern = "SecureSysCall: start=0x{start:HEX}, enter_svc=0x{enter:HEX}, "
                "return=0x{return:HEX}"},
    SMC("driver_do", "TEEDriver: do smc call, cmd={cmd:uint}, cntvct=0x{counter:HEX}"),
    SMC("driver_finish", "TEEDriver: finish smc call, cmd={cmd:uint}, cntvct=0x{counter:HEX}"),
    SMC("core_receive", "TEECore: receiving smc call, cmd={cmd:uint}, cntvct=0x{counter:HEX}"),
    SMC("core_finish", "TEECore: finish smc call, cmd={cmd:uint}, cntvct=0x{counter:HEX}"),
};

const tg_format tg_format_optee = {
    .name = "optee",
    .title = "OP-TEE benchmark console lines (client, driver and core counters)",
    .rules = rules,
    .n_rules = TG_COUNT_OF(rules),
    .reduce = NULL,
};

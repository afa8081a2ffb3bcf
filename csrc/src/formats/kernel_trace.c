/* kernel_trace.c - tracepoints of power management that come in pairs: callbacks of devices, steps
 * of a cpu that goes or comes, runtime power management. They are spans: rules are all there is.
 * ftrace.c has those whose end names its begin otherwise. SPDX-License-Identifier: BSD-3-Clause */
#include "formats.h"
#include "reducer.h"

/* NOLINTBEGIN(bugprone-macro-parentheses): string literals only stand side by side without them */
#define HEAD "{_:text} {t:dec}: ~"
#define PAIR(n, t, begin, end)                                                               \
  {.name = "kernel_trace." n, .pattern = HEAD begin, .until = HEAD end, .tag = (t),          \
   .values = "duration=t", .unit = "s", .soft = true}
#define RUNTIME(n)                                                                           \
  PAIR("runtime_" n, "rpm_" n ":", "[rpm:]rpm_" n ": ~{device:word} flags-",                 \
       "[rpm:]rpm_return_int: ~rpm_" n "+0x{_:hex}/0x{_:hex}:{device:word} ret={ret:int}")
/* NOLINTEND(bugprone-macro-parentheses) */

static const tg_rule_def rules[] = {
    PAIR("callback", "device_pm_callback_start:",
         "[power:]device_pm_callback_start: ~{driver:text} {device:word}, parent: {_:text}, "
         "{phase:text}~[[{event:text}]]$",
         "[power:]device_pm_callback_end: ~{driver:text} {device:word}, err={err:int}"),
    PAIR("cpuhp", "target:",
         "[cpuhp:]{_:cpuhp_enter|cpuhp_multi_enter}: ~cpu: {cpu:uint} target: ~{_:int} step: "
         "~{step:int} ({function:text})",
         "[cpuhp:]cpuhp_exit: ~cpu: {cpu:uint} ~state: ~{_:int} step: ~{step:int} ret: {ret:int}"),
    RUNTIME("suspend"),
    RUNTIME("resume"),
    RUNTIME("idle"),
};

const tg_format tg_format_kernel_trace = {
    .name = "kernel_trace",
    .title = "paired tracepoints of power management",
    .rules = rules,
    .n_rules = TG_COUNT_OF(rules),
    .example = " a-1   [000]   1.000100: device_pm_callback_start: i2c 1-0068, parent: i2c-1, "
               "bus [suspend]\n"
               " a-1   [000]   1.000580: device_pm_callback_end: i2c 1-0068, err=0\n",
};

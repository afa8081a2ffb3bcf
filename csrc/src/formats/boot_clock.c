/* boot_clock.c - the board of a boot and its clock.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "boot_clock.h"

#include "reducer.h"

const tg_platform *tg_boot_platform(const tg_reduce_in *in, const tg_result *out, uint32_t boot) {
  const tg_table *boots = tg_result_get(out, "boots");
  tg_str name = tg_str_of(in->options->platform);
  if (name.n == 0 && boots != NULL && boot != TG_NONE) {
    (void)tg_table_text(boots, boot, TG_BOOT_PLATFORM, &name);
  }
  return name.n > 0 ? tg_topology_find(in->options->topology, name) : NULL;
}

uint64_t tg_boot_clock(const tg_reduce_in *in, const tg_result *out, uint32_t boot,
                       tg_clock_origin *origin) {
  const tg_table *boots = tg_result_get(out, "boots");
  uint64_t hz = 0;
  *origin = TG_CLOCK_OPTION;
  if (in->options->clock_hz != 0) return in->options->clock_hz;
  *origin = TG_CLOCK_LOG;
  if (boots != NULL && boot != TG_NONE && tg_table_u64(boots, boot, TG_BOOT_CLOCK, &hz) && hz > 0) {
    return hz;
  }
  const tg_platform *p = tg_boot_platform(in, out, boot);
  *origin = p != NULL && p->clock_hz != 0 ? TG_CLOCK_PLATFORM : TG_CLOCK_NONE;
  return p != NULL ? p->clock_hz : 0;
}

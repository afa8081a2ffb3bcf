/* optee_gather.h - the OP-TEE lines of all sources, checked and in time order.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TG_FORMATS_OPTEE_GATHER_H
#define TG_FORMATS_OPTEE_GATHER_H

#include "optee_join.h"
#include "tickgauge/format.h"

/* Every array ordered by boot, then time. Stamps of the secure world carry --tee-offset. */
typedef struct tg_optee_lines {
  tg_smc *driver, *core;
  tg_client *clients;
  tg_syscall *syscalls;
  size_t n_driver, n_core, n_clients, n_syscalls;
  size_t driver_cap, core_cap, clients_cap, syscalls_cap;
} tg_optee_lines;

/* Gathers the lines; a line that cannot be right becomes a problem of `out`. The caller frees
 * `lines` with tg_optee_lines_free, also after a failure. TG_OK, TG_ENOMEM. */
tg_status tg_optee_gather(const tg_reduce_in *in, tg_result *out, tg_optee_lines *lines);
void tg_optee_lines_free(const tg_alloc *a, tg_optee_lines *lines);

/* The clock of a boot: the user's, else its own; 0 if unknown. */
uint64_t tg_optee_clock(const tg_reduce_in *in, const tg_result *out, uint32_t boot,
                        tg_clock_origin *origin);

#endif

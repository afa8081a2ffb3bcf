/* optee_join_state.h - the state that the steps of a join share: optee_join.c, optee_exclude.c and
 * optee_syscalls.c.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TG_FORMATS_OPTEE_JOIN_STATE_H
#define TG_FORMATS_OPTEE_JOIN_STATE_H

#include "optee_call.h"

/* The pairs and single stamps of one boot. */
typedef struct tg_join {
  const tg_alloc *a;
  const tg_stop *stop;
  const tg_boot_lines *lines;
  tg_pairs clients, driver, core;
  tg_points starts, finishes, receives, core_finishes;
  uint8_t *driver_used, *core_used; /* bit 0: the start belongs to a call, bit 1: the finish */
  size_t first_call;
  bool strangers; /* other clients called at the same time, perhaps some that print nothing */
} tg_join;

/* The two ends a call may find one by one, where its pair is not whole or not alone. */
typedef struct tg_ends {
  tg_points *starts, *finishes;
  const tg_pairs *pairs;
  uint8_t *used;
  tg_hop start, finish;
} tg_ends;

/* Finds the stamps that only one client's window can hold: sets `owner` of those lines (0 for all
 * others) and `settled` of the clients. TG_OK, TG_ENOMEM, TG_EINTERRUPTED. */
tg_status tg_windows_first(tg_join *j);

/* Completes the calls of clients from single stamps. A call that was ambiguous and gets both ends
 * so is told apart after all; one that is left with candidates is ambiguous. TG_OK, TG_ENOMEM. */
tg_status tg_complete_clients(tg_join *j, tg_calls *out, const tg_ends *e);

/* Looks at all clients that ran at once, however their calls were joined: a call that
 * exclusion does not confirm is ambiguous. TG_OK, TG_ENOMEM. */
tg_status tg_doubt_groups(tg_join *j, tg_calls *out, const tg_ends *e);

/* Where the boot has lost lines: puts the calls without a client's line in doubt that do not look
 * like the others of their command. TG_OK, TG_ENOMEM. */
tg_status tg_judge_strangers(const tg_join *j, tg_calls *calls);

/* Gives the system calls the invoke they were made in: by the core's pairs where there are any,
 * else by the driver's. `out` holds the boot's calls, not yet in order. TG_OK, TG_ENOMEM. */
tg_status tg_syscalls_join(tg_join *j, tg_calls *out);

#endif

/* optee_call.h - a call through the worlds, and the lines it is joined from.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TG_FORMATS_OPTEE_CALL_H
#define TG_FORMATS_OPTEE_CALL_H

#include "optee_pairs.h"

/* The seven stamps of a call, in the order of time. */
typedef enum tg_hop {
  TG_HOP_CLIENT_START = 0,
  TG_HOP_DRIVER_START,
  TG_HOP_TEE_RECEIVE,
  TG_HOP_TA_ENTER,
  TG_HOP_TEE_FINISH,
  TG_HOP_DRIVER_FINISH,
  TG_HOP_CLIENT_RETURN,
  TG_HOPS
} tg_hop;

/* How a call was joined. */
typedef enum tg_join_state {
  TG_JOIN_CLAIMED = 0, /* its pairs nest in one way only */
  TG_JOIN_UNCLAIMED,   /* a driver or core pair without its client's line */
  TG_JOIN_UNPAIRED,    /* a client's line without a driver or core pair */
  TG_JOIN_AMBIGUOUS,   /* more than one candidate */
  TG_JOIN_OFFSET       /* nothing nests, one constant shift would nest all */
} tg_join_state;

#define TG_CALL_OVERLAP 1u    /* another SMC of the same command was open at the same time */
#define TG_CALL_HALF 2u       /* the line of a stamp is missing though its partner is there */
#define TG_CALL_REPAIRED 4u   /* a line was put together from pieces */
#define TG_CALL_IMPOSSIBLE 8u /* stamps of one line are not in the order of time */
#define TG_CALL_SYSCALL 16u   /* the invoke that carries a measured system call */

/* A client's line. */
typedef struct tg_client {
  uint64_t start, enter, finish;
  uint64_t cmd; /* 0 open, 1 invoke */
  uint64_t line, offset;
  uint32_t source, boot, run;
  uint32_t flags; /* TG_CALL_* */
  bool have_enter, have_finish;
  bool early;   /* its start lost a digit, say the lines before it */
  bool settled; /* its window alone tells which stamps are its own */
} tg_client;

/* A SecureSysCall line; `call` is the call that carries it, TG_NONE if none is known. */
typedef struct tg_syscall {
  uint64_t start, enter, finish;
  uint64_t line, offset;
  uint32_t source, boot, run, call;
  uint32_t flags;
  uint8_t state; /* tg_join_state */
} tg_syscall;

/* One call. `have` has bit h set where stamp[h] is known. */
typedef struct tg_call {
  tg_stamp stamp[TG_HOPS];
  uint64_t cmd;
  uint32_t run, flags;
  uint8_t have;
  uint8_t state; /* tg_join_state */
  bool client;   /* a client's line is part of it */
  bool settled;  /* its window told its stamps: nothing is looked for any more */
} tg_call;

/* True if the call has the stamp of that hop. */
static inline bool tg_call_has(const tg_call *c, tg_hop hop) { return (c->have >> hop & 1u) != 0; }

static inline void tg_call_set(tg_call *c, tg_hop hop, const tg_stamp *s) {
  c->stamp[hop] = *s;
  c->have |= (uint8_t)(1u << hop);
}

typedef struct tg_calls {
  tg_call *at;
  size_t n, cap;
} tg_calls;

/* The lines of one boot; those of the printers in time order, clients and system calls in that of
 * the
 * source. */
typedef struct tg_boot_lines {
  tg_smc *driver, *core;
  tg_client *clients;
  tg_syscall *syscalls;
  size_t n_driver, n_core, n_clients, n_syscalls;
} tg_boot_lines;

/* A constant shift between the two worlds. */
typedef struct tg_shift {
  int64_t lowest, highest;
  bool found;
} tg_shift;

#endif

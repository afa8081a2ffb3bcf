/* axi.h - the state of the analysis of one AXI interface.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TG_CAPTURE_AXI_H
#define TG_CAPTURE_AXI_H

#include "base/stop.h"
#include "capture/signals.h"

#define AXI_CHANNELS CH_T
#define NO_STAMP UINT64_MAX

enum axi_direction { READ = 0, WRITE = 1 };
enum axi_stamp {
  AX_VALID = 0,
  AX_ACCEPT,
  DATA_VALID,
  DATA_FIRST,
  DATA_LAST,
  B_VALID,
  B_ACCEPT,
  STAMPS
};
enum axi_status { OPEN = 0, COMPLETE, INCOMPLETE, ORPHAN };
enum axi_known {
  KNOW_ID = 1,
  KNOW_ADDR = 2,
  KNOW_LEN = 4,
  KNOW_SIZE = 8,
  KNOW_BURST = 16,
  KNOW_RESP = 32
};

typedef struct axi_txn {
  uint64_t id, addr, beats, seen;
  uint64_t stamp[STAMPS];
  uint64_t before;           /* end of the one before it of the same id, or NO_STAMP */
  uint64_t w_beats, blocked; /* running counts at its start, then its own */
  const char *why;
  uint32_t window, open, flags, size, next; /* next: link + 1 in the queue of its id */
  uint8_t direction, burst, resp, known, status;
  bool data_done, trigger;
} axi_txn;

/* Transactions of one direction and id, in order. Links are index + 1, 0 = none. */
typedef struct axi_queue {
  uint64_t last_end;
  uint32_t head, tail, orphan;
  uint32_t reset; /* the number of the last reset it has seen: older ones are empty */
  bool seen; /* a command of this id was accepted in this window */
} axi_queue;

typedef struct axi_pin {
  const cap_store *store; /* NULL: not in the capture */
  size_t at;              /* its next change */
  uint64_t v;
  bool x;
} axi_pin;

/* Levels of one channel in the current samples. */
typedef struct axi_level {
  bool valid, ready, last, unknown, last_unknown;
} axi_level;

/* VALID that waits for its READY. */
typedef struct axi_pend {
  uint64_t since, addr;
  bool on, from_start, addr_known;
} axi_pend;

typedef struct axi_beat { /* write data ahead of its address */
  uint64_t sample, since;
  bool last, last_unknown;
} axi_beat;

typedef struct axi_step {
  uint64_t sample;
  uint32_t reads, writes;
} axi_step;

typedef struct axi_block {
  uint64_t first, last, beats, tail;
} axi_block;

/* Cycles by what R and W did. */
typedef struct axi_cycles {
  uint64_t n, both_open, r_and_w, r_only, w_only, neither, blocked, master_stall, starve;
} axi_cycles;

typedef struct axi_channel {
  uint64_t beat, stall, starve, idle, ready_high, ready_low, unknown;
  uint32_t lane; /* row of the lane that goes on, + 1 */
  uint8_t lane_state;
  uint64_t lane_end;
} axi_channel;

struct tg_axi {
  tg_alloc a;
  tg_axi_figures fig;
  tg_axi_options opt;
  uint64_t turns; /* stretches and samples walked: what opt.stop is asked by */
  tg_table *txn_table, *channels, *outstanding, *blocks, *problems, *lanes;
  /* the interface */
  axi_pin pin[AXI_CHANNELS][LEAF_STORED];
  int8_t assumed[AXI_CHANNELS][2]; /* VALID, READY: a level, or -1 */
  uint32_t bus_bytes;
  bool usable[AXI_CHANNELS], by_id[2], has_last[AXI_CHANNELS], lite;
  /* the samples at hand */
  axi_level level[AXI_CHANNELS];
  axi_pend pend[AXI_CHANNELS];
  bool was_unknown[AXI_CHANNELS];
  axi_channel channel[AXI_CHANNELS];
  axi_cycles open, shut; /* a read open; none, since the window began */
  uint64_t w_running, blocked_running;
  uint64_t window_start;
  uint64_t patience; /* samples of steady handshakes still to be walked one by one */
  uint32_t window, resets;
  uint32_t open_now[2], orphan_reads;
  uint32_t newest_done[2]; /* the latest accepted of those complete */
  axi_block block;
  bool in_block;
  /* transactions */
  axi_txn *txn;
  size_t n_txn, cap_txn;
  uint32_t *order[2];
  size_t n_order[2], cap_order[2], open_from[2];
  size_t unsure_to[2]; /* all open ones before it are flagged uncertain */
  size_t lower_to[2];  /* ... a lower bound */
  tg_intern *ids[2];
  axi_queue *queue[2];
  size_t n_queue[2], cap_queue[2];
  uint32_t *w_wait; /* writes without all of their data, in order */
  size_t n_w_wait, cap_w_wait, w_head;
  axi_beat *early;
  size_t n_early, cap_early, early_head;
  uint32_t w_orphan; /* orphan write data, index + 1, that its B may still follow */
  bool w_orphan_open;
  uint32_t last_r; /* index + 1 of the read the last R beat went to */
  axi_step *steps;
  size_t n_steps, cap_steps;
  axi_block *spans;
  size_t n_spans, cap_spans;
  bool trigger_due;   /* a trigger lies at the sample that comes */
  bool trigger_on[2]; /* the address that waits is the one at the trigger */
};

/* axi_match.c: events at one sample. */
tg_status tg_axi_accept(tg_axi *x, unsigned direction, uint64_t k);
tg_status tg_axi_w_beat(tg_axi *x, uint64_t k);
tg_status tg_axi_r_beat(tg_axi *x, uint64_t k);
tg_status tg_axi_b_beat(tg_axi *x, uint64_t k);
/* Ends everything open: incomplete because of `why`. `k` is the first sample behind. */
tg_status tg_axi_reset(tg_axi *x, uint64_t k, const char *why);
void tg_axi_flag_open(tg_axi *x, unsigned direction, uint32_t flag);
/* Marks the transaction at the trigger: whose address is up, else the last one under way. */
void tg_axi_take_trigger(tg_axi *x);
tg_status tg_axi_problem(tg_axi *x, uint64_t sample, unsigned channel, const char *reason,
                         const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 5, 6)))
#endif
    ;
/* axi_count.c: cycles. */
tg_status tg_axi_count(tg_axi *x, uint64_t k, uint64_t n);
tg_status tg_axi_end_block(tg_axi *x, uint64_t k, bool by_beat);
void tg_axi_recall_open(tg_axi *x); /* the cycles without an open read had one after all */
tg_status tg_axi_note_open(tg_axi *x, uint64_t k);
/* axi_out.c */
tg_status tg_axi_make_tables(tg_axi *x);
tg_status tg_axi_fill_tables(tg_axi *x);

#endif

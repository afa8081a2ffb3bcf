/* axi.h - the state of the analysis of one AXI interface.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TG_CAPTURE_AXI_H
#define TG_CAPTURE_AXI_H

#include <stdio.h>

#include "base/mem.h"
#include "base/row.h"
#include "base/stop.h"
#include "capture/axi_scout.h"
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
enum axi_lock { LOCK_NONE = 0, LOCK_EXCLUSIVE, LOCK_LOCKED };
enum axi_known {
  KNOW_ID = 1,
  KNOW_ADDR = 2,
  KNOW_LEN = 4,
  KNOW_SIZE = 8,
  KNOW_BURST = 16,
  KNOW_RESP = 32,
  KNOW_LOCK = 64
};

typedef struct axi_txn {
  uint64_t id, addr, beats, seen;
  uint64_t stamp[STAMPS];
  uint64_t before;           /* end of the one before it of the same id, or NO_STAMP */
  uint64_t w_beats, blocked; /* running counts at its start, then its own */
  const char *why;
  uint32_t window, open, flags, size, next; /* next: link + 1 in the queue of its id */
  uint8_t direction, burst, resp, lock, known, status;
  bool data_done, trigger, torn;
} axi_txn;

/* Transactions of one direction and id, in order. Links are index + 1, 0 = none. */
typedef struct axi_queue {
  uint64_t last_end;
  uint32_t head, tail;
  uint32_t orphan;  /* the row that takes data of a command from before, index + 1 */
  uint32_t ghosts;  /* commands from before that are still to be answered */
  uint32_t segment; /* the one it is set up for, plus 1 */
  uint8_t basis;    /* enum axi_basis */
} axi_queue;

typedef struct axi_beat {
  uint64_t sample, since;
  bool last, last_unknown;
  bool torn; /* its burst may have begun before the segment */
} axi_beat;

/* Write data in the order of its commands: all of it, or that of one WID. */
typedef struct axi_lane_w {
  uint32_t *wait; /* writes without all of their data, in order */
  size_t n_wait, cap_wait, head;
  axi_beat *early; /* data ahead of its address */
  size_t n_early, cap_early, early_head;
  uint32_t ghosts, skip; /* commands from before with data to come; those with data before */
  uint32_t orphan;       /* as in axi_queue */
  uint32_t segment;
  uint8_t basis;
  bool begun; /* data was seen in this segment */
} axi_lane_w;

typedef struct axi_pin {
  const cap_store *store; /* NULL: not in the capture */
  size_t at;              /* its next change */
  uint64_t v;
  bool x;
} axi_pin;

/* Levels of one channel in the current samples. */
typedef struct axi_level {
  bool valid, ready, last, unknown, last_unknown;
  bool maybe; /* unknown, and a transfer is possible */
} axi_level;

/* VALID that waits for its READY. */
typedef struct axi_pend {
  uint64_t since, addr;
  bool on, from_start, after_unknown, addr_known;
} axi_pend;

typedef struct axi_step {
  uint64_t sample;
  uint32_t reads, writes;
} axi_step;

typedef struct axi_block {
  uint64_t first, last, beats, tail;
} axi_block;

/* Cycles by the activity of R and W. */
typedef struct axi_cycles {
  uint64_t n, both_open, r_and_w, r_only, w_only, neither, blocked, master_stall, unknown;
  uint64_t asked;                         /* a read open or ARVALID up */
  uint64_t held, held_w, taken, taken_w;  /* ARVALID without and with ARREADY; with a W beat */
  uint64_t first, first_w, gaps, gaps_w;  /* no R beat: before the first one, inside a burst */
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
  tg_table *txn_table, *channels, *outstanding, *blocks, *problems, *lanes, *starts, *packets;
  /* the interface */
  axi_pin pin[AXI_CHANNELS][LEAF_STORED];
  axi_pin *moving[AXI_CHANNELS * LEAF_STORED + 1]; /* those in the capture */
  size_t n_moving;
  int8_t assumed[AXI_CHANNELS][2]; /* VALID, READY: a level, or -1 */
  uint32_t bus_bytes;
  bool usable[AXI_CHANNELS], by_id[2], by_wid, has_last[AXI_CHANNELS], lite;
  /* the samples at hand */
  axi_level level[AXI_CHANNELS];
  axi_pend pend[AXI_CHANNELS];
  bool was_unknown[AXI_CHANNELS];
  axi_channel channel[AXI_CHANNELS];
  axi_cycles cycles;
  uint64_t w_running, blocked_running;
  uint64_t window_start;
  uint64_t patience; /* samples of steady handshakes still to be walked one by one */
  uint32_t window, segment; /* numbers; a segment lies between resets, gaps and window ends */
  uint32_t open_now[2];
  uint32_t answers_due; /* writes with all of their data, without a response */
  uint32_t newest_done[2]; /* the latest accepted of those complete */
  axi_pin reset;           /* the interface's reset, where it is in the capture */
  bool reset_low, in_reset;
  bool from_zero;     /* no window of an analyser: it begins at the start of a simulation */
  bool unsure[2]; /* a transfer may have been lost in this segment: what follows may be shifted */
  bool started, window_due;
  uint64_t moved_in_reset, moved; /* handshakes */
  axi_scout *scout;               /* the first walk, and its findings */
  bool scouting;
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
  axi_lane_w *data; /* one, or one for each WID */
  size_t n_data, cap_data;
  tg_intern *wids;
  uint32_t w_orphan; /* write data of a command from before, index + 1, that its B may follow */
  uint32_t last_r; /* index + 1 of the read the last R beat went to */
  axi_step *steps;
  size_t n_steps, cap_steps;
  axi_block *spans;
  size_t n_spans, cap_spans;
  bool trigger_due;   /* a trigger lies at the sample that comes */
  bool trigger_on[2]; /* the address that waits is the one at the trigger */
};

/* Takes the changes of a pin up to step `step`; true where there are any. */
bool tg_axi_move_pin(axi_pin *p, uint32_t step);
/* The value of a pin of the samples at hand; false where it is unknown or not there. */
bool tg_axi_pin(const tg_axi *x, unsigned channel, unsigned leaf, uint64_t *v);
/* The number of an id among those of a direction, and its queue; without ids there is one. */
tg_status tg_axi_code(tg_axi *x, unsigned direction, unsigned channel, bool *known, uint64_t *id,
                      uint32_t *code);
tg_status tg_axi_queue(tg_axi *x, unsigned direction, unsigned channel, bool *known, uint64_t *id,
                       axi_queue **out);
tg_status tg_axi_wid(tg_axi *x, unsigned channel, uint32_t *code);

/* axi_match.c: commands and read data. */
tg_status tg_axi_accept(tg_axi *x, unsigned direction, uint64_t k);
tg_status tg_axi_r_beat(tg_axi *x, uint64_t k);
tg_status tg_axi_add(tg_axi *x, unsigned direction, uint32_t *index);
tg_status tg_axi_orphan(tg_axi *x, unsigned direction, unsigned channel, bool known, uint64_t id,
                        uint64_t k, bool expected, uint32_t *index);
tg_status tg_axi_add_beat(tg_axi *x, axi_txn *t, unsigned channel, const axi_beat *b, bool *done);
axi_beat tg_axi_beat_at(const tg_axi *x, unsigned channel, uint64_t k);
void tg_axi_keep_resp(tg_axi *x, unsigned channel, axi_txn *t);
void tg_axi_complete(tg_axi *x, axi_queue *q, uint64_t k);
/* axi_write.c: write data and responses. */
tg_status tg_axi_w_command(tg_axi *x, uint32_t index);
tg_status tg_axi_w_beat(tg_axi *x, uint64_t k);
tg_status tg_axi_b_beat(tg_axi *x, uint64_t k);
tg_status tg_axi_leftover_w(tg_axi *x);
/* axi_segment.c: where segments begin and end. */
tg_status tg_axi_begin(tg_axi *x, uint64_t k, bool known);
/* Ends everything open: incomplete because of `why`. `k` is the first sample behind. */
tg_status tg_axi_end(tg_axi *x, uint64_t k, const char *why, bool gap);
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
tg_status tg_axi_note_open(tg_axi *x, uint64_t k);
/* axi_verdict.c: are reads held up by writes? */
void tg_axi_judge(tg_axi *x);
/* axi_exclusive.c: exclusive accesses, by their responses and pairs. TG_OK, TG_ENOMEM. */
tg_status tg_axi_exclusive(tg_axi *x);
/* axi_stream.c: figures, "channels" and "packets" of an AXI4-Stream. */
tg_status tg_axi_stream(tg_axi *x, const tg_capture *c, const cap_bundle *b, tg_error *err);
/* axi_out.c */
tg_status tg_axi_make_tables(tg_axi *x);
tg_status tg_axi_fill_tables(tg_axi *x);

#endif

/* axi_scout.h - the first walk over an interface: commands, bursts and responses as lists, from
 * which the number of transactions open at the start of each segment is found.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TG_CAPTURE_AXI_SCOUT_H
#define TG_CAPTURE_AXI_SCOUT_H

#include "base/stop.h"
#include "capture/signals.h"

/* Queues whose items answer commands in order: read bursts, write bursts, write responses. */
enum scout_set { SET_R = 0, SET_W, SET_B, SET_COUNT };

/* How the number of open transactions is known. */
enum axi_basis {
  BASIS_NONE = 0, /* it is not: a lower bound */
  BASIS_RESET,
  BASIS_TOLD, /* by the caller */
  BASIS_COUNTERS,
  BASIS_LENGTHS,
  BASIS_IDLE,
  BASIS_START,
  BASIS_COUNT
};

typedef struct scout_command {
  uint64_t valid, accept;
  uint64_t data_end; /* writes: last W beat, UINT64_MAX while unknown */
  uint64_t beats;    /* 0: unknown */
} scout_command;

typedef struct scout_burst {
  uint64_t valid, last; /* VALID of its first beat; its last beat */
  uint64_t beats;
  bool ended;
} scout_burst;

typedef struct scout_queue {
  scout_command *command;
  size_t n_command, cap_command;
  scout_burst *burst;
  size_t n_burst, cap_burst;
  size_t *order; /* SET_B: the place of each command in SET_W's queue */
  size_t cap_order;
  int64_t least, open; /* fewest open at the start; taken as open */
  uint8_t basis;
} scout_queue;

/* A command, an answer or the first beat of write data: how the number of open ones changes. */
typedef struct scout_event {
  uint64_t sample, since; /* since: of a command, when it was first asked for */
  uint64_t gap;           /* clocks without progress in its direction before it */
  int32_t change;
} scout_event;

typedef struct scout_quiet { /* no VALID on any channel in [from, to) */
  uint64_t from, to;
} scout_quiet;

/* Taken as open at the start of a segment by the queue of one id; w may be negative: data that
 * came before the segment, whose address did not. */
typedef struct axi_start {
  int32_t open;
  uint8_t basis;
} axi_start;

typedef struct scout_answer {
  uint32_t code; /* of the queue */
  axi_start start;
} scout_answer;

typedef struct scout_segment { /* its answers, by code */
  size_t first[SET_COUNT], count[SET_COUNT];
  uint64_t sample; /* its first */
  uint32_t window;
  bool fresh[2]; /* as in axi_scout */
} scout_segment;

typedef struct axi_scout {
  tg_alloc a;
  scout_queue *queue[SET_COUNT];
  size_t n_queue[SET_COUNT], cap_queue[SET_COUNT];
  uint32_t *used[SET_COUNT]; /* queues that the segment has touched */
  size_t n_used[SET_COUNT], cap_used[SET_COUNT];
  scout_event *event[2];
  size_t n_event[2], cap_event[2];
  uint64_t next_progress[2]; /* the sample behind the last progress */
  scout_quiet *quiet;
  size_t n_quiet, cap_quiet;
  uint64_t begin;      /* of the segment */
  uint32_t window;     /* it lies in */
  uint8_t given; /* why nothing is open at its begin: BASIS_RESET, BASIS_TOLD; or BASIS_NONE */
  bool from_zero;      /* the capture is of a simulation and begins at time 0 */
  bool powers_up;      /* ... with all answers unknown: nothing has happened before */
  bool data_at_begin;  /* WVALID was up at its first sample */
  bool busy_at_begin[2]; /* reads, writes: an answer was on offer at its first sample */
  int64_t counter[2];  /* System ILA's number of open ones at the first sample, or -1 */
  bool writes_by_id;   /* W data carries its id */
  bool has_last[2];    /* reads, writes: the ends of bursts are in the capture */
  bool fresh[2];       /* reads, writes: a command up at its begin was not asked for before */
  /* results */
  scout_answer *answer;
  size_t n_answer, cap_answer;
  scout_segment *segment;
  size_t n_segment, cap_segment;
} axi_scout;

tg_status tg_scout_command(axi_scout *s, unsigned direction, uint32_t w_code, uint32_t code,
                           const scout_command *command);
/* A data beat (SET_R, SET_W) or a response (SET_B) of queue `code` at sample k. */
tg_status tg_scout_beat(axi_scout *s, enum scout_set set, uint32_t code, uint64_t valid, uint64_t k,
                        bool last);
tg_status tg_scout_quiet(axi_scout *s, uint64_t from, uint64_t to);
/* Begins a segment; `given`: BASIS_RESET or BASIS_TOLD where nothing is open at its first sample,
 * else BASIS_NONE. */
void tg_scout_begin(axi_scout *s, uint64_t begin, enum axi_basis given);
/* Ends the segment before sample `end`: decides how many were open at its start and empties the
 * lists. TG_OK, TG_ENOMEM, TG_EINTERRUPTED. */
tg_status tg_scout_close(axi_scout *s, uint64_t end, const tg_stop *stop);
/* Frees all but the answers. */
void tg_scout_drop_lists(axi_scout *s);
void tg_scout_free(axi_scout *s);

/* The start of queue `code` in segment `segment`; nothing open, BASIS_START, where it was not
 * used. */
axi_start tg_scout_start(const axi_scout *s, size_t segment, enum scout_set set, uint32_t code);

/* Was a command of a direction that is up at the begin of a segment evidently not asked for
 * before? */
bool tg_scout_fresh(const axi_scout *s, size_t segment, unsigned direction);

/* All open ones of a set at the start of a segment. */
uint64_t tg_scout_total(const axi_scout *s, size_t segment, enum scout_set set);

/* axi_start.c */
tg_status tg_scout_decide(axi_scout *s, uint64_t end, const tg_stop *stop);

#endif

/* capture.h - logic captures: Vivado ILA CSV, VCD, ILA dumps; the AXI ports in them.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TICKGAUGE_CAPTURE_H
#define TICKGAUGE_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "alloc.h"
#include "export.h"
#include "intern.h"
#include "status.h"
#include "stop.h"
#include "table.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- reading ------------------------------------------------------------------------------ */

/* Forms of a capture. Append only. */
typedef enum tg_capture_form {
  TG_CAPTURE_UNKNOWN = 0,
  TG_CAPTURE_CSV = 1, /* Vivado or ChipScoPy ILA export, or a plain one: one row a sample */
  TG_CAPTURE_VCD =
      2, /* of an ILA (a time unit is a sample) or of a simulator (sampled at a clock) */
  TG_CAPTURE_DMP = 3 /* the text member waveform.dmp of an .ila archive: depth and marks only */
} tg_capture_form;

/* The form that the first bytes of a source show. 4 KiB are enough; TG_CAPTURE_UNKNOWN is no
 * capture. */
TG_API tg_capture_form tg_capture_sniff(const uint8_t *p, size_t n);

/* One signal put on an AXI role by hand: role "arvalid", column the name as in the file, with or
 * without its range. */
typedef struct tg_capture_map {
  const char *role;
  const char *column;
} tg_capture_map;

/* All optional; 0 and NULL are the defaults. */
typedef struct tg_capture_options {
  const char *sample_on;   /* VCD: the signal whose rising edge samples; "" = every time unit is a
                              sample; NULL = an ILA's file by unit, else a clock for each interface,
                              found by scope and name and checked against the handshakes. Several
                              are parted by newlines; PORT=SIGNAL is for interfaces with PORT in
                              their prefix */
  const char *const *keep; /* further signals to store, full names without range */
  size_t n_keep;
  const tg_capture_map *map;
  size_t n_map;
  uint64_t samples;      /* depth of the capture where the file cannot say it (a VCD ends at its
                            last change); 0 = as the file shows */
  uint64_t max_item;     /* bytes of one CSV row, VCD definition or change, with its end; longer
                            is TG_ELIMIT. 0 = 64 MiB */
  uint64_t max_problems; /* listed one by one. 0 = 4096 */
  uint64_t max_signals;  /* defined; more is TG_ELIMIT. 0 = 2^22 */
  uint32_t max_width;    /* bits of a value that is stored; a wider signal is not stored, and a
                            problem where it was asked for. 0 = 1024, at most 4032 */
  uint32_t max_scope;    /* bytes of the path of a VCD's scope; longer is TG_ELIMIT. 0 = 2048 */
} tg_capture_options;

typedef struct tg_capture tg_capture;

/* A capture of one source, still empty. TG_OK, TG_ENOMEM, TG_EINVAL (form, a role in `map`). */
TG_API tg_status tg_capture_new(const tg_alloc *a, tg_capture_form form,
                                const tg_capture_options *options, tg_capture **out, tg_error *err);
TG_API void tg_capture_free(tg_capture *c);

/* The next bytes, any number, cut anywhere: the result never depends on the cuts. Only signals
 * that bind to an AXI role or are asked for are kept, other columns are skipped unread.
 * TG_OK, TG_ENOMEM, TG_ESYNTAX (no header, no definitions), TG_ELIMIT, TG_EUNSUPPORTED (UTF-16). */
TG_API tg_status tg_capture_feed(tg_capture *c, const uint8_t *p, size_t n, tg_error *err);
/* Rising edges of a signal that may be a clock (its row in "signals") and whose changes are not in
 * the bytes that are fed, in the unit of the VCD, `n` of them; an edge that is no later than the
 * one before it is passed over. For readers of forms that keep the changes of each signal apart.
 * Not before the definitions were fed. TG_OK, TG_ENOMEM, TG_EINVAL (no VCD, no such clock,
 * finished). */
TG_API tg_status tg_capture_rises(tg_capture *c, uint32_t signal, const uint64_t *time, size_t n);
/* Ends the source. A last row or change that is cut is dropped and listed as a problem.
 * TG_OK, or as tg_capture_feed. */
TG_API tg_status tg_capture_finish(tg_capture *c, tg_error *err);
/* Takes depth, windows, triggers and gaps from a finished TG_CAPTURE_DMP, where `c` has none of
 * its own; after a failure it is as it was. TG_OK, TG_ENOMEM, TG_EINVAL. */
TG_API tg_status tg_capture_adopt(tg_capture *c, const tg_capture *dmp);

/* The facts of a finished capture. */
typedef struct tg_capture_info {
  uint64_t samples; /* the depth used */
  uint64_t seen;    /* samples up to the last row, edge or change of the file itself */
  uint64_t stored;  /* value changes kept */
  uint64_t windows, triggers, gaps;
  uint64_t last_time; /* VCD: the last time, in the file's unit */
  uint32_t signals, interfaces;
  tg_capture_form form;
  uint8_t depth_known; /* `samples` is the depth: a CSV's rows, a clock's edges, a given number */
  uint8_t clocked;     /* sampled at a clock's edges */
  uint8_t radix_row;   /* CSV: has one */
  uint8_t ila;         /* of an ILA */
} tg_capture_info;
TG_API tg_capture_info tg_capture_about(const tg_capture *c);
/* Words of the file itself: "version", "timescale", "clock"; {NULL, 0} where it has none. */
TG_API tg_str tg_capture_word(const tg_capture *c, const char *name);

/* "signals": name TEXT, width U32, role TEXT ("arvalid"), interface U32, stored BOOL, radix TEXT,
 * changes U64, clock BOOL (it may sample). In file order, then vectors joined of single bits. */
TG_API const tg_table *tg_capture_signals(const tg_capture *c);
/* "interfaces": prefix TEXT, slot U32, kind TEXT ("AXI4" "AXI3" "AXI4-Lite" "AXI-Stream"),
 * channels TEXT ("AR R"), missing TEXT (what --assume could settle: "arready"), bound U32,
 * data_bits U32, same_as U32 (the same wires under another name), usable BOOL, why TEXT, clock TEXT
 * (VCD: the signal that samples it). Most matched signals first. */
TG_API const tg_table *tg_capture_interfaces(const tg_capture *c);
/* "marks": sample U64, kind TEXT ("window" "trigger" "gap"), sorted. */
TG_API const tg_table *tg_capture_marks(const tg_capture *c);
/* Columns as TG_PROBLEM_* of reader.h. */
TG_API const tg_table *tg_capture_problems(const tg_capture *c);

/* The changes of one stored signal (its row in "signals"): column "sample" U64, then "value" U64
 * (wider signals: "value" is the low word, "value1", ... the next), missing where it is unknown.
 * The caller frees the table. TG_OK, TG_ENOMEM, TG_ENOTFOUND (not stored), TG_ELIMIT (more than
 * 1024 bits). */
TG_API tg_status tg_capture_changes(const tg_capture *c, uint32_t signal, tg_table **out);

/* ---- AXI ---------------------------------------------------------------------------------- */

typedef enum tg_axi_kind {
  TG_AXI_AUTO = 0,
  TG_AXI_4,
  TG_AXI_3,
  TG_AXI_LITE,
  TG_AXI_STREAM
} tg_axi_kind;

typedef struct tg_axi_assume {
  const char *role; /* "arready" */
  uint32_t level;   /* 0 or 1 */
} tg_axi_assume;

typedef struct tg_axi_options {
  uint32_t interface; /* row of "interfaces" */
  tg_axi_kind kind;   /* forced, or TG_AXI_AUTO */
  const tg_axi_assume *assume;
  size_t n_assume;
  bool ignore_gaps; /* transactions go on across a gap and are marked a lower bound */
  bool idle_start;  /* the caller knows that nothing is open at the first sample */
  bool lanes;       /* also "lanes": channel states of samples lane_first .. lane_last */
  uint64_t lane_first, lane_last;
  uint64_t max_transactions; /* 0 = 2^22; beyond it TG_ELIMIT */
  /* Samples that handshakes go on without any change, beyond 16 of commands and 256 of data each
   * time, over the whole capture. Beyond it a problem "endless": they are counted, not matched.
   * 0 = 2^20. */
  uint64_t max_steady;
  const tg_stop *stop; /* asked every few thousand samples; NULL = never */
} tg_axi_options;

/* Do reads wait for writes? Compare with >= TG_AXI_SLOWED for "yes". */
typedef enum tg_axi_verdict {
  TG_AXI_UNSEEN = 0,      /* AR, R or W is not in the capture */
  TG_AXI_NOTHING = 1,     /* no write beat while a read was asked for */
  TG_AXI_TOO_FEW = 2,     /* too few clocks on either side of the contrast */
  TG_AXI_INDEPENDENT = 3, /* as likely to move with a write beat as without, or equal spans */
  TG_AXI_SLOWED = 4,      /* between */
  TG_AXI_BLOCKED = 5      /* at most a tenth as likely: reads wait for writes */
} tg_axi_verdict;

/* Where reads wait for writes: bits. */
enum { TG_AXI_NOWHERE = 0, TG_AXI_ADDRESS = 1, TG_AXI_DATA = 2 };

/* Clocks and counts of one interface. A read is open in clock c when accept < c <= last beat; one
 * from before the capture since its first sample. Clocks in which R or W is unknown, or not in the
 * capture, are in `read_unknown` and in none of the contrast (r_and_w ... master_stall). */
typedef struct tg_axi_figures {
  uint64_t cycles;
  uint64_t in_reset; /* of them */
  uint64_t read_open, write_open, both_open;
  uint64_t read_asked;            /* a read open, or ARVALID up */
  uint64_t r_and_w;               /* read open, R beat and W beat */
  uint64_t r_only;                /* read open, R beat, no W beat */
  uint64_t w_only;                /* read open, W beat, no R beat */
  uint64_t neither;               /* read open, neither */
  uint64_t blocked;               /* of w_only: RVALID low, so the other side has nothing to give */
  uint64_t master_stall;          /* of w_only: RVALID high and RREADY low, the master's own wait */
  uint64_t read_unknown;          /* read open, R or W unknown */
  uint64_t address_held;          /* ARVALID up, ARREADY low, W known */
  uint64_t address_held_w;        /* of them with a W beat */
  uint64_t first_wait;            /* read open, no R beat, no burst begun */
  uint64_t first_wait_w;          /* of them with a W beat */
  uint64_t gap_wait;              /* read open, no R beat inside a burst */
  uint64_t gap_wait_w;            /* of them with a W beat */
  uint64_t unknown;               /* clocks with an unknown VALID or READY of a bound channel */
  uint64_t any_r_and_w;           /* R beat and W beat in one clock, read open or not */
  uint64_t max_reads, max_writes; /* open at once */
  uint64_t reads, writes;         /* transactions whose command is in the capture */
  uint64_t complete_reads, complete_writes; /* complete and counted */
  uint64_t bound_reads, bound_writes;       /* complete, but their spans are lower bounds */
  uint64_t orphans;                         /* bursts and responses without a command */
  uint64_t protocol;                        /* protocol errors */
  uint64_t interleaves;                     /* R beats that leave a burst unfinished for another */
  uint64_t reads_reordered, writes_reordered; /* end after one accepted later */
  uint64_t tail_median, tail_n;   /* clocks from the last W beat of a blocked span to the next R
                                     beat, spans of at least 16 W beats */
  uint64_t exclusive_reads, exclusive_writes; /* AxLOCK says exclusive */
  uint64_t exclusive_pairs;   /* of the writes: behind an exclusive read of that id and address */
  uint64_t exclusive_done;    /* counted writes with EXOKAY: they were written */
  uint64_t exclusive_failed;  /* counted writes with OKAY: nothing was written */
  uint64_t exclusive_refused; /* counted reads with OKAY: the slave has no exclusive access there */
  uint64_t locked;            /* AXI3: locked accesses */
  uint64_t packets;               /* AXI4-Stream: whole ones, from their first beat to LAST */
  uint64_t stream_bytes;          /* of all beats: TKEEP, else the width of TDATA */
  uint64_t stream_gap;            /* clocks without TVALID inside a packet */
  double p_given_w, p_given_no_w; /* P(R beat | W beat), P(R beat | no W beat), a read open; NaN
                                     where there is no such clock */
  double expected_blocked;        /* W beats (read open) x P(no R beat | no W beat) */
  tg_axi_verdict verdict;
  uint32_t where; /* TG_AXI_ADDRESS and TG_AXI_DATA */
  tg_axi_kind kind;
  bool stream_has_bytes; /* TKEEP or TDATA is in the capture */
} tg_axi_figures;

typedef struct tg_axi tg_axi;

/* Analyses one interface of a finished capture, which must outlive the call only.
 * TG_OK, TG_ENOMEM, TG_EINVAL (a role, a level), TG_ENOTFOUND (interface), TG_ENODATA (no channel
 * with VALID and READY), TG_ELIMIT, TG_EINTERRUPTED (options->stop). */
TG_API tg_status tg_axi_new(const tg_alloc *a, const tg_capture *c, const tg_axi_options *options,
                            tg_axi **out, tg_error *err);
TG_API void tg_axi_free(tg_axi *x);

/* Columns of "transactions". Stamps are samples; spans are clocks; a missing end is missing. */
enum {
  TG_TXN_DIRECTION = 0, /* TEXT "read" "write" */
  TG_TXN_STATUS,        /* TEXT "complete" "incomplete" "orphan" */
  TG_TXN_WHY,           /* TEXT: why it is not complete, or its fault */
  TG_TXN_WINDOW,        /* U32 */
  TG_TXN_ID,            /* U64 */
  TG_TXN_ADDR,          /* U64 */
  TG_TXN_BEATS,         /* U64: AxLEN + 1, or counted */
  TG_TXN_SEEN,          /* U64: beats accepted */
  TG_TXN_SIZE,          /* U32: bytes of a full beat */
  TG_TXN_BURST,         /* TEXT "FIXED" "INCR" "WRAP" */
  TG_TXN_BYTES,         /* U64: payload, the unaligned head taken off; strobes are not looked at */
  TG_TXN_RESP,          /* TEXT: the worst, "OKAY" "EXOKAY" "SLVERR" "DECERR" */
  TG_TXN_AX_VALID,      /* U64: first cycle of AxVALID for it */
  TG_TXN_AX_ACCEPT,     /* U64 */
  TG_TXN_DATA_VALID,    /* U64: first cycle of xVALID for its first beat */
  TG_TXN_DATA_FIRST,    /* U64: first accepted beat */
  TG_TXN_DATA_LAST,     /* U64: last accepted beat */
  TG_TXN_B_VALID,       /* U64, writes */
  TG_TXN_B_ACCEPT,      /* U64, writes */
  TG_TXN_ADDRESS_WAIT,  /* I64: ax_accept - ax_valid */
  TG_TXN_FIRST_DATA,    /* I64: data_first - ax_accept; a write's may be negative */
  TG_TXN_LAST_DATA,     /* I64: data_last - ax_accept */
  TG_TXN_RESPONSE,      /* I64, writes: b_accept - ax_accept */
  TG_TXN_AFTER_DATA,    /* I64, writes: b_accept - data_last */
  TG_TXN_SPAN,          /* I64: end - ax_valid, as Vivado's transaction row */
  TG_TXN_DATA_PHASE,    /* I64: data_last - data_first + 1 */
  TG_TXN_QUEUE,   /* I64: ax_accept - the end before it of the same id; missing for the first */
  TG_TXN_OPEN,    /* U32: transactions of its direction open when it was accepted */
  TG_TXN_W_BEATS, /* U64, reads: W beats in (ax_accept, data_last] */
  TG_TXN_BLOCKED, /* U64, reads: of them without an R beat */
  TG_TXN_TRIGGER, /* BOOL: the one at the trigger */
  TG_TXN_FLAGS,   /* U32 of TG_AXI_F_* */
  TG_TXN_LOCK,    /* TEXT "normal" "exclusive" "locked" (AXI3): AxLOCK */
  TG_TXN_COLUMNS
};
#define TG_AXI_F_UNCERTAIN 1u /* an unknown VALID, READY or LAST while it was open */
#define TG_AXI_F_PROTOCOL 2u  /* a protocol error concerns it */
#define TG_AXI_F_START 4u     /* AxVALID was high at the window's first sample: ax_valid is late */
#define TG_AXI_F_LOWER 8u     /* spans are lower bounds: a gap lies in it, or it is not known how
                                 many were open before it */
#define TG_AXI_F_W_FIRST 16u  /* its write data led its address */
#define TG_AXI_F_COUNTED 32u  /* complete, certain, no lower bound, no error: in the statistics */

/* One of: "transactions"; "channels" (channel TEXT, beat, stall, starve, idle, ready_high,
 * ready_low, unknown U64: idle cycles are split by outstanding into starve and idle, and by READY
 * into ready_high and ready_low); "outstanding" (sample U64, reads, writes U32: from that sample
 * on); "blocks" (first, last, w_beats, tail U64: spans with a read open, no R beat, from the first
 * to the last W beat); "problems" (sample U64, channel TEXT, reason TEXT, detail TEXT);
 * "lanes" (channel TEXT, state TEXT, first, last U64); "starts" (window U32, sample U64, direction
 * TEXT, id U64, open U32, known BOOL, basis TEXT: how many of an id were open where a window, a gap
 * or a reset lets matching begin anew, and why that is known: "reset" "told" "counters" "lengths"
 * "silence" "empty start"); "packets" (valid, first, last, beats, bytes, stall, gap U64, whole
 * BOOL: of an AXI4-Stream, which fills only this table and "channels"; whole: its first beat and
 * its LAST are in the capture). NULL for another name. */
TG_API const tg_table *tg_axi_table(const tg_axi *x, const char *name);
TG_API tg_axi_figures tg_axi_about(const tg_axi *x);

#ifdef __cplusplus
}
#endif
#endif

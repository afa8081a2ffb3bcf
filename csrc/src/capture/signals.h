/* signals.h - names, roles, values and marks of a capture.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TG_CAPTURE_SIGNALS_H
#define TG_CAPTURE_SIGNALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"
#include "tickgauge/capture.h"
#include "tickgauge/intern.h"

#define CAP_NONE UINT32_MAX
#define CAP_WIDTH 1024u /* bits of a value that is stored, where the caller names no other bound */
#define CAP_MOST_WORDS (TG_MAX_COLUMNS - 1u) /* of a value: columns of tg_capture_changes */
#define CAP_MOST_RESETS 256u
#define CAP_MOST_CLOCKS 256u
#define CAP_MOST_CHOSEN 1024u /* interfaces that get a clock of their own */
#define CAP_MAX_STEP ((uint32_t)1 << 30) /* a change keeps its step in 30 bits */

/* ---- AXI roles: channel and leaf ------------------------------------------------------------ */

enum cap_channel { CH_AR = 0, CH_AW, CH_W, CH_R, CH_B, CH_T, CH_COUNT };
enum cap_leaf {
  LEAF_VALID = 0,
  LEAF_READY,
  LEAF_CTRL,
  LEAF_LAST,
  LEAF_ID,
  LEAF_ADDR,
  LEAF_LEN,
  LEAF_SIZE,
  LEAF_BURST,
  LEAF_RESP,
  LEAF_CNT,
  LEAF_KEEP,
  LEAF_LOCK,
  LEAF_STORED, /* those before are kept, those after only counted */
  LEAF_DATA = LEAF_STORED,
  LEAF_OTHER,
  LEAF_COUNT
};

typedef struct cap_role {
  uint8_t channel, leaf;
} cap_role;

#define ROLE_NONE ((cap_role){CH_COUNT, LEAF_COUNT})

/* A name taken apart. */
typedef struct cap_name {
  cap_role role;
  size_t prefix;             /* bytes before the leaf */
  size_t leaf_end;           /* bytes up to the end of the leaf */
  size_t suffix, suffix_end; /* what tells interfaces apart behind it ("_M0", "_1"), or 0, 0 */
  size_t bare;               /* bytes without the range */
  bool parted;               /* the leaf is a word of its own: `ar_valid` */
  bool suffixed;             /* a suffix stands behind the leaf: `_1`, `_i`, `_M0` */
  bool has_range;
  uint32_t width;   /* of the range, 1 without */
  uint32_t index;   /* of a single bit `[n]`, or CAP_NONE */
  uint32_t element; /* of an array of interfaces, plus 1; 0 = none */
  uint32_t slot;    /* of `slot_<n>` in the prefix, or CAP_NONE */
} cap_name;

cap_name tg_cap_name_split(const uint8_t *p, size_t n);
/* The prefix without letter case and without the words that tell the directions of one interface
 * apart (i_, o_, req, rsp): names of one interface have the same. `out` has room for the prefix;
 * returns its length. */
size_t tg_cap_bundle_key(const uint8_t *p, const cap_name *name, char *out);
/* "arvalid" -> role; false for an unknown word. */
bool tg_cap_role_find(const char *word, cap_role *out);
/* "arvalid"; "" for ROLE_NONE. */
const char *tg_cap_role_name(cap_role role);
extern const char *const tg_cap_channel_names[CH_COUNT];

/* ---- signals and their stored changes ------------------------------------------------------ */

typedef enum cap_radix {
  RADIX_AUTO = 0,
  RADIX_HEX,
  RADIX_UNSIGNED,
  RADIX_SIGNED,
  RADIX_BINARY,
  RADIX_OCTAL,
  RADIX_OTHER
} cap_radix;

typedef struct cap_signal {
  uint32_t name; /* code in names */
  uint32_t width;
  uint32_t interface; /* bundle, or CAP_NONE */
  uint32_t store;     /* or CAP_NONE */
  cap_role role;
  uint8_t radix; /* CSV */
  bool bits;     /* false: a real or string variable, or no value of bits */
  uint32_t clock; /* of the wire, plus 1; 0 = none */
  bool part;     /* a bit of a vector that is dumped bit by bit */
  bool wanted;
} cap_signal;

/* The changes of one value. at[i] = step << 2 | unknown << 1 | low bit; values of more than one
 * bit stand in value[i * words ...]. */
typedef struct cap_store {
  uint32_t *at;
  uint64_t *value;
  uint64_t *cur;  /* the last recorded value */
  uint64_t *next; /* VCD: the newest value; behind it a bit for each unknown one, if joined */
  size_t n, cap_at, cap_value;
  uint32_t words; /* 64-bit words of a value */
  uint32_t width;
  cap_role role;  /* of its first bound signal */
  uint8_t radix;  /* CSV: how its cells are read now */
  bool fixed_hex; /* RADIX_AUTO: every cell so far had exactly ceil(width / 4) hex digits */
  bool cur_x, next_x;
  bool dirty;
  bool listed; /* VCD: among the known ones */
} cap_store;

/* Rising edges of a clock, as runs of equal periods. */
typedef struct cap_run {
  uint64_t first, last, period, before; /* before: edges before this run */
} cap_run;

typedef struct cap_clock {
  uint32_t signal; /* its first name */
  uint32_t id;     /* of the VCD */
  cap_run *run;
  size_t n_run, cap_run;
  uint64_t edges;
  uint8_t level; /* 0, 1, or 2: unknown */
  bool rose;     /* in the time slot at hand */
} cap_clock;

/* A vector whose bits are signals `first` .. `first` + `width` - 1. */
typedef struct cap_joined {
  uint32_t signal, first, width;
  bool upwards; /* bit 0 comes first */
} cap_joined;

enum cap_mark_kind { MARK_WINDOW = 0, MARK_GAP, MARK_TRIGGER };
typedef struct cap_mark {
  uint64_t sample;
  uint32_t kind;
} cap_mark;

typedef struct cap_bundle {
  uint32_t prefix; /* code in names */
  uint32_t slot;
  uint32_t matched;
  uint32_t same_as;
  uint32_t clock;      /* of the capture's clocks, or CAP_NONE: a time unit is a sample */
  uint32_t clock_name; /* the signal that is its nearest name */
  uint32_t data_bits;
  uint32_t place;                     /* in the file, among those kept */
  uint32_t group;                     /* of bundles that may be parts of one interface */
  uint32_t suffix;                    /* of their names, code in names; CAP_NONE = none */
  uint32_t element;                   /* of an array of interfaces, plus 1; 0 = none */
  uint32_t joined;                    /* signals whose leaf names its channel: `arvalid` */
  uint32_t sig[CH_COUNT][LEAF_COUNT]; /* row of the signal, or CAP_NONE */
  uint8_t kind;                       /* tg_axi_kind */
  uint8_t usable;                     /* bit per channel: VALID and READY, or ctrl */
  uint8_t half;                       /* bit per channel: only one of them */
} cap_bundle;

struct cap_csv;
struct cap_vcd;

struct tg_capture {
  tg_alloc a;
  tg_capture_form form;
  /* options, copied */
  char *sample_on;
  char **keep;
  size_t n_keep;
  struct cap_map_entry {
    char *column;
    cap_role role;
    uint32_t signal;
  } *map;
  size_t n_map;
  uint64_t given_samples, max_item, max_problems, max_signals;
  uint32_t max_width, max_scope;
  /* input */
  uint8_t *carry;
  size_t n_carry, cap_carry;
  size_t look_at; /* carried bytes before which another look is not worth it */
  uint64_t offset, line; /* of the first byte not yet consumed; line counts from 1 */
  bool at_start, finished, failed;
  struct cap_csv *csv;
  struct cap_vcd *vcd;
  /* content */
  tg_intern *names;
  cap_signal *signal;
  size_t n_signal, cap_signal;
  cap_store *store;
  size_t n_store, cap_store;
  uint64_t *step;
  size_t n_step, cap_step;
  cap_mark *mark;
  size_t n_mark, cap_mark;
  cap_bundle *bundle;
  size_t n_bundle, cap_bundle;
  cap_clock *clocks; /* signals that may be clocks */
  size_t n_clocks, cap_clocks;
  uint32_t clock; /* of the capture as a whole, or CAP_NONE */
  uint32_t *reset; /* signals that are named as resets */
  size_t n_reset, cap_reset;
  cap_joined *joined;
  size_t n_joined, cap_joined;
  uint64_t seen, samples, last_time;
  bool depth_known, clocked, radix_row, ila;
  char *version, *timescale;
  tg_table *t_signals, *t_interfaces, *t_marks, *t_problems;
  uint64_t problems; /* also those not listed */
};

/* store.c */
/* A signal of the file. TG_OK, TG_ENOMEM, TG_ELIMIT (`err` says which, at the item being read). */
tg_status tg_cap_signal_add(tg_capture *c, const uint8_t *name, size_t n, uint32_t width, bool bits,
                            uint32_t *row, tg_error *err);
tg_status tg_cap_store_add(tg_capture *c, uint32_t width, uint32_t *row);
/* Records the value of `s` at `sample` (samples never go back). `value` has s->words words. */
tg_status tg_cap_store_put(tg_capture *c, cap_store *s, uint64_t sample, const uint64_t *value,
                           bool unknown);
tg_status tg_cap_mark_add(tg_capture *c, uint64_t sample, enum cap_mark_kind kind);
tg_status tg_cap_problem(tg_capture *c, uint64_t line, uint64_t offset, const char *reason,
                         const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 5, 6)))
#endif
    ;
char *tg_cap_copy(const tg_alloc *a, const uint8_t *p, size_t n); /* NUL-terminated, or NULL */
bool tg_cap_has_mark(const tg_capture *c, enum cap_mark_kind kind);
void tg_cap_sort_marks(tg_capture *c);

/* join.c: vectors whose bits are signals of their own become one more signal each; their bits bind
 * no more. TG_OK, TG_ENOMEM, TG_ELIMIT. */
tg_status tg_cap_join(tg_capture *c, tg_error *err);
/* The bit that the signal at a place of a joined vector is. */
uint32_t tg_cap_bit_at(const cap_joined *j, uint32_t place);
/* The store of a joined vector, all of its bits unknown. */
tg_status tg_cap_join_store(tg_capture *c, const cap_joined *j);
/* A bit of `s->next` becomes 0, 1, or 2: unknown; true where all bits are known now. */
bool tg_cap_bit_moves(cap_store *s, uint32_t bit, uint8_t level);

/* clocks.c */
tg_status tg_cap_edge(tg_capture *c, cap_clock *clock, uint64_t time);
/* Edges up to and with `time`; `*at` starts as 0 and moves on with times that never go back. */
uint64_t tg_cap_edges(const cap_clock *clock, uint64_t time, size_t *at);
/* Is the signal named as a clock? 0 = no, else the higher the likelier. */
unsigned tg_cap_clock_name(const tg_capture *c, uint32_t signal);
/* The wishes of options.sample_on: is `signal` one of them? `prefix`: for this interface only, NULL
 * for any. */
bool tg_cap_is_wished(const tg_capture *c, uint32_t signal, const tg_str *prefix);
/* Gives each interface its clock and the capture that of its first interface. */
tg_status tg_cap_choose_clocks(tg_capture *c);
/* The sample of a time, on the axis of a clock (CAP_NONE: the time itself). */
uint64_t tg_cap_sample(const tg_capture *c, uint32_t clock, uint64_t time, size_t *at);
/* Samples of the capture on that axis. */
uint64_t tg_cap_depth(const tg_capture *c, uint32_t clock);

/* near.c: resets by name, and the one of an interface: in its scope or around it, the nearest.
 * CAP_NONE where there is none; `*low`: it is active low. */
tg_status tg_cap_find_resets(tg_capture *c);
uint32_t tg_cap_reset_of(const tg_capture *c, uint32_t bundle, bool *low);
/* How near a signal stands to an interface: 0 for one of another branch of the hierarchy. */
unsigned tg_cap_nearness(const tg_capture *c, const cap_bundle *b, uint32_t signal);

/* bind.c: rules R1..R7 over all signals; stores for what is bound or asked for. `shared`: store
 * of each signal is already set (VCD, several names of one wire), else CAP_NONE. */
tg_status tg_cap_bind(tg_capture *c);
/* Which channels of a bundle have VALID and READY (or ctrl), and which only one of them. */
void tg_cap_find_channels(cap_bundle *b);
/* halves.c: joins bundles that are parts of one interface; `groups`: their number. TG_OK,
 * TG_ENOMEM. */
tg_status tg_cap_join_halves(tg_capture *c, uint32_t groups);
/* The bundle's signal on a role after the caller's map; CAP_NONE where there is none. */
tg_axi_kind tg_cap_kind(const tg_capture *c, const cap_bundle *b);
/* interfaces.c: which interfaces are the same wires, where the stores are set; the public
 * tables. */
void tg_cap_find_twins(tg_capture *c);
tg_status tg_cap_interfaces(tg_capture *c);

/* TG_ELIMIT where an item of `n` bytes, with its end, is longer than the caller allows. */
tg_status tg_cap_check_item(const tg_capture *c, size_t n, tg_error *err);

/* value.c: a cell as words of 64 bits, the lowest first; false where it does not fit `width`. */
bool tg_cap_parse_hex(const uint8_t *p, size_t n, uint64_t *out, uint32_t words, uint32_t width);
bool tg_cap_parse_octal(const uint8_t *p, size_t n, uint64_t *out, uint32_t words, uint32_t width);
bool tg_cap_parse_dec(const uint8_t *p, size_t n, uint64_t *out, uint32_t words, uint32_t width);
bool tg_cap_parse_bits(const uint8_t *p, size_t n, uint64_t *out, uint32_t words, uint32_t width);
/* Of a VCD: bits of any number, cut to the words. */
bool tg_cap_parse_bin(const uint8_t *p, size_t n, uint64_t *out, uint32_t words);
/* A hex value read again as the decimal its digits spell; false where a digit is above 9. */
bool tg_cap_hex_as_dec(uint64_t *value, uint32_t words, uint32_t width);
/* A label Vivado writes for a code ("INCR", "32 bytes", "SLVERR"); false if none. */
bool tg_cap_parse_label(const uint8_t *p, size_t n, cap_role role, uint64_t *out);

#endif

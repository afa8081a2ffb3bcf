/* optee_pairs.h - SMC stamps become pairs, pairs nest in pairs.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TG_FORMATS_OPTEE_PAIRS_H
#define TG_FORMATS_OPTEE_PAIRS_H

#include "base/stop.h"
#include "tickgauge/alloc.h"
#include "tickgauge/result.h"
#include "tickgauge/status.h"

/* One stamp and the line that shows it. */
typedef struct tg_stamp {
  uint64_t ticks;
  uint64_t line, offset;
  uint32_t source;
  uint32_t boot;
} tg_stamp;

/* One SMC line: the stamp, its command, and whether it opens a pair (do, receiving). */
typedef struct tg_smc {
  tg_stamp at;
  uint64_t cmd;
  uint32_t order; /* set by tg_smc_sort */
  uint32_t owner; /* the client it belongs to, by its window: index + 1; 0 = not known */
  bool opens;
  bool repaired;
  bool bad; /* the stamp cannot be right: left out of all pairs */
  bool gap; /* a line of the same printer was torn between the one before and this one */
} tg_smc;

#define TG_UNCLAIMED UINT32_MAX
/* More pairs of one command than this are never open at once: OP-TEE has fewer threads. The
 * oldest is then left without its end. */
#define TG_OPEN_PAIRS 256
/* A start that so many later pairs of its command left open has lost its finish, it seems. */
#define TG_PASSED_BY 3

/* Two stamps that belong together, or one whose partner is missing. */
typedef struct tg_pair {
  tg_stamp start, finish;
  uint64_t cmd;
  uint64_t pin; /* an instant that an inner pair must contain, if have_pin */
  uint32_t owner; /* the client whose stamps these are: index + 1; 0 = to be found */
  bool have_start, have_finish, have_pin;
  bool overlap; /* another of the same command was open: which finish is whose is not told */
  bool repaired;
  bool busy;       /* another whole call lies in it: clients at once, or a wrong finish */
  bool suspect;    /* a client without a pair may own its start: not to be told */
  uint32_t holds;  /* how many inner pairs found a place in it */
  uint32_t inner;  /* the inner pair it holds, if `holds` is 1 */
  uint32_t places; /* in how many outer intervals it fits */
  uint32_t outer;  /* the outer interval, if `places` is 1 */
} tg_pair;

typedef struct tg_pairs {
  tg_pair *at;
  size_t n, cap;
} tg_pairs;

/* Orders SMC lines by boot, then by time; equal stamps keep their order. n < 2^32. */
void tg_smc_sort(tg_smc *lines, size_t n);

/* Marks stamps that cannot be right as bad: `lines` are those of one printer in one boot, in the
 * order of the source. They rise but for delays of up to `tolerance` ticks; the largest set that
 * does so is right, and a stamp outside its neighbours in that set has lost or gained digits.
 * TG_OK, TG_ENOMEM. */
tg_status tg_smc_check(const tg_alloc *a, tg_smc *lines, size_t n, uint64_t tolerance);

/* Pairs the lines of one boot, given in time order: a finish pairs with the latest open start of
 * the same command. A start that is passed by too often is given up. If a finish without a start
 * comes later, nothing was lost but calls overlapped all the time: it belongs to the start that was
 * given up, and all pairs between are in doubt. Stamps of one owner are a pair; no pair reaches
 * over a torn line. `out->n` is set anew; the pairs come in
 * the order of their first stamps. TG_OK, TG_ENOMEM, TG_EINTERRUPTED. */
tg_status tg_pairs_make(const tg_alloc *a, const tg_stop *stop, const tg_smc *lines, size_t n,
                        tg_pairs *out);

/* The interval a complete pair spans. */
static inline bool tg_pair_whole(const tg_pair *p) { return p->have_start && p->have_finish; }
static inline uint64_t tg_pair_first(const tg_pair *p) {
  return p->have_start ? p->start.ticks : p->finish.ticks;
}

/* Finds for each whole pair of `inner` the whole pairs of `outer` with the same command that
 * contain it, in one sweep over both; fills `holds`/`inner` of the outer and `places`/`outer` of
 * the inner ones (which must be 0 before). Both in time order. TG_OK, TG_ENOMEM,
 * TG_EINTERRUPTED. */
tg_status tg_pairs_nest(const tg_alloc *a, const tg_stop *stop, tg_pairs *outer, tg_pairs *inner);

/* Stamps of one side of many pairs, ordered by command and time. */
typedef struct tg_point {
  uint64_t cmd, ticks;
  uint32_t pair;
  uint32_t wanted; /* by how many calls that have no other choice; of a lone start: how far the next
                      one lies that is not suspect yet, 0: this one */
  bool taken;
} tg_point;
typedef struct tg_points {
  tg_point *at;
  size_t n, cap;
} tg_points;

/* The range of points of that command in [from, to]: [*first, *last). */
void tg_points_range(const tg_points *p, uint64_t cmd, uint64_t from, uint64_t to, size_t *first,
                     size_t *last);

/* Which pairs' stamps are wanted. */
typedef enum tg_points_of {
  TG_POINTS_DOUBTFUL, /* of pairs that are not whole or overlap */
  TG_POINTS_LONE,     /* of whole pairs that fit nowhere */
  TG_POINTS_ALL
} tg_points_of;

/* The starts (or finishes) of those pairs. TG_OK, TG_ENOMEM. */
tg_status tg_points_make(const tg_alloc *a, const tg_pairs *pairs, bool starts, tg_points_of which,
                         tg_points *out);

/* The point of that command in [from, to] that is not taken, if there is exactly one; NULL for
 * none, `*many` true for more than one. */
tg_point *tg_points_only(const tg_points *p, uint64_t cmd, uint64_t from, uint64_t to, bool *many);

/* Marks the pairs of all points of that command in [from, to] as suspect. True if there are any.
 */
bool tg_points_suspect(const tg_points *p, uint64_t cmd, uint64_t from, uint64_t to,
                       tg_pairs *pairs);

/* Looks for one shift, added to all stamps of `inner`, that nests all or nearly all of them in
 * pairs of `outer` of the same command. `*found` says whether there is one; all shifts in
 * [*lowest, *highest] do. TG_OK, TG_ENOMEM. */
tg_status tg_pairs_shift(const tg_alloc *a, const tg_pairs *outer, const tg_pairs *inner,
                         bool *found, int64_t *lowest, int64_t *highest);

#endif

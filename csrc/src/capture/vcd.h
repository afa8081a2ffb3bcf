/* vcd.h - the state of the VCD reader.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TG_CAPTURE_VCD_H
#define TG_CAPTURE_VCD_H

#include "capture/signals.h"

/* The meaning of an identifier beside its store. */
enum vcd_special { SPECIAL_NONE = 0, SPECIAL_TRIGGER, SPECIAL_WINDOW, SPECIAL_GAP };

typedef struct vcd_var {
  uint32_t id;     /* dense number of the identifier */
  uint32_t signal; /* row of the signal */
} vcd_var;

#define VCD_DIRECT 857375u /* identifiers of up to three characters: 95^3 */

struct cap_vcd {
  tg_intern *ids; /* identifier -> dense number, by order of definition */
  vcd_var *var;
  size_t n_var, cap_var;
  uint32_t *direct; /* code of a short identifier -> what `entry` holds, plus 1; 0 = unbound */
  size_t n_direct;
  uint32_t *entry; /* by dense number: store, or CAP_NONE */
  uint32_t *bit;   /* ... the bit of its store that it is, plus 1; 0 = the whole value */
  uint32_t *clock; /* ... its clock, plus 1; 0 = none */
  uint8_t *scope;  /* "tb.ila." */
  size_t n_scope, cap_scope;
  uint32_t scopes; /* seen in all */
  bool one_scope_dut;
  bool defined; /* $enddefinitions seen */
  /* values */
  uint64_t now;    /* current time */
  uint32_t *dirty; /* stores changed since they were last recorded */
  size_t n_dirty, cap_dirty;
  uint32_t *known; /* stores that got known since the last $dumpoff */
  size_t n_known, cap_known;
  uint32_t special_id[4];
  uint8_t special_level[4]; /* 0, 1, or 2: unknown */
  bool rose;                /* a clock rose in this time slot */
  bool any_time;            /* a #time was seen */
  bool cut;                 /* the file ends inside a change */
  bool in_comment;
  bool chipscopy; /* levels of _TRIGGER are single samples */
  uint64_t *word; /* scratch of one value */
  uint32_t most;  /* its words */
};

/* The dense number of an identifier, or CAP_NONE. */
tg_status tg_vcd_define(tg_capture *c, const uint8_t *id, size_t n, uint32_t *dense);
/* `$var`, `$scope` ... up to `$enddefinitions`. */
tg_status tg_vcd_head(tg_capture *c, const uint8_t *p, const uint8_t *end, bool final, size_t *used,
                      tg_error *err);
/* Binds, makes the stores, finds the clock: at $enddefinitions. */
tg_status tg_vcd_begin(tg_capture *c, tg_error *err);

#endif

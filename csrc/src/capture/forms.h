/* forms.h - the readers of the forms of a capture.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TG_CAPTURE_FORMS_H
#define TG_CAPTURE_FORMS_H

#include "capture/signals.h"

/* A form. `consume` reads as much of [p, end) as is whole and puts that into `*used`; `final`:
 * nothing follows. `finish` (may be NULL) comes after the last bytes, `free` (may be NULL) last. */
typedef struct cap_form {
  tg_status (*consume)(tg_capture *c, const uint8_t *p, const uint8_t *end, bool final,
                       size_t *used, tg_error *err);
  tg_status (*finish)(tg_capture *c, tg_error *err);
  void (*free)(tg_capture *c);
} cap_form;

extern const cap_form tg_cap_csv, tg_cap_vcd, tg_cap_dmp;

/* csv.c: does the line name the columns of a plain CSV: a VALID and a READY of AXI, or what the map
 * of `c` (may be NULL) names? */
bool tg_cap_is_plain_header(const tg_capture *c, const uint8_t *p, const uint8_t *e);

#endif

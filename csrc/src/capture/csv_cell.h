/* csv_cell.h - the value of a CSV cell by the radix of its column.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TG_CAPTURE_CSV_CELL_H
#define TG_CAPTURE_CSV_CELL_H

#include "capture/forms.h"

/* Takes blanks around a text, and its quotes, off it. */
void tg_csv_strip(const uint8_t **p, size_t *n);

/* Stores the cell [p, p + n) as the value of `s` at a sample, where it differs from the one before;
 * a cell that is no value of its column is a problem, and unknown. `word` is scratch for one value
 * of the widest store. TG_OK, TG_ENOMEM, TG_ELIMIT. */
tg_status tg_csv_cell(tg_capture *c, cap_store *s, uint64_t sample, const uint8_t *p, size_t n,
                      uint64_t *word);

/* The cell as bit `bit` of a joined store, in its `next`: what is neither 0 nor 1 is unknown, and a
 * problem where it is no level. TG_OK, TG_ENOMEM. */
tg_status tg_csv_bit(tg_capture *c, cap_store *s, uint32_t bit, uint64_t sample, const uint8_t *p,
                     size_t n);

#endif

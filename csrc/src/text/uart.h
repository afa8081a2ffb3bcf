/* uart.h - the opt-in repair of a UART that two worlds share.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TICKGAUGE_TEXT_UART_H
#define TICKGAUGE_TEXT_UART_H

#include "state.h"

typedef struct tg_uart tg_uart;

tg_status tg_uart_new(const tg_alloc *a, tg_uart **out);
void tg_uart_free(tg_uart *u);

/* Takes a line (no transport's copy). Lines without a TEE span and with nothing waiting come back
 * unchanged through tg_reader_text. TG_OK, TG_ENOMEM, TG_ELIMIT. */
tg_status tg_uart_line(tg_reader *r, const tg_line *line);

/* A line that still waits for its rest is read as it is. */
tg_status tg_uart_finish(tg_reader *r);

#endif

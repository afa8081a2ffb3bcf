/* legacy_ahead.h - reads a large file on a thread of its own, a few pieces ahead.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TICKGAUGE_LEGACY_AHEAD_H
#define TICKGAUGE_LEGACY_AHEAD_H

#include <stdint.h>
#include <sys/types.h>

typedef struct legacy_ahead legacy_ahead;

/* Starts to read `fd` from where it stands; the descriptor stays the caller's, and open until the
 * reader is freed. NULL where no thread or memory is to be had: read it yourself then. */
legacy_ahead *legacy_ahead_new(int fd);

/* Waits for the next piece: its bytes, valid until the next call; 0 at the end, -1 with `*problem`
 * set to errno. The GIL is not needed. */
ssize_t legacy_ahead_next(legacy_ahead *a, const uint8_t **piece, int *problem);

/* Ends the thread, wherever it is. Takes NULL. */
void legacy_ahead_free(legacy_ahead *a);

#endif

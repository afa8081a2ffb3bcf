/* arrays.h - arguments of one call as NumPy arrays.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TICKGAUGE_BINDING_ARRAYS_H
#define TICKGAUGE_BINDING_ARRAYS_H

#include "binding.h"

#define MOST_ARRAYS 32

/* The arrays that the arguments of one call became; all are let go together. */
typedef struct arrays {
  PyArrayObject *held[MOST_ARRAYS];
  size_t n;
} arrays;
void tg_py_release(arrays *a);

/* A contiguous one-dimensional array of `type`; only casts that lose nothing. NULL with an
 * exception set. */
const void *tg_py_take(arrays *a, PyObject *object, int type, size_t *len);

/* The same as a copy that no other thread can write to: for values checked before the GIL is
 * dropped and relied on after. */
const void *tg_py_take_copy(arrays *a, PyObject *object, int type, size_t *len);

/* ValueError: lengths of the arguments of a function do not fit together. Returns -1. */
int tg_py_lengths(const char *function);

#endif

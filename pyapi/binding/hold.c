/* hold.c - memory of the core that several Python objects share.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "binding.h"

#include <stdatomic.h>
#include <stdlib.h>

struct tg_py_hold {
  void *object;
  void (*release)(void *object);
  atomic_size_t refs;
};

tg_py_hold *tg_py_hold_new(void *object, void (*release)(void *object)) {
  tg_py_hold *hold = malloc(sizeof *hold);
  if (hold == NULL) {
    release(object);
    PyErr_NoMemory();
    return NULL;
  }
  hold->object = object;
  hold->release = release;
  atomic_init(&hold->refs, 1);
  return hold;
}

tg_py_hold *tg_py_hold_get(tg_py_hold *hold) {
  atomic_fetch_add_explicit(&hold->refs, 1, memory_order_relaxed);
  return hold;
}

void tg_py_hold_put(tg_py_hold *hold) {
  if (hold == NULL || atomic_fetch_sub_explicit(&hold->refs, 1, memory_order_acq_rel) != 1) return;
  hold->release(hold->object);
  free(hold);
}

PyObject *tg_py_view(const void *data, size_t rows, int typenum, PyObject *base) {
  npy_intp shape = (npy_intp)rows;
  PyArrayObject *array = NULL;
  if (rows == 0) {
    array = (PyArrayObject *)PyArray_SimpleNew(1, &shape, typenum);
    if (array != NULL) PyArray_CLEARFLAGS(array, NPY_ARRAY_WRITEABLE);
    return (PyObject *)array;
  }
  array = (PyArrayObject *)PyArray_New(&PyArray_Type, 1, &shape, typenum, NULL,
                                       (void *)(intptr_t)data, 0, NPY_ARRAY_CARRAY_RO, NULL);
  if (array == NULL) return NULL;
  Py_INCREF(base);
  if (PyArray_SetBaseObject(array, base) < 0) { /* steals `base` even on failure */
    Py_DECREF(array);
    return NULL;
  }
  return (PyObject *)array;
}

/* arrays.c - arguments as NumPy arrays. SPDX-License-Identifier: BSD-3-Clause */
#include "arrays.h"

void tg_py_release(arrays *a) {
  for (size_t i = 0; i < a->n; i++) Py_DECREF(a->held[i]);
  a->n = 0;
}

static const void *take(arrays *a, PyObject *object, int type, int flags, size_t *len) {
  if (a->n == MOST_ARRAYS) {
    PyErr_SetString(PyExc_SystemError, "too many arrays in one call");
    return NULL;
  }
  PyArrayObject *array = (PyArrayObject *)PyArray_FROMANY(object, type, 1, 1, flags);
  if (array == NULL) return NULL;
  a->held[a->n++] = array;
  *len = (size_t)PyArray_SIZE(array);
  return PyArray_DATA(array);
}

const void *tg_py_take(arrays *a, PyObject *object, int type, size_t *len) {
  return take(a, object, type, NPY_ARRAY_IN_ARRAY, len);
}

const void *tg_py_take_copy(arrays *a, PyObject *object, int type, size_t *len) {
  return take(a, object, type, NPY_ARRAY_IN_ARRAY | NPY_ARRAY_ENSURECOPY, len);
}

int tg_py_lengths(const char *function) {
  PyErr_Format(PyExc_ValueError, "%s: lengths that do not fit together", function);
  return -1;
}

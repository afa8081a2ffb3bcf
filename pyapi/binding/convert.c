/* convert.c - integers and sequences from Python, as PyArg_Parse...'s "O&" takes them.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "binding.h"

#include <string.h>

static int take_unsigned(PyObject *object, unsigned long long most, unsigned long long *out) {
  PyObject *number = PyNumber_Index(object);
  if (number == NULL) return 0;
  const unsigned long long v = PyLong_AsUnsignedLongLong(number);
  Py_DECREF(number);
  if (v == (unsigned long long)-1 && PyErr_Occurred()) return 0;
  if (v > most) {
    PyErr_Format(PyExc_OverflowError, "%llu is above %llu", v, most);
    return 0;
  }
  *out = v;
  return 1;
}

int tg_py_u64(PyObject *object, void *out) {
  unsigned long long v = 0;
  if (!take_unsigned(object, UINT64_MAX, &v)) return 0;
  *(uint64_t *)out = v;
  return 1;
}

int tg_py_u32(PyObject *object, void *out) {
  unsigned long long v = 0;
  if (!take_unsigned(object, UINT32_MAX, &v)) return 0;
  *(uint32_t *)out = (uint32_t)v;
  return 1;
}

void tg_py_wrong_type(const char *format, const char *word, PyObject *got) {
  PyObject *name = PyType_GetName(Py_TYPE(got));
  if (name == NULL) return;
  PyErr_Format(PyExc_TypeError, format, word, name);
  Py_DECREF(name);
}

const char *tg_py_text(PyObject *object, const char *what) {
  Py_ssize_t size = 0;
  if (!PyUnicode_Check(object)) {
    tg_py_wrong_type("%s is a str, not %U", what, object);
    return NULL;
  }
  const char *text = PyUnicode_AsUTF8AndSize(object, &size);
  if (text == NULL || strlen(text) == (size_t)size) return text;
  PyErr_Format(PyExc_ValueError, "%s contains a NUL", what);
  return NULL;
}

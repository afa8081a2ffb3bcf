/* errors.c - the one place where a status of the core becomes a Python exception.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "binding.h"

#include <string.h>

int tg_py_add_errors(PyObject *module) {
  tg_py_state *state = tg_py_state_of(module);
  struct {
    const char *name;
    PyObject **slot;
  } classes[] = {
      {"Error", &state->error},
      {"InputError", &state->input_error},
      {"RuleError", &state->rule_error},
      {"LimitError", &state->limit_error},
      {"NotComparableError", &state->not_comparable},
      {"NotEnoughData", &state->not_enough_data},
  };
  PyObject *errors = PyImport_ImportModule("tickgauge.errors");
  if (errors == NULL) return -1;
  for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++) {
    *classes[i].slot = PyObject_GetAttrString(errors, classes[i].name);
    if (*classes[i].slot == NULL) {
      Py_DECREF(errors);
      return -1;
    }
  }
  Py_DECREF(errors);
  return 0;
}

/* The class of tickgauge.errors for a status. Borrowed. */
static PyObject *class_of(const tg_py_state *state, tg_status status, int in_rules) {
  if (in_rules && (status == TG_ESYNTAX || status == TG_EINVAL || status == TG_ENOTFOUND ||
                   status == TG_EOVERFLOW)) {
    return state->rule_error;
  }
  switch (status) {
    case TG_EOVERFLOW:
    case TG_ESYNTAX:
    case TG_ERANGE:
    case TG_EAMBIGUOUS:
    case TG_ETRUNCATED:
    case TG_ECONFLICT:
    case TG_EUNSUPPORTED:
      return state->input_error;
    case TG_ELIMIT:
      return state->limit_error;
    case TG_ENOTCOMPARABLE:
      return state->not_comparable;
    case TG_ENODATA:
      return state->not_enough_data;
    default:
      return state->error;
  }
}

/* Raises cls(message, status=, line=, offset=). */
static void raise_detail(PyObject *cls, tg_status status, const tg_error *err,
                         const char *message) {
  PyObject *args = NULL;
  PyObject *kwargs = NULL;
  PyObject *exc = NULL;
  PyObject *text = PyUnicode_DecodeUTF8(message, (Py_ssize_t)strlen(message), "replace");
  if (text == NULL) return;
  args = PyTuple_Pack(1, text);
  if (err != NULL && err->line != 0) {
    kwargs =
        Py_BuildValue("{s:i,s:K,s:K}", "status", (int)status, "line", (unsigned long long)err->line,
                      "offset", (unsigned long long)err->offset);
  } else if (err != NULL) {
    kwargs = Py_BuildValue("{s:i,s:K}", "status", (int)status, "offset",
                           (unsigned long long)err->offset);
  } else {
    kwargs = Py_BuildValue("{s:i}", "status", (int)status);
  }
  if (args != NULL && kwargs != NULL) exc = PyObject_Call(cls, args, kwargs);
  if (exc != NULL) PyErr_SetObject((PyObject *)Py_TYPE(exc), exc);
  Py_XDECREF(exc);
  Py_XDECREF(args);
  Py_XDECREF(kwargs);
  Py_DECREF(text);
}

PyObject *tg_py_raise(PyObject *module, tg_status status, const tg_error *err, int in_rules) {
  const char *message = tg_status_text(status);
  if (err != NULL && err->status == status && err->message[0] != '\0') message = err->message;
  if (status == TG_ENOMEM) return PyErr_NoMemory();
  if (status == TG_EINTERRUPTED && PyErr_Occurred()) return NULL;
  if (status == TG_EINVAL && !in_rules) {
    PyErr_SetString(PyExc_ValueError, message);
    return NULL;
  }
  raise_detail(class_of(tg_py_state_of(module), status, in_rules), status, err, message);
  return NULL;
}

/* sink.c - `_core.Changes`: callbacks that take the changes of a wave one by one from another
 * reader
 * and hand them on to a `_core.Capture` in large pieces. SPDX-License-Identifier: BSD-3-Clause */
#include "binding.h"

#include <string.h>

#define TEXT 65536 /* bytes of VCD text that are handed on at a time */
#define MOST_ITEM 4096 /* of one change, at the most; longer values are handed on apart */
#define RISES 8192

typedef struct Changes {
  PyObject ob_base;
  PyObject *capture, *codes; /* codes: str of a signal -> bytes */
  PyObject *row;             /* of the clock whose edges come */
  size_t n_text, n_rise;
  uint64_t now, last; /* of the text; of the edges */
  int begun, level;
  int busy; /* a method is at work: a value's own code may call another */
  uint64_t rise[RISES];
  char text[TEXT + MOST_ITEM];
} Changes;

static PyObject *changes_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"capture", "codes", NULL};
  PyObject *capture = NULL, *codes = NULL;
  PyTypeObject *wanted = tg_py_state_of(PyType_GetModule(type))->capture_type;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!O!", names, wanted, &capture, &PyDict_Type,
                                   &codes))
    return NULL;
  Changes *self = (Changes *)PyType_GenericAlloc(type, 0);
  if (self == NULL) return NULL;
  Py_INCREF(capture);
  Py_INCREF(codes);
  self->capture = capture;
  self->codes = codes;
  return (PyObject *)self;
}

static void changes_dealloc(PyObject *object) {
  Changes *self = (Changes *)object;
  PyTypeObject *type = Py_TYPE(object);
  Py_XDECREF(self->capture);
  Py_XDECREF(self->codes);
  Py_XDECREF(self->row);
  PyObject_Free(object);
  Py_DECREF(type);
}

/* Begins a method; RuntimeError where one is at work. */
static int enter(Changes *self) {
  if (self->busy) {
    PyErr_SetString(PyExc_RuntimeError, "the changes are in use");
    return -1;
  }
  self->busy = 1;
  return 0;
}

/* Ends a method with the outcome of its work. */
static PyObject *leave(Changes *self, int done) {
  self->busy = 0;
  if (done < 0) return NULL;
  Py_RETURN_NONE;
}

/* ---- text -------------------------------------------------------------------------------------
 */

static int feed(Changes *self, const char *text, size_t n) {
  PyObject *done = PyObject_CallMethod(self->capture, "feed", "y#", text, (Py_ssize_t)n);
  Py_XDECREF(done);
  return done == NULL ? -1 : 0;
}

static int hand_on(Changes *self) {
  const size_t n = self->n_text;
  self->n_text = 0;
  return n == 0 ? 0 : feed(self, self->text, n);
}

static void put_char(Changes *self, char c) { self->text[self->n_text++] = c; }

static void put_number(Changes *self, uint64_t v, unsigned base) {
  char digits[64];
  size_t n = 0;
  do digits[n++] = (char)('0' + v % base);
  while ((v /= base) > 0);
  while (n > 0) put_char(self, digits[--n]);
}

static void put_time(Changes *self, uint64_t time) {
  put_char(self, '#');
  put_number(self, time, 10);
  put_char(self, '\n');
  self->now = time;
  self->begun = 1;
}

/* The digits of a value: an int, or a str of levels. */
static int put_value(Changes *self, PyObject *value) {
  PyObject *digits = NULL;
  const char *p = NULL;
  Py_ssize_t n = 0;
  int result = -1;
  if (PyLong_Check(value)) {
    const unsigned long long v = PyLong_AsUnsignedLongLong(value);
    if (v != (unsigned long long)-1 || !PyErr_Occurred()) {
      put_number(self, v, 2);
      return 0;
    }
    PyErr_Clear();
    digits = PyNumber_ToBase(value, 2);
  } else {
    digits = PyObject_Str(value);
  }
  p = digits != NULL ? PyUnicode_AsUTF8AndSize(digits, &n) : NULL;
  if (p == NULL) goto done;
  if (n > 2 && p[0] == '0' && p[1] == 'b') p += 2, n -= 2;
  if ((size_t)n > MOST_ITEM - 256) {
    if (hand_on(self) < 0 || feed(self, p, (size_t)n) < 0) goto done;
  } else {
    memcpy(self->text + self->n_text, p, (size_t)n);
    self->n_text += (size_t)n;
  }
  result = 0;
done:
  Py_XDECREF(digits);
  return result;
}

/* The code of a signal, behind a blank where the signal is a vector; the caller owns it. */
static PyObject *code_of(Changes *self, PyObject *signal) {
  PyObject *name = PyObject_Str(signal);
  if (name == NULL) return NULL;
  PyObject *bytes = PyDict_GetItemWithError(self->codes, name);
  Py_DECREF(name);
  if (bytes == NULL && !PyErr_Occurred()) PyErr_SetObject(PyExc_KeyError, signal);
  Py_XINCREF(bytes);
  return bytes;
}

/* The time of a call with a time, a signal and a value. */
static int take_time(PyObject *const *args, Py_ssize_t n, uint64_t *time) {
  if (n != 3) {
    PyErr_SetString(PyExc_TypeError, "a time, a signal and a value are needed");
    return -1;
  }
  *time = PyLong_AsUnsignedLongLong(args[0]);
  return *time == UINT64_MAX && PyErr_Occurred() ? -1 : 0;
}

/* Writes a change with the code of its signal. */
static int write_change(Changes *self, uint64_t time, PyObject *bytes, PyObject *value) {
  char *code = NULL;
  Py_ssize_t n = 0;
  if (PyBytes_AsStringAndSize(bytes, &code, &n) < 0) return -1;
  if (n > 64) {
    PyErr_SetString(PyExc_ValueError, "a code of more than 64 bytes");
    return -1;
  }
  if (self->n_text >= TEXT - MOST_ITEM && hand_on(self) < 0) return -1;
  const size_t from = self->n_text;
  const uint64_t now = self->now;
  const int begun = self->begun;
  if (!begun || time != now) put_time(self, time);
  if (n > 0 && code[0] == ' ') put_char(self, 'b');
  if (put_value(self, value) < 0) { /* what was begun is taken back, unless it was handed on */
    if (self->n_text >= from) {
      self->n_text = from;
      self->now = now;
      self->begun = begun;
    }
    return -1;
  }
  memcpy(self->text + self->n_text, code, (size_t)n);
  self->n_text += (size_t)n;
  put_char(self, '\n');
  return 0;
}

static PyObject *changes_change(PyObject *object, PyObject *const *args, Py_ssize_t n_args) {
  Changes *self = (Changes *)object;
  uint64_t time = 0;
  if (take_time(args, n_args, &time) < 0 || enter(self) < 0) return NULL;
  PyObject *code = code_of(self, args[1]);
  const int done = code == NULL ? -1 : write_change(self, time, code, args[2]);
  Py_XDECREF(code);
  return leave(self, done);
}

/* ---- edges ------------------------------------------------------------------------------------
 */

static int hand_on_rises(Changes *self) {
  const size_t n = self->n_rise;
  self->n_rise = 0;
  if (n == 0) return 0;
  PyObject *done = PyObject_CallMethod(self->capture, "rises", "Oy#", self->row,
                                       (const char *)self->rise,
                                       (Py_ssize_t)(n * sizeof *self->rise));
  Py_XDECREF(done);
  return done == NULL ? -1 : 0;
}

static PyObject *changes_edge(PyObject *object, PyObject *const *args, Py_ssize_t n_args) {
  Changes *self = (Changes *)object;
  uint64_t time = 0;
  int done = 0;
  if (take_time(args, n_args, &time) < 0) return NULL;
  if (self->row == NULL) {
    PyErr_SetString(PyExc_ValueError, "an edge of no clock: call clock() before");
    return NULL;
  }
  if (enter(self) < 0) return NULL;
  const int before = self->level;
  if (time > self->last) self->last = time;
  self->level = -1; /* unknown */
  if (PyLong_Check(args[2])) self->level = PyObject_IsTrue(args[2]);
  if (self->level == 1 && before == 0) self->rise[self->n_rise++] = time;
  if (self->n_rise == RISES) done = hand_on_rises(self);
  return leave(self, done);
}

static PyObject *changes_clock(PyObject *object, PyObject *row) {
  Changes *self = (Changes *)object;
  if (enter(self) < 0) return NULL;
  const int done = hand_on_rises(self);
  if (done == 0) {
    PyObject *before = self->row;
    Py_INCREF(row);
    self->row = row;
    self->level = -1;
    Py_XDECREF(before);
  }
  return leave(self, done);
}

static PyObject *changes_flush(PyObject *object, PyObject *unused) {
  Changes *self = (Changes *)object;
  (void)unused;
  if (enter(self) < 0) return NULL;
  if (self->last > self->now) put_time(self, self->last);
  return leave(self, hand_on_rises(self) < 0 || hand_on(self) < 0 ? -1 : 0);
}

static PyMethodDef changes_methods[] = {
    {"change", (PyCFunction)(void (*)(void))changes_change, METH_FASTCALL,
     "change($self, time, signal, value, /)\n--\n\nA change of a signal in the order of time, for "
     "Capture.feed: `value` is an int or a str of levels."},
    {"edge", (PyCFunction)(void (*)(void))changes_edge, METH_FASTCALL,
     "edge($self, time, signal, value, /)\n--\n\nA level of the clock that `clock` named, for "
     "Capture.rises."},
    {"clock", changes_clock, METH_O,
     "clock($self, row, /)\n--\n\nThe row in \"signals\" of the clock whose levels come next."},
    {"flush", changes_flush, METH_NOARGS, "flush($self, /)\n--\n\nHand on all that is left."},
    {NULL, NULL, 0, NULL}};

static PyType_Slot changes_slots[] = {
    {Py_tp_doc,
     "Changes(capture, codes)\n--\n\n"
     "Callbacks for readers that tell changes one by one. `codes`: of each str(signal) the "
     "identifier in "
     "the\nVCD head that the capture was fed with, as bytes, behind a blank for a vector."},
    {Py_tp_new, (void *)(uintptr_t)changes_new},
    {Py_tp_dealloc, (void *)(uintptr_t)changes_dealloc},
    {Py_tp_methods, changes_methods},
    {0, NULL}};

static PyType_Spec changes_spec = {.name = "tickgauge._core.Changes",
                                   .basicsize = sizeof(Changes),
                                   .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
                                   .slots = changes_slots};

int tg_py_add_sink(PyObject *module) {
  PyObject *type = PyType_FromModuleAndSpec(module, &changes_spec, NULL);
  if (type == NULL) return -1;
  const int result = PyModule_AddObjectRef(module, "Changes", type);
  Py_DECREF(type);
  return result;
}

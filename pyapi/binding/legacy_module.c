/* legacy_module.c - _tickgauge_legacy: the drop-in's reader, without NumPy and the package.
 * SPDX-License-Identifier: BSD-3-Clause */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "legacy_ahead.h"
#include "tickgauge/legacy.h"

enum {
  CHUNK = 64 * 1024,      /* fits the second cache beside the kernel's copy */
  LARGE = 8 * 1024 * 1024 /* bytes from which on a file is read ahead */
};

/* Opens `path` for reading; a signal is handled and the call repeated. A descriptor, or -1 when the
 * file cannot be opened, or -2 with an exception set. */
static int open_log(const char *path) {
  for (;;) {
    int fd;
    Py_BEGIN_ALLOW_THREADS
    fd = open(path, O_RDONLY | O_CLOEXEC);
    Py_END_ALLOW_THREADS
    if (fd >= 0) return fd;
    if (errno != EINTR) return -1;
    if (PyErr_CheckSignals() != 0) return -2;
  }
}

/* Where the bytes come from: the file itself, or a reader ahead of us if it is large. */
typedef struct input {
  int fd;
  uint8_t *chunk;
  legacy_ahead *ahead;
} input;

/* 0, or -1 where there is no memory. */
static int input_open(input *in, int fd) {
  struct stat status;
  in->fd = fd;
  in->chunk = NULL;
  in->ahead = NULL;
  if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size >= LARGE) {
    in->ahead = legacy_ahead_new(fd);
  }
  if (in->ahead == NULL) in->chunk = malloc(CHUNK);
  return in->ahead == NULL && in->chunk == NULL ? -1 : 0;
}

static void input_close(input *in) {
  legacy_ahead_free(in->ahead);
  free(in->chunk);
}

/* The next bytes, and how many: 0 at the end, -1 with `*problem` set. */
static ssize_t input_next(input *in, const uint8_t **piece, int *problem) {
  if (in->ahead != NULL) return legacy_ahead_next(in->ahead, piece, problem);
  const ssize_t n = read(in->fd, in->chunk, CHUNK);
  *problem = errno;
  *piece = in->chunk;
  return n;
}

/* Hands the commands nobody knows to `unknown`, as a str of digits. */
static int tell_unknown(tg_legacy *log, PyObject *unknown) {
  const tg_str digits = tg_legacy_unknown(log);
  if (digits.n == 0) return 0;
  PyObject *answer = PyObject_CallFunction(unknown, "s#", (const char *)digits.p,
                                           (Py_ssize_t)digits.n);
  tg_legacy_clear_unknown(log);
  if (answer == NULL) return -1;
  Py_DECREF(answer);
  return 0;
}

/* Reads `fd` to its end. 1 when all could be read, 0 when not, -1 with an exception set. */
static int read_log(int fd, tg_legacy *log, PyObject *unknown) {
  int result = -1;
  input in;
  if (input_open(&in, fd) != 0) {
    PyErr_NoMemory();
    return -1;
  }
  for (;;) {
    tg_status status = TG_OK;
    const uint8_t *piece;
    ssize_t n;
    int problem;
    if (PyErr_CheckSignals() != 0) break;
    Py_BEGIN_ALLOW_THREADS
    n = input_next(&in, &piece, &problem);
    if (n > 0) status = tg_legacy_feed(log, piece, (size_t)n);
    if (n == 0) status = tg_legacy_finish(log);
    Py_END_ALLOW_THREADS
    if (status != TG_OK) {
      PyErr_NoMemory();
      break;
    }
    if (tell_unknown(log, unknown) != 0) break;
    if (n == 0) {
      result = 1;
      break;
    }
    if (n < 0 && problem != EINTR) {
      result = 0;
      break;
    }
  }
  input_close(&in);
  return result;
}

/* The values as a tuple of int, in the order of tg_legacy_value. */
static PyObject *values(const tg_legacy *log) {
  PyObject *tuple = PyTuple_New(TG_LEGACY_VALUES);
  if (tuple == NULL) return NULL;
  for (int i = 0; i < TG_LEGACY_VALUES; i++) {
    const tg_str digits = tg_legacy_digits(log, (tg_legacy_value)i);
    PyObject *text = digits.n == 0 ? PyUnicode_FromString("0")
                                   : PyUnicode_DecodeASCII((const char *)digits.p,
                                                           (Py_ssize_t)digits.n, NULL);
    PyObject *number =
        text == NULL ? NULL : PyLong_FromString(PyUnicode_AsUTF8AndSize(text, NULL), NULL, 16);
    Py_XDECREF(text);
    if (number == NULL) {
      Py_DECREF(tuple);
      return NULL;
    }
    PyTuple_SetItem(tuple, i, number);
  }
  return tuple;
}

PyDoc_STRVAR(read_doc,
             "read(path, unknown, /)\n--\n\n"
             "Read a log to its end.\n\n"
             "Returns ``(values, whole)``: the 18 values as int, in ticks (the first in Hz), and\n"
             "whether the file could be opened and read to its end. `unknown` is called with a\n"
             "str of digits, one per line with a command that is not known, as they come.\n"
             "Raises the exception of `unknown`, MemoryError, KeyboardInterrupt.");

static PyObject *legacy_read(PyObject *module, PyObject *args) {
  PyObject *path = NULL, *unknown, *result = NULL;
  tg_legacy *log = NULL;
  int fd = -1, whole = 0;
  (void)module;
  if (!PyArg_ParseTuple(args, "O&O:read", PyUnicode_FSConverter, &path, &unknown)) return NULL;
  if (tg_legacy_new(NULL, &log) != TG_OK) {
    PyErr_NoMemory();
    goto done;
  }
  fd = open_log(PyBytes_AsString(path));
  if (fd == -2) goto done;
  if (fd >= 0) whole = read_log(fd, log, unknown);
  if (whole < 0) goto done;
  result = values(log);
  if (result != NULL) result = Py_BuildValue("NO", result, whole ? Py_True : Py_False);
done:
  if (fd >= 0) close(fd);
  tg_legacy_free(log);
  Py_XDECREF(path);
  return result;
}

static PyMethodDef methods[] = {
    {"read", legacy_read, METH_VARARGS, read_doc},
    {NULL, NULL, 0, NULL},
};

/* Nothing is shared between interpreters, but the limited API of 3.11 has no slot to say so:
 * CPython then keeps the module to interpreters that share the GIL. */
static PyModuleDef_Slot slots[] = {{0, NULL}};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "_tickgauge_legacy",
    .m_doc = "The reader of performance_analysis.py.",
    .m_size = 0,
    .m_methods = methods,
    .m_slots = slots,
};

PyMODINIT_FUNC PyInit__tickgauge_legacy(void) { return PyModuleDef_Init(&definition); }

/* reader.c - _core.Reader.
 *
 * A Reader that one thread is using is refused to every other: the GIL is dropped around
 * parsing, and the core's handles are not for two threads.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "binding.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* Bytes between two looks for Ctrl-C: a few milliseconds of parsing. */
#define SLICE ((size_t)16 << 20)
/* Bytes of one read(2). */
#define BLOCK ((size_t)256 << 10)

/* ---- the reader ---- */

typedef struct {
  PyObject_HEAD
  tg_reader *reader;
  tg_py_ruleset *rules; /* owned; NULL once finished */
  tg_py_hold *hold;     /* of the core's rule set, until the end */
  uint8_t *block;       /* BLOCK bytes for feed_fd */
  int busy;             /* a thread is inside, without the GIL */
} Reader;

static PyObject *reader_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"rules",       "max_line",  "max_records", "max_problems",
                          "repair_uart", "keep_near", "max_label",   "prefix",
                          NULL};
  PyObject *module = PyType_GetModule(type);
  tg_py_ruleset *rules = NULL;
  uint64_t max_line = 0;
  uint64_t max_records = 0;
  uint64_t max_problems = 0;
  uint64_t max_label = 0;
  const char *prefix = NULL;
  int repair = 0;
  int near = 0;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!|$O&O&O&piO&z:Reader", names,
                                   tg_py_state_of(module)->ruleset_type, &rules, tg_py_u64,
                                   &max_line, tg_py_u64, &max_records, tg_py_u64, &max_problems,
                                   &repair, &near, tg_py_u64, &max_label, &prefix)) {
    return NULL;
  }
  if (rules->taken) {
    PyErr_SetString(PyExc_RuntimeError, "the rule set is in use by another reader");
    return NULL;
  }
  if (near < TG_KEEP_NONE || near > TG_KEEP_ALL) {
    PyErr_Format(PyExc_ValueError, "keep_near is 0, 1 or 2, not %d", near);
    return NULL;
  }
  tg_reader_options options = {max_line,    max_records,        max_problems,
                               repair != 0, (tg_keep_near)near, max_label,
                               prefix};
  tg_error err = {0};
  Reader *self = (Reader *)PyType_GenericAlloc(type, 0);
  if (self == NULL) return NULL;
  tg_status status = tg_reader_new(NULL, rules->set, &options, &self->reader, &err);
  if (status != TG_OK) {
    Py_DECREF(self);
    return tg_py_raise(module, status, &err, 0);
  }
  self->rules = (tg_py_ruleset *)Py_NewRef((PyObject *)rules);
  self->hold = tg_py_hold_get(rules->hold);
  rules->taken = 1;
  return (PyObject *)self;
}

static void reader_drop_rules(Reader *self) {
  if (self->rules != NULL) self->rules->taken = 0;
  Py_CLEAR(self->rules);
}

static void reader_dealloc(PyObject *object) {
  Reader *self = (Reader *)object;
  PyTypeObject *type = Py_TYPE(object);
  tg_reader_free(self->reader);
  reader_drop_rules(self);
  tg_py_hold_put(self->hold);
  free(self->block);
  PyObject_Free(object);
  Py_DECREF(type);
}

/* 0 where the reader may be used now, by this thread. */
static int reader_enter(Reader *self) {
  if (self->busy) {
    PyErr_SetString(PyExc_RuntimeError, "another thread is using this reader");
    return -1;
  }
  if (self->rules == NULL) {
    PyErr_SetString(PyExc_ValueError, "the reader is finished");
    return -1;
  }
  self->busy = 1;
  return 0;
}

static PyObject *reader_feed(PyObject *object, PyObject *data) {
  Reader *self = (Reader *)object;
  Py_buffer buffer;
  tg_error err = {0};
  tg_status status = TG_OK;
  if (PyObject_GetBuffer(data, &buffer, PyBUF_SIMPLE) < 0) return NULL;
  if (reader_enter(self) < 0) {
    PyBuffer_Release(&buffer);
    return NULL;
  }
  const uint8_t *p = buffer.buf;
  size_t left = (size_t)buffer.len;
  int stopped = 0;
  tg_py_stop look;
  tg_reader_stop(self->reader, tg_py_stop_new(&look));
  while (left > 0 && status == TG_OK && !stopped) {
    size_t n = left < SLICE ? left : SLICE;
    Py_BEGIN_ALLOW_THREADS
    status = tg_reader_feed(self->reader, p, n, &err);
    Py_END_ALLOW_THREADS
    p += n;
    left -= n;
    stopped = status == TG_EINTERRUPTED || PyErr_CheckSignals() < 0;
  }
  tg_reader_stop(self->reader, NULL);
  self->busy = 0;
  PyBuffer_Release(&buffer);
  if (stopped) return NULL;
  if (status != TG_OK) return tg_py_raise(PyType_GetModule(Py_TYPE(object)), status, &err, 0);
  Py_RETURN_NONE;
}

/* Reads and parses up to `want` bytes without the GIL; `*got` counts them. Returns errno of a
 * failed read(2), or 0 (also at the end of the file, then `*end` is set). */
static int pull(Reader *self, int fd, size_t want, size_t *got, int *end, tg_status *status,
                tg_error *err) {
  *got = 0;
  while (*got < want && *status == TG_OK) {
    size_t ask = want - *got < BLOCK ? want - *got : BLOCK;
    ssize_t n = read(fd, self->block, ask);
    if (n < 0) return errno;
    if (n == 0) {
      *end = 1;
      return 0;
    }
    *got += (size_t)n;
    *status = tg_reader_feed(self->reader, self->block, (size_t)n, err);
  }
  return 0;
}

static PyObject *reader_feed_fd(PyObject *object, PyObject *args) {
  Reader *self = (Reader *)object;
  int fd = -1;
  uint64_t max = SLICE;
  uint64_t total = 0;
  tg_error err = {0};
  tg_status status = TG_OK;
  int end = 0;
  int failed = 0;
  int stopped = 0;
  if (!PyArg_ParseTuple(args, "i|O&:feed_fd", &fd, tg_py_u64, &max)) return NULL;
  if (reader_enter(self) < 0) return NULL;
  if (self->block == NULL) self->block = malloc(BLOCK);
  if (self->block == NULL) {
    self->busy = 0;
    return PyErr_NoMemory();
  }
  tg_py_stop look;
  tg_reader_stop(self->reader, tg_py_stop_new(&look));
  while (total < max && !end && status == TG_OK && !stopped) {
    size_t want = max - total < SLICE ? (size_t)(max - total) : SLICE;
    size_t got = 0;
    Py_BEGIN_ALLOW_THREADS
    failed = pull(self, fd, want, &got, &end, &status, &err);
    Py_END_ALLOW_THREADS
    total += got;
    stopped = status == TG_EINTERRUPTED || PyErr_CheckSignals() < 0;
    if (failed != 0 && failed != EINTR) break;
  }
  tg_reader_stop(self->reader, NULL);
  self->busy = 0;
  if (stopped) return NULL;
  if (status != TG_OK) return tg_py_raise(PyType_GetModule(Py_TYPE(object)), status, &err, 0);
  if (failed != 0 && failed != EINTR) {
    errno = failed;
    return PyErr_SetFromErrno(PyExc_OSError);
  }
  return PyLong_FromUnsignedLongLong(total);
}

static PyObject *reader_finish(PyObject *object, PyObject *unused) {
  (void)unused;
  Reader *self = (Reader *)object;
  PyObject *module = PyType_GetModule(Py_TYPE(object));
  tg_records *records = NULL;
  tg_error err = {0};
  tg_status status = TG_OK;
  if (reader_enter(self) < 0) return NULL;
  Py_BEGIN_ALLOW_THREADS
  status = tg_reader_finish(self->reader, &records, &err);
  Py_END_ALLOW_THREADS
  self->busy = 0;
  PyObject *out = NULL;
  if (status == TG_OK) {
    out = tg_py_records_wrap(module, records, self->hold);
  } else {
    tg_records_free(records); /* handed over even where memory ended */
    tg_py_raise(module, status, &err, 0);
  }
  reader_drop_rules(self);
  return out;
}

static PyMethodDef reader_methods[] = {
    {"feed", reader_feed, METH_O,
     "feed($self, data, /)\n--\n\nThe next bytes of the source: any buffer, cut anywhere. Signals "
     "are looked "
     "for every 16 MiB:\nwhat a handler raises (KeyboardInterrupt) comes out, the bytes up to "
     "there "
     "are read, the others\nof `data` are not, and finish() gives the records so far."},
    {"feed_fd", reader_feed_fd, METH_VARARGS,
     "feed_fd($self, fd, max=16777216, /)\n--\n\nRead and parse up to `max` bytes of a file "
     "descriptor;\n"
     "gives how many there were, less than `max` at the end of the file. Ctrl-C is looked for at\n"
     "least every 16 MiB. All that was read before an OSError or a KeyboardInterrupt is kept."},
    {"finish", reader_finish, METH_NOARGS,
     "finish($self, /)\n--\n\nEnd the source; gives its Records. The rule set is free again."},
    {NULL, NULL, 0, NULL}};

static PyType_Slot reader_slots[] = {
    {Py_tp_new, (void *)(intptr_t)reader_new},
    {Py_tp_dealloc, (void *)(intptr_t)reader_dealloc},
    {Py_tp_methods, reader_methods},
    {Py_tp_doc,
     "Reader(rules, *, max_line=0, max_records=0, max_problems=0, repair_uart=False,\n"
     "       keep_near=0, max_label=0, prefix=None)\n--\n\nReads one source with a rule set, which "
     "serves "
     "one reader at a time. One thread at a time:\na call while another is under way is a "
     "RuntimeError and changes nothing."},
    {0, NULL}};

static PyType_Spec reader_spec = {
    .name = "tickgauge._core.Reader",
    .basicsize = sizeof(Reader),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = reader_slots,
};

int tg_py_add_reader(PyObject *module) {
  tg_py_state *state = tg_py_state_of(module);
  state->reader_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &reader_spec, NULL);
  if (state->reader_type == NULL) return -1;
  return PyModule_AddObjectRef(module, "Reader", (PyObject *)state->reader_type);
}

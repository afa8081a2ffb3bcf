/* reader.c - _core.Reader, _core.Records and reduce().
 *
 * A Reader that one thread is using is refused to every other: the GIL is dropped around
 * parsing, and the core's handles are not for two threads.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "binding.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include "topology.h"

/* Bytes between two looks for Ctrl-C: a few milliseconds of parsing. */
#define SLICE ((size_t)16 << 20)
/* Bytes of one read(2). */
#define BLOCK ((size_t)256 << 10)

/* ---- records ---- */

/* The records of a source and the rule set they refer to. */
typedef struct {
  tg_records *records;
  tg_py_hold *rules;
} Kept;

typedef struct {
  PyObject_HEAD
  tg_records *records;
  tg_py_hold *hold;
  int shared; /* a Table shows them: they stay as they are */
  int writing; /* a thread is in append(), without the GIL */
  int reading; /* so many threads read them without the GIL */
} Records;

static void release_records(void *object) {
  Kept *kept = object;
  tg_records_free(kept->records);
  tg_py_hold_put(kept->rules);
  free(kept);
}

/* Wraps records, which are freed when this fails. */
static PyObject *records_wrap(PyObject *module, tg_records *records, tg_py_hold *rules) {
  PyTypeObject *type = tg_py_state_of(module)->records_type;
  Kept *kept = malloc(sizeof *kept);
  if (kept == NULL) {
    tg_records_free(records);
    return PyErr_NoMemory();
  }
  kept->records = records;
  kept->rules = tg_py_hold_get(rules);
  tg_py_hold *hold = tg_py_hold_new(kept, release_records);
  if (hold == NULL) return NULL;
  Records *self = (Records *)PyType_GenericAlloc(type, 0);
  if (self == NULL) {
    tg_py_hold_put(hold);
    return NULL;
  }
  self->records = records;
  self->hold = hold;
  return (PyObject *)self;
}

/* The records of an object that no thread is changing; NULL with RuntimeError set. */
static tg_records *records_of(PyObject *self) {
  if (!((Records *)self)->writing) return ((Records *)self)->records;
  PyErr_SetString(PyExc_RuntimeError, "another thread is adding to these records");
  return NULL;
}

static void records_dealloc(PyObject *object) {
  PyTypeObject *type = Py_TYPE(object);
  tg_py_hold_put(((Records *)object)->hold);
  PyObject_Free(object);
  Py_DECREF(type);
}

static Py_ssize_t records_length(PyObject *self) {
  const tg_records *records = records_of(self);
  return records == NULL ? -1 : (Py_ssize_t)tg_records_count(records);
}

/* A core table of the records as a Table that keeps them alive. It is never written to. */
static PyObject *shared_table(PyObject *self, PyTypeObject *type, const tg_table *table) {
  ((Records *)self)->shared = 1;
  return tg_py_table(PyType_GetModule(type), (tg_table *)(intptr_t)table, ((Records *)self)->hold);
}

static PyObject *records_table(PyObject *self, PyTypeObject *type, PyObject *const *args,
                               Py_ssize_t n_args, PyObject *names) {
  const tg_records *records = records_of(self);
  size_t rule = 0;
  if (records == NULL) return NULL;
  if (n_args != 1 || names != NULL) {
    PyErr_SetString(PyExc_TypeError, "table(rule)");
    return NULL;
  }
  if (tg_py_find_rule(tg_records_rules(records), args[0], &rule) < 0) return NULL;
  return shared_table(self, type, tg_records_table(records, rule));
}

static PyObject *records_problems(PyObject *self, PyTypeObject *type, PyObject *const *args,
                                  Py_ssize_t n_args, PyObject *names) {
  (void)args;
  if (n_args != 0 || names != NULL) {
    PyErr_SetString(PyExc_TypeError, "problems()");
    return NULL;
  }
  const tg_records *records = records_of(self);
  return records == NULL ? NULL : shared_table(self, type, tg_records_problems(records));
}

static PyObject *records_near(PyObject *self, PyTypeObject *type, PyObject *const *args,
                              Py_ssize_t n_args, PyObject *names) {
  (void)args;
  if (n_args != 0 || names != NULL) {
    PyErr_SetString(PyExc_TypeError, "near()");
    return NULL;
  }
  const tg_records *records = records_of(self);
  return records == NULL ? NULL : shared_table(self, type, tg_records_near(records));
}

static PyObject *records_append(PyObject *self, PyTypeObject *type, PyObject *const *args,
                                Py_ssize_t n_args, PyObject *names) {
  tg_status status = TG_OK;
  PyObject *module = PyType_GetModule(type);
  if (n_args != 1 || names != NULL || !PyObject_TypeCheck(args[0], type)) {
    PyErr_SetString(PyExc_TypeError, "append(records)");
    return NULL;
  }
  if (((Records *)self)->shared) {
    PyErr_SetString(PyExc_RuntimeError, "a table of these records was handed out");
    return NULL;
  }
  Records *first = (Records *)self, *second = (Records *)args[0];
  if (records_of(self) == NULL || records_of(args[0]) == NULL) return NULL;
  if (first->reading > 0) {
    PyErr_SetString(PyExc_RuntimeError, "another thread is reading these records");
    return NULL;
  }
  first->writing = 1;
  second->reading++;
  Py_BEGIN_ALLOW_THREADS
  status = tg_records_append(first->records, second->records);
  Py_END_ALLOW_THREADS
  second->reading--;
  first->writing = 0;
  if (status == TG_OK) Py_RETURN_TRUE;
  if (status == TG_ECONFLICT) Py_RETURN_FALSE;
  return tg_py_raise(module, status, NULL, 0);
}

static PyObject *records_rules(PyObject *self, void *unused) {
  (void)unused;
  return tg_py_rule_names(tg_records_rules(((Records *)self)->records));
}

static PyObject *records_counts(PyObject *self, PyObject *unused) {
  (void)unused;
  const tg_records *records = records_of(self);
  if (records == NULL) return NULL;
  size_t n = tg_ruleset_count(tg_records_rules(records));
  PyObject *out = PyTuple_New((Py_ssize_t)n);
  for (size_t i = 0; out != NULL && i < n; i++) {
    const tg_table *table = tg_records_table(records, i);
    PyObject *count = PyLong_FromSize_t(table == NULL ? 0 : tg_table_rows(table));
    if (count == NULL) {
      Py_CLEAR(out);
      break;
    }
    PyTuple_SetItem(out, (Py_ssize_t)i, count);
  }
  return out;
}

static PyObject *records_ledger(PyObject *self, PyObject *unused) {
  (void)unused;
  const tg_records *records = records_of(self);
  if (records == NULL) return NULL;
  size_t n = tg_records_ledger_count(records);
  PyObject *out = PyList_New((Py_ssize_t)n);
  for (size_t i = 0; out != NULL && i < n; i++) {
    tg_ledger line = {.tag = {NULL, 0}};
    (void)tg_records_ledger(records, i, &line);
    PyObject *item =
        Py_BuildValue("(y#KKKK)", (const char *)line.tag.p, (Py_ssize_t)line.tag.n,
                      (unsigned long long)line.occurrences, (unsigned long long)line.used,
                      (unsigned long long)line.problems, (unsigned long long)line.further);
    if (item == NULL) {
      Py_CLEAR(out);
      break;
    }
    PyList_SetItem(out, (Py_ssize_t)i, item);
  }
  return out;
}

static PyObject *records_unread(PyObject *self, PyObject *unused) {
  (void)unused;
  const tg_records *records = records_of(self);
  size_t rule = SIZE_MAX;
  if (records == NULL) return NULL;
  const uint64_t n = tg_records_unread(records, &rule);
  const char *name = rule == SIZE_MAX ? "" : tg_ruleset_name(tg_records_rules(records), rule);
  return Py_BuildValue("(Ks)", (unsigned long long)n, name);
}

static PyObject *records_totals(PyObject *self, PyObject *unused) {
  (void)unused;
  const tg_records *records = records_of(self);
  if (records == NULL) return NULL;
  const tg_source_totals t = tg_records_totals(records);
  return Py_BuildValue("{s:K,s:K,s:K,s:K,s:K}", "bytes", (unsigned long long)t.bytes, "lines",
                       (unsigned long long)t.lines, "records", (unsigned long long)t.records,
                       "problems", (unsigned long long)t.problems, "prefixed",
                       (unsigned long long)t.prefixed);
}

#define METHOD(f) (PyCFunction)(void (*)(void))(f), METH_METHOD | METH_FASTCALL | METH_KEYWORDS

static PyMethodDef records_methods[] = {
    {"table", METHOD(records_table), "table(rule)\n--\n\nThe records of one rule as a Table."},
    {"problems", METHOD(records_problems), "problems()\n--\n\nThe problems as a Table."},
    {"near", METHOD(records_near),
     "near()\n--\n\nWhat came nearest to each rule, as a Table (empty without keep_near)."},
    {"append", METHOD(records_append),
     "append(later)\n--\n\nAdd the records of the later part of the same source, read by itself "
     "with equal rules.\nFalse where the two must be read as one: nothing was added. No table may "
     "have been asked\nfor before."},
    {"counts", records_counts, METH_NOARGS, "counts()\n--\n\nRecords of each rule, in order."},
    {"ledger", records_ledger, METH_NOARGS,
     "ledger()\n--\n\n(tag, occurrences, used, problems, further) of each tag."},
    {"unread", records_unread, METH_NOARGS,
     "unread()\n--\n\n(lines of the programs found that were not read, the rule with most of them)."},
    {"totals", records_totals, METH_NOARGS, "totals()\n--\n\nBytes, lines, records, problems."},
    {NULL, NULL, 0, NULL}};

static PyGetSetDef records_getset[] = {
    {"rules", records_rules, NULL, "Names of the rules, in order.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot records_slots[] = {{Py_tp_dealloc, (void *)(intptr_t)records_dealloc},
                                      {Py_sq_length, (void *)(intptr_t)records_length},
                                      {Py_tp_methods, records_methods},
                                      {Py_tp_getset, records_getset},
                                      {Py_tp_doc,
                                       "What was read from one source. Threads may read it at the "
                                       "same time; while one is in append()\nevery other call on "
                                       "it is a RuntimeError, as is append() while one reads."},
                                      {0, NULL}};

static PyType_Spec records_spec = {
    .name = "tickgauge._core.Records",
    .basicsize = sizeof(Records),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = records_slots,
};

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
    out = records_wrap(module, records, self->hold);
  } else {
    tg_records_free(records); /* handed over even where memory ended */
    tg_py_raise(module, status, &err, 0);
  }
  reader_drop_rules(self);
  return out;
}

static PyMethodDef reader_methods[] = {
    {"feed", reader_feed, METH_O,
     "feed(data)\n--\n\nThe next bytes of the source: any buffer, cut anywhere. Signals are looked "
     "for every 16 MiB:\nwhat a handler raises (KeyboardInterrupt) comes out, the bytes up to there "
     "are read, the others\nof `data` are not, and finish() gives what was read."},
    {"feed_fd", reader_feed_fd, METH_VARARGS,
     "feed_fd(fd, max=16777216)\n--\n\nRead and parse up to `max` bytes of a file descriptor;\n"
     "gives how many there were, less than `max` at the end of the file. Ctrl-C is looked for at\n"
     "least every 16 MiB. What was read before an OSError or a KeyboardInterrupt is kept."},
    {"finish", reader_finish, METH_NOARGS,
     "finish()\n--\n\nEnd the source; gives its Records. The rule set is free again."},
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

/* ---- reduction ---- */

static void release_result(void *result) { tg_result_free(result); }

/* All tables of a result by name; `hold` keeps them alive. */
static PyObject *tables_of(PyObject *module, tg_result *result, tg_py_hold *hold) {
  PyObject *out = PyDict_New();
  for (size_t i = 0; out != NULL && i < tg_result_count(result); i++) {
    const char *name = tg_result_name(result, i);
    PyObject *table = tg_py_table(module, tg_result_get(result, name), hold);
    if (table == NULL || PyDict_SetItemString(out, name, table) < 0) Py_CLEAR(out);
    Py_XDECREF(table);
  }
  return out;
}

/* Puts what the tables do not show into the caller's dict. */
static int tell(PyObject *told, uint64_t left_out) {
  PyObject *count = PyLong_FromUnsignedLongLong(left_out);
  const int failed = count == NULL || PyDict_SetItemString(told, "left_out", count) < 0;
  Py_XDECREF(count);
  return failed ? -1 : 0;
}

static PyObject *reduce(PyObject *module, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"sources",  "clock_hz", "tee_offset", "together",
                          "platform", "topology", "max_keys",   "told", NULL};
  PyObject *sources = NULL;
  PyObject *tee_offset = Py_None;
  uint64_t clock_hz = 0;
  int together = 0;
  const char *platform = NULL;
  PyObject *platforms = Py_None;
  PyObject *told = Py_None;
  uint64_t max_keys = 0;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|$O&OpzOO&O:reduce", names, &sources, tg_py_u64,
                                   &clock_hz, &tee_offset, &together, &platform, &platforms,
                                   tg_py_u64, &max_keys, &told)) {
    return NULL;
  }
  if (told != Py_None && !PyDict_Check(told)) {
    PyErr_SetString(PyExc_TypeError, "told is a dict");
    return NULL;
  }
  tg_reduce_options options = {.clock_hz = clock_hz,
                               .together = together != 0,
                               .platform = platform,
                               .max_keys = max_keys};
  if (tee_offset != Py_None) {
    options.tee_offset = PyLong_AsLongLong(tee_offset);
    options.have_tee_offset = true;
    if (options.tee_offset == -1 && PyErr_Occurred()) return NULL;
  }
  PyObject *items = PySequence_Tuple(sources);
  if (items == NULL) return NULL;
  size_t n = (size_t)PyTuple_Size(items);
  PyObject *out = NULL;
  tg_result *result = NULL;
  tg_error err = {0};
  tg_status status = TG_OK;
  tg_py_topology *topology = NULL;
  const tg_records **records = PyMem_Calloc(n + 1, sizeof *records);
  if (records == NULL) {
    PyErr_NoMemory();
    goto done;
  }
  if (platforms != Py_None) {
    topology = tg_py_topology_new(platforms);
    if (topology == NULL) goto done;
  }
  options.topology = tg_py_topology_get(topology);
  for (size_t i = 0; i < n; i++) {
    PyObject *item = PyTuple_GetItem(items, (Py_ssize_t)i);
    if (!PyObject_TypeCheck(item, tg_py_state_of(module)->records_type)) {
      tg_py_wrong_type("expected %s, got %U", "Records", item);
      goto done;
    }
    records[i] = records_of(item);
    if (records[i] == NULL) goto done;
  }
  for (size_t i = 0; i < n; i++) ((Records *)PyTuple_GetItem(items, (Py_ssize_t)i))->reading++;
  tg_reduce_in in = {.sources = records, .n_sources = n, .options = &options};
  tg_py_stop look;
  options.stop = tg_py_stop_new(&look);
  Py_BEGIN_ALLOW_THREADS
  status = tg_reduce(NULL, &in, &result, &err);
  Py_END_ALLOW_THREADS
  for (size_t i = 0; i < n; i++) ((Records *)PyTuple_GetItem(items, (Py_ssize_t)i))->reading--;
  if (status != TG_OK) {
    tg_py_raise(module, status, &err, 0);
    goto done;
  }
  tg_py_hold *hold = tg_py_hold_new(result, release_result);
  if (hold == NULL) goto done;
  out = tables_of(module, result, hold);
  if (out != NULL && told != Py_None && tell(told, tg_result_left_out(result)) < 0) Py_CLEAR(out);
  tg_py_hold_put(hold);
done:
  tg_py_topology_free(topology);
  PyMem_Free((void *)records);
  Py_DECREF(items);
  return out;
}

static PyMethodDef functions[] = {
    {"reduce", (PyCFunction)(void (*)(void))reduce, METH_VARARGS | METH_KEYWORDS,
     "reduce(sources, *, clock_hz=0, tee_offset=None, together=False, platform=None,\n"
     "       topology=None, max_keys=0, told=None)\n--\n\n"
     "Boots, then every format that has records: a dict of Tables. "
     "The sources are the Records of\n"
     "one console, or of several consoles of the same boots with `together`. `topology` is a\n"
     "sequence of platforms (name, names, clock_hz, cpus, linear, maps). Several threads may\n"
     "reduce the same Records. KeyboardInterrupt (whatever a signal's handler raises) ends it.\n"
     "`told`, a dict, gets `left_out`: the readings of keys beyond `max_keys`."},
    {NULL, NULL, 0, NULL}};

int tg_py_add_reader(PyObject *module) {
  tg_py_state *state = tg_py_state_of(module);
  struct {
    const char *name;
    PyType_Spec *spec;
    PyTypeObject **slot;
  } made[] = {
      {"Records", &records_spec, &state->records_type},
      {"Reader", &reader_spec, &state->reader_type},
  };
  for (size_t i = 0; i < sizeof made / sizeof made[0]; i++) {
    *made[i].slot = (PyTypeObject *)PyType_FromModuleAndSpec(module, made[i].spec, NULL);
    if (*made[i].slot == NULL) return -1;
    if (PyModule_AddObjectRef(module, made[i].name, (PyObject *)*made[i].slot) < 0) return -1;
  }
  return PyModule_AddFunctions(module, functions);
}

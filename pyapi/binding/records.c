/* records.c - _core.Records: the records of a source. SPDX-License-Identifier: BSD-3-Clause */
#include "binding.h"

#include <stdlib.h>

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

PyObject *tg_py_records_wrap(PyObject *module, tg_records *records, tg_py_hold *rules) {
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

const tg_records *tg_py_records_enter(PyObject *module, PyObject *object) {
  if (!PyObject_TypeCheck(object, tg_py_state_of(module)->records_type)) {
    tg_py_wrong_type("expected %s, got %U", "Records", object);
    return NULL;
  }
  const tg_records *records = records_of(object);
  if (records != NULL) ((Records *)object)->reading++;
  return records;
}

void tg_py_records_leave(PyObject *object) { ((Records *)object)->reading--; }

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
    {"table", METHOD(records_table),
     "table($self, rule, /)\n--\n\nThe records of one rule as a Table."},
    {"problems", METHOD(records_problems), "problems($self, /)\n--\n\nThe problems as a Table."},
    {"near", METHOD(records_near),
     "near($self, /)\n--\n\nWhat came nearest to each rule, as a Table (empty without keep_near)."},
    {"append", METHOD(records_append),
     "append($self, later, /)\n--\n\nAdd the records of the later part of the same source, read by "
     "itself "
     "with equal rules.\nFalse where the two must be read as one: nothing was added. No table may "
     "have been asked\nfor before."},
    {"counts", records_counts, METH_NOARGS,
     "counts($self, /)\n--\n\nRecords of each rule, in order."},
    {"ledger", records_ledger, METH_NOARGS,
     "ledger($self, /)\n--\n\n(tag, occurrences, used, problems, further) of each tag."},
    {"unread", records_unread, METH_NOARGS,
     "unread($self, /)\n--\n\n(lines of the programs found that were not read, the rule with most "
     "of them)."},
    {"totals", records_totals, METH_NOARGS,
     "totals($self, /)\n--\n\nBytes, lines, records, problems."},
    {NULL, NULL, 0, NULL}};

static PyGetSetDef records_getset[] = {
    {"rules", records_rules, NULL, "Names of the rules, in order.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot records_slots[] = {{Py_tp_dealloc, (void *)(intptr_t)records_dealloc},
                                      {Py_sq_length, (void *)(intptr_t)records_length},
                                      {Py_tp_methods, records_methods},
                                      {Py_tp_getset, records_getset},
                                      {Py_tp_doc,
                                       "The records of one source. Threads may read it at the "
                                       "same time; while one is in append()\nevery other call on "
                                       "it is a RuntimeError, as is append() while one reads."},
                                      {0, NULL}};

static PyType_Spec records_spec = {
    .name = "tickgauge._core.Records",
    .basicsize = sizeof(Records),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = records_slots,
};

int tg_py_add_records(PyObject *module) {
  tg_py_state *state = tg_py_state_of(module);
  state->records_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &records_spec, NULL);
  if (state->records_type == NULL) return -1;
  return PyModule_AddObjectRef(module, "Records", (PyObject *)state->records_type);
}

/* reduce.c - reduce(): the records of sources to tables.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "binding.h"
#include "topology.h"

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

/* Puts figures that the tables do not show into the caller's dict. */
static int tell(PyObject *told, uint64_t left_out) {
  PyObject *count = PyLong_FromUnsignedLongLong(left_out);
  const int failed = count == NULL || PyDict_SetItemString(told, "left_out", count) < 0;
  Py_XDECREF(count);
  return failed ? -1 : 0;
}

/* The arguments of one reduction; `records` and `topology` are owned. */
typedef struct request {
  PyObject *items; /* a tuple of Records */
  const tg_records **records;
  size_t entered; /* so many records are marked as being read */
  tg_py_topology *topology;
  tg_reduce_options options;
} request;

static void request_clear(request *r) {
  while (r->entered > 0) tg_py_records_leave(PyTuple_GetItem(r->items, (Py_ssize_t)--r->entered));
  tg_py_topology_free(r->topology);
  PyMem_Free((void *)r->records);
  Py_CLEAR(r->items);
}

/* Takes the sources, the platforms and the offset; -1 with an exception set. */
static int request_fill(request *r, PyObject *module, PyObject *sources, PyObject *platforms,
                        PyObject *tee_offset) {
  if (tee_offset != Py_None) {
    r->options.tee_offset = PyLong_AsLongLong(tee_offset);
    r->options.have_tee_offset = true;
    if (r->options.tee_offset == -1 && PyErr_Occurred()) return -1;
  }
  if ((r->items = PySequence_Tuple(sources)) == NULL) return -1;
  const size_t n = (size_t)PyTuple_Size(r->items);
  r->records = PyMem_Calloc(n + 1, sizeof *r->records);
  if (r->records == NULL) {
    PyErr_NoMemory();
    return -1;
  }
  if (platforms != Py_None && (r->topology = tg_py_topology_new(platforms)) == NULL) return -1;
  r->options.topology = tg_py_topology_get(r->topology);
  for (; r->entered < n; r->entered++) {
    PyObject *item = PyTuple_GetItem(r->items, (Py_ssize_t)r->entered);
    if ((r->records[r->entered] = tg_py_records_enter(module, item)) == NULL) return -1;
  }
  return 0;
}

/* Reduces without the GIL: a dict of the tables. */
static PyObject *request_run(request *r, PyObject *module, PyObject *told) {
  const tg_reduce_in in = {.sources = r->records, .n_sources = r->entered, .options = &r->options};
  tg_result *result = NULL;
  tg_error err = {0};
  tg_status status = TG_OK;
  tg_py_stop look;
  r->options.stop = tg_py_stop_new(&look);
  Py_BEGIN_ALLOW_THREADS
  status = tg_reduce(NULL, &in, &result, &err);
  Py_END_ALLOW_THREADS
  if (status != TG_OK) return tg_py_raise(module, status, &err, 0);
  tg_py_hold *hold = tg_py_hold_new(result, release_result);
  if (hold == NULL) return NULL;
  PyObject *out = tables_of(module, result, hold);
  if (out != NULL && told != Py_None && tell(told, tg_result_left_out(result)) < 0) Py_CLEAR(out);
  tg_py_hold_put(hold);
  return out;
}

static PyObject *reduce(PyObject *module, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"sources",  "clock_hz", "tee_offset", "together", "platform",
                          "topology", "max_keys", "told",       NULL};
  PyObject *sources = NULL, *tee_offset = Py_None, *platforms = Py_None, *told = Py_None;
  PyObject *out = NULL;
  request r = {.items = NULL};
  int together = 0;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|$O&OpzOO&O:reduce", names, &sources, tg_py_u64,
                                   &r.options.clock_hz, &tee_offset, &together, &r.options.platform,
                                   &platforms, tg_py_u64, &r.options.max_keys, &told))
    return NULL;
  if (told != Py_None && !PyDict_Check(told)) {
    PyErr_SetString(PyExc_TypeError, "told is a dict");
    return NULL;
  }
  r.options.together = together != 0;
  if (request_fill(&r, module, sources, platforms, tee_offset) == 0)
    out = request_run(&r, module, told);
  request_clear(&r);
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

int tg_py_add_reduce(PyObject *module) { return PyModule_AddFunctions(module, functions); }

/* stack.c - tables of many sources below each other. SPDX-License-Identifier: BSD-3-Clause */
#include "binding.h"

#include "arrays.h"

enum { MOST_COLUMNS = 24 }; /* that are renumbered, one of them by a map */

/* Takes (column, by, map or None). */
static int take_renumber(arrays *a, PyObject *item, size_t n, tg_renumber *out) {
  PyObject *by = NULL, *map = NULL;
  Py_ssize_t col = 0;
  size_t numbers = 0;
  if (!PyTuple_Check(item)) {
    PyErr_SetString(PyExc_TypeError, "new numbers are a tuple (column, by, map)");
    return -1;
  }
  if (!PyArg_ParseTuple(item, "nOO;new numbers are (column, by, map)", &col, &by, &map)) return -1;
  *out = (tg_renumber){.col = (size_t)col, .by = tg_py_take(a, by, NPY_UINT64, &numbers)};
  if (out->by == NULL) return -1;
  if (numbers != n) {
    tg_py_lengths("stack");
    return -1;
  }
  if (map != Py_None && (out->map = tg_py_take(a, map, NPY_UINT32, &out->n_map)) == NULL) return -1;
  return 0;
}

static PyObject *stack(PyObject *module, PyObject *args) {
  PyObject *given, *renumber, *source, *result = NULL, *items = NULL, *numbers = NULL;
  if (!PyArg_ParseTuple(args, "OOO", &given, &renumber, &source)) return NULL;
  arrays a = {.n = 0};
  tg_renumber columns[MOST_COLUMNS];
  const tg_table **tables = NULL;
  tg_stack s = {.renumber = columns};
  size_t sources = 0;
  if ((items = PySequence_Tuple(given)) == NULL) goto done;
  if ((numbers = PySequence_Tuple(renumber)) == NULL) goto done;
  s.n = (size_t)PyTuple_Size(items);
  s.n_renumber = (size_t)PyTuple_Size(numbers);
  if (s.n_renumber > MOST_COLUMNS) {
    PyErr_Format(PyExc_ValueError, "new numbers for more than %d columns", MOST_COLUMNS);
    goto done;
  }
  if ((tables = PyMem_Calloc(s.n + 1, sizeof *tables)) == NULL) {
    PyErr_NoMemory();
    goto done;
  }
  s.tables = tables;
  for (size_t i = 0; i < s.n; i++) {
    tables[i] = tg_py_table_of(module, PyTuple_GetItem(items, (Py_ssize_t)i));
    if (tables[i] == NULL) goto done;
  }
  for (size_t i = 0; i < s.n_renumber; i++)
    if (take_renumber(&a, PyTuple_GetItem(numbers, (Py_ssize_t)i), s.n, &columns[i]) < 0) goto done;
  if (source != Py_None) {
    if ((s.source = tg_py_take(&a, source, NPY_UINT32, &sources)) == NULL) goto done;
    if (sources != s.n) {
      tg_py_lengths("stack");
      goto done;
    }
  }
  tg_table *table = NULL;
  tg_status status;
  Py_BEGIN_ALLOW_THREADS
  status = tg_table_stack(NULL, &s, &table);
  Py_END_ALLOW_THREADS
  result =
      status == TG_OK ? tg_py_table(module, table, NULL) : tg_py_raise(module, status, NULL, 0);
done:
  PyMem_Free(tables);
  Py_XDECREF(items);
  Py_XDECREF(numbers);
  tg_py_release(&a);
  return result;
}

static PyMethodDef methods[] = {
    {"stack", stack, METH_VARARGS,
     "stack(tables, renumber, source, /)\n--\n\n"
     "Put tables of the same columns below each other: a copy.\n\n"
     "Parameters\n----------\ntables : sequence of Table, at least one\n"
     "renumber : sequence of (int, ndarray of uint64, ndarray of uint32 or None)\n"
     "    The number of a column; `by`, one number a table, is added to its items; with `map`,\n"
     "    the sum is an index into it, and what stands there is the item.\n"
     "source : ndarray of uint32, shape (len(tables),), or None\n"
     "    Numbers for one more column, ``source``.\n\n"
     "Returns\n-------\nTable"},
    {NULL, NULL, 0, NULL}};

int tg_py_add_stack(PyObject *module) { return PyModule_AddFunctions(module, methods); }

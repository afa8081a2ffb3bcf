/* samples.c - readings grouped by key and unit, as NumPy arrays.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "arrays.h"

#include <string.h>

enum { MOST_COLUMNS = 16 };

/* A new array of the core's items, which stay the core's. */
static PyObject *copied(const void *items, size_t n, int typenum, size_t item) {
  npy_intp shape = (npy_intp)n;
  PyObject *out = PyArray_SimpleNew(1, &shape, typenum);
  if (out != NULL && n > 0) memcpy(PyArray_DATA((PyArrayObject *)out), items, n * item);
  return out;
}

static PyObject *new_array(size_t n, int typenum) {
  npy_intp shape = (npy_intp)n;
  return PyArray_SimpleNew(1, &shape, typenum);
}

static void *data_of(PyObject *array) { return PyArray_DATA((PyArrayObject *)array); }

/* Takes a column of ids: uint32 as it is, everything else as int64. */
static int take_ids(arrays *a, PyObject *object, tg_id_column *column, size_t *n) {
  const int narrow = PyArray_Check(object) && PyArray_TYPE((PyArrayObject *)object) == NPY_UINT32;
  column->wide = !narrow;
  column->ids = tg_py_take(a, object, narrow ? NPY_UINT32 : NPY_INT64, n);
  return column->ids != NULL ? 0 : -1;
}

static PyObject *codes(PyObject *module, PyObject *object) {
  tg_id_column columns[MOST_COLUMNS];
  arrays a = {.n = 0};
  uint32_t *first = NULL;
  size_t n = 0, n_codes = 0;
  PyObject *code = NULL, *out = NULL;
  PyObject *sequence = PySequence_Tuple(object);
  if (sequence == NULL) return NULL;
  const Py_ssize_t n_columns = PyTuple_Size(sequence);
  if (n_columns < 1 || n_columns > MOST_COLUMNS) {
    PyErr_Format(PyExc_ValueError, "codes: 1 to %d columns, not %zd", MOST_COLUMNS, n_columns);
    goto done;
  }
  for (Py_ssize_t c = 0; c < n_columns; c++) {
    size_t rows = 0;
    if (take_ids(&a, PyTuple_GetItem(sequence, c), &columns[c], &rows) < 0) goto done;
    if (c > 0 && rows != n) {
      tg_py_lengths("codes");
      goto done;
    }
    n = rows;
  }
  if ((code = new_array(n, NPY_UINT32)) == NULL) goto done;
  tg_py_stop look;
  const tg_stop *stop = tg_py_stop_new(&look);
  tg_status status;
  Py_BEGIN_ALLOW_THREADS
  status = tg_codes(NULL, stop, columns, (size_t)n_columns, n, data_of(code), &first, &n_codes);
  Py_END_ALLOW_THREADS
  if (status != TG_OK) {
    tg_py_raise(module, status, NULL, 0);
    goto done;
  }
  PyObject *rows_of = copied(first, n_codes, NPY_UINT32, sizeof *first);
  if (rows_of != NULL) out = Py_BuildValue("ON", code, rows_of);
done:
  tg_alloc_default()->release(NULL, first);
  Py_XDECREF(code);
  Py_DECREF(sequence);
  tg_py_release(&a);
  return out;
}

/* (value, weight or None, row, key_start, unit_start, unit) of a grouping. */
static PyObject *grouped(PyObject *module, const tg_ungrouped *in) {
  tg_groups groups = {NULL, NULL, 0};
  PyObject *out = NULL, *value = new_array(in->n, NPY_INT64), *row = new_array(in->n, NPY_UINT32);
  PyObject *weight = in->weight != NULL ? new_array(in->n, NPY_UINT64) : Py_NewRef(Py_None);
  PyObject *key_start = new_array(in->n_keys + 1, NPY_UINT64), *start = NULL, *unit = NULL;
  if (value == NULL || row == NULL || weight == NULL || key_start == NULL) goto done;
  tg_py_stop look;
  const tg_stop *stop = tg_py_stop_new(&look);
  tg_status status;
  Py_BEGIN_ALLOW_THREADS
  status = tg_group(NULL, stop, in, data_of(value), in->weight != NULL ? data_of(weight) : NULL,
                    data_of(row), data_of(key_start), &groups);
  Py_END_ALLOW_THREADS
  if (status != TG_OK) {
    tg_py_raise(module, status, NULL, 0);
    goto done;
  }
  start = copied(groups.start, groups.n + 1, NPY_UINT64, sizeof *groups.start);
  unit = copied(groups.unit, groups.n, NPY_UINT32, sizeof *groups.unit);
  const Py_ssize_t kept = (Py_ssize_t)groups.start[groups.n];
  tg_groups_free(NULL, &groups);
  if (start == NULL || unit == NULL) goto done;
  if ((size_t)kept < in->n) { /* readings were left out: their room at the end, too */
    PyObject **arrays_of[] = {&value, &row, &weight};
    for (size_t i = 0; i < (in->weight != NULL ? 3u : 2u); i++) {
      PyObject *part = PySequence_GetSlice(*arrays_of[i], 0, kept);
      if (part == NULL) goto done;
      PyObject *whole = *arrays_of[i];
      *arrays_of[i] = part;
      Py_DECREF(whole);
    }
  }
  out = PyTuple_Pack(6, value, weight, row, key_start, start, unit);
done:
  Py_XDECREF(value);
  Py_XDECREF(weight);
  Py_XDECREF(row);
  Py_XDECREF(key_start);
  Py_XDECREF(start);
  Py_XDECREF(unit);
  return out;
}

static PyObject *samples(PyObject *module, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"key", "unit", "value", "weight", "n_keys", "n_units", NULL};
  PyObject *key, *unit, *value, *weight = Py_None, *out = NULL;
  uint32_t n_keys = 0, n_units = 0;
  size_t units = 0, values = 0, weights = 0;
  arrays a = {.n = 0};
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOO|O$O&O&", names, &key, &unit, &value, &weight,
                                   tg_py_u32, &n_keys, tg_py_u32, &n_units))
    return NULL;
  tg_ungrouped in = {.n_keys = n_keys, .n_units = n_units};
  in.key = tg_py_take_copy(&a, key, NPY_UINT32, &in.n);
  if (in.key == NULL) goto done;
  if (unit != Py_None && (in.unit = tg_py_take_copy(&a, unit, NPY_UINT32, &units)) == NULL)
    goto done;
  if ((in.value = tg_py_take(&a, value, NPY_INT64, &values)) == NULL) goto done;
  if (weight != Py_None && (in.weight = tg_py_take(&a, weight, NPY_UINT64, &weights)) == NULL)
    goto done;
  if (values != in.n || (in.unit != NULL && units != in.n) ||
      (in.weight != NULL && weights != in.n))
    tg_py_lengths("samples");
  else
    out = grouped(module, &in);
done:
  tg_py_release(&a);
  return out;
}

/* Two arrays of the members of the pairs. */
static PyObject *split(const tg_count *pairs, size_t n, PyObject *start, PyObject *folded) {
  PyObject *out = NULL, *value = new_array(n, NPY_INT64), *count = new_array(n, NPY_UINT64);
  if (value != NULL && count != NULL) {
    int64_t *v = data_of(value);
    uint64_t *c = data_of(count);
    for (size_t i = 0; i < n; i++) {
      v[i] = pairs[i].value;
      c[i] = pairs[i].n;
    }
    out = PyTuple_Pack(4, value, count, start, folded);
  }
  Py_XDECREF(value);
  Py_XDECREF(count);
  return out;
}

static PyObject *count_groups(PyObject *module, PyObject *args) {
  PyObject *x, *w, *s, *out = NULL, *from = NULL, *folded = NULL;
  uint32_t most = 0;
  size_t n = 0, weights = 0, starts = 0;
  if (!PyArg_ParseTuple(args, "OOO|O&", &x, &w, &s, tg_py_u32, &most)) return NULL;
  arrays a = {.n = 0};
  tg_count *pairs = NULL;
  const uint64_t *weight = NULL, *start = NULL;
  const int64_t *value = tg_py_take(&a, x, NPY_INT64, &n);
  if (value == NULL) goto done;
  if (w != Py_None && (weight = tg_py_take(&a, w, NPY_UINT64, &weights)) == NULL) goto done;
  if ((start = tg_py_take_copy(&a, s, NPY_UINT64, &starts)) == NULL) goto done;
  int fits =
      starts > 0 && start[0] == 0 && start[starts - 1] == n && (weight == NULL || weights == n);
  for (size_t i = 1; fits && i < starts; i++) fits = start[i - 1] <= start[i];
  if (!fits) {
    tg_py_lengths("count_groups");
    goto done;
  }
  pairs = PyMem_Malloc((n + 1) * sizeof *pairs);
  from = new_array(starts, NPY_UINT64);
  folded = new_array(starts - 1, NPY_BOOL);
  if (pairs == NULL || from == NULL || folded == NULL) {
    PyErr_NoMemory();
    goto done;
  }
  tg_py_stop look;
  const tg_stop *stop = tg_py_stop_new(&look);
  tg_status status;
  Py_BEGIN_ALLOW_THREADS
  status = tg_count_groups(stop, value, weight, start, starts - 1, most, pairs, data_of(from),
                           data_of(folded));
  Py_END_ALLOW_THREADS
  if (status != TG_OK)
    tg_py_raise(module, status, NULL, 0);
  else
    out = split(pairs, (size_t)((uint64_t *)data_of(from))[starts - 1], from, folded);
done:
  PyMem_Free(pairs);
  Py_XDECREF(from);
  Py_XDECREF(folded);
  tg_py_release(&a);
  return out;
}

static PyMethodDef methods[] = {
    {"codes", codes, METH_O,
     "codes(columns, /)\n--\n\n"
     "Number the distinct rows of id columns in the order of the rows.\n\n"
     "Parameters\n----------\ncolumns : sequence of ndarray, shape (n,)\n"
     "    uint32 (2**32-1 is missing) or int64 (-1 is missing); missing comes first.\n\n"
     "Returns\n-------\ncode : ndarray of uint32, shape (n,)\n"
     "first : ndarray of uint32\n    The first row of each code."},
    {"samples", (PyCFunction)(void (*)(void))samples, METH_VARARGS | METH_KEYWORDS,
     "samples(key, unit, value, weight=None, *, n_keys, n_units=0)\n--\n\n"
     "Order readings by key, then unit: the form that compare, summarize and collapse take.\n\n"
     "Parameters\n----------\nkey : ndarray of uint32, shape (n,)\n"
     "    Below n_keys; 2**32-1 leaves a reading out.\n"
     "unit : ndarray of uint32, shape (n,), or None\n"
     "    Below n_units, as `codes` numbers them; None: each reading is a unit.\n"
     "value : ndarray of int64, shape (n,)\nweight : ndarray of uint64, shape (n,), optional\n\n"
     "Returns\n-------\nvalue, weight, row : ndarrays\n"
     "    In the new order (weight None where none was given); `row` is where each stood.\n"
     "key_start : ndarray of uint64, shape (n_keys + 1,)\n"
     "    Key k has the groups key_start[k] to key_start[k + 1].\n"
     "unit_start : ndarray of uint64\n"
     "    Group g has the readings unit_start[g] to unit_start[g + 1].\n"
     "unit : ndarray of uint32\n    The unit of each group."},
    {"count_groups", count_groups, METH_VARARGS,
     "count_groups(value, weight, unit_start, most=0, /)\n--\n\n"
     "Exact counts of each group of `samples`.\n\n"
     "Returns\n-------\nvalue : ndarray of int64\ncount : ndarray of uint64\n"
     "    Distinct values, rising, and how often each occurred.\n"
     "start : ndarray of uint64\n    Where the values of each group begin.\n"
     "folded : ndarray of bool\n"
     "    Groups with more than `most` distinct values (0: 65,536), folded onto a coarser grid."},
    {NULL, NULL, 0, NULL}};

int tg_py_add_samples(PyObject *module) { return PyModule_AddFunctions(module, methods); }

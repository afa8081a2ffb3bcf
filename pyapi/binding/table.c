/* table.c - _core.Table: a table of the core whose columns are NumPy views.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "binding.h"

#include <string.h>

typedef struct {
  PyObject_HEAD
  tg_table *table;
  tg_py_hold *hold;
} Table;

static void release_table(void *table) { tg_table_free(table); }

/* The name, NumPy type and item size of each tg_type. */
static const struct {
  const char *name;
  int typenum;
  size_t item;
} types[] = {
    [TG_U64] = {"u64", NPY_UINT64, 8}, [TG_I64] = {"i64", NPY_INT64, 8},
    [TG_U32] = {"u32", NPY_UINT32, 4}, [TG_F64] = {"f64", NPY_FLOAT64, 8},
    [TG_BOOL] = {"bool", NPY_BOOL, 1}, [TG_TEXT] = {"text", NPY_UINT32, 4},
};

PyObject *tg_py_table(PyObject *module, tg_table *table, tg_py_hold *hold) {
  PyTypeObject *type = tg_py_state_of(module)->table_type;
  hold = hold == NULL ? tg_py_hold_new(table, release_table) : tg_py_hold_get(hold);
  if (hold == NULL) return NULL;
  Table *self = (Table *)PyType_GenericAlloc(type, 0);
  if (self == NULL) {
    tg_py_hold_put(hold);
    return NULL;
  }
  self->table = table;
  self->hold = hold;
  return (PyObject *)self;
}

const tg_table *tg_py_table_of(PyObject *module, PyObject *object) {
  if (!PyObject_TypeCheck(object, tg_py_state_of(module)->table_type)) {
    tg_py_wrong_type("expected %s, got %U", "a _core.Table", object);
    return NULL;
  }
  return ((Table *)object)->table;
}

static void table_dealloc(PyObject *object) {
  Table *self = (Table *)object;
  PyTypeObject *type = Py_TYPE(object);
  tg_py_hold_put(self->hold);
  PyObject_Free(object);
  Py_DECREF(type);
}

static Py_ssize_t table_length(PyObject *self) {
  return (Py_ssize_t)tg_table_rows(((Table *)self)->table);
}

/* The view of the column with that name or index; -1 with KeyError or IndexError set. */
static int find_column(Table *self, PyObject *which, size_t *col, tg_column_view *view) {
  if (PyUnicode_Check(which)) {
    const char *name = tg_py_text(which, "the name of a column");
    if (name == NULL) return -1;
    if (tg_table_find(self->table, name, col) != TG_OK) {
      PyErr_SetObject(PyExc_KeyError, which);
      return -1;
    }
  } else {
    *col = PyLong_AsSize_t(which);
    if (*col == (size_t)-1 && PyErr_Occurred()) return -1;
  }
  if (tg_table_view(self->table, *col, view) != TG_OK) {
    PyErr_Format(PyExc_IndexError, "column %zu of %zu", *col, tg_table_cols(self->table));
    return -1;
  }
  return 0;
}

static PyObject *view_array(Table *self, const tg_column_view *view) {
  return tg_py_view(view->data, view->rows, types[view->type].typenum, (PyObject *)self);
}

static PyObject *table_column(PyObject *self, PyObject *which) {
  size_t col = 0;
  tg_column_view view;
  if (find_column((Table *)self, which, &col, &view) < 0) return NULL;
  return view_array((Table *)self, &view);
}

static PyObject *valid_array(Table *self, size_t col) {
  npy_intp rows = (npy_intp)tg_table_rows(self->table);
  PyArrayObject *array = (PyArrayObject *)PyArray_SimpleNew(1, &rows, NPY_BOOL);
  if (array == NULL) return NULL;
  uint8_t *out = PyArray_DATA(array);
  tg_status status = TG_OK;
  Py_BEGIN_ALLOW_THREADS
  status = tg_table_valid_bytes(self->table, col, out);
  Py_END_ALLOW_THREADS
  if (status != TG_OK) {
    Py_DECREF(array);
    PyErr_SetString(PyExc_IndexError, tg_status_text(status));
    return NULL;
  }
  PyArray_CLEARFLAGS(array, NPY_ARRAY_WRITEABLE);
  return (PyObject *)array;
}

static PyObject *table_valid(PyObject *self, PyObject *which) {
  size_t col = 0;
  tg_column_view view;
  if (find_column((Table *)self, which, &col, &view) < 0) return NULL;
  return valid_array((Table *)self, col);
}

/* The words of a text column as bytes objects, in code order; None for any other column. */
static PyObject *words_of(const tg_column_view *view) {
  if (view->dict == NULL) Py_RETURN_NONE;
  uint32_t n = tg_intern_count(view->dict);
  PyObject *words = PyTuple_New((Py_ssize_t)n);
  for (uint32_t i = 0; words != NULL && i < n; i++) {
    tg_str s = tg_intern_get(view->dict, i);
    PyObject *word = PyBytes_FromStringAndSize((const char *)s.p, (Py_ssize_t)s.n);
    if (word == NULL) {
      Py_CLEAR(words);
      break;
    }
    PyTuple_SetItem(words, (Py_ssize_t)i, word);
  }
  return words;
}

static PyObject *table_words(PyObject *self, PyObject *which) {
  size_t col = 0;
  tg_column_view view;
  if (find_column((Table *)self, which, &col, &view) < 0) return NULL;
  return words_of(&view);
}

static PyObject *get_mask(PyObject *self, void *unused) {
  (void)unused;
  const tg_table *table = ((Table *)self)->table;
  return tg_py_view(tg_table_valid(table), tg_table_rows(table), NPY_UINT64, self);
}

/* A tuple with one item a column, chosen by the closure: its name, its type's name, its
 * exponent. */
static PyObject *describe(PyObject *self, void *what) {
  const tg_table *table = ((Table *)self)->table;
  size_t n = tg_table_cols(table);
  PyObject *out = PyTuple_New((Py_ssize_t)n);
  for (size_t i = 0; out != NULL && i < n; i++) {
    tg_column_view view;
    PyObject *item = NULL;
    if (tg_table_view(table, i, &view) != TG_OK) {
      PyErr_SetString(PyExc_SystemError, "a column without a view");
    } else if ((intptr_t)what == 0) {
      item = PyUnicode_DecodeUTF8(view.name, (Py_ssize_t)strlen(view.name), "replace");
    } else if ((intptr_t)what == 1) {
      item = PyUnicode_FromString(types[view.type].name);
    } else {
      item = PyLong_FromLong(view.exp10);
    }
    if (item == NULL) {
      Py_CLEAR(out);
      break;
    }
    PyTuple_SetItem(out, (Py_ssize_t)i, item);
  }
  return out;
}

/* One column as table_from_columns takes it. */
static PyObject *column_spec(Table *self, size_t col) {
  tg_column_view view;
  if (tg_table_view(self->table, col, &view) != TG_OK) {
    PyErr_SetString(PyExc_SystemError, "a column without a view");
    return NULL;
  }
  PyObject *data = view_array(self, &view);
  PyObject *valid = data == NULL ? NULL : valid_array(self, col);
  PyObject *words = valid == NULL ? NULL : words_of(&view);
  PyObject *spec = NULL;
  if (words != NULL) {
    spec = Py_BuildValue("(s,s,i,O,O,O)", view.name, types[view.type].name, (int)view.exp10, data,
                         valid, words);
  }
  Py_XDECREF(data);
  Py_XDECREF(valid);
  Py_XDECREF(words);
  return spec;
}

static PyObject *table_reduce(PyObject *self, PyTypeObject *type, PyObject *const *args,
                              Py_ssize_t n_args, PyObject *names) {
  (void)args;
  (void)names;
  if (n_args != 0) {
    PyErr_SetString(PyExc_TypeError, "__reduce__ takes no argument");
    return NULL;
  }
  PyObject *module = PyType_GetModule(type);
  PyObject *make = module == NULL ? NULL : PyObject_GetAttrString(module, "table_from_columns");
  size_t n = tg_table_cols(((Table *)self)->table);
  PyObject *specs = make == NULL ? NULL : PyList_New((Py_ssize_t)n);
  for (size_t i = 0; specs != NULL && i < n; i++) {
    PyObject *spec = column_spec((Table *)self, i);
    if (spec == NULL) {
      Py_CLEAR(specs);
      break;
    }
    PyList_SetItem(specs, (Py_ssize_t)i, spec);
  }
  PyObject *out = specs == NULL ? NULL : Py_BuildValue("(O,(O))", make, specs);
  Py_XDECREF(specs);
  Py_XDECREF(make);
  return out;
}

/* The three Arrow exporters share their arguments: an optional requested schema, which the
 * protocol lets a producer disregard. */
static int arrow_args(PyObject *const *args, Py_ssize_t n_args, PyObject *names) {
  const Py_ssize_t named = names == NULL ? 0 : PyTuple_Size(names);
  (void)args;
  if (n_args + named <= 1 &&
      (named == 0 || PyUnicode_CompareWithASCIIString(PyTuple_GetItem(names, 0),
                                                      "requested_schema") == 0))
    return 0;
  PyErr_SetString(PyExc_TypeError, "takes at most one argument, requested_schema");
  return -1;
}

static PyObject *table_schema(PyObject *self, PyTypeObject *type, PyObject *const *args,
                              Py_ssize_t n_args, PyObject *names) {
  if (arrow_args(args, n_args, names) < 0) return NULL;
  return tg_py_arrow_schema(PyType_GetModule(type), ((Table *)self)->table);
}

static PyObject *table_array(PyObject *self, PyTypeObject *type, PyObject *const *args,
                             Py_ssize_t n_args, PyObject *names) {
  if (arrow_args(args, n_args, names) < 0) return NULL;
  return tg_py_arrow_array(PyType_GetModule(type), ((Table *)self)->table, ((Table *)self)->hold);
}

static PyObject *table_stream(PyObject *self, PyTypeObject *type, PyObject *const *args,
                              Py_ssize_t n_args, PyObject *names) {
  if (arrow_args(args, n_args, names) < 0) return NULL;
  return tg_py_arrow_stream(PyType_GetModule(type), ((Table *)self)->table, ((Table *)self)->hold);
}

#define METHOD(f) (PyCFunction)(void (*)(void))(f), METH_METHOD | METH_FASTCALL | METH_KEYWORDS

static PyMethodDef table_methods[] = {
    {"column", table_column, METH_O,
     "column($self, name, /)\n--\n\nThe column as a read-only array over the table's own memory, "
     "which it\n"
     "keeps alive. Text columns give codes (uint32) into words(name); the cell of a row\n"
     "without a value is not specified, see valid(name)."},
    {"valid", table_valid, METH_O,
     "valid($self, name, /)\n--\n\nWhich rows have a value in the column: a new boolean array."},
    {"words", table_words, METH_O,
     "words($self, name, /)\n--\n\nThe distinct words of a text column as bytes, in code order, or "
     "None."},
    {"__reduce__", METHOD(table_reduce), "Pickle as whole columns."},
    {"__arrow_c_schema__", METHOD(table_schema),
     "__arrow_c_schema__($self, /)\n--\n\nThe schema as an arrow_schema capsule."},
    {"__arrow_c_array__", METHOD(table_array),
     "__arrow_c_array__($self, requested_schema=None)\n--\n\nSchema and one struct array as "
     "capsules."},
    {"__arrow_c_stream__", METHOD(table_stream),
     "__arrow_c_stream__($self, requested_schema=None)\n--\n\nA stream of one batch as a capsule."},
    {NULL, NULL, 0, NULL}};

static PyGetSetDef table_getset[] = {
    {"names", describe, NULL, "Names of the columns: a tuple of str.", (void *)0},
    {"types", describe, NULL, "Types: 'u64' 'i64' 'u32' 'f64' 'bool' 'text'.", (void *)1},
    {"exponents", describe, NULL, "Powers of ten: value = stored * 10**exponent.", (void *)2},
    {"mask", get_mask, NULL, "One uint64 a row, bit c set = column c has a value.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot table_slots[] = {
    {Py_tp_dealloc, (void *)(intptr_t)table_dealloc},
    {Py_sq_length, (void *)(intptr_t)table_length},
    {Py_tp_methods, table_methods},
    {Py_tp_getset, table_getset},
    {Py_tp_doc,
     "A table of the core: typed columns of one length, read-only.\n\n"
     "Made by the core, or from arrays by table_from_columns()."},
    {0, NULL}};

/* Not a GC type: it refers to no Python object. */
static PyType_Spec table_spec = {
    .name = "tickgauge._core.Table",
    .basicsize = sizeof(Table),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = table_slots,
};

/* One spec of table_from_columns in C. Owned: data, valid, words, strs. */
typedef struct {
  PyObject *data;
  PyObject *valid;
  PyObject *words;
  tg_str *strs;
} Spec;

/* Takes the words of a text column: a sequence of bytes or str. `spec` owns their memory. */
static int take_words(PyObject *words, Spec *spec, tg_column_data *data) {
  spec->words = PySequence_Tuple(words);
  if (spec->words == NULL) return -1;
  Py_ssize_t n = PyTuple_Size(spec->words);
  spec->strs = PyMem_Calloc((size_t)n + 1, sizeof *spec->strs);
  if (spec->strs == NULL) {
    PyErr_NoMemory();
    return -1;
  }
  for (Py_ssize_t i = 0; i < n; i++) {
    PyObject *word = PyTuple_GetItem(spec->words, i);
    Py_ssize_t size = 0;
    const char *p = NULL;
    if (PyBytes_Check(word)) {
      p = PyBytes_AsString(word);
      size = PyBytes_Size(word);
    } else {
      p = PyUnicode_AsUTF8AndSize(word, &size);
    }
    if (p == NULL) return -1;
    spec->strs[i] = (tg_str){(const uint8_t *)p, (size_t)size};
  }
  data->words = spec->strs;
  data->n_words = (size_t)n;
  return 0;
}

/* A one-dimensional contiguous array of the type, converted safely, with `rows` items. */
static PyObject *take_array(PyObject *object, int typenum, Py_ssize_t *rows) {
  PyObject *array = PyArray_FROMANY(object, typenum, 1, 1, NPY_ARRAY_CARRAY_RO);
  if (array == NULL) return NULL;
  Py_ssize_t n = (Py_ssize_t)PyArray_SIZE((PyArrayObject *)array);
  if (*rows < 0) *rows = n;
  if (n == *rows) return array;
  PyErr_Format(PyExc_ValueError, "columns of %zd and %zd rows", *rows, n);
  Py_DECREF(array);
  return NULL;
}

/* Takes (name, type, exp10, data, valid, words). */
static int take_spec(PyObject *item, Spec *spec, tg_column_def *def, tg_column_data *out,
                     Py_ssize_t *rows) {
  const char *type = NULL;
  PyObject *data = NULL;
  PyObject *valid = NULL;
  PyObject *words = NULL;
  int exp10 = 0;
  size_t t = TG_U64;
  if (!PyTuple_Check(item)) {
    PyErr_SetString(PyExc_TypeError, "a column is a tuple (name, type, exp10, data, valid, words)");
    return -1;
  }
  if (!PyArg_ParseTuple(item, "ssiOOO;a column is (name, type, exp10, data, valid, words)",
                        &def->name, &type, &exp10, &data, &valid, &words)) {
    return -1;
  }
  while (t <= TG_TEXT && strcmp(types[t].name, type) != 0) t++;
  if (t > TG_TEXT) {
    PyErr_Format(PyExc_ValueError, "column %s: no type %s", def->name, type);
    return -1;
  }
  def->type = (tg_type)t;
  def->exp10 = exp10;
  spec->data = take_array(data, types[t].typenum, rows);
  if (spec->data == NULL) return -1;
  out->items = PyArray_DATA((PyArrayObject *)spec->data);
  if (valid != Py_None) {
    spec->valid = take_array(valid, NPY_BOOL, rows);
    if (spec->valid == NULL) return -1;
    out->valid = PyArray_DATA((PyArrayObject *)spec->valid);
  }
  return t == TG_TEXT ? take_words(words, spec, out) : 0;
}

static PyObject *table_from_columns(PyObject *module, PyObject *columns) {
  PyObject *items = PySequence_Tuple(columns);
  if (items == NULL) return NULL;
  Py_ssize_t n = PyTuple_Size(items);
  Py_ssize_t rows = -1;
  PyObject *result = NULL;
  tg_table *table = NULL;
  tg_error err = {0};
  tg_status status = TG_OK;
  Spec *specs = PyMem_Calloc((size_t)n + 1, sizeof *specs);
  tg_column_def *defs = PyMem_Calloc((size_t)n + 1, sizeof *defs);
  tg_column_data *data = PyMem_Calloc((size_t)n + 1, sizeof *data);
  if (specs == NULL || defs == NULL || data == NULL) {
    PyErr_NoMemory();
    goto done;
  }
  for (Py_ssize_t i = 0; i < n; i++) {
    if (take_spec(PyTuple_GetItem(items, i), &specs[i], &defs[i], &data[i], &rows) < 0) goto done;
  }
  Py_BEGIN_ALLOW_THREADS
  status =
      tg_table_from_columns(NULL, defs, data, (size_t)n, rows < 0 ? 0 : (size_t)rows, &table, &err);
  Py_END_ALLOW_THREADS
  if (status != TG_OK) {
    result = tg_py_raise(module, status, &err, 0);
  } else {
    result = tg_py_table(module, table, NULL);
  }
done:
  for (Py_ssize_t i = 0; specs != NULL && i < n; i++) {
    Py_XDECREF(specs[i].data);
    Py_XDECREF(specs[i].valid);
    Py_XDECREF(specs[i].words);
    PyMem_Free(specs[i].strs);
  }
  PyMem_Free(specs);
  PyMem_Free(defs);
  PyMem_Free(data);
  Py_DECREF(items);
  return result;
}

static PyMethodDef functions[] = {
    {"table_from_columns", table_from_columns, METH_O,
     "table_from_columns(columns, /)\n--\n\nA Table from (name, type, exp10, data, valid, words)\n"
     "tuples: data one-dimensional, valid a boolean array or None, words the distinct words of a\n"
     "text column (then data holds indices into them) or None. Everything is copied."},
    {NULL, NULL, 0, NULL}};

int tg_py_add_table(PyObject *module) {
  tg_py_state *state = tg_py_state_of(module);
  state->table_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &table_spec, NULL);
  if (state->table_type == NULL) return -1;
  if (PyModule_AddObjectRef(module, "Table", (PyObject *)state->table_type) < 0) return -1;
  return PyModule_AddFunctions(module, functions);
}

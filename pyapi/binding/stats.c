/* stats.c - statistics: arrays in, tables and tuples out. SPDX-License-Identifier: BSD-3-Clause */
#include "arrays.h"

/* (value, weight or None, unit_start, key_start, num, den, resolution[, boot]) -> tg_samples. The
 * starts are checked so far that the core stays inside the arrays. */
static int take_samples(arrays *a, PyObject *object, tg_samples *s) {
  PyObject *v, *w, *u, *k, *num, *den, *res, *boot = NULL;
  size_t values, weights, units, keys, scale[3], boots;
  if (!PyTuple_Check(object)) {
    PyErr_SetString(PyExc_TypeError, "samples: a tuple of seven or eight arrays is needed");
    return -1;
  }
  if (!PyArg_ParseTuple(object, "OOOOOOO|O;samples", &v, &w, &u, &k, &num, &den, &res, &boot))
    return -1;
  s->value = tg_py_take(a, v, NPY_INT64, &values);
  if (s->value == NULL) return -1;
  s->weight = NULL;
  if (w != Py_None) {
    s->weight = tg_py_take(a, w, NPY_UINT64, &weights);
    if (s->weight == NULL) return -1;
    if (weights != values) return tg_py_lengths("samples");
  }
  s->unit_start = tg_py_take_copy(a, u, NPY_UINT64, &units);
  if (s->unit_start == NULL) return -1;
  s->key_start = tg_py_take_copy(a, k, NPY_UINT64, &keys);
  if (s->key_start == NULL) return -1;
  s->num = tg_py_take_copy(a, num, NPY_UINT64, &scale[0]);
  if (s->num == NULL) return -1;
  s->den = tg_py_take_copy(a, den, NPY_UINT64, &scale[1]);
  if (s->den == NULL) return -1;
  s->resolution = tg_py_take_copy(a, res, NPY_UINT64, &scale[2]);
  if (s->resolution == NULL) return -1;
  if (keys == 0 || units == 0) return tg_py_lengths("samples");
  s->n_keys = keys - 1;
  s->boot = NULL;
  if (boot != NULL && boot != Py_None) {
    s->boot = tg_py_take(a, boot, NPY_UINT32, &boots);
    if (s->boot == NULL) return -1;
    if (boots != units - 1) return tg_py_lengths("samples");
  }
  for (int i = 0; i < 3; i++)
    if (scale[i] != s->n_keys) return tg_py_lengths("samples");
  if (s->key_start[s->n_keys] >= units || s->key_start[0] >= units ||
      s->unit_start[s->key_start[s->n_keys]] > values)
    return tg_py_lengths("samples");
  return 0;
}

/* An array of one value a key, or NULL for None; -1 with an exception. */
static int take_per_key(arrays *a, PyObject *object, int type, size_t keys, const char *name,
                        const void **out) {
  size_t n;
  *out = NULL;
  if (object == Py_None) return 0;
  *out = tg_py_take(a, object, type, &n);
  if (*out == NULL) return -1;
  return n == keys ? 0 : tg_py_lengths(name);
}

static PyObject *compare(PyObject *module, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"old",   "new",  "margin", "margin_abs", "alpha", "better",
                          "noise", "seed", "paired", "group",      NULL};
  PyObject *old, *fresh, *better = Py_None, *noise = Py_None, *group = Py_None, *out = NULL;
  PyObject *margin_abs = Py_None;
  tg_compare_options o = {.margin = 0.05, .alpha = 0.05, .seed = 1};
  unsigned long long seed = 1;
  int paired = 0;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|$dOdOOKpO", names, &old, &fresh, &o.margin,
                                   &margin_abs, &o.alpha, &better, &noise, &seed, &paired,
                                   &group))
    return NULL;
  arrays a = {.n = 0};
  tg_samples x, y, z;
  if (take_samples(&a, old, &x) < 0 || take_samples(&a, fresh, &y) < 0) goto done;
  if (noise != Py_None) {
    if (take_samples(&a, noise, &z) < 0) goto done;
    o.noise = &z;
  }
  if (take_per_key(&a, better, NPY_UINT8, x.n_keys, "better", (const void **)&o.better) < 0 ||
      take_per_key(&a, group, NPY_UINT32, x.n_keys, "group", (const void **)&o.group) < 0 ||
      take_per_key(&a, margin_abs, NPY_DOUBLE, x.n_keys, "margin_abs",
                   (const void **)&o.margin_abs) < 0)
    goto done;
  o.seed = seed;
  o.paired = paired != 0;
  tg_py_stop look;
  o.stop = tg_py_stop_new(&look);
  tg_table *table = NULL;
  tg_status status;
  Py_BEGIN_ALLOW_THREADS
  status = tg_compare(NULL, &x, &y, &o, &table);
  Py_END_ALLOW_THREADS
  out = status == TG_OK ? tg_py_table(module, table, NULL) : tg_py_raise(module, status, NULL, 0);
done:
  tg_py_release(&a);
  return out;
}

/* (table, {...}): the rows of the keys, and the run as a whole. */
static PyObject *gate_answer(PyObject *module, tg_table *table, const tg_gate_summary *s) {
  PyObject *rows = tg_py_table(module, table, NULL);
  if (rows == NULL) return NULL;
  PyObject *whole = Py_BuildValue(
      "{s:n,s:n,s:n,s:d,s:O,s:O,s:d,s:d,s:d}", "gated", (Py_ssize_t)s->gated, "boots_old",
      (Py_ssize_t)s->boots_old, "boots_new", (Py_ssize_t)s->boots_new, "arrangements",
      s->arrangements, "listed", s->listed ? Py_True : Py_False, "reached",
      s->reached ? Py_True : Py_False, "alpha_shift", s->alpha_shift, "alpha_tail", s->alpha_tail,
      "critical", s->critical);
  PyObject *out = whole != NULL ? PyTuple_Pack(2, rows, whole) : NULL;
  Py_DECREF(rows);
  Py_XDECREF(whole);
  return out;
}

static PyObject *gate(PyObject *module, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"old",    "new",          "margin", "margin_abs", "alpha",
                          "better", "confirm_from", "seed",   NULL};
  PyObject *old, *fresh, *better = Py_None, *margin_abs = Py_None, *out = NULL;
  tg_gate_options o = {.margin = 0.05, .alpha = 0.05, .seed = 1};
  unsigned long long seed = 1;
  unsigned int confirm_from = 0;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|$dOdOIK", names, &old, &fresh, &o.margin,
                                   &margin_abs, &o.alpha, &better, &confirm_from, &seed))
    return NULL;
  arrays a = {.n = 0};
  tg_samples x, y;
  if (take_samples(&a, old, &x) < 0 || take_samples(&a, fresh, &y) < 0) goto done;
  if (take_per_key(&a, better, NPY_UINT8, x.n_keys, "better", (const void **)&o.better) < 0 ||
      take_per_key(&a, margin_abs, NPY_DOUBLE, x.n_keys, "margin_abs",
                   (const void **)&o.margin_abs) < 0)
    goto done;
  o.seed = seed;
  o.confirm_from = confirm_from;
  tg_py_stop look;
  o.stop = tg_py_stop_new(&look);
  tg_gate_summary s;
  tg_table *table = NULL;
  tg_status status;
  Py_BEGIN_ALLOW_THREADS
  status = tg_gate(NULL, &x, &y, &o, &s, &table);
  Py_END_ALLOW_THREADS
  out = status == TG_OK ? gate_answer(module, table, &s) : tg_py_raise(module, status, NULL, 0);
done:
  tg_py_release(&a);
  return out;
}

static PyObject *drift(PyObject *module, PyObject *args) {
  PyObject *old, *fresh, *out = NULL;
  unsigned long long seed = 1;
  if (!PyArg_ParseTuple(args, "OO|K", &old, &fresh, &seed)) return NULL;
  arrays a = {.n = 0};
  tg_samples x, y;
  if (take_samples(&a, old, &x) == 0 && take_samples(&a, fresh, &y) == 0) {
    double statistic, p;
    tg_status status;
    tg_py_stop look;
    const tg_stop *stop = tg_py_stop_new(&look);
    Py_BEGIN_ALLOW_THREADS
    status = tg_drift(NULL, stop, &x, &y, seed, &statistic, &p);
    Py_END_ALLOW_THREADS
    out = status == TG_OK ? Py_BuildValue("(dd)", statistic, p)
                          : tg_py_raise(module, status, NULL, 0);
  }
  tg_py_release(&a);
  return out;
}

static PyObject *summarize(PyObject *module, PyObject *object) {
  arrays a = {.n = 0};
  tg_samples s;
  tg_table *table = NULL;
  tg_status status;
  PyObject *out = NULL;
  if (take_samples(&a, object, &s) == 0) {
    tg_py_stop look;
    const tg_stop *stop = tg_py_stop_new(&look);
    Py_BEGIN_ALLOW_THREADS
    status = tg_summarize(NULL, stop, &s, &table);
    Py_END_ALLOW_THREADS
    out = status == TG_OK ? tg_py_table(module, table, NULL) : tg_py_raise(module, status, NULL, 0);
  }
  tg_py_release(&a);
  return out;
}

static PyObject *collapse(PyObject *module, PyObject *object) {
  arrays a = {.n = 0};
  tg_samples s;
  PyObject *out = NULL;
  if (take_samples(&a, object, &s) == 0) {
    npy_intp units = s.key_start[s.n_keys] < s.key_start[0]
                         ? 0
                         : (npy_intp)(s.key_start[s.n_keys] - s.key_start[0]);
    out = PyArray_SimpleNew(1, &units, NPY_INT64);
    int64_t *to = out != NULL ? PyArray_DATA((PyArrayObject *)out) : NULL;
    tg_status status = TG_OK;
    if (out != NULL) {
      tg_py_stop look;
      const tg_stop *stop = tg_py_stop_new(&look);
      Py_BEGIN_ALLOW_THREADS
      status = tg_collapse(NULL, stop, &s, to);
      Py_END_ALLOW_THREADS
    }
    if (status != TG_OK) {
      Py_CLEAR(out);
      tg_py_raise(module, status, NULL, 0);
    }
  }
  tg_py_release(&a);
  return out;
}

/* (value, units, cores, num, den, step) -> tg_vectors. */
static int take_vectors(arrays *a, PyObject *object, tg_vectors *v) {
  PyObject *value, *units, *cores, *num, *den, *step;
  size_t values, n[5], left;
  if (!PyTuple_Check(object)) {
    PyErr_SetString(PyExc_TypeError, "vectors: a tuple of six arrays is needed");
    return -1;
  }
  if (!PyArg_ParseTuple(object, "OOOOOO;vectors", &value, &units, &cores, &num, &den, &step))
    return -1;
  v->value = tg_py_take(a, value, NPY_INT64, &values);
  if (v->value == NULL) return -1;
  v->units = tg_py_take_copy(a, units, NPY_UINT64, &n[0]);
  if (v->units == NULL) return -1;
  v->cores = tg_py_take_copy(a, cores, NPY_UINT64, &n[1]);
  if (v->cores == NULL) return -1;
  v->num = tg_py_take_copy(a, num, NPY_UINT64, &n[2]);
  if (v->num == NULL) return -1;
  v->den = tg_py_take_copy(a, den, NPY_UINT64, &n[3]);
  if (v->den == NULL) return -1;
  v->step = tg_py_take_copy(a, step, NPY_UINT64, &n[4]);
  if (v->step == NULL) return -1;
  v->n_groups = n[0];
  left = values;
  for (int i = 1; i < 5; i++)
    if (n[i] != n[0]) return tg_py_lengths("vectors");
  for (size_t g = 0; g < n[0]; g++) {
    if (v->units[g] != 0 && v->cores[g] > left / v->units[g]) return tg_py_lengths("vectors");
    left -= v->units[g] * v->cores[g];
  }
  return left == 0 ? 0 : tg_py_lengths("vectors");
}

static PyObject *compare_vectors(PyObject *module, PyObject *args) {
  PyObject *old, *fresh, *out = NULL;
  unsigned long long seed = 1;
  if (!PyArg_ParseTuple(args, "OO|K", &old, &fresh, &seed)) return NULL;
  arrays a = {.n = 0};
  tg_vectors x, y;
  tg_table *table = NULL;
  tg_status status;
  if (take_vectors(&a, old, &x) == 0 && take_vectors(&a, fresh, &y) == 0) {
    tg_py_stop look;
    const tg_stop *stop = tg_py_stop_new(&look);
    Py_BEGIN_ALLOW_THREADS
    status = tg_compare_vectors(NULL, stop, &x, &y, seed, &table);
    Py_END_ALLOW_THREADS
    out = status == TG_OK ? tg_py_table(module, table, NULL) : tg_py_raise(module, status, NULL, 0);
  }
  tg_py_release(&a);
  return out;
}

static PyObject *trend(PyObject *module, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"value",  "release",    "start", "num",  "den", "resolution",
                          "margin", "margin_abs", "group", "seed", NULL};
  PyObject *value, *release, *start, *num, *den, *res, *out = NULL;
  PyObject *margin_abs = Py_None, *group = Py_None;
  tg_trend_options o = {.margin = 0.1};
  unsigned long long seed = 1;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOOOOO|$dOOK", names, &value, &release, &start,
                                   &num, &den, &res, &o.margin, &margin_abs, &group, &seed))
    return NULL;
  arrays a = {.n = 0};
  tg_series s;
  size_t n[6];
  if ((s.value = tg_py_take(&a, value, NPY_INT64, &n[0])) == NULL ||
      (s.release = tg_py_take(&a, release, NPY_UINT32, &n[1])) == NULL ||
      (s.start = tg_py_take_copy(&a, start, NPY_UINT64, &n[2])) == NULL ||
      (s.num = tg_py_take_copy(&a, num, NPY_UINT64, &n[3])) == NULL ||
      (s.den = tg_py_take_copy(&a, den, NPY_UINT64, &n[4])) == NULL ||
      (s.resolution = tg_py_take_copy(&a, res, NPY_UINT64, &n[5])) == NULL)
    goto done;
  if (n[0] != n[1] || n[2] == 0 || n[3] != n[2] - 1 || n[4] != n[3] || n[5] != n[3] ||
      s.start[n[3]] > n[0]) {
    tg_py_lengths("series");
    goto done;
  }
  s.n_keys = n[3];
  if (take_per_key(&a, group, NPY_UINT32, n[3], "group", (const void **)&o.group) < 0 ||
      take_per_key(&a, margin_abs, NPY_DOUBLE, n[3], "margin_abs",
                   (const void **)&o.margin_abs) < 0)
    goto done;
  tg_table *series = NULL, *steps = NULL;
  tg_status status;
  tg_py_stop look;
  o.seed = seed;
  o.stop = tg_py_stop_new(&look);
  Py_BEGIN_ALLOW_THREADS
  status = tg_trend(NULL, &s, &o, &series, &steps);
  Py_END_ALLOW_THREADS
  if (status != TG_OK) {
    tg_py_raise(module, status, NULL, 0);
    goto done;
  }
  PyObject *first = tg_py_table(module, series, NULL), *second = NULL;
  if (first != NULL)
    second = tg_py_table(module, steps, NULL);
  else
    tg_table_free(steps);
  if (second != NULL) out = PyTuple_Pack(2, first, second);
  Py_XDECREF(first);
  Py_XDECREF(second);
done:
  tg_py_release(&a);
  return out;
}

static PyMethodDef methods[] = {
    {"compare", (PyCFunction)(void (*)(void))compare, METH_VARARGS | METH_KEYWORDS,
     "All keys of two sides: one row each."},
    {"gate", (PyCFunction)(void (*)(void))gate, METH_VARARGS | METH_KEYWORDS,
     "One decision over all keys: (rows, the run as a whole)."},
    {"drift", drift, METH_VARARGS, "Statistic and p of a drift in the order of boots."},
    {"summarize", summarize, METH_O, "All keys of one side: one row each."},
    {"collapse", collapse, METH_O, "One value per unit: the lower median of its readings."},
    {"compare_vectors", compare_vectors, METH_VARARGS, "Groups of interchangeable cpus."},
    {"trend", (PyCFunction)(void (*)(void))trend, METH_VARARGS | METH_KEYWORDS,
     "Series over releases: (series, steps)."},
    {NULL, NULL, 0, NULL}};

int tg_py_add_stats(PyObject *module) { return PyModule_AddFunctions(module, methods); }

/* stats.c - statistics: arrays in, tables and tuples out. SPDX-License-Identifier: BSD-3-Clause */
#include "binding.h"

#define MOST_ARRAYS 24

/* The arrays that the arguments of one call became; all are let go together. */
typedef struct arrays {
  PyArrayObject *held[MOST_ARRAYS];
  size_t n;
} arrays;

static void release_arrays(arrays *a) {
  for (size_t i = 0; i < a->n; i++) Py_DECREF(a->held[i]);
  a->n = 0;
}

/* A contiguous one-dimensional array of `type`; only casts that lose nothing. */
static const void *take(arrays *a, PyObject *object, int type, size_t *len) {
  if (a->n == MOST_ARRAYS) {
    PyErr_SetString(PyExc_SystemError, "too many arrays in one call");
    return NULL;
  }
  PyArrayObject *array = (PyArrayObject *)PyArray_FROMANY(object, type, 1, 1, NPY_ARRAY_IN_ARRAY);
  if (array == NULL) return NULL;
  a->held[a->n++] = array;
  *len = (size_t)PyArray_SIZE(array);
  return PyArray_DATA(array);
}

static int lengths_differ(const char *what) {
  PyErr_Format(PyExc_ValueError, "%s: lengths that do not fit together", what);
  return -1;
}

/* (value, weight or None, unit_start, key_start, num, den, resolution) -> tg_samples. The starts
 * are checked so far that the core stays inside the arrays. */
static int take_samples(arrays *a, PyObject *object, tg_samples *s) {
  PyObject *v, *w, *u, *k, *num, *den, *res;
  size_t values, weights, units, keys, scale[3];
  if (!PyTuple_Check(object)) {
    PyErr_SetString(PyExc_TypeError, "samples: a tuple of seven arrays is needed");
    return -1;
  }
  if (!PyArg_ParseTuple(object, "OOOOOOO;samples", &v, &w, &u, &k, &num, &den, &res)) return -1;
  s->value = take(a, v, NPY_INT64, &values);
  if (s->value == NULL) return -1;
  s->weight = NULL;
  if (w != Py_None) {
    s->weight = take(a, w, NPY_UINT64, &weights);
    if (s->weight == NULL) return -1;
    if (weights != values) return lengths_differ("samples");
  }
  s->unit_start = take(a, u, NPY_UINT64, &units);
  if (s->unit_start == NULL) return -1;
  s->key_start = take(a, k, NPY_UINT64, &keys);
  if (s->key_start == NULL) return -1;
  s->num = take(a, num, NPY_UINT64, &scale[0]);
  if (s->num == NULL) return -1;
  s->den = take(a, den, NPY_UINT64, &scale[1]);
  if (s->den == NULL) return -1;
  s->resolution = take(a, res, NPY_UINT64, &scale[2]);
  if (s->resolution == NULL) return -1;
  if (keys == 0 || units == 0) return lengths_differ("samples");
  s->n_keys = keys - 1;
  for (int i = 0; i < 3; i++)
    if (scale[i] != s->n_keys) return lengths_differ("samples");
  if (s->key_start[s->n_keys] >= units || s->key_start[0] >= units ||
      s->unit_start[s->key_start[s->n_keys]] > values)
    return lengths_differ("samples");
  return 0;
}

static PyObject *compare(PyObject *module, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"old", "new", "margin", "margin_abs", "alpha", "better", "noise",
                          "seed", "paired", NULL};
  PyObject *old, *fresh, *better = Py_None, *noise = Py_None, *out = NULL;
  tg_compare_options o = {.margin = 0.05, .alpha = 0.05, .seed = 1};
  unsigned long long seed = 1;
  int paired = 0;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|$dddOOKp", names, &old, &fresh, &o.margin,
                                   &o.margin_abs, &o.alpha, &better, &noise, &seed, &paired))
    return NULL;
  arrays a = {.n = 0};
  tg_samples x, y, z;
  size_t n = 0;
  if (take_samples(&a, old, &x) < 0 || take_samples(&a, fresh, &y) < 0) goto done;
  if (noise != Py_None) {
    if (take_samples(&a, noise, &z) < 0) goto done;
    o.noise = &z;
  }
  if (better != Py_None) {
    o.better = take(&a, better, NPY_UINT8, &n);
    if (o.better == NULL) goto done;
    if (n != x.n_keys) {
      lengths_differ("better");
      goto done;
    }
  }
  o.seed = seed;
  o.paired = paired != 0;
  tg_table *table = NULL;
  tg_status status;
  Py_BEGIN_ALLOW_THREADS
  status = tg_compare(NULL, &x, &y, &o, &table);
  Py_END_ALLOW_THREADS
  out = status == TG_OK ? tg_py_table(module, table, NULL) : tg_py_raise(module, status, NULL, 0);
done:
  release_arrays(&a);
  return out;
}

static PyObject *summarize(PyObject *module, PyObject *object) {
  arrays a = {.n = 0};
  tg_samples s;
  tg_table *table = NULL;
  tg_status status;
  PyObject *out = NULL;
  if (take_samples(&a, object, &s) == 0) {
    Py_BEGIN_ALLOW_THREADS
    status = tg_summarize(NULL, &s, &table);
    Py_END_ALLOW_THREADS
    out = status == TG_OK ? tg_py_table(module, table, NULL) : tg_py_raise(module, status, NULL, 0);
  }
  release_arrays(&a);
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
      Py_BEGIN_ALLOW_THREADS
      status = tg_collapse(NULL, &s, to);
      Py_END_ALLOW_THREADS
    }
    if (status != TG_OK) {
      Py_CLEAR(out);
      tg_py_raise(module, status, NULL, 0);
    }
  }
  release_arrays(&a);
  return out;
}

/* (value, units, cores, num, den) -> tg_vectors. */
static int take_vectors(arrays *a, PyObject *object, tg_vectors *v) {
  PyObject *value, *units, *cores, *num, *den;
  size_t values, n[4], left;
  if (!PyTuple_Check(object)) {
    PyErr_SetString(PyExc_TypeError, "vectors: a tuple of five arrays is needed");
    return -1;
  }
  if (!PyArg_ParseTuple(object, "OOOOO;vectors", &value, &units, &cores, &num, &den)) return -1;
  v->value = take(a, value, NPY_INT64, &values);
  if (v->value == NULL) return -1;
  v->units = take(a, units, NPY_UINT64, &n[0]);
  if (v->units == NULL) return -1;
  v->cores = take(a, cores, NPY_UINT64, &n[1]);
  if (v->cores == NULL) return -1;
  v->num = take(a, num, NPY_UINT64, &n[2]);
  if (v->num == NULL) return -1;
  v->den = take(a, den, NPY_UINT64, &n[3]);
  if (v->den == NULL) return -1;
  v->n_groups = n[0];
  left = values;
  for (int i = 1; i < 4; i++)
    if (n[i] != n[0]) return lengths_differ("vectors");
  for (size_t g = 0; g < n[0]; g++) {
    if (v->units[g] != 0 && v->cores[g] > left / v->units[g]) return lengths_differ("vectors");
    left -= v->units[g] * v->cores[g];
  }
  return left == 0 ? 0 : lengths_differ("vectors");
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
    Py_BEGIN_ALLOW_THREADS
    status = tg_compare_vectors(NULL, &x, &y, seed, &table);
    Py_END_ALLOW_THREADS
    out = status == TG_OK ? tg_py_table(module, table, NULL) : tg_py_raise(module, status, NULL, 0);
  }
  release_arrays(&a);
  return out;
}

static PyObject *trend(PyObject *module, PyObject *args) {
  PyObject *value, *release, *start, *num, *den, *res, *out = NULL;
  double margin, margin_abs;
  unsigned long long seed = 1;
  if (!PyArg_ParseTuple(args, "OOOOOOdd|K", &value, &release, &start, &num, &den, &res, &margin,
                        &margin_abs, &seed))
    return NULL;
  arrays a = {.n = 0};
  tg_series s;
  size_t n[6];
  if ((s.value = take(&a, value, NPY_INT64, &n[0])) == NULL ||
      (s.release = take(&a, release, NPY_UINT32, &n[1])) == NULL ||
      (s.start = take(&a, start, NPY_UINT64, &n[2])) == NULL ||
      (s.num = take(&a, num, NPY_UINT64, &n[3])) == NULL ||
      (s.den = take(&a, den, NPY_UINT64, &n[4])) == NULL ||
      (s.resolution = take(&a, res, NPY_UINT64, &n[5])) == NULL)
    goto done;
  if (n[0] != n[1] || n[2] == 0 || n[3] != n[2] - 1 || n[4] != n[3] || n[5] != n[3] ||
      s.start[n[3]] > n[0]) {
    lengths_differ("series");
    goto done;
  }
  s.n_keys = n[3];
  tg_table *series = NULL, *steps = NULL;
  tg_status status;
  Py_BEGIN_ALLOW_THREADS
  status = tg_trend(NULL, &s, margin, margin_abs, seed, &series, &steps);
  Py_END_ALLOW_THREADS
  if (status != TG_OK) {
    tg_py_raise(module, status, NULL, 0);
    goto done;
  }
  PyObject *first = tg_py_table(module, series, NULL), *second = tg_py_table(module, steps, NULL);
  if (first != NULL && second != NULL) out = PyTuple_Pack(2, first, second);
  Py_XDECREF(first);
  Py_XDECREF(second);
done:
  release_arrays(&a);
  return out;
}

/* ---- one question, one answer --------------------------------------------------------------- */

/* The tests of two sides: U, means. */
typedef tg_status two_sided_test(const tg_alloc *, const int64_t *, size_t, const int64_t *, size_t,
                                 uint64_t, tg_test *);

static PyObject *test_result(PyObject *module, tg_status status, const tg_test *t) {
  if (status != TG_OK) return tg_py_raise(module, status, NULL, 0);
  return Py_BuildValue("dddN", t->statistic, t->p, t->p_min, PyBool_FromLong(t->exact));
}

static PyObject *two_sides(PyObject *module, PyObject *args, two_sided_test *test) {
  PyObject *x, *y, *out = NULL;
  unsigned long long seed = 1;
  if (!PyArg_ParseTuple(args, "OO|K", &x, &y, &seed)) return NULL;
  arrays a = {.n = 0};
  size_t m, n;
  const int64_t *px = take(&a, x, NPY_INT64, &m), *py = px ? take(&a, y, NPY_INT64, &n) : NULL;
  tg_test t;
  tg_status status;
  if (py != NULL) {
    Py_BEGIN_ALLOW_THREADS
    status = test(NULL, px, m, py, n, seed, &t);
    Py_END_ALLOW_THREADS
    out = test_result(module, status, &t);
  }
  release_arrays(&a);
  return out;
}

static PyObject *u_test(PyObject *module, PyObject *args) {
  return two_sides(module, args, tg_u_test);
}
static PyObject *mean_test(PyObject *module, PyObject *args) {
  return two_sides(module, args, tg_mean_test);
}

static PyObject *signflip_test(PyObject *module, PyObject *args) {
  PyObject *d, *out = NULL;
  unsigned long long seed = 1;
  if (!PyArg_ParseTuple(args, "O|K", &d, &seed)) return NULL;
  arrays a = {.n = 0};
  size_t n;
  const int64_t *p = take(&a, d, NPY_INT64, &n);
  tg_test t;
  tg_status status;
  if (p != NULL) {
    Py_BEGIN_ALLOW_THREADS
    status = tg_signflip_test(NULL, p, n, seed, &t);
    Py_END_ALLOW_THREADS
    out = test_result(module, status, &t);
  }
  release_arrays(&a);
  return out;
}

static PyObject *interval_result(PyObject *module, tg_status status, double at,
                                 const tg_interval *ci) {
  if (status != TG_OK) return tg_py_raise(module, status, NULL, 0);
  return Py_BuildValue("dddd", at, ci->lo, ci->hi, ci->level);
}

static PyObject *hl_shift(PyObject *module, PyObject *args) {
  PyObject *x, *y, *out = NULL;
  double alpha = 0.05, shift = 0;
  if (!PyArg_ParseTuple(args, "OO|d", &x, &y, &alpha)) return NULL;
  arrays a = {.n = 0};
  size_t m, n;
  const int64_t *px = take(&a, x, NPY_INT64, &m), *py = px ? take(&a, y, NPY_INT64, &n) : NULL;
  tg_interval ci;
  tg_status status;
  if (py != NULL) {
    Py_BEGIN_ALLOW_THREADS
    status = tg_hl_shift(NULL, px, m, py, n, alpha, &shift, &ci);
    Py_END_ALLOW_THREADS
    out = interval_result(module, status, shift, &ci);
  }
  release_arrays(&a);
  return out;
}

static PyObject *hl_paired(PyObject *module, PyObject *args) {
  PyObject *d, *out = NULL;
  double alpha = 0.05, shift = 0;
  if (!PyArg_ParseTuple(args, "O|d", &d, &alpha)) return NULL;
  arrays a = {.n = 0};
  size_t n;
  const int64_t *p = take(&a, d, NPY_INT64, &n);
  tg_interval ci;
  if (p != NULL) {
    tg_status status = tg_hl_paired(NULL, p, n, alpha, &shift, &ci);
    out = interval_result(module, status, shift, &ci);
  }
  release_arrays(&a);
  return out;
}

static PyObject *median_interval(PyObject *module, PyObject *args) {
  PyObject *x, *out = NULL;
  double alpha = 0.05;
  if (!PyArg_ParseTuple(args, "O|d", &x, &alpha)) return NULL;
  arrays a = {.n = 0};
  size_t n;
  int64_t median = 0;
  const int64_t *p = take(&a, x, NPY_INT64, &n);
  tg_interval ci;
  if (p != NULL) {
    tg_status status = tg_median_interval(NULL, p, n, alpha, &median, &ci);
    out = interval_result(module, status, (double)median, &ci);
  }
  release_arrays(&a);
  return out;
}

static PyObject *prediction(PyObject *module, PyObject *args) {
  PyObject *x, *out = NULL;
  double step = 1, alpha = 0.05, mean, sd;
  if (!PyArg_ParseTuple(args, "O|dd", &x, &step, &alpha)) return NULL;
  arrays a = {.n = 0};
  size_t n;
  tg_interval pi;
  const int64_t *p = take(&a, x, NPY_INT64, &n);
  if (p != NULL) {
    tg_status status = tg_prediction(p, n, step, alpha, &mean, &sd, &pi);
    out = status == TG_OK ? Py_BuildValue("dddd", mean, sd, pi.lo, pi.hi)
                          : tg_py_raise(module, status, NULL, 0);
  }
  release_arrays(&a);
  return out;
}

static PyObject *series_stats(PyObject *module, PyObject *x) {
  arrays a = {.n = 0};
  size_t n;
  double mean, sd, r1;
  PyObject *out = NULL;
  const int64_t *p = take(&a, x, NPY_INT64, &n);
  if (p != NULL) {
    tg_status status = tg_series_stats(p, n, &mean, &sd, &r1);
    out = status == TG_OK ? Py_BuildValue("ddd", mean, sd, r1) : tg_py_raise(module, status, NULL, 0);
  }
  release_arrays(&a);
  return out;
}

static PyObject *anova(PyObject *module, PyObject *args) {
  PyObject *x, *start, *out = NULL;
  if (!PyArg_ParseTuple(args, "OO", &x, &start)) return NULL;
  arrays a = {.n = 0};
  size_t n, units, i;
  const int64_t *p = take(&a, x, NPY_INT64, &n);
  const uint64_t *s = p ? take(&a, start, NPY_UINT64, &units) : NULL;
  tg_anova r;
  if (s == NULL) goto done;
  for (i = 0; i + 1 < units && s[i] <= s[i + 1]; i++) {
  }
  if (units == 0 || i + 1 != units || s[units - 1] > n) {
    lengths_differ("anova");
    goto done;
  }
  tg_status status = tg_anova_units(p, s, units - 1, &r);
  out = status == TG_OK ? Py_BuildValue("dddddd", r.ms_between, r.ms_within, r.var_between, r.icc,
                                        r.design_effect, r.se)
                        : tg_py_raise(module, status, NULL, 0);
done:
  release_arrays(&a);
  return out;
}

static PyObject *min_p(PyObject *module, PyObject *args) {
  (void)module;
  Py_ssize_t m, n;
  if (!PyArg_ParseTuple(args, "nn", &m, &n)) return NULL;
  return PyFloat_FromDouble(tg_min_p(m < 0 ? 0 : (size_t)m, n < 0 ? 0 : (size_t)n));
}

static PyObject *tick_halfwidth(PyObject *module, PyObject *args) {
  (void)module;
  Py_ssize_t m;
  double miss;
  if (!PyArg_ParseTuple(args, "nd", &m, &miss)) return NULL;
  return PyFloat_FromDouble(tg_tick_halfwidth(m < 0 ? 0 : (size_t)m, miss));
}

static PyObject *detectable_sd(PyObject *module, PyObject *args) {
  (void)module;
  Py_ssize_t m, n;
  double alpha = 0.05, level = 0;
  if (!PyArg_ParseTuple(args, "nn|d", &m, &n, &alpha)) return NULL;
  double sd = tg_detectable_sd(m < 0 ? 0 : (size_t)m, n < 0 ? 0 : (size_t)n, alpha, &level);
  return Py_BuildValue("dd", sd, level);
}

static PyObject *t_quantile(PyObject *module, PyObject *args) {
  (void)module;
  double upper;
  unsigned long long df;
  if (!PyArg_ParseTuple(args, "dK", &upper, &df)) return NULL;
  return PyFloat_FromDouble(tg_t_quantile(upper, df));
}

static PyObject *t_two_sided(PyObject *module, PyObject *args) {
  (void)module;
  double t;
  unsigned long long df;
  if (!PyArg_ParseTuple(args, "dK", &t, &df)) return NULL;
  return PyFloat_FromDouble(tg_t_two_sided(t, df));
}

static PyObject *bh(PyObject *module, PyObject *x) {
  arrays a = {.n = 0};
  size_t n;
  PyObject *out = NULL;
  const double *p = take(&a, x, NPY_FLOAT64, &n);
  if (p != NULL) {
    npy_intp shape = (npy_intp)n;
    out = PyArray_SimpleNew(1, &shape, NPY_FLOAT64);
    tg_status status =
        out == NULL ? TG_OK : tg_bh(NULL, p, n, PyArray_DATA((PyArrayObject *)out));
    if (status != TG_OK) {
      Py_CLEAR(out);
      tg_py_raise(module, status, NULL, 0);
    }
  }
  release_arrays(&a);
  return out;
}

static PyObject *geometric_mean(PyObject *module, PyObject *x) {
  arrays a = {.n = 0};
  size_t n, used = 0;
  double mean = 0;
  PyObject *out = NULL;
  const double *p = take(&a, x, NPY_FLOAT64, &n);
  if (p != NULL) {
    tg_status status = tg_geometric_mean(p, n, &mean, &used);
    out = status == TG_OK ? Py_BuildValue("dn", mean, (Py_ssize_t)used)
                          : tg_py_raise(module, status, NULL, 0);
  }
  release_arrays(&a);
  return out;
}

static PyObject *common_factor(PyObject *module, PyObject *args) {
  PyObject *ratio, *group, *out = NULL, *factor = NULL, *set = NULL;
  Py_ssize_t least = 3;
  double tolerance = 0.01;
  if (!PyArg_ParseTuple(args, "OO|nd", &ratio, &group, &least, &tolerance)) return NULL;
  arrays a = {.n = 0};
  size_t n, groups;
  const double *r = take(&a, ratio, NPY_FLOAT64, &n);
  const uint32_t *g = r ? take(&a, group, NPY_UINT32, &groups) : NULL;
  if (g == NULL) goto done;
  if (n != groups) {
    lengths_differ("common_factor");
    goto done;
  }
  npy_intp shape = (npy_intp)n;
  factor = PyArray_SimpleNew(1, &shape, NPY_FLOAT64);
  set = PyArray_SimpleNew(1, &shape, NPY_UINT32);
  if (factor == NULL || set == NULL) goto done;
  tg_status status =
      tg_common_factor(NULL, r, g, n, least < 0 ? 0 : (size_t)least, tolerance,
                       PyArray_DATA((PyArrayObject *)factor), PyArray_DATA((PyArrayObject *)set));
  out = status == TG_OK ? PyTuple_Pack(2, factor, set) : tg_py_raise(module, status, NULL, 0);
done:
  Py_XDECREF(factor);
  Py_XDECREF(set);
  release_arrays(&a);
  return out;
}

/* Exact counts of (value, weight) pairs by tg_counts; more distinct values than `most` are folded. */
static PyObject *fold_counts(PyObject *module, PyObject *args) {
  PyObject *x, *w, *out = NULL, *v = NULL, *c = NULL;
  unsigned int most = 0;
  if (!PyArg_ParseTuple(args, "OO|I", &x, &w, &most)) return NULL;
  arrays a = {.n = 0};
  size_t n, weights, k = 0;
  const tg_counts_options options = {most, 0, false};
  const tg_count *pairs = NULL;
  tg_counts *counts = NULL;
  tg_status status;
  const int64_t *value = take(&a, x, NPY_INT64, &n);
  const uint64_t *weight = value ? take(&a, w, NPY_UINT64, &weights) : NULL;
  if (weight == NULL) goto done;
  if (n != weights) {
    lengths_differ("fold_counts");
    goto done;
  }
  Py_BEGIN_ALLOW_THREADS
  status = tg_counts_new(NULL, &options, &counts);
  for (size_t i = 0; status == TG_OK && i < n; i++)
    status = tg_counts_add_n(counts, value[i], weight[i]);
  if (status == TG_OK) status = tg_counts_pairs(counts, &pairs, &k);
  Py_END_ALLOW_THREADS
  if (status != TG_OK) {
    tg_py_raise(module, status, NULL, 0);
    goto done;
  }
  npy_intp shape = (npy_intp)k;
  v = PyArray_SimpleNew(1, &shape, NPY_INT64);
  c = PyArray_SimpleNew(1, &shape, NPY_UINT64);
  if (v == NULL || c == NULL) goto done;
  for (size_t i = 0; i < k; i++) {
    ((int64_t *)PyArray_DATA((PyArrayObject *)v))[i] = pairs[i].value;
    ((uint64_t *)PyArray_DATA((PyArrayObject *)c))[i] = pairs[i].n;
  }
  out = Py_BuildValue("OON", v, c, PyBool_FromLong(tg_counts_folded(counts)));
done:
  Py_XDECREF(v);
  Py_XDECREF(c);
  tg_counts_free(counts);
  release_arrays(&a);
  return out;
}

/* Modes and histograms: values, weights or None, resolution (and bins). */
static PyObject *of_series(PyObject *module, PyObject *args, int histogram) {
  PyObject *x, *w, *out = NULL;
  unsigned long long resolution;
  Py_ssize_t bins = 200;
  if (!PyArg_ParseTuple(args, histogram ? "OOK|n" : "OOK", &x, &w, &resolution, &bins)) return NULL;
  arrays a = {.n = 0};
  size_t n, weights;
  const uint64_t *weight = NULL;
  const int64_t *p = take(&a, x, NPY_INT64, &n);
  if (p == NULL) goto done;
  if (w != Py_None) {
    weight = take(&a, w, NPY_UINT64, &weights);
    if (weight == NULL) goto done;
    if (weights != n) {
      lengths_differ("series");
      goto done;
    }
  }
  tg_table *table = NULL;
  tg_status status;
  Py_BEGIN_ALLOW_THREADS
  status = histogram ? tg_histogram(NULL, p, weight, n, resolution, bins < 0 ? 0 : (size_t)bins,
                                    &table)
                     : tg_modes(NULL, p, weight, n, resolution, &table);
  Py_END_ALLOW_THREADS
  out = status == TG_OK ? tg_py_table(module, table, NULL) : tg_py_raise(module, status, NULL, 0);
done:
  release_arrays(&a);
  return out;
}

static PyObject *modes(PyObject *module, PyObject *args) { return of_series(module, args, 0); }
static PyObject *histogram(PyObject *module, PyObject *args) { return of_series(module, args, 1); }

static PyObject *bimodal(PyObject *module, PyObject *args) {
  PyObject *x, *out = NULL;
  unsigned long long resolution = 1;
  if (!PyArg_ParseTuple(args, "O|K", &x, &resolution)) return NULL;
  arrays a = {.n = 0};
  size_t n;
  bool two = false;
  const int64_t *p = take(&a, x, NPY_INT64, &n);
  if (p != NULL) {
    tg_status status = tg_bimodal(NULL, p, n, resolution, &two);
    out = status == TG_OK ? PyBool_FromLong(two) : tg_py_raise(module, status, NULL, 0);
  }
  release_arrays(&a);
  return out;
}

static PyObject *ladder(PyObject *module, PyObject *y) {
  arrays a = {.n = 0};
  size_t n;
  tg_line ols, ts;
  PyObject *out = NULL;
  const double *p = take(&a, y, NPY_FLOAT64, &n);
  if (p != NULL) {
    tg_status status = tg_ladder(NULL, p, n, &ols, &ts);
    out = status == TG_OK ? Py_BuildValue("dddd", ols.a, ols.b, ts.a, ts.b)
                          : tg_py_raise(module, status, NULL, 0);
  }
  release_arrays(&a);
  return out;
}

static PyObject *segment(PyObject *module, PyObject *args) {
  PyObject *x, *out = NULL, *starts = NULL;
  double penalty;
  if (!PyArg_ParseTuple(args, "Od", &x, &penalty)) return NULL;
  arrays a = {.n = 0};
  size_t n, k = 0;
  const int64_t *p = take(&a, x, NPY_INT64, &n);
  npy_intp shape = p != NULL ? (npy_intp)n : 0;
  if (p != NULL) starts = PyArray_SimpleNew(1, &shape, NPY_UINTP);
  if (starts != NULL) {
    tg_status status =
        tg_segment(NULL, p, n, penalty, PyArray_DATA((PyArrayObject *)starts), &k);
    out = status == TG_OK ? PySequence_GetSlice(starts, 0, (Py_ssize_t)k)
                          : tg_py_raise(module, status, NULL, 0);
  }
  Py_XDECREF(starts);
  release_arrays(&a);
  return out;
}

static PyObject *energy_step(PyObject *module, PyObject *args) {
  PyObject *x, *out = NULL;
  unsigned long long seed = 1;
  if (!PyArg_ParseTuple(args, "O|K", &x, &seed)) return NULL;
  arrays a = {.n = 0};
  size_t n;
  tg_energy e;
  tg_status status;
  const int64_t *p = take(&a, x, NPY_INT64, &n);
  if (p != NULL) {
    Py_BEGIN_ALLOW_THREADS
    status = tg_energy_step(NULL, p, n, seed, &e);
    Py_END_ALLOW_THREADS
    out = status == TG_OK ? Py_BuildValue("ndddN", (Py_ssize_t)e.at, e.q, e.p, e.p_min,
                                          PyBool_FromLong(e.exact))
                          : tg_py_raise(module, status, NULL, 0);
  }
  release_arrays(&a);
  return out;
}

static PyMethodDef methods[] = {
    {"compare", (PyCFunction)(void (*)(void))compare, METH_VARARGS | METH_KEYWORDS,
     "All keys of two sides: one row each."},
    {"summarize", summarize, METH_O, "All keys of one side: one row each."},
    {"collapse", collapse, METH_O, "One value per unit: the lower median of its readings."},
    {"compare_vectors", compare_vectors, METH_VARARGS, "Groups of interchangeable cpus."},
    {"trend", trend, METH_VARARGS, "Series over releases: (series, steps)."},
    {"u_test", u_test, METH_VARARGS, "(U, p, smallest p, exact)"},
    {"mean_test", mean_test, METH_VARARGS, "(difference of means, p, smallest p, exact)"},
    {"signflip_test", signflip_test, METH_VARARGS, "(mean, p, smallest p, exact)"},
    {"hl_shift", hl_shift, METH_VARARGS, "(shift, lo, hi, level)"},
    {"hl_paired", hl_paired, METH_VARARGS, "(shift, lo, hi, level)"},
    {"median_interval", median_interval, METH_VARARGS, "(median, lo, hi, level)"},
    {"prediction", prediction, METH_VARARGS, "(mean, sd, lo, hi)"},
    {"series_stats", series_stats, METH_O, "(mean, sd, lag-1 autocorrelation)"},
    {"anova", anova, METH_VARARGS,
     "(MS between, MS within, variance between, ICC, design effect, SE)"},
    {"min_p", min_p, METH_VARARGS, "Smallest two-sided p of m against n."},
    {"tick_halfwidth", tick_halfwidth, METH_VARARGS, "What m equal readings leave open, in steps."},
    {"detectable_sd", detectable_sd, METH_VARARGS, "(shift in sd at 80 % power, level)"},
    {"t_quantile", t_quantile, METH_VARARGS, "Upper quantile of Student's t."},
    {"t_two_sided", t_two_sided, METH_VARARGS, "Two-sided p of Student's t."},
    {"bh", bh, METH_O, "Benjamini-Hochberg adjusted p."},
    {"geometric_mean", geometric_mean, METH_O, "(mean, number used)"},
    {"common_factor", common_factor, METH_VARARGS, "(factor, set) of each ratio"},
    {"fold_counts", fold_counts, METH_VARARGS, "(values, counts, folded)"},
    {"modes", modes, METH_VARARGS, "Modes of one series."},
    {"histogram", histogram, METH_VARARGS, "Histogram on the tick grid."},
    {"bimodal", bimodal, METH_VARARGS, "Whether the values fall into two groups."},
    {"ladder", ladder, METH_O, "(a, b) by least squares, (a, b) by Theil-Sen"},
    {"segment", segment, METH_VARARGS, "First index of each segment."},
    {"energy_step", energy_step, METH_VARARGS, "(index, Q, p, smallest p, exact)"},
    {NULL, NULL, 0, NULL}};

int tg_py_add_stats(PyObject *module) { return PyModule_AddFunctions(module, methods); }

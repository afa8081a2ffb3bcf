/* answers.c - statistics of plain arrays: one question, one answer.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "arrays.h"

/* The tests of two sides: U, means. */
typedef tg_status two_sided_test(const tg_alloc *, const tg_stop *, const int64_t *, size_t,
                                 const int64_t *, size_t, uint64_t, tg_test *);

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
  const int64_t *px = tg_py_take(&a, x, NPY_INT64, &m),
                *py = px ? tg_py_take(&a, y, NPY_INT64, &n) : NULL;
  tg_test t;
  tg_status status;
  if (py != NULL) {
    tg_py_stop look;
    const tg_stop *stop = tg_py_stop_new(&look);
    Py_BEGIN_ALLOW_THREADS
    status = test(NULL, stop, px, m, py, n, seed, &t);
    Py_END_ALLOW_THREADS
    out = test_result(module, status, &t);
  }
  tg_py_release(&a);
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
  const int64_t *p = tg_py_take(&a, d, NPY_INT64, &n);
  tg_test t;
  tg_status status;
  if (p != NULL) {
    tg_py_stop look;
    const tg_stop *stop = tg_py_stop_new(&look);
    Py_BEGIN_ALLOW_THREADS
    status = tg_signflip_test(NULL, stop, p, n, seed, &t);
    Py_END_ALLOW_THREADS
    out = test_result(module, status, &t);
  }
  tg_py_release(&a);
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
  const int64_t *px = tg_py_take(&a, x, NPY_INT64, &m),
                *py = px ? tg_py_take(&a, y, NPY_INT64, &n) : NULL;
  tg_interval ci;
  tg_status status;
  if (py != NULL) {
    Py_BEGIN_ALLOW_THREADS
    status = tg_hl_shift(NULL, px, m, py, n, alpha, &shift, &ci);
    Py_END_ALLOW_THREADS
    out = interval_result(module, status, shift, &ci);
  }
  tg_py_release(&a);
  return out;
}

static PyObject *hl_paired(PyObject *module, PyObject *args) {
  PyObject *d, *out = NULL;
  double alpha = 0.05, shift = 0;
  if (!PyArg_ParseTuple(args, "O|d", &d, &alpha)) return NULL;
  arrays a = {.n = 0};
  size_t n;
  const int64_t *p = tg_py_take(&a, d, NPY_INT64, &n);
  tg_interval ci;
  if (p != NULL) {
    tg_status status;
    Py_BEGIN_ALLOW_THREADS
    status = tg_hl_paired(NULL, p, n, alpha, &shift, &ci);
    Py_END_ALLOW_THREADS
    out = interval_result(module, status, shift, &ci);
  }
  tg_py_release(&a);
  return out;
}

static PyObject *median_interval(PyObject *module, PyObject *args) {
  PyObject *x, *out = NULL;
  double alpha = 0.05;
  if (!PyArg_ParseTuple(args, "O|d", &x, &alpha)) return NULL;
  arrays a = {.n = 0};
  size_t n;
  int64_t median = 0;
  const int64_t *p = tg_py_take(&a, x, NPY_INT64, &n);
  tg_interval ci;
  if (p != NULL) {
    tg_status status;
    Py_BEGIN_ALLOW_THREADS
    status = tg_median_interval(NULL, p, n, alpha, &median, &ci);
    Py_END_ALLOW_THREADS
    out = interval_result(module, status, (double)median, &ci);
  }
  tg_py_release(&a);
  return out;
}

static PyObject *prediction(PyObject *module, PyObject *args) {
  PyObject *x, *out = NULL;
  double step = 1, alpha = 0.05, mean, sd;
  if (!PyArg_ParseTuple(args, "O|dd", &x, &step, &alpha)) return NULL;
  arrays a = {.n = 0};
  size_t n;
  tg_interval pi;
  const int64_t *p = tg_py_take(&a, x, NPY_INT64, &n);
  if (p != NULL) {
    tg_status status = tg_prediction(p, n, step, alpha, &mean, &sd, &pi);
    out = status == TG_OK ? Py_BuildValue("dddd", mean, sd, pi.lo, pi.hi)
                          : tg_py_raise(module, status, NULL, 0);
  }
  tg_py_release(&a);
  return out;
}

static PyObject *series_stats(PyObject *module, PyObject *x) {
  arrays a = {.n = 0};
  size_t n;
  double mean, sd, r1;
  PyObject *out = NULL;
  const int64_t *p = tg_py_take(&a, x, NPY_INT64, &n);
  if (p != NULL) {
    tg_status status = tg_series_stats(p, n, &mean, &sd, &r1);
    out =
        status == TG_OK ? Py_BuildValue("ddd", mean, sd, r1) : tg_py_raise(module, status, NULL, 0);
  }
  tg_py_release(&a);
  return out;
}

static PyObject *anova(PyObject *module, PyObject *args) {
  PyObject *x, *start, *out = NULL;
  if (!PyArg_ParseTuple(args, "OO", &x, &start)) return NULL;
  arrays a = {.n = 0};
  size_t n, units, i;
  const int64_t *p = tg_py_take(&a, x, NPY_INT64, &n);
  const uint64_t *s = p ? tg_py_take(&a, start, NPY_UINT64, &units) : NULL;
  tg_anova r;
  if (s == NULL) goto done;
  for (i = 0; i + 1 < units && s[i] <= s[i + 1]; i++) {
  }
  if (units == 0 || i + 1 != units || s[units - 1] > n) {
    tg_py_lengths("anova");
    goto done;
  }
  tg_status status = tg_anova_units(p, s, units - 1, &r);
  out = status == TG_OK ? Py_BuildValue("dddddd", r.ms_between, r.ms_within, r.var_between, r.icc,
                                        r.design_effect, r.se)
                        : tg_py_raise(module, status, NULL, 0);
done:
  tg_py_release(&a);
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
  uint64_t df;
  if (!PyArg_ParseTuple(args, "dO&", &upper, tg_py_u64, &df)) return NULL;
  return PyFloat_FromDouble(tg_t_quantile(upper, df));
}

static PyObject *t_two_sided(PyObject *module, PyObject *args) {
  (void)module;
  double t;
  uint64_t df;
  if (!PyArg_ParseTuple(args, "dO&", &t, tg_py_u64, &df)) return NULL;
  return PyFloat_FromDouble(tg_t_two_sided(t, df));
}

static PyObject *bh(PyObject *module, PyObject *x) {
  arrays a = {.n = 0};
  size_t n;
  PyObject *out = NULL;
  const double *p = tg_py_take(&a, x, NPY_FLOAT64, &n);
  if (p != NULL) {
    npy_intp shape = (npy_intp)n;
    out = PyArray_SimpleNew(1, &shape, NPY_FLOAT64);
    tg_status status = out == NULL ? TG_OK : tg_bh(NULL, p, n, PyArray_DATA((PyArrayObject *)out));
    if (status != TG_OK) {
      Py_CLEAR(out);
      tg_py_raise(module, status, NULL, 0);
    }
  }
  tg_py_release(&a);
  return out;
}

static PyObject *geometric_mean(PyObject *module, PyObject *x) {
  arrays a = {.n = 0};
  size_t n, used = 0;
  double mean = 0;
  PyObject *out = NULL;
  const double *p = tg_py_take(&a, x, NPY_FLOAT64, &n);
  if (p != NULL) {
    tg_status status = tg_geometric_mean(p, n, &mean, &used);
    out = status == TG_OK ? Py_BuildValue("dn", mean, (Py_ssize_t)used)
                          : tg_py_raise(module, status, NULL, 0);
  }
  tg_py_release(&a);
  return out;
}

static PyObject *common_factor(PyObject *module, PyObject *args) {
  PyObject *ratio, *group, *out = NULL, *factor = NULL, *set = NULL;
  Py_ssize_t least = 3;
  double tolerance = 0.01;
  if (!PyArg_ParseTuple(args, "OO|nd", &ratio, &group, &least, &tolerance)) return NULL;
  arrays a = {.n = 0};
  size_t n, groups;
  const double *r = tg_py_take(&a, ratio, NPY_FLOAT64, &n);
  const uint32_t *g = r ? tg_py_take(&a, group, NPY_UINT32, &groups) : NULL;
  if (g == NULL) goto done;
  if (n != groups) {
    tg_py_lengths("common_factor");
    goto done;
  }
  npy_intp shape = (npy_intp)n;
  factor = PyArray_SimpleNew(1, &shape, NPY_FLOAT64);
  set = PyArray_SimpleNew(1, &shape, NPY_UINT32);
  if (factor == NULL || set == NULL) goto done;
  double *factors = PyArray_DATA((PyArrayObject *)factor);
  uint32_t *sets = PyArray_DATA((PyArrayObject *)set);
  tg_status status;
  tg_py_stop look;
  const tg_stop *stop = tg_py_stop_new(&look);
  Py_BEGIN_ALLOW_THREADS
  status = tg_common_factor(NULL, stop, r, g, n, least < 0 ? 0 : (size_t)least, tolerance, factors,
                            sets);
  Py_END_ALLOW_THREADS
  out = status == TG_OK ? PyTuple_Pack(2, factor, set) : tg_py_raise(module, status, NULL, 0);
done:
  Py_XDECREF(factor);
  Py_XDECREF(set);
  tg_py_release(&a);
  return out;
}

/* Modes and histograms: values, weights or None, resolution (and bins). */
static PyObject *of_series(PyObject *module, PyObject *args, int histogram) {
  PyObject *x, *w, *out = NULL;
  uint64_t resolution;
  Py_ssize_t bins = 200;
  if (!PyArg_ParseTuple(args, histogram ? "OOO&|n" : "OOO&", &x, &w, tg_py_u64, &resolution, &bins))
    return NULL;
  arrays a = {.n = 0};
  size_t n, weights;
  const uint64_t *weight = NULL;
  const int64_t *p = tg_py_take(&a, x, NPY_INT64, &n);
  if (p == NULL) goto done;
  if (w != Py_None) {
    weight = tg_py_take(&a, w, NPY_UINT64, &weights);
    if (weight == NULL) goto done;
    if (weights != n) {
      tg_py_lengths("series");
      goto done;
    }
  }
  tg_table *table = NULL;
  tg_status status;
  Py_BEGIN_ALLOW_THREADS
  status = histogram
               ? tg_histogram(NULL, p, weight, n, resolution, bins < 0 ? 0 : (size_t)bins, &table)
               : tg_modes(NULL, p, weight, n, resolution, &table);
  Py_END_ALLOW_THREADS
  out = status == TG_OK ? tg_py_table(module, table, NULL) : tg_py_raise(module, status, NULL, 0);
done:
  tg_py_release(&a);
  return out;
}

static PyObject *modes(PyObject *module, PyObject *args) { return of_series(module, args, 0); }
static PyObject *histogram(PyObject *module, PyObject *args) { return of_series(module, args, 1); }

static PyObject *bimodal(PyObject *module, PyObject *args) {
  PyObject *x, *out = NULL;
  uint64_t resolution = 1;
  if (!PyArg_ParseTuple(args, "O|O&", &x, tg_py_u64, &resolution)) return NULL;
  arrays a = {.n = 0};
  size_t n;
  bool two = false;
  const int64_t *p = tg_py_take(&a, x, NPY_INT64, &n);
  if (p != NULL) {
    tg_status status;
    Py_BEGIN_ALLOW_THREADS
    status = tg_bimodal(NULL, p, n, resolution, &two);
    Py_END_ALLOW_THREADS
    out = status == TG_OK ? PyBool_FromLong(two) : tg_py_raise(module, status, NULL, 0);
  }
  tg_py_release(&a);
  return out;
}

static PyObject *ladder(PyObject *module, PyObject *y) {
  arrays a = {.n = 0};
  size_t n;
  tg_line ols, ts;
  PyObject *out = NULL;
  const double *p = tg_py_take(&a, y, NPY_FLOAT64, &n);
  if (p != NULL) {
    tg_status status;
    Py_BEGIN_ALLOW_THREADS
    status = tg_ladder(NULL, p, n, &ols, &ts);
    Py_END_ALLOW_THREADS
    out = status == TG_OK ? Py_BuildValue("dddd", ols.a, ols.b, ts.a, ts.b)
                          : tg_py_raise(module, status, NULL, 0);
  }
  tg_py_release(&a);
  return out;
}

static PyObject *segment(PyObject *module, PyObject *args) {
  PyObject *x, *out = NULL, *starts = NULL;
  double penalty;
  if (!PyArg_ParseTuple(args, "Od", &x, &penalty)) return NULL;
  arrays a = {.n = 0};
  size_t n, k = 0;
  const int64_t *p = tg_py_take(&a, x, NPY_INT64, &n);
  npy_intp shape = p != NULL ? (npy_intp)n : 0;
  if (p != NULL) starts = PyArray_SimpleNew(1, &shape, NPY_UINTP);
  if (starts != NULL) {
    size_t *to = PyArray_DATA((PyArrayObject *)starts);
    tg_status status;
    tg_py_stop look;
    const tg_stop *stop = tg_py_stop_new(&look);
    Py_BEGIN_ALLOW_THREADS
    status = tg_segment(NULL, stop, p, n, penalty, to, &k);
    Py_END_ALLOW_THREADS
    out = status == TG_OK ? PySequence_GetSlice(starts, 0, (Py_ssize_t)k)
                          : tg_py_raise(module, status, NULL, 0);
  }
  Py_XDECREF(starts);
  tg_py_release(&a);
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
  const int64_t *p = tg_py_take(&a, x, NPY_INT64, &n);
  if (p != NULL) {
    tg_py_stop look;
    const tg_stop *stop = tg_py_stop_new(&look);
    Py_BEGIN_ALLOW_THREADS
    status = tg_energy_step(NULL, stop, p, n, seed, &e);
    Py_END_ALLOW_THREADS
    out = status == TG_OK ? Py_BuildValue("ndddN", (Py_ssize_t)e.at, e.q, e.p, e.p_min,
                                          PyBool_FromLong(e.exact))
                          : tg_py_raise(module, status, NULL, 0);
  }
  tg_py_release(&a);
  return out;
}

static PyObject *change(PyObject *module, PyObject *object) {
  arrays a = {.n = 0};
  size_t n;
  double found = 0;
  PyObject *out = NULL;
  const int64_t *p = tg_py_take(&a, object, NPY_INT64, &n);
  if (p != NULL) {
    tg_status status;
    Py_BEGIN_ALLOW_THREADS
    status = tg_change(NULL, p, n, &found);
    Py_END_ALLOW_THREADS
    out = status == TG_OK ? PyFloat_FromDouble(found) : tg_py_raise(module, status, NULL, 0);
  }
  tg_py_release(&a);
  return out;
}

static PyMethodDef methods[] = {
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
    {"tick_halfwidth", tick_halfwidth, METH_VARARGS,
     "How far m equal readings leave the value open, in steps."},
    {"detectable_sd", detectable_sd, METH_VARARGS, "(shift in sd at 80 % power, level)"},
    {"t_quantile", t_quantile, METH_VARARGS, "Upper quantile of Student's t."},
    {"t_two_sided", t_two_sided, METH_VARARGS, "Two-sided p of Student's t."},
    {"bh", bh, METH_O, "Benjamini-Hochberg adjusted p."},
    {"geometric_mean", geometric_mean, METH_O, "(mean, number used)"},
    {"common_factor", common_factor, METH_VARARGS, "(factor, set) of each ratio"},
    {"modes", modes, METH_VARARGS, "Modes of one series."},
    {"histogram", histogram, METH_VARARGS, "Histogram on the tick grid."},
    {"bimodal", bimodal, METH_VARARGS, "Whether the values fall into two groups."},
    {"ladder", ladder, METH_O, "(a, b) by least squares, (a, b) by Theil-Sen"},
    {"segment", segment, METH_VARARGS, "First index of each segment."},
    {"energy_step", energy_step, METH_VARARGS, "(index, Q, p, smallest p, exact)"},
    {"change", change, METH_O, "The largest penalty at which a series still has a step."},
    {NULL, NULL, 0, NULL}};

int tg_py_add_answers(PyObject *module) { return PyModule_AddFunctions(module, methods); }

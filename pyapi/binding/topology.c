/* topology.c - platforms from Python for the reducers.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "binding.h"
#include "topology.h"

#include <string.h>

/* One block of memory holds everything; Python's strings are kept alive by `owner`. */
struct tg_py_topology {
  tg_topology topology;
  PyObject *owner; /* the tuple the strings belong to */
  tg_platform *platforms;
  size_t n;
};

/* PyArg_ParseTuple takes tuples only. */
static int is_tuple(PyObject *object, const char *what) {
  if (PyTuple_Check(object)) return 1;
  PyErr_SetString(PyExc_TypeError, what);
  return 0;
}

static int place_of(PyObject *pair, tg_place *out) {
  if (!is_tuple(pair, "a cpu is a pair (cluster, core)")) return -1;
  return PyArg_ParseTuple(pair, "O&O&;a cpu is a pair (cluster, core)", tg_py_u32, &out->cluster,
                          tg_py_u32, &out->core)
             ? 0
             : -1;
}

/* A new array of places; empty for an empty tuple. */
static int places_of(PyObject *tuple, tg_place **out, size_t *n) {
  if (!is_tuple(tuple, "cpus are a tuple of pairs")) return -1;
  *n = (size_t)PyTuple_Size(tuple);
  *out = PyMem_Calloc(*n + 1, sizeof **out);
  if (*out == NULL) {
    PyErr_NoMemory();
    return -1;
  }
  for (size_t i = 0; i < *n; i++) {
    if (place_of(PyTuple_GetItem(tuple, (Py_ssize_t)i), &(*out)[i]) < 0) return -1;
  }
  return 0;
}

static int names_of(PyObject *tuple, tg_platform *p) {
  size_t n = (size_t)PyTuple_Size(tuple);
  const char **names = PyMem_Calloc(n + 1, sizeof *names);
  if (names == NULL) {
    PyErr_NoMemory();
    return -1;
  }
  p->names = names;
  for (size_t i = 0; i < n; i++) {
    names[i] = tg_py_text(PyTuple_GetItem(tuple, (Py_ssize_t)i), "a name of a platform");
    if (names[i] == NULL) return -1;
    p->n_names = i + 1;
  }
  return 0;
}

/* Maps: pairs (printed, cpus) of tuples of equal length. */
static int maps_of(PyObject *tuple, tg_platform *p) {
  size_t n = (size_t)PyTuple_Size(tuple);
  tg_label_map *maps = PyMem_Calloc(n + 1, sizeof *maps);
  if (maps == NULL) {
    PyErr_NoMemory();
    return -1;
  }
  p->maps = maps;
  for (size_t i = 0; i < n; i++) {
    PyObject *printed = NULL;
    PyObject *cpus = NULL;
    tg_place *places = NULL;
    size_t n_cpus = 0;
    PyObject *item = PyTuple_GetItem(tuple, (Py_ssize_t)i);
    p->n_maps = i + 1;
    if (!is_tuple(item, "a map is a pair (printed, cpus)")) return -1;
    if (!PyArg_ParseTuple(item, "O!O!;a map is a pair (printed, cpus)", &PyTuple_Type, &printed,
                          &PyTuple_Type, &cpus)) {
      return -1;
    }
    int failed = places_of(printed, &places, &maps[i].n) < 0;
    maps[i].printed = places;
    places = NULL;
    if (!failed) failed = places_of(cpus, &places, &n_cpus) < 0;
    maps[i].cpus = places;
    if (failed) return -1;
    if (n_cpus != maps[i].n) {
      PyErr_SetString(PyExc_ValueError, "a map has as many cpus as labels");
      return -1;
    }
  }
  return 0;
}

/* (name, names, clock_hz, cpus, linear, maps) */
static int platform_of(PyObject *item, tg_platform *p) {
  PyObject *names = NULL;
  PyObject *cpus = NULL;
  PyObject *linear = NULL;
  PyObject *maps = NULL;
  PyObject *clock_hz = NULL;
  tg_place *places = NULL;
  if (!is_tuple(item, "a platform is (name, names, clock_hz, cpus, linear, maps)")) return -1;
  if (!PyArg_ParseTuple(item,
                        "sO!OO!O!O!;a platform is (name, names, clock_hz, cpus, linear, maps)",
                        &p->name, &PyTuple_Type, &names, &clock_hz, &PyTuple_Type, &cpus,
                        &PyTuple_Type, &linear, &PyTuple_Type, &maps)) {
    return -1;
  }
  p->clock_hz = PyLong_AsUnsignedLongLong(clock_hz);
  if (PyErr_Occurred()) return -1;
  if (names_of(names, p) < 0) return -1;
  int failed = places_of(cpus, &places, &p->n_cpus) < 0;
  p->cpus = places;
  if (failed) return -1;
  places = NULL;
  failed = places_of(linear, &places, &p->n_linear) < 0;
  p->linear = places;
  return failed || maps_of(maps, p) < 0 ? -1 : 0;
}

void tg_py_topology_free(tg_py_topology *t) {
  if (t == NULL) return;
  for (size_t i = 0; i < t->n; i++) {
    tg_platform *p = &t->platforms[i];
    for (size_t m = 0; m < p->n_maps; m++) {
      PyMem_Free((void *)p->maps[m].printed);
      PyMem_Free((void *)p->maps[m].cpus);
    }
    PyMem_Free((void *)p->maps);
    PyMem_Free((void *)p->names);
    PyMem_Free((void *)p->cpus);
    PyMem_Free((void *)p->linear);
  }
  PyMem_Free(t->platforms);
  Py_XDECREF(t->owner);
  PyMem_Free(t);
}

tg_py_topology *tg_py_topology_new(PyObject *platforms) {
  tg_py_topology *t = PyMem_Calloc(1, sizeof *t);
  if (t == NULL) {
    PyErr_NoMemory();
    return NULL;
  }
  t->owner = PySequence_Tuple(platforms);
  if (t->owner == NULL) goto fail;
  size_t n = (size_t)PyTuple_Size(t->owner);
  t->platforms = PyMem_Calloc(n + 1, sizeof *t->platforms);
  if (t->platforms == NULL) {
    PyErr_NoMemory();
    goto fail;
  }
  for (size_t i = 0; i < n; i++) {
    t->n = i + 1;
    if (platform_of(PyTuple_GetItem(t->owner, (Py_ssize_t)i), &t->platforms[i]) < 0) goto fail;
  }
  t->topology.platforms = t->platforms;
  t->topology.n = t->n;
  return t;
fail:
  tg_py_topology_free(t);
  return NULL;
}

const tg_topology *tg_py_topology_get(const tg_py_topology *t) {
  return t != NULL ? &t->topology : NULL;
}

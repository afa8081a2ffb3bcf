/* rules.c - _core.RuleSet: compiled line rules.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "binding.h"

#include <string.h>

/* The strings of one rule definition point into Python objects that the caller keeps alive. No
 * Python code may run while they are gathered, for it could change the dicts: so flags are bool
 * and numbers are int, not objects that could be turned into them. */
static int take_text(PyObject *dict, const char *name, const char **out) {
  PyObject *value = PyDict_GetItemString(dict, name); /* borrowed */
  *out = NULL;
  if (value == NULL || value == Py_None) return 0;
  *out = tg_py_text(value, name);
  return *out != NULL ? 0 : -1;
}

/* A bool; a key that is not there is false. */
static int take_flag(PyObject *dict, const char *key, bool *out) {
  PyObject *item = PyDict_GetItemString(dict, key);
  *out = item == Py_True;
  if (item == NULL || PyBool_Check(item)) return 0;
  PyErr_Format(PyExc_TypeError, "%s of a rule is a bool", key);
  return -1;
}

/* One of the values 0 to `last` of an enum; a key that is not there is 0. */
static int take_code(PyObject *dict, const char *key, int last, int *out) {
  PyObject *item = PyDict_GetItemString(dict, key);
  *out = 0;
  if (item == NULL) return 0;
  if (!PyLong_Check(item)) {
    PyErr_Format(PyExc_TypeError, "%s of a rule is an int", key);
    return -1;
  }
  const long code = PyLong_AsLong(item);
  if (code >= 0 && code <= last) {
    *out = (int)code;
    return 0;
  }
  if (!PyErr_Occurred()) PyErr_Format(PyExc_ValueError, "%s of a rule is 0 to %d", key, last);
  return -1;
}

/* The rows of a section: a NULL-terminated array, freed by the caller with PyMem_Free. */
static int take_rows(PyObject *dict, const char ***out) {
  PyObject *rows = PyDict_GetItemString(dict, "rows");
  *out = NULL;
  if (rows == NULL || rows == Py_None) return 0;
  if (!PyTuple_Check(rows)) {
    PyErr_SetString(PyExc_TypeError, "rows of a rule is a tuple of str");
    return -1;
  }
  Py_ssize_t n = PyTuple_Size(rows);
  *out = PyMem_Calloc((size_t)n + 1, sizeof **out);
  if (*out == NULL) {
    PyErr_NoMemory();
    return -1;
  }
  for (Py_ssize_t i = 0; i < n; i++) {
    (*out)[i] = tg_py_text(PyTuple_GetItem(rows, i), "a row of a rule");
    if ((*out)[i] == NULL) return -1;
  }
  return 0;
}

/* The texts of a rule, by the name of the member of tg_rule_def. */
static int take_texts(PyObject *dict, tg_rule_def *def) {
  const struct {
    const char *name;
    const char **to;
  } texts[] = {{"name", &def->name},           {"pattern", &def->pattern}, {"tag", &def->tag},
               {"values", &def->values},       {"unit", &def->unit},       {"end", &def->end},
               {"exponents", &def->exponents}, {"context", &def->context}, {"until", &def->until},
               {"before", &def->before},       {"count", &def->count},     {"below", &def->below},
               {"columns", &def->columns},     {"upto", &def->upto},       {"total", &def->total},
               {"grows", &def->grows},         {"cumulative", &def->cumulative}};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
    if (take_text(dict, texts[i].name, texts[i].to) < 0) return -1;
  return 0;
}

/* One rule as Python hands it over: a dict with the members of tg_rule_def. */
static int take_rule(PyObject *dict, tg_rule_def *def, const char ***rows) {
  if (!PyDict_Check(dict)) {
    PyErr_SetString(PyExc_TypeError, "a rule is a dict");
    return -1;
  }
  if (take_texts(dict, def) < 0 || take_rows(dict, rows) < 0) return -1;
  def->rows = *rows;
  int code = TG_BETTER_LOWER;
  if (take_code(dict, "better", TG_BETTER_NONE, &code) < 0) return -1;
  def->better = (tg_better)code;
  if (take_code(dict, "observation", TG_OBSERVATION_BOOT, &code) < 0) return -1;
  def->observation = (tg_observation)code;
  if (take_flag(dict, "needs_clock", &def->needs_clock) < 0) return -1;
  if (take_flag(dict, "rounded", &def->rounded) < 0) return -1;
  return take_flag(dict, "all", &def->all) < 0 ? -1 : take_flag(dict, "soft", &def->soft);
}

static void release_ruleset(void *set) { tg_ruleset_free(set); }

static PyObject *ruleset_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"rules", "builtin", "max_rules", "max_template", NULL};
  PyObject *rules = NULL;
  int builtin = 1;
  uint64_t most[2] = {0, 0};
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|Op$O&O&:RuleSet", names, &rules, &builtin,
                                   tg_py_u64, &most[0], tg_py_u64, &most[1])) {
    return NULL;
  }
  const tg_rule_limits limits = {(size_t)most[0], (size_t)most[1]};
  PyObject *items = rules == NULL ? PyTuple_New(0) : PySequence_Tuple(rules);
  if (items == NULL) return NULL;
  size_t n = (size_t)PyTuple_Size(items);
  tg_py_ruleset *self = NULL;
  tg_ruleset *set = NULL;
  tg_error err = {0};
  tg_status status = TG_OK;
  tg_rule_def *defs = PyMem_Calloc(n + 1, sizeof *defs);
  const char ***rows = PyMem_Calloc(n + 1, sizeof *rows);
  if (defs == NULL || rows == NULL) {
    PyErr_NoMemory();
    goto done;
  }
  for (size_t i = 0; i < n; i++) {
    if (take_rule(PyTuple_GetItem(items, (Py_ssize_t)i), &defs[i], &rows[i]) < 0) goto done;
  }
  status = builtin ? tg_formats_ruleset_within(NULL, defs, n, &limits, &set, &err)
                   : tg_ruleset_new_within(NULL, defs, n, &limits, &set, &err);
  if (status != TG_OK) {
    tg_py_raise(PyType_GetModule(type), status, &err, 1);
    goto done;
  }
  tg_py_hold *hold = tg_py_hold_new(set, release_ruleset);
  if (hold == NULL) goto done;
  self = (tg_py_ruleset *)PyType_GenericAlloc(type, 0);
  if (self == NULL) {
    tg_py_hold_put(hold);
    goto done;
  }
  self->set = set;
  self->hold = hold;
done:
  for (size_t i = 0; rows != NULL && i < n; i++) PyMem_Free((void *)rows[i]);
  PyMem_Free(rows);
  PyMem_Free(defs);
  Py_DECREF(items);
  return (PyObject *)self;
}

static void ruleset_dealloc(PyObject *object) {
  PyTypeObject *type = Py_TYPE(object);
  tg_py_hold_put(((tg_py_ruleset *)object)->hold);
  PyObject_Free(object);
  Py_DECREF(type);
}

static Py_ssize_t ruleset_length(PyObject *self) {
  return (Py_ssize_t)tg_ruleset_count(((tg_py_ruleset *)self)->set);
}

PyObject *tg_py_rule_names(const tg_ruleset *set) {
  size_t n = tg_ruleset_count(set);
  PyObject *out = PyTuple_New((Py_ssize_t)n);
  for (size_t i = 0; out != NULL && i < n; i++) {
    PyObject *name = PyUnicode_FromString(tg_ruleset_name(set, i));
    if (name == NULL) {
      Py_CLEAR(out);
      break;
    }
    PyTuple_SetItem(out, (Py_ssize_t)i, name);
  }
  return out;
}

static PyObject *ruleset_names(PyObject *self, void *unused) {
  (void)unused;
  return tg_py_rule_names(((tg_py_ruleset *)self)->set);
}

int tg_py_find_rule(const tg_ruleset *set, PyObject *which, size_t *rule) {
  if (PyUnicode_Check(which)) {
    const char *name = tg_py_text(which, "the name of a rule");
    if (name == NULL) return -1;
    if (tg_ruleset_find(set, name, rule) == TG_OK) return 0;
    PyErr_SetObject(PyExc_KeyError, which);
    return -1;
  }
  *rule = PyLong_AsSize_t(which);
  if (*rule == (size_t)-1 && PyErr_Occurred()) return -1;
  if (*rule < tg_ruleset_count(set)) return 0;
  PyErr_Format(PyExc_IndexError, "rule %zu of %zu", *rule, tg_ruleset_count(set));
  return -1;
}

static PyObject *ruleset_tag(PyObject *self, PyObject *which) {
  const tg_ruleset *set = ((tg_py_ruleset *)self)->set;
  size_t rule = 0;
  if (tg_py_find_rule(set, which, &rule) < 0) return NULL;
  tg_str tag = tg_ruleset_tag(set, rule);
  return PyBytes_FromStringAndSize((const char *)tag.p, (Py_ssize_t)tag.n);
}

static PyObject *ruleset_fields(PyObject *self, PyObject *which) {
  const tg_ruleset *set = ((tg_py_ruleset *)self)->set;
  size_t rule = 0;
  if (tg_py_find_rule(set, which, &rule) < 0) return NULL;
  size_t n = tg_ruleset_fields(set, rule);
  PyObject *out = PyTuple_New((Py_ssize_t)n);
  for (size_t i = 0; out != NULL && i < n; i++) {
    tg_field_info info = {0};
    (void)tg_ruleset_field(set, rule, i, &info);
    PyObject *name = PyUnicode_FromString(info.name);
    if (name == NULL) {
      Py_CLEAR(out);
      break;
    }
    PyTuple_SetItem(out, (Py_ssize_t)i, name);
  }
  return out;
}

/* Adds a format: its title, its observation, how its values stand without a clock
 * (NULL: no clock is needed). */
static int add_format(PyObject *formats, PyObject *name, const char *title,
                      tg_observation observation, const char *needs_clock) {
  PyObject *about = Py_BuildValue("{s:s,s:s,s:z}", "title", title, "observation",
                                  observation == TG_OBSERVATION_BOOT ? "boot" : "run",
                                  "needs_clock", needs_clock);
  const int done = about != NULL ? PyDict_SetItem(formats, name, about) : -1;
  Py_XDECREF(about);
  return done;
}

/* Adds the built-in formats; -1 with an exception set. */
static int add_builtin(PyObject *formats) {
  for (size_t f = 0; tg_formats[f] != NULL; f++) {
    PyObject *name = PyUnicode_FromString(tg_formats[f]->name);
    const int done = name != NULL ? add_format(formats, name, tg_formats[f]->title,
                                               tg_formats[f]->observation,
                                               tg_formats[f]->needs_clock)
                                  : -1;
    Py_XDECREF(name);
    if (done < 0) return -1;
  }
  return 0;
}

/* The formats of a set: the built-in ones, and those that only its rules name. Of several rules of
 * a format one that says boot, or that needs a clock, speaks for all. */
static PyObject *ruleset_formats(PyObject *self, void *unused) {
  const tg_ruleset *set = ((tg_py_ruleset *)self)->set;
  PyObject *out = PyDict_New(), *own = PyDict_New();
  (void)unused;
  for (size_t i = 0; out != NULL && own != NULL && i < tg_ruleset_count(set); i++) {
    const char *rule = tg_ruleset_name(set, i), *dot = strchr(rule, '.');
    PyObject *name = PyUnicode_FromStringAndSize(
        rule, dot != NULL ? dot - rule : (Py_ssize_t)strlen(rule));
    PyObject *said = name != NULL ? PyDict_GetItemWithError(own, name) : NULL;
    const long had = said != NULL ? PyLong_AsLong(said) : 0;
    const long has = (tg_ruleset_observation(set, i) == TG_OBSERVATION_BOOT ? 1 : 0) |
                     (tg_ruleset_needs_clock(set, i) ? 2 : 0) | had;
    PyObject *bits = PyLong_FromLong(has);
    const int failed = name == NULL || bits == NULL || PyErr_Occurred() ||
                       PyDict_SetItem(own, name, bits) < 0 ||
                       add_format(out, name, "", (has & 1) != 0, (has & 2) != 0 ? "ticks" : NULL) < 0;
    Py_XDECREF(bits);
    Py_XDECREF(name);
    if (failed) Py_CLEAR(out);
  }
  Py_XDECREF(own);
  if (out != NULL && add_builtin(out) < 0) Py_CLEAR(out);
  return out;
}

static PyObject *formats(PyObject *module, PyObject *unused) {
  PyObject *out = PyDict_New();
  (void)module;
  (void)unused;
  if (out != NULL && add_builtin(out) < 0) Py_CLEAR(out);
  return out;
}

static PyMethodDef functions[] = {
    {"formats", formats, METH_NOARGS,
     "formats()\n--\n\nThe built-in formats by name: title, observation, needs_clock."},
    {NULL, NULL, 0, NULL}};

/* match(rule, line, at): how the rule fares on one line with its tag at that place. */
static PyObject *ruleset_match(PyObject *object, PyObject *args) {
  tg_py_ruleset *self = (tg_py_ruleset *)object;
  PyObject *which = NULL;
  Py_buffer line;
  Py_ssize_t at = 0;
  size_t rule = 0;
  if (!PyArg_ParseTuple(args, "Oy*n:match", &which, &line, &at)) return NULL;
  PyObject *out = NULL;
  tg_span *spans = NULL;
  size_t start = 0;
  size_t end = 0;
  tg_near near = {0, 0, NULL};
  if (tg_py_find_rule(self->set, which, &rule) < 0) goto done;
  if (self->taken || at < 0 || at > line.len) {
    PyErr_SetString(
        self->taken ? PyExc_RuntimeError : PyExc_ValueError,
        self->taken ? "the rule set is in use by a reader" : "no such place in the line");
    goto done;
  }
  spans = PyMem_Calloc(tg_ruleset_fields(self->set, rule) + 1, sizeof *spans);
  if (spans == NULL) {
    PyErr_NoMemory();
    goto done;
  }
  tg_status status = tg_ruleset_match(self->set, rule, line.buf, (size_t)line.len, (size_t)at,
                                      spans, &start, &end, &near);
  if (status == TG_OK) {
    out = Py_BuildValue("(Onns)", Py_True, (Py_ssize_t)start, (Py_ssize_t)end, "");
  } else if (status == TG_ESYNTAX) {
    out = Py_BuildValue("(Onns)", Py_False, (Py_ssize_t)near.item, (Py_ssize_t)near.at,
                        near.expected == NULL ? "" : near.expected);
  } else {
    tg_py_raise(PyType_GetModule(Py_TYPE(object)), status, NULL, 1);
  }
done:
  PyMem_Free(spans);
  PyBuffer_Release(&line);
  return out;
}

static PyMethodDef ruleset_methods[] = {
    {"tag", ruleset_tag, METH_O, "tag($self, rule, /)\n--\n\nThe literal the scanner looks for, as bytes."},
    {"fields", ruleset_fields, METH_O, "fields($self, rule, /)\n--\n\nNames of the kept fields."},
    {"match", ruleset_match, METH_VARARGS,
     "match($self, rule, line, at, /)\n--\n\nTry a rule with its tag at that place of a line.\n\n"
     "Gives (True, start, end, '') or (False, template item, place, expected text)."},
    {NULL, NULL, 0, NULL}};

static PyGetSetDef ruleset_getset[] = {
    {"names", ruleset_names, NULL, "Names of the rules, in order.", NULL},
    {"formats", ruleset_formats, NULL,
     "By name: title, observation (\"boot\" or \"run\"), needs_clock (how values stand without one).",
     NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot ruleset_slots[] = {
    {Py_tp_new, (void *)(intptr_t)ruleset_new},
    {Py_tp_dealloc, (void *)(intptr_t)ruleset_dealloc},
    {Py_sq_length, (void *)(intptr_t)ruleset_length},
    {Py_tp_methods, ruleset_methods},
    {Py_tp_getset, ruleset_getset},
    {Py_tp_doc,
     "RuleSet(rules=(), builtin=True, *, max_rules=0, max_template=0)\n--\n\n"
     "Compiled line rules: those given (dicts with the members of tg_rule_def), then\n"
     "those of the built-in formats."},
    {0, NULL}};

static PyType_Spec ruleset_spec = {
    .name = "tickgauge._core.RuleSet",
    .basicsize = sizeof(tg_py_ruleset),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = ruleset_slots,
};

int tg_py_add_rules(PyObject *module) {
  tg_py_state *state = tg_py_state_of(module);
  state->ruleset_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &ruleset_spec, NULL);
  if (state->ruleset_type == NULL || PyModule_AddFunctions(module, functions) < 0) return -1;
  return PyModule_AddObjectRef(module, "RuleSet", (PyObject *)state->ruleset_type);
}

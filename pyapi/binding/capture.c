/* capture.c - `_core.Capture`: ILA CSV, VCD and dumps in, tables of signals and AXI transactions
 * out. SPDX-License-Identifier: BSD-3-Clause */
#include "binding.h"

#include <string.h>

#define SLICE ((size_t)8 << 20) /* bytes between two looks for signals: some 20 ms */
#define MOST_WORDS 256 /* entries of keep, map and assume */

typedef struct Capture {
  PyObject ob_base;
  tg_capture *capture;
  tg_py_hold *hold;
  int busy; /* a thread is inside the core */
  int finished; /* it changes no more, but by adopt() */
  int exported; /* tables of it were handed out: it must not change any more */
} Capture;

static void free_capture(void *p) { tg_capture_free(p); }
static void free_axi(void *p) { tg_axi_free(p); }

static PyObject *module_of(PyObject *self) { return PyType_GetModule(Py_TYPE(self)); }

/* One call at a time; -1 with RuntimeError set. */
static int enter(Capture *self) {
  if (self->busy) {
    PyErr_SetString(PyExc_RuntimeError, "the capture is in use by another thread");
    return -1;
  }
  self->busy = 1;
  return 0;
}

/* The same for answers of a finished capture only; ValueError before. */
static int enter_finished(Capture *self) {
  if (enter(self) < 0) return -1;
  if (self->finished) return 0;
  self->busy = 0;
  PyErr_SetString(PyExc_ValueError, "the capture is not finished");
  return -1;
}

/* Pairs ("arvalid", "column") of a sequence; the strings live as long as `items`. */
static int take_pairs(PyObject *items, const char **first, PyObject **second) {
  for (Py_ssize_t i = 0; i < PyTuple_Size(items); i++) {
    PyObject *pair = PyTuple_GetItem(items, i);
    if (!PyTuple_Check(pair) || PyTuple_Size(pair) != 2) {
      PyErr_SetString(PyExc_TypeError, "a sequence of pairs is needed");
      return -1;
    }
    first[i] = tg_py_text(PyTuple_GetItem(pair, 0), "a role");
    if (first[i] == NULL) return -1;
    second[i] = PyTuple_GetItem(pair, 1);
  }
  return 0;
}

/* `object` as a new tuple, which nobody else can change, of at most MOST_WORDS. NULL with an
 * exception set. */
static PyObject *take_sequence(PyObject *object, const char *what) {
  PyObject *items = object == NULL ? PyTuple_New(0) : PySequence_Tuple(object);
  if (items != NULL && PyTuple_Size(items) > MOST_WORDS) {
    PyErr_Format(PyExc_ValueError, "%s: more than %d entries", what, MOST_WORDS);
    Py_CLEAR(items);
  }
  return items;
}

static int form_of(const char *word, tg_capture_form *form) {
  static const char *const words[] = {"csv", "vcd", "dmp"};
  for (size_t i = 0; i < 3; i++)
    if (strcmp(word, words[i]) == 0) {
      *form = (tg_capture_form)(TG_CAPTURE_CSV + i);
      return 0;
    }
  PyErr_Format(PyExc_ValueError, "form is \"csv\", \"vcd\" or \"dmp\", not \"%.40s\"", word);
  return -1;
}

static PyObject *capture_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"form", "sample_on", "keep", "map", "samples",
                          "max_item", "max_signals", "max_width", "max_scope", NULL};
  const char *word, *columns[MOST_WORDS], *roles[MOST_WORDS];
  PyObject *keep_arg = NULL, *map_arg = NULL, *keep = NULL, *map = NULL, *values[MOST_WORDS];
  tg_capture_map pairs[MOST_WORDS];
  tg_capture_options o = {0};
  tg_capture_form form = TG_CAPTURE_UNKNOWN;
  tg_capture *capture = NULL;
  tg_error err = {0};
  Capture *self = NULL;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "s|$zOOO&O&O&O&O&", names, &word, &o.sample_on,
                                   &keep_arg, &map_arg, tg_py_u64, &o.samples, tg_py_u64,
                                   &o.max_item, tg_py_u64, &o.max_signals, tg_py_u32, &o.max_width,
                                   tg_py_u32, &o.max_scope) ||
      form_of(word, &form) < 0)
    return NULL;
  keep = take_sequence(keep_arg, "keep");
  map = take_sequence(map_arg, "map");
  if (keep == NULL || map == NULL || take_pairs(map, roles, values) < 0) goto done;
  for (Py_ssize_t i = 0; i < PyTuple_Size(keep); i++) {
    columns[i] = tg_py_text(PyTuple_GetItem(keep, i), "a column");
    if (columns[i] == NULL) goto done;
  }
  for (Py_ssize_t i = 0; i < PyTuple_Size(map); i++) {
    pairs[i] = (tg_capture_map){.role = roles[i], .column = tg_py_text(values[i], "a column")};
    if (pairs[i].column == NULL) goto done;
  }
  o.keep = columns;
  o.n_keep = (size_t)PyTuple_Size(keep);
  o.map = pairs;
  o.n_map = (size_t)PyTuple_Size(map);
  tg_status status = tg_capture_new(NULL, form, &o, &capture, &err);
  if (status != TG_OK) {
    tg_py_raise(PyType_GetModule(type), status, &err, 0);
    goto done;
  }
  self = (Capture *)PyType_GenericAlloc(type, 0);
  if (self == NULL) {
    tg_capture_free(capture);
    goto done;
  }
  self->capture = capture;
  self->hold = tg_py_hold_new(capture, free_capture);
  if (self->hold == NULL) {
    self->capture = NULL;
    Py_CLEAR(self);
  }
done:
  Py_XDECREF(keep);
  Py_XDECREF(map);
  return (PyObject *)self;
}

static void capture_dealloc(PyObject *object) {
  Capture *self = (Capture *)object;
  PyTypeObject *type = Py_TYPE(object);
  tg_py_hold_put(self->hold);
  PyObject_Free(object);
  Py_DECREF(type);
}

static PyObject *capture_feed(PyObject *object, PyObject *data) {
  Capture *self = (Capture *)object;
  Py_buffer view;
  tg_error err = {0};
  tg_status status = TG_OK;
  if (PyObject_GetBuffer(data, &view, PyBUF_SIMPLE) < 0) return NULL;
  if (enter(self) < 0) {
    PyBuffer_Release(&view);
    return NULL;
  }
  const uint8_t *p = view.buf;
  size_t left = (size_t)view.len;
  bool stopped = false;
  do { /* once for an empty buffer, too: a finished capture says so */
    const size_t n = left < SLICE ? left : SLICE;
    Py_BEGIN_ALLOW_THREADS status = tg_capture_feed(self->capture, p, n, &err);
    Py_END_ALLOW_THREADS p += n;
    left -= n;
    stopped = PyErr_CheckSignals() < 0;
  } while (left > 0 && status == TG_OK && !stopped);
  self->busy = 0;
  PyBuffer_Release(&view);
  if (stopped) return NULL;
  if (status != TG_OK) return tg_py_raise(module_of(object), status, &err, 0);
  Py_RETURN_NONE;
}

static PyObject *capture_rises(PyObject *object, PyObject *args) {
  Capture *self = (Capture *)object;
  uint32_t signal = 0;
  Py_buffer view;
  tg_status status = TG_EINVAL;
  if (!PyArg_ParseTuple(args, "O&y*", tg_py_u32, &signal, &view)) return NULL;
  if (enter(self) == 0) {
    if ((size_t)view.len % sizeof(uint64_t) == 0 && (uintptr_t)view.buf % sizeof(uint64_t) == 0)
      status =
          tg_capture_rises(self->capture, signal, view.buf, (size_t)view.len / sizeof(uint64_t));
    self->busy = 0;
    if (status != TG_OK) tg_py_raise(module_of(object), status, NULL, 0);
  }
  PyBuffer_Release(&view);
  if (PyErr_Occurred()) return NULL;
  Py_RETURN_NONE;
}

static PyObject *capture_finish(PyObject *object, PyObject *unused) {
  Capture *self = (Capture *)object;
  tg_error err = {0};
  tg_status status;
  (void)unused;
  if (enter(self) < 0) return NULL;
  Py_BEGIN_ALLOW_THREADS status = tg_capture_finish(self->capture, &err);
  Py_END_ALLOW_THREADS self->busy = 0;
  self->finished = self->finished || status == TG_OK;
  if (status != TG_OK) return tg_py_raise(module_of(object), status, &err, 0);
  Py_RETURN_NONE;
}

static PyObject *capture_adopt(PyObject *object, PyObject *other) {
  Capture *self = (Capture *)object;
  if (!PyObject_TypeCheck(other, Py_TYPE(object))) {
    PyErr_SetString(PyExc_TypeError, "adopt takes a Capture of form \"dmp\"");
    return NULL;
  }
  if (self->exported) {
    PyErr_SetString(PyExc_RuntimeError, "tables of the capture were handed out already");
    return NULL;
  }
  if (enter_finished((Capture *)other) < 0) return NULL;
  ((Capture *)other)->busy = 0; /* the GIL is held until the end */
  if (enter_finished(self) < 0) return NULL;
  tg_status status = tg_capture_adopt(self->capture, ((Capture *)other)->capture);
  self->busy = 0;
  if (status != TG_OK) return tg_py_raise(module_of(object), status, NULL, 0);
  Py_RETURN_NONE;
}

static PyObject *capture_about(PyObject *object, PyObject *unused) {
  static const char *const forms[] = {"", "csv", "vcd", "dmp"};
  (void)unused;
  if (enter_finished((Capture *)object) < 0) return NULL;
  const tg_capture_info i = tg_capture_about(((Capture *)object)->capture);
  ((Capture *)object)->busy = 0;
  return Py_BuildValue("{s:s,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:I,s:I,s:N,s:N,s:N,s:N}", "form",
                       forms[i.form], "samples", i.samples, "seen", i.seen, "stored", i.stored,
                       "windows", i.windows, "triggers", i.triggers, "gaps", i.gaps, "last_time",
                       i.last_time, "signals", i.signals, "interfaces", i.interfaces, "depth_known",
                       PyBool_FromLong(i.depth_known), "clocked", PyBool_FromLong(i.clocked),
                       "radix_row", PyBool_FromLong(i.radix_row), "ila", PyBool_FromLong(i.ila));
}

static PyObject *capture_word(PyObject *object, PyObject *name) {
  const char *text = tg_py_text(name, "the name of a word");
  if (text == NULL || enter_finished((Capture *)object) < 0) return NULL;
  ((Capture *)object)->busy = 0;
  const tg_str s = tg_capture_word(((Capture *)object)->capture, text);
  if (s.p == NULL) Py_RETURN_NONE;
  return PyUnicode_DecodeUTF8((const char *)s.p, (Py_ssize_t)s.n, "replace");
}

static PyObject *capture_table(PyObject *object, PyObject *name) {
  static const struct {
    const char *name;
    const tg_table *(*get)(const tg_capture *c);
  } tables[] = {{"signals", tg_capture_signals},
                {"interfaces", tg_capture_interfaces},
                {"marks", tg_capture_marks},
                {"problems", tg_capture_problems}};
  Capture *self = (Capture *)object;
  const char *text = tg_py_text(name, "the name of a table");
  if (text == NULL || enter_finished(self) < 0) return NULL;
  self->busy = 0;
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
    if (strcmp(text, tables[i].name) == 0) {
      self->exported = 1;
      return tg_py_table(module_of(object), (tg_table *)(uintptr_t)tables[i].get(self->capture),
                         self->hold);
    }
  PyErr_SetObject(PyExc_KeyError, name);
  return NULL;
}

static PyObject *capture_changes(PyObject *object, PyObject *row) {
  Capture *self = (Capture *)object;
  tg_table *table = NULL;
  tg_status status;
  uint32_t signal = 0;
  if (!tg_py_u32(row, &signal) || enter_finished(self) < 0) return NULL;
  Py_BEGIN_ALLOW_THREADS status = tg_capture_changes(self->capture, signal, &table);
  Py_END_ALLOW_THREADS self->busy = 0;
  if (status != TG_OK) return tg_py_raise(module_of(object), status, NULL, 0);
  return tg_py_table(module_of(object), table, NULL);
}

/* ---- the analysis -----------------------------------------------------------------------------
 */

/* The counts of the figures, by name. */
#define COUNTS(X)                                                                                 \
  X(cycles) X(in_reset) X(read_asked) X(read_unknown) X(address_held) X(address_held_w)           \
  X(first_wait) X(first_wait_w) X(gap_wait) X(gap_wait_w) X(packets) X(stream_bytes)              \
  X(stream_gap) X(stream_has_bytes) X(bound_reads) X(bound_writes) X(read_open) X(write_open)     \
  X(both_open) X(r_and_w) X(r_only) X(w_only) X(neither) X(blocked) X(master_stall)               \
  X(unknown) X(any_r_and_w) X(max_reads) X(max_writes) X(reads) X(writes) X(complete_reads)       \
  X(complete_writes) X(orphans) X(protocol) X(interleaves) X(reads_reordered)                     \
  X(writes_reordered) X(tail_median) X(tail_n) X(exclusive_reads) X(exclusive_writes)             \
  X(exclusive_pairs) X(exclusive_done) X(exclusive_failed) X(exclusive_refused) X(locked)

static PyObject *figures(const tg_axi *x) {
  static const char *const verdicts[] = {"unseen",      "nothing", "too few",
                                         "independent", "slowed",  "blocked"};
  static const char *const places[] = {"", "address", "data", "address and data"};
  static const char *const kinds[] = {"", "AXI4", "AXI3", "AXI4-Lite", "AXI-Stream"};
  const tg_axi_figures f = tg_axi_about(x);
  const struct {
    const char *name;
    uint64_t value;
  } counts[] = {
#define X(name) {#name, f.name},
      COUNTS(X)
#undef X
  };
  PyObject *out =
      Py_BuildValue("{s:d,s:d,s:d,s:s,s:s,s:s}", "p_given_w", f.p_given_w, "p_given_no_w",
                    f.p_given_no_w, "expected_blocked", f.expected_blocked, "verdict",
                    verdicts[f.verdict], "where", places[f.where & 3], "kind", kinds[f.kind]);
  for (size_t i = 0; out != NULL && i < sizeof counts / sizeof *counts; i++) {
    PyObject *value = PyLong_FromUnsignedLongLong(counts[i].value);
    if (value == NULL || PyDict_SetItemString(out, counts[i].name, value) < 0) Py_CLEAR(out);
    Py_XDECREF(value);
  }
  return out;
}

/* {"figures": {...}, "transactions": Table, ...}; takes over `x`. */
static PyObject *axi_dict(PyObject *module, tg_axi *x) {
  static const char *const names[] = {"transactions", "channels", "outstanding", "blocks",
                                      "problems",     "lanes",    "starts",      "packets"};
  PyObject *out = NULL, *value = NULL;
  tg_py_hold *hold = tg_py_hold_new(x, free_axi);
  if (hold == NULL) return NULL;
  out = PyDict_New();
  if (out != NULL) value = figures(x);
  if (value == NULL || PyDict_SetItemString(out, "figures", value) < 0) Py_CLEAR(out);
  Py_XDECREF(value);
  for (size_t i = 0; out != NULL && i < sizeof names / sizeof *names; i++) {
    value = tg_py_table(module, (tg_table *)(uintptr_t)tg_axi_table(x, names[i]), hold);
    if (value == NULL || PyDict_SetItemString(out, names[i], value) < 0) Py_CLEAR(out);
    Py_XDECREF(value);
  }
  tg_py_hold_put(hold);
  return out;
}

static int kind_of(const char *word, tg_axi_kind *kind) {
  static const char *const words[] = {"auto", "axi4", "axi3", "lite"};
  for (size_t i = 0; i < 4; i++)
    if (strcmp(word, words[i]) == 0) {
      *kind = (tg_axi_kind)i;
      return 0;
    }
  PyErr_Format(PyExc_ValueError, "kind is auto, axi4, axi3 or lite, not \"%.40s\"", word);
  return -1;
}

static PyObject *capture_axi(PyObject *object, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"interface",        "kind", "assume", "ignore_gaps", "lanes",
                          "max_transactions", "idle_start", NULL};
  Capture *self = (Capture *)object;
  PyObject *assume_arg = NULL, *lanes = Py_None, *assume = NULL, *values[MOST_WORDS], *out = NULL;
  const char *word = "auto", *roles[MOST_WORDS];
  tg_axi_assume levels[MOST_WORDS];
  tg_axi_options o = {0};
  tg_error err = {0};
  tg_axi *x = NULL;
  int ignore_gaps = 0, idle_start = 0;
  tg_status status = TG_OK;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&|$sOpOO&p", names, tg_py_u32, &o.interface,
                                   &word, &assume_arg, &ignore_gaps, &lanes, tg_py_u64,
                                   &o.max_transactions, &idle_start) ||
      kind_of(word, &o.kind) < 0)
    return NULL;
  if (lanes != Py_None) {
    if (!PyTuple_Check(lanes) || !PyArg_ParseTuple(lanes, "O&O&;lanes", tg_py_u64, &o.lane_first,
                                                      tg_py_u64, &o.lane_last)) {
      if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "lanes is a pair of samples");
      return NULL;
    }
    o.lanes = true;
  }
  assume = take_sequence(assume_arg, "assume");
  if (assume == NULL || take_pairs(assume, roles, values) < 0) goto done;
  for (Py_ssize_t i = 0; i < PyTuple_Size(assume); i++) {
    uint32_t level = 0;
    if (!tg_py_u32(values[i], &level)) goto done;
    levels[i] = (tg_axi_assume){.role = roles[i], .level = level};
  }
  o.assume = levels;
  o.n_assume = (size_t)PyTuple_Size(assume);
  o.ignore_gaps = ignore_gaps != 0;
  o.idle_start = idle_start != 0;
  tg_py_stop look;
  o.stop = tg_py_stop_new(&look);
  if (enter_finished(self) < 0) goto done;
  Py_BEGIN_ALLOW_THREADS status = tg_axi_new(NULL, self->capture, &o, &x, &err);
  Py_END_ALLOW_THREADS self->busy = 0;
  out = status == TG_OK ? axi_dict(module_of(object), x)
                        : tg_py_raise(module_of(object), status, &err, 0);
done:
  Py_XDECREF(assume);
  return out;
}

static PyMethodDef capture_methods[] = {
    {"feed", capture_feed, METH_O,
     "feed($self, data, /)\n--\n\nThe next bytes, cut anywhere. Signals are looked for every 8 "
     "MiB: the "
     "exception of a handler\n(KeyboardInterrupt) comes out, the bytes up to there are read, the "
     "others of "
     "`data` are not,\nand the capture may be fed on or finished."},
    {"rises", capture_rises, METH_VARARGS,
     "rises($self, signal, times, /)\n--\n\nRising edges of a clock (its row in \"signals\") that "
     "are not "
     "in the bytes fed: uint64 times\nin the unit of the VCD, in order."},
    {"finish", capture_finish, METH_NOARGS, "finish($self, /)\n--\n\nEnd of the source."},
    {"adopt", capture_adopt, METH_O,
     "adopt($self, dmp, /)\n--\n\nTake depth and marks of a finished dump, where there are none."},
    {"about", capture_about, METH_NOARGS, "about($self, /)\n--\n\nWhat the capture is, as a dict."},
    {"word", capture_word, METH_O,
     "word($self, name, /)\n--\n\n\"version\", \"timescale\" or \"clock\" of a VCD, or None."},
    {"table", capture_table, METH_O,
     "table($self, name, /)\n--\n\n\"signals\", \"interfaces\", \"marks\" or \"problems\"."},
    {"changes", capture_changes, METH_O,
     "changes($self, signal, /)\n--\n\nChanges of a stored signal, by its row in \"signals\"."},
    {"axi", (PyCFunction)(void (*)(void))capture_axi, METH_VARARGS | METH_KEYWORDS,
     "axi($self, interface, *, kind='auto', assume=(), ignore_gaps=False, lanes=None, "
     "max_transactions=0, idle_start=False)\n--\n\nAnalyse an interface: a dict of figures and "
     "tables. "
     "KeyboardInterrupt (whatever a signal's handler\nraises) ends it; the capture is as before."},
    {NULL, NULL, 0, NULL}};

static PyType_Slot capture_slots[] = {
    {Py_tp_doc,
     "Capture(form, *, sample_on=None, keep=(), map=(), samples=0, max_item=0, max_signals=0,\n"
     "        max_width=0, max_scope=0)\n--\n\n"
     "A logic capture fed in pieces: an ILA CSV, a VCD or an ILA dump. One thread at a time: a "
     "call "
     "while\nanother is under way is a RuntimeError and changes nothing."},
    {Py_tp_new, (void *)(uintptr_t)capture_new},
    {Py_tp_dealloc, (void *)(uintptr_t)capture_dealloc},
    {Py_tp_methods, capture_methods},
    {0, NULL}};

static PyType_Spec capture_spec = {.name = "tickgauge._core.Capture",
                                   .basicsize = sizeof(Capture),
                                   .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
                                   .slots = capture_slots};

static PyObject *capture_sniff(PyObject *module, PyObject *data) {
  static const char *const forms[] = {NULL, "csv", "vcd", "dmp"};
  Py_buffer view;
  (void)module;
  if (PyObject_GetBuffer(data, &view, PyBUF_SIMPLE) < 0) return NULL;
  const tg_capture_form form = tg_capture_sniff(view.buf, (size_t)view.len);
  PyBuffer_Release(&view);
  return Py_BuildValue("z", forms[form]);
}

static PyMethodDef functions[] = {{"capture_sniff", capture_sniff, METH_O,
                                   "capture_sniff(head, /)\n--\n\n\"csv\", \"vcd\" or \"dmp\" for "
                                   "the first bytes of a capture, or "
                                   "None."},
                                  {NULL, NULL, 0, NULL}};

int tg_py_add_capture(PyObject *module) {
  tg_py_state *state = tg_py_state_of(module);
  state->capture_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &capture_spec, NULL);
  if (state->capture_type == NULL) return -1;
  if (PyModule_AddObjectRef(module, "Capture", (PyObject *)state->capture_type) < 0) return -1;
  return PyModule_AddFunctions(module, functions);
}

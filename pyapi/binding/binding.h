/* binding.h - the parts that the files of tickgauge._core share.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TICKGAUGE_BINDING_H
#define TICKGAUGE_BINDING_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#ifndef NPY_NO_DEPRECATED_API
#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#endif
#ifndef NPY_TARGET_VERSION
#define NPY_TARGET_VERSION NPY_2_0_API_VERSION
#endif
#define PY_ARRAY_UNIQUE_SYMBOL tickgauge_core_ARRAY_API
#ifndef TG_PY_IMPORT_ARRAY
#define NO_IMPORT_ARRAY
#endif
#include <numpy/arrayobject.h>

#include <tickgauge/tickgauge.h>

/* Module state: the exception classes of tickgauge.errors and the heap types. */
typedef struct tg_py_state {
  PyObject *error;
  PyObject *input_error;
  PyObject *rule_error;
  PyObject *limit_error;
  PyObject *not_comparable;
  PyObject *not_enough_data;
  PyTypeObject *table_type;
  PyTypeObject *ruleset_type;
  PyTypeObject *reader_type;
  PyTypeObject *records_type;
  PyTypeObject *capture_type;
} tg_py_state;

/* The state of the module; never NULL once exec has begun. */
tg_py_state *tg_py_state_of(PyObject *module);

/* Raises the exception of `status` and returns NULL. `err` may be NULL (the message is then the
 * status text). TG_ESYNTAX and TG_EINVAL of a rule set are RuleError: pass `in_rules` 1. A
 * TG_EINTERRUPTED leaves the exception of the signal handler as it is. */
PyObject *tg_py_raise(PyObject *module, tg_status status, const tg_error *err, int in_rules);

/* The hook of one long call, for the time in which the GIL is dropped: every few milliseconds it
 * takes the GIL and runs the handlers of signals; an exception of one comes out of tg_py_raise with
 * TG_EINTERRUPTED. Handlers run Python code: an object that is in use must say so to them. */
typedef struct tg_py_stop {
  tg_stop hook;
  uint64_t looked; /* monotonic ns of the last look */
} tg_py_stop;
const tg_stop *tg_py_stop_new(tg_py_stop *stop);

/* Memory of the core that several Python objects and Arrow consumers share. The count is atomic
 * and the release function knows no Python, so that the last holder may let go without the GIL. */
typedef struct tg_py_hold tg_py_hold;

/* A hold with one reference on `object`. On failure `release(object)` has been called, MemoryError
 * is set and the result is NULL. */
tg_py_hold *tg_py_hold_new(void *object, void (*release)(void *object));
tg_py_hold *tg_py_hold_get(tg_py_hold *hold); /* one more reference; returns `hold` */
void tg_py_hold_put(tg_py_hold *hold);        /* one reference less; NULL is allowed */

/* Converters for "O&": an integer of 64 or 32 bits without sign into uint64_t or uint32_t. The
 * formats "K" and "I" would cut a larger number. OverflowError, TypeError. */
int tg_py_u64(PyObject *object, void *out);
int tg_py_u32(PyObject *object, void *out);

/* TypeError: `format` takes `word` as %s, then the name of the type of `got` as %U. */
void tg_py_wrong_type(const char *format, const char *word, PyObject *got);

/* The UTF-8 of a str without NUL, as long as `object` lives; NULL with an exception set. */
const char *tg_py_text(PyObject *object, const char *what);

/* Wraps a table as a `_core.Table`. With `hold` NULL the object owns the table (which is freed
 * when this call fails, too); otherwise a reference to `hold` is taken. NULL with an exception
 * set. */
PyObject *tg_py_table(PyObject *module, tg_table *table, tg_py_hold *hold);

/* The core table of a `_core.Table`; NULL with TypeError set for anything else. Borrowed. */
const tg_table *tg_py_table_of(PyObject *module, PyObject *object);

/* A new read-only array over `data`, kept alive by `base` (a new reference is taken). `rows` 0
 * gives an empty array of its own. */
PyObject *tg_py_view(const void *data, size_t rows, int typenum, PyObject *base);

/* A `_core.RuleSet`. */
typedef struct tg_py_ruleset {
  PyObject_HEAD
  tg_ruleset *set;
  tg_py_hold *hold;
  int taken; /* by a Reader that is not finished */
} tg_py_ruleset;

/* The names of all rules of a set, in order: a new tuple. */
PyObject *tg_py_rule_names(const tg_ruleset *set);

/* The index of a rule given by name or number; -1 with an exception set. */
int tg_py_find_rule(const tg_ruleset *set, PyObject *which, size_t *rule);

/* A `_core.Records` of `records`, which are freed when this fails, and of the rule set that they
 * refer to, of which a reference is taken. */
PyObject *tg_py_records_wrap(PyObject *module, tg_records *records, tg_py_hold *rules);

/* The core records of a `_core.Records`, which stay as they are until tg_py_records_leave is called
 * on the object; NULL with TypeError or RuntimeError set. */
const tg_records *tg_py_records_enter(PyObject *module, PyObject *object);
void tg_py_records_leave(PyObject *object);

/* Arrow PyCapsules of a table that `hold` keeps alive: the schema; (schema, struct array); a
 * stream of one batch. New references, NULL with an exception set. */
PyObject *tg_py_arrow_schema(PyObject *module, const tg_table *table);
PyObject *tg_py_arrow_array(PyObject *module, const tg_table *table, tg_py_hold *hold);
PyObject *tg_py_arrow_stream(PyObject *module, const tg_table *table, tg_py_hold *hold);

/* Each area adds its functions and types to the module; -1 with an exception set. */
int tg_py_add_errors(PyObject *module);
int tg_py_add_table(PyObject *module);
int tg_py_add_rules(PyObject *module);
int tg_py_add_records(PyObject *module);
int tg_py_add_reader(PyObject *module);
int tg_py_add_reduce(PyObject *module);
int tg_py_add_stats(PyObject *module);
int tg_py_add_answers(PyObject *module);
int tg_py_add_samples(PyObject *module);
int tg_py_add_capture(PyObject *module);
int tg_py_add_sink(PyObject *module);
int tg_py_add_stack(PyObject *module);

#endif

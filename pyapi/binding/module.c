/* module.c - tickgauge._core: the module and its state.
 * SPDX-License-Identifier: BSD-3-Clause */
#define TG_PY_IMPORT_ARRAY
#include "binding.h"

/* Every area of the binding, in the order in which it is added: one line for a new one. */
/* clang-format off */
static int (*const areas[])(PyObject *) = {
    tg_py_add_errors,
    tg_py_add_table,
    tg_py_add_stats,
    tg_py_add_answers,
    tg_py_add_samples,
    tg_py_add_rules,
    tg_py_add_records,
    tg_py_add_reader,
    tg_py_add_reduce,
    tg_py_add_capture,
    tg_py_add_sink,
    tg_py_add_stack,
};
/* clang-format on */

/* The build as the C compiler saw it, for tickgauge.build_info(). */
static PyObject *build_info(PyObject *module, PyObject *unused) {
  (void)module;
  (void)unused;
#if defined(__clang__)
  const char *compiler = "clang " __clang_version__;
#elif defined(__GNUC__)
  const char *compiler = "gcc " __VERSION__;
#else
  const char *compiler = "unknown";
#endif
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  const char *order = "big";
#else
  const char *order = "little";
#endif
#if defined(__SANITIZE_ADDRESS__)
  int sanitized = 1;
#else
  int sanitized = 0;
#endif
  return Py_BuildValue("{s:s,s:s,s:l,s:s,s:i,s:N}", "compiler", compiler, "byte_order", order,
                       "c_standard", (long)__STDC_VERSION__, "python_headers", PY_VERSION,
                       "numpy_c_api", (int)NPY_TARGET_VERSION, "address_sanitizer",
                       PyBool_FromLong(sanitized));
}

static PyMethodDef module_methods[] = {
    {"build_info", build_info, METH_NOARGS,
     "build_info()\n--\n\nHow the extension was built, as a dict."},
    {NULL, NULL, 0, NULL}};

static int module_exec(PyObject *module) {
  if (PyArray_ImportNumPyAPI() < 0) return -1;
  for (size_t i = 0; i < sizeof areas / sizeof areas[0]; i++) {
    if (areas[i](module) < 0) return -1;
  }
  return PyModule_AddFunctions(module, module_methods);
}

/* Calls VISIT on every object the state holds. */
#define STATE_OBJECTS(state)                                                         \
  {                                                                                  \
      (PyObject **)&(state)->error,          (PyObject **)&(state)->input_error,     \
      (PyObject **)&(state)->rule_error,     (PyObject **)&(state)->limit_error,     \
      (PyObject **)&(state)->not_comparable, (PyObject **)&(state)->not_enough_data, \
      (PyObject **)&(state)->table_type,     (PyObject **)&(state)->ruleset_type,    \
      (PyObject **)&(state)->reader_type,    (PyObject **)&(state)->records_type,    \
      (PyObject **)&(state)->capture_type,                                           \
  }

static int module_traverse(PyObject *module, visitproc visit, void *arg) {
  tg_py_state *state = tg_py_state_of(module);
  PyObject **objects[] = STATE_OBJECTS(state);
  for (size_t i = 0; i < sizeof objects / sizeof objects[0]; i++) Py_VISIT(*objects[i]);
  return 0;
}

static int module_clear(PyObject *module) {
  tg_py_state *state = tg_py_state_of(module);
  PyObject **objects[] = STATE_OBJECTS(state);
  for (size_t i = 0; i < sizeof objects / sizeof objects[0]; i++) Py_CLEAR(*objects[i]);
  return 0;
}

static void module_free(void *module) { (void)module_clear((PyObject *)module); }

/* NumPy does not support sub-interpreters, and silence would mean that this module does. From
 * CPython 3.12 on there is a slot to say so; the limited API of 3.11 has no name for it, and 3.11
 * refuses numbers that it does not know: the second slot is filled where the module is loaded. */
enum { SLOT_MULTIPLE_INTERPRETERS = 3 }; /* Py_mod_multiple_interpreters; NULL: not supported */
static PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, (void *)(intptr_t)module_exec}, {0, NULL}, {0, NULL}};

static struct PyModuleDef module_def = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "tickgauge._core",
    .m_doc = "The C core of tickgauge as CPython objects and NumPy arrays.",
    .m_size = sizeof(tg_py_state),
    .m_slots = module_slots,
    .m_traverse = module_traverse,
    .m_clear = module_clear,
    .m_free = module_free,
};

PyMODINIT_FUNC PyInit__core(void) {
  if (Py_Version >= 0x030C0000) module_slots[1].slot = SLOT_MULTIPLE_INTERPRETERS;
  return PyModuleDef_Init(&module_def);
}

/* state.c - the state of the module. SPDX-License-Identifier: BSD-3-Clause */
#include "binding.h"

tg_py_state *tg_py_state_of(PyObject *module) { return (tg_py_state *)PyModule_GetState(module); }

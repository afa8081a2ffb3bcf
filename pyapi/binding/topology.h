/* topology.h - platforms from Python for the reducers.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TICKGAUGE_BINDING_TOPOLOGY_H
#define TICKGAUGE_BINDING_TOPOLOGY_H

#include "binding.h"

/* Platforms in the core's form, made from a sequence of tuples
 * (name, names, clock_hz, cpus, linear, maps): cpus and linear are tuples of (cluster, core), maps
 * a tuple of pairs (printed, cpus) of such tuples. */
typedef struct tg_py_topology tg_py_topology;

/* NULL with an exception set where the form is another. Freed with the GIL held. */
tg_py_topology *tg_py_topology_new(PyObject *platforms);
void tg_py_topology_free(tg_py_topology *t);
/* NULL for NULL: no platform is known. */
const tg_topology *tg_py_topology_get(const tg_py_topology *t);

#endif

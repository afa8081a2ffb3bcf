/* tickgauge.h - the whole C API. SPDX-License-Identifier: BSD-3-Clause */
#ifndef TICKGAUGE_TICKGAUGE_H
#define TICKGAUGE_TICKGAUGE_H
#include "alloc.h"
#include "bulk.h"
#include "capture.h"
#include "clock.h"
#include "compare.h"
#include "counts.h"
#include "export.h"
#include "format.h"
#include "intern.h"
#include "legacy.h"
#include "number.h"
#include "reader.h"
#include "result.h"
#include "rule.h"
#include "stats.h"
#include "status.h"
#include "summary.h"
#include "table.h"
#include "trend.h"
#include "topology.h"
#endif

/* stages.c - "stages": the steps of a boot, whoever timed them.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "stages.h"

const tg_column_def tg_stage_columns[TG_STAGE_C_COLUMNS] = {
    {"source", TG_U32, 0},      {"boot", TG_U32, 0},   {"cpu", TG_U32, 0},
    {"service", TG_TEXT, 0},    {"stage", TG_TEXT, 0}, {"start", TG_U64, 0},
    {"finish", TG_U64, 0},      {"ticks", TG_I64, 0},  {"ns", TG_I64, 0},
    {"clock_hz", TG_U64, 0},    {"state", TG_TEXT, 0}, {"start_line", TG_U64, 0},
    {"finish_line", TG_U64, 0},
};

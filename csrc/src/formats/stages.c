/* stages.c - "stages": the steps of a boot, whoever timed them, and "clocks": how their clocks hang
 * together. SPDX-License-Identifier: BSD-3-Clause */
#include "stages.h"

#include "reducer.h"

#define NANOSECONDS UINT64_C(1000000000) /* ticks a second */

const tg_column_def tg_stage_columns[TG_STAGE_C_COLUMNS] = {
    {"source", TG_U32, 0},      {"boot", TG_U32, 0},   {"cpu", TG_U32, 0},
    {"service", TG_TEXT, 0},    {"stage", TG_TEXT, 0}, {"start", TG_U64, 0},
    {"finish", TG_U64, 0},      {"ticks", TG_I64, 0},  {"ns", TG_I64, 0},
    {"clock_hz", TG_U64, 0},    {"state", TG_TEXT, 0}, {"start_line", TG_U64, 0},
    {"finish_line", TG_U64, 0}, {"axis", TG_TEXT, 0}, {"whole", TG_BOOL, 0},
};

const tg_column_def tg_axes_columns[TG_AXES_C_COLUMNS] = {
    {"source", TG_U32, 0}, {"boot", TG_U32, 0}, {"axis", TG_TEXT, 0}, {"onto", TG_TEXT, 0},
    {"low", TG_I64, 0},    {"high", TG_I64, 0}, {"how", TG_TEXT, 0},
};

tg_status tg_stage_add(tg_result *out, const tg_stage_row *stage) {
  tg_table *t = NULL;
  TG_TRY(tg_result_table(out, "stages", tg_stage_columns, TG_STAGE_C_COLUMNS, &t));
  if (stage->start < 0 || stage->finish < stage->start) return TG_OK;
  tg_row w = tg_row_begin(t);
  tg_row_u32(&w, TG_STAGE_C_SOURCE, stage->source);
  if (stage->boot != TG_NONE) tg_row_u32(&w, TG_STAGE_C_BOOT, stage->boot);
  tg_row_cstr(&w, TG_STAGE_C_SERVICE, stage->service);
  tg_row_text(&w, TG_STAGE_C_STAGE, stage->stage);
  tg_row_u64(&w, TG_STAGE_C_START, (uint64_t)stage->start);
  tg_row_u64(&w, TG_STAGE_C_FINISH, (uint64_t)stage->finish);
  tg_row_i64(&w, TG_STAGE_C_TICKS, stage->finish - stage->start);
  tg_row_i64(&w, TG_STAGE_C_NS, stage->finish - stage->start);
  tg_row_u64(&w, TG_STAGE_C_CLOCK, NANOSECONDS);
  tg_row_cstr(&w, TG_STAGE_C_STATE, "complete");
  if (stage->start_line > 0) tg_row_u64(&w, TG_STAGE_C_START_LINE, stage->start_line);
  if (stage->finish_line > 0) tg_row_u64(&w, TG_STAGE_C_FINISH_LINE, stage->finish_line);
  tg_row_cstr(&w, TG_STAGE_C_AXIS, stage->axis);
  tg_row_bool(&w, TG_STAGE_C_WHOLE, stage->whole);
  return tg_row_end(&w);
}

tg_status tg_axis_add(tg_result *out, const tg_axis_row *axis) {
  tg_table *t = NULL;
  TG_TRY(tg_result_table(out, "clocks", tg_axes_columns, TG_AXES_C_COLUMNS, &t));
  tg_row w = tg_row_begin(t);
  tg_row_u32(&w, TG_AXES_C_SOURCE, axis->source);
  if (axis->boot != TG_NONE) tg_row_u32(&w, TG_AXES_C_BOOT, axis->boot);
  tg_row_cstr(&w, TG_AXES_C_AXIS, axis->axis);
  tg_row_cstr(&w, TG_AXES_C_ONTO, axis->onto);
  if (axis->has_low) tg_row_i64(&w, TG_AXES_C_LOW, axis->low);
  if (axis->has_high) tg_row_i64(&w, TG_AXES_C_HIGH, axis->high);
  tg_row_cstr(&w, TG_AXES_C_HOW, axis->how);
  return tg_row_end(&w);
}

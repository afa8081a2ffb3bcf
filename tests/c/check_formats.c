/* check_formats.c - promises that every registered format keeps: its rules bear its name, its
 * example gives readings of its own, its reducer stops when asked and survives a lack of memory.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "formats/formats.h"

#include <check.h>
#include <string.h>

#include "support/reduce_text.h"
#include "support/stop_at.h"

#define COUNT_ONE(name) +1
enum { FORMATS = 0 TG_FORMATS(COUNT_ONE) };

static const tg_format *format;
static parsed example;

START_TEST(its_rules_bear_its_name) {
  format = tg_formats[_i];
  const size_t n = strlen(format->name);
  ck_assert_uint_gt(n, 0);
  ck_assert_uint_gt(strlen(format->title), 0);
  ck_assert_uint_gt(format->n_rules, 0);
  for (size_t i = 0; i < format->n_rules; i++) {
    ck_assert_int_eq(strncmp(format->rules[i].name, format->name, n), 0);
    ck_assert_int_eq(format->rules[i].name[n], '.');
  }
  for (int other = 0; other < _i; other++) ck_assert_str_ne(tg_formats[other]->name, format->name);
  ck_assert_ptr_null(tg_formats[FORMATS]);
}
END_TEST

/* The text of a cell, "" where it is missing. */
static void cell(const tg_table *t, size_t row, const char *column, char out[64]) {
  size_t col = 0;
  tg_str v = {NULL, 0};
  ck_assert_int_eq(tg_table_find(t, column, &col), TG_OK);
  (void)tg_table_text(t, row, col, &v);
  snprintf(out, 64, "%.*s", (int)v.n, v.n > 0 ? (const char *)v.p : "");
}

START_TEST(its_example_gives_readings_of_its_own) {
  format = tg_formats[_i];
  if (format->reduce == NULL) return;
  ck_assert_ptr_nonnull(format->example);
  tg_result *r = reduced(format->example, NULL);
  const tg_table *keys = tg_result_get(r, "keys"), *readings = tg_result_get(r, "readings");
  ck_assert_ptr_nonnull(keys);
  ck_assert_uint_gt(tg_table_rows(readings), 0);
  for (size_t k = 0; k < tg_table_rows(keys); k++) {
    char name[64], observation[64];
    cell(keys, k, "format", name);
    cell(keys, k, "observation", observation);
    ck_assert_str_eq(name, format->name);
    ck_assert_str_eq(observation, format->observation == TG_OBSERVATION_BOOT ? "boot" : "run");
  }
  tg_result_free(r);
}
END_TEST

static tg_status run_reduce(const tg_alloc *a, const tg_stop *stop) {
  const tg_reduce_options options = {.stop = stop};
  tg_result *const none = (tg_result *)&example;
  tg_result *r = none;
  const tg_status status = reduce_parsed(a, &example, &options, &r);
  if (status == TG_OK)
    tg_result_free(r);
  else
    ck_assert_ptr_eq(r, none); /* untouched */
  return status;
}

START_TEST(it_stops_at_every_asking) {
  enum { BOOTS = 3 }; /* askings while the boots are found */
  const char *const texts[] = {tg_formats[_i]->example, NULL};
  if (texts[0] == NULL) return;
  ck_assert_int_eq(parse_texts(NULL, texts, &example), TG_OK);
  ck_assert_int_gt(stop_every_asking(run_reduce), BOOTS);
  parsed_free(&example);
}
END_TEST

START_TEST(it_survives_a_lack_of_memory) {
  const char *const texts[] = {tg_formats[_i]->example, NULL};
  if (texts[0] != NULL) fail_every_reduction(texts);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("formats");
  TCase *tc = tcase_create("formats");
  tcase_set_timeout(tc, 120);
  tcase_add_loop_test(tc, its_rules_bear_its_name, 0, FORMATS);
  tcase_add_loop_test(tc, its_example_gives_readings_of_its_own, 0, FORMATS);
  tcase_add_loop_test(tc, it_stops_at_every_asking, 0, FORMATS);
  tcase_add_loop_test(tc, it_survives_a_lack_of_memory, 0, FORMATS);
  suite_add_tcase(suite, tc);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_NORMAL);
  const int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? 0 : 1;
}

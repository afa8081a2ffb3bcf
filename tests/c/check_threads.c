/* check_threads.c - what several threads may do at once: a reader and a rule set each, and reduce
 * the same finished records. `make tsan` runs it under ThreadSanitizer.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <pthread.h>

#include "support/text_read.h"
#include "tickgauge/format.h"

enum { THREADS = 4, ROUNDS = 8 };

static const char log_text[] =
    "NOTICE:  BL1: v2.12(release):v2.12\n"
    "INFO:    Boot\n"
    "<RT_INSTR:test_rt_instr_cpu_off_serial\t100\t200\t300/>\n"
    "PMF:cpu 0\ttid 0\tts 17\nPMF:cpu 0\ttid 1\tts 19\nPMF:cpu torn\n"
    "fft 8 points: 12\nfft 9 points: 1x\n";

static const tg_rule_def defs[] = {
    {.name = "fft", .pattern = "fft {n:uint} points: {t:uint}", .values = "t=t", .unit = "us"},
    {.name = "pmf", .pattern = "PMF:cpu {cpu:uint} ~tid {tid:uint} ~ts {ts:uint}"},
};

/* What one thread found, and what it was given. */
typedef struct {
  const tg_records *shared;
  char *text;    /* of its own reading */
  size_t tables; /* of the reduced shared records */
  int failed;
} work;

static char *read_once(void) {
  tg_ruleset *set = NULL;
  char *text = NULL;
  if (tg_ruleset_new(NULL, defs, 2, &set, NULL) != TG_OK) return NULL;
  text = tr_all(set, (const uint8_t *)log_text, sizeof log_text - 1, 7, NULL);
  tg_ruleset_free(set);
  return text;
}

static void *run(void *argument) {
  work *w = argument;
  for (int i = 0; i < ROUNDS && !w->failed; i++) {
    const tg_reduce_in in = {.sources = &w->shared, .n_sources = 1};
    tg_result *result = NULL;
    char *text = read_once();
    w->failed = text == NULL || (w->text != NULL && strcmp(text, w->text) != 0) ||
                tg_reduce(NULL, &in, &result, NULL) != TG_OK;
    free(w->text);
    w->text = text;
    w->tables = tg_result_count(result);
    tg_result_free(result);
  }
  return NULL;
}

START_TEST(threads_share_nothing_but_finished_records) {
  tg_ruleset *set = tr_rules(defs, 2);
  tg_records *records = tr_read(set, (const uint8_t *)log_text, sizeof log_text - 1, 0, NULL);
  char *want = read_once();
  pthread_t id[THREADS];
  work w[THREADS] = {0};
  ck_assert_ptr_nonnull(want);
  ck_assert_ptr_nonnull(strstr(want, "fft 7@"));
  for (int i = 0; i < THREADS; i++) {
    w[i].shared = records;
    ck_assert_int_eq(pthread_create(&id[i], NULL, run, &w[i]), 0);
  }
  for (int i = 0; i < THREADS; i++) ck_assert_int_eq(pthread_join(id[i], NULL), 0);
  for (int i = 0; i < THREADS; i++) {
    ck_assert_int_eq(w[i].failed, 0);
    ck_assert_str_eq(w[i].text, want);
    ck_assert_uint_eq(w[i].tables, w[0].tables);
    ck_assert_uint_gt(w[i].tables, 1);
    free(w[i].text);
  }
  free(want);
  tg_records_free(records);
  tg_ruleset_free(set);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("threads");
  TCase *tc = tcase_create("threads");
  tcase_add_test(tc, threads_share_nothing_but_finished_records);
  suite_add_tcase(suite, tc);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_ENV);
  const int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? 0 : 1;
}

/* check_fuzz.c - the fuzz targets as tests: every seed, every find that was kept, each also cut
 * short and with single bytes changed. SPDX-License-Identifier: BSD-3-Clause */
#include <check.h>
#include <dirent.h>

#include "../fuzz/fuzz.h"

#define CORPUS "tests/fuzz/corpus"

static int run_target(const char *name, const uint8_t *p, size_t n) {
#define RUN(target) \
  if (strcmp(name, #target) == 0) return fuzz_##target(p, n);
  FUZZ_TARGETS(RUN)
#undef RUN
  ck_abort_msg("no target %s", name);
}

/* The input itself in a block of its size, so that a sanitizer sees a step beyond it. */
static void run_exact(const char *name, const uint8_t *p, size_t n) {
  uint8_t *copy = malloc(n > 0 ? n : 1);
  ck_assert_ptr_nonnull(copy);
  if (n > 0) memcpy(copy, p, n);
  ck_assert_int_eq(run_target(name, copy, n), 0);
  free(copy);
}

/* The input, cut short, and with single bytes changed. */
static void run_around(const char *name, const uint8_t *p, size_t n) {
  static const uint8_t changes[] = {0x00, '\n', '\r', 0x1b, '[', '9', 0xff, '"'};
  const size_t stride = getenv("TICKGAUGE_QUICK") != NULL ? 37 : 5;
  run_exact(name, p, n);
  for (size_t part = 0; part < n; part += stride) run_exact(name, p, part);
  for (size_t at = 0; at < n; at += stride) {
    uint8_t *copy = malloc(n);
    ck_assert_ptr_nonnull(copy);
    memcpy(copy, p, n);
    copy[at] = changes[(at / stride) % sizeof changes];
    ck_assert_int_eq(run_target(name, copy, n), 0);
    free(copy);
  }
}

START_TEST(a_seed_keeps_the_promises) {
  const fuzz_seed *s = &fuzz_seeds[_i];
  run_around(s->target, (const uint8_t *)s->bytes, s->n);
}
END_TEST

/* The example of every registered format is a seed of its target. */
START_TEST(an_example_keeps_the_promises) {
  for (size_t i = 0; tg_formats[i] != NULL; i++) {
    char text[4096];
    if (tg_formats[i]->example == NULL) continue;
    const int n = snprintf(text, sizeof text, "xx%s", tg_formats[i]->example);
    ck_assert(n > 0 && (size_t)n < sizeof text);
    text[0] = 0; /* options, and the bytes of a piece */
    text[1] = 4;
    run_around(tg_formats[i]->name, (const uint8_t *)text, (size_t)n);
  }
}
END_TEST

/* All files of one target's folder; a folder that is not there holds no finds. */
static size_t run_folder(const char *name) {
  char path[512];
  size_t count = 0;
  snprintf(path, sizeof path, CORPUS "/%s", name);
  DIR *dir = opendir(path);
  if (dir == NULL) return 0;
  for (struct dirent *e = readdir(dir); e != NULL; e = readdir(dir)) {
    static uint8_t bytes[1 << 16];
    if (e->d_name[0] == '.') continue;
    snprintf(path, sizeof path, CORPUS "/%s/%s", name, e->d_name);
    FILE *f = fopen(path, "rb");
    ck_assert_msg(f != NULL, "%s", path);
    const size_t n = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    run_exact(name, bytes, n);
    count++;
  }
  closedir(dir);
  return count;
}

START_TEST(the_finds_stay_fixed) {
  size_t count = 0;
#define FOLDER(target) count += run_folder(#target);
  FUZZ_TARGETS(FOLDER)
#undef FOLDER
  ck_assert_uint_gt(count, 0);
}
END_TEST

int main(void) {
  TCase *tc = tcase_create("fuzz");
  tcase_set_timeout(tc, 300);
  tcase_add_loop_test(tc, a_seed_keeps_the_promises, 0, (int)fuzz_n_seeds);
  tcase_add_test(tc, an_example_keeps_the_promises);
  tcase_add_test(tc, the_finds_stay_fixed);
  Suite *s = suite_create("fuzz");
  suite_add_tcase(s, tc);
  SRunner *runner = srunner_create(s);
  srunner_run_all(runner, CK_ENV);
  const int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

#include "../fuzz/fuzz_capture.c"
#include "../fuzz/fuzz_formats.c"
#include "../fuzz/fuzz_legacy.c"
#include "../fuzz/fuzz_quick.c"
#include "../fuzz/fuzz_reader.c"
#include "../fuzz/fuzz_scanner.c"
#include "../fuzz/fuzz_template.c"
#include "../fuzz/fuzz_transport.c"
#include "../fuzz/seeds.c"

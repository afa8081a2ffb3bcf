/* check_cases.c - every console among the tests' data, and where TICKGAUGE_CASES names a folder
 * every file in it: the ledger closes against an independent count, records stand in the order of
 * the source and where they say, and nothing depends on how the bytes are cut.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <check.h>
#include <dirent.h>
#include <inttypes.h>
#include <sys/stat.h>

#include "../fuzz/fuzz.h"
#include "text/ruleset.h"
#include "tickgauge/format.h"

#define LARGEST ((size_t)2 << 20) /* larger files, and packed ones, are left out */

#define LARGEST_SET 1024 /* tags */
#define COMMON 100       /* a soft tag that occurs so often for one record of it is a common word */

typedef struct tally {
  size_t files, records, problems, occurrences;
  uint64_t found[LARGEST_SET], used[LARGEST_SET]; /* of each tag */
} tally;

static uint64_t count_tag(const uint8_t *p, size_t n, tg_str tag) {
  uint64_t count = 0;
  for (size_t i = 0; i + tag.n <= n; i++)
    count += p[i] == tag.p[0] && memcmp(p + i, tag.p, tag.n) == 0;
  return count;
}

/* The text is what the source holds: no escape, no entry of LAVA's raw log. */
static bool is_plain(const uint8_t *p, size_t n) {
  static const char lava[] = "- {\"dt\"";
  return memchr(p, 0x1b, n) == NULL && (n < 7 || memcmp(p, lava, 7) != 0) &&
         count_tag(p, n, (tg_str){(const uint8_t *)"\n- {", 4}) == 0;
}

static void check_ledger(const tg_records *r, const uint8_t *p, size_t n, const char *path,
                         tally *t) {
  const bool plain = is_plain(p, n);
  uint64_t used = 0;
  uint64_t problems = 0;
  for (size_t i = 0; i < tg_records_ledger_count(r); i++) {
    tg_ledger l;
    ck_assert_int_eq(tg_records_ledger(r, i, &l), TG_OK);
    ck_assert_uint_eq(l.occurrences, l.used + l.problems + l.further);
    const uint64_t there = count_tag(p, n, l.tag);
    if (plain)
      ck_assert_msg(l.occurrences == there, "%s: '%.*s' %d, counted %d", path, (int)l.tag.n,
                    (const char *)l.tag.p, (int)l.occurrences, (int)there);
    used += l.used;
    problems += l.problems;
    t->occurrences += (size_t)l.occurrences;
    t->found[i] += l.occurrences;
    t->used[i] += l.used;
  }
  ck_assert_uint_le(used, tg_records_count(r));
  ck_assert_uint_le(problems, tg_records_totals(r).problems);
  t->records += tg_records_count(r);
  t->problems += (size_t)tg_records_totals(r).problems;
}

/* A record's offset lies on the line whose number it has: LFs before it, plus one. */
static void check_places(const tg_records *r, const uint8_t *p, size_t n, const char *path) {
  uint64_t at = 0;
  uint64_t lines = 1;
  const bool has_lf = memchr(p, '\n', n) != NULL;
  for (size_t i = 0; i < tg_records_count(r); i++) {
    const tg_record record = tg_records_at(r, i);
    ck_assert_msg(record.offset >= at && record.offset < n, "%s: record %zu at %llu", path, i,
                  (unsigned long long)record.offset);
    for (; at < record.offset; at++) lines += p[at] == '\n';
    if (has_lf) ck_assert_uint_eq(record.line, lines);
  }
}

static void check_file(tg_ruleset *set, const uint8_t *p, size_t n, const char *path, tally *t) {
  static const size_t steps[] = {1, 3, 64, 4096};
  const size_t first = n > 100000 || getenv("TICKGAUGE_QUICK") != NULL ? 2 : 0;
  tg_records *whole = fuzz_read(set, p, n, 0, NULL);
  for (size_t i = first; i < sizeof steps / sizeof steps[0]; i++) {
    tg_records *cut = fuzz_read(set, p, n, steps[i], NULL);
    fuzz_same_records(whole, cut);
    tg_records_free(cut);
  }
  check_ledger(whole, p, n, path, t);
  check_places(whole, p, n, path);
  tg_records_free(whole);
  t->files++;
}

static void check_path(tg_ruleset *set, const char *path, size_t n, tally *t) {
  FILE *f = fopen(path, "rb");
  if (f == NULL) return;
  uint8_t *p = malloc(n);
  ck_assert_ptr_nonnull(p);
  const size_t got = fread(p, 1, n, f);
  fclose(f);
  const bool packed = got > 2 && ((p[0] == 0x1f && p[1] == 0x8b) || (p[0] == 'P' && p[1] == 'K'));
  if (got > 0 && !packed) check_file(set, p, got, path, t);
  free(p);
}

static void check_folder(tg_ruleset *set, const char *folder, tally *t) {
  DIR *dir = opendir(folder);
  ck_assert_msg(dir != NULL, "%s", folder);
  for (struct dirent *e = readdir(dir); e != NULL; e = readdir(dir)) {
    char path[1024];
    struct stat st;
    if (e->d_name[0] == '.') continue;
    snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
    if (stat(path, &st) != 0) continue;
    if (S_ISDIR(st.st_mode)) check_folder(set, path, t);
    if (S_ISREG(st.st_mode) && st.st_size > 0 && (size_t)st.st_size <= LARGEST)
      check_path(set, path, (size_t)st.st_size, t);
  }
  closedir(dir);
}

/* A line with a tag is looked at: no built-in rule may have a word for it that other lines are full
 * of. Rules that take no record out of these files may be seen a few times. */
static void check_tags(const tg_ruleset *set, const tally *t) {
  size_t common = 0;
  for (size_t i = 0; i < set->n_tags; i++) {
    const tg_str tag = tg_tag_text(set, i);
    const uint64_t most = COMMON * (t->used[i] > 0 ? t->used[i] : 1);
    if (set->tags[i].hard || t->found[i] <= most) continue;
    printf("'%.*s' occurs %" PRIu64 " times for %" PRIu64 " records\n", (int)tag.n,
           (const char *)tag.p, t->found[i], t->used[i]);
    common++;
  }
  ck_assert_uint_eq(common, 0);
}

static void check_all(const char *folder) {
  tg_ruleset *set = NULL;
  static tally t;
  t = (tally){0};
  ck_assert_int_eq(tg_formats_ruleset(NULL, NULL, 0, &set, NULL), TG_OK);
  ck_assert_uint_le(set->n_tags, LARGEST_SET);
  check_folder(set, folder, &t);
  check_tags(set, &t);
  tg_ruleset_free(set);
  printf("%s: %zu files, %zu records, %zu problems, %zu tags, all accounted for\n", folder, t.files,
         t.records, t.problems, t.occurrences);
  ck_assert_uint_gt(t.files, 0);
  ck_assert_uint_gt(t.records, 0);
}

START_TEST(the_shipped_data) { check_all("tests/data"); }
END_TEST

START_TEST(the_large_sets) {
  const char *folder = getenv("TICKGAUGE_CASES");
  if (folder != NULL) check_all(folder);
}
END_TEST

int main(void) {
  TCase *tc = tcase_create("cases");
  tcase_set_timeout(tc, 600);
  tcase_add_test(tc, the_shipped_data);
  tcase_add_test(tc, the_large_sets);
  Suite *s = suite_create("cases");
  suite_add_tcase(s, tc);
  SRunner *runner = srunner_create(s);
  srunner_run_all(runner, CK_ENV);
  const int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

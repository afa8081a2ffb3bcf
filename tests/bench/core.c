/* core.c - the core alone, for the bench: reads a file with all built-in rules.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * core read FILE [PASSES]   seconds of the fastest pass, then records
 * core reduce FILE          reads and reduces it once: readings, for instructions.py */
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tickgauge/tickgauge.h"

enum { BLOCK = 1 << 18 };

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); /* what others do does not count */
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The records of the file, which lend from `*rules`; NULL for any failure. As tg.read asks. */
static tg_records *records_of(const char *path, uint8_t *block, tg_ruleset **rules) {
  const tg_reader_options options = {.keep_near = TG_KEEP_FREE};
  tg_reader *reader = NULL;
  tg_records *records = NULL;
  tg_status status = tg_formats_ruleset(NULL, NULL, 0, rules, NULL);
  const int fd = open(path, O_RDONLY);
  ssize_t n = fd < 0 ? -1 : 1;
  if (status == TG_OK) status = tg_reader_new(NULL, *rules, &options, &reader, NULL);
  while (status == TG_OK && n > 0 && (n = read(fd, block, BLOCK)) > 0)
    status = tg_reader_feed(reader, block, (size_t)n, NULL);
  if (status == TG_OK && n == 0) status = tg_reader_finish(reader, &records, NULL);
  tg_reader_free(reader);
  if (fd >= 0) close(fd);
  return records;
}

/* One pass over the file; the number of records, -1 for any failure. */
static long long read_once(const char *path, uint8_t *block) {
  tg_ruleset *rules = NULL;
  tg_records *records = records_of(path, block, &rules);
  const long long found = records != NULL ? (long long)tg_records_count(records) : -1;
  tg_records_free(records);
  tg_ruleset_free(rules);
  return found;
}

static int bench_reduce(const char *path) {
  uint8_t *block = malloc(BLOCK);
  tg_ruleset *rules = NULL;
  tg_records *records = block != NULL ? records_of(path, block, &rules) : NULL;
  tg_result *result = NULL;
  const tg_records *const sources[] = {records};
  const tg_reduce_in in = {.sources = sources, .n_sources = 1};
  const bool done = records != NULL && tg_reduce(NULL, &in, &result, NULL) == TG_OK;
  if (done) printf("%zu tables\n", tg_result_count(result));
  tg_result_free(result);
  tg_records_free(records);
  tg_ruleset_free(rules);
  free(block);
  return done ? 0 : 1;
}

static int bench_read(const char *path, int passes) {
  double best = 1e9;
  long long found = -1;
  uint8_t *block = malloc(BLOCK);
  for (int i = 0; block != NULL && i < passes; i++) {
    const double begin = now();
    found = read_once(path, block);
    const double took = now() - begin;
    if (took < best) best = took;
  }
  free(block);
  if (found < 0) return 1;
  printf("%.6f %lld\n", best, found);
  return 0;
}

int main(int argc, char **argv) {
  if (argc >= 3 && strcmp(argv[1], "read") == 0)
    return bench_read(argv[2], argc > 3 ? atoi(argv[3]) : 1);
  if (argc == 3 && strcmp(argv[1], "reduce") == 0) return bench_reduce(argv[2]);
  return 2;
}

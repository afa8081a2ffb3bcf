/* make_seeds.c - a program: make_seeds FOLDER TARGET writes the target's generated inputs to FOLDER
 * as files, and the words that its rules look for to FOLDER.dict, as libFuzzer reads them. Without
 * arguments it lists the targets.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tickgauge/format.h"

#include "fuzz.h"

static int write_seeds(const char *folder, const char *target) {
  for (size_t i = 0; i < fuzz_n_seeds; i++) {
    char path[512];
    if (strcmp(fuzz_seeds[i].target, target) != 0) continue;
    snprintf(path, sizeof path, "%s/seed-%02zu", folder, i);
    FILE *f = fopen(path, "wb");
    if (f == NULL || fwrite(fuzz_seeds[i].bytes, 1, fuzz_seeds[i].n, f) != fuzz_seeds[i].n)
      return 1;
    if (fclose(f) != 0) return 1;
  }
  return 0;
}

/* The example of the format that the target is named after, behind two bytes of options. */
static int write_example(const char *folder, const char *target) {
  for (size_t i = 0; tg_formats[i] != NULL; i++) {
    char path[512];
    const char *text = tg_formats[i]->example;
    if (strcmp(tg_formats[i]->name, target) != 0 || text == NULL) continue;
    snprintf(path, sizeof path, "%s/example", folder);
    FILE *f = fopen(path, "wb");
    if (f == NULL || fwrite("\0\4", 1, 2, f) != 2 || fputs(text, f) < 0) return 1;
    if (fclose(f) != 0) return 1;
  }
  return 0;
}

static void write_word(FILE *f, const char *p, size_t n) {
  if (n < 2 || n > 60) return;
  fputc('"', f);
  for (size_t i = 0; i < n; i++) fprintf(f, "\\x%02X", (unsigned)(uint8_t)p[i]);
  fputs("\"\n", f);
}

/* The literal pieces of a template: what stands between its braces and brackets. */
static void write_words(FILE *f, const char *pattern) {
  size_t begin = 0;
  size_t at = 0;
  if (pattern == NULL) return;
  for (; pattern[at] != '\0'; at++) {
    if (strchr("{}[]~^$", pattern[at]) == NULL) continue;
    if (pattern[begin] != '\0' && at > begin && !(begin > 0 && pattern[begin - 1] == '{'))
      write_word(f, pattern + begin, at - begin);
    begin = at + 1;
  }
  if (at > begin) write_word(f, pattern + begin, at - begin);
}

static int write_dictionary(const char *folder) {
  static const char *const more[] = {
      "$var wire 1 ! ", "$enddefinitions $end", "$timescale ", "$scope module ", "$dumpvars",
      "$comment", "$upscope $end", "Sample in Buffer", "TRIGGER", "Radix - ", "arvalid", "rready",
      "awvalid", "wready", "bvalid", "rlast", "araddr[31:0]", "arlen[7:0]", "sample_count ",
      "window_marks ", "trigger_marks ", "\x1b[0m", "\r\n", "- {\"dt\": ", "\"msg\": \""};
  char path[512];
  snprintf(path, sizeof path, "%s.dict", folder);
  FILE *f = fopen(path, "wb");
  if (f == NULL) return 1;
  for (size_t i = 0; i < sizeof more / sizeof more[0]; i++) write_word(f, more[i], strlen(more[i]));
  for (size_t i = 0; tg_formats[i] != NULL; i++) {
    for (size_t k = 0; k < tg_formats[i]->n_rules; k++) {
      const tg_rule_def *rule = &tg_formats[i]->rules[k];
      write_words(f, rule->pattern);
      for (size_t r = 0; rule->rows != NULL && rule->rows[r] != NULL; r++)
        write_words(f, rule->rows[r]);
    }
  }
  return fclose(f) != 0;
}

int main(int argc, char **argv) {
#define FUZZ_SAY(name) puts(#name);
  if (argc == 1) {
    FUZZ_TARGETS(FUZZ_SAY)
    return 0;
  }
  if (argc != 3) return 2;
  return write_seeds(argv[1], argv[2]) != 0 || write_example(argv[1], argv[2]) != 0 ||
         write_dictionary(argv[1]) != 0;
}

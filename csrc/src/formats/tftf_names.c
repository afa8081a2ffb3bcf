/* tftf_names.c - names and titles of TF-A's runtime instrumentation tests.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tftf_names.h"

#include <string.h>

#include "reducer.h"

/* Titles of the suite and the functions behind them. */
static const struct {
  const char *title, *test;
} titles[] = {
    {"Suspend to deepest power level on all cores in parallel", "susp_deep_parallel"},
    {"Suspend to deepest power level on all cores in sequence", "susp_deep_serial"},
    {"CPU suspend on all cores in parallel", "cpu_susp_parallel"},
    {"CPU suspend on all cores in sequence", "cpu_susp_serial"},
    {"CPU off on all non-lead cores in sequence and suspend lead to deepest power level",
     "cpu_off_serial"},
    {"PSCI version call on all cores in parallel", "psci_version_parallel"},
};
static const char prefix[] = "test_rt_instr_";

static bool starts_with(tg_str a, const char *word) {
  size_t n = strlen(word);
  return a.n >= n && memcmp(a.p, word, n) == 0;
}

tg_str tg_tftf_test_of_title(tg_str title) {
  for (size_t i = 0; i < TG_COUNT_OF(titles); i++) {
    if (tg_str_equal(title, tg_str_of(titles[i].title))) return tg_str_of(titles[i].test);
  }
  return (tg_str){NULL, 0};
}

tg_str tg_tftf_test_of_name(tg_str name) {
  if (starts_with(name, prefix)) {
    name.p += sizeof prefix - 1;
    name.n -= sizeof prefix - 1;
  }
  return name;
}

bool tg_tftf_ambiguous(tg_str test) {
  return tg_str_equal(test, tg_str_of("susp_parallel")) ||
         tg_str_equal(test, tg_str_of("susp_serial"));
}

bool tg_tftf_known(tg_str test) {
  for (size_t i = 0; i < TG_COUNT_OF(titles); i++) {
    if (tg_str_equal(test, tg_str_of(titles[i].test))) return true;
  }
  return false;
}

void tg_tftf_split_title(tg_str *title, tg_str *suite) {
  for (size_t i = 0; title->n >= 3 && i <= title->n - 3; i++) {
    if (memcmp(title->p + i, " - ", 3) != 0) continue;
    *suite = (tg_str){title->p, i};
    *title = (tg_str){title->p + i + 3, title->n - i - 3};
    return;
  }
}

const char *tg_tftf_exchange(tg_str test, const char *metric) {
  static const char suffix[] = "_parallel";
  const size_t n = sizeof suffix - 1;
  if (test.n < n || memcmp(test.p + test.n - n, suffix, n) != 0) return "none";
  return strcmp(metric, "powerdown") == 0 ? "all" : "cluster";
}

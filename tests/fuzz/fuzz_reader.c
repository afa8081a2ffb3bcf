/* fuzz_reader.c - any bytes through a rule set that uses all of the language: cut against whole,
 * the ledger against a count of its own. The first byte chooses options, the second how the bytes
 * are cut. SPDX-License-Identifier: BSD-3-Clause */
#include "fuzz.h"

static const char *const fuzz_stage[] = {"row={mark:grouped11}{elapsed:grouped11}  {name:text}",
                                         NULL};
static const char *const fuzz_sum[] = {"count=Tests {what:word} ~: {n:uint}", NULL};
#define FUZZ_RT "<RT_INSTR:{test:word} ~"
static const tg_rule_def fuzz_rules[] = {
    {.name = "rt5",
     .pattern = FUZZ_RT "{a:uint} ~{b:uint} ~{c:uint} ~{d:uint} ~{e:uint}/>",
     .all = true},
    {.name = "rt3", .pattern = FUZZ_RT "{a:uint} ~{b:uint} ~{c:uint}/>", .all = true},
    {.name = "pmf", .pattern = "PMF:cpu {cpu:uint}\ttid {tid:int}\tts {ts:hex}"},
    {.name = "begin", .pattern = "^start {n:uint}[ {m:dec} s]$"},
    {.name = "x", .pattern = "x={v:exp}{u:us|\xc2\xb5s} y={y:dec}[ (cv {cv:exp}%)]", .tag = "y="},
    {.name = "task",
     .pattern = "^~{task:text}-{pid:uint} ~[[{cpu:uint}]] ~fn: {p:word} ({a:HEX}, {_:text})",
     .tag = "fn:",
     .all = true},
    {.name = "w", .pattern = "{w:word}: q={q:quoted} {g:grouped}", .tag = "q=", .soft = true},
    {.name = "stage", .pattern = "Timer summary[ ({n:digit})]:", .rows = fuzz_stage, .end = ""},
    {.name = "sum", .pattern = "* Summary *", .tag = "Summary", .rows = fuzz_sum, .end = "^==="},
};

static uint64_t fuzz_count(const uint8_t *p, size_t n, tg_str tag) {
  uint64_t count = 0;
  for (size_t i = 0; i + tag.n <= n; i++) count += memcmp(p + i, tag.p, tag.n) == 0;
  return count;
}

/* Where no transport changes the text, every occurrence is in the ledger. */
static void fuzz_ledger(const tg_records *r, const uint8_t *p, size_t n) {
  uint64_t used = 0;
  uint64_t problems = 0;
  const bool plain = n == 0 || (memchr(p, 0x1b, n) == NULL && memchr(p, '[', n) == NULL &&
                                memchr(p, '{', n) == NULL);
  for (size_t i = 0; i < tg_records_ledger_count(r); i++) {
    tg_ledger l;
    FUZZ_CHECK(tg_records_ledger(r, i, &l) == TG_OK);
    if (plain) FUZZ_CHECK(l.occurrences == fuzz_count(p, n, l.tag));
    used += l.used;
    problems += l.problems;
  }
  FUZZ_CHECK(used <= tg_records_count(r) && problems <= tg_records_totals(r).problems);
}

/* A colour whose ESC was lost: on the long way it is taken out before tags are looked for, on the
 * short way only out of lines that have a tag as they stand. */
static bool fuzz_bare_colour(const uint8_t *p, size_t n) {
  for (size_t i = 0; i < n; i++) {
    size_t k = i + 1;
    if (p[i] != '[') continue;
    while (k < n && ((p[k] >= '0' && p[k] <= '9') || p[k] == ';')) k++;
    if (k < n && p[k] == 'm') return true;
  }
  return false;
}

/* Without a TEE line the repair changes nothing, but every line takes the long way. */
static void fuzz_long_way(tg_ruleset *set, const uint8_t *p, size_t n,
                          const tg_reader_options *options, const tg_records *short_way) {
  tg_reader_options repair = *options;
  if (fuzz_bare_colour(p, n)) return;
  for (size_t i = 0; i + 3 < n; i++) {
    const uint8_t *q = p + i;
    if (q[0] == '/' && q[3] == ':' && (q[1] == 'T' || q[1] == 'L')) return;
  }
  repair.repair_uart = true;
  tg_records *long_way = fuzz_read(set, p, n, 0, &repair);
  fuzz_same_records(short_way, long_way);
  tg_records_free(long_way);
}

int fuzz_reader(const uint8_t *p, size_t n) {
  static const size_t bounds[] = {0, 16, 64, 300};
  static tg_ruleset *set; /* made once: compiling it takes longer than most inputs */
  if (n < 2) return 0;
  const tg_reader_options options = {.repair_uart = (p[0] & 1) != 0,
                                     .keep_near = (tg_keep_near)((p[0] >> 4 & 3) % 3),
                                     .max_line = bounds[(p[0] >> 2) & 3]};
  const size_t step = 1 + p[1];
  p += 2;
  n -= 2;
  const size_t n_rules = sizeof fuzz_rules / sizeof fuzz_rules[0];
  if (set == NULL) FUZZ_CHECK(tg_ruleset_new(NULL, fuzz_rules, n_rules, &set, NULL) == TG_OK);
  tg_records *whole = fuzz_read(set, p, n, 0, &options);
  tg_records *cut = fuzz_read(set, p, n, step, &options);
  fuzz_same_records(whole, cut);
  if (!options.repair_uart) fuzz_long_way(set, p, n, &options, whole);
  if (!options.repair_uart && options.max_line == 0) fuzz_ledger(whole, p, n);
  fuzz_places(whole, p, n);
  tg_records_free(whole);
  tg_records_free(cut);
  return 0;
}

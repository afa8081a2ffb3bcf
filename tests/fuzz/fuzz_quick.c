/* fuzz_quick.c - lines through all built-in rules and some that use the rest of the language, by
 * the quick way where it is open, and by the full way alone: both must leave the same. The first
 * byte chooses the near misses that are kept and how the quick way's bytes are cut: it looks for
 * lines
 * that are alike at the begin of each piece. SPDX-License-Identifier: BSD-3-Clause */
#include "fuzz.h"
#include "text/state.h"
#include "tickgauge/format.h"

static const tg_rule_def fuzz_odd_rules[] = {
    {.name = "odd.part", .pattern = "part={a:uint}[ of {b:uint}]~[<{w:word}>]~ {c:dec};"},
    {.name = "odd.unit",
     .pattern = "took {t:dec} {u:ms|us|\xc2\xb5s|s}~[, {n:int} times]$",
     .all = true},
    {.name = "odd.say", .pattern = "says {q:quoted}[!]", .tag = "says", .soft = true},
    {.name = "odd.head",
     .pattern = "{who:text}  ~[(cpu {cpu:uint}) ~]load={l:exp} {rest:text}",
     .tag = "load="},
    {.name = "odd.head_word",
     .pattern = "{who:text} {how:word} {t:uint}: mark{x:HEX}",
     .all = true,
     .tag = "mark"},
    {.name = "odd.begin", .pattern = "^start {n:uint}$"},
    {.name = "odd.pair",
     .pattern = "took {t:grouped}~[(best {b:grouped})]~",
     .tag = "took",
     .soft = true},
    {.name = "odd.while", .pattern = "ran[ {n:size}] {t:duration}[, {u:duration}]!", .tag = "ran"},
    {.name = "odd.column", .pattern = "col{a:uint4}{b:dec7}[{c:[a-z]}{d:hex3}] end", .tag = "col"},
    {.name = "odd.seven", .pattern = "bay 7 of {n:uint}", .tag = "bay 7"},
    {.name = "odd.bar_seven", .pattern = "bar= {a:uint} x=7 {b:uint}", .tag = "bar="},
    {.name = "odd.bar", .pattern = "bar= {a:uint} x={c:uint} {b:uint}", .tag = "bar="},
    {.name = "odd.low", .pattern = "low=0x{v:hex} {w:word} end", .tag = "low=0x"},
    {.name = "odd.hold_bare",
     .pattern = "hold={a:uint} {b:dec} more",
     .tag = "hold=",
     .exponents = "b=-3"},
    {.name = "odd.held",
     .pattern = "held={a:hex} {b:dec} {r:text}",
     .tag = "held=",
     .exponents = "b=-3"},
    {.name = "odd.hold",
     .pattern = "hold={a:hex} {b:dec} {r:text}",
     .tag = "hold=",
     .exponents = "b=-3"},
    {.name = "odd.pass_ab", .pattern = "pass ab{b:hex} up", .tag = "pass"},
    {.name = "odd.pass", .pattern = "pass {h:HEX} up {m:hex}", .tag = "pass"},
    {.name = "odd.hard", .pattern = "NOTICE: {n:int}.{m:digit} done", .tag = "done"},
    /* The last ones are common words, or can lie over any pointer: few lines are alike to them. */
    {.name = "odd.twice", .pattern = "aXaX{n:uint}k", .tag = "k"},
    {.name = "odd.fed", .pattern = "fed {n:uint}", .tag = "fed", .soft = true},
    {.name = "odd.xab", .pattern = "xab={n:uint}", .tag = "xab=", .soft = true},
};

static tg_records *fuzz_read_way(tg_ruleset *set, const uint8_t *p, size_t n, tg_keep_near keep,
                                 bool full_only, size_t piece) {
  const tg_reader_options options = {.keep_near = keep};
  tg_reader *reader = NULL;
  tg_records *records = NULL;
  FUZZ_CHECK(tg_reader_new(NULL, set, &options, &reader, NULL) == TG_OK);
  reader->full_only = full_only;
  for (size_t from = 0; from < n; from += piece)
    FUZZ_CHECK(tg_reader_feed(reader, p + from, n - from < piece ? n - from : piece, NULL) ==
               TG_OK);
  FUZZ_CHECK(tg_reader_finish(reader, &records, NULL) == TG_OK);
  tg_reader_free(reader);
  return records;
}

int fuzz_quick(const uint8_t *p, size_t n) {
  static tg_ruleset *sets[2];
  if (n == 0) return 0;
  const tg_keep_near keep = (tg_keep_near)(p[0] % 3);
  const size_t n_odd = sizeof fuzz_odd_rules / sizeof fuzz_odd_rules[0] - 3u * (p[0] % 2);
  tg_ruleset **known = &sets[p[0] % 2];
  if (*known == NULL)
    FUZZ_CHECK(tg_formats_ruleset(NULL, fuzz_odd_rules, n_odd, known, NULL) == TG_OK);
  tg_ruleset *set = *known;
  const size_t piece = p[0] < 32 ? n : (size_t)p[0] * 4;
  tg_records *quick = fuzz_read_way(set, p + 1, n - 1, keep, false, piece);
  tg_records *full = fuzz_read_way(set, p + 1, n - 1, keep, true, n);
  fuzz_same_records(quick, full);
  FUZZ_CHECK(full->quick_lines == 0 && quick->quick_lines <= quick->lines_with_hits);
  tg_records_free(quick);
  tg_records_free(full);
  return 0;
}

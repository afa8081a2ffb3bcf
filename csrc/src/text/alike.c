/* alike.c - finds the tags of a line by the line before. SPDX-License-Identifier: BSD-3-Clause */
#include "alike.h"

#include <string.h>

#include "base/spans.h"

enum {
  MOST_CREDIT = 64,
  LINES_A_CREDIT = 32,
  LEARNING = 4,  /* a line that is found earns one */
  LEAST_WORD = 8 /* digits of a hexadecimal number without "0x" */
};

void tg_alike_init(tg_alike *a) { *a = (tg_alike){.credit = MOST_CREDIT}; }

static inline size_t run_end(const uint8_t *p, size_t n, size_t at, bool hex) {
  while (at < n && (hex ? tg_is_hex(p[at]) : tg_is_digit(p[at]))) at++;
  return at;
}

/* Reads the run at `at`: its end, `at` itself where there is none. */
static inline size_t read_run(const uint8_t *p, size_t n, size_t at, bool hex, uint64_t *value,
                              bool *fits) {
  const size_t from = at;
  bool capital = false;
  if (!hex) {
    at = tg_decimal_run(p, n, at, value);
    if (at - from > TG_SAFE_DIGITS) *fits = false;
    return at;
  }
  at = tg_hex_run(p, n, at, value, &capital);
  if (capital || at - from > TG_SAFE_HEX) *fits = false;
  return at;
}

/* Whether a line of this pattern begins at `p`. */
static inline bool follow(const tg_pattern *a, const uint8_t *p, size_t n, tg_alike_line *line) {
  size_t at = 0, from = 0;
  line->fits = true;
  for (size_t i = 0; i < a->n_parts; i++) {
    const size_t size = a->end[i] - from;
    if (n - at < size || !tg_same_bytes(p + at, a->text + from, size)) return false;
    line->starts[i] = at;
    at += size;
    from += size;
    if (i + 1 == a->n_parts) break;
    const size_t end = read_run(p, n, at, (a->hex >> i & 1) != 0, &line->values[i], &line->fits);
    if (end == at) return false;
    at = end;
  }
  line->pattern = a;
  line->size = at;
  return at > 0;
}

/* The first byte of the longest run of `needle` without digits, and its length. */
static tg_str digitless(tg_str needle) {
  tg_str longest = {needle.p, 0};
  for (size_t from = 0; from < needle.n;) {
    size_t to = from;
    while (to < needle.n && !tg_is_digit(needle.p[to])) to++;
    if (to - from > longest.n) longest = (tg_str){needle.p + from, to - from};
    from = to + 1;
  }
  return longest;
}

/* Whether the needle is a tag of the pattern that covers byte `at` of `text`. */
static bool is_hit_at(const tg_pattern *a, const tg_ruleset *set, size_t needle, size_t at) {
  const size_t size = tg_tag_text(set, needle).n;
  for (size_t i = 0; i < a->n_hits; i++) {
    const tg_alike_place hit = a->hits[i];
    const size_t from = (hit.part > 0 ? a->end[hit.part - 1] : 0) + (size_t)hit.at;
    if (a->needle[i] == needle && from <= at && at < from + size) return true;
  }
  return false;
}

/* A needle with digits stands in a line of the pattern only where it is a tag of it already: its
 * longest other run is found once in it, and every place of that in the line is in such a tag. */
static bool digits_are_safe(const tg_pattern *a, const tg_ruleset *set, size_t number) {
  const tg_str needle = tg_tag_text(set, number);
  const tg_str run = digitless(needle);
  size_t found = 0;
  if (run.n == 0 || tg_alike_overlaps(a, run)) return false;
  for (size_t at = 0; at + run.n <= needle.n; at++)
    found += memcmp(needle.p + at, run.p, run.n) == 0;
  for (size_t at = 0; at + run.n <= a->end[a->n_parts - 1]; at++) {
    if (memcmp(a->text + at, run.p, run.n) != 0) continue;
    if (found > 1 || !is_hit_at(a, set, number, at)) return false;
  }
  return true;
}

/* True if a line of this pattern has the tags of the pattern and no others. */
static bool is_sure(const tg_pattern *a, const tg_ruleset *set) {
  for (size_t i = 0; i < set->n_tags; i++) {
    const tg_str needle = tg_tag_text(set, i);
    bool digits = false;
    for (size_t k = 0; k < needle.n; k++) digits = digits || tg_is_digit(needle.p[k]);
    if (digits && !digits_are_safe(a, set, i)) return false;
    if (tg_alike_overlaps(a, needle)) return false;
  }
  return true;
}

/* Whether the run of hexadecimal digits at `at` is a number: it follows "0x", or is a long word
 * with a letter, as pointers are printed. Digits alone are a decimal run. */
static bool begins_hex(const uint8_t *p, size_t n, size_t at) {
  const bool named =
      at >= 2 && p[at - 1] == 'x' && p[at - 2] == '0' && (at == 2 || !tg_is_digit(p[at - 3]));
  const size_t end = run_end(p, n, at, true);
  if (named || end - at < LEAST_WORD) return named && end > at;
  if ((at > 0 && tg_is_edge(p[at - 1])) || (end < n && tg_is_edge(p[end]))) return false;
  return run_end(p, n, at, false) < end;
}

/* Cuts the digits out; false where it has too many runs. `starts` are its parts in the line. */
static bool cut(tg_pattern *a, const uint8_t *p, size_t n, size_t *starts) {
  size_t size = 0, at = 0;
  *a = (tg_pattern){.n_parts = 0};
  starts[0] = 0;
  while (at < n) {
    const bool hex = tg_is_hex(p[at]) && begins_hex(p, n, at);
    const bool prefix = p[at] == '0' && at + 2 < n && p[at + 1] == 'x' && begins_hex(p, n, at + 2);
    if (prefix || (!hex && !tg_is_digit(p[at]))) {
      a->text[size++] = p[at++];
      continue;
    }
    if (a->n_parts + 1 == TG_ALIKE_PARTS) return false;
    a->hex |= (uint32_t)hex << a->n_parts;
    a->end[a->n_parts++] = (uint16_t)size;
    at = run_end(p, n, at, hex);
    starts[a->n_parts] = at;
  }
  a->end[a->n_parts++] = (uint16_t)size;
  return true;
}

/* Places the tags; false where one is cut by a run of digits. */
static bool place_hits(tg_pattern *a, const tg_ruleset *set, const size_t *starts,
                       const tg_hit *hits, size_t n_hits) {
  for (size_t i = 0; i < n_hits; i++) {
    tg_alike_place end;
    a->needle[i] = (uint32_t)hits[i].needle;
    if (!tg_alike_place_of(a, starts, hits[i].at, &a->hits[i]) ||
        !tg_alike_place_of(a, starts, hits[i].at + tg_tag_text(set, hits[i].needle).n, &end) ||
        end.part != a->hits[i].part)
      return false;
  }
  a->n_hits = (uint8_t)n_hits;
  return true;
}

/* The pattern that the line has, TG_ALIKE_PATTERNS where it has none of them. */
static uint8_t known_pattern(const tg_alike *a, const uint8_t *p, size_t n) {
  tg_alike_line line;
  uint8_t i = 0;
  while (i < TG_ALIKE_PATTERNS && !(follow(&a->patterns[i], p, n, &line) && line.size == n)) i++;
  return i;
}

static void came_next(tg_alike *a, uint8_t pattern) {
  a->patterns[a->last].next = pattern;
  a->last = pattern;
}

void tg_alike_learn(tg_alike *a, const tg_ruleset *set, const uint8_t *p, size_t n,
                    const tg_hit *hits, size_t n_hits, const tg_alike_record *record) {
  size_t starts[TG_ALIKE_PARTS] = {0};
  tg_pattern made;
  if (++a->lines % LINES_A_CREDIT == 0 && a->credit < MOST_CREDIT) a->credit++;
  if (a->credit < LEARNING || n > TG_ALIKE_TEXT || n_hits > TG_ALIKE_HITS) return;
  a->credit -= LEARNING;
  const uint8_t known = known_pattern(a, p, n);
  if (known < TG_ALIKE_PATTERNS) {
    came_next(a, known);
    return;
  }
  if (tg_has_bare_witness(set, p, n) || !cut(&made, p, n, starts) ||
      !place_hits(&made, set, starts, hits, n_hits) || !is_sure(&made, set))
    return;
  tg_alike_bind(&made, set, starts, p, n, record);
  const uint8_t slot = a->oldest;
  a->oldest = (uint8_t)((slot + 1) % TG_ALIKE_PATTERNS);
  made.next = slot;
  a->patterns[slot] = made;
  came_next(a, slot);
}

bool tg_alike_find(tg_alike *a, const uint8_t *p, size_t n, tg_alike_line *line) {
  uint8_t at = a->patterns[a->last].next;
  if (!follow(&a->patterns[at], p, n, line)) {
    at = 0;
    while (at < TG_ALIKE_PATTERNS && !follow(&a->patterns[at], p, n, line)) at++;
    if (at == TG_ALIKE_PATTERNS) return false;
  }
  came_next(a, at);
  if (a->credit < MOST_CREDIT) a->credit++;
  return true;
}

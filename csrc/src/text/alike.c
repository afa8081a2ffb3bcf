/* alike.c - finds the tags of a line by the line before. SPDX-License-Identifier: BSD-3-Clause */
#include "alike.h"

#include <string.h>

#include "spans.h"

enum { MOST_CREDIT = 64, LINES_A_CREDIT = 32, LEARNING = 4 }; /* a line that is found earns one */

void tg_alike_init(tg_alike *a) {
  *a = (tg_alike){.credit = MOST_CREDIT};
}

static inline bool is_hex(uint8_t c) {
  return tg_is_digit(c) || (uint8_t)((c | 0x20) - 'a') <= 'f' - 'a';
}

static inline size_t run_end(const uint8_t *p, size_t n, size_t at, bool hex) {
  while (at < n && (hex ? is_hex(p[at]) : tg_is_digit(p[at]))) at++;
  return at;
}

/* Reads the run at `at`: its end, `at` itself where there is none. */
static inline size_t read_run(const uint8_t *p, size_t n, size_t at, bool hex, uint64_t *value,
                              bool *fits) {
  const size_t from = at;
  if (hex) {
    uint64_t v = 0;
    for (; at < n && is_hex(p[at]); at++) {
      v = v << 4 | (uint64_t)(p[at] <= '9' ? p[at] - '0' : (p[at] | 0x20) - 'a' + 10);
      if ((p[at] & 0x60) == 0x40) *fits = false; /* a capital */
    }
    *value = v;
  } else {
    at = tg_decimal_run(p, n, at, value);
  }
  if (at - from > (hex ? TG_SAFE_HEX : TG_SAFE_DIGITS)) *fits = false;
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
    const size_t end =
        read_run(p, n, at, (a->hex >> i & 1) != 0, &line->values[i], &line->fits);
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

/* The digits of a hexadecimal run are letters as well: true if `word` can neither stand in one nor
 * begin in one and go on in the part behind it. */
static bool letters_are_safe(const tg_pattern *a, tg_str word) {
  const size_t lead = run_end(word.p, word.n, 0, true);
  if (a->hex == 0) return true;
  if (lead == word.n) return false;
  for (size_t i = 0; i + 1 < a->n_parts; i++) {
    const uint8_t *part = a->text + a->end[i];
    const size_t size = (size_t)a->end[i + 1] - a->end[i];
    for (size_t k = 1; k <= lead && (a->hex >> i & 1) != 0; k++) {
      const size_t rest = word.n - k;
      if (memcmp(part, word.p + k, rest < size ? rest : size) == 0) return false;
    }
  }
  return true;
}

/* A needle with digits stands in a line of the pattern only where it is a tag of it already: its
 * longest other run is found once in it, and every place of that in the line is in such a tag. */
static bool digits_are_safe(const tg_pattern *a, const tg_ruleset *set, size_t number) {
  const tg_str needle = tg_tag_text(set, number);
  const tg_str run = digitless(needle);
  size_t found = 0;
  if (run.n == 0 || !letters_are_safe(a, run)) return false;
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
    if (!letters_are_safe(a, needle)) return false;
  }
  return true;
}

/* Cuts the digits out; false where it has too many runs. `starts` are its parts in the line. */
static bool cut(tg_pattern *a, const uint8_t *p, size_t n, size_t *starts) {
  size_t size = 0, at = 0;
  *a = (tg_pattern){.n_parts = 0};
  starts[0] = 0;
  while (at < n) {
    bool hex = at + 2 < n && p[at] == '0' && p[at + 1] == 'x' && is_hex(p[at + 2]) &&
               (at == 0 || !tg_is_digit(p[at - 1]));
    if (!hex && !tg_is_digit(p[at])) {
      a->text[size++] = p[at++];
      continue;
    }
    if (hex) {
      a->text[size++] = p[at++];
      a->text[size++] = p[at++];
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

/* The place of byte `at` of the line; false where it lies in a run of digits. */
static bool place_of(const tg_pattern *a, const size_t *starts, size_t at, tg_alike_place *place) {
  size_t part = 0;
  while (part + 1 < a->n_parts && starts[part + 1] <= at) part++;
  const size_t from = part > 0 ? a->end[part - 1] : 0;
  *place = (tg_alike_place){(uint8_t)part, (uint8_t)(at - starts[part])};
  return at - starts[part] <= a->end[part] - from;
}

/* Places the tags; false where one is cut by a run of digits. */
static bool place_hits(tg_pattern *a, const tg_ruleset *set, const size_t *starts,
                       const tg_hit *hits, size_t n_hits) {
  for (size_t i = 0; i < n_hits; i++) {
    tg_alike_place end;
    a->needle[i] = (uint32_t)hits[i].needle;
    if (!place_of(a, starts, hits[i].at, &a->hits[i]) ||
        !place_of(a, starts, hits[i].at + tg_tag_text(set, hits[i].needle).n, &end) ||
        end.part != a->hits[i].part)
      return false;
  }
  a->n_hits = (uint8_t)n_hits;
  return true;
}

/* True if the digits of a line do not decide whether it matches: literals have none but in "0x", and
 * numbers are runs of them whatever their length. */
static bool ignores_digits(const tg_template *t) {
  for (size_t i = 0; i < t->n_inst; i++) {
    const tg_inst *in = &t->inst[i];
    const bool plain = in->type == TG_FIELD_UINT || in->type == TG_FIELD_HEX ||
                       in->type == TG_FIELD_HEXANY;
    if (in->op == TG_OP_CLASS || in->op == TG_OP_CHOICE || in->op == TG_OP_OPTION ||
        in->op == TG_OP_QUOTED || (in->op == TG_OP_NUMBER && (!plain || in->width > 0)))
      return false;
    const tg_literal lit = in->op == TG_OP_LITERAL ? t->alts[in->alt] : (tg_literal){0, 0};
    for (size_t k = 0; k < lit.n; k++) {
      const uint8_t *c = t->pool + lit.at + k;
      if (tg_is_digit(*c) && !(*c == '0' && k + 1 < lit.n && c[1] == 'x')) return false;
    }
  }
  return true;
}

/* The field of a number that begins at `*pos`, which moves behind it. */
static bool bind_number(const tg_pattern *a, const size_t *starts, const tg_inst *in, size_t *pos,
                        tg_alike_field *field) {
  *field = (tg_alike_field){.number = true};
  if (!place_of(a, starts, *pos, &field->from)) return false;
  const size_t part = field->from.part;
  const size_t from = part > 0 ? a->end[part - 1] : 0;
  if (part + 1 == a->n_parts || field->from.at != a->end[part] - from) return false;
  *pos = starts[part + 1];
  return (a->hex >> part & 1) == (in->type != TG_FIELD_UINT);
}

static bool bind_word(const tg_pattern *a, const size_t *starts, const tg_inst *in,
                      const uint8_t *p, size_t n, size_t *pos, tg_alike_field *field) {
  const size_t from = *pos;
  while (*pos < n && !tg_is_blank(p[*pos])) ++*pos;
  *field = (tg_alike_field){.number = false};
  return in->alts == 0 && *pos > from && place_of(a, starts, from, &field->from) &&
         place_of(a, starts, *pos, &field->to);
}

/* Binds the kept fields of the template to places of the line that it matched from `start` to
 * `end`; false where one is not a word or a whole run. */
static bool bind_fields(tg_pattern *a, const tg_template *t, const size_t *starts, const uint8_t *p,
                        size_t n, size_t start, size_t end) {
  size_t pos = start;
  for (const tg_inst *in = t->inst; in->op != TG_OP_MATCH; in++) {
    tg_alike_field field;
    switch (in->op) {
      case TG_OP_LITERAL:
        pos += t->alts[in->alt].n;
        continue;
      case TG_OP_BLANK:
        pos++;
        continue;
      case TG_OP_BLANKS:
        while (pos < n && tg_is_blank(p[pos])) pos++;
        continue;
      case TG_OP_END:
        continue;
      case TG_OP_NUMBER:
        if (!bind_number(a, starts, in, &pos, &field)) return false;
        break;
      case TG_OP_WORD:
        if (!bind_word(a, starts, in, p, n, &pos, &field)) return false;
        break;
      default:
        return false;
    }
    if (in->field != UINT32_MAX) a->fields[in->field] = field;
  }
  return pos == end;
}

/* Finds out whether the record of a line of this pattern is known without a match: it has one tag,
 * and neither the rule that took it nor one that is asked before it looks at digits. */
static void bind(tg_pattern *a, const tg_ruleset *set, const size_t *starts, const uint8_t *p,
                 size_t n, const tg_alike_record *record) {
  if (record->rule == TG_NOT || a->n_hits != 1) return;
  const tg_tag *tag = &set->tags[a->needle[0]];
  const tg_template *t = set->rules[record->rule].t;
  for (size_t k = 0; k < tag->n_rules; k++) {
    if (!ignores_digits(set->rules[tag->rules[k]].t)) return;
    if (tag->rules[k] == record->rule) break;
  }
  if (t->n_fields > TG_ALIKE_FIELDS || !ignores_digits(t)) return;
  a->rule = (uint32_t)record->rule;
  a->n_fields = (uint8_t)t->n_fields;
  a->direct = place_of(a, starts, record->start, &a->start) &&
              place_of(a, starts, record->end, &a->stop) &&
              bind_fields(a, t, starts, p, n, record->start, record->end);
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
  bind(&made, set, starts, p, n, record);
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

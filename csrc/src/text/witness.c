/* witness.c - records whose tag is damaged: another literal of theirs still stands in the line.
 *
 * A tag that lost a byte is not found by the scanner. So where a format has been seen, its witness
 * is looked for as well; a line that has it without the tag is a problem.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "state.h"

/* The first place of [w, w+n) in [p, p+size) from `from` on, `size` where there is none. `rare` is
 * the index of a byte of it that few lines hold. */
static size_t find(const uint8_t *p, size_t size, size_t from, const char *w, size_t n,
                   size_t rare) {
  for (size_t at = from + rare; at < size; at++) {
    const uint8_t *hit = memchr(p + at, w[rare], size - at);
    if (hit == NULL) return size;
    at = (size_t)(hit - p);
    const size_t start = at - rare;
    if (size - start >= n && memcmp(p + start, w, n) == 0) return start;
  }
  return size;
}

static bool holds(const uint8_t *p, size_t n, tg_str word) {
  return find(p, n, 0, (const char *)word.p, word.n, 0) < n;
}

/* Looks whether a record of the witness's format came since the last look. */
static void look_for_format(tg_reader *r) {
  const tg_ruleset *set = r->rules;
  const char *own = set->rules[set->witness].name;
  const size_t n = strcspn(own, ".") + 1;
  for (; r->witness_seen < r->out->n_order && !r->witnessing; r->witness_seen++) {
    const tg_place *at = &r->out->order[r->witness_seen];
    uint64_t offset = 0;
    if (strncmp(set->rules[at->rule].name, own, n) != 0) continue;
    (void)tg_table_u64(r->out->tables[at->rule], at->row, TG_REC_OFFSET, &offset);
    r->witnessing = true;
    r->witness_from = offset;
  }
}

/* Adds the problem of the line around `at`, if it has no tag. `*next` is the end of the line. */
static tg_status look_at(tg_reader *r, const uint8_t *p, size_t n, uint64_t offset, size_t at,
                         uint64_t lines, size_t *next) {
  const tg_ruleset *set = r->rules;
  size_t start = at;
  while (start > 0 && p[start - 1] != '\n') start--;
  const uint8_t *lf = memchr(p + at, '\n', n - at);
  const size_t end = lf != NULL ? (size_t)(lf - p) : n;
  *next = end;
  if (holds(p + start, end - start, tg_tag_text(set, set->rules[set->witness].tag))) return TG_OK;
  for (size_t i = 0; i < start; i++) lines += p[i] == '\n';
  const tg_line line = {.p = p + start,
                        .n = end - start,
                        .offset = offset + start,
                        .number = lines + 1,
                        .raw = {p + start, end - start},
                        .raw_offset = offset + start};
  return tg_records_problem(
      r->out, &(tg_trouble){&line, at - start, set->witness, TG_NOT, TG_REASON_MISMATCH,
                            "the whole tag before it", 0});
}

/* The next place of the witness that has no tag right before it, `n` where there is none. */
static size_t next_bare(const tg_ruleset *set, const uint8_t *p, size_t n, size_t from) {
  const char *word = set->rules[set->witness].witness;
  const size_t size = strlen(word);
  const size_t rare = strcspn(word, "_") < size ? strcspn(word, "_") : 0;
  const tg_str tag = tg_tag_text(set, set->rules[set->witness].tag);
  for (;;) {
    const size_t at = find(p, n, from, word, size, rare);
    if (at == n || at < tag.n || memcmp(p + at - tag.n, tag.p, tag.n) != 0) return at;
    from = at + size;
  }
}

bool tg_has_bare_witness(const tg_ruleset *set, const uint8_t *p, size_t n) {
  return set->witness != TG_NOT && next_bare(set, p, n, 0) < n;
}

size_t tg_reader_next_bare(const tg_reader *r, const uint8_t *p, size_t n, size_t from) {
  if (r->rules->witness == TG_NOT) return n;
  return r->witnessing ? next_bare(r->rules, p, n, from) : from;
}

tg_status tg_reader_witness(tg_reader *r, const uint8_t *p, size_t n, uint64_t offset,
                            uint64_t lines) {
  if (r->rules->witness == TG_NOT) return TG_OK;
  if (!r->witnessing) look_for_format(r);
  if (!r->witnessing) return TG_OK;
  size_t from = r->witness_from > offset ? (size_t)(r->witness_from - offset) : 0;
  while (from < n) {
    const size_t at = next_bare(r->rules, p, n, from);
    if (at == n) break;
    const tg_status status = look_at(r, p, n, offset, at, lines, &from);
    if (status != TG_OK) return status;
  }
  return TG_OK;
}

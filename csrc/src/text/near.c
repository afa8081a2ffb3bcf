/* near.c - the nearest misses of each rule, and the item that failed.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "near.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/row.h"
#include "tickgauge/reader.h"

#define TG_EXCERPT_BEFORE 60 /* bytes of an excerpt before the place, at most */
#define TG_LITERAL_SHOWN 40

typedef struct kept_miss {
  uint64_t number, offset;
  size_t taken, reach;
  uint32_t item;
  uint32_t n;
  const char *expected;
  uint8_t excerpt[TG_EXCERPT];
} kept_miss;

struct tg_near_store {
  tg_alloc alloc;
  const tg_ruleset *rules;
  bool all; /* lines that another rule took count as well */
  kept_miss *kept; /* TG_NEAR_KEPT for every rule, the nearest first */
  uint8_t *n_kept;
  tg_miss *held;
  size_t n_held, cap_held;
};

tg_status tg_near_new(const tg_alloc *a, const tg_ruleset *rules, bool all, tg_near_store **out) {
  tg_near_store *s = tg_zalloc(a, 1, sizeof *s);
  if (s == NULL) return TG_ENOMEM;
  s->alloc = *a;
  s->rules = rules;
  s->all = all;
  size_t n = rules->n_rules + 1; /* at most 4097: no product below can overflow */
  s->kept = tg_take(a, n * TG_NEAR_KEPT, sizeof *s->kept);
  s->n_kept = tg_zalloc(a, n, 1);
  if (s->kept == NULL || s->n_kept == NULL) {
    tg_near_free(s);
    return TG_ENOMEM;
  }
  *out = s;
  return TG_OK;
}

void tg_near_free(tg_near_store *s) {
  if (s == NULL) return;
  tg_alloc a = s->alloc;
  tg_release(&a, s->kept);
  tg_release(&a, s->n_kept);
  tg_release(&a, s->held);
  tg_release(&a, s);
}

tg_status tg_near_hold(tg_near_store *s, const tg_miss *miss) {
  tg_status status = tg_reserve(&s->alloc, &s->held, &s->cap_held, s->n_held + 1, sizeof *s->held);
  if (status != TG_OK) return status;
  s->held[s->n_held++] = *miss;
  return TG_OK;
}

/* True where `a` comes before `b`: lines nobody took first, then the furthest. */
static bool nearer(const kept_miss *a, const kept_miss *b) {
  bool free_a = a->taken == TG_NOT;
  bool free_b = b->taken == TG_NOT;
  return free_a != free_b ? free_a : a->reach > b->reach;
}

bool tg_near_wants(const tg_near_store *s, size_t rule, size_t reach, bool taken) {
  const size_t n = s->n_kept[rule];
  const kept_miss one = {.taken = taken ? rule : TG_NOT, .reach = reach};
  return n < TG_NEAR_KEPT || nearer(&one, &s->kept[rule * TG_NEAR_KEPT + n - 1]);
}

static void near_keep(tg_near_store *s, const tg_miss *miss, size_t taken) {
  kept_miss *list = s->kept + miss->rule * TG_NEAR_KEPT;
  kept_miss one = {.offset = tg_line_offset(miss->line, miss->at),
                 .number = tg_line_number(miss->line, miss->at),
                 .taken = taken,
                 .reach = miss->reach,
                 .item = miss->item,
                 .expected = miss->expected};
  size_t n = s->n_kept[miss->rule];
  if (n == TG_NEAR_KEPT && !nearer(&one, &list[n - 1])) return;
  tg_str excerpt = tg_excerpt(miss->line, one.offset);
  one.n = (uint32_t)excerpt.n;
  if (excerpt.n > 0) memcpy(one.excerpt, excerpt.p, excerpt.n);
  if (n < TG_NEAR_KEPT) s->n_kept[miss->rule] = (uint8_t)(++n);
  size_t at = n - 1;
  for (; at > 0 && nearer(&one, &list[at - 1]); at--) list[at] = list[at - 1];
  list[at] = one;
}

void tg_near_settle(tg_near_store *s, size_t taken) {
  const bool wanted = s->all || taken == TG_NOT;
  for (size_t i = 0; wanted && i < s->n_held; i++) near_keep(s, &s->held[i], taken);
  s->n_held = 0;
}

static tg_status near_row(const tg_near_store *s, size_t rule, const kept_miss *k, tg_table *t) {
  char expected[96];
  const tg_template *tpl = s->rules->rules[rule].t;
  tg_expected_text(tpl, k->item, k->expected, expected, sizeof expected);
  tg_row w = tg_row_begin(t);
  tg_row_cstr(&w, TG_NEAR_RULE, s->rules->rules[rule].name);
  tg_row_u64(&w, TG_NEAR_LINE, k->number);
  tg_row_u64(&w, TG_NEAR_OFFSET, k->offset);
  tg_row_u32(&w, TG_NEAR_COLUMN, tpl->inst[k->item].column);
  tg_row_u32(&w, TG_NEAR_REACHED, (uint32_t)k->reach);
  tg_row_cstr(&w, TG_NEAR_EXPECTED, expected);
  if (k->taken != TG_NOT) tg_row_cstr(&w, TG_NEAR_TAKEN, s->rules->rules[k->taken].name);
  tg_row_text(&w, TG_NEAR_EXCERPT, (tg_str){k->excerpt, k->n});
  return tg_row_end(&w);
}

tg_status tg_near_table(const tg_alloc *a, const tg_near_store *s, tg_table **out) {
  static const tg_column_def defs[TG_NEAR_COLUMNS] = {
      {"rule", TG_TEXT, 0},    {"line", TG_U64, 0},      {"offset", TG_U64, 0},
      {"column", TG_U32, 0},   {"reached", TG_U32, 0},   {"expected", TG_TEXT, 0},
      {"taken", TG_TEXT, 0},   {"excerpt", TG_TEXT, 0},
  };
  tg_table *t = NULL;
  tg_status status = tg_table_new(a, defs, TG_NEAR_COLUMNS, &t);
  for (size_t rule = 0; s != NULL && status == TG_OK && rule < s->rules->n_rules; rule++) {
    for (size_t i = 0; status == TG_OK && i < s->n_kept[rule]; i++)
      status = near_row(s, rule, &s->kept[rule * TG_NEAR_KEPT + i], t);
  }
  if (status != TG_OK) {
    tg_table_free(t);
    return status;
  }
  *out = t;
  return TG_OK;
}

void tg_expected_text(const tg_template *t, uint32_t item, const char *expected, char *out,
                      size_t size) {
  const tg_inst *in = &t->inst[item];
  size_t used = 0;
  if (in->op != TG_OP_LITERAL || strncmp(expected, "the literal", 11) != 0) {
    snprintf(out, size, "%s", expected);
    return;
  }
  tg_literal lit = t->alts[in->alt];
  out[used++] = '\'';
  for (uint32_t i = 0; i < lit.n && i < TG_LITERAL_SHOWN && used + 5 < size; i++) {
    uint8_t c = t->pool[lit.at + i];
    if (c >= 0x20 && c < 0x7f) {
      out[used++] = (char)c;
    } else {
      used += (size_t)snprintf(out + used, size - used, "\\x%02x", (unsigned)c);
    }
  }
  snprintf(out + used, size - used, "%s'", lit.n > TG_LITERAL_SHOWN ? "..." : "");
}

tg_str tg_excerpt(const tg_line *line, uint64_t offset) {
  tg_str raw = line->raw;
  size_t at = offset > line->raw_offset ? (size_t)(offset - line->raw_offset) : 0;
  if (raw.n <= TG_EXCERPT) return raw;
  size_t from = at > TG_EXCERPT_BEFORE ? at - TG_EXCERPT_BEFORE : 0;
  if (from > raw.n - TG_EXCERPT) from = raw.n - TG_EXCERPT;
  return (tg_str){raw.p + from, TG_EXCERPT};
}

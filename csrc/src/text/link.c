/* link.c - the second step of compiling: the tag, literals that cut a word, memo planes.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "base/mem.h"
#include "base/try.h"
#include "plan.h"
#include "template_parse.h"

#define TG_TAG_BYTES 3 /* the shortest literal that becomes a tag by itself */

static bool inst_literal(const tg_template *t, const tg_inst *in, uint8_t *c, size_t i) {
  if (in->op == TG_OP_BLANK) {
    *c = ' ';
    return i == 0;
  }
  if (in->op != TG_OP_LITERAL || i >= t->alts[in->alt].n) return false;
  *c = t->pool[t->alts[in->alt].at + i];
  return true;
}

/* True where the bytes [tag, tag+n) stand in the template from byte `skew` of instruction `k`;
 * instructions in an optional part do not count. `*last` is the instruction of the last byte. */
static bool tag_at(const tg_template *t, size_t k, size_t skew, const uint8_t *tag, size_t n,
                   size_t *last) {
  size_t i = skew;
  for (size_t done = 0; done < n;) {
    uint8_t c;
    if (t->inst[k].optional) return false;
    if (!inst_literal(t, &t->inst[k], &c, i)) {
      if (i == 0) return false;
      k++;
      i = 0;
      continue;
    }
    if (c != tag[done]) return false;
    *last = k;
    done++;
    i++;
  }
  return true;
}

/* A named tag may hold blanks: there the template takes exactly these bytes. */
static tg_status fix_blanks(tg_template *t, size_t first, size_t last) {
  for (size_t k = first; k <= last; k++) {
    tg_inst *in = &t->inst[k];
    if (in->op != TG_OP_BLANK) continue;
    uint32_t at;
    tg_status status = tg_template_pool(t, (const uint8_t *)" ", 1, &at);
    if (status != TG_OK) return status;
    in->op = TG_OP_LITERAL;
    in->alt = (uint32_t)t->n_alts;
    in->alts = 1;
    status = tg_template_alt(t, at, 1);
    if (status != TG_OK) return status;
  }
  return TG_OK;
}

static tg_status named_tag(tg_template *t, const char *tag, tg_error *err) {
  size_t n = strlen(tag);
  uint32_t at;
  for (size_t k = 0; n > 0 && k < t->n_inst; k++) {
    uint8_t c;
    for (size_t skew = 0; inst_literal(t, &t->inst[k], &c, skew); skew++) {
      size_t last = k;
      if (!tag_at(t, k, skew, (const uint8_t *)tag, n, &last)) continue;
      t->tag_inst = k;
      t->tag_skew = skew;
      tg_status status = fix_blanks(t, k, last);
      if (status == TG_OK) status = tg_template_pool(t, (const uint8_t *)tag, n, &at);
      if (status == TG_OK) t->tag = (tg_literal){at, (uint32_t)n};
      return status;
    }
  }
  return tg_fail(err, TG_ESYNTAX, 0, 0,
                 "the tag '%.80s' is not among the literals outside optional parts", tag);
}

static tg_status default_tag(tg_template *t, tg_error *err) {
  for (size_t k = 0; k < t->n_inst; k++) {
    const tg_inst *in = &t->inst[k];
    if (in->op != TG_OP_LITERAL || in->optional) continue;
    if (t->alts[in->alt].n < TG_TAG_BYTES) continue;
    t->tag_inst = k;
    t->tag_skew = 0;
    t->tag = t->alts[in->alt];
    return TG_OK;
  }
  return tg_fail(err, TG_ESYNTAX, 0, 0, "no literal of at least %d bytes to look for: name a tag",
                 TG_TAG_BYTES);
}

/* Bytes before the tag, SIZE_MAX where they are not always the same number. */
static size_t fixed_lead(const tg_template *t) {
  size_t lead = t->tag_skew;
  for (size_t k = 0; k < t->tag_inst; k++) {
    const tg_inst *in = &t->inst[k];
    if (in->optional) return SIZE_MAX;
    if (in->op == TG_OP_BLANK) {
      lead++;
    } else if (in->op == TG_OP_LITERAL) {
      lead += t->alts[in->alt].n;
    } else {
      return SIZE_MAX;
    }
  }
  return lead;
}

/* True where the instructions from `k` on can match nothing at all (and no '$' follows). */
static bool rest_empty(const tg_template *t, size_t k) {
  while (t->inst[k].op != TG_OP_MATCH) {
    if (t->inst[k].op == TG_OP_OPTION) {
      k = t->inst[k].skip;
    } else if (t->inst[k].op == TG_OP_BLANKS) {
      k++;
    } else {
      return false;
    }
  }
  return true;
}

/* The instruction behind `k`: a closing bracket lies between the two where optional parts end. */
static bool last_of_option(const tg_template *t, size_t k) {
  return t->inst[k].optional && (!t->inst[k + 1].optional || t->inst[k + 1].op == TG_OP_OPTION);
}

/* A text that nothing must follow runs to the end of the line: alone it takes all, before
 * optional parts the whole template must end there. */
static tg_status link_text(tg_template *t) {
  for (size_t k = 0; k + 1 < t->n_inst; k++) {
    tg_inst *in = &t->inst[k];
    if (in->op != TG_OP_TEXT) continue;
    if (t->inst[k + 1].op == TG_OP_END) in->possessive = true;
    if (!rest_empty(t, k + 1)) continue;
    if (in->optional || t->inst[k + 1].op == TG_OP_MATCH) {
      in->possessive = last_of_option(t, k) || !in->optional;
      continue;
    }
    tg_inst match = t->inst[t->n_inst - 1];
    tg_status status =
        tg_reserve(&t->alloc, &t->inst, &t->cap_inst, t->n_inst + 1, sizeof *t->inst);
    if (status != TG_OK) return status;
    t->inst[t->n_inst - 1].op = TG_OP_END;
    t->inst[t->n_inst++] = match;
  }
  return TG_OK;
}

/* Adds the literals that can begin directly behind instruction `k` to the list of a word. */
static tg_status add_cuts(tg_template *t, size_t k) {
  for (; t->inst[k].op == TG_OP_OPTION || t->inst[k].op == TG_OP_LITERAL ||
         t->inst[k].op == TG_OP_CHOICE || t->inst[k].op == TG_OP_BLANKS;
       k = t->inst[k].op == TG_OP_OPTION ? t->inst[k].skip : k + 1) {
    size_t from = t->inst[k].op == TG_OP_OPTION ? k + 1 : k;
    tg_inst in = t->inst[from];
    if (in.op == TG_OP_LITERAL || in.op == TG_OP_CHOICE) {
      for (uint32_t i = 0; i < in.alts; i++) {
        tg_literal lit = t->alts[in.alt + i];
        tg_status status = tg_template_alt(t, lit.at, lit.n);
        if (status != TG_OK) return status;
      }
    }
    if (t->inst[k].op == TG_OP_LITERAL || t->inst[k].op == TG_OP_CHOICE) break;
  }
  return TG_OK;
}

static tg_status link_words(tg_template *t) {
  for (size_t k = 0; k < t->n_inst; k++) {
    if (t->inst[k].op != TG_OP_WORD) continue;
    uint32_t first = (uint32_t)t->n_alts;
    tg_status status = add_cuts(t, k + 1);
    if (status != TG_OK) return status;
    t->inst[k].alt = first;
    t->inst[k].alts = (uint32_t)t->n_alts - first;
  }
  return TG_OK;
}

/* BLANKS keep all they took where the next item cannot begin with a blank. */
static void link_blanks(tg_template *t) {
  for (size_t k = 0; k + 1 < t->n_inst; k++) {
    if (t->inst[k].op != TG_OP_BLANKS) continue;
    const tg_first next = tg_first_of(t, k + 1, t->n_inst);
    const bool blank = tg_first_blank(&next);
    t->inst[k].possessive = !blank || last_of_option(t, k);
  }
}

static bool branches(const tg_inst *in) {
  switch (in->op) {
    case TG_OP_TEXT:
    case TG_OP_BLANKS:
      return !in->possessive;
    case TG_OP_WORD:
      return in->alts > 0;
    case TG_OP_CHOICE:
      return in->alts > 1;
    case TG_OP_OPTION:
      return true;
    default:
      return false;
  }
}

/* Which fields are numbers. */
static void link_numbers(tg_template *t) {
  for (size_t i = 0; i < t->n_fields; i++) {
    const tg_field_type type = t->fields[i].type;
    const bool text = type == TG_FIELD_WORD || type == TG_FIELD_TEXT || type == TG_FIELD_QUOTED ||
                      type == TG_FIELD_CHOICE;
    if (!text) t->numbers |= UINT64_C(1) << i;
  }
}

/* Gives memo planes and run caches to items that can be reached in more than one way. */
static void link_memo(tg_template *t, bool row) {
  bool many = !row && t->lead == SIZE_MAX && !t->begin;
  for (size_t k = 0; k < t->n_inst; k++) {
    tg_inst *in = &t->inst[k];
    many = many || branches(in);
    if (!many) continue;
    bool simple = in->op == TG_OP_LITERAL || in->op == TG_OP_BLANK;
    const tg_inst *prev = k > 0 ? &t->inst[k - 1] : NULL;
    bool after = prev != NULL && (prev->op == TG_OP_LITERAL || prev->op == TG_OP_BLANK) &&
                 prev->optional == in->optional;
    if (!simple || !after) in->plane = t->planes++;
    if (!simple && in->op != TG_OP_OPTION && in->op != TG_OP_END && in->op != TG_OP_MATCH) {
      in->cache = t->caches;
      t->caches += 3;
    }
  }
}

tg_status tg_template_link(tg_template *t, const char *tag, bool row, tg_error *err) {
  t->tag_inst = SIZE_MAX;
  t->lead = SIZE_MAX;
  if (tag != NULL) {
    TG_TRY(named_tag(t, tag, err));
  } else if (!row) {
    TG_TRY(default_tag(t, err));
  }
  if (t->tag_inst != SIZE_MAX) t->lead = fixed_lead(t);
  TG_TRY(link_text(t));
  TG_TRY(link_words(t));
  link_blanks(t);
  link_numbers(t);
  link_memo(t, row);
  return tg_straight_plan(t);
}

/* plan.c - which items of a template can end in one place only, and the bytes they begin with.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "plan.h"

#include <string.h>

#include "straight.h"
#include "template_parse.h"

enum { LOOK_AHEAD = 64 }; /* items; behind so many that can be empty, anything may follow */

static void add_bytes(tg_bytes *s, const char *bytes) {
  for (; *bytes != '\0'; bytes++) tg_bytes_add(s, (uint8_t)*bytes);
}

static bool has_blank_byte(const tg_bytes *s) { return tg_first_blank(&(tg_first){*s, false}); }

static bool share_a_byte(const tg_bytes *a, const tg_bytes *b) {
  uint64_t both = 0;
  for (size_t i = 0; i < 4; i++) both |= a->bits[i] & b->bits[i];
  return both != 0;
}

static void add_number(tg_bytes *s, const tg_inst *in) {
  add_bytes(s, "0123456789"); /* a duration begins with one, too */
  if (in->type == TG_FIELD_HEX || in->type == TG_FIELD_HEXANY) add_bytes(s, "abcdef");
  if (in->type == TG_FIELD_HEXANY) add_bytes(s, "ABCDEF");
  if (in->type == TG_FIELD_INT || in->type == TG_FIELD_DEC || in->type == TG_FIELD_EXP)
    add_bytes(s, "+-");
  if (in->type == TG_FIELD_DEC || in->type == TG_FIELD_EXP) tg_bytes_add(s, '.');
  if (in->type == TG_FIELD_EXP) add_bytes(s, "iInN");
  if (in->width > 0) add_bytes(s, " \t\n\v\f\r");
}

/* Adds the bytes that one item can begin with; true where it can be empty. */
static bool add_item(const tg_template *t, const tg_inst *in, tg_bytes *s) {
  switch (in->op) {
    case TG_OP_LITERAL:
    case TG_OP_CHOICE:
      for (uint32_t i = 0; i < in->alts; i++) tg_bytes_add(s, t->pool[t->alts[in->alt + i].at]);
      return false;
    case TG_OP_BLANK:
    case TG_OP_BLANKS:
      add_bytes(s, " \t\n\v\f\r");
      return in->op == TG_OP_BLANKS;
    case TG_OP_NUMBER:
      add_number(s, in);
      return false;
    case TG_OP_QUOTED:
      tg_bytes_add(s, '"');
      return false;
    case TG_OP_CLASS:
      for (size_t i = 0; i < 4; i++) s->bits[i] |= t->sets[in->set].bits[i];
      return false;
    case TG_OP_WORD:
    case TG_OP_TEXT:
      for (unsigned c = 0; c < 256; c++)
        if (in->op == TG_OP_TEXT || !tg_is_blank((uint8_t)c)) tg_bytes_add(s, (uint8_t)c);
      return in->op == TG_OP_TEXT;
    default:
      return in->op == TG_OP_MATCH;
  }
}

tg_first tg_first_of(const tg_template *t, size_t k, size_t end) {
  tg_first f = {{{0}}, false};
  for (int items = 0; k < end && items < LOOK_AHEAD; items++) {
    const tg_inst *in = &t->inst[k];
    if (in->op == TG_OP_OPTION) {
      size_t part = k + 1;
      while (part < in->skip && items++ < LOOK_AHEAD && add_item(t, &t->inst[part], &f.bytes))
        part++;
      k = in->skip;
      continue;
    }
    if (!add_item(t, in, &f.bytes)) return f;
    k++;
  }
  f.empty = true;
  if (k < end && t->inst[k].op != TG_OP_MATCH) memset(&f.bytes, 0xff, sizeof f.bytes);
  return f;
}

static bool begins_another(const tg_template *t, const tg_inst *in) {
  for (uint32_t i = 0; i < in->alts; i++) {
    const tg_literal a = t->alts[in->alt + i];
    for (uint32_t k = i + 1; k < in->alts; k++) { /* the longest stand first */
      const tg_literal b = t->alts[in->alt + k];
      if (memcmp(t->pool + a.at, t->pool + b.at, b.n) == 0) return true;
    }
  }
  return false;
}

/* True where an optional part and the item behind it begin with literals of which one can match. */
static bool literals_decide(const tg_template *t, const tg_inst *in) {
  const tg_inst *part = in + 1, *rest = t->inst + in->skip;
  if (part->op != TG_OP_LITERAL || rest->op != TG_OP_LITERAL) return false;
  const tg_literal a = t->alts[part->alt], b = t->alts[rest->alt];
  return memcmp(t->pool + a.at, t->pool + b.at, a.n < b.n ? a.n : b.n) != 0;
}

/* Finds out whether the bytes at hand decide if an optional part is taken: its first one, of which
 * the set is kept, or its literal. */
static tg_status plan_option(tg_template *t, tg_inst *in, bool *straight) {
  const size_t k = (size_t)(in - t->inst);
  const tg_first part = tg_first_of(t, k + 1, in->skip);
  const tg_first rest = tg_first_of(t, in->skip, t->n_inst);
  in->set = TG_BY_LITERAL;
  *straight = literals_decide(t, in);
  if (*straight || part.empty || rest.empty || share_a_byte(&part.bytes, &rest.bytes)) return TG_OK;
  *straight = true;
  return tg_template_set(t, &part.bytes, &in->set);
}

static tg_status plan_item(tg_template *t, tg_inst *in) {
  bool straight = true;
  tg_status status = TG_OK;
  switch (in->op) {
    case TG_OP_BLANKS:
    case TG_OP_TEXT:
      straight = in->possessive;
      break;
    case TG_OP_WORD:
      straight = in->alts == 0;
      break;
    case TG_OP_CHOICE:
      straight = !begins_another(t, in);
      break;
    case TG_OP_OPTION:
      status = plan_option(t, in, &straight);
      break;
    default:
      break;
  }
  in->step = straight ? in->op : TG_STEP_CROOKED;
  return status;
}

static bool has_blank(const tg_template *t, const tg_inst *in) {
  for (uint32_t i = 0; i < in->alts; i++) {
    const tg_literal lit = t->alts[in->alt + i];
    for (uint32_t k = 0; k < lit.n; k++)
      if (tg_is_blank(t->pool[lit.at + k])) return true;
  }
  return false;
}

/* The runs of blanks that can lie between a text that begins the template and its tag; 0 where
 * there is no such text, or no bound. */
static uint32_t plan_head(tg_template *t) {
  uint32_t runs = 0;
  if (t->begin || t->tag_inst == SIZE_MAX || t->inst[0].op != TG_OP_TEXT) return 0;
  if (t->inst[0].possessive || t->inst[1].op != TG_OP_BLANK) return 0;
  const bool run = t->inst[2].op == TG_OP_BLANKS; /* else the blank is the last of its run */
  const tg_first next = tg_first_of(t, run ? 3 : 2, t->n_inst);
  if (next.empty || has_blank_byte(&next.bytes)) return 0;
  t->head_next = next.bytes;
  for (size_t k = 1; k < t->tag_inst; k++) {
    const tg_inst *in = &t->inst[k];
    const bool blank = in->op == TG_OP_BLANK || in->op == TG_OP_BLANKS;
    if (in->op == TG_OP_NUMBER && (in->type == TG_FIELD_DURATION || in->width > 0)) return 0;
    if (in->op == TG_OP_CLASS && has_blank_byte(&t->sets[in->set])) return 0;
    if (in->step == TG_STEP_CROOKED || in->op == TG_OP_TEXT || in->op == TG_OP_QUOTED) return 0;
    if (!blank && in->op != TG_OP_OPTION && in->op != TG_OP_NUMBER && has_blank(t, in)) return 0;
    runs += blank && t->inst[k - 1].op != TG_OP_BLANK;
  }
  return runs <= TG_HEAD_RUNS ? runs : 0;
}

/* Blanks, then a number: one step. */
static void plan_gaps(tg_template *t) {
  for (size_t k = 0; k + 2 < t->n_inst; k++) {
    const tg_inst *number = &t->inst[k + 2];
    const bool gap = t->inst[k].op == TG_OP_BLANK && t->inst[k + 1].op == TG_OP_BLANKS &&
                     number->op == TG_OP_NUMBER && number->type == TG_FIELD_UINT &&
                     number->width == 0 && number->field != UINT32_MAX;
    if (gap && t->inst[k + 1].step != TG_STEP_CROOKED) t->inst[k].step = TG_STEP_GAP_NUMBER;
  }
}

tg_status tg_straight_plan(tg_template *t) {
  for (size_t k = 0; k < t->n_inst; k++) {
    const tg_status status = plan_item(t, &t->inst[k]);
    if (status != TG_OK) return status;
    t->partial = t->partial || (t->inst[k].optional && t->inst[k].field != UINT32_MAX);
  }
  plan_gaps(t);
  t->head_runs = plan_head(t);
  t->straight = t->head_runs > 0;
  if (t->straight || t->tag_inst == SIZE_MAX) return TG_OK;
  t->straight = t->inst[0].step != TG_STEP_CROOKED &&
                (t->lead != SIZE_MAX || (t->inst[0].op == TG_OP_LITERAL && !t->begin));
  return TG_OK;
}

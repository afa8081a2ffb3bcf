/* template.h - a line template, compiled to a short program.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TICKGAUGE_TEXT_TEMPLATE_H
#define TICKGAUGE_TEXT_TEMPLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tickgauge/alloc.h"
#include "tickgauge/rule.h"
#include "tickgauge/status.h"

#define TG_TEMPLATE_BYTES 4096 /* at most, where the caller names no other bound */
#define TG_LONGEST_TEMPLATE ((size_t)1 << 30) /* so that every place of it fits 32 bits */
#define TG_TEMPLATE_FIELDS 56 /* kept fields: a table has 64 columns, 5 are every record's */
#define TG_DIGITS (-9) /* of a decimal fraction whose power of ten no rule names */
#define TG_NO_PLANE UINT32_MAX
#define TG_BY_LITERAL UINT32_MAX

typedef enum tg_op {
  TG_OP_LITERAL,
  TG_OP_BLANK,  /* exactly one */
  TG_OP_BLANKS, /* zero or more */
  TG_OP_NUMBER,
  TG_OP_WORD,
  TG_OP_TEXT,
  TG_OP_QUOTED,
  TG_OP_CHOICE,
  TG_OP_CLASS,  /* one byte of a set */
  TG_OP_OPTION, /* try the next instruction, then `skip` */
  TG_OP_END,    /* '$' */
  TG_OP_MATCH
} tg_op;

/* A set of bytes: bit c % 64 of bits[c / 64]. */
typedef struct tg_bytes {
  uint64_t bits[4];
} tg_bytes;

static inline void tg_bytes_add(tg_bytes *s, uint8_t c) {
  s->bits[c / 64] |= UINT64_C(1) << (c % 64);
}
static inline bool tg_bytes_has(const tg_bytes *s, uint8_t c) {
  return (s->bits[c / 64] >> (c % 64) & 1) != 0;
}

/* One literal in the pool. */
typedef struct tg_literal {
  uint32_t at, n;
} tg_literal;

typedef struct tg_inst {
  uint8_t op;
  uint8_t type;      /* tg_field_type of a field */
  bool possessive;   /* BLANKS: the next item cannot begin with a blank; TEXT: runs to the end */
  bool optional;     /* lies in an optional part */
  uint8_t step;      /* the same on the straight way: see straight.c */
  uint16_t width;    /* NUMBER in a column of this width; 0 = free */
  uint32_t column;   /* where it stands in the template */
  uint32_t skip;     /* OPTION: the instruction behind the closing bracket */
  uint32_t set; /* CLASS: its bytes; OPTION: those its part can begin with, or TG_BY_LITERAL */
  uint32_t field;    /* index of the kept field, UINT32_MAX: not kept */
  uint32_t plane;    /* memo plane, TG_NO_PLANE: reached one way only */
  uint32_t cache;    /* slot of the run cache, TG_NO_PLANE: not needed */
  uint32_t alt, alts; /* LITERAL: one; CHOICE: alternatives; WORD: literals that may cut it */
} tg_inst;

typedef struct tg_template_field {
  uint32_t name; /* in the pool, NUL-terminated */
  tg_field_type type;
  int32_t exp10;
  bool as_printed; /* no power of ten was named: TG_DIGITS */
  bool rounded;    /* digits beyond the power of ten are rounded off */
} tg_template_field;

typedef struct tg_template {
  tg_alloc alloc;
  tg_inst *inst;
  size_t n_inst, cap_inst;
  uint8_t *pool;
  size_t n_pool, cap_pool;
  tg_literal *alts;
  size_t n_alts, cap_alts;
  tg_template_field *fields;
  size_t n_fields, cap_fields;
  size_t tag_inst; /* the instruction in which the tag begins */
  size_t tag_skew; /* bytes of that instruction before it */
  size_t lead;     /* bytes before the tag, SIZE_MAX: not fixed */
  tg_literal tag;
  uint32_t planes, caches;
  uint64_t numbers; /* bit i: field i is a number, not a text */
  bool begin; /* '^' */
  bool straight;      /* it has a straight way: see straight.h */
  tg_bytes head_next;  /* the bytes that can stand behind its blanks */
  uint32_t head_runs; /* runs of blanks between a first text and the tag, at most; 0: no text */
  bool partial;       /* a kept field lies in an optional part */
  tg_bytes *sets; /* of tg_inst.set */
  size_t n_sets, cap_sets;
  bool closed; /* the last item is a literal: a match cannot have been cut */
} tg_template;

/* Compiles a NUL-terminated template of at most `most` bytes. `tag` NULL takes the default; `row`
 * means that no tag is needed. Errors carry the 0-based column. TG_OK, TG_ENOMEM, TG_ESYNTAX,
 * TG_ELIMIT. */
tg_status tg_template_new(const tg_alloc *a, const char *text, size_t most, const char *tag,
                          bool row, tg_template **out, tg_error *err);
void tg_template_free(tg_template *t);

static inline bool tg_is_blank(uint8_t c) { return c == ' ' || (c >= 0x09 && c <= 0x0d); }
/* True where `c` is one of the characters of `set`. */
static inline bool tg_is_one_of(uint8_t c, const char *set) {
  for (; *set != '\0'; set++) {
    if (c == (uint8_t)*set) return true;
  }
  return false;
}
static inline bool tg_is_digit(uint8_t c) { return c >= '0' && c <= '9'; }
/* True where a number may not touch `c`. */
static inline bool tg_is_edge(uint8_t c) {
  return tg_is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         c == '.';
}

#endif

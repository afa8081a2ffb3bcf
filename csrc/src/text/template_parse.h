/* template_parse.h - the two steps of compiling a template.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TICKGAUGE_TEXT_TEMPLATE_PARSE_H
#define TICKGAUGE_TEXT_TEMPLATE_PARSE_H

#include "template.h"

/* Reads the grammar: [text, text+n) becomes the instructions, literals and fields of `t`, which is
 * zeroed but for its allocator and is the caller's to free, also after a failure.
 * TG_OK, TG_ENOMEM, TG_ESYNTAX (`err->offset` is the 0-based column), TG_ELIMIT. */
tg_status tg_template_parse(tg_template *t, const uint8_t *text, size_t n, tg_error *err);

/* Adds the tag, memo planes, run caches and the literals that cut a word. `tag` NULL takes the
 * default; `row`: none is needed. TG_OK, TG_ENOMEM, TG_ESYNTAX. */
tg_status tg_template_link(tg_template *t, const char *tag, bool row, tg_error *err);

/* Puts `n` bytes into the pool; `*at` is their place in it. TG_OK, TG_ENOMEM. */
tg_status tg_template_pool(tg_template *t, const uint8_t *p, size_t n, uint32_t *at);
/* Keeps a set of bytes; `*at` is its number. TG_OK, TG_ENOMEM. */
tg_status tg_template_set(tg_template *t, const tg_bytes *set, uint32_t *at);
/* Adds bytes [at, at+n) of the pool to the list of literals. TG_OK, TG_ENOMEM. */
tg_status tg_template_alt(tg_template *t, uint32_t at, uint32_t n);

#endif

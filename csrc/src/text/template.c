/* template.c - a template from its text to its program. SPDX-License-Identifier: BSD-3-Clause */
#include "template.h"

#include <string.h>

#include "base/mem.h"
#include "template_parse.h"

tg_status tg_template_new(const tg_alloc *a, const char *text, size_t most, const char *tag,
                          bool row, tg_template **out, tg_error *err) {
  if (a == NULL) a = tg_alloc_default();
  size_t n = strlen(text);
  if (n > most) {
    return tg_fail(err, TG_ELIMIT, most, 0,
                   "the template has %zu bytes, more than %zu (--limit template=N)", n, most);
  }
  tg_template *t = tg_zalloc(a, 1, sizeof *t);
  if (t == NULL) return tg_fail(err, TG_ENOMEM, 0, 0, "no memory for a template");
  t->alloc = *a;
  tg_status status = tg_template_parse(t, (const uint8_t *)text, n, err);
  if (status == TG_OK) status = tg_template_link(t, tag, row, err);
  if (status == TG_ENOMEM) tg_fail(err, TG_ENOMEM, 0, 0, "no memory for a template");
  if (status != TG_OK) goto fail;
  *out = t;
  return TG_OK;
fail:
  tg_template_free(t);
  return status;
}

void tg_template_free(tg_template *t) {
  if (t == NULL) return;
  tg_alloc a = t->alloc;
  tg_release(&a, t->inst);
  tg_release(&a, t->pool);
  tg_release(&a, t->alts);
  tg_release(&a, t->fields);
  tg_release(&a, t->sets);
  tg_release(&a, t);
}

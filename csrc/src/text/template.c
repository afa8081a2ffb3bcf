/* template.c - a template from its text to its program. SPDX-License-Identifier: BSD-3-Clause */
#include "template.h"

#include <string.h>

#include "template_parse.h"

tg_status tg_template_new(const tg_alloc *a, const char *text, size_t most, const char *tag,
                          bool row, tg_template **out, tg_error *err) {
  if (a == NULL) a = tg_alloc_default();
  size_t n = strlen(text);
  if (n > most) {
    return tg_fail(err, TG_ELIMIT, most, 0,
                   "the template has %zu bytes, more than %zu (--limit template=N)", n, most);
  }
  tg_template *t = a->resize(a->ctx, NULL, sizeof *t);
  if (t == NULL) return tg_fail(err, TG_ENOMEM, 0, 0, "no memory for a template");
  memset(t, 0, sizeof *t);
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
  a.release(a.ctx, t->inst);
  a.release(a.ctx, t->pool);
  a.release(a.ctx, t->alts);
  a.release(a.ctx, t->fields);
  a.release(a.ctx, t);
}

/* vcd_head.c - the definitions of a VCD: scopes, variables, version, timescale; then which of them
 * are stored and on which signal the capture is sampled.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "base/try.h"
#include "capture/vcd.h"

static bool is_blank(uint8_t ch) { return ch <= ' '; }

/* The next word of [p, e): its start, `*stop` behind it; NULL at the end. */
static const uint8_t *next_word(const uint8_t *p, const uint8_t *e, const uint8_t **stop) {
  while (p < e && is_blank(*p)) p++;
  if (p == e) return NULL;
  const uint8_t *q = p;
  while (q < e && !is_blank(*q)) q++;
  *stop = q;
  return p;
}

static bool is_word(const uint8_t *p, const uint8_t *stop, const char *word) {
  size_t n = strlen(word);
  return (size_t)(stop - p) == n && memcmp(p, word, n) == 0;
}

/* The text between a keyword and its $end with blanks outside cut, copied. */
static tg_status keep_text(tg_capture *c, const uint8_t *p, const uint8_t *e, char **out) {
  while (p < e && is_blank(*p)) p++;
  while (e > p && is_blank(e[-1])) e--;
  size_t n = (size_t)(e - p) < 256 ? (size_t)(e - p) : 256;
  char *text = tg_cap_copy(&c->a, p, n);
  if (text == NULL) return TG_ENOMEM;
  for (size_t i = 0; i < n; i++)
    if (is_blank((uint8_t)text[i])) text[i] = ' ';
  tg_release(&c->a, *out);
  *out = text;
  return TG_OK;
}

static tg_status scope(tg_capture *c, const uint8_t *p, const uint8_t *e, tg_error *err) {
  struct cap_vcd *v = c->vcd;
  const uint8_t *stop = p, *name = NULL;
  for (const uint8_t *w = next_word(p, e, &stop); w != NULL; w = next_word(stop, e, &stop)) {
    name = w;
    p = stop;
  }
  size_t n = name != NULL ? (size_t)(p - name) : 0;
  v->one_scope_dut = v->scopes == 0 && n == 3 && memcmp(name, "dut", 3) == 0;
  v->scopes++;
  if (n > c->max_scope || v->n_scope > c->max_scope - n) /* names are written out in full */
    return tg_fail(err, TG_ELIMIT, c->offset, c->line,
                   "a scope whose path has %zu bytes, more than %u (--limit scope=N)",
                   v->n_scope + n, (unsigned)c->max_scope);
  tg_status status = tg_grow(&c->a, (void **)&v->scope, &v->cap_scope, v->n_scope + n + 1, 1);
  if (status != TG_OK) return status;
  if (n > 0) memcpy(v->scope + v->n_scope, name, n);
  v->scope[v->n_scope + n] = '.';
  v->n_scope += n + 1;
  return TG_OK;
}

static void upscope(struct cap_vcd *v) {
  if (v->n_scope > 0) v->n_scope--;
  while (v->n_scope > 0 && v->scope[v->n_scope - 1] != '.') v->n_scope--;
}

/* Code of a short identifier: digits 1..94 to the base 95, so that no two are equal. */
static size_t short_code(const uint8_t *id, size_t n) {
  size_t code = 0;
  for (size_t i = 0; i < n; i++) {
    if (id[i] < 33 || id[i] > 126) return 0;
    code = code * 95 + (id[i] - 32u);
  }
  return code;
}

tg_status tg_vcd_define(tg_capture *c, const uint8_t *id, size_t n, uint32_t *dense) {
  return tg_intern_put(c->vcd->ids, id, n, dense);
}

/* Enters a variable by its id and its full name. */
static tg_status enter_var(tg_capture *c, const uint8_t *id, size_t n_id, const uint8_t *name,
                           size_t n, uint32_t width, bool bits, tg_error *err) {
  struct cap_vcd *v = c->vcd;
  uint32_t dense = 0, row = 0;
  TG_TRY(tg_vcd_define(c, id, n_id, &dense));
  TG_TRY(tg_cap_signal_add(c, name, n, width, bits, &row, err));
  TG_TRY(tg_grow(&c->a, (void **)&v->var, &v->cap_var, v->n_var + 1, sizeof *v->var));
  v->var[v->n_var++] = (vcd_var){.id = dense, .signal = row};
  return TG_OK;
}

/* A variable's full name: scope, reference, range, without the backslash of escaped names. */
static tg_status add_var(tg_capture *c, uint32_t width, bool bits, const uint8_t *id, size_t n_id,
                         const uint8_t *ref, size_t n_ref, const uint8_t *range, size_t n_range,
                         tg_error *err) {
  struct cap_vcd *v = c->vcd;
  if (n_ref > 0 && *ref == '\\') ref++, n_ref--;
  size_t n = v->n_scope + n_ref + n_range;
  uint8_t *name = tg_zalloc(&c->a, n + 1, 1);
  if (name == NULL) return TG_ENOMEM;
  if (v->n_scope > 0) memcpy(name, v->scope, v->n_scope);
  memcpy(name + v->n_scope, ref, n_ref);
  if (n_range > 0) memcpy(name + v->n_scope + n_ref, range, n_range);
  const tg_status status = enter_var(c, id, n_id, name, n, width, bits, err);
  tg_release(&c->a, name);
  return status;
}

/* "$var type width id reference [range] $end" */
static tg_status var(tg_capture *c, const uint8_t *p, const uint8_t *e, tg_error *err) {
  const uint8_t *w[5] = {0}, *stop[5] = {0};
  unsigned n = 0;
  uint64_t width = 0;
  for (const uint8_t *s = p; n < 5 && (w[n] = next_word(s, e, &stop[n])) != NULL; n++) s = stop[n];
  if (n < 4)
    return tg_cap_problem(c, c->line, c->offset, "bad-var", "a $var has fewer than four words");
  bool real = is_word(w[0], stop[0], "real") || is_word(w[0], stop[0], "realtime") ||
              is_word(w[0], stop[0], "string") || is_word(w[0], stop[0], "event") ||
              is_word(w[0], stop[0], "parameter");
  for (const uint8_t *d = w[1]; d < stop[1]; d++) {
    if (*d < '0' || *d > '9' || width > (1u << 24))
      return tg_cap_problem(c, c->line, c->offset, "bad-var", "the width of a $var is no number");
    width = width * 10 + (uint64_t)(*d - '0');
  }
  bool bits = !real && width > 0;
  const uint8_t *range = n == 5 && *w[4] == '[' ? w[4] : NULL;
  size_t n_range = range != NULL ? (size_t)(stop[4] - w[4]) : 0;
  return add_var(c, bits ? (uint32_t)width : 1, bits, w[2], (size_t)(stop[2] - w[2]), w[3],
                 (size_t)(stop[3] - w[3]), range, n_range, err);
}

static tg_status section(tg_capture *c, const uint8_t *key, const uint8_t *key_end,
                         const uint8_t *e, tg_error *err) {
  if (is_word(key, key_end, "$var")) return var(c, key_end, e, err);
  if (is_word(key, key_end, "$scope")) return scope(c, key_end, e, err);
  if (is_word(key, key_end, "$version")) return keep_text(c, key_end, e, &c->version);
  if (is_word(key, key_end, "$timescale")) return keep_text(c, key_end, e, &c->timescale);
  if (is_word(key, key_end, "$upscope")) upscope(c->vcd);
  return TG_OK;
}

tg_status tg_vcd_head(tg_capture *c, const uint8_t *p, const uint8_t *end, bool final, size_t *used,
                      tg_error *err) {
  const uint8_t *q = p, *key_end = NULL;
  tg_status status = TG_OK;
  while (status == TG_OK && !c->vcd->defined) {
    const uint8_t *stop = NULL, *w = NULL, *key = next_word(q, end, &key_end);
    if (key == NULL || (key_end == end && !final)) break;
    for (; q < key; q++, c->offset++) c->line += *q == '\n'; /* errors name the key's own line */
    if (*key != '$') {
      if (*key == '#') { /* no $enddefinitions: the values begin all the same */
        status = tg_vcd_begin(c, err);
        break;
      }
      status = tg_cap_check_item(c, (size_t)(key_end - q) + 1, err);
      q = key_end;
      continue;
    }
    for (w = next_word(key_end, end, &stop); w != NULL && !is_word(w, stop, "$end");)
      w = next_word(stop, end, &stop);
    if (w == NULL || (stop == end && !final)) break;
    status = tg_cap_check_item(c, (size_t)(stop - q) + 1, err);
    if (status == TG_OK) status = section(c, key, key_end, w, err);
    for (const uint8_t *s = q; s < stop; s++) c->line += *s == '\n';
    c->offset += (uint64_t)(stop - q);
    q = stop;
    if (status == TG_OK && is_word(key, key_end, "$enddefinitions")) status = tg_vcd_begin(c, err);
  }
  *used = (size_t)(q - p);
  return status;
}

/* ---- clocks ----------------------------------------------------------------------------------
 */

/* Signals that are named as clocks, or that the caller samples on: one for each wire. */
static tg_status find_clocks(tg_capture *c, tg_error *err) {
  struct cap_vcd *v = c->vcd;
  const char *wish = c->sample_on;
  tg_status status = TG_OK;
  bool found = wish == NULL || wish[0] == 0;
  if (wish != NULL ? wish[0] == 0 : c->ila) return TG_OK;
  for (uint32_t i = 0; i < v->n_var && status == TG_OK; i++) {
    const uint32_t row = v->var[i].signal, id = v->var[i].id;
    const bool wished = wish != NULL && tg_cap_is_wished(c, row, NULL);
    found = found || wished;
    if (v->clock[id] != 0 || (!wished && tg_cap_clock_name(c, row) == 0)) continue;
    if (!wished && c->n_clocks >= CAP_MOST_CLOCKS) continue;
    status =
        tg_grow(&c->a, (void **)&c->clocks, &c->cap_clocks, c->n_clocks + 1, sizeof *c->clocks);
    if (status != TG_OK) break;
    c->clocks[c->n_clocks++] = (cap_clock){.signal = row, .id = id, .level = 2};
    v->clock[id] = (uint32_t)c->n_clocks;
  }
  for (uint32_t i = 0; i < v->n_var; i++)
    c->signal[v->var[i].signal].clock = v->clock[v->var[i].id];
  c->clocked = c->n_clocks > 0;
  TG_TRY(status);
  if (!found)
    return tg_fail(err, TG_ENOTFOUND, 0, 0, "no signal is named %.100s to sample on", wish);
  return TG_OK;
}

/* ---- from definitions to values ---------------------------------------------------------------
 */

/* `_TRIGGER`, `_WINDOW`, `_GAP`: the leaf behind the scope, as Vivado and ChipScoPy write it. */
static enum vcd_special special_of(const tg_capture *c, uint32_t row) {
  static const char *const names[] = {"", "_TRIGGER", "_WINDOW", "_GAP"};
  tg_str s = tg_intern_get(c->names, c->signal[row].name);
  for (unsigned i = 1; i < 4; i++) {
    size_t n = strlen(names[i]);
    if (s.n >= n && memcmp(s.p + s.n - n, names[i], n) == 0 &&
        (s.n == n || s.p[s.n - n - 1] == '.'))
      return (enum vcd_special)i;
  }
  return SPECIAL_NONE;
}

/* An ILA's file has one scope, "dut", that its CSV does not have: names go without it. */
static tg_status drop_scope(tg_capture *c) {
  tg_status status = TG_OK;
  for (size_t i = 0; i < c->n_signal && status == TG_OK; i++) {
    tg_str s = tg_intern_get(c->names, c->signal[i].name);
    if (s.n <= 4 || memcmp(s.p, "dut.", 4) != 0) continue;
    char *copy = tg_cap_copy(&c->a, s.p + 4, s.n - 4);
    if (copy == NULL) return TG_ENOMEM;
    status = tg_intern_put(c->names, (const uint8_t *)copy, s.n - 4, &c->signal[i].name);
    tg_release(&c->a, copy);
  }
  return status;
}

/* Are the bits' identifiers already those of one store, under another name? */
static bool is_there(const struct cap_vcd *v, const cap_joined *j) {
  const uint32_t store = v->entry[v->var[j->first].id];
  if (store == CAP_NONE) return false;
  for (uint32_t b = 0; b < j->width; b++) {
    const uint32_t id = v->var[j->first + b].id;
    if (v->entry[id] != store || v->bit[id] != tg_cap_bit_at(j, b) + 1) return false;
  }
  return true;
}

/* The stores of vectors dumped bit by bit: their bits' identifiers point into them. */
static tg_status add_joined(tg_capture *c) {
  struct cap_vcd *v = c->vcd;
  for (size_t i = 0; i < c->n_joined; i++) {
    const cap_joined *j = &c->joined[i];
    cap_signal *s = &c->signal[j->signal];
    if (!s->wanted) continue;
    if (is_there(v, j)) {
      s->store = v->entry[v->var[j->first].id];
      continue;
    }
    TG_TRY(tg_cap_join_store(c, j));
    if (c->store[s->store].words > v->most) v->most = c->store[s->store].words;
    for (uint32_t b = 0; b < j->width; b++) {
      const uint32_t id = v->var[j->first + b].id;
      v->entry[id] = s->store;
      v->bit[id] = tg_cap_bit_at(j, b) + 1;
    }
  }
  return TG_OK;
}

/* One store for each identifier that has a wanted name; all its names share it. */
static tg_status add_stores(tg_capture *c) {
  struct cap_vcd *v = c->vcd;
  tg_status status = TG_OK;
  if (v->most == 0) v->most = 1;
  for (size_t i = 0; i < v->n_var && status == TG_OK; i++) {
    cap_signal *g = &c->signal[v->var[i].signal];
    uint32_t *entry = &v->entry[v->var[i].id];
    if (!g->wanted || !g->bits || *entry != CAP_NONE) continue;
    status = tg_cap_store_add(c, g->width, entry);
    if (status != TG_OK) break;
    c->store[*entry].role = g->role;
    if (c->store[*entry].words > v->most) v->most = c->store[*entry].words;
  }
  for (size_t i = 0; i < v->n_var && status == TG_OK; i++)
    if (c->signal[v->var[i].signal].bits && v->bit[v->var[i].id] == 0)
      c->signal[v->var[i].signal].store = v->entry[v->var[i].id];
  TG_TRY(status);
  v->word = tg_zalloc(&c->a, v->most, sizeof *v->word);
  return v->word != NULL ? TG_OK : TG_ENOMEM;
}

/* The direct table of short identifiers that matter: a store, the clock, a mark. */
static tg_status index_ids(tg_capture *c) {
  struct cap_vcd *v = c->vcd;
  uint32_t n = tg_intern_count(v->ids);
  size_t top = 0;
  for (unsigned pass = 0; pass < 2; pass++) {
    for (uint32_t i = 0; i < n; i++) {
      tg_str id = tg_intern_get(v->ids, i);
      size_t code = id.n <= 3 ? short_code(id.p, id.n) : 0;
      bool used = v->entry[i] != CAP_NONE || v->clock[i] != 0;
      for (unsigned k = 1; k < 4; k++) used = used || v->special_id[k] == i;
      if (code == 0 || !used) continue;
      if (pass == 0) top = code > top ? code : top;
      if (pass == 1) v->direct[code] = i + 1;
    }
    if (pass == 0) {
      v->n_direct = top + 1;
      v->direct = tg_zalloc(&c->a, v->n_direct, sizeof *v->direct);
      if (v->direct == NULL) return TG_ENOMEM;
    }
  }
  return TG_OK;
}

/* The known facts of each identifier. */
static tg_status make_entries(tg_capture *c) {
  struct cap_vcd *v = c->vcd;
  const size_t n = (size_t)tg_intern_count(v->ids) + 1;
  v->entry = tg_zalloc(&c->a, n, sizeof *v->entry);
  v->bit = tg_zalloc(&c->a, n, sizeof *v->bit);
  v->clock = tg_zalloc(&c->a, n, sizeof *v->clock);
  if (v->entry == NULL || v->bit == NULL || v->clock == NULL) return TG_ENOMEM;
  for (size_t i = 0; i < n; i++) v->entry[i] = CAP_NONE;
  return TG_OK;
}

tg_status tg_vcd_begin(tg_capture *c, tg_error *err) {
  struct cap_vcd *v = c->vcd;
  v->defined = true;
  for (unsigned k = 0; k < 4; k++) v->special_id[k] = CAP_NONE;
  for (size_t i = 0; i < v->n_var; i++) {
    enum vcd_special what = special_of(c, v->var[i].signal);
    if (what == SPECIAL_NONE) continue;
    v->special_id[what] = v->var[i].id;
    c->ila = c->ila || what != SPECIAL_GAP;
  }
  v->chipscopy = c->version != NULL && strstr(c->version, "ChipScoPy") != NULL;
  c->ila = c->ila || v->chipscopy;
  if (v->one_scope_dut && v->scopes == 1) TG_TRY(drop_scope(c));
  TG_TRY(make_entries(c));
  TG_TRY(tg_cap_join(c, err));
  TG_TRY(tg_cap_bind(c));
  TG_TRY(add_joined(c));
  TG_TRY(add_stores(c));
  tg_cap_find_twins(c);
  TG_TRY(find_clocks(c, err));
  TG_TRY(index_ids(c));
  TG_TRY(tg_reserve(&c->a, &v->dirty, &v->cap_dirty, c->n_store + 1, sizeof *v->dirty));
  return tg_reserve(&c->a, &v->known, &v->cap_known, c->n_store + 1, sizeof *v->known);
}

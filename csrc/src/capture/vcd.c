/* vcd.c - value changes of a VCD. Words of unbound identifiers are passed over; what is bound is
 * recorded per sample: a clock's rising edge with the values just before it, or a time unit.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/try.h"
#include "capture/forms.h"
#include "capture/vcd.h"

#include <string.h>

#include "tickgauge/number.h"

static void free_vcd(tg_capture *c) {
  struct cap_vcd *v = c->vcd;
  if (v == NULL) return;
  tg_intern_free(v->ids);
  tg_release(&c->a, v->var);
  tg_release(&c->a, v->direct);
  tg_release(&c->a, v->entry);
  tg_release(&c->a, v->bit);
  tg_release(&c->a, v->clock);
  tg_release(&c->a, v->scope);
  tg_release(&c->a, v->dirty);
  tg_release(&c->a, v->known);
  tg_release(&c->a, v->word);
  tg_release(&c->a, v);
  c->vcd = NULL;
}

/* ---- time slots -------------------------------------------------------------------------------
 */

static bool same_value(const cap_store *s, const uint64_t *value, bool unknown) {
  if (s->n == 0 || unknown != s->cur_x) return false;
  if (unknown) return true;
  return s->words == 1 ? s->cur[0] == value[0]
                       : memcmp(s->cur, value, s->words * sizeof *value) == 0;
}

/* Records the changes of this time slot, and the clocks that rose in it. */
static tg_status end_slot(tg_capture *c) {
  struct cap_vcd *v = c->vcd;
  tg_status status = TG_OK;
  for (size_t i = 0; i < v->n_dirty && status == TG_OK; i++) {
    cap_store *s = &c->store[v->dirty[i]];
    s->dirty = false;
    if (!same_value(s, s->next, s->next_x))
      status = tg_cap_store_put(c, s, v->now, s->next, s->next_x);
  }
  v->n_dirty = 0;
  for (size_t i = 0; v->rose && i < c->n_clocks && status == TG_OK; i++) {
    if (c->clocks[i].rose) status = tg_cap_edge(c, &c->clocks[i], v->now);
    c->clocks[i].rose = false;
  }
  v->rose = false;
  c->seen = v->now == UINT64_MAX ? v->now : v->now + 1;
  return status;
}

static tg_status set_time(tg_capture *c, const uint8_t *p, const uint8_t *stop, uint64_t line,
                          uint64_t offset) {
  struct cap_vcd *v = c->vcd;
  uint64_t t = 0;
  tg_status status = tg_parse_u64(p, stop, &t);
  if (status == TG_EOVERFLOW) {
    t = UINT64_MAX;
    status = tg_cap_problem(c, line, offset, "time-range",
                        "a time beyond 2^64-1 is taken as the last one");
  } else if (status != TG_OK) {
    return tg_cap_problem(c, line, offset, "bad-time", "a time that is no number is passed over");
  }
  if (status != TG_OK) return status;
  if (!v->any_time) {
    v->any_time = true;
    v->now = t;
    return TG_OK;
  }
  if (t < v->now) {
    status = tg_cap_mark_add(c, v->now, MARK_GAP); /* nothing is matched across */
    if (status != TG_OK) return status;
    return tg_cap_problem(c, line, offset, "time-backwards",
                          "time goes back from %llu to %llu; these changes are taken at %llu",
                          (unsigned long long)v->now, (unsigned long long)t,
                          (unsigned long long)v->now);
  }
  if (t > v->now) {
    status = end_slot(c);
    v->now = t;
  }
  return status;
}

/* ---- changes ----------------------------------------------------------------------------------
 */

/* A store that changes in this time slot. */
static inline void touch(struct cap_vcd *v, cap_store *s, uint32_t store) {
  if (s->dirty) return;
  s->dirty = true;
  v->dirty[v->n_dirty++] = store;
}

/* An unknown value gets known: $dumpoff will take it away again. */
static inline void set_known(struct cap_vcd *v, cap_store *s, uint32_t store, bool known) {
  if (known && s->next_x && !s->listed) {
    s->listed = true;
    v->known[v->n_known++] = store;
  }
  s->next_x = !known;
}

static tg_status special(tg_capture *c, enum vcd_special what, uint8_t level) {
  static const enum cap_mark_kind kinds[] = {MARK_GAP, MARK_TRIGGER, MARK_WINDOW, MARK_GAP};
  struct cap_vcd *v = c->vcd;
  uint8_t old = v->special_level[what];
  v->special_level[what] = level;
  if (level == old || level == 2) return TG_OK;
  if (what == SPECIAL_WINDOW && old == 2) return TG_OK; /* its first value opens no new window */
  if (old == 2 && level == 0) return TG_OK;
  if (what != SPECIAL_WINDOW && v->chipscopy && level == 0) return TG_OK;
  return tg_cap_mark_add(c, v->now, kinds[what]);
}

static void clock_moves(tg_capture *c, cap_clock *clock, uint8_t level) {
  if (level == 1 && clock->level == 0) clock->rose = c->vcd->rose = true;
  clock->level = level;
}

/* A change of one bit: level 0, 1, or 2 for unknown. */
static inline tg_status scalar(tg_capture *c, uint32_t dense, uint8_t level) {
  struct cap_vcd *v = c->vcd;
  if (v->clock[dense] != 0) clock_moves(c, &c->clocks[v->clock[dense] - 1], level);
  const uint32_t store = v->entry[dense];
  if (store != CAP_NONE) {
    cap_store *s = &c->store[store];
    touch(v, s, store);
    if (v->bit[dense] != 0) {
      set_known(v, s, store, tg_cap_bit_moves(s, v->bit[dense] - 1, level));
      return TG_OK;
    }
    if (s->words > 1) memset(s->next, 0, s->words * sizeof *s->next);
    s->next[0] = level == 1;
    set_known(v, s, store, level != 2);
    return TG_OK;
  }
  for (unsigned k = 1; k < 4; k++)
    if (v->special_id[k] == dense) return special(c, (enum vcd_special)k, level);
  return TG_OK;
}

static uint8_t level_of(uint8_t ch) {
  if (ch == '0' || ch == 'l' || ch == 'L') return 0;
  return ch == '1' || ch == 'h' || ch == 'H' ? 1 : 2;
}

static tg_status vector(tg_capture *c, uint32_t dense, const uint8_t *bits, size_t n) {
  struct cap_vcd *v = c->vcd;
  uint32_t store = v->entry[dense];
  if (store == CAP_NONE || c->store[store].width == 1 || v->bit[dense] != 0)
    return n > 0 ? scalar(c, dense, level_of(bits[n - 1])) : TG_OK;
  cap_store *s = &c->store[store];
  bool known = tg_cap_parse_bin(bits, n, v->word, s->words);
  touch(v, s, store);
  set_known(v, s, store, known);
  if (!known) memset(v->word, 0, s->words * sizeof *v->word);
  memcpy(s->next, v->word, s->words * sizeof *s->next);
  return TG_OK;
}

/* $dumpoff: nothing is known until it is dumped again, and clock edges are lost. Only what became
 * known since the last one is looked at. */
static tg_status forget(tg_capture *c) {
  struct cap_vcd *v = c->vcd;
  for (size_t i = 0; i < v->n_known; i++) {
    cap_store *s = &c->store[v->known[i]];
    s->listed = false;
    if (s->next_x) continue;
    touch(v, s, v->known[i]);
    memset(s->next + s->words, 255, s->words * sizeof *s->next);
    s->next_x = true;
  }
  v->n_known = 0;
  for (size_t i = 0; i < c->n_clocks; i++) c->clocks[i].level = 2;
  return c->clocked ? tg_cap_mark_add(c, v->now, MARK_GAP) : TG_OK;
}

/* ---- words ------------------------------------------------------------------------------------
 */

/* The dense number of an identifier that matters, or CAP_NONE. */
static inline uint32_t look_up(const struct cap_vcd *v, const uint8_t *id, size_t n) {
  size_t code = 0;
  uint32_t dense = 0;
  if (n <= 3) {
    for (size_t i = 0; i < n; i++) code = code * 95 + (size_t)(id[i] - 32u);
    if (code >= v->n_direct || v->direct[code] == 0) return CAP_NONE;
    dense = v->direct[code] - 1;
    for (size_t i = 0; i < n; i++)
      if (id[i] > 126) return CAP_NONE;
    return dense;
  }
  return tg_intern_find(v->ids, id, n, &dense) == TG_OK ? dense : CAP_NONE;
}

/* The first byte at or behind `p` that is a blank; there is one before the end of the region. */
static inline const uint8_t *find_blank(const uint8_t *p, const uint8_t *end) {
  while (end - p >= 8) {
    uint64_t w = 0;
    memcpy(&w, p, 8);
    if (((w - 0x2121212121212121u) & ~w & 0x8080808080808080u) != 0) break;
    p += 8;
  }
  while (p < end && *p > ' ') p++;
  return p;
}

static bool is_word(const uint8_t *p, const uint8_t *stop, const char *word) {
  size_t n = strlen(word);
  return (size_t)(stop - p) == n && memcmp(p, word, n) == 0;
}

/* "$dumpoff" ...; other sections that may stand between values are passed over. */
static tg_status keyword(tg_capture *c, const uint8_t *p, const uint8_t *stop) {
  struct cap_vcd *v = c->vcd;
  if (is_word(p, stop, "$end") || is_word(p, stop, "$dumpvars") || is_word(p, stop, "$dumpall") ||
      is_word(p, stop, "$dumpon"))
    return TG_OK;
  if (is_word(p, stop, "$dumpoff")) return forget(c);
  v->in_comment = true;
  return TG_OK;
}

/* How many words follow the first of a change before the next one. */
static unsigned words_behind(uint8_t ch) {
  switch (ch | 32) {
    case 'b':
    case 'r':
    case 's':
      return 1;
    case 'p':
      return 3;
    default:
      return 0;
  }
}

/* One change or keyword at `p`; `*next` behind it, or NULL where the region ends inside it. */
static tg_status item(tg_capture *c, const uint8_t *p, const uint8_t *lim, const uint8_t **next,
                      uint64_t line, uint64_t offset) {
  struct cap_vcd *v = c->vcd;
  const uint8_t *stop = find_blank(p, lim), *id = NULL, *id_end = stop;
  uint32_t dense = CAP_NONE;
  for (unsigned k = words_behind(*p); k > 0; k--) {
    for (id = id_end; id < lim && *id <= ' ';) id++;
    id_end = find_blank(id, lim);
    if (id >= lim || id_end >= lim) return *next = NULL, TG_OK;
  }
  *next = id_end;
  switch (*p) {
    case 'b':
    case 'B':
      dense = look_up(v, id, (size_t)(id_end - id));
      return dense == CAP_NONE ? TG_OK : vector(c, dense, p + 1, (size_t)(stop - p - 1));
    case '#':
      return set_time(c, p + 1, stop, line, offset);
    case '$':
      return keyword(c, p, stop);
    case 'r':
    case 'R':
    case 's':
    case 'S':
    case 'p':
    case 'P':
      return TG_OK;
    case '0':
    case '1':
    case 'x':
    case 'X':
    case 'z':
    case 'Z':
    case 'u':
    case 'U':
    case 'w':
    case 'W':
    case 'l':
    case 'L':
    case 'h':
    case 'H':
    case '-':
      dense = look_up(v, p + 1, (size_t)(stop - p - 1));
      return dense == CAP_NONE ? TG_OK : scalar(c, dense, level_of(*p));
    default:
      return tg_cap_problem(c, line, offset, "bad-change", "a word that is no value change: %.*s",
                            (int)(stop - p < 40 ? stop - p : 40), (const char *)p);
  }
}

static tg_status values(tg_capture *c, const uint8_t *p, const uint8_t *lim, size_t *used,
                        tg_error *err) {
  struct cap_vcd *v = c->vcd;
  const uint8_t *q = p, *next = NULL;
  uint64_t line = c->line;
  tg_status status = TG_OK;
  while (q < lim && status == TG_OK) {
    uint8_t ch = *q;
    if (ch <= ' ') {
      line += ch == '\n';
      q++;
      continue;
    }
    if (v->in_comment) {
      next = find_blank(q, lim);
      status = tg_cap_check_item(c, (size_t)(next - q) + 1, err);
      v->in_comment = !is_word(q, next, "$end");
      q = next;
      continue;
    }
    if ((ch == '0' || ch == '1') && q[1] > ' ' && q[1] < 127 &&
        q[2] <= ' ') { /* the common change */
      size_t code = (size_t)(q[1] - 32u);
      if (code < v->n_direct && v->direct[code] != 0)
        status = scalar(c, v->direct[code] - 1, ch == '1');
      q += 2;
      continue;
    }
    status = item(c, q, lim, &next, line, c->offset + (uint64_t)(q - p));
    if (next == NULL) break;
    if (status == TG_OK) status = tg_cap_check_item(c, (size_t)(next - q) + 1, err);
    q = next;
  }
  c->line = line;
  c->offset += (uint64_t)(q - p);
  *used = (size_t)(q - p);
  return status;
}

static tg_status consume(tg_capture *c, const uint8_t *p, const uint8_t *end, bool final,
                         size_t *used, tg_error *err) {
  tg_status status = TG_OK;
  size_t head = 0, body = 0;
  *used = 0;
  if (c->vcd == NULL) {
    if ((c->vcd = tg_zalloc(&c->a, 1, sizeof *c->vcd)) == NULL) return TG_ENOMEM;
    c->vcd->special_level[1] = c->vcd->special_level[2] = c->vcd->special_level[3] = 2;
    status = tg_intern_new(&c->a, CAP_NONE, &c->vcd->ids);
    if (status != TG_OK) return status;
  }
  if (!c->vcd->defined) {
    if (c->at_start && end - p >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0) head = 3;
    if (end - p >= 3 || final) c->at_start = false;
    p += head;
    status = tg_vcd_head(c, p, end, final, used, err);
    p += *used;
    *used += head;
    if (status != TG_OK || !c->vcd->defined) return status;
  }
  const uint8_t *lim = end;
  while (lim > p && lim[-1] > ' ') lim--; /* a word without a blank behind it may go on */
  status = values(c, p, lim, &body, err);
  *used += body;
  if (status == TG_OK && final && p + body < end) {
    c->vcd->cut = true;
    status = tg_cap_problem(c, c->line, c->offset, "cut",
                        "the file ends inside a value change; time %llu is dropped",
                        (unsigned long long)c->vcd->now);
  }
  if (final) *used += (size_t)(end - (p + body));
  return status;
}

tg_status tg_capture_rises(tg_capture *c, uint32_t signal, const uint64_t *time, size_t n) {
  if (c->vcd == NULL || !c->vcd->defined || c->finished || c->failed || signal >= c->n_signal ||
      c->signal[signal].clock == 0)
    return TG_EINVAL;
  cap_clock *clock = &c->clocks[c->signal[signal].clock - 1];
  const cap_run *run = clock->n_run > 0 ? &clock->run[clock->n_run - 1] : NULL;
  uint64_t last = run != NULL ? run->last : 0;
  bool any = run != NULL;
  for (size_t i = 0; i < n; i++) {
    if (any && time[i] <= last) continue;
    TG_TRY(tg_cap_edge(c, clock, time[i]));
    last = time[i];
    any = true;
  }
  return TG_OK;
}

/* There are values, but no clock ever rises: nothing is sampled. */
static tg_status never_rises(tg_capture *c) {
  const tg_str name = tg_intern_get(c->names, c->signal[c->clocks[0].signal].name);
  c->clock = 0;
  for (size_t i = 0; i < c->n_bundle; i++) {
    c->bundle[i].clock = 0;
    c->bundle[i].clock_name = c->clocks[0].signal;
  }
  return tg_cap_problem(
      c, 0, 0, "clock",
      "the file has values, but %.*s never rises: no sample is taken (--sample-on "
      "SIGNAL names another, --sample-on \"\" takes every time unit)",
      (int)(name.n < 100 ? name.n : 100), (const char *)name.p);
}

static tg_status finish(tg_capture *c, tg_error *err) {
  if (c->vcd == NULL || !c->vcd->defined)
    return tg_fail(err, TG_ETRUNCATED, c->offset, c->line,
                   "the file ends inside its definitions ($enddefinitions is missing)");
  tg_status status = TG_OK;
  if (c->vcd->any_time && !c->vcd->cut)
    status = end_slot(c);
  else if (c->vcd->any_time && c->n_step > 0)
    c->seen = c->vcd->now; /* the samples before the cut one */
  c->last_time = c->vcd->any_time ? c->vcd->now : 0;
  if (status == TG_OK) status = tg_cap_choose_clocks(c);
  if (status == TG_OK && c->clocked && c->clock == CAP_NONE && c->seen > 1)
    status = never_rises(c);
  c->clocked = c->clock != CAP_NONE;
  if (c->clocked) c->seen = c->clocks[c->clock].edges;
  c->depth_known = c->clocked || c->vcd->chipscopy || !c->vcd->any_time;
  return status;
}

const cap_form tg_cap_vcd = {consume, finish, free_vcd};

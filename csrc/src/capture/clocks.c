/* clocks.c - the clock of each interface of a simulator's VCD: by scope and name, checked against
 * the
 * changes of its handshakes. SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "base/mem.h"
#include "capture/signals.h"

#define MOST_CHANGES 65536u /* of a signal that are held against a clock */
#define MANY_CHANGES 16u /* of handshakes, before they may overrule a name */

/* ---- edges ------------------------------------------------------------------------------------
 */

tg_status tg_cap_edge(tg_capture *c, cap_clock *clock, uint64_t time) {
  cap_run *r = clock->n_run > 0 ? &clock->run[clock->n_run - 1] : NULL;
  clock->edges++;
  if (r != NULL && r->first == r->last) {
    r->period = time - r->first;
    r->last = time;
    return TG_OK;
  }
  if (r != NULL && time - r->last == r->period) {
    r->last = time;
    return TG_OK;
  }
  tg_status status =
      tg_grow(&c->a, (void **)&clock->run, &clock->cap_run, clock->n_run + 1, sizeof *clock->run);
  if (status == TG_OK)
    clock->run[clock->n_run++] =
        (cap_run){.first = time, .last = time, .before = clock->edges - 1};
  return status;
}

uint64_t tg_cap_edges(const cap_clock *clock, uint64_t time, size_t *at) {
  while (*at < clock->n_run && clock->run[*at].last <= time) ++*at;
  if (*at == clock->n_run) return clock->edges;
  const cap_run *r = &clock->run[*at];
  return time < r->first ? r->before : r->before + (time - r->first) / r->period + 1;
}

uint64_t tg_cap_sample(const tg_capture *c, uint32_t clock, uint64_t time, size_t *at) {
  return clock == CAP_NONE ? time : tg_cap_edges(&c->clocks[clock], time, at);
}

uint64_t tg_cap_depth(const tg_capture *c, uint32_t clock) {
  return clock == CAP_NONE || clock == c->clock ? c->samples : c->clocks[clock].edges;
}

/* ---- names ------------------------------------------------------------------------------------
 */

static uint8_t lower(uint8_t ch) { return ch >= 'A' && ch <= 'Z' ? (uint8_t)(ch + 32) : ch; }

static bool contains(tg_str s, const char *word) {
  const size_t k = strlen(word);
  for (size_t i = 0; i + k <= s.n; i++) {
    size_t j = 0;
    while (j < k && lower(s.p[i + j]) == (uint8_t)word[j]) j++;
    if (j == k) return true;
  }
  return false;
}

static bool is_text(tg_str s, const char *word) { return s.n == strlen(word) && contains(s, word); }

/* The name behind its last "." or "/". */
static tg_str leaf_of(const tg_capture *c, uint32_t signal) {
  tg_str s = tg_intern_get(c->names, c->signal[signal].name);
  size_t from = tg_cap_name_split(s.p, s.n).bare;
  s.n = from;
  while (from > 0 && strchr("./:", s.p[from - 1]) == NULL) from--;
  return (tg_str){s.p + from, s.n - from};
}

unsigned tg_cap_clock_name(const tg_capture *c, uint32_t signal) {
  static const char *const not_a_clock[] = {"clken",  "clk_en",  "clock_en", "clk_sel", "clkfb",
                                            "locked", "clk_div", "clkgate",  "clk_cnt", "clkena"};
  static const char *const exact[] = {"clk",     "aclk",   "clock", "clk_i",
                                      "clock_i", "aclk_i", "i_clk"};
  static const char *const other[] = {"2x",   "x2",   "4x",   "ref", "div",
                                      "half", "fast", "slow", "gclk"};
  const tg_str leaf = leaf_of(c, signal);
  unsigned score = 3;
  if (c->signal[signal].width != 1 || !c->signal[signal].bits) return 0;
  if (is_text(leaf, "ck") || is_text(leaf, "ck_i")) return 3;
  if (!contains(leaf, "clk") && !contains(leaf, "clock")) return 0;
  for (size_t i = 0; i < sizeof not_a_clock / sizeof *not_a_clock; i++)
    if (contains(leaf, not_a_clock[i])) return 0;
  for (size_t i = 0; i < sizeof other / sizeof *other; i++)
    if (contains(leaf, other[i])) score = 1;
  for (size_t i = 0; i < sizeof exact / sizeof *exact; i++)
    if (is_text(leaf, exact[i])) score = 4;
  return score;
}

/* Does `name` end with [p, p+n), at a "." or "/"? */
static bool ends_as(tg_str name, const char *p, size_t n) {
  if (n == 0 || n > name.n || memcmp(name.p + name.n - n, p, n) != 0) return false;
  return n == name.n || name.p[name.n - n - 1] == '.' || name.p[name.n - n - 1] == '/';
}

/* Has the interface's prefix the text in it, letter case set aside? */
static bool is_of(const tg_str *prefix, const char *p, size_t n) {
  for (size_t i = 0; i + n <= prefix->n; i++) {
    size_t k = 0;
    while (k < n && lower(prefix->p[i + k]) == lower((uint8_t)p[k])) k++;
    if (k == n) return true;
  }
  return false;
}

bool tg_cap_is_wished(const tg_capture *c, uint32_t signal, const tg_str *prefix) {
  tg_str name = tg_intern_get(c->names, c->signal[signal].name);
  name.n = tg_cap_name_split(name.p, name.n).bare;
  for (const char *p = c->sample_on; p != NULL && *p != 0;) {
    const char *end = strchr(p, '\n'), *stop = end != NULL ? end : p + strlen(p);
    const char *equals = memchr(p, '=', (size_t)(stop - p));
    const char *from = equals != NULL ? equals + 1 : p;
    const bool mine = equals == NULL || prefix == NULL || is_of(prefix, p, (size_t)(equals - p));
    if (mine && ends_as(name, from, (size_t)(stop - from))) return true;
    p = end != NULL ? end + 1 : NULL;
  }
  return false;
}

/* ---- the choice -------------------------------------------------------------------------------
 */

/* Changes of the interface's handshakes on a clock: how many are lost, since two of one signal lie
 * between two edges. */
typedef struct kept {
  uint64_t changes, lost;
} kept;

static kept try_clock(const tg_capture *c, const cap_bundle *b, const cap_clock *clock) {
  kept out = {0};
  for (unsigned ch = 0; ch < CH_COUNT; ch++)
    for (unsigned leaf = LEAF_VALID; leaf <= LEAF_READY; leaf++) {
      const uint32_t row = b->sig[ch][leaf];
      if (row == CAP_NONE || c->signal[row].store == CAP_NONE) continue;
      const cap_store *s = &c->store[c->signal[row].store];
      uint64_t before = UINT64_MAX;
      size_t at = 0;
      for (size_t i = 1; i < s->n && i < MOST_CHANGES; i++) { /* the first is its initial value */
        const uint64_t sample = tg_cap_edges(clock, c->step[s->at[i] >> 2], &at);
        out.lost += sample == before;
        out.changes++;
        before = sample;
      }
    }
  return out;
}

/* How well a clock's place and name fit an interface; 0 = not at all. A wire has several names. */
static unsigned fits_by_name(const tg_capture *c, const cap_bundle *b, const cap_clock *clock,
                             const uint32_t *names, size_t n) {
  unsigned best = 0;
  for (size_t i = 0; i < n; i++) {
    const unsigned near = tg_cap_nearness(c, b, names[i]), name = tg_cap_clock_name(c, names[i]);
    const unsigned score = near * 8 + name;
    if (name > 0 && near > 0 && score > best) best = score;
  }
  return best > 0 ? best : tg_cap_clock_name(c, clock->signal) > 0;
}

/* All names of all clocks' wires, grouped by clock: first[i] .. first[i + 1]. */
typedef struct clock_names {
  uint32_t *row;
  size_t *first;
} clock_names;

static uint32_t choose(const tg_capture *c, const cap_bundle *b, const clock_names *names) {
  const tg_str prefix = tg_intern_get(c->names, b->prefix);
  uint32_t best = CAP_NONE;
  unsigned most = 0;
  for (uint32_t i = 0; i < c->n_clocks; i++) {
    const uint32_t *row = names->row + names->first[i];
    const size_t n = names->first[i + 1] - names->first[i];
    for (size_t k = 0; k < n && c->sample_on != NULL; k++)
      if (tg_cap_is_wished(c, row[k], &prefix)) return i;
    const unsigned score = fits_by_name(c, b, &c->clocks[i], row, n);
    if (score <= most || c->clocks[i].edges == 0) continue;
    most = score;
    best = i;
  }
  if (best == CAP_NONE) return best;
  const kept own = try_clock(c, b, &c->clocks[best]);
  uint32_t other = best;
  kept least = own;
  for (uint32_t i = 0; i < c->n_clocks; i++) {
    const uint32_t *row = names->row + names->first[i];
    const unsigned score =
        fits_by_name(c, b, &c->clocks[i], row, names->first[i + 1] - names->first[i]);
    const bool slower = c->clocks[i].edges + c->clocks[i].edges / 2 < c->clocks[other].edges;
    const bool as_near = score / 8 == most / 8;
    if (i == best || c->clocks[i].edges == 0 || (own.lost == 0 && !(slower && as_near))) continue;
    const kept k = try_clock(c, b, &c->clocks[i]);
    if (k.lost < least.lost || (k.lost == 0 && least.lost == 0 && slower && as_near &&
                                k.changes >= MANY_CHANGES && own.lost == 0)) {
      least = k;
      other = i;
    }
  }
  return own.lost * 50 <= own.changes && own.lost > 0 ? best : other;
}

static tg_status list_names(const tg_capture *c, clock_names *out) {
  size_t n = 0;
  out->row = tg_zalloc(&c->a, c->n_signal + 1, sizeof *out->row);
  out->first = tg_zalloc(&c->a, c->n_clocks + 1, sizeof *out->first);
  if (out->row == NULL || out->first == NULL) return TG_ENOMEM;
  for (uint32_t i = 0; i < c->n_clocks; i++) {
    out->first[i] = n;
    for (uint32_t k = 0; k < c->n_signal && n < c->n_signal; k++)
      if (c->signal[k].clock == i + 1) out->row[n++] = k;
  }
  out->first[c->n_clocks] = n;
  return TG_OK;
}

/* Of interfaces that are the same wires each takes the clock of the one whose clock is nearest. */
static void share_clocks(tg_capture *c, const clock_names *names) {
  for (uint32_t i = 0; i < c->n_bundle; i++) {
    cap_bundle *b = &c->bundle[i];
    if (b->same_as == CAP_NONE || b->clock == CAP_NONE) continue;
    cap_bundle *first = &c->bundle[b->same_as];
    const size_t from = names->first[b->clock], to = names->first[b->clock + 1];
    const unsigned mine = fits_by_name(c, b, &c->clocks[b->clock], names->row + from, to - from);
    unsigned other = 0;
    if (first->clock != CAP_NONE)
      other = fits_by_name(c, first, &c->clocks[first->clock],
                           names->row + names->first[first->clock],
                           names->first[first->clock + 1] - names->first[first->clock]);
    if (mine > other)
      first->clock = b->clock;
    else
      b->clock = first->clock;
  }
}

/* The name of its clock that stands nearest to an interface. */
static void name_clock(const tg_capture *c, cap_bundle *b, const clock_names *names) {
  unsigned most = 0;
  if (b->clock == CAP_NONE) return;
  b->clock_name = c->clocks[b->clock].signal;
  for (size_t i = names->first[b->clock]; i < names->first[b->clock + 1]; i++) {
    const unsigned near = tg_cap_nearness(c, b, names->row[i]);
    if (near <= most) continue;
    most = near;
    b->clock_name = names->row[i];
  }
}

tg_status tg_cap_choose_clocks(tg_capture *c) {
  clock_names names = {0};
  tg_status status = TG_OK;
  c->clock = CAP_NONE;
  for (size_t i = 0; i < c->n_bundle; i++) c->bundle[i].clock = CAP_NONE;
  if (c->n_clocks == 0) return TG_OK;
  status = list_names(c, &names);
  for (size_t i = 0; i < c->n_bundle && i < CAP_MOST_CHOSEN && status == TG_OK; i++)
    c->bundle[i].clock = choose(c, &c->bundle[i], &names);
  if (status == TG_OK) share_clocks(c, &names);
  for (size_t i = 0; i < c->n_bundle && i < CAP_MOST_CHOSEN && status == TG_OK; i++)
    name_clock(c, &c->bundle[i], &names);
  for (size_t i = 0; i < c->n_bundle && c->clock == CAP_NONE; i++) c->clock = c->bundle[i].clock;
  for (uint32_t i = 0, most = 0; i < c->n_clocks && c->n_bundle == 0; i++) {
    const unsigned score = c->sample_on != NULL ? tg_cap_is_wished(c, c->clocks[i].signal, NULL)
                                                : tg_cap_clock_name(c, c->clocks[i].signal);
    if (score <= most || c->clocks[i].edges == 0) continue;
    most = score;
    c->clock = i;
  }
  tg_release(&c->a, names.row);
  tg_release(&c->a, names.first);
  return status;
}

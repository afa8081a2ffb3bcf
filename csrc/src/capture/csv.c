/* csv.c - Vivado and ChipScoPy ILA CSV: header, radix row, rows; and plain CSV of other analysers,
 * whose header names the signals and whose rows are clocks. Columns that are not bound are skipped
 * unread, and a row whose cells equal those of the row before costs one comparison.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "base/try.h"
#include "capture/csv_cell.h"
#include "capture/forms.h"
#include "tickgauge/number.h"

#define INDEX_COLUMNS 3 /* of an ILA: sample in buffer, sample in window, trigger */
#define PREAMBLE 64     /* lines that may stand before the header of a plain CSV */
#define PLAIN_WIDTH 64  /* of a stored column whose name has no range */

struct cap_csv {
  uint32_t *column; /* store of each column behind the index columns; CAP_NONE = skip */
  uint32_t *bit; /* of each column: the bit of its store that it is, plus 1; 0 = the whole value */
  size_t n_column, cap_column, cap_bit;
  size_t wanted;       /* columns up to the last wanted one */
  size_t index;        /* columns before the signals: INDEX_COLUMNS, or 0 for a plain CSV */
  size_t gap;          /* the GAP column, or SIZE_MAX */
  const uint8_t *tail; /* cells of the row before, behind its index columns; in this piece only */
  size_t n_tail;
  uint64_t buffer, window; /* the last row's indices */
  uint64_t *word;          /* scratch of one value */
  uint8_t delimiter;
  bool header, second; /* header read; the row behind it may still be the radix row */
};

static void free_csv(tg_capture *c) {
  if (c->csv == NULL) return;
  tg_release(&c->a, c->csv->column);
  tg_release(&c->a, c->csv->bit);
  tg_release(&c->a, c->csv->word);
  tg_release(&c->a, c->csv);
  c->csv = NULL;
}

/* The end of the cell that starts at `p`: the delimiter behind it, or `e`. */
static const uint8_t *cell_end(const uint8_t *p, const uint8_t *e, uint8_t delimiter) {
  if (p < e && *p == '"') {
    const uint8_t *q = memchr(p + 1, '"', (size_t)(e - p - 1));
    p = q != NULL ? q + 1 : e;
  }
  for (unsigned i = 0; i < 12 && p < e; i++, p++)
    if (*p == delimiter) return p;
  if (p >= e) return e;
  const uint8_t *q = memchr(p, delimiter, (size_t)(e - p));
  return q != NULL ? q : e;
}

static bool is_text(const uint8_t *p, size_t n, const char *word) {
  if (n != strlen(word)) return false;
  for (size_t i = 0; i < n; i++)
    if ((p[i] | 32) != (word[i] | 32)) return false;
  return true;
}

static bool starts(const uint8_t *p, const uint8_t *e, const char *word) {
  size_t n = strlen(word);
  return (size_t)(e - p) >= n && is_text(p, n, word);
}

/* ---- header ---------------------------------------------------------------------------------- */

/* A column that is mapped to a role of several bits. */
static bool is_mapped_vector(const tg_capture *c, const uint8_t *p, size_t n) {
  for (size_t i = 0; i < c->n_map; i++)
    if (strlen(c->map[i].column) == n && memcmp(c->map[i].column, p, n) == 0)
      return c->map[i].role.leaf > LEAF_LAST;
  return false;
}

static tg_status add_column(tg_capture *c, const uint8_t *p, size_t n, size_t index,
                            tg_error *err) {
  uint32_t row = 0;
  tg_csv_strip(&p, &n);
  if (index < c->csv->index) return TG_OK;
  if (c->csv->index > 0 && c->csv->gap == SIZE_MAX && is_text(p, n, "GAP")) {
    c->csv->gap = index;
    return TG_OK;
  }
  const cap_name name = tg_cap_name_split(p, n);
  const uint8_t leaf = name.role.leaf;
  const bool vector = leaf > LEAF_LAST && leaf < LEAF_STORED && leaf != LEAF_CTRL;
  const bool plain = c->csv->index == 0 && !name.has_range;
  const bool mapped = plain && is_mapped_vector(c, p, n);
  return tg_cap_signal_add(c, p, n, plain && (vector || mapped) ? PLAIN_WIDTH : name.width, true,
                           &row, err);
}

/* The clocks among the columns of a plain CSV: where one toggles, its edges sample the rows. */
static tg_status find_clocks(tg_capture *c) {
  tg_status status = TG_OK;
  for (uint32_t i = 0; i < c->n_signal && c->n_clocks < CAP_MOST_CLOCKS; i++) {
    const bool wished = c->sample_on != NULL && tg_cap_is_wished(c, i, NULL);
    if (c->sample_on != NULL ? !wished : tg_cap_clock_name(c, i) == 0) continue;
    status =
        tg_grow(&c->a, (void **)&c->clocks, &c->cap_clocks, c->n_clocks + 1, sizeof *c->clocks);
    if (status != TG_OK) return status;
    c->clocks[c->n_clocks++] = (cap_clock){.signal = i, .id = i, .level = 2};
    c->signal[i].clock = (uint32_t)c->n_clocks;
    c->signal[i].wanted = true;
  }
  return TG_OK;
}

/* The vector that signal `row` is a bit of, where it is wanted; NULL where there is none. */
static const cap_joined *vector_of(const tg_capture *c, uint32_t row) {
  for (size_t i = 0; i < c->n_joined && c->signal[row].part; i++) {
    const cap_joined *j = &c->joined[i];
    if (row >= j->first && row - j->first < j->width) return c->signal[j->signal].wanted ? j : NULL;
  }
  return NULL;
}

/* Points the column of signal `row` into the store of its vector. */
static tg_status add_bit(tg_capture *c, size_t column, uint32_t row, const cap_joined *j) {
  cap_signal *g = &c->signal[j->signal];
  if (g->store == CAP_NONE) TG_TRY(tg_cap_join_store(c, j));
  c->csv->column[column] = g->store;
  c->csv->bit[column] = tg_cap_bit_at(j, row - j->first) + 1;
  return TG_OK;
}

/* Gives every wanted signal its store; signals are the columns in order, without GAP. */
static tg_status add_stores(tg_capture *c, size_t columns) {
  struct cap_csv *s = c->csv;
  uint32_t most = 1, signal = 0;
  tg_status status = TG_OK;
  TG_TRY(tg_reserve(&c->a, &s->column, &s->cap_column, columns, sizeof *s->column));
  TG_TRY(tg_reserve(&c->a, &s->bit, &s->cap_bit, columns, sizeof *s->bit));
  for (size_t i = s->index; i < columns && status == TG_OK; i++) {
    s->column[i] = CAP_NONE;
    s->bit[i] = 0;
    if (i == s->gap) continue;
    const uint32_t row = signal++;
    const cap_joined *vector = vector_of(c, row);
    cap_signal *g = &c->signal[row];
    if (vector != NULL) {
      status = add_bit(c, i, row, vector);
    } else if (g->wanted) {
      status = tg_cap_store_add(c, g->width, &g->store);
      s->column[i] = g->store;
    }
    if (status != TG_OK || s->column[i] == CAP_NONE) continue;
    cap_store *store = &c->store[s->column[i]];
    if (vector == NULL) store->role = g->role;
    if (s->index == 0) store->radix = RADIX_HEX;
    if (store->words > most) most = store->words;
  }
  for (size_t i = s->index; i < columns && status == TG_OK; i++)
    if (s->column[i] != CAP_NONE || i == s->gap) s->wanted = i + 1;
  s->n_column = columns;
  TG_TRY(status);
  s->word = tg_zalloc(&c->a, most, sizeof *s->word);
  return s->word != NULL ? TG_OK : TG_ENOMEM;
}

/* Reads the names of the columns, `n` index columns first. */
static tg_status columns_of(tg_capture *c, const uint8_t *p, const uint8_t *e, tg_error *err) {
  static const char *const index[] = {"Sample in Buffer", "Sample in Window", "TRIGGER"};
  struct cap_csv *s = c->csv;
  size_t columns = 0;
  tg_status status = TG_OK;
  for (const uint8_t *cell = p; cell <= e && status == TG_OK; columns++) {
    const uint8_t *stop = cell_end(cell, e, s->delimiter);
    const uint8_t *text = cell;
    size_t n = (size_t)(stop - cell);
    tg_csv_strip(&text, &n);
    if (columns < s->index && !is_text(text, n, index[columns]))
      return tg_fail(err, TG_ESYNTAX, (uint64_t)(cell - p), 1,
                     "column %zu of an ILA header must be \"%s\"", columns + 1, index[columns]);
    status = add_column(c, text, n, columns, err);
    cell = stop + 1;
  }
  TG_TRY(status);
  if (columns < s->index)
    return tg_fail(err, TG_ESYNTAX, 0, 1, "the ILA header has only %zu columns", columns);
  TG_TRY(tg_cap_join(c, err));
  TG_TRY(tg_cap_bind(c));
  if (s->index == 0) TG_TRY(find_clocks(c));
  TG_TRY(add_stores(c, columns));
  s->header = s->second = true;
  return TG_OK;
}

static uint8_t delimiter_of(const uint8_t *p, const uint8_t *e) {
  static const uint8_t marks[] = {',', ';', '\t'};
  size_t most = 0;
  uint8_t best = ',';
  for (size_t k = 0; k < sizeof marks; k++) {
    size_t n = 0;
    for (const uint8_t *q = p; q < e; q++) n += *q == marks[k];
    if (n > most) most = n, best = marks[k];
  }
  return best;
}

bool tg_cap_is_plain_header(const tg_capture *c, const uint8_t *p, const uint8_t *e) {
  const uint8_t delimiter = delimiter_of(p, e);
  bool valid = false, ready = false;
  size_t columns = 0;
  if (p == e || *p == '#' || *p == ';') return false;
  for (const uint8_t *cell = p; cell <= e; columns++) {
    const uint8_t *stop = cell_end(cell, e, delimiter), *text = cell;
    size_t n = (size_t)(stop - cell);
    tg_csv_strip(&text, &n);
    const cap_name name = tg_cap_name_split(text, n);
    valid = valid || (name.role.channel < CH_COUNT && name.role.leaf == LEAF_VALID);
    ready = ready || (name.role.channel < CH_COUNT && name.role.leaf == LEAF_READY);
    for (size_t i = 0; c != NULL && i < c->n_map; i++)
      if (strlen(c->map[i].column) == n && memcmp(c->map[i].column, text, n) == 0)
        valid = ready = true;
    cell = stop + 1;
  }
  return columns > 1 && valid && ready;
}

static tg_status header(tg_capture *c, const uint8_t *p, const uint8_t *e, tg_error *err) {
  static const char first_word[] = "Sample in Buffer";
  struct cap_csv *s = c->csv;
  const uint8_t *first = p < e && *p == '"' ? p + 1 : p;
  if (starts(first, e, first_word)) {
    first += strlen(first_word) + (first != p);
    s->delimiter = first < e && (*first == ';' || *first == '\t') ? *first : ',';
    s->index = INDEX_COLUMNS;
    c->ila = true;
    return columns_of(c, p, e, err);
  }
  if (!tg_cap_is_plain_header(c, p, e)) {
    if (c->line < PREAMBLE) return TG_OK;
    return tg_fail(err, TG_ESYNTAX, 0, c->line,
                   "no header: an ILA's first cell is \"Sample in Buffer\", a plain CSV's names an "
                   "AXI VALID and READY or what --map names");
  }
  s->delimiter = delimiter_of(p, e);
  return columns_of(c, p, e, err);
}

static cap_radix radix_of(const uint8_t *p, size_t n) {
  static const struct {
    const char *word;
    cap_radix radix;
  } words[] = {{"HEX", RADIX_HEX},
               {"UNSIGNED", RADIX_UNSIGNED},
               {"SIGNED", RADIX_SIGNED},
               {"BINARY", RADIX_BINARY},
               {"OCTAL", RADIX_OCTAL}};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (is_text(p, n, words[i].word)) return words[i].radix;
  return RADIX_OTHER;
}

/* "Radix - UNSIGNED,UNSIGNED,UNSIGNED,HEX,..."; ChipScoPy leaves out the GAP column's. */
static tg_status radix_row(tg_capture *c, const uint8_t *p, const uint8_t *e) {
  struct cap_csv *s = c->csv;
  size_t cells = 1, index = 0, column = 0;
  for (const uint8_t *q = p; q < e; q++) cells += *q == s->delimiter;
  bool skip_gap = s->gap != SIZE_MAX && cells + 1 == s->n_column;
  uint32_t signal = 0;
  for (const uint8_t *cell = p; cell <= e && column < s->n_column; index++, column++) {
    const uint8_t *stop = cell_end(cell, e, s->delimiter), *text = cell;
    size_t n = (size_t)(stop - cell);
    if (skip_gap && column == s->gap) column++;
    if (column >= s->index && column != s->gap && column < s->n_column) {
      cap_signal *g = &c->signal[signal++];
      tg_csv_strip(&text, &n);
      g->radix = (uint8_t)radix_of(text, n);
      if (g->store != CAP_NONE) c->store[g->store].radix = g->radix;
    }
    cell = stop + 1;
  }
  c->radix_row = true;
  if (cells != s->n_column && !skip_gap)
    return tg_cap_problem(c, c->line, c->offset, "radix-row",
                          "the radix row has %zu cells, the header %zu", cells, s->n_column);
  return TG_OK;
}

/* ---- cells ----------------------------------------------------------------------------------- */

/* A clock's column at row `sample`. */
static tg_status watch_clock(tg_capture *c, cap_clock *clock, uint64_t sample) {
  const cap_store *s = &c->store[c->signal[clock->signal].store];
  const uint8_t level = s->cur_x ? 2 : (uint8_t)(s->cur[0] & 1);
  const bool rises = level == 1 && clock->level == 0;
  clock->level = level;
  return rises ? tg_cap_edge(c, clock, sample) : TG_OK;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Records the vectors of this row whose bits are columns of their own. */
static tg_status end_bits(tg_capture *c, uint64_t sample) {
  for (size_t i = 0; i < c->n_joined; i++) {
    const uint32_t row = c->signal[c->joined[i].signal].store;
    if (row == CAP_NONE) continue;
    cap_store *s = &c->store[row];
    const bool same =
        s->next_x ? s->cur_x : !s->cur_x && memcmp(s->next, s->cur, s->words * 8) == 0;
    if (s->n == 0 || !same) TG_TRY(tg_cap_store_put(c, s, sample, s->next, s->next_x));
  }
  return TG_OK;
}

/* Cells behind the index columns; TG_ETRUNCATED where there are fewer than `need`. */
static tg_status cells(tg_capture *c, const uint8_t *p, const uint8_t *e, uint64_t sample,
                       size_t need) {
  struct cap_csv *s = c->csv;
  size_t column = s->index;
  tg_status status = TG_OK;
  if (need > column && p > e) return TG_ETRUNCATED;
  for (const uint8_t *q = p; column < need && status == TG_OK; column++) {
    const uint8_t *stop = cell_end(q, e, s->delimiter);
    uint32_t store = column < s->n_column ? s->column[column] : CAP_NONE;
    if (store != CAP_NONE && s->bit[column] != 0)
      status = tg_csv_bit(c, &c->store[store], s->bit[column] - 1, sample, q, (size_t)(stop - q));
    else if (store != CAP_NONE)
      status = tg_csv_cell(c, &c->store[store], sample, q, (size_t)(stop - q), c->csv->word);
    else if (column == s->gap && stop - q == 1 && *q == '1')
      status = tg_cap_mark_add(c, sample, MARK_GAP);
    if (stop == e && column + 1 < need) return TG_ETRUNCATED;
    q = stop + 1;
  }
  return status == TG_OK && c->n_joined > 0 ? end_bits(c, sample) : status;
}

/* Does the row have all its columns? */
static bool is_whole(const struct cap_csv *s, const uint8_t *p, const uint8_t *e) {
  size_t n = 1;
  for (const uint8_t *q = cell_end(p, e, s->delimiter); q < e; n++)
    q = cell_end(q + 1, e, s->delimiter);
  return n >= s->n_column;
}

static tg_status marks_of(tg_capture *c, uint64_t sample, uint64_t buffer, uint64_t window,
                          bool trigger) {
  struct cap_csv *s = c->csv;
  tg_status status = TG_OK;
  if (sample == 0 || window == 0 || window < s->window)
    status = tg_cap_mark_add(c, sample, MARK_WINDOW);
  else if (buffer != s->buffer + 1)
    status = tg_cap_mark_add(c, sample, MARK_GAP);
  TG_TRY(status);
  return trigger ? tg_cap_mark_add(c, sample, MARK_TRIGGER) : TG_OK;
}

static tg_status bad_row(tg_capture *c, const char *reason, const char *detail) {
  return tg_cap_problem(c, c->line, c->offset, reason, "row %llu: %s", (unsigned long long)c->line,
                        detail);
}

/* A row of a plain CSV. */
static tg_status plain_row(tg_capture *c, const uint8_t *p, const uint8_t *e, bool torn) {
  const uint64_t sample = c->seen;
  if (*p == '#' || *p == ';') return TG_OK;
  if (torn && !is_whole(c->csv, p, e)) return bad_row(c, "cut", "the file ends inside it; dropped");
  tg_status status = cells(c, p, e, sample, c->csv->wanted);
  if (status == TG_ETRUNCATED) {
    status = tg_cap_mark_add(c, sample, MARK_GAP);
    return status == TG_OK ? bad_row(c, "short-row", "has too few cells; dropped") : status;
  }
  for (size_t i = 0; i < c->n_clocks && status == TG_OK; i++)
    status = watch_clock(c, &c->clocks[i], sample);
  c->seen = sample + 1;
  return status;
}

static tg_status row(tg_capture *c, const uint8_t *p, const uint8_t *e, bool torn) {
  struct cap_csv *s = c->csv;
  uint64_t number[2] = {0, 0}, sample = c->seen;
  const uint8_t *q = p;
  if (torn && !is_whole(s, p, e)) {
    s->tail = NULL;
    return bad_row(c, "cut", "the file ends inside it; dropped");
  }
  for (unsigned i = 0; i < 2; i++) {
    const uint8_t *stop = cell_end(q, e, s->delimiter);
    if (i == 0 && stop == q) return bad_row(c, "no-sample", "its first cell is empty; skipped");
    if (tg_parse_u64(q, stop, &number[i]) != TG_OK || stop == e)
      return bad_row(c, "no-sample", "does not begin with two sample numbers; skipped");
    q = stop + 1;
  }
  const uint8_t *stop = cell_end(q, e, s->delimiter);
  bool trigger = stop - q == 1 && *q == '1';
  const uint8_t *rest = stop < e ? stop + 1 : e;
  size_t n = (size_t)(e - rest);
  tg_status status = TG_OK;
  const uint64_t problems = c->problems;
  bool same = stop < e && s->tail != NULL && s->gap == SIZE_MAX && n == s->n_tail &&
              memcmp(rest, s->tail, n) == 0;
  if (!same) status = cells(c, stop < e ? rest : e + 1, e, sample, s->wanted);
  if (status == TG_ETRUNCATED) {
    s->tail = NULL; /* its part read so far stands until the next row, which starts behind a gap */
    status = tg_cap_mark_add(c, sample, MARK_GAP);
    return status == TG_OK ? bad_row(c, "short-row", "has too few cells; dropped") : status;
  }
  if (status == TG_OK) status = marks_of(c, sample, number[0], number[1], trigger);
  /* each row tells of its own bad cells */
  s->tail = c->problems == problems && stop < e ? rest : NULL;
  s->n_tail = n;
  s->buffer = number[0];
  s->window = number[1];
  c->seen = sample + 1;
  return status;
}

static tg_status line(tg_capture *c, const uint8_t *p, const uint8_t *e, bool torn, tg_error *err) {
  struct cap_csv *s = c->csv;
  while (e > p && e[-1] == '\r') e--;
  if (!s->header) {
    if (e - p >= 3 && p[0] == 0xef && p[1] == 0xbb && p[2] == 0xbf) p += 3;
    if (e - p >= 2 && ((p[0] == 0xff && p[1] == 0xfe) || (p[0] == 0xfe && p[1] == 0xff)))
      return tg_fail(err, TG_EUNSUPPORTED, 0, 1, "UTF-16 text: export or convert it as UTF-8");
    if (torn) return tg_fail(err, TG_ETRUNCATED, 0, 1, "the file ends inside its header");
    return header(c, p, e, err);
  }
  bool second = s->second;
  s->second = false;
  if (e == p) return TG_OK;
  if (second && starts(p, e, "Radix")) return radix_row(c, p, e);
  return s->index == 0 ? plain_row(c, p, e, torn) : row(c, p, e, torn);
}

static tg_status consume(tg_capture *c, const uint8_t *p, const uint8_t *end, bool final,
                         size_t *used, tg_error *err) {
  const uint8_t *q = p;
  tg_status status = TG_OK;
  if (c->csv == NULL) {
    if ((c->csv = tg_zalloc(&c->a, 1, sizeof *c->csv)) == NULL) return TG_ENOMEM;
    c->csv->gap = SIZE_MAX;
  }
  c->csv->tail = NULL;
  while (q < end && status == TG_OK) {
    const uint8_t *e = memchr(q, '\n', (size_t)(end - q));
    if (e == NULL && !final) break;
    const uint8_t *next = e != NULL ? e + 1 : end;
    status = tg_cap_check_item(c, (size_t)(next - q), err);
    if (status == TG_OK) status = line(c, q, e != NULL ? e : end, e == NULL, err);
    if (status != TG_OK) break;
    c->offset += (uint64_t)(next - q);
    c->line += e != NULL;
    q = next;
  }
  c->csv->tail = NULL;
  *used = (size_t)(q - p);
  return status;
}

static tg_status finish(tg_capture *c, tg_error *err) {
  tg_status status = TG_OK;
  uint64_t edges = 0;
  if (c->csv == NULL || !c->csv->header)
    return tg_fail(err, TG_ESYNTAX, 0, 0,
                   "no header: an ILA's first cell is \"Sample in Buffer\", a plain CSV's names an "
                   "AXI VALID and READY or what --map names");
  for (size_t i = 0; i < c->n_clocks; i++) edges += c->clocks[i].edges;
  if (edges > 0) status = tg_cap_choose_clocks(c);
  c->clocked = c->clock != CAP_NONE;
  if (c->clocked) c->seen = c->clocks[c->clock].edges;
  c->depth_known = true;
  for (size_t i = 0; i < c->n_store; i++)
    if (c->store[i].radix == RADIX_AUTO) c->store[i].radix = RADIX_HEX;
  return status;
}

const cap_form tg_cap_csv = {consume, finish, free_csv};

/* window.c - finds the lines worth a look and takes their transport off.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "base/try.h"
#include "state.h"
#include "uart.h"

enum { QUICK_HITS = 8 }; /* the quick way compares each with each */

#define TG_WINDOW ((size_t)64 * 1024) /* bytes that several passes share while they are cached */
#define LIVE_WINDOW ((size_t)2048)    /* the same between lines that are alike */
enum { LIVE_WINDOWS = 8, LIVE_LINES = 8 }; /* so many windows stay small behind so many of them */

/* A list of no hits points at this: NULL would ask for a scan. */
static const tg_hit no_hit;

/* An entry of LAVA's raw log: its texts, if a console sent them. */
static tg_status lava_texts(tg_reader *r, const tg_line *line, tg_lava *lava) {
  tg_status status = TG_OK;
  uint64_t offset = line->raw_offset + (uint64_t)(lava->message.p - line->raw.p);
  while (tg_lava_next(lava, offset, &r->unwrapped, &status)) {
    tg_line text = *line;
    text.p = r->unwrapped.p;
    text.n = r->unwrapped.n;
    text.map = r->unwrapped.map;
    text.n_map = r->unwrapped.n_map;
    text.offset = 0;
    text.channel = lava->channel;
    text.tail = false;
    if (lava->escaped) text.flags |= TG_FLAG_UNWRAPPED;
    if (text.n == 0) {
      text.p = (const uint8_t *)"";
      text.map = NULL;
      text.offset = offset;
    }
    status = r->uart != NULL ? tg_uart_line(r, &text) : tg_reader_text(r, text, NULL, 0);
    if (status != TG_OK) return status;
  }
  return status;
}

/* One line without CRs in it. */
static tg_status reader_piece(tg_reader *r, const tg_line *line, const tg_hit *hits,
                                 size_t n_hits) {
  tg_lava lava;
  if (line->n > 2 && line->p[0] == '-' && tg_lava_parse(line->p, line->n, &lava)) {
    return lava.console ? lava_texts(r, line, &lava) : TG_OK;
  }
  if (r->uart != NULL) return tg_uart_line(r, line);
  return tg_reader_text(r, *line, hits, n_hits);
}

/* The pieces between lone CRs, each a line of its own: a progress bar, an old Mac. */
static tg_status split_returns(tg_reader *r, const tg_line *line, bool counts) {
  tg_status status = TG_OK;
  for (size_t from = 0; status == TG_OK && from < line->n;) {
    const uint8_t *cr = memchr(line->p + from, '\r', line->n - from);
    size_t to = cr != NULL ? (size_t)(cr - line->p) : line->n;
    tg_line part = tg_line_part(line, from, to);
    part.raw = (tg_str){part.p, part.n};
    part.raw_offset = part.offset;
    if (counts) part.number = r->returns + 1;
    status = reader_piece(r, &part, NULL, 0);
    while (to < line->n && line->p[to] == '\r') to++;
    if (cr != NULL && counts) r->returns++;
    from = to;
  }
  return status;
}

static tg_status read_line(tg_reader *r, const uint8_t *p, size_t n, uint64_t offset, bool ended,
                         const tg_hit *hits, size_t n_hits) {
  size_t full = n;
  while (n > 0 && p[n - 1] == '\r') n--;
  size_t lead = 0;
  while (lead < n && p[lead] == '\r') lead++;
  tg_line line = {.p = p,
                  .n = n,
                  .offset = offset,
                  .number = r->lines + 1,
                  .raw = {p, n},
                  .raw_offset = offset,
                  .tail = r->at_end && !ended && n == full};
  bool counts = !ended && r->lines == 0;
  if (n == lead || memchr(p + lead, '\r', n - lead) == NULL) {
    if (counts) {
      r->returns += lead > 0;
      line.number = r->returns + 1;
      r->returns += full > n;
    }
    return reader_piece(r, &line, hits, n_hits);
  }
  tg_status status = split_returns(r, &line, counts);
  if (counts && full > n) r->returns++;
  return status;
}

/* Runs of CRs: the lines of a source that knows no LF. */
static size_t count_returns(const uint8_t *p, size_t n) {
  size_t total = 0;
  for (size_t i = 0; i < n; i++) total += p[i] == '\r' && (i + 1 == n || p[i + 1] != '\r');
  return total;
}

/* The places of a window still to look at: hits, and escapes if there are any. */
typedef struct look_ahead {
  const uint8_t *p;
  size_t n;
  const tg_hits *hits;
  size_t hit;    /* the next one */
  size_t escape; /* the next ESC, n if there is none */
} look_ahead;

/* The begin of the next line from `from` on that has a hit or an escape, n if there is none;
 * `*lines` is the number of line ends of the window before it. */
static size_t next_look(look_ahead *w, size_t from, size_t *lines) {
  if (w->escape < from) {
    const uint8_t *e = memchr(w->p + from, 0x1b, w->n - from);
    w->escape = e != NULL ? (size_t)(e - w->p) : w->n;
  }
  const bool by_hit = w->hit < w->hits->n && w->hits->v[w->hit].at <= w->escape;
  size_t start = by_hit ? w->hits->v[w->hit].at : w->escape;
  if (start == w->n) return start;
  if (by_hit && w->hits->v[w->hit].lines == *lines) return from; /* no line end lies between */
  while (start > from && w->p[start - 1] != '\n') start--;
  *lines = by_hit ? w->hits->v[w->hit].lines
                  : *lines + tg_count_byte(w->p + from, start - from, '\n');
  return start;
}

/* The quick way where it is open, else the full one. */
static tg_status look_at_line(tg_reader *r, const uint8_t *p, size_t n, uint64_t offset,
                                 bool ended, const tg_hit *hits, size_t n_hits) {
  bool done = false;
  tg_alike_record record;
  tg_status status = TG_OK;
  const bool usual = ended && n_hits > 0 && n_hits <= QUICK_HITS && r->section == TG_NOT &&
                     r->uart == NULL && !r->full_only;
  r->out->lines_with_hits += n_hits > 0;
  if (usual) status = tg_reader_quick(r, p, n, offset, hits, n_hits, &done, &record);
  r->out->quick_lines += done;
  if (done && status == TG_OK)
    tg_alike_learn(&r->alike, r->rules, p, n + 1, hits, n_hits, &record);
  if (done || status != TG_OK) return status;
  return read_line(r, p, n, offset, ended, hits, n_hits);
}

/* Looks at the lines of [p, p+n) that have a hit or an escape; the others are only counted. */
static tg_status read_window(tg_reader *r, const uint8_t *p, size_t n, uint64_t offset) {
  const uint64_t before = r->lines;
  size_t from = 0, lines = 0; /* line ends of the window before `from` */
  size_t told = 0;            /* up to here the witness was looked for, */
  uint64_t told_lines = before; /* behind so many line ends; */
  size_t bare = tg_reader_next_bare(r, p, n, 0); /* it may stand here next */
  tg_status status = tg_find_hits(r, p, n, &r->hits);
  if (status != TG_OK) return status;
  if (r->lines == 0 && r->returns > 0 && r->hits.lines > 0) {
    tg_records_first_line(r->out);
    r->returns = 0;
  }
  /* A run of CRs that an over-long line was cut in is one line end: it is counted again. */
  if (r->after_return && r->returns > 0 && p[0] == '\r') r->returns--;
  r->after_return = p[n - 1] == '\r';
  const uint8_t *e = r->hits.escapes ? memchr(p, 0x1b, n) : NULL;
  look_ahead look = {p, n, &r->hits, 0, e != NULL ? (size_t)(e - p) : n};
  while (from < n) {
    size_t start = from;
    if (r->section == TG_NOT && r->uart == NULL) {
      start = next_look(&look, from, &lines);
      if (start == n) break;
      r->lines = before + lines;
    }
    const uint8_t *lf = memchr(p + start, '\n', n - start);
    size_t end = lf != NULL ? (size_t)(lf - p) : n;
    if (start > bare) {
      status = tg_reader_witness(r, p + told, start - told, offset + told, told_lines);
      if (status != TG_OK) return status;
      told = start;
      told_lines = before + lines;
      bare = tg_reader_next_bare(r, p, n, start);
    }
    size_t first = look.hit;
    for (; look.hit < r->hits.n && r->hits.v[look.hit].at < end; look.hit++)
      r->hits.v[look.hit].at -= start;
    status = look_at_line(r, p + start, end - start, offset + start, lf != NULL,
                             look.hit > first ? r->hits.v + first : &no_hit, look.hit - first);
    if (status != TG_OK) return status;
    lines += lf != NULL;
    r->lines = before + lines;
    r->long_told = r->long_told && lf == NULL;
    from = lf != NULL ? end + 1 : n;
  }
  const size_t rest = r->hits.lines - lines;
  if (from < n && rest == 0 && r->lines == 0) r->returns += count_returns(p + from, n - from);
  r->lines += rest;
  r->long_told = r->long_told && rest == 0;
  return bare < n ? tg_reader_witness(r, p + told, n - told, offset + told, told_lines) : TG_OK;
}

tg_status tg_reader_long(tg_reader *r, const uint8_t *p, size_t n, uint64_t offset, bool ended) {
  tg_status status = TG_OK;
  if (!ended && !r->long_told) {
    tg_line line = {.p = p,
                    .n = n,
                    .offset = offset,
                    .number = tg_line_at_hand(r),
                    .raw = {p, n},
                    .raw_offset = offset};
    r->long_told = true;
    status = tg_records_problem(
        r->out, &(tg_trouble){&line, 0, TG_NOT, TG_NOT, TG_REASON_LONG,
                              "a line end before the bound: read in pieces", 0});
  }
  if (status == TG_OK) status = read_window(r, p, n, offset);
  if (ended) r->long_told = false;
  return status;
}

/* The bytes of [p, p+n) that go through the passes together: whole lines up to the window's size,
 * or one longer line. */
static size_t window_size(const uint8_t *p, size_t n, size_t window) {
  if (n <= window) return n;
  for (size_t at = window; at > 0; at--) {
    if (p[at - 1] == '\n') return at;
  }
  const uint8_t *lf = memchr(p + window, '\n', n - window);
  return lf != NULL ? (size_t)(lf - p) + 1 : n;
}

/* A line that was found by its pattern; `*done` false: it is for the search. */
static tg_status take_alike(tg_reader *r, const uint8_t *p, uint64_t offset,
                            const tg_alike_line *line, bool *done) {
  const tg_pattern *a = line->pattern;
  tg_hit hits[TG_ALIKE_HITS];
  tg_alike_record record;
  if (a->direct && r->options.keep_near != TG_KEEP_ALL) {
    TG_TRY(tg_reader_alike(r, p, offset, line, done));
    if (*done) return TG_OK;
  }
  for (size_t i = 0; i < a->n_hits; i++)
    hits[i] = (tg_hit){.at = tg_alike_at(line, a->hits[i]), .needle = a->needle[i]};
  r->hits.returns = true; /* the window that was searched last says nothing of this line */
  return tg_reader_quick(r, p, line->size - 1, offset, hits, a->n_hits, done, &record);
}

/* Reads the lines at the begin of [p, p+n) that are like those before them; `*used` are their
 * bytes. */
static tg_status read_alike(tg_reader *r, const uint8_t *p, size_t n, uint64_t offset,
                            size_t *used) {
  tg_alike_line line;
  *used = 0;
  if (r->long_told || r->uart != NULL || r->full_only || r->lines == 0) return TG_OK;
  while (r->section == TG_NOT && tg_alike_find(&r->alike, p + *used, n - *used, &line)) {
    bool done = false;
    if (line.size > r->options.max_line) break;
    TG_TRY(take_alike(r, p + *used, offset + *used, &line, &done));
    if (!done) break;
    r->out->lines_with_hits++;
    r->out->quick_lines++;
    r->lines++;
    r->after_return = false;
    *used += line.size;
  }
  return TG_OK;
}

tg_status tg_reader_block(tg_reader *r, const uint8_t *p, size_t n) {
  size_t bound = (size_t)r->options.max_line;
  size_t window = bound < TG_WINDOW ? bound : TG_WINDOW;
  uint64_t offset = r->offset;
  tg_status status = TG_OK;
  while (status == TG_OK && n > 0) {
    size_t used = 0;
    const uint64_t lines = r->lines;
    TG_TRY(read_alike(r, p, n, offset, &used));
    p += used;
    n -= used;
    offset += used;
    if (r->lines - lines >= LIVE_LINES) r->alike.live = LIVE_WINDOWS;
    if (n == 0) break;
    const bool live = r->alike.live > 0 && window > LIVE_WINDOW;
    if (live) r->alike.live--;
    size_t part = window_size(p, n, live ? LIVE_WINDOW : window);
    size_t line = part - (p[part - 1] == '\n');
    if (part > window && line > bound) {
      bool ended;
      part = tg_long_cut(p, bound, &ended);
      status = tg_reader_long(r, p, part, offset, ended);
    } else {
      status = read_window(r, p, part, offset);
    }
    p += part;
    n -= part;
    offset += part;
  }
  return status;
}

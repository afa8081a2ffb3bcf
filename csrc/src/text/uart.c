/* uart.c - lifts whole TEE spans out of REE lines and joins the rest.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "uart.h"
#include "base/try.h"

#include <string.h>

#include "base/mem.h"

/* The head of an REE line that a TEE line cut, waiting for its rest. */
struct tg_uart {
  tg_alloc alloc;
  tg_copy head, joined;
  tg_copy channel;
  tg_piece *pieces; /* of the head, and of the line joined to it */
  size_t n_pieces, cap_pieces;
  bool waiting, has_channel;
};

tg_status tg_uart_new(const tg_alloc *a, tg_uart **out) {
  tg_uart *u = tg_zalloc(a, 1, sizeof *u);
  if (u == NULL) return TG_ENOMEM;
  u->alloc = *a;
  tg_copy_init(&u->head, a);
  tg_copy_init(&u->joined, a);
  tg_copy_init(&u->channel, a);
  *out = u;
  return TG_OK;
}

void tg_uart_free(tg_uart *u) {
  if (u == NULL) return;
  tg_copy_free(&u->head);
  tg_copy_free(&u->joined);
  tg_copy_free(&u->channel);
  tg_release(&u->alloc, u->pieces);
  tg_release(&u->alloc, u);
}

/* Where a TEE span begins, "[*]X/TC:" with X one of MEIDFU; `n` if there is none. */
static size_t uart_mark(const uint8_t *p, size_t n) {
  for (size_t at = 1; at + 3 < n; at++) {
    const uint8_t *slash = memchr(p + at, '/', n - 3 - at);
    if (slash == NULL) return n;
    at = (size_t)(slash - p);
    bool world = memcmp(slash + 1, "TC:", 3) == 0 || memcmp(slash + 1, "TA:", 3) == 0 ||
                 memcmp(slash + 1, "LD:", 3) == 0;
    if (!world || !tg_is_one_of(slash[-1], "MEIDFU")) continue;
    size_t mark = at - 1;
    return mark > 0 && p[mark - 1] == '*' ? mark - 1 : mark;
  }
  return n;
}

/* Bytes of a line, wherever each of them came from. */
static tg_status uart_put(tg_copy *out, const tg_line *line, size_t n) {
  if (line->map == NULL) return tg_copy_put(out, line->p, n, line->offset);
  for (size_t i = 0; i < n; i++) {
    tg_status status = tg_copy_put(out, line->p + i, 1, tg_line_offset(line, i));
    if (status != TG_OK) return status;
  }
  return TG_OK;
}

/* Says that a piece begins with this line. */
static tg_status uart_piece(tg_uart *u, const tg_line *line) {
  tg_status status =
      tg_reserve(&u->alloc, &u->pieces, &u->cap_pieces, u->n_pieces + 1, sizeof *u->pieces);
  if (status == TG_OK)
    u->pieces[u->n_pieces++] = (tg_piece){tg_line_offset(line, 0), line->number};
  return status;
}

/* A line made of a copy, with the rest as in `like`. */
static tg_line uart_made(const tg_uart *u, const tg_copy *c, const tg_line *like) {
  tg_line line = *like;
  line.p = c->p;
  line.n = c->n;
  line.map = c->map;
  line.n_map = c->n_map;
  line.offset = 0;
  line.number = u->pieces[0].number;
  line.pieces = u->pieces;
  line.n_pieces = u->n_pieces;
  line.channel = u->has_channel ? (tg_str){u->channel.p, u->channel.n} : (tg_str){NULL, 0};
  return line;
}

static bool uart_same_channel(const tg_uart *u, const tg_line *line) {
  if (!u->has_channel || line->channel.p == NULL) {
    return !u->has_channel && line->channel.p == NULL;
  }
  return u->channel.n == line->channel.n &&
         (u->channel.n == 0 || memcmp(u->channel.p, line->channel.p, u->channel.n) == 0);
}

/* Counts the records that the rules would make of a line. */
static tg_status uart_weigh(tg_reader *r, const tg_line *line, tg_outcome *out) {
  const tg_scanner *s = r->rules->scanner;
  *out = (tg_outcome){0, 0, TG_NOT};
  r->own_hits.n = 0;
  tg_status status = s->scan(s, line->p, line->n, &r->own_hits);
  if (status != TG_OK || r->own_hits.n == 0) return status;
  return tg_reader_try(r, line, r->own_hits.v, r->own_hits.n, false, out);
}

/* Reads the waiting head as a line of its own. */
static tg_status uart_flush(tg_reader *r, const tg_line *like) {
  tg_uart *u = r->uart;
  u->waiting = false;
  if (u->head.n == 0) return TG_OK;
  tg_line line = uart_made(u, &u->head, like);
  line.tail = false;
  return tg_reader_text(r, line, NULL, 0);
}

/* The same for the head. A letter goes behind it, so that a number that the cut left in front of
 * a TEE line is none. */
static tg_status uart_weigh_head(tg_reader *r, const tg_line *like, tg_outcome *out) {
  tg_uart *u = r->uart;
  size_t n = u->head.n;
  size_t n_map = u->head.n_map;
  tg_status status = tg_copy_put(&u->head, (const uint8_t *)"M", 1, 0);
  if (status != TG_OK) return status;
  tg_line line = uart_made(u, &u->head, like);
  status = uart_weigh(r, &line, out);
  u->head.n = n;
  u->head.n_map = n_map;
  return status;
}

/* True where the joined line says at least as much as its two pieces apart. A head without a tag
 * is not put before a rest that is whole by itself. */
static bool uart_better(const tg_outcome *head, const tg_outcome *rest,
                           const tg_outcome *both) {
  size_t apart = head->records + rest->records;
  size_t missed = head->misses + rest->misses;
  if (both->records != apart) return both->records > apart;
  if (both->misses != missed) return both->misses < missed;
  return apart == 0 || head->records + head->misses > 0;
}

/* The rest of the cut line has come. */
static tg_status uart_join(tg_reader *r, const tg_line *rest) {
  tg_uart *u = r->uart;
  tg_outcome head, tail, both;
  tg_copy_clear(&u->joined);
  TG_TRY(uart_piece(u, rest));
  tg_line first = uart_made(u, &u->head, rest);
  TG_TRY(uart_put(&u->joined, &first, first.n));
  TG_TRY(uart_put(&u->joined, rest, rest->n));
  tg_line line = uart_made(u, &u->joined, rest);
  line.flags |= TG_FLAG_REPAIRED;
  TG_TRY(uart_weigh_head(r, rest, &head));
  TG_TRY(uart_weigh(r, rest, &tail));
  TG_TRY(uart_weigh(r, &line, &both));
  if (uart_better(&head, &tail, &both)) {
    u->waiting = false;
    return tg_reader_text(r, line, NULL, 0);
  }
  TG_TRY(uart_flush(r, rest));
  return tg_reader_text(r, *rest, NULL, 0);
}

/* Begins to wait (or goes on waiting) for the rest of a line of which [0, n) is here. */
static tg_status uart_wait(tg_reader *r, const tg_line *line, size_t n) {
  tg_uart *u = r->uart;
  if (u->waiting && u->head.n + n > r->options.max_line) TG_TRY(uart_flush(r, line));
  if (!u->waiting) {
    tg_copy_clear(&u->head);
    tg_copy_clear(&u->channel);
    u->n_pieces = 0;
    u->has_channel = line->channel.p != NULL;
    u->waiting = true;
    if (u->has_channel)
      TG_TRY(tg_copy_put(&u->channel, line->channel.p, line->channel.n, 0));
  }
  TG_TRY(uart_piece(u, line));
  return uart_put(&u->head, line, n);
}

tg_status tg_uart_line(tg_reader *r, const tg_line *line) {
  tg_uart *u = r->uart;
  size_t mark = uart_mark(line->p, line->n);
  bool same = !u->waiting || uart_same_channel(u, line);
  if (mark == line->n) {
    return u->waiting && same ? uart_join(r, line) : tg_reader_text(r, *line, NULL, 0);
  }
  size_t text = 0; /* where more than blanks, control bytes and stamps begins */
  while (text < mark && line->p[text] <= ' ') text++;
  text += tg_prefix_length(r->prefix, line->p + text, line->n - text);
  if (text >= mark || !same) return tg_reader_text(r, *line, NULL, 0);
  tg_status status = uart_wait(r, line, mark);
  if (status != TG_OK) return status;
  tg_line span = tg_line_part(line, mark, line->n);
  return tg_reader_text(r, span, NULL, 0);
}

tg_status tg_uart_finish(tg_reader *r) {
  tg_line none = {.p = (const uint8_t *)"",
                  .raw = {(const uint8_t *)"", 0},
                  .offset = r->offset,
                  .raw_offset = r->offset,
                  .number = tg_line_at_hand(r)};
  return r->uart->waiting ? uart_flush(r, &none) : TG_OK;
}

/* optee_legacy.c - the line reader of the drop-in, a push machine over single bytes.
 *
 * A line belongs to the first of eight patterns that matches anywhere in it, and within a pattern
 * to its leftmost match. All patterns begin with one of six tags, words that end in a ':'. Three
 * facts make one pass exact:
 * - no tag is the end of another, and each holds one ':', so tags never overlap;
 * - the text behind a tag in a pattern holds no ':', so no tag ends inside a consumed try, and
 *   after a failed try the search goes on where it failed;
 * - of a later tag in the same line only a pattern of a lower number matters.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tickgauge/legacy.h"

#include <stdbool.h>
#include <string.h>

#include "formats/optee_legacy_bytes.h"
#include "formats/optee_legacy_scan.h"

enum {
  LONGEST_TAG = 21, /* bytes of the longest tag before its ':' */
  FIELDS = 3,       /* numbers in a pattern, at most */
  NO_PATTERN = 8,   /* above every pattern's number */
  NO_TAG = 6
};

/* A text whose blanks stand for one byte each of 09 0b 0c 0d 20, then a field. */
typedef struct piece {
  const char *text;
  size_t n;
} piece;

#define PIECE(literal) {literal, sizeof(literal) - 1}

typedef struct pattern {
  piece pieces[FIELDS];
  uint8_t count;    /* of pieces */
  bool command;     /* the first field is the one digit of a command, all others are hex */
  uint8_t value[2]; /* client patterns: the first value; SMC patterns: those of cmd 0 and 1 */
} pattern;

/* In the order in which the script tries them. */
static const pattern PATTERNS[NO_PATTERN] = {
    {{PIECE("0x")}, 1, false, {TG_LEGACY_FREQUENCY, 0}},
    {{PIECE("start=0x"), PIECE(", enter_ta=0x"), PIECE(", return=0x")},
     3,
     false,
     {TG_LEGACY_OPEN_START, 0}},
    {{PIECE("start=0x"), PIECE(", enter_ta=0x"), PIECE(", return=0x")},
     3,
     false,
     {TG_LEGACY_INVOKE_START, 0}},
    {{PIECE("start=0x"), PIECE(", enter_svc=0x"), PIECE(", return=0x")},
     3,
     false,
     {TG_LEGACY_SYSCALL_START, 0}},
    {{PIECE("do smc call, cmd="), PIECE(", cntvct=0x")},
     2,
     true,
     {TG_LEGACY_OPEN_DO, TG_LEGACY_INVOKE_DO}},
    {{PIECE("finish smc call, cmd="), PIECE(", cntvct=0x")},
     2,
     true,
     {TG_LEGACY_OPEN_DONE, TG_LEGACY_INVOKE_DONE}},
    {{PIECE("receiving smc call, cmd="), PIECE(", cntvct=0x")},
     2,
     true,
     {TG_LEGACY_OPEN_RECEIVE, TG_LEGACY_INVOKE_RECEIVE}},
    {{PIECE("finish smc call, cmd="), PIECE(", cntvct=0x")},
     2,
     true,
     {TG_LEGACY_OPEN_FINISH, TG_LEGACY_INVOKE_FINISH}},
};

/* A tag without its ':', and the patterns it begins: one, or two neighbours that differ in the
 * first letter of their first piece. The last letters of the tags are all different. */
static const struct {
  const char *text;
  uint8_t n;
  uint8_t first, last; /* patterns */
} TAGS[NO_TAG] = {
    {"CounterTimerFrequency", 21, 0, 0}, {"ClientOpenSession", 17, 1, 1},
    {"ClientInvokeCommand", 19, 2, 2},   {"SecureSysCall", 13, 3, 3},
    {"TEEDriver", 9, 4, 5},              {"TEECore", 7, 6, 7},
};

/* The state: how the next byte is looked at. */
typedef enum state {
  SEARCH,  /* the end of a tag, or of a line that has a match */
  BLANK,   /* the one blank behind a tag */
  CHOICE,  /* which pattern of the tag it is */
  TEXT,    /* the next byte of a piece */
  COMMAND, /* the digit of a command */
  NUMBER,  /* the first digit of a number */
  DIGITS   /* a further digit of a number, or its end */
} state;

/* Bytes that grow. */
typedef struct bytes {
  uint8_t *p;
  size_t n, cap;
} bytes;

/* A match, whole or on its way: the digits of its numbers without leading zeros. */
typedef struct match {
  bytes number[FIELDS];
  uint8_t pattern;
  uint8_t command; /* 0 .. 9 */
} match;

struct tg_legacy {
  tg_alloc alloc;
  tg_legacy_find_fn *find;
  bytes value[TG_LEGACY_VALUES];
  bytes unknown;
  match matches[2];
  match *best; /* of this line so far; NO_PATTERN: none */
  match *trial;
  size_t at; /* bytes of the piece that are matched */
  uint8_t state, tag, piece;
  bool keep; /* the digits of the number are wanted */
  uint8_t tail_n;
  uint8_t tail[LONGEST_TAG]; /* the last bytes before this feed */
};

static tg_status append(const tg_alloc *a, bytes *b, const uint8_t *p, size_t n) {
  tg_status status = TG_OK;
  if (n == 0) return TG_OK;
  if (n > b->cap - b->n) {
    if (n > SIZE_MAX - b->n) return TG_EOVERFLOW;
    void *grown = b->p;
    status = tg_grow(a, &grown, &b->cap, b->n + n, 1);
    if (status != TG_OK) return status;
    b->p = grown;
  }
  memcpy(b->p + b->n, p, n);
  b->n += n;
  return TG_OK;
}

static void swap(bytes *a, bytes *b) {
  const bytes t = *a;
  *a = *b;
  *b = t;
}

tg_status tg_legacy_new(const tg_alloc *a, tg_legacy **out) {
  if (a == NULL) a = tg_alloc_default();
  tg_legacy *l = a->resize(a->ctx, NULL, sizeof *l);
  if (l == NULL) return TG_ENOMEM;
  memset(l, 0, sizeof *l);
  l->alloc = *a;
  l->find = tg_legacy_find_best();
  l->best = &l->matches[0];
  l->trial = &l->matches[1];
  l->best->pattern = NO_PATTERN;
  *out = l;
  return TG_OK;
}

void tg_legacy_free(tg_legacy *l) {
  if (l == NULL) return;
  const tg_alloc a = l->alloc;
  for (int i = 0; i < TG_LEGACY_VALUES; i++) a.release(a.ctx, l->value[i].p);
  for (int i = 0; i < FIELDS; i++) {
    a.release(a.ctx, l->matches[0].number[i].p);
    a.release(a.ctx, l->matches[1].number[i].p);
  }
  a.release(a.ctx, l->unknown.p);
  a.release(a.ctx, l);
}

/* ---- lines ------------------------------------------------------------------------------- */

/* Whether the stamp of an SMC line is wanted: of the commands 0 and 1, until one is not zero. */
static inline bool stamp_wanted(const tg_legacy *l, uint8_t smc, uint8_t command) {
  return (command < 2) & (l->value[PATTERNS[smc].value[command & 1]].n == 0);
}

/* The line ends: its match, if it has one, takes effect. */
static tg_status end_line(tg_legacy *l) {
  match *m = l->best;
  if (m->pattern == NO_PATTERN) return TG_OK;
  const pattern *pat = &PATTERNS[m->pattern];
  tg_status status = TG_OK;
  if (!pat->command) {
    for (uint8_t i = 0; i < pat->count; i++) swap(&l->value[pat->value[0] + i], &m->number[i]);
  } else if (stamp_wanted(l, m->pattern, m->command)) {
    swap(&l->value[pat->value[m->command]], &m->number[1]);
  } else if (m->command > 2) {
    const uint8_t digit = (uint8_t)('0' + m->command);
    status = append(&l->alloc, &l->unknown, &digit, 1);
  }
  m->pattern = NO_PATTERN;
  return status;
}

/* ---- tags -------------------------------------------------------------------------------- */

/* The tag to try, by the low five bits of its last letter; for other letters any will do. */
static const uint8_t TAG_BY_LETTER[32] = {
    ['y' & 31] = 0, ['n' & 31] = 1, ['d' & 31] = 2, ['l' & 31] = 3, ['r' & 31] = 4, ['e' & 31] = 5};

/* The tag that ends before `colon`, all of it within this feed. */
static uint8_t tag_before(const uint8_t *colon) {
  const uint8_t tag = TAG_BY_LETTER[colon[-1] & 31];
  return tg_legacy_equal(colon - TAGS[tag].n, TAGS[tag].text, TAGS[tag].n) ? tag : NO_TAG;
}

/* The same near the start of a feed, where a tag may begin in bytes fed before. */
static uint8_t tag_across(const tg_legacy *l, const uint8_t *base, const uint8_t *colon) {
  uint8_t text[2 * LONGEST_TAG];
  const size_t here = (size_t)(colon - base);
  memcpy(text, l->tail, l->tail_n);
  memcpy(text + l->tail_n, base, here);
  const size_t n = l->tail_n + here;
  if (n == 0) return NO_TAG;
  const uint8_t tag = TAG_BY_LETTER[text[n - 1] & 31];
  if (TAGS[tag].n > n) return NO_TAG;
  return tg_legacy_equal(text + n - TAGS[tag].n, TAGS[tag].text, TAGS[tag].n) ? tag : NO_TAG;
}

/* The byte behind the first tag and its ':' that end in [p, end), NULL if there is none. */
static const uint8_t *find_tag(tg_legacy *l, const uint8_t *base, const uint8_t *p,
                               const uint8_t *end) {
  for (; p < end && p - base < LONGEST_TAG; p++) {
    if (*p == ':' && (l->tag = tag_across(l, base, p)) != NO_TAG) return p + 1;
  }
  for (; p < end; p++) {
    p = l->find(p, end);
    if (p < end && (l->tag = tag_before(p)) != NO_TAG) return p + 1;
  }
  return NULL;
}

static void keep_tail(tg_legacy *l, const uint8_t *p, size_t n) {
  if (n < LONGEST_TAG) {
    const size_t old = l->tail_n + n > LONGEST_TAG ? LONGEST_TAG - n : l->tail_n;
    memmove(l->tail, l->tail + (l->tail_n - old), old);
    memcpy(l->tail + old, p, n);
    l->tail_n = (uint8_t)(old + n);
  } else {
    memcpy(l->tail, p + n - LONGEST_TAG, LONGEST_TAG);
    l->tail_n = LONGEST_TAG;
  }
}

/* ---- the machine ------------------------------------------------------------------------- */

/* The bytes of one feed. */
typedef struct window {
  const uint8_t *base, *end;
  const uint8_t *line_end; /* of the line that has a match; NULL: not looked for, `end`: not here */
} window;

static const uint8_t *match_plain(tg_legacy *l, const uint8_t *p, const uint8_t *end,
                                  tg_status *status);

/* Goes to the next tag, over the ends of lines. A line with a match is searched to its end only,
 * and not at all when no pattern could come before the one it has. */
static const uint8_t *search(tg_legacy *l, window *w, const uint8_t *p, tg_status *status) {
  const bool matched = l->best->pattern != NO_PATTERN;
  if (matched && w->line_end == NULL) {
    w->line_end = *p == '\n' ? p : memchr(p, '\n', (size_t)(w->end - p));
    if (w->line_end == NULL) w->line_end = w->end;
  }
  const uint8_t *limit = matched ? w->line_end : w->end;
  const uint8_t *behind = l->best->pattern == 0 ? NULL : find_tag(l, w->base, p, limit);
  if (behind != NULL) {
    l->state = BLANK;
    const uint8_t *plain = match_plain(l, behind, w->end, status);
    return plain != NULL ? plain : behind;
  }
  if (limit == w->end) return limit;
  w->line_end = NULL;
  *status = end_line(l);
  return limit + 1;
}

/* Begins the pattern of the tag whose first piece begins with `c`; false when there is none, or
 * the line has one that comes before it. */
static bool choose(tg_legacy *l, uint8_t c) {
  for (uint8_t i = TAGS[l->tag].first; i <= TAGS[l->tag].last && i < l->best->pattern; i++) {
    if (PATTERNS[i].pieces[0].text[0] == (char)c) {
      l->trial->pattern = i;
      l->piece = 0;
      l->at = 0;
      l->state = TEXT;
      return true;
    }
  }
  return false;
}

/* Matches as much of the piece as there is; false at a byte that does not belong there. */
static bool match_text(tg_legacy *l, const uint8_t **at, const uint8_t *end) {
  const pattern *pat = &PATTERNS[l->trial->pattern];
  const piece *want = &pat->pieces[l->piece];
  const uint8_t *p = *at;
  if (l->at == 0 && (size_t)(end - p) >= want->n && tg_legacy_equal(p, want->text, want->n)) {
    p += want->n;
    l->at = want->n;
  }
  for (; l->at < want->n && p < end; p++, l->at++) {
    const uint8_t c = (uint8_t)want->text[l->at];
    if (c == ' ' ? !tg_legacy_is_blank(*p) : *p != c) {
      *at = p;
      return false;
    }
  }
  *at = p;
  if (l->at == want->n) l->state = pat->command && l->piece == 0 ? COMMAND : NUMBER;
  return true;
}

static void next_piece(tg_legacy *l) {
  l->piece++;
  l->at = 0;
  l->state = TEXT;
}

/* A number has ended: the match goes on, or is whole and the best of its line. */
static void end_number(tg_legacy *l) {
  if (l->piece + 1 < PATTERNS[l->trial->pattern].count) {
    next_piece(l);
    return;
  }
  match *whole = l->trial;
  l->trial = l->best;
  l->best = whole;
  l->state = SEARCH;
}

/* Takes the digits there are; leading zeros are not kept. */
static const uint8_t *digits(tg_legacy *l, const uint8_t *p, const uint8_t *end,
                             tg_status *status) {
  bytes *number = &l->trial->number[l->piece];
  if (number->n == 0) {
    while (p < end && *p == '0') p++;
  }
  const uint8_t *from = p;
  p = tg_legacy_behind_digits(p, end);
  if (l->keep) *status = append(&l->alloc, number, from, (size_t)(p - from));
  if (p < end && *status == TG_OK) end_number(l);
  return p;
}

/* Goes on with a try from wherever it stands, at least one byte in [p, end), as far as there are
 * bytes. A byte that does not fit ends it, and is left to the search. */
static const uint8_t *try_match(tg_legacy *l, const uint8_t *p, const uint8_t *end,
                                tg_status *status) {
  bool fits = true;
  if (l->state == BLANK) {
    fits = tg_legacy_is_blank(*p);
    if (fits) p++;
    l->state = CHOICE;
  }
  if (l->state == CHOICE && fits && p < end) fits = choose(l, *p);
  while (fits && p < end && l->state != SEARCH && *status == TG_OK) {
    if (l->state == TEXT) fits = match_text(l, &p, end);
    if (l->state == COMMAND && fits && p < end) {
      fits = *p >= '0' && *p <= '9';
      if (fits) l->trial->command = (uint8_t)(*p++ - '0');
      next_piece(l);
      continue;
    }
    if (l->state == NUMBER && fits && p < end) {
      fits = tg_legacy_is_hex(*p);
      l->keep = !PATTERNS[l->trial->pattern].command ||
                stamp_wanted(l, l->trial->pattern, l->trial->command);
      l->trial->number[l->piece].n = 0;
      l->state = DIGITS;
    }
    if (l->state == DIGITS && fits && p < end) p = digits(l, p, end, status);
  }
  if (!fits) l->state = SEARCH;
  return p;
}

/* ---- the plain case ---------------------------------------------------------------------- */

/* Whether the literal is at `p`, which has that many bytes. */
#define AT(p, literal) (memcmp(p, literal, sizeof(literal) - 1) == 0)

enum { ROOM = 160 }; /* bytes that any line of today's programs fits in */

/* A hex number at `p`, which must end before `end`: the byte behind it, NULL where that is not
 * so. */
static inline const uint8_t *number_at(const uint8_t *p, const uint8_t *end, tg_str *digits) {
  const uint8_t *behind = tg_legacy_behind_digits(p, end);
  if (behind == p || behind == end) return NULL;
  while (*p == '0' && p < behind) p++;
  digits->p = p;
  digits->n = (size_t)(behind - p);
  return behind;
}

/* Which pattern matched, and its command. */
typedef struct kind {
  uint8_t pattern, command;
} kind;

/* An SMC line behind its tag: pattern, command and stamp. The byte behind it, or NULL. */
static inline const uint8_t *smc_at(uint8_t tag, const uint8_t *p, const uint8_t *end, kind *m,
                                    tg_str *stamp) {
  if (AT(p, " finish smc call, cmd=")) {
    p += 22;
    m->pattern = TAGS[tag].last;
  } else if (tag == 4 && AT(p, " do smc call, cmd=")) {
    p += 18;
    m->pattern = 4;
  } else if (tag == 5 && AT(p, " receiving smc call, cmd=")) {
    p += 25;
    m->pattern = 6;
  } else {
    return NULL;
  }
  m->command = (uint8_t)(*p - '0');
  if (m->command > 9 || !AT(p + 1, ", cntvct=0x")) return NULL;
  return number_at(p + 12, end, stamp);
}

/* A client's or the frequency's line behind its tag: its numbers. The byte behind it, or NULL. */
static inline const uint8_t *client_at(const pattern *pat, const uint8_t *p, const uint8_t *end,
                                       tg_str *numbers) {
  if (*p++ != ' ') return NULL;
  for (uint8_t i = 0; i < pat->count; i++) {
    const piece *want = &pat->pieces[i];
    if ((size_t)(end - p) < want->n + 1 || !tg_legacy_equal(p, want->text, want->n)) return NULL;
    p = number_at(p + want->n, end, &numbers[i]);
    if (p == NULL) return NULL;
  }
  return p;
}

/* A match as today's programs print it, with blanks for blanks and whole before `end`, in one go:
 * the byte behind it. NULL where it is anything else, to be looked at byte by byte; whatever is
 * matched here would be matched there, too. */
static const uint8_t *match_plain(tg_legacy *l, const uint8_t *p, const uint8_t *end,
                                  tg_status *status) {
  tg_str numbers[FIELDS] = {{NULL, 0}};
  match *best = l->best;
  kind found = {TAGS[l->tag].first, 0};
  if (end - p < ROOM) return NULL;
  const uint8_t *behind = l->tag >= 4 ? smc_at(l->tag, p, end, &found, &numbers[1])
                                      : client_at(&PATTERNS[found.pattern], p, end, numbers);
  if (behind == NULL || found.pattern >= best->pattern) return NULL;
  const pattern *pat = &PATTERNS[found.pattern];
  const bool wanted = !pat->command || stamp_wanted(l, found.pattern, found.command);
  for (uint8_t i = pat->command ? 1 : 0; wanted && i < pat->count && *status == TG_OK; i++) {
    best->number[i].n = 0;
    *status = append(&l->alloc, &best->number[i], numbers[i].p, numbers[i].n);
  }
  best->pattern = found.pattern;
  best->command = found.command;
  l->state = SEARCH;
  return behind;
}

tg_status tg_legacy_feed(tg_legacy *l, const uint8_t *p, size_t n) {
  tg_status status = TG_OK;
  if (n == 0) return TG_OK;
  window w = {p, p + n, NULL};
  while (p < w.end && status == TG_OK) {
    p = l->state == SEARCH ? search(l, &w, p, &status) : try_match(l, p, w.end, &status);
  }
  keep_tail(l, w.base, n);
  return status;
}

tg_status tg_legacy_finish(tg_legacy *l) {
  if (l->state == DIGITS) end_number(l);
  l->state = SEARCH;
  return end_line(l);
}

tg_str tg_legacy_digits(const tg_legacy *l, tg_legacy_value which) {
  tg_str s = {NULL, 0};
  if ((unsigned)which < TG_LEGACY_VALUES) {
    s.p = l->value[which].p;
    s.n = l->value[which].n;
  }
  return s;
}

tg_str tg_legacy_unknown(const tg_legacy *l) {
  const tg_str s = {l->unknown.p, l->unknown.n};
  return s;
}

void tg_legacy_clear_unknown(tg_legacy *l) { l->unknown.n = 0; }

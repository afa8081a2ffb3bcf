/* counts.c - exact counts of integers: an open hash table, sorted when asked.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tickgauge/counts.h"

#include <math.h>

#include "mem.h"
#include "wide.h"

enum { DEFAULT_DISTINCT = 1 << 16, DEFAULT_FOLD_BITS = 7, MAX_FOLD_BITS = 20, FIRST_BITS = 4 };

/* A slot is free (mark 0) or holds a value that occurred mark - 1 times; mark 1 is a value that
 * was taken back, and keeps its slot until the table grows. */
typedef struct slot {
  int64_t value;
  uint64_t mark;
} slot;

/* 2^bits slots, a quarter of them taken at most (so that a search rarely takes a second step,
 * which would cost a mispredicted branch); `live` values occurred at least once. */
typedef struct hash {
  slot *slots;
  size_t taken, live;
  uint64_t seed; /* differs per table, so that no values can be chosen to share a slot */
  unsigned bits;
} hash;

struct tg_counts {
  tg_alloc alloc;
  hash table;
  uint64_t total;
  tg_count *pairs; /* sorted, right while `sorted` */
  size_t cap_pairs;
  uint32_t max_distinct, fold_bits;
  bool refuse_fold, folded, sorted;
};

/* Neighbouring values land far apart, so that a dense range does not fill one run of slots. */
static inline size_t home_of(int64_t value, unsigned bits) {
  return (size_t)((uint64_t)value * UINT64_C(0x9e3779b97f4a7c15) >> (64 - bits));
}

static inline slot *find(const hash *h, int64_t value) {
  const size_t mask = ((size_t)1 << h->bits) - 1;
  size_t i = home_of((int64_t)((uint64_t)value ^ h->seed), h->bits);
  while (h->slots[i].mark != 0 && h->slots[i].value != value) i = (i + 1) & mask;
  return &h->slots[i];
}

static tg_status hash_new(const tg_alloc *a, unsigned bits, hash *out) {
  slot *slots = tg_zalloc(a, (size_t)1 << bits, sizeof *slots);
  if (slots == NULL) return TG_ENOMEM;
  *out = (hash){slots, 0, 0, (uint64_t)(uintptr_t)slots * UINT64_C(0xff51afd7ed558ccd), bits};
  return TG_OK;
}

/* Adds n > 0 occurrences; there is a free slot. */
static void hash_put(hash *h, int64_t value, uint64_t n) {
  slot *s = find(h, value);
  if (s->mark == 0) {
    s->value = value;
    s->mark = 1;
    h->taken++;
  }
  if (s->mark == 1) h->live++;
  s->mark += n;
}

/* Takes n occurrences back that hash_put added. */
static void hash_take(hash *h, int64_t value, uint64_t n) {
  slot *s = find(h, value);
  s->mark -= n;
  if (s->mark == 1) h->live--;
}

/* Room for one more value; on failure the table is as before. */
static tg_status hash_reserve(const tg_alloc *a, hash *h) {
  if (h->taken < (size_t)1 << (h->bits - 2)) return TG_OK;
  hash bigger;
  const unsigned bits = h->live * 8 > (size_t)1 << h->bits ? h->bits + 1 : h->bits;
  const tg_status status = hash_new(a, bits, &bigger);
  if (status != TG_OK) return status;
  for (size_t i = 0; i < (size_t)1 << h->bits; i++)
    if (h->slots[i].mark > 1) hash_put(&bigger, h->slots[i].value, h->slots[i].mark - 1);
  tg_release(a, h->slots);
  *h = bigger;
  return TG_OK;
}

/* The middle of the value's cell on the log grid: cells [m 2^s, (m+1) 2^s) with 2^bits <= m <
 * 2^(bits+1), so at most 2^-bits wide relative to any value in them; smaller values stay exact,
 * and so does INT64_MIN. Folding a folded value changes nothing. */
static int64_t fold(int64_t value, unsigned bits) {
  const uint64_t magnitude = tg_magnitude(value);
  const unsigned shift_limit = bits + 1;
  if (magnitude >> shift_limit == 0 || value == INT64_MIN) return value;
  const unsigned top = 63u - (unsigned)__builtin_clzll(magnitude), shift = top - bits;
  const uint64_t width = UINT64_C(1) << shift;
  const int64_t middle = (int64_t)((magnitude & ~(width - 1)) + ((width - 1) >> 1));
  return value < 0 ? -middle : middle;
}

/* A copy of `from` with every value folded. */
static tg_status hash_fold(const tg_alloc *a, const hash *from, unsigned fold_bits, hash *out) {
  hash h;
  tg_status status = hash_new(a, FIRST_BITS, &h);
  if (status != TG_OK) return status;
  for (size_t i = 0; i < (size_t)1 << from->bits; i++) {
    if (from->slots[i].mark <= 1) continue;
    if ((status = hash_reserve(a, &h)) != TG_OK) {
      tg_release(a, h.slots);
      return status;
    }
    hash_put(&h, fold(from->slots[i].value, fold_bits), from->slots[i].mark - 1);
  }
  *out = h;
  return TG_OK;
}

tg_status tg_counts_new(const tg_alloc *a, const tg_counts_options *options, tg_counts **out) {
  const tg_counts_options none = {0, 0, false};
  if (options == NULL) options = &none;
  if (options->fold_bits > MAX_FOLD_BITS) return TG_EINVAL;
  a = tg_alloc_or_default(a);
  tg_counts *c = tg_zalloc(a, 1, sizeof *c);
  if (c == NULL) return TG_ENOMEM;
  c->alloc = *a;
  c->max_distinct = options->max_distinct != 0 ? options->max_distinct : DEFAULT_DISTINCT;
  c->fold_bits = options->fold_bits != 0 ? options->fold_bits : DEFAULT_FOLD_BITS;
  c->refuse_fold = options->refuse_fold;
  const tg_status status = hash_new(a, FIRST_BITS, &c->table);
  if (status != TG_OK) {
    tg_release(a, c);
    return status;
  }
  *out = c;
  return TG_OK;
}

void tg_counts_free(tg_counts *c) {
  if (c == NULL) return;
  const tg_alloc a = c->alloc;
  tg_release(&a, c->table.slots);
  tg_release(&a, c->pairs);
  tg_release(&a, c);
}

/* Takes an unfinished addition back: the table before it was folded. */
typedef struct undo {
  hash exact; /* slots NULL: not folded by this addition */
  size_t at;  /* values added before that */
} undo;

/* Makes room for `value`, new to the table: folds it where the limit is reached. */
static tg_status make_room(tg_counts *c, size_t added, undo *u) {
  if (!c->folded && c->table.live >= c->max_distinct) {
    if (c->refuse_fold) return TG_ELIMIT;
    hash folded;
    const tg_status status = hash_fold(&c->alloc, &c->table, c->fold_bits, &folded);
    if (status != TG_OK) return status;
    *u = (undo){c->table, added};
    c->table = folded;
    c->folded = true;
  }
  return hash_reserve(&c->alloc, &c->table);
}

/* Counts values while they are known; the index of the first that is not. */
static size_t add_known(hash *h, const int64_t *values, size_t i, size_t n) {
  const hash local = *h;
  for (; i < n; i++) {
    slot *s = find(&local, values[i]);
    if (s->mark <= 1) break;
    s->mark++;
  }
  return i;
}

static size_t add_known_folded(hash *h, const int64_t *values, size_t i, size_t n,
                               unsigned fold_bits) {
  for (; i < n; i++) {
    slot *s = find(h, fold(values[i], fold_bits));
    if (s->mark <= 1) break;
    s->mark++;
  }
  return i;
}

/* Takes the first `n` values back. */
static void roll_back(tg_counts *c, const int64_t *values, size_t n, const undo *u) {
  if (u->exact.slots != NULL) {
    tg_release(&c->alloc, c->table.slots);
    c->table = u->exact;
    c->folded = false;
    n = u->at;
  }
  for (size_t i = 0; i < n; i++)
    hash_take(&c->table, c->folded ? fold(values[i], c->fold_bits) : values[i], 1);
}

tg_status tg_counts_add(tg_counts *c, const int64_t *values, size_t n) {
  undo u = {.at = 0};
  tg_status status = TG_OK;
  size_t i = 0;
  if (n > (uint64_t)INT64_MAX - c->total) return TG_EOVERFLOW;
  if (n == 0) return TG_OK;
  for (;;) {
    i = c->folded ? add_known_folded(&c->table, values, i, n, c->fold_bits)
                  : add_known(&c->table, values, i, n);
    if (i == n) break;
    if ((status = make_room(c, i, &u)) != TG_OK) {
      roll_back(c, values, i, &u);
      return status;
    }
    hash_put(&c->table, c->folded ? fold(values[i], c->fold_bits) : values[i], 1);
    i++;
  }
  tg_release(&c->alloc, u.exact.slots);
  c->total += n;
  c->sorted = false;
  return TG_OK;
}

tg_status tg_counts_add_n(tg_counts *c, int64_t value, uint64_t n) {
  undo u = {.at = 0};
  if (n > (uint64_t)INT64_MAX - c->total) return TG_EOVERFLOW;
  if (n == 0) return TG_OK;
  if (c->folded) value = fold(value, c->fold_bits);
  if (find(&c->table, value)->mark <= 1) {
    const tg_status status = make_room(c, 0, &u);
    if (status != TG_OK) {
      roll_back(c, NULL, 0, &u);
      return status;
    }
    if (c->folded) value = fold(value, c->fold_bits);
  }
  hash_put(&c->table, value, n);
  tg_release(&c->alloc, u.exact.slots);
  c->total += n;
  c->sorted = false;
  return TG_OK;
}

static tg_status hash_copy(const tg_alloc *a, const hash *from, hash *out) {
  const tg_status status = hash_new(a, from->bits, out);
  if (status != TG_OK) return status;
  for (size_t i = 0; i < (size_t)1 << from->bits; i++)
    if (from->slots[i].mark > 1) hash_put(out, from->slots[i].value, from->slots[i].mark - 1);
  return TG_OK;
}

/* Replaces the table by its folded form; nothing to do where it is folded already. */
static tg_status fold_now(tg_counts *c) {
  hash folded;
  if (c->folded) return TG_OK;
  if (c->refuse_fold) return TG_ELIMIT;
  const tg_status status = hash_fold(&c->alloc, &c->table, c->fold_bits, &folded);
  if (status != TG_OK) return status;
  tg_release(&c->alloc, c->table.slots);
  c->table = folded;
  c->folded = true;
  return TG_OK;
}

tg_status tg_counts_merge(tg_counts *c, const tg_counts *other) {
  if (c->max_distinct != other->max_distinct || c->fold_bits != other->fold_bits) return TG_EINVAL;
  if (other->total > (uint64_t)INT64_MAX - c->total) return TG_EOVERFLOW;
  tg_counts work = *c; /* published at the end */
  tg_status status = hash_copy(&c->alloc, &c->table, &work.table);
  if (status != TG_OK) return status;
  work.pairs = NULL;
  if (other->folded) status = fold_now(&work);
  const size_t slots = (size_t)1 << other->table.bits;
  for (size_t i = 0; i < slots && status == TG_OK; i++) {
    const slot s = other->table.slots[i];
    if (s.mark > 1) status = tg_counts_add_n(&work, s.value, s.mark - 1);
  }
  if (status != TG_OK) {
    tg_release(&c->alloc, work.table.slots);
    return status;
  }
  tg_release(&c->alloc, c->table.slots);
  c->table = work.table;
  c->total = work.total;
  c->folded = work.folded;
  c->sorted = false;
  return TG_OK;
}

#define TG_SORT_NAME sort_by_value
#define TG_SORT_ITEM tg_count
#define TG_SORT_BEFORE(a, b) ((a)->value < (b)->value)
#include "sort.h"

/* Brings `pairs` up to date. */
static tg_status sort_pairs(tg_counts *c) {
  if (c->sorted) return TG_OK;
  void *pairs = c->pairs;
  const tg_status status =
      tg_grow(&c->alloc, &pairs, &c->cap_pairs, c->table.live, sizeof *c->pairs);
  c->pairs = pairs;
  if (status != TG_OK) return status;
  size_t n = 0;
  for (size_t i = 0; i < (size_t)1 << c->table.bits; i++)
    if (c->table.slots[i].mark > 1)
      c->pairs[n++] = (tg_count){c->table.slots[i].value, c->table.slots[i].mark - 1};
  sort_by_value(c->pairs, n);
  c->sorted = true;
  return TG_OK;
}

tg_status tg_counts_pairs(tg_counts *c, const tg_count **pairs, size_t *n) {
  const tg_status status = sort_pairs(c);
  if (status != TG_OK) return status;
  *pairs = c->pairs;
  *n = c->table.live;
  return TG_OK;
}

uint64_t tg_counts_total(const tg_counts *c) { return c->total; }

bool tg_counts_folded(const tg_counts *c) { return c->folded; }

tg_status tg_counts_moments(tg_counts *c, tg_moments *out) {
  const tg_status status = sort_pairs(c);
  if (status != TG_OK) return status;
  if (c->total == 0) return TG_ENODATA;
  const size_t n = c->table.live;
  const int64_t min = c->pairs[0].value, max = c->pairs[n - 1].value;
  tg_i128 sum = 0;          /* of the values: below 2^126 */
  tg_u128 centred = 0;      /* of d = value - min: below 2^127 */
  tg_u256 squares = {0, 0}; /* of d^2: below 2^191 */
  for (size_t i = 0; i < n; i++) {
    const uint64_t d = (uint64_t)c->pairs[i].value - (uint64_t)min, times = c->pairs[i].n;
    sum += (tg_i128)c->pairs[i].value * (tg_i128)times;
    centred += (tg_u128)d * times;
    squares = tg_u256_add(squares, tg_u256_mul((tg_u128)d * d, times));
  }
  *out = (tg_moments){c->total, min, max, tg_signed_ratio(sum, c->total), NAN};
  if (c->total > 1) {
    /* (n sum d^2 - (sum d)^2) / (n (n - 1)) */
    tg_u256 scaled = tg_u256_mul(squares.lo, c->total);
    scaled.hi += squares.hi * c->total;
    out->variance = tg_ratio(tg_u256_sub(scaled, tg_u256_mul(centred, centred)),
                             (tg_u128)c->total * (c->total - 1));
  }
  return TG_OK;
}

/* The value of 0-based rank `rank` < total in sorted order. */
static int64_t value_at(const tg_counts *c, uint64_t rank) {
  size_t i = 0;
  while (rank >= c->pairs[i].n) rank -= c->pairs[i++].n;
  return c->pairs[i].value;
}

tg_status tg_counts_quantile(tg_counts *c, uint64_t num, uint64_t den, tg_quantile_method method,
                             double *out) {
  if (den == 0 || num > den) return TG_EINVAL;
  if (method != TG_QUANTILE_INVERTED_CDF && method != TG_QUANTILE_LINEAR) return TG_EINVAL;
  const tg_status status = sort_pairs(c);
  if (status != TG_OK) return status;
  if (c->total == 0) return TG_ENODATA;
  if (method == TG_QUANTILE_INVERTED_CDF) {
    const tg_u128 place = (tg_u128)c->total * num; /* rank ceil(n p), counted from 1 */
    const uint64_t rank = (uint64_t)(place / den) + (place % den != 0 ? 1 : 0);
    *out = (double)value_at(c, rank > 0 ? rank - 1 : 0);
    return TG_OK;
  }
  const tg_u128 place = (tg_u128)(c->total - 1) * num;
  const uint64_t rank = (uint64_t)(place / den), rest = (uint64_t)(place % den);
  const int64_t low = value_at(c, rank);
  const int64_t high = rest != 0 ? value_at(c, rank + 1) : low;
  /* (low den + (high - low) rest) / den; parts may wrap, the sum lies between low den and
   * high den, and fits */
  const tg_u128 step = (tg_u128)((uint64_t)high - (uint64_t)low) * rest;
  const tg_u128 scaled = (tg_u128)((tg_i128)low * (tg_i128)den) + step;
  *out = tg_signed_ratio((tg_i128)scaled, den);
  return TG_OK;
}

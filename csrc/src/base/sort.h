/* sort.h - one sort for arrays of any item; included once for each kind of array.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 *   #define TG_SORT_NAME sort_ends
 *   #define TG_SORT_ITEM end
 *   #define TG_SORT_BEFORE(a, b) ((a)->ticks < (b)->ticks)
 *   #include "base/sort.h"
 *
 * gives `static void sort_ends(end *v, size_t n)`. TG_SORT_BEFORE gets two `const` pointers to
 * items and is a strict weak order. Takes O(n log n) steps at worst, n - 1 where the array is in
 * order, and no memory beside the stack (quick sort, insertion for short parts, heap sort where the
 * pivots are bad). Items of equal rank may change places: where their order matters, TG_SORT_BEFORE
 * has to decide it. */
#ifndef TG_SORT_PASTE
#include <stddef.h>
#define TG_SORT_PASTE2(a, b) a##b
#define TG_SORT_PASTE(a, b) TG_SORT_PASTE2(a, b)
enum { TG_SORT_SHORT = 24 }; /* up to so many items insertion is fastest */
#endif

#define TG_SORT_PART(name) TG_SORT_PASTE(TG_SORT_NAME, name)

static inline void TG_SORT_PART(_swap)(TG_SORT_ITEM *a, TG_SORT_ITEM *b) {
  const TG_SORT_ITEM held = *a;
  *a = *b;
  *b = held;
}

static inline void TG_SORT_PART(_insert)(TG_SORT_ITEM *v, size_t n) {
  for (size_t i = 1; i < n; i++) {
    const TG_SORT_ITEM held = v[i];
    size_t at = i;
    for (; at > 0 && TG_SORT_BEFORE(&held, &v[at - 1]); at--) v[at] = v[at - 1];
    v[at] = held;
  }
}

static inline void TG_SORT_PART(_sift)(TG_SORT_ITEM *v, size_t root, size_t n) {
  const TG_SORT_ITEM held = v[root];
  for (size_t child = 2 * root + 1; child < n; child = 2 * root + 1) {
    if (child + 1 < n && TG_SORT_BEFORE(&v[child], &v[child + 1])) child++;
    if (!(TG_SORT_BEFORE(&held, &v[child]))) break;
    v[root] = v[child];
    root = child;
  }
  v[root] = held;
}

static inline void TG_SORT_PART(_heap)(TG_SORT_ITEM *v, size_t n) {
  for (size_t i = n / 2; i > 0; i--) TG_SORT_PART(_sift)(v, i - 1, n);
  for (size_t end = n; end > 1; end--) {
    TG_SORT_PART(_swap)(&v[0], &v[end - 1]);
    TG_SORT_PART(_sift)(v, 0, end - 1);
  }
}

/* Splits n > 2 items around the median of three; both parts have items, and none of the first, of
 * which it returns the number, comes after one of the second. */
static inline size_t TG_SORT_PART(_split)(TG_SORT_ITEM *v, size_t n) {
  const size_t mid = (n - 1) / 2;
  size_t low = 0, high = n - 1;
  if (TG_SORT_BEFORE(&v[mid], &v[low])) TG_SORT_PART(_swap)(&v[mid], &v[low]);
  if (TG_SORT_BEFORE(&v[high], &v[mid])) TG_SORT_PART(_swap)(&v[high], &v[mid]);
  if (TG_SORT_BEFORE(&v[mid], &v[low])) TG_SORT_PART(_swap)(&v[mid], &v[low]);
  const TG_SORT_ITEM pivot = v[mid];
  for (;; low++, high--) {
    while (TG_SORT_BEFORE(&v[low], &pivot)) low++;
    while (TG_SORT_BEFORE(&pivot, &v[high])) high--;
    if (low >= high) return high + 1;
    TG_SORT_PART(_swap)(&v[low], &v[high]);
  }
}

static inline void TG_SORT_NAME(TG_SORT_ITEM *v, size_t n) {
  struct {
    TG_SORT_ITEM *v;
    size_t n;
    unsigned depth;
  } later[sizeof(size_t) * 8]; /* the longer half waits here, so each is at most half of the last */
  size_t n_later = 0, sorted = 1;
  unsigned depth = 0; /* splits until a part counts as badly split */
  while (sorted < n && !(TG_SORT_BEFORE(&v[sorted], &v[sorted - 1]))) sorted++;
  if (sorted >= n) return;
  for (size_t i = n; i > 1; i /= 2) depth += 2;
  for (;;) {
    while (n > TG_SORT_SHORT && depth > 0) {
      const size_t first = TG_SORT_PART(_split)(v, n), second = n - first;
      depth--;
      later[n_later].v = first < second ? v + first : v;
      later[n_later].n = first < second ? second : first;
      later[n_later++].depth = depth;
      v = first < second ? v : v + first;
      n = first < second ? first : second;
    }
    if (n > TG_SORT_SHORT) {
      TG_SORT_PART(_heap)(v, n);
    } else {
      TG_SORT_PART(_insert)(v, n);
    }
    if (n_later == 0) return;
    v = later[--n_later].v;
    n = later[n_later].n;
    depth = later[n_later].depth;
  }
}

#undef TG_SORT_PART
#undef TG_SORT_NAME
#undef TG_SORT_ITEM
#undef TG_SORT_BEFORE

/* hits.c - a list of hits, and counting bytes. SPDX-License-Identifier: BSD-3-Clause */
#include "scanner.h"

#include "base/mem.h"

tg_status tg_hits_push(tg_hits *h, size_t at, size_t needle, size_t lines) {
  if (h->n == h->cap) {
    tg_status status = tg_reserve(&h->alloc, &h->v, &h->cap, h->n + 1, sizeof *h->v);
    if (status != TG_OK) return status;
  }
  size_t i = h->n++;
  for (; i > 0; i--) {
    const tg_hit *before = &h->v[i - 1];
    if (before->at < at || (before->at == at && before->needle <= needle)) break;
    h->v[i] = *before;
  }
  h->v[i] = (tg_hit){at, needle, lines};
  return TG_OK;
}

size_t tg_count_byte(const uint8_t *p, size_t n, uint8_t c) {
  size_t total = 0;
  while (n > 0) {
    size_t part = n < 255 ? n : 255;
    uint8_t sum = 0; /* at most 255, so that a compiler can add bytes in vectors */
    for (size_t i = 0; i < part; i++) sum = (uint8_t)(sum + (p[i] == c));
    total += sum;
    p += part;
    n -= part;
  }
  return total;
}

/* tail.h - is the upper part of the new boots slower than their middle says?
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TICKGAUGE_TAIL_H
#define TICKGAUGE_TAIL_H

#include "stats.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One direction of a tail test. `p` is exact and one-sided, 1 where nothing can be tested.
 * `old_above` and `new_above` count the boots above `above`, which is a value of a boot. */
typedef struct tg_tail_side {
  double p;
  int64_t above;
  size_t old_above, new_above;
} tg_tail_side;

typedef struct tg_tail {
  tg_tail_side slower, faster; /* the new boots have the longer tail, the shorter one */
  bool modes;                  /* the pooled values fall into two modes: Fisher's exact test */
  bool mixed;                  /* two modes, and the gap does not simply part old from new */
} tg_tail;

/* Tests the tails of `x` (old) and `y` (new), one value per boot, both ascending. The test is
 * chosen from the pooled values, not from which boot is whose:
 *
 * - two modes: the largest ratio of neighbours with two values or more on each side of it exceeds
 *   1 + margin and the spread of either part, and its gap `absolute` and three steps. Fisher's
 *   exact test of the boots above the gap.
 * - otherwise the path test: old values times 1 + margin, and moved by `absolute` at least; k from
 *   2 to min(N / 2, 200) largest of the pooled values, H_k new ones among them. T is the smallest
 *   hypergeometric P(H >= H_k); p the share of all orders of labels whose own T is as small,
 *   counted exactly.
 *
 * With a value of 0 or below old values are moved by `absolute` only, and modes are not looked for.
 * `step` is the resolution. TG_OK, TG_ENODATA (a side has fewer than two values), TG_EINVAL (margin
 * or absolute is negative), TG_EOVERFLOW. */
TG_API tg_status tg_tail_test(const int64_t *x, size_t m, const int64_t *y, size_t n,
                              double margin, double absolute, uint64_t step, tg_tail *out);

#ifdef __cplusplus
}
#endif
#endif

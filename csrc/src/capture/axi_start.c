/* axi_start.c - how many transactions were open when a segment of a capture began.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Each queue answers commands in order, so one number tells which answer belongs to which command:
 * the answers that still belong to commands from before. A number is contradicted where data comes
 * before its command or where a burst's length is not the command's. Several may be left. One is
 * taken as known for one of these reasons, in this order:
 *   reset     nothing is open behind it;
 *   told      the caller knows that nothing is open at the first sample;
 *   counters  System ILA counts the open ones;
 *   lengths   no other number of 0 to MOST_OPEN agrees, or the lengths of a row of bursts agree
 *             with it by more than BITS_ENOUGH and with no other by more than BITS_RIVAL;
 *   idle      with it nothing is open while the whole interface is silent for longer than any
 *             memory takes, or SILENCE_FACTOR times as long as ever with a transaction open, were
 *             one more open as well;
 *   start     nothing contradicts an empty start, and a master that waits for each answer evidently
 *             made this: its first command came far later than one more open would have let it, or
 *             answers follow their commands whatever the pause before.
 * A simulation that begins at its time 0 begins with nothing more often than not: less is asked of
 * it for "idle" and "start" (is_likely_...), a silent begin, lengths that agree or answers of which
 * nothing is known yet are enough.
 * Otherwise the smallest number is used, and all that follows from it is a lower bound. */
#include <math.h>

#include "base/mem.h"
#include "capture/axi_scout.h"

#define MOST_OPEN 64
#define MOST_EARLY 16 /* writes whose data came before the segment */
#define BITS_ENOUGH 20.0
#define BITS_RIVAL 10.0
#define BITS_MISMATCH 12.0 /* that a length is wrong by an error of the design */
#define BITS_QUIET 20.0    /* that an interface which begins silent begins empty */
#define SILENCE_FACTOR 4
#define SILENCE_FEW 6 /* the same where fewer answers than FEW_ANSWERS were seen */
#define SILENCE_INSIDE 64 /* and where the segment begins with some open */
#define SILENCE_LONG 512 /* clocks in which any memory answers */
#define FEW_PAUSES 6
#define ODDS_ENOUGH 1e-4
#define FEW_ANSWERS 8
#define SILENCE_LEAST 16
#define BITS_PART 6.0
#define MOST_PAUSES 64
#define MANY_EVENTS 16
#define THINKING 4 /* clocks that a master which keeps a number open seldom waits */
#define STEADY_WAITS 12 /* commands */
#define LENGTHS 257

/* How often each length is asked for, as bits that an agreement by chance is worth. */
typedef struct lengths {
  double bits[LENGTHS];
} lengths;

/* How well a number of open ones agrees. */
typedef struct fit {
  double bits;
  uint64_t wrong;
} fit;

static void weigh(const axi_scout *s, enum scout_set set, lengths *out) {
  uint64_t count[LENGTHS] = {0}, all = 0;
  for (size_t i = 0; i < s->n_used[set]; i++) {
    const scout_queue *q = &s->queue[set][s->used[set][i]];
    for (size_t k = 0; k < q->n_command; k++)
      if (q->command[k].beats > 0 && q->command[k].beats < LENGTHS) {
        count[q->command[k].beats]++;
        all++;
      }
  }
  for (size_t i = 0; i < LENGTHS; i++)
    out->bits[i] = count[i] > 0 ? log2((double)all / (double)count[i]) : 0.0;
}

/* The fewest commands from before: answer j needs j + 1 commands before it. A write's response
 * needs the last of its data, too, where that is known. */
static int64_t fewest(const scout_queue *q) {
  int64_t least = 0;
  size_t ready = 0;
  for (size_t j = 0; j < q->n_burst; j++) {
    while (ready < q->n_command && q->command[ready].accept < q->burst[j].valid &&
           (q->command[ready].data_end == UINT64_MAX ||
            q->command[ready].data_end < q->burst[j].valid))
      ready++;
    const int64_t need = (int64_t)(j + 1) - (int64_t)ready;
    if (need > least) least = need;
  }
  return least;
}

/* The lengths under `open`. The first burst of a segment may have begun before it. */
static fit agree(const scout_queue *q, int64_t open, const lengths *worth) {
  fit out = {0.0, 0};
  const size_t from = open > 0 ? (size_t)open : 0;
  for (size_t j = from; j < q->n_burst; j++) {
    const size_t c = (size_t)((int64_t)j - open);
    if (c >= q->n_command) break;
    const uint64_t beats = q->burst[j].beats, asked = q->command[c].beats;
    if (asked == 0 || asked >= LENGTHS) continue;
    const bool torn = open < 0 && j == 0;
    if (!q->burst[j].ended || torn) {
      out.wrong += q->burst[j].ended ? beats > asked : beats >= asked;
    } else if (beats == asked) {
      out.bits += worth->bits[asked];
    } else {
      out.wrong++;
    }
  }
  return out;
}

/* Chooses the number that agrees best, and says whether no other is left. */
static void choose(scout_queue *q, int64_t low, bool quiet, const lengths *worth) {
  double best = -INFINITY, best_bits = 0.0;
  int64_t taken = low, rivals = 0, left = 0;
  for (int64_t n = low; n <= (low > 0 ? low : 0) + MOST_OPEN; n++) {
    const fit f = agree(q, n, worth);
    const double score = f.bits - BITS_MISMATCH * (double)f.wrong +
                         (n == 0 && quiet ? BITS_QUIET : 0.0) -
                         (n < 0 ? 0.02 : 0.01) * fabs((double)n); /* of equals the nearest to 0 */
    left += f.wrong == 0 && n >= 0;
    if (score > best) {
      best = score;
      best_bits = f.wrong == 0 ? f.bits : 0.0;
      taken = n;
    }
  }
  for (int64_t n = low; n <= (low > 0 ? low : 0) + MOST_OPEN; n++) {
    const fit f = agree(q, n, worth);
    rivals += n != taken && f.wrong == 0 && f.bits >= BITS_RIVAL;
  }
  q->open = taken;
  if (rivals == 0 && (best_bits >= BITS_ENOUGH || (left == 1 && best_bits > 0.0 && taken >= 0)))
    q->basis = BASIS_LENGTHS;
}

/* The ends of the writes' data as the number of open ones says. */
static void tell_data_ends(axi_scout *s) {
  for (size_t i = 0; i < s->n_used[SET_W]; i++) {
    scout_queue *q = &s->queue[SET_W][s->used[SET_W][i]];
    for (size_t c = 0; c < q->n_command; c++) {
      const int64_t j = (int64_t)c + q->open;
      const bool there = j >= 0 && (size_t)j < q->n_burst && q->burst[j].ended;
      q->command[c].data_end = there && q->basis != BASIS_NONE ? q->burst[j].last : UINT64_MAX;
    }
  }
}

/* Hands them to the commands of the responses' queues, which are the same in another order. */
static void hand_over(axi_scout *s, bool one_queue) {
  for (size_t i = 0; i < s->n_used[SET_B]; i++) {
    scout_queue *q = &s->queue[SET_B][s->used[SET_B][i]];
    const scout_queue *w =
        one_queue ? s->queue[SET_W]
                  : s->used[SET_B][i] < s->n_queue[SET_W] ? &s->queue[SET_W][s->used[SET_B][i]]
                                                          : NULL;
    for (size_t c = 0; c < q->n_command && w != NULL; c++)
      if (q->order[c] < w->n_command) q->command[c].data_end = w->command[q->order[c]].data_end;
  }
}

static void prove(axi_scout *s, unsigned d, enum axi_basis basis) {
  for (unsigned set = d == 0 ? SET_R : SET_W; set <= (d == 0 ? SET_R : SET_B); set++)
    for (size_t i = 0; i < s->n_used[set]; i++) {
      scout_queue *q = &s->queue[set][s->used[set][i]];
      if (q->basis == BASIS_NONE) q->basis = (uint8_t)basis;
    }
}

static int64_t open_in_all(const axi_scout *s, enum scout_set set) {
  int64_t all = 0;
  for (size_t i = 0; i < s->n_used[set]; i++) all += s->queue[set][s->used[set][i]].open;
  return all;
}

/* ---- pauses -----------------------------------------------------------------------------------
 */

typedef struct pauses {
  uint64_t silence;    /* longest run without progress while something is open */
  uint64_t first;      /* clocks before the first command */
  uint64_t idle;       /* longest run empty, and the whole interface silent */
  uint64_t low, high;  /* of the empty runs between a last answer and the next command */
  uint64_t soon, late; /* from a command into emptiness to its first answer */
  size_t n;            /* of these commands */
  size_t answers;      /* of all */
  int64_t before;      /* open at the start */
  int64_t depth;       /* most open at once */
  size_t kept;
  uint64_t pause[MOST_PAUSES], service[MOST_PAUSES]; /* empty, and until the first answer behind */
} pauses;

/* Clocks of [from, to) in which the interface is silent, at one stretch; `*at` moves on. */
static uint64_t quiet_in(const axi_scout *s, uint64_t from, uint64_t to, size_t *at) {
  uint64_t most = 0;
  while (*at < s->n_quiet && s->quiet[*at].to <= from) ++*at;
  for (size_t i = *at; i < s->n_quiet && s->quiet[i].from < to; i++) {
    const uint64_t a = s->quiet[i].from > from ? s->quiet[i].from : from;
    const uint64_t b = s->quiet[i].to < to ? s->quiet[i].to : to;
    if (b > a && b - a > most) most = b - a;
  }
  return most;
}

static void widen(uint64_t v, uint64_t *low, uint64_t *high) {
  if (v < *low) *low = v;
  if (v > *high) *high = v;
}

/* Walks the events of a direction with the numbers that are taken as open. */
static void measure(const axi_scout *s, unsigned d, uint64_t end, pauses *out) {
  const scout_event none = {.sample = end, .since = end};
  int64_t open = open_in_all(s, d == 0 ? SET_R : SET_B);
  uint64_t from = s->begin, accept = UINT64_MAX, empty = 0;
  size_t at = 0;
  bool begun = false;
  *out = (pauses){.low = UINT64_MAX, .soon = UINT64_MAX, .before = open, .depth = open};
  for (size_t i = 0; i <= s->n_event[d]; i++) {
    const bool last = i == s->n_event[d];
    const scout_event *e = last ? &none : &s->event[d][i];
    /* the first answer: write data is the master's own, only a response is one */
    if (accept != UINT64_MAX && e->change <= (d == 0 ? 0 : -1) && !last) {
      widen(e->sample - accept, &out->soon, &out->late);
      out->n++;
      if (empty != UINT64_MAX && out->kept < MOST_PAUSES) {
        out->pause[out->kept] = empty;
        out->service[out->kept++] = empty + e->sample - accept;
      }
      accept = UINT64_MAX;
    }
    if (open <= 0) {
      const uint64_t quiet = quiet_in(s, from, e->since, &at);
      if (quiet > out->idle) out->idle = quiet;
      if (!begun) empty = e->since > from ? e->since - from : 0;
      if (i == 0) out->first = empty;
      if (i > 0 && !begun && !last) widen(empty, &out->low, &out->high);
      if (e->change > 0) accept = e->sample;
      if (i == 0) empty = UINT64_MAX; /* the cut has shortened it */
      begun = e->change <= 0;         /* write data that leads its command ends the pause */
    } else if (e->gap > out->silence && !last) {
      out->silence = e->gap;
    }
    out->answers += e->change < 0;
    open += e->change;
    if (open > out->depth) out->depth = open;
    from = e->sample + 1;
  }
}

/* Were one more open all the time, answers would come whether a new command is there or not: the
 * odds that each new command came before the next answer all the same. */
static double odds_of_one_more(const pauses *p) {
  double odds = 1.0;
  for (size_t i = 0; i < p->kept; i++) {
    size_t longer = 0;
    for (size_t k = 0; k < p->kept; k++) longer += p->service[k] > p->pause[i];
    odds *= (double)longer / (double)p->kept;
  }
  return odds;
}

/* The longest time that one more open transaction would have waited for its answer, but for the one
 * that waited through the longest silence. */
static uint64_t longest_cycle(const pauses *p) {
  size_t longest = SIZE_MAX;
  uint64_t most = 0;
  for (size_t i = 0; i < p->kept; i++)
    if (p->pause[i] >= p->idle && (longest == SIZE_MAX || p->pause[i] > p->pause[longest]))
      longest = i;
  for (size_t i = 0; i < p->kept; i++)
    if (i != longest && p->service[i] > most) most = p->service[i];
  return most;
}

/* One at a time, and commands and answers that only a master which waits for each answer makes: it
 * began later than one more open transaction would have let it, or answers that follow their
 * commands whatever the pause. */
static bool is_one_by_one(const pauses *p) {
  if (p->depth > 1 || p->kept < FEW_PAUSES) return false;
  const uint64_t cycle = longest_cycle(p);
  return p->first >= SILENCE_LEAST && p->first / 2 > cycle ? true
                                                           : odds_of_one_more(p) < ODDS_ENOUGH;
}

/* The same of a simulation from its time 0 on, which mostly begins with nothing. */
static bool is_likely_one_by_one(const pauses *p) {
  const bool prompt = p->low >= THINKING && p->late <= p->low / 2;
  if (p->depth > 1 || p->n < 3 || p->low > p->high) return false;
  if (prompt) return true;
  const bool steady = p->late - p->soon <= 1;
  if (p->n >= FEW_PAUSES && p->first > p->high) return true; /* it began later */
  return steady && p->high >= THINKING && (p->first >= THINKING || p->high - p->low >= THINKING);
}

/* Silent, with nothing open, for longer than an answer has ever taken, were one more open as
 * well. */
static bool is_idle(const pauses *p) {
  const uint64_t cycle = longest_cycle(p);
  if (p->before > 0 && p->idle / SILENCE_INSIDE <= p->silence) return false;
  if (p->idle >= SILENCE_LONG && p->idle / SILENCE_INSIDE * 4 > p->silence) return true;
  return p->kept >= FEW_PAUSES && p->idle >= SILENCE_LEAST &&
         p->idle / SILENCE_FACTOR > (p->silence > cycle ? p->silence : cycle);
}

/* The same of a simulation from its time 0 on, or of a few reads and writes in a long silence. */
static bool is_likely_idle(const pauses *p, const pauses *other) {
  const bool few = p->answers < FEW_ANSWERS;
  if (p->before > 0 || (few && (p->first < THINKING || other->answers == 0))) return false;
  return p->idle >= SILENCE_LEAST && p->idle / (few ? SILENCE_FEW : SILENCE_FACTOR) > p->silence;
}

/* Do all commands of a direction wait for READY equally long, the one at the first sample as well?
 * It would have waited longer than the others had it been there before. */
static bool waits_steadily(const axi_scout *s, unsigned d) {
  const enum scout_set set = d == 0 ? SET_R : SET_B;
  uint64_t low = UINT64_MAX, high = 0;
  size_t n = 0;
  for (size_t i = 0; i < s->n_used[set]; i++) {
    const scout_queue *q = &s->queue[set][s->used[set][i]];
    for (size_t c = 0; c < q->n_command; c++, n++)
      widen(q->command[c].accept - q->command[c].valid, &low, &high);
  }
  return n >= STEADY_WAITS && low == high;
}

/* Does nothing of a direction contradict that it begins with nothing open? */
static bool empty_start_agrees(const axi_scout *s, unsigned d) {
  for (unsigned set = d == 0 ? SET_R : SET_W; set <= (d == 0 ? SET_R : SET_B); set++)
    for (size_t i = 0; i < s->n_used[set]; i++)
      if (s->queue[set][s->used[set][i]].open != 0) return false;
  return !s->busy_at_begin[d];
}

/* Does the segment begin with a silence of the whole interface twice as long as any later one? */
static bool begins_silent(const axi_scout *s) {
  if (s->n_event[0] + s->n_event[1] < MANY_EVENTS || s->n_quiet == 0) return false;
  const uint64_t first = s->quiet[0].to - s->quiet[0].from;
  if (s->quiet[0].from != s->begin || first < THINKING) return false;
  for (size_t i = 1; i < s->n_quiet; i++)
    if (2 * (s->quiet[i].to - s->quiet[i].from) > first) return false;
  return true;
}

/* Bits by which the lengths of a direction agree with an empty start. */
static double bits_of(const axi_scout *s, enum scout_set set, const lengths *worth) {
  double bits = 0.0;
  for (size_t i = 0; i < s->n_used[set]; i++)
    bits += agree(&s->queue[set][s->used[set][i]], 0, worth).bits;
  return bits;
}

/* Was a command that is up at the first sample not asked for before? Where commands wait steadily,
 * and where a simulation whose lengths all agree begins with a write and its data. */
static bool is_fresh(const axi_scout *s, unsigned d, bool lengths_agree) {
  return waits_steadily(s, d) || (d == 1 && lengths_agree && s->data_at_begin);
}

static void judge_pauses(axi_scout *s, uint64_t end, const lengths *worth, pauses *p) {
  const double bits[2] = {bits_of(s, SET_R, &worth[0]), bits_of(s, SET_W, &worth[1])};
  const bool empty[2] = {empty_start_agrees(s, 0), empty_start_agrees(s, 1)};
  const bool likely = s->from_zero && empty[0] && empty[1];
  const bool lengths_agree = likely && bits[0] + bits[1] >= BITS_ENOUGH && bits[0] >= BITS_PART &&
                             bits[1] >= BITS_PART;
  const bool whole = lengths_agree || (likely && (s->powers_up || begins_silent(s)));
  for (unsigned d = 0; d < 2; d++) measure(s, d, end, &p[d]);
  for (unsigned d = 0; d < 2; d++) {
    if (is_idle(&p[d]) || (s->from_zero && is_likely_idle(&p[d], &p[1 - d])))
      prove(s, d, BASIS_IDLE);
    else if (empty[d] && (whole || is_one_by_one(&p[d]) ||
                          (likely && is_likely_one_by_one(&p[d])) ||
                          (likely && d == 0 && bits[d] >= BITS_ENOUGH)))
      prove(s, d, BASIS_START);
    s->fresh[d] = is_fresh(s, d, lengths_agree);
  }
}

/* ---- all ------------------------------------------------------------------------------------- */

/* The number that System ILA counts, where each queue's is then known. */
static void take_counters(axi_scout *s, unsigned d) {
  const enum scout_set set = d == 0 ? SET_R : SET_B;
  if (s->counter[d] < 0) return;
  if (s->n_used[set] == 1) {
    scout_queue *q = &s->queue[set][s->used[set][0]];
    if (s->counter[d] < q->least) return; /* it has overflowed */
    q->open = s->counter[d];
  } else if (open_in_all(s, set) != s->counter[d]) {
    return;
  }
  prove(s, d, BASIS_COUNTERS);
}

static tg_status decide_set(axi_scout *s, enum scout_set set, bool quiet, const lengths *worth,
                            const tg_stop *stop) {
  for (size_t i = 0; i < s->n_used[set]; i++) {
    scout_queue *q = &s->queue[set][s->used[set][i]];
    if (tg_stop_at(stop, i, q->n_burst)) return TG_EINTERRUPTED;
    q->basis = s->given;
    q->least = set == SET_W ? 0 : fewest(q);
    if (set == SET_B && s->n_used[set] == 1) { /* data still to come has a response to come */
      const int64_t data = open_in_all(s, SET_W);
      if (data > q->least) q->least = data;
    }
    q->open = s->given != BASIS_NONE ? 0 : q->least;
    if (s->given != BASIS_NONE || set == SET_B || !s->has_last[set]) continue;
    choose(q, set == SET_W ? -MOST_EARLY : q->least, quiet, worth);
  }
  return TG_OK;
}

tg_status tg_scout_decide(axi_scout *s, uint64_t end, const tg_stop *stop) {
  lengths *worth = tg_zalloc(&s->a, 2, sizeof *worth);
  pauses *p = tg_zalloc(&s->a, 2, sizeof *p); /* reads, writes */
  const bool quiet = s->n_quiet > 0 && s->quiet[0].from == s->begin &&
                     s->quiet[0].to - s->quiet[0].from >= THINKING;
  tg_status status = TG_OK;
  if (worth == NULL || p == NULL) {
    status = TG_ENOMEM;
    goto done;
  }
  weigh(s, SET_R, &worth[0]);
  weigh(s, SET_W, &worth[1]);
  status = decide_set(s, SET_R, quiet, &worth[0], stop);
  if (status == TG_OK) status = decide_set(s, SET_W, quiet, &worth[1], stop);
  tell_data_ends(s);
  hand_over(s, !s->writes_by_id);
  if (status == TG_OK) status = decide_set(s, SET_B, quiet, NULL, stop);
  take_counters(s, 0);
  take_counters(s, 1);
  if (status == TG_OK) judge_pauses(s, end, worth, p);
done:
  tg_release(&s->a, worth);
  tg_release(&s->a, p);
  return status;
}

/* optee_gather.c - the OP-TEE lines of all sources, checked and in time order.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "optee_gather.h"

#include <string.h>

#include "boots.h"
#include "reducer.h"

/* The rules in the order of optee.c; anything else is K_NONE. */
typedef enum line_kind {
  K_FREQUENCY,
  K_OPEN,
  K_INVOKE,
  K_SYSCALL,
  K_DRIVER_DO,
  K_DRIVER_FINISH,
  K_CORE_RECEIVE,
  K_CORE_FINISH,
  K_COUNT
} line_kind;

static const char *const rule_names[K_COUNT] = {
    "optee.frequency", "optee.open",          "optee.invoke",       "optee.syscall",
    "optee.driver_do", "optee.driver_finish", "optee.core_receive", "optee.core_finish",
};

/* Where the record at hand stands. */
typedef struct place {
  const tg_table *t;
  size_t row;
  uint64_t line, offset;
  uint32_t source, boot, run;
  uint32_t flags; /* TG_FLAG_* */
  uint64_t tee;   /* added to stamps of the secure world, modulo 2^64 */
} place;

static uint64_t field(const place *p, size_t f) {
  uint64_t v = 0;
  (void)tg_table_u64(p->t, p->row, TG_REC_FIELD + f, &v);
  return v;
}

static tg_status add_smc(const tg_alloc *a, const place *p, line_kind kind, bool gap,
                         tg_optee_lines *l) {
  bool core = kind >= K_CORE_RECEIVE;
  tg_smc **lines = core ? &l->core : &l->driver;
  size_t *n = core ? &l->n_core : &l->n_driver;
  if (*n == UINT32_MAX) return TG_EOVERFLOW;
  tg_status status =
      tg_reserve(a, lines, core ? &l->core_cap : &l->driver_cap, *n + 1, sizeof **lines);
  if (status != TG_OK) return status;
  tg_smc *s = &(*lines)[(*n)++];
  memset(s, 0, sizeof *s);
  s->at.ticks = field(p, 1) + (core ? p->tee : 0);
  s->at.line = p->line;
  s->at.offset = p->offset;
  s->at.source = p->source;
  s->at.boot = p->boot;
  s->cmd = field(p, 0);
  s->opens = kind == K_DRIVER_DO || kind == K_CORE_RECEIVE;
  s->repaired = (p->flags & TG_FLAG_REPAIRED) != 0;
  s->gap = gap;
  return TG_OK;
}

static tg_status add_client(const tg_alloc *a, const place *p, line_kind kind, tg_optee_lines *l) {
  tg_status status =
      tg_reserve(a, &l->clients, &l->clients_cap, l->n_clients + 1, sizeof *l->clients);
  if (status != TG_OK) return status;
  tg_client *c = &l->clients[l->n_clients++];
  memset(c, 0, sizeof *c);
  c->start = field(p, 0);
  c->enter = field(p, 1) + p->tee;
  c->finish = field(p, 2);
  c->cmd = kind == K_OPEN ? 0 : 1;
  c->line = p->line;
  c->offset = p->offset;
  c->source = p->source;
  c->boot = p->boot;
  c->run = p->run;
  c->flags = (p->flags & TG_FLAG_REPAIRED) != 0 ? TG_CALL_REPAIRED : 0;
  c->have_enter = c->have_finish = true;
  return TG_OK;
}

static tg_status add_syscall(const tg_alloc *a, const place *p, tg_optee_lines *l) {
  tg_status status =
      tg_reserve(a, &l->syscalls, &l->syscalls_cap, l->n_syscalls + 1, sizeof *l->syscalls);
  if (status != TG_OK) return status;
  tg_syscall *s = &l->syscalls[l->n_syscalls++];
  memset(s, 0, sizeof *s);
  s->start = field(p, 0) + p->tee;
  s->enter = field(p, 1) + p->tee;
  s->finish = field(p, 2) + p->tee;
  s->line = p->line;
  s->offset = p->offset;
  s->source = p->source;
  s->boot = p->boot;
  s->run = p->run;
  s->call = TG_NONE;
  s->flags = (p->flags & TG_FLAG_REPAIRED) != 0 ? TG_CALL_REPAIRED : 0;
  if (s->enter < s->start || s->finish < s->enter || s->finish - s->start > INT64_MAX)
    s->flags |= TG_CALL_IMPOSSIBLE;
  s->state = TG_JOIN_UNCLAIMED;
  return TG_OK;
}

/* --- torn lines ------------------------------------------------------------------------------ */

enum { P_DRIVER = 1, P_CORE = 2 }; /* printers */

/* The lines of a source that should have been a stamp and are a problem. */
typedef struct torn_lines {
  const tg_table *t;
  size_t row;
  unsigned pending; /* printers whose line was torn since their last whole one */
} torn_lines;

static bool holds_text(tg_str s, const char *word) {
  const size_t n = strlen(word);
  for (size_t i = 0; i + n <= s.n; i++)
    if (memcmp(s.p + i, word, n) == 0) return true;
  return false;
}

/* Whose line the problem is; both printers' where it does not tell. */
static unsigned torn_printer(const tg_table *t, size_t row) {
  tg_str rule = {NULL, 0};
  tg_str text = {NULL, 0};
  if (!tg_table_text(t, row, TG_PROBLEM_RULE, &rule)) return 0;
  if (!holds_text(rule, "optee.driver") && !holds_text(rule, "optee.core")) return 0;
  (void)tg_table_text(t, row, TG_PROBLEM_EXCERPT, &text);
  const bool driver = holds_text(text, "TEEDriver") || holds_text(text, "do smc");
  const bool core = holds_text(text, "TEECore") || holds_text(text, "receiving smc");
  return driver == core ? P_DRIVER | P_CORE : driver ? P_DRIVER : P_CORE;
}

/* True if a line of that printer was torn between its last whole line and this one. */
static bool torn_before(torn_lines *torn, uint64_t offset, unsigned printer) {
  uint64_t at = 0;
  for (; torn->row < tg_table_rows(torn->t); torn->row++) {
    if (tg_table_u64(torn->t, torn->row, TG_PROBLEM_OFFSET, &at) && at >= offset) break;
    torn->pending |= torn_printer(torn->t, torn->row);
  }
  const bool gap = (torn->pending & printer) != 0;
  torn->pending &= ~printer;
  return gap;
}

/* Room for all lines of the sources at once: they are counted, and large arrays that grow are
 * copied. */
static tg_status make_room(const tg_reduce_in *in, tg_optee_lines *l) {
  size_t n[K_COUNT] = {0};
  for (size_t s = 0; s < in->n_sources; s++)
    for (size_t kind = 0; kind < K_COUNT; kind++) {
      const tg_table *t = tg_rule_table(in->sources[s], rule_names[kind]);
      if (t != NULL) n[kind] += tg_table_rows(t);
    }
  TG_TRY(tg_reserve(in->alloc, &l->driver, &l->driver_cap, n[K_DRIVER_DO] + n[K_DRIVER_FINISH],
                    sizeof *l->driver));
  TG_TRY(tg_reserve(in->alloc, &l->core, &l->core_cap, n[K_CORE_RECEIVE] + n[K_CORE_FINISH],
                    sizeof *l->core));
  TG_TRY(tg_reserve(in->alloc, &l->syscalls, &l->syscalls_cap, n[K_SYSCALL],
                    sizeof *l->syscalls));
  return tg_reserve(in->alloc, &l->clients, &l->clients_cap, n[K_OPEN] + n[K_INVOKE],
                    sizeof *l->clients);
}

/* Takes up the records of one source. */
static tg_status gather_source(const tg_reduce_in *in, const tg_result *out, uint32_t source,
                               tg_optee_lines *l) {
  const tg_records *records = in->sources[source];
  size_t rules[K_COUNT];
  place p = {.source = source, .boot = TG_NONE, .run = TG_NONE};
  tg_boot_memo near = {0};
  torn_lines torn = {.t = tg_records_problems(records)};
  if (in->options->have_tee_offset) p.tee = (uint64_t)in->options->tee_offset;
  tg_rule_numbers(records, rule_names, K_COUNT, rules);
  tg_status status = TG_OK;
  for (size_t i = 0; i < tg_records_count(records) && status == TG_OK; i++) {
    tg_record at = tg_records_at(records, i);
    size_t kind = 0;
    if (tg_reduce_stops(in, i)) return TG_EINTERRUPTED;
    while (kind < K_COUNT && rules[kind] != at.rule) kind++;
    if (kind == K_COUNT) continue;
    if (kind == K_FREQUENCY) {
      p.run = p.run == TG_NONE ? 0 : p.run + 1;
      continue;
    }
    p.t = tg_records_table(records, at.rule);
    p.row = at.row;
    p.line = at.line;
    p.offset = at.offset;
    p.boot = tg_boot_near(out, source, at.offset, &near);
    p.flags = 0;
    (void)tg_table_u32(p.t, p.row, TG_REC_FLAGS, &p.flags);
    if (kind >= K_DRIVER_DO) {
      const unsigned printer = kind >= K_CORE_RECEIVE ? P_CORE : P_DRIVER;
      const bool gap = torn_before(&torn, at.offset, printer);
      status = add_smc(in->alloc, &p, (line_kind)kind, gap, l);
    } else if (kind == K_SYSCALL) {
      status = add_syscall(in->alloc, &p, l);
    } else {
      status = add_client(in->alloc, &p, (line_kind)kind, l);
    }
  }
  return status;
}

uint64_t tg_optee_clock(const tg_reduce_in *in, const tg_result *out, uint32_t boot,
                        tg_clock_origin *origin) {
  uint64_t hz = 0;
  *origin = TG_CLOCK_OPTION;
  if (in->options->clock_hz != 0) return in->options->clock_hz;
  const tg_table *boots = tg_result_get(out, "boots");
  *origin = TG_CLOCK_LOG;
  if (boots != NULL && boot != TG_NONE && tg_table_u64(boots, boot, TG_BOOT_CLOCK, &hz)) return hz;
  *origin = TG_CLOCK_NONE;
  return 0;
}

/* How long a print may be delayed, in ticks: a quarter of a second. */
static uint64_t delay_ticks(const tg_reduce_in *in, const tg_result *out, uint32_t boot) {
  tg_clock_origin origin;
  uint64_t hz = tg_optee_clock(in, out, boot, &origin);
  return hz == 0 ? (uint64_t)1 << 22 : hz / 4;
}

/* --- checks ---------------------------------------------------------------------------------- */

/* Finds stamps outside the range of their boot, printer by printer, in the order of the source. */
static tg_status check_range(const tg_reduce_in *in, tg_result *out, tg_smc *lines, size_t n) {
  for (size_t from = 0; from < n;) {
    size_t to = from + 1;
    while (to < n && lines[to].at.source == lines[from].at.source &&
           lines[to].at.boot == lines[from].at.boot) {
      to++;
    }
    tg_status status =
        tg_smc_check(in->alloc, lines + from, to - from, delay_ticks(in, out, lines[from].at.boot));
    for (size_t i = from; i < to && status == TG_OK; i++) {
      if (tg_reduce_stops(in, i - from)) return TG_EINTERRUPTED;
      if (!lines[i].bad) continue;
      if (i + 1 < to) lines[i + 1].gap = true;
      status = tg_result_problem(
          out, lines[i].at.source, lines[i].at.line, lines[i].at.offset, "optee", "out-of-range",
          "cntvct=0x%llx (cmd %llu) does not fit its neighbours: digits are "
          "lost or added; the stamp is left out",
          (unsigned long long)lines[i].at.ticks, (unsigned long long)lines[i].cmd);
    }
    if (status != TG_OK) return status;
    from = to;
  }
  return TG_OK;
}

/* Says once for a boot and a printer how many lines repeat earlier ones. */
static tg_status tell_repeats(tg_result *out, const tg_stamp *first, size_t n) {
  if (n == 0) return TG_OK;
  return tg_result_problem(out, first->source, first->line, first->offset, "optee", "duplicate",
                           "%zu line%s the same stamp%s as earlier lines of this boot and "
                           "%s left out; the first is here",
                           n, n == 1 ? " has" : "s have", n == 1 ? "" : "s", n == 1 ? "is" : "are");
}

/* Leaves out lines that repeat another line of the boot. In time order. */
static tg_status drop_repeats(tg_result *out, tg_smc *lines, size_t n) {
  size_t repeats = 0;
  tg_stamp first = {0};
  for (size_t i = 1; i < n; i++) {
    if (lines[i].at.boot != lines[i - 1].at.boot) {
      tg_status status = tell_repeats(out, &first, repeats);
      if (status != TG_OK) return status;
      repeats = 0;
    }
    for (size_t k = i; k > 0 && !lines[i].bad; k--) {
      const tg_smc *b = &lines[k - 1];
      if (b->at.ticks != lines[i].at.ticks || b->at.boot != lines[i].at.boot || i - k >= 8) break;
      if (b->bad || b->cmd != lines[i].cmd || b->opens != lines[i].opens) continue;
      lines[i].bad = true;
      if (repeats++ == 0) first = lines[i].at;
    }
  }
  return tell_repeats(out, &first, repeats);
}

/* The lowest stamp of a printer in a boot. False where it has none. Lines in time order. */
static bool lowest_stamp(const tg_smc *lines, size_t n, uint32_t boot, uint64_t *lowest) {
  size_t low = 0;
  size_t high = n;
  while (low < high) {
    size_t mid = low + (high - low) / 2;
    if (lines[mid].at.boot < boot) {
      low = mid + 1;
    } else {
      high = mid;
    }
  }
  while (low < n && lines[low].at.boot == boot && lines[low].bad) low++;
  if (low == n || lines[low].at.boot != boot) return false;
  *lowest = lines[low].at.ticks;
  return true;
}

/* The bounds that clients of a boot are checked against: the driver's lowest stamp, if there is
 * one, and how long a print may be delayed. Found once a boot. */
typedef struct boot_floor {
  uint64_t lowest, delay;
  uint32_t boot;
  bool any;
} boot_floor;

static boot_floor floor_of(const tg_reduce_in *in, const tg_result *out, const tg_optee_lines *l,
                           uint32_t boot) {
  boot_floor f = {.boot = boot, .delay = delay_ticks(in, out, boot)};
  f.any = lowest_stamp(l->driver, l->n_driver, boot, &f.lowest);
  return f;
}

/* True if one more hex digit somewhere in the value puts it into [low, high]. */
static bool lost_digit(uint64_t value, uint64_t low, uint64_t high) {
  for (unsigned at = 0; at < 64; at += 4) {
    const uint64_t below = value & ((UINT64_C(1) << at) - 1);
    const uint64_t above = value >> at;
    if (above >> (60 - at) != 0) continue; /* no room for another digit */
    for (uint64_t digit = 0; digit < 16; digit++) {
      const uint64_t one = (above << 4 | digit) << at | below;
      if (one >= low && one <= high) return true;
    }
    if (above == 0) break;
  }
  return false;
}

#define FIRST_LONGER 16 /* so many times may a first call take what the next one takes */
#define FEWER_DIGITS 8 /* a start so much below its return may lack a digit */

/* Checks a client's line for itself and against its boot. False: it is of no use. */
static tg_status check_client(tg_result *out, const boot_floor *floor, tg_client *c, bool *use) {
  const uint64_t lowest = floor->lowest, delay = floor->delay;
  *use = true;
  if (c->early || (floor->any && c->start < c->finish / FEWER_DIGITS && lowest > c->start &&
                   lowest - c->start > delay)) {
    *use = false;
    return tg_result_problem(out, c->source, c->line, c->offset, "optee", "out-of-range",
                             "start=0x%llx lies before what the lines before it tell and has fewer "
                             "digits than return=0x%llx: the line is left out",
                             (unsigned long long)c->start, (unsigned long long)c->finish);
  }
  if (c->finish < c->start) {
    c->have_finish = false;
    c->flags |= TG_CALL_IMPOSSIBLE;
    return tg_result_problem(out, c->source, c->line, c->offset, "optee", "digits-lost",
                             "return=0x%llx lies before start=0x%llx: the return is left out",
                             (unsigned long long)c->finish, (unsigned long long)c->start);
  }
  if (c->enter < c->start &&
      (c->enter < c->start / FEWER_DIGITS || lost_digit(c->enter, c->start, c->finish))) {
    c->have_enter = false;
    c->flags |= TG_CALL_IMPOSSIBLE;
    return tg_result_problem(out, c->source, c->line, c->offset, "optee", "digits-lost",
                             "enter_ta=0x%llx lies before start=0x%llx and lacks a digit: the "
                             "entry is left out",
                             (unsigned long long)c->enter, (unsigned long long)c->start);
  }
  return TG_OK;
}

/* Another line of the same clients; NULL where the neighbour is none. */
static const tg_client *same_clients(const tg_optee_lines *l, const tg_client *c, size_t i) {
  const tg_client *o = i < l->n_clients ? &l->clients[i] : NULL;
  return o != NULL && o->source == c->source && o->boot == c->boot && !o->early ? o : NULL;
}

/* Marks the clients' lines whose start lost a digit: they start before the line before them did,
 * and would not with one digit more; a first line is compared with its way back and the next line.
 * In the order of the source. */
static void find_early(tg_optee_lines *l) {
  for (size_t i = 0; i < l->n_clients; i++) {
    tg_client *c = &l->clients[i];
    const tg_client *b = i > 0 ? same_clients(l, c, i - 1) : NULL;
    const tg_client *n = same_clients(l, c, i + 1);
    if (b != NULL) {
      c->early = c->start < b->start && lost_digit(c->start, b->start, c->enter);
    } else if (c->start < c->enter / FEWER_DIGITS) {
      const uint64_t next = n != NULL && n->finish > n->start ? n->finish - n->start : 0;
      const uint64_t back = c->finish > c->enter ? c->finish - c->enter : 0;
      const uint64_t usual = next > back ? next : back;
      const uint64_t low = usual < c->enter / FIRST_LONGER ? c->enter - FIRST_LONGER * usual : 0;
      c->early = usual > 0 && lost_digit(c->start, low, c->enter);
    }
  }
}

/* --- order ----------------------------------------------------------------------------------- */

/* By boot and start; what starts at once stays in the order of the source. */
#define STARTS_BEFORE(x, y)                                            \
  ((x)->boot != (y)->boot       ? (x)->boot < (y)->boot                \
   : (x)->start != (y)->start   ? (x)->start < (y)->start              \
   : (x)->source != (y)->source ? (x)->source < (y)->source            \
                                : (x)->offset < (y)->offset)

#define TG_SORT_NAME sort_clients
#define TG_SORT_ITEM tg_client
#define TG_SORT_BEFORE(x, y) STARTS_BEFORE(x, y)
#include "base/sort.h"

#define TG_SORT_NAME sort_syscalls
#define TG_SORT_ITEM tg_syscall
#define TG_SORT_BEFORE(x, y) STARTS_BEFORE(x, y)
#include "base/sort.h"

/* Checks the clients' lines and closes the gaps of those that are of no use or repeat the
 * line before. */
static tg_status check_clients(const tg_reduce_in *in, tg_result *out, tg_optee_lines *l) {
  size_t kept = 0;
  size_t repeats = 0;
  tg_stamp first = {0};
  boot_floor floor = {0};
  for (size_t i = 0; i < l->n_clients; i++) {
    tg_client c = l->clients[i];
    if (tg_reduce_stops(in, i)) return TG_EINTERRUPTED;
    if (i == 0 || c.boot != floor.boot) floor = floor_of(in, out, l, c.boot);
    bool use = true;
    const tg_client *b = kept > 0 ? &l->clients[kept - 1] : NULL;
    if (b != NULL && b->boot == c.boot && b->start == c.start && b->enter == c.enter &&
        b->finish == c.finish && b->cmd == c.cmd) {
      if (repeats++ == 0) {
        first = (tg_stamp){.line = c.line, .offset = c.offset, .source = c.source};
      }
      continue;
    }
    tg_status status = check_client(out, &floor, &c, &use);
    if (status != TG_OK) return status;
    if (use) l->clients[kept++] = c;
  }
  l->n_clients = kept;
  kept = 0;
  for (size_t i = 0; i < l->n_syscalls; i++) {
    const tg_syscall *s = &l->syscalls[i];
    const tg_syscall *b = kept > 0 ? &l->syscalls[kept - 1] : NULL;
    if (b != NULL && b->boot == s->boot && b->start == s->start && b->enter == s->enter &&
        b->finish == s->finish) {
      if (repeats++ == 0) {
        first = (tg_stamp){.line = s->line, .offset = s->offset, .source = s->source};
      }
      continue;
    }
    l->syscalls[kept++] = *s;
  }
  l->n_syscalls = kept;
  return tell_repeats(out, &first, repeats);
}

tg_status tg_optee_gather(const tg_reduce_in *in, tg_result *out, tg_optee_lines *l) {
  memset(l, 0, sizeof *l);
  TG_TRY(make_room(in, l));
  for (size_t s = 0; s < in->n_sources; s++) TG_TRY(gather_source(in, out, (uint32_t)s, l));
  TG_TRY(check_range(in, out, l->driver, l->n_driver));
  TG_TRY(check_range(in, out, l->core, l->n_core));
  tg_smc_sort(l->driver, l->n_driver);
  tg_smc_sort(l->core, l->n_core);
  TG_TRY(drop_repeats(out, l->driver, l->n_driver));
  TG_TRY(drop_repeats(out, l->core, l->n_core));
  find_early(l);
  sort_clients(l->clients, l->n_clients);
  sort_syscalls(l->syscalls, l->n_syscalls);
  return check_clients(in, out, l);
}

void tg_optee_lines_free(const tg_alloc *a, tg_optee_lines *l) {
  tg_release(a, l->driver);
  tg_release(a, l->core);
  tg_release(a, l->clients);
  tg_release(a, l->syscalls);
  memset(l, 0, sizeof *l);
}

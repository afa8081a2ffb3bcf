/* boots_walk.c - the marks of a source that tell boots apart, and the walk over them.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "boots_walk.h"

#include <stdio.h>
#include <string.h>

#include "reducer.h"

/* How far back stamps must go to show a reset: no print is delayed by a quarter of a second.
 * Without a known clock 2^22 ticks stand for it. */
#define BACK_TICKS_UNKNOWN ((uint64_t)1 << 22)
#define BACK_DIVISOR 4
#define AHEAD 3 /* so many stamps must stay back: a torn number does not */
#define BEHIND 5

/* The meaning of a rule's records; `field` is the column (from TG_REC_FIELD) of the stamp. */
typedef struct meaning {
  const char *rule;
  uint8_t kind, lane, stage;
  bool opens;
  uint8_t stamp_field, id_field;
  uint8_t client; /* tg_client_id */
} meaning;

#define NO_FIELD 0xff
#define BANNER(r, s, l) {r, TG_MARK_BANNER, l, s, false, NO_FIELD, NO_FIELD, 0}
#define SMC(r, k, l, s, o) {r, k, l, s, o, 1, 0, 0}

static const meaning meanings[] = {
    BANNER("console.bl1_welcome", TG_STAGE_WELCOME, TG_LANE_REE),
    BANNER("console.bl1", TG_STAGE_BL1, TG_LANE_REE),
    BANNER("console.bl1_bare", TG_STAGE_BL1, TG_LANE_REE),
    BANNER("console.bl2", TG_STAGE_BL2, TG_LANE_REE),
    BANNER("console.bl2_bare", TG_STAGE_BL2, TG_LANE_REE),
    BANNER("console.bl31", TG_STAGE_BL31, TG_LANE_REE),
    BANNER("console.bl31_bare", TG_STAGE_BL31, TG_LANE_REE),
    BANNER("console.bl31_old", TG_STAGE_BL31, TG_LANE_REE),
    BANNER("console.bl31_old_bare", TG_STAGE_BL31, TG_LANE_REE),
    BANNER("console.tftf", TG_STAGE_TFTF, TG_LANE_REE),
    BANNER("console.optee", TG_STAGE_OPTEE, TG_LANE_TEE),
    BANNER("console.optee_old", TG_STAGE_OPTEE, TG_LANE_TEE),
    BANNER("console.spl", TG_STAGE_SPL, TG_LANE_REE),
    BANNER("console.uboot", TG_STAGE_UBOOT, TG_LANE_REE),
    BANNER("console.linux", TG_STAGE_LINUX, TG_LANE_REE),
    {"console.linux_version", TG_MARK_KERNEL, TG_LANE_REE, TG_STAGE_LINUX, false, NO_FIELD,
     NO_FIELD, 0},
    {"console.bl1_built", TG_MARK_BUILT, TG_LANE_REE, 0, false, NO_FIELD, NO_FIELD, 0},
    {"console.bl2_built", TG_MARK_BUILT, TG_LANE_REE, 0, false, NO_FIELD, NO_FIELD, 0},
    {"console.bl31_built", TG_MARK_BUILT, TG_LANE_REE, 0, false, NO_FIELD, NO_FIELD, 0},
    {"console.tftf_version", TG_MARK_PLATFORM, TG_LANE_REE, 0, false, NO_FIELD, NO_FIELD, 0},
    {"pmf.stamp", TG_MARK_PMF, TG_LANE_REE, 0, true, 2, 1, 0},
    {"console.kernel_clock", TG_MARK_CLOCK, TG_LANE_REE, TG_STAGE_LINUX, false, 0, 1, 0},
    {"bootstage.summary", TG_MARK_REPORT, TG_LANE_REE, 0, false, NO_FIELD, NO_FIELD, 0},
    {"optee.frequency", TG_MARK_FREQUENCY, TG_LANE_REE, 0, false, 0, NO_FIELD, 0},
    {"optee.open", TG_MARK_CLIENT, TG_LANE_REE, TG_STAGE_LINUX, true, 0, NO_FIELD, TG_CLIENT_OPEN},
    {"optee.invoke", TG_MARK_CLIENT, TG_LANE_REE, TG_STAGE_LINUX, true, 0, NO_FIELD,
     TG_CLIENT_INVOKE},
    {"optee.syscall", TG_MARK_CLIENT, TG_LANE_REE, TG_STAGE_LINUX, true, 0, NO_FIELD,
     TG_CLIENT_SYSCALL},
    SMC("optee.driver_do", TG_MARK_DRIVER, TG_LANE_REE, TG_STAGE_OPTEE, true),
    SMC("optee.driver_finish", TG_MARK_DRIVER, TG_LANE_REE, TG_STAGE_OPTEE, false),
    SMC("optee.core_receive", TG_MARK_CORE, TG_LANE_TEE, TG_STAGE_OPTEE, true),
    SMC("optee.core_finish", TG_MARK_CORE, TG_LANE_TEE, TG_STAGE_OPTEE, false),
};

const char *tg_stage_name(tg_stage stage) {
  switch (stage) {
    case TG_STAGE_BL1:
      return "BL1";
    case TG_STAGE_SPL:
    case TG_STAGE_SPL_LATE:
      return "SPL";
    case TG_STAGE_BL2:
      return "BL2";
    case TG_STAGE_BL31:
      return "BL31";
    case TG_STAGE_OPTEE:
      return "OP-TEE";
    case TG_STAGE_UBOOT:
      return "U-Boot";
    case TG_STAGE_TFTF:
      return "TFTF";
    case TG_STAGE_LINUX:
      return "Linux";
    case TG_STAGE_NONE:
    case TG_STAGE_PMF:
    case TG_STAGE_WELCOME:
    case TG_STAGE_COUNT:
      break;
  }
  return "";
}

/* The meaning of each rule of a set: an index into `meanings` plus one, 0 for all others, and
 * UINT8_MAX for lines of the console format that mean nothing. */
static tg_status map_rules(const tg_alloc *a, const tg_ruleset *set, uint8_t **map) {
  const size_t n = tg_ruleset_count(set);
  *map = tg_zalloc(a, n + 1, 1);
  if (*map == NULL) return TG_ENOMEM;
  for (size_t i = 0; i < n; i++)
    if (strncmp(tg_ruleset_name(set, i), "console.", 8) == 0) (*map)[i] = UINT8_MAX;
  for (size_t m = 0; m < TG_COUNT_OF(meanings); m++) {
    size_t rule = 0;
    if (tg_ruleset_find(set, meanings[m].rule, &rule) == TG_OK) (*map)[rule] = (uint8_t)(m + 1);
  }
  return TG_OK;
}

/* A number that two reports of one boot share: made of their first marks. */
static uint64_t report_id(const tg_records *records, tg_record at) {
  enum { MARKS = 16 };
  const tg_table *rows = tg_rule_table(records, "bootstage.summary.stage");
  uint64_t id = UINT64_C(14695981039346656037);
  size_t low = 0;
  size_t high = rows != NULL ? tg_table_rows(rows) : 0;
  const size_t n = high;
  uint64_t offset = 0;
  uint32_t section = 0;
  uint32_t of = 0;
  (void)tg_table_u32(tg_records_table(records, at.rule), at.row, TG_REC_SECTION, &section);
  while (low < high) { /* rows stand in the order of the source */
    const size_t mid = low + (high - low) / 2;
    (void)tg_table_u64(rows, mid, TG_REC_OFFSET, &offset);
    if (offset < at.offset) {
      low = mid + 1;
    } else {
      high = mid;
    }
  }
  for (size_t i = low; i < n && i < low + MARKS; i++) {
    uint64_t mark = 0;
    (void)tg_table_u32(rows, i, TG_REC_SECTION, &of);
    if (of != section) break;
    (void)tg_table_u64(rows, i, TG_REC_FIELD, &mark);
    id = (id ^ mark) * UINT64_C(1099511628211);
  }
  return id;
}

/* The mark of a record whose rule means `m`. */
static void mark_of(const tg_records *records, tg_record at, uint8_t m, tg_mark *mark) {
  const tg_table *t = tg_records_table(records, at.rule);
  memset(mark, 0, sizeof *mark);
  mark->line = at.line;
  mark->offset = at.offset;
  mark->rule = at.rule;
  mark->row = at.row;
  if (m == 0) return;
  const meaning *what = &meanings[m - 1];
  mark->kind = what->kind;
  mark->lane = what->lane;
  mark->stage = what->stage;
  mark->opens = what->opens;
  if (what->stamp_field != NO_FIELD) {
    (void)tg_table_u64(t, at.row, TG_REC_FIELD + (size_t)what->stamp_field, &mark->stamp);
  }
  mark->until = mark->stamp;
  if (mark->kind == TG_MARK_CLIENT) {
    (void)tg_table_u64(t, at.row, TG_REC_FIELD + 1, &mark->pin);
    (void)tg_table_u64(t, at.row, TG_REC_FIELD + 2, &mark->until);
    mark->id = what->client;
  }
  if (mark->kind == TG_MARK_REPORT) mark->id = report_id(records, at);
  if (what->id_field != NO_FIELD) {
    (void)tg_table_u64(t, at.row, TG_REC_FIELD + (size_t)what->id_field, &mark->id);
  }
}

/* Room for the marks of all records that mean something: a large array that grows is copied. */
static tg_status make_room(const tg_alloc *a, const tg_records *records, const uint8_t *map,
                           tg_marks *marks) {
  size_t n = 0;
  for (size_t i = 0; i < tg_ruleset_count(tg_records_rules(records)); i++) {
    const tg_table *t = tg_records_table(records, i);
    if (t != NULL && map[i] != 0 && map[i] != UINT8_MAX) n += tg_table_rows(t);
  }
  return tg_reserve(a, &marks->at, &marks->cap, n, sizeof *marks->at);
}

tg_status tg_marks_gather(const tg_reduce_in *in, const tg_records *records, uint64_t tee,
                          tg_marks *marks) {
  const tg_alloc *a = in->alloc;
  uint8_t *map = NULL;
  tg_mark mark;
  size_t n = tg_records_count(records);
  marks->records = records;
  marks->n = 0;
  tg_status status = map_rules(a, tg_records_rules(records), &map);
  if (status == TG_OK) status = make_room(a, records, map, marks);
  for (size_t i = 0; i < n && status == TG_OK; i++) {
    const uint8_t m = map[tg_records_rule_at(records, i)];
    if (tg_reduce_stops(in, i)) {
      status = TG_EINTERRUPTED;
      break;
    }
    if (m == UINT8_MAX) continue; /* a line that means nothing */
    if (m == 0 && marks->n > 0 && marks->at[marks->n - 1].kind == TG_MARK_OTHER) continue;
    mark_of(records, tg_records_at(records, i), m, &mark);
    if (mark.kind == TG_MARK_CORE) mark.stamp += tee;
    status = tg_reserve(a, &marks->at, &marks->cap, marks->n + 1, sizeof *marks->at);
    if (status == TG_OK) marks->at[marks->n++] = mark;
  }
  tg_release(a, map);
  return status;
}

/* --- the walk ------------------------------------------------------------------------------ */

/* The stamps of one printer since the last start. */
typedef struct history {
  uint64_t last[BEHIND], lowest, highest;
  size_t n, finished;
} history;

typedef struct walk {
  const tg_marks *marks;
  size_t to;
  uint64_t back; /* ticks */
  history printers[TG_MARK_CORE + 1];
  tg_stage stage; /* how far the chain has come */
  bool have_tid0, have_bl, have_kernel, have_linux, have_other, client_stamps;
  uint64_t report; /* of the boot's bootstage report; 0: none yet */
  uint64_t hz;
} walk;

static void forget(walk *w) {
  memset(w->printers, 0, sizeof w->printers);
  w->stage = TG_STAGE_NONE;
  w->have_tid0 = w->have_bl = w->have_kernel = w->have_linux = w->have_other = false;
  w->hz = 0;
  w->report = 0;
}

static void remember(history *h, uint64_t stamp, bool opens) {
  h->last[h->n % BEHIND] = stamp;
  if (h->n == 0 || stamp < h->lowest) h->lowest = stamp;
  if (h->n == 0 || stamp > h->highest) h->highest = stamp;
  h->n++;
  if (!opens) h->finished++;
}

/* The median of the last stamps: a torn number among them does not move it. */
static uint64_t recent(const history *h) {
  uint64_t v[BEHIND] = {0};
  size_t n = h->n < BEHIND ? h->n : BEHIND;
  for (size_t i = 0; i < n; i++) {
    size_t at = i;
    for (; at > 0 && v[at - 1] > h->last[i]; at--) v[at] = v[at - 1];
    v[at] = h->last[i];
  }
  return v[n / 2];
}

/* True if the stamps of this printer go back at mark `i`, and stay back. */
static bool goes_back(const walk *w, size_t i) {
  const tg_mark *m = &w->marks->at[i];
  const history *h = &w->printers[m->kind];
  if (!m->opens || h->n < 2) return false;
  uint64_t reference = recent(h);
  bool far = reference > m->stamp && reference - m->stamp > w->back;
  bool before_all = m->stamp < h->lowest && (h->finished > 0 || m->kind == TG_MARK_PMF);
  size_t ahead = 0;
  for (size_t j = i + 1; j < w->to && ahead < AHEAD; j++) {
    const tg_mark *next = &w->marks->at[j];
    if (next->kind == TG_MARK_BANNER) break;
    if (next->kind != m->kind) continue;
    ahead++;
    if (next->stamp > h->highest) before_all = false;
    if (reference <= next->stamp || reference - next->stamp <= w->back / 2) far = false;
  }
  return (far || before_all) && ahead > 0;
}

/* True if this printer's stamps tell boots apart. */
static bool has_history(const walk *w, uint8_t kind) {
  return kind == TG_MARK_PMF || kind == TG_MARK_DRIVER || kind == TG_MARK_CORE ||
         (kind == TG_MARK_CLIENT && w->client_stamps);
}

/* The stage a banner stands for: an SPL after BL31 is the second one. */
static tg_stage banner_stage(const walk *w, const tg_mark *m) {
  if (m->stage == TG_STAGE_SPL && w->stage >= TG_STAGE_BL31 && w->stage <= TG_STAGE_OPTEE) {
    return TG_STAGE_SPL_LATE;
  }
  return (tg_stage)m->stage;
}

/* The PMF stamps from mark `i` on are printed by the boot at hand: its BL2 or BL31 has announced
 * itself, and stamps of these stages follow without another banner, also where a system runs by
 * now. */
static bool dumps_late(const walk *w, size_t i) {
  enum { BL2_ENTRY = 2, MOST = 64 };
  if (w->have_tid0 || !w->have_bl) return false;
  for (size_t j = i + 1; j < w->to && j - i < MOST; j++) {
    const tg_mark *m = &w->marks->at[j];
    if (m->kind == TG_MARK_BANNER || (m->kind == TG_MARK_PMF && m->id == 0)) return false;
    if (m->kind == TG_MARK_PMF && m->id >= BL2_ENTRY) return true;
  }
  return false;
}

/* Does a boot start at mark `i`? Writes why. */
static bool starts(const walk *w, size_t i, char reason[TG_REASON_TEXT]) {
  const tg_mark *m = &w->marks->at[i];
  switch ((tg_mark_kind)m->kind) {
    case TG_MARK_BANNER: {
      tg_stage stage = banner_stage(w, m);
      if (stage == TG_STAGE_LINUX && w->stage == stage && !w->have_linux) return false;
      bool early = stage <= TG_STAGE_BL1 && w->have_other && w->stage == TG_STAGE_NONE;
      if (stage > w->stage && !early) return false;
      const char *name = tg_stage_name(stage);
      snprintf(reason, TG_REASON_TEXT, "the %s banner again", *name != '\0' ? name : "BL1");
      return true;
    }
    case TG_MARK_PMF:
      if (m->id == 0 && (w->have_tid0 || w->stage >= TG_STAGE_BL2 || w->have_other) &&
          !dumps_late(w, i)) {
        snprintf(reason, TG_REASON_TEXT, "PMF tid 0");
        return true;
      }
      break;
    case TG_MARK_KERNEL:
      if (!w->have_kernel) return false;
      snprintf(reason, TG_REASON_TEXT, "the kernel's version again");
      return true;
    case TG_MARK_REPORT:
      if (w->report == 0 || w->report == m->id) return false;
      snprintf(reason, TG_REASON_TEXT, "another bootstage report");
      return true;
    case TG_MARK_FREQUENCY:
      if (w->hz == 0 || m->stamp == w->hz || m->stamp == 0) return false;
      snprintf(reason, TG_REASON_TEXT, "frequency %llu Hz after %llu Hz",
               (unsigned long long)m->stamp, (unsigned long long)w->hz);
      return true;
    case TG_MARK_CLOCK:
    case TG_MARK_OTHER:
    case TG_MARK_BUILT:
    case TG_MARK_PLATFORM:
    case TG_MARK_CLIENT:
    case TG_MARK_DRIVER:
    case TG_MARK_CORE:
      break;
  }
  if (!has_history(w, m->kind) || !goes_back(w, i)) return false;
  snprintf(reason, TG_REASON_TEXT, "stamps go back from 0x%llx to 0x%llx",
           (unsigned long long)w->printers[m->kind].highest, (unsigned long long)m->stamp);
  return true;
}

/* A client prints its frequency after its driver's lines: the first mark of the run whose
 * frequency line is mark `i`, by the start its client states. Not before `first`. */
static size_t run_start(const walk *w, size_t i, size_t first) {
  size_t j = i + 1;
  while (j < w->to && w->marks->at[j].kind != TG_MARK_CLIENT) {
    if (w->marks->at[j].kind == TG_MARK_FREQUENCY || w->marks->at[j].kind == TG_MARK_BANNER) {
      return i;
    }
    j++;
  }
  if (j == w->to) return i;
  uint64_t start = w->marks->at[j].stamp;
  uint64_t bound = UINT64_MAX;
  size_t at = i;
  for (j = i; j > first; j--) {
    const tg_mark *m = &w->marks->at[j - 1];
    if (m->kind != TG_MARK_DRIVER || m->stamp < start || m->stamp > bound) break;
    bound = m->stamp;
    at = j - 1;
  }
  return at;
}

/* Linux cuts after two digits: 33.33 MHz may be 33.333333, 62.50 and 31.25 are what they say. */
static bool said_whole(uint64_t hundredths) {
  return hundredths < 100 && (hundredths % 10 == 0 || hundredths % 25 == 0);
}

/* Adds a mark to the stretch it lies in. */
static void learn(walk *w, const tg_mark *m, tg_stretch *s) {
  if (m->kind == TG_MARK_BANNER) {
    tg_stage stage = banner_stage(w, m);
    w->stage = stage;
    if (stage == TG_STAGE_LINUX) w->have_linux = true;
    if (stage == TG_STAGE_BL2 || stage == TG_STAGE_BL31) w->have_bl = true;
    const bool again = s->n_chain > 0 && s->chain[s->n_chain - 1] == (uint8_t)stage;
    if (!again && s->n_chain < TG_STAGE_COUNT && *tg_stage_name(stage) != '\0') {
      s->chain[s->n_chain++] = (uint8_t)stage;
    }
    if (stage == TG_STAGE_BL1 || stage == TG_STAGE_BL2 || stage == TG_STAGE_BL31) {
      s->version_rule = m->rule;
      s->version_row = m->row;
    }
    return;
  }
  if (m->kind == TG_MARK_KERNEL) {
    w->have_kernel = true;
    if (w->stage < TG_STAGE_LINUX && s->n_chain < TG_STAGE_COUNT)
      s->chain[s->n_chain++] = (uint8_t)TG_STAGE_LINUX;
  }
  if ((tg_stage)m->stage > w->stage) w->stage = (tg_stage)m->stage;
  if (m->kind == TG_MARK_BUILT) {
    s->built_rule = m->rule;
    s->built_row = m->row;
  }
  if (m->kind == TG_MARK_PLATFORM) {
    s->platform_rule = m->rule;
    s->platform_row = m->row;
  }
  if (m->kind == TG_MARK_FREQUENCY && m->stamp != 0) s->hz = w->hz = m->stamp;
  if (m->kind == TG_MARK_PMF && m->id == 0) w->have_tid0 = true;
  if (m->kind == TG_MARK_CLOCK && m->stamp < 100000 && said_whole(m->id))
    s->kernel_hz = m->stamp * 1000000 + m->id * 10000;
  if (m->kind != TG_MARK_PMF && m->kind != TG_MARK_BUILT) w->have_other = true;
  if (m->kind == TG_MARK_REPORT) w->report = m->id;
  if (has_history(w, m->kind)) remember(&w->printers[m->kind], m->stamp, m->opens);
}

/* Opens a stretch at mark `i`. */
static tg_status open_stretch(const tg_alloc *a, const walk *w, size_t i, const char *reason,
                              tg_stretches *out) {
  tg_status status = tg_reserve(a, &out->at, &out->cap, out->n + 1, sizeof *out->at);
  if (status != TG_OK) return status;
  tg_stretch *s = &out->at[out->n++];
  memset(s, 0, sizeof *s);
  s->first = i;
  s->line = w->marks->at[i].line;
  s->offset = w->marks->at[i].offset;
  s->version_rule = s->built_rule = s->platform_rule = TG_NONE;
  snprintf(s->reason, sizeof s->reason, "%s", reason);
  return TG_OK;
}

/* The clock that turns a quarter of a second into ticks: the user's, or the source's own. */
static uint64_t back_ticks(const tg_marks *marks, size_t from, size_t to, uint64_t clock_hz) {
  uint64_t hz = clock_hz;
  for (size_t i = from; i < to && hz == 0; i++) {
    if (marks->at[i].kind == TG_MARK_FREQUENCY) hz = marks->at[i].stamp;
  }
  return hz == 0 ? BACK_TICKS_UNKNOWN : hz / BACK_DIVISOR;
}

tg_status tg_marks_walk(const tg_reduce_in *in, const tg_marks *marks, size_t from, size_t to,
                        tg_stretches *out) {
  const tg_alloc *a = in->alloc;
  char reason[TG_REASON_TEXT];
  walk w = {.marks = marks, .to = to, .client_stamps = true};
  w.back = back_ticks(marks, from, to, in->options->clock_hz);
  for (size_t i = from; i < to; i++) {
    if (marks->at[i].kind == TG_MARK_DRIVER) w.client_stamps = false;
  }
  for (size_t i = from; i < to; i++) {
    const tg_mark *m = &marks->at[i];
    if (tg_reduce_stops(in, i - from)) return TG_EINTERRUPTED;
    if (i == from) {
      bool banner = m->kind == TG_MARK_BANNER || (m->kind == TG_MARK_PMF && m->id == 0);
      tg_status status = open_stretch(a, &w, i, banner ? "first banner" : "first record", out);
      if (status != TG_OK) return status;
    } else if (starts(&w, i, reason)) {
      tg_stretch *last = &out->at[out->n - 1];
      size_t at = m->kind == TG_MARK_FREQUENCY ? run_start(&w, i, last->first + 1) : i;
      tg_status status = open_stretch(a, &w, at, reason, out);
      if (status != TG_OK) return status;
      out->at[out->n - 2].n = at - out->at[out->n - 2].first;
      forget(&w);
      for (; at < i; at++) learn(&w, &marks->at[at], &out->at[out->n - 1]);
    }
    learn(&w, m, &out->at[out->n - 1]);
    out->at[out->n - 1].n = i + 1 - out->at[out->n - 1].first;
  }
  return TG_OK;
}

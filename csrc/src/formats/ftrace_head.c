/* ftrace_head.c - the part of a trace line before its time: task, pid, cpu.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "ftrace_head.h"

#include <stddef.h>

#include "tickgauge/number.h"
#include "tickgauge/status.h"

static bool is_digit(uint8_t c) { return c >= '0' && c <= '9'; }

static void trim(tg_str *s) {
  while (s->n > 0 && s->p[s->n - 1] <= ' ') s->n--;
  while (s->n > 0 && s->p[0] <= ' ') {
    s->p++;
    s->n--;
  }
}

/* Takes the digits at the end of the text off it. False where there are none. */
static bool take_number(tg_str *s, uint64_t *v) {
  size_t n = s->n;
  while (n > 0 && is_digit(s->p[n - 1])) n--;
  if (tg_parse_u64(s->p + n, s->p + s->n, v) != TG_OK) return false;
  s->n = n;
  return true;
}

/* Takes "[CPU]" and the flags behind it off the text. */
static bool take_bracketed_cpu(tg_str *s, uint64_t *cpu) {
  size_t close = s->n;
  while (close > 0 && s->p[close - 1] != ']') close--;
  if (close == 0) return false;
  tg_str before = {s->p, close - 1};
  if (!take_number(&before, cpu) || before.n == 0 || before.p[before.n - 1] != '[') return false;
  s->n = before.n - 1;
  trim(s);
  return true;
}

/* Takes the last word, whose leading digits are the cpu, off the text (latency format). */
static bool take_latency_cpu(tg_str *s, uint64_t *cpu) {
  size_t start = s->n;
  while (start > 0 && s->p[start - 1] > ' ') start--;
  size_t digits = start;
  while (digits < s->n && is_digit(s->p[digits])) digits++;
  if (start == 0 || tg_parse_u64(s->p + start, s->p + digits, cpu) != TG_OK) return false;
  s->n = start;
  trim(s);
  return true;
}

/* Takes "(TGID)" off the text, where it is there. */
static void drop_tgid(tg_str *s) {
  if (s->n == 0 || s->p[s->n - 1] != ')') return;
  size_t open = s->n;
  while (open > 0 && s->p[open - 1] != '(') open--;
  if (open == 0) return;
  s->n = open - 1;
  trim(s);
}

/* "TASK PID PRI ... ..." of the option verbose: behind the task four or five numbers. */
static bool take_verbose(tg_str *s, uint64_t *cpu) {
  tg_str rest = *s;
  uint64_t number = 0;
  for (int k = 0; k < 4; k++) { /* sequence, flags in hex, priority or nothing, cpu */
    size_t n = rest.n;
    while (n > 0 && rest.p[n - 1] > ' ') n--;
    if (n == 0 || n == rest.n) return false;
    if (tg_parse_hex(rest.p + n, rest.p + rest.n, false, &number) != TG_OK) return false;
    if (k == 2) *cpu = number;
    rest.n = n;
    trim(&rest);
  }
  *s = rest;
  return true;
}

/* A name alone, as perf script -F comm,... prints it. */
static bool read_name(tg_str text, tg_trace_head *out) {
  for (size_t i = 0; i < text.n; i++)
    if (text.p[i] == '[' || text.p[i] == ']') return false;
  out->task = text;
  return text.n > 0;
}

/* Reads "TASK-PID" or "TASK PID[/TID]"; either may be left out. */
static bool read_task(tg_str text, tg_trace_head *out) {
  uint64_t tid = 0;
  uint64_t pid = 0;
  const tg_str all = text;
  if (!take_number(&text, &tid)) return read_name(all, out);
  if (text.n > 0 && text.p[text.n - 1] == '/') { /* perf script -F pid,tid */
    text.n--;
    if (!take_number(&text, &pid)) return false;
  }
  out->tid = tid;
  if (text.n == 0) return true;
  const uint8_t before = text.p[text.n - 1];
  if (before != '-' && before != ' ') {
    out->tid = 0;
    return read_name(all, out);
  }
  text.n--;
  trim(&text);
  out->task = text;
  return text.n > 0;
}

bool tg_trace_head_parse(tg_str text, tg_trace_head *out) {
  uint64_t cpu = 0;
  trim(&text);
  const bool bracketed = take_bracketed_cpu(&text, &cpu);
  if (bracketed && text.n == 0) { /* perf script -F cpu,... */
    out->cpu = cpu < UINT32_MAX ? (uint32_t)cpu : UINT32_MAX;
    return true;
  }
  if (!bracketed && !take_verbose(&text, &cpu) && !take_latency_cpu(&text, &cpu))
    return read_task(text, out);
  drop_tgid(&text);
  if (cpu >= UINT32_MAX || text.n == 0) return false;
  out->cpu = (uint32_t)cpu;
  return read_task(text, out);
}

void tg_trace_graph_task(tg_str text, tg_trace_head *out) {
  size_t n = 0;
  while (n < text.n && text.p[n] != '|') n++;
  text.n = n;
  trim(&text);
  tg_str task = text;
  uint64_t tid = 0;
  if (!take_number(&task, &tid) || task.n < 2 || task.p[task.n - 1] != '-') return;
  out->tid = tid;
  out->task = (tg_str){task.p, task.n - 1};
}

"""Traces of known truth in every form the kernel's tools print, and damage to their lines."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass

import tickgauge as tg

TIME = re.compile(r"(?<= )([0-9]+\.[0-9]{6})(?=:)")
CPU = re.compile(r"\[([0-9]{3})\]")


@dataclass
class Event:
    """One event: nanoseconds, task, thread, processor, name and arguments."""

    ns: int
    task: str
    tid: int
    cpu: int
    name: str
    args: str


def generated(seed: int, n: int = 40, threads: int = 3) -> tuple[list[Event], list[int]]:
    """Calls of several threads with RPCs, and their total times in ns, whole microseconds."""
    rng = random.Random(seed)
    events, totals = [], []
    for k in range(threads):
        now = 71_000_000_000 + rng.randrange(1000) * 1000
        tid, param = 300 + k, f"00000000{0xABC00000 + 0x1111 * k:08x}"
        for _ in range(n):
            cpu = rng.randrange(4)
            start = now
            returns = ["ffff0005"] * rng.choice([0, 0, 0, 1, 2]) + ["0"]
            for i, ret in enumerate(returns):
                a0 = "32000003" if i else "32000013"
                args = f"param={param} ({a0}, ffff3690, e1bea580, 0, 0, 0, 0, 0)"
                events.append(Event(now, "optee_lat", tid, cpu, "optee_invoke_fn_begin", args))
                now += rng.randrange(20, 60) * 1000
                args = f"param={param} ret ({ret}, 0, 0, 0)"
                events.append(Event(now, "optee_lat", tid, cpu, "optee_invoke_fn_end", args))
                if ret != "0":
                    now += rng.randrange(5, 20) * 1000
            totals.append(now - start)
            now += rng.randrange(5, 40) * 1000
    return sorted(events, key=lambda e: e.ns), sorted(totals)


def seconds(ns: int) -> str:
    return f"{ns // 10**9}.{ns % 10**9 // 1000:06d}"


def _graph(e: Event) -> str:
    return (
        f" {seconds(e.ns)} |   {e.cpu})  opt-{e.tid:<6}|               |  /* {e.name}: {e.args} */"
    )


def _verbose(e: Event, first: int) -> str:
    ms = (e.ns - first) / 1e6
    return (
        f"{e.task:>16} {e.tid:7d} {e.cpu:3d} 0 00000000 00000001 [0bb6ccb4] {ms:.3f}ms (+0.025ms): "
        f"{e.name}: {e.args}"
    )


#: Every form, from an event and the time of the first one.
FORMS = {
    "tracefs": lambda e, _: (
        f"{e.task:>16}-{e.tid:<7} [{e.cpu:03d}] ..... {seconds(e.ns):>12}: {e.name}: {e.args}"
    ),
    "tracefs without irq-info": lambda e, _: (
        f"{e.task:>16}-{e.tid:<7} [{e.cpu:03d}] {seconds(e.ns):>12}: {e.name}: {e.args}"
    ),
    "tracefs, record-tgid": lambda e, _: (
        f"{e.task:>16}-{e.tid:<7} (    300) [{e.cpu:03d}] ..... "
        f"{seconds(e.ns):>12}: {e.name}: {e.args}"
    ),
    "tracefs, latency-format": lambda e, first: (
        f"{e.task[:8]:>8}-{e.tid:<7} {e.cpu}..... "
        f"{(e.ns - first) // 1000:4d}us#: {e.name}: {e.args}"
    ),
    "tracefs, verbose": _verbose,
    "function_graph, funcgraph-abstime": lambda e, _: (
        f" {seconds(e.ns)} |   {e.cpu})               |  /* {e.name}: {e.args} */"
    ),
    "function_graph, abstime and proc": lambda e, _: _graph(e),
    "trace-cmd report": lambda e, _: (
        f"{e.task:>16}-{e.tid:<6} [{e.cpu:03d}] {seconds(e.ns):>13}: {e.name + ':':<23} {e.args}"
    ),
    "trace-cmd report -l": lambda e, _: (
        f"{e.task[:8]:>8}-{e.tid:<7} {e.cpu}..... {seconds(e.ns):>12}: {e.name}: {e.args}"
    ),
    "perf script": lambda e, _: (
        f"{e.task:>16} {e.tid:5d} [{e.cpu:03d}] {seconds(e.ns):>12}: optee:{e.name}: {e.args}"
    ),
    "perf script --ns": lambda e, _: (
        f"{e.task:>16} {e.tid:5d} [{e.cpu:03d}] {seconds(e.ns)}000: optee:{e.name}: {e.args}"
    ),
    "perf script -F pid,tid,cpu,time,event,trace": lambda e, _: (
        f" 300/{e.tid:<5} [{e.cpu:03d}] {seconds(e.ns):>12}: optee:{e.name}: {e.args}"
    ),
    "perf script -F comm,tid,time,event,trace": lambda e, _: (
        f"{e.task:>16} {e.tid:5d} {seconds(e.ns):>12}: optee:{e.name}: {e.args}"
    ),
    "perf script -F comm,cpu,time,event,trace": lambda e, _: (
        f"{e.task:>16} [{e.cpu:03d}] {seconds(e.ns):>12}: optee:{e.name}: {e.args}"
    ),
    "perf script -F cpu,time,event,trace": lambda e, _: (
        f"[{e.cpu:03d}] {seconds(e.ns):>12}: optee:{e.name}: {e.args}"
    ),
    "perf script -F tid,time,event,trace": lambda e, _: (
        f"{e.tid:5d} {seconds(e.ns):>12}: optee:{e.name}: {e.args}"
    ),
    "perf script -F time,event,trace": lambda e, _: (
        f"{seconds(e.ns):>15}: optee:{e.name}: {e.args}"
    ),
    "perf script --reltime": lambda e, first: (
        f"{e.task:>16} {e.tid:5d} [{e.cpu:03d}] "
        f"{seconds(e.ns - first):>12}: optee:{e.name}: {e.args}"
    ),
}


def lines_of(events: list[Event], form: str = "tracefs") -> list[str]:
    return [FORMS[form](e, events[0].ns) for e in events]


def deltas(lines: list[str]) -> list[str]:
    """perf script --deltatime: each stamp is the difference to the line before."""
    out, last = [], None
    for line in lines:
        match = TIME.search(line)
        if match is None:
            out.append(line)
            continue
        now = round(float(match[1]) * 1e6)
        step = 0 if last is None else now - last
        last = now
        out.append(
            line[: match.start()] + f"{step // 10**6}.{step % 10**6:06d}" + line[match.end() :]
        )
    return out


def by_cpu(lines: list[str]) -> list[str]:
    """The files of the processors, one behind the other."""
    return sorted(lines, key=lambda line: int(CPU.search(line)[1]) if CPU.search(line) else -1)


def read(lines: list[str]) -> tg.Dataset:
    return tg.read(("\n".join(lines) + "\n").encode())


def spans(data: tg.Dataset) -> list[tuple[int, int, int]]:
    """Thread, start and total of every complete call."""
    rows = data.table("trace_calls")
    return [
        (int(rows["tid"][i]), int(rows["start"][i]), int(rows["total"][i]))
        for i in range(len(rows))
        if rows["state"][i] == "complete"
    ]

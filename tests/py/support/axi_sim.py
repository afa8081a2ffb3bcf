"""A small AXI simulation with known truth: rows of levels, and the transactions that made them.

Reads and writes are kept apart. A master keeps up to `outstanding` open and asks again after a
pause; a memory answers each id in order, with a latency, ready and gaps of its own.
"""

from __future__ import annotations

import random
from collections import deque
from dataclasses import dataclass, field

#: Signals of the rows, their widths.
SIGNALS = {
    "arvalid": 1, "arready": 1, "araddr": 32, "arlen": 8, "arid": 4,
    "rvalid": 1, "rready": 1, "rlast": 1, "rid": 4,
    "awvalid": 1, "awready": 1, "awaddr": 32, "awlen": 8, "awid": 4,
    "wvalid": 1, "wready": 1, "wlast": 1,
    "bvalid": 1, "bready": 1, "bid": 4,
}  # fmt: skip


@dataclass
class Traffic:
    """How reads, or writes, flow."""

    outstanding: int = 4
    ids: int = 1
    lengths: tuple[int, ...] = (16,)
    latency: tuple[int, int] = (20, 20)  #: from acceptance to the first data
    pause: tuple[int, int] = (0, 3)  #: before the master asks again
    gap: float = 0.1  #: of clocks without a beat inside a burst
    stall: float = 0.0  #: of clocks with READY low
    one_by_one: bool = False  #: the memory begins the next when the last has ended
    interleave: bool = False  #: beats of different ids mix
    lead: bool = False  #: write data may come before its address
    begin: int = 5  #: first sample with a command


@dataclass
class Txn:
    """A transaction and the samples of its events."""

    address: int
    id: int
    beats: int
    valid: int = -1
    accept: int = -1
    first: int = -1
    last: int = -1
    response: int = -1
    due: int = 0
    seen: int = 0


@dataclass
class Simulation:
    """Rows of levels and the truth."""

    rows: list[dict[str, int]] = field(default_factory=list)
    reads: list[Txn] = field(default_factory=list)
    writes: list[Txn] = field(default_factory=list)


class _Commands:
    """The address channel of one direction."""

    def __init__(self, traffic: Traffic, rng: random.Random, base: int) -> None:
        self.t, self.rng, self.base = traffic, rng, base
        self.up: Txn | None = None
        self.open = self.made = 0
        self.wait = traffic.begin
        self.open_ones: list[Txn] = []

    def offer(self, k: int, all_: list[Txn]) -> Txn | None:
        if self.up is None and self.open < self.t.outstanding:
            if self.wait > 0:
                self.wait -= 1
            else:
                self.up = Txn(
                    self.base + 0x100 * self.made,
                    self.rng.randrange(self.t.ids),
                    self.rng.choice(self.t.lengths),
                    valid=k,
                )
                self.made += 1
                self.open += 1
                all_.append(self.up)
        return self.up

    def accepted(self, k: int) -> Txn:
        assert self.up is not None
        txn, self.up = self.up, None
        txn.accept = k
        txn.due = k + self.rng.randint(*self.t.latency)
        self.wait = self.rng.randint(*self.t.pause)
        return txn

    def done(self) -> None:
        self.open -= 1
        self.wait = max(self.wait, self.rng.randint(*self.t.pause))


def simulate(seed: int, clocks: int, reads: Traffic | None, writes: Traffic | None) -> Simulation:
    """Run `clocks` clocks."""
    rng = random.Random(seed)
    out = Simulation()
    sides = []
    if reads is not None:
        sides.append(_Reads(reads, rng, out))
    if writes is not None:
        sides.append(_Writes(writes, rng, out))
    for k in range(clocks):
        row = dict.fromkeys(SIGNALS, 0)
        for side in sides:
            side.step(k, row)
        out.rows.append(row)
    return out


class _Reads:
    def __init__(self, t: Traffic, rng: random.Random, out: Simulation) -> None:
        self.t, self.rng, self.out = t, rng, out
        self.ar = _Commands(t, rng, 0x1000_0000)
        self.queue: dict[int, deque[Txn]] = {}
        self.on: Txn | None = None
        self.free_at = 0

    def step(self, k: int, row: dict[str, int]) -> None:
        t, rng = self.t, self.rng
        up = self.ar.offer(k, self.out.reads)
        if up is not None:
            row.update(arvalid=1, araddr=up.address, arlen=up.beats - 1, arid=up.id)
        row["arready"] = int(rng.random() >= t.stall)
        row["rready"] = 1
        if self.on is None:
            heads = [q[0] for q in self.queue.values() if q and q[0].due <= k and self.free_at <= k]
            if heads and (rng.random() >= t.gap):
                self.on = rng.choice(heads) if t.interleave else min(heads, key=lambda x: x.due)
        if self.on is not None and rng.random() >= t.gap:
            txn = self.on
            txn.first = k if txn.first < 0 else txn.first
            txn.seen += 1
            last = txn.seen == txn.beats
            row.update(rvalid=1, rlast=int(last), rid=txn.id)
            if last:
                txn.last = k
                self.queue[txn.id].popleft()
                self.ar.done()
                if t.one_by_one and self.queue[txn.id]:
                    head = self.queue[txn.id][0]
                    head.due = max(head.due, k + rng.randint(*t.latency))
            if last or t.interleave:
                self.on = None
        if row["arvalid"] and row["arready"]:
            txn = self.ar.accepted(k)
            txn.due = max(txn.due, k + 1)
            self.queue.setdefault(txn.id, deque()).append(txn)


class _Writes:
    def __init__(self, t: Traffic, rng: random.Random, out: Simulation) -> None:
        self.t, self.rng, self.out = t, rng, out
        self.aw = _Commands(t, rng, 0x2000_0000)
        self.data: deque[Txn] = deque()
        self.known: set[int] = set()
        self.queue: dict[int, deque[Txn]] = {}

    def step(self, k: int, row: dict[str, int]) -> None:
        t, rng = self.t, self.rng
        up = self.aw.offer(k, self.out.writes)
        if up is not None:
            row.update(awvalid=1, awaddr=up.address, awlen=up.beats - 1, awid=up.id)
            if t.lead and id(up) not in self.known:
                self.known.add(id(up))
                self.data.append(up)
        row["awready"] = int(rng.random() >= t.stall)
        row["wready"] = row["bready"] = 1
        heads = [
            q[0]
            for q in self.queue.values()
            if q and 0 <= q[0].last < k - t.latency[0] and q[0].due <= k
        ]
        if heads and rng.random() >= t.gap:
            txn = rng.choice(heads)
            txn.response = k
            row.update(bvalid=1, bid=txn.id)
            self.queue[txn.id].popleft()
            self.aw.done()
        if self.data and rng.random() >= t.gap:
            txn = self.data[0]
            txn.first = k if txn.first < 0 else txn.first
            txn.seen += 1
            row.update(wvalid=1, wlast=int(txn.seen == txn.beats))
            if txn.seen == txn.beats:
                txn.last = k
                self.data.popleft()
        if row["awvalid"] and row["awready"]:
            txn = self.aw.accepted(k)
            txn.due = max(txn.due, k + 1)
            self.queue.setdefault(txn.id, deque()).append(txn)
            if id(txn) not in self.known:
                self.known.add(id(txn))
                self.data.append(txn)


def csv_lines(simulation: Simulation, names: list[str] | None = None) -> tuple[str, list[str]]:
    """An ILA CSV's header and the cells of each row, without the sample numbers."""
    names = names or list(SIGNALS)
    head = "Sample in Buffer,Sample in Window,TRIGGER," + ",".join(
        f"u0/m_axi_{n}" + (f"[{SIGNALS[n] - 1}:0]" if SIGNALS[n] > 1 else "") for n in names
    )
    radix = "Radix - UNSIGNED,UNSIGNED,UNSIGNED" + ",HEX" * len(names)
    rows = [
        ",".join("X" if row[n] < 0 else f"{row[n]:0{(SIGNALS[n] + 3) // 4}x}" for n in names)
        for row in simulation.rows
    ]
    return f"{head}\n{radix}\n", rows


def cut(head: str, rows: list[str], at: int) -> bytes:
    """The capture from row `at` on."""
    part = rows[at:]
    return (head + "".join(f"{i},{i},0,{row}\n" for i, row in enumerate(part))).encode()


def vcd_of(
    simulations,
    names,
    periods,
    *,
    upper: bool = False,
    gap: bool = True,
    by_bits: bool = False,
    other_clocks=(),
) -> bytes:
    """Simulations side by side as a simulator's VCD, each in a scope with a clock of its own.

    `names`: of each a function of the signal. `gap`: a blank before the range. `by_bits`: each bit
    is a variable. `other_clocks`: names and periods of clocks that are no interface's.
    """
    head = ["$timescale 1ns $end", "$scope module tb $end"]
    changes: dict[int, list[str]] = {}
    for i, (simulation, name, period) in enumerate(zip(simulations, names, periods, strict=True)):
        head += [f"$scope module u{i} $end", f"$var wire 1 c{i} clk $end"]
        codes = {}
        for k, (signal, width) in enumerate(SIGNALS.items()):
            codes[signal] = f"s{i}_{k}"
            word = name(signal).upper() if upper else name(signal)
            sep = " " if gap else ""
            if by_bits and width > 1:
                head += [
                    f"$var wire 1 {codes[signal]}.{b} {word}{sep}[{b}] $end"
                    for b in reversed(range(width))
                ]
                continue
            bits = f"{sep}[{width - 1}:0]" if width > 1 else ""
            head.append(f"$var wire {width} {codes[signal]} {word}{bits} $end")
        head.append("$upscope $end")
        last: dict[str, int] = {}
        for k, row in enumerate(simulation.rows):
            at = changes.setdefault(k * period, [])
            at.append(f"0c{i}")
            for signal, value in row.items():
                if last.get(signal) != value:
                    at += _change(codes[signal], SIGNALS[signal], value, last.get(signal), by_bits)
                    last[signal] = value
            changes.setdefault(k * period + period // 2, []).append(f"1c{i}")
    end = max(changes)
    for i, (name, period) in enumerate(other_clocks):
        head.append(f"$var wire 1 o{i} {name} $end")
        for k, time in enumerate(range(0, end + 1, max(1, period // 2))):
            changes.setdefault(time, []).append(f"{k % 2}o{i}")
    out = [*head, "$upscope $end", "$enddefinitions $end"]
    for time in sorted(changes):
        out += [f"#{time}", *changes[time]]
    return ("\n".join(out) + "\n").encode()


def _change(code: str, width: int, value: int, old: int | None, by_bits: bool) -> list[str]:
    if width == 1:
        return [f"{'x' if value < 0 else value}{code}"]
    if not by_bits:
        return [f"bx {code}" if value < 0 else f"b{value:b} {code}"]
    bits = range(width)
    if value < 0:
        return [f"x{code}.{b}" for b in bits]
    known = old is not None and old >= 0
    return [f"{value >> b & 1}{code}.{b}" for b in bits if not known or (value ^ old) >> b & 1]


def any_traffic(rng: random.Random) -> Traffic:
    """A master and a memory with random habits."""
    least, pause = rng.choice((1, 2, 5, 10, 20, 60)), rng.choice((0, 0, 1, 2, 8, 30, 100))
    return Traffic(
        outstanding=rng.choice((1, 1, 2, 3, 4, 6, 8, 16)),
        ids=rng.choice((1, 1, 2, 4, 8)),
        lengths=rng.choice(((1,), (2,), (16,), (256,), (1, 16), (4, 8), tuple(range(1, 17)))),
        latency=(least, least + rng.choice((0, 0, 0, 1, 3, 20, 100))),
        pause=(pause, pause + rng.choice((0, 0, 1, 5, 50, 200))),
        gap=rng.choice((0, 0, 0.1, 0.5, 0.9)),
        stall=rng.choice((0, 0, 0.1, 0.5, 0.8, 0.95)),
        one_by_one=rng.random() < 0.3,
        interleave=rng.random() < 0.2,
        lead=rng.random() < 0.3,
        begin=rng.choice((0, 1, 5, 5, 50)),
    )

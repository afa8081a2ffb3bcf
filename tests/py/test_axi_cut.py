"""Captures that begin inside traffic: cut at random samples, nothing that is counted may be wrong.

The truth is a simulation's own; what a cut can prove is found by an oracle that tries 0 to 64 open
bursts an id at the start and keeps those numbers that the rest does not contradict.
"""

from __future__ import annotations

import os
import random

import numpy as np
import pytest

import tickgauge as tg
from support.axi_sim import Simulation, Traffic, any_traffic, csv_lines, cut, simulate, vcd_of

PREFIX = "m_axi_{}".format
MANY = os.environ.get("TICKGAUGE_SLOW") == "1"

#: Memory and master of each family; lengths and outstanding ones are put in.
FAMILIES = {
    "steady": {"latency": (20, 20), "pause": (0, 0), "gap": 0.0},
    "loose": {"latency": (5, 60), "pause": (0, 3), "gap": 0.1},
    "one by one": {"latency": (24, 24), "pause": (2, 2), "gap": 0.0, "one_by_one": True},
    "slow": {"latency": (10, 200), "pause": (0, 80), "gap": 0.3, "stall": 0.3},
    "interleaved": {
        "latency": (3, 9),
        "pause": (0, 10),
        "gap": 0.5,
        "interleave": True,
        "stall": 0.5,
    },
    "prompt": {"latency": (1, 1), "pause": (1, 6), "gap": 0.0},
}
LENGTHS = [(16,), (1,), (4, 8, 16), tuple(range(1, 17))]
CASES = [
    (family, outstanding, lengths, ids, side)
    for i, family in enumerate(FAMILIES)
    for j, outstanding in enumerate((1, 2, 4, 16) if MANY else (1, 4))
    for k, lengths in enumerate(LENGTHS)
    for ids, side in [((1, 4)[(i + j + k) % 2], ("read", "write", "both")[(i + k) % 3])]
]


def build(case, seed: int, clocks: int) -> Simulation:
    family, outstanding, lengths, ids, side = case
    how = {**FAMILIES[family], "outstanding": outstanding, "lengths": lengths, "ids": ids}
    reads = Traffic(**how) if side != "write" else None
    how["latency"] = tuple(min(x, 40) for x in how["latency"])
    how["lead"] = family in ("loose", "interleaved")
    return simulate(seed, clocks, reads, Traffic(**how) if side != "read" else None)


def spans_of(simulation: Simulation, at: int) -> dict[int, int]:
    """True spans by address, of what is asked for from sample `at` on."""
    out = {}
    for txn in simulation.reads + simulation.writes:
        end = txn.last if txn.address < 0x2000_0000 else txn.response
        if end >= 0 and txn.accept >= at:
            out[txn.address] = end - txn.valid
    return out


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c[0]}-{c[1]}-{len(c[2])}-{c[3]}-{c[4]}")
def test_no_counted_span_of_a_cut_capture_is_wrong(case):
    rng = random.Random(str(case))
    clocks = 3000 if MANY else 900
    simulation = build(case, rng.randrange(1 << 30), clocks)
    head, rows = csv_lines(simulation)
    for at in [0, *(rng.randrange(1, clocks - 20) for _ in range(200 if MANY else 12))]:
        port = tg.read_capture(cut(head, rows, at)).port()
        right = spans_of(simulation, at)
        found = counted_of(port)
        assert found == {a: right[a] for a in found}, at
        bounds = port.transactions.bounds
        for addr, span in zip(bounds["addr"].tolist(), bounds["span"].tolist(), strict=True):
            # what counts as open at the start is the least, so no span is told too long
            assert span <= right.get(addr, span) or case[4] != "read", at


def counted_of(port) -> dict[int, int]:
    """Counted spans by address."""
    part = port.transactions.counted
    return dict(zip(part["addr"].tolist(), part["span"].tolist(), strict=True))


@pytest.mark.parametrize("family", ["steady", "one by one", "prompt"])
def test_what_the_caller_knows_is_told_as_it_is(family):
    """Periodic traffic proves nothing of its start; who made the capture may know it."""
    simulation = build((family, 1, (16,), 1, "both"), 7, 900)
    data = cut(*csv_lines(simulation), 0)
    port = tg.read_capture(data, idle_start=True).port()
    assert counted_of(port) == spans_of(simulation, 0)
    assert {r["basis"] for r in port.starts} == {"told"}
    other = tg.read_capture(data).port(idle_start=True)
    assert counted_of(other) == counted_of(port)


def test_a_simulation_that_powers_up_begins_with_nothing():
    """Answers of which nothing is known at time 0; a window of an ILA has no such begin."""
    simulation = build(("steady", 4, (16,), 1, "both"), 3, 600)
    for name in ("rvalid", "rlast", "rid", "bvalid", "bid", "arready", "awready"):
        simulation.rows[0][name] = -1
    found = counted_of(tg.read_capture(vcd_of([simulation], (PREFIX,), (10,))).port())
    assert found == spans_of(simulation, 0)
    assert not counted_of(tg.read_capture(cut(*csv_lines(simulation), 0)).port())


@pytest.mark.parametrize("seed", range(400 if MANY else 40))
def test_no_counted_span_is_wrong_whatever_the_traffic(seed):
    """Masters and memories of all kinds, as windows of an ILA and as a simulator's files."""
    rng = random.Random(f"any{seed}")
    side = rng.choice(("read", "write", "both", "both"))
    clocks = rng.choice((200, 600, 1500))
    simulation = simulate(
        rng.randrange(1 << 30),
        clocks,
        any_traffic(rng) if side != "write" else None,
        any_traffic(rng) if side != "read" else None,
    )
    head, rows = csv_lines(simulation)
    for at in [0, *(rng.randrange(1, clocks - 10) for _ in range(4))]:
        end = clocks if rng.random() < 0.5 else rng.randrange(at + 5, clocks + 1)
        right = spans_of(simulation, at)
        part = Simulation(rows=simulation.rows[at:end])
        for data in (cut(head, rows[:end], at), vcd_of([part], (PREFIX,), (10,))):
            found = counted_of(tg.read_capture(data).port())
            assert found == {a: right.get(a) for a in found}, (at, end)


# ---- unknown levels, other clocks, other names -------------------------------------------------

HANDSHAKES = [f"{c}{f}" for c in ("ar", "r", "aw", "w", "b") for f in ("valid", "ready")]


def with_unknowns(simulation: Simulation, rng: random.Random, n: int) -> list[dict[str, int]]:
    rows = [dict(row) for row in simulation.rows]
    for _ in range(n):
        rows[rng.randrange(len(rows))][rng.choice(HANDSHAKES)] = -1
    return rows


@pytest.mark.parametrize("case", CASES[::3], ids=lambda c: f"{c[0]}-{c[1]}-{len(c[2])}-{c[3]}")
def test_no_counted_span_is_wrong_where_levels_are_unknown(case):
    rng = random.Random(f"x{case}")
    simulation = build(case, rng.randrange(1 << 30), 600)
    right = spans_of(simulation, 0)
    for n in (1, 1, 2, 5) * (8 if MANY else 2):
        rows = with_unknowns(simulation, rng, n)
        head, lines = csv_lines(Simulation(rows=rows))
        found = counted_of(tg.read_capture(cut(head, lines, 0)).port())
        assert found == {a: right[a] for a in found}


@pytest.mark.parametrize("periods", [(10, 10), (10, 20), (14, 10), (6, 50)])
def test_each_interface_is_sampled_at_its_own_clock(periods):
    cases = [CASES[0], CASES[7]]
    simulations = [build(c, 5 + i, 400) for i, c in enumerate(cases)]
    names = (lambda s: f"m_axi_{s}", lambda s: f"s_axi_{s}")
    capture = tg.read_capture(vcd_of(simulations, names, periods))
    for i, simulation in enumerate(simulations):
        port = capture.port(prefix=f"u{i}")
        assert (port.row["clock"], port.figures["cycles"]) == (f"tb.u{i}.clk", 400)
        right = spans_of(simulation, 0)
        found = counted_of(port)
        assert found == {a: right[a] for a in found}
        head, lines = csv_lines(simulation)
        alone = tg.read_capture(cut(head, lines, 0)).port()
        stamps = ("ax_valid", "ax_accept", "data_first", "data_last", "b_accept")
        assert [[t[n] for n in stamps] for t in port.transactions] == [
            [t[n] for n in stamps] for t in alone.transactions
        ]


# ---- what can be proven -------------------------------------------------------------------


def provable(simulation: Simulation, at: int) -> dict[int, int]:
    """Spans of reads that every number of 0 to 64 open bursts gives, id by id."""
    commands: dict[int, list[tuple[int, int, int, int]]] = {}
    bursts: dict[int, list[tuple[int, int, int, bool]]] = {}
    running: dict[int, list[int]] = {}
    up = None
    for k, row in enumerate(simulation.rows[at:]):
        if row["arvalid"]:
            up = k if up is None else up
            if row["arready"]:
                entry = (up, k, row["arlen"] + 1, row["araddr"])
                commands.setdefault(row["arid"], []).append(entry)
                up = None
        if row["rvalid"] and row["rready"]:
            run = running.setdefault(row["rid"], [k, 0])
            run[1] += 1
            if row["rlast"]:
                bursts.setdefault(row["rid"], []).append((run[0], k, run[1], True))
                del running[row["rid"]]
    for ident, (first, n) in running.items():
        bursts.setdefault(ident, []).append((first, first, n, False))
    out = {}
    for ident, asked in commands.items():
        seen = bursts.get(ident, [])
        values: list[set[int | None]] = [set() for _ in asked]
        for n in range(65):
            pairs = list(zip(asked, seen[n:], strict=False))
            late = len(seen) - n > len(asked) or any(b[0] <= c[1] for c, b in pairs)
            if late or any(b[2] != c[2] if b[3] else b[2] >= c[2] for c, b in pairs):
                continue
            ends = [b[1] - c[0] if b[3] else None for c, b in pairs]
            for value, end in zip(values, ends + [None] * (len(asked) - len(ends)), strict=True):
                value.add(end)
        for command, value in zip(asked, values, strict=True):
            if len(value) == 1 and None not in value:
                out[command[3]] = value.pop()
    return out


@pytest.mark.parametrize("ids", [1, 2, 4])
@pytest.mark.parametrize("outstanding", [1, 2, 4, 8, 16] if MANY else [1, 4, 16])
def test_of_what_can_be_proven_four_fifths_are_counted(outstanding, ids):
    """More than 64 bursts an id: with fewer, 64 open ones explain all of them."""
    rng = random.Random(f"{outstanding} {ids}")
    there = counted = 0
    for family in ("steady", "loose", "prompt", "interleaved") if MANY else ("steady", "prompt"):
        case = (family, outstanding, (2, 4, 8, 16), ids, "read")
        simulation = build(case, rng.randrange(1 << 30), 2400 * ids)
        head, rows = csv_lines(simulation)
        for at in (rng.randrange(1, 900) for _ in range(12 if MANY else 3)):
            proven = provable(simulation, at)
            found = counted_of(tg.read_capture(cut(head, rows, at)).port())
            there += len(proven)
            counted += len(proven.keys() & found.keys())
    assert there > 100
    assert counted >= 0.8 * there


def test_the_oracle_finds_a_number_that_lengths_prove():
    """70 bursts of lengths that do not repeat: with 3 open at the cut only 3 agrees."""
    rng = random.Random(1)
    case = ("steady", 4, tuple(np.arange(1, 65).tolist()), 1, "read")
    simulation = build(case, rng.randrange(1 << 30), 4000)
    proven = provable(simulation, 200)
    right = spans_of(simulation, 200)
    assert len(proven) > 20
    assert proven == {a: right[a] for a in proven}

"""Simulations of known truth, cut, renamed, with unknown levels and other clocks, all at once.

No counted figure may be wrong, and what cannot be known is said: by a lower bound, by a note or by
a message with the option that helps.
"""

from __future__ import annotations

import os
import random

import pytest

import tickgauge as tg
from support.axi_names import CONVENTIONS
from support.axi_names import SIGNALS as LEAVES
from support.axi_sim import SIGNALS, Simulation, any_traffic, simulate, vcd_of

MANY = os.environ.get("TICKGAUGE_SLOW") == "1"
SEEDS = range(3000 if MANY else 90)

#: Which side drives a signal of the simulation: the master, or the slave.
BY_MASTER = {f"{c}{f}": m for c, f, _, m in LEAVES}
PARTS = {f"{c}{f}": (c, f) for c, f, _, _ in LEAVES}
HANDSHAKES = [f"{c}{f}" for c in ("ar", "r", "aw", "w", "b") for f in ("valid", "ready")]
UNKNOWN = [*HANDSHAKES, "araddr", "arlen", "awlen", "rlast", "wlast", "rid", "bid", "arid"]


def right_spans(simulation: Simulation, at: int, end: int) -> dict[tuple[str, int], int]:
    """True spans, by direction and acceptance, of what is asked for and answered in [at, end)."""
    out = {}
    for txn in simulation.reads + simulation.writes:
        side = "read" if txn.address < 0x2000_0000 else "write"
        last = txn.last if side == "read" else txn.response
        if txn.accept >= at and 0 <= last < end:
            out[side, txn.accept - at] = last - txn.valid
    return out


def checked(port, simulation: Simulation, at: int, end: int) -> int:
    """No counted span is wrong; the text tells none that is not proven. How many are counted."""
    right = right_spans(simulation, at, end)
    part = port.transactions.counted
    found = {(t["direction"], t["ax_accept"]): t["span"] for t in part}
    assert found == {key: right.get(key) for key in found}
    figures = port.figures
    assert figures["complete_reads"] + figures["complete_writes"] == len(part)
    text = "\n".join([*port.story(), port.explain()])
    for direction in ("read", "write"):
        n = figures[f"complete_{direction}s"]
        assert (f"{direction} span: median" in text) == (n > 0)
        assert (f"{direction} has no proven span" in text or f"{direction}s have no" in text) == (
            figures[f"bound_{direction}s"] > 0
        )
    if not any(row["wvalid"] == 1 for row in simulation.rows[at:end]):
        assert figures["verdict"] in ("nothing", "unseen", "too few", "independent")
    return len(part)


def scenario(seed: int):
    """A simulation, the part of it that is captured, and the unknown levels in that part."""
    rng = random.Random(f"property {seed}")
    clocks = rng.choice((150, 400, 900))
    side = rng.choice(("read", "write", "both", "both"))
    simulation = simulate(
        rng.randrange(1 << 30),
        clocks,
        any_traffic(rng) if side != "write" else None,
        any_traffic(rng) if side != "read" else None,
    )
    at = rng.choice((0, rng.randrange(clocks // 2)))
    end = rng.choice((clocks, rng.randrange(at + 20, clocks + 1)))
    rows = [dict(row) for row in simulation.rows[at:end]]
    for _ in range(rng.choice((0, 0, 0, 1, 2, 8))):
        first, name = (
            rng.randrange(len(rows)),
            rng.choice([*HANDSHAKES, "araddr", "arlen", "rlast"]),
        )
        for row in rows[first : first + rng.choice((1, 1, 3, 30))]:
            row[name] = -1
    return rng, simulation, at, end, Simulation(rows=rows)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_file_under_any_name_tells_nothing_wrong(seed):
    rng, simulation, at, end, part = scenario(seed)
    convention = rng.choice(list(CONVENTIONS))
    period = rng.choice((2, 10, 14, 1000))
    others = [("aclk2x", period // 2), ("clk_div", 4 * period), ("tb_clk", 3 * period)]
    rng.shuffle(others)
    data = vcd_of(
        [part],
        [lambda s: CONVENTIONS[convention](*PARTS[s], BY_MASTER[s])],
        [period],
        upper=convention != "camel" and rng.random() < 0.3,
        gap=rng.random() < 0.5,
        by_bits=rng.random() < 0.3 and "array" not in convention,
        other_clocks=others[: rng.randrange(3)] if period > 2 else (),
    )
    capture = tg.read_capture(data)
    usable = [r for r in capture.interfaces if r["usable"] and r["same_as"] is None]
    assert len(usable) == 1, (convention, capture.list_interfaces())
    port = capture.port()
    assert port.row["clock"].endswith("u0.clk")
    assert port.figures["cycles"] == len(part.rows)
    checked(port, simulation, at, end)


@pytest.mark.parametrize("seed", SEEDS[: len(SEEDS) // 3])
def test_two_clock_domains_are_two_interfaces(seed):
    one, two = scenario(2 * seed), scenario(2 * seed + 1)
    rng = one[0]
    periods = rng.sample((4, 6, 10, 14, 50, 200), 2)
    names = [lambda s: f"s_axi_{s}", lambda s: f"m_axi_{s}"]
    capture = tg.read_capture(vcd_of([one[4], two[4]], names, periods))
    for i, (_, simulation, at, end, part) in enumerate((one, two)):
        port = capture.port(prefix=f"tb.u{i}")
        assert port.row["clock"] == f"tb.u{i}.clk"
        assert port.figures["cycles"] == len(part.rows)
        checked(port, simulation, at, end)


@pytest.mark.parametrize("seed", SEEDS[: len(SEEDS) // 3])
def test_a_table_of_any_tool_tells_nothing_wrong(seed):
    """Plain CSV, one row a clock: hex with or without 0x, binary, decimal where it says so."""
    rng, simulation, at, end, part = scenario(seed)
    convention = rng.choice([k for k in CONVENTIONS if "," not in k])
    names = [CONVENTIONS[convention](*PARTS[s], BY_MASTER[s]) for s in SIGNALS]
    heads = [
        f"{n}[{w - 1}:0]" if w > 1 else n for n, w in zip(names, SIGNALS.values(), strict=True)
    ]
    style = rng.choice(("{:x}", "0x{:x}"))
    delimiter = rng.choice((",", ";", "\t"))
    lines = [delimiter.join(heads)]
    lines += [
        delimiter.join("x" if v < 0 else style.format(v) for v in row.values()) for row in part.rows
    ]
    capture = tg.read_capture(("\n".join(lines) + "\n").encode())
    port = capture.port()
    assert port.figures["cycles"] == len(part.rows)
    checked(port, simulation, at, end)

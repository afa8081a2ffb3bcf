"""Two ports side by side: their transactions matched by direction, address class and size."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..errors import NotComparableError
from ..frame.frame import Column, Frame
from .findings import HELD, missing
from .port import Port
from .transactions import CLASS_BITS, Addressed, grouped

__all__ = ["compare_ports", "in_short", "side_by_side"]


def _groups(port: Port, bits: int) -> dict[tuple[str, int | None, int | None], list[int]]:
    """Sorted spans by direction, address class and bytes."""
    part = port.transactions.counted
    group, names = grouped(part, bits)
    spans = part.column("span").data
    return {name: np.sort(spans[group == g]).tolist() for g, name in enumerate(names)}


def _middle(values: Sequence[int]) -> int | None:
    """The smallest value with at least half of the values at or below it."""
    return values[(len(values) + 1) // 2 - 1] if values else None


def compare_ports(old: Port, new: Port, *, bits: int = CLASS_BITS) -> Frame:
    """Two captures side by side: transactions matched by direction, address class and size.

    Parameters
    ----------
    old, new : Port
    bits : int
        Addresses are of one class when they agree above these bits.

    Returns
    -------
    Frame
        One row a group: direction, addr (of the class), bytes, n and median span on each side
        (the inverted CDF at 1/2), delta in clocks, percent, ratio; missing where one side has
        none.

    Raises
    ------
    NotComparableError
        No group is on both sides.
    """
    for name, port in (("old", old), ("new", new)):
        if not isinstance(port, Port):
            raise TypeError(f"{name} is a Port (capture.port()), not {type(port).__name__}")
    for port in (old, new):
        if port.is_stream:
            raise NotComparableError(f"{port.capture.name}: a stream has no transactions")
    a, b = _groups(old, bits), _groups(new, bits)
    order = sorted({*a, *b}, key=lambda k: (k[0], k[1] or 0, k[2] or 0))
    for port, groups in ((old, a), (new, b)):
        if not groups and len(port.transactions.bounds):
            raise NotComparableError(
                f"{port.capture.name}: all spans are lower bounds, how many were open when the "
                "capture began is not known (--idle-start where you know that none was)"
            )
    if a and b and not {*a} & {*b}:
        raise NotComparableError("no direction, address class and size is in both captures")
    rows = []
    for key in order:
        x, y = _middle(a.get(key, ())), _middle(b.get(key, ()))
        delta = None if x is None or y is None else y - x
        percent = None if delta is None or not x else 100 * delta / x
        ratio = None if x is None or y is None or not x else y / x
        rows.append((*key, len(a.get(key, ())), x, len(b.get(key, ())), y, delta, percent, ratio))
    return _comparison_frame(rows)


_PHRASES = {
    "nothing": "no data is written while a read is asked for",
    "too few": "too few clocks to tell",
    "independent": "independent",
    "slowed": "reads move less while writes flow",
    "blocked": "reads stop while writes flow",
}


def _phrase(port: Port) -> str:
    f = port.figures
    if f["verdict"] == "unseen":
        return f"nothing can be told, {missing(port)}"
    if f["verdict"] in HELD and f["where"] == "address":
        return f"{_PHRASES[f['verdict']]}, in the address channel"
    return _PHRASES[f["verdict"]]


def in_short(old: Port, new: Port, names: tuple[str, str] = ("old", "new")) -> str:
    """One sentence to hand on: the verdict on each capture, and the slowest read of a blocked one.

    Parameters
    ----------
    old, new : Port
    names : pair of str
        The names of the two.
    """
    parts = []
    for port, name in ((new, names[1]), (old, names[0])):
        text = f"{name}: {_phrase(port)}"
        reads = port.transactions.counted.reads
        f = port.figures
        if f["verdict"] in HELD and "data" in f["where"] and len(reads):
            row = reads.slowest(1).row(0)
            text += f"; {row['blocked']} of {row['span']} clocks of the slowest read"
        parts.append(text)
    return "; ".join(parts)


def side_by_side(old: Port, new: Port) -> list[tuple[str, Any, Any, float | None]]:
    """Figures of both ports: name, old, new, new / old; None where a side does not have it."""
    rows: list[tuple[str, Any, Any, float | None]] = []

    def add(what: str, x: float | None, y: float | None, ratio: bool = True) -> None:
        there = ratio and x is not None and y is not None and x > 0
        rows.append((what, x, y, y / x if there and x and y is not None else None))

    for direction in ("read", "write"):
        x, y = (_middle(p.spans(direction).tolist()) for p in (old, new))
        add(f"{direction} span, median [clocks]", x, y)
    for direction in ("read", "write"):
        add(f"{direction} bytes per clock", _bytes(old, direction), _bytes(new, direction))
    for key, words in (
        ("w", "write beats while a read is open"),
        ("blocked", "  of these, no read data offered"),
        ("expected_blocked", "  expected if independent"),
        ("address_held_w", "ARVALID held, with a write beat"),
    ):
        add(words, _figure(old, key), _figure(new, key), ratio=False)
    for key, words in (("p_given_w", "W beat"), ("p_given_no_w", "no W beat")):
        add(f"P(R beat | {words})", _figure(old, key), _figure(new, key), ratio=False)
    return [r for r in rows if r[1] is not None or r[2] is not None]


def _figure(port: Port, key: str) -> float | None:
    f = port.figures
    if f["verdict"] == "unseen":
        return None
    value = f["r_and_w"] + f["w_only"] if key == "w" else f[key]
    return None if value != value else value


def _bytes(port: Port, direction: str) -> float | None:
    """Bytes per clock of the whole capture."""
    rows = port.transactions[port.transactions["direction"] == direction]
    column = rows.column("bytes")
    data = column.data if column.valid is None else column.data[column.valid]
    n = port.figures["cycles"]
    return float(data.sum()) / n if n and len(data) else None


def _comparison_frame(rows: Iterable[Sequence[Any]]) -> Frame:
    names = (
        "direction",
        "addr",
        "bytes",
        "n_old",
        "old",
        "n_new",
        "new",
        "delta",
        "percent",
        "ratio",
    )
    types = ("text", "u64", "u64", "u64", "i64", "u64", "i64", "i64", "f64", "f64")
    table = list(rows)
    columns = []
    for i, (name, kind) in enumerate(zip(names, types, strict=True)):
        cells = [row[i] for row in table]
        if kind == "text":
            columns.append(Column.of(name, cells or np.zeros(0, "O")))
            continue
        valid = np.array([c is not None for c in cells], "?")
        data = np.array([0 if c is None else c for c in cells], _KINDS[kind])
        columns.append(Column.of(name, data, None if valid.all() else valid))
    return Addressed(columns, "groups of transactions")


_KINDS = {"u64": "u8", "i64": "i8", "f64": "f8"}

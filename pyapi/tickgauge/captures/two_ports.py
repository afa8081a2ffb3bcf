"""Two ports side by side: their transactions matched by direction, address class and size."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..errors import NotComparableError
from ..frame.frame import Column, Frame
from .port import Port
from .transactions import CLASS_BITS, grouped

__all__ = ["compare_ports"]


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
    a, b = _groups(old, bits), _groups(new, bits)
    order = sorted({*a, *b}, key=lambda k: (k[0], k[1] or 0, k[2] or 0))
    for port, groups in ((old, a), (new, b)):
        if not groups and len(port.transactions.bounds):
            raise NotComparableError(
                f"{port.capture.name}: all spans are lower bounds, how many were open when the "
                "capture began is not known"
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
    return Frame(columns, "groups of transactions")


_KINDS = {"u64": "u8", "i64": "i8", "f64": "f8"}

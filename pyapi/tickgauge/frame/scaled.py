"""Times for a person: one unit a table, three significant digits, points below each other."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from .grid import Grid

__all__ = ["scaled"]

UNITS = (("ns", 0), ("us", 3), ("ms", 6), ("s", 9))

#: Columns that hold an amount of the row's unit.
AMOUNTS = frozenset(
    ("min", "p50", "median", "p90", "p95", "p99", "p99.9", "max", "mean", "sd", "mad", "uart")
)

#: No unit in which a time is smaller than this, and at most so many decimals.
SMALLEST, DECIMALS = 0.01, 3


def scaled(grid: Grid) -> Grid:
    """The grid with its times in one unit: that of the times in the middle.

    Rows whose column "unit" is not "ns" stay as they are.

    Parameters
    ----------
    grid : Grid

    Returns
    -------
    Grid

    Examples
    --------
    >>> print(scaled(Grid(("hop", "median", "max", "unit"), [("a", 7125.0, 99_000, "ns")])))
    hop  median    max  unit
    a      7.12  99.00  us
    """
    if "unit" not in grid.names:
        return grid
    at = grid.names.index("unit")
    amounts = [i for i, name in enumerate(grid.names) if name in AMOUNTS]
    sizes = [
        abs(float(row[i]))
        for row in grid.rows if row[at] == "ns"
        for i in amounts if _is_number(row[i]) and row[i] != 0
    ]  # fmt: skip
    unit, exp10 = _unit_of(sizes)
    decimals = _decimals([size / 10**exp10 for size in sizes])

    def shown(row: Sequence[Any]) -> list[Any]:
        if row[at] != "ns":
            return list(row)
        out = [
            _decimal(cell, exp10, decimals) if i in amounts and _is_number(cell) else cell
            for i, cell in enumerate(row)
        ]
        out[at] = unit
        return out

    return Grid(
        grid.names, [shown(row) for row in grid.rows],
        headings=grid.headings, wide=grid.wide, digits=grid.digits,
    )  # fmt: skip


def _is_number(cell: Any) -> bool:
    return isinstance(cell, int | float | Decimal) and math.isfinite(cell)


def _unit_of(sizes: Sequence[float]) -> tuple[str, int]:
    """The largest unit that the middle reaches and of which none is less than `SMALLEST`."""
    if not sizes:
        return UNITS[0]
    middle, least = statistics.median(sizes), min(sizes)
    fit = [u for u in UNITS if middle >= 10 ** u[1] and least >= SMALLEST * 10 ** u[1]]
    return fit[-1] if fit else UNITS[0]


def _decimals(sizes: Sequence[float]) -> int:
    """Decimals with which nine of ten have three digits, and the smallest two."""
    if not sizes:
        return 0
    tenth = sorted(sizes)[len(sizes) // 10]
    digits = (2 - math.floor(math.log10(tenth)), 1 - math.floor(math.log10(min(sizes))))
    return min(DECIMALS, max(0, *digits))


def _decimal(cell: float | Decimal, exp10: int, decimals: int) -> Decimal:
    exact = Decimal(cell).scaleb(-exp10)
    return exact.quantize(Decimal(1).scaleb(-decimals))

"""The delta of the published pages, in the page's own unit.

A cell is the new value, a blank, and the change in brackets: ``(new-old)/old`` as a percentage
with its sign and two decimals. The bracket is left out where the two are close:
``|new-old| <= T*max(|old|,|new|)``. The pages computed both in binary64 with the numbers as they
print them, so microseconds give other last digits than nanoseconds, and decide ties otherwise:
2.76 against 3.68 us is ``-25.00%`` at T = 0.25 because 3.68-2.76 is a little more than 0.92.

Source: TF-A's pages v2.10 to v2.15 and the rule of the scripts that made them; checked on all
published cells.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import Decimal
from typing import NamedTuple

__all__ = ["Interval", "close", "number_text", "percent", "threshold_interval"]

DEFAULT_THRESHOLD = 0.02


def number_text(ns: int, unit: str) -> str:
    """A value in whole ns as a page in `unit` (``"ns"`` or ``"us"``) prints it.

    Nanoseconds are whole; microseconds have no more decimals than they need and at least one,
    the shortest decimal that is exact (``38.3``, ``0.26``, ``2.0``).
    """
    if unit == "ns":
        return str(ns)
    text = f"{Decimal(ns).scaleb(-3):f}".rstrip("0")
    return text + "0" if text.endswith(".") else text


def percent(old: float, new: float) -> str:
    """``(new-old)/old`` as the pages print it: ``+12.50%``; two decimals, half to even.

    The quotient is rounded to binary64 before it is multiplied by 100, as the pages' script does.

    From a value of 0 there is no percentage: the text then says ``from 0``.
    """
    if old == 0:
        return "+0.00%" if new == 0 else "from 0"
    return f"{(new - old) / old:+.2%}"


def close(old: float, new: float, threshold: float | None) -> bool:
    """True where the pages leave the bracket out; never for a threshold of None."""
    return threshold is not None and abs(new - old) <= threshold * max(abs(old), abs(new))


class Interval(NamedTuple):
    """The thresholds a set of cells allows: ``low <= T < high``; empty where high <= low."""

    low: float
    high: float

    @property
    def empty(self) -> bool:
        """True where no threshold explains the cells."""
        return not self.low < self.high

    def simplest(self) -> float | None:
        """The value with the fewest decimals in the interval, of several the largest.

        None where the interval is empty.
        """
        if self.empty:
            return None
        if math.isinf(self.high):
            return self.low
        for digits in range(1, 13):
            scale = float(10**digits)
            top = math.floor(self.high * scale)
            for value in (top / scale, (top - 1) / scale):
                if self.low <= value < self.high:
                    return value
        return self.low

    def __str__(self) -> str:
        low, high = f"{self.low:.6g}", "any" if math.isinf(self.high) else f"{self.high:.6g}"
        if low == high:
            high = f"{low} + {self.high - self.low:.0e}"
        return f"[{low}, {high})"


def threshold_interval(cells: Iterable[tuple[float, float, bool]]) -> tuple[Interval, int]:
    """The thresholds under which exactly the cells with a bracket get one.

    Parameters
    ----------
    cells
        ``(old, new, printed)`` in the page's unit; `printed` is True where the cell has a bracket.

    Returns
    -------
    Interval
        Between the largest relative change without a bracket and the smallest with one; the
        change is taken relative to the larger of the two values. Where no threshold explains all
        cells, the interval that leaves the fewest unexplained, of several the lowest.
    int
        How many cells it leaves unexplained.
    """
    changes = []
    for old, new, printed in cells:
        larger = max(abs(old), abs(new))
        changes.append((abs(new - old) / larger if larger else 0.0, printed))
    gained: dict[float, int] = {}  # errors more where the threshold passes a change
    for change, printed in changes:
        if change > 0:
            gained[change] = gained.get(change, 0) + (1 if printed else -1)
    steps = sorted(gained)
    # Below the first step every changed cell needs a bracket and no equal one.
    errors = sum(printed == (change == 0) for change, printed in changes)
    best = Interval(0.0, steps[0] if steps else math.inf)
    fewest = errors
    for at, step in enumerate(steps):
        errors += gained[step]
        if errors < fewest:
            above = steps[at + 1] if at + 1 < len(steps) else math.inf
            best, fewest = Interval(step, above), errors
    return best, fewest

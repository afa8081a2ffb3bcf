"""``comparison.plot`` and ``trend.plot``: what changed, drawn."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .deltas import Shift, forest

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..comparison import Comparison


class ComparisonPlot:
    """Plots of a comparison; each takes ``ax=`` and returns Axes."""

    def __init__(self, comparison: Comparison) -> None:
        self._comparison = comparison

    def forest(self, ax: Axes | None = None, *, limit: int = 40, title: str = "") -> Axes:
        """Shift, interval, margin and verdict of the first `limit` keys.

        Parameters
        ----------
        ax : Axes, optional
        limit : int
            Keys to show, in the order of the comparison: regressed first, largest change first.
        """
        from ..sides import units_word

        made = self._comparison
        rows = [made.rows.row(i) for i in range(min(limit, len(made.rows)))]
        shifts = [
            Shift(
                row["key"],
                _percent(row, "shift"),
                _percent(row, "lo"),
                _percent(row, "hi"),
                row["verdict"],
                _percent(row, "delta"),
            )
            for row in rows
        ]
        return forest(shifts, ax, title=title, unit=units_word(made.unit, *made.units))


def _percent(row: Mapping[str, Any], name: str) -> float:
    """A length of the row relative to its old median; NaN where either is missing."""
    value = row[name]
    return math.nan if value is None or not row["old"] else 100 * value / abs(row["old"])

"""``comparison.plot`` and ``trend.plot``: changes, drawn."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from . import deltas
from .deltas import Shift
from .drawn import ComparisonLike, TrendLike
from .style import Floats, Series

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class ComparisonPlot:
    """Plots of a comparison; each takes ``ax=`` and returns Axes."""

    def __init__(self, comparison: ComparisonLike) -> None:
        self._comparison = comparison

    def __call__(self, ax: Axes | None = None, *, limit: int = 40, title: str = "") -> Axes:
        """`forest`, the plot that a comparison has."""
        return self.forest(ax, limit=limit, title=title)

    def forest(self, ax: Axes | None = None, *, limit: int = 40, title: str = "") -> Axes:
        """Shift, interval, margin and verdict of the first `limit` keys.

        Parameters
        ----------
        ax : Axes, optional
        limit : int
            Keys to show, in the order of the comparison: regressed first, largest change first.
        """
        made = self._comparison
        shifts = shifts_of(made, limit)
        drawn = deltas.forest(shifts, ax, title=title, unit=made.units_text)
        if len(made.rows) > len(shifts):
            more = f"the first {len(shifts)} of {len(made.rows)} keys"
            drawn.set_xlabel(f"{drawn.get_xlabel()}; {more}")
        return drawn


def shifts_of(made: ComparisonLike, limit: int) -> list[Shift]:
    """The first rows of a comparison as rows of a forest plot."""
    rows = [made.rows.row(i) for i in range(min(limit, len(made.rows)))]
    return [
        Shift(
            row["key"],
            _number(row["percent"]),
            _number(row["percent_lo"]),
            _number(row["percent_hi"]),
            row["verdict"],
            _number(row["margin"]) if row["percent"] is not None else math.nan,
        )
        for row in rows
    ]


def _number(value: float | None) -> float:
    return math.nan if value is None else float(value)


class TrendPlot:
    """Plots of a trend; each takes ``ax=`` and returns Axes."""

    def __init__(self, trend: TrendLike) -> None:
        self._trend = trend

    def steps(
        self, ax: Axes | None = None, *, keys: Sequence[str] | None = None, title: str = ""
    ) -> Axes:
        """Values over releases with the level of every segment.

        Parameters
        ----------
        ax : Axes, optional
        keys : sequence of str, optional
            By default the first six that step.

        Raises
        ------
        UnknownName
            No such key; the message lists those that exist.
        """
        made = self._trend
        wanted = list(dict.fromkeys(made.steps["key"]))[:6] if keys is None else list(keys)
        place = {name: i for i, name in enumerate(made.releases)}
        starts: dict[str, list[int]] = {}
        for row in made.steps:
            starts.setdefault(row["key"], []).append(place[row["at"]])
        rows = self._rows(wanted)
        lines = [(Series(key, rows[key]), starts.get(key, [])) for key in wanted]
        return deltas.steps(made.releases, lines, ax, title=title)

    def heatmap(
        self, ax: Axes | None = None, *, keys: Sequence[str] | None = None, title: str = ""
    ) -> Axes:
        """Keys over releases as factors of their first value. Parameters as of `steps`."""
        made = self._trend
        wanted = list(dict.fromkeys(made.steps["key"]))[:24] if keys is None else list(keys)
        rows = self._rows(wanted)
        values = np.array([rows[key] for key in wanted]).reshape(len(wanted), len(made.releases))
        known = ~np.isnan(values)
        first = values[np.arange(len(wanted)), known.argmax(axis=1)]
        return deltas.heatmap(values / first[:, None], wanted, made.releases, ax, title=title)

    def _rows(self, wanted: Sequence[str]) -> dict[str, Floats]:
        """The values of the keys, one a release, NaN where not measured."""
        made = self._trend
        chosen = made.series.select(key=list(wanted))
        columns = [f"r{n}" for n in range(len(made.releases))]
        return {
            row["key"]: np.array([np.nan if row[c] is None else row[c] for c in columns], "f8")
            for row in chosen
        }

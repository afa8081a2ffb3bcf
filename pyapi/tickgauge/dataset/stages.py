"""The stages of boots beside each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..frame.frame import Frame
from ..frame.grid import Grid

__all__ = ["beside"]

#: Boots that are shown beside each other, and stages: the longest of them.
MOST_BESIDE, MOST_ROWS = 8, 60


def _rows(stages: Frame) -> list[dict[str, Any]]:
    return list(stages)


def _boots(rows: Sequence[dict[str, Any]]) -> list[int]:
    return sorted({row["boot"] for row in rows if row["boot"] is not None})


def beside(stages: Frame) -> Grid:
    """Durations of the stages, one column a boot.

    Parameters
    ----------
    stages : Frame
        ``Dataset.stages``.

    Returns
    -------
    Grid
        Rows in the order in which stages occur; milliseconds, or ticks where no clock is known
        (then the unit says so). At most `MOST_BESIDE` boots, and the `MOST_ROWS` longest stages.
        A stage that a boot has several times is counted: the second one is a row of its own.
    """
    rows = _rows(stages)
    boots = _boots(rows)[:MOST_BESIDE]
    cells: dict[tuple[Any, ...], dict[int, Any]] = {}
    seen: dict[tuple[Any, ...], int] = {}
    for row in rows:
        if row["boot"] not in boots or row["ticks"] is None:
            continue
        unit = "ms" if row["ns"] is not None else "tick"
        name = (row["service"], row["stage"], row["cpu"], unit)
        seen[name, row["boot"]] = again = seen.get((name, row["boot"]), 0) + 1
        value = row["ns"] / 1e6 if unit == "ms" else int(row["ticks"])
        cells.setdefault((*name, again), {})[row["boot"]] = value
    names = ["service", "stage", "cpu", "unit", *(f"boot {b}" for b in boots)]
    longest = set(sorted(cells, key=lambda key: -max(cells[key].values()))[:MOST_ROWS])
    kept = [key for key in cells if key in longest]
    lines = [[*key[:4]] + [cells[key].get(b) for b in boots] for key in kept]
    return Grid(names, lines, digits={f"boot {b}": 3 for b in boots})

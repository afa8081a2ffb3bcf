"""The stages of boots: one boot as a waterfall of text, boots beside each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..frame.frame import Frame
from ..frame.grid import Grid

__all__ = ["beside", "waterfalls"]

#: Characters of a bar.
WIDTH = 40

#: Boots that are shown one by one, and beside each other.
MOST_WATERFALLS, MOST_BESIDE = 4, 8


def _rows(stages: Frame) -> list[dict[str, Any]]:
    return list(stages)


def _duration(row: dict[str, Any]) -> str:
    """Milliseconds where the clock is known, else ticks."""
    if row["ns"] is not None:
        return f"{row['ns'] / 1e6:.3f} ms"
    return "-" if row["ticks"] is None else f"{row['ticks']} ticks"


def _boots(rows: Sequence[dict[str, Any]]) -> list[int]:
    return sorted({row["boot"] for row in rows if row["boot"] is not None})


def _bars(rows: list[dict[str, Any]]) -> list[str]:
    """One line a stage; bars of a service share its clock, so they share a scale."""
    placed = [r for r in rows if r["start"] is not None and r["finish"] is not None]
    low = min((r["start"] for r in placed), default=0)
    span = max((r["finish"] for r in placed), default=0) - low
    wide = max(len(str(r["stage"])) for r in rows)
    lines = []
    for row in rows:
        bar = ""
        if row in placed and span > 0:
            start = round((row["start"] - low) * WIDTH / span)
            end = round((row["finish"] - low) * WIDTH / span)
            bar = " " * min(start, WIDTH - 1) + "#" * max(1, end - start)
        state = "" if row["state"] == "complete" else f" {row['state']}"
        lines.append(f"{row['stage']!s:{wide}}  {_duration(row):>14}  |{bar:{WIDTH}}|{state}")
    return lines


def waterfalls(stages: Frame) -> list[tuple[str, list[str]]]:
    """Title and lines of each service of each boot.

    Parameters
    ----------
    stages : Frame
        ``Dataset.stages``.

    Returns
    -------
    list of (str, list of str)
        Of the first `MOST_WATERFALLS` boots. A ``#`` is a fortieth of the service's time in that
        boot, at least one a stage; stages without a place in time (times that U-Boot added up)
        have no bar.
    """
    rows = _rows(stages)
    out = []
    for boot in _boots(rows)[:MOST_WATERFALLS]:
        of_boot = [row for row in rows if row["boot"] == boot]
        for service in dict.fromkeys(row["service"] for row in of_boot):
            part = [row for row in of_boot if row["service"] == service]
            out.append((f"boot {boot}, {service}", _bars(part)))
    return out


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
        (then the unit says so). At most `MOST_BESIDE` boots. A stage that a boot has several
        times is counted: the second one is a row of its own.
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
    lines = [[*key[:4]] + [values.get(b) for b in boots] for key, values in cells.items()]
    return Grid(names, lines, digits={f"boot {b}": 3 for b in boots})

"""Boots of two versions: which stage, or which gap between them, takes longer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..dataset.dataset import Dataset
from ..dataset.from_columns import from_columns
from ..dataset.timeline import Strip, boots_of, timeline
from ..errors import NotComparableError
from ..frame.grid import Grid
from .compare import compare
from .result import Comparison

__all__ = ["BootDelta", "boot_delta", "median_boot"]

#: Service and name.
Stage = tuple[str, str]
#: A stage that is shorter than this part of its boots, on both sides, is not compared.
SHARE = 0.002
#: The service of gaps, and of the boot as a whole.
NOBODY, ALL = "nobody", "all"
#: Characters of the bar of a change.
BAR = 14


class BootDelta:
    """Stages of two sides beside each other.

    Attributes
    ----------
    comparison : Comparison
        Each stage, each gap (added up for each whole that it lies in), and the boots as a whole;
        a boot is one observation.
    notes : list of str
        Why the clocks of a side could not be joined.
    """

    def __init__(
        self, order: list[Stage], sides: Sequence[dict[Stage, float]],
        comparison: Comparison, notes: list[str],
    ) -> None:  # fmt: skip
        self.comparison = comparison
        self.notes = notes
        self._order = order
        self._medians = sides

    def grid(self) -> Grid:
        """One row a stage, in the order of the boot; milliseconds.

        Returns
        -------
        Grid
            ``bar`` has ``+`` for a fourteenth of the largest change where it is slower, ``-``
            where it is faster.
        """
        old, new = self._medians
        rows = self.comparison.rows
        judged = {(row["test"], row["operation"]): row["verdict"] for row in rows}
        changes = [new[k] - old[k] for k in self._order if k in old and k in new and k[0] != ALL]
        most = max(map(abs, changes), default=0.0)
        lines = []
        for key in self._order:
            a, b = old.get(key), new.get(key)
            change = None if a is None or b is None else b - a
            bar = _bar(change, most) if change is not None and key[0] != ALL else ""
            verdict = judged.get(key, "only new" if a is None else "only old" if b is None else "")
            values = (None if v is None else v / 1e6 for v in (a, b, change))
            lines.append([*key, *values, verdict, bar])
        names = ("service", "stage", "old", "new", "change", "verdict", "bar")
        heads = {"old": "old ms", "new": "new ms", "change": "change", "bar": "+ slower"}
        return Grid(names, lines, headings=heads, digits=dict.fromkeys(("old", "new", "change"), 1))


def _bar(change: float, most: float) -> str:
    n = round(abs(change) * BAR / most) if most else 0
    return ("+" if change > 0 else "-") * n


def median_boot(data: Dataset, joins: Sequence[Any] = ()) -> int:
    """The boot of median length; of two the shorter one.

    Parameters
    ----------
    data : Dataset
    joins : sequence
        As for `timeline`.

    Returns
    -------
    int
    """
    lengths = sorted(
        (sum(strip.length for strip in timeline(data, boot, joins)[0]), boot)
        for boot in boots_of(data)
    )
    return lengths[(len(lengths) - 1) // 2][1]


def _times(strips: Sequence[Strip]) -> dict[Stage, int]:
    """Nanoseconds of each stage and gap of a boot; equal names are added up."""
    found: dict[Stage, int] = {}
    for strip in strips:
        for bar in strip.bars:
            key = (NOBODY, bar.inside or bar.name) if bar.gap else (bar.service, bar.name)
            found[key] = found.get(key, 0) + bar.ns
    if len(strips) == 1:
        found[ALL, "the boot"] = strips[0].length
    return found


def boot_delta(old: Dataset, new: Dataset, joins: Sequence[Any] = (), **options: Any) -> BootDelta:
    """Compare the boots of two sides stage by stage.

    Parameters
    ----------
    old, new : Dataset
    joins : sequence
        As for `timeline`.
    **options
        As for `compare`.

    Returns
    -------
    BootDelta

    Raises
    ------
    NotComparableError
        A side has no stages, or only stages in ticks of a clock that is not known.
    """
    order: dict[Stage, None] = {}
    notes: list[str] = []
    sides = [_side(data, joins, order, notes) for data in (old, new)]
    kept = {
        key
        for boots in sides
        for times in boots
        for key, ns in times.items()
        if ns >= SHARE * max(times.values())
    }
    a, b = (_as_dataset(boots, kept) for boots in sides)
    keys = [key for key in [*order, (ALL, "the boot")] if key in kept]
    result = compare(a, b, "boot", **options)
    medians = [_medians(boots, kept) for boots in sides]
    return BootDelta(keys, medians, result, list(dict.fromkeys(notes)))


def _side(
    data: Dataset, joins: Sequence[Any], order: dict[Stage, None], notes: list[str]
) -> list[dict[Stage, int]]:
    """The times of each boot of a side; its stages and notes are added to those that are there."""
    boots = []
    for boot in boots_of(data):
        strips, said = timeline(data, boot, joins)
        notes += said
        order |= dict.fromkeys(_ordered(strips))
        boots.append(_times([strip for strip in strips if strip.unit == "ms"]))
    boots = [times for times in boots if times]
    if not boots:
        raise NotComparableError(f"{data.infos[0].name}: no stages of a boot in it")
    return boots


def _ordered(strips: Sequence[Strip]) -> list[Stage]:
    return [
        (NOBODY, bar.inside or bar.name) if bar.gap else (bar.service, bar.name)
        for strip in strips
        for bar in strip.bars
    ]


def _as_dataset(boots: Sequence[dict[Stage, int]], kept: set[Stage]) -> Dataset:
    cells = [
        (ns, *key, boot) for boot, times in enumerate(boots) for key, ns in times.items()
        if key in kept
    ]  # fmt: skip
    ns, service, stage, boot = zip(*cells, strict=True)
    return from_columns(
        np.array(ns, "i8"), unit="ns", metric="duration", test=np.array(service),
        operation=np.array(stage), boot=np.array(boot), format="boot",
    )  # fmt: skip


def _medians(boots: Sequence[dict[Stage, int]], kept: set[Stage]) -> dict[Stage, float]:
    return {
        key: float(np.median(values)) for key in kept
        if (values := [times[key] for times in boots if key in times])
    }  # fmt: skip

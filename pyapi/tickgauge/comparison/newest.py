"""The newest release of a trend: by its boots, and by the releases before it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..frame.frame import Frame
from ..util.text import counted
from .events import more_boots, more_releases
from .gate import gate
from .labels import apart, label_of, length_text
from .side import Key, Side, merged
from .verdicts import percent_text

__all__ = ["by_boots", "outside"]

_Floats = npt.NDArray[np.float64]

#: Releases of a level before the newest one, from which on it is compared with them.
FORMER = 4

#: Keys that a sentence names.
NAMED = 3


def by_boots(
    sides: Sequence[Side],
    names: Sequence[str],
    since: int,
    margin: float,
    margin_ns: float,
    unit: str,
    exchange: Any,
) -> list[str]:
    """The newest release by its boots, against those since the last step before it.

    Only where both have boots enough for the gate to be red; a release of one boot is judged by
    the steps alone.
    """
    if unit != "boot" or sides[-1].unit_ids("boot")[1] < 2:
        return []
    made = gate(
        merged(sides[since:-1]), sides[-1], margin=margin, margin_ns=margin_ns, unit=unit,
        exchange=exchange, allow_missing=True,
    )  # fmt: skip
    if not made.decidable:
        return []
    lines = [f"{names[-1]} by its boots, against those since {names[since]}: {made.header[0]}"]
    if made.failing:
        lines += made.comparison.headlines()[:3]
    found = made.comparison
    return lines + apart({names[since]: found.unmatched["old"]}, found.not_comparable)


def _strays(x: _Floats, least: float, finest: float) -> npt.NDArray[np.bool_]:
    """Which of `x` lie outside all others by more than these differ, and by more than `least`.

    Parameters
    ----------
    x : ndarray
    least : float
        Beyond the margin, from the middle of the others.
    finest : float
        Releases always differ by as much: a step of the readings.
    """
    n = len(x)
    order = np.argsort(x, kind="stable")
    ordered, rank = x[order], np.empty(n, "i8")
    rank[order] = np.arange(n)

    def other(k: int) -> _Floats:
        """The k-th smallest of the others of each."""
        values: _Floats = np.where(k < rank, ordered[k], ordered[k + 1])
        return values

    low, high = other(0), other(n - 2)
    middle = (other((n - 2) // 2) + other((n - 1) // 2)) / 2
    room = np.maximum(high - low, finest)
    strays: npt.NDArray[np.bool_] = np.abs(x - middle) > least
    return strays & ((x > high + room) | (x < low - room))


def _series(
    key: Key, cells: Mapping[int, int], since: int, newest: int
) -> tuple[_Floats, float, bool, float, list[int]] | None:
    """Values of a key since a release, with the newest; its step; on logarithms or as they are."""
    if newest not in cells:
        return None
    places = [r for r in sorted(cells) if since <= r < newest]
    if len(places) < FORMER:
        return None
    scale = float(key.scale[0])
    value = np.array([cells[r] * scale for r in [*places, newest]], "f8")
    step = max(1, key.resolution) * scale
    logs = bool((value > 0).all())
    middle = float(np.median(value[:-1]))
    return (np.log(value) if logs else value), step, logs, middle, places


def outside(
    keys: Sequence[Key],
    ranks: Sequence[tuple[int, int] | None],
    cells: Sequence[Mapping[int, int]],
    names: Sequence[str],
    boots: Sequence[int],
    steps: Frame,
    margin: float,
    margin_ns: float,
) -> str:
    """A sentence on keys whose newest release lies outside all releases of its level; "" for none.

    Told only where more keys do so than in any release before it, each compared with the others.

    Parameters
    ----------
    keys, ranks, cells
        Of the trend: the value of each key at each release.
    names, boots
        Of the releases, in order.
    steps : Frame
        Keys that step at the newest release are told there.
    margin, margin_ns : float
    """
    newest = len(names) - 1
    since: dict[str, int] = {}
    for row in steps:
        since[row["key"]] = max(since.get(row["key"], 0), names.index(row["at"]))
    before = np.zeros(newest + 1, "i8")
    seen, told = 0, []
    for key, rank, values in zip(keys, ranks, cells, strict=True):
        label = label_of(key, rank)
        found = _series(key, values, since.get(label, 0), newest)
        if found is None:
            continue
        seen += 1
        x, step, logs, middle, places = found
        absolute = max(step * 1.01, margin_ns if key.scale[1] == "ns" else 0.0)
        finest = math.log1p(step / middle) if logs else step
        least = max(math.log1p(margin), math.log1p(absolute / middle)) if logs else absolute
        before[np.array(places)[_strays(x[:-1], least, finest)]] += 1
        if _strays(x, least, finest)[-1]:
            old, new = middle, float(np.exp(x[-1]) if logs else x[-1])
            told.append((x[-1] - np.median(x[:-1]), label, old, new, key.scale[1], logs))
    if not told or len(told) <= before.max():
        return ""
    told.sort(key=lambda one: -abs(one[0]))
    shown = [
        f"{label} {percent_text(100 * (new / old - 1)) if logs else 'moved'} "
        f"({length_text(old, unit)} to {length_text(new, unit)})"
        for _, label, old, new, unit, logs in told[:NAMED]
    ]
    rest = f" and {len(told) - NAMED} more" if len(told) > NAMED else ""
    more = more_releases(newest + 1, 1)
    new_boots = more_boots(sum(boots[:-1]))
    needs = f"{counted(more, 'more release')} at this level"
    if new_boots > boots[-1]:
        needs += f", or {new_boots} boots of {names[-1]},"
    return (
        f"newest {names[-1]}: {len(told)} of {counted(seen, 'key')} outside all releases before by "
        f"more than these differ: {'; '.join(shown)}{rest}; one release alone is not confirmed, as "
        f"chance puts an odd one last 1 time in {newest + 1}: {needs} would confirm it"
    )

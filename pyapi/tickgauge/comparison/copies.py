"""Boots that are seen twice: their readings are those of another boot, one by one."""

from __future__ import annotations

import numpy as np

from ..util.text import counted
from .side import I64, Side, merged

__all__ = ["TWICE", "counted_once", "repeats", "shared_boots"]

#: Stands in each note of `counted_once`.
TWICE = "counted once with it"

#: Distinct values from which on two boots do not hold the same ones by chance.
ENOUGH = 8


def counted_once(side: Side, what: str, notes: list[str]) -> Side:
    """The side without boots that hold the readings of an earlier one; a note says how many.

    Two boots of a board never take the same times throughout, so such boots are one, kept by two
    loggers, or saved twice with other lines around it: counted as two they would make evidence of
    one. A board without any scatter is for ``gate(..., deterministic=True)``.
    """
    again = repeats(side)
    if not again:
        return side
    boots = counted(len(again), "boot")
    notes.append(
        f"{what}: {boots} {'has' if len(again) == 1 else 'have'} all readings of another one to "
        f"the last digit: {TWICE} (a board without scatter: gate --deterministic)"
    )
    return side.without_boots(sorted(again))


def shared_boots(old: Side, new: Side) -> int:
    """How many boots of the new side have all readings of one of the old side."""
    if not _common(old) & _common(new):
        return 0
    both = merged([old, new])
    of_old = max(len(old.boots), int(old.boot.astype("i8").max(initial=-1)) + 1)
    found = repeats(both)
    return sum(first < of_old <= boot for boot, first in found.items())


def _common(side: Side) -> set[tuple[int, int]]:
    """Readings and sum of each boot that has enough of them."""
    _, counts, sums = _outlines(side)
    return {pair for pair in zip(counts.tolist(), sums.tolist(), strict=True) if pair[0] >= ENOUGH}


def repeats(side: Side) -> dict[int, int]:
    """Boot -> the first boot that has the same readings, in any order."""
    boots, counts, sums = _outlines(side)
    outlines: dict[tuple[int, int], list[int]] = {}
    for boot, n, total in zip(boots.tolist(), counts.tolist(), sums.tolist(), strict=True):
        if n >= ENOUGH:
            outlines.setdefault((n, total), []).append(boot)
    again: dict[int, int] = {}
    for group in outlines.values():
        first: dict[bytes, int] = {}
        for boot in group if len(group) > 1 else ():
            known = _readings(side, boot)
            if known is not None and first.setdefault(known, boot) != boot:
                again[boot] = first[known]
    return again


def _outlines(side: Side) -> tuple[I64, I64, I64]:
    """The boots, how many rows each has, and the sum of their values modulo 2^64."""
    if len(side.value) == 0:
        return (np.empty(0, "i8"),) * 3
    first = np.flatnonzero(np.concatenate([[True], side.boot[1:] != side.boot[:-1]]))
    rows = np.diff(np.append(first, len(side.value)))
    of_run = np.add.reduceat(side.value, first)  # neighbours share a boot
    known, place = np.unique(side.boot[first].astype("i8"), return_inverse=True)
    counts, sums = np.zeros(len(known), "i8"), np.zeros(len(known), "i8")
    np.add.at(counts, place, rows)
    np.add.at(sums, place, of_run)
    keep = known >= 0
    return known[keep], counts[keep], sums[keep]


def _readings(side: Side, boot: int) -> bytes | None:
    """Keys, values and weights of a boot in their order; None where it has few values."""
    here = side.boot == boot
    key, value = side.key[here].astype("i8"), side.value[here]
    if len(np.unique(value)) < ENOUGH:
        return None
    columns = [value, key]
    if side.weight is not None:
        columns.insert(0, side.weight[here].astype("i8"))
    order = np.lexsort(columns)
    return b"".join(np.ascontiguousarray(column[order]).tobytes() for column in columns)

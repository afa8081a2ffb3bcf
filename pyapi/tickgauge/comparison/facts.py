"""Deterministic boards: identical boots, whose differences are facts."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from ..errors import NotComparableError
from .compare import Options, compared
from .gate_result import Gate, Reach
from .side import Side

__all__ = ["fact", "facts_of", "identical"]


def _boots(side: Side) -> list[bytes]:
    """The readings of each boot, in an order of their own."""
    if not len(side.value):
        return []
    unit = side.unit_ids("boot")[0].astype("i8")
    order = np.lexsort((side.value, side.key, unit))
    cuts = np.flatnonzero(np.diff(unit[order])) + 1
    rows = np.stack([side.key[order], side.value[order]], axis=1)
    return [part.tobytes() for part in np.split(rows, cuts)]


def identical(a: Side, b: Side) -> bool:
    """Whether each side has two boots or more and all boots of a side are the same."""
    if not all(_may_be_identical(side) for side in (a, b)):
        return False
    sides = [_boots(side) for side in (a, b)]
    return all(len(one) >= 2 and len(set(one)) == 1 for one in sides)


def _may_be_identical(side: Side) -> bool:
    """Whether all boots have as many readings with the same sum (modulo 2^64): quick to tell."""
    unit, n = side.unit_ids("boot")
    counts, sums = np.bincount(unit, minlength=n), np.zeros(n, "i8")
    np.add.at(sums, unit, side.value)
    return n >= 2 and bool((counts == counts[0]).all()) and bool((sums == sums[0]).all())


def _differing(side: Side) -> str | None:
    """A key that two boots of a side read differently, or None."""
    found: dict[tuple[int, int], list[int]] = {}
    units = side.unit_ids("boot")[0].tolist()
    for key, unit, value in zip(side.key.tolist(), units, side.value.tolist(), strict=True):
        found.setdefault((key, unit), []).append(value)
    first: dict[int, list[int]] = {}
    for (key, _), values in found.items():
        if first.setdefault(key, sorted(values)) != sorted(values):
            one = side.keys[key]
            place = one.where[1:] if one.where[0] == "core" else (one.place,)
            words = [one.test, one.operation, one.metric, ",".join(str(w) for w in place if w)]
            return " ".join(str(w) for w in words if w)
    return None


def fact(row: dict[str, Any], options: Options) -> str:
    """The word for one key: two values, no chance."""
    old, new = Fraction(row["old"]), Fraction(row["new"])
    if old == new:
        return "identical"
    least = max(Fraction(row["step"]), Fraction(options.margin_ns if row["shown"] == "ns" else 0))
    most = 1 + Fraction(str(options.margin))
    if abs(new - old) <= least or (old > 0 and new > 0 and old / most <= new <= old * most):
        return "within margin"
    if row["better"] == "none":
        return "changed"
    return "regressed" if (new > old) == (row["better"] == "lower") else "improved"


def facts_of(a: Side, b: Side, options: Options, notes: list[str], allow_missing: bool) -> Gate:
    """The gate of boards that give the same readings at every boot.

    Parameters
    ----------
    a, b : Side
        Old and new; one boot a side is enough.
    options : Options
    notes : list of str
    allow_missing : bool

    Raises
    ------
    NotComparableError
        Boots of one side differ; the message names a key.
    """
    for name, side in (("old", a), ("new", b)):
        if (key := _differing(side)) is not None:
            raise NotComparableError(
                f"--deterministic: boots of {name} differ in {key}; leave the option out to judge "
                "them by chance"
            )
    made = compared(a, b, replace(options, facts=True))
    out = Gate(made, Reach(alpha=options.alpha, facts=True), notes=notes)
    rows = list(made.rows)
    out.facts = {row["key"]: fact(row, options) for row in rows}
    out.decide(strict_undecided=False, allow_missing=allow_missing)
    return out

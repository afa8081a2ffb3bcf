"""Keys of two sides matched, as arguments of the core."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import NotComparableError
from .labels import few, label_of
from .pack import Packed
from .side import Key, Side

__all__ = ["Matched", "drop_inexact", "key_scales", "match"]

#: Values and steps up to which the core is exact: ``TG_STATS_LIMIT``.
LIMIT = 1 << 61

BETTER = {"lower": 0, "higher": 1, "none": 2}

_Integers = npt.NDArray[np.uint64]


def _scale_clash(key: Key) -> str | None:
    """Why a key's scale is out of range, or None."""
    scale, shown = key.scale
    if max(scale.numerator, scale.denominator) < 1 << 64:
        return None
    return (
        f"its values are in steps of {float(scale):.3g} {shown}, which is no ratio of two "
        "numbers of 64 bits"
    )


def key_scales(keys: Sequence[Key]) -> tuple[_Integers, _Integers, _Integers]:
    """num, den, resolution of each key, for the core.

    Raises
    ------
    NotComparableError
        A scale is no ratio of two numbers of 64 bits.
    """
    for key in keys:
        if why := _scale_clash(key):
            raise NotComparableError(f"{label_of(key, None)}: {why}")
    scale = [key.scale[0] for key in keys]
    return (
        np.array([s.numerator for s in scale], "u8"),
        np.array([s.denominator for s in scale], "u8"),
        np.array([max(1, key.resolution) for key in keys], "u8"),
    )


def drop_inexact(
    keys: list[Key],
    ranks: list[tuple[int, int] | None],
    cells: list[dict[int, int]],
    names: Sequence[str],
) -> list[str]:
    """Take out what the core does not hold exactly; a note for each key.

    Parameters
    ----------
    keys, ranks, cells : list
        Of a trend, changed in place: of each key a value for each release that has one.
    names : sequence of str
        Of the releases.
    """
    notes = []
    for n in reversed(range(len(keys))):
        label, why = label_of(keys[n], ranks[n]), _scale_clash(keys[n])
        if why is None and keys[n].resolution > LIMIT:
            why = "its step is beyond 2^61"
        far = [r for r, value in sorted(cells[n].items()) if abs(value) > LIMIT]
        if why is None and far:
            at = few([names[r] for r in far])
            notes.append(f"{label}: beyond 2^61 steps of its grid at {at}: no value there")
            for r in far:
                del cells[n][r]
        elif why is not None:
            notes.append(f"{label}: {why}: no trend")
        if why is not None or not cells[n]:
            del keys[n], ranks[n], cells[n]
    return notes[::-1]


@dataclass
class Matched:
    """The keys that both sides have and that can be compared.

    Attributes
    ----------
    old, new : Packed
    noise : Packed or None
        Boots of one firmware.
    pairs : list of (int, int)
        Indices of the matched keys in `old` and `new`.
    refused : list of (str, str)
        Keys that both have and that cannot be compared, and why.
    margin_ns : float
        Binds times only.
    """

    old: Packed
    new: Packed
    noise: Packed | None
    pairs: list[tuple[int, int]]
    refused: list[tuple[str, str]] = field(default_factory=list)
    margin_ns: float = 0

    @property
    def keys(self) -> list[Key]:
        """The old side's keys, in the order of `pairs`."""
        return [self.old.shown[i] for i, _ in self.pairs]

    @property
    def better(self) -> npt.NDArray[np.uint8]:
        """The direction of each key, for the core."""
        return np.array([BETTER.get(self.new.shown[j].better or "lower", 0)
                         for _, j in self.pairs], "u1")  # fmt: skip

    def sides(self) -> tuple[Any, Any]:
        """The arrays of both sides for the core."""
        fresh = [self.new.shown[j] for _, j in self.pairs]
        return (
            self.old.samples([i for i, _ in self.pairs], *key_scales(self.keys)),
            self.new.samples([j for _, j in self.pairs], *key_scales(fresh)),
        )

    def margins(self) -> npt.NDArray[np.float64]:
        """The absolute margin of each key, in the unit shown."""
        return np.array([self.margin_ns if k.scale[1] == "ns" else 0.0 for k in self.keys], "f8")

    def options(self) -> dict[str, Any]:
        """Further arguments of `_core.compare` for the keys."""
        metrics: dict[tuple[Any, ...], int] = {}
        group = [
            metrics.setdefault((k.metric, k.operation, k.scale[1]), len(metrics)) for k in self.keys
        ]
        return {
            "better": self.better,
            "group": np.array(group, "u4"),
            "margin_abs": self.margins(),
            "noise": None if self.noise is None else self._noise_samples(),
        }

    def _noise_samples(self) -> Any:
        """The arrays of the boots of one firmware, key by key as matched."""
        assert self.noise is not None
        index = {v: k for k, v in self.old.keys.items()}
        order = [self.noise.keys.get(index[i]) for i, _ in self.pairs]
        used = [
            one if k is None else self.noise.shown[k]
            for k, one in zip(order, self.keys, strict=True)
        ]
        return self.noise.samples(order, *key_scales(used))


def match(
    a: Side,
    b: Side,
    old: Packed,
    new: Packed,
    *,
    noise: Packed | None = None,
    margin_ns: float = 0,
    anyway: bool = False,
) -> Matched:
    """Match the keys of two sides.

    Parameters
    ----------
    a, b : Side
        Old and new, for the facts that their boots state.
    old, new : Packed
        The same, packed.
    noise : Packed, optional
    margin_ns : float
    anyway : bool
        Compare also other platforms and build types.
    """
    made = Matched(old, new, noise, [], [], margin_ns)
    barrier = None if anyway else _incomparable(a, b)
    for identity, i in old.keys.items():
        j = new.keys.get(identity)
        if j is None:
            continue
        why = (
            barrier
            or _unpooled(old, new, identity)
            or _clash(old.shown[i], new.shown[j])
            or _scale_clash(old.shown[i])
            or _scale_clash(new.shown[j])
        )
        if why is None:
            made.pairs.append((i, j))
        else:
            made.refused.append((label_of(old.shown[i], old.rank[i]), why))
    return made


def _incomparable(old: Side, new: Side) -> str | None:
    """Why nothing of the two sides can be compared, or None."""
    for name, side in (("old", old), ("new", new)):
        if len(boards := sorted(map(str, side.said("platform")))) > 1:
            return f"{name} holds boots of several platforms ({', '.join(boards)}): choose a board"
        if len(builds := sorted(map(str, side.said("build") - {"unknown"}))) > 1:
            return f"{name} holds boots of several build types ({', '.join(builds)})"
    for stated, word in (("platform", "platform"), ("build", "build type")):
        x, y = (side.said(stated) - {"unknown"} for side in (old, new))
        if x and y and x.isdisjoint(y):
            return (
                f"other {word}: {', '.join(sorted(map(str, x)))} v {', '.join(sorted(map(str, y)))}"
            )
    return None


def _clash(old: Key, new: Key) -> str | None:
    """Why two keys of one identity cannot be compared, or None."""
    if old.scale[1] != new.scale[1]:
        if "tick" in (old.unit, new.unit):
            return "the clock of one side is unknown: --clock settles it"
        return f"other unit: {old.unit} v {new.unit}"
    if old.clock_hz and new.clock_hz and old.clock_hz != new.clock_hz and old.unit == new.unit:
        return f"other clock: {old.clock_hz} v {new.clock_hz} Hz"
    if (old.better or "lower") != (new.better or "lower"):
        return f"other direction: {old.better} v {new.better} is better"
    return None


def _unpooled(old: Packed, new: Packed, identity: tuple[Any, ...]) -> str | None:
    """Why a key's readings of one side do not belong together, or None."""
    for name, one in (("old", old), ("new", new)):
        if identity in one.clashes:
            return f"{name} cannot be pooled: {one.clashes[identity]}"
    return None

"""Sides of a comparison: readings packed for the core, keys matched, cpus exchanged.

A *side* stands on one side of a comparison or at one release of a trend: data sets,
snapshots, or several of them. Its readings are sorted once into *unit after unit, key after key*
and handed to the core as plain arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .._core import codes
from ..errors import UnknownName
from ..frame.frame import Frame
from ..frame.readings import NO_END, counts_of, widths_of
from ..rules.formats import observation_of
from ..sources.digest import comparable
from ..units import scale_of
from .options import UNITS

__all__ = ["Key", "Side", "merged", "pooled", "shared_sources", "sorting"]

I64 = npt.NDArray[np.int64]
#: Ids of readings: int64 with -1 for a missing one, or uint32 where none is missing.
Ids = npt.NDArray[Any]
U32 = npt.NDArray[np.uint32]
U64 = npt.NDArray[np.uint64]


class Key(NamedTuple):
    """The identity of a measurement: the columns of a key, None where missing."""

    format: str | None = None
    test: str | None = None
    metric: str | None = None
    operation: str | None = None
    place: str | None = None
    labels: str | None = None
    unit: str | None = None
    exchange: str | None = None
    cluster: int | None = None
    core: int | None = None
    cpu: int | None = None
    exp10: int = 0
    clock_hz: int | None = None
    origin: str | None = None
    resolution: int = 1
    better: str | None = "lower"
    observation: str | None = None  # where it is not the one of the built-in format

    @property
    def where(self) -> tuple[Any, ...]:
        """The cpu's identity: cluster and core, else its number, else as it was printed.

        A line of somebody's own may name a core without a cluster, or the other way round.
        """
        if self.cluster is not None and self.core is not None:
            return ("core", self.cluster, self.core)
        if self.cpu is not None:
            return ("cpu", self.cpu, self.cluster, self.core)
        if self.core is not None or self.cluster is not None:
            return ("part", self.cluster, self.core, self.place)
        return ("place", self.place)

    @property
    def observed(self) -> str:
        """The independent observation, ``"boot"`` or ``"run"``."""
        return self.observation or observation_of(self.format)

    @property
    def subject(self) -> tuple[Any, ...]:
        """The part of the key by which two sides are matched, but for the cpu."""
        return (self.test, self.metric, self.operation, self.labels)

    @property
    def identity(self) -> tuple[Any, ...]:
        """The part of the key by which two sides are matched."""
        return (*self.subject, *self.where)

    @property
    def scale(self) -> tuple[Fraction, str]:
        """The exact size of one stored integer, and the unit that is shown: ns for times."""
        return scale_of(self.unit, self.clock_hz, self.exp10)


_KEY_DEFAULTS = Key()


def sorting(key: Key) -> tuple[Any, ...]:
    """An order of keys that does not depend on where they came from."""
    return tuple(("", -1) if v is None else (str(v), v if isinstance(v, int) else 0) for v in key)


def keys_of(frame: Frame) -> list[Key]:
    """The rows of a table of keys."""
    columns = []
    for name, default in zip(Key._fields, _KEY_DEFAULTS, strict=True):
        if name not in frame.columns:
            columns.append([default] * len(frame))
            continue
        values = frame.column(name).part(0, len(frame))
        columns.append([default if v is None else v for v in values])
    keys = (Key(*row) for row in zip(*columns, strict=True))
    return [
        key._replace(observation=None) if key.observation == observation_of(key.format) else key
        for key in keys
    ]


def _numbers(frame: Frame, name: str) -> Ids:
    """An id column: as it is stored where every row has one, else as int64 with -1 for missing."""
    column = frame.column(name) if name in frame.columns else None
    if column is None or (column.valid is not None and not column.valid.any()):
        return np.broadcast_to(np.int64(-1), len(frame))  # one number, not one a row
    if column.valid is None:
        return column.data
    return np.where(column.valid, column.data.astype("i8"), -1)


def _with_widths(
    keys: list[Key], key: I64, value: I64, weight: U64 | None, width: I64 | None
) -> list[Key]:
    """Keys whose values are ranges are known no better than the range of their median."""
    if width is None:
        return keys
    count = np.ones(len(value), "u8") if weight is None else weight
    known = list(keys)
    for k in np.unique(key[width > 0]).tolist():
        rows = np.flatnonzero(key == k)
        rows = rows[np.argsort(value[rows], kind="stable")]
        upto = np.cumsum(count[rows])
        middle = int(width[rows[np.searchsorted(upto, (upto[-1] + np.uint64(1)) // np.uint64(2))]])
        if middle < NO_END and middle > known[k].resolution:
            known[k] = known[k]._replace(resolution=middle)
    return known


@dataclass
class Side:
    """Readings of one side, not yet packed.

    Attributes
    ----------
    keys : list of Key
    key, source, boot, run, block : ndarray of int64 or uint32, shape (n,)
        Of each reading; `key` is an index into `keys`, `boot` counts in the whole side. A missing
        one is -1; uint32 where none is.
    value : ndarray of int64, shape (n,)
    weight : ndarray of uint64, shape (n,), or None
        How often each occurred; None = once.
    boots : list of dict
        ``platform``, ``version``, ``build``, ``clock_hz`` of each boot, where known.
    sources : list of dict
        ``digest``, ``format``, ``boots`` of each source.
    folded : bool
        Some counts lie on a coarser grid than they were read on.
    ordered : bool
        Boots stand in the order in which they were read; those of a snapshot do not.
    copies : int
        Sources that have the bytes of another one and are not counted.
    """

    keys: list[Key]
    key: Ids
    source: Ids
    boot: Ids
    run: Ids
    block: Ids
    value: I64
    weight: U64 | None = None
    boots: list[dict[str, Any]] = field(default_factory=list)
    sources: list[dict[str, Any]] = field(default_factory=list)
    folded: bool = False
    name: str = ""
    ordered: bool = True
    copies: int = 0

    @classmethod
    def of_tables(
        cls, keys: Frame, readings: Frame, boots: Frame | None = None, name: str = ""
    ) -> Side:
        """A side from the tables of a data set."""
        boot_rows = []
        if boots is not None:
            names = [
                n
                for n in ("platform", "version", "build", "built", "clock_hz")
                if n in boots.columns
            ]
            boot_rows = list(boots.only(*names))
        key, source, boot, run, block = (
            _numbers(readings, n) for n in ("key", "source", "boot", "run", "block")
        )
        value = readings.column("value").data.astype("i8", copy=False)
        weight = counts_of(readings)
        known = _with_widths(keys_of(keys), key, value, weight, widths_of(readings))
        return cls(known, key, source, boot, run, block, value, weight, boots=boot_rows, name=name)

    def unit_of(self, unit: str | None) -> str:
        """The unit asked for, or the one that the formats call for."""
        if unit is not None:
            if unit not in UNITS:
                raise ValueError(f"unit must be one of {', '.join(UNITS)}, not {unit!r}")
            return unit
        if all(key.format in (None, "columns") for key in self.keys) and (self.boot > 0).any():
            return "boot"  # columns of the caller that say which boot a reading is of
        counts = np.bincount(self.key, minlength=len(self.keys))
        used = {key.observed for key, n in zip(self.keys, counts.tolist(), strict=True) if n}
        return "boot" if not used or "boot" in used else "run"

    def unit_ids(self, unit: str) -> tuple[U32, int]:
        """A number for each reading that says which unit it belongs to, in order; how many."""
        if unit == "reading":
            return np.arange(len(self.value), dtype="u4"), len(self.value)
        columns = [self.source, self.boot]
        if unit == "run":  # no run is stated: a reading is one
            columns += [self.run, np.where(self.run < 0, np.arange(len(self.value)), -1)]
        code, first = codes(columns)
        return code, len(first)

    def part(self, boots: Sequence[int], name: str = "") -> Side:
        """The side of the given boots only."""
        keep = np.isin(self.boot, np.array(boots, "i8"))
        place = np.full(max(len(self.boots), 1), -1, "i8")
        place[list(boots)] = np.arange(len(boots))
        return Side(
            self.keys, self.key[keep], self.source[keep], place[self.boot[keep]], self.run[keep],
            self.block[keep], self.value[keep],
            None if self.weight is None else self.weight[keep],
            [self.boots[b] for b in boots], self.sources, self.folded, name or self.name,
            self.ordered,
        ).used()  # fmt: skip

    def without_sources(self, numbers: Sequence[int]) -> Side:
        """The side without the sources of these numbers, and without their boots."""
        gone = set(numbers)
        if not gone:
            return self
        keep = ~np.isin(self.source, np.array(sorted(gone), "i8"))
        lost = set(self.boot[~keep].tolist()) - set(self.boot[keep].tolist())
        return self._kept(keep, lost, gone)

    def without_boots(self, numbers: Sequence[int]) -> Side:
        """The side without the boots of these numbers; its sources stay."""
        return self._kept(~np.isin(self.boot, np.array(numbers, "i8")), set(numbers), set())

    def _kept(self, keep: npt.NDArray[np.bool_], boots: set[int], sources: set[int]) -> Side:
        """The readings to keep, without these boots and sources; the others are counted anew."""
        stays = [b not in boots for b in range(max(len(self.boots), _upto(self.boot)))]
        boot = np.cumsum([*stays, False]) - 1  # the last one is for readings of no boot
        number = max(len(self.sources), _upto(self.source))
        source = np.cumsum([*(i not in sources for i in range(number)), False]) - 1
        was, came = self.boot[keep], self.source[keep]
        return Side(
            self.keys, self.key[keep], np.where(came < 0, came, source[came]),
            np.where(was < 0, was, boot[was]), self.run[keep], self.block[keep], self.value[keep],
            None if self.weight is None else self.weight[keep],
            [known for b, known in enumerate(self.boots) if stays[b]],
            [known for i, known in enumerate(self.sources) if i not in sources],
            self.folded, self.name, self.ordered,
        ).used()  # fmt: skip

    def used(self) -> Side:
        """The side without the keys that have no reading."""
        code, first = codes([self.key])
        keys = [self.keys[k] for k in self.key[first].tolist()]
        return replace(self, keys=keys, key=code.astype("i8"))

    def of_board(self, board: str | None) -> Side:
        """The boots of one platform; all where `board` is None.

        Raises
        ------
        UnknownName
            No boot says that it ran there.
        """
        if board is None:
            return self
        boots = [i for i, boot in enumerate(self.boots) if boot.get("platform") == board]
        if not boots:
            there = ", ".join(sorted(map(str, self.said("platform")))) or "none"
            raise UnknownName(f"no boot of platform {board!r} in {self.name}; there are: {there}")
        return self.part(boots)

    def spread(self) -> Side:
        """The side with every counted reading as a row of its own."""
        if self.weight is None:
            return self
        rows = np.repeat(np.arange(len(self.value)), self.weight.astype("i8"))
        return Side(
            self.keys, self.key[rows], self.source[rows], self.boot[rows], self.run[rows],
            self.block[rows], self.value[rows], None, self.boots, self.sources, self.folded,
            self.name, self.ordered,
        )  # fmt: skip

    @cached_property
    def versions(self) -> list[str]:
        """The distinct firmware versions, in order."""
        found = (boot.get("version") for boot in self.boots)
        return list(dict.fromkeys(v for v in found if v))

    def said(self, what: str) -> set[Any]:
        """The distinct values that the boots of this side state."""
        return {boot[what] for boot in self.boots if boot.get(what)}


def _upto(ids: Ids) -> int:
    """The number behind the largest id."""
    return int(ids.max()) + 1 if len(ids) else 0


def _moved(ids: Ids, by: int) -> I64:
    """Ids behind `by` others; a missing one stays so."""
    wide = ids.astype("i8")
    return np.where(wide >= 0, wide + by, -1)


def merged(sides: Sequence[Side], name: str = "") -> Side:
    """Several sides as one: boots and sources below each other, equal keys made one."""
    if len(sides) == 1:
        return sides[0]
    place: dict[Key, int] = {}
    columns: list[list[I64]] = [[], [], [], [], [], []]
    weights: list[U64] = []
    boots: list[dict[str, Any]] = []
    sources: list[dict[str, Any]] = []
    for side in sides:
        number = np.array([place.setdefault(k, len(place)) for k in side.keys] or [0], "i8")
        boot = _moved(side.boot, len(boots))
        source = _moved(side.source, len(sources))
        parts = (number[side.key], source, boot, side.run, side.block, side.value)
        for column, part in zip(columns, parts, strict=True):
            column.append(part)
        weights.append(side.weight if side.weight is not None else np.ones(len(side.value), "u8"))
        used = _upto(side.source)
        booted = _upto(side.boot)
        sources += side.sources + [{} for _ in range(used - len(side.sources))]
        boots += side.boots + [{} for _ in range(booted - len(side.boots))]
    key, source, boot, run, block, value = (np.concatenate(column) for column in columns)
    plain = all(side.weight is None for side in sides)
    return Side(
        list(place), key, source, boot, run, block, value,
        None if plain else np.concatenate(weights), boots, sources,
        any(side.folded for side in sides),
        name or " + ".join(side.name for side in sides if side.name),
        all(side.ordered for side in sides),
    )  # fmt: skip


def pooled(sides: Sequence[Side]) -> Side:
    """Several sides as one, each source once: of equal digests the first is taken."""
    places = [(n, i) for n, side in enumerate(sides) for i in range(len(side.sources))]
    digests = comparable(sides[n].sources[i].get("digest") or "" for n, i in places)
    first: dict[Any, int] = {}
    again: dict[int, list[int]] = {}
    for (n, i), digest in zip(places, digests, strict=True):
        if digest and first.setdefault(digest, n) != n:
            again.setdefault(n, []).append(i)
    return merged([side.without_sources(again.get(n, ())) for n, side in enumerate(sides)])


def shared_sources(old: Side, new: Side) -> int:
    """How many sources stand on both sides, with the same readings.

    Digests are asked for only where a source of either side has as many readings with the same sum.
    """
    outlines = [_outlines(side) for side in (old, new)]
    common = {*outlines[0].values()} & {*outlines[1].values()}
    numbers = [[n for n, outline in one.items() if outline in common] for one in outlines]
    digests = comparable(
        side.sources[n]["digest"]
        for side, found in zip((old, new), numbers, strict=True)
        for n in found
    )
    there = dict(zip(digests, numbers[0], strict=False))  # those of the old side come first
    equal = 0
    for digest, n in zip(digests[len(numbers[0]) :], numbers[1], strict=True):
        if digest in there:
            equal += np.array_equal(_sorted_values(old, there[digest]), _sorted_values(new, n))
    return equal


def _sorted_values(side: Side, source: int) -> I64:
    here = side.source == source
    value = side.value[here]
    return np.sort(
        value if side.weight is None else np.repeat(value, side.weight[here].astype("i8"))
    )


def _outlines(side: Side) -> dict[int, tuple[int, int]]:
    """Readings, and their sum modulo 2^64, of each source that has a digest and readings."""
    n = len(side.value)
    if n == 0:
        return {}
    first = np.flatnonzero(np.concatenate([[True], side.source[1:] != side.source[:-1]]))
    weight = np.ones(1, "i8") if side.weight is None else side.weight.astype("i8")
    totals = (np.broadcast_to(weight, n), side.value * weight)
    of_run = [np.add.reduceat(total, first) for total in totals]  # neighbours share a source
    source = side.source[first].astype("i8")
    most = max(len(side.sources), int(source.max()) + 1)
    counts, sums = np.zeros(most, "i8"), np.zeros(most, "i8")
    for out, part in zip((counts, sums), of_run, strict=True):
        np.add.at(out, source[source >= 0], part[source >= 0])
    return {
        n: (int(counts[n]), int(sums[n]))
        for n, known in enumerate(side.sources)
        if known.get("digest") and counts[n]
    }

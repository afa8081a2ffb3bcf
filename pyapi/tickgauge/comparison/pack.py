"""Packing: a side's readings as the core's arrays; cpus that may be interchanged become ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .._core import codes, samples
from .options import EXCHANGES
from .side import I64, U32, U64, Key, Side

#: A packed key or place that is none.
NONE = np.uint32(0xFFFFFFFF)

__all__ = ["Group", "Packed", "class_of", "groups_of", "pack"]


#: The arrays of the core: value, weight, unit_start, key_start, num, den, resolution, boot.
Samples = tuple[I64, U64 | None, U64, U64, U64, U64, U64, npt.NDArray[np.uint32] | None]


class Group(NamedTuple):
    """Cpus whose readings may be interchanged: subject, cluster (None = all), exchange class."""

    subject: tuple[Any, ...]
    cluster: int | None
    exchange: str


@dataclass
class Packed:
    """A side ready for the core: one row a key, cpus that are exchanged turned into ranks.

    Attributes
    ----------
    keys : dict
        Identity of each packed key -> its index.
    shown : list of Key
        A key that stands for each packed key: its unit, scale, direction.
    rank : list of (rank, of) or None
        Of packed keys that are order statistics of a group, rank from 0.
    fk, unit, value, weight : ndarrays
        Packed key and unit of each reading.
    matrices : dict
        Group -> (labels of the cores, int64 array of units x cores): one block a unit.
    notes : list of str
    clashes : dict
        Identity of a packed key -> why its readings cannot be pooled: they are in several units
        or of several clocks. Those of the first one are here.
    apart : bool
        A unit is the same boot (or run) in all keys; readings are not.
    """

    keys: dict[tuple[Any, ...], int]
    shown: list[Key]
    rank: list[tuple[int, int] | None]
    fk: U32
    unit: U32
    value: I64
    weight: U64 | None
    matrices: dict[Group, tuple[list[tuple[Any, ...]], I64]]
    per_core: dict[Group, list[int]]
    notes: list[str]
    units: int
    clashes: dict[tuple[Any, ...], str] = field(default_factory=dict)
    apart: bool = True

    def samples(self, order: Sequence[int | None], num: U64, den: U64, resolution: U64) -> Samples:
        """The arrays of the core for the packed keys `order` (None = no units)."""
        place = np.full(len(self.shown) + 1, NONE, "u4")
        for i, k in enumerate(order):
            if k is not None:
                place[k] = i
        value, weight, _, key_start, unit_start, unit = samples(
            place[self.fk], self.unit, self.value, self.weight,
            n_keys=len(order), n_units=self.units,
        )  # fmt: skip
        boot = unit if self.apart else None
        return value, weight, unit_start, key_start, num, den, resolution, boot


def class_of(key: Key, exchange: Any) -> str:
    """The class of exchange of a key: the caller's word, else the format's.

    `exchange` is None, a class, or a mapping of (test, metric), test or metric to a class.
    """
    found = key.exchange
    if isinstance(exchange, str):
        found = exchange
    elif isinstance(exchange, Mapping):
        for name in ((key.test, key.metric), key.test, key.metric):
            if name in exchange:
                found = exchange[name]
                break
    if found in (None, ""):
        return "none"
    if found not in EXCHANGES:
        raise ValueError(f"exchange must be one of {', '.join(EXCHANGES)}, not {found!r}")
    return str(found)


def groups_of(keys: Sequence[Key], exchange: Any) -> dict[Group, list[int]]:
    """Keys that may be interchanged, by group; groups of one cpu are left out."""
    groups: dict[Group, list[int]] = {}
    for i, key in enumerate(keys):
        kind = class_of(key, exchange)
        if kind == "none" or (kind == "cluster" and key.cluster is None):
            continue
        group = Group(key.subject, key.cluster if kind == "cluster" else None, kind)
        groups.setdefault(group, []).append(i)
    return {g: members for g, members in groups.items() if len(members) > 1}


def pack(side: Side, unit: str, exchange: Any = None) -> Packed:
    """Sort a side's readings into packed keys; ranks take the place of exchanged cpus."""
    if unit == "reading" or (unit == "run" and bool((side.run < 0).any())):
        side = side.spread()
    units, n_units = side.unit_ids(unit)
    groups = groups_of(side.keys, exchange)
    none = np.zeros(0, "u4")
    out = Packed({}, [], [], none, units, side.value, side.weight, {}, {}, [], n_units)
    out.apart = unit != "reading"
    group_of = np.full(max(1, len(side.keys)), -1, "i8")
    for g, members in enumerate(groups.values()):
        group_of[members] = g
    single = np.full(max(1, len(side.keys)), NONE, "u4")
    for i, key in enumerate(side.keys):
        if group_of[i] >= 0:
            continue
        if key.identity in out.keys:  # the same thing from two formats or in two units
            first = out.keys[key.identity]
            if out.shown[first].scale != key.scale:
                out.clashes[key.identity] = _two_scales(out.shown[first], key)
                continue
            if key.resolution > out.shown[first].resolution:
                out.shown[first] = key
            single[i] = first
            continue
        single[i] = out.keys[key.identity] = len(out.shown)
        out.shown.append(key)
        out.rank.append(None)
    out.fk = single[side.key] if len(side.value) else none
    if groups:
        apart = _of_one_scale(side.keys, groups, group_of)
        _rank(side, out, list(groups), groups, group_of)
        for identity in out.keys:
            if identity[-4:-3] == ("rank",) and (why := apart.get((identity[:-4], identity[-3]))):
                out.clashes[identity] = why
    out.fk[out.fk == NONE] = len(out.shown)
    return out


def _two_scales(first: Key, other: Key) -> str:
    """Why the readings of two keys cannot stand in one sample."""
    if first.unit in ("tick", "cycle") and other.unit in ("tick", "cycle"):
        if not first.clock_hz or not other.clock_hz:
            return "one clock is known, one is not: --clock settles it"
        if first.clock_hz != other.clock_hz:
            return f"clocks of {first.clock_hz} and {other.clock_hz} Hz"
    units = (first.unit or "a plain number", other.unit or "a plain number")
    if units[0] == units[1]:
        return f"decimals of 10^{first.exp10} and of 10^{other.exp10} {units[0]}"
    return f"units {units[0]} and {units[1]}"


def _of_one_scale(
    keys: Sequence[Key], groups: Mapping[Group, list[int]], group_of: I64
) -> dict[tuple[tuple[Any, ...], int | None], str]:
    """Take the keys of another scale than the first out of their groups; why, by group."""
    apart = {}
    for group, members in groups.items():
        first = keys[members[0]]
        for i in members:
            if keys[i].scale != first.scale:
                group_of[i] = -1
                apart[group.subject, group.cluster] = _two_scales(first, keys[i])
    return apart


def _rank(
    side: Side,
    out: Packed,
    names: list[Group],
    groups: Mapping[Group, list[int]],
    group_of: I64,
) -> None:
    """Replace exchanged cpus by ranks: the values of each block, sorted."""
    rows = np.flatnonzero(group_of[side.key] >= 0)
    g = group_of[side.key[rows]]
    blocks = [column[rows] for column in (side.source, side.boot, side.run, side.block)]
    block, first_of = codes([g, *blocks])
    rows = rows[np.lexsort((side.value[rows], block))]
    size = np.bincount(block, minlength=len(first_of))
    first = np.cumsum(size) - size
    edges = np.searchsorted(g[first_of], np.arange(len(names) + 1)).tolist()  # blocks of groups
    for number, group in enumerate(names):
        mine = slice(*edges[number : number + 2])
        sizes = size[mine]
        if len(sizes) == 0:
            continue
        counts = np.bincount(sizes)
        full = int(np.flatnonzero(counts == counts.max())[-1])
        if (sizes != full).any():
            out.notes.append(
                f"{_title(group)}: {int((sizes != full).sum())} of {len(sizes)} blocks have "
                f"another number of cpus than {full} and are left out"
            )
        base = len(out.shown)
        out.per_core[group] = list(range(base, base + full))
        model = side.keys[groups[group][0]]
        for r in range(full):
            key = model._replace(place=None, core=None, cpu=None, cluster=group.cluster)
            out.keys[(*group.subject, "rank", group.cluster, r, full)] = len(out.shown)
            out.shown.append(key)
            out.rank.append((r, full))
        whole = rows[first[mine][sizes == full][:, None] + np.arange(full)]
        out.fk[whole] = np.arange(base, base + full)
        out.matrices[group] = _matrix(side, out.unit, whole)


def _matrix(side: Side, units: U32, blocks: I64) -> tuple[list[tuple[Any, ...]], I64]:
    """The first block of each unit as a row, cpus in the order of their identity."""
    _, first = np.unique(units[blocks[:, 0]], return_index=True)
    part = blocks[np.sort(first)]
    keys = side.key[part]
    used = np.flatnonzero(np.bincount(keys.reshape(-1))).tolist()
    position = {w: i for i, w in enumerate(sorted({side.keys[k].where for k in used}, key=str))}
    if len(position) != blocks.shape[1]:  # cpus differ from block to block: no common order
        return [], np.zeros((0, blocks.shape[1]), "i8")
    place = np.zeros(len(side.keys), "i8")
    place[used] = [position[side.keys[k].where] for k in used]
    order = np.argsort(place[keys], axis=1, kind="stable")
    values: I64 = np.take_along_axis(side.value[part], order, axis=1)
    return list(position), values


def _title(group: Group) -> str:
    words = [str(word) for word in group.subject if word]
    if group.cluster is not None:
        words.append(f"cluster {group.cluster}")
    return " ".join(words)

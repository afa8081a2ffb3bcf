"""Make snapshots: count the readings of each key, boot and run."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import numpy as np

from .._core import codes, count_groups, samples
from ..errors import NotEnoughData
from ..limits import LIMITS, Limits
from ..sources.digest import Digest
from .inputs import load_any, side_of
from .pack import class_of
from .side import Key, Side, sorting
from .snapshot import BOOT, Snapshot, key_dict, place

__all__ = ["snapshot"]


def _by_block(side: Side, rows: np.ndarray[Any, Any]) -> dict[str, Any]:
    """The readings of interchangeable cpus in one boot and run, block by block."""
    value = side.value[rows]
    block, _ = codes([side.block[rows]])
    order = np.lexsort((value, block))
    return {"block": block[order].tolist(), "value": value[order].tolist()}


def snapshot(*sources: Any, exchange: Any = None, limits: Limits | None = None) -> Snapshot:
    """The counts of data sets, snapshots or paths.

    Parameters
    ----------
    *sources
        Data sets, snapshots or paths; equal sources count once.
    exchange
        As in `compare`: for which keys the blocks are kept.
    limits : Limits, optional
        How many distinct values a key may have in one boot before they are folded.

    Returns
    -------
    Snapshot

    Raises
    ------
    NotEnoughData
        No source, one without a digest, or no reading in any of them.
    """
    if not sources:
        raise NotEnoughData("a snapshot needs a source")
    distinct = (limits or LIMITS).distinct
    parts = [
        one if isinstance(one, Snapshot) else _of_side(side_of(one), exchange, distinct)
        for one in _flat(sources)
    ]
    made = parts[0].merge(*parts[1:])
    if not made.keys:
        raise NotEnoughData("a snapshot counts readings, and the sources have none")
    return made


def _flat(sources: Iterable[Any]) -> list[Any]:
    out: list[Any] = []
    for one in sources:
        if isinstance(one, (list, tuple)):
            out += _flat(one)
        elif isinstance(one, (str, os.PathLike)):
            out += _flat([load_any(one, digest=True)])
        else:
            out.append(one)
    return out


def _of_side(side: Side, exchange: Any, distinct: int) -> Snapshot:
    _, pairs = codes([side.source, side.boot])
    boots: dict[int, list[int]] = {}
    for s, b in zip(side.source[pairs].tolist(), side.boot[pairs].tolist(), strict=True):
        boots.setdefault(s, []).append(b)
    used = list(boots)
    digests = _digests(side, used)
    place_of = {s: {b: i for i, b in enumerate(found)} for s, found in boots.items()}
    unit_of, first = codes([side.key, side.source, side.boot, side.run])
    one = np.zeros(len(unit_of), "u4")
    value, weight, row, _, start, _ = samples(
        one, unit_of, side.value, side.weight, n_keys=1, n_units=len(first)
    )
    ids = np.stack([side.key, side.source, side.boot, side.run], 1)[first].tolist()
    apart = [side.weight is None and class_of(key, exchange) != "none" for key in side.keys]
    values, counts, ends, folded = (
        column.tolist()
        for column in count_groups(value, weight, start, min(distinct, (1 << 32) - 1))
    )
    entries: dict[int, list[dict[str, Any]]] = {}
    for n, (k, s, boot, run) in enumerate(ids):
        unit: dict[str, Any]
        if apart[k]:
            unit = _by_block(side, row[start[n] : start[n + 1]])
        else:
            here = slice(ends[n], ends[n + 1])
            unit = {"value": values[here], "count": counts[here]}
            if folded[n]:
                unit["folded"] = True
        unit |= {"source": digests[s], "boot": place_of[s][boot]}
        if run >= 0:
            unit["run"] = run
        entries.setdefault(k, []).append(unit)
    of_key: dict[Key, list[dict[str, Any]]] = {}
    for k, units in entries.items():
        of_key.setdefault(side.keys[k], []).extend(units)
    heads = [
        {
            "digest": digests[s],
            "format": side.sources[s].get("format", ""),
            "boots": [_boot(side, b) for b in boots[s]],
        }
        for s in used
    ]
    keys = [
        {**key_dict(key), "units": sorted(units, key=place)}
        for key, units in sorted(of_key.items(), key=lambda item: sorting(item[0]))
    ]
    return Snapshot(sorted(heads, key=lambda h: str(h["digest"])), keys)


def _digests(side: Side, used: list[int]) -> dict[int, str]:
    """The digest of each source that has readings."""
    found = {}
    for s in used:
        digest = side.sources[s].get("digest") if 0 <= s < len(side.sources) else None
        if isinstance(digest, Digest) and not digest.known:
            raise NotEnoughData(f"a snapshot names its sources by digest: {digest.why}")
        if not digest:
            raise NotEnoughData("a snapshot names its sources by digest, and one has none")
        found[s] = str(digest)
    return found


def _boot(side: Side, number: int) -> dict[str, Any]:
    known = side.boots[number] if 0 <= number < len(side.boots) else {}
    return {name: known[name] for name in BOOT if known.get(name)}

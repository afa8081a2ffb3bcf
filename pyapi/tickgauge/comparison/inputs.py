"""Inputs of a comparison: anything that can stand on a side becomes a `Side`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from .._core import codes
from ..errors import NotEnoughData
from ..frame.frame import Frame
from ..reading.read import read_side
from ..sources.digest import Digest
from .side import Side, pooled

__all__ = ["load_any", "side_of"]


def load_any(source: str | os.PathLike[str], digest: bool = False) -> Any:
    """A path or pattern as a snapshot, a data set, or a list of these, decided by content."""
    return read_side(os.fspath(source), digest=digest)


def side_of(what: Any) -> Side:
    """Whatever can stand on a side: a data set, a snapshot, a path, a side, or several of them.

    A folder or glob may hold logs, snapshots and captures together: all their boots are units of
    the side, and a source that stands in several of them (by digest) counts once.

    Raises
    ------
    TypeError
        It is none of these.
    """
    if isinstance(what, Side):
        return what
    if isinstance(what, (str, os.PathLike)):
        return side_of(load_any(what))
    if hasattr(what, "to_side"):
        side: Side = what.to_side()
        return side
    if hasattr(what, "readings"):
        return _of_dataset(what)
    if isinstance(what, Iterable) and not isinstance(what, (bytes, Mapping)):
        sides = [side_of(one) for one in what]
        if not sides:
            raise NotEnoughData("a side of the comparison is empty")
        return pooled(sides)
    raise TypeError(f"not a data set, a snapshot or a path: {type(what).__name__}")


def _of_dataset(data: Any) -> Side:
    readings = data.readings
    keys = getattr(readings, "keys", None)  # those that the readings' key column counts
    if not isinstance(keys, Frame):
        keys = data.keys
    boots = getattr(data, "boots", None)
    side = Side.of_tables(keys, readings, boots if isinstance(boots, Frame) else None)
    infos = getattr(data, "infos", None)
    if infos is not None:
        per_source = _boots_per_source(side, len(infos))
        side.sources = [
            {"digest": _digest(i), "format": " ".join(i.formats), "boots": n}
            for i, n in zip(infos, per_source, strict=True)
        ]
        side.copies = sum(i.state.startswith("duplicate") for i in infos)
        side.name = infos[0].name if len(infos) == 1 else f"{len(infos)} sources"
    return side


def _digest(info: Any) -> Digest | str:
    """The digest of a source; one release of a published page is a source of its own."""
    identity: Digest | None = getattr(info, "identity", None)
    if identity is None:
        return str(getattr(info, "digest", ""))
    _, at, release = str(info.name).rpartition("@")
    return identity.of_release(release) if at and info.form == "published" else identity


def _boots_per_source(side: Side, n: int) -> list[int]:
    _, first = codes([side.source, side.boot])
    known = side.source[first]
    counts: list[int] = np.bincount(known[(known >= 0) & (known < n)], minlength=n).tolist()
    return counts

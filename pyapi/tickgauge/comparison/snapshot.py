"""Snapshots: the statistics of a data set in a small, stable, mergeable file.

A snapshot holds exact counts: for every key and boot the distinct values and how often each
occurred; for cpus that may be interchanged the values block by block, as sorted
vectors need them. It holds no paths and no times, is sorted throughout, and is the same bytes
whatever the order of the sources. It stands wherever a source does: it is the baseline that lives
in git.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError, LimitError
from ..frame.grid import Grid, page_of
from ..limits import LIMITS, Limits
from ..sources.form import Match
from ..util.atomic_write import write_whole
from ..util.text import counted
from .options import EXCHANGES
from .side import Key, Side, sorting

__all__ = ["BOOT", "Snapshot", "is_snapshot", "key_dict", "load", "load_snapshot", "place", "sniff"]

SCHEMA, VERSION = "tickgauge-snapshot", 1

#: Powers of ten that a key's values may be scaled by, up and down.
EXPONENTS = 64

#: Keys that a notebook lists.
SHOWN = 40

#: Known of a boot, as far as its log tells.
BOOT = ("platform", "version", "build", "clock_hz")


def key_dict(key: Key) -> dict[str, Any]:
    """The columns of a key that have a value."""
    return {name: value for name, value in zip(key._fields, key, strict=True) if value is not None}


def place(unit: Mapping[str, Any]) -> tuple[str, int, int]:
    """The order of the units of a key: by source, boot and run."""
    return unit["source"], unit["boot"], unit.get("run", -1)


class Snapshot:
    """Counts of one or more sources.

    Attributes
    ----------
    sources : list of dict
        ``digest``, ``format`` and ``boots`` (each with platform, version, build, clock_hz as far
        as known), sorted by digest.
    keys : list of dict
        The columns of a key, and ``units``: for each boot ``source`` (its digest), ``boot``,
        ``run`` where one is stated, and either ``value`` and ``count`` or, for interchangeable
        cpus, ``block`` and ``value``; ``folded`` where values lie on a coarser grid.
    """

    def __init__(
        self, sources: list[dict[str, Any]], keys: list[dict[str, Any]], name: str = "snapshot"
    ) -> None:
        self.sources = sources
        self.keys = keys
        self.name = name  # of its file, for people: not a part of it

    @property
    def folded(self) -> bool:
        """Whether any counts lie on a coarser grid than they were read on."""
        return any(unit.get("folded") for key in self.keys for unit in key["units"])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Snapshot) and self.to_bytes() == other.to_bytes()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        boots = sum(len(s["boots"]) for s in self.sources)
        readings = sum(
            sum(unit.get("count", [1] * len(unit["value"])))
            for key in self.keys
            for unit in key["units"]
        )
        marks = ", some counts folded" if self.folded else ""
        much = ", ".join((counted(len(self.sources), "source"), counted(boots, "boot")))
        of = f"{counted(readings, 'reading')} of {counted(len(self.keys), 'key')}"
        return f"tickgauge snapshot: {much}, {of}{marks}"

    def _repr_html_(self) -> str:
        told = ("test", "metric", "operation", "place", "cpu", "labels", "unit")
        names = [n for n in told if any(key.get(n) is not None for key in self.keys)]
        rows = []
        for key in self.keys[:SHOWN]:
            units = key["units"]
            boots = len({(unit["source"], unit["boot"]) for unit in units})
            readings = sum(sum(unit.get("count", [1] * len(unit["value"]))) for unit in units)
            rows.append([*(key.get(name) for name in names), boots, readings])
        more = len(self.keys) - SHOWN
        tail = [f"... {more} more; tickgauge.summarize() has their figures"] if more > 0 else []
        return page_of([repr(self)], Grid((*names, "boots", "readings"), rows), tail)

    # ---- leaving ----------------------------------------------------------------------------

    def to_bytes(self) -> bytes:
        """The file: JSON, one line a source and a key, the same bytes for the same data."""

        def line(item: Mapping[str, Any]) -> str:
            return json.dumps(item, sort_keys=True, separators=(",", ":"), ensure_ascii=True)

        sources = ",\n".join(map(line, self.sources))
        keys = ",\n".join(map(line, self.keys))
        head = f'{{"schema":"{SCHEMA}","version":{VERSION}'
        return f'{head},\n"sources":[\n{sources}\n],\n"keys":[\n{keys}\n]}}\n'.encode("ascii")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the file, whole or not at all."""
        write_whole(Path(path), self.to_bytes())

    def to_side(self) -> Side:
        """The snapshot as a side of a comparison."""
        number = {source["digest"]: i for i, source in enumerate(self.sources)}
        first = np.cumsum([0, *(len(source["boots"]) for source in self.sources)]).tolist()
        names, places = [], []  # places: key, source, boot, run and length of each unit
        items: dict[str, list[int]] = {name: [] for name in ("block", "value", "count")}
        for k, entry in enumerate(self.keys):
            names.append(Key(**{n: v for n, v in entry.items() if n != "units"}))
            for unit in entry["units"]:
                n = len(unit["value"])
                source = number[unit["source"]]
                places.append((k, source, first[source] + unit["boot"], unit.get("run", -1), n))
                items["block"] += unit.get("block") or [0] * n
                items["value"] += unit["value"]
                items["count"] += unit.get("count") or [1] * n
        *of_unit, lengths = np.array(places, "i8").reshape(-1, 5).T
        key, source_of, boot, run = (np.repeat(column, lengths) for column in of_unit)
        block, value, counts = (np.array(column, "i8") for column in items.values())
        weight = counts.astype("u8")
        plain = bool((weight == 1).all())
        return Side(
            names,
            key,
            source_of,
            boot,
            run,
            block,
            value,
            weight=None if plain else weight,
            boots=[dict(boot) for source in self.sources for boot in source["boots"]],
            sources=[
                {"digest": s["digest"], "format": s["format"], "boots": len(s["boots"])}
                for s in self.sources
            ],
            folded=self.folded,
            name=self.name,
            ordered=False,
        )

    def merge(self, *others: Snapshot) -> Snapshot:
        """Several snapshots as one; a source that stands in two of them counts once.

        The result does not depend on order or grouping.

        Raises
        ------
        TypeError
            One of `others` is no snapshot.
        """
        for number, one in enumerate(others):
            if not isinstance(one, Snapshot):
                raise TypeError(f"others[{number}] is a snapshot, not {type(one).__name__}")
        sources = {s["digest"]: s for one in (self, *others) for s in one.sources}
        keys: dict[Key, dict[tuple[Any, ...], dict[str, Any]]] = {}
        for one in (self, *others):
            for entry in one.keys:
                key = Key(**{n: v for n, v in entry.items() if n != "units"})
                units = keys.setdefault(key, {})
                for unit in entry["units"]:
                    units[place(unit)] = unit
        return Snapshot(
            [sources[d] for d in sorted(sources)],
            [
                {**key_dict(key), "units": [keys[key][u] for u in sorted(keys[key])]}
                for key in sorted(keys, key=sorting)
            ],
        )


# ---- reading ------------------------------------------------------------------------------------


def is_snapshot(head: bytes) -> bool:
    """Whether a file that begins so is a snapshot."""
    return head.lstrip()[:64].replace(b" ", b"").startswith(f'{{"schema":"{SCHEMA}"'.encode())


def load_snapshot(data: bytes, name: str = "snapshot", limits: Limits = LIMITS) -> Snapshot:
    """A snapshot from the bytes of its file.

    Raises
    ------
    InputError
        Not a snapshot, a newer version, or one that contradicts itself: two sources of one
        digest, two entries of one key, two of one key and boot.
    LimitError
        A text of a key is longer than `limits` allow.
    """
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise InputError(f"not a snapshot: {error}", path=name) from None
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise InputError(f"not a snapshot: no schema {SCHEMA}", path=name)
    if document.get("version") != VERSION:
        raise InputError(
            f"snapshot version {document.get('version')} is not read here, {VERSION} is", path=name
        )
    try:
        made = Snapshot(document["sources"], document["keys"])
        _check(made, limits)
        whole = made.merge()
        whole.name = name
        return whole
    except LimitError as error:
        error.path = name
        raise
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
        raise InputError(f"damaged snapshot: {error}", path=name) from None


_TEXTS = ("format", "test", "metric", "operation", "place", "labels", "unit", "exchange",
          "origin", "better", "observation")  # fmt: skip


def _whole(value: Any, what: str, low: int, high: int) -> None:
    """ValueError where it is no whole number within the bounds; a JSON 1.5 or true is none."""
    if type(value) is not int or not low <= value < high:
        raise ValueError(f"{what} is {str(value)[:40]}")


def _text(value: Any, what: str) -> None:
    if not isinstance(value, str):
        raise ValueError(f"{what} is no text")


def _check(made: Snapshot, limits: Limits) -> None:
    """ValueError where a snapshot contradicts itself or holds values that no snapshot has."""
    boots: dict[str, int] = {}
    for source in made.sources:
        _text(source["digest"], "a digest")
        _text(source["format"], "a format")
        if source["digest"] in boots:
            raise ValueError(f"two sources have the digest {source['digest'][:64]}")
        boots[source["digest"]] = len(source["boots"])
        for boot in source["boots"]:
            for name, value in boot.items():
                if name == "clock_hz":
                    _whole(value, name, 1, 1 << 64)
                elif name in BOOT:
                    _text(value, name)
                else:
                    raise ValueError(f"{name} is not known of a boot")
    seen: set[Key] = set()
    for entry in made.keys:
        key = Key(**{n: v for n, v in entry.items() if n != "units"})
        _check_key(key, limits)
        if key in seen:
            raise ValueError(f"two entries of one key ({key.test or key.operation} {key.metric})")
        seen.add(key)
        for unit in entry["units"]:
            _check_unit(unit, boots)
        places = {place(unit) for unit in entry["units"]}
        if len(places) < len(entry["units"]):
            raise ValueError(
                f"two units of one boot and key ({key.test or key.operation} {key.metric})"
            )


def _check_key(key: Key, limits: Limits) -> None:
    for name in _TEXTS:
        value = getattr(key, name)
        if value is None:
            continue
        _text(value, name)
        if len(value.encode("utf-8", "replace")) > limits.label:
            raise LimitError(f"a {name} of more than {limits.label} bytes (--limit label=N)")
    for name in ("cluster", "core", "cpu"):
        if getattr(key, name) is not None:
            _whole(getattr(key, name), name, 0, 1 << 32)
    if key.clock_hz is not None:
        _whole(key.clock_hz, "clock_hz", 1, 1 << 64)
    _whole(key.exp10, "exp10", -EXPONENTS, EXPONENTS + 1)
    _whole(key.resolution, "resolution", 1, 1 << 63)
    if key.exchange not in (None, "", *EXCHANGES):
        raise ValueError(f"exchange is {key.exchange[:40]}")
    if key.better not in (None, "lower", "higher", "none"):
        raise ValueError(f"better is {key.better[:40]}")
    if key.observation not in (None, "boot", "run"):
        raise ValueError(f"observation is {key.observation[:40]}")


def _check_unit(unit: Mapping[str, Any], boots: Mapping[str, int]) -> None:
    _whole(unit["boot"], "boot", 0, max(1, boots[unit["source"]]))
    _whole(unit.get("run", 0), "run", 0, 1 << 32)
    for name, low, high in (("count", 1, 1 << 63), ("block", 0, 1 << 63)):
        if name in unit and len(unit[name]) != len(unit["value"]):
            raise ValueError(f"{name} and value differ in length")
        for number in unit.get(name, ()):
            _whole(number, f"a {name}", low, high)
    for number in unit["value"]:
        _whole(number, "a value", -(1 << 63), 1 << 63)


def sniff(head: bytes, source: Any) -> Match:
    """How well the form fits, for the dispatcher."""
    if is_snapshot(head):
        return Match(100, f"begins with the schema {SCHEMA}")
    return Match(0, "")


def load(source: Any, options: Any) -> Snapshot:
    """Read a snapshot, for the dispatcher."""
    return load_snapshot(source.read_bytes(options.limits), source.name, options.limits)

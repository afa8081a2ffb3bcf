"""Platforms: clock, topology, and which cpu a printed label means.

The facts are in ``platforms.toml`` beside this file; a file of the same form adds to them or
overrides them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import InputError
from ..util.built import shipped_table
from ..util.toml import LARGEST, parse_toml

__all__ = [
    "Cluster",
    "Cpu",
    "Identity",
    "LabelMap",
    "Platform",
    "choose",
    "find",
    "identify",
    "load",
]


class Cpu(NamedTuple):
    """A cpu by cluster and core."""

    cluster: int
    core: int

    def __str__(self) -> str:
        return f"{self.cluster},{self.core}"


class Cluster(NamedTuple):
    """A cluster: its count of cores and their name."""

    cores: int
    name: str


@dataclass(frozen=True)
class LabelMap:
    """Which cpus the labels of one block mean, in printed order."""

    printed: tuple[Cpu, ...]
    cpus: tuple[Cpu, ...]
    source: str = ""
    forms: tuple[str, ...] = ()
    until: str = ""
    note: str = ""


@dataclass(frozen=True)
class Platform:
    """One board: clock in ticks per second (None = unknown), clusters, label maps."""

    name: str
    title: str
    names: tuple[str, ...]
    clock_hz: int | None
    clock_source: str
    clusters: tuple[Cluster, ...]
    linear: tuple[Cpu, ...]
    labels: tuple[LabelMap, ...]

    @property
    def cpus(self) -> tuple[Cpu, ...]:
        """All cpus, by cluster and core; empty where the clusters are unknown."""
        return tuple(Cpu(k, c) for k, cl in enumerate(self.clusters) for c in range(cl.cores))

    @property
    def tick_ns(self) -> int | None:
        """Nanoseconds of a tick where that is a whole number, else None."""
        if not self.clock_hz or 10**9 % self.clock_hz:
            return None
        return 10**9 // self.clock_hz

    def for_core(self) -> tuple[Any, ...]:
        """As ``_core.reduce(topology=...)`` takes it: the part that matters for consoles."""
        return self._for_core

    @cached_property
    def _for_core(self) -> tuple[Any, ...]:
        maps = tuple(
            (tuple(map(tuple, m.printed)), tuple(map(tuple, m.cpus)))
            for m in self.labels
            if m.source in ("", "console")
        )
        cpus, linear = (tuple(map(tuple, c)) for c in (self.cpus, self.linear))
        return (self.name, self.names, self.clock_hz or 0, cpus, linear, maps)

    def topology(self) -> str:
        """The clusters in words: ``cluster 0 = 2 x Cortex-A57, cluster 1 = ...``."""
        parts = [
            f"cluster {k} = {c.cores}" + (f" x {c.name}" if c.name else " cores")
            for k, c in enumerate(self.clusters)
        ]
        return ", ".join(parts) if parts else "clusters unknown"


class Identity(NamedTuple):
    """The meaning of the labels of a block: a cpu per row (None = undecided), how, and why."""

    cpus: tuple[Cpu | None, ...]
    how: str
    note: str


def _cpu(text: object, where: str) -> Cpu:
    match = re.fullmatch(r"\s*([0-9]{1,9})\s*,\s*([0-9]{1,9})\s*", str(text))
    if match is None:
        raise InputError(f"{where}: {text!r} is not 'cluster,core'")
    return Cpu(int(match[1]), int(match[2]))


#: Cpus of a board: far more than any has, and few enough to list.
MOST_CPUS = 4096

_KEYS = {"title", "names", "clock_hz", "clock_source", "clusters", "linear", "labels"}
_LABEL_KEYS = {"printed", "cpus", "source", "forms", "until", "note"}


def _cluster(raw: Mapping[str, Any], where: str) -> Cluster:
    cores = raw.get("cores")
    if not isinstance(cores, int) or not 0 <= cores <= MOST_CPUS:
        raise InputError(f"{where}: a cluster needs 'cores', a number up to {MOST_CPUS}")
    return Cluster(cores, str(raw.get("name", "")))


def _label_map(raw: Mapping[str, Any], where: str) -> LabelMap:
    unknown = set(raw) - _LABEL_KEYS
    if unknown:
        raise InputError(f"{where}: unknown key {sorted(unknown)[0]!r} in labels")
    printed = tuple(_cpu(p, where) for p in raw.get("printed", ()))
    cpus = tuple(_cpu(c, where) for c in raw.get("cpus", ()))
    if not printed or len(printed) != len(cpus) or len(set(cpus)) != len(cpus):
        raise InputError(f"{where}: labels need as many distinct cpus as printed labels")
    source = str(raw.get("source", ""))
    if source not in ("", "console", "table"):
        raise InputError(f"{where}: source is 'console' or 'table', not {source!r}")
    return LabelMap(
        printed, cpus, source, tuple(map(str, raw.get("forms", ()))), str(raw.get("until", "")),
        str(raw.get("note", "")),
    )  # fmt: skip


def _platform(name: str, raw: object, path: str) -> Platform:
    where = f"{path}: [{name}]"
    if not isinstance(raw, dict):
        raise InputError(f"{where} is not a table")
    unknown = set(raw) - _KEYS
    if unknown:
        raise InputError(f"{where}: unknown key {sorted(unknown)[0]!r}")
    clock = raw.get("clock_hz")
    if clock is not None and (not isinstance(clock, int) or not 0 < clock < 2**63):
        raise InputError(f"{where}: clock_hz is a positive whole number of ticks per second")
    try:
        clusters = tuple(_cluster(c, where) for c in raw.get("clusters", ()))
        linear = tuple(_cpu(c, where) for c in raw.get("linear", ()))
        labels = tuple(_label_map(m, where) for m in raw.get("labels", ()))
        names = tuple(str(n).lower() for n in raw.get("names", (name,)))
    except (TypeError, AttributeError) as error:
        raise InputError(f"{where}: a list or a table is expected: {error}") from None
    if sum(c.cores for c in clusters) > MOST_CPUS:
        raise InputError(f"{where}: more than {MOST_CPUS} cpus")
    return Platform(
        name=name,
        title=str(raw.get("title", name)),
        names=names,
        clock_hz=clock,
        clock_source=str(raw.get("clock_source", path)),
        clusters=clusters,
        linear=linear,
        labels=labels,
    )


def _parse(path: Path, name: str) -> dict[str, Platform]:
    with path.open("rb") as file:
        return _boards(parse_toml(file.read(LARGEST + 1), name), name)


def _boards(raw: Mapping[str, Any], name: str) -> dict[str, Platform]:
    return {board: _platform(board, value, name) for board, value in raw.items()}


@cache
def _shipped() -> dict[str, Platform]:
    path = Path(__file__).with_name("platforms.toml")
    return _boards(shipped_table(path), path.name)


def load(path: str | os.PathLike[str] | None = None) -> dict[str, Platform]:
    """The known platforms by name, those of a user's file first.

    Parameters
    ----------
    path
        A TOML file of the form of the shipped ``platforms.toml``, or None.

    Raises
    ------
    InputError
        Where the file is not TOML or a platform in it is malformed; the message names it.
    OSError
        Where the file cannot be read.
    """
    own: dict[str, Platform] = {}
    if path is not None:
        own = _parse(Path(path), os.fspath(path))
    return {**own, **{k: v for k, v in _shipped().items() if k not in own}}


def find(name: str, platforms: Mapping[str, Platform]) -> Platform | None:
    """The platform that a banner or a page calls `name`, or None."""
    wanted = name.strip().lower()
    for platform in platforms.values():
        if wanted == platform.name.lower() or wanted in platform.names:
            return platform
    return None


def choose(wanted: str | None) -> tuple[dict[str, Platform], str | None]:
    """The known platforms, and the name of the one that ``--platform`` asks for.

    Parameters
    ----------
    wanted
        A name; or the path of a TOML file, whose only platform is then the one; or None.

    Raises
    ------
    InputError
        Where no platform has that name, and no such file is there.
    """
    if wanted is None:
        return load(), None
    if wanted.endswith(".toml") or os.sep in wanted:
        own = _parse(Path(wanted), wanted)
        return load(wanted), next(iter(own)) if len(own) == 1 else None
    known = load()
    found = find(wanted, known)
    if found is None:
        raise InputError(
            f"no platform {wanted!r}; there are {', '.join(known)}, and FILE.toml adds others"
        )
    return known, found.name


def release_key(label: str) -> tuple[int, ...] | None:
    """``v2.14`` and ``2.14-rc1`` as (2, 14); None where the label names no release."""
    match = re.match(r"v?(\d+)\.(\d+)", label)
    return (int(match[1]), int(match[2])) if match else None


def _fits(m: LabelMap, printed: Sequence[Cpu], source: str, form: str, label: str) -> bool:
    if m.printed != tuple(printed) or (m.source and m.source != source):
        return False
    if m.forms and form not in m.forms:
        return False
    if m.until:
        here, last = release_key(label), release_key(m.until)
        return here is None or last is None or here <= last
    return True


def identify(
    platform: Platform | None,
    printed: Sequence[tuple[int, ...]],
    *,
    source: str = "table",
    form: str = "",
    label: str = "",
) -> Identity:
    """Which cpus the labels of one block mean.

    Parameters
    ----------
    platform
        The board, or None where it is unknown.
    printed
        One label per row, in printed order: ``(cluster, core)``, or ``(position,)``.
    source, form, label
        ``"console"`` or ``"table"``, the form of the table, and its release.

    Returns
    -------
    Identity
        One cpu per row. ``how`` is ``"map"``, ``"label"``, ``"linear"``, or ``"ordinal"`` where
        only the place in the block is known; then the cpus are None.
    """
    if all(len(p) == 2 for p in printed):
        pairs = [Cpu(*p) for p in printed]
        if platform is not None:
            for m in platform.labels:
                if _fits(m, pairs, source, form, label):
                    note = f"printed {_list(pairs)} read as cpu {_list(m.cpus)}: {m.note}"
                    return Identity(m.cpus, "map", note)
        if len(set(pairs)) == len(pairs):
            return Identity(tuple(pairs), "label", "")
        return Identity((None,) * len(pairs), "ordinal", _missing(platform, _list(pairs)))
    if platform is not None and platform.linear and all(len(p) == 1 for p in printed):
        linear = platform.linear
        if all(p[0] < len(linear) for p in printed) and len(set(printed)) == len(printed):
            cpus = tuple(linear[p[0]] for p in printed)
            note = f"cpu positions {printed[0][0]} to {printed[-1][0]} read as {_list(cpus)}"
            return Identity(cpus, "linear", note)
    text = " ".join(",".join(map(str, p)) for p in printed)
    return Identity((None,) * len(printed), "ordinal", _missing(platform, text))


def _list(cpus: Iterable[Cpu]) -> str:
    return " ".join(map(str, cpus))


def _missing(platform: Platform | None, printed: str) -> str:
    who = "an unknown platform" if platform is None else platform.name
    return f"{who}: labels {printed} do not say which cpu they mean; --platform FILE settles it"

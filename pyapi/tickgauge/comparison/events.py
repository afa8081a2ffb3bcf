"""Events of a trend: the steps of one release, metric, direction and cluster, and their words."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..frame.frame import Frame
from ..util.text import counted

__all__ = ["CONFIRMED", "Event", "events_of", "more_boots", "more_releases"]

#: Kinds of a step, as the core counts them.
PLAIN, ALONE, ALONG, OPEN, ONCE = range(5)

#: p up to which a step is confirmed.
CONFIRMED = 0.05


@dataclass(frozen=True)
class Event:
    """Steps of one release, metric, direction and cluster.

    Attributes
    ----------
    at, before, until : str
        First release of the new level, last of the old one, last of the new one.
    metric : str
    up : bool
        Slower, or larger.
    cluster : int or None
    factor : float
        Geometric mean of new / old over the keys that stepped; NaN where they have none.
    p : float
        The smallest of the keys.
    keys, along : list of str
        Keys that stepped; keys that moved in the same release, too weak to tell alone.
    alone : bool
        A level is the first or the newest release alone: not confirmed.
    missing : str
        Releases between that are not in the data.
    confirmed : bool
        The releases lie together more than chance lays them: p is at most 5 %.
    once : bool
        One release up and back: its first step, or the step back.
    advice : str
        The evidence that is missing, and how to get it.
    """

    at: str
    before: str
    until: str
    metric: str
    up: bool
    cluster: int | None
    factor: float
    p: float
    keys: list[str]
    along: list[str]
    alone: bool
    missing: str
    confirmed: bool = True
    once: bool = False
    advice: str = ""

    @property
    def sentence(self) -> str:
        """One line."""
        factor = "" if math.isnan(self.factor) else f" x{self.factor:.3g}"
        where = "" if self.cluster is None else f"cluster {self.cluster}: "
        text = f"{self.at} {self.metric} {'up' if self.up else 'down'}{factor} "
        of = " that so many keys share it by chance" if self.once else ""
        text += f"({where}{_short(self.keys, self.metric)}), p {self.p:.2g}{of}"
        text += f", before: {self.before}"
        if self.missing:
            text += f"; {self.missing} not in the data"
        if self.advice:
            text += f"; {self.advice}"
        if self.along:
            text += f"; also moved: {_short(self.along, self.metric)}"
        return text


def _short(keys: Sequence[str], metric: str) -> str:
    """Keys of one metric: the test once, the places behind it."""
    tests: dict[str, list[str]] = {}
    for key in keys:
        test, found, place = key.partition(f" {metric}")
        place = re.sub(r"^\s*cluster \d+ ", "", place).strip()
        tests.setdefault(test if found else key, []).append(place)
    lines = [
        " ".join([test, ", ".join(sorted(filter(None, places)))]).strip()
        for test, places in tests.items()
    ]
    more = f" and {len(lines) - 4} more tests" if len(lines) > 4 else ""
    return "; ".join(lines[:4]) + more


def more_releases(n: int, k: int) -> int:
    """How many more releases at the level of the last `k` of `n` confirm it.

    Two of all places of so many odd releases are the ends: their share must be at most 5 %.
    """
    more = 0
    while 2 / math.comb(n + more, k + more) > CONFIRMED and k + more < n + more:
        more += 1
    return more


def more_boots(old: int) -> int:
    """Boots of one release that can be told from `old` boots before it: their gate can be red."""
    new = 2
    while math.comb(old + new, new) * CONFIRMED < 1 - 1e-9:
        new += 1
    return new


def _advice(rows: Sequence[dict[str, Any]], names: Sequence[str], boots: Sequence[int]) -> str:
    """The evidence that is missing for an event, and how to get it."""
    first = rows[0]
    at, n = names.index(first["at"]), len(names)
    kinds = {row["kind"] for row in rows}
    if kinds == {ONCE}:
        if first["until"] != first["at"] or at + 1 == n:
            return f"back after {first['before']} alone"
        told = f"back in {names[at + 1]}"
        if boots[at] > 1:
            return f"{told}; seen in the {boots[at]} boots of {first['at']} alone"
        return f"{told}; one boot, and an odd boot looks alike: 2 more boots of {first['at']} tell"
    if PLAIN in kinds:
        return ""
    if ALONE in kinds and at + 1 < n:
        return "the first release alone, not confirmed: older releases or more boots of it tell"
    last = names.index(first["until"]) + 1 == n
    more = more_releases(n, n - at)
    level = f"{counted(more, 'more release')} at this level"
    if ALONE in kinds:
        new = more_boots(sum(boots[:at]))
        told = f", or {new} boots of {first['at']}" if new > boots[at] else ""
        return f"one release alone, not confirmed: {level}{told} would"
    p = 100 * min(row["p"] for row in rows if row["p"] is not None)
    share = f"not confirmed: in {p:.0f} % of all orders releases lie together like this"
    return f"{share}; {level} would" if last and more else f"{share}; more boots of them tell"


def events_of(steps: Frame, names: Sequence[str], boots: Sequence[int]) -> list[Event]:
    """Steps of one release, metric, direction and cluster, with the keys that moved along.

    Parameters
    ----------
    steps : Frame
        Of a trend.
    names : sequence of str
        Releases in order.
    boots : sequence of int
        Of each release.
    """
    found: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in steps:
        metric = " ".join(filter(None, (row["operation"], row["metric"]))) or row["test"] or ""
        name = (row["at"], metric, row["new"] > row["old"], row["cluster"], row["kind"] == ONCE)
        found.setdefault(name, []).append(row)
    events = []
    for (at, metric, up, cluster, once), rows in found.items():
        own = [row for row in rows if row["kind"] != ALONG]
        if not own:
            continue
        logs = [math.log(row["new"] / row["old"]) for row in own if row["percent"] is not None]
        kinds = {row["kind"] for row in own}
        events.append(
            Event(
                at, own[0]["before"], own[0]["until"], metric, up, cluster,
                math.exp(sum(logs) / len(logs)) if logs else math.nan,
                min(row["p"] for row in own), [row["key"] for row in own],
                [row["key"] for row in rows if row["kind"] == ALONG],
                kinds == {ALONE}, own[0]["missing"] or "",
                PLAIN in kinds or (once and boots[names.index(at) - (not up)] > 1), once,
                _advice(own, names, boots),
            )
        )  # fmt: skip
    return events

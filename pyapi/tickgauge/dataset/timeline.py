"""A boot across its programs: the clocks that can be joined, the stages on them, and the gaps."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from ..errors import InputError
from .dataset import Dataset

__all__ = ["Bar", "Clock", "Strip", "boots_of", "joins_of", "strip_lines", "timeline", "title_of"]

#: Wholes whose times differ by less are the same time, seen by two programs.
ALIKE = 1.05
#: A stage or gap shorter than this part of its strip is not shown by itself.
SHARE = 0.01
#: So many of these are shown nevertheless.
LONGEST = 3


@dataclass(frozen=True)
class Bar:
    """A stage, or a gap that no stage claims, on a strip.

    Parameters
    ----------
    name : str
        The stage; of a gap the two stages around it.
    service : str
        Who took the time; "" for a gap.
    start, finish : int
        Nanoseconds from the begin of the strip.
    whole : bool
        The time of everything that goes on in it: it claims nothing where more is known.
    inside : str
        Of a gap: the shortest whole that has its middle, "" for none.
    """

    name: str
    service: str
    start: int
    finish: int
    whole: bool = False
    inside: str = ""

    @property
    def ns(self) -> int:
        """Its duration."""
        return self.finish - self.start

    @property
    def gap(self) -> bool:
        """Whether no stage claims it."""
        return not self.service


@dataclass(frozen=True)
class Clock:
    """A clock of a strip: where its zero lies, how far that may be off, and by which evidence."""

    name: str
    zero: int
    early: int | None = 0
    how: str = ""


@dataclass(frozen=True)
class Strip:
    """Stages on one axis: all clocks of it are joined.

    Parameters
    ----------
    clocks : sequence of Clock
        The first one is the axis.
    bars : sequence of Bar
        Stages and gaps by their start; wholes before their parts.
    length : int
        Nanoseconds from the first start to the last finish.
    unit : {"ms", "ticks"}
        Ticks stand in the place of nanoseconds where the clock's frequency is not known.
    """

    clocks: Sequence[Clock]
    bars: Sequence[Bar] = field(repr=False)
    length: int
    unit: str = "ms"

    @property
    def unclaimed(self) -> int:
        """Nanoseconds that no stage claims."""
        return sum(bar.ns for bar in self.bars if bar.gap)

    def shown(self, share: float = SHARE) -> list[Bar]:
        """The bars of at least that part of the strip, and the `LONGEST` of the others."""
        least = share * self.length
        short = sorted((b.ns for b in self.bars if 0 < b.ns < least), reverse=True)[:LONGEST]
        least = min(least, short[-1]) if short else least
        return [bar for bar in self.bars if bar.ns >= least]


@dataclass(frozen=True)
class _Join:
    """The zero of `axis` lies in [low, high] on `onto`; `low` None: no bound is known."""

    axis: str
    onto: str
    low: int | None
    high: int
    how: str


_JOIN = re.compile(r"([^=+]+)=([^=+]+)(?:\+(\d+(?:\.\d+)?)(ns|us|ms|s))?")
_UNIT = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}


def joins_of(texts: Iterable[str]) -> list[_Join]:
    """Clocks that the user joins.

    Parameters
    ----------
    texts : iterable of str
        ``CLOCK=CLOCK`` or ``CLOCK=CLOCK+TIME``: the zero of the first lies at that time of the
        second.

    Raises
    ------
    InputError
        A text of another form.

    Examples
    --------
    >>> joins_of(["kernel=U-Boot+1.5s"])[0].high
    1500000000
    """
    made = []
    for text in texts:
        match = _JOIN.fullmatch(text)
        if match is None:
            raise InputError(f"--join {text}: not of the form CLOCK=CLOCK or CLOCK=CLOCK+1.5ms")
        at = int(Fraction(match[3] or "0") * _UNIT[match[4] or "ns"])
        made.append(_Join(match[1], match[2], at, at, "as --join says"))
    return made


def boots_of(data: Dataset) -> list[int]:
    """The boots that have stages with a place in time.

    Parameters
    ----------
    data : Dataset

    Returns
    -------
    list of int
    """
    if "stages" not in data.tables:
        return []
    stages = data.stages
    pairs = zip(stages["boot"].tolist(), stages["axis"].tolist(), strict=True)
    return sorted({boot for boot, axis in pairs if boot is not None and axis})


def timeline(
    data: Dataset, boot: int, joins: Sequence[_Join] = ()
) -> tuple[list[Strip], list[str]]:
    """The stages of one boot, on as few axes as the evidence allows.

    Parameters
    ----------
    data : Dataset
    boot : int
        A row of ``data.boots``.
    joins : sequence
        As `joins_of` makes them.

    Returns
    -------
    strips : list of Strip
        In the order in which their first lines stand in the log.
    notes : list of str
        Clocks without a place, and why clocks are not on one axis.
    """
    of_boot = data.stages[np.flatnonzero(data.stages["boot"] == boot)]
    rows = [
        row for row in of_boot
        if row["axis"] and None not in (row["start"], row["finish"])
        and row["finish"] >= row["start"]
    ]  # fmt: skip
    ticks = {row["axis"] for row in rows if not row["clock_hz"]}
    known = list(dict.fromkeys(row["axis"] for row in rows))
    edges, notes = _edges(data, boot, joins)
    notes += [
        f"--join: no clock {name} in this boot; there are {', '.join(known)}"
        for name in sorted({end for join in joins for end in (join.axis, join.onto)} - set(known))
    ]
    notes += [
        f"{name}: in ticks and by itself, its frequency is not known (--clock HZ)"
        for name in sorted(ticks)
    ]
    edges = [edge for edge in edges if not ticks & {edge.axis, edge.onto}]
    strips = []
    for group in _groups(known, edges):
        clocks = _placed(group, edges)
        names = {clock.name for clock in clocks}
        unit = "ticks" if names & ticks else "ms"
        strips.append(_strip(clocks, [row for row in rows if row["axis"] in names], unit))
    strips.sort(key=lambda strip: min(known.index(c.name) for c in strip.clocks if c.name in known))
    return strips, notes + list(_apart(strips))


def _edges(data: Dataset, boot: int, joins: Sequence[_Join]) -> tuple[list[_Join], list[str]]:
    """How the clocks hang together; a join of the user replaces that of the log."""
    said = {(join.axis, join.onto) for join in joins}
    edges, notes = list(joins), []
    rows: Iterable[dict[str, Any]] = data.table("clocks") if "clocks" in data.tables else ()
    for row in rows:
        if row["boot"] != boot or (row["axis"], row["onto"]) in said:
            continue
        if row["high"] is None:
            notes.append(f"{row['axis']} is not on the axis of {row['onto']}: {row['how']}")
        else:
            edges.append(_Join(row["axis"], row["onto"], row["low"], row["high"], row["how"]))
    return edges, notes


def _groups(known: Sequence[str], edges: Sequence[_Join]) -> list[list[str]]:
    """Clocks that hang together; of each group first the one that most others are joined onto."""
    groups = [{name} for name in dict.fromkeys([*known, *(e.onto for e in edges)])]
    for edge in edges:
        ends = [g for g in groups if edge.axis in g or edge.onto in g]
        groups = [g for g in groups if g not in ends] + [set().union({edge.axis}, *ends)]
    order = {name: k for k, name in enumerate(known)}
    asked = [edge.onto for edge in edges]
    return [
        sorted(group, key=lambda name: (-asked.count(name), order.get(name, len(order))))
        for group in groups
        if group & set(known)
    ]


def _placed(group: Sequence[str], edges: Sequence[_Join]) -> list[Clock]:
    """The clocks of a group, each from the one it is joined to; the first is the axis."""
    clocks = {group[0]: Clock(group[0], 0)}
    waiting = [group[0]]
    while waiting:
        at = clocks[waiting.pop(0)]
        for edge in edges:
            for name, onto, sign in ((edge.axis, edge.onto, 1), (edge.onto, edge.axis, -1)):
                if onto != at.name or name in clocks or name not in group:
                    continue
                wide = None if edge.low is None else edge.high - edge.low
                early = None if wide is None or at.early is None else at.early + wide
                clocks[name] = Clock(name, at.zero + sign * edge.high, early, edge.how)
                waiting.append(name)
    return list(clocks.values())


def _strip(clocks: Sequence[Clock], rows: Sequence[dict[str, Any]], unit: str) -> Strip:
    zero = {clock.name: clock.zero for clock in clocks}
    bars = []
    for row in rows:
        start, finish = (
            zero[row["axis"]] + row[end] * 10**9 // (row["clock_hz"] or 10**9)
            for end in ("start", "finish")
        )
        name = f"{row['stage']}, cpu {row['cpu']}" if row["cpu"] else str(row["stage"])
        bars.append(Bar(name, str(row["service"]), start, finish, bool(row["whole"])))
    low = min(bar.start for bar in bars)
    bars = [Bar(b.name, b.service, b.start - low, b.finish - low, b.whole) for b in bars]
    bars += _gaps(bars)
    bars.sort(key=lambda bar: (bar.start, not bar.whole, -bar.finish))
    moved = [Clock(c.name, c.zero - low, c.early, c.how) for c in clocks]
    return Strip(moved, bars, max(bar.finish for bar in bars), unit)


def _gaps(bars: Sequence[Bar]) -> Iterator[Bar]:
    """The times that no stage claims.

    A whole claims its time only where no stage has its middle in it: then nothing more is known.
    """
    steps = [bar for bar in bars if not bar.whole and bar.ns]
    wholes = [bar for bar in bars if bar.whole and bar.ns]
    claims = steps + [
        one for one in wholes
        if not any(one.start <= (b.start + b.finish) // 2 < one.finish for b in steps)
        and not any(_within(other, one) for other in wholes)
    ]  # fmt: skip
    claims.sort(key=lambda bar: (bar.start, bar.finish))
    end = max((bar.finish for bar in bars), default=0)
    at, last = 0, ""
    for bar in [*claims, Bar("", "", end, end)]:
        if bar.start > at:
            middle = (at + bar.start) // 2
            holds = [w for w in wholes if w.start <= middle < w.finish]
            name = f"{last or 'begin'} .. {bar.name or 'end'}"
            yield Bar(name, "", at, bar.start, inside=_innermost(holds))
        if bar.finish > at:
            at, last = bar.finish, bar.name


def _innermost(wholes: Sequence[Bar]) -> str:
    """The shortest of them; of those that programs only time differently always the same."""
    least = min((whole.ns for whole in wholes), default=0)
    near = [whole for whole in wholes if whole.ns <= least * ALIKE]
    return min(near, key=lambda whole: (whole.service, whole.name)).name if near else ""


def _within(inner: Bar, outer: Bar) -> bool:
    """Whether a shorter whole has its middle in another."""
    middle = (inner.start + inner.finish) // 2
    return inner.ns < outer.ns and outer.start <= middle < outer.finish


def _apart(strips: Sequence[Strip]) -> Iterator[str]:
    """Why there is more than one axis."""
    if len(strips) > 1:
        names = "; ".join(" and ".join(clock.name for clock in strip.clocks) for strip in strips)
        yield (
            f"not on one axis: no line ties these clocks: {names}. A console whose lines are "
            "stamped as they arrive does, or --join CLOCK=CLOCK+TIME where it is known"
        )


def title_of(strip: Strip) -> str:
    """The length of a strip, its clocks, and how much of it nobody claims.

    Parameters
    ----------
    strip : Strip

    Returns
    -------
    str
    """
    share = 100 * strip.unclaimed / strip.length if strip.length else 0.0
    names = ", ".join(clock.name for clock in strip.clocks)
    plural = "s" if len(strip.clocks) > 1 else ""
    free = f"{_time(strip.unclaimed, strip.unit)} ({share:.1f} %)"
    return (
        f"{_time(strip.length, strip.unit)} {strip.unit} by the clock{plural} {names}; "
        f"nobody claims {free}"
    )


def _time(ns: int, unit: str) -> str:
    return f"{ns / 1e6:.3f}" if unit == "ms" else str(ns)


def strip_lines(strip: Strip, columns: int = 78, share: float = SHARE) -> list[str]:
    """A strip as text.

    Parameters
    ----------
    strip : Strip
    columns : int
        The longest line.
    share : float
        Shorter stages and gaps, as a part of the strip, are only counted.

    Returns
    -------
    list of str
        ``=`` is a whole, ``#`` a stage, ``.`` a gap that nobody claims; each at least one wide.
        Behind the stages stands where the zero of each clock lies, and by which evidence.
    """
    shown = strip.shown(share)
    labels = [
        f"({b.name})" if b.gap else f"{'' if b.whole else ' '}{b.service}: {b.name}" for b in shown
    ]
    wide = min(max(map(len, labels), default=0), 30)
    bar = max(columns - wide - 25, 10)
    lines = [f"{'start ' + strip.unit:>10} {'time ' + strip.unit:>10}"]
    for one, label in zip(shown, labels, strict=True):
        text = label if len(label) <= wide else label[: wide - 2] + ".."
        drawn = _drawn(one, strip.length, bar)
        start, time = _time(one.start, strip.unit), _time(one.ns, strip.unit)
        lines.append(f"{start:>10} {time:>10} {text:{wide}} |{drawn:{bar}}|")
    least = min((bar.ns for bar in shown), default=0)
    hidden = [bar.ns for bar in strip.bars if bar.ns < least and not bar.whole and bar.ns]
    if hidden:
        time, most = _time(sum(hidden), strip.unit), _time(max(hidden), strip.unit)
        lines.append(f"{'':10} {time:>10} in {len(hidden)} others of at most {most} {strip.unit}")
    for clock in strip.clocks[1:]:
        sure = {None: ", or earlier", 0: ""}.get(clock.early)
        if sure is None:
            sure = f", at most {_time(clock.early or 0, strip.unit)} earlier"
        lines.append(f"{clock.name} counts from {_time(clock.zero, strip.unit)}{sure}: {clock.how}")
    return lines


def _drawn(one: Bar, length: int, width: int) -> str:
    """The bar of a stage on a line of so many characters."""
    if not length:
        return ""
    start = min(one.start * width // length, width - 1)
    end = max(start + 1, round(one.finish * width / length))
    return " " * start + ("." if one.gap else "=" if one.whole else "#") * (end - start)

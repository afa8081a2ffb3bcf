"""Are the printed deltas right? Every one is computed again from the tables themselves."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..boards.platforms import Platform, release_key
from ..errors import LimitError
from ..frame.grid import Grid, page_of
from .delta import Interval, close, percent, threshold_interval
from .model import Cell, Release, Row, Table, distinct
from .pages import read_published

__all__ = ["Audit", "ReleaseAudit", "WrongCell", "audit", "audit_releases"]

#: Pairs of cells that an audit forms: minutes of work at the very most, and far beyond any page.
MOST_PAIRS = 1 << 21


@dataclass(frozen=True)
class WrongCell:
    """A cell whose change does not follow from its two tables.

    ``printed`` and ``right`` are the texts in brackets, None where there is or should be none;
    ``sign`` is True where the printed sign is the wrong one.
    """

    platform: str
    release: str
    test: str
    metric: str
    cpu: str
    value: str
    old: str
    printed: str | None
    right: str | None
    change: str
    sign: bool
    cause: str
    source: str
    line: int

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON and data frames."""
        return dict(self.__dict__)


@dataclass
class ReleaseAudit:
    """The findings about one release.

    ``state`` is ``"right"``, ``"wrong"``, ``"baseline not given"`` or ``"no deltas"``.
    """

    release: Release
    state: str
    baseline: Release | None = None
    paired: str = ""
    interval: Interval | None = None
    threshold: float | None = None
    unit: str = "ns"
    cells: int = 0
    printed: int = 0
    explained: int = 0
    wrong: list[WrongCell] = field(default_factory=list)

    @property
    def signs(self) -> int:
        """How many wrong cells have the wrong sign."""
        return sum(w.sign for w in self.wrong)

    def line(self) -> str:
        """One line for a person."""
        name = self.release.name
        if self.state == "no deltas":
            return f"{name}: no deltas printed"
        if self.baseline is None:
            return (
                f"{name}: baseline not given (no other table explains the {self.printed} printed "
                f"deltas; the best explains {self.explained})"
            )
        how = "by cpu" if self.paired == "cpu" else "by row"
        cut = "all printed" if self.threshold is None else f"threshold {self.threshold:g}"
        span = f", which lies in {self.interval}" if self.interval else ""
        head = f"{name} against {self.baseline.label}: "
        tail = f"{cut}{span}; deltas computed {how} in {self.unit}"
        if not self.wrong:
            return f"{head}all {self.cells} cells right; {tail}"
        signs = f", {self.signs} with the wrong sign" if self.signs else ""
        return f"{head}{len(self.wrong)} of {self.cells} cells wrong{signs}; {tail}"


@dataclass
class Audit:
    """The result: one entry per data set, the assumptions, and the exit status it means."""

    releases: list[ReleaseAudit]
    assumptions: list[str]

    @property
    def wrong(self) -> list[WrongCell]:
        """All wrong cells, in printed order."""
        return [w for r in self.releases for w in r.wrong]

    @property
    def exit_status(self) -> int:
        """1 where a delta is wrong, 3 where one has no baseline or there is none, else 0.

        The oldest table of a chain never has its baseline; that alone is no reason for 3.
        """
        states = {r.state for r in self.releases}
        if "wrong" in states:
            return 1
        baselines = [r.baseline for r in self.releases if r.baseline is not None]
        for found in self.releases:
            if found.state == "baseline not given" and found.release not in baselines:
                return 3
        return 0 if "right" in states else 3

    def __getitem__(self, label: str) -> ReleaseAudit:
        for found in self.releases:
            if label in (found.release.label, found.release.name):
                return found
        names = ", ".join(r.release.name for r in self.releases)
        raise KeyError(f"{label!r}; there are {names}")

    def to_text(self) -> str:
        """The verdict of each release, its wrong cells, and the assumptions."""
        out: list[str] = []
        for found in self.releases:
            out.append(found.line())
            if found.wrong:
                out += _aligned([HEADINGS, *_cells(found)])
        if self.assumptions:
            out += ["assumed:", *(f"  {a}" for a in self.assumptions)]
        return "\n".join(out) + "\n"

    def __repr__(self) -> str:
        return "\n".join(r.line() for r in self.releases)

    def _repr_html_(self) -> str:
        names = ("release", "state", "against", "cells", "printed", "wrong", "wrong sign")
        verdicts = [
            (r.release.name, r.state, r.baseline.label if r.baseline else None, r.cells or None,
             r.printed, len(r.wrong) if r.baseline else None, r.signs if r.baseline else None)
            for r in self.releases
        ]  # fmt: skip
        cells = [(found.release.name, *cell) for found in self.releases for cell in _cells(found)]
        more = [f"... {len(cells) - SHOWN} more wrong cells"] if len(cells) > SHOWN else []
        assumed = [f"assumed: {a}" for a in self.assumptions]
        wrong = Grid(("release", *HEADINGS), cells[:SHOWN], headings={"": "sign"})
        return page_of((), Grid(names, verdicts)) + page_of((), wrong, [*more, *assumed])


#: Columns of a wrong cell; and how many of these a notebook lists.
HEADINGS = ("test", "cpu", "metric", "new", "old", "printed", "right", "", "cause")
SHOWN = 40


def _cells(found: ReleaseAudit) -> list[tuple[str, ...]]:
    return [
        (
            w.test, w.cpu, w.metric, w.value, w.old, w.printed or "blank", w.right or "blank",
            "sign" if w.sign else "", w.cause,
        )
        for w in found.wrong
    ]  # fmt: skip


def _aligned(rows: Sequence[tuple[str, ...]]) -> list[str]:
    widths = [max(len(r[k]) for r in rows) for k in range(len(rows[0]))]
    left = {0, 1, 2, 7, 8}
    return [
        "  "
        + "  ".join(
            f"{c:<{w}}" if k in left else f"{c:>{w}}"
            for k, (c, w) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


# ---- pairing -----------------------------------------------------------------------------------
@dataclass(frozen=True)
class _Pair:
    """A cell and its counterpart (None: nothing is there)."""

    table: Table
    row: Row
    metric: str
    cell: Cell
    old: Cell | None

    def numbers(self, unit: str) -> tuple[float, float] | None:
        """Old and new as the page's unit has them in binary64."""
        if self.old is None:
            return None
        if unit == "us":
            return self.old.ns / 1000, self.cell.ns / 1000
        return float(self.old.ns), float(self.cell.ns)

    def change(self, unit: str) -> str | None:
        """The change as it would be printed, threshold aside."""
        pair = self.numbers(unit)
        return None if pair is None else percent(*pair)


def _rows_of(table: Table | None, how: str) -> dict[object, Row]:
    if table is None:
        return {}
    if how == "row":
        return dict(enumerate(table.rows))
    return {r.cpu if r.cpu is not None else ("row", k): r for k, r in enumerate(table.rows)}


def _pairs(new: Release, old: Release, how: str) -> list[_Pair]:
    found = []
    for table in new.tables.values():
        before = _rows_of(old.tables.get(table.test), how)
        for key, row in _rows_of(table, how).items():
            match = before.get(key)
            for metric, cell in row.cells.items():
                other = match.cells.get(metric) if match else None
                found.append(_Pair(table, row, metric, cell, other))
    return found


def _fit(pairs: Iterable[_Pair], unit: str) -> tuple[Interval, int]:
    """The thresholds of a pairing, and how many of its cells they leave unexplained.

    A delta against something else says nothing about the threshold.
    """
    cells = []
    for pair in pairs:
        numbers = pair.numbers(unit)
        printed = pair.cell.delta is not None
        if numbers is not None and not (printed and pair.change(unit) != pair.cell.delta):
            cells.append((*numbers, printed))
    return threshold_interval(cells)


@dataclass
class _Pairing:
    """How the deltas of a release came about: against which data set, paired how, in which unit."""

    baseline: Release
    how: str
    unit: str
    pairs: list[_Pair]
    explained: int
    interval: Interval
    unexplained: int


def _page_units(release: Release) -> tuple[str, str]:
    """The units to try where none is stated: the pages printed us up to v2.13."""
    key = release_key(release.label)
    return ("us", "ns") if key is not None and key <= (2, 13) else ("ns", "us")


def _pairing(release: Release, others: Sequence[Release]) -> tuple[_Pairing | None, int]:
    """The rule that reproduces most printed deltas, if more than half; and the number of the best.

    Of equals the pairing by cpu, then the unit that leaves fewer cells unexplained.
    """
    best: _Pairing | None = None
    printed = sum(d is not None for d in _printed(release))
    units = (release.unit,) if release.unit_stated else _page_units(release)
    for other in others:
        for how in ("cpu", "row"):
            pairs = _pairs(release, other, how)
            for unit in units:
                score = sum(
                    p.cell.delta is not None and p.change(unit) == p.cell.delta for p in pairs
                )
                interval, off = _fit(pairs, unit)
                if best is None or (score, -off) > (best.explained, -best.unexplained):
                    best = _Pairing(other, how, unit, pairs, score, interval, off)
    if best is None or 2 * best.explained <= printed:
        return None, best.explained if best else 0
    return best, best.explained


# ---- causes ------------------------------------------------------------------------------------
def _cause(
    pair: _Pair, right: _Pair, pairing: _Pairing, others: Sequence[Release], threshold: float | None
) -> str:
    """The likeliest reason for a wrong cell."""
    printed, unit, baseline = pair.cell.delta, pairing.unit, pairing.baseline
    numbers = right.numbers(unit)
    if pair.old is not None and pair.old is not right.old and printed in (None, pair.change(unit)):
        return f"row order: compared with cpu {_place(pair, baseline)}"
    if printed is not None and printed == right.change(unit):
        return "threshold: the change is too small for a bracket"
    if printed is not None and printed == right.change("us" if unit == "ns" else "ns"):
        return f"unit: computed in {'us' if unit == 'ns' else 'ns'}"
    if printed is None and numbers is not None and not close(*numbers, threshold):
        return "threshold: the change is large enough for a bracket"
    table = baseline.tables.get(pair.table.test)
    for row in table.rows if table else ():
        other = replace(pair, old=row.cells.get(pair.metric))
        if other.change(unit) == printed:
            return f"row order: compared with cpu {_place(other, baseline)}"
    for release in others:
        table = release.tables.get(pair.table.test)
        for row in table.rows if table and release is not baseline else ():
            if row.cpu == pair.row.cpu:
                other = replace(pair, old=row.cells.get(pair.metric))
                if other.change(unit) == printed:
                    return f"other baseline: {release.label}"
    return "not explained by any given table"


def _place(pair: _Pair, baseline: Release) -> str:
    """The cpu of the baseline that a cell was compared with."""
    for row in baseline.tables[pair.table.test].rows:
        if any(cell is pair.old for cell in row.cells.values()):
            return str(row.cpu or row.label)
    return "none"


def _sign_differs(printed: str | None, right: str | None) -> bool:
    return bool(printed and right and {printed[0], right[0]} == {"+", "-"})


def _wrong_cells(
    release: Release, pairing: _Pairing, others: Sequence[Release], threshold: float | None
) -> list[WrongCell]:
    rows = sum(len(t.rows) for r in (pairing.baseline, *others) for t in r.tables.values())
    searched = rows * len(pairing.pairs) <= MOST_PAIRS
    right = {id(p.cell): p for p in _pairs(release, pairing.baseline, "cpu")}
    found = []
    for pair in pairing.pairs:
        truth = right[id(pair.cell)]
        numbers = truth.numbers(pairing.unit)
        blank = numbers is None or close(*numbers, threshold)
        should = None if blank else truth.change(pairing.unit)
        if pair.cell.delta == should:
            continue
        found.append(
            WrongCell(
                platform=release.platform.name if release.platform else "",
                release=release.label,
                test=pair.table.test,
                metric=pair.metric,
                cpu=str(pair.row.cpu or pair.row.label),
                value=pair.cell.text,
                old=truth.old.text if truth.old else "",
                printed=pair.cell.delta,
                right=should,
                change=truth.change(pairing.unit) or "",
                sign=_sign_differs(pair.cell.delta, should),
                cause=_cause(pair, truth, pairing, others, threshold)
                if searched
                else "not looked for: the tables have too many rows",
                source=pair.table.source,
                line=pair.cell.line,
            )
        )
    return found


def _board(release: Release) -> str:
    return release.platform.name if release.platform else ""


def _printed(release: Release) -> list[str | None]:
    return [c.delta for _, _, _, c in release.cells()]


def _thresholds(
    pairings: Sequence[tuple[Release, _Pairing]],
) -> dict[int, tuple[Interval, float | None]]:
    """Interval and threshold of each release, over all its platforms where one value fits all."""
    common: dict[str, Interval] = {}
    for release, pairing in pairings:
        have = common.get(release.label, Interval(0.0, float("inf")))
        common[release.label] = Interval(
            max(have.low, pairing.interval.low), min(have.high, pairing.interval.high)
        )
    found: dict[int, tuple[Interval, float | None]] = {}
    for release, pairing in pairings:
        both = common[release.label]
        interval = pairing.interval if both.empty else both
        every = all(d is not None for d in _printed(release))
        found[id(release)] = (interval, None if every else interval.simplest())
    return found


def _bounded(releases: Iterable[Release]) -> None:
    """LimitError where holding every release against every other would take minutes."""
    sizes: dict[str, list[int]] = {}
    for release in releases:
        sizes.setdefault(_board(release), []).append(len(release))
    for cells in sizes.values():
        if sum(cells) * (len(cells) - 1) > MOST_PAIRS:
            raise LimitError(
                f"{sum(cells)} cells of {len(cells)} data sets of one platform are too many to "
                f"audit: cells times data sets is at most {MOST_PAIRS}"
            )


def audit_releases(releases: Iterable[Release]) -> Audit:
    """Audits releases that were read already; reprints count once.

    A release's deltas are held against every other given data set of its platform, paired by cpu
    and by row; the one that reproduces most of them is their baseline, if it reproduces more than
    half. Right is then the change against the same cpu of that baseline.

    Raises
    ------
    LimitError
        Cells times data sets of one platform are more than `MOST_PAIRS`.
    """
    releases = list(releases)
    _bounded(releases)
    assumed: dict[str, None] = {}
    versions: list[Release] = []
    for release, reprints in distinct(releases):
        same = [release]
        for again in reprints:
            if any(_printed(again)) and all(_printed(again) != _printed(v) for v in same):
                same.append(again)
        versions += same
        assumed.update(dict.fromkeys(release.assumptions()))
        if reprints:
            places = ", ".join(r.source for r in reprints)
            assumed[f"{release.name}: reprinted in {places}; one data set"] = None
    done = [
        ReleaseAudit(r, "no deltas", cells=len(r), printed=sum(d is not None for d in _printed(r)))
        for r in versions
    ]
    pairings: list[tuple[ReleaseAudit, _Pairing, list[Release]]] = []
    for entry in done:
        digest = entry.release.digest()
        others = [
            v for v in versions
            if _board(v) == _board(entry.release) and v.digest() != digest
        ]  # fmt: skip
        if entry.printed:
            pairing, entry.explained = _pairing(entry.release, others)
            entry.state = "baseline not given"
            if pairing is not None:
                pairings.append((entry, pairing, others))
    thresholds = _thresholds([(e.release, p) for e, p, _ in pairings])
    for entry, pairing, others in pairings:
        entry.baseline, entry.paired, entry.unit = pairing.baseline, pairing.how, pairing.unit
        entry.interval, entry.threshold = thresholds[id(entry.release)]
        entry.wrong = _wrong_cells(entry.release, pairing, others, entry.threshold)
        entry.state = "wrong" if entry.wrong else "right"
        if pairing.how == "row":
            assumed[
                f"{entry.release.name}: its deltas were computed against row k of "
                f"{pairing.baseline.label}; right is the same cpu"
            ] = None
        if not entry.release.unit_stated:
            assumed[f"{entry.release.name}: the deltas were computed in {pairing.unit}"] = None
    return Audit(done, list(assumed))


def audit(
    *sources: str | os.PathLike[str] | Release,
    platform: Platform | None = None,
    platforms: Mapping[str, Platform] | None = None,
) -> Audit:
    """Recomputes every printed delta of published tables.

    Parameters
    ----------
    *sources
        Pages, CSV folders or files, the long CSV, or releases already read. The table before must
        be among them for a release to be audited.
    platform, platforms
        As in `read_published`.

    Returns
    -------
    Audit
        ``exit_status`` is 1 where a delta is wrong, 3 where no given table explains them.
    """
    releases: list[Release] = []
    for source in sources:
        if isinstance(source, Release):
            releases.append(source)
        else:
            releases += read_published(source, platform=platform, platforms=platforms)
    return audit_releases(releases)

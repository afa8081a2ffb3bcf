"""Trend: steps of every key over releases, one line a change of the firmware.

Notes
-----
Least-cost segments (optimal partitioning, Jackson et al., 2005) of the logarithms, with one error
of 5 % over all keys and places: it is the one that orders of the releases, the same for all keys,
exceed in one of twenty cases. Steps of one release, metric, direction and cluster are one event.
From 8 releases on the energy statistic of the largest step (Matteson and James, 2014) is a column;
it decides nothing.
"""

from __future__ import annotations

import itertools
import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _core
from ..errors import NotComparableError, NotEnoughData
from ..frame.answer import Answer
from ..frame.frame import Column, Frame
from ..frame.grid import Grid
from ..util.text import clean, counted
from .copies import counted_once
from .events import Event, events_of
from .inputs import side_of
from .labelled import trend_arrays
from .labels import label_of, length_text, where_of
from .matched import drop_inexact, key_scales
from .newest import by_boots, outside
from .options import parse_margin
from .pack import Packed, pack
from .result import write_text
from .side import Key, Side, pooled
from .verdicts import percent_text

if TYPE_CHECKING:
    from ..plot.comparison import TrendPlot

__all__ = ["Event", "Trend", "trend"]

_VERSION = re.compile(r"v?(\d+)\.(\d+)")


#: Releases from which on steps are looked for.
LEAST = 5


@dataclass
class Trend:
    """The answer of `trend`.

    Attributes
    ----------
    releases : list of str
        In order.
    steps : Frame
        One row a step: ``key`` and its columns, ``before`` and ``at`` (the releases between which
        it lies), ``until`` (the last release of the new level), ``old``, ``new`` (medians of the
        levels), ``percent``, ``p`` (over all keys and places; missing for a key that only moved
        along), ``kind`` (0 = confirmed; 1 = one release alone at an end, 3 = chance lays releases
        so in more than 5 %: not confirmed; 2 = moved along; 4 = one release up and back),
        ``missing`` (releases between that are not in the data).
    series : Frame
        One row a key: ``releases`` with a value, ``steps``, ``median``, ``scatter`` (of a release
        about its level, percent), ``p``, ``p_min`` (energy, from 8 releases on), and the value at
        each release as ``r0 r1 ...`` (a gap is missing, never carried forward).
    events : list of Event
        The steps, those of one change of the firmware together.
    unit, margin, margin_ns
    notes : list of str
    newest : str
        A sentence on keys whose newest release lies outside all releases before, though it is no
        step; "" for none.
    """

    releases: list[str]
    steps: Frame
    series: Frame
    events: list[Event]
    unit: str
    margin: float
    margin_ns: float
    sources: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    newest: str = ""

    def __len__(self) -> int:
        return len(self.steps)

    @property
    def header(self) -> str:
        """One line: releases, unit, margin, how many events and keys."""
        absolute = f" and {self.margin_ns:g} ns" if self.margin_ns else ""
        stepping = len(set(self.steps["key"])) if len(self.steps) else 0
        sure = sum(event.confirmed for event in self.events)
        open_ = "" if sure == len(self.events) else f", {len(self.events) - sure} not confirmed,"
        return (
            f"{len(self.releases)} releases ({', '.join(self.releases)}), unit: {self.unit}, "
            f"margin {100 * self.margin:g} %{absolute}, error 5 % over all keys and places; "
            f"{counted(len(self.events), 'event')}{open_} in {stepping} of "
            f"{counted(len(self.series), 'key')}"
        )

    def sentences(self) -> list[str]:
        """One line an event."""
        return [event.sentence for event in self.events]

    def grid(self) -> Grid:
        """The steps as a table."""
        names = ("key", "percent", "old", "new", "p", "before", "at", "until", "missing")
        rows = [
            (
                row["key"], percent_text(row["percent"]), length_text(row["old"], row["shown"]),
                length_text(row["new"], row["shown"]),
                "along" if row["p"] is None else f"{row['p']:.3f}", row["before"], row["at"],
                row["until"], row["missing"] or "",
            )
            for row in self.steps
        ]  # fmt: skip
        headings = {"percent": "step", "before": "last before", "at": "first seen",
                    "missing": "not in the data"}  # fmt: skip
        return Grid(names, rows, headings=headings)

    def to_text(self, limit: int | None = 20) -> str:
        """Header, a line an event, notes."""
        lines = self.sentences()
        shown = lines if limit is None else lines[:limit]
        if len(lines) > len(shown):
            shown.append(f"... {len(lines) - len(shown)} more")
        newest = [self.newest] if self.newest else []
        parts = [[self.header], shown or ["no confirmed step" if newest else "no step"], newest]
        parts.append(self.notes)
        return "\n\n".join("\n".join(clean(x) for x in part) for part in parts if part) + "\n"

    def __repr__(self) -> str:
        return self.to_text().rstrip("\n")

    def _repr_html_(self) -> str:
        said = filter(None, (self.newest, *self.notes))
        tail = "".join(f"<p>{escape(clean(n))}</p>" for n in said)
        return f"<p>{escape(clean(self.header))}</p>{self.grid().to_html()}{tail}"

    def to_dict(self) -> dict[str, Any]:
        """The whole answer, fit for JSON (schema ``schemas/trend.json``)."""
        return {
            "answer_version": 2,
            "unit": self.unit,
            "margin": self.margin,
            "margin_ns": self.margin_ns,
            "releases": self.releases,
            "newest": self.newest,
            "rows": self.steps.grid().to_records(),
            "events": [
                {**asdict(event), "factor": None if math.isnan(event.factor) else event.factor}
                for event in self.events
            ],
            "series": self.series.grid().to_records(),
        }

    def answer(self) -> Answer:
        """The answer as the command line writes it."""
        extra = self.to_dict()
        for name in ("unit", "margin", "rows"):
            del extra[name]
        return Answer(
            "trend", self.steps.grid(), sources=self.sources, unit=self.unit, margin=self.margin,
            notes=[self.header, *filter(None, [self.newest]), *self.notes], extra=extra,
        )  # fmt: skip

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """The whole answer as JSON, as text or into a file."""
        return write_text(self.answer().to_json(), path)

    def to_csv(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """The steps as CSV."""
        return self.steps.to_csv(path)

    def _document(self, table: str) -> str:
        said = [clean(line) for line in (self.newest, *self.notes) if line]
        return "\n\n".join([clean(self.header), table, *said]) + "\n"

    def to_md(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """The steps as a Markdown table."""
        return write_text(self._document(self.grid().to_md()), path)

    def to_rst(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """The steps as an RST table."""
        return write_text(self._document(self.grid().to_rst()), path)

    def to_pandas(self) -> Any:
        """The steps as a pandas DataFrame."""
        return self.steps.to_pandas()

    def to_xarray(self, *dims: str) -> Any:
        """The series as a Dataset of xarray: ``median`` and ``step`` over ``release`` and the key.

        `dims` are columns that become dimensions, such as ``"test", "metric", "place"``; without
        any there is one, ``key``.
        """
        return trend_arrays(self, dims)

    @property
    def plot(self) -> TrendPlot:
        """Plots: ``trend.plot.steps()``, ``trend.plot.heatmap()`` give matplotlib Axes."""
        from ..plot.comparison import TrendPlot

        return TrendPlot(self)


def _number(version: str) -> tuple[int, int, int, str]:
    """An order of versions: v2.9(rc0) before v2.9 before v2.10; others come first."""
    found = _VERSION.search(version)
    if found is None:
        return (-1, 0, 0, version)
    return (int(found[1]), int(found[2]), 0 if "rc" in version else 1, version)


def split_versions(side: Side) -> list[Side]:
    """A side taken apart by the firmware versions that its boots state.

    Raises
    ------
    NotComparableError
        Its boots ran on several platforms.
    """
    boards = sorted(map(str, side.said("platform")))
    if len(boards) > 1:
        raise NotComparableError(
            f"the boots are of several platforms ({', '.join(boards)}): choose a board"
        )
    found: dict[str, list[int]] = {}
    for i, boot in enumerate(side.boots):
        if boot.get("version"):
            found.setdefault(str(boot["version"]), []).append(i)
    return [side.part(found[v], v) for v in sorted(found, key=_number)]


def _one_a_build(sides: Sequence[Side]) -> list[Side]:
    """The sides with those put together whose boots all state the same version and build time."""
    found: dict[Any, list[Side]] = {}
    for i, side in enumerate(sides):
        built = side.said("built")
        known = len(side.versions) == 1 and len(built) == 1
        found.setdefault((side.versions[0], *built) if known else i, []).append(side)
    return [group[0] if len(group) == 1 else pooled(group) for group in found.values()]


def _named(releases: Sequence[Any], labels: Sequence[str] | None) -> list[str]:
    """A distinct name for each release: the given label, the version, or its number."""
    names = []
    for i, one in enumerate(releases):
        if labels is not None:
            name = labels[i]
        else:
            versions = one.versions
            name = versions[0] if len(versions) == 1 else one.name or f"release {i + 1}"
        names.append(name)
    seen: dict[str, int] = {}
    for i, name in enumerate(names):
        if names.count(name) > 1:
            seen[name] = seen.get(name, 0) + 1
            if seen[name] > 1:
                names[i] = f"{name} #{seen[name]}"
    return names


def _skipped(before: str, at: str) -> str:
    """The releases between two that their numbers say are missing."""
    a, b = _VERSION.search(before), _VERSION.search(at)
    if a is None or b is None or a[1] != b[1] or int(b[2]) - int(a[2]) < 2:
        return ""
    first, last = int(a[2]) + 1, int(b[2]) - 1
    if first == last:
        return f"v{a[1]}.{first}"
    return f"v{a[1]}.{first} to v{a[1]}.{last}"


def _level(packed: Packed, order: Sequence[int], keys: Sequence[Key]) -> list[int]:
    """The lower median of the units of each key, as stored integers."""
    one = np.ones(len(order), "u8")
    samples = packed.samples(list(order), one, one, one)
    unit = _core.collapse(samples)
    start = samples[3].astype("i8")
    out = []
    for a, b in itertools.pairwise(start):
        part = np.sort(unit[a:b])
        out.append(int(part[(len(part) - 1) // 2]))
    return out


def trend(
    *releases: Any,
    margin: float | str = 0.1,
    margin_ns: float = 0,
    unit: str | None = None,
    exchange: str | Mapping[Any, str] | None = None,
    labels: Sequence[str] | None = None,
    board: str | None = None,
    seed: int = 1,
) -> Trend:
    """Find where keys step over releases.

    Parameters
    ----------
    *releases : data sets, snapshots or paths, or one list of them
        In order; each stands for one release, with one or more boots. A single one is taken
        apart by the firmware versions of its boots, in order of their numbers.
    margin, margin_ns
        The least size of a step: a fraction (or ``"10%"``) of the key's median, and ns.
    unit, exchange
        As in `compare`; parallel tests are followed by rank.
    labels : sequence of str, optional
        Names of the releases; by default the firmware version each of them states, and those of
        one version and build time are one release.
    board : str, optional
        Only the boots of that platform, where a source holds several.
    seed : int

    Returns
    -------
    Trend

    Raises
    ------
    NotEnoughData
        Fewer than two releases.
    """
    given: Sequence[Any] = releases
    if len(releases) == 1 and isinstance(releases[0], (list, tuple)):
        given = releases[0]
    sides = [side_of(one).of_board(board) for one in given]
    if len(sides) == 1:
        sides = split_versions(sides[0])
    elif labels is None:
        sides = _one_a_build(sides)
    if len(sides) < 2:
        one = f", not {sides[0].versions[0]} alone" if sides and sides[0].versions else ""
        raise NotEnoughData(f"a trend needs two releases or more{one}")
    if labels is not None and len(labels) != len(sides):
        raise ValueError(f"{len(labels)} labels for {len(sides)} releases")
    names = _named(sides, labels)
    kind = unit or sides[0].unit_of(None)
    twice: list[str] = []
    once = [counted_once(*one, twice) for one in zip(sides, names, strict=True)]
    packed = [pack(side, kind, exchange) for side in once]
    relative = parse_margin(margin)
    keys, ranks, cells, notes = _collect(packed, names)
    notes = twice + notes
    series, steps = _segmented(keys, cells, relative, float(margin_ns), seed)
    frames = _frames(keys, ranks, cells, names, series, steps)
    if 2 <= len(names) < LEAST:
        notes.append(f"steps are looked for from {LEAST} releases on: compare tells two of them")
    notes += [
        f"{name}: {counted(len(one.clashes), 'key')} in two units or of two clocks; the first taken"
        for name, one in zip(names, packed, strict=True)
        if one.clashes
    ]
    skipped = [
        f"{gap} between {a} and {b} are not in the data"
        for a, b in itertools.pairwise(names)
        if (gap := _skipped(a, b))
    ]
    sources = [source for side in sides for source in side.sources]
    boots = [side.unit_ids(kind)[1] for side in sides]
    events = events_of(frames[0], names, boots)
    since = max([names.index(e.at) for e in events if e.at != names[-1]], default=0)
    notes += by_boots(sides, names, since, relative, float(margin_ns), kind, exchange)
    newest = outside(keys, ranks, cells, names, boots, frames[0], relative, float(margin_ns))
    return Trend(
        names, *frames, events, kind, relative, float(margin_ns), sources, skipped + notes, newest
    )  # fmt: skip


Cells = list[dict[int, int]]


def _collect(
    packed: Sequence[Packed], names: Sequence[str]
) -> tuple[list[Key], list[tuple[int, int] | None], Cells, list[str]]:
    """The keys of all releases, and per key release -> level in the key's own integers."""
    place: dict[tuple[Any, ...], int] = {}
    keys: list[Key] = []
    ranks: list[tuple[int, int] | None] = []
    cells: Cells = []
    clashes: dict[str, int] = {}
    for r, one in enumerate(packed):
        order = list(one.keys.values())
        levels = _level(one, order, one.shown)
        for identity, i, level in zip(one.keys, order, levels, strict=True):
            key = one.shown[i]
            n = place.setdefault(identity, len(place))
            if n == len(keys):
                keys.append(key)
                ranks.append(one.rank[i])
                cells.append({})
            base = keys[n]
            if base.scale[1] != key.scale[1]:
                clashes[names[r]] = clashes.get(names[r], 0) + 1
                continue
            if base.scale[0] != key.scale[0]:
                keys[n], cells[n], level = _common_grid(base, cells[n], key, level)
            elif key.resolution > base.resolution:
                keys[n] = base._replace(resolution=key.resolution)
            cells[n][r] = level
    notes = [
        f"{name}: {counted(n, 'key')} of another unit: no value there"
        for name, n in clashes.items()
    ] + drop_inexact(keys, ranks, cells, names)
    return keys, ranks, cells, notes


def _common_grid(
    base: Key, cells: dict[int, int], key: Key, level: int
) -> tuple[Key, dict[int, int], int]:
    """Both on the grid that holds the two scales exactly; the coarser resolution counts."""
    a, b = base.scale[0], key.scale[0]
    den = a.denominator * b.denominator
    num = int(np.gcd(a.numerator * b.denominator, b.numerator * a.denominator))
    fa = a.numerator * b.denominator // num
    fb = b.numerator * a.denominator // num
    resolution = max(base.resolution * fa, key.resolution * fb)
    hz = 10**9 * den
    merged = base._replace(
        unit="tick", exp10=0, clock_hz=hz // num if hz % num == 0 else None, resolution=resolution
    )
    if merged.clock_hz is None or merged.scale[0] != a / fa:
        merged = base._replace(unit="ns", exp10=0, clock_hz=None, resolution=resolution)
    return merged, {r: v * fa for r, v in cells.items()}, level * fb


def _segmented(
    keys: Sequence[Key], cells: Cells, margin: float, margin_ns: float, seed: int
) -> tuple[Frame, Frame]:
    start = np.cumsum([0, *map(len, cells)]).astype("u8")
    value = np.array([v for one in cells for _, v in sorted(one.items())], "i8")
    release = np.array([r for one in cells for r in sorted(one)], "u4")
    metrics: dict[tuple[Any, ...], int] = {}
    group = [metrics.setdefault((k.metric, k.operation, k.scale[1]), len(metrics)) for k in keys]
    absolute = [margin_ns if k.scale[1] == "ns" else 0.0 for k in keys]
    series, steps = _core.trend(
        value, release, start, *key_scales(keys), margin=margin, seed=seed,
        margin_abs=np.array(absolute, "f8"), group=np.array(group, "u4"),
    )  # fmt: skip
    return Frame(series, "series"), Frame(steps, "steps")


def _key_columns(keys: Sequence[Key], ranks: Sequence[tuple[int, int] | None]) -> list[Column]:
    text = {
        "key": [label_of(k, r) for k, r in zip(keys, ranks, strict=True)],
        "test": [k.test for k in keys],
        "metric": [k.metric for k in keys],
        "operation": [k.operation for k in keys],
        "labels": [k.labels for k in keys],
        "place": [where_of(k, r) for k, r in zip(keys, ranks, strict=True)],
        "shown": [k.scale[1] for k in keys],
    }
    return [Column.of(name, np.array(v, "O")) for name, v in text.items()]


def _frames(
    keys: Sequence[Key],
    ranks: Sequence[tuple[int, int] | None],
    cells: Cells,
    names: Sequence[str],
    series: Frame,
    steps: Frame,
) -> tuple[Frame, Frame]:
    """The two tables with names in the place of numbers."""
    columns = _key_columns(keys, ranks) + [series.column(n) for n in series.columns]
    for r in range(len(names)):
        values = np.array([float(one.get(r, 0) * k.scale[0]) for one, k in
                           zip(cells, keys, strict=True)], "f8")  # fmt: skip
        columns.append(Column.of(f"r{r}", values, np.array([r in one for one in cells], "?")))
    index = steps.column("key").data.tolist()
    before, at, last = (steps.column(n).data.tolist() for n in ("before", "at", "last"))
    step_columns = _key_columns([keys[i] for i in index], [ranks[i] for i in index])
    texts = {
        "before": [names[i] for i in before],
        "at": [names[i] for i in at],
        "until": [names[i] for i in last],
        "missing": [_skipped(names[b], names[a]) for b, a in zip(before, at, strict=True)],
    }
    step_columns += [Column.of(n, np.array(v, "O")) for n, v in texts.items()]
    cluster = [keys[i].cluster for i in index]
    known = np.array([c is not None for c in cluster], "?")
    step_columns.append(Column.of("cluster", np.array([c or 0 for c in cluster], "u4"), known))
    step_columns += [steps.column(n) for n in ("old", "new", "percent", "p", "kind")]
    out = Frame(step_columns, "steps")
    percent = [abs(p or 0.0) for p in out.column("percent").part(0, len(out))]
    if len(out):
        out = out[np.lexsort((np.arange(len(out)), -np.array(percent), at))]
    return out, Frame(columns, "keys over releases")

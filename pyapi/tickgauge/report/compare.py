"""The report of a comparison: the changes, where readings lie, and where each number stands."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePath
from typing import Any

import numpy as np

from .._core import samples
from ..comparison.result import LADDER, Comparison
from ..errors import Error
from ..frame.readings import Readings
from ..plot import dataset
from ..plot.comparison import shifts_of
from ..util.text import clean, clip, number
from . import drawing, page
from .page import Cell, Chapter, Part, Picture, Table

_SUBJECT = ("test", "operation", "metric", "labels")

#: Distribution figures at most: the subjects with the largest change come first.
FIGURES = 8
#: Rows of the forest plot.
FOREST = 40
#: Readings that are listed one by one below a key, a side.
LISTED = 60
#: Keys whose readings are listed.
KEYS = 400


def report(old: Any, new: Any, comparison: Comparison, title: str = "") -> str:
    """One HTML file that holds a comparison, its pictures and its readings.

    Parameters
    ----------
    old, new : Dataset or Snapshot
        The sides that were compared.
    comparison : Comparison
    title : str, optional

    Returns
    -------
    str
        HTML without a reference to any other place.
    """
    if not isinstance(comparison, Comparison):
        raise TypeError(f"comparison is a Comparison, not {type(comparison).__name__}")
    name = title or f"{side_name(old)} \N{RIGHTWARDS ARROW} {side_name(new)}"
    sides = _sides_with_rows(old, new)
    chapters = [
        _changes(comparison),
        _words(comparison),
        _distributions(sides, comparison),
        _groups(comparison),
        _readings(sides, comparison),
        _sources(old, new),
        _problems(old, new),
    ]
    return page.render(name, comparison.header, [c for c in chapters if c is not None])


def side_name(side: Any) -> str:
    """The name of a side: its firmware versions, else the last part of its source's name."""
    boots = getattr(side, "boots", None)
    versions: Iterable[Any] = ()
    if boots is not None and hasattr(boots, "columns") and "version" in boots.columns:
        versions = dict.fromkeys(v for v in boots["version"] if v)
    words = [str(v) for v in versions]
    if words:
        return clip(", ".join(words[:3]) + (" ..." if len(words) > 3 else ""))
    infos = getattr(side, "infos", None) or []
    if len(infos) == 1:
        return clip(PurePath(str(infos[0].name)).name)
    return f"{len(infos)} sources" if infos else str(getattr(side, "name", "") or "snapshot")


def _changes(comparison: Comparison) -> Chapter:
    grid = comparison.grid()
    verdict = grid.names.index("verdict")
    rows = []
    for i, row in enumerate(grid.rows):
        cells = [
            Cell(_text(value), "text" if name in ("key", "note") else "number")
            for name, value in zip(grid.names, row, strict=True)
        ]
        word = str(row[verdict])
        cells[verdict] = Cell(word, word)
        if i < KEYS:
            cells[0] = Cell(_text(row[0]), "text", f"key-{i}")
        rows.append(cells)
    heads = [grid.headings.get(name, name) for name in grid.names]
    table = Table(heads, rows, "Each key leads to its readings, with source and line.")
    figures = [_forest(comparison)] if len(comparison.rows) else []
    return Chapter("changes", "What changed", comparison.findings(), figures, [table])


def _text(value: Any) -> str:
    if value is None:
        return "-"
    return number(value) if isinstance(value, float) else clip(str(value), 120)


def _forest(comparison: Comparison) -> Picture:
    shown = min(FOREST, len(comparison.rows))
    more = f" The first {shown} of {len(comparison.rows)} keys." if shown < len(comparison) else ""
    caption = (
        "Shift of each key with its interval; the grey band is the margin; a hollow mark has no "
        f"interval.{more}"
    )
    drawn = drawing.forest(shifts_of(comparison, FOREST), comparison.units_text, caption)
    return page.picture(drawn, caption)


def _words(comparison: Comparison) -> Chapter:
    return Chapter("words", "What the words mean", comparison.explanations())


# ---- where readings lie -------------------------------------------------------------------------


def _subjects(comparison: Comparison) -> list[tuple[Any, ...]]:
    """(test, operation, metric, labels) of the rows, the largest change first."""
    largest: dict[tuple[Any, ...], float] = {}
    for row in comparison.rows:
        percent = row.get("percent")
        subject = tuple(row.get(n) for n in _SUBJECT)
        size = abs(percent) if percent is not None and math.isfinite(percent) else 0.0
        largest[subject] = max(largest.get(subject, 0.0), size)
    return sorted(largest, key=lambda s: -largest[s])


def _distributions(sides: Sequence[_Rows], comparison: Comparison) -> Chapter | None:
    figures = []
    subjects = _subjects(comparison)
    for subject in subjects[:FIGURES]:
        where = dict(zip(_SUBJECT, subject, strict=True))
        series = []
        for side in sides:
            try:
                one = dataset.series_of(side.of(where), [], 1)[0]
            except Error:
                continue
            series.append(dataset.renamed(one, f"{side.word} {side_name(side.data)}"))
        if not series or len({one.unit for one in series}) > 1:
            continue
        subject_text = " ".join(str(word) for word in subject if word)
        caption = (
            f"{subject_text}: readings of all boots and cpus of each side; marked are the "
            "quantiles 0.5, 0.9 and 0.99, as far as there are readings enough."
        )
        figures.append(page.picture(drawing.ecdf(series, caption), caption))
    if not figures:
        return None
    text = []
    if len(subjects) > FIGURES:
        text = [f"The {FIGURES} of {len(subjects)} with the largest change."]
    return Chapter("distributions", "Where readings lie", text, figures)


class _Rows:
    """The readings of a side by key: grouped once, so that each key costs only its own rows."""

    def __init__(self, word: str, data: Any) -> None:
        self.word = word
        self.data = data
        self.readings: Readings = data.readings
        self._keys = self.readings.keys
        key = self.readings.column("key").data
        zeros = np.zeros(len(key), "i8")
        _, _, self._row, self._start, _, _ = samples(key, None, zeros, n_keys=len(self._keys))

    def of(self, where: Mapping[str, Any]) -> Readings:
        """The readings of the keys with these values, in the order of the side."""
        keys = self._keys._where(where, must=False)
        parts = [self._row[self._start[k] : self._start[k + 1]] for k in keys.tolist()]
        rows = np.sort(np.concatenate([np.zeros(0, "u4"), *parts]))
        found: Readings = self.readings[rows]
        return found


def _sides_with_rows(old: Any, new: Any) -> list[_Rows]:
    """The sides that know their single readings: not snapshots."""
    found = []
    for word, side in (("old", old), ("new", new)):
        if isinstance(getattr(side, "readings", None), Readings) and len(side.readings):
            found.append(_Rows(word, side))
    return found


def _groups(comparison: Comparison) -> Chapter | None:
    if not len(comparison.groups):
        return None
    frame = comparison.groups
    grid = frame.only(*(n for n in frame.columns if not n.startswith(("ols_", "ts_")))).grid()
    rows = [
        [Cell(_text(v), "number" if isinstance(v, (int, float)) else "text") for v in row]
        for row in grid.rows
    ]
    heads = [grid.headings.get(name, name).replace("_", " ") for name in grid.names]
    text = [
        "In these tests a lock decides which cpu gets which place in the queue: the sorted vector "
        "of a block is compared, not the cpus one by one."
    ]
    tables = [Table(heads, rows)]
    ladders = comparison.ladders()
    if ladders.rows:
        lines = [[Cell(_text(v), "text" if i == 0 else "number") for i, v in enumerate(row)]
                 for row in ladders.rows]  # fmt: skip
        tables.append(Table(list(ladders.names), lines, f"Lock ladder: {LADDER}."))
    return Chapter("groups", "Interchangeable cpus", text, tables=tables)


# ---- where each number stands -------------------------------------------------------------------


def _readings(sides: Sequence[_Rows], comparison: Comparison) -> Chapter | None:
    parts = []
    for i, row in enumerate(comparison.rows):
        if i >= KEYS:
            break
        tables = [table for side in sides if (table := _listed(side, row)) is not None]
        text = [] if tables else ["From snapshots: the sources are listed by their digest below."]
        parts.append(Part(f"key-{i}", str(row["key"]), text, tables))
    if not parts:
        return None
    text = ["Every figure above, down to source and line."]
    if len(comparison.rows) > KEYS:
        text.append(f"The first {KEYS} of {len(comparison.rows)} keys.")
    return Chapter("readings", "Readings", text, parts=parts)


def _listed(side: _Rows, row: dict[str, Any]) -> Table | None:
    """The readings behind one side of a row."""
    where = {n: row.get(n) for n in _SUBJECT}
    for name in ("cluster", "core", "cpu"):
        if row.get(name) is not None:
            where[name] = row[name]
    if row.get("place") and row.get("core") is None and row.get("cpu") is None:
        where["place"] = row["place"]
    readings = side.of(where)
    if not len(readings):
        return None
    shown = readings.head(LISTED)
    cells = []
    for one in shown:
        source = one["source"]
        value = one["ns"] if one["ns"] is not None else one["value"]
        unit = "ns" if one["ns"] is not None else one["unit"] or ""
        cells.append(
            [
                page.number(number(float(value), 9)),
                Cell(str(unit)),
                Cell(_text(one["place"])),
                page.number(_text(one["boot"])),
                Cell("-" if source is None else clip(str(side.data.infos[source].name), 100)),
                page.number(_text(one["line"])),
                page.number(_text(one["offset"])),
            ]
        )
    caption = f"{side.word}: {len(readings)} readings"
    if len(readings) > LISTED:
        caption += f", the first {LISTED} are listed"
    return Table(("value", "unit", "cpu", "boot", "source", "line", "byte"), cells, caption)


def _sources(old: Any, new: Any) -> Chapter:
    rows = []
    for word, side in (("old", old), ("new", new)):
        for source in _source_rows(side):
            rows.append([Cell(word), *(Cell(_text(cell)) for cell in source)])
    heads = ("side", "source", "read as", "boots", "state", "SHA-256")
    return Chapter("sources", "Sources", tables=[Table(heads, rows)])


def _source_rows(side: Any) -> list[Sequence[Any]]:
    infos = getattr(side, "infos", None)
    if infos is not None:
        known = getattr(side, "sources", None)  # a capture has none, and no boots
        boots = [0] * len(infos) if known is None else list(known["boots"])
        return [
            (i.name, " ".join(i.formats) or i.form, int(b), i.state, i.digest)
            for i, b in zip(infos, boots, strict=True)
        ]
    return [
        ("snapshot", s.get("format"), s.get("boots"), "counted", s.get("digest"))
        for s in getattr(side, "sources", [])
    ]


def _problems(old: Any, new: Any) -> Chapter | None:
    rows = []
    total = 0
    for word, side in (("old", old), ("new", new)):
        problems = getattr(side, "problems", None)
        if problems is None or not len(problems):
            continue
        total += len(problems)
        for one in problems.head(LISTED):
            rows.append(
                [
                    Cell(word),
                    page.number(_text(one.get("line"))),
                    Cell(_text(one.get("rule"))),
                    Cell(_text(one.get("reason"))),
                    Cell(_text(one.get("detail"))),
                    Cell(clip(clean(str(one.get("excerpt") or "")), 100)),
                ]
            )
    if not rows:
        return None
    text = [f"{total} lines should have been records and were not; nothing was made up for them."]
    heads = ("side", "line", "rule", "reason", "detail", "text")
    return Chapter("problems", "Problems of the input", text, tables=[Table(heads, rows)])

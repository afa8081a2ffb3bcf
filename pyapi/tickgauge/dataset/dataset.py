"""Dataset: tables that know where each row came from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import UnknownName
from ..frame.frame import Column, Frame, concat
from ..frame.readings import Readings, summary
from ..frame.scaled import scaled
from ..sources.digest import Digest
from ..util.late import html
from ..util.text import clean, clip, counted
from .merge_parts import merge_tables

if TYPE_CHECKING:
    from ..plot.dataset import DatasetPlot

__all__ = ["Dataset", "Part", "Records", "SourceInfo"]

#: Lines of each table in a repr.
SHOWN = 12

#: Tables that a headline says otherwise, or not at all.
UNCOUNTED = frozenset({"boots", "keys", "readings", "problems", "near", "spans"})

_READING_COLUMNS = (
    ("key", "u4"),
    ("source", "u4"),
    ("boot", "u4"),
    ("run", "u4"),
    ("block", "u4"),
    ("value", "i8"),
    ("line", "u8"),
    ("offset", "u8"),
)


@dataclass
class SourceInfo:
    """One source: its form and its state.

    Attributes
    ----------
    name : str
    state : str
        ``"read"``; ``"duplicate of N"`` (same digest as source N, not counted again);
        ``"not recognised"``; ``"damaged"`` or ``"unreadable"`` (the part before is kept).
    identity : Digest or None
        Tells equal sources; `digest` is its text.
    form : str
        ``"lines"`` or a whole-file form.
    formats : tuple of str
        Formats with records.
    why : list of str
        Why it was read so.
    evidence : list of str
        The evidence for each format of lines, with its score.
    bytes, lines, records, problems : int
    ledger : list of (tag, occurrences, used, problems, further)
    unread : int
        Lines of a program whose output was found that no rule could read.
    unread_rule : str
        The rule that most of them belong to.
    message : str
        The failure, if there is one.
    """

    name: str
    state: str = "read"
    identity: Digest | None = field(default=None, compare=False)
    form: str = "lines"
    formats: tuple[str, ...] = ()
    why: list[str] = field(default_factory=list)
    evidence: list[str] = field(default_factory=list)
    ledger: list[tuple[bytes, int, int, int, int]] = field(default_factory=list)
    bytes: int = 0
    lines: int = 0
    records: int = 0
    problems: int = 0
    unread: int = 0
    unread_rule: str = ""
    compression: str = ""
    message: str = ""

    @property
    def digest(self) -> str:
        """SHA-256 of the decompressed bytes, in hex.

        It is made when it is first asked for, from the file again; "-" where the file is another
        one by then.
        """
        return "" if self.identity is None else str(self.identity)


@dataclass
class Part:
    """Sources that were reduced together: one, or several consoles of the same boots.

    Attributes
    ----------
    sources : list of SourceInfo
    tables : mapping of str to Frame
    records : mapping of str to Frame
        The records of each rule that has any, with a column ``source``.
    """

    sources: list[SourceInfo]
    tables: Mapping[str, Frame]
    records: Mapping[str, Frame] = field(default_factory=dict)


class Records(Mapping[str, Frame]):
    """The matched lines, by rule: ``records["optee.open"]`` is a `Frame` of its fields."""

    def __init__(self, frames: Mapping[str, Frame]) -> None:
        self._frames = dict(frames)

    def __getitem__(self, rule: str) -> Frame:
        try:
            return self._frames[rule]
        except KeyError:
            raise UnknownName(
                f"no records of rule {clean(repr(rule))}; there are: "
                + (", ".join(self._frames) or "none")
            ) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._frames)

    def __len__(self) -> int:
        return len(self._frames)

    def _ipython_key_completions_(self) -> list[str]:
        return list(self._frames)

    def counts(self) -> Frame:
        """One row a rule: how many records, and its fields."""
        plain = ("line", "offset", "channel", "flags", "section", "source")
        return Frame(
            [
                Column.of("rule", np.array(list(self._frames), "O")),
                Column.of("records", np.array([len(f) for f in self._frames.values()], "u8")),
                Column.of(
                    "fields",
                    np.array(
                        [
                            " ".join(c for c in f.columns if c not in plain)
                            for f in self._frames.values()
                        ],
                        "O",
                    ),
                ),
            ],
            "rules with records",
        )

    def __repr__(self) -> str:
        return repr(self.counts())

    def _repr_html_(self) -> str:
        return self.counts()._repr_html_()


class Dataset:
    """The tables read from one or more sources.

    Every result of a reader is a table: ``boots``, ``keys``, ``readings``, ``problems``, and those
    that the formats found add (``calls``, ``syscalls``, ``tests``, ``stages`` ...; see `tables`).
    Several sources are independent boots; sources with equal digests count once.

    Attributes
    ----------
    boots : Frame
        One row a boot: where it starts and why, chain, version, platform, build, clock.
    keys : Frame
        The measured keys.
    readings : Readings
        One row a measured value.
    records : Records
        The matched lines, by rule.
    problems : Frame
        Lines that should have been records and were not, with line, offset, reason.
    sources : Frame
        One row a source: digest, formats, counts, state.
    """

    def __init__(self, parts: Sequence[Part], notes: Sequence[str] = ()) -> None:
        self.parts = list(parts)
        self.notes = list(notes)
        self._where: dict[str, Any] = {}

    # ---- tables -------------------------------------------------------------------------

    @property
    def infos(self) -> list[SourceInfo]:
        """The sources as objects, in the order in which they were given."""
        return [info for part in self.parts for info in part.sources]

    @cached_property
    def _tables(self) -> dict[str, Frame]:
        firsts = np.cumsum([0, *(len(part.sources) for part in self.parts)]).tolist()
        counted = [(p, f) for p, f in zip(self.parts, firsts[:-1], strict=True) if p.tables]
        if not counted:
            return {}
        parts, first = zip(*counted, strict=True)
        return merge_tables([part.tables for part in parts], first)

    @property
    def tables(self) -> tuple[str, ...]:
        """Names of the tables there are: each is an attribute of the data set."""
        return tuple(dict.fromkeys(["boots", "keys", "readings", "problems", *self._tables]))

    def table(self, name: str) -> Frame:
        """A table by name.

        Raises
        ------
        UnknownName
            The formats found make no such table; the message lists those they make.
        """
        if name == "readings":
            return self.readings
        if name not in self._tables:
            if name == "keys":
                return _no_keys()
            if name in ("boots", "problems"):
                return Frame([Column.of("source", np.zeros(0, "u4"))], name)
            raise UnknownName(
                f"no table {clean(repr(name))} in this data set; there are: "
                + ", ".join(self.tables)
            )
        return self._filtered(name, self._tables[name])

    def _filtered(self, name: str, frame: Frame) -> Frame:
        """The rows that `select` left."""
        frame._title = name
        if not self._where:
            return frame
        if name == "keys":
            return self.readings.keys
        if set(self._where) <= set(frame.columns):
            return frame._rows(frame._where(self._where, must=False))
        return frame

    @cached_property
    def readings(self) -> Readings:
        """One row a measured value."""
        keys = self._tables.get("keys")
        rows = self._tables.get("readings")
        if keys is None or rows is None:
            rows = Frame([Column.of(n, np.zeros(0, t)) for n, t in _READING_COLUMNS])
            keys = keys if keys is not None else _no_keys()
        joined = Readings.join(rows, keys)
        if self._where:
            picked: Readings = joined.select(**self._where)
            return picked.renumbered()
        return joined

    @property
    def keys(self) -> Frame:
        """The measured keys, one row each."""
        return self.table("keys")

    @cached_property
    def records(self) -> Records:
        """The matched lines, by rule."""
        names = dict.fromkeys(name for part in self.parts for name in part.records)
        firsts = np.cumsum([0, *(len(part.sources) for part in self.parts)]).tolist()
        out = {}
        for name in names:
            frames = [
                merge_tables([{name: part.records[name]}], [first])[name]
                for part, first in zip(self.parts, firsts[:-1], strict=True)
                if name in part.records
            ]
            out[name] = concat(frames, f"records of {name}") if len(frames) > 1 else frames[0]
        return Records(out)

    @cached_property
    def sources(self) -> Frame:
        """One row a source."""
        infos = self.infos
        boots = self._boots_by_source()
        texts = {
            "name": [i.name for i in infos],
            "state": [i.state for i in infos],
            "form": [i.form for i in infos],
            "formats": [" ".join(i.formats) for i in infos],
        }
        numbers = {
            "boots": boots,
            "bytes": [i.bytes for i in infos],
            "lines": [i.lines for i in infos],
            "records": [i.records for i in infos],
            "problems": [i.problems for i in infos],
        }
        return Frame(
            [
                *(Column.of(n, np.array(v, "O")) for n, v in texts.items()),
                *(Column.of(n, np.array(v, "u8")) for n, v in numbers.items()),
                Column.late("digest", lambda: [info.digest for info in infos]),
            ],
            "sources",
        )

    def _boots_by_source(self) -> list[int]:
        counts = np.zeros(len(self.infos), "i8")
        if "boots" in self._tables:
            found = np.bincount(self._tables["boots"].column("source").data, minlength=len(counts))
            counts += found[: len(counts)]
        return [int(n) for n in counts]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self.table(name)
        except UnknownName as error:
            raise AttributeError(error.message, name=name, obj=self) from None

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.tables})

    # ---- questions ----------------------------------------------------------------------

    def select(self, **where: Any) -> Dataset:
        """The data set of the readings whose key columns hold the given values.

        Parameters
        ----------
        **where
            As in `Frame.select`: ``metric="wakeup"``, ``cpu=[0, 1]``. Tables that have all the
            named columns are cut down likewise, the others stay whole.

        Returns
        -------
        Dataset

        Raises
        ------
        UnknownName
            No such column or value; the message lists those that exist.
        """
        new = Dataset(self.parts, self.notes)
        new._where = {**self._where, **where}
        _ = new.readings  # a wrong name is an error here, not later
        return new

    def stats(self) -> Frame:
        """One row a key: n, min, median (inverted CDF), max, in ns where that is known."""
        return summary(self.readings, self.readings.keys)

    def trace(self, row: int, table: str = "readings") -> dict[str, Any]:
        """Where a row came from.

        Parameters
        ----------
        row : int
            Of the table.
        table : str

        Returns
        -------
        dict
            ``source`` (its name), ``digest``, ``line`` (1-based), ``offset`` (bytes), as far as
            the table has them. A row that was joined from several lines (a call) has ``lines``:
            for each part its source, line and offset.
        """
        cells = self.table(table).row(row)
        index = cells.get("source")
        info = None if index is None else self.infos[index]
        parts = [name[: -len("_line")] for name in cells if name.endswith("_line")]
        if "client" in parts:
            return {"lines": {p: self._part_of(cells, p) for p in parts if cells[f"{p}_line"]}}
        return {
            "source": info.name if info else None,
            "digest": info.digest if info else None,
            "line": cells.get("line", cells.get("first_line")),
            "offset": cells.get("offset", cells.get("first_offset")),
        }

    def _part_of(self, cells: dict[str, Any], part: str) -> dict[str, Any]:
        """Where one line of a joined row stands."""
        index = cells.get(f"{part}_source", cells.get("source"))
        return {
            "source": None if index is None else self.infos[index].name,
            "line": cells[f"{part}_line"],
            "offset": cells.get(f"{part}_offset"),
        }

    @property
    def plot(self) -> DatasetPlot:
        """Plots of this data set: ``data.plot.ecdf(metric="wakeup")`` gives matplotlib Axes."""
        from ..plot.dataset import DatasetPlot

        return DatasetPlot(self)

    # ---- showing ------------------------------------------------------------------------

    def headline(self) -> str:
        """One line: the number of each kind of row."""
        parts = [
            counted(len(self.infos), "source"),
            counted(len(self.table("boots")), "boot"),
            f"{counted(len(self.readings), 'reading')} of {counted(len(self.keys), 'key')}",
        ]
        unread = sum(info.unread for info in self.infos)
        if unread:
            parts.append(f"{counted(unread, 'line')} of the same program not read")
        for name in self._tables:
            if name not in UNCOUNTED:
                parts.append(_counted(len(self.table(name)), name))
        parts.append(counted(len(self.table("problems")), "problem"))
        return ", ".join(parts)

    def overview(self) -> list[tuple[str, Frame]]:
        """The tables of a one-screen view, with their titles."""
        out = [
            ("sources", self.sources.only("name", "state", "form", "formats", "boots", "problems"))
        ]
        boots = self.table("boots")
        if len(boots):
            shown = ("source", "boot", "first_line", "chain", "version", "platform", "clock_hz")
            out.append(("boots", boots.only(*(n for n in shown if n in boots.columns))))
        if len(self.readings):
            out.append(("keys", self.stats()))
        return out

    def __repr__(self) -> str:
        lines = [f"tickgauge data set: {self.headline()}"]
        for title, frame in self.overview():
            part: Frame = frame[:SHOWN]
            lines += [title, scaled(part._grid_of(part._shown_columns())).to_text("  ")]
            if len(frame) > SHOWN:
                lines.append(f"  ... {len(frame) - SHOWN} more")
        lines += [clip(clean(note), 200) for note in self.notes[:5]]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        out = [f"<p><b>tickgauge data set</b>: {html.escape(self.headline())}</p>"]
        for title, frame in self.overview():
            part: Frame = frame[:SHOWN]
            more = f" (first {SHOWN} of {len(frame)})" if len(frame) > SHOWN else ""
            grid = scaled(part._grid_of(part._shown_columns()))
            out.append(grid.to_html(title + more))
        out += [f"<p>{html.escape(clip(clean(note), 200))}</p>" for note in self.notes[:5]]
        return "".join(out)


def _counted(n: int, table: str) -> str:
    """The length of a table by its name, which is a plural: "1 test", "2 summaries"."""
    one = {"series": "series", "summaries": "summary"}.get(table, table.removesuffix("s"))
    return f"{n} {one if n == 1 else table}"


def _no_keys() -> Frame:
    texts = ("format", "test", "metric", "operation", "place", "labels", "unit", "exchange")
    tail = ("origin", "better", "observation")
    empty = np.zeros(0, "O")
    return Frame(
        [
            *(Column.of(n, empty) for n in texts),
            *(Column.of(n, np.zeros(0, "u4")) for n in ("cluster", "core", "cpu")),
            Column.of("exp10", np.zeros(0, "i8")),
            Column.of("clock_hz", np.zeros(0, "u8")),
            Column.of(tail[0], empty),
            Column.of("resolution", np.zeros(0, "u8")),
            *(Column.of(n, empty) for n in tail[1:]),
        ],
        "keys",
    )

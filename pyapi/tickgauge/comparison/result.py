"""Comparison: the answer of `compare`, its words, tables, files and plot."""

from __future__ import annotations

import os
import textwrap
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..frame.answer import Answer
from ..frame.frame import Column, Frame
from ..frame.grid import Grid
from ..frame.screen import screen
from ..util.atomic_write import write_whole
from ..util.text import clean, counted
from .labelled import comparison_arrays
from .labels import apart, few, length_text, places_text, two_lengths, units_word
from .lock_groups import ladder_grid
from .options import NEXT_BOOTS
from .verdicts import (
    ORDER,
    advice,
    change_text,
    interval_text,
    likely,
    meaning,
    percent_text,
    tail_text,
    within_text,
    word_of,
)

if TYPE_CHECKING:
    from ..plot.comparison import ComparisonPlot

__all__ = ["Comparison", "write_text"]

#: Lines that a text has at most, and the length of the line of a finding.
SCREEN, WIDE = 24, 100

#: Version of the JSON document of compare and gate.
VERSION = 2

#: p from which on boots are said to drift.
DRIFT = 0.05

LADDER = (
    "base + step per cpu in the queue, least squares; in brackets what boots leave open "
    "(95 %, jackknife over units; none from a single one)"
)


@dataclass
class Comparison:
    """The answer of `compare`.

    Attributes
    ----------
    rows : Frame
        One row a matched key, and one for ``@p90`` and ``@p99`` where boots have readings enough:
        its identity (``test metric operation labels cluster core place rank``), ``shown`` (the unit
        of lengths: ns for times), the columns of ``tg_compare``, ``sentence`` (the change
        seen, the change that could be seen, the next step) and ``note``. Regressed keys come first,
        the largest change first within a word. Missing values are missing, never 0.
    groups : Frame
        One row a group of interchangeable cpus: W1 and its p, slowest, span, ladder
        ``a + b * rank``, change per core and per rank, p of exchangeability, ``note``.
    factors : list of dict
        Common factors: ``factor``, ``metric``, ``cluster``, ``keys``.
    unmatched : dict
        ``"old"`` and ``"new"``: keys that only that side has.
    not_comparable : list of (str, str)
        Key and reason; the other keys are judged.
    unit : str
        ``"boot"``, ``"run"`` or ``"reading"``.
    units : (int, int)
        Units of the old and the new side.
    margin, margin_ns, alpha : float
    geometric_mean : float or None
        Of new / old over the matched keys with positive values; `geometric_mean_of` says how many.
    expected_false_alarms : float
        Keys that would be called regressed on average if nothing had changed: the sum of the
        intervals' one-sided misses.
    notes : list of str
    noise : str
        The boots of one firmware: the file and how many they are.
    names : (str, str)
        The names of the sides.
    drift : float or None
        p of a drift of the boots in the order in which they stand, inside the sides.
    order : str
        How the boots of the sides were taken: ``"as given not interleaved"``, ``"interleaved"``,
        ``"order unknown"``; "" for one boot a side.
    """

    rows: Frame
    groups: Frame
    factors: list[dict[str, Any]]
    unmatched: dict[str, list[str]]
    not_comparable: list[tuple[str, str]]
    unit: str
    units: tuple[int, int]
    margin: float
    margin_ns: float
    alpha: float
    geometric_mean: float | None
    geometric_mean_of: int
    expected_false_alarms: float
    sources: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    noise: str = ""
    names: tuple[str, str] = ("", "")
    drift: float | None = None
    order: str = ""

    # ---- looking ----------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def counts(self) -> dict[str, int]:
        """How many keys have each verdict."""
        verdicts = list(self.rows["verdict"])
        return {word: verdicts.count(word) for word in ORDER if word in verdicts}

    def select(self, verdict: str | None = None, **where: Any) -> Frame:
        """The rows with that verdict and those values."""
        if verdict is not None:
            where["verdict"] = verdict
        found: Frame = self.rows.select(**where)
        return found

    def with_adjusted(self, p: npt.NDArray[np.float64]) -> None:
        """Put another ``p_bh``: of a family that is larger than this comparison."""
        columns = [
            Column.of("p_bh", p, ~np.isnan(p)) if name == "p_bh" else self.rows.column(name)
            for name in self.rows.columns
        ]
        self.rows = Frame(columns, "keys")

    def _rows(self, word: str | None = None) -> list[dict[str, Any]]:
        return [row for row in self.rows if word is None or row["verdict"] == word]

    @property
    def units_text(self) -> str:
        """The unit of statistics with the units of both sides: ``boot (15 v 15)``."""
        return units_word(self.unit, *self.units)

    @property
    def header(self) -> list[str]:
        """Two lines: unit, margin, counts, geometric mean, the part of chance."""
        absolute = f" and {self.margin_ns:g} ns" if self.margin_ns else ""
        first = (
            f"unit: {units_word(self.unit, *self.units)}, margin {100 * self.margin:g} %{absolute},"
            f" alpha {self.alpha:g}"
        )
        if self.noise:
            first += f", boots of one firmware: {self.noise}"
        if self.order:
            first += f", {self.order}"
        found = [word_of(row) for row in self._rows()]
        told = [word for word in ORDER if word in found]
        told += sorted({*found} - {*ORDER})
        second = ", ".join(f"{found.count(w)} {w}" for w in told) or "no matched key"
        if self.geometric_mean is not None:
            second += (
                f"; geometric mean x{self.geometric_mean:.4g} over "
                f"{counted(self.geometric_mean_of, 'key')}"
            )
        if self.expected_false_alarms > 0:
            second += (
                f"; about {self.expected_false_alarms:.1f} of {len(self.rows)} regressed by chance"
            )
        return [first, second]

    def explanations(self) -> list[str]:
        """One line for each verdict that occurs: its meaning, and the next step."""
        lines = []
        for word in self.counts:
            rows = self._rows(word)
            text = self._next_step(word, rows)
            if word == "unreplicated" and all(r["n_old"] == r["n_new"] == 1 for r in rows):
                head = meaning(word, self.unit).replace(
                    f"too few {self.unit}s on a side", f"one {self.unit} a side"
                )
            else:
                head = meaning(word, self.unit)
            more = NEXT_BOOTS if word in ("inconclusive", "unreplicated") else ""
            lines.append("; ".join(filter(None, (f"{word}: {head}", text, more))))
        if any(row["within"] is not None for row in self._rows("unreplicated")):
            lines.append(
                f"within {self.unit}: shift between the readings of the two {self.unit}s, with its "
                f"interval; between {self.unit}s: not replicated"
            )
        return lines

    def _next_step(self, word: str, rows: list[dict[str, Any]]) -> str:
        """The next step for the rows of one verdict."""
        if word not in ("inconclusive", "changed", "unreplicated"):
            return ""
        return likely(rows, self.margin, self.unit) or advice(rows[0], self.margin, self.unit)

    def headlines(self, word: str = "regressed", limit: int = 4) -> list[str]:
        """The keys with a verdict, those of one test and metric on one line, largest first."""
        found: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
        for row in self._rows(word):
            name = (row["test"], row["operation"], row["metric"], row["labels"], row["quantile"])
            found.setdefault(name, []).append(row)
        lines = [f"{word}: {_group_line(name, rows)}" for name, rows in found.items()]
        more = [f"{word}: {len(lines) - limit} more tests"] if len(lines) > limit + 1 else []
        return lines[: limit if more else None] + more

    def tails(self, limit: int = 4) -> list[str]:
        """Keys whose slow boots became more or fewer, though their middle did not move so far."""
        lines = [
            f"{row['key']}: {tail_text(row, self.unit)}"
            for row in self._rows()
            if row["verdict"] not in ("regressed", "improved", "changed")
            and tail_text(row, self.unit)
        ]
        more = [f"{len(lines) - limit} more keys with another tail"] if len(lines) > limit else []
        return lines[:limit] + more

    def warnings(self) -> list[str]:
        """Notes that may be part of every difference."""
        if self.drift is None or self.drift > DRIFT:
            return []
        return [
            f"drift within the sides (p {self.drift:.2g}): old and new were not interleaved, so a "
            "slow change of the machine may be part of every difference; tickgauge plan says an "
            "order"
        ]

    def findings(self) -> list[str]:
        """Regressions, tails, common factors, lock order, keys that could not be compared."""
        lines = self.headlines() + self.tails() + self.warnings()
        lines += [
            f"common factor x{f['factor']:.3g}: {f['title']} ({counted(len(f['keys']), 'key')})"
            for f in self.factors
        ]
        for row in range(len(self.groups)):
            note = self.groups.row(row)["note"]
            if note:
                lines.append(note)
        lines += apart(self.unmatched, [])
        for bit, why in ((16, "bimodal"), (32, f"fewer than 4 {self.unit}s")):
            keys = [k for k, f in zip(self.rows["key"], self.rows["flags"], strict=True) if f & bit]
            if keys:
                lines.append(f"no answer from --noise, {why}: {few(keys)}")
        return lines + apart({}, self.not_comparable) + self.notes

    def ladders(self) -> Grid:
        """Base and step of each group of cpus that queue for a lock, with their intervals."""
        return ladder_grid(self.groups)

    def grid(self, limit: int | None = None) -> Grid:
        """The short table: effect, verdict, interval, p, the change that could be seen."""
        frame = self.rows if limit is None else self.rows[:limit]
        names = ("key", "change", "old", "new", "verdict", "interval", "level", "p", "p_min",
                 "visible", "note")  # fmt: skip
        rows = [self._short(row) for row in frame]
        may_go = ("interval", "level", "p", "p_min", "visible", "note")
        tested = any(row[names.index("p")] != "-" for row in rows)
        keep = [
            i
            for i, name in enumerate(names)
            if name not in may_go
            or (any(row[i] not in ("-", "") for row in rows) and (name != "p_min" or tested))
        ]
        headings = {"visible": "visible from", "p_min": "least p"}
        return Grid([names[i] for i in keep], [[row[i] for i in keep] for row in rows],
                    headings=headings)  # fmt: skip

    def _short(self, row: dict[str, Any]) -> tuple[Any, ...]:
        level = "-" if row["level"] is None else f"{100 * row['level']:.1f} %"
        visible = "-"
        if row["flags"] & 512:
            visible = "two modes"
        elif row["visible"] is not None and row["percent"] is not None:
            visible = percent_text(row["visible"], sign=False)
        elif row["visible"] is not None:
            visible = length_text(row["visible"], row["shown"])
        elif row["method"] in ("exact", "paired") and row["level"] is None:
            visible = "none"
        note = "; ".join(filter(None, (within_text(row, self.unit), row["note"])))
        old_text, new_text = two_lengths(row["old"], row["new"], row["shown"])
        return (
            row["key"], change_text(row), old_text, new_text, word_of(row), interval_text(row),
            level, _p(row["p"]), _p(row["p_min"]), visible, note,
        )  # fmt: skip

    def _groups_of_words(self) -> list[str]:
        """A line for each verdict that is no finding: how many keys, and the next step."""
        lines = []
        for word in ("improved", "changed"):
            lines += self.headlines(word, 3)
        return lines

    def _quiet(self) -> list[str]:
        """The explanations of open and quiet keys."""
        quiet = ("unreplicated", "inconclusive", "equivalent", "within")
        return [line for line in self.explanations() if line.startswith(quiet)]

    def to_text(self, limit: int | None = SCREEN) -> str:
        """For a person.

        Parameters
        ----------
        limit : int, optional
            At most so many lines: findings first, then like keys in one line, then the keys one by
            one as far as they fit. None: everything, with the words explained.
        """
        if limit is None:
            return self._whole_text()
        said = [*self.findings(), *self._groups_of_words(), *self._quiet()]
        if len(self.rows) <= 3:
            said += ["", *(f"{row['key']}: {row['sentence']}" for row in self._rows())]
        head = [*self.header, ""]
        parts = [[line] if screen() is None else _wrapped(line) for line in head]
        parts += map(_wrapped, said)
        last = "--all shows every key and the words, --format json every figure"
        lines = [line for part in parts for line in part]
        room = limit - len(lines) - (3 if screen() is None else 4)  # columns left out are said
        if room >= 4 and len(self.rows):
            lines += ["", *self._table_in(room)]
        elif len(lines) > limit - 1:
            lines = _whole_parts(parts, limit - 2)
        return "\n".join([*lines, last]) + "\n"

    def _table_in(self, room: int) -> list[str]:
        """The table with as many rows as fit, and a line on the others."""
        shown = min(len(self.rows), room - 1)
        while len(lines := self.grid(shown).to_text().split("\n")) > room and shown > 1:
            shown -= 1
        more = len(self.rows) - shown
        return [*lines, f"... {more} more"] if more else lines

    def _whole_text(self) -> str:
        parts = ["\n".join(self.header)]
        findings = self.findings()
        if findings:
            parts.append("\n".join(clean(line) for line in findings))
        if len(self.rows):
            parts.append(self.grid().to_text())
        ladders = self.ladders()
        if ladders.rows:
            parts.append(f"{ladders.to_text()}\n{LADDER}")
        explanations = self.explanations()
        if explanations:
            parts.append("\n".join(explanations))
        return "\n\n".join(parts) + "\n"

    def __repr__(self) -> str:
        return self.to_text().rstrip("\n")

    def _repr_html_(self) -> str:
        head = "".join(f"<p>{escape(clean(line))}</p>" for line in self.header + self.findings())
        tail = "".join(f"<p>{escape(line)}</p>" for line in self.explanations())
        return head + self.grid(SCREEN).to_html() + tail

    # ---- leaving ----------------------------------------------------------------------------

    def to_records(self) -> list[dict[str, Any]]:
        """One dict a row, fit for JSON."""
        return self.rows.grid().to_records()

    def to_dict(self) -> dict[str, Any]:
        """The whole answer, fit for JSON (schema ``schemas/compare.json``)."""
        return {
            "answer_version": VERSION,
            "unit": self.unit,
            "units": {"old": self.units[0], "new": self.units[1]},
            "margin": self.margin,
            "margin_ns": self.margin_ns,
            "alpha": self.alpha,
            "counts": self.counts,
            "geometric_mean": self.geometric_mean,
            "geometric_mean_of": self.geometric_mean_of,
            "expected_false_alarms": self.expected_false_alarms,
            "drift_p": self.drift,
            "rows": self.to_records(),
            "groups": self.groups.grid().to_records(),
            "factors": self.factors,
            "unmatched": self.unmatched,
            "not_comparable": [{"key": k, "reason": r} for k, r in self.not_comparable],
        }

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """The whole answer as JSON, as text or into a file."""
        return write_text(self.answer().to_json(), path)

    def answer(self, command: str = "compare") -> Answer:
        """The answer as the command line writes it."""
        extra = self.to_dict()
        for name in ("unit", "margin", "rows"):
            del extra[name]
        return Answer(
            command,
            self.rows.grid(),
            sources=self.sources,
            notes=self.header + self.findings() + self.explanations(),
            unit=self.units_text,
            margin=self.margin,
            extra=extra,
        )

    def to_csv(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """All columns of all rows as CSV."""
        return self.rows.to_csv(path)

    def _document(self, table: str, blank: str) -> str:
        lines = [*self.header, *self.findings()]
        return blank.join([*map(clean, lines), table, *self.explanations()]) + "\n"

    def to_md(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """The short table as Markdown, with header and explanations."""
        return write_text(self._document(self.grid().to_md(), "\n\n"), path)

    def to_rst(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """The short table as RST, with header and explanations."""
        return write_text(self._document(self.grid().to_rst(), "\n\n"), path)

    def to_html(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """The short table as HTML, escaped."""
        return write_text(self._repr_html_() + "\n", path)

    def to_pandas(self) -> Any:
        """The rows as a pandas DataFrame."""
        return self.rows.to_pandas()

    def to_polars(self) -> Any:
        """The rows as a polars DataFrame."""
        return self.rows.to_polars()

    def to_arrow(self) -> Any:
        """The rows as a pyarrow Table."""
        return self.rows.to_arrow()

    def to_xarray(self, *dims: str) -> Any:
        """The rows as a Dataset of xarray, ``median`` with a dimension ``release`` (old, new).

        `dims` are columns that become dimensions, such as ``"test", "metric", "place"``; without
        any there is one, ``key``.
        """
        return comparison_arrays(self, dims)

    @property
    def plot(self) -> ComparisonPlot:
        """Plots: ``comparison.plot.forest()`` gives matplotlib Axes."""
        from ..plot.comparison import ComparisonPlot

        return ComparisonPlot(self)


def _width() -> int:
    """Columns of a line: those of the terminal, at most `WIDE`."""
    now = screen()
    return WIDE if now is None else min(WIDE, now.columns)


def _wrapped(text: str) -> list[str]:
    """A sentence in lines of the width, none of it cut."""
    return textwrap.wrap(
        clean(text), _width(), subsequent_indent="  ", break_on_hyphens=False
    ) or [""]  # fmt: skip


def _whole_parts(parts: list[list[str]], room: int) -> list[str]:
    """As many of the parts as fit, none of them torn, and a line on the rest."""
    lines: list[str] = []
    for at, part in enumerate(parts):
        if len(lines) + len(part) > room:
            return [*lines, f"... {counted(sum(map(len, parts[at:])), 'more line')}"]
        lines += part
    return lines


def _group_line(name: tuple[Any, ...], rows: list[dict[str, Any]]) -> str:
    """Keys of one test and metric in a line: the range of their changes and their places."""
    title = " ".join(str(w) for w in name[:-1] if w)
    if name[-1] != 50:
        title += f" @p{name[-1]}"
    plain = " ".join(str(w) for w in name[:-1] if w)
    places = [
        row["key"].removesuffix(f" @p{row['quantile']}").removeprefix(plain).strip() for row in rows
    ]
    percents = [row["percent"] for row in rows if row["percent"] is not None]
    change = ""
    if percents:
        low, high = percent_text(min(percents)), percent_text(max(percents))
        change = f" {low}" if low == high else f" {low.removesuffix(' %')}..{high}"
    elif rows[0]["shift"] is not None:
        change = f" {change_text(rows[0])}"
    where = places_text(places)
    return title + change + (f" ({where})" if where else "")


def write_text(text: str, path: str | os.PathLike[str] | None) -> str | None:
    """The text, or None once it is the file at `path`, whole."""
    if path is None:
        return text
    write_whole(path, text.encode("utf-8", "replace"))
    return None


def _p(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.3f}" if value >= 0.001 else f"{value:.1e}" if value > 1e-300 else "<1e-300"

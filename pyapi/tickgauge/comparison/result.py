"""Comparison: the answer of `compare`, its words, tables, files and plot."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

from ..frame.answer import Answer
from ..frame.frame import Frame
from ..frame.grid import Grid
from ..util.atomic_write import write_whole
from ..util.text import clean, counted
from .labels import length_text, units_word
from .lock_groups import ladder_grid
from .verdicts import ORDER, meaning, settles_all, within_text

if TYPE_CHECKING:
    from ..plot.comparison import ComparisonPlot

__all__ = ["Comparison", "write_text"]

#: Rows that a text shows at most.
SHOWN = 24

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
        One row a matched key: what it is (``test metric operation labels cluster core cpu place
        rank``), ``shown`` (the unit of lengths: ns for times), then per key ``old new shift
        shift_steps percent verdict lo hi level p p_min p_bh detectable detectable_level delta
        step sd within within_lo within_hi n_old n_new needed method note flags``. Regressed keys
        come first, the largest change first within a word.
    groups : Frame
        One row a group of interchangeable cpus: W1 and its p, slowest, span, ladder
        ``a + b * rank``, change per core and per rank, p of exchangeability, ``note``.
    factors : list of dict
        Common factors: ``factor``, ``metric``, ``cluster``, ``keys``.
    unmatched : dict
        ``"old"`` and ``"new"``: keys that only that side has.
    not_comparable : list of (str, str)
        Key and reason.
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
        What the noise model is made of: the file and its number of boots.
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

    @property
    def units_text(self) -> str:
        """The unit and how many there are: ``boot (15 v 15)``."""
        return units_word(self.unit, *self.units)

    @property
    def header(self) -> list[str]:
        """Two lines: unit, margin, counts, geometric mean, expected false alarms."""
        first = (
            f"unit: {self.units_text}, margin {100 * self.margin:g} % or "
            f"{self.margin_ns:g} ns, at least one resolution step, alpha {self.alpha:g}"
        )
        if self.noise:
            first += f", noise model: {self.noise}"
        words = ", ".join(f"{n} {word}" for word, n in self.counts.items()) or "no matched key"
        second = words
        if self.geometric_mean is not None:
            second += (
                f"; geometric mean x{self.geometric_mean:.4g} over "
                f"{counted(self.geometric_mean_of, 'key')}"
            )
        second += f"; expected false alarms {self.expected_false_alarms:.2g} of {len(self.rows)}"
        return [first, second]

    def explanations(self) -> list[str]:
        """One line for each verdict that occurs: what it means and what would settle it."""
        lines = []
        verdicts = list(self.rows["verdict"])
        for word in self.counts:
            open_rows = [self.rows.row(i) for i, v in enumerate(verdicts) if v == word]
            answer = settles_all(word, open_rows, self.unit)
            settled = f"; settled by: {answer}" if answer else ""
            if word == "inconclusive":
                least = max((r["p_min"] for r in open_rows if r["p_min"] is not None), default=0)
                if least > self.alpha:
                    settled += f" (smallest p attainable {least:.3g})"
            single = all(max(r["n_old"], r["n_new"]) == 1 for r in open_rows)
            lines.append(f"{word}: {meaning(word, self.unit, single)}{settled}")
        if any(v is not None for v in _values(self.rows, "within")):
            lines.append(
                f"within {self.unit}: shift between the readings of the two {self.unit}s, with its "
                f"interval; between {self.unit}s: not replicated"
            )
        return lines

    def headlines(self, word: str = "regressed", limit: int = 4) -> list[str]:
        """The keys with a verdict, those of one test and metric on one line, largest first."""
        found: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
        for i, verdict in enumerate(self.rows["verdict"]):
            if verdict == word:
                row = self.rows.row(i)
                name = (row["test"], row["operation"], row["metric"], row["labels"])
                found.setdefault(name, []).append(row)
        lines = []
        for name, rows in found.items():
            title = " ".join(str(w) for w in name if w)
            places = [row["key"].removeprefix(title).strip() for row in rows]
            percents = [row["percent"] for row in rows if row["percent"] is not None]
            change = ""
            if percents:
                low, high = (f"{p:+.{_decimals(p)}f}" for p in (min(percents), max(percents)))
                change = f" {low} %" if low == high else f" {low}..{high} %"
            where = "; ".join(sorted(filter(None, places)))
            lines.append(f"{word}: {title}{change}" + (f" ({where})" if where else ""))
        more = [f"{word}: {len(lines) - limit} more tests"] if len(lines) > limit + 1 else []
        return lines[: limit if more else None] + more

    def findings(self) -> list[str]:
        """Regressions, common factors, lock order, what could not be compared."""
        lines = self.headlines() + [
            f"common factor x{f['factor']:.3g}: {f['title']} ({counted(len(f['keys']), 'key')})"
            for f in self.factors
        ]
        for row in range(len(self.groups)):
            note = self.groups.row(row)["note"]
            if note:
                lines.append(note)
        for side, keys in self.unmatched.items():
            if keys:
                more = f" and {len(keys) - 3} more" if len(keys) > 3 else ""
                lines.append(f"only in {side}: {', '.join(keys[:3])}{more}")
        for bit, why in ((16, "bimodal"), (32, "fewer than 4 boots")):
            keys = [k for k, f in zip(self.rows["key"], self.rows["flags"], strict=True) if f & bit]
            if keys:
                lines.append(f"no noise model, {why}: {', '.join(keys)}")
        reasons: dict[str, int] = {}
        for _, reason in self.not_comparable:
            reasons[reason] = reasons.get(reason, 0) + 1
        lines += [
            f"not comparable ({counted(n, 'key')}): {reason}" for reason, n in reasons.items()
        ]
        return lines + self.notes

    def ladders(self) -> Grid:
        """Base and step of each group of cpus that queue for a lock, with their intervals."""
        return ladder_grid(self.groups)

    def grid(self, limit: int | None = None) -> Grid:
        """The short table: effect, verdict, interval, p, what could have been seen."""
        frame = self.rows if limit is None else self.rows[:limit]
        names = ("key", "change", "old", "new", "verdict", "interval", "level", "p", "p_min",
                 "visible", "note")  # fmt: skip
        rows = [self._short(frame.row(i)) for i in range(len(frame))]
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
        old = row["old"]

        def relative(value: float | None) -> str:
            if value is None or not old:
                return "-"
            return f"{100 * value / abs(old):+.{_decimals(100 * value / abs(old))}f}"

        level = "-" if row["level"] is None else f"{100 * row['level']:.1f} %"
        interval = "-" if level == "-" else f"{relative(row['lo'])}..{relative(row['hi'])} %"
        seen = relative(row["detectable"]).lstrip("+")
        visible = "-" if row["detectable"] is None else f"{seen} %"
        if (row["detectable_level"] or 0) > self.alpha + 1e-9:
            visible = "never" if row["detectable"] is not None else "-"
        change = "-" if row["percent"] is None else f"{relative(row['shift'])} %"
        note = "; ".join(filter(None, (within_text(row, self.unit), row["note"])))
        old_text, new_text = (length_text(row[side], row["shown"]) for side in ("old", "new"))
        return (
            row["key"], change, old_text, new_text, row["verdict"], interval, level,
            _p(row["p"]), _p(row["p_min"]), visible, note,
        )  # fmt: skip

    def to_text(self, limit: int | None = SHOWN) -> str:
        """One screen: header, findings, the rows that matter most, what the words mean."""
        parts = ["\n".join(self.header)]
        findings = self.findings()
        if findings:
            parts.append("\n".join(clean(line) for line in findings))
        if len(self.rows):
            text = self.grid(limit).to_text()
            if limit is not None and len(self.rows) > limit:
                text += f"\n... {len(self.rows) - limit} more"
            parts.append(text)
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
        return head + self.grid(SHOWN).to_html() + tail

    # ---- leaving ----------------------------------------------------------------------------

    def to_records(self) -> list[dict[str, Any]]:
        """One dict a row, fit for JSON."""
        return self.rows.grid().to_records()

    def to_dict(self) -> dict[str, Any]:
        """The whole answer, fit for JSON (schema ``schemas/compare.json``)."""
        return {
            "unit": self.unit,
            "units": {"old": self.units[0], "new": self.units[1]},
            "margin": self.margin,
            "margin_ns": self.margin_ns,
            "alpha": self.alpha,
            "counts": self.counts,
            "geometric_mean": self.geometric_mean,
            "geometric_mean_of": self.geometric_mean_of,
            "expected_false_alarms": self.expected_false_alarms,
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

    @property
    def plot(self) -> ComparisonPlot:
        """Plots: ``comparison.plot.forest()`` gives matplotlib Axes."""
        from ..plot.comparison import ComparisonPlot

        return ComparisonPlot(self)


def write_text(text: str, path: str | os.PathLike[str] | None) -> str | None:
    """The text, or None once it is the file at `path`, whole."""
    if path is None:
        return text
    write_whole(path, text.encode("utf-8", "replace"))
    return None


def _values(frame: Frame, name: str) -> list[Any]:
    cell = frame.column(name).cell
    return [cell(i) for i in range(len(frame))]


def _decimals(percent: float) -> int:
    return 2 if abs(percent) < 10 else 1 if abs(percent) < 1000 else 0


def _p(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}" if value >= 0.001 else f"{value:.1e}"

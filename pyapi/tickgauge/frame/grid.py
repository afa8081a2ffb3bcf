"""Tables for people and for files: aligned text, HTML, Markdown, RST, CSV, JSON records.

Whatever a log contains, the output is safe to show: control bytes are written as
``\\x1b``, over-long words are cut (in text and HTML), and HTML is escaped.
"""

from __future__ import annotations

import csv
import io
import math
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from ..util.late import html
from ..util.text import clean, clip, number, width_of
from .screen import Screen, screen

__all__ = ["Grid", "page_of"]


class Grid:
    """Cells in rows and named columns, ready to be shown or written.

    Parameters
    ----------
    names : sequence of str
        Names of the columns, as they stand in JSON and CSV.
    rows : iterable of sequences
        Cells: str, int, float, bool, or None for a missing value.
    headings : mapping, optional
        The heading of a column in place of its name, for example with the unit.
    wide : iterable of str, optional
        Columns of unsigned 64-bit integers: strings in JSON, because many readers hold numbers
        as doubles.
    digits : mapping, optional
        Decimals of float columns in text, HTML, Markdown and RST (6 significant digits
        otherwise).
    """

    def __init__(
        self,
        names: Sequence[str],
        rows: Iterable[Sequence[Any]],
        *,
        headings: Mapping[str, str] | None = None,
        wide: Iterable[str] = (),
        digits: Mapping[str, int] | None = None,
    ) -> None:
        self.names = tuple(names)
        self.rows = [tuple(row) for row in rows]
        self.headings = dict(headings or {})
        self.wide = frozenset(wide)
        self.digits = dict(digits or {})

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return self.to_html()

    def _heading(self, name: str) -> str:
        return clean(self.headings.get(name, name))

    def _shown(self, name: str, value: Any) -> str:
        if value is None:
            return "-"
        if isinstance(value, str):
            return clean(clip(value))
        if isinstance(value, bool):
            return "yes" if value else "no"
        if isinstance(value, float):
            if name in self.digits and not math.isnan(value):
                return f"{value:.{self.digits[name]}f}"
            return number(value)
        if isinstance(value, Decimal):
            return f"{value:f}"
        return clean(str(value))

    def _cells(self) -> list[list[str]]:
        return [[self._shown(n, v) for n, v in zip(self.names, r, strict=True)] for r in self.rows]

    def _numeric(self) -> list[bool]:
        """Which columns are set flush right: those without a text in them."""
        return [
            not any(isinstance(row[i], str) for row in self.rows) for i in range(len(self.names))
        ]

    def to_text(self, indent: str = "") -> str:
        """Aligned columns, numbers flush right, one line a row, no trailing blanks.

        Where text is made for a screen (`screen.fitted`) that is too narrow: a value or a last
        label that all rows share is said once above them, the begin that rows share once above
        those, then columns go (of `LEAST` in that order, then the last ones) and words are cut,
        until the table fits.
        """
        columns = self._columns()
        lines: list[str] = []
        groups: list[str] = []
        now = screen()
        if now is not None and _total(columns) > now.columns - len(indent):
            room = now.columns - len(indent)
            columns, shared = _without_shared(columns, len(self.rows))
            if len(self.rows) >= 3 and _total(columns) > room:
                columns[0], ends = _without_end(columns[0])
                shared += ends
            which = "all rows" if len(self.rows) > 1 else "the row"
            lines += [f"{indent}{which}: {', '.join(shared)}"] if shared else []
            columns, groups = _grouped(columns, room)
            columns = _fitting(columns, now, room - (2 if groups else 0))
        before = ""
        for at, line in enumerate(zip(*(column.padded() for column in columns), strict=True)):
            if groups and groups[at] != before:
                before = groups[at]
                lines.append(indent + clip(before, max(8, room)))
            head, *further = line[-1].split("\n")
            before_it = "  ".join(line[:-1]) + ("  " if line[:-1] else "")
            room_before = " " * width_of(before_it)
            start = indent + ("  " if groups else "")
            lines.append((start + before_it + head).rstrip())
            lines += [(start + room_before + part).rstrip() for part in further]
        return "\n".join(lines)

    def _columns(self) -> list[_Column]:
        cells = self._cells()
        return [
            _Column(name, [self._heading(name), *(row[i] for row in cells)], right)
            for i, (name, right) in enumerate(zip(self.names, self._numeric(), strict=True))
        ]

    def to_html(self, caption: str = "") -> str:
        """A plain, escaped table in the page's own colours, light or dark."""
        right = self._numeric()
        out = ['<table style="border-collapse:collapse">']
        if caption:
            out.append(f"<caption>{html.escape(clean(caption))}</caption>")
        style = ['style="text-align:right"' if r else 'style="text-align:left"' for r in right]
        heads = [html.escape(self._heading(name)) for name in self.names]
        out.append(
            "<thead><tr>"
            + "".join(f'<th scope="col" {s}>{h}</th>' for s, h in zip(style, heads, strict=True))
            + "</tr></thead><tbody>"
        )
        for row in self._cells():
            cells = zip(style, row, strict=True)
            out.append(
                "<tr>" + "".join(f"<td {s}>{html.escape(c)}</td>" for s, c in cells) + "</tr>"
            )
        out.append("</tbody></table>")
        return "".join(out)

    def to_md(self) -> str:
        """A Markdown table, its columns aligned in the source too."""
        cells = [[cell.replace("|", "\\|") for cell in row] for row in self._cells()]
        heads = [self._heading(name).replace("|", "\\|") for name in self.names]
        right = self._numeric()
        widths = [max(3, *map(width_of, column)) for column in zip(heads, *cells, strict=True)]
        rule = ["-" * (w - 1) + ":" if r else "-" * w for w, r in zip(widths, right, strict=True)]
        lines = []
        for line in [heads, rule, *cells]:
            parts = [_pad(c, w, r) for c, w, r in zip(line, widths, right, strict=True)]
            lines.append("| " + " | ".join(parts) + " |")
        return "\n".join(lines)

    def to_rst(self) -> str:
        """An RST grid table (a cell may hold anything, unlike in a simple table)."""
        cells = [[_rst(cell) for cell in row] for row in self._cells()]
        heads = [_rst(self._heading(name)) for name in self.names]
        right = self._numeric()
        widths = [max(1, *map(width_of, column)) for column in zip(heads, *cells, strict=True)]

        def rule(mark: str) -> str:
            return "+" + "+".join(mark * (w + 2) for w in widths) + "+"

        lines = [rule("-")]
        for i, line in enumerate([heads, *cells]):
            parts = [_pad(c, w, r) for c, w, r in zip(line, widths, right, strict=True)]
            lines.append("| " + " | ".join(parts) + " |")
            lines.append(rule("=" if i == 0 else "-"))
        return "\n".join(lines)

    def to_csv(self) -> str:
        """CSV as RFC 4180 has it, but with LF; a missing value is an empty field.

        Floats are written with all their digits. Control characters are escaped as in text; a
        text that a spreadsheet would run as a formula begins with an apostrophe.
        """
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow([clean(name) for name in self.names])
        for row in self.rows:
            writer.writerow([_csv_cell(value) for value in row])
        return out.getvalue()

    def to_records(self) -> list[dict[str, Any]]:
        """One dict a row, fit for JSON: wide integers as strings, no NaN."""
        return [
            {n: _json_cell(v, n in self.wide) for n, v in zip(self.names, row, strict=True)}
            for row in self.rows
        ]


def page_of(head: Iterable[str], grid: Grid, tail: Iterable[str] = ()) -> str:
    """HTML of a table between lines of text, for a notebook: a paragraph a line."""

    def paragraphs(lines: Iterable[str]) -> str:
        return "".join(f"<p>{html.escape(clean(line.strip()))}</p>" for line in lines if line)

    return paragraphs(head) + (grid.to_html() if len(grid) else "") + paragraphs(tail)


#: Columns that a table can do without, the least important first, by name or heading.
LEAST = (
    "least p", "least_p", "level", "visible from", "visible_from", "p", "why", "method", "lines",
    "bytes", "form", "source", "last_line", "first_offset", "first_line", "line", "offset", "suite",
    "channel", "chain", "built", "ready_low", "ready_high", "unknown", "flagged", "unclaimed",
    "mean", "min", "p90", "max", "cpu", "operation",
)  # fmt: skip

#: Columns that no other column pushes out.
MOST = ("median", "change", "old", "new", "verdict", "interval", "n", "metric", "hop", "key")

#: A begin is shared if at most this share of the rows have another than the row before.
MANY = 0.6
#: The same of a first word, without which the words behind it would be cut.
MOST_RUNS = 0.85

#: Words are cut down to so many columns before further columns go.
SHORTEST = 16


@dataclass
class _Column:
    """A column as text: its heading first, then its cells."""

    name: str
    cells: list[str]
    right: bool

    @property
    def width(self) -> int:
        return max(width_of(line) for cell in self.cells for line in cell.split("\n"))

    def padded(self) -> list[str]:
        width = self.width
        return [_pad(cell, width, self.right) for cell in self.cells]

    def wrapped(self, width: int) -> _Column:
        """Each cell on as many lines as it needs; a word that is too long is cut."""
        return replace(self, cells=[_lines(cell, width) for cell in self.cells])

    def clipped(self, width: int) -> _Column:
        return replace(self, cells=[clip(cell, max(8, width)) for cell in self.cells])


def _total(columns: Sequence[_Column]) -> int:
    return sum(column.width for column in columns) + 2 * max(0, len(columns) - 1)


def _without_shared(columns: list[_Column], rows: int) -> tuple[list[_Column], list[str]]:
    """The columns that tell rows apart, and the shared values of the others."""
    kept, shared = [], []
    for at, column in enumerate(columns):
        few = rows < 3 and (at == 0 or column.right or column.width <= SHORTEST)
        if few or len(set(column.cells[1:])) > 1:
            kept.append(column)
        elif column.cells[1] != "-":
            shared.append(f"{column.cells[0]} {column.cells[1]}")
    return (kept, shared) if kept else (columns, [])


def _without_end(column: _Column) -> tuple[_Column, list[str]]:
    """A column of text without the last label, NAME=VALUE, that all its cells share."""
    parts = [cell.rpartition(" ") for cell in column.cells[1:]]
    ends = {end for _, _, end in parts}
    if column.right or len(ends) > 1 or not all(head and "=" in end for head, _, end in parts):
        return column, []
    cells = [column.cells[0], *(head for head, _, _ in parts)]
    return replace(column, cells=cells), [f"{column.cells[0]} {parts[0][2]}"]


def _grouped(columns: list[_Column], room: int) -> tuple[list[_Column], list[str]]:
    """Columns without the begin that rows in a row share, and that begin for each row.

    The begin is the first columns of text, then the first word of the next one. The first entry,
    of the heading, is the headings of the columns taken.
    """
    groups: list[str] = []
    while len(columns) > 2 and _total(columns) > room and not columns[0].right:
        first = columns[0]
        rest: list[str] | None = None
        found = [f"{g}  {c}".strip() for g, c in zip(groups or [""] * len(first.cells), first.cells,
                                                       strict=True)]  # fmt: skip
        if _runs(found) > MANY and not groups:
            parts = [cell.partition(" ") for cell in first.cells[1:]]
            found = ["", *(head for head, _, _ in parts)]
            rest = [first.cells[0], *(tail for _, _, tail in parts)]
        if _runs(found) > (MANY if rest is None else MOST_RUNS) or (
            rest is not None and not any(rest[1:])
        ):
            break
        groups = found
        columns = columns[1:] if rest is None else [replace(first, cells=rest), *columns[1:]]
        if rest is not None:
            break
    return columns, groups


def _runs(cells: Sequence[str]) -> float:
    """The share of rows that begin with something else than the row before them."""
    rows = cells[1:]
    return sum(a != b for a, b in zip(rows, ["\0", *rows], strict=False)) / max(1, len(rows))


def _fitting(columns: list[_Column], on: Screen, room: int) -> list[_Column]:
    """Columns that fit; the screen is told the others."""
    for name in LEAST:
        if _total(columns) <= room:
            return columns
        named = [c for c in columns if name in (c.name, c.cells[0])]
        columns = _leave_out(columns, on, named)
    while _total(columns) > room:
        widest = max((c for c in columns if not c.right), key=lambda c: c.width, default=None)
        if widest is not None and widest.width > SHORTEST:
            width = max(SHORTEST, widest.width - (_total(columns) - room))
            last = widest is columns[-1] and any(" " in cell for cell in widest.cells[1:])
            fit = widest.wrapped(width) if last else widest.clipped(width)
            columns = [fit if c is widest else c for c in columns]
        elif len(columns) > 1:
            less = [c for c in columns[1:] if c.name not in MOST] or columns[1:]
            columns = _leave_out(columns, on, less[-1:])
        else:
            return columns
    return columns


def _leave_out(columns: list[_Column], on: Screen, named: list[_Column]) -> list[_Column]:
    kept = [c for c in columns if not any(c is one for one in named)] or columns[:1]
    for column in columns:
        if not any(column is one for one in kept):
            on.leave_out(column.cells[0] or column.name)
    return kept


def _lines(text: str, width: int) -> str:
    """The text broken at blanks."""
    parts = textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False) or [""]
    return "\n".join(clip(part, max(8, width)) for part in parts)


def _pad(text: str, width: int, right: bool) -> str:
    blanks = " " * (width - width_of(text))
    return blanks + text if right else text + blanks


def _rst(text: str) -> str:
    """Escape characters that RST would take as markup inside a cell."""
    return "".join("\\" + c if c in "\\*`|_" else c for c in text)


#: Text that a spreadsheet takes for the begin of a formula, and plain numbers among it.
_FORMULA = ("=", "+", "-", "@")
_NUMBER = re.compile(r"[+-]?(?:[0-9][0-9.,]*(?:[eE][+-]?[0-9]+)?)?(?: ?%)?")


def _csv_cell(value: Any) -> Any:
    """A field; a text from a log that a spreadsheet would run gets an apostrophe in front."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, str):
        text = clean(value)
        return f"'{text}" if text[:1] in _FORMULA and not _NUMBER.fullmatch(text) else text
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Decimal):
        return f"{value:f}"
    return repr(value) if isinstance(value, float) else value


def _json_cell(value: Any, wide: bool) -> Any:
    if isinstance(value, Decimal):  # up to 15 digits a double gives the same digits back
        return float(value) if len(value.as_tuple().digits) <= 15 else f"{value:f}"
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if wide and isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value

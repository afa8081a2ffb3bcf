"""Tables for people and for files: aligned text, HTML, Markdown, RST, CSV, JSON records.

Whatever a log contains, what leaves here is safe to show: control bytes are written as
``\\x1b``, over-long words are cut (in text and HTML), and HTML is escaped.
"""

from __future__ import annotations

import csv
import html
import io
import math
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from ..util.text import clean, clip, number

__all__ = ["Grid"]


class Grid:
    """Cells in rows and named columns, ready to be shown or written.

    Parameters
    ----------
    names : sequence of str
        Names of the columns, as they stand in JSON and CSV.
    rows : iterable of sequences
        Cells: str, int, float, bool, or None for a missing value.
    headings : mapping, optional
        What a person reads above a column instead of its name, for example with the unit.
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
        """Aligned columns, numbers flush right, one line a row, no trailing blanks."""
        cells = self._cells()
        right = self._numeric()
        heads = [self._heading(name) for name in self.names]
        widths = [max(map(_width, column)) for column in zip(heads, *cells, strict=True)]
        lines = []
        for line in [heads, *cells]:
            parts = [
                _pad(cell, width, at_right)
                for cell, width, at_right in zip(line, widths, right, strict=True)
            ]
            lines.append((indent + "  ".join(parts)).rstrip())
        return "\n".join(lines)

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
        widths = [max(3, *map(_width, column)) for column in zip(heads, *cells, strict=True)]
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
        widths = [max(1, *map(_width, column)) for column in zip(heads, *cells, strict=True)]

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


def _width(text: str) -> int:
    """Columns of a terminal that the text takes."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )


def _pad(text: str, width: int, right: bool) -> str:
    blanks = " " * (width - _width(text))
    return blanks + text if right else text + blanks


def _rst(text: str) -> str:
    """Escape what RST would take as markup inside a cell."""
    return "".join("\\" + c if c in "\\*`|_" else c for c in text)


#: What a spreadsheet takes for the begin of a formula, and what of that is only a number.
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
    if isinstance(value, Decimal):  # up to 15 digits a double gives back what was written
        return float(value) if len(value.as_tuple().digits) <= 15 else f"{value:f}"
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if wide and isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value

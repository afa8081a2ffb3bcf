"""The page of a report: its parts, and how it becomes one self-contained HTML file.

The page knows nothing of comparisons: it is text, tables and figures. Everything that goes into
it is escaped by jinja2; the only markup taken as it is are the figures, which matplotlib draws.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import resources
from typing import Any

from ..util.optional import need
from ..util.text import clean
from ..util.versions import version


@dataclass(frozen=True)
class Cell:
    """A table cell: its text, a class ("number", "text" or a verdict) and an anchor it leads to."""

    text: str
    kind: str = "text"
    href: str = ""


@dataclass(frozen=True)
class Table:
    """A table with a caption, its headings and its cells."""

    heads: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    caption: str = ""

    def kind(self, column: int) -> str:
        """How the heading of a column is set: as its first cell, but never as a verdict."""
        first = self.rows[0][column].kind if self.rows else "text"
        return first if first == "number" else "text"


@dataclass(frozen=True)
class Picture:
    """A figure as inline SVG with its caption."""

    svg: Any
    caption: str


@dataclass(frozen=True)
class Part:
    """A fold-out below a section."""

    anchor: str
    title: str
    text: Sequence[str] = ()
    tables: Sequence[Table] = ()
    open: bool = False


@dataclass(frozen=True)
class Chapter:
    """A section of the page; `anchor` is its id, unique in the page."""

    anchor: str
    title: str
    text: Sequence[str] = ()
    figures: Sequence[Picture] = ()
    tables: Sequence[Table] = ()
    parts: Sequence[Part] = field(default=())


def number(text: str, href: str = "") -> Cell:
    """A right-aligned cell."""
    return Cell(text, "number", href)


def picture(svg: str, caption: str) -> Picture:
    """An SVG element made here, with the elements below it."""
    return Picture(need("markupsafe", "report").Markup(svg), caption)


def render(title: str, lead: Sequence[str], chapters: Sequence[Chapter]) -> str:
    """The whole page as HTML.

    Raises
    ------
    MissingExtra
        Where jinja2 is missing; the text says which extra brings it.
    """
    jinja2: Any = need("jinja2", "report")
    from markupsafe import Markup

    folder = resources.files(__package__)
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    environment.finalize = _finalize
    table = environment.from_string(folder.joinpath("table.html").read_text("utf-8"))
    page = environment.from_string(folder.joinpath("page.html").read_text("utf-8"))
    html: str = page.render(
        title=title,
        lead=lead,
        sections=chapters,
        version=version(),
        css=Markup(folder.joinpath("page.css").read_text("utf-8")),
        table_block=lambda t: Markup(table.render(table=t)),
    )
    return html


def _finalize(value: Any) -> Any:
    """Control bytes never reach the page raw; markup made here passes."""
    from markupsafe import Markup

    return clean(value) if type(value) is str and not isinstance(value, Markup) else value

"""The answer of a verb or a result object, in a form that every ``--format`` can be made from."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..util.text import clean
from .grid import Grid

__all__ = ["SCHEMA", "SCHEMA_VERSION", "Answer", "Section"]

#: Name and version of the JSON document; the version counts changes that can break a reader.
SCHEMA, SCHEMA_VERSION = "tickgauge", 1


@dataclass
class Section:
    """A part of the answer as text: a heading, a table or plain lines below it."""

    title: str = ""
    grid: Grid | None = None
    lines: Sequence[str] = ()

    def text(self) -> str:
        """The section without a line end behind it."""
        parts = [clean(self.title)] if self.title else []
        indent = "  " if self.title else ""
        if self.grid is not None:
            parts.append(self.grid.to_text(indent))
        parts.extend(indent + clean(line) for line in self.lines)
        return "\n".join(parts)


@dataclass
class Answer:
    """The answer of a verb, in a form that every ``--format`` can be made from.

    Parameters
    ----------
    command : str
        The verb.
    rows : Grid
        The table of the answer: the rows of JSON, and all there is in CSV, Markdown and RST.
    sections : sequence of Section
        The text for a person in place of `rows`; `rows` alone if empty.
    sources : sequence of dict
        ``{"digest": ..., "format": ..., "boots": ...}`` each.
    problems : sequence of dict
        Lines that could not be read, with source, line, offset, reason.
    notes : sequence of str
        Sentences: below the table in text, Markdown and RST.
    unit, margin
        Unit of the statistics ("boot") and margin in use, where the verb has them.
    extra : mapping
        Members of the verb's own in the JSON document.
    """

    command: str
    rows: Grid
    sections: Sequence[Section] = ()
    sources: Sequence[Mapping[str, Any]] = ()
    problems: Sequence[Mapping[str, Any]] = ()
    notes: Sequence[str] = ()
    unit: str | None = None
    margin: Any = None
    extra: Mapping[str, Any] = field(default_factory=dict)

    def to_text(self) -> str:
        """For a person."""
        sections = list(self.sections) or [Section(grid=self.rows)]
        parts = [section.text() for section in sections]
        if self.notes:
            parts.append("\n".join(clean(note) for note in self.notes))
        return "\n\n".join(part for part in parts if part) + "\n"

    def to_json(self) -> str:
        """One document that begins with the schema's name and version."""
        document = {
            "schema": SCHEMA,
            "version": SCHEMA_VERSION,
            "command": self.command,
            "unit": self.unit,
            "margin": self.margin,
            "sources": [_plain(source) for source in self.sources],
            "rows": self.rows.to_records(),
            "problems": [dict(problem) for problem in self.problems],
            "notes": list(self.notes),
            **self.extra,
        }
        return json.dumps(document, indent=1, ensure_ascii=True, allow_nan=False) + "\n"

    def to_csv(self) -> str:
        """The rows as CSV; notes go to standard error."""
        return self.rows.to_csv()

    def to_md(self) -> str:
        """The rows as a Markdown table, notes below."""
        return "\n\n".join([self.rows.to_md(), *map(clean, self.notes)]) + "\n"

    def to_rst(self) -> str:
        """The rows as an RST grid table, notes below."""
        return "\n\n".join([self.rows.to_rst(), *map(clean, self.notes)]) + "\n"

    def render(self, form: str) -> str:
        """The answer in one of `FORMATS`."""
        made: str = getattr(self, f"to_{form}")()
        return made


def _plain(source: Mapping[str, Any]) -> dict[str, Any]:
    """A source fit for JSON; its digest may be worked out only here."""
    return {name: str(value) if name == "digest" else value for name, value in source.items()}

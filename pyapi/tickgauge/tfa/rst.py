"""Tables of a reStructuredText page, through docutils, with the text around them."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ..errors import Error

__all__ = ["RawTable", "page_tables"]


_CSV_OPTIONS = (
    "header", "header-rows", "stub-columns", "width", "widths", "file", "url", "delim", "quote",
    "keepspace", "escape", "encoding", "class", "name", "align",
)  # fmt: skip


@dataclass
class RawTable:
    """One table as text: caption, the titles above it, rows of cells, first source line.

    ``file`` is the argument of a ``csv-table`` that takes its rows from a file; ``spanning`` are
    cells that span the whole width (captions inside the grid).
    """

    caption: str
    sections: tuple[str, ...]
    rows: list[list[str]]
    lines: list[int]
    line: int
    file: str = ""
    spanning: list[str] = field(default_factory=list)


def _docutils() -> tuple[Any, Any, Any]:
    try:
        from docutils import core, nodes
        from docutils.parsers.rst import directives
    except ImportError as error:
        raise Error("reading RST pages needs docutils: pip install tickgauge[rst]") from error
    return core, nodes, directives


@contextlib.contextmanager
def _csv_tables_kept(nodes: Any, directives: Any) -> Iterator[None]:
    """While active a ``csv-table`` becomes a node with its caption, header and file name.

    docutils would open the file itself, and would do so for any path a page names.
    """
    from docutils.parsers.rst import Directive

    class Kept(Directive):  # type: ignore[misc]
        optional_arguments = 1
        final_argument_whitespace = True
        has_content = True
        option_spec = dict.fromkeys(_CSV_OPTIONS, directives.unchanged)

        def run(self) -> list[Any]:
            node = nodes.comment("", "\n".join(self.content))
            node["tickgauge-csv"] = True
            node["caption"] = self.arguments[0] if self.arguments else ""
            node["header"] = self.options.get("header", "")
            node["file"] = self.options.get("file", "")
            node.line = self.lineno
            return [node]

    missing = object()
    before = directives._directives.get("csv-table", missing)
    directives.register_directive("csv-table", Kept)
    try:
        yield
    finally:
        if before is missing:
            del directives._directives["csv-table"]
        else:
            directives._directives["csv-table"] = before


def _sections(node: Any, nodes: Any) -> tuple[str, ...]:
    titles: list[str] = []
    parent = node.parent
    while parent is not None:
        if isinstance(parent, nodes.section | nodes.document):
            titles.extend(
                child.astext() for child in parent.children if isinstance(child, nodes.title)
            )
        parent = parent.parent
    return tuple(titles)


def _line(node: Any, fallback: int) -> int:
    for item in (node, *node.findall()):
        line = getattr(item, "line", None)
        if line:
            return int(line)
    return fallback


def _grid(table: Any, nodes: Any) -> RawTable:
    caption = " ".join(c.astext() for c in table.children if isinstance(c, nodes.title))
    first = _line(table, 0)
    raw = RawTable(" ".join(caption.split()), _sections(table, nodes), [], [], first)
    for group in table.findall(nodes.tgroup):
        width = len([c for c in group.children if isinstance(c, nodes.colspec)])
        for row in group.findall(nodes.row):
            entries = [e for e in row.children if isinstance(e, nodes.entry)]
            texts = [" ".join(e.astext().split()) for e in entries]
            if len(entries) == 1 and width > 1:
                raw.spanning.append(texts[0])
                continue
            raw.rows.append(texts)
            raw.lines.append(_line(row, first))
    return raw


def page_tables(text: str, path: str) -> tuple[list[RawTable], str]:
    """The tables of a page in order, and the page's plain text.

    Nothing outside `text` is read: file inclusion and raw parts are off, and a ``csv-table`` with
    a file comes back as an empty table with ``file`` set.

    Raises
    ------
    Error
        Where docutils is not installed.
    """
    core, nodes, directives = _docutils()
    settings = {
        "report_level": 5,
        "halt_level": 5,
        "file_insertion_enabled": False,
        "raw_enabled": False,
        "syntax_highlight": "none",
        "warning_stream": io.StringIO(),
        "line_length_limit": 10**6,
        "_disable_config": True,
        "input_encoding": "unicode",
    }
    with _csv_tables_kept(nodes, directives):
        tree = core.publish_doctree(text, source_path=path, settings_overrides=settings)
    tables: list[RawTable] = []
    for node in tree.findall():
        if isinstance(node, nodes.table):
            tables.append(_grid(node, nodes))
        elif isinstance(node, nodes.comment) and node.get("tickgauge-csv"):
            kept = RawTable(
                " ".join(node["caption"].replace("``", "").split()),
                _sections(node, nodes),
                [[h.strip() for h in node["header"].split(",")]] if node["header"] else [],
                [node.line or 0] if node["header"] else [],
                node.line or 0,
                node["file"],
            )
            for k, line in enumerate(node.astext().splitlines()):
                if line.strip():
                    kept.rows.append([c.strip().strip('"') for c in line.split(",")])
                    kept.lines.append((node.line or 0) + k)
            tables.append(kept)
    return tables, tree.astext()

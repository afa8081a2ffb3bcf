"""What the verbs share: options, the answer and how it is written, exit status, errors."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..display import Grid, clean
from ..errors import Error, NotComparableError, NotEnoughData
from ..files import write_whole

__all__ = [
    "BAD",
    "DONE",
    "INTERRUPTED",
    "NOTHING",
    "USAGE",
    "Answer",
    "Section",
    "add_verb",
    "emit",
    "guarded",
    "say",
    "worst",
]

DONE, BAD, USAGE, NOTHING, INTERRUPTED = 0, 1, 2, 3, 130

#: Name and version of the JSON document; the version counts changes that can break a reader.
SCHEMA, SCHEMA_VERSION = "tickgauge", 1

FORMATS = ("text", "json", "csv", "md", "rst")


def worst(*codes: int) -> int:
    """The exit status of several parts: 2 before 1 before 3 before 0."""
    return next((code for code in (USAGE, BAD, NOTHING) if code in codes), DONE)


def say(message: str) -> None:
    """Diagnostics on standard error; control bytes are escaped."""
    lines = [clean(line) for line in message.split("\n")]
    sys.stderr.write("tickgauge: " + "\n".join(lines) + "\n")


# ---- options ----------------------------------------------------------------------------------


def add_verb(
    subparsers: Any,
    name: str,
    run: Callable[[argparse.Namespace], int],
    description: str,
    *,
    output: bool = True,
) -> argparse.ArgumentParser:
    """A verb's parser with the options that all verbs have.

    Parameters
    ----------
    subparsers
        As given to the verb's ``add``.
    name : str
    run : callable
        Takes the parsed arguments, gives the exit status.
    description : str
        What it answers; the first sentence stands in ``tickgauge --help``.
    output : bool
        Whether ``--format`` and ``-o`` make sense for it.
    """
    parser: argparse.ArgumentParser = subparsers.add_parser(
        name, help=description.split(". ", maxsplit=1)[0].rstrip("."), description=description
    )
    if output:
        group = parser.add_argument_group("output")
        group.add_argument(
            "--format", choices=FORMATS, default="text", help="form of the answer (default: text)"
        )
        group.add_argument(
            "-o", "--output", metavar="FILE", help="write there instead of standard output"
        )
    parser.add_argument(
        "--debug", action="store_true", help="show where in the program an error came from"
    )
    parser.set_defaults(run=run)
    return parser


# ---- the answer -------------------------------------------------------------------------------


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
    """What a verb has found out, in a form that every ``--format`` can be made from.

    Parameters
    ----------
    command : str
        The verb.
    rows : Grid
        The table of the answer: the rows of JSON, and all there is in CSV, Markdown and RST.
    sections : sequence of Section
        What a person reads instead of `rows`; `rows` alone if empty.
    sources : sequence of dict
        ``{"digest": ..., "format": ..., "boots": ...}`` each.
    problems : sequence of dict
        What could not be read, with source, line, offset, reason.
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
            "sources": [dict(source) for source in self.sources],
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


def emit(args: argparse.Namespace, answer: Answer | str) -> None:
    """Write the answer where ``--format`` and ``-o`` say.

    A file is written beside its place and moved there when it is whole. A reader that closed
    the pipe is no error: the rest is dropped.
    """
    if isinstance(answer, str):
        text = answer
    else:
        text = answer.render(args.format)
        if args.format == "csv":
            for note in answer.notes:
                say(note)
    target = getattr(args, "output", None)
    if target not in (None, "-"):
        write_whole(target, text.encode("utf-8", "replace"))
        return
    out = sys.stdout.buffer if hasattr(sys.stdout, "buffer") else None
    try:
        if out is None:
            sys.stdout.write(text)
        else:
            sys.stdout.flush()
            out.write(text.encode("utf-8", "replace"))
            out.flush()
    except BrokenPipeError:
        drop_stdout()


def drop_stdout() -> None:
    """Point standard output at nothing, so that the interpreter's last flush cannot fail."""
    with contextlib.suppress(OSError, ValueError):
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, sys.stdout.fileno())
        os.close(nothing)


# ---- errors -----------------------------------------------------------------------------------


def guarded(args: argparse.Namespace) -> int:
    """Run the chosen verb; every failure becomes one line and an exit status."""
    try:
        code: int = args.run(args)
        sys.stdout.flush()  # a closed pipe shows here, not in the interpreter's last flush
        return code
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        drop_stdout()
        return DONE
    except (NotEnoughData, NotComparableError) as error:
        return _failed(args, str(error), NOTHING)
    except Error as error:
        return _failed(args, str(error), USAGE)
    except OSError as error:
        what = error.strerror or str(error)
        named = error.filename if error.filename is not None else None
        return _failed(args, f"{named}: {what}" if named is not None else what, USAGE)
    except MemoryError:
        return _failed(args, "out of memory", USAGE)
    except Exception as error:
        kind = type(error).__name__
        return _failed(args, f"{kind}: {error} (--debug shows where)", USAGE)


def _failed(args: argparse.Namespace, message: str, code: int) -> int:
    if getattr(args, "debug", False):
        traceback.print_exc()
    else:
        say(message)
    return code

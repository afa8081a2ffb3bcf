"""The width that text is made for: tables fit it, prose is wrapped, and columns left out are said.

Without a screen, as in a file or a pipe, text has all its columns and its lines any length.
"""

from __future__ import annotations

import contextlib
import re
import textwrap
from collections.abc import Iterator
from contextvars import ContextVar

from ..util.text import width_of

__all__ = ["Screen", "fitted", "screen"]

#: No table is made narrower than this.
NARROWEST = 40

#: Sequences that colour a word, and take no column.
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


class Screen:
    """A screen of so many columns, and the columns of tables that it had no room for.

    Parameters
    ----------
    columns : int
    """

    def __init__(self, columns: int) -> None:
        self.columns = max(columns, NARROWEST)
        self.left_out: dict[str, None] = {}

    def leave_out(self, heading: str) -> None:
        """Note a column that is not shown."""
        self.left_out[heading] = None

    def finish(self, text: str) -> str:
        """The text with long lines of prose wrapped, and a last line on the columns left out."""
        lines = [part for line in text.split("\n") for part in self._wrapped(line)]
        if self.left_out:
            said = f"no room at {self.columns} columns for: {', '.join(self.left_out)} (--wide)"
            while lines and not lines[-1]:
                lines.pop()
            lines += [*self._wrapped(said), ""]
            self.left_out = {}
        return "\n".join(lines)

    def _wrapped(self, line: str) -> list[str]:
        if width_of(_COLOUR.sub("", line)) <= self.columns:
            return [line]
        indent = line[: len(line) - len(line.lstrip())]
        return textwrap.wrap(
            line, self.columns, subsequent_indent=indent + "  ", drop_whitespace=True,
            break_on_hyphens=False,
        ) or [""]  # fmt: skip


_current: ContextVar[Screen | None] = ContextVar("screen", default=None)


def screen() -> Screen | None:
    """The screen that text is made for just now; None: for a file or a pipe."""
    return _current.get()


@contextlib.contextmanager
def fitted(columns: int | None) -> Iterator[Screen | None]:
    """While active, text is made for a screen of so many columns; None: for none."""
    made = None if columns is None else Screen(columns)
    token = _current.set(made)
    try:
        yield made
    finally:
        _current.reset(token)

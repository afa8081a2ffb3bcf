"""Exceptions: the core's status codes in Python.

``OSError`` and ``MemoryError`` stay as they are, and a wrong argument is a plain ``ValueError``.
"""

from __future__ import annotations

import enum
from typing import Any

__all__ = [
    "Error",
    "InputError",
    "LimitError",
    "MissingExtra",
    "NotComparableError",
    "NotEnoughData",
    "RuleError",
    "Status",
    "UnknownName",
]


class Status(enum.IntEnum):
    """Status codes of the core, with the numbers of ``tickgauge/status.h``."""

    OK = 0
    ENOMEM = 1
    EINVAL = 2
    EOVERFLOW = 3
    ESYNTAX = 4
    ELIMIT = 5
    ERANGE = 6
    ENOTFOUND = 7
    EAMBIGUOUS = 8
    ETRUNCATED = 9
    ECONFLICT = 10
    ENOTCOMPARABLE = 11
    ENODATA = 12
    EINTERRUPTED = 13
    EUNSUPPORTED = 14


class Error(Exception):
    """Base class of everything tickgauge raises by itself.

    Parameters
    ----------
    message : str
        The fault, its place, and the expected text.
    path : str, optional
        The source concerned, as the user named it.
    line : int, optional
        1-based line in that source.
    offset : int, optional
        Byte offset in that source, or the 0-based column in a rule's template.
    status : Status or int, optional
        Code of the core.

    Attributes
    ----------
    message, path, line, offset, status
        As given; `status` is a `Status`.
    """

    default_status = Status.EINVAL

    def __init__(
        self,
        message: str = "",
        *,
        path: str | None = None,
        line: int | None = None,
        offset: int | None = None,
        status: Status | int | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.path = path
        self.line = line
        self.offset = offset
        self.status = self.default_status if status is None else Status(status)

    def __str__(self) -> str:
        where = []
        if self.path is not None:
            where.append(self.path)
        if self.line is not None:
            where.append(f"line {self.line}")
        return f"{', '.join(where)}: {self.message}" if where else self.message

    def __reduce__(self) -> tuple[Any, ...]:
        """Survive pickling with all attributes (worker processes hand errors back)."""
        state = {
            "path": self.path,
            "line": self.line,
            "offset": self.offset,
            "status": self.status,
        }
        return (_rebuild, (type(self), self.message, state))


def _rebuild(cls: type[Error], message: str, state: dict[str, Any]) -> Error:
    """Make an exception again from the arguments that `Error.__reduce__` kept."""
    return cls(message, **state)


class InputError(Error, ValueError):
    """The input is not of a form that can be read, or it contradicts itself."""

    default_status = Status.ESYNTAX


class RuleError(Error, ValueError):
    """A rule or its template is wrong; `offset` is the 0-based column in the template."""

    default_status = Status.ESYNTAX


class LimitError(Error):
    """A limit that was set, or its default, was reached."""

    default_status = Status.ELIMIT


class NotComparableError(Error, ValueError):
    """Two sides differ in unit, clock, platform or build type."""

    default_status = Status.ENOTCOMPARABLE


class NotEnoughData(Error):
    """There are too few values for the question."""

    default_status = Status.ENODATA


class UnknownName(Error, KeyError):
    """No column, key or verb has that name; the message lists those that exist."""

    default_status = Status.ENOTFOUND


class MissingExtra(Error, ImportError):
    """An optional library is not installed; the message says which extra brings it."""

    default_status = Status.EUNSUPPORTED

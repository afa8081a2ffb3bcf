"""How a form of sources describes itself: how well it fits, which files belong together."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import IO, NamedTuple

__all__ = ["Bundle", "Bundles", "Match", "Revisions"]


class Match(NamedTuple):
    """How well a form fits: 0 (not at all) to 100 (certain), and the evidence for it."""

    score: int
    evidence: str


class Bundle(NamedTuple):
    """Files of one folder that are a single source.

    Attributes
    ----------
    folder : Path
        Names the source.
    files : frozenset of Path
        The files that are no sources of their own.
    open : callable
        Gives the bytes of all files as one binary file object.
    """

    folder: Path
    files: frozenset[Path]
    open: Callable[[], IO[bytes]]


#: Finds the bundles at and below a folder.
Bundles = Callable[[Path], Iterable[Bundle]]

#: A function that opens a path of a checkout at revisions of its history, or None.
Revisions = Callable[[Path, str], Callable[[], IO[bytes]] | None]

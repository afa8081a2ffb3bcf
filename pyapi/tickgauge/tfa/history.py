"""Release tables out of the history of a checkout: ``docs/perf@v2.10..v2.15``.

Each release of the range is read as its tag has it, without touching the work tree, and becomes
rows of the long CSV. Tables that several releases reprint are one data set, as everywhere.
"""

from __future__ import annotations

import csv
import io
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, NamedTuple

from ..boards.platforms import load
from ..errors import InputError
from .model import Release
from .pages import SUSPICIOUS, Place, is_member, is_published, read_text

__all__ = ["revisions"]

_COLUMNS = (
    "commit", "date", "platform", "release_label", "test", "row", "cluster", "core", "metric",
    "value_ns", "printed_delta_pct",
)  # fmt: skip

#: A tag of a release, and none of its candidates.
_RELEASE = re.compile(r"v?[0-9]+(\.[0-9]+)+")


class _File(NamedTuple):
    """A file at a revision; the name is relative to the folder that was asked for."""

    name: PurePosixPath
    blob: str


def revisions(path: Path, words: str) -> Callable[[], IO[bytes]] | None:
    """A function that opens the tables in and below `path` at the revisions that `words` names.

    Parameters
    ----------
    path
        A file or a folder in the work tree of a git repository.
    words
        A revision (``v2.15``), or two with ``..`` between them: both ends and the releases tagged
        between them; without tags, the commits that changed `path`.

    Returns
    -------
    callable or None
        None where `path` is not in a repository, or it has no such revision.

    Raises
    ------
    InputError
        A range of which an end is no revision.
    """
    folder = path if path.is_dir() else path.parent
    first, dots, last = words.partition("..")
    ends = [first, last] if dots else [first]
    if _git(folder, "rev-parse", "--is-inside-work-tree") is None:
        return None
    for end in ends:
        if not end or _commit(folder, end) is None:
            if not dots:
                return None
            raise InputError(f"no revision {end!r} in this repository", path=os.fspath(path))
    return partial(_open, path, tuple(ends))


def _git(folder: Path, *arguments: str) -> bytes | None:
    """The output of git, None where it fails or is not there."""
    command = ["git", "-C", os.fspath(folder), *arguments]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    except FileNotFoundError:
        return None
    return done.stdout if done.returncode == 0 else None


def _commit(folder: Path, revision: str) -> str | None:
    said = _git(
        folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"
    )
    return said.decode().strip() if said else None


def _open(path: Path, ends: tuple[str, ...]) -> IO[bytes]:
    """The long CSV of all releases."""
    folder, below = (path, ".") if path.is_dir() else (path.parent, path.name)
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(_COLUMNS)
    count = 0
    for revision in _between(folder, below, *ends):
        about = _git(folder, "log", "-1", "--format=%h %cs", "--end-of-options", revision)
        commit, date = (about or b"unknown unknown").decode().split()
        for release in _releases(folder, below, revision):
            for row in _rows_of(release):
                rows.writerow((commit, date, *row))
                count += 1
    if not count:
        text = f"no release table at {'..'.join(ends)}"
        raise InputError(text, path=os.fspath(path))
    return io.BytesIO(out.getvalue().encode())


def _between(folder: Path, below: str, first: str, last: str | None = None) -> list[str]:
    """The revisions of a range, the oldest first."""
    if last is None:
        return [first]
    said = _git(
        folder, "for-each-ref", "--sort=creatordate", "--format=%(refname:short)",
        f"--merged={_commit(folder, last)}", f"--no-merged={_commit(folder, first)}", "refs/tags",
    )  # fmt: skip
    tags = [tag for tag in (said or b"").decode().split() if _RELEASE.fullmatch(tag)]
    if tags:
        return [first, *(tag for tag in tags if tag != last), last]
    said = _git(
        folder, "log", "--reverse", "--format=%H", "--end-of-options", f"{first}..{last}", "--",
        below,
    )  # fmt: skip
    return [first, *(said or b"").decode().split()]


def _files(folder: Path, below: str, revision: str) -> Iterator[_File]:
    """The files at a revision that may hold tables."""
    said = _git(folder, "ls-tree", "-r", "-z", "--long", str(_commit(folder, revision)), below)
    for entry in (said or b"").decode("utf-8", "replace").split("\0"):
        about, _, name = entry.partition("\t")
        if not name:
            continue
        _, kind, blob, size = about.split()
        if kind == "blob" and int(size) <= SUSPICIOUS and name.endswith((".rst", ".csv")):
            yield _File(PurePosixPath(name), blob)


def _releases(folder: Path, below: str, revision: str) -> Iterator[Release]:
    """The releases that pages and data folders have at a revision."""
    tables: dict[PurePosixPath, list[_File]] = {}
    known = load()
    for file in _files(folder, below, revision):
        data = _git(folder, "cat-file", "blob", file.blob) or b""
        if is_member(Path(file.name)):
            if file.name.parent.name != "previous":  # the release before had the same
                tables.setdefault(file.name.parent, []).append(file)
        elif is_published(data[: 1 << 16], file.name.name):
            name = f"{folder.resolve()}/{file.name}"
            for release in read_text(data, Place(name, None, known, None)):
                yield _labelled(release, revision, release.label == "unlabelled")
    for place, files in tables.items():
        parts = []
        for file in files:
            parts += [f"# {file.name.name}\n".encode(), _git(folder, "cat-file", "blob", file.blob)]
        name = f"{folder.resolve()}/{place}"
        for release in read_text(b"\n".join(p for p in parts if p), Place(name, None, known, None)):
            yield _labelled(release, revision, True)


def _labelled(release: Release, revision: str, needed: bool) -> Release:
    if needed:
        release.label = revision
    return release


def _rows_of(release: Release) -> Iterator[tuple[object, ...]]:
    """The cells of a release as rows of the long CSV, without commit and date."""
    if release.platform is None:
        return
    for table in release.tables.values():
        for at, row in enumerate(table.rows):
            cpu = row.printed if len(row.printed) == 2 else row.cpu
            if cpu is None:
                continue
            for metric, cell in row.cells.items():
                delta = "" if cell.delta is None else cell.delta.rstrip("%")
                yield (
                    release.platform.name, release.label, table.test, at, cpu[0], cpu[1], metric,
                    cell.ns, delta,
                )  # fmt: skip

"""The work that a batch has done already: a small database beside its results."""

from __future__ import annotations

import contextlib
import errno
import json
import re
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from ..errors import InputError

__all__ = ["WHOLE", "FileStatus", "Index", "SourceStatus"]

SCHEMA = 2

#: States of a source that was read to its end, and so need not be read again.
WHOLE = ("read", "not recognised", "not taken", "skipped")


@dataclass
class SourceStatus:
    """One source of a file: the file itself, or a member of the archive that it is.

    Attributes
    ----------
    name : str
    digest : str
        Of its decompressed bytes.
    state : str
        ``"read"``, ``"damaged"``, ``"unreadable"``, ``"not recognised"`` ...
    formats : tuple of str
    boots, readings, problems : int
    message : str
        The reason, if the source was not read whole.
    part_size : int
        Bytes of its statistics when they are decompressed.
    """

    name: str
    digest: str = ""
    state: str = "read"
    formats: tuple[str, ...] = ()
    boots: int = 0
    readings: int = 0
    problems: int = 0
    message: str = ""
    part_size: int = 0

    @property
    def is_whole(self) -> bool:
        """Whether the source was read to its end."""
        return self.state in WHOLE or self.state.startswith("duplicate")


@dataclass
class FileStatus:
    """The state of one file of a batch.

    Attributes
    ----------
    path : str
    group : str
        The group its statistics belong to.
    state : str
        ``"read"``, ``"kept"`` (unchanged since an earlier run), ``"not recognised"`` (read whole,
        nothing known in it), ``"not taken"`` (a capture, a snapshot), ``"damaged"`` (a source of
        it was not read to its end, the readings before that count), ``"failed"`` (no source of it
        could be read).
    size, mtime : int
        Bytes, and nanoseconds since the epoch, when it was read; -1 where there is no such thing.
    sources : list of SourceStatus
    message : str
        Why it failed.
    """

    path: str
    group: str = ""
    state: str = "read"
    size: int = -1
    mtime: int = -1
    sources: list[SourceStatus] = field(default_factory=list)
    message: str = ""

    @property
    def is_whole(self) -> bool:
        """Whether every source of the file was read to its end."""
        return self.state in WHOLE and all(source.is_whole for source in self.sources)


class Index:
    """Statuses of files that were read whole, on disk. One process writes it at a time.

    Parameters
    ----------
    path : path
        Made if it is not there. One of another version of this table is started anew.
    version : str
        Of the program and of the options of reading: a status that was kept under
        another one does not count.

    Raises
    ------
    InputError
        The file is no database, or a damaged one.
    OSError
        It cannot be opened, read or written; from every method.
    """

    def __init__(self, path: Path, version: str) -> None:
        self._path = path
        self._version = version
        try:
            self._db = sqlite3.connect(path, isolation_level=None)
        except sqlite3.Error as error:
            raise _told(path, error) from error
        try:
            self._prepare()
        except BaseException as error:
            self._db.close()
            if isinstance(error, (sqlite3.Error, *_ODD)):
                raise _told(path, error) from error
            raise

    def _prepare(self) -> None:
        self._db.execute("PRAGMA synchronous = FULL")
        (schema,) = self._db.execute("PRAGMA user_version").fetchone()
        with self._transaction():
            if schema != SCHEMA:
                self._db.execute("DROP TABLE IF EXISTS files")
                self._db.execute(f"PRAGMA user_version = {SCHEMA}")
            self._db.execute(
                "CREATE TABLE IF NOT EXISTS files (path TEXT PRIMARY KEY, size INTEGER NOT NULL,"
                " mtime INTEGER NOT NULL, version TEXT NOT NULL, status TEXT NOT NULL)"
            )

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            with contextlib.suppress(sqlite3.Error):  # it may have been done already
                self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    def __enter__(self) -> Index:
        return self

    def __exit__(self, *exc: object) -> None:
        self._db.close()

    def find(self, path: str, size: int, mtime: int) -> FileStatus | None:
        """The status of a file that has not changed since, None if there is none.

        Raises
        ------
        InputError
            The file is damaged.
        """
        try:
            row = self._db.execute(
                "SELECT status FROM files"
                " WHERE path = ? AND size = ? AND mtime = ? AND version = ?",
                (path, size, mtime, self._version),
            ).fetchone()
            return None if row is None else _from_json(row[0])
        except (sqlite3.Error, TypeError, KeyError, AttributeError, *_ODD) as error:
            raise _told(self._path, error) from error

    def store(self, statuses: Iterable[FileStatus]) -> None:
        """Keep these, all or none; files that were not read whole are left out."""
        rows = [
            (s.path, s.size, s.mtime, self._version, json.dumps(asdict(s)))
            for s in statuses
            if s.is_whole and s.size >= 0
        ]
        if not rows:
            return
        try:
            with self._transaction():
                self._db.executemany("INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?)", rows)
        except (sqlite3.Error, *_ODD) as error:
            raise _told(self._path, error) from error


#: Further exceptions of sqlite3 for a damaged file: a schema that is no UTF-8, absurd sizes.
_ODD = (ValueError, MemoryError)

_DISK = {
    "FULL": errno.ENOSPC, "IOERR": errno.EIO, "READONLY": errno.EROFS, "CANTOPEN": errno.EACCES,
    "PERM": errno.EPERM, "BUSY": errno.EBUSY, "LOCKED": errno.EBUSY,
}  # fmt: skip


def _told(path: Path, error: Exception) -> Exception:
    """An error of SQLite as an exception of ours: OSError of the disk, or InputError."""
    name = str(getattr(error, "sqlite_errorname", "")).removeprefix("SQLITE_").partition("_")[0]
    if name in _DISK:
        return OSError(_DISK[name], str(error), str(path))
    what = str(error) or "it asks for more memory than there is"
    text = f"the index of the batch is damaged ({what}); without it every file is read again"
    return InputError(text, path=str(path))


def _from_json(text: str) -> FileStatus:
    """A status as it was stored; the folder may come from somebody else, so all is checked."""
    raw: dict[str, Any] = json.loads(text)
    sources = [SourceStatus(**{**s, "formats": tuple(s["formats"])}) for s in raw.pop("sources")]
    status = FileStatus(**raw, sources=sources)
    checked: list[FileStatus | SourceStatus] = [status, *sources]
    for one in checked:
        for column in fields(one):
            value, usual = getattr(one, column.name), column.default
            if isinstance(usual, (str, int)) and type(value) is not type(usual):
                raise ValueError(f"{column.name} is {value!r:.40}")
    for source in sources:
        if re.fullmatch("[0-9a-f]{64}", source.digest) is None and source.readings:
            raise ValueError(f"a digest is {source.digest!r:.80}")
        if not all(isinstance(name, str) for name in source.formats) or source.part_size < 0:
            raise ValueError(f"a source is {source!r:.200}")
    return status

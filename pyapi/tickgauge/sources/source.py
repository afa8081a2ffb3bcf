"""Sources: where the bytes come from. Paths, globs, folders, URLs, pipes, objects, archives.

Compression is told by the first bytes, never by the name.
"""

from __future__ import annotations

import glob
import io
import os
import re
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import IO, Any

from ..errors import Error, InputError, LimitError
from ..limits import LIMITS, Limits
from ..util.optional import need
from .decompress import Unpacked

__all__ = ["HEAD", "Pieces", "Source", "Stream", "broken", "expand", "files_of", "opened"]

#: Bytes that the dispatcher may look at before it decides.
HEAD = 1 << 16


class Source:
    """One text: it has a name and can be opened, once or (files, memory) again.

    Parameters
    ----------
    name : str
        How messages call it.
    opener : callable
        Gives a binary file object.
    path : path, optional
        Where it lies, if it is a file.
    release : str, optional
        The one release of a published page that is meant (``page.rst@v2.9``).
    """

    def __init__(
        self,
        name: str,
        opener: Callable[[], Any],
        path: Path | None = None,
        release: str | None = None,
    ) -> None:
        self.name = name
        self.path = path
        self.release = release
        self._opener = opener

    def __repr__(self) -> str:
        return f"Source({self.name!r})"

    def open(self, limits: Limits = LIMITS) -> Stream:
        """Open it, look at the first bytes, and decompress if they ask for it."""
        return Stream(self, self._opener(), limits)

    def read_bytes(self, limits: Limits = LIMITS) -> bytes:
        """All of it, decompressed.

        Raises
        ------
        LimitError
            It is longer than ``limits.whole``.
        """
        parts, size = [], 0
        with self.open(limits) as stream:
            for piece in stream:
                size += len(piece)
                if size > limits.whole:
                    text = (
                        f"more than {limits.whole} bytes, and this form is read as a whole "
                        "(--limit whole=N)"
                    )
                    raise LimitError(text, path=self.name)
                parts.append(piece)
        return b"".join(parts)


class Stream:
    """The decompressed bytes of an open source: `head` first, then all of them by iterating.

    Attributes
    ----------
    head : bytes
        The first bytes after decompression, at least `HEAD` if there are so many; they come again
        when iterating.
    compression : str
        ``"gz" "bz2" "xz" "zstd"``, several in each other from outside in with a blank between
        them, or ``""``.
    expected : int or None
        Size of an uncompressed regular file when it was opened.
    raw : file object
        What was opened; at its beginning only where the source can be opened again.
    """

    def __init__(self, source: Source, raw: Any, limits: Limits = LIMITS) -> None:
        self.source = source
        self.raw = raw
        self._first: list[bytes] = []
        self._error: Exception | None = None
        self._unpacked = Unpacked(io.BytesIO())
        self.head = b""
        size = _size_of(raw)
        try:
            self._take_head(limits)
        except BaseException:
            raw.close()
            raise
        self.compression = " ".join(self._unpacked.layers)
        self.expected = None if self.compression else size

    def _take_head(self, limits: Limits) -> None:
        """The head; trouble in it is told when the rest is read."""
        size = 0
        try:
            self._unpacked = Unpacked(self.raw, self.source.name, limits)
            while size < HEAD and (piece := next(iter(self._unpacked), None)) is not None:
                self._first.append(piece)
                size += len(piece)
        except (Error, OSError) as error:
            self._error = error
        self.head = b"".join(self._first)

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Close what was opened (standard input stays open)."""
        self._unpacked.close()
        self.raw.close()

    def restart(self, file: Any) -> None:
        """Iterate over `file`, a copy of the bytes that were taken already, from its beginning."""
        self._first = []
        self._unpacked = Unpacked(file, self.source.name)

    def __iter__(self) -> Iterator[bytes]:
        """Pieces of at most 1 MiB; once.

        Raises
        ------
        InputError
            Compressed data is damaged or ends too early: after all that it gives.
        LimitError
            It unfolds into more than is allowed.
        OSError
            Reading failed.
        """
        while self._first:
            yield self._first.pop(0)
        if self._error is not None:
            raise self._error
        yield from self._unpacked
        if self._unpacked.damage is not None:
            raise self._unpacked.damage


def _size_of(raw: IO[bytes]) -> int | None:
    try:
        status = os.fstat(raw.fileno())
    except (OSError, AttributeError, ValueError):
        return None
    return status.st_size if stat.S_ISREG(status.st_mode) else None


def expand(what: Any) -> list[Source]:
    """The sources that a user's argument stands for.

    Parameters
    ----------
    what
        A path, a glob (``*``, ``?``, ``**``), a folder (all files in it and below, hidden ones
        left out, sorted; the CSV files of a published release are one source; as under ``**``,
        links to folders are not followed),
        ``page.rst@v2.9`` for one release of a published page, ``"-"`` for standard input, a URL
        (by fsspec; ``*`` matches), bytes, a binary file object, a `Source`, or an iterable of
        these. Archives are looked into by `opened`.

    Returns
    -------
    list of Source
        In a stable order.

    Raises
    ------
    FileNotFoundError
        No such file, or the glob matches none.
    OSError
        A file or a folder, one below ``**`` or another folder too, that may not be looked into.
    InputError
        A folder without files, or an object that no source can be made from.
    """
    if isinstance(what, Source):
        return [what]
    if isinstance(what, (bytes, bytearray, memoryview)):
        data = bytes(what)
        return [Source(f"<{len(data)} bytes>", lambda: io.BytesIO(data))]
    if hasattr(what, "read"):
        return [_from_object(what)]
    if isinstance(what, os.PathLike):
        return _from_path(Path(what))
    if isinstance(what, str):
        return _from_text(what)
    if isinstance(what, Iterable):
        return [source for one in what for source in expand(one)]
    raise InputError(f"no source can be made from {type(what).__name__}")


def _from_object(file: Any) -> Source:
    name = getattr(file, "name", None)
    shown = name if isinstance(name, str) else f"<{type(file).__name__}>"
    if isinstance(file, io.TextIOBase):
        buffer = getattr(file, "buffer", None)
        if buffer is None:
            raise InputError("the file object gives str, not bytes: open it as 'rb'", path=shown)
        file = buffer
    return Source(shown, lambda: _Unowned(file))


class _Unowned(io.RawIOBase):
    """A caller's file object: read, never closed."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def readable(self) -> bool:
        return True

    def read(self, n: int = -1) -> bytes:
        some = getattr(self._file, "read1", self._file.read)  # what a pipe has, not all of `n`:
        data = some(n)  # a read that goes on and on does not notice Ctrl-C
        if isinstance(data, str):
            raise InputError("the file object gives str, not bytes: open it with mode 'rb'")
        return data or b""


def _from_text(text: str) -> list[Source]:
    if not text:  # what an unset variable of a script gives: not the working directory
        raise InputError("an empty name is no source")
    if text == "-":
        return [Source("<stdin>", lambda: _Unowned(sys.stdin.buffer))]
    if re.match(r"[A-Za-z][A-Za-z0-9+.:-]*://", text):
        return _from_url(text)
    if glob.has_magic(text) and not Path(text).exists():
        found = sorted(_matches(text))
        files = [Path(name) for name in found if not Path(name).is_dir()]
        if not files:
            raise FileNotFoundError(2, "no file matches", text)
        return [source for path in files for source in _from_path(path)]
    base, at, release = text.rpartition("@")
    if at and release and not Path(text).exists() and Path(base).exists():
        return [
            Source(f"{one.name}@{release}", one._opener, one.path, release)
            for one in _from_path(Path(base))
        ]
    return _from_path(Path(text))


def _from_url(url: str) -> list[Source]:
    """One URL, or the files that match one with ``*`` in it."""
    fsspec = need("fsspec", "remote")

    def opener(one: str) -> Callable[[], Any]:
        return lambda: fsspec.open(one, "rb").open()

    if "*" not in url:
        return [Source(url, opener(url))]
    files, path = fsspec.url_to_fs(url)
    found = sorted(files.unstrip_protocol(name) for name in files.glob(path))
    if not found:
        raise FileNotFoundError(2, "no file matches", url)
    return [Source(one, opener(one)) for one in found]


def _from_path(path: Path) -> list[Source]:
    if path.is_dir():
        return _from_folder(path)
    os.stat(path)  # noqa: PTH116 - an error that says what is wrong with it, and names it
    return [Source(str(path), lambda: open(path, "rb", buffering=0), path)]  # noqa: PTH123


def _from_folder(path: Path) -> list[Source]:
    """The files in a folder and below; those of a published release together are one source."""
    from ..tfa.pages import is_member, published_folders

    releases = set(published_folders(path))
    found: list[Path] = []
    for file in sorted(_files_below(path)):
        if file.parent in releases and is_member(file):
            if file.parent not in found:
                found.append(file.parent)
        else:
            found.append(file)
    if not found:
        raise InputError("the folder has no files", path=str(path))
    out: list[Source] = []
    for one in found:
        if one in releases:
            out.append(Source(str(one), partial(_bundle, one), one))
        else:
            out += _from_path(one)
    return out


def _bundle(folder: Path) -> IO[bytes]:
    from ..tfa.pages import bundle

    return io.BytesIO(bundle(folder))


def _walk(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """A folder and those below, each with its files; what is hidden is left out.

    A folder that is closed is an error. A link to a folder is not followed: it may lead back, and
    two that do make more paths than anybody could walk.
    """

    def fail(error: OSError) -> None:
        raise error

    for place, folders, names in os.walk(folder, onerror=fail):
        folders[:] = [name for name in folders if not name.startswith(".")]
        yield place, [name for name in names if not name.startswith(".")]


def _files_below(folder: Path) -> Iterator[Path]:
    files = (Path(place, name) for place, names in _walk(folder) for name in names)
    return (file for file in files if file.is_file())


def _matches(pattern: str) -> set[str]:
    """What a glob matches; ``**`` stands for a folder and all below, as `_walk` has them."""
    parts = Path(pattern).parts
    if "**" not in parts:
        return set(glob.glob(pattern))  # noqa: PTH207
    at = parts.index("**")
    rest = list(parts[at + 1 :])
    while rest and rest[0] == "**":
        rest.pop(0)
    found: set[str] = set()
    for base in map(Path, glob.glob(str(Path(*parts[:at]))) if at else ["."]):  # noqa: PTH207
        for place, _ in _walk(base) if base.is_dir() else ():
            found |= _matches(str(Path(glob.escape(place), *(rest or ["*"]))))
    return found


def files_of(what: Any) -> list[str]:
    """The names of the files and URLs that `expand` finds, to be opened elsewhere.

    Raises
    ------
    InputError
        A source that has no name to open it by: bytes, a file object, standard input.
    """
    names = []
    for source in expand(what):
        if source.path is None and "://" not in source.name:
            raise InputError("has no name that another process could open", path=source.name)
        names.append(source.name)
    return names


def opened(sources: Iterable[Source], limits: Limits = LIMITS) -> Iterator[Stream]:
    """Open sources one after the other; an archive of texts gives its members instead.

    Parameters
    ----------
    sources : iterable of Source
    limits : Limits

    Yields
    ------
    Stream
        To be read before the next one is asked for, and closed by then. What cannot be had of an
        archive comes as a stream that raises the reason when it is read.

    Raises
    ------
    OSError
        A source cannot be opened.
    """
    for source in sources:
        stream = source.open(limits)
        try:
            yield from _looked_into(stream, limits, limits.layers)
        finally:
            stream.close()


def _looked_into(stream: Stream, limits: Limits, layers: int) -> Iterator[Stream]:
    from .archives import members

    inside = members(stream, limits)
    if inside is None:
        yield stream
        return
    if layers == 0:
        text = f"more than {limits.layers} archives in each other (--limit layers=N)"
        yield broken(stream.source.name, LimitError(text, path=stream.source.name))
        return
    for member in inside:
        try:
            yield from _looked_into(member, limits, layers - 1)
        finally:
            member.close()


class Pieces(io.RawIOBase):
    """The bytes of a stream as a file that can be read once; closing it leaves the stream open."""

    def __init__(self, stream: Iterable[bytes]) -> None:
        self._pieces = iter(stream)
        self._left = memoryview(b"")

    def readable(self) -> bool:
        return True

    def read(self, n: int = -1) -> bytes:
        """At most `n` bytes, of one piece."""
        if not self._left:
            self._left = memoryview(next(self._pieces, b""))
        end = len(self._left) if n < 0 else n
        data = bytes(self._left[:end])
        self._left = self._left[end:]
        return data


class _Raising(io.RawIOBase):
    """A file that cannot be read."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def read(self, n: int = -1) -> bytes:
        raise self._error


def broken(name: str, error: Exception) -> Stream:
    """A stream that gives nothing but its error."""
    return Stream(Source(name, lambda: _Raising(error)), _Raising(error))

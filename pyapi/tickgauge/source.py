"""Sources: where the bytes come from. Paths, globs, folders, URLs, pipes, objects, archives.

Compression is told by the first bytes, never by the name.
"""

from __future__ import annotations

import bz2
import glob
import gzip
import io
import lzma
import os
import stat
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import IO, Any

from ._lazy import need
from .errors import InputError

__all__ = ["HEAD", "Source", "Stream", "expand"]

#: Bytes that the dispatcher may look at before it decides.
HEAD = 1 << 16

#: What a decompressor says of damaged or cut input.
DAMAGED = (EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, gzip.BadGzipFile)


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

    def open(self) -> Stream:
        """Open it, look at the first bytes, and decompress if they ask for it."""
        return Stream(self, self._opener())

    def read_bytes(self) -> bytes:
        """All of it, decompressed."""
        with self.open() as stream:
            return b"".join(stream)


class Stream:
    """The decompressed bytes of an open source: `head` first, then all of them by iterating.

    Attributes
    ----------
    head : bytes
        The first bytes after decompression, at most `HEAD`; they come again when iterating.
    compression : str
        ``"gz" "bz2" "xz" "zstd"`` or ``""``.
    expected : int or None
        Size of an uncompressed regular file when it was opened.
    raw : file object
        What was opened; at its beginning only where the source can be opened again.
    """

    def __init__(self, source: Source, raw: IO[bytes]) -> None:
        self.source = source
        self.raw = raw
        self.expected = _size_of(raw)
        self.compression = ""
        try:
            magic = _take(raw, 6)
            file: Any = _Joined(magic, raw)
            for name, mark, decompress in _COMPRESSIONS:
                if magic.startswith(mark):
                    self.compression, self.expected = name, None
                    file = decompress(file)
                    break
            self._file = file
            self.head = self._first()
        except BaseException:
            raw.close()
            raise

    def _first(self) -> bytes:
        """The head; damage in it shows again, and is reported, when the rest is read."""
        head = b""
        try:
            while len(head) < HEAD and (more := self._file.read(HEAD - len(head))):
                head += more
        except DAMAGED as error:
            self._damage: BaseException | None = error
        else:
            self._damage = None
        return head

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Close what was opened (standard input stays open)."""
        if self.raw is not getattr(sys.stdin, "buffer", None):
            self.raw.close()

    def __iter__(self) -> Iterator[bytes]:
        """Pieces of at most 1 MiB.

        Raises
        ------
        InputError
            Compressed data is damaged or ends too early.
        OSError
            Reading failed.
        """
        total = len(self.head)
        if self.head:
            yield self.head
        if self._damage is not None:
            raise InputError(f"{self.compression} data is damaged: {self._damage}", offset=total)
        while True:
            try:
                piece = self._file.read(1 << 20)
            except DAMAGED as error:
                raise InputError(f"{self.compression} data: {error}", offset=total) from error
            if not piece:
                return
            total += len(piece)
            yield piece


def _take(raw: IO[bytes], n: int) -> bytes:
    got = b""
    while len(got) < n and (more := raw.read(n - len(got))):
        got += more
    return got


def _size_of(raw: IO[bytes]) -> int | None:
    try:
        status = os.fstat(raw.fileno())
    except (OSError, AttributeError, ValueError):
        return None
    return status.st_size if stat.S_ISREG(status.st_mode) else None


class _Joined(io.RawIOBase):
    """Bytes that were taken from a stream already, then the stream."""

    def __init__(self, first: bytes, rest: IO[bytes]) -> None:
        self._first = first
        self._rest = rest

    def readable(self) -> bool:
        return True

    def read(self, n: int = -1) -> bytes:
        if self._first:
            out = self._first if n < 0 else self._first[:n]
            self._first = self._first[len(out) :]
            return out
        some = getattr(self._rest, "read1", self._rest.read)  # what a pipe has, not all of `n`
        return some(n) or b""

    def readinto(self, buffer: Any) -> int:
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


def _zstd(file: Any) -> Any:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        zstd = need("backports.zstd", "zstd")
    return zstd.ZstdFile(file)


def _gz(file: Any) -> Any:
    return gzip.GzipFile(fileobj=io.BufferedReader(file, 1 << 16))


_COMPRESSIONS: tuple[tuple[str, bytes, Callable[[Any], Any]], ...] = (
    ("gz", b"\x1f\x8b", _gz),
    ("bz2", b"BZh", bz2.BZ2File),
    ("xz", b"\xfd7zXZ\x00", lzma.LZMAFile),
    ("zstd", b"\x28\xb5\x2f\xfd", _zstd),
)


def expand(what: Any) -> list[Source]:
    """The sources that a user's argument stands for.

    Parameters
    ----------
    what
        A path, a glob (``*``, ``?``, ``**``), a folder (all files in it and below, hidden ones
        left out, sorted; the CSV files of a published release are one source),
        ``page.rst@v2.9`` for one release of a published page, ``"-"`` for standard input, a URL
        (by fsspec), bytes, a binary file object, a `Source`, or an iterable of these. The members
        of a zip archive are sources each.

    Returns
    -------
    list of Source
        In a stable order.

    Raises
    ------
    FileNotFoundError
        No such file, or the glob matches none.
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
        data = self._file.read(n)
        if isinstance(data, str):
            raise InputError("the file object gives str, not bytes: open it with mode 'rb'")
        return data or b""


def _from_text(text: str) -> list[Source]:
    if text == "-":
        return [Source("<stdin>", lambda: sys.stdin.buffer)]
    scheme, colon, _ = text.partition("://")
    if colon and scheme.isalnum():
        fsspec = need("fsspec", "remote")
        return [Source(text, lambda: fsspec.open(text, "rb").open())]
    if glob.has_magic(text) and not Path(text).exists():
        found = sorted(glob.glob(text, recursive=True))  # noqa: PTH207
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


def _from_path(path: Path) -> list[Source]:
    if path.is_dir():
        return _from_folder(path)
    if not path.exists():
        raise FileNotFoundError(2, os.strerror(2), str(path))
    if path.is_file() and _is_plain_zip(path):
        return _members(path)
    return [Source(str(path), lambda: open(path, "rb", buffering=0), path)]  # noqa: PTH123


def _from_folder(path: Path) -> list[Source]:
    """The files in a folder and below; those of a published release together are one source."""
    from .release.published import is_member, published_folders

    releases = set(published_folders(path))
    found: list[Path] = []
    for file in sorted(p for p in path.rglob("*") if p.is_file() and not _hidden(p, path)):
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
    from .release.published import bundle

    return io.BytesIO(bundle(folder))


def _hidden(path: Path, below: Path) -> bool:
    return any(part.startswith(".") for part in path.relative_to(below).parts)


def _is_plain_zip(path: Path) -> bool:
    """Whether it is an archive of texts, and not a form of its own (an .ila file) in a zip."""
    try:
        with path.open("rb") as file:
            if file.read(4) != b"PK\x03\x04":
                return False
        with zipfile.ZipFile(path) as archive:
            names = {Path(name).name for name in archive.namelist()}
    except (OSError, zipfile.BadZipFile):
        return False
    return not names & {"waveform.csv", "waveform.vcd"}


def _members(path: Path) -> list[Source]:
    with zipfile.ZipFile(path) as archive:
        names = sorted(info.filename for info in archive.infolist() if not info.is_dir())
    if not names:
        raise InputError("the archive has no files", path=str(path))

    def opener(name: str) -> Callable[[], IO[bytes]]:
        def open_member() -> IO[bytes]:
            archive = zipfile.ZipFile(path)
            return archive.open(name)

        return open_member

    return [Source(f"{path}/{name}", opener(name)) for name in names]

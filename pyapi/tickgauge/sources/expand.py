"""Sources behind an argument of a user: paths, globs, folders, URLs, pipes, objects."""

from __future__ import annotations

import contextlib
import errno
import glob
import io
import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from ..errors import Error, InputError
from ..util.optional import need
from .form import Bundle, Bundles, Revisions
from .source import Source

__all__ = ["expand", "is_url", "nameable"]


def _no_bundles(folder: Path) -> Iterable[Bundle]:
    """Every file is a source of its own."""
    return ()


def _no_revisions(path: Path, words: str) -> None:
    """No source has a history."""


def expand(
    what: Any, bundles: Bundles = _no_bundles, revisions: Revisions = _no_revisions
) -> list[Source]:
    """The sources that a user's argument stands for.

    Parameters
    ----------
    what
        A path, a glob (``*``, ``?``, ``**``), a folder (all files in it and below, hidden ones
        left out, sorted; as under ``**``, links to folders are not followed),
        ``page.rst@v2.9`` for one release of a published page, ``docs/perf@v2.10..v2.15`` for the
        releases in the history of a checkout, ``"-"`` for standard input, a URL
        (by fsspec; ``*`` matches), bytes, a binary file object, a `Source`, or an iterable of
        these. Archives are looked into by `opening.opened`.
    bundles : callable, optional
        Finds the files in and below a folder that are one source together, such as the tables of
        a published release.
    revisions : callable, optional
        Opens a path of a checkout at revisions of its history.

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
        return _from_path(Path(what), bundles)
    if isinstance(what, str):
        return _from_text(what, bundles, revisions)
    if isinstance(what, Iterable):
        return [source for one in what for source in expand(one, bundles, revisions)]
    raise InputError(f"no source can be made from {type(what).__name__}")


def is_url(text: Any) -> bool:
    """Whether a name has a scheme in front: ``s3://``, ``https://``."""
    return isinstance(text, str) and re.match(r"[A-Za-z][A-Za-z0-9+.:-]*://", text) is not None


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
        some = getattr(self._file, "read1", self._file.read)  # a pipe's bytes, not all of `n`:
        data = some(n)  # a read that goes on and on does not notice Ctrl-C
        if isinstance(data, str):
            raise InputError("the file object gives str, not bytes: open it with mode 'rb'")
        return data or b""


def _from_text(text: str, bundles: Bundles, revisions: Revisions) -> list[Source]:
    if not text:  # an unset variable of a script: not the working directory
        raise InputError("an empty name is no source")
    if text == "-":
        return [Source("<stdin>", lambda: _Unowned(sys.stdin.buffer))]
    if is_url(text):
        return _from_url(text)
    if glob.has_magic(text) and not Path(text).exists():
        found = sorted(_matches(text))
        files = [Path(name) for name in found if not Path(name).is_dir()]
        if not files:
            raise FileNotFoundError(2, "no file matches", text)
        return [source for path in files for source in _from_path(path, bundles)]
    base, at, release = text.rpartition("@")
    if at and release and not Path(text).exists() and Path(base).exists():
        historic = Path(base).is_dir() or ".." in release  # else a label on the page
        opener = revisions(Path(base), release) if historic else None
        if opener is not None:
            return [Source(text, opener, Path(base))]
        return [
            Source(f"{one.name}@{release}", one._opener, one.path, release, one.lasting)
            for one in _from_path(Path(base), bundles)
        ]
    return _from_path(Path(text), bundles)


def _from_url(url: str) -> list[Source]:
    """One URL, or the files that match one with ``*`` in it."""
    fsspec = need("fsspec", "remote")
    if "*" not in url:
        return [Source(url, partial(_open_url, url))]
    files, path = fsspec.url_to_fs(url)
    found = sorted(files.unstrip_protocol(name) for name in files.glob(path))
    if not found:
        raise FileNotFoundError(2, "no file matches", url)
    return [Source(one, partial(_open_url, one)) for one in found]


def _open_url(url: str) -> Any:
    files = need("fsspec", "remote")
    with _told_as_read_error(url):
        return _Remote(files.open(url, "rb").open(), url)


class _Remote(io.RawIOBase):
    """A file at a URL; a transfer that fails is a read that fails."""

    def __init__(self, file: Any, url: str) -> None:
        self._file, self._url = file, url

    def readable(self) -> bool:
        return True

    def read(self, n: int = -1) -> bytes:
        with _told_as_read_error(self._url):
            data: bytes = self._file.read(n)
        return data

    def close(self) -> None:
        self._file.close()
        super().close()


@contextlib.contextmanager
def _told_as_read_error(url: str) -> Iterator[None]:
    """Libraries of transports have errors of their own kinds: each becomes an `OSError`."""
    try:
        yield
    except (Error, OSError, ImportError, MemoryError):
        raise
    except Exception as error:
        raise OSError(errno.EIO, f"the transfer failed: {error}", url) from error


def _from_path(path: Path, bundles: Bundles) -> list[Source]:
    if path.is_dir():
        return _from_folder(path, bundles)
    return [_of_file(path)]


def _from_folder(path: Path, bundles: Bundles) -> list[Source]:
    """The files in a folder and below; those of a bundle are one source, at its first file."""
    owner = {file: bundle for bundle in bundles(path) for file in bundle.files}
    found: dict[Path, Bundle | None] = {}
    for file in sorted(_files_below(path)):
        bundle = owner.get(file)
        found.setdefault(file if bundle is None else bundle.folder, bundle)
    if not found:
        raise InputError("the folder has no files", path=str(path))
    out: list[Source] = []
    for one, bundle in found.items():
        out += [_in_folder(one)] if bundle is None else [Source(str(one), bundle.open, one)]
    return out


#: Things in a folder that are read only when they are named.
_ODD = (
    (stat.S_ISFIFO, "a named pipe"), (stat.S_ISSOCK, "a socket"), (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)  # fmt: skip


def _in_folder(path: Path) -> Source:
    """A file of a folder; one that might block, or is endless, is skipped and told."""
    try:
        mode = path.stat().st_mode
    except OSError as error:
        return Source(str(path), _nothing, path, skipped=f"skipped: {error.strerror}")
    for is_odd, word in _ODD:
        if is_odd(mode):
            return Source(str(path), _nothing, path, skipped=f"skipped: {word} in a folder")
    return _of_file(path)


def _nothing() -> Any:
    raise InputError("a source that is skipped is not opened")


def _of_file(path: Path) -> Source:
    os.stat(path)  # noqa: PTH116 - an error that tells its trouble, and names it
    return Source(str(path), partial(_open_file, path), path, lasting=True)


def _open_file(path: Path) -> Any:
    return path.open("rb", buffering=0)


def _walk(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """A folder and those below, each with its files; hidden ones are left out.

    A folder that is closed is an error. A link to a folder is not followed: it may lead back, and
    two that do make more paths than anybody could walk.
    """

    def fail(error: OSError) -> None:
        raise error

    for place, folders, names in os.walk(folder, onerror=fail):
        folders[:] = [name for name in folders if not name.startswith(".")]
        yield place, [name for name in names if not name.startswith(".")]


def _files_below(folder: Path) -> Iterator[Path]:
    return (Path(place, name) for place, names in _walk(folder) for name in names)


def _matches(pattern: str) -> set[str]:
    """The paths that a glob matches; ``**`` is a folder and all below, as `_walk` has them."""
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


def nameable(
    what: Any, bundles: Bundles = _no_bundles, revisions: Revisions = _no_revisions
) -> list[Source]:
    """The sources that `expand` finds, if another process can open each of them.

    Raises
    ------
    InputError
        A source that has no name to open it by: bytes, a file object, standard input.
    """
    sources = expand(what, bundles, revisions)
    for source in sources:
        if source.path is None and "://" not in source.name:
            raise InputError("has no name that another process could open", path=source.name)
    return sources

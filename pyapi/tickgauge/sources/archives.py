"""Archives of texts: the members of tar and zip, told by content, in one pass where that can be.

Names of members are names only: nothing is written, and no member is ever looked up by its path.
"""

from __future__ import annotations

import io
import lzma
import struct
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from ..errors import Error, InputError, LimitError
from ..limits import Limits
from .decompress import SLACK, Budget
from .source import Source, Stream, broken

__all__ = ["ZIP_DAMAGE", "of_tar", "of_zip"]

#: A zip archive that cannot be sought is kept in memory up to this size, then in a file.
SPOOL = 1 << 26

#: Exceptions of zipfile and its decompressors at bytes that are no whole archive.
ZIP_DAMAGE = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError, NotImplementedError,
    RuntimeError, ValueError, OverflowError, IndexError,
)  # fmt: skip

#: The same of tarfile.
TAR_DAMAGE = (tarfile.TarError, zlib.error, EOFError, ValueError, OverflowError)

#: Bytes of a header of tar that only carries a long name or attributes.
TAR_HEADER = 1 << 20

#: Members that make a zip archive a form of its own.
FORM_OF_ITS_OWN = {"waveform.csv", "waveform.vcd"}


# ---- tar ------------------------------------------------------------------------------------


class _Pull(io.RawIOBase):
    """The pieces of a stream as a file that tarfile can read."""

    def __init__(self, stream: Stream) -> None:
        self._pieces = iter(stream)
        self._left = memoryview(b"")
        self._end = b""

    def read(self, n: int = -1) -> bytes:
        parts: list[memoryview] = []
        missing = n
        while missing:
            if not self._left:
                self._left = memoryview(next(self._pieces, b""))
                if not self._left:
                    break
            parts.append(self._left[:missing])
            self._left = self._left[missing:]
            missing -= len(parts[-1])
        data = b"".join(parts)
        self._end = (self._end + data)[-512:]
        return data

    @property
    def ends_with_zeros(self) -> bool:
        """Whether the bytes read end with a block of zeros, as a whole archive does."""
        return self._end == bytes(512)


class _Info(tarfile.TarInfo):
    """A header; those that tarfile would read into memory whole are bounded."""

    def _proc_member(self, archive: tarfile.TarFile) -> tarfile.TarInfo:
        long = (tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK, tarfile.XHDTYPE,
                tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE)  # fmt: skip
        if self.type in long and not 0 <= self.size <= TAR_HEADER:
            raise LimitError(f"a header of more than {TAR_HEADER} bytes")
        member: tarfile.TarInfo = super()._proc_member(archive)  # type: ignore[misc]
        return member


def of_tar(stream: Stream, limits: Limits, budget: Budget) -> Iterator[Stream]:
    """The members, in the order in which they lie."""
    name = stream.source.name
    pull = _Pull(stream)
    try:
        with tarfile.open(fileobj=pull, mode="r|", tarinfo=_Info) as archive:
            for info in archive:
                if not info.isreg():
                    continue
                budget.take_member()
                if (bad := _long_name(name, info.name, limits)) is not None:
                    yield bad
                    archive.members.clear()  # type: ignore[attr-defined]
                    continue
                file = archive.extractfile(info)
                member = Source(f"{name}/{info.name}", _once(name))
                # holes cost nothing in an archive: only stored bytes count as packed
                packed = _stored(info) if info.issparse() else None
                yield Stream(member, _Member(file, budget, packed, limits), limits, budget)
                if budget.spent:
                    return
                archive.members.clear()  # type: ignore[attr-defined]  # or they pile up
        while pull.read(1 << 16):  # damage behind the last member counts, too
            pass
    except (Error, OSError, *TAR_DAMAGE) as error:
        yield broken(name, _as_told(error, name))
        return
    if not pull.ends_with_zeros:
        yield broken(name, InputError("the archive is cut: it has no end mark", path=name))


def _long_name(archive: str, member: str, limits: Limits) -> Stream | None:
    """The refusal of a member whose name is longer than `limits` allow, or None."""
    size = len(member.encode("utf-8", "surrogateescape"))
    if size <= limits.path:
        return None
    shown = f"{archive}/{member[:60]}..."
    text = f"a member's name of {size} bytes, more than {limits.path} (--limit path=N)"
    return broken(shown, LimitError(text, path=shown))


def _stored(info: tarfile.TarInfo) -> int:
    """Bytes of a sparse member that lie in the archive."""
    pieces: Any = info.sparse
    return sum(size for _, size in pieces)


def _as_told(error: Exception, name: str) -> Exception:
    if isinstance(error, (Error, OSError)) and not isinstance(error, tarfile.TarError):
        return error
    return InputError(f"the archive is damaged or cut: {error}", path=name)


def _once(name: str) -> Any:
    def opener() -> Any:
        raise InputError("a member is read while its archive is, and only once", path=name)

    return opener


class _Member(io.RawIOBase):
    """A member's bytes; a fault of the archive is an InputError."""

    def __init__(
        self, file: Any, budget: Budget, packed: int | None = None, limits: Limits | None = None
    ) -> None:
        self._file = file
        self._budget = budget
        self._packed = packed
        self._limits = limits
        self._given = 0

    def read(self, n: int = -1) -> bytes:
        try:
            data: bytes = self._file.read(n)
        except (tarfile.TarError, *ZIP_DAMAGE) as error:
            if isinstance(error, Error):
                raise
            raise InputError(f"the archive is damaged or cut: {error}") from error
        self._given += len(data)
        self._budget.take(len(data))
        if self._limits is not None and self._packed is not None and self._given > SLACK:
            if self._given > self._limits.size:
                raise LimitError(
                    f"unfolds into more than {self._limits.size} bytes (--limit size=N)"
                )
            if self._given > self._limits.ratio * max(1, self._packed):
                raise LimitError(
                    f"unfolds to more than {self._limits.ratio} times its size (--limit ratio=N)"
                )
        return data

    def close(self) -> None:
        self._file.close()
        super().close()


# ---- zip ------------------------------------------------------------------------------------


def of_zip(stream: Stream, limits: Limits, budget: Budget) -> Iterator[Stream] | None:
    """The members by name, or None where the archive is a form of its own."""
    name = stream.source.name
    try:
        file = _seekable(stream)
        archive = zipfile.ZipFile(file)
        infos = sorted((i for i in archive.infolist() if not i.is_dir()), key=lambda i: i.filename)
    except (Error, OSError, *ZIP_DAMAGE) as error:
        text = f"the archive is damaged or cut: {error}"
        return iter([broken(name, InputError(text, path=name))])
    if any(PurePosixPath(info.filename).name in FORM_OF_ITS_OWN for info in infos):
        if stream.source.path is not None and not stream.compression:
            file.close()
        else:
            file.seek(0)
            stream.restart(file)
        return None
    return _zip_members(archive, infos, name, limits, budget)


def _seekable(stream: Stream) -> Any:
    """The archive as a file that can be sought: itself, or a copy that is deleted at its end."""
    if stream.source.path is not None and not stream.compression:
        return stream.source.path.open("rb")
    copy = tempfile.SpooledTemporaryFile(SPOOL)  # noqa: SIM115
    for piece in stream:
        copy.write(piece)
    copy.seek(0)
    return copy


def _zip_members(
    archive: zipfile.ZipFile,
    infos: list[zipfile.ZipInfo],
    name: str,
    limits: Limits,
    budget: Budget,
) -> Iterator[Stream]:
    with archive:
        if len(infos) > limits.entries:
            text = f"has {len(infos)} members, more than {limits.entries} (--limit entries=N)"
            yield broken(name, LimitError(text, path=name))
            return
        for info in infos:
            if budget.spent:
                return
            shown = f"{name}/{info.filename}"
            try:
                budget.take_member()
            except LimitError as error:
                yield broken(name, error)
                return
            if (bad := _long_name(name, info.filename, limits)) is not None:
                yield bad
                continue
            try:
                file = archive.open(info)
            except (OSError, *ZIP_DAMAGE) as error:
                yield broken(shown, InputError(f"cannot be unpacked: {error}", path=shown))
                continue
            member = _Member(file, budget, info.compress_size, limits)
            yield Stream(Source(shown, _once(name)), member, limits, budget)

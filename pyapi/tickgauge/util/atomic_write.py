"""Files that are whole or not there: write beside the place, sync, rename."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import IO

__all__ = ["replacing", "write_whole"]


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A binary file to write that takes the place of `path` once it is whole and on the disk.

    Parameters
    ----------
    path : path
        Where it belongs. An old file there stays as it is until the new one replaces it, and for
        good if anything fails; its permissions are kept. A device or a pipe is written directly.
    """
    path = Path(path)
    if path.exists() and not path.is_file():
        with path.open("wb") as file:
            yield file
        return
    beside = path.parent / f".{path.name[:100]}.{secrets.token_hex(8)}"
    try:
        with beside.open("xb") as file:
            if path.exists():
                os.fchmod(file.fileno(), path.stat().st_mode & 0o7777)
            yield file
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            beside.unlink()
        if isinstance(error, OSError) and error.filename == str(beside):
            error.filename = str(path)  # the name that the user gave
        name_full(error, path)
        raise
    _sync_folder(path.parent)


def name_full(error: BaseException, path: str | os.PathLike[str]) -> None:
    """Say in an error of a full disk, which only knows a descriptor, what was being written."""
    full = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    if isinstance(error, OSError) and error.filename is None and error.errno in full:
        error.filename = str(path)


def write_whole(path: str | os.PathLike[str], data: bytes) -> None:
    """Write `data` so that no reader, and no crash, ever leaves a part of it at `path`."""
    with replacing(path) as file:
        file.write(data)


def _sync_folder(folder: Path) -> None:
    """The rename itself on the disk; not every file system can do that."""
    with contextlib.suppress(OSError):
        fd = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)

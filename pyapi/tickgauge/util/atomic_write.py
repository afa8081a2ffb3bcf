"""Files that are whole or not there: write beside the place, sync, rename."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import IO

__all__ = ["clear_stale", "name_full", "replacing", "write_whole"]

#: The name of a file that is being written.
_BESIDE = re.compile(r"\.(.{1,100})\.tickgauge-[0-9a-f]{16}", re.DOTALL)

#: Links that the system follows before it gives up (Linux: 40).
_LINKS = 40


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A binary file to write that takes the place of `path` once it is whole and on the disk.

    Parameters
    ----------
    path : path
        Where it belongs. An old file there stays as it is until the new one replaces it, and for
        good if anything fails; its permissions are kept. A symbolic link stays, and the file that
        it names is replaced. A device, a pipe or an open descriptor (``/dev/stdout``) is written
        directly.
    """
    path = Path(path)
    target, fd = _target(path)
    if fd is not None:
        with os.fdopen(os.dup(fd), "wb") as file:
            yield file
        return
    status = _status(target)
    if status is not None and not stat.S_ISREG(status.st_mode):
        with target.open("wb") as file:
            yield file
        return
    clear_stale(target.parent, target.name[:100])
    beside = target.parent / f".{target.name[:100]}.tickgauge-{os.urandom(8).hex()}"
    try:
        with beside.open("xb") as file:
            with contextlib.suppress(OSError):  # not every file system has locks
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if status is not None:
                _like(file.fileno(), status)
            yield file
            file.flush()
            os.fsync(file.fileno())
            beside.replace(target)
    except BaseException as error:
        with contextlib.suppress(OSError):
            beside.unlink()
        if isinstance(error, OSError) and error.filename == str(beside):
            error.filename = str(path)  # the name that the user gave
        name_full(error, path)
        raise
    _sync_folder(target.parent)


def _target(path: Path) -> tuple[Path, int | None]:
    """The file behind symbolic links, or the descriptor of this process that they lead to."""
    for _ in range(_LINKS):
        folder = os.path.realpath(path.parent)
        if re.fullmatch(rf"/proc/(self|{os.getpid()})(/task/[0-9]+)?/fd", folder):
            return path, int(path.name) if path.name.isdigit() else None
        if not path.is_symlink():
            return path, None
        path = Path(folder) / path.readlink()
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def _like(fd: int, status: os.stat_result) -> None:
    """Permissions as the old file has them, and its owner where this user may set it."""
    if (status.st_uid, status.st_gid) != (os.geteuid(), os.getegid()):
        with contextlib.suppress(OSError):
            os.fchown(fd, status.st_uid, status.st_gid)
    os.fchmod(fd, status.st_mode & 0o7777)


def clear_stale(folder: Path, name: str | None = None) -> None:
    """Remove files of dead processes that were being written in `folder` (as `name`).

    A file that a living process writes is locked, and stays.
    """
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            match = _BESIDE.fullmatch(entry.name)
            if match and name in (None, match[1]) and entry.is_file(follow_symlinks=False):
                _remove_unlocked(entry.path)


def _remove_unlocked(path: str) -> None:
    with contextlib.suppress(OSError):
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.unlink(path)  # noqa: PTH108
        finally:
            os.close(fd)


def name_full(error: BaseException, path: str | os.PathLike[str]) -> None:
    """Say in an error of a full disk, which only knows a descriptor, the file that was written."""
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

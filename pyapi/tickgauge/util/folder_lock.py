"""One writer for each output folder: a lock that says who holds it and ends with its process."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import socket
import struct
import threading
from collections.abc import Iterator
from pathlib import Path

from ..errors import InputError

__all__ = ["LOCK", "locked"]

#: The file in the folder; it is there while somebody writes, and after a crash.
LOCK = ".tickgauge.lock"

# Locks of fcntl belong to a process: threads of one need a list of their own.
_own: set[str] = set()
_turn = threading.Lock()


@contextlib.contextmanager
def locked(folder: str | os.PathLike[str]) -> Iterator[None]:
    """Hold `folder` for this process (and this thread) alone.

    Parameters
    ----------
    folder : path
        It must exist. The lock is a file in it, which is removed at the end. A process that dies
        gives the lock back; forked children do not inherit it.

    Raises
    ------
    InputError
        Somebody else holds it; the message names the process and the host.
    OSError
        The folder cannot be written.
    """
    path = Path(folder).resolve() / LOCK
    with _turn:
        if str(path) in _own:
            raise InputError("another thread of this process writes into it", path=str(folder))
        _own.add(str(path))
    try:
        fd = _taken(path, folder)
        try:
            yield
        finally:
            with contextlib.suppress(OSError):
                path.unlink()
            os.close(fd)
    finally:
        with _turn:
            _own.discard(str(path))


def _taken(path: Path, folder: str | os.PathLike[str]) -> int:
    """The descriptor of the locked file at `path`."""
    while True:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
        try:
            try:
                fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                if error.errno not in (errno.EACCES, errno.EAGAIN):
                    raise
                raise InputError(_refusal(fd), path=str(folder)) from None
            if _is_same(fd, path):
                os.ftruncate(fd, 0)
                os.write(fd, f"{os.getpid()} {socket.gethostname()}\n".encode())
                return fd
        except BaseException:
            os.close(fd)
            raise
        os.close(fd)  # the holder before removed it between our open and our lock


def _is_same(fd: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(fd), path.stat())
    except FileNotFoundError:
        return False


def _refusal(fd: int) -> str:
    """Who holds the lock: from the system, else from the file."""
    said = os.pread(fd, 300, 0).decode("utf-8", "replace").split()
    pid, host = (*said[:2], "", "")[:2] if len(said) >= 2 else ("", "")
    with contextlib.suppress(OSError, struct.error):
        form = "hhqqi4x"  # struct flock of Linux on 64 bits
        asked = struct.pack(form, fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
        kind, _, _, _, holder = struct.unpack(form, fcntl.fcntl(fd, fcntl.F_GETLK, asked))
        if kind != fcntl.F_UNLCK and holder > 0:
            pid = str(holder)
    where = f" on {host}" if host and host != socket.gethostname() else ""
    who = f"process {pid}{where}" if pid else "another process"
    return f"{who} writes into it: run again when that one has ended"

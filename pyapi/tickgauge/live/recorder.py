"""Consoles that are still being written: serial ports, pipes, growing files.

A `Recorder` takes the bytes from a port as fast as they come and appends them to a raw log on disk;
whoever analyses reads that log, at its own pace. So nothing is lost to a slow reader, and memory
stays small however long the board talks.
"""

from __future__ import annotations

import os
import select
import stat
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from ..util.optional import need

__all__ = ["FilePort", "Gone", "Note", "PipePort", "Port", "Recorder", "SerialPort", "open_port"]

PIECE = 1 << 16
WAIT = 0.1  # seconds a port waits for bytes before it looks whether it shall stop
RETRY = 0.5  # seconds between two attempts to open a missing device


class Gone(Exception):
    """The port is not there (any more); it may come back."""


class Port(Protocol):
    """Where bytes come from.

    ``read`` gives bytes, waits at most `WAIT` seconds for some, and raises `Gone` when the
    other side went away, EOFError when it ended for good. ``note`` is a message about events that
    was just read, or None.
    """

    note: str | None

    def read(self) -> bytes: ...

    def close(self) -> None: ...


@dataclass(frozen=True)
class Note:
    """Something that happened to a port: time, byte of the raw log, and event."""

    time: float  # seconds since the epoch
    offset: int
    text: str


class SerialPort:
    """A serial device, 8 data bits, no parity, one stop bit, or a URL that pyserial knows.

    Parameters
    ----------
    device : str
        ``/dev/ttyUSB0``, ``socket://host:port``, ``rfc2217://host:port`` ...
    baud : int
        Bits per second.

    Raises
    ------
    Gone
        It cannot be opened now.
    MissingExtra
        pyserial is not installed.
    """

    def __init__(self, device: str, baud: int = 115200) -> None:
        serial = need("serial", "serial")
        self.note: str | None = None
        self._lost = (serial.SerialException, OSError, TypeError)  # TypeError: closed meanwhile
        try:
            if "://" in device:
                self._port: Any = serial.serial_for_url(device, baudrate=baud, timeout=WAIT)
            else:
                self._port = _keeping(serial)(device, baudrate=baud, timeout=WAIT)
        except (serial.SerialException, OSError) as error:
            raise Gone(str(error)) from error

    def read(self) -> bytes:
        try:
            data: bytes = self._port.read(1)
        except self._lost as error:
            raise Gone(str(error)) from error
        try:
            more = self._port.in_waiting if data else 0
            return data + self._port.read(more) if more else data
        except self._lost:
            return data  # the next call says that it is gone

    def close(self) -> None:
        self._port.close()


def _keeping(serial: Any) -> Any:
    """pyserial's port, but bytes that the kernel received before it is opened are kept."""

    class Keeping(serial.Serial):  # type: ignore[misc]
        def _reset_input_buffer(self) -> None:
            pass

    return Keeping


class PipePort:
    """A pipe, or standard input; its end is the end.

    Parameters
    ----------
    fd : int
        An open descriptor; closed with the port unless it is 0.
    """

    def __init__(self, fd: int) -> None:
        self.note: str | None = None
        self._fd = fd

    def read(self) -> bytes:
        if not select.select([self._fd], [], [], WAIT)[0]:
            return b""
        data = os.read(self._fd, PIECE)
        if not data:
            raise EOFError
        return data

    def close(self) -> None:
        if self._fd != 0:
            os.close(self._fd)


class FilePort:
    """A file that grows. A new file in its place is read from its beginning once the old one is
    read to its end, and so is one that was cut short.

    Parameters
    ----------
    path : path

    Raises
    ------
    Gone
        It is not there yet.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.note: str | None = None
        self._path = Path(path)
        self._at = 0
        try:
            self._fd = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError as error:
            raise Gone(str(error)) from error

    def read(self) -> bytes:
        self.note = None
        if data := self._more():
            return data
        mine = os.fstat(self._fd)
        try:
            there = os.stat(self._path)  # noqa: PTH116
        except OSError:
            there = mine  # moved away, no new one yet
        if (there.st_dev, there.st_ino) != (mine.st_dev, mine.st_ino):
            if data := self._more():  # written between the last read and the move
                return data
            fd = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
            os.close(self._fd)
            self._fd, self._at = fd, 0
            self.note = "a new file took its place"
            return self._more()
        if mine.st_size < self._at:
            self._at = 0
            self.note = "the file was cut short"
            return self._more()
        select.select([], [], [], WAIT)
        return b""

    def _more(self) -> bytes:
        try:
            data = os.pread(self._fd, PIECE, self._at)
        except OSError as error:
            error.filename = str(self._path)
            raise
        self._at += len(data)
        return data

    def close(self) -> None:
        os.close(self._fd)


def open_port(device: str, baud: int = 115200) -> Port:
    """The port that a user's word stands for.

    Parameters
    ----------
    device : str
        ``-`` for standard input, a URL of pyserial, a serial device, a named pipe, or a file.
    baud : int
        Bits per second of a serial device.

    Raises
    ------
    Gone
        It is not there now, and may come.
    MissingExtra
        It is a serial port, and pyserial is not installed.
    """
    if device == "-":
        return PipePort(sys.stdin.fileno())
    if "://" in device:
        return SerialPort(device, baud)
    try:
        mode = os.stat(device).st_mode  # noqa: PTH116
    except OSError as error:
        raise Gone(f"{device}: {error.strerror}") from error
    if stat.S_ISCHR(mode):
        return SerialPort(device, baud)
    if stat.S_ISFIFO(mode):
        return PipePort(os.open(device, os.O_RDONLY | os.O_CLOEXEC))
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(21, os.strerror(21), device)
    return FilePort(device)


class Recorder:
    """Takes bytes from a port into a raw log, on a thread of its own, until it is stopped.

    A port that goes away is opened again until it is there; its bytes so far end with a line end
    in the log then, so that no line is made of two halves.

    Parameters
    ----------
    open_it : callable
        Opens the port; raises `Gone` where that may be tried again.
    log : int
        Descriptor of the raw log, open for appending; not closed here.
    begin : int
        Bytes that are in the log already.

    Attributes
    ----------
    written : int
        Bytes in the log.
    received : int
        Bytes that came from the port; less than `written` by the line ends added.
    ended : bool
        Whether nothing more will come.
    error : BaseException or None
        The error that ended it, if it was neither `stop` nor the end of the input.
    notes : list of Note
        Events of the port.
    """

    def __init__(self, open_it: Callable[[], Port], log: int, begin: int = 0) -> None:
        self._open = open_it
        self._log = log
        self._change = threading.Condition()
        self._stop = threading.Event()
        self._last = b"\n"
        self.written = begin
        self.received = 0
        self.ended = False
        self.error: BaseException | None = None
        self.notes: list[Note] = []
        self._thread = threading.Thread(target=self._run, name="recorder", daemon=True)

    def __enter__(self) -> Recorder:
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Stop, with every byte that came in the log."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()

    def wait(self, more_than: int, timeout: float | None = None) -> int:
        """Wait until the log has more than so many bytes, or nothing more will come.

        Returns
        -------
        int
            Bytes in the log.
        """
        with self._change:
            self._change.wait_for(lambda: self.written > more_than or self.ended, timeout)
            return self.written

    def wait_for_notes(self, count: int, timeout: float | None = None) -> bool:
        """Wait until that many notes were made; whether they were."""
        with self._change:
            return self._change.wait_for(
                lambda: len(self.notes) >= count or self.ended, timeout
            ) and (len(self.notes) >= count)

    # ---- the thread -------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            self._record()
        except EOFError:
            pass
        except BaseException as error:
            self.error = error
        with self._change:
            self.ended = True
            self._change.notify_all()

    def _record(self) -> None:
        port: Port | None = None
        gone = False
        try:
            while not self._stop.is_set():
                try:
                    if port is None:
                        port = self._open()
                        if gone:
                            self._tell("it is back")
                        gone = False
                    data = port.read()
                except Gone as error:
                    if port is not None:
                        port.close()
                        port = None
                    if not gone:
                        self._end_line()
                        self._tell(f"not there: {error}")
                    gone = True
                    self._stop.wait(RETRY)
                    continue
                if port.note is not None:
                    self._end_line()
                    self._tell(port.note)
                if data:
                    self.received += len(data)
                    self._write(data)
        finally:
            if port is not None:
                port.close()

    def _write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(self._log, view) :]
        self._last = data[-1:]
        with self._change:
            self.written += len(data)
            self._change.notify_all()

    def _end_line(self) -> None:
        if self._last != b"\n":
            self._write(b"\n")

    def _tell(self, text: str) -> None:
        with self._change:
            self.notes.append(Note(time.time(), self.written, text))
            self._change.notify_all()

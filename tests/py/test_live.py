"""Live consoles: a pseudo-terminal at full speed, unplugging, files that rotate and shrink."""

from __future__ import annotations

import os
import random
import threading
import tty
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.terminals import open_terminal
from tickgauge.live import recorder as live

pytest.importorskip("serial")

PATIENCE = 60  # seconds before a test gives up; none of them needs to wait so long
BYTES = random.Random(8).randbytes(3_000_000)


class Board:
    """A board on a pseudo-terminal, and the path a person would open."""

    def __init__(self, link: Path) -> None:
        self.link = link
        self.plug()

    def plug(self) -> None:
        self.master, slave = open_terminal()
        tty.setraw(self.master)
        name = os.ttyname(slave)
        self.link.unlink(missing_ok=True)
        self.link.symlink_to(name)
        self.slave = slave  # keeps it alive until somebody opens it

    def say(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(self.master, view) :]

    def unplug(self) -> None:
        os.close(self.master)
        os.close(self.slave)
        self.link.unlink()


@pytest.fixture
def log(tmp_path: Path) -> Iterator[tuple[int, Path]]:
    path = tmp_path / "raw.log"
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    yield fd, path
    os.close(fd)


def test_a_serial_port_at_full_speed_loses_nothing(tmp_path: Path, log: tuple[int, Path]) -> None:
    board = Board(tmp_path / "ttyUSB0")
    speaker = threading.Thread(target=board.say, args=(BYTES,))
    with live.Recorder(lambda: live.open_port(str(board.link)), log[0]) as recorder:
        speaker.start()
        assert recorder.wait(len(BYTES) - 1, PATIENCE) == len(BYTES)
        speaker.join()
    assert log[1].read_bytes() == BYTES
    assert recorder.received == len(BYTES)
    assert recorder.notes == []
    board.unplug()


def test_it_survives_unplugging(tmp_path: Path, log: tuple[int, Path]) -> None:
    board = Board(tmp_path / "ttyUSB0")
    with live.Recorder(lambda: live.open_port(str(board.link)), log[0]) as recorder:
        board.say(b"one\nhalf a li")
        assert recorder.wait(12, PATIENCE) == 13
        board.unplug()
        assert recorder.wait_for_notes(1, PATIENCE)
        board.plug()
        assert recorder.wait_for_notes(2, PATIENCE)
        board.say(b"two\n")
        assert recorder.wait(17, PATIENCE) == 18
    assert log[1].read_bytes() == b"one\nhalf a li\ntwo\n"  # one line end of its own
    assert recorder.received == 17
    assert [note.offset for note in recorder.notes] == [14, 14]
    assert recorder.notes[0].text.startswith("not there")
    assert recorder.notes[1].text == "it is back"
    board.unplug()


@pytest.mark.parametrize("dies", ["in_waiting", "read"])
def test_a_byte_that_was_read_before_the_port_went_is_kept(
    dies: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A port is read in two calls; unplugged between them, it fails in the second."""
    import serial

    class Dying:
        def __init__(self, *args: object, **kwargs: object) -> None:
            self.calls = 0

        @property
        def in_waiting(self) -> int:
            if dies == "in_waiting":
                raise OSError(5, "Input/output error")
            return 7

        def read(self, n: int) -> bytes:
            self.calls += 1
            if self.calls > 1:
                raise serial.SerialException("device disconnected")
            return b"x"

    monkeypatch.setattr(live, "_keeping", lambda _: Dying)
    port = live.SerialPort("/dev/ttyUSB0")
    assert port.read() == b"x"
    with pytest.raises(live.Gone, match="device disconnected"):
        port.read()


def test_it_waits_for_a_port_that_is_not_there_yet(tmp_path: Path, log: tuple[int, Path]) -> None:
    link = tmp_path / "ttyUSB0"
    with live.Recorder(lambda: live.open_port(str(link)), log[0]) as recorder:
        assert recorder.wait_for_notes(1, PATIENCE)
        board = Board(link)
        assert recorder.wait_for_notes(2, PATIENCE)
        board.say(b"boot\n")
        assert recorder.wait(0, PATIENCE) > 0
    assert log[1].read_bytes() == b"boot\n"
    board.unplug()


def test_a_pipe_ends_with_its_end(log: tuple[int, Path]) -> None:
    read_end, write_end = os.pipe()
    writer = threading.Thread(
        target=lambda: (os.write(write_end, b"x" * 200_000), os.close(write_end))
    )
    with live.Recorder(lambda: live.PipePort(read_end), log[0]) as recorder:
        writer.start()
        recorder.wait(200_000, PATIENCE)  # there are no more
        assert recorder.ended
        writer.join()
    assert recorder.error is None
    assert log[1].read_bytes() == b"x" * 200_000


def test_a_file_that_grows_rotates_and_shrinks(tmp_path: Path, log: tuple[int, Path]) -> None:
    path = tmp_path / "console.log"
    path.write_bytes(b"old\n")

    def append(data: bytes) -> None:
        with path.open("ab") as file:
            file.write(data)

    def until(size: int) -> None:
        assert recorder.wait(size - 1, PATIENCE) == size

    with live.Recorder(lambda: live.open_port(str(path)), log[0]) as recorder:
        until(4)
        append(b"more\n")
        until(9)
        path.rename(tmp_path / "console.log.1")
        with (tmp_path / "console.log.1").open("ab") as file:
            file.write(b"late\n")  # the writer has not noticed yet
        until(14)
        path.write_bytes(b"new, no line end")
        until(30)
        path.write_bytes(b"cut\n")
        until(35)
    assert log[1].read_bytes() == b"old\nmore\nlate\nnew, no line end\ncut\n"
    assert [note.text for note in recorder.notes] == [
        "a new file took its place",
        "the file was cut short",
    ]


def test_a_full_disk_is_told(tmp_path: Path) -> None:
    path = tmp_path / "console.log"
    path.write_bytes(b"text\n")
    fd = os.open("/dev/full", os.O_WRONLY)
    with live.Recorder(lambda: live.FilePort(path), fd) as recorder:
        recorder.wait(0, PATIENCE)
    os.close(fd)
    assert isinstance(recorder.error, OSError)


def test_a_folder_is_no_port(tmp_path: Path, log: tuple[int, Path]) -> None:
    with live.Recorder(lambda: live.open_port(str(tmp_path)), log[0]) as recorder:
        recorder.wait(0, PATIENCE)
    assert isinstance(recorder.error, IsADirectoryError)

"""Files that are whole or not there, links and devices as outputs, folders with one writer."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tickgauge.errors import InputError
from tickgauge.util.atomic_write import clear_stale, replacing, write_whole
from tickgauge.util.folder_lock import LOCK, locked


def test_it_replaces_and_keeps_permissions(tmp_path: Path) -> None:
    path = tmp_path / "a"
    write_whole(path, b"one")
    mask = os.umask(0)
    os.umask(mask)
    assert path.stat().st_mode & 0o777 == 0o666 & ~mask
    path.chmod(0o640)
    write_whole(path, b"two")
    assert path.read_bytes() == b"two"
    assert path.stat().st_mode & 0o777 == 0o640
    assert [p.name for p in tmp_path.iterdir()] == ["a"]


def test_a_failure_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "a"
    write_whole(path, b"old")
    with pytest.raises(KeyboardInterrupt), replacing(path) as file:
        file.write(b"half of the n")
        raise KeyboardInterrupt
    assert path.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["a"]


def test_killed_in_mid_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "a"
    write_whole(path, b"old")
    code = (
        "import os, signal, sys\nfrom tickgauge.util.atomic_write import replacing\n"
        "with replacing(sys.argv[1]) as file:\n"
        "    file.write(b'new'); file.flush(); os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    assert subprocess.run([sys.executable, "-c", code, path]).returncode == -9
    assert path.read_bytes() == b"old"


def test_a_full_disk_leaves_the_old_file(tmp_path: Path) -> None:
    """A limit on the size of files stands for the full disk."""
    path = tmp_path / "a"
    write_whole(path, b"old")
    code = (
        "import resource, signal, sys\nfrom tickgauge.util.atomic_write import write_whole\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "write_whole(sys.argv[1], bytes(5000))\n"
    )
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True)
    assert b"File too large" in done.stderr
    assert path.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["a"]


def test_a_device_is_written_directly() -> None:
    write_whole("/dev/null", b"gone")
    assert not Path("/dev/null").is_file()


# ---- links, devices, pipes ------------------------------------------------------------------


def test_a_link_stays_and_its_file_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    real = tmp_path / "far" / "real"
    real.write_bytes(b"old")
    (tmp_path / "one").symlink_to("two")
    (tmp_path / "two").symlink_to(Path("far", "real"))
    write_whole(tmp_path / "one", b"new")
    assert real.read_bytes() == b"new"
    assert (tmp_path / "one").readlink() == Path("two")
    assert (tmp_path / "two").is_symlink()
    (tmp_path / "dangling").symlink_to("made")
    write_whole(tmp_path / "dangling", b"here")
    assert (tmp_path / "made").read_bytes() == b"here"
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(OSError, match="symbolic links"):
        write_whole(tmp_path / "loop", b"")


def test_an_open_descriptor_is_written_where_it_stands(tmp_path: Path) -> None:
    """A shell's `> out` and its other writers keep the file; nothing is cut off or replaced."""
    (tmp_path / "link").symlink_to("/proc/self/fd/1")
    code = (
        "import sys\nfrom tickgauge.util.atomic_write import write_whole\n"
        "write_whole(sys.argv[1], b'middle\\n')\n"
    )
    script = 'echo first; "$0" -c "$1" "$2"; "$0" -c "$1" /dev/stdout; echo last'
    out = tmp_path / "out"
    with out.open("wb") as file:
        inode = os.fstat(file.fileno()).st_ino
        command = ["sh", "-c", script, sys.executable, code, str(tmp_path / "link")]
        subprocess.run(command, stdout=file, check=True)
    assert out.read_bytes() == b"first\nmiddle\nmiddle\nlast\n"
    assert out.stat().st_ino == inode
    assert (tmp_path / "link").is_symlink()
    through = subprocess.run([sys.executable, "-c", code, "/dev/stdout"], capture_output=True)
    assert through.stdout == b"middle\n"


def test_a_named_pipe_is_written_into(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
    reader.start()
    write_whole(pipe, b"through")
    reader.join(10)
    assert got == [b"through"]
    assert pipe.is_fifo()


def test_unfinished_files_of_dead_processes_go_and_those_of_living_ones_stay(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a"
    code = (
        "import os, signal, sys\nfrom tickgauge.util.atomic_write import replacing\n"
        "with replacing(sys.argv[1]) as file:\n    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    for _ in range(3):
        subprocess.run([sys.executable, "-c", code, path])
    other = tmp_path / ".a.tickgauge-notes"
    other.write_bytes(b"somebody's own")
    assert len(list(tmp_path.iterdir())) == 2  # each run takes away what the one before left
    with replacing(path) as file:
        file.write(b"slow")
        clear_stale(tmp_path)
        write_whole(path, b"quick")
    assert path.read_bytes() == b"slow"
    assert sorted(p.name for p in tmp_path.iterdir()) == [".a.tickgauge-notes", "a"]


# ---- one writer for each folder -------------------------------------------------------------


def test_a_second_writer_is_told_who_holds_the_folder(tmp_path: Path) -> None:
    code = (
        "import sys, time\nfrom tickgauge.util.folder_lock import locked\n"
        "with locked(sys.argv[1]):\n    print('held', flush=True)\n    time.sleep(60)\n"
    )
    command = [sys.executable, "-c", code, tmp_path]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with (
            pytest.raises(InputError, match=f"process {holder.pid} writes into it"),
            locked(tmp_path),
        ):
            pass
        holder.send_signal(signal.SIGKILL)
    with locked(tmp_path):  # a dead process holds nothing
        assert (tmp_path / LOCK).exists()
        with pytest.raises(InputError, match="another thread"), locked(tmp_path):
            pass
    assert list(tmp_path.iterdir()) == []


def test_many_writers_enter_one_at_a_time(tmp_path: Path) -> None:
    """Each appends two lines; nobody else's may come between them."""
    code = (
        "import os, sys, time\nfrom tickgauge.errors import InputError\n"
        "from tickgauge.util.folder_lock import locked\ndone = 0\n"
        "while done < 40:\n"
        "    try:\n"
        "        with locked(sys.argv[1]), open(sys.argv[2], 'ab', 0) as file:\n"
        "            file.write(b'%d\\n' % os.getpid()); file.write(b'%d\\n' % os.getpid())\n"
        "            done += 1\n"
        "    except InputError: time.sleep(0.001)\n"
    )
    log = tmp_path / "log"
    held = tmp_path / "held"
    held.mkdir()
    command = [sys.executable, "-c", code, held, log]
    running = [subprocess.Popen(command) for _ in range(3)]
    assert [one.wait(60) for one in running] == [0, 0, 0]
    lines = log.read_bytes().split()
    assert len(lines) == 240
    assert lines[::2] == lines[1::2]

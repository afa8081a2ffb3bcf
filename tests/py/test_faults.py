"""Disk full and processes killed while they write: the old file stays as it was, to the byte."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import tickgauge as tg

DATA = Path(__file__).parent.parent / "data"
LOGS = [DATA / "tfa" / "console" / name for name in ("example_console.log", "example_lava.log")]
PAGE = DATA / "tfa" / "psci-performance-n1sdp.rst"

#: The disk is full after so many bytes: the signal is off, so that writing fails as it does there.
FULL = (
    "import resource, signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
    "resource.setrlimit(resource.RLIMIT_FSIZE, (60, 60))\n"
)
#: Killed when the new file is written and about to be made durable.
KILLED = "import os, signal\nos.fsync = lambda fd: os.kill(os.getpid(), signal.SIGKILL)\n"

RUN = "import sys\nfrom tickgauge.cli import main\nsys.exit(main(sys.argv[1:]))\n"

VERBS = {
    "show": ["show", LOGS[0]],
    "show json": ["show", LOGS[0], "--format", "json"],
    "snapshot": ["snapshot", LOGS[0]],
    "compare": ["compare", *LOGS, "--anyway"],
    "report": ["report", *LOGS, "--anyway"],
}

#: The same with a signal that asks it to end.
ENDED = KILLED.replace("SIGKILL", "{}")

FRAMES = ("to_csv", "to_md", "to_rst", "to_parquet")


def _run(before: str, code: str, *args: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", before + code, *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("verb", VERBS)
def test_an_output_of_a_verb_is_the_old_one_or_the_new_one(verb: str, tmp_path: Path) -> None:
    if verb == "report":
        pytest.importorskip("matplotlib")
        pytest.importorskip("jinja2")
    out = tmp_path / "out"
    out.write_bytes(b"old")
    done = _run(FULL, RUN, *VERBS[verb], "-o", out)
    assert done.returncode == 2
    assert f"{out}: File too large" in done.stderr
    assert out.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["out"]
    done = _run(KILLED, RUN, *VERBS[verb], "-o", out)
    assert done.returncode == -signal.SIGKILL
    assert out.read_bytes() == b"old"
    done = _run("", RUN, *VERBS[verb], "-o", out)
    assert done.returncode in (0, 1, 3), done.stderr
    assert len(out.read_bytes()) > 60


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
@pytest.mark.parametrize("verb", ["show json", "snapshot", "compare", "report"])
def test_a_verb_that_is_told_to_end_while_it_writes(verb: str, name: str, tmp_path: Path) -> None:
    if verb == "report":
        pytest.importorskip("matplotlib")
        pytest.importorskip("jinja2")
    out = tmp_path / "out"
    out.write_bytes(b"old")
    done = _run(ENDED.format(name), RUN, *VERBS[verb], "-o", out)
    assert done.returncode == (130 if name == "SIGINT" else -signal.SIGTERM)
    assert out.read_bytes() == b"old"
    left = [p.name for p in tmp_path.iterdir() if p.name != "out"]
    assert len(left) == (0 if name == "SIGINT" else 1)
    assert all(other.startswith(".out.") for other in left)  # hidden: no source of a folder


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="no such file here")
def test_a_file_that_cannot_be_read_is_named() -> None:
    done = _run("", RUN, "show", "/proc/self/mem")
    assert done.returncode == 2
    assert "/proc/self/mem: Input/output error" in done.stderr


def test_a_device_that_never_came_leaves_no_log(tmp_path: Path) -> None:
    log = tmp_path / "raw.log"
    line = ["watch", tmp_path / "ttyUSB9", "--log", log, "--seconds", "0.2"]
    done = _run("", RUN, *line)
    assert done.returncode == 3
    assert "ttyUSB9: No such file or directory" in done.stderr
    assert not log.exists()
    log.write_bytes(b"")  # somebody's own
    _run("", RUN, *line)
    assert log.exists()


@pytest.mark.parametrize("method", FRAMES)
def test_a_table_in_a_file_is_the_old_one_or_the_new_one(method: str, tmp_path: Path) -> None:
    if method == "to_parquet":
        pytest.importorskip("pyarrow")
    out = tmp_path / "out"
    out.write_bytes(b"old")
    code = (
        f"import sys\nimport tickgauge as tg\ntg.read(sys.argv[1]).readings.{method}(sys.argv[2])\n"
    )
    done = _run(FULL, code, LOGS[0], out)
    assert done.returncode == 1
    assert out.read_bytes() == b"old"
    assert _run(KILLED, code, LOGS[0], out).returncode == -signal.SIGKILL
    assert out.read_bytes() == b"old"
    assert _run("", code, LOGS[0], out).returncode == 0
    assert len(out.read_bytes()) > 60


def _state(folder: Path) -> dict[str, bytes]:
    return {
        p.relative_to(folder).as_posix(): p.read_bytes()
        for p in sorted(folder.rglob("*"))
        if p.is_file() and not any(part.startswith(".") for part in p.relative_to(folder).parts)
    }


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_parquet_file_that_is_being_written_when_it_shall_end(name: str, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    out = tmp_path / "out"
    out.write_bytes(b"old")
    code = "import sys, tickgauge as tg\ntg.read(sys.argv[1]).readings.to_parquet(sys.argv[2])\n"
    done = _run(ENDED.format(name), code, LOGS[0], out)
    assert done.returncode == (-signal.SIGINT if name == "SIGINT" else -signal.SIGTERM)
    assert out.read_bytes() == b"old"
    if name == "SIGINT":
        assert [p.name for p in tmp_path.iterdir()] == ["out"]


RELEASE_ENDS = {
    "full": FULL,
    "killed": KILLED,
    "SIGINT": ENDED.format("SIGINT"),
    "SIGTERM": ENDED.format("SIGTERM"),
}


@pytest.mark.parametrize("before", RELEASE_ENDS.values(), ids=RELEASE_ENDS)
def test_a_release_step_that_dies_leaves_the_tables(before: str, tmp_path: Path) -> None:
    pytest.importorskip("docutils")
    sides = [f"{PAGE}@v2.9", f"{PAGE}@v2.10"]
    command = ["table", *sides, "--platform", "n1sdp", "--into", tmp_path, "--anyway"]
    (tmp_path / "current").mkdir()
    first = _run("", RUN, *command)
    if first.returncode not in (0, 1):
        pytest.fail(first.stderr)
    old = _state(tmp_path)
    assert old
    done = _run(before, RUN, *command)
    assert done.returncode in (2, 130, -signal.SIGKILL, -signal.SIGTERM)
    assert _state(tmp_path) == old
    if done.returncode > 0:  # not even a hidden folder
        assert sorted(p.name for p in tmp_path.iterdir()) == ["current", "previous"]
    if before == FULL:  # it names the file that it could not write, where it would stand
        assert done.returncode == 2
        assert re.search(rf"{tmp_path}/current/test_rt_\w+\.csv: File too large", done.stderr)


def test_a_batch_on_a_full_disk_goes_on_later(tmp_path: Path) -> None:
    logs, out, clean = (tmp_path / name for name in ("logs", "out", "clean"))
    logs.mkdir()
    for n in range(6):
        (logs / f"{n}.log").write_bytes(LOGS[0].read_bytes() + b"\n" * n)
    assert _run("", RUN, "batch", logs, "-o", clean, "--jobs", "1", "--no-rows").returncode == 0
    full = FULL.replace("(60, 60)", "(30000, 30000)")
    assert _run(full, RUN, "batch", logs, "-o", out, "--jobs", "1").returncode != 0
    assert _run("", RUN, "batch", logs, "-o", out, "--jobs", "1").returncode == 0
    assert (out / "snapshot.json").read_bytes() == (clean / "snapshot.json").read_bytes()


def test_a_file_of_an_earlier_time_is_read_again(tmp_path: Path) -> None:
    """The clock was set back: another time of the file is another file, be it earlier or later."""
    log = tmp_path / "logs" / "a.log"
    log.parent.mkdir()
    out = tmp_path / "out"
    data = LOGS[0].read_bytes()
    log.write_bytes(data + b"one\n")
    one = tg.batch(str(log.parent), jobs=1, out=out).snapshot
    log.write_bytes(data + b"two\n")
    os.utime(log, ns=(10**18, 10**18))  # 2001
    two = tg.batch(str(log.parent), jobs=1, out=out).snapshot
    assert one.sources[0]["digest"] != two.sources[0]["digest"]


#: Every look at the clock of the machine gives a day earlier than the one before.
BACKWARDS = (
    "import itertools, time\ntime.time = map(float, itertools.count(2**31, -86400)).__next__\n"
)


def test_the_clock_of_the_machine_and_the_times_of_files_are_no_matter(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    results = []
    for before, day in (("", 0), ("", 2**33), (BACKWARDS, 2**30), (BACKWARDS, -(2**30))):
        for n in range(3):
            (logs / f"{n}.log").write_bytes(LOGS[0].read_bytes() + b"\n" * n)
            os.utime(logs / f"{n}.log", (day, day))
        out = tmp_path / f"out{len(results)}"
        batch = _run(before, RUN, "batch", logs, "-o", out, "--jobs", "1", "--no-rows")
        assert batch.returncode == 0, batch.stderr
        watch = _run(before, RUN, "watch", logs / "0.log", "--seconds", "0.5", "--format", "json")
        assert watch.returncode == 0, watch.stderr
        results.append(((out / "snapshot.json").read_bytes(), watch.stdout))
    assert len(results[0][1]) > 60
    assert results[1:] == results[:1] * 3


def test_a_source_that_is_replaced_while_it_is_read(tmp_path: Path) -> None:
    """What was opened is read to its end; the file that took its place is another source."""
    path, other = tmp_path / "a.log", tmp_path / "b.log"
    path.write_bytes(LOGS[0].read_bytes())
    other.write_bytes(b"nothing\n")

    class Replacing:
        def __init__(self) -> None:
            self._file = path.open("rb", buffering=0)
            self.name = "a.log"

        def read(self, n: int = -1) -> bytes:
            if other.exists():
                other.replace(path)
            return self._file.read(n)

    assert len(tg.read(Replacing()).readings) == len(tg.read(LOGS[0]).readings)

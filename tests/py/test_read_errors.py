"""Every verb on a disk that fails: a preloaded library makes reads of some files go wrong.

A read that fails for good is told with the file and status 2, and is never a shorter answer with
status 0. A read that is interrupted or gives little is no failure: the answer is that of a sound
disk, to the byte.
"""

from __future__ import annotations

import gzip
import lzma
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

DATA = Path(__file__).parent.parent / "data"
SOURCE = Path(__file__).parent / "support" / "faulty_read.c"

VERBS = {
    "show": ["show", "FAULTY.log"],
    "show of gz": ["show", "FAULTY.log.gz"],
    "calls": ["calls", "FAULTY-ree.log"],
    "compare": ["compare", "FAULTY.json", "FAULTY.log"],
    "gate": ["gate", "sound.log", "FAULTY.log"],
    "trend": ["trend", "FAULTY.log", "sound.log"],
    "snapshot": ["snapshot", "FAULTY.log"],
    "axi": ["axi", "FAULTY.csv"],
    "axi of xz": ["axi", "FAULTY.csv.xz"],
    "table": ["table", "FAULTY.rst@v2.9", "FAULTY.rst@v2.10", "--platform", "n1sdp"],
    "audit": ["audit", "FAULTY.rst"],
    "runs": ["runs", "FAULTY-run.log"],
    "report": ["report", "FAULTY.log", "sound.log", "--anyway", "-o", "-"],
    "batch": ["batch", "FAULTY.log", "sound.log", "--jobs", "1"],
    "watch": ["watch", "FAULTY.log", "--seconds", "0.6"],
}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which(os.environ.get("CC") or "cc")
    if compiler is None or not sys.platform.startswith("linux"):
        pytest.skip("no C compiler, or no Linux: reads cannot be made to fail")
    made = tmp_path_factory.mktemp("library") / "faulty_read.so"
    command = [compiler, "-shared", "-fPIC", "-O1", "-o", made, SOURCE, "-ldl"]
    subprocess.run(command, check=True, capture_output=True)
    return made


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sound log and files of every kind whose reads may fail."""
    place = tmp_path_factory.mktemp("sources")
    log = (DATA / "tfa" / "console" / "example_console.log").read_bytes()
    files = {
        "sound.log": log + b"\n",
        "FAULTY.log": log,
        "FAULTY.log.gz": gzip.compress(os.urandom(6000).hex().encode() + b"\n" + log),
        "FAULTY-ree.log": gzip.decompress((DATA / "optee" / "ree.log.gz").read_bytes()),
        "FAULTY.json": gzip.decompress((DATA / "stats" / "tfa-2.12.json.gz").read_bytes()),
        "FAULTY.csv": lzma.decompress((DATA / "zynq" / "A.csv.xz").read_bytes()),
        "FAULTY.csv.xz": (DATA / "zynq" / "A.csv.xz").read_bytes(),
        "FAULTY.rst": (DATA / "tfa" / "psci-performance-n1sdp.rst").read_bytes(),
        "FAULTY-run.log": (DATA / "zynq" / "v2019.1.log").read_bytes() * 20,
    }
    for name, data in files.items():
        (place / name).write_bytes(data)
    return place


def run(
    folder: Path, library: Path, arguments: list[str], fault: str = "", after: int = 0
) -> subprocess.CompletedProcess[str]:
    """The command where reads behind the first `after` ones go wrong as `fault` says."""
    environment = {**os.environ, "LD_PRELOAD": str(library), "AT": str(after)}
    environment.pop("FAULT", None)
    if fault:
        environment["FAULT"] = fault
    command = [sys.executable, "-m", "tickgauge", *arguments]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120
    )


@pytest.mark.noasan
@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_on_a_disk_that_fails(verb: str, folder: Path, library: Path) -> None:
    arguments = VERBS[verb]
    if verb == "report":
        pytest.importorskip("matplotlib")
        pytest.importorskip("jinja2")
    sound = run(folder, library, arguments)
    assert sound.returncode in (0, 3), sound.stderr
    for fault in ("EINTR", "SHORT"):
        done = run(folder, library, arguments, fault)
        assert (done.returncode, done.stdout) == (sound.returncode, sound.stdout), fault
    for fault, reads, words in (
        ("EIO", 0, "Input/output error"),
        ("ESTALE", 2, "Stale file handle"),
    ):
        done = run(folder, library, arguments, fault, reads)
        assert done.returncode == 2, (fault, done.stdout)
        assert words in done.stderr
        assert "FAULTY" in done.stderr
        assert "Traceback" not in done.stderr


@pytest.mark.noasan
def test_a_batch_does_not_keep_a_file_that_was_not_read_whole(
    folder: Path, library: Path, tmp_path: Path
) -> None:
    """4000 pairs of lines are 4000 calls of 98304 ns, on a sound disk and after a read error."""
    lines = ["CounterTimerFrequency: 0x3b9aca0"]
    for i in range(4000):
        start = 0x10000000 + i * 0x4000
        for word, stamp in (("do", start + 0x400), ("finish", start + 0x1C00)):
            lines.append(f"[    1.0] optee: TEEDriver: {word} smc call, cmd=1, cntvct=0x{stamp:x}")
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "FAULTY.log").write_text("\n".join(lines) + "\n")
    batch = ["batch", str(logs), "-o", str(tmp_path / "out"), "--jobs", "1"]
    done = run(folder, library, batch, "EIO", 300)
    assert done.returncode == 2
    assert "FAULTY.log: Input/output error" in done.stderr
    assert done.stdout.startswith("1 files (1 damaged): 1 boots, ")
    assert not list((tmp_path / "out" / "parts").iterdir())
    again = run(folder, library, batch)
    assert again.returncode == 0
    assert again.stdout.startswith("1 files (1 read): 1 boots, 4000 readings")
    third = run(folder, library, batch)
    assert third.stdout.startswith("1 files (1 kept): 1 boots, 4000 readings")


@pytest.mark.noasan
def test_a_file_that_failed_with_an_error_of_the_system_is_read_again(
    folder: Path, library: Path, tmp_path: Path
) -> None:
    """From the first byte, which is no "not recognised"."""
    logs = tmp_path / "logs"
    logs.mkdir()
    shutil.copy(folder / "FAULTY.log", logs)
    batch = ["batch", str(logs), "-o", str(tmp_path / "out"), "--jobs", "1"]
    for fault in ("EIO", "ESTALE"):
        done = run(folder, library, batch, fault)
        assert done.returncode == 2
        assert "(1 failed)" in done.stdout
    done = run(folder, library, batch)
    assert (done.returncode, "(1 read)" in done.stdout) == (0, True)


@pytest.mark.noasan
def test_a_snapshot_that_was_not_read_whole_replaces_nothing(
    folder: Path, library: Path, tmp_path: Path
) -> None:
    base = tmp_path / "base.json"
    base.write_bytes(b"old")
    snapshot = ["snapshot", "FAULTY.log", "-o", str(base)]
    assert run(folder, library, snapshot, "EIO", 3).returncode == 2
    assert base.read_bytes() == b"old"
    done = run(folder, library, [*snapshot, "--anyway"], "EIO", 3)
    assert done.returncode == 2
    assert base.read_bytes() != b"old"

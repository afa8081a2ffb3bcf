"""Captures, odd files and wrong arguments where nobody expects them: one line that helps."""

from __future__ import annotations

import gzip
import lzma
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tickgauge as tg
from tickgauge.report import report

DATA = Path(__file__).parent.parent / "data"
LOG = DATA / "tfa" / "console" / "example_console.log"
CAPTURES = [DATA / "zynq" / f"{name}.csv.xz" for name in "AB"]


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    """A folder with a console, a capture, a snapshot, a named pipe and a socket."""
    folder = tmp_path / "mixed"
    folder.mkdir()
    (folder / "console.log").write_bytes(LOG.read_bytes())
    (folder / "a.csv").write_bytes(lzma.decompress(CAPTURES[0].read_bytes()))
    base = gzip.decompress((DATA / "stats" / "tfa-2.12.json.gz").read_bytes())
    (folder / "base.json").write_bytes(base)
    os.mkfifo(folder / "pipe")
    with socket.socket(socket.AF_UNIX) as made:
        here = Path.cwd()
        os.chdir(folder)  # the name of a socket is short
        try:
            made.bind("socket")
        finally:
            os.chdir(here)
    return folder


def run(*arguments: Any, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tickgauge", *map(str, arguments)]
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=60)
    assert "Error" not in done.stderr, done.stderr
    return done


def test_a_report_of_captures(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    pytest.importorskip("jinja2")
    out = tmp_path / "x.html"
    assert run("report", *CAPTURES, "-o", out).returncode == 0
    assert "A.csv.xz" in out.read_text()


def test_watch_names_the_verb_for_a_capture(mixed: Path) -> None:
    done = run("watch", mixed / "a.csv", "--seconds", "1")
    assert done.returncode == 2
    assert "it is a capture, which is read when it is whole: tickgauge axi" in done.stderr


def test_show_of_a_mixed_folder_shows_the_texts_and_names_the_rest(mixed: Path) -> None:
    done = run("show", ".", cwd=mixed)
    assert done.returncode == 0
    assert "101 readings of 101 keys" in done.stdout
    for line in (
        "a.csv: is a capture, shown by itself: tickgauge axi a.csv",
        "base.json: is a snapshot, shown by itself: tickgauge show base.json",
        "pipe: skipped: a named pipe in a folder",
        "socket: skipped: a socket in a folder",
    ):
        assert line in done.stderr


def test_batch_says_which_verb_takes_what_it_does_not(mixed: Path) -> None:
    done = run("batch", ".", "--jobs", "1", cwd=mixed)
    assert done.returncode == 0
    assert done.stdout.startswith("5 files (1 read, 2 not taken, 2 skipped): 1 boots, 101 readings")
    assert "a.csv: is a capture, which a batch does not take: tickgauge axi a.csv" in done.stderr


@pytest.mark.parametrize("verb", ["calls"])
def test_verbs_for_consoles_say_which_verb_takes_a_capture(verb: str, mixed: Path) -> None:
    done = run(verb, mixed / "a.csv")
    assert done.returncode == 2
    assert "is a capture, which this verb does not take: tickgauge axi" in done.stderr


def test_two_consoles_of_a_boot_without_together_get_the_hint(tmp_path: Path) -> None:
    ree, tee = tmp_path / "ree.log", tmp_path / "tee.log"
    stamps = range(0x10000, 0x90000, 0x8000)
    ree.write_text(
        "CounterTimerFrequency: 0x3b9aca0\n"
        + "".join(
            f"[    1.0] optee: TEEDriver: do smc call, cmd=1, cntvct=0x{t:x}\n"
            f"[    1.0] optee: TEEDriver: finish smc call, cmd=1, cntvct=0x{t + 0x1800:x}\n"
            for t in stamps
        )
    )
    tee.write_text(ree.read_text().replace("CounterTimerFrequency: 0x3b9aca0\n", "\n", 1))
    done = run("calls", ree, tee)
    assert "--together joins consoles of the same boots" in done.stdout
    assert f"no clock is known of {tee}:" in done.stdout
    assert str(ree) not in done.stdout.partition("no clock is known")[2].partition("\n")[0]


# ---- wrong types --------------------------------------------------------------------------------

DATASET = tg.read(LOG)

WRONG: dict[str, Callable[[Any], Any]] = {
    "compare": lambda x: tg.compare(DATASET, x),
    "gate": lambda x: tg.gate(x, DATASET),
    "trend": lambda x: tg.trend([DATASET, x]),
    "snapshot": lambda x: tg.snapshot(x),
    "merge": lambda x: tg.snapshot(DATASET).merge(x),
    "join": lambda x: DATASET.readings.join(x, DATASET.keys),
    "compare_ports": lambda x: tg.compare_ports(x, x),
    "limits": lambda x: tg.read(LOG, limits=x),
    "platform": lambda x: tg.read(LOG, platform=x),
    "max_line": lambda x: tg.read(LOG, max_line=x),
    "tee_offset": lambda x: tg.read(LOG, tee_offset=x),
    "report": lambda x: report(DATASET, DATASET, x),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_argument_is_a_type_error_that_names_it(name: str) -> None:
    with pytest.raises(TypeError, match=r"object|is (a|an|int|str|Limits)\b|not a data set"):
        WRONG[name](object())


def test_an_empty_list_of_rows_is_an_empty_table() -> None:
    assert len(DATASET.tests[[]]) == 0
    assert DATASET.tests[[]]["verdict"].tolist() == []

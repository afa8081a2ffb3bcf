"""Watching: boots become complete as the log grows, whenever it is looked at."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tty
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tickgauge as tg
from support.terminals import open_terminal
from tickgauge.live.watch import Watch, running_table

RULE = "fft {n:uint} points: {t:uint} usec"
FFT = tg.Rule(RULE, value="t", unit="us")
TOML = f'[[rule]]\nname = "fft"\ntemplate = "{RULE}"\nvalue = "t"\nunit = "us"\n'


def boot(seed: int, slower: int = 0) -> bytes:
    """A boot: a banner of the first stage, then some lines."""
    rng = random.Random(seed)
    lines = ["NOTICE:  BL1: v2.12.0(release):v2.12", "NOTICE:  BL1: Built : 10:00:00, Jan  1 2026"]
    lines += [f"fft {n} points: {rng.randrange(100, 110) + slower} usec" for n in (64, 128) * 10]
    return ("\r\n".join(lines) + "\r\n").encode()


LOG = b"".join(boot(i) for i in range(5))


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    path = tmp_path / "raw.log"
    path.write_bytes(LOG)
    return path


def rows(frame: Any) -> list[dict[str, Any]]:
    return sorted(frame, key=lambda row: str(row["key"]))


def test_the_log_of_the_tests_has_five_boots() -> None:
    data = tg.read(LOG, rules=FFT)
    assert len(data.boots) == 5
    assert len(data.readings) == 100


def test_a_look_reads_every_byte_a_fixed_number_of_times(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once for all boots, once for each, once for the last: 2 * 40 boots, not 40 * 40 / 2."""
    log = b"".join(boot(i) for i in range(40))
    bytes_read = [0]

    def counting(text: bytes, **options: Any) -> Any:
        bytes_read[0] += len(text)
        return tg.read(text, **options)

    monkeypatch.setattr("tickgauge.live.watch.read", counting)
    fd = os.memfd_create("raw")
    try:
        os.write(fd, log)
        watch = Watch(fd, {"rules": FFT})
        assert watch.look(len(log)).boots == 39
        assert watch.look(len(log), last=True).boots == 1
        assert bytes_read[0] <= 2 * len(log) + 2 * len(boot(0)) + 40
    finally:
        os.close(fd)


@settings(max_examples=40, deadline=None)
@given(ends=st.lists(st.integers(0, len(LOG)), max_size=6))
def test_it_does_not_matter_when_one_looks(ends: list[int]) -> None:
    data = tg.read(LOG, rules=FFT)
    want = {}
    for key in ("n=64", "n=128"):
        values = sorted(data.readings.select(labels=key).ns.tolist())
        want[key] = (50, values[0], values[24], values[44], values[49])  # inverted CDF
    fd = os.memfd_create("raw")
    try:
        os.write(fd, LOG)
        watch = Watch(fd, {"rules": FFT})
        boots = [watch.look(end).boots for end in sorted(ends)]
        boots.append(watch.look(len(LOG), last=True).boots)
        assert sum(boots) == watch.complete == 5
        found = running_table(watch.total)
        got = {
            row["key"].split()[-1]: (row["n"], row["min"], row["median"], row["p90"], row["max"])
            for row in found
        }
        assert got == want
        assert set(found["unit"]) == {"ns"}
        assert rows(watch.table()) == rows(found)
    finally:
        os.close(fd)


def test_the_running_boot_counts_in_the_table_and_not_in_the_verdict(raw: Path) -> None:
    one = len(boot(0))
    with raw.open("rb") as file:
        watch = Watch(file.fileno(), {"rules": FFT}, tg.read(LOG, rules=FFT))
        assert watch.look(0).boots == 0
        assert len(watch.table()) == 0
        look = watch.look(one - 100)
        assert (look.boots, look.verdict, watch.complete) == (0, None, 0)
        assert sum(watch.table()["n"].tolist()) > 10
        look = watch.look(one + 200)
        assert (look.boots, watch.complete) == (1, 1)
        assert look.verdict.units == (5, 1)
        assert watch.look(one + 200).verdict is None  # nothing new


def test_text_without_records_is_passed_over(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("tickgauge.live.watch.BARREN", 1000)
    path = tmp_path / "raw"
    path.write_bytes(b"nothing to see here\n" * 200 + LOG)
    with path.open("rb") as file:
        watch = Watch(file.fileno(), {"rules": FFT})
        for end in range(0, path.stat().st_size, 700):
            watch.look(end)
        watch.look(path.stat().st_size, last=True)
        assert watch.complete == 5


# ---- the command -------------------------------------------------------------------------------


def start(*args: Any, **more: Any) -> subprocess.Popen[bytes]:
    line = [sys.executable, "-m", "tickgauge", "watch", *map(str, args), "--format", "json"]
    pipe = subprocess.PIPE
    return subprocess.Popen(line, stdout=pipe, stderr=pipe, **more)


def documents(out: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.splitlines()]


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    path = tmp_path / "rules.toml"
    path.write_text(TOML)
    return path


def test_a_board_on_a_terminal(tmp_path: Path, rules: Path) -> None:
    """300 boots as fast as the line takes them: the raw log has every byte."""
    pytest.importorskip("serial")
    master, slave = open_terminal()
    tty.setraw(master)
    log = tmp_path / "kept.log"
    text = b"".join(boot(i) for i in range(300))
    child = start(os.ttyname(slave), "--rules", rules, "--log", log, "--boots", 299)
    view = memoryview(text)
    while view:
        view = view[os.write(master, view) :]
    out, err = child.communicate(timeout=120)
    os.close(master)
    os.close(slave)
    assert child.returncode == 0, err
    assert log.read_bytes() == text
    last = documents(out)[-1]
    assert (last["end"], last["boots"], last["bytes"]) == (True, 300, str(len(text)))
    assert [row["n"] for row in last["rows"]] == ["3000", "3000"]  # u64
    assert b"the raw log is" in err


def test_a_pipe_against_a_baseline(tmp_path: Path, rules: Path) -> None:
    base = tmp_path / "base.log"
    base.write_bytes(b"".join(boot(100 + i) for i in range(8)))
    new = b"".join(boot(200 + i, slower=40) for i in range(8))
    for text, status in ((base.read_bytes(), 0), (new, 1)):
        args = ("-", "--rules", rules, "--baseline", base)
        child = start(*args, stdin=subprocess.PIPE)
        out, err = child.communicate(text, timeout=120)
        assert child.returncode == status, err
        verdict = documents(out)[-1]["verdict"]
        regressed = sum(row["verdict"] == "regressed" for row in verdict["rows"])
        assert regressed == (2 if status else 0)


def test_ctrl_c_ends_it_with_what_was_seen(tmp_path: Path, rules: Path) -> None:
    path = tmp_path / "growing.log"
    path.write_bytes(LOG)
    child = start(path, "--rules", rules, "--refresh", "0.05")
    assert child.stdout is not None
    first = json.loads(child.stdout.readline())  # four boots are complete, the fifth may go on
    assert (first["boots"], first["end"]) == (4, False)
    child.send_signal(signal.SIGINT)
    out, _ = child.communicate(timeout=120)
    assert child.returncode == 130
    assert documents(out)[-1]["boots"] == 5
    assert sorted(p.name for p in tmp_path.iterdir()) == ["growing.log", "rules.toml"]


def test_bad_arguments(tmp_path: Path) -> None:
    for args in (
        (tmp_path, "--seconds", "60"),
        ("-", "--baseline", tmp_path / "none"),
        ("-", "--margin", "x"),
    ):
        child = start(*args, stdin=subprocess.DEVNULL, cwd=tmp_path)
        _, err = child.communicate(timeout=120)
        assert child.returncode == 2, err
        assert b"Traceback" not in err
    child = start("-", stdin=subprocess.DEVNULL)
    child.communicate(timeout=120)
    assert child.returncode == 3

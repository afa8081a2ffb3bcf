"""A file read in two halves gives what it gives as one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tickgauge as tg
from tickgauge.reading import split_file as halves

RECORD = "<RT_INSTR:test_rt_instr_cpu_off_serial\t{}\t{}\t{}\t{}\t{}/>\n"


def console(lines: int, crlf: bool = False) -> bytes:
    """Banners, records, torn records, lines of no interest."""
    out = ["NOTICE:  BL1: v2.12.0(release):v2.12\n"]
    for i in range(lines):
        out.append(RECORD.format(i % 2, i % 3, 20 * i, 40 + 20 * (i % 7), 60))
        out.append(f"[{i:5d}.000001] usb 1-1: new device\n" if i % 3 else "\n")
        if i % 50 == 7:
            out.append("<RT_INSTR:test_rt_instr_cpu_off_serial\t0\t1\t44\n")
    text = "".join(out)
    return (text.replace("\n", "\r\n") if crlf else text).encode()


def same_frames(one: Any, other: Any) -> None:
    """Equal columns, missing values included."""
    assert one.columns == other.columns
    assert len(one) == len(other)
    for name in one.columns:
        np.testing.assert_array_equal(np.asarray(one[name]), np.asarray(other[name]))


@pytest.fixture
def small_halves(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Halve every file; tells what became of each."""
    monkeypatch.setattr(halves, "HALVE_FROM", 1)
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    took: list[bool] = []
    inner = halves.read_halves

    def noted(*args: Any) -> Any:
        got = inner(*args)
        took.append(got is not None)
        return got

    monkeypatch.setattr("tickgauge.reading.console.read_halves", noted)
    return took


@pytest.mark.parametrize("crlf", [False, True])
@pytest.mark.parametrize("tail", [b"", b"cut off"])
def test_two_halves_are_the_whole(
    tmp_path: Path, small_halves: list[bool], crlf: bool, tail: bytes
) -> None:
    data = console(400, crlf) + tail
    log = tmp_path / "console.log"
    log.write_bytes(data)
    apart = tg.read(log)
    assert small_halves == [True]
    whole = tg.read(data)
    assert small_halves == [True]  # memory has no file to open twice
    for name in ("boots", "readings", "problems"):
        same_frames(getattr(apart, name), getattr(whole, name))
    assert list(apart.records) == list(whole.records)
    for rule in whole.records:
        same_frames(apart.records[rule], whole.records[rule])
    assert len(whole.readings) > 1000
    assert len(whole.problems) == 8


def test_a_file_without_line_ends_in_its_middle_is_read_as_one(
    tmp_path: Path, small_halves: list[bool]
) -> None:
    line = RECORD.format(0, 1, 20, 40, 60).encode()
    log = tmp_path / "one.log"
    log.write_bytes(line + b"x" * 4000)
    assert len(tg.read(log).readings) == 3
    assert small_halves == [False]


def test_repair_is_for_one_reader(tmp_path: Path, small_halves: list[bool]) -> None:
    log = tmp_path / "console.log"
    log.write_bytes(console(20))
    assert len(tg.read(log, repair=True).readings) == 60
    assert small_halves == []

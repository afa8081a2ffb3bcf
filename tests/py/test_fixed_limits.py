"""Limits of the page about security that no option moves: each row has its test."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import tickgauge as tg
from tickgauge import _core
from tickgauge.tfa import audit as audits
from tickgauge.tfa import pages

ROOT = Path(__file__).resolve().parents[2]

#: A row of the table by its first words, and the test of it.
ROWS = {
    "kept fields of a template": "tests/c/check_template.c",
    "lines of a section that fit nothing": "tests/c/check_reader.c",
    "a number of a record": "tests/c/check_number.c",
    "samples of handshakes without any change": "tests/c/check_capture_vcd.c",
    "consoles (channels) of TFTF records": "test_consoles_of_a_source_end_at_63",
    "releases of a series": "test_series_and_bins_end",
    "a release table as CSV": "test_a_page_and_a_table_have_a_largest_size",
    "cells times data sets": "test_an_audit_ends_at_its_pairs",
    "a header of a tar archive": "tests/py/test_archives.py",
    "a TOML file": "tests/py/test_limits.py",
    "cpus of a board": "tests/py/test_hostile.py",
}


def test_every_limit_without_an_option_has_a_test():
    text = (ROOT / "SECURITY.md").read_text("utf-8")
    table = text.partition("| what | limit | option |")[2].partition("\n\n")[0]
    rows = [line.split("|")[1:4] for line in table.splitlines()[2:]]
    fixed = [what.strip() for what, _, option in rows if not re.search(r"`[a-z]+`", option)]
    assert len(fixed) == len(ROWS)
    for what in fixed:
        (test,) = (test for row, test in ROWS.items() if what.startswith(row))
        assert test in globals() or (ROOT / test).exists(), test


def test_consoles_of_a_source_end_at_63():
    entry = '- {{"dt": "2026-08-21T10:00:00.1", "lvl": "target", "msg": "{}", "ns": "board{}"}}\n'
    words = ["> Executing 'PSCI_VERSION latency'", "NOTICE:  Raw results:"]
    words += ["NOTICE:  503 cycles\\t8048 ns"]
    text = "".join(entry.format(word, board) for board in range(64) for word in words)
    data = tg.read(text.encode())
    (problem,) = data.problems
    assert problem["reason"] == "channels"
    assert problem["line"] == 63 * len(words) + 1


def test_series_and_bins_end():
    one = np.ones(1, "u8")
    for n in (4096, 4097):
        value, place = np.ones(n, "i8"), np.arange(n, dtype="u4")
        ends = np.array([0, n], "u8")
        if n == 4096:
            _core.trend(value, place, ends, one, one, one)
        else:
            with pytest.raises(tg.LimitError):
                _core.trend(value, place, ends, one, one, one)
    value = np.arange(9, dtype="i8")
    with pytest.raises(ValueError):
        _core.histogram(value, None, 1, (1 << 20) + 1)
    _core.histogram(value, None, 1, 1 << 20)


def test_a_page_and_a_table_have_a_largest_size(tmp_path):
    page = tmp_path / "page.rst"
    real = (ROOT / "notebooks" / "data" / "n1sdp" / "v2.10.rst").read_text("utf-8")
    page.write_text(real + "\n" + "word " * (pages.LARGEST_PAGE // 5))
    with pytest.raises(tg.InputError, match=f"more than {pages.LARGEST_PAGE} characters"):
        tg.audit(page)
    table = tmp_path / "v2.0.csv"
    table.write_bytes(b"Cluster,Core,Powerdown\n" + b"0,0,1\n" * (pages.SUSPICIOUS // 6))
    with pytest.raises(tg.InputError, match=f"more than {pages.SUSPICIOUS} bytes"):
        pages.read_published(table)


def test_an_audit_ends_at_its_pairs(monkeypatch):
    folder = ROOT / "notebooks" / "data" / "n1sdp"
    tg.audit(folder)
    monkeypatch.setattr(audits, "MOST_PAIRS", 1)
    with pytest.raises(tg.LimitError, match="too many to audit"):
        tg.audit(folder)

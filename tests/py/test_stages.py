"""Stages of boots as text, and what speaks for each format of a source."""

from __future__ import annotations

import pytest

import tickgauge as tg
from tickgauge.cli import main
from tickgauge.dataset.stages import beside, waterfalls

BOOT = """\
PMF:cpu 0\ttid 0\tts 100000
NOTICE:  BL1: v2.12.0(debug):v2.12.0
PMF:cpu 0\ttid 1\tts {bl1}
U-Boot 2024.01 (Jan 08 2024 - 15:37:48 +0000)
Timer summary in microseconds (3 records):
       Mark    Elapsed  Stage
          0          0  reset
    {first}    {first}  board_init_f
  1,000,000    {second}  board_init_r

Accumulated time:
                10,017  dm_r
"""
TWO = BOOT.format(bl1=300000, first="750,000", second="250,000") + BOOT.format(
    bl1=310000, first="500,000", second="500,000"
)


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "boots.log"
    path.write_text(TWO)
    return path


def test_a_boot_is_a_waterfall(log):
    falls = dict(waterfalls(tg.read(log, clock="50MHz").stages))
    assert list(falls)[:3] == ["boot 0, boot", "boot 0, bootstage", "boot 0, accumulated"]
    reset, first, second = falls["boot 0, bootstage"]
    # 750 ms and 250 ms of 1000 ms: 30 and 10 of 40 characters, the second behind the first.
    assert first.split("|")[1] == "#" * 30 + " " * 10
    assert second.split("|")[1] == " " * 30 + "#" * 10
    assert "750.000 ms" in first
    assert reset.split("|")[1].count("#") == 1
    assert falls["boot 0, accumulated"][0].split("|")[1].strip() == ""  # no place in time
    assert "4.000 ms" in falls["boot 0, boot"][0]  # 200000 ticks of 50 MHz


def test_boots_stand_beside_each_other(log):
    rows = {row["stage"]: row for row in beside(tg.read(log).stages).to_records()}
    assert (rows["board_init_f"]["boot 0"], rows["board_init_f"]["boot 1"]) == (750.0, 500.0)
    assert (rows["BL1"]["unit"], rows["BL1"]["boot 1"]) == ("tick", 210000)  # no clock is known


def test_show_stages(log, capsys):
    assert main(["show", "--stages", str(log)]) == 0
    out = capsys.readouterr().out
    assert "boot 1, bootstage" in out
    assert "beside each other" in out


def test_every_format_has_its_evidence_and_score(tmp_path):
    path = tmp_path / "mixed.log"
    path.write_text(
        TWO
        + "min=1us max=2us mean=1us stddev=1us (cv 1%) (1MiB/s)\n"
        + "min=1us max=2us mean=1us stddev=1us (cv 1%) (1Mi\n"
    )
    evidence = {line.partition(":")[0]: line for line in tg.read(path).infos[0].evidence}
    assert set(evidence) == {"pmf", "bootstage", "xtest", "console"}
    assert "4 records" in evidence["pmf"]
    assert "score 100" in evidence["pmf"]
    assert "1 records (result), 1 torn (score 50)" in evidence["xtest"]

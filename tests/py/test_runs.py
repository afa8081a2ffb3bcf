"""Run logs: the article's figures, the published table, what does not count."""

from __future__ import annotations

import itertools
import json
import math

import pytest

import tickgauge as tg
from tickgauge.captures.run_logs import bridge, published, sync_notes
from tickgauge.cli import main
from zynq_files import DATA

OLD, NEW, SYNC = (str(DATA / f"{n}.log") for n in ("v2018.2", "v2019.1", "v2019.1-sync"))
TABLE = DATA / "qconv_published.csv.gz"
COMMAND = "./unit_test -iw 10 -ih 10 -ic 32 -oc 8 -kw 3 -kh 3 random\n"
GOOD = "[qconv_strip] test success!!!\n"


def log(*times):
    lines = [f"{COMMAND}FPGA exec time (10x10x32x8 3x3): {t} [usec]\n{GOOD}" for t in times]
    return tg.read("".join(lines).encode())


def run(capsys, *args):
    code = main(["runs", *args])
    return code, *capsys.readouterr()


def test_limits_of_each_log(capsys):
    assert run(capsys, OLD, NEW, "--limit", "template=4K")[0] == 0
    code, _, err = run(capsys, OLD, NEW, "--limit", "template=4")
    assert code == 2
    assert "--limit template=N" in err


def test_694_against_1408(capsys):
    code, out, _ = run(capsys, OLD, NEW)
    assert code == 0
    assert "+102.9 %" in out
    assert "x2.03" in out


def test_the_same_by_compare():
    rows = list(tg.compare(tg.read(OLD), tg.read(NEW)).rows)
    assert len(rows) == 1
    assert tg.compare(tg.read(OLD), tg.read(NEW)).unit == "run"
    assert "+102.9 %" in tg.compare(tg.read(OLD), tg.read(NEW)).to_text()


def test_sync_totals_stand_beside_the_coherent_run(capsys):
    _, out, _ = run(capsys, OLD, NEW, "--with", SYNC)
    assert "432 + 576 = 1008 us" in out
    assert "coherent: 1408 us (the keys differ in th as well: 0 against 1)" in out
    assert sync_notes(tg.read(OLD)) == []


def test_cpu_time_is_no_measurement(capsys):
    code, out, _ = run(capsys, SYNC)
    assert code == 0
    assert "no measurement" in out
    assert "sync_cpu" not in list(tg.read(SYNC).readings["metric"])


@pytest.mark.parametrize("pair", list(itertools.permutations(published(TABLE), 2)), ids="-".join)
def test_compare_and_runs_say_the_same(pair):
    old, new = (published(TABLE)[name] for name in pair)
    by_layer = {
        (r["key"].shape, r["key"].kernel, r["key"].th): r for r in tg.compare_runs(old, new).rows
    }
    rows = list(tg.compare(old, new).rows)
    assert len(rows) == len(by_layer)
    for row in rows:
        labels = dict(word.split("=") for word in row["labels"].split())
        other = by_layer[(*row["test"].split(), int(labels["th"]))]
        assert (row["n_old"], row["n_new"]) == (other["n_old"], other["n_new"])
        assert row["old"] / 1000 == pytest.approx(other["old"])
        assert row["new"] / 1000 == pytest.approx(other["new"])
        assert row["percent"] == pytest.approx(other["percent"])


def test_the_published_table(capsys):
    """Ratios of the README's two columns: 1.183 over 16 rows; over 13 keys 1.210, where the repeats
    of 5x5x256x128 (87 95 against 100 77) count by their geometric middles, 90.9 and 87.7."""
    code, out, _ = run(capsys, f"{TABLE}@6addd23", f"{TABLE}@0ef5c85", "--format", "json")
    document = json.loads(out)
    assert code == 0
    assert len(document["rows"]) == 13
    assert round(document["geometric_mean"]["by_row"], 3) == 1.183
    assert round(document["geometric_mean"]["by_key"], 3) == 1.210
    assert "13 keys from 16 rows" in document["notes"][0]


def test_published_sums():
    """Sums of the columns as the facts give them."""
    tables = published(TABLE)
    sums = [int(tables[c].readings.column("value").data.sum()) for c in ("6addd23", "0ef5c85")]
    assert sums == [2419, 3731]


def test_repeats_stay_in_order():
    readings = published(TABLE)["6addd23"].readings
    repeats = readings[readings["test"] == "5x5x128x256 3x3"]
    assert list(repeats["value"]) == [73, 94, 80]
    assert list(repeats["block"]) == [0, 1, 2]


def test_14_to_13_is_no_improvement(capsys):
    _, out, _ = run(capsys, f"{TABLE}@6addd23", f"{TABLE}@0ef5c85")
    (line,) = (line for line in out.splitlines() if line.startswith("10x10x128x32"))
    assert "n = 1: no scatter is known" in line
    old, new = (published(TABLE)[c] for c in ("6addd23", "0ef5c85"))
    text = tg.compare(old, new).to_text()
    (line,) = (line for line in text.splitlines() if line.startswith("10x10x128x32"))
    assert "improved" not in line


def test_failed_and_wrong_runs_are_out():
    text = (
        f"{COMMAND}FPGA exec time (10x10x32x8 3x3): 5 [usec]\n[qconv_strip] test failed...\n"
        f"out_h: 1\nout_w: 0\nout_c: 3\n\nexpect: 5, qconv_strip: 7\nrake aborted!\n"
        f"Command failed with status (1): [{COMMAND.strip()}]\n"
        f"{COMMAND}FPGA exec time (10x10x32x8 3x3): 6 [usec]\n{GOOD}"
    )
    data = tg.read(text.encode())
    assert list(data.runs["counted"]) == [False, True]
    assert list(data.readings["value"]) == [6]
    assert "the result is wrong" in data.problems.row(0)["detail"]


def test_interleaved_prompts_and_missing_echo():
    text = (
        "fpga@host:~$ FPGA exec time (10x10x32x8 3x3): 5 [usec]\r\n"
        f"[   12.345678] random: crng init done\r\n{GOOD}"
    )
    (row,) = tg.read(text.encode()).runs
    assert (row["exec_us"], row["th"], row["type"], row["counted"]) == (5, None, None, True)


def test_no_common_key_is_not_comparable(capsys, tmp_path):
    path = tmp_path / "other.log"
    path.write_text(f"{COMMAND}FPGA exec time (10x10x32x8 3x3): 5 [usec]\n{GOOD}")
    code, _, err = run(capsys, OLD, str(path))
    assert code == 3
    assert "in common" in err


def test_a_log_without_runs_is_2(capsys, tmp_path):
    path = tmp_path / "other.log"
    path.write_text("NOTICE:  BL31: v2.10(release):v2.10\n")
    assert run(capsys, str(path))[0] == 2
    assert run(capsys, f"{TABLE}@nope")[0] == 2


def test_keys_of_one_side_are_named():
    comparison = tg.compare_runs(log(5, 7, 6), log(9))
    assert comparison.rows[0]["old"] == 6
    assert math.isclose(comparison.mean_by_row, 9 / 5)
    assert math.isclose(comparison.mean_by_key, 9 / 6)
    assert "x1.500 by key" in repr(comparison)
    assert comparison._repr_html_().startswith("<table")


def test_the_bridge_needs_a_clock():
    port = tg.read_capture(DATA / "B.csv.xz").port()
    data = tg.read(NEW)
    with pytest.raises(tg.NotEnoughData, match="no clock"):
        bridge(port, data)
    (line,) = bridge(port, data, clock=250_000_000)
    assert "100 reads x 3531 clocks at 250 MHz = 1412 us" in line

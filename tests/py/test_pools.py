"""Sides of many files: folders and globs of snapshots, logs and captures, pooled as units."""

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tickgauge as tg
from support.sides import boots
from tickgauge.comparison.side import Key, Side, pooled
from tickgauge.errors import InputError

DATA = Path(__file__).parents[1] / "data"
LOG = DATA / "tfa" / "console" / "multi-reset-3boots.log.gz"
OLD, NEW = [1000, 1001, 1002, 1003, 1004], [1200, 1201, 1202, 1203, 1204]
TICKS = Key(format="tftf", test="t", metric="m", unit="tick", clock_hz=50_000_000)


def run(*args):
    command = [sys.executable, "-m", "tickgauge", *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def folder_of(place, values, **options):
    """A folder with one snapshot a boot."""
    place.mkdir()
    for i, value in enumerate(values):
        side = boots([value], digest=f"{place.name}{i}", **options)
        tg.snapshot(side).save(place / f"{i}.json")
    return place


@pytest.fixture
def folders(tmp_path):
    return folder_of(tmp_path / "old", OLD), folder_of(tmp_path / "new", NEW)


def test_snapshots_of_a_folder_are_units_of_one_side(folders):
    made = tg.compare(*folders)
    alone = tg.compare(boots(OLD), boots(NEW))  # the same boots in one data set
    assert made.units == (5, 5)
    assert made.rows.to_csv() == alone.rows.to_csv()
    assert tg.compare(f"{folders[0]}/*.json", folders[1]).rows.to_csv() == alone.rows.to_csv()


def test_on_the_command_line(folders):
    done = run("compare", *folders)
    assert done.stdout.startswith("unit: boot (5 v 5)")
    assert (done.returncode, done.stderr) == (0, "")
    assert run("gate", *folders).returncode == 1
    assert run("gate", f"{folders[0]}/[01234].json", folders[0], "--anyway").returncode == 0
    shown = run("show", folders[0])
    assert shown.stdout.startswith("tickgauge snapshot: 5 sources, 5 boots, 5 readings of 1 key")


def test_a_snapshot_among_logs_and_the_log_it_was_made_of_count_once(tmp_path):
    shutil.copy(LOG, tmp_path / "a.log.gz")
    logs = tg.compare(tmp_path, LOG)
    tg.snapshot(LOG).save(tmp_path / "b.json")
    both = tg.compare(tmp_path, LOG)
    assert both.units == logs.units
    assert both.rows.to_csv() == logs.rows.to_csv()
    tg.snapshot(boots([5], digest="more")).save(tmp_path / "c.json")
    assert tg.compare(tmp_path, LOG).units[0] == logs.units[0] + 1


def test_read_has_no_one_table_of_a_log_and_a_snapshot(tmp_path):
    tg.snapshot(boots([5], digest="a")).save(tmp_path / "a.json")
    with pytest.raises(InputError, match="a dataset and a snapshot"):
        tg.read(LOG, tmp_path)
    assert len(tg.read(tmp_path, tmp_path).sources) == 1


def test_a_note_beside_the_snapshots_is_said_and_left_out(folders):
    (folders[0] / "README.txt").write_text("boots of March\n")
    done = run("compare", *folders)
    assert done.stdout.startswith("unit: boot (5 v 5)")
    assert "README.txt: no known kind of line" in done.stderr
    assert done.returncode == 2


def test_equal_files_and_copies_count_once(folders):
    shutil.copy(folders[0] / "0.json", folders[0] / "again.json")
    assert tg.compare(*folders).units == (5, 5)


def test_a_file_that_is_merged_already_counts_its_boots_once(folders):
    tg.snapshot(folders[0]).save(folders[0] / "all.json")
    assert tg.compare(*folders).units == (5, 5)


def test_a_source_that_counts_elsewhere_leaves_readings_of_no_boot():
    """Tables need not have boots: -1 is none."""

    def of(*digests):
        n = len(digests)
        none = np.full(n, -1, "i8")
        sources = [{"digest": digest, "format": "columns", "boots": 1} for digest in digests]
        place = np.arange(n, dtype="i8")
        return Side([Key("columns", "t", "m", unit="ns")], 0 * place, place, none, none, none,
                    place + 10, sources=sources)  # fmt: skip

    made = pooled([of("a"), of("a", "b")])
    assert made.value.tolist() == [10, 11]
    assert (made.boot.tolist(), made.boot.dtype) == ([-1, -1], np.dtype("i8"))
    assert [source["digest"] for source in made.sources] == ["a", "b"]


def test_boots_of_two_boards_are_not_pooled(tmp_path):
    old = folder_of(tmp_path / "old", OLD, platform="juno")
    tg.snapshot(boots([1000], digest="x", platform="fvp")).save(old / "x.json")
    new = folder_of(tmp_path / "new", NEW, platform="juno")
    done = run("compare", old, new)
    assert "old holds boots of several platforms (fvp, juno): choose a board" in done.stdout
    assert done.returncode == 3
    assert tg.compare(old, new, board="juno").units == (5, 5)


def test_debug_and_release_boots_are_not_pooled(tmp_path):
    old = folder_of(tmp_path / "old", OLD, build="release")
    tg.snapshot(boots([1000], digest="x", build="debug")).save(old / "x.json")
    new = folder_of(tmp_path / "new", NEW, build="release")
    made = tg.gate(old, new)
    assert made.exit_status == 3
    assert made.missing == [("t m", "old holds boots of several build types (debug, release)")]
    assert tg.compare(old, new, anyway=True).units == (6, 5)


@pytest.mark.parametrize(
    ("other", "why"),
    [
        (TICKS._replace(clock_hz=62_500_000), "clocks of 50000000 and 62500000 Hz"),
        (TICKS._replace(clock_hz=None), "one clock is known, one is not: --clock settles it"),
        (TICKS._replace(unit="B/s"), "units B/s and tick"),
        (TICKS._replace(exp10=-1), "decimals of 10^-1 and of 10^0 tick"),
    ],
)
def test_a_key_of_two_scales_is_not_pooled_and_says_why(tmp_path, other, why):
    old = folder_of(tmp_path / "old", OLD, key=TICKS)
    tg.snapshot(boots([1000], other, digest="x")).save(old / "x.json")
    made = tg.compare(old, boots(NEW, TICKS))
    assert len(made) == 0
    assert made.not_comparable == [("t m", f"old cannot be pooled: {why}")]


def test_ranks_of_two_clocks_are_not_pooled():
    def board(hz, digest):
        cpus = [TICKS._replace(clock_hz=hz, cluster=0, core=c, exchange="all") for c in range(2)]
        return boots({cpu: [[10 + i]] for i, cpu in enumerate(cpus)}, digest=digest)

    slow, fast = board(50_000_000, "a"), board(62_500_000, "b")
    made = tg.compare([slow, fast], slow)
    why = "old cannot be pooled: clocks of 50000000 and 62500000 Hz"
    assert [reason for _, reason in made.not_comparable] == [why, why]
    assert len(made) == 0


def test_a_key_that_only_some_boots_have_has_fewer_units(tmp_path):
    old = folder_of(tmp_path / "old", OLD)
    more = Key(format="tftf", test="t", metric="n", unit="ns")
    tg.snapshot(boots([7], more, digest="x")).save(old / "x.json")
    made = tg.compare(old, boots(NEW))
    assert made.rows["n_old"].tolist() == [5]
    assert made.unmatched["old"] == ["t n"]


def test_a_trend_over_folders_and_a_report_of_logs_with_snapshots(tmp_path, folders):
    made = tg.trend(*folders, labels=["a", "b"], margin=0.05)
    assert (made.releases, len(made.series)) == (["a", "b"], 1)
    assert "regressed: 1 of 1 key regressed" in made.to_text()  # steps need five releases
    shutil.copy(LOG, folders[0])
    page = tmp_path / "page.html"
    done = run("report", *folders, "-o", page)
    assert done.returncode == 0, done.stderr
    assert page.read_text("utf-8").count("<table") > 1


def test_captures_of_a_folder_are_pooled(tmp_path):
    for name in "AB":
        shutil.copy(DATA / "zynq" / f"{name}.csv.xz", tmp_path)
    a, b = (tg.read(DATA / "zynq" / f"{name}.csv.xz") for name in "AB")
    both = tg.compare(tmp_path, DATA / "zynq" / "A.csv.xz")
    assert both.units[0] == tg.compare([a, b], a).units[0]
    assert len(both.sources) == 3

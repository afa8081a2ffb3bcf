"""Data sets: tables of several sources, selection, columns from anywhere, display, plots."""

from __future__ import annotations

import pickle
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import tickgauge as tg
from tickgauge.errors import UnknownName

LINE = "{metric:suspend|wakeup} cpu {cpu:uint}: {t:uint} ticks"
RULES = [tg.Rule(LINE, value="t", unit="tick", tag=" cpu ")]
A = b"suspend cpu 0: 100 ticks\nsuspend cpu 1: 110 ticks\nwakeup cpu 0: 7 ticks\n"
B = b"suspend cpu 1: 120 ticks\nwakeup cpu 0: 8 ticks\nwakeup cpu 2: 9 ticks\n"


def two():
    return tg.read([A, B], rules=RULES, clock="50MHz")


def test_readings_have_their_key_beside_them():
    r = two().readings
    assert r["metric"].tolist() == ["suspend", "suspend", "wakeup", "suspend", "wakeup", "wakeup"]
    assert r["cpu"].tolist() == [0, 1, 0, 1, 0, 2]
    assert r.ticks.tolist() == [100, 110, 7, 120, 8, 9]
    assert r.ns.tolist() == [2000.0, 2200.0, 140.0, 2400.0, 160.0, 180.0]
    assert r["source"].tolist() == [0, 0, 0, 1, 1, 1]
    assert r["boot"].tolist() == [0, 0, 0, 1, 1, 1]
    assert len(two().keys) == 4
    for row in range(len(r)):
        assert two().keys.row(r.column("key").cell(row))["metric"] == r["metric"][row]


def test_selecting_cuts_all_tables_that_have_the_columns():
    data = two().select(metric="wakeup", cpu=0)
    assert data.readings.ticks.tolist() == [7, 8]
    assert len(data.keys) == 1
    assert len(data.boots) == 2
    assert len(data.select(source=1).readings) == 1
    assert [data.keys.row(k)["metric"] for k in data.readings["key"]] == ["wakeup"] * 2
    assert data.readings.keys["metric"].tolist() == data.keys["metric"].tolist() == ["wakeup"]
    with pytest.raises(UnknownName, match="'suspend', 'wakeup'"):
        two().select(metric="resume")
    with pytest.raises(AttributeError, match="no table 'callz' in this data set; there are: boots"):
        two().callz


def test_a_selection_leaves_tables_without_its_values_empty():
    data = tg.read(Path(__file__).parents[1] / "data" / "optee" / "ree.log.gz")
    syscalls = data.select(operation="syscall")
    assert len(syscalls.syscalls) == len(data.syscalls) > 0
    assert len(syscalls.calls) == 0
    assert len(data.calls) > 0
    assert "0 calls" in repr(syscalls)


def test_a_data_set_shows_itself_on_one_screen():
    text = repr(two())
    assert text.startswith("tickgauge data set: 2 sources, 2 boots, 6 readings of 4 keys")
    assert len(text.splitlines()) < 30
    assert all(len(line) < 160 for line in text.splitlines())
    markup = two()._repr_html_()
    assert markup.count("<table") == markup.count("</table>") == 3
    assert "<script" not in markup


def test_hostile_names_cannot_break_the_display(tmp_path):
    path = tmp_path / "<script>x\x1b[31m.log"
    path.write_bytes(A)
    data = tg.read(path, rules=RULES)
    assert "\x1b" not in repr(data)
    assert "<script>" not in data._repr_html_()


def test_tables_outlive_the_data_set():
    column = two().readings.ticks
    frame = two().keys
    assert column.tolist() == [100, 110, 7, 120, 8, 9]
    assert len(frame) == 4


def test_data_sets_survive_pickling():
    again = pickle.loads(pickle.dumps(two()))
    assert again.readings.ns.tolist() == two().readings.ns.tolist()
    assert again.sources["digest"].tolist() == two().sources["digest"].tolist()
    assert again.records.counts()["records"].tolist() == [6]


def test_duckdb_reads_readings_without_pandas():
    pytest.importorskip("duckdb")
    code = f"""
import sys
sys.modules["pandas"] = None  # as if it were not installed
import duckdb, tickgauge as tg
rule = tg.Rule({LINE!r}, value="t", unit="tick", tag=" cpu ")
r = tg.read([{A!r}, {B!r}], rules=rule, clock="50MHz").readings
print(sorted(duckdb.sql("select metric, median(ns) from r group by 1").fetchall()))
"""
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert out.stdout.strip() == "[('suspend', 2200.0), ('wakeup', 160.0)]", out.stderr


def test_arrow_of_readings():
    pa = pytest.importorskip("pyarrow")
    table = pa.table(two().readings)
    table.validate(full=True)
    assert table.column("ns").to_pylist()[:2] == [2000.0, 2200.0]
    assert table.column("metric").to_pylist()[2] == "wakeup"
    unconverted = pa.table(tg.read(A, rules=RULES).readings)
    assert unconverted.column("ns").to_pylist() == [None] * 3


def test_several_threads_may_read_and_look():
    def work(results, i):
        data = tg.read([A * (i + 1), B], rules=RULES, clock="50MHz")
        results[i] = data.readings.ns.sum()

    shared = two()
    sums = [0.0] * 8
    looks = [0.0] * 8
    threads = [threading.Thread(target=work, args=(sums, i)) for i in range(8)]
    threads += [
        threading.Thread(target=lambda i=i: looks.__setitem__(i, shared.readings.ns.sum()))
        for i in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sums == [2740.0 + 4340.0 * (i + 1) for i in range(8)]
    assert looks == [7080.0] * 8


# ---- columns from anywhere ----------------------------------------------------------------------


def test_from_columns():
    data = tg.from_columns(
        [10, 12, 11, 30],
        unit="tick",
        clock="50MHz",
        metric=["a", "a", "b", "a"],
        cpu=[0, 0, 1, None],
        boot=[7, 9, 7, 7],
        labels={"size": [1, 1, 1, 1], "mode": "x"},
        resolution=2,
    )
    assert data.readings.ns.tolist() == [200.0, 240.0, 220.0, 600.0]
    assert data.readings["cpu"].tolist() == [0, 0, 1, None]
    assert data.readings["boot"].tolist() == [0, 1, 0, 0]
    assert data.readings["labels"].tolist() == ["mode=x size=1"] * 4
    assert len(data.keys) == 3
    assert len(data.boots) == 2
    assert data.keys["resolution"].tolist() == [2, 2, 2]
    assert data.readings["line"].tolist() == [None] * 4
    assert data.keys["origin"].tolist() == ["option"] * 3


def test_from_columns_digest_tells_contents_apart():
    one, same, other = (tg.from_columns(v).infos[0].digest for v in ([1, 2], [1, 2], [1, 3]))
    assert one == same != other


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"value": [1.5, 2.5]}, "exp10"),
        ({"value": [[1]]}, "2 dimensions"),
        ({"value": [1, 2], "metric": ["a"]}, "metric has shape"),
        ({"value": [1, 2], "boot": [1]}, "boot has 1 values"),
        ({"value": [1], "cpu": [-1]}, "cpu lies outside"),
        ({"value": [1], "better": "best"}, "better"),
        ({"value": np.array([2**63], "u8")}, "2\\^63"),
    ],
)
def test_wrong_columns_are_refused(more, says):
    with pytest.raises(tg.InputError, match=says):
        tg.from_columns(**more)


def test_no_readings_at_all():
    data = tg.from_columns([])
    assert len(data.readings) == 0
    assert "0 readings" in repr(data)
    assert data.readings.ns.tolist() == []

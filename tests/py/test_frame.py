"""Frames: values, selection, display of hostile text, other libraries."""

from __future__ import annotations

import csv
import html.parser
import io
import json
import pickle
import random

import numpy as np
import pytest

from tickgauge.errors import UnknownName
from tickgauge.frame.frame import Column, Frame, concat
from tickgauge.frame.grid import Grid
from tickgauge.frame.scaled import scaled
from tickgauge.util.text import clean


def make() -> Frame:
    return Frame(
        [
            Column.of("metric", ["wakeup", "sleep", None, "wakeup"]),
            Column.of("cpu", np.array([0, 1, 2, 3], "u4")),
            Column.of("value", np.array([10, -20, 30, 40]), np.array([True, True, True, False])),
            Column.of("offset", np.array([1, 2, 3, 2**64 - 1], "u8")),
            Column.of("ns", [0.5, float("nan"), 2.0, 1e9]),
        ],
        "readings",
    )


def test_rows_of_rows_are_the_same_whether_they_were_loaded_or_not():
    late = [make()[np.array([3, 0, 2, 2])] for _ in range(2)]
    late[0]["value"], late[0]["metric"]  # loads both columns of the first
    part = [one[np.array([2, 0, 1])] for one in late]
    for one in part:
        assert one.column("value").part(0, 3) == [30, None, 10]
        assert one.column("metric").part(0, 3) == [None, "wakeup", "wakeup"]
        assert len(one) == len(one.column("offset")) == 3


def test_values_are_what_was_put_in():
    frame = make()
    assert frame.columns == ("metric", "cpu", "value", "offset", "ns")
    assert frame["metric"].tolist() == ["wakeup", "sleep", None, "wakeup"]
    assert frame.cpu.tolist() == [0, 1, 2, 3]
    assert frame.cpu is frame["cpu"]
    value = frame["value"]
    assert isinstance(value, np.ma.MaskedArray)
    assert value.tolist() == [10, -20, 30, None]
    assert value.sum() == 20  # the missing reading takes no part
    assert frame[3] == {
        "metric": "wakeup",
        "cpu": 3,
        "value": None,
        "offset": 2**64 - 1,
        "ns": 1e9,
    }
    assert [row["cpu"] for row in frame] == [0, 1, 2, 3]


def test_a_frame_over_a_core_table_does_not_copy():
    table = make().to_core()
    frame = Frame(table)
    assert np.shares_memory(frame["offset"], table.column("offset"))
    assert not frame["offset"].flags.writeable
    assert frame.to_core() is table


def test_rows_by_slice_mask_and_index():
    frame = make()
    assert frame[1:3].cpu.tolist() == [1, 2]
    assert frame[frame.cpu > 1].cpu.tolist() == [2, 3]
    assert frame[[3, 0]]["metric"].tolist() == ["wakeup", "wakeup"]
    assert frame.head(1).value.tolist() == [10]
    with pytest.raises(IndexError):
        frame[np.array([True])]
    with pytest.raises(IndexError):
        frame[4]


@pytest.mark.parametrize(
    ("where", "cpus"),
    [
        ({}, [0, 1, 2, 3]),
        ({"metric": "wakeup"}, [0, 3]),
        ({"metric": None}, [2]),
        ({"metric": ["sleep", None]}, [1, 2]),
        ({"cpu": range(2)}, [0, 1]),
        ({"metric": "wakeup", "cpu": 3}, [3]),
        ({"metric": "sleep", "cpu": 3}, []),
        ({"value": 30}, [2]),
    ],
)
def test_select(where, cpus):
    assert make().select(**where).cpu.tolist() == cpus


def test_select_says_what_there_is():
    with pytest.raises(UnknownName, match="no row has metric = 'wakup'; there are: 'sleep', 'wa"):
        make().select(metric="wakup")
    with pytest.raises(UnknownName, match="no row has cpu = 9; there are: 0, 1, 2, 3"):
        make().select(cpu=[1, 9])
    with pytest.raises(UnknownName, match="no column 'core' in readings; there are: metric, cpu"):
        make().select(core=0)
    with pytest.raises(AttributeError, match="no column 'metrik' in readings"):
        make().metrik
    assert "metric" in dir(make())
    assert "metric" in make()._ipython_key_completions_()


def test_structured_array_is_packed_and_documented():
    frame = make()
    out = frame.to_structured()
    assert out.dtype.itemsize == 4 + 4 + 8 + 8 + 8 + 8
    assert [out.dtype.fields[n][1] for n in out.dtype.names] == [0, 4, 8, 16, 24, 32]
    assert out["value"][:3].tolist() == [10, -20, 30]
    assert out["valid"].tolist() == [0b11111, 0b11111, 0b11110, 0b11011]
    assert np.asarray(frame)["cpu"].tolist() == [0, 1, 2, 3]
    with pytest.raises(ValueError):
        np.array(frame, copy=False)


def test_frames_below_each_other():
    other = Frame([Column.of("metric", ["flush", "wakeup"]), Column.of("extra", [7, 8])])
    both = concat([make(), other])
    assert both["metric"].tolist() == ["wakeup", "sleep", None, "wakeup", "flush", "wakeup"]
    assert both["extra"].tolist() == [None] * 4 + [7, 8]
    assert both["cpu"].tolist() == [0, 1, 2, 3, None, None]
    assert len(both.column("metric").words) == 3
    with pytest.raises(ValueError, match="column cpu"):
        concat([make(), Frame([Column.of("cpu", ["a"])])])


def test_pickling():
    again = pickle.loads(pickle.dumps(make()))
    assert again["metric"].tolist() == make()["metric"].tolist()
    assert again["value"].tolist() == [10, -20, 30, None]


def test_pandas():
    pytest.importorskip("pandas")
    frame = make().to_pandas()
    assert frame["metric"].isna().tolist() == [False, False, True, False]
    assert frame["metric"].tolist()[:2] == ["wakeup", "sleep"]
    assert frame["value"].sum() == 20
    assert str(frame["value"].dtype) == "Int64"
    assert frame["offset"].tolist()[3] == 2**64 - 1


def test_pandas_reads_the_capsule_too():
    pd = pytest.importorskip("pandas")
    if not hasattr(pd.DataFrame, "from_arrow"):
        pytest.skip("this pandas has no DataFrame.from_arrow")
    frame = pd.DataFrame.from_arrow(make())
    assert frame["cpu"].tolist() == [0, 1, 2, 3]
    assert frame["metric"].tolist()[0] == "wakeup"


def test_polars_and_parquet(tmp_path):
    pl = pytest.importorskip("polars")
    frame = make().to_polars()
    assert frame["value"].to_list() == [10, -20, 30, None]
    pytest.importorskip("pyarrow")
    make().to_parquet(tmp_path / "r.parquet")
    assert pl.read_parquet(tmp_path / "r.parquet")["offset"].to_list()[3] == 2**64 - 1


def test_duckdb_reads_a_frame():
    duckdb = pytest.importorskip("duckdb")
    r = make()
    assert r is not None
    found = duckdb.sql("select metric, sum(cpu) from r where metric is not null group by 1")
    assert sorted(found.fetchall()) == [("sleep", 1), ("wakeup", 3)]


HOSTILE = [
    "<script>alert(1)</script>",
    "\x1b[31mred\x07\x00",
    "x" * 1_000_000,
    "a|b`c*d_",
    "\u202egnp.exe",
    "tab\tand\nline",
    "&amp; \"quoted\" 'single'",
]


class Cells(html.parser.HTMLParser):
    """Collects the tags and the text of each cell."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.cells: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        if tag == "td":
            self.cells.append("")
        assert not any(name.startswith("on") for name, _ in attrs)

    def handle_data(self, data):
        if self.cells:
            self.cells[-1] += data


def test_hostile_text_is_shown_and_does_nothing():
    frame = Frame([Column.of("word", HOSTILE)], "<b>rows</b>")
    text = repr(frame)
    assert all(c.isprintable() or c == "\n" for c in text)
    assert len(text) < 2000
    assert text.count("\n") == 1 + len(HOSTILE)
    markup = frame._repr_html_()
    assert all(c.isprintable() for c in markup)
    assert len(markup) < 4000
    cells = Cells()
    cells.feed(markup)
    assert cells.tags == {"table", "caption", "thead", "tbody", "tr", "th", "td"}
    assert cells.cells[0] == "<script>alert(1)</script>"
    assert cells.cells[1] == r"\x1b[31mred\x07\x00"


def test_markdown_and_rst_keep_their_shape():
    frame = Frame([Column.of("word", [HOSTILE[0], HOSTILE[3]]), Column.of("n", [1, 2])])
    lines = frame.to_md().splitlines()
    assert len({len(line) for line in lines}) == 1
    assert lines[3].startswith(r"| a\|b`c*d_ ")
    docutils = pytest.importorskip("docutils.core")
    made = docutils.publish_doctree(frame.to_rst(), settings_overrides={"report_level": 1})
    entries = [e.astext() for e in made.findall(lambda n: n.tagname == "entry")]
    assert entries == ["word", "n", HOSTILE[0], "1", HOSTILE[3], "2"]


def test_csv_and_json_carry_everything():
    rows = make().to_csv().splitlines()
    assert rows[0] == "metric,cpu,value,offset,ns"
    assert rows[3] == ",2,30,3,2.0"
    assert rows[4] == "wakeup,3,,18446744073709551615,1000000000.0"
    records = json.loads(make().to_json())
    assert records[3] == {
        "metric": "wakeup",
        "cpu": 3,
        "value": None,
        "offset": "18446744073709551615",
        "ns": 1e9,
    }
    assert records[1]["ns"] is None  # NaN is not JSON


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("=1+1", "'=1+1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("-1+cmd|' /C calc'!A0", "'-1+cmd|' /C calc'!A0"),
        ("+x", "'+x"),
        ("-", "-"),
        ("-3.12", "-3.12"),
        ("+1,024 %", "+1,024 %"),
        ("-1e-05", "-1e-05"),
        ("a=b", "a=b"),
        ("", ""),
    ],
)
def test_a_spreadsheet_runs_no_text_of_a_log(text, field):
    frame = Frame([Column.of("label", [text])])
    (row,) = list(csv.reader(io.StringIO(frame.to_csv())))[1:] or [[""]]
    assert row == [field] or (row == [] and not field)


def test_repr_of_long_and_empty_frames():
    long = Frame([Column.of("n", np.arange(1000))], "calls")
    assert repr(long).startswith("1000 calls\n")
    assert repr(long).endswith("... 980 more")
    assert len(repr(long).splitlines()) == 23
    assert repr(long[:0]) == "0 calls; columns: n"


def test_wide_characters_align():
    lines = Grid(["a", "b"], [["日本", 1], ["x", 22]]).to_text().splitlines()
    assert lines == ["a      b", "日本   1", "x     22"]


def test_clean_leaves_text_alone():
    assert clean("plain µs text é") == "plain µs text é"


def test_iterating_gives_what_each_row_gives(monkeypatch):
    monkeypatch.setattr("tickgauge.frame.frame.CHUNK", 3)
    n = 10
    valid = np.arange(n) % 4 != 1
    frame = Frame(
        [
            Column.of("n", np.arange(n) * 7, valid),
            Column.of("f", np.arange(n) / 3),
            Column.of("t", [None if i % 3 == 0 else f"w{i % 2}" for i in range(n)]),
            Column.of("none", np.array([None] * n, "O")),
            Column.of("b", np.arange(n) % 2 == 0),
            Column.of("d", np.arange(n), exp10=-2),
        ]
    )
    assert list(frame) == [frame.row(i) for i in range(n)]
    assert list(frame[:0]) == []


def test_times_of_a_table_have_one_unit_and_other_amounts_stay() -> None:
    names = ("key", "n", "median", "max", "unit")
    rows = [
        ("a", 3, 37292.4, 501_096_042, "ns"), ("b", 1, 54_500.0, None, "ns"),
        ("c", 2, 700_000.0, 0, "ns"), ("d", 9, 12.5, 13, "tick"), ("e", 4, float("nan"), 1e6, "ns"),
    ]  # fmt: skip
    shown = scaled(Grid(names, rows)).to_text().splitlines()
    assert [line.split() for line in shown] == [
        ["key", "n", "median", "max", "unit"],
        ["a", "3", "37.3", "501096.0", "us"],
        ["b", "1", "54.5", "-", "us"],
        ["c", "2", "700.0", "0.0", "us"],
        ["d", "9", "12.5", "13", "tick"],
        ["e", "4", "-", "1000.0", "us"],
    ]


@pytest.mark.parametrize("seed", range(20))
def test_no_time_is_shown_as_nothing(seed: int) -> None:
    rng = random.Random(seed)
    values = [10 ** rng.uniform(0, rng.uniform(1, 12)) for _ in range(rng.randint(1, 30))]
    grid = scaled(Grid(("median", "unit"), [(value, "ns") for value in values]))
    factor = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
    for value, (shown, unit) in zip(values, grid.rows, strict=True):
        assert float(shown) * factor[unit] == pytest.approx(value, rel=0.06)

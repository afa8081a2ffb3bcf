"""Putting tables together, against lists of plain rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import tickgauge as tg
from tickgauge.dataset.dataset import Dataset
from tickgauge.dataset.merge_parts import merge_keys
from tickgauge.frame.frame import Column, Frame, concat

READING = st.tuples(
    st.integers(-(2**63), 2**63 - 1),
    st.sampled_from(["suspend", "wakeup", "flüsh", ""]),
    st.one_of(st.none(), st.integers(0, 5)),
    st.integers(0, 3),
)
SOURCE = st.lists(READING, max_size=12)


def rows_of(data: Dataset) -> list[tuple[Any, ...]]:
    """(value, metric, cpu, source) of every reading, by way of its key."""
    out = []
    for row in data.readings:
        key = data.keys.row(row["key"])
        assert (key["metric"], key["cpu"]) == (row["metric"], row["cpu"])
        boot = data.boots.row(row["boot"])
        assert boot["source"] == row["source"]
        out.append((row["value"], row["metric"], row["cpu"], row["source"], boot["boot"]))
    return out


def oracle(sources: list[list[Any]]) -> list[tuple[Any, ...]]:
    """The same from the plain rows: boots are numbered in order of their ids."""
    out = []
    for number, source in enumerate(sources):
        boots = sorted({boot for *_, boot in source})
        for value, metric, cpu, boot in source:
            out.append((value, metric or None, cpu, number, boots.index(boot)))
    return out


def made(source: list[Any]) -> Dataset:
    columns = list(zip(*source, strict=True)) or [(), (), (), ()]
    return tg.from_columns(
        np.array(columns[0], "i8"),
        metric=list(columns[1]),
        cpu=list(columns[2]),
        boot=np.array(columns[3], "i8"),
    )


@settings(max_examples=60, deadline=None)
@given(st.lists(SOURCE, min_size=1, max_size=4))
def test_data_sets_put_together(sources):
    together = Dataset([part for source in sources for part in made(source).parts])
    assert rows_of(together) == oracle(sources)
    keys = [tuple(key.values()) for key in together.keys]
    assert len(set(keys)) == len(keys)  # one row a key
    core = Frame(together.readings.to_core())
    assert core["value"].tolist() == [row[0] for row in oracle(sources)]
    assert core["metric"].tolist() == [row[1] for row in oracle(sources)]


@settings(max_examples=60, deadline=None)
@given(SOURCE.filter(len), st.data())
def test_a_selection_is_what_a_loop_finds(source, data):
    metric = data.draw(st.sampled_from([row[1] or None for row in source]))
    wanted = [row for row in oracle([source]) if row[1] == metric]
    chosen = made(source).select(metric=metric)
    assert rows_of(chosen) == wanted
    assert len(chosen.keys) == len({row[2] for row in wanted})


CELL = st.one_of(st.none(), st.text(max_size=4), st.binary(max_size=4))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(CELL, max_size=6), min_size=1, max_size=4))
def test_texts_below_each_other(parts):
    frames = [Frame([Column.of("t", np.array([*part, None], "O")[:-1])]) for part in parts]

    def shown(cell: Any) -> Any:
        return cell.decode("utf-8", "replace") if isinstance(cell, bytes) else cell

    assert concat(frames)["t"].tolist() == [shown(cell) for part in parts for cell in part]


def test_keys_are_one_where_all_their_cells_are() -> None:
    """A missing value is none of the values; text counts as it is shown; many rows, few keys."""
    first = Frame(
        [
            Column.of("metric", [b"a\xff", b"a\xfe", b"a", None]),
            Column.of("core", np.array([0, 7, 0, 0], "u8"), np.array([True, True, True, True])),
            Column.of("clock_hz", np.array([5, 5, 0, 0], "u8"), np.array([1, 1, 1, 0], "?")),
        ]
    )
    second = Frame(
        [
            Column.of("metric", ["a", None, "a", "a\ufffd"] * 3000),
            Column.of("core", np.array([0, 0, 0, 7] * 3000, "u8")),
            Column.of("clock_hz", np.array([9, 9, 0, 5] * 3000, "u8"), np.arange(12000) % 4 > 1),
        ]
    )
    keys, (one, two) = merge_keys([first, second])
    assert list(keys) == [
        {"metric": "a\ufffd", "core": 0, "clock_hz": 5},
        {"metric": "a\ufffd", "core": 7, "clock_hz": 5},
        {"metric": "a", "core": 0, "clock_hz": 0},
        {"metric": None, "core": 0, "clock_hz": None},
        {"metric": "a", "core": 0, "clock_hz": None},
    ]
    assert one.tolist() == [0, 1, 2, 3]
    assert two.tolist() == [4, 3, 2, 1] * 3000

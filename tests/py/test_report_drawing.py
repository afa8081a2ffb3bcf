"""Pictures of a report: every mark lies where its figure says, read back off the axes drawn."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest

from tickgauge.plot.deltas import Shift
from tickgauge.plot.style import Series
from tickgauge.report import drawing

NAME = "{http://www.w3.org/2000/svg}"


def elements(svg: str, kind: str) -> list[ET.Element]:
    return ET.fromstring(svg).findall(NAME + kind)


def corners(path: ET.Element) -> np.ndarray:
    return np.array([float(v) for v in re.findall(r"-?[0-9.]+", path.attrib["d"])]).reshape(-1, 2)


def marks(svg: str) -> list[tuple[float, float, ET.Element]]:
    """The middle of each mark below the legend."""
    found = []
    for path in elements(svg, "path"):
        if path.get("class") == "mark":
            x, y = corners(path).min(axis=0) / 2 + corners(path).max(axis=0) / 2
            found.append((x, y, path))
    return found


def axis(svg: str) -> Callable[[float], float]:
    """The value at a place of the x axis, from two of its marks that are farthest apart."""
    at = {}
    for text in elements(svg, "text"):
        if text.get("text-anchor") == "middle" and re.fullmatch(r"[+-]?[0-9.]+", text.text or ""):
            at[float(text.text or "")] = float(text.attrib["x"])
    low, high = min(at), max(at)
    return lambda x: low + (x - at[low]) / (at[high] - at[low]) * (high - low)


def test_quantiles_and_steps_lie_at_their_values() -> None:
    values = np.arange(101, 301, dtype="f8") * 100  # 10,100 .. 30,000 ns, each once
    svg = drawing.ecdf([Series("old", values, 100.0), Series("new", values / 2, 50.0)], "c")
    value_at = axis(svg)
    found = [value_at(x) for x, y, _ in marks(svg) if y > 50]
    assert found == pytest.approx([20, 28, 29.8, 10, 14, 14.9], abs=0.05)  # us, the inverted CDF
    old, new = (corners(p) for p in elements(svg, "path") if p.get("class") is None)
    assert (np.diff(old[:, 0]) >= 0).all()
    assert (np.diff(old[:, 1]) <= 0).all()  # the share rises: y falls
    assert value_at(old[0, 0]) == pytest.approx(10.1, abs=0.05)
    assert value_at(new[-1, 0]) == pytest.approx(15, abs=0.05)
    assert old[-1, 1] == new[-1, 1] == 14 + 18 * 2  # the top: all readings


def test_many_values_become_few_corners_and_no_step_is_off_by_a_pixel() -> None:
    values = np.random.default_rng(1).uniform(10_000, 90_000, 200_000).round()
    svg = drawing.ecdf([Series("a", values)], "c")
    assert len(svg) < 60_000
    (path,) = [p for p in elements(svg, "path") if p.get("class") is None]
    value_at = axis(svg)
    top, bottom = 14 + 18, 280 + 18
    pixel = (value_at(1) - value_at(0)) * 1000  # ns
    for x, y in corners(path)[2::2]:  # behind each step
        share = (bottom - y) / (bottom - top)
        at = value_at(x) * 1000
        low, high = ((values <= v).mean() for v in (at - pixel, at + pixel))
        assert low - 1e-3 <= share <= high + 1e-3


def test_shifts_intervals_and_margins_lie_at_their_values() -> None:
    rows = [
        Shift("a", 12.0, 8.0, 16.0, "regressed", 5.0),
        Shift("b", -3.0, np.nan, np.nan, "unreplicated", 5.0),
        Shift("c", 0.5, -1.0, 2.0, "equivalent", 5.0),
    ]
    svg = drawing.forest(rows, "boot (3 v 3)", "c")
    value_at = axis(svg)
    rows_of = [(x, path) for x, y, path in marks(svg) if y > 30]
    assert [value_at(x) for x, _ in rows_of] == pytest.approx([12, -3, 0.5], abs=0.1)
    fills = [path.attrib["fill"] for _, path in rows_of]
    assert [fill == "#ffffff" for fill in fills] == [False, True, False]
    assert len({len(path.attrib["d"].split("L")) for _, path in rows_of}) == 3  # told by shape
    spans = [line for line in elements(svg, "line") if line.attrib["stroke-width"] == "2"]
    ends = [[value_at(float(line.attrib[x])) for x in ("x1", "x2")] for line in spans]
    assert ends == [pytest.approx([8, 16], abs=0.1), pytest.approx([-1, 2], abs=0.1)]
    band = elements(svg, "rect")[0]
    left = float(band.attrib["x"])
    right = left + float(band.attrib["width"])
    assert [value_at(left), value_at(right)] == pytest.approx([-5, 5], abs=0.1)


def test_shifts_over_orders_of_magnitude_keep_their_order() -> None:
    sizes = [1.0, 2.0, 3.0, 900.0, 40_000.0]
    rows = [Shift(str(v), v, v * 0.9, v * 1.1, "changed", 5.0) for v in sizes]
    places = [x for x, y, _ in marks(drawing.forest(rows, "", "c")) if y > 30]
    assert places == sorted(places)
    assert places[0] > 0
    assert places[-1] < drawing.WIDTH


@pytest.mark.parametrize("values", [[5.0], [5.0, 5.0], [0.0, 0.0], [-3.0, 4.0], [1e-3, 1e9]])
def test_every_set_of_values_is_drawn(values: list[float]) -> None:
    svg = drawing.ecdf([Series("a", np.array(values), 0.0, "", "cycle")], "c")
    assert "nan" not in svg and "inf" not in svg
    assert ET.fromstring(svg) is not None


def test_hostile_labels_are_escaped() -> None:
    bad = '<script>"&\x1b[31m'
    for svg in (
        drawing.forest([Shift(bad, 1.0, 0.0, 2.0, "changed")], bad, bad),
        drawing.ecdf([Series(bad, np.array([1.0, 2.0]))], bad),
    ):
        assert "<script" not in svg and "\x1b" not in svg
        assert ET.fromstring(svg).attrib["aria-label"] == '<script>"&\\x1b[31m'


def test_no_two_marks_of_an_axis_touch() -> None:
    rows = [Shift("a", v, v, v, "changed", 5.0) for v in (-1e6, -20.0, 1.0, 1.5, 20.0, 1e6)]
    texts = [
        (float(t.attrib["x"]), len(t.text or ""))
        for t in elements(drawing.forest(rows, "", "c"), "text")
        if t.get("text-anchor") == "middle" and re.fullmatch(r"[+-]?[0-9.e+]+", t.text or "")
    ]
    texts.sort()
    assert len(texts) >= 3
    for (x, n), (other, m) in pairwise(texts):
        assert other - x >= drawing.CHARACTER * (n + m) / 2

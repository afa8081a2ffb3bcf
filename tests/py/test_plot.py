"""Plots: what is drawn is what was read; pictures against committed ones with a tolerance.

``TICKGAUGE_REDRAW=1 pytest tests/py/test_plot.py`` draws the committed pictures anew; look at them
before committing.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.axes import Axes  # noqa: E402
from matplotlib.testing.compare import compare_images  # noqa: E402
from matplotlib.testing.decorators import remove_ticks_and_titles  # noqa: E402

import tickgauge as tg  # noqa: E402
from tickgauge.plot import calls, deltas, distributions, style  # noqa: E402
from tickgauge.plot.comparison import ComparisonPlot, TrendPlot  # noqa: E402
from tickgauge.plot.dataset import DatasetPlot  # noqa: E402
from tickgauge.plot.style import Series  # noqa: E402

BASELINE = Path(__file__).resolve().parents[1] / "data" / "plots"
TOLERANCE = 12.0  # RMS of grey levels: fonts and antialiasing differ between versions


def series(label: str, base: int, n: int = 24, group: str = "") -> Series:
    """Readings on a 20 ns grid made by rule: no random numbers."""
    k = np.arange(n)
    values = (base + 20 * ((7 * k * k + 3 * k) % 11)).astype(float)
    return Series(label, values, 20.0, group, boots=(k // 4).astype(np.int64))


CPUS = [series(f"{k // 2},{k % 2}", 400 + 60 * k, 12, f"cluster {k // 2}") for k in range(4)]
HOPS = [("a", 1200.0), ("b", 540.0), ("c", 9100.0), ("d", float("nan")), ("e", 900.0)]
SHIFTS = [
    deltas.Shift("one", 12.0, 8.0, 15.0, "regressed", 5.0),
    deltas.Shift("two", -1.0, -2.0, 1.0, "equivalent", 5.0),
    deltas.Shift("three", -9.0, float("nan"), float("nan"), "unreplicated", 5.0),
    deltas.Shift("four", -12.0, -14.0, -8.0, "improved", 5.0),
]
RATIOS = np.array([[1, 1.1, 0.5, np.nan], [1, 17, 17, 1]])
STEPS = Series("1,1", np.array([4400.0, 4420, np.nan, 76900, 4400]), 20.0)

PICTURES: dict[str, Callable[[Axes], object]] = {
    "ecdf": lambda ax: distributions.ecdf([series("old", 400), series("new", 520)], ax),
    "histogram": lambda ax: distributions.histogram([series("old", 400), series("new", 520)], ax),
    "strip": lambda ax: distributions.strip(CPUS, ax),
    "violin": lambda ax: distributions.strip(CPUS, ax, kind="violin"),
    "pairs": lambda ax: distributions.pairs(CPUS, CPUS[::-1], ax),
    "timeline": lambda ax: distributions.timeline(CPUS[:2], ax),
    "waterfall": lambda ax: calls.waterfall(HOPS, ax),
    "hops": lambda ax: calls.hop_distribution(CPUS, ax),
    "forest": lambda ax: deltas.forest(SHIFTS, ax),
    "heatmap": lambda ax: deltas.heatmap(RATIOS, ["a", "b"], ["1", "2", "3", "4"], ax),
    "steps": lambda ax: deltas.steps(list("abcde"), [(STEPS, [3, 4])], ax),
    "ladder": lambda ax: deltas.ladder([(CPUS[0], 400.0, 18.0)], ax),
}


@pytest.mark.parametrize("name", PICTURES)
def test_picture(name: str, tmp_path: Path) -> None:
    before = dict(matplotlib.rcParams)
    figure, ax = plt.subplots(figsize=(3.2, 2.4), dpi=60)
    made = PICTURES[name](ax)
    assert made is ax
    assert dict(matplotlib.rcParams) == before
    assert ax.get_xlabel() or ax.get_ylabel()
    remove_ticks_and_titles(figure)
    for one in figure.axes:
        one.set(xlabel="", ylabel="")
        if one.get_legend():
            one.get_legend().remove()
        for text in list(one.texts):
            text.remove()
    drawn = tmp_path / f"{name}.png"
    figure.savefig(drawn, dpi=60)
    plt.close(figure)
    if os.environ.get("TICKGAUGE_REDRAW"):
        (BASELINE / drawn.name).write_bytes(drawn.read_bytes())
    difference = compare_images(str(BASELINE / drawn.name), str(drawn), TOLERANCE)
    assert difference is None, difference


def test_a_moved_point_is_seen(tmp_path: Path) -> None:
    """The tolerance is not so wide that any picture passes."""
    figure, ax = plt.subplots(figsize=(3.2, 2.4), dpi=60)
    distributions.ecdf([series("old", 400), series("new", 900)], ax)
    remove_ticks_and_titles(figure)
    ax.set(xlabel="", ylabel="")
    ax.get_legend().remove()
    drawn = tmp_path / "ecdf.png"
    figure.savefig(drawn, dpi=60)
    plt.close(figure)
    assert compare_images(str(BASELINE / "ecdf.png"), str(drawn), TOLERANCE) is not None


def test_ecdf_steps_are_the_share_of_readings() -> None:
    values = np.array([20.0, 20, 40, 60])
    ax = distributions.ecdf([Series("x", values, 20.0)], quantiles=())
    line = next(one for one in ax.lines if one.get_label() == "x (n=4)")
    x, y = line.get_xdata(), line.get_ydata()
    for at in (20.0, 40.0, 60.0):
        assert np.max(y[np.asarray(x) <= at]) == np.mean(values <= at)
    plt.close(ax.figure)


def test_inverted_cdf_is_a_value_that_occurred() -> None:
    """R's type 1 on x = 15 20 35 40 50: p .25 -> 20, .40 -> 20 (Hyndman and Fan 1996)."""
    ordered = np.array([15.0, 20, 35, 40, 50])
    assert distributions.inverted_cdf(ordered, 0.25) == 20
    assert distributions.inverted_cdf(ordered, 0.40) == 20
    for p in np.arange(65) / 64:  # exact in binary
        expected = np.quantile(ordered, p, method="inverted_cdf")
        assert distributions.inverted_cdf(ordered, float(p)) == expected


def test_histogram_bins_hold_whole_ticks_and_every_reading() -> None:
    one = series("x", 400, 200)
    edges = distributions.tick_bins([one])
    widths = np.diff(edges) / 20
    assert np.allclose(widths, widths[0]) and widths[0] == int(widths[0])
    assert np.allclose((edges / 20) % 1, 0.5)
    counts, _ = np.histogram(one.values, edges)
    assert counts.sum() == 200


def test_strip_shows_every_point_once() -> None:
    ax = distributions.strip(CPUS)
    drawn = sum(len(line.get_xdata()) for line in ax.lines if line.get_marker() == "o")
    assert drawn == sum(s.values.size for s in CPUS)
    plt.close(ax.figure)


def test_logarithmic_pairs_show_every_point() -> None:
    wide = [Series("0,0", np.array([1e3, 5e4, 2e6])), Series("0,1", np.array([2e3, 9e5, 7e6]))]
    ax = distributions.pairs(wide, wide[::-1])
    for axis, (low, high) in (("x", ax.get_xlim()), ("y", ax.get_ylim())):
        points = np.concatenate([getattr(line, f"get_{axis}data")() for line in ax.lines])
        assert 0 < low < points.min() and points.max() < high
        assert low > points.min() / 10 and high < points.max() * 10
    plt.close(ax.figure)


@pytest.mark.parametrize("high", [800.0, 2000.0, 90000.0])
def test_percent_marks_do_not_touch(high: float) -> None:
    shifts = [
        deltas.Shift(f"k{i}", at, at - 5, at + 5, "changed", 5.0)
        for i, at in enumerate((-90.0, -8.0, 7.0, 12.0, high))
    ]
    ax = deltas.forest(shifts)
    ax.figure.canvas.draw()
    boxes = [t.get_window_extent() for t in ax.get_xticklabels() if t.get_text()]
    assert ax.get_xscale() == "symlog" and len(boxes) >= 5
    assert all(a.x1 < b.x0 for a, b in pairwise(boxes))
    plt.close(ax.figure)


def test_long_names_of_releases_stand_aslant() -> None:
    ax = deltas.steps(["TF-master-2017-01-31(c38b36d)", *"bcde"], [(STEPS, [3, 4])])
    assert all(label.get_rotation() > 0 for label in ax.get_xticklabels())
    plt.close(ax.figure)


def test_plots_complete_by_tab() -> None:
    """An editor and Jupyter run no property: they go by what it is said to return."""
    for kind, made in (
        (tg.Dataset, DatasetPlot),
        (tg.Comparison, ComparisonPlot),
        (tg.Trend, TrendPlot),
    ):
        assert kind.plot.fget.__annotations__["return"] == made.__name__


def test_nothing_to_plot_says_so() -> None:
    with pytest.raises(ValueError, match="no readings"):
        distributions.ecdf([Series("x", np.array([]))])
    with pytest.raises(ValueError, match="one axis cannot show"):
        distributions.ecdf([series("a", 1), Series("b", np.array([1.0]), unit="MB/s")])
    with pytest.raises(ValueError, match="no matched key"):
        deltas.forest([])
    with pytest.raises(ValueError, match="no complete hop"):
        calls.waterfall([("a", float("nan"))])


@pytest.mark.parametrize(
    ("largest", "unit"), [(999, "ns"), (1000, "µs"), (2.5e6, "ms"), (1e9, "s")]
)
def test_axis_unit(largest: float, unit: str) -> None:
    assert style.scale_of([Series("x", np.array([1.0, largest]))])[1] == unit


# ---- what a plot says is true of what it draws -------------------------------------------------


def test_hops_are_medians_of_one_set_of_calls() -> None:
    """Calls without a client's line have two hops less: their medians do not stand beside."""
    path = Path(__file__).parents[1] / "data" / "optee"
    data = tg.read_together(path / "ree.log.gz", path / "tee.log.gz")
    ax = data.plot.hops()
    assert ax.get_xlabel().endswith(", n=4")  # 407 calls have driver and TEE, 4 the client, too
    known = data.readings.select(operation="invoke", metric="driver_to_tee")
    four = sorted(
        ns for ns, labels in zip(known.ns.tolist(), known["labels"].tolist(), strict=True)
        if "client=none" not in str(labels)
    )  # fmt: skip
    assert len(four) == 4
    assert ax.patches[1].get_width() == pytest.approx(four[1] / 1e6)  # the lower median, in ms
    plt.close(ax.figure)


def test_a_ladder_refuses_unlike_keys() -> None:
    data = tg.read(Path(__file__).parents[1] / "data" / "tfa" / "console" / "example_console.log")
    with pytest.raises(tg.InputError, match="a ladder is of one test and metric, these are of 7"):
        data.plot.ladder()
    with pytest.raises(tg.InputError, match="these are of 3 of metric"):
        data.plot.ladder(test="cpu_susp_parallel")
    ax = data.plot.ladder(test="cpu_susp_parallel", metric="powerdown")
    assert ax.get_legend_handles_labels()[1][0] == "boot 0 (n=6)"
    plt.close(ax.figure)


def test_a_histogram_of_many_decades_is_no_single_bar() -> None:
    values = np.geomspace(100.0, 1e9, 200).round(-1)
    ax = distributions.histogram([Series("a", values, 10.0)])
    heights = ax.patches[0].get_path().vertices[:, 1]
    assert heights.max() < 30
    assert ax.get_xscale() == "log"
    edges = (
        np.unique(ax.patches[0].get_path().vertices[:, 0])
        * style.scale_of([Series("a", values)], True)[0]
    )
    counts = np.histogram(values, edges)[0]
    assert counts.sum() == 200
    assert np.allclose(edges % 10, 5)  # between ticks
    plt.close(ax.figure)


@pytest.mark.parametrize(
    ("ns", "text"), [(1e9, "1 s"), (1e6, "1 ms"), (5e3, "5 µs"), (20, "20 ns")]
)
def test_marks_of_time_have_an_si_unit_and_no_exponent(ns: float, text: str) -> None:
    assert style.time_text(ns) == text.replace("µ", "\N{MICRO SIGN}")
    ax = distributions.ecdf([Series("a", np.array([ns, 1e4 * ns]))])
    ax.figure.canvas.draw()
    words = [label.get_text() for label in ax.get_xticklabels()]
    assert any(word.endswith(("s", "ns")) for word in words)
    assert not any("e" in word for word in words)
    plt.close(ax.figure)


def overlaps(texts: list) -> int:
    """Pairs of texts that cover each other."""
    boxes = [t.get_window_extent() for t in texts if t.get_text() and t.get_visible()]
    return sum(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[i + 1 :])


def test_labels_of_a_long_forest_do_not_touch_and_marks_tell_verdicts_apart() -> None:
    words = list(style.VERDICT_MARKERS)
    rows = [
        deltas.Shift(
            f"susp_deep_parallel cache_flush cluster 0 rank {i} of 40", 10.0 + i, 5.0, 20.0,
            words[i % len(words)], 5.0,
        )
        for i in range(40)
    ]  # fmt: skip
    ax = deltas.forest(rows)
    ax.figure.canvas.draw()
    assert overlaps(ax.get_yticklabels()) == 0
    assert overlaps(ax.get_xticklabels()) == 0
    assert len(set(style.VERDICT_MARKERS.values())) == len(style.VERDICT_MARKERS)
    legend = ax.get_legend().get_window_extent()
    assert legend.x0 >= ax.get_window_extent().x1  # no mark of it looks like a row
    plt.close(ax.figure)


def test_missing_releases_are_a_gap_that_no_line_crosses() -> None:
    releases = ["v2.9", "v2.10", "v2.14", "v2.15"]
    ax = deltas.steps(releases, [(Series("a", np.array([1e3, 1e3, 1e3, 1e3])), [])])
    assert [t.get_text() for t in ax.texts] == ["no data"]
    places = ax.get_xticks()
    assert places.tolist() == [0, 1, 3, 4]
    levels = [line.get_xdata() for line in ax.lines if len(line.get_xdata()) == 2]
    assert all(x[1] <= 1.5 or x[0] >= 2.5 for x in levels)
    plt.close(ax.figure)


@pytest.mark.parametrize("name", PICTURES)
def test_plots_are_seen_on_a_dark_background(name: str) -> None:
    """Nothing is drawn in black or white by name."""
    with plt.style.context("dark_background"):
        figure, ax = plt.subplots()
        PICTURES[name](ax)
        for line in ax.lines:
            colour = matplotlib.colors.to_rgb(line.get_color())
            assert sum(colour) > 0.3, f"{name}: {colour} on black"
        plt.close(figure)


def test_a_million_readings_are_thinned_but_none_of_their_places_is_lost() -> None:
    rng = np.random.default_rng(3)
    y = rng.lognormal(0, 0.3, 300_000)
    _, shown = style.thinned(np.zeros(y.size), y)
    assert shown.size <= 1024
    assert (shown.min(), shown.max()) == pytest.approx((y.min(), y.max()), rel=1e-2)
    levels = np.histogram(shown, 64, (y.min(), y.max()))[0] > 0
    assert (levels == (np.histogram(y, 64, (y.min(), y.max()))[0] > 0)).all()


def test_a_plot_says_which_keys_it_leaves_out_and_a_data_set_which_plots_it_has() -> None:
    data = BASELINE.parent
    made = tg.compare(data / "stats/tfa-2.12.json.gz", data / "stats/tfa-2.14.json.gz")
    n = len(made.rows)
    assert f"the first 5 of {n} keys" in made.plot(limit=5).get_xlabel()
    assert "keys" not in made.plot(limit=n).get_xlabel()
    plt.close("all")
    console = tg.read(data / "tfa/console/example_console.log")
    with pytest.raises(TypeError, match=r"choose a plot: data.plot.NAME.* ecdf, .*strip"):
        console.plot()

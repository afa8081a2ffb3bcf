"""Pictures of a capture: what is drawn, where."""

from __future__ import annotations

import pytest

import tickgauge as tg
from zynq_files import DATA, hostile

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def close():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def capture():
    return tg.read(DATA / "B.csv.xz", clock=250_000_000)


def test_lanes_show_the_triggered_read(capture):
    ax = capture.plot.lanes()
    first, last = ax.get_xlim()
    assert first <= 524 < 4055 <= last  # the read at 0x70106000
    assert [t.get_text() for t in ax.get_yticklabels()] == ["AR", "R", "AW", "W", "B"]
    labels = [t.get_text() for t in ax.get_legend().get_texts()]
    assert "reads blocked" in labels


def test_lanes_of_a_range_on_given_axes(capture):
    _, ax = plt.subplots()
    assert capture.plot.lanes(600, 900, ax=ax) is ax
    assert ax.get_xlim() == (600, 901)


def test_two_captures_are_aligned_at_the_same_read(capture):
    figure = capture.plot.against(tg.read(DATA / "A.csv.xz"), names=("A", "B"))
    old, new, spans = figure.axes
    assert old.get_xlim() == new.get_xlim()
    assert old.get_title() == "A: reads and writes are independent"
    assert new.get_title() == "B: reads wait for writes"
    first, last = new.get_xlim()
    assert first < 0
    assert last >= 3531  # the read at 0x70106000 from its ARVALID to its last beat
    for ax in (old, new):
        assert "0x70106000" in [t.get_text() for t in ax.texts]
    labels = [line.get_label() for line in spans.get_lines()]
    assert labels == ["read, A (n=31)", "write, A (n=24)", "read, B (n=7)", "write, B (n=23)"]


def test_one_clock_stays_visible(capture):
    ax = capture.plot.lanes(0, 8000)
    widths = [p.get_extents().width for c in ax.collections for p in c.get_paths()]
    assert min(widths) >= 8001 / 500 - 1e-6


def test_ticks_are_numbers_that_one_reads(capture):
    for ax in (capture.plot.lanes(0, 8000), capture.plot.latency(), capture.plot.outstanding()):
        ax.figure.canvas.draw()
        words = [t.get_text() for t in ax.get_xticklabels() if t.get_text()]
        assert words
        assert not any("e" in w and not w.startswith("0x") for w in words)
        assert all(isinstance(int(w.replace(" ", ""), 0), int) for w in words)


def test_latency_is_in_microseconds_where_the_clock_is_known(capture):
    ax = capture.plot.latency()
    assert "s]" in ax.get_ylabel()
    assert max(ax.get_lines()[0].get_ydata()) == pytest.approx(3531 / 250)
    ax = tg.read(DATA / "B.csv.xz").plot.latency()
    assert "clocks" in ax.get_ylabel()
    assert max(ax.get_lines()[0].get_ydata()) == 3531


def test_outstanding_reaches_what_the_figures_say(capture):
    reads, writes = capture.plot.outstanding().get_lines()
    assert max(reads.get_ydata()) == capture.port().figures["max_reads"]
    assert max(writes.get_ydata()) == capture.port().figures["max_writes"]


def test_without_complete_transactions_there_is_no_latency():
    capture = tg.read_capture(hostile("h13_ends_mid_read.csv"))
    with pytest.raises(ValueError, match="nothing to plot"):
        capture.plot.latency()
    capture.plot.lanes()

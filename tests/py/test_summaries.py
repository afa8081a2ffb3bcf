"""summarize, histogram, modes: one key on its own."""

import numpy as np
import pytest

import tickgauge as tg
from support.sides import JUNO, boots, release
from tickgauge.comparison.side import Key
from tickgauge.comparison.summary import histogram, modes

TICK = Key(format="tftf", test="t", metric="m", unit="tick", clock_hz=24_000_000)
RUNS = [[24, 24, 25, 25], [26, 26, 27, 27], [24, 25, 25, 26]]


def test_runs_of_cores_have_the_published_icc():
    row = tg.summarize(boots(RUNS)).row(0)
    assert (row["n"], row["units"], row["distinct"]) == (12, 3, 4)
    assert row["icc"] == pytest.approx(0.686275, abs=5e-7)
    assert (row["min"], row["max"], row["p50"]) == (24, 27, 25)
    assert row["p90"] == np.quantile(np.concatenate(RUNS), 0.9, method="inverted_cdf")
    assert row["p95"] is None
    assert (row["median"], row["median_lo"], row["median_hi"], row["level"]) == (25, 24, 26, 0.75)


def test_lengths_are_shown_in_ns():
    row = tg.summarize(boots(RUNS, TICK)).row(0)
    assert row["shown"] == "ns"
    assert row["step"] == pytest.approx(1e9 / 24e6)
    assert row["p50"] == pytest.approx(25e9 / 24e6)
    assert (row["min"], row["max"]) == pytest.approx((24e9 / 24e6, 27e9 / 24e6))
    assert row["min"] <= row["p50"] <= row["mean"] * 1.1 <= row["max"] * 1.1


def test_a_snapshot_summarizes_as_its_source():
    side = release("juno", *JUNO[4])
    plain, kept = tg.summarize(side), tg.summarize(tg.snapshot(side))
    assert sorted(plain.to_csv().splitlines()) == sorted(kept.to_csv().splitlines())
    assert len(tg.summarize(side, exchange=None)) == 96


def test_modes_of_a_wait_for_a_lock():
    found = modes(boots([[23, 23, 24, 27, 98, 99, 99]], TICK), metric="m")
    rows = [found.row(i) for i in range(len(found))]
    q = 1e9 / 24e6
    assert [(r["n"], r["peak"]) for r in rows] == [(4, 2), (3, 2)]
    assert [r["value"] for r in rows] == pytest.approx([23 * q, 99 * q])


def test_bins_are_ticks():
    found = histogram(boots([[23, 23, 24, 27]], TICK), metric="m")
    assert list(found["n"]) == [2, 1, 0, 0, 1]
    assert list(found["below"]) == [2, 3, 3, 3, 4]
    with pytest.raises(tg.NotEnoughData, match="no reading"):
        histogram(boots([1], TICK), metric="other")
    other = Key(format="tftf", test="t", metric="n", unit="MB/s")
    with pytest.raises(tg.NotEnoughData, match="several units"):
        modes(boots({TICK: [1], other: [1]}), test="t")

"""Frames as labelled arrays: every cell stands where its labels say."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tickgauge as tg

pytest.importorskip("xarray", reason="the extra 'xarray' is not installed")
LOG = Path(__file__).resolve().parents[1] / "data" / "tfa" / "console" / "example_console.log"


def test_readings_on_a_grid():
    data = tg.read(LOG)
    r = data.readings.select(format="tftf")
    made = r.to_xarray("test", "metric", "cluster", "core")
    assert made.sizes["cluster"] == 2
    for i in range(len(r)):
        row = r.row(i)
        cell = made.sel(**{n: row[n] for n in ("test", "metric", "cluster", "core")})
        assert int(cell["value"]) == row["value"]
    # Juno has two big cores and four little ones: cpu 0,2 is no cpu, and its cells are no zeros
    assert np.isnan(made["value"].sel(cluster=0, core=2)).all()


def test_rows_stay_rows_and_doubles_are_refused():
    r = tg.read(LOG).readings
    made = r.to_xarray()
    assert made.sizes == {"row": len(r)}
    assert made["value"].values.tolist() == r["value"].tolist()
    with pytest.raises(tg.InputError, match="more than one row has test="):
        r.to_xarray("test")
    with pytest.raises(tg.UnknownName):
        r.to_xarray("nothing")


STATS = Path(__file__).resolve().parents[1] / "data" / "stats"
SIDES = [str(STATS / f"tfa-{v}.json.gz") for v in ("2.12", "2.14")]


def test_a_comparison_has_its_releases_as_a_dimension():
    made = tg.compare(*SIDES)
    arrays = made.to_xarray()
    assert arrays["median"].dims == ("release", "key")
    for row in made.to_records():
        cell = arrays.sel(key=row["key"])
        assert cell["median"].values.tolist() == [row["old"], row["new"]]
        assert (cell["verdict"].item(), cell["metric"].item()) == (row["verdict"], row["metric"])
    # the figures of the article: cpu 1 of the deep suspend went from 14 us to 204 us
    single = made.select(operation=None, labels=None, rank=None, quantile=50)
    grid = type(made)(**{**vars(made), "rows": single}).to_xarray(
        "test", "metric", "cluster", "core"
    )
    cell = grid["median"].sel(test="susp_deep_serial", metric="cache_flush", cluster=0, core=1)
    assert cell.values.tolist() == [14064.0, 204496.0]
    assert cell.sel(release="new").item() == 204496.0


def test_a_trend_is_an_array_over_releases():
    levels = [1000, 1010, 990, 1005, 1500, 1490, 1510, 1500]
    sides = [
        tg.from_columns(
            [v, v + 1, v + 2], boot=[0, 1, 2], metric="wakeup", test="t", name=f"v2.{i}"
        )
        for i, v in enumerate(levels)
    ]
    made = tg.trend(*sides)
    arrays = made.to_xarray("test", "metric")
    series = arrays.sel(test="t", metric="wakeup")
    assert series["median"].values.tolist() == [v + 1 for v in levels]
    assert series["release"].values.tolist() == made.releases
    (step,) = list(made.steps)
    assert np.flatnonzero(~np.isnan(series["step"].values)).tolist() == [4]
    assert series["step"].sel(release=step["at"]).item() == step["percent"]
    assert made.to_xarray()["median"].dims == ("release", "key")

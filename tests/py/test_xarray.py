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

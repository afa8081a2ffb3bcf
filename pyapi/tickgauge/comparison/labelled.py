"""Comparisons and trends as labelled arrays of xarray, with the releases as a dimension."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..frame.frame import Column, Frame

__all__ = ["comparison_arrays", "trend_arrays"]

#: Columns that say which key a row is.
_IDENTITY = ("test", "metric", "operation", "labels", "place", "cluster", "core", "rank")


def _of_frame(frame: Frame, dims: Sequence[str]) -> Any:
    """The rows on a grid, or along a dimension ``key`` with the identity as coordinates."""
    made = frame.to_xarray(*dims)
    if dims:
        return made
    return made.set_coords(["key", *(n for n in _IDENTITY if n in made)]).swap_dims(row="key")


def _over_releases(made: Any, name: str, columns: Sequence[str], releases: Sequence[str]) -> Any:
    """One variable with a dimension ``release`` in place of a column for each release."""
    arrays = [made[column] for column in columns]
    stacked = np.stack([array.values for array in arrays])
    made = made.drop_vars(columns).assign_coords(release=list(releases))
    return made.assign({name: (("release", *arrays[0].dims), stacked)})


def comparison_arrays(made: Any, dims: Sequence[str] = ()) -> Any:
    """``median`` over ``release`` ("old", "new") and the key; every other column over the key."""
    arrays = _of_frame(made.rows, dims)
    arrays = _over_releases(arrays, "median", ("old", "new"), ("old", "new"))
    return arrays.assign_attrs(
        old=made.names[0], new=made.names[1], unit=made.unit, margin=made.margin
    )


def trend_arrays(made: Any, dims: Sequence[str] = ()) -> Any:
    """``median`` and ``step`` over ``release`` and the key; every other column over the key.

    A step stands at the release where it was first seen, in percent. The column ``median`` over
    all releases is called ``level`` here.
    """
    columns = [f"r{i}" for i in range(len(made.releases))]
    place = {key: i for i, key in enumerate(made.series["key"].tolist())}
    at = {release: i for i, release in enumerate(made.releases)}
    steps = np.full((len(at), len(place)), np.nan)
    for row in made.steps:
        steps[at[row["at"]], place[row["key"]]] = row["percent"]
    names = [f"step {column}" for column in columns]
    kept = [made.series.column(name) for name in made.series.columns]
    added = [Column.of(name, row) for name, row in zip(names, steps, strict=True)]
    arrays = _of_frame(Frame([*kept, *added], "series"), dims)
    arrays = _over_releases(arrays, "step", names, made.releases)
    arrays = arrays.rename(median="level")
    return _over_releases(arrays, "median", columns, made.releases).assign_attrs(
        unit=made.unit, margin=made.margin
    )

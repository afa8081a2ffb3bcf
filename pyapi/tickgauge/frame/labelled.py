"""Columns as labelled arrays of xarray: rows as they are, or on a grid of named dimensions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import InputError
from ..util.optional import need
from .column import Column

__all__ = ["labelled"]


def _plain(column: Column) -> npt.NDArray[Any]:
    """Values as xarray likes them: text as str, a gap as NaN or as an empty text."""
    if column.type == "text":
        return np.array(["" if text is None else text for text in column.values()], "U")
    if column.valid is None:
        return np.asarray(column.data)
    return np.where(column.valid, np.asarray(column.data, "f8"), np.nan)


def labelled(columns: Mapping[str, Column], dims: Sequence[str]) -> Any:
    """A Dataset of xarray.

    Parameters
    ----------
    columns : mapping of str to Column
    dims : sequence of str
        Columns that become dimensions. None of them: one dimension ``row``.

    Returns
    -------
    xarray.Dataset
        Missing numbers are NaN, missing texts are empty; a combination that no row has likewise.

    Raises
    ------
    InputError
        Two rows have the same place on the grid.
    MissingExtra
    """
    xr = need("xarray", "xarray")
    plain = {name: _plain(column) for name, column in columns.items()}
    if not dims:
        return xr.Dataset({name: ("row", values) for name, values in plain.items()})
    axes, places = [], []
    for name in dims:
        values, place = np.unique(plain[name], return_inverse=True)
        axes.append(values)
        places.append(place)
    shape = tuple(len(axis) for axis in axes)
    at = np.ravel_multi_index(places, shape) if len(places[0]) else np.zeros(0, "i8")
    used, counts = np.unique(at, return_counts=True)
    if len(used) < len(at):
        where = np.unravel_index(used[np.argmax(counts > 1)], shape)
        words = ", ".join(f"{n}={axis[i]}" for n, axis, i in zip(dims, axes, where, strict=True))
        raise InputError(f"more than one row has {words}: name more dimensions, or select first")
    variables = {}
    for name, values in plain.items():
        if name in dims:
            continue
        gaps = len(at) < np.prod(shape)
        numbers = gaps and values.dtype.kind != "U"
        grid = np.zeros(np.prod(shape), "f8" if numbers else values.dtype)  # of texts: all empty
        if numbers:
            grid[:] = np.nan
        grid[at] = values
        variables[name] = (tuple(dims), grid.reshape(shape))
    return xr.Dataset(variables, dict(zip(dims, axes, strict=True)))

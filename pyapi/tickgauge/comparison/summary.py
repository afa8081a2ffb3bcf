"""Summaries: the distribution of one key on its own.

Notes
-----
Quantiles by the inverted CDF (a value that occurred; Hyndman and Fan, 1996, type 1), each from
1 / (1 - X) readings on. The interval of the median is one of order statistics and states the level
it reaches. ICC: one-way analysis of variance, ``max(0, (MSB - MSW) / n0)`` over itself plus MSW
(Searle, 1971). Outliers are flagged, never removed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from ..errors import NotEnoughData
from ..frame.frame import Column, Frame
from .inputs import side_of
from .labels import where_of
from .matched import key_scales
from .pack import pack

__all__ = ["histogram", "modes", "summarize"]


def summarize(
    data: Any, unit: str | None = None, exchange: Any = "none", *, board: str | None = None
) -> Frame:
    """One row a key: how often, how large, how it scatters within and between boots.

    Parameters
    ----------
    data : data set, snapshot, path, or a list of these
    unit : {"boot", "run", "reading"}, optional
        The independent observation; by default the one of the format.
    exchange : {"none", "cluster", "all"}, mapping or None
        Which cpus are shown by rank; by default none. None means: as the format says.
    board : str, optional
        Only the boots of that platform.

    Returns
    -------
    Frame
        The key's columns, ``shown`` (the unit of lengths: ns for times), then ``n units distinct
        min max mean sd mad p50 p90 p95 p99 p99.9 median median_lo median_hi level icc step modes
        outliers``, all lengths in the unit shown.
    """
    side = side_of(data).of_board(board)
    packed = pack(side, side.unit_of(unit), exchange)
    keys, ranks = packed.shown, packed.rank
    samples = packed.samples(list(range(len(keys))), *key_scales(keys))
    core = Frame(_core.summarize(samples), "keys")
    texts = {
        "test": [k.test for k in keys],
        "metric": [k.metric for k in keys],
        "operation": [k.operation for k in keys],
        "labels": [k.labels for k in keys],
        "place": [where_of(k, r) or None for k, r in zip(keys, ranks, strict=True)],
        "shown": [k.scale[1] for k in keys],
    }
    columns = [Column.of(name, np.array(v, "O")) for name, v in texts.items()]
    scales = [float(k.scale[0]) for k in keys]  # the core keeps the ends as stored integers
    ends = {
        name: Column.of(name, core.column(name).data.astype(np.float64) * np.array(scales))
        for name in ("min", "max")
    }
    return Frame([*columns, *(ends.get(name, core.column(name)) for name in core.columns)], "keys")


def _one(data: Any, board: str | None, where: dict[str, Any]) -> tuple[Any, Any, Any, int]:
    """Values, weights, a key and the coarsest resolution of the keys that `where` names."""
    side = side_of(data).of_board(board)
    chosen = [
        i
        for i, key in enumerate(side.keys)
        if all(getattr(key, name) == value for name, value in where.items())
    ]
    rows = np.flatnonzero(np.isin(side.key, chosen))
    if len(rows) == 0:
        raise NotEnoughData(f"no reading has {where}")
    keys = [side.keys[k] for k in np.unique(side.key[rows])]
    if len({key.scale for key in keys}) > 1:
        raise NotEnoughData("the keys have several units: name one of them")
    weight = None if side.weight is None else side.weight[rows]
    return side.value[rows], weight, keys[0], max(1, *(key.resolution for key in keys))


def histogram(data: Any, bins: int = 200, *, board: str | None = None, **where: Any) -> Frame:
    """Counts of the readings of one or more keys, in bins on the tick grid.

    Parameters
    ----------
    data : data set, snapshot, path, or a list of these
    bins : int
        At most so many; a bin is a multiple of the resolution.
    board : str, optional
    **where
        Columns of the keys: ``metric="wakeup", core=0``.

    Returns
    -------
    Frame
        ``lo``, ``hi`` (exclusive; float64, in the unit shown), ``n``, ``below`` (readings under
        `hi`: the ECDF times n).

    Raises
    ------
    NotEnoughData
        No reading is left, or the keys have several units.
    """
    value, weight, key, resolution = _one(data, board, where)
    table = Frame(_core.histogram(value, weight, resolution, bins), "bins")
    scale = float(key.scale[0])
    return Frame(
        [
            Column.of("lo", table.column("lo").data * scale),
            Column.of("hi", table.column("hi").data * scale),
            table.column("n"),
            table.column("below"),
        ],
        f"bins ({key.scale[1]})",
    )


def modes(data: Any, *, board: str | None = None, **where: Any) -> Frame:
    """The modes of one or more keys: parts more than three resolutions apart.

    Parameters
    ----------
    data, board, **where
        As in `histogram`.

    Returns
    -------
    Frame
        ``value`` (the most frequent of the part), ``lo``, ``hi`` in the unit shown, ``n`` readings
        of the part, ``peak`` readings at the value.
    """
    value, weight, key, resolution = _one(data, board, where)
    table = Frame(_core.modes(value, weight, resolution), "modes")
    scale = float(key.scale[0])
    lengths = [Column.of(n, table.column(n).data * scale) for n in ("value", "lo", "hi")]
    return Frame(
        [lengths[0], table.column("n"), table.column("peak"), *lengths[1:]],
        f"modes ({key.scale[1]})",
    )

"""Groups of keys: cpus that a lock orders, and factors that many keys have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .. import _core
from ..boards.platforms import load
from ..frame.frame import Column, Frame
from ..frame.grid import Grid
from .labels import length_text
from .pack import Group, Packed

__all__ = [
    "cluster_names",
    "common_factors",
    "compare_groups",
    "group_title",
    "ladder",
    "ladder_grid",
]

#: A common factor needs this many keys, each within this much of the geometric mean.
LEAST, TOLERANCE = 3, 0.01
NO_SET = 0xFFFFFFFF

#: p below which labels of exchanged cpus are said to matter.
MATTERS = 0.01


def group_title(group: Group) -> str:
    """A group as one short text."""
    test, metric, operation, labels = group.subject
    words = [str(w) for w in (test, operation, metric, labels) if w]
    if group.cluster is not None:
        words.append(f"cluster {group.cluster}")
    return " ".join(words)


def ladder(values: Any) -> dict[str, float]:
    """The lock ladder ``T(i) = a + b * i`` of a sorted vector.

    Parameters
    ----------
    values : array_like of float, shape (n,)
        Sorted here; n at least 2.

    Returns
    -------
    dict
        ``a``, ``b`` by least squares; ``ts_a``, ``ts_b`` by Theil and Sen, intercept
        ``median(y) - slope * median(i)``.
    """
    a, b, ts_a, ts_b = _core.ladder(np.sort(np.asarray(values, "f8")))
    return {"a": a, "b": b, "ts_a": ts_a, "ts_b": ts_b}


def _matrix(packed: Packed, group: Group) -> tuple[list[tuple[Any, ...]], np.ndarray[Any, Any]]:
    return packed.matrices.get(group, ([], np.zeros((0, 0), "i8")))


_Part = tuple[list[Any], list[int], list[int], list[int], list[int], list[int]]


def _vectors(part: _Part) -> _core._Vectors:
    """The arrays of the core: values of all groups, units, cores, scale, resolution."""
    units, cores, num, den, step = (np.array(column, "u8") for column in part[1:])
    return np.concatenate([*part[0], np.zeros(0, "i8")]), units, cores, num, den, step


def compare_groups(old: Packed, new: Packed, margin: float, seed: int, refused: set[str]) -> Frame:
    """One row a group of interchangeable cpus that both sides have.

    Parameters
    ----------
    old, new : Packed
    margin : float
        Relative; decides the note "lock order, not cost".
    seed : int
    refused : set of str
        Labels of keys that are not comparable.

    Returns
    -------
    Frame
        ``group test metric exchange shown`` and the columns of the core's
        ``tg_compare_vectors``, lengths in the unit `shown`, changes in percent; ``note``.

    Notes
    -----
    ``ols_a_*_lo`` and the like are 95 % intervals of the ladder from unit to unit. The ranks of one
    block are correlated, so only units replicate: each unit is left out in turn (jackknife; Tukey,
    1958), which for a least-squares line, linear in the values, is ``mean +- t(n-1) s / sqrt(n)``
    over the units' own lines. ``s`` is never below the room that a tick leaves, ``resolution *
    sum |w| / sqrt(6)`` with the weights ``w`` of the line. ``ols_*_shift_*`` is new - old by Welch
    (1947). Missing where a side has a single unit; there is none for Theil-Sen, as the jackknife
    fails for medians.
    """
    found: list[Group] = []
    parts: list[_Part] = [
        ([], [], [], [], [], []),
        ([], [], [], [], [], []),
    ]
    shown: list[str] = []
    for group in sorted(old.matrices, key=group_title):
        (names, x), (others, y) = _matrix(old, group), _matrix(new, group)
        if not names or names != others or group not in new.per_core:
            continue
        scales = [p.shown[p.per_core[group][0]].scale for p in (old, new)]
        if scales[0] != scales[1] or (refused and group_title(group) in " ".join(refused)):
            continue
        found.append(group)
        shown.append(scales[0][1])
        for part, matrix, side in zip(parts, (x, y), (old, new), strict=True):
            part[0].append(matrix.reshape(-1))
            part[1].append(matrix.shape[0])
            part[2].append(matrix.shape[1])
            part[3].append(scales[0][0].numerator)
            part[4].append(scales[0][0].denominator)
            part[5].append(max(1, side.shown[side.per_core[group][0]].resolution))
    core = Frame(_core.compare_vectors(_vectors(parts[0]), _vectors(parts[1]), seed), "groups")
    notes = [_note(*pair, margin) for pair in zip(found, core, strict=True)]
    texts = {
        "group": [group_title(g) for g in found],
        "test": [g.subject[0] for g in found],
        "metric": [g.subject[1] for g in found],
        "exchange": [g.exchange for g in found],
        "shown": shown,
    }
    columns = [Column.of(name, np.array(v, "O")) for name, v in texts.items()]
    columns += [core.column(name) for name in core.columns]
    columns.append(Column.of("note", np.array(notes, "O")))
    return Frame(columns, "groups of interchangeable cpus")


def ladder_grid(groups: Frame) -> Grid:
    """The lock ladders of both sides as text: one row a group whose cpus all queue for one lock.

    Base and step per cpu in the queue, each with its 95 % interval from unit to unit in brackets
    where a side has two units or more; the changes as intervals only.
    """

    def interval(row: dict[str, Any], name: str) -> str:
        low, high = (row[f"ols_{name}_{end}"] for end in ("lo", "hi"))
        if low is None or high is None:
            return ""
        if not name.endswith("shift"):  # a time is not below 0
            low = max(low, 0.0)
        return f"{length_text(low, row['shown'])}..{length_text(high, row['shown'])}"

    rows = []
    for row in groups:
        if row["exchange"] != "all" or row["ols_a_new"] is None:
            continue
        cells = [row["group"]]
        for name in ("a_old", "a_new", "a_shift", "b_old", "b_new", "b_shift"):
            between = interval(row, name)
            value = (
                None if name.endswith("shift") else length_text(row[f"ols_{name}"], row["shown"])
            )
            cells.append(" ".join(filter(None, (value, between and f"[{between}]"))))
        rows.append(cells)
    names = ("lock ladder", "base old", "base new", "base moved by", "step old", "step new",
             "step moved by")  # fmt: skip
    keep = [i for i in range(len(names)) if i == 0 or any(row[i] for row in rows)]
    return Grid([names[i] for i in keep], [[row[i] for i in keep] for row in rows])


def _note(group: Group, row: dict[str, Any], margin: float) -> str | None:
    """The finding of a group that its cpus do not show."""
    title = group_title(group)
    limit = 100 * margin

    def beyond(low: float | None, high: float | None) -> bool:
        return max(abs(low or 0), abs(high or 0)) > limit

    notes = []
    core = (row["core_low"], row["core_high"])
    rank = (row["rank_low"], row["rank_high"])
    if beyond(*core) and not beyond(*rank):
        notes.append(
            f"lock order, not cost: per cpu {core[0]:+.0f}..{core[1]:+.0f} %, "
            f"sorted {rank[0]:+.2f}..{rank[1]:+.2f} %"
        )
    if row["exchange_p"] is not None and row["exchange_p"] < MATTERS:
        notes.append(f"its cpus differ (p {row['exchange_p']:.2g}): perhaps not interchangeable")
    return f"{title}: {'; '.join(notes)}" if notes else None


def cluster_names(boards: set[Any]) -> dict[int, str]:
    """The names of the cores of each cluster, where the sides name one known board."""
    board = load().get(str(next(iter(boards)))) if len(boards) == 1 else None
    return {} if board is None else {k: c.name for k, c in enumerate(board.clusters) if c.name}


def common_factors(
    rows: Frame, margin: float, clusters: Mapping[int, str] | None = None
) -> list[dict[str, Any]]:
    """Factors that at least three keys, and half of a metric's in one cluster, have in common.

    Parameters
    ----------
    rows : Frame
        Of a comparison.
    margin : float
        Changes up to it are no factor worth a line.
    clusters : mapping, optional
        The names of the cores of a cluster.

    Returns
    -------
    list of dict
        ``factor`` (geometric mean of new / old), ``metric``, ``cluster``, ``title``, ``keys``.
    """
    ratio = np.full(len(rows), np.nan)
    codes: dict[tuple[Any, ...], int] = {}
    group = np.zeros(len(rows), "u4")
    members = []
    for i, row in enumerate(rows):
        members.append(row)
        kind = "serial" if row["rank"] is None else "interchangeable cpus"
        name = (row["metric"], row["operation"], row["cluster"], kind)
        group[i] = codes.setdefault(name, len(codes))
        percent = row["percent"]
        if percent is not None and row["quantile"] == 50:
            change = 1 + percent / 100
            if not 1 / (1 + margin) <= change <= 1 + margin:
                ratio[i] = change
    factor, number = _core.common_factor(ratio, group, LEAST, TOLERANCE)
    names = list(codes)
    out = []
    sets = [np.flatnonzero(number == n) for n in sorted(set(number[number != NO_SET].tolist()))]
    for at in sorted(sets, key=len, reverse=True):
        if 2 * len(at) < int((group == group[at[0]]).sum()):
            continue
        metric, operation, cluster, kind = names[int(group[at[0]])]
        words = [w for w in (kind, operation, metric) if w]
        if cluster is not None:
            cores = (clusters or {}).get(cluster)
            words.append(f"of cluster {cluster}" + (f" ({cores})" if cores else ""))
        out.append(
            {
                "factor": float(factor[at[0]]),
                "metric": metric,
                "cluster": cluster,
                "title": " ".join(words),
                "keys": [members[i]["key"] for i in at],
            }
        )
    return out

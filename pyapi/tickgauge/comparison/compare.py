"""Compare two sides: one row a key, the effect first, then a verdict that holds.

The statistics are the core's (``csrc/include/tickgauge/compare.h``); here sides are matched,
cpus exchanged, and the answer is put into words.

Notes
-----
Shift: Hodges and Lehmann (1963), the median of all differences new - old; its interval inverts
the exact Mann-Whitney test (Lehmann, *Nonparametrics*, 2.3). One new unit against three or more:
prediction interval ``mean +- t(k-1) s sqrt(1 + 1/k)``. One against one with A/A boots:
``t(k-1) s sqrt(2)``. Where a side is constant the interval is widened by what the tick leaves
open, ``1 - (alpha/4)^(1/m)`` steps a side. Adjusted p: Benjamini and Hochberg (1995).
Equivalence: Schuirmann (1987), at twice alpha.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from ..errors import NotComparableError, NotEnoughData
from ..frame.frame import Column, Frame, concat
from .inputs import side_of
from .labels import label_of, where_of
from .lock_groups import cluster_names, common_factors, compare_groups
from .options import parse_margin
from .pack import Packed, pack
from .result import Comparison
from .side import Key, Side, shared_sources
from .verdicts import ORDER, note_of

__all__ = ["compare", "false_alarms", "key_scales", "parse_margin"]

BETTER = {"lower": 0, "higher": 1, "none": 2}


_Integers = npt.NDArray[np.uint64]


def key_scales(keys: Sequence[Key]) -> tuple[_Integers, _Integers, _Integers]:
    """num, den, resolution of each key, for the core.

    Raises
    ------
    NotComparableError
        A scale is no ratio of two numbers of 64 bits.
    """
    scale = [key.scale[0] for key in keys]
    for key, s in zip(keys, scale, strict=True):
        if max(s.numerator, s.denominator) >= 1 << 64:
            raise NotComparableError(
                f"{label_of(key, None)}: its values are in steps of {float(s):.3g} "
                f"{key.scale[1]}, which is no ratio of two numbers of 64 bits"
            )
    return (
        np.array([s.numerator for s in scale], "u8"),
        np.array([s.denominator for s in scale], "u8"),
        np.array([max(1, key.resolution) for key in keys], "u8"),
    )


def _incomparable(old: Side, new: Side) -> str | None:
    """Why nothing of the two sides can be compared, or None."""
    for name, side in (("old", old), ("new", new)):
        if len(boards := sorted(map(str, side.said("platform")))) > 1:
            return f"{name} holds boots of several platforms ({', '.join(boards)}): choose a board"
        if len(builds := sorted(map(str, side.said("build")))) > 1:
            return f"{name} holds boots of several build types ({', '.join(builds)})"
    for what, word in (("platform", "platform"), ("build", "build type")):
        a, b = old.said(what), new.said(what)
        if a and b and a.isdisjoint(b):
            return (
                f"other {word}: {', '.join(sorted(map(str, a)))} v {', '.join(sorted(map(str, b)))}"
            )
    return None


def _clash(old: Key, new: Key) -> str | None:
    """Why two keys of one identity cannot be compared, or None."""
    if old.scale[1] != new.scale[1]:
        if "tick" in (old.unit, new.unit):
            return "the clock of one side is unknown: --clock settles it"
        return f"other unit: {old.unit} v {new.unit}"
    if old.clock_hz and new.clock_hz and old.clock_hz != new.clock_hz and old.unit == new.unit:
        return f"other clock: {old.clock_hz} v {new.clock_hz} Hz"
    if (old.better or "lower") != (new.better or "lower"):
        return f"other direction: {old.better} v {new.better} is better"
    return None


def _unpooled(old: Packed, new: Packed, identity: tuple[Any, ...]) -> str | None:
    """Why a key's readings of one side do not belong together, or None."""
    for name, one in (("old", old), ("new", new)):
        if identity in one.clashes:
            return f"{name} cannot be pooled: {one.clashes[identity]}"
    return None


def _matched(
    old: Packed, new: Packed, barrier: str | None
) -> tuple[list[tuple[int, int]], list[tuple[str, str]]]:
    """Indices of the keys that both sides have and that can be compared; the others with why."""
    pairs, refused = [], []
    for identity, i in old.keys.items():
        j = new.keys.get(identity)
        if j is None:
            continue
        why = barrier or _unpooled(old, new, identity) or _clash(old.shown[i], new.shown[j])
        if why is None:
            pairs.append((i, j))
        else:
            refused.append((label_of(old.shown[i], old.rank[i]), why))
    return pairs, refused


def _core_rows(
    old: Packed,
    new: Packed,
    noise: Packed | None,
    pairs: Sequence[tuple[int, int]],
    margin: float,
    margin_abs: float,
    alpha: float,
    seed: int,
    paired: bool,
) -> Frame:
    """The core's table for the matched pairs."""
    keys_old = [old.shown[i] for i, _ in pairs]
    keys_new = [new.shown[j] for _, j in pairs]
    better = np.array([BETTER.get(k.better or "lower", 0) for k in keys_new], "u1")
    extra: _core._Samples | None = None
    if noise is not None:
        index = {v: k for k, v in old.keys.items()}
        order = [noise.keys.get(index[i]) for i, _ in pairs]
        used = [keys_old[n] if k is None else noise.shown[k] for n, k in enumerate(order)]
        extra = noise.samples(order, *key_scales(used))
    table = _core.compare(
        old.samples([i for i, _ in pairs], *key_scales(keys_old)),
        new.samples([j for _, j in pairs], *key_scales(keys_new)),
        margin=margin, margin_abs=margin_abs, alpha=alpha, better=better, noise=extra,
        seed=seed, paired=paired,
    )  # fmt: skip
    return Frame(table, "keys")


def _rows(
    old: Packed,
    new: Packed,
    noise: Packed | None,
    pairs: list[tuple[int, int]],
    unit: str,
    margin_ns: float,
    **options: Any,
) -> Frame:
    """One row a key; times and other units apart, so that the margin in ns binds times only."""
    times = [p for p in pairs if old.shown[p[0]].scale[1] == "ns"]
    others = [p for p in pairs if old.shown[p[0]].scale[1] != "ns"]
    parts = [
        _core_rows(old, new, noise, part, margin_abs=limit, **options)
        for part, limit in ((times, margin_ns), (others, 0.0))
        if part
    ]
    pairs[:] = times + others
    if not parts:
        parts = [_core_rows(old, new, noise, [], margin_abs=0, **options)]
    core = parts[0] if len(parts) == 1 else concat(parts, "keys")
    return _named(core, old, pairs, unit)


_ORDERED = (
    "old", "new", "shift", "shift_steps", "percent", "verdict", "lo", "hi", "level", "p", "p_min",
    "p_bh", "detectable", "detectable_level", "delta", "step", "sd", "within", "within_lo",
    "within_hi", "n_old", "n_new", "needed", "method",
)  # fmt: skip


def _named(core: Frame, old: Packed, pairs: Sequence[tuple[int, int]], unit: str) -> Frame:
    """The core's rows with the keys' names, regressed first."""
    keys = [old.shown[i] for i, _ in pairs]
    ranks = [old.rank[i] for i, _ in pairs]
    text = {
        "key": [label_of(k, r) for k, r in zip(keys, ranks, strict=True)],
        "test": [k.test for k in keys],
        "metric": [k.metric for k in keys],
        "operation": [k.operation for k in keys],
        "labels": [k.labels for k in keys],
        "place": [None if r else where_of(k, r) for k, r in zip(keys, ranks, strict=True)],
        "rank": [None if r is None else f"{r[0] + 1}/{r[1]}" for r in ranks],
        "shown": [k.scale[1] for k in keys],
        "better": [k.better or "lower" for k in keys],
    }
    columns = [Column.of(name, np.array(v, "O")) for name, v in text.items()]
    columns[6:6] = [_ids(name, [getattr(k, name) for k in keys]) for name in ("cluster", "core")]
    core_columns = {name: core.column(name) for name in core.columns}
    p = core_columns["p"]
    values = p.data if p.valid is None else np.where(p.valid, p.data, np.nan)
    adjusted = _core.bh(np.asarray(values, "f8"))
    core_columns["p_bh"] = Column.of("p_bh", adjusted, ~np.isnan(adjusted))
    columns += [core_columns[name] for name in _ORDERED]
    flags = core_columns["flags"].data
    columns.append(Column.of("note", np.array([note_of(int(f), unit) for f in flags], "O")))
    columns.append(core_columns["flags"])
    frame = Frame(columns, "keys")
    word = np.array([ORDER.index(v) for v in frame["verdict"]], "i8")
    change = np.array([abs(c) if c is not None else 0.0 for c in _floats(frame, "percent")], "f8")
    name = np.array(text["key"], "U") if len(frame) else word
    return frame[np.lexsort((name, -change, word))] if len(frame) else frame


def _ids(name: str, values: Sequence[int | None]) -> Column:
    data = np.array([0 if v is None else v for v in values], "u4")
    return Column.of(name, data, np.array([v is not None for v in values], "?"))


def _floats(frame: Frame, name: str) -> list[float | None]:
    cell = frame.column(name).cell
    return [cell(i) for i in range(len(frame))]


def compare(
    old: Any,
    new: Any,
    unit: str | None = None,
    margin: float | str = 0.05,
    margin_ns: float = 0,
    exchange: str | Mapping[Any, str] | None = None,
    *,
    alpha: float = 0.05,
    paired: bool = False,
    noise: Any = None,
    seed: int = 1,
    anyway: bool = False,
    board: str | None = None,
) -> Comparison:
    """Compare two sides key by key.

    Parameters
    ----------
    old, new : data set, snapshot, path, or a list of these
        The baseline first.
    unit : {"boot", "run", "reading"}, optional
        What counts as one independent observation; by default what the format calls for.
        Several readings of a unit are collapsed to their lower median.
    margin : float or str
        Relative change that matters: ``0.05`` or ``"5%"``.
    margin_ns : float
        Absolute change that matters, in ns; the larger of the two counts, and never less than
        one resolution step.
    exchange : {"none", "cluster", "all"} or mapping, optional
        Which cpus may be interchanged; by default as the format says. A mapping goes from
        ``(test, metric)``, test or metric to the class.
    alpha : float
        Two-sided level: "regressed", "improved" and "changed" need an interval of 1 - alpha.
    paired : bool
        Unit i of old and unit i of new belong together (interleaved A/B boots).
    noise : data set, snapshot or path, optional
        Boots of one firmware: the scatter for one boot against one.
    seed : int
        For what is drawn where counting is too long.
    anyway : bool
        Compare also sides that say they are of another platform or build type.
    board : str, optional
        Only the boots of that platform, where a source holds several.

    Returns
    -------
    Comparison

    Raises
    ------
    ValueError
        An option is outside its range.
    """
    relative = parse_margin(margin)
    a, b = side_of(old).of_board(board), side_of(new).of_board(board)
    kind = a.unit_of(unit) if unit or a.unit_of(None) == b.unit_of(None) else "boot"
    packed_old, packed_new = pack(a, kind, exchange), pack(b, kind, exchange)
    scatter, noise_name = None, ""
    if noise is not None:
        quiet = side_of(noise).of_board(board)
        scatter = pack(quiet, kind, exchange)
        noise_name = f"{quiet.name or 'A/A'} (k = {scatter.units} {kind}s)"
    pairs, refused = _matched(packed_old, packed_new, None if anyway else _incomparable(a, b))
    rows = _rows(
        packed_old, packed_new, scatter, pairs, kind, float(margin_ns),
        margin=relative, alpha=alpha, seed=seed, paired=paired,
    )  # fmt: skip
    ratios = [r for r in _ratios(rows) if r is not None]
    mean: float | None
    try:
        mean, mean_of = _core.geometric_mean(np.array(ratios, "f8"))
    except NotEnoughData:
        mean, mean_of = None, 0
    return Comparison(
        rows,
        compare_groups(packed_old, packed_new, relative, seed, {label for label, _ in refused}),
        common_factors(rows, relative, cluster_names(a.said("platform") | b.said("platform"))),
        _unmatched(packed_old, packed_new),
        refused,
        kind,
        (packed_old.units, packed_new.units),
        relative,
        float(margin_ns),
        alpha,
        mean,
        mean_of,
        false_alarms(rows, alpha),
        a.sources + b.sources,
        _notes(a, b, (packed_old, packed_new)),
        noise_name,
    )


def _ratios(rows: Frame) -> list[float | None]:
    """(old + shift) / old of each row, None where it has no sense."""
    old, shift = _floats(rows, "old"), _floats(rows, "shift")
    return [
        None if o is None or s is None or o <= 0 or o + s <= 0 else (o + s) / o
        for o, s in zip(old, shift, strict=True)
    ]


def false_alarms(rows: Frame, alpha: float) -> float:
    """How many keys would be called regressed on average if nothing had changed, at most."""
    levels = [v for v in _floats(rows, "level") if v is not None and v >= 1 - alpha - 1e-9]
    return float(sum((1 - level) / 2 for level in levels))


def _unmatched(old: Packed, new: Packed) -> dict[str, list[str]]:
    out = {}
    for name, one, other in (("old", old, new), ("new", new, old)):
        out[name] = [
            label_of(one.shown[i], one.rank[i]) for k, i in one.keys.items() if k not in other.keys
        ]
    return out


def _notes(old: Side, new: Side, packed: Sequence[Packed]) -> list[str]:
    notes = []
    for name, side, pack_ in (("old", old, packed[0]), ("new", new, packed[1])):
        if len(side.versions) > 1:
            notes.append(f"{name} mixes firmware versions: {', '.join(side.versions)}")
        if side.folded:
            notes.append(f"{name}: counts of a snapshot were folded onto a coarser grid")
        notes += [f"{name}: {note}" for note in pack_.notes]
    if shared := shared_sources(old, new):
        notes.append(
            "a source stands on both sides"
            if shared == 1
            else f"{shared} sources stand on both sides"
        )
    return notes

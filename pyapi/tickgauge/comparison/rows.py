"""Rows of a comparison: the core's table with the names of the keys and a sentence each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import _core
from ..frame.frame import Column, Frame
from .labels import label_of, where_of
from .matched import Matched
from .verdicts import ORDER, note_of, sentence

__all__ = ["COLUMNS", "GATE_COLUMNS", "floats", "judged", "named"]

#: Columns of the core in the order of the answer.
COLUMNS = (
    "old", "new", "percent", "percent_lo", "percent_hi", "verdict", "shift", "shift_steps", "lo",
    "hi", "level", "p", "p_min", "p_bh", "visible", "judged_from", "margin", "delta", "step",
    "scatter", "tail_p_slower", "tail_p_faster", "tail_above", "tail_old", "tail_new", "within",
    "within_lo", "within_hi", "n_old", "n_new", "needed", "reference", "method",
)  # fmt: skip

#: Columns that the gate adds.
GATE_COLUMNS = ("gated", "p_gate", "p_tail", "guard", "found")


def judged(
    matched: Matched, *, margin: float, alpha: float, seed: int, paired: bool
) -> tuple[Frame, list[tuple[str, str]], list[str]]:
    """The core's rows; keys that it refused, with the reason; notes on quantiles.

    Parameters
    ----------
    matched : Matched
    margin, alpha, seed, paired
        As in `compare`.
    """
    old, new = matched.sides()
    core = Frame(
        _core.compare(
            old, new, margin=margin, alpha=alpha, seed=seed, paired=paired, **matched.options()
        ),
        "keys",
    )
    return core, _refused(core, matched), _lacking(core, matched)


def _refused(core: Frame, matched: Matched) -> list[tuple[str, str]]:
    why = "a value is beyond 2^61 steps of the grid that both sides share"
    keys = sorted({int(i) for i, v in zip(core["index"], core["verdict"], strict=True)
                   if v == "refused"})  # fmt: skip
    return [(_label(matched, i), why) for i in keys]


def _lacking(core: Frame, matched: Matched) -> list[str]:
    """One note a quantile: boots with too few readings for it."""
    notes = []
    for name, least in (("90", 20), ("99", 200)):
        few = core.column(f"lacking_{name}").data
        if not few.any():
            continue
        at = int(few.argmax())
        row = core.row(at)
        notes.append(
            f"p{name} of {_label(matched, int(row['index']))} is not judged: {int(few[at])} of "
            f"{row['n_old'] + row['n_new']} boots have fewer than {least} readings"
            + (f"; so of {int((few > 0).sum()) - 1} more keys" if (few > 0).sum() > 1 else "")
        )
    return notes


def _label(matched: Matched, index: int, quantile: int = 50) -> str:
    i = matched.pairs[index][0]
    label = label_of(matched.old.shown[i], matched.old.rank[i])
    return label if quantile == 50 else f"{label} @p{quantile}"


def _ids(name: str, values: Sequence[int | None]) -> Column:
    data = np.array([0 if v is None else v for v in values], "u4")
    return Column.of(name, data, np.array([v is not None for v in values], "?"))


def named(core: Frame, matched: Matched, unit: str, margin: float) -> Frame:
    """The rows with the names of their keys, the words that matter first; refused ones are gone.

    Parameters
    ----------
    core : Frame
        Of `judged`; with the columns of the gate, where there was one.
    matched : Matched
    unit : str
        The word for a unit.
    margin : float
        Relative.
    """
    index = core.column("index").data.tolist()
    quantile = core.column("quantile").data.tolist()
    pairs = [matched.pairs[i] for i in index]
    keys = [matched.old.shown[i] for i, _ in pairs]
    ranks = [matched.old.rank[i] for i, _ in pairs]
    text: dict[str, list[Any]] = {
        "key": [_label(matched, i, q) for i, q in zip(index, quantile, strict=True)],
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
    columns.append(core.column("quantile"))
    extra = [name for name in GATE_COLUMNS if name in core.columns]
    columns += [core.column(name) for name in (*COLUMNS, *extra)]
    flags = core.column("flags").data
    plain = Frame([*columns, core.column("flags")], "keys")
    words = [sentence(row, unit, margin) for row in plain]
    columns.append(Column.of("sentence", np.array(words, "O")))
    columns.append(Column.of("note", np.array([note_of(int(f), unit) for f in flags], "O")))
    columns.append(core.column("flags"))
    frame = Frame(columns, "keys")
    if not len(frame):
        return frame
    verdicts = list(frame["verdict"])
    word = np.array([ORDER.index(v) if v in ORDER else len(ORDER) for v in verdicts], "i8")
    change = np.array([_size(c) for c in floats(frame, "percent")], "f8")
    order = np.lexsort((np.array(text["key"], "U"), -change, word))
    kept: Frame = frame[order[word[order] < len(ORDER)]]
    return kept


def _size(percent: float | None) -> float:
    """The size of a change, by factor: -50 % is as far as +100 %."""
    return 0.0 if percent is None else abs(float(np.log(max(percent / 100 + 1, 1e-300))))


def floats(frame: Frame, name: str) -> list[float | None]:
    """A column as Python numbers, None where missing."""
    return frame.column(name).part(0, len(frame))

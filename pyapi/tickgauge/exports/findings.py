"""One table of verdicts, from which every form for continuous integration is made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..comparison.gate_result import Gate
from ..comparison.inputs import side_of
from ..comparison.labels import label_of, length_text
from ..comparison.pack import pack

__all__ = ["FAIL", "PASS", "UNDECIDED", "Finding", "boot_values", "findings_of"]

#: States of a key in a gate: a reporter shows passed, failed and skipped.
PASS, FAIL, UNDECIDED = "pass", "fail", "undecided"


@dataclass(frozen=True)
class Finding:
    """One key of a gate.

    Attributes
    ----------
    key : str
        The whole label: test, metric, cpu.
    suite, case : str
        The test, and the rest of the label: a pair is unique in a gate.
    state : {"pass", "fail", "undecided"}
    verdict : str
        The word of the comparison; ``"missing"`` where a side has no such key.
    reason : str
        One sentence: sizes, interval, and the next step where the state is undecided.
    old, new : float or None
        Medians over the boots in `unit`.
    low, high : float or None
        Bounds of the new median: the old one plus the interval of the shift.
    unit : str
        ``"ns"``, or the unit of the key where its readings are no times.
    boots : sequence of float
        The median of each new boot in `unit`; empty where it was not asked for.
    """

    key: str
    suite: str
    case: str
    state: str
    verdict: str
    reason: str
    old: float | None = None
    new: float | None = None
    low: float | None = None
    high: float | None = None
    percent: float | None = None
    unit: str = "ns"
    boots: Sequence[float] = ()


def boot_values(side: Any, unit: str, exchange: Any = None) -> dict[str, list[float]]:
    """The inverted-CDF median of every boot, by label of the key, in the unit of its scale.

    Parameters
    ----------
    side : data set, snapshot or side
    unit : {"boot", "run", "reading"}
    exchange : optional
        As in `tickgauge.compare`.
    """
    packed = pack(side_of(side), unit, exchange)
    n = len(packed.shown)
    one = np.ones(n, "u8")
    value, weight, unit_start, key_start, *_ = packed.samples(range(n), one, one, one)
    bounds = unit_start.tolist()
    out = {}
    for k, key in enumerate(packed.shown):
        factor = float(key.scale[0])
        medians = []
        for u in range(int(key_start[k]), int(key_start[k + 1])):
            part = slice(bounds[u], bounds[u + 1])
            order = np.argsort(value[part], kind="stable")
            counts = np.ones(len(order), "u8") if weight is None else weight[part][order]
            reached = np.cumsum(counts)
            middle = np.searchsorted(reached, (int(reached[-1]) + 1) // 2)
            medians.append(float(value[part][order][middle]) * factor)
        out[label_of(key, packed.rank[k])] = medians
    return out


def findings_of(gate: Gate, boots: dict[str, list[float]] | None = None) -> list[Finding]:
    """The findings of a gate: regressed keys first, then undecided ones, then passed ones.

    Parameters
    ----------
    gate : Gate
    boots : dict, optional
        As `boot_values` of the new side gives them.
    """
    states = {key: (FAIL, why) for key, why in gate.failing}
    states |= {key: (UNDECIDED, why) for key, why in gate.open}
    rest = (PASS, "") if gate.decidable else (UNDECIDED, gate.reach.sentence)
    out = []
    for row in gate.comparison.rows:
        if row["better"] == "none":
            continue
        key = row["key"]
        state, why = states.get(key, rest)
        why = why or _sizes(row)
        suite = row["test"] or row["operation"] or "tickgauge"
        case = key.removeprefix(f"{suite} ") if key != suite else row["metric"] or key
        low = high = None
        if row["old"] is not None and row["lo"] is not None and row["hi"] is not None:
            low, high = row["old"] + row["lo"], row["old"] + row["hi"]
        out.append(
            Finding(
                key, suite, case, state, row["verdict"], why, row["old"], row["new"], low, high,
                row["percent"], row["shown"] or "", (boots or {}).get(key, ()),
            )
        )  # fmt: skip
    for key, why in gate.missing:
        suite, _, case = key.partition(" ")
        out.append(Finding(key, suite, case or key, UNDECIDED, "missing", why, unit=""))
    rank = {FAIL: 0, UNDECIDED: 1, PASS: 2}
    return sorted(out, key=lambda f: (rank[f.state], -abs(f.percent or 0)))


def _sizes(row: dict[str, Any]) -> str:
    percent = "" if row["percent"] is None else f"{row['percent']:+.2f} %, "
    shown = row["shown"]
    old, new = length_text(row["old"], shown), length_text(row["new"], shown)
    return f"{row['verdict']}: {percent}{old} to {new}"

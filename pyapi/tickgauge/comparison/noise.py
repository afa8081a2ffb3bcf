"""Noise models: the scatter between A/A boots of one firmware."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from .. import _core
from .inputs import side_of
from .labels import label_of
from .pack import pack

__all__ = ["LEAST", "unfit"]

#: Boots of one firmware that carry a noise model.
LEAST = 4


def unfit(boots: Any, unit: str | None = None, exchange: Any = None) -> list[tuple[str, str]]:
    """The keys whose A/A boots cannot serve as a noise model, and why.

    Parameters
    ----------
    boots : data set, snapshot, path, or a list of these
        Boots of one firmware.
    unit, exchange
        As in `compare`.

    Returns
    -------
    list of (str, str)
        Key and reason: fewer than four boots, or two clusters of values that lie farther apart
        than both are wide (a mean of two states says nothing about the next boot).
    """
    side = side_of(boots)
    packed = pack(side, side.unit_of(unit), exchange)
    order = list(packed.keys.values())
    one = np.ones(len(order), "u8")
    samples = packed.samples(list(order), one, one, one)
    units = _core.collapse(samples)
    start = samples[3].astype("i8").tolist()
    out = []
    for n, k in enumerate(order):
        values = units[start[n] : start[n + 1]]
        label = label_of(packed.shown[k], packed.rank[k])
        if len(values) < LEAST:
            out.append((label, f"fewer than {LEAST} boots ({len(values)})"))
        elif _core.bimodal(values, max(1, packed.shown[k].resolution)):
            out.append((label, f"bimodal: {_halves(values, packed.shown[k].scale)}"))
    return out


def _halves(values: Any, scale: tuple[Fraction, str]) -> str:
    """The two clusters of a bimodal key, in the unit that is shown."""
    ordered = [f"{float(int(value) * scale[0]):.12g}" for value in np.sort(values)]
    cut = 1 + int(np.argmax(np.diff(np.sort(values))))
    unit = f" {scale[1]}" if scale[1] else ""
    return f"{ordered[0]}..{ordered[cut - 1]} and {ordered[cut]}..{ordered[-1]}{unit}"

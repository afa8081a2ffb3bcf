"""Options of comparisons, checked; nothing here needs more than the standard library."""

from __future__ import annotations

import math

__all__ = ["EXCHANGES", "NEXT_BOOTS", "UNITS", "parse_margin"]

#: Independent observations.
UNITS = ("boot", "run", "reading")
#: Classes of cpus that may be interchanged.
EXCHANGES = ("none", "cluster", "all")

#: The next step where boots cannot decide: the same words in compare, gate and bisect.
NEXT_BOOTS = "tickgauge plan says in which order to take more boots, and how many show a change"


def parse_margin(margin: float | str) -> float:
    """A relative margin: ``0.05`` or ``"5%"``.

    Raises
    ------
    ValueError
        Not a number, below 0, or a text or an int above 1 without a per cent sign: who writes
        5 means 5 %, and a margin of 500 % lets everything pass.
    """
    text = str(margin).strip()
    percent = text.endswith("%")
    try:
        value = float(text[:-1]) / 100 if percent else float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise ValueError(f"a margin is 0 or more, for example 5% or 0.05: {margin!r}")
    if value > 1 and not percent and not isinstance(margin, float):
        raise ValueError(
            f"a margin of {text} would be {100 * value:g} %: write {text}% or {value / 100:g}"
        )
    return value

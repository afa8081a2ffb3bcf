"""What the words of a comparison mean, and what would settle an open one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = [
    "FLAGS",
    "MEANING",
    "ORDER",
    "meaning",
    "note_of",
    "settles",
    "settles_all",
    "within_text",
]

#: Units a side beyond which a projection is no advice.
MANY = 1000

#: Verdicts in the order in which they are reported.
ORDER = (
    "regressed",
    "improved",
    "changed",
    "unreplicated",
    "inconclusive",
    "equivalent",
    "missing",
)

MEANING = {
    "regressed": "worse by more than the margin: scatter between boots does not explain it",
    "improved": "better by more than the margin: scatter between boots does not explain it",
    "changed": "it did change, but whether by more than the margin is undecided",
    "unreplicated": "one boot a side: the change is what was measured, nothing says how much "
    "of it is scatter",
    "inconclusive": "no change as well as a change beyond the margin would fit these boots",
    "equivalent": "any change is smaller than the margin",
    "missing": "a side has no value",
}

#: Bits of the column `flags`.
FLAGS = {
    1: "detectable but negligible",
    2: "below resolution",
    4: "a side is constant: interval widened by what the tick leaves open",
    8: "inside the prediction interval",
    16: "the A/A boots are bimodal: no noise model",
    32: "fewer than 4 A/A boots: no noise model",
    64: "p drawn, not counted",
    128: "sides of different resolution, compared at the coarser",
}


def _count(n: int, unit: str) -> str:
    return f"{n} {unit}" if n == 1 else f"{n} {unit}s"


def note_of(flags: int, unit: str = "boot") -> str:
    """The flags of a row as words, the important ones first."""
    order = (8, 2, 1, 16, 32, 128, 64)
    words = [FLAGS[bit] for bit in order if flags & bit]
    return ", ".join(words).replace("boots", f"{unit}s")


def meaning(verdict: str, unit: str = "boot", single: bool = True) -> str:
    """What a verdict means, in a sentence; `single`: both sides have one unit."""
    text = MEANING[verdict]
    if not single:
        text = text.replace("one boot a side", "too few boots on a side")
    return text.replace("boot", unit)


def within_text(row: Mapping[str, Any], unit: str = "boot") -> str:
    """The shift between the readings inside two single units, "" where there is none."""
    old = row["old"]
    if row["within"] is None or not old:
        return ""
    shift, low, high = (100 * row[n] / abs(old) for n in ("within", "within_lo", "within_hi"))
    return f"within {unit} {shift:+.1f} % ({low:+.1f}..{high:+.1f})"


def settles(verdict: str, row: Mapping[str, Any], unit: str = "boot") -> str:
    """What would settle a row: "" where nothing is open.

    Parameters
    ----------
    verdict : str
    row : dict
        Columns n_old, n_new, needed, p_min of the comparison.
    unit : str
    """
    needed = row.get("needed")
    few = min(row["n_old"], row["n_new"])
    if verdict == "unreplicated":
        return (
            f"{_count(int(needed or 4), unit)} a side, or one new against three old, "
            "or --noise with 4 A/A boots of one firmware"
        )
    if verdict == "changed":
        return f"more {unit}s a side narrow the interval; a margin that fits the job decides"
    if verdict == "inconclusive":
        if needed == 0:
            return f"over {MANY} {unit}s a side: it scatters too much for this margin"
        if needed is None or needed <= few:
            return f"more {unit}s a side"
        return f"about {_count(int(needed), unit)} a side would see a change of the margin's size"
    return ""


def settles_all(verdict: str, rows: Sequence[Mapping[str, Any]], unit: str = "boot") -> str:
    """What would settle several rows of one verdict: the answer for the middle one of them.

    Parameters
    ----------
    verdict : str
    rows : sequence of mappings
        As in `settles`.
    unit : str
    """

    def asked(row: Mapping[str, Any]) -> float:
        needed = row.get("needed")
        return MANY + 1 if needed == 0 else float(needed or 0)

    ordered = sorted(rows, key=asked)
    if not ordered:
        return ""
    low, high = asked(ordered[0]), asked(ordered[-1])
    middle = settles(verdict, ordered[(len(ordered) - 1) // 2], unit)
    if verdict != "inconclusive" or low == high:
        return middle
    most = f"over {MANY}" if high > MANY else f"{high:.0f}"
    return f"{middle} (for half of these keys; they range from {low:.0f} to {most})"

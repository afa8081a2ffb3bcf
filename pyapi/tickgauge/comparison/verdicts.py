"""Words of a comparison: the change seen, the change that could be seen, the next step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .labels import length_text

__all__ = [
    "FLAGS",
    "MEANING",
    "ORDER",
    "advice",
    "change_text",
    "gate_verdict",
    "interval_text",
    "likely",
    "meaning",
    "modes_text",
    "note_of",
    "percent_text",
    "sentence",
    "tail_text",
    "within_text",
    "word_of",
]

#: Boot-keys that a single boot needs beside it to reach 5 %.
REFERENCE = 39

#: Units a side that a sentence about many keys still advises.
AFFORDABLE = 60

#: Percent from which on a change is told as a factor.
FACTOR = 10_000

#: A change that could be seen is told up to this many percent: a factor of ten.
VISIBLE = 900

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
    "changed": "it did change, but whether by more than the margin is open",
    "unreplicated": "too few boots on a side: the change is what was measured, nothing says how "
    "much of it is scatter",
    "inconclusive": "no change as well as a change beyond the margin would fit these boots",
    "equivalent": "any change is smaller than the margin",
    "missing": "a side has no value",
}

#: Bits of the column `flags`.
FLAGS = {
    1: "detectable but negligible",
    2: "below resolution",
    4: "a side is constant: interval widened by what the tick leaves open",
    8: "inside the boots it is compared with",
    16: "the boots of one firmware are bimodal: no answer from them",
    32: "fewer than 4 boots of one firmware",
    64: "p drawn or approximated, not counted",
    128: "sides of different resolution, compared at the coarser",
    256: "a value is 0 or below: only a shift is told",
    512: "two modes",
    1024: "middle equivalent, tail undecided",
    2048: "medians and the middle of all ratios point to different sides",
    4096: "tail regressed",
    8192: "tail improved",
    16384: "margin here: at least one step",
    32768: "model: keys of one metric scatter alike",
}
_NOTED = (8, 2, 1024, 4096, 8192, 512, 1, 2048, 16384, 16, 32, 256, 128, 32768, 64)


def note_of(flags: int, unit: str = "boot") -> str:
    """The flags of a row as words, the important ones first."""
    if flags & (4096 | 8192):
        flags &= ~1024  # the tail is told, not undecided
    words = [FLAGS[bit] for bit in _NOTED if flags & bit]
    return ", ".join(words).replace("boots", f"{unit}s")


def meaning(verdict: str, unit: str = "boot") -> str:
    """The meaning of a verdict, in a sentence."""
    return MEANING[verdict].replace("boot", unit)


def percent_text(value: float | None, sign: bool = True) -> str:
    """A change in percent with digits that fit its size, as a factor where it is beyond words."""
    if value is None:
        return "open"
    plus = "+" if sign else ""
    if value < -99.9 or value >= FACTOR:
        return f"x{value / 100 + 1:.2g}"
    if abs(value) < 0.005:
        value = 0.0
    digits = 2 if abs(value) < 10 else 1 if abs(value) < 1000 else 0
    return f"{value:{plus}.{digits}f} %"


def change_text(row: Mapping[str, Any]) -> str:
    """The change of a row: percent, or the shift where there is no ratio."""
    if row["percent"] is not None:
        return percent_text(row["percent"])
    if row["shift"] is None:
        return "-"
    return _signed(row["shift"], row["shown"])


def _signed(value: float, shown: str | None) -> str:
    return ("+" if value > 0 else "") + length_text(value, shown)


def interval_text(row: Mapping[str, Any]) -> str:
    """The interval of a row on the scale of its change; "-" where there is none."""
    if row["level"] is None:
        return "-"
    if row["percent"] is None:
        return f"{_signed(row['lo'], row['shown'])}..{_signed(row['hi'], row['shown'])}"
    low, high = percent_text(row["percent_lo"]), percent_text(row["percent_hi"])
    return f"{low.removesuffix(' %') if high.endswith('%') else low}..{high}"


def within_text(row: Mapping[str, Any], unit: str = "boot") -> str:
    """The shift between the readings inside two single units, "" where there is none."""
    if row["within"] is None:
        return ""
    shift, low, high = (_signed(row[n], row["shown"]) for n in ("within", "within_lo", "within_hi"))
    ends = {text.rpartition(" ")[2] for text in (shift, low, high)}
    if len(ends) == 1:  # said once
        low, high = (text.rpartition(" ")[0] for text in (low, high))
    return f"within {unit} {shift} ({low}..{high})"


def tail_text(row: Mapping[str, Any], unit: str = "boot") -> str:
    """The finding of the slow boots, where it is worth a word: counts of both sides."""
    word = _tail_word(row)
    return f"{word}: {_slow(row, unit)}" if word else ""


def modes_text(row: Mapping[str, Any], unit: str = "boot") -> str:
    """The boots above the gap of two modes."""
    return f"{_tail_word(row) or 'two modes'}: {_slow(row, unit)}"


def _slow(row: Mapping[str, Any], unit: str) -> str:
    """How many boots of the sides are slow."""
    above = length_text(row["tail_above"], row["shown"])
    return (
        f"{row['tail_new']} of {row['n_new']} {unit}s above {above}, "
        f"before {row['tail_old']} of {row['n_old']}"
    )


def _tail_word(row: Mapping[str, Any]) -> str:
    flags = row["flags"]
    if not flags & (4096 | 8192):
        return ""
    slower = bool(flags & 4096) and (
        not flags & 8192 or row["tail_p_slower"] <= row["tail_p_faster"]
    )
    if flags & 512:
        return "slow mode more often" if slower else "slow mode less often"
    return "tail regressed" if slower else "tail improved"


def word_of(row: Mapping[str, Any]) -> str:
    """The word of a row, the same in compare, gate and report.

    The finding of the slow boots stands where the middle alone says nothing.
    """
    quiet = row["verdict"] in ("inconclusive", "equivalent")
    return (_tail_word(row) if quiet else "") or str(row["verdict"])


def gate_verdict(verdict: str, gated: bool, found: int) -> str:
    """The verdict of a key in a gate that can be red, whose error is one over all keys.

    Parameters
    ----------
    verdict : str
        By the key alone.
    gated : bool
    found : int
        Not 0: regressed over all keys.
    """
    if found:
        return "regressed"
    return "changed" if gated and verdict == "regressed" else verdict


def _seen(row: Mapping[str, Any], unit: str) -> str:
    """The change seen, in words of the job."""
    verdict, change = row["verdict"], change_text(row)
    interval = interval_text(row)
    at = "" if interval == "-" else f" ({interval} at {100 * row['level']:.1f} %)"
    if verdict == "missing":
        return "a side has no value"
    worse = {"lower": "slower", "higher": "lower"}.get(row["better"], "moved")
    better = {"lower": "faster", "higher": "higher"}.get(row["better"], "moved")
    if row["shown"] != "ns" and row["better"] == "lower":
        worse, better = "larger", "smaller"
    if verdict == "regressed":
        return f"{worse} by {change}{at}"
    if verdict == "improved":
        return f"{better} by {change.lstrip('+-')}{at}"
    if verdict == "changed" and row.get("gated"):
        p = f"p {row['p_gate']:.2g} over all keys"
        return f"moved by {change}{at}; by more than the margin or not is open ({p})"
    if verdict == "changed":
        return f"moved by {change}{at}; by more than the margin or not is open"
    if verdict == "equivalent":
        word = f"at 90 %, no change beyond the margin: {change}"
        return word if interval == "-" else f"{word} (95 %: {interval})"
    if verdict == "unreplicated":
        if row["n_old"] == row["n_new"] == 1:
            return f"measured {change}, one {unit} a side: nothing says how {unit}s scatter"
        return f"measured {change}, too few {unit}s on a side"
    if row["flags"] & 1024:
        p = min(p for p in (row["tail_p_slower"], row["tail_p_faster"]) if p is not None)
        if _tail_word(row):
            return f"middle equivalent ({change})"
        return f"middle equivalent ({change}), slow {unit}s open: {_slow(row, unit)} (p {p:.2g})"
    if row["flags"] & 512 and not _tail_word(row):
        p = min(row["tail_p_slower"], row["tail_p_faster"])
        return (
            f"two modes, open which is more often: {_slow(row, unit)} (p {p:.2g}); middle {change}"
        )
    return f"no change and a change beyond the margin both fit: {change}{at}"


def _could(row: Mapping[str, Any], margin: float, unit: str) -> str:
    """The change that could be seen."""
    if row["method"] in ("none", "pooled residuals", "noise set") or row["verdict"] == "missing":
        return ""
    if row["flags"] & 512:
        if row["verdict"] in ("inconclusive", "changed"):
            return ""  # its advice says it
        return f"two modes: no change is promised to be seen at these numbers of {unit}s"
    if row["level"] is None:
        return f"none at 5 % with {row['n_old']} v {row['n_new']} {unit}s"
    if row["visible"] is None:
        return ""
    if row["percent"] is None:
        return f"a shift of {length_text(row['visible'], row['shown'])} is seen in 4 of 5 cases"
    if row["visible"] > VISIBLE:
        why = (
            ""
            if row["scatter"] is None
            else f", {unit}s of one side differ by x{row['scatter']:.2g}"
        )
        return f"no change below a factor of 10 is seen{why}"
    seen, judged = (percent_text(row[n], sign=False) for n in ("visible", "judged_from"))
    if row["visible"] < 0.005:
        seen = f"one step ({length_text(row['step'], row['shown'])})"
    return f"{seen} is seen in 4 of 5 cases, called regressed from {judged}"


def advice(row: Mapping[str, Any], margin: float, unit: str = "boot") -> str:
    """The next step for a row: "" where nothing is open."""
    verdict = row["verdict"]
    few = min(row["n_old"], row["n_new"])
    target = f"+{200 * margin:g} %"
    if verdict == "unreplicated":
        if row["reference"]:
            return (
                f"needs {REFERENCE} {unit}-keys of this metric, has {row['reference']}: more "
                f"{unit}s on the longer side"
            )
        return f"{row['needed'] or 4} {unit}s a side, or --noise with 4 {unit}s of one firmware"
    if verdict not in ("inconclusive", "changed"):
        return ""
    if row["method"] in ("pooled residuals", "noise set"):
        return f"more {unit}s a side"
    if row["flags"] & 512:
        return (
            f"two modes, so no change is promised to be seen: find out which {unit}s are slow, "
            f"more {unit}s hardly help"
        )
    if row["level"] is None:
        return f"at least {_least(row)} {unit}s a side"
    if row["needed"] is None:
        factor = row["scatter"]
        told = row["visible"] is not None and row["visible"] > VISIBLE
        why = f": {unit}s of one side differ by x{factor:.2g}" if factor and not told else ""
        return f"no number of {unit}s below 1000 shows {target}{why}"
    more = row["needed"] - few
    if more <= 0:
        return "a margin that fits the job decides" if verdict == "changed" else ""
    return f"about {more} more {unit}s a side show {target}"


def _least(row: Mapping[str, Any]) -> int:
    """Units a side from which on the exact test reaches 5 %."""
    return max(4, int(row["needed"] or 4))


def _over_all(row: Mapping[str, Any]) -> str:
    """The evidence of a gate."""
    found = row.get("found") or 0
    if not found:
        return ""
    name, word = ("p_gate", "") if found & 1 else ("p_tail", "slow boots: ")
    return f"{word}p {row[name]:.2g} over all keys"


def _margin_note(row: Mapping[str, Any]) -> str:
    if not row["flags"] & 16384 or row["margin"] is None:
        return ""
    steps = row["delta"] / row["step"] if row["step"] else 1
    word = "one step" if steps < 1.5 else length_text(row["delta"], row["shown"])
    return f"margin here: {word} = {row['margin']:.2g} %"


def sentence(row: Mapping[str, Any], unit: str, margin: float) -> str:
    """One row in plain English: the change seen, the change that could be seen, the next step."""
    parts = [
        _seen(row, unit),
        _over_all(row),
        tail_text(row, unit),
        _margin_note(row),
        _could(row, margin, unit),
        advice(row, margin, unit),
    ]
    if row["flags"] & 2048:
        parts.insert(1, f"the medians went from {length_text(row['old'], row['shown'])} to "
                        f"{length_text(row['new'], row['shown'])}, another way than the middle "
                        "of all ratios")  # fmt: skip
    return "; ".join(part for part in parts if part)


def likely(rows: Sequence[Mapping[str, Any]], margin: float, unit: str) -> str:
    """The next step for many open rows: the change that could be seen, and how to see more."""
    rows = [row for row in rows if row["method"] in ("exact", "paired")]
    seen = sorted(row["visible"] for row in rows if row["visible"] and row["percent"] is not None)
    parts = []
    if seen and seen[len(seen) // 2] <= VISIBLE:
        parts.append(
            f"half of them would show {percent_text(seen[len(seen) // 2])} in 4 of 5 cases"
        )
    more = sorted(
        row["needed"] - min(row["n_old"], row["n_new"])
        for row in rows
        if row["needed"] is not None and row["level"] is not None
    )
    blind = [row for row in rows if row["level"] is None]
    if blind:
        least = max(map(_least, blind))
        parts.append(f"no interval at 5 % in {len(blind)}: at least {least} {unit}s a side")
    cheap = [n for n in more if 0 < n <= AFFORDABLE]
    target = f"+{200 * margin:g} %"
    if cheap:
        most = cheap[(2 * len(cheap)) // 3]
        reach = sum(n <= most for n in more)
        word = unit if most == 1 else f"{unit}s"
        parts.append(f"{most} more {word} a side show {target} in {reach} of {len(rows)}")
    elif seen and more and more[0] > AFFORDABLE:
        parts.append(f"{unit}s scatter too much for {target}")
    modes = sum(bool(row["flags"] & 512) for row in rows)
    if modes:
        parts.append(f"{modes} {'lies' if modes == 1 else 'lie'} in two modes")
    return "; ".join(parts)

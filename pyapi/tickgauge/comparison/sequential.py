"""One commit, boot by boot: good or bad against a baseline, with as few boots as that takes.

The boots are looked at several times, each time with its share of the error: a commit is bad where
the whole interval of the change lies above the margin, good where it lies below, and gets more
boots in between. Looks and keys have equal shares of the error (Bonferroni).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..errors import NotEnoughData
from .compare import compare

__all__ = ["LOOKS", "Decision", "decide", "keys_to_follow"]

#: Boots of the commit at each look.
LOOKS = (5, 8, 12, 18, 27)


@dataclass
class Decision:
    """The outcome for one commit.

    Attributes
    ----------
    outcome : {"good", "bad", "undecided"}
    boots : int
        Boots of the commit that were used.
    lines : list of str
        One sentence a look and key.
    """

    outcome: str
    boots: int
    lines: list[str] = field(default_factory=list)


def keys_to_follow(old: Any, bad: Any, words: Sequence[str], **options: Any) -> list[str]:
    """The keys whose change is looked for.

    Parameters
    ----------
    old, bad : data set, snapshot, path
        The baseline, and boots of a commit known to be bad, or None.
    words : sequence of str
        Each key whose label has all of them; without any, the key with the surest regression.
    **options
        Of `tickgauge.compare`.

    Raises
    ------
    NotEnoughData
        No key has these words, or no key regressed between the two.
    """
    rows = compare(old, old if bad is None else bad, **options).to_records()
    if words:
        found = [row["key"] for row in rows if all(word in row["key"] for word in words)]
        if not found:
            raise NotEnoughData(f"no key of the baseline has {' and '.join(map(repr, words))}")
        return found
    worse = [row for row in rows if row["verdict"] == "regressed" and _low(row) is not None]
    if not worse:
        raise NotEnoughData("no key regressed from the good to the bad side: name one with --key")
    return [max(worse, key=_low)["key"]]


def _low(row: dict[str, Any]) -> Any:
    """The end of the interval that lies nearer to no change, in percent for the worse."""
    if row["better"] == "higher":
        return None if row["percent_hi"] is None else -row["percent_hi"]
    return row["percent_lo"]


def _high(row: dict[str, Any]) -> Any:
    if row["better"] == "higher":
        return None if row["percent_lo"] is None else -row["percent_lo"]
    return row["percent_hi"]


def decide(
    old: Any,
    boots: Iterator[Any],
    keys: Sequence[str],
    *,
    margin: float = 0.05,
    alpha: float = 0.05,
    looks: Sequence[int] = LOOKS,
    tell: Callable[[str], Any] = lambda line: None,
    **options: Any,
) -> Decision:
    """Judge one commit.

    Parameters
    ----------
    old : data set, snapshot, path
        The baseline.
    boots : iterator of data set
        Boots of the commit: as many are taken as the looks need.
    keys : sequence of str
        Labels that are followed; the error is shared among them.
    margin, alpha : float
        `alpha` holds over all looks and keys of this commit.
    looks : sequence of int
        Numbers of boots at which to look, rising.
    tell : callable
        Is given each sentence as it is found.
    **options
        Of `tickgauge.compare`.

    Returns
    -------
    Decision
        ``"bad"`` where some key is, ``"good"`` where all are.
    """
    share = alpha / len(looks) / len(keys)
    taken: list[Any] = []
    lines: list[str] = []
    for look in looks:
        taken += [next(boots) for _ in range(look - len(taken))]
        made = compare(old, taken, margin=margin, alpha=share, **options)
        rows = {row["key"]: row for row in made.to_records()}
        words = []
        for key in keys:
            word, line = _judged(rows.get(key), margin, look)
            words.append(word)
            lines.append(f"{key}: {line}")
            tell(lines[-1])
        if "bad" in words:
            return Decision("bad", look, lines)
        if all(word == "good" for word in words):
            return Decision("good", look, lines)
    return Decision("undecided", looks[-1], lines)


def _judged(row: dict[str, Any] | None, margin: float, look: int) -> tuple[str, str]:
    if row is None:
        return "open", f"no reading in {look} boots"
    low, high = _low(row), _high(row)
    if low is None or high is None:
        return "open", f"{look} boots: too few for an interval"
    told = f"{look} boots: {row['percent']:+.1f} % ({low:+.1f} to {high:+.1f} %)"
    if low > 100 * margin:
        return "bad", f"{told}: bad"
    if high < 100 * margin:
        return "good", f"{told}: good"
    return "open", f"{told}: neither"

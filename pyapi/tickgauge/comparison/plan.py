"""Plan: in which order to take boots, and how many show a change of a given size."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cache
from typing import Any

from .. import _core
from ..frame.answer import Answer
from ..frame.grid import Grid
from ..util.text import clean, counted
from .compare import Options, compared
from .copies import TWICE, counted_once
from .inputs import side_of
from .options import parse_margin
from .result import Comparison

__all__ = ["Plan", "order_of", "plan"]

#: Boots a side that a plan considers.
MOST = 1000

#: First boots a side that give a number: from so many on the exact test has an interval at 5 %.
FIRST = 4

#: Blocks of four boots that a text shows; JSON has the whole order.
BLOCKS = 16


def order_of(boots: int) -> str:
    """An order of so many old (A) and as many new (B) boots: blocks ABBA, BAAB by Thue and Morse.

    A slow change of the machine, straight or curved, then is the same for both sides.
    """
    blocks = []
    for i in range((boots + 1) // 2):
        swapped = bin(i).count("1") % 2 == 1
        blocks.append("BAAB" if swapped else "ABBA")
    return "".join(blocks)[: 2 * boots]


@dataclass
class Plan:
    """The answer of `plan`.

    Attributes
    ----------
    boots : int
        A side.
    order : str
        A = a boot of OLD, B = one of NEW.
    see : float
        The change to be seen, a fraction.
    needed : dict
        Key -> boots a side that show it in 4 of 5 cases, None where `lost` has the cause.
    lost : dict
        Cause -> the keys for which there is no number.
    comparison : Comparison
        Of the first boots.
    """

    boots: int
    order: str
    see: float
    needed: dict[str, int | None]
    lost: dict[str, list[str]]
    comparison: Comparison

    @property
    def header(self) -> list[str]:
        """How many boots for how many keys, and the order."""
        known = sorted(n for n in self.needed.values() if n is not None)
        total = counted(len(self.needed), "key")
        lines = [note for note in self.comparison.notes if TWICE in note]
        for share in (0.5, 0.75, 0.9):
            at = math.ceil(share * len(self.needed))
            if 0 < at <= len(known):
                lines.append(
                    f"{known[at - 1]} boots a side show +{100 * self.see:g} % in {at} of {total} "
                    "(4 of 5 cases)"
                )
        lines += [f"{len(keys)} of {total}: {cause}" for cause, keys in self.lost.items() if keys]
        if self.order:
            lines.append(f"order for {self.boots} boots a side, A = OLD, B = NEW:")
        return list(dict.fromkeys(lines))

    def to_text(self) -> str:
        """For a person: the numbers, then the order in blocks of four."""
        blocks = [self.order[i : i + 4] for i in range(0, len(self.order), 4)]
        lines = [*map(clean, self.header)]
        if blocks:
            more = len(blocks) - BLOCKS
            rest = f" ... {more} more blocks (--format json)" if more > 0 else ""
            lines.append(" ".join(blocks[:BLOCKS]) + rest)
        return "\n".join(lines) + "\n"

    def to_matrix(self) -> str:
        """The order as a job matrix: one JSON object with a list ``include``, a job a boot.

        GitHub reads it by ``fromJSON`` as the matrix of a job; ``max-parallel: 1`` keeps the order.
        """
        sides = {"A": "old", "B": "new"}
        jobs = [{"step": i, "side": sides[one]} for i, one in enumerate(self.order, 1)]
        return json.dumps({"include": jobs}) + "\n"

    def __repr__(self) -> str:
        return self.to_text().rstrip("\n")

    def answer(self) -> Answer:
        """The answer as the command line writes it."""
        rows = [(key, n) for key, n in self.needed.items()]
        extra = {"order": self.order, "boots": self.boots, "see": self.see, "lost": self.lost}
        return Answer(
            "plan", Grid(("key", "boots"), rows), notes=self.header, extra=extra,
            unit=self.comparison.units_text, margin=self.comparison.margin,
        )  # fmt: skip


def _lost(row: dict[str, Any], needed: int | None) -> str:
    """The cause where there is no number of boots: "" where there is one."""
    if needed is not None:
        return ""
    if row["flags"] & 512:
        return "the boots lie in two modes, so no number of them promises anything"
    if row["percent_lo"] is None or row["percent_hi"] is None:
        return (
            f"no interval from {row['n_old']} v {row['n_new']} boots: a number needs {FIRST} first "
            "boots a side"
        )
    return f"more than {MOST} boots: they scatter too much"


@cache
def _factor(boots: int) -> float:
    """What so many boots a side must show, in units of their spread: all keys of a plan ask it."""
    return (1.48 + 0.7 / boots) * float(_core.detectable_sd(boots, boots)[0])


def _needed(row: dict[str, Any], margin: float, see: float) -> int | None:
    """Boots a side that would show a change of `see`, from the interval of the first boots."""
    if row["percent_lo"] is None or row["percent_hi"] is None or row["flags"] & 512:
        return None
    few = min(row["n_old"], row["n_new"])
    half = math.log((100 + row["percent_hi"]) / (100 + row["percent_lo"])) / 2
    room = math.log((1 + see) / (1 + margin))
    for n in range(4, MOST + 1):
        if half * _factor(n) / _factor(few) * (1.48 + 0.7 / few) <= room:
            return n
    return None


def plan(
    old: Any, new: Any = None, *, boots: int | None = None, see: float | str = 0.1, **options: Any
) -> Plan:
    """In which order to take boots, and how many show a change of `see`.

    Parameters
    ----------
    old, new : data set, snapshot, path, or a list of these
        A few first boots of both sides; only `old`: boots of one firmware, which are split.
    boots : int, optional
        Boots a side of the order; by default what shows `see` in three quarters of the keys, or the
        first boots that give such a number.
    see : float or str
        The change to be seen, ``0.1`` or ``"10%"``; above the margin.
    **options
        ``unit``, ``margin``, ``margin_ns``, ``exchange``, ``board`` as in `compare`.

    Returns
    -------
    Plan

    Raises
    ------
    ValueError
        `see` is not above the margin, or `boots` is not positive.
    """
    margin = parse_margin(options.pop("margin", 0.05))
    wanted = parse_margin(see)
    if wanted <= margin:
        raise ValueError(f"a change of {100 * wanted:g} % is not above the margin")
    if boots is not None and boots < 1:
        raise ValueError(f"boots a side: 1 or more, not {boots}")
    board = options.pop("board", None)
    twice: list[str] = []
    a = counted_once(side_of(old).of_board(board), "old", twice)
    if new is None:
        every = range(len(a.boots) or int(a.boot.max(initial=0)) + 1)
        a, b = a.part(every[::2], a.name), a.part(every[1::2], a.name)
    else:
        b = side_of(new).of_board(board)
    made = compared(a, b, Options(margin=margin, board=board, **options))
    rows = [row for row in made.rows if row["quantile"] == 50]
    needed = {row["key"]: _needed(row, margin, wanted) for row in rows}
    known = sorted(n for n in needed.values() if n is not None)
    enough = min(len(known), max(1, math.ceil(0.75 * len(needed))))
    few = any(row["level"] is None and not row["flags"] & 512 for row in rows)
    number = boots or (known[enough - 1] if known else FIRST if few else 0)
    lost: dict[str, list[str]] = {}
    for row in rows:
        if cause := _lost(row, needed[row["key"]]):
            lost.setdefault(cause, []).append(row["key"])
    made.notes[:0] = twice
    return Plan(number, order_of(number), wanted, needed, lost, made)

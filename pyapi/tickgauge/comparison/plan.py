"""Plan: in which order to take boots, and how many show a change of a given size."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from .. import _core
from ..frame.answer import Answer
from ..frame.grid import Grid
from ..util.text import clean, counted
from .compare import Options, compared
from .inputs import side_of
from .options import parse_margin
from .result import Comparison

__all__ = ["Plan", "order_of", "plan"]

#: Boots a side that a plan considers.
MOST = 1000


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
        Key -> boots a side that show it in 4 of 5 cases, None for more than 1000 or two modes.
    comparison : Comparison
        Of the first boots.
    """

    boots: int
    order: str
    see: float
    needed: dict[str, int | None]
    comparison: Comparison

    @property
    def header(self) -> list[str]:
        """How many boots for how many keys, and the order."""
        known = sorted(n for n in self.needed.values() if n is not None)
        total = counted(len(self.needed), "key")
        lines = []
        for share in (0.5, 0.75, 0.9):
            at = math.ceil(share * len(self.needed))
            if 0 < at <= len(known):
                lines.append(
                    f"{known[at - 1]} boots a side show +{100 * self.see:g} % in {at} of {total} "
                    "(4 of 5 cases)"
                )
        lost = len(self.needed) - len(known)
        if lost:
            lines.append(f"{lost} of {total}: more than {MOST} boots, too few yet, or two modes")
        lines.append(f"order for {self.boots} boots a side, A = OLD, B = NEW:")
        return list(dict.fromkeys(lines))

    def to_text(self) -> str:
        """For a person: the numbers, then the order in blocks of four."""
        blocks = " ".join(self.order[i : i + 4] for i in range(0, len(self.order), 4))
        return "\n".join([*map(clean, self.header), blocks]) + "\n"

    def __repr__(self) -> str:
        return self.to_text().rstrip("\n")

    def answer(self) -> Answer:
        """The answer as the command line writes it."""
        rows = [(key, n) for key, n in self.needed.items()]
        extra = {"order": self.order, "boots": self.boots, "see": self.see}
        return Answer(
            "plan", Grid(("key", "boots"), rows), notes=self.header, extra=extra,
            unit=self.comparison.units_text, margin=self.comparison.margin,
        )  # fmt: skip


def _needed(row: dict[str, Any], margin: float, see: float) -> int | None:
    """Boots a side that would show a change of `see`, from the interval of the first boots."""
    if row["percent_lo"] is None or row["percent_hi"] is None or row["flags"] & 512:
        return None
    few = min(row["n_old"], row["n_new"])
    half = math.log((100 + row["percent_hi"]) / (100 + row["percent_lo"])) / 2
    room = math.log((1 + see) / (1 + margin))

    def factor(n: int) -> float:
        return (1.48 + 0.7 / n) * float(_core.detectable_sd(n, n)[0])

    for n in range(4, MOST + 1):
        if half * factor(n) / factor(few) * (1.48 + 0.7 / few) <= room:
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
        Boots a side of the order; by default what shows `see` in three quarters of the keys.
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
    a = side_of(old).of_board(board)
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
    number = boots or (known[enough - 1] if known else 5)
    return Plan(number, order_of(number), wanted, needed, made)

"""Gate: a comparison as one decision for CI, with one error over all keys.

The decision is the core's (``csrc/include/tickgauge/gate.h``): a step-down permutation test over
boots (Westfall and Young, 1993) for the shift, exact tests of the slow boots with Holm's
adjustment for the tail. Boots carry all their keys along, so that keys of one boot hang together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .. import _core
from .._core import codes
from ..frame.frame import Column, Frame
from .compare import Options, compared
from .copies import TWICE, counted_once
from .facts import fact, facts_of, identical
from .gate_result import Gate, Reach
from .inputs import side_of
from .matched import Matched
from .options import parse_margin
from .result import Comparison
from .rows import COLUMNS, GATE_COLUMNS
from .side import Side, merged, pooled
from .verdicts import gate_verdict

__all__ = ["gate", "gate_all"]

#: Of the keys that a pass of ``guard=`` must guard.
SHARE = 0.75


def gate(
    old: Any,
    new: Any,
    *,
    margin: float | str = 0.05,
    margin_ns: float = 0,
    alpha: float = 0.05,
    confirm: Any = None,
    noise: Any = None,
    guard: float | str | None = None,
    guard_share: float = SHARE,
    deterministic: bool = False,
    strict_undecided: bool = False,
    allow_missing: bool = False,
    unit: str | None = None,
    exchange: Any = None,
    seed: int = 1,
    anyway: bool = False,
    board: str | None = None,
) -> Gate:
    """Decide whether `new` may pass.

    Parameters
    ----------
    old, new, margin, margin_ns, unit, exchange, seed, anyway, board
        As in `compare`.
    alpha : float
        Error of the run: the chance that any key is called regressed though nothing changed.
    confirm : data set, snapshot or path, optional
        Further new boots. They join `new`, and a key is regressed only where the medians of both
        parts exceed the margin by themselves.
    noise : data set, snapshot or path, optional
        Boots of one firmware. Those of `old`'s own version join `old`; others serve rows of single
        boots and do not gate.
    guard : float or str, optional
        A change that a pass must guard against, e.g. ``"20%"``: a pass that guards fewer than
        `guard_share` of the keys against it is "not enough data".
    guard_share : float
    deterministic : bool
        The boards are deterministic: all boots of a side are identical, a difference is a fact.
    strict_undecided : bool
        A key that is not shown to be equivalent is "not enough data".
    allow_missing : bool
        Keys of `old` that `new` lacks are no reason for "not enough data".

    Returns
    -------
    Gate
    """
    options = Options(
        unit, parse_margin(margin), float(margin_ns), exchange, alpha, False, seed, anyway, board
    )
    limit = None if guard is None else 100 * parse_margin(guard)
    a, b = side_of(old).of_board(board), side_of(new).of_board(board)
    notes: list[str] = []
    quiet = None if noise is None else side_of(noise).of_board(board)
    alone = a
    if quiet is not None:
        a, joined = _joined(a, quiet)
        notes.append(joined)
    a, b = _whole(a, "old", notes), _whole(b, "new", notes)
    first = 0
    if confirm is not None:
        more = _whole(side_of(confirm).of_board(board), "confirm", notes)
        b = counted_once(b, "new", [])  # the comparison says it
        first = b.unit_ids(b.unit_of(unit))[1]
        b = merged([b, more], b.name)
    same = identical(a, b) or bool(a.copies and b.copies)
    if deterministic:
        return facts_of(a, b, options, notes, allow_missing)
    made, reach = _judged(a, b, options, quiet, first)
    notes += [note for note in made.notes if TWICE in note]
    out = Gate(made, reach, confirmed=confirm is not None, notes=notes)
    out.guard_asked = limit
    out.guard_share = guard_share
    regressed = [row["key"] for row in made.rows if fact(row, options) == "regressed"]
    out.decide(strict_undecided, allow_missing, regressed if same else None)
    if a is not alone:
        before = Gate(*_judged(_whole(alone, "old", []), b, options, None, first))
        if before.decidable and before.guard_line != out.guard_line:
            notes[0] += f"; without them the gate {before.guard_line}"
    return out


def gate_all(old: Any, news: Sequence[Any], *, alpha: float = 0.05, **options: Any) -> list[Gate]:
    """Decide for several new sides, with one error over all of them.

    Parameters
    ----------
    old : data set, snapshot or path
    news : sequence of the same
    alpha : float
        Error of all gates together; each has an equal part of it (Bonferroni).
    **options
        As for `gate`.

    Returns
    -------
    list of Gate
        One for each of `news`.
    """
    base = side_of(old)
    return [gate(base, new, alpha=alpha / len(news), **options) for new in news]


def _judged(
    a: Side, b: Side, options: Options, quiet: Side | None, first: int
) -> tuple[Comparison, Reach]:
    """The rows with the verdicts of the gate, and its reach; confirming boots begin at `first`."""
    found: dict[str, Any] = {}

    def judge(matched: Matched, core: Frame) -> Frame:
        made, summary = _core.gate(
            *matched.sides(), margin=options.margin, margin_abs=matched.margins(),
            alpha=options.alpha, better=matched.better, confirm_from=first, seed=options.seed,
        )  # fmt: skip
        found.update(summary)
        table = Frame(made, "keys")
        columns = [core.column(name) for name in ("index", "quantile", *COLUMNS, "flags")]
        judged = Frame([*columns, *(table.column(name) for name in GATE_COLUMNS)], "keys")
        return _over_all(judged) if summary["reached"] else judged

    made = compared(a, b, options, quiet, judge)
    return made, Reach.of(found, options.alpha)


def _over_all(judged: Frame) -> Frame:
    """The rows with the verdicts of the gate: one word a key, with one error over all of them."""
    names = ("verdict", "gated", "found")
    words = [gate_verdict(v, bool(g), f) for v, g, f in
             zip(*(judged.column(n).part(0, len(judged)) for n in names), strict=True)]  # fmt: skip
    verdict = Column.of("verdict", np.array(words, "O"))
    columns = (verdict if n == "verdict" else judged.column(n) for n in judged.columns)
    return Frame(list(columns), "keys")


def _joined(a: Side, quiet: Side) -> tuple[Side, str]:
    """The old side with the boots of its own firmware out of `quiet`, and a note."""
    fits = [
        i
        for i, boot in enumerate(quiet.boots)
        if (boot.get("version"), boot.get("build"))
        in {(one.get("version"), one.get("build")) for one in a.boots}
    ]
    if not fits:
        return a, (
            "--noise: no boot of OLD's own version and build; they serve single boots and do "
            "not gate"
        )
    before = a.unit_ids("boot")[1]
    both = pooled([a, quiet.part(fits)])
    boots = both.unit_ids("boot")[1] - before
    if boots == 0:
        return a, "--noise: its boots stand in OLD already"
    return replace(both, name=a.name), f"--noise: {boots} boots join OLD"


def _whole(side: Side, name: str, notes: list[str]) -> Side:
    """The side without boots that have fewer than half of its keys: they hung."""
    if len(side.boots) < 2 or len(side.keys) < 2:
        return side
    _, first = codes([side.boot, side.key])
    boots, counts = np.unique(side.boot[first], return_counts=True)
    hung = [int(b) for b, n in zip(boots, counts, strict=True) if b >= 0 and 2 * n < len(side.keys)]
    if not hung or len(hung) == len(boots):
        return side
    numbers = ", ".join(str(b + 1) for b in hung)
    notes.append(f"{name}: boot {numbers} has fewer than half of the keys and is left out")
    return side.part([b for b in range(len(side.boots)) if b not in hung])

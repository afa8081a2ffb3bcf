"""Gate: a comparison as a decision for CI.

A key fails where it regressed by more than the margin (and, with `confirm`, where a second set of
new boots says so, too). Missing or incomparable keys and tests too weak to see the margin are *not
enough data*, never a pass.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..frame.answer import Answer
from ..util.text import clean, counted
from .compare import compare
from .labels import length_text
from .result import Comparison
from .verdicts import settles

__all__ = ["Gate", "gate"]

#: Exit statuses by outcome.
STATUS = {"pass": 0, "regressed": 1, "not enough data": 3}


@dataclass
class Gate:
    """The answer of `gate`.

    Attributes
    ----------
    outcome : {"pass", "regressed", "not enough data"}
    failing, undecided, weak : list of (str, str)
        Keys and reasons: regressed; undecided but well powered (a note); too weak to tell.
    missing : list of (str, str)
        Keys of the baseline that are gone or not comparable, and why.
    gated : int
        Keys that were judged (those with a better direction).
    comparison : Comparison
    confirmed : Comparison or None
    """

    outcome: str
    failing: list[tuple[str, str]]
    weak: list[tuple[str, str]]
    undecided: list[tuple[str, str]]
    missing: list[tuple[str, str]]
    gated: int
    comparison: Comparison
    confirmed: Comparison | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def exit_status(self) -> int:
        """0 pass, 1 regressed, 3 not enough data."""
        return STATUS[self.outcome]

    @property
    def header(self) -> list[str]:
        """Outcome and the header of the comparison."""
        alarms = self.comparison.expected_false_alarms
        if self.confirmed is not None:
            alarms = min(alarms, self.confirmed.expected_false_alarms)
        return [
            f"gate: {self.outcome} ({counted(self.gated, 'key')} gated, "
            f"{len(self.failing)} regressed, "
            f"{len(self.weak) + len(self.missing)} without enough data, "
            f"{len(self.undecided)} undecided; expected false alarms {alarms:.2g})",
            self.comparison.header[0],
        ]

    def reasons(self) -> list[str]:
        """One line for each key that is not a plain pass."""
        out = []
        for word, keys in (
            ("regressed", self.failing),
            ("not enough data", self.weak),
            ("missing", self.missing),
            ("undecided", self.undecided),
        ):
            out += [f"{word}: {key}: {why}" for key, why in keys]
        return out

    def to_text(self, limit: int | None = 60) -> str:
        """Outcome, then a line a reason."""
        lines = self.reasons()
        shown = lines if limit is None else lines[:limit]
        if len(lines) > len(shown):
            shown.append(f"... {len(lines) - len(shown)} more")
        parts = [self.header, shown, self.comparison.findings() + self.notes]
        return "\n\n".join("\n".join(map(clean, part)) for part in parts if part) + "\n"

    def __repr__(self) -> str:
        return self.to_text().rstrip("\n")

    def to_md(self) -> str:
        """A summary for a pull request."""
        mark = {"pass": "pass", "regressed": "**regressed**"}.get(self.outcome, "not enough data")
        lines = [f"### tickgauge gate: {mark}", "", *self.header, ""]
        lines += [f"- {clean(reason)}" for reason in self.reasons()[:60]]
        lines += ["", self.comparison.grid(30).to_md(), ""]
        lines += [f"{clean(line)}  " for line in self.comparison.explanations()]
        return "\n".join(lines) + "\n"

    def to_dict(self) -> dict[str, Any]:
        """Members of the JSON document beside the comparison's."""

        def listed(keys: list[tuple[str, str]]) -> list[dict[str, str]]:
            return [{"key": key, "reason": why} for key, why in keys]

        return {
            "outcome": self.outcome,
            "exit_status": self.exit_status,
            "gated": self.gated,
            "regressed": listed(self.failing),
            "not_enough_data": listed(self.weak + self.missing),
            "undecided": listed(self.undecided),
            "confirmed": None if self.confirmed is None else self.confirmed.counts,
        }

    def answer(self) -> Answer:
        """The answer as the command line writes it."""
        made = self.comparison.answer("gate")
        made.extra = {**made.extra, **self.to_dict()}
        made.notes = [*self.header, *self.reasons(), *self.comparison.findings(), *self.notes]
        return made


def _effect(row: dict[str, Any]) -> str:
    shown = row["shown"]
    percent = "" if row["percent"] is None else f"{row['percent']:+.2f} %, "
    text = f"{percent}{length_text(row['old'], shown)} to {length_text(row['new'], shown)}"
    if row["lo"] is not None and row["level"] is not None:
        text += (
            f", shift {length_text(row['lo'], shown)} to {length_text(row['hi'], shown)} at "
            f"{100 * row['level']:.1f} %"
        )
    return text


def _harmless(row: dict[str, Any], alpha: float) -> bool:
    """Whether the interval excludes a change for the worse beyond the margin."""
    if row["level"] is None or row["level"] < 1 - alpha - 1e-9:
        return False
    worst = -row["lo"] if row["better"] == "higher" else row["hi"]
    return bool(worst < row["delta"])


def _weak(row: dict[str, Any], alpha: float) -> str | None:
    """Why a test could not have seen the margin, or None."""
    seen, level = row["detectable"], row["detectable_level"]
    if row["verdict"] in ("unreplicated", "missing") or seen is None:
        return "one unit a side and no noise model"
    if level is not None and level > alpha + 1e-9:
        return f"smallest p attainable is {row['p_min']:.3g}"
    if seen > row["delta"]:
        shown = row["shown"]
        return (
            f"a change is seen from {length_text(seen, shown)} on, the margin is "
            f"{length_text(row['delta'], shown)}"
        )
    return None


def gate(
    old: Any,
    new: Any,
    *,
    margin: float | str = 0.05,
    margin_ns: float = 0,
    alpha: float = 0.05,
    confirm: Any = None,
    noise: Any = None,
    fail_undecided: bool = False,
    unit: str | None = None,
    exchange: Any = None,
    paired: bool = False,
    seed: int = 1,
    anyway: bool = False,
    board: str | None = None,
) -> Gate:
    """Decide whether `new` may pass.

    Parameters
    ----------
    old, new, margin, margin_ns, alpha, noise, unit, exchange, paired, seed, anyway, board
        As in `compare`.
    confirm : data set, snapshot or path, optional
        Further new boots: a key is regressed only where both `new` and these say so.
    fail_undecided : bool
        A key that is undecided, though the test could have seen the margin, is not enough data.

    Returns
    -------
    Gate
    """
    options: dict[str, Any] = {
        "margin": margin, "margin_ns": margin_ns, "alpha": alpha, "noise": noise, "unit": unit,
        "exchange": exchange, "paired": paired, "seed": seed, "anyway": anyway, "board": board,
    }  # fmt: skip
    made = compare(old, new, **options)
    again = compare(old, confirm, **options) if confirm is not None else None
    second = {} if again is None else {r["key"]: r for r in _dicts(again)}
    out = Gate("pass", [], [], [], [], 0, made, again)
    ungated = 0
    for row in _dicts(made):
        if row["better"] == "none":
            ungated += 1
            continue
        out.gated += 1
        _judge(out, row, second, again is not None, alpha, fail_undecided)
    out.missing += [(key, "not on the new side") for key in made.unmatched["old"]]
    out.missing += made.not_comparable
    if again is not None:
        out.missing += [(key, "not in the confirmation") for key in again.unmatched["old"]]
        out.missing += again.not_comparable
    if ungated:
        have = "has" if ungated == 1 else "have"
        stay = "is" if ungated == 1 else "are"
        keys = counted(ungated, "key")
        out.notes.append(f"{keys} {have} no better direction and {stay} not gated")
    if out.failing:
        out.outcome = "regressed"
    elif out.weak or out.missing or out.gated == 0:
        out.outcome = "not enough data"
    return out


def _dicts(made: Comparison) -> list[dict[str, Any]]:
    return [made.rows.row(i) for i in range(len(made.rows))]


def _judge(
    out: Gate,
    row: dict[str, Any],
    second: dict[str, dict[str, Any]],
    confirming: bool,
    alpha: float,
    fail_undecided: bool,
) -> None:
    """Put one key where it belongs."""
    key, verdict = row["key"], row["verdict"]
    if verdict == "regressed":
        other = second.get(key)
        if not confirming or (other is not None and other["verdict"] == "regressed"):
            out.failing.append((key, _effect(row)))
        elif other is not None:
            out.undecided.append((key, f"{_effect(row)}; the confirmation says {other['verdict']}"))
        return
    if verdict in ("improved", "equivalent"):
        return
    weak = None if _harmless(row, alpha) else _weak(row, alpha)
    if weak is not None:
        answer = settles(verdict, row, out.comparison.unit)
        out.weak.append((key, f"{_effect(row)}; {weak}" + (f"; {answer}" if answer else "")))
    elif fail_undecided:
        out.weak.append((key, f"{_effect(row)}; {verdict}"))
    else:
        out.undecided.append((key, f"{_effect(row)}; {verdict}"))

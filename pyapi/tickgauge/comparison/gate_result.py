"""Gate: the decision over all keys, its guard, its words and files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import comb
from typing import Any

from ..frame.answer import Answer
from ..frame.grid import Grid, page_of
from ..util.text import clean, counted
from .labels import length_text
from .options import NEXT_BOOTS
from .result import SCREEN, Comparison
from .verdicts import change_text, interval_text, modes_text, percent_text, tail_text

__all__ = ["Gate", "Reach"]

#: Exit statuses by outcome.
STATUS = {"pass": 0, "regressed": 1, "not enough data": 3}

#: Changes in percent that a pass is tried against.
GUARDS = (5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0)


@dataclass(frozen=True)
class Reach:
    """The decisions within reach of so many boots: arithmetic, known before the data are seen.

    Attributes
    ----------
    old, new : int
        Boots of the sides.
    arrangements : float
        Ways to call so many of the boots new.
    listed : bool
        They were listed one by one, else drawn.
    alpha : float
        Error of the run, over all keys.
    alpha_shift, alpha_tail : float
        How it is split between shifts and slow boots.
    reached : bool
        The least p of a shift is within its share.
    facts : bool
        No chance is involved: the boards are deterministic.
    """

    old: int = 0
    new: int = 0
    arrangements: float = 0
    listed: bool = True
    alpha: float = 0.05
    alpha_shift: float = 0
    alpha_tail: float = 0
    reached: bool = True
    facts: bool = False

    @classmethod
    def of(cls, found: Mapping[str, Any], alpha: float) -> Reach:
        """From the core's summary of a gate."""
        return cls(
            int(found["boots_old"]), int(found["boots_new"]), float(found["arrangements"]),
            bool(found["listed"]), alpha, float(found["alpha_shift"]),
            float(found["alpha_tail"]), bool(found["reached"]),
        )  # fmt: skip

    @property
    def sentence(self) -> str:
        """The reach as a sentence."""
        if self.facts:
            return "identical boots: differences are facts, no chance is involved"
        least = f"1/{self.arrangements:.0f}" if self.arrangements < 1e6 else "below 1e-06"
        text = f"{self.old} v {self.new} boots, family error {100 * self.alpha:g} %"
        if self.reached:
            split = ""
            if self.alpha_tail:
                split = f", of it {100 * self.alpha_tail:g} % for slow boots"
            return f"{text}{split} (least p {least})"
        return f"{text}: {self.old} v {self.new} can never be red (least p {least}); {self._more()}"

    def _more(self) -> str:
        """The smallest numbers of boots that could decide."""
        new = max(1, self.new)
        old = new
        while comb(old + new, new) * self.alpha < 1 - 1e-9:
            old += 1
        return f"{old} v {new} can" + ("" if new > 1 else "; 5 v 2 and 3 v 3 can, too")


@dataclass
class Gate:
    """The answer of `gate`.

    Attributes
    ----------
    comparison : Comparison
        Its rows have the columns of the gate: ``p_gate`` and ``p_tail`` (adjusted over all keys),
        ``guard`` (the smallest change, in percent, that would be red in most runs).
    reach : Reach
    confirmed : bool
        Confirming boots took part.
    outcome : {"pass", "regressed", "not enough data"}
    failing, open, missing : list of (str, str)
        Keys and reasons: regressed; missing for an answer; keys of the baseline that are
        gone or not comparable.
    facts : dict
        Key -> word, of deterministic boards.
    same : list of str or None
        Where all boots of a side are identical: keys that would be regressed as facts.
    notes : list of str
    """

    comparison: Comparison
    reach: Reach
    confirmed: bool = False
    notes: list[str] = field(default_factory=list)
    outcome: str = "pass"
    failing: list[tuple[str, str]] = field(default_factory=list)
    open: list[tuple[str, str]] = field(default_factory=list)
    missing: list[tuple[str, str]] = field(default_factory=list)
    facts: dict[str, str] = field(default_factory=dict)
    same: list[str] | None = None
    guard_asked: float | None = None
    guard_share: float = 0.75

    # ---- deciding ---------------------------------------------------------------------------

    def _rows(self) -> list[dict[str, Any]]:
        rows = self.comparison.rows
        return list(rows)

    @property
    def gated(self) -> int:
        """Keys in the family (quantiles count as keys)."""
        if self.reach.facts:
            return len(self.facts)
        return sum(bool(row["gated"]) for row in self._rows())

    @property
    def decidable(self) -> bool:
        """So many boots can be red, or differences are facts."""
        return self.reach.reached and self.gated > 0

    def decide(
        self, strict_undecided: bool, allow_missing: bool, same: list[str] | None = None
    ) -> None:
        """Find the outcome; obstacles go to `open`.

        Parameters
        ----------
        strict_undecided, allow_missing : bool
            As in `gate`.
        same : list of str, optional
            Keys that would be regressed if the boards were deterministic, where all boots of a
            side are identical: chance then says nothing.
        """
        for row in self._rows() if same is None else ():
            if self._red(row):
                self.failing.append((row["key"], self._reason(row)))
            elif strict_undecided and row.get("gated") and row["verdict"] != "equivalent":
                self.open.append((row["key"], f"{row['verdict']}, not shown to be equivalent"))
        made = self.comparison
        self.missing += [(key, "not on the new side") for key in made.unmatched["old"]]
        self.missing += made.not_comparable
        if same is not None:
            self.same = same
            self.open.append((
                "identical boots",
                "a deterministic board or copies of one file; say --deterministic, and differences "
                "are facts",
            ))  # fmt: skip
        if not self.gated:
            self.open.append(("no key", "nothing can be compared"))
        elif not self.reach.reached and same is None:
            self.open.append(("too few boots", self.reach.sentence))
        self._check_guard()
        missing = self.missing and not allow_missing
        if same is not None:
            self.outcome = "not enough data"
        elif self.failing:
            self.outcome = "regressed"
        elif self.open or missing:
            self.outcome = "not enough data"
        ungated = sum(row["better"] == "none" for row in self._rows())
        if ungated:
            self.notes.append(f"{counted(ungated, 'key')} without a better direction: not gated")

    def _red(self, row: Mapping[str, Any]) -> bool:
        if self.reach.facts:
            return self.facts[row["key"]] == "regressed"
        return bool(row["found"])

    def _reason(self, row: Mapping[str, Any]) -> str:
        shown = row["shown"]
        unit = self.comparison.unit
        text = (
            f"{change_text(row)}, {length_text(row['old'], shown)} to "
            f"{length_text(row['new'], shown)}"
        )
        if row["flags"] & 512 and row["tail_p_slower"] is not None:
            text = f"{modes_text(row, unit)}; {text}"
        if self.reach.facts:
            return f"{text}, a fact"
        if interval_text(row) != "-":
            text += f", {interval_text(row)} at {100 * row['level']:.1f} %"
        if row["found"] & 1:
            text += f", p {row['p_gate']:.2g} over {counted(self.gated, 'key')}"
        else:
            if not row["flags"] & 512:
                text += f"; {tail_text(row, unit) or 'tail regressed'}"
            text += f", slow {unit}s p {row['p_tail']:.2g} over {counted(self.gated, 'key')}"
        if self.comparison.warnings():
            text += f"; drift within the sides (p {self.comparison.drift:.2g})"
        return text

    def guarded(self, percent: float) -> int:
        """How many gated keys would be red in most runs if they alone changed by `percent`."""
        return sum(
            row["guard"] is not None and row["guard"] <= percent
            for row in self._rows()
            if row["gated"]
        )

    @property
    def guard(self) -> tuple[float, int] | None:
        """The change of the guard line, in percent, and how many keys are guarded against it.

        The smallest of 5, 10, 20, 50, 100, 200, 500, 1000 % that guards three quarters of the keys
        that do not lie in two modes, where those are half of all; None where none of them does.
        """
        if self.reach.facts or not self.reach.reached or not self.gated:
            return None
        wanted = GUARDS if self.guard_asked is None else (self.guard_asked,)
        keys = self.gated - self._modes
        for percent in wanted:
            found = self.guarded(percent)
            if self.guard_asked is not None or (2 * keys >= self.gated and 4 * found >= 3 * keys):
                return percent, found
        return None

    @property
    def _modes(self) -> int:
        """Gated keys in two modes."""
        return sum(bool(row["gated"] and row["flags"] & 512) for row in self._rows())

    def _check_guard(self) -> None:
        if self.guard_asked is None or not self.reach.reached or self.reach.facts:
            return
        found = self.guarded(self.guard_asked)
        if found < self.guard_share * self.gated:
            self.open.append((
                f"guard {self.guard_asked:g} %",
                f"{found} of {self.gated} keys are guarded, {100 * self.guard_share:g} % are asked",
            ))  # fmt: skip

    # ---- words ------------------------------------------------------------------------------

    @property
    def exit_status(self) -> int:
        """0 pass, 1 regressed, 3 not enough data."""
        return STATUS[self.outcome]

    @property
    def guard_line(self) -> str:
        """The change that a pass guards against."""
        if self.reach.facts:
            words = list(self.facts.values())
            return ", ".join(f"{words.count(w)} {w}" for w in dict.fromkeys(words)) or "no key"
        found = self.guard
        modes = self._modes
        more = f"; {modes} in two modes, where no change is promised to be red" if modes else ""
        if found is not None:
            percent, keys = found
            return f"guards {keys} of {counted(self.gated, 'key')} against +{percent:g} %{more}"
        if not self.reach.reached or not self.gated:
            return "guards no key"
        if self.reach.new == 1:
            boots = self.reach.old + 1
            return f"one new boot of {boots}: no change of one key alone would be red for most keys"
        family, most = counted(self.gated, "key"), self.guarded(GUARDS[-1])
        if 4 * most < self.gated:
            some = f"guards only {most} of {family}, even" if most else f"guards none of {family}"
            why = more or ": boots scatter too much for a pass to say more"
            return f"{some} against +{GUARDS[-1]:g} %{why}"
        return f"guards {most} of {family} against +{GUARDS[-1]:g} %{more}"

    @property
    def header(self) -> list[str]:
        """Outcome and guard, reach, counts."""
        extra = "; confirming boots took part" if self.confirmed else ""
        family = counted(self.gated, "key")
        if self.same is not None:
            first = f"identical boots; as facts, {len(self.same)} of {family} would be regressed"
        elif self.reach.facts:
            first = f"{self.guard_line} of {family}"
        else:
            first = f"{len(self.failing)} of {family} regressed; {self.guard_line}"
        return [
            f"gate: {self.outcome}: {first}",
            self.reach.sentence + extra,
            self.comparison.header[0],
        ]

    def _listed(self) -> list[tuple[str, str, str]]:
        """A word, the key or the lack, and the reason, of all that is not a plain pass."""
        listed = {"regressed": self.failing, "not enough data": self.open, "missing": self.missing}
        return [(word, key, why) for word, keys in listed.items() for key, why in keys]

    def reasons(self) -> list[str]:
        """One line for each key, or lack of data, that is not a plain pass."""
        return [f"{word}: {key}: {why}" for word, key, why in self._listed()]

    def unguarded(self) -> list[str]:
        """Keys that the guard line does not cover, with the change that each is guarded against."""
        found = self.guard
        limit = found[0] if found else GUARDS[-1]
        lines = []
        for row in self._rows():
            if self.reach.facts or not row["gated"]:
                continue
            if row["flags"] & 512:
                lines.append(f"unguarded: {row['key']}: two modes, no change is promised to be red")
            elif row["guard"] is None:
                lines.append(f"unguarded: {row['key']}: no change of this key alone would be red")
            elif row["guard"] > limit:
                lines.append(f"unguarded: {row['key']}: red from {percent_text(row['guard'])} on")
        return lines

    def to_text(self, limit: int | None = SCREEN, verbose: bool = False) -> str:
        """Outcome, then a line a reason; `verbose`: and the keys that are not guarded."""
        lines = [*self.header, "", *self.reasons()]
        lines += self.comparison.tails() + self.comparison.warnings() + self.notes
        if self.outcome == "not enough data":
            lines.append(f"not decided: {NEXT_BOOTS}")
        if verbose:
            lines += ["", *self.unguarded()]
        lines = [clean(line) for line in lines]
        if limit is not None and not verbose and len(lines) > limit:
            lines = [*lines[: limit - 1], f"... {len(lines) - limit + 1} more"]
        return "\n".join(lines).rstrip() + "\n"

    def __repr__(self) -> str:
        return self.to_text().rstrip("\n")

    def _repr_html_(self) -> str:
        listed = self._listed()
        more = [f"... {len(listed) - SCREEN} more"] if len(listed) > SCREEN else []
        made = self.comparison
        said = [*made.tails(), *made.warnings(), *self.notes]
        reasons = page_of(self.header, Grid(("outcome", "key", "why"), listed[:SCREEN]), more)
        return reasons + page_of((), made.grid(SCREEN), said)

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

        guard = self.guard
        return {
            "outcome": self.outcome,
            "exit_status": self.exit_status,
            "gated": self.gated,
            "regressed": listed(self.failing),
            "not_enough_data": listed(self.open + self.missing),
            "facts": self.facts or None,
            "confirmed": self.confirmed,
            "guard": None if guard is None else {"percent": guard[0], "keys": guard[1]},
            "reach": {
                "old": self.reach.old,
                "new": self.reach.new,
                "arrangements": self.reach.arrangements,
                "listed": self.reach.listed,
                "alpha_shift": self.reach.alpha_shift,
                "alpha_tail": self.reach.alpha_tail,
                "reached": self.reach.reached,
            },
        }

    def answer(self) -> Answer:
        """The answer as the command line writes it."""
        made = self.comparison.answer("gate")
        made.extra = {**made.extra, **self.to_dict()}
        made.notes = [*self.header, *self.reasons(), *self.comparison.findings(), *self.notes]
        return made

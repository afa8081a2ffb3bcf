"""Compare sides: one row a key, the effect first, then a verdict that holds.

The statistics are the core's (``csrc/include/tickgauge/compare.h``); here sides are matched,
cpus exchanged, and the answer is put into words.

Notes
-----
Effect: the median of all ratios new / old (Hodges and Lehmann, 1963, on the scale of logarithms);
its interval inverts the exact Mann-Whitney test (Lehmann, *Nonparametrics*, 2.3) and is widened by
half a resolution step, so that it never is narrower than the readings allow. Equivalence:
Schuirmann (1987), at twice alpha, and only where the slow boots are quiet. One boot against three
or more, and one against one with boots of one firmware: residuals of all keys of a metric. Adjusted
p: Benjamini and Hochberg (1995).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import _core
from ..errors import NotEnoughData
from ..frame.frame import Frame
from ..util.text import counted
from .copies import counted_once, shared_boots
from .inputs import side_of
from .labels import label_of
from .lock_groups import cluster_names, common_factors, compare_groups
from .matched import Matched, match
from .options import parse_margin
from .pack import Packed, pack
from .result import Comparison
from .rows import floats, judged, named
from .side import Side, shared_sources

__all__ = ["Options", "compare", "compare_all", "compared"]

#: p from which on boots are said to drift in the order in which they were taken.
DRIFT = 0.05


@dataclass(frozen=True)
class Options:
    """The options of `compare`, checked."""

    unit: str | None = None
    margin: float = 0.05
    margin_ns: float = 0
    exchange: str | Mapping[Any, str] | None = None
    alpha: float = 0.05
    paired: bool = False
    seed: int = 1
    anyway: bool = False
    board: str | None = None
    facts: bool = False  # boots are equal on purpose

    def __post_init__(self) -> None:
        if not 0 <= self.margin_ns < math.inf:
            raise ValueError(f"margin_ns is a length, 0 or more: {self.margin_ns!r}")
        if not 0 < self.alpha < 0.5:
            raise ValueError(f"alpha is between 0 and 0.5: {self.alpha!r}")


def compare(
    old: Any,
    new: Any,
    unit: str | None = None,
    margin: float | str = 0.05,
    margin_ns: float = 0,
    exchange: str | Mapping[Any, str] | None = None,
    *,
    alpha: float = 0.05,
    paired: bool = False,
    noise: Any = None,
    seed: int = 1,
    anyway: bool = False,
    board: str | None = None,
) -> Comparison:
    """Compare two sides key by key.

    Parameters
    ----------
    old, new : data set, snapshot, path, or a list of these
        The baseline first.
    unit : {"boot", "run", "reading"}, optional
        The independent observation; by default the one of the format.
        Several readings of a unit are collapsed to their lower median, and where every unit has
        20 (200) of them to their 90 % (99 %) quantile, too.
    margin : float or str
        Relative change that matters: ``0.05`` or ``"5%"``.
    margin_ns : float
        Absolute change that matters, in ns. A regression exceeds both margins, and one resolution
        step.
    exchange : {"none", "cluster", "all"} or mapping, optional
        Which cpus may be interchanged; by default as the format says. A mapping goes from
        ``(test, metric)``, test or metric to the class.
    alpha : float
        Two-sided level: "regressed", "improved" and "changed" need an interval of 1 - alpha.
    paired : bool
        Unit i of old and unit i of new belong together (interleaved A/B boots).
    noise : data set, snapshot or path, optional
        Boots of one firmware: the scatter for one or two boots a side.
    seed : int
        Of random draws, where counting is too long.
    anyway : bool
        Compare also sides that say they are of another platform or build type.
    board : str, optional
        Only the boots of that platform, where a source holds several.

    Returns
    -------
    Comparison

    Raises
    ------
    ValueError
        An option is outside its range.
    """
    options = Options(
        unit, parse_margin(margin), float(margin_ns), exchange, alpha, paired, seed, anyway, board
    )
    quiet = None if noise is None else side_of(noise).of_board(board)
    return compared(side_of(old).of_board(board), side_of(new).of_board(board), options, quiet)


def compare_all(old: Any, news: Sequence[Any], **options: Any) -> list[Comparison]:
    """Compare several sides with one baseline; ``p_bh`` is adjusted over all of them.

    Parameters
    ----------
    old : data set, snapshot, path, or a list of these
    news : sequence of the same
    **options
        As for `compare`.

    Returns
    -------
    list of Comparison
        One for each of `news`.
    """
    base = side_of(old)
    made = [compare(base, new, **options) for new in news]
    p = [v for one in made for v in floats(one.rows, "p")]
    adjusted = _core.bh(np.array([math.nan if v is None else v for v in p], "f8"))
    at = 0
    for one in made:
        one.with_adjusted(np.asarray(adjusted[at : at + len(one.rows)]))
        at += len(one.rows)
    return made


def compared(
    a: Side, b: Side, options: Options, quiet: Side | None = None, gate: Any = None
) -> Comparison:
    """The comparison of two sides with checked options.

    Parameters
    ----------
    a, b : Side
        Old and new.
    options : Options
    quiet : Side, optional
        Boots of one firmware.
    gate : callable, optional
        Gets the matched keys and the core's rows, gives these with the gate's columns.
    """
    kind = options.unit
    kind = a.unit_of(kind) if kind or a.unit_of(None) == b.unit_of(None) else "boot"
    twice: list[str] = []
    if not options.paired and not options.facts:  # there a boot has its partner, or is a copy
        a, b = counted_once(a, "old", twice), counted_once(b, "new", twice)
        quiet = None if quiet is None else counted_once(quiet, "noise", twice)
    old, new = pack(a, kind, options.exchange), pack(b, kind, options.exchange)
    scatter = None if quiet is None else pack(quiet, kind, options.exchange)
    matched = match(
        a, b, old, new, noise=scatter, margin_ns=options.margin_ns, anyway=options.anyway
    )
    core, refused, lacking = judged(
        matched, margin=options.margin, alpha=options.alpha, seed=options.seed,
        paired=options.paired,
    )  # fmt: skip
    if gate is not None:
        core = gate(matched, core)
    rows = named(core, matched, kind, options.margin)
    mean, mean_of = _geometric_mean(rows)
    names = cluster_names(a.said("platform") | b.said("platform"))
    apart = {label for label, _ in matched.refused + refused}
    return Comparison(
        rows=rows,
        groups=compare_groups(old, new, options.margin, options.seed, apart),
        factors=common_factors(rows, options.margin, names),
        unmatched=_unmatched(old, new),
        not_comparable=matched.refused + refused,
        unit=kind,
        units=(old.units, new.units),
        margin=options.margin,
        margin_ns=options.margin_ns,
        alpha=options.alpha,
        geometric_mean=mean,
        geometric_mean_of=mean_of,
        expected_false_alarms=_false_alarms(rows),
        sources=a.sources + b.sources,
        notes=twice + _notes(a, b, (old, new)) + lacking,
        noise="" if quiet is None else _noise_name(quiet, scatter, kind),
        names=(a.name, b.name),
        drift=_drift(matched, options.seed) if a.ordered and b.ordered else None,
        order=_order(a.ordered and b.ordered, options.paired, (old.units, new.units)),
    )


def _order(known: bool, paired: bool, units: tuple[int, int]) -> str:
    """How the boots were taken, as far as the order of the arguments says it."""
    if min(units) < 1 or max(units) < 2:
        return ""
    if paired:
        return "interleaved"
    return "as given not interleaved" if known else "order unknown"


def _noise_name(quiet: Side, packed: Packed | None, kind: str) -> str:
    units = 0 if packed is None else packed.units
    return f"{quiet.name or 'A/A'} (k = {units} {kind}s)"


def _geometric_mean(rows: Frame) -> tuple[float | None, int]:
    """Of the ratios new / old of the medians of all keys that have one."""
    ratios = [
        1 + p / 100
        for p, q in zip(floats(rows, "percent"), rows["quantile"], strict=True)
        if p is not None and q == 50
    ]
    try:
        mean, mean_of = _core.geometric_mean(np.array(ratios, "f8"))
    except NotEnoughData:
        return None, 0
    return mean, mean_of


def _false_alarms(rows: Frame) -> float:
    """Keys that would be called regressed on average if nothing had changed, at most."""
    return float(sum((1 - v) / 2 for v in floats(rows, "level") if v is not None))


def _drift(matched: Matched, seed: int) -> float | None:
    """p of a drift in the order of the boots, None where there is nothing to see."""
    if not matched.pairs or min(matched.old.units, matched.new.units) < 3:
        return None
    if not (matched.old.apart and matched.new.apart):
        return None
    return float(_core.drift(*matched.sides(), seed)[1])


def _notes(old: Side, new: Side, packed: Sequence[Packed]) -> list[str]:
    notes = []
    for name, side, pack_ in (("old", old, packed[0]), ("new", new, packed[1])):
        if len(side.versions) > 1:
            notes.append(f"{name} mixes firmware versions: {', '.join(side.versions)}")
        if side.folded:
            notes.append(f"{name}: counts of a snapshot were folded onto a coarser grid")
        if "unknown" in side.said("build"):
            notes.append(f"{name}: the banner states no build type (release, debug): unknown")
        notes += [f"{name}: {note}" for note in pack_.notes]
    if shared := shared_sources(old, new):
        notes.append(
            "a source stands on both sides"
            if shared == 1
            else f"{shared} sources stand on both sides"
        )
    elif shared := shared_boots(old, new):
        verb = "has" if shared == 1 else "have"
        notes.append(f"{counted(shared, 'boot')} of new {verb} all readings of one of old")
    return notes


def _unmatched(old: Packed, new: Packed) -> dict[str, list[str]]:
    out = {}
    for name, one, other in (("old", old, new), ("new", new, old)):
        out[name] = [
            label_of(one.shown[i], one.rank[i]) for k, i in one.keys.items() if k not in other.keys
        ]
    return out

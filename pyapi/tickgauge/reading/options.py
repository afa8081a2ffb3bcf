"""How sources are read: the arguments of `read`, checked."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from ..errors import InputError
from ..limits import LIMITS, Limits
from ..rules.rule import Rule, as_rules

__all__ = ["Options", "checked_options", "parse_clock"]


@dataclass(frozen=True)
class Options:
    """How sources are read; the arguments of `read`, checked."""

    rules: tuple[Rule, ...] = ()
    clock: int | None = None
    platform: str | None = None
    tee_offset: int | None = None
    repair: bool = False
    max_line: int = 0
    limits: Limits = LIMITS
    beside: bool = True  # a source may take further threads; not where many are read at once
    extra: dict[str, Any] = field(default_factory=dict, hash=False, compare=False)


def parse_clock(clock: int | float | str | None) -> int | None:
    """A frequency in ticks per second.

    Parameters
    ----------
    clock : int, float, str or None
        ``50_000_000``, ``62.5e6``, ``"24MHz"``, ``"62.5 MHz"``, ``"1GHz"``.

    Raises
    ------
    InputError
        Not a whole, positive number of ticks per second.

    Examples
    --------
    >>> parse_clock("62.5 MHz")
    62500000
    """
    if clock is None:
        return None
    form = r"([0-9.]{1,40}(?:[eE][+]?[0-9]{1,2})?)\s*([kKMG]?)(?:[hH][zZ])?"
    match = re.fullmatch(form, str(clock).replace("_", "").strip())
    scale = {"": 1, "k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9}
    try:
        hz = Fraction(match[1]) * scale[match[2]] if match else Fraction(0)
    except ValueError:
        hz = Fraction(0)
    if hz <= 0 or hz.denominator != 1 or hz >= 1 << 64:
        raise InputError(
            f"clock {clock!r} is not a whole number of ticks per second, such as 24MHz or 62500000"
        )
    return int(hz)


def checked_options(
    rules: Any = None,
    clock: int | float | str | None = None,
    platform: str | None = None,
    tee_offset: int | None = None,
    repair: bool = False,
    max_line: int = 0,
    limits: Limits | None = None,
) -> Options:
    """The arguments of `read`, checked; errors as there."""
    if not 0 <= max_line < 1 << 64:
        raise ValueError(f"max_line is a number of bytes below 2^64, not {max_line!r}")
    return Options(
        as_rules(rules, limits or LIMITS),
        parse_clock(clock),
        platform,
        tee_offset,
        repair,
        max_line,
        limits or LIMITS,
    )

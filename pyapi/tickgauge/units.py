"""Units of time: one table, exact factors; frequencies of clocks."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache

from .errors import InputError

__all__ = ["ns_factor", "parse_clock", "scale_of"]

_TIME = {
    "ns": Fraction(1),
    "us": Fraction(10**3),
    "\u00b5s": Fraction(10**3),
    "\u03bcs": Fraction(10**3),
    "ms": Fraction(10**6),
    "s": Fraction(10**9),
}
#: Programs of the kernel's tools write them out: usec, usecs; LAVA's jobs: seconds.
_TIME |= {unit + end: _TIME[unit] for unit in ("ns", "us", "ms", "s") for end in ("ec", "ecs")}
_TIME |= {
    prefix + "seconds": _TIME[unit]
    for prefix, unit in (("nano", "ns"), ("micro", "us"), ("milli", "ms"), ("", "s"))
}


def ns_factor(unit: str | None, clock_hz: int | None, exp10: int = 0) -> Fraction | None:
    """Nanoseconds that one step of the stored integer is, exactly; None where unknown.

    Parameters
    ----------
    unit : str or None
    clock_hz : int or None
        Ticks per second, for the units "tick" and "cycle".
    exp10 : int
        Power of ten of the stored integer.
    """
    if unit in ("tick", "cycle"):
        factor = Fraction(10**9, clock_hz) if clock_hz else None
    else:
        factor = _TIME.get(unit or "")
    return None if factor is None else factor * Fraction(10) ** exp10


@lru_cache(1024)
def scale_of(unit: str | None, clock_hz: int | None, exp10: int = 0) -> tuple[Fraction, str]:
    """One step of the stored integer, exactly, and the unit that is shown: ns for times.

    Parameters
    ----------
    unit, clock_hz, exp10
        As for `ns_factor`.
    """
    factor = ns_factor(unit, clock_hz, exp10)
    return (Fraction(10) ** exp10, unit or "") if factor is None else (factor, "ns")


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

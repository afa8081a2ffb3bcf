"""Units of time: one table, exact factors."""

from __future__ import annotations

from fractions import Fraction

__all__ = ["ns_factor"]

_TIME = {
    "ns": Fraction(1),
    "us": Fraction(10**3),
    "\u00b5s": Fraction(10**3),
    "\u03bcs": Fraction(10**3),
    "ms": Fraction(10**6),
    "s": Fraction(10**9),
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

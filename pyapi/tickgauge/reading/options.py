"""How sources are read: the arguments of `read`, checked."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, TypedDict

from ..limits import LIMITS, Limits
from ..rules.rule import Rule, as_rules
from ..units import parse_clock

__all__ = ["Options", "checked_options"]


class ReadOptions(TypedDict, total=False):
    """The keyword arguments of `read`, for type checkers."""

    rules: Any
    clock: int | float | str | None
    platform: str | None
    tee_offset: int | None
    repair: bool
    max_line: int
    limits: Limits | None
    why: bool
    digest: bool
    progress: bool


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
    why: bool = False
    digest: bool = False  # worked out while reading, not from the file when it is asked for
    beside: bool = True  # a source may take further threads; not where many are read at once


def checked_options(
    rules: Any = None,
    clock: int | float | str | None = None,
    platform: str | None = None,
    tee_offset: int | None = None,
    repair: bool = False,
    max_line: int = 0,
    limits: Limits | None = None,
    why: bool = False,
    digest: bool = False,
) -> Options:
    """The arguments of `read`, checked; errors as there."""
    for name, value, kinds in (
        ("platform", platform, (str, os.PathLike)), ("tee_offset", tee_offset, (int,)),
        ("max_line", max_line, (int,)), ("limits", limits, (Limits,)),
    ):  # fmt: skip
        if value is not None and not isinstance(value, kinds):
            words = " or ".join(kind.__name__ for kind in kinds)
            raise TypeError(f"{name} is {words}, not {type(value).__name__}")
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
        why,
        digest,
    )

"""Results as far as plots need them: the objects themselves live above."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from ..frame.frame import Frame
from ..frame.readings import Readings

__all__ = ["CaptureLike", "ComparisonLike", "DataLike", "PortLike", "TrendLike"]


class DataLike(Protocol):
    """A data set: its readings and boots."""

    @property
    def readings(self) -> Readings: ...

    @property
    def boots(self) -> Frame: ...

    def headline(self) -> str: ...


class ComparisonLike(Protocol):
    """A comparison: one row a key, and its units in words."""

    @property
    def rows(self) -> Frame: ...

    @property
    def units_text(self) -> str: ...


class TrendLike(Protocol):
    """A trend: releases, steps and values."""

    @property
    def releases(self) -> list[str]: ...

    @property
    def steps(self) -> Frame: ...

    @property
    def series(self) -> Frame: ...


class Sampled(Protocol):
    """Depth and clock of a capture."""

    @property
    def samples(self) -> int: ...

    @property
    def clock(self) -> int | None: ...


class TransactionsLike(Protocol):
    """Transactions of a port."""

    @property
    def counted(self) -> Frame: ...

    @property
    def bounds(self) -> Frame: ...

    @property
    def triggered(self) -> Frame: ...

    def __iter__(self) -> Any: ...


class PortLike(Protocol):
    """An AXI port: transactions, channel states, open transactions."""

    @property
    def name(self) -> str: ...

    @property
    def samples(self) -> int: ...

    @property
    def finding(self) -> str: ...

    @property
    def capture(self) -> Sampled: ...

    @property
    def transactions(self) -> TransactionsLike: ...

    @property
    def outstanding(self) -> Frame: ...

    @property
    def blocks(self) -> Frame: ...

    def lanes(self, first: int, last: int) -> Frame: ...


class CaptureLike(Protocol):
    """A capture: it gives its ports."""

    def port(
        self,
        slot: int | None = None,
        prefix: str | None = None,
        *,
        kind: str | None = None,
        assume: Mapping[str, int] | None = None,
        ignore_gaps: bool | None = None,
        idle_start: bool | None = None,
    ) -> PortLike: ...

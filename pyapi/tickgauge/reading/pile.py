"""Parts of many small sources are put together as they come, so that none is kept alone.

A source of a few lines has some twenty tables in the core, each with a block for every column and
dictionaries of its own. Of every few dozen small sources the tables become one each.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .. import _core
from ..dataset.dataset import Part
from ..dataset.merge_parts import merge_tables
from .reduce import ByRule

__all__ = ["Pile"]

#: Bytes of a source up to which it is small.
SMALL = 1 << 16

#: So many small sources behind each other become one part.
BLOCK = 64


class Pile:
    """Parts in the order in which they were read."""

    def __init__(self) -> None:
        self._parts: list[Part] = []
        self._small: list[Part] = []

    def add(self, part: Part) -> None:
        """The next part."""
        records = part.records
        if len(part.sources) > 1 or part.sources[0].bytes > SMALL or not (
            isinstance(records, ByRule) or not records
        ):  # fmt: skip
            self._parts += [*self._small, part]
            self._small = []
            return
        self._small.append(part)
        if len(self._small) == BLOCK:
            self._parts.append(_condensed(self._small))
            self._small = []

    def parts(self) -> list[Part]:
        """All of them; fewer small ones than a block are as they came."""
        return [*self._parts, *self._small]


def _condensed(parts: Sequence[Part]) -> Part:
    """Parts of one source each as one part, whose tables are copies."""
    counted = [(number, part) for number, part in enumerate(parts) if part.tables]
    numbers = [number for number, _ in counted]
    tables = merge_tables([part.tables for _, part in counted], numbers, copied=True)
    found: dict[str, list[tuple[int, _core.Table]]] = {}
    for number, part in counted:
        if isinstance(part.records, ByRule):
            for rule in part.records:
                found.setdefault(rule, []).extend(
                    (number, table) for _, table in part.records.tables(rule)
                )
    kept = {rule: _stacked(of_rule) for rule, of_rule in found.items()}
    return Part([info for part in parts for info in part.sources], tables, ByRule(kept))


def _stacked(tables: Sequence[tuple[int, _core.Table]]) -> list[tuple[int | None, _core.Table]]:
    """The records of a rule in one table, where all have the same columns."""
    if len({(table.names, table.types, table.exponents) for _, table in tables}) > 1:
        return list(tables)
    numbers = np.array([number for number, _ in tables], "u4")
    return [(None, _core.stack([table for _, table in tables], [], numbers))]

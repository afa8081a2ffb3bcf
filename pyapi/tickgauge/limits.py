"""Bounds on sources, records and keys: one object that every reader obeys."""

from __future__ import annotations

from dataclasses import dataclass, fields

__all__ = ["LIMITS", "Limits", "largest"]


@dataclass(frozen=True)
class Limits:
    """Bounds of a source when unfolded, beyond which it is refused.

    Attributes
    ----------
    size : int
        Decompressed bytes of a source.
    ratio : int
        Decompressed bytes per packed byte, asked beyond the first 64 MiB. Deflate cannot do more
        than 1032 to 1.
    entries : int
        Members of an archive.
    path : int
        Bytes of the name of a member of an archive; one with a longer name is refused.
    layers : int
        Compressions and archives within each other, at most 64.
    whole : int
        Bytes of a file that is held in memory as a whole: a snapshot, a stamp file, an ``.ila``
        archive.
    records : int
        Records of one source.
    problems : int
        Problems of one source that are listed; further ones are counted.
    label : int
        Bytes of a text in a record; a longer one makes the record a problem.
    keys : int
        Keys (test, metric, labels, cpu) of one source.
    distinct : int
        Distinct values of a key in one boot in a snapshot; more are folded onto a grid of relative
        width 1/128, and marked so.
    signals : int
        Signals that a capture defines.
    width : int
        Bits of a value of a capture that is stored, at most 4032.
    row : int
        Bytes of a row or word of a capture.
    scope : int
        Bytes of the path of a scope of a VCD.
    transactions : int
        AXI transactions of a port of a capture.
    rules : int
        Rules that are tried on a line, rows of sections and built-in ones included.
    template : int
        Bytes of a rule's template.
    """

    size: int = 1 << 40
    ratio: int = 5000
    entries: int = 100_000
    path: int = 4096
    layers: int = 4
    whole: int = 1 << 28
    records: int = (1 << 32) - 1
    problems: int = 1 << 20
    label: int = 4096
    keys: int = 1 << 17
    distinct: int = 1 << 16
    signals: int = 1 << 22
    width: int = 1024
    row: int = 1 << 26
    scope: int = 2048
    transactions: int = 1 << 22
    rules: int = 4096
    template: int = 4096

    def __post_init__(self) -> None:
        for one in fields(self):
            value = getattr(self, one.name)
            if not isinstance(value, int) or not 0 < value <= largest(one.name):
                most = largest(one.name)
                raise ValueError(f"{one.name} is a whole number from 1 to {most}, not {value!r}")


def largest(name: str) -> int:
    """The largest value of the limit of that name: each layer is a call within a call."""
    return 64 if name == "layers" else (1 << 64) - 1


LIMITS = Limits()

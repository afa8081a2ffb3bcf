"""Digests of sources: SHA-256 of the decompressed bytes, worked out when first asked for."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from ..errors import Error
from ..limits import LIMITS, Limits
from ..util.late import hashlib
from .source import Source

__all__ = ["Digest", "Firsts", "again", "comparable"]

#: Stands for a digest that cannot be had any more.
UNKNOWN = "-"


class Digest:
    """The SHA-256 of so many bytes.

    Equal digests have equal sizes, so only digests of equal size are worked out when they are
    compared, or looked up in a set or dict. An unknown one equals nothing but itself.

    Parameters
    ----------
    size : int
        Bytes of the source.
    made : str or callable
        The digest in hex, or a function that gives it.
    release : str, optional
        One release of a published page, a source of its own.

    Attributes
    ----------
    why : str
        Why the digest is unknown, once it was asked for.
    """

    __slots__ = ("_made", "release", "size", "why")

    def __init__(self, size: int, made: str | Callable[[], str], release: str = "") -> None:
        self.size = size
        self.release = release
        self.why = ""
        self._made = made

    @classmethod
    def of(cls, data: bytes) -> Digest:
        """The digest of bytes that are at hand."""
        return cls(len(data), hashlib.sha256(data).hexdigest())

    def of_release(self, release: str) -> Digest:
        """The digest of one release of a page."""
        return Digest(self.size, lambda: self._hex(), release)

    def _hex(self) -> str:
        if callable(self._made):
            try:
                self._made = self._made()
            except (Error, OSError) as error:
                self.why = str(error)
                self._made = UNKNOWN
        return self._made

    @property
    def known(self) -> bool:
        """Whether there is one; this works it out."""
        return self._hex() != UNKNOWN

    def __str__(self) -> str:
        text = self._hex()
        return f"{text}@{self.release}" if self.release and text != UNKNOWN else text

    def __repr__(self) -> str:
        made = "not asked for yet" if callable(self._made) else str(self)
        return f"Digest({self.size} bytes, {made})"

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Digest) or self.size != other.size:
            return False
        return self.release == other.release and self.known and self._hex() == other._hex()

    def __hash__(self) -> int:
        return hash((self.size, self.release))

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy elsewhere cannot read the source again: it takes the digest with it."""
        return Digest, (self.size, self._hex(), self.release)


def comparable(digests: Iterable[Any]) -> list[Any]:
    """Keys by which digests can be looked up among each other, in linear time.

    Parameters
    ----------
    digests : iterable of Digest or str

    Returns
    -------
    list
        The text of each digest that another one may equal, itself for the others: a lone size
        needs no hash, unless there are texts, whose sizes are not known.
    """
    found = list(digests)
    sizes = Counter((one.size, one.release) for one in found if isinstance(one, Digest))
    texts = any(one and not isinstance(one, Digest) for one in found)

    def key(one: Any) -> Any:
        if not isinstance(one, Digest):
            return str(one)
        alone = not texts and sizes[one.size, one.release] == 1
        return one if alone or not one.known else str(one)

    return [key(one) for one in found]


class Firsts:
    """The first source of equal ones, as they come; of a size that comes once nothing is hashed."""

    def __init__(self) -> None:
        self._alone: dict[int, tuple[Digest, int]] = {}
        self._texts: dict[int, dict[str, int]] = {}

    def of(self, digest: Digest, number: int) -> int:
        """The number that came first with this digest, or `number` itself."""
        size = digest.size
        if size not in self._alone:
            self._alone[size] = digest, number
            return number
        if size not in self._texts:
            first, its_number = self._alone[size]
            self._texts[size] = {str(first): its_number} if first.known else {}
        return self._texts[size].setdefault(str(digest), number) if digest.known else number


def again(
    source: Source, status: os.stat_result | None, size: int, limits: Limits = LIMITS
) -> Digest | None:
    """A digest that reads the source once more when it is asked for; None where that cannot be.

    Parameters
    ----------
    source : Source
    status : os.stat_result or None
        Of the regular file that was read.
    size : int
        Decompressed bytes that were read.
    limits : Limits

    Notes
    -----
    The file must be the same then: device, inode, size and time of change. Otherwise the digest is
    unknown, and never one of other bytes.
    """
    if not source.lasting or status is None:
        return None
    marks = _marks(status)
    return Digest(size, lambda: _hashed(source, marks, size, limits))


def _marks(status: os.stat_result) -> tuple[int, ...]:
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def _hashed(source: Source, marks: tuple[int, ...], size: int, limits: Limits) -> str:
    state = hashlib.sha256()
    left = size
    with source.open(limits) as stream:
        if left:
            for piece in stream:
                state.update(piece[:left])
                left -= len(piece)
                if left <= 0:
                    break
        now = None if stream.status is None else os.fstat(stream.raw.fileno())
        if left > 0 or now is None or _marks(now) != marks:
            raise OSError(f"{source.name} is not the file any more that was read")
    return state.hexdigest()

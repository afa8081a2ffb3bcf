"""Compressed bytes to plain ones: told by their first bytes, in one pass, within limits.

Several members or frames behind each other are one text. The sound part of a damaged or cut file is
given, and the fault is kept in `Unpacked.damage`. Beyond a first piece the work is done
on a thread of its own, so that it runs beside the parsing.
"""

from __future__ import annotations

import bz2
import lzma
import sys
import threading
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any, Protocol

from ..errors import InputError, LimitError
from ..limits import LIMITS, Limits
from ..util.optional import need

try:  # the extra `fast`: the same function on the same bytes, in about half the time
    from zlib_ng import zlib_ng

    inflating: Any = zlib_ng
except ImportError:
    inflating = zlib

__all__ = ["Budget", "Unpacked"]

PACKED = 1 << 16  # bytes handed to a decompressor at a time
PIECE = 1 << 18  # bytes taken from it at a time, at most
AHEAD = 8  # pieces that may wait for the reader
XZ_MEMORY = 1 << 28  # of xz's dictionary; `xz -9` makes 64 MiB
SLACK = 1 << 26  # decompressed bytes for which no ratio is asked


class Budget:
    """Decompressed bytes and members that an archive may have, with all archives in it.

    Parameters
    ----------
    name : str
        How messages call the archive.
    limits : Limits
        `size`, `ratio` and `entries` hold for all of it.
    packed : callable
        Bytes of the archive itself, as far as they are known.

    Attributes
    ----------
    spent : bool
        Whether a limit was reached: nothing further of the archive is to be read.
    """

    def __init__(self, name: str, limits: Limits, packed: Callable[[], int]) -> None:
        self._name = name
        self._limits = limits
        self._packed = packed
        self._bytes = 0
        self._members = 0
        self.spent = False

    def take(self, size: int) -> None:
        """Count decompressed bytes.

        Raises
        ------
        LimitError
            There are too many, also for the bytes of the archive.
        """
        self._bytes += size
        if self._bytes > self._limits.size:
            self.refuse(f"unfolds into more than {self._limits.size} bytes (--limit size=N)")
        if self._bytes > SLACK and self._bytes > self._limits.ratio * max(1, self._packed()):
            self.refuse(
                f"unfolds to more than {self._limits.ratio} times its size (--limit ratio=N)"
            )

    def take_member(self) -> None:
        """Count a member; errors as in `take`."""
        self._members += 1
        if self._members > self._limits.entries:
            self.refuse(f"more than {self._limits.entries} members (--limit entries=N)")

    def refuse(self, text: str) -> None:
        """Raise LimitError now, and have the rest of the archive left."""
        self.spent = True
        raise LimitError(text, path=self._name or None)


class _Decompressor(Protocol):
    """The interface that the standard library's decompressors share."""

    eof: bool
    needs_input: bool
    unused_data: bytes

    def decompress(self, data: bytes, max_length: int) -> bytes: ...


class _Gunzip:
    """One gzip member, in the shape of the other decompressors."""

    def __init__(self) -> None:
        self._state = inflating.decompressobj(31)
        self._error: Exception | None = None
        self.needs_input = True

    @property
    def eof(self) -> bool:
        return bool(self._state.eof)

    @property
    def unused_data(self) -> bytes:
        rest: bytes = self._state.unused_data
        return rest

    def decompress(self, data: bytes, max_length: int) -> bytes:
        """The output of zlib; at an error the bytes before the damage, then the error."""
        if self._error is not None:
            raise self._error
        rest = self._state.unconsumed_tail
        data = rest + data if rest else data
        before = self._state.copy()
        try:
            out: bytes = self._state.decompress(data, max_length)
        except inflating.error as error:
            self._error = error
            self.needs_input = False
            return _before_damage(before, data)
        self.needs_input = not self._state.unconsumed_tail and len(out) < max_length
        return out


def _before_damage(state: Any, data: bytes) -> bytes:
    """The bytes of `data`, taken one by one, before zlib finds a fault."""
    out = bytearray()
    try:
        for byte in data:
            out += state.decompress(bytes((byte,)))
    except inflating.error:
        pass
    return bytes(out)


def _zstd() -> Any:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        zstd = need("backports.zstd", "zstd")
    return zstd


def _is_gz(head: bytes) -> bool:
    return head.startswith(b"\x1f\x8b")


def _is_bz2(head: bytes) -> bool:
    return head.startswith(b"BZh") and head[3:4].isdigit()


def _is_xz(head: bytes) -> bool:
    return head.startswith(b"\xfd7zXZ\x00")


def _is_zstd(head: bytes) -> bool:
    """A frame, or one of those that hold no data and may be skipped."""
    if head.startswith(b"\x28\xb5\x2f\xfd"):
        return True
    return head[1:4] == b"\x2a\x4d\x18" and 0x50 <= head[0] <= 0x5F


# name, test of the first bytes, maker of a decompressor, exceptions on damage
_FORMS: tuple[tuple[str, Callable[[bytes], bool], Callable[[], Any], Callable[[], Any]], ...] = (
    ("gz", _is_gz, _Gunzip, lambda: inflating.error),
    ("bz2", _is_bz2, bz2.BZ2Decompressor, lambda: (OSError, ValueError)),
    ("xz", _is_xz, lambda: lzma.LZMADecompressor(memlimit=XZ_MEMORY), lambda: lzma.LZMAError),
    ("zstd", _is_zstd, lambda: _zstd().ZstdDecompressor(), lambda: _zstd().ZstdError),
)

MAGIC = 6  # bytes that tell every form


class Unpacked:
    """The plain bytes behind a file object, by iterating; once.

    Parameters
    ----------
    file : binary file object
        Read to its end, never sought, not closed.
    name : str
        How messages call it.
    limits : Limits
    budget : Budget, optional
        Of the archive that the file is a member of.

    Attributes
    ----------
    layers : tuple of str
        The compressions from outside in, ``("gz",)``; empty for plain bytes.
    damage : InputError or None
        The fault of the compressed data, once the end is reached; `offset` counts packed
        bytes.

    Raises
    ------
    LimitError
        In iterating, where `limits` are reached.
    MissingExtra
        zstd, and nothing installed that reads it.
    """

    def __init__(
        self, file: Any, name: str = "", limits: Limits = LIMITS, budget: Budget | None = None
    ) -> None:
        self.name = name
        self._budget = budget
        self.limits = limits
        self.layers: tuple[str, ...] = ()
        self.damage: InputError | None = None
        self.packed = 0  # bytes read from the file
        self._threads: list[_Ahead] = []
        pieces, head = _peek(self._raw(file))
        while (form := next((f for f in _FORMS if f[1](head)), None)) is not None:
            if len(self.layers) >= limits.layers:
                raise LimitError(
                    f"more than {limits.layers} compressions in each other (--limit layers=N)",
                    path=name,
                )
            self.layers = (*self.layers, form[0])
            pieces = self._unfold(pieces, *form)
            ahead = _Ahead(pieces)
            self._threads.append(ahead)
            pieces, head = _peek(ahead)
        self._pieces = pieces

    def __iter__(self) -> Iterator[bytes]:
        return self._pieces

    def close(self) -> None:
        """End the work ahead, if the bytes were not read to their end."""
        for thread in reversed(self._threads):
            thread.close()

    def _raw(self, file: Any) -> Iterator[bytes]:
        some = getattr(file, "read1", file.read)  # a pipe's bytes, without waiting for more
        try:
            while piece := some(PIECE):
                self.packed += len(piece)
                yield piece
        except OSError as error:
            error.filename = error.filename or self.name or None
            raise

    def _unfold(
        self,
        pieces: Iterable[bytes],
        form: str,
        is_form: Callable[[bytes], bool],
        make: Callable[[], _Decompressor],
        damaged: Callable[[], Any],
    ) -> Iterator[bytes]:
        """The bytes of all members, as far as they can be had."""
        state: _Decompressor | None = None
        errors = damaged()
        members = total = 0
        data = b""
        for more, last in _slices(pieces, form != "gz"):
            data += more
            while data or (state is not None and not state.needs_input):
                if state is None:  # the next member, or the padding of a tape
                    data = data.lstrip(b"\0") if members else data
                    if not data or (len(data) < MAGIC and not last):
                        break
                    if not is_form(data):
                        self._damaged(form, "what follows is no further member")
                        return
                    state = make()
                    members += 1
                try:
                    out = state.decompress(data, PIECE)
                except errors as error:
                    self._damaged(form, str(error))
                    return
                data = b""
                if out:
                    total += len(out)
                    self._within(total)
                    if self._budget is not None:
                        self._budget.take(len(out))
                    yield out
                if state.eof:
                    data, state = state.unused_data, None
                elif state.needs_input:
                    break
        if state is not None:
            self._damaged(form, "it ends in the middle")

    def _within(self, total: int) -> None:
        if total > self.limits.size:
            raise LimitError(
                f"unfolds into more than {self.limits.size} bytes (--limit size=N)",
                path=self.name or None,
            )
        if total > SLACK and total > self.limits.ratio * self.packed:
            raise LimitError(
                f"unfolds to more than {self.limits.ratio} times its size (--limit ratio=N)",
                path=self.name or None,
            )

    def _damaged(self, form: str, what: str) -> None:
        if self.damage is None:
            text = f"{form} data is damaged or cut: {what}"
            self.damage = InputError(text, path=self.name or None, offset=self.packed)


def _peek(pieces: Iterator[bytes]) -> tuple[Iterator[bytes], bytes]:
    """The same pieces, and the bytes they begin with: enough to tell every form, if there are."""
    first: list[bytes] = []
    head = b""
    while len(head) < MAGIC and (piece := next(pieces, None)) is not None:
        first.append(piece)
        head += piece[:MAGIC]
    return chain(first, pieces), head


def _slices(pieces: Iterable[bytes], aligned: bool) -> Iterator[tuple[bytes, bool]]:
    """Slices of at most `PACKED` bytes; behind the last one an empty one, which is marked.

    `aligned`: they are cut at multiples of `PACKED` whatever the pieces are. A decompressor that
    meets damage keeps the output of the call, so the bytes had of damaged data depend on
    where the calls were cut; gz alone is asked again byte by byte.
    """
    held = bytearray()
    for piece in pieces:
        held += piece
        while len(held) >= PACKED:
            yield bytes(held[:PACKED]), False
            del held[:PACKED]
        if held and not aligned:
            yield bytes(held), False
            held.clear()
    if held:
        yield bytes(held), False
    yield b"", True


class _Ahead:
    """Pieces made on a thread, a few ahead of the reader; the first ones without one."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._inline = 2
        self._ready: deque[bytes | BaseException | None] = deque()
        self._turn = threading.Condition()
        self._stop = False
        self._thread: threading.Thread | None = None

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        if self._inline:
            self._inline -= 1
            return next(self._pieces)
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="unpack", daemon=True)
            self._thread.start()
        with self._turn:
            while not self._ready:
                self._turn.wait()
            item = self._ready[0]
            if isinstance(item, bytes):
                self._ready.popleft()
                self._turn.notify()
                return item
        if item is None:
            raise StopIteration
        raise item

    def _work(self) -> None:
        end: BaseException | None = None
        try:
            for piece in self._pieces:
                with self._turn:
                    while len(self._ready) >= AHEAD and not self._stop:
                        self._turn.wait()
                    if self._stop:
                        return
                    self._ready.append(piece)
                    self._turn.notify()
        except BaseException as error:
            end = error
        with self._turn:
            self._ready.append(end)
            self._turn.notify()

    def close(self) -> None:
        """Let the thread end; one that waits for bytes of a pipe is left behind."""
        with self._turn:
            self._stop = True
            self._turn.notify()
        if self._thread is not None:
            self._thread.join(timeout=1)

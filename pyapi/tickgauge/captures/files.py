"""Capture files: which form a source has, archives, and reading it."""

from __future__ import annotations

import hashlib
import io
import os
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from .. import _core
from ..errors import Error, InputError, LimitError
from ..limits import LIMITS, Limits
from ..sources.archives import ZIP_DAMAGE
from ..sources.decompress import SLACK, Unpacked
from ..sources.digest import Digest, again
from ..sources.form import Match
from ..sources.source import Pieces, Source, Stream
from . import fst
from .capture import FORMS, Capture

__all__ = ["load", "read_capture", "sniff"]

#: Bytes read at a time.
PIECE = 1 << 20


#: The message for a source that is no capture.
NO_CAPTURE = (
    'is no capture: an ILA CSV begins with "Sample in Buffer", a plain CSV names an AXI VALID and '
    "READY in its header (or --map says which columns they are), a VCD begins with $date, "
    "$version, $timescale or $scope, an .ila file is a zip archive, an FST is a compressed VCD"
)


def sniff(head: bytes, source: Any) -> Match:
    """How well a source fits, for the dispatcher of ``tickgauge.read``."""
    form = _core.capture_sniff(head[:4096])
    if fst.is_fst(head):
        return Match(95, "begins as FST")
    if form in ("csv", "vcd"):
        return Match(95, f"begins as {FORMS[form]}")
    if head[:4] == b"PK\x03\x04" and _is_ila(head, source):
        return Match(95, "a zip archive with the members of an .ila file")
    return Match(0, "")


def _is_ila(head: bytes, source: Any) -> bool:
    if b"waveform." in head or b"probes.ltx" in head:
        return True
    path = getattr(source, "path", None)
    if path is None:
        return False
    try:
        with zipfile.ZipFile(path) as archive:
            names = {Path(name).name for name in archive.namelist()}
    except (OSError, *ZIP_DAMAGE):
        return False
    return bool(names & {"waveform.csv", "waveform.vcd"})


def load(source: Any, options: Any) -> Capture:
    """Read a source that `sniff` recognised (for the dispatcher of ``tickgauge.read``)."""
    with source.open(options.limits) as stream:
        return read_capture(stream, name=source.name, clock=options.clock, limits=options.limits)


def read_capture(
    source: str | os.PathLike[str] | bytes | Any,
    *,
    sample_on: str | None = None,
    keep: Iterable[str] = (),
    map: Mapping[str, str] | None = None,
    samples: int = 0,
    clock: int | None = None,
    slot: int | None = None,
    prefix: str | None = None,
    kind: str | None = None,
    assume: Mapping[str, int] | None = None,
    ignore_gaps: bool = False,
    idle_start: bool = False,
    name: str | None = None,
    limits: Limits = LIMITS,
) -> Capture:
    """Read a capture: ILA CSV, VCD or ``.ila``, told by content; compression is undone.

    Parameters
    ----------
    source : path, bytes or binary file object
    sample_on : str, optional
        VCD: the signal at whose rising edges the others are sampled; ``""`` makes every time
        unit a sample. By default an ILA's VCD has one sample a unit, and a simulator's is sampled
        at a clock found by its name.
    keep : iterable of str
        Further signals to store, full names without range.
    map : mapping, optional
        AXI role to column, ``{"arvalid": "u0/foo"}``; wins over names.
    samples : int
        Depth of the capture, which a VCD does not know.
    clock : int, optional
        Clock of the interface in Hz, for MB/s and microseconds.
    slot, prefix, kind, assume, ignore_gaps, idle_start
        Defaults of `Capture.port`.
    name : str, optional
        How messages call the source.
    limits : Limits
        Bounds of compressed input, and of the capture.

    Returns
    -------
    Capture

    Raises
    ------
    InputError
        Not a capture, or one that cannot be read (no header, no definitions, UTF-16).
    LimitError
        The capture, packed or unpacked, is beyond `limits`.
    OSError
        The source cannot be opened.
    """
    options = {
        "sample_on": sample_on,
        "keep": tuple(keep),
        "map": tuple((map or {}).items()),
        "samples": samples,
        "max_item": limits.row,
        "max_signals": limits.signals,
        "max_width": min(limits.width, (1 << 32) - 1),
        "max_scope": min(limits.scope, (1 << 32) - 1),
    }
    wish = {
        "slot": slot,
        "prefix": prefix,
        "kind": kind,
        "assume": assume,
        "ignore_gaps": ignore_gaps,
        "idle_start": idle_start,
        "max_transactions": limits.transactions,
    }
    shown, file, owned, later = _open(source, name, limits)
    try:
        return _read(file, shown, options, clock, wish, limits, later)
    except (InputError, LimitError) as error:
        error.path = error.path or shown
        raise
    finally:
        if owned:
            file.close()


#: Gives a digest that can be made later, from the number of bytes; None where it cannot.
_Later = Callable[[int], Digest | None]


def _open(source: Any, name: str | None, limits: Limits) -> tuple[str, Any, bool, _Later]:
    """Name and file of a capture, whether to close it, and how its digest is made later."""
    if isinstance(source, Stream):
        later = partial(again, source.source, source.status, limits=limits)
        return name or source.source.name, Pieces(source), False, later
    if isinstance(source, (bytes, bytearray, memoryview)):
        return name or f"<{len(source)} bytes>", io.BytesIO(source), True, _never
    if hasattr(source, "read"):
        shown = getattr(source, "name", None)
        return name or (shown if isinstance(shown, str) else "<file>"), source, False, _never
    path = Path(source)
    file = path.open("rb")
    lasting = Source(str(path), partial(open, path, "rb"), path, lasting=True)
    later = partial(again, lasting, os.fstat(file.fileno()), limits=limits)
    return name or str(source), file, True, later


def _never(size: int) -> None:
    """The bytes cannot be had again."""


def _read(
    file: Any,
    name: str,
    options: Mapping[str, Any],
    clock: int | None,
    wish: Mapping[str, Any],
    limits: Limits,
    later: _Later,
) -> Capture:
    unpacked = Unpacked(file, name, limits)
    pieces = _gathered(unpacked)
    first = next(pieces, b"")
    if first[:4] == b"PK\x03\x04":
        data = bytearray(first)
        for piece in pieces:
            data += piece
            if len(data) > limits.whole:
                raise LimitError(f"an archive of more than {limits.whole} bytes (--limit whole=N)")
        return _read_archive(bytes(data), name, options, clock, wish, limits)
    if fst.is_fst(first):
        return _read_fst(file, name, chain([first], pieces), options, clock, wish, later)
    form = _core.capture_sniff(first[:4096])
    if form is None and options["map"] and b"," in first[:4096]:
        form = "csv"  # the map says which columns are which
    if form is None or form == "dmp":
        raise InputError(NO_CAPTURE)
    digest = None if later(0) is not None else hashlib.sha256()
    size = [0]
    core = _fed(form, _counted(chain([first], pieces), size, digest), options)
    notes = [unpacked.damage.message] if unpacked.damage is not None else []
    identity = later(size[0]) if digest is None else Digest(size[0], digest.hexdigest())
    return Capture(core, name, identity=identity, clock=clock, notes=notes, wish=wish)


def _read_fst(
    file: Any,
    name: str,
    pieces: Iterable[bytes],
    options: Mapping[str, Any],
    clock: int | None,
    wish: Mapping[str, Any],
    later: _Later,
) -> Capture:
    """An FST, from its own file, or from one for the time of reading."""
    shown = getattr(file, "name", None)
    path = Path(shown) if isinstance(shown, str) else None
    if path is not None and path.is_file():
        with path.open("rb") as own:
            if fst.is_fst(own.read(64)):
                core = fst.load(str(path), options)
                identity = later(path.stat().st_size)
                notes = ["read from an FST"]
                return Capture(core, name, identity=identity, clock=clock, notes=notes, wish=wish)
    digest, size = hashlib.sha256(), [0]
    with tempfile.NamedTemporaryFile(suffix=".fst") as copy:
        for piece in _counted(pieces, size, digest):
            copy.write(piece)
        copy.flush()
        core = fst.load(copy.name, options)
    identity = Digest(size[0], digest.hexdigest())
    return Capture(
        core, name, identity=identity, clock=clock, notes=["read from an FST"], wish=wish
    )


def _gathered(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The same bytes in pieces of about `PIECE`, so that the core is called less often."""
    held: list[bytes] = []
    size = 0
    for piece in pieces:
        held.append(piece)
        size += len(piece)
        if size >= PIECE:
            yield b"".join(held)
            held, size = [], 0
    if held:
        yield b"".join(held)


def _counted(pieces: Iterable[bytes], size: list[int], digest: Any) -> Iterator[bytes]:
    """The same pieces; their bytes are counted, and hashed where there is a digest."""
    for piece in pieces:
        size[0] += len(piece)
        if digest is not None:
            digest.update(piece)
        yield piece


def _fed(form: str, pieces: Iterable[bytes], options: Mapping[str, Any]) -> _core.Capture:
    core = _core.Capture(form, **options)
    for piece in pieces:
        core.feed(piece)
    core.finish()
    return core


def _read_archive(
    data: bytes,
    name: str,
    options: Mapping[str, Any],
    clock: int | None,
    wish: Mapping[str, Any],
    limits: Limits,
) -> Capture:
    """An .ila archive: the CSV, else the VCD; depth, triggers and gaps from the dump."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = {Path(info.filename).name: info for info in archive.infolist()}
            main = next((m for m in ("waveform.csv", "waveform.vcd") if m in members), None)
            if main is None:
                raise InputError("a zip archive without waveform.csv or waveform.vcd: no .ila file")
            core = _fed(main[-3:], _member(archive, members[main], limits), options)
            if "waveform.dmp" in members:
                dump = _fed("dmp", _member(archive, members["waveform.dmp"], limits), {})
                core.adopt(dump)
    except ZIP_DAMAGE as error:
        if isinstance(error, Error):
            raise
        raise InputError(f"the .ila archive is damaged: {error}") from error
    notes = [f"read from the archive's {main}"]
    return Capture(
        core, name, identity=Digest.of(data), archive=main, clock=clock, notes=notes, wish=wish
    )


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, limits: Limits) -> Iterator[bytes]:
    total = 0
    with archive.open(info) as file:
        while piece := file.read(PIECE):
            total += len(piece)
            if total > limits.size:
                text = f"{info.filename} unfolds into more than {limits.size} bytes"
                raise LimitError(f"{text} (--limit size=N)")
            if total > SLACK and total > limits.ratio * max(1, info.compress_size):
                text = f"{info.filename} unfolds to more than {limits.ratio} times its size"
                raise LimitError(f"{text} (--limit ratio=N)")
            yield piece

"""What the readers in Python promise about any bytes: a function of bytes for each, by name.

A target returns, or lets `tickgauge.Error` or OSError through: that is an answer. Anything else
that comes out, an AssertionError of its own included, is a broken promise. `fuzz_py.py` calls them
under a fuzzer, `tests/py/test_fuzz_py.py` with seeds and kept finds.
"""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import lzma
import pickle
import tempfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import tickgauge as tg
from tickgauge.batches.index import FileStatus, Index
from tickgauge.batches.merge_snapshots import merge_texts
from tickgauge.boards.platforms import load as load_platforms
from tickgauge.captures.run_logs import compare_runs, published
from tickgauge.comparison.snapshot import load_snapshot
from tickgauge.dataset.calls import call_counts, hop_statistics, uart_time
from tickgauge.limits import Limits
from tickgauge.reading.optee_ts import parse
from tickgauge.rules.rule import load_rules
from tickgauge.sources.decompress import Unpacked
from tickgauge.tfa.audit import audit_releases
from tickgauge.tfa.inputs import releases_in
from tickgauge.tfa.join import Side, join
from tickgauge.tfa.model import Release
from tickgauge.tfa.pages import read_published
from tickgauge.tfa.tables import STYLES, build

__all__ = ["ALLOWED", "TARGETS", "run"]

#: What may come out of a reader besides a result.
ALLOWED = (tg.Error, OSError)

#: Small enough that a target reaches them, large enough for every seed.
LIMITS = Limits(size=1 << 24, ratio=1200, entries=64, whole=1 << 22, records=5000, keys=500)

LOG = b"NOTICE:  BL1: v2.12\nfft 8 points: 1.5 usec\n<RT_INSTR:psci_suspend:42>\ncpu_on 9\n"

TARGETS: dict[str, Callable[[bytes], None]] = {}


def run(name: str, data: bytes) -> None:
    """One input of a target; what it may raise is swallowed."""
    with contextlib.suppress(*ALLOWED):
        TARGETS[name](data)


def _target(function: Callable[[bytes], None]) -> Callable[[bytes], None]:
    TARGETS[function.__name__] = function
    return function


_folder = tempfile.TemporaryDirectory(prefix="tickgauge-fuzz-")


def _file(name: str, data: bytes) -> Path:
    """A file of that name with these bytes; the next of the name takes its place."""
    path = Path(_folder.name) / name
    path.write_bytes(data)
    return path


class _Dribble(io.RawIOBase):
    """A file that cannot be sought and gives a few bytes at a time."""

    def __init__(self, data: bytes, n: int) -> None:
        self._data, self._n, self._at = data, n, 0

    def read(self, n: int = -1) -> bytes:
        end = self._at + (self._n if n < 0 else min(n, self._n))
        piece, self._at = self._data[self._at : end], end
        return piece


#: Whether an input takes every further step, or one that its bytes choose (many more a second).
EVERY = True


def _further(data: bytes, *steps: Callable[[], Any]) -> None:
    """What a user would do next; each step works, or says why not."""
    for step in steps if EVERY else [steps[zlib.crc32(data) % len(steps)]]:
        with contextlib.suppress(tg.Error):
            step()


def _use(found: Any, data: bytes) -> None:
    """The further steps of what can be compared."""
    repr(found)
    _further(
        data,
        lambda: tg.compare(found, found)._repr_html_(),
        lambda: repr(tg.trend(found, found)),
        lambda: tg.summarize(found)._repr_html_(),
        lambda: tg.tables(found, found).to_text(),
        lambda: _stays(tg.snapshot(found)),
        lambda: _shown(found),
    )


def _shown(found: Any) -> None:
    if isinstance(found, tg.Dataset):
        assert len(found.readings.ns) == len(found.readings)
        found._repr_html_()
        for name in found.tables:
            found.table(name).to_csv()


def _stays(made: tg.Snapshot) -> None:
    """What is written is read back equal, alone and merged with itself in both ways."""
    text = made.to_bytes()
    again = load_snapshot(text)
    assert again == made, "a snapshot that was written is read back as another"
    assert again.merge(made).to_bytes() == text, "a snapshot and itself are more than itself"
    assert merge_texts([text, text]) == text, "merged as text it is another"


# ---- the package's own files ---------------------------------------------------------------------


@_target
def snapshot(data: bytes) -> None:
    """Snapshots, packed or not."""
    found = tg.read(data, limits=LIMITS)
    if isinstance(found, tg.Snapshot):
        _stays(found)
        _use(found, data)


@_target
def index(data: bytes) -> None:
    """The database that a batch keeps beside its results."""
    with contextlib.suppress(FileNotFoundError):
        (Path(_folder.name) / "index.sqlite").unlink()
    path = _file("index.sqlite", data)
    with Index(path, "v") as kept:
        kept.find("a.log", 1, 2)
        kept.store([FileStatus("a.log", size=1, mtime=2)])
        assert kept.find("a.log", 1, 2) == FileStatus("a.log", size=1, mtime=2)


@_target
def rules(data: bytes) -> None:
    """TOML of rules, used on a log."""
    found = load_rules(_file("rules.toml", data))
    assert pickle.loads(pickle.dumps(found)) == found
    repr(found)
    tg.read(LOG, rules=found, limits=LIMITS)


@_target
def boards(data: bytes) -> None:
    """TOML of platforms, used on a log."""
    path = _file("boards.toml", data)
    for board in load_platforms(path).values():
        assert board.for_core()[0] == board.name
        board.topology()
        repr(board)
    tg.read(LOG, platform=str(path), limits=LIMITS)


# ---- what other programs wrote -------------------------------------------------------------------


def _stamp_line(stamp: Any) -> str:
    return f"{stamp.core}\t{stamp.counter}\t0x{stamp.address:x}\t{stamp.component}\n"


def _calls(found: Any, data: bytes) -> None:
    if isinstance(found, tg.Dataset):
        _further(
            data[::-1],
            lambda: repr(call_counts(found)),
            lambda: repr(hop_statistics(found)),
            lambda: repr(uart_time(found, 115200)),
        )


@_target
def stamps(data: bytes) -> None:
    """Stamp files: YAML and tab-separated, which must say the same."""
    with contextlib.suppress(tg.Error):
        found = parse(data)
        lines = "".join(map(_stamp_line, found)).encode()
        if not any("\t" in s.component or "\ufffd" in s.component for s in found):
            again = parse(lines)
            same = [(s.core, s.counter, s.address, s.component) for s in again]
            assert same == [(s.core, s.counter, s.address, s.component) for s in found]
    read = tg.read(data, clock=10**9, limits=LIMITS)
    _calls(read, data)
    _use(read, data)


@_target
def runs(data: bytes) -> None:
    """The published table of run times."""
    found = list(published(_file("runs.csv", data)).values())
    for one in found:
        with contextlib.suppress(tg.Error):
            repr(compare_runs(one, found[0]))


@_target
def console(data: bytes) -> None:
    """Lines of every format: what Python makes of the core's tables."""
    found = tg.read(data, clock=62_500_000, limits=LIMITS)
    if not isinstance(found, tg.Capture):
        _calls(found, data)
        _use(found, data)


@_target
def capture(data: bytes) -> None:
    """Captures: ILA CSV, VCD and .ila archives."""
    found = tg.read_capture(data, limits=LIMITS, clock=10**8)
    repr(found)
    assert len(found.signals) >= len(found.interfaces)
    repr((found.infos, found.problems, found.windows, found.list_interfaces()))
    _further(
        data,
        lambda: found._repr_html_(),
        lambda: repr((found.channels(), found.blocking(), found.finding())),
        lambda: repr((found.readings, found.port().throughput())),
        lambda: repr((found.explain(), found.transactions().lines(10**8))),
    )


# ---- packed --------------------------------------------------------------------------------------


def _told(found: Any) -> Any:
    """What must not depend on how the bytes were had."""
    if not isinstance(found, tg.Dataset):
        return type(found).__name__
    infos = [(i.state, i.bytes, i.digest, i.records, i.problems) for i in found.infos]
    return infos, found.readings["value"].tolist(), found.readings["line"].tolist()


def _answer(source: Any) -> Any:
    try:
        return _told(tg.read(source, limits=LIMITS))
    except ALLOWED as error:
        return type(error).__name__


@_target
def archive(data: bytes) -> None:
    """tar and zip, as a file, as bytes, and through a pipe: all three the same."""
    data = _summed(data)
    whole = _answer(data)
    assert whole == _answer(_file("a.bin", data)), "a file is read otherwise than its bytes"
    assert whole == _answer(_Dribble(data, 700)), "a pipe is read otherwise than its bytes"


def _summed(data: bytes) -> bytes:
    """The same with right sums in headers of tar, without which nothing behind them is reached."""
    out = bytearray(data)
    for at in range(0, len(out) - 511, 512):
        if out[at + 257 : at + 262] == b"ustar":
            total = sum(out[at : at + 148]) + 8 * 32 + sum(out[at + 156 : at + 512])
            out[at + 148 : at + 156] = b"%06o\0 " % total
    return bytes(out)


_WHOLE: tuple[tuple[bytes, Callable[[bytes], bytes]], ...] = (
    (b"\x1f\x8b", gzip.decompress),
    (b"BZh", bz2.decompress),
    (b"\xfd7zXZ\0", lzma.decompress),
)


def _unpacked(file: Any) -> tuple[bytes, tuple[str, ...], bool]:
    found = Unpacked(file, "x", LIMITS)
    try:
        return b"".join(found), found.layers, found.damage is None
    finally:
        found.close()


@_target
def unpack(data: bytes) -> None:
    """Compressions in each other: cut or whole the same, and what the standard library gives."""
    plain, layers, sound = _unpacked(io.BytesIO(data))
    cut = _unpacked(_Dribble(data, 5))
    assert cut[1:] == (layers, sound), "pieces tell other layers"
    assert cut[0] == plain, "pieces give other bytes"
    for magic, whole in _WHOLE:
        if data.startswith(magic) and len(layers) == 1 and sound:
            with contextlib.suppress(EOFError, OSError, ValueError, zlib.error, lzma.LZMAError):
                # it stops at padding between members of bz2, which is passed over here
                assert plain.startswith(whole(data)), "the standard library gives other bytes"


# ---- release tables ------------------------------------------------------------------------------


def _cells(releases: list[Release]) -> Iterator[Any]:
    for release in releases:
        for table, row, metric, cell in release.cells():
            yield table.test, row.cpu, metric, cell.ns


def _printed(release: Release) -> None:
    """Printed as a page and read again every cell of a known cpu has the same value."""
    side = Side.of_release(release)
    made = build(join(side, side, "cpu", anyway=True), threshold=None, unit="ns")
    for style in STYLES:
        made.text(style)
    made.to_records()
    want = sorted(_cells([release]), key=repr)
    if not want or any(cpu is None for _, cpu, _, _ in want):
        return
    page = f"{side.platform or 'board'}\n{'=' * 40}\n\n{made.to_rst()}".encode()
    got = sorted(_cells(read_published(_file("again.rst", page))), key=repr)
    assert got == want, "a table that was printed is read back as another"


def _table(name: str, data: bytes) -> None:
    path = _file(name, data)
    found = releases_in(str(path))
    audit_releases(found).to_text()
    for release in found:
        release.assumptions()
    _further(
        data,
        lambda: [_printed(release) for release in found],
        lambda: audit_releases([*found, *releases_in(str(path), "juno")]).to_text(),
        lambda: _use(tg.read(path, limits=LIMITS), data[::-1]),
    )


@_target
def table(data: bytes) -> None:
    """Release tables as CSV: a test's, several under # lines, the long one."""
    _table("test_rt_instr_cpu_susp_parallel.csv", data)


@_target
def page(data: bytes) -> None:
    """Release tables as an RST page."""
    _table("page.rst", data)

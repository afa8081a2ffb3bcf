"""Pieces of the shipped logs and captures as inputs to fuzz from: ``shipped.py FOLDER TARGET``.

A piece is a few kilobytes of whole lines behind the two bytes of options that the target takes; a
piece of a capture has the head of its file before it.
"""

import gzip
import lzma
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

DATA = (Path("tests/data"), Path("notebooks/data"))
PIECE = 1500  # bytes
PIECES = 16  # of a file, spread over it
FILES = {
    "optee": ("optee/*", "dropin/*/*.txt", "dropin/real/*"),
    "legacy": ("dropin/*/*.txt", "dropin/real/*"),
    "ftrace": ("ftrace/*",),
    "tftf": ("tfa/console/*", "emulated/*", "emulated/*/*"),
    "pmf": ("tfa/console/*", "emulated/*"),
    "qconv": ("zynq/*.log",),
    "xtest": ("rules/*.log",),
    "formats": ("optee/*", "ftrace/*", "tfa/console/*", "zynq/*.log", "emulated/*"),
    "transport": ("tfa/console/*",),
    "csv": ("zynq/*.csv.xz", "zynq/hostile.zip"),
    "vcd": ("zynq/*.vcd.xz", "zynq/hostile.zip"),
}
HEADS = {"csv": b"\n", "vcd": b"$enddefinitions $end\n"}


def contents(path: Path) -> Iterator[bytes]:
    """The bytes of a file, or of each member of an archive."""
    if path.suffix == ".gz":
        yield gzip.decompress(path.read_bytes())
    elif path.suffix == ".xz":
        yield lzma.decompress(path.read_bytes())
    elif path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            yield from (archive.read(name) for name in archive.namelist())
    else:
        yield path.read_bytes()


def pieces(data: bytes, head: bytes) -> Iterator[bytes]:
    """Whole lines from places spread over ``data``, each behind its head."""
    end = data.find(head) + len(head) if head else 0
    step = max(PIECE, (len(data) - end) // PIECES)
    for start in range(end, max(len(data), end + 1), step):
        begin = data.rfind(b"\n", end, start) + 1 if start > end else end
        yield data[:end] + data[begin : begin + PIECE]


def main(folder: str, target: str) -> None:
    """Write the pieces of every file of the target."""
    count = 0
    for pattern in FILES.get(target, ()):
        for path in (p for root in DATA for p in sorted(root.glob(pattern)) if p.is_file()):
            for data in contents(path):
                for piece in pieces(data, HEADS.get(target, b"")):
                    options = bytes([count * 7 % 32, count * 5 % 64])
                    Path(folder, f"shipped-{count:04}").write_bytes(options + piece)
                    count += 1


if __name__ == "__main__":
    main(*sys.argv[1:])

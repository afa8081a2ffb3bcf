"""FST, the compressed form in which Verilator, GHDL, Icarus and GTKWave write waves.

It is read by pywellen (the ``fst`` extra: a reader in Rust with streaming and little memory) or,
where that is not installed, through GTKWave's ``fst2vcd``. Either way the core sees the text of a
VCD; of pywellen only the signals that the core would keep, and of clocks only their edges.
"""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
from collections.abc import Mapping
from typing import Any

from .. import _core
from ..errors import InputError
from ..util.optional import need

__all__ = ["is_fst", "load"]

#: Bytes of fst2vcd's output that are handed on at a time.
PIECE = 1 << 20


def is_fst(head: bytes) -> bool:
    """Is it the header block of an FST, or a whole one that is compressed once more?"""
    return head[:9] == b"\0" + (329).to_bytes(8, "big") or (
        head[:1] == b"\xfe" and head[17:19] == b"\x1f\x8b"
    )


def load(path: str, options: Mapping[str, Any]) -> _core.Capture:
    """The FST as a finished capture of the core.

    Parameters
    ----------
    path : str
    options : mapping
        Of the core's capture: with pywellen only signals that it keeps are read.

    Raises
    ------
    InputError
        Neither pywellen nor fst2vcd is installed, or the file is damaged.
    """
    core = _core.Capture("vcd", **options)
    if importlib.util.find_spec("pywellen") is None and shutil.which("fst2vcd") is not None:
        _convert(core, path)
    else:
        try:
            pywellen = need("pywellen", "fst")
        except InputError as error:
            raise InputError(f"is an FST: {error}, or convert it: fst2vcd {path}") from error
        _stream(core, pywellen, path, options)
    core.finish()
    return core


def _convert(core: _core.Capture, path: str) -> None:
    with subprocess.Popen(["fst2vcd", "-f", path], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        while piece := process.stdout.read(PIECE):
            core.feed(piece)
    if process.returncode != 0:
        raise InputError(f"fst2vcd ended with status {process.returncode}")


def _code(number: int) -> str:
    """A VCD identifier."""
    text = ""
    while True:
        number, digit = divmod(number, 94)
        text += chr(33 + digit)
        if number == 0:
            return text


def _head(wave: Any, variables: list[Any], codes: Mapping[str, bytes]) -> bytes:
    """Definitions: full names in no scope."""
    lines = [f"$timescale {wave.timescale} $end"]
    for v in variables:
        width = v.bitwidth or 1
        kind = "wire" if v.is_1bit or v.is_bit_vector else "real"
        name = "_".join(v.full_name.split())
        bits = f" [{width - 1}:0]" if width > 1 and not name.endswith("]") else ""
        code = codes[str(v.signal_id)].decode().strip()
        lines.append(f"$var {kind} {width} {code} {name}{bits} $end")
    return ("\n".join(lines) + "\n$enddefinitions $end\n").encode()


def _stream(core: _core.Capture, pywellen: Any, path: str, options: Mapping[str, Any]) -> None:
    try:
        wave = pywellen.Waveform(path)
    except (RuntimeError, OSError, ValueError) as error:
        raise InputError(f"the FST cannot be read: {error}") from error
    variables = list(wave.all_vars())
    codes: dict[str, bytes] = {}
    for v in variables:
        blank = "" if v.is_1bit else " "
        codes.setdefault(str(v.signal_id), (blank + _code(len(codes))).encode())
    head = _head(wave, variables, codes)
    probe = _core.Capture("vcd", **options)
    probe.feed(head)
    probe.finish()
    table = probe.table("signals")
    stored = table.column("stored").astype("?").tolist()
    kept = (table.column("stored").astype("?") | table.column("clock").astype("?")).tolist()
    core.feed(head)
    changes = _core.Changes(core, codes)
    rest: list[Any] = []
    clocks: list[tuple[int, Any]] = []
    edges: set[bytes] = set()
    for row, (v, is_kept, is_stored) in enumerate(zip(variables, kept, stored, strict=False)):
        code = codes[str(v.signal_id)]
        if is_stored:
            rest.append(v)
        elif is_kept and code not in edges:  # a clock of which only the edges matter
            edges.add(code)
            clocks.append((row, v))
    taken = {str(v.signal_id) for v in rest}
    for row, v in clocks:
        if str(v.signal_id) not in taken:
            changes.clock(row)
            wave.stream_changes(changes.edge, [v])
    if rest:
        wave.stream_changes(changes.change, rest)
    changes.flush()

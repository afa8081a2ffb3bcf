"""FST, the compressed form in which Verilator, GHDL, Icarus and GTKWave write waves.

It is read by pywellen (the ``fst`` extra: a reader in Rust with streaming and little memory) or,
where that is not installed, through GTKWave's ``fst2vcd``. Either way the core sees the text of a
VCD; of pywellen only the signals that the core would keep.
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

#: Bytes of fst2vcd's output, and changes of pywellen's, that are handed on at a time.
PIECE, CHANGES = 1 << 20, 1 << 16

#: Values of a signal whose text is kept.
MOST_VALUES = 4096


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


def _head(wave: Any, variables: list[Any], codes: Mapping[str, str]) -> bytes:
    """Definitions: full names in no scope."""
    lines = [f"$timescale {wave.timescale} $end"]
    for v in variables:
        width = v.bitwidth or 1
        kind = "wire" if v.is_1bit or v.is_bit_vector else "real"
        name = "_".join(v.full_name.split())
        bits = f" [{width - 1}:0]" if width > 1 and not name.endswith("]") else ""
        lines.append(f"$var {kind} {width} {codes[str(v.signal_id)]} {name}{bits} $end")
    return ("\n".join(lines) + "\n$enddefinitions $end\n").encode()


def _stream(core: _core.Capture, pywellen: Any, path: str, options: Mapping[str, Any]) -> None:
    try:
        wave = pywellen.Waveform(path)
    except (RuntimeError, OSError, ValueError) as error:
        raise InputError(f"the FST cannot be read: {error}") from error
    variables = list(wave.all_vars())
    codes: dict[str, str] = {}
    for v in variables:
        codes.setdefault(str(v.signal_id), _code(len(codes)))
    head = _head(wave, variables, codes)
    probe = _core.Capture("vcd", **options)
    probe.feed(head)
    probe.finish()
    table = probe.table("signals")
    stored = table.column("stored").astype("?").tolist()
    kept = (table.column("stored").astype("?") | table.column("clock").astype("?")).tolist()
    wanted = [v for v, keep in zip(variables, kept, strict=False) if keep]
    valued = {str(v.signal_id) for v, keep in zip(variables, stored, strict=False) if keep}
    core.feed(head)
    if wanted:
        _feed_changes(core, wave, wanted, codes, valued)


class _Values(dict[Any, str]):
    """The VCD text of each value of a signal, made when it first occurs."""

    def __init__(self, before: str, behind: str) -> None:
        super().__init__()
        self.before, self.behind = before, behind

    def __missing__(self, value: int | str) -> str:
        digits = value if isinstance(value, str) else f"{value:b}"
        text = self.before + digits + self.behind
        if len(self) < MOST_VALUES:
            self[value] = text
        return text


class _Edges(dict[Any, str]):
    """Of a clock that is no value: only its rising edges are told, each with the level before."""

    def __init__(self, behind: str) -> None:
        super().__init__()
        self.behind = behind

    def __missing__(self, value: int | str) -> str:
        if value == 0:
            self[0], self[1] = "", f"0{self.behind}1{self.behind}"
        else:  # a level of which nothing is known before
            self.pop(0, None)
            self.pop(1, None)
        return f"{value}{self.behind}"


def _feed_changes(
    core: _core.Capture,
    wave: Any,
    wanted: list[Any],
    codes: Mapping[str, str],
    valued: set[str],
) -> None:
    """The changes in the order of time, as VCD text."""
    texts: dict[str, dict[Any, str]] = {}
    for v in wanted:
        key = str(v.signal_id)
        if not v.is_1bit:
            texts[key] = _Values("b", f" {codes[key]}\n")
        elif key in valued:
            texts[key] = _Values("", f"{codes[key]}\n")
        else:
            texts[key] = _Edges(f"{codes[key]}\n")
    out: list[str] = []
    add = out.append
    now = -1

    def change(time: int, signal: Any, value: int | str) -> None:
        nonlocal now
        text = texts[str(signal)][value]
        if not text:
            return
        if time == now:
            add(text)
            return
        now = time
        if len(out) > CHANGES:
            core.feed("".join(out).encode())
            out.clear()
        add(f"#{time}\n{text}")

    wave.stream_changes(change, wanted)
    core.feed("".join(out).encode())

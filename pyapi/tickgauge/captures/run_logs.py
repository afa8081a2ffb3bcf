"""Run logs of an accelerator: runs of one program, compared by row and by key.

>>> old, new = tg.read("v2018.2.log"), tg.read("v2019.1.log")     # doctest: +SKIP
>>> print(compare_runs(old, new))                                 # doctest: +SKIP
"""

from __future__ import annotations

import csv
import io
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .. import _core
from ..errors import InputError, NotComparableError, NotEnoughData
from ..frame.frame import Frame
from ..frame.grid import Grid
from ..reading.read import read
from ..sources.decompress import Unpacked
from ..util.text import number

__all__ = ["RunComparison", "RunKey", "bridge", "compare_runs", "published", "sync_notes"]


@dataclass(frozen=True, order=True)
class RunKey:
    """The subject of a run: the layer's shape, its kernel, and the options of the command."""

    shape: str
    kernel: str
    th: int | None
    type: str | None
    sync: bool

    def text(self) -> str:
        """As one reads it."""
        words = [self.shape, self.kernel]
        words += [] if self.th is None else [f"th={self.th}"]
        words += [self.type] if self.type else []
        return " ".join(words + (["--sync"] if self.sync else []))


def _runs(data: Any) -> Frame:
    frame = getattr(data, "runs", None)
    if not isinstance(frame, Frame) or not len(frame):
        raise NotEnoughData("the source holds no run of unit_test")
    return frame


def _times(data: Any) -> dict[RunKey, list[int]]:
    """Times of the runs that count, in the order of the log."""
    out: dict[RunKey, list[int]] = {}
    for r in _runs(data):
        if r["counted"]:
            key = RunKey(r["shape"], r["kernel"], r["th"], r["type"], r["sync"])
            out.setdefault(key, []).append(r["exec_us"])
    return out


def _median(values: Sequence[int]) -> float:
    """The median as ``tickgauge.compare`` has it: of an even number the geometric middle of two."""
    ordered, n = sorted(values), len(values)
    if n % 2 == 1:
        return ordered[n // 2]
    low, high = ordered[n // 2 - 1], ordered[n // 2]
    return math.sqrt(low * high) if low > 0 else (low + high) / 2


def _ratio(old: Sequence[int], new: Sequence[int]) -> float | None:
    """The change as ``tickgauge.compare`` has it: the median of all new / old; None without one."""
    if min(old) <= 0 or min(new) <= 0:
        return None
    ratios = sorted(math.log(y / x) for x in old for y in new)
    n = len(ratios)
    return math.exp((ratios[(n - 1) // 2] + ratios[n // 2]) / 2)


@dataclass(frozen=True)
class RunComparison:
    """Two run logs side by side.

    Attributes
    ----------
    rows : list of dict
        One a key: key, n_old, old, n_new, new (medians of its repeats in microseconds), percent,
        ratio (the median of all new / old). All are as `tickgauge.compare` has them.
    pairs : int
        Rows of the logs that were paired by their order within a key.
    mean_by_row, mean_by_key : float
        Geometric means of new / old over the pairs, and over the keys' ratios; NaN if none.
    unmatched : tuple of str
        Keys of one side only.
    """

    rows: list[dict[str, Any]]
    pairs: int
    mean_by_row: float
    mean_by_key: float
    unmatched: tuple[str, ...]

    @property
    def grid(self) -> Grid:
        """The table."""
        names = ("key", "n", "old", "n new", "new", "change", "ratio", "note")
        cells = []
        for r in self.rows:
            once = min(r["n_old"], r["n_new"]) == 1
            change = "-" if r["percent"] is None else f"{r['percent']:+.1f} %"
            ratio = "-" if r["ratio"] is None else f"x{number(r['ratio'], 3)}"
            note = "n = 1: no scatter is known" if once else None
            old, new = (int(v) if v == int(v) else number(v, 4) for v in (r["old"], r["new"]))
            row = [r["key"].text(), r["n_old"], old, r["n_new"], new]
            cells.append([*row, change, ratio, note])
        return Grid(names, cells)

    def lines(self) -> list[str]:
        """The lines below the table."""
        n = len(self.rows)
        out = [
            f"{n} {'key' if n == 1 else 'keys'} from {self.pairs} "
            f"{'row' if self.pairs == 1 else 'rows'}; geometric mean of new / old: "
            f"x{self.mean_by_row:.3f} by row, x{self.mean_by_key:.3f} by key "
            "(median of repeats)"
        ]
        out += [f"only on one side: {name}" for name in self.unmatched]
        return out

    def __repr__(self) -> str:
        return "\n".join([self.grid.to_text(), *self.lines()])

    def _repr_html_(self) -> str:
        return self.grid.to_html("; ".join(self.lines()))


def compare_runs(old: Any, new: Any) -> RunComparison:
    """Compare two run logs, matched by key and, within a key, by order.

    Parameters
    ----------
    old, new : Dataset
        As ``tickgauge.read`` gives them.

    Returns
    -------
    RunComparison
        It states the measured change; whether a change is more than scatter is the question of
        ``tickgauge.compare``.

    Raises
    ------
    NotEnoughData
        A side has no runs.
    NotComparableError
        The sides have no key in common.
    """
    a, b = _times(old), _times(new)
    rows: list[dict[str, Any]] = []
    pairs: list[float] = []
    for key in [k for k in a if k in b]:
        x, y, ratio = _median(a[key]), _median(b[key]), _ratio(a[key], b[key])
        rows.append(
            {
                "key": key,
                "n_old": len(a[key]),
                "old": x,
                "n_new": len(b[key]),
                "new": y,
                "percent": None if ratio is None else 100 * (ratio - 1),
                "ratio": ratio,
            }
        )
        pairs += [q / p for p, q in zip(a[key], b[key], strict=False) if p > 0 and q > 0]
    if not rows:
        raise NotComparableError("the logs have no run of the same parameters in common")
    ratios = [r["ratio"] for r in rows if r["ratio"]]
    one_sided = [k.text() for k in [*a, *b] if (k in a) != (k in b)]
    return RunComparison(rows, len(pairs), _mean(pairs), _mean(ratios), tuple(one_sided))


def _mean(ratios: Sequence[float]) -> float:
    return _core.geometric_mean(np.array(ratios, "f8"))[0] if ratios else math.nan


def sync_notes(*logs: Any) -> list[str]:
    """The totals of ``--sync`` runs beside the coherent runs of the same layer.

    Parameters
    ----------
    *logs : Dataset
    """
    runs = [r for data in logs for r in _runs(data) if r["counted"]]
    notes = []
    for s in runs:
        if s["total_us"] is None:
            continue
        text = (
            f"with --sync: {s['device_us']} + {s['exec_us']} = {s['total_us']} us "
            f"({s['shape']} {s['kernel']})"
        )
        peers = [
            r
            for r in runs
            if not r["sync"] and (r["shape"], r["kernel"]) == (s["shape"], s["kernel"])
        ]
        for r in peers:
            text += f"; coherent: {r['exec_us']} us"
            if r["th"] != s["th"]:
                text += f" (the keys differ in th as well: {s['th']} against {r['th']})"
        notes.append(text)
    return notes


def bridge(port: Any, data: Any, *, clock: int | None = None) -> list[str]:
    """The captured read set against the run's time: reads of the input, one after the other.

    Nothing in the files says that log and capture are of the same run: the caller does.

    Parameters
    ----------
    port : Port
        Of the capture; the read at its trigger, else the median read, stands for all.
    data : Dataset
        The run log.
    clock : int, optional
        In Hz; by default the capture's, else the log's ``fclkcfg`` line.

    Returns
    -------
    list of str
        One sentence a run.

    Raises
    ------
    NotEnoughData
        No complete read, or no clock.
    """
    reads = port.transactions.counted.reads
    if not len(reads):
        raise NotEnoughData("the capture has no complete read")
    at = reads.triggered
    order = np.argsort(reads.column("span").data, kind="stable")
    row = at.row(0) if len(at) else reads.row(int(order[(len(order) + 1) // 2 - 1]))
    out = []
    for r in _runs(data):
        if not r["counted"] or not row["bytes"]:
            continue
        hz = clock or port.capture.clock or r["clock_hz"]
        if not hz:
            raise NotEnoughData("no clock is known: --clock HZ, or a log with its fclkcfg line")
        n = -(-r["in_bytes"] // row["bytes"])
        micro = n * row["span"] / hz * 1e6
        out.append(
            f"{r['shape']} {r['kernel']}: {r['in_bytes']} bytes in reads of {row['bytes']}: {n} "
            f"reads x {row['span']} clocks at {number(hz / 1e6, 9)} MHz = {micro:.0f} us, "
            f"added up, though reads may overlap; measured {r['exec_us']} us"
        )
    return out


# ---- published tables ------------------------------------------------------------------------


def published(path: str | os.PathLike[str] | Iterable[Mapping[str, str]]) -> dict[str, Any]:
    """The published tables of run times, each as a data set.

    Parameters
    ----------
    path : path, or iterable of mappings
        A CSV with the columns source, commit, iw, ih, ic, oc, kw, kh, th, usec; plain or gz.

    Returns
    -------
    dict
        Commit to Dataset, in the order of the file.

    Raises
    ------
    InputError
        A column is missing, or it is no CSV.
    """
    try:
        rows = list(_csv_rows(path) if isinstance(path, (str, os.PathLike)) else path)
    except csv.Error as error:
        raise InputError(f"the table of run times is damaged: {error}", path=str(path)) from error
    texts: dict[str, list[str]] = {}
    for r in rows:
        try:
            name = r["commit"] or r["source"]
            shape = "x".join(r[k] for k in ("iw", "ih", "ic", "oc"))
            options = " ".join(f"-{k} {r[k]}" for k in ("iw", "ih", "ic", "oc", "kw", "kh", "th"))
            kernel, usec = f"{r['kw']}x{r['kh']}", r["usec"]
        except (KeyError, TypeError) as error:
            raise InputError(f"the table of run times has no column {error}") from error
        texts.setdefault(name, []).append(
            f"./unit_test {options} random\nFPGA exec time ({shape} {kernel}): {usec} [usec]\n"
            "[qconv_strip] test success!!!\n"
        )
    return {name: read("".join(lines).encode()) for name, lines in texts.items()}


def _csv_rows(path: str | os.PathLike[str]) -> Iterable[dict[str, str]]:
    with Path(path).open("rb") as file:
        text = b"".join(Unpacked(file, str(path))).decode("utf-8", "replace")
    return csv.DictReader(io.StringIO(text))

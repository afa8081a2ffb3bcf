"""Readings from anywhere: arrays into a data set, so that the comparison serves them too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from .._core import codes
from ..errors import InputError
from ..frame.frame import Column, Frame
from ..rules.formats import observation_of
from ..sources.digest import Digest
from ..units import parse_clock
from ..util.late import hashlib
from .dataset import Dataset, Part, SourceInfo

__all__ = ["from_columns"]

_TEXTS = ("format", "test", "metric", "operation", "place", "labels", "unit", "exchange")
#: A missing id, for the core.
NONE = np.uint32(0xFFFFFFFF)
_NUMBERS = ("cluster", "core", "cpu")


def from_columns(
    value: npt.ArrayLike,
    *,
    unit: Any = "ns",
    metric: Any = "value",
    test: Any = None,
    operation: Any = None,
    place: Any = None,
    cluster: Any = None,
    core: Any = None,
    cpu: Any = None,
    labels: Any = None,
    format: Any = "columns",
    exchange: Any = "none",
    boot: npt.ArrayLike | None = None,
    run: npt.ArrayLike | None = None,
    block: npt.ArrayLike | None = None,
    clock: int | float | str | None = None,
    exp10: int = 0,
    resolution: int = 1,
    better: Any = "lower",
    name: str = "<columns>",
) -> Dataset:
    """A data set from integer readings.

    Parameters
    ----------
    value : array_like of int, shape (n,)
        Stored integers: times ``10**exp10`` they are in `unit`. Floats are refused: scale them
        to integers, and say by how much with `exp10`.
    unit, metric, test, operation, place, format, exchange : str or array_like of str, shape (n,)
        The measurement. `exchange` is the class of cpus that a test may permute ("none",
        "cluster", "all").
    cluster, core, cpu : int or array_like of int, shape (n,), optional
        Where.
    labels : mapping of str to (str or array_like), or str, optional
        Anything else that tells keys apart.
    boot, run, block : array_like of int, shape (n,), optional
        Which boot (any integers; one boot if not given), run and block a reading belongs to.
    clock : int, float or str, optional
        Ticks per second, for the units "tick" and "cycle".
    exp10, resolution : int
        Power of ten, and step, of the stored integers.
    better : {"lower", "higher", "none"} or array_like of these, shape (n,)
        Which direction is better; one for each key.
    name : str
        How messages call the source.

    Returns
    -------
    Dataset

    Raises
    ------
    InputError
        Values are not whole numbers, lengths differ, a missing value among them, or readings of
        one key that differ in `better`.

    Examples
    --------
    >>> data = from_columns([10, 12, 11, 30], unit="tick", clock="50MHz", cpu=[0, 0, 1, 1])
    >>> data.readings.select(cpu=0).ns.tolist()
    [200.0, 240.0]
    """
    values = _integers(value, "value")
    n = len(values)
    given = {
        "format": format,
        "test": test,
        "metric": metric,
        "operation": operation,
        "place": place,
        "unit": unit,
        "exchange": exchange,
    }
    texts = [_text_column(name_, what, n) for name_, what in given.items()]
    texts.insert(_TEXTS.index("labels"), _label_column(labels, n))
    numbers = [
        _id_column(name_, what, n)
        for name_, what in zip(_NUMBERS, (cluster, core, cpu), strict=True)
    ]
    key, first = _factorised([column for column in (*texts, *numbers) if len(column) == n], n)
    hz = parse_clock(clock)
    own = [
        column.take(first if len(column) == n else np.zeros_like(first))
        for column in (*texts, *numbers)
    ]
    keys = _keys(own, hz, exp10, resolution, _direction(better, n, key, first))
    boots, boot_rows = _boots(boot, n, hz)
    readings = Frame(
        [
            Column.of("key", key),
            Column.of("source", np.zeros(n, "u4")),
            Column.of("boot", boot_rows),
            _counted("run", run, n),
            _counted("block", block, n),
            Column.of("value", values),
            Column.of("line", np.zeros(n, "u8"), np.zeros(n, "?")),
            Column.of("offset", np.zeros(n, "u8"), np.zeros(n, "?")),
        ],
        "readings",
    )

    def digest() -> str:
        told = readings.to_structured().tobytes() + repr(list(keys)).encode()
        return hashlib.sha256(told).hexdigest()

    info = SourceInfo(name, form="columns", identity=Digest(n, digest), records=n)
    return Dataset([Part([info], {"boots": boots, "keys": keys, "readings": readings})])


def _integers(value: npt.ArrayLike, name: str) -> npt.NDArray[np.int64]:
    array = np.asarray(value)
    if array.ndim != 1:
        raise InputError(f"{name} has {array.ndim} dimensions, not one")
    if array.size and array.dtype.kind not in "iu":
        raise InputError(
            f"{name} is {array.dtype}, not an integer type: scale it and give the power of ten "
            "as exp10"
        )
    if array.dtype.kind == "u" and array.size and array.max() > np.iinfo("i8").max:
        raise InputError(f"{name} goes beyond 2^63-1")
    return np.ascontiguousarray(array, dtype="i8")


def _is_one(what: Any) -> bool:
    """Whether an argument holds for all rows."""
    return what is None or isinstance(what, (str, bytes, int, np.integer))


def _items(name: str, what: Any, n: int) -> list[Any]:
    """An argument as one item a row."""
    if _is_one(what):
        return [what] * n
    array = what if isinstance(what, np.ndarray) else np.array(what, "O")
    if array.shape != (n,):
        raise InputError(f"{name} has shape {array.shape}, value has {n} readings")
    items: list[Any] = array.tolist()
    return items


def _coded(name: str, what: Any, n: int) -> tuple[npt.NDArray[np.uint32], list[Any]]:
    """The code of each row's item, and the distinct items in order of first use.

    Of an argument that holds for all rows there is one row.
    """
    if _is_one(what):
        return np.zeros(1, "u4"), [what]
    items = _items(name, what, n)
    code = {item: i for i, item in enumerate(dict.fromkeys(items))}
    return np.fromiter(map(code.__getitem__, items), "u4", n), list(code)


def _text_column(name: str, what: Any, n: int) -> Column:
    code, items = _coded(name, what, n)
    return _worded(name, code, [None if v is None or v == "" else v for v in items])


def _worded(name: str, code: npt.NDArray[np.uint32], items: list[Any]) -> Column:
    """A text column whose row i has the text of ``items[code[i]]``."""
    texts = Column.of(name, np.array([*items, None], "O"))
    number, present = texts.data[code], None if texts.valid is None else texts.valid[code]
    return Column(name, "text", lambda: (number, present), texts.words)


def _id_column(name: str, what: Any, n: int) -> Column:
    if what is None:
        return Column(name, "u32", lambda: (np.zeros(1, "u4"), np.zeros(1, "?")))
    if isinstance(what, np.ndarray) and what.dtype.kind in "iu" and what.shape == (n,):
        return _counted(name, what, n)
    code, items = _coded(name, what, n)
    missing = np.array([v is None for v in items], "?")
    ids = _integers(np.array([0 if v is None else v for v in items]), name)
    return _counted(name, ids[code], len(code), ~missing[code])


def _counted(
    name: str, what: npt.ArrayLike | None, n: int, valid: npt.NDArray[np.bool_] | None = None
) -> Column:
    if what is None:
        return Column.of(name, np.zeros(n, "u4"), type="u32")
    ids = _integers(what, name)
    if len(ids) != n:
        raise InputError(f"{name} has {len(ids)} values, value has {n}")
    if n and (ids.min() < 0 or ids.max() >= 2**32 - 1):
        raise InputError(f"{name} lies outside 0 .. 2^32-2")
    return Column.of(name, ids.astype("u4"), valid, "u32")


def _label_column(labels: Any, n: int) -> Column:
    """``name=value`` pairs sorted by name, as the core writes them."""
    if not isinstance(labels, Mapping):
        return _text_column("labels", labels, n)
    if not labels:
        return _text_column("labels", None, n)
    coded = [(name, *_coded(name, labels[name], n)) for name in sorted(labels)]
    code, first = codes([np.broadcast_to(one, n) for _, one, _ in coded])
    texts = [" ".join(f"{k}={items[one[i]]}" for k, one, items in coded) for i in first]
    return _worded("labels", code, texts)


def _factorised(columns: list[Column], n: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """The number of each row's key in order of first use, and the first row of each key."""
    if not columns:
        return np.zeros(n, "u4"), np.zeros(min(n, 1), "i8")
    code, first = codes(
        [
            column.data if column.valid is None else np.where(column.valid, column.data, NONE)
            for column in columns
        ]
    )
    order = np.argsort(first)
    rank = np.empty(len(order), "u4")
    rank[order] = np.arange(len(order), dtype="u4")
    return rank[code], first[order]


def _direction(
    better: Any, n: int, key: npt.NDArray[Any], first: npt.NDArray[Any]
) -> npt.NDArray[np.object_]:
    """Which direction is better, a word for each key."""
    code, words = _coded("better", better, n)
    for word in words:
        if word not in ("lower", "higher", "none"):
            raise InputError(f"better is lower, higher or none, not {word!r}")
    own = np.broadcast_to(code, n)[first]
    if len(words) > 1 and (code != own[key]).any():
        raise InputError("better differs between readings of one key")
    directions: npt.NDArray[np.object_] = np.array(words, "O")[own]
    return directions


def _keys(
    columns: list[Column],
    hz: int | None,
    exp10: int,
    resolution: int,
    better: npt.NDArray[np.object_],
) -> Frame:
    n = len(columns[0])
    own = {column.name: column for column in columns}
    return Frame(
        [
            *(own[name] for name in (*_TEXTS, *_NUMBERS)),
            Column.of("exp10", np.full(n, exp10, "i8")),
            Column.of("clock_hz", np.full(n, hz or 0, "u8"), np.full(n, hz is not None)),
            Column.of("origin", np.full(n, None if hz is None else "option", "O")),
            Column.of("resolution", np.full(n, resolution, "u8")),
            Column.of("better", better),
            Column.of(
                "observation",
                np.array([observation_of(name) for name in own["format"].cells()], "O"),
            ),
        ],
        "keys",
    )


def _boots(boot: npt.ArrayLike | None, n: int, hz: int | None) -> tuple[Frame, npt.NDArray[Any]]:
    ids = np.zeros(n, "i8") if boot is None else _integers(boot, "boot")
    if len(ids) != n:
        raise InputError(f"boot has {len(ids)} values, value has {n}")
    if n and ids.min() < 0:
        distinct, back = np.unique(ids, return_inverse=True)
        rows, m = back.reshape(-1).astype("u4"), len(distinct)
    else:
        rows, first = codes([ids])
        m = len(first)
    none = np.zeros(m, "?")
    texts = ("reason", "chain", "version", "platform", "build", "built")
    return (
        Frame(
            [
                Column.of("source", np.zeros(m, "u4")),
                Column.of("boot", np.arange(m, dtype="u4")),
                Column.of("first_line", np.zeros(m, "u8"), none),
                Column.of("first_offset", np.zeros(m, "u8"), none),
                *(Column.of(name, np.full(m, None, "O")) for name in texts),
                Column.of("clock_hz", np.full(m, hz or 0, "u8"), np.full(m, hz is not None)),
            ],
            "boots",
        ),
        rows,
    )

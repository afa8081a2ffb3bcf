"""``data.plot``: the plots of a data set, chosen by the columns of its readings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import numpy.typing as npt

from .._core import ladder as fit_ladder
from ..errors import InputError, UnknownName
from ..frame.frame import Frame
from ..frame.readings import Readings, ns_factors
from . import calls, deltas, distributions
from .drawn import DataLike
from .style import Floats, Series

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Columns that name a series, in the order of its label; "cpu" stands for any name of the cpu.
LABELLING = ("test", "operation", "metric", "cpu", "labels")
#: More lines than this on one Axes cannot be told apart.
MOST = 7

HOPS = (
    "client_to_driver",
    "driver_to_tee",
    "tee_to_ta",
    "ta_to_tee",
    "tee_to_driver",
    "driver_to_client",
)


class DatasetPlot:
    """Plots of a data set; each takes ``ax=`` and column values to select, and returns Axes.

    >>> data.plot.ecdf(metric="wakeup")                 # doctest: +SKIP
    >>> data.plot.strip(test="cpu_off_serial", metric="powerdown", ax=ax)   # doctest: +SKIP
    """

    def __init__(self, data: DataLike) -> None:
        self._data = data

    def __repr__(self) -> str:
        return f"plots of {self._data.headline()}: {self._kinds()}"

    def __call__(self, *_: Any, **__: Any) -> NoReturn:
        """No plot is the plot of a data set: tells which there are."""
        raise TypeError(f"choose a plot: data.plot.NAME(...), NAME one of {self._kinds()}")

    def _kinds(self) -> str:
        return ", ".join(name for name in dir(self) if not name.startswith("_"))

    def _chosen(self, where: dict[str, Any]) -> Readings:
        readings: Readings = self._data.readings.select(**where) if where else self._data.readings
        return readings.spread()

    # ---- where readings lie -----------------------------------------------------------------

    def ecdf(
        self,
        ax: Axes | None = None,
        *,
        by: str | Sequence[str] | None = None,
        quantiles: Sequence[float] = (0.5, 0.9, 0.99),
        log: bool | None = None,
        title: str = "",
        **where: Any,
    ) -> Axes:
        """Empirical distribution functions, with the tick grid and quantile marks.

        Parameters
        ----------
        ax : Axes, optional
        by : str or sequence of str, optional
            Columns that part the readings into lines: of the key ("test", "metric", "operation",
            "cluster", "core", "cpu", "place", "labels"), "boot", "source", or of the boots
            ("version", "platform", "build"). By default those that tell the selected keys apart,
            as far as seven lines go.
        quantiles : sequence of float
            Marked where n is large enough to tell them.
        log : bool, optional
        title : str
        **where
            Column values to select, as in `Dataset.select`.
        """
        readings = self._chosen(where)
        series = series_of(readings, by, boots=self._data.boots)
        title = title or common_title(readings)
        return distributions.ecdf(series, ax, quantiles=quantiles, log=log, title=title)

    def histogram(
        self,
        ax: Axes | None = None,
        *,
        by: str | Sequence[str] | None = None,
        bins: int | None = None,
        log: bool | None = None,
        title: str = "",
        **where: Any,
    ) -> Axes:
        """Counts in bins whose edges lie between ticks. Parameters as of `ecdf`."""
        readings = self._chosen(where)
        series = series_of(readings, by, boots=self._data.boots)
        title = title or common_title(readings)
        return distributions.histogram(series, ax, bins=bins, log=log, title=title)

    def strip(
        self,
        ax: Axes | None = None,
        *,
        kind: str = "strip",
        log: bool | None = None,
        title: str = "",
        **where: Any,
    ) -> Axes:
        """A column of points (or a violin) per CPU, coloured by cluster.

        Parameters
        ----------
        kind : {"strip", "violin"}
        **where
            Column values to select; one test and metric make a readable plot.
        """
        readings = self._chosen(where)
        series = series_of(readings, "cpu", 64)
        title = title or common_title(readings)
        return distributions.strip(series, ax, kind=kind, log=log, title=title)

    def pairs(
        self,
        ax: Axes | None = None,
        *,
        x: str = "powerdown",
        y: str = "wakeup",
        title: str = "",
        **where: Any,
    ) -> Axes:
        """Suspend against wakeup of each CPU: two metrics of the same line against each other.

        Parameters
        ----------
        x, y : str
            Metrics.
        **where
            Column values to select, for example ``test="cpu_susp_serial"``.
        """
        readings = self._chosen(where)
        both = [readings.select(metric=metric) for metric in (x, y)]
        labels = [series_of(one, "cpu", 64, places=True) for one in both]
        first = {s.label: s for s in labels[0]}
        second = {s.label: s for s in labels[1]}
        shared = [label for label in first if label in second]
        pairs = [_paired(first[label], second[label]) for label in shared]
        return distributions.pairs(
            [p[0] for p in pairs], [p[1] for p in pairs], ax, title=title, names=(x, y)
        )

    def timeline(
        self,
        ax: Axes | None = None,
        *,
        by: str | Sequence[str] | None = None,
        log: bool | None = None,
        title: str = "",
        **where: Any,
    ) -> Axes:
        """Readings over boots, in the order in which they were read. Parameters as of `ecdf`."""
        readings = self._chosen(where)
        series = series_of(readings, by, boots=self._data.boots)
        title = title or common_title(readings)
        return distributions.timeline(series, ax, log=log, title=title)

    def ladder(self, ax: Axes | None = None, *, title: str = "", **where: Any) -> Axes:
        """Sorted readings of one parallel test against their rank: base cost and cost per waiter.

        Parameters
        ----------
        **where
            Must leave one metric of one test: ``test="cpu_susp_parallel", metric="powerdown"``.
            Every boot is a line of its own; beyond seven boots the mean of the sorted vectors.

        Raises
        ------
        InputError
            Several tests or metrics are left, or boots of different numbers of cpus.
        """
        readings = self._chosen(where)
        _one_test(readings)
        series = _sorted_vectors(readings)
        lines = []
        for one in series:
            ordered = np.sort(one.values)
            fit = fit_ladder(ordered) if ordered.size > 1 else (float(ordered[0]), 0.0, 0.0, 0.0)
            lines.append((one, float(fit[0]), float(fit[1])))
        return deltas.ladder(lines, ax, title=title or common_title(readings))

    if not TYPE_CHECKING:  # a checker knows the plots

        def __getattr__(self, name: str) -> Any:
            known = ", ".join(n for n in dir(type(self)) if not n.startswith("_"))
            raise AttributeError(f"no plot {name!r}; there are: {known}", name=name, obj=self)

    # ---- TEE calls --------------------------------------------------------------------------

    def hops(
        self,
        ax: Axes | None = None,
        *,
        operation: str = "invoke",
        kind: str = "waterfall",
        log: bool | None = None,
        title: str = "",
        **where: Any,
    ) -> Axes:
        """The hops of a TEE call, from the client to the trusted application and back.

        Parameters
        ----------
        operation : str
            "open" or "invoke".
        kind : {"waterfall", "distribution"}
            The median of each hop one after the other, of calls that have all hops that any
            call has, or how each hop scatters.
        **where
            More column values to select, for example ``labels=None`` for all but first calls.
        """
        readings = self._chosen({"format": "optee", "operation": operation, **where})
        if kind == "waterfall":
            readings = _whole_calls(readings)
        here = set(readings.metric)
        names = [hop for hop in HOPS if hop in here]
        series = [_merged(readings.select(metric=hop), hop.replace("_", " ")) for hop in names]
        if kind == "distribution":
            return calls.hop_distribution(series, ax, log=log, title=title)
        if kind != "waterfall":
            raise ValueError(f"kind is 'waterfall' or 'distribution', not {kind!r}")
        medians = [distributions.inverted_cdf(np.sort(s.values), 0.5) for s in series]
        counts = sorted({s.values.size for s in series})
        n = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}" if counts else ""
        steps = list(zip([s.label for s in series], medians, strict=True))
        return calls.waterfall(steps, ax, n=n, title=title or f"{operation}: median of each hop")


def _whole_calls(readings: Readings) -> Readings:
    """The calls of those labels that have the most hops: medians of unlike sets do not add up."""
    labels, hops = _texts(readings, "labels"), _texts(readings, "metric")
    wanted = np.isin(hops, HOPS)
    has = {label: set(hops[wanted & (labels == label)]) for label in dict.fromkeys(labels)}
    most = max((len(found) for found in has.values()), default=0)
    kept = [label for label, found in has.items() if len(found) == most]
    chosen: Readings = readings[np.flatnonzero(np.isin(labels, kept))]
    return chosen


def _one_test(readings: Readings) -> None:
    """InputError where a ladder would go through unlike keys."""
    for name in ("test", "operation", "metric", "labels"):
        found = sorted(set(_texts(readings, name)))
        if len(found) > 1:
            shown = ", ".join(repr(word) for word in found[:4]) + (" ..." if found[4:] else "")
            raise InputError(
                f"a ladder is of one test and metric, these are of {len(found)} of {name}: "
                f"{shown}; select one, for example {name}={found[-1]!r}"
            )


def _sorted_vectors(readings: Readings) -> list[Series]:
    """The readings of each boot, sorted; the mean of these where there are many boots."""
    boots = len(np.unique(readings.column("boot").data))
    series = series_of(readings, "boot", max(MOST, boots))
    if boots <= MOST:
        return series
    sizes = {one.values.size for one in series}
    if len(sizes) > 1:
        raise InputError(
            f"boots of {min(sizes)} to {max(sizes)} readings have no mean: select boots of one "
            "board, for example by boot=[...] or with the board's own data set"
        )
    rows = [np.sort(one.values) for one in series]
    label = f"mean of {len(rows)} boots"
    return [replace(series[0], label=label, values=np.mean(rows, axis=0), boots=None)]


def renamed(series: Series, label: str) -> Series:
    """The same readings under another label."""
    return replace(series, label=label)


def _merged(readings: Readings, label: str) -> Series:
    """All selected readings as one series."""
    values, resolution, unit = _values(readings)
    return Series(label, values, float(resolution.max(initial=0.0)), unit=unit)


def _values(readings: Readings) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], str]:
    """Values, resolution of each, and their common unit: ns where every key has a clock."""
    keys = readings.keys
    which = readings.column("key").data
    used = np.unique(which)
    factors = ns_factors(keys)
    step = np.array([float(r) for r in keys["resolution"].tolist()])
    if all(factors[int(k)] is not None for k in used):
        scale = np.array([float(f) if f is not None else np.nan for f in factors])
        return readings.ns, (step * scale)[which] if which.size else step[:0], "ns"
    units = {str(keys["unit"][int(k)]) for k in used}
    if len(units) > 1:
        raise InputError(
            f"the selection mixes {', '.join(sorted(units))}: select one metric, or read with "
            "clock=HZ so that ticks become nanoseconds"
        )
    scale = 10.0 ** np.array([int(e) for e in keys["exp10"].tolist()], dtype=float)
    return readings.column("value").data * scale[which], (step * scale)[which], units.pop()


def _cpu_columns(readings: Readings) -> tuple[str, ...]:
    """The columns that name a CPU in this selection."""
    for columns in (("cluster", "core"), ("place",), ("cpu",)):
        if all(_known(readings, name) for name in columns):
            return columns
    return ("place",)


def _known(readings: Readings, name: str) -> bool:
    column = readings.column(name)
    return len(readings) > 0 and (column.valid is None or bool(column.valid.any()))


def _texts(frame: Frame, name: str) -> npt.NDArray[np.object_]:
    """A column as text, "" where missing."""
    words = ["" if v is None else str(v) for v in frame.column(name).cells()]
    return np.array(words, dtype=object)


def _labels(
    readings: Readings, columns: Sequence[str], boots: Frame | None = None
) -> npt.NDArray[np.object_]:
    """One text a reading made of those columns, missing parts left out; "cpu" is 0,1 or 3.

    A column that the readings lack is taken from `boots`, by the boot of each reading.
    """
    out = np.full(len(readings), "", dtype=object)
    for name in columns:
        here = _cpu_columns(readings) if name == "cpu" else (name,)
        if boots is not None and name not in readings.columns:
            known = [_texts(boots, name)[readings.column("boot").data]]
        else:
            known = [_texts(readings, c) for c in here]
        words = known[0]
        if len(known) > 1:
            words = np.where(words != "", words + "," + known[1], "").astype(object)
        gap = np.where((out != "") & (words != ""), " ", "").astype(object)
        out = out + gap + words
    return out


def _default_columns(readings: Readings, most: int) -> list[str]:
    """The labelling columns that vary, as many as keep the number of series within `most`."""
    used = readings[np.unique(readings.column("key").data, return_index=True)[1]]
    chosen: list[str] = []
    for name in LABELLING:
        if len(set(_labels(used, [name]))) < 2:
            continue
        if len(set(_labels(used, [*chosen, name]))) > most:
            break
        chosen.append(name)
    return chosen


def common_title(readings: Readings) -> str:
    """The test, operation and metric that all readings have in common."""
    words = []
    for name in ("test", "operation", "metric"):
        found = set(_labels(readings, [name]))
        if len(found) == 1:
            words.append(found.pop())
    return " ".join(word for word in words if word)


#: Columns whose values are bare numbers, which a legend names.
_NUMBERED = ("boot", "source", "core", "cluster")


def series_of(
    readings: Readings,
    by: str | Sequence[str] | None,
    most: int = MOST,
    *,
    places: bool = False,
    boots: Frame | None = None,
) -> list[Series]:
    """Readings parted into series.

    Parameters
    ----------
    readings : Readings
    by : str, sequence of str or None
        Columns that part them; None = those that tell the keys apart.
    most : int
        Series that may come out.
    places : bool
        Keep boot and block of every reading in `Series.boots`, so that two metrics of one line
        can be paired; otherwise the boot alone.
    boots : Frame, optional
        The data set's boots, whose columns (version, platform, build) can part readings, too.

    Raises
    ------
    InputError
        Units are mixed, or there would be more than `most` series; the message says how to go on.
    """
    if not len(readings):
        raise InputError("nothing to plot: the selection has no readings")
    values, resolution, unit = _values(readings)
    columns = (
        _default_columns(readings, most)
        if by is None
        else ([by] if isinstance(by, str) else list(by))
    )
    known = [*readings.columns, *(boots.columns if boots is not None else ())]
    unknown = [c for c in columns if c not in known]
    if unknown:
        raise UnknownName(f"no column {unknown[0]!r}; there are: {', '.join(dict.fromkeys(known))}")
    if not columns and not places:
        return [_whole(readings, values, float(resolution.max(initial=0.0)), unit)]
    labels = _labels(readings, columns, boots) if columns else np.full(len(readings), "all", object)
    if by is not None and len(columns) == 1 and columns[0] in _NUMBERED:  # "boot 0", not "0"
        labels = np.array([label and f"{columns[0]} {label}" for label in labels], object)
    names = list(dict.fromkeys(labels))
    if len(names) > most:
        raise InputError(
            f"{len(names)} series on one plot: select fewer keys, or part them by fewer columns "
            f"(by=...); columns in use: {', '.join(columns)}"
        )
    order = readings.column("boot").data.astype(np.int64)
    if places:
        order = order * (1 << 32) + readings.column("line").data.astype(np.int64)
    groups = _labels(readings, ("cluster",)) if _known(readings, "cluster") else None
    out = []
    for name in names:
        here = labels == name
        group = f"cluster {groups[here][0]}" if groups is not None and groups[here][0] else ""
        step = float(resolution[here].max(initial=0.0))
        out.append(Series(name or "other", values[here], step, group, unit, order[here]))
    return out


def _whole(readings: Readings, values: Floats, step: float, unit: str) -> Series:
    """All readings as one series."""
    groups = _labels(readings.head(1), ("cluster",)) if _known(readings, "cluster") else [""]
    group = f"cluster {groups[0]}" if groups[0] else ""
    boots = readings.column("boot").data.astype(np.int64)
    return Series("all", values, step, group, unit, boots)


def _paired(a: Series, b: Series) -> tuple[Series, Series]:
    """Both series cut down to the lines that have both, in the same order."""
    assert a.boots is not None
    assert b.boots is not None
    _, left, right = np.intersect1d(a.boots, b.boots, return_indices=True)
    return (
        Series(a.label, a.values[left], a.resolution, a.group, a.unit),
        Series(b.label, b.values[right], b.resolution, b.group, b.unit),
    )

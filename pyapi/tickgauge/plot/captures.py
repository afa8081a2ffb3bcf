"""Pictures of a capture: lanes of a time range, two captures side by side, latency, open ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..util.optional import need
from . import style
from .drawn import CaptureLike, PortLike

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["CapturePlots", "against", "lanes", "latency", "outstanding"]

_STATES = {"beat": "#009E73", "stall": "#D55E00", "starve": "#CC79A7", "unknown": "#000000"}
_DIRECTIONS = {"read": "#0072B2", "write": "#E69F00"}

#: A span is drawn at least this part of the picture wide, so that one clock stays visible.
LEAST_WIDTH = 1 / 500

#: Points that a letter of an address takes, and what is free beside it.
LETTER, BESIDE = 4.4, 4.0

#: Rows of bars below the lanes.
MOST_ROWS = 12


def _end(txn: Mapping[str, Any]) -> int | None:
    end = txn["data_last"] if txn["direction"] == "read" else txn["b_accept"]
    return None if end is None else int(end)


def _slowest_read(port: PortLike) -> Mapping[str, Any] | None:
    """The slowest read that is told: of lower bounds, where there is nothing better."""
    best = None
    for part in (port.transactions.counted, port.transactions.bounds):
        reads = part[part["direction"] == "read"]
        if len(reads):
            best = reads.row(int(np.argmax(reads.column("span").data)))
            break
    return best


def _centre(port: PortLike) -> Mapping[str, Any] | None:
    """The transaction at the trigger, else the slowest read."""
    for txn in port.transactions.triggered:
        if _end(txn) is not None:
            return dict(txn)
    return _slowest_read(port)


def _default_range(port: PortLike, around: int = 300) -> tuple[int, int]:
    """The transaction at the trigger, or the slowest read, with a margin; else the beginning."""
    last_sample = max(0, port.samples - 1)
    txn = _centre(port)
    if txn is None:
        return 0, min(last_sample, around)
    end = _end(txn) or last_sample
    margin = max(16, (end - txn["ax_valid"]) // 10)
    return max(0, txn["ax_valid"] - margin), min(last_sample, end + margin)


def lanes(
    port: PortLike,
    first: int | None = None,
    last: int | None = None,
    ax: Axes | None = None,
    *,
    title: str = "",
    origin: int = 0,
) -> Axes:
    """A lane a channel: where it beats, stalls or starves; transactions as bars below.

    A channel starves while its side has nothing to give to a transaction that is open; without one
    it is idle, and nothing is drawn. Spans in which a read is open, writes flow and no read data
    moves are shaded. A span shorter than 1/500 of the picture is drawn that wide.

    Parameters
    ----------
    port : Port
    first, last : int, optional
        Samples; by default the transaction at the trigger, or the slowest read, with a margin.
    origin : int
        Sample that is drawn as 0.
    """
    default = _default_range(port)
    first = default[0] if first is None else first
    last = default[1] if last is None else last
    frame = port.lanes(first, last)
    ax = style.new_axes(ax)
    names = [c for c in ("AR", "R", "AW", "W", "B") if c in set(frame["channel"])]
    place = {name: len(names) - 1 - i for i, name in enumerate(names)}
    channel, state = frame["channel"], frame["state"]
    starts = frame.column("first").data.astype("f8") - origin
    widths = frame.column("last").data.astype("f8") - origin - starts + 1
    widths = np.maximum(widths, (last + 1 - first) * LEAST_WIDTH)
    for word, colour in _STATES.items():
        label: str | None = word
        for name in names:
            here = (channel == name) & (state == word)
            if here.any():
                spans = list(zip(starts[here], widths[here], strict=True))
                order = 3 if word == "beat" else 2
                ax.broken_barh(
                    spans,
                    (place[name] - 0.35, 0.7),
                    facecolors=colour,
                    label=label,
                    zorder=order,
                )
                label = None
    _bars(ax, port, first, last, len(names), origin)
    _shade(ax, port, first, last, origin)
    ax.set_yticks([*place.values()], [*place])
    ax.set_xlim(first - origin, last + 1 - origin)
    ax.set(xlabel="sample [clocks]", title=title or port.name)
    _plain_numbers(ax, "x")
    ax.legend(frameon=False, fontsize="small", ncols=4, loc="upper left", bbox_to_anchor=(0, -0.12))
    return style.finish(ax, grid="x")


def _plain_numbers(ax: Axes, which: str) -> None:
    """Ticks as whole numbers with their thousands apart, never as 1e+06 or with an offset."""
    axis = getattr(ax, f"{which}axis")
    ticker = need("matplotlib.ticker", "plot")
    axis.set_major_formatter(ticker.FuncFormatter(lambda x, _: f"{x:,.0f}".replace(",", " ")))
    axis.set_major_locator(ticker.MaxNLocator(8, integer=True))


def _bars(ax: Axes, port: PortLike, first: int, last: int, lanes_: int, origin: int) -> None:
    """Transactions of the range as bars, each on the first free row, with their addresses."""
    rows: list[int] = []
    named: set[str] = set()
    points = ax.get_window_extent().width * 72 / ax.figure.dpi
    clocks_a_point = (last + 1 - first) / max(points, 1)
    for t in port.transactions:
        start = t["ax_valid"] if t["ax_valid"] is not None else t["data_first"]
        end = _end(t)
        end = port.samples - 1 if end is None or t["status"] == "incomplete" else end
        if start is None or end < first or start > last:
            continue
        row = next((i for i, free in enumerate(rows) if free < start), len(rows))
        rows[row : row + 1] = [end]
        if row >= MOST_ROWS:
            continue
        name = f"{t['direction']} at the trigger" if t["trigger"] else t["direction"]
        ax.broken_barh(
            [(start - origin, max(end - start + 1, (last + 1 - first) * LEAST_WIDTH))],
            (-1.2 - 0.6 * row, 0.45),
            facecolors=_DIRECTIONS[t["direction"]],
            alpha=0.9 if t["trigger"] else 0.5,
            edgecolor="black" if t["trigger"] else "none",
            label=None if name in named else name,
        )
        named.add(name)
        low, high = max(start, first), min(end, last)
        word = "" if t["addr"] is None else f"0x{t['addr']:x}"
        if word and high + 1 - low >= (LETTER * len(word) + BESIDE) * clocks_a_point:
            ax.text(
                (low + high + 1) / 2 - origin,
                -0.98 - 0.6 * row,
                word,
                ha="center",
                va="center",
                fontsize="x-small",
                color="white" if t["trigger"] else "black",
                clip_on=True,
            )
    ax.set_ylim(-1.3 - 0.6 * max(1, min(MOST_ROWS, len(rows))), lanes_ - 0.3)


def _shade(ax: Axes, port: PortLike, first: int, last: int, origin: int) -> None:
    label: str | None = "reads blocked"
    for block in port.blocks:
        if block["w_beats"] >= 16 and block["last"] >= first and block["first"] <= last:
            ax.axvspan(
                block["first"] - origin,
                block["last"] + 1 - origin,
                color="0.5",
                alpha=0.18,
                linewidth=0,
                label=label,
                zorder=0,
            )
            label = None


def against(old: PortLike, new: PortLike, *, names: tuple[str, str] = ("old", "new")) -> Figure:
    """Two captures: their lanes around the slowest read, aligned, and the spans of both.

    The clock at which the read is asked for is 0 in both; both show as many clocks. Below are the
    shares of counted reads and writes that take at most so long.

    Parameters
    ----------
    old, new : Port
    names : pair of str
        The names of the two.
    """
    plt = need("matplotlib.pyplot", "plot")
    figure: Figure
    figure, axes = plt.subplots(
        3, 1, figsize=(10, 10), height_ratios=(3, 3, 2), layout="constrained"
    )
    centres = [_pick(port, other) for port, other in ((old, new), (new, old))]
    length = max((_end(t) or 0) - t["ax_valid"] if t is not None else 300 for t in centres)
    margin = max(16, length // 10)
    for ax, port, name, txn in zip(axes, (old, new), names, centres, strict=False):
        begin = 0 if txn is None else int(txn["ax_valid"])
        lanes(
            port,
            max(0, begin - margin),
            min(port.samples - 1, begin + length + margin),
            ax,
            title=f"{name}: {port.finding.rpartition('; ')[2]}",
            origin=begin,
        )
        ax.set_xlim(-margin, length + margin + 1)
        ax.set_xlabel("")
        handles = ax.get_legend()
        if handles is not None and ax is axes[0]:
            handles.remove()
    axes[1].set_xlabel("clocks from ARVALID of the read")
    _spans(axes[2], (old, new), names)
    return figure


def _pick(port: PortLike, other: PortLike) -> Mapping[str, Any] | None:
    """The read at the trigger where both have one of the same address, else the slowest."""
    theirs = {(t["direction"], t["addr"]) for t in other.transactions.triggered}
    for t in port.transactions.triggered:
        if t["direction"] == "read" and (t["direction"], t["addr"]) in theirs and _end(t):
            return dict(t)
    return _slowest_read(port)


def _spans(ax: Axes, ports: tuple[PortLike, PortLike], names: tuple[str, str]) -> None:
    """The share of counted transactions that take at most so long."""
    for port, name, dashes in zip(ports, names, ("--", "-"), strict=True):
        part = port.transactions.counted
        for direction, colour in _DIRECTIONS.items():
            values = np.sort(part.column("span").data[part["direction"] == direction])
            if not len(values):
                continue
            share = np.arange(1, len(values) + 1) / len(values)
            ax.step(
                np.concatenate([values[:1], values]),
                np.concatenate([[0.0], share]),
                where="post",
                color=colour,
                linestyle=dashes,
                label=style.counted(f"{direction}, {name}", len(values)),
            )
    ax.set(xlabel="span [clocks]", ylabel="share at most", ylim=(0, 1.02))
    _plain_numbers(ax, "x")
    if ax.get_lines():
        style.legend(ax)
    style.finish(ax)


def latency(
    port: PortLike, ax: Axes | None = None, *, metric: str = "span", title: str = ""
) -> Axes:
    """A span of each counted transaction against its address.

    Parameters
    ----------
    port : Port
    metric : str
        A span of `Transactions`: ``"span"``, ``"first_data"``, ``"last_data"`` ...
    """
    rows = port.transactions.counted
    if not len(rows):
        raise ValueError("nothing to plot: no complete transaction")
    ax = style.new_axes(ax)
    scale = 1e6 / port.capture.clock if port.capture.clock else 1.0
    unit = "\N{MICRO SIGN}s" if port.capture.clock else "clocks"
    for i, (direction, colour) in enumerate(_DIRECTIONS.items()):
        column, addr = rows.column(metric), rows.column("addr")
        here = rows["direction"] == direction
        for c in (column, addr):
            here &= np.ones(len(rows), "?") if c.valid is None else c.valid
        if here.any():
            ax.plot(
                addr.data[here].astype("f8"),
                column.data[here] * scale,
                style.MARKERS[i],
                color=colour,
                markersize=4,
                label=style.counted(direction, int(here.sum())),
            )
    _address_ticks(ax)
    ax.set_ylim(bottom=0)
    ax.set(xlabel="address", ylabel=f"{metric} [{unit}]", title=title or port.name)
    style.legend(ax)
    return style.finish(ax)


def _address_ticks(ax: Axes) -> None:
    """Ticks at round addresses: at most six multiples of a power of two."""
    low, high = ax.get_xlim()
    step = 1
    while (high - low) / step > 6:
        step *= 2
    first = int(np.ceil(max(low, 0) / step)) * step
    ticks = [first + i * step for i in range(int((high - first) // step) + 1)]
    ax.set_xticks(ticks, [f"0x{t:x}" for t in ticks])


def outstanding(port: PortLike, ax: Axes | None = None, *, title: str = "") -> Axes:
    """How many reads and writes are open, over the samples."""
    frame = port.outstanding
    ax = style.new_axes(ax)
    end = float(port.samples)
    for name, direction in (("reads", "read"), ("writes", "write")):
        x = np.append(frame.column("sample").data.astype("f8"), end)
        y = frame.column(name).data.astype("f8")
        y = np.append(y, y[-1] if len(y) else 0.0)
        ax.step(x, y, where="post", color=_DIRECTIONS[direction], label=name)
    ax.set_ylim(bottom=0)
    ax.set_xlim(0, end)
    ax.set(xlabel="sample [clocks]", ylabel="outstanding", title=title or port.name)
    _plain_numbers(ax, "x")
    _plain_numbers(ax, "y")
    style.legend(ax)
    return style.finish(ax)


class CapturePlots:
    """The pictures of a capture; each takes ``slot=`` and ``prefix=`` to choose the interface."""

    def __init__(self, capture: CaptureLike) -> None:
        self._capture = capture

    def _port(self, options: dict[str, Any]) -> PortLike:
        return self._capture.port(options.pop("slot", None), options.pop("prefix", None))

    def lanes(
        self,
        first: int | None = None,
        last: int | None = None,
        ax: Axes | None = None,
        **options: Any,
    ) -> Axes:
        """See `lanes`."""
        return lanes(self._port(options), first, last, ax, **options)

    def against(self, old: CaptureLike, **options: Any) -> Figure:
        """This capture against an older one; see `against`."""
        port = self._port(dict(options))
        chosen = {k: options.pop(k) for k in ("slot", "prefix") if k in options}
        return against(old.port(**chosen), port, **options)

    def latency(self, ax: Axes | None = None, **options: Any) -> Axes:
        """See `latency`."""
        return latency(self._port(options), ax, **options)

    def outstanding(self, ax: Axes | None = None, **options: Any) -> Axes:
        """See `outstanding`."""
        return outstanding(self._port(options), ax, **options)

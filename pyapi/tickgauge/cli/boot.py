"""``tickgauge boot``: a boot across firmware, kernel and user space, or two versions of it."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from ..frame.answer import Answer, Section
from ..frame.grid import Grid
from ..frame.screen import screen
from . import common, inputs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..dataset.dataset import Dataset
    from ..dataset.timeline import Strip


def add(subparsers: Any) -> None:
    """Add the verb."""
    parser = common.add_verb(
        subparsers,
        "boot",
        run,
        "Where the time of a boot goes, across firmware, kernel and user space. Stages of all "
        "programs on as few axes as the evidence allows, with the gaps that nobody claims. With a "
        "second source: which stage or gap changed between the two, each boot one observation.",
    )
    parser.add_argument("source", metavar="SRC", help="console, dmesg, or a glob of these")
    parser.add_argument("new", metavar="NEW", nargs="?", help="the same of another version")
    parser.add_argument("--boot", metavar="N", type=int, help="this boot, not the median one")
    parser.add_argument(
        "--join", metavar="CLOCK=CLOCK+TIME", action="append", default=[],
        help="the zero of a clock on another one, where no line tells it; for example "
        "counter=U-Boot, if U-Boot counts from the system counter, or kernel=U-Boot+2.1s",
    )  # fmt: skip
    parser.add_argument("--plot", metavar="FILE", help="draw it: .png, .svg or .pdf")
    inputs.add_reading_options(parser)


def run(args: argparse.Namespace) -> int:
    """Show a boot, or two versions beside each other."""
    from ..dataset.timeline import joins_of

    joins = joins_of(args.join)
    sides = [inputs.load_dataset(args, [name]) for name in (args.source, args.new) if name]
    for data in sides:
        inputs.say_troubles(data)
    found = [_chosen(args, data, joins) for data in sides]
    chosen = [boot for boot in found if boot is not None]
    if len(chosen) < len(sides):
        return common.NOTHING
    picked = [_timeline(data, boot, joins) for data, boot in zip(sides, chosen, strict=True)]
    answer = _one(sides[0], chosen[0], *picked[0]) if len(sides) == 1 else _two(sides, joins)
    if args.plot:
        answer.notes = [*answer.notes, *_plot(args, sides, chosen, [p[0] for p in picked])]
    common.emit(args, answer)
    return common.worst(*(inputs.status(args, data) for data in sides))


def _timeline(data: Dataset, boot: Any, joins: Any) -> tuple[list[Strip], list[str]]:
    from ..dataset.timeline import timeline

    return timeline(data, boot, joins)


def _chosen(args: argparse.Namespace, data: Dataset, joins: Any) -> int | None:
    """The boot to show; None, and a message, where there is none."""
    from ..comparison.boot_delta import median_boot
    from ..dataset.timeline import boots_of

    boots = boots_of(data)
    name = data.infos[0].name
    if not boots:
        common.say(
            f"{name}: no stage of a boot in it: no PMF or bootstage record, initcall, systemd "
            "line, or banner behind a stamp of its arrival"
        )
        return None
    if args.boot is not None and args.boot not in boots:
        common.say(f"{name}: no boot {args.boot} with stages; there are {_few(boots)}")
        return None
    return median_boot(data, joins) if args.boot is None else int(args.boot)


def _few(boots: Sequence[int]) -> str:
    return ", ".join(map(str, boots[:10])) + (" ..." if len(boots) > 10 else "")


def _one(data: Dataset, boot: int, strips: list[Strip], notes: list[str]) -> Answer:
    """One boot: a section for each axis."""
    from ..dataset.timeline import boots_of, strip_lines, title_of

    now = screen()
    columns = (now.columns if now else 100) - 2
    boots = boots_of(data)
    sections = [Section(f"{data.infos[0].name}: boot {boot}")]
    if len(boots) > 1:
        sections[0].title += f" of {len(boots)}: the one of median length (--boot N: another)"
    sections += [Section(title_of(s), lines=strip_lines(s, columns)) for s in strips]
    names = ("axis", "service", "stage", "start", "time", "unit", "whole")
    rows = [
        (strip.clocks[0].name, bar.service, bar.name, *_cells(bar, strip), bar.whole)
        for strip in strips
        for bar in strip.bars
    ]
    return Answer("boot", Grid(names, rows), sections, inputs.source_rows(data),
                  inputs.problem_rows(data), notes)  # fmt: skip


def _cells(bar: Any, strip: Strip) -> tuple[Any, Any, str]:
    if strip.unit == "ms":
        return bar.start / 1e6, bar.ns / 1e6, "ms"
    return bar.start, bar.ns, strip.unit


def _two(sides: Sequence[Dataset], joins: Any) -> Answer:
    """Two versions: stages beside each other."""
    from ..comparison.boot_delta import boot_delta

    old, new = sides
    delta = boot_delta(old, new, joins)
    grid = delta.grid()
    title = f"stages of {delta.comparison.units_text}, medians"
    return Answer(
        "boot", grid, [Section(title, grid)],
        [row for data in sides for row in inputs.source_rows(data)],
        [row for data in sides for row in inputs.problem_rows(data)],
        [*delta.notes, *delta.comparison.notes], unit="boot", margin=delta.comparison.margin,
    )  # fmt: skip


def _plot(
    args: argparse.Namespace, sides: Sequence[Dataset], boots: Sequence[int],
    picked: Sequence[list[Strip]],
) -> list[str]:  # fmt: skip
    """Draw the longest axis of each side into a file."""
    from ..plot.timeline import plot_boots

    strips = [max(one, key=lambda strip: (strip.unit == "ms", strip.length)) for one in picked]
    named = [f"{d.infos[0].name}, boot {b}" for d, b in zip(sides, boots, strict=True)]
    figure: Any = plot_boots(list(zip(named, strips, strict=True))).figure
    figure.savefig(args.plot)
    if all(len(one) == 1 for one in picked):
        return [f"drawn: {args.plot}"]
    return [f"drawn: {args.plot}, only the longest axis: the clocks are not joined"]

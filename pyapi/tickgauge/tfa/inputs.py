"""Inputs of a release table: consoles, published tables, data sets."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..boards.platforms import Cpu, Platform, choose, find
from ..comparison.inputs import side_of
from ..comparison.snapshot import Snapshot
from ..dataset.dataset import Dataset
from ..errors import InputError, NotEnoughData
from ..limits import LIMITS, Limits
from ..reading.detect import bundles, detect, revisions
from ..reading.options import Options
from ..reading.read import read
from ..sources.expand import expand
from ..sources.source import Source
from ..units import parse_clock
from .as_source import releases_of
from .join import Side, SideRow, SideTable, merge
from .model import METRICS, TESTS, Release

__all__ = ["one_side", "releases_in", "sides_of"]


def _sources(what: Any, limits: Limits) -> list[Source]:
    """The sources behind `what`; each can be opened again, for its form is looked at first."""
    many = isinstance(what, Sequence) and not isinstance(what, str | bytes)
    found = [s for one in (what if many else [what]) for s in expand(one, bundles, revisions)]
    return [source.again(limits) for source in found if not source.skipped]


def _is_published(source: Source, limits: Limits = LIMITS) -> bool:
    with source.open(limits) as stream:
        stream.check_head()
        return detect(stream.head, source).form.name == "published"


def releases_in(what: Any, platform: str | None = None, limits: Limits = LIMITS) -> list[Release]:
    """The published releases in the sources that `what` stands for.

    Other files in a folder are passed over.

    Raises
    ------
    InputError
        Where a source is no release table, or a folder has none.
    """
    found: list[Release] = []
    folder = isinstance(what, str | os.PathLike) and Path(what).is_dir()
    for source in _sources(what, limits):
        if not _is_published(source, limits):
            if folder:
                continue
            raise InputError("is no published release table", path=source.name)
        found += releases_of(source, Options(platform=platform, limits=limits))[0]
    if not found:
        raise InputError("no published release table in it", path=str(what))
    return found


# One test of a boot: (label, cpu, place in the block where only that is known) -> ns by metric.
_Cells = dict[tuple[str, Cpu | None, int | None], dict[str, int]]


def _add(blocks: list[_Cells], place: tuple[str, Cpu | None, int | None], metric: str,
         ns: int) -> None:  # fmt: skip
    """Puts a value into the first block that has none for its place and metric."""
    for cells in blocks:
        if metric not in cells.get(place, {}):
            cells.setdefault(place, {})[metric] = ns
            return
    blocks.append({place: {metric: ns}})


def _boot_sides(
    tests: Mapping[str, list[_Cells]],
    about: Mapping[str, Any],
    label: str,
    kind: str,
    known: Mapping[str, Platform],
    faults: Mapping[str, str],
    mapped: Set[str],
) -> list[Side]:
    """The sides of one boot: several only where a test ran more than once in it."""
    board = find(str(about.get("platform") or ""), known)
    build = str(about.get("build") or "")
    sides = []
    for number in range(max(map(len, tests.values()))):
        tables = {}
        for test, blocks in tests.items():
            if number < len(blocks):
                cells = blocks[number]
                used = {m for values in cells.values() for m in values}
                metrics = (*(m for m in METRICS if m in used), *sorted(used - set(METRICS)))
                rows = tuple(SideRow(k[0], k[1], values) for k, values in cells.items())
                if board is not None and test in mapped:
                    rows = _as_printed(rows, board)
                tables[test] = SideTable(test, metrics, rows)
        sides.append(
            Side(
                name=label,
                kind=kind,
                platform=board.name if board else str(about.get("platform") or ""),
                clock_hz=about.get("clock_hz") or (board.clock_hz if board else None),
                build=build if build in ("release", "debug") else "",
                tables=tables,
                cpus=board.cpus if board else (),
                faults=dict(faults),
                banner=kind == "console" and bool(about.get("version")),
            )
        )
    return sides


def _as_printed(rows: tuple[SideRow, ...], board: Platform) -> tuple[SideRow, ...]:
    """Rows whose cpus a map of the board gave, with the labels that the console prints."""
    for m in board.labels:
        if not m.source and [row.cpu for row in rows] == list(m.cpus):
            return tuple(replace(r, printed=str(p)) for r, p in zip(rows, m.printed, strict=True))
    return rows


def _tests_of(what: Dataset | Snapshot) -> list[dict[str, Any]]:
    """The tests of consoles, in their order; of anything else nothing is known."""
    if not isinstance(what, Dataset) or "tests" not in what.tables or _kind_of(what) != "console":
        return []
    rows: list[dict[str, Any]] = what.tests.grid().to_records()
    return rows


def _faults_of(tests: Iterable[Mapping[str, Any]]) -> dict[int, dict[str, str]]:
    """For each boot, by test, why its figures should not be published."""
    found: dict[int, dict[str, str]] = {}
    for row in tests:
        test, verdict = row["test"], row["verdict"]
        ours = test in TESTS or "runtime instrumentation" in str(row["suite"]).lower()
        if not ours or (verdict == "Skipped" and not row["records"]):
            continue
        if verdict is None:
            fault = "no verdict: the run hung in it, or the log is cut"
        elif verdict != "Passed":
            fault = f"verdict {verdict}" + (f" ({row['reason']})" if row["reason"] else "")
        elif row["partial"]:
            fault = f"{row['records']} of {row['expected']} cpus reported"
        else:
            continue
        found.setdefault(int(row["boot"]), {})[str(test or row["title"])] = fault
    return found


def _kind_of(what: Any) -> str:
    if isinstance(what, Snapshot):
        return "snapshot"
    published = all(info.form == "published" for info in getattr(what, "infos", ()))
    return "table" if published else "console"


def sides_of(what: Dataset | Snapshot, platform: str | None = None) -> list[list[Side]]:
    """The boots of a data set or snapshot that have runtime-instrumentation readings.

    Returns
    -------
    list of list of Side
        One entry per boot, in order; more than one side in it where a test ran again.
    """
    known, _ = choose(platform)
    side = side_of(what).spread()
    boots: dict[int, dict[str, dict[int, list[_Cells]]]] = {}
    clocks: dict[int, int] = {}
    for k, boot, block, value in zip(
        side.key.tolist(), side.boot.tolist(), side.block.tolist(), side.value.tolist(),
        strict=True,
    ):  # fmt: skip
        key = side.keys[k]
        factor, unit = key.scale
        if key.format != "tftf" or unit != "ns" or boot < 0:
            continue
        has = key.cluster is not None and key.core is not None
        cpu = Cpu(key.cluster or 0, key.core or 0) if has else None
        label = str(cpu) if cpu is not None else str(key.place or key.cpu)
        blocks = boots.setdefault(boot, {}).setdefault(str(key.test), {}).setdefault(block, [])
        # whole ns as firmware prints them: rounded down
        ns = (value * factor.numerator) // factor.denominator
        _add(blocks, (label, cpu, None if has else key.cpu), str(key.metric), ns)
        if key.clock_hz:
            clocks[boot] = key.clock_hz
    found = []
    rows = _tests_of(what)
    faults = _faults_of(rows)
    mapped = {(int(row["boot"]), str(row["test"])) for row in rows if row["cpus"] == "map"}
    for boot in sorted(boots):
        about = {"clock_hz": clocks.get(boot)}
        about |= {k: v for k, v in side.boots[boot].items() if v} if side.boots else {}
        tests = {
            test: [cells for _, blocks in sorted(by_block.items()) for cells in blocks]
            for test, by_block in boots[boot].items()
        }
        label = str(about.get("version") or f"boot {boot}")
        by_map = {test for at, test in mapped if at == boot}
        found.append(
            _boot_sides(tests, about, label, _kind_of(what), known, faults.get(boot, {}), by_map)
        )
    return found


def _pick_release(releases: list[Release], what: Any) -> Side:
    if not releases:
        raise InputError(f"{what}: no such release in it")
    if len(releases) > 1:
        labels = ", ".join(r.label for r in releases)
        raise InputError(
            f"{what} holds {len(releases)} releases ({labels}): name one, as in "
            f"{what}@{releases[-1].label}"
        )
    return Side.of_release(releases[0])


def _pick_boot(boots: list[list[Side]], boot: int | None, stat: str | None, what: str) -> Side:
    if not boots:
        text = "no runtime-instrumentation readings in it (tickgauge show: the others; compare)"
        raise NotEnoughData(f"{what}: {text}")
    if boot is not None:
        if not 0 <= boot < len(boots):
            raise InputError(f"{what}: boot {boot} of {len(boots)}, counted from 0")
        boots = [boots[boot]]
    sides = [side for runs in boots for side in runs]
    if stat is not None:
        return merge(sides, stat)
    if len(boots) > 1:
        alike: dict[str, list[int]] = {}
        for k, (first, *_) in enumerate(boots):
            rows = sum(len(table.rows) for table in first.tables.values())
            alike.setdefault(f"{first.name}, {rows} rows", []).append(k)
        listed = "; ".join(
            f"boot{'s' * (len(which) > 1)} {', '.join(map(str, which))}: {text}"
            for text, which in alike.items()
        )
        raise InputError(
            f"{what} holds {len(boots)} boots ({listed}): --boot N takes one, --stat median-low "
            "the lower median of each cell"
        )
    if len(sides) > 1:
        again = ", ".join(t for t in sides[0].tables if t in sides[1].tables)
        raise InputError(
            f"{what}: {again} ran {len(sides)} times in the boot; --stat median-low takes the "
            "lower median of each cell"
        )
    return sides[0]


def one_side(
    what: Any,
    *,
    boot: int | None = None,
    stat: str | None = None,
    platform: str | None = None,
    clock: int | float | str | None = None,
    max_line: int = 0,
    limits: Limits | None = None,
) -> Side:
    """One side of a release table.

    Parameters
    ----------
    what
        A `Side`, a `Release`, a `Dataset`, a `Snapshot`, or an argument of `tickgauge.read`: a
        console, a snapshot, a published table (``page.rst@v2.9`` names one of its releases).
    boot, stat
        Which boot of several (counted from 0), or ``"median-low"`` over them.
    platform, clock, max_line, limits
        As for `tickgauge.read`.

    Raises
    ------
    InputError
        Where it holds several boots or releases and none is named.
    NotEnoughData
        Where it has no runtime-instrumentation readings.
    """
    if isinstance(what, Side):
        return what
    if isinstance(what, Release):
        return Side.of_release(what)
    name = what if isinstance(what, str) else getattr(what, "name", "the data set")
    if not isinstance(what, Dataset | Snapshot):
        if not hasattr(what, "read"):
            sources = _sources(what, limits or LIMITS)
            if all(_is_published(source, limits or LIMITS) for source in sources):
                return _pick_release(releases_in(sources, platform, limits or LIMITS), what)
            what = sources
        what = read(
            *_listed(what), platform=platform, clock=parse_clock(clock),
            max_line=max_line, limits=limits,
        )  # fmt: skip
        if not isinstance(what, Dataset | Snapshot):
            raise InputError(f"{name}: is a {type(what).__name__}, no console")
        cut = [i for i in getattr(what, "infos", ()) if i.state not in ("read", "not recognised")]
        if cut and "duplicate" not in cut[0].state:
            raise InputError(f"was not read whole: {cut[0].message}", path=cut[0].name)
    return _pick_boot(sides_of(what, platform), boot, stat, str(name))


def _listed(what: Any) -> Iterable[Any]:
    return what if isinstance(what, list) else [what]

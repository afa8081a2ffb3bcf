"""What a release table can be made from: consoles, published tables, data sets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from ..dataset import Dataset
from ..detect import detect
from ..errors import InputError, NotEnoughData
from ..platforms import Cpu, Platform, choose, find
from ..reading import Options, parse_clock, read
from ..readings import ns_factors
from ..source import Source, expand
from .form import releases_of
from .model import Release
from .side import Side, SideRow, SideTable, merge

__all__ = ["one_side", "releases_in", "sides_of"]


def _sources(what: Any) -> list[Source]:
    many = isinstance(what, Sequence) and not isinstance(what, str | bytes)
    return [s for one in (what if many else [what]) for s in expand(one)]


def _is_published(source: Source) -> bool:
    with source.open() as stream:
        return detect(stream.head, source).form.name == "published"


def releases_in(what: Any, platform: str | None = None) -> list[Release]:
    """The published releases in the sources that `what` stands for.

    Raises
    ------
    InputError
        Where a source is no release table.
    """
    found: list[Release] = []
    for source in _sources(what):
        if not _is_published(source):
            raise InputError("is no published release table", path=source.name)
        found += releases_of(source, Options(platform=platform))[0]
    return found


def _ns(value: int, factor: Fraction | None) -> int | None:
    """Whole ns of a stored value, as firmware prints them: rounded down."""
    return None if factor is None else (value * factor.numerator) // factor.denominator


def _cell(row: Mapping[str, Any], name: str) -> Any:
    value = row[name]
    return None if value is np.ma.masked or value is None else value


def _boot_side(
    data: Dataset, boot: int, name: str, rows: list[dict[str, Any]], known: Mapping[str, Platform]
) -> list[Side]:
    """The sides of one boot: several only where a test ran more than once in it."""
    about = data.table("boots").row(boot)
    board = find(str(about.get("platform") or ""), known)
    runs: dict[str, dict[int, dict[tuple[Any, ...], dict[str, int]]]] = {}
    for row in rows:
        cluster, core = _cell(row, "cluster"), _cell(row, "core")
        cpu = None if cluster is None or core is None else Cpu(int(cluster), int(core))
        place = str(_cell(row, "place") or cpu or _cell(row, "cpu"))
        order = None if cpu is not None else _cell(row, "cpu")
        blocks = runs.setdefault(str(row["test"]), {})
        cells = blocks.setdefault(int(_cell(row, "block") or 0), {})
        cells.setdefault((place, cpu, order), {})[str(row["metric"])] = row["whole_ns"]
    repeats = max((len(blocks) for blocks in runs.values()), default=0)
    sides = []
    for number in range(repeats):
        tables = {}
        for test, blocks in runs.items():
            if number < len(blocks):
                cells = list(blocks.values())[number]
                metrics = tuple(dict.fromkeys(m for values in cells.values() for m in values))
                lines = tuple(SideRow(k[0], k[1], values) for k, values in cells.items())
                tables[test] = SideTable(test, metrics, lines)
        clock = next((int(r["clock_hz"]) for r in rows if _cell(r, "clock_hz")), None)
        sides.append(
            Side(
                name=name,
                kind="console",
                platform=str(about.get("platform") or ""),
                clock_hz=clock or (board.clock_hz if board else None),
                build=_build(about),
                tables=tables,
                cpus=board.cpus if board else (),
            )
        )
    return sides


def _build(about: Mapping[str, Any]) -> str:
    build = str(about.get("build") or "")
    return build if build in ("release", "debug") else ""


def sides_of(data: Dataset, platform: str | None = None) -> list[list[Side]]:
    """The boots of a data set that have runtime-instrumentation readings.

    Returns
    -------
    list of list of Side
        One entry per boot, in order; more than one side in it where a test ran again.
    """
    known, _ = choose(platform)
    readings = data.readings
    factors = ns_factors(readings.keys)
    clocks = readings.keys["clock_hz"]
    names = ("format", "test", "metric", "place", "cluster", "core", "cpu", "boot", "block")
    columns = {name: readings[name] for name in names}
    by_boot: dict[int, list[dict[str, Any]]] = {}
    for at, (key, value) in enumerate(zip(readings["key"], readings["value"], strict=True)):
        if columns["format"][at] != "tftf" or columns["boot"][at] is np.ma.masked:
            continue
        whole = _ns(int(value), factors[int(key)])
        if whole is None:
            continue
        row = {name: column[at] for name, column in columns.items()}
        row.update(whole_ns=whole, clock_hz=clocks[int(key)])
        by_boot.setdefault(int(row["boot"]), []).append(row)
    found = []
    for boot in sorted(by_boot):
        about = data.table("boots").row(boot)
        label = str(about.get("version") or f"boot {boot}")
        found.append(_boot_side(data, boot, label, by_boot[boot], known))
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
        raise NotEnoughData(f"{what}: no runtime-instrumentation readings in it")
    if boot is not None:
        if not 0 <= boot < len(boots):
            raise InputError(f"{what}: boot {boot} of {len(boots)}, counted from 0")
        boots = [boots[boot]]
    sides = [side for runs in boots for side in runs]
    if stat is not None:
        return merge(sides, stat)
    if len(boots) > 1:
        listed = "; ".join(
            f"boot {k}: {runs[0].name}, {sum(len(t.rows) for t in runs[0].tables.values())} rows"
            for k, runs in enumerate(boots)
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
) -> Side:
    """One side of a release table.

    Parameters
    ----------
    what
        A `Side`, a `Release`, a `Dataset`, or what `tickgauge.read` takes: a console, a published
        table (``page.rst@v2.9`` names one of its releases).
    boot, stat
        Which boot of several (counted from 0), or ``"median-low"`` over them.
    platform, clock
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
    if not isinstance(what, Dataset):
        if not hasattr(what, "read"):
            sources = _sources(what)
            if all(map(_is_published, sources)):
                return _pick_release(releases_in(sources, platform), what)
            what = sources
        what = read(*_listed(what), platform=platform, clock=parse_clock(clock))
        if not isinstance(what, Dataset):
            raise InputError(f"{name}: is a {type(what).__name__}, no console")
    return _pick_boot(sides_of(what, platform), boot, stat, str(name))


def _listed(what: Any) -> Iterable[Any]:
    return what if isinstance(what, list) else [what]

"""``tickgauge show``: the content of a source, and why it was read so."""

from __future__ import annotations

import argparse
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from ..frame.answer import Answer, Section
from ..frame.grid import Grid
from ..frame.scaled import scaled
from ..frame.screen import screen
from . import common, inputs

if TYPE_CHECKING:
    from ..dataset.dataset import Dataset
    from ..frame.frame import Frame

#: Problems that are listed without ``--problems``.
FEW = 5

#: Boots whose stages are drawn one by one.
MOST_BOOTS = 4

#: Columns of a record that say where it stands.
PLACE = frozenset({"source", "line", "offset", "channel", "flags", "section"})


def add(subparsers: Any) -> None:
    """Add the verb."""
    parser = common.add_verb(
        subparsers,
        "show",
        run,
        "What is in the sources, and why they were read so. Formats, boots, clock, the keys "
        "with their statistics, problems.",
        trace=True,
        forms=("gobench", "pyperf"),
    )
    parser.add_argument(
        "sources", nargs="*", metavar="SRC", help="file, glob, folder, URL, or - for a pipe"
    )
    parser.add_argument("--stages", action="store_true", help="the stages of each boot")
    parser.add_argument("--problems", action="store_true", help="every problem, one by one")
    parser.add_argument(
        "--why",
        action="store_true",
        help="which lines matched which rule, which came near and where they failed",
    )
    parser.add_argument("--formats", action="store_true", help="what can be read, and stop")
    inputs.add_reading_options(parser)


def run(args: argparse.Namespace) -> int:
    """Show the sources."""
    from ..dataset.dataset import Dataset

    if args.formats:
        common.emit(args, _formats())
        return common.DONE
    if not args.sources:
        common.say("show needs at least one source (tickgauge show --help)")
        return common.USAGE
    data = _loaded(args)
    if args.format not in common.FORMATS:
        from ..exports import benchmarks

        common.emit(args, benchmarks.FORMS[args.format](data))
        return common.DONE
    if not isinstance(data, Dataset):
        common.emit(args, _object(data))
        return common.DONE
    inputs.say_troubles(data)
    if args.trace:
        from ..exports import trace, tracks

        trace.write_trace(tracks.of_stages(data), args.trace)
    common.emit(args, _answer(args, data))
    return inputs.status(args, data)


def _loaded(args: argparse.Namespace) -> Any:
    """The data set of the sources; beside one, captures and snapshots are only named."""
    if args.together:
        return inputs.load(args, args.sources)
    from ..dataset.dataset import Dataset
    from ..reading.read import read_side

    made = read_side(*args.sources, **inputs.reading_arguments(args))
    if not isinstance(made, list):
        return made
    texts = [one for one in made if isinstance(one, Dataset)]
    for one in made:
        if one not in texts[:1]:
            kind = type(one).__name__.lower()
            verb = "axi" if kind == "capture" else "show"
            common.say(f"{one.name}: is a {kind}, shown by itself: tickgauge {verb} {one.name}")
    return texts[0] if texts else inputs.load(args, args.sources)  # tells that it cannot be


def _object(data: Any) -> Answer:
    """A form's own object (a capture, a snapshot): its own text, and its keys."""
    from ..comparison.snapshot import Snapshot
    from ..comparison.summary import summarize
    from ..frame.frame import Frame
    from ..frame.readings import summary

    lines = repr(data).splitlines()
    readings, keys = getattr(data, "readings", None), getattr(data, "keys", None)
    sections = [Section(lines=lines)]
    if isinstance(data, Snapshot):
        frame = summarize(data)
        names = ("test", "metric", "operation", "place", "labels")
        shown = (*names, "n", "units", "min", "median", "max", "shown")
        rows = frame.grid()
        sections.append(Section("keys", _grid(frame.only(*shown), False)))
    elif isinstance(readings, Frame) and isinstance(keys, Frame) and len(readings):
        rows = summary(readings, keys).grid()
    else:
        rows = Grid(("what",), [[line] for line in lines])
    source = {
        "name": getattr(data, "name", ""),
        "digest": getattr(data, "digest", ""),
        "format": type(data).__name__.lower(),
        "boots": 0,
        "state": "read",
    }
    return Answer("show", rows, sections, sources=[source])


def _answer(args: argparse.Namespace, data: Dataset) -> Answer:
    stats = data.stats()
    notes = inputs.other_notes(data)
    if "tick" in stats["unit"].tolist() and not any("--clock HZ" in note for note in notes):
        notes.append("ticks are shown where no clock is known: --clock HZ converts them")
    notes += _other_events(data)
    rows = stats
    if args.stages and "stages" in data.tables:
        rows = data.stages
    elif args.problems:
        rows = data.problems
    return Answer(
        "show",
        _grid(rows),
        sections=_sections(args, data, stats),
        sources=inputs.source_rows(data),
        problems=inputs.problem_rows(data),
        notes=notes,
    )


def _other_events(data: Dataset) -> list[str]:
    """Events of a trace that nothing reads, by kind: they are not lost without a word."""
    from ..reading.trace_events import other_events

    notes = []
    for number, info in enumerate(data.infos):
        found = other_events(data, number)
        if found:
            kinds = ", ".join(f"{count} {name}" for name, count in found.most_common(6))
            more = f" and {len(found) - 6} kinds more" if len(found) > 6 else ""
            notes.append(f"{info.name}: events that are not read: {kinds}{more}")
    return notes


def _grid(frame: Frame, all_columns: bool = True) -> Grid:
    """All cells for files; only columns that hold anything for people."""
    return frame.grid() if all_columns else frame._grid_of(frame._shown_columns())


def _sections(args: argparse.Namespace, data: Dataset, stats: Frame) -> list[Section]:
    out = [Section(data.headline())]
    shown = data.sources.only("name", "state", "form", "formats", "boots", "bytes", "lines")
    out.append(Section("sources", _grid(shown, False)))
    if args.why:
        out += [_why(info) for info in data.infos]
        out += [_rules(data), _matched(data), _near(data)]
    boots = data.table("boots")
    if len(boots):
        names = [n for n in boots.columns if n not in ("first_offset",)]
        out.append(Section("boots", _grid(boots.only(*names), False)))
    if args.stages:
        out += _stages(data)
    if len(stats):
        out.append(Section("keys", scaled(_grid(stats, False))))
    out += _not_passed(data)
    if len(data.problems):
        out.append(_problems(args, data))
    elif args.problems:
        out.append(Section("no problems"))
    return out


def _not_passed(data: Dataset) -> list[Section]:
    """The tests that failed, were skipped, crashed, or were cut off: why readings are missing."""
    if "tests" not in data.tables:
        return []
    tests = data.tests
    bad = tests[[i for i, verdict in enumerate(tests["verdict"]) if verdict != "Passed"]]
    if not len(bad):
        return []
    name = "title" if None in bad["test"].tolist() else "test"  # foreign tests have a title only
    names = ("source", "boot", name, "verdict", "reason", "records", "expected", "first_line")
    grid = _grid(bad.only(*(name for name in names if name in tests.columns)), False)
    return [Section(f"{len(bad)} of {len(tests)} tests did not pass", grid)]


def _stages(data: Dataset) -> list[Section]:
    """The first boots on their axes, then the boots beside each other."""
    from ..dataset import stages, timeline

    if "stages" not in data.tables or not len(data.stages):
        none = ["none: no boot record (PMF, bootstage, initcall, systemd) was found"]
        return [Section("stages", lines=none)]
    out = []
    boots = timeline.boots_of(data)
    now = screen()
    for boot in boots[:MOST_BOOTS]:
        strips, notes = timeline.timeline(data, boot)
        for strip in strips:
            title = f"boot {boot}: {timeline.title_of(strip)}"
            lines = timeline.strip_lines(strip, (now.columns if now else 100) - 2)
            out.append(Section(title, lines=lines))
        if notes:
            out.append(Section(lines=notes))
    if len(boots) > 1 or None in data.stages["axis"].tolist():
        out.append(Section("stages of the boots beside each other", stages.beside(data.stages)))
    return out


def _problems(args: argparse.Namespace, data: Dataset) -> Section:
    problems = data.problems
    title = f"{len(problems)} problem{'s' if len(problems) != 1 else ''}"
    if not args.problems and len(problems) > FEW:
        title += f" (the first {FEW}; --problems lists all)"
        problems = problems[:FEW]
    names = ("source", "line", "offset", "rule", "reason", "detail", "excerpt")
    return Section(title, _grid(problems.only(*names), False))


def _why(info: Any) -> Section:
    return Section(f"why {info.name}", lines=info.why)


def _rules(data: Dataset) -> Section:
    """The ledger: how often each tag occurred, and the uses of its lines."""
    totals: dict[bytes, list[int]] = {}
    for info in data.infos:
        for tag, *counts in info.ledger:
            old = totals.setdefault(tag, [0, 0, 0, 0])
            totals[tag] = [a + b for a, b in zip(old, counts, strict=True)]
    rows = [
        (tag.decode("utf-8", "replace"), *counts) for tag, counts in totals.items() if counts[0]
    ]
    grid = Grid(("tag", "occurrences", "records", "problems", "further"), rows)
    return Section("what was looked for, and found", grid)


def _matched(data: Dataset) -> Section:
    """The first record of every rule: where it stands, and its fields."""
    names = [info.name for info in data.infos]
    rows = []
    for rule, frame in data.records.items():
        first = frame.row(0)
        fields = [
            f"{k}={_shown(v, frame.column(k).exp10)}"
            for k, v in first.items()
            if k not in PLACE and v is not None
        ]
        place = (names[first["source"]], first["line"], first["offset"])
        rows.append((rule, len(frame), *place, " ".join(fields)))
    heads = ("rule", "records", "first in", "line", "offset", "fields of the first")
    return Section("what matched", Grid(heads, rows))


def _shown(value: Any, exp10: int) -> Any:
    """A field as the decimal that was printed."""
    return f"{Decimal(value).scaleb(exp10).normalize():f}" if exp10 else value


def _near(data: Dataset) -> Section:
    """The lines that came nearest to a rule and did not match, and where they failed."""
    near = data.table("near")
    if not len(near):
        return Section("no line came near a rule without matching it")
    names = ("rule", "source", "line", "column", "expected", "taken", "excerpt")
    return Section("what came near, and where it failed", _grid(near.only(*names), False))


def _formats() -> Answer:
    """Everything that can be read: whole-file forms, then line formats with their rules."""
    from .. import _core
    from ..reading.detect import FORMS
    from ..rules.rule import shipped_rules

    rules = _core.RuleSet([rule.definition() for rule in shipped_rules()])
    by_format: dict[str, list[str]] = {}
    for name in rules.names:
        head, _, kind = name.partition(".")
        if not kind.startswith("other_"):
            by_format.setdefault(head, []).append(kind)
    rows = [(form.name, "file", form.title) for form in FORMS]
    rows += [(name, "lines", " ".join(kinds)) for name, kinds in by_format.items()]
    files = Grid(("format", "what"), [(name, what) for name, kind, what in rows if kind == "file"])
    lines = [f"{name}: {what}" for name, kind, what in rows if kind == "lines"]
    sections = [Section("whole files", files), Section("lines, and their kinds", lines=lines)]
    return Answer("show", Grid(("format", "kind", "what"), rows), sections)

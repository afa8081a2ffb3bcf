"""Reading sources: open, decide, parse, reduce."""

from __future__ import annotations

import contextlib
import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from . import _core
from ._lazy import need
from .dataset import Dataset, Part, SourceInfo
from .detect import LINES, Verdict, detect
from .errors import InputError, LimitError
from .frame import Column, Frame, concat
from .halves import can_halve, read_halves
from .many import in_order
from .platforms import choose
from .rules import Rule, as_rules, with_shipped
from .source import Pieces, Source, Stream, expand, opened
from .unpack import LIMITS, Limits

__all__ = ["Options", "parse_clock", "read", "read_lines", "read_side", "read_together"]

#: Pieces from this size on are hashed on a second thread while they are parsed.
HASH_APART = 1 << 18


@dataclass(frozen=True)
class Options:
    """How sources are read; the arguments of `read`, checked."""

    rules: tuple[Rule, ...] = ()
    clock: int | None = None
    platform: str | None = None
    tee_offset: int | None = None
    repair: bool = False
    max_line: int = 0
    limits: Limits = LIMITS
    beside: bool = True  # a source may take further threads; not where many are read at once
    extra: dict[str, Any] = field(default_factory=dict, hash=False, compare=False)


def parse_clock(clock: int | float | str | None) -> int | None:
    """A frequency in ticks per second.

    Parameters
    ----------
    clock : int, float, str or None
        ``50_000_000``, ``62.5e6``, ``"24MHz"``, ``"62.5 MHz"``, ``"1GHz"``.

    Raises
    ------
    InputError
        Not a whole, positive number of ticks per second.

    Examples
    --------
    >>> parse_clock("62.5 MHz")
    62500000
    """
    if clock is None:
        return None
    form = r"([0-9.]{1,40}(?:[eE][+]?[0-9]{1,2})?)\s*([kKMG]?)(?:[hH][zZ])?"
    match = re.fullmatch(form, str(clock).replace("_", "").strip())
    scale = {"": 1, "k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9}
    try:
        hz = Fraction(match[1]) * scale[match[2]] if match else Fraction(0)
    except ValueError:
        hz = Fraction(0)
    if hz <= 0 or hz.denominator != 1 or hz >= 1 << 64:
        raise InputError(
            f"clock {clock!r} is not a whole number of ticks per second, such as 24MHz or 62500000"
        )
    return int(hz)


# ---- one source of lines ------------------------------------------------------------------------


class _Rulesets:
    """Compiled rule sets: each serves one reader at a time, so they are lent and given back."""

    def __init__(self) -> None:
        self._free: dict[tuple[Any, ...], list[_core.RuleSet]] = {}

    @contextlib.contextmanager
    def lend(self, options: Options) -> Iterator[_core.RuleSet]:
        """A rule set of the user's rules, the shipped and the built-in ones, in that order."""
        limits = options.limits
        free = self._free.setdefault((options.rules, limits.rules, limits.template), [])
        try:
            one = free.pop()
        except IndexError:
            given = [rule.definition() for rule in with_shipped(options.rules)]
            one = _core.RuleSet(given, max_rules=limits.rules, max_template=limits.template)
        yield one  # after an exception a reader may still hold it: it is not lent again
        if len(self._free) > 8:
            self._free.clear()
        free.append(one)


_RULESETS = _Rulesets()


def _as_opened(stream: Stream) -> Iterator[bytes]:
    """The pieces of a source; of a file that still grows, what was there when it was opened."""
    left = stream.expected
    for piece in stream:
        if left is None:
            yield piece
            continue
        if piece[:left]:
            yield piece[:left]
        left -= len(piece)
        if left <= 0:
            return


def _feed(
    stream: Stream,
    reader: _core.Reader,
    info: SourceInfo,
    advance: Callable[[int], Any],
    beside: bool,
) -> None:
    """All bytes into the reader and the digest; a failure is kept in `info`."""
    digest = hashlib.sha256()
    total = 0
    with ThreadPoolExecutor(1) as pool:
        try:
            for piece in _as_opened(stream):
                if beside and len(piece) >= HASH_APART:
                    hashed = pool.submit(digest.update, piece)
                    reader.feed(piece)
                    hashed.result()
                else:
                    digest.update(piece)
                    reader.feed(piece)
                total += len(piece)
                advance(len(piece))
        except InputError as error:
            info.state, info.message = "damaged", error.message
        except LimitError as error:
            info.state, info.message = "limit", error.message
        except OSError as error:
            info.state, info.message = "unreadable", error.strerror or str(error)
    info.digest = digest.hexdigest()
    info.bytes = total
    if info.state == "read" and stream.expected is not None and total < stream.expected:
        info.state = "damaged"
        info.message = f"the file shrank while it was read: {total} of {stream.expected} bytes"


def _halves(
    stream: Stream, rules: _core.RuleSet, options: Options, advance: Callable[[int], Any]
) -> tuple[_core.Records, str, int] | None:
    """A large file on two threads; None: to be read as one."""
    if not options.beside or not can_halve(stream, options.repair):
        return None
    with _RULESETS.lend(options) as others:
        first, second = (_core.Reader(one, **_bounds(options)) for one in (rules, others))
        try:
            return read_halves(stream, first, second, advance)
        finally:
            del first, second  # the rule sets are free again


def _bounds(options: Options) -> dict[str, Any]:
    """How every reader is made."""
    return {
        "max_line": options.max_line,
        "max_records": options.limits.records,
        "max_problems": options.limits.problems,
        "max_label": options.limits.label,
        "keep_near": True,
    }


def read_lines(
    stream: Stream,
    rules: _core.RuleSet,
    options: Options,
    advance: Callable[[int], Any] = lambda n: None,
) -> tuple[SourceInfo, _core.Records]:
    """Parse one open source as console lines.

    Parameters
    ----------
    stream : Stream
    rules : _core.RuleSet
        In use by no other reader.
    options : Options
    advance : callable
        Told the number of bytes after each piece.
    """
    info = SourceInfo(stream.source.name, compression=stream.compression)
    halves = _halves(stream, rules, options, advance)
    if halves is not None:
        records, info.digest, info.bytes = halves
    else:
        reader = _core.Reader(rules, repair_uart=options.repair, **_bounds(options))
        _feed(stream, reader, info, advance, options.beside)
        records = reader.finish()
    totals = records.totals()
    info.lines, info.records, info.problems = (
        totals[name] for name in ("lines", "records", "problems")
    )
    info.ledger = records.ledger()
    info.formats = _formats_of(records)
    info.evidence = _evidence(records, info.formats)
    if info.state == "read" and not info.formats and not info.problems:
        info.state = "not recognised"
        info.message = nothing_found(stream.head, info, records, len(options.rules))
    return info, records


def _formats_of(records: _core.Records) -> tuple[str, ...]:
    """The formats with records; the console's catch-all rules are none."""
    names = dict.fromkeys(
        name.partition(".")[0]
        for name, count in zip(records.rules, records.counts(), strict=True)
        if count and not name.startswith("console.other_")
    )
    return tuple(names)


def _evidence(records: _core.Records, formats: tuple[str, ...]) -> list[str]:
    """What speaks for each format: its records, and the lines that should have been some.

    The score is the share of records among both, in percent, rounded down.
    """
    bad: dict[str, int] = {}
    problems = records.problems()
    words = problems.words("rule") or ()
    for code, present in zip(problems.column("rule"), problems.valid("rule"), strict=True):
        head = words[code].decode("utf-8", "replace").partition(".")[0] if present else ""
        bad[head] = bad.get(head, 0) + 1
    out = []
    for form in formats:
        kinds = {
            name.partition(".")[2]: count
            for name, count in zip(records.rules, records.counts(), strict=True)
            if count and name.partition(".")[0] == form
        }
        n, torn = sum(kinds.values()), bad.get(form, 0)
        most = sorted(kinds, key=lambda kind: -kinds[kind])
        shown = ", ".join(most[:4]) + (" ..." if len(most) > 4 else "")
        torn_text = f", {torn} torn" if torn else ""
        score = 100 * n // (n + torn)
        out.append(f"{form}: {n} records ({shown}){torn_text} (score {score})")
    return out


def nothing_found(head: bytes, info: SourceInfo, records: _core.Records, own: int = 0) -> str:
    """What to tell somebody whose source was not recognised."""
    if info.bytes == 0:
        return "is empty"
    zeros = head[:400:2].count(0), head[1:400:2].count(0)  # UTF-16 has them in one half only
    if head[:2] in (b"\xff\xfe", b"\xfe\xff") or (
        max(zeros) > len(head[:400]) // 3 and min(zeros) < max(zeros) // 8
    ):
        return "looks like UTF-16 text: convert it first (iconv -f UTF-16 -t UTF-8)"
    if head.count(0) > len(head) // 10:
        return "looks like binary data: none of the known line forms occur in it"
    shown = ", ".join(repr(tag.decode("utf-8", "replace")) for tag, *_ in info.ledger[:own])
    return (
        f"no known kind of line was found in {info.lines} line{'s' if info.lines != 1 else ''}; "
        "looked for "
        + (f"{shown} and " if shown else "")
        + "what tickgauge show --formats lists"
        + _nearest(records.near())
        + ". Own lines can be described: --rules FILE, tg.Rule(...)"
    )


def _nearest(near: _core.Table) -> str:
    """The line that came nearest to a rule, in words."""
    frame = Frame(near)
    reached = frame["reached"]
    if not len(frame):
        return ""
    row = frame.row(int(np.argmax(reached)))
    return (
        f"; what came nearest: line {row['line']} to rule {row['rule']}, where "
        f"{row['expected']} was expected"
    )


# ---- reduction ----------------------------------------------------------------------------------


def _with_source(table: _core.Table, source: int, title: str) -> Frame:
    """A table of the core with the number of its source behind its columns."""
    frame = Frame(table, title)
    number = Column("source", "u32", lambda: (np.full(len(table), source, "u4"), None))
    return Frame([*(frame.column(name) for name in frame.columns), number], title)


def _reduce(
    infos: list[SourceInfo], records: list[_core.Records], options: Options, together: bool
) -> Part:
    """The tables of one console, or of consoles of the same boots."""
    known, platform = choose(options.platform)
    told: dict[str, int] = {}
    tables = {
        name: Frame(table, name)
        for name, table in _core.reduce(
            records,
            clock_hz=options.clock or 0,
            tee_offset=options.tee_offset,
            together=together,
            platform=platform,
            topology=[board.for_core() for board in known.values()],
            max_keys=options.limits.keys,
            told=told,
        ).items()
    }
    _tell_keys(infos, options.limits.keys, told["left_out"])
    problems = [_with_source(r.problems(), i, "problems") for i, r in enumerate(records)]
    problems += [tables["problems"]] if "problems" in tables else []
    problems += [_trouble(i, info) for i, info in enumerate(infos) if info.message]
    tables["problems"] = concat([p for p in problems if len(p)] or problems[:1], "problems")
    near = [_with_source(r.near(), i, "near misses") for i, r in enumerate(records)]
    tables["near"] = concat(near, "near misses")
    kept: dict[str, list[Frame]] = {}
    for i, one in enumerate(records):
        for rule, count in enumerate(one.counts()):
            if count:
                name = one.rules[rule]
                kept.setdefault(name, []).append(_with_source(one.table(rule), i, name))
    by_rule = {n: f[0] if len(f) == 1 else concat(f, n) for n, f in kept.items()}
    return Part(infos, tables, by_rule)


def _tell_keys(infos: list[SourceInfo], most: int, left_out: int) -> None:
    """Say that there were more than `most` keys: those of `left_out` readings are not kept.

    A label that is another one on every line makes every line a key.
    """
    if left_out:
        text = f"has more than {most} keys, {left_out} readings of others are left out"
        for info in infos:
            if info.state == "read":
                info.state, info.message = "limit", f"{text} (--limit keys=N)"


def _trouble(source: int, info: SourceInfo) -> Frame:
    """A source's own misfortune as a row of problems."""
    return Frame(
        [
            Column.of("source", np.array([source], "u4")),
            Column.of("line", np.array([info.lines], "u8")),
            Column.of("offset", np.array([info.bytes], "u8")),
            Column.of("rule", [""], np.zeros(1, "?")),
            Column.of("reason", [info.state]),
            Column.of("detail", [info.message]),
            Column.of("excerpt", [""], np.zeros(1, "?")),
        ],
        "problems",
    )


# ---- reading ------------------------------------------------------------------------------------


def load(source: Source, options: Options) -> Part:
    """Read a source as console lines (what `detect.LINES` stands for)."""
    with source.open(options.limits) as stream:
        return _load_lines(stream, options, lambda n: None)


def _load_lines(stream: Stream, options: Options, advance: Callable[[int], Any]) -> Part:
    with _RULESETS.lend(options) as rules:
        info, records = read_lines(stream, rules, options, advance)
    return _reduce([info], [records], options, together=False)


def _read_one(stream: Stream, options: Options, advance: Callable[[int], Any]) -> Any:
    """An open source by its form: a `Part`, or what the form makes instead."""
    source = stream.source
    verdict = detect(stream.head, source)
    if verdict.form is LINES:
        part = _load_lines(stream, options, advance)
        return _explained(part, verdict)
    if source.path is None or stream.compression:
        source = Source(source.name, lambda: Pieces(stream), source.path, source.release)
    made = verdict.form.load(source, options)
    return _explained(made, verdict) if isinstance(made, Part) else made


def _read_source(
    options: Options, source: Source, alone: bool, advance: Callable[[int], Any]
) -> Iterator[tuple[str, Any]]:
    """The texts of one source, an archive's members one after the other, with their names."""
    options = replace(options, beside=alone)
    for stream in opened([source], options.limits):
        yield stream.source.name, _read_one(stream, options, advance)


def _explained(part: Part, verdict: Verdict) -> Part:
    for info in part.sources:
        info.form = verdict.form.name
        info.why = verdict.lines()
        info.why += info.evidence
    return part


def _options(
    rules: Any = None,
    clock: int | float | str | None = None,
    platform: str | None = None,
    tee_offset: int | None = None,
    repair: bool = False,
    max_line: int = 0,
    limits: Limits | None = None,
) -> Options:
    """The arguments of `read`, checked."""
    return Options(
        as_rules(rules, limits or LIMITS),
        parse_clock(clock),
        platform,
        tee_offset,
        repair,
        max_line,
        limits or LIMITS,
    )


def read(
    *sources: Any,
    rules: Any = None,
    clock: int | float | str | None = None,
    platform: str | None = None,
    tee_offset: int | None = None,
    repair: bool = False,
    max_line: int = 0,
    limits: Limits | None = None,
    progress: bool = False,
) -> Any:
    """Read consoles, captures, snapshots, published tables: whatever the sources are.

    Parameters
    ----------
    *sources
        Paths, globs, folders, URLs, ``"-"``, bytes, binary file objects. Several sources are
        independent boots; equal ones (by digest) count once. Compression is undone.
    rules : Rule, str, path, or several, optional
        Own line rules, tried before the built-in ones: `Rule` objects, templates, TOML files.
    clock : int, float or str, optional
        Ticks per second (``24e6``, ``"62.5MHz"``); wins over the log's own.
    platform : str, optional
        The board, where the log does not say it; or a TOML file of platforms.
    tee_offset : int, optional
        Ticks added to every stamp of the secure world.
    repair : bool
        Lift whole lines of the secure world out of lines that it interrupted on a shared UART.
        Each repaired record is marked.
    max_line : int
        Bytes of the longest line (1 MiB if 0); a longer one is a problem.
    limits : Limits, optional
        What a source, a rule and an archive may hold before it is refused.
    progress : bool
        Show a progress bar (tqdm).

    Returns
    -------
    Dataset
        A single capture gives a ``Capture`` instead, snapshots give one merged ``Snapshot``.

    Raises
    ------
    InputError
        No source was recognised; the message says what was looked for and what came nearest.
        Or the sources are of kinds that no one object holds, such as a snapshot and a log.
    OSError
        A source cannot be opened. One that fails while it is read keeps what came before, and
        says so in ``Dataset.sources`` and ``Dataset.problems``.
    RuleError
        A rule is wrong.
    """
    made = read_side(
        *sources, rules=rules, clock=clock, platform=platform, tee_offset=tee_offset,
        repair=repair, max_line=max_line, limits=limits, progress=progress,
    )  # fmt: skip
    if not isinstance(made, list):
        return made
    what = " and a ".join(sorted({type(one).__name__.lower() for one in made}))
    name = next((one.name for one in made if not isinstance(one, Dataset)), None)
    raise InputError(
        f"is read by itself: there is no one table of {len(made)} of these (a {what}); a side of "
        "compare, gate, trend, snapshot and report may hold them together",
        path=name,
    )


def read_side(*sources: Any, progress: bool = False, **options: Any) -> Any:
    """Read what stands on one side of a comparison.

    Parameters
    ----------
    *sources, **options
        As for `read`.
    progress : bool
        As for `read`.

    Returns
    -------
    Dataset, Snapshot, Capture or list of these
        What `read` gives; a list where the sources are of several kinds or several captures: the
        data set of all texts first, then the merged snapshots, then each capture.

    Raises
    ------
    InputError, OSError, RuleError
        As for `read`. Texts of which nothing was recognised are no error beside a snapshot.
    """
    checked = _options(**options)
    given = [one for source in sources for one in expand(source)]
    if not given:
        raise InputError("no source was given")
    parts: list[Part] = []
    others: list[Any] = []
    notes: list[str] = []
    seen: dict[str, int] = {}
    with (
        _bar(given, progress) as advance,
        contextlib.closing(in_order(given, partial(_read_source, checked), advance)) as made,
    ):
        for _, part in made:
            if isinstance(part, Part):
                parts.append(_once(part, len(parts), seen, notes))
            else:
                others.append(part)
    if not parts and not others:
        raise InputError("the archive has no files", path=given[0].name)
    found = [_checked(Dataset(parts, notes), alone=not others)] if parts else []
    found += _of_kinds(others)
    return found[0] if len(found) == 1 else found


def _of_kinds(others: Sequence[Any]) -> list[Any]:
    """The snapshots made one, then what else forms have made."""
    from .snapshots import Snapshot

    kept = [one for one in others if isinstance(one, Snapshot)]
    rest = [one for one in others if not isinstance(one, Snapshot)]
    if len(kept) > 1:
        whole = kept[0].merge(*kept[1:])
        whole.name = f"{len(kept)} snapshots"
        kept = [whole]
    return kept + rest


def read_together(
    *sources: Any,
    rules: Any = None,
    clock: int | float | str | None = None,
    platform: str | None = None,
    tee_offset: int | None = None,
    repair: bool = False,
    max_line: int = 0,
    limits: Limits | None = None,
    progress: bool = False,
) -> Dataset:
    """Read several consoles of the same boots: the normal and the secure world's.

    Parameters
    ----------
    *sources
        As for `read`; each is one console, and their boots are matched.
    rules, clock, platform, tee_offset, repair, max_line, limits, progress
        As for `read`.

    Returns
    -------
    Dataset

    Raises
    ------
    InputError
        As for `read`, or a source is no console.
    """
    options = _options(rules, clock, platform, tee_offset, repair, max_line, limits)
    given = [one for source in sources for one in expand(source)]
    if not given:
        raise InputError("no source was given")
    infos: list[SourceInfo] = []
    records: list[_core.Records] = []
    with _bar(given, progress) as advance, _RULESETS.lend(options) as rule_set:
        for stream in opened(given, options.limits):
            verdict = detect(stream.head, stream.source)
            if verdict.form is not LINES:
                name = stream.source.name
                raise InputError(f"is no console ({verdict.form.title})", path=name)
            info, read_records = read_lines(stream, rule_set, options, advance)
            info.why = verdict.lines() + info.evidence
            infos.append(info)
            records.append(read_records)
    return _checked(Dataset([_reduce(infos, records, options, together=len(infos) > 1)]))


def _once(part: Part, number: int, seen: dict[str, int], notes: list[str]) -> Part:
    """The part, without its tables where the same bytes were read before."""
    info = part.sources[0]
    if len(part.sources) > 1 or not info.digest or not info.bytes:
        return part
    first = seen.setdefault(info.digest, number)
    if first == number:
        return part
    notes.append(f"source {number} ({info.name}) has the same bytes as source {first}: not counted")
    return Part([replace(info, state=f"duplicate of {first}")], {}, {})


def _checked(data: Dataset, alone: bool = True) -> Dataset:
    """Refuse a data set (if it is `alone`) of which nothing was recognised; note what was not."""
    infos = data.infos
    unknown = [info for info in infos if info.state == "not recognised"]
    if alone and unknown and len(unknown) == len(infos):
        raise InputError(unknown[0].message, path=unknown[0].name)
    failed = [info for info in infos if info.state in ("unreadable", "damaged")]
    if alone and failed and len(failed) == len(infos) and not any(info.records for info in infos):
        raise InputError(failed[0].message, path=failed[0].name)
    data.notes += [f"{info.name}: {info.message}" for info in infos if info.message]
    data.notes += _unsettled(data.parts)
    return data


#: Formats whose values need the board's clock, and what stands for it without one.
_NEED_CLOCK = {"tftf": ("ns", "plain ns: their step is not known"), "pmf": ("tick", "ticks")}


def _unsettled(parts: Sequence[Part]) -> list[str]:
    """What the sources do not say about the board, and which option would settle it."""
    unknown: set[str] = set()
    for keys in (part.tables["keys"] for part in parts if "keys" in part.tables):
        formats, units, clocks = (keys.column(n) for n in ("format", "unit", "clock_hz"))
        for k in range(len(keys)):
            name = str(formats.cell(k))
            stored = _NEED_CLOCK.get(name, ("", ""))[0]
            if stored and clocks.cell(k) is None and units.cell(k) == stored:
                unknown.add(name)
    said = ", ".join(f"{name} values are {_NEED_CLOCK[name][1]}" for name in sorted(unknown))
    if not said:
        return []
    return [f"no clock is known for some boots, {said}; --platform NAME or --clock HZ settles it"]


@contextlib.contextmanager
def _bar(sources: Sequence[Source], progress: bool) -> Iterator[Callable[[int], Any]]:
    """A progress bar over bytes; its total is known where all sources are plain files."""
    if not progress:
        yield lambda n: None
        return
    tqdm = need("tqdm.auto", "progress").tqdm
    sizes = [s.path.stat().st_size if s.path is not None else None for s in sources]
    known = None if any(size is None for size in sizes) else sum(s or 0 for s in sizes)
    with tqdm(total=known, unit="B", unit_scale=True, desc="read") as bar:
        yield bar.update

"""Reading sources: open, decide, parse, reduce."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Protocol

from .. import _core
from ..dataset.dataset import Dataset, Part, SourceInfo
from ..errors import InputError
from ..limits import Limits
from ..sources.digest import Firsts
from ..sources.expand import expand
from ..sources.opening import opened
from ..sources.source import Pieces, Source, Stream
from ..util.optional import need
from ..util.text import counted
from .console import RULESETS, read_lines
from .detect import LINES, Verdict, bundles, detect, revisions
from .many_files import in_order
from .options import Options, checked_options
from .pile import Pile
from .reduce import reduce_records

__all__ = ["read", "read_parts", "read_side", "read_together"]


#: The kinds of result that `read` can be asked for.
_KINDS = ("dataset", "capture", "snapshot")


def load(source: Source, options: Options) -> Part:
    """Read a source as console lines (`detect.LINES`)."""
    with source.open(options.limits) as stream:
        return _load_lines(stream, options, lambda n: None)


def _load_lines(stream: Stream, options: Options, advance: Callable[[int], Any]) -> Part:
    with RULESETS.lend(options) as rules:
        info, records = read_lines(stream, rules, options, advance)
    return reduce_records([info], [records], options, together=False)


def _read_one(stream: Stream, options: Options, advance: Callable[[int], Any]) -> Any:
    """An open source by its form: a `Part`, or the form's own object."""
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
    if source.skipped:
        info = SourceInfo(source.name, state="skipped", message=source.skipped)
        yield source.name, Part([info], {}, {})
        return
    options = replace(options, beside=alone)
    for stream in opened([source], options.limits):
        yield stream.source.name, _read_one(stream, options, advance)


def _explained(part: Part, verdict: Verdict) -> Part:
    for info in part.sources:
        info.form = verdict.form.name
        info.why = [*verdict.lines(), *info.evidence, *info.why]
    return part


def read(
    *sources: Any,
    form: str | None = None,
    rules: Any = None,
    clock: int | float | str | None = None,
    platform: str | None = None,
    tee_offset: int | None = None,
    repair: bool = False,
    max_line: int = 0,
    limits: Limits | None = None,
    why: bool = False,
    digest: bool = False,
    progress: bool = False,
) -> Any:
    """Read consoles, captures, snapshots, published tables: whatever the sources are.

    Parameters
    ----------
    *sources
        Paths, globs, folders, URLs, ``"-"``, bytes, binary file objects. Several sources are
        independent boots; equal ones (by digest) count once. Compression is undone.
    form : {"dataset", "capture", "snapshot"}, optional
        The kind of result that is wanted; another one is refused. A type checker then knows it,
        and takes it for a `Dataset` without.
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
        Bounds of a source, a rule and an archive.
    why : bool
        Keep near misses of lines that another rule took, too, in the table ``near`` (slower);
        without it, those of lines that gave nothing.
    digest : bool
        Work out SHA-256 while reading. Otherwise the digest of a file is made from the file when
        it is first asked for; a pipe, a URL and a member of an archive always have theirs.
    progress : bool
        Show a progress bar (tqdm).

    Returns
    -------
    Dataset
        A single capture gives a ``Capture`` instead, snapshots give one merged ``Snapshot``.

    Raises
    ------
    InputError
        The sources are not of the `form` that is wanted.
        No source was recognised; the message names the formats tried and the nearest line.
        Or the sources are of kinds that no one object holds, such as a snapshot and a log.
    OSError
        A source cannot be opened. One that fails while it is read keeps the part before, and
        says so in ``Dataset.sources`` and ``Dataset.problems``.
    RuleError
        A rule is wrong.
    """
    made = read_side(
        *sources, rules=rules, clock=clock, platform=platform, tee_offset=tee_offset,
        repair=repair, max_line=max_line, limits=limits, why=why, digest=digest,
        progress=progress,
    )  # fmt: skip
    if form not in (None, *_KINDS):
        raise ValueError(f"form is one of {', '.join(_KINDS)}, not {form!r}")
    if not isinstance(made, list):
        kind = type(made).__name__.lower()
        if form not in (None, kind):
            raise InputError(f"is a {kind}, not a {form}", path=getattr(made, "name", None))
        return made
    what = " and a ".join(sorted({type(one).__name__.lower() for one in made}))
    name = next((one.name for one in made if not isinstance(one, Dataset)), None)
    raise InputError(
        f"is read by itself: there is no one table of {len(made)} of these (a {what}); a side of "
        "compare, gate, trend, snapshot and report may hold them together",
        path=name,
    )


def read_side(*sources: Any, progress: bool = False, **options: Any) -> Any:
    """Read one side of a comparison.

    Parameters
    ----------
    *sources, **options
        As for `read`.
    progress : bool
        As for `read`.

    Returns
    -------
    Dataset, Snapshot, Capture or list of these
        The result of `read`; a list where the sources are of several kinds or several captures: the
        data set of all texts first, then the merged snapshots, then each capture.

    Raises
    ------
    InputError, OSError, RuleError
        As for `read`. Texts of which nothing was recognised are no error beside a snapshot.
    """
    chosen = checked_options(**options)
    pile = Pile()
    others, notes = _made_of(sources, chosen, progress, pile.add)
    parts = pile.parts()
    found = [_checked(Dataset(parts, notes), chosen, alone=not others)] if parts else []
    found += _of_kinds(others)
    return found[0] if len(found) == 1 else found


def read_parts(source: Source, **options: Any) -> list[Any]:
    """Read one source; its state is told in the parts, and nothing is refused for it.

    Parameters
    ----------
    source : Source
    **options
        As for `read`.

    Returns
    -------
    list
        A `Part` for each text (of an archive), its state in ``sources[0].state``; then those
        that other forms have made.

    Raises
    ------
    InputError, OSError, RuleError
        As for `read`, but for texts in which nothing was recognised or that cannot be read.
    """
    parts: list[Any] = []
    others, _ = _made_of([source], checked_options(**options), False, parts.append)
    return [*parts, *others]


def _made_of(
    sources: Sequence[Any], options: Options, progress: bool, keep: Callable[[Part], Any]
) -> tuple[list[Any], list[str]]:
    """Objects of other forms, and notes on copies; the parts of all texts are given to `keep`."""
    given = [one for source in sources for one in expand(source, bundles, revisions)]
    if not given:
        raise InputError("no source was given")
    texts = 0
    others: list[Any] = []
    notes: list[str] = []
    seen = Firsts()
    with (
        _bar(given, progress) as advance,
        contextlib.closing(in_order(given, partial(_read_source, options), advance)) as made,
    ):
        for _, part in made:
            if isinstance(part, Part):
                keep(_once(part, texts, seen, notes))
                texts += 1
            else:
                others.append(part)
    if not texts and not others:
        raise InputError("the archive has no files", path=given[0].name)
    return others, notes


class _Mergeable(Protocol):
    """Made objects of which several are one, such as snapshots."""

    name: str

    def merge(self, *others: Any) -> Any: ...


def _of_kinds(others: Sequence[Any]) -> list[Any]:
    """Those that merge made one of each kind, then the others."""
    kinds: dict[type, list[_Mergeable]] = {}
    for one in others:
        if hasattr(one, "merge"):
            kinds.setdefault(type(one), []).append(one)
    merged: list[Any] = []
    for kind, made in kinds.items():
        whole = made[0] if len(made) == 1 else made[0].merge(*made[1:])
        if len(made) > 1:
            whole.name = f"{len(made)} {kind.__name__.lower()}s"
        merged.append(whole)
    return merged + [one for one in others if not hasattr(one, "merge")]


def read_together(
    *sources: Any,
    rules: Any = None,
    clock: int | float | str | None = None,
    platform: str | None = None,
    tee_offset: int | None = None,
    repair: bool = False,
    max_line: int = 0,
    limits: Limits | None = None,
    why: bool = False,
    digest: bool = False,
    progress: bool = False,
) -> Dataset:
    """Read several consoles of the same boots: the normal and the secure world's.

    Parameters
    ----------
    *sources
        As for `read`; each is one console, and their boots are matched.
    rules, clock, platform, tee_offset, repair, max_line, limits, why, digest, progress
        As for `read`.

    Returns
    -------
    Dataset

    Raises
    ------
    InputError
        As for `read`, or a source is no console.
    """
    options = checked_options(
        rules, clock, platform, tee_offset, repair, max_line, limits, why, digest
    )
    given = [one for source in sources for one in expand(source, bundles, revisions)]
    if not given:
        raise InputError("no source was given")
    infos: list[SourceInfo] = []
    records: list[_core.Records] = []
    with _bar(given, progress) as advance, RULESETS.lend(options) as rule_set:
        for stream in opened([one for one in given if not one.skipped], options.limits):
            verdict = detect(stream.head, stream.source)
            if verdict.form is not LINES:
                name = stream.source.name
                raise InputError(f"is no console ({verdict.form.title})", path=name)
            info, read_records = read_lines(stream, rule_set, options, advance)
            info.why = verdict.lines() + info.evidence
            infos.append(info)
            records.append(read_records)
    data = Dataset([reduce_records(infos, records, options, together=len(infos) > 1)])
    return _checked(data, options)


def _once(part: Part, number: int, seen: Firsts, notes: list[str]) -> Part:
    """The part, without its tables where the same bytes were read before."""
    info = part.sources[0]
    if len(part.sources) > 1 or info.identity is None or not info.bytes:
        return part
    first = seen.of(info.identity, number)
    if first == number:
        return part
    notes.append(f"source {number} ({info.name}) has the same bytes as source {first}: not counted")
    return Part([replace(info, state=f"duplicate of {first}")], {}, {})


def _checked(data: Dataset, options: Options, alone: bool = True) -> Dataset:
    """Refuse a data set (if it is `alone`) of which nothing was recognised; note unknown ones."""
    infos = data.infos
    unknown = [info for info in infos if info.state == "not recognised"]
    if alone and unknown and len(unknown) == len(infos):
        raise InputError(unknown[0].message, path=unknown[0].name)
    failed = [info for info in infos if info.state in ("unreadable", "damaged")]
    if alone and failed and len(failed) == len(infos) and not any(info.records for info in infos):
        raise InputError(failed[0].message, path=failed[0].name)
    data.notes += [f"{info.name}: {info.message}" for info in infos if info.message]
    data.notes += [
        f"{info.name}: {counted(info.unread, 'line')} of the same program "
        f"{'was' if info.unread == 1 else 'were'} not read (near {info.unread_rule}); "
        "show --why tells where they failed"
        for info in infos
        if info.unread and not info.state.startswith("duplicate")
    ]
    data.notes += _unsettled(data.parts, options)
    return data


def _unsettled(parts: Sequence[Part], options: Options) -> list[str]:
    """Facts about the board that the sources do not state, and the option for each."""
    unclocked: set[str] = set()
    for keys in (part.tables["keys"] for part in parts if "keys" in part.tables):
        names, clocks = keys.column("format").cells(), keys.column("clock_hz").cells()
        unclocked |= {str(n) for n, hz in zip(names, clocks, strict=True) if hz is None}
    if not unclocked:
        return []
    with RULESETS.lend(options) as rules:
        formats = rules.formats
    needed = {name: formats.get(name, {}).get("needs_clock") for name in sorted(unclocked)}
    said = ", ".join(f"{name} values are {how}" for name, how in needed.items() if how)
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

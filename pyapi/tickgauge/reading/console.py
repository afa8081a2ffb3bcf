"""One source as console lines: its bytes to a reader of the core, its records and messages about
them."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

from .._core import Reader, Records, RuleSet, Table
from ..dataset.dataset import SourceInfo
from ..errors import InputError, LimitError
from ..frame.frame import Frame
from ..rules.rule import Rule, with_shipped
from ..sources.decode import Decoder, decoder_of, foreign_command
from ..sources.digest import Digest, again
from ..sources.source import Stream
from ..util.late import futures, hashlib
from .line_prefix import common_prefix
from .options import Options
from .split_file import can_halve, read_halves

__all__ = ["RULESETS", "read_lines"]

#: Pieces from this size on are hashed on a second thread while they are parsed.
HASH_APART = 1 << 18


class _Rulesets:
    """Compiled rule sets: each serves one reader at a time, so they are lent and given back."""

    def __init__(self) -> None:
        self._free: dict[tuple[Any, ...], list[RuleSet]] = {}

    @contextlib.contextmanager
    def lend(self, options: Options) -> Iterator[RuleSet]:
        """A rule set of the user's rules, the shipped and the built-in ones, in that order."""
        limits = options.limits
        if len(self._free) > 8:
            self._free.clear()
        free = self._free.setdefault((options.rules, limits.rules, limits.template), [])
        try:
            one = free.pop()
        except IndexError:
            given = [rule.definition() for rule in with_shipped(options.rules)]
            one = RuleSet(given, max_rules=limits.rules, max_template=limits.template)
        yield one  # after an exception a reader may still hold it: it is not lent again
        free.append(one)


RULESETS = _Rulesets()


def _as_opened(stream: Stream) -> Iterator[bytes]:
    """The pieces of a source; of a file that grows, those that were there when it was opened."""
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


class _Along:
    """A digest made along the parsing, of large pieces on a thread of its own if `beside`."""

    def __init__(self, beside: bool) -> None:
        self._state = hashlib.sha256()
        self._beside = beside
        self._pool: futures.ThreadPoolExecutor | None = None
        self._hashed: futures.Future[None] | None = None

    def begin(self, piece: bytes) -> None:
        """The next piece, which may be hashed until `end`."""
        if not self._beside or len(piece) < HASH_APART:
            self._state.update(piece)
            return
        if self._pool is None:
            self._pool = futures.ThreadPoolExecutor(1)
        self._hashed = self._pool.submit(self._state.update, piece)

    def end(self) -> None:
        """Wait for the piece."""
        if self._hashed is not None:
            self._hashed.result()
            self._hashed = None

    def close(self) -> None:
        """End the thread, behind its piece."""
        if self._pool is not None:
            self._pool.shutdown()

    def hex(self) -> str:
        """The digest of all pieces."""
        return self._state.hexdigest()


def _feed(
    stream: Stream,
    reader: Reader,
    info: SourceInfo,
    advance: Callable[[int], Any],
    beside: bool,
    decoder: Decoder | None,
    hashing: bool,
) -> None:
    """All bytes into the reader as plain text, and into the digest if `hashing`.

    A failure is kept in `info`.
    """
    text = decoder.feed if decoder is not None else lambda piece: piece
    digest = _Along(beside) if hashing else None
    total = 0
    try:
        for piece in _as_opened(stream):
            total += len(piece)
            if digest is not None:
                digest.begin(piece)
            reader.feed(text(piece))
            if digest is not None:
                digest.end()
            advance(len(piece))
        if decoder is not None:
            reader.feed(decoder.finish())
    except InputError as error:
        info.state, info.message = "damaged", error.message
    except LimitError as error:
        info.state, info.message = "limit", error.message
    except OSError as error:
        info.state, info.message = "unreadable", error.strerror or str(error)
    finally:
        if digest is not None:
            digest.close()
    if digest is not None:
        info.identity = Digest(total, digest.hex())
    info.bytes = total
    if info.state == "read" and stream.expected is not None and total < stream.expected:
        info.state = "damaged"
        info.message = f"the file shrank while it was read: {total} of {stream.expected} bytes"


def _halves(
    stream: Stream,
    rules: RuleSet,
    options: Options,
    advance: Callable[[int], Any],
    prefix: str | None,
    info: SourceInfo,
    hashing: bool,
) -> Records | None:
    """A large file on two threads; None: to be read as one."""
    if not options.beside or not can_halve(stream, options.repair):
        return None
    with RULESETS.lend(options) as others:
        first, second = (Reader(one, **_bounds(options, prefix)) for one in (rules, others))
        try:
            found = read_halves(stream, first, second, advance, hashing)
        finally:
            del first, second  # the rule sets are free again
    if found is None:
        return None
    records, text, info.bytes = found
    info.identity = Digest(info.bytes, text) if hashing else None
    return records


def _plain_head(head: bytes, options: Options) -> bytes:
    """The first bytes as plain text; nothing of a document that must be parsed as a whole."""
    decoder = decoder_of(head, options.limits)
    return head if decoder is None else decoder.feed(head)


def _bounds(options: Options, prefix: str | None) -> dict[str, Any]:
    """How every reader is made."""
    return {
        "prefix": prefix,
        "max_line": options.max_line,
        "max_records": options.limits.records,
        "max_problems": options.limits.problems,
        "max_label": options.limits.label,
        "keep_near": 2 if options.why else 1,
    }


def read_lines(
    stream: Stream,
    rules: RuleSet,
    options: Options,
    advance: Callable[[int], Any] = lambda n: None,
) -> tuple[SourceInfo, Records]:
    """Parse one open source as console lines.

    Parameters
    ----------
    stream : Stream
    rules : RuleSet
        In use by no other reader.
    options : Options
    advance : callable
        Told the number of bytes after each piece.
    """
    info = SourceInfo(stream.source.name, compression=stream.compression)
    decoder = decoder_of(stream.head, options.limits)
    plain = _plain_head(stream.head, options)
    prefix = common_prefix(plain)
    form = prefix.form if prefix is not None else None
    hashing = options.digest or not stream.source.lasting
    records = None
    if decoder is None:
        records = _halves(stream, rules, options, advance, form, info, hashing)
    if records is None:
        reader = Reader(rules, repair_uart=options.repair, **_bounds(options, form))
        _feed(stream, reader, info, advance, options.beside, decoder, hashing)
        records = reader.finish()
    if not hashing:
        info.identity = again(stream.source, stream.status, info.bytes, options.limits)
    totals = records.totals()
    info.lines, info.records, info.problems = (
        totals[name] for name in ("lines", "records", "problems")
    )
    info.ledger = [row if row[1] else _shared(row) for row in records.ledger()]
    info.unread, info.unread_rule = records.unread()
    info.formats = _formats_of(records, _contexts(options.rules))
    info.evidence = _evidence(records, info.formats)
    if decoder is not None:
        place = "lines and offsets count the decoded text"
        info.evidence.insert(0, f"decoded from {decoder.title}: {place}")
    if prefix is not None and totals["prefixed"]:
        info.evidence.insert(0, f"lines begin behind a prefix, such as {prefix.example!r}")
    foreign = foreign_command(stream.head, stream.source.name)
    if foreign and info.state == "read":
        info.state, info.message = "not recognised", foreign
    if info.state == "read" and not info.formats and not info.problems:
        info.state = "not recognised"
        info.message = _nothing_found(plain, info, records, options.rules)
    return info, records


@functools.lru_cache(1 << 14)
def _shared(row: tuple[bytes, int, int, int, int]) -> tuple[bytes, int, int, int, int]:
    """The row of a tag that never occurred: one object for all sources."""
    return row


@functools.lru_cache(8)
def _contexts(rules: tuple[Rule, ...]) -> frozenset[str]:
    """The rules without a value that are there as the context of others: ``cpu = 3``, ``size=10``.

    Such a line stands in many logs: alone it is no evidence of the format.
    """
    given = [rule.definition() for rule in with_shipped(rules)]
    asked = {
        name if "." in name else f"{one['name'].partition('.')[0]}.{name}"
        for one in given
        for name in f"{one['context'] or ''},{one['before'] or ''}".split(",")
    }
    return frozenset(one["name"] for one in given if not one["values"]) & asked


def _formats_of(records: Records, contexts: frozenset[str]) -> tuple[str, ...]:
    """The formats with records; the console's catch-all rules are none."""
    names = dict.fromkeys(
        name.partition(".")[0]
        for name, count in zip(records.rules, records.counts(), strict=True)
        if count and not name.startswith("console.other_") and name not in contexts
    )
    return tuple(names)


def _evidence(records: Records, formats: tuple[str, ...]) -> list[str]:
    """The evidence for each format: its records, and the lines that should have been some.

    The score is the share of records among both, in percent, rounded down.
    """
    bad: dict[str, int] = {}
    problems = records.problems()
    words = problems.words("rule") or ()
    for code, present in zip(problems.column("rule"), problems.valid("rule"), strict=True):
        head = words[code].decode("utf-8", "replace").partition(".")[0] if present else ""
        bad[head] = bad.get(head, 0) + 1
    counted = [one for one in zip(records.rules, records.counts(), strict=True) if one[1]]
    out = []
    for form in formats:
        kinds = {
            name.partition(".")[2]: count
            for name, count in counted
            if name.partition(".")[0] == form
        }
        n, torn = sum(kinds.values()), bad.get(form, 0)
        most = sorted(kinds, key=lambda kind: -kinds[kind])
        shown = ", ".join(most[:4]) + (" ..." if len(most) > 4 else "")
        torn_text = f", {torn} torn" if torn else ""
        score = 100 * n // (n + torn)
        out.append(f"{form}: {n} records ({shown}){torn_text} (score {score})")
    return out


def _nothing_found(
    head: bytes, info: SourceInfo, records: Records, own: tuple[Rule, ...] = ()
) -> str:
    """The message for a source that was not recognised."""
    if info.bytes == 0:
        return "is empty"
    if head.count(0) > len(head) // 10:
        return "looks like binary data: none of the known line forms occur in it"
    shown = ", ".join(repr(tag.decode("utf-8", "replace")) for tag, *_ in info.ledger[: len(own)])
    return (
        f"no known kind of line was found in {info.lines} line{'s' if info.lines != 1 else ''}; "
        "looked for "
        + (f"{shown} and " if shown else "")
        + "what tickgauge show --formats lists"
        + ". Own lines can be described: --rules FILE, tg.Rule(...)"
        + _nearest(records.near(), _contexts(own))
    )


def _nearest(near: Table, contexts: frozenset[str]) -> str:
    """The line that came nearest to a rule that gives readings, in words."""
    frame = Frame(near)
    rows = [row for row in map(frame.row, range(len(frame))) if row["rule"] not in contexts]
    if not rows:
        return ""
    row = max(rows, key=lambda one: one["reached"])
    return (
        f". Nearest came line {row['line']} to rule {row['rule']}, where "
        f"{row['expected']} was expected"
    )

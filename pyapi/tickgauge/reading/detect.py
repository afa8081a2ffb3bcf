"""The one dispatcher: the kind of a source, decided by content alone, and the reason.

A whole-file form (a capture, a snapshot, a published table, a ``.ts`` file) excludes every other
reading of a source. Everything else is lines, on which all line formats are tried together.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO, Any

from .._core import capture_sniff
from ..sources.form import Bundle, Match

__all__ = ["FORMS", "LINES", "Form", "bundles", "detect", "form_of", "revisions"]


@dataclass(frozen=True)
class Form:
    """A whole-file form.

    Parameters
    ----------
    name, title : str
        For programs, and for people.
    module : str
        Module of this package with two functions. ``sniff(head: bytes, source: Source) -> Match``
        looks at the first bytes (at most 64 KiB, decompressed). ``load(source: Source,
        options: options.Options) -> dataset.Part`` reads the source; it may instead return an
        object of its own, which `tickgauge.read` then hands on.
    hint : callable
        Whether the first bytes may be of this form: quick, and without its module, which is
        loaded only for sources that pass.
    bundled : str
        Pattern of the files that may be one source together; "" where each is its own. With one
        the module has ``bundles(folder: Path) -> iterable of Bundle``.
    historic : bool
        Whether its sources are also had from the history of a checkout; then the module has
        ``revisions(path: Path, words: str)``, see `sources.form.Revisions`.
    """

    name: str
    title: str
    module: str
    hint: Callable[[bytes], bool]
    bundled: str = ""
    historic: bool = False

    def sniff(self, head: bytes, source: Any) -> Match:
        """How well the form fits."""
        if not self.hint(head):
            return Match(0, "")
        match: Match = self._module().sniff(head, source)
        return match

    def load(self, source: Any, options: Any) -> Any:
        """Read the source."""
        return self._module().load(source, options)

    def bundles(self, folder: Path) -> Iterator[Bundle]:
        """The files at and below a folder that are one source together."""
        if self.bundled and next(folder.rglob(self.bundled), None) is not None:
            yield from self._module().bundles(folder)

    def revisions(self, path: Path, words: str) -> Callable[[], IO[bytes]] | None:
        """A function that opens the sources of this form at revisions of a checkout."""
        if not self.historic:
            return None
        made: Callable[[], IO[bytes]] | None = self._module().revisions(path, words)
        return made

    def _module(self) -> Any:
        return _module(self.module)


@cache
def _module(name: str) -> Any:
    return importlib.import_module(f"tickgauge.{name}")


def _is_capture(head: bytes) -> bool:
    return head.startswith(b"PK\x03\x04") or capture_sniff(head[:4096]) is not None


def _is_json(head: bytes) -> bool:
    return head.lstrip()[:1] == b"{"


#: How a list of stamps begins, as YAML or between tabs.
_STAMPS = re.compile(rb"[\xef\xbb\xbf\s]*(?:timestamps:|\d+\t)")

#: Rules of a grid, RST tables, columns of the long CSV, names of files, rows and heads of CSV.
_TABLES = re.compile(
    rb"\+[-=]|table::|release_label|# \S+\.csv"
    rb"|(?:\A(?:\xef\xbb\xbf)?|[\r\n])\s*\"?(?:\d+|[Cc][Ll][Uu][Ss][Tt][Ee][Rr])\"?,"
)


def _may_be_stamps(head: bytes) -> bool:
    return _STAMPS.match(head) is not None


def _may_be_results(head: bytes) -> bool:
    return b"measurement" in head


def _may_be_tables(head: bytes) -> bool:
    return _TABLES.search(head) is not None


#: Every whole-file form: one line for a new one.
FORMS: tuple[Form, ...] = (
    Form("capture", "a logic capture (ILA CSV, VCD, .ila)", "captures.files", _is_capture),
    Form("snapshot", "a snapshot of tickgauge", "comparison.snapshot", _is_json),
    Form(
        "ts", "a stamp file of OP-TEE's benchmark framework (.ts)", "reading.optee_ts",
        _may_be_stamps,
    ),
    Form(
        "published", "published release tables", "tfa.as_source", _may_be_tables,
        bundled="*.csv", historic=True,
    ),
    Form("lava-results", "results of LAVA (CSV, YAML)", "reading.lava_results", _may_be_results),
)  # fmt: skip

#: The form of a source that no whole-file form fits.
LINES = Form("lines", "console lines", "reading.read", bool)

#: A form that fits less well than this is not taken.
THRESHOLD = 50


def bundles(folder: Path) -> Iterator[Bundle]:
    """The files at and below a folder that some form takes as one source."""
    for form in FORMS:
        yield from form.bundles(folder)


def revisions(path: Path, words: str) -> Callable[[], IO[bytes]] | None:
    """A function that opens a path of a checkout at revisions, by the first form that can."""
    made = (form.revisions(path, words) for form in FORMS)
    return next((one for one in made if one is not None), None)


@dataclass(frozen=True)
class Verdict:
    """The form that was chosen, and how every form did.

    Parameters
    ----------
    form : Form
    match : Match
        Of the chosen form.
    others : sequence of (Form, Match)
        All others, best first.
    """

    form: Form
    match: Match
    others: Sequence[tuple[Form, Match]]

    def lines(self) -> list[str]:
        """The decision in words, for ``show --why``."""
        out = [f"read as {self.form.title}: {self.match.evidence} (score {self.match.score})"]
        for form, match in self.others:
            if match.score or match.evidence:
                out.append(f"not {form.title}: {match.evidence} (score {match.score})")
        return out


def detect(head: bytes, source: Any) -> Verdict:
    """Decide which form a source has.

    Parameters
    ----------
    head : bytes
        Its first bytes, decompressed.
    source : Source
        Opened again only by forms that need more than the head (an archive).

    Returns
    -------
    Verdict
        The best whole-file form of score 50 or more, else lines. Equal scores: the first of
        `FORMS`.
    """
    tried = [(form, form.sniff(head, source)) for form in FORMS]
    tried.sort(key=lambda pair: -pair[1].score)
    if tried and tried[0][1].score >= THRESHOLD:
        return Verdict(*tried[0], tried[1:])
    why = "no whole-file form fits" if tried else "text"
    return Verdict(LINES, Match(100 - (tried[0][1].score if tried else 0), why), tried)


def form_of(name: str) -> Form:
    """The form of that name."""
    return next(form for form in (*FORMS, LINES) if form.name == name)

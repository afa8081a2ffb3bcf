"""A common prefix in front of most lines, found by content: syslog, logcat, grabserial."""

from __future__ import annotations

import re
from collections import Counter
from typing import NamedTuple

__all__ = ["Prefix", "common_prefix"]

#: So many lines of the head decide.
LINES = 400
#: Fewer lines than this say nothing.
FEWEST = 4
#: Tokens of a line that are looked at.
TOKENS = 40
#: A prefix stands in front of this share of the lines.
SHARE = 0.8
#: Different words in one place, such as log levels and months.
WORDS = 8
#: Bytes of a form that the core takes.
LONGEST = 255

_TOKEN = re.compile(r"[0-9]+|[A-Za-z_]+|[ \t]+|.", re.DOTALL)
#: Time of day, or seconds with a fraction: the prefix of a stamper.
_STAMP = re.compile(r"0:0:0|0\.0")


class Prefix(NamedTuple):
    """A prefix: its form for the core, an example, and the share of lines that have it."""

    form: str
    example: str
    share: float


def common_prefix(head: bytes) -> Prefix | None:
    """The prefix that most lines of a source have; None where there is none.

    Parameters
    ----------
    head : bytes
        The first bytes of the source, as plain text.
    """
    lines = [line.rstrip("\r") for line in head.decode("latin-1").split("\n")[:-1]]
    lines = [line for line in lines[:LINES] if line.strip()]
    if len(lines) < FEWEST:
        return None
    rows = [_TOKEN.findall(line[:400])[:TOKENS] for line in lines]
    need = SHARE * len(lines)
    form: list[str] = []
    shape = ""
    ends: list[tuple[int, int, str]] = []  # (tokens, items of the form, shape) where it may end
    alive = [(row, 0) for row in rows]
    while len(form) < TOKENS:
        alive = [(row, at) for row, at in alive if at < len(row)]
        item, alive = _step(alive, need)
        if item is None:
            break
        form.append(item)
        shape += {" _": " ", "\\": ""}.get(item, item.removeprefix("\\"))
        if item == " _" and len(form) > 1:
            ends.append((len(alive), len(form), shape))
    return _best(form, ends, alive, lines)


def _step(
    alive: list[tuple[list[str], int]], need: float
) -> tuple[str | None, list[tuple[list[str], int]]]:
    """The next item that enough rows agree on, and the rows that do, moved behind it."""
    kinds = Counter(_kind(row[at]) for row, at in alive)
    if not kinds:
        return None, []
    kind, n = kinds.most_common(1)[0]
    if n < need:
        return None, alive
    rest = [(row, at) for row, at in alive if _kind(row[at]) == kind]
    if kind == "a":
        words = Counter(row[at] for row, at in rest)
        word, often = words.most_common(1)[0]
        if often >= need:
            rest = [(row, at) for row, at in rest if row[at] == word]
            return "".join("\\" + c for c in word), [(row, at + 1) for row, at in rest]
        if len(words) > WORDS:
            return None, alive
    return kind, [(row, at + 1) for row, at in rest]


def _kind(token: str) -> str:
    """The item of a form that stands for a token."""
    if token[0].isascii() and token[0].isdigit():
        return "0"
    if token[0] in " \t":
        return " _"
    if token[0] == "_" or (token[0].isascii() and token[0].isalpha()):
        return "a"
    return "\\" + token


def _best(
    form: list[str],
    ends: list[tuple[int, int, str]],
    alive: list[tuple[list[str], int]],
    lines: list[str],
) -> Prefix | None:
    """The longest part that ends where a prefix may end and holds a stamp or a bar."""
    for _, items, shape in reversed(ends):
        closed = form[items - 2] in ("\\:", "\\|", "\\>", "\\]", "\\)", "0", "\\Z")
        stamped = _STAMP.search(shape) is not None or form[items - 2] in ("\\|", "\\>")
        text = "".join([*form[: items - 1], " "])
        if not closed or not stamped or len(text) > LONGEST or not text.isascii():
            continue
        pattern = re.compile(_as_pattern(form[: items - 1]))
        found = [match for line in lines if (match := pattern.match(line))]
        if len(found) >= SHARE * len(lines) and len(set(_rests(found))) >= 3:
            return Prefix(text, found[0].group(), len(found) / len(lines))
    return None


def _as_pattern(form: list[str]) -> str:
    parts = {"0": "[0-9]+", "a": "[A-Za-z_]+", " _": "[ \t]+"}
    return "".join(parts.get(item) or re.escape(item.replace("\\", "")) for item in form) + "[ \t]"


def _rests(found: list[re.Match[str]]) -> list[str]:
    """The first word behind the prefix of each line: a text, not another column."""
    return [match.string[match.end() :].strip()[:40] for match in found]

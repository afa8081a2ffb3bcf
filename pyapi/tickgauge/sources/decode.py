"""Consoles inside another encoding: UTF-16, HTML, JSON, YAML, terminal casts, back to plain text.

The head of a source decides. The reader gets the console's own lines; their numbers and
offsets count the decoded text.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable, Iterable
from typing import Any, Protocol

from ..errors import InputError, LimitError
from ..limits import Limits
from ..util.late import html
from ..util.optional import need
from .journal import JournalExport, from_kmsg, is_export, is_kmsg, stamped
from .rt_tests import is_rt_tests, tables_of

__all__ = ["Decoder", "decoder_of", "foreign_command"]


class Decoder(Protocol):
    """Takes a source piece by piece and returns plain text."""

    #: Name of the encoding, for people.
    title: str

    def feed(self, data: bytes) -> bytes:
        """Text of the next piece, as far as it is complete."""

    def finish(self) -> bytes:
        """The rest, at the end of the source."""


class _Utf16:
    """UTF-16 to UTF-8; a code unit that is none becomes U+FFFD."""

    def __init__(self, order: str) -> None:
        self.title = f"UTF-16 ({order} endian)"
        name = "utf-16-le" if order == "little" else "utf-16-be"
        self._decoder = codecs.getincrementaldecoder(name)("replace")
        self._first = True

    def feed(self, data: bytes) -> bytes:
        return self._bytes(self._decoder.decode(data))

    def finish(self) -> bytes:
        return self._bytes(self._decoder.decode(b"", True))

    def _bytes(self, text: str) -> bytes:
        if self._first and text:
            text = text.removeprefix("\ufeff")
            self._first = False
        return text.encode("utf-8", "replace")


class _Chain:
    """One encoding inside another."""

    def __init__(self, outer: Decoder, inner: Decoder) -> None:
        self.title = f"{outer.title}, then {inner.title}"
        self._outer, self._inner = outer, inner

    def feed(self, data: bytes) -> bytes:
        return self._inner.feed(self._outer.feed(data))

    def finish(self) -> bytes:
        return self._inner.feed(self._outer.finish()) + self._inner.finish()


class _Lines:
    """Decodes whole lines: keeps an unfinished one until its end comes."""

    title = ""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> bytes:
        whole, end, rest = data.rpartition(b"\n")
        if not end:
            self._rest += data
            return b""
        block, self._rest = self._rest + whole + end, rest
        return self.block(block)

    def finish(self) -> bytes:
        rest, self._rest = self._rest, b""
        return self.block(rest) if rest else b""

    def block(self, data: bytes) -> bytes:
        """Text of whole lines."""
        raise NotImplementedError


#: Elements of a saved page; `<RT_INSTR:...` and the like are text.
_ELEMENT = re.compile(
    r"<(?:!--.*?--|!doctype[^<>]*|/?(?:a|abbr|article|aside|b|blockquote|body|br|button|code|div|em"
    r"|font|footer|form|h[1-6]|head|header|hr|html|i|iframe|img|input|kbd|label|li|link|main|meta"
    r"|nav|noscript|ol|p|path|pre|samp|section|small|span|strong|sub|sup|svg|table|tbody|td|template"
    r"|th|thead|title|tr|tt|u|ul|var)(?=[\s/>])[^<>]*)>",
    re.IGNORECASE | re.DOTALL,
)
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_ENTITY = re.compile(rb"&(?:lt|gt|amp|quot|apos|nbsp|#[0-9]{1,7}|#x[0-9a-fA-F]{1,6});")
_PAGE = re.compile(rb"<!doctype html|<html[\s>]|<pre[\s>]", re.IGNORECASE)


class _Html(_Lines):
    """Text of a saved page, or of lines whose `<`, `>` and `&` are written as entities."""

    def __init__(self, page: bool) -> None:
        super().__init__()
        self.title = "a page of HTML" if page else "text with HTML entities"
        self._page = page

    def block(self, data: bytes) -> bytes:
        if not self._page and b"&" not in data:
            return data
        text = data.decode("utf-8", "surrogateescape")
        if self._page:
            text = _ELEMENT.sub("", _BREAK.sub("\n", text))
        return html.unescape(text).encode("utf-8", "surrogateescape")


#: Members that hold the text of a line, and the programs that write them.
_TEXTS = ("log", "msg", "message", "MESSAGE", "line", "text", "body")  # docker, LAVA, journald ...
#: LAVA's levels at which the board speaks.
_SPOKEN = frozenset({"target", "feedback"})


def _text_of(item: Any) -> str | None:
    """Text of one entry; None where it holds none."""
    if isinstance(item, str):
        return item
    if not isinstance(item, dict) or item.get("lvl", "target") not in _SPOKEN:
        return None
    for name in _TEXTS:
        value = item.get(name)
        if isinstance(value, str):
            return stamped(value, item)
        if isinstance(value, list):  # lines of LAVA, bytes of journald
            if all(isinstance(one, int) and 0 <= one < 256 for one in value):
                return bytes(value).decode("utf-8", "replace")
            return "\n".join(one for one in value if isinstance(one, str))
    return None


def _as_lines(item: Any) -> str:
    """Text of an entry with a line end behind it; an entry without text is an empty line."""
    text = _text_of(item) or ""
    return text if text.endswith("\n") else text + "\n"


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "replace")


class _JsonLines(_Lines):
    """One JSON object a line; a line that is none stays as it is."""

    title = "one JSON object a line"

    def __init__(self, ended: bool) -> None:
        super().__init__()
        self._ended = ended  # texts bring their line ends: docker writes a long line in parts

    def block(self, data: bytes) -> bytes:
        return b"".join(self._line(line) for line in data.splitlines(keepends=True))

    def _line(self, line: bytes) -> bytes:
        try:
            item = json.loads(line)
        except ValueError:
            return line
        if not isinstance(item, dict):
            return line
        text = _text_of(item) if self._ended else None
        return _utf8(_as_lines(item) if text is None else text)


class _Cast(_Lines):
    """A recording of asciinema: the output of the terminal."""

    title = "a terminal recording (asciicast)"

    def block(self, data: bytes) -> bytes:
        return b"".join(self._event(line) for line in data.splitlines())

    def _event(self, line: bytes) -> bytes:
        try:
            event = json.loads(line)
        except ValueError:
            return b""
        spoken = isinstance(event, list) and len(event) == 3 and event[1] == "o"
        return _utf8(event[2]) if spoken and isinstance(event[2], str) else b""


class _Kmsg(_Lines):
    """A copy of /dev/kmsg."""

    title = "records of /dev/kmsg"

    def block(self, data: bytes) -> bytes:
        return from_kmsg(data)


class _Document:
    """A document that is parsed as a whole, of at most `most` bytes."""

    def __init__(self, title: str, parse: Callable[[bytes], Any], most: int) -> None:
        self.title = title
        self._parse = parse
        self._most = most
        self._data = bytearray()

    def feed(self, data: bytes) -> bytes:
        self._data += data
        if len(self._data) > self._most:
            raise LimitError(f"is {self.title} of more than {self._most} bytes (--limit whole=N)")
        return b""

    def finish(self) -> bytes:
        data = bytes(self._data)
        self._data.clear()
        return _utf8("".join(_entries(self._parse(data))))


def _entries(document: Any) -> Iterable[str]:
    """Text of each entry of a parsed document."""
    if isinstance(document, dict):
        events = document.get("stdout")  # the first form of asciicast
        if isinstance(events, list):
            pairs = (event for event in events if isinstance(event, list) and len(event) == 2)
            return [str(text) for _, text in pairs]
        lists = [value for value in document.values() if isinstance(value, list)]
        document = max(lists, key=len) if lists else [document]
    if not isinstance(document, list):
        document = [document]
    return [_as_lines(item) for item in document]


def _parse_json(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise InputError(f"is no whole JSON document: {error}") from error


def _parse_yaml(data: bytes) -> Any:
    yaml = need("yaml", "yaml")
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return yaml.load(data, Loader=loader)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise InputError(f"is no whole YAML document: {error}") from error


def _utf16_order(head: bytes) -> str:
    """Byte order of UTF-16 text, "" where it is other data."""
    if head[:2] == b"\xff\xfe" and head[:4] != b"\xff\xfe\0\0":
        return "little"
    if head[:2] == b"\xfe\xff":
        return "big"
    start = head[: min(len(head), 400) & ~1]
    even, odd = start[::2], start[1::2]
    for order, high, low in (("little", odd, even), ("big", even, odd)):
        printed = sum(0x20 <= c < 0x7F or c in b"\t\r\n\x1b" for c in low)
        if len(low) >= 4 and high.count(0) * 10 >= 9 * len(high) and printed * 10 >= 9 * len(low):
            return order
    return ""


def _first_items(head: bytes) -> list[Any]:
    """The first whole lines of the head as JSON; a line that is none ends the list with None."""
    lines = head.splitlines()
    if not head.endswith((b"\n", b"\r")) and len(lines) > 1:
        lines.pop()
    out: list[Any] = []
    for line in [line for line in lines if line.strip()][:16]:
        try:
            out.append(json.loads(line))
        except (ValueError, RecursionError):
            return [*out, None]
    return out


#: An entry of LAVA's log whose members stand on lines of their own, or begin a longer flow.
_YAML_BLOCK = re.compile(
    rb"\A(?:---[^\n]*\n|#[^\n]*\n|\s*\n)*\s*-[ \n]\s*['\"]?(?:dt|lvl|msg|ns)['\"]?\s*:"
)
_YAML_FLOW = re.compile(rb"\A(?:---[^\n]*\n)?(?:- \{[^}\n]*\n|\[\s*\{\s*(?:dt|lvl|msg)\s*:)")
_CAST_1 = re.compile(rb"\A\s*\{[^\[\]{}]*\"stdout\"\s*:\s*\[")
_ARRAY = re.compile(rb"\A\s*\[\s*[{\"]")


def decoder_of(head: bytes, limits: Limits) -> Decoder | None:
    """The decoder of a source that begins so; None where it is plain text.

    Parameters
    ----------
    head : bytes
        The first bytes, decompressed.
    limits : Limits
        `whole` bounds a document that must be parsed as a whole.
    """
    if foreign_command(head, ""):
        return None
    order = _utf16_order(head)
    if order:
        outer = _Utf16(order)
        inner = decoder_of(_Utf16(order).feed(head), limits)
        return outer if inner is None else _Chain(outer, inner)
    begin = head.lstrip()[:1]
    if begin == b"{":
        return _json_of(head, limits)
    if _YAML_BLOCK.match(head) or _YAML_FLOW.match(head):
        return _Document("a YAML document", _parse_yaml, limits.whole)
    if _ARRAY.match(head):
        items = _first_items(head)
        alone = len(items) > 1 and all(isinstance(item, list) for item in items)
        return None if alone else _Document("a JSON document", _parse_json, limits.whole)
    if is_export(head):
        return JournalExport()
    if is_kmsg(head):
        return _Kmsg()
    if _PAGE.search(head[:4096]):
        return _Html(page=True)
    if len(_ENTITY.findall(head)) >= 2:
        return _Html(page=False)
    return None


def _json_of(head: bytes, limits: Limits) -> Decoder | None:
    """The decoder of a source that begins with a JSON object, if that holds text."""
    if is_rt_tests(head):
        return _Document(
            "JSON of rt-tests", lambda data: tables_of(_parse_json(data)), limits.whole
        )
    items = _first_items(head)
    first = items[0] if items else None
    if isinstance(first, dict) and first.get("version") in (2, 3) and "log" not in first:
        return _Cast()
    if _CAST_1.match(head):
        return _Document("a terminal recording (asciicast)", _parse_json, limits.whole)
    texts = [item for item in items if isinstance(item, dict) and _text_like(item)]
    if texts and len(texts) * 2 >= len(items):
        return _JsonLines(ended=all((_text_of(item) or "\n").endswith("\n") for item in texts[:1]))
    return None


def _text_like(item: dict[str, Any]) -> bool:
    return any(isinstance(item.get(name), (str, list)) for name in _TEXTS)


#: First bytes of recordings that another program must turn into text, and its command.
_FOREIGN = (
    (b"\x17\x08\x44tracing", "a recording of trace-cmd", "trace-cmd report {name} > trace.txt"),
    (b"PERFILE2", "a recording of perf", "perf script -i {name} > trace.txt"),
    (b"2ELIFREP", "a recording of perf", "perf script -i {name} > trace.txt"),
    (b"PERFFILE", "a recording of perf", "perf script -i {name} > trace.txt"),
)


def foreign_command(head: bytes, name: str) -> str:
    """For a binary recording: its kind and the command that makes text of it; else ""."""
    for magic, kind, command in _FOREIGN:
        if head.startswith(magic):
            return f"is {kind}: make text of it with {command.format(name=name)}"
    return ""
